//! The lockstep machine beside the relation. Both show the same definite texels and depths, the
//! same undefined components with their origins, the same buffers, instructions and undefined
//! behaviour. A device may place some triangles anywhere, and the machine draws them at their
//! definite place. Their pixels are not compared. The comparison catches planted bugs.

use pretty_assertions::assert_eq;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{self, DrawObservation, Picture};
use smallstep_semantics::spirv::environment::Draw;
use smallstep_semantics::spirv::lockstep::{Code, End, FragmentProgram, Op, Parts, VertexProgram};
use std::sync::Arc;

use crate::*;

/// The draw with its stages on the machine. If the machine cannot compile the fragment stage, the
/// draw is refused.
pub fn run(scene: &Scene, draw: &Draw<'_>) -> Outcome<Picture> {
    let vertices = VertexProgram::of(&Arc::new(scene.vertex.clone()), "vs").ok();
    match FragmentProgram::compile(&scene.fragment, "fs") {
        Ok(program) => {
            let picture = draw::picture_by((&scene.vertex, vertices.as_ref()), &program, draw, &scene.rules);
            picture.expect("the entry points are there")
        }
        Err(error) => Outcome::Unsupported(error.to_string()),
    }
}

#[track_caller]
pub fn agrees(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) {
    if let Some(difference) = beside::definite(relation, machine) {
        panic!("the machine shows {difference}");
    }
}

type Bug = fn(Parts<'_>);

fn codes(parts: Parts<'_>, op: Op, change: impl FnMut(&mut Code)) {
    parts.codes.iter_mut().filter(|code| code.op == op).for_each(change);
}

/// A body that shows %r, the name of a bug, and the bug, which the comparison must find with
/// this body.
#[rustfmt::skip]
const BUGS: &[(&str, &str, Bug)] = &[
    ("%r = OpDPdx %float %cx", "rows for columns", |parts| codes(parts, Op::Derivative, |code| code.c ^= 1)),
    ("%xy = OpFMul %float %cx %cy %r = OpDPdxFine %float %xy", "a coarse derivative for a fine one", |parts| codes(parts, Op::Derivative, |code| code.c ^= 2)),
    ("%xy = OpFMul %float %cx %cy %r = OpDPdy %float %xy", "a fine derivative for a coarse one", |parts| codes(parts, Op::Derivative, |code| code.c ^= 2)),
    ("%n = OpFNegate %float %cx %r = OpFwidth %float %n", "a width without its absolute values", |parts| codes(parts, Op::AbsFloat, |code| code.op = Op::Copy)),
    ("%r = OpFwidth %float %cy", "a width of the row alone", |parts| codes(parts, Op::AddFloat, |code| code.b = code.a)),
    ("%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m
      %yes = OpLabel %d = OpDPdx %float %cx OpBranch %m %m = OpLabel %r = OpPhi %float %f2 %entry %d %yes",
     "a divergent derivative that is defined", |parts| codes(parts, Op::Derivative, |code| code.op = Op::Copy)),
    ("%u = OpUndef %float %left = OpFOrdLessThan %bool %cx %f1 %s = OpSelect %float %left %u %cx %r = OpDPdx %float %s",
     "an undefined operand that is not seen", |parts| codes(parts, Op::Derivative, |code| code.op = Op::Copy)),
    ("%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m
      %yes = OpLabel OpDemoteToHelperInvocation OpBranch %m %m = OpLabel %r = OpDPdx %float %cx",
     "who is demoted stays a fragment", |parts| codes(parts, Op::Demote, Code::drop_it)),
    ("%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m
      %yes = OpLabel OpDemoteToHelperInvocation OpBranch %m %m = OpLabel %h = OpIsHelperInvocationEXT %bool
      %x = OpSelect %float %h %f2 %f1 %r = OpDPdxFine %float %x",
     "nobody is a helper", |parts| codes(parts, Op::IsHelper, Code::drop_it)),
    ("%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m
      %yes = OpLabel OpKill %m = OpLabel %r = OpCopyObject %float %f1",
     "who is discarded ends", |parts| for block in parts.blocks.iter_mut() {
        if matches!(block.ends, End::Discard) { block.ends = End::Return { link: u32::MAX, edge: Default::default() }; }
     }),
    ("%r = OpCopyObject %float %cy", "the components of an input in another order", |parts| parts.interface.iter_mut().for_each(|held| {
        if held.cells.len() == 4 { held.cells.swap(0, 1); }
     })),
    ("%q = OpAccessChain %pword %buf %c0 %c1 %n = OpAtomicIAdd %uint %q %c1 %c0 %c1 %r = OpCopyObject %float %f1",
     "an atomic beside its word", |parts| parts.atomics[0].offset += 4),
];

#[test]
fn planted_bugs_are_caught() {
    for &(body, name, bug) in BUGS {
        let body = format!("{COORDINATES} {body} %o = OpCompositeConstruct %v4 %r %r %r %r OpStore %out %o");
        let scene = Scene::new(vertex("", "", "", ""), fragment("", "", "", &body), &ALL);
        let program = FragmentProgram::compile(&scene.fragment, "fs").expect("it compiles");
        let relation = scene.run();
        assert_eq!(relation.name(), "observed", "{name}");
        let show = |program: &FragmentProgram| {
            scene.with(|draw| draw::picture(&scene.vertex, program, draw, &scene.rules).expect("the entry points are there"))
        };
        assert_eq!(beside::definite(&relation, &show(&program)), None, "{name}");
        assert!(beside::definite(&relation, &show(&program.planted(bug))).is_some(), "{name} is not caught");
    }
}

/// A body of the vertex stage, whose %r the fragment stage shows, the name of a bug, and the bug in
/// the machine's vertex program. The comparison must find it with this body.
const BUGS_OF_VERTICES: &[(&str, &str, Bug)] = &[
    ("%r = OpFMul %v4 %p %p", "a sum for a product", |parts| codes(parts, Op::MulFloat, |code| code.op = Op::AddFloat)),
    ("%r = OpVectorShuffle %v4 %p %p 0 1 2 2", "components of inputs and outputs in another order", |parts| {
        parts.interface.iter_mut().filter(|held| held.cells.len() == 4).for_each(|held| held.cells.swap(2, 3));
    }),
    (
        "%n = OpLoad %uint %vi %f = OpConvertUToF %float %n %r = OpCompositeConstruct %v4 %f %f %f %f",
        "the bits of the vertex's number for the number",
        |parts| codes(parts, Op::FloatOfUnsigned, |code| code.op = Op::Copy),
    ),
];

/// Every scene runs its vertex stage on the machine too. The planted bugs show that it does.
#[test]
fn planted_bugs_in_vertices_are_caught() {
    for &(body, name, bug) in BUGS_OF_VERTICES {
        let shader = vertex("", "", "", &format!("{body} OpStore %v %r"));
        let scene = Scene::new(shader, fragment("", "", "", "%c = OpLoad %v4 %in OpStore %out %c"), &ALL);
        let fragments = FragmentProgram::compile(&scene.fragment, "fs").expect("it compiles");
        let vertices = VertexProgram::of(&Arc::new(scene.vertex.clone()), "vs").expect("it compiles");
        let relation = scene.run();
        assert_eq!(relation.name(), "observed", "{name}");
        let show = |vertices: &VertexProgram| {
            let picture = scene.with(|draw| draw::picture_by((&scene.vertex, Some(vertices)), &fragments, draw, &scene.rules));
            picture.expect("the entry points are there")
        };
        assert_eq!(beside::definite(&relation, &show(&vertices)), None, "{name}");
        assert!(beside::definite(&relation, &show(&vertices.planted(bug))).is_some(), "{name} is not caught");
    }
}

#[test]
fn what_the_machine_does_not_run_is_refused_by_name() {
    let refuses = |module: &Module, what: &str| {
        let error = FragmentProgram::compile(module, "fs").expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    let ordering = "%q = OpAccessChain %pword %buf %c0 %c1 %sem = OpAtomicIAdd %uint %q %c1 %c72 %c1 OpStore %out %red";
    refuses(&fragment("", "", "%c72 = OpConstant %uint 72", ordering), "an atomic or fence that orders memory in a fragment stage");
    let text = vertex_text("", "", "", "").replace("\"vs\"", "\"fs\"");
    refuses(&load(&text), "OpEntryPoint Vertex as the Fragment stage of the lockstep machine");
    // The program is of another entry point than the draw.
    let scene = Scene::new(vertex("", "", "", ""), constant("red"), &ALL);
    let two = fragment_text("", "", "", "OpStore %out %red OpReturn OpFunctionEnd %other = OpFunction %void None %fn %first = OpLabel");
    let two = load(&two.replacen(
        "OpExecutionMode",
        "OpEntryPoint Fragment %other \"gs\" OpExecutionMode %other OriginUpperLeft OpExecutionMode",
        1,
    ));
    let program = FragmentProgram::compile(&two, "gs").expect("it compiles");
    let outcome = scene.with(|draw| draw::picture(&scene.vertex, &program, draw, &scene.rules).expect("the entry points are there"));
    assert!(matches!(&outcome, Outcome::Unsupported(what) if what == "a program of another fragment stage than fs"), "{outcome:?}");
}

/// An output that was only loaded is still unwritten. The load makes another undefined value.
#[test]
fn an_output_that_is_loaded_stays_unwritten() {
    let two = "%more = OpVariable %pout_v4 Output";
    for body in
        ["%x = OpLoad %v4 %out", "%x = OpLoad %v4 %more OpStore %out %x", "%x = OpLoad %v4 %out %y = OpLoad %v4 %out OpStore %more %x"]
    {
        let scene = Scene::new(vertex("", "", "", ""), fragment("%more", "OpDecorate %more Location 1", two, body), &ALL);
        assert_eq!(picture(&scene.observed().targets[0]), ["!!!!!!!!"; 8], "{body}");
    }
}

/// The second triangle is behind the first by definite depths, but devices round these depths. A
/// device may thus have its undefined values. The machine shows none of them, because they are not
/// in the definite answer.
#[test]
fn undefined_values_of_fragments_that_may_be_there_are_not_definite() {
    let declarations = "%u = OpUndef %float %deep = OpVariable %pout_float Output";
    let body = "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 OpStore %deep %ix
        %far = OpFOrdGreaterThan %bool %ix %half %r = OpSelect %float %far %u %f1
        %o = OpCompositeConstruct %v4 %r %f1 %f1 %f1 OpStore %out %o";
    let fragment = fragment_text("%deep", "OpDecorate %deep BuiltIn FragDepth", declarations, body);
    let fragment = load(&fragment.replacen("OriginUpperLeft", "OriginUpperLeft OpExecutionMode %main DepthReplacing", 1));
    let scene = Scene::new(passing(), fragment, &[ALL, ALL].concat());
    let depths = [[0.1, 0.0, 0.0, 0.0], [0.2, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0]];
    let behind = depths.map(|[depth, ..]: [f32; 4]| [depth + 0.6, 0.0, 0.0, 0.0]);
    let given = floats(1, Rate::Vertex, &[depths, behind].concat());
    let depth = DepthTarget {
        buffer: DepthBuffer::new(Format::D32Sfloat, 8, 8, 1.0).expect("a depth buffer"),
        compare: Compare::LessOrEqual,
        writes: true,
        stencil: None,
    };
    let scene = Scene { attributes: [scene.attributes.clone(), vec![given]].concat(), depth: Some(depth), ..scene };
    let component = scene.observed().targets[0].component(3, 3, 0);
    assert!(matches!(component, Some(Component::Undefined(_))), "{component:?}");
}

/// Devices may have another mask here. By the definite answer, a sample outside of the definite
/// mask keeps its value, and a sample in it has the new colour.
#[test]
fn a_mask_in_doubt_leaves_the_samples_that_it_has() {
    let declarations = "%masks = OpTypeArray %uint %c1 %pmasks = OpTypePointer Output %masks %mask = OpVariable %pmasks Output";
    let body = "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %at = OpAccessChain %pout_uint %mask %c0
        %far = OpFOrdGreaterThan %bool %ix %half %m = OpSelect %uint %far %c1 %c2 OpStore %at %m OpStore %out %grey";
    let fragment = fragment("%mask", "OpDecorate %mask BuiltIn SampleMask", declarations, body);
    let scene = Scene::new(passing(), fragment, &ALL);
    let given = floats(1, Rate::Vertex, &[[0.1, 0.0, 0.0, 0.0], [0.2, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0]]);
    let targets = (0..2).map(|_| target(0, Format::Rgba32Sfloat, [0; 4])).collect();
    let state = State { samples: 2, ..scene.state };
    let scene = Scene { attributes: [scene.attributes.clone(), vec![given]].concat(), targets, state, ..scene };
    let observation = scene.observed();
    let definite = |sample: usize| definite(&observation.targets[sample], 3, 3, 0);
    assert_eq!([definite(0), definite(1)], [0.0, 0.5]);
}

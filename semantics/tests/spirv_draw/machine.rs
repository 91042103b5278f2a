//! The lockstep machine beside the relation: the same definite texels and depths, the same
//! undefined components and where they were made, the same buffers, instructions and undefined
//! behaviour. A triangle that a device may have anywhere is drawn by the machine at its definite
//! place: its pixels are not compared. Planted bugs are caught by the comparison.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{self, Component, DrawObservation, Picture};
use smallstep_semantics::spirv::environment::Draw;
use smallstep_semantics::spirv::lockstep::{Code, End, FragmentProgram, Op, Parts, VertexProgram};
use smallstep_semantics::undefined::Ub;
use std::sync::Arc;

use crate::*;

/// The draw with its stages on the machine. What is not compiled of the fragment stage is refused
/// too.
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

/// In what the two differ, if in anything.
pub fn difference(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) -> Option<String> {
    let (one, other) = match (relation, machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => (one, other),
        (Outcome::Undefined(one), Outcome::Undefined(other)) => {
            // Of two accesses that race, the order of turns says which is found by the other.
            let same = one == other || one.ub == Ub::DataRace && other.ub == Ub::DataRace;
            return (!same).then(|| format!("{other:?}, not {one:?}"));
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => return None,
        (one, other) => return (one.name() != other.name()).then(|| format!("{}, not {}: {other:?}", other.name(), one.name())),
    };
    // Where a device may have a triangle anywhere, the machine draws it at its definite place.
    let anywhere = |x: u32, y: u32| {
        let lost = |c| matches!(one.targets.first()?.component(x, y, c)?, Component::Undecided(Why::Coverage)).then_some(());
        (0..4).all(|c| lost(c).is_some())
    };
    let mut some_anywhere = false;
    for (target, found) in one.targets.iter().zip(&other.targets) {
        let [width, height] = target.image.size(0).expect("a level");
        let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        some_anywhere |= pixels().any(|(x, y)| anywhere(x, y));
        let differ =
            |(x, y): (u32, u32)| !anywhere(x, y) && target.image.raw(0, x.into(), y.into()) != found.image.raw(0, x.into(), y.into());
        if target.location != found.location || pixels().any(differ) {
            return Some(format!("texels {:?}, not {:?}", found.image.bytes(0), target.image.bytes(0)));
        }
        for (x, y, c) in (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..4).map(move |c| (x, y, c)))) {
            if anywhere(x, y) {
                continue;
            }
            let made = match target.component(x, y, c) {
                Some(Component::Undefined(made)) => Some(made),
                _ => None,
            };
            if made != found.undefined(x, y, c) {
                return Some(format!("({x}, {y}), {c}: {:?}, not {:?}", found.undefined(x, y, c), target.component(x, y, c)));
            }
        }
    }
    let depths = one.depth.as_ref().map(|depth| {
        let [width, height] = depth.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| depth.depth(x, y).expect("a pixel").0.value).collect::<Vec<_>>()
    });
    if some_anywhere {
        return None;
    }
    if depths != other.depth {
        return Some(format!("depths {:?}, not {depths:?}", other.depth));
    }
    if one.images != other.images {
        return Some(format!("images {:?}, not {:?}", other.images, one.images));
    }
    if one.buffers != other.buffers {
        return Some(format!("buffers {:?}, not {:?}", other.buffers, one.buffers));
    }
    (one.instructions != other.instructions).then(|| format!("{} instructions, not {}", other.instructions, one.instructions))
}

#[track_caller]
pub fn agrees(relation: &Outcome<DrawObservation>, machine: &Outcome<Picture>) {
    if let Some(difference) = difference(relation, machine) {
        panic!("the machine shows {difference}");
    }
}

type Bug = fn(Parts<'_>);

fn codes(parts: Parts<'_>, op: Op, change: impl FnMut(&mut Code)) {
    parts.codes.iter_mut().filter(|code| code.op == op).for_each(change);
}

/// A body that shows %r, and a bug that the comparison must find by it.
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
        assert_eq!(difference(&relation, &show(&program)), None, "{name}");
        assert!(difference(&relation, &show(&program.planted(bug))).is_some(), "{name} is not caught");
    }
}

/// What the vertex stage gives the fragment stage, which shows it, and a bug in the machine's
/// vertices that the comparison must find by it.
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

/// Every scene runs its vertices on the machine too; here that is seen.
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
        assert_eq!(difference(&relation, &show(&vertices)), None, "{name}");
        assert!(difference(&relation, &show(&vertices.planted(bug))).is_some(), "{name} is not caught");
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
    // A program of another entry point than the draw's.
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

/// An output that was only loaded is still unwritten; the load makes another undefined value.
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

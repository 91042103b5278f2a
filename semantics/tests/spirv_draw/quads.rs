//! Derivatives, helper invocations, discards, and memory that fragments share.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{Cull, FrontFace};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::draw::Component;
use smallstep_semantics::spirv::step::{Config, Env, Next, Relation, Rules};
use smallstep_semantics::undefined::{Ub, Unspecified};

use crate::*;

/// A triangle that covers only pixel (2, 3). All its vertices are on the grid, and none of its
/// edges is near a centre.
fn one_pixel() -> [[f32; 4]; 3] {
    [at(2.25, 3.25, 0.5, 1.0), at(3.25, 3.25, 0.5, 1.0), at(2.25, 4.25, 0.5, 1.0)]
}

fn scene(positions: &[[f32; 4]], body: &str) -> Scene {
    let output = " %o = OpCompositeConstruct %v4 %r %r %r %r OpStore %out %o";
    Scene::new(vertex("", "", "", ""), fragment("", "", "", &format!("{COORDINATES} {body} {output}")), positions)
}

/// The first component of a pixel, after a draw of all of the framebuffer.
fn shown(body: &str, x: u32, y: u32) -> Component {
    scene(&ALL, body).observed().targets[0].component(x, y, 0).expect("a pixel")
}

fn float(x: f32) -> Component {
    Component::Exactly(x.to_bits().into())
}

#[track_caller]
fn is_divergent(component: Component) {
    match component {
        Component::Undefined(made) => assert_eq!(made.kind, Unspecified::DivergentDerivative),
        other => panic!("{other:?}"),
    }
}

#[test]
fn derivatives_are_differences_of_the_quad() {
    for op in ["OpDPdx", "OpDPdxFine", "OpDPdxCoarse"] {
        assert_eq!(shown(&format!("%r = {op} %float %cx"), 3, 5), float(1.0), "{op}");
    }
    for op in ["OpDPdy", "OpDPdyFine", "OpDPdyCoarse"] {
        assert_eq!(shown(&format!("%r = {op} %float %cy"), 3, 5), float(1.0), "{op}");
    }
    // The derivative of x·y in x is y, and in y it is x. For a coarse derivative another device
    // may take the other row or column.
    let product = "%xy = OpFMul %float %cx %cy";
    for (op, value) in [("OpDPdxFine", 5.5), ("OpDPdyFine", 3.5), ("OpFwidthFine", 9.0)] {
        assert_eq!(shown(&format!("{product} %r = {op} %float %xy"), 3, 5), float(value), "{op}");
    }
    for (op, value) in [("OpDPdx", 4.5), ("OpDPdy", 2.5), ("OpFwidth", 7.0), ("OpDPdxCoarse", 4.5), ("OpFwidthCoarse", 7.0)] {
        let target = &scene(&ALL, &format!("{product} %r = {op} %float %xy")).observed().targets[0];
        assert_eq!(target.component(3, 5, 0), Some(Component::Undecided(Why::Derivative)), "{op}");
        assert_eq!(definite(target, 3, 5, 0), value, "{op}");
    }
    // A negative derivative of a vector.
    let vector = "%v = OpCompositeConstruct %v2 %cx %cy %n = OpFNegate %v2 %v %d = OpFwidth %v2 %n %r = OpCompositeExtract %float %d 1";
    assert_eq!(shown(vector, 0, 0), float(1.0));
}

#[test]
fn helpers_of_a_quad_with_one_pixel_take_part() {
    let observation = scene(&one_pixel(), "%r = OpDPdx %float %cx").observed();
    let mut expected = ["........"; 8];
    expected[3] = "..#.....";
    assert_eq!(picture(&observation.targets[0]), expected);
    assert_eq!(exactly(&observation, 2, 3, 0), 1.0);
    // Three vertices with 3 instructions each, and four fragment invocations with 7 each. The
    // returns count.
    assert_eq!(observation.instructions, 3 * 3 + 4 * 7);
}

const LEFT: &str = "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m ";

#[test]
fn divergent_derivatives_are_undefined() {
    let after = "%m = OpLabel %r = OpPhi %float %f2 %entry %d %yes";
    let body = format!("{LEFT} %yes = OpLabel %d = OpDPdx %float %cx OpBranch %m {after}");
    is_divergent(shown(&body, 0, 0));
    assert_eq!(shown(&body, 1, 0), float(2.0));
    // A quad does not diverge if all of its lanes go one way.
    assert_eq!(shown(&body, 2, 0), float(2.0));
    // From the merge block on, control flow is uniform again.
    let body = format!("{LEFT} %yes = OpLabel %d = OpDPdx %float %cx OpBranch %m %m = OpLabel %r = OpDPdx %float %cx");
    assert_eq!([0, 1, 2].map(|x| shown(&body, x, 0)), [1.0; 3].map(float));
    // A branch on such a derivative is undefined behaviour. The report names its place.
    let body = format!(
        "{LEFT} %yes = OpLabel %d = OpDPdx %float %cx %e = OpFOrdLessThan %bool %d %f1 OpSelectionMerge %n None
        OpBranchConditional %e %n %n %n = OpLabel OpBranch %m %m = OpLabel %r = OpCopyObject %float %f0"
    );
    match scene(&ALL, &body).run() {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::BranchOnUndefined);
            assert!(undefined.at.starts_with("fragment stage, pixel (0, 0) of triangle 0, lane 0 of quad 0, in %"), "{}", undefined.at);
            assert!(undefined.what.contains("spirv/divergent-derivative"), "{}", undefined.what);
        }
        other => panic!("{other:?}"),
    }
}

/// A loop that a lane runs ⌈x⌉ times, at least once. Each iteration runs `body`, which
/// defines %d.
fn looping(body: &str) -> String {
    format!(
        "OpBranch %head %head = OpLabel %i = OpPhi %float %f0 %entry %j %next %last = OpPhi %float %f0 %entry %d %next
        OpLoopMerge %done %next None OpBranch %test %test = OpLabel %more = OpFOrdLessThan %bool %i %cx OpBranchConditional %more %in2 %done
        %in2 = OpLabel {body} OpBranch %next %next = OpLabel %j = OpFAdd %float %i %f1 OpBranch %head %done = OpLabel"
    )
}

#[test]
fn iterations_are_dynamic_instances() {
    // Both lanes of the first row run the first iteration together. The right one runs the second
    // one alone.
    let body = format!("{} %r = OpCopyObject %float %last", looping("%d = OpDPdx %float %cx"));
    assert_eq!(shown(&body, 0, 0), float(1.0));
    is_divergent(shown(&body, 1, 0));
    // Control flow is uniform in the merge block, however often each lane has run the loop.
    let body = format!("{} %r = OpDPdx %float %cx", looping("%d = OpFAdd %float %i %f1"));
    assert_eq!([4, 5].map(|x| shown(&body, x, 0)), [1.0; 2].map(float));
    // The derivative of the number of iterations.
    let body = format!("{} %r = OpDPdx %float %last", looping("%d = OpFAdd %float %i %f1"));
    assert_eq!(shown(&body, 5, 0), float(1.0));
    // One lane skips the derivative of the first iteration, the other that of the second. They
    // execute different dynamic instances, though both wait at one instruction.
    let skipping = "%a = OpFOrdLessThan %bool %i %half %b = OpFOrdLessThan %bool %cx %f1 %s = OpLogicalEqual %bool %a %b
        OpSelectionMerge %k None OpBranchConditional %s %w %k %w = OpLabel %g = OpDPdx %float %cx OpBranch %k
        %k = OpLabel %d = OpPhi %float %last %in2 %g %w";
    let body = format!("{} %r = OpCopyObject %float %last", looping(skipping));
    is_divergent(shown(&body, 0, 0));
    is_divergent(shown(&body, 1, 0));
}

#[test]
fn calls_are_dynamic_instances() {
    let function = "OpReturn OpFunctionEnd %df = OpFunction %float None %ft %de = OpLabel %dc = OpLoad %v4 %coord
        %dx = OpCompositeExtract %float %dc 0 %dd = OpDPdx %float %dx OpReturnValue %dd OpFunctionEnd";
    let with = |body: &str| {
        let text = fragment_text("", "", "%ft = OpTypeFunction %float", &format!("{COORDINATES} {body} OpStore %out %o"));
        let text = text.replacen("OpReturn OpFunctionEnd", function, 1);
        Scene::new(vertex("", "", "", ""), load(&text), &ALL).observed()
    };
    let vector = "%o = OpCompositeConstruct %v4 %r %r %r %r";
    assert_eq!(exactly(&with(&format!("%r = OpFunctionCall %float %df {vector}")), 0, 0, 0), 1.0);
    // The two calls of a branch are different dynamic instances of the one derivative.
    let body = format!(
        "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %no
        %yes = OpLabel %q = OpFunctionCall %float %df OpBranch %m %no = OpLabel %s = OpFunctionCall %float %df OpBranch %m
        %m = OpLabel %r = OpPhi %float %q %yes %s %no {vector}"
    );
    let observation = with(&body);
    is_divergent(observation.targets[0].component(0, 0, 0).expect("a pixel"));
    is_divergent(observation.targets[0].component(1, 0, 0).expect("a pixel"));
    assert_eq!(exactly(&observation, 2, 0, 0), 1.0);
}

#[test]
fn who_is_discarded_leaves_the_quad_and_who_is_demoted_stays() {
    let gone = |instruction: &str| {
        let body = format!("{LEFT} %yes = OpLabel {instruction} %m = OpLabel %r = OpDPdx %float %cx");
        scene(&ALL, &body).observed()
    };
    let demoted = gone("OpDemoteToHelperInvocation OpBranch %m");
    assert_eq!(picture(&demoted.targets[0]), [".#######"; 8]);
    assert_eq!(exactly(&demoted, 1, 1, 0), 1.0);
    for instruction in ["OpKill", "OpTerminateInvocation"] {
        let killed = gone(instruction);
        assert_eq!(picture(&killed.targets[0]), [".!######"; 8], "{instruction}");
        is_divergent(killed.targets[0].component(1, 0, 0).expect("a pixel"));
    }
}

/// A pointer %q to word 1 of the buffer.
const WORD: &str = "%q = OpAccessChain %pword %buf %c0 %c1 ";

fn words(scene: &Scene) -> Vec<u32> {
    let observation = scene.observed();
    let buffer = observation.buffers.first().expect("the buffer");
    assert_eq!((&buffer.undefined, &observation.doubtful), (&vec![], &vec![]));
    buffer.bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
}

#[test]
fn helpers_write_nothing() {
    let count = format!("{WORD} %n = OpAtomicIAdd %uint %q %c1 %c0 %c1 %r = OpCopyObject %float %f1");
    assert_eq!(words(&scene(&ALL, &count)), [0, 64, 0, 0]);
    assert_eq!(words(&scene(&one_pixel(), &count)), [0, 1, 0, 0]);
    let store = format!("{WORD} OpStore %q %c3 %r = OpCopyObject %float %f1");
    assert_eq!(words(&scene(&one_pixel(), &store)), [0, 3, 0, 0]);
    // The device decides the coverage on the diagonal, so such a fragment may write or not.
    let observation = scene(&HALF, &count).observed();
    assert_eq!(observation.doubtful.iter().map(|d| (d.start, d.end, d.why)).collect::<Vec<_>>(), [(0, 16, Why::Coverage)]);
}

/// By definite values the fragment does not write. If a device may take the way that writes, it may
/// have written.
#[test]
fn what_is_written_on_another_way_is_in_doubt() {
    let on_way = |component: u32, condition: &str| {
        let body = format!(
            "%z = OpLoad %v4 %coord %cz = OpCompositeExtract %float %z {component} %way = {condition} OpSelectionMerge %m None
            OpBranchConditional %way %y %m %y = OpLabel {WORD} %n = OpAtomicIAdd %uint %q %c1 %c0 %c1 OpBranch %m
            %m = OpLabel %r = OpCopyObject %float %f1"
        );
        let observation = scene(&ALL, &body).observed();
        assert_eq!(observation.buffers[0].bytes, [0; 16]);
        observation.doubtful.iter().map(|d| (d.start, d.end, d.why)).collect::<Vec<_>>()
    };
    // The depth is interpolated, so devices may differ in the condition.
    assert_eq!(on_way(2, "OpFOrdNotEqual %bool %cz %half"), [(0, 16, Why::Control)]);
    assert_eq!(on_way(0, "OpFOrdLessThan %bool %cz %f0"), []);
}

/// Helper invocations load, and nothing orders their loads.
#[test]
fn helpers_race_by_their_loads() {
    let load = format!("{WORD} OpStore %q %c3 %n = OpLoad %uint %q %r = OpConvertUToF %float %n");
    match scene(&one_pixel(), &load).run() {
        Outcome::Undefined(undefined) => assert_eq!(undefined.ub, Ub::DataRace),
        other => panic!("{other:?}"),
    }
}

#[test]
fn helpers_and_faces_are_told_apart() {
    let decorations = "OpDecorate %helper BuiltIn HelperInvocation OpDecorate %front BuiltIn FrontFacing";
    let declarations = "%helper = OpVariable %pin_bool Input %front = OpVariable %pin_bool Input";
    // The difference shows the value of the neighbour in the row.
    let body = "%h = OpLoad %bool %helper %x = OpSelect %float %h %f4 %f1 %d = OpDPdxFine %float %x %g = OpLoad %bool %front
        %y = OpSelect %float %g %f1 %f2 %o = OpCompositeConstruct %v4 %x %d %y %y OpStore %out %o";
    let mut scene = Scene::new(vertex("", "", "", ""), fragment("%helper %front", decorations, declarations, body), &one_pixel());
    let of = |scene: &Scene| [0, 1, 2].map(|c| exactly(&scene.observed(), 2, 3, c));
    // The triangle is clockwise with y pointing down, so its area is negative as Vulkan counts it.
    assert_eq!(of(&scene), [1.0, 3.0, 2.0]);
    scene.state.front = FrontFace::Clockwise;
    assert_eq!(of(&scene), [1.0, 3.0, 1.0]);
    scene.state.cull = Cull::Front;
    assert_eq!(picture(&scene.observed().targets[0]), ["........"; 8]);
}

#[test]
fn fragments_race() {
    match scene(&ALL, &format!("{WORD} OpStore %q %c3 %r = OpCopyObject %float %f1")).run() {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::DataRace);
            assert!(undefined.at.starts_with("fragment stage, pixel ("), "{}", undefined.at);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_output_without_a_store_is_undefined() {
    let body = format!("{COORDINATES} {LEFT} %yes = OpLabel OpStore %out %red OpBranch %m %m = OpLabel");
    let observation = Scene::new(vertex("", "", "", ""), fragment("", "", "", &body), &ALL).observed();
    assert_eq!(picture(&observation.targets[0]), ["#!!!!!!!"; 8]);
    match observation.targets[0].component(3, 1, 0) {
        Some(Component::Undefined(made)) => {
            let (_, invocation) = made.instruction.expect("the variable");
            assert_eq!((made.kind, invocation.workgroup, invocation.local), (Unspecified::UnwrittenOutput, 1, 3));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_schedule_shows_the_same() {
    let body = format!("{WORD} %n = OpAtomicIAdd %uint %q %c1 %c0 %c1 %r = OpDPdx %float %cx");
    let mut one = scene(&ALL, &body);
    let expected = (words(&one), one.observed().targets);
    for text in ["random 1", "random 2", "round-robin 7"] {
        one.schedule = text.parse().expect("a schedule");
        assert_eq!((words(&one), one.observed().targets), expected, "{text}");
    }
}

fn never<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

#[test]
fn rules_that_never_apply_are_missed() {
    let with = |rules: Rules, body: &str| {
        let mut scene = scene(&ALL, body);
        scene.relation = Relation { rules, ..Relation::default() };
        scene.beside = false;
        scene.run().name()
    };
    let branch = |inner: &str| format!("{LEFT} %yes = OpLabel {inner} %m = OpLabel %r = OpDPdx %float %cx");
    let cases = [
        (Rule::SpirvDerivative, branch("OpBranch %m")),
        (Rule::SpirvKill, branch("OpKill")),
        (Rule::SpirvTerminateInvocation, branch("OpTerminateInvocation")),
        (Rule::SpirvDemote, branch("OpDemoteToHelperInvocation OpBranch %m")),
        (Rule::SpirvIsHelper, branch("%h = OpIsHelperInvocationEXT %bool OpBranch %m")),
    ];
    for (rule, body) in cases {
        assert_eq!(with(Rules::standard(), &body), "observed", "{rule}");
        assert_eq!(with(Rules::standard().replace(rule, never), &body), "stuck", "{rule}");
    }
    for (rule, inner) in
        [(Rule::SpirvQuadDerivatives, "OpBranch %m"), (Rule::SpirvDivergentDerivatives, "%d = OpDPdx %float %cx OpBranch %m")]
    {
        assert_eq!(with(Rules::standard().suspend(rule), &branch(inner)), "deadlock", "{rule}");
    }
}

//! SampleMask as input and output, PointCoord, outputs that count although nothing is stored to
//! them, and built-ins that are refused by name.

use pretty_assertions::assert_eq;
use rspirv::spirv::{BuiltIn, StorageClass};
use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::DepthBuffer;
use smallstep_semantics::spirv::LoadError;
use smallstep_semantics::spirv::draw::{self, Component, MadeBy};
use smallstep_semantics::spirv::environment::DepthTarget;
use smallstep_semantics::spirv::lockstep::{FragmentProgram, Parts};
use smallstep_semantics::spirv::module::WHOLE;
use smallstep_semantics::undefined::Unspecified;

use crate::*;

/// Sample masks of one word: %seen is the input, and %mask the output.
pub const DECORATIONS: &str = "OpDecorate %seen BuiltIn SampleMask OpDecorate %seen Flat OpDecorate %mask BuiltIn SampleMask";
pub const DECLARATIONS: &str = "%words1 = OpTypeArray %int %c1 %uwords1 = OpTypeArray %uint %c1 %pseen = OpTypePointer Input %words1
    %pmask = OpTypePointer Output %uwords1 %seen = OpVariable %pseen Input %mask = OpVariable %pmask Output";

/// A stage with %mask in its interface.
fn masking(body: &str) -> String {
    fragment_text(
        "%mask",
        "OpDecorate %mask BuiltIn SampleMask",
        "%uwords1 = OpTypeArray %uint %c1 %pmask = OpTypePointer Output %uwords1
        %mask = OpVariable %pmask Output %none = OpConstant %uint 0xfffffffe",
        body,
    )
}

fn scene(text: &str, positions: &[[f32; 4]]) -> Scene {
    Scene::new(vertex("", "", "", ""), load(text), positions)
}

/// The mask is %m left of x = 4 and %n from there on. The colour is red.
fn halves(m: &str, n: &str) -> String {
    masking(&format!(
        "{COORDINATES} %left = OpFOrdLessThan %bool %cx %f4 %w = OpSelect %uint %left %{m} %{n} %q = OpAccessChain %pout_uint %mask %i0
        OpStore %q %w OpStore %out %red"
    ))
}

fn with_depth(mut scene: Scene, stored: f32) -> Scene {
    let buffer = DepthBuffer::new(Format::D32Sfloat, 8, 8, stored).expect("a depth buffer");
    scene.depth = Some(DepthTarget { buffer, compare: Compare::Less, writes: true, stencil: None });
    scene
}

fn early(text: &str) -> String {
    text.replace("OpExecutionMode %main OriginUpperLeft", "OpExecutionMode %main OriginUpperLeft OpExecutionMode %main EarlyFragmentTests")
}

#[track_caller]
fn made(component: Option<Component>) -> MadeBy {
    match component {
        Some(Component::Undefined(made)) => made,
        other => panic!("{other:?}"),
    }
}

/// Shows the input mask as a float, and its difference in the row.
const SEEN: &str = "%q0 = OpAccessChain %pin_int %seen %i0 %w0 = OpLoad %int %q0 %x = OpConvertSToF %float %w0 %d = OpDPdxFine %float %x
    %o = OpCompositeConstruct %v4 %x %d %x %x OpStore %out %o";

fn seeing(body: &str) -> String {
    fragment_text(
        "%seen",
        "OpDecorate %seen BuiltIn SampleMask OpDecorate %seen Flat",
        "%words1 = OpTypeArray %int %c1
        %pseen = OpTypePointer Input %words1 %seen = OpVariable %pseen Input",
        body,
    )
}

#[test]
fn the_sample_of_a_helper_is_not_covered() {
    let one_pixel = [at(2.25, 3.25, 0.5, 1.0), at(3.25, 3.25, 0.5, 1.0), at(2.25, 4.25, 0.5, 1.0)];
    let whole = "%whole = OpLoad %words1 %seen %w0 = OpCompositeExtract %int %whole 0";
    let dynamic = format!("{COORDINATES} %n = OpConvertFToU %uint %cx %zero = OpISub %uint %n %n %q0 = OpAccessChain %pin_int %seen %zero");
    let first = "%q0 = OpAccessChain %pin_int %seen %i0";
    assert!(SEEN.starts_with(&format!("{first} %w0 = OpLoad %int %q0")));
    for text in [
        seeing(SEEN),
        seeing(&SEEN.replace(first, &dynamic)),
        seeing(&SEEN.replace(&format!("{first} %w0 = OpLoad %int %q0"), whole)),
        seeing(&SEEN.replace("%pin_int", "%pin_uint").replace("%int %q0", "%uint %q0").replace("OpConvertSToF", "OpConvertUToF"))
            .replace("OpTypeArray %int", "OpTypeArray %uint"),
    ] {
        let observation = scene(&text, &one_pixel).observed();
        assert_eq!([0, 1].map(|c| exactly(&observation, 2, 3, c)), [1.0, -1.0], "its neighbour is a helper");
        let observation = scene(&text, &ALL).observed();
        assert_eq!([0, 1].map(|c| exactly(&observation, 2, 3, c)), [1.0, 0.0]);
    }
    // On an edge, the mask that a fragment sees may differ from the definite one.
    let target = &scene(&seeing(SEEN), &HALF).observed().targets[0];
    assert_eq!(target.component(7, 0, 0), Some(Component::Undecided(Why::Coverage)));
    assert!(matches!(target.component(0, 0, 0), Some(Component::Exactly(0x3f80_0000))));
}

/// A device may count a sample as covered that an early test fails, because rasterisation
/// covers it.
#[test]
fn what_an_early_test_fails_may_be_covered() {
    // First the left column at a smaller depth, then all of the framebuffer.
    let column = [at(0.0, -4.0, 0.25, 1.0), at(1.0, -4.0, 0.25, 1.0), at(0.0, 200.0, 0.25, 1.0)];
    let text = early(&seeing(SEEN));
    let observation = with_depth(scene(&text, &[&column[..], &ALL[..]].concat()), 1.0).observed();
    assert_eq!([0, 1].map(|c| exactly(&observation, 0, 0, c)), [1.0, -1.0], "of the column the right neighbour is a helper");
    assert_eq!(exactly(&observation, 1, 0, 0), 1.0);
    assert_eq!(definite(&observation.targets[0], 1, 0, 1), 1.0, "by the definite answer the left neighbour is not covered");
    assert_eq!(observation.targets[0].component(1, 0, 1), Some(Component::Undecided(Why::Coverage)));
    assert_eq!([0, 1].map(|c| exactly(&observation, 3, 0, c)), [1.0, 0.0]);
}

const LEFT: [&str; 8] = ["####...."; 8];

#[test]
fn a_clear_bit_leaves_the_pixel_alone() {
    assert_eq!(picture(&scene(&halves("c1", "c0"), &ALL).observed().targets[0]), LEFT);
    // Only the bit of the one sample counts.
    assert_eq!(picture(&scene(&halves("c3", "c2"), &ALL).observed().targets[0]), LEFT);
    assert_eq!(picture(&scene(&halves("c1", "none"), &ALL).observed().targets[0]), LEFT);
    // A set bit adds no coverage.
    assert_eq!(picture(&scene(&halves("c1", "c1"), &HALF).observed().targets[0])[6], "#?......");
    assert_eq!(picture(&scene(&halves("c0", "c1"), &HALF).observed().targets[0])[2], "....#?..");
}

#[test]
fn the_depth_is_tested_after_the_mask_unless_early() {
    let text = halves("c1", "c0");
    let depth = |text: &str, x| {
        let observation = with_depth(scene(text, &ALL), 1.0).observed();
        assert_eq!(picture(&observation.targets[0]), LEFT);
        observation.depth.expect("a depth buffer").depth(x, 0).expect("a pixel").0.value
    };
    assert_eq!([depth(&text, 0), depth(&text, 7)], [0.5, 1.0]);
    assert_eq!([depth(&early(&text), 0), depth(&early(&text), 7)], [0.5, 0.5]);
}

#[test]
fn what_the_mask_leaves_out_still_writes_memory() {
    let counting = "%p = OpAccessChain %pword %buf %c0 %c1 %n1 = OpAtomicIAdd %uint %p %c1 %c0 %c1 %q = OpAccessChain";
    let observation = scene(&halves("c0", "c0").replace("%q = OpAccessChain", counting), &ALL).observed();
    assert_eq!(picture(&observation.targets[0]), ["........"; 8]);
    assert_eq!(observation.buffers[0].bytes[4..8], [64, 0, 0, 0]);
}

#[test]
fn a_mask_without_a_value_leaves_open_what_it_would_change() {
    let body = format!(
        "{COORDINATES} OpStore %out %red %left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %yes %m
        %yes = OpLabel %q = OpAccessChain %pout_uint %mask %i0 OpStore %q %c1 OpBranch %m %m = OpLabel"
    );
    let one = scene(&masking(&body), &ALL);
    let target = &one.observed().targets[0];
    assert_eq!(picture(target), ["#!!!!!!!"; 8]);
    let made_by = made(target.component(3, 1, 3));
    let (instruction, invocation) = made_by.instruction.expect("the variable");
    assert_eq!((made_by.kind, invocation.workgroup, invocation.local), (Unspecified::UnwrittenOutput, 1, 3));
    let variable = one.fragment.globals().iter().find(|v| v.instruction == instruction).expect("a variable");
    assert_eq!(one.fragment.built_in(variable.id, WHOLE), Some(BuiltIn::SampleMask));
    // Green is 0 with or without the fragment. If the target was red before, every component
    // is decided.
    assert!(target.component(3, 1, 1).is_some_and(|component| is_zero(&component)));
    let mut same = scene(&masking(&body), &ALL);
    same.targets = vec![target_of_red()];
    assert_eq!(picture(&same.observed().targets[0]), ["########"; 8]);
    // The depth is the old one or the fragment's.
    let depth = with_depth(scene(&masking(&body), &ALL), 1.0).observed().depth.expect("a depth buffer");
    let interval = |x| depth.depth(x, 0).expect("a pixel").0.allowed;
    assert!(!interval(0).contains(1.0) && interval(5).contains(1.0) && interval(5).contains(0.5), "{:?} {:?}", interval(0), interval(5));
    // A stored undefined value keeps its own origin.
    let stored = scene(&masking("%u = OpUndef %uwords1 OpStore %mask %u OpStore %out %red"), &ALL);
    assert_eq!(made(stored.observed().targets[0].component(0, 0, 0)).kind, Unspecified::Undef);
    // A mask in the interface counts, even if no instruction names it.
    let unnamed = scene(&masking("OpStore %out %red"), &ALL);
    assert_eq!(made(unnamed.observed().targets[0].component(0, 0, 0)).kind, Unspecified::UnwrittenOutput);
    // A fragment with a definite mask replaces an undefined component. A fragment with an undefined
    // mask keeps the origin that the component had before.
    let twice = masking(&body.replace("%cx %f1", "%cx %f4"));
    assert_eq!(picture(&scene(&twice, &[&ALL[..], &HALF[..]].concat()).observed().targets[0])[0], "####!!!!");
}

fn target_of_red() -> ColourTarget {
    target(0, Format::Rgba32Sfloat, [1f32, 0.0, 0.0, 1.0].map(f32::to_bits))
}

/// If a device may compute another value, it may have another mask.
#[test]
fn a_mask_in_doubt_is_coverage_in_doubt() {
    let body = "%c = OpLoad %v4 %coord %z = OpCompositeExtract %float %c 2 %near = OpFOrdLessThan %bool %z %third
        %w = OpSelect %uint %near %c0 %c1 %q = OpAccessChain %pout_uint %mask %i0 OpStore %q %w OpStore %out %red";
    let sloped = [[-1.0, -1.0, 0.0, 1.0], [4.0, -1.0, 0.9, 1.0], [-1.0, 4.0, 0.2, 1.0]];
    let target = &scene(&masking(body), &sloped).observed().targets[0];
    assert_eq!(target.component(0, 0, 0), Some(Component::Undecided(Why::Coverage)));
    assert_eq!([definite(target, 0, 0, 0), definite(target, 7, 7, 0)], [0.0, 1.0]);
}

#[test]
fn point_coordinates_of_triangles_are_undefined() {
    let body = "%pc = OpLoad %v2 %point %o = OpVectorShuffle %v4 %pc %red 0 3 2 1 OpStore %out %o";
    let declarations = "%point = OpVariable %pin_v2 Input";
    let fragment = fragment("%point", "OpDecorate %point BuiltIn PointCoord", declarations, body);
    let one = Scene::new(vertex("", "", "", ""), fragment, &ALL);
    let target = &one.observed().targets[0];
    for c in [0, 3] {
        let (instruction, invocation) = made(target.component(2, 1, c)).instruction.expect("the variable");
        assert_eq!(made(target.component(2, 1, c)).kind, Unspecified::PointCoord);
        assert_eq!((invocation.workgroup, invocation.local), (1, 2));
        assert!(one.fragment.globals().iter().any(|v| v.instruction == instruction));
    }
    assert!([1, 2].iter().all(|&c| !matches!(target.component(2, 1, c), Some(Component::Undefined(_)))));
}

#[test]
fn outputs_with_initializers_need_no_store() {
    let never = masking("OpStore %out %red")
        .replace("%mask = OpVariable %pmask Output", "%init = OpConstantNull %uwords1 %mask = OpVariable %pmask Output %init");
    assert_eq!(picture(&scene(&never, &ALL).observed().targets[0]), ["........"; 8]);
    let coloured = fragment_text("", "", "", "").replace("%out = OpVariable %pout_v4 Output", "%out = OpVariable %pout_v4 Output %red");
    assert_eq!(picture(&scene(&coloured, &ALL).observed().targets[0]), ["########"; 8]);
}

#[test]
fn a_depth_that_is_replaced_by_nothing_may_be_any() {
    let replacing = |text: String| {
        text.replace("OpExecutionMode %main OriginUpperLeft", "OpExecutionMode %main OriginUpperLeft OpExecutionMode %main DepthReplacing")
    };
    let declared = fragment_text("%z", "OpDecorate %z BuiltIn FragDepth", "%z = OpVariable %pout_float Output", "OpStore %out %red");
    for text in [replacing(declared), replacing(fragment_text("", "", "", "OpStore %out %red"))] {
        let observation = with_depth(scene(&text, &ALL), 0.75).observed();
        assert_eq!(picture(&observation.targets[0]), ["????????"; 8]);
        let interval = observation.depth.expect("a depth buffer").depth(0, 0).expect("a pixel").0.allowed;
        assert!(interval.contains(0.75) && interval.contains(0.0), "{interval:?}");
    }
}

#[test]
fn more_words_and_what_needs_another_capability_are_refused_by_name() {
    let two =
        |text: String| text.replace("%int %c1", "%int %c2").replace("%uint %c1\n", "%uint %c2\n").replace("%uint %c1 %p", "%uint %c2 %p");
    for text in [two(seeing(SEEN)), two(halves("c1", "c0"))] {
        match scene(&text, &ALL).run() {
            Outcome::Unsupported(what) => assert!(what.starts_with("SampleMask of more than one word (%"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    let words = |built_in: &str, pointer: &str| {
        let text = fragment_text(
            "%b",
            &format!("OpDecorate %b BuiltIn {built_in} OpDecorate %b Flat"),
            &format!("%b = OpVariable %{pointer} Input"),
            "OpStore %out %red",
        );
        assemble(&text, Options::default()).expect("it assembles")
    };
    for (built_in, pointer) in [("PrimitiveId", "pin_int"), ("Layer", "pin_int"), ("ViewportIndex", "pin_int")] {
        match Module::load(&words(built_in, pointer)) {
            Err(LoadError::Unsupported { what, .. }) => assert_eq!(what, format!("BuiltIn {built_in}")),
            other => panic!("{built_in}: {:?}", other.map(|_| ())),
        }
    }
    for built_in in ["ClipDistance", "CullDistance"] {
        let decorations = format!("OpDecorate %b BuiltIn {built_in}");
        let declarations = "%floats = OpTypeArray %float %c1 %pfloats = OpTypePointer Input %floats %b = OpVariable %pfloats Input";
        let reading =
            fragment("%b", &decorations, declarations, "%q = OpAccessChain %pin_float %b %i0 %x = OpLoad %float %q OpStore %out %red");
        match Scene::new(vertex("", "", "", ""), reading, &ALL).run() {
            Outcome::Unsupported(what) => assert!(what.starts_with(&format!("BuiltIn {built_in} (%")), "{what}"),
            other => panic!("{other:?}"),
        }
    }
}

/// The comparison finds a machine that loses a mask.
#[test]
fn a_lost_mask_is_caught() {
    let half = "%q0 = OpAccessChain %pin_int %seen %i0 %w0 = OpLoad %int %q0 %x = OpConvertSToF %float %w0 %u0 = OpBitcast %uint %w0
        %q = OpAccessChain %pout_uint %mask %i0 OpStore %q %u0 %o = OpCompositeConstruct %v4 %x %x %x %x OpStore %out %o";
    for (body, of_input) in [(half.to_string(), true), (half.replace("OpStore %q %u0", "OpStore %q %c0"), false)] {
        let one = Scene::new(vertex("", "", "", ""), fragment("%seen %mask", DECORATIONS, DECLARATIONS, &body), &ALL);
        let relation = one.run();
        let program = FragmentProgram::compile(&one.fragment, "fs").expect("it compiles");
        let lost = |held: u32| {
            let variable = one.fragment.variable(held).expect("a variable");
            let is_mask = one.fragment.built_in(held, WHOLE) == Some(BuiltIn::SampleMask);
            is_mask && (variable.class == StorageClass::Input) == of_input
        };
        let planted =
            program.planted(|parts: Parts<'_>| parts.interface.iter_mut().filter(|held| lost(held.id)).for_each(|held| held.cells.clear()));
        let shown = one.with(|draw| draw::picture(&one.vertex, &planted, draw, &one.rules).expect("the entry points are there"));
        assert!(beside::definite(&relation, &shown).is_some(), "the {} is not missed", if of_input { "input" } else { "output" });
    }
}

//! Draws whose quads run over sets. For each fragment, an interpolated input is one value of a set.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::Why;
use smallstep_semantics::number::sets::{Rules, Set, Span};
use smallstep_semantics::spirv::draw::By;

use crate::*;

/// A triangle that covers everything. The first component of its attribute is (x + 1)/4 in device
/// coordinates, the second is twice that, and the others are 0 and 1.
fn covering(fragment: Module, format: Format) -> Scene {
    let mut scene = Scene::new(passing(), fragment, &[[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]]);
    scene.attributes.push(floats(1, Rate::Vertex, &[[0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]));
    scene.targets = vec![target(0, format, [0; 4])];
    scene
}

/// The attachment with quads that run over sets, and without. The definite texels are the same.
fn both(scene: &Scene) -> (ObservedTarget, ObservedTarget) {
    let by = |sets| By { relation: &scene.relation, rules: &scene.rules, schedule: &scene.schedule, sets, machine: None };
    let run = |sets| {
        let outcome =
            scene.with(|draw| draw::run_with(&scene.vertex, &scene.fragment, draw, &by(sets), &mut ()).expect("the entry points"));
        let Outcome::Observed(mut observation) = outcome else { panic!("{outcome:?}") };
        observation.targets.remove(0)
    };
    let (over, alone) = (run(Some(Rules::default())), run(None));
    assert_eq!(over.image, alone.image);
    (over, alone)
}

/// A fragment stage that declares all float controls. Its arithmetic results are %q1 to %q4.
fn strict(body: &str) -> Module {
    let decorations: String =
        (1..5).filter(|q| body.contains(&format!("%q{q} ="))).map(|q| format!("OpDecorate %q{q} NoContraction ")).collect();
    let text = fragment_text("", &decorations, "", body)
        .replace("OpCapability Shader", "OpCapability Shader OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve")
        .replace("OpMemoryModel", "OpExtension \"SPV_KHR_float_controls\" OpMemoryModel")
        .replace(
            "OriginUpperLeft",
            "OriginUpperLeft OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32",
        );
    load(&text)
}

const INPUT: &str = "%x = OpLoad %v4 %in %y = OpCompositeExtract %float %x 0 %z = OpCompositeExtract %float %x 1 ";

/// The set of the first component at a pixel.
#[track_caller]
fn set_at(target: &ObservedTarget, x: u32, y: u32) -> Set {
    match target.component(x, y, 0) {
        Some(Component::Within(set)) => set,
        Some(Component::Exactly(bits)) => Set::point(f32::from_bits(bits as u32).into()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_interpolated_is_written_as_a_set() {
    let (over, alone) = both(&covering(fragment("", "", "", "%x = OpLoad %v4 %in OpStore %out %x"), Format::Rgba32Sfloat));
    assert_eq!(alone.component(2, 3, 0), Some(Component::Undecided(Why::Interpolated)));
    // The exact value is 2.5/16.
    let set = set_at(&over, 2, 3);
    assert!(set.contains(0.15625) && set.hull().is_some_and(|Span { low, high }| 0.15 < low && high < 0.16), "{set}");
    // The definite texel is a member, everywhere.
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        let (texel, _) = over.image.raw(0, x, y).expect("a texel");
        assert!(set_at(&over, x as u32, y as u32).contains(f32::from_bits(texel as u32).into()), "({x}, {y})");
    }
}

#[test]
fn a_set_is_rounded_to_the_codes_of_a_format() {
    let (over, alone) = both(&covering(fragment("", "", "", "%x = OpLoad %v4 %in OpStore %out %x"), Format::Rgba8Unorm));
    assert_eq!(alone.component(2, 3, 0), Some(Component::Undecided(Why::Interpolated)));
    // 0.15625 · 255 = 39.84, and 0.46875 · 255 = 119.53.
    assert_eq!(over.component(2, 3, 0), Some(Component::Exactly(40)));
    let Some(Component::OneOf(codes)) = over.component(7, 3, 0) else { panic!("{:?}", over.component(7, 3, 0)) };
    assert_eq!((codes.best, codes.admits(119), codes.admits(118), codes.admits(121)), (120, true, false, false), "{codes:?}");
}

#[test]
fn an_input_is_one_value_for_all_that_use_it() {
    let colour = "%v = OpCompositeConstruct %v4 %q1 %f0 %f0 %f1 OpStore %out %v";
    let same = strict(&format!("{INPUT} %w = OpLoad %v4 %in %u = OpCompositeExtract %float %w 0 %q1 = OpFSub %float %y %u {colour}"));
    assert_eq!(set_at(&both(&covering(same, Format::Rgba32Sfloat)).0, 2, 3), Set::point(0.0));
    // The other component is another value, although it is twice the first.
    let other = strict(&format!("{INPUT} %q2 = OpFMul %float %y %f2 %q1 = OpFSub %float %q2 %z {colour}"));
    let set = set_at(&both(&covering(other, Format::Rgba32Sfloat)).0, 2, 3);
    assert!(set.hull().is_some_and(|Span { low, high }| low < 0.0 && 0.0 < high && high < 0.02), "{set}");
}

#[test]
fn a_fragment_goes_both_ways_of_an_open_branch() {
    // The value is 3.5/16 at the pixels of column 3, and 4.5/16 at those of column 4. A quarter
    // lies between them.
    let select = strict(&format!(
        "{INPUT} %k = OpFOrdLessThan %bool %y %quarter %q = OpSelect %float %k %f1 %f2 %v = OpCompositeConstruct %v4 %q %f0 %f0 %f1 OpStore %out %v"
    ));
    let (over, _) = both(&covering(select, Format::Rgba32Sfloat));
    assert_eq!([set_at(&over, 3, 3), set_at(&over, 4, 3)], [Set::point(1.0), Set::point(2.0)]);
    // A comparison with the same number computed in another way may go either way.
    let either = strict(&format!(
        "{INPUT} %q1 = OpFMul %float %z %half %k = OpFOrdLessThan %bool %y %q1 OpSelectionMerge %m None OpBranchConditional %k %t %e
         %t = OpLabel OpBranch %m %e = OpLabel OpBranch %m %m = OpLabel %r = OpPhi %float %f1 %t %f2 %e
         %v = OpCompositeConstruct %v4 %r %f0 %f0 %f1 OpStore %out %v"
    ));
    let (over, alone) = both(&covering(either, Format::Rgba32Sfloat));
    assert_eq!(set_at(&over, 2, 3), Set::point(1.0).union(Set::point(2.0)));
    assert!(matches!(alone.component(2, 3, 0), Some(Component::Undecided(_))));
    // If one way discards the fragment, the component stays open.
    let discards = strict(&format!(
        "{INPUT} %q1 = OpFMul %float %z %half %k = OpFOrdLessThan %bool %y %q1 OpSelectionMerge %m None OpBranchConditional %k %t %m
         %t = OpLabel OpKill %m = OpLabel OpStore %out %red"
    ));
    let (over, alone) = both(&covering(discards, Format::Rgba32Sfloat));
    assert_eq!(over.component(2, 3, 0), alone.component(2, 3, 0));
    assert!(matches!(over.component(2, 3, 0), Some(Component::Undecided(_))));
}

/// The interpolated value grows by 1/16 for each pixel to the right, so the differences of a quad
/// are a sixteenth.
#[test]
fn derivatives_are_differences_of_sets() {
    for (op, exact) in [("OpDPdx", 0.0625), ("OpDPdxFine", 0.0625), ("OpDPdxCoarse", 0.0625), ("OpDPdy", 0.0), ("OpFwidth", 0.0625)] {
        let stage = strict(&format!("{INPUT} %q = {op} %float %y %v = OpCompositeConstruct %v4 %q %f0 %f0 %f1 OpStore %out %v"));
        let (over, alone) = both(&covering(stage, Format::Rgba32Sfloat));
        assert!(matches!(alone.component(2, 3, 0), Some(Component::Undecided(_))), "{op}");
        let set = set_at(&over, 2, 3);
        let near = |Span { low, high }: Span| exact - 0.01 < low && high < exact + 0.01;
        assert!(set.contains(exact) && set.hull().is_some_and(near), "{op}: {set}");
    }
    // Each of the four invocations divides by itself, with an error of 2.5 units of 2^-27 or 2^-28.
    let quotients = strict(
        "%q1 = OpFDiv %float %third %f4 %q = OpDPdx %float %q1 %q2 = OpFMul %float %q %f2 %v = OpCompositeConstruct %v4 %q2 %f0 %f0 %f1 OpStore %out %v",
    );
    let set = set_at(&both(&covering(quotients, Format::Rgba32Sfloat)).0, 2, 3);
    let most = 10.0 * 2f64.powi(-27);
    assert!(set.contains(0.0) && set.hull().is_some_and(|h| -most <= h.low && h.low < 0.0 && 0.0 < h.high && h.high <= most), "{set}");
}

/// Stages that write memory, and values that reach no float, show the same as without sets.
#[test]
fn what_is_not_explored_stays_open() {
    let writes = "%x = OpLoad %v4 %in OpStore %out %x %p = OpAccessChain %pword %buf %c0 %c0 %n = OpAtomicIAdd %uint %p %c1 %c0 %c1";
    let (over, alone) = both(&covering(fragment("", "", "", writes), Format::Rgba32Sfloat));
    assert_eq!(over, alone);
}

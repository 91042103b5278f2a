//! Coverage, interpolation, depth and formats.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::number::Why;
use smallstep_semantics::raster::{self, Cull, DepthBuffer, Topology};
use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::draw::Component;
use smallstep_semantics::spirv::environment::{DepthTarget, Rate};
use smallstep_semantics::undefined::Unspecified;

use crate::*;

/// The picture of [`HALF`]. The device decides the pixels `?`, which the diagonal passes.
const TRIANGLE: [&str; 8] = ["#######?", "######?.", "#####?..", "####?...", "###?....", "##?.....", "#?......", "?......."];

fn red(vertices: &[[f32; 4]]) -> Scene {
    Scene::new(vertex("", "", "", ""), constant("red"), vertices)
}

#[test]
fn a_triangle_covers_what_it_covers() {
    let mut scene = red(&HALF);
    assert_eq!(picture(&scene.observed().targets[0]), TRIANGLE);
    // The old and the new colour are the same there, so every device shows it.
    scene.targets = vec![target(0, Format::Rgba32Sfloat, [1f32, 0.0, 0.0, 1.0].map(f32::to_bits))];
    assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8]);
    // Only the sign of zeros is open.
    assert!(scene.observed().targets[0].inexact().iter().all(|(_, _, component)| is_zero(component)));
}

const SQUARE: [[f32; 4]; 4] = [[-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [1.0, 1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]];

#[test]
fn strips_fans_and_indices_assemble_triangles() {
    // Each triangle has the colour of its provoking vertex, so the diagonal between two triangles
    // is in doubt.
    let body = "%x = OpLoad %v4 %in OpStore %out %x";
    let down = ["?#######", "#?######", "##?#####", "###?####", "####?###", "#####?##", "######?#", "#######?"];
    let mut scene = Scene::new(passing(), fragment("", "OpDecorate %in Flat", "", body), &SQUARE);
    scene.attributes.push(floats(1, Rate::Vertex, &[[1.0; 4], [2.0; 4], [3.0; 4], [4.0; 4]]));
    scene.topology = Topology::Fan;
    let observation = scene.observed();
    assert_eq!(picture(&observation.targets[0]), down);
    assert_eq!([exactly(&observation, 7, 0, 0), exactly(&observation, 0, 7, 0)], [2.0, 3.0]);
    let up: Vec<String> = down.iter().map(|row| row.chars().rev().collect()).collect();
    scene.topology = Topology::Strip;
    // The vertices are 0, 1, 3, 2 after the offset.
    scene.indices = Some(vec![9, 7, 8, 10, 9]);
    (scene.first, scene.count, scene.vertex_offset) = (1, 4, -7);
    let observation = scene.observed();
    assert_eq!(picture(&observation.targets[0]), up);
    assert_eq!([exactly(&observation, 0, 0, 0), exactly(&observation, 7, 7, 0)], [1.0, 2.0]);
    scene.topology = Topology::List;
    assert_eq!(picture(&scene.observed().targets[0]), TRIANGLE, "the fourth vertex is left over");
}

/// On the common edge of two triangles, every device has a fragment of one of them. The old colour
/// is gone.
#[test]
fn a_pixel_on_a_common_edge_is_covered_once() {
    let mut scene = red(&SQUARE);
    scene.topology = Topology::Fan;
    assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8]);
    scene.topology = Topology::List;
    for indices in [[0, 1, 2, 0, 2, 3], [0, 2, 1, 0, 3, 2], [2, 3, 0, 2, 0, 1]] {
        (scene.indices, scene.count) = (Some(indices.to_vec()), 6);
        assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8], "{indices:?}");
    }
    // This does not hold if both triangles are on the same side, or if one is culled.
    let half = ["?#######", ".?######", "..?#####", "...?####", "....?###", ".....?##", "......?#", ".......?"];
    scene.indices = Some(vec![0, 1, 2, 0, 1, 2]);
    assert_eq!(picture(&scene.observed().targets[0]), half);
    scene.indices = Some(vec![0, 1, 2, 0, 3, 2]);
    scene.state.cull = Cull::Front;
    assert_eq!(picture(&scene.observed().targets[0]), half);
    // Of three triangles, the last two decide.
    scene.state.cull = Cull::None;
    (scene.indices, scene.count) = (Some(vec![0, 1, 2, 0, 1, 2, 0, 2, 3]), 9);
    assert_eq!(picture(&scene.observed().targets[0]), ["########"; 8]);
    // A third triangle, drawn between the two, covers one pixel of the edge. Every device shows it
    // there, or the second triangle.
    let corner = [at(0.0, 0.0, 0.5, 1.0), at(2.0, 0.0, 0.5, 1.0), at(0.0, 4.0, 0.5, 1.0)];
    let flat = fragment("", "OpDecorate %in Flat", "", "%x = OpLoad %v4 %in OpStore %out %x");
    let mut scene = Scene::new(passing(), flat, &[&SQUARE[..], &corner[..]].concat());
    scene.attributes.push(floats(1, Rate::Vertex, &[[1.0; 4], [1.0; 4], [1.0; 4], [1.0; 4], [2.0; 4], [2.0; 4], [2.0; 4]]));
    (scene.indices, scene.count) = (Some(vec![0, 1, 2, 4, 5, 6, 0, 2, 3]), 9);
    let between = picture(&scene.observed().targets[0]);
    assert_eq!(between, ["?#######", "########", "########", "########", "########", "########", "########", "########"]);
}

/// Fragments that the stage does not discard cover a common edge as in a stage that
/// discards nothing.
#[test]
fn a_common_edge_is_covered_once_where_the_stage_may_discard() {
    let fan = |fragment: Module| {
        let mut scene = Scene::new(passing(), fragment, &SQUARE);
        scene.topology = Topology::Fan;
        scene.attributes.push(floats(1, Rate::Vertex, &[[0.0; 4], [1.0; 4], [2.0; 4], [0.0; 4]]));
        picture(&scene.observed().targets[0])
    };
    let all = ["########"; 8];
    for instruction in ["OpKill", "OpTerminateInvocation"] {
        let dead = format!("OpStore %out %red OpReturn %dead = OpLabel {instruction} %last = OpLabel");
        assert_eq!(fan(fragment("", "", "", &dead)), all, "{instruction}");
        let by = |condition: &str| {
            let body = format!(
                "{COORDINATES} %in0 = OpLoad %v4 %in %v = OpCompositeExtract %float %in0 0 %k = {condition}
                 OpSelectionMerge %m None OpBranchConditional %k %t %m %t = OpLabel {instruction} %m = OpLabel OpStore %out %red"
            );
            fan(fragment("", "OpDecorate %in Flat", "%edge = OpConstant %float 1.5 %fine = OpConstant %float 0.3", &body))
        };
        assert_eq!(by("OpFOrdLessThan %bool %cx %f0"), all, "{instruction}");
        // Fragments on both sides of the edge are discarded.
        let below = [".", "#"].map(|letter| letter.repeat(8));
        assert_eq!(by("OpFOrdLessThan %bool %cy %f4"), [0, 0, 0, 0, 1, 1, 1, 1].map(|half| below[half].clone()), "{instruction}");
        // If a device has the fragment of the triangle that discards, the old colour stays.
        let [first, second] = [by("OpFOrdLessThan %bool %v %edge"), by("OpFOrdGreaterThan %bool %v %edge")];
        for (y, row) in first.iter().enumerate() {
            assert_eq!(*row, format!("{}?{}", "#".repeat(y), ".".repeat(7 - y)), "{instruction}");
        }
        for (y, row) in second.iter().enumerate() {
            assert_eq!(*row, format!("{}?{}", ".".repeat(y), "#".repeat(7 - y)), "{instruction}");
        }
    }
    // A mask that is the same on every device, and one that depends on the device.
    let masked = |bits: &str| {
        let declarations = "%uwords1 = OpTypeArray %uint %c1 %pmask = OpTypePointer Output %uwords1 %mask = OpVariable %pmask Output";
        let body = format!("{bits} %q = OpAccessChain %pout_uint %mask %c0 OpStore %q %bits OpStore %out %red");
        fan(fragment("%mask", "OpDecorate %mask BuiltIn SampleMask", declarations, &body))
    };
    assert_eq!(masked("%bits = OpCopyObject %uint %c1"), all);
    let open = "%one = OpFDiv %float %f4 %f4 %bits = OpConvertFToU %uint %one";
    assert_eq!(masked(open), ["????????"; 8]);
}

/// A triangle with vertices at pixels (0, 0), (8, 0) and (0, 8). The second vertex has w = 2. The
/// first component of the input is 0, 8 and 0.
fn slanted(decoration: &str) -> Scene {
    let body = "%x = OpLoad %v4 %in OpStore %out %x";
    let positions = [at(0.0, 0.0, 0.5, 1.0), at(8.0, 0.0, 0.5, 2.0), at(0.0, 8.0, 0.5, 1.0)];
    let mut scene = Scene::new(passing(), fragment("", decoration, "", body), &positions);
    scene.attributes.push(floats(1, Rate::Vertex, &[[0.0, 3.0, 0.0, 1.0], [8.0, 5.0, 0.0, 1.0], [0.0, 7.0, 0.0, 1.0]]));
    scene
}

#[test]
fn inputs_are_interpolated_as_decorated() {
    // At the centre (1.5, 2.5) λ is (1/2, 3/16, 5/16). Divided by w it is (1/2, 3/32, 5/16), whose
    // sum is 29/32.
    for (decoration, expected) in
        [("", 8.0 * 3.0 / 29.0), ("OpDecorate %in NoPerspective", 1.5f32), ("OpDecorate %in Centroid", 24.0 / 29.0)]
    {
        let target = &slanted(decoration).observed().targets[0];
        assert!((definite(target, 1, 2, 0) - expected).abs() <= f32::EPSILON, "{decoration}: {}", definite(target, 1, 2, 0));
        assert_eq!(target.component(1, 2, 0), Some(Component::Undecided(Why::Interpolated)));
        // The third component is 0 at all vertices, so it is 0 on every device.
        assert!(target.component(1, 2, 2).is_some_and(|component| is_zero(&component)));
    }
    let flat = slanted("OpDecorate %in Flat").observed();
    assert_eq!([0, 1, 2, 3].map(|c| exactly(&flat, 1, 2, c)), [0.0, 3.0, 0.0, 1.0]);
}

#[test]
fn planted_rasterisation_is_caught() {
    let value = |rules: raster::Rules, decoration: &str| {
        let mut scene = slanted(decoration);
        scene.rules = rules;
        definite(&scene.observed().targets[0], 1, 2, 0)
    };
    let sound = raster::Rules::default();
    assert_ne!(value(raster::Rules { perspective: sound.linear, ..sound }, ""), value(sound, ""));
    assert_ne!(value(raster::Rules { linear: sound.perspective, ..sound }, "OpDecorate %in NoPerspective"), 1.5);
    let provoked = raster::Rules {
        assemble: |topology, i| {
            let [a, b, c] = topology.triangle(i);
            [b, c, a]
        },
        ..sound
    };
    assert_eq!(value(provoked, "OpDecorate %in Flat"), 8.0);
    let mut scene = red(&HALF);
    scene.rules = raster::Rules { centre: |pixel, one| pixel * one, ..sound };
    assert_ne!(picture(&scene.observed().targets[0]), TRIANGLE);
    let mut scene = with_depth(Compare::Less, true);
    scene.rules = raster::Rules { depth_range: |z, near, far| (1.0 - z) * (far - near) + near, ..sound };
    assert_ne!(definite(&scene.observed().targets[0], 0, 0, 0), 0.25);
}

/// Draws all of the framebuffer at depth 1/2 with colour 1/2, and then [`HALF`] at depth 1/4 with
/// colour 1/4.
fn with_depth(compare: Compare, writes: bool) -> Scene {
    let mut positions = ALL.to_vec();
    positions.extend(HALF.map(|[x, y, _, w]| [x, y, 0.25, w]));
    let mut scene = Scene::new(passing(), fragment("", "OpDecorate %in Flat", "", "%x = OpLoad %v4 %in OpStore %out %x"), &positions);
    scene.attributes.push(floats(1, Rate::Vertex, &[[0.5; 4], [0.5; 4], [0.5; 4], [0.25; 4], [0.25; 4], [0.25; 4]]));
    let buffer = DepthBuffer::new(Format::D32Sfloat, 8, 8, 1.0).expect("a depth buffer");
    scene.depth = Some(DepthTarget { buffer, compare, writes, stencil: None });
    scene
}

#[test]
fn depths_are_tested_and_stored_in_order() {
    let near = with_depth(Compare::Less, true).observed();
    assert_eq!([exactly(&near, 0, 0, 0), exactly(&near, 7, 7, 0)], [0.25, 0.5]);
    assert_eq!(near.targets[0].component(3, 4, 0), Some(Component::Undecided(Why::Coverage)), "on the edge either colour");
    let depths = near.depth.expect("a depth buffer");
    let depth = |x, y| depths.depth(x, y).expect("a pixel").0;
    assert!((depth(0, 0).value - 0.25).abs() < 1e-6 && depth(0, 0).allowed.high < 0.26);
    assert!(depth(3, 4).allowed.contains(0.25) && depth(3, 4).allowed.contains(0.5), "{:?}", depth(3, 4));
    // The first triangle passes against 0.3. The second does not pass against 1/2.
    let mut scene = with_depth(Compare::Greater, true);
    scene.depth.as_mut().expect("a depth buffer").buffer = DepthBuffer::new(Format::D32Sfloat, 8, 8, 0.3).expect("a depth buffer");
    assert_eq!(exactly(&scene.observed(), 0, 0, 0), 0.5);
    // Without writes, the second triangle is compared with the initial depth too. Its depth 1/4 is
    // not greater than 0.3, but it is greater than 0.1.
    scene.depth.as_mut().expect("a depth buffer").buffer = DepthBuffer::new(Format::D32Sfloat, 8, 8, 0.1).expect("a depth buffer");
    scene.depth.as_mut().expect("a depth buffer").writes = false;
    assert_eq!(exactly(&scene.observed(), 0, 0, 0), 0.25);
    // The interpolated depth may be on either side of the stored one.
    scene.depth.as_mut().expect("a depth buffer").buffer = DepthBuffer::new(Format::D32Sfloat, 8, 8, 0.5).expect("a depth buffer");
    assert_eq!(scene.observed().targets[0].component(7, 7, 0), Some(Component::Undecided(Why::Coverage)));
}

/// A triangle that is drawn again has the same depths, though these are not known to the bit. One
/// with another position, or with a depth that the stage writes, has other depths.
#[test]
fn a_triangle_that_is_drawn_again_passes_where_it_passed() {
    let slanted = [at(-1.0, -1.0, 0.1, 1.0), at(30.0, -1.0, 0.37, 1.0), at(-1.0, 30.0, 0.8, 1.0)];
    let shown = |again: [[f32; 4]; 3], compare| {
        let mut scene = with_depth(compare, true);
        scene.attributes[0] = floats(0, Rate::Vertex, &[slanted, again].concat());
        scene.observed().targets[0].component(2, 3, 0).expect("a pixel")
    };
    let exactly = |x: f32| Component::Exactly(x.to_bits().into());
    assert_eq!(shown(slanted, Compare::LessOrEqual), exactly(0.25));
    assert_eq!(shown(slanted, Compare::Less), exactly(0.5));
    let other = [slanted[0], slanted[1], at(-1.0, 30.0, 0.8, 1.000_000_1)];
    assert_eq!(shown(other, Compare::LessOrEqual), Component::Undecided(Why::Coverage));
    let mut scene = with_depth(Compare::LessOrEqual, true);
    let declarations = "%z = OpVariable %pout_float Output";
    let body = format!("{COORDINATES} %cz = OpCompositeExtract %float %c 2 OpStore %z %cz %x = OpLoad %v4 %in OpStore %out %x");
    let text = fragment_text("%z", "OpDecorate %z BuiltIn FragDepth OpDecorate %in Flat", declarations, &body);
    scene.fragment = load(&text.replace("OriginUpperLeft", "OriginUpperLeft OpExecutionMode %main DepthReplacing"));
    scene.attributes[0] = floats(0, Rate::Vertex, &[slanted, slanted].concat());
    assert_eq!(scene.observed().targets[0].component(2, 3, 0), Some(Component::Undecided(Why::Coverage)));
}

#[test]
fn a_stage_may_replace_the_depth() {
    let modes = |depth: &str, modes: &str| {
        fragment_text(
            "%z",
            "OpDecorate %z BuiltIn FragDepth",
            "%z = OpVariable %pout_float Output",
            &format!("OpStore %z %{depth} OpStore %out %red"),
        )
        .replace("OpExecutionMode %main OriginUpperLeft", &format!("OpExecutionMode %main OriginUpperLeft {modes}"))
    };
    let shown = |text: String| {
        let mut scene = with_depth(Compare::Less, true);
        (scene.vertex, scene.fragment) = (vertex("", "", "", ""), load(&text));
        scene.attributes.truncate(1);
        let observation = scene.observed();
        (observation.targets[0].component(0, 0, 0), observation.depth.expect("a depth buffer").depth(0, 0).expect("a pixel").0)
    };
    let replacing = "OpExecutionMode %main DepthReplacing";
    let (colour, depth) = shown(modes("quarter", replacing));
    assert_eq!((colour, depth.value, depth.allowed.low), (Some(Component::Exactly(0x3f80_0000)), 0.25, 0.25));
    // DepthGreater promises a depth that is not below the interpolated one. The first triangle
    // breaks the promise, because 1/4 is below 1/2. The second triangle keeps it.
    let (_, depth) = shown(modes("quarter", &format!("{replacing} OpExecutionMode %main DepthGreater")));
    assert!(depth.allowed.low < depth.allowed.high, "{depth:?}");
    // Early tests take the interpolated depth.
    let (_, depth) = shown(modes("f0", &format!("{replacing} OpExecutionMode %main EarlyFragmentTests")));
    assert!((depth.value - 0.25).abs() < 1e-6);
}

#[test]
fn unorm_codes_round_either_way() {
    for (format, first) in [(Format::Rgba8Unorm, 0), (Format::Bgra8Unorm, 16)] {
        let mut scene = Scene::new(
            vertex("", "", "", ""),
            fragment("", "", "", "%x = OpCompositeConstruct %v4 %half %third %f2 %f0 OpStore %out %x"),
            &ALL,
        );
        scene.targets = vec![target(0, format, [0; 4])];
        let observation = scene.observed();
        let target = &observation.targets[0];
        // 127.5 is between 127 and 128. 255 · 0.3333 = 84.99 rounds to 85. 2 is clamped to 1.
        for (component, codes) in [(0, vec![127, 128]), (1, vec![85]), (2, vec![255]), (3, vec![0])] {
            match target.component(5, 6, component).expect("a pixel") {
                Component::OneOf(found) => {
                    let admitted: Vec<u64> = (0..256).filter(|&code| found.admits(code)).collect();
                    assert_eq!(admitted, codes, "component {component}");
                }
                Component::Exactly(code) => assert_eq!(vec![code], codes),
                other => panic!("{other:?}"),
            }
        }
        let (texel, _) = target.image.raw(0, 5, 6).expect("a pixel");
        assert_eq!((texel >> first) & 255, 128, "{}", format.name());
    }
}

#[test]
fn float16_and_integer_attachments() {
    let outputs = |body: &str| -> Module {
        let declarations = "%whole = OpVariable %pout_u4 Output";
        fragment("%whole", "OpDecorate %whole Location 1", declarations, body)
    };
    let body = "%u = OpCompositeConstruct %u4 %c1 %c300 %c2 %c3 OpStore %whole %u OpStore %out %red";
    let mut scene = Scene::new(vertex("", "", "", ""), outputs(body), &ALL);
    scene.targets = vec![target(1, Format::Rgba8Uint, [9; 4]), target(0, Format::Rgba16Sfloat, [0; 4])];
    let observation = scene.observed();
    let [whole, half] = [&observation.targets[0], &observation.targets[1]];
    assert_eq!((whole.location, half.location), (1, 0));
    assert_eq!([0, 2, 3].map(|c| whole.component(0, 0, c)), [1, 2, 3].map(|code| Some(Component::Exactly(code))));
    match whole.component(0, 0, 1) {
        Some(Component::Undefined(made)) => assert_eq!(made.kind, Unspecified::ImageConversion, "300 has more than 8 bits"),
        other => panic!("{other:?}"),
    }
    assert_eq!(half.component(0, 0, 0), Some(Component::Exactly(0x3c00)));
    // Without an output at its location, an attachment is undefined where there are fragments.
    scene.fragment = constant("red");
    scene.targets[0] = target(1, Format::R32Uint, [9; 4]);
    match scene.observed().targets[0].component(0, 0, 0) {
        Some(Component::Undefined(made)) => assert_eq!((made.kind, made.instruction), (Unspecified::UnwrittenOutput, None)),
        other => panic!("{other:?}"),
    }
}

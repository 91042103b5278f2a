//! Draws of two stages, images and samplers, and the exact texels of the result. Expectations are
//! computed by hand, with rows from the top.

mod failing;
mod resources;
mod scene;

use pretty_assertions::assert_eq;
use smallstep::compile;
use smallstep::dispatch::{DepthAttachment, Geometry};
use smallstep_semantics::image::{Compare, Format};
use smallstep_semantics::raster::{self, Cull, FrontFace, Topology, Viewport};
use smallstep_semantics::spirv::environment::{Attribute, Rate};

use crate::modules::words;
use crate::{rendered, unchecked};
use scene::{
    ALL, BEFORE, CORNER, MIRRORED, UPPER_LEFT, YELLOW, corners, draw, floats, image, judge, module, numbers, passthrough, run, target,
    yellow,
};

#[test]
fn rows_go_downwards_and_what_is_not_drawn_stays() {
    let Some(mut device) = passthrough() else { return };
    let result = run(&mut device, &draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm));
    assert_eq!(judge(&result.targets[0], &YELLOW, &CORNER), Ok(()));
    // The judge distinguishes the picture from its mirror image and from other colours.
    assert!(judge(&result.targets[0], &YELLOW, &MIRRORED).is_err());
    assert!(judge(&result.targets[0], &[255, 255, 0, 254], &CORNER).is_err());
}

/// A negative height is Vulkan's own way to mirror, and reaches the device unchanged.
#[test]
fn a_viewport_of_negative_height_needs_no_pass() {
    let Some(mut device) = passthrough() else { return };
    let mut mirrored = draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm);
    mirrored.state.viewport = Viewport { y: 4.0, height: -4.0, ..mirrored.state.viewport };
    assert_eq!(compile::viewport::adapt(&mirrored).expect("it is as it should be"), mirrored);
    let result = rendered(device.run(mirrored).outcome);
    assert_eq!(judge(&result.targets[0], &YELLOW, &MIRRORED), Ok(()));
    // Without the pass, the device does not get a viewport of positive height.
    unchecked(&mut device, draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm), "the pass `viewport` turns it round");
}

#[test]
fn triangles_are_culled_by_the_way_they_turn_in_framebuffer_coordinates() {
    let Some(mut device) = passthrough() else { return };
    let nothing = ["...."; 4];
    for (front, cull, picture) in [
        (FrontFace::Clockwise, Cull::Back, CORNER),
        (FrontFace::Clockwise, Cull::Front, nothing),
        (FrontFace::CounterClockwise, Cull::Back, nothing),
        (FrontFace::CounterClockwise, Cull::Front, CORNER),
    ] {
        let mut dispatch = draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm);
        (dispatch.state.front, dispatch.state.cull) = (front, cull);
        let result = run(&mut device, &dispatch);
        assert_eq!(judge(&result.targets[0], &YELLOW, &picture), Ok(()), "{front:?} {cull:?}");
    }
}

#[test]
fn viewport_and_scissor_bound_what_is_drawn() {
    let Some(mut device) = passthrough() else { return };
    let mut dispatch = draw(yellow(), &ALL, Format::Rgba8Unorm);
    dispatch.state.viewport = Viewport { x: 1.0, y: 0.0, width: 3.0, height: 2.0, ..dispatch.state.viewport };
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &YELLOW, &[".###", ".###", "....", "...."]), Ok(()));
    dispatch.state.area = raster::Area { x: 0, y: 1, end_x: 3, end_y: 4 };
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &YELLOW, &["....", ".##.", "....", "...."]), Ok(()));
}

/// FragCoord with its depth, and the facing.
#[test]
fn frag_coord_is_of_the_framebuffer() {
    let Some(mut device) = passthrough() else { return };
    let text = module(
        ["", "%out %coord %facing"],
        "OpDecorate %out Location 0\n OpDecorate %coord BuiltIn FragCoord\n OpDecorate %facing BuiltIn FrontFacing",
        "%out = OpVariable %p_out_vec4 Output\n %coord = OpVariable %p_in_vec4 Input\n %facing = OpVariable %p_in_bool Input",
        "",
        "%c = OpLoad %vec4 %coord
         %is = OpLoad %bool %facing
         %front = OpSelect %float %is %f1 %f0
         %value = OpCompositeInsert %vec4 %front %c 3
         OpStore %out %value",
    );
    let mut dispatch = draw(text, &ALL, Format::Rgba32Sfloat);
    dispatch.state.front = FrontFace::Clockwise;
    let result = run(&mut device, &dispatch);
    let expected = (0..16u8).flat_map(|i| [f32::from(i % 4) + 0.5, f32::from(i / 4) + 0.5, 0.25, 1.0]);
    assert_eq!(result.targets[0], floats(expected));
}

/// The sample of a fragment is covered. The stage clears its bit from the third row on, so these
/// pixels are not drawn.
#[test]
fn a_sample_mask_says_which_fragments_stay() {
    let Some(mut device) = passthrough() else { return };
    let text = module(
        ["", "%out %coord %seen %mask"],
        "OpDecorate %out Location 0\n OpDecorate %coord BuiltIn FragCoord\n OpDecorate %seen BuiltIn SampleMask\n OpDecorate %seen Flat
         OpDecorate %mask BuiltIn SampleMask",
        "%out = OpVariable %p_out_vec4 Output\n %coord = OpVariable %p_in_vec4 Input\n %words = OpTypeArray %uint %u1
         %p_in_words = OpTypePointer Input %words\n %p_out_words = OpTypePointer Output %words
         %seen = OpVariable %p_in_words Input\n %mask = OpVariable %p_out_words Output\n %f2 = OpConstant %float 2",
        "",
        "%c = OpLoad %vec4 %coord
         %row = OpCompositeExtract %float %c 1
         %above = OpFOrdLessThan %bool %row %f2
         %from = OpAccessChain %p_in_uint %seen %u0
         %covered = OpLoad %uint %from
         %bit = OpSelect %uint %above %covered %u2
         %to = OpAccessChain %p_out_uint %mask %u0
         OpStore %to %bit
         OpStore %out %yellow",
    );
    let result = run(&mut device, &draw(text, &UPPER_LEFT, Format::Rgba8Unorm));
    assert_eq!(judge(&result.targets[0], &YELLOW, &["###.", "##..", "....", "...."]), Ok(()));
}

/// `Position` is a member of a block. The pass reaches it by an access chain.
#[test]
fn a_position_in_a_block_is_turned_too() {
    let Some(mut device) = passthrough() else { return };
    let text = include_str!("../programs/position-in-block.spvasm");
    let result = run(&mut device, &draw(words(text), &UPPER_LEFT, Format::Rgba8Unorm));
    assert_eq!(judge(&result.targets[0], &YELLOW, &CORNER), Ok(()));
}

/// The first vertex is the provoking vertex. Flat inputs show its index and that of its instance.
#[test]
fn indices_offsets_and_instances_are_those_of_the_draw() {
    let Some(mut device) = passthrough() else { return };
    let one = |geometry: Geometry| {
        let mut dispatch = draw(numbers(), &[], Format::Rgba8Uint);
        dispatch.geometry = geometry;
        dispatch
    };
    let mut vertices = vec![[7.0, 7.0]; 5];
    vertices.extend(ALL);
    vertices.push([3.0, 3.0]);
    let attributes = || vec![corners(&vertices)];
    let cases = [
        // Vertices 5, 6, 7 of instance 2.
        (Geometry { attributes: attributes(), first: 5, first_instance: 2, ..Geometry::of_count(Topology::List, 3) }, 0x25),
        // The indices 4, 5 and 6, each plus the vertex offset 1.
        (
            Geometry {
                attributes: attributes(),
                indices: Some(vec![0, 4, 5, 6, 0]),
                first: 1,
                vertex_offset: 1,
                ..Geometry::of_count(Topology::List, 3)
            },
            0x05,
        ),
        // A strip with indices.
        (Geometry { attributes: attributes(), indices: Some(vec![6, 7, 5]), ..Geometry::of_count(Topology::Strip, 3) }, 0x06),
        // In a fan, the vertex after the first is the provoking vertex.
        (Geometry { attributes: attributes(), first: 5, ..Geometry::of_count(Topology::Fan, 3) }, 0x06),
        // The later instance is drawn over the earlier one.
        (Geometry { attributes: attributes(), first: 5, instances: 2, ..Geometry::of_count(Topology::Strip, 3) }, 0x15),
    ];
    for (geometry, expected) in cases {
        let shown = run(&mut device, &one(geometry.clone())).targets.remove(0);
        assert_eq!(shown, [expected, 0, 1, 2].repeat(16), "{geometry:?}");
    }
}

/// A colour for each instance, in items of 4 bytes with a stride of 5 that start at an odd byte.
/// Also a place for each instance.
#[test]
fn attributes_of_instances_have_any_stride() {
    let Some(mut device) = passthrough() else { return };
    let text = module(
        ["%given %moved %sent", "%out %received"],
        "OpDecorate %given Location 3
         OpDecorate %moved Location 5
         OpDecorate %sent Location 0
         OpDecorate %received Location 0
         OpDecorate %out Location 0",
        "%given = OpVariable %p_in_vec4 Input
         %moved = OpVariable %p_in_vec2 Input
         %sent = OpVariable %p_out_vec4 Output
         %received = OpVariable %p_in_vec4 Input
         %out = OpVariable %p_out_vec4 Output",
        "%colour = OpLoad %vec4 %given
         OpStore %sent %colour
         %by = OpLoad %vec2 %moved
         %sum = OpFAdd %vec2 %at %by
         %there = OpVectorShuffle %vec4 %sum %where 0 1 4 5
         OpStore %position %there",
        "%value = OpLoad %vec4 %received\n OpStore %out %value",
    );
    let mut dispatch = draw(text, &UPPER_LEFT, Format::Rgba8Unorm);
    dispatch.geometry.instances = 2;
    let (red, blue) = ([255, 0, 0, 255], [0, 0, 255, 255]);
    let colours = [[9].as_slice(), &red, &[9], &blue].concat();
    dispatch.geometry.attributes.extend([
        Attribute { location: 3, format: Format::Rgba8Unorm, rate: Rate::Instance, offset: 1, stride: 5, bytes: colours },
        Attribute { location: 5, format: Format::Rg8Snorm, rate: Rate::Instance, offset: 0, stride: 2, bytes: vec![0, 0, 127, 127] },
    ]);
    let shown = run(&mut device, &dispatch).targets.remove(0);
    // The second instance moves by half of the picture to the right and down.
    let picture = "rrr.rr..r.bb..bb";
    let expected = picture.bytes().flat_map(|pixel| match pixel {
        b'r' => red,
        b'b' => blue,
        _ => [BEFORE; 4],
    });
    assert_eq!(shown, expected.collect::<Vec<u8>>());
}

#[test]
fn attachments_have_formats_and_locations_of_their_own() {
    let Some(mut device) = passthrough() else { return };
    let text = module(
        ["", "%out %third"],
        "OpDecorate %out Location 0\n OpDecorate %third Location 3",
        "%out = OpVariable %p_out_vec4 Output
         %third = OpVariable %p_out_uvec4 Output
         %large = OpConstant %uint 65535
         %values = OpConstantComposite %uvec4 %large %u1 %u2 %u7
         %some = OpConstantComposite %vec4 %half %f1 %quarter %f0",
        "",
        "OpStore %out %some\n OpStore %third %values",
    );
    let mut dispatch = draw(text, &UPPER_LEFT, Format::Rgba32Sfloat);
    dispatch.targets.insert(0, target(3, Format::Rgba16Uint, 4, 4));
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &[255, 255, 1, 0, 2, 0, 7, 0], &CORNER), Ok(()));
    assert_eq!(judge(&result.targets[1], &floats([0.5, 1.0, 0.25, 0.0]), &CORNER), Ok(()));
}

/// Depth 0.25 against stored depths, in both formats.
#[test]
fn depths_are_compared_with_what_was_there_and_stored() {
    let Some(mut device) = passthrough() else { return };
    // 0.25 of 65535 is 16383.75. It is stored as 16384, and is less than 0.5 of 65535.
    let before = [0.0, 0.125, 0.5, 1.0];
    let float = floats(before.repeat(4));
    let after_float = floats([0.0, 0.125, 0.25, 0.25].repeat(4));
    let norm = |codes: [u16; 4]| codes.repeat(4).into_iter().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let (norm, after_norm) = (norm([0, 8192, 32768, 65535]), norm([0, 8192, 16384, 16384]));
    for (format, before, after) in [(Format::D32Sfloat, float, after_float), (Format::D16Unorm, norm, after_norm)] {
        for writes in [true, false] {
            let mut dispatch = draw(yellow(), &ALL, Format::Rgba8Unorm);
            dispatch.depth = Some(DepthAttachment { image: image(format, 4, 4, &before), compare: Compare::Less, writes });
            let result = run(&mut device, &dispatch);
            assert_eq!(judge(&result.targets[0], &YELLOW, &["..##"; 4]), Ok(()), "{format:?}");
            assert_eq!(result.depth.as_ref(), Some(if writes { &after } else { &before }), "{format:?}");
        }
    }
}

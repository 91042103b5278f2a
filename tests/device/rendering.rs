//! Draws of two stages, images and samplers, and the exact texels that they leave. Expectations are by hand, rows from the top.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use smallstep::compile;
use smallstep::dispatch::{
    BufferBinding, BufferKind, ComputeDispatch, DepthAttachment, DrawDispatch, DrawResult, Geometry, ImageBinding, ImageKind,
    SamplerBinding, Stage,
};
use smallstep::gpu::{Device, DeviceOutcome, Options, Route, worker};
use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Image, Sampler};
use smallstep_semantics::raster::{self, Cull, FrontFace, Topology, Viewport};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};

use super::computing::{buffer, computed, words};
use super::modules::{colour, dispatch as fragment_only};
use super::{drawn, open, options};

/// What was there before: bytes that no test draws.
const BEFORE: u8 = 0x11;

/// A module of two entry points, "vertex" and "fragment". The vertex stage has the attribute `%corner`, a vec2 at location 0, and moves it by
/// `%shift` to `%where`, the position; the bodies come after that. The interfaces hold what is beyond.
fn module(interfaces: [&str; 2], decorations: &str, declarations: &str, vertex: &str, fragment: &str) -> Arc<[u32]> {
    let [of_vertex, of_fragment] = interfaces;
    words(&format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint Vertex %vmain \"vertex\" %corner %position {of_vertex}
         OpEntryPoint Fragment %fmain \"fragment\" {of_fragment}
         OpExecutionMode %fmain OriginUpperLeft
         OpDecorate %corner Location 0
         OpDecorate %position BuiltIn Position
         {decorations}
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %bool = OpTypeBool
         %float = OpTypeFloat 32
         %uint = OpTypeInt 32 0
         %vec2 = OpTypeVector %float 2
         %vec4 = OpTypeVector %float 4
         %uvec2 = OpTypeVector %uint 2
         %uvec4 = OpTypeVector %uint 4
         %p_in_vec2 = OpTypePointer Input %vec2
         %p_in_vec4 = OpTypePointer Input %vec4
         %p_in_uint = OpTypePointer Input %uint
         %p_in_bool = OpTypePointer Input %bool
         %p_out_vec2 = OpTypePointer Output %vec2
         %p_out_vec4 = OpTypePointer Output %vec4
         %p_out_uint = OpTypePointer Output %uint
         %p_out_uvec4 = OpTypePointer Output %uvec4
         %f0 = OpConstant %float 0
         %f1 = OpConstant %float 1
         %half = OpConstant %float 0.5
         %quarter = OpConstant %float 0.25
         %u0 = OpConstant %uint 0
         %u1 = OpConstant %uint 1
         %u2 = OpConstant %uint 2
         %u7 = OpConstant %uint 7
         %yellow = OpConstantComposite %vec4 %f1 %f1 %f0 %f1
         %corner = OpVariable %p_in_vec2 Input
         %position = OpVariable %p_out_vec4 Output
         {declarations}
         %vmain = OpFunction %void None %function
         %ventry = OpLabel
         %at = OpLoad %vec2 %corner
         %x = OpCompositeExtract %float %at 0
         %y = OpCompositeExtract %float %at 1
         %where = OpCompositeConstruct %vec4 %x %y %quarter %f1
         OpStore %position %where
         {vertex}
         OpReturn
         OpFunctionEnd
         %fmain = OpFunction %void None %function
         %fentry = OpLabel
         {fragment}
         OpReturn
         OpFunctionEnd"
    ))
}

const OUT: &str = "OpDecorate %out Location 0";

/// Yellow wherever it is drawn.
fn yellow() -> Arc<[u32]> {
    module(["", "%out"], OUT, "%out = OpVariable %p_out_vec4 Output", "", "OpStore %out %yellow")
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn image(format: Format, width: u32, height: u32, bytes: &[u8]) -> Image {
    let mut image = Image::new(format, width, height, 1).expect("it has texels");
    image.fill(0, bytes).expect("the bytes of its level");
    image
}

fn target(location: u32, format: Format, width: u32, height: u32) -> ColourTarget {
    let bytes = vec![BEFORE; (width * height) as usize * format.bytes()];
    ColourTarget { location, image: image(format, width, height, &bytes) }
}

fn corners(values: &[[f32; 2]]) -> Attribute {
    let bytes = floats(values.iter().copied().flatten());
    Attribute { location: 0, format: Format::Rg32Sfloat, rate: Rate::Vertex, offset: 0, stride: 8, bytes }
}

/// Covers everything.
const ALL: [[f32; 2]; 3] = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
/// Of 4 by 4 pixels, those (x, y) with x + y ≤ 2: the upper left corner. In framebuffer coordinates it turns clockwise.
const UPPER_LEFT: [[f32; 2]; 3] = [[-1.0, -1.0], [0.9, -1.0], [-1.0, 0.9]];

/// A draw of these triangles to one target of that format, 4 by 4.
fn draw(words: Arc<[u32]>, triangles: &[[f32; 2]], format: Format) -> DrawDispatch {
    let stage = |entry: &str| Stage { words: words.clone(), entry: entry.into() };
    DrawDispatch {
        vertex: stage("vertex"),
        fragment: stage("fragment"),
        geometry: Geometry { attributes: vec![corners(triangles)], ..Geometry::of_count(Topology::List, triangles.len() as u32) },
        buffers: vec![],
        images: vec![],
        samplers: vec![],
        push_constants: vec![],
        state: raster::State::of_size(4, 4),
        targets: vec![target(0, format, 4, 4)],
        depth: None,
    }
}

#[track_caller]
fn rendered(outcome: DeviceOutcome) -> DrawResult {
    match outcome {
        DeviceOutcome::Rendered(result) => result,
        other => panic!("it was not rendered: {other}"),
    }
}

/// What the draw leaves on a device, by way of the passes.
#[track_caller]
fn run(device: &mut Device, dispatch: &DrawDispatch) -> DrawResult {
    let (adapted, _) = compile::draw_for_wgpu(dispatch).expect("the passes take it");
    let result = rendered(device.run(adapted.clone()).outcome);
    assert_eq!(result.words_hash, adapted.words_hash());
    result
}

fn passthrough() -> Option<Device> {
    open(Some(Route::Passthrough), options())
}

/// What differs from a picture: a row for each line, # for a pixel of these bytes, . for one as before.
fn judge(texels: &[u8], drawn: &[u8], picture: &[&str]) -> Result<(), String> {
    let pixel = |texel: &[u8]| match texel {
        texel if texel == drawn => '#',
        texel if texel.iter().all(|byte| *byte == BEFORE) => '.',
        _ => '?',
    };
    let shown: String = texels.chunks_exact(drawn.len()).map(pixel).collect();
    let expected = picture.concat();
    if shown == expected { Ok(()) } else { Err(format!("it shows {shown}, and {expected} was expected")) }
}

const YELLOW: [u8; 4] = [255, 255, 0, 255];
const CORNER: [&str; 4] = ["###.", "##..", "#...", "...."];
const MIRRORED: [&str; 4] = ["....", "#...", "##..", "###."];

#[test]
fn rows_go_downwards_and_what_is_not_drawn_stays() {
    let Some(mut device) = passthrough() else { return };
    let result = run(&mut device, &draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm));
    assert_eq!(judge(&result.targets[0], &YELLOW, &CORNER), Ok(()));
    // The judge tells the picture from its mirror image, and from other colours.
    assert!(judge(&result.targets[0], &YELLOW, &MIRRORED).is_err());
    assert!(judge(&result.targets[0], &[255, 255, 0, 254], &CORNER).is_err());
}

/// A negative height is Vulkan's own way to mirror, and goes to the device as it is.
#[test]
fn a_viewport_of_negative_height_needs_no_pass() {
    let Some(mut device) = passthrough() else { return };
    let mut mirrored = draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm);
    mirrored.state.viewport = Viewport { y: 4.0, height: -4.0, ..mirrored.state.viewport };
    assert_eq!(compile::viewport::adapt(&mirrored).expect("it is as it should be"), mirrored);
    let result = rendered(device.run(mirrored).outcome);
    assert_eq!(judge(&result.targets[0], &YELLOW, &MIRRORED), Ok(()));
    // Without the pass a positive height does not reach the device.
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

/// FragCoord, the facing, and what `Position` holds in a block as glslang declares it.
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

/// The sample of a fragment is covered; a stage that clears its bit from the third row on leaves those pixels alone.
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

/// `Position` as a member of a block, which the pass reaches by an access chain.
#[test]
fn a_position_in_a_block_is_turned_too() {
    let Some(mut device) = passthrough() else { return };
    let text = "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint Vertex %vmain \"vertex\" %corner %block
         OpEntryPoint Fragment %fmain \"fragment\" %out
         OpExecutionMode %fmain OriginUpperLeft
         OpDecorate %corner Location 0
         OpDecorate %out Location 0
         OpDecorate %per_vertex Block
         OpMemberDecorate %per_vertex 0 BuiltIn PointSize
         OpMemberDecorate %per_vertex 1 BuiltIn Position
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %float = OpTypeFloat 32
         %int = OpTypeInt 32 1
         %vec2 = OpTypeVector %float 2
         %vec4 = OpTypeVector %float 4
         %per_vertex = OpTypeStruct %float %vec4
         %p_in = OpTypePointer Input %vec2
         %p_out = OpTypePointer Output %vec4
         %p_size = OpTypePointer Output %float
         %p_block = OpTypePointer Output %per_vertex
         %f0 = OpConstant %float 0
         %f1 = OpConstant %float 1
         %i0 = OpConstant %int 0
         %i1 = OpConstant %int 1
         %yellow = OpConstantComposite %vec4 %f1 %f1 %f0 %f1
         %corner = OpVariable %p_in Input
         %block = OpVariable %p_block Output
         %out = OpVariable %p_out Output
         %vmain = OpFunction %void None %function
         %ventry = OpLabel
         %at = OpLoad %vec2 %corner
         %x = OpCompositeExtract %float %at 0
         %y = OpCompositeExtract %float %at 1
         %where = OpCompositeConstruct %vec4 %x %y %f0 %f1
         %position = OpAccessChain %p_out %block %i1
         OpStore %position %where
         %size = OpAccessChain %p_size %block %i0
         OpStore %size %f1
         OpReturn
         OpFunctionEnd
         %fmain = OpFunction %void None %function
         %fentry = OpLabel
         OpStore %out %yellow
         OpReturn
         OpFunctionEnd";
    let result = run(&mut device, &draw(words(text), &UPPER_LEFT, Format::Rgba8Unorm));
    assert_eq!(judge(&result.targets[0], &YELLOW, &CORNER), Ok(()));
}

/// The index of the vertex and of the instance, seen by the vertex stage.
fn numbers() -> Arc<[u32]> {
    module(
        ["%vertex_index %instance_index %sent", "%out %received"],
        "OpDecorate %vertex_index BuiltIn VertexIndex
         OpDecorate %instance_index BuiltIn InstanceIndex
         OpDecorate %sent Location 0
         OpDecorate %received Location 0
         OpDecorate %received Flat
         OpDecorate %out Location 0",
        "%vertex_index = OpVariable %p_in_uint Input
         %instance_index = OpVariable %p_in_uint Input
         %sent = OpVariable %p_out_uint Output
         %received = OpVariable %p_in_uint Input
         %sixteen = OpConstant %uint 16
         %out = OpVariable %p_out_uvec4 Output",
        "%v = OpLoad %uint %vertex_index
         %i = OpLoad %uint %instance_index
         %high = OpIMul %uint %i %sixteen
         %both = OpIAdd %uint %high %v
         OpStore %sent %both",
        "%value = OpLoad %uint %received
         %four = OpCompositeConstruct %uvec4 %value %u0 %u1 %u2
         OpStore %out %four",
    )
}

/// The first vertex provokes: flat inputs tell which vertex and which instance it was.
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
        // The indices 4, 5, 3 and one more for each.
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
        // Of a fan the vertex after the first provokes.
        (Geometry { attributes: attributes(), first: 5, ..Geometry::of_count(Topology::Fan, 3) }, 0x06),
        // The later instance is drawn over the earlier one.
        (Geometry { attributes: attributes(), first: 5, instances: 2, ..Geometry::of_count(Topology::Strip, 3) }, 0x15),
    ];
    for (geometry, expected) in cases {
        let shown = run(&mut device, &one(geometry.clone())).targets.remove(0);
        assert_eq!(shown, [expected, 0, 1, 2].repeat(16), "{geometry:?}");
    }
}

/// A colour for each instance, in items of 4 bytes that are 5 apart from an odd byte on, and a place for each instance.
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
    // The second instance is moved by half of the picture to the right and down.
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

/// Depth 0.25 against depths that were there before, of both formats.
#[test]
fn depths_are_compared_with_what_was_there_and_stored() {
    let Some(mut device) = passthrough() else { return };
    // 0.25 of 65535 is 16383.75: stored as 16384, and less than 0.5 of it.
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

fn placed(name: &str, set: u32, binding: u32) -> String {
    format!("OpDecorate %{name} DescriptorSet {set}\n OpDecorate %{name} Binding {binding}\n")
}

#[test]
fn uniform_buffers_and_push_constants_reach_both_stages() {
    let Some(mut device) = passthrough() else { return };
    let decorations = format!(
        "{}{}OpDecorate %out Location 0\n OpDecorate %block Block\n OpMemberDecorate %block 0 Offset 0\n OpDecorate %push Block
         OpMemberDecorate %push 0 Offset 0\n OpMemberDecorate %push 1 Offset 16",
        placed("scale", 0, 4),
        placed("added", 2, 1)
    );
    let text = module(
        ["", "%out"],
        &decorations,
        "%block = OpTypeStruct %vec4
         %push = OpTypeStruct %vec4 %float
         %p_block = OpTypePointer Uniform %block
         %p_vec4 = OpTypePointer Uniform %vec4
         %p_push = OpTypePointer PushConstant %push
         %p_pushed = OpTypePointer PushConstant %vec4
         %p_pushed_float = OpTypePointer PushConstant %float
         %scale = OpVariable %p_block Uniform
         %added = OpVariable %p_block Uniform
         %pushed = OpVariable %p_push PushConstant
         %out = OpVariable %p_out_vec4 Output",
        "%p1 = OpAccessChain %p_vec4 %scale %u0
         %by = OpLoad %vec4 %p1
         %scaled = OpFMul %vec4 %where %by
         %p2 = OpAccessChain %p_pushed_float %pushed %u1
         %depth = OpLoad %float %p2
         %there = OpCompositeInsert %vec4 %depth %scaled 2
         OpStore %position %there",
        "%p3 = OpAccessChain %p_vec4 %added %u0
         %one = OpLoad %vec4 %p3
         %p4 = OpAccessChain %p_pushed %pushed %u0
         %other = OpLoad %vec4 %p4
         %value = OpFAdd %vec4 %one %other
         OpStore %out %value",
    );
    let mut dispatch = draw(text, &[[1.0, 1.0], [-0.9, 1.0], [1.0, -0.9]], Format::Rgba32Sfloat);
    let uniform = |set, binding, values: [f32; 4]| BufferBinding { set, binding, kind: BufferKind::Uniform, bytes: floats(values) };
    // The lower right corner, turned by a scale of -1.
    dispatch.buffers = vec![uniform(2, 1, [0.5, 1.0, 2.0, 4.0]), uniform(0, 4, [-1.0, -1.0, 1.0, 1.0])];
    dispatch.push_constants = floats([1.0, 1.0, -2.0, 0.25, 0.75]);
    dispatch.depth =
        Some(DepthAttachment { image: image(Format::D32Sfloat, 4, 4, &floats([1.0; 16])), compare: Compare::Less, writes: true });
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &floats([1.5, 2.0, 0.0, 4.25]), &CORNER), Ok(()));
    let depths = CORNER.concat().bytes().map(|pixel| if pixel == b'#' { 0.75 } else { 1.0 }).collect::<Vec<f32>>();
    assert_eq!(result.depth, Some(floats(depths)));
}

/// Samples `%picture` at FragCoord / 4, at a level that is pushed, through a combined image sampler or two variables.
fn textured(combined: bool) -> Arc<[u32]> {
    let places = if combined { placed("both", 1, 3) } else { placed("picture", 1, 3) + &placed("through", 1, 8) };
    let variables = if combined {
        "%p_both = OpTypePointer UniformConstant %sampled\n %both = OpVariable %p_both UniformConstant"
    } else {
        "%sampler = OpTypeSampler
         %p_picture = OpTypePointer UniformConstant %image
         %p_sampler = OpTypePointer UniformConstant %sampler
         %picture = OpVariable %p_picture UniformConstant
         %through = OpVariable %p_sampler UniformConstant"
    };
    let load = if combined {
        "%both_loaded = OpLoad %sampled %both"
    } else {
        "%picture_loaded = OpLoad %image %picture
         %sampler_loaded = OpLoad %sampler %through
         %both_loaded = OpSampledImage %sampled %picture_loaded %sampler_loaded"
    };
    module(
        ["", "%out %coord"],
        &format!(
            "{places} OpDecorate %out Location 0\n OpDecorate %coord BuiltIn FragCoord\n OpDecorate %push Block
             OpMemberDecorate %push 0 Offset 0"
        ),
        &format!(
            "%image = OpTypeImage %float 2D 0 0 0 1 Unknown
             %sampled = OpTypeSampledImage %image
             {variables}
             %push = OpTypeStruct %float
             %p_push = OpTypePointer PushConstant %push
             %p_level = OpTypePointer PushConstant %float
             %pushed = OpVariable %p_push PushConstant
             %quarters = OpConstantComposite %vec2 %quarter %quarter
             %coord = OpVariable %p_in_vec4 Input
             %out = OpVariable %p_out_vec4 Output"
        ),
        "",
        &format!(
            "{load}
             %c = OpLoad %vec4 %coord
             %xy = OpVectorShuffle %vec2 %c %c 0 1
             %uv = OpFMul %vec2 %xy %quarters
             %p = OpAccessChain %p_level %pushed %u0
             %level = OpLoad %float %p
             %value = OpImageSampleExplicitLod %vec4 %both_loaded %uv Lod %level
             OpStore %out %value"
        ),
    )
}

/// 2 by 2 texels of different colours, and a second level that is grey.
fn picture() -> (Image, [[u8; 4]; 4], [u8; 4]) {
    let colours = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 0]];
    let grey = [128; 4];
    let mut image = Image::new(Format::Rgba8Unorm, 2, 2, 2).expect("it has two levels");
    image.fill(0, colours.as_flattened()).expect("four texels");
    image.fill(1, &grey).expect("one texel");
    (image, colours, grey)
}

#[test]
fn textures_are_sampled_through_two_descriptors_or_one_that_is_split() {
    let Some(mut device) = passthrough() else { return };
    let (image, colours, grey) = picture();
    let quadrants: Vec<u8> = (0..16).flat_map(|i| colours[i / 8 * 2 + i % 4 / 2]).collect();
    for combined in [true, false] {
        let mut dispatch = draw(textured(combined), &ALL, Format::Rgba8Unorm);
        dispatch.images = vec![ImageBinding { set: 1, binding: 3, kind: ImageKind::Sampled, image: image.clone() }];
        let sampler = Sampler { address: [AddressMode::ClampToEdge; 2], ..Sampler::default() };
        dispatch.samplers = vec![SamplerBinding { set: 1, binding: if combined { 3 } else { 8 }, sampler }];
        for (level, lod_max, expected) in [(0.0, 8.0, quadrants.clone()), (1.0, 8.0, grey.repeat(16)), (1.0, 0.25, quadrants.clone())] {
            dispatch.push_constants = floats([level]);
            dispatch.samplers[0].sampler.lod_max = lod_max;
            assert_eq!(run(&mut device, &dispatch).targets[0], expected, "combined {combined}, level {level} up to {lod_max}");
        }
        if combined {
            let dense = compile::viewport::adapt(&dispatch).expect("it has a Position");
            unchecked(&mut device, dense, "a combined image sampler, of which wgpu has none; the pass `split_samplers`");
        }
    }
}

/// Linear filters between equal texels, and the border: results that no precision can change.
#[test]
fn samplers_filter_and_clamp_as_they_say() {
    let Some(mut device) = passthrough() else { return };
    let mut dispatch = draw(textured(false), &ALL, Format::Rgba32Sfloat);
    let one = image(Format::Rgba32Sfloat, 2, 1, &floats([1.0, 2.0, 3.0, 4.0, 9.0, 10.0, 11.0, 12.0]));
    dispatch.images = vec![ImageBinding { set: 1, binding: 3, kind: ImageKind::Sampled, image: one }];
    dispatch.push_constants = floats([0.0]);
    let linear = |address, border| Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        address: [address, AddressMode::ClampToEdge],
        border,
        ..Sampler::default()
    };
    // x = 0.5, 1.5, 2.5, 3.5 of 4 is u = 0.25, 0.75, 1.25, 1.75 of 2 texels: weights of the right one 0.75 (of texel 0, with -1 on its left), 0.25, 0.75,
    // and 0.25 of what is beyond.
    let texels = [1.0f32, 9.0];
    let at = |left: f32, right: f32, weight: f32| left * (1.0 - weight) + right * weight;
    for (address, beyond) in
        [(AddressMode::ClampToEdge, [1.0, 9.0]), (AddressMode::Repeat, [9.0, 1.0]), (AddressMode::ClampToBorder, [0.0, 0.0])]
    {
        dispatch.samplers = vec![SamplerBinding { set: 1, binding: 8, sampler: linear(address, Border::TransparentBlack) }];
        let shown = run(&mut device, &dispatch).targets.remove(0);
        let reds: Vec<f32> = shown.chunks_exact(16).take(4).map(|t| f32::from_le_bytes([t[0], t[1], t[2], t[3]])).collect();
        let [l, r] = texels;
        assert_eq!(reds, [at(beyond[0], l, 0.75), at(l, r, 0.25), at(l, r, 0.75), at(r, beyond[1], 0.25)], "{address:?}");
    }
}

/// The reference 0.25 against the depths 0, 0.25, 0.5 and 1, through a combined image sampler.
#[test]
fn samplers_compare_depths() {
    let Some(mut device) = passthrough() else { return };
    let text = module(
        ["", "%out %coord"],
        &format!("{}OpDecorate %out Location 0\n OpDecorate %coord BuiltIn FragCoord", placed("both", 0, 0)),
        "%image = OpTypeImage %float 2D 1 0 0 1 Unknown
         %sampled = OpTypeSampledImage %image
         %p_both = OpTypePointer UniformConstant %sampled
         %both = OpVariable %p_both UniformConstant
         %quarters = OpConstantComposite %vec2 %quarter %quarter
         %coord = OpVariable %p_in_vec4 Input
         %out = OpVariable %p_out_vec4 Output",
        "",
        "%loaded = OpLoad %sampled %both
         %c = OpLoad %vec4 %coord
         %xy = OpVectorShuffle %vec2 %c %c 0 1
         %uv = OpFMul %vec2 %xy %quarters
         %passes = OpImageSampleDrefExplicitLod %float %loaded %uv %quarter Lod %f0
         %value = OpCompositeConstruct %vec4 %passes %passes %passes %passes
         OpStore %out %value",
    );
    let mut dispatch = draw(text, &ALL, Format::Rgba8Unorm);
    let float = image(Format::D32Sfloat, 2, 2, &floats([0.0, 0.25, 0.5, 1.0]));
    // 0.25 lies between two codes of 65535: no code is compared that is next to it.
    let norm: Vec<u8> = [0u16, 17000, 32768, 65535].into_iter().flat_map(u16::to_le_bytes).collect();
    for depths in [float, image(Format::D16Unorm, 2, 2, &norm)] {
        dispatch.images = vec![ImageBinding { set: 0, binding: 0, kind: ImageKind::Sampled, image: depths }];
        for (compare, pictures) in
            [(Compare::LessOrEqual, ["..##", "..##", "####", "####"]), (Compare::Greater, ["##..", "##..", "....", "...."])]
        {
            let sampler = Sampler { compare: Some(compare), address: [AddressMode::ClampToEdge; 2], ..Sampler::default() };
            dispatch.samplers = vec![SamplerBinding { set: 0, binding: 0, sampler }];
            let shown = run(&mut device, &dispatch).targets.remove(0);
            let expected: Vec<u8> = pictures.concat().bytes().flat_map(|pixel| [if pixel == b'#' { 255 } else { 0 }; 4]).collect();
            assert_eq!(shown, expected, "{compare:?}");
        }
    }
}

/// Each fragment counts itself in a buffer and marks its pixel in a storage image.
#[test]
fn fragments_write_buffers_and_images() {
    let Some(mut device) = passthrough() else { return };
    let decorations = format!(
        "{}{}OpDecorate %coord BuiltIn FragCoord\n OpDecorate %out Location 0\n OpDecorate %block Block\n OpMemberDecorate %block 0 Offset 0",
        placed("counter", 0, 0),
        placed("marks", 0, 1)
    );
    let text = module(
        ["", "%out %coord"],
        &decorations,
        "%block = OpTypeStruct %uint
         %p_block = OpTypePointer StorageBuffer %block
         %p_word = OpTypePointer StorageBuffer %uint
         %counter = OpVariable %p_block StorageBuffer
         %image = OpTypeImage %uint 2D 0 0 0 2 R32ui
         %p_image = OpTypePointer UniformConstant %image
         %marks = OpVariable %p_image UniformConstant
         %coord = OpVariable %p_in_vec4 Input
         %out = OpVariable %p_out_vec4 Output
         %texel = OpConstantComposite %uvec4 %u7 %u0 %u0 %u0",
        "",
        "%p = OpAccessChain %p_word %counter %u0
         %before = OpAtomicIAdd %uint %p %u1 %u0 %u1
         %c = OpLoad %vec4 %coord
         %whole = OpConvertFToU %uvec4 %c
         %xy = OpVectorShuffle %uvec2 %whole %whole 0 1
         %all = OpLoad %image %marks
         OpImageWrite %all %xy %texel
         OpStore %out %yellow",
    );
    let mut dispatch = draw(text, &UPPER_LEFT, Format::Rgba8Unorm);
    dispatch.buffers = vec![buffer(0, 0, BufferKind::ReadWrite, [100])];
    let marks = image(Format::R32Uint, 4, 4, &[BEFORE; 64]);
    dispatch.images = vec![ImageBinding { set: 0, binding: 1, kind: ImageKind::Storage, image: marks }];
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &YELLOW, &CORNER), Ok(()));
    assert_eq!(result.buffer(0, 0), Some(106u32.to_le_bytes().as_slice()));
    assert_eq!(judge(result.image(0, 1).expect("it is shown"), &7u32.to_le_bytes(), &CORNER), Ok(()));
}

/// Each invocation adds 1000 to the texel that it fetches, and writes it to the mirrored place of a storage image.
fn mirrored_texels() -> ComputeDispatch {
    let text = format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\" %id
         OpExecutionMode %main LocalSize 3 1 1
         OpDecorate %id BuiltIn GlobalInvocationId
         {}{}
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %uvec2 = OpTypeVector %uint 2
         %uvec3 = OpTypeVector %uint 3
         %uvec4 = OpTypeVector %uint 4
         %p_id = OpTypePointer Input %uvec3
         %from_image = OpTypeImage %uint 2D 0 0 0 1 Unknown
         %to_image = OpTypeImage %uint 2D 0 0 0 2 R32ui
         %p_from = OpTypePointer UniformConstant %from_image
         %p_to = OpTypePointer UniformConstant %to_image
         %id = OpVariable %p_id Input
         %from = OpVariable %p_from UniformConstant
         %to = OpVariable %p_to UniformConstant
         %u0 = OpConstant %uint 0
         %u2 = OpConstant %uint 2
         %thousand = OpConstant %uint 1000
         %main = OpFunction %void None %function
         %entry = OpLabel
         %xyz = OpLoad %uvec3 %id
         %x = OpCompositeExtract %uint %xyz 0
         %y = OpCompositeExtract %uint %xyz 1
         %here = OpCompositeConstruct %uvec2 %x %y
         %mirror = OpISub %uint %u2 %x
         %there = OpCompositeConstruct %uvec2 %mirror %y
         %source = OpLoad %from_image %from
         %texel = OpImageFetch %uvec4 %source %here Lod %u0
         %red = OpCompositeExtract %uint %texel 0
         %sum = OpIAdd %uint %red %thousand
         %value = OpCompositeConstruct %uvec4 %sum %sum %sum %sum
         %target = OpLoad %to_image %to
         OpImageWrite %target %there %value
         OpReturn
         OpFunctionEnd",
        placed("from", 0, 7),
        placed("to", 0, 2)
    );
    let texels: Vec<u8> = (1..=6).collect();
    ComputeDispatch {
        words: words(&text),
        entry: "main".into(),
        groups: [1, 2, 1],
        images: vec![
            ImageBinding { set: 0, binding: 7, kind: ImageKind::Sampled, image: image(Format::R8Uint, 3, 2, &texels) },
            ImageBinding { set: 0, binding: 2, kind: ImageKind::Storage, image: image(Format::R32Uint, 3, 2, &[0; 24]) },
        ],
        ..ComputeDispatch::default()
    }
}

#[test]
fn compute_programs_fetch_and_write_images() {
    let Some(mut device) = passthrough() else { return };
    let (adapted, places) = compile::for_wgpu(&mirrored_texels()).expect("the passes take it");
    let result = computed(device.run(adapted).outcome);
    let (set, binding) = places.adapted((0, 2)).expect("it is bound");
    let expected: Vec<u8> = [1003u32, 1002, 1001, 1006, 1005, 1004].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(result.image(set, binding), Some(expected.as_slice()));
    assert_eq!(result.images.len(), 1, "what is only sampled is not shown");
}

#[track_caller]
fn unchecked(device: &mut Device, dispatch: impl Into<smallstep::dispatch::Dispatch>, expected: &str) {
    let outcome = device.run(dispatch).outcome;
    assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains(expected)), "{expected}: {outcome}");
}

#[test]
fn what_cannot_be_drawn_is_unchecked_by_name() {
    let Some(mut device) = passthrough() else { return };
    let plain = {
        let mut dispatch = draw(textured(false), &ALL, Format::Rgba8Unorm);
        dispatch.images = vec![ImageBinding { set: 1, binding: 3, kind: ImageKind::Sampled, image: picture().0 }];
        dispatch.samplers = vec![SamplerBinding { set: 1, binding: 8, sampler: Sampler::default() }];
        dispatch.push_constants = floats([0.0]);
        compile::draw_for_wgpu(&dispatch).expect("the passes take it").0
    };
    type Alteration = fn(&mut DrawDispatch);
    let cases: [(&str, Alteration); 17] = [
        ("4 items of the attribute at location 0", |d| d.geometry.count = 4),
        ("all triangles are culled", |d| d.state.cull = Cull::Both),
        ("depths go from 1 down to 0", |d| (d.state.viewport.min_depth, d.state.viewport.max_depth) = (1.0, 0.0)),
        ("the bias 1 of the level of detail", |d| d.samplers[0].sampler.lod_bias = 1.0),
        ("unnormalized coordinates", |d| d.samplers[0].sampler.unnormalized = true),
        ("ascending from 0", |d| d.samplers[0].sampler.lod_min = -1.0),
        ("given no sampler there", |d| d.samplers.clear()),
        ("given no image there", |d| d.images.clear()),
        ("an image of floats, and is given one of the format R8_UINT", |d| d.images[0].image = image(Format::R8Uint, 1, 1, &[0])),
        ("is a sampled image, and is given a storage image", |d| {
            d.images[0].kind = ImageKind::Storage;
            d.images[0].image = image(Format::Rgba8Unorm, 1, 1, &[0; 4]);
        }),
        ("4 bytes of push constants, and is given 0", |d| d.push_constants.clear()),
        ("maxColorAttachments", |d| d.targets[0].location = 4000),
        ("no vertex attributes of the format D16_UNORM", |d| d.geometry.attributes[0].format = Format::D16Unorm),
        ("maxVertexInputAttributes", |d| d.geometry.attributes[0].location = 4000),
        ("no Vertex entry point \"absent\"", |d| d.vertex.entry = "absent".into()),
        ("the pass `bindings` closes gaps", |d| d.samplers.push(SamplerBinding { set: 0, binding: 9, sampler: Sampler::default() })),
        ("the depth 2 is not within 0 and 1", |d| {
            let image = image(Format::D32Sfloat, 4, 4, &floats([2.0; 16]));
            d.depth = Some(DepthAttachment { image, compare: Compare::Less, writes: true });
        }),
    ];
    for (expected, alter) in cases {
        let mut dispatch = plain.clone();
        alter(&mut dispatch);
        unchecked(&mut device, dispatch, expected);
    }
    assert_eq!(device.restarts(), 0, "none of them reached the driver");
    rendered(device.run(plain.clone()).outcome);
    let Some(mut naga) = open(Some(Route::Naga), options()) else { return };
    unchecked(&mut naga, plain, "a draw, which takes the passthrough route only");
    unchecked(&mut naga, mirrored_texels(), "images or samplers, which take the passthrough route only");
}

/// A fragment stage that takes longer than anybody waits, one that crashes when it is compiled and one that crashes when it is run, between others.
#[test]
fn a_draw_that_fails_costs_one_program() {
    let good = compile::draw_for_wgpu(&draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm)).expect("the passes take it").0;
    let mut endless = draw(endless(), &ALL, Format::Rgba8Unorm);
    endless.buffers = vec![buffer(0, 0, BufferKind::ReadWrite, [0])];
    endless.targets = vec![target(0, Format::Rgba8Unorm, 512, 512)];
    endless.state = raster::State::of_size(512, 512);
    let endless = compile::draw_for_wgpu(&endless).expect("the passes take it").0;
    let faulty = compile::draw_for_wgpu(&draw(numbers(), &ALL, Format::Rgba8Uint)).expect("the passes take it").0;
    for fault in ["crash-compile", "crash-run", "endless"] {
        let environment = vec![(worker::TEST_FAULT.into(), format!("{fault}:{:x}", faulty.words_hash()).into())];
        let options = Options { program_limit: Duration::from_secs(3), environment, ..options() };
        let Some(device) = open(Some(Route::Passthrough), options) else { return };
        if fault == "endless" && device.adapter().kind != "software" {
            eprintln!("SKIPPED: an endless draw is tried on software adapters only");
            return;
        }
        let bad = if fault == "endless" { &endless } else { &faulty };
        for i in 0..9u64 {
            match i {
                4 => device.submit(i, bad.clone()),
                i if i % 2 == 0 => device.submit(i, fragment_only(colour([i as f32; 4]), 2, 2)),
                _ => device.submit(i, good.clone()),
            }
        }
        let mut back = Vec::new();
        while let Some(finished) = device.receive() {
            back.push(finished.id);
            match finished.id {
                4 if fault == "endless" => assert_eq!(finished.outcome, DeviceOutcome::TimedOut(Duration::from_secs(3))),
                4 => assert!(matches!(finished.outcome, DeviceOutcome::Crashed { .. }), "{}", finished.outcome),
                i if i % 2 == 0 => assert_eq!(drawn(finished.outcome).images[0][0], [(i as f32).to_bits(); 4]),
                _ => assert_eq!(judge(&rendered(finished.outcome).targets[0], &YELLOW, &CORNER), Ok(())),
            }
        }
        back.sort_unstable();
        assert_eq!(back, (0..9).collect::<Vec<_>>());
    }
}

/// A fragment stage that counts in a buffer until it sees an odd number, which never comes. lavapipe ends loops after some ten thousand turns, so it takes
/// many fragments to be endless there.
fn endless() -> Arc<[u32]> {
    module(
        ["", "%out"],
        &format!("{}OpDecorate %block Block\n OpMemberDecorate %block 0 Offset 0\n {OUT}", placed("word", 0, 0)),
        "%block = OpTypeStruct %uint
         %p_block = OpTypePointer StorageBuffer %block
         %p_word = OpTypePointer StorageBuffer %uint
         %word = OpVariable %p_block StorageBuffer
         %out = OpVariable %p_out_vec4 Output",
        "",
        "%p = OpAccessChain %p_word %word %u0
         OpBranch %header
         %header = OpLabel
         OpLoopMerge %merge %continue None
         OpBranch %test
         %test = OpLabel
         %before = OpAtomicIAdd %uint %p %u1 %u0 %u2
         %ends = OpIEqual %bool %before %u1
         OpBranchConditional %ends %merge %continue
         %continue = OpLabel
         OpBranch %header
         %merge = OpLabel
         OpStore %out %yellow",
    )
}

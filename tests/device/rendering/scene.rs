//! Scenes of a few triangles on 4 by 4 pixels, their run on a device, and the judge of pictures.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use smallstep::compile;
use smallstep::dispatch::{ComputeDispatch, DrawDispatch, DrawResult, Geometry, ImageBinding, ImageKind, Stage};
use smallstep::gpu::{Device, Route};
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::raster::{self, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};

use crate::common::STAGE_TYPES;
use crate::common::device::{open, options};
use crate::modules::{placed, words};
use crate::rendered;

/// The initial bytes of every attachment. No test draws them.
pub const BEFORE: u8 = 0x11;

/// A module with the entry points "vertex" and "fragment". The vertex stage reads the attribute
/// `%corner`, a vec2 at location 0, and stores the position `%where`. The bodies follow.
/// `interfaces` holds the other variables of each stage.
pub fn module(interfaces: [&str; 2], decorations: &str, declarations: &str, vertex: &str, fragment: &str) -> Arc<[u32]> {
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
         {STAGE_TYPES}
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

pub const OUT: &str = "OpDecorate %out Location 0";

pub fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

pub fn image(format: Format, width: u32, height: u32, bytes: &[u8]) -> Image {
    let mut image = Image::new(format, width, height, 1).expect("it has texels");
    image.fill(0, bytes).expect("the bytes of its level");
    image
}

pub fn target(location: u32, format: Format, width: u32, height: u32) -> ColourTarget {
    let bytes = vec![BEFORE; (width * height) as usize * format.bytes()];
    ColourTarget { location, image: image(format, width, height, &bytes) }
}

pub fn corners(values: &[[f32; 2]]) -> Attribute {
    let bytes = floats(values.iter().copied().flatten());
    Attribute { location: 0, format: Format::Rg32Sfloat, rate: Rate::Vertex, offset: 0, stride: 8, bytes }
}

/// A triangle that covers everything.
pub const ALL: [[f32; 2]; 3] = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
/// A triangle over the pixels (x, y) with x + y ≤ 2 of 4 by 4: the upper left corner. In
/// framebuffer coordinates it turns clockwise.
pub const UPPER_LEFT: [[f32; 2]; 3] = [[-1.0, -1.0], [0.9, -1.0], [-1.0, 0.9]];

/// A draw of these triangles to one target of that format, 4 by 4 pixels.
pub fn draw(words: Arc<[u32]>, triangles: &[[f32; 2]], format: Format) -> DrawDispatch {
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

/// Adapts a draw with the passes and runs it on a device. Returns the result.
#[track_caller]
pub fn run(device: &mut Device, dispatch: &DrawDispatch) -> DrawResult {
    let (adapted, _) = compile::draw_for_wgpu(dispatch).expect("the passes take it");
    let result = rendered(device.run(adapted.clone()).outcome);
    assert_eq!(result.words_hash, adapted.words_hash());
    result
}

pub fn passthrough() -> Option<Device> {
    open(Some(Route::Passthrough), options())
}

/// Compares texels with a picture. Each line is a row: `#` is a pixel with the bytes `drawn`, and
/// `.` a pixel with the initial bytes.
pub fn judge(texels: &[u8], drawn: &[u8], picture: &[&str]) -> Result<(), String> {
    let pixel = |texel: &[u8]| match texel {
        texel if texel == drawn => '#',
        texel if texel.iter().all(|byte| *byte == BEFORE) => '.',
        _ => '?',
    };
    let shown: String = texels.chunks_exact(drawn.len()).map(pixel).collect();
    let expected = picture.concat();
    if shown == expected { Ok(()) } else { Err(format!("it shows {shown}, and {expected} was expected")) }
}

pub const YELLOW: [u8; 4] = [255, 255, 0, 255];
pub const CORNER: [&str; 4] = ["###.", "##..", "#...", "...."];
pub const MIRRORED: [&str; 4] = ["....", "#...", "##..", "###."];

/// A module that draws yellow.
pub fn yellow() -> Arc<[u32]> {
    module(["", "%out"], OUT, "%out = OpVariable %p_out_vec4 Output", "", "OpStore %out %yellow")
}

/// A module that draws 16 times the index of the instance plus the index of the provoking vertex,
/// as the vertex stage sees them.
pub fn numbers() -> Arc<[u32]> {
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

/// A module that samples `%picture` at FragCoord / 4, at the level in the push constants. It uses a
/// combined image sampler or two variables.
pub fn textured(combined: bool) -> Arc<[u32]> {
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

/// An image of 2 by 2 texels of different colours, with a second level that is grey. Also returns
/// the colours of both levels.
pub fn picture() -> (Image, [[u8; 4]; 4], [u8; 4]) {
    let colours = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 0]];
    let grey = [128; 4];
    let mut image = Image::new(Format::Rgba8Unorm, 2, 2, 2).expect("it has two levels");
    image.fill(0, colours.as_flattened()).expect("four texels");
    image.fill(1, &grey).expect("one texel");
    (image, colours, grey)
}

/// A dispatch whose invocations each add 1000 to a fetched texel, and write it to the mirrored
/// place of a storage image.
pub fn mirrored_texels() -> ComputeDispatch {
    let texels: Vec<u8> = (1..=6).collect();
    ComputeDispatch {
        words: words(include_str!("../programs/mirrored-texels.spvasm")),
        entry: "main".into(),
        groups: [1, 2, 1],
        images: vec![
            ImageBinding { set: 0, binding: 7, kind: ImageKind::Sampled, image: image(Format::R8Uint, 3, 2, &texels) },
            ImageBinding { set: 0, binding: 2, kind: ImageKind::Storage, image: image(Format::R32Uint, 3, 2, &[0; 24]) },
        ],
        ..ComputeDispatch::default()
    }
}

//! The resources that stages read, and those that they write beside their attachments: buffers,
//! push constants, textures, samplers, storage images.

use pretty_assertions::assert_eq;
use smallstep::compile;
use smallstep::dispatch::{BufferBinding, BufferKind, DepthAttachment, ImageBinding, ImageKind, SamplerBinding};
use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Sampler};

use super::scene::{
    ALL, BEFORE, CORNER, UPPER_LEFT, YELLOW, draw, floats, image, judge, mirrored_texels, module, passthrough, picture, run, textured,
};
use crate::modules::{buffer, placed};
use crate::{computed, unchecked};

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
    // The lower right corner, which a scale of -1 moves to the upper left.
    dispatch.buffers = vec![uniform(2, 1, [0.5, 1.0, 2.0, 4.0]), uniform(0, 4, [-1.0, -1.0, 1.0, 1.0])];
    dispatch.push_constants = floats([1.0, 1.0, -2.0, 0.25, 0.75]);
    dispatch.depth =
        Some(DepthAttachment { image: image(Format::D32Sfloat, 4, 4, &floats([1.0; 16])), compare: Compare::Less, writes: true });
    let result = run(&mut device, &dispatch);
    assert_eq!(judge(&result.targets[0], &floats([1.5, 2.0, 0.0, 4.25]), &CORNER), Ok(()));
    let depths = CORNER.concat().bytes().map(|pixel| if pixel == b'#' { 0.75 } else { 1.0 }).collect::<Vec<f32>>();
    assert_eq!(result.depth, Some(floats(depths)));
}

#[test]
fn textures_are_sampled_through_two_descriptors_or_one_that_is_split() {
    let Some(mut device) = passthrough() else { return };
    let (image, colours, grey) = picture();
    let quadrants: Vec<u8> = (0..16).flat_map(|i| colours[i / 8 * 2 + i % 4 / 2]).collect();
    for combined in [true, false] {
        let mut dispatch = draw(textured(combined), &ALL, Format::Rgba8Unorm);
        dispatch.images = vec![ImageBinding { set: 1, binding: 3, kind: ImageKind::Sampled, image: image.clone() }];
        let sampler = Sampler { address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
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

/// Linear filters, with and without the border. The results are exact at any precision.
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
        address: [address, AddressMode::ClampToEdge, AddressMode::ClampToEdge],
        border,
        ..Sampler::default()
    };
    // x = 0.5, 1.5, 2.5, 3.5 of 4 is u = 0.25, 0.75, 1.25, 1.75 of 2 texels. The weights of the
    // right texel are 0.75 (texel 0, with texel -1 on its left), 0.25, 0.75, and 0.25 (the
    // texel beyond).
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

/// Compares the reference 0.25 with the depths 0, 0.25, 0.5 and 1, through a combined
/// image sampler.
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
    // 0.25 lies between two codes of 65535, so the texels have no code next to it.
    let norm: Vec<u8> = [0u16, 17000, 32768, 65535].into_iter().flat_map(u16::to_le_bytes).collect();
    for depths in [float, image(Format::D16Unorm, 2, 2, &norm)] {
        dispatch.images = vec![ImageBinding { set: 0, binding: 0, kind: ImageKind::Sampled, image: depths }];
        for (compare, pictures) in
            [(Compare::LessOrEqual, ["..##", "..##", "####", "####"]), (Compare::Greater, ["##..", "##..", "....", "...."])]
        {
            let sampler = Sampler { compare: Some(compare), address: [AddressMode::ClampToEdge; 3], ..Sampler::default() };
            dispatch.samplers = vec![SamplerBinding { set: 0, binding: 0, sampler }];
            let shown = run(&mut device, &dispatch).targets.remove(0);
            let expected: Vec<u8> = pictures.concat().bytes().flat_map(|pixel| [if pixel == b'#' { 255 } else { 0 }; 4]).collect();
            assert_eq!(shown, expected, "{compare:?}");
        }
    }
}

/// Each fragment increments a counter in a buffer and marks its pixel in a storage image.
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

#[test]
fn compute_programs_fetch_and_write_images() {
    let Some(device) = passthrough() else { return };
    let (adapted, places) = compile::for_wgpu(&mirrored_texels()).expect("the passes take it");
    let result = computed(device.run(adapted).outcome);
    let (set, binding) = places.adapted((0, 2)).expect("it is bound");
    let expected: Vec<u8> = [1003u32, 1002, 1001, 1006, 1005, 1004].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(result.image(set, binding), Some(expected.as_slice()));
    assert_eq!(result.images.len(), 1, "what is only sampled is not shown");
}

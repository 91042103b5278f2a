//! Draws that no device may get, and draws that fail: each affects only one program.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use smallstep::compile;
use smallstep::dispatch::{BufferKind, DepthAttachment, DrawDispatch, ImageBinding, ImageKind, SamplerBinding, Stage};
use smallstep::gpu::{DeviceOutcome, Options, Route, worker};
use smallstep_semantics::image::{Compare, Format, Sampler};
use smallstep_semantics::raster::{self, Cull};
use smallstep_semantics::spirv::assemble;
use smallstep_spec_tests::tools;

use super::scene::{
    ALL, CORNER, OUT, UPPER_LEFT, YELLOW, draw, floats, image, judge, mirrored_texels, module, numbers, passthrough, picture, target,
    textured, yellow,
};
use crate::common::device::{open, options};
use crate::modules::{buffer, colour, dispatch as fragment_only, placed};
use crate::{computed, drawn, rendered, unchecked};

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
}

/// If naga rewrites the words, a draw and a dispatch with images show the same as on the other
/// route. A draw that WebGPU refuses is unchecked, with the reason.
#[test]
fn draws_and_images_take_every_route() {
    let Some(passthrough) = passthrough() else { return };
    let texels = computed(passthrough.run(compile::for_wgpu(&mirrored_texels()).expect("the pass takes it").0).outcome).images;
    for route in [Route::Naga, Route::Wgsl] {
        let Some(mut device) = open(Some(route), options()) else { return };
        let plain = compile::draw_for_wgpu(&draw(yellow(), &UPPER_LEFT, Format::Rgba8Unorm)).expect("the passes take it").0;
        assert_eq!(judge(&rendered(device.run(plain.clone()).outcome).targets[0], &YELLOW, &CORNER), Ok(()), "{route}");
        let dispatch = compile::for_wgpu(&mirrored_texels()).expect("the pass takes it").0;
        assert_eq!(computed(device.run(dispatch.clone()).outcome).images, texels, "{route}");
        let mut other = dispatch;
        other.images[0].image = image(Format::R8Unorm, 3, 2, &[0; 6]);
        unchecked(&mut device, other, "is given one of the format");
        // WebGPU refuses a depth output without a depth attachment, so the pass adds an attachment.
        let mut depths = plain;
        depths.fragment = Stage { words: deep(), entry: "main".into() };
        rendered(device.run(depths).outcome);
        assert_eq!(device.restarts(), 0);
    }
}

/// A fragment stage that writes a depth.
fn deep() -> Arc<[u32]> {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %depth %out\n\
        OpExecutionMode %main OriginUpperLeft\nOpExecutionMode %main DepthReplacing\nOpDecorate %depth BuiltIn FragDepth\n\
        OpDecorate %out Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
        %p1 = OpTypePointer Output %float\n%p4 = OpTypePointer Output %v4\n%half = OpConstant %float 0.5\n\
        %grey = OpConstantComposite %v4 %half %half %half %half\n%depth = OpVariable %p1 Output\n%out = OpVariable %p4 Output\n\
        %main = OpFunction %void None %fn\n%entry = OpLabel\nOpStore %depth %half\nOpStore %out %grey\nOpReturn\nOpFunctionEnd\n";
    assemble(text, smallstep_semantics::spirv::Options::default()).expect("it assembles").into()
}

/// A fragment stage that takes too long, one that crashes when compiled, and one that crashes when
/// run, among other draws.
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
            tools::not_run("an endless draw is tried on software adapters only");
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

/// A fragment stage that counts in a buffer until it sees an odd number, which never comes.
/// lavapipe ends loops after about ten thousand iterations, so it takes many fragments to be
/// endless there.
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

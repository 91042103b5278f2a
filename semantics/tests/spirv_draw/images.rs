//! Images in draws: texels at pixels by hand, storage images that fragments write.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Format, Image, Sampler};
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler, ObservedImage};
use smallstep_semantics::undefined::{Ub, Unspecified};

use crate::*;

const DECORATIONS: &str =
    "OpDecorate %tex DescriptorSet 0 OpDecorate %tex Binding 1 OpDecorate %sam DescriptorSet 0 OpDecorate %sam Binding 2
    OpDecorate %st DescriptorSet 0 OpDecorate %st Binding 3";
/// %img of %tex with %smp of %sam is %simg; %stimg of %st is a storage image.
const DECLARATIONS: &str = "%img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img %smp = OpTypeSampler
    %stimg = OpTypeImage %float 2D 0 0 0 2 Rgba32f %pimg = OpTypePointer UniformConstant %img %psmp = OpTypePointer UniformConstant %smp
    %pstimg = OpTypePointer UniformConstant %stimg %i2 = OpTypeVector %int 2 %u2 = OpTypeVector %uint 2
    %tex = OpVariable %pimg UniformConstant %sam = OpVariable %psmp UniformConstant %st = OpVariable %pstimg UniformConstant
    %right = OpConstantComposite %i2 %i1 %i0 %corner = OpConstantComposite %i2 %i0 %i0 %eighth = OpConstant %float 0.125
    %sixteenths = OpConstant %float 0.1875 %over = OpConstantComposite %v2 %eighth %eighth %by = OpConstantComposite %v2 %sixteenths %sixteenths";
/// %xy is FragCoord's, %ij the pixel's numbers, %uv is from 0 to 1 over the framebuffer, %t the image and %ts with the sampler.
const BEFORE: &str = "%c = OpLoad %v4 %coord %xy = OpVectorShuffle %v2 %c %c 0 1 %ij = OpConvertFToS %i2 %xy %uv = OpFMul %v2 %xy %over
    %t = OpLoad %img %tex %s = OpLoad %smp %sam %ts = OpSampledImage %simg %t %s ";

fn stage(body: &str) -> Module {
    fragment("", DECORATIONS, DECLARATIONS, &format!("{BEFORE} {body}"))
}

/// An image of so many texels on each side, of 10·y + x + 1 and a half, in 32-bit floats.
fn numbered(side: u32) -> Image {
    let mut image = Image::new(Format::Rg32Sfloat, side, side, 1).expect("an image");
    let texels = (0..side).flat_map(|y| (0..side).flat_map(move |x| [(10 * y + x + 1) as f32, 0.5]));
    image.fill(0, &texels.flat_map(f32::to_le_bytes).collect::<Vec<_>>()).expect("a level");
    image
}

fn scene(positions: &[[f32; 4]], image: Image, body: &str) -> Scene {
    let mut scene = Scene::new(vertex("", "", "", ""), stage(body), positions);
    let mut storage = Image::new(Format::Rgba32Sfloat, 8, 8, 1).expect("an image");
    storage.clear(0, [9; 4]).expect("a level");
    scene.images = vec![BoundImage { set: 0, binding: 1, image }, BoundImage { set: 0, binding: 3, image: storage }];
    scene.samplers = vec![BoundSampler { set: 0, binding: 2, sampler: Sampler::default() }];
    scene
}

/// A triangle that covers the one pixel (2, 3).
fn one_pixel() -> [[f32; 4]; 3] {
    [at(2.25, 3.25, 0.5, 1.0), at(3.25, 3.25, 0.5, 1.0), at(2.25, 4.25, 0.5, 1.0)]
}

#[test]
fn fragments_fetch_and_sample_with_a_level() {
    for instruction in ["%r = OpImageFetch %v4 %t %ij", "%r = OpImageSampleExplicitLod %v4 %ts %uv Lod %f0"] {
        let observation = scene(&ALL, numbered(8), &format!("{instruction} OpStore %out %r")).observed();
        for (x, y) in [(0, 0), (3, 5), (7, 7)] {
            assert_eq!([0, 1, 2, 3].map(|c| exactly(&observation, x, y, c)), [(10 * y + x + 1) as f32, 0.5, 0.0, 1.0], "{instruction}");
        }
    }
}

#[test]
fn vertices_fetch() {
    let fetch =
        "%n = OpLoad %uint %vi %ij = OpCompositeConstruct %u2 %n %c2 %t = OpLoad %img %tex %r = OpImageFetch %v4 %t %ij OpStore %v %r";
    let mut scene = scene(&ALL, numbered(8), "");
    scene.vertex = vertex("", DECORATIONS, DECLARATIONS, fetch);
    scene.fragment = fragment("", "OpDecorate %in Flat", "", "%x = OpLoad %v4 %in OpStore %out %x");
    assert_eq!(exactly(&scene.observed(), 1, 1, 0), 21.0, "vertex 0 provokes");
    scene.indices = Some(vec![2, 0, 1]);
    assert_eq!(exactly(&scene.observed(), 1, 1, 0), 23.0);
    // Nothing tells how often a vertex is shaded.
    scene.vertex = vertex("", DECORATIONS, DECLARATIONS, "%w = OpLoad %stimg %st OpImageWrite %w %corner %red");
    match scene.run() {
        Outcome::Unsupported(what) => assert_eq!(what, "a vertex stage that writes buffers or images"),
        other => panic!("{other:?}"),
    }
}

/// Nothing orders the vertices of one triangle and the fragments of another.
#[test]
fn what_fragments_write_no_vertex_reads() {
    let mut scene = scene(&ALL, numbered(8), WRITE);
    let reading = "%w = OpLoad %stimg %st %r = OpImageRead %v4 %w %corner OpStore %v %r";
    scene.vertex = vertex("", DECORATIONS, DECLARATIONS, reading);
    match scene.run() {
        Outcome::Unsupported(what) => {
            assert_eq!(what, "a vertex stage that uses the storage image at set 0, binding 3 of the fragment stage");
        }
        other => panic!("{other:?}"),
    }
    scene.fragment = stage("%w = OpLoad %stimg %st %r = OpImageRead %v4 %w %ij OpStore %out %r");
    assert_eq!(scene.run().name(), "observed");
}

/// The first component of each texel of a storage image.
fn texels(image: &ObservedImage) -> Vec<f32> {
    image.bytes.chunks(16).map(|texel| f32::from_le_bytes(texel[..4].try_into().expect("4 bytes"))).collect()
}

const WRITE: &str = "%w = OpLoad %stimg %st OpImageWrite %w %ij %c OpStore %out %red";

#[test]
fn fragments_write_texels_and_helpers_write_none() {
    let observation = scene(&ALL, numbered(8), WRITE).observed();
    let [image] = &observation.images[..] else { panic!("{:?}", observation.images) };
    assert_eq!((image.set, image.binding, image.size, &image.undefined), (0, 3, [8, 8], &vec![]));
    assert_eq!(texels(image), (0..64).map(|n| (n % 8) as f32 + 0.5).collect::<Vec<_>>());
    assert_eq!(observation.doubtful_texels.iter().filter(|d| d.component < 2).count(), 0, "of FragCoord z and w alone are interpolated");
    let observation = scene(&one_pixel(), numbered(8), WRITE).observed();
    let expected: Vec<f32> = (0..64).map(|n| if n == 3 * 8 + 2 { 2.5 } else { f32::from_bits(9) }).collect();
    assert_eq!(texels(&observation.images[0]), expected);
    // Not known by every device, a fragment may write or not.
    let observation = scene(&HALF, numbered(8), WRITE).observed();
    let doubts: Vec<_> = observation.doubtful_texels.iter().filter(|d| d.component == 0).map(|d| (d.start, d.end, d.why)).collect();
    assert_eq!(doubts, [(0, 64, Why::Coverage)]);
}

#[test]
fn undefined_texels_have_their_fragment() {
    let body = "%u = OpUndef %v4 %w = OpLoad %stimg %st OpImageWrite %w %ij %u OpStore %out %red";
    let observation = scene(&one_pixel(), numbered(8), body).observed();
    let undefined = &observation.images[0].undefined;
    assert_eq!(undefined.iter().map(|u| (u.component, u.start, u.end)).collect::<Vec<_>>(), [0, 1, 2, 3].map(|c| (c, 26, 27)));
    let (_, invocation) = undefined[0].made.expect("an instruction");
    assert_eq!((undefined[0].kind, invocation.workgroup, invocation.local), (Unspecified::Undef.id(), 0, 2));
}

#[test]
fn fragments_race_by_texels() {
    match scene(&ALL, numbered(8), "%w = OpLoad %stimg %st OpImageWrite %w %corner %red OpStore %out %red").run() {
        Outcome::Undefined(undefined) => {
            assert_eq!(undefined.ub, Ub::DataRace);
            assert!(undefined.what.contains("texel (0, 0) of the image at set 0, binding 3"), "{}", undefined.what);
        }
        other => panic!("{other:?}"),
    }
    // Each its own, read after it was written.
    let body = "%w = OpLoad %stimg %st OpImageWrite %w %ij %red %r = OpImageRead %v4 %w %ij OpStore %out %r";
    assert_eq!(exactly(&scene(&one_pixel(), numbered(8), body).observed(), 2, 3, 0), 1.0);
}

//! Images in draws: texels at pixels worked out by hand, and storage images that fragments write.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{self, Compare, Filter, Format, Image, Sampler};
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::draw::Component;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler, ObservedImage};
use smallstep_semantics::spirv::lockstep::{self, Choice, FragmentProgram, Parts};
use smallstep_semantics::spirv::operation::Calculator;
use smallstep_semantics::spirv::step::{Config, Env, Next, Relation, Rules};
use smallstep_semantics::undefined::{Ub, Unspecified};

use crate::*;

const DECORATIONS: &str =
    "OpDecorate %tex DescriptorSet 0 OpDecorate %tex Binding 1 OpDecorate %sam DescriptorSet 0 OpDecorate %sam Binding 2
    OpDecorate %st DescriptorSet 0 OpDecorate %st Binding 3";
/// %tex is an image of type %img, %sam a sampler of type %smp, and %simg the type of both together.
/// %st is a storage image of type %stimg.
const DECLARATIONS: &str = "%img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img %smp = OpTypeSampler
    %stimg = OpTypeImage %float 2D 0 0 0 2 Rgba32f %pimg = OpTypePointer UniformConstant %img %psmp = OpTypePointer UniformConstant %smp
    %pstimg = OpTypePointer UniformConstant %stimg %i2 = OpTypeVector %int 2 %u2 = OpTypeVector %uint 2
    %tex = OpVariable %pimg UniformConstant %sam = OpVariable %psmp UniformConstant %st = OpVariable %pstimg UniformConstant
    %right = OpConstantComposite %i2 %i1 %i0 %corner = OpConstantComposite %i2 %i0 %i0 %eighth = OpConstant %float 0.125
    %sixteenths = OpConstant %float 0.1875 %over = OpConstantComposite %v2 %eighth %eighth %by = OpConstantComposite %v2 %sixteenths %sixteenths";
/// %xy is FragCoord's x and y, and %ij the pixel's coordinates as integers. %uv goes from 0 to 1
/// over the framebuffer. %t is the image, and %ts the image with the sampler.
const BEFORE: &str = "%c = OpLoad %v4 %coord %xy = OpVectorShuffle %v2 %c %c 0 1 %ij = OpConvertFToS %i2 %xy %uv = OpFMul %v2 %xy %over
    %t = OpLoad %img %tex %s = OpLoad %smp %sam %ts = OpSampledImage %simg %t %s ";

fn stage(body: &str) -> Module {
    fragment("", DECORATIONS, DECLARATIONS, &format!("{BEFORE} {body}"))
}

/// An image of 32-bit floats with `side` texels on each side. The texel at (x, y) is 10·y + x + 1
/// and 0.5.
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

/// A triangle that covers only pixel (2, 3).
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
}

/// Nothing orders the vertices of one triangle and the fragments of another. So a vertex stage may
/// not use a storage image that the fragment stage may write.
#[test]
fn what_fragments_write_no_vertex_reads() {
    let mut scene = scene(&ALL, numbered(8), WRITE);
    let reading = "%w = OpLoad %stimg %st %r = OpImageRead %v4 %w %corner OpStore %v %r";
    scene.vertex = vertex("", DECORATIONS, DECLARATIONS, reading);
    match scene.run() {
        Outcome::Unsupported(what) => {
            assert_eq!(what, "a vertex stage that uses the storage image at set 0, binding 3, which the fragment stage may write");
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
    assert_eq!((image.set, image.binding, image.size, &image.undefined), (0, 3, [8, 8, 1], &vec![]));
    assert_eq!(texels(image), (0..64).map(|n| (n % 8) as f32 + 0.5).collect::<Vec<_>>());
    assert_eq!(observation.doubtful_texels.iter().filter(|d| d.component < 2).count(), 0, "of FragCoord z and w alone are interpolated");
    let observation = scene(&one_pixel(), numbered(8), WRITE).observed();
    let expected: Vec<f32> = (0..64).map(|n| if n == 3 * 8 + 2 { 2.5 } else { f32::from_bits(9) }).collect();
    assert_eq!(texels(&observation.images[0]), expected);
    // The device decides the coverage on the diagonal, so such a fragment may write or not.
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
    // A fragment may read the texel that it wrote.
    let body = "%w = OpLoad %stimg %st OpImageWrite %w %ij %red %r = OpImageRead %v4 %w %ij OpStore %out %r";
    assert_eq!(exactly(&scene(&one_pixel(), numbered(8), body).observed(), 2, 3, 0), 1.0);
}

const IMPLICIT: &str = "%r = OpImageSampleImplicitLod %v4 %ts %uv OpStore %out %r";

fn scene_with(image: Image, sampler: Sampler, body: &str) -> Scene {
    let mut scene = scene(&ALL, image, body);
    scene.samplers[0].sampler = sampler;
    scene
}

/// Four texels cover eight pixels: u = (x + 1/2) / 2. Neighbouring pixels are half a texel apart.
#[test]
fn a_magnified_texture_is_sampled() {
    let observation = scene(&ALL, numbered(4), IMPLICIT).observed();
    for (x, y) in [(0, 0), (3, 5), (7, 7), (6, 1)] {
        assert_eq!([0, 1, 2, 3].map(|c| exactly(&observation, x, y, c)), [(10 * (y / 2) + x / 2 + 1) as f32, 0.5, 0.0, 1.0]);
    }
    let offset = "%r = OpImageSampleImplicitLod %v4 %ts %uv ConstOffset %right OpStore %out %r";
    let observation = scene(&ALL, numbered(4), offset).observed();
    // The offset takes the texel to the right. After the last texel comes the first.
    assert_eq!([(0, 0), (3, 5), (7, 7)].map(|(x, y)| exactly(&observation, x, y, 0)), [2.0, 23.0, 31.0]);
    // Between texels the number grows by 1 to the right and by 10 downwards.
    let linear = Sampler { mag: Filter::Linear, ..Sampler::default() };
    let target = &scene_with(numbered(4), linear, IMPLICIT).observed().targets[0];
    for (x, y) in [(1, 1), (3, 5), (6, 2)] {
        let [u, v] = [x, y].map(|i| (i as f32 + 0.5) / 2.0 - 0.5);
        assert_eq!(definite(target, x, y, 0), 10.0 * v + u + 1.0);
        assert_eq!(target.component(x, y, 0), Some(Component::Undecided(Why::Texel)));
        assert_eq!(target.component(x, y, 2).as_ref().map(is_zero), Some(true));
    }
    // The image repeats at the corner. In each direction the neighbour has weight 1/4, among the
    // texels 1, 4, 31 and 34.
    assert_eq!(definite(target, 0, 0, 0), 1.0 + 0.25 * 3.0 + 0.25 * 30.0);
}

/// An image with eight texels on each side and four levels. All texels of level n are n + 1.
fn levels() -> Image {
    let mut image = Image::new(Format::R32Sfloat, 8, 8, 4).expect("an image");
    (0..4).for_each(|level| image.clear(level, [(level as f32 + 1.0).to_bits(); 4]).expect("a level"));
    image
}

/// The level that a pixel shows, and the pixel's first component. If image rules are given, the
/// relation alone draws, by these rules.
fn level(relation: Option<image::Rules>, body: &str, (x, y): (u32, u32)) -> (f32, Component) {
    let mut scene = scene(&ALL, levels(), &format!("{body} OpStore %out %r"));
    if let Some(images) = relation {
        scene.relation.calculator = Calculator { images, ..Calculator::default() };
        scene.beside = false;
    }
    let target = &scene.observed().targets[0];
    (definite(target, x, y, 0) - 1.0, target.component(x, y, 0).expect("a pixel"))
}

fn sure(level: f32) -> (f32, Component) {
    (level, Component::Exactly((level + 1.0).to_bits().into()))
}

/// Neighbouring pixels are a texel and a half apart. λ is log2(3/2) = 0.58, and no device has more
/// than log2(3/2 · √2) = 1.08, so the level is 1.
const MINIFIED: &str = "%m = OpFMul %v2 %xy %by";

#[test]
fn derivatives_choose_the_level() {
    let implicit = format!("{MINIFIED} %r = OpImageSampleImplicitLod %v4 %ts %m");
    assert_eq!(level(None, &implicit, (3, 5)), sure(1.0));
    assert_eq!(level(None, &format!("{implicit} Bias %f1"), (3, 5)), sure(2.0));
    assert_eq!(level(None, &format!("{implicit} Bias %f4"), (3, 5)), sure(3.0));
    // If pixels are one texel apart, λ is from 0 to 1/2. The level is 0, or 1 because logarithms
    // are inexact. For two texels λ is from 1 to 3/2.
    assert_eq!(level(None, "%r = OpImageSampleImplicitLod %v4 %ts %uv", (3, 5)), (0.0, Component::Undecided(Why::Texel)));
    let two = "%d = OpFAdd %v2 %uv %uv %r = OpImageSampleImplicitLod %v4 %ts %d";
    assert_eq!(level(None, two, (3, 5)), (1.0, Component::Undecided(Why::Texel)));
    // Only the derivative in y is not zero.
    let column = "%cy = OpCompositeExtract %float %xy 1 %n = OpFMul %float %cy %sixteenths %m = OpCompositeConstruct %v2 %half %n
        %r = OpImageSampleImplicitLod %v4 %ts %m";
    assert_eq!(level(None, column, (2, 2)), sure(1.0));
    let right = image::Rules::default();
    let flat = image::Rules { scale_factor: |[[ux, vx, _], _]| ux.hypot(vx), ..right };
    assert_eq!(level(Some(flat), column, (2, 2)).0, 0.0, "a planted scale factor shows");
    let floor = image::Rules { nearest_level: f64::floor, ..right };
    assert_eq!(level(Some(floor), &implicit, (3, 5)).0, 0.0, "a planted level shows");
}

/// The derivative of x·y in x is y, so the rows of a quad differ. A device may use either row's
/// derivative for all four lanes.
#[test]
fn rows_that_differ_leave_the_level_open() {
    let product = "%cx = OpCompositeExtract %float %xy 0 %cy = OpCompositeExtract %float %xy 1 %p = OpFMul %float %cx %cy
        %q = OpFMul %float %p %sixteenths %m = OpCompositeConstruct %v2 %q %half %r = OpImageSampleImplicitLod %v4 %ts %m";
    // The distances are 3/4 and 9/4 texels to the right, and 3/4 and 9/4 downwards: levels 0, 1
    // and 2.
    assert_eq!(level(None, product, (0, 0)), (0.0, Component::Undecided(Why::Texel)));
    // In the quad at (4, 4) all distances are more than 6 texels: levels 3 and above.
    assert_eq!(level(None, product, (5, 5)), sure(3.0));
}

#[test]
fn samples_compare() {
    let mut depth = Image::new(Format::D32Sfloat, 8, 8, 1).expect("an image");
    let texels = (0..64).flat_map(|n| if n % 8 < 4 { 0.25f32 } else { 0.75 }.to_le_bytes());
    depth.fill(0, &texels.collect::<Vec<_>>()).expect("a level");
    let sampler = Sampler { compare: Some(Compare::Less), ..Sampler::default() };
    let body = "%z = OpImageSampleDrefImplicitLod %float %ts %uv %half %r = OpCompositeConstruct %v4 %z %z %z %z OpStore %out %r";
    let observation = scene_with(depth, sampler, body).observed();
    assert_eq!([3, 4].map(|x| exactly(&observation, x, 6, 0)), [0.0, 1.0], "1/2 is less than 3/4");
}

/// A sample at an interpolated coordinate has the right value. If devices may have another
/// coordinate, they may have another texel.
#[test]
fn a_textured_triangle_shows_its_texture() {
    let body = "%i = OpLoad %v4 %in %m = OpVectorShuffle %v2 %i %i 0 1 %r = OpImageSampleImplicitLod %v4 %ts %m OpStore %out %r";
    let mut scene = scene(&HALF, numbered(4), body);
    scene.vertex = passing();
    scene.attributes.push(floats(1, Rate::Vertex, &[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]));
    let target = &scene.observed().targets[0];
    for (x, y) in [(0, 0), (3, 2), (1, 5), (6, 0)] {
        assert_eq!(definite(target, x, y, 0), (10 * (y / 2) + x / 2 + 1) as f32);
        assert_eq!(target.component(x, y, 0), Some(Component::Undecided(Why::Texel)));
    }
}

#[test]
fn divergent_samples_are_undefined() {
    let body = "%cx = OpCompositeExtract %float %xy 0 %left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None
        OpBranchConditional %left %yes %m %yes = OpLabel %us = OpSampledImage %simg %t %s %d = OpImageSampleImplicitLod %v4 %us %uv OpBranch %m
        %m = OpLabel %r = OpPhi %v4 %red %entry %d %yes OpStore %out %r";
    let observation = scene(&ALL, numbered(8), body).observed();
    assert_eq!(picture(&observation.targets[0]), ["!#######"; 8]);
    match observation.targets[0].component(0, 0, 3) {
        Some(Component::Undefined(made)) => assert_eq!(made.kind, Unspecified::DivergentDerivative),
        other => panic!("{other:?}"),
    }
    // Helper invocations take part, so a triangle of one pixel shows the texel.
    let body = "%r = OpImageSampleImplicitLod %v4 %ts %uv OpStore %out %r";
    assert_eq!(exactly(&scene(&one_pixel(), numbered(8), body).observed(), 2, 3, 0), 33.0);
}

/// The comparison with the relation finds a bug that only the lockstep machine has.
#[test]
fn bugs_in_the_lockstep_machine_are_caught() {
    let minified = format!("{MINIFIED} %r = OpImageSampleImplicitLod %v4 %ts %m Bias %f1 OpStore %out %r");
    let fetched = "%w = OpLoad %stimg %st OpImageWrite %w %ij %c %r = OpImageFetch %v4 %t %ij OpStore %out %r";
    let below = "%cx = OpCompositeExtract %float %xy 0 %left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None
        OpBranchConditional %left %yes %m %yes = OpLabel OpDemoteToHelperInvocation OpBranch %m %m = OpLabel
        %w = OpLoad %stimg %st OpImageWrite %w %ij %c OpStore %out %red";
    let rules = |change: fn(&mut image::Rules)| move |parts: Parts<'_>| change(&mut parts.calculator.images);
    type Bug = Box<dyn FnOnce(Parts<'_>)>;
    let bugs: Vec<(&str, &str, Bug)> = vec![
        ("another scale", &minified, Box::new(rules(|rules| rules.scale_factor = |[[ux, ..], _]| ux * 4.0))),
        ("no bias", &minified, Box::new(|parts| parts.images.iter_mut().for_each(|access| access.places[Choice::Bias as usize] = 0))),
        ("columns for rows", fetched, Box::new(|parts| parts.images[1].choosing[0].1.reverse())),
        ("another texel is written", fetched, Box::new(|parts| parts.images[0].choosing[0].1.reverse())),
        (
            "helpers write",
            below,
            Box::new(|parts| {
                parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Demote).for_each(lockstep::Code::drop_it);
            }),
        ),
    ];
    for (name, body, bug) in bugs {
        let scene = scene(&ALL, if body == minified { levels() } else { numbered(8) }, body);
        let relation = scene.run();
        assert_eq!(relation.name(), "observed", "{name}");
        let program = FragmentProgram::compile(&scene.fragment, "fs").expect("it compiles").planted(bug);
        let shown = scene.with(|draw| draw::picture(&scene.vertex, &program, draw, &scene.rules).expect("the entry points are there"));
        assert!(beside::definite(&relation, &shown).is_some(), "{name} is not caught");
    }
}

/// Without float controls a product may be contracted with a sum, and then the coordinate differs.
#[test]
fn what_is_rounded_decides_no_texel_without_float_controls() {
    let body = "%m = OpFMul %v2 %xy %thirds %r = OpImageSampleImplicitLod %v4 %ts %m OpStore %out %r";
    let mut scene = scene(&ALL, numbered(8), "");
    let declarations = format!("{DECLARATIONS} %thirds = OpConstantComposite %v2 %third %third");
    scene.fragment = fragment("", DECORATIONS, &declarations, &format!("{BEFORE} {body}"));
    assert_eq!(scene.observed().targets[0].component(3, 3, 0), Some(Component::Undecided(Why::Approximate)));
}

#[test]
fn the_rules_of_implicit_samples_are_missed() {
    fn never<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
        None
    }
    let dref = "%z = OpImageSampleDrefImplicitLod %float %ts %uv %half OpStore %out %red";
    for (rule, body) in [(Rule::SpirvImageSampleImplicitLod, IMPLICIT), (Rule::SpirvImageSampleDrefImplicitLod, dref)] {
        let mut scene = scene(&ALL, numbered(4), body);
        assert_eq!(scene.run().name(), "observed", "{rule}");
        scene.relation = Relation { rules: Rules::standard().replace(rule, never), ..Relation::default() };
        scene.beside = false;
        assert_eq!(scene.run().name(), "stuck", "{rule}");
    }
}

/// A filtered texel is one value of a set. Results that a stage computes from it are bounded too,
/// also at interpolated coordinates.
#[test]
fn filtered_texels_run_over_sets() {
    let linear = Sampler { mag: Filter::Linear, min: Filter::Linear, ..Sampler::default() };
    let strict = |body: &str| {
        let decorations = format!("{DECORATIONS} OpDecorate %uv NoContraction OpDecorate %q1 NoContraction OpDecorate %q2 NoContraction");
        let text = fragment_text("", &decorations, DECLARATIONS, &format!("{BEFORE} {body}"))
            .replace("OpCapability Shader", "OpCapability Shader OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve")
            .replace("OpMemoryModel", "OpExtension \"SPV_KHR_float_controls\" OpMemoryModel")
            .replace(
                "OriginUpperLeft",
                "OriginUpperLeft OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32",
            );
        load(&text)
    };
    let shown = |body: &str, sets: bool| {
        let mut scene = scene_with(numbered(4), linear, body);
        scene.vertex = passing();
        // From (0, 0) to (1, 1) over the framebuffer.
        scene.attributes = vec![
            floats(0, Rate::Vertex, &[[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]]),
            floats(1, Rate::Vertex, &[[0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 1.0]]),
        ];
        scene.fragment = strict(body);
        let rules = sets.then(smallstep_semantics::number::sets::Rules::default);
        let by = draw::By { relation: &scene.relation, rules: &scene.rules, schedule: &scene.schedule, sets: rules, machine: None };
        let outcome = scene.with(|draw| draw::run_with(&scene.vertex, &scene.fragment, draw, &by, &mut ()).expect("the entry points"));
        let Outcome::Observed(mut observation) = outcome else { panic!("{outcome:?}") };
        observation.targets.remove(0)
    };
    let ways = [
        "%r = OpImageSampleImplicitLod %v4 %ts %uv",
        "%r = OpImageSampleExplicitLod %v4 %ts %uv Lod %f0",
        "%in4 = OpLoad %v4 %in %at = OpVectorShuffle %v2 %in4 %in4 0 1 %r = OpImageSampleImplicitLod %v4 %ts %at",
        "%in4 = OpLoad %v4 %in %at = OpVectorShuffle %v2 %in4 %in4 0 1 %r = OpImageSampleExplicitLod %v4 %ts %at Lod %f0",
    ];
    for way in ways {
        let body = format!("{way} %q1 = OpFMul %v4 %r %grey %q2 = OpFAdd %v4 %q1 %red OpStore %out %q2");
        let (over, alone) = (shown(&body, true), shown(&body, false));
        assert!(matches!(alone.component(3, 5, 0), Some(Component::Undecided(_))), "{way}: {:?}", alone.component(3, 5, 0));
        let Some(Component::Within(set)) = over.component(3, 5, 0) else { panic!("{way}: {:?}", over.component(3, 5, 0)) };
        // The coordinate is (3.5, 5.5)/2 texels, and texels are numbered from their centres. So the
        // texel is 10·2.25 + 1.25 + 1. The stage halves it and adds 1.
        let exact = (22.5 + 2.25) / 2.0 + 1.0;
        // Filter weights have four bits, so the error is a sixteenth of 10 + 1, halved.
        // Interpolation of the coordinate adds to that.
        let most = if way.contains("%at") { 0.5 } else { 11.0 / 32.0 + 0.001 };
        assert!(set.contains(exact) && set.hull().is_some_and(|h| exact - most < h.low && h.high < exact + most), "{way}: {set}");
        let (definite, _) = over.image.raw(0, 3, 5).expect("a texel");
        assert!(set.contains(f32::from_bits(definite as u32).into()), "{way}: {set}");
    }
}

/// A scene with another image at binding 4, and two functions with an image parameter. %fetch
/// fetches a texel. %sample samples with the level of detail of the quad.
fn handing_on(body: &str) -> Scene {
    let decorations = format!("{DECORATIONS} OpDecorate %more DescriptorSet 0 OpDecorate %more Binding 4");
    let declarations = format!(
        "{DECLARATIONS} %more = OpVariable %pimg UniformConstant %byp = OpTypeFunction %v4 %pimg %v2 %bys = OpTypeFunction %v4 %img %smp %v2"
    );
    let functions = "%fetch = OpFunction %v4 None %byp %fd = OpFunctionParameter %pimg %fat = OpFunctionParameter %v2 %fl = OpLabel
        %fi = OpLoad %img %fd %fij = OpConvertFToS %i2 %fat %fr = OpImageFetch %v4 %fi %fij OpReturnValue %fr OpFunctionEnd
        %sample = OpFunction %v4 None %bys %sd = OpFunctionParameter %img %ss = OpFunctionParameter %smp %sat = OpFunctionParameter %v2
        %sl = OpLabel %sc = OpSampledImage %simg %sd %ss %sr = OpImageSampleImplicitLod %v4 %sc %sat OpReturnValue %sr OpFunctionEnd";
    let text =
        format!("{} {functions}", fragment_text("", &decorations, &declarations, &format!("{BEFORE} %n = OpLoad %img %more {body}")));
    let mut scene = scene(&ALL, numbered(8), "");
    scene.fragment = load(&text);
    let mut more = numbered(8);
    more.clear(0, [1000f32.to_bits(), 0, 0, 0]).expect("a level");
    scene.images.push(BoundImage { set: 0, binding: 4, image: more });
    scene
}

/// Runs `left` in the pixels left of x = `column` and `right` in the others: two calls on two ways.
fn on_two_ways(column: &str, [left, right]: [&str; 2]) -> Scene {
    handing_on(&format!(
        "%cx = OpCompositeExtract %float %xy 0 %left = OpFOrdLessThan %bool %cx {column} OpSelectionMerge %m None
        OpBranchConditional %left %yes %no %yes = OpLabel {left} OpBranch %m %no = OpLabel {right} OpBranch %m
        %m = OpLabel %r = OpPhi %v4 %a %yes %b %no OpStore %out %r"
    ))
}

const SAMPLED: [&str; 2] = ["%a = OpFunctionCall %v4 %sample %t %s %uv", "%b = OpFunctionCall %v4 %sample %n %s %uv"];

/// Both engines run functions with image parameters, by definite values and over sets.
#[test]
fn images_that_are_passed_are_those_of_the_caller() {
    let both = "%a = OpFunctionCall %v4 %fetch %tex %xy %b = OpFunctionCall %v4 %fetch %more %xy %r = OpFAdd %v4 %a %b OpStore %out %r";
    let fetched = on_two_ways("%f2", ["%a = OpFunctionCall %v4 %fetch %tex %xy", "%b = OpFunctionCall %v4 %fetch %more %xy"]);
    let sampled = on_two_ways("%f2", SAMPLED);
    for (name, scene, expected) in
        [("both", handing_on(both), [1032.0, 1035.0]), ("one", fetched, [32.0, 1000.0]), ("sampled", sampled, [32.0, 1000.0])]
    {
        let observation = scene.observed();
        assert_eq!([1, 4].map(|x| exactly(&observation, x, 3, 0)), expected, "{name}");
        let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("it compiles");
        assert_eq!(judged::difference(&scene, &machine), None, "{name}");
    }
    // If the lanes of a quad take both ways, the quad has no level of detail.
    let observation = on_two_ways("%f1", SAMPLED).observed();
    assert_eq!(picture(&observation.targets[0]), ["!!######"; 8]);
}

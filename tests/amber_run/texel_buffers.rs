//! Scripts whose values depend on texel buffers: dispatches, with results computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};
use smallstep::run::amber::{Interpreter, Verdict};
use smallstep_semantics::image;
use smallstep_semantics::spirv::operation::Calculator;

use crate::{decisions, device, fails_with, legs, script_of};

/// The types of a texel buffer with this usage and format, and integer constants.
fn types(usage: u8, format: &str) -> String {
    format!(
        "%item = OpTypeInt 32 1
%ivec4 = OpTypeVector %item 4
%image = OpTypeImage %item Buffer 0 0 0 {usage} {format}
%p_image = OpTypePointer UniformConstant %image
%texels = OpVariable %p_image UniformConstant
%i_0 = OpConstant %item 0
%i_1 = OpConstant %item 1
%i_2 = OpConstant %item 2
%i_9 = OpConstant %item 9"
    )
}

/// A script with a shader of this body and a texel buffer of three texels.
fn script(usage: u8, format: &str, role: &str, body: &str, commands: &str) -> String {
    let capability = if usage == 1 { "SampledBuffer" } else { "ImageBuffer" };
    let body = format!("%loaded = OpLoad %image %texels\n{body}");
    let text = script_of(&types(usage, format), &body, "DATA_TYPE int32 SIZE 4 FILL 0", commands);
    text.replacen("OpCapability Shader", &format!("OpCapability Shader\nOpCapability {capability}"), 1)
        .replacen(
            "OpDecorate %data DescriptorSet 0",
            "OpDecorate %texels DescriptorSet 0\nOpDecorate %texels Binding 1\nOpDecorate %data DescriptorSet 0",
            1,
        )
        .replacen("BUFFER data", "BUFFER texels DATA_TYPE R32G32_SINT DATA 10 11 20 21 30 -31 END\nBUFFER data", 1)
        .replacen("  BIND", &format!("  BIND BUFFER texels AS {role} DESCRIPTOR_SET 0 BINDING 1\n  BIND"), 1)
}

/// Stores three components of the texel at index 2, and the number of texels.
const FETCHES: &str = "%t = OpImageFetch %ivec4 %loaded %i_2
%x = OpCompositeExtract %item %t 0\n%y = OpCompositeExtract %item %t 1\n%w = OpCompositeExtract %item %t 3
%n = OpImageQuerySize %item %loaded\nOpStore %p0 %x\nOpStore %p1 %y\nOpStore %p2 %w\nOpStore %p3 %n";

fn fetching(commands: &str) -> String {
    let text = script(1, "Unknown", "uniform_texel_buffer", FETCHES, commands);
    text.replacen("OpCapability SampledBuffer", "OpCapability SampledBuffer\nOpCapability ImageQuery", 1)
}

#[test]
fn a_fetch_from_a_texel_buffer_is_of_an_item() {
    let text = fetching("RUN p 1 1 1\nEXPECT data IDX 0 EQ 30 -31 1 3");
    assert_eq!(decisions(&text), [Decision::Holds]);
    assert_eq!(decisions(&text.replace("EQ 30", "EQ 20")), [Decision::Fails]);
    // GLSL's samplerBuffer is declared as a sampled image, and has no sampler.
    let combined = text
        .replace(
            "%p_image = OpTypePointer UniformConstant %image",
            "%both = OpTypeSampledImage %image\n%p_both = OpTypePointer UniformConstant %both",
        )
        .replace("%texels = OpVariable %p_image", "%texels = OpVariable %p_both")
        .replace("%loaded = OpLoad %image %texels", "%l = OpLoad %both %texels\n%loaded = OpImage %image %l");
    assert_eq!(decisions(&combined), [Decision::Holds]);
    assert_eq!(decisions(&combined.replace("EQ 30", "EQ 20")), [Decision::Fails]);
    // A texel buffer has no levels, so a fetch with Lod and a query of levels are refused.
    let with_level = text.replace("%loaded %i_2", "%loaded %i_2 Lod %i_0");
    assert_refused(&with_level, "which has none");
    assert_refused(&text.replace("OpImageQuerySize %item %loaded", "OpImageQueryLevels %item %loaded"), "an image with levels");
    assert_refused(&text.replace("OpCapability SampledBuffer\n", ""), "needs the capability SampledBuffer");
    let script = read(&text).expect("a script");
    assert_eq!(read(&script.print().expect("printable")).expect("a script").pipelines[0].bindings, script.pipelines[0].bindings);
    assert!(read(&text.replace("DATA_TYPE R32G32_SINT DATA", "DATA_TYPE int32[3] DATA")).is_err());
}

#[track_caller]
fn assert_refused(text: &str, said: &str) {
    let script = crate::script(text);
    let refused = smallstep::run::amber::Modules::load("test.amber", &script, &Default::default()).err().expect(said);
    assert!(refused.text.contains(said), "{}", refused.text);
}

#[test]
fn what_is_stored_in_a_texel_buffer_is_there() {
    let body = "%t = OpImageRead %ivec4 %loaded %i_1\n%x = OpCompositeExtract %item %t 0\n%sum = OpIAdd %item %x %i_2
%stored = OpCompositeConstruct %ivec4 %sum %i_0 %i_0 %i_0\nOpImageWrite %loaded %i_1 %stored\nOpImageWrite %loaded %i_9 %stored
OpStore %p0 %x";
    let commands =
        "RUN p 1 1 1\nEXPECT data IDX 0 EQ 20\nEXPECT texels IDX 0 EQ 10 11\nEXPECT texels IDX 8 EQ 22 0\nEXPECT texels IDX 16 EQ 30 -31";
    let text = script(2, "Rg32i", "storage_texel_buffer", body, commands);
    let text = text.replacen("OpCapability ImageBuffer", "OpCapability ImageBuffer\nOpCapability StorageImageExtendedFormats", 1);
    assert_eq!(decisions(&text), [Decision::Holds; 4]);
    assert_eq!(decisions(&text.replace("EQ 22 0", "EQ 20 21"))[2], Decision::Fails);
    // A binding for fetches does not fit a storage texel buffer.
    let (_, end) = crate::played(&text.replace("storage_texel_buffer", "uniform_texel_buffer"));
    assert!(end.is_some_and(|end| format!("{end:?}").contains("is a storage texel buffer")));
}

#[test]
fn a_place_beyond_the_end_is_undefined_and_a_planted_bug_is_seen() {
    let text = fetching("RUN p 1 1 1\nEXPECT data IDX 0 EQ 30 -31 1 3");
    assert_eq!(decisions(&text.replace("%loaded %i_2", "%loaded %i_9")), [Decision::Undefined]);
    // A planted bug: missing components are all 0.
    let images = image::Rules { missing: [0.0; 4], ..image::Rules::default() };
    fails_with(&text, Calculator { images, ..Calculator::default() });
    // wgpu has no texel buffers.
    let Some(mut device) = device() else { return };
    let legs = legs(&text, &Interpreter::default(), Some(&mut device));
    assert!(matches!(&legs[1].verdict, Verdict::Unchecked(_)), "{:?}", legs[1].verdict);
}

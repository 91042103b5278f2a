//! Scripts whose values depend on images of one and of three dimensions, or on dynamic offsets, and
//! planted bugs.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, Resource, read};
use smallstep::compute;
use smallstep::run::amber::Interpreter;
use smallstep_semantics::image::{self, AddressMode};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::operation::Calculator;
use smallstep_semantics::spirv::step::{self, Config, Env, Next, Rules};

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, Stage, agrees_and_not, script_of};
use crate::{computing, decisions, device, fails_with, holds, script};

/// A fragment stage that fetches a texel of an image of this dimension.
fn fetching(dimension: &str, at: &str) -> (String, String) {
    let variables = format!(
        "%image = OpTypeImage %float {dimension} 0 0 0 1 Unknown\n%p_image = OpTypePointer UniformConstant %image\n\
         %texture = OpVariable %p_image UniformConstant\n%ivec3 = OpTypeVector %int 3\n%i_0 = OpConstant %int 0\n%i_1 = OpConstant %int 1\n\
         %i_2 = OpConstant %int 2\n%ixyz = OpConstantComposite %ivec3 %i_2 %i_1 %i_1"
    );
    (variables, format!("%loaded = OpLoad %image %texture\n%c = OpImageFetch %vec4 %loaded {at} Lod %u0\nOpStore %colour %c"))
}

#[test]
fn images_of_one_and_of_three_dimensions() {
    let mut device = device();
    // Texel 2 of a row, and texel (2, 1, 1) of 3 by 2 by 2, the last.
    for (dimension, at, declared) in [
        ("1D", "%i_2", "DIM_1D WIDTH 3 DATA 0 0 0 0 255 0 0 255 0 255 255 255"),
        (
            "3D",
            "%ixyz",
            "DIM_3D WIDTH 3 HEIGHT 2 DEPTH 2 DATA 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 \
             1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 255 255 255",
        ),
    ] {
        let (variables, body) = fetching(dimension, at);
        let fragment = Stage {
            decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0",
            variables: &variables,
            body: &body,
            ..PLAIN
        };
        let buffers = format!("IMAGE texture FORMAT R8G8B8A8_UNORM {declared} END\n");
        let pipeline = format!("{OF_ALL}  BIND BUFFER texture AS sampled_image DESCRIPTOR_SET 0 BINDING 0\n");
        let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 255 255 255");
        let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands);
        let text = if dimension == "1D" {
            text.replace(
                "SHADER fragment f SPIRV-ASM TARGET_ENV spv1.3\nOpCapability Shader",
                "SHADER fragment f SPIRV-ASM TARGET_ENV spv1.3\nOpCapability Shader\nOpCapability Sampled1D",
            )
        } else {
            text
        };
        agrees_and_not(&text, "EQ_RGBA 0 255", "EQ_RGBA 255 255", device.as_mut());
        let script = read(&text).expect("a script");
        assert_eq!(read(&script.print().expect("printable")).expect("a script").buffers[2].extent, script.buffers[2].extent);
        let attached = text.replace("BIND BUFFER target AS color", "BIND BUFFER texture AS color");
        assert!(read(&attached).expect_err("no attachment")[0].to_string().contains("has not two dimensions"));
    }
}

/// A compute stage that fetches a texel of one image, adds 5 and stores it in another, with one or
/// three dimensions.
#[test]
fn storage_images_of_one_and_of_three_dimensions() {
    let text = include_str!("scripts/images.amber");
    let mut device = device();
    let capabilities = "OpCapability Shader\nOpCapability Image1D\nOpCapability Sampled1D";
    let row = text
        .replace("OpCapability Shader", capabilities)
        .replace("%uint 2D", "%uint 1D")
        .replace("LocalSize 4 4 1", "LocalSize 16 1 1")
        .replace("%at = OpVectorShuffle %uvec2 %three %three 0 1", "%at = OpCompositeExtract %uint %three 0")
        .replace("DIM_2D WIDTH 4 HEIGHT 4", "DIM_1D WIDTH 16");
    let box_ = text
        .replace("%uint 2D", "%uint 3D")
        .replace("LocalSize 4 4 1", "LocalSize 4 2 2")
        .replace("OpVectorShuffle %uvec2 %three %three 0 1", "OpCopyObject %uvec3 %three")
        .replace("DIM_2D WIDTH 4 HEIGHT 4", "DIM_3D WIDTH 4 HEIGHT 2 DEPTH 2");
    for text in [row, box_] {
        agrees_and_not(&text, "IDX 60 EQ 20", "IDX 60 EQ 21", device.as_mut());
        // Planted bugs: the machine stores the components in reverse order, and the relation does
        // not store.
        let mut interpreter = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
        interpreter.engines.planted = Some(Arc::new(|parts| {
            parts.images.iter_mut().filter(|access| access.op == Op::ImageWrite).for_each(|access| access.value.reverse());
        }));
        assert!(!holds(&script(&text), &interpreter), "{text}");
        let mut interpreter = computing(Calculator::default(), false);
        interpreter.engines.relation.rules = Rules::standard().replace(Rule::SpirvImageWrite, lost_texel);
        assert!(!holds(&script(&text), &interpreter), "{text}");
    }
}

fn lost_texel<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    without_actions(step::image::image_write(env, config)?)
}

/// A step without its actions on memory that invocations share.
pub(crate) fn without_actions(next: Next<'_>) -> Option<Next<'_>> {
    match next {
        Next::Acts(config, _) => Some(Next::Config(config)),
        other => Some(other),
    }
}

/// A fragment stage that samples an image of one or three dimensions at level 0. `sampler` has the
/// options of its sampler.
fn sampled(dimension: &str, declared: &str, at: &str, sampler: &str, colour: &str) -> String {
    let (type_, place) = match at.split_once(' ') {
        None => ("%float", format!("%at = OpConstant %float {at}")),
        Some(_) => {
            let each: Vec<String> = at.split(' ').enumerate().map(|(i, x)| format!("%at{i} = OpConstant %float {x}")).collect();
            ("%vec3", format!("{}\n%at = OpConstantComposite %vec3 %at0 %at1 %at2", each.join("\n")))
        }
    };
    let vector = if type_ == "%vec3" { "%vec3 = OpTypeVector %float 3\n" } else { "" };
    let variables = format!(
        "%image = OpTypeImage %float {dimension} 0 0 0 1 Unknown\n%both = OpTypeSampledImage %image\n\
         %p_both = OpTypePointer UniformConstant %both\n%texture = OpVariable %p_both UniformConstant\n{vector}{place}"
    );
    let fragment = Stage {
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0",
        variables: &variables,
        body: "%loaded = OpLoad %both %texture\n%c = OpImageSampleExplicitLod %vec4 %loaded %at Lod %f0\nOpStore %colour %c",
        ..PLAIN
    };
    let buffers = format!("IMAGE texture FORMAT R8G8B8A8_UNORM {declared} END\nSAMPLER s {sampler}\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER texture AS combined_image_sampler SAMPLER s DESCRIPTOR_SET 0 BINDING 0\n");
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA {colour} TOLERANCE 0.1");
    let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands);
    let head = "SHADER fragment f SPIRV-ASM TARGET_ENV spv1.3\nOpCapability Shader";
    if dimension == "1D" { text.replace(head, &format!("{head}\nOpCapability Sampled1D")) } else { text }
}

#[test]
fn samples_of_one_and_of_three_dimensions() {
    let mut device = device();
    let right = image::Rules::default();
    let row = "DIM_1D WIDTH 4 DATA 255 0 0 255 0 255 0 255 0 0 255 255 255 255 255 255";
    let slices = "DIM_3D WIDTH 1 HEIGHT 1 DEPTH 2 DATA 255 0 0 255 0 0 255 255";
    let linear =
        "MAG_FILTER linear MIN_FILTER linear ADDRESS_MODE_U clamp_to_edge ADDRESS_MODE_V clamp_to_edge ADDRESS_MODE_W clamp_to_edge";
    for (text, colour, images) in [
        // 1.3 repeats 0.3, which lies in texel 1.
        (
            sampled("1D", row, "1.3125", "ADDRESS_MODE_U repeat", "0 255 0 255"),
            "0 255 0 255",
            image::Rules { wrap: |_, i, size| AddressMode::ClampToEdge.wrap(i, size), ..right },
        ),
        // 0.375 in two slices is a quarter of the way from the first slice to the second. The
        // weights may have few bits.
        (sampled("3D", slices, "0.5 0.5 0.375", linear, "191 0 64 255"), "191 0 64 255", image::Rules { depth: |c| [c, 1.0 - c], ..right }),
    ] {
        agrees_and_not(&text, &format!("EQ_RGBA {colour}"), "EQ_RGBA 255 255 255 0", device.as_mut());
        fails_with(&text, Calculator { images, ..Calculator::default() });
    }
}

#[test]
fn samplers_compare_depths() {
    let mut device = device();
    let body = "%loaded = OpLoad %image %texture\n%with = OpLoad %sampler %compares\n%both = OpSampledImage %combined %loaded %with
%is = OpImageSampleDrefExplicitLod %float %both %middle %half Lod %f0\n%c = OpCompositeConstruct %vec4 %is %f0 %f0 %f1\nOpStore %colour %c";
    let fragment = Stage {
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0\nOpDecorate %compares DescriptorSet 0\n\
                      OpDecorate %compares Binding 1",
        variables: "%image = OpTypeImage %float 2D 1 0 0 1 Unknown\n%p_image = OpTypePointer UniformConstant %image\n\
                    %texture = OpVariable %p_image UniformConstant\n%sampler = OpTypeSampler\n\
                    %p_sampler = OpTypePointer UniformConstant %sampler\n%compares = OpVariable %p_sampler UniformConstant\n\
                    %combined = OpTypeSampledImage %image\n%eighth = OpConstant %float 0.125\n%middle = OpConstantComposite %vec2 %eighth %eighth",
        body,
        ..PLAIN
    };
    // Texel (0, 0) holds 0.25, and the reference is 0.5.
    let buffers = "IMAGE texture FORMAT D32_SFLOAT DIM_2D WIDTH 2 HEIGHT 2 DATA 0.25 1 1 1 END\n\
                   SAMPLER compares COMPARE on COMPARE_OP greater\n";
    let pipeline = format!(
        "{OF_ALL}  BIND BUFFER texture AS sampled_image DESCRIPTOR_SET 0 BINDING 0\n  BIND SAMPLER compares DESCRIPTOR_SET 0 BINDING 1\n"
    );
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255");
    let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", buffers, &pipeline, &commands);
    agrees_and_not(&text, "COMPARE_OP greater", "COMPARE_OP less", device.as_mut());
    let script = read(&text).expect("a script");
    assert_eq!(read(&script.print().expect("printable")).expect("a script").samplers[0].compare, script.samplers[0].compare);
}

#[test]
fn a_dynamic_offset_is_added_to_that_of_the_descriptor() {
    let text = include_str!("scripts/uniform.amber");
    let dynamic = |offsets: &str, expected: u32| {
        let bound = "AS uniform DESCRIPTOR_SET 0 BINDING 1 DESCRIPTOR_OFFSET 0";
        assert!(text.contains(bound));
        text.replace(bound, &format!("AS uniform_dynamic DESCRIPTOR_SET 0 BINDING 1 {offsets}")).replace("EQ 7", &format!("EQ {expected}"))
    };
    // Word 64 is 71.
    assert_eq!(decisions(&dynamic("OFFSET 0", 7))[0], Decision::Holds);
    assert_eq!(decisions(&dynamic("OFFSET 256", 71))[0], Decision::Holds);
    assert_eq!(decisions(&dynamic("OFFSET 256 DESCRIPTOR_OFFSET 128", 103))[0], Decision::Holds);
    assert_eq!(decisions(&dynamic("OFFSET 256", 7))[0], Decision::Fails);
    let text = dynamic("OFFSET 256", 71);
    let script = read(&text).expect("a script");
    assert_eq!(
        read(&script.print().expect("printable")).expect("a script").pipelines[0].bindings[0].resource,
        script.pipelines[0].bindings[0].resource
    );
    // A planted bug: one of the two offsets is ignored.
    let both = read(&dynamic("OFFSET 256 DESCRIPTOR_OFFSET 128", 103)).expect("a script");
    assert!(holds(&both, &Interpreter::default()));
    for forgotten in [128, 256] {
        let mut wrong = both.clone();
        let Resource::Uniform(range) = &mut wrong.pipelines[0].bindings[1].resource else { panic!("{:?}", wrong.pipelines[0].bindings) };
        range.offset -= forgotten;
        assert!(!holds(&wrong, &Interpreter::default()), "{forgotten}");
    }
    // A range beyond the buffer is refused.
    assert!(read(&dynamic("OFFSET 512", 7)).is_err());
    assert!(read(&dynamic("", 7)).is_err());
}

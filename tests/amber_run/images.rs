//! Scripts whose values depend on images of one and of three dimensions, or on dynamic offsets.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, Stage, agrees_and_not, script_of};
use crate::{decisions, device};

/// A fragment stage that fetches a texel of an image of that dimension.
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
    // What is past the buffer is refused.
    assert!(read(&dynamic("OFFSET 512", 7)).is_err());
    assert!(read(&dynamic("", 7)).is_err());
}

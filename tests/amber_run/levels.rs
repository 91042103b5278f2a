//! Scripts whose values depend on levels of images: 8 by 8 pixels, computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};
use smallstep_semantics::image;
use smallstep_semantics::spirv::operation::Calculator;

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, PUSHED, Stage, agrees, agrees_and_not, script_of};
use crate::{decisions, device, fails_with};

/// Three levels: 4 by 4 green texels, 2 by 2 red texels, and a blue texel.
const LEVELS: &str = "IMAGE texture FORMAT R8G8B8A8_UNORM MIP_LEVELS 3 DIM_2D WIDTH 4 HEIGHT 4 DATA
0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255
0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255 0 255
255 0 0 255 255 0 0 255 255 0 0 255 255 0 0 255 0 0 255 255 END\n";
const BOUND: &str = "  BIND BUFFER texture AS sampled_image DESCRIPTOR_SET 0 BINDING 0";

/// The declarations of the image in the fragment stage.
const IMAGE: &str = "%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%p_image = OpTypePointer UniformConstant %image
%texture = OpVariable %p_image UniformConstant
%i_0 = OpConstant %int 0
%i_1 = OpConstant %int 1
%corner = OpConstantComposite %ivec2 %i_0 %i_0
%u_3 = OpConstant %uint 3";

/// A script whose fragment stage reads the image with this body. `bound` has the lines that
/// bind it.
fn reading(variables: &str, body: &str, buffers: &str, bound: &str, commands: &str) -> String {
    let variables = format!("{IMAGE}\n{variables}");
    let body = format!("%loaded = OpLoad %image %texture\n{body}\nOpStore %colour %c");
    let fragment = Stage {
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0\n",
        variables: &variables,
        body: &body,
        ..PLAIN
    };
    let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", buffers, &format!("{OF_ALL}{bound}\n"), commands);
    let head = "SHADER fragment f SPIRV-ASM TARGET_ENV spv1.3\nOpCapability Shader";
    text.replace(head, &format!("{head}\nOpCapability ImageQuery"))
}

fn expecting(colour: &str) -> String {
    format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA {colour} 255")
}

fn fetching(level: &str, bound: &str, colour: &str) -> String {
    reading("", &format!("%c = OpImageFetch %vec4 %loaded %corner Lod %{level}"), LEVELS, bound, &expecting(colour))
}

#[test]
fn a_fetch_is_of_the_level_that_it_names() {
    let mut device = device();
    for (level, colour) in [("u0", "0 255 0"), ("u1", "255 0 0"), ("u2", "0 0 255")] {
        agrees_and_not(&fetching(level, BOUND, colour), &format!("EQ_RGBA {colour}"), "EQ_RGBA 9 9 9", device.as_mut());
    }
    // Levels are counted from the first bound level.
    for (level, colour) in [("u0", "255 0 0"), ("u1", "0 0 255")] {
        agrees_and_not(
            &fetching(level, &format!("{BOUND} BASE_MIP_LEVEL 1"), colour),
            &format!("EQ_RGBA {colour}"),
            "EQ_RGBA 9 9 9",
            device.as_mut(),
        );
    }
    let text = fetching("u1", &format!("{BOUND} BASE_MIP_LEVEL 1"), "0 0 255");
    let script = read(&text).expect("a script");
    let again = read(&script.print().expect("printable")).expect("a script");
    assert_eq!(again.pipelines[0].bindings, script.pipelines[0].bindings);
    assert_eq!((again.buffers[2].levels, again.buffers[2].items), (3, 21));
    assert!(read(&text.replace("BASE_MIP_LEVEL 1", "BASE_MIP_LEVEL 3")).is_err());
}

#[test]
fn levels_that_nobody_gives_are_open() {
    let first = LEVELS.replace("255 0 0 255 255 0 0 255 255 0 0 255 255 0 0 255 0 0 255 255 END", "END");
    let open = |level: &str| {
        let text = fetching(level, BOUND, "0 255 0");
        let other = text.replace(LEVELS, &first);
        assert_ne!(other, text);
        decisions(&other)[0]
    };
    assert_eq!(open("u0"), Decision::Holds);
    assert!(matches!(open("u1"), Decision::Undecided | Decision::Undefined));
}

/// A script that samples at a level, with a sampler of these options.
fn sampling(level: &str, options: &str, colour: &str) -> String {
    let variables = format!(
        "%sampler = OpTypeSampler\n%p_sampler = OpTypePointer UniformConstant %sampler\n%by = OpVariable %p_sampler UniformConstant
%sampled = OpTypeSampledImage %image\n%middle = OpConstantComposite %vec2 %half %half\n%level = OpConstant %float {level}"
    );
    let body = "%with = OpLoad %sampler %by\n%both = OpSampledImage %sampled %loaded %with
%c = OpImageSampleExplicitLod %vec4 %both %middle Lod %level";
    let bound = format!("{BOUND}\n  BIND SAMPLER by DESCRIPTOR_SET 0 BINDING 1");
    let text = reading(&variables, body, &format!("{LEVELS}SAMPLER by {options}\n"), &bound, &expecting(colour));
    text.replace(
        "OpDecorate %texture Binding 0\n",
        "OpDecorate %texture Binding 0\nOpDecorate %by DescriptorSet 0\nOpDecorate %by Binding 1\n",
    )
}

#[test]
fn a_sample_is_of_the_levels_that_the_sampler_chooses() {
    let mut device = device();
    for (level, options, colour) in [
        ("0", "MAX_LOD 9", "0 255 0"),
        ("1", "MAX_LOD 9", "255 0 0"),
        ("1.75", "MAX_LOD 9", "0 0 255"),
        ("1.25", "MAX_LOD 9", "255 0 0"),
        // The default of the greatest level of detail is 1.
        ("2", "", "255 0 0"),
        ("0", "MIN_LOD 2 MAX_LOD 9", "0 0 255"),
        ("1", "MAX_LOD 9 MIPMAP_MODE linear", "255 0 0"),
    ] {
        agrees_and_not(&sampling(level, options, colour), &format!("EQ_RGBA {colour}"), "EQ_RGBA 9 9 9", device.as_mut());
    }
    let between = sampling("0.5", "MAX_LOD 9 MIPMAP_MODE linear", "128 128 0").replace("128 128 0 255", "128 128 0 255 TOLERANCE 0.02");
    assert_eq!(decisions(&between), [Decision::Holds]);
    assert_eq!(decisions(&between.replace("MIPMAP_MODE linear", "MIPMAP_MODE nearest")), [Decision::Fails]);
}

#[test]
fn queries_tell_levels_and_their_sizes() {
    let mut device = device();
    // Levels: 3. Sizes of level 1: 2 by 2. A 51st of each is 0.2, 51 of 255.
    let body = "%levels = OpImageQueryLevels %uint %loaded\n%size = OpImageQuerySizeLod %ivec2 %loaded %u1
%width = OpCompositeExtract %int %size 0\n%is_three = OpIEqual %bool %levels %u_3\n%is_two = OpIEqual %bool %width %i_2
%red_is = OpSelect %float %is_three %f1 %f0\n%green_is = OpSelect %float %is_two %f1 %f0
%c = OpCompositeConstruct %vec4 %red_is %green_is %f0 %f1";
    let text = reading("%i_2 = OpConstant %int 2", body, LEVELS, BOUND, &expecting("255 255 0"));
    agrees_and_not(&text, "EQ_RGBA 255 255 0", "EQ_RGBA 0 255 0", device.as_mut());
    let based = text.replace(BOUND, &format!("{BOUND} BASE_MIP_LEVEL 1"));
    assert_eq!(decisions(&based.replace("255 255 0 255", "0 0 0 255")), [Decision::Holds]);
}

#[test]
fn a_level_is_drawn_to_and_the_others_stay() {
    let mut device = device();
    let buffers = "BUFFER chain FORMAT R8G8B8A8_UNORM MIP_LEVELS 2\nBUFFER colour DATA_TYPE vec4<float> DATA 1 0 0 1 END
BUFFER other DATA_TYPE vec4<float> DATA 0 0 1 1 END\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER colour AS push_constant\n");
    // Level 0 of 8 by 8 texels is cleared and drawn red; level 1 of 4 by 4, from byte 256, blue.
    let commands = "DERIVE_PIPELINE small FROM g\n  FRAMEBUFFER_SIZE 4 4\n  BIND BUFFER chain AS color LOCATION 0 BASE_MIP_LEVEL 1
  BIND BUFFER other AS push_constant\nEND\nDERIVE_PIPELINE large FROM g\n  BIND BUFFER chain AS color LOCATION 0\nEND
CLEAR_COLOR large 0 255 0 255\nCLEAR large\nCLEAR small\nRUN small DRAW_ARRAY AS TRIANGLE_LIST
EXPECT chain IDX 0 0 SIZE 8 8 EQ_RGBA 0 255 0 255\nEXPECT chain IDX 256 EQ 0 0 255 255\nEXPECT chain IDX 316 EQ 0 0 255 255
RUN large DRAW_ARRAY AS TRIANGLE_LIST\nEXPECT chain IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255\nEXPECT chain IDX 256 EQ 0 0 255 255";
    let text = script_of([PLAIN, PUSHED], "R8G8B8A8_UNORM", buffers, &pipeline, commands);
    agrees(&text, device.as_mut());
    let decided = decisions(&text.replace("IDX 256 EQ 0 0 255 255", "IDX 256 EQ 255 0 0 255"));
    assert_eq!(decided, [Decision::Holds, Decision::Fails, Decision::Holds, Decision::Holds, Decision::Fails]);
    let script = read(&text).expect("a script");
    assert_eq!(read(&script.print().expect("printable")).expect("a script").pipelines[1].colours, script.pipelines[1].colours);
    // The size of the level must be that of the framebuffer.
    let wrong = read(&text.replace("FRAMEBUFFER_SIZE 4 4", "FRAMEBUFFER_SIZE 2 2")).expect_err("another size");
    assert!(wrong[0].to_string().contains("`chain` is 4 by 4, the framebuffer 8 by 8"), "{}", wrong[0]);
}

#[test]
fn a_planted_bug_in_the_choice_of_levels_fails_the_script() {
    let images = image::Rules { nearest_level: f64::ceil, ..image::Rules::default() };
    fails_with(&sampling("1.25", "MAX_LOD 9", "255 0 0"), Calculator { images, ..Calculator::default() });
}

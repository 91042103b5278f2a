//! Scripts whose values depend on blending, on the stencil test, or on packed formats: 8 by 8
//! pixels, computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};
use smallstep::run::amber::{Interpreter, Leg, Verdict};
use smallstep_semantics::spirv::operation::Calculator;
use smallstep_semantics::{image, raster};

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, PUSHED, RED, Stage, agrees, agrees_and_not, script_of};
use crate::{decisions, device, fails_with, holds, legs, played_on, script};

/// A script that clears to opaque green and blends a colour with it.
fn blended(format: &str, colour: &str, equations: &str, expect: &str) -> String {
    let buffers = format!("BUFFER colour DATA_TYPE vec4<float> DATA {colour} END\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER colour AS push_constant\n  BLEND\n{equations}\n  END\n");
    let commands = format!("CLEAR_COLOR g 0 255 0 255\nCLEAR g\n{DRAW_ALL}\n{expect}");
    script_of([PLAIN, PUSHED], format, &buffers, &pipeline, &commands)
}

/// The lines of a BLEND block. Each array has the factors of source and attachment and the
/// operation, for the colour or for alpha.
fn equations(colour: [&str; 3], alpha: [&str; 3]) -> String {
    let of = |name: &str, [source, destination, op]: [&str; 3]| {
        format!("    SRC_{name}_FACTOR {source}\n    DST_{name}_FACTOR {destination}\n    {name}_OP {op}\n")
    };
    of("COLOR", colour) + &of("ALPHA", alpha)
}

const KEEPS_ALPHA: [&str; 3] = ["zero", "one", "add"];

#[test]
fn colours_are_blended_as_the_equations_say() {
    let mut device = device();
    // 0.2 is 51/255, 0.8 is 204/255.
    for (colour, equation, expected) in [
        ("0.2 0 1 0", ["one", "one", "add"], "51 255 255"),
        ("0.2 0.2 0 0", ["one", "one", "substract"], "51 0 0"),
        ("0.2 0.2 0 0", ["one", "one", "reverse_substract"], "0 204 0"),
        ("0.2 0.2 0.2 0", ["one", "zero", "min"], "0 51 0"),
        ("0.2 0.2 0.2 0", ["zero", "zero", "max"], "51 255 51"),
        ("0.2 0.2 0.2 0", ["dst_color", "zero", "add"], "0 51 0"),
        ("0.2 0.2 0.2 0", ["one_minus_dst_color", "zero", "add"], "51 0 51"),
        ("1 0.2 0.2 0", ["zero", "src_color", "add"], "0 51 0"),
        ("1 0.2 0.2 0", ["zero", "one_minus_src_color", "add"], "0 204 0"),
        ("1 0 0 0.2", ["src_alpha", "one_minus_src_alpha", "add"], "51 204 0"),
        ("1 0 0 0.2", ["dst_alpha", "one_minus_dst_alpha", "add"], "255 0 0"),
        ("1 0 0.2 1", ["src_alpha_saturate", "one", "add"], "0 255 0"),
    ] {
        let equations = equations(equation, KEEPS_ALPHA);
        let text = blended("R8G8B8A8_UNORM", colour, &equations, &format!("EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA {expected} 255"));
        agrees_and_not(&text, &format!("EQ_RGBA {expected} 255"), "EQ_RGBA 7 7 7 255", device.as_mut());
    }
    // Alpha alone: 51/255. The defaults are the factors one and zero, and their sum.
    let text = blended("R8G8B8A8_UNORM", "1 0 0 0.2", "", "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 51");
    agrees_and_not(&text, "0 0 51", "0 0 255", device.as_mut());
    let text = blended("R32G32B32A32_SFLOAT", "0.25 2 -1 0.5", &equations(["src_alpha", "one", "add"], ["one", "one", "add"]), "");
    let text = text + "EXPECT target IDX 0 EQ 0.125 2 -0.5 1.5\n";
    assert_eq!(decisions(&text), [Decision::Holds]);
    assert_eq!(decisions(&text.replace("-0.5 1.5", "-0.5 1")), [Decision::Fails]);
}

#[test]
fn what_a_device_may_round_either_way_is_open() {
    // Half of 255 is 127 or 128, and half of what is less.
    let half = equations(["src_alpha", "one_minus_src_alpha", "add"], KEEPS_ALPHA);
    let expect = |colour: &str, tolerance: &str| format!("EXPECT target IDX 0 0 SIZE 8 8 EQ_RGB {colour}{tolerance}");
    let of = |expect: String| decisions(&blended("R8G8B8A8_UNORM", "1 0 0 0.5", &half, &expect));
    assert_eq!(of(expect("128 128 0", "")), [Decision::Undecided]);
    assert_eq!(of(expect("128 128 0", " TOLERANCE 0.01")), [Decision::Holds]);
    assert_eq!(of(expect("128 124 0", " TOLERANCE 0.005")), [Decision::Fails]);
    // A device shows one of these values.
    let mut device = device();
    let text = blended("R8G8B8A8_UNORM", "1 0.3 0.7 0.5", &half, &expect("128 166 89", " TOLERANCE 0.02"));
    for leg in legs(&text, &Interpreter::default(), device.as_mut()) {
        assert_eq!(leg.verdict, Verdict::Agree, "{}", leg.name);
    }
    // An undefined value stays undefined if an expectation reads it.
    let nothing = Stage { body: "", ..RED };
    let commands = format!("CLEAR_COLOR g 0 255 0 255\nCLEAR g\n{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 255 0 255");
    let pipeline = |equation| format!("{OF_ALL}  BLEND\n{}  END\n", equations(equation, KEEPS_ALPHA));
    let of = |equation| decisions(&script_of([PLAIN, nothing], "R8G8B8A8_UNORM", "", &pipeline(equation), &commands));
    assert_eq!(of(["zero", "one", "add"]), [Decision::Holds]);
    assert_eq!(of(["one", "one", "add"]), [Decision::Undefined]);
}

#[test]
fn a_planted_bug_in_blending_fails_the_script() {
    let text = blended(
        "R8G8B8A8_UNORM",
        "1 0 0 0.2",
        &equations(["src_alpha", "one_minus_src_alpha", "add"], KEEPS_ALPHA),
        "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 51 204 0 255",
    );
    let on = |raster| played_on(&text, &Interpreter { raster, ..Interpreter::default() }).0[0].0;
    let sound = raster::Rules::default();
    assert_eq!(on(sound), Decision::Holds);
    // A planted bug: the factor of the attachment is that of the source.
    let factor: fn(raster::Factor, [f64; 4], [f64; 4], usize) -> f64 = |_, source, _, _| source[3];
    assert_ne!(on(raster::Rules { blend_factor: factor, ..sound }), Decision::Holds);
    assert_ne!(on(raster::Rules { blend: |_, source, destination| source.max(destination) / 2.0, ..sound }), Decision::Holds);
}

/// A script in which pipeline `mark` sets the stencil of the left half, drawing to another
/// attachment. Then `g` draws everything. Both have lines of a STENCIL block.
fn stencilled(format: &str, mark: &str, then: &str, expect: &str) -> String {
    let buffers = format!("BUFFER stencil FORMAT {format}\nBUFFER other FORMAT R8G8B8A8_UNORM\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER stencil AS depth_stencil\n  STENCIL front_and_back\n    TEST on\n{then}\n  END\n");
    let commands = format!(
        "DERIVE_PIPELINE mark FROM g\n  VIEWPORT 0 0 SIZE 4 8\n  BIND BUFFER other AS color LOCATION 0\n  STENCIL front_and_back\n{mark}\n  END\nEND
CLEAR g\nRUN mark DRAW_ARRAY AS TRIANGLE_LIST\nCLEAR_COLOR colour 0 0 0 0\n{DRAW_ALL}\n{expect}"
    )
    .replace("CLEAR_COLOR colour 0 0 0 0\n", "");
    script_of([PLAIN, RED], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands)
}

#[test]
fn stencils_are_tested_and_written_as_the_script_says() {
    let of = |text: &str| decisions(text);
    let expect = "EXPECT stencil IDX 0 EQ VALUE\nEXPECT stencil IDX 7 EQ 0";
    for (op, value) in [
        ("keep", 0),
        ("zero", 0),
        ("replace", 9),
        ("increment_and_clamp", 1),
        ("increment_and_wrap", 1),
        ("decrement_and_clamp", 0),
        ("decrement_and_wrap", 255),
        ("invert", 255),
    ] {
        let mark = format!("    COMPARE_OP always\n    PASS_OP {op}\n    REFERENCE 9");
        let text = stencilled("S8_UINT", &mark, "    COMPARE_OP never", &expect.replace("VALUE", &value.to_string()));
        assert_eq!(of(&text), [Decision::Holds, Decision::Holds], "{op}");
        assert_eq!(of(&text.replace(&format!("IDX 0 EQ {value}"), "IDX 0 EQ 77"))[0], Decision::Fails, "{op}");
    }
    // Four bits are compared, and only the left half holds 5 in these. The masks leave the other
    // bits alone.
    let mark = "    COMPARE_OP always\n    PASS_OP replace\n    REFERENCE 0xf5\n    WRITE_MASK 0x3f";
    let then = "    COMPARE_OP equal\n    REFERENCE 0x45\n    COMPARE_MASK 0x0f\n    FAIL_OP increment_and_clamp";
    for format in ["S8_UINT", "D16_UNORM_S8_UINT", "D24_UNORM_S8_UINT", "D32_SFLOAT_S8_UINT"] {
        let then = format!("{then}\n    WRITE_MASK 0xff");
        let expect = "EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255\nEXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 0 0 0 0";
        assert_eq!(of(&stencilled(format, mark, &then, expect)), [Decision::Holds, Decision::Holds], "{format}");
        if format == "S8_UINT" {
            let held = "EXPECT stencil IDX 0 EQ 0x35\nEXPECT stencil IDX 7 EQ 1";
            assert_eq!(of(&stencilled(format, mark, &then, held)), [Decision::Holds, Decision::Holds]);
        }
    }
}

#[test]
fn the_face_of_a_triangle_chooses_its_stencil_test_and_depths_its_operation() {
    // The triangle turns clockwise on the screen, so it is a back face.
    let mark = "    COMPARE_OP always\n    PASS_OP keep";
    let faces = "  END\n  STENCIL front\n    PASS_OP invert\n  END\n  STENCIL back\n    PASS_OP replace\n    REFERENCE 3";
    let text = stencilled("S8_UINT", mark, faces, "EXPECT stencil IDX 0 EQ 3");
    assert_eq!(decisions(&text), [Decision::Holds]);
    assert_eq!(decisions(&text.replace("FRAMEBUFFER_SIZE", "FRONT_FACE clockwise\n  FRAMEBUFFER_SIZE")), [Decision::Fails]);
    // The depth 0.5 is not less than 0.25.
    let mark = "    COMPARE_OP always";
    let depth = "  END\n  DEPTH\n    TEST on\n    COMPARE_OP less\n  END\n  STENCIL front_and_back\n    \
                 PASS_OP decrement_and_wrap\n    DEPTH_FAIL_OP increment_and_wrap\n    FAIL_OP zero";
    let text = |depth_value: &str, expected: &str| {
        let text = stencilled("D32_SFLOAT_S8_UINT", mark, depth, &format!("EXPECT stencil IDX 0 EQ {expected}"));
        text.replace("CLEAR g\n", &format!("CLEAR_DEPTH g {depth_value}\nCLEAR_STENCIL g 7\nCLEAR g\n"))
    };
    // A texel is the depth, then the stencil byte, then unused bytes: 0.25 is 0x3e800000 and 1 is
    // 0x3f800000. `mark` tests with the same operations.
    assert_eq!(decisions(&text("0.25", "0x093e800000")), [Decision::Holds]);
    assert_eq!(decisions(&text("1", "0x053f800000")), [Decision::Holds]);
    assert_eq!(decisions(&text("1", "0x073f800000")), [Decision::Fails]);
}

#[test]
fn a_planted_bug_in_the_stencil_test_fails_the_script() {
    let mark = "    COMPARE_OP always\n    PASS_OP replace\n    REFERENCE 2";
    let text = stencilled("S8_UINT", mark, "    COMPARE_OP less\n    REFERENCE 1", "EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255");
    let on = |raster| played_on(&text, &Interpreter { raster, ..Interpreter::default() }).0[0].0;
    let sound = raster::Rules::default();
    assert_eq!(on(sound), Decision::Holds);
    assert_eq!(
        on(raster::Rules { stencil_compare: |compare, reference, value| compare.holds(value.into(), reference.into()), ..sound }),
        Decision::Fails
    );
    assert_eq!(on(raster::Rules { stencil_op: |_, value, _| value, ..sound }), Decision::Fails);
}

#[test]
fn a_device_is_not_asked_for_stencils_and_says_so() {
    let Some(mut device) = device() else { return };
    let text =
        stencilled("S8_UINT", "    COMPARE_OP always", "    COMPARE_OP always", "EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255");
    let legs: Vec<Leg> = legs(&text, &Interpreter::default(), Some(&mut device));
    assert!(matches!(&legs[1].verdict, Verdict::Unchecked(why) if why.contains("stencils")), "{:?}", legs[1].verdict);
}

#[test]
fn packed_formats() {
    // 16/31 and 512/1023 are exact. The component named first is in the highest bits.
    for (format, colour, texel, rgb) in [
        ("R5G6B5_UNORM_PACK16", "1 0 0.516129", 31 << 11 | 16u32, "255 0 132"),
        ("B5G6R5_UNORM_PACK16", "1 0 0.516129", 16 << 11 | 31, "255 0 132"),
        ("A1R5G5B5_UNORM_PACK16", "1 0 0.516129", 63 << 10 | 16, "255 0 132"),
        ("R4G4B4A4_UNORM_PACK16", "1 0 0.2", 0xf03f, "255 0 51"),
        ("A2B10G10R10_UNORM_PACK32", "1 0 0.5004888", 3 << 30 | 512 << 20 | 1023, "255 0 128"),
        ("A8B8G8R8_UNORM_PACK32", "1 0 0.2", 0xff33_00ff, "255 0 51"),
    ] {
        let buffers = format!("BUFFER colour DATA_TYPE vec4<float> DATA {colour} 1 END\n");
        let pipeline = format!("{OF_ALL}  BIND BUFFER colour AS push_constant\n");
        let expect = format!("EXPECT target IDX 0 EQ {texel}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGB {rgb}");
        let text = script_of([PLAIN, PUSHED], format, &buffers, &pipeline, &format!("{DRAW_ALL}\n{expect}"));
        assert_eq!(decisions(&text), [Decision::Holds, Decision::Holds], "{format}");
        assert_eq!(decisions(&text.replace(&format!("EQ {texel}"), &format!("EQ {}", texel - 1)))[0], Decision::Fails, "{format}");
        // The printed script reads back as the same script.
        let script = read(&text).expect("a script");
        let again = read(&script.print().expect("printable")).expect("a script");
        assert_eq!(again.buffers, read(&again.print().expect("printable")).expect("a script").buffers);
    }
    // Half of 31 may be rounded either way, so the texel is one of several.
    let buffers = "BUFFER colour DATA_TYPE vec4<float> DATA 0.5 0 0 1 END\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER colour AS push_constant\n");
    let text = |expect: &str| script_of([PLAIN, PUSHED], "R5G6B5_UNORM_PACK16", buffers, &pipeline, &format!("{DRAW_ALL}\n{expect}"));
    assert_eq!(decisions(&text("EXPECT target IDX 0 EQ 0x8000")), [Decision::Undecided]);
    assert_eq!(decisions(&text("EXPECT target IDX 0 EQ 0x9000")), [Decision::Fails]);
    assert_eq!(decisions(&text("EXPECT target IDX 0 0 SIZE 1 1 EQ_RGB 128 0 0 TOLERANCE 0.03")), [Decision::Holds]);
    let mut device = device();
    let exact = script_of([PLAIN, RED], "A2B10G10R10_UNORM_PACK32", "", OF_ALL, &format!("{DRAW_ALL}\nEXPECT target IDX 0 EQ 0xc00003ff"));
    agrees(&exact, device.as_mut());
}

/// Planted bugs in packed formats, in a fetched texture and in a drawn attachment.
#[test]
fn planted_bugs_in_packed_formats_fail_the_scripts() {
    let fetches = Stage {
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0",
        variables: "%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%p_image = OpTypePointer UniformConstant %image\n\
                    %texture = OpVariable %p_image UniformConstant\n%i_1 = OpConstant %int 1\n%at = OpConstantComposite %ivec2 %i_1 %i_1",
        body: "%loaded = OpLoad %image %texture\n%c = OpImageFetch %vec4 %loaded %at Lod %u0\nOpStore %colour %c",
        ..PLAIN
    };
    // In 5 bits, 16/31 is 132 of 255.
    let packed = "R5G6B5_UNORM_PACK16";
    let buffers = format!("BUFFER texture FORMAT {packed} WIDTH 2 HEIGHT 2 DATA 0 0 0 {} END\n", 31 << 11 | 16);
    let pipeline = format!("{OF_ALL}  BIND BUFFER texture AS sampled_image DESCRIPTOR_SET 0 BINDING 0\n");
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 132 255 TOLERANCE 0.005");
    let text = script_of([PLAIN, fetches], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands);
    let images = image::Rules { unpack: |_, width, code| code as f64 / (1u64 << width) as f64, ..image::Rules::default() };
    fails_with(&text, Calculator { images, ..Calculator::default() });
    // A planted bug: the order of components is reversed, in a texture that is read and in an
    // attachment that is drawn.
    let drawn = "EXPECT target IDX 0 EQ 0xf800";
    for text in [text, script_of([PLAIN, RED], packed, "", OF_ALL, &format!("{DRAW_ALL}\n{drawn}"))] {
        let (right, other) = (script(&text), script(&text.replace(packed, "B5G6R5_UNORM_PACK16")));
        let mut wrong = right.clone();
        for (buffer, other) in wrong.buffers.iter_mut().zip(&other.buffers) {
            buffer.data_type = other.data_type.clone();
        }
        assert!(holds(&right, &Interpreter::default()) && !holds(&wrong, &Interpreter::default()), "{text}");
    }
}

#[test]
fn states_are_printed_as_they_are_read() {
    let blend = blended("R8G8B8A8_UNORM", "1 0 0 0.2", &equations(["src_alpha", "one_minus_src_alpha", "min"], KEEPS_ALPHA), "");
    let stencil = stencilled("D24_UNORM_S8_UINT", "    FAIL_OP invert\n    COMPARE_MASK 7", "    COMPARE_OP less\n    REFERENCE 1", "");
    for text in [blend, stencil] {
        let script = read(&text).expect("a script");
        let again = read(&script.print().expect("printable")).expect("what is printed");
        for (one, other) in script.pipelines.iter().zip(&again.pipelines) {
            assert_eq!((one.blend, one.stencil, &one.name), (other.blend, other.stencil, &other.name));
        }
    }
}

/// Points of a size at positions in normalized device coordinates.
fn points(size: &str, at: &str, expect: &str) -> String {
    let vertex = Stage {
        interface: "%size",
        decorations: "OpDecorate %size BuiltIn PointSize",
        variables: &format!("%size = OpVariable %p_out_float Output\n%is = OpConstant %float {size}"),
        body: "OpStore %size %is",
    };
    let buffers = format!("BUFFER at DATA_TYPE vec4<float> DATA {at} END\n");
    let commands = format!("CLEAR g\nRUN g DRAW_ARRAY AS POINT_LIST\n{expect}");
    script_of([vertex, RED], "R8G8B8A8_UNORM", &buffers, "  VERTEX_DATA at LOCATION 0\n", &commands)
}

#[test]
fn points_are_squares_around_their_vertices() {
    // Pixel (1, 2) has its centre at (1.5, 2.5). Pixels (5, 5) and (6, 6) share the corner (6, 6).
    let one = points("1", "-0.625 -0.375 0.5 1", "EXPECT target IDX 1 2 SIZE 1 1 EQ_RGBA 255 0 0 255");
    let others = "EXPECT target IDX 0 0 SIZE 8 2 EQ_RGBA 0 0 0 0\nEXPECT target IDX 2 2 SIZE 6 1 EQ_RGBA 0 0 0 0\n\
                  EXPECT target IDX 0 3 SIZE 8 5 EQ_RGBA 0 0 0 0";
    assert_eq!(decisions(&format!("{one}{others}\n")), [Decision::Holds; 4]);
    // A planted bug: the centre of a pixel is its corner.
    let raster = raster::Rules { centre: |pixel, sub_pixels| pixel * sub_pixels, ..raster::Rules::default() };
    assert!(!holds(&script(&one), &Interpreter { raster, ..Interpreter::default() }));
    let two =
        points("2", "0.5 0.5 0.5 1", "EXPECT target IDX 5 5 SIZE 2 2 EQ_RGBA 255 0 0 255\nEXPECT target IDX 4 4 SIZE 1 1 EQ_RGBA 0 0 0 0");
    assert_eq!(decisions(&two), [Decision::Holds; 2]);
    assert_eq!(
        decisions(&two.replace("IDX 4 4 SIZE 1 1 EQ_RGBA 0 0 0 0", "IDX 4 4 SIZE 1 1 EQ_RGBA 255 0 0 255")),
        [Decision::Holds, Decision::Fails]
    );
    // Two vertices give two points, here in different pixels.
    let both = points(
        "1",
        "-0.625 -0.375 0.5 1 0.625 0.375 0.5 1",
        "EXPECT target IDX 1 2 SIZE 1 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 6 5 SIZE 1 1 EQ_RGBA 255 0 0 255",
    );
    assert_eq!(decisions(&both), [Decision::Holds; 2]);
    // A point of size 1 on the corner of four pixels may cover any of them.
    let corner =
        points("1", "0.5 0.5 0.5 1", "EXPECT target IDX 5 5 SIZE 1 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 3 3 SIZE 1 1 EQ_RGBA 0 0 0 0");
    assert_eq!(decisions(&corner), [Decision::Undecided, Decision::Holds]);
    // A point with a size between 2 and 3 certainly covers the inner pixels.
    let between = points(
        "2.5",
        "0.5 0.5 0.5 1",
        "EXPECT target IDX 6 6 SIZE 1 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 7 7 SIZE 1 1 EQ_RGBA 0 0 0 0",
    );
    assert_eq!(decisions(&between), [Decision::Holds, Decision::Undecided]);
    // A point outside of the view volume may be dropped, or part of its square may be visible.
    let outside =
        points("4", "1.125 0.5 0.5 1", "EXPECT target IDX 7 5 SIZE 1 1 EQ_RGBA 0 0 0 0\nEXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 0 0 0 0");
    assert_eq!(decisions(&outside), [Decision::Undecided, Decision::Holds]);
    let mut device = device();
    for text in [format!("{one}{others}\n"), two, both] {
        agrees(&text, device.as_mut());
    }
}

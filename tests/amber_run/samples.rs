//! Scripts whose values depend on several samples per pixel: 8 by 8 pixels, computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};
use smallstep::run::amber::{Interpreter, Verdict};
use smallstep_semantics::raster;

use crate::graphics::{ALL, DRAW_ALL, OF_ALL, PLAIN, RED, Stage, script_of};
use crate::{decisions, device, legs, played_on};

/// A script with a triangle that covers everything left of x, in pixels. It is drawn red over
/// opaque black with that many samples, and resolved to `shown`.
fn left_of(x: f32, samples: u32, expect: &str) -> String {
    let right = x / 4.0 - 1.0;
    let left = right - 40.0;
    let buffers = format!(
        "BUFFER shown FORMAT R8G8B8A8_UNORM\nBUFFER half DATA_TYPE vec4<float> DATA {left} -40 0.5 1 {right} -40 0.5 1 {right} 40 0.5 1 END\n"
    );
    let pipeline = "  VERTEX_DATA half LOCATION 0\n  BIND BUFFER shown AS resolve\n";
    let commands = format!("CLEAR_COLOR g 0 0 0 255\nCLEAR g\n{DRAW_ALL}\n{expect}");
    script_of([PLAIN, RED], &format!("R8G8B8A8_UNORM SAMPLES {samples}"), &buffers, pipeline, &commands)
}

#[test]
fn a_pixel_has_as_much_of_a_colour_as_samples_are_covered() {
    // The x of the samples in column 3: with four samples 2, 6, 10 and 14 sixteenths, with two 4
    // and 12, with eight 1, 3, 5, 7, 9, 11, 13 and 15. One half of them is left of an edge at 3.5.
    for (samples, x, covered, of) in [(2, 3.5, 1, 2), (4, 3.5, 2, 4), (4, 3.25, 1, 4), (4, 3.75, 3, 4), (8, 3.75, 6, 8), (8, 3.125, 1, 8)] {
        let red = 255 * covered / of;
        let expect = format!(
            "EXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 255 0 0 255\nEXPECT shown IDX 4 0 SIZE 4 8 EQ_RGBA 0 0 0 255
EXPECT shown IDX 3 0 SIZE 1 8 EQ_RGBA {red} 0 0 255 TOLERANCE 0.005"
        );
        let text = left_of(x, samples, &expect);
        assert_eq!(decisions(&text), [Decision::Holds; 3], "{samples} samples, {x}");
        // Coverage by the pixel's centre would be all or nothing.
        for all in ["255", "0"] {
            let other = text.replace(&format!("EQ_RGBA {red} 0 0"), &format!("EQ_RGBA {all} 0 0"));
            assert_eq!(decisions(&other)[2], Decision::Fails, "{samples} samples, {x}");
        }
    }
    // An average may be rounded either way: half of 255.
    let text = left_of(3.5, 4, "EXPECT shown IDX 3 0 SIZE 1 1 EQ_RGBA 127 0 0 255");
    assert_eq!(decisions(&text), [Decision::Undecided]);
    // The edge goes through a sample.
    let text = left_of(3.375, 4, "EXPECT shown IDX 3 0 SIZE 1 1 EQ_RGBA 64 0 0 255 TOLERANCE 0.01");
    assert_eq!(decisions(&text), [Decision::Undecided]);
}

#[test]
fn samples_of_an_earlier_draw_stay() {
    // Red left of 3.5, then green left of 3.25: one of four samples is green and one is red.
    let green = Stage { variables: "%green = OpConstantComposite %vec4 %f0 %f1 %f0 %f1", body: "OpStore %colour %green", ..PLAIN };
    let text = left_of(3.5, 4, "");
    let second = left_of(3.25, 4, "");
    let (of_first, of_second) = (line_of(&text, "BUFFER half"), line_of(&second, "BUFFER half"));
    let shader = crate::graphics::shaders(PLAIN, green)
        .replace("#!amber\n", "")
        .replace("SHADER vertex v", "SHADER vertex vg")
        .replace("SHADER fragment f ", "SHADER fragment fg ");
    let text = text.replace(of_first, &format!("{of_first}\n{}\n{shader}", of_second.replace("BUFFER half", "BUFFER less")))
        + "PIPELINE graphics more\n  ATTACH vg\n  ATTACH fg\n  FRAMEBUFFER_SIZE 8 8\n  BIND BUFFER target AS color LOCATION 0
  VERTEX_DATA less LOCATION 0\n  BIND BUFFER shown AS resolve\nEND\nRUN more DRAW_ARRAY AS TRIANGLE_LIST
EXPECT shown IDX 3 0 SIZE 1 8 EQ_RGBA 64 64 0 255 TOLERANCE 0.005\nEXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 0 255 0 255\n";
    assert_eq!(decisions(&text), [Decision::Holds; 2]);
    assert_eq!(decisions(&text.replace("EQ_RGBA 64 64", "EQ_RGBA 0 64"))[0], Decision::Fails);
}

/// The line of a script that starts with this text.
fn line_of<'t>(text: &'t str, begin: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(begin)).expect("a line")
}

/// A vertex stage that passes the position on at location 1.
const PASSES_PLACE: Stage<'static> = Stage {
    interface: "%out",
    decorations: "OpDecorate %out Location 1",
    variables: "%out = OpVariable %p_out_vec4 Output",
    body: "OpStore %out %at",
};

#[test]
fn inputs_may_be_interpolated_anywhere_in_a_pixel() {
    let x = Stage {
        interface: "%place",
        decorations: "OpDecorate %place Location 1",
        variables: "%place = OpVariable %p_in_vec4 Input",
        body: "%c = OpLoad %vec4 %place\nOpStore %colour %c",
    };
    // x goes from -1 to 1 over eight columns, so 0.25 per column. Column 6 goes from 0.5 to 0.75.
    let buffers = "BUFFER shown FORMAT R32G32B32A32_SFLOAT\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER shown AS resolve\n");
    let of = |samples: &str, expect: &str| {
        let commands = format!("CLEAR g\n{DRAW_ALL}\nEXPECT shown IDX 96 {expect}");
        decisions(&script_of([PASSES_PLACE, x], &format!("R32G32B32A32_SFLOAT{samples}"), buffers, &pipeline, &commands))
    };
    // The depth 0.5 is the same at all samples. x is not.
    assert_eq!(of(" SAMPLES 4", "TOLERANCE 0.13 EQ 0.625"), [Decision::Undecided]);
}

const SAMPLED: Stage<'static> = Stage {
    interface: "%id",
    decorations: "OpDecorate %id BuiltIn SampleId\nOpDecorate %id Flat",
    variables: "%id = OpVariable %p_in_int Input",
    body: "",
};

/// A script that draws all pixels with four samples, resolved to `shown`. Its fragment stage may
/// run once per sample.
fn sampled(stage: Stage<'_>, format: &str, expect: &str) -> String {
    sampled_by([PLAIN, stage], format, expect)
}

fn sampled_by([vertex, stage]: [Stage<'_>; 2], format: &str, expect: &str) -> String {
    let variables = format!("%p_in_int = OpTypePointer Input %int\n%i0 = OpConstant %int 0\n%i3 = OpConstant %int 3\n{}", stage.variables);
    let buffers = format!("BUFFER shown FORMAT {format}\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER shown AS resolve\n");
    let commands = format!("CLEAR_COLOR g 0 0 0 255\nCLEAR g\n{DRAW_ALL}\n{expect}");
    let stage = Stage { variables: &variables, ..stage };
    let text = script_of([vertex, stage], &format!("{format} SAMPLES 4"), &buffers, &pipeline, &commands);
    let fragment = text.find("SHADER fragment").expect("a fragment stage");
    let (before, after) = text.split_at(fragment);
    before.to_string() + &after.replacen("OpCapability Shader", "OpCapability Shader\nOpCapability SampleRateShading", 1)
}

/// Red in the sample with number 3, a quarter. Green in the three samples whose number is not 0.
fn by_number() -> String {
    let body = "%n = OpLoad %int %id\n%is3 = OpIEqual %bool %n %i3\n%isnt0 = OpINotEqual %bool %n %i0
%r = OpSelect %float %is3 %f1 %f0\n%g = OpSelect %float %isnt0 %f1 %f0
%c = OpCompositeConstruct %vec4 %r %g %f0 %f1\nOpStore %colour %c";
    let expect = "EXPECT shown IDX 0 0 SIZE 8 8 EQ_RGBA 64 191 0 255 TOLERANCE 0.005";
    sampled(Stage { body, ..SAMPLED }, "R8G8B8A8_UNORM", expect)
}

/// The place of each sample in its pixel. The averages of x and y are a half. The average of x·x
/// over the standard places is 0.328125.
fn by_place() -> String {
    let stage = Stage {
        interface: "%place",
        decorations: "OpDecorate %place BuiltIn SamplePosition",
        variables: "%place = OpVariable %p_in_vec2 Input",
        body: "%at = OpLoad %vec2 %place\n%x = OpCompositeExtract %float %at 0\n%y = OpCompositeExtract %float %at 1\n%xx = OpFMul %float %x %x
%c = OpCompositeConstruct %vec4 %x %y %xx %f1\nOpStore %colour %c",
    };
    sampled(stage, "R32G32B32A32_SFLOAT", "EXPECT shown IDX 0 TOLERANCE 0.0001 EQ 0.5 0.5 0.328125 1")
}

/// Red where an input, interpolated at the samples, is left of 3.5. In column 3 these are half of
/// the samples.
fn by_input() -> String {
    let stage = Stage {
        interface: "%place",
        decorations: "OpDecorate %place Location 1\nOpDecorate %place Sample",
        variables: "%place = OpVariable %p_in_vec4 Input\n%edge = OpConstant %float -0.125",
        body: "%at = OpLoad %vec4 %place\n%x = OpCompositeExtract %float %at 0\n%left = OpFOrdLessThan %bool %x %edge
%r = OpSelect %float %left %f1 %f0\n%c = OpCompositeConstruct %vec4 %r %f0 %f0 %f1\nOpStore %colour %c",
    };
    let expect = "EXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 255 0 0 255\nEXPECT shown IDX 4 0 SIZE 4 8 EQ_RGBA 0 0 0 255
EXPECT shown IDX 3 0 SIZE 1 8 EQ_RGBA 128 0 0 255 TOLERANCE 0.005";
    sampled_by([PASSES_PLACE, stage], "R8G8B8A8_UNORM", expect)
}

/// A sample mask that keeps samples 0 and 2 of a red draw.
fn by_mask() -> String {
    let stage = Stage {
        interface: "%mask",
        decorations: "OpDecorate %mask BuiltIn SampleMask",
        variables: "%five = OpConstant %int 5\n%words = OpTypeArray %int %u1\n%p_words = OpTypePointer Output %words
%p_word = OpTypePointer Output %int\n%mask = OpVariable %p_words Output",
        body: "%word = OpAccessChain %p_word %mask %i0\nOpStore %word %five\nOpStore %colour %red",
    };
    sampled(stage, "R8G8B8A8_UNORM", "EXPECT shown IDX 0 0 SIZE 8 8 EQ_RGBA 128 0 0 255 TOLERANCE 0.005")
}

/// The mask that an invocation sees: all four samples, or its own with SampleId.
fn by_seen(each: bool) -> String {
    let types = "%words = OpTypeArray %int %u1\n%p_words = OpTypePointer Input %words
%mask = OpVariable %p_words Input\n%id = OpVariable %p_in_int Input\n%sixteenth = OpConstant %float 0.0625";
    let decorations = "OpDecorate %mask BuiltIn SampleMask\nOpDecorate %mask Flat\nOpDecorate %id BuiltIn SampleId\nOpDecorate %id Flat";
    // SampleId has this effect only if it is used.
    let used = if each { "%n = OpLoad %int %id\n" } else { "" };
    let body = "%word = OpAccessChain %p_in_int %mask %i0\n%seen = OpLoad %int %word\n%f = OpConvertSToF %float %seen
%r = OpFMul %float %f %sixteenth\n%c = OpCompositeConstruct %vec4 %r %f0 %f0 %f1\nOpStore %colour %c";
    let body = &format!("{used}{body}");
    let stage = Stage {
        interface: if each { "%mask %id" } else { "%mask" },
        decorations: if each { decorations } else { "OpDecorate %mask BuiltIn SampleMask\nOpDecorate %mask Flat" },
        variables: if each { types } else { &types.replace("%id = OpVariable %p_in_int Input\n", "") },
        body,
    };
    // 15 sixteenths, or the average of 1, 2, 4 and 8 sixteenths.
    let red = if each { 3.75 / 16.0 } else { 15.0 / 16.0 };
    sampled(stage, "R32G32B32A32_SFLOAT", &format!("EXPECT shown IDX 0 TOLERANCE 0.0001 EQ {red}"))
}

/// A green triangle over a red one at depth 0.4375. The depth of the green one grows by an eighth
/// per column, and passes the red one between the samples of column 3.
fn by_depth() -> String {
    let less = "DEPTH\n    TEST on\n    WRITE on\n    COMPARE_OP less\n  END";
    // The depth is x/8 with x in pixels: 0 at the left edge, 2 at the corner 16 pixels away.
    let buffers = "BUFFER first DATA_TYPE vec4<float> DATA -1 -1 0.4375 1 3 -1 0.4375 1 -1 3 0.4375 1 END
BUFFER second DATA_TYPE vec4<float> DATA -1 -1 0 1 1 -1 1 1 -1 7 0 1 END\n";
    let expect = "EXPECT shown IDX 0 0 SIZE 3 4 EQ_RGBA 0 255 0 255\nEXPECT shown IDX 4 0 SIZE 2 4 EQ_RGBA 255 0 0 255
EXPECT shown IDX 3 0 SIZE 1 4 EQ_RGBA 128 128 0 255 TOLERANCE 0.005";
    red_then_green("D32_SFLOAT", buffers, [less, less], &format!("CLEAR_DEPTH r 1\n{DRAWN_TWICE}{expect}"))
}

/// A stencil of 1 in the samples left of 3.5, half of those in column 3. All other samples are
/// drawn green.
fn by_stencil() -> String {
    let stencil = |lines: &str| format!("STENCIL front_and_back\n    TEST on\n    REFERENCE 1\n{lines}\n  END");
    let (mark, others) = (stencil("    PASS_OP replace"), stencil("    COMPARE_OP not_equal"));
    let buffers = format!("{}\n{}", line_of(&left_of(3.5, 4, ""), "BUFFER half").replace("half", "first"), ALL.replace("all", "second"));
    let expect = "EXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 255 0 0 255\nEXPECT shown IDX 4 0 SIZE 4 8 EQ_RGBA 0 255 0 255
EXPECT shown IDX 3 0 SIZE 1 8 EQ_RGBA 128 128 0 255 TOLERANCE 0.005";
    red_then_green("S8_UINT", &buffers, [&mark, &others], &format!("CLEAR_STENCIL r 0\n{DRAWN_TWICE}{expect}"))
}

const DRAWN_TWICE: &str = "CLEAR_COLOR r 0 0 0 255\nCLEAR r\nRUN r DRAW_ARRAY AS TRIANGLE_LIST\nRUN g DRAW_ARRAY AS TRIANGLE_LIST\n";

/// The pipelines `r` and `g` with four samples. `r` draws the vertices of `first` red, and `g`
/// those of `second` green. `tests` are their tests of an attachment of that format.
fn red_then_green(format: &str, buffers: &str, tests: [&str; 2], commands: &str) -> String {
    let green = Stage { variables: "%green = OpConstantComposite %vec4 %f0 %f1 %f0 %f1", body: "OpStore %colour %green", ..PLAIN };
    let of = |stage, suffix: &str| {
        let text = crate::graphics::shaders(PLAIN, stage).replace("#!amber\n", "");
        text.replace("SHADER vertex v", &format!("SHADER vertex v{suffix}"))
            .replace("SHADER fragment f ", &format!("SHADER fragment f{suffix} "))
    };
    let pipeline = |name: &str, tests: &str, data: &str| {
        format!(
            "PIPELINE graphics {name}\n  ATTACH v{name}\n  ATTACH f{name}\n  FRAMEBUFFER_SIZE 8 8
  BIND BUFFER target AS color LOCATION 0\n  BIND BUFFER tested AS depth_stencil\n  {tests}
  VERTEX_DATA {data} LOCATION 0\n  BIND BUFFER shown AS resolve\nEND\n"
        )
    };
    format!(
        "#!amber\n{}{}BUFFER target FORMAT R8G8B8A8_UNORM SAMPLES 4\nBUFFER tested FORMAT {format} SAMPLES 4
BUFFER shown FORMAT R8G8B8A8_UNORM\n{buffers}{}{}{commands}\n",
        of(RED, "r"),
        of(green, "g"),
        pipeline("r", tests[0], "first"),
        pipeline("g", tests[1], "second")
    )
}

#[test]
fn samples_are_shaded_masked_and_tested_one_by_one() {
    for text in [by_number(), by_place(), by_input(), by_mask(), by_seen(false), by_seen(true), by_depth(), by_stencil()] {
        let decided = decisions(&text);
        assert!(decided.iter().all(|decision| *decision == Decision::Holds), "{decided:?}\n{text}");
        // With one sample at the pixel's centre, every script shows something else.
        let last = text.rfind("EXPECT").expect("an expectation");
        let (before, after) = text.split_at(last);
        for (from, to) in [("64 191", "0 191"), ("0.328125", "0.25"), ("128 0", "255 0"), ("128 128", "255 0"), ("EQ 0.", "EQ 0.5")] {
            let other = before.to_string() + &after.replacen(from, to, 1);
            if other != text {
                assert_eq!(decisions(&other).last(), Some(&Decision::Fails), "{other}");
            }
        }
    }
}

#[test]
fn planted_bugs_in_single_samples_fail_the_scripts() {
    let sound = raster::Rules::default();
    let on = |text: &str, raster| {
        let played = played_on(text, &Interpreter { raster, ..Interpreter::default() }).0;
        played.last().map(|(decision, _)| *decision)
    };
    for (text, wrong) in [
        (by_number(), raster::Rules { sample_id: |_| 0, ..sound }),
        (by_number(), raster::Rules { sample_id: |sample| sample / 2, ..sound }),
        (by_place(), raster::Rules { sample: |_, _| [8, 8], ..sound }),
        (by_mask(), raster::Rules { in_mask: |mask, _| mask & 1 == 1, ..sound }),
        (by_depth(), raster::Rules { sample: |_, _| [1, 8], ..sound }),
        (by_input(), raster::Rules { sample: |_, _| [1, 8], ..sound }),
        (by_stencil(), raster::Rules { sample: |_, _| [1, 8], ..sound }),
    ] {
        assert_eq!(on(&text, sound), Some(Decision::Holds), "{text}");
        assert_eq!(on(&text, wrong), Some(Decision::Fails), "{text}");
    }
}

#[test]
fn images_of_several_samples_print_as_they_are_read() {
    let text = left_of(3.5, 4, "EXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 255 0 0 255");
    let script = read(&text).expect("a script");
    let again = read(&script.print().expect("printable")).expect("what is printed");
    assert_eq!((again.buffers[0].samples, again.buffers[0].items), (4, 256));
    assert_eq!(again.pipelines[0].resolves, script.pipelines[0].resolves);
    // No device gets such a script, and the verdict says so.
    let Some(mut device) = device() else { return };
    let legs = legs(&text, &Interpreter::default(), Some(&mut device));
    assert!(matches!(&legs[1].verdict, Verdict::Unchecked(why) if why.contains("several samples")), "{:?}", legs[1].verdict);
}

#[test]
fn what_has_several_samples_is_refused_elsewhere() {
    let text = left_of(3.5, 4, "EXPECT shown IDX 0 0 SIZE 3 8 EQ_RGBA 255 0 0 255");
    for (from, to, said) in [
        ("EXPECT shown", "EXPECT target", "EXPECT of an image of several samples"),
        ("  BIND BUFFER shown AS resolve", "  BIND BUFFER target AS resolve", "is resolved to"),
        ("  BIND BUFFER shown AS resolve", "  BIND BUFFER shown AS resolve\n  BIND BUFFER shown AS resolve", "resolves 2 attachments"),
        ("SAMPLES 4", "", "is resolved to"),
        (
            "  BIND BUFFER shown AS resolve",
            "  BIND BUFFER target AS sampled_image DESCRIPTOR_SET 0 BINDING 0",
            "a descriptor of an image of several",
        ),
    ] {
        let errors = read(&text.replacen(from, to, 1)).expect_err(to);
        assert!(errors.iter().any(|error| error.to_string().contains(said)), "{errors:?}");
    }
}

#[test]
fn planted_bugs_in_samples_fail_the_scripts() {
    let sound = raster::Rules::default();
    let text = left_of(3.25, 4, "EXPECT shown IDX 3 0 SIZE 1 8 EQ_RGBA 64 0 0 255 TOLERANCE 0.005");
    let on = |raster| played_on(&text, &Interpreter { raster, ..Interpreter::default() }).0[0].0;
    assert_eq!(on(sound), Decision::Holds);
    assert_eq!(on(raster::Rules { sample: |_, _| [8, 8], ..sound }), Decision::Fails);
    assert_eq!(on(raster::Rules { sample: |_, sample| [2 + 8 * i64::from(sample % 2), 8], ..sound }), Decision::Fails);
}

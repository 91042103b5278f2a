//! Scripts that draw 8 by 8 pixels, on the interpreter and on a device. The expectations are
//! computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, Initial};
use smallstep::gpu::Device;
use smallstep::run::amber::{End, Interpreter, Leg, Side, Verdict};
use smallstep_semantics::raster;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::step::{self, Config, Env, Next, Rules};
use smallstep_semantics::undefined::Ub;

use crate::common::STAGE_TYPES;
use crate::images::without_actions;
use crate::{decisions, device, holds, legs, played, played_on, script};

/// The parts of a stage that a test chooses: interface, decorations, variables, and the body.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stage<'t> {
    pub(crate) interface: &'t str,
    pub(crate) decorations: &'t str,
    pub(crate) variables: &'t str,
    pub(crate) body: &'t str,
}

/// The shaders `v` and `f`. The vertex stage stores `%at`, the attribute at location 0, as the
/// position. The fragment stage has the output `%colour` at location 0, unless its own variables
/// declare it.
pub(crate) fn shaders(vertex: Stage<'_>, fragment: Stage<'_>) -> String {
    let own = fragment.variables.contains("%colour = ");
    let colour = if own { "" } else { "%colour = OpVariable %p_out_vec4 Output" };
    let Stage { interface: vi, decorations: vd, variables: vv, body: vb } = vertex;
    let Stage { interface: fi, decorations: fd, variables: fv, body: fb } = fragment;
    format!(
        "#!amber
SHADER vertex v SPIRV-ASM TARGET_ENV spv1.3
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %corner %position {vi}
OpDecorate %corner Location 0
OpDecorate %position BuiltIn Position
{vd}
{STAGE_TYPES}%corner = OpVariable %p_in_vec4 Input
%position = OpVariable %p_out_vec4 Output
{vv}
%main = OpFunction %void None %function
%start = OpLabel
%at = OpLoad %vec4 %corner
OpStore %position %at
{vb}
OpReturn
OpFunctionEnd
END
SHADER fragment f SPIRV-ASM TARGET_ENV spv1.3
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %colour {fi}
OpExecutionMode %main OriginUpperLeft
OpDecorate %colour Location 0
{fd}
{STAGE_TYPES}{colour}
{fv}
%main = OpFunction %void None %function
%start = OpLabel
{fb}
OpReturn
OpFunctionEnd
END
"
    )
}

/// A triangle that covers all pixels, with no edge near the centre of a pixel, and the command that
/// draws it.
pub(crate) const ALL: &str = "BUFFER all DATA_TYPE vec4<float> DATA -1 -1 0.5 1 3 -1 0.5 1 -1 3 0.5 1 END\n";
pub(crate) const DRAW_ALL: &str = "RUN g DRAW_ARRAY AS TRIANGLE_LIST";

/// A script with a pipeline `g` whose target has that format.
pub(crate) fn script_of(stages: [Stage<'_>; 2], format: &str, buffers: &str, pipeline: &str, commands: &str) -> String {
    format!(
        "{}BUFFER target FORMAT {format}\n{ALL}{buffers}PIPELINE graphics g\n  ATTACH v\n  ATTACH f\n  FRAMEBUFFER_SIZE 8 8\n  \
         BIND BUFFER target AS color LOCATION 0\n{pipeline}END\n{commands}\n",
        shaders(stages[0], stages[1])
    )
}

pub(crate) const PLAIN: Stage<'static> = Stage { interface: "", decorations: "", variables: "", body: "" };
pub(crate) const RED: Stage<'static> = Stage { body: "OpStore %colour %red", ..PLAIN };
pub(crate) const OF_ALL: &str = "  VERTEX_DATA all LOCATION 0\n";

/// Requires that the interpreter decides every component, that the expectations hold, and that a
/// device shows the same. Returns the legs.
#[track_caller]
pub(crate) fn agrees(text: &str, device: Option<&mut Device>) -> Vec<Leg> {
    let legs = legs(text, &Interpreter::default(), device);
    for leg in &legs {
        assert_eq!(leg.verdict, Verdict::Agree, "{}\n{text}", leg.name);
        assert_eq!(leg.compared.left, 0, "{text}");
    }
    legs
}

/// Requires [`agrees`]. With `wrong` in place of `right`, the expectations must fail on the
/// interpreter and on the device.
#[track_caller]
pub(crate) fn agrees_and_not(text: &str, right: &str, wrong: &str, mut device: Option<&mut Device>) {
    agrees(text, device.as_deref_mut());
    let other = text.replacen(right, wrong, 1);
    assert_ne!(other, text);
    for leg in legs(&other, &Interpreter::default(), device) {
        assert!(matches!(&leg.verdict, Verdict::Disagree(d) if d.between.0 == Side::Script), "{}: {:?}\n{other}", leg.name, leg.verdict);
    }
}

/// The vertex stage passes the colour at location 1 on. The fragment stage takes it flat.
const PASSES_COLOUR: Stage<'static> = Stage {
    interface: "%in_colour %out_colour",
    decorations: "OpDecorate %in_colour Location 1\nOpDecorate %out_colour Location 1\nOpDecorate %out_colour Flat",
    variables: "%in_colour = OpVariable %p_in_vec4 Input\n%out_colour = OpVariable %p_out_vec4 Output",
    body: "%c = OpLoad %vec4 %in_colour\nOpStore %out_colour %c",
};
const TAKES_COLOUR: Stage<'static> = Stage {
    interface: "%given",
    decorations: "OpDecorate %given Location 1\nOpDecorate %given Flat",
    variables: "%given = OpVariable %p_in_vec4 Input",
    body: "%c = OpLoad %vec4 %given\nOpStore %colour %c",
};

#[test]
fn attributes_and_indices() {
    let mut device = device();
    // The first vertex is the provoking vertex: green with the indices, red without.
    let buffers = "BUFFER colours DATA_TYPE R8G8B8A8_UNORM DATA 255 0 0 255 0 255 0 255 0 0 255 255 END\nBUFFER order DATA_TYPE uint16 DATA 1 2 0 END\n";
    let pipeline = format!("{OF_ALL}  VERTEX_DATA colours LOCATION 1\n");
    let expect = "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255";
    let plain = script_of([PASSES_COLOUR, TAKES_COLOUR], "R8G8B8A8_UNORM", buffers, &pipeline, &format!("{DRAW_ALL}\n{expect}"));
    agrees_and_not(&plain, "EQ_RGBA 255 0 0", "EQ_RGBA 0 255 0", device.as_mut());
    let indexed =
        plain.replace("  VERTEX_DATA all", "  INDEX_DATA order\n  VERTEX_DATA all").replace("TRIANGLE_LIST", "TRIANGLE_LIST INDEXED");
    for width in ["uint8", "uint16", "uint32"] {
        let indexed = indexed.replace("uint16", width).replace("EQ_RGBA 255 0 0", "EQ_RGBA 0 255 0");
        agrees_and_not(&indexed, "EQ_RGBA 0 255 0", "EQ_RGBA 255 0 0", device.as_mut());
        // A planted bug: the indices as they appear to a reader that takes the last index first.
        let mut wrong = script(&indexed);
        assert!(holds(&wrong, &Interpreter::default()));
        let order = wrong.buffers.iter_mut().find(|buffer| buffer.name == "order").expect("the indices");
        order.initial = Initial::Data([0, 2, 1].into());
        assert!(!holds(&wrong, &Interpreter::default()), "{width}");
    }
}

#[test]
fn instances() {
    let mut device = device();
    // The vertices are the corners of the left half. Instance 1 moves to the right half, since the
    // red of its colour attribute is 1.
    let vertex = Stage {
        body: "%c = OpLoad %vec4 %in_colour\nOpStore %out_colour %c
%shift = OpCompositeExtract %float %c 0\n%x = OpCompositeExtract %float %at 0\n%sum = OpFAdd %float %x %shift
%moved = OpCompositeInsert %vec4 %sum %at 0\nOpStore %position %moved",
        ..PASSES_COLOUR
    };
    let buffers =
        "BUFFER left DATA_TYPE vec2<float> DATA -1 -1 -1 1 0 -1 0 1 END\nBUFFER colours DATA_TYPE vec4<float> DATA 0 1 0 1 1 0 0 1 END\n";
    let pipeline = "  VERTEX_DATA left LOCATION 0\n  VERTEX_DATA colours LOCATION 1 RATE instance\n";
    let commands = "RUN g DRAW_ARRAY AS TRIANGLE_STRIP START_IDX 0 COUNT 4 START_INSTANCE 0 INSTANCE_COUNT 2
EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 0 255 0 255
EXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 255 0 0 255";
    let text = script_of([vertex, TAKES_COLOUR], "B8G8R8A8_UNORM", buffers, pipeline, commands);
    agrees_and_not(&text, "IDX 0 0 SIZE 4 8", "IDX 0 0 SIZE 5 8", device.as_mut());
    // A planted bug: every triangle of the strip is the first.
    let raster = raster::Rules { assemble: |topology, _| topology.triangle(0), ..raster::Rules::default() };
    assert!(!holds(&script(&text), &Interpreter { raster, ..Interpreter::default() }));
}

/// A fragment stage whose colour comes from push constants.
pub(crate) const PUSHED: Stage<'static> = Stage {
    interface: "",
    decorations: "OpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block",
    variables: "%block = OpTypeStruct %vec4\n%p_block = OpTypePointer PushConstant %block\n%p_member = OpTypePointer PushConstant %vec4
%pushed = OpVariable %p_block PushConstant",
    body: "%p = OpAccessChain %p_member %pushed %u0\n%c = OpLoad %vec4 %p\nOpStore %colour %c",
};

#[test]
fn push_constants() {
    let mut device = device();
    let buffers = "BUFFER colour DATA_TYPE vec4<float> DATA 0 0 1 0 END\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER colour AS push_constant\n");
    let expect = "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 0 255 0";
    let text = script_of([PLAIN, PUSHED], "R8G8B8A8_UNORM", buffers, &pipeline, &format!("{DRAW_ALL}\n{expect}"));
    agrees_and_not(&text, "EQ_RGBA 0 0 255 0", "EQ_RGBA 0 0 255 255", device.as_mut());
    let (_, end) = played(&text.replace("  BIND BUFFER colour AS push_constant\n", ""));
    assert!(matches!(&end, Some(End::Invalid(why)) if why.contains("needs 16 bytes of push constants")), "{end:?}");
}

#[test]
fn depths_are_tested_as_the_script_says() {
    let mut device = device();
    let buffers = "BUFFER depth FORMAT D32_SFLOAT
BUFFER near DATA_TYPE vec4<float> DATA -1 -1 0.25 1 3 -1 0.25 1 -1 3 0.25 1 END
BUFFER far DATA_TYPE vec4<float> DATA -1 -1 0.75 1 3 -1 0.75 1 -1 3 0.75 1 END
BUFFER green DATA_TYPE vec4<float> DATA 0 1 0 1 END
BUFFER red DATA_TYPE vec4<float> DATA 1 0 0 1 END
BUFFER blue DATA_TYPE vec4<float> DATA 0 0 1 1 END\n";
    let pipeline = format!(
        "{OF_ALL}  BIND BUFFER green AS push_constant\n  BIND BUFFER depth AS depth_stencil\n  DEPTH\n    TEST on\n    WRITE on\n    COMPARE_OP less\n  END\n"
    );
    // A draw of everything at depth 0.5, then a nearer left half, then a farther draw
    // of everything.
    let more =
        "DERIVE_PIPELINE left FROM g\n  VIEWPORT 0 0 SIZE 4 8\n  VERTEX_DATA near LOCATION 0\n  BIND BUFFER red AS push_constant\nEND
DERIVE_PIPELINE behind FROM g\n  VERTEX_DATA far LOCATION 0\n  BIND BUFFER blue AS push_constant\nEND";
    let commands = format!(
        "{more}\nCLEAR g\n{DRAW_ALL}\nRUN left DRAW_ARRAY AS TRIANGLE_LIST\nRUN behind DRAW_ARRAY AS TRIANGLE_LIST
EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255\nEXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 0 255 0 255"
    );
    let text = script_of([PLAIN, PUSHED], "R8G8B8A8_UNORM", buffers, &pipeline, &commands);
    // The stored depths are interpolated, and no precision is stated for interpolation. The colours
    // are decided all the same.
    let both = legs(&text, &Interpreter::default(), device.as_mut());
    assert_eq!(both[0].verdict, Verdict::Agree);
    for leg in &both[1..] {
        assert!(matches!(&leg.verdict, Verdict::Undecided(why) if why.contains("256 bytes of depth are not decided")), "{leg:?}");
        // After each of four commands, 256 of 512 bytes are not compared.
        assert_eq!((leg.compared.expectations, leg.compared.bytes, leg.compared.left), (2, 1216, 1024), "{leg:?}");
    }
    // Without the depth test, the last draw is in front.
    let off = text.replace("TEST on", "TEST off").replace("EQ_RGBA 255 0 0 255", "EQ_RGBA 0 0 255 255");
    agrees(&off.replace("EQ_RGBA 0 255 0 255", "EQ_RGBA 0 0 255 255"), device.as_mut());
    let greater = text.replace("COMPARE_OP less", "COMPARE_OP greater").replace("CLEAR g", "CLEAR_DEPTH g 0\nCLEAR g");
    assert_eq!(
        decisions(&greater.replace("EQ_RGBA 255 0 0 255", "EQ_RGBA 0 0 255 255").replace("EQ_RGBA 0 255 0 255", "EQ_RGBA 0 0 255 255")),
        [Decision::Holds; 2]
    );
}

/// A script that draws red at depth 0.5 over green and a cleared depth, with a DEPTH block, and
/// expects one colour.
fn with_depth(format: &str, cleared: &str, block: &str, colour: &str) -> String {
    let buffers = format!("BUFFER depth FORMAT {format}\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER depth AS depth_stencil\n  DEPTH\n{block}  END\n");
    let commands = format!(
        "CLEAR_COLOR g 0 255 0 255\nCLEAR_DEPTH g {cleared}\nCLEAR g\n{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA {colour} 0 255"
    );
    script_of([PLAIN, RED], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands)
}

const DRAWN: &str = "255 0";
const CLEARED: &str = "0 255";

#[test]
fn depth_bounds_are_of_the_stored_depth() {
    let mut device = device();
    for (bounds, colour) in
        [("0 max 0.25", DRAWN), ("0.25 max 1", DRAWN), ("0.26 max 1", CLEARED), ("0 max 0.24", CLEARED), ("0.5 max 0", CLEARED)]
    {
        // The bounds test uses the stored depth and not the fragment's 0.5. It applies with the
        // depth test off, too. Such a test passes everything and stores nothing.
        for test in ["TEST off", "TEST on\n    WRITE off\n    COMPARE_OP always", "TEST on\n    COMPARE_OP greater"] {
            let text = with_depth("D32_SFLOAT", "0.25", &format!("    {test}\n    BOUNDS min {bounds}\n"), colour);
            assert_eq!(decisions(&text), [Decision::Holds], "{text}");
            let other = if colour == DRAWN { CLEARED } else { DRAWN };
            assert_eq!(decisions(&text.replace(&format!("EQ_RGBA {colour}"), &format!("EQ_RGBA {other}"))), [Decision::Fails]);
        }
    }
    let text = with_depth("D32_SFLOAT", "0.25", "    BOUNDS min 0 max 0.25\n", DRAWN);
    assert!(matches!(&legs(&text, &Interpreter::default(), None)[0].verdict, Verdict::Agree));
    for leg in legs(&text, &Interpreter::default(), device.as_mut()).iter().skip(1) {
        assert!(matches!(&leg.verdict, Verdict::Unchecked(why) if why.contains("depth bounds")), "{:?}", leg.verdict);
    }
    // A device may round a bound to a neighbouring code. It may not round 0 and 1, which are codes.
    for (bounds, decision) in [
        ("0 max 1", Decision::Holds),
        ("1 max 1", Decision::Holds),
        ("0.9 max 1", Decision::Holds),
        ("0.99999 max 1", Decision::Undecided),
        ("0 max 0.99999", Decision::Undecided),
        ("0 max 0.9999", Decision::Fails),
    ] {
        assert_eq!(decisions(&with_depth("D16_UNORM", "1", &format!("    BOUNDS min {bounds}\n"), DRAWN)), [decision], "{bounds}");
    }
    let (_, end) = played(&with_depth("D32_SFLOAT", "0.25", "    BOUNDS min 0 max 1.5\n", DRAWN));
    assert!(matches!(&end, Some(End::Unsupported(why)) if why.contains("depth bounds are not within 0 and 1")), "{end:?}");
}

#[test]
fn a_depth_bias_moves_depths() {
    let mut device = device();
    let bias = |cleared: &str, bias: &str, colour: &str| {
        with_depth("D32_SFLOAT", cleared, &format!("    TEST on\n    COMPARE_OP less\n    BIAS {bias}\n"), colour)
    };
    // Between 0.5 and 1 the greatest exponent is -1, so 2^20 units of 2^-24 are 1/16.
    for (cleared, factors, colour) in [
        ("0.45", "constant -1048576 clamp 0 slope 0", DRAWN),
        ("0.43", "constant -1048576 clamp 0 slope 0", CLEARED),
        ("0.55", "constant 1048576 clamp 0 slope 0", CLEARED),
        ("0.57", "constant 1048576 clamp 0 slope 0", DRAWN),
        ("0.45", "constant -1048576 clamp -0.01 slope 0", CLEARED),
        ("0.495", "constant -1048576 clamp -0.01 slope 0", DRAWN),
        ("0.505", "constant 1048576 clamp 0.01 slope 0", CLEARED),
        // The clamp bounds one side only.
        ("0.45", "constant -1048576 clamp 0.01 slope 0", DRAWN),
        // The triangle has no slope.
        ("0.45", "constant 0 clamp 0 slope -100", CLEARED),
    ] {
        agrees(&bias(cleared, factors, colour), device.as_mut());
    }
    agrees_and_not(&bias("0.45", "constant -1048576 clamp 0 slope 0", DRAWN), "constant -1048576", "constant -524288", device.as_mut());
    // The depth starts at 0.25 and grows by 1/32 per column.
    let sloped = |slope: &str, columns: &str| {
        let text = bias("0.2", &format!("constant 0 clamp 0 slope {slope}"), DRAWN);
        let text = text.replace(ALL, "BUFFER all DATA_TYPE vec4<float> DATA -1 -1 0.25 1 3 -1 0.75 1 -1 3 0.25 1 END\n");
        text.replace("SIZE 8 8 EQ_RGBA", &format!("SIZE {columns} 8 EQ_RGBA"))
    };
    agrees_and_not(&sloped("-4", "2"), "SIZE 2 8", "SIZE 3 8", device.as_mut());
    agrees_and_not(&sloped("-5", "3"), "slope -5", "slope -4", device.as_mut());
    assert_eq!(decisions(&sloped("4", "1")), [Decision::Fails]);
    // The resolution of an integer depth format is the device's choice. 20,000 units may be
    // anything up to 0.61, and a depth beyond 1 is unspecified.
    let fixed = |factors: &str| decisions(&bias("1", factors, DRAWN).replace("D32_SFLOAT", "D16_UNORM"))[0];
    let of = ["constant 10000 clamp 0 slope 0", "constant 20000 clamp 0 slope 0", "constant 20000 clamp 0.4 slope 0"];
    assert_eq!(of.map(fixed), [Decision::Holds, Decision::Undecided, Decision::Holds]);
    // A planted bug: the clamp is ignored.
    let planted = raster::Rules { depth_bias: |slope, constant, _| slope + constant, ..raster::Rules::default() };
    let clamped = bias("0.45", "constant -1048576 clamp -0.01 slope 0", CLEARED);
    let (expected, _) = played_on(&clamped, &Interpreter { raster: planted, ..Interpreter::default() });
    assert_eq!(expected[0].0, Decision::Fails);
    // wgpu takes only an integer number of units.
    for leg in legs(&bias("0.45", "constant -1048576.5 clamp 0 slope 0", DRAWN), &Interpreter::default(), device.as_mut()).iter().skip(1) {
        assert!(matches!(&leg.verdict, Verdict::Unchecked(why) if why.contains("wgpu's is an integer")), "{:?}", leg.verdict);
    }
}

#[test]
fn attachments_typed_by_data_type() {
    let mut device = device();
    let float = Stage { variables: "%colour = OpVariable %p_out_float Output", body: "OpStore %colour %half", ..PLAIN };
    let formatted = script_of([PLAIN, float], "R32_SFLOAT", "", OF_ALL, &format!("{DRAW_ALL}\nEXPECT target IDX 252 EQ 0.5"));
    for shape in ["SIZE 64", "WIDTH 8 HEIGHT 8"] {
        let text = formatted.replace("target FORMAT R32_SFLOAT", &format!("target DATA_TYPE float {shape} FILL 3"));
        agrees_and_not(&text, "EQ 0.5", "EQ 3", device.as_mut());
        // Pixels without a draw keep the contents that DATA_TYPE declares.
        agrees(&text.replace(&format!("{DRAW_ALL}\n"), "").replace("EQ 0.5", "EQ 3"), device.as_mut());
    }
    // Two components, of which the stage writes the first. The texel of 8 bytes at (7, 3) ends
    // where the texel of 4 bytes at (7, 7) ended.
    let wide = formatted.replace("target FORMAT R32_SFLOAT", "target DATA_TYPE vec2<float> SIZE 64 FILL 3").replace("IDX 252", "IDX 248");
    assert_eq!(decisions(&wide), [Decision::Holds]);
    assert_eq!(decisions(&wide.replace("IDX 248", "IDX 252")), [Decision::Undefined]);
}

#[test]
fn rectangles_are_culled_by_their_winding() {
    let mut device = device();
    let text = |state: &str, colour: &str| {
        let commands = format!(
            "CLEAR_COLOR g 0 255 0 255\nCLEAR g\nRUN g DRAW_RECT POS 0 0 SIZE 8 8\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA {colour}"
        );
        script_of([PLAIN, RED], "R8G8B8A8_UNORM", "", state, &commands)
    };
    let (drawn, cleared) = ("255 0 0 255", "0 255 0 255");
    for (state, colour) in [
        ("", drawn),
        ("  CULL_MODE back\n", cleared),
        ("  CULL_MODE front\n", drawn),
        ("  CULL_MODE front\n  FRONT_FACE clockwise\n", cleared),
        ("  CULL_MODE back\n  FRONT_FACE clockwise\n", drawn),
    ] {
        agrees(&text(state, colour), device.as_mut());
        agrees(&text(state, colour).replace("DRAW_RECT POS 0 0 SIZE 8 8", "DRAW_GRID POS 0 0 SIZE 8 8 CELLS 2 4"), device.as_mut());
    }
    // wgpu cannot cull both faces.
    assert_eq!(decisions(&text("  CULL_MODE front_and_back\n", cleared)), [Decision::Holds]);
}

#[test]
fn rectangles_and_viewports() {
    let mut device = device();
    let commands = "CLEAR g\nRUN g DRAW_RECT POS 2 1 SIZE 4 3
EXPECT target IDX 2 1 SIZE 4 3 EQ_RGBA 255 0 0 255
EXPECT target IDX 0 0 SIZE 8 1 EQ_RGBA 0 0 0 0
EXPECT target IDX 0 4 SIZE 8 4 EQ_RGBA 0 0 0 0
EXPECT target IDX 6 0 SIZE 2 8 EQ_RGBA 0 0 0 0";
    let text = script_of([PLAIN, RED], "R8G8B8A8_UNORM", "", "", commands);
    agrees_and_not(&text, "IDX 2 1 SIZE 4 3", "IDX 2 1 SIZE 4 4", device.as_mut());
    let viewport = text.replace("DRAW_RECT POS 2 1 SIZE 4 3", "DRAW_ARRAY AS TRIANGLE_LIST");
    let viewport = viewport.replace("  BIND BUFFER target", "  VIEWPORT 2 1 SIZE 4 3\n  VERTEX_DATA all LOCATION 0\n  BIND BUFFER target");
    agrees(&viewport, device.as_mut());
}

#[test]
fn fractions_are_sets_and_floats_and_integers_exact() {
    let mut device = device();
    let grey = Stage { body: "OpStore %colour %grey", ..PLAIN };
    let expect = "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGB 128 128 128 TOLERANCE 0.004";
    let text = script_of([PLAIN, grey], "R8G8B8A8_UNORM", "", OF_ALL, &format!("{DRAW_ALL}\n{expect}"));
    // In each of 64 texels, three of four components are 127 or 128. They are compared after the
    // RUN and at the end.
    for leg in agrees(&text, device.as_mut()).iter().skip(1) {
        assert_eq!(leg.compared.one_of, 2 * 3 * 64);
    }
    for (check, decision) in [
        ("IDX 0 EQ 128", Decision::Undecided),
        ("IDX 0 EQ 127", Decision::Undecided),
        ("IDX 0 TOLERANCE 1 EQ 127", Decision::Holds),
        ("IDX 0 GE 127", Decision::Holds),
        ("IDX 0 EQ 126", Decision::Fails),
        ("IDX 0 TOLERANCE 1 EQ 125", Decision::Fails),
        ("IDX 3 EQ 255", Decision::Holds),
        ("IDX 0 0 SIZE 1 1 EQ_RGB 128 128 128", Decision::Undecided),
        ("IDX 0 0 SIZE 1 1 EQ_RGB 120 128 128", Decision::Fails),
    ] {
        assert_eq!(decisions(&text.replace(expect, &format!("EXPECT target {check}"))), [decision], "{check}");
    }
    let (decided, end) = played(&text.replace(expect, "EXPECT target IDX 0 EQ 128"));
    assert!(end.is_none() && decided[0].1.contains("rounds to the format R8G8B8A8_UNORM"), "{decided:?}");
    // If an undecided branch chooses the colour, the two possible values do not come from rounding.
    let body = "%u = OpFDiv %float %half %half\n%c = OpFOrdLessThan %bool %u %f1\n%v = OpSelect %float %c %f1 %f0\n\
                %x = OpCompositeConstruct %vec4 %v %v %v %f1\nOpStore %colour %x";
    let chosen =
        script_of([PLAIN, Stage { body, ..PLAIN }], "R8G8B8A8_UNORM", "", OF_ALL, &format!("{DRAW_ALL}\nEXPECT target IDX 0 EQ 0"));
    let (decided, end) = played(&chosen);
    assert!(end.is_none() && decided[0].0 == Decision::Undecided, "{decided:?}");
    assert!(decided[0].1.contains("writes one of several values") && !decided[0].1.contains("rounds"), "{decided:?}");
    let float = Stage { variables: "%colour = OpVariable %p_out_float Output", body: "OpStore %colour %half", ..PLAIN };
    let expect = "EXPECT target IDX 252 EQ 0.5";
    let text = script_of([PLAIN, float], "R32_SFLOAT", "", OF_ALL, &format!("{DRAW_ALL}\n{expect}"));
    agrees_and_not(&text, "EQ 0.5", "EQ 0.25", device.as_mut());
    let integer = Stage { variables: "%colour = OpVariable %p_out_uint Output", body: "OpStore %colour %u7", ..PLAIN };
    let text = script_of([PLAIN, integer], "R32_UINT", "", OF_ALL, &format!("{DRAW_ALL}\nEXPECT target IDX 252 EQ 7"));
    agrees_and_not(&text, "EQ 7", "EQ 8", device.as_mut());
}

#[test]
fn what_is_interpolated_is_compared_as_far_as_it_is_decided() {
    let mut device = device();
    let smooth = |stage: Stage<'static>, decorations: &'static str| Stage { decorations, ..stage };
    let vertex = smooth(PASSES_COLOUR, "OpDecorate %in_colour Location 1\nOpDecorate %out_colour Location 1");
    let fragment = smooth(TAKES_COLOUR, "OpDecorate %given Location 1");
    let buffers = "BUFFER colours DATA_TYPE vec4<float> DATA 0 0 0 1 1 0 0 1 0 1 0 1 END\n";
    let pipeline = format!("{OF_ALL}  VERTEX_DATA colours LOCATION 1\n");
    let text = script_of([vertex, fragment], "R8G8B8A8_UNORM", buffers, &pipeline, &format!("{DRAW_ALL}\nEXPECT target IDX 0 LE 255"));
    for leg in legs(&text, &Interpreter::default(), device.as_mut()) {
        assert_eq!(leg.verdict, Verdict::Agree, "{}", leg.name);
        // An interpolated value is a set, and a stored component is one of a few codes.
        assert!(!leg.device || leg.compared.one_of > 0, "{}: {:?}", leg.name, leg.compared);
    }
}

/// Computes `%x` and `%y`, the pixel's coordinates, as integers.
const COORDINATES: &str =
    "%place = OpLoad %vec4 %coordinate\n%fx = OpCompositeExtract %float %place 0\n%fy = OpCompositeExtract %float %place 1
%x = OpConvertFToU %uint %fx\n%y = OpConvertFToU %uint %fy";
const COORDINATE: Stage<'static> = Stage {
    interface: "%coordinate",
    decorations: "OpDecorate %coordinate BuiltIn FragCoord",
    variables: "%coordinate = OpVariable %p_in_vec4 Input",
    body: "",
};

#[test]
fn discard_and_derivatives() {
    let mut device = device();
    let body = format!(
        "{COORDINATES}\n%left = OpFOrdLessThan %bool %fx %f4\nOpSelectionMerge %rest None\nOpBranchConditional %left %gone %rest
%gone = OpLabel\nOpKill\n%rest = OpLabel\nOpStore %colour %red"
    );
    let commands = format!(
        "CLEAR_COLOR g 0 255 0 255\nCLEAR g\n{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 0 255 0 255\nEXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 255 0 0 255"
    );
    let text = script_of([PLAIN, Stage { body: &body, ..COORDINATE }], "R8G8B8A8_UNORM", "", OF_ALL, &commands);
    agrees_and_not(&text, "IDX 4 0 SIZE 4 8", "IDX 3 0 SIZE 4 8", device.as_mut());
    // The same with OpTerminateInvocation, which a device runs if it supports it.
    let (head, fragment) = text.split_once("SHADER fragment").expect("a fragment stage");
    let extension = "OpCapability Shader\nOpExtension \"SPV_KHR_terminate_invocation\"";
    let fragment = fragment.replacen("OpCapability Shader", extension, 1).replace("OpKill", "OpTerminateInvocation");
    let ends = format!("{head}SHADER fragment{fragment}");
    let lacks = device.as_ref().is_some_and(|device| !device.adapter().terminate_invocation);
    match lacks {
        false => agrees_and_not(&ends, "IDX 4 0 SIZE 4 8", "IDX 3 0 SIZE 4 8", device.as_mut()),
        true => {
            let legs = legs(&ends, &Interpreter::default(), device.as_mut());
            assert_eq!(legs[0].verdict, Verdict::Agree);
            assert!(matches!(&legs[1].verdict, Verdict::Unchecked(why) if why.contains("SPV_KHR_terminate_invocation")), "{:?}", legs[1]);
        }
    }
    // FragCoord grows by one per pixel.
    let body = format!("{COORDINATES}\n%d = OpDPdx %float %fx\n%c = OpCompositeConstruct %vec4 %d %f0 %f0 %f1\nOpStore %colour %c");
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255");
    let text = script_of([PLAIN, Stage { body: &body, ..COORDINATE }], "R8G8B8A8_UNORM", "", OF_ALL, &commands);
    for leg in legs(&text, &Interpreter::default(), device.as_mut()) {
        assert_eq!(leg.verdict, Verdict::Agree, "{}", leg.name);
    }
}

#[test]
fn a_storage_buffer_that_the_fragment_stage_writes() {
    let mut device = device();
    let fragment = |body: &'static str| {
        Stage {
        interface: "%coordinate",
        decorations: "OpDecorate %coordinate BuiltIn FragCoord\nOpDecorate %array ArrayStride 4\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block
OpDecorate %data DescriptorSet 1\nOpDecorate %data Binding 2",
        variables: "%coordinate = OpVariable %p_in_vec4 Input\n%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array
%p_block = OpTypePointer StorageBuffer %block\n%p_item = OpTypePointer StorageBuffer %uint\n%data = OpVariable %p_block StorageBuffer",
        body,
    }
    };
    let body = format!(
        "{COORDINATES}\n%row = OpIMul %uint %y %u8\n%index = OpIAdd %uint %row %x\n%p = OpAccessChain %p_item %data %u0 %index
%value = OpIAdd %uint %index %u7\nOpStore %p %value\nOpStore %colour %red"
    );
    let buffers = "BUFFER data DATA_TYPE uint32 SIZE 64 FILL 0\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER data AS storage DESCRIPTOR_SET 1 BINDING 2\n");
    let commands =
        format!("{DRAW_ALL}\nEXPECT data IDX 0 EQ 7 8 9\nEXPECT data IDX 252 EQ 70\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255");
    let stage = Stage { body: &body, ..fragment("") };
    let text = script_of([PLAIN, stage], "R8G8B8A8_UNORM", buffers, &pipeline, &commands);
    agrees_and_not(&text, "IDX 252 EQ 70", "IDX 252 EQ 71", device.as_mut());
    let (_, end) = played(&text.replace("DESCRIPTOR_SET 1 BINDING 2\nEND", "DESCRIPTOR_SET 1 BINDING 3\nEND"));
    assert!(matches!(&end, Some(End::Invalid(why)) if why.contains("nothing is bound at descriptor set 1, binding 2")), "{end:?}");
}

/// The vertex stage runs for each vertex of each instance, and stores to a place of its own.
#[test]
fn a_storage_buffer_that_the_vertex_stage_writes() {
    let mut device = device();
    let vertex = Stage {
        interface: "%vertex %instance",
        decorations: "OpDecorate %vertex BuiltIn VertexIndex\nOpDecorate %instance BuiltIn InstanceIndex\nOpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block\nOpDecorate %data DescriptorSet 1\nOpDecorate %data Binding 2",
        variables: "%vertex = OpVariable %p_in_uint Input\n%instance = OpVariable %p_in_uint Input
%u3 = OpConstant %uint 3\n%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n%p_block = OpTypePointer StorageBuffer %block
%p_item = OpTypePointer StorageBuffer %uint\n%data = OpVariable %p_block StorageBuffer",
        body: "%n = OpLoad %uint %vertex\n%i = OpLoad %uint %instance\n%row = OpIMul %uint %i %u3\n%place = OpIAdd %uint %row %n
%p = OpAccessChain %p_item %data %u0 %place\n%value = OpIAdd %uint %place %u7\nOpStore %p %value",
    };
    let buffers = "BUFFER data DATA_TYPE uint32 SIZE 8 FILL 0\n";
    let pipeline = format!("{OF_ALL}  BIND BUFFER data AS storage DESCRIPTOR_SET 1 BINDING 2\n");
    let commands = format!(
        "{DRAW_ALL} START_IDX 0 COUNT 3 START_INSTANCE 0 INSTANCE_COUNT 2\nEXPECT data IDX 0 EQ 7 8 9 10 11 12 0 0\n\
         EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255"
    );
    let text = script_of([vertex, RED], "R8G8B8A8_UNORM", buffers, &pipeline, &commands);
    agrees_and_not(&text, "10 11 12 0 0", "10 11 13 0 0", device.as_mut());
    // A planted bug: stores of vertices are lost. The relation runs the vertex stages of scripts.
    let mut interpreter = Interpreter::default();
    interpreter.engines.relation.rules = Rules::standard().replace(Rule::SpirvStore, lost_store);
    assert!(!holds(&script(&text), &interpreter));
    // Two vertices that store to one place race.
    let (_, end) = played(&text.replace("OpIMul %uint %i %u3", "OpIMul %uint %i %u0"));
    assert!(matches!(&end, Some(End::Undefined { undefined, .. }) if undefined.ub == Ub::DataRace), "{end:?}");
}

fn lost_store<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    without_actions(step::memory::store(env, config)?)
}

#[test]
fn what_was_there_before_stays_as_known_as_it_was() {
    // A clear to one of two codes, an undefined byte behind it, and a rectangle over a part.
    // 1/255 of 127 is stored as 0 or 1.
    let commands = "CLEAR_COLOR g 1 0 0 255\nCLEAR g\nRUN g DRAW_RECT POS 0 0 SIZE 4 8
EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255
EXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 0 0 0 255 TOLERANCE 0.008
EXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 0 0 0 255";
    let text = script_of([PLAIN, RED], "R8G8B8A8_SNORM", "", "", commands);
    assert_eq!(decisions(&text), [Decision::Holds, Decision::Holds, Decision::Undecided]);
    // If a fragment stage writes no output, the colour is undefined.
    let nothing = script_of([PLAIN, PLAIN], "R8G8B8A8_UNORM", "", OF_ALL, &format!("{DRAW_ALL}\nEXPECT target IDX 0 EQ 0"));
    assert_eq!(decisions(&nothing), [Decision::Undefined]);
}

/// Draws the left half red, over black.
fn left_half() -> String {
    script_of([PLAIN, RED], "R8G8B8A8_UNORM", "", "", "CLEAR g\nRUN g DRAW_RECT POS 0 0 SIZE 4 8")
}

#[test]
fn a_planted_bug_of_rasterisation_is_told_by_its_texel() {
    let Some(mut device) = device() else { return };
    let planted = |raster| Interpreter { raster, ..Interpreter::default() };
    let rules = raster::Rules::default();
    let mut told = |raster: raster::Rules, text: &str| {
        let verdict = legs(text, &planted(raster), Some(&mut device)).remove(1).verdict;
        let Verdict::Disagree(difference) = verdict else { panic!("{verdict:?}") };
        let place = difference.place.expect("a place");
        (difference.between.0, place.buffer, place.element, difference.expected, difference.found)
    };
    // The picture mirrored: the interpreter draws the right half.
    let mirrored = raster::Rules { viewport: |x, extent, centre| -x * (extent / 2.0) + centre, ..rules };
    let (side, buffer, element, expected, found) = told(mirrored, &left_half());
    assert_eq!((side, buffer.as_str(), element.as_str()), (Side::Interpreter, "target", "texel (0, 0), red"));
    assert_eq!((expected.as_str(), found.as_str()), ("0 (0x00)", "255 (0xff)"));
    // The picture moves by a pixel to the right and down, whatever the direction of the viewport.
    let moved = raster::Rules { viewport: |x, extent, centre| x * (extent / 2.0) + centre + 1.0, ..rules };
    assert_eq!(told(moved, &left_half()).2, "texel (0, 0), red");
    let front = raster::Rules { front: |area, front| !(raster::Rules::default().front)(area, front), ..rules };
    assert_eq!(told(front, &left_half().replace("  BIND BUFFER target", "  CULL_MODE back\n  BIND BUFFER target")).2, "texel (0, 0), red");
}

#[test]
fn texels_that_a_draw_fetches() {
    let fragment = Stage {
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0\nOpDecorate %coordinate BuiltIn FragCoord",
        variables: "%coordinate = OpVariable %p_in_vec4 Input\n%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%p_image = OpTypePointer UniformConstant %image\n%texture = OpVariable %p_image UniformConstant",
        interface: "%coordinate",
        body: "%place = OpLoad %vec4 %coordinate\n%two = OpVectorShuffle %vec2 %place %place 0 1\n%at = OpConvertFToS %ivec2 %two
%loaded = OpLoad %image %texture\n%c = OpImageFetch %vec4 %loaded %at Lod %u0\nOpStore %colour %c",
    };
    let data: String = (0..256).map(|i| format!("{} ", i * 7 % 256)).collect();
    let buffers = format!("IMAGE texture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 8 HEIGHT 8 DATA {data} END\n");
    let pipeline = format!("{OF_ALL}  BIND BUFFER texture AS sampled_image DESCRIPTOR_SET 0 BINDING 0\n");
    // Row 2, column 3: component 0 of texel 19 is 76 · 7 mod 256.
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 76 TOLERANCE 1 EQ 20");
    let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", &buffers, &pipeline, &commands);
    let mut device = device();
    for leg in legs(&text, &Interpreter::default(), device.as_mut()) {
        assert!(
            !matches!(&leg.verdict, Verdict::Disagree(_) | Verdict::Failed(_) | Verdict::Invalid(_)),
            "{}: {:?}",
            leg.name,
            leg.verdict
        );
        assert!(!leg.device || leg.compared.expectations + leg.compared.open == 1, "{leg:?}");
    }
}

#[test]
fn a_framebuffer_size_gives_images_of_compute_pipelines_theirs() {
    let mut device = device();
    let declared = "IMAGE to FORMAT R32_UINT DIM_2D WIDTH 4 HEIGHT 4 FILL 0";
    let text = include_str!("scripts/images.amber").replace(declared, "BUFFER to FORMAT R32_UINT");
    let sized = |size: &str| text.replace("PIPELINE compute p\n", &format!("PIPELINE compute p\n  FRAMEBUFFER_SIZE {size}\n"));
    agrees_and_not(&sized("4 4"), "FRAMEBUFFER_SIZE 4 4", "FRAMEBUFFER_SIZE 8 4", device.as_mut());
}

#[test]
fn images_of_compute_pipelines() {
    let mut device = device();
    let text = include_str!("scripts/images.amber");
    agrees_and_not(text, "IDX 60 EQ 20", "IDX 60 EQ 21", device.as_mut());
    let (_, end) = played(&text.replace("BIND BUFFER to AS storage_image", "BIND BUFFER to AS sampled_image"));
    assert!(matches!(&end, Some(End::Invalid(why)) if why.contains("is a storage image, and what line")), "{end:?}");
}

/// A fragment stage that computes `%v` from 2.5 and 1.5. It writes red if `%c` holds, otherwise
/// yellow. It declares no float controls.
fn chosen_by(value: &str, condition: &str, limit: &str) -> String {
    let variables = format!(
        "%a = OpConstant %float 2.5\n%b = OpConstant %float 1.5\n%three = OpConstant %float 3\n%limit = OpConstant %float {limit}\n\
         %i2 = OpConstant %int 2\n%ab = OpConstantComposite %vec2 %a %b\n%origin = OpConstantComposite %vec2 %f0 %f0"
    );
    let body = format!(
        "{value}\n{condition}\nOpSelectionMerge %done None\nOpBranchConditional %c %is %is_not\n%is = OpLabel\nOpStore %colour %red\n\
         OpBranch %done\n%is_not = OpLabel\nOpStore %colour %yellow\nOpBranch %done\n%done = OpLabel"
    );
    let fragment = Stage { variables: &variables, body: &body, ..PLAIN };
    let commands = format!("{DRAW_ALL}\nEXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255");
    let text = script_of([PLAIN, fragment], "R8G8B8A8_UNORM", "", OF_ALL, &commands);
    text.replace("OpCapability Shader\n", "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\n")
}

#[test]
fn a_comparison_with_a_constant_outside_of_what_a_value_may_be_is_decided() {
    let greater = "%c = OpFOrdGreaterThan %bool %v %limit";
    let function = |call: &str| format!("%v = OpExtInst %float %glsl {call}");
    for (value, outside, inside) in [
        ("%v = OpFDiv %float %a %b".to_string(), "1.0", "1.6666666"),
        (function("Sqrt %a"), "1.0", "1.5811388"),
        (function("Exp2 %a"), "5.0", "5.656854"),
        ("%v = OpFMod %float %a %b".to_string(), "0.9", "1.0"),
        (function("Length %ab"), "2.9", "2.9154758"),
        (function("Distance %ab %origin"), "2.9", "2.9154758"),
    ] {
        assert_eq!(decisions(&chosen_by(&value, greater, outside)), [Decision::Holds], "{value}");
        assert_eq!(decisions(&chosen_by(&value, greater, inside)), [Decision::Undecided], "{value}");
    }
}

#[test]
fn a_whole_part_is_decided_where_all_that_a_value_may_be_has_the_same() {
    let is_two = "%c = OpIEqual %bool %n %i2";
    for (value, decision) in [
        ("%v = OpFDiv %float %a %f1\n%n = OpConvertFToS %int %v", Decision::Holds),
        ("%v = OpFDiv %float %a %b\n%n = OpConvertFToS %int %v", Decision::Fails),
        ("%v = OpFDiv %float %three %b\n%n = OpConvertFToS %int %v", Decision::Undecided),
        ("%v = OpFDiv %float %three %b\n%f = OpExtInst %float %glsl Floor %v\n%n = OpConvertFToS %int %f", Decision::Undecided),
        ("%v = OpExtInst %float %glsl Exp2 %b\n%f = OpExtInst %float %glsl Floor %v\n%n = OpConvertFToS %int %f", Decision::Holds),
    ] {
        assert_eq!(decisions(&chosen_by(value, is_two, "1")), [decision], "{value}");
    }
}

#[test]
fn choices_and_selections_by_what_is_decided_are_decided() {
    let root = "%w = OpExtInst %float %glsl Sqrt %a\n";
    let glsl = |call: &str| format!("{root}%v = OpExtInst %float %glsl {call}");
    let equal = "%c = OpFOrdEqual %bool %v %limit";
    for (value, limit, decision) in [
        (glsl("FMin %w %f1"), "1", Decision::Holds),
        (glsl("FMax %w %a"), "2.5", Decision::Holds),
        (glsl("FMax %w %f1"), "1", Decision::Fails),
        (glsl("FMin %w %limit"), "1.5811388", Decision::Undecided),
        (glsl("FClamp %w %f0 %f1"), "1", Decision::Holds),
        (glsl("Step %w %f1"), "0", Decision::Holds),
        (glsl("Step %f1 %w"), "1", Decision::Holds),
        (format!("{root}%is = OpFOrdGreaterThan %bool %w %f1\n%v = OpSelect %float %is %a %b"), "2.5", Decision::Holds),
        (format!("{root}%is = OpIsNan %bool %w\n%v = OpSelect %float %is %a %b"), "1.5", Decision::Holds),
    ] {
        // The label of the branch has the same name as the condition of the selection.
        let value = value.replace("%is ", "%greater ");
        assert_eq!(decisions(&chosen_by(&value, equal, limit)), [decision], "{value}");
    }
}

/// A script that draws `middle` with one fragment stage, and `target` with another that fetches
/// each texel of `middle`. `%x` is the column.
fn drawn_and_fetched(format: &str, body: &str, commands: &str) -> String {
    let first = Stage {
        interface: "%coordinate",
        decorations: "OpDecorate %coordinate BuiltIn FragCoord",
        variables: "%coordinate = OpVariable %p_in_vec4 Input\n%big = OpConstant %float 1e9\n%three = OpConstant %float 3",
        body: &format!("%place = OpLoad %vec4 %coordinate\n%x = OpCompositeExtract %float %place 0\n{body}"),
    };
    let second = Stage {
        interface: "%coordinate",
        decorations: "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 0\nOpDecorate %coordinate BuiltIn FragCoord",
        variables: "%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%p_image = OpTypePointer UniformConstant %image\n\
                    %texture = OpVariable %p_image UniformConstant\n%coordinate = OpVariable %p_in_vec4 Input",
        body: "%place = OpLoad %vec4 %coordinate\n%xy = OpVectorShuffle %vec2 %place %place 0 1\n%at = OpConvertFToS %ivec2 %xy\n\
               %loaded = OpLoad %image %texture\n%c = OpImageFetch %vec4 %loaded %at Lod %u0\nOpStore %colour %c",
    };
    let others = shaders(PLAIN, second).replace("#!amber\n", "").replace("SHADER vertex v ", "SHADER vertex w ");
    let others = others.replace("SHADER fragment f ", "SHADER fragment e ");
    let glsl = "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\n";
    format!(
        "{}{others}BUFFER middle FORMAT {format}\nBUFFER target FORMAT R32G32B32A32_SFLOAT\n{ALL}\
         PIPELINE graphics g\n  ATTACH v\n  ATTACH f\n  FRAMEBUFFER_SIZE 8 8\n  BIND BUFFER middle AS color LOCATION 0\n{OF_ALL}END\n\
         PIPELINE graphics h\n  ATTACH w\n  ATTACH e\n  FRAMEBUFFER_SIZE 8 8\n  BIND BUFFER target AS color LOCATION 0\n{OF_ALL}\
         \x20 BIND BUFFER middle AS sampled_image DESCRIPTOR_SET 0 BINDING 0\nEND\n\
         {DRAW_ALL}\nRUN h DRAW_ARRAY AS TRIANGLE_LIST\n{commands}\n",
        shaders(PLAIN, first).replace("OpCapability Shader\n", glsl)
    )
}

#[test]
fn a_doubtful_texel_makes_doubtful_what_it_is_read_for() {
    // Nothing is known about tan 1e9. It occurs only in column 0.
    let body = "%tan = OpExtInst %float %glsl Tan %big\n%is_first = OpFOrdLessThan %bool %x %f1\n\
                %v = OpSelect %float %is_first %tan %f0\n%c = OpCompositeConstruct %vec4 %v %f1 %f1 %f1\nOpStore %colour %c";
    let expect = "EXPECT target IDX 1 0 SIZE 7 8 EQ_RGBA 0 255 255 255\nEXPECT target IDX 0 0 SIZE 1 8 EQ_RGBA 0 255 255 255";
    for format in ["R32G32B32A32_SFLOAT", "R16G16B16A16_SFLOAT"] {
        let text = drawn_and_fetched(format, body, expect);
        assert_eq!(decisions(&text), [Decision::Holds, Decision::Undecided], "{format}");
        // The known texels have no other value.
        let wrong = text.replacen("EQ_RGBA 0", "EQ_RGBA 100", 1);
        assert_eq!(decisions(&wrong)[0], Decision::Fails, "{format}");
    }
}

#[test]
fn a_texel_of_a_format_that_rounds_has_its_set() {
    // 1/3 is stored as 85/255, from 84.99… or 85.00…. When read, it is 85/255 as a
    // device divides.
    let body = "%v = OpFDiv %float %f1 %three\n%c = OpCompositeConstruct %vec4 %v %v %half %f1\nOpStore %colour %c";
    // A third of 127 is 42.33, for which no device stores 43. A half float is one of two.
    for (format, near) in
        [("R8G8B8A8_UNORM", Decision::Holds), ("R8G8B8A8_SNORM", Decision::Fails), ("R16G16B16A16_SFLOAT", Decision::Undecided)]
    {
        let of = |tolerance: &str, value: &str| {
            decisions(&drawn_and_fetched(format, body, &format!("EXPECT target IDX 0 TOLERANCE {tolerance} EQ {value}")))
        };
        assert_eq!(of("0.01", "0.3333333"), [Decision::Holds], "{format}");
        assert_eq!(of("0.01", "0.36"), [Decision::Fails], "{format}");
        assert_eq!(of("0.0001", "0.3333333"), [near], "{format}");
    }
}

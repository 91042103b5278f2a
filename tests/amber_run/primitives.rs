//! Scripts whose values depend on lines: 8 by 8 pixels, computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::Decision;
use smallstep::run::amber::Interpreter;
use smallstep_semantics::raster;

use crate::graphics::{PLAIN, RED, Stage, agrees, agrees_and_not, script_of};
use crate::{decisions, device, played_on};

/// A draw of red lines. `places` are their vertices, in pixels.
fn lines(topology: &str, places: &[[f32; 2]], expect: &str) -> String {
    let at: Vec<String> = places.iter().map(|[x, y]| format!("{} {} 0.5 1", x / 4.0 - 1.0, y / 4.0 - 1.0)).collect();
    let buffers = format!("BUFFER at DATA_TYPE vec4<float> DATA {} END\n", at.join(" "));
    let commands = format!("CLEAR g\nRUN g DRAW_ARRAY AS {topology}\n{expect}");
    script_of([PLAIN, RED], "R8G8B8A8_UNORM", &buffers, "  VERTEX_DATA at LOCATION 0\n", &commands)
}

const ROW: &str = "EXPECT target IDX 1 2 SIZE 4 1 EQ_RGBA 255 0 0 255";
const OTHERS: &str = "EXPECT target IDX 0 0 SIZE 8 2 EQ_RGBA 0 0 0 0\nEXPECT target IDX 0 2 SIZE 1 1 EQ_RGBA 0 0 0 0
EXPECT target IDX 5 2 SIZE 3 1 EQ_RGBA 0 0 0 0\nEXPECT target IDX 0 3 SIZE 8 5 EQ_RGBA 0 0 0 0";

#[test]
fn lines_cover_what_all_three_rules_of_vulkan_cover() {
    let mut device = device();
    let one = lines("LINE_LIST", &[[1.25, 2.5], [5.25, 2.5]], &format!("{ROW}\n{OTHERS}"));
    agrees_and_not(&one, "SIZE 4 1", "SIZE 5 1", device.as_mut());
    // A downward line, slightly slanted.
    let down = lines("line_list", &[[2.375, 1.25], [2.625, 6.25]], "EXPECT target IDX 2 1 SIZE 1 5 EQ_RGBA 255 0 0 255");
    agrees(&down, device.as_mut());
    // From right to left, only the diamond rule covers the first pixel, and only the rectangle rule
    // covers the last pixel.
    let back = "EXPECT target IDX 2 2 SIZE 3 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 5 2 SIZE 1 1 EQ_RGBA 255 0 0 255
EXPECT target IDX 1 2 SIZE 1 1 EQ_RGBA 255 0 0 255";
    let of = |places: &[[f32; 2]], expect: &str| decisions(&lines("LINE_LIST", places, expect));
    assert_eq!(of(&[[5.25, 2.5], [1.25, 2.5]], back), [Decision::Holds, Decision::Undecided, Decision::Undecided]);
    // A line between two rows may be in either row, but not in a third.
    let between = "EXPECT target IDX 2 1 SIZE 1 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 2 2 SIZE 1 1 EQ_RGBA 255 0 0 255
EXPECT target IDX 2 3 SIZE 1 1 EQ_RGBA 0 0 0 0";
    assert_eq!(of(&[[1.25, 2.0], [5.25, 2.0]], between), [Decision::Undecided, Decision::Undecided, Decision::Holds]);
    // A slanted line: pixels near its middle, and far from it.
    let slanted = "EXPECT target IDX 4 3 SIZE 1 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 4 5 SIZE 1 3 EQ_RGBA 0 0 0 0";
    let text = lines("LINE_LIST", &[[0.25, 1.5], [7.25, 5.0]], slanted);
    assert_eq!(decisions(&text), [Decision::Holds; 2]);
    // A segment that is a point has no pixels.
    assert_eq!(of(&[[3.5, 3.5], [3.5, 3.5]], "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 0 0 0"), [Decision::Holds]);
}

#[test]
fn a_line_that_leaves_the_view_volume_goes_to_its_edge() {
    let mut device = device();
    let text = lines("LINE_LIST", &[[1.25, 2.5], [20.0, 2.5]], "EXPECT target IDX 1 2 SIZE 5 1 EQ_RGBA 255 0 0 255");
    let decided = decisions(&text);
    assert_eq!(decided, [Decision::Holds]);
    assert_eq!(decisions(&text.replace("SIZE 5 1", "SIZE 7 1")), [Decision::Undecided]);
    let outside = lines("LINE_LIST", &[[9.0, 2.5], [20.0, 2.5]], "EXPECT target IDX 0 0 SIZE 8 8 EQ_RGBA 0 0 0 0");
    agrees(&outside, device.as_mut());
    // Behind the eye, nothing is known.
    let behind = text.replace("4 -0.375 0.5 1", "4 -0.375 0.5 -1");
    assert_ne!(behind, text);
    assert_eq!(decisions(&behind), [Decision::Undecided]);
}

/// Three vertices of a strip of two lines along row 2.
const STRIP: [[f32; 2]; 3] = [[0.25, 2.5], [3.25, 2.5], [6.25, 2.5]];

#[test]
fn strips_of_lines_go_from_vertex_to_vertex() {
    let mut device = device();
    let both = "EXPECT target IDX 0 2 SIZE 6 1 EQ_RGBA 255 0 0 255\nEXPECT target IDX 6 2 SIZE 2 1 EQ_RGBA 0 0 0 0";
    let strip = lines("LINE_STRIP", &STRIP, both);
    agrees_and_not(&strip, "SIZE 6 1", "SIZE 7 1", device.as_mut());
    // As a list, three vertices are one line.
    let list = strip.replace("LINE_STRIP", "LINE_LIST").replace("SIZE 6 1", "SIZE 3 1").replace("IDX 6 2 SIZE 2", "IDX 3 2 SIZE 5");
    agrees_and_not(&list, "SIZE 3 1", "SIZE 6 1", device.as_mut());
    // With indices that begin with the last vertex.
    let indexed = strip
        .replace("BUFFER at ", "BUFFER order DATA_TYPE uint16 DATA 2 0 END\nBUFFER at ")
        .replace("  VERTEX_DATA", "  INDEX_DATA order\n  VERTEX_DATA")
        .replace("LINE_STRIP", "LINE_STRIP INDEXED")
        .replace("IDX 0 2 SIZE 6 1", "IDX 1 2 SIZE 5 1")
        .replace("IDX 6 2 SIZE 2 1", "IDX 7 2 SIZE 1 1");
    assert_eq!(decisions(&indexed), [Decision::Holds; 2]);
}

#[test]
fn attributes_go_along_a_line() {
    let mut device = device();
    let vertex = Stage {
        interface: "%in_colour %out_colour",
        decorations: "OpDecorate %in_colour Location 1\nOpDecorate %out_colour Location 1",
        variables: "%in_colour = OpVariable %p_in_vec4 Input\n%out_colour = OpVariable %p_out_vec4 Output",
        body: "%c = OpLoad %vec4 %in_colour\nOpStore %out_colour %c",
    };
    let fragment = Stage {
        interface: "%given",
        decorations: "OpDecorate %given Location 1",
        variables: "%given = OpVariable %p_in_vec4 Input",
        body: "%c = OpLoad %vec4 %given\nOpStore %colour %c",
    };
    let buffers = "BUFFER at DATA_TYPE vec4<float> DATA -0.9375 -0.375 0.5 1 0.0625 -0.375 0.5 1 END
BUFFER colours DATA_TYPE vec4<float> DATA 0 1 0 1 1 0 0 1 END\n";
    // The line goes from 0.25 to 4.25. The centre of pixel 1 is at 5/16, 79.7 of 255. The centre of
    // pixel 3 is at 13/16.
    let commands = "CLEAR g\nRUN g DRAW_ARRAY AS LINE_LIST\nEXPECT target IDX 1 2 SIZE 1 1 EQ_RGBA 80 175 0 255 TOLERANCE 0.005
EXPECT target IDX 3 2 SIZE 1 1 EQ_RGBA 207 48 0 255 TOLERANCE 0.005";
    let pipeline = "  VERTEX_DATA at LOCATION 0\n  VERTEX_DATA colours LOCATION 1\n";
    let text = script_of([vertex, fragment], "R8G8B8A8_UNORM", buffers, pipeline, commands);
    assert_eq!(decisions(&text), [Decision::Holds; 2]);
    agrees_and_not(&text, "EQ_RGBA 80 175", "EQ_RGBA 120 135", device.as_mut());
    // A planted bug: interpolation with perspective exchanges the ends.
    let sound = raster::Rules::default();
    let turned = raster::Rules { perspective: |e, w, f| (raster::Rules::default().perspective)([e[1], e[0], e[2]], w, f), ..sound };
    let (expected, _) = played_on(&text, &Interpreter { raster: turned, ..Interpreter::default() });
    assert!(expected.iter().any(|(decision, _)| *decision != Decision::Holds), "{expected:?}");
}

#[test]
fn planted_bugs_in_lines_fail_the_scripts() {
    let sound = raster::Rules::default();
    let text = lines("LINE_LIST", &[[1.25, 2.5], [5.25, 2.5]], &format!("{ROW}\n{OTHERS}"));
    let strip = lines("LINE_STRIP", &STRIP, "EXPECT target IDX 0 2 SIZE 6 1 EQ_RGBA 255 0 0 255");
    for (name, text, bug) in [
        ("along the line", &text, raster::Rules { beside_line: |dx, dy| [dx / dx.hypot(dy) / 2.0, dy / dx.hypot(dy) / 2.0], ..sound }),
        ("twice as wide", &text, raster::Rules { beside_line: |dx, dy| [-dy / dx.hypot(dy), dx / dx.hypot(dy)], ..sound }),
        (
            "all lines of a strip are its first",
            &strip,
            raster::Rules { assemble: |t, i| if t == raster::Topology::LineStrip { t.triangle(0) } else { t.triangle(i) }, ..sound },
        ),
    ] {
        let on = |raster| played_on(text, &Interpreter { raster, ..Interpreter::default() }).0;
        assert!(on(sound).iter().all(|(decision, _)| *decision == Decision::Holds), "{name}");
        assert!(on(bug).iter().any(|(decision, _)| *decision != Decision::Holds), "{name}");
    }
}

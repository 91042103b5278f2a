//! The draw of a RUN of a graphics pipeline: corners, counts and contents are computed by hand.

use pretty_assertions::assert_eq;
use smallstep::amber::{Action, Certainty, Run};
use smallstep::run::amber::draw::{Drawing, drawing};
use smallstep::run::amber::{Interpreter, Modules, Options, Verdict, check};
use smallstep_semantics::image::{self, Format};
use smallstep_semantics::raster::{Cull, FrontFace, Topology};
use smallstep_semantics::spirv::environment::{Limits, Rate};

use crate::script;

const PIPELINE: &str = "#!amber
SHADER vertex v PASSTHROUGH
SHADER fragment f SPIRV-ASM
END
BUFFER target FORMAT R8G8B8A8_UNORM
BUFFER positions DATA_TYPE vec3<float> DATA
-1 -1 0
1 -1 0.5
0 1 1
0.25 0.5 0.75
END
BUFFER colours DATA_TYPE R8G8B8A8_UNORM DATA 255 0 0 255 0 255 0 255 END
BUFFER wide DATA_TYPE uint32 DATA 0 1 2 2 1 0 END
BUFFER narrow DATA_TYPE uint16 DATA 3 1 2 END
BUFFER narrowest DATA_TYPE uint8 DATA 2 0 1 255 END
BUFFER block DATA_TYPE uint32 DATA 7 8 9 END
IMAGE texture FORMAT R8_UNORM DIM_2D WIDTH 2 HEIGHT 2 DATA 1 2 3 4 END
SAMPLER smooth MAG_FILTER linear ADDRESS_MODE_U clamp_to_edge BORDER_COLOR int_opaque_white
SAMPLER odd ADDRESS_MODE_V mirrored_clamp_to_edge
";

fn text(pipeline: &str, commands: &str) -> String {
    format!("{PIPELINE}PIPELINE graphics g\n  ATTACH v\n  ATTACH f\n{pipeline}END\n{commands}\n")
}

/// The draw of the last command.
fn drawn(pipeline: &str, run: &str) -> Result<Drawing, String> {
    let script = script(&text(pipeline, run));
    let Some(Action::Run(Run { pipeline, what })) = script.commands.last().map(|c| &c.action) else { panic!("a RUN") };
    Ok(drawing(&script, &script.contents(), *pipeline, what, ["main", "main"])?)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

const TARGET: &str = "  FRAMEBUFFER_SIZE 8 4\n  BIND BUFFER target AS color LOCATION 0\n";

#[test]
fn a_rectangle_is_a_strip_of_its_corners() {
    let drawing = drawn(TARGET, "RUN g DRAW_RECT POS 2 1 SIZE 4 2").expect("a draw");
    let assembled = &drawing.assembled;
    assert_eq!((assembled.topology, assembled.count, assembled.instances, &assembled.indices), (Topology::Strip, 4, 1, &None));
    let attribute = &assembled.attributes[0];
    assert_eq!((attribute.location, attribute.format, attribute.stride), (0, Format::Rg32Sfloat, 8));
    // x: 2 of 8 is -0.5, 6 of 8 is 0.5; y: 1 of 4 is -0.5, 3 of 4 is 0.5.
    assert_eq!(floats(&attribute.bytes), [-0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5, -0.5]);
    // The two triangles have the same orientation.
    let at = |i: usize| [floats(&attribute.bytes)[2 * i], floats(&attribute.bytes)[2 * i + 1]];
    let area = |t: [usize; 3]| {
        let [a, b, c] = t.map(at);
        (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    };
    assert_eq!(area(Topology::Strip.triangle(0)), area(Topology::Strip.triangle(1)));
    assert_eq!((drawing.targets.len(), drawing.targets[0].image.size(0), drawing.shown.len()), (1, Some([8, 4]), 1));
    let draw = drawing.draw(Limits::default());
    assert_eq!((draw.vertices.count, draw.targets[0].location, draw.depth.is_none()), (4, 0, true));
}

#[test]
fn a_grid_is_two_triangles_for_each_cell() {
    let drawing = drawn(TARGET, "RUN g DRAW_GRID POS 0 0 SIZE 8 4 CELLS 2 1").expect("a draw");
    assert_eq!((drawing.assembled.topology, drawing.assembled.count), (Topology::List, 12));
    let corners = floats(&drawing.assembled.attributes[0].bytes);
    assert_eq!(corners[..12], [0.0, 1.0, -1.0, 1.0, -1.0, -1.0, 0.0, 1.0, -1.0, -1.0, 0.0, -1.0]);
    assert_eq!(corners[12..], [1.0, 1.0, 0.0, 1.0, 0.0, -1.0, 1.0, 1.0, 0.0, -1.0, 1.0, -1.0]);
}

const DATA: &str = "  VERTEX_DATA positions LOCATION 0\n";

#[test]
fn vertex_data_indices_and_counts() {
    let drawing = drawn(&format!("{TARGET}{DATA}"), "RUN g DRAW_ARRAY AS TRIANGLE_LIST").expect("a draw");
    assert_eq!((drawing.assembled.first, drawing.assembled.count), (0, 4));
    let attribute = &drawing.assembled.attributes[0];
    // The fourth component is 1.
    assert_eq!((attribute.format, attribute.stride, attribute.rate), (Format::Rgba32Sfloat, 16, Rate::Vertex));
    assert_eq!(floats(&attribute.bytes)[4..8], [1.0, -1.0, 0.5, 1.0]);
    let run = "RUN g DRAW_ARRAY AS TRIANGLE_STRIP START_IDX 1 START_INSTANCE 3 INSTANCE_COUNT 2";
    let drawing = drawn(&format!("{TARGET}{DATA}"), run).expect("a draw").assembled;
    assert_eq!((drawing.topology, drawing.first, drawing.count), (Topology::Strip, 1, 3));
    assert_eq!((drawing.first_instance, drawing.instances), (3, 2));
    let indexed = |indices: &str, run: &str| drawn(&format!("{TARGET}{DATA}  INDEX_DATA {indices}\n"), run).map(|d| d.assembled);
    let drawing = indexed("wide", "RUN g DRAW_ARRAY AS TRIANGLE_FAN INDEXED START_IDX 2").expect("a draw");
    assert_eq!((drawing.topology, drawing.first, drawing.count), (Topology::Fan, 2, 4));
    assert_eq!(drawing.indices.as_deref(), Some(&[0, 1, 2, 2, 1, 0][..]));
    let drawing = indexed("narrow", "RUN g DRAW_ARRAY AS TRIANGLE_LIST INDEXED COUNT 3").expect("a draw");
    assert_eq!((drawing.indices.as_deref(), drawing.count), (Some(&[3, 1, 2][..]), 3));
    let drawing = indexed("narrowest", "RUN g DRAW_ARRAY AS TRIANGLE_LIST INDEXED COUNT 4").expect("a draw");
    assert_eq!(drawing.indices.as_deref(), Some(&[2, 0, 1, 255][..]));
    let instanced = format!("{TARGET}{DATA}  VERTEX_DATA colours LOCATION 1 RATE instance FORMAT R8G8_UNORM OFFSET 4 STRIDE 4\n");
    let attributes = drawn(&instanced, "RUN g DRAW_ARRAY AS TRIANGLE_LIST").expect("a draw").assembled.attributes;
    let colour = &attributes[1];
    assert_eq!((colour.location, colour.format, colour.rate, colour.offset, colour.stride), (1, Format::Rg8Unorm, Rate::Instance, 4, 4));
    assert_eq!(colour.bytes, [255, 0, 0, 255, 0, 255, 0, 255]);
}

#[test]
fn state_and_the_attachment_that_no_script_sees() {
    let drawing = drawn("", "RUN g DRAW_RECT POS 0 0 SIZE 250 250").expect("a draw");
    assert_eq!((drawing.targets[0].image.format(), drawing.targets[0].image.size(0)), (Format::Bgra8Unorm, Some([250, 250])));
    assert_eq!((drawing.shown, drawing.state.cull, drawing.state.front), (vec![None], Cull::None, FrontFace::CounterClockwise));
    assert_eq!((drawing.state.viewport.width, drawing.state.area.end_y), (250.0, 250));
    let state = "  VIEWPORT 1 0.5 SIZE 6 3 MIN_DEPTH 0.25 MAX_DEPTH 0.75\n  CULL_MODE front_and_back\n  FRONT_FACE clockwise\n";
    let drawing = drawn(&format!("{TARGET}{state}"), "RUN g DRAW_RECT POS 0 0 SIZE 8 4").expect("a draw");
    let viewport = drawing.state.viewport;
    assert_eq!((viewport.x, viewport.y, viewport.width, viewport.min_depth, viewport.max_depth), (1.0, 0.5, 6.0, 0.25, 0.75));
    assert_eq!((drawing.state.cull, drawing.state.front), (Cull::Both, FrontFace::Clockwise));
}

#[test]
fn what_is_bound_and_what_of_it_is_open() {
    let bound = "  BIND BUFFER texture AS combined_image_sampler SAMPLER smooth DESCRIPTOR_SET 0 BINDING 1\n  \
                 BIND BUFFER block AS uniform DESCRIPTOR_SET 1 BINDING 0 DESCRIPTOR_OFFSET 4\n  BIND SAMPLER smooth DESCRIPTOR_SET 0 BINDING 3\n  \
                 BIND BUFFER texture AS storage_image DESCRIPTOR_SET 0 BINDING 2\n  BIND BUFFER block AS push_constant\n";
    let pipeline = format!("{TARGET}{bound}");
    let drawing = drawn(&pipeline, "RUN g DRAW_RECT POS 0 0 SIZE 8 4").expect("a draw");
    let places: Vec<_> = drawing.images.iter().map(|i| (i.set, i.binding, i.image.bytes(0).map(<[u8]>::to_vec))).collect();
    assert_eq!(places, [(0, 1, Some(vec![1, 2, 3, 4])), (0, 2, Some(vec![1, 2, 3, 4]))]);
    assert_eq!(drawing.samplers.iter().map(|s| (s.set, s.binding)).collect::<Vec<_>>(), [(0, 1), (0, 3)]);
    let sampler = drawing.samplers[0].sampler;
    assert_eq!((sampler.mag, sampler.min, sampler.border), (image::Filter::Linear, image::Filter::Nearest, image::Border::OpaqueWhite));
    assert_eq!(sampler.address[..2], [image::AddressMode::ClampToEdge, image::AddressMode::Repeat]);
    assert_eq!((drawing.buffers[0].set, drawing.buffers[0].bytes.as_slice()), (1, &[8, 0, 0, 0, 9, 0, 0, 0][..]));
    assert_eq!((drawing.push_constants.len(), drawing.open), (12, None));

    let script = script(&text(&pipeline, "RUN g DRAW_RECT POS 0 0 SIZE 8 4"));
    let Action::Run(run) = &script.commands[0].action else { panic!("a RUN") };
    let mut held = script.contents();
    let texture = script.buffers.iter().position(|b| b.name == "texture").expect("it is there");
    held.0[texture].mark(2..3, Certainty::Undefined);
    let drawing = drawing_of(&script, &held, run);
    // Undefined texels are not recorded here: whatever reads them tracks them.
    assert_eq!(drawing.open, None);
}

fn drawing_of(script: &smallstep::amber::Script, held: &smallstep::amber::Buffers, run: &Run) -> Drawing {
    drawing(script, held, run.pipeline, &run.what, ["main", "main"]).expect("a draw")
}

#[test]
fn what_no_engine_takes_is_named() {
    let rect = "RUN g DRAW_RECT POS 0 0 SIZE 8 4";
    for (pipeline, run, said) in [
        ("  BIND SAMPLER odd DESCRIPTOR_SET 0 BINDING 0\n", rect, "address mode mirrored_clamp_to_edge"),
        ("  VIEWPORT 0 0 SIZE 100000 1\n", rect, "viewport"),
        ("  VERTEX_DATA positions LOCATION 0 RATE instance\n", "RUN g DRAW_ARRAY AS TRIANGLE_LIST", "no vertex data that says how many"),
    ] {
        let error = drawn(&format!("{TARGET}{pipeline}"), run).expect_err(said);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_script_of_a_triangle_says_what_it_draws() {
    let triangle = script(include_str!("scripts/triangle.amber"));
    let run = triangle.commands.iter().find_map(|c| if let Action::Run(run) = &c.action { Some(run) } else { None });
    let drawing = drawing_of(&triangle, &triangle.contents(), run.expect("a RUN"));
    assert_eq!((drawing.assembled.count, drawing.assembled.attributes[0].format), (3, Format::Rgba32Sfloat));
    assert_eq!(drawing.targets[0].image.format(), Format::Bgra8Unorm);
    let modules = Modules::load("triangle.amber", &triangle, &Options::default()).unwrap_or_else(|e| panic!("{}", e.text));
    let legs = check(&triangle, &modules, &Interpreter::default(), Vec::new());
    assert_eq!(legs[0].verdict, Verdict::Agree);
}

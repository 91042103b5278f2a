//! Tests of rasterisation, blending, and the tests of fragments in their order. Coverage is checked
//! by hand and on meshes, and interpolation against exact fractions. Simulated devices use the
//! freedom that the precision leaves. Planted bugs are caught.

#[path = "raster/attachments.rs"]
mod attachments;
#[path = "raster/coverage.rs"]
mod coverage;
#[path = "raster/devices.rs"]
mod devices;
#[path = "raster/fragments.rs"]
mod fragments;
#[path = "raster/lines.rs"]
mod lines;
#[path = "raster/order.rs"]
mod order;
#[path = "raster/planted.rs"]
mod planted;
#[path = "images/random.rs"]
mod random;
#[path = "raster/walk.rs"]
mod walk;
#[path = "raster/within.rs"]
mod within;

use smallstep_semantics::raster::{Doubt, Lane, Rules, Setup, State, Triangle};

/// The clip-space position of a vertex at pixel coordinates (x, y) of a framebuffer of 16 by 16
/// pixels, with this w. It is exact in 32-bit floats if the vertex is on the sub-pixel grid.
fn vertex(x: f32, y: f32, z: f32, w: f32) -> [f32; 4] {
    [(x - 8.0) / 8.0 * w, (y - 8.0) / 8.0 * w, z * w, w]
}

fn flat(at: [[f32; 2]; 3]) -> [[f32; 4]; 3] {
    at.map(|[x, y]| vertex(x, y, 0.5, 1.0))
}

fn set_up(rules: &Rules, state: &State, positions: [[f32; 4]; 3]) -> Option<Box<Triangle>> {
    match Setup::new(rules, state, positions).expect("a valid state") {
        Setup::Visible(triangle) => Some(triangle),
        Setup::Nothing => None,
        Setup::Unknown => panic!("{positions:?}: nothing is known"),
    }
}

/// Rows of pixels: `#` is covered, `.` is not. `T` and `t` are the same with a tie, `S` and `s`
/// within sub-pixel precision of an edge.
fn picture(rules: &Rules, state: &State, positions: [[f32; 4]; 3]) -> Vec<String> {
    let triangle = set_up(rules, state, positions);
    let lane = |x: u32, y: u32| triangle.as_ref().map_or(Lane::default(), |t| t.lane(x.into(), y.into()));
    let letter = |lane: Lane| match (lane.covered, lane.doubt) {
        (true, Doubt::None) => '#',
        (false, Doubt::None) => '.',
        (true, Doubt::Tie) => 'T',
        (false, Doubt::Tie) => 't',
        (true, Doubt::SubPixel) => 'S',
        (false, Doubt::SubPixel) => 's',
    };
    let area = state.area;
    (area.y..area.end_y).map(|y| (area.x..area.end_x).map(|x| letter(lane(x, y))).collect()).collect()
}

/// How many triangles cover each pixel, row after row.
fn counts(rules: &Rules, state: &State, triangles: &[[[f32; 4]; 3]]) -> Vec<u32> {
    let width = state.area.end_x as usize;
    let mut counts = vec![0; width * state.area.end_y as usize];
    for &positions in triangles {
        let Some(triangle) = set_up(rules, state, positions) else { continue };
        for quad in triangle.quads() {
            for (n, lane) in quad.lanes.iter().enumerate() {
                if lane.covered {
                    counts[(quad.y as usize + n / 2) * width + quad.x as usize + n % 2] += 1;
                }
            }
        }
    }
    counts
}

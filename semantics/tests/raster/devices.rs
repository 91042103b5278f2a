//! Simulated devices within the precision. They snap vertices in another way, compute in 32 bits,
//! or cut triangles at the view volume. Where the interpreter has no doubt, they cover the same
//! pixels. The values that they interpolate are allowed.

use smallstep_semantics::raster::{Doubt, Interpolation, Lane, Rules, State};

use crate::random::Random;
use crate::set_up;

/// The rounding of a device's vertices to the sub-pixel grid.
#[derive(Clone, Copy, Debug)]
enum Snap {
    Down,
    Up,
    Nearest,
}

fn snapped(x: f32, how: Snap) -> i64 {
    let scaled = x * 256.0;
    match how {
        Snap::Down => scaled.floor() as i64,
        Snap::Up => scaled.ceil() as i64,
        Snap::Nearest => scaled.round() as i64,
    }
}

#[test]
fn devices_agree_where_there_is_no_doubt() {
    let mut random = Random(10);
    let (mut covered, mut doubtful, mut helpers) = (0, 0, 0);
    for case in 0..3_000 {
        let state = State::of_size(32, 32);
        let mut float = |low: i64, high: i64| random.between(low << 20, high << 20) as f32 / (1 << 20) as f32;
        // In depth, vertices are inside the view volume. In x and y, they may be far outside. w is
        // from 1 to 4.
        let reach = if case % 3 == 0 { 6 } else { 1 };
        let positions = [0; 3].map(|_| {
            let w = float(1, 4);
            [float(-reach, reach) * w, float(-reach, reach) * w, float(0, 1) * w, w]
        });
        let values = [0; 3].map(|_| float(-10, 10));
        let how = [Snap::Down, Snap::Up, Snap::Nearest][case % 3];
        let at = positions.map(|[x, y, _, w]| [x, y].map(|c| snapped((c / w) * 16.0 + 16.0, how)));
        let cross = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let area = cross(at[0], at[1], at[2]);
        let triangle = set_up(&Rules::default(), &state, positions);
        for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
            let p = [256 * x + 128, 256 * y + 128];
            let sides = [cross(p, at[1], at[2]), cross(p, at[2], at[0]), cross(p, at[0], at[1])];
            let shows = area != 0 && sides.iter().all(|&s| s * area.signum() > 0);
            let lane = triangle.as_ref().map_or(Lane::default(), |t| t.lane(x, y));
            if lane.doubt != Doubt::None {
                doubtful += 1;
            } else {
                let on_edge = sides.contains(&0);
                assert!(lane.covered == shows || on_edge, "{positions:?} at {x}, {y}: {lane:?}, a device that snaps {how:?} shows {shows}");
            }
            let Some(triangle) = triangle.as_ref().filter(|_| area != 0 && (lane.covered && shows || (x + y) % 13 == 0)) else { continue };
            // Barycentric coordinates, and attributes in 32-bit floats.
            let lambda = sides.map(|s| s as f32 / area as f32);
            let over_w = [0, 1, 2].map(|i| lambda[i] / positions[i][3]);
            let sum = over_w[0] + over_w[1] + over_w[2];
            let perspective = (over_w[0] * values[0] + over_w[1] * values[1] + over_w[2] * values[2]) / sum;
            let linear = lambda[0] * values[0] + lambda[1] * values[1] + lambda[2] * values[2];
            let depth: f32 = (0..3).map(|i| lambda[i] * (positions[i][2] / positions[i][3])).sum();
            let fragment = triangle.fragment(x, y);
            for (what, shown, allowed) in [
                ("perspective", perspective, fragment.interpolate(values, Interpolation::Perspective).allowed),
                ("linear", linear, fragment.interpolate(values, Interpolation::Linear).allowed),
                ("depth", depth, fragment.coordinate[2].allowed),
                ("1/w", sum, fragment.coordinate[3].allowed),
            ] {
                assert!(
                    allowed.contains(shown.into()),
                    "{positions:?} of {values:?} at {x}, {y}, {lane:?}: a device that snaps {how:?} shows {what} {shown}, allowed {allowed:?}"
                );
            }
            covered += u32::from(lane.covered);
            helpers += u32::from(!lane.covered);
        }
    }
    assert!(
        covered > 100_000 && helpers > 20_000 && doubtful > 1_000 && doubtful < 100_000,
        "{covered}, {helpers} helpers, {doubtful} in doubt"
    );
}

/// Clips a triangle to |x| ≤ w and |y| ≤ w, in 32-bit floats.
fn within_view_volume(triangle: [[f32; 4]; 3]) -> Vec<[f32; 4]> {
    let mut polygon = triangle.to_vec();
    for (axis, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0f32)] {
        let inside = |p: [f32; 4]| p[3] + sign * p[axis];
        let whole = std::mem::take(&mut polygon);
        for (i, &a) in whole.iter().enumerate() {
            let b = whole[(i + 1) % whole.len()];
            let (da, db) = (inside(a), inside(b));
            if da >= 0.0 {
                polygon.push(a);
            }
            if (da > 0.0 && db < 0.0) || (da < 0.0 && db > 0.0) {
                let t = da / (da - db);
                polygon.push([0, 1, 2, 3].map(|c| a[c] + t * (b[c] - a[c])));
            }
        }
    }
    polygon
}

/// A triangle that covers the screen is cut to the corners of the viewport. These are on the grid,
/// so no pixel is in doubt.
#[test]
fn a_triangle_over_the_screen_is_as_certain_as_a_square() {
    let triangle = set_up(&Rules::default(), &State::of_size(8, 8), [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]]);
    let triangle = triangle.expect("visible");
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        assert_eq!(triangle.lane(x, y), Lane { covered: true, doubt: Doubt::None }, "{x}, {y}");
    }
    let allowed = triangle.fragment(3, 2).interpolate([0.0, 4.0, 8.0], Interpolation::Linear).allowed;
    assert!(allowed.high - allowed.low < 1e-4, "{allowed:?}");
}

/// A device without a guard band, whose vertices are on the grid. So only its cuts move edges. Such
/// a device was seen to differ from a device that cuts nothing, and the difference must be allowed.
#[test]
fn devices_may_cut_triangles_at_the_view_volume() {
    let mut random = Random(11);
    let (mut moved, mut certain) = (0, 0);
    for _ in 0..4_000 {
        let state = State::of_size(8, 8);
        // Vertices within four times the view volume, on a grid of sixteen sub-pixels.
        let positions = [0; 3].map(|_| [random.between(-256, 256) as f32 / 64.0, random.between(-256, 256) as f32 / 64.0, 0.5, 1.0]);
        let screen = |[x, y, _, w]: [f32; 4]| [x, y].map(|c| snapped((c / w) * 4.0 + 4.0, Snap::Nearest));
        let polygon: Vec<[i64; 2]> = within_view_volume(positions).into_iter().map(screen).collect();
        let side = |a: [i64; 2], b: [i64; 2], p: [i64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
        let triangle = set_up(&Rules::default(), &state, positions);
        for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
            let p = [256 * x + 128, 256 * y + 128];
            let sides: Vec<i64> = (0..polygon.len()).map(|i| side(polygon[i], polygon[(i + 1) % polygon.len()], p)).collect();
            let shows = !sides.is_empty() && (sides.iter().all(|&s| s > 0) || sides.iter().all(|&s| s < 0));
            let lane = triangle.as_ref().map_or(Lane::default(), |t| t.lane(x, y));
            match lane.doubt {
                Doubt::None => assert!(lane.covered == shows || sides.contains(&0), "{positions:?} at {x}, {y}: {lane:?}, cut: {shows}"),
                _ => moved += u32::from(lane.covered != shows && !sides.contains(&0)),
            }
            certain += u32::from(lane == Lane { covered: true, doubt: Doubt::None });
        }
    }
    assert!(moved > 10 && certain > 20_000, "{moved} pixels moved, {certain} are covered for certain");
}

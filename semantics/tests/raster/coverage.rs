//! The pixels that a triangle covers.

use smallstep_semantics::raster::{
    Area, Cull, Doubt, FrontFace, Interpolation, Lane, Rules, Setup, State, StateError, Topology, Triangle, Viewport,
};

use crate::random::Random;
use crate::{counts, flat, picture, set_up, vertex};

fn state() -> State {
    State::of_size(16, 16)
}

/// The upper left corner of the framebuffer.
fn corner(columns: u32, rows: u32) -> State {
    State { area: Area::of_size(columns, rows), ..state() }
}

#[test]
fn centres_on_top_and_left_edges_are_covered() {
    // The edges pass through centres. The vertical edge at x = 0.5 is a left edge and the
    // horizontal edge at y = 0.5 is a top edge. The diagonal is a right edge.
    let found = picture(&Rules::default(), &corner(5, 5), flat([[0.5, 0.5], [3.5, 0.5], [0.5, 3.5]]));
    assert_eq!(found, ["TTTt.", "T#t..", "Tt...", "t....", "....."]);
    // The other half of the square. Its diagonal is a left edge. Its right and bottom edges are
    // neither left nor top.
    let found = picture(&Rules::default(), &corner(5, 5), flat([[3.5, 0.5], [3.5, 3.5], [0.5, 3.5]]));
    assert_eq!(found, ["...t.", "..Tt.", ".T#t.", "tttt.", "....."]);
}

#[test]
fn either_winding_covers_the_same() {
    let [a, b, c] = [[1.25, 0.75], [6.5, 2.75], [3.0, 7.0]];
    let found = picture(&Rules::default(), &corner(8, 8), flat([a, b, c]));
    assert_eq!(found, picture(&Rules::default(), &corner(8, 8), flat([c, b, a])));
    // By hand from the equations of the edges. The centres of row y are at y + 0.5.
    assert_eq!(found, by_hand([a, b, c]));
}

/// The covered pixels by the equations of the edges, in quarters of a pixel. No edge passes through
/// a centre.
fn by_hand(at: [[f32; 2]; 3]) -> Vec<String> {
    let [a, b, c] = at.map(|p| p.map(|x| (x * 4.0) as i64));
    let side = |p: [i64; 2], q: [i64; 2], x: i64, y: i64| (q[0] - p[0]) * (4 * y + 2 - p[1]) - (q[1] - p[1]) * (4 * x + 2 - p[0]);
    let inside = |x: i64, y: i64| side(a, b, x, y) > 0 && side(b, c, x, y) > 0 && side(c, a, x, y) > 0;
    (0..8).map(|y| (0..8).map(|x| if inside(x, y) { '#' } else { '.' }).collect()).collect()
}

#[test]
fn a_square_of_two_triangles_covers_each_pixel_once() {
    for (x0, y0, x1, y1) in [(0.0, 0.0, 16.0, 16.0), (2.5, 3.5, 9.5, 12.5), (1.0, 1.5, 8.0, 4.5)] {
        let at = |x: f32, y: f32| vertex(x, y, 0.5, 1.0);
        for triangles in [
            [[at(x0, y0), at(x1, y0), at(x0, y1)], [at(x1, y0), at(x1, y1), at(x0, y1)]],
            [[at(x0, y0), at(x1, y1), at(x0, y1)], [at(x0, y0), at(x1, y1), at(x1, y0)]],
        ] {
            let found = counts(&Rules::default(), &state(), &triangles);
            for (n, count) in found.iter().enumerate() {
                let (x, y) = ((n % 16) as f32 + 0.5, (n / 16) as f32 + 0.5);
                assert_eq!(*count == 1, x0 <= x && x < x1 && y0 <= y && y < y1, "pixel {x}, {y}: {count}");
            }
        }
    }
}

/// Whether random fans around a pixel's centre cover each pixel of their area once. The same for
/// random meshes, some of them with perspective.
pub fn tiles(rules: &Rules, cases: u64) -> Result<(), String> {
    let mut random = Random(5);
    for case in 0..cases {
        // A fan around a centre. Its rim passes through other centres and through corners.
        let centre = [random.between(5, 10) as f32 + 0.5, random.between(5, 10) as f32 + 0.5];
        let turn = [[4.0, 0.0], [3.0, 3.5], [0.0, 4.0], [-3.5, 3.0], [-4.0, 0.0], [-3.0, -3.5], [0.0, -4.0], [3.5, -3.0]];
        let at = |[x, y]: [f32; 2]| vertex(centre[0] + x, centre[1] + y, 0.5, 1.0);
        let mut vertices = vec![at([0.0, 0.0])];
        vertices.extend(turn.iter().map(|&p| at(p)));
        vertices.push(at(turn[0]));
        let triangles: Vec<_> =
            (0..Topology::Fan.triangles(vertices.len())).map(|i| (rules.assemble)(Topology::Fan, i).map(|v| vertices[v])).collect();
        let found = counts(rules, &state(), &triangles);
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (2, 2), (-2, -2), (1, -1), (-1, 1), (3, 0), (0, -3)] {
            let (x, y) = (centre[0] as i64 + dx, centre[1] as i64 + dy);
            let count = found[(y * 16 + x) as usize];
            if count != 1 {
                return Err(format!("case {case}: a fan around {centre:?} covers pixel {x}, {y} {count} times"));
            }
        }
        // A lattice over the framebuffer, with shifted inner vertices and various w.
        let n = random.between(2, 6) as usize;
        let cell = 16.0 / n as f32;
        let mut lattice = Vec::new();
        for (i, j) in (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))) {
            let mut shift = |k: usize| if k == 0 || k == n { 0.0 } else { random.between(-400, 400) as f32 / 2000.0 };
            let (x, y) = ((i as f32 + shift(i)) * cell, (j as f32 + shift(j)) * cell);
            let w = random.one_of(&[1.0, 1.0, 3.0, 0.7]);
            let round = if case % 2 == 0 { 1.0 } else { 16.0 };
            lattice.push(vertex((x * round).round() / round, (y * round).round() / round, 0.5, w));
        }
        let mut triangles = Vec::new();
        for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| lattice[j * (n + 1) + i]);
            // As a strip, along either diagonal.
            let strip = if random.below(2) == 0 { [a, b, c, d] } else { [b, d, a, c] };
            triangles.extend((0..2).map(|t| (rules.assemble)(Topology::Strip, t).map(|v| strip[v])));
        }
        let found = counts(rules, &state(), &triangles);
        if let Some(n) = found.iter().position(|&count| count != 1) {
            return Err(format!("case {case}: a mesh covers pixel {}, {} {} times", n % 16, n / 16, found[n]));
        }
    }
    Ok(())
}

#[test]
fn fans_and_meshes_cover_each_pixel_once() {
    assert_eq!(tiles(&Rules::default(), 400), Ok(()));
}

#[test]
fn strips_keep_their_direction_and_the_provoking_vertex_is_first() {
    let all = |topology: Topology, n: usize| (0..topology.triangles(n)).map(|i| topology.triangle(i)).collect::<Vec<_>>();
    assert_eq!(all(Topology::List, 8), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(all(Topology::Strip, 6), [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]);
    assert_eq!(all(Topology::Fan, 5), [[1, 2, 0], [2, 3, 0], [3, 4, 0]]);
    assert!(all(Topology::Strip, 2).is_empty() && all(Topology::Fan, 0).is_empty());
}

/// Compares facing and culling with results by hand.
pub fn faces(rules: &Rules) -> Result<(), String> {
    // Clockwise as seen on the screen: the specification's area is negative.
    let clockwise = flat([[2.0, 2.0], [9.0, 2.0], [2.0, 9.0]]);
    let [a, b, c] = clockwise;
    for (positions, front, expected) in [
        (clockwise, FrontFace::Clockwise, true),
        (clockwise, FrontFace::CounterClockwise, false),
        ([a, c, b], FrontFace::Clockwise, false),
        ([a, c, b], FrontFace::CounterClockwise, true),
    ] {
        let found = set_up(rules, &State { front, ..state() }, positions).map(|t| (t.front, t.front_certain));
        if found != Some((expected, true)) {
            return Err(format!("{front:?}: {found:?}, by hand {expected}"));
        }
        for (cull, seen) in [(Cull::Front, !expected), (Cull::Back, expected), (Cull::Both, false), (Cull::None, true)] {
            if set_up(rules, &State { front, cull, ..state() }, positions).is_some() != seen {
                return Err(format!("{front:?}, culling {cull:?}: seen is {}", !seen));
            }
        }
        // A triangle that is turned upside down faces the other way.
        let viewport = Viewport { y: 16.0, height: -16.0, ..Viewport::of_size(16, 16) };
        if set_up(rules, &State { front, viewport, ..state() }, positions).map(|t| t.front) != Some(!expected) {
            return Err(format!("{front:?}: upside down it faces the same way"));
        }
    }
    Ok(())
}

#[test]
fn faces_are_as_by_hand() {
    assert_eq!(faces(&Rules::default()), Ok(()));
}

#[test]
fn a_viewport_moves_scales_and_limits() {
    // The viewport covers columns 4 to 11 and rows 2 to 5; a triangle over all of clip space covers
    // just that.
    let viewport = Viewport { x: 4.0, y: 2.0, width: 8.0, height: 4.0, ..Viewport::of_size(16, 16) };
    let covering = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    let found = counts(&Rules::default(), &State { viewport, ..state() }, &[covering]);
    for (n, count) in found.iter().enumerate() {
        assert_eq!(*count == 1, (4..12).contains(&(n % 16)) && (2..6).contains(&(n / 16)), "pixel {n}");
    }
    // A negative height turns the picture upside down.
    let upper = [[-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 0.5, 0.5, 1.0]];
    let upright = picture(&Rules::default(), &state(), upper);
    let viewport = Viewport { y: 16.0, height: -16.0, ..Viewport::of_size(16, 16) };
    let mut flipped = picture(&Rules::default(), &State { viewport, ..state() }, upper);
    flipped.reverse();
    let plain = |rows: Vec<String>| rows.join("\n").replace(['T', 'S'], "#").replace(['t', 's'], ".");
    assert_eq!(plain(flipped), plain(upright));
}

#[test]
fn pixels_within_sub_pixel_precision_of_an_edge_are_in_doubt() {
    // A left edge, a thousandth of a pixel to the right of a column of centres, and off the grid.
    // Snapped to nearest, it lies on the centres.
    let triangle = flat([[2.501, 0.0], [12.0, 0.0], [2.501, 16.0]]);
    assert_eq!(picture(&Rules::default(), &corner(6, 2), triangle), ["..S###", "..S###"]);
    // An edge on the grid leaves no doubt: one sub-pixel to the right of the centres, and one to
    // the left.
    let step = 1.0 / 256.0;
    assert_eq!(picture(&Rules::default(), &corner(6, 1), flat([[2.5 + step, 0.0], [12.0, 0.0], [2.5 + step, 16.0]])), ["...###"]);
    assert_eq!(picture(&Rules::default(), &corner(6, 1), flat([[2.5 - step, 0.0], [12.0, 0.0], [2.5 - step, 16.0]])), ["..####"]);
}

#[test]
fn a_triangle_that_may_face_either_way_is_not_silently_culled() {
    // Thinner than a sub-pixel, along a row of centres.
    let thin = flat([[2.0003, 2.4995], [12.0, 2.5007], [7.0, 2.5004]]);
    for cull in [Cull::None, Cull::Front, Cull::Back] {
        let triangle = set_up(&Rules::default(), &State { cull, ..state() }, thin).expect("a device may see it");
        assert!(!triangle.front_certain);
        assert_eq!(triangle.lane(7, 2).doubt, Doubt::SubPixel, "{cull:?}");
        assert_eq!(triangle.lane(7, 4), Lane::default());
    }
    assert!(set_up(&Rules::default(), &State { cull: Cull::Both, ..state() }, thin).is_none());
}

#[test]
fn centres_on_the_viewports_edge_are_in_doubt() {
    let viewport = Viewport { x: 1.5, width: 4.0, ..Viewport::of_size(16, 16) };
    let covering = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    assert_eq!(picture(&Rules::default(), &State { viewport, ..corner(8, 1) }, covering), [".S###s.."]);
}

/// Compares triangles that cross the planes of clip space with a projective screen in integers. A
/// pixel is covered where e_i ≥ 0, w > 0 and the depth is in range. Pixels on the boundary are
/// not compared.
pub fn clipped(rules: &Rules, cases: u64) -> Result<(), String> {
    let mut random = Random(6);
    let (mut sure, mut behind) = (0u64, 0u64);
    for case in 0..cases {
        let integers = [0; 3].map(|_| [0; 4].map(|_| random.between(-6, 6)));
        let positions = integers.map(|p| p.map(|x| x as f32));
        let depth_clamp = case % 4 == 0;
        let state = State { depth_clamp, ..state() };
        let Ok(setup) = Setup::new(rules, &state, positions) else { return Err("a valid state".into()) };
        behind += u64::from(integers.iter().any(|p| p[3] <= 0));
        // On the screen in half pixels: X = (x·8 + 8·w)·2.
        let [a, b, c] = integers.map(|[x, y, _, w]| [16 * x + 16 * w, 16 * y + 16 * w, w].map(i128::from));
        let minor = |p: [i128; 2], v: [i128; 3], u: [i128; 3]| {
            (v[0] - p[0] * v[2]) * (u[1] - p[1] * u[2]) - (v[1] - p[1] * v[2]) * (u[0] - p[0] * u[2])
        };
        for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
            let p = [2 * x + 1, 2 * y + 1].map(i128::from);
            let e = [minor(p, b, c), minor(p, c, a), minor(p, a, b)];
            let sign = if e.iter().all(|&e| e >= 0) && e != [0; 3] {
                1
            } else if e.iter().all(|&e| e <= 0) && e != [0; 3] {
                -1
            } else {
                0
            };
            let sum = |c: usize| (0..3).map(|i| sign * e[i] * i128::from(integers[i][c])).sum::<i128>();
            let expected = sign != 0 && sum(3) > 0 && (depth_clamp || sum(2) >= 0 && sum(2) <= sum(3));
            let lane = match &setup {
                Setup::Visible(triangle) => triangle.lane(x, y),
                Setup::Nothing => Default::default(),
                Setup::Unknown => continue,
            };
            // Exactly on the boundary, or without area, a triangle may be dropped.
            let on_edge = sign == 0 || e.contains(&0) || sum(2) == 0 || sum(2) == sum(3);
            if lane.doubt == Doubt::None && !on_edge {
                sure += u64::from(expected);
                if lane.covered != expected {
                    return Err(format!("{integers:?}, pixel {x}, {y}: covered is {}, in integers {expected}", lane.covered));
                }
                let Setup::Visible(triangle) = &setup else { continue };
                if expected {
                    given(triangle, [x, y], e.map(|e| (sign * e) as f64), integers.map(|p| [p[2], p[3]].map(|x| x as f64)), depth_clamp)?;
                }
            }
        }
    }
    if sure < 20 * cases / 10 || behind < cases / 2 {
        Err(format!("{sure} sure pixels, {behind} triangles behind the eye"))
    } else {
        Ok(())
    }
}

/// Compares the inputs of a fragment with fractions from the e_i and from the vertices' z and w.
/// The inputs are the attributes 5, -3 and 2, the depth and 1/w.
fn given(triangle: &Triangle, [x, y]: [i64; 2], e: [f64; 3], zw: [[f64; 2]; 3], depth_clamp: bool) -> Result<(), String> {
    let fragment = triangle.fragment(x, y);
    let values = [5.0, -3.0, 2.0];
    let dot = |f: [f64; 3]| e[0] * f[0] + e[1] * f[1] + e[2] * f[2];
    let (z, w) = (dot(zw.map(|v| v[0])), dot(zw.map(|v| v[1])));
    let linear = dot([0, 1, 2].map(|i| zw[i][1] * values[i]));
    let attribute = |how| fragment.interpolate(values.map(|x| x as f32), how);
    let sum = dot([1.0; 3]);
    let depth = if depth_clamp { (z / w).clamp(0.0, 1.0) } else { z / w };
    for (what, found, expected) in [
        ("perspective", attribute(Interpolation::Perspective), dot(values) / sum),
        ("linear", attribute(Interpolation::Linear), linear / w),
        ("1/w", fragment.coordinate[3], sum / w),
        ("depth", fragment.coordinate[2], depth),
    ] {
        // Snapping moves vertices that were not clipped. So the interval contains the fraction, and
        // the value is only near it.
        let width = found.allowed.high - found.allowed.low;
        let slack = 2e-6 * expected.abs().max(1.0);
        let held = found.allowed.low - slack <= expected && expected <= found.allowed.high + slack;
        if !held || !found.allowed.contains(found.value as f32 as f64) || (found.value - expected).abs() > width + slack {
            return Err(format!("{what} at {x}, {y} of z and w {zw:?}, e {e:?}: found {found:?}, in fractions {expected}"));
        }
    }
    Ok(())
}

/// A vertex at 0 / 0 has no place on the screen, and clipping does not remove it. So a device may
/// draw pixels of its triangle or none.
#[test]
fn nothing_is_known_of_vertices_within_the_view_volume_with_w_of_0() {
    for depth_clamp in [false, true] {
        let state = State { depth_clamp, ..state() };
        let (a, b) = ([-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0]);
        for (vertex, is_within) in [
            ([0.0; 4], true),
            ([0.0, -0.0, -0.0, 0.0], true),
            ([0.0, 0.0, 0.5, 0.0], depth_clamp),
            ([0.0, 0.0, -0.5, 0.0], depth_clamp),
            ([0.0, 0.0, 0.0, -1.0], false),
            ([0.0, 0.25, 0.0, 1.0], false),
        ] {
            let of = [
                Setup::new(&Rules::default(), &state, [a, b, vertex]),
                Setup::new(&Rules::default(), &state, [vertex, a, b]),
                Setup::new(&Rules::default(), &state, [vertex; 3]),
                Setup::line(&Rules::default(), &state, [a, vertex]),
                Setup::point(&Rules::default(), &state, vertex, 1.0),
            ];
            for (n, setup) in of.into_iter().enumerate() {
                // A line with an end behind the eye is unknown too.
                let is_unknown = is_within || n == 3 && vertex[3] <= 0.0;
                assert_eq!(matches!(setup, Ok(Setup::Unknown)), is_unknown, "{vertex:?}, {n}, depth clamp {depth_clamp}");
            }
        }
        // A triangle beyond a side of the view volume is clipped away.
        let gone = Setup::new(&Rules::default(), &state, [[0.5, 0.0, 0.0, 0.0]; 3]);
        assert!(matches!(gone, Ok(Setup::Nothing)), "{gone:?}");
    }
}

#[test]
fn triangles_behind_the_eye_and_beyond_the_depth_range_are_clipped() {
    assert_eq!(clipped(&Rules::default(), 3_000), Ok(()));
}

#[test]
fn a_plane_to_the_horizon_has_no_holes() {
    // The ground, from behind the eye to far away, as a lattice of triangles. Each pixel is covered
    // as often as by the two triangles that are the whole ground.
    let ground = |x: f32, z: f32| [x, 1.0, z - 0.25, z];
    let mut random = Random(7);
    for _ in 0..50 {
        let n = random.between(2, 5) as usize;
        let mut lattice = Vec::new();
        for (i, j) in (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))) {
            let mut shift = |k: usize| if k == 0 || k == n { 0.0 } else { random.between(-20, 20) as f32 / 100.0 };
            lattice.push(ground((i as f32 + shift(i)) / n as f32 * 20.0 - 10.0, (j as f32 + shift(j)) / n as f32 * 12.0 - 4.0));
        }
        let at = |i: usize, j: usize| lattice[j * (n + 1) + i];
        let small: Vec<_> = (0..n)
            .flat_map(|j| (0..n).map(move |i| (i, j)))
            .flat_map(|(i, j)| [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]])
            .collect();
        let found = counts(&Rules::default(), &state(), &small);
        assert!(found.iter().all(|&count| count <= 1), "covered twice: {found:?}");
        let whole = [[at(0, 0), at(n, 0), at(0, n)], [at(n, 0), at(n, n), at(0, n)]];
        let (first, second) = (set_up(&Rules::default(), &state(), whole[0]), set_up(&Rules::default(), &state(), whole[1]));
        let mut covered = 0;
        for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
            let lanes = [&first, &second].map(|t| t.as_ref().map_or_else(Default::default, |t| t.lane(x, y)));
            if lanes.iter().all(|lane| lane.doubt == Doubt::None) {
                let expected = lanes.iter().filter(|lane| lane.covered).count() as u32;
                assert_eq!(found[(y * 16 + x) as usize], expected, "pixel {x}, {y}");
                covered += expected;
            }
        }
        assert!(covered > 60, "{covered}");
    }
}

#[test]
fn quads_hold_every_pixel_and_their_neighbours() {
    let triangle = set_up(&Rules::default(), &corner(5, 5), flat([[1.0, 1.0], [6.0, 1.0], [1.0, 6.0]])).expect("visible");
    let quads: Vec<_> = triangle.quads().collect();
    assert_eq!(quads.iter().map(|q| (q.x, q.y)).collect::<Vec<_>>(), [(0, 0), (2, 0), (4, 0), (0, 2), (2, 2), (4, 2), (0, 4), (2, 4)]);
    assert_eq!(quads[0].lanes.map(|lane| lane.covered), [false, false, false, true]);
    // The quad at the right: the centre of column 4, row 1 lies inside; column 5 is
    // not in the area.
    assert_eq!(quads[2].lanes.map(|lane| lane.covered), [false, false, true, false]);
    // The edge passes through the centre of (4, 2), which belongs to the triangle
    // on the other side.
    assert_eq!(quads[5].lanes[0], Lane { covered: false, doubt: Doubt::Tie });
    assert_eq!(quads[5].lanes[1..], [Lane::default(); 3]);
}

#[test]
fn no_position_is_too_strange() {
    let strange =
        [0.0f32, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, 1e-45, -1e-45, 1e30, -1e30, f32::MAX, -f32::MAX, 3e5, 1e-20, f32::NAN, f32::INFINITY];
    let mut random = Random(8);
    for n in 0..3_000 {
        let finite = strange.len() - 2 * usize::from(n % 3 != 0);
        let positions = [0; 3].map(|_| [0; 4].map(|_| strange[random.below(finite)]));
        if let Setup::Visible(triangle) = Setup::new(&Rules::default(), &corner(4, 4), positions).expect("a valid state") {
            assert!(positions.iter().flatten().all(|x| x.is_finite()));
            assert!(triangle.quads().count() <= 4);
            let fragment = triangle.fragment(1, 1);
            fragment.interpolate([1.0, f32::MAX, f32::NAN], Interpolation::Perspective);
        }
    }
}

#[test]
fn states_that_mean_nothing_are_refused() {
    let check = |state: State| Setup::new(&Rules::default(), &state, flat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).err();
    let viewport = |v: Viewport| check(State { viewport: v, ..state() });
    let v = Viewport::of_size(16, 16);
    assert_eq!(viewport(Viewport { width: 0.0, ..v }), Some(StateError::Viewport));
    assert_eq!(viewport(Viewport { width: -1.0, ..v }), Some(StateError::Viewport));
    assert_eq!(viewport(Viewport { height: f32::NAN, ..v }), Some(StateError::Viewport));
    assert_eq!(viewport(Viewport { x: 1e9, ..v }), Some(StateError::Viewport));
    assert_eq!(viewport(Viewport { max_depth: 1.5, ..v }), Some(StateError::DepthRange));
    assert_eq!(check(State { area: Area { x: 3, end_x: 2, ..state().area }, ..state() }), Some(StateError::Area));
    assert_eq!(check(State { area: Area::of_size(u32::MAX, 1), ..state() }), Some(StateError::Area));
    let mut coarse = state();
    coarse.precision.sub_pixel_bits = 3;
    assert_eq!(check(coarse), Some(StateError::SubPixelBits));
}

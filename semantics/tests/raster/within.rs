//! Triangles whose vertices are known within bounds, by brute force. Vertices anywhere within the
//! bounds, their corners included, make single triangles, which are rasterised alone. Every result
//! of a single triangle on any device must also be a result for the bounds.

use smallstep_semantics::number::{Inexact, Interval};
use smallstep_semantics::raster::{Cull, Doubt, FrontFace, Interpolation, Lane, Rules, Setup, State, Triangle, Viewport};

use crate::random::Random;

/// The side of the framebuffer in pixels.
const SIDE: u32 = 8;

/// The bounds of a triangle's vertices in clip space, and the state for drawing it.
#[derive(Debug)]
struct Case {
    state: State,
    bounds: [[Interval; 4]; 3],
}

/// Counts of what was compared, so that the test cannot pass without comparing enough.
#[derive(Debug, Default)]
pub struct Found {
    /// Triangles whose setup is unknown, nothing, and visible.
    setups: [u64; 3],
    /// Pixels that are certainly covered, certainly not covered, and in doubt.
    lanes: [u64; 3],
    /// Triangles that certainly face one way, and triangles that may face either way.
    faces: [u64; 2],
    /// Bounds within which the near or far plane cuts some triangles and not others. The second
    /// counts the bounds with a pixel that is certainly covered.
    cut: [u64; 2],
    /// Interpolated values, and the values among them that have finite bounds.
    values: [u64; 2],
}

fn float(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.between(0, 1 << 20) as f64 / f64::from(1 << 20)
}

fn case(random: &mut Random, number: u64) -> Case {
    let mut state = State::of_size(SIDE, SIDE);
    state.cull = random.one_of(&[Cull::None, Cull::None, Cull::Front, Cull::Back, Cull::Both]);
    state.front = random.one_of(&[FrontFace::Clockwise, FrontFace::CounterClockwise]);
    state.depth_clamp = random.below(6) == 0;
    state.samples = random.one_of(&[1, 1, 1, 4]);
    if random.below(4) == 0 {
        let height = random.one_of(&[-8.0, 6.0]);
        state.viewport = Viewport { y: if height < 0.0 { 8.0 } else { 1.0 }, height, min_depth: 0.25, ..state.viewport };
    }
    // The size of triangles, in halves of the screen, and the width of the bounds.
    let size = random.one_of(&[0.03, 0.3, 1.0, 1.0, 2.5, 40.0]);
    let width = random.one_of(&[1e-7, 1e-7, 1e-5, 1e-3, 1e-2, 0.1]);
    let deep = random.one_of(&[0.0, 0.0, 0.0, 0.7]);
    let centre = [0; 2].map(|_| float(random, -0.8, 0.8));
    let mut at = [0; 3].map(|_| centre.map(|c| c + float(random, -size, size)));
    if number.is_multiple_of(4) {
        // Next to no area.
        let (t, off) = (float(random, -0.5, 1.5), random.one_of(&[0.0, 1e-6, 1e-3, 0.02]));
        at[2] = [0, 1].map(|c| at[0][c] + t * (at[1][c] - at[0][c]) + off * float(random, -1.0, 1.0));
    }
    if number.is_multiple_of(5) {
        at = at.map(|p| p.map(|c| (c * 16.0).round() / 16.0));
    }
    let same = random.below(3) == 0;
    let bounds = at.map(|[x, y]| {
        let w = if same { 1.0 } else { float(random, 0.4, 3.0) };
        let z = float(random, -deep, 1.0 + deep) * w;
        [x * w, y * w, z, w].map(|middle| {
            let off = if random.below(3) == 0 { 0.0 } else { width * float(random, 0.0, 1.0) };
            Interval::between(f64::from((middle - off) as f32), f64::from((middle + off) as f32))
        })
    });
    Case { state, bounds }
}

/// A single triangle with vertices within the bounds. Number 0 has the low ends, 1 the high ends, 2
/// the middles, 3 to 5 random ends, and the others random vertices.
fn one(random: &mut Random, case: &Case, number: usize) -> [[f32; 4]; 3] {
    case.bounds.map(|vertex| {
        vertex.map(|Interval { low, high, .. }| {
            let middle = low / 2.0 + high / 2.0;
            let inner = float(random, low, high) as f32;
            let at_end = random.one_of(&[low, high]) as f32;
            match number {
                0 => low as f32,
                1 => high as f32,
                2 => (middle as f32).clamp(low as f32, high as f32),
                3..6 => at_end,
                _ => inner.clamp(low as f32, high as f32),
            }
        })
    })
}

fn visible(setup: &Setup) -> Option<&Triangle> {
    match setup {
        Setup::Visible(triangle) => Some(triangle),
        _ => None,
    }
}

fn holds(all: Inexact, one: Inexact) -> bool {
    let (a, b) = (all.allowed, one.allowed);
    // A triangle without area has no definite value, and its interval is empty.
    let ends = b.low > b.high || a.low <= b.low && b.high <= a.high;
    ends && (a.nan || !b.nan) && (a.contains(one.value) || one.value.is_nan())
}

/// Whether the results for bounds hold for single triangles within the bounds, over many bounds.
pub fn contained(rules: &Rules, cases: u64) -> Result<Found, String> {
    let (mut random, mut found) = (Random(21), Found::default());
    let exact = Rules::default();
    for number in 0..cases {
        let case = case(&mut random, number);
        let all = Setup::within(rules, &case.state, case.bounds).map_err(|e| e.to_string())?;
        let place = match &all {
            Setup::Unknown => 0,
            Setup::Nothing => 1,
            Setup::Visible(_) => 2,
        };
        found.setups[place] += 1;
        let pixels = || (0..i64::from(SIDE)).flat_map(|y| (0..i64::from(SIDE)).map(move |x| [x, y]));
        let lane = |setup: &Setup, [x, y]: [i64; 2]| visible(setup).map_or(Lane::default(), |t| t.lane(x, y));
        let lanes: Vec<Lane> = pixels().map(|pixel| lane(&all, pixel)).collect();
        let values = [0; 3].map(|_| float(&mut random, -10.0, 10.0) as f32);
        if let Some(triangle) = visible(&all) {
            for lane in &lanes {
                found.lanes[if lane.doubt != Doubt::None { 2 } else { usize::from(!lane.covered) }] += 1;
            }
            found.faces[usize::from(!triangle.front_certain)] += 1;
        }
        let quads: Vec<[u32; 2]> = visible(&all).into_iter().flat_map(Triangle::quads).map(|quad| [quad.x, quad.y]).collect();
        let mut clipped = [false; 2];
        for sample in 0..10 {
            let positions = one(&mut random, &case, sample);
            let what = |what: &str| Err(format!("case {number}, {positions:?} of {case:?}: {what}"));
            let alone = Setup::new(&exact, &case.state, positions).map_err(|e| e.to_string())?;
            let depths = positions.map(|[.., z, w]| z < 0.0 || z > w);
            clipped[usize::from(depths.contains(&true) && !case.state.depth_clamp)] = true;
            match (&all, &alone) {
                (Setup::Unknown, _) => continue,
                (_, Setup::Unknown) => return what("nothing is known of it alone"),
                _ => {}
            }
            for ([x, y], &lane) in pixels().zip(&lanes) {
                let of_one = visible(&alone).map_or(Lane::default(), |t| t.lane(x, y));
                if lane.doubt == Doubt::None && of_one != lane {
                    return what(&format!("pixel {x}, {y} is {of_one:?}, and {lane:?} for all"));
                }
                let is_seen = of_one.covered || of_one.doubt != Doubt::None;
                if is_seen && !quads.contains(&[x as u32 & !1, y as u32 & !1]) {
                    return what(&format!("no quad has pixel {x}, {y}, which is {of_one:?}"));
                }
                let (Some(all), Some(alone)) = (visible(&all), visible(&alone)) else { continue };
                if is_seen && all.front_certain && (!alone.front_certain || alone.front != all.front) {
                    return what(&format!("front is {} ({}), and {} for all", alone.front, alone.front_certain, all.front));
                }
                // Compares only some pixels, to save time. Pixels beside the triangle are compared
                // too, as helpers have values there.
                let looks = if is_seen { 3 } else { 21 };
                if (x + 8 * y + sample as i64) % looks != 0 {
                    continue;
                }
                let (a, b) = (all.fragment(x, y), alone.fragment(x, y));
                for (name, a, b) in [
                    ("perspective", a.interpolate(values, Interpolation::Perspective), b.interpolate(values, Interpolation::Perspective)),
                    ("linear", a.interpolate(values, Interpolation::Linear), b.interpolate(values, Interpolation::Linear)),
                    ("depth", a.coordinate[2], b.coordinate[2]),
                    ("1/w", a.coordinate[3], b.coordinate[3]),
                ] {
                    found.values[0] += 1;
                    found.values[1] += u64::from(a.allowed.is_finite());
                    if !holds(a, b) {
                        return what(&format!("{name} of {values:?} at {x}, {y}, {of_one:?}, is {b:?}, and {a:?} for all, {lane:?}"));
                    }
                }
            }
        }
        if clipped == [true, true] && visible(&all).is_some() {
            found.cut[0] += 1;
            found.cut[1] += u64::from(lanes.contains(&Lane { covered: true, doubt: Doubt::None }));
        }
    }
    Ok(found)
}

#[test]
fn every_triangle_within_bounds_is_within_what_is_said_of_all() {
    let found = contained(&Rules::default(), 30_000).unwrap_or_else(|what| panic!("{what}"));
    let Found { setups: [unknown, nothing, seen], lanes, faces, cut, values } = &found;
    assert!(*unknown < 100 && *nothing > 1_000 && *seen > 15_000, "{found:?}");
    assert!(lanes[0] > 50_000 && lanes[1] > 500_000 && lanes[2] > 10_000 && lanes[2] < lanes[0], "{found:?}");
    assert!(faces.iter().all(|&n| n > 5_000) && cut[0] > 500 && cut[1] > 20, "{found:?}");
    assert!(values[0] > 1_000_000 && 2 * values[1] > values[0], "{found:?}");
}

#[test]
fn bounds_without_width_are_a_triangle() {
    let [low, high] = [-0.0, 0.0];
    let point = |x: f32| Interval::point(x.into());
    let vertex = |x: f32, y: f32| [point(x), point(y), Interval { low, high, nan: false }, point(1.0)];
    let bounds = [vertex(-1.0, -1.0), vertex(0.5, -1.0), vertex(-1.0, 0.5)];
    let state = State::of_size(SIDE, SIDE);
    let both = [
        Setup::within(&Rules::default(), &state, bounds),
        Setup::new(&Rules::default(), &state, bounds.map(|vertex| vertex.map(|c| c.low as f32))),
    ];
    let lanes = both.map(|setup| {
        let setup = setup.expect("a valid state");
        let triangle = visible(&setup).expect("it is seen");
        (0..8).flat_map(|y| (0..8).map(move |x| (x, y))).map(|(x, y)| triangle.lane(x, y)).collect::<Vec<_>>()
    });
    assert_eq!(lanes[0], lanes[1]);
    // The vertices are on the grid, so a centre on an edge is a tie and no other doubt.
    assert!(lanes[0].iter().all(|lane| lane.doubt != Doubt::SubPixel) && lanes[0].iter().any(|lane| lane.doubt == Doubt::Tie));
}

#[test]
fn bounds_of_a_few_units_leave_doubt_at_edges_alone() {
    let around = |x: f64| Interval { low: x * (1.0 - 1e-6) - 1e-6, high: x * (1.0 + 1e-6) + 1e-6, nan: false };
    let vertex = |x: f64, y: f64| [around(x), around(y), around(0.5), around(1.0)];
    // One edge goes along a column of centres.
    let bounds = [vertex(-0.890625, -0.93), vertex(0.93, -0.9), vertex(-0.890625, 0.97)];
    let setup = Setup::within(&Rules::default(), &State::of_size(64, 64), bounds).expect("a valid state");
    let triangle = visible(&setup).expect("it is seen");
    let all = || (0..64).flat_map(|y| (0..64).map(move |x| (x, y)));
    let [sure, doubtful] = [Doubt::None, Doubt::SubPixel].map(|doubt| all().filter(|&(x, y)| triangle.lane(x, y).doubt == doubt).count());
    assert!(triangle.front_certain && sure > 4_000 && (50..80).contains(&doubtful), "{sure} sure, {doubtful} in doubt");
    let fragment = triangle.fragment(20, 20);
    for how in [Interpolation::Perspective, Interpolation::Linear] {
        let Interval { low, high, .. } = fragment.interpolate([0.0, 1.0, 2.0], how).allowed;
        assert!(high - low < 1e-3, "{how:?}: {low} to {high}");
    }
    let depth = fragment.coordinate[2].allowed;
    assert!(depth.high - depth.low < 1e-4, "{depth:?}");
}

#[test]
fn triangles_behind_the_eye_are_unknown_and_far_ones_are_nothing() {
    let state = State::of_size(SIDE, SIDE);
    let set_up = |z: [f64; 2], w: [f64; 2]| {
        let vertex =
            |x: f64, y: f64| [Interval::point(x), Interval::point(y), Interval::between(z[0], z[1]), Interval::between(w[0], w[1])];
        let bounds = [vertex(-1.0, -1.0), vertex(0.5, -1.0), vertex(-1.0, 0.5)];
        Setup::within(&Rules::default(), &state, bounds).expect("a valid state")
    };
    assert!(matches!(set_up([0.25, 0.5], [-0.5, 1.0]), Setup::Unknown));
    assert!(matches!(set_up([0.25, 0.5], [0.001, 1.0]), Setup::Unknown));
    assert!(matches!(set_up([1.5, 2.0], [0.5, 1.0]), Setup::Nothing));
    assert!(matches!(set_up([-0.5, -0.25], [0.5, 1.0]), Setup::Nothing));
    assert!(matches!(set_up([0.25, f64::INFINITY], [0.5, 1.0]), Setup::Unknown));
    assert!(matches!(set_up([0.25, 0.375], [0.5, 1.0]), Setup::Visible(_)));
}

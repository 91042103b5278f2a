//! Lines against simulated devices: one for each rule by which Vulkan allows lines to be drawn,
//! with ends snapped in several ways.

use smallstep_semantics::raster::{Doubt, Lane, Rules, Setup, State};

use crate::random::Random;

/// Whether a device that draws the rectangle around a segment covers a point. `None` for a point on
/// the edge.
fn rectangle([a, b]: [[f64; 2]; 2], p: [f64; 2]) -> Option<bool> {
    let (d, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length = d[0].hypot(d[1]);
    let along = (to[0] * d[0] + to[1] * d[1]) / length;
    let beside = (to[0] * d[1] - to[1] * d[0]) / length;
    inside(&[along, length - along, 0.5 - beside.abs()])
}

/// The same for a device that draws a parallelogram.
fn parallelogram([a, b]: [[f64; 2]; 2], p: [f64; 2]) -> Option<bool> {
    let major = usize::from((b[1] - a[1]).abs() > (b[0] - a[0]).abs());
    let minor = 1 - major;
    let t = (p[major] - a[major]) / (b[major] - a[major]);
    let beside = p[minor] - a[minor] - t * (b[minor] - a[minor]);
    inside(&[t, 1.0 - t, 0.5 - beside.abs()])
}

/// The same for a device that uses diamonds, by a walk in fine steps along the segment.
fn diamonds([a, b]: [[f64; 2]; 2], p: [f64; 2]) -> Option<bool> {
    if (0..2).any(|c| p[c] < a[c].min(b[c]) - 1.0 || p[c] > a[c].max(b[c]) + 1.0) {
        return Some(false);
    }
    let distance = |t: f64| (0..2).map(|c| (a[c] + t * (b[c] - a[c]) - p[c]).abs()).sum::<f64>();
    let least = (0..=2048).map(|n| distance(f64::from(n) / 2048.0)).fold(f64::INFINITY, f64::min);
    // The least distance of the walk exceeds the true one by less than a step.
    let unsure = |distance: f64| (distance - 0.5).abs() < 0.02;
    match (least, distance(1.0)) {
        (least, end) if unsure(least) || unsure(end) => None,
        (least, end) => Some(least < 0.5 && end > 0.5),
    }
}

fn inside(distances: &[f64]) -> Option<bool> {
    let on_edge = distances.iter().any(|d| d.abs() < 1e-9);
    (!on_edge).then(|| distances.iter().all(|d| *d > 0.0))
}

/// Whether all devices show the pixels of which the interpreter is certain, and whether it is
/// certain of enough of them.
pub fn lines(rules: &Rules, cases: u64) -> Result<(), String> {
    let mut random = Random(11);
    let (state, mut covered, mut doubtful) = (State::of_size(16, 16), 0u64, 0u64);
    for case in 0..cases {
        let grid = if case % 2 == 0 { 4.0 } else { 4096.0 };
        let mut place = || random.between(0, 16 * 4096) as f64 / 4096.0;
        let ends = [[place(), place()], [place(), place()]].map(|end| end.map(|c| (c * grid).round() / grid));
        let positions = ends.map(|[x, y]| [(x / 8.0 - 1.0) as f32, (y / 8.0 - 1.0) as f32, 0.5, 1.0]);
        let Ok(setup) = Setup::line(rules, &state, positions) else { return Err("a valid state".into()) };
        let snaps: [fn(f64) -> f64; 3] = [f64::floor, f64::ceil, f64::round];
        let devices = snaps.map(|snap| ends.map(|end| end.map(|c| snap(c * 256.0) / 256.0)));
        for (x, y) in (0..16i64).flat_map(|y| (0..16).map(move |x| (x, y))) {
            let lane = match &setup {
                Setup::Visible(line) => line.lane(x, y),
                Setup::Nothing => Lane::default(),
                Setup::Unknown => return Err(format!("{ends:?}: nothing is known")),
            };
            covered += u64::from(lane.covered && lane.doubt == Doubt::None);
            doubtful += u64::from(lane.doubt != Doubt::None);
            if lane.doubt != Doubt::None {
                continue;
            }
            let p = [x as f64 + 0.5, y as f64 + 0.5];
            for ends in devices.into_iter().filter(|[a, b]| a != b) {
                for (rule, shown) in
                    [("rectangles", rectangle(ends, p)), ("parallelograms", parallelogram(ends, p)), ("diamonds", diamonds(ends, p))]
                {
                    if shown.is_some_and(|shown| shown != lane.covered) {
                        return Err(format!("{ends:?} at {x}, {y}: {lane:?}, a device of {rule} shows {shown:?}"));
                    }
                }
            }
        }
    }
    if covered < 2 * cases || doubtful > 20 * cases { Err(format!("{covered} covered, {doubtful} in doubt")) } else { Ok(()) }
}

#[test]
fn what_is_certain_of_lines_is_what_every_rule_shows() {
    assert_eq!(lines(&Rules::default(), 3_000), Ok(()));
}

#[test]
fn no_line_is_too_strange() {
    let strange = [0.0f32, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, 1e-45, 1e30, -1e30, f32::MAX, 3e5, 1e-20, 63.9, f32::NAN, f32::INFINITY];
    let mut random = Random(12);
    for _ in 0..5_000 {
        let positions = [0; 2].map(|_| [0; 4].map(|_| strange[random.below(strange.len())]));
        if let Setup::Visible(line) = Setup::line(&Rules::default(), &State::of_size(4, 4), positions).expect("a valid state") {
            assert!(line.quads().count() <= 4);
            line.fragment(1, 1).interpolate([1.0, f32::MAX, f32::NAN], smallstep_semantics::raster::Interpolation::Perspective);
        }
    }
}

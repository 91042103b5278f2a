//! A line of width 1 on the screen: Vulkan, Basic Line Segment Rasterization and Bresenham Line
//! Segment Rasterization.
//!
//! Vulkan has three rules for lines, and does not say which one a device uses. The rectangle rule
//! (`strictLines`) draws the rectangle of width 1 around the segment. The parallelogram rule draws
//! a parallelogram whose ends lie along an axis. The diamond rule draws the pixels whose diamond
//! the segment passes through or leaves. The definite answer is the rectangle's. A pixel is certain
//! if all three rules agree, wherever a device may have the ends of the segment.
//!
//! By its last rule Vulkan also lets a device draw other pixels, up to one pixel away. We assume
//! that no device does so. Otherwise no pixel of a line would be certain.
//!
//! Absent on purpose: other widths, stipples, smooth lines.

use super::fragment::{Fragment, Planes, Spot};
use super::{Rules, State};

/// The distance from a viewport edge, in pixels, up to which a line cut there may have
/// other pixels.
const BESIDE: f64 = 1.5;

/// A segment on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// The ends in pixels, the provoking one first.
    pub ends: [[f64; 2]; 2],
    /// The greatest error of the ends, in pixels along each axis.
    pub error: f64,
    /// Whether an end is outside of the view volume. A device may cut the line at its sides.
    pub is_cut: bool,
}

/// The common answer, or `None` if answers differ or one is unknown.
fn all(answers: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    answers.into_iter().reduce(|a, b| if a == b { a } else { None }).flatten()
}

impl Segment {
    fn along(&self) -> [f64; 2] {
        let [a, b] = self.ends;
        [b[0] - a[0], b[1] - a[1]]
    }

    fn length(&self) -> f64 {
        let [dx, dy] = self.along();
        dx.hypot(dy)
    }

    /// The axes that a device may take as the major axis of the line.
    fn major(&self) -> impl Iterator<Item = usize> + use<> {
        let [dx, dy] = self.along().map(f64::abs);
        let near = (dx - dy).abs() <= 4.0 * self.error;
        [(0, dx >= dy), (1, dy > dx)].into_iter().filter(move |(_, is)| near || *is).map(|(axis, _)| axis)
    }

    /// The corners of the rectangle around the segment. The argument is the offset of one side
    /// from the ends.
    pub(super) fn corners(&self, [x, y]: [f64; 2]) -> [[f64; 2]; 4] {
        let [a, b] = self.ends;
        [[a[0] + x, a[1] + y], [b[0] + x, b[1] + y], [b[0] - x, b[1] - y], [a[0] - x, a[1] - y]]
    }

    /// Whether all devices with the parallelogram rule cover a place. `None` if they may differ.
    fn parallelogram(&self, p: [f64; 2]) -> Option<bool> {
        let of = |axis: usize| {
            let (d, minor) = (self.along(), 1 - axis);
            let (low, high) = if d[axis] > 0.0 { (0, 1) } else { (1, 0) };
            let [low, high] = [low, high].map(|end: usize| self.ends[end][axis]);
            let slope = if d[axis] == 0.0 { 0.0 } else { d[minor] / d[axis] };
            let middle = self.ends[0][minor] + (p[axis] - self.ends[0][axis]) * slope;
            // The slope is at most 1. An end that moves takes the middle with it, at most
            // twice as far.
            let lost = 4.0 * self.error + f64::EPSILON * 1e6;
            let within = [(p[axis] - low, self.error), (high - p[axis], self.error), (0.5 - (p[minor] - middle).abs(), lost)];
            if within.iter().any(|(inside, lost)| *inside < -lost) {
                Some(false)
            } else if within.iter().all(|(inside, lost)| *inside > *lost) {
                Some(true)
            } else {
                None
            }
        };
        all(self.major().map(of))
    }

    /// Whether all devices with the diamond rule cover a place. The segment must meet the diamond
    /// of the place and not end in it. `None` if they may differ.
    fn diamond(&self, p: [f64; 2]) -> Option<bool> {
        let [a, b] = self.ends.map(|end| [end[0] - p[0], end[1] - p[1]]);
        let at = |t: f64| (a[0] + t * (b[0] - a[0])).abs() + (a[1] + t * (b[1] - a[1])).abs();
        // The distance is least where a coordinate equals that of the place, or at an end.
        let crossings = [0, 1].map(|axis| (a[axis] / (a[axis] - b[axis])).clamp(0.0, 1.0));
        let crossings = crossings.into_iter().filter(|t| !t.is_nan());
        let least = crossings.chain([0.0, 1.0]).map(at).fold(f64::INFINITY, f64::min);
        let lost = 2.0 * self.error + 1e-9;
        let within = |distance: f64| if (distance - 0.5).abs() <= lost { None } else { Some(distance < 0.5) };
        match (within(least), within(at(1.0))) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (Some(true), Some(false)) => Some(true),
            _ => None,
        }
    }

    /// Whether all devices cover a place. `rectangle` is the answer of the rectangle rule.
    /// `near` is the distance of the place from the viewport's end, positive inside. `None` if
    /// devices may differ.
    pub(super) fn certainly(&self, p: [f64; 2], rectangle: Option<bool>, near: f64) -> Option<bool> {
        if self.length() <= 4.0 * self.error {
            // The segment may be a point. Only places far away are certain: not covered.
            let far = (0..2).any(|axis| (p[axis] - self.ends[0][axis]).abs() > 1.0 + 6.0 * self.error);
            return if far { Some(false) } else { None };
        }
        let known = all([rectangle, self.parallelogram(p), self.diamond(p)]);
        match known {
            Some(false) => known,
            // Devices may draw beyond the viewport or not. A line that is cut has another end.
            _ if near < 0.0 || self.is_cut && near < BESIDE => None,
            _ => known,
        }
    }

    /// The inputs of the invocation at a pixel. A device interpolates at the nearest place on the
    /// line, or by the coordinate along the major axis.
    pub(super) fn fragment(&self, planes: &Planes, rules: &Rules, state: &State, pixel: [i64; 2]) -> Fragment {
        let p = pixel.map(|c| c as f64 + 0.5);
        let (a, d, length) = (self.ends[0], self.along(), self.length());
        let to = [p[0] - a[0], p[1] - a[1]];
        let t = (to[0] * d[0] + to[1] * d[1]) / (length * length);
        let mut reach = [t, t];
        for axis in self.major() {
            let other = to[axis] / d[axis];
            reach = [reach[0].min(other), reach[1].max(other)];
        }
        let moved = self.error * std::f64::consts::SQRT_2 / length;
        let lost = 1.5 * moved * (1.0 + 6.0 * to[0].hypot(to[1]) / length);
        let lost = lost + state.spread() * std::f64::consts::SQRT_2 / length;
        let known = (moved < 0.05 && reach.iter().all(|t| t.is_finite())).then(|| [reach[0] - lost, reach[1] + lost]);
        let step = d.map(|d| d / (length * length));
        planes.on_line(rules, state, pixel, Spot { t, reach: known, step })
    }
}

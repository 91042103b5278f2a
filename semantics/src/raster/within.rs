//! Triangles whose vertices are known within bounds. Each coordinate of each vertex in clip space
//! has an interval. The triangle may be any triangle with vertices in these intervals.
//!
//! What is certain of a pixel then holds for every such triangle on every device. The triangle
//! of the middles stands for all of them ([`Setup::within`](super::Setup::within)). The error of
//! its corners grows by the distance that the vertices may move. So the pixels near its edges
//! are in doubt, and no others. It faces one way for certain if its area is greater than any
//! change that this error can make. Inputs of fragments are computed on intervals, by the
//! formulas of `fragment`.
//!
//! **Cutting.** If the triangles may reach through the near or the far plane, some are cut and
//! others are not. The distance from the plane, divided by w, is linear on the screen. A cut
//! triangle covers the places where this is not negative. So a pixel is covered for certain if all
//! triangles cover a square around it and are within the plane there. It is certainly not covered
//! if all are beyond the plane in the square. The square is as large as corners may move, corners
//! of cut triangles included. The part that is left may be too small to tell which way it faces.
//! Helper invocations beside it may have any input, as beside every triangle that is cut.
//!
//! Nothing is known of triangles that may reach behind the eye or beyond the guard band.

use super::{Rules, State};
use crate::number::Interval;

/// A factor that makes room for rounding in 64 bits. Bounds on the error of 32-bit arithmetic are
/// multiplied by it. They grow by more than 64 bits lose, relative to the terms of a bound.
const ROOM: f64 = 1.0 + 1.0 / (1 << 20) as f64;

/// The hull of a function's values at the corners of a box.
pub(super) fn over<const N: usize>(of: [Interval; N], f: impl Fn([f64; N]) -> f64) -> Interval {
    let corner = |k: usize| {
        let mut at = [0.0; N];
        at.iter_mut().zip(of).enumerate().for_each(|(i, (at, of))| *at = if k >> i & 1 == 0 { of.low } else { of.high });
        f(at)
    };
    let all = (0..1 << N).map(|k| Interval::between(corner(k), corner(k)));
    all.reduce(Interval::hull).unwrap_or(Interval::ANY)
}

/// Widens an interval by one 64-bit float at each end, for rounding.
fn rounded(of: Interval) -> Interval {
    Interval { low: of.low.next_down(), high: of.high.next_up(), ..of }
}

fn plus(a: Interval, b: Interval) -> Interval {
    rounded(Interval { low: a.low + b.low, high: a.high + b.high, nan: a.nan || b.nan })
}

fn minus(a: Interval, b: Interval) -> Interval {
    plus(a, Interval { low: -b.high, high: -b.low, ..b })
}

fn times(a: Interval, b: Interval) -> Interval {
    rounded(over([a, b], |[a, b]| a * b))
}

/// The quotient: any number if the divisor may be zero.
fn quotient(a: Interval, b: Interval) -> Interval {
    if b.nan || b.low <= 0.0 && b.high >= 0.0 { Interval::ANY } else { rounded(over([a, b], |[a, b]| a / b)) }
}

fn dot(a: [Interval; 3], b: [Interval; 3]) -> Interval {
    plus(plus(times(a[0], b[0]), times(a[1], b[1])), times(a[2], b[2]))
}

/// The greatest sum of the magnitudes of the products.
fn terms(a: [Interval; 3], b: [Interval; 3]) -> f64 {
    (0..3).map(|i| a[i].magnitude() * b[i].magnitude()).sum::<f64>()
}

/// (b - a) × (c - a).
fn cross(a: [Interval; 2], b: [Interval; 2], c: [Interval; 2]) -> Interval {
    let [bx, by] = [0, 1].map(|axis: usize| minus(b[axis], a[axis]));
    let [cx, cy] = [0, 1].map(|axis: usize| minus(c[axis], a[axis]));
    minus(times(bx, cy), times(by, cx))
}

/// The bounds of the triangles, on the screen.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// The vertices in pixels, before and after snapping to the grid.
    at: [[Interval; 2]; 3],
    z: [Interval; 3],
    w: [Interval; 3],
    /// Twice the area, in square pixels.
    area: Interval,
    /// The greatest error of the corners of one of the triangles, in pixels.
    error: f64,
    /// For each plane that may cut a triangle: the distances of the vertices from the plane,
    /// positive within it.
    cut: Vec<[Interval; 3]>,
}

/// How the planes of clipping affect the triangles.
pub(super) enum Clipped {
    /// All triangles are beyond one of the planes, so nothing is left.
    Away,
    /// The triangles may reach behind the eye or beyond the guard band.
    Unknown,
    /// The triangles may be cut by these planes: for each, the distances of the vertices from it,
    /// positive within it.
    Cut(Vec<[Interval; 3]>),
}

impl Clipped {
    pub(super) fn of(rules: &Rules, state: &State, bounds: &[[Interval; 4]; 3], guard: f64) -> Clipped {
        let mut cut = Vec::new();
        for plane in rules.depth_planes.iter().filter(|_| !state.depth_clamp) {
            let distances = bounds.map(|vertex| over(vertex, plane));
            if distances.iter().all(|d| d.high < 0.0) {
                return Clipped::Away;
            }
            if distances.iter().any(|d| d.low < 0.0) {
                cut.push(distances);
            }
        }
        let outside = |vertex: &[Interval; 4]| {
            let [x, y, _, w] = *vertex;
            w.low <= 0.0 || [x, y].iter().any(|c| c.magnitude() > guard * w.low)
        };
        if bounds.iter().any(outside) { Clipped::Unknown } else { Clipped::Cut(cut) }
    }
}

impl Bounds {
    /// `at` are the places of the vertices in pixels, and `vertices` their bounds in clip space.
    /// `error` is the greatest error of the corners of one of the triangles.
    pub(super) fn new(at: [[Interval; 2]; 3], vertices: [[Interval; 4]; 3], error: f64, cut: Vec<[Interval; 3]>) -> Bounds {
        let (z, w) = (vertices.map(|v| v[2]), vertices.map(|v| v[3]));
        Bounds { at, z, w, area: cross(at[0], at[1], at[2]), error, cut }
    }

    /// Whether a plane may cut some of the triangles.
    pub(super) fn may_be_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// In a square around a place: `Some(true)` if every triangle is within all planes,
    /// `Some(false)` if every triangle is beyond one plane, and `None` otherwise.
    pub(super) fn within_planes(&self, rules: &Rules, place: [f64; 2], around: f64) -> Option<bool> {
        let corners = square(place, around).map(|p| self.over_w(self.barycentric(p)));
        let mut within = Some(true);
        for distances in &self.cut {
            let found = corners.iter().map(|&e| dot(e, *distances)).reduce(Interval::hull).unwrap_or(Interval::ANY);
            match (rules.within_plane)(found) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => within = None,
            }
        }
        within
    }

    /// The barycentric coordinates of a place on the screen.
    fn barycentric(&self, place: [f64; 2]) -> [Interval; 3] {
        let p = place.map(Interval::point);
        [0, 1, 2].map(|i: usize| quotient(cross(p, self.at[(i + 1) % 3], self.at[(i + 2) % 3]), self.area))
    }

    fn over_w(&self, lambda: [Interval; 3]) -> [Interval; 3] {
        [0, 1, 2].map(|i: usize| quotient(lambda[i], self.w[i]))
    }

    /// The derivatives of the barycentric coordinates in x and in y.
    fn gradient(&self) -> [[Interval; 3]; 2] {
        let side = |i: usize, axis: usize| minus(self.at[(i + 1) % 3][axis], self.at[(i + 2) % 3][axis]);
        let negative = |x: Interval| Interval { low: -x.high, high: -x.low, ..x };
        [[0, 1, 2].map(|i| quotient(side(i, 1), self.area)), [0, 1, 2].map(|i| quotient(negative(side(i, 0)), self.area))]
    }

    /// The possible inputs of the invocation at a place. `sure` says that every device covers the
    /// place with every one of the triangles.
    pub(super) fn given(&self, state: &State, place: [f64; 2], sure: bool) -> InputBounds {
        let (lambda, gradient) = (self.barycentric(place), self.gradient());
        // This bounds what `Planes::fragment` computes for each of the triangles.
        let sum: f64 = lambda.iter().map(|l| l.magnitude()).sum();
        let steep: f64 = gradient.iter().flatten().map(|g| g.magnitude()).sum();
        let reach = if sure {
            Some(self.error)
        } else if self.may_be_cut() {
            None
        } else {
            let slope = self.error * steep;
            (slope < 0.5).then(|| self.error * sum.max(1.0) / (1.0 - slope))
        };
        let reach = reach.filter(|reach| reach.is_finite()).map(|reach| reach * ROOM + state.spread());
        InputBounds {
            precision: state.precision.of_interpolation() * ROOM,
            place,
            w: self.w,
            z: self.z,
            lambda,
            gradient,
            corners: reach.map(|reach| square(place, reach).map(|p| self.barycentric(p))),
            may_be_cut: self.may_be_cut(),
        }
    }
}

fn square([x, y]: [f64; 2], r: f64) -> [[f64; 2]; 4] {
    [[x - r, y - r], [x + r, y - r], [x - r, y + r], [x + r, y + r]]
}

/// The possible inputs of an invocation, over all triangles with vertices within bounds.
#[derive(Clone, Debug)]
pub(super) struct InputBounds {
    precision: f64,
    place: [f64; 2],
    w: [Interval; 3],
    z: [Interval; 3],
    /// The barycentric coordinates, and their derivatives in x and in y.
    lambda: [Interval; 3],
    gradient: [[Interval; 3]; 2],
    /// The barycentric coordinates at the corners of the square that contains the device's place.
    /// `None` if the place may be anywhere.
    corners: Option<[[Interval; 3]; 4]>,
    may_be_cut: bool,
}

impl InputBounds {
    /// The normalized depth z/w.
    pub(super) fn depth(&self) -> Interval {
        self.on_screen([0, 1, 2].map(|i: usize| quotient(self.z[i], self.w[i])))
    }

    /// The reciprocal 1/w.
    pub(super) fn reciprocal(&self) -> Interval {
        self.on_screen(self.w.map(|w| quotient(Interval::point(1.0), w)))
    }

    /// An attribute that is linear on the screen, from the values at the vertices.
    pub(super) fn linear(&self, values: [f64; 3]) -> Interval {
        self.on_screen(values.map(Interval::point))
    }

    fn on_screen(&self, values: [Interval; 3]) -> Interval {
        let one = [Interval::point(1.0); 3];
        let lost = self.lost(self.lambda, self.gradient, values);
        // The coordinates sum to 1. For a cut triangle a device may compute the sum, with an error.
        let of_one = if self.may_be_cut { self.precision * terms(self.lambda, one) } else { 0.0 };
        let bottom = Interval::point(1.0).widened(of_one + f64::EPSILON * 1e3);
        self.hull(|lambda| quotient(dot(lambda, values).widened(lost), bottom))
    }

    /// An attribute with perspective, from the values at the vertices.
    pub(super) fn perspective(&self, values: [f64; 3]) -> Interval {
        let (values, one) = (values.map(Interval::point), [Interval::point(1.0); 3]);
        let e_of = |lambda: [Interval; 3]| [0, 1, 2].map(|i: usize| quotient(lambda[i], self.w[i]));
        let (e, gradient) = (e_of(self.lambda), self.gradient.map(e_of));
        let [lost, of_one] = [values, one].map(|f| self.lost(e, gradient, f));
        self.hull(|lambda| {
            let e = e_of(lambda);
            let bottom = dot(e, one).widened(of_one);
            if bottom.low <= 0.0 { Interval::ANY } else { quotient(dot(e, values).widened(lost), bottom) }
        })
    }

    /// The error of a device's arithmetic in Σ e·f.
    fn lost(&self, e: [Interval; 3], gradient: [[Interval; 3]; 2], f: [Interval; 3]) -> f64 {
        let slopes = [0, 1].map(|axis: usize| dot(gradient[axis], f).magnitude() * self.place[axis].abs());
        self.precision * (terms(e, f) + slopes[0] + slopes[1])
    }

    /// The hull over the corners. Any number if nothing is known.
    fn hull(&self, at: impl Fn([Interval; 3]) -> Interval) -> Interval {
        let all = self.corners.iter().flatten().map(|&lambda| at(lambda)).reduce(Interval::hull);
        all.filter(|all| all.is_finite()).unwrap_or(Interval::ANY)
    }
}

//! A triangle whose vertices are known within bounds: each coordinate of each vertex in clip space
//! has an interval, and the triangle is any that has its vertices there.
//!
//! What is said of a pixel then holds for every such triangle on every device. The triangle of the
//! middles stands for all of them ([`Setup::within`](super::Setup::within)): its corners count as
//! so much farther away as the vertices may be moved. So the pixels near its edges are in doubt,
//! and no others. Which way it faces is certain if its area is greater than what that much can
//! change. What fragments are given is computed on intervals, by the formulas of `fragment`.
//!
//! **Cutting.** Where the triangles may reach through the near or the far plane, some are cut and
//! others not. The part that is left of one is what it covers on the screen where the distance from
//! the plane, which is linear there over w, is not negative. So a pixel is covered for certain if
//! all triangles cover a square around it and are within the plane there, and for certain not if
//! all are beyond the plane in the square. The square is as large as corners may be moved,
//! those that are cut too. What is left may be too small to say which way it faces, and helpers
//! beside it may be given anything, as beside every triangle that is cut.
//!
//! Nothing is known of triangles that may reach behind the eye or out of the guard band.

use super::{Rules, State};
use crate::number::Interval;

/// More than what 64 bits lose of a bound, relative to the terms that it is computed from: bounds
/// that arithmetic of 32 bits leaves are widened by so much of themselves.
const ROOM: f64 = 1.0 + 1.0 / (1 << 20) as f64;

/// The hull of what a function gives at the corners of a box.
pub(super) fn over<const N: usize>(of: [Interval; N], f: impl Fn([f64; N]) -> f64) -> Interval {
    let corner = |k: usize| {
        let mut at = [0.0; N];
        at.iter_mut().zip(of).enumerate().for_each(|(i, (at, of))| *at = if k >> i & 1 == 0 { of.low } else { of.high });
        f(at)
    };
    let all = (0..1 << N).map(|k| Interval::between(corner(k), corner(k)));
    all.reduce(Interval::hull).unwrap_or(Interval::ANY)
}

/// With the rounding of 64 bits.
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

/// Any number if the divisor may be zero.
fn quotient(a: Interval, b: Interval) -> Interval {
    if b.nan || b.low <= 0.0 && b.high >= 0.0 { Interval::ANY } else { rounded(over([a, b], |[a, b]| a / b)) }
}

fn dot(a: [Interval; 3], b: [Interval; 3]) -> Interval {
    plus(plus(times(a[0], b[0]), times(a[1], b[1])), times(a[2], b[2]))
}

/// The greatest sum of magnitudes of products.
fn terms(a: [Interval; 3], b: [Interval; 3]) -> f64 {
    (0..3).map(|i| a[i].magnitude() * b[i].magnitude()).sum::<f64>()
}

/// (b - a) × (c - a).
fn cross(a: [Interval; 2], b: [Interval; 2], c: [Interval; 2]) -> Interval {
    let [bx, by] = [0, 1].map(|axis: usize| minus(b[axis], a[axis]));
    let [cx, cy] = [0, 1].map(|axis: usize| minus(c[axis], a[axis]));
    minus(times(bx, cy), times(by, cx))
}

/// The triangles that have their vertices within bounds, on the screen.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// In pixels, snapped to the grid or not.
    at: [[Interval; 2]; 3],
    z: [Interval; 3],
    w: [Interval; 3],
    /// Twice the area.
    area: Interval,
    /// How far away a device may have the corners of one of the triangles, in pixels.
    error: f64,
    /// How far the vertices are within each of the planes that may cut a triangle.
    cut: Vec<[Interval; 3]>,
}

/// How the triangles stand to the planes that they are clipped against.
pub(super) enum Clipped {
    /// All are beyond one of them: nothing is left.
    Away,
    /// They may be behind the eye or beyond the guard band.
    Unknown,
    /// How far the vertices are within each of the planes that may cut one.
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
    /// By the places of the vertices in pixels, their bounds in clip space, and how far away a
    /// device may have the corners of one of the triangles.
    pub(super) fn new(at: [[Interval; 2]; 3], vertices: [[Interval; 4]; 3], error: f64, cut: Vec<[Interval; 3]>) -> Bounds {
        let (z, w) = (vertices.map(|v| v[2]), vertices.map(|v| v[3]));
        Bounds { at, z, w, area: cross(at[0], at[1], at[2]), error, cut }
    }

    /// Whether some of the triangles may be cut.
    pub(super) fn may_be_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// Whether every triangle is within the planes in a square around a place, or beyond one of
    /// them; `None` if neither.
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

    /// How the barycentric coordinates change in x and in y.
    fn gradient(&self) -> [[Interval; 3]; 2] {
        let side = |i: usize, axis: usize| minus(self.at[(i + 1) % 3][axis], self.at[(i + 2) % 3][axis]);
        let negative = |x: Interval| Interval { low: -x.high, high: -x.low, ..x };
        [[0, 1, 2].map(|i| quotient(side(i, 1), self.area)), [0, 1, 2].map(|i| quotient(negative(side(i, 0)), self.area))]
    }

    /// What the invocation at a place may be given, of which every device says for every triangle
    /// that it is covered if `sure`.
    pub(super) fn given(&self, state: &State, place: [f64; 2], sure: bool) -> Given {
        let (lambda, gradient) = (self.barycentric(place), self.gradient());
        // As `Planes::fragment` has it for each of the triangles.
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
        Given {
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

/// What an invocation may be given by the triangles that have their vertices within bounds.
#[derive(Clone, Debug)]
pub(super) struct Given {
    precision: f64,
    place: [f64; 2],
    w: [Interval; 3],
    z: [Interval; 3],
    /// The barycentric coordinates, and how they change in x and in y.
    lambda: [Interval; 3],
    gradient: [[Interval; 3]; 2],
    /// The barycentric coordinates at the corners of the square that a device's place is in;
    /// `None` if it may be anywhere.
    corners: Option<[[Interval; 3]; 4]>,
    may_be_cut: bool,
}

impl Given {
    /// z/w.
    pub(super) fn depth(&self) -> Interval {
        self.on_screen([0, 1, 2].map(|i: usize| quotient(self.z[i], self.w[i])))
    }

    /// 1/w.
    pub(super) fn reciprocal(&self) -> Interval {
        self.on_screen(self.w.map(|w| quotient(Interval::point(1.0), w)))
    }

    /// What is linear on the screen, by the values at the vertices.
    pub(super) fn linear(&self, values: [f64; 3]) -> Interval {
        self.on_screen(values.map(Interval::point))
    }

    fn on_screen(&self, values: [Interval; 3]) -> Interval {
        let one = [Interval::point(1.0); 3];
        let lost = self.lost(self.lambda, self.gradient, values);
        // The coordinates sum to 1; where a triangle is cut, that is computed.
        let of_one = if self.may_be_cut { self.precision * terms(self.lambda, one) } else { 0.0 };
        let bottom = Interval::point(1.0).widened(of_one + f64::EPSILON * 1e3);
        self.hull(|lambda| quotient(dot(lambda, values).widened(lost), bottom))
    }

    /// What is interpolated with perspective, by the values at the vertices.
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

    /// What a device's arithmetic may lose of Σ e·f.
    fn lost(&self, e: [Interval; 3], gradient: [[Interval; 3]; 2], f: [Interval; 3]) -> f64 {
        let slopes = [0, 1].map(|axis: usize| dot(gradient[axis], f).magnitude() * self.place[axis].abs());
        self.precision * (terms(e, f) + slopes[0] + slopes[1])
    }

    /// Over the corners; any number where nothing is known.
    fn hull(&self, at: impl Fn([Interval; 3]) -> Interval) -> Interval {
        let all = self.corners.iter().flatten().map(|&lambda| at(lambda)).reduce(Interval::hull);
        all.filter(|all| all.is_finite()).unwrap_or(Interval::ANY)
    }
}

//! The inputs of a fragment invocation: Vulkan, Basic Polygon Rasterization (interpolation of
//! attributes and depth), FragCoord, FrontFacing.
//!
//! Let λ_i be the barycentric coordinates on the screen. Then e_i = λ_i/w_i is linear on the
//! screen. An attribute with perspective is Σ e_i·f_i / Σ e_i. An attribute that is linear on
//! the screen is Σ e_i·w_i·f_i / Σ e_i·w_i. Depth is Σ e_i·z_i / Σ e_i·w_i, and 1/w is Σ
//! e_i / Σ e_i·w_i. This also holds behind the eye, with e_i = det(p, v_j, v_k) for the vertices
//! (X, Y, W) on the projective screen, up to a common factor.

use super::bias::Slope;
use super::state::MAX_SIDE;
use super::within::InputBounds;
use super::{Rules, State};
use crate::number::{Inexact, Interval};

/// How an attribute is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// With perspective.
    Perspective,
    /// Linear on the screen: NoPerspective.
    Linear,
    /// The value of the provoking vertex, which is the first.
    Flat,
}

/// A place along a line, as the fraction of the way from the first end to the second.
pub(super) struct Spot {
    /// The fraction at the nearest place on the line.
    pub t: f64,
    /// The least and the greatest fraction on any device. `None` if it may be any.
    pub reach: Option<[f64; 2]>,
    /// How fast the fraction grows per pixel, in x and in y.
    pub step: [f64; 2],
}

/// The three e_i of a triangle, as functions on the screen.
#[derive(Clone, Debug)]
pub(super) struct Planes {
    positions: [[f64; 4]; 3],
    /// The vertices on the projective screen, in pixels. For a triangle that was not clipped: (x,
    /// y, 1) of the snapped vertices.
    vertices: [[f64; 3]; 3],
    /// The factor of each determinant.
    factor: [f64; 3],
    clipped: bool,
    /// The greatest distance of a device's vertices from these, in pixels.
    error: f64,
    /// The determinants as functions of a pixel's centre: x · [0] + y · [1] + [2]. `None` if some
    /// order of the operations may round.
    exact: Option<[[f64; 3]; 3]>,
}

/// The determinant of (p, v, u), with p = (x, y, 1), as (v - p·v.w) × (u - p·u.w).
fn determinant(p: [f64; 2], v: [f64; 3], u: [f64; 3]) -> f64 {
    let [a, b] = [v[0] - p[0] * v[2], v[1] - p[1] * v[2]];
    let [c, d] = [u[0] - p[0] * u[2], u[1] - p[1] * u[2]];
    // This is a·d - b·c. The second term corrects the rounding error of b·c.
    let product = b * c;
    a.mul_add(d, -product) - b.mul_add(c, -product)
}

impl Planes {
    /// The planes of a triangle that was not clipped, from its snapped vertices.
    pub(super) fn whole(state: &State, positions: [[f64; 4]; 3], at: [[f64; 2]; 3], error: f64) -> Planes {
        let vertices = at.map(|[x, y]| [x, y, 1.0]);
        let area = determinant(at[0], vertices[1], vertices[2]);
        // Coordinates are integers in sub-pixels. Products of two numbers below 2^25, and a sum of
        // eight of these, are exact in a 64-bit float.
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let is_near = |c: &f64| c.abs() + f64::from(MAX_SIDE) <= f64::from(1 << 24) / one && (c * one).fract() == 0.0;
        let exact = at.iter().flatten().all(is_near).then(|| {
            [(1, 2), (2, 0), (0, 1)].map(|(v, u)| {
                let ([vx, vy], [ux, uy]) = (at[v], at[u]);
                [vy - uy, ux - vx, vx * uy - vy * ux]
            })
        });
        Planes { positions, vertices, factor: positions.map(|p| 1.0 / (area * p[3])), clipped: false, error, exact }
    }

    /// The planes of a clipped triangle, from its original vertices on the projective screen.
    pub(super) fn clipped(state: &State, positions: [[f64; 4]; 3], error: f64) -> Planes {
        let [[width, x], [height, y]] = state.viewport.axes().map(|axis| axis.map(f64::from));
        let vertices = positions.map(|p| [p[0] * (width / 2.0) + x * p[3], p[1] * (height / 2.0) + y * p[3], p[3]]);
        // Numerator and denominator share the sign, so either sign is right. This one
        // makes w positive.
        let mut planes = Planes { positions, vertices, factor: [1.0; 3], clipped: true, error, exact: None };
        let [a, b, c] = vertices;
        let whole = a[0] * (b[1] * c[2] - c[1] * b[2]) - a[1] * (b[0] * c[2] - c[0] * b[2]) + a[2] * (b[0] * c[1] - c[0] * b[1]);
        planes.factor = [1.0 / whole; 3];
        planes
    }

    /// The planes of a line. The second end counts twice.
    pub(super) fn line([a, b]: [[f64; 4]; 2], error: f64) -> Planes {
        Planes { positions: [a, b, b], vertices: [[0.0; 3]; 3], factor: [0.0; 3], clipped: false, error, exact: None }
    }

    /// The inputs of the invocation at a pixel of a line.
    pub(super) fn on_line(&self, rules: &Rules, state: &State, pixel: [i64; 2], spot: Spot) -> Fragment {
        let p = pixel.map(|c| c as f64 + 0.5);
        let w = self.positions.map(|p| p[3]);
        let e_of = |t: f64| [(1.0 - t) / w[0], t / w[1], 0.0];
        let gradient = spot.step.map(|step| [-step / w[0], step / w[1], 0.0]);
        let corners = spot.reach.map(|[low, high]| [low, high, low, high].map(e_of));
        self.given(rules, state, p, (e_of(spot.t), gradient, corners), (false, true))
    }

    /// The planes of a point. Its vertex counts three times.
    pub(super) fn point(position: [f64; 4]) -> Planes {
        Planes { positions: [position; 3], vertices: [[0.0; 3]; 3], factor: [0.0; 3], clipped: true, error: 0.0, exact: None }
    }

    /// The inputs of the invocation at a pixel of a point, with its PointCoord.
    pub(super) fn fragment_of_point(&self, rules: &Rules, state: &State, pixel: [i64; 2], coordinate: [Inexact; 2]) -> Fragment {
        let p = pixel.map(|c| c as f64 + 0.5);
        let [.., z, w] = self.positions[0];
        let precision = state.precision.of_interpolation();
        let range = [f64::from(state.viewport.min_depth), f64::from(state.viewport.max_depth)];
        let near = |value: f64, exact: bool| match exact {
            true => Inexact::exact(value),
            false => Inexact { value, allowed: Interval::point(value).widened(precision * value.abs()).of_f32() },
        };
        let is_exact = |x: f64| f64::from((x / w) as f32) * w == x;
        let depth = near((rules.depth_range)((rules.divide)(z, w), range[0], range[1]), is_exact(z) && range == [0.0, 1.0]);
        let e = [1.0 / w, 0.0, 0.0];
        Fragment {
            perspective: rules.perspective,
            linear: rules.linear,
            w: [w; 3],
            e,
            gradient: [[0.0; 3]; 2],
            corners: Some([e; 4]),
            sure: true,
            clipped: true,
            precision,
            p,
            unlimited: depth,
            front: true,
            within: None,
            coordinate: [
                Inexact::exact(p[0]),
                Inexact::exact(p[1]),
                limited(depth, Interval::between(range[0], range[1])),
                near(1.0 / w, is_exact(1.0)),
            ],
            point: Some(coordinate),
        }
    }

    pub(super) fn is_clipped(&self) -> bool {
        self.clipped
    }

    /// The slope of the depth over the screen. `None` for a triangle that was clipped.
    pub(super) fn slope(&self, rules: &Rules, state: &State) -> Option<Slope> {
        if self.clipped {
            return None;
        }
        let [near, far] = [state.viewport.min_depth, state.viewport.max_depth].map(f64::from);
        let lost = state.precision.of_interpolation();
        let depths = self.positions.map(|[.., z, w]| {
            let normalized = (rules.divide)(z, w);
            // The depth is exact if no operation rounds.
            let exact = f64::from(normalized as f32) * w == z && (near, far) == (0.0, 1.0);
            let value = (rules.depth_range)(normalized, near, far);
            Inexact { value, allowed: Interval::point(value).widened(if exact { 0.0 } else { lost * value.abs().max(1.0) }) }
        });
        Slope::of(depths, self.vertices.map(|[x, y, _]| [x, y]), self.error, lost)
    }

    /// The three e_i at a point on the screen.
    fn at(&self, p: [f64; 2]) -> [f64; 3] {
        let [a, b, c] = self.vertices;
        let e = [determinant(p, b, c), determinant(p, c, a), determinant(p, a, b)];
        [0, 1, 2].map(|i| e[i] * self.factor[i])
    }

    /// ∂e/∂x and ∂e/∂y.
    fn gradient(&self) -> [[f64; 3]; 2] {
        let of = |i: usize| {
            let (v, u) = (self.vertices[(i + 1) % 3], self.vertices[(i + 2) % 3]);
            [v[1] * u[2] - u[1] * v[2], u[0] * v[2] - v[0] * u[2]].map(|x| x * self.factor[i])
        };
        let g = [of(0), of(1), of(2)];
        [[g[0][0], g[1][0], g[2][0]], [g[0][1], g[1][1], g[2][1]]]
    }

    /// The inputs of the invocation at a point on the screen. `sure` says that every device covers
    /// the point. A device may take any point that is at most `spread` away in x and in y.
    pub(super) fn fragment(&self, rules: &Rules, state: &State, (p, spread): ([f64; 2], f64), sure: bool, front: bool) -> Fragment {
        let w = self.positions.map(|p| p[3]);
        let e = self.at(p);
        let gradient = self.gradient();
        // The greatest distance of the point with a device's coordinates. If these are not negative
        // it is ε. Otherwise it is ε·Σ|λ'|, where Σ|λ'| ≤ Σ|λ| + ε·Σ|λ'|·Σ|∂λ|.
        let sum: f64 = (0..3).map(|i| (e[i] * w[i]).abs()).sum();
        let steep: f64 = gradient.iter().map(|g| (0..3).map(|i| (g[i] * w[i]).abs()).sum::<f64>()).sum();
        let reach = if sure {
            Some(self.error)
        } else if self.clipped {
            None
        } else {
            let slope = self.error * steep;
            (slope < 0.5).then(|| self.error * sum.max(1.0) / (1.0 - slope))
        };
        let reach = reach.map(|reach| reach + spread);
        let corners = reach.map(|r| [[-r, -r], [r, -r], [-r, r], [r, r]].map(|[dx, dy]| self.at([p[0] + dx, p[1] + dy])));
        self.given(rules, state, p, (e, gradient, corners), (sure, front))
    }

    /// The definite inputs of the invocations of a quad that lies inside of a triangle.
    pub(super) fn inner(&self, rules: &Rules, state: &State, [x, y]: [u32; 2]) -> Inner {
        let [x, y] = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let centres = [[x, x + 1.0, x, x + 1.0], [y, y, y + 1.0, y + 1.0]];
        let e = match &self.exact {
            None => {
                let e = [0, 1, 2, 3].map(|lane| self.at([centres[0][lane], centres[1][lane]]));
                [0, 1, 2].map(|i| e.map(|e| e[i]))
            }
            Some(exact) => [0, 1, 2].map(|i| {
                let ([dx, dy, constant], factor) = (exact[i], self.factor[i]);
                [0, 1, 2, 3].map(|lane| (dx * centres[0][lane] + dy * centres[1][lane] + constant) * factor)
            }),
        };
        Inner {
            perspective: rules.perspective,
            linear: rules.linear,
            depth_range: rules.depth_range,
            range: [state.viewport.min_depth, state.viewport.max_depth].map(f64::from),
            z: self.positions.map(|p| p[2]),
            w: self.positions.map(|p| p[3]),
            e,
            centres,
        }
    }

    /// The inputs of the invocation at a place. `corners` are e at the corners of the square that
    /// contains the device's place.
    #[expect(clippy::type_complexity, reason = "e in three ways")]
    fn given(
        &self,
        rules: &Rules,
        state: &State,
        p: [f64; 2],
        (e, gradient, corners): ([f64; 3], [[f64; 3]; 2], Option<[[f64; 3]; 4]>),
        (sure, front): (bool, bool),
    ) -> Fragment {
        let w = self.positions.map(|p| p[3]);
        let precision = state.precision.of_interpolation();
        let mut fragment = Fragment {
            perspective: rules.perspective,
            linear: rules.linear,
            w,
            e,
            gradient,
            corners,
            sure,
            clipped: self.clipped,
            precision,
            p,
            front,
            within: None,
            unlimited: Inexact::exact(0.0),
            coordinate: [Inexact::exact(0.0); 4],
            point: None,
        };
        let range = [f64::from(state.viewport.min_depth), f64::from(state.viewport.max_depth)];
        let depth = |z: f64| (rules.depth_range)(z, range[0], range[1]);
        let normalized = fragment.quotient(self.positions.map(|p| p[2]), w, |e, z| super::dot(e, z) / super::dot(e, w));
        let z = Inexact { value: depth(normalized.value), allowed: in_range(normalized.allowed, range, precision) };
        fragment.unlimited = z;
        let limits = Interval::between(range[0], range[1]);
        let z = if sure || state.depth_clamp { limited(z, limits) } else { z };
        let reciprocal = fragment.quotient([1.0; 3], w, |e, one| super::dot(e, one) / super::dot(e, w));
        let reciprocal = Inexact { allowed: reciprocal.allowed.of_f32(), ..reciprocal };
        fragment.coordinate = [Inexact::exact(p[0]), Inexact::exact(p[1]), z, reciprocal];
        fragment
    }
}

/// An interpolation rule: its arguments are e, w and the values at the vertices.
type Interpolated = fn([f64; 3], [f64; 3], [f64; 3]) -> f64;

/// The inputs of the invocation at a pixel.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The rules of interpolation.
    perspective: Interpolated,
    linear: Interpolated,
    w: [f64; 3],
    e: [f64; 3],
    gradient: [[f64; 3]; 2],
    /// e at the corners of the square that contains the device's place. `None` if the place
    /// may be anywhere.
    corners: Option<[[f64; 3]; 4]>,
    sure: bool,
    clipped: bool,
    precision: f64,
    p: [f64; 2],
    /// The depth before it is clamped to any range.
    unlimited: Inexact,
    /// FrontFacing.
    pub front: bool,
    /// FragCoord: the pixel's centre, the depth, and 1/w.
    pub coordinate: [Inexact; 4],
    /// PointCoord, for a point. A point's attributes are those of its vertex.
    pub point: Option<[Inexact; 2]>,
    /// The inputs as intervals, if this is a fragment of several triangles with vertices
    /// within bounds.
    within: Option<Box<InputBounds>>,
}

/// The definite inputs of the four invocations of a quad, if every device covers all of its pixels.
#[derive(Clone, Debug)]
pub struct Inner {
    perspective: Interpolated,
    linear: Interpolated,
    depth_range: fn(f64, f64, f64) -> f64,
    range: [f64; 2],
    z: [f64; 3],
    w: [f64; 3],
    /// e, by vertex and lane.
    e: [[f64; 4]; 3],
    /// The pixel centres, by axis and lane.
    centres: [[f64; 4]; 2],
}

impl Inner {
    /// A component of FragCoord in the four invocations: the values of [`Fragment::coordinate`].
    pub fn coordinate(&self, component: usize) -> [f32; 4] {
        let [near, far] = self.range;
        match component {
            0 | 1 => self.centres[component].map(|centre| centre as f32),
            2 => self.on_screen(self.z).map(|z| (self.depth_range)(z, near, far).clamp(near.min(far), near.max(far)) as f32),
            _ => self.on_screen([1.0; 3]).map(|reciprocal| reciprocal as f32),
        }
    }

    /// A quantity that is linear on the screen, in the four invocations. `f` are its products with
    /// w at the vertices.
    fn on_screen(&self, f: [f64; 3]) -> [f64; 4] {
        // Inside of the triangle each e is finite, not zero, and has the sign of w.
        if f == self.w {
            return [1.0; 4];
        }
        if f.iter().all(|f| f.to_bits() == 0) {
            return [0.0; 4];
        }
        let dot = |f: [f64; 3]| [0, 1, 2, 3].map(|lane| self.e[0][lane] * f[0] + self.e[1][lane] * f[1] + self.e[2][lane] * f[2]);
        let (above, below) = (dot(f), dot(self.w));
        [0, 1, 2, 3].map(|lane| above[lane] / below[lane])
    }

    /// An attribute in the four invocations: the values of [`Fragment::interpolate`].
    pub fn interpolate(&self, values: [f32; 3], how: Interpolation) -> [f32; 4] {
        let e = |lane: usize| self.e.map(|e| e[lane]);
        [0, 1, 2, 3].map(|lane| definite((self.perspective, self.linear), (e(lane), self.w), values, how))
    }
}

/// The definite value of an attribute, from e and w.
fn definite(
    (perspective, linear): (Interpolated, Interpolated),
    (e, w): ([f64; 3], [f64; 3]),
    values: [f32; 3],
    how: Interpolation,
) -> f32 {
    let f = values.map(f64::from);
    match how {
        Interpolation::Flat => values[0],
        _ if f.iter().any(|x| !x.is_finite()) => linear(e, w, f) as f32,
        Interpolation::Perspective => perspective(e, w, f) as f32,
        Interpolation::Linear => linear(e, w, f) as f32,
    }
}

/// Maps normalized depths to the depth range, with the error of a device's arithmetic.
fn in_range(normalized: Interval, range: [f64; 2], precision: f64) -> Interval {
    let ends = [normalized.low, normalized.high].map(|z| z * (range[1] - range[0]) + range[0]);
    match Interval::between(ends[0], ends[1]) {
        depths if depths.is_finite() => depths.widened(precision * depths.magnitude().min(1.0)).of_f32(),
        depths => depths,
    }
}

/// Clamps a depth to a range.
fn limited(z: Inexact, limits: Interval) -> Inexact {
    let allowed = z.allowed.clamped(limits.low, limits.high).narrowed_to(limits);
    Inexact { value: z.value.clamp(limits.low, limits.high), allowed }
}

impl Fragment {
    /// The fragment of all triangles with vertices within bounds. Definite values are those of the
    /// triangle in the middle.
    pub(super) fn within(mut self, state: &State, given: InputBounds) -> Fragment {
        let range = [f64::from(state.viewport.min_depth), f64::from(state.viewport.max_depth)];
        let limits = Interval::between(range[0], range[1]);
        let near = |of: Inexact, allowed: Interval| {
            let value = if of.value.is_nan() { 0.0 } else { of.value };
            Inexact { value, allowed: allowed.hull(Interval::point(value)) }
        };
        self.unlimited = near(self.unlimited, in_range(given.depth(), range, self.precision));
        let held = limited(self.unlimited, limits);
        self.coordinate[2] = match self.sure || state.depth_clamp {
            true => held,
            // Some of the triangles may cover the pixel, and their depth is clamped.
            false => Inexact { allowed: self.unlimited.allowed.hull(held.allowed), ..self.unlimited },
        };
        self.coordinate[3] = near(self.coordinate[3], given.reciprocal().of_f32());
        self.within = Some(Box::new(given));
        self
    }

    /// Adds the triangle's bias to the depth, and returns the sum. FragCoord may be the depth with
    /// or without the bias: no clause says which.
    ///
    /// Without depth clamping, a depth outside of 0 to 1 is undefined (Vulkan, Depth Clamping and
    /// Range Adjustment).
    pub fn bias(&mut self, state: &State, offset: Inexact) -> Inexact {
        let whole = Interval::between(0.0, 1.0);
        let range = Interval::between(state.viewport.min_depth.into(), state.viewport.max_depth.into());
        // Inside of the triangle the depth lies in the range before the bias is added.
        let before = if state.depth_clamp || !self.sure { self.unlimited } else { limited(self.unlimited, range) };
        let (a, b) = (before.allowed, offset.allowed);
        let mut allowed = Interval { low: a.low + b.low, high: a.high + b.high, nan: a.nan || b.nan };
        if allowed.low.is_nan() || allowed.high.is_nan() {
            allowed = Interval::ANY;
        }
        let moved = Inexact { value: before.value + offset.value, allowed: allowed.of_f32() };
        let depth = match state.depth_clamp {
            true => limited(moved, range),
            false if whole.low <= allowed.low && allowed.high <= whole.high && !allowed.nan => moved,
            false => Inexact { value: moved.value.clamp(0.0, 1.0), allowed: whole },
        };
        self.coordinate[2] = Inexact { value: depth.value, allowed: depth.allowed.hull(self.coordinate[2].allowed) };
        depth
    }

    /// Whether the fragment belongs to several triangles with vertices within bounds. Its definite
    /// values are those of one of these triangles, which a device need not draw.
    pub fn is_of_several(&self) -> bool {
        self.within.is_some()
    }

    /// The barycentric coordinates with perspective: BaryCoordKHR.
    pub fn barycentric(&self) -> [f64; 3] {
        let sum: f64 = self.e.iter().sum();
        self.e.map(|e| e / sum)
    }

    /// Interpolates an attribute of floats from its values at the three vertices. Integers are not
    /// interpolated: they are the provoking vertex's, bit for bit.
    pub fn interpolate(&self, values: [f32; 3], how: Interpolation) -> Inexact {
        let f = values.map(f64::from);
        if how == Interpolation::Flat {
            return Inexact::exact(f[0]);
        }
        // A line on the screen from before the eye to behind it has no middle.
        let through_eye = how == Interpolation::Linear && self.w.iter().any(|&w| w <= 0.0);
        if through_eye || f.iter().any(|x| !x.is_finite()) {
            return Inexact { value: (self.linear)(self.e, self.w, f), allowed: Interval::ANY };
        }
        let result = match (&self.within, how) {
            (Some(given), Interpolation::Perspective) => {
                Inexact { value: (self.perspective)(self.e, self.w, f), allowed: given.perspective(f) }
            }
            (Some(given), _) => Inexact { value: (self.linear)(self.e, self.w, f), allowed: given.linear(f) },
            (None, Interpolation::Perspective) => self.quotient(f, [1.0; 3], |e, f| (self.perspective)(e, self.w, f)),
            (None, _) => self.quotient(super::product(f, self.w), self.w, |e, _| (self.linear)(e, self.w, f)),
        };
        let mut allowed = result.allowed;
        if self.sure {
            // No place in the triangle exceeds the values at the vertices, except by the error
            // of arithmetic.
            let hull = f.iter().map(|&x| Interval::point(x)).reduce(Interval::hull).unwrap_or(Interval::ANY);
            let lost = match how {
                Interpolation::Perspective => {
                    let room = if self.within.is_some() { 2.0 } else { 1.0 };
                    room * (self.lost(f) + hull.magnitude() * self.lost([1.0; 3])) / self.e.iter().sum::<f64>()
                }
                _ => self.precision * hull.magnitude(),
            };
            if lost >= 0.0 {
                allowed = allowed.narrowed_to(hull.widened(lost));
            }
        }
        Inexact { value: f64::from(result.value as f32), allowed: allowed.of_f32() }
    }

    /// The definite value of [`Fragment::interpolate`] alone.
    pub fn definite(&self, values: [f32; 3], how: Interpolation) -> f32 {
        definite((self.perspective, self.linear), (self.e, self.w), values, how)
    }

    /// The error of a device's arithmetic in Σ e·f.
    fn lost(&self, f: [f64; 3]) -> f64 {
        let terms: f64 = (0..3).map(|i| (self.e[i] * f[i]).abs()).sum();
        let slopes: f64 = [0, 1].map(|axis| super::dot(self.gradient[axis], f).abs() * self.p[axis].abs()).iter().sum();
        self.precision * (terms + slopes)
    }

    /// Σ e·n / Σ e·d. The definite value comes from a rule. The allowed interval is the hull
    /// over the corners, with the error of arithmetic.
    fn quotient(&self, n: [f64; 3], d: [f64; 3], value: impl Fn([f64; 3], [f64; 3]) -> f64) -> Inexact {
        let value = value(self.e, n);
        let Some(corners) = self.corners else { return Inexact { value, allowed: Interval::ANY } };
        // On the screen the sum of λ is 1, so a device need not divide.
        let lost = [self.lost(n), if d == self.w && !self.clipped { 0.0 } else { self.lost(d) }];
        let mut allowed: Option<Interval> = None;
        for e in corners {
            let (top, bottom) = (super::dot(e, n), super::dot(e, d));
            if bottom.is_nan() || bottom - lost[1] <= 0.0 {
                return Inexact { value, allowed: Interval::ANY };
            }
            for top in [top - lost[0], top + lost[0]] {
                for bottom in [bottom - lost[1], bottom + lost[1]] {
                    let one = Interval::between(top / bottom, top / bottom);
                    allowed = Some(allowed.map_or(one, |so_far| so_far.hull(one)));
                }
            }
        }
        Inexact { value, allowed: allowed.unwrap_or(Interval::ANY) }
    }
}

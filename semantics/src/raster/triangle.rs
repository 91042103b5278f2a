//! Triangles on the screen: Vulkan, Coordinate Transformations; Controlling the Viewport;
//! Basic Polygon Rasterization; and quads with helper invocations (Shaders, Helper
//! Invocations; Quad scope).

use std::ops::{Range, RangeInclusive};

use smallvec::SmallVec;

use super::clip::{self, Vertex};
use super::fragment::{Fragment, Inner, Planes};
use super::line::Segment;
use super::within::{Bounds, Clipped};
use super::{Cull, Rules, State, StateError, bias};
use crate::image::Format;
use crate::number::{Inexact, Interval};

/// The greatest normalized device coordinate of a vertex after clipping. The guard band is 64 times
/// as large as the view volume.
const GUARD: f64 = 64.0;

/// The greatest error of a corner, in pixels. Beyond it, nothing is known of a primitive.
const MAX_ERROR: f64 = 16_384.0;

/// The relative error of a few operations in 32-bit floats.
const FLOAT_ERROR: f64 = 1.0 / (1 << 21) as f64;

/// Why a device's coverage of a pixel may differ from the definite answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Doubt {
    /// It may not: all devices agree.
    #[default]
    None,
    /// The centre lies on an edge. One of two triangles at the edge covers it, and the
    /// specification does not say which.
    Tie,
    /// The centre is near an edge: projection, clipping and snapping may move the edge across it.
    /// Or it is uncertain which way the triangle faces.
    SubPixel,
}

/// The coverage of a pixel or a sample by a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Lane {
    /// Whether the triangle covers the pixel's centre, by the definite answer.
    pub covered: bool,
    /// Why a device may differ from `covered`, if it may.
    pub doubt: Doubt,
}

impl Lane {
    /// Every device covers the pixel.
    pub const SURE: Lane = Lane { covered: true, doubt: Doubt::None };

    /// The coverage of a pixel by two samples: covered if either is. It is certain if both are
    /// certain, or if one of them is covered on every device.
    fn or(self, other: Lane) -> Lane {
        let doubt = match (self.doubt, other.doubt) {
            _ if self == Lane::SURE || other == Lane::SURE => Doubt::None,
            (Doubt::None, Doubt::None) => Doubt::None,
            _ => Doubt::SubPixel,
        };
        Lane { covered: self.covered || other.covered, doubt }
    }
}

/// Four pixels whose invocations share derivatives. Pixels that are not covered have
/// helper invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quad {
    /// The left column, even.
    pub x: u32,
    /// The upper row, even.
    pub y: u32,
    /// The pixels (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1). Pixels outside of the area are
    /// never covered.
    pub lanes: [Lane; 4],
}

/// The result of setting up a primitive.
#[derive(Clone, Debug)]
pub enum Setup {
    /// The primitive covers nothing: it is outside, culled, or has no area.
    Nothing,
    /// Any pixel may be covered. A coordinate is not finite, a vertex in the view volume has w = 0,
    /// or the errors are as large as the screen.
    Unknown,
    /// The primitive may cover pixels.
    Visible(Box<Triangle>),
}

/// A corner of a primitive on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// The place in sub-pixels.
    pub(super) at: [i64; 2],
    /// The greatest distance of a device's corner from `at`, in pixels.
    pub(super) error: f64,
    /// Whether the vertex is outside of the view volume in x or y. A device may cut the edges that
    /// end here at the side of the view volume. Its new vertex lies within `error` of the edge.
    /// False if all such cuts are exact.
    outside: bool,
}

/// A triangle on the screen, after clipping. Points and lines have this type too.
#[derive(Clone, Debug)]
pub struct Triangle {
    pub(super) rules: Rules,
    pub(super) state: State,
    pub(super) corners: SmallVec<[Corner; 9]>,
    /// Twice the area in square sub-pixels, positive if the corners turn clockwise with y
    /// pointing down.
    pub(super) area: i128,
    /// Whether it is front-facing, by the definite answer.
    pub front: bool,
    /// Whether every device sees it face the same way.
    pub front_certain: bool,
    /// Whether the definite answer culls it. Then it is kept only because a device may see it face
    /// the other way.
    culled: bool,
    /// Whether devices may disagree on culling it, because they may see it face differently.
    culling_doubt: bool,
    planes: Planes,
    shape: Shape,
    /// The bounds of the vertices, if this stands for several triangles ([`Setup::within`]).
    bounds: Option<Box<Bounds>>,
}

/// The kind of primitive that a [`Triangle`] holds.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Triangle,
    /// The square of a point: its centre in sub-pixels and its size in pixels.
    Point([i64; 2], f64),
    /// The rectangle around a line.
    Line(Segment),
}

/// The sizes of points that are modeled. Every device with large points has these.
const POINT_SIZES: RangeInclusive<f32> = 1.0..=64.0;

/// Whether a vertex is in the view volume with w = 0. Then the division by w is undefined.
fn has_no_place(state: &State, [x, y, z, w]: [f64; 4]) -> bool {
    [x, y, w] == [0.0; 3] && (z == 0.0 || state.depth_clamp)
}

impl Setup {
    /// Sets up a point from its clip-space position and its size in pixels: the square around it
    /// (Basic Point Rasterization).
    ///
    /// A point whose vertex is outside of the view volume is dropped by the definite answer. A
    /// device may still draw it, if only user clip planes drop points (`pointClippingBehavior`). A
    /// device may round a size that is no integer (`pointSizeGranularity`). Nothing is known of
    /// sizes that devices need not support (`pointSizeRange`).
    ///
    /// # Errors
    /// For a state that is not valid.
    pub fn point(rules: &Rules, state: &State, position: [f32; 4], size: f32) -> Result<Setup, StateError> {
        state.check()?;
        if position.iter().any(|x| !x.is_finite()) || !POINT_SIZES.contains(&size) {
            return Ok(Setup::Unknown);
        }
        let wide = position.map(f64::from);
        let [x, y, z, w] = wide;
        if has_no_place(state, wide) {
            return Ok(Setup::Unknown);
        }
        if w <= 0.0 {
            return Ok(Setup::Nothing);
        }
        let is_outside = x.abs() > w || y.abs() > w || !state.depth_clamp && (z < 0.0 || z > w);
        let corner = corner(rules, state, &Vertex { position: wide, scale: [0.0; 4] });
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let half = f64::from(size) / 2.0;
        let rounded = if size.fract() == 0.0 { 0.0 } else { 0.5 + 1.0 / one };
        let error = corner.error + rounded;
        if error > MAX_ERROR || (x / w).abs() > GUARD || (y / w).abs() > GUARD {
            return Ok(Setup::Unknown);
        }
        let side = (half * one).round() as i64;
        let corners = [[-side, -side], [side, -side], [side, side], [-side, side]];
        Ok(Setup::Visible(Box::new(Triangle {
            rules: *rules,
            state: *state,
            corners: corners
                .map(|[dx, dy]| Corner { at: [corner.at[0] + dx, corner.at[1] + dy], error, outside: false })
                .into_iter()
                .collect(),
            area: 8 * i128::from(side) * i128::from(side),
            front: true,
            front_certain: true,
            culled: is_outside,
            culling_doubt: is_outside,
            planes: Planes::point(wide),
            shape: Shape::Point(corner.at, size.into()),
            bounds: None,
        })))
    }

    /// Sets up a line of width 1 from the clip-space positions of its ends.
    ///
    /// Nothing is known of a line that crosses the near or the far plane or reaches behind the eye.
    ///
    /// # Errors
    /// For a state that is not valid.
    pub fn line(rules: &Rules, state: &State, positions: [[f32; 4]; 2]) -> Result<Setup, StateError> {
        state.check()?;
        if positions.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(Setup::Unknown);
        }
        let wide = positions.map(|p| p.map(f64::from));
        if wide.iter().any(|p| has_no_place(state, *p)) {
            return Ok(Setup::Unknown);
        }
        let beyond = |plane: fn([f64; 4]) -> bool| wide.iter().filter(|p| plane(**p)).count();
        let planes: [fn([f64; 4]) -> bool; 4] = [|p| p[0] < -p[3], |p| p[0] > p[3], |p| p[1] < -p[3], |p| p[1] > p[3]];
        let cut = planes.map(beyond);
        let depths = rules.depth_planes.map(|plane| wide.iter().filter(|p| plane(**p) < 0.0 && !state.depth_clamp).count());
        if cut.contains(&2) || depths.contains(&2) || wide.iter().all(|p| p[3] <= 0.0) {
            return Ok(Setup::Nothing);
        }
        if depths.contains(&1) || wide.iter().any(|[x, y, _, w]| *w <= 0.0 || (x / w).abs() > GUARD || (y / w).abs() > GUARD) {
            return Ok(Setup::Unknown);
        }
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let corners = wide.map(|position| corner(rules, state, &Vertex { position, scale: [0.0; 4] }));
        let is_cut = cut.contains(&1);
        // A device that cuts the line snaps the new end to the grid.
        let moved = if is_cut { 2.0 / one } else { 0.0 };
        let error = corners.iter().map(|c| c.error).fold(0.0, f64::max) + moved;
        if error.is_nan() || error > MAX_ERROR {
            return Ok(Setup::Unknown);
        }
        if corners[0].at == corners[1].at && error == 0.0 {
            return Ok(Setup::Nothing);
        }
        let ends = corners.map(|corner| corner.at.map(|c| c as f64 / one));
        let segment = Segment { ends, error, is_cut };
        let [dx, dy] = [0, 1].map(|axis| ends[1][axis] - ends[0][axis]);
        let beside = if (dx, dy) == (0.0, 0.0) { [0.5; 2] } else { (rules.beside_line)(dx, dy) };
        // The rectangle's corners are off the grid if the line is not along an axis.
        let snapped = segment.corners(beside).map(|at| at.map(|c| (c * one).round()));
        let rounded = if dx == 0.0 || dy == 0.0 { 0.0 } else { 1.0 / one };
        // Moving the ends turns the rectangle. The shorter the line, the greater the angle.
        let turned = 2.0 * error / dx.hypot(dy).max(4.0 * error);
        let error_of = if error == 0.0 { rounded } else { error + rounded + turned };
        Ok(Setup::Visible(Box::new(Triangle {
            rules: *rules,
            state: *state,
            corners: snapped.map(|at| Corner { at: at.map(|c| c as i64), error: error_of, outside: false }).into_iter().collect(),
            area: 1,
            front: true,
            front_certain: true,
            culled: false,
            culling_doubt: false,
            planes: Planes::line(wide, error),
            shape: Shape::Line(segment),
            bounds: None,
        })))
    }

    /// Sets up a triangle from the clip-space positions of its vertices.
    ///
    /// # Errors
    /// For a state that is not valid.
    pub fn new(rules: &Rules, state: &State, positions: [[f32; 4]; 3]) -> Result<Setup, StateError> {
        state.check()?;
        if positions.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(Setup::Unknown);
        }
        let wide = positions.map(|p| p.map(f64::from));
        let Some(polygon) = clip::clip(rules, wide, GUARD, state.depth_clamp) else {
            return Ok(Setup::Unknown);
        };
        if polygon.len() < 3 {
            return Ok(Setup::Nothing);
        }
        let clipped = polygon.len() != 3 || polygon.iter().any(|v| v.scale != [0.0; 4]);
        let mut corners: SmallVec<[Corner; 9]> = polygon.iter().map(|v| corner(rules, state, v)).collect();
        // If all cuts are exact and end on the grid, a device that cuts has the same edges.
        let is_there = |v: &Vertex| polygon.contains(v) || corner(rules, state, v).error == 0.0;
        if clip::cut_exactly(&polygon).is_none_or(|cut| !cut.iter().all(is_there)) {
            let error = cut_error(state, &polygon);
            for (corner, Vertex { position: [x, y, _, w], .. }) in corners.iter_mut().zip(&polygon) {
                corner.outside = x.abs() > *w || y.abs() > *w;
                if corner.outside {
                    corner.error = corner.error.max(error);
                }
            }
        }
        let error = corners.iter().map(|c| c.error).fold(0.0, f64::max);
        if error.is_nan() || error > MAX_ERROR {
            return Ok(Setup::Unknown);
        }
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let at = |i: usize| corners[i].at.map(|x| x as f64 / one);
        let planes = if clipped { Planes::clipped(state, wide, error) } else { Planes::whole(state, wide, [at(0), at(1), at(2)], error) };
        Ok(Setup::faced(rules, state, corners, planes, None))
    }

    /// Sets up a triangle whose vertices are only known within bounds in clip space. It stands for
    /// all triangles with vertices in these bounds. If the bounds are single 32-bit floats, this
    /// is [`Setup::new`].
    ///
    /// What is certain of a pixel, a quad or a fragment holds for all of these triangles on all
    /// devices. Definite answers are those of the triangle in the middle of the bounds. Nothing is
    /// known if a triangle may reach behind the eye or beyond the guard band.
    ///
    /// # Errors
    /// For a state that is not valid.
    pub fn within(rules: &Rules, state: &State, bounds: [[Interval; 4]; 3]) -> Result<Setup, StateError> {
        state.check()?;
        if bounds.iter().flatten().any(|c| !c.is_finite() || c.low > c.high) {
            return Ok(Setup::Unknown);
        }
        if bounds.iter().flatten().all(|c| c.low == c.high && f64::from(c.low as f32) == c.low) {
            return Setup::new(rules, state, bounds.map(|vertex| vertex.map(|c| c.low as f32)));
        }
        let cut = match Clipped::of(rules, state, &bounds, GUARD) {
            Clipped::Away => return Ok(Setup::Nothing),
            Clipped::Unknown => return Ok(Setup::Unknown),
            Clipped::Cut(cut) => cut,
        };
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let middle = bounds.map(|vertex| vertex.map(|c| c.low / 2.0 + c.high / 2.0));
        let corners = middle.map(|position| corner(rules, state, &Vertex { position, scale: [0.0; 4] }).at);
        let mut at = [[Interval::point(0.0); 2]; 3];
        let (mut moved, mut error) = (0.0f64, 0.0f64);
        let greatest = |c: usize| bounds.iter().map(|vertex| vertex[c].magnitude()).fold(0.0, f64::max);
        let nearest = bounds.iter().map(|vertex| vertex[3].low).fold(f64::INFINITY, f64::min);
        let is_inside = cut.is_empty() && bounds.iter().all(|vertex| (0..2).all(|c| vertex[c].magnitude() <= vertex[3].low));
        for (vertex, bounds) in bounds.iter().enumerate() {
            for (axis, [extent, centre]) in state.viewport.axes().into_iter().enumerate() {
                let (half, centre) = (f64::from(extent.abs()) / 2.0, f64::from(centre));
                let normalized = (rules.divide_bounds)(bounds[axis], bounds[3]);
                let place = [normalized.low, normalized.high].map(|x| (rules.viewport)(x, extent.into(), centre) * one);
                let on_grid = place.map(rules.snap);
                let [place, on_grid] = [place, on_grid].map(|[a, b]| Interval::between(a, b));
                moved = moved.max((rules.moved)(on_grid, corners[vertex][axis] as f64) / one);
                at[vertex][axis] = (rules.snap_bounds)(place, on_grid).times(1.0 / one).widened(f64::EPSILON * MAX_ERROR);
                // The error that `corner` gives to each of the triangles. It includes triangles
                // that are cut: by the guard band, or by a device without one.
                let plane = if cut.is_empty() { 1.0 } else { GUARD };
                let scale = if is_inside { 0.0 } else { half * (greatest(axis) + plane * greatest(3)) / nearest };
                let position = if cut.is_empty() { normalized.magnitude() } else { GUARD } * half + centre.abs();
                error = error.max(1.0 / one + FLOAT_ERROR * (position + 2.0 * scale));
            }
        }
        // Cutting yields other corners, which are snapped to the grid from other places.
        let cut_elsewhere = if cut.is_empty() { 0.0 } else { 2.0 / one };
        let apart = ((rules.apart)(moved, error) + cut_elsewhere) * (1.0 + FLOAT_ERROR);
        if apart.is_nan() || apart > MAX_ERROR {
            return Ok(Setup::Unknown);
        }
        let places = corners.map(|at| at.map(|x| x as f64 / one));
        let planes = Planes::whole(state, middle, places, apart);
        let corners = corners.into_iter().map(|at| Corner { at, error: apart, outside: false }).collect();
        Ok(Setup::faced(rules, state, corners, planes, Some(Box::new(Bounds::new(at, bounds, error, cut)))))
    }

    /// Decides which way the triangle faces, and whether it is culled or has no area.
    fn faced(rules: &Rules, state: &State, corners: SmallVec<[Corner; 9]>, planes: Planes, bounds: Option<Box<Bounds>>) -> Setup {
        let error = corners.iter().map(|c| c.error).fold(0.0, f64::max);
        let at = |i: usize| corners[i % corners.len()].at.map(i128::from);
        let count = corners.len();
        let area: i128 = (1..count - 1).map(|i| doubled_area(at(0), at(i), at(i + 1))).sum();
        let one = f64::from(1 << state.precision.sub_pixel_bits);
        let moved = |i: usize| [0, 1].map(|c| (at(i + 2)[c] - at(i)[c]).unsigned_abs() as f64).iter().sum::<f64>();
        let slack = error * one * (0..count).map(moved).sum::<f64>() + 4.0 * count as f64 * (error * one).powi(2);
        // The part that cutting leaves may be too small to tell which way it faces.
        let may_be_cut = bounds.as_ref().is_some_and(|bounds| bounds.may_be_cut());
        let front_certain = error == 0.0 || (rules.faces_surely)(area as f64, slack) && !may_be_cut;
        let front = (rules.front)(area, state.front);
        let drops = |front: bool| match state.cull {
            Cull::None => false,
            Cull::Front => front,
            Cull::Back => !front,
            Cull::Both => true,
        };
        let culled = drops(front);
        let culling_doubt = !front_certain && drops(front) != drops(!front);
        if area == 0 && error == 0.0 || culled && !culling_doubt {
            return Setup::Nothing;
        }
        Setup::Visible(Box::new(Triangle {
            rules: *rules,
            state: *state,
            corners,
            area,
            front,
            front_certain,
            culled,
            culling_doubt,
            planes,
            shape: Shape::Triangle,
            bounds,
        }))
    }
}

impl Triangle {
    /// Whether the triangle covers the centre of a pixel. With several samples: whether it
    /// covers any of them.
    pub fn lane(&self, x: i64, y: i64) -> Lane {
        (0..self.state.samples).map(|sample| self.sample(x, y, sample)).reduce(Lane::or).unwrap_or_default()
    }

    /// Whether the triangle covers a sample of a pixel. With one sample this is the centre.
    pub fn sample(&self, x: i64, y: i64, sample: u32) -> Lane {
        if !self.state.area.contains(x, y) {
            return Lane::default();
        }
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let p = match self.state.samples {
            1 => [x, y].map(|c| (self.rules.centre)(c, one)),
            samples => {
                let at = (self.rules.sample)(samples, sample);
                [x * one + at[0] * one / 16, y * one + at[1] * one / 16]
            }
        };
        let place = p.map(|c| c as f64 / one as f64);
        let near = self.nearness(p);
        let inside = self.winding(p.map(i128::from)) != 0;
        if let Shape::Line(segment) = &self.shape {
            let rectangle = (near == Doubt::None).then_some(inside);
            let known = segment.certainly(place, rectangle, self.within_viewport(place));
            return Lane { covered: inside, doubt: if known == Some(inside) { Doubt::None } else { Doubt::SubPixel } };
        }
        // Points are not clipped to the viewport.
        let (in_view, view_doubt) = if self.is_polygon() { self.in_viewport(place) } else { (true, false) };
        let mut lane = Lane { covered: inside && in_view && !self.culled, doubt: near };
        if self.culling_doubt && inside || view_doubt && (inside || near != Doubt::None) {
            lane.doubt = Doubt::SubPixel;
        }
        if !in_view && !view_doubt {
            lane.doubt = Doubt::None;
        }
        let may_be_seen = lane.covered || lane.doubt != Doubt::None;
        if let Some(bounds) = self.bounds.as_ref().filter(|bounds| may_be_seen && bounds.may_be_cut()) {
            let around = self.corners.iter().map(|c| c.error).fold(0.0, f64::max);
            match bounds.within_planes(&self.rules, place, around) {
                Some(true) => {}
                Some(false) => return Lane::default(),
                None => lane.doubt = Doubt::SubPixel,
            }
        }
        lane
    }

    /// All quads with a pixel that is or may be covered, row by row.
    pub fn quads(&self) -> impl Iterator<Item = Quad> + '_ {
        let mut walk = self.walk();
        std::iter::from_fn(move || walk.next(self)).flatten()
    }

    /// The quad at a place, if one of its pixels is or may be covered.
    pub fn quad(&self, [x, y]: [i64; 2]) -> Option<Quad> {
        let lanes = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| self.lane(x + dx, y + dy));
        let seen = lanes.iter().any(|lane| lane.covered || lane.doubt != Doubt::None);
        seen.then_some(Quad { x: x as u32, y: y as u32, lanes })
    }

    /// The inputs of the invocation at a pixel, which may be a helper invocation.
    pub fn fragment(&self, x: i64, y: i64) -> Fragment {
        self.fragment_of_lane([x, y], self.lane(x, y))
    }

    /// Whether every device covers the four pixels of a quad, and this is one plain triangle
    /// ([`Triangle::is_plain`]).
    pub fn is_inner(&self, quad: &Quad) -> bool {
        self.is_plain() && quad.lanes == [Lane::SURE; 4]
    }

    /// Whether this is a single triangle, not a point, line or several triangles, with one sample
    /// for each pixel.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_polygon() && self.bounds.is_none() && self.state.samples == 1
    }

    /// The definite inputs of the invocations of an inner quad ([`Triangle::is_inner`]).
    pub fn inner(&self, at: [u32; 2]) -> Inner {
        self.planes.inner(&self.rules, &self.state, at)
    }

    /// [`Triangle::fragment`] for a pixel whose lane is known.
    pub fn fragment_of_lane(&self, [x, y]: [i64; 2], lane: Lane) -> Fragment {
        if let Shape::Line(segment) = &self.shape {
            return segment.fragment(&self.planes, &self.rules, &self.state, [x, y]);
        }
        if let Shape::Point(at, size) = self.shape {
            let one = f64::from(1 << self.state.precision.sub_pixel_bits);
            let error = self.corners.iter().map(|c| c.error).fold(0.0, f64::max);
            let coordinate = [0, 1].map(|axis| {
                let centre = [x, y][axis] as f64 + 0.5;
                let value = 0.5 + (centre - at[axis] as f64 / one) / size;
                let lost = self.state.precision.of_interpolation() + (error + self.state.spread()) / size;
                Inexact { value, allowed: Interval::point(value).widened(lost).of_f32() }
            });
            return self.planes.fragment_of_point(&self.rules, &self.state, [x, y], coordinate);
        }
        let sure = self.state.samples == 1 && lane == Lane::SURE;
        self.fragment_near(([x, y].map(|c| c as f64 + 0.5), self.state.spread()), sure)
    }

    /// The inputs of the invocation for one sample of a pixel. `None` for points and lines, for
    /// which this is not modeled.
    pub fn fragment_of_sample(&self, x: i64, y: i64, sample: u32) -> Option<Fragment> {
        if !self.is_polygon() {
            return None;
        }
        let at = (self.rules.sample)(self.state.samples, sample);
        let p = [0, 1].map(|axis| [x, y][axis] as f64 + at[axis] as f64 / 16.0);
        let sure = self.sample(x, y, sample) == Lane::SURE;
        Some(self.fragment_near((p, 0.0), sure))
    }

    fn fragment_near(&self, (p, spread): ([f64; 2], f64), sure: bool) -> Fragment {
        let fragment = self.planes.fragment(&self.rules, &self.state, (p, spread), sure, self.front);
        match &self.bounds {
            None => fragment,
            Some(bounds) => fragment.within(&self.state, bounds.given(&self.state, p, sure)),
        }
    }

    /// Whether this stands for several triangles with vertices within bounds ([`Setup::within`]).
    pub fn is_one_of_several(&self) -> bool {
        self.bounds.is_some()
    }

    /// Whether this is a triangle and not a point or a line.
    pub fn is_polygon(&self) -> bool {
        matches!(self.shape, Shape::Triangle)
    }

    /// The depth bias of each fragment in a depth attachment of that format. `None` if the state
    /// has no bias, or for points and lines.
    pub fn depth_bias(&self, format: Format) -> Option<Inexact> {
        let bias = self.state.depth_bias.filter(|_| self.is_polygon())?;
        let slope = self.planes.slope(&self.rules, &self.state).filter(|_| self.bounds.is_none());
        Some(bias::offset(&self.rules, bias, slope, format))
    }

    /// The barycentric coordinates of a pixel's centre in the triangle of the three snapped
    /// vertices. They are exact: three numerators and a denominator that is not zero. `None`
    /// for points and lines, and for a triangle that was clipped, has no area, or is known
    /// within bounds.
    pub fn barycentric(&self, x: i64, y: i64) -> Option<([i128; 3], i128)> {
        if self.planes.is_clipped() || self.area == 0 || !self.is_polygon() || self.bounds.is_some() {
            return None;
        }
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let p = [x, y].map(|c| i128::from((self.rules.centre)(c, one)));
        let at = |i: usize| self.corners[i % 3].at.map(i128::from);
        Some(([1, 2, 0].map(|i| doubled_area(p, at(i), at(i + 1))), self.area))
    }

    /// The columns and the rows of all pixels that may be covered. Both ranges start at
    /// an even number.
    pub(super) fn bounds(&self) -> [Range<i64>; 2] {
        let one = f64::from(1 << self.state.precision.sub_pixel_bits);
        let error = self.corners.iter().map(|c| c.error).fold(0.0, f64::max) + 1.0;
        let area = [[self.state.area.x, self.state.area.end_x], [self.state.area.y, self.state.area.end_y]];
        [0, 1].map(|axis| {
            let ends = self.corners.iter().map(|c| c.at[axis] as f64 / one);
            let low = (ends.clone().fold(f64::INFINITY, f64::min) - error).floor() as i64;
            let high = (ends.fold(f64::NEG_INFINITY, f64::max) + error).ceil() as i64;
            let [first, end] = area[axis].map(i64::from);
            low.clamp(first, end) & !1..high.clamp(first, end)
        })
    }

    /// The winding number of the boundary around a point. It is the sum, over a fan of triangles,
    /// of the directions of those that cover the point. A point on an edge that two of them share
    /// counts for one of them only, so inner edges have no effect.
    fn winding(&self, p: [i128; 2]) -> i32 {
        let at = |i: usize| self.corners[i].at.map(i128::from);
        (1..self.corners.len() - 1).map(|i| self.covers(p, at(0), at(i), at(i + 1))).sum()
    }

    /// The direction of the triangle, 1 or -1, if it covers the point, and 0 otherwise.
    fn covers(&self, p: [i128; 2], a: [i128; 2], b: [i128; 2], c: [i128; 2]) -> i32 {
        let area = doubled_area(a, b, c);
        let (b, c) = if area < 0 { (c, b) } else { (b, c) };
        let within = [(a, b), (b, c), (c, a)].into_iter().all(|(from, to)| {
            let side = doubled_area(from, to, p);
            side > 0 || side == 0 && (self.rules.top_left)(to[0] - from[0], to[1] - from[1])
        });
        if area != 0 && within { area.signum() as i32 } else { 0 }
    }

    /// The edge that a pixel's centre lies on, by the index of its first vertex. Every device must
    /// have the edge there, and no other edge may be near. `None` otherwise, and for points, lines,
    /// triangles that were clipped, and several samples.
    ///
    /// Of two triangles on either side of a common edge, exactly one covers such a pixel: Basic
    /// Polygon Rasterization.
    pub fn edge(&self, x: i64, y: i64) -> Option<usize> {
        if self.planes.is_clipped() || !self.is_polygon() || self.state.samples > 1 || self.lane(x, y).doubt != Doubt::Tie {
            return None;
        }
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let p = [x, y].map(|c| i128::from((self.rules.centre)(c, one)));
        let at = |i: usize| self.corners[i % 3].at.map(i128::from);
        let mut on = (0..3).filter(|&i| doubled_area(at(i), at(i + 1), p) == 0);
        // A tie may lie on the line of one edge only. If it lay on two, the centre would be a
        // vertex, or the triangle would have no area.
        on.next().filter(|_| on.next().is_none() && self.area != 0)
    }

    /// The doubt about a point, from its distance to the boundary.
    fn nearness(&self, p: [i64; 2]) -> Doubt {
        let mut doubt = Doubt::None;
        for (i, a) in self.corners.iter().enumerate() {
            let b = &self.corners[(i + 1) % self.corners.len()];
            let error = error_near(&self.state, a, b, p);
            let (from, to) = (a.at, b.at);
            // A segment and a square around the point meet unless one of these directions
            // separates them.
            let meets = |c: usize| (from[c].min(to[c]) - p[c]) as f64 <= error && (p[c] - from[c].max(to[c])) as f64 <= error;
            let reach = || ((to[0] - from[0]).abs() + (to[1] - from[1]).abs()) as f64 * error;
            let area = || doubled_area(from.map(i128::from), to.map(i128::from), p.map(i128::from));
            if meets(0) && meets(1) && area().abs() as f64 <= reach() * (1.0 + 1e-9) {
                if error > 0.0 {
                    return Doubt::SubPixel;
                }
                doubt = Doubt::Tie;
            }
        }
        doubt
    }

    /// Shrinks columns and rows to the pixels whose centres are certainly in the area and the
    /// viewport. If such a pixel is inside of all edges, it is covered for certain. `None` if other
    /// facts decide coverage too: no plain triangle, or culling.
    pub(super) fn seen_for_certain(&self, [columns, rows]: [&Range<i64>; 2]) -> Option<[Range<i64>; 2]> {
        if !self.is_plain() || self.culled || self.culling_doubt {
            return None;
        }
        let one = 1i64 << self.state.precision.sub_pixel_bits;
        let (v, area) = (&self.state.viewport, &self.state.area);
        let axes = [(v.x, v.width, area.x..area.end_x, columns), (v.y, v.height, area.y..area.end_y, rows)];
        Some(axes.map(|(from, extent, area, pixels)| {
            let (a, b) = (f64::from(from), f64::from(from) + f64::from(extent));
            let (low, high) = (a.min(b), a.max(b));
            let is_within = |pixel: i64| {
                let centre = (self.rules.centre)(pixel, one) as f64 / one as f64;
                low + 2.0 / (one as f64) < centre && centre < high - 2.0 / one as f64
            };
            let start = pixels.start.max(area.start.into()).max(low.floor() as i64 - 1);
            let mut within = start..pixels.end.min(area.end.into()).min(high.ceil() as i64 + 1);
            while within.start < within.end && !is_within(within.start) {
                within.start += 1;
            }
            while within.start < within.end && !is_within(within.end - 1) {
                within.end -= 1;
            }
            within
        }))
    }

    /// The distance of a place from the viewport's nearest end, in pixels. It is negative outside.
    fn within_viewport(&self, place: [f64; 2]) -> f64 {
        let v = &self.state.viewport;
        let axes = [(v.x, v.width), (v.y, v.height)].map(|(from, extent)| [f64::from(from), f64::from(from) + f64::from(extent)]);
        let inside = axes.iter().zip(place).map(|([a, b], c)| (c - a.min(*b)).min(a.max(*b) - c));
        inside.fold(f64::INFINITY, f64::min)
    }

    /// Whether a place in pixels lies in the viewport, and whether that is in doubt. Primitives are
    /// clipped to the viewport.
    fn in_viewport(&self, centre: [f64; 2]) -> (bool, bool) {
        let v = &self.state.viewport;
        let step = 1.0 / f64::from(1 << self.state.precision.sub_pixel_bits);
        let ends = [(v.x, v.width), (v.y, v.height)].map(|(from, extent)| {
            let (a, b) = (f64::from(from), f64::from(from) + f64::from(extent));
            [a.min(b), a.max(b)]
        });
        let inside = (0..2).all(|c| ends[c][0] <= centre[c] && centre[c] < ends[c][1]);
        let near = (0..2).all(|c| ends[c][0] - step <= centre[c] && centre[c] <= ends[c][1] + step)
            && (0..2).any(|c| ends[c].iter().any(|end| (end - centre[c]).abs() <= step));
        (inside, near)
    }
}

/// The error of an edge near a point, in sub-pixels. It lies between the errors of the edge's two
/// ends, in proportion to the point's place along the edge.
fn error_near(state: &State, a: &Corner, b: &Corner, p: [i64; 2]) -> f64 {
    let one = f64::from(1 << state.precision.sub_pixel_bits);
    let (less, more) = if a.error <= b.error { (a, b) } else { (b, a) };
    if a.error == b.error || less.outside {
        return more.error * one;
    }
    let along = [0, 1].map(|c| (more.at[c] - less.at[c]) as f64);
    let length = along[0].hypot(along[1]);
    let to = [0, 1].map(|c| (p[c] - less.at[c]) as f64);
    // A cut edge ends at the side of the viewport, or beyond it.
    let whole = if more.outside { leaves(state, less.at, along) } else { 1.0 };
    // A part of the edge that an error moves into reach of the point comes from nearby: no farther
    // along the edge than the greater error, across a square's diagonal.
    let part = ((to[0] * along[0] + to[1] * along[1]) / (length * length) + 2.0 * more.error * one / length) / whole;
    let error = less.error + (more.error - less.error) * part.clamp(0.0, 1.0);
    if error.is_nan() { more.error * one } else { error * one }
}

/// The fraction of a way at which it leaves the viewport, or 1 if it stays. The way starts within
/// the viewport. Both vectors are in sub-pixels.
fn leaves(state: &State, from: [i64; 2], way: [f64; 2]) -> f64 {
    let one = f64::from(1 << state.precision.sub_pixel_bits);
    let v = &state.viewport;
    let axes = [(v.x, v.width), (v.y, v.height)].into_iter().enumerate().map(|(c, (start, extent))| {
        let ends = [start, start + extent].map(|end| (f64::from(end) * one - from[c] as f64) / way[c]);
        ends[0].max(ends[1])
    });
    axes.filter(|part| part.is_finite()).fold(1.0, f64::min)
}

/// Twice the area of a triangle, positive if it turns clockwise with y pointing down.
fn doubled_area(a: [i128; 2], b: [i128; 2], c: [i128; 2]) -> i128 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Projects and snaps a vertex. The corner is certain if each operation of the specification
/// is exact in 32-bit floats and the result lies on the grid. Otherwise a device may round it
/// to either side.
fn corner(rules: &Rules, state: &State, vertex: &Vertex) -> Corner {
    let one = f64::from(1 << state.precision.sub_pixel_bits);
    let w = vertex.position[3];
    let mut corner = Corner { at: [0; 2], error: 0.0, outside: false };
    for (axis, [extent, centre]) in state.viewport.axes().into_iter().enumerate() {
        let x = vertex.position[axis];
        let projected = (rules.viewport)((rules.divide)(x, w), extent.into(), centre.into());
        let snapped = (rules.snap)(projected * one);
        corner.at[axis] = snapped as i64;
        let is_certain = vertex.scale == [0.0; 4] && exact_in_f32(x, w, extent, centre, [state.viewport.x, state.viewport.y][axis]);
        if !(is_certain && snapped == projected * one) {
            let half = f64::from(extent.abs()) / 2.0;
            let position = (x / w).abs() * half + f64::from(centre).abs();
            let cut = half * (vertex.scale[axis] + (x / w).abs() * vertex.scale[3]) / w;
            corner.error = corner.error.max(1.0 / one + FLOAT_ERROR * (position + 2.0 * cut));
        }
    }
    corner
}

/// The greatest distance, in pixels, from an edge to the vertex that a device makes where it cuts
/// the edge. The vertex's position is rounded, and then snapped to the grid.
fn cut_error(state: &State, polygon: &[Vertex]) -> f64 {
    let one = f64::from(1 << state.precision.sub_pixel_bits);
    let greatest = |c: usize| polygon.iter().map(|v| v.position[c].abs()).fold(0.0, f64::max);
    let nearest = polygon.iter().map(|v| v.position[3]).fold(f64::INFINITY, f64::min);
    let of_axis = |(axis, [extent, centre]): (usize, [f32; 2])| {
        let (half, centre) = (f64::from(extent.abs()) / 2.0, f64::from(centre));
        let farthest = polygon.iter().map(|v| (v.position[axis] / v.position[3]).abs()).fold(0.0, f64::max);
        let position = farthest * half + centre.abs();
        1.0 / one + FLOAT_ERROR * (position + 2.0 * half * (greatest(axis) + greatest(3)) / nearest)
    };
    state.viewport.axes().into_iter().enumerate().map(of_axis).fold(0.0, f64::max)
}

/// Whether x/w·(extent/2) + centre, and the centre itself, need no rounding in 32-bit floats.
fn exact_in_f32(x: f64, w: f64, extent: f32, centre: f32, from: f32) -> bool {
    let quotient = (x / w) as f32;
    let scaled = quotient * (extent / 2.0);
    let sum = scaled + centre;
    f64::from(quotient) * w == x
        && f64::from(scaled) == f64::from(quotient) * f64::from(extent / 2.0)
        && f64::from(sum) == f64::from(scaled) + f64::from(centre)
        && f64::from(centre) == f64::from(from) + f64::from(extent) / 2.0
}

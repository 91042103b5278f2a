//! Rasterisation of triangles, points and lines: Vulkan, Drawing Commands (Primitive Topologies),
//! Fixed-Function Vertex Post-Processing, Rasterization, and Fragment Operations. It works on plain
//! data and knows nothing of shader modules.
//!
//! | module | what it holds |
//! |---|---|
//! | `assemble` | vertices to primitives: lists, strips, fans; the primitives of a draw in order |
//! | `state` | viewport, area, culling, precision |
//! | `clip` | clipping a triangle against planes of clip space |
//! | `triangle` | projection, snapping to sub-pixels, facing, coverage, quads; squares of points |
//! | `walk` | the quads of a triangle in order, and which of them are certainly inside |
//! | `within` | triangles whose vertices are known within bounds |
//! | `line` | which pixels a line covers, by the three rules of devices |
//! | `sample` | the places of a pixel's samples |
//! | `fragment` | interpolation: perspective, linear, flat; FragCoord |
//! | `depth` | the depth test and the depth bounds test |
//! | `bias` | the depth bias |
//! | `stencil` | the stencil test |
//! | `depth_stencil` | these tests in their order, with the attachments |
//! | `presence` | which devices have a fragment |
//! | `order` | the order in which fragments reach the attachments |
//! | `blend` | blending with the contents of colour attachments |
//!
//! **Draws.** A draw of a language shades its vertices, sets up each of the [`Primitives`], and
//! shades the quads of each primitive ([`Triangle::walk`]). Fragments reach the attachments in
//! rasterization order ([`RasterOrder`]). On the way they are tested ([`DepthStencil`]). Only the
//! values are the language's own: inputs, outputs, and colour attachments.
//!
//! **Coverage.** Vertices are projected in 64-bit floats and snapped to the sub-pixel grid. From
//! there on, coverage is computed exactly, in integers. A point on an edge belongs to the triangle
//! of which this is a top or a left edge. So exactly one of two triangles with a common edge covers
//! it. Vulkan requires no more than that one of them does, and does not say how vertices are
//! snapped. So a doubt accompanies the definite answer. It is [`Doubt::SubPixel`] if a device may
//! move the vertices so far that the answer changes. It is [`Doubt::Tie`] if the pixel centre lies
//! on an edge between vertices that all devices have at the same place.
//!
//! Why that is sound: a device's vertices lie within an error ε of ours, so its boundary does too.
//! Move one boundary straight into the other. It passes no point that is farther than ε from ours.
//! Such a point is inside of both boundaries or of neither.
//!
//! **Interpolation.** In a device's triangle the pixel centre p has barycentric coordinates. The
//! same coordinates in our triangle name a point p'. If they are not negative, p' is at most ε
//! away from p. An attribute is a quotient of two functions that are linear on the screen. Over a
//! square around p it has its extremes at the corners. The error of a device's arithmetic is added,
//! for which Vulkan gives no number ([`Precision::interpolation_bits`]).
//!
//! **Bounds.** A vertex stage may compute a position with floats that a profile leaves open. Then a
//! triangle stands for all triangles with vertices within bounds. All of the above holds for every
//! one of them ([`Setup::within`]). ε grows by the distance that vertices may move, and inputs are
//! computed on intervals.
//!
//! Absent on purpose: wide lines, polygon modes other than fill, conservative rasterisation, user
//! clip distances, restarting strips.

mod assemble;
mod bias;
mod blend;
mod clip;
mod depth;
mod depth_stencil;
mod fragment;
mod line;
mod order;
mod presence;
mod sample;
mod state;
mod stencil;
mod triangle;
mod walk;
mod within;

pub use assemble::{Primitives, Topology};
pub use blend::{Blend, Equation, Factor, Operation};
pub use depth::{Depth, DepthBuffer, TestResult};
pub use depth_stencil::{DepthStencil, Plane, Planes, TestedFragment};
pub use fragment::{Fragment, Inner, Interpolation};
pub use order::{Next, RasterOrder};
pub use presence::Presence;
pub use state::{Area, Cull, DepthBias, FrontFace, MAX_SIDE, Precision, State, StateError, Viewport};
pub use stencil::{StencilBuffer, StencilFace, StencilOp};
pub use triangle::{Doubt, Lane, Quad, Setup, Triangle};
pub use walk::Walk;

use crate::image::Compare;
use crate::number::Interval;

/// The functions that compute definite values, each as the specification words it. Tests
/// plant bugs here.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The vertices of triangle i, the provoking one first: Primitive Topologies.
    pub assemble: fn(Topology, usize) -> [usize; 3],
    /// The distances of a clip-space position from the near plane and from the far plane, positive
    /// within them: Primitive Clipping.
    pub depth_planes: [fn([f64; 4]) -> f64; 2],
    /// The fraction of an edge at which it crosses a plane, from the distances of its ends
    /// from the plane.
    pub crossing: fn(f64, f64) -> f64,
    /// A coordinate divided by w: Coordinate Transformations.
    pub divide: fn(f64, f64) -> f64,
    /// A framebuffer coordinate, from the normalized device coordinate, the viewport's extent and
    /// the coordinate of its centre: Controlling the Viewport.
    pub viewport: fn(f64, f64, f64) -> f64,
    /// A depth, from the normalized depth and the ends of the depth range.
    pub depth_range: fn(f64, f64, f64) -> f64,
    /// The depth bias, from the slope's part, the constant part and the clamp: Depth Bias.
    pub depth_bias: fn(f64, f64, f64) -> f64,
    /// Whether the comparison of the masked reference with the masked stencil value holds:
    /// Stencil Test.
    pub stencil_compare: fn(Compare, u8, u8) -> bool,
    /// The new stencil value, from the old one and the reference: Stencil Test.
    pub stencil_op: fn(StencilOp, u8, u8) -> u8,
    /// The factor of a component, from the colours of source and attachment: Blend Factors.
    pub blend_factor: fn(Factor, [f64; 4], [f64; 4], usize) -> f64,
    /// The result of an operation on the products of source and attachment: Blend Operations.
    pub blend: fn(Operation, f64, f64) -> f64,
    /// Snaps a framebuffer coordinate, in sub-pixels, to the grid.
    pub snap: fn(f64) -> f64,
    /// `divide` for a coordinate and a w within bounds.
    pub divide_bounds: fn(Interval, Interval) -> Interval,
    /// The bounds of a device's coordinate, from its bounds before snapping and after.
    pub snap_bounds: fn(Interval, Interval) -> Interval,
    /// The greatest distance of a number within bounds from the given number.
    pub moved: fn(Interval, f64) -> f64,
    /// The error of a corner within bounds, from the distance that the corner may move and the
    /// error of a device for each place of it.
    pub apart: fn(f64, f64) -> f64,
    /// Whether a triangle with that doubled area faces the same way wherever its corners are. The
    /// second argument is the greatest change of the area.
    pub faces_surely: fn(f64, f64) -> bool,
    /// Whether a point is within a plane, from the bounds of its distance. `None` if it may be
    /// either within or beyond.
    pub within_plane: fn(Interval) -> Option<bool>,
    /// The centre of a pixel in sub-pixels, from the number of sub-pixels in a pixel: Basic
    /// Polygon Rasterization.
    pub centre: fn(i64, i64) -> i64,
    /// The offset of one side of a line's rectangle from the line's ends, in pixels, from the
    /// line's direction: Basic Line Segment Rasterization.
    pub beside_line: fn(f64, f64) -> [f64; 2],
    /// The place of a sample, from the number of samples and its index, in sixteenths of a pixel:
    /// Standard Sample Locations.
    pub sample: fn(u32, u32) -> [i64; 2],
    /// The SampleId of the invocation of a sample: Built-In Variables, SampleId.
    pub sample_id: fn(u32) -> u32,
    /// Whether a word of a mask contains a sample: Built-In Variables, SampleMask.
    pub in_mask: fn(u64, u32) -> bool,
    /// Whether an edge in this direction is a left or a top edge: the triangle lies to its right or
    /// below it. y points down and the triangle turns clockwise.
    pub top_left: fn(i128, i128) -> bool,
    /// Whether a triangle of that doubled area is front-facing. The area is positive if the
    /// triangle turns clockwise with y pointing down.
    pub front: fn(i128, FrontFace) -> bool,
    /// An attribute with perspective, from the barycentric coordinates over w, the three w and the
    /// values at the vertices.
    pub perspective: fn([f64; 3], [f64; 3], [f64; 3]) -> f64,
    /// An attribute that is linear on the screen, from the arguments of `perspective`.
    pub linear: fn([f64; 3], [f64; 3], [f64; 3]) -> f64,
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn product(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            assemble: Topology::triangle,
            depth_planes: [|p| p[2], |p| p[3] - p[2]],
            crossing: |a, b| a / (a - b),
            divide: |x, w| x / w,
            viewport: |x, extent, centre| x * (extent / 2.0) + centre,
            depth_range: |z, near, far| z * (far - near) + near,
            depth_bias: |slope, constant, clamp| match slope + constant {
                sum if clamp > 0.0 => sum.min(clamp),
                sum if clamp < 0.0 => sum.max(clamp),
                sum => sum,
            },
            stencil_compare: |compare, reference, value| compare.holds(reference.into(), value.into()),
            stencil_op: StencilOp::of,
            blend_factor: Factor::of,
            blend: Operation::of,
            snap: f64::round_ties_even,
            divide_bounds: |x, w| within::over([x, w], |[x, w]| x / w),
            snap_bounds: Interval::hull,
            moved: |bounds, x| (bounds.high - x).max(x - bounds.low),
            apart: |moved, error| moved + error,
            faces_surely: |area, slack| area.abs() > slack,
            within_plane: |distance| match (distance.low > 0.0, distance.high < 0.0) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            },
            centre: |pixel, one| pixel * one + one / 2,
            beside_line: |dx, dy| [-dy / dx.hypot(dy) / 2.0, dx / dx.hypot(dy) / 2.0],
            sample: sample::location,
            sample_id: |sample| sample,
            in_mask: |mask, sample| mask >> sample & 1 == 1,
            top_left: |dx, dy| dy < 0 || dy == 0 && dx > 0,
            front: |area, front| (area < 0) == (front == FrontFace::CounterClockwise),
            perspective: |e, _, f| dot(e, f) / (e[0] + e[1] + e[2]),
            linear: |e, w, f| dot(product(e, w), f) / dot(e, w),
        }
    }
}

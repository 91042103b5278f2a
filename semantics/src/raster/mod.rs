//! Rasterisation of triangles, points and lines: Vulkan, Drawing Commands (Primitive Topologies),
//! Fixed-Function Vertex Post-Processing, Rasterization, and Fragment Operations. Data only: no
//! module is seen here.
//!
//! | module | what it holds |
//! |---|---|
//! | `assemble` | vertices to triangles: lists, strips, fans |
//! | `state` | viewport, area, culling, precision |
//! | `clip` | clipping a triangle against planes of clip space |
//! | `triangle` | projection, snapping to sub-pixels, facing, coverage, quads; squares of points |
//! | `walk` | the quads of a triangle in their order, and those that are inside for certain |
//! | `within` | triangles whose vertices are known within bounds |
//! | `line` | which pixels lines cover, by the three rules that devices draw them by |
//! | `sample` | where the samples of a pixel are |
//! | `fragment` | interpolation: perspective, linear, flat; FragCoord |
//! | `depth` | the depth test and the depth bounds test |
//! | `bias` | the depth bias |
//! | `stencil` | the stencil test |
//! | `blend` | blending with what colour attachments hold |
//!
//! **Coverage.** Vertices are projected in 64-bit floats and snapped to the sub-pixel grid; from
//! there on coverage is computed in integers: exactly. A point on an edge belongs to the triangle
//! on whose top or left it is, so that of triangles with a common edge one covers it. Vulkan
//! demands no more than that one of them does, and does not say how vertices are snapped. So the
//! definite answer has a doubt beside it: [`Doubt::SubPixel`] where moving the vertices by what a
//! device may move them could change the answer, [`Doubt::Tie`] where the pixel centre lies on an
//! edge between vertices that every device has at the same place.
//!
//! Why that is sound: a device's vertices lie within an error ε of ours, so its boundary does too,
//! and moving the one boundary straight into the other passes no point that is farther than ε from
//! ours: such a point is inside of both or of neither.
//!
//! **Interpolation.** In a device's triangle the pixel centre p has barycentric coordinates, and
//! the same coordinates in ours name a point p' not farther from p than ε, if they are not
//! negative. An attribute is a quotient of two functions that are linear on the screen, which has
//! its extremes over a square around p at the corners. To that comes what a device's arithmetic may
//! lose, for which Vulkan gives no number ([`Precision::interpolation_bits`]).
//!
//! **Bounds.** Where a vertex stage computes a position with floats of which a profile leaves open
//! what they are, a triangle is any of those that have their vertices within bounds. All of the
//! above then holds for every one of them ([`Setup::within`]): ε is greater by what vertices may
//! be moved, and what is interpolated is computed on intervals.
//!
//! Absent on purpose: wide lines, polygon modes other than fill, conservative rasterisation,
//! shading of each sample, user clip distances, restarting strips.

mod assemble;
mod bias;
mod blend;
mod clip;
mod depth;
mod fragment;
mod line;
mod sample;
mod state;
mod stencil;
mod triangle;
mod walk;
mod within;

pub use assemble::Topology;
pub use blend::{Blend, Equation, Factor, Operation};
pub use depth::{Depth, DepthBuffer, Passed};
pub use fragment::{Fragment, Inner, Interpolation};
pub use state::{Area, Cull, DepthBias, FrontFace, MAX_SIDE, Precision, State, StateError, Viewport};
pub use stencil::{StencilBuffer, StencilFace, StencilOp};
pub use triangle::{Doubt, Lane, Quad, Setup, Triangle};
pub use walk::Walk;

use crate::image::Compare;
use crate::number::Interval;

/// The functions that definite values are computed by, each as the specification words it. A test
/// plants its bugs here.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The vertices of triangle i, the provoking one first: Primitive Topologies.
    pub assemble: fn(Topology, usize) -> [usize; 3],
    /// How far a clip-space position is within the near plane, and within the
    /// far plane: Primitive Clipping.
    pub depth_planes: [fn([f64; 4]) -> f64; 2],
    /// How far from the first to the second an edge crosses a plane, by the two distances.
    pub crossing: fn(f64, f64) -> f64,
    /// A coordinate by w: Coordinate Transformations.
    pub divide: fn(f64, f64) -> f64,
    /// A normalized device coordinate by the viewport's extent and the coordinate of its centre:
    /// Controlling the Viewport.
    pub viewport: fn(f64, f64, f64) -> f64,
    /// A normalized depth by the ends of the depth range.
    pub depth_range: fn(f64, f64, f64) -> f64,
    /// What is added to depths, by the slope's part, the constant part and the clamp: Depth Bias.
    pub depth_bias: fn(f64, f64, f64) -> f64,
    /// Whether the reference and a stencil value, both masked, compare so: Stencil Test.
    pub stencil_compare: fn(Compare, u8, u8) -> bool,
    /// What becomes of a stencil value, with that reference: Stencil Test.
    pub stencil_op: fn(StencilOp, u8, u8) -> u8,
    /// The factor of a component, by the colours of source and attachment: Blend Factors.
    pub blend_factor: fn(Factor, [f64; 4], [f64; 4], usize) -> f64,
    /// What comes of the products of source and attachment: Blend Operations.
    pub blend: fn(Operation, f64, f64) -> f64,
    /// A framebuffer coordinate, counted in sub-pixels, on the grid.
    pub snap: fn(f64) -> f64,
    /// A coordinate by w, where both are known within bounds.
    pub divide_bounds: fn(Interval, Interval) -> Interval,
    /// Where a coordinate may be whose bounds are these, and on the grid those.
    pub snap_bounds: fn(Interval, Interval) -> Interval,
    /// How far from a number another one within bounds may be.
    pub moved: fn(Interval, f64) -> f64,
    /// How far away a device may have a corner that is known within bounds, by how far the corner
    /// may be moved and how far away from there the device may have it.
    pub apart: fn(f64, f64) -> f64,
    /// Whether a triangle of that doubled area faces the same way wherever its corners are, by what
    /// moving them may change of the area.
    pub faces_surely: fn(f64, f64) -> bool,
    /// Whether what is so far within a plane is within it or beyond it; `None` if it may be either.
    pub within_plane: fn(Interval) -> Option<bool>,
    /// The centre of a pixel, counted in so many sub-pixels a pixel: Basic Polygon Rasterization.
    pub centre: fn(i64, i64) -> i64,
    /// What is added to the ends of a line in this direction for one side of its rectangle, in
    /// pixels: Basic Line Segment Rasterization.
    pub beside_line: fn(f64, f64) -> [f64; 2],
    /// The place of a sample of so many in a pixel, in sixteenths: Standard Sample Locations.
    pub sample: fn(u32, u32) -> [i64; 2],
    /// SampleId of the invocation for a sample: Built-In Variables, SampleId.
    pub sample_id: fn(u32) -> u32,
    /// Whether a word of a mask has a sample: Built-In Variables, SampleMask.
    pub in_mask: fn(u64, u32) -> bool,
    /// Whether an edge in this direction has the triangle to its right or below it, y pointing down
    /// and the triangle turning clockwise.
    pub top_left: fn(i128, i128) -> bool,
    /// Whether a triangle of that doubled area, positive where it turns clockwise with y pointing
    /// down, is front-facing.
    pub front: fn(i128, FrontFace) -> bool,
    /// An attribute by the barycentric coordinates over w, the three w and the vertices' values:
    /// with perspective.
    pub perspective: fn([f64; 3], [f64; 3], [f64; 3]) -> f64,
    /// The same, linear on the screen.
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

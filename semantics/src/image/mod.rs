//! Images and samplers: Vulkan, Image Operations; Fixed-Point Data Conversion; Floating-Point
//! Format Conversions. Data only: nothing here depends on a SPIR-V module.
//!
//! | module | contents |
//! |---|---|
//! | `format` | the formats: the bits of each component of a texel |
//! | `texel` | a component's code as a number, and the codes that a device may store for a number |
//! | `storage` | levels with undefined components; fetch, read, write, sizes, robustness |
//! | `shape` | one, two and three dimensions, layers, cubes; the location of a sample |
//! | `cube` | faces of directions, derivatives on a face, texels beyond its edges |
//! | `sampler` | a sampler's state; wrapping and comparison |
//! | `level` | the level of detail and the levels that are read |
//! | `sample` | sampling and gathering |
//!
//! A result has a definite value, by the formulas of the specification, and the set of values that
//! a conforming device may have instead. The specification leaves rounding, the precision of texel
//! coordinates (`subTexelPrecisionBits`) and of levels (`mipmapPrecisionBits`) to the device. A
//! table of functions, [`Rules`], computes the definite values. A test can plant bugs in it. Sets
//! are computed without this table.
//!
//! Absent on purpose: multisampling, anisotropy, cubic filters, compressed, packed float and sRGB
//! formats, component swizzles, projection (the caller divides).

mod cube;
mod format;
mod level;
mod sample;
mod sampler;
mod shape;
mod storage;
mod texel;

pub use format::{Channel, Format, Numeric};
pub use level::{Lambda, Lod, lambda};
pub use sample::{Allowed, Sampled, SampledValue, Sampling};
pub use sampler::{AddressMode, Border, Compare, Filter, MAX_LOD_BIAS, Precision, Sampler, SamplerError};
pub use shape::{Location, Shape};
pub use storage::{Image, ImageError, MAX_BYTES, Robustness};
pub use texel::{CONVERSION, Codes, Texel, nearest, only_code, only_codes, pack, pack_within, stored, unpack, unpack_allowed};

/// A face of a cube, and a texel's integer coordinates on it.
pub type FaceTexel = (usize, [i64; 2]);

/// The functions that compute definite values, each as the specification words it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The number of a component, from its width in bits and its code: Fixed-Point Data Conversion.
    pub unpack: fn(Numeric, u8, u64) -> f64,
    /// The coordinate s·size of a normalized coordinate: (s,t,r,q,a) to (u,v,w,a) Transformation.
    pub unnormalize: fn(f64, u32) -> f64,
    /// The integer coordinate of a nearest filter: (u,v,w,a) to (i,j,k,l,n) Transformation.
    pub nearest: fn(f64) -> f64,
    /// The first integer coordinate of a linear filter, and the second's weight.
    pub linear: fn(f64) -> (f64, f64),
    /// The integer coordinate within a level of that size, or outside of it for a border:
    /// Wrapping Operation.
    pub wrap: fn(AddressMode, i64, i64) -> i64,
    /// The weights of the texels i0j0, i1j0, i0j1, i1j1: Texel Filtering.
    pub weights: fn(f64, f64) -> [f64; 4],
    /// The weights of the slices k0 and k1 of three dimensions: Texel Filtering.
    pub depth: fn(f64) -> [f64; 2],
    /// The number of a layer, before it is clamped to the existing layers: (u,v,w,a) to
    /// (i,j,k,l,n) Transformation.
    pub layer: fn(f64) -> f64,
    /// The slice of a face of a layer of cubes: Vulkan, Image Views (VkImageViewType).
    pub slice: fn(i64, i64) -> i64,
    /// The face of a direction: Cube Map Face Selection.
    pub face: fn([f64; 3]) -> usize,
    /// sc, tc and |rc| of a direction or its derivatives on a face: Cube Map Face Selection.
    pub on_face: fn(usize, [f64; 3]) -> [f64; 3],
    /// The face and place of a texel beyond an edge of a face of that size: Cube Map Edge Handling.
    pub beside: fn(usize, [i64; 2], i64) -> FaceTexel,
    /// The value beyond a corner of a face, from the three texels that meet there: Cube Map
    /// Edge Handling.
    pub corner: fn([f64; 3]) -> f64,
    /// The greatest scale factor of the derivatives in texels, by x and y: Scale Factor Operation.
    pub scale_factor: fn([[f64; 3]; 2]) -> f64,
    /// The bias, from the sampler's and the instruction's.
    pub bias: fn(f64, f64) -> f64,
    /// The nearest level: Image Level(s) Selection.
    pub nearest_level: fn(f64) -> f64,
    /// Whether the minifying filter is used at that level of detail: Texel Filtering.
    pub minified: fn(f64) -> bool,
    /// The values of components that the format does not have: Conversion to RGBA.
    pub missing: [f64; 4],
    /// The texels i0j0, i1j0, i0j1, i1j1 by number, in the order of gathering: Texel Gathering.
    pub gather: [usize; 4],
    /// Whether the comparison of the reference with a texel holds: Depth Compare Operation.
    pub compare: fn(Compare, f64, f64) -> bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            unpack: texel::unpack,
            unnormalize: |s, size| s * f64::from(size),
            nearest: f64::floor,
            linear: |u| ((u - 0.5).floor(), (u - 0.5) - (u - 0.5).floor()),
            wrap: AddressMode::wrap,
            weights: |a, b| [(1.0 - a) * (1.0 - b), a * (1.0 - b), (1.0 - a) * b, a * b],
            depth: |c| [1.0 - c, c],
            layer: f64::round_ties_even,
            slice: |layer, face| 6 * layer + face,
            face: cube::face,
            on_face: cube::on_face,
            beside: cube::beside,
            corner: |[a, b, c]| (a + b + c) / 3.0,
            scale_factor: |[[ux, vx, wx], [uy, vy, wy]]| ux.hypot(vx).hypot(wx).max(uy.hypot(vy).hypot(wy)),
            bias: |sampler, instruction| (sampler + instruction).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS),
            nearest_level: |d| (d + 0.5).ceil() - 1.0,
            minified: |lambda| lambda > 0.0,
            missing: [0.0, 0.0, 0.0, 1.0],
            gather: [2, 3, 1, 0],
            compare: Compare::holds,
        }
    }
}

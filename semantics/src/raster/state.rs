//! What a draw is rasterised under: Vulkan, Controlling the Viewport, Scissor
//! Test, Basic Polygon Rasterization.

use super::Blend;
use std::fmt;

/// The greatest side of an area in pixels.
pub const MAX_SIDE: u32 = 16384;

/// A viewport. A negative height turns the picture upside down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// The left end.
    pub x: f32,
    /// The upper end, or the lower one if the height is negative.
    pub y: f32,
    /// The width, positive.
    pub width: f32,
    /// The height, not zero.
    pub height: f32,
    /// The depth of z = 0.
    pub min_depth: f32,
    /// The depth of z = w.
    pub max_depth: f32,
}

impl Viewport {
    /// All of a framebuffer of that size, with depths 0 to 1.
    pub fn of_size(width: u32, height: u32) -> Viewport {
        Viewport { x: 0.0, y: 0.0, width: width as f32, height: height as f32, min_depth: 0.0, max_depth: 1.0 }
    }

    /// Extent and centre in x and in y.
    pub(super) fn axes(&self) -> [[f32; 2]; 2] {
        [[self.width, self.x + self.width / 2.0], [self.height, self.y + self.height / 2.0]]
    }
}

/// Pixels: of the framebuffer and within the scissor rectangle. The ends are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// The column after the last.
    pub end_x: u32,
    /// The row after the last.
    pub end_y: u32,
}

impl Area {
    /// All of a framebuffer of that size.
    pub fn of_size(width: u32, height: u32) -> Area {
        Area { x: 0, y: 0, end_x: width, end_y: height }
    }

    /// Whether a pixel is among them.
    pub fn contains(&self, x: i64, y: i64) -> bool {
        (i64::from(self.x)..i64::from(self.end_x)).contains(&x) && (i64::from(self.y)..i64::from(self.end_y)).contains(&y)
    }
}

/// Which triangles are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Cull {
    /// None.
    #[default]
    None,
    /// Front-facing ones.
    Front,
    /// Back-facing ones.
    Back,
    /// All.
    Both,
}

/// Which way round a front-facing triangle turns in framebuffer coordinates, by the sign of its
/// area as the specification has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FrontFace {
    /// With positive area.
    #[default]
    CounterClockwise,
    /// With negative area.
    Clockwise,
}

/// How precise a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// `subPixelPrecisionBits`: 4 to 12.
    pub sub_pixel_bits: u8,
    /// An interpolated plane is right to 2^-this of the terms that it is summed from. The
    /// specification states no number for this.
    pub interpolation_bits: u8,
}

impl Precision {
    /// What interpolation may lose, relative to what it rounds: 2^-`interpolation_bits`.
    pub(super) fn of_interpolation(self) -> f64 {
        f64::from_bits((1023 - u64::from(self.interpolation_bits)) << 52)
    }
}

impl Default for Precision {
    /// 8 bits of sub-pixels as devices have, and 20 bits in interpolation.
    fn default() -> Precision {
        Precision { sub_pixel_bits: 8, interpolation_bits: 20 }
    }
}

/// What is added to the depths of a triangle's fragments (Vulkan, Depth Bias).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthBias {
    /// How many of the least differences that the depth attachment resolves.
    pub constant: f32,
    /// The greatest sum, or if negative the least; none if zero.
    pub clamp: f32,
    /// How much of the triangle's slope.
    pub slope: f32,
}

/// What a draw is rasterised under.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The viewport.
    pub viewport: Viewport,
    /// The pixels.
    pub area: Area,
    /// Which triangles are dropped.
    pub cull: Cull,
    /// Which way round front-facing triangles turn.
    pub front: FrontFace,
    /// Whether depths are clamped to the depth range instead of clipped: depthClampEnable.
    pub depth_clamp: bool,
    /// What is added to depths: depthBiasEnable.
    pub depth_bias: Option<DepthBias>,
    /// Where the stored depth must lie, ends included, for a
    /// fragment to stay: depthBoundsTestEnable.
    pub depth_bounds: Option<[f32; 2]>,
    /// How fragments are blended with what colour attachments hold, if they are: blendEnable, for
    /// all attachments.
    pub blend: Option<Blend>,
    /// How many samples a pixel has: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// How precise a device is.
    pub precision: Precision,
}

/// Why a state is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The viewport's extent is zero or no number, its width is negative, or it is beyond ±2^15.
    Viewport,
    /// The depth range is not within 0 and 1.
    DepthRange,
    /// The depth bounds are not within 0 and 1.
    DepthBounds,
    /// A factor or the clamp of the depth bias is no finite number.
    DepthBias,
    /// The area has a side of more than [`MAX_SIDE`] or ends before it begins.
    Area,
    /// Another number of samples than 1, 2, 4, 8 and 16.
    Samples,
    /// Fewer than 4 or more than 12 bits of sub-pixels.
    SubPixelBits,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Viewport => write!(f, "the viewport is empty or beyond ±32768; its width is positive and its height not 0"),
            StateError::DepthRange => write!(f, "the depth range is not within 0 and 1"),
            StateError::DepthBounds => write!(f, "the depth bounds are not within 0 and 1"),
            StateError::DepthBias => write!(f, "a factor or the clamp of the depth bias is not finite"),
            StateError::Area => write!(f, "the area is beyond {MAX_SIDE} pixels or ends before it begins"),
            StateError::Samples => write!(f, "a pixel has 1, 2, 4, 8 or 16 samples"),
            StateError::SubPixelBits => write!(f, "a device has 4 to 12 bits of sub-pixels"),
        }
    }
}

impl std::error::Error for StateError {}

impl State {
    /// All of a framebuffer of that size, nothing dropped.
    pub fn of_size(width: u32, height: u32) -> State {
        State {
            viewport: Viewport::of_size(width, height),
            area: Area::of_size(width, height),
            cull: Cull::None,
            front: FrontFace::CounterClockwise,
            depth_clamp: false,
            depth_bias: None,
            depth_bounds: None,
            blend: None,
            samples: 1,
            precision: Precision::default(),
        }
    }

    /// How far from a pixel's centre, in each direction, an input may be interpolated: anywhere in
    /// a pixel of several samples.
    pub(super) fn spread(&self) -> f64 {
        if self.samples > 1 { 0.5 } else { 0.0 }
    }

    /// Whether it is valid.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self) -> Result<(), StateError> {
        let v = &self.viewport;
        let within = |x: f32| x.abs() <= 32768.0;
        let large = |x: f32| x.abs() >= 1.0 / 1024.0;
        if ![v.x, v.y, v.width, v.height, v.x + v.width, v.y + v.height].into_iter().all(within)
            || v.width < 0.0
            || !large(v.width)
            || !large(v.height)
        {
            return Err(StateError::Viewport);
        }
        if ![v.min_depth, v.max_depth].iter().all(|d| (0.0..=1.0).contains(d)) {
            return Err(StateError::DepthRange);
        }
        if !self.depth_bounds.iter().flatten().all(|d| (0.0..=1.0).contains(d)) {
            return Err(StateError::DepthBounds);
        }
        if !self.depth_bias.iter().flat_map(|b| [b.constant, b.clamp, b.slope]).all(f32::is_finite) {
            return Err(StateError::DepthBias);
        }
        let a = &self.area;
        if a.end_x > MAX_SIDE || a.end_y > MAX_SIDE || a.x > a.end_x || a.y > a.end_y {
            return Err(StateError::Area);
        }
        if !super::sample::COUNTS.contains(&self.samples) {
            return Err(StateError::Samples);
        }
        if !(4..=12).contains(&self.precision.sub_pixel_bits) {
            return Err(StateError::SubPixelBits);
        }
        Ok(())
    }
}

//! The state that a draw is rasterised with: Vulkan, Controlling the Viewport, Scissor Test, Basic
//! Polygon Rasterization.

use super::Blend;
use std::fmt;

/// The greatest side of an area in pixels.
pub const MAX_SIDE: u32 = 16384;

/// A viewport. A negative height turns the picture upside down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// The left end, in pixels.
    pub x: f32,
    /// The upper end in pixels, or the lower end if the height is negative.
    pub y: f32,
    /// The width in pixels, which is positive.
    pub width: f32,
    /// The height in pixels, which is not zero.
    pub height: f32,
    /// The depth of z = 0.
    pub min_depth: f32,
    /// The depth of z = w.
    pub max_depth: f32,
}

impl Viewport {
    /// The viewport of a whole framebuffer, with depths 0 to 1.
    pub fn of_size(width: u32, height: u32) -> Viewport {
        Viewport { x: 0.0, y: 0.0, width: width as f32, height: height as f32, min_depth: 0.0, max_depth: 1.0 }
    }

    /// The extent and the centre, in x and in y.
    pub(super) fn axes(&self) -> [[f32; 2]; 2] {
        [[self.width, self.x + self.width / 2.0], [self.height, self.y + self.height / 2.0]]
    }
}

/// The pixels of the framebuffer that are in the scissor rectangle. The ends are exclusive.
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
    /// The area of a whole framebuffer.
    pub fn of_size(width: u32, height: u32) -> Area {
        Area { x: 0, y: 0, end_x: width, end_y: height }
    }

    /// Whether the area contains a pixel.
    pub fn contains(&self, x: i64, y: i64) -> bool {
        (i64::from(self.x)..i64::from(self.end_x)).contains(&x) && (i64::from(self.y)..i64::from(self.end_y)).contains(&y)
    }
}

/// Which triangles are culled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Cull {
    /// No triangles.
    #[default]
    None,
    /// Front-facing triangles.
    Front,
    /// Back-facing triangles.
    Back,
    /// All triangles.
    Both,
}

/// The direction in which a front-facing triangle turns in framebuffer coordinates: the sign of its
/// area as the specification defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FrontFace {
    /// Triangles with positive area are front-facing.
    #[default]
    CounterClockwise,
    /// Triangles with negative area are front-facing.
    Clockwise,
}

/// The precision of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// `subPixelPrecisionBits`: 4 to 12.
    pub sub_pixel_bits: u8,
    /// The error of an interpolated plane is at most 2^-`interpolation_bits` times the magnitude of
    /// the terms that are summed. The specification states no number for this.
    pub interpolation_bits: u8,
}

impl Precision {
    /// The greatest relative error of interpolation: 2^-`interpolation_bits`.
    pub(super) fn of_interpolation(self) -> f64 {
        f64::from_bits((1023 - u64::from(self.interpolation_bits)) << 52)
    }
}

impl Default for Precision {
    /// 8 bits of sub-pixels, which devices have, and 20 bits of interpolation.
    fn default() -> Precision {
        Precision { sub_pixel_bits: 8, interpolation_bits: 20 }
    }
}

/// The depth bias of triangles (Vulkan, Depth Bias).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthBias {
    /// The constant factor, in units of the least difference that the depth attachment resolves.
    pub constant: f32,
    /// The upper bound of the sum if positive, the lower bound if negative, none if 0.
    pub clamp: f32,
    /// The factor of the triangle's slope.
    pub slope: f32,
}

/// The state that a draw is rasterised with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The viewport.
    pub viewport: Viewport,
    /// The pixels that may be drawn to.
    pub area: Area,
    /// Which triangles are culled.
    pub cull: Cull,
    /// The direction in which front-facing triangles turn.
    pub front: FrontFace,
    /// Whether depths are clamped to the depth range instead of clipped: depthClampEnable.
    pub depth_clamp: bool,
    /// The bias that is added to depths: depthBiasEnable.
    pub depth_bias: Option<DepthBias>,
    /// The range that the stored depth must lie in for a fragment to pass, ends included:
    /// depthBoundsTestEnable.
    pub depth_bounds: Option<[f32; 2]>,
    /// How fragments are blended with all colour attachments, if they are: blendEnable.
    pub blend: Option<Blend>,
    /// The number of samples of a pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// The precision of a device.
    pub precision: Precision,
}

/// Why a state is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The viewport's extent is zero or not a number, its width is negative, or it reaches
    /// beyond ±2^15.
    Viewport,
    /// The depth range is not within 0 and 1.
    DepthRange,
    /// The depth bounds are not within 0 and 1.
    DepthBounds,
    /// A factor or the clamp of the depth bias is not finite.
    DepthBias,
    /// The area has a side of more than [`MAX_SIDE`] or ends before it begins.
    Area,
    /// The number of samples is not 1, 2, 4, 8 or 16.
    Samples,
    /// There are fewer than 4 or more than 12 bits of sub-pixels.
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
    /// A whole framebuffer of that size, without culling.
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

    /// The greatest distance, in x and in y, between a pixel's centre and the place where an input
    /// is interpolated. With several samples that is anywhere in the pixel.
    pub(super) fn spread(&self) -> f64 {
        if self.samples > 1 { 0.5 } else { 0.0 }
    }

    /// Checks the state.
    ///
    /// # Errors
    /// If the state is not valid.
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

//! The depth test and the depth bounds test: Vulkan, Depth Test, Depth Bounds Test.

use crate::image::{self, Compare, Format, Image, pack, unpack};
use crate::number::{Inexact, Interval};

/// A stored depth: the definite value, and the values that a device may have stored instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth(pub Inexact);

/// The result of a depth, depth bounds or stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Whether the fragment passes, by the definite answer.
    pub passed: bool,
    /// Whether all devices agree.
    pub certain: bool,
}

/// A depth attachment.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthBuffer {
    format: Format,
    width: u32,
    depths: Vec<Depth>,
}

impl DepthBuffer {
    /// A buffer cleared to a depth. `None` if the format is no depth format or there are more
    /// than 2^28 pixels.
    pub fn new(format: Format, width: u32, height: u32, clear: f32) -> Option<DepthBuffer> {
        let pixels = u64::from(width) * u64::from(height);
        if !format.is_depth() || pixels > 1 << 28 {
            return None;
        }
        let clear = stored(format, clear.into());
        Some(DepthBuffer { format, width, depths: vec![clear; pixels as usize] })
    }

    /// A buffer with the depths of the first level of an image. `None` if the format is no
    /// depth format.
    pub fn holding(image: &Image) -> Option<DepthBuffer> {
        let ([width, _], format) = (image.size(0)?, image.format());
        if !format.is_depth() {
            return None;
        }
        let (numeric, bits) = (format.numeric(), format.channels()[0].width);
        let depth = |code: &[u8]| {
            let code = code.iter().take(usize::from(bits) / 8).rev().fold(0, |code, byte| code << 8 | u64::from(*byte));
            let value = unpack(numeric, bits, code);
            Depth(Inexact { value, allowed: Interval::point(value) })
        };
        Some(DepthBuffer { format, width, depths: image.bytes(0)?.chunks_exact(format.bytes()).map(depth).collect() })
    }

    /// The depth at a pixel.
    pub fn depth(&self, x: u32, y: u32) -> Option<Depth> {
        if x < self.width { self.depths.get(y as usize * self.width as usize + x as usize).copied() } else { None }
    }

    /// Compares a fragment's depth with the stored depth. If the test passes and `writes` is set,
    /// stores it. `covered` says whether every device has the fragment. If one may not, or the
    /// comparison is uncertain, either depth may be stored. Outside of the buffer the test fails.
    pub fn test(&mut self, [x, y]: [u32; 2], depth: Inexact, compare: Compare, writes: bool, covered: bool) -> TestResult {
        self.compare([x, y], depth, compare, writes, true, covered)
    }

    /// The depth test of a fragment that only another device has. The definite depth
    /// does not change.
    pub fn test_absent(&mut self, pixel: [u32; 2], depth: Inexact, compare: Compare, writes: bool) -> TestResult {
        self.compare(pixel, depth, compare, writes, false, false)
    }

    fn compare(&mut self, [x, y]: [u32; 2], depth: Inexact, compare: Compare, writes: bool, present: bool, covered: bool) -> TestResult {
        let Some(Depth(old)) = self.depth(x, y) else { return TestResult { passed: false, certain: true } };
        let Depth(new) = stored(self.format, depth);
        let passed = compare.holds(new.value, old.value);
        let decided = compare.decided(new.allowed, old.allowed);
        if writes && decided != Some(false) {
            let value = if passed && present { new.value } else { old.value };
            let allowed = if decided == Some(true) && covered { new.allowed } else { new.allowed.hull(old.allowed) };
            self.depths[y as usize * self.width as usize + x as usize] = Depth(Inexact { value, allowed });
        }
        TestResult { passed, certain: decided.is_some() }
    }

    /// The depth bounds test: whether the stored depth lies between two bounds, ends included.
    /// In an integer format a device may round a bound to either side. Outside of the buffer
    /// the test fails.
    pub fn within(&self, [x, y]: [u32; 2], bounds: [f32; 2]) -> TestResult {
        let Some(Depth(held)) = self.depth(x, y) else { return TestResult { passed: false, certain: true } };
        let [low, high] = bounds.map(f64::from);
        let passes = |depth: f64, low: f64, high: f64| low <= depth && depth <= high;
        // All integer formats have codes for 0 and 1, so these bounds are not rounded.
        let off = |bound: f64| match self.format.channels()[0].width {
            bits @ ..32 if bound != 0.0 && bound != 1.0 => (-f64::from(bits)).exp2(),
            _ => 0.0,
        };
        let (low_off, high_off) = (off(low), off(high));
        let Interval { low: least, high: greatest, nan } = held.allowed;
        let always = !nan && [least, greatest].iter().all(|&depth| passes(depth, low + low_off, high - high_off));
        let never = !nan && (greatest < low - low_off || least > high + high_off);
        TestResult { passed: passes(held.value, low, high), certain: always || never }
    }

    /// The format of the depths.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Records that a device may store any depth of the format at a pixel.
    pub fn doubt(&mut self, [x, y]: [u32; 2]) {
        if self.depth(x, y).is_some() {
            let depth = &mut self.depths[y as usize * self.width as usize + x as usize].0;
            depth.allowed = depth.allowed.hull(Interval::between(0.0, 1.0));
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.width, if self.width == 0 { 0 } else { (self.depths.len() / self.width as usize) as u32 }]
    }
}

/// A depth after conversion to the format.
fn stored(format: Format, depth: Inexact) -> Depth {
    let (numeric, width) = (format.numeric(), format.channels()[0].width);
    let value = unpack(numeric, width, pack(numeric, width, (depth.value as f32).to_bits()).best);
    Depth(Inexact { value, allowed: image::stored(numeric, width, depth.allowed) })
}

//! The stencil test: Vulkan, Stencil Test.
//!
//! If a pixel's stencil value depends on the device, the buffer holds the set of its
//! possible values.

use rustc_hash::FxHashMap;

use super::{Rules, TestResult};
use crate::image::Compare;

/// What an operation does with a stencil value: VkStencilOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StencilOp {
    /// The value stays.
    #[default]
    Keep,
    /// The value becomes 0.
    Zero,
    /// The value becomes the reference.
    Replace,
    /// Adds 1, up to 255.
    IncrementAndClamp,
    /// Subtracts 1, down to 0.
    DecrementAndClamp,
    /// Inverts all bits.
    Invert,
    /// Adds 1 and wraps from 255 to 0.
    IncrementAndWrap,
    /// Subtracts 1 and wraps from 0 to 255.
    DecrementAndWrap,
}

impl StencilOp {
    /// All operations.
    pub const ALL: [StencilOp; 8] = [
        StencilOp::Keep,
        StencilOp::Zero,
        StencilOp::Replace,
        StencilOp::IncrementAndClamp,
        StencilOp::DecrementAndClamp,
        StencilOp::Invert,
        StencilOp::IncrementAndWrap,
        StencilOp::DecrementAndWrap,
    ];

    /// The new value, for an old value and a reference.
    pub(super) fn of(self, value: u8, reference: u8) -> u8 {
        match self {
            StencilOp::Keep => value,
            StencilOp::Zero => 0,
            StencilOp::Replace => reference,
            StencilOp::IncrementAndClamp => value.saturating_add(1),
            StencilOp::DecrementAndClamp => value.saturating_sub(1),
            StencilOp::Invert => !value,
            StencilOp::IncrementAndWrap => value.wrapping_add(1),
            StencilOp::DecrementAndWrap => value.wrapping_sub(1),
        }
    }
}

/// The stencil test of front-facing or of other fragments: VkStencilOpState.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StencilFace {
    /// The operation if the stencil test fails.
    pub fail: StencilOp,
    /// The operation if both this test and the depth test pass.
    pub pass: StencilOp,
    /// The operation if this test passes and the depth test fails.
    pub depth_fail: StencilOp,
    /// How the reference is compared with the value.
    pub compare: Compare,
    /// The bits that are compared.
    pub compare_mask: u8,
    /// The bits that are written.
    pub write_mask: u8,
    /// The reference: compared with the value, and stored by `Replace`.
    pub reference: u8,
}

impl StencilFace {
    fn passes(&self, rules: &Rules, value: u8) -> bool {
        let [reference, value] = [self.reference, value].map(|x| x & self.compare_mask);
        (rules.stencil_compare)(self.compare, reference, value)
    }

    /// The new value after the stencil test and the depth test.
    fn after(&self, rules: &Rules, value: u8, passes: bool, depth_passes: bool) -> u8 {
        let op = match (passes, depth_passes) {
            (false, _) => self.fail,
            (true, false) => self.depth_fail,
            (true, true) => self.pass,
        };
        let new = (rules.stencil_op)(op, value, self.reference);
        value & !self.write_mask | new & self.write_mask
    }
}

/// A set of values, with one bit for each.
type Values = [u64; 4];

fn values(set: Values) -> impl Iterator<Item = u8> {
    (0..=255u8).filter(move |value| set[usize::from(value / 64)] >> (value % 64) & 1 == 1)
}

/// A stencil attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StencilBuffer {
    width: u32,
    values: Vec<u8>,
    /// By pixel: the set of values that a device may hold, if there are several.
    open: FxHashMap<usize, Values>,
}

impl StencilBuffer {
    /// A buffer with these values, row by row. `None` if the width is 0 or the last row
    /// is incomplete.
    pub fn holding(width: u32, values: Vec<u8>) -> Option<StencilBuffer> {
        let whole = width > 0 && values.len().is_multiple_of(width as usize);
        whole.then(|| StencilBuffer { width, values, open: FxHashMap::default() })
    }

    fn place(&self, [x, y]: [u32; 2]) -> Option<usize> {
        let place = y as usize * self.width as usize + x as usize;
        (x < self.width && place < self.values.len()).then_some(place)
    }

    fn set(&self, place: usize) -> Values {
        self.open.get(&place).copied().unwrap_or_else(|| {
            let mut one = [0; 4];
            one[usize::from(self.values[place] / 64)] |= 1 << (self.values[place] % 64);
            one
        })
    }

    /// The definite values, row by row.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// All values that a device may hold at an index of [`StencilBuffer::values`], if there are
    /// several. Empty otherwise.
    pub fn possible(&self, place: usize) -> impl Iterator<Item = u8> {
        values(self.open.get(&place).copied().unwrap_or([0; 4]))
    }

    /// Whether a fragment passes. `faces` are the tests that may apply to it, the definite one
    /// first. Outside of the buffer the test fails.
    pub fn test(&self, rules: &Rules, pixel: [u32; 2], faces: &[StencilFace]) -> TestResult {
        let (Some(place), Some(face)) = (self.place(pixel), faces.first()) else { return TestResult { passed: false, certain: true } };
        let passed = face.passes(rules, self.values[place]);
        let certain = values(self.set(place)).all(|value| faces.iter().all(|face| face.passes(rules, value) == passed));
        TestResult { passed, certain }
    }

    /// Updates a pixel's value after the depth test. `present` says whether the definite answer has
    /// the fragment. `sure` says whether every device has it.
    pub fn update(&mut self, rules: &Rules, pixel: [u32; 2], faces: &[StencilFace], depth: TestResult, (present, sure): (bool, bool)) {
        let (Some(place), Some(first)) = (self.place(pixel), faces.first()) else { return };
        let before = self.set(place);
        let mut after = if sure { [0; 4] } else { before };
        for value in values(before) {
            for face in faces {
                let passes = face.passes(rules, value);
                for depth_passes in [false, true].into_iter().filter(|passes| !depth.certain || *passes == depth.passed) {
                    let new = face.after(rules, value, passes, depth_passes);
                    after[usize::from(new / 64)] |= 1 << (new % 64);
                }
            }
        }
        let held = self.values[place];
        if present {
            self.values[place] = first.after(rules, held, first.passes(rules, held), depth.passed);
        }
        match after.iter().map(|word| word.count_ones()).sum::<u32>() {
            0 | 1 => self.open.remove(&place),
            _ => self.open.insert(place, after),
        };
    }

    /// Records that a device may hold any value at a pixel.
    pub fn doubt(&mut self, pixel: [u32; 2]) {
        if let Some(place) = self.place(pixel) {
            self.open.insert(place, [u64::MAX; 4]);
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.width, (self.values.len() / self.width as usize) as u32]
    }
}

//! Small inputs: fewer workgroups, shorter buffers, and zeros, while AFTER differs in the same way.

use smallstep_semantics::spirv::types::Type;

use super::input::Slot;
use super::interface::moved_push_constants;
use super::observe::{Judged, judge};
use super::{Input, Settings, Shape, Side};
use crate::compute::given::Place;

/// The most inputs that are tried.
const QUESTIONS: u32 = 1_500;

struct Shrinking<'a> {
    before: &'a Side,
    after: &'a Side,
    shape: &'a Shape<'a>,
    settings: &'a Settings,
    best: Input,
    kind: &'static str,
    left: u32,
    /// Where AFTER has the push constants.
    moved: Option<Place>,
}

/// The smallest input found on which AFTER still differs in the same way; the input itself if it
/// does not disagree.
pub fn minimal(before: &Side, after: &Side, shape: &Shape<'_>, input: Input, settings: &Settings) -> Input {
    let Judged::Disagree(difference) = judge(before, after, &input, settings) else { return input };
    let moved = moved_push_constants(before, after);
    let mut shrinking = Shrinking { before, after, shape, settings, best: input, kind: difference.how.kind(), left: QUESTIONS, moved };
    loop {
        let so_far = shrinking.best.clone();
        shrinking.groups();
        for at in 0..shape.slots.len() {
            if shape.slots[at].pinned.is_none() {
                shrinking.shorten(at);
                shrinking.zero(at);
            }
        }
        if settings.push.is_none() {
            shrinking.zero_push();
        }
        if shrinking.best == so_far || shrinking.left == 0 {
            return shrinking.best;
        }
    }
}

impl Shrinking<'_> {
    /// Takes an input on if AFTER differs on it in the same way.
    fn takes(&mut self, mut input: Input) -> bool {
        if let Some(place) = self.moved {
            input.move_push_constants(place);
        }
        if self.left == 0 || input == self.best {
            return false;
        }
        self.left -= 1;
        let still = matches!(judge(self.before, self.after, &input, self.settings), Judged::Disagree(d) if d.how.kind() == self.kind);
        if still {
            self.best = input;
        }
        still
    }

    fn groups(&mut self) {
        if self.settings.groups.is_some() {
            return;
        }
        for axis in 0..3 {
            // Inputs have a few on each axis.
            for fewer in 1..self.best.groups[axis] {
                let mut input = self.best.clone();
                input.groups[axis] = fewer;
                if self.takes(input) {
                    break;
                }
            }
        }
    }

    /// Fewer elements of a runtime array.
    fn shorten(&mut self, at: usize) {
        let Slot { least, stride: Some(stride), .. } = self.shape.slots[at] else { return };
        let mut step = (self.best.buffers[at].bytes.len() as u64).saturating_sub(least) / stride;
        while step > 0 {
            let length = self.best.buffers[at].bytes.len() as u64;
            let shorter = length.checked_sub(step * stride).filter(|&shorter| shorter >= least.max(1));
            let taken = shorter.is_some_and(|shorter| {
                let mut input = self.best.clone();
                input.buffers[at].bytes.truncate(shorter as usize);
                self.takes(input)
            });
            if !taken {
                step /= 2;
            }
        }
    }

    /// Zeros instead of values, in ever smaller stretches; then, for single scalars, 1 and half of
    /// the value.
    fn zero(&mut self, at: usize) {
        let slot = &self.shape.slots[at];
        let cells = self.shape.cells(slot, self.best.buffers[at].bytes.len() as u64);
        let mut stretch = cells.len();
        while stretch > 0 {
            for chunk in cells.chunks(stretch) {
                let mut input = self.best.clone();
                for cell in chunk {
                    let width = usize::from(cell.type_.width().unwrap_or(8) / 8);
                    input.buffers[at].bytes[cell.offset as usize..cell.offset as usize + width].fill(0);
                }
                self.takes(input);
            }
            stretch /= 2;
        }
        for cell in &cells {
            let Type::Int { width, .. } = cell.type_ else { continue };
            let (start, bytes) = (cell.offset as usize, usize::from(width / 8));
            let with = |input: &Input, value: u64| {
                let mut input = input.clone();
                input.buffers[at].bytes[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
                input
            };
            loop {
                let own = &self.best.buffers[at].bytes[start..start + bytes];
                let held = own.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
                let (one, half) = (with(&self.best, 1), with(&self.best, held / 2));
                if held <= 1 || self.takes(one) || !self.takes(half) {
                    break;
                }
            }
        }
    }

    fn zero_push(&mut self) {
        for word in 0..self.best.push_constants.len().div_ceil(4) {
            let mut input = self.best.clone();
            let end = (word * 4 + 4).min(input.push_constants.len());
            input.push_constants[word * 4..end].fill(0);
            self.takes(input);
        }
    }
}

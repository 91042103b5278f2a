//! Makes an input small: fewer workgroups, shorter buffers, and zeros, while AFTER differs in the
//! same way.

use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::types::Type;

use super::input::{Cell, Slot};
use super::observe::{Judged, judge};
use super::{Earlier, Input, Settings, Shape, Side};

/// The most inputs that are tried.
const MAX_INPUTS: u32 = 1_500;
/// The most earlier places that are tried for a value.
const PLACES: usize = 8;

/// Judges one input.
pub(super) type Judge<'j> = &'j dyn Fn(&Input) -> Judged;

struct Shrinking<'a> {
    judge: Judge<'a>,
    shape: &'a Shape<'a>,
    settings: &'a Settings,
    best: Input,
    kind: &'static str,
    remaining: u32,
    time: Option<TimeLimit>,
}

/// The smallest input found on which AFTER still differs in the same way. If AFTER does not differ,
/// the input itself.
pub fn minimal(before: &Side, after: &Side, shape: &Shape<'_>, input: Input, settings: &Settings) -> Input {
    minimal_by(&|input| judge(before, after, input, settings, &Earlier::default()), shape, input, settings, None)
}

/// As [`minimal`], with another judge of inputs, until that time.
pub(super) fn minimal_by(judge: Judge<'_>, shape: &Shape<'_>, input: Input, settings: &Settings, time: Option<TimeLimit>) -> Input {
    let Judged::Disagree(difference) = judge(&input) else { return input };
    let mut shrinking = Shrinking { judge, shape, settings, best: input, kind: difference.kind.category(), remaining: MAX_INPUTS, time };
    loop {
        let previous = shrinking.best.clone();
        shrinking.groups();
        for at in 0..shape.slots.len() {
            if shape.slots[at].pinned.is_none() {
                shrinking.shorten(at);
                shrinking.zero(at);
                shrinking.move_earlier(at);
            }
        }
        if settings.push.is_none() {
            shrinking.zero_push();
        }
        shrinking.zero_images();
        shrinking.zero_attributes();
        if shrinking.best == previous || shrinking.remaining == 0 {
            return shrinking.best;
        }
    }
}

impl Shrinking<'_> {
    /// Accepts an input if AFTER differs on it in the same way.
    fn accept(&mut self, mut input: Input) -> bool {
        if let Some(place) = self.shape.push_constant_place {
            input.move_push_constants(place);
        }
        if TimeLimit::passed(self.time).is_some() {
            self.remaining = 0;
        }
        if self.remaining == 0 || input == self.best {
            return false;
        }
        self.remaining -= 1;
        let differs_alike = matches!((self.judge)(&input), Judged::Disagree(d) if d.kind.category() == self.kind);
        if differs_alike {
            self.best = input;
        }
        differs_alike
    }

    fn groups(&mut self) {
        if self.settings.groups.is_some() {
            return;
        }
        for axis in 0..3 {
            // Inputs have few workgroups on each axis, so all counts are tried.
            for fewer in 1..self.best.groups[axis] {
                let mut input = self.best.clone();
                input.groups[axis] = fewer;
                if self.accept(input) {
                    break;
                }
            }
        }
    }

    /// Tries fewer elements of a runtime array.
    fn shorten(&mut self, at: usize) {
        let Slot { min_bytes, stride: Some(stride), .. } = self.shape.slots[at] else { return };
        let mut step = (self.best.buffers[at].bytes.len() as u64).saturating_sub(min_bytes) / stride;
        while step > 0 {
            let length = self.best.buffers[at].bytes.len() as u64;
            let shorter = length.checked_sub(step * stride).filter(|&shorter| shorter >= min_bytes.max(1));
            let accepted = shorter.is_some_and(|shorter| {
                let mut input = self.best.clone();
                input.buffers[at].bytes.truncate(shorter as usize);
                self.accept(input)
            });
            if !accepted {
                step /= 2;
            }
        }
    }

    /// Tries zeros in place of values, in ever smaller stretches. Then it tries 1 and half of the
    /// value for single integers.
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
                self.accept(input);
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
                let current_bytes = &self.best.buffers[at].bytes[start..start + bytes];
                let current = current_bytes.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
                let (one, half) = (with(&self.best, 1), with(&self.best, current / 2));
                if current <= 1 || self.accept(one) || !self.accept(half) {
                    break;
                }
            }
        }
    }

    /// Moves values to earlier places, which fewer workgroups and a shorter buffer still reach.
    fn move_earlier(&mut self, at: usize) {
        let slot = &self.shape.slots[at];
        let cells = self.shape.cells(slot, self.best.buffers[at].bytes.len() as u64);
        for (place, cell) in cells.iter().enumerate() {
            let width = usize::from(cell.type_.width().unwrap_or(8) / 8);
            let cell_bytes = |input: &Input, offset: u64| input.buffers[at].bytes[offset as usize..offset as usize + width].to_vec();
            let own_bytes = cell_bytes(&self.best, cell.offset);
            if own_bytes.iter().all(|&byte| byte == 0) {
                continue;
            }
            let is_free = |to: &&Cell| to.type_ == cell.type_ && cell_bytes(&self.best, to.offset).iter().all(|&byte| byte == 0);
            let places: Vec<u64> = cells[..place].iter().filter(is_free).map(|to| to.offset).take(PLACES).collect();
            for offset in places {
                let mut input = self.best.clone();
                input.buffers[at].bytes[cell.offset as usize..cell.offset as usize + width].fill(0);
                input.buffers[at].bytes[offset as usize..offset as usize + width].copy_from_slice(&own_bytes);
                if self.accept(input) {
                    break;
                }
            }
        }
    }

    /// Tries images of zeros.
    fn zero_images(&mut self) {
        for at in 0..self.best.images.len() {
            let mut input = self.best.clone();
            let image = &mut input.images[at].image;
            for level in 0..image.levels() {
                let bytes = vec![0; image.bytes(level).map_or(0, <[u8]>::len)];
                // The number of bytes is right, so this cannot fail.
                let _ = image.fill(level, &bytes);
            }
            self.accept(input);
        }
    }

    /// Tries attributes of zeros, as a whole and word by word.
    fn zero_attributes(&mut self) {
        for at in 0..self.best.attributes.len() {
            let mut input = self.best.clone();
            input.attributes[at].bytes.fill(0);
            if self.accept(input) {
                continue;
            }
            for word in 0..self.best.attributes[at].bytes.len() / 4 {
                let mut input = self.best.clone();
                input.attributes[at].bytes[4 * word..4 * word + 4].fill(0);
                self.accept(input);
            }
        }
    }

    fn zero_push(&mut self) {
        for word in 0..self.best.push_constants.len().div_ceil(4) {
            let mut input = self.best.clone();
            let end = (word * 4 + 4).min(input.push_constants.len());
            input.push_constants[word * 4..end].fill(0);
            self.accept(input);
        }
    }
}

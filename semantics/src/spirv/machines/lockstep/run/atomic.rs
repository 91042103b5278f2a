//! Atomics, lane by lane: SPIR-V §3.3.18.

use std::sync::atomic::Ordering;

use super::super::column::{self, LANES};
use super::super::program::{Atomic, Code, NONE, Space};
use super::codes::Done;
use super::races::AccessKind;
use super::warp::{RegisterOrLocal, Warp};
use super::{Group, Shared};
use crate::concurrency::{AtomicOp, Kind};
use crate::spirv::grammar::Op as Core;
use crate::spirv::value::Origin;
use crate::undefined::Unspecified;

const R: Ordering = Ordering::Relaxed;

impl Warp {
    pub(super) fn atomic(&mut self, code: &Code, atomic: &Atomic, shared: &Shared<'_>, group: &mut Group) -> Done {
        let kind = if atomic.op == Core::AtomicLoad { AccessKind::AtomicRead } else { AccessKind::Atomic };
        let access = Code { a: atomic.address, c: atomic.offset, ..*code };
        let (is_wide, bytes) = (atomic.width == 64, u32::from(atomic.width / 8));
        let (mut old_values, mut doubt, mut origins) = ([[0; LANES]; 2], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let address = self.place(&access, shared, lane);
            // The indices of both words, the low one first.
            let word_indices = || (address as usize..).take(if is_wide { 2 } else { 1 });
            let undefined_operand = (atomic.value.into_iter().chain(atomic.comparator))
                .filter(|&r| r != NONE && self.undefined[r as usize] >> lane & 1 == 1)
                .map(|r| self.origin(RegisterOrLocal::Column(r), lane, code.at))
                .next();
            // If an operand or the memory is undefined, the new value is undefined too: the
            // comparison of an exchange may succeed or fail.
            let (old, old_origin) = match atomic.space {
                Space::Local => {
                    let origin = word_indices().find(|&word| self.local_undefined[word] >> lane & 1 == 1);
                    let origin = origin.map(|word| self.origin(RegisterOrLocal::Local(word as u32), lane, code.at));
                    (from_words(word_indices().map(|word| self.local[word][lane])), origin)
                }
                Space::Shared => {
                    let old = from_words(word_indices().map(|word| group.words[word]));
                    let detector_kind = self.atomic_kind(atomic, old, lane);
                    // Every access to a 64-bit number here includes its low word.
                    self.touch_shared(&access, shared, group, lane, kind, detector_kind)?;
                    let undefined = word_indices().find(|word| group.undefined[word / 64] >> (word % 64) & 1 == 1);
                    let uninitialised = self.origin(RegisterOrLocal::Local(u32::MAX), lane, code.at);
                    (old, undefined.map(|word| group.origins.get(&(word as u32)).copied().unwrap_or(uninitialised)))
                }
                Space::Buffer(buffer) => {
                    let memory = shared.buffers.memory_of(buffer);
                    if !address.is_multiple_of(bytes) {
                        return Err(self.misaligned(code, shared, lane, address, bytes));
                    }
                    let words = shared.buffers.words(memory).get(address as usize / 4..address as usize / 4 + bytes as usize / 4);
                    if self.helpers >> lane & 1 == 1 {
                        // Helpers write nothing, and their results are undefined.
                        if kind == AccessKind::AtomicRead && words.is_some() {
                            let detector_kind = self.atomic_kind(atomic, 0, lane);
                            self.touch_buffer(&Code { buffer, ..access }, shared, group, lane, (address, bytes), kind, detector_kind)?;
                        }
                        doubt |= 1 << lane;
                        let invocation = self.number + lane as u32;
                        origins.push((lane, Origin { kind: Unspecified::HelperResult, instruction: code.at, invocation }));
                        continue;
                    }
                    let Some(words) = words else {
                        if shared.robust {
                            // There is no memory, and robustness leaves the result of
                            // an atomic open.
                            continue;
                        }
                        return Err(self.stray(shared, code, address));
                    };
                    let old = from_words(words.iter().map(|word| word.load(R)));
                    let detector_kind = self.atomic_kind(atomic, old, lane);
                    self.touch_buffer(&Code { buffer, ..access }, shared, group, lane, (address, bytes), kind, detector_kind)?;
                    (old, shared.buffers.has_undefined(memory).then(|| shared.buffers.origin(memory, address, bytes)).flatten())
                }
            };
            let new = updated(atomic, old, self.operand(atomic.value, lane), self.operand(atomic.comparator, lane));
            let overwrites = matches!(atomic.op, Core::AtomicStore | Core::AtomicExchange);
            let new_origin = if overwrites { undefined_operand } else { old_origin.or(undefined_operand) };
            if kind == AccessKind::Atomic {
                let parts = word_indices().zip([new as u32, (new >> 32) as u32]);
                match atomic.space {
                    Space::Local => {
                        for (word, part) in parts {
                            self.local[word][lane] = part;
                            let lanes = &mut self.local_undefined[word];
                            *lanes = *lanes & !(1 << lane) | u64::from(new_origin.is_some()) << lane;
                            new_origin.map(|origin| self.origins.insert((RegisterOrLocal::Local(word as u32), lane as u8), origin));
                        }
                    }
                    Space::Shared => {
                        for (word, part) in parts {
                            group.words[word] = part;
                            let bits = &mut group.undefined[word / 64];
                            *bits = *bits & !(1 << (word % 64)) | u64::from(new_origin.is_some()) << (word % 64);
                            new_origin.map(|origin| group.origins.insert(word as u32, origin));
                        }
                    }
                    Space::Buffer(buffer) => {
                        let memory = shared.buffers.memory_of(buffer);
                        let words = shared.buffers.words(memory).iter().skip(address as usize / 4);
                        words.zip(parts).for_each(|(word, (_, part))| word.store(part, R));
                        if new_origin.is_some() || shared.buffers.has_undefined(memory) {
                            shared.buffers.set_undefined(memory, address, bytes, new_origin);
                        }
                    }
                }
            }
            (old_values[0][lane], old_values[1][lane]) = (old as u32, (old >> 32) as u32);
            if let Some(origin) = old_origin {
                doubt |= 1 << lane;
                origins.push((lane, origin));
            }
        }
        for (d, values) in [code.d, atomic.high].into_iter().zip(old_values).filter(|(d, _)| *d != NONE) {
            self.write(d, code.masked, |_, to| *to = values);
            self.keep_origins(RegisterOrLocal::Column(d), doubt, origins.clone());
        }
        Ok(())
    }

    /// The bits of an operand, 0 if there is none.
    fn operand(&self, columns: [u32; 2], lane: usize) -> u64 {
        from_words(columns.into_iter().map(|column| if column == NONE { 0 } else { self.columns[column as usize][lane] }))
    }

    /// The kind of an atomic for the full detector. An exchange that compares unequal only loads.
    fn atomic_kind(&self, atomic: &Atomic, old: u64, lane: usize) -> Kind {
        let compares = matches!(atomic.op, Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak);
        let (op, semantics) = match atomic.op {
            Core::AtomicLoad => (AtomicOp::Load, atomic.semantics),
            Core::AtomicStore => (AtomicOp::Store, atomic.semantics),
            _ if compares && self.operand(atomic.comparator, lane) != old => (AtomicOp::Load, atomic.unequal),
            _ => (AtomicOp::ReadModifyWrite, atomic.semantics),
        };
        Kind::Atomic { op, scope: atomic.scope, semantics }
    }
}

/// The number that these words form, the low one first.
fn from_words(words: impl Iterator<Item = u32>) -> u64 {
    words.enumerate().fold(0, |number, (at, word)| number | u64::from(word) << (32 * at))
}

/// The value in memory after an atomic.
fn updated(atomic: &Atomic, old: u64, value: u64, comparator: u64) -> u64 {
    let signed = |bits: u64| (bits << (64 - atomic.width)) as i64;
    match atomic.op {
        Core::AtomicLoad => old,
        Core::AtomicStore | Core::AtomicExchange => value,
        Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak if old == comparator => value,
        Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak => old,
        Core::AtomicIIncrement => old.wrapping_add(1),
        Core::AtomicIDecrement => old.wrapping_sub(1),
        Core::AtomicIAdd => old.wrapping_add(value),
        Core::AtomicISub => old.wrapping_sub(value),
        Core::AtomicSMin => std::cmp::min_by_key(old, value, |&bits| signed(bits)),
        Core::AtomicUMin => old.min(value),
        Core::AtomicSMax => std::cmp::max_by_key(old, value, |&bits| signed(bits)),
        Core::AtomicUMax => old.max(value),
        Core::AtomicAnd => old & value,
        Core::AtomicOr => old | value,
        Core::AtomicXor => old ^ value,
        _ => old,
    }
}

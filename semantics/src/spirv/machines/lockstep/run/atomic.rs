//! Atomics, lane after lane: SPIR-V §3.3.18.

use std::sync::atomic::Ordering;

use super::super::column::{self, LANES};
use super::super::program::{Atomic, Code, NONE, Space};
use super::codes::Done;
use super::races::Touch;
use super::warp::{Kept, Warp};
use super::{Group, Shared};
use crate::concurrency::{AtomicOp, Kind};
use crate::spirv::grammar::Op as Core;
use crate::spirv::value::Origin;
use crate::undefined::Unspecified;

const R: Ordering = Ordering::Relaxed;

impl Warp {
    pub(super) fn atomic(&mut self, code: &Code, atomic: &Atomic, shared: &Shared<'_>, group: &mut Group) -> Done {
        let kind = if atomic.op == Core::AtomicLoad { Touch::AtomicRead } else { Touch::Atomic };
        let place = Code { a: atomic.address, c: atomic.offset, ..*code };
        let (mut old_values, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let at = self.place(&place, shared, lane);
            let undefined_operand = [atomic.value, atomic.comparator]
                .into_iter()
                .filter(|&r| r != NONE && self.undefined[r as usize] >> lane & 1 == 1)
                .map(|r| self.origin(Kept::Column(r), lane, code.at))
                .next();
            // Where an operand or the memory is undefined, what is there afterwards is undefined
            // too; the comparison of an exchange may fail or not.
            let (old, old_origin) = match atomic.space {
                Space::Local => {
                    let is_undefined = self.local_undefined[at as usize] >> lane & 1 == 1;
                    (self.local[at as usize][lane], is_undefined.then(|| self.origin(Kept::Local(at), lane, code.at)))
                }
                Space::Shared => {
                    let full = self.atomic_kind(atomic, group.words[at as usize], lane);
                    self.touch_shared(&place, shared, group, lane, kind, full)?;
                    let is_undefined = group.undefined[at as usize / 64] >> (at % 64) & 1 == 1;
                    let uninitialised = self.origin(Kept::Local(u32::MAX), lane, code.at);
                    let origin = group.origins.get(&at).copied().unwrap_or(uninitialised);
                    (group.words[at as usize], is_undefined.then_some(origin))
                }
                Space::Buffer(buffer) => {
                    let memory = shared.buffers.memory_of(buffer);
                    if !at.is_multiple_of(4) {
                        return Err(self.misaligned(code, shared, lane, at, 4));
                    }
                    let word = shared.buffers.words(memory).get(at as usize / 4);
                    if self.helpers >> lane & 1 == 1 {
                        // Helpers write nothing, and what they are given is undefined.
                        if kind == Touch::AtomicRead && word.is_some() {
                            let full = self.atomic_kind(atomic, 0, lane);
                            self.touch_buffer(&Code { buffer, ..place }, shared, group, lane, (at, 4), kind, full)?;
                        }
                        doubt |= 1 << lane;
                        let invocation = self.number + lane as u32;
                        origins.push((lane, Origin { kind: Unspecified::HelperResult, instruction: code.at, invocation }));
                        continue;
                    }
                    let Some(word) = word else {
                        if shared.robust {
                            // Nothing is there, and robustness does not say what an atomic gives.
                            continue;
                        }
                        return Err(self.stray(shared, code, at));
                    };
                    let full = self.atomic_kind(atomic, word.load(R), lane);
                    self.touch_buffer(&Code { buffer, ..place }, shared, group, lane, (at, 4), kind, full)?;
                    let origin = shared.buffers.has_undefined(memory).then(|| shared.buffers.origin(memory, at, 4)).flatten();
                    (word.load(R), origin)
                }
            };
            let operand = |r: u32| if r == NONE { 0 } else { self.columns[r as usize][lane] };
            let new = updated(atomic.op, old, operand(atomic.value), operand(atomic.comparator));
            let overwrites = matches!(atomic.op, Core::AtomicStore | Core::AtomicExchange);
            let new_origin = if overwrites { undefined_operand } else { old_origin.or(undefined_operand) };
            if kind == Touch::Atomic {
                match atomic.space {
                    Space::Local => {
                        self.local[at as usize][lane] = new;
                        let lanes = &mut self.local_undefined[at as usize];
                        *lanes = *lanes & !(1 << lane) | u64::from(new_origin.is_some()) << lane;
                        if let Some(origin) = new_origin {
                            self.origins.insert((Kept::Local(at), lane as u8), origin);
                        }
                    }
                    Space::Shared => {
                        group.words[at as usize] = new;
                        let bits = &mut group.undefined[at as usize / 64];
                        *bits = *bits & !(1 << (at % 64)) | u64::from(new_origin.is_some()) << (at % 64);
                        if let Some(origin) = new_origin {
                            group.origins.insert(at, origin);
                        }
                    }
                    Space::Buffer(buffer) => {
                        let memory = shared.buffers.memory_of(buffer);
                        if let Some(word) = shared.buffers.words(memory).get(at as usize / 4) {
                            word.store(new, R);
                        }
                        if new_origin.is_some() || shared.buffers.has_undefined(memory) {
                            shared.buffers.set_undefined(memory, at, 4, new_origin);
                        }
                    }
                }
            }
            old_values[lane] = old;
            if let Some(origin) = old_origin {
                doubt |= 1 << lane;
                origins.push((lane, origin));
            }
        }
        if code.d != NONE {
            self.write(code.d, code.masked, |_, to| *to = old_values);
            self.keep_origins(Kept::Column(code.d), doubt, origins);
        }
        Ok(())
    }

    /// What an atomic is to the full detector: an exchange that compares unequal only loads.
    fn atomic_kind(&self, atomic: &Atomic, old: u32, lane: usize) -> Kind {
        let compares = matches!(atomic.op, Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak);
        let (op, semantics) = match atomic.op {
            Core::AtomicLoad => (AtomicOp::Load, atomic.semantics),
            Core::AtomicStore => (AtomicOp::Store, atomic.semantics),
            _ if compares && self.columns[atomic.comparator as usize][lane] != old => (AtomicOp::Load, atomic.unequal),
            _ => (AtomicOp::ReadModifyWrite, atomic.semantics),
        };
        Kind::Atomic { op, scope: atomic.scope, semantics }
    }
}

/// What an atomic leaves in memory.
fn updated(op: Core, old: u32, value: u32, comparator: u32) -> u32 {
    match op {
        Core::AtomicLoad => old,
        Core::AtomicStore | Core::AtomicExchange => value,
        Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak if old == comparator => value,
        Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak => old,
        Core::AtomicIIncrement => old.wrapping_add(1),
        Core::AtomicIDecrement => old.wrapping_sub(1),
        Core::AtomicIAdd => old.wrapping_add(value),
        Core::AtomicISub => old.wrapping_sub(value),
        Core::AtomicSMin => (old as i32).min(value as i32) as u32,
        Core::AtomicUMin => old.min(value),
        Core::AtomicSMax => (old as i32).max(value as i32) as u32,
        Core::AtomicUMax => old.max(value),
        Core::AtomicAnd => old & value,
        Core::AtomicOr => old | value,
        Core::AtomicXor => old ^ value,
        _ => old,
    }
}

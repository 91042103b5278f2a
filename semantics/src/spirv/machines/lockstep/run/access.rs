//! Indices and memory: SPIR-V §3.3.8. An access chain checks its indices, so the access needs no
//! check. If buffers are robust, an address may be beyond the end. Then the access has no effect on
//! memory, and a load returns 0.

use std::sync::atomic::Ordering;

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Code, Count, NONE, Op, Place, Space};
use super::codes::Done;
use super::races::AccessKind;
use super::warp::{RegisterOrLocal, Warp, blend};
use super::{Failure, Group, Shared};
use crate::concurrency::Kind;
use crate::spirv::grammar::Op as Core;
use crate::spirv::object::Fault;
use crate::spirv::report;
use crate::spirv::value::Origin;
use crate::undefined::Ub;

const R: Ordering = Ordering::Relaxed;

/// The least of the addresses that stand for all addresses beyond 32 bits. No buffer is that long.
const BEYOND: u32 = 0xffff_f000;

/// An address as 32 bits. If it is beyond them, its low bits are kept, so that its
/// alignment is known.
#[inline]
fn narrowed(address: u64) -> u32 {
    u32::try_from(address).unwrap_or(BEYOND | address as u32)
}

impl Warp {
    /// d := a + b·c, for addresses. The operands are never undefined, since their bounds
    /// were checked.
    #[inline]
    pub(super) fn index(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let (b, c) = (code.b as usize, code.c);
        if shared.robust {
            let base = if code.a == NONE { [0; LANES] } else { self.columns[code.a as usize] };
            let index = self.columns[b];
            self.write(code.d, code.masked, |_, target| {
                for ((t, &a), &b) in target.iter_mut().zip(&base).zip(&index) {
                    *t = narrowed(u64::from(a) + u64::from(b) * u64::from(c));
                }
            });
        } else if code.a == NONE {
            let index = self.columns[b];
            self.write(code.d, code.masked, |_, target| {
                for (t, &b) in target.iter_mut().zip(&index) {
                    *t = b.wrapping_mul(c);
                }
            });
        } else {
            let (base, index) = (self.columns[code.a as usize], self.columns[b]);
            self.write(code.d, code.masked, |_, target| {
                for ((t, &a), &b) in target.iter_mut().zip(&base).zip(&index) {
                    *t = a.wrapping_add(b.wrapping_mul(c));
                }
            });
        }
        Ok(())
    }

    /// Checks that the index of every active lane is less than `count`.
    #[inline]
    pub(super) fn bound(&mut self, code: &Code, shared: &Shared<'_>, count: u32) -> Done {
        let a = code.a as usize;
        let doubt = self.undefined[a] & self.active;
        if doubt != 0 {
            return Err(self.undefined_address(code, shared, doubt));
        }
        let mut any = 0;
        for (&index, &m) in self.columns[a].iter().zip(&self.spread) {
            any |= u32::from(index >= count) & m;
        }
        if any == 0 {
            return Ok(());
        }
        let lanes = column::lanes(self.active).filter(|&lane| self.columns[a][lane] >= count).fold(0u64, |set, lane| set | 1 << lane);
        let index = self.columns[a][lanes.trailing_zeros() as usize] as i32;
        Err(self.out_of_bounds(code, shared, lanes, index.into()))
    }

    /// Checks the index of a runtime array. If buffers are robust, it only must not be negative.
    #[inline]
    pub(super) fn bound_runtime(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        self.bound(code, shared, if shared.robust { 1 << 31 } else { shared.lengths[code.c as usize] })
    }

    /// Narrows a 64-bit index, and checks its bound if it has one.
    pub(super) fn bound_wide(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let (low, high) = (code.a as usize, code.c as usize);
        let doubt = (self.undefined[low] | self.undefined[high]) & self.active;
        if code.b != NONE && doubt != 0 {
            return Err(self.undefined_address(code, shared, doubt));
        }
        let (lows, highs) = (self.columns[low], self.columns[high]);
        let index = |lane: usize| (u64::from(lows[lane]) | u64::from(highs[lane]) << 32) as i64;
        if code.b != NONE {
            let count = self.count(shared, code.b);
            let unbounded = shared.robust && matches!(shared.program.faults[code.b as usize].count, Count::Array(_));
            for lane in column::lanes(self.active) {
                if index(lane) < 0 || index(lane) as u64 >= count && !unbounded {
                    return Err(self.out_of_bounds(code, shared, 1 << lane, index(lane)));
                }
            }
        }
        let origins = column::lanes(doubt).map(|lane| (lane, self.origin(RegisterOrLocal::Column(code.a), lane, code.at))).collect();
        self.write(code.d, code.masked, |_, target| {
            for (lane, t) in target.iter_mut().enumerate() {
                *t = u32::try_from(index(lane)).unwrap_or(u32::MAX);
            }
        });
        self.keep_origins(RegisterOrLocal::Column(code.d), doubt, origins);
        Ok(())
    }

    /// The exclusive upper bound of the fault's index.
    fn count(&self, shared: &Shared<'_>, fault: u32) -> u64 {
        match shared.program.faults[fault as usize].count {
            Count::Fixed(count) => count,
            Count::Array(array) => shared.lengths[array as usize].into(),
        }
    }

    #[cold]
    fn undefined_address(&self, code: &Code, shared: &Shared<'_>, lanes: Lanes) -> Failure {
        let origin = self.origin(RegisterOrLocal::Column(code.a), lanes.trailing_zeros() as usize, code.at);
        let id = shared.program.faults[code.b as usize].id;
        let what = report::index_undefined(&shared.program.module, code.at, id, origin);
        self.failure(shared, Ub::AddressOnUndefined, what, code.at, lanes)
    }

    #[cold]
    fn out_of_bounds(&self, code: &Code, shared: &Shared<'_>, lanes: Lanes, index: i64) -> Failure {
        let id = shared.program.faults[code.b as usize].id;
        let what = report::index_out_of_bounds(&shared.program.module, code.at, id, index, self.count(shared, code.b));
        self.failure(shared, Ub::AccessOutOfBounds, what, code.at, lanes)
    }

    /// The address that all active lanes share, if they do.
    #[inline]
    pub(super) fn same_address(&self, code: &Code) -> Option<usize> {
        match code.a {
            NONE => Some(code.c as usize),
            a => column::uniform(&self.columns[a as usize], self.active, &self.spread).map(|base| (base + code.c) as usize),
        }
    }

    #[inline]
    pub(super) fn address(&self, code: &Code, lane: usize) -> u32 {
        match code.a {
            NONE => code.c,
            a => self.columns[a as usize][lane].wrapping_add(code.c),
        }
    }

    /// The address of a lane, which may be beyond the end of a buffer.
    #[inline]
    pub(super) fn place(&self, code: &Code, shared: &Shared<'_>, lane: usize) -> u32 {
        match code.a {
            a if a != NONE && shared.robust => narrowed(u64::from(self.columns[a as usize][lane]) + u64::from(code.c)),
            _ => self.address(code, lane),
        }
    }

    /// Set d := the lanes in which the access ends within the buffer.
    pub(super) fn reach(&mut self, code: &Code, shared: &Shared<'_>) {
        if !shared.robust {
            return;
        }
        let length = shared.buffers.length(code.buffer);
        let within = |lane: usize| {
            let base = if code.a == NONE { 0 } else { u64::from(self.columns[code.a as usize][lane]) };
            base + u64::from(code.c) <= length
        };
        let set = (0..LANES).filter(|&lane| within(lane)).fold(0u64, |set, lane| set | 1 << lane);
        self.write_set(code, set);
    }

    /// The active lanes in which an access to a buffer is within it.
    #[inline]
    fn reaching(&self, code: &Code, shared: &Shared<'_>) -> Lanes {
        if shared.robust && code.b != NONE { self.active & self.sets[code.b as usize] } else { self.active }
    }

    /// Checks that the address of every active lane is a multiple of b.
    pub(super) fn align(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        for lane in column::lanes(self.active) {
            let offset = self.place(code, shared, lane);
            if !offset.is_multiple_of(code.b.max(1)) {
                return Err(self.misaligned(code, shared, lane, offset, code.b));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn misaligned(&self, code: &Code, shared: &Shared<'_>, lane: usize, offset: u32, alignment: u32) -> Failure {
        let module = &shared.program.module;
        let pointer = module.instructions().get(code.at as usize).map_or(0, |i| {
            let operands = i.operands(module.words());
            // A copy checks its source first. Modf and Frexp store through their last operand.
            let copies_to = i.is(Core::CopyMemory) && matches!(code.op, Op::StoreBuffer | Op::StoreBuffer16 | Op::StoreBuffer8);
            let index = if i.is(Core::CopyMemory) && !copies_to { 1 } else { 0 };
            let index = if i.is(Core::ExtInst) { operands.len() - 1 } else { index };
            operands.get(index).copied().unwrap_or(0)
        });
        let fault = Fault::Misaligned { offset: offset.into(), alignment: alignment.into() };
        self.failure(shared, Ub::Misaligned, report::access(module, code.at, pointer, &fault), code.at, 1 << lane)
    }

    /// Checks that no active lane copies between places that overlap in part.
    pub(super) fn overlap(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let copied = &shared.program.copies[code.c as usize];
        let [to, from] = &copied.ends;
        let object = |space| match space {
            Space::Buffer(buffer) => Some(shared.buffers.memory_of(buffer)),
            _ => None,
        };
        if object(to.space) != object(from.space) {
            return Ok(());
        }
        let begin = |place: &Place, lane: usize| self.place(&Code { a: place.address, c: place.offset, ..*code }, shared, lane);
        for lane in column::lanes(self.active) {
            let starts = [u64::from(begin(to, lane)), u64::from(begin(from, lane))];
            let at = |end: usize| copied.cells[end].iter().map(move |&(first, count)| (starts[end] + u64::from(first), u64::from(count)));
            let overlaps = at(0).any(|(a, m)| at(1).any(|(b, n)| a < b + n && b < a + m));
            if overlaps && !at(0).eq(at(1)) {
                let what = report::overlapping_copy(&shared.program.module, code.at);
                return Err(self.failure(shared, Ub::OverlappingCopy, what, code.at, 1 << lane));
            }
        }
        Ok(())
    }

    pub(super) fn load_local(&mut self, code: &Code) {
        let is_set = code.op == Op::LoadLocalSet;
        let (mut loaded, mut doubt) = ([0; LANES], 0);
        match self.same_address(code) {
            Some(at) => (loaded, doubt) = (self.local[at], self.local_undefined[at] & self.active),
            None => {
                let a = code.a as usize;
                for (lane, (word, &base)) in loaded.iter_mut().zip(&self.columns[a]).enumerate() {
                    if self.active >> lane & 1 == 1 {
                        let at = (base + code.c) as usize;
                        *word = self.local[at][lane];
                        doubt |= self.local_undefined[at] & 1 << lane;
                    }
                }
            }
        }
        let origins: Vec<(usize, Origin)> = if doubt == 0 {
            Vec::new()
        } else {
            let from = |lane| RegisterOrLocal::Local(self.address(code, lane));
            column::lanes(doubt).map(|lane| (lane, self.origin(from(lane), lane, code.at))).collect()
        };
        if is_set {
            let set = column::compare(&loaded, &[0; LANES], |a, b| a != b);
            self.write_set(code, set);
            self.keep_origins(RegisterOrLocal::Set(code.d), doubt, origins);
        } else {
            self.write(code.d, code.masked, |_, to| *to = loaded);
            self.keep_origins(RegisterOrLocal::Column(code.d), doubt, origins);
        }
    }

    pub(super) fn store_local(&mut self, code: &Code) {
        let is_set = code.op == Op::StoreLocalSet;
        let from = if is_set { RegisterOrLocal::Set(code.d) } else { RegisterOrLocal::Column(code.d) };
        let doubt = *self.undefined_mut(from) & self.active;
        let source: Column = match is_set {
            true => column::spread(self.sets[code.d as usize]).map(|word| word & 1),
            false => self.columns[code.d as usize],
        };
        match self.same_address(code) {
            Some(at) => {
                blend(&mut self.local[at], &source, &self.spread);
                self.local_undefined[at] = self.local_undefined[at] & !self.active | doubt;
            }
            None => {
                for (lane, &word) in source.iter().enumerate() {
                    if self.active >> lane & 1 == 1 {
                        let at = (self.columns[code.a as usize][lane] + code.c) as usize;
                        self.local[at][lane] = word;
                        self.local_undefined[at] = self.local_undefined[at] & !(1 << lane) | doubt & 1 << lane;
                    }
                }
            }
        }
        if doubt != 0 {
            for lane in column::lanes(doubt) {
                let origin = self.origin(from, lane, code.at);
                let to = RegisterOrLocal::Local(self.address(code, lane));
                self.origins.insert((to, lane as u8), origin);
            }
        }
    }

    pub(super) fn load_shared(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        let (mut loaded, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let at = self.address(code, lane) as usize;
            self.touch_shared(code, shared, group, lane, AccessKind::Read, Kind::Load)?;
            loaded[lane] = group.words[at];
            if group.undefined[at / 64] >> (at % 64) & 1 == 1 {
                doubt |= 1 << lane;
                let uninitialised = self.origin(RegisterOrLocal::Local(u32::MAX), lane, code.at);
                origins.push((lane, group.origins.get(&(at as u32)).copied().unwrap_or(uninitialised)));
            }
        }
        if code.op == Op::LoadSharedSet {
            let set = column::compare(&loaded, &[0; LANES], |a, b| a != b);
            self.write_set(code, set);
            self.keep_origins(RegisterOrLocal::Set(code.d), doubt, origins);
        } else {
            self.write(code.d, code.masked, |_, to| *to = loaded);
            self.keep_origins(RegisterOrLocal::Column(code.d), doubt, origins);
        }
        Ok(())
    }

    pub(super) fn store_shared(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        let is_set = code.op == Op::StoreSharedSet;
        let from = if is_set { RegisterOrLocal::Set(code.d) } else { RegisterOrLocal::Column(code.d) };
        let doubt = *self.undefined_mut(from);
        for lane in column::lanes(self.active) {
            let at = self.address(code, lane) as usize;
            self.touch_shared(code, shared, group, lane, AccessKind::Write, Kind::Store)?;
            group.words[at] = match is_set {
                true => (self.sets[code.d as usize] >> lane & 1) as u32,
                false => self.columns[code.d as usize][lane],
            };
            let bit = 1 << (at % 64);
            if doubt >> lane & 1 == 1 {
                group.undefined[at / 64] |= bit;
                group.origins.insert(at as u32, self.origin(from, lane, code.at));
            } else {
                group.undefined[at / 64] &= !bit;
            }
        }
        Ok(())
    }

    pub(super) fn load_buffer(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group, width: u32) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        let words = shared.buffers.words(memory);
        let is_watched = shared.shadow.watches(memory);
        let within = self.reaching(code, shared);
        let (mut loaded, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let byte = self.place(code, shared, lane);
            if !byte.is_multiple_of(width) {
                return Err(self.misaligned(code, shared, lane, byte, width));
            }
            if within >> lane & 1 == 0 {
                continue;
            }
            let Some(word) = words.get(byte as usize / 4) else {
                return Err(self.stray(shared, code, byte));
            };
            if is_watched {
                self.touch_buffer(code, shared, group, lane, (byte, width), AccessKind::Read, Kind::Load)?;
            }
            let part = word.load(R) >> (8 * (byte % 4));
            loaded[lane] = if width == 4 { part } else { part & ((1 << (8 * width)) - 1) };
            if is_watched
                && shared.buffers.has_undefined(memory)
                && let Some(origin) = shared.buffers.origin(memory, byte, width)
            {
                doubt |= 1 << lane;
                origins.push((lane, origin));
            }
        }
        self.write(code.d, code.masked, |_, to| *to = loaded);
        self.keep_origins(RegisterOrLocal::Column(code.d), doubt, origins);
        Ok(())
    }

    pub(super) fn store_buffer(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group, width: u32) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        let words = shared.buffers.words(memory);
        let doubt = self.undefined[code.d as usize];
        let within = self.reaching(code, shared) & !self.helpers;
        for lane in column::lanes(self.active) {
            let byte = self.place(code, shared, lane);
            if !byte.is_multiple_of(width) {
                return Err(self.misaligned(code, shared, lane, byte, width));
            }
            if within >> lane & 1 == 0 {
                continue;
            }
            let Some(word) = words.get(byte as usize / 4) else {
                return Err(self.stray(shared, code, byte));
            };
            self.touch_buffer(code, shared, group, lane, (byte, width), AccessKind::Write, Kind::Store)?;
            let value = self.columns[code.d as usize][lane];
            if width == 4 {
                word.store(value, R);
            } else {
                let (shift, mask) = (8 * (byte % 4), (1u32 << (8 * width)) - 1);
                let _ = word.fetch_update(R, R, |old| Some(old & !(mask << shift) | (value & mask) << shift));
            }
            let is_doubtful = doubt >> lane & 1 == 1;
            if is_doubtful || shared.buffers.has_undefined(memory) {
                let origin = is_doubtful.then(|| self.origin(RegisterOrLocal::Column(code.d), lane, code.at));
                shared.buffers.set_undefined(memory, byte, width, origin);
            }
        }
        Ok(())
    }

    /// The fault of an address that no access chain in bounds can have.
    #[cold]
    pub(super) fn stray(&self, shared: &Shared<'_>, code: &Code, byte: u32) -> Failure {
        Failure::Stuck(format!("{} accesses byte {byte}, which its buffer does not have", report::name(&shared.program.module, code.at)))
    }
}

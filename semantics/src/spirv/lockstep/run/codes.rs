//! What each code does to the lanes of a warp.
//!
//! Computing codes work on whole columns, whatever the inactive lanes hold. If an active lane's operand is undefined, or is one that makes the
//! result undefined or behaviour undefined, the instruction is done again lane by lane ([`Warp::compute`]) by the same scalar functions that the
//! relation uses; only there origins are looked at.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::super::super::concurrency::{Access, Agent, AtomicOp, Class, Kind};
use super::super::super::grammar::Op as Core;
use super::super::super::operation::{Bits, Calculator, Operand, Site as Where, pure};
use super::super::super::value::{Origin, Scalar};
use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Atomic, Code, NONE, Op, Site, Slot, Space};
use super::races::{SHARED_MEMORY, Touch};
use super::warp::{Kept, Warp, blend, kept};
use super::{Broken, Group, Shared};
use crate::number::{Computed, Trust};
use crate::undefined::Ub;

type Done = Result<(), Broken>;

const R: Ordering = Ordering::Relaxed;

/// The float of a word.
#[inline]
fn float(word: u32) -> f32 {
    f32::from_bits(word)
}

/// Whether one of two floats is a NaN.
#[inline]
fn unordered(a: u32, b: u32) -> bool {
    float(a).is_nan() || float(b).is_nan()
}

/// The bits of a float; of every NaN, those of the quiet NaN without payload.
#[inline]
fn bits(float: f32) -> u32 {
    if float.is_nan() { 0x7fc0_0000 } else { float.to_bits() }
}

impl Warp {
    #[inline]
    pub(super) fn execute(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        match code.op {
            Op::Add => self.binary(code, shared, |a, b| a.wrapping_add(b)),
            Op::Sub => self.binary(code, shared, |a, b| a.wrapping_sub(b)),
            Op::Mul => self.binary(code, shared, |a, b| a.wrapping_mul(b)),
            Op::And => self.binary(code, shared, |a, b| a & b),
            Op::Or => self.binary(code, shared, |a, b| a | b),
            Op::Xor => self.binary(code, shared, |a, b| a ^ b),
            Op::MinUnsigned => self.binary(code, shared, |a, b| a.min(b)),
            Op::MaxUnsigned => self.binary(code, shared, |a, b| a.max(b)),
            Op::MinSigned => self.binary(code, shared, |a, b| (a as i32).min(b as i32) as u32),
            Op::MaxSigned => self.binary(code, shared, |a, b| (a as i32).max(b as i32) as u32),
            Op::Not => self.unary(code, shared, |a| !a),
            Op::Negate => self.unary(code, shared, u32::wrapping_neg),
            Op::ShiftLeft => self.checked(code, shared, |_, b| b >= 32, |a, b| a << (b & 31)),
            Op::ShiftRight => self.checked(code, shared, |_, b| b >= 32, |a, b| a >> (b & 31)),
            Op::ShiftRightSigned => self.checked(code, shared, |_, b| b >= 32, |a, b| ((a as i32) >> (b & 31)) as u32),
            // Quotients of 32-bit integers are exact in 64-bit floats, once the fraction is cut off.
            Op::DivideUnsigned => self.checked(code, shared, |_, b| b == 0, |a, b| (f64::from(a) / f64::from(b)) as u32),
            Op::ModUnsigned => {
                self.checked(code, shared, |_, b| b == 0, |a, b| a.wrapping_sub(((f64::from(a) / f64::from(b)) as u32).wrapping_mul(b)))
            }
            Op::DivideSigned => {
                let ends = |a, b| b == 0 || a == 1 << 31 && b == u32::MAX;
                self.checked(code, shared, ends, |a, b| (f64::from(a as i32) / f64::from(b as i32)) as i32 as u32)
            }
            Op::AddFloat => self.binary(code, shared, |a, b| bits(float(a) + float(b))),
            Op::SubFloat => self.binary(code, shared, |a, b| bits(float(a) - float(b))),
            Op::MulFloat => self.binary(code, shared, |a, b| bits(float(a) * float(b))),
            Op::DivideFloat => self.binary(code, shared, |a, b| bits(float(a) / float(b))),
            Op::NegateFloat => self.unary(code, shared, |a| bits(-float(a))),
            Op::AbsFloat => self.unary(code, shared, |a| bits(float(a).abs())),
            Op::FloatOfSigned => self.unary(code, shared, |a| (a as i32 as f32).to_bits()),
            Op::FloatOfUnsigned => self.unary(code, shared, |a| (a as f32).to_bits()),
            Op::SignedOfFloat => {
                let outside = |a, _| !(float(a) >= -2_147_483_648.0 && float(a) < 2_147_483_648.0);
                self.checked(&Code { b: code.a, ..*code }, shared, outside, |a, _| float(a) as i32 as u32)
            }
            Op::UnsignedOfFloat => {
                let outside = |a, _| !(float(a) > -1.0 && float(a) < 4_294_967_296.0);
                self.checked(&Code { b: code.a, ..*code }, shared, outside, |a, _| float(a) as u32)
            }
            Op::Equal => self.compare(code, shared, |a, b| a == b),
            Op::NotEqual => self.compare(code, shared, |a, b| a != b),
            Op::LessUnsigned => self.compare(code, shared, |a, b| a < b),
            Op::LessEqualUnsigned => self.compare(code, shared, |a, b| a <= b),
            Op::LessSigned => self.compare(code, shared, |a, b| (a as i32) < b as i32),
            Op::LessEqualSigned => self.compare(code, shared, |a, b| a as i32 <= b as i32),
            Op::EqualFloat => self.compare(code, shared, |a, b| float(a) == float(b)),
            Op::NotEqualFloat => self.compare(code, shared, |a, b| float(a) < float(b) || float(a) > float(b)),
            Op::LessFloat => self.compare(code, shared, |a, b| float(a) < float(b)),
            Op::LessEqualFloat => self.compare(code, shared, |a, b| float(a) <= float(b)),
            Op::UnorderedEqualFloat => self.compare(code, shared, |a, b| !(float(a) < float(b) || float(a) > float(b))),
            Op::UnorderedNotEqualFloat => self.compare(code, shared, |a, b| float(a) != float(b)),
            Op::UnorderedLessFloat => self.compare(code, shared, |a, b| float(a) < float(b) || unordered(a, b)),
            Op::UnorderedLessEqualFloat => self.compare(code, shared, |a, b| float(a) <= float(b) || unordered(a, b)),
            Op::AndSet => self.logical(code, shared, |a, b| a & b),
            Op::OrSet => self.logical(code, shared, |a, b| a | b),
            Op::EqualSet => self.logical(code, shared, |a, b| !(a ^ b)),
            Op::NotEqualSet => self.logical(code, shared, |a, b| a ^ b),
            Op::NotSet => self.logical(&Code { b: code.a, ..*code }, shared, |a, _| !a),
            Op::Select => {
                self.select(code);
                Ok(())
            }
            Op::SelectSet => {
                self.select_set(code);
                Ok(())
            }
            Op::Copy => {
                self.load_register(code);
                Ok(())
            }
            Op::CopySet => {
                self.load_register_set(code);
                Ok(())
            }
            Op::Index => self.index(code),
            Op::Bound => self.bound(code, shared, code.c),
            Op::BoundRuntime => self.bound(code, shared, shared.lengths[code.c as usize]),
            Op::LoadLocal | Op::LoadLocalSet => {
                self.load_local(code);
                Ok(())
            }
            Op::StoreLocal | Op::StoreLocalSet => {
                self.store_local(code);
                Ok(())
            }
            Op::LoadShared | Op::LoadSharedSet => self.load_shared(code, shared, group),
            Op::StoreShared | Op::StoreSharedSet => self.store_shared(code, shared, group),
            Op::LoadBuffer => self.load_buffer(code, shared, group, 4),
            Op::LoadBuffer16 => self.load_buffer(code, shared, group, 2),
            Op::LoadBuffer8 => self.load_buffer(code, shared, group, 1),
            Op::StoreBuffer => self.store_buffer(code, shared, group, 4),
            Op::StoreBuffer16 => self.store_buffer(code, shared, group, 2),
            Op::StoreBuffer8 => self.store_buffer(code, shared, group, 1),
            Op::ForgetLocal => {
                for scalar in code.c..code.c + code.b {
                    self.forget(Kept::Local(scalar));
                }
                Ok(())
            }
            Op::Forget => {
                self.forget(Kept::Column(code.d));
                Ok(())
            }
            Op::ForgetSets => {
                self.forget(Kept::Set(code.d));
                Ok(())
            }
            Op::Undefine => {
                self.undefine(Kept::Column(code.d), code);
                Ok(())
            }
            Op::UndefineSet => {
                self.undefine(Kept::Set(code.d), code);
                Ok(())
            }
            Op::Length => {
                self.columns[code.d as usize] = [shared.lengths[code.c as usize]; LANES];
                self.undefined[code.d as usize] = 0;
                Ok(())
            }
            Op::Fence => {
                self.fence(code, shared, group);
                Ok(())
            }
            Op::Atomic => self.atomic(code, &shared.program.atomics[code.c as usize], shared, group),
            Op::Compute => self.compute(&shared.program.sites[code.at as usize]),
        }
    }

    /// Puts `value(lane)` into column d, and says that it is defined.
    #[inline]
    fn write(&mut self, d: u32, masked: bool, make: impl FnOnce(&[Column], &mut Column)) {
        let (earlier, rest) = self.columns.split_at_mut(d as usize);
        let target = &mut rest[0];
        if masked {
            let kept = *target;
            make(earlier, target);
            for ((t, &k), &m) in target.iter_mut().zip(&kept).zip(&self.spread) {
                *t = *t & m | k & !m;
            }
            self.undefined[d as usize] &= !self.active;
        } else {
            make(earlier, target);
            self.undefined[d as usize] = 0;
        }
    }

    #[inline]
    fn binary(&mut self, code: &Code, shared: &Shared<'_>, f: impl Fn(u32, u32) -> u32) -> Done {
        let (a, b) = (code.a as usize, code.b as usize);
        if (self.undefined[a] | self.undefined[b]) & self.active != 0 {
            return self.compute(&shared.program.sites[code.at as usize]);
        }
        if a.max(b) < code.d as usize {
            self.write(code.d, code.masked, |earlier, target| {
                let (a, b) = (&earlier[a], &earlier[b]);
                for ((t, &a), &b) in target.iter_mut().zip(a).zip(b) {
                    *t = f(a, b);
                }
            });
        } else {
            let (a, b) = (self.columns[a], self.columns[b]);
            self.write(code.d, code.masked, |_, target| {
                for ((t, &a), &b) in target.iter_mut().zip(&a).zip(&b) {
                    *t = f(a, b);
                }
            });
        }
        Ok(())
    }

    #[inline]
    fn unary(&mut self, code: &Code, shared: &Shared<'_>, f: impl Fn(u32) -> u32) -> Done {
        self.binary(&Code { b: code.a, ..*code }, shared, |a, _| f(a))
    }

    /// A binary code that has operands for which the result is not simply a value.
    #[inline]
    fn checked(&mut self, code: &Code, shared: &Shared<'_>, special: impl Fn(u32, u32) -> bool, f: impl Fn(u32, u32) -> u32) -> Done {
        let (a, b) = (&self.columns[code.a as usize], &self.columns[code.b as usize]);
        let mut any = 0;
        for ((&a, &b), &m) in a.iter().zip(b).zip(&self.spread) {
            any |= u32::from(special(a, b)) & m;
        }
        if any != 0 {
            return self.compute(&shared.program.sites[code.at as usize]);
        }
        self.binary(code, shared, f)
    }

    #[inline]
    fn compare(&mut self, code: &Code, shared: &Shared<'_>, holds: impl Fn(u32, u32) -> bool) -> Done {
        let (a, b) = (code.a as usize, code.b as usize);
        if (self.undefined[a] | self.undefined[b]) & self.active != 0 {
            return self.compute(&shared.program.sites[code.at as usize]);
        }
        let set = column::compare(&self.columns[a], &self.columns[b], holds);
        self.write_set(code, set);
        Ok(())
    }

    #[inline]
    fn logical(&mut self, code: &Code, shared: &Shared<'_>, f: impl Fn(Lanes, Lanes) -> Lanes) -> Done {
        let (a, b) = (code.a as usize, code.b as usize);
        if (self.sets_undefined[a] | self.sets_undefined[b]) & self.active != 0 {
            return self.compute(&shared.program.sites[code.at as usize]);
        }
        let set = f(self.sets[a], self.sets[b]);
        self.write_set(code, set);
        Ok(())
    }

    #[inline]
    fn write_set(&mut self, code: &Code, set: Lanes) {
        let keep = if code.masked { !self.active } else { 0 };
        let d = code.d as usize;
        self.sets[d] = self.sets[d] & keep | set & !keep;
        self.sets_undefined[d] &= keep;
    }

    fn select(&mut self, code: &Code) {
        let (a, b, c) = (code.a as usize, code.b as usize, code.c as usize);
        let (truth, doubt) = (self.sets[c], self.sets_undefined[c]);
        let chosen = self.undefined[a] & truth | self.undefined[b] & !truth | doubt;
        let (mut target, other) = (self.columns[b], &self.columns[a]);
        blend(&mut target, other, &column::spread(truth));
        let doubtful = chosen & self.active;
        let origins = if doubtful == 0 { Vec::new() } else { self.chosen(code, Kept::Column(code.a), Kept::Column(code.b), doubtful) };
        self.write(code.d, code.masked, |_, to| *to = target);
        self.keep_origins(Kept::Column(code.d), doubtful, origins);
    }

    fn select_set(&mut self, code: &Code) {
        let (a, b, c) = (code.a as usize, code.b as usize, code.c as usize);
        let (truth, doubt) = (self.sets[c], self.sets_undefined[c]);
        let chosen = self.sets_undefined[a] & truth | self.sets_undefined[b] & !truth | doubt;
        let set = self.sets[a] & truth | self.sets[b] & !truth;
        let doubtful = chosen & self.active;
        let origins = if doubtful == 0 { Vec::new() } else { self.chosen(code, Kept::Set(code.a), Kept::Set(code.b), doubtful) };
        self.write_set(code, set);
        self.keep_origins(Kept::Set(code.d), doubtful, origins);
    }

    /// Whose undefined values a selection chooses.
    #[cold]
    fn chosen(&self, code: &Code, a: Kept, b: Kept, lanes: Lanes) -> Vec<(usize, Origin)> {
        let from = |lane: usize| match (self.sets_undefined[code.c as usize] >> lane & 1, self.sets[code.c as usize] >> lane & 1) {
            (1, _) => Kept::Set(code.c),
            (_, 1) => a,
            _ => b,
        };
        column::lanes(lanes).map(|lane| (lane, self.origin(from(lane), lane, code.at))).collect()
    }

    fn keep_origins(&mut self, to: Kept, lanes: Lanes, origins: Vec<(usize, Origin)>) {
        if lanes != 0 {
            *self.undefined_mut(to) |= lanes;
            for (lane, origin) in origins {
                self.origins.insert((to, lane as u8), origin);
            }
        }
    }

    /// A copy within or of a variable; lanes of a variable that nothing was written to become undefined values made here.
    #[inline]
    fn load_register(&mut self, code: &Code) {
        let doubt = self.undefined[code.a as usize] & self.active;
        if doubt != 0 {
            self.name_origins(Kept::Column(code.a), doubt, code.at);
        }
        if code.d == NONE {
            return;
        }
        if code.masked {
            return self.copy_column(code.d, code.a);
        }
        let a = code.a as usize;
        self.columns.copy_within(a..a + 1, code.d as usize);
        self.undefined[code.d as usize] = doubt;
        if doubt != 0 {
            self.copy_origins(Kept::Column(code.d), Kept::Column(code.a), doubt);
        }
    }

    #[inline]
    fn load_register_set(&mut self, code: &Code) {
        let doubt = self.sets_undefined[code.a as usize] & self.active;
        if doubt != 0 {
            self.name_origins(Kept::Set(code.a), doubt, code.at);
        }
        if code.d == NONE {
            return;
        }
        if code.masked {
            return self.copy_set(code.d, code.a);
        }
        self.sets[code.d as usize] = self.sets[code.a as usize];
        self.sets_undefined[code.d as usize] = doubt;
        if doubt != 0 {
            self.copy_origins(Kept::Set(code.d), Kept::Set(code.a), doubt);
        }
    }

    #[cold]
    fn name_origins(&mut self, kept: Kept, lanes: Lanes, at: u32) {
        for lane in column::lanes(lanes) {
            let origin = self.origin(kept, lane, at);
            self.origins.insert((kept, lane as u8), origin);
        }
    }

    fn forget(&mut self, kept: Kept) {
        let active = self.active;
        *self.undefined_mut(kept) |= active;
        if !self.origins.is_empty() {
            for lane in column::lanes(active) {
                self.origins.remove(&(kept, lane as u8));
            }
        }
    }

    fn undefine(&mut self, kept: Kept, code: &Code) {
        let active = self.active;
        *self.undefined_mut(kept) |= active;
        for lane in column::lanes(active) {
            let origin = Origin { kind: super::kind(code.b), instruction: code.at, invocation: self.number + lane as u32 };
            self.origins.insert((kept, lane as u8), origin);
        }
    }

    /// d := a + b·c, of addresses, whose operands are never undefined: their bounds were checked.
    #[inline]
    fn index(&mut self, code: &Code) -> Done {
        let (b, c) = (code.b as usize, code.c);
        if code.a == NONE {
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

    #[inline]
    fn bound(&mut self, code: &Code, shared: &Shared<'_>, count: u32) -> Done {
        let a = code.a as usize;
        let doubt = self.undefined[a] & self.active;
        if doubt != 0 {
            return Err(self.undefined_address(code, doubt));
        }
        let mut any = 0;
        for (&index, &m) in self.columns[a].iter().zip(&self.spread) {
            any |= u32::from(index >= count) & m;
        }
        if any != 0 { Err(self.out_of_bounds(code, shared, count)) } else { Ok(()) }
    }

    #[cold]
    fn undefined_address(&self, code: &Code, lanes: Lanes) -> Broken {
        let origin = self.origin(Kept::Column(code.a), lanes.trailing_zeros() as usize, code.at);
        let what = format!("an address depends on an undefined value, made by instruction {} ({})", origin.instruction, origin.kind.id());
        self.broken(Ub::AddressOnUndefined, what, code.at, lanes)
    }

    #[cold]
    fn out_of_bounds(&self, code: &Code, shared: &Shared<'_>, count: u32) -> Broken {
        let fault = &shared.program.faults[code.b as usize];
        let column = &self.columns[code.a as usize];
        let lanes = column::lanes(self.active).filter(|&lane| column[lane] >= count).fold(0u64, |set, lane| set | 1 << lane);
        let index = column[lanes.trailing_zeros() as usize];
        let index = if fault.is_signed { i64::from(index as i32) } else { i64::from(index) };
        let i = &shared.program.instructions[code.at as usize];
        let what = format!("%{} = {} has index {index} (%{}) of {count}", i.result, i.name(), fault.id);
        self.broken(Ub::AccessOutOfBounds, what, code.at, lanes)
    }

    /// The address that all active lanes have, if they have the same.
    #[inline]
    fn same_address(&self, code: &Code) -> Option<usize> {
        match code.a {
            NONE => Some(code.c as usize),
            a => column::uniform(&self.columns[a as usize], self.active, &self.spread).map(|base| (base + code.c) as usize),
        }
    }

    #[inline]
    fn address(&self, code: &Code, lane: usize) -> u32 {
        match code.a {
            NONE => code.c,
            a => self.columns[a as usize][lane].wrapping_add(code.c),
        }
    }

    fn load_local(&mut self, code: &Code) {
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
            let from = |lane| Kept::Local(self.address(code, lane));
            column::lanes(doubt).map(|lane| (lane, self.origin(from(lane), lane, code.at))).collect()
        };
        if is_set {
            let set = column::compare(&loaded, &[0; LANES], |a, b| a != b);
            self.write_set(code, set);
            self.keep_origins(Kept::Set(code.d), doubt, origins);
        } else {
            self.write(code.d, code.masked, |_, to| *to = loaded);
            self.keep_origins(Kept::Column(code.d), doubt, origins);
        }
    }

    fn store_local(&mut self, code: &Code) {
        let is_set = code.op == Op::StoreLocalSet;
        let from = if is_set { Kept::Set(code.d) } else { Kept::Column(code.d) };
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
                let to = Kept::Local(self.address(code, lane));
                self.origins.insert((to, lane as u8), origin);
            }
        }
    }

    fn load_shared(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        let (mut loaded, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let at = self.address(code, lane) as usize;
            self.touch_shared(code, shared, group, lane, Touch::Read)?;
            loaded[lane] = group.words[at];
            if group.undefined[at / 64] >> (at % 64) & 1 == 1 {
                doubt |= 1 << lane;
                let uninitialised = self.origin(Kept::Local(u32::MAX), lane, code.at);
                origins.push((lane, group.origins.get(&(at as u32)).copied().unwrap_or(uninitialised)));
            }
        }
        if code.op == Op::LoadSharedSet {
            let set = column::compare(&loaded, &[0; LANES], |a, b| a != b);
            self.write_set(code, set);
            self.keep_origins(Kept::Set(code.d), doubt, origins);
        } else {
            self.write(code.d, code.masked, |_, to| *to = loaded);
            self.keep_origins(Kept::Column(code.d), doubt, origins);
        }
        Ok(())
    }

    fn store_shared(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        let is_set = code.op == Op::StoreSharedSet;
        let from = if is_set { Kept::Set(code.d) } else { Kept::Column(code.d) };
        let doubt = *self.undefined_mut(from);
        for lane in column::lanes(self.active) {
            let at = self.address(code, lane) as usize;
            self.touch_shared(code, shared, group, lane, Touch::Write)?;
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

    /// What the full detector says of an access.
    #[cold]
    fn access(&self, code: &Code, shared: &Shared<'_>, group: &mut Group, lane: usize, place: (u32, u32, u32, Class), kind: Kind) -> Done {
        let (object, offset, bytes, class) = place;
        let agent = Agent { workgroup: group.number, local: self.first + lane as u32 };
        let (offset, bytes, instruction) = (u64::from(offset), u64::from(bytes), code.at);
        let Some(detector) = &mut group.detector else { return Ok(()) };
        match detector.access(&Access { agent, object, offset, bytes, class, kind, instruction }) {
            None => Ok(()),
            Some(race) => {
                let name = shared.program.instructions[code.at as usize].name();
                let what = format!("{name}: {race}");
                Err(self.broken(Ub::DataRace, what, code.at, 1 << lane))
            }
        }
    }

    fn fence(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) {
        let (scope, semantics) = shared.program.fences[code.c as usize];
        if let Some(detector) = &mut group.detector {
            for lane in column::lanes(self.active) {
                detector.fence(Agent { workgroup: group.number, local: self.first + lane as u32 }, scope, &semantics);
            }
        }
    }

    #[inline]
    fn touch_shared(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group, lane: usize, kind: Touch) -> Done {
        if group.detector.is_some() {
            let place = (SHARED_MEMORY, 4 * self.address(code, lane), 4, Class::Workgroup);
            return self.access(code, shared, group, lane, place, plain(kind));
        }
        let who = self.who(shared, group, lane, group.phases.shared);
        let at = self.address(code, lane);
        if group.shadow.touch(at as usize, who, kind) {
            return Err(self.races(code, shared, lane, format!("scalar {at} of Workgroup memory")));
        }
        Ok(())
    }

    #[cold]
    fn races(&self, code: &Code, shared: &Shared<'_>, lane: usize, what: String) -> Broken {
        let name = shared.program.instructions[code.at as usize].name();
        let what = format!("{name} accesses {what}, and another invocation's access conflicts with it that nothing orders");
        self.broken(Ub::DataRace, what, code.at, 1 << lane)
    }

    #[inline]
    fn touch_buffer(
        &mut self,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
        lane: usize,
        (byte, width): (u32, u32),
        kind: Touch,
    ) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        if group.detector.is_some() {
            return self.access(code, shared, group, lane, (memory as u32, byte, width, Class::Uniform), plain(kind));
        }
        let who = self.who(shared, group, lane, group.phases.buffers);
        if shared.shadow.touch(memory, byte as usize / 4, who, kind, shared.in_order) {
            let variable = &shared.program.buffers[code.buffer as usize];
            return Err(self.races(code, shared, lane, format!("byte {byte} of %{}", variable.id)));
        }
        Ok(())
    }

    fn load_buffer(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group, width: u32) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        let words = shared.buffers.words(memory);
        let writable = shared.program.buffers[code.buffer as usize].writable;
        let (mut loaded, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let byte = self.address(code, lane);
            if !byte.is_multiple_of(width) {
                return Err(self.broken(Ub::Misaligned, format!("a load of {width} bytes at byte {byte}"), code.at, 1 << lane));
            }
            if writable {
                self.touch_buffer(code, shared, group, lane, (byte, width), Touch::Read)?;
            }
            let Some(word) = words.get(byte as usize / 4) else {
                return Err(self.broken(Ub::LoadOutOfBounds, format!("a load of {width} bytes at byte {byte}"), code.at, 1 << lane));
            };
            let part = word.load(R) >> (8 * (byte % 4));
            loaded[lane] = if width == 4 { part } else { part & ((1 << (8 * width)) - 1) };
            if writable
                && shared.buffers.has_undefined(memory)
                && let Some(origin) = shared.buffers.origin(memory, byte, width)
            {
                doubt |= 1 << lane;
                origins.push((lane, origin));
            }
        }
        self.write(code.d, code.masked, |_, to| *to = loaded);
        self.keep_origins(Kept::Column(code.d), doubt, origins);
        Ok(())
    }

    fn store_buffer(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group, width: u32) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        let words = shared.buffers.words(memory);
        let doubt = self.undefined[code.d as usize];
        for lane in column::lanes(self.active) {
            let byte = self.address(code, lane);
            if !byte.is_multiple_of(width) {
                return Err(self.broken(Ub::Misaligned, format!("a store of {width} bytes at byte {byte}"), code.at, 1 << lane));
            }
            self.touch_buffer(code, shared, group, lane, (byte, width), Touch::Write)?;
            let Some(word) = words.get(byte as usize / 4) else {
                return Err(self.broken(Ub::StoreOutOfBounds, format!("a store of {width} bytes at byte {byte}"), code.at, 1 << lane));
            };
            let value = self.columns[code.d as usize][lane];
            if width == 4 {
                word.store(value, R);
            } else {
                let (shift, mask) = (8 * (byte % 4), (1u32 << (8 * width)) - 1);
                let _ = word.fetch_update(R, R, |old| Some(old & !(mask << shift) | (value & mask) << shift));
            }
            let is_doubtful = doubt >> lane & 1 == 1;
            if is_doubtful || shared.buffers.has_undefined(memory) {
                let origin = is_doubtful.then(|| self.origin(Kept::Column(code.d), lane, code.at));
                shared.buffers.set_undefined(memory, byte, width, origin);
            }
        }
        Ok(())
    }

    fn atomic(&mut self, code: &Code, atomic: &Atomic, shared: &Shared<'_>, group: &mut Group) -> Done {
        let kind = if atomic.op == Core::AtomicLoad { Touch::AtomicRead } else { Touch::Atomic };
        let place = Code { a: atomic.address, c: atomic.offset, ..*code };
        let (mut old_values, mut doubt, mut origins) = ([0; LANES], 0, Vec::new());
        for lane in column::lanes(self.active) {
            let at = self.address(&place, lane);
            let undefined_operand = [atomic.value, atomic.comparator]
                .into_iter()
                .filter(|&r| r != NONE && self.undefined[r as usize] >> lane & 1 == 1)
                .map(|r| self.origin(Kept::Column(r), lane, code.at))
                .next();
            // Where an operand or the memory is undefined, what is there afterwards is undefined too; the comparison of an exchange may fail or not.
            let (old, old_origin) = match atomic.space {
                Space::Local => {
                    let is_undefined = self.local_undefined[at as usize] >> lane & 1 == 1;
                    (self.local[at as usize][lane], is_undefined.then(|| self.origin(Kept::Local(at), lane, code.at)))
                }
                Space::Shared => {
                    match group.detector {
                        None => self.touch_shared(&place, shared, group, lane, kind)?,
                        Some(_) => {
                            let old = group.words[at as usize];
                            let kind = self.atomic_kind(atomic, old, lane);
                            self.access(code, shared, group, lane, (SHARED_MEMORY, 4 * at, 4, Class::Workgroup), kind)?;
                        }
                    }
                    let is_undefined = group.undefined[at as usize / 64] >> (at % 64) & 1 == 1;
                    let uninitialised = self.origin(Kept::Local(u32::MAX), lane, code.at);
                    let origin = group.origins.get(&at).copied().unwrap_or(uninitialised);
                    (group.words[at as usize], is_undefined.then_some(origin))
                }
                Space::Buffer(buffer) => {
                    let memory = shared.buffers.memory_of(buffer);
                    match group.detector {
                        None => self.touch_buffer(&Code { buffer, ..place }, shared, group, lane, (at, 4), kind)?,
                        Some(_) => {
                            let old = shared.buffers.words(memory).get(at as usize / 4).map_or(0, |word| word.load(R));
                            let kind = self.atomic_kind(atomic, old, lane);
                            self.access(code, shared, group, lane, (memory as u32, at, 4, Class::Uniform), kind)?;
                        }
                    }
                    let Some(word) = shared.buffers.words(memory).get(at as usize / 4).filter(|_| at.is_multiple_of(4)) else {
                        return Err(self.broken(Ub::LoadOutOfBounds, format!("an atomic at byte {at}"), code.at, 1 << lane));
                    };
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

    /// An instruction lane by lane.
    fn compute(&mut self, site: &Site) -> Done {
        let Calculator { environment, planted, .. } = self.calculator;
        for lane in column::lanes(self.active) {
            let is_undefined = |warp: &mut Warp, slot: Slot| kept(slot).any(|k| *warp.undefined_mut(k) >> lane & 1 == 1);
            let doubtful = site.args.iter().any(|(_, slots)| slots.iter().any(|&slot| is_undefined(self, slot)));
            let bits: SmallVec<[SmallVec<[u64; 4]>; 3]> =
                site.args.iter().map(|(_, slots)| slots.iter().map(|&slot| self.bits(slot, lane)).collect()).collect();
            if !doubtful && !site.no_signed_wrap && !site.no_unsigned_wrap && planted.is_none() {
                let args: SmallVec<[Bits<'_>; 3]> =
                    site.args.iter().zip(&bits).map(|((shape, _), bits)| Bits { shape: *shape, bits }).collect();
                if let Some(components) = pure(site.operation, &args, &site.results, environment) {
                    for (&slot, component) in site.to.iter().zip(components) {
                        match component {
                            Computed::Value(bits) => self.put(slot, lane, bits),
                            Computed::Undefined(kind) => {
                                let invocation = self.number + lane as u32;
                                self.put_undefined(slot, lane, Origin { kind, instruction: site.instruction, invocation });
                            }
                            Computed::Behaviour(ub) => return Err(self.faulty(ub, site, lane, &bits)),
                        }
                    }
                    continue;
                }
            }
            let scalars: SmallVec<[SmallVec<[Scalar; 4]>; 3]> = site
                .args
                .iter()
                .zip(&bits)
                .map(|((_, slots), bits)| {
                    let scalar = |(&slot, &bits): (&Slot, &u64)| {
                        let doubtful = kept(slot).find(|&k| *self.undefined_mut(k) >> lane & 1 == 1);
                        let undefined = doubtful.map(|kept| self.origin(kept, lane, site.instruction));
                        Scalar { bits, trust: Trust::CERTAIN, undefined }
                    };
                    slots.iter().zip(bits).map(scalar).collect()
                })
                .collect();
            let args: SmallVec<[Operand<'_>; 3]> =
                site.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
            let place = Where {
                instruction: site.instruction,
                invocation: self.number + lane as u32,
                no_signed_wrap: site.no_signed_wrap,
                no_unsigned_wrap: site.no_unsigned_wrap,
            };
            match self.calculator.compute(site.operation, &args, &site.results, place) {
                Err(ub) => return Err(self.faulty(ub, site, lane, &bits)),
                Ok(results) => {
                    for (&slot, scalar) in site.to.iter().zip(results) {
                        match scalar.undefined {
                            Some(origin) => self.put_undefined(slot, lane, origin),
                            None => self.put(slot, lane, scalar.bits),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn faulty(&self, ub: Ub, site: &Site, lane: usize, bits: &[SmallVec<[u64; 4]>]) -> Broken {
        let operands: Vec<String> = bits.iter().flatten().map(|bits| format!("{bits:#x}")).collect();
        let what = format!("{} of {}: {}", site.operation.name(), operands.join(", "), ub.entry().construct);
        self.broken(ub, what, site.instruction, 1 << lane)
    }

    fn put(&mut self, slot: Slot, lane: usize, bits: u64) {
        match slot {
            Slot::Word(column) => self.columns[column as usize][lane] = bits as u32,
            Slot::Wide(low, high) => {
                self.columns[low as usize][lane] = bits as u32;
                self.columns[high as usize][lane] = (bits >> 32) as u32;
            }
            Slot::Truth(set) => {
                let set = &mut self.sets[set as usize];
                *set = *set & !(1 << lane) | (bits & 1) << lane;
            }
        }
        for kept in kept(slot) {
            *self.undefined_mut(kept) &= !(1 << lane);
        }
    }

    fn put_undefined(&mut self, slot: Slot, lane: usize, origin: Origin) {
        for kept in kept(slot) {
            *self.undefined_mut(kept) |= 1 << lane;
            self.origins.insert((kept, lane as u8), origin);
        }
    }
}

/// A plain access, to the full detector; atomics say theirs themselves.
fn plain(kind: Touch) -> Kind {
    if kind == Touch::Read { Kind::Load } else { Kind::Store }
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

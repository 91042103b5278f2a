//! The effect of each code on the lanes of a warp.
//!
//! Computing codes work on whole columns, whatever the inactive lanes hold. If an active lane has
//! an undefined operand, or operands with an undefined result or undefined behaviour, the
//! instruction is computed again lane by lane ([`Warp::compute`]). This uses the scalar functions
//! that the relation uses. Only there are origins read.

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Code, NONE, Op};
use super::warp::{RegisterOrLocal, Warp, blend};
use super::{Failure, Group, Shared};
use crate::spirv::value::Origin;

pub(super) type Done = Result<(), Failure>;

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

/// The bits of a float. Every NaN has those of the quiet NaN without payload.
#[inline]
pub(super) fn bits(float: f32) -> u32 {
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
            // The 64-bit quotient of 32-bit integers has the right integer part.
            Op::DivideUnsigned => self.checked(code, shared, |_, b| b == 0, |a, b| (f64::from(a) / f64::from(b)) as u32),
            Op::ModUnsigned => {
                self.checked(code, shared, |_, b| b == 0, |a, b| a.wrapping_sub(((f64::from(a) / f64::from(b)) as u32).wrapping_mul(b)))
            }
            // OpSMod has its own rule for signs if an operand is negative.
            Op::ModSigned => {
                let special = |a: u32, b: u32| b == 0 || (a | b) >> 31 == 1;
                self.checked(code, shared, special, |a, b| a.wrapping_sub(((f64::from(a) / f64::from(b)) as u32).wrapping_mul(b)))
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
            Op::MinFloat => self.binary(code, shared, |a, b| bits(if float(b) < float(a) { float(b) } else { float(a) })),
            Op::MaxFloat => self.binary(code, shared, |a, b| bits(if float(a) < float(b) { float(b) } else { float(a) })),
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
            Op::Copy | Op::Bitcast => {
                self.load_register(code);
                Ok(())
            }
            Op::CopySet => {
                self.load_register_set(code);
                Ok(())
            }
            Op::Index => self.index(code, shared),
            Op::Bound => self.bound(code, shared, code.c),
            Op::BoundRuntime => self.bound_runtime(code, shared),
            Op::BoundWide => self.bound_wide(code, shared),
            Op::Reach => {
                self.reach(code, shared);
                Ok(())
            }
            Op::Align => self.align(code, shared),
            Op::Overlap => self.overlap(code, shared),
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
                    self.forget(RegisterOrLocal::Local(scalar));
                }
                Ok(())
            }
            Op::Forget => {
                self.forget(RegisterOrLocal::Column(code.d));
                Ok(())
            }
            Op::ForgetSets => {
                self.forget(RegisterOrLocal::Set(code.d));
                Ok(())
            }
            Op::Undefine => {
                self.undefine(RegisterOrLocal::Column(code.d), code);
                Ok(())
            }
            Op::UndefineSet => {
                self.undefine(RegisterOrLocal::Set(code.d), code);
                Ok(())
            }
            Op::Follow => self.follow(code, shared),
            Op::Advance => self.advance(code, shared),
            Op::Elements => {
                let count = if shared.robust { u32::MAX } else { shared.lengths[code.c as usize] };
                self.write(code.d, code.masked, |_, target| *target = [count; LANES]);
                Ok(())
            }
            Op::PtrSame => {
                self.same_pointers(code, shared);
                Ok(())
            }
            Op::PtrApart => self.pointers_apart(code, shared),
            Op::Length => {
                let length = shared.lengths[code.c as usize];
                self.write(code.d, code.masked, |_, target| *target = [length; LANES]);
                Ok(())
            }
            Op::Narrow => {
                let column = &self.columns[code.a as usize];
                let lanes = column::lanes(self.active).filter(|&lane| column[lane] == code.c).fold(0, |set, lane| set | 1 << lane);
                self.narrowed.push(self.active);
                self.activate(lanes);
                Ok(())
            }
            Op::Widen => {
                let before = self.narrowed.pop().unwrap_or(0);
                self.activate(before);
                Ok(())
            }
            Op::Fence => {
                self.fence(code, shared, group);
                Ok(())
            }
            Op::Atomic => self.atomic(code, &shared.program.atomics[code.c as usize], shared, group),
            Op::Derivative => {
                self.derivative(code);
                Ok(())
            }
            Op::Demote => {
                self.helpers |= self.active;
                Ok(())
            }
            Op::IsHelper => {
                self.write_set(code, self.helpers);
                Ok(())
            }
            Op::Image => self.image(code, shared, group),
            Op::Group => self.group(code, shared),
            Op::Compute => self.compute(&shared.program.sites[code.at as usize], shared),
        }
    }

    /// Writes a value into column d, and marks it as defined.
    #[inline]
    pub(super) fn write(&mut self, d: u32, masked: bool, make: impl FnOnce(&[Column], &mut Column)) {
        let (earlier, rest) = self.columns.split_at_mut(d as usize);
        let target = &mut rest[0];
        if masked {
            let before = *target;
            make(earlier, target);
            for ((t, &k), &m) in target.iter_mut().zip(&before).zip(&self.spread) {
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
            return self.compute(&shared.program.sites[code.at as usize], shared);
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

    /// A binary code with special operands, for which the result is not simply a value. The scalar
    /// functions compute these.
    #[inline]
    fn checked(&mut self, code: &Code, shared: &Shared<'_>, special: impl Fn(u32, u32) -> bool, f: impl Fn(u32, u32) -> u32) -> Done {
        let (a, b) = (&self.columns[code.a as usize], &self.columns[code.b as usize]);
        let mut any = 0;
        for ((&a, &b), &m) in a.iter().zip(b).zip(&self.spread) {
            any |= u32::from(special(a, b)) & m;
        }
        if any != 0 {
            return self.compute(&shared.program.sites[code.at as usize], shared);
        }
        self.binary(code, shared, f)
    }

    #[inline]
    fn compare(&mut self, code: &Code, shared: &Shared<'_>, holds: impl Fn(u32, u32) -> bool) -> Done {
        let (a, b) = (code.a as usize, code.b as usize);
        if (self.undefined[a] | self.undefined[b]) & self.active != 0 {
            return self.compute(&shared.program.sites[code.at as usize], shared);
        }
        let set = column::compare(&self.columns[a], &self.columns[b], holds);
        self.write_set(code, set);
        Ok(())
    }

    #[inline]
    fn logical(&mut self, code: &Code, shared: &Shared<'_>, f: impl Fn(Lanes, Lanes) -> Lanes) -> Done {
        let (a, b) = (code.a as usize, code.b as usize);
        if (self.sets_undefined[a] | self.sets_undefined[b]) & self.active != 0 {
            return self.compute(&shared.program.sites[code.at as usize], shared);
        }
        let set = f(self.sets[a], self.sets[b]);
        self.write_set(code, set);
        Ok(())
    }

    #[inline]
    pub(super) fn write_set(&mut self, code: &Code, set: Lanes) {
        let keep = if code.masked { !self.active } else { 0 };
        let d = code.d as usize;
        self.sets[d] = self.sets[d] & keep | set & !keep;
        self.sets_undefined[d] &= keep;
    }

    fn select(&mut self, code: &Code) {
        let (a, b, c) = (code.a as usize, code.b as usize, code.c as usize);
        let (truth, doubt) = (self.sets[c], self.sets_undefined[c]);
        let undefined = self.undefined[a] & truth | self.undefined[b] & !truth | doubt;
        let (mut target, other) = (self.columns[b], &self.columns[a]);
        blend(&mut target, other, &column::spread(truth));
        let doubtful = undefined & self.active;
        let origins = if doubtful == 0 {
            Vec::new()
        } else {
            self.selected_origins(code, RegisterOrLocal::Column(code.a), RegisterOrLocal::Column(code.b), doubtful)
        };
        self.write(code.d, code.masked, |_, to| *to = target);
        self.keep_origins(RegisterOrLocal::Column(code.d), doubtful, origins);
    }

    fn select_set(&mut self, code: &Code) {
        let (a, b, c) = (code.a as usize, code.b as usize, code.c as usize);
        let (truth, doubt) = (self.sets[c], self.sets_undefined[c]);
        let undefined = self.sets_undefined[a] & truth | self.sets_undefined[b] & !truth | doubt;
        let set = self.sets[a] & truth | self.sets[b] & !truth;
        let doubtful = undefined & self.active;
        let origins = if doubtful == 0 {
            Vec::new()
        } else {
            self.selected_origins(code, RegisterOrLocal::Set(code.a), RegisterOrLocal::Set(code.b), doubtful)
        };
        self.write_set(code, set);
        self.keep_origins(RegisterOrLocal::Set(code.d), doubtful, origins);
    }

    /// The origins of the undefined values that a selection selects.
    #[cold]
    fn selected_origins(&self, code: &Code, a: RegisterOrLocal, b: RegisterOrLocal, lanes: Lanes) -> Vec<(usize, Origin)> {
        let from = |lane: usize| match (self.sets_undefined[code.c as usize] >> lane & 1, self.sets[code.c as usize] >> lane & 1) {
            (1, _) => RegisterOrLocal::Set(code.c),
            (_, 1) => a,
            _ => b,
        };
        column::lanes(lanes).map(|lane| (lane, self.origin(from(lane), lane, code.at))).collect()
    }

    pub(super) fn keep_origins(&mut self, to: RegisterOrLocal, lanes: Lanes, origins: Vec<(usize, Origin)>) {
        if lanes != 0 {
            *self.undefined_mut(to) |= lanes;
            for (lane, origin) in origins {
                self.origins.insert((to, lane as u8), origin);
            }
        }
    }

    /// A copy from or to a register. Lanes of a variable that were never written become undefined
    /// values with this instruction as origin: in the copy, or in the variable if there is no copy.
    #[inline]
    fn load_register(&mut self, code: &Code) {
        let doubt = self.undefined[code.a as usize] & self.active;
        if code.d != NONE && code.masked {
            self.copy_column(code.d, code.a);
        } else if code.d != NONE {
            let a = code.a as usize;
            self.columns.copy_within(a..a + 1, code.d as usize);
            self.undefined[code.d as usize] = doubt;
        }
        if doubt != 0 {
            let target = if code.d == NONE { code.a } else { code.d };
            self.name_origins(RegisterOrLocal::Column(target), RegisterOrLocal::Column(code.a), doubt, code.at);
        }
    }

    #[inline]
    fn load_register_set(&mut self, code: &Code) {
        let doubt = self.sets_undefined[code.a as usize] & self.active;
        if code.d != NONE && code.masked {
            self.copy_set(code.d, code.a);
        } else if code.d != NONE {
            self.sets[code.d as usize] = self.sets[code.a as usize];
            self.sets_undefined[code.d as usize] = doubt;
        }
        if doubt != 0 {
            let target = if code.d == NONE { code.a } else { code.d };
            self.name_origins(RegisterOrLocal::Set(target), RegisterOrLocal::Set(code.a), doubt, code.at);
        }
    }

    #[cold]
    fn name_origins(&mut self, to: RegisterOrLocal, from: RegisterOrLocal, lanes: Lanes, at: u32) {
        for lane in column::lanes(lanes) {
            let origin = self.origin(from, lane, at);
            self.origins.insert((to, lane as u8), origin);
        }
    }

    fn forget(&mut self, register: RegisterOrLocal) {
        let active = self.active;
        *self.undefined_mut(register) |= active;
        if !self.origins.is_empty() {
            for lane in column::lanes(active) {
                self.origins.remove(&(register, lane as u8));
            }
        }
    }

    fn undefine(&mut self, register: RegisterOrLocal, code: &Code) {
        let lanes =
            if code.a == NONE { self.active } else { self.active & self.sets[code.a as usize] & !self.sets_undefined[code.a as usize] };
        *self.undefined_mut(register) |= lanes;
        for lane in column::lanes(lanes) {
            let origin = Origin { kind: super::kind(code.b), instruction: code.at, invocation: self.number + lane as u32 };
            self.origins.insert((register, lane as u8), origin);
        }
    }
}

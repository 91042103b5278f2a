//! Computes instructions lane by lane, with the scalar functions that the relation also uses.

use smallvec::SmallVec;

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{ComputeSite, Slot};
use super::codes::Done;
use super::warp::{Warp, registers_in};
use super::{Failure, Shared};
use crate::number::{Computed, Op, Trust, Wide, float, integer};
use crate::spirv::operation::{Bits, Occurrence, Operand, Scalar as Component, Shape, Signature, component, pair, pure};
use crate::spirv::report;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Ub;

/// Whether the type is a 32-bit integer.
fn is_word(scalar: &Component) -> bool {
    matches!(scalar, Component::Int { width: 32, .. })
}

impl Warp {
    /// Computes an instruction, lane by lane or by columns.
    pub(super) fn compute(&mut self, site: &ComputeSite, shared: &Shared<'_>) -> Done {
        let slots: SmallVec<[Slot; 8]> = site.args.iter().flat_map(|(_, slots)| slots).copied().collect();
        let doubtful = slots.iter().flat_map(|&slot| registers_in(slot)).fold(0, |all, register| all | *self.undefined_mut(register));
        let simple = if self.calculator.planted.is_some() { 0 } else { self.active & !doubtful };
        match (site.is_single(), slots.as_slice()) {
            (true, &[a]) => self.compute_single(site, [a], simple, shared),
            (true, &[a, b]) => self.compute_single(site, [a, b], simple, shared),
            (true, &[a, b, c]) => self.compute_single(site, [a, b, c], simple, shared),
            (true, &[a, b, c, d]) => self.compute_single(site, [a, b, c, d], simple, shared),
            (false, &[a, b]) if site.to.len() == 2 && matches!(site.operation.signature, Signature::Pair(..)) => {
                self.compute_pair(site, [a, b], simple, shared)
            }
            _ => self.compute_whole(site, &slots, simple, shared),
        }
    }

    /// Computes an operation on one component of each operand.
    fn compute_single<const N: usize>(&mut self, site: &ComputeSite, slots: [Slot; N], simple: Lanes, shared: &Shared<'_>) -> Done {
        let environment = self.calculator.environment;
        let components: [_; N] = std::array::from_fn(|k| site.args[k.min(site.args.len() - 1)].0.scalar);
        let (to, result) = (site.to[0], site.results[0].scalar);
        let (mut values, mut computed_lanes) = ([0; LANES], 0);
        let is_plain = !site.no_signed_wrap && !site.no_unsigned_wrap;
        if simple == self.active
            && is_plain
            && components.iter().chain([&result]).all(is_word)
            && let Some(args) = self.words_of(&slots)
            && let Some(values) = integer::side_by_side(site.operation.instruction, &args, simple, environment)
        {
            self.put_words(to, &values);
            return Ok(());
        }
        if simple == self.active
            && components.iter().chain([&result]).all(|scalar| *scalar == Component::F32)
            && let Some(args) = self.words_of(&slots)
            && let Some(values) = float::side_by_side(site.operation.op, site.operation.instruction, &args, simple)
        {
            self.put_words(to, &values);
            return Ok(());
        }
        for lane in column::lanes(self.active) {
            let bits = slots.map(|slot| self.bits(slot, lane));
            let computed = match simple >> lane & 1 == 1 && (is_plain || !site.may_wrap(&bits)) {
                true => component(site.operation, &components, result, &bits, environment),
                false => None,
            };
            match computed {
                Some(Computed::Value(bits)) => {
                    values[lane] = bits;
                    computed_lanes |= 1 << lane;
                }
                Some(component) => self.put_component(site, to, component, lane, shared)?,
                None => self.compute_doubtful(site, lane, shared)?,
            }
        }
        self.put_all(to, computed_lanes, &values);
        Ok(())
    }

    /// Computes an operation with two results on one component of each of two integers.
    fn compute_pair(&mut self, site: &ComputeSite, slots: [Slot; 2], simple: Lanes, shared: &Shared<'_>) -> Done {
        let width = site.args[0].0.scalar.width();
        if simple == self.active
            && site.args.iter().all(|(shape, _)| is_word(&shape.scalar))
            && let Some(args) = self.words_of(&slots)
            && let Some(values) = integer::pairs_side_by_side(site.operation.instruction, &args[0], &args[1])
        {
            site.to.iter().zip(&values).for_each(|(&to, values)| self.put_words(to, values));
            return Ok(());
        }
        let mut values = [[0; LANES]; 2];
        let mut computed_lanes = 0;
        for lane in column::lanes(self.active) {
            let [x, y] = slots.map(|slot| self.bits(slot, lane));
            match pair(site.operation, width, x, y).filter(|_| simple >> lane & 1 == 1) {
                Some(bits) => {
                    values.iter_mut().zip(bits).for_each(|(values, bits)| values[lane] = bits);
                    computed_lanes |= 1 << lane;
                }
                None => self.compute_doubtful(site, lane, shared)?,
            }
        }
        for (&to, values) in site.to.iter().zip(&values) {
            self.put_all(to, computed_lanes, values);
        }
        Ok(())
    }

    /// Computes an operation on operands of several components, whose slots are in sequence.
    fn compute_whole(&mut self, site: &ComputeSite, slots: &[Slot], simple: Lanes, shared: &Shared<'_>) -> Done {
        if simple == self.active && self.compute_columns(site, slots).is_some() {
            return Ok(());
        }
        let mut bits: SmallVec<[u64; 32]> = SmallVec::from_elem(0, slots.len());
        for lane in column::lanes(self.active) {
            for (bits, &slot) in bits.iter_mut().zip(slots) {
                *bits = self.bits(slot, lane);
            }
            let mut rest = bits.as_slice();
            let mut args: SmallVec<[Bits<'_>; 3]> = SmallVec::new();
            for (shape, slots) in &site.args {
                let (bits, others) = rest.split_at(slots.len());
                args.push(Bits { shape: *shape, bits });
                rest = others;
            }
            let computed = match simple >> lane & 1 == 1 && !site.may_wrap(&bits) {
                true => pure(site.operation, &args, &site.results, self.calculator.environment),
                false => None,
            };
            match computed {
                Some(components) => {
                    for (&slot, component) in site.to.iter().zip(components) {
                        self.put_component(site, slot, component, lane, shared)?;
                    }
                }
                None => self.compute_doubtful(site, lane, shared)?,
            }
        }
        Ok(())
    }

    /// Computes such an operation by columns. The operands and the result must be 32-bit floats
    /// that are defined in the active lanes. `None` if this is not so, or if the operation has no
    /// form for columns. Then nothing is done.
    fn compute_columns(&mut self, site: &ComputeSite, slots: &[Slot]) -> Option<()> {
        let op = site.operation.op?;
        let is_float = |shape: &Shape| shape.scalar == Component::Float { width: 32 };
        if !site.args.iter().map(|(shape, _)| shape).chain(&site.results).all(is_float) {
            return None;
        }
        let wide = |slot: &Slot| match *slot {
            Slot::Word(column) => Some(Wide(self.columns[column as usize].map(f32::from_bits))),
            _ => None,
        };
        let operands: SmallVec<[Wide; 8]> = slots.iter().map(wide).collect::<Option<_>>()?;
        if op == Op::Normalize && column::lanes(self.active).any(|lane| operands.iter().all(|x| x.0[lane] == 0.0)) {
            return None;
        }
        let mut rest = operands.as_slice();
        let args = site.args.iter().map(|(shape, slots)| {
            let (own, others) = rest.split_at(slots.len());
            rest = others;
            (own, usize::from(shape.columns))
        });
        let args: SmallVec<[(&[Wide], usize); 2]> = args.collect();
        let results = Wide::value(op, &args)?;
        site.to.iter().zip(&results).for_each(|(&to, values)| self.put_words(to, &values.0.map(f32::to_bits)));
        Some(())
    }

    /// The columns of these slots. `None` if one of them is no single column.
    fn words_of(&self, slots: &[Slot]) -> Option<SmallVec<[Column; 4]>> {
        let column = |slot: &Slot| if let Slot::Word(column) = *slot { Some(self.columns[column as usize]) } else { None };
        slots.iter().map(column).collect()
    }

    /// Writes a column in the active lanes, and marks it as defined there.
    fn put_words(&mut self, to: Slot, words: &Column) {
        let Slot::Word(to) = to else { return };
        let column = &mut self.columns[to as usize];
        match self.active {
            Lanes::MAX => *column = *words,
            lanes => column::lanes(lanes).for_each(|lane| column[lane] = words[lane]),
        }
        self.undefined[to as usize] &= !self.active;
    }

    #[inline]
    fn put_component(&mut self, site: &ComputeSite, to: Slot, component: Computed, lane: usize, shared: &Shared<'_>) -> Done {
        match component {
            Computed::Value(bits) => self.put(to, lane, bits),
            Computed::Undefined(kind) => {
                let invocation = self.number + lane as u32;
                self.put_undefined(to, lane, Origin { kind, instruction: site.instruction, invocation });
            }
            Computed::Behaviour(ub) => return Err(self.computation_failure(ub, site, lane, shared)),
        }
        Ok(())
    }

    /// The site of a lane's computation, for reports and for the decorations that exclude wrapping.
    pub(super) fn occurrence(&self, site: &ComputeSite, lane: usize) -> Occurrence {
        let (instruction, invocation) = (site.instruction, self.number + lane as u32);
        Occurrence { instruction, invocation, no_signed_wrap: site.no_signed_wrap, no_unsigned_wrap: site.no_unsigned_wrap }
    }

    /// Computes an instruction in a lane where an operand may be undefined, or the result may wrap.
    fn compute_doubtful(&mut self, site: &ComputeSite, lane: usize, shared: &Shared<'_>) -> Done {
        let mut scalars: SmallVec<[SmallVec<[Scalar; 4]>; 3]> = SmallVec::new();
        for (_, slots) in &site.args {
            let scalar = |&slot: &Slot| {
                let doubtful = registers_in(slot).find(|&k| self.is_undefined(k, lane));
                let undefined = doubtful.map(|register| self.origin(register, lane, site.instruction));
                Scalar { bits: self.bits(slot, lane), trust: Trust::CERTAIN, undefined }
            };
            scalars.push(slots.iter().map(scalar).collect());
        }
        let args: SmallVec<[Operand<'_>; 3]> =
            site.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
        let occurrence = self.occurrence(site, lane);
        match self.calculator.compute(site.operation, &args, &site.results, occurrence) {
            Err(ub) => return Err(self.computation_failure(ub, site, lane, shared)),
            Ok(results) => {
                for (&slot, scalar) in site.to.iter().zip(results) {
                    match scalar.undefined {
                        Some(origin) => self.put_undefined(slot, lane, origin),
                        None => self.put(slot, lane, scalar.bits),
                    }
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn computation_failure(&self, ub: Ub, site: &ComputeSite, lane: usize, shared: &Shared<'_>) -> Failure {
        let module = &shared.program.module;
        // For each operand: its components in all sites of the instruction.
        let ids = module.instructions().get(site.instruction as usize).map_or(&[][..], |i| report::computed_from(module, i));
        let sites: Vec<&ComputeSite> = shared.program.sites.iter().filter(|s| s.instruction == site.instruction).collect();
        let undefined = ids.iter().enumerate().find_map(|(k, &id)| {
            let mut slots = sites.iter().filter_map(|site| site.args.get(k)).flat_map(|(_, slots)| slots.iter().copied());
            let register = slots.find_map(|slot| registers_in(slot).find(|&k| self.is_undefined(k, lane)))?;
            Some((id, self.origin(register, lane, site.instruction)))
        });
        self.failure(shared, ub, report::computation(module, site.instruction, ub, undefined), site.instruction, 1 << lane)
    }

    pub(super) fn put(&mut self, slot: Slot, lane: usize, bits: u64) {
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
        for register in registers_in(slot) {
            *self.undefined_mut(register) &= !(1 << lane);
        }
    }

    /// Writes a slot in some lanes, from values by lane.
    fn put_all(&mut self, slot: Slot, lanes: Lanes, bits: &[u64; LANES]) {
        match slot {
            Slot::Word(column) => {
                let column = &mut self.columns[column as usize];
                column::lanes(lanes).for_each(|lane| column[lane] = bits[lane] as u32);
            }
            _ => return column::lanes(lanes).for_each(|lane| self.put(slot, lane, bits[lane])),
        }
        for register in registers_in(slot) {
            *self.undefined_mut(register) &= !lanes;
        }
    }

    pub(super) fn put_undefined(&mut self, slot: Slot, lane: usize, origin: Origin) {
        for register in registers_in(slot) {
            *self.undefined_mut(register) |= 1 << lane;
            self.origins.insert((register, lane as u8), origin);
        }
    }
}

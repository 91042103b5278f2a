//! Instructions of blocks, except for calls and ends of blocks.

use super::{Done, Lower, Planted, Scalars, Val};
use crate::spirv;
use crate::spirv::operation;
use crate::spirv::words::Instruction;
use crate::uniformity::Need;
use crate::uniformity::flow::{Pure, Value};
use rspirv::spirv::{GlslStd450Op, Op, Scope};
use smallvec::{SmallVec, smallvec};

impl Lower<'_, '_> {
    pub(super) fn instruction(&mut self, at: u32, i: &Instruction) -> Done {
        let operands = self.shared.operands(i);
        let cells = match i.op {
            Op::Nop
            | Op::Line
            | Op::NoLine
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::MemoryBarrier
            | Op::AtomicStore
            | Op::ImageWrite
            | Op::DemoteToHelperInvocation => return Ok(()),
            Op::ControlBarrier => {
                // A subgroup's barrier is for those of its invocations that reach it together, like
                // a group instruction. Loading refuses scopes other than Subgroup and Workgroup.
                if self.module.constant_value(operands[0]) != Some(Scope::Subgroup as u64) {
                    self.flow.need(Need::Barrier, self.flow.span);
                }
                return Ok(());
            }
            Op::Phi => {
                let n = self.size_of(i.result_type);
                let first = self.cells_of(at, n);
                self.flow.read_all(first, n)
            }
            Op::Variable => {
                self.local(at, i.result);
                return Ok(());
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                self.vals[at as usize] = self.access_chain(operands)?;
                return Ok(());
            }
            Op::CopyObject | Op::CopyLogical => {
                self.vals[at as usize] = self.val(operands[0]);
                return Ok(());
            }
            Op::Store => {
                let (pointer, _) = self.pointer(operands[0])?;
                let value = self.value(operands[1]);
                self.store(&pointer, &value);
                return Ok(());
            }
            Op::CopyMemory => {
                let ((to, _), (from, type_)) = (self.pointer(operands[0])?, self.pointer(operands[1])?);
                let value = self.load(&from, type_);
                self.store(&to, &value);
                return Ok(());
            }
            Op::Load => {
                let (pointer, type_) = self.pointer(operands[0])?;
                self.load(&pointer, type_)
            }
            Op::ArrayLength => {
                let (pointer, _) = self.pointer(operands[0])?;
                self.of_address(&pointer, 1)
            }
            Op::Undef => {
                let n = self.size_of(i.result_type);
                self.undefined(n)
            }
            Op::CompositeConstruct => self.construct(i, operands),
            Op::CompositeExtract => self.extract(i, operands),
            Op::CompositeInsert => self.insert(operands),
            Op::VectorShuffle => self.shuffle(operands),
            Op::VectorExtractDynamic => self.extract_dynamic(operands[0], operands[1]),
            Op::VectorInsertDynamic => self.insert_dynamic(operands[0], operands[1], operands[2]),
            Op::IsHelperInvocationEXT => {
                let text = self.text("whether the invocation is a helper, which differs between the invocations of the draw");
                smallvec![self.flow.varying(text, 1)]
            }
            Op::SampledImage => {
                let (image, sampler) = (self.value(operands[0]), self.value(operands[1]));
                let handle = self.flow.pure(Pure::Other(0), &[image[0], sampler[0]]);
                smallvec![handle, image[1]]
            }
            Op::Image => self.value(operands[0]),
            Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels | Op::ImageQuerySamples => {
                let image = self.value(operands[0]);
                let mut depends: Scalars = smallvec![image[0]];
                for &id in &operands[1..] {
                    depends.extend(self.value(id));
                }
                let n = self.size_of(i.result_type);
                self.flow.values_from_all(&depends, n)
            }
            op if is_texel(op) => self.texel(i, operands),
            op if is_atomic(op) => {
                let n = self.size_of(i.result_type);
                match self.is(Planted::AtomicsAreUniform) {
                    true => (0..n).map(|_| self.flow.uniform(u32::MAX)).collect(),
                    false => self.varying("what an atomic operation gives, which depends on the order of the invocations", n),
                }
            }
            op if spirv::is_group(op) => {
                let n = self.size_of(i.result_type);
                self.varying("what a group instruction gives, which differs between subgroups and their invocations", n)
            }
            op if spirv::is_derivative(op) => {
                self.flow.need(Need::Derivative, self.flow.span);
                let n = self.size_of(i.result_type);
                let value = self.value(operands[0]);
                (0..n as usize).map(|k| self.flow.pure(Pure::Other(0), value.get(k..k + 1).unwrap_or(&value))).collect()
            }
            Op::ExtInst => self.ext_inst(i, operands)?,
            op => self.compute(i, operation::core(op).map_or(operands, |operation| operation.ids(operands))),
        };
        if i.result != 0 {
            self.set(at, &cells);
        }
        Ok(())
    }

    fn construct(&mut self, i: &Instruction, operands: &[u32]) -> Scalars {
        let mut cells = Scalars::new();
        for &id in operands {
            cells.extend(self.value(id));
        }
        match self.is_lumped(i.result_type) {
            true => self.flow.values_from_all(&cells, 1),
            false => cells,
        }
    }

    /// The position of a part among a composite's scalars, and whether it is in a part with a
    /// single scalar.
    fn range(&mut self, composite: u32, indices: &[u32]) -> (usize, bool) {
        let mut type_ = self.module.type_of(composite).unwrap_or(0);
        let mut first = 0;
        for &index in indices {
            if self.is_lumped(type_) {
                return (first, true);
            }
            let Some((part, offset)) = self.part(type_, index) else { break };
            first += offset as usize;
            type_ = part;
        }
        (first, false)
    }

    fn extract(&mut self, i: &Instruction, operands: &[u32]) -> Scalars {
        let (whole, n) = (self.value(operands[0]), self.size_of(i.result_type));
        let (first, lumped) = self.range(operands[0], &operands[1..]);
        match whole.get(first..first + n as usize) {
            Some(part) if !lumped => part.iter().copied().collect(),
            _ => self.flow.values_from_all(whole.get(first..=first).unwrap_or(&whole), n),
        }
    }

    fn insert(&mut self, operands: &[u32]) -> Scalars {
        let (object, mut whole) = (self.value(operands[0]), self.value(operands[1]));
        if self.is(Planted::InsertIsIgnored) {
            return whole;
        }
        let (first, lumped) = self.range(operands[1], &operands[2..]);
        if lumped {
            let all: Scalars = object.iter().copied().chain(whole.get(first).copied()).collect();
            if let Some(slot) = whole.get_mut(first) {
                *slot = self.flow.pure(Pure::Other(0), &all);
            }
        } else {
            for (slot, value) in whole.iter_mut().skip(first).zip(object) {
                *slot = value;
            }
        }
        whole
    }

    fn shuffle(&mut self, operands: &[u32]) -> Scalars {
        let mut from = self.value(operands[0]);
        from.extend(self.value(operands[1]));
        operands[2..]
            .iter()
            .map(|k| match from.get(*k as usize) {
                Some(&value) => value,
                None => self.undefined(1)[0],
            })
            .collect()
    }

    /// An instruction that returns contents of an image.
    fn texel(&mut self, i: &Instruction, operands: &[u32]) -> Scalars {
        if spirv::is_implicit(i.op) && !self.is(Planted::ImplicitLevelsNeedNothing) {
            self.flow.need(Need::Derivative, self.flow.span);
        }
        // The mask of image operands follows the coordinate, and a reference or component.
        let mask = if has_third(i.op) { 3 } else { 2 };
        let mut depends = Scalars::new();
        for (k, &id) in operands.iter().enumerate() {
            if k != mask {
                depends.extend(self.value(id));
            }
        }
        let n = self.size_of(i.result_type);
        self.flow.values_from_all(&depends, n)
    }

    fn ext_inst(&mut self, i: &Instruction, operands: &[u32]) -> Done<Scalars> {
        if self.module.is_non_semantic(i) {
            return Ok(Scalars::new());
        }
        let n = self.size_of(i.result_type);
        match GlslStd450Op::from_u32(operands[1]) {
            Some(GlslStd450Op::InterpolateAtCentroid | GlslStd450Op::InterpolateAtSample | GlslStd450Op::InterpolateAtOffset) => {
                let text = "an input of the stage, which differs between the invocations of the draw";
                Ok(self.varying(text, n))
            }
            Some(GlslStd450Op::Modf | GlslStd450Op::Frexp) => {
                let value = self.value(operands[2]);
                let (pointer, type_) = self.pointer(operands[3])?;
                let size = self.size_of(type_);
                let of = |lower: &mut Self, n: u32| -> Scalars {
                    let operand = |k: usize| -> SmallVec<[Value; 1]> { smallvec![value[k.min(value.len() - 1)]] };
                    (0..n as usize).map(|k| lower.flow.pure(Pure::Other(0), &operand(k))).collect()
                };
                let stored = of(self, size);
                self.store(&pointer, &stored);
                Ok(of(self, n))
            }
            _ => Ok(self.extended(i, operands[1], &operands[2..])),
        }
    }

    /// Binds a parameter to its argument.
    pub(super) fn bind(&mut self, parameter: u32, argument: Val) {
        if let Some(at) = self.module.definition(parameter) {
            self.vals[at] = argument;
        }
    }
}

fn is_texel(op: Op) -> bool {
    spirv::is_implicit(op)
        || has_third(op)
        || matches!(op, Op::ImageSampleExplicitLod | Op::ImageSampleProjExplicitLod | Op::ImageFetch | Op::ImageRead)
}

/// Whether a depth reference or a component follows the coordinate.
fn has_third(op: Op) -> bool {
    spirv::compares(op) || op == Op::ImageGather
}

fn is_atomic(op: Op) -> bool {
    (Op::AtomicLoad as u32..=Op::AtomicXor as u32).contains(&(op as u32))
}

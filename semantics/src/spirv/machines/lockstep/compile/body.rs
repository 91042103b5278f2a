//! The instructions of blocks, in the module's order, so that definitions are compiled
//! before their uses.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::super::program::{Count, Fault, NONE, Op, Slot, Slots};
use super::{Compiled, Compiler, IdMeaning, Part, PartEnd};
use crate::spirv::check::{is_atomic, is_image};
use crate::spirv::declare::{is_derivative, is_group};
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::Function;
use crate::spirv::operation;
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

/// Whether the machine compiles instructions of that opcode.
pub(in crate::spirv) fn compiles(op: Core) -> bool {
    let flow = [Core::Branch, Core::BranchConditional, Core::Switch, Core::Return, Core::ReturnValue, Core::Unreachable];
    let parts = [Core::FunctionCall, Core::ControlBarrier, Core::Line, Core::NoLine];
    let ordinary = matches!(
        op,
        Core::Nop
            | Core::SelectionMerge
            | Core::LoopMerge
            | Core::Phi
            | Core::Undef
            | Core::Variable
            | Core::Load
            | Core::Store
            | Core::AccessChain
            | Core::InBoundsAccessChain
            | Core::PtrAccessChain
            | Core::PtrEqual
            | Core::PtrNotEqual
            | Core::PtrDiff
            | Core::CopyMemory
            | Core::ArrayLength
            | Core::CopyObject
            | Core::CopyLogical
            | Core::CompositeConstruct
            | Core::CompositeExtract
            | Core::CompositeInsert
            | Core::VectorShuffle
            | Core::VectorExtractDynamic
            | Core::VectorInsertDynamic
            | Core::MemoryBarrier
            | Core::ExtInst
    );
    let fragment_only = [Core::Kill, Core::TerminateInvocation, Core::DemoteToHelperInvocation, Core::IsHelperInvocationEXT];
    let is_fragment_only = fragment_only.contains(&op) || is_derivative(op);
    ordinary
        || is_image(op)
        || is_group(op)
        || is_fragment_only
        || flow.contains(&op)
        || parts.contains(&op)
        || is_atomic(op)
        || operation::core(op).is_some()
}

impl Compiler<'_> {
    /// Compiles the reachable blocks of a function.
    pub(super) fn bodies(&mut self, function: &Function) -> Compiled {
        let module = self.module;
        let reached: FxHashSet<u32> = self.loops.labels(function.id).iter().copied().collect();
        self.last_uses(function);
        for block in module.function_blocks(function).iter().filter(|b| reached.contains(&b.label)) {
            self.aliases.clear();
            let mut part = self.begin_part(block.label);
            self.at = block.start as usize;
            self.count_iteration(block.label)?;
            // The OpPhi of a block, with the OpLine among them, are one rule of the relation.
            let is_phi = |&index: &u32| module.instructions()[index as usize].is(Core::Phi);
            let phis = (block.start..block.end).find(is_phi).zip((block.start..block.end).rev().find(is_phi));
            for index in block.start..block.end {
                self.at = index as usize;
                let i = module.instructions()[index as usize];
                part.rules += u32::from(!phis.is_some_and(|(first, last)| index > first && index <= last));
                if matches!(i.op, Core::Line | Core::NoLine) {
                    continue;
                }
                if !compiles(i.op) {
                    return self.unsupported(format!("{} in the lockstep machine", i.name()));
                }
                part.count += 1;
                match i.op {
                    Core::FunctionCall => {
                        // A callee may store to these variables, so they must be read before.
                        self.settle_all(index)?;
                        let ends = self.call(&i)?;
                        self.end_part(part, index, ends);
                        part = self.begin_part(block.label);
                        self.result_of_call(&i)?;
                    }
                    Core::ControlBarrier => {
                        let ends = self.barrier(&i)?;
                        self.end_part(part, index, ends);
                        part = self.begin_part(block.label);
                    }
                    Core::Branch | Core::BranchConditional | Core::Switch | Core::Return | Core::ReturnValue | Core::Unreachable => {}
                    Core::Kill | Core::TerminateInvocation => {}
                    _ => {
                        self.instruction(&i)?;
                        self.within_codes()?;
                    }
                }
            }
            self.at = block.end as usize - 1;
            self.end_part(part, block.end - 1, PartEnd::Terminator);
        }
        Ok(())
    }

    fn begin_part(&self, label: u32) -> Part {
        let first = self.program.codes.len();
        Part { label, function: self.function, first, end: first, count: 0, rules: 0, at: 0, ends: PartEnd::Terminator }
    }

    fn end_part(&mut self, mut part: Part, at: u32, ends: PartEnd) {
        part.end = self.program.codes.len();
        part.at = at;
        part.ends = ends;
        self.parts.push(part);
    }

    /// Finds the last use of each id in the block that defines it. For an id that another block or
    /// an OpPhi uses, this is `u32::MAX`.
    fn last_uses(&mut self, function: &Function) {
        let module = self.module;
        // By id: the label of the block that defines it, once the definition was seen.
        let mut defining_block = vec![0; self.last_use.len()];
        for block in module.function_blocks(function) {
            for index in block.start..block.end {
                let i = &module.instructions()[index as usize];
                if i.result != 0 {
                    defining_block[i.result as usize] = block.label;
                }
                for &id in i.operands(module.words()) {
                    let Some(&defined_in @ 1..) = defining_block.get(id as usize) else { continue };
                    let last = if defined_in == block.label && !i.is(Core::Phi) { index } else { u32::MAX };
                    let last_use = &mut self.last_use[id as usize];
                    *last_use = (*last_use).max(last);
                }
            }
        }
        // An OpPhi may use an id that is defined after it.
        for block in module.function_blocks(function) {
            for i in module.code(block).iter().take_while(|i| matches!(i.op, Core::Phi | Core::Line | Core::NoLine)) {
                for pair in i.operands(module.words()).chunks_exact(2).filter(|_| i.is(Core::Phi)) {
                    self.last_use[pair[0] as usize] = u32::MAX;
                }
            }
        }
    }

    fn instruction(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        match i.op {
            Core::Nop | Core::SelectionMerge | Core::LoopMerge => Ok(()),
            Core::Phi => {
                let slots = self.slots(i.result_type)?;
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::Undef => {
                let slots = self.slots(i.result_type)?;
                self.undefine(&slots, NONE, crate::undefined::Unspecified::Undef);
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::Variable => self.enter_variable(i),
            Core::Load => self.load(i),
            Core::Store => self.store(i),
            Core::AccessChain | Core::InBoundsAccessChain => self.access_chain(i),
            Core::PtrAccessChain => self.ptr_access_chain(i),
            Core::PtrEqual | Core::PtrNotEqual | Core::PtrDiff => self.compare_pointers(i),
            Core::CopyMemory => self.copy_memory(i),
            Core::ArrayLength => self.array_length(i),
            Core::CopyObject if !self.meanings.get(&operands[0]).is_some_and(|meaning| matches!(meaning, IdMeaning::Slots(_))) => {
                let meaning = self.meanings.get(&operands[0]).cloned();
                if let Some(meaning) = meaning {
                    self.meanings.insert(i.result, meaning);
                }
                self.pass_pointer(i.result)
            }
            Core::CopyObject | Core::CopyLogical => {
                let slots = self.value(operands[0])?;
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::CompositeConstruct => {
                let mut slots = Slots::new();
                for &part in operands {
                    slots.extend(self.value(part)?);
                }
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::CompositeExtract => {
                let (first, count) = self.range(operands[0], &operands[1..])?;
                let slots = Slots::from_slice(&self.value(operands[0])?[first..first + count]);
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::CompositeInsert => {
                let (first, count) = self.range(operands[1], &operands[2..])?;
                let object = self.value(operands[0])?;
                let mut slots = self.value(operands[1])?;
                slots[first..first + count].copy_from_slice(&object[..count]);
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::VectorShuffle => {
                let mut sources = self.value(operands[0])?;
                sources.extend(self.value(operands[1])?);
                let mut slots = Slots::new();
                for &component in &operands[2..] {
                    match sources.get(component as usize) {
                        Some(&slot) => slots.push(slot),
                        None => {
                            let part = self.module.types().part(i.result_type, 0).map_or(0, |(part, _)| part);
                            let slot = self.slot(self.type_(part))?;
                            self.undefine(&[slot], NONE, crate::undefined::Unspecified::ShuffleUndefined);
                            slots.push(slot);
                        }
                    }
                }
                self.bind(i.result, slots)?;
                Ok(())
            }
            Core::VectorExtractDynamic | Core::VectorInsertDynamic => self.vector_dynamic(i),
            Core::MemoryBarrier => {
                let (scope, semantics) = (self.scope(operands[0])?, self.semantics(operands[1])?);
                self.program.fences.push((scope, semantics));
                self.emit(Op::Fence, NONE, NONE, NONE, self.program.fences.len() as u32 - 1);
                self.synchronise(&semantics);
                Ok(())
            }
            Core::ExtInst if self.module.is_non_semantic(i) => Ok(()),
            Core::ExtInst => match operation::glsl(operands[1]) {
                Some(operation) => self.compute(i, operation, &operands[2..]),
                None => self.unsupported(format!("OpExtInst GLSL.std.450 {}", operands[1])),
            },
            Core::DemoteToHelperInvocation => {
                self.emit(Op::Demote, NONE, NONE, NONE, 0);
                Ok(())
            }
            Core::IsHelperInvocationEXT => {
                let d = self.set()?;
                self.emit(Op::IsHelper, d, NONE, NONE, 0);
                self.bind(i.result, Slots::from_slice(&[Slot::Truth(d)]))
            }
            op if is_derivative(op) => self.derivative(i),
            op if is_group(op) => self.group(i),
            op if is_image(op) => self.image(i),
            op if is_atomic(op) => self.atomic(i),
            op => match operation::core(op) {
                Some(operation) => self.compute(i, operation, operation.ids(operands)),
                None => unreachable!("{} is compiled, and no arm compiles it", i.name()),
            },
        }
    }

    /// The range of a part's scalars in a composite: the first one, and the number.
    fn range(&self, composite: u32, indices: &[u32]) -> Compiled<(usize, usize)> {
        let types = self.module.types();
        let mut type_id = self.module.type_of(composite).unwrap_or(0);
        let mut first = 0;
        for &index in indices {
            let Some((part, scalar)) = types.part(type_id, u64::from(index)) else {
                return self.unsupported("an index that the composite does not have");
            };
            first += scalar as usize;
            type_id = part;
        }
        Ok((first, types.scalars(type_id) as usize))
    }

    /// Makes scalars undefined in the active lanes of a set, or in all active lanes if
    /// it is `NONE`.
    pub(super) fn undefine(&mut self, slots: &[Slot], set: u32, kind: crate::undefined::Unspecified) {
        for &slot in slots {
            match slot {
                Slot::Word(d) => self.emit(Op::Undefine, d, set, kind as u32, 0),
                Slot::Wide(d, e) => {
                    self.emit(Op::Undefine, d, set, kind as u32, 0);
                    self.emit(Op::Undefine, e, set, kind as u32, 0);
                }
                Slot::Truth(d) => self.emit(Op::UndefineSet, d, set, kind as u32, 0),
            }
        }
    }

    /// A 32-bit column with an index, sign-extended, since indices count as signed. A 64-bit index
    /// that does not fit becomes the greatest 32-bit number.
    pub(super) fn index(&mut self, id: u32) -> Compiled<u32> {
        let type_ = self.type_(self.module.type_of(id).unwrap_or(0));
        match (type_, self.value(id)?.first().copied()) {
            (Type::Int { width: 32, .. }, Some(Slot::Word(column))) => Ok(column),
            (Type::Int { width, .. }, Some(slot @ Slot::Word(_))) => {
                let column = self.column()?;
                let shape = |width| operation::Shape::vector(operation::Scalar::int(width, true), 1);
                let operation = operation::core(Core::SConvert).expect("the table has every conversion");
                let site = super::super::program::ComputeSite {
                    instruction: self.at as u32,
                    operation,
                    args: SmallVec::from_iter([(shape(width), Slots::from_slice(&[slot]))]),
                    results: SmallVec::from_slice(&[shape(32)]),
                    to: Slots::from_slice(&[Slot::Word(column)]),
                    no_signed_wrap: false,
                    no_unsigned_wrap: false,
                };
                self.program.sites.push(site);
                let number = self.program.sites.len() as u32 - 1;
                self.emit(Op::Compute, column, NONE, NONE, 0);
                self.program.codes.last_mut().expect("just emitted").at = number;
                Ok(column)
            }
            (_, Some(Slot::Wide(low, high))) => {
                let column = self.column()?;
                self.emit(Op::BoundWide, column, low, NONE, high);
                Ok(column)
            }
            _ => self.unsupported("an index that is no integer"),
        }
    }

    /// The column of an index, after the check of its bounds.
    pub(super) fn bounded(&mut self, id: u32, count: Count) -> Compiled<u32> {
        self.program.faults.push(Fault { id, count });
        let fault = self.program.faults.len() as u32 - 1;
        if let Some(&Slot::Wide(low, high)) = self.value(id)?.first() {
            let column = self.column()?;
            self.emit(Op::BoundWide, column, low, fault, high);
            return Ok(column);
        }
        let index = self.index(id)?;
        match count {
            Count::Fixed(count) => self.emit(Op::Bound, NONE, index, fault, count.min(u64::from(u32::MAX)) as u32),
            Count::Array(array) => self.emit(Op::BoundRuntime, NONE, index, fault, array),
        }
        Ok(index)
    }
}

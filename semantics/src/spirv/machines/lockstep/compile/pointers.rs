//! Pointers that are chosen at run time: four columns each, as defined by [`DynamicPointer`].

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::FxHashSet;

use super::super::program::{Advance, DynamicPointer, Follow, NONE, Op, Pair, Slot, Slots};
use super::{Compiled, Compiler, IdMeaning, Length, Pointer, Storage};
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::Module;
use crate::spirv::pointers::Root;
use crate::spirv::types::{Address, Type};
use crate::spirv::words::Instruction;

/// The pointers that an OpPhi or OpReturnValue names. Their columns are computed where
/// they are defined.
pub(super) fn passed_pointers(module: &Module, functions: &[u32]) -> FxHashSet<u32> {
    let mut pointers = FxHashSet::default();
    if !module.has_variable_pointers() {
        return pointers;
    }
    for function in functions.iter().filter_map(|&id| module.function(id)) {
        for i in module.function_blocks(function).iter().flat_map(|block| module.code(block)) {
            let operands = i.operands(module.words());
            match i.op {
                Core::Phi if module.pointer_type(i.result_type).is_some() => pointers.extend(operands.iter().step_by(2)),
                Core::ReturnValue => pointers.extend(&operands[..1]),
                _ => {}
            }
        }
    }
    pointers
}

impl Compiler<'_> {
    pub(super) fn is_pointer(&self, id: u32) -> bool {
        self.module.type_of(id).is_some_and(|type_| self.module.pointer_type(type_).is_some())
    }

    /// A column that holds a number.
    pub(super) fn number(&mut self, number: u64) -> Compiled<u32> {
        let Ok(number) = u32::try_from(number) else { return self.unsupported("an address of 4 GiB or more") };
        match self.constant(Type::Int { width: 32, signed: false }, number.into())? {
            Slot::Word(column) => Ok(column),
            _ => self.unsupported("an address"),
        }
    }

    /// The distance between elements behind a pointer of that type. `None` if the type has none.
    fn stride(&mut self, type_: u32) -> Compiled<Option<u32>> {
        let stride = match self.module.pointer_type(type_) {
            Some((StorageClass::Workgroup, pointee)) => Some(self.words(pointee)),
            _ => self.module.pointer_stride(type_).map(u64::from),
        };
        match stride.map(u32::try_from).transpose() {
            Ok(stride) => Ok(stride),
            Err(_) => self.unsupported("elements of 4 GiB or more"),
        }
    }

    /// The storage that a pointer chosen at run time points into, and whether writes are forbidden.
    /// `number` is the column of its buffer's number.
    fn storage_of(&mut self, id: u32, number: u32) -> Compiled<(Storage, bool)> {
        let class = self.module.type_of(id).and_then(|type_| self.module.pointer_type(type_)).map(|(class, _)| class);
        if class == Some(StorageClass::Workgroup) {
            return Ok((Storage::Shared, false));
        }
        let variable = match self.roots.get(self.module, id) {
            Root::One(variable) => variable,
            // The pointer always points to nothing, so any buffer will do.
            Root::Nothing if !self.program.buffers.is_empty() => return Ok((Storage::Buffer(0), false)),
            Root::Nothing => return self.unsupported("a pointer to nothing where there is no buffer, in the lockstep machine"),
            Root::Several(roots) => {
                let Some(variables) = roots.buffers(self.module) else {
                    return self.unsupported("a pointer into one of more than 127 buffers in the lockstep machine");
                };
                let buffers: Vec<(u8, bool)> = variables.into_iter().map(|id| self.buffer_of(id)).collect::<Compiled<_>>()?;
                let read_only = buffers.iter().any(|&(_, read_only)| read_only);
                return Ok((Storage::Buffers(buffers.into_iter().map(|(buffer, _)| buffer).collect(), number), read_only));
            }
        };
        self.buffer_of(variable).map(|(buffer, read_only)| (Storage::Buffer(buffer), read_only))
    }

    /// The buffer of a variable, and whether writes to it may be forbidden.
    fn buffer_of(&self, variable: u32) -> Compiled<(u8, bool)> {
        match self.meanings.get(&variable) {
            Some(&IdMeaning::Pointer(Pointer { storage: Storage::Buffer(buffer), read_only, .. })) => {
                let some_member = self.module.decorations.iter().any(|d| d.decoration == Decoration::NonWritable as u32);
                Ok((buffer, read_only || some_member))
            }
            _ => self.unsupported("a pointer that is chosen, into no buffer, in the lockstep machine"),
        }
    }

    /// The columns of a pointer.
    pub(super) fn pointer_slots(&mut self, id: u32) -> Compiled<Slots> {
        if let Some(slots) = self.pointer_columns.get(&id) {
            return Ok(slots.clone());
        }
        let pointer = match self.meanings.get(&id).cloned() {
            Some(IdMeaning::Slots(slots)) => return Ok(slots),
            Some(IdMeaning::Pointer(pointer)) => pointer,
            _ => return self.unsupported(format!("%{id}, which is no pointer that the lockstep machine follows")),
        };
        let buffer = match pointer.storage {
            Storage::Shared => self.number(0)?,
            Storage::Buffer(buffer) => self.number(buffer.into())?,
            Storage::Buffers(_, number) => number,
            _ => return self.unsupported("a pointer of that storage class as a value in the lockstep machine"),
        };
        let type_ = self.module.type_of(id).unwrap_or(0);
        let element = match self.stride(type_)? {
            Some(_) => pointer.element,
            None => None,
        };
        let columns = match element {
            Some(element) => {
                let first = self.sum(element.first)?;
                let count = match element.count {
                    Length::Fixed(count) => self.number(count)?,
                    Length::Column(count) => count,
                    Length::Array(array) => {
                        let count = self.column()?;
                        self.emit(Op::Elements, count, NONE, NONE, array);
                        count
                    }
                };
                [first, element.index, count, buffer]
            }
            None => [self.sum((pointer.fixed, pointer.dynamic))?, self.number(0)?, self.number(1)?, buffer],
        };
        Ok(columns.into_iter().map(Slot::Word).collect())
    }

    /// A column with the sum of the fixed and the dynamic part of an address.
    fn sum(&mut self, (fixed, dynamic): (u64, u32)) -> Compiled<u32> {
        let fixed = self.number(fixed)?;
        if dynamic == NONE {
            return Ok(fixed);
        }
        let sum = self.column()?;
        self.emit(Op::Index, sum, fixed, dynamic, 1);
        Ok(sum)
    }

    /// Computes the columns of a pointer where it is defined, if an OpPhi or a return names it.
    pub(super) fn pass_pointer(&mut self, id: u32) -> Compiled {
        if self.passed_pointers.contains(&id) && matches!(self.meanings.get(&id), Some(IdMeaning::Pointer(_))) {
            let slots = self.pointer_slots(id)?;
            self.pointer_columns.insert(id, slots);
        }
        Ok(())
    }

    /// The columns of a pointer that an OpPhi or a return names, when no more codes are emitted.
    /// `None` if the id is not such a pointer.
    pub(super) fn passed_columns(&mut self, id: u32) -> Compiled<Option<Slots>> {
        if let Some(slots) = self.pointer_columns.get(&id) {
            return Ok(Some(slots.clone()));
        }
        // The address of a variable is a constant.
        match self.meanings.get(&id) {
            Some(IdMeaning::Pointer(pointer)) if pointer.dynamic == NONE && self.module.variable(id).is_some() => {
                self.pointer_slots(id).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn columns(&mut self, id: u32) -> Compiled<DynamicPointer> {
        match self.pointer_slots(id)?[..] {
            [Slot::Word(first), Slot::Word(index), Slot::Word(count), Slot::Word(buffer)] => Ok([first, index, count, buffer]),
            _ => self.unsupported("a pointer of other columns than four"),
        }
    }

    /// Emits the check that a pointer points to something.
    fn follow(&mut self, id: u32, pointer: DynamicPointer, past_too: bool) {
        self.program.follows.push(Follow { pointer, id, past_too });
        self.emit(Op::Follow, NONE, NONE, NONE, self.program.follows.len() as u32 - 1);
    }

    /// The place that a pointer chosen at run time points to, with the check that there is one.
    pub(super) fn checked_pointer(&mut self, id: u32, slots: &Slots) -> Compiled<Pointer> {
        let &[Slot::Word(first), Slot::Word(index), Slot::Word(count), Slot::Word(buffer)] = &slots[..] else {
            return self.unsupported("a pointer of other columns than four");
        };
        self.follow(id, [first, index, count, buffer], true);
        self.place(id, [first, index, count, buffer])
    }

    fn place(&mut self, id: u32, [first, index, _, buffer]: DynamicPointer) -> Compiled<Pointer> {
        let (storage, read_only) = self.storage_of(id, buffer)?;
        let type_ = self.module.type_of(id).unwrap_or(0);
        let pointee = self.module.pointer_type(type_).map_or(0, |(_, pointee)| pointee);
        let dynamic = match self.stride(type_)? {
            None => first,
            Some(stride) => {
                let address = self.column()?;
                self.emit(Op::Index, address, first, index, stride);
                address
            }
        };
        let may_leave = matches!(storage, Storage::Buffer(_) | Storage::Buffers(..));
        Ok(Pointer { storage, fixed: 0, dynamic, type_: pointee, address: Address::whole(pointee), read_only, may_leave, element: None })
    }

    /// Compiles an access chain without indices.
    pub(super) fn same_pointer(&mut self, i: &Instruction, base: u32) -> Compiled {
        let slots = self.pointer_slots(base)?;
        self.keeps_stride(i, base)?;
        self.bind(i.result, slots)
    }

    fn keeps_stride(&mut self, i: &Instruction, base: u32) -> Compiled {
        let type_ = self.module.type_of(base).unwrap_or(0);
        if self.stride(i.result_type)? != self.stride(type_)? {
            return self.unsupported(format!("{} to a pointer type of another ArrayStride in the lockstep machine", i.name()));
        }
        Ok(())
    }

    /// OpPtrAccessChain.
    pub(super) fn ptr_access_chain(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let (base, id) = (operands[0], operands[1]);
        let [first, index, count, buffer] = self.columns(base)?;
        self.follow(base, [first, index, count, buffer], false);
        if !matches!(self.type_(self.module.type_of(id).unwrap_or(0)), Type::Int { width: 8 | 16 | 32, .. }) {
            return self.unsupported("OpPtrAccessChain by an element of 64 bits in the lockstep machine");
        }
        let element = self.index(id)?;
        let advanced = self.column()?;
        self.program.advances.push(Advance { count, id, past: operands.len() == 2 });
        self.emit(Op::Advance, advanced, index, element, self.program.advances.len() as u32 - 1);
        if operands.len() == 2 {
            self.keeps_stride(i, base)?;
            let slots = [first, advanced, count, buffer].into_iter().map(Slot::Word).collect();
            return self.bind(i.result, slots);
        }
        let pointer = self.place(base, [first, advanced, count, buffer])?;
        self.indexed(i, pointer, &operands[2..])
    }

    /// OpPtrEqual, OpPtrNotEqual and OpPtrDiff.
    pub(super) fn compare_pointers(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let pointers = [self.columns(operands[0])?, self.columns(operands[1])?];
        let type_ = self.module.type_of(operands[0]).unwrap_or(0);
        let is_shared = matches!(self.module.pointer_type(type_), Some((StorageClass::Workgroup, _)));
        let width = match self.type_(i.result_type) {
            Type::Int { width, .. } if width <= 32 => u32::from(width),
            Type::Bool => 1,
            _ => return self.unsupported(format!("{} of that width in the lockstep machine", i.name())),
        };
        let stride = self.stride(type_)?.unwrap_or(0);
        self.program.pairs.push(Pair { pointers, stride, is_shared, negates: i.is(Core::PtrNotEqual), width });
        let number = self.program.pairs.len() as u32 - 1;
        let slot = if i.is(Core::PtrDiff) { Slot::Word(self.column()?) } else { Slot::Truth(self.set()?) };
        match slot {
            Slot::Truth(d) => self.emit(Op::PtrSame, d, NONE, NONE, number),
            Slot::Word(d) | Slot::Wide(d, _) => self.emit(Op::PtrApart, d, NONE, NONE, number),
        }
        self.bind(i.result, Slots::from_slice(&[slot]))
    }
}

//! Compiles variables, access chains, loads, stores, copies and atomics.

use std::rc::Rc;

use rspirv::spirv::StorageClass;

use super::super::program::{Atomic, Copied, Count, NONE, Op, Place, RuntimeArray, Slot, Slots, Space};
use super::image::MAX_PAIRS;
use super::{Compiled, Compiler, Element, IdMeaning, Length, Pointer, Storage};
use crate::concurrency::Ordering;
use crate::spirv::grammar::{Op as Core, alignments};
use crate::spirv::types::{Address, Type};
use crate::spirv::words::Instruction;

impl Compiler<'_> {
    /// OpVariable in a function. The variable is new at each call.
    pub(super) fn enter_variable(&mut self, i: &Instruction) -> Compiled {
        let variable = *self.module.variable(i.result).expect("load has checked it");
        let pointer = self.pointer(i.result)?;
        let initializer = variable.initializer.map(|id| self.value(id)).transpose()?;
        match (&pointer.storage, initializer) {
            (Storage::Registers(slots), Some(values)) => {
                for (&to, &from) in slots.iter().zip(&values) {
                    self.copy(to, from, true);
                }
            }
            (Storage::Registers(slots), None) => {
                for &slot in slots.iter() {
                    match slot {
                        Slot::Word(d) => self.emit(Op::Forget, d, NONE, NONE, 0),
                        Slot::Wide(d, e) => {
                            self.emit(Op::Forget, d, NONE, NONE, 0);
                            self.emit(Op::Forget, e, NONE, NONE, 0);
                        }
                        Slot::Truth(d) => self.emit(Op::ForgetSets, d, NONE, NONE, 0),
                    }
                }
            }
            (_, Some(values)) => self.store_slots(&pointer, &values)?,
            (_, None) => {
                let count = self.words(variable.type_) as u32;
                self.emit(Op::ForgetLocal, NONE, NONE, count, pointer.fixed as u32);
            }
        }
        Ok(())
    }

    pub(super) fn access_chain(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        if operands.len() == 1 && matches!(self.meanings.get(&operands[0]), Some(IdMeaning::Slots(_))) {
            return self.same_pointer(i, operands[0]);
        }
        let base = self.pointer(operands[0])?;
        self.indexed(i, base, &operands[1..])
    }

    /// Compiles the indices of an access chain that begins at a pointer.
    pub(super) fn indexed(&mut self, i: &Instruction, mut pointer: Pointer, indices: &[u32]) -> Compiled {
        let types = self.module.types();
        let knows_elements = self.module.has_variable_pointers();
        for &id in indices {
            let array = knows_elements && matches!(self.type_(pointer.type_), Type::Array { .. } | Type::RuntimeArray { .. });
            let constant = self.module.constant_value(id);
            let count = types.parts(pointer.type_);
            pointer.read_only |= constant.is_some_and(|member| {
                matches!(self.type_(pointer.type_), Type::Struct { .. })
                    && self.module.decoration(pointer.type_, member as u32, rspirv::spirv::Decoration::NonWritable).is_some()
            });
            if let (Some(index), Some(count)) = (constant, count)
                && index < count
            {
                let first = if array { Some(self.part(pointer.clone(), 0)?) } else { None };
                pointer = self.part(pointer, index)?;
                pointer.element = match first {
                    Some(first) => {
                        let index = self.number(index)?;
                        Some(Element { first: (first.fixed, first.dynamic), index, count: Length::Fixed(count) })
                    }
                    None => None,
                };
                continue;
            }
            pointer.may_leave |= count.is_none();
            let index = match count {
                Some(count) => self.bounded(id, Count::Fixed(count))?,
                None => self.bounded_by_arrays(&pointer, id)?,
            };
            let count = match count {
                Some(count) => Length::Fixed(count),
                None if array => self.elements(&pointer)?,
                None => Length::Fixed(0),
            };
            let first = (pointer.fixed, pointer.dynamic);
            pointer = self.part_at(pointer, index)?;
            pointer.element = array.then_some(Element { first, index, count });
        }
        self.meanings.insert(i.result, IdMeaning::Pointer(pointer));
        self.pass_pointer(i.result)
    }

    /// The pointer to a part with a constant index that is in bounds.
    fn part(&mut self, mut pointer: Pointer, index: u64) -> Compiled<Pointer> {
        let types = self.module.types();
        let Some((part, scalar)) = types.part(pointer.type_, index) else {
            return self.unsupported("an index that the type does not have");
        };
        match &pointer.storage {
            Storage::Registers(slots) => {
                let (first, count) = (scalar as usize, types.scalars(part) as usize);
                pointer.storage = Storage::Registers(Rc::from(&slots[first..first + count]));
            }
            Storage::Local | Storage::Shared => {
                pointer.fixed += match self.type_(pointer.type_) {
                    Type::Struct { .. } => {
                        let before = types.members(pointer.type_).iter().take(index as usize).map(|m| m.type_).collect::<Vec<_>>();
                        before.into_iter().map(|member| self.words(member)).sum()
                    }
                    _ => index * self.words(part),
                }
            }
            Storage::Opaque(_) => return self.unsupported("a part of an image or sampler"),
            Storage::Buffer(_) | Storage::Buffers(..) | Storage::LaidOut => {
                let Some(address) = types.address(Address { offset: pointer.fixed, type_: pointer.type_, ..pointer.address }, index) else {
                    return self.unsupported("a part of a buffer without a place");
                };
                (pointer.fixed, pointer.address) = (address.offset, address);
            }
        }
        pointer.type_ = part;
        Ok(pointer)
    }

    /// The pointer to a part whose index is in a column. The index was checked to be in bounds.
    fn part_at(&mut self, mut pointer: Pointer, index: u32) -> Compiled<Pointer> {
        let types = self.module.types();
        let Some((part, _)) = types.part(pointer.type_, 0) else { return self.unsupported("an index into a type without parts") };
        let stride = match &pointer.storage {
            Storage::Registers(_) => return self.unsupported("an index that is no constant into a built-in"),
            Storage::Opaque(_) => return self.unsupported("a part of an image or sampler"),
            Storage::Local | Storage::Shared => self.words(part),
            Storage::Buffer(_) | Storage::Buffers(..) | Storage::LaidOut => {
                let element = Address { offset: 0, type_: pointer.type_, ..pointer.address };
                let Some(first) = types.address(element, 0) else { return self.unsupported("a part of a buffer without a place") };
                // If there is only one part, its index is 0, so any stride is right.
                let stride = types.address(element, 1).map_or(0, |second| second.offset - first.offset);
                pointer.address = first;
                if matches!(pointer.storage, Storage::LaidOut) { stride / 4 } else { stride }
            }
        };
        let Ok(stride) = u32::try_from(stride) else { return self.unsupported("a stride of 4 GiB or more") };
        let next = self.column()?;
        self.emit(Op::Index, next, pointer.dynamic, index, stride);
        pointer.dynamic = next;
        pointer.type_ = part;
        Ok(pointer)
    }

    /// Emits the codes of an access for the buffer that the pointer points into. If there are
    /// several, emits them for each, and each runs only in the lanes with that buffer.
    pub(super) fn each_buffer(&mut self, pointer: &Pointer, mut make: impl FnMut(&mut Self, &Pointer) -> Compiled) -> Compiled {
        let Storage::Buffers(buffers, number) = &pointer.storage else { return make(self, pointer) };
        for &buffer in buffers.iter() {
            let at = Pointer { storage: Storage::Buffer(buffer), ..pointer.clone() };
            self.narrowed(*number, buffer.into(), |compiler| make(compiler, &at))?;
        }
        Ok(())
    }

    /// Emits codes that run only in the lanes where a column holds that number.
    pub(super) fn narrowed(&mut self, column: u32, number: u32, make: impl FnOnce(&mut Self) -> Compiled) -> Compiled {
        self.emit(Op::Narrow, NONE, column, NONE, number);
        let first = self.program.codes.len();
        make(self)?;
        self.program.codes[first..].iter_mut().for_each(|code| code.masked = true);
        self.emit(Op::Widen, NONE, NONE, NONE, 0);
        self.within_codes()
    }

    /// The runtime array that a pointer points to. It is the last member of its buffer, which
    /// determines its place. `None` if the buffer has no such array. Then the pointer points
    /// to another one.
    fn runtime_array(&mut self, pointer: &Pointer) -> Compiled<Option<u32>> {
        let (&Storage::Buffer(buffer), Type::RuntimeArray { stride, .. }) = (&pointer.storage, self.type_(pointer.type_)) else {
            return self.unsupported("a runtime array that is in no buffer");
        };
        let types = self.module.types();
        let block = self.module.variable(self.program.buffers[usize::from(buffer)].id).map_or(0, |v| v.type_);
        let last = types.members(block).len().saturating_sub(1) as u64;
        let Some(address) = types.address(Address::whole(block), last).filter(|address| address.type_ == pointer.type_) else {
            return Ok(None);
        };
        self.program.arrays.push(RuntimeArray { buffer, offset: address.offset, stride });
        Ok(Some(self.program.arrays.len() as u32 - 1))
    }

    /// Emits codes for each runtime array that a pointer may point to.
    fn each_array(&mut self, pointer: &Pointer, mut make: impl FnMut(&mut Self, u32) -> Compiled) -> Compiled {
        let is_chosen = matches!(pointer.storage, Storage::Buffers(..));
        self.each_buffer(pointer, |compiler, pointer| match compiler.runtime_array(pointer)? {
            Some(array) => make(compiler, array),
            None if is_chosen => Ok(()),
            None => compiler.unsupported("a runtime array that is no last member of a buffer"),
        })
    }

    /// A column with an index into a runtime array, after the check of its bounds.
    fn bounded_by_arrays(&mut self, pointer: &Pointer, id: u32) -> Compiled<u32> {
        let common_index = if let Storage::Buffers(..) = pointer.storage { Some(self.column()?) } else { None };
        let mut index = common_index.unwrap_or(NONE);
        self.each_array(pointer, |compiler, array| {
            let bounded = compiler.bounded(id, Count::Array(array))?;
            match common_index {
                Some(d) => compiler.emit(Op::Copy, d, bounded, NONE, 0),
                None => index = bounded,
            }
            Ok(())
        })?;
        Ok(index)
    }

    /// The number of elements of the runtime array that a pointer points to.
    fn elements(&mut self, pointer: &Pointer) -> Compiled<Length> {
        if let Storage::Buffer(_) = pointer.storage {
            let mut length = Length::Fixed(0);
            self.each_array(pointer, |_, array| {
                length = Length::Array(array);
                Ok(())
            })?;
            return Ok(length);
        }
        let count = self.column()?;
        self.each_array(pointer, |compiler, array| {
            compiler.emit(Op::Elements, count, NONE, NONE, array);
            Ok(())
        })?;
        Ok(Length::Column(count))
    }

    pub(super) fn array_length(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let structure = self.pointer(operands[0])?;
        let array = self.part(structure, u64::from(operands[1]))?;
        let d = self.column()?;
        self.each_array(&array, |compiler, array| {
            compiler.emit(Op::Length, d, NONE, NONE, array);
            Ok(())
        })?;
        self.bind(i.result, Slots::from_slice(&[Slot::Word(d)]))?;
        Ok(())
    }

    pub(super) fn load(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        if self.type_(i.result_type).is_opaque() {
            let (image, sampler) = self.opaque(operands[0])?;
            self.meanings.insert(i.result, IdMeaning::Opaque { image, sampler });
            return Ok(());
        }
        let pointer = self.pointer(operands[0])?;
        self.align(&pointer, alignments(&operands[1..])[0])?;
        let class = self.module.type_of(operands[0]).and_then(|type_| self.module.pointer_type(type_)).map(|(class, _)| class);
        let slots = self.load_slots(&pointer, i.result, class == Some(StorageClass::Output))?;
        self.bind(i.result, slots)?;
        Ok(())
    }

    /// Loads a value. The contents of an output are observed in the end, so a load of an output
    /// must not record an origin in it.
    fn load_slots(&mut self, pointer: &Pointer, id: u32, is_output: bool) -> Compiled<Slots> {
        if let Storage::Registers(slots) = &pointer.storage {
            let slots = Slots::from_slice(slots);
            if !slots.iter().any(|&slot| self.is_variable(slot)) {
                return Ok(slots);
            }
            // Uses in this block read the variable itself until a store to it; see `settle`.
            if !is_output && !matches!(self.last_use[id as usize], 0 | u32::MAX) {
                for &slot in &slots {
                    self.mark_unwritten(slot);
                }
                return Ok(slots);
            }
            return self.copies_of(&slots);
        }
        let slots = self.slots(pointer.type_)?;
        self.each_scalar(pointer, &slots, true)?;
        Ok(slots)
    }

    /// Gives lanes that were never written an undefined value with this load as origin.
    fn mark_unwritten(&mut self, slot: Slot) {
        match slot {
            Slot::Word(a) => self.emit(Op::Copy, NONE, a, NONE, 0),
            Slot::Wide(a, b) => {
                self.emit(Op::Copy, NONE, a, NONE, 0);
                self.emit(Op::Copy, NONE, b, NONE, 0);
            }
            Slot::Truth(a) => self.emit(Op::CopySet, NONE, a, NONE, 0),
        }
    }

    pub(super) fn copies_of(&mut self, slots: &[Slot]) -> Compiled<Slots> {
        let mut copies = Slots::new();
        for &slot in slots {
            let to = match slot {
                Slot::Word(_) => Slot::Word(self.column()?),
                Slot::Wide(..) => {
                    let low = self.column()?;
                    Slot::Wide(low, self.column()?)
                }
                Slot::Truth(_) => Slot::Truth(self.set()?),
            };
            self.copy(to, slot, false);
            copies.push(to);
        }
        Ok(copies)
    }

    /// Gives every id that still reads these variable slots after this instruction its own copy.
    fn settle(&mut self, stored: &[Slot], index: u32) -> Compiled {
        let aliases = std::mem::take(&mut self.aliases);
        for id in aliases {
            let Some(IdMeaning::Slots(slots)) = self.meanings.get(&id).cloned() else { continue };
            if self.last_use[id as usize] <= index {
                continue;
            }
            if slots.iter().any(|slot| stored.contains(slot)) {
                let mut copies = Slots::new();
                for slot in slots {
                    match self.is_variable(slot) {
                        true => copies.extend(self.copies_of(&[slot])?),
                        false => copies.push(slot),
                    }
                }
                self.meanings.insert(id, IdMeaning::Slots(copies));
            } else {
                self.aliases.push(id);
            }
        }
        Ok(())
    }

    /// Does what [`Compiler::settle`] does, for all variables.
    pub(super) fn settle_all(&mut self, index: u32) -> Compiled {
        let mut slots = Vec::new();
        for id in &self.aliases {
            if let Some(IdMeaning::Slots(of_id)) = self.meanings.get(id) {
                slots.extend(of_id.iter().copied().filter(|&slot| self.is_variable(slot)));
            }
        }
        self.settle(&slots, index)
    }

    pub(super) fn store(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let pointer = self.pointer(operands[0])?;
        if pointer.read_only {
            return self.unsupported("OpStore through a pointer to what is read-only");
        }
        if let Storage::Registers(slots) = &pointer.storage {
            self.settle(&slots.clone(), self.at as u32)?;
        }
        self.align(&pointer, alignments(&operands[2..])[0])?;
        let slots = if self.is_pointer(operands[1]) { self.pointer_slots(operands[1])? } else { self.value(operands[1])? };
        self.store_slots(&pointer, &slots)
    }

    /// Checks the requirement of an Aligned operand on an address in a buffer, before the scalars
    /// are accessed.
    fn align(&mut self, pointer: &Pointer, aligned: u32) -> Compiled {
        if matches!(pointer.storage, Storage::LaidOut) && aligned > 4 {
            return self.unsupported("an access to Workgroup memory that is Aligned to more than 4 bytes in the lockstep machine");
        }
        let Ok(offset) = u32::try_from(pointer.fixed) else { return self.unsupported("an offset of 4 GiB or more") };
        if aligned <= 1 {
            return Ok(());
        }
        self.each_buffer(pointer, |compiler, pointer| {
            if let Storage::Buffer(buffer) = pointer.storage {
                compiler.emit(Op::Align, NONE, pointer.dynamic, aligned, offset);
                compiler.program.codes.last_mut().expect("just emitted").buffer = buffer;
            }
            Ok(())
        })
    }

    pub(super) fn store_slots(&mut self, pointer: &Pointer, slots: &[Slot]) -> Compiled {
        if let Storage::Registers(to) = &pointer.storage {
            // A value may contain slots of the same variable in another order.
            let overlaps = slots.iter().any(|slot| to.contains(slot)) && slots != &to[..];
            let from = if overlaps { self.copies_of(slots)? } else { Slots::from_slice(slots) };
            for (&to, &from) in to.clone().iter().zip(&from) {
                self.copy(to, from, true);
            }
            return Ok(());
        }
        self.each_scalar(pointer, slots, false)
    }

    pub(super) fn copy_memory(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        // The source is checked first.
        let source = self.pointer(operands[1])?;
        let target = self.pointer(operands[0])?;
        if target.read_only {
            return self.unsupported("OpCopyMemory to what is read-only");
        }
        let [to, from] = alignments(&operands[2..]);
        self.align(&source, from)?;
        self.align(&target, to)?;
        let buffers = |pointer: &Pointer| if let Storage::Buffers(buffers, _) = &pointer.storage { buffers.len() } else { 1 };
        if buffers(&source) * buffers(&target) > MAX_PAIRS {
            return self.unsupported("OpCopyMemory from any of many buffers to any of many in the lockstep machine");
        }
        self.each_buffer(&target, |compiler, target| compiler.each_buffer(&source, |compiler, source| compiler.overlap(target, source)))?;
        // A variable in registers is named only by loads and stores. A copied variable
        // has an address.
        let slots = match &source.storage {
            Storage::Registers(slots) => Slots::from_slice(slots),
            _ => {
                let slots = self.slots(source.type_)?;
                self.each_scalar(&source, &slots, true)?;
                slots
            }
        };
        self.store_slots(&target, &slots)
    }

    /// Emits the check that target and source are equal or apart, if they may overlap in part.
    fn overlap(&mut self, target: &Pointer, source: &Pointer) -> Compiled {
        let mut ends = [Place { space: Space::Local, address: NONE, offset: 0 }; 2];
        let mut cells = [Vec::new(), Vec::new()];
        for (k, pointer) in [target, source].into_iter().enumerate() {
            let Ok(offset) = u32::try_from(pointer.fixed) else { return self.unsupported("an offset of 4 GiB or more") };
            let space = match pointer.storage {
                Storage::Registers(_) | Storage::Buffers(..) | Storage::Opaque(_) => return Ok(()),
                Storage::LaidOut => return self.unsupported("OpCopyMemory of Workgroup memory with a layout in the lockstep machine"),
                Storage::Local => Space::Local,
                Storage::Shared => Space::Shared,
                Storage::Buffer(buffer) => Space::Buffer(buffer),
            };
            ends[k] = Place { space, address: pointer.dynamic, offset };
            if let Space::Buffer(_) = space {
                let address = Address { offset: 0, type_: pointer.type_, ..pointer.address };
                let _ =
                    self.module.types().visit_addresses(address, &mut |offset, width| cells[k].push((offset as u32, u32::from(width / 8))));
            } else {
                cells[k].push((0, self.words(pointer.type_) as u32));
            }
        }
        let may_overlap = match (ends[0].space, ends[1].space) {
            (Space::Buffer(_), Space::Buffer(_)) => true,
            (a, b) => a == b,
        };
        if may_overlap {
            self.program.copies.push(Copied { ends, cells });
            self.emit(Op::Overlap, NONE, NONE, NONE, self.program.copies.len() as u32 - 1);
        }
        Ok(())
    }

    /// Emits one access for each scalar that the pointer points to.
    fn each_scalar(&mut self, pointer: &Pointer, slots: &[Slot], loads: bool) -> Compiled {
        match &pointer.storage {
            Storage::Registers(_) => unreachable!("registers are copied"),
            Storage::Buffers(..) => self.each_buffer(pointer, |compiler, pointer| compiler.each_scalar(pointer, slots, loads)),
            Storage::Opaque(_) => self.unsupported("an image or sampler as a value in the lockstep machine"),
            Storage::LaidOut => {
                let mut places = Vec::new();
                let at = Address { offset: pointer.fixed, type_: pointer.type_, ..pointer.address };
                if self.module.types().visit_addresses(at, &mut |offset, _| places.push(offset / 4)).is_none() {
                    return self.unsupported("a value in Workgroup memory without a place");
                }
                for (&slot, word) in slots.iter().zip(places) {
                    let Slot::Word(d) = slot else { return self.unsupported("a scalar of that width in Workgroup memory") };
                    self.emit(if loads { Op::LoadShared } else { Op::StoreShared }, d, pointer.dynamic, NONE, word as u32);
                }
                Ok(())
            }
            Storage::Local | Storage::Shared => {
                let is_local = matches!(pointer.storage, Storage::Local);
                let mut at = pointer.fixed as u32;
                for &slot in slots {
                    if let Slot::Wide(low, high) = slot {
                        let op = match (is_local, loads) {
                            (true, true) => Op::LoadLocal,
                            (true, false) => Op::StoreLocal,
                            (false, true) => Op::LoadShared,
                            (false, false) => Op::StoreShared,
                        };
                        self.emit(op, low, pointer.dynamic, NONE, at);
                        self.emit(op, high, pointer.dynamic, NONE, at + 1);
                        at += 2;
                        continue;
                    }
                    let (op, d) = match (slot, is_local, loads) {
                        (Slot::Word(d), true, true) => (Op::LoadLocal, d),
                        (Slot::Word(d), true, false) => (Op::StoreLocal, d),
                        (Slot::Truth(d), true, true) => (Op::LoadLocalSet, d),
                        (Slot::Truth(d), true, false) => (Op::StoreLocalSet, d),
                        (Slot::Word(d), false, true) => (Op::LoadShared, d),
                        (Slot::Word(d), false, false) => (Op::StoreShared, d),
                        (Slot::Truth(d), false, true) => (Op::LoadSharedSet, d),
                        (Slot::Truth(d), false, false) => (Op::StoreSharedSet, d),
                        (Slot::Wide(..), ..) => unreachable!("it was two words"),
                    };
                    self.emit(op, d, pointer.dynamic, NONE, at);
                    at += 1;
                }
                Ok(())
            }
            &Storage::Buffer(buffer) => {
                let mut places = Vec::new();
                let at = Address { offset: pointer.fixed, type_: pointer.type_, ..pointer.address };
                if self.module.types().visit_addresses(at, &mut |offset, width| places.push((offset, width))).is_none() {
                    return self.unsupported("a value in a buffer without a place");
                }
                let end = places.iter().map(|&(offset, width)| offset + u64::from(width / 8)).max().unwrap_or(0);
                let mut reaches = NONE;
                if pointer.may_leave {
                    let Ok(end) = u32::try_from(end) else { return self.unsupported("an offset of 4 GiB or more") };
                    reaches = self.set()?;
                    self.emit(Op::Reach, reaches, pointer.dynamic, NONE, end);
                    self.program.codes.last_mut().expect("just emitted").buffer = buffer;
                }
                for (&slot, (offset, width)) in slots.iter().zip(places) {
                    self.program.granule = self.program.granule.min(u32::from(width / 8));
                    let Ok(offset) = u32::try_from(offset) else { return self.unsupported("an offset of 4 GiB or more") };
                    let first = self.program.codes.len();
                    match (slot, width) {
                        (Slot::Word(d), 32) => {
                            self.emit(if loads { Op::LoadBuffer } else { Op::StoreBuffer }, d, pointer.dynamic, reaches, offset)
                        }
                        (Slot::Word(d), 16) => {
                            self.emit(if loads { Op::LoadBuffer16 } else { Op::StoreBuffer16 }, d, pointer.dynamic, reaches, offset);
                        }
                        (Slot::Word(d), 8) => {
                            self.emit(if loads { Op::LoadBuffer8 } else { Op::StoreBuffer8 }, d, pointer.dynamic, reaches, offset)
                        }
                        (Slot::Wide(d, e), 64) => {
                            let op = if loads { Op::LoadBuffer } else { Op::StoreBuffer };
                            self.emit(Op::Align, NONE, pointer.dynamic, 8, offset);
                            self.emit(op, d, pointer.dynamic, reaches, offset);
                            self.emit(op, e, pointer.dynamic, reaches, offset + 4);
                        }
                        _ => return self.unsupported("a scalar of that width in a buffer"),
                    }
                    self.program.codes[first..].iter_mut().for_each(|code| code.buffer = buffer);
                }
                Ok(())
            }
        }
    }

    pub(super) fn atomic(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let stores = i.is(Core::AtomicStore);
        let pointer = self.pointer(operands[0])?;
        let exchanges = matches!(i.op, Core::AtomicCompareExchange | Core::AtomicCompareExchangeWeak);
        let (scope, semantics) = (self.scope(operands[1])?, self.semantics(operands[2])?);
        let unequal = if exchanges { self.semantics(operands[3])? } else { semantics };
        self.program.synchronises |= [semantics, unequal].iter().any(|s| s.ordering != Ordering::Relaxed);
        let type_ = self.type_(pointer.type_);
        let Type::Int { width: width @ (32 | 64), .. } = type_ else {
            return self.unsupported(format!("{} of {} in the lockstep machine", i.name(), self.module.types().text(pointer.type_)));
        };
        let rest = &operands[if exchanges { 4 } else { 3 }..];
        let columns = |slot: Option<Slot>| match slot {
            Some(Slot::Word(low)) => [low, NONE],
            Some(Slot::Wide(low, high)) => [low, high],
            _ => [NONE; 2],
        };
        let operand = |at: usize| rest.get(at).map(|&id| self.value(id)).transpose();
        let [value, comparator] = [operand(0)?, operand(1)?].map(|slots| columns(slots.and_then(|slots| slots.first().copied())));
        let result = if stores { None } else { Some(self.slot(type_)?) };
        let [d, high] = columns(result);
        self.each_buffer(&pointer, |compiler, pointer| {
            let space = match pointer.storage {
                Storage::Registers(_) | Storage::Buffers(..) | Storage::Opaque(_) => {
                    return compiler.unsupported(format!("{} on a variable in registers", i.name()));
                }
                Storage::Local => Space::Local,
                Storage::Shared | Storage::LaidOut => Space::Shared,
                Storage::Buffer(buffer) => Space::Buffer(buffer),
            };
            let bytes = matches!(pointer.storage, Storage::LaidOut);
            let (address, offset) = (pointer.dynamic, if bytes { pointer.fixed / 4 } else { pointer.fixed } as u32);
            let atomic = Atomic { op: i.op, space, address, offset, width, value, comparator, high, scope, semantics, unequal };
            compiler.program.atomics.push(atomic);
            let number = compiler.program.atomics.len() as u32 - 1;
            compiler.emit(Op::Atomic, d, pointer.dynamic, value[0], number);
            compiler.program.in_order |= space != Space::Local;
            Ok(())
        })?;
        match result {
            Some(slot) => self.bind(i.result, Slots::from_slice(&[slot])),
            None => Ok(()),
        }
    }

    /// A column with the sum of both parts of an address, to pass the pointer to a function.
    pub(super) fn address_of(&mut self, id: u32) -> Compiled<u32> {
        let pointer = self.pointer(id)?;
        match pointer.storage {
            Storage::Local | Storage::Shared => {}
            _ => return self.unsupported("a pointer argument of that storage class in the lockstep machine"),
        }
        let Slot::Word(fixed) = self.constant(Type::Int { width: 32, signed: false }, pointer.fixed)? else {
            return self.unsupported("an address");
        };
        if pointer.dynamic == NONE {
            return Ok(fixed);
        }
        let sum = self.column()?;
        self.emit(Op::Index, sum, fixed, pointer.dynamic, 1);
        Ok(sum)
    }
}

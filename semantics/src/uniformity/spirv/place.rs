//! Pointers as places: variables, access chains, loads and stores (SPIR-V §3.3.8).

use super::table::{self, Memory};
use super::{Done, Lower, NoVerdict, Planted, Val};
use crate::spirv::module::WHOLE;
use crate::spirv::types::Type;
use crate::uniformity::flow::{Cell, Def, NONE, Region, Scalars, Value};
use rspirv::spirv::{Decoration, StorageClass};
use smallvec::SmallVec;

/// The target of a pointer.
#[derive(Clone, Debug)]
pub(super) enum Pointer {
    /// Into the invocation's own memory.
    Own(Region),
    /// Into memory that is not the invocation's own.
    Memory {
        memory: Memory,
        /// The values that the address depends on.
        depends: SmallVec<[Value; 2]>,
        /// The place, as a number of [`Lower::parts`]. `NONE` after an index that is not
        /// a constant.
        node: u32,
        /// Whether another variable may name the same memory.
        aliased: bool,
        /// Whether an image at the place may be written.
        writable: bool,
    },
}

impl Pointer {
    /// The values that the place depends on.
    fn depends(&self) -> Scalars {
        match self {
            Pointer::Own(region) => region.depends(),
            Pointer::Memory { depends, .. } => depends.iter().copied().collect(),
        }
    }
}

impl Lower<'_, '_> {
    fn add_pointer(&mut self, pointer: Pointer) -> Val {
        self.pointers.push(pointer);
        Val::Pointer(self.pointers.len() as u32 - 1)
    }

    /// A variable at module scope.
    pub(super) fn global(&mut self, id: u32) -> Val {
        let Some(variable) = self.module.variable(id).copied().filter(|v| v.function.is_none()) else { return Val::None };
        let memory = table::memory(self.module, id, variable.class, variable.type_);
        let pointer = match memory {
            Some(memory) => {
                let aliased = !self.is(Planted::AliasedIsLikeAnyOther) && self.module.decoration(id, WHOLE, Decoration::Aliased).is_some();
                let writable = self.module.decoration(id, WHOLE, Decoration::NonWritable).is_none() || aliased;
                let memory = match memory {
                    Memory::Buffer
                        if self.is(Planted::AliasedIsLikeAnyOther)
                            && self.module.decoration(id, WHOLE, Decoration::NonWritable).is_some() =>
                    {
                        Memory::Constant
                    }
                    memory => memory,
                };
                let node = self.node(NONE, variable.instruction);
                Pointer::Memory { memory, depends: SmallVec::new(), node, aliased, writable }
            }
            None => {
                let n = self.size_of(variable.type_);
                let first = self.flow.new_cells(variable.instruction, n);
                let span = self.flow.span;
                self.at(variable.instruction);
                let values: Scalars = match (variable.class, variable.initializer) {
                    (StorageClass::Input, _) => self.input(&variable),
                    (_, Some(initializer)) => self.value(initializer),
                    (_, None) if self.is(Planted::PrivateIsUniform) => (0..n).map(|_| self.hoist(Def::Uniform(u32::MAX))).collect(),
                    (_, None) => (0..n).map(|_| self.hoist_undefined()).collect(),
                };
                self.flow.span = span;
                self.initial.extend((first.0..).map(Cell).zip(values));
                Pointer::Own(Region::from(first))
            }
        };
        self.add_pointer(pointer)
    }

    /// The place of part `index` of a place.
    fn node(&mut self, of: u32, index: u32) -> u32 {
        let next = self.parts.len() as u32;
        *self.parts.entry((of, index)).or_insert(next)
    }

    /// OpVariable in a function: at each call it holds its initializer, or an undefined value.
    pub(super) fn local(&mut self, at: u32, id: u32) {
        let Some(variable) = self.module.variable(id).copied() else { return };
        let n = self.size_of(variable.type_);
        let first = self.cells_of(at, n);
        let values = match variable.initializer {
            Some(initializer) => self.value(initializer),
            None if self.is(Planted::VariablesKeepTheirValue) => Scalars::new(),
            None => self.undefined(n),
        };
        self.flow.write_all(first, &values);
        self.vals[at as usize] = self.add_pointer(Pointer::Own(Region::from(first)));
    }

    /// The cells of a phi or of a variable of a function.
    pub(super) fn cells_of(&mut self, at: u32, n: u32) -> Cell {
        let flow = &mut self.flow;
        *self.cells.entry(at).or_insert_with(|| flow.new_cells(at, n))
    }

    /// The place and the pointee type of a pointer operand.
    pub(super) fn pointer(&mut self, id: u32) -> Done<(Pointer, u32)> {
        let type_ = self.module.type_of(id).and_then(|t| self.module.pointer_type(t));
        match (self.val(id), type_) {
            (Val::Pointer(at), Some((_, pointee))) => Ok((self.pointers[at as usize].clone(), pointee)),
            _ => Err(NoVerdict { entry: self.name.to_owned(), why: super::explain::Why::Pointer(id) }),
        }
    }

    /// OpAccessChain.
    pub(super) fn access_chain(&mut self, operands: &[u32]) -> Done<Val> {
        let (mut pointer, mut type_) = self.pointer(operands[0])?;
        for &id in &operands[1..] {
            let index = self.scalar(id);
            let known = if self.shared.unknown.contains(&id) { None } else { self.module.integer(id) };
            let known = known.map_or_else(|| self.flow.known(index), |i| u32::try_from(i).ok());
            let is_structure = matches!(self.type_(type_), Type::Struct { .. });
            let lumped = self.is_lumped(type_);
            let count = self.module.types().parts(type_).map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX));
            let known = known.filter(|known| *known < count);
            let Some((part, _)) = self.module.types().part(type_, u64::from(if is_structure { known.unwrap_or(0) } else { 0 })) else {
                return Err(NoVerdict { entry: self.name.to_owned(), why: super::explain::Why::Pointer(operands[0]) });
            };
            pointer = match pointer {
                Pointer::Own(region) if lumped => Pointer::Own(region.lumped(known.is_none().then_some(index))),
                Pointer::Own(region) => Pointer::Own(match known.and_then(|known| self.part(type_, known)) {
                    Some((_, offset)) => region.offset_by(offset),
                    None => region.element(index, None, count, self.size_of(part)),
                }),
                Pointer::Memory { mut memory, mut depends, mut node, aliased, writable } => {
                    if is_structure && memory == Memory::Buffer && !aliased {
                        let has = |m: u32| self.module.decoration(type_, m, Decoration::NonWritable).is_some();
                        if known.is_some_and(has) || self.is(Planted::NonWritableOfAnyMember) && (0..count).any(has) {
                            memory = Memory::Constant;
                        }
                    }
                    node = match known {
                        Some(known) if node != NONE => self.node(node, known),
                        _ => NONE,
                    };
                    depends.extend(known.is_none().then_some(index));
                    Pointer::Memory { memory, depends, node, aliased, writable }
                }
            };
            type_ = part;
        }
        Ok(self.add_pointer(pointer))
    }

    /// Loads from the place.
    pub(super) fn load(&mut self, pointer: &Pointer, type_: u32) -> Scalars {
        let n = self.size_of(type_);
        match pointer {
            Pointer::Own(region) => self.flow.load(region, n),
            Pointer::Memory { memory, depends, node, writable, .. } => {
                let fixed = *memory == Memory::Constant && depends.is_empty() && *node != NONE;
                if let (true, Some(&val)) = (fixed, self.constant_loads.get(node)) {
                    return self.cells(val);
                }
                let mut cells = self.load_memory(*memory, depends, type_);
                if let (Type::Image(of), true) = (self.type_(type_), *writable)
                    && of.usage != 1
                    && !self.is(Planted::StorageImagesAreUniform)
                {
                    let text = self.text("what is read from a storage image, which other invocations may change");
                    cells[1] = self.hoist(Def::Varying(text, u32::MAX));
                }
                if fixed {
                    let val = self.add_cells(&cells);
                    self.constant_loads.insert(*node, val);
                }
                cells
            }
        }
    }

    /// Stores a value at the place.
    pub(super) fn store(&mut self, pointer: &Pointer, values: &[Value]) {
        match pointer {
            Pointer::Own(region) => self.flow.store(region, values),
            Pointer::Memory { .. } => {}
        }
    }

    /// Values that depend on the address alone, such as the length of a runtime array.
    pub(super) fn of_address(&mut self, pointer: &Pointer, n: u32) -> Scalars {
        let depends = pointer.depends();
        match depends.is_empty() {
            true => (0..n).map(|_| self.hoist(Def::Uniform(u32::MAX))).collect(),
            false => self.flow.values_from_all(&depends, n),
        }
    }
}

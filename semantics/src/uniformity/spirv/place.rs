//! Pointers as places: variables, access chains, loads and stores (SPIR-V §3.3.8).

use super::table::{self, Memory};
use super::{Cells, Done, Lower, NoVerdict, Planted, Val};
use crate::spirv::module::WHOLE;
use crate::spirv::types::Type;
use crate::uniformity::flow::{Cell, Def, NONE, Pure, Value};
use rspirv::spirv::{Decoration, StorageClass};
use smallvec::SmallVec;

/// An index into something whose parts have cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pick {
    index: Value,
    count: u32,
    stride: u32,
}

/// Where a pointer leads.
#[derive(Clone, Debug)]
pub(super) enum Pointer {
    /// To cells from that one on, after these indices.
    Cells(Cell, SmallVec<[Pick; 1]>),
    /// Into so many cells from that one on, which hold more than this, at a place that depends on
    /// these values.
    Lump(Cell, u32, SmallVec<[Value; 2]>),
    /// Into memory that is not the invocation's own.
    Memory {
        memory: Memory,
        /// What the address depends on.
        depends: SmallVec<[Value; 2]>,
        /// The place among [`Lower::parts`]; `NONE` behind an index that is no constant.
        node: u32,
        /// Whether another variable may lead there too.
        aliased: bool,
        /// Whether an image there can be written.
        image: bool,
    },
}

impl Pointer {
    /// What the place depends on.
    fn depends(&self) -> Cells {
        match self {
            Pointer::Cells(_, picks) => picks.iter().map(|p| p.index).collect(),
            Pointer::Lump(_, _, values) => values.iter().copied().collect(),
            Pointer::Memory { depends, .. } => depends.iter().copied().collect(),
        }
    }
}

impl Lower<'_, '_> {
    fn keep_pointer(&mut self, pointer: Pointer) -> Val {
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
                let written = self.module.decoration(id, WHOLE, Decoration::NonWritable).is_none() || aliased;
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
                Pointer::Memory { memory, depends: SmallVec::new(), node, aliased, image: written }
            }
            None => {
                let n = self.size_of(variable.type_);
                let first = self.flow.new_cells(variable.instruction, n);
                let span = self.flow.span;
                self.at(variable.instruction);
                let values: Cells = match (variable.class, variable.initializer) {
                    (StorageClass::Input, _) => self.input(&variable),
                    (_, Some(initializer)) => self.value(initializer),
                    (_, None) if self.is(Planted::PrivateIsUniform) => (0..n).map(|_| self.hoist(Def::Uniform(u32::MAX))).collect(),
                    (_, None) => (0..n).map(|_| self.hoist_undefined()).collect(),
                };
                self.flow.span = span;
                self.initial.extend((first.0..).map(Cell).zip(values));
                Pointer::Cells(first, SmallVec::new())
            }
        };
        self.keep_pointer(pointer)
    }

    /// The place that is part `index` of another one.
    fn node(&mut self, of: u32, index: u32) -> u32 {
        let next = self.parts.len() as u32;
        *self.parts.entry((of, index)).or_insert(next)
    }

    /// OpVariable in a function: it holds its initializer, or nothing defined, at each call.
    pub(super) fn local(&mut self, at: u32, id: u32) {
        let Some(variable) = self.module.variable(id).copied() else { return };
        let n = self.size_of(variable.type_);
        let first = self.cells_of(at, n);
        let values = match variable.initializer {
            Some(initializer) => self.value(initializer),
            None if self.is(Planted::VariablesKeepTheirValue) => Cells::new(),
            None => self.undefined(n),
        };
        self.write_all(first, &values);
        self.vals[at as usize] = self.keep_pointer(Pointer::Cells(first, SmallVec::new()));
    }

    /// The cells of a phi or of a variable of a function.
    pub(super) fn cells_of(&mut self, at: u32, n: u32) -> Cell {
        let flow = &mut self.flow;
        *self.cells.entry(at).or_insert_with(|| flow.new_cells(at, n))
    }

    pub(super) fn write_all(&mut self, first: Cell, values: &[Value]) {
        for (cell, &value) in (first.0..).zip(values) {
            self.flow.write(Cell(cell), value);
        }
    }

    pub(super) fn read_all(&mut self, first: Cell, n: u32) -> Cells {
        (first.0..first.0 + n).map(|cell| self.flow.read(Cell(cell))).collect()
    }

    /// The place and the type of what an operand points to.
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
                Pointer::Cells(base, picks) if lumped => {
                    let n = 1 + picks.iter().map(|p| (p.count - 1) * p.stride).sum::<u32>();
                    let mut depends: SmallVec<[Value; 2]> = picks.iter().map(|p| p.index).collect();
                    depends.extend(known.is_none().then_some(index));
                    Pointer::Lump(base, n, depends)
                }
                Pointer::Cells(base, mut picks) => match known.and_then(|known| self.part(type_, known)) {
                    Some((_, offset)) => Pointer::Cells(Cell(base.0 + offset), picks),
                    None => {
                        let stride = self.size_of(part);
                        if stride > 0 && count > 0 {
                            picks.push(Pick { index, count, stride });
                        }
                        Pointer::Cells(base, picks)
                    }
                },
                Pointer::Lump(cell, n, mut depends) => {
                    depends.extend(known.is_none().then_some(index));
                    Pointer::Lump(cell, n, depends)
                }
                Pointer::Memory { mut memory, mut depends, mut node, aliased, image } => {
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
                    Pointer::Memory { memory, depends, node, aliased, image }
                }
            };
            type_ = part;
        }
        Ok(self.keep_pointer(pointer))
    }

    /// The offsets that indices may lead to.
    fn offsets(&self, picks: &[Pick]) -> SmallVec<[u32; 8]> {
        let mut offsets: SmallVec<[u32; 8]> = smallvec::smallvec![0];
        for pick in picks {
            offsets = (0..pick.count).flat_map(|i| offsets.iter().map(move |o| o + i * pick.stride)).collect();
        }
        offsets
    }

    /// What is at the place.
    pub(super) fn load(&mut self, pointer: &Pointer, type_: u32) -> Cells {
        let n = self.size_of(type_);
        match pointer {
            Pointer::Cells(base, picks) if picks.is_empty() => self.read_all(*base, n),
            Pointer::Cells(base, picks) => {
                let offsets = self.offsets(picks);
                (0..n)
                    .map(|k| {
                        let mut operands: Cells = picks.iter().map(|p| p.index).collect();
                        if self.is(Planted::DynamicIndexIsIgnored) {
                            operands.clear();
                        }
                        for offset in &offsets {
                            operands.push(self.flow.read(Cell(base.0 + offset + k)));
                        }
                        self.flow.pure(Pure::Other(0), &operands)
                    })
                    .collect()
            }
            Pointer::Lump(cell, cells, depends) => {
                let mut operands: Cells = depends.iter().copied().collect();
                operands.extend(self.read_all(*cell, *cells));
                self.mixed(&operands, n)
            }
            Pointer::Memory { memory, depends, node, image, .. } => {
                let fixed = *memory == Memory::Constant && depends.is_empty() && *node != NONE;
                if let (true, Some(&val)) = (fixed, self.held.get(node)) {
                    return self.cells(val);
                }
                let mut cells = self.loaded(*memory, depends, type_);
                if let (Type::Image(of), true) = (self.type_(type_), *image)
                    && of.usage != 1
                    && !self.is(Planted::StorageImagesAreUniform)
                {
                    let text = self.text("what is read from a storage image, which other invocations may change");
                    cells[1] = self.hoist(Def::Varying(text, u32::MAX));
                }
                if fixed {
                    let val = self.keep(&cells);
                    self.held.insert(*node, val);
                }
                cells
            }
        }
    }

    /// Stores a value at the place.
    pub(super) fn store(&mut self, pointer: &Pointer, values: &[Value]) {
        match pointer {
            Pointer::Cells(base, picks) if picks.is_empty() => self.write_all(*base, values),
            Pointer::Cells(base, picks) => {
                let first = if self.is(Planted::StoresHitFirstElement) { 1 } else { usize::MAX };
                for offset in self.offsets(picks).into_iter().take(first) {
                    for (k, &value) in (0..).zip(values) {
                        let cell = Cell(base.0 + offset + k);
                        let mut operands: Cells = picks.iter().map(|p| p.index).collect();
                        operands.push(self.flow.read(cell));
                        operands.push(value);
                        let blended = self.flow.pure(Pure::Other(0), &operands);
                        self.flow.write(cell, blended);
                    }
                }
            }
            Pointer::Lump(cell, cells, depends) => {
                for at in cell.0..cell.0 + cells {
                    let mut operands: Cells = depends.iter().copied().collect();
                    if !self.is(Planted::LumpsAreOverwritten) {
                        operands.push(self.flow.read(Cell(at)));
                    }
                    operands.extend_from_slice(values);
                    let blended = self.flow.pure(Pure::Other(0), &operands);
                    self.flow.write(Cell(at), blended);
                }
            }
            Pointer::Memory { .. } => {}
        }
    }

    /// What depends on the address alone, as the length of a runtime array does.
    pub(super) fn of_address(&mut self, pointer: &Pointer, n: u32) -> Cells {
        let depends = pointer.depends();
        match depends.is_empty() {
            true => (0..n).map(|_| self.hoist(Def::Uniform(u32::MAX))).collect(),
            false => self.mixed(&depends, n),
        }
    }
}

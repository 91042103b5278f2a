//! Ids as values: constants, composites, and the types with a scalar for each part.

use super::table::Memory;
use super::{Lower, MAX_CELLS, Planted, Scalars, Val};

use crate::spirv::types::Type;
use crate::text::deep;
use crate::uniformity::flow::{Def, Pure, Value};
use rspirv::spirv::Op;
use smallvec::smallvec;

impl Lower<'_, '_> {
    pub(super) fn type_(&self, id: u32) -> Type {
        self.module.types().get(id).unwrap_or(Type::Void)
    }

    /// The number of scalars of a value of a type, counting one for a lump. An image has two: the
    /// handle and its contents.
    pub(super) fn size_of(&mut self, id: u32) -> u32 {
        if let Some(&size) = self.sizes.get(&id) {
            return size;
        }
        let full_size = deep(|| self.full_size(id));
        let lumped = full_size.is_none_or(|size| size > MAX_CELLS);
        let size = if lumped { 1 } else { full_size.unwrap_or(1) };
        self.sizes.insert(id, size);
        self.lumped.insert(id, lumped);
        size
    }

    /// The number of scalars without a limit. `None` if it is not known.
    fn full_size(&mut self, id: u32) -> Option<u32> {
        match self.type_(id) {
            Type::Void => Some(0),
            Type::Vector { count, .. } => Some(u32::from(count)),
            Type::Matrix { column, count } => Some(self.size_of(column) * u32::from(count)),
            Type::Array { element, length, .. } => {
                let length = u32::try_from(length).ok().filter(|_| !self.length_is_unknown(id))?;
                self.size_of(element).checked_mul(length)
            }
            Type::RuntimeArray { .. } => None,
            Type::Struct { count, .. } => {
                let mut size = 0u32;
                for member in 0..count {
                    let part = self.module.types().part(id, u64::from(member))?.0;
                    size = size.checked_add(self.size_of(part)).filter(|size| *size <= MAX_CELLS)?;
                }
                Some(size)
            }
            Type::Image(_) | Type::Sampler | Type::SampledImage { .. } => Some(2),
            _ => Some(1),
        }
    }

    /// Whether the length of an array is a constant with an unknown value.
    fn length_is_unknown(&self, array: u32) -> bool {
        !self.shared.unknown.is_empty()
            && self
                .module
                .instruction(array)
                .is_some_and(|i| self.shared.operands(i).get(1).is_some_and(|id| self.shared.unknown.contains(id)))
    }

    /// Whether a value of a type has one scalar for all of its parts.
    pub(super) fn is_lumped(&mut self, id: u32) -> bool {
        self.size_of(id);
        self.lumped.get(&id).copied().unwrap_or(true)
    }

    /// The type of a part, and its position among the scalars of a value that is not a lump. `None`
    /// if there is no such part.
    pub(super) fn part(&mut self, id: u32, index: u32) -> Option<(u32, u32)> {
        let part = self.module.types().part(id, u64::from(index))?.0;
        let offset = match self.type_(id) {
            Type::Struct { .. } => {
                let mut offset = 0;
                for before in 0..index {
                    let before = self.module.types().part(id, u64::from(before))?.0;
                    offset += self.size_of(before);
                }
                offset
            }
            _ => index.checked_mul(self.size_of(part))?,
        };
        Some((part, offset))
    }

    /// Whether it is a 32-bit integer or float, or a Boolean. The bits of its constants are known.
    pub(super) fn is_word(&self, type_: u32) -> bool {
        match self.type_(type_) {
            Type::Bool => true,
            Type::Int { width, .. } | Type::Float { width } => width == 32 || self.is(Planted::NarrowIntegersFold),
            _ => false,
        }
    }

    /// Whether the scalars of a value are 32-bit integers or Booleans.
    pub(super) fn is_integer(&self, type_: u32) -> bool {
        match self.type_(type_) {
            Type::Vector { component, .. } => self.is_word(component) && !matches!(self.type_(component), Type::Float { .. }),
            Type::Float { .. } => false,
            _ => self.is_word(type_),
        }
    }

    pub(super) fn add_cells(&mut self, cells: &[Value]) -> Val {
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(cells);
        Val::Cells(start, cells.len() as u32)
    }

    pub(super) fn set(&mut self, instruction: u32, cells: &[Value]) {
        let val = self.add_cells(cells);
        self.vals[instruction as usize] = val;
    }

    pub(super) fn cells(&self, val: Val) -> Scalars {
        match val {
            Val::Cells(start, n) => self.arena[start as usize..(start + n) as usize].iter().copied().collect(),
            Val::None | Val::Pointer(_) => Scalars::new(),
        }
    }

    /// The lowered form of an id.
    pub(super) fn val(&mut self, id: u32) -> Val {
        let Some(at) = self.module.definition(id) else { return Val::None };
        if let Val::None = self.vals[at] {
            let instruction = self.module.instructions()[at];
            let val = match instruction.op {
                Op::Variable => self.global(id),
                _ if self.module.is_constant(id) => {
                    let cells = self.constant(id);
                    self.add_cells(&cells)
                }
                _ => Val::None,
            };
            self.vals[at] = val;
        }
        self.vals[at]
    }

    /// The scalars of a value.
    pub(super) fn value(&mut self, id: u32) -> Scalars {
        match self.val(id) {
            val @ Val::Cells(..) => self.cells(val),
            // Cannot happen in a module that load accepts.
            Val::None | Val::Pointer(_) => {
                let n = self.module.type_of(id).map_or(1, |type_| self.size_of(type_));
                self.varying("a value that is not known", n)
            }
        }
    }

    /// The only scalar of a value, or a function of all its scalars.
    pub(super) fn scalar(&mut self, id: u32) -> Value {
        let cells = self.value(id);
        match cells[..] {
            [one] => one,
            _ => self.flow.pure(Pure::Other(0), &cells),
        }
    }

    /// An undefined value. It need not be the same in all invocations.
    pub(super) fn undefined(&mut self, n: u32) -> Scalars {
        if self.is(Planted::UndefinedIsUniform) {
            return (0..n).map(|_| self.flow.uniform(u32::MAX)).collect();
        }
        self.varying("an undefined value, which may differ", n)
    }

    fn constant(&mut self, id: u32) -> Scalars {
        let Some(i) = self.module.instruction(id).copied() else { return Scalars::new() };
        let n = self.size_of(i.result_type);
        if self.shared.unknown.contains(&id) {
            let bound = if self.type_(i.result_type) == Type::Bool { 1 } else { u32::MAX };
            return (0..n).map(|_| self.hoist(Def::Uniform(bound))).collect();
        }
        match i.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::Constant => {
                let def = match self.module.constant_value(id) {
                    Some(bits) if self.is_word(i.result_type) => Def::Constant(bits as u32),
                    _ => Def::Uniform(u32::MAX),
                };
                smallvec![self.hoist(def)]
            }
            Op::ConstantNull => {
                let mut cells = Scalars::new();
                deep(|| self.null(i.result_type, &mut cells));
                cells
            }
            Op::ConstantComposite if self.is_lumped(i.result_type) => {
                let undefined = deep(|| self.has_undefined(id));
                smallvec![if undefined { self.hoist_undefined() } else { self.hoist(Def::Uniform(u32::MAX)) }]
            }
            Op::ConstantComposite => {
                let mut cells = Scalars::new();
                for &part in self.shared.operands(&i) {
                    let val = deep(|| self.val(part));
                    cells.extend(self.cells(val));
                }
                cells
            }
            _ => (0..n).map(|_| self.hoist_undefined()).collect(),
        }
    }

    pub(super) fn hoist_undefined(&mut self) -> Value {
        if self.is(Planted::UndefinedIsUniform) {
            return self.hoist(Def::Uniform(u32::MAX));
        }
        let text = self.text("an undefined value, which may differ");
        self.hoist(Def::Varying(text, u32::MAX))
    }

    /// Whether a part of a constant is undefined.
    fn has_undefined(&mut self, id: u32) -> bool {
        if let Some(&known) = self.undefined.get(&id) {
            return known;
        }
        let Some(i) = self.module.instruction(id).copied() else { return true };
        let undefined = match i.op {
            Op::Undef => true,
            Op::ConstantComposite => {
                let mut any = false;
                for &part in self.shared.operands(&i) {
                    any |= deep(|| self.has_undefined(part));
                }
                any
            }
            _ => false,
        };
        self.undefined.insert(id, undefined);
        undefined
    }

    fn null(&mut self, type_: u32, cells: &mut Scalars) {
        let n = self.size_of(type_);
        if self.is_lumped(type_) {
            cells.push(self.hoist(Def::Uniform(u32::MAX)));
            return;
        }
        match self.module.types().parts(type_) {
            Some(parts) if n > 0 => {
                for at in 0..parts {
                    if let Some((part, _)) = self.module.types().part(type_, at) {
                        deep(|| self.null(part, cells));
                    }
                }
            }
            _ => {
                let def = if self.is_word(type_) { Def::Constant(0) } else { Def::Uniform(u32::MAX) };
                for _ in 0..n {
                    cells.push(self.hoist(def.clone()));
                }
            }
        }
    }

    /// Loads from memory at an address that depends on these values. For an opaque type, the handle
    /// and an image's contents.
    pub(super) fn load_memory(&mut self, memory: Memory, depends: &[Value], type_: u32) -> Scalars {
        let n = self.size_of(type_);
        let uniform = match memory {
            Memory::Constant => true,
            Memory::Buffer => self.is(Planted::StorageIsUniform),
            Memory::Workgroup => self.is(Planted::WorkgroupIsUniform),
            Memory::Other => false,
        };
        match uniform {
            true if depends.is_empty() => (0..n).map(|_| self.hoist(Def::Uniform(u32::MAX))).collect(),
            true => self.flow.values_from_all(depends, n),
            false => self.varying(super::table::text(memory), n),
        }
    }
}

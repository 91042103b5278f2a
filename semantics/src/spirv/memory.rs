//! M of report §3, for the reference: ids to values, labels to instruction vectors, variables to contents.

use std::rc::Rc;

use rspirv::spirv::Decoration as Decorate;

use super::grammar::Op;
use super::module::{Interface, Module, Variable, WHOLE};
use super::persistent::Persistent;
use super::value::{self, Control, Inputs, Outputs};
use super::words::Instruction;
use crate::number::{Lane, Lanes};

/// What an id stands for at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The components of a scalar, vector or matrix of floats or Booleans.
    Lanes(Lanes),
    /// An integer, by its type's signedness.
    Integer(i64),
    /// A pointer.
    Pointer(Pointer),
}

/// A pointer: a place within a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The variable.
    pub variable: u32,
    /// The type of what is pointed to.
    pub pointee: u32,
    /// Bytes from the variable's beginning; components count 4 where there is no layout.
    pub offset: u64,
    /// Bytes from one column to the next, within a matrix.
    pub matrix_stride: u64,
}

impl Pointer {
    /// How many parts the pointee has.
    pub fn parts(&self, module: &Module, inputs: &Inputs<'_>) -> Option<u64> {
        let type_ = module.instruction(self.pointee)?;
        let operands = type_.operands(module.words());
        match type_.op {
            Op::TypeStruct => Some(operands.len() as u64),
            Op::TypeVector | Op::TypeMatrix => Some(u64::from(operands[1])),
            Op::TypeArray => module.integer(operands[1]).map(|length| length as u64),
            Op::TypeRuntimeArray => {
                let Interface::Buffer(set, binding) = module.interface(self.variable)? else { return None };
                let room = (inputs.buffer(set, binding)?.len() as u64).saturating_sub(self.offset);
                let stride = module.decoration(self.pointee, WHOLE, Decorate::ArrayStride)?;
                Some(room.checked_div(u64::from(stride)).unwrap_or(0))
            }
            _ => None,
        }
    }

    /// The pointer to part `index`, which the caller knows to be in bounds.
    pub fn part(&self, module: &Module, index: u64) -> Option<Pointer> {
        let type_ = module.instruction(self.pointee)?;
        let operands = type_.operands(module.words());
        let mut next = *self;
        let stride = match type_.op {
            Op::TypeStruct => {
                let member = index as u32;
                next.pointee = *operands.get(member as usize)?;
                next.matrix_stride = u64::from(module.decoration(self.pointee, member, Decorate::MatrixStride).unwrap_or(0));
                next.offset += u64::from(module.decoration(self.pointee, member, Decorate::Offset).unwrap_or(0));
                return Some(next);
            }
            Op::TypeArray | Op::TypeRuntimeArray => u64::from(module.decoration(self.pointee, WHOLE, Decorate::ArrayStride)?),
            Op::TypeMatrix => self.matrix_stride,
            Op::TypeVector => 4,
            _ => return None,
        };
        next.pointee = operands[0];
        next.offset += index * stride;
        Some(next)
    }

    /// M(M(a)): the components that a pointer to what is read-only points to.
    pub fn load(&self, module: &Module, inputs: &Inputs<'_>) -> Option<Lanes> {
        let shape = module.shape(self.pointee);
        let at = |column: u64, row: u64| self.offset + column * self.matrix_stride + 4 * row;
        let positions = (0..u64::from(shape.columns)).flat_map(|c| (0..u64::from(shape.rows)).map(move |r| (c, r)));
        let bytes = match module.interface(self.variable)? {
            Interface::FragCoord => None,
            Interface::Buffer(set, binding) => Some(inputs.buffer(set, binding)?),
            Interface::Output(_) | Interface::Private => return None,
        };
        positions
            .map(|(column, row)| {
                let offset = at(column, row) as usize;
                match bytes {
                    None => inputs.frag_coord.get(offset / 4).map(|&x| Lane::fragment_input(x)),
                    Some(bytes) => bytes.get(offset..offset + 4).map(|_| value::float_at(bytes, offset)),
                }
            })
            .collect()
    }
}

#[derive(Clone, Debug, Default)]
enum Stored<'m> {
    #[default]
    Nothing,
    Block(&'m [Instruction]),
    Value(Rc<Value>),
}

/// M: cloning it is cheap, and a write shows in no older copy.
#[derive(Clone, Debug)]
pub struct Memory<'m> {
    /// By the index of the defining instruction.
    ids: Persistent<Stored<'m>>,
    /// The contents of private variables, and of output variables that were stored to.
    contents: Rc<Vec<(u32, Lanes)>>,
}

impl<'m> Memory<'m> {
    /// All constants, variables and blocks of the module.
    pub fn load(module: &'m Module) -> Memory<'m> {
        let mut ids = Persistent::new(module.instructions().len());
        let mut contents = Vec::new();
        for (index, i) in module.instructions().iter().enumerate() {
            let value = if module.is_lane_constant(index) {
                let mut lanes = Lanes::new();
                module.constant_lanes(i, &mut lanes);
                Value::Lanes(lanes)
            } else if let Some(integer) = module.integer(i.result).filter(|_| i.is(Op::Constant)) {
                Value::Integer(integer)
            } else if i.is(Op::Variable) {
                let pointee = module.pointer_type(i.result_type).map_or(0, |(_, pointee)| pointee);
                contents.extend(module.initial_lanes(i.result).map(|lanes| (i.result, lanes)));
                Value::Pointer(Pointer { variable: i.result, pointee, offset: 0, matrix_stride: 0 })
            } else if i.is(Op::Label) {
                if let Some(block) = module.block(i.result) {
                    ids.set(index, Stored::Block(module.code(block)));
                }
                continue;
            } else {
                continue;
            };
            ids.set(index, Stored::Value(Rc::new(value)));
        }
        Memory { ids, contents: Rc::new(contents) }
    }

    /// M(M(a)): the components that a pointer points to.
    pub fn load_through(&self, pointer: &Pointer, module: &Module, inputs: &Inputs<'_>) -> Option<Lanes> {
        match module.interface(pointer.variable)? {
            Interface::Private => self.contents.iter().find(|(v, _)| *v == pointer.variable).map(|(_, lanes)| lanes.clone()),
            _ => pointer.load(module, inputs),
        }
    }

    /// M(id), where it is a value.
    pub fn value(&self, module: &Module, id: u32) -> Option<Rc<Value>> {
        match self.ids.get(module.definition(id)?)? {
            Stored::Value(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// M(label), where it is an instruction vector.
    pub fn block(&self, module: &Module, label: u32) -> Option<&'m [Instruction]> {
        match self.ids.get(module.definition(label)?)? {
            Stored::Block(code) => Some(code),
            _ => None,
        }
    }

    /// M[id ↦ value].
    pub fn define(&mut self, module: &Module, id: u32, value: Value) {
        if let Some(index) = module.definition(id) {
            self.ids.set(index, Stored::Value(Rc::new(value)));
        }
    }

    /// M[variable ↦ lanes].
    pub fn store(&mut self, variable: u32, lanes: Lanes) {
        let contents = Rc::make_mut(&mut self.contents);
        match contents.iter_mut().find(|(v, _)| *v == variable) {
            Some((_, old)) => *old = lanes,
            None => contents.push((variable, lanes)),
        }
    }

    /// What the outputs hold.
    pub fn outputs(&self, module: &Module, control: Control, steps: u64) -> Outputs {
        let mut outputs = Outputs { steps, ..Outputs::default() };
        for &Variable { id, .. } in &module.variables {
            let Some(Interface::Output(location)) = module.interface(id) else { continue };
            match self.contents.iter().find(|(v, _)| *v == id) {
                None => outputs.unwritten.push(location),
                Some((_, lanes)) => {
                    let mut lanes = lanes.clone();
                    control.mark(&mut lanes);
                    outputs.written.push((location, lanes));
                }
            }
        }
        outputs.written.sort_by_key(|(location, _)| *location);
        outputs.unwritten.sort_unstable();
        outputs
    }
}

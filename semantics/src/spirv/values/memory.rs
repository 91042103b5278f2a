//! M of report §3, for the reference: ids to values, labels to instruction vectors, an invocation's
//! own variables to contents.
//!
//! Contents are flat scalars: a variable in Function, Private, Input or Output has as many as its
//! type, one after the other; one that was never written is undefined. Memory that invocations
//! share is not here but in [`crate::spirv::shared`].

use std::rc::Rc;

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::FxHashMap;

use crate::number::Lanes;
use crate::spirv::grammar::Op;
use crate::spirv::module::{Interface, Module, Variable, WHOLE};
use crate::spirv::persistent::Persistent;
use crate::spirv::types::{Address, Type};
use crate::spirv::value::{Control, Origin, Outputs, Scalar, Scalars};
use crate::spirv::words::Instruction;
use crate::undefined::Unspecified;

/// What an id stands for at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The scalars of a value of any type but pointers.
    Scalars(Scalars),
    /// A pointer.
    Pointer(Pointer),
    /// A pointer to nothing: null, or undefined with that origin.
    Nowhere(Option<Origin>),
    /// An image, a sampler or a sampled image.
    Descriptor(Descriptor),
}

/// What a value of an opaque type is: places among the images and samplers that are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// The image, of an image or a sampled image.
    pub image: Option<u32>,
    /// The sampler, of a sampler or a sampled image.
    pub sampler: Option<u32>,
}

/// A pointer: a place within a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The variable.
    pub variable: u32,
    /// Whether its memory has an explicit layout: then offsets are bytes, otherwise scalars.
    pub explicit: bool,
    /// Whether no member on the way is decorated NonWritable.
    pub writable: bool,
    /// The place, and the type of what is there.
    pub address: Address,
    /// The array that it is an element of.
    pub element: Element,
}

/// Which element of which array a pointer is to: the innermost that an access chain indexed last.
/// What is no element of an array is the only one of an array of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Where element 0 is: an offset in the variable.
    pub first: u64,
    /// The number of the element; of one past the end, that of the elements.
    pub index: u64,
    /// How many elements there are; the greatest number where robustness allows any.
    pub count: u64,
}

impl Element {
    /// What stands alone at that offset.
    pub fn alone(first: u64) -> Element {
        Element { first, index: 0, count: 1 }
    }

    /// Whether it is one past the end.
    pub fn is_past(&self) -> bool {
        self.index >= self.count
    }
}

/// Whether memory of that storage class belongs to one invocation alone.
pub fn is_own(class: StorageClass) -> bool {
    matches!(class, StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output)
}

impl Pointer {
    /// The pointer that a variable is.
    pub fn to(module: &Module, variable: &Variable) -> Pointer {
        let constant = matches!(variable.class, StorageClass::Input | StorageClass::PushConstant | StorageClass::UniformConstant);
        let uniform = variable.class == StorageClass::Uniform && {
            let mut block = variable.type_;
            while let Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) = module.types().get(block) {
                block = element;
            }
            module.decoration(block, WHOLE, Decoration::BufferBlock).is_none()
        };
        let decorated = module.decoration(variable.id, WHOLE, Decoration::NonWritable).is_some();
        Pointer {
            variable: variable.id,
            explicit: module.has_layout(variable),
            writable: !(constant || uniform || decorated),
            address: Address::whole(variable.type_),
            element: Element::alone(0),
        }
    }

    /// The pointer to part `index`; `None` where there is no such part. Of a runtime array, the
    /// caller knows the length, and which element of an array the part is.
    pub fn part(&self, module: &Module, index: u64) -> Option<Pointer> {
        let types = module.types();
        let address = match self.explicit {
            true => types.address(self.address, index)?,
            false => {
                let (type_, first) = types.part(self.address.type_, index)?;
                Address { offset: self.address.offset.checked_add(first)?, ..Address::whole(type_) }
            }
        };
        let member = || match types.get(self.address.type_) {
            Some(Type::Struct { .. }) => module.decoration(self.address.type_, index as u32, Decoration::NonWritable).is_some(),
            _ => false,
        };
        let element = Element::alone(address.offset);
        Some(Pointer { address, writable: self.writable && !member(), element, ..*self })
    }

    /// The pointer to element `index` of its array, or to one past the end, by how far the type
    /// `base` has elements apart; without layout, by their scalars.
    pub fn moved(&self, module: &Module, base: u32, index: u64) -> Pointer {
        let stride = match self.explicit {
            true => module.pointer_stride(base).map_or(0, u64::from),
            false => module.types().scalars(self.address.type_),
        };
        let element = Element { index, ..self.element };
        let offset = element.first.wrapping_add(index.wrapping_mul(stride));
        Pointer { address: Address { offset, ..self.address }, element, ..*self }
    }

    /// The pointer to element `index` of `count` of the array that this points to.
    pub fn element(&self, module: &Module, index: u64, count: u64) -> Option<Pointer> {
        let pointer = self.part(module, index)?;
        let first = self.part(module, 0)?.address.offset;
        Some(Pointer { element: Element { first, index, count }, ..pointer })
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
    /// The contents of the invocation's own variables.
    contents: Persistent<Option<Scalar>>,
    /// Where a variable's contents begin.
    bases: Rc<FxHashMap<u32, usize>>,
    /// By variable, the pointer that one of the invocation's own holds.
    held: Rc<FxHashMap<u32, Rc<Value>>>,
}

impl<'m> Memory<'m> {
    /// All constants, module-scope variables and blocks of the module. A part of a constant that is
    /// undefined was made by its OpUndef and that invocation.
    pub fn load(module: &'m Module, invocation: u32) -> Memory<'m> {
        let mut bases = FxHashMap::default();
        let mut end = 0;
        for variable in module.variables().iter().filter(|v| is_own(v.class)) {
            bases.insert(variable.id, end);
            end += module.types().scalars(variable.type_) as usize;
        }
        let ids = Persistent::new(module.instructions().len());
        let mut memory = Memory { ids, contents: Persistent::new(end), bases: Rc::new(bases), held: Rc::default() };
        for (index, i) in module.instructions().iter().enumerate() {
            if i.is(Op::Label) {
                if let Some(block) = module.block(i.result) {
                    memory.ids.set(index, Stored::Block(module.code(block)));
                }
            } else if module.is_constant(i.result) {
                let value = match module.pointer_type(i.result_type) {
                    Some(_) => Value::Nowhere(None),
                    None => Value::Scalars(constant(module, i, invocation)),
                };
                memory.ids.set(index, Stored::Value(Rc::new(value)));
            }
        }
        for variable in module.globals() {
            memory.define(module, variable.id, Value::Pointer(Pointer::to(module, variable)));
            if is_own(variable.class) {
                memory.activate(module, variable);
            }
        }
        memory
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

    /// M[id ↦ M(other)].
    pub fn share(&mut self, module: &Module, id: u32, value: Rc<Value>) {
        if let Some(index) = module.definition(id) {
            self.ids.set(index, Stored::Value(value));
        }
    }

    /// The pointer that a variable of the invocation's own holds; one that was never stored is made
    /// undefined by the instruction `at`.
    pub fn held(&self, variable: u32, at: u32, invocation: u32) -> Rc<Value> {
        let unwritten = Origin { kind: Unspecified::Uninitialised, instruction: at, invocation };
        self.held.get(&variable).cloned().unwrap_or_else(|| Rc::new(Value::Nowhere(Some(unwritten))))
    }

    /// A variable of the invocation's own holds that pointer.
    pub fn hold(&mut self, variable: u32, pointer: Rc<Value>) {
        Rc::make_mut(&mut self.held).insert(variable, pointer);
    }

    /// A variable of the invocation's own begins: it holds its initializer, or what is undefined.
    pub fn activate(&mut self, module: &Module, variable: &Variable) {
        if module.pointer_type(variable.type_).is_some() {
            match variable.initializer {
                Some(_) => self.hold(variable.id, Rc::new(Value::Nowhere(None))),
                None if self.held.contains_key(&variable.id) => _ = Rc::make_mut(&mut self.held).remove(&variable.id),
                None => {}
            }
            return;
        }
        let Some(&base) = self.bases.get(&variable.id) else { return };
        self.contents.reset(base..base + module.types().scalars(variable.type_) as usize);
        if let Some(Value::Scalars(scalars)) = variable.initializer.and_then(|id| self.value(module, id)).as_deref() {
            scalars.iter().enumerate().for_each(|(i, &scalar)| self.contents.set(base + i, Some(scalar)));
        }
    }

    /// The scalars that a pointer into the invocation's own memory points to; what nothing has
    /// written is made undefined by the instruction `at`.
    pub fn load_own(&self, module: &Module, pointer: &Pointer, at: u32, invocation: u32) -> Option<Scalars> {
        let first = self.bases.get(&pointer.variable)?.checked_add(pointer.address.offset as usize)?;
        let unwritten = Scalar::undefined(Origin { kind: Unspecified::Uninitialised, instruction: at, invocation });
        let count = module.types().scalars(pointer.address.type_) as usize;
        (first..first + count).map(|at| Some(self.contents.get(at)?.unwrap_or(unwritten))).collect()
    }

    /// M[pointer ↦ scalars], in the invocation's own memory.
    pub fn store_own(&mut self, pointer: &Pointer, scalars: &[Scalar]) {
        let Some(&base) = self.bases.get(&pointer.variable) else { return };
        let first = base + pointer.address.offset as usize;
        scalars.iter().enumerate().for_each(|(i, &scalar)| self.contents.set(first + i, Some(scalar)));
    }

    /// What the outputs hold.
    pub fn outputs(&self, module: &Module, control: Control, steps: u64) -> Outputs {
        let mut outputs = Outputs { steps, ..Outputs::default() };
        for variable in module.globals() {
            let Some(Interface::Output(location)) = module.interface(variable.id) else { continue };
            let base = self.bases.get(&variable.id).copied().unwrap_or_default();
            let all = base..base + module.types().scalars(variable.type_) as usize;
            let lanes: Option<Lanes> = all.map(|at| self.contents.get(at).copied().flatten().map(Scalar::lane)).collect();
            match lanes {
                None => outputs.unwritten.push(location),
                Some(mut lanes) => {
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

/// The scalars of a constant.
fn constant(module: &Module, i: &Instruction, invocation: u32) -> Scalars {
    let mut flat = Vec::new();
    module.constant_scalars(i.result, &mut flat);
    let mut scalars = Scalars::with_capacity(flat.len());
    let mut flat = flat.into_iter();
    module.types().visit_scalars(i.result_type, &mut |type_| {
        scalars.extend(flat.next().map(|constant| match constant.undefined {
            Some(instruction) => Scalar::undefined(Origin { kind: Unspecified::Undef, instruction, invocation }),
            None => exact(type_, constant.bits),
        }));
    });
    scalars
}

/// A constant, or an input that reaches the program bit for bit, of that type.
pub fn exact(type_: Type, bits: u64) -> Scalar {
    use crate::spirv::operation::Scalar as Component;
    let component = match type_ {
        Type::Bool => Component::Bool,
        Type::Int { width, signed } => Component::Int { width, signed },
        Type::Float { width } => Component::Float { width },
        _ => Component::Other,
    };
    Scalar::exact(component, bits)
}

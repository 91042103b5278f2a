//! M of report §3, in the reference engine. It maps ids to values, labels to instruction vectors,
//! and an invocation's own variables to contents.
//!
//! Contents are flat scalars. A variable in Function, Private, Input or Output has as many as its
//! type, in sequence. A scalar that was never written is undefined. Memory that invocations share
//! is in [`crate::spirv::shared`].

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

/// The run-time value of an id.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The scalars of a value of any type but a pointer or an opaque type.
    Scalars(Scalars),
    /// A pointer.
    Pointer(Pointer),
    /// A pointer to nothing: null, or undefined with an origin.
    Nowhere(Option<Origin>),
    /// An image, a sampler or a sampled image.
    Descriptor(Descriptor),
}

/// A value of an opaque type, as indices of bound images and samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// The index of the image, for an image or a sampled image.
    pub image: Option<u32>,
    /// The index of the sampler, for a sampler or a sampled image.
    pub sampler: Option<u32>,
}

/// A pointer to a place within a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The id of the variable.
    pub variable: u32,
    /// The index of its descriptor, if the variable is an array of descriptors: that of the
    /// innermost element, over all dimensions. 0 otherwise.
    pub descriptor: u32,
    /// Whether its memory has an explicit layout. Then offsets count bytes, otherwise scalars.
    pub explicit: bool,
    /// Whether writes are allowed: neither the variable nor a member on the way is read-only.
    pub writable: bool,
    /// The place, and the type of its contents.
    pub address: Address,
    /// The array element that it points to.
    pub element: Element,
}

/// An element of an array: of the innermost array that an access chain indexed last. A place
/// outside of arrays counts as the only element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The offset of element 0 in the variable.
    pub first: u64,
    /// The index of the element. One past the end, it equals `count`.
    pub index: u64,
    /// The number of elements, or the greatest integer if robustness allows any index.
    pub count: u64,
}

impl Element {
    /// The only element of an array at that offset.
    pub fn alone(first: u64) -> Element {
        Element { first, index: 0, count: 1 }
    }

    /// Whether this is one past the end.
    pub fn is_past(&self) -> bool {
        self.index >= self.count
    }
}

/// Whether each invocation has its own memory of that storage class.
pub fn is_own(class: StorageClass) -> bool {
    matches!(class, StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output)
}

impl Pointer {
    /// The pointer to a whole variable.
    pub fn to(module: &Module, variable: &Variable) -> Pointer {
        let constant = matches!(variable.class, StorageClass::Input | StorageClass::PushConstant | StorageClass::UniformConstant);
        let is_block = || module.decoration(module.resource_type(variable), WHOLE, Decoration::BufferBlock).is_none();
        let uniform = variable.class == StorageClass::Uniform && is_block();
        let decorated = module.decoration(variable.id, WHOLE, Decoration::NonWritable).is_some();
        Pointer {
            variable: variable.id,
            descriptor: 0,
            explicit: module.has_layout(variable),
            writable: !(constant || uniform || decorated),
            address: Address::whole(variable.type_),
            element: Element::alone(0),
        }
    }

    /// The pointer to part `index`. `None` if there is no such part. The caller checks the length
    /// of a runtime array, and sets the element if the part is one.
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

    /// Whether this points to an array of descriptors.
    pub fn is_to_descriptors(&self, module: &Module) -> bool {
        use StorageClass::{StorageBuffer, Uniform, UniformConstant};
        module.is_descriptor_array(self.address.type_)
            && module.variable(self.variable).is_some_and(|v| matches!(v.class, UniformConstant | Uniform | StorageBuffer))
    }

    /// The pointer to element `index` of the array of descriptors that this points to, which has
    /// `count` elements. `None` if there are too many descriptors to count.
    pub fn of_descriptor(&self, element: u32, index: u64, count: u64) -> Option<Pointer> {
        let descriptor = u64::from(self.descriptor).checked_mul(count)?.checked_add(index)?;
        Some(Pointer { descriptor: descriptor.try_into().ok()?, address: Address::whole(element), ..*self })
    }

    /// The pointer to element `index` of its array, or to one past the end. The stride is that of
    /// the pointer type `base`. Without layout, it is the number of scalars of an element.
    pub fn moved(&self, module: &Module, base: u32, index: u64) -> Pointer {
        let stride = match self.explicit {
            true => module.pointer_stride(base).map_or(0, u64::from),
            false => module.types().scalars(self.address.type_),
        };
        let element = Element { index, ..self.element };
        let offset = element.first.wrapping_add(index.wrapping_mul(stride));
        Pointer { address: Address { offset, ..self.address }, element, ..*self }
    }

    /// The pointer to element `index` of the array that this points to, which has `count` elements.
    pub fn element(&self, module: &Module, index: u64, count: u64) -> Option<Pointer> {
        let pointer = self.part(module, index)?;
        let first = self.part(module, 0)?.address.offset;
        Some(Pointer { element: Element { first, index, count }, ..pointer })
    }
}

#[derive(Clone, Debug, Default)]
enum Entry<'m> {
    #[default]
    Nothing,
    Block(&'m [Instruction]),
    Value(Rc<Value>),
}

/// M. Cloning is cheap, and a write does not change older copies.
#[derive(Clone, Debug)]
pub struct Memory<'m> {
    /// By index of the defining instruction: the value or the block that an id stands for.
    ids: Persistent<Entry<'m>>,
    /// The scalars of the invocation's own variables, in sequence. `None` if never written.
    contents: Persistent<Option<Scalar>>,
    /// By variable: the index of its first scalar in `contents`.
    bases: Rc<FxHashMap<u32, usize>>,
    /// By variable of the invocation's own: the pointer that it holds, if its type is a pointer.
    held: Rc<FxHashMap<u32, Rc<Value>>>,
}

impl<'m> Memory<'m> {
    /// M at the start: all constants, module-scope variables and blocks. An undefined part of a
    /// constant has its OpUndef and `invocation` as origin.
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
                    memory.ids.set(index, Entry::Block(module.code(block)));
                }
            } else if module.is_constant(i.result) {
                let value = match module.pointer_type(i.result_type) {
                    Some(_) => Value::Nowhere(None),
                    None => Value::Scalars(constant(module, i, invocation)),
                };
                memory.ids.set(index, Entry::Value(Rc::new(value)));
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

    /// M(id), if it is a value.
    pub fn value(&self, module: &Module, id: u32) -> Option<Rc<Value>> {
        match self.ids.get(module.definition(id)?)? {
            Entry::Value(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// M(label), if it is an instruction vector.
    pub fn block(&self, module: &Module, label: u32) -> Option<&'m [Instruction]> {
        match self.ids.get(module.definition(label)?)? {
            Entry::Block(code) => Some(code),
            _ => None,
        }
    }

    /// M[id ↦ value].
    pub fn define(&mut self, module: &Module, id: u32, value: Value) {
        if let Some(index) = module.definition(id) {
            self.ids.set(index, Entry::Value(Rc::new(value)));
        }
    }

    /// M[id ↦ M(other)].
    pub fn share(&mut self, module: &Module, id: u32, value: Rc<Value>) {
        if let Some(index) = module.definition(id) {
            self.ids.set(index, Entry::Value(value));
        }
    }

    /// The pointer that a variable of the invocation's own holds. If none was stored, it is
    /// undefined, with the instruction `at` as origin.
    pub fn held(&self, variable: u32, at: u32, invocation: u32) -> Rc<Value> {
        let unwritten = Origin { kind: Unspecified::Uninitialised, instruction: at, invocation };
        self.held.get(&variable).cloned().unwrap_or_else(|| Rc::new(Value::Nowhere(Some(unwritten))))
    }

    /// Stores a pointer in a variable of the invocation's own.
    pub fn hold(&mut self, variable: u32, pointer: Rc<Value>) {
        Rc::make_mut(&mut self.held).insert(variable, pointer);
    }

    /// Starts the lifetime of a variable that the invocation owns. The variable holds its
    /// initializer. Without one it is undefined.
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

    /// The scalars at a pointer into the invocation's own memory. A scalar that was never written
    /// is undefined, with the instruction `at` as origin.
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

    /// The contents of the outputs.
    pub fn outputs(&self, module: &Module, control: Control, steps: u64) -> Outputs {
        let mut outputs = Outputs { steps, ..Outputs::default() };
        for variable in module.globals() {
            let Some(Interface::Output(location)) = module.interface(variable.id) else { continue };
            let base = self.bases.get(&variable.id).copied().unwrap_or_default();
            let range = base..base + module.types().scalars(variable.type_) as usize;
            let lanes: Option<Lanes> = range.map(|at| self.contents.get(at).copied().flatten().map(Scalar::lane)).collect();
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

/// The scalar of a constant, or of an input that reaches the program bit for bit.
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

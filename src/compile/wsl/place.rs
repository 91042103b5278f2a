//! Left-values as objects and paths (seed 003 "Indexing operator", of variables), loads and stores.
//!
//! With SPIR-V's logical addressing, a pointer to a part of an object cannot be passed on. So the
//! compiler knows each pointer as an object and a path to a part of it. Only the indices on the
//! path are values of the module.

use super::emit::{Id, Operands};
use super::{Compiler, Construct, Done};
use rspirv::spirv::{GlslStd450Op as Glsl, Op, StorageClass};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId, ValueType};
use smallstep_semantics::wsl::typing::program::{Access, ExprId, Form, StoreId};
use smallvec::SmallVec;

/// The longest array that is converted between its buffer type and its variable type element by
/// element. Longer arrays are converted in a loop.
const SHORT: u32 = 16;

/// An object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Root {
    /// The variable, or the parameter that points to it.
    pub id: Id,
    /// Its storage class.
    pub class: StorageClass,
    /// The type of its contents. For a buffer, the type of an element.
    pub ty: TypeId,
    /// Whether it is the block of a storage buffer.
    pub buffer: bool,
}

/// A step from an object to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// A field of a structure, by its number in the program.
    Field(u32),
    /// An element. The index is in bounds.
    Index(Id),
}

/// A left-value: an object and the path to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub root: Root,
    pub steps: SmallVec<[Step; 4]>,
    /// The type of the part.
    pub ty: TypeId,
}

/// The number of elements of an array reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    /// One: the place is the element.
    Single,
    /// The length of the array at the place.
    Array(u32),
    /// The length of the buffer at the place, known at run time.
    Runtime,
}

/// A value as the compiler knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The result of type `void`.
    Void,
    /// A SPIR-V value.
    Id(Id),
    /// A pointer.
    Pointer(Place),
    /// An array reference.
    Reference(Place, Extent),
    /// The address of a variable that holds a pointer or array reference. The value is the content
    /// of the variable.
    Address(Box<Value>),
    /// A texture, by its index in `Textures`.
    Texture(usize),
    /// A sampler, by its index in `Textures`.
    Sampler(usize),
    /// A structure that contains a texture, sampler, pointer or array reference: its fields.
    Record(Vec<Value>),
}

impl Value {
    /// The pointer or array reference at this address. `None` if this is no `Address`.
    pub(super) fn pointee(self) -> Option<Value> {
        match self {
            Value::Address(value) => Some(*value),
            _ => None,
        }
    }
}

/// The meaning of a variable or parameter.
#[derive(Clone, Debug)]
pub(super) enum VariableMeaning {
    /// A variable of the module, with storage.
    Variable(Root),
    /// A pointer, an array reference, a texture or a sampler, which never changes.
    Known(Value),
    /// A structure that contains such values, field by field.
    Record(Vec<VariableMeaning>),
}

impl Place {
    /// The whole of an object.
    pub(super) fn whole(root: Root) -> Place {
        Place { root, steps: SmallVec::new(), ty: root.ty }
    }

    pub(super) fn step(mut self, step: Step, ty: TypeId) -> Place {
        self.steps.push(step);
        self.ty = ty;
        self
    }
}

impl Compiler<'_> {
    /// A new variable of the function that is being emitted.
    pub(super) fn local(&mut self, ty: TypeId) -> Done<Root> {
        let of = self.ty(ty)?;
        let saved = self.e.enter(Rule::CodegenLocal);
        let pointer = self.pointer(StorageClass::Function, of);
        let id = self.e.fresh();
        super::push(&mut self.e.body.variables, Op::Variable, &[pointer, id, StorageClass::Function as u32]);
        self.e.rule = saved;
        Ok(Root { id, class: StorageClass::Function, ty, buffer: false })
    }

    /// A new variable of the module.
    pub(super) fn global(&mut self, class: StorageClass, ty: TypeId) -> Done<Root> {
        let of = self.ty(ty)?;
        let pointer = self.pointer(class, of);
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[class as u32]);
        Ok(Root { id, class, ty, buffer: false })
    }

    /// The meaning of a variable or parameter. A variable with storage is declared on first use.
    pub(super) fn bound(&mut self, store: StoreId) -> Done<VariableMeaning> {
        if let Some(meaning) = self.stores.get(&store).or_else(|| self.globals.get(&store)) {
            return Ok(meaning.clone());
        }
        let declared = *self.program.store(store);
        if self.is_known(declared.ty) {
            return self.unforeseen("a pointer that is not initialised");
        }
        let escapes = self.escaping.iter().any(|f| self.program.body(*f).stores.contains(&store.0));
        let meaning = match declared.space {
            AddressSpace::Threadgroup => {
                let saved = self.e.enter(Rule::CodegenThreadgroup);
                let root = self.global(StorageClass::Workgroup, declared.ty)?;
                self.e.rule = saved;
                self.group.push((root.id, declared.ty));
                VariableMeaning::Variable(root)
            }
            _ if escapes => {
                let saved = self.e.enter(Rule::CodegenLocalPrivate);
                let root = self.global(StorageClass::Private, declared.ty)?;
                self.e.rule = saved;
                VariableMeaning::Variable(root)
            }
            _ => {
                let root = self.local(declared.ty)?;
                let name = self.text_of(declared.span);
                self.debug_variable(root.id, &name, declared.ty, declared.span, None)?;
                self.stores.insert(store, VariableMeaning::Variable(root));
                return Ok(VariableMeaning::Variable(root));
            }
        };
        self.globals.insert(store, meaning.clone());
        Ok(meaning)
    }

    /// Whether the compiler knows all values of the type: pointers, array references, textures,
    /// samplers, and structures that contain one.
    pub(super) fn is_known(&self, ty: TypeId) -> bool {
        match self.program.env.types.get(ty) {
            Type::Pointer(..) | Type::ArrayReference(..) | Type::Texture(..) | Type::Sampler => true,
            Type::Struct(s) => deep(|| self.program.env.structure(s).fields.iter().any(|field| self.is_known(field.ty))),
            _ => false,
        }
    }

    /// The meaning of a variable, of a field of a variable, or of a dereferenced address.
    pub(super) fn part(&mut self, id: ExprId) -> Done<Option<VariableMeaning>> {
        let program = self.program;
        deep(|| match &program.expr(id).form {
            Form::Parens(e) => self.part(*e),
            Form::Variable(store) => self.bound(*store).map(Some),
            Form::Dereference(pointer) => match self.value(*pointer)? {
                Value::Address(value) => Ok(Some(VariableMeaning::Known(*value))),
                _ => Ok(None),
            },
            Form::Dot(e, _, Access::AddressTaker(Callee::Generated(Generated::FieldAddress(_, field, _)))) => Ok(match self.part(*e)? {
                Some(VariableMeaning::Record(mut fields)) if (*field as usize) < fields.len() => Some(fields.swap_remove(*field as usize)),
                Some(VariableMeaning::Known(Value::Record(mut fields))) if (*field as usize) < fields.len() => {
                    Some(VariableMeaning::Known(fields.swap_remove(*field as usize)))
                }
                _ => None,
            }),
            Form::Dot(e, _, Access::AddressTaker(Callee::Declared(f))) if self.is_known(program.expr(id).ty.right()) => {
                let whole = self.place(*e)?;
                Ok(self.call_address_taker(*f, whole, None)?.pointee().map(VariableMeaning::Known))
            }
            Form::Index(e1, e2, Access::AddressTaker(Callee::Declared(f))) if self.is_known(program.expr(id).ty.right()) => {
                let whole = self.place(*e1)?;
                let index = self.id(*e2)?;
                Ok(self.call_address_taker(*f, whole, Some(index))?.pointee().map(VariableMeaning::Known))
            }
            _ => Ok(None),
        })
    }

    /// Reads the value of a variable or parameter.
    pub(super) fn value_of_meaning(&mut self, meaning: VariableMeaning) -> Done<Value> {
        match meaning {
            VariableMeaning::Known(value) => Ok(value),
            VariableMeaning::Variable(root) => {
                let value = self.load(&Place::whole(root))?;
                self.valid(value, root.ty).map(Value::Id)
            }
            VariableMeaning::Record(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for field in fields {
                    values.push(deep(|| self.value_of_meaning(field))?);
                }
                Ok(Value::Record(values))
            }
        }
    }

    /// The meaning of a parameter of that type for an argument.
    pub(super) fn bind(&mut self, value: Value, ty: TypeId) -> Done<VariableMeaning> {
        let program = self.program;
        match (value, program.env.types.get(ty)) {
            (Value::Id(id), _) => {
                let root = self.local(ty)?;
                self.store(Rule::CodegenCall, &Place::whole(root), id)?;
                Ok(VariableMeaning::Variable(root))
            }
            (Value::Record(values), Type::Struct(s)) => {
                let mut fields = Vec::with_capacity(values.len());
                for (value, field) in values.into_iter().zip(&program.env.structure(s).fields) {
                    fields.push(deep(|| self.bind(value, field.ty))?);
                }
                Ok(VariableMeaning::Record(fields))
            }
            (value, _) => Ok(VariableMeaning::Known(value)),
        }
    }

    /// The place that a left-value is reduced to.
    pub(super) fn place(&mut self, id: ExprId) -> Done<Place> {
        deep(|| self.place_of(id))
    }

    fn place_of(&mut self, id: ExprId) -> Done<Place> {
        let program = self.program;
        let expr = program.expr(id);
        self.span = expr.span;
        let ValueType::Left(ty, _) = expr.ty else { return self.unforeseen("this expression as a left-value") };
        match &expr.form {
            Form::Parens(e) => self.place(*e),
            Form::Variable(store) => match self.bound(*store)? {
                VariableMeaning::Variable(root) => Ok(Place::whole(root)),
                VariableMeaning::Known(_) | VariableMeaning::Record(_) => {
                    self.refuse(Construct::Reference, "an array reference to a pointer, texture or sampler, or to a structure with one")
                }
            },
            Form::Dereference(e) => match self.value(*e)? {
                Value::Pointer(place) => Ok(place),
                _ => self.unforeseen("this pointer"),
            },
            Form::Element(e1, e2) => {
                let reference = self.value(*e1)?;
                let index = self.id(*e2)?;
                self.span = expr.span;
                self.element_of_reference(reference, index, ty)
            }
            Form::Dot(e, _, Access::AddressTaker(callee)) => {
                if self.is_known(program.expr(*e).ty.right()) {
                    return match self.part(id)? {
                        Some(VariableMeaning::Variable(root)) => Ok(Place::whole(root)),
                        _ => self.unforeseen("the address of this field"),
                    };
                }
                let whole = self.place(*e)?;
                self.span = expr.span;
                self.place_by_address_taker(*callee, whole, None, ty)
            }
            Form::Index(e1, e2, Access::AddressTaker(callee)) => {
                let whole = self.place(*e1)?;
                let index = self.id(*e2)?;
                self.span = expr.span;
                self.place_by_address_taker(*callee, whole, Some(index), ty)
            }
            _ => self.unforeseen("this expression as a left-value"),
        }
    }

    /// The place `*operator&.f(&e)` or `*operator&[](&e, index)`.
    pub(super) fn place_by_address_taker(&mut self, callee: Callee, whole: Place, index: Option<Id>, ty: TypeId) -> Done<Place> {
        match (callee, index) {
            (Callee::Generated(Generated::FieldAddress(_, field, _)), _) => Ok(whole.step(Step::Field(field), ty)),
            (Callee::Generated(Generated::ElementAddress(..)), Some(index)) => self.element(whole, index, ty),
            (Callee::Declared(f), index) => match self.call_address_taker(f, whole, index)? {
                Value::Pointer(place) => Ok(place),
                _ => self.unforeseen("this address-taker"),
            },
            _ => self.unforeseen("this address-taker"),
        }
    }

    /// A call of a declared `operator&.f(&e)` or `operator&[](&e, index)`.
    pub(super) fn call_address_taker(&mut self, f: FunctionId, whole: Place, index: Option<Id>) -> Done<Value> {
        self.call(f, [Some(Value::Pointer(whole)), index.map(Value::Id)].into_iter().flatten().collect())
    }

    /// An element of an array. An index out of bounds selects the last element.
    pub(super) fn element(&mut self, whole: Place, index: Id, ty: TypeId) -> Done<Place> {
        let Type::Array(_, n) = self.program.env.types.get(whole.ty) else { return self.unforeseen("elements of this") };
        let last = self.uint_constant(n.saturating_sub(1));
        let index = self.clamped(Rule::CodegenIndexClamp, index, last);
        Ok(whole.step(Step::Index(index), ty))
    }

    /// The lesser of the index and the last index.
    pub(super) fn clamped(&mut self, rule: Rule, index: Id, last: Id) -> Id {
        if let (Some(index_bits), Some(last_bits)) = (self.e.bits(index), self.e.bits(last)) {
            return if index_bits <= last_bits { index } else { last };
        }
        let (uint, saved) = (self.uint(), self.e.enter(rule));
        let id = self.e.glsl(Glsl::UMin, uint, &[index, last]);
        self.e.rule = saved;
        id
    }

    pub(super) fn element_of_reference(&mut self, reference: Value, index: Id, ty: TypeId) -> Done<Place> {
        let Value::Reference(place, extent) = reference else { return self.unforeseen("this array reference") };
        match extent {
            Extent::Single => Ok(place),
            Extent::Array(_) => self.element(place, index, ty),
            Extent::Runtime => {
                let (length, uint, one) = (self.length(&place, extent)?, self.uint(), self.uint_constant(1));
                let saved = self.e.enter(Rule::CodegenIndexClamp);
                let last = self.e.op(Op::ISub, uint, &[length, one]);
                self.e.rule = saved;
                let index = self.clamped(Rule::CodegenIndexClamp, index, last);
                Ok(place.step(Step::Index(index), ty))
            }
        }
    }

    /// The number of elements of an array reference.
    pub(super) fn length(&mut self, place: &Place, extent: Extent) -> Done<Id> {
        match extent {
            Extent::Single => Ok(self.uint_constant(1)),
            Extent::Array(n) => Ok(self.uint_constant(n)),
            Extent::Runtime => {
                let (uint, saved) = (self.uint(), self.e.enter(Rule::CodegenReferenceLength));
                let id = self.e.op(Op::ArrayLength, uint, &[place.root.id, 0]);
                self.e.rule = saved;
                Ok(id)
            }
        }
    }

    /// A SPIR-V pointer to the place, for one use.
    pub(super) fn address(&mut self, place: &Place) -> Done<Id> {
        if place.steps.is_empty() && !place.root.buffer {
            return Ok(place.root.id);
        }
        let class = place.root.class;
        let to = self.type_in(class, place.ty)?;
        let mut operands = Operands::from_slice(&[place.root.id]);
        if place.root.buffer {
            operands.push(self.uint_constant(0));
        }
        // The first index of a buffer selects one of its elements.
        let (mut ty, mut is_element) = (place.root.ty, place.root.buffer);
        for step in &place.steps {
            operands.push(match *step {
                Step::Field(field) => {
                    let member = match class {
                        StorageClass::StorageBuffer => self.members(ty, true).iter().position(|&(k, _)| k == field),
                        _ => Some(field as usize),
                    };
                    let Type::Struct(s) = self.program.env.types.get(ty) else { return self.unforeseen("a field of this") };
                    let of = self.program.env.structure(s).fields.get(field as usize).map(|f| f.ty);
                    let (Some(member), Some(of)) = (member, of) else { return self.unforeseen("a field of this") };
                    ty = of;
                    self.uint_constant(member as u32)
                }
                Step::Index(index) => {
                    if let Type::Array(of, _) = self.program.env.types.get(ty)
                        && !is_element
                    {
                        ty = of;
                    }
                    index
                }
            });
            is_element = false;
        }
        let (pointer, saved) = (self.pointer(class, to), self.e.enter(Rule::CodegenAccess));
        let id = self.e.op(Op::AccessChain, pointer, &operands);
        self.e.rule = saved;
        Ok(id)
    }

    /// Loads from the place. The value of an enum may be invalid ([`Compiler::valid`]).
    pub(super) fn load(&mut self, place: &Place) -> Done<Id> {
        if self.is_nothing(place.ty) {
            return self.default_value(place.ty);
        }
        if place.root.class == StorageClass::StorageBuffer && self.is_long(place.ty) {
            let local = Place::whole(self.local(place.ty)?);
            self.copy(Rule::CodegenBufferLoad, place, &local)?;
            return self.load(&local);
        }
        let (at, ty) = (self.address(place)?, self.type_in(place.root.class, place.ty)?);
        let saved = self.e.enter(Rule::CodegenLoad);
        let id = self.e.op(Op::Load, ty, &[at]);
        self.e.rule = saved;
        if place.root.class != StorageClass::StorageBuffer {
            return Ok(id);
        }
        let saved = self.e.enter(Rule::CodegenBufferLoad);
        let id = self.converted(place.ty, id, false);
        self.e.rule = saved;
        id
    }

    /// Stores at the place.
    pub(super) fn store(&mut self, rule: Rule, place: &Place, value: Id) -> Done {
        if self.is_nothing(place.ty) {
            return Ok(());
        }
        let mut value = value;
        if place.root.class == StorageClass::StorageBuffer && self.is_long(place.ty) {
            let local = Place::whole(self.local(place.ty)?);
            self.store(rule, &local, value)?;
            return self.copy(Rule::CodegenBufferStore, &local, place);
        }
        if place.root.class == StorageClass::StorageBuffer {
            let saved = self.e.enter(Rule::CodegenBufferStore);
            value = self.converted(place.ty, value, true)?;
            self.e.rule = saved;
        }
        let at = self.address(place)?;
        self.stored.insert(place.root.id);
        let saved = self.e.enter(rule);
        self.e.effect(Op::Store, &[at, value]);
        self.e.rule = saved;
        Ok(())
    }

    /// Whether the type contains an array that is converted in a loop.
    fn is_long(&self, ty: TypeId) -> bool {
        deep(|| match self.program.env.types.get(ty) {
            Type::Array(of, n) => n > SHORT || self.is_long(of),
            Type::Struct(s) => self.program.env.structure(s).fields.iter().any(|f| self.is_long(f.ty)),
            _ => false,
        })
    }

    /// Copies the content of one place to another, part by part.
    fn copy(&mut self, rule: Rule, from: &Place, to: &Place) -> Done {
        self.check_room()?;
        if !self.is_long(from.ty) {
            let value = self.load(from)?;
            return self.store(rule, to, value);
        }
        match self.program.env.types.get(from.ty) {
            Type::Array(of, n) => self.for_each_index(rule, n, |c, index| {
                let part = |place: &Place| place.clone().step(Step::Index(index), of);
                deep(|| c.copy(rule, &part(from), &part(to)))
            }),
            _ => {
                for (field, ty) in self.members(from.ty, true) {
                    let part = |place: &Place| place.clone().step(Step::Field(field), ty);
                    deep(|| self.copy(rule, &part(from), &part(to)))?;
                }
                Ok(())
            }
        }
    }

    /// Emits a loop over the numbers below `n`, which is not 0.
    fn for_each_index(&mut self, rule: Rule, n: u32, round: impl FnOnce(&mut Self, Id) -> Done) -> Done {
        let (uint, truth) = (self.uint(), self.scalar(Scalar::Bool));
        let [zero, one, count] = [0, 1, n].map(|bits| self.uint_constant(bits));
        let counter = Place::whole(self.local(TypeId::UINT)?);
        let [header, body, next, merge] = [(); 4].map(|()| self.e.fresh());
        self.store(rule, &counter, zero)?;
        let saved = self.e.enter(rule);
        self.e.branch(header);
        self.e.begin(header);
        self.e.effect(Op::LoopMerge, &[merge, next, 0]);
        self.e.branch(body);
        self.e.begin(body);
        let index = self.load(&counter)?;
        round(self, index)?;
        self.e.enter(rule);
        self.e.branch(next);
        self.e.begin(next);
        let incremented = self.e.op(Op::IAdd, uint, &[index, one]);
        self.store(rule, &counter, incremented)?;
        let has_more = self.e.op(Op::ULessThan, truth, &[incremented, count]);
        self.e.end(Op::BranchConditional, &[has_more, header, merge]);
        self.e.begin(merge);
        self.e.rule = saved;
        Ok(())
    }

    /// Converts a value to its type in buffers (`laid_out`) or back.
    fn converted(&mut self, ty: TypeId, value: Id, laid_out: bool) -> Done<Id> {
        let (plain, stored) = (self.ty(ty)?, self.laid_out(ty)?);
        if plain == stored {
            return Ok(value);
        }
        let to = if laid_out { stored } else { plain };
        let program = self.program;
        match program.env.types.get(ty) {
            Type::Scalar(_) => Ok(self.truth_converted(1, value, laid_out)),
            Type::Vector(_, n) => Ok(self.truth_converted(n, value, laid_out)),
            Type::Matrix(_, columns, rows) => {
                let column = self.vector(if laid_out { Scalar::Bool } else { Scalar::Uint }, rows);
                let mut parts = Vec::new();
                for k in 0..u32::from(columns) {
                    let part = self.e.op(Op::CompositeExtract, column, &[value, k]);
                    parts.push(self.truth_converted(rows, part, laid_out));
                }
                Ok(self.e.op(Op::CompositeConstruct, to, &parts))
            }
            Type::Array(of, n) => {
                let mut parts = Vec::new();
                let part_ty = if laid_out { self.ty(of)? } else { self.laid_out(of)? };
                for k in 0..n {
                    let part = self.e.op(Op::CompositeExtract, part_ty, &[value, k]);
                    parts.push(deep(|| self.converted(of, part, laid_out))?);
                }
                Ok(self.e.op(Op::CompositeConstruct, to, &parts))
            }
            Type::Struct(_) => {
                let (from, to_members) = (self.members(ty, !laid_out), self.members(ty, laid_out));
                let mut parts = Vec::new();
                for (field, of) in to_members {
                    let Some(at) = from.iter().position(|&(k, _)| k == field) else {
                        parts.push(self.default_value(of)?);
                        continue;
                    };
                    let part_ty = if laid_out { self.ty(of)? } else { self.laid_out(of)? };
                    let part = self.e.op(Op::CompositeExtract, part_ty, &[value, at as u32]);
                    parts.push(deep(|| self.converted(of, part, laid_out))?);
                }
                Ok(self.e.op(Op::CompositeConstruct, to, &parts))
            }
            _ => self.unforeseen("a value of this type in a buffer"),
        }
    }

    fn truth_converted(&mut self, n: u8, value: Id, laid_out: bool) -> Id {
        let saved = self.e.enter(Rule::CodegenBufferBool);
        let (zero, one) = (self.splat_constant(Scalar::Uint, n, 0), self.splat_constant(Scalar::Uint, n, 1));
        let id = if laid_out {
            let ty = self.vector(Scalar::Uint, n);
            self.e.op(Op::Select, ty, &[value, one, zero])
        } else {
            let ty = self.vector(Scalar::Bool, n);
            self.e.op(Op::INotEqual, ty, &[value, zero])
        };
        self.e.rule = saved;
        id
    }
}

//! Resources, tables of arguments and threadgroup variables: seed 003 "Variables and resources",
//! "Buffers" and "Storage class", todos there.

use super::emit::Id;
use super::place::{Extent, Place, Root, Step, Value, VariableMeaning};
use super::stage::register_text;
use super::{Binding, BindingKind, Compiler, Construct, Done};
use crate::dispatch::BufferKind;
use rspirv::spirv::{Decoration, MemorySemantics, Op, Scope, StorageClass};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::entry::Item;
use smallstep_semantics::wsl::environment::{FunctionId, Semantic};
use smallstep_semantics::wsl::syntax::{AddressSpace, BuiltinSemantic};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

/// The most scalars in a row of arguments or results.
const MAX_SCALARS: u32 = 1 << 12;

impl Compiler<'_> {
    /// Binds a parameter that is a resource, or a structure that contains resources.
    pub(super) fn resource<'i>(&mut self, ty: TypeId, items: &mut impl Iterator<Item = &'i Item>) -> Done<VariableMeaning> {
        let program = self.program;
        if let Type::Struct(s) = program.env.types.get(ty) {
            let mut fields = Vec::new();
            for field in &program.env.structure(s).fields {
                if self.is_known(field.ty) {
                    fields.push(self.resource(field.ty, items)?);
                    continue;
                }
                let value = self.built(field.ty, items)?;
                let root = self.local(field.ty)?;
                self.store(Rule::CodegenLocalInitial, &Place::whole(root), value)?;
                fields.push(VariableMeaning::Variable(root));
            }
            return Ok(VariableMeaning::Record(fields));
        }
        let Some((item, (Semantic::Register(register, space), _))) = items.next().and_then(|item| Some((item, item.semantic?))) else {
            return self.unforeseen("a resource without a register");
        };
        self.span = item.span;
        let (register, space) = (program.env.names.name(register), space.map(|s| program.env.names.name(s)));
        let text = register_text(register, space);
        let set = self.descriptor_set(space);
        let name = item.name.map_or("", |n| program.env.names.name(n));
        Ok(VariableMeaning::Known(match program.env.types.get(ty) {
            Type::ArrayReference(..) => self.buffer(item, text, set)?,
            Type::Texture(..) => Value::Texture(self.opaque(text, name, set, ty)),
            Type::Sampler => Value::Sampler(self.opaque(text, name, set, ty)),
            _ => return self.unforeseen(format!("a {} as a resource", program.env.type_name(ty))),
        }))
    }

    /// The buffer of an array reference that is an input of the entry point.
    fn buffer(&mut self, item: &Item, text: String, set: u32) -> Done<Value> {
        let program = self.program;
        let Type::ArrayReference(address_space, element) = program.env.types.get(item.ty) else {
            let name = program.env.type_name(item.ty);
            return self.unforeseen(format!("a {name} as a resource"));
        };
        let name = item.name.map_or("", |n| program.env.names.name(n));
        let root = |id| Root { id, class: StorageClass::StorageBuffer, ty: element, buffer: true };
        let is_constant = address_space == AddressSpace::Constant && !self.stage.writable.contains(&text);
        let kind = if is_constant { BufferKind::ReadOnly } else { BufferKind::ReadWrite };
        if let Some(k) = self.bindings.iter().position(|b| b.register == text) {
            if !self.bindings[k].names.iter().any(|n| n == name) {
                self.bindings[k].names.push(name.into());
            }
            let id = self.variables[k];
            if self.bindings[k].kind == BindingKind::Buffer(kind, element) {
                return Ok(Value::Reference(Place::whole(root(id)), Extent::Runtime));
            }
            // A second variable views the same memory as elements of another type.
            if let Some(&(_, _, _, id)) = self.aliases.iter().find(|a| (a.0, a.1, a.2) == (k, element, kind)) {
                return Ok(Value::Reference(Place::whole(root(id)), Extent::Runtime));
            }
            let place = (self.bindings[k].set, self.bindings[k].binding);
            let other = self.declare_buffer(element, kind, place, name)?;
            if let BindingKind::Buffer(bound_kind, _) = &mut self.bindings[k].kind
                && kind == BufferKind::ReadWrite
            {
                *bound_kind = kind;
            }
            let saved = self.e.enter(Rule::CodegenBufferAlias);
            if !self.aliases.iter().any(|a| a.0 == k) {
                self.e.decorate(id, Decoration::Aliased, &[]);
            }
            self.e.decorate(other, Decoration::Aliased, &[]);
            self.e.rule = saved;
            self.aliases.push((k, element, kind, other));
            return Ok(Value::Reference(Place::whole(root(other)), Extent::Runtime));
        }
        let binding = self.next_binding(&text, set, &BindingKind::Buffer(kind, element));
        let id = self.declare_buffer(element, kind, (set, binding), name)?;
        self.bindings.push(Binding { register: text, names: vec![name.into()], set, binding, kind: BindingKind::Buffer(kind, element) });
        self.variables.push(id);
        Ok(Value::Reference(Place::whole(root(id)), Extent::Runtime))
    }

    /// The binding number of a register in its set. If the other stage has a binding of this
    /// register for the same use, it is that number. Otherwise it is the next free number.
    pub(super) fn next_binding(&self, register: &str, set: u32, kind: &BindingKind) -> u32 {
        let is_same_use = |b: &&Binding| match (&b.kind, kind) {
            (BindingKind::Buffer(..), BindingKind::Buffer(..)) => b.register == register,
            (one, other) => b.register == register && one == other,
        };
        let is_free = |b: &&Binding| !self.bindings.iter().any(|used| (used.set, used.binding) == (b.set, b.binding));
        if let Some(other) = self.stage.bindings.iter().filter(is_same_use).find(is_free) {
            return other.binding;
        }
        let all = self.bindings.iter().chain(&self.stage.bindings).filter(|b| b.set == set);
        all.map(|b| b.binding + 1).max().unwrap_or(0)
    }

    /// The descriptor set of a register space. `spaceN` is set N, and no space is set 0. Other
    /// names take the sets that no number takes, in the order of the program's entry points. So all
    /// entry points use the same sets.
    fn descriptor_set(&self, space: Option<&str>) -> u32 {
        let Some(space) = space else { return 0 };
        if let Some(set) = numbered(space) {
            return set;
        }
        let program = self.program;
        let (mut used_sets, mut names) = (vec![0], Vec::new());
        for item in program.entry_points.iter().flat_map(|entry| &entry.inputs) {
            let Some((Semantic::Register(_, Some(other)), _)) = item.semantic else { continue };
            let other = program.env.names.name(other);
            match numbered(other) {
                Some(set) => used_sets.push(set),
                None if !names.contains(&other) => names.push(other),
                None => {}
            }
        }
        let place = names.iter().position(|name| *name == space).unwrap_or(names.len());
        (0..).filter(|set| !used_sets.contains(set)).nth(place).unwrap_or(u32::MAX)
    }

    /// Declares a buffer with elements of that type.
    fn declare_buffer(&mut self, element: TypeId, kind: BufferKind, (set, binding): (u32, u32), name: &str) -> Done<Id> {
        let (of, stride) = (self.laid_out(element)?, self.stride(element)?);
        let saved = self.e.enter(Rule::CodegenTypeBuffer);
        let array = self.e.declare_new(Op::TypeRuntimeArray, None, &[of]);
        let block = self.e.declare_new(Op::TypeStruct, None, &[array]);
        let pointer = self.pointer(StorageClass::StorageBuffer, block);
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[StorageClass::StorageBuffer as u32]);
        self.e.name(id, name);
        self.e.enter(Rule::CodegenBufferLayout);
        self.e.decorate(array, Decoration::ArrayStride, &[stride]);
        self.e.decorate_member(block, 0, Decoration::Offset, &[0]);
        self.matrix_layout(block, 0, element);
        self.e.enter(Rule::CodegenTypeBuffer);
        self.e.decorate(block, Decoration::Block, &[]);
        if kind == BufferKind::ReadOnly {
            self.e.enter(Rule::CodegenBufferReadOnly);
            self.e.decorate(id, Decoration::NonWritable, &[]);
        }
        self.e.enter(Rule::CodegenBufferBinding);
        self.e.decorate(id, Decoration::DescriptorSet, &[set]);
        self.e.decorate(id, Decoration::Binding, &[binding]);
        self.e.rule = saved;
        Ok(id)
    }

    /// Emits a function, all functions that it reaches, and an entry point that calls it once for
    /// each row of a table. Binding 0 holds the scalars of the arguments, row after row. Binding 1
    /// receives the scalars of the results.
    pub(super) fn table_entry_point(&mut self, f: FunctionId) -> Done<Id> {
        let program = self.program;
        let function = program.env.function(f);
        let mut roots = Vec::new();
        for (binding, (name, kind)) in (0..).zip([("arguments", BufferKind::ReadOnly), ("results", BufferKind::ReadWrite)]) {
            let id = self.declare_buffer(TypeId::UINT, kind, (0, binding), name)?;
            roots.push(Root { id, class: StorageClass::StorageBuffer, ty: TypeId::UINT, buffer: true });
            let register = name.to_string();
            self.bindings.push(Binding {
                register,
                names: vec![name.into()],
                set: 0,
                binding,
                kind: BindingKind::Buffer(kind, TypeId::UINT),
            });
        }
        let counts = |c: &Self, types: &mut dyn Iterator<Item = TypeId>| -> Done<u32> {
            let mut n = 0u64;
            for ty in types {
                n += c.scalars(ty)?;
            }
            match u32::try_from(n).ok().filter(|n| *n <= MAX_SCALARS) {
                Some(n) => Ok(n),
                None => c.refuse(Construct::Scalars, format!("arguments or results of more than {MAX_SCALARS} scalars")),
            }
        };
        let argument_words = counts(self, &mut function.parameters.iter().map(|p| p.ty))?;
        let result = match program.env.types.get(function.result) {
            Type::Pointer(_, to) if program.env.types.is_reference(to) => TypeId::VOID,
            Type::Pointer(_, to) => to,
            Type::ArrayReference(..) => TypeId::UINT,
            _ => function.result,
        };
        let result_words = counts(self, &mut std::iter::once(result))?;
        let (shader, void) = (self.e.fresh(), self.void());
        self.emitted(shader, void, &[], "table", |c| {
            let (uint, uint3) = (c.uint(), c.vector(Scalar::Uint, 3));
            let input = c.input(BuiltinSemantic::DispatchThreadId)?;
            c.e.enter(Rule::CodegenBuiltIn);
            let thread = c.e.op(Op::Load, uint3, &[input]);
            let row = c.e.op(Op::CompositeExtract, uint, &[thread, 0]);
            let (argument_words, result_words) = (c.uint_constant(argument_words), c.uint_constant(result_words));
            let first = [c.e.op(Op::IMul, uint, &[row, argument_words]), c.e.op(Op::IMul, uint, &[row, result_words])];
            let mut at = 0;
            let mut arguments = Vec::new();
            for parameter in &function.parameters {
                c.span = parameter.span;
                let name = program.env.names.name(parameter.name);
                arguments.push(c.table_argument(parameter.ty, name, row, (roots[0], first[0]), &mut at)?);
            }
            c.span = function.span;
            match c.call(f, arguments)? {
                Value::Id(result) => c.write_words(roots[1], first[1], &mut 0, function.result, result),
                Value::Pointer(place) => {
                    let value = c.load(&place)?;
                    c.write_words(roots[1], first[1], &mut 0, place.ty, value)
                }
                Value::Reference(place, extent) => {
                    let length = c.length(&place, extent)?;
                    c.write_words(roots[1], first[1], &mut 0, TypeId::UINT, length)
                }
                _ => Ok(()),
            }
        })?;
        self.around_shader(shader, None)
    }

    /// Reads an argument from a table. A pointee is a variable that is initialised with scalars of
    /// the table. A pointer into device or constant memory points to element `row` of a buffer of
    /// its own. An array reference into that memory refers to the whole buffer.
    fn table_argument(&mut self, ty: TypeId, name: &str, row: Id, (root, first): (Root, Id), at: &mut u32) -> Done<Value> {
        let (space, of, is_pointer) = match self.program.env.types.get(ty) {
            Type::Pointer(space, to) => (space, to, true),
            Type::ArrayReference(space, of) => (space, of, false),
            _ => return self.read_words(root, first, at, ty).map(Value::Id),
        };
        if self.program.env.types.is_reference(of) {
            let inner = deep(|| self.table_argument(of, name, row, (root, first), at))?;
            return Ok(Value::Address(Box::new(inner)));
        }
        if matches!(space, AddressSpace::Device | AddressSpace::Constant) {
            let kind = if space == AddressSpace::Constant { BufferKind::ReadOnly } else { BufferKind::ReadWrite };
            let binding = self.bindings.len() as u32;
            let id = self.declare_buffer(of, kind, (0, binding), name)?;
            let kind = BindingKind::Buffer(kind, of);
            self.bindings.push(Binding { register: name.into(), names: vec![name.into()], set: 0, binding, kind });
            let whole = Place::whole(Root { id, class: StorageClass::StorageBuffer, ty: of, buffer: true });
            let reference = Value::Reference(whole, Extent::Runtime);
            return Ok(if is_pointer { Value::Pointer(self.element_of_reference(reference, row, of)?) } else { reference });
        }
        let root_of = match space {
            AddressSpace::Threadgroup => self.global(StorageClass::Workgroup, of)?,
            _ => self.local(of)?,
        };
        let place = Place::whole(root_of);
        let value = self.read_words(root, first, at, of)?;
        self.store(Rule::CodegenCall, &place, value)?;
        Ok(if is_pointer { Value::Pointer(place) } else { Value::Reference(place, Extent::Single) })
    }

    /// The number of scalars in a table for an argument or result of the type.
    fn scalars(&self, ty: TypeId) -> Done<u64> {
        let program = self.program;
        Ok(match program.env.types.get(ty) {
            Type::Void | Type::Pointer(AddressSpace::Device | AddressSpace::Constant, _) => 0,
            Type::ArrayReference(AddressSpace::Device | AddressSpace::Constant, _) => 0,
            Type::Pointer(_, of) | Type::ArrayReference(_, of) => deep(|| self.scalars(of))?,
            Type::Array(of, n) => deep(|| self.scalars(of))?.saturating_mul(n.into()),
            Type::Struct(s) => {
                let mut n = 0u64;
                for field in &program.env.structure(s).fields {
                    n = n.saturating_add(deep(|| self.scalars(field.ty))?);
                }
                n
            }
            _ => match self.shape(ty) {
                Some(shape) => u64::from(shape.columns) * u64::from(shape.rows),
                None => {
                    let name = program.env.type_name(ty);
                    return self.refuse(Construct::Opaque, format!("a {name} as an argument of the program"));
                }
            },
        })
    }

    /// The types of the parts of a composite value. `None` for a scalar.
    fn parts(&mut self, ty: TypeId) -> Option<Vec<TypeId>> {
        let program = self.program;
        match program.env.types.get(ty) {
            Type::Vector(s, n) => Some(vec![TypeId::scalar(s); n.into()]),
            Type::Matrix(s, n, m) => Some(vec![TypeId::vector(s, m); n.into()]),
            Type::Array(of, n) => Some(vec![of; n as usize]),
            Type::Struct(s) => Some(program.env.structure(s).fields.iter().map(|f| f.ty).collect()),
            _ => None,
        }
    }

    /// The place of the next word of a table. `at` counts the words of the row.
    fn word(&mut self, root: Root, first: Id, at: &mut u32) -> Done<Place> {
        let (uint, offset) = (self.uint(), self.uint_constant(*at));
        *at += 1;
        let index = self.e.op(Op::IAdd, uint, &[first, offset]);
        Ok(Place { root, steps: smallvec::smallvec![Step::Index(index)], ty: TypeId::UINT })
    }

    /// Reads a value from the words of a table.
    fn read_words(&mut self, root: Root, first: Id, at: &mut u32, ty: TypeId) -> Done<Id> {
        let of = self.ty(ty)?;
        if let Some(parts) = self.parts(ty) {
            if parts.is_empty() {
                return self.default_value(ty);
            }
            let mut ids = Vec::with_capacity(parts.len());
            for part in parts {
                ids.push(deep(|| self.read_words(root, first, at, part))?);
            }
            return Ok(self.e.op(Op::CompositeConstruct, of, &ids));
        }
        let place = self.word(root, first, at)?;
        let word = self.load(&place)?;
        Ok(match self.shape(ty).map(|shape| shape.scalar) {
            Some(Scalar::Uint) => word,
            Some(Scalar::Bool) => {
                let zero = self.uint_constant(0);
                self.e.op(Op::INotEqual, of, &[word, zero])
            }
            _ => self.e.op(Op::Bitcast, of, &[word]),
        })
    }

    /// Stores a value as words of a table.
    fn write_words(&mut self, root: Root, first: Id, at: &mut u32, ty: TypeId, value: Id) -> Done {
        if let Some(parts) = self.parts(ty) {
            for (k, part) in (0..).zip(parts) {
                let of = self.ty(part)?;
                let id = self.e.op(Op::CompositeExtract, of, &[value, k]);
                deep(|| self.write_words(root, first, at, part, id))?;
            }
            return Ok(());
        }
        let place = self.word(root, first, at)?;
        let uint = self.uint();
        let word = match self.shape(ty).map(|shape| shape.scalar) {
            Some(Scalar::Uint) => value,
            Some(Scalar::Bool) => {
                let (one, zero) = (self.uint_constant(1), self.uint_constant(0));
                self.e.op(Op::Select, uint, &[value, one, zero])
            }
            _ => self.e.op(Op::Bitcast, uint, &[value]),
        };
        self.store(Rule::CodegenBufferStore, &place, word)
    }

    /// Initialises the threadgroup variables with their default values. One invocation does so, and
    /// the others wait.
    pub(super) fn zero_group(&mut self) -> Done {
        if self.group.is_empty() {
            return Ok(());
        }
        let index = self.input(BuiltinSemantic::GroupIndex)?;
        let (uint, truth, zero) = (self.uint(), self.scalar(Scalar::Bool), self.uint_constant(0));
        let (first, merge) = (self.e.fresh(), self.e.fresh());
        self.e.enter(Rule::CodegenThreadgroupZero);
        let index = self.e.op(Op::Load, uint, &[index]);
        let is_first = self.e.op(Op::IEqual, truth, &[index, zero]);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[is_first, first, merge]);
        self.e.begin(first);
        for (id, ty) in self.group.clone() {
            let root = Root { id, class: StorageClass::Workgroup, ty, buffer: false };
            self.zero(Place::whole(root), &mut 0)?;
            self.e.enter(Rule::CodegenThreadgroupZero);
        }
        self.e.branch(merge);
        self.e.begin(merge);
        self.control_barrier(MemorySemantics::WORKGROUP_MEMORY);
        Ok(())
    }

    /// Stores the default value at a place in threadgroup memory. Atomics are stored one by one,
    /// because naga's reader does not accept a store of a composite that contains an atomic.
    fn zero(&mut self, place: Place, stores: &mut u32) -> Done {
        let program = self.program;
        *stores += 1;
        let of = program.env.types.get(place.ty);
        if !self.has_atomic(place.ty) || *stores > MAX_SCALARS {
            let value = self.default_value(place.ty)?;
            return self.store(Rule::CodegenThreadgroupZero, &place, value);
        }
        match of {
            Type::Array(element, n) => {
                for k in 0..n {
                    let index = self.uint_constant(k);
                    deep(|| self.zero(place.clone().step(Step::Index(index), element), stores))?;
                }
                Ok(())
            }
            Type::Struct(s) => {
                for (k, field) in (0..).zip(&program.env.structure(s).fields) {
                    deep(|| self.zero(place.clone().step(Step::Field(k), field.ty), stores))?;
                }
                Ok(())
            }
            _ => {
                let (at, value) = (self.address(&place)?, self.default_value(place.ty)?);
                let (scope, relaxed) = (self.uint_constant(Scope::Workgroup as u32), self.uint_constant(0));
                self.e.enter(Rule::CodegenThreadgroupZero);
                self.e.effect(Op::AtomicStore, &[at, scope, relaxed, value]);
                Ok(())
            }
        }
    }

    /// Whether the type is or contains an atomic.
    fn has_atomic(&self, ty: TypeId) -> bool {
        deep(|| match self.program.env.types.get(ty) {
            Type::Atomic(_) => true,
            Type::Array(of, _) => self.has_atomic(of),
            Type::Struct(s) => self.program.env.structure(s).fields.iter().any(|f| self.has_atomic(f.ty)),
            _ => false,
        })
    }

    /// Emits a barrier of the workgroup that also orders its accesses to that memory.
    pub(super) fn control_barrier(&mut self, memory: MemorySemantics) {
        let scope = self.uint_constant(Scope::Workgroup as u32);
        let semantics = self.uint_constant((MemorySemantics::ACQUIRE_RELEASE | memory).bits());
        self.e.effect(Op::ControlBarrier, &[scope, scope, semantics]);
    }
}

/// The N of `spaceN`. `None` for other names.
fn numbered(space: &str) -> Option<u32> {
    space.strip_prefix("space")?.parse().ok()
}

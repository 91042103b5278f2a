//! The entry point and what it is given: seed 003 "Variables and resources", "Interface variables",
//! "Buffers" and "Storage class", todos there.

use super::emit::Id;
use super::place::{Bound, Extent, Place, Root, Value};
use super::row::Row;
use super::{Binding, Compiler, Done};
use crate::dispatch::BufferKind;
use rspirv::spirv::{BuiltIn, Decoration, MemorySemantics, Op, Scope, StorageClass};
use smallstep_semantics::wsl::entry::{EntryPoint, Item};
use smallstep_semantics::wsl::environment::Semantic;
use smallstep_semantics::wsl::syntax::{AddressSpace, BuiltinSemantic};
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

impl Compiler<'_> {
    /// Emits everything that the entry point reaches; the id of the entry point.
    pub(super) fn entry_point(&mut self, entry: &EntryPoint) -> Done<Id> {
        let program = self.program;
        let (function, body) = (program.env.function(entry.function), program.body(entry.function));
        for (item, &parameter) in entry.inputs.iter().zip(item_parameters(entry).iter()) {
            self.span = item.span;
            if !item.path.is_empty() && matches!(item.semantic, Some((Semantic::Register(..), _))) {
                return self.refuse("a resource inside a structure");
            }
            if let Some((Semantic::Register(register, space), _)) = item.semantic {
                let space = space.map(|s| program.env.names.name(s));
                let value = self.buffer(item, program.env.names.name(register), space)?;
                self.stores.insert(body.parameters[parameter], Bound::Known(value));
            }
        }
        let (shader, main, void) = (self.e.fresh(), self.e.fresh(), self.void());
        let name = program.env.names.name(function.name.name);
        self.emitted(shader, void, &[], name, |c| {
            for (k, (parameter, &store)) in function.parameters.iter().zip(&body.parameters).enumerate() {
                if program.env.types.is_reference(parameter.ty) {
                    continue;
                }
                c.span = parameter.span;
                let mut items = entry.inputs.iter().filter(|item| item.parameter == Some(k as u32));
                let value = c.built(parameter.ty, &mut items)?;
                let Bound::Variable(root) = c.bound(store)? else { return c.refuse("this parameter") };
                c.store(Row::LocalInitial, &Place::whole(root), value)?;
            }
            c.statement(body.block)
        })?;
        self.callees()?;
        self.stores.clear();
        self.emitted(main, void, &[], "main", |c| {
            c.zero_group()?;
            c.e.enter(Row::Function);
            c.e.op(Op::FunctionCall, void, &[shader]);
            Ok(())
        })?;
        Ok(main)
    }

    /// The value of a parameter, of built-in variables in the order of its fields.
    fn built<'i>(&mut self, ty: TypeId, items: &mut impl Iterator<Item = &'i Item>) -> Done<Id> {
        let program = self.program;
        if let Type::Struct(s) = program.env.types.get(ty) {
            let mut fields = Vec::new();
            for field in &program.env.structure(s).fields {
                fields.push(self.built(field.ty, items)?);
            }
            let (of, saved) = (self.ty(ty)?, self.e.enter(Row::BuiltIn));
            let value = self.e.op(Op::CompositeConstruct, of, &fields);
            self.e.row = saved;
            return Ok(value);
        }
        match items.next().and_then(|item| item.semantic) {
            Some((Semantic::Builtin(semantic), _)) => {
                let id = self.input(semantic)?;
                let (of, saved) = (self.ty(ty)?, self.e.enter(Row::BuiltIn));
                let value = self.e.op(Op::Load, of, &[id]);
                self.e.row = saved;
                Ok(value)
            }
            _ => {
                let name = program.env.type_name(ty);
                self.refuse(format!("a {name} that the entry point is given"))
            }
        }
    }

    /// The variable of a built-in.
    fn input(&mut self, semantic: BuiltinSemantic) -> Done<Id> {
        if let Some(&id) = self.inputs.get(&semantic) {
            return Ok(id);
        }
        let (built_in, n) = match semantic {
            BuiltinSemantic::DispatchThreadId => (BuiltIn::GlobalInvocationId, 3),
            BuiltinSemantic::GroupId => (BuiltIn::WorkgroupId, 3),
            BuiltinSemantic::GroupThreadId => (BuiltIn::LocalInvocationId, 3),
            BuiltinSemantic::GroupIndex => (BuiltIn::LocalInvocationIndex, 1),
            other => return self.refuse(format!("the semantic {}", other.keyword())),
        };
        let of = self.vector(Scalar::Uint, n);
        let (pointer, saved) = (self.pointer(StorageClass::Input, of), self.e.enter(Row::BuiltIn));
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[StorageClass::Input as u32]);
        self.e.decorate(id, Decoration::BuiltIn, &[built_in as u32]);
        self.e.name(id, semantic.keyword());
        self.e.row = saved;
        self.inputs.insert(semantic, id);
        Ok(id)
    }

    /// The buffer of an array reference that the entry point is given.
    fn buffer(&mut self, item: &Item, register: &str, space: Option<&str>) -> Done<Value> {
        let program = self.program;
        let Type::ArrayReference(address_space, element) = program.env.types.get(item.ty) else {
            let name = program.env.type_name(item.ty);
            return self.refuse(format!("a {name} as a resource"));
        };
        let text = space.map_or_else(|| register.to_string(), |space| format!("{register}, {space}"));
        let name = item.name.map_or("", |n| program.env.names.name(n));
        let root = |id| Root { id, class: StorageClass::StorageBuffer, ty: element, buffer: true };
        if let Some(k) = self.bindings.iter().position(|b| b.register == text) {
            if self.bindings[k].element != element {
                return self.refuse("one register that holds elements of two types");
            }
            if !self.bindings[k].names.iter().any(|n| n == name) {
                self.bindings[k].names.push(name.into());
            }
            return Ok(Value::Reference(Place::whole(root(self.buffers[k])), Extent::Runtime));
        }
        let set = match space {
            None => 0,
            Some(space) => match space.strip_prefix("space").and_then(|n| n.parse().ok()) {
                Some(set) => set,
                None => return self.refuse(format!("the register space {space}")),
            },
        };
        let kind = if address_space == AddressSpace::Constant { BufferKind::ReadOnly } else { BufferKind::ReadWrite };
        let binding = self.bindings.iter().filter(|b| b.set == set).count() as u32;
        let (of, stride) = (self.laid_out(element)?, self.stride(element)?);
        let saved = self.e.enter(Row::BufferType);
        let array = self.e.declare_new(Op::TypeRuntimeArray, None, &[of]);
        let block = self.e.declare_new(Op::TypeStruct, None, &[array]);
        let pointer = self.pointer(StorageClass::StorageBuffer, block);
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[StorageClass::StorageBuffer as u32]);
        self.e.name(id, name);
        self.e.enter(Row::BufferLayout);
        self.e.decorate(array, Decoration::ArrayStride, &[stride]);
        self.e.decorate_member(block, 0, Decoration::Offset, &[0]);
        self.matrix_layout(block, 0, element);
        self.e.enter(Row::BufferType);
        self.e.decorate(block, Decoration::Block, &[]);
        if kind == BufferKind::ReadOnly {
            self.e.enter(Row::BufferReadOnly);
            self.e.decorate(id, Decoration::NonWritable, &[]);
        }
        self.e.enter(Row::BufferBinding);
        self.e.decorate(id, Decoration::DescriptorSet, &[set]);
        self.e.decorate(id, Decoration::Binding, &[binding]);
        self.e.row = saved;
        self.bindings.push(Binding { register: text, names: vec![name.into()], set, binding, kind, element });
        self.buffers.push(id);
        Ok(Value::Reference(Place::whole(root(id)), Extent::Runtime))
    }

    /// One invocation gives the group's variables their default values, and the others wait.
    fn zero_group(&mut self) -> Done {
        if self.group.is_empty() {
            return Ok(());
        }
        let index = self.input(BuiltinSemantic::GroupIndex)?;
        let (uint, truth, zero) = (self.uint(), self.scalar(Scalar::Bool), self.uint_constant(0));
        let mut values = Vec::new();
        for (id, ty) in self.group.clone() {
            values.push([id, self.default_value(ty)?]);
        }
        let (first, merge) = (self.e.fresh(), self.e.fresh());
        self.e.enter(Row::ThreadgroupZero);
        let index = self.e.op(Op::Load, uint, &[index]);
        let is_first = self.e.op(Op::IEqual, truth, &[index, zero]);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[is_first, first, merge]);
        self.e.begin(first);
        for operands in values {
            self.e.effect(Op::Store, &operands);
        }
        self.e.branch(merge);
        self.e.begin(merge);
        self.control_barrier(MemorySemantics::WORKGROUP_MEMORY);
        Ok(())
    }

    /// The group meets, and its accesses to that memory are ordered.
    pub(super) fn control_barrier(&mut self, memory: MemorySemantics) {
        let scope = self.uint_constant(Scope::Workgroup as u32);
        let semantics = self.uint_constant((MemorySemantics::ACQUIRE_RELEASE | memory).bits());
        self.e.effect(Op::ControlBarrier, &[scope, scope, semantics]);
    }
}

/// The parameter of each item.
fn item_parameters(entry: &EntryPoint) -> Vec<usize> {
    entry.inputs.iter().map(|item| item.parameter.unwrap_or(0) as usize).collect()
}

//! Functions: seed 003 "Functions", "Function parameter".
//!
//! A parameter is a variable of the caller, and its pointer is passed. For a pointer or array
//! reference, the callee is emitted for that object and that path to a part. The object is a
//! variable of the module, or a parameter that points to a whole variable of some caller. The
//! indices on the path are parameters. Two pointers into one object are two paths from one
//! parameter. So nothing is copied in or out, and no two parameters alias.
//!
//! A function that returns a pointer or array reference must return at its end only, and is emitted
//! where it is called. Its variables are Private, since their addresses outlive the call.

use super::emit::{Body, Id, Operands};
use super::place::{Extent, Place, Root, Step, Value, VariableMeaning};
use super::{BranchTargets, Compiler, Construct, Done, Returns};
use rspirv::spirv::{FunctionControl, Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::types::{Type, TypeId};
use smallvec::SmallVec;

/// The most functions that are emitted, over all choices of objects and paths.
const MAX_CLONES: usize = 1 << 12;

/// The object of a pointer that is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Object {
    /// A variable of the module.
    Global(Root),
    /// The variable that an object parameter points to: the index among such parameters, and the
    /// type of its contents.
    Parameter(u32, TypeId),
}

/// The object and path of a pointer that is passed. The indices are passed as parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PointerPath {
    object: Object,
    /// The number of a field, or `None` for an index.
    steps: SmallVec<[Option<u32>; 4]>,
    ty: TypeId,
    /// The extent of an array reference. `None` for a pointer.
    extent: Option<Extent>,
}

/// How an argument is passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Passing {
    /// As a pointer to a variable of the caller that holds the value.
    Stored,
    /// As the object and path of a pointer or array reference.
    Path(PointerPath),
    /// The address of a pointer or array reference.
    Address(Box<Passing>),
    /// A texture, by its index.
    Texture(usize),
    /// A sampler, by its index.
    Sampler(usize),
    /// A structure that contains such values: its fields.
    Record(Vec<Passing>),
}

/// The arguments of a call: pointers to values, objects, indices.
#[derive(Default)]
struct CallArguments {
    values: Vec<Id>,
    roots: Vec<Root>,
    indices: Vec<Id>,
}

/// The parameters of an emitted function: the types of values and of objects, and the number
/// of indices.
#[derive(Default)]
struct Signature {
    values: Vec<TypeId>,
    objects: Vec<TypeId>,
    indices: usize,
}

/// The ids of such parameters, consumed in order.
struct Parameters<'i> {
    values: std::iter::Copied<std::slice::Iter<'i, Id>>,
    objects: Vec<Root>,
    indices: std::iter::Copied<std::slice::Iter<'i, Id>>,
}

/// A function, and how each argument is passed. Each key is emitted once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: FunctionId,
    passing: Vec<Passing>,
}

/// The functions that are emitted or will be, with their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Clones {
    ids: FxHashMap<Key, Id>,
}

impl Compiler<'_> {
    /// A call of a declared function.
    pub(super) fn call(&mut self, f: FunctionId, arguments: Vec<Value>) -> Done<Value> {
        if self.escaping.contains(&f) {
            return deep(|| self.in_place(f, arguments));
        }
        let program = self.program;
        let function = program.env.function(f);
        let mut call_arguments = CallArguments::default();
        let mut passing = Vec::with_capacity(arguments.len());
        for (argument, parameter) in arguments.into_iter().zip(&function.parameters) {
            passing.push(self.pass(argument, parameter.ty, &mut call_arguments)?);
        }
        let key = Key { function: f, passing };
        let id = match self.clones.ids.get(&key) {
            Some(&id) => id,
            None => {
                if self.clones.ids.len() >= MAX_CLONES {
                    return self
                        .refuse(Construct::Functions, format!("a program of more than {MAX_CLONES} functions, each for other objects"));
                }
                let id = self.e.fresh();
                self.clones.ids.insert(key.clone(), id);
                self.todo.push_back(key);
                id
            }
        };
        let result = self.ty(function.result)?;
        let mut operands = Operands::from_slice(&[id]);
        operands.extend(call_arguments.values);
        operands.extend(call_arguments.roots.iter().map(|r| r.id));
        operands.extend(call_arguments.indices);
        let saved = self.e.enter(Rule::CodegenCall);
        let value = self.e.op(Op::FunctionCall, result, &operands);
        self.e.rule = saved;
        Ok(if function.result == TypeId::VOID { Value::Void } else { Value::Id(value) })
    }

    /// Passes an argument to a parameter of that type.
    fn pass(&mut self, argument: Value, ty: TypeId, call_arguments: &mut CallArguments) -> Done<Passing> {
        let program = self.program;
        let (place, extent) = match argument {
            Value::Void => return self.unforeseen("an argument without value"),
            Value::Id(id) => {
                let root = self.local(ty)?;
                self.store(Rule::CodegenCall, &Place::whole(root), id)?;
                call_arguments.values.push(root.id);
                return Ok(Passing::Stored);
            }
            Value::Address(value) => return Ok(Passing::Address(Box::new(deep(|| self.pass(*value, ty, call_arguments))?))),
            Value::Texture(k) => return Ok(Passing::Texture(k)),
            Value::Sampler(k) => return Ok(Passing::Sampler(k)),
            Value::Record(values) => {
                let Type::Struct(s) = program.env.types.get(ty) else {
                    let what = "a pointer to a structure with a texture or sampler, as an argument,";
                    return self.refuse(Construct::Reference, what);
                };
                let mut fields = Vec::with_capacity(values.len());
                for (value, field) in values.into_iter().zip(&program.env.structure(s).fields) {
                    fields.push(deep(|| self.pass(value, field.ty, call_arguments))?);
                }
                return Ok(Passing::Record(fields));
            }
            Value::Pointer(place) => (place, None),
            Value::Reference(place, extent) => (place, Some(extent)),
        };
        let object = match place.root.class {
            StorageClass::Function => {
                let roots = &mut call_arguments.roots;
                let at = roots.iter().position(|r| r.id == place.root.id).unwrap_or_else(|| {
                    roots.push(place.root);
                    roots.len() - 1
                });
                Object::Parameter(at as u32, place.root.ty)
            }
            _ => Object::Global(place.root),
        };
        let mut steps = SmallVec::new();
        for step in &place.steps {
            steps.push(match *step {
                Step::Field(field) => Some(field),
                Step::Index(index) => {
                    call_arguments.indices.push(index);
                    None
                }
            });
        }
        Ok(Passing::Path(PointerPath { object, steps, ty: place.ty, extent }))
    }

    /// Emits a call in place.
    fn in_place(&mut self, f: FunctionId, arguments: Vec<Value>) -> Done<Value> {
        let program = self.program;
        let body = program.body(f);
        self.e.uses(Rule::CodegenCallInPlace);
        for (argument, &store) in arguments.into_iter().zip(&body.parameters) {
            match argument {
                Value::Id(id) => {
                    let VariableMeaning::Variable(root) = self.bound(store)? else { return self.unforeseen("this parameter") };
                    self.store(Rule::CodegenCall, &Place::whole(root), id)?;
                }
                value => {
                    let meaning = self.bind(value, program.store(store).ty)?;
                    self.stores.insert(store, meaning);
                }
            }
        }
        let outer = std::mem::take(&mut self.branch_targets);
        let returns = std::mem::replace(&mut self.returns, Returns::Gives(None));
        let span = self.span;
        self.statement(body.block)?;
        self.branch_targets = outer;
        self.span = span;
        match std::mem::replace(&mut self.returns, returns) {
            Returns::Gives(Some(value)) => Ok(value),
            _ => self.unreachable_result(program.env.function(f).result),
        }
    }

    /// The result of a call that never returns, for example because its function discards the
    /// fragment. Nothing uses the result, and no invocation reaches the code after the call.
    fn unreachable_result(&mut self, ty: TypeId) -> Done<Value> {
        if !self.e.body.open {
            let unreachable_block = self.e.fresh();
            self.e.begin(unreachable_block);
        }
        let types = &self.program.env.types;
        match types.get(ty) {
            Type::Pointer(_, to) if types.is_reference(to) => Ok(Value::Address(Box::new(deep(|| self.unreachable_result(to))?))),
            Type::Pointer(_, to) => Ok(Value::Pointer(Place::whole(self.local(to)?))),
            Type::ArrayReference(_, of) if self.is_known(of) => {
                self.refuse(Construct::Reference, "an array reference to a pointer, texture or sampler, or to a structure with one")
            }
            Type::ArrayReference(_, of) => Ok(Value::Reference(Place::whole(self.local(of)?), Extent::Single)),
            _ => self.unforeseen("a call, in place, of a function that never returns a value of this type"),
        }
    }

    /// Emits the functions that are called, until no call is left.
    pub(super) fn emit_callees(&mut self) -> Done {
        while let Some(key) = self.todo.pop_front() {
            let Some(&id) = self.clones.ids.get(&key) else { continue };
            self.function(&key, id)?;
        }
        Ok(())
    }

    fn function(&mut self, key: &Key, id: Id) -> Done {
        let program = self.program;
        let function = program.env.function(key.function);
        let body = program.body(key.function);
        self.span = function.span;
        self.stores.clear();
        let mut signature = Signature::default();
        for (parameter, passing) in function.parameters.iter().zip(&key.passing) {
            self.add_to_signature(passing, parameter.ty, &mut signature);
        }
        let mut types = Vec::new();
        for &ty in signature.values.iter().chain(&signature.objects) {
            let of = self.ty(ty)?;
            types.push(self.pointer(StorageClass::Function, of));
        }
        let uint = self.uint();
        types.extend(std::iter::repeat_n(uint, signature.indices));
        let ids: Vec<Id> = types.iter().map(|_| self.e.fresh()).collect();
        let (values, rest) = ids.split_at(signature.values.len());
        let (objects, indices) = rest.split_at(signature.objects.len());
        let root = |(&id, &ty): (&Id, &TypeId)| Root { id, class: StorageClass::Function, ty, buffer: false };
        let mut parameters = Parameters {
            values: values.iter().copied(),
            objects: objects.iter().zip(&signature.objects).map(root).collect(),
            indices: indices.iter().copied(),
        };
        for ((parameter, passing), &store) in function.parameters.iter().zip(&key.passing).zip(&body.parameters) {
            let meaning = self.parameter_meaning(passing, parameter.ty, &mut parameters)?;
            self.stores.insert(store, meaning);
        }
        let result = self.ty(function.result)?;
        let parameters: Vec<(Id, Id)> = types.into_iter().zip(ids.iter().copied()).collect();
        let name = program.env.key_name(function.key);
        self.emitted(id, result, &parameters, &name, |c| {
            c.debug_function(id, function, &name)?;
            c.debug_parameters(key.function)?;
            c.statement(body.block)
        })
    }

    /// Emits the debug information of the parameters that have storage.
    pub(super) fn debug_parameters(&mut self, f: FunctionId) -> Done {
        if self.debug.is_none() {
            return Ok(());
        }
        let program = self.program;
        for ((number, &store), parameter) in (1..).zip(&program.body(f).parameters).zip(&program.env.function(f).parameters) {
            if let Some(VariableMeaning::Variable(root)) = self.stores.get(&store) {
                let id = root.id;
                self.debug_variable(id, program.env.names.name(parameter.name), parameter.ty, parameter.span, Some(number))?;
            }
        }
        Ok(())
    }

    /// Adds the SPIR-V parameters of a parameter to the signature.
    fn add_to_signature(&self, passing: &Passing, ty: TypeId, signature: &mut Signature) {
        match passing {
            Passing::Stored => signature.values.push(ty),
            Passing::Path(path) => {
                if let Object::Parameter(at, of) = path.object
                    && at as usize == signature.objects.len()
                {
                    signature.objects.push(of);
                }
                signature.indices += path.steps.iter().filter(|step| step.is_none()).count();
            }
            Passing::Address(passing) => deep(|| self.add_to_signature(passing, ty, signature)),
            Passing::Texture(_) | Passing::Sampler(_) => {}
            Passing::Record(passing) => {
                if let Type::Struct(s) = self.program.env.types.get(ty) {
                    for (passing, field) in passing.iter().zip(&self.program.env.structure(s).fields) {
                        deep(|| self.add_to_signature(passing, field.ty, signature));
                    }
                }
            }
        }
    }

    /// The meaning of a parameter in the callee.
    fn parameter_meaning(&self, passing: &Passing, ty: TypeId, parameters: &mut Parameters) -> Done<VariableMeaning> {
        Ok(match passing {
            Passing::Stored => {
                let Some(id) = parameters.values.next() else { return self.unforeseen("this parameter") };
                VariableMeaning::Variable(Root { id, class: StorageClass::Function, ty, buffer: false })
            }
            Passing::Path(path) => {
                let root = match path.object {
                    Object::Global(root) => Some(root),
                    Object::Parameter(at, _) => parameters.objects.get(at as usize).copied(),
                };
                let Some(root) = root else { return self.unforeseen("this parameter") };
                let mut steps = SmallVec::new();
                for step in &path.steps {
                    steps.push(match (*step, step.is_none().then(|| parameters.indices.next()).flatten()) {
                        (Some(field), _) => Step::Field(field),
                        (None, Some(index)) => Step::Index(index),
                        (None, None) => return self.unforeseen("this parameter"),
                    });
                }
                let place = Place { root, steps, ty: path.ty };
                VariableMeaning::Known(match path.extent {
                    None => Value::Pointer(place),
                    Some(extent) => Value::Reference(place, extent),
                })
            }
            Passing::Address(passing) => match deep(|| self.parameter_meaning(passing, ty, parameters))? {
                VariableMeaning::Known(value) => VariableMeaning::Known(Value::Address(Box::new(value))),
                VariableMeaning::Variable(_) | VariableMeaning::Record(_) => return self.unforeseen("the address of this as an argument"),
            },
            Passing::Texture(k) => VariableMeaning::Known(Value::Texture(*k)),
            Passing::Sampler(k) => VariableMeaning::Known(Value::Sampler(*k)),
            Passing::Record(passing) => {
                let Type::Struct(s) = self.program.env.types.get(ty) else { return self.unforeseen("this parameter") };
                let mut fields = Vec::with_capacity(passing.len());
                for (passing, field) in passing.iter().zip(&self.program.env.structure(s).fields) {
                    fields.push(deep(|| self.parameter_meaning(passing, field.ty, parameters))?);
                }
                VariableMeaning::Record(fields)
            }
        })
    }

    /// Emits a function. `body` emits the code in it, and `parameters` are types and ids.
    pub(super) fn emitted(
        &mut self,
        id: Id,
        result: Id,
        parameters: &[(Id, Id)],
        name: &str,
        body: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let saved = self.e.enter(Rule::CodegenFunction);
        let mut signature = vec![result];
        signature.extend(parameters.iter().map(|(ty, _)| *ty));
        let ty = self.e.declare(Op::TypeFunction, None, &signature);
        self.e.name(id, name);
        let outer = std::mem::take(&mut self.e.body);
        (self.branch_targets, self.returns) = (BranchTargets::default(), Returns::Ends);
        let outer_scope = self.debug_leaves();
        let first = self.e.fresh();
        (self.e.body.block, self.e.body.open) = (first, true);
        body(self)?;
        self.e.enter(Rule::CodegenFunction);
        if self.e.body.open {
            let is_void = result == self.void();
            self.e.end(if is_void { Op::Return } else { Op::Unreachable }, &[]);
        }
        if let Some(debug) = &mut self.debug {
            debug.scope = outer_scope;
        }
        let Body { variables, code, .. } = std::mem::replace(&mut self.e.body, outer);
        let out = &mut self.e.functions;
        super::push(out, Op::Function, &[result, id, FunctionControl::NONE.bits(), ty]);
        for (ty, id) in parameters {
            super::push(out, Op::FunctionParameter, &[*ty, *id]);
        }
        super::push(out, Op::Label, &[first]);
        out.extend(variables);
        out.extend(code);
        super::push(out, Op::FunctionEnd, &[]);
        self.e.rule = saved;
        Ok(())
    }
}

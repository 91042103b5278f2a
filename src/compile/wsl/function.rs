//! Functions: seed 003 "Functions", "Function parameter".
//!
//! A parameter is a variable of the caller, whose pointer is passed. Where a pointer or array
//! reference is passed, the callee is emitted for that object and that way to its part: the object
//! is a variable of the module, or a parameter that points at a whole variable of some caller; the
//! indices on the way are parameters. Two pointers into one object are two ways from one
//! parameter, so nothing is copied in and out and no two parameters alias.
//!
//! Functions that return a pointer or array reference return at their end only, and are emitted
//! where they are called; their variables are Private, for their addresses outlive the call.

use super::emit::{Body, Id, Operands};
use super::place::{Bound, Extent, Place, Root, Step, Value};
use super::row::Row;
use super::{Around, Compiler, Done, Returns};
use rspirv::spirv::{FunctionControl, Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::types::TypeId;
use smallvec::SmallVec;

/// The most functions that are emitted.
const MAX_CLONES: usize = 1 << 12;

/// The object of a pointer that is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Object {
    /// A variable of the module.
    Global(Root),
    /// The variable that this parameter of its kind points at, with the type of what it holds.
    Passed(u32, TypeId),
}

/// The way of a pointer that is passed; the indices are passed beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Way {
    object: Object,
    /// A field, or an index.
    steps: SmallVec<[Option<u32>; 4]>,
    ty: TypeId,
    /// Of an array reference.
    extent: Option<Extent>,
}

/// Which function, and for each parameter that is a pointer or array reference its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: FunctionId,
    ways: Vec<Option<Way>>,
}

/// The functions that are emitted or to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Clones {
    ids: FxHashMap<Key, Id>,
}

impl Compiler<'_> {
    /// A call.
    pub(super) fn call(&mut self, f: FunctionId, arguments: Vec<Value>) -> Done<Value> {
        if self.escaping.contains(&f) {
            return deep(|| self.in_place(f, arguments));
        }
        let program = self.program;
        let function = program.env.function(f);
        let (mut values, mut roots, mut indices): (Vec<Id>, Vec<Root>, Vec<Id>) = (Vec::new(), Vec::new(), Vec::new());
        let mut ways = Vec::with_capacity(arguments.len());
        for (argument, parameter) in arguments.into_iter().zip(&function.parameters) {
            let (place, extent) = match argument {
                Value::Void => return self.refuse("an argument without value"),
                Value::Address(_) => return self.refuse("the address of a pointer as an argument"),
                Value::Id(id) => {
                    let root = self.local(parameter.ty)?;
                    self.store(Row::Call, &Place::whole(root), id)?;
                    values.push(root.id);
                    ways.push(None);
                    continue;
                }
                Value::Pointer(place) => (place, None),
                Value::Reference(place, extent) => (place, Some(extent)),
            };
            let object = match place.root.class {
                StorageClass::Function => {
                    let at = roots.iter().position(|r| r.id == place.root.id).unwrap_or_else(|| {
                        roots.push(place.root);
                        roots.len() - 1
                    });
                    Object::Passed(at as u32, place.root.ty)
                }
                _ => Object::Global(place.root),
            };
            let mut steps = SmallVec::new();
            for step in &place.steps {
                steps.push(match *step {
                    Step::Field(field) => Some(field),
                    Step::Index(index) => {
                        indices.push(index);
                        None
                    }
                });
            }
            ways.push(Some(Way { object, steps, ty: place.ty, extent }));
        }
        let key = Key { function: f, ways };
        let id = match self.clones.ids.get(&key) {
            Some(&id) => id,
            None => {
                if self.clones.ids.len() >= MAX_CLONES {
                    return self.refuse(format!("a program of more than {MAX_CLONES} functions, each for other objects"));
                }
                let id = self.e.fresh();
                self.clones.ids.insert(key.clone(), id);
                self.todo.push_back(key);
                id
            }
        };
        let result = self.ty(function.result)?;
        let mut operands = Operands::from_slice(&[id]);
        operands.extend(values);
        operands.extend(roots.iter().map(|r| r.id));
        operands.extend(indices);
        let saved = self.e.enter(Row::Call);
        let value = self.e.op(Op::FunctionCall, result, &operands);
        self.e.row = saved;
        Ok(if function.result == TypeId::VOID { Value::Void } else { Value::Id(value) })
    }

    /// A call that is emitted in place.
    fn in_place(&mut self, f: FunctionId, arguments: Vec<Value>) -> Done<Value> {
        let program = self.program;
        let body = program.body(f);
        for (argument, &store) in arguments.into_iter().zip(&body.parameters) {
            match argument {
                Value::Id(id) => {
                    let Bound::Variable(root) = self.bound(store)? else { return self.refuse("this parameter") };
                    self.store(Row::Call, &Place::whole(root), id)?;
                }
                known => _ = self.stores.insert(store, Bound::Known(known)),
            }
        }
        let around = std::mem::take(&mut self.around);
        let returns = std::mem::replace(&mut self.returns, Returns::Gives(None));
        let span = self.span;
        self.statement(body.block)?;
        self.around = around;
        self.span = span;
        match std::mem::replace(&mut self.returns, returns) {
            Returns::Gives(Some(value)) => Ok(value),
            _ => self.refuse("a function that returns a pointer or array reference, and not at its end"),
        }
    }

    /// Emits the functions that are called, and those that they call.
    pub(super) fn callees(&mut self) -> Done {
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
        let mut types = Vec::new();
        let mut ids = Vec::new();
        // Values, then objects, then indices.
        for (parameter, way) in function.parameters.iter().zip(&key.ways) {
            if way.is_none() {
                let of = self.ty(parameter.ty)?;
                types.push(self.pointer(StorageClass::Function, of));
            }
        }
        let mut objects: Vec<TypeId> = Vec::new();
        for way in key.ways.iter().flatten() {
            if let Object::Passed(at, ty) = way.object
                && at as usize == objects.len()
            {
                objects.push(ty);
                let of = self.ty(ty)?;
                types.push(self.pointer(StorageClass::Function, of));
            }
        }
        let count = key.ways.iter().flatten().flat_map(|way| &way.steps).filter(|step| step.is_none()).count();
        let uint = self.uint();
        types.extend(std::iter::repeat_n(uint, count));
        ids.extend(types.iter().map(|_| self.e.fresh()));
        let (mut values, mut rest) = (ids.iter().copied(), ids.iter().copied().skip(key.ways.iter().filter(|w| w.is_none()).count()));
        let passed: Vec<Root> =
            objects.iter().map(|&ty| Root { id: rest.next().unwrap_or(0), class: StorageClass::Function, ty, buffer: false }).collect();
        for ((parameter, way), &store) in function.parameters.iter().zip(&key.ways).zip(&body.parameters) {
            let bound = match way {
                None => {
                    let id = values.next().unwrap_or(0);
                    Bound::Variable(Root { id, class: StorageClass::Function, ty: parameter.ty, buffer: false })
                }
                Some(way) => {
                    let root = match way.object {
                        Object::Global(root) => root,
                        Object::Passed(at, _) => passed[at as usize],
                    };
                    let steps = way.steps.iter().map(|step| match *step {
                        Some(field) => Step::Field(field),
                        None => Step::Index(rest.next().unwrap_or(0)),
                    });
                    let place = Place { root, steps: steps.collect(), ty: way.ty };
                    Bound::Known(match way.extent {
                        None => Value::Pointer(place),
                        Some(extent) => Value::Reference(place, extent),
                    })
                }
            };
            self.stores.insert(store, bound);
        }
        let result = self.ty(function.result)?;
        let parameters: Vec<(Id, Id)> = types.into_iter().zip(ids.iter().copied()).collect();
        let name = program.env.key_name(function.key);
        self.emitted(id, result, &parameters, &name, |c| c.statement(body.block))
    }

    /// Emits a function around its body.
    pub(super) fn emitted(
        &mut self,
        id: Id,
        result: Id,
        parameters: &[(Id, Id)],
        name: &str,
        body: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let saved = self.e.enter(Row::Function);
        let mut signature = vec![result];
        signature.extend(parameters.iter().map(|(ty, _)| *ty));
        let ty = self.e.declare(Op::TypeFunction, None, &signature);
        self.e.name(id, name);
        let outer = std::mem::take(&mut self.e.body);
        (self.around, self.returns) = (Around::default(), Returns::Ends);
        let first = self.e.fresh();
        (self.e.body.block, self.e.body.open) = (first, true);
        body(self)?;
        self.e.enter(Row::Function);
        if self.e.body.open {
            let is_void = result == self.void();
            self.e.end(if is_void { Op::Return } else { Op::Unreachable }, &[]);
        }
        let Body { variables, code, .. } = std::mem::replace(&mut self.e.body, outer);
        let out = &mut self.e.functions;
        super::put(out, Op::Function, &[result, id, FunctionControl::NONE.bits(), ty]);
        for (ty, id) in parameters {
            super::put(out, Op::FunctionParameter, &[*ty, *id]);
        }
        super::put(out, Op::Label, &[first]);
        out.extend(variables);
        out.extend(code);
        super::put(out, Op::FunctionEnd, &[]);
        self.e.row = saved;
        Ok(())
    }
}

//! The lowering of statements and functions. Each function that writes statements returns whether
//! control reaches their end.

mod control;

use super::emit::{Buffer, Emit};
use super::plant::Planted;
use super::tree::*;
use control::Frame;
use rspirv::spirv::{self, FunctionControl, SelectionControl, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::write::Id;

/// The scope Device.
pub(super) const DEVICE: u32 = spirv::Scope::Device as u32;
/// The scope Workgroup.
pub(super) const WORKGROUP: u32 = spirv::Scope::Workgroup as u32;
/// The semantics AcquireRelease with WorkgroupMemory.
pub(super) const WORKGROUP_ORDER: u32 = 0x108;
/// The semantics AcquireRelease with UniformMemory, for storage buffers.
const BUFFER_ORDER: u32 = 0x48;

/// A module under construction.
pub(super) struct Lower<'m> {
    pub module: &'m Module,
    pub emit: Emit,
    /// The id of each local.
    locals: Vec<Id>,
    /// The label of the current block.
    pub label: Id,
    frames: Vec<Frame>,
    /// The index of the current function.
    pub function: u32,
    functions: Vec<(Id, f64)>,
    parameters: Vec<Id>,
    variables: FxHashMap<u32, Id>,
    shared: FxHashMap<u32, Id>,
    counters: FxHashMap<u32, Id>,
    /// The index of the first word of this invocation's part of the output.
    pub base: Id,
    /// The variable that the plant of this function needs, declared at the function's start.
    pub plant_variable: Id,
    /// The planted defect, once it is written.
    pub planted: Option<Planted>,
    /// The number of words that each invocation has in the output buffer.
    pub words_each: u32,
    /// The function that calls itself, if that defect was planted.
    pub recursive: Option<Id>,
}

impl<'m> Lower<'m> {
    pub fn new(module: &'m Module) -> Lower<'m> {
        let observed = module.plant().is_some_and(|plant| plant.needs_word());
        Lower {
            module,
            emit: Emit::new(module),
            locals: vec![0; module.locals.len()],
            label: 0,
            frames: Vec::new(),
            function: ENTRY,
            functions: Vec::new(),
            parameters: Vec::new(),
            variables: FxHashMap::default(),
            shared: FxHashMap::default(),
            counters: FxHashMap::default(),
            base: 0,
            plant_variable: 0,
            planted: None,
            words_each: module.output_words.max(1) + u32::from(observed),
            recursive: None,
        }
    }

    /// Writes all functions. Returns the id of the entry point.
    pub fn functions(&mut self) -> Id {
        let module = self.module;
        for (i, function) in module.functions.iter().enumerate() {
            let id = self.function(i as u32, function);
            self.functions.push((id, self.emit.executed));
        }
        let main = self.function(ENTRY, &module.main);
        let executed = self.emit.executed;
        if let Some(id) = self.recursive {
            self.recursion(id);
        }
        self.emit.executed = executed;
        main
    }

    fn function(&mut self, index: u32, function: &Function) -> Id {
        self.function = index;
        (self.emit.weight, self.emit.executed) = (1.0, 0.0);
        let result = match &function.result {
            None => self.emit.void(),
            Some(e) => self.emit.ty(&e.ty),
        };
        let mut types = vec![result];
        for parameter in &function.parameters {
            let ty = match parameter {
                Parameter::Value(_, ty) => self.emit.ty(ty),
                Parameter::Pointer(ty, private) => {
                    let to = self.emit.ty(ty);
                    self.emit.pointer(if *private { StorageClass::Private } else { StorageClass::Function }, to)
                }
            };
            types.push(ty);
        }
        let function_type = self.emit.function_type(&types);
        let id = self.emit.op(spirv::Op::Function, result, &[FunctionControl::NONE.bits(), function_type]);
        self.parameters.clear();
        for (parameter, &ty) in function.parameters.iter().zip(&types[1..]) {
            let id = self.emit.op(spirv::Op::FunctionParameter, ty, &[]);
            self.parameters.push(id);
            if let Parameter::Value(local, _) = parameter {
                self.locals[*local as usize] = id;
            }
        }
        let entry = self.emit.id();
        self.begin(entry);
        self.function_variables(index, function);
        // The declarations of a function are not executed.
        self.emit.executed = 0.0;
        if index == ENTRY {
            self.entry_values();
        }
        if self.block(&function.body) {
            match &function.result {
                None => self.emit.act(spirv::Op::Return, &[]),
                Some(e) => {
                    let value = self.value(e);
                    self.emit.act(spirv::Op::ReturnValue, &[value]);
                }
            }
        }
        self.emit.act(spirv::Op::FunctionEnd, &[]);
        id
    }

    fn function_variables(&mut self, index: u32, function: &Function) {
        let module = self.module;
        let mut stores = Vec::new();
        for (i, variable) in module.variables.iter().enumerate().filter(|(_, v)| v.class == Class::Function(index)) {
            let first = self.emit.constant(&variable.ty, &variable.first);
            let to = self.emit.ty(&variable.ty);
            let pointer = self.emit.pointer(StorageClass::Function, to);
            let class = StorageClass::Function as u32;
            let id = match variable.stored {
                true => {
                    let id = self.emit.op(spirv::Op::Variable, pointer, &[class]);
                    stores.push((id, first));
                    id
                }
                false => self.emit.op(spirv::Op::Variable, pointer, &[class, first]),
            };
            self.variables.insert(i as u32, id);
        }
        self.declare_plant(&function.body);
        for (variable, first) in stores {
            self.emit.act(spirv::Op::Store, &[variable, first]);
        }
    }

    /// Computes the index of this invocation's part of the output, and initializes the counters in
    /// Workgroup memory.
    fn entry_values(&mut self) {
        let module = self.module;
        let uint = self.emit.ty(&Type::UINT);
        let [nx, ny, nz] = module.groups;
        let mut group = None;
        for (i, n) in [(2, nz), (1, ny), (0, nx)] {
            if n > 1 || (i == 0 && group.is_none()) {
                let at = self.emit.builtin(Builtin::Group(i));
                group = Some(match group {
                    None => at,
                    Some(sum) => {
                        let n = self.emit.uint(n);
                        let product = self.emit.op(spirv::Op::IMul, uint, &[sum, n]);
                        self.emit.op(spirv::Op::IAdd, uint, &[product, at])
                    }
                });
            } else if let Some(sum) = group {
                let n = self.emit.uint(n);
                group = Some(self.emit.op(spirv::Op::IMul, uint, &[sum, n]));
            }
        }
        let count = self.emit.uint(module.local_count());
        let product = self.emit.op(spirv::Op::IMul, uint, &[group.unwrap_or(count), count]);
        let local = self.emit.builtin(Builtin::LocalIndex);
        let invocation = self.emit.op(spirv::Op::IAdd, uint, &[product, local]);
        let each = self.emit.uint(self.words_each);
        self.base = self.emit.op(spirv::Op::IMul, uint, &[invocation, each]);
        self.emit.buffer(Buffer::Output);
        let mut any = false;
        for i in 0..module.counters.len() as u32 {
            let counter = module.counters[i as usize];
            if !counter.workgroup || !counts(module, i) {
                continue;
            }
            any = true;
            let length = self.emit.uint(self.counter_length(i));
            let boolean = self.emit.ty(&Type::BOOL);
            let inside = self.emit.op(spirv::Op::ULessThan, boolean, &[local, length]);
            let neutral = self.emit.uint(neutral(counter.atomic));
            self.if_true(inside, |lower| {
                let word = lower.counter_word(i, local);
                lower.emit.act(spirv::Op::Store, &[word, neutral]);
            });
        }
        if any {
            self.barrier(WORKGROUP_ORDER);
        }
    }

    /// Writes statements that run only if the Boolean is true.
    pub fn if_true(&mut self, condition: Id, body: impl FnOnce(&mut Self)) {
        let (then, merge) = (self.emit.id(), self.emit.id());
        self.emit.act(spirv::Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.emit.act(spirv::Op::BranchConditional, &[condition, then, merge]);
        self.begin(then);
        body(self);
        self.emit.act(spirv::Op::Branch, &[merge]);
        self.begin(merge);
    }

    pub fn begin(&mut self, label: Id) {
        self.emit.code.push(spirv::Op::Label, &[label]);
        self.label = label;
    }

    /// An OpControlBarrier of the workgroup with these semantics.
    pub fn barrier(&mut self, semantics: u32) {
        let scope = self.emit.uint(WORKGROUP);
        let semantics = self.emit.uint(semantics);
        self.emit.act(spirv::Op::ControlBarrier, &[scope, scope, semantics]);
    }

    pub fn local(&self, local: Local) -> Id {
        self.locals[local as usize]
    }

    pub fn called(&self, function: u32) -> (Id, f64) {
        self.functions[function as usize]
    }

    /// The pointer to a whole variable, and its storage class.
    pub fn root(&mut self, root: Root) -> (Id, StorageClass) {
        let module = self.module;
        match root {
            Root::Parameter(i) => {
                let private =
                    module.function(self.function).is_some_and(|f| matches!(f.parameters[i as usize], Parameter::Pointer(_, true)));
                (self.parameters[i as usize], if private { StorageClass::Private } else { StorageClass::Function })
            }
            Root::Variable(i) => {
                let variable = &module.variables[i as usize];
                if let Class::Function(_) = variable.class {
                    return (self.variables[&i], StorageClass::Function);
                }
                if let Some(&id) = self.variables.get(&i) {
                    return (id, StorageClass::Private);
                }
                let first = self.emit.constant(&variable.ty, &variable.first);
                let ty = self.emit.ty(&variable.ty);
                let id = self.emit.global(StorageClass::Private, ty, Some(first));
                self.variables.insert(i, id);
                (id, StorageClass::Private)
            }
        }
    }

    /// The variable of a shared array.
    pub fn shared(&mut self, array: u32) -> Id {
        if let Some(&id) = self.shared.get(&array) {
            return id;
        }
        let ty = self.emit.array_type(&self.module.shared[array as usize], self.module.local_count());
        let id = self.emit.global(StorageClass::Workgroup, ty, None);
        self.shared.insert(array, id);
        id
    }

    /// A pointer to one element of a shared array.
    pub fn shared_element(&mut self, array: u32, index: Id) -> Id {
        let variable = self.shared(array);
        let element_type = self.emit.ty(&self.module.shared[array as usize]);
        let pointer = self.emit.pointer(StorageClass::Workgroup, element_type);
        self.emit.op(spirv::Op::AccessChain, pointer, &[variable, index])
    }

    fn counter_length(&self, counter: u32) -> u32 {
        let Counter { workgroup, length, .. } = self.module.counters[counter as usize];
        if workgroup { length.clamp(1, self.module.local_count()) } else { length.max(1) }
    }

    fn counter_word(&mut self, counter: u32, index: Id) -> Id {
        let module = self.module;
        let uint = self.emit.ty(&Type::UINT);
        if !module.counters[counter as usize].workgroup {
            let before: u32 = module.counters[..counter as usize].iter().filter(|c| !c.workgroup).map(|c| c.length.max(1)).sum();
            let before = self.emit.uint(before);
            let index = self.emit.op(spirv::Op::IAdd, uint, &[before, index]);
            return self.emit.word(Buffer::Counters, index);
        }
        let variable = match self.counters.get(&counter) {
            Some(&id) => id,
            None => {
                let ty = self.emit.array_type(&Type::UINT, self.counter_length(counter));
                let id = self.emit.global(StorageClass::Workgroup, ty, None);
                self.counters.insert(counter, id);
                id
            }
        };
        let pointer = self.emit.pointer(StorageClass::Workgroup, uint);
        self.emit.op(spirv::Op::AccessChain, pointer, &[variable, index])
    }

    /// Lowers statements. Returns whether control reaches their end.
    fn block(&mut self, block: &[Stmt]) -> bool {
        block.iter().all(|stmt| self.stmt(stmt))
    }

    fn values(&mut self, values: &[Expr]) -> Vec<Id> {
        values.iter().map(|e| self.value(e)).collect()
    }

    fn weighted<T>(&mut self, weight: f64, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.emit.weight;
        self.emit.weight = outer * weight;
        let result = body(self);
        self.emit.weight = outer;
        result
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(local, e) => self.locals[*local as usize] = self.value(e),
            Stmt::Store(place, e) => {
                let value = self.value(e);
                let (pointer, _) = self.place(place.root, &place.path, &place.indices, e.guard);
                self.emit.act(spirv::Op::Store, &[pointer, value]);
            }
            Stmt::Copy(to, from) => {
                let ((to, _), (from, _)) = (self.root(*to), self.root(*from));
                self.emit.act(spirv::Op::CopyMemory, &[to, from]);
            }
            Stmt::If(condition, arms, phis) => return self.selection(condition, arms, phis),
            Stmt::Switch(selector, cases, default, phis) => return self.switch(selector, cases, default, phis),
            Stmt::Loop(l) => return self.repeat(l),
            Stmt::Exit(exit, values) => {
                self.exit(*exit, values);
                return false;
            }
            Stmt::Return(value) => {
                match value {
                    None => self.emit.act(spirv::Op::Return, &[]),
                    Some(e) => {
                        let value = self.value(e);
                        self.emit.act(spirv::Op::ReturnValue, &[value]);
                    }
                }
                return false;
            }
            Stmt::Barrier => self.barrier(WORKGROUP_ORDER),
            Stmt::Output(slot, e) => {
                let value = self.value(e);
                let word = self.slot(slot);
                self.emit.act(spirv::Op::Store, &[word, value]);
            }
            Stmt::Exchange { array, value, index, result } => {
                let value = self.value(value);
                let local = self.emit.builtin(Builtin::LocalIndex);
                let own = self.shared_element(*array, local);
                self.emit.act(spirv::Op::Store, &[own, value]);
                self.barrier(WORKGROUP_ORDER);
                let i = self.value(index);
                let i = self.bounded(i, self.module.local_count(), index.guard);
                let other = self.shared_element(*array, i);
                let ty = self.emit.ty(&self.module.shared[*array as usize]);
                self.locals[*result as usize] = self.emit.op(spirv::Op::Load, ty, &[other]);
                self.barrier(WORKGROUP_ORDER);
            }
            Stmt::Count { counter, index, value } => {
                let operand = self.value(value);
                let i = self.value(index);
                let i = self.bounded(i, self.counter_length(*counter), index.guard);
                let word = self.counter_word(*counter, i);
                let Counter { workgroup, atomic, .. } = self.module.counters[*counter as usize];
                let (scope, order) = if workgroup { (WORKGROUP, WORKGROUP_ORDER) } else { (DEVICE, BUFFER_ORDER) };
                let scope = self.emit.uint(scope);
                let order = self.emit.uint(if value.guard { order } else { 0 });
                let uint = self.emit.ty(&Type::UINT);
                self.emit.op(instruction(atomic), uint, &[word, scope, order, operand]);
            }
            Stmt::ReadCounter { counter, index, result } => {
                self.barrier(WORKGROUP_ORDER);
                let i = self.value(index);
                let i = self.bounded(i, self.counter_length(*counter), index.guard);
                let word = self.counter_word(*counter, i);
                let uint = self.emit.ty(&Type::UINT);
                self.locals[*result as usize] = match index.guard {
                    false => self.emit.op(spirv::Op::Load, uint, &[word]),
                    true => {
                        let (scope, relaxed) = (self.emit.uint(WORKGROUP), self.emit.uint(0));
                        self.emit.op(spirv::Op::AtomicLoad, uint, &[word, scope, relaxed])
                    }
                };
                self.barrier(WORKGROUP_ORDER);
            }
            Stmt::Own { atomic, slot, values, result } => {
                let operands = self.values(values);
                let word = self.slot(slot);
                self.locals[*result as usize] = self.own_atomic(*atomic, word, operands[0], operands[1]);
            }
            Stmt::Plant(plant) => return self.plant(plant),
        }
        true
    }

    /// A pointer to a word of this invocation's part of the output. The expression is its index.
    fn slot(&mut self, slot: &Expr) -> Id {
        let at = self.value(slot);
        let at = self.bounded(at, self.module.output_words.max(1), slot.guard);
        let uint = self.emit.ty(&Type::UINT);
        let index = self.emit.op(spirv::Op::IAdd, uint, &[self.base, at]);
        self.emit.word(Buffer::Output, index)
    }

    fn own_atomic(&mut self, atomic: OwnAtomic, word: Id, value: Id, comparator: Id) -> Id {
        let uint = self.emit.ty(&Type::UINT);
        let (scope, relaxed) = (self.emit.uint(DEVICE), self.emit.uint(0));
        let op = match atomic {
            OwnAtomic::Rmw(atomic) => instruction(atomic),
            OwnAtomic::Exchange => spirv::Op::AtomicExchange,
            OwnAtomic::ISub => spirv::Op::AtomicISub,
            OwnAtomic::Increment => return self.emit.op(spirv::Op::AtomicIIncrement, uint, &[word, scope, relaxed]),
            OwnAtomic::Decrement => return self.emit.op(spirv::Op::AtomicIDecrement, uint, &[word, scope, relaxed]),
            OwnAtomic::Load => return self.emit.op(spirv::Op::AtomicLoad, uint, &[word, scope, relaxed]),
            OwnAtomic::Store => {
                self.emit.act(spirv::Op::AtomicStore, &[word, scope, relaxed, value]);
                return value;
            }
            OwnAtomic::CompareExchange => {
                let operands = [word, scope, relaxed, relaxed, value, comparator];
                return self.emit.op(spirv::Op::AtomicCompareExchange, uint, &operands);
            }
        };
        self.emit.op(op, uint, &[word, scope, relaxed, value])
    }
}

/// Whether a statement changes or reads a counter.
pub(super) fn counts(module: &Module, counter: u32) -> bool {
    let mut found = false;
    module.clone().each_block(&mut |block| {
        found |= block
            .iter()
            .any(|stmt| matches!(stmt, Stmt::Count { counter: at, .. } | Stmt::ReadCounter { counter: at, .. } if *at == counter));
    });
    found
}

/// The neutral element of an operation.
pub(super) fn neutral(atomic: Atomic) -> u32 {
    match atomic {
        Atomic::IAdd | Atomic::Or | Atomic::Xor | Atomic::UMax => 0,
        Atomic::And | Atomic::UMin => u32::MAX,
        Atomic::SMin => i32::MAX as u32,
        Atomic::SMax => i32::MIN as u32,
    }
}

fn instruction(atomic: Atomic) -> spirv::Op {
    match atomic {
        Atomic::IAdd => spirv::Op::AtomicIAdd,
        Atomic::And => spirv::Op::AtomicAnd,
        Atomic::Or => spirv::Op::AtomicOr,
        Atomic::Xor => spirv::Op::AtomicXor,
        Atomic::SMin => spirv::Op::AtomicSMin,
        Atomic::SMax => spirv::Op::AtomicSMax,
        Atomic::UMin => spirv::Op::AtomicUMin,
        Atomic::UMax => spirv::Op::AtomicUMax,
    }
}

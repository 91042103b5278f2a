//! The random generation of modules: functions, variables and statements. It estimates the
//! instructions that an invocation will run.

mod control;

use super::compose::cost;
use super::feature::leave_out;
use super::mix::{Limits, Mix};
use super::repair::repair;
use super::tree::*;
use crate::random::Random;
use control::Nest;

/// The maximum nesting depth of lists of statements.
const DEEPEST: u32 = 4;

/// A module under construction.
pub(super) struct Draw {
    pub random: Random,
    pub mix: Mix,
    pub module: Module,
    /// The locals in scope.
    pub scope: Vec<Local>,
    function: u32,
    nest: Vec<Nest>,
    /// Whether all invocations of a workgroup reach this place together.
    uniform: bool,
    /// The result type of the returns that may stand here. `None` if no return may.
    returns: Option<Option<Type>>,
    /// An estimate of the instructions that a call of each function runs.
    costs: Vec<f64>,
    /// Private variables that are passed by pointer. Functions do not access them by name, because
    /// SPIR-V §2.18.2 forbids aliases.
    pointer_variables: Vec<u32>,
}

/// The module of a seed. Its mix is drawn within the limits.
pub fn module(seed: u64, limits: &Limits) -> Module {
    let mut random = Random::new(seed ^ 0x7370_6972_765f_6373);
    let mix = Mix::draw(&mut random, limits);
    let mut module = drawn(&mix, random);
    leave_out(&mut module, &limits.left_out);
    module
}

/// A module with this mix.
pub fn drawn(mix: &Mix, random: Random) -> Module {
    let module = Module {
        minor: mix.minor,
        local_size: mix.local_size,
        groups: mix.groups,
        functions: Vec::new(),
        main: Function::default(),
        variables: Vec::new(),
        shared: Vec::new(),
        counters: Vec::new(),
        table: Type::Struct(vec![Type::UINT]),
        table_words: vec![0],
        input: Vec::new(),
        output_words: mix.output_words,
        locals: Vec::new(),
    };
    let mut draw = Draw {
        random,
        mix: mix.clone(),
        module,
        scope: Vec::new(),
        function: ENTRY,
        nest: Vec::new(),
        uniform: true,
        returns: None,
        costs: Vec::new(),
        pointer_variables: Vec::new(),
    };
    draw.resources();
    for i in 0..mix.functions {
        draw.draw_function(i);
    }
    draw.entry();
    // Removes unused items: functions that are never called, variables that are never read.
    repair(&mut draw.module);
    draw.module
}

impl Draw {
    fn word_pattern(&mut self) -> u32 {
        match self.random.below(6) {
            0 => self.random.below(4),
            1 => self.random.below(256),
            2 => !self.random.below(16),
            3 => 1 << self.random.below(32),
            _ => self.random.bits() as u32,
        }
    }

    fn resources(&mut self) {
        let words = self.random.pick(&[16, 32, 64, 64, 50, 128]);
        self.module.input = (0..words).map(|_| self.word_pattern()).collect();
        if self.mix.table {
            self.module.table = self.mix.table_type(&mut self.random);
            self.module.table_words = (0..self.module.table.scalars()).map(|_| self.word_pattern()).collect();
            // Values may have the type of an array or structure of the table, so that it is copied
            // as a whole.
            if let Type::Struct(members) = &self.module.table {
                let whole = members.iter().find(|member| member.scalar().is_none()).cloned();
                self.mix.shapes.extend(whole);
            }
        }
        for _ in 0..self.random.below(3) {
            let ty = self.mix.value(&mut self.random);
            self.variable(ty, Class::Private);
        }
        if self.mix.exchange {
            for _ in 0..self.random.between(1, 2) {
                let ty = self.mix.flat(&mut self.random);
                self.module.shared.push(ty);
            }
        }
        let atomics =
            [Atomic::IAdd, Atomic::IAdd, Atomic::And, Atomic::Or, Atomic::Xor, Atomic::SMin, Atomic::SMax, Atomic::UMin, Atomic::UMax];
        for (enabled, workgroup) in [(self.mix.group_counters, true), (self.mix.buffer_counters, false)] {
            for _ in 0..if enabled { self.random.between(1, 2) } else { 0 } {
                let length = self.random.pick(&[1, 2, 4, 7]).min(if workgroup { self.module.local_count() } else { u32::MAX });
                let atomic = self.random.pick(&atomics);
                self.module.counters.push(Counter { workgroup, atomic, length });
            }
        }
    }

    fn variable(&mut self, ty: Type, class: Class) -> u32 {
        let first = if self.random.percent(25) { vec![0; ty.scalars()] } else { self.scalars(&ty) };
        let stored = matches!(class, Class::Function(_)) && self.random.percent(40);
        self.module.variables.push(Variable { ty, class, first, stored });
        self.module.variables.len() as u32 - 1
    }

    /// The pointers that the current function may access: root, pointee type, and whether it
    /// is Private.
    pub fn roots(&self) -> Vec<(Root, Type, bool)> {
        let entry = self.function == ENTRY;
        let variables = self.module.variables.iter().enumerate().filter_map(|(i, variable)| {
            let private = variable.class == Class::Private;
            let reached = match private {
                true => entry || !self.pointer_variables.contains(&(i as u32)),
                false => variable.class == Class::Function(self.function),
            };
            reached.then(|| (Root::Variable(i as u32), variable.ty.clone(), private))
        });
        let parameters = match entry {
            true => &[][..],
            false => self.module.functions.get(self.function as usize).map_or(&[][..], |f| &f.parameters),
        };
        let pointers = parameters.iter().enumerate().filter_map(|(i, parameter)| match parameter {
            Parameter::Pointer(ty, private) => Some((Root::Parameter(i as u32), ty.clone(), *private)),
            Parameter::Value(..) => None,
        });
        variables.chain(pointers).collect()
    }

    fn bind(&mut self, ty: Type) -> Local {
        self.module.local(ty)
    }

    fn draw_function(&mut self, index: u32) {
        self.function = index;
        self.scope.clear();
        self.uniform = false;
        let mut parameters = Vec::new();
        for _ in 0..self.random.between(0, 3) {
            let ty = self.mix.value(&mut self.random);
            let local = self.bind(ty.clone());
            self.scope.push(local);
            parameters.push(Parameter::Value(local, ty));
        }
        for _ in 0..2 {
            if self.random.percent(self.mix.pointers / 2) {
                let ty = self.mix.value(&mut self.random);
                let at = self.random.below(parameters.len() as u32 + 1) as usize;
                parameters.insert(at, Parameter::Pointer(ty, self.random.percent(40)));
            }
        }
        self.module.functions.push(Function { parameters, ..Function::default() });
        let result = self.mix.value(&mut self.random);
        self.returns = Some(Some(result.clone()));
        self.function_variables();
        let budget = f64::from(self.mix.executed) * f64::from(self.random.between(5, 25)) / 100.0;
        let (body, spent) = self.block(budget.max(4.0), 1, false);
        let value = self.expr(&result, 1);
        self.costs.push(spent + cost(&value) + 1.0);
        let function = &mut self.module.functions[index as usize];
        (function.body, function.result) = (body, Some(value));
    }

    fn function_variables(&mut self) {
        for _ in 0..self.random.below(3) {
            let ty = self.mix.value(&mut self.random);
            self.variable(ty, Class::Function(self.function));
        }
    }

    fn entry(&mut self) {
        self.function = ENTRY;
        self.scope.clear();
        self.uniform = true;
        // If invocations could return before a barrier, the barrier would be divergent.
        let barriers = self.mix.exchange || self.mix.group_counters;
        self.returns = (!barriers).then_some(None);
        self.function_variables();
        // The last statement usually exceeds the budget. Computing and writing the output words
        // adds more instructions.
        let overhead = 12.0 + 7.0 * f64::from(self.mix.output_words);
        let (mut body, _) = self.block((f64::from(self.mix.executed) * 0.9 - overhead).max(8.0), 0, true);
        for i in 0..self.module.counters.len() as u32 {
            if !self.module.counters[i as usize].workgroup {
                continue;
            }
            let result = self.bind(Type::UINT);
            let index = self.leaf(&Type::UINT);
            body.push(Stmt::ReadCounter { counter: i, index, result });
            self.scope.push(result);
        }
        self.output_values(&mut body);
        self.module.main.body = body;
    }

    /// Writes every word of the output, from values in scope at the end.
    fn output_values(&mut self, body: &mut Vec<Stmt>) {
        let scope = self.scope.clone();
        let roots = self.roots();
        for slot in 0..self.module.output_words {
            let mut sum: Option<Expr> = None;
            for i in 0..3 {
                let e = if i < 2 && !scope.is_empty() {
                    let recent = scope.len().saturating_sub(8);
                    let local = scope[recent + self.random.below((scope.len() - recent) as u32) as usize];
                    Expr::local(local, self.module.locals[local as usize].clone())
                } else if !roots.is_empty() {
                    let (root, ty, _) = roots[self.random.below(roots.len() as u32) as usize].clone();
                    Expr::new(ty, Op::Load(root, Vec::new()), Vec::new())
                } else {
                    self.leaf(&Type::UINT)
                };
                let word = self.as_word(e);
                sum = Some(match sum {
                    None => word,
                    Some(sum) => {
                        let op = self.random.pick(&[Binary::IAdd, Binary::BitwiseXor]);
                        Expr::new(Type::UINT, Op::Binary(op), vec![sum, word])
                    }
                });
            }
            if let Some(sum) = sum {
                body.push(Stmt::Output(Expr::uint(slot), sum));
            }
        }
    }

    /// Statements that run about `budget` instructions, and the number that they run. With
    /// `keeps_scope`, their locals stay in scope.
    fn block(&mut self, budget: f64, depth: u32, keeps_scope: bool) -> (Vec<Stmt>, f64) {
        let outer = self.scope.len();
        let (mut body, mut spent) = (Vec::new(), 0.0);
        while spent < budget && body.len() < 40 {
            spent += self.statement(&mut body, budget - spent, depth);
        }
        if !keeps_scope {
            self.scope.truncate(outer);
        }
        (body, spent)
    }

    /// Adds one statement. Returns its cost.
    fn statement(&mut self, body: &mut Vec<Stmt>, budget: f64, depth: u32) -> f64 {
        let is_deepest = depth >= DEEPEST || budget < 8.0;
        let entry = self.function == ENTRY;
        let mix = &self.mix;
        let weight_if = |condition: bool, weight: u32| if condition { weight } else { 0 };
        let weights = [
            mix.lets,
            mix.stores,
            weight_if(!is_deepest, mix.ifs),
            weight_if(!is_deepest && budget > 14.0, mix.loops),
            weight_if(!is_deepest && budget > 10.0, mix.switches),
            weight_if(!self.costs.is_empty(), mix.calls),
            weight_if(entry, 4),
            weight_if(entry && self.uniform && mix.exchange, 20),
            weight_if(self.has_counters(), 16),
            weight_if(entry && mix.own_atomics, 16),
            2,
            weight_if(entry && self.uniform && mix.group_counters, 4),
        ];
        match self.random.weighted(&weights) {
            0 => self.let_statement(body),
            1 => self.store(body),
            2 => self.selection(body, budget, depth),
            3 => self.repeat(body, budget, depth),
            4 => self.switch(body, budget, depth),
            5 => self.call(body, budget),
            6 => {
                let value = self.expr(&Type::UINT, self.mix.fuel);
                let slot = if self.random.percent(70) { Expr::uint(self.random.below(8)) } else { self.leaf(&Type::UINT) };
                let spent = cost(&value) + 4.0;
                body.push(Stmt::Output(slot, value));
                spent
            }
            7 => {
                let array = self.random.below(self.module.shared.len() as u32);
                let ty = self.module.shared[array as usize].clone();
                let value = self.expr(&ty, self.mix.fuel);
                let mut index = self.expr(&Type::UINT, 1);
                index.guard = self.random.percent(50);
                let spent = cost(&value) + cost(&index) + 9.0;
                let result = self.bind(ty);
                self.scope.push(result);
                body.push(Stmt::Exchange { array, value, index, result });
                spent
            }
            8 => self.count(body),
            9 => self.own_atomic(body),
            11 => {
                let counters: Vec<u32> =
                    (0..self.module.counters.len() as u32).filter(|&i| self.module.counters[i as usize].workgroup).collect();
                let counter = self.random.pick(&counters);
                let mut index = self.leaf(&Type::UINT);
                index.guard = self.random.percent(50);
                let result = self.bind(Type::UINT);
                self.scope.push(result);
                body.push(Stmt::ReadCounter { counter, index, result });
                6.0
            }
            _ => self.copy(body),
        }
    }

    fn let_statement(&mut self, body: &mut Vec<Stmt>) -> f64 {
        let ty = self.mix.value(&mut self.random);
        let e = self.expr(&ty, self.mix.fuel);
        if matches!(e.op, Op::Const(_) | Op::Local(_)) {
            return 0.2;
        }
        let spent = cost(&e);
        let local = self.bind(ty);
        body.push(Stmt::Let(local, e));
        self.scope.push(local);
        spent
    }

    fn store(&mut self, body: &mut Vec<Stmt>) -> f64 {
        let roots = self.roots();
        if roots.is_empty() {
            self.variable_for_later();
            return 0.2;
        }
        let (_, ty, _) = &roots[self.random.below(roots.len() as u32) as usize];
        // Usually the store writes only a part of the variable.
        let mut part = ty.clone();
        while part.parts() > 0 && self.random.percent(75) {
            part = part.part(self.random.below(part.parts())).unwrap_or(part);
        }
        let Some(place) = self.place(&part) else { return 0.2 };
        let e = self.expr(&part, self.mix.fuel);
        let spent = cost(&e) + 2.0 + place.indices.iter().map(|e| cost(e) + 1.0).sum::<f64>();
        body.push(Stmt::Store(place, e));
        spent
    }

    fn variable_for_later(&mut self) {
        let ty = self.mix.value(&mut self.random);
        self.variable(ty, Class::Function(self.function));
    }

    fn copy(&mut self, body: &mut Vec<Stmt>) -> f64 {
        let roots = self.roots();
        for (i, (to, ty, _)) in roots.iter().enumerate() {
            if let Some((from, ..)) = roots[i + 1..].iter().find(|(_, other, _)| other == ty) {
                body.push(if self.random.percent(50) { Stmt::Copy(*to, *from) } else { Stmt::Copy(*from, *to) });
                return 1.0;
            }
        }
        0.1
    }

    fn call(&mut self, body: &mut Vec<Stmt>, budget: f64) -> f64 {
        let function = self.random.below(self.costs.len() as u32);
        let executed = self.costs[function as usize];
        if executed > budget * 1.5 {
            return 0.3;
        }
        let (parameters, result) = {
            let called = &self.module.functions[function as usize];
            (called.parameters.clone(), called.result.as_ref().map(|e| e.ty.clone()))
        };
        let (mut args, mut pointers) = (Vec::new(), Vec::new());
        for parameter in &parameters {
            match parameter {
                Parameter::Value(_, ty) => args.push(self.expr(ty, 1)),
                Parameter::Pointer(ty, private) => match self.pointer(ty, *private, &pointers) {
                    Some(root) => pointers.push(root),
                    None => return 0.3,
                },
            }
        }
        let Some(ty) = result else { return 0.3 };
        let spent = args.iter().map(cost).sum::<f64>() + 1.0 + executed;
        let local = self.bind(ty.clone());
        body.push(Stmt::Let(local, Expr::new(ty, Op::Call(function, pointers), args)));
        self.scope.push(local);
        spent
    }

    /// A variable to pass by pointer. It is none that the same call passes already.
    fn pointer(&mut self, ty: &Type, private: bool, used_roots: &[Root]) -> Option<Root> {
        let entry = self.function == ENTRY;
        let fitting_root = |(root, pointee, class): &(Root, Type, bool)| {
            let is_allowed = match root {
                Root::Variable(i) => !*class || self.pointer_variables.contains(i),
                Root::Parameter(_) => true,
            };
            (pointee == ty && *class == private && is_allowed && !used_roots.contains(root)).then_some(*root)
        };
        let fitting_roots: Vec<Root> = self.roots().iter().filter_map(fitting_root).collect();
        if !fitting_roots.is_empty() {
            return Some(self.random.pick(&fitting_roots));
        }
        match private {
            false => Some(Root::Variable(self.variable(ty.clone(), Class::Function(self.function)))),
            true if entry => {
                let i = self.variable(ty.clone(), Class::Private);
                self.pointer_variables.push(i);
                Some(Root::Variable(i))
            }
            true => None,
        }
    }

    /// Whether the module has a counter.
    fn has_counters(&self) -> bool {
        !self.module.counters.is_empty()
    }

    fn count(&mut self, body: &mut Vec<Stmt>) -> f64 {
        let counter = self.random.below(self.module.counters.len() as u32);
        let mut index = self.leaf(&Type::UINT);
        let mut value = self.expr(&Type::UINT, 1);
        (index.guard, value.guard) = (self.random.percent(50), self.random.percent(40));
        let spent = cost(&value) + cost(&index) + 4.0;
        body.push(Stmt::Count { counter, index, value });
        spent
    }

    fn own_atomic(&mut self, body: &mut Vec<Stmt>) -> f64 {
        let atomics = [Atomic::IAdd, Atomic::And, Atomic::Or, Atomic::Xor, Atomic::SMin, Atomic::SMax, Atomic::UMin, Atomic::UMax];
        let atomic = match self.random.below(12) {
            0..5 => OwnAtomic::Rmw(self.random.pick(&atomics)),
            5 => OwnAtomic::Exchange,
            6 | 7 => OwnAtomic::CompareExchange,
            8 => OwnAtomic::Increment,
            9 => OwnAtomic::Decrement,
            10 => OwnAtomic::ISub,
            _ => self.random.pick(&[OwnAtomic::Load, OwnAtomic::Store]),
        };
        let slot = if self.random.percent(60) { Expr::uint(self.random.below(8)) } else { self.leaf(&Type::UINT) };
        let values = [self.expr(&Type::UINT, 1), self.leaf(&Type::UINT)];
        let spent = cost(&values[0]) + cost(&values[1]) + 5.0;
        let result = self.bind(Type::UINT);
        self.scope.push(result);
        body.push(Stmt::Own { atomic, slot, values, result });
        spent
    }
}

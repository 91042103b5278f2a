//! The repair of a tree after a change. It replaces or removes items that refer to something that
//! is gone, and removes unused items.

use super::tree::*;

/// Makes a changed tree well formed. Locals out of scope become zeros. Jumps without a target, and
/// statements after jumps, are removed. Jumps and arms get values of the types that their targets
/// need. Unused functions, variables, shared arrays and counters are removed.
pub(super) fn repair(module: &mut Module) {
    let snapshot = module.clone();
    for index in (0..module.functions.len() as u32).chain([ENTRY]) {
        let function = if index == ENTRY { &mut module.main } else { &mut module.functions[index as usize] };
        let mut fix = Fix { module: &snapshot, function: index, scope: vec![false; snapshot.locals.len()], nest: Vec::new() };
        for parameter in &function.parameters {
            if let Parameter::Value(local, _) = parameter {
                fix.scope[*local as usize] = true;
            }
        }
        fix.open_block(&mut function.body);
        if let Some(result) = &mut function.result {
            fix.expr(result);
        }
    }
    collect(module);
}

/// A construct that jumps may leave: a loop with the types that it carries, or a switch with the
/// types of its phis.
enum Nest {
    Loop(Vec<Type>),
    Switch(Vec<Type>),
}

struct Fix<'m> {
    module: &'m Module,
    function: u32,
    scope: Vec<bool>,
    nest: Vec<Nest>,
}

impl Fix<'_> {
    fn expr(&mut self, e: &mut Expr) {
        let is_invalid = match &e.op {
            Op::Local(local) => !self.scope[*local as usize],
            Op::Load(root, path) => self.module.root_type(self.function, *root).and_then(|ty| ty.at(path)).is_none_or(|ty| ty != e.ty),
            Op::Call(called, pointers) => !self.accepts(*called, pointers),
            Op::Table(path) => self.module.table.at(path).is_none_or(|ty| ty != e.ty),
            _ => false,
        };
        if is_invalid {
            *e = Expr::zero(e.ty.clone());
        }
        for arg in &mut e.args {
            self.expr(arg);
        }
    }

    /// Whether the parameters of a function accept these pointers.
    fn accepts(&self, called: u32, pointers: &[Root]) -> bool {
        let Some(function) = self.module.functions.get(called as usize) else { return false };
        let expected = function.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Pointer(ty, private) => Some((ty, *private)),
            Parameter::Value(..) => None,
        });
        let actual = pointers.iter().map(|root| {
            let ty = self.module.root_type(self.function, *root);
            ty.zip(self.module.root_private(self.function, *root))
        });
        expected.map(Some).eq(actual)
    }

    /// Repairs a list of statements whose locals go out of scope at its end, and the values
    /// after it.
    fn block(&mut self, block: &mut Vec<Stmt>, values: &mut Vec<Expr>, types: &[Type]) {
        let outer = self.scope.clone();
        self.open_block(block);
        self.values(values, types);
        self.scope = outer;
    }

    fn values(&mut self, values: &mut Vec<Expr>, types: &[Type]) {
        values.truncate(types.len());
        for (i, ty) in types.iter().enumerate() {
            match values.get_mut(i) {
                Some(e) if e.ty == *ty => self.expr(e),
                Some(e) => *e = Expr::zero(ty.clone()),
                None => values.push(Expr::zero(ty.clone())),
            }
        }
    }

    fn open_block(&mut self, block: &mut Vec<Stmt>) {
        let mut valid = Vec::with_capacity(block.len());
        for mut stmt in block.drain(..) {
            if !self.stmt(&mut stmt) {
                continue;
            }
            let last = matches!(stmt, Stmt::Exit(..) | Stmt::Return(_));
            valid.push(stmt);
            if last {
                break;
            }
        }
        *block = valid;
    }

    fn bind(&mut self, local: Local) {
        self.scope[local as usize] = true;
    }

    /// Repairs a statement. Returns whether it stays.
    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        match stmt {
            Stmt::If(condition, arms, phis) => {
                self.expr(condition);
                let types: Vec<Type> = phis.iter().map(|(_, ty)| ty.clone()).collect();
                for arm in arms.iter_mut() {
                    self.block(&mut arm.body, &mut arm.values, &types);
                }
                phis.iter().for_each(|(local, _)| self.bind(*local));
            }
            Stmt::Switch(selector, cases, default, phis) => {
                self.expr(selector);
                let types: Vec<Type> = phis.iter().map(|(_, ty)| ty.clone()).collect();
                self.nest.push(Nest::Switch(types.clone()));
                for arm in cases.iter_mut().map(|case| &mut case.arm).chain([default]) {
                    self.block(&mut arm.body, &mut arm.values, &types);
                }
                self.nest.pop();
                phis.iter().for_each(|(local, _)| self.bind(*local));
            }
            Stmt::Loop(l) => {
                if let Trip::Masked(e, _) = &mut l.trip {
                    self.expr(e);
                }
                l.carried.iter_mut().for_each(|carried| self.expr(&mut carried.first));
                let outer = self.scope.clone();
                self.bind(l.counter);
                let types: Vec<Type> = l.carried.iter().map(|carried| carried.first.ty.clone()).collect();
                l.carried.iter().for_each(|carried| self.scope[carried.inside as usize] = true);
                self.nest.push(Nest::Loop(types));
                self.open_block(&mut l.body);
                l.carried.iter_mut().for_each(|carried| self.expr(&mut carried.next));
                self.nest.pop();
                self.scope = outer;
                l.carried.iter().for_each(|carried| self.scope[carried.after as usize] = true);
            }
            Stmt::Exit(exit, values) => {
                let types = match (*exit, self.nest.last()) {
                    (Exit::Leave, Some(Nest::Switch(types))) | (Exit::Break, Some(Nest::Loop(types))) => types.clone(),
                    (Exit::Continue, Some(_)) => {
                        let carried = self.nest.iter().rev().find_map(|nest| match nest {
                            Nest::Loop(types) => Some(types.clone()),
                            Nest::Switch(_) => None,
                        });
                        match carried {
                            Some(types) => types,
                            None => return false,
                        }
                    }
                    _ => return false,
                };
                self.values(values, &types);
            }
            Stmt::Copy(to, from) => {
                let ty = self.module.root_type(self.function, *to);
                return to != from && ty.is_some() && ty == self.module.root_type(self.function, *from);
            }
            Stmt::Store(place, e) => {
                let ty = self.module.root_type(self.function, place.root).and_then(|ty| ty.at(&place.path));
                place.indices.iter_mut().for_each(|index| self.expr(index));
                self.expr(e);
                return ty.is_some_and(|ty| ty == e.ty);
            }
            Stmt::Let(local, e) => {
                self.expr(e);
                self.bind(*local);
            }
            Stmt::Exchange { result, .. } | Stmt::ReadCounter { result, .. } | Stmt::Own { result, .. } => {
                let result = *result;
                stmt.each_expr(&mut |e| self.expr(e));
                self.bind(result);
            }
            _ => stmt.each_expr(&mut |e| self.expr(e)),
        }
        true
    }
}

/// Visits every root in the module.
pub(super) fn each_root(module: &mut Module, f: &mut dyn FnMut(&mut Root)) {
    module.each_expr(&mut |e| match &mut e.op {
        Op::Load(root, _) => f(root),
        Op::Call(_, pointers) => pointers.iter_mut().for_each(&mut *f),
        _ => {}
    });
    module.each_block(&mut |block| {
        for stmt in block {
            match stmt {
                Stmt::Store(place, _) => f(&mut place.root),
                Stmt::Copy(to, from) => {
                    f(to);
                    f(from);
                }
                _ => {}
            }
        }
    });
}

/// The new number of each item after the unused items are removed.
fn renumber(used: &[bool]) -> Vec<u32> {
    used.iter()
        .scan(0, |next, &used| {
            let number = *next;
            *next += u32::from(used);
            Some(number)
        })
        .collect()
}

fn retain<T>(items: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    items.retain(|_| used.next().copied().unwrap_or(true));
}

/// Removes unused items.
fn collect(module: &mut Module) {
    // Functions are visited from the last to the first, since each calls only earlier functions.
    let count = module.functions.len();
    let mut used = vec![false; count];
    for i in (0..=count).rev() {
        if i < count && !used[i] {
            continue;
        }
        let mut function = if i == count { module.main.clone() } else { module.functions[i].clone() };
        let mut mark = |e: &mut Expr| {
            if let Op::Call(called, _) = e.op {
                used[called as usize] = true;
            }
        };
        each_expr_in(&mut function.body, &mut mark);
        let mut result = function.result.map(|e| Stmt::Return(Some(e)));
        each_expr_in(result.as_mut_slice(), &mut mark);
    }
    let numbers = renumber(&used);
    retain(&mut module.functions, &used);
    module.each_expr(&mut |e| {
        if let Op::Call(called, _) = &mut e.op {
            *called = numbers[*called as usize];
        }
    });
    let function_is_used = |class: Class| match class {
        Class::Function(ENTRY) | Class::Private => true,
        Class::Function(i) => used[i as usize],
    };
    // No code refers to the variables of removed functions.
    let mut used_variables = vec![false; module.variables.len()];
    each_root(module, &mut |root| {
        if let Root::Variable(i) = root {
            used_variables[*i as usize] = true;
        }
    });
    for (variable, is_used) in module.variables.iter_mut().zip(&mut used_variables) {
        *is_used &= function_is_used(variable.class);
        if let Class::Function(i) = &mut variable.class
            && *i != ENTRY
        {
            *i = numbers[*i as usize];
        }
    }
    let variable_numbers = renumber(&used_variables);
    retain(&mut module.variables, &used_variables);
    each_root(module, &mut |root| {
        if let Root::Variable(i) = root {
            *i = variable_numbers[*i as usize];
        }
    });
    let (mut shared, mut counters) = (vec![false; module.shared.len()], vec![false; module.counters.len()]);
    each_shared(module, &mut |array, counter| {
        if let Some(array) = array {
            shared[*array as usize] = true;
        }
        if let Some(counter) = counter {
            counters[*counter as usize] = true;
        }
    });
    let (array_numbers, counter_numbers) = (renumber(&shared), renumber(&counters));
    retain(&mut module.shared, &shared);
    retain(&mut module.counters, &counters);
    each_shared(module, &mut |array, counter| {
        if let Some(array) = array {
            *array = array_numbers[*array as usize];
        }
        if let Some(counter) = counter {
            *counter = counter_numbers[*counter as usize];
        }
    });
}

/// Visits every reference to a shared array or a counter.
fn each_shared(module: &mut Module, f: &mut dyn FnMut(Option<&mut u32>, Option<&mut u32>)) {
    module.each_block(&mut |block| {
        for stmt in block {
            match stmt {
                Stmt::Exchange { array, .. } => f(Some(array), None),
                Stmt::Count { counter, .. } | Stmt::ReadCounter { counter, .. } => f(None, Some(counter)),
                _ => {}
            }
        }
    });
}

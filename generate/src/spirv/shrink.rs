//! Shrinking: from a module that shows something to a smaller one that still shows it.
//!
//! Each proposal is one change to the smallest module that is known to show it. A change drops
//! statements, replaces a selection or loop by its contents, replaces a call by the function's
//! body, or replaces an expression by one of its operands or zero. It may also reduce iterations,
//! invocations or words. Every proposal is well formed, so it is valid and has nothing undefined
//! but the plant. The caller checks whether a twin's plant still runs.

use super::repair::{each_root, repair};
use super::tree::*;
use crate::descent::{Descent, Shrinks};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The size that shrinking reduces. Nodes are compared first, then invocations, then the contents
/// of constants and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// The number of statements, expressions, variables, functions and the like.
    pub nodes: u32,
    /// The number of invocations in the dispatch.
    pub invocations: u32,
    /// The amount of contents: of constants, iteration counts and buffers.
    pub text: u32,
}

/// A change. Lists of statements are numbered in the order of [`Module::each_block`], expressions
/// in the order of [`Module::each_expr`].
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Drops statements: the list, the first index, the end index.
    Drop(usize, usize, usize),
    /// Replaces a selection or loop by one of its lists: the list, the index, the arm.
    Splice(usize, usize, usize),
    /// Drops a phi of a selection, or a carried value of a loop: the list, the index, the phi.
    DropPhi(usize, usize, usize),
    /// Drops a case of a switch: the list, the index, the case.
    DropCase(usize, usize, usize),
    /// Gives a loop a fixed number of iterations: the list, the index, the number.
    FixIterations(usize, usize, u32),
    /// Replaces a call by the function's body: the list, the index.
    Inline(usize, usize),
    /// Replaces an expression by zero.
    Zero(usize),
    /// Replaces an expression by one of its operands.
    Hoist(usize, usize),
    /// Drops a parameter of a function.
    DropParameter(usize, usize),
    /// Sets LocalSize and the number of workgroups.
    Grid([u32; 3], [u32; 3]),
    /// Sets the number of output words.
    Output(u32),
    /// Truncates the input to this number of words, and perhaps sets them to zero.
    Input(usize, bool),
    /// Sets the initial contents of a variable to zeros.
    ZeroVariable(usize),
}

/// A search for a smaller module.
#[derive(Clone)]
pub struct Shrinking(Descent<Module>);

impl Shrinking {
    /// Starts with this module.
    pub fn new(module: &Module) -> Shrinking {
        let mut best = module.clone();
        repair(&mut best);
        Shrinking(Descent::new(best, ()))
    }

    /// The proposed module, or else the smallest known one.
    pub fn shown(&self) -> &Module {
        self.0.shown()
    }

    /// Says that the proposed module shows it, or starts the search. Returns whether there is
    /// another proposal.
    pub fn simplify(&mut self) -> bool {
        self.0.simplify()
    }

    /// Says that the proposed module does not show it. Returns whether there is another proposal.
    pub fn complicate(&mut self) -> bool {
        self.0.complicate()
    }
}

impl Shrinks for Module {
    type Keep = ();
    type Edit = Edit;
    type Size = Size;

    fn size(&self) -> Size {
        size(self)
    }

    fn nodes(size: Size) -> u32 {
        size.nodes
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn changes(&self, (): (), most: u32) -> Vec<(u32, Edit)> {
        let mut changes = changes_of(self);
        changes.retain(|(removed, _)| *removed <= most);
        changes
    }

    fn changed(&self, edit: &Edit) -> Option<Module> {
        edit.apply(self)
    }

    fn holds(&self, (): ()) -> bool {
        true
    }
}

/// The smallest module found that `fails`, with at most `questions` calls of it. Returns `module`
/// itself if that does not fail.
pub fn minimal(module: &Module, fails: &mut dyn FnMut(&Module) -> bool, questions: u32) -> Module {
    if questions == 0 || !fails(module) {
        return module.clone();
    }
    let Shrinking(descent) = Shrinking::new(module);
    if descent.best() != module && !fails(descent.best()) {
        return module.clone();
    }
    descent.minimal(fails, questions)
}

/// The size of a module.
pub fn size(module: &Module) -> Size {
    let (mut nodes, mut text) = (0u32, 0u32);
    let mut copy = module.clone();
    copy.each_expr(&mut |e| {
        nodes += 1;
        text += match &e.op {
            Op::Const(scalars) => scalars.iter().map(|&s| u32::from(s != 0) + u32::from(s > 1)).sum(),
            _ => 3 + u32::from(e.guard),
        };
    });
    copy.each_block(&mut |block| {
        for stmt in block {
            nodes += match stmt {
                Stmt::If(_, _, phis) => 2 + phis.len() as u32,
                Stmt::Switch(_, cases, _, phis) => {
                    let literals: u32 = cases.iter().map(|case| case.literals.len() as u32 + u32::from(case.falls)).sum();
                    2 + literals + phis.len() as u32
                }
                Stmt::Loop(l) => 4 + l.carried.len() as u32,
                _ => 1,
            };
            if let Stmt::Loop(l) = stmt {
                text += match l.trip {
                    Trip::Fixed(n) => n,
                    Trip::Masked(_, mask) => mask + 1,
                };
            }
        }
    });
    nodes += copy.functions.iter().map(|f| 6 + f.parameters.len() as u32).sum::<u32>();
    nodes += copy.variables.len() as u32 + copy.output_words;
    text += copy.variables.iter().flat_map(|v| &v.first).filter(|&&s| s != 0).count() as u32;
    text += copy.input.len() as u32 + copy.input.iter().filter(|&&word| word != 0).count() as u32;
    Size { nodes, invocations: module.invocations(), text }
}

fn stmt_size(stmt: &Stmt) -> u32 {
    let mut copy = [stmt.clone()];
    let mut nodes = 1;
    each_expr_in(&mut copy, &mut |_| nodes += 1);
    nodes
}

/// The changes to a module, each with about how many nodes it removes, the greatest first.
fn changes_of(module: &Module) -> Vec<(u32, Edit)> {
    let mut changes: Vec<(u32, Edit)> = Vec::new();
    let mut copy = module.clone();
    let mut number = 0;
    copy.each_block(&mut |block| {
        let sizes: Vec<u32> = block.iter().map(stmt_size).collect();
        // Runs of statements: first the whole list, then halved lengths down to single statements.
        let mut length = block.len();
        while length > 0 {
            for from in (0..block.len()).step_by(length) {
                let to = (from + length).min(block.len());
                changes.push((sizes[from..to].iter().sum(), Edit::Drop(number, from, to)));
            }
            length /= 2;
        }
        for (at, stmt) in block.iter().enumerate() {
            let whole = sizes[at];
            match stmt {
                Stmt::If(_, _, phis) => {
                    (0..2).for_each(|arm| changes.push((whole / 2, Edit::Splice(number, at, arm))));
                    (0..phis.len()).for_each(|i| changes.push((2, Edit::DropPhi(number, at, i))));
                }
                Stmt::Switch(_, cases, _, phis) => {
                    (0..=cases.len()).for_each(|arm| changes.push((whole / 2, Edit::Splice(number, at, arm))));
                    (0..cases.len()).for_each(|i| changes.push((whole / cases.len() as u32, Edit::DropCase(number, at, i))));
                    (0..phis.len()).for_each(|i| changes.push((2, Edit::DropPhi(number, at, i))));
                }
                Stmt::Loop(l) => {
                    changes.push((6, Edit::Splice(number, at, 0)));
                    (0..l.carried.len()).for_each(|i| changes.push((3, Edit::DropPhi(number, at, i))));
                    changes.extend([1, 2].map(|n| (0, Edit::FixIterations(number, at, n))));
                }
                Stmt::Let(_, Expr { op: Op::Call(..), .. }) => changes.push((6, Edit::Inline(number, at))),
                _ => {}
            }
        }
        number += 1;
    });
    let mut number = 0;
    copy.each_expr(&mut |e| {
        let whole = e.size();
        if !matches!(&e.op, Op::Const(scalars) if scalars.iter().all(|&s| s == 0)) {
            changes.push((whole - 1, Edit::Zero(number)));
        }
        for (i, arg) in e.args.iter().enumerate().filter(|(_, arg)| arg.ty == e.ty) {
            changes.push((whole - arg.size(), Edit::Hoist(number, i)));
        }
        number += 1;
    });
    for (f, function) in module.functions.iter().enumerate() {
        changes.extend((0..function.parameters.len()).map(|i| (2, Edit::DropParameter(f, i))));
    }
    let least = if module.plant().is_some_and(|plant| plant.defect.needs_several_invocations()) { 2 } else { 1 };
    let [x, y, z] = module.local_size;
    for size in [[least, 1, 1], [4, 1, 1], [x.div_ceil(2), y, z], [x, y.div_ceil(2), z], [x, y, z.div_ceil(2)]] {
        let smaller = size.iter().product::<u32>();
        if smaller < module.local_count() && smaller >= least {
            changes.push((8, Edit::Grid(size, module.groups)));
        }
    }
    if module.groups != [1; 3] {
        changes.push((8, Edit::Grid(module.local_size, [1; 3])));
    }
    changes.extend((1..module.output_words).map(|n| (module.output_words - n, Edit::Output(n))));
    let words = module.input.len();
    changes.extend([(1, true), (1, false), (words.div_ceil(2), false), (words, true)].map(|(n, zeros)| (0, Edit::Input(n, zeros))));
    changes.extend((0..module.variables.len()).map(|i| (0, Edit::ZeroVariable(i))));
    changes.sort_by_key(|(removed, _)| std::cmp::Reverse(*removed));
    changes
}

impl Edit {
    fn apply(&self, module: &Module) -> Option<Module> {
        let mut module = module.clone();
        match self {
            Edit::Drop(block, from, to) => at_block(&mut module, *block, |block| drop(block.drain(*from..*to))),
            Edit::Splice(block, at, arm) => at_block(&mut module, *block, |block| {
                let stmt = block.remove(*at);
                block.splice(*at..*at, spliced(stmt, *arm));
            }),
            Edit::DropPhi(block, at, i) => at_block(&mut module, *block, |block| drop_phi(&mut block[*at], *i)),
            Edit::DropCase(block, at, i) => at_block(&mut module, *block, |block| {
                if let Stmt::Switch(_, cases, ..) = &mut block[*at] {
                    cases.remove(*i);
                }
            }),
            Edit::FixIterations(block, at, n) => at_block(&mut module, *block, |block| {
                if let Stmt::Loop(l) = &mut block[*at] {
                    l.trip = Trip::Fixed(*n);
                }
            }),
            Edit::Inline(block, at) => inline(&mut module, *block, *at)?,
            Edit::Zero(number) => at_expr(&mut module, *number, |e| *e = Expr::zero(e.ty.clone())),
            Edit::Hoist(number, i) => at_expr(&mut module, *number, |e| *e = e.args.swap_remove(*i)),
            Edit::DropParameter(function, i) => drop_parameter(&mut module, *function, *i),
            Edit::Grid(local_size, groups) => (module.local_size, module.groups) = (*local_size, *groups),
            Edit::Output(n) => module.output_words = *n,
            Edit::Input(n, zeros) => {
                module.input.truncate(*n);
                if *zeros {
                    module.input.fill(0);
                }
            }
            Edit::ZeroVariable(i) => module.variables[*i].first.fill(0),
        }
        repair(&mut module);
        Some(module)
    }
}

fn at_block(module: &mut Module, number: usize, edit: impl FnOnce(&mut Vec<Stmt>)) {
    let (mut next, mut edit) = (0, Some(edit));
    module.each_block(&mut |block| {
        if next == number
            && let Some(edit) = edit.take()
        {
            edit(block);
        }
        next += 1;
    });
}

fn at_expr(module: &mut Module, number: usize, edit: impl FnOnce(&mut Expr)) {
    let (mut next, mut edit) = (0, Some(edit));
    module.each_expr(&mut |e| {
        if next == number
            && let Some(edit) = edit.take()
        {
            edit(e);
        }
        next += 1;
    });
}

/// The statements that replace a selection or loop. `arm` selects one of its lists.
fn spliced(stmt: Stmt, arm: usize) -> Vec<Stmt> {
    match stmt {
        Stmt::If(_, arms, phis) => {
            let [first, second] = *arms;
            arm_as_statements(if arm == 0 { first } else { second }, phis)
        }
        Stmt::Switch(_, mut cases, default, phis) => {
            let mut arm = if arm < cases.len() { cases.swap_remove(arm).arm } else { default };
            remove_jumps(&mut arm.body, true);
            arm_as_statements(arm, phis)
        }
        Stmt::Loop(l) => {
            let mut l = *l;
            remove_jumps(&mut l.body, false);
            let names = |l: &Loop| -> Vec<(Local, Expr)> { l.carried.iter().map(|c| (c.inside, c.first.clone())).collect() };
            let mut statements = vec![Stmt::Let(l.counter, Expr::uint(0))];
            statements.extend(names(&l).into_iter().map(|(local, e)| Stmt::Let(local, e)));
            statements.extend(l.body);
            statements.extend(l.carried.into_iter().map(|c| Stmt::Let(c.after, c.next)));
            statements
        }
        other => vec![other],
    }
}

fn arm_as_statements(arm: Arm, phis: Vec<Phi>) -> Vec<Stmt> {
    let mut values = arm.values.into_iter();
    let names = phis.into_iter().map(|(local, ty)| Stmt::Let(local, values.next().unwrap_or_else(|| Expr::zero(ty))));
    arm.body.into_iter().chain(names.collect::<Vec<_>>()).collect()
}

/// Removes the jumps out of a switch (or else out of a loop) that these statements replace.
fn remove_jumps(block: &mut Vec<Stmt>, switch: bool) {
    block.retain(|stmt| match stmt {
        Stmt::Exit(exit, _) => (*exit == Exit::Leave) != switch,
        _ => true,
    });
    for stmt in block {
        let hidden = match stmt {
            Stmt::Loop(_) => true,
            Stmt::Switch(..) => switch,
            _ => false,
        };
        if !hidden {
            stmt.each_block(&mut |inner| remove_jumps(inner, switch));
        }
    }
}

pub(super) fn drop_phi(stmt: &mut Stmt, i: usize) {
    let without = |values: &mut Vec<Expr>| {
        if i < values.len() {
            values.remove(i);
        }
    };
    match stmt {
        Stmt::If(_, arms, phis) => {
            phis.remove(i);
            arms.iter_mut().for_each(|arm| without(&mut arm.values));
        }
        Stmt::Switch(_, cases, default, phis) => {
            phis.remove(i);
            cases.iter_mut().map(|case| &mut case.arm).chain([default]).for_each(|arm| {
                without(&mut arm.values);
                drop_jump_value(&mut arm.body, i, true);
            });
        }
        Stmt::Loop(l) => {
            l.carried.remove(i);
            drop_jump_value(&mut l.body, i, false);
        }
        _ => {}
    }
}

/// Removes value `i` from the jumps out of a switch (or else out of a loop).
fn drop_jump_value(block: &mut [Stmt], i: usize, switch: bool) {
    for stmt in block {
        match stmt {
            Stmt::Exit(exit, values) if (*exit == Exit::Leave) == switch && i < values.len() => drop(values.remove(i)),
            Stmt::Loop(_) => {}
            Stmt::Switch(..) if switch => {}
            _ => stmt.each_block(&mut |inner| drop_jump_value(inner, i, switch)),
        }
    }
}

/// Removes a parameter from a function and its calls. A value parameter becomes zero. A pointer
/// parameter becomes a variable of the function.
fn drop_parameter(module: &mut Module, function: usize, i: usize) {
    let parameter = module.functions[function].parameters.remove(i);
    let pointers = |parameter: &&Parameter| matches!(parameter, Parameter::Pointer(..));
    let before = module.functions[function].parameters[..i].iter().filter(pointers).count();
    let pointer = pointers(&&parameter);
    if let Parameter::Pointer(ty, _) = &parameter {
        let first = vec![0; ty.scalars()];
        module.variables.push(Variable { ty: ty.clone(), class: Class::Function(function as u32), first, stored: false });
    }
    let new_variable = Root::Variable(module.variables.len() as u32 - u32::from(pointer));
    in_function(module, function, &mut |root| {
        *root = match *root {
            Root::Parameter(at) if at as usize == i => new_variable,
            Root::Parameter(at) if at as usize > i => Root::Parameter(at - 1),
            other => other,
        };
    });
    module.each_expr(&mut |e| {
        if let Op::Call(called, roots) = &mut e.op
            && *called as usize == function
        {
            if pointer {
                roots.remove(before);
            } else {
                e.args.remove(i - before);
            }
        }
    });
}

/// Visits every root in one function.
fn in_function(module: &mut Module, function: usize, f: &mut dyn FnMut(&mut Root)) {
    let body = std::mem::take(&mut module.functions[function]);
    let mut single_function = Module { functions: vec![body], main: Function::default(), ..module.clone() };
    each_root(&mut single_function, f);
    module.functions[function] = single_function.functions.swap_remove(0);
}

/// Replaces a call by the function's body, which must not return early.
fn inline(module: &mut Module, block: usize, at: usize) -> Option<()> {
    let mut call = None;
    at_block(module, block, |block| call = Some(block[at].clone()));
    let Some(Stmt::Let(local, Expr { op: Op::Call(index, pointers), args, .. })) = call else { return None };
    let mut callee = module.functions[index as usize].clone();
    if returns(&callee.body) {
        return None;
    }
    let owner = owner(module, block);
    // The callee's variables are initialized again in each call.
    let mut statements = Vec::new();
    let mut moved_variables: Vec<(u32, u32)> = Vec::new();
    for i in 0..module.variables.len() as u32 {
        let variable = module.variables[i as usize].clone();
        if variable.class != Class::Function(index) {
            continue;
        }
        let (ty, first) = (variable.ty.clone(), variable.first.clone());
        module.variables.push(Variable { class: Class::Function(owner), stored: false, ..variable });
        let new = module.variables.len() as u32 - 1;
        moved_variables.push((i, new));
        let place = Place { root: Root::Variable(new), path: Vec::new(), indices: Vec::new() };
        statements.push(Stmt::Store(place, Expr::new(ty, Op::Const(first), Vec::new())));
    }
    // The callee's locals get new numbers.
    let (mut values, mut roots) = (args.into_iter(), pointers.into_iter());
    let mut parameters: Vec<Option<Root>> = Vec::new();
    let mut renamed_locals: Vec<(Local, Local)> = Vec::new();
    for parameter in std::mem::take(&mut callee.parameters) {
        match parameter {
            Parameter::Value(name, ty) => {
                let new = module.local(ty);
                renamed_locals.push((name, new));
                statements.push(Stmt::Let(new, values.next()?));
                parameters.push(None);
            }
            Parameter::Pointer(..) => parameters.push(Some(roots.next()?)),
        }
    }
    let mut single_function = Module { functions: vec![callee], main: Function::default(), ..module.clone() };
    single_function
        .each_block(&mut |block| block.iter_mut().for_each(|stmt| each_name(stmt, &mut |name| rename(module, &mut renamed_locals, name))));
    single_function.each_expr(&mut |e| {
        if let Op::Local(name) = &mut e.op {
            rename(module, &mut renamed_locals, name);
        }
    });
    each_root(&mut single_function, &mut |root| {
        *root = match *root {
            Root::Parameter(i) => parameters.get(i as usize).copied().flatten().unwrap_or(*root),
            Root::Variable(i) => Root::Variable(moved_variables.iter().find(|(old, _)| *old == i).map_or(i, |(_, new)| *new)),
        };
    });
    let callee = single_function.functions.swap_remove(0);
    statements.extend(callee.body);
    statements.push(Stmt::Let(local, callee.result?));
    at_block(module, block, |block| drop(block.splice(at..=at, statements)));
    Some(())
}

fn rename(module: &mut Module, names: &mut Vec<(Local, Local)>, name: &mut Local) {
    let known = names.iter().find(|(old, _)| old == name).map(|(_, new)| *new);
    let new = known.unwrap_or_else(|| {
        let new = module.local(module.locals[*name as usize].clone());
        names.push((*name, new));
        new
    });
    *name = new;
}

/// Visits every local that the statement itself binds.
fn each_name(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Local)) {
    match stmt {
        Stmt::Let(local, _) => f(local),
        Stmt::If(.., phis) | Stmt::Switch(.., phis) => phis.iter_mut().for_each(|(local, _)| f(local)),
        Stmt::Loop(l) => {
            f(&mut l.counter);
            for carried in &mut l.carried {
                f(&mut carried.inside);
                f(&mut carried.after);
            }
        }
        Stmt::Exchange { result, .. } | Stmt::ReadCounter { result, .. } | Stmt::Own { result, .. } => f(result),
        _ => {}
    }
}

fn returns(block: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in block {
        found |= matches!(stmt, Stmt::Return(_));
        stmt.clone().each_block(&mut |inner| found |= returns(inner));
    }
    found
}

/// The index of the function that contains a list of statements.
fn owner(module: &Module, block: usize) -> u32 {
    let mut before = 0;
    for (i, function) in module.functions.iter().enumerate() {
        let mut single_function = Module { functions: vec![function.clone()], main: Function::default(), ..module.clone() };
        let mut count = 0;
        single_function.each_block(&mut |_| count += 1);
        // One of the lists belongs to the empty entry point.
        before += count - 1;
        if block < before {
            return i as u32;
        }
    }
    ENTRY
}

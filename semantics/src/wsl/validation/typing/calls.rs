//! Calls between functions: seed 004 "Verifying the absence of recursion", the `Discard` that comes
//! from calls, and what entry points may reach.

use super::Checker;
use super::behaviour::Behaviour;
use super::program::{Body, Form, Program, StmtForm};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::Callee;
use crate::wsl::error::Error;
use crate::wsl::library::{Meaning, Stages};
use crate::wsl::syntax::{AddressSpace, FunctionKind};
use crate::wsl::types::{Type, TypeId, ValueType};
use rustc_hash::FxHashMap;

/// The properties of a function that concern the entry points that reach it.
#[derive(Clone, Debug)]
struct Facts {
    /// The functions that it calls, and where it calls them.
    calls: Vec<(FunctionId, Span)>,
    /// The stages that may call it, by the library functions that it calls itself. `restricted`
    /// lists those library functions that some stage may not call: their stages, and where they
    /// are called.
    stages: Stages,
    restricted: Vec<(Stages, Span)>,
    /// The first place where it refers to the threadgroup address space.
    threadgroup: Option<Span>,
    /// Whether it, or a function that it calls, refers to that space.
    reaches_threadgroup: bool,
    /// The stages that may call it, by its own calls and by those of the functions that it calls.
    reaches: Stages,
}

impl Checker<'_> {
    /// Checks calls, and adds what they may discard. `bodies` has `None` for a function that is
    /// wrong. Returns the functions, each after those that it calls.
    pub fn calls(&mut self, bodies: &[Option<Body>]) -> Vec<FunctionId> {
        let mut threadgroup_types = FxHashMap::default();
        let mut facts: Vec<Facts> =
            bodies.iter().enumerate().map(|(i, body)| self.facts(FunctionId(i as u32), body.as_ref(), &mut threadgroup_types)).collect();
        let order = v_recursion(self, &facts);
        for &id in &order {
            let f = &facts[id.0 as usize];
            let calls = f.calls.iter().map(|(to, _)| &facts[to.0 as usize]);
            let (threadgroup, stages) =
                calls.fold((f.threadgroup.is_some(), f.stages), |(t, s), to| (t || to.reaches_threadgroup, s.and(to.reaches)));
            (facts[id.0 as usize].reaches_threadgroup, facts[id.0 as usize].reaches) = (threadgroup, stages);
            if let Some(body) = &bodies[id.0 as usize] {
                add_discards(&mut self.program, self.premises.called, bodies, body);
            }
        }
        for (i, body) in bodies.iter().enumerate() {
            let id = FunctionId(i as u32);
            let kind = self.builder.env.function(id).kind;
            if !kind.is_entry_point() {
                continue;
            }
            if let Some(body) = body {
                v_function_discard(self, id, body);
            }
            ep_threadgroup(self, id, &facts);
            ep_stage_functions(self, id, &facts);
        }
        order
    }

    fn facts(&mut self, id: FunctionId, body: Option<&Body>, known: &mut FxHashMap<TypeId, bool>) -> Facts {
        let mut facts = Facts {
            calls: Vec::new(),
            stages: Stages::ALL,
            restricted: Vec::new(),
            threadgroup: None,
            reaches_threadgroup: false,
            reaches: Stages::ALL,
        };
        let Some(body) = body else { return facts };
        let f = self.builder.env.function(id);
        let mut note_threadgroup = |types: &crate::wsl::types::Types, ty: TypeId, span: Span, facts: &mut Facts| {
            if facts.threadgroup.is_none() && *known.entry(ty).or_insert_with(|| mentions_threadgroup(types, ty)) {
                facts.threadgroup = Some(span);
            }
        };
        let types = &self.builder.env.types;
        note_threadgroup(types, f.result, f.result_span, &mut facts);
        for i in body.stores.clone() {
            let store = self.program.stores[i as usize];
            if store.space == AddressSpace::Threadgroup && facts.threadgroup.is_none() {
                facts.threadgroup = Some(store.span);
            }
            note_threadgroup(types, store.ty, store.span, &mut facts);
        }
        for i in body.exprs.clone() {
            let expr = &self.program.exprs[i as usize];
            if let ValueType::Left(_, AddressSpace::Threadgroup) = expr.ty {
                facts.threadgroup.get_or_insert(expr.span);
            }
            for callee in self.program.callees(super::program::ExprId(i)) {
                callee.rules(&self.builder.env).into_iter().for_each(|rule| self.builder.fired.note(rule));
                if let Some(id) = (self.premises.called)(callee, matches!(expr.form, Form::Call(..))) {
                    facts.calls.push((id, expr.span));
                }
                if let Callee::Library(function) = callee
                    && function.stages() != Stages::ALL
                {
                    facts.stages = facts.stages.and(function.stages());
                    facts.restricted.push((function.stages(), expr.span));
                }
            }
        }
        facts
    }
}

/// Whether the type is a pointer or an array reference to threadgroup memory, or leads to such a
/// type through pointers, array references and arrays.
fn mentions_threadgroup(types: &crate::wsl::types::Types, mut ty: TypeId) -> bool {
    loop {
        ty = match types.get(ty) {
            Type::Pointer(AddressSpace::Threadgroup, _) | Type::ArrayReference(AddressSpace::Threadgroup, _) => return true,
            Type::Pointer(_, of) | Type::ArrayReference(_, of) | Type::Array(of, _) => of,
            _ => return false,
        };
    }
}

/// no function may call itself, through accessors, operators and casts neither
///                                [wsl/v-recursion, 004 Verifying the absence of recursion; WSL-C6]
///
/// Returns the functions, each after those that it calls, as far as there are no cycles. The walk
/// keeps its own stack.
fn v_recursion(c: &mut Checker, facts: &[Facts]) -> Vec<FunctionId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Color {
        White,
        Grey,
        Black,
    }
    let mut color = vec![Color::White; facts.len()];
    let mut order = Vec::with_capacity(facts.len());
    let mut holds = true;
    for root in 0..facts.len() {
        if color[root] != Color::White {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        color[root] = Color::Grey;
        while let Some(&mut (at, ref mut next)) = path.last_mut() {
            let Some(&(to, span)) = facts[at].calls.get(*next) else {
                color[at] = Color::Black;
                order.push(FunctionId(at as u32));
                path.pop();
                continue;
            };
            *next += 1;
            let to = to.0 as usize;
            match color[to] {
                Color::White => {
                    color[to] = Color::Grey;
                    path.push((to, 0));
                }
                Color::Black => {}
                Color::Grey => {
                    holds = false;
                    let start = path.iter().position(|(n, _)| *n == to).unwrap_or(0);
                    let mut names: Vec<String> =
                        path[start..].iter().take(6).map(|(n, _)| c.builder.env.signature(FunctionId(*n as u32))).collect();
                    if path.len() - start > 6 {
                        names.push("…".into());
                    }
                    names.push(c.builder.env.signature(FunctionId(to as u32)));
                    let message = format!("this call makes a function call itself: {}; there is no recursion", names.join(" → "));
                    c.error(Error::new(Rule::WslVRecursion, span, message));
                }
            }
        }
    }
    if holds {
        c.fire(Rule::WslVRecursion);
    }
    order
}

/// Adds "may discard" to expressions, and `Discard` to statements, where it comes from calls.
/// Children stand before their parents, so one pass suffices.
fn add_discards(program: &mut Program, called: fn(Callee, bool) -> Option<FunctionId>, bodies: &[Option<Body>], body: &Body) {
    let function_discards = |program: &Program, id: FunctionId| {
        bodies[id.0 as usize].as_ref().is_some_and(|b| program.stmt(b.block).behaviours.has(Behaviour::Discard))
    };
    for i in body.exprs.clone() {
        let id = super::program::ExprId(i);
        let is_call = matches!(program.expr(id).form, Form::Call(..));
        let callee_discards = program.callees(id).into_iter().filter_map(|c| called(c, is_call)).any(|f| function_discards(program, f));
        let discards = callee_discards || program.children(id).iter().any(|e| program.expr(*e).discards);
        program.exprs[i as usize].discards = discards;
    }
    for i in body.stmts.clone() {
        let stmt = &program.stmts[i as usize];
        let expr = |e: &super::program::ExprId| program.expr(*e).discards;
        let inner = |s: &super::program::StmtId| program.stmt(*s).behaviours.has(Behaviour::Discard);
        let discards = match &stmt.form {
            StmtForm::Block(range) => program.block(range).iter().any(inner),
            StmtForm::Declaration(_, _, e) | StmtForm::Return(e) => e.as_ref().is_some_and(expr),
            StmtForm::If(e, a, b) => expr(e) || inner(a) || inner(b),
            StmtForm::DoWhile(s, e) => expr(e) || inner(s),
            StmtForm::For(e, e2, s) => expr(e) || expr(e2) || inner(s),
            StmtForm::Switch(e, cases) => expr(e) || cases.iter().any(|c| inner(&c.body)),
            StmtForm::Expr(e) => expr(e),
            StmtForm::Discard => true,
            StmtForm::Break | StmtForm::Continue | StmtForm::Fallthrough => false,
        };
        let stmt = &mut program.stmts[i as usize];
        stmt.behaviours = stmt.behaviours.with_if(Behaviour::Discard, discards);
    }
}

/// the behaviours of a vertex or compute entry point do not include Discard
///                                              [wsl/v-function-discard, 004 Typing of functions 8]
fn v_function_discard(c: &mut Checker, id: FunctionId, body: &Body) {
    let f = c.builder.env.function(id);
    let (kind, name) = (f.kind, f.name);
    let discards = c.program.stmt(body.block).behaviours.has(Behaviour::Discard);
    let holds = matches!(kind, FunctionKind::Fragment) || !discards;
    c.builder.require(Rule::WslVFunctionDiscard, holds, |env| {
        let text = env.names.name(name.name);
        Error::new(
            Rule::WslVFunctionDiscard,
            name.span,
            format!("the entry point `{text}` may discard, here or in what it calls; only fragment entry points may"),
        )
    });
}

/// The first place with a property that an entry point reaches by calls, and the functions that
/// lead there, beginning with the entry point.
fn find_reached(facts: &[Facts], from: FunctionId, found: impl Fn(&Facts) -> Option<Span>) -> Option<(Span, Vec<FunctionId>)> {
    let mut seen = vec![false; facts.len()];
    let mut todo = vec![(from, None::<usize>)];
    let mut steps: Vec<(FunctionId, Option<usize>)> = Vec::new();
    while let Some((at, caller)) = todo.pop() {
        if std::mem::replace(&mut seen[at.0 as usize], true) {
            continue;
        }
        let here = steps.len();
        steps.push((at, caller));
        let facts = &facts[at.0 as usize];
        if let Some(span) = found(facts) {
            let mut path = vec![at];
            let mut step = caller;
            while let Some(i) = step {
                path.push(steps[i].0);
                step = steps[i].1;
            }
            path.reverse();
            return Some((span, path));
        }
        todo.extend(facts.calls.iter().rev().map(|(to, _)| (*to, Some(here))));
    }
    None
}

fn path_text(c: &Checker, path: &[FunctionId]) -> String {
    let names: Vec<&str> = path.iter().map(|id| c.builder.env.names.name(c.builder.env.function(*id).name.name)).collect();
    if names.len() > 8 { format!("{} → … → {}", names[..6].join(" → "), names[names.len() - 1]) } else { names.join(" → ") }
}

/// vertex and fragment entry points never refer to the threadgroup address space, by what they call
/// neither                                                   [wsl/ep-threadgroup, 004 Entry Points]
fn ep_threadgroup(c: &mut Checker, id: FunctionId, facts: &[Facts]) {
    if matches!(c.builder.env.function(id).kind, FunctionKind::Compute(..)) {
        return;
    }
    let reaches = facts[id.0 as usize].reaches_threadgroup && !c.builder.errors.full();
    let found = if reaches { find_reached(facts, id, |f| f.threadgroup) } else { None };
    let path = found.as_ref().map(|(_, path)| path_text(c, path)).unwrap_or_default();
    let span = found.as_ref().map(|f| f.0).unwrap_or(c.builder.env.function(id).name.span);
    c.builder.require(Rule::WslEpThreadgroup, found.is_none(), |_| {
        Error::new(
            Rule::WslEpThreadgroup,
            span,
            format!("this refers to the threadgroup address space and is reached by {path}; only compute entry points may"),
        )
    });
}

/// an entry point calls, by what it calls too, only library functions of its stage
///                                                   [wsl/ep-stage-functions, 004 Standard library]
fn ep_stage_functions(c: &mut Checker, id: FunctionId, facts: &[Facts]) {
    let stage = match c.builder.env.function(id).kind {
        FunctionKind::Vertex => Stages::VERTEX,
        FunctionKind::Fragment => Stages::FRAGMENT,
        _ => Stages::COMPUTE,
    };
    let forbidden_call = |f: &Facts| f.restricted.iter().find(|(stages, _)| !stages.contains(stage)).map(|(_, span)| *span);
    let reaches = !facts[id.0 as usize].reaches.contains(stage) && !c.builder.errors.full();
    let found = if !reaches { None } else { find_reached(facts, id, |f| if f.stages.contains(stage) { None } else { forbidden_call(f) }) };
    let path = found.as_ref().map(|(_, path)| path_text(c, path)).unwrap_or_default();
    let span = found.as_ref().map(|f| f.0).unwrap_or(c.builder.env.function(id).name.span);
    c.builder.require(Rule::WslEpStageFunctions, found.is_none(), |_| {
        Error::new(
            Rule::WslEpStageFunctions,
            span,
            format!("this library function is not for {} stages, and is reached by {path}", stage.text()),
        )
    });
}

fn is_barrier(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::DeviceMemoryBarrierWithGroupSync | Meaning::GroupMemoryBarrierWithGroupSync | Meaning::AllMemoryBarrierWithGroupSync
    )
}

/// The calls of barriers in order. The index of a call is its barrier identifier.
pub fn barriers(program: &Program) -> Vec<super::program::ExprId> {
    let barrier = |e: &super::program::Expr| matches!(e.form, Form::Call(Callee::Library(f), _) if is_barrier(f.meaning()));
    (0..program.exprs.len() as u32).map(super::program::ExprId).filter(|id| barrier(program.expr(*id))).collect()
}

//! Statements, and the shapes that only execution writes: blocks with environments, `Cases`,
//! `Loop`, `Call`.

use super::{BOOL, Bound, Check, Checker};
use crate::text::deep;
use crate::wsl::execution::source;
use crate::wsl::execution::term::{Block, Expr, Stmt};
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Body, Case, ExprId, StmtForm, StmtId};

/// The surroundings of a statement.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    /// The environment of the block around it. `None` directly in a `Call`.
    env: Option<&'a Bound>,
    /// The type of the `Call`.
    result: TypeId,
    /// The function of the `Call`. `None` for a generated function.
    body: Option<&'a Body>,
    loops: bool,
    cases: bool,
    /// Whether it is being executed. Otherwise it must be as in the source.
    reached: bool,
}

impl Checker<'_, '_> {
    /// `Call(s)`
    pub(super) fn construct(&self, e: &Expr, s: &Stmt) -> Check {
        match s {
            Stmt::Block(block) if block.env.is_none() => return self.wrong(e.at, "a call without an environment"),
            Stmt::Block(_) | Stmt::Return(_) | Stmt::Discard => {}
            _ => return self.wrong(e.at, "the body of a call is no block"),
        }
        let around = Surroundings { env: None, result: e.ty, body: self.function(e, s)?, loops: false, cases: false, reached: true };
        self.statement(e.at, s, around)
    }

    /// The function whose body a `Call` executes. `None` if no source statement of it is left.
    fn function(&self, e: &Expr, s: &Stmt) -> Check<Option<&Body>> {
        let Stmt::Block(block) = s else { return Ok(None) };
        // The next source statement, or the last one, which is then the first of the block.
        // Statements that rules made are not in the source.
        let at = match (&block.first, block.rest.start.checked_sub(1)) {
            (_, _) if !block.rest.is_empty() => block.rest.start,
            (Some(_), Some(last)) => last,
            _ => return Ok(None),
        };
        let Some(id) = self.program.blocks.get(at as usize) else { return self.wrong(e.at, "the rest of a call is none of the source") };
        // Bodies are in the order of the functions.
        let f = self.program.bodies.partition_point(|b| b.stmts.end <= id.0);
        match (self.program.bodies.get(f), self.program.env.functions.get(f)) {
            (Some(body), Some(function)) => {
                self.same(e.at, "a call", self.ty(function.result), self.ty(e.ty))?;
                let bound = block.env.as_ref().map_or(&[][..], |env| env);
                match bound.len() >= body.parameters.len() && bound.iter().zip(&body.parameters).all(|(b, p)| b.1 == *p) {
                    true => Ok(Some(body)),
                    false => self.wrong(e.at, "the parameters are not bound in a call"),
                }
            }
            _ => self.wrong(e.at, "a call of no function"),
        }
    }

    /// Checks that an expression that is not reached yet is as in the source.
    fn unreached(&self, e: &Expr) -> Check {
        match e.at.0 as usize >= self.program.exprs.len() || *e != source(self.program, e.at) {
            true => self.wrong(e.at, "an expression is reached before its time"),
            false => Ok(()),
        }
    }

    /// Checks an expression of a statement.
    fn check_expression(&self, e: &Expr, needed: Option<Type>, what: &str, around: Surroundings) -> Check<Type> {
        if !around.reached {
            self.unreached(e)?;
        }
        let env = around.env.unwrap_or_default();
        match needed {
            Some(needed) => self.right_of(e, needed, what, env).map(|()| needed),
            None => self.right(e, what, env),
        }
    }

    fn statement(&self, at: ExprId, s: &Stmt, around: Surroundings) -> Check {
        deep(|| self.statement_of(at, s, around))
    }

    fn statement_of(&self, at: ExprId, s: &Stmt, around: Surroundings) -> Check {
        let later = Surroundings { reached: false, ..around };
        match s {
            Stmt::Block(block) => self.block(at, block, around),
            Stmt::Declaration(..) => self.wrong(at, "a declaration is not the first statement of a block"),
            Stmt::If(parts) => {
                self.check_expression(&parts.0, Some(BOOL), "the condition", around)?;
                self.statement(at, &parts.1, later)?;
                self.statement(at, &parts.2, later)
            }
            Stmt::Iterate(id, _) => match self.form(*id) {
                Some(StmtForm::DoWhile(..) | StmtForm::For(..)) => Ok(()),
                _ => self.wrong(at, "what is iterated is no loop"),
            },
            Stmt::Switch(e, id) => match self.form(*id) {
                Some(StmtForm::Switch(switched, _)) => {
                    let needed = self.ty(self.program.expr(*switched).ty.right());
                    self.check_expression(e, Some(needed), "the value that is switched on", around).map(drop)
                }
                _ => self.wrong(at, "what switches is no switch"),
            },
            Stmt::Cases(first, id, next) => self.cases(at, first, self.case(*id, *next), Surroundings { cases: true, ..around }),
            Stmt::Loop(parts, n) => self.loop_iteration(at, parts, *n, Surroundings { loops: true, cases: false, ..around }),
            Stmt::Break if around.loops || around.cases => Ok(()),
            Stmt::Break => self.wrong(at, "a break outside of loops and cases"),
            Stmt::Continue if around.loops => Ok(()),
            Stmt::Continue => self.wrong(at, "a continue outside of loops"),
            Stmt::Fallthrough if around.cases => Ok(()),
            Stmt::Fallthrough => self.wrong(at, "a fallthrough outside of cases"),
            Stmt::Discard => Ok(()),
            Stmt::Return(None) => self.same(at, "a return of nothing", Type::Void, self.ty(around.result)),
            Stmt::Return(Some(e)) => self.check_expression(e, Some(self.ty(around.result)), "what is returned", around).map(drop),
            Stmt::Effect(e) => self.check_expression(e, None, "a statement", around).map(drop),
        }
    }

    fn form(&self, id: StmtId) -> Option<&StmtForm> {
        self.program.stmts.get(id.0 as usize).map(|s| &s.form)
    }

    fn block(&self, at: ExprId, block: &Block, around: Surroundings) -> Check {
        if self.program.blocks.get(block.rest.start as usize..block.rest.end as usize).is_none() {
            return self.wrong(at, "the rest of a block is none of the source");
        }
        let Some(env) = &block.env else {
            return match block.first.is_none() && block.inserted.is_empty() {
                true => Ok(()),
                false => self.wrong(at, "a block is executed without an environment"),
            };
        };
        if !around.reached {
            return self.wrong(at, "a block is entered before its time");
        }
        if around.env.is_some_and(|outer| env.get(..outer.len()) != Some(outer)) {
            return self.wrong(at, "the environment of a block does not extend the one around it");
        }
        if let Some(body) = around.body
            && env.iter().any(|(_, store)| !body.stores.contains(&store.0))
        {
            return self.wrong(at, "a name of another function is bound");
        }
        let around = Surroundings { env: Some(env), ..around };
        for stmt in &block.inserted {
            self.statement(at, stmt, around)?;
        }
        match &block.first {
            None => Ok(()),
            Some(Stmt::Declaration(_, _, None)) => Ok(()),
            Some(Stmt::Declaration(_, store, Some(e))) => {
                let needed = self.ty(self.program.store(*store).ty);
                self.check_expression(e, Some(needed), "what a variable is initialised with", around).map(drop)
            }
            Some(first) => self.statement(at, first, around),
        }
    }

    /// The case before the case of that number in a switch.
    fn case(&self, id: StmtId, next: u32) -> Option<&Case> {
        match self.form(id)? {
            StmtForm::Switch(_, cases) => cases.get((next as usize).checked_sub(1)?),
            _ => None,
        }
    }

    /// `Cases(s, …)`: s is the rest of the case's body.
    fn cases(&self, at: ExprId, first: &Stmt, case: Option<&Case>, around: Surroundings) -> Check {
        let body = case.and_then(|case| self.form(case.body));
        let (true, Some(StmtForm::Block(body))) = (around.reached, body) else { return self.wrong(at, "the cases are none of a switch") };
        match first {
            Stmt::Block(block) if block.rest.end != body.end || block.rest.start < body.start || !block.inserted.is_empty() => {
                self.wrong(at, "the first of the cases is not what is left of its body")
            }
            Stmt::Block(_) => self.statement(at, first, around),
            _ if first.is_terminator() => self.statement(at, first, around),
            _ => self.wrong(at, "the first of the cases is no block"),
        }
    }

    /// `Loop(s, s', s'')`: the rest of the body, the rest of the third part of a `for`, and what
    /// comes next. The rules of loops make these parts.
    fn loop_iteration(&self, at: ExprId, parts: &[Stmt; 3], n: u32, around: Surroundings) -> Check {
        let [body, increment, next_iteration] = parts;
        let next_iteration = match next_iteration {
            Stmt::If(parts) => match &**parts {
                (e, Stmt::Iterate(id, next), end) => Some((*id, *next, Some((e, end)))),
                _ => None,
            },
            Stmt::Iterate(id, next) => Some((*id, *next, None)),
            _ => None,
        };
        let Some((id, next, condition)) = next_iteration else {
            return self.wrong(at, "what follows the iteration of a loop is not the loop");
        };
        let fits = match (self.form(id), condition) {
            (Some(StmtForm::DoWhile(_, e)), Some((condition, end))) => {
                *condition == source(self.program, *e) && *end == Stmt::empty() && increment.is_empty()
            }
            (Some(StmtForm::For(_, e, _)), None) => match increment {
                Stmt::Effect(increment) => increment.ty == self.program.expr(*e).ty.right(),
                increment => increment.is_empty(),
            },
            _ => false,
        };
        if !fits || next != n.wrapping_add(1) {
            return self.wrong(at, "the parts of an iteration are not those of its loop");
        }
        self.statement(at, body, around)?;
        // Execution reaches the third part when the body ends.
        let ended = body.is_empty() || matches!(body, Stmt::Continue);
        self.statement(at, increment, Surroundings { loops: false, reached: around.reached && ended, ..around })
    }
}

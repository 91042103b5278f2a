//! Functions: their nodes one by one, the meaning of each name (seed 004 "Typing of functions", "To
//! check a block"), and that each node is used.

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::text::{Span, Symbol, deep};
use crate::wsl::environment::{Function, FunctionId};
use crate::wsl::syntax::{AddressSpace, FunctionKind};
use crate::wsl::types::TypeId;
use crate::wsl::typing::behaviour::Behaviour;
use crate::wsl::typing::program::{Body, Constant, ExprId, Form, StmtForm, StmtId, StoreId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The meaning of a function's names at a place.
struct Scope<'a> {
    body: &'a Body,
    /// The stores that each name is bound to. The innermost binding is last.
    names: FxHashMap<Symbol, Vec<StoreId>>,
    /// The names that are declared by the blocks around the place. The innermost block is last.
    blocks: Vec<Vec<Symbol>>,
    /// The stores of the parameters, declarations and postfix operators so far.
    bound: FxHashSet<StoreId>,
    /// The expressions that the walk has visited.
    exprs: FxHashSet<ExprId>,
    /// The statements that the walk has visited.
    stmts: FxHashSet<StmtId>,
    /// The name of each store.
    store_names: FxHashMap<StoreId, Symbol>,
}

impl Scope<'_> {
    fn bind(&mut self, name: Symbol, store: StoreId) {
        self.names.entry(name).or_default().push(store);
        self.store_names.insert(store, name);
        if let Some(block) = self.blocks.last_mut() {
            block.push(name);
        }
    }
}

impl Recheck<'_> {
    pub(super) fn functions(&self) -> Check {
        for (i, body) in self.program.bodies.iter().enumerate() {
            let f = self.program.env.function(FunctionId(i as u32));
            body.exprs.clone().try_for_each(|e| self.expression(ExprId(e)))?;
            body.stmts.clone().try_for_each(|s| self.statement(StmtId(s), f))?;
            self.function(f, body)?;
            self.scope(f, body)?;
        }
        Ok(())
    }

    fn function(&self, f: &Function, body: &Body) -> Check {
        let refuse = |rule: Rule, message: &str| refuse(Some(rule), f.name.span, message);
        let block = self.program.stmt(body.block);
        if !matches!(block.form, StmtForm::Block(_)) {
            return refuse(Rule::WslVFunctionBody, "the body of a function is no block");
        }
        let b = block.behaviours;
        if [Behaviour::Break, Behaviour::Continue, Behaviour::Fallthrough].into_iter().any(|x| b.has(x)) {
            return refuse(Rule::WslVFunctionBody, "a break, continue or fallthrough leaves the function's body");
        }
        if f.result != TypeId::VOID && b.has(Behaviour::Nothing) {
            return refuse(Rule::WslVFunctionNothing, "the end of a function that returns a value is reached");
        }
        if matches!(f.kind, FunctionKind::Vertex | FunctionKind::Compute(..)) && b.has(Behaviour::Discard) {
            return refuse(Rule::WslVFunctionDiscard, "an entry point of a vertex or compute stage may discard");
        }
        let returns = body.stmts.clone().filter(|s| matches!(self.program.stmts[*s as usize].form, StmtForm::Return(_))).count();
        if returns > 1 && self.is_opaque(f.result) {
            return refuse(Rule::WslVReturnOpaque, "a function that returns a sampler or a texture has several returns");
        }
        Ok(())
    }

    fn scope(&self, f: &Function, body: &Body) -> Check {
        let mut scope = Scope {
            body,
            names: FxHashMap::default(),
            blocks: Vec::new(),
            bound: FxHashSet::default(),
            exprs: FxHashSet::default(),
            stmts: FxHashSet::default(),
            store_names: FxHashMap::default(),
        };
        if body.parameters.len() != f.parameters.len() {
            return refuse(Some(Rule::WslVFunctionBound), f.name.span, "the parameters do not have a store each");
        }
        for (p, id) in f.parameters.iter().zip(&body.parameters) {
            let store = self.program.store(*id);
            if store.ty != p.ty || store.space != AddressSpace::Thread || !scope.bound.insert(*id) {
                return refuse(Some(Rule::WslVFunctionBound), p.span, "a parameter is no left-value of its type in thread");
            }
            if scope.names.contains_key(&p.name) {
                return refuse(Some(Rule::WslVFunctionParameters), p.span, "two parameters have the same name");
            }
            scope.bind(p.name, *id);
        }
        self.walk(&mut scope, body.block)?;
        if scope.stmts.len() != body.stmts.len() {
            return refuse(None, f.name.span, "some statement of the body is in no other one");
        }
        if scope.bound.len() != body.stores.len() {
            return refuse(None, f.name.span, "some store belongs to no parameter, declaration or operator");
        }
        self.values_of_cases(&scope, f)
    }

    /// Checks that the expressions outside of statements are the values of cases. These stand in
    /// the switches.
    fn values_of_cases(&self, scope: &Scope, f: &Function) -> Check {
        let mut outermost: FxHashSet<ExprId> = scope.body.exprs.clone().map(ExprId).filter(|e| !scope.exprs.contains(e)).collect();
        for e in scope.body.exprs.clone().map(ExprId).filter(|e| !scope.exprs.contains(e)) {
            for child in self.program.children(e) {
                outermost.remove(&child);
            }
        }
        let mut values: FxHashMap<Constant, i64> = FxHashMap::default();
        for e in outermost {
            let mut at = e;
            while let Form::Parens(inner) = self.program.expr(at).form {
                at = inner;
            }
            match self.program.expr(at).form {
                Form::Constant(c) => *values.entry(c).or_default() += 1,
                _ => return refuse(None, self.program.expr(e).span, "this expression is in no other one and in no statement"),
            }
        }
        for s in scope.body.stmts.clone() {
            if let StmtForm::Switch(_, cases) = &self.program.stmts[s as usize].form {
                cases.iter().filter_map(|c| c.value).for_each(|v| *values.entry(v).or_default() -= 1);
            }
        }
        if values.values().any(|n| *n != 0) {
            return refuse(None, f.name.span, "the expressions that are in no statement are not the values of cases");
        }
        Ok(())
    }

    fn walk(&self, scope: &mut Scope, id: StmtId) -> Check {
        deep(|| self.walk_new(scope, id))
    }

    fn walk_new(&self, scope: &mut Scope, id: StmtId) -> Check {
        let s = self.program.stmt(id);
        if !scope.stmts.insert(id) {
            return refuse(Some(s.rule), s.span, "this statement is in two others");
        }
        match &s.form {
            StmtForm::Block(range) => {
                scope.blocks.push(Vec::new());
                for id in self.program.block(range) {
                    if let StmtForm::Declaration(name, store, e) = &self.program.stmt(*id).form {
                        self.declaration(scope, *id, *name, *store, *e)?;
                    } else {
                        self.walk(scope, *id)?;
                    }
                }
                for name in scope.blocks.pop().unwrap_or_default() {
                    if let Some(stores) = scope.names.get_mut(&name) {
                        stores.pop();
                    }
                }
                Ok(())
            }
            StmtForm::Declaration(..) => refuse(Some(s.rule), s.span, "a declaration stands outside of a block"),
            StmtForm::If(e, a, b) => {
                self.names(scope, *e)?;
                self.walk(scope, *a)?;
                self.walk(scope, *b)
            }
            StmtForm::DoWhile(body, e) => {
                self.walk(scope, *body)?;
                self.names(scope, *e)
            }
            StmtForm::For(e, e2, body) => {
                self.names(scope, *e)?;
                self.names(scope, *e2)?;
                self.walk(scope, *body)
            }
            StmtForm::Switch(e, cases) => {
                self.names(scope, *e)?;
                cases.iter().try_for_each(|c| self.walk(scope, c.body))
            }
            StmtForm::Return(Some(e)) | StmtForm::Expr(e) => self.names(scope, *e),
            StmtForm::Return(None) | StmtForm::Break | StmtForm::Continue | StmtForm::Discard | StmtForm::Fallthrough => Ok(()),
        }
    }

    fn declaration(&self, scope: &mut Scope, id: StmtId, name: Symbol, store: StoreId, e: Option<ExprId>) -> Check {
        let s = self.program.stmt(id);
        if !scope.stmts.insert(id) {
            return refuse(Some(s.rule), s.span, "this declaration is in two blocks");
        }
        // The initialising expression does not see the variable.
        e.map_or(Ok(()), |e| self.names(scope, e))?;
        let variable = self.program.store(store);
        if !matches!(variable.space, AddressSpace::Thread | AddressSpace::Threadgroup) {
            return refuse(Some(s.rule), s.span, "the variable is neither in thread nor in threadgroup");
        }
        if self.is_opaque(variable.ty) {
            return refuse(Some(Rule::WslEpOpaque), s.span, "a variable holds a sampler or a texture");
        }
        if scope.blocks.last().is_some_and(|b| b.contains(&name)) {
            return refuse(Some(s.rule), s.span, "two variables of the block have the same name");
        }
        if !scope.bound.insert(store) {
            return refuse(Some(s.rule), s.span, "two variables have the same store");
        }
        scope.bind(name, store);
        Ok(())
    }

    /// Checks that each variable of an expression is what its name means here.
    fn names(&self, scope: &mut Scope, root: ExprId) -> Check {
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            let node = self.program.expr(id);
            if !scope.exprs.insert(id) {
                return refuse(Some(node.rule), node.span, "this expression is in two others");
            }
            match &node.form {
                Form::Variable(store) => {
                    let name = scope.store_names.get(store);
                    let meaning = name.and_then(|n| scope.names.get(n)).and_then(|stores| stores.last());
                    if meaning != Some(store) {
                        return refuse(Some(node.rule), node.span, "the name of this variable does not mean it here");
                    }
                }
                Form::Step(_, _, _, _, Some(store)) if !scope.bound.insert(*store) => {
                    return refuse(Some(node.rule), node.span, "the old value is kept in another variable's store");
                }
                _ => {}
            }
            todo.extend(self.program.children(id));
        }
        Ok(())
    }

    /// Checks that every function stands after those that it calls. So none calls itself.
    pub(super) fn order(&self) -> Check {
        let mut place: FxHashMap<FunctionId, usize> = FxHashMap::default();
        for (i, id) in self.program.order.iter().enumerate() {
            place.insert(*id, i);
        }
        let nowhere = Span { start: 0, end: 0 };
        if place.len() != self.program.order.len() || place.len() != self.program.env.functions.len() {
            return refuse(Some(Rule::WslVRecursion), nowhere, "the order does not have every function once");
        }
        for (i, body) in self.program.bodies.iter().enumerate() {
            let here = place[&FunctionId(i as u32)];
            for e in body.exprs.clone() {
                let later = self.calls(ExprId(e)).into_iter().filter_map(Recheck::function_run_by).any(|to| place[&to] >= here);
                if later {
                    return refuse(
                        Some(Rule::WslVRecursion),
                        self.program.exprs[e as usize].span,
                        "a function stands before one that it calls",
                    );
                }
            }
        }
        Ok(())
    }
}

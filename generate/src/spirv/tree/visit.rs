//! Visitors of all lists of statements, and of all expressions of a tree.

use super::{Expr, Module, Stmt, Trip};

impl Module {
    /// Visits every list of statements: outer lists before inner ones, functions before the
    /// entry point.
    pub fn each_block(&mut self, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
        for function in self.functions.iter_mut().chain([&mut self.main]) {
            visit_block(&mut function.body, f);
        }
    }

    /// Visits every expression. An expression comes before its operands.
    pub fn each_expr(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for function in self.functions.iter_mut().chain([&mut self.main]) {
            each_expr_in(&mut function.body, f);
            function.result.iter_mut().for_each(|e| visit_expr(e, f));
        }
    }
}

fn visit_block(block: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    f(block);
    for stmt in block {
        stmt.each_block(&mut |inner| visit_block(inner, f));
    }
}

fn visit_expr(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    f(expr);
    for arg in &mut expr.args {
        visit_expr(arg, f);
    }
}

/// Visits every expression in the statements. An expression comes before its operands.
pub fn each_expr_in(block: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for stmt in block {
        stmt.each_expr(&mut |e| visit_expr(e, f));
        stmt.each_block(&mut |inner| each_expr_in(inner, f));
    }
}

impl Stmt {
    /// Visits the lists of statements that this statement holds directly.
    pub fn each_block(&mut self, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
        match self {
            Stmt::If(_, arms, _) => arms.iter_mut().for_each(|arm| f(&mut arm.body)),
            Stmt::Switch(_, cases, default, _) => {
                cases.iter_mut().for_each(|case| f(&mut case.arm.body));
                f(&mut default.body);
            }
            Stmt::Loop(l) => f(&mut l.body),
            _ => {}
        }
    }

    /// Visits the statement's own expressions, not those in its lists of statements.
    pub fn each_expr(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Stmt::Let(_, e) => f(e),
            Stmt::Store(place, e) => {
                place.indices.iter_mut().for_each(&mut *f);
                f(e);
            }
            Stmt::Copy(..) | Stmt::Barrier => {}
            Stmt::If(condition, arms, _) => {
                f(condition);
                arms.iter_mut().flat_map(|arm| &mut arm.values).for_each(f);
            }
            Stmt::Switch(selector, cases, default, _) => {
                f(selector);
                cases.iter_mut().flat_map(|case| &mut case.arm.values).chain(&mut default.values).for_each(f);
            }
            Stmt::Loop(l) => {
                if let Trip::Masked(e, _) = &mut l.trip {
                    f(e);
                }
                for carried in &mut l.carried {
                    f(&mut carried.first);
                    f(&mut carried.next);
                }
            }
            Stmt::Exit(_, values) => values.iter_mut().for_each(f),
            Stmt::Return(value) => value.iter_mut().for_each(f),
            Stmt::Output(slot, e) => {
                f(slot);
                f(e);
            }
            Stmt::Exchange { value, index, .. } | Stmt::Count { value, index, .. } => {
                f(value);
                f(index);
            }
            Stmt::ReadCounter { index, .. } => f(index),
            Stmt::Own { slot, values, .. } => {
                f(slot);
                values.iter_mut().for_each(f);
            }
            Stmt::Plant(plant) => f(&mut plant.value),
        }
    }
}

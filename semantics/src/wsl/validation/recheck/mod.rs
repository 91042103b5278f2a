//! A second check of typed programs: each conclusion is checked against its premises, by the rule
//! that it names.
//!
//! It is written from seed 004's rules and the decisions of the errata. It uses no code of
//! `typing`, `environment` or `entry`. Their conclusions are data here, so a program that they
//! got wrong is refuted. First the nodes are checked to be well-formed (`shape`), so that all
//! later checks can follow them blindly. Then the environment (`global`), expressions
//! (`expression`, `access`, `overload`) and statements (`statement`) are checked one by one. A
//! walk through each function checks names (`scope`). The order of functions and the entry points
//! (`entry`) come last.
//!
//! A literal's node has the type that it was given, but no longer its text. A literal that became a
//! float may be so near a bound of `int` or `uint` that its text could be on either side. For a
//! call with such a literal it is not checked that the called function is the only one that fits.

mod access;
mod entry;
mod expression;
mod global;
mod overload;
mod scope;
mod shape;
mod statement;

use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::environment::{FunctionId, Key};
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, ExprId, Form, Program};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A conclusion that does not follow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refutation {
    /// The rule that was to give it, or that the program breaks. `None` if no rule is concerned.
    pub rule: Option<Rule>,
    /// Its place in the source.
    pub span: Span,
    /// The reason why it does not follow.
    pub message: String,
}

impl std::error::Error for Refutation {}

impl std::fmt::Display for Refutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.rule {
            Some(rule) => write!(f, "[{rule}] at {}: {}", self.span.start, self.message),
            None => write!(f, "at {}: {}", self.span.start, self.message),
        }
    }
}

/// The result of a check.
type Check<T = ()> = Result<T, Refutation>;

/// Checks a typed program node by node.
pub fn recheck(program: &Program) -> Result<(), Refutation> {
    shape::shape(program)?;
    let r = Recheck::new(program);
    r.environment()?;
    r.functions()?;
    r.order()?;
    r.barriers()?;
    r.entry_points()
}

const NOWHERE: Span = Span { start: 0, end: 0 };

fn refuse<T>(rule: Option<Rule>, span: Span, message: impl Into<String>) -> Check<T> {
    Err(Refutation { rule, span, message: message.into() })
}

struct Recheck<'a> {
    program: &'a Program,
    /// The declared functions of each key.
    by_key: FxHashMap<Key, Vec<FunctionId>>,
    /// The declared functions of each name. Functions with a cast's key are left out.
    by_name: FxHashMap<&'a str, Vec<FunctionId>>,
    /// The known results of `is_opaque`.
    opaque: RefCell<FxHashMap<TypeId, bool>>,
}

impl<'a> Recheck<'a> {
    fn new(program: &'a Program) -> Recheck<'a> {
        let mut by_key: FxHashMap<Key, Vec<FunctionId>> = FxHashMap::default();
        let mut by_name: FxHashMap<&str, Vec<FunctionId>> = FxHashMap::default();
        for (i, f) in program.env.functions.iter().enumerate() {
            let id = FunctionId(i as u32);
            by_key.entry(f.key).or_default().push(id);
            if matches!(f.key, Key::Name(_)) {
                by_name.entry(program.env.names.name(f.name.name)).or_default().push(id);
            }
        }
        Recheck { program, by_key, by_name, opaque: RefCell::default() }
    }

    fn ty(&self, id: TypeId) -> Type {
        self.program.env.types.get(id)
    }

    fn show(&self, id: TypeId) -> String {
        self.program.env.type_name(id)
    }

    fn is_reference(&self, id: TypeId) -> bool {
        matches!(self.ty(id), Type::Pointer(..) | Type::ArrayReference(..))
    }

    /// Whether the type is a sampler or a texture, or a structure or array that contains one.
    fn is_opaque(&self, id: TypeId) -> bool {
        if let Some(&known) = self.opaque.borrow().get(&id) {
            return known;
        }
        // A chain of structures may be long. So the walk keeps a list, and visits each
        // structure once.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![id];
        let mut found = false;
        while let Some(ty) = todo.pop() {
            match self.ty(ty) {
                _ if self.opaque.borrow().contains_key(&ty) => found |= self.opaque.borrow()[&ty],
                Type::Sampler | Type::Texture(..) => found = true,
                Type::Array(of, _) => todo.push(of),
                Type::Struct(_) if !seen.insert(ty) => {}
                Type::Struct(s) => todo.extend(self.program.env.structure(s).fields.iter().map(|f| f.ty)),
                _ => {}
            }
        }
        let mut known = self.opaque.borrow_mut();
        known.insert(id, found);
        if !found {
            known.extend(seen.into_iter().map(|ty| (ty, false)));
        }
        found
    }

    /// The declared function whose body runs when the callee is called.
    fn function_run_by(callee: Callee) -> Option<FunctionId> {
        match callee {
            Callee::Declared(id) => Some(id),
            Callee::Generated(Generated::Getter(id) | Generated::Setter(id)) => Some(id),
            _ => None,
        }
    }

    /// The functions that the evaluation of this node calls, without those of its premises. An
    /// abstract left-value calls nothing by itself. To read it is to call its getters. To assign to
    /// it is to call its setter, and the getters that the setter needs (seed 004 "Reduction to an
    /// abstract left-value", "Assignment").
    fn calls(&self, id: ExprId) -> Vec<Callee> {
        let mut out = Vec::new();
        match &self.program.expr(id).form {
            Form::Coerce(crate::wsl::typing::program::Coercion::AbstractToRight, e) | Form::ArrayLength(e, _) => self.reads(*e, &mut out),
            Form::Assign(e, _) => self.writes(*e, &mut out),
            Form::Step(_, _, e, callee, _) => {
                out.push(*callee);
                self.reads(*e, &mut out);
                self.writes(*e, &mut out);
            }
            Form::CompoundAssign(callee, e, _) => {
                out.push(*callee);
                self.reads(*e, &mut out);
                self.writes(*e, &mut out);
            }
            Form::Dot(_, _, Access::AddressTaker(c) | Access::Getter(c))
            | Form::Index(_, _, Access::AddressTaker(c) | Access::Getter(c)) => out.push(*c),
            Form::Call(c, _) => out.push(*c),
            _ => {}
        }
        out
    }

    fn reads(&self, mut at: ExprId, out: &mut Vec<Callee>) {
        loop {
            at = match &self.program.expr(at).form {
                Form::Parens(e) => *e,
                Form::Dot(e, _, Access::Setter(_, getter)) | Form::Index(e, _, Access::Setter(_, getter)) => {
                    out.push(*getter);
                    *e
                }
                _ => return,
            };
        }
    }

    fn writes(&self, mut at: ExprId, out: &mut Vec<Callee>) {
        loop {
            at = match &self.program.expr(at).form {
                Form::Parens(e) => *e,
                Form::Dot(e, _, Access::Setter(setter, _)) | Form::Index(e, _, Access::Setter(setter, _)) => {
                    out.push(*setter);
                    self.reads(*e, out);
                    *e
                }
                _ => return,
            };
        }
    }
}

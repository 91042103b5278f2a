//! Typing: seed 004 "Typing of functions", "Typing statements", "Typing expressions".
//!
//! Each rule of both judgements has a function: "Γ ⊢ s : B" in `statement`, `switch` and
//! `block`, "Γ ⊢ e : τ, d" in `literal`, `expression`, `access` and `call`. Whether a function
//! may discard depends on the functions that it calls. So `d`, and the `Discard` that comes from
//! it, are added last (`calls`), callees first. No other premise looks at them. An integer literal
//! has no type of its own. Where a type is expected, the literal takes it (WSL-C10). Elsewhere it
//! takes the first of int, uint and float that can represent it.

pub mod access;
pub mod behaviour;
pub mod block;
pub mod call;
pub mod calls;
pub mod expression;
pub mod function;
pub mod literal;
pub mod premises;
pub mod program;
pub mod show;
pub mod statement;
pub mod switch;

use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core;
use crate::wsl::environment::{Builder, Key};
use crate::wsl::error::Error;
use crate::wsl::library::Argument;
use crate::wsl::syntax::{AddressSpace, IntLiteral};
use crate::wsl::types::{Type, TypeId, ValueType};
use program::{Expr, ExprId, Form, Program, Stmt, StmtForm, StmtId, Store, StoreId};
use rustc_hash::FxHashMap;

/// The result of typing an expression.
#[derive(Clone, Copy, Debug)]
pub enum Judged {
    /// It has a type, that of the node.
    Typed(ExprId),
    /// It is an integer literal, perhaps in parentheses, or a comma expression that ends in one. It
    /// takes the type that is expected. The flag says whether it is a literal itself.
    Integer(ExprId, IntLiteral, bool),
    /// It is wrong, and the error has been reported.
    Wrong,
}

/// The binding of a name in the function that is being typed.
#[derive(Clone, Copy, Debug)]
struct Binding {
    /// The store of the variable. `None` if its type is wrong.
    store: Option<StoreId>,
    /// The number of the block that declares it, and the place of the declaration.
    block: u32,
    span: Span,
}

/// The names of the function that is being typed.
#[derive(Default)]
struct Scope {
    names: FxHashMap<Symbol, Vec<Binding>>,
    /// The names in the order of their declarations.
    log: Vec<Symbol>,
    /// The number of blocks opened so far. It numbers the blocks.
    blocks: u32,
    /// The open blocks, each with its number and the length of the log when it was opened.
    open: Vec<(u32, usize)>,
}

impl Scope {
    fn enter(&mut self) {
        self.blocks += 1;
        self.open.push((self.blocks, self.log.len()));
    }

    fn leave(&mut self) {
        let Some((_, length)) = self.open.pop() else { return };
        for name in self.log.drain(length..) {
            if let Some(bindings) = self.names.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    fn block(&self) -> u32 {
        self.open.last().map_or(0, |(block, _)| *block)
    }

    fn bind(&mut self, name: Symbol, store: Option<StoreId>, span: Span) {
        let block = self.block();
        self.names.entry(name).or_default().push(Binding { store, block, span });
        self.log.push(name);
    }

    /// Removes the last binding of a name.
    fn unbind(&mut self, name: Symbol) {
        self.names.entry(name).or_default().pop();
        self.log.pop();
    }

    fn find(&self, name: Symbol) -> Option<Binding> {
        self.names.get(&name).and_then(|b| b.last()).copied()
    }
}

/// Types the functions of a program.
pub struct Checker<'a> {
    /// The environment, the errors and the rules that fired.
    pub builder: Builder<'a>,
    /// The typed program so far.
    pub program: Program,
    scope: Scope,
    /// The result type of the function that is being typed.
    result: TypeId,
    /// The number of returns of the function that is being typed, if it returns a sampler or
    /// a texture.
    returns: u32,
    /// Whether it has been reported that the function returns a pointer or an array reference from
    /// inside a statement.
    inner_return: bool,
    premises: premises::Premises,
    /// The keys of names that have been called.
    keys: FxHashMap<Symbol, Key>,
    /// The overload resolutions so far.
    resolutions: FxHashMap<(Key, call::Operands), call::Resolution>,
}

impl<'a> Checker<'a> {
    /// A checker of the functions of an environment.
    pub fn new(builder: Builder<'a>, premises: premises::Premises) -> Checker<'a> {
        Checker {
            premises,
            builder,
            program: Program::default(),
            scope: Scope::default(),
            result: TypeId::VOID,
            returns: 0,
            inner_return: false,
            keys: FxHashMap::default(),
            resolutions: FxHashMap::default(),
        }
    }

    fn core(&self) -> &'a core::Program {
        self.builder.core
    }

    fn fire(&mut self, rule: Rule) {
        self.builder.fired.note(rule);
    }

    fn error(&mut self, error: Error) {
        self.builder.errors.push(error);
    }

    fn ty(&self, id: TypeId) -> Type {
        self.builder.env.types.get(id)
    }

    fn name(&self, id: TypeId) -> String {
        self.builder.env.type_name(id)
    }

    /// Concludes by a rule that an expression has a type.
    fn conclude(&mut self, rule: Rule, form: Form, ty: ValueType, span: Span) -> Judged {
        Judged::Typed(self.push(rule, form, ty, span))
    }

    fn push(&mut self, rule: Rule, form: Form, ty: ValueType, span: Span) -> ExprId {
        self.fire(rule);
        self.program.exprs.push(Expr { form, ty, rule, discards: false, span });
        ExprId(self.program.exprs.len() as u32 - 1)
    }

    fn push_stmt(&mut self, rule: Rule, form: StmtForm, behaviours: behaviour::Behaviours, span: Span) -> StmtId {
        self.fire(rule);
        self.program.stmts.push(Stmt { form, behaviours, rule, span });
        StmtId(self.program.stmts.len() as u32 - 1)
    }

    fn store(&mut self, ty: TypeId, space: AddressSpace, span: Span) -> StoreId {
        self.program.stores.push(Store { ty, space, span });
        StoreId(self.program.stores.len() as u32 - 1)
    }

    fn value_type(&self, id: ExprId) -> ValueType {
        self.program.expr(id).ty
    }

    /// The expression as a right-value. An integer literal takes the first of int, uint and float
    /// that can represent it. `None` if the expression is wrong.
    fn right(&mut self, judged: Judged) -> Option<ExprId> {
        match judged {
            Judged::Typed(id) => Some(self.coerce_right(id)),
            Judged::Integer(id, literal, _) => {
                let ty = literal::default_type(&literal);
                self.give(id, &literal, ty);
                Some(id)
            }
            Judged::Wrong => None,
        }
    }

    fn coerce_right(&mut self, id: ExprId) -> ExprId {
        let span = self.program.expr(id).span;
        match self.value_type(id) {
            ValueType::Right(_) => id,
            ValueType::Left(ty, _) => expression::t_lval_to_rval(self, id, ty, span),
            ValueType::Abstract(ty) => expression::t_alval_to_rval(self, id, ty, span),
        }
    }

    /// The expression as an abstract left-value, and the type that can be assigned to it. `None` if
    /// nothing can be assigned.
    fn coerce_abstract(&mut self, id: ExprId) -> Option<(ExprId, TypeId)> {
        let span = self.program.expr(id).span;
        let ty = (self.premises.assignable)(self.value_type(id))?;
        Some(match self.value_type(id) {
            ValueType::Left(..) => (expression::t_lval_to_alval(self, id, ty, span), ty),
            _ => (id, ty),
        })
    }

    /// The expression as a right-value of that type. Otherwise reports an error of the rule, in
    /// which `what` names the expression.
    fn expect(&mut self, judged: Judged, ty: TypeId, rule: Rule, what: &str) -> Option<ExprId> {
        match judged {
            Judged::Wrong => None,
            Judged::Integer(id, literal, _) if (self.premises.representable)(&literal, ty) => {
                self.give(id, &literal, ty);
                Some(id)
            }
            Judged::Integer(id, ..) => {
                let span = self.program.expr(id).span;
                let needed = self.name(ty);
                self.error(Error::new(
                    rule,
                    span,
                    format!("{what} is an integer literal that is not representable as {needed}, which the rule needs"),
                ));
                None
            }
            Judged::Typed(id) => {
                let found = self.value_type(id).right();
                if found == ty {
                    return Some(self.coerce_right(id));
                }
                let span = self.program.expr(id).span;
                let (found, needed) = (self.name(found), self.name(ty));
                self.error(Error::new(rule, span, format!("{what} has the type {found}; the rule needs {needed}")));
                None
            }
        }
    }

    /// Gives an integer literal a type that can represent it. The parentheses and commas around it
    /// get the type too.
    fn give(&mut self, id: ExprId, literal: &IntLiteral, ty: TypeId) {
        let mut at = id;
        loop {
            let node = &mut self.program.exprs[at.0 as usize];
            node.ty = ValueType::Right(ty);
            match node.form {
                Form::Parens(e) | Form::Comma(_, e) => at = e,
                _ => {
                    node.form = Form::Constant(literal::constant(literal, ty));
                    return;
                }
            }
        }
    }

    /// An argument as overload resolution sees it. `None` if it is wrong.
    fn argument(&self, judged: Judged) -> Option<call::Operand> {
        match judged {
            Judged::Wrong => None,
            Judged::Typed(id) => Some(call::Operand { argument: Argument::Typed(self.value_type(id).right()), literal: false }),
            // An expression that ends in a literal is resolved as one, since it can have the
            // same types.
            Judged::Integer(_, n, _) => Some(call::Operand {
                argument: Argument::Integer { int: n.as_int().is_some(), uint: n.as_uint().is_some() },
                literal: true,
            }),
        }
    }
}

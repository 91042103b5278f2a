//! Derivations in readable form: the conclusion, the rule and the premises of each node.
//!
//! The rules for a block split off its first statement. So a block of several statements has a node
//! for each rest. These nodes are made here, from the statements and their behaviours.

use super::behaviour::{Behaviour, Behaviours};
use super::program::{Coercion, ExprId, Form, Program, StmtForm, StmtId};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::layout::Layouts;
use crate::wsl::types::ValueType;
use std::cell::RefCell;

/// A node of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An expression.
    Expr(ExprId),
    /// A statement.
    Stmt(StmtId),
    /// A block without its first statements. The number says how many are left out. A whole block
    /// is a [`Node::Stmt`].
    Rest(StmtId, u32),
}

/// The conclusion of a node.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// The judgement, such as `⊢ x + 1 : int`.
    pub text: String,
    /// The rule.
    pub rule: Rule,
    /// Its place in the text.
    pub span: Span,
}

/// A program and its text.
pub struct Show<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its text.
    pub text: &'a str,
    layouts: RefCell<Layouts>,
}

impl<'a> Show<'a> {
    /// A view of a program with its text.
    pub fn new(program: &'a Program, text: &'a str) -> Show<'a> {
        Show { program, text, layouts: RefCell::default() }
    }

    /// The node of a function's body.
    pub fn root(&self, id: FunctionId) -> Node {
        Node::Stmt(self.program.body(id).block)
    }

    /// The conclusion of a node.
    pub fn conclusion(&self, node: Node) -> Conclusion {
        match node {
            Node::Expr(id) => {
                let e = self.program.expr(id);
                let discards = if e.discards { ", may discard" } else { "" };
                let text = format!("⊢ {} : {}{discards}", self.snippet(e.span), self.value_type(e.ty));
                Conclusion { text, rule: e.rule, span: e.span }
            }
            Node::Stmt(id) => match self.statements(id) {
                Some(_) => self.rest(id, 0),
                None => {
                    let s = self.program.stmt(id);
                    Conclusion { text: format!("⊢ {} : {}", self.snippet(s.span), s.behaviours), rule: s.rule, span: s.span }
                }
            },
            Node::Rest(id, from) => self.rest(id, from),
        }
    }

    fn rest(&self, id: StmtId, from: u32) -> Conclusion {
        let statements = self.statements(id).unwrap_or(&[]);
        let rest = &statements[from as usize..];
        let span = rest.first().map_or(self.program.stmt(id).span, |s| self.program.stmt(*s).span);
        let shown = match rest {
            [] => "{}".to_string(),
            [one] => format!("{{ {} }}", self.snippet(self.program.stmt(*one).span)),
            [one, ..] => format!("{{ {} … }}", self.snippet(self.program.stmt(*one).span)),
        };
        Conclusion { text: format!("⊢ {shown} : {}", self.behaviours(rest)), rule: self.rule(rest), span }
    }

    /// The behaviours of the rest of a block.
    fn behaviours(&self, rest: &[StmtId]) -> Behaviours {
        let mut out = Behaviours::of(Behaviour::Nothing);
        for (i, id) in rest.iter().enumerate().rev() {
            let s = self.program.stmt(*id);
            out = match s.form {
                StmtForm::Declaration(..) => out.union(s.behaviours),
                _ if i + 1 == rest.len() => s.behaviours,
                _ => s.behaviours.without(Behaviour::Nothing).union(out),
            };
        }
        out
    }

    fn rule(&self, rest: &[StmtId]) -> Rule {
        let Some(first) = rest.first() else { return Rule::WslTEmptyBlock };
        match self.program.stmt(*first).form {
            StmtForm::Declaration(_, _, None) => Rule::WslTVariableDecl,
            StmtForm::Declaration(_, _, Some(_)) => Rule::WslTVariableDeclInit,
            _ if rest.len() == 1 => Rule::WslTTrivialBlock,
            _ => Rule::WslTBlock,
        }
    }

    fn statements(&self, id: StmtId) -> Option<&[StmtId]> {
        match &self.program.stmt(id).form {
            StmtForm::Block(range) => Some(self.program.block(range)),
            _ => None,
        }
    }

    /// The premises of a node, in order.
    pub fn premises(&self, node: Node) -> Vec<Node> {
        match node {
            Node::Expr(id) => self.program.children(id).into_iter().map(Node::Expr).collect(),
            Node::Stmt(id) if self.statements(id).is_some() => self.rest_premises(id, 0),
            Node::Stmt(id) => self.stmt_premises(id),
            Node::Rest(id, from) => self.rest_premises(id, from),
        }
    }

    fn rest_premises(&self, id: StmtId, from: u32) -> Vec<Node> {
        let statements = self.statements(id).unwrap_or(&[]);
        let Some(first) = statements.get(from as usize) else { return Vec::new() };
        let rest = Node::Rest(id, from + 1);
        match self.program.stmt(*first).form {
            StmtForm::Declaration(_, _, None) => vec![rest],
            StmtForm::Declaration(_, _, Some(e)) => vec![Node::Expr(e), rest],
            _ if from as usize + 1 == statements.len() => vec![Node::Stmt(*first)],
            _ => vec![Node::Stmt(*first), rest],
        }
    }

    fn stmt_premises(&self, id: StmtId) -> Vec<Node> {
        match &self.program.stmt(id).form {
            StmtForm::If(e, a, b) => vec![Node::Expr(*e), Node::Stmt(*a), Node::Stmt(*b)],
            StmtForm::DoWhile(s, e) => vec![Node::Stmt(*s), Node::Expr(*e)],
            StmtForm::For(e, e2, s) => vec![Node::Expr(*e), Node::Expr(*e2), Node::Stmt(*s)],
            StmtForm::Switch(e, cases) => std::iter::once(Node::Expr(*e)).chain(cases.iter().map(|c| Node::Stmt(c.body))).collect(),
            StmtForm::Return(Some(e)) | StmtForm::Expr(e) => vec![Node::Expr(*e)],
            _ => Vec::new(),
        }
    }

    /// The type of an expression: `int`, `LVal(int, thread)`, `ALVal(float)`.
    pub fn value_type(&self, ty: ValueType) -> String {
        let name = |ty| self.program.env.type_name(ty);
        match ty {
            ValueType::Right(ty) => name(ty),
            ValueType::Abstract(ty) => format!("ALVal({})", name(ty)),
            ValueType::Left(ty, space) => format!("LVal({}, {})", name(ty), space.keyword()),
        }
    }

    /// The text at that place, on one line, cut if it is long.
    fn snippet(&self, span: Span) -> String {
        let end = (span.end as usize).min(self.text.len());
        let whole = self.text.get(span.start as usize..end).unwrap_or_default();
        let mut out = String::new();
        for word in whole.split_whitespace() {
            if out.chars().count() + word.chars().count() > 60 {
                out.push_str(" …");
                break;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        out
    }

    /// The size of a value of a type, such as ` of 4 bytes`.
    fn bytes(&self, ty: ValueType) -> String {
        let layout = self.layouts.borrow_mut().of(&self.program.env, ty.right());
        layout.map_or(" of more than 2^64 bytes".into(), |l| format!(" of {} bytes", l.size))
    }

    /// A note on an expression: the accessors or functions that it calls, or how a value is used.
    /// `None` if there is nothing to add.
    pub fn annotation(&self, node: Node) -> Option<String> {
        let Node::Expr(id) = node else { return None };
        let callee = |c| self.callee(c);
        match &self.program.expr(id).form {
            Form::Coerce(Coercion::LeftToRight, _) => Some(format!("a load{}", self.bytes(self.program.expr(id).ty))),
            Form::Assign(..) => Some(format!("a store{}", self.bytes(self.program.expr(id).ty))),
            Form::Element(..) => Some(format!("a stride{}", self.bytes(self.program.expr(id).ty))),
            Form::Coerce(Coercion::AbstractToRight, _) => Some("its getter".into()),
            Form::Coerce(Coercion::LeftToAbstract, _) => Some("to be assigned to".into()),
            _ => {
                let called: Vec<String> = self.program.callees(id).into_iter().map(callee).collect();
                (!called.is_empty()).then(|| format!("calls {}", called.join(" and ")))
            }
        }
    }

    fn callee(&self, callee: crate::wsl::environment::access::Callee) -> String {
        use crate::wsl::environment::access::Callee;
        let env = &self.program.env;
        match callee {
            Callee::Declared(id) => env.signature(id),
            Callee::Library(f) => format!("the library's {:?}", f.meaning()),
            Callee::Generated(g) => format!("the generated {}", env.generated_name(g)),
        }
    }
}

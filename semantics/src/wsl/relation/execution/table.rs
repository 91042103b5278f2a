//! The table of rules. Each rule has the forms of terms that it is looked up by.
//!
//! A form is read off the term. It does not say whether a rule applies. Every rule gives an
//! answer for any term, and the lookup only saves time. Tests check that no rule of another form
//! ever applies.

use super::next::Next;
use super::term::{Expr, Form, Stmt};
use super::{Cx, Replacement, assign, builtin, call, derivative, expression, generated, iteration, left, statement, switch, texture};
use crate::rule::Rule;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Derivative;
use crate::wsl::typing::program::Coercion;
use std::sync::LazyLock;

/// A rule for expressions: returns what the expression becomes, or `None` if the rule does
/// not apply.
pub type ExprRule = fn(&mut Cx, &Expr) -> Option<Next>;
/// A rule for statements.
pub type StmtRule = fn(&mut Cx, &Stmt) -> Option<Next>;

/// The forms of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Source,
    Value,
    Left,
    Variable,
    /// A left-value, used as the value that it holds.
    Load,
    /// An access with a setter, used as the value that its getter returns.
    GetterAccess,
    /// A left-value, used as the target of an assignment.
    Assigned,
    Parens,
    Comma,
    Or,
    And,
    Ternary,
    Assign,
    AddressOf,
    Dereference,
    MakeReference,
    Dot,
    Index,
    Element,
    ArrayLength,
    ReferenceLength,
    Step,
    CompoundAssign,
    CallDeclared,
    CallAddress,
    CallAccessor,
    CallBarrier,
    CallAtomic,
    CallDerivative,
    CallTexture,
    CallLibrary,
    Construct,
}

impl Shape {
    const COUNT: usize = Shape::Construct as usize + 1;

    pub(super) fn of(e: &Expr) -> Shape {
        match &e.form {
            Form::Source(_) => Shape::Source,
            Form::Value(_) => Shape::Value,
            Form::Left(_) => Shape::Left,
            Form::Variable(_) => Shape::Variable,
            Form::Coerce(Coercion::LeftToRight, _) => Shape::Load,
            Form::Coerce(Coercion::AbstractToRight, _) => Shape::GetterAccess,
            Form::Coerce(Coercion::LeftToAbstract, _) => Shape::Assigned,
            Form::Parens(_) => Shape::Parens,
            Form::Comma(_) => Shape::Comma,
            Form::Or(_) => Shape::Or,
            Form::And(_) => Shape::And,
            Form::Ternary(_) => Shape::Ternary,
            Form::Assign(_) => Shape::Assign,
            Form::AddressOf(_) => Shape::AddressOf,
            Form::Dereference(_) => Shape::Dereference,
            Form::MakeReference(..) => Shape::MakeReference,
            Form::Dot(..) => Shape::Dot,
            Form::Index(..) => Shape::Index,
            Form::Element(_) => Shape::Element,
            Form::ArrayLength(..) => Shape::ArrayLength,
            Form::ReferenceLength(_) => Shape::ReferenceLength,
            Form::Step(..) => Shape::Step,
            Form::CompoundAssign(..) => Shape::CompoundAssign,
            Form::Call(callee, _) => match callee {
                Callee::Declared(_) => Shape::CallDeclared,
                Callee::Generated(Generated::FieldAddress(..) | Generated::ElementAddress(..)) => Shape::CallAddress,
                Callee::Generated(_) => Shape::CallAccessor,
                Callee::Library(function) => match Class::of(function.meaning()) {
                    Class::Element => Shape::CallAddress,
                    Class::Barrier => Shape::CallBarrier,
                    Class::Interlocked | Class::CompareExchange => Shape::CallAtomic,
                    Class::Derivative => Shape::CallDerivative,
                    Class::Sample | Class::Compare | Class::Gather | Class::Load | Class::Store | Class::Dimensions => Shape::CallTexture,
                    Class::Value => Shape::CallLibrary,
                },
            },
            Form::Construct(_) => Shape::Construct,
        }
    }
}

/// The groups of library functions that share rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Element,
    Barrier,
    Interlocked,
    CompareExchange,
    Derivative,
    Sample,
    Compare,
    Gather,
    Load,
    Store,
    Dimensions,
    /// All other functions, which compute values.
    Value,
}

impl Class {
    pub(super) fn of(meaning: Meaning) -> Class {
        use Meaning as M;
        match meaning {
            M::ElementPointer => Class::Element,
            M::DeviceMemoryBarrierWithGroupSync | M::GroupMemoryBarrierWithGroupSync | M::AllMemoryBarrierWithGroupSync => Class::Barrier,
            M::InterlockedAdd
            | M::InterlockedAnd
            | M::InterlockedOr
            | M::InterlockedXor
            | M::InterlockedMin
            | M::InterlockedMax
            | M::InterlockedExchange => Class::Interlocked,
            M::InterlockedCompareExchange => Class::CompareExchange,
            M::Sample | M::SampleBias | M::SampleGrad | M::SampleLevel => Class::Sample,
            M::SampleCmp | M::SampleCmpLevelZero => Class::Compare,
            M::GatherRed | M::GatherGreen | M::GatherBlue | M::GatherAlpha | M::GatherCmp => Class::Gather,
            M::Load => Class::Load,
            M::Store => Class::Store,
            M::GetDimensions => Class::Dimensions,
            meaning if Derivative::of(meaning).is_some() => Class::Derivative,
            _ => Class::Value,
        }
    }
}

/// The forms of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StmtShape {
    /// A block without environment.
    Bare,
    /// A block whose first statement is a declaration.
    Declaring,
    /// Another block.
    Block,
    If,
    Iterate,
    Switch,
    Cases,
    Loop,
    Return,
    Effect,
    Other,
}

impl StmtShape {
    const COUNT: usize = StmtShape::Other as usize + 1;

    pub(super) fn of(s: &Stmt) -> StmtShape {
        match s {
            Stmt::Block(block) => match (&block.env, &block.first) {
                (None, _) => StmtShape::Bare,
                (_, Some(Stmt::Declaration(..))) => StmtShape::Declaring,
                _ => StmtShape::Block,
            },
            Stmt::If(_) => StmtShape::If,
            Stmt::Iterate(..) => StmtShape::Iterate,
            Stmt::Switch(..) => StmtShape::Switch,
            Stmt::Cases(..) => StmtShape::Cases,
            Stmt::Loop(..) => StmtShape::Loop,
            Stmt::Return(_) => StmtShape::Return,
            Stmt::Effect(_) => StmtShape::Effect,
            Stmt::Declaration(..) | Stmt::Break | Stmt::Continue | Stmt::Fallthrough | Stmt::Discard => StmtShape::Other,
        }
    }
}

/// The function of a rule: what it reduces, and the forms that it is looked up by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    /// Steps of expressions of these forms.
    Expr(&'static [Shape], ExprRule),
    /// Steps of expressions of these forms to an abstract left-value.
    Left(&'static [Shape], ExprRule),
    /// Steps of statements of these forms.
    Stmt(&'static [StmtShape], StmtRule),
}

/// A rule of the table.
pub(super) type Row = (Rule, Function);

/// The rules of a judgement. In `by_form` a rule is listed under every form that it is looked
/// up by.
#[derive(Clone, Debug)]
pub(super) struct Indexed<F> {
    all: Vec<(Rule, F)>,
    by_form: Vec<Vec<(Rule, F)>>,
}

impl<F: Copy> Indexed<F> {
    fn new(forms: usize) -> Indexed<F> {
        Indexed { all: Vec::new(), by_form: vec![Vec::new(); forms] }
    }

    fn add(&mut self, rule: Rule, forms: impl Iterator<Item = usize>, function: F) {
        self.all.push((rule, function));
        forms.for_each(|form| self.by_form[form].push((rule, function)));
    }

    fn replace(&mut self, rule: Rule, function: F) {
        let rows = self.all.iter_mut().chain(self.by_form.iter_mut().flatten());
        rows.filter(|row| row.0 == rule).for_each(|row| row.1 = function);
    }

    /// The rules of a form.
    pub(super) fn of(&self, form: usize) -> &[(Rule, F)] {
        &self.by_form[form]
    }

    /// Every rule.
    pub(super) fn all(&self) -> &[(Rule, F)] {
        &self.all
    }
}

/// The table of rules.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) exprs: Indexed<ExprRule>,
    pub(super) lefts: Indexed<ExprRule>,
    pub(super) stmts: Indexed<StmtRule>,
}

/// The table of all rules, without planted bugs.
pub(super) static STANDARD: LazyLock<Rules> = LazyLock::new(|| {
    let sections: [&[Row]; 11] = [
        statement::RULES,
        switch::RULES,
        iteration::RULES,
        expression::RULES,
        left::RULES,
        assign::RULES,
        call::RULES,
        generated::RULES,
        builtin::RULES,
        derivative::RULES,
        texture::RULES,
    ];
    let mut rules = Rules { exprs: Indexed::new(Shape::COUNT), lefts: Indexed::new(Shape::COUNT), stmts: Indexed::new(StmtShape::COUNT) };
    for &(rule, function) in sections.into_iter().flatten() {
        match function {
            Function::Expr(forms, f) => rules.exprs.add(rule, forms.iter().map(|&form| form as usize), f),
            Function::Left(forms, f) => rules.lefts.add(rule, forms.iter().map(|&form| form as usize), f),
            Function::Stmt(forms, f) => rules.stmts.add(rule, forms.iter().map(|&form| form as usize), f),
        }
    }
    rules
});

impl Rules {
    /// The rules of the table, each once.
    pub fn rules(&self) -> Vec<Rule> {
        let exprs = self.exprs.all().iter().chain(self.lefts.all()).map(|row| row.0);
        let mut rules: Vec<Rule> = exprs.chain(self.stmts.all().iter().map(|row| row.0)).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// The table with the function of one rule replaced. The replacement may call the original
    /// function. A rule that the table does not contain is not added.
    #[must_use]
    pub fn replace(mut self, rule: Rule, replacement: Replacement) -> Rules {
        match replacement {
            Replacement::Expr(f) => {
                self.exprs.replace(rule, f);
                self.lefts.replace(rule, f);
            }
            Replacement::Stmt(f) => self.stmts.replace(rule, f),
        }
        self
    }
}

impl Default for Rules {
    fn default() -> Rules {
        STANDARD.clone()
    }
}

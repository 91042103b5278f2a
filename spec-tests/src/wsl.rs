//! What the tests of a WSL program do.

use crate::expect::Found;
use crate::reject::Wrong;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::call::{Settings, prepare};
use smallstep_semantics::wsl::environment::Planted;
use smallstep_semantics::wsl::error::Error;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{self, Cx, Done, Stop};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::{self, Given, Op};
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::types::ValueType;
use smallstep_semantics::wsl::typing::behaviour::Behaviour;
use smallstep_semantics::wsl::typing::premises::{Premises, declared};
use smallstep_semantics::wsl::{desugar, parse, print, validate, value};
use std::collections::BTreeSet;

/// What is found of a program.
#[derive(Debug, Default)]
pub struct Read {
    /// The rules that it fires.
    pub fired: Vec<Rule>,
    /// What is wrong with it, by place. Where the text cannot be read, nothing further is looked at.
    pub wrong: Vec<Wrong>,
    /// Whether it prints to a text that reads back to the same tree.
    pub prints_back: bool,
    /// The program without sugar.
    pub core: Vec<String>,
    /// That it is valid, and its typed program follows by the rules: what does not follow.
    pub valid: Option<Result<(), String>>,
}

/// The rules that validation and execution go by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The bug in those of validation.
    pub planted: Planted,
    /// The bug in those of execution.
    pub execution: execution::Planted,
    /// The judgements that they rest on.
    pub premises: Premises,
    /// Whether they are the specification's by the letter, so that what follows by them is not checked again.
    pub literal: bool,
}

impl Rules {
    /// These rules with a judgement by the letter.
    pub fn by_the_letter(mut self, plant: fn(&mut Premises)) -> Rules {
        plant(&mut self.premises);
        self.literal = true;
        self
    }
}

/// WSL-C1: only Break adds Nothing to a loop, and Fallthrough stays.
pub fn loops_without_end(p: &mut Premises) {
    p.loop_behaviours = |b| b.without(Behaviour::Continue).without(Behaviour::Break).with_if(Behaviour::Nothing, b.has(Behaviour::Break));
}

/// WSL-C2: a parameter is a value. So are variables here, of which the exhibit has none to assign to.
pub fn parameters_are_values(p: &mut Premises) {
    p.variable = |ty, _| ValueType::Right(ty);
}

/// WSL-C3: a reference to an array refers to arrays.
pub fn references_to_arrays(p: &mut Premises) {
    p.reference = |_, ty| (ty, None);
}

/// WSL-C4: an initialiser sees its own variable.
pub fn initialisers_see_themselves(p: &mut Premises) {
    p.initializer_sees_itself = true;
}

/// WSL-C6: only what is written as a call, or an operator that becomes one, is a call.
pub fn calls_as_written(p: &mut Premises) {
    p.called = |callee, written| declared(callee).filter(|_| written);
}

/// WSL-D1: any `return` is a terminator, and replaces its block at once.
pub fn hoisted_return(cx: &mut Cx, s: &mut Stmt) -> Done {
    if let Stmt::Block(block) = s
        && let Some(Stmt::Return(_)) = &block.first
    {
        *s = block.first.take().unwrap_or_else(Stmt::empty);
        return Ok(());
    }
    execution::statement::e_block_reduce(cx, s)
}

/// WSL-D3: `e.f` that only a setter assigns to is reduced as any expression, by its getter.
pub fn got_target(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    if cx.left(e)? {
        return Ok(true);
    }
    if let Form::Dot(..) = e.form {
        cx.apply(Rule::WslEDotGetter, execution::expression::e_dot_getter, e)?;
        return Ok(true);
    }
    Ok(false)
}

/// WSL-D17: `e.f = v` becomes `e = operator.f=(e, v)`, and nothing more.
pub fn value_of_whole(cx: &mut Cx, e: &mut Expr) -> Done {
    execution::assign::e_assign_setter(cx, e)?;
    if let Form::Comma(parts) = &mut e.form {
        *e = parts[0].take();
    }
    Ok(())
}

/// WSL-D19: the declaration stores the default value, wherever the variable is.
pub fn stored_by_each(cx: &mut Cx, s: &mut Stmt) -> Done {
    let declared = match s {
        Stmt::Block(block) => match block.first {
            Some(Stmt::Declaration(_, store, None)) => Some(store),
            _ => None,
        },
        _ => None,
    };
    execution::statement::e_block_vdecl(cx, s)?;
    let Some(store) = declared else { return Ok(()) };
    let words = cx.shared.words(cx.shared.program.store(store).ty)?;
    cx.store(cx.address(store), &vec![Word::Bits(0); words as usize])
}

/// WSL-E2: the tangent of atan2(y, x) is x/y.
pub fn tangent_of_x_by_y(op: Op, operands: &[u32], given: Given) -> Given {
    match (op.meaning, operands) {
        (Meaning::Atan2, &[y, x]) => meaning::scalar(op, &[x, y]),
        _ => given,
    }
}

/// How far a program is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// Its tree.
    Tree,
    /// The program without sugar.
    Core,
    /// Whether it is valid.
    Validity,
}

/// Reads a program, and goes on with it as far as asked.
pub fn read(text: &str, until: Until, rules: &Rules) -> Read {
    let (tree, errors, fired) = parse::parse_with_rules(text);
    let mut read = Read { fired, ..Read::default() };
    if !errors.is_empty() {
        read.wrong = wrong(text, &errors);
        return read;
    }
    let (again, errors) = parse::parse(&print::print(&tree));
    read.prints_back = errors.is_empty() && again.same(&tree);
    if until == Until::Tree {
        return read;
    }
    let (core, done) = desugar::desugar(tree);
    read.fired.extend(done.iter().map(|(rule, _)| *rule));
    read.core = print::print_core(&core).lines().map(str::to_string).collect();
    if until == Until::Core {
        return read;
    }
    let (program, errors, fired) = validate::check_with(&core, rules.planted, rules.premises);
    read.fired.extend(fired.rules());
    read.wrong = wrong(text, &errors);
    read.valid = program.map(|program| match rules.literal {
        true => Ok(()),
        false => recheck(&program).map_err(|refuted| {
            let (line, column) = line_column(text, refuted.span.start);
            format!("{line}:{column}: {}: {}", refuted.rule.map_or("a whole", Rule::name), refuted.message)
        }),
    });
    read
}

/// What an expression beside a program evaluates to, as `int 42`, or how its evaluation ends; and the rules that fire on all its ways.
///
/// Errors: what is wrong with the program or the expression.
pub fn call(text: &str, expression: &str, settings: &Settings) -> Result<(Found, BTreeSet<Rule>), String> {
    let prepared = prepare(text, expression).map_err(|wrong| {
        let each = wrong.errors.iter().map(|e| {
            let (line, column) = line_column(&wrong.text, e.span.start);
            format!("\n{line}:{column}: error[{}] {}", e.rule, e.message)
        });
        format!("the program or the expression is rejected{}", each.collect::<String>())
    })?;
    let mut fired = BTreeSet::new();
    let outcome = prepared.evaluation().run_ways(settings, &mut |_, step, _| {
        fired.insert(step.rule);
        fired.extend(&step.within);
    });
    let found = match outcome {
        Outcome::Observed(shown) => {
            let ty = prepared.program.env.type_name(shown.ty);
            let mut text = match (&*ty, shown.discarded) {
                (_, n) if n == shown.ways => String::from("discarded"),
                ("void", _) => ty,
                _ => format!("{ty} {}", value::show(&prepared.program, shown.ty, &shown.words)),
            };
            if 0 < shown.discarded && shown.discarded < shown.ways {
                text += ", or discarded";
            }
            if !shown.complete {
                text += ", and not every way was followed";
            }
            Found { notes: vec![text], ..Found::default() }
        }
        Outcome::Stuck(stuck) => Found::ending("stuck", stuck.why),
        Outcome::Unsupported(what) => Found::ending("unsupported", what),
        Outcome::Limit(limit) => Found::ending("limit", limit.to_string()),
        other => Found::ending(other.name(), ""),
    };
    Ok((found, fired))
}

fn wrong(text: &str, errors: &[Error]) -> Vec<Wrong> {
    let each = errors.iter().map(|e| {
        let (line, column) = line_column(text, e.span.start);
        Wrong { code: e.rule.name().into(), message: e.message.clone(), line, column }
    });
    each.collect()
}

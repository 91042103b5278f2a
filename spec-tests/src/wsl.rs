//! What the tests of a WSL program do.

use crate::reject::Wrong;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::environment::Planted;
use smallstep_semantics::wsl::error::Error;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::types::ValueType;
use smallstep_semantics::wsl::typing::behaviour::Behaviour;
use smallstep_semantics::wsl::typing::premises::{Premises, declared};
use smallstep_semantics::wsl::{desugar, parse, print, validate};

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

/// The rules that validation goes by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The bug in them.
    pub planted: Planted,
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

fn wrong(text: &str, errors: &[Error]) -> Vec<Wrong> {
    let each = errors.iter().map(|e| {
        let (line, column) = line_column(text, e.span.start);
        Wrong { code: e.rule.name().into(), message: e.message.clone(), line, column }
    });
    each.collect()
}

//! Validation of a program's text: all stages in order.

use crate::text::Span;
use crate::wsl::core;
use crate::wsl::entry::{self, EntryPoint};
use crate::wsl::environment::{Builder, Fired, Planted};
use crate::wsl::error::{Error, MAX_ERRORS};
use crate::wsl::typing::premises::Premises;
use crate::wsl::typing::program::Program;
use crate::wsl::typing::{Checker, calls};
use crate::wsl::{desugar, parse};

/// The result of validation.
pub struct Validated {
    /// The errors, by place. Empty if the program is valid.
    pub errors: Vec<Error>,
    /// The typed program, if it is valid.
    pub program: Option<Program>,
    /// The rules that fired.
    pub fired: Fired,
}

/// Validates a program's text. If it cannot be parsed, it is not typed.
pub fn validate(text: &str) -> Validated {
    let (tree, errors) = parse::parse(text);
    if !errors.is_empty() {
        return Validated { errors, program: None, fired: Fired::default() };
    }
    let (core, _) = desugar::desugar(tree);
    let (program, errors, fired) = check(&core);
    Validated { errors, program, fired }
}

/// Validates a program without sugar.
pub fn check(core: &core::Program) -> (Option<Program>, Vec<Error>, Fired) {
    check_with(core, Planted::None, Premises::default())
}

/// Validates a program without sugar, with a planted bug and with replaced premises.
pub fn check_with(core: &core::Program, planted: Planted, premises: Premises) -> (Option<Program>, Vec<Error>, Fired) {
    let mut builder = Builder::new(core).planted(planted);
    builder.build();
    let entry_points: Vec<EntryPoint> = entry::entry_points(&mut builder);
    let mut checker = Checker::new(builder, premises);
    let bodies = checker.functions();
    let order = checker.calls(&bodies);
    let Checker { builder, mut program, .. } = checker;
    let Builder { env, mut errors, fired, .. } = builder;
    if let Some(rule) = fired.refusal() {
        errors.push(Error::new(rule, Span { start: 0, end: 0 }, "this rule is planted never to hold"));
    }
    errors.list.sort_by_key(|e| (e.span, e.rule));
    errors.list.truncate(MAX_ERRORS);
    let bodies = bodies.into_iter().collect::<Option<Vec<_>>>().filter(|_| errors.list.is_empty());
    let program = bodies.map(|bodies| {
        program.barriers = calls::barriers(&program);
        program.env = env;
        program.bodies = bodies;
        program.order = order;
        program.entry_points = entry_points;
        program
    });
    (program, errors.list, fired)
}

//! The evaluation of one expression in the scope of a program: a call of any of its functions, with
//! arguments in WSL syntax.
//!
//! The expression is typed like the return value of a function of the program. So literals take the
//! types of parameters, overloads are resolved, and casts are available. Statements may come before
//! it, as in `int x = 4; f(&x)`, to declare a variable to point to. One thread executes it, as a
//! group of its own.

use super::core::{Decl, Stmt};
use super::environment::FunctionId;
use super::error::Error;
use super::execution::term::Expr;
use super::execution::{Shared, Step, Stop, Thread, call_of, source, step};
use super::lex::lex;
use super::machine::{self, Compiled, Ending};
use super::memory::{Memory, Object};
use super::open::{OpenTerms, Possible, Word, explore};
use super::syntax::AddressSpace;
use super::token::TokenKind;
use super::types::TypeId;
use super::typing::program::{ExprId, Program, StmtForm, StmtId};
use super::{Settings, desugar, parse, validate};
use crate::outcome::{Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use std::fmt::Write;

/// An expression in the scope of a program, both typed.
#[derive(Debug)]
pub struct Prepared {
    /// The text of the program, followed by the expression in a function of its own.
    pub text: String,
    /// The place of the expression, with the statements before it, in the text.
    pub place: Place,
    /// The typed program.
    pub program: Program,
    /// The expression.
    pub expr: ExprId,
    /// Whether statements come before it. If so, its function is called and returns its value.
    pub after_statements: bool,
}

/// The errors of a program or of an expression in its scope.
#[derive(Debug)]
#[non_exhaustive]
pub struct Invalid {
    /// The text that the places of the errors refer to.
    pub text: String,
    /// The place of the expression in the text. It is past the end if only the program has errors.
    pub place: Place,
    /// The errors.
    pub errors: Vec<Error>,
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.errors.first().map_or("the expression cannot be evaluated", |error| &error.message))
    }
}

impl std::error::Error for Invalid {}

/// The place of an expression in the text that was made from it and its program. All fields are
/// in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The offset of the statements, or of the expression if there are none.
    pub first: u32,
    /// The length of the statements.
    statements: u32,
    /// The length of the text that was inserted after them.
    between: u32,
    /// The length of the whole input.
    length: u32,
}

impl Place {
    /// A place outside of the text.
    const NOWHERE: Place = Place { first: u32::MAX, statements: 0, between: 0, length: 0 };

    /// The offset in the input for an offset in the text. `None` if it is in the program.
    pub fn inside(self, at: u32) -> Option<u32> {
        let at = at.checked_sub(self.first)?;
        let at = if at <= self.statements { at } else { at.saturating_sub(self.between).max(self.statements) };
        Some(at.min(self.length))
    }
}

/// The length of the statements before an expression, and the end of the expression. Statements end
/// with `;` or `}`. One more `;` after the expression is ignored.
fn statements(expression: &str) -> (usize, usize) {
    let (tokens, _) = lex(expression);
    let (mut depth, mut ends, mut last) = (0i64, Vec::new(), 0);
    for token in &tokens {
        match token.kind {
            TokenKind::End => break,
            TokenKind::LeftParen | TokenKind::LeftBrace | TokenKind::LeftBracket => depth += 1,
            TokenKind::RightParen | TokenKind::RightBracket => depth -= 1,
            TokenKind::RightBrace => {
                depth -= 1;
                if depth == 0 {
                    let end = token.span.end as usize;
                    ends.push((end, end));
                }
            }
            TokenKind::Semicolon if depth == 0 => {
                ends.push((token.span.start as usize, token.span.end as usize));
                continue;
            }
            _ => {}
        }
        last = token.span.end as usize;
    }
    let before = ends.iter().rev().find(|end| end.1 <= last && expression.get(end.1..last).is_some_and(|rest| !rest.trim().is_empty()));
    let after = ends.iter().find(|end| end.0 >= last).map_or(expression.len(), |end| end.0);
    (before.map_or(0, |end| end.1), after)
}

/// Types an expression in the scope of a program.
///
/// # Errors
/// The errors of the program or of the expression.
pub fn prepare(program: &str, expression: &str) -> Result<Prepared, Invalid> {
    let mut name = String::from("call");
    while program.contains(&name) || expression.contains(&name) {
        name.push('_');
    }
    let (statements_end, end) = statements(expression);
    let between = if statements_end > 0 { "\nreturn\n" } else { "" };
    let mut text = String::with_capacity(program.len() + expression.len() + 64);
    // The program or the expression may end in a comment, so a line break follows.
    let _ = write!(text, "{program}\nvoid {name}() {{{}", if statements_end > 0 { "\n" } else { " return\n" });
    let first = text.len() as u32;
    let place = Place { first, statements: statements_end as u32, between: between.len() as u32, length: expression.len() as u32 };
    let _ = write!(text, "{}{between}{}\n; }}", &expression[..statements_end], &expression[statements_end..end]);
    let invalid = |text: String, errors: Vec<Error>| Invalid { text, place, errors };
    let end_of_all = first + (end + between.len()) as u32;
    let (tree, mut errors) = parse::parse(&text);
    // The `;` after the expression was inserted, so messages do not mention it.
    for error in errors.iter_mut().filter(|e| e.span.start >= end_of_all) {
        error.message = error.message.replacen("found `;`", "found the end of the expression", 1);
    }
    if !errors.is_empty() {
        // An error at the end of the program would be reported in the expression.
        let (_, program_errors) = parse::parse(program);
        return Err(match program_errors.is_empty() {
            true => invalid(text, errors),
            false => Invalid { text: program.into(), place: Place::NOWHERE, errors: program_errors },
        });
    }
    let (mut core, _) = desugar::desugar(tree);
    let input_span = Span { start: first, end: end_of_all };
    let body = match core.decls.last() {
        Some(Decl::Function(f)) if core.names.name(f.name.name) == name => f.body,
        _ => {
            return Err(invalid(
                text,
                vec![Error::new(Rule::WslGTerm, input_span, "one expression is expected, and something follows it")],
            ));
        }
    };
    let final_return = match core.stmt(body) {
        Stmt::Block(stmts) => match stmts[..] {
            [.., last] if statements_end > 0 || stmts.len() == 1 => match core.stmt(last) {
                Stmt::Return(Some(e)) => Some((last, *e)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let Some((stmt, e)) = final_return else {
        return Err(invalid(text, vec![Error::new(Rule::WslGTerm, input_span, "one expression is expected")]));
    };
    core.stmts[stmt.0 as usize].0 = Stmt::Expr(e);
    let (program, errors, _) = validate::check(&core);
    let Some(mut program) = program else { return Err(invalid(text, errors)) };
    let found = last_statement(&program).and_then(|last| match program.stmt(last).form {
        StmtForm::Expr(e) => Some(e),
        _ => None,
    });
    match found {
        Some(expr) => {
            if statements_end > 0 {
                returns(&mut program, expr);
            }
            Ok(Prepared { text, place, program, expr, after_statements: statements_end > 0 })
        }
        None => Err(invalid(text, vec![Error::new(Rule::WslGTerm, input_span, "one expression is expected")])),
    }
}

/// The last statement of the last function.
fn last_statement(program: &Program) -> Option<StmtId> {
    match &program.stmt(program.bodies.last()?.block).form {
        StmtForm::Block(range) => program.block(range).last().copied(),
        _ => None,
    }
}

/// Makes the last function return the value of `expr`, the expression that is its last statement,
/// if there is one.
fn returns(program: &mut Program, expr: ExprId) {
    let ty = program.expr(expr).ty.right();
    if let Some(last) = last_statement(program).filter(|_| ty != TypeId::VOID) {
        let root = program.bodies.len() - 1;
        program.env.functions[root].result = ty;
        program.stmts[last.0 as usize].form = StmtForm::Return(Some(expr));
    }
}

/// What an evaluation shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The type of the value.
    pub ty: TypeId,
    /// The possible values of each word, over all ways.
    pub words: Vec<Possible>,
    /// Whether the evaluation met an unspecified value.
    pub unspecified: bool,
    /// Whether every way was followed.
    pub complete: bool,
    /// The number of ways.
    pub ways: usize,
    /// The number of ways that ended with `discard` and have no value.
    pub discarded: usize,
    /// The number of steps on all ways.
    pub steps: u64,
}

/// The ending of one way.
enum Ended {
    Value(Vec<Possible>),
    Discarded,
    Other(Outcome<Shown>),
}

impl Prepared {
    /// Evaluates the expression with the relation, on every way. `on` is called for each step of
    /// the first way.
    pub fn evaluate(&self, settings: &Settings, on: &mut dyn FnMut(&Step, &Thread)) -> Outcome<Shown> {
        self.evaluation().run(settings, on)
    }

    /// The type of the expression's value.
    pub fn ty(&self) -> TypeId {
        self.program.expr(self.expr).ty.right()
    }

    /// The evaluation of the expression, ready to run.
    pub fn evaluation(&self) -> Evaluation<'_> {
        let root = FunctionId(self.program.bodies.len() as u32 - 1);
        let start = match self.after_statements {
            true => call_of(&self.program, root, Vec::new()),
            false => source(&self.program, self.expr),
        };
        Evaluation { program: &self.program, text: &self.text, start, root }
    }
}

impl Prepared {
    /// Evaluates the expression with the fast engine. `None` if the engine does not execute it, or
    /// if it meets an unspecified value that the strategy carries. Fuel counts iterations and
    /// calls. The place is where the thread stood when its fuel was used up.
    pub fn evaluate_fast(&self, settings: &Settings) -> Option<(Outcome<Shown>, Option<Span>)> {
        if settings.precision.is_some() {
            return None;
        }
        let ty = self.ty();
        let root = FunctionId(self.program.bodies.len() as u32 - 1);
        // The function of the expression, changed to return it.
        let mut program = self.program.clone();
        returns(&mut program, self.expr);
        let compiled = Compiled::new(&program, root).ok()?;
        let &Settings { strategy, fuel, time, .. } = settings;
        let (ending, stats) =
            compiled.call(&[], &mut [], &machine::Settings { strategy, fuel, time, ..machine::Settings::default() }).ok()?;
        let unspecified = stats.choices > 0;
        let shown = |words: Vec<Possible>, discarded: usize| {
            Outcome::Observed(Shown { ty, words, unspecified, complete: true, ways: 1, discarded, steps: stats.fuel })
        };
        match ending {
            Ending::Returned(words) => Some((shown(words.into_iter().map(|w| Possible::Values(vec![w])).collect(), 0), None)),
            Ending::Discarded => Some((shown(Vec::new(), 1), None)),
            Ending::OutOfFuel { place } => Some((Outcome::OutOfFuel, Some(place))),
            Ending::Limit { limit, place } => Some((Outcome::Limit(limit), Some(place))),
            Ending::Open { .. } | Ending::Stuck { .. } | Ending::NoGroup { .. } | Ending::NoQuad { .. } => None,
        }
    }
}

/// An evaluation by one thread, which is a group of its own.
#[derive(Clone, Debug)]
pub struct Evaluation<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its text, to look up places.
    pub text: &'p str,
    /// The expression to evaluate.
    pub start: Expr,
    /// The function that contains the expression, or that it calls.
    pub root: FunctionId,
}

impl Evaluation<'_> {
    /// Evaluates with the relation, on every way. `on` is called for each step of the first way.
    pub fn run(&self, settings: &Settings, on: &mut dyn FnMut(&Step, &Thread)) -> Outcome<Shown> {
        self.run_ways(settings, &mut |way, step, thread| {
            if way == 0 {
                on(step, thread);
            }
        })
    }

    /// [`Evaluation::run`], where `on` is called for each step of each way. Ways are numbered
    /// from 0.
    pub fn run_ways(&self, settings: &Settings, on: &mut dyn FnMut(usize, &Step, &Thread)) -> Outcome<Shown> {
        let shared = match Shared::new(self.program, self.root, settings.planted) {
            Ok(shared) => shared,
            Err(limit) => return Outcome::Limit(limit),
        };
        let ty = self.start.ty;
        let mut shown = Shown { ty, words: Vec::new(), unspecified: false, complete: true, ways: 0, discarded: 0, steps: 0 };
        let (mut ending, mut fuel, mut out_of_fuel) = (None, settings.fuel, false);
        let complete = explore(settings.ways, |ways| {
            if ending.is_some() || out_of_fuel {
                return Vec::new();
            }
            if let Some(limit) = TimeLimit::passed(settings.time) {
                ending = Some(Outcome::Limit(limit));
                return Vec::new();
            }
            let mut opens = OpenTerms::new(settings.strategy, ways);
            opens.precision = settings.precision;
            let way = shown.ways;
            let (ended, steps) = self.run_way(&shared, &mut opens, (fuel, settings), &mut |step, thread| on(way, step, thread));
            fuel = fuel.saturating_sub(steps + opens.steps_of_work());
            if matches!(ended, Ended::Other(Outcome::OutOfFuel)) && shown.ways > 0 {
                out_of_fuel = true;
                return Vec::new();
            }
            shown.ways += 1;
            shown.steps += steps;
            shown.unspecified |= opens.met_unspecified();
            match ended {
                Ended::Discarded => shown.discarded += 1,
                Ended::Value(words) if shown.words.is_empty() => shown.words = words,
                Ended::Value(words) => {
                    for (all, more) in shown.words.iter_mut().zip(words) {
                        *all = std::mem::replace(all, Possible::Any).or(more);
                    }
                }
                Ended::Other(outcome) => ending = Some(outcome),
            }
            vec![opens.ways]
        });
        shown.complete = complete && !out_of_fuel;
        ending.unwrap_or(Outcome::Observed(shown))
    }

    fn run_way(
        &self,
        shared: &Shared,
        opens: &mut OpenTerms,
        (fuel, settings): (u64, &Settings),
        on: &mut dyn FnMut(&Step, &Thread),
    ) -> (Ended, u64) {
        let mut memory = Memory::default();
        let words = vec![Word::Bits(0); shared.group_words];
        let group = memory.push(Object { space: AddressSpace::Threadgroup, name: "threadgroup variables".into(), words });
        let mut thread = Thread::new(shared, &mut memory, 0, group, self.start.clone());
        let mut steps = 0;
        while thread.value().is_none() {
            if steps + opens.steps_of_work() >= fuel {
                return (Ended::Other(Outcome::OutOfFuel), steps);
            }
            if let Some(limit) = TimeLimit::passed_between(settings.time, steps, steps + 1) {
                return (Ended::Other(Outcome::Limit(limit)), steps);
            }
            steps += 1;
            match step(shared, &mut memory, opens, &mut thread) {
                Ok(step) => {
                    if let Some(watch) = settings.watch {
                        watch(shared, &memory, &thread);
                    }
                    on(&step, &thread);
                }
                // The thread is all of its group.
                Err((Stop::Barrier, _)) => thread.released = true,
                Err((Stop::Discarded(step), _)) => {
                    on(&step, &thread);
                    return (Ended::Discarded, steps);
                }
                Err((stop, _)) => return (Ended::Other(self.outcome(stop)), steps),
            }
        }
        let words = thread.value().map(|v| v.words).unwrap_or_default();
        (Ended::Value(words.iter().map(|&w| opens.possible(w)).collect()), steps)
    }

    fn outcome(&self, stop: Stop) -> Outcome<Shown> {
        let at = |span: Span| {
            let (line, column) = line_column(self.text, span.start);
            format!("{line}:{column}")
        };
        match stop {
            Stop::Stuck(why, span) => Outcome::Stuck(Stuck { why, at: at(span) }),
            Stop::Limit(limit) => Outcome::Limit(limit),
            Stop::Unsupported(what, span) => Outcome::Unsupported(format!("{what} (at {})", at(span))),
            Stop::Discarded(_) | Stop::Barrier | Stop::Turn(_) | Stop::Quad(_) => Outcome::Deadlock,
        }
    }
}

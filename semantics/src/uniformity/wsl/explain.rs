//! Explanations of a rejection, step by step.

use crate::text::{Span, line_column};
use crate::uniformity::flow::{Cause, Finding, MAX_MERGES, TooManyMerges};
use crate::uniformity::picture::Kind;
use crate::uniformity::report::{Rejection, Step};
use crate::wsl::environment::FunctionId;
use crate::wsl::typing::program::{Program, StmtForm, StoreId};
use std::fmt;

/// The reasons for having no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooLarge {
    /// This function returns a pointer, and is too large to be inlined.
    Reference(FunctionId),
    /// Nested loops make too many merges.
    Merges,
    /// Too many variables may be changed through pointers of unknown target.
    Pointers,
}

impl From<TooManyMerges> for TooLarge {
    fn from(_: TooManyMerges) -> TooLarge {
        TooLarge::Merges
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Reference(_) => {
                write!(
                    f,
                    "a function that returns a pointer has more than {} expressions and statements with what it calls",
                    super::INLINED
                )
            }
            TooLarge::Merges => write!(f, "the loops in one another make more than {MAX_MERGES} merges of variables"),
            TooLarge::Pointers => write!(f, "stores through pointers of unknown target may change too many variables"),
        }
    }
}

impl std::error::Error for TooLarge {}

/// The name of a variable or parameter, and the place of its declaration.
fn variable(program: &Program, store: u32) -> Option<(String, Span)> {
    let span = program.stores.get(store as usize)?.span;
    let name = |symbol| program.env.names.name(symbol).to_string();
    for (function, body) in program.env.functions.iter().zip(&program.bodies) {
        if let Some(at) = body.parameters.iter().position(|p| *p == StoreId(store)) {
            return Some((name(function.parameters[at].name), span));
        }
        if body.stores.contains(&store) {
            return body.stmts.clone().find_map(|s| match program.stmts[s as usize].form {
                StmtForm::Declaration(symbol, StoreId(at), _) if at == store => Some((name(symbol), span)),
                _ => None,
            });
        }
    }
    None
}

/// The explanation of a finding: one step for each place.
pub(super) fn rejection(program: &Program, function: FunctionId, finding: &Finding) -> Rejection {
    let mut steps: Vec<Step> = Vec::new();
    let mut after_loop = false;
    for hop in &finding.path {
        let named = hop.variable.and_then(|store| variable(program, store));
        let (span, text) = match hop.cause {
            Cause::Branch(span) if std::mem::take(&mut after_loop) => {
                (span, "which iteration was the last is decided by this condition".to_owned())
            }
            Cause::Branch(span) => (span, "which way is taken is decided by this condition".to_owned()),
            Cause::Value(span) => match named {
                Some((name, _)) => (span, format!("`{name}` gets its value here")),
                None => (span, "this value depends on its operands".to_owned()),
            },
            Cause::Merge(store) => match variable(program, store) {
                Some((name, span)) => (span, format!("the value of `{name}` depends on the way that was taken")),
                None => continue,
            },
            Cause::Varying(_, span) => (span, format!("this is {}", finding.what)),
            Cause::After => {
                after_loop = true;
                continue;
            }
            Cause::Must | Cause::Cannot | Cause::Call | Cause::Control | Cause::Loop | Cause::Same | Cause::Input(_) => continue,
        };
        match steps.last_mut() {
            // A condition is also a value, at the same place.
            Some(last) if last.span == span && matches!(hop.cause, Cause::Value(_)) && hop.variable.is_none() => last.rule = hop.rule,
            _ => steps.push(Step { span, rule: hop.rule, text }),
        }
    }
    Rejection { function, need: finding.need, span: finding.span, steps }
}

/// The style and the text of a node, with the source text of its place.
pub(super) fn node(program: &Program, text: &str, cause: &Cause) -> (Kind, String) {
    let at = |span: Span| {
        let source = text.get(span.start as usize..span.end as usize).unwrap_or("");
        let line = line_column(text, span.start).0;
        format!("{line}: {}", source.lines().next().unwrap_or("").trim())
    };
    match *cause {
        Cause::Must => (Kind::Must, "must be uniform".into()),
        Cause::Cannot => (Kind::Cannot, "cannot be uniform".into()),
        Cause::Call => (Kind::Control, "the call".into()),
        Cause::Control => (Kind::Control, "control flow".into()),
        Cause::Branch(span) => (Kind::Control, format!("branch {}", at(span))),
        Cause::Loop => (Kind::Control, "leaving a loop".into()),
        Cause::Value(span) | Cause::Varying(_, span) => (Kind::Value, at(span)),
        Cause::Merge(store) => (Kind::Value, variable(program, store).map_or("a choice".into(), |(name, _)| format!("{name} merged"))),
        Cause::After => (Kind::Value, "after a loop".into()),
        Cause::Same => (Kind::Value, "the same everywhere".into()),
        Cause::Input(number) => (Kind::Value, format!("input {number}")),
    }
}

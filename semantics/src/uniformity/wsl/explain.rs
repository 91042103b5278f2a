//! Explanations of a rejection, step by step.

use crate::text::Span;
use crate::uniformity::flow::{Cause, Finding};
use crate::uniformity::report::{Rejection, Step};
use crate::wsl::environment::FunctionId;
use crate::wsl::typing::program::{Program, StmtForm, StoreId};
use std::fmt;

/// No verdict: a function that returns a pointer is too large to be inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLarge {
    /// The function that is called.
    pub function: FunctionId,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a function that returns a pointer has more than {} expressions and statements with what it calls", super::INLINED)
    }
}

impl std::error::Error for TooLarge {}

/// The name of a variable or parameter, and where it is declared.
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

/// The message of a finding.
pub(super) fn rejection(program: &Program, function: FunctionId, finding: &Finding) -> Rejection {
    let mut steps: Vec<Step> = Vec::new();
    for (cause, rule) in &finding.path {
        let (span, text) = match cause {
            Cause::Branch(span) => (*span, "it runs only as this condition chooses".to_owned()),
            Cause::Loop(span) => (*span, "the loop is left as this condition chooses".to_owned()),
            Cause::Value(span) => (*span, "this depends on its operands".to_owned()),
            Cause::Merge(store) => match variable(program, *store) {
                Some((name, span)) => (span, format!("`{name}` has different values on different ways")),
                None => continue,
            },
            Cause::Varying(_, span) => (*span, format!("this is {}", finding.what)),
            Cause::Must | Cause::Cannot | Cause::Call | Cause::Control | Cause::After | Cause::Same | Cause::Input(_) => continue,
        };
        match steps.last_mut() {
            // One step for each place.
            Some(last) if last.span == span && !matches!(cause, Cause::Varying(..)) => last.rule = *rule,
            _ => steps.push(Step { span, rule: *rule, text }),
        }
    }
    Rejection { function, need: finding.need, span: finding.span, steps }
}

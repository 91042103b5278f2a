//! What is wrong with a WSL program: the rule that it breaks, where, what was found and what the rule needs.

use crate::rule::Rule;
use crate::text::Span;

/// The most errors that one run reports; where there are more, the last one says so.
pub const MAX_ERRORS: usize = 100;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The rule.
    pub rule: Rule,
    /// Where.
    pub span: Span,
    /// One sentence: found against required.
    pub message: String,
    /// Further places and candidates, each with a sentence; a note without a place belongs to the whole error.
    pub notes: Vec<(Option<Span>, String)>,
}

impl Error {
    /// An error without notes.
    pub fn new(rule: Rule, span: Span, message: impl Into<String>) -> Error {
        Error { rule, span, message: message.into(), notes: Vec::new() }
    }

    /// The error with one more note.
    pub fn note(mut self, span: Option<Span>, message: impl Into<String>) -> Error {
        self.notes.push((span, message.into()));
        self
    }
}

/// The errors in the order of their places, at most [`MAX_ERRORS`] of them; the last says if there are more.
pub fn limited(mut errors: Vec<Error>) -> Vec<Error> {
    errors.sort_by_key(|e| e.span.start);
    if errors.len() > MAX_ERRORS {
        errors.truncate(MAX_ERRORS);
        errors[MAX_ERRORS - 1].notes.push((None, format!("there are more errors; only the first {MAX_ERRORS} are reported")));
    }
    errors
}

//! Errors of a WSL program: the broken rule, the place, what was found, and what the rule needs.

use crate::rule::Rule;
use crate::text::Span;

/// The most errors that one run reports. If there are more, the last one says so.
pub const MAX_ERRORS: usize = 100;

/// The most notes that the errors of one run have together. A later error says how many notes it
/// would have.
pub const MAX_NOTES: usize = 100;

/// The most characters of a message or note. The names and types in a program may have any length.
const MAX_TEXT: usize = 500;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The rule.
    pub rule: Rule,
    /// The place.
    pub span: Span,
    /// One sentence: found against required.
    pub message: String,
    /// Further places and candidates, each with a sentence. A note without a place belongs to the
    /// whole error.
    pub notes: Vec<(Option<Span>, String)>,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.rule, self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error without notes.
    pub fn new(rule: Rule, span: Span, message: impl Into<String>) -> Error {
        Error { rule, span, message: shortened(message.into()), notes: Vec::new() }
    }

    /// The error with one more note.
    pub fn note(mut self, span: Option<Span>, message: impl Into<String>) -> Error {
        self.notes.push((span, shortened(message.into())));
        self
    }
}

/// The text, without its middle if it is too long to be read.
fn shortened(text: String) -> String {
    const KEPT: usize = MAX_TEXT / 2;
    let start = text.char_indices().nth(KEPT).map(|(at, _)| at);
    let end = text.char_indices().nth_back(KEPT - 1).map(|(at, _)| at);
    match (start, end) {
        (Some(start), Some(end)) if end > start => format!("{} … {}", &text[..start], &text[end..]),
        _ => text,
    }
}

/// The errors in the order of their places, at most [`MAX_ERRORS`] of them. The last one says if
/// there are more.
pub fn limited(mut errors: Vec<Error>) -> Vec<Error> {
    errors.sort_by_key(|e| e.span.start);
    if errors.len() > MAX_ERRORS {
        errors.truncate(MAX_ERRORS);
        errors[MAX_ERRORS - 1].notes.push((None, format!("there are more errors; only the first {MAX_ERRORS} are reported")));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle() {
        let whole = "ä".repeat(MAX_TEXT);
        assert_eq!(shortened(whole.clone()), whole);
        let longer = format!("{whole}b");
        let kept = "ä".repeat(MAX_TEXT / 2);
        assert_eq!(shortened(longer), format!("{kept} … {}b", &kept[2..]));
        assert_eq!(shortened("x".repeat(1_000_000)).chars().count(), MAX_TEXT + 3);
    }
}

//! The comparison of the errors of a `reject` test with the errors that the file names.

use crate::file::ErrorDirective;

/// An error of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundError {
    /// The code: a rule or a clause.
    pub code: String,
    /// The message.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl FoundError {
    fn is(&self, directive: &ErrorDirective) -> bool {
        let place_holds = !directive.on_line || directive.line == self.line && directive.column.is_none_or(|c| c == self.column);
        self.code == directive.code && self.message.contains(&directive.text) && place_holds
    }
}

/// Compares the errors that were found with the directives. `None` if they match one to one.
/// Otherwise the line of the first directive without an error, the expected text and the
/// found text.
pub fn difference(directives: &[ErrorDirective], found: &[FoundError]) -> Option<(usize, String, String)> {
    let mut left: Vec<&FoundError> = found.iter().collect();
    let mut unmet = None;
    for directive in directives {
        match left.iter().position(|wrong| wrong.is(directive)) {
            Some(at) => {
                left.remove(at);
            }
            None => {
                unmet.get_or_insert(directive);
            }
        }
    }
    if unmet.is_none() && left.is_empty() {
        return None;
    }
    let line = unmet.or(directives.first()).map_or(1, |d| d.line);
    let expected = directives.iter().map(|d| {
        let place = match (d.on_line, d.column) {
            (false, _) => String::new(),
            (true, None) => format!("{}: ", d.line),
            (true, Some(column)) => format!("{}:{column}: ", d.line),
        };
        format!("{place}error[{}] {}", d.code, d.text)
    });
    let shown = found.iter().map(|w| {
        let directive = directives.iter().find(|d| d.line == w.line).or(unmet);
        match directive.map(|d| (d.on_line, d.column)) {
            Some((false, _)) => format!("error[{}] {}", w.code, w.message),
            Some((true, None)) => format!("{}: error[{}] {}", w.line, w.code, w.message),
            _ => format!("{}:{}: error[{}] {}", w.line, w.column, w.code, w.message),
        }
    });
    Some((line, expected.collect::<Vec<_>>().join("\n"), shown.collect::<Vec<_>>().join("\n")))
}

//! Errors with their place in the source, as people read them.

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use smallstep_semantics::lambda_v::parse::SyntaxError;
use smallstep_semantics::lambda_v::syntax::{Span, line_column};
use smallstep_semantics::lambda_v::typing::TypeError;
use smallstep_semantics::wsl;

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule or clause that is broken, as `lv/t-if`.
    pub code: String,
    /// One sentence: found against required.
    pub message: String,
    /// Where, in bytes of the source.
    pub span: Span,
    /// Further places, and what is said without one.
    pub notes: Vec<(Option<Span>, String)>,
}

impl From<SyntaxError> for Diagnostic {
    fn from(e: SyntaxError) -> Diagnostic {
        Diagnostic { code: e.code.into(), message: e.message, span: e.span, notes: Vec::new() }
    }
}

impl From<TypeError> for Diagnostic {
    fn from(e: TypeError) -> Diagnostic {
        Diagnostic { code: e.code().into(), message: e.message(), span: e.span(), notes: Vec::new() }
    }
}

impl From<wsl::error::Error> for Diagnostic {
    fn from(e: wsl::error::Error) -> Diagnostic {
        Diagnostic { code: e.rule.name().into(), message: e.message, span: e.span, notes: e.notes }
    }
}

impl Diagnostic {
    /// The error with the line that it is about.
    pub fn render(&self, name: &str, text: &str) -> String {
        self.render_as(Report::error().with_code(&self.code), name, text)
    }

    /// The place and message as a note under another report.
    pub fn render_note(&self, name: &str, text: &str) -> String {
        self.render_as(Report::note().with_code(&self.code), name, text)
    }

    fn render_as(&self, report: Report<()>, name: &str, text: &str) -> String {
        // A line of a hostile file can be megabytes long; then the place is said in words.
        let (line, column) = line_column(text, self.span.start);
        let long = text.lines().nth(line - 1).is_some_and(|l| l.len() > 2000);
        if long {
            return format!("error[{}]: {}\n  at {name}:{line}:{column}\n", self.code, self.message);
        }
        // Only the first line of a place is underlined.
        let first_line = |span: Span| {
            let range = (span.start as usize).min(text.len())..(span.end as usize).min(text.len());
            range.start..text.get(range.clone()).and_then(|t| t.find('\n')).map_or(range.end, |n| range.start + n)
        };
        let mut labels = vec![Label::primary((), first_line(self.span))];
        let mut notes = Vec::new();
        for (span, note) in &self.notes {
            match span {
                Some(span) => labels.push(Label::secondary((), first_line(*span)).with_message(note)),
                None => notes.push(note.clone()),
            }
        }
        let report = report.with_message(&self.message).with_labels(labels).with_notes(notes);
        let file = SimpleFile::new(name, text);
        let mut out = term::termcolor::NoColor::new(Vec::new());
        match term::emit_to_write_style(&mut out, &term::Config::default(), &file, &report) {
            Ok(()) => String::from_utf8_lossy(out.get_ref()).trim_end().to_string() + "\n",
            Err(_) => format!("error[{}]: {}\n  at {name}:{line}:{column}\n", self.code, self.message),
        }
    }
}

//! Errors with their place in the source, as people read them.

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::{self, Files, SimpleFile};
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

    /// What is wrong, where the program is taken as it is.
    pub fn render_warning(&self, name: &str, text: &str) -> String {
        self.render_as(Report::warning().with_code(&self.code), name, text)
    }

    /// The place and message as a note under another report.
    pub fn render_note(&self, name: &str, text: &str) -> String {
        self.render_as(Report::note().with_code(&self.code), name, text)
    }

    fn render_as(&self, report: Report<()>, name: &str, text: &str) -> String {
        let shortened = Shortened::new(name, text, self.span.start as usize);
        // Only the first line of a place is underlined.
        let first_line = |span: Span| {
            let range = (span.start as usize).min(text.len())..(span.end as usize).min(text.len());
            let end = text.get(range.clone()).and_then(|t| t.find('\n')).map_or(range.end, |n| range.start + n);
            shortened.at(range.start)..shortened.at(end)
        };
        let mut labels = vec![Label::primary((), first_line(self.span))];
        let mut notes = Vec::new();
        for (span, note) in &self.notes {
            match span {
                Some(span) => labels.push(Label::secondary((), first_line(*span)).with_message(bounded(note))),
                None => notes.push(bounded(note)),
            }
        }
        let report = report.with_message(bounded(&self.message)).with_labels(labels).with_notes(notes);
        let mut out = term::termcolor::NoColor::new(Vec::new());
        match term::emit_to_write_style(&mut out, &term::Config::default(), &shortened, &report) {
            Ok(()) => String::from_utf8_lossy(out.get_ref()).trim_end().to_string() + "\n",
            Err(_) => {
                let (line, column) = line_column(text, self.span.start);
                format!("error[{}]: {}\n  at {name}:{line}:{column}\n", self.code, bounded(&self.message))
            }
        }
    }
}

/// The longest sentence that is shown whole, in bytes.
const SENTENCE: usize = 2000;
/// How much of a long line is shown on either side of a place, in bytes. Of a line of more than six
/// times as much, an excerpt is shown.
const BESIDE: usize = 80;

/// A sentence that may repeat part of a program, without its middle if it is too long to be read.
pub fn bounded(sentence: &str) -> String {
    if sentence.len() <= SENTENCE {
        return sentence.to_string();
    }
    let (head, tail) = (boundary(sentence, SENTENCE / 2), boundary(sentence, sentence.len() - SENTENCE / 4));
    format!("{} … {}", &sentence[..head], &sentence[tail..])
}

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// A text with an excerpt in the place of each long line, around a place in it or from its
/// beginning. Numbers of lines and columns are the text's.
struct Shortened<'t> {
    /// Where each long line begins in the text, what of it is shown, and by how much a byte there
    /// has moved forwards.
    lines: Vec<(std::ops::Range<usize>, std::ops::Range<usize>, isize)>,
    /// By index of a long line: how many characters of its beginning are not shown, beside the one
    /// that says so.
    hidden: std::collections::BTreeMap<usize, usize>,
    file: SimpleFile<&'t str, std::borrow::Cow<'t, str>>,
}

impl<'t> Shortened<'t> {
    fn new(name: &'t str, text: &'t str, place: usize) -> Shortened<'t> {
        let (mut lines, mut hidden, mut out) = (Vec::new(), std::collections::BTreeMap::new(), String::new());
        let mut begin = 0;
        // What is copied to `out` so far.
        let mut copied = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let end = begin + line.trim_end_matches('\n').len();
            if end - begin > 6 * BESIDE {
                let at = if (begin..=end).contains(&place) { place } else { begin };
                let first = boundary(text, at.saturating_sub(BESIDE)).max(begin);
                let past = boundary(text, (at + BESIDE).min(end));
                out.push_str(&text[copied..begin]);
                if first > begin {
                    out.push('…');
                    hidden.insert(index, text[begin..first].chars().count() - 1);
                }
                lines.push((begin..end, first..past, out.len() as isize - first as isize));
                out.push_str(&text[first..past]);
                if past < end {
                    out.push('…');
                }
                copied = end;
            }
            begin += line.len();
        }
        let text = match lines.is_empty() {
            true => text.into(),
            false => (out + &text[copied..]).into(),
        };
        Shortened { lines, hidden, file: SimpleFile::new(name, text) }
    }

    /// Where a byte of the text is; one that is not shown, at the end of what is.
    fn at(&self, byte: usize) -> usize {
        let before = self.lines.partition_point(|(line, ..)| line.start <= byte);
        let Some((line, shown, moved)) = before.checked_sub(1).map(|i| &self.lines[i]) else { return byte };
        let moved_to = |byte: usize| (byte as isize + moved) as usize;
        if byte <= line.end {
            return moved_to(byte.clamp(shown.start, shown.end));
        }
        let ellipsis = if shown.end < line.end { '…'.len_utf8() } else { 0 };
        moved_to(shown.end) + ellipsis + (byte - line.end)
    }
}

impl<'a> Files<'a> for Shortened<'_> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, files::Error> {
        Ok(self.file.name())
    }

    fn source(&'a self, (): ()) -> Result<&'a str, files::Error> {
        Ok(self.file.source().as_ref())
    }

    fn line_index(&'a self, (): (), byte: usize) -> Result<usize, files::Error> {
        self.file.line_index((), byte)
    }

    fn line_range(&'a self, (): (), line: usize) -> Result<std::ops::Range<usize>, files::Error> {
        self.file.line_range((), line)
    }

    fn column_number(&'a self, (): (), line: usize, byte: usize) -> Result<usize, files::Error> {
        let shown = self.file.column_number((), line, byte)?;
        Ok(shown + self.hidden.get(&line).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::Diagnostic;
    use smallstep_semantics::lambda_v::syntax::{Span, line_column};

    fn rendered(text: &str, at: usize, notes: Vec<(Option<Span>, String)>) -> String {
        let span = Span { start: at as u32, end: at as u32 + 1 };
        Diagnostic { code: "lv/t-if".into(), message: "what is wrong".into(), span, notes }.render("a.lv", text)
    }

    /// Every place in texts with long and short lines: the header says where it is, an excerpt
    /// shows it, and nothing is long.
    #[test]
    fn of_long_lines_an_excerpt_is_shown() {
        let long = |c: &str| (0..3000).map(|i| if i % 100 == 99 { i.to_string() } else { c.into() }).collect::<String>();
        for c in ["x", "ä", "\u{1f600}"] {
            let text = format!("{}\nshort\n{}\n{}", long(c), long("y"), long(c));
            for at in (0..text.len()).step_by(37).filter(|&at| text.is_char_boundary(at)) {
                let shown = rendered(&text, at, vec![(Some(Span { start: 5, end: 9 }), "a note".into()), (None, "m".repeat(1 << 20))]);
                let (line, column) = line_column(&text, at as u32);
                assert!(shown.contains(&format!("a.lv:{line}:{column}\n")), "{at}: {shown}");
                assert!(shown.len() < 6000, "{} bytes", shown.len());
                assert!(shown.contains('^') && shown.contains('…'), "{shown}");
            }
        }
    }

    #[test]
    fn what_is_underlined_is_what_is_wrong() {
        let text = format!("{}HERE{}\n", "x".repeat(1 << 20), "y".repeat(1 << 20));
        let span = Span { start: 1 << 20, end: (1 << 20) + 4 };
        let diagnostic = Diagnostic { code: "lv/t-if".into(), message: "m".repeat(1 << 20), span, notes: Vec::new() };
        let shown = diagnostic.render("a.lv", &text);
        let lines: Vec<&str> = shown.lines().collect();
        let (source, marks) = (lines[lines.len() - 2], lines[lines.len() - 1]);
        let column = |line: &str, what: &str| line.find(what).map(|at| line[..at].chars().count());
        assert_eq!(column(source, "HERE"), column(marks, "^^^^"), "{shown}");
        assert!(column(source, "HERE").is_some() && !marks.contains("^^^^^") && shown.len() < 4000, "{shown}");
        // A short line is as it was.
        assert!(rendered("(if 1 2 3)\n", 4, Vec::new()).contains("1 │ (if 1 2 3)\n  │     ^"));
    }
}

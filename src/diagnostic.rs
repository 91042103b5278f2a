//! Errors with their place in the source, rendered for readers.

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::{self, Files, SimpleFile};
use codespan_reporting::term;
use smallstep_semantics::lambda_v::parse::SyntaxError;
use smallstep_semantics::lambda_v::syntax::{Span, line_column};
use smallstep_semantics::lambda_v::typing::TypeError;
use smallstep_semantics::wsl;

/// An error in a program, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code of the rule or clause that is broken, such as `lv/t-if`.
    pub code: String,
    /// One sentence: found against required.
    pub message: String,
    /// The place, in bytes of the source.
    pub span: Span,
    /// Further messages. Each may have a place of its own.
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
    /// The error as text, with the source line.
    pub fn render(&self, name: &str, text: &str) -> String {
        self.render_as(Report::error().with_code(&self.code), name, text)
    }

    /// The diagnostic as a warning. The program is accepted.
    pub fn render_warning(&self, name: &str, text: &str) -> String {
        self.render_as(Report::warning().with_code(&self.code), name, text)
    }

    /// The diagnostic as a note under another report.
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

/// The length in bytes up to which a sentence is shown completely.
const SENTENCE: usize = 2000;
/// The bytes of a long line that are shown on either side of a place. A line that is more than six
/// times as long becomes an excerpt.
const EXCERPT_MARGIN: usize = 80;

/// A sentence that may repeat a part of a program. If it is too long, its middle is omitted.
pub fn bounded(sentence: &str) -> String {
    if sentence.len() <= SENTENCE {
        return sentence.to_string();
    }
    let (head, tail) = (boundary(sentence, SENTENCE / 2), boundary(sentence, sentence.len() - SENTENCE / 4));
    format!("{} … {}", &sentence[..head], &sentence[tail..])
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// A text in which each long line is replaced by an excerpt. The excerpt is around the given place,
/// or else at the beginning of the line. Line and column numbers are those of the original text.
struct Shortened<'t> {
    /// For each long line: its range in the text, the range that is shown, and the offset to add to
    /// a byte position.
    lines: Vec<(std::ops::Range<usize>, std::ops::Range<usize>, isize)>,
    /// By the index of a long line: the number of omitted characters at its beginning, without the
    /// character that marks the omission.
    hidden_characters: std::collections::BTreeMap<usize, usize>,
    file: SimpleFile<&'t str, std::borrow::Cow<'t, str>>,
}

impl<'t> Shortened<'t> {
    fn new(name: &'t str, text: &'t str, place: usize) -> Shortened<'t> {
        let (mut lines, mut hidden_characters, mut out) = (Vec::new(), std::collections::BTreeMap::new(), String::new());
        let mut begin = 0;
        // The end of the text that was copied to `out`.
        let mut copied = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let end = begin + line.trim_end_matches('\n').len();
            if end - begin > 6 * EXCERPT_MARGIN {
                let at = if (begin..=end).contains(&place) { place } else { begin };
                let excerpt_start = boundary(text, at.saturating_sub(EXCERPT_MARGIN)).max(begin);
                let excerpt_end = boundary(text, (at + EXCERPT_MARGIN).min(end));
                out.push_str(&text[copied..begin]);
                if excerpt_start > begin {
                    out.push('…');
                    hidden_characters.insert(index, text[begin..excerpt_start].chars().count() - 1);
                }
                lines.push((begin..end, excerpt_start..excerpt_end, out.len() as isize - excerpt_start as isize));
                out.push_str(&text[excerpt_start..excerpt_end]);
                if excerpt_end < end {
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
        Shortened { lines, hidden_characters, file: SimpleFile::new(name, text) }
    }

    /// The position of a byte of the text in the shortened text. An omitted byte is at the end of
    /// the excerpt.
    fn at(&self, byte: usize) -> usize {
        let lines_before = self.lines.partition_point(|(line, ..)| line.start <= byte);
        let Some((line, shown, offset)) = lines_before.checked_sub(1).map(|i| &self.lines[i]) else { return byte };
        let shortened_position = |byte: usize| (byte as isize + offset) as usize;
        if byte <= line.end {
            return shortened_position(byte.clamp(shown.start, shown.end));
        }
        let ellipsis = if shown.end < line.end { '…'.len_utf8() } else { 0 };
        shortened_position(shown.end) + ellipsis + (byte - line.end)
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
        Ok(shown + self.hidden_characters.get(&line).copied().unwrap_or(0))
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

    /// Tries every place in texts with long and short lines. The header gives the place, an excerpt
    /// shows it, and no line is long.
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
        // A short line is unchanged.
        assert!(rendered("(if 1 2 3)\n", 4, Vec::new()).contains("1 │ (if 1 2 3)\n  │     ^"));
    }
}

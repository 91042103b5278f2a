//! The words of a script. White space separates words, `#` begins a comment, and the end of a line
//! is significant.
//!
//! A backslash at the end of a line joins the next line to it. Shader sources are raw lines, up to
//! a line whose first word is END.

use super::error::{Kind, ScriptError};

/// A word and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    /// Byte offset in the script.
    pub start: usize,
    pub line: u32,
}

/// Reads a script from front to back. Peeking at a word costs no more than reading it.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
    line: u32,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, position: 0, line: 1 }
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn new_line(&mut self) {
        self.position += 1;
        self.line += 1;
    }

    /// Skips white space and comments of this line, and of lines that are joined to it. It stops at
    /// a word, the end of a line or the end of the text.
    fn skip(&mut self) {
        loop {
            match self.bytes().get(self.position) {
                Some(b'\n') | None => return,
                Some(b'#') => self.position = self.text[self.position..].find('\n').map_or(self.text.len(), |n| self.position + n),
                Some(b'\\') => match self.bytes()[self.position + 1..].iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
                    Some(n) if self.bytes()[self.position + 1 + n] == b'\n' => {
                        self.position += 1 + n;
                        self.new_line();
                    }
                    _ => return,
                },
                Some(b' ' | b'\t' | b'\r') => self.position += 1,
                Some(_) => return,
            }
        }
    }

    /// Reads the next word of this line, if there is one.
    pub fn word(&mut self) -> Option<Word<'t>> {
        self.skip();
        let rest = &self.bytes()[self.position..];
        let length = rest.iter().position(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b'#')).unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        let word = Word { text: &self.text[self.position..self.position + length], start: self.position, line: self.line };
        self.position += length;
        Some(word)
    }

    /// The next word of this line, without reading it.
    pub fn peek(&mut self) -> Option<Word<'t>> {
        self.skip();
        let (at, line) = (self.position, self.line);
        let word = self.word();
        (self.position, self.line) = (at, line);
        word
    }

    /// Reads the next word on this line or a later line.
    pub fn word_over_lines(&mut self) -> Option<Word<'t>> {
        loop {
            if let Some(word) = self.word() {
                return Some(word);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// Skips the rest of this line. Returns whether another line begins.
    pub fn next_line(&mut self) -> bool {
        while self.word().is_some() {}
        if self.position >= self.text.len() {
            return false;
        }
        self.new_line();
        true
    }

    /// Reads the lines after this line, up to and including a line whose first word is END. Returns
    /// the text before END, and the number of its first line. If there is no END, reads the whole
    /// text and returns `None`.
    pub fn raw(&mut self) -> Option<(&'t str, u32)> {
        self.raw_until(|line| line.split([' ', '\t', '\r', '#']).find(|w| !w.is_empty()) == Some("END"), true)
    }

    /// Reads the lines after this line, up to a line that `ends` accepts. If `inclusive` is set,
    /// reads that line too.
    pub fn raw_until(&mut self, ends: impl Fn(&str) -> bool, inclusive: bool) -> Option<(&'t str, u32)> {
        self.next_raw_line();
        let (start, first) = (self.position, self.line);
        while self.position < self.text.len() {
            let end = self.text[self.position..].find('\n').map_or(self.text.len(), |n| self.position + n);
            if ends(&self.text[self.position..end]) {
                let body = &self.text[start..self.position];
                if inclusive {
                    self.position = end;
                }
                return Some((body, first));
            }
            self.position = end;
            self.next_raw_line();
        }
        if inclusive { None } else { Some((&self.text[start..], first)) }
    }

    /// Goes to the start of the next line, whatever this line contains.
    fn next_raw_line(&mut self) {
        match self.text[self.position..].find('\n') {
            Some(n) => {
                self.position += n;
                self.new_line();
            }
            None => self.position = self.text.len(),
        }
    }

    /// An error at a word.
    pub fn error(&self, at: Word<'_>, kind: Kind, what: impl Into<String>) -> ScriptError {
        let line_start = self.text[..at.start].rfind('\n').map_or(0, |n| n + 1);
        let column = self.text[line_start..at.start].chars().count() as u32 + 1;
        ScriptError { line: at.line, column, kind, what: what.into() }
    }

    /// An empty word at this place, for errors about something that is missing.
    pub fn here(&mut self) -> Word<'t> {
        self.skip();
        Word { text: "", start: self.position, line: self.line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_comments_and_joined_lines() {
        let mut lexer = Lexer::new("A b#c\n\\\nD \\ \t\r\n e\\f");
        let texts: Vec<_> = std::iter::from_fn(|| lexer.word_over_lines()).map(|w| (w.text, w.line)).collect();
        assert_eq!(texts, [("A", 1), ("b", 1), ("D", 3), ("e\\f", 4)]);
        assert!(Lexer::new("").word_over_lines().is_none());
    }

    #[test]
    fn raw_text_ends_at_a_line_that_begins_with_end() {
        let mut lexer = Lexer::new("SHADER x # y\n OpEND ; END\nEND2\n  END# done\nNEXT");
        assert_eq!(lexer.word().map(|w| w.text), Some("SHADER"));
        assert_eq!(lexer.raw(), Some((" OpEND ; END\nEND2\n", 2)));
        assert_eq!(lexer.word(), None);
        assert_eq!(lexer.word_over_lines().map(|w| (w.text, w.line)), Some(("NEXT", 5)));
        assert_eq!(Lexer::new("a\nb").raw(), None);
    }

    #[test]
    fn a_place_is_counted_in_characters() {
        let mut lexer = Lexer::new("x\nµé y");
        lexer.next_line();
        lexer.word();
        let y = lexer.word().expect("a second word");
        let error = lexer.error(y, Kind::Invalid, "here");
        assert_eq!((error.line, error.column), (2, 4));
    }
}

//! Reading a vectors file line by line, with bounded memory.

use super::format::{Case, Language, LineError, MAX_LINE, language};
use super::wsl;
use smallstep_semantics::outcome::InvalidInput;
use std::io::{self, BufRead};

/// What the lines of a file are.
pub trait Lines: Sized {
    /// What stands in the first.
    type Header;

    /// The header of a line.
    ///
    /// # Errors
    /// What is wrong with it, one sentence.
    fn header(text: &str) -> Result<Self::Header, InvalidInput>;

    /// How many cases follow it.
    fn cases(header: &Self::Header) -> u64;

    /// The case of a line.
    ///
    /// # Errors
    /// What is wrong with it, one sentence.
    fn case(text: &str) -> Result<Self, InvalidInput>;

    /// Its place among the cases, from 0.
    fn index(&self) -> u64;

    /// Whether it may stand below that header.
    ///
    /// # Errors
    /// Why it may not, one sentence.
    fn stands_below(&self, _: &Self::Header) -> Result<(), InvalidInput> {
        Ok(())
    }
}

/// A vectors file of either language.
pub enum Opened<R> {
    /// λV programs and their SPIR-V.
    LambdaV(Reader<R>),
    /// WSL programs.
    Wsl(Reader<R, wsl::Case>),
}

impl<R: BufRead> Opened<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If there is none of a language and a version that are read here.
    pub fn open(mut input: R) -> Result<Opened<R>, LineError> {
        let failed = |what: String| LineError { line: 1, what };
        let text = first(&mut input)?;
        match language(&text).map_err(|e| failed(e.what))? {
            Language::LambdaV => Reader::of(input, &text).map(Opened::LambdaV),
            Language::Wsl => Reader::of(input, &text).map(Opened::Wsl),
        }
    }

    /// How many cases the header says.
    pub fn cases(&self) -> u64 {
        match self {
            Opened::LambdaV(reader) => reader.header().cases,
            Opened::Wsl(reader) => reader.header().cases,
        }
    }
}

/// The first line.
fn first(input: &mut impl BufRead) -> Result<String, LineError> {
    let failed = |what: String| LineError { line: 1, what };
    match line(input).map_err(|e| failed(e.to_string()))? {
        None => Err(failed("the file is empty; its first line must be a header".into())),
        Some(text) => text.map_err(failed),
    }
}

/// The most bytes that are read for the end of a line: standard input may have none.
const MAX_SKIPPED: usize = 8 * MAX_LINE;

/// Reads a vectors file, a line at a time.
pub struct Reader<R, C: Lines = Case> {
    input: R,
    header: C::Header,
    /// Lines read.
    line: u64,
    /// Lines of cases read, good or bad.
    cases: u64,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a file of λV programs.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(mut input: R) -> Result<Reader<R>, LineError> {
        let text = first(&mut input)?;
        Reader::of(input, &text)
    }
}

impl<R: BufRead, C: Lines> Reader<R, C> {
    fn of(input: R, header: &str) -> Result<Reader<R, C>, LineError> {
        let header = C::header(header).map_err(|e| LineError { line: 1, what: e.what })?;
        Ok(Reader { input, header, line: 1, cases: 0, ended: false })
    }

    /// The header.
    pub fn header(&self) -> &C::Header {
        &self.header
    }

    /// The next case with its line, or what is wrong with the next line. After an error in a line
    /// comes the line after it; a file that cannot be read on, or that has fewer cases than its
    /// header says, ends with an error.
    pub fn next_case(&mut self) -> Option<Result<(u64, C), LineError>> {
        if self.ended {
            return None;
        }
        let failed = |line: u64, what: String| Some(Err(LineError { line, what }));
        let of = C::cases(&self.header);
        match line(&mut self.input) {
            Err(e) => {
                self.ended = true;
                failed(self.line + 1, e.to_string())
            }
            Ok(None) => {
                self.ended = true;
                let what = || format!("the file ends after {} of {of} cases", self.cases);
                (self.cases != of).then(|| Err(LineError { line: self.line, what: what() }))
            }
            Ok(Some(text)) => {
                self.line += 1;
                let index = self.cases;
                self.cases += 1;
                if index >= of {
                    // Whatever follows is counted no further: one error says it.
                    self.ended = true;
                    return failed(self.line, format!("the header says {of} cases, and here is another line"));
                }
                let case = text.and_then(|text| Ok(C::case(&text)?));
                match case.and_then(|case| Ok(case.stands_below(&self.header).map(|()| case)?)) {
                    Err(what) => failed(self.line, what),
                    Ok(case) if case.index() != index => {
                        failed(self.line, format!("case {} stands where case {index} is needed", case.index()))
                    }
                    Ok(case) => Some(Ok((self.line, case))),
                }
            }
        }
    }
}

/// The next line without its end; none at the end of the input. The inner error is about the line
/// alone: longer than [`MAX_LINE`], or no UTF-8.
fn line(input: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    let mut too_long = false;
    let mut length = 0;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if chunk.is_empty() {
            if bytes.is_empty() && !too_long {
                return Ok(None);
            }
            break;
        }
        let end = chunk.iter().position(|&b| b == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long |= bytes.len() + part.len() > MAX_LINE;
        if too_long {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(part);
        }
        let read = end.map_or(chunk.len(), |n| n + 1);
        input.consume(read);
        length += read;
        if length > MAX_SKIPPED {
            return Err(io::Error::other(format!("a line does not end within {MAX_SKIPPED} bytes")));
        }
        if end.is_some() {
            break;
        }
    }
    if too_long {
        return Ok(Some(Err(format!("the line is longer than {MAX_LINE} bytes"))));
    }
    Ok(Some(String::from_utf8(bytes).map_err(|e| format!("the line is no UTF-8 text (at byte {})", e.utf8_error().valid_up_to()))))
}

//! Reads a vectors file line by line, with bounded memory.

use super::format::{Case, Language, LineError, MAX_LINE, language};
use super::wsl;
use smallstep_semantics::outcome::InvalidInput;
use std::io::{self, BufRead};

/// The kind of lines in a file.
pub trait Lines: Sized {
    /// The contents of the first line.
    type Header;

    /// Reads the header from a line.
    ///
    /// # Errors
    /// The error, as one sentence.
    fn header(text: &str) -> Result<Self::Header, InvalidInput>;

    /// The number of cases that the header announces.
    fn cases(header: &Self::Header) -> u64;

    /// Reads the case from a line.
    ///
    /// # Errors
    /// The error, as one sentence.
    fn case(text: &str) -> Result<Self, InvalidInput>;

    /// The index of the case, from 0.
    fn index(&self) -> u64;

    /// Checks that the case may follow that header.
    ///
    /// # Errors
    /// The reason why it may not, as one sentence.
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
    /// If there is no header of a supported language and version.
    pub fn open(mut input: R) -> Result<Opened<R>, LineError> {
        let failed = |what: String| LineError { line: 1, what };
        let text = first(&mut input)?;
        match language(&text).map_err(|e| failed(e.what))? {
            Language::LambdaV => Reader::of(input, &text).map(Opened::LambdaV),
            Language::Wsl => Reader::of(input, &text).map(Opened::Wsl),
        }
    }

    /// The number of cases that the header announces.
    pub fn cases(&self) -> u64 {
        match self {
            Opened::LambdaV(reader) => reader.header().cases,
            Opened::Wsl(reader) => reader.header().cases,
        }
    }
}

/// Reads the first line.
fn first(input: &mut impl BufRead) -> Result<String, LineError> {
    let failed = |what: String| LineError { line: 1, what };
    match line(input).map_err(|e| failed(e.to_string()))? {
        None => Err(failed("the file is empty; its first line must be a header".into())),
        Some(text) => text.map_err(failed),
    }
}

/// The most bytes that are skipped to find the end of a line. Standard input may be endless.
const MAX_SKIPPED: usize = 8 * MAX_LINE;

/// A reader of a vectors file, a line at a time.
pub struct Reader<R, C: Lines = Case> {
    input: R,
    header: C::Header,
    /// The number of lines that were read.
    line: u64,
    /// The number of case lines that were read, valid or not.
    cases: u64,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a file of λV programs.
    ///
    /// # Errors
    /// If there is no such header.
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

    /// The next case with its line number, or an error. After an error in one line, reading
    /// continues with the next line. If the file cannot be read further, or has fewer cases than
    /// its header says, the last item is an error.
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
                    // One error covers all further lines.
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

/// The next line without its line end. `None` at the end of the input. The inner error is about
/// this line only: it is longer than [`MAX_LINE`], or is no UTF-8.
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

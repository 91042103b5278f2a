//! `smallstep asm` and `smallstep dis`: SPIR-V as text and as words.

use super::exit::Ended;
use super::{exit, input, output};
use clap::Args;
use serde_json::json;
use smallstep::program::{Language, Program};
use smallstep_semantics::spirv::{self, WordsError};
use std::path::PathBuf;

/// Assemble SPIR-V text to words.
#[derive(Args)]
pub(crate) struct Asm {
    /// SPIR-V assembly, or - for standard input.
    file: PathBuf,
    /// Where the words go, little-endian; - is standard output.
    #[arg(short)]
    out: PathBuf,
    #[command(flatten)]
    target: input::Target,
    /// One JSON object on standard output (standard error, if the words go there).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Disassemble SPIR-V words to text.
#[derive(Args)]
pub(crate) struct Dis {
    /// SPIR-V words, or - for standard input.
    file: PathBuf,
    /// Where the text goes; standard output if not given.
    #[arg(short)]
    out: Option<PathBuf>,
    /// One JSON object a line on standard output: the text, if it goes there, and a summary.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Asm {
    /// The stream for JSON. It is not the stream of the words.
    pub(crate) fn lines(&self) -> super::Lines {
        super::lines_for_file(self.json, &self.out)
    }

    pub(crate) fn run(self) -> Ended {
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(e) => return input::fail(exit::INVALID, &e.to_string()),
        };
        let read = Program::read(&self.file.display().to_string(), &bytes, Some(Language::Assembly));
        match read.and_then(|program| self.target.of(program).words()) {
            Err(e) => input::fail_with(super::run::read_code(&e), &e.text),
            Ok(words) => match output::write(&self.out, &spirv::bytes_of_words(&words)) {
                Err(e) => input::fail(exit::INVALID, &e),
                Ok(()) => {
                    if let Some(print) = self.lines() {
                        let (file, out) = (self.file.display().to_string(), self.out.display().to_string());
                        let object =
                            json!({"schema": 1, "kind": "summary", "file": file, "out": out, "words": words.len(), "exit": exit::DONE});
                        print(format_args!("{object}\n"));
                    }
                    Ok(exit::DONE)
                }
            },
        }
    }
}

impl Dis {
    pub(crate) fn run(self) -> Ended {
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(e) => return input::fail(exit::INVALID, &e.to_string()),
        };
        match spirv::words_of_bytes(&bytes).and_then(|words| spirv::disassemble(&words)) {
            Err(e) => {
                let code = if matches!(e, WordsError::Limit(_)) { exit::LIMIT } else { exit::INVALID };
                input::fail_with(code, &format!("{}: {e}", self.file.display()))
            }
            Ok(text) => {
                let file = self.file.display().to_string();
                match &self.out {
                    // JSON goes to standard output, so the text is part of it.
                    Some(path) if !(self.json && path.as_os_str() == "-") => {
                        if let Err(e) = output::write(path, text.as_bytes()) {
                            return input::fail(exit::INVALID, &e);
                        }
                    }
                    _ if self.json => say!("{}", json!({"schema": 1, "kind": "module", "file": file, "assembly": text})),
                    _ => say_part!("{text}"),
                }
                if self.json {
                    let out = self.out.as_ref().map(|path| path.display().to_string());
                    say!("{}", json!({"schema": 1, "kind": "summary", "file": file, "out": out, "exit": exit::DONE}));
                }
                Ok(exit::DONE)
            }
        }
    }
}

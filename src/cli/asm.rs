//! `smallstep asm` and `smallstep dis`: SPIR-V as text and as words.

use super::{exit, input, output};
use clap::Args;
use smallstep::source::{self, Language};
use smallstep_semantics::spirv::{self, WordsError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Assemble SPIR-V text to words.
#[derive(Args)]
pub(crate) struct Asm {
    /// SPIR-V assembly, or - for standard input.
    file: PathBuf,
    /// Where the words go, little-endian; - is standard output.
    #[arg(short)]
    out: PathBuf,
}

/// Disassemble SPIR-V words to text.
#[derive(Args)]
pub(crate) struct Dis {
    /// SPIR-V words, or - for standard input.
    file: PathBuf,
    /// Where the text goes; standard output if not given.
    #[arg(short)]
    out: Option<PathBuf>,
}

impl Asm {
    pub(crate) fn run(self) -> ExitCode {
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(e) => return input::fail(exit::INVALID, &e),
        };
        match source::words(&self.file.display().to_string(), &bytes, Language::Assembly) {
            Err(e) => input::fail_with(super::run::read_code(&e), &e.text),
            Ok(words) => match output::write(&self.out, &spirv::bytes_of_words(&words)) {
                Err(e) => input::fail(exit::INVALID, &e),
                Ok(()) => ExitCode::SUCCESS,
            },
        }
    }
}

impl Dis {
    pub(crate) fn run(self) -> ExitCode {
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(e) => return input::fail(exit::INVALID, &e),
        };
        match spirv::words_of_bytes(&bytes).and_then(|words| spirv::disassemble(&words)) {
            Err(e) => {
                let code = if matches!(e, WordsError::Limit(_)) { exit::LIMIT } else { exit::INVALID };
                input::fail_with(code, &format!("{}: {e}", self.file.display()))
            }
            Ok(text) => match &self.out {
                None => {
                    say_part!("{text}");
                    ExitCode::SUCCESS
                }
                Some(path) => match output::write(path, text.as_bytes()) {
                    Err(e) => input::fail(exit::INVALID, &e),
                    Ok(()) => ExitCode::SUCCESS,
                },
            },
        }
    }
}

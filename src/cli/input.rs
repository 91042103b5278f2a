//! The reading of inputs: a file, or `-` for standard input.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use smallstep::amber::version_of;
use smallstep::program::{Language, Program};
use smallstep::source;
use std::io;
use std::path::Path;

use super::exit::{self, Ended, Failure};

/// The most bytes of one file.
const MAX_FILE: u64 = 256 << 20;

/// The bytes of a file or of standard input. The error names the file and the cause.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let read = match path.as_os_str() == "-" {
        true => source::at_most(std::io::stdin().lock(), MAX_FILE),
        false => source::contents(path, MAX_FILE),
    };
    read.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

/// How a program is read.
#[derive(Args)]
pub(crate) struct Reading {
    /// What the program is written in: lambda-v, wsl, spirv (words), spirv-assembly, wgsl or amber.
    /// Without it, the ending of the name and the beginning of the text say it.
    #[arg(long, value_name = "LANGUAGE", value_parser = Language::from_name)]
    language: Option<Language>,
    #[command(flatten)]
    target: Target,
}

/// For which environment modules are.
#[derive(Args)]
pub(crate) struct Target {
    /// What takes the modules: spv1.0 to spv1.6, or vulkan1.0 to vulkan1.4. Assembly, and shaders
    /// of Amber scripts without a TARGET_ENV, become SPIR-V of its version; words of a later one
    /// are refused. Without it, assembly is SPIR-V 1.3 or what its first comments say, and those
    /// shaders are 1.0.
    #[arg(long, value_name = "ENV", value_parser = environment)]
    target_env: Option<Environment>,
}

/// A target environment.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// The name in Amber's syntax.
    pub(crate) name: String,
    /// The SPIR-V version that it accepts.
    pub(crate) version: (u8, u8),
}

/// Reads a target environment.
fn environment(text: &str) -> Result<Environment, String> {
    let version = version_of(text).ok_or_else(|| {
        format!("\"{text}\" is no target environment; there are spv1.0 to spv1.6, vulkan1.0 to vulkan1.4, and vulkan1.1spv1.4")
    })?;
    Ok(Environment { name: text.into(), version })
}

impl Target {
    /// The environment, if given.
    pub(crate) fn environment(&self) -> Option<&Environment> {
        self.target_env.as_ref()
    }

    /// The program for the environment.
    pub(crate) fn of(&self, program: Program) -> Program {
        match &self.target_env {
            Some(environment) => program.targeting(environment.version),
            None => program,
        }
    }
}

impl Reading {
    /// The program in a file or on standard input.
    pub(crate) fn program(&self, path: &Path) -> Result<Program, Failure> {
        let bytes = bytes(path).map_err(|e| (exit::INVALID, format!("error: {e}")))?;
        let program = self.read(&path.display().to_string(), &bytes)?;
        let takes = matches!(program.language, Language::Words | Language::Assembly | Language::Amber);
        if self.target.environment().is_some() && !takes {
            let what = format!("{}: --target-env is for SPIR-V and Amber scripts, and this is {}", program.name, program.language.words());
            return Err(failure(exit::INVALID, &what));
        }
        Ok(program)
    }

    /// The target environment, if given.
    pub(crate) fn environment(&self) -> Option<&Environment> {
        self.target.environment()
    }

    /// The program in the bytes of a file with this name.
    pub(crate) fn read(&self, name: &str, bytes: &[u8]) -> Result<Program, Failure> {
        Program::read(name, bytes, self.language).map(|program| self.target.of(program)).map_err(|e| (super::run::read_code(&e), e.text))
    }
}

/// The program in a file or on standard input, in a place that accepts only one language.
pub(crate) fn only(path: &Path, language: Language) -> Result<Program, Failure> {
    let bytes = bytes(path).map_err(|e| (exit::INVALID, format!("error: {e}")))?;
    Program::only(&path.display().to_string(), &bytes, language).map_err(|e| (super::run::read_code(&e), e.text))
}

/// The 32-bit words of a file, little-endian.
pub(crate) fn words(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = bytes(path).map_err(|e| e.to_string())?;
    if !bytes.len().is_multiple_of(4) {
        return Err(format!("{}: {} bytes are no whole number of 4-byte words", path.display(), bytes.len()));
    }
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// Reads a number of threads, or of something else that takes space for each: at most 1024.
pub(crate) fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1024)
}

/// Reads `WxH`.
pub(crate) fn size(text: &str) -> Result<(u32, u32), String> {
    let invalid = || format!("\"{text}\" is no size; write it as 256x256, each side from 1 to 4096");
    let (width, height) = text.split_once('x').ok_or_else(invalid)?;
    let side = |s: &str| s.parse::<u32>().ok().filter(|n| (1..=4096).contains(n)).ok_or_else(invalid);
    Ok((side(width)?, side(height)?))
}

/// Reads `X,Y`.
pub(crate) fn pixel(text: &str) -> Result<(u32, u32), String> {
    let invalid = || format!("\"{text}\" is no pixel; write it as 3,4, each below 65536");
    let (x, y) = text.split_once(',').ok_or_else(invalid)?;
    let part = |s: &str| s.trim().parse::<u32>().ok().filter(|&n| n < 65536).ok_or_else(invalid);
    Ok((part(x)?, part(y)?))
}

/// The failure for an error.
pub(crate) fn failure(code: u8, message: &str) -> Failure {
    (code, format!("error: {message}"))
}

/// The ending of a command with an error.
pub(crate) fn fail(code: u8, message: &str) -> Ended {
    Err(failure(code, message))
}

/// Like [`fail`], for a message that already names its kind.
pub(crate) fn fail_with(code: u8, message: &str) -> Ended {
    Err((code, message.trim_end().into()))
}

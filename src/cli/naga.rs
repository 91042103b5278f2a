//! `smallstep naga`: naga as a compiler under test, in a process of its own, which it may crash.
//! The library starts this process. It is not for users.

use std::path::{Path, PathBuf};

use clap::Args;
use smallstep::compile::naga::{self, LIMIT, Made, NotTranslated, Space};
use smallstep::theorem::compilers::PANICKED;

use super::exit::{self, Ended};
use super::input;

/// Has naga rewrite a module
#[derive(Args)]
pub(crate) struct Naga {
    /// Write it as WGSL first, and read that.
    #[arg(long)]
    through_wgsl: bool,
    /// The words that it reads.
    input: PathBuf,
    /// The words that it writes.
    output: PathBuf,
}

/// The stack for naga, which is recursive in its input.
const STACK: usize = 256 << 20;

impl Naga {
    pub(crate) fn run(self) -> Ended {
        let words = input::words(&self.input).map_err(|e| (exit::INVALID, e))?;
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || compiled(&words, self.through_wgsl));
        let thread = thread.map_err(|e| (exit::FAILED, format!("no thread for naga: {e}")))?;
        // The panic was printed already. The exit code is that of a program that panics.
        let Ok(words) = thread.join() else { return Ok(PANICKED) };
        match words {
            Ok(words) => write(&self.output, &words),
            // A thread inside has panicked. That panic was printed already too.
            Err(NotTranslated::Unsupported(what)) if what == naga::PANICS => Ok(PANICKED),
            Err(NotTranslated::Limit(what)) => Err((exit::LIMIT, what)),
            Err(other) => Err((exit::INVALID, other.to_string())),
        }
    }
}

fn compiled(words: &[u32], through_wgsl: bool) -> Result<Vec<u32>, NotTranslated> {
    match naga::rewritten(words, through_wgsl)? {
        Made::Words(words) => Ok(words),
        Made::Text(text) => naga::words("naga.wgsl", &text, Space::Kept, LIMIT).map_err(|e| match e {
            NotTranslated::Invalid(what) => NotTranslated::Invalid(format!("naga does not read the WGSL that it writes: {what}")),
            other => other,
        }),
    }
}

fn write(path: &Path, words: &[u32]) -> Ended {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(path, bytes).map_err(|e| (exit::FAILED, format!("{}: {e}", path.display())))?;
    Ok(exit::DONE)
}

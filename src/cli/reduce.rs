//! `smallstep reduce`: a small module that a compiler treats as it treats a large one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use smallstep::theorem::compilers::{Compiler, Verdict, accepts, judge};
use smallstep::theorem::reducer::reduced;
use smallstep::theorem::refine::Settings;
use smallstep_semantics::spirv::disassemble;

use super::exit::{self, Ended};
use super::{input, output};

/// Make a SPIR-V module small while a compiler still does the same wrong thing with it, or while a
/// command still ends with 0. Every module on the way is valid
#[derive(Args)]
pub(crate) struct Reduce {
    /// The module: words, assembly or WGSL, which is reduced as SPIR-V.
    file: PathBuf,
    /// Keep what this compiler does: miscompile in the same way, or refuse, crash, time out or
    /// write an invalid module for the same cause. The compilers are those of compare --via.
    #[arg(long, value_name = "COMPILER", conflicts_with = "interesting", required_unless_present = "interesting")]
    via: Option<String>,
    /// Keep that this command ends with 0; {} stands for a file with the words.
    #[arg(long, value_name = "COMMAND")]
    interesting: Option<String>,
    /// Where the small module goes, as words or as assembly (.spvasm); standard output, as
    /// assembly, if not given.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// With --via: how many inputs each comparison has.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    inputs: u64,
    /// With --via: which inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --via: the entry point, where not all are to be compared.
    #[arg(long)]
    entry: Option<String>,
    /// Seconds that the compiler, or the command, has for one module.
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    compiler_limit: u64,
    /// Seconds for everything; the smallest module so far is the result then.
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// One JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    reading: input::Reading,
}

impl Reduce {
    pub(crate) fn run(self) -> Ended {
        let unread = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
        let program = self.reading.program(&self.file)?;
        let words = program.made_of_module().and_then(|program| program.words()).map_err(unread)?;
        let limit = Duration::from_secs(self.compiler_limit);
        let until = Instant::now() + Duration::from_secs(self.time_limit);
        let failed = |what: String| (exit::UNCHECKED, format!("error: {}: {what}", self.file.display()));
        let (kept, reduced) = match (&self.via, &self.interesting) {
            (Some(name), _) => {
                let compilers = super::compilers::named(std::slice::from_ref(name), limit)?;
                let Some(compiler) = compilers.first() else { return Err(failed("no compiler is named".into())) };
                self.by_compiler(compiler, &words, until).map_err(failed)?
            }
            (None, Some(command)) => {
                let mut wrong = None;
                let mut interesting = |words: &[u32]| match accepts(command, words, limit) {
                    Ok(accepted) => accepted,
                    Err(what) => {
                        wrong.get_or_insert(what);
                        false
                    }
                };
                let reduced = reduced(&words, until, &mut interesting);
                if let Some(what) = wrong {
                    return Err(failed(what));
                }
                (format!("`{command}` ends with 0"), reduced.map_err(failed)?)
            }
            (None, None) => return Err(failed("nothing says what is interesting; give --via or --interesting".into())),
        };
        self.report(&words, &kept, &reduced)
    }

    fn by_compiler(
        &self,
        compiler: &Compiler,
        words: &[u32],
        until: Instant,
    ) -> Result<(String, smallstep::theorem::reducer::Reduced), String> {
        let settings = Settings { inputs: self.inputs, seed: self.seed, ..Settings::default() };
        let judged = |words: &[u32]| judge("the module", words, self.entry.as_deref(), compiler, &settings);
        let first = judged(words);
        if !first.verdict.is_wrong() && first.verdict != Verdict::Refuses {
            let cause = if first.cause.is_empty() { String::new() } else { format!(": {}", first.cause) };
            return Err(format!("there is nothing to keep, since the verdict via {} is {}{cause}", compiler.name(), first.verdict.name()));
        }
        let reduced = reduced(words, until, &mut |words| first.is_like(&judged(words)))?;
        let last = judged(&reduced.words);
        Ok((format!("via {}: {}: {}", compiler.name(), last.verdict.name(), last.cause), reduced))
    }

    fn report(&self, words: &[u32], kept: &str, reduced: &smallstep::theorem::reducer::Reduced) -> Ended {
        let text = disassemble(&reduced.words).map_err(|e| (exit::FAILED, e.to_string()))?;
        let is_text = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "spvasm");
        match &self.out {
            Some(path) if is_text(path) => output::write(path, text.as_bytes()).map_err(|e| (exit::INVALID, e))?,
            Some(path) => {
                let bytes: Vec<u8> = reduced.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                output::write(path, &bytes).map_err(|e| (exit::INVALID, e))?;
            }
            None if !self.json => say_part!("{text}"),
            None => {}
        }
        let (before, after) = (words.len(), reduced.words.len());
        if self.json {
            let out = self.out.as_ref().map(|path| path.display().to_string());
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": self.file.display().to_string(), "out": out, "kept": kept, "words": after,
                    "words_before": before, "questions": reduced.questions, "cut_short": reduced.cut_short, "assembly": text, "exit": exit::DONE})
            );
        } else {
            let cut = if reduced.cut_short { "; the time ended before the module was minimal" } else { "" };
            tell!("{before} words became {after}, after {} valid modules{cut}", reduced.questions);
            tell!("kept: {kept}");
        }
        Ok(exit::DONE)
    }
}

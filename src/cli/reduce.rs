//! `smallstep reduce`: a small program that a compiler treats like a given large one.

use smallstep_semantics::outcome::{InvalidInput, TimeLimit};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use smallstep::program::Language;
use smallstep::theorem::compilers::{Compiler, Status, accepts, judge};
use smallstep::theorem::reducer::{Reduced, judged_text, reduced, reduced_text};
use smallstep::theorem::refine::Settings;
use smallstep_semantics::spirv::{bytes_of_words, disassemble};

use super::exit::{self, Ended};
use super::{input, output};

/// Make a program small while a compiler still does the same wrong thing with it, or while a
/// command still ends with 0. Every program on the way is valid
#[derive(Args)]
pub(crate) struct Reduce {
    /// The program: λV, WSL, SPIR-V as words or assembly, or WGSL, which is reduced as SPIR-V.
    file: PathBuf,
    /// Keep what this compiler does: miscompile in the same way, or refuse, crash, time out or
    /// write an invalid module for the same cause. The compilers are those of compare --via.
    #[arg(long, value_name = "COMPILER", conflicts_with = "interesting", required_unless_present = "interesting")]
    via: Option<String>,
    /// Keep that this command ends with 0; {} stands for a file with the
    /// words, or with the text of a λV or WSL program.
    #[arg(long, value_name = "COMMAND")]
    interesting: Option<String>,
    /// Where the small program goes, a module as words or as assembly (.spvasm); standard output, a
    /// module as assembly, if not given.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// With --via: how many inputs each comparison of a module has; 20 if not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    inputs: Option<u64>,
    /// With --via: which inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --via: the entry point, where not all are to be compared.
    #[arg(long)]
    entry: Option<String>,
    /// How long the compiler, or the command, may take for one program.
    #[arg(long, default_value = "20s", value_name = "TIME", value_parser = super::budget::time)]
    compiler_limit: Duration,
    /// How long everything may take; the smallest program so far is the result then.
    #[arg(long, default_value = "120s", value_name = "TIME", value_parser = super::budget::time)]
    time_limit: Duration,
    /// One JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    reading: input::Reading,
}

/// The property that is kept while a program shrinks.
enum KeptProperty {
    /// A compiler treats the program in the same way.
    By(Box<Compiler>),
    /// A command ends with 0.
    Interesting(String),
}

impl Reduce {
    pub(crate) fn run(self) -> Ended {
        let unread = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
        let failed = |what: String| (exit::UNCHECKED, format!("error: {}: {what}", self.file.display()));
        let program = self.reading.program(&self.file)?;
        let deadline = TimeLimit::from_now(self.time_limit);
        let kept = self.property_to_keep()?;
        if let Language::LambdaV | Language::Wsl = program.language {
            if let Some(option) =
                [(self.entry.is_some(), "--entry"), (self.inputs.is_some(), "--inputs")].iter().find(|(is_given, _)| *is_given)
            {
                return Err((exit::INVALID, format!("error: {} is of no use for a {} program", option.1, program.language.words())));
            }
            let (language, text) = (program.language, program.text());
            let (description, reduced) = self.text(&kept, language, text, deadline).map_err(failed)?;
            let size = |text: &str| format!("{} lines of {} characters", text.lines().count(), text.chars().count());
            let sizes = (size(text), size(&reduced.program));
            let object =
                json!({"text": reduced.program, "characters": reduced.program.chars().count(), "characters_before": text.chars().count()});
            return self.report(&description, &reduced, reduced.program.as_bytes(), &reduced.program, sizes, object);
        }
        let words = program.made_of_module().and_then(|program| program.words()).map_err(unread)?;
        let (description, reduced) = self.module(&kept, &words, deadline).map_err(failed)?;
        let text = disassemble(&reduced.program).map_err(|e| (exit::FAILED, e.to_string()))?;
        let is_text = self.out.as_ref().is_some_and(|path| path.extension().is_some_and(|ending| ending == "spvasm"));
        let bytes = if is_text { text.clone().into_bytes() } else { bytes_of_words(&reduced.program) };
        let sizes = (format!("{} words", words.len()), reduced.program.len().to_string());
        let object = json!({"assembly": text, "words": reduced.program.len(), "words_before": words.len()});
        self.report(&description, &reduced, &bytes, &text, sizes, object)
    }

    fn limit(&self) -> Duration {
        self.compiler_limit
    }

    fn property_to_keep(&self) -> Result<KeptProperty, exit::Failure> {
        let no_property = || (exit::INVALID, "error: nothing says what is interesting; give --via or --interesting".to_string());
        match (&self.via, &self.interesting) {
            (Some(name), _) => {
                let compilers = super::compilers::compilers_named(std::slice::from_ref(name), self.limit())?;
                compilers.into_iter().next().map(|compiler| KeptProperty::By(Box::new(compiler))).ok_or_else(no_property)
            }
            (None, Some(command)) => Ok(KeptProperty::Interesting(command.clone())),
            (None, None) => Err(no_property()),
        }
    }

    /// Reduces a module. Returns a description of the kept property, and the words.
    fn module(&self, kept: &KeptProperty, words: &[u32], deadline: Option<TimeLimit>) -> Result<(String, Reduced<Vec<u32>>), String> {
        let compiler = match kept {
            KeptProperty::By(compiler) => compiler,
            KeptProperty::Interesting(command) => {
                return self
                    .by_command(command, |interesting| reduced(words, deadline, &mut |words| interesting(&bytes_of_words(words), "spv")));
            }
        };
        let settings = Settings { inputs: self.inputs.unwrap_or(20), seed: self.seed, ..Settings::default() };
        let judged = |words: &[u32]| judge("the module", words, self.entry.as_deref(), compiler, &settings);
        let first = judged(words);
        require_fault(compiler, first.status, &first.cause)?;
        let reduced = reduced(words, deadline, &mut |words| first.is_like(&judged(words)))?;
        let last = judged(&reduced.program);
        Ok((format!("via {}: {}: {}", compiler.name(), last.status.name(), last.cause), reduced))
    }

    /// Reduces a λV or WSL program in the same way.
    fn text(
        &self,
        kept: &KeptProperty,
        language: Language,
        text: &str,
        deadline: Option<TimeLimit>,
    ) -> Result<(String, Reduced<String>), String> {
        let compiler = match kept {
            KeptProperty::By(compiler) => compiler,
            KeptProperty::Interesting(command) => {
                let ending = if language == Language::Wsl { "wsl" } else { "lv" };
                return self.by_command(command, |interesting| {
                    reduced_text(language, text, deadline, &mut |text| interesting(text.as_bytes(), ending))
                });
            }
        };
        let first = judged_text(language, text, compiler);
        require_fault(compiler, first.0, &first.1)?;
        let reduced = reduced_text(language, text, deadline, &mut |text| judged_text(language, text, compiler) == first)?;
        Ok((format!("via {}: {}: {}", compiler.name(), first.0.name(), first.1), reduced))
    }

    /// Reduces a program while a command ends with 0. The command gets a file with the bytes of the
    /// program and this file extension.
    fn by_command<P>(
        &self,
        command: &str,
        reduced: impl FnOnce(&mut dyn FnMut(&[u8], &str) -> bool) -> Result<Reduced<P>, InvalidInput>,
    ) -> Result<(String, Reduced<P>), String> {
        let mut command_error = None;
        let reduced = reduced(&mut |bytes, ending| match accepts(command, (bytes, ending), self.limit()) {
            Ok(accepted) => accepted,
            Err(invalid) => {
                command_error.get_or_insert(invalid);
                false
            }
        });
        match command_error {
            Some(invalid) => Err(invalid.what),
            None => Ok((format!("`{command}` ends with 0"), reduced?)),
        }
    }

    /// Writes the reduced program, and reports its size.
    fn report<P>(
        &self,
        kept: &str,
        reduced: &Reduced<P>,
        bytes: &[u8],
        text: &str,
        (before, after): (String, String),
        mut object: serde_json::Value,
    ) -> Ended {
        match &self.out {
            Some(path) => output::write(path, bytes).map_err(|e| (exit::INVALID, e))?,
            None if !self.json => say_part!("{text}"),
            None => {}
        }
        if self.json {
            let out = self.out.as_ref().map(|path| path.display().to_string());
            let common = json!({"schema": 1, "kind": "summary", "file": self.file.display().to_string(), "out": out, "kept": kept,
                "questions": reduced.questions, "cut_short": reduced.cut_short, "exit": exit::DONE});
            if let (Some(object), Some(common)) = (object.as_object_mut(), common.as_object()) {
                object.extend(common.clone());
            }
            say!("{object}");
        } else {
            let cut = if reduced.cut_short { "; the time ended before the program was minimal" } else { "" };
            tell!("{before} became {after}, after {} valid programs{cut}", reduced.questions);
            tell!("kept: {kept}");
        }
        Ok(exit::DONE)
    }
}

/// The error for a compiler that does nothing wrong.
fn require_fault(compiler: &Compiler, status: Status, cause: &str) -> Result<(), String> {
    if status.is_wrong() || status == Status::Refuses {
        return Ok(());
    }
    let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
    Err(format!("there is nothing to keep, since the verdict via {} is {}{cause}", compiler.name(), status.name()))
}

//! Compilers under test: each turns the words of a module into other words. A compiler has one
//! step, or several in sequence. A step is a command that reads a file and writes another, naga, or
//! the conversion to WGSL ([`crate::compile::wgsl`]), which naga reads.
//!
//! Commands run in their own processes, within a time limit. So does naga, by the program with the
//! `naga` subcommand. Only naga's reading of our WGSL runs in a thread instead.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use smallstep_semantics::spirv::{Module, words_of_bytes};

use crate::compile::{naga, wgsl};
use crate::dispatch::MAX_WORDS;
use crate::source;
use crate::theorem::without_numbers;

use super::judgement::Status;
use super::passes;
use super::renamed::{Renamed, restored};

/// The most bytes of a command's output that are shown.
const MAX_OUTPUT: usize = 300;
/// The exit code of a Rust program that panics.
pub const PANICKED: u8 = 101;
/// The separator between the steps of a compiler.
const THEN: &str = " then ";

/// A compiler of SPIR-V modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    name: String,
    steps: Vec<Step>,
    /// The words of a command that must accept the WGSL. The file is its last argument. Empty:
    /// no validator.
    validator: Vec<String>,
    limit: Duration,
    version: String,
    /// Whether a refusal counts as a missing feature, and not as a mistake.
    may_refuse: bool,
    /// Whether only the last step is judged, against the module that this step read.
    judges_last: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A command, by its words. The words may contain [`IN`] and [`OUT`], which stand for files,
    /// and [`RANDOM`].
    Command(Vec<String>),
    /// The conversion to our WGSL, which naga reads.
    Wgsl(wgsl::Options),
}

impl Step {
    /// Whether modules become WGSL in this step.
    fn is_by_wgsl(&self) -> bool {
        match self {
            Step::Wgsl(_) => true,
            Step::Command(words) => words.iter().any(|word| word == NAGA_BY_WGSL),
        }
    }
}

/// The placeholder of the file that a command reads.
const IN: &str = "{in}";
/// The placeholder of the file that a command writes.
const OUT: &str = "{out}";
/// The placeholder of passes of spirv-opt that are drawn for each module.
const RANDOM: &str = "{random}";

/// The subcommand that runs naga.
const NAGA: &str = "naga";
/// The option by which the `naga` subcommand goes through WGSL.
const NAGA_BY_WGSL: &str = "--through-wgsl";

/// The result of a compiler for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The words that the result must refine: the module, or if only the last step is judged, the
    /// module that this step read.
    pub before: Vec<u32>,
    /// The words that the last step wrote.
    pub words: Vec<u32>,
    /// The same words, in which entry points that WGSL renamed have their original names.
    pub named: Vec<u32>,
    /// The renamed entry points. The renaming is no fault of the compiler.
    pub renamed: Vec<Renamed>,
}

/// The reason why a compiler gives no words. Each has a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCompiled {
    /// It refuses the module.
    Refused(String),
    /// Its output is no SPIR-V.
    Invalid(String),
    /// It crashes.
    Crashed(String),
    /// It exceeds its time limit.
    TimedOut(String),
    /// It could not run, or the input of a later step could not be made. Nothing is known about
    /// the compiler.
    NotRun(String),
}

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotCompiled::Refused(what)
            | NotCompiled::Invalid(what)
            | NotCompiled::Crashed(what)
            | NotCompiled::TimedOut(what)
            | NotCompiled::NotRun(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for NotCompiled {}

impl NotCompiled {
    /// The status that this gives the compiler, and the sentence.
    pub fn judged(self) -> (Status, String) {
        match self {
            NotCompiled::Refused(what) => (Status::Refuses, what),
            NotCompiled::Invalid(what) => (Status::Invalid, what),
            NotCompiled::Crashed(what) => (Status::Crashes, what),
            NotCompiled::TimedOut(what) => (Status::TimesOut, what),
            NotCompiled::NotRun(what) => (Status::Unchecked, what),
        }
    }
}

impl Compiler {
    /// The command with these words, separated by blanks, and its time limit for each module. If no
    /// word names files, the input file, `-o` and the output file are added. A word `{random}`
    /// stands for passes of spirv-opt that are drawn for each module.
    ///
    /// # Errors
    /// There is no such command. The message is a sentence.
    pub fn new(command: &str, limit: Duration) -> Result<Compiler, InvalidInput> {
        let words = command.split_whitespace().map(str::to_string).collect();
        Compiler::of_command(command.trim(), words, limit)
    }

    /// The conversion to WGSL, which naga reads. There is no command.
    pub fn wgsl(options: wgsl::Options, limit: Duration) -> Compiler {
        let (name, steps) = ("wgsl".into(), vec![Step::Wgsl(options)]);
        Compiler { name, steps, validator: Vec::new(), limit, version: String::new(), may_refuse: false, judges_last: false }
    }

    /// The compiler with that name: `naga`, `naga-wgsl`, `wgsl`, `spirv-opt:PASSES`, `tint`, or
    /// `cmd:COMMAND`, whose words are split by the rules of a shell and contain `{in}` and `{out}`.
    /// Several names with ` then ` between them make a sequence. `naga_program` is the program with
    /// the `naga` subcommand.
    ///
    /// # Errors
    /// There is no such compiler, or its command is missing. The message is a sentence.
    pub fn named(name: &str, naga_program: &Path, limit: Duration) -> Result<Compiler, InvalidInput> {
        let mut all: Option<Compiler> = None;
        for part in name.split(THEN) {
            let step = Compiler::single(part.trim(), naga_program, limit)?;
            all = Some(match all {
                None => step,
                Some(before) => before.then(step),
            });
        }
        all.ok_or_else(|| InvalidInput::new(InputFault::Text, "a compiler needs a name"))
    }

    fn single(name: &str, naga_program: &Path, limit: Duration) -> Result<Compiler, InvalidInput> {
        let program =
            |words: &[&str]| [naga_program.display().to_string()].into_iter().chain(words.iter().map(|w| w.to_string())).collect();
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        let command = |words: Vec<String>| Compiler::of_command(name, words, limit);
        let of_naga = |words| Compiler { version: naga::VERSION.into(), ..Compiler::of_words(name, words, limit) };
        match kind {
            "naga" if rest.is_empty() => Ok(of_naga(program(&[NAGA, IN, OUT]))),
            "naga-wgsl" if rest.is_empty() => Ok(of_naga(program(&[NAGA, NAGA_BY_WGSL, IN, OUT]))),
            "wgsl" if rest.is_empty() => {
                // Comparisons draw triangles, so PointSize does not matter. Naga accepts vertex
                // stages that write.
                let options = wgsl::Options { point_size: wgsl::PointSize::Ignore, vertex_writes: true, ..wgsl::Options::default() };
                Ok(Compiler::wgsl(options, limit))
            }
            "tint" if rest.is_empty() => command(["tint", IN, "-o", OUT].map(str::to_string).to_vec()),
            "spirv-opt" => {
                let passes = split(rest)?;
                command(["spirv-opt".to_string()].into_iter().chain(passes).collect())
            }
            "cmd" => {
                let words = split(rest)?;
                for placeholder in [IN, OUT] {
                    if !words.iter().any(|word| word.contains(placeholder)) {
                        return Err(InvalidInput::new(
                            InputFault::Text,
                            format!("the command \"{rest}\" has no {placeholder}, which stands for a file"),
                        ));
                    }
                }
                command(words)
            }
            _ => Err(InvalidInput::new(
                InputFault::Text,
                format!(
                    "no compiler is called \"{name}\"; there are naga, naga-wgsl, wgsl, tint, spirv-opt:PASSES and cmd:'COMMAND {IN} -o {OUT}'"
                ),
            )),
        }
    }

    /// A command. If it names no files, the input file, `-o` and the output file are added.
    fn of_command(name: &str, mut words: Vec<String>, limit: Duration) -> Result<Compiler, InvalidInput> {
        let program = words.first().cloned().ok_or_else(|| InvalidInput::new(InputFault::Command, "the compiler's command is empty"))?;
        if !words.iter().any(|word| word.contains(IN)) {
            words.extend([IN, "-o", OUT].map(str::to_string));
        }
        let version = version(&program, limit)?;
        Ok(Compiler { version, ..Compiler::of_words(name, words, limit) })
    }

    fn of_words(name: &str, words: Vec<String>, limit: Duration) -> Compiler {
        let (name, steps) = (name.into(), vec![Step::Command(words)]);
        Compiler { name, steps, validator: Vec::new(), limit, version: String::new(), may_refuse: false, judges_last: false }
    }

    /// This compiler followed by another one.
    pub fn then(mut self, next: Compiler) -> Compiler {
        self.name = format!("{}{THEN}{}", self.name, next.name);
        self.steps.extend(next.steps);
        self.validator.extend(next.validator);
        self.may_refuse = next.may_refuse;
        self
    }

    /// This compiler followed by the conversion to WGSL. Only the conversion is judged, without the
    /// mistakes of this compiler.
    pub fn through_wgsl(self, options: wgsl::Options) -> Compiler {
        let limit = self.limit;
        Compiler { judges_last: true, ..self.then(Compiler::wgsl(options, limit)) }
    }

    /// This compiler with another command that must accept the WGSL too.
    pub fn validated_by(self, command: &str) -> Compiler {
        Compiler { validator: command.split_whitespace().map(str::to_string).collect(), ..self }
    }

    /// This compiler with refusals that count as missing features.
    pub fn that_may_refuse(self) -> Compiler {
        Compiler { may_refuse: true, ..self }
    }

    /// Whether a refusal counts as a missing feature, and not as a mistake.
    pub fn may_refuse(&self) -> bool {
        self.may_refuse
    }

    /// The beginning of what the first command prints for `--version`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The name in reports, which `--via` accepts.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether naga reads the modules, or their WGSL.
    pub fn is_naga(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Wgsl(_) => true,
            Step::Command(words) => words.get(1).is_some_and(|word| word == NAGA),
        })
    }

    /// Whether modules become WGSL on the way.
    pub fn is_by_wgsl(&self) -> bool {
        self.steps.iter().any(Step::is_by_wgsl)
    }

    /// Whether our converter writes the WGSL. It gives each element of an array of descriptors a
    /// binding of its own.
    pub fn is_by_converter(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Wgsl(_)))
    }

    /// The passes of spirv-opt that the first command draws for a module. `None` if it draws none.
    pub fn passes(&self, words: &[u32]) -> Option<Vec<&'static str>> {
        let Some(Step::Command(command)) = self.steps.first() else { return None };
        command.iter().any(|word| word == RANDOM).then(|| passes::drawn(words))
    }

    /// Compiles the words of a module.
    ///
    /// # Errors
    /// The reason why there are no words.
    pub fn run(&self, words: &[u32]) -> Result<Compiled, NotCompiled> {
        let mut compiled = Compiled { before: words.to_vec(), words: words.to_vec(), named: words.to_vec(), renamed: Vec::new() };
        for (at, step) in self.steps.iter().enumerate() {
            if self.judges_last && at + 1 == self.steps.len() {
                Module::load(&compiled.named).map_err(|e| {
                    let error = without_numbers(&e.to_string());
                    NotCompiled::NotRun(format!("the compiler before WGSL writes no valid module: {error}"))
                })?;
                compiled.before.clone_from(&compiled.named);
            }
            let written = match step {
                Step::Command(command) if self.judges_last => {
                    self.by_command(command, &compiled.named).map_err(|e| NotCompiled::NotRun(e.judged().1))?
                }
                Step::Command(command) => self.by_command(command, &compiled.named)?,
                Step::Wgsl(options) => self.by_wgsl(&compiled.named, options)?,
            };
            compiled.words.clone_from(&written);
            // Only a step through WGSL may rename entry points. For any other step a new name
            // changes the interface.
            let (named, renamed) = if step.is_by_wgsl() { restored(&compiled.named, written) } else { (written, Vec::new()) };
            compiled.named = named;
            compiled.renamed.extend(renamed);
        }
        Ok(compiled)
    }

    /// Whether the compiler has a conversion to WGSL that refuses this vertex stage, because the
    /// stage uses memory that is written.
    pub fn refuses_vertex_stage(&self, words: &[u32]) -> bool {
        let by_wgsl = self.steps.iter().find_map(|step| if let Step::Wgsl(options) = step { Some(options) } else { None });
        by_wgsl.filter(|options| !options.vertex_writes).is_some_and(|options| {
            matches!(wgsl::convert(words, options), Err(wgsl::NotConverted::Refused(refused)) if refused.why == wgsl::Why::VertexWrites)
        })
    }

    fn by_wgsl(&self, words: &[u32], options: &wgsl::Options) -> Result<Vec<u32>, NotCompiled> {
        let converted = wgsl::convert(words, options).map_err(|e| match e {
            wgsl::NotConverted::Refused(refused) => {
                NotCompiled::NotRun(format!("no WGSL ({:?}): {}", refused.why, without_numbers(&refused.what)))
            }
            wgsl::NotConverted::Load(e) => NotCompiled::Refused(format!("the module is refused: {e}")),
        })?;
        if let Some((program, arguments)) = self.validator.split_first() {
            let not_run = |e: std::io::Error| NotCompiled::NotRun(format!("{program}: {e}"));
            let folder = tempfile::tempdir().map_err(not_run)?;
            let file = folder.path().join("converted.wgsl");
            std::fs::write(&file, &converted.text).map_err(not_run)?;
            let mut command = Command::new(program);
            command.args(arguments).arg(&file);
            self.run_program("validator", &mut command, folder.path(), &file)?;
        }
        naga::words("converted.wgsl", &converted.text, naga::Space::Kept, self.limit).map_err(|e| match e {
            naga::NotTranslated::Invalid(what) => NotCompiled::Refused(format!("naga refuses the WGSL: {what}")),
            naga::NotTranslated::Unsupported(what) if what == naga::PANICS => NotCompiled::Crashed(what),
            naga::NotTranslated::Unsupported(what) | naga::NotTranslated::Limit(what) => NotCompiled::NotRun(what),
        })
    }

    fn by_command(&self, words: &[String], module: &[u32]) -> Result<Vec<u32>, NotCompiled> {
        let program = &words[0];
        let not_run = |e: std::io::Error| NotCompiled::NotRun(format!("{program}: {e}"));
        let folder = tempfile::tempdir().map_err(not_run)?;
        let path = |name: &str| folder.path().join(name);
        let (read, written) = (path("before.spv"), path("after.spv"));
        let bytes: Vec<u8> = module.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&read, bytes).map_err(not_run)?;
        let mut command = Command::new(program);
        for word in &words[1..] {
            if word == RANDOM {
                command.args(passes::drawn(module));
                continue;
            }
            command.arg(word.replace(IN, &read.display().to_string()).replace(OUT, &written.display().to_string()));
        }
        self.run_program("compiler", &mut command, folder.path(), &read)?;
        if !written.exists() {
            return Err(NotCompiled::Invalid("the compiler writes no file".into()));
        }
        let no_words = |e: &dyn std::fmt::Display| NotCompiled::Invalid(format!("the compiler writes no words: {e}"));
        let bytes = source::contents(&written, 4 * MAX_WORDS as u64).map_err(|e| no_words(&e))?;
        words_of_bytes(&bytes).map_err(|e| no_words(&e))
    }

    /// Runs a command within the limit. `kind` names it in sentences. Its output goes to a file in
    /// the folder. `read` is its input file, whose name is replaced in the output.
    fn run_program(&self, kind: &str, command: &mut Command, folder: &Path, read: &Path) -> Result<(), NotCompiled> {
        // The backtrace of a panic differs between machines.
        command.env("RUST_BACKTRACE", "0");
        let program = PathBuf::from(command.get_program());
        let not_run = |e: std::io::Error| NotCompiled::NotRun(format!("{}: {e}", program.display()));
        let output_path = folder.join("said");
        let output = File::create(&output_path).map_err(not_run)?;
        let errors = output.try_clone().map_err(not_run)?;
        let mut child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn().map_err(not_run)?;
        let status = ended(&mut child, self.limit).map_err(not_run)?;
        let output_text = || {
            let mut text = Vec::new();
            let _ = File::open(&output_path).and_then(|file| file.take(MAX_OUTPUT as u64).read_to_end(&mut text));
            String::from_utf8_lossy(&text).trim().replace(&read.display().to_string(), "FILE")
        };
        match status.map(|status| (status, status.code())) {
            None => Err(NotCompiled::TimedOut(format!("the {kind} has not ended after {} s", self.limit.as_secs()))),
            Some((_, Some(0))) => Ok(()),
            Some((_, Some(code))) if code == i32::from(PANICKED) => {
                Err(NotCompiled::Crashed(format!("the {kind} crashes: {}", output_text())))
            }
            Some((_, Some(_))) => Err(NotCompiled::Refused(format!("the {kind} refuses a valid module: {}", output_text()))),
            Some((status, None)) => Err(NotCompiled::Crashed(format!("the {kind} crashes ({status}): {}", output_text()))),
        }
    }
}

/// Whether a command accepts a file: it ends with code 0 within the limit. The words of the command
/// are split by the rules of a shell. The file has these bytes and this name ending. `{}` stands
/// for the file. Without `{}`, the file is the last argument.
///
/// # Errors
/// The command cannot be run. The message is a sentence.
pub fn accepts(command: &str, (bytes, ending): (&[u8], &str), limit: Duration) -> Result<bool, InvalidInput> {
    let mut parts = split(command)?;
    if !parts.iter().any(|part| part.contains("{}")) {
        parts.push("{}".into());
    }
    let cannot = |e: std::io::Error| InvalidInput::new(InputFault::Command, format!("the command \"{command}\" cannot be run: {e}"));
    let folder = tempfile::tempdir().map_err(cannot)?;
    let file = folder.path().join("program").with_extension(ending);
    std::fs::write(&file, bytes).map_err(cannot)?;
    let words: Vec<String> = parts.iter().map(|part| part.replace("{}", &file.display().to_string())).collect();
    let (program, arguments) = words.split_first().ok_or_else(|| InvalidInput::new(InputFault::Command, "the command is empty"))?;
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let status = ended(&mut started.map_err(cannot)?, limit).map_err(cannot)?;
    Ok(status.is_some_and(|status| status.success()))
}

/// Words, split by the rules of a shell.
fn split(text: &str) -> Result<Vec<String>, InvalidInput> {
    shlex::split(text).ok_or_else(|| InvalidInput::new(InputFault::Text, format!("a quote in \"{text}\" has no end")))
}

/// What a program prints for `--version`. The exit code does not matter, only that the
/// program exists.
fn version(program: &str, limit: Duration) -> Result<String, InvalidInput> {
    let cannot = |e: std::io::Error| InvalidInput::new(InputFault::Command, format!("the compiler \"{program}\" cannot be run: {e}"));
    let mut file = tempfile::tempfile().map_err(cannot)?;
    // spirv-opt prints its version to stderr.
    let (output, errors) = (file.try_clone().map_err(cannot)?, file.try_clone().map_err(cannot)?);
    let started = Command::new(program).arg("--version").stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
    let _ = ended(&mut started.map_err(cannot)?, limit);
    let mut version = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(MAX_OUTPUT as u64).read_to_end(&mut version));
    Ok(String::from_utf8_lossy(&version).trim().to_string())
}

/// The exit status of a command. `None` if it exceeded the limit and was killed.
fn ended(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

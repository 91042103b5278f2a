//! Generated modules through an optimiser: a command that reads a module from a file and writes
//! another; or through WGSL ([`crate::compile::wgsl`], then naga); or through one after the other.
//! What comes out must refine what went in ([`crate::theorem::refine`]), on the one input that a
//! generated dispatch or draw has.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::spirv::{LoadError, Module, words_of_bytes};

use crate::compile::{naga, split_samplers, wgsl};
use crate::compute::{ComputeModule, Prepared};
use crate::dispatch::{Dispatch, DrawDispatch, MAX_WORDS, Stage};
use crate::generate::spirv::{ComputeCase, Kind, Twin};
use crate::source;
use crate::theorem::refine::draws::{self, Stages};
use crate::theorem::refine::observe::{How, judge};
use crate::theorem::refine::{Input, Judged, Settings, Side, Unchecked};
use crate::theorem::without_numbers;

/// The most bytes of what a command says that are shown.
const SAID: usize = 300;

/// The most instructions of a generated module, all of which end.
const FUEL: u64 = 1 << 30;
/// The same of what may have loops without an end.
const FUEL_OF_PROGRAMS: u64 = 1 << 21;

/// An optimiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimiser {
    /// The command's program; empty where there is only the way through WGSL.
    program: String,
    /// How its words become WGSL, and words again.
    wgsl: Option<wgsl::Options>,
    arguments: Vec<String>,
    /// The words of a command that must accept the WGSL, in a file that is named last.
    validator: Vec<String>,
    limit: Duration,
    version: String,
}

/// Why there is no optimised module: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOptimised {
    /// The command ends with an error.
    Refused(String),
    /// It crashes, or takes longer than its limit.
    Failed(String),
    /// It could not be run: nothing is known about it.
    NotRun(String),
}

/// What became of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Optimised {
    /// The optimised module shows what the module allows.
    Allowed,
    /// The module is undefined, and so allows everything.
    Vacuous,
    /// Devices may differ, or some orders of invocations were left out.
    Undecided(String),
    /// It was not compared: why.
    Unchecked(String),
    /// The optimiser is wrong, or failed: a sentence.
    Wrong {
        /// How.
        what: String,
        /// What kind of wrong it is.
        ends: Ends,
    },
}

/// How an optimiser is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// It refuses a valid module, or what it writes is no module, has another interface, or shows
    /// what it must not.
    Shown,
    /// What it writes has undefined behaviour where what it read has not.
    Undefined,
    /// It crashes or hangs.
    Failed,
}

impl Optimiser {
    /// The command of those words, with so much time for each module.
    ///
    /// Errors: there is no such command: a sentence.
    pub fn new(command: &str, limit: Duration) -> Result<Optimiser, String> {
        let mut words = command.split_whitespace().map(str::to_string);
        let program = words.next().ok_or("the optimiser's command is empty")?;
        let cannot = |e: std::io::Error| format!("the optimiser \"{program}\" cannot be run: {e}");
        let mut said = tempfile::tempfile().map_err(cannot)?;
        // spirv-opt says it as an error.
        let (output, errors) = (said.try_clone().map_err(cannot)?, said.try_clone().map_err(cannot)?);
        let started = Command::new(&program).arg("--version").stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        // Whatever it makes of that, it is there.
        let _ = ended(&mut started.map_err(cannot)?, limit);
        let mut version = Vec::new();
        let _ = said.rewind().and_then(|()| said.take(SAID as u64).read_to_end(&mut version));
        let version = String::from_utf8_lossy(&version).trim().to_string();
        Ok(Optimiser { arguments: words.collect(), program, limit, version, wgsl: None, validator: Vec::new() })
    }

    /// No command: modules become WGSL, and naga reads that.
    pub fn wgsl(options: wgsl::Options, limit: Duration) -> Optimiser {
        let (program, arguments, validator, version) = (String::new(), Vec::new(), Vec::new(), String::new());
        Optimiser { program, wgsl: Some(options), arguments, validator, limit, version }
    }

    /// The same, and then through WGSL.
    pub fn through_wgsl(self, options: wgsl::Options) -> Optimiser {
        Optimiser { wgsl: Some(options), ..self }
    }

    /// The same, where another command must accept the WGSL too.
    pub fn validated_by(self, command: &str) -> Optimiser {
        Optimiser { validator: command.split_whitespace().map(str::to_string).collect(), ..self }
    }

    /// What the command says of its version: its beginning.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The command's words, without those for files.
    pub fn command(&self) -> String {
        let command = std::iter::once(&self.program).chain(&self.arguments).cloned().collect::<Vec<_>>().join(" ");
        match (&self.wgsl, command.is_empty()) {
            (None, _) => command,
            (Some(_), true) => "through WGSL".into(),
            (Some(_), false) => format!("{command}, through WGSL"),
        }
    }

    /// The words that it makes of these.
    pub fn run(&self, words: &[u32]) -> Result<Vec<u32>, NotOptimised> {
        let optimised = if self.program.is_empty() { None } else { Some(self.run_command(words)?) };
        let words = optimised.as_deref().unwrap_or(words);
        match &self.wgsl {
            None => Ok(words.to_vec()),
            Some(options) => self.by_wgsl(words, options),
        }
    }

    fn by_wgsl(&self, words: &[u32], options: &wgsl::Options) -> Result<Vec<u32>, NotOptimised> {
        let converted = wgsl::convert(words, options).map_err(|e| match e {
            wgsl::NotConverted::Refused(refused) => {
                NotOptimised::NotRun(format!("no WGSL ({:?}): {}", refused.why, without_numbers(&refused.what)))
            }
            wgsl::NotConverted::Load(e) => NotOptimised::Refused(format!("the module is refused: {e}")),
        })?;
        if let Some((program, arguments)) = self.validator.split_first() {
            let not_run = |e: std::io::Error| NotOptimised::NotRun(format!("{program}: {e}"));
            let folder = tempfile::tempdir().map_err(not_run)?;
            let file = folder.path().join("converted.wgsl");
            std::fs::write(&file, &converted.text).map_err(not_run)?;
            let mut command = Command::new(program);
            command.args(arguments).arg(&file);
            self.run_program(program, "validator", &mut command, &folder.path().join("said"), &file)?;
        }
        naga::words("converted.wgsl", &converted.text, naga::Space::Kept, self.limit).map_err(|e| match e {
            naga::NotTranslated::Invalid(what) => NotOptimised::Refused(format!("naga refuses the WGSL: {what}")),
            naga::NotTranslated::Unsupported(what) | naga::NotTranslated::Limit(what) => NotOptimised::NotRun(what),
        })
    }

    fn run_command(&self, words: &[u32]) -> Result<Vec<u32>, NotOptimised> {
        let not_run = |e: std::io::Error| NotOptimised::NotRun(format!("{}: {e}", self.program));
        let folder = tempfile::tempdir().map_err(not_run)?;
        let path = |name: &str| folder.path().join(name);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(path("before.spv"), bytes).map_err(not_run)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(path("before.spv")).arg("-o").arg(path("after.spv"));
        self.run_program(&self.program, "optimiser", &mut command, &path("said"), &path("before.spv"))?;
        if !path("after.spv").exists() {
            return Err(NotOptimised::Failed("the optimiser writes no file".into()));
        }
        let bytes = source::contents(&path("after.spv"), 4 * MAX_WORDS as u64);
        let bytes = bytes.map_err(|e| NotOptimised::Failed(format!("the optimiser writes no words: {e}")))?;
        words_of_bytes(&bytes).map_err(|e| NotOptimised::Failed(format!("the optimiser writes no words: {e}")))
    }
}

impl Optimiser {
    /// Runs a command within the limit. `kind` names it in sentences, `said` is a file for what it
    /// says, `read` the file that it reads.
    fn run_program(&self, program: &str, kind: &str, command: &mut Command, said: &Path, read: &Path) -> Result<(), NotOptimised> {
        let not_run = |e: std::io::Error| NotOptimised::NotRun(format!("{program}: {e}"));
        let output = File::create(said).map_err(not_run)?;
        let errors = output.try_clone().map_err(not_run)?;
        let mut child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn().map_err(not_run)?;
        let status = ended(&mut child, self.limit).map_err(not_run)?;
        let said = || {
            let mut text = Vec::new();
            let _ = File::open(said).and_then(|file| file.take(SAID as u64).read_to_end(&mut text));
            String::from_utf8_lossy(&text).trim().replace(&read.display().to_string(), "FILE")
        };
        match status {
            None => Err(NotOptimised::Failed(format!("the {kind} has not ended after {} s", self.limit.as_secs()))),
            Some(status) if status.code().is_none() => Err(NotOptimised::Failed(format!("the {kind} crashes ({status}): {}", said()))),
            Some(status) if !status.success() => Err(NotOptimised::Refused(format!("the {kind} refuses a valid module: {}", said()))),
            Some(_) => Ok(()),
        }
    }
}

/// How a command ended; none where it was ended for taking longer than that.
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

/// Optimises a generated module and compares what both show. Modules that no loader has to accept
/// are not compared.
pub fn optimised(case: &ComputeCase, optimiser: &Optimiser) -> Optimised {
    if matches!(case.twin, Some(Twin { kind: Kind::Refused, .. }) | Some(Twin { valid: false, .. })) {
        return Optimised::Vacuous;
    }
    by(optimiser, &case.words, |words| compared(case, words))
}

/// What the optimiser makes of a module, judged.
fn by(optimiser: &Optimiser, words: &[u32], judged: impl FnOnce(&[u32]) -> Optimised) -> Optimised {
    match optimiser.run(words) {
        Ok(words) => judged(&words),
        Err(NotOptimised::Refused(what)) => Optimised::Wrong { what, ends: Ends::Shown },
        Err(NotOptimised::Failed(what)) => Optimised::Wrong { what, ends: Ends::Failed },
        Err(NotOptimised::NotRun(what)) => Optimised::Unchecked(what),
    }
}

/// Optimises the module of a dispatch and compares what both show.
pub fn optimised_dispatch(prepared: &Prepared, optimiser: &Optimiser) -> Optimised {
    let (words, entry) = (prepared.module.module.words(), prepared.module.entry.as_str());
    let (buffers, push_constants) = (prepared.buffers().to_vec(), prepared.push_constants().to_vec());
    let input = Input { groups: prepared.groups, buffers, push_constants, ..Input::default() };
    by(optimiser, words, |optimised| refined(words, optimised, entry, &input, FUEL))
}

/// Optimises the modules of a dispatch or of a draw, and compares what both show. WGSL has no
/// combined image samplers: where there are some, their halves are bound apart before.
pub fn optimised_any(dispatch: &Dispatch, optimiser: &Optimiser) -> Optimised {
    match dispatch {
        Dispatch::Compute(dispatch) => {
            let split = match split_samplers::adapt(dispatch) {
                Ok(split) => split,
                Err(why) => return Optimised::Unchecked(why.0),
            };
            let bound = split.bound();
            let input = Input {
                groups: split.groups,
                buffers: bound.buffer_contents(),
                images: bound.image_contents(),
                samplers: split.samplers.clone(),
                push_constants: split.push_constants.clone(),
                ..Input::default()
            };
            by(optimiser, &split.words, |words| refined(&split.words, words, &split.entry, &input, FUEL_OF_PROGRAMS))
        }
        Dispatch::Draw(dispatch) => match split_samplers::adapt_draw(dispatch) {
            Ok(split) => optimised_draw(&split, optimiser),
            Err(why) => Optimised::Unchecked(why.0),
        },
        Dispatch::Fragment(_) => Optimised::Unchecked("a fragment stage without a vertex stage".into()),
    }
}

fn optimised_draw(dispatch: &DrawDispatch, optimiser: &Optimiser) -> Optimised {
    by(optimiser, &dispatch.vertex.words, |vertex| {
        by(optimiser, &dispatch.fragment.words, |fragment| {
            let stage = |stage: &Stage, words: &[u32]| Stage { words: words.into(), entry: stage.entry.clone() };
            let (vertex, fragment) = (stage(&dispatch.vertex, vertex), stage(&dispatch.fragment, fragment));
            refined_draw(dispatch, &DrawDispatch { vertex, fragment, ..dispatch.clone() })
        })
    })
}

/// Compares what a draw by other stages shows with what it allows.
fn refined_draw(before: &DrawDispatch, after: &DrawDispatch) -> Optimised {
    let stages = |name: &str, dispatch| Stages::new(dispatch).map_err(|e| not_loaded(name, e));
    match (stages("a module", before), stages("an optimised module", after)) {
        (Ok(stages), Ok(optimised)) => judged(draws::judge((&stages, before), (&optimised, after), FUEL_OF_PROGRAMS)),
        (Err(error), _) | (_, Err(error)) => error,
    }
}

/// A module that is refused.
fn not_loaded(name: &str, error: LoadError) -> Optimised {
    match error {
        LoadError::Unsupported { what, .. } => Optimised::Unchecked(format!("unsupported: {what}")),
        other => Optimised::Wrong { what: format!("{name} is refused: {other}"), ends: Ends::Shown },
    }
}

/// Compares what other words show with what a generated module allows, on its own input.
pub fn compared(case: &ComputeCase, words: &[u32]) -> Optimised {
    let input = Input { groups: case.groups, buffers: super::contents(case), ..Input::default() };
    refined(&case.words, words, &case.entry, &input, FUEL)
}

fn refined(before: &[u32], after: &[u32], entry: &str, input: &Input, fuel: u64) -> Optimised {
    let wrong = |what: String| Optimised::Wrong { what, ends: Ends::Shown };
    let side = |name: &str, words: &[u32]| {
        let module = Module::load(words).map_err(|e| not_loaded(name, e))?;
        let module = ComputeModule::new(module, Some(entry)).map_err(|what| wrong(format!("{name} has another entry point: {what}")))?;
        Ok::<Side, Optimised>(Side::new(name, module, None))
    };
    let (before, after) = match (side("the module", before), side("the optimised module", after)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(error), _) | (_, Err(error)) => return error,
    };
    if let Err(mismatch) = crate::theorem::refine::interface::check(&before, &after) {
        return wrong(format!("the optimised module has another interface: {mismatch}"));
    }
    // One input of many modules, most of which do the same whatever the schedule.
    let settings = Settings { fuel, schedules: 1, budget: Budget { executions: 4, steps: 1 << 14 }, ..Settings::default() };
    let became = judge(&before, &after, input, &settings);
    if let Judged::Vacuous(_) = became {
        // Whatever it does is allowed; it runs all the same, which it must be fit for.
        after.run(input, &settings, 1 << 24);
    }
    judged(became)
}

/// What a comparison came to.
fn judged(became: Judged) -> Optimised {
    match became {
        Judged::Agree { .. } => Optimised::Allowed,
        Judged::Vacuous(_) => Optimised::Vacuous,
        Judged::Undecided(why) => Optimised::Undecided(why),
        Judged::Unchecked(Unchecked::Unsupported(what)) => Optimised::Unchecked(format!("unsupported: {what}")),
        Judged::Unchecked(Unchecked::Limit(what)) => Optimised::Unchecked(what),
        Judged::Disagree(difference) => {
            let (what, ends) = match difference.how {
                How::Undefined(undefined) => {
                    let what = format!("the optimised module has undefined behaviour that the module has not: {}", undefined.ub.id());
                    (what, Ends::Undefined)
                }
                How::Ends(how) => (format!("the optimised module ends without an observation: {how}"), Ends::Shown),
                How::Byte { place, byte, undefined: true, .. } => {
                    let what =
                        format!("the optimised module shows any value in byte {byte} of the buffer at {place}, the module one value");
                    (what, Ends::Shown)
                }
                How::Byte { place, byte, .. } => {
                    (format!("the optimised module shows another value in byte {byte} of the buffer at {place}"), Ends::Shown)
                }
                How::Texel { of, at: [x, y, z], component, before, after, .. } => {
                    let what = format!(
                        "the optimised module shows {after} in component {component} of the texel at ({x},{y},{z}) of {of}, the module {before}"
                    );
                    (what, Ends::Shown)
                }
            };
            Optimised::Wrong { what, ends }
        }
    }
}

//! `smallstep check`: the theorem for programs in files and folders, and Amber scripts.

use super::amber::{self, ScriptArgs};
use super::budget::TimeArgs;
use super::device::say_unrepeated;
use super::exit;
use super::exit::Ended;
use super::input;
use super::wsl;
use clap::Args;
use serde_json::json;
use smallstep::compile::lambda_v::Constants;
use smallstep::gpu::{self, Route};
use smallstep::program::{Language, Program};
use smallstep::theorem;
use smallstep::theorem::case::Settings;
use smallstep::theorem::check::{Checked, Checker, Devices, Leg, Options, collect};
use smallstep::theorem::compilers::{self, Compiler};
use smallstep::theorem::device::Choice;
use smallstep::theorem::known::Explained;
use smallstep::theorem::probe::Unblamed;
use smallstep::theorem::quirk::Quirk;
use smallstep::theorem::{Lanes, Verdict};
use smallstep_semantics::lambda_v::parse::CODES;
use smallstep_semantics::lambda_v::step::Theorem;
use smallstep_semantics::rule::Rule;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Check the correctness theorem: type, reduce, translate, run the translation, draw it on devices,
/// and compare. Of Amber scripts: play them on the interpreter and on devices, judge their
/// expectations, and compare every buffer. Of WSL programs: validate them, check their derivations
/// again, and run their functions and entry points on both engines.
#[derive(Args)]
pub(crate) struct Check {
    /// λV and WSL programs, Amber scripts, folders of them (searched for .lv, .wsl, .whlsl and
    /// .amber files), or - for standard input.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: input::Reading,
    /// Devices: auto (all there are), none, required (all, at least one), or an adapter's name or
    /// index; may be repeated.
    #[arg(long, default_value = "auto")]
    device: Vec<String>,
    /// How words reach a device: passthrough or naga.
    #[arg(long, value_parser = super::route)]
    route: Option<Route>,
    /// Have this compiler, as compare --via names it, rewrite the modules of λV and WSL programs,
    /// and compare what they show then with what the program means. May be given several times.
    #[arg(long, value_name = "COMPILER")]
    via: Vec<String>,
    #[command(flatten)]
    judged: Judged,
    #[command(flatten)]
    uniformity: super::uniformity::Strictness,
    /// The most steps of the source on one pixel, 200000 if not given; of Amber scripts, the most
    /// instructions of a RUN; of WSL programs, the most steps of one call, dispatch or draw by the
    /// relation, and iterations and calls by the machine.
    #[arg(long)]
    fuel: Option<u64>,
    #[command(flatten)]
    time: TimeArgs,
    /// I/N: only every Nth file, from file I (from 0) on.
    #[arg(long, value_parser = super::campaign::shard, default_value = "0/1")]
    shard: (u64, u64),
    /// On how many threads Amber scripts are played where no device takes part; 0 is one for each
    /// core. The output is in the order of the files.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// The verdict that every program must have: agree, disagree, vacuous, undecided, unchecked,
    /// failed, of scripts also undefined and unsupported, or an error's code as 'invalid[lv/t-if]'.
    #[arg(long, value_parser = expected)]
    expect: Option<String>,
    /// A folder of known disagreements with devices: of λV programs (spec-tests/quirks) or of WSL
    /// programs (spec-tests/quirks-wsl). May be given several times. A disagreement is known if,
    /// made minimal, it is one of them that the device still shows; then it does not make the
    /// exit code 1. See `smallstep fuzz --help`.
    #[arg(long, value_name = "DIR")]
    known: Vec<PathBuf>,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// How many invocations a subgroup has in Amber scripts that do not say: a power of two up to
    /// 128. Without it, that of the devices, or else several.
    #[arg(long, value_name = "N", value_parser = smallstep::compute::carried::subgroup_size)]
    subgroup_size: Option<u32>,
    #[command(flatten)]
    script: ScriptArgs,
}

/// How programs are judged, shared by several commands.
#[derive(Args)]
pub(crate) struct Judged {
    /// Pixels: width x height.
    #[arg(long, value_parser = input::size, default_value = "4x4")]
    pub(crate) size: (u32, u32),
    /// The theorem: corrected, or printed (which is false: see LV-5 in ERRATA.md).
    #[arg(long, value_parser = theorem, default_value = "corrected")]
    pub(crate) theorem: Theorem,
    /// Constants: module, or opaque (read from a buffer, so that nothing folds).
    #[arg(long, value_parser = constants, default_value = "module")]
    pub(crate) constants: Constants,
    /// What modules of λV programs declare and devices are held to: strict, declared (all that the
    /// adapter lets a module declare), vulkan-default or wgsl; strict, or wgsl on naga's route, if
    /// not given.
    #[arg(long)]
    pub(crate) profile: Option<Choice>,
}

/// Reads `--expect`.
fn expected(text: &str) -> Result<String, String> {
    let code = text.strip_prefix("invalid[").and_then(|rest| rest.strip_suffix(']'));
    let is_rule = |code: &str| (code.starts_with("lv/") || code.starts_with("wsl/")) && Rule::from_name(code).is_some();
    let is_code = |code: &str| is_rule(code) || CODES.contains(&code);
    match NAMES.contains(&text) || code.is_some_and(is_code) || text.starts_with("disagree (known: ") {
        true => Ok(text.into()),
        false => Err(format!("no program ends as \"{text}\"; there are {}, and an error's code as invalid[lv/t-if]", NAMES.join(", "))),
    }
}

fn theorem(text: &str) -> Result<Theorem, String> {
    match text {
        "corrected" => Ok(Theorem::Corrected),
        "printed" => Ok(Theorem::Printed),
        _ => Err(format!("no theorem is called \"{text}\"; there are corrected and printed")),
    }
}

pub(super) fn constants(text: &str) -> Result<Constants, String> {
    match text {
        "module" => Ok(Constants::InModule),
        "opaque" => Ok(Constants::Opaque),
        _ => Err(format!("constants are not placed in \"{text}\"; there are module and opaque")),
    }
}

/// Reads `--device`.
pub(crate) fn devices(texts: &[String]) -> Devices {
    match texts {
        [one] if one == "auto" => Devices::Auto,
        [one] if one == "none" => Devices::None,
        [one] if one == "required" => Devices::Required,
        names => Devices::Named(names.iter().map(|n| n.parse().unwrap_or_else(|never| match never {})).collect()),
    }
}

/// The number of programs by verdict, for one leg or for all.
#[derive(Default)]
struct Counts {
    programs: [u64; 11],
    lanes: Lanes,
    /// The bytes of scripts' buffers.
    bytes: Lanes,
    /// The known disagreements. `programs` does not include them.
    known: Explained,
}

const NAMES: [&str; 11] =
    ["agree", "disagree", "vacuous", "undecided", "unchecked", "failed", "invalid", "undefined", "unsupported", "valid", "refused"];

/// The index of "valid" among the names. Only WSL programs have this verdict.
const VALID: usize = 9;

impl Counts {
    fn count(&mut self, name: &str, lanes: Lanes, known: Option<String>) {
        match NAMES.iter().position(|n| *n == name) {
            Some(i) if known.is_none() => self.programs[i] += 1,
            _ => self.known.count(known),
        }
        self.lanes += lanes;
    }

    /// Counts a leg of a script.
    fn count_script(&mut self, leg: &amber::Leg) {
        self.count(leg.verdict.name(), Lanes::default(), None);
        self.bytes += Lanes { checked: leg.compared.bytes, undecided: leg.compared.left };
    }

    /// Whether nothing was counted.
    fn is_empty(&self) -> bool {
        self.programs == [0; 11] && self.known.all() == 0
    }

    fn text(&self) -> String {
        if self.programs[VALID] > 0 {
            let others = NAMES.iter().zip(self.programs).filter(|(name, n)| *n > 0 && **name != "valid");
            return std::iter::once(format!("{} valid", self.programs[VALID]))
                .chain(others.map(|(name, n)| format!("{n} {name}")))
                .collect::<Vec<_>>()
                .join(", ");
        }
        // Failures and invalid programs are rare, so they are omitted if there are none. The
        // verdicts are always shown.
        let shown = NAMES.iter().zip(self.programs).enumerate().filter(|(i, (_, n))| *i < 5 || *n > 0);
        let mut counts: Vec<String> = shown.map(|(_, (name, n))| format!("{n} {name}")).collect();
        if self.known.all() > 0 {
            counts.insert(2, self.known.to_string());
        }
        let bytes = match self.bytes {
            Lanes { checked: 0, undecided: 0 } => String::new(),
            Lanes { checked, undecided } => format!("; {checked} bytes checked, {undecided} undecided"),
        };
        format!("{}; {} lanes checked, {} undecided{bytes}", counts.join(", "), self.lanes.checked, self.lanes.undecided)
    }

    fn json(&self) -> serde_json::Value {
        let mut object: serde_json::Map<_, _> = NAMES.iter().zip(self.programs).map(|(n, c)| (n.to_string(), json!(c))).collect();
        object.insert("known".into(), json!(self.known.by_name));
        object.insert("lanes".into(), json!({"checked": self.lanes.checked, "undecided": self.lanes.undecided}));
        object.insert("bytes".into(), json!({"checked": self.bytes.checked, "undecided": self.bytes.undecided}));
        object.into()
    }
}

impl Check {
    pub(crate) fn run(self) -> Ended {
        let (files, left_out) = match collect(&self.paths) {
            Ok(collected) => collected,
            Err(e) => return input::fail(exit::INVALID, &e.what),
        };
        let (shard, shards) = self.shard;
        let files: Vec<PathBuf> = files.into_iter().zip(0u64..).filter(|(_, n)| n % shards == shard).map(|(file, _)| file).collect();
        let settings = Settings {
            size: self.judged.size,
            theorem: self.judged.theorem,
            constants: self.judged.constants,
            fuel: self.fuel.unwrap_or(200_000),
            ..Settings::default()
        };
        let (mut known, mut wsl_quirks) = (Vec::new(), Vec::new());
        for folder in &self.known {
            // A folder has quirks of one language, or of both.
            let has_wsl = has_file(folder, "wsl");
            let read = if has_wsl { theorem::wsl::Quirk::read_folder(folder).map(|quirks| wsl_quirks.extend(quirks)) } else { Ok(()) };
            let read = match read {
                Ok(()) if !has_wsl || has_file(folder, "lv") => Quirk::read_folder(folder).map(|quirks| known.extend(quirks)),
                other => other,
            };
            if let Err(e) = read {
                return input::fail(exit::INVALID, &e.what);
            }
        }
        let mut wsl_quirks = wsl::Quirks::new(wsl_quirks);
        let devices = devices(&self.device);
        let asked_for = devices.asked_for();
        let options = Options {
            settings,
            time: self.time.time_limit,
            profile: self.judged.profile.unwrap_or_default(),
            devices,
            route: self.route,
            workers: gpu::Options::default(),
            known,
            compilers: super::compilers::compilers_named(&self.via, Duration::from_secs(60))?,
        };
        let compilers = options.compilers.clone();
        let mut by_compiler: Vec<BTreeMap<compilers::Status, u64>> = vec![BTreeMap::new(); compilers.len()];
        let mut checker = match Checker::open(options) {
            Ok(checker) => checker,
            Err(e) => return input::fail(exit::UNCHECKED, &e.to_string()),
        };

        let mut code = exit::DONE;
        let mut all = Counts::default();
        let mut legs: Vec<(String, Counts)> =
            ["semantics".to_string(), "interpreter".into()].into_iter().chain(checker.devices()).map(|n| (n, Counts::default())).collect();
        let mut validation = Counts::default();
        let mut unexpected = 0u64;
        let background = BackgroundScripts::of(&files, checker.devices().is_empty());
        std::thread::scope(|scope| {
            for _ in 0..background.threads(self.threads) {
                scope.spawn(|| background.work(&self, &files));
            }
            for (place, path) in files.iter().enumerate() {
                let name = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
                let read = input::bytes(path)
                    .map_err(|e| (exit::INVALID, format!("error: {e}")))
                    .and_then(|bytes| self.reading.read(&name, &bytes));
                let program = read.as_ref().ok();
                let text_in = |language: Language| program.filter(|program| program.language == language).map(Program::text);
                if let Some(text) = text_in(Language::Amber) {
                    let check_now = || {
                        amber::check(
                            &self.script,
                            self.reading.environment(),
                            (self.time.budget(self.fuel), self.subgroup_size),
                            &name,
                            text,
                            checker.devices_mut().collect(),
                        )
                    };
                    let checked = background.take(place).unwrap_or_else(check_now);
                    let word = checked.word();
                    all.count(word, Lanes::default(), None);
                    if let amber::Checked::Legs(judged) = &checked {
                        for leg in judged {
                            if let Some((_, counts)) = legs.iter_mut().find(|(n, _)| *n == leg.name) {
                                counts.count_script(leg);
                            }
                        }
                    }
                    unexpected += u64::from(self.expect.as_ref().is_some_and(|e| *e != word));
                    code = exit::worse(code, checked.code(asked_for));
                    if self.json {
                        say!("{}", checked.json(&name));
                    } else {
                        checked.print(&name);
                    }
                    continue;
                }
                if let Some(text) = text_in(Language::Wsl) {
                    let budget = self.time.budget(self.fuel);
                    let devices = (checker.devices_by_profile(), &mut wsl_quirks);
                    let checked = wsl::check(&name, text, &self.uniformity, budget, &compilers, devices);
                    for (device, counts, known) in checked.by_device() {
                        if let Some((_, all)) = legs.iter_mut().find(|(name, _)| *name == device) {
                            let worst =
                                ["disagree", "failed", "undecided", "unchecked", "agree"].into_iter().find(|word| counts.of(word) > 0);
                            all.count(worst.unwrap_or(checked.nothing_ran()), counts.lanes, known);
                        }
                    }
                    for (counts, more) in by_compiler.iter_mut().zip(checked.by_compiler()) {
                        more.into_iter().for_each(|(verdict, n)| *counts.entry(verdict).or_default() += n);
                    }
                    let known = checked.known();
                    all.count(checked.word(), Lanes::default(), known.clone());
                    validation.count(checked.word(), Lanes::default(), known);
                    let found = checked.found();
                    let matches =
                        |e: &String| *e == checked.word() || *e == found || checked.codes().any(|code| *e == format!("invalid[{code}]"));
                    unexpected += u64::from(self.expect.as_ref().is_some_and(|e| !matches(e)));
                    code = exit::worse(code, checked.code(asked_for));
                    if self.json {
                        say!("{}", checked.json(&name));
                    } else {
                        checked.print(&name);
                    }
                    continue;
                }
                let checked = match &read {
                    Ok(program) if program.is_module() => {
                        let what = "this is a SPIR-V module, and the theorem is about λV programs";
                        Checked::Invalid { diagnostic: None, text: format!("error: {name}: {what}; `smallstep run {name}` runs it\n") }
                    }
                    Ok(program) => checker.check(&name, program.text()),
                    Err((_, text)) => Checked::Invalid { diagnostic: None, text: format!("{text}\n") },
                };
                let verdict = checked.verdict();
                let word = verdict.as_ref().map_or("invalid", Verdict::name);
                let known = checked.known();
                all.count(word, Lanes::default(), known.clone());
                if let Checked::Judged { legs: judged, .. } = &checked {
                    for leg in judged {
                        if let Some((_, counts)) = legs.iter_mut().find(|(n, _)| *n == leg.name) {
                            counts.count(leg.verdict.name(), leg.lanes, leg.known.clone());
                        }
                        let compiler_index = compilers.iter().position(|compiler| compiler.name() == leg.name);
                        if let (Some(verdict), Some(compiler_index)) = (leg.compiled, compiler_index) {
                            *by_compiler[compiler_index].entry(verdict).or_default() += 1;
                        }
                    }
                }
                let found = match (checked.code(), &known) {
                    (Some(code), _) => format!("invalid[{code}]"),
                    (None, Some(name)) => format!("disagree (known: {name})"),
                    (None, None) => word.to_string(),
                };
                unexpected += u64::from(self.expect.as_ref().is_some_and(|e| *e != found && *e != word));
                code = exit::worse(code, file_code(&checked, asked_for));
                if self.json {
                    say!("{}", file_json(&name, &found, &checked));
                } else {
                    print_file(&name, &found, &checked);
                }
            }
        });
        legs.push(("validation".into(), validation));
        let unrepeated: u64 = checker.devices_mut().map(|device| device.unrepeated()).sum();
        let vacuous = !files.is_empty() && all.programs[2] as usize == files.len();
        if vacuous {
            code = exit::worse(code, exit::UNCHECKED);
        }
        if self.expect.is_some() {
            code = if unexpected == 0 { exit::DONE } else { exit::DISAGREE };
        }
        if self.json {
            let legs: serde_json::Map<_, _> = legs.iter().map(|(n, c)| (n.clone(), c.json())).collect();
            let no_device = checker.missing.clone();
            let of_compiler =
                |(compiler, counts): (&Compiler, &BTreeMap<compilers::Status, u64>)| super::compilers::counts_json(compiler, counts);
            let compilers: Vec<_> = compilers.iter().zip(&by_compiler).map(of_compiler).collect();
            let summary = json!({"schema": 1, "kind": "summary", "compilers": compilers, "programs": files.len(), "verdicts": all.json(), "legs": legs, "no_device": no_device, "left_out": left_out, "unrepeated_worker_failures": unrepeated, "exit": code});
            say!("{summary}");
        } else {
            say!("");
            for (name, counts) in legs.iter().filter(|(_, counts)| !counts.is_empty()) {
                say!("{name}: {}", counts.text());
            }
            for (compiler, counts) in compilers.iter().zip(&by_compiler) {
                say!("via {}: {}", compiler.name(), super::compilers::counts_text(counts));
            }
            say_unrepeated(Some(unrepeated));
            say!("{} programs", files.len());
        }
        if let Some(first) = left_out.first() {
            let more = if left_out.len() > 1 { format!(" and {} more", left_out.len() - 1) } else { String::new() };
            tell!(
                "left out: {}{more}: the theorem is not about SPIR-V and WGSL modules; `smallstep run` and `compare` take them",
                first.display()
            );
        }
        if let Some(why) = &checker.missing {
            tell!("unchecked on devices: {why}");
        }
        if unexpected > 0 {
            let expected = self.expect.as_deref().unwrap_or_default();
            tell!("{unexpected} of {} programs did not end as \"{expected}\"", files.len());
        }
        Ok(code)
    }
}

/// Whether a folder has a file with that extension.
fn has_file(folder: &Path, ending: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|e| e == ending))
}

/// The two ends of a channel for the result of a script. The thread that plays the script takes
/// the sender.
type ResultChannel = (Mutex<Option<Sender<amber::Checked>>>, Mutex<Receiver<amber::Checked>>);

/// Amber scripts that other threads play, each as soon as a thread is free.
struct BackgroundScripts {
    /// The channels by file. `None` for a file that is played in its turn.
    scripts: Vec<Option<ResultChannel>>,
    /// The index of the next file.
    next: AtomicUsize,
}

impl BackgroundScripts {
    /// The files that are scripts by their names. There are none if devices take part, since these
    /// play one script at a time.
    fn of(files: &[PathBuf], enabled: bool) -> BackgroundScripts {
        let is_script = |file: &PathBuf| file.to_str().is_some_and(|name| Language::of_name(name) == Some(Language::Amber));
        let script = |file: &PathBuf| {
            (enabled && is_script(file)).then(|| {
                let (sender, receiver) = channel();
                (Mutex::new(Some(sender)), Mutex::new(receiver))
            })
        };
        BackgroundScripts { scripts: files.iter().map(script).collect(), next: AtomicUsize::new(0) }
    }

    /// The number of further threads that have work, for this requested number of threads.
    fn threads(&self, asked_for: usize) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let scripts = self.scripts.iter().flatten().count();
        scripts.min(if asked_for == 0 { cores } else { asked_for }).saturating_sub(1)
    }

    /// Plays scripts until none is left.
    fn work(&self, check: &Check, files: &[PathBuf]) {
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(script) = self.scripts.get(place) else { return };
            let Some((sender, _)) = script else { continue };
            let Some(sender) = sender.lock().ok().and_then(|mut sender| sender.take()) else { continue };
            let name = files[place].display().to_string();
            let read = input::bytes(&files[place]).ok().and_then(|bytes| check.reading.read(&name, &bytes).ok());
            if let Some(program) = read.filter(|program| program.language == Language::Amber) {
                // The receiver lives until the whole command ends.
                let _ = sender.send(amber::check(
                    &check.script,
                    check.reading.environment(),
                    (check.time.budget(check.fuel), check.subgroup_size),
                    &name,
                    program.text(),
                    Vec::new(),
                ));
            }
        }
    }

    /// Waits for the result of a file's script. `None` if no thread plays it.
    fn take(&self, place: usize) -> Option<amber::Checked> {
        let (sender, receiver) = self.scripts[place].as_ref()?;
        // If no thread has begun the script, the caller plays it.
        drop(sender.lock().ok()?.take());
        receiver.lock().ok()?.recv().ok()
    }
}

fn file_code(checked: &Checked, asked_for: bool) -> u8 {
    match checked {
        Checked::Invalid { .. } => exit::INVALID,
        Checked::Judged { legs, .. } => {
            let counts = |leg: &&Leg| !leg.device || asked_for || matches!(leg.verdict, Verdict::Disagree(_) | Verdict::Failed(_));
            // One vacuous program among others is no fault. If all are vacuous, the caller
            // reports it.
            let code_of = |l: &Leg| l.compiled.map_or_else(|| l.verdict.code(), super::compilers::code);
            let is_fault = |l: &Leg| !matches!(l.verdict, Verdict::Vacuous(_)) && l.known.is_none();
            legs.iter().filter(counts).map(|l| if is_fault(l) { code_of(l) } else { exit::DONE }).fold(exit::DONE, exit::worse)
        }
    }
}

fn print_file(name: &str, found: &str, checked: &Checked) {
    match checked {
        Checked::Invalid { text, .. } => say_part!("invalid    {name}\n{text}"),
        Checked::Judged { legs, source, .. } => {
            let lanes: Vec<String> = legs.iter().map(leg_text).collect();
            say!("{found:<10} {name}: {}", lanes.join("; "));
            for leg in legs.iter().filter(|l| l.verdict != Verdict::Agree) {
                let word = leg.compiled.map_or(String::new(), |verdict| format!("{}: ", verdict.name()));
                say!("  {}: {word}{}", leg.name, leg.verdict.why());
                for minimal in &leg.minimal {
                    say!("  minimal: {minimal}");
                }
            }
            if let Some(blame) = checked.blame() {
                let (line, column) = smallstep_semantics::lambda_v::syntax::line_column(source, blame.span.start);
                say!("  first differing subexpression at {line}:{column}: {blame}");
            } else if let Some(unblamed) = checked.unblamed() {
                say!("  {unblamed}");
            }
        }
    }
}

fn leg_text(leg: &Leg) -> String {
    match &leg.verdict {
        Verdict::Agree => format!("{} under {} {} lanes", leg.name, leg.profile, leg.lanes.checked),
        Verdict::Undecided(_) => {
            format!("{} under {} {} lanes, {} undecided", leg.name, leg.profile, leg.lanes.checked, leg.lanes.undecided)
        }
        other => match &leg.known {
            Some(known) => format!("{} under {} {} (known: {known})", leg.name, leg.profile, other.name()),
            None => format!("{} under {} {}", leg.name, leg.profile, other.name()),
        },
    }
}

fn file_json(name: &str, found: &str, checked: &Checked) -> serde_json::Value {
    let known = checked.known();
    let verdict = if known.is_some() { "disagree" } else { found };
    let mut object = json!({"schema": 1, "kind": "program", "file": name, "verdict": verdict, "known": known});
    match checked {
        Checked::Invalid { diagnostic, text } => {
            object["error"] = match diagnostic {
                Some(d) => json!({"code": d.code, "message": d.message, "span": [d.span.start, d.span.end]}),
                None => json!({"message": text.trim_end()}),
            };
        }
        Checked::Judged { legs, steps, referenced, .. } => {
            let leg = |l: &Leg| json!({"name": l.name, "profile": l.profile.to_string(), "verdict": l.verdict.name(), "compiler": l.compiled.map(compilers::Status::name), "known": l.known, "minimal": l.minimal, "why": l.verdict.why(), "lanes": {"checked": l.lanes.checked, "undecided": l.lanes.undecided}});
            object["legs"] = legs.iter().map(leg).collect();
            object["steps"] = json!(steps);
            object["pixels_by_relations"] = json!(referenced);
            if let Some(b) = checked.blame() {
                object["blame"] = json!({"expression": b.expression, "span": [b.span.start, b.span.end], "id": b.id, "rule": b.rule.name(), "instruction": b.instruction, "step": b.step, "occurrence": b.occurrence, "dispatches": b.dispatches, "expected": b.expected, "found": b.found});
            }
            if let Some(unblamed) = checked.unblamed() {
                let kind = match unblamed {
                    Unblamed::Vanishes { .. } => "vanishes under observation",
                    _ => "unknown",
                };
                object["unblamed"] = json!({"kind": kind, "why": unblamed.to_string()});
            }
        }
    }
    object
}

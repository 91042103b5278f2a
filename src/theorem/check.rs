//! `smallstep check`: the theorem for programs in files.

use super::blame::Blame;
use super::case::{Case, NoCase, Ran, Settings};
use super::compilers::{self, Compiler};
use super::device::{Awaited, Choice, UnderTest};
use super::known::Known;
use super::probe::Unblamed;
use super::quirk::Quirk;
use super::reduce::{self, Minimal};
use super::{Lanes, Verdict};
use crate::diagnostic::Diagnostic;
use crate::dispatch::Dispatch;
use crate::gpu::{self, Device, NoDevice, Route, Selection};
use crate::program::Language;
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::{InputFault, InvalidInput, TimeLimit};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Which devices take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// All that are there; that there is none is only said.
    Auto,
    /// None.
    None,
    /// All that are there, at least one.
    Required,
    /// These.
    Named(Vec<Selection>),
}

impl Devices {
    /// Whether the user asked for a device, so that what it could not check counts.
    pub fn asked_for(&self) -> bool {
        matches!(self, Devices::Required | Devices::Named(_))
    }
}

/// How files are checked.
#[derive(Clone)]
pub struct Options {
    /// How a program is judged; the profile is what is chosen, on each device.
    pub settings: Settings,
    /// How long the interpreters may take for each program, if that is bounded.
    pub time: Option<Duration>,
    /// The profile. The semantics are compared under it too, or under the strict one where it is
    /// each adapter's.
    pub profile: Choice,
    /// The devices.
    pub devices: Devices,
    /// The route; the best of each device if none is named.
    pub route: Option<Route>,
    /// How workers are run.
    pub workers: gpu::Options,
    /// What is known to be wrong with devices: a disagreement with one is made minimal, and looked
    /// for there.
    pub known: Vec<Quirk>,
    /// Compilers that modules go through; what they show then is compared as a device's is.
    pub compilers: Vec<Compiler>,
}

/// No device and no compiler.
impl Default for Options {
    fn default() -> Options {
        Options {
            settings: Settings::default(),
            time: None,
            profile: Choice::default(),
            devices: Devices::None,
            route: None,
            workers: gpu::Options::default(),
            known: Vec::new(),
            compilers: Vec::new(),
        }
    }
}

/// One comparison of a program: the semantics with each other, or with one device.
#[derive(Clone, Debug)]
pub struct Leg {
    /// "semantics", the device and its route, or the compiler.
    pub name: String,
    /// Whether it is a device's.
    pub device: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict on the compiler, if it is a compiler's.
    pub compiled: Option<compilers::Status>,
    /// The profile that it was judged under.
    pub profile: Profile,
    /// The lanes that were compared and that were left alone.
    pub lanes: Lanes,
    /// The quirks that a disagreement comes from, if
    /// it is known ([`Explanation::all`](super::known::Explanation)).
    pub known: Option<String>,
    /// Where known disagreements were asked for: the minimal program
    /// of each fault ([`reduce::minimal`]).
    pub minimal: Vec<String>,
}

/// What became of one file.
#[derive(Clone, Debug)]
pub enum Checked {
    /// It is no well-typed program, or cannot be read.
    Invalid {
        /// What is wrong.
        diagnostic: Option<Diagnostic>,
        /// The same rendered with its line; or why the file cannot be read.
        text: String,
    },
    /// It was judged.
    Judged {
        /// The comparisons, the semantics' first.
        legs: Vec<Leg>,
        /// The source's text, for places.
        source: String,
        /// The steps of the source.
        steps: u64,
        /// Pixels on which the relations were run beside the machines.
        referenced: u64,
    },
}

impl Checked {
    /// The worst of its verdicts; none if it is invalid.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Checked::Invalid { .. } => None,
            Checked::Judged { legs, .. } => legs.iter().map(|l| l.verdict.clone()).reduce(Verdict::worse),
        }
    }

    /// The code of what is wrong with an invalid program.
    pub fn code(&self) -> Option<&str> {
        match self {
            Checked::Invalid { diagnostic, .. } => diagnostic.as_ref().map(|d| d.code.as_str()),
            Checked::Judged { .. } => None,
        }
    }

    /// The quirks that its disagreements come from, if it has any and they are all known.
    pub fn known(&self) -> Option<String> {
        let Checked::Judged { legs, .. } = self else { return None };
        let disagreeing = legs.iter().filter(|leg| matches!(leg.verdict, Verdict::Disagree(_)));
        let mut names = disagreeing.map(|leg| leg.known.as_deref()).collect::<Option<Vec<&str>>>()?;
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" and "))
    }

    /// Why its first disagreement with a device has no blame, where it was searched for.
    pub fn unblamed(&self) -> Option<&Unblamed> {
        match self {
            Checked::Invalid { .. } => None,
            Checked::Judged { legs, .. } => legs.iter().find_map(|l| match &l.verdict {
                Verdict::Disagree(d) => d.unblamed.as_ref(),
                _ => None,
            }),
        }
    }

    /// The blame of its first disagreement.
    pub fn blame(&self) -> Option<&Blame> {
        match self {
            Checked::Invalid { .. } => None,
            Checked::Judged { legs, .. } => legs.iter().find_map(|l| match &l.verdict {
                Verdict::Disagree(d) => d.blame.as_ref(),
                _ => None,
            }),
        }
    }
}

/// An open device.
struct Opened {
    device: Device,
    profile: Profile,
    /// The quirks that it shows, once they were asked for.
    known: Option<Known>,
}

/// The devices that are open, and what could not be opened.
pub struct Checker {
    options: Options,
    devices: Vec<Opened>,
    /// Why there is no device, or fewer than asked for.
    pub missing: Option<String>,
}

impl Checker {
    /// Compares the interpreters with each other, and asks no device.
    pub fn of_interpreters() -> Checker {
        Checker { options: Options::default(), devices: Vec::new(), missing: None }
    }

    /// Opens the devices. An error only if one was asked for.
    pub fn open(options: Options) -> Result<Checker, NoDevice> {
        let mut checker = Checker { options, devices: Vec::new(), missing: None };
        let selections = match &checker.options.devices {
            Devices::None => Vec::new(),
            Devices::Named(selections) => selections.clone(),
            Devices::Auto | Devices::Required => match gpu::list(&checker.options.workers) {
                Ok(adapters) => adapters.iter().map(|a| Selection::Index(a.index)).collect(),
                Err(why) => {
                    checker.missing = Some(why.to_string());
                    Vec::new()
                }
            },
        };
        if selections.is_empty() && checker.options.devices != Devices::None {
            let none = NoDevice(checker.missing.take().unwrap_or_else(|| gpu::NO_ADAPTER.into()));
            match checker.options.devices {
                Devices::Auto => checker.missing = Some(none.to_string()),
                _ => return Err(none),
            }
        }
        for selection in &selections {
            let opened = Device::open(selection, checker.options.route, checker.options.workers.clone()).and_then(|device| {
                let profile = checker
                    .options
                    .profile
                    .of_programs(device.adapter().float_controls, device.route())
                    .map_err(|why| NoDevice(why.to_string()))?;
                Ok(Opened { device, profile, known: None })
            });
            match opened {
                Ok(opened) => checker.devices.push(opened),
                Err(why) if checker.options.devices == Devices::Auto => checker.missing = Some(why.to_string()),
                Err(why) => return Err(why),
            }
        }
        Ok(checker)
    }

    /// The devices' names with their routes.
    pub fn devices(&self) -> Vec<String> {
        self.devices.iter().map(|opened| format!("{} ({})", opened.device.adapter().name, opened.device.route())).collect()
    }

    /// The devices with the profiles that programs are held to on them.
    pub fn devices_by_profile(&mut self) -> impl Iterator<Item = (&mut Device, Profile)> {
        self.devices.iter_mut().map(|opened| (&mut opened.device, opened.profile))
    }

    /// The devices themselves.
    pub fn devices_mut(&mut self) -> impl Iterator<Item = &mut Device> {
        self.devices.iter_mut().map(|opened| &mut opened.device)
    }

    /// Checks one program. `name` stands for it in messages.
    pub fn check(&mut self, name: &str, source: &str) -> Checked {
        let program = match Program::read(source) {
            Ok(program) => program,
            Err(e) => return invalid(e.into(), name, source),
        };
        let profile = self.options.profile.alone().unwrap_or(Profile::Strict);
        let time = self.options.time.and_then(TimeLimit::from_now);
        let settings = Settings { profile, time, ..self.options.settings.clone() };
        let case = match Case::new(program.clone(), &settings) {
            Ok(case) => case,
            Err(NoCase::IllTyped(e)) => return invalid(e.into(), name, source),
            Err(NoCase::Decided(verdict)) => return judged(vec![leg("semantics".into(), false, verdict, profile)], source, 0, 0),
        };
        let ran = case.run(&settings);
        let components: Vec<u32> = case.translated.outputs.iter().map(|t| t.components).collect();
        let mut semantics = leg("semantics".into(), false, ran.verdict.clone(), profile);
        semantics.lanes.checked =
            u64::from(settings.size.0) * u64::from(settings.size.1) * components.iter().map(|&c| u64::from(c)).sum::<u64>();
        if ran.verdict != Verdict::Agree {
            semantics.lanes = Lanes::default();
        }
        let mut legs = vec![semantics];
        let (steps, referenced) = (ran.steps, ran.referenced);
        if ran.verdict == Verdict::Agree {
            for Opened { device, profile, known } in &mut self.devices {
                let in_profile = *profile == settings.profile;
                let settings = Settings { profile: *profile, references: false, ..settings.clone() };
                let mut device = UnderTest::from(device);
                // Another profile has another module; the same one is the one that ran.
                let mut leg = match in_profile {
                    true => drawn(&mut device, &case, &ran, &settings),
                    false => on_device(&mut device, &program, &settings),
                };
                if matches!(leg.verdict, Verdict::Disagree(_)) && !self.options.known.is_empty() {
                    let settings = settings.untimed();
                    let known = known.get_or_insert_with(|| Known::on(&mut device, &self.options.known, &settings));
                    let faults = if known.is_empty() { Vec::new() } else { faults(&mut device, source, &settings) };
                    leg.known = known.explain(&faults, &mut device).all;
                    leg.minimal = faults.iter().map(|fault| fault.tree.print().trim_end().to_string()).collect();
                }
                legs.push(leg);
            }
            legs.extend(self.options.compilers.iter().map(|compiler| via(compiler, &program, &settings)));
        }
        judged(legs, source, steps, referenced)
    }
}

/// Checks a program on a device, with the module of the settings' profile. The program must agree
/// between the semantics.
pub fn on_device(device: &mut UnderTest<'_>, program: &Program, settings: &Settings) -> Leg {
    let (name, profile) = (device.name(), settings.profile);
    let settings = Settings { references: false, ..settings.clone() };
    let case = match Case::new(program.clone(), &settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => return leg(name, true, Verdict::Limit(e.message()), profile),
        Err(NoCase::Decided(verdict)) => return leg(name, true, verdict, profile),
    };
    let ran = case.run(&settings);
    drawn(device, &case, &ran, &settings)
}

/// Draws the module of a case on a device, and compares it with what the case showed when it ran.
fn drawn(device: &mut UnderTest<'_>, case: &Case, ran: &Ran, settings: &Settings) -> Leg {
    let (name, profile) = (device.name(), settings.profile);
    let Some(awaited) = Awaited::new(case, ran, settings.size.0) else { return leg(name, true, ran.verdict.clone(), profile) };
    let outcome = device.drawer.draw(case.dispatch(settings.size));
    let (mut verdict, lanes) = awaited.compare(&outcome, &name, device.route);
    if let Verdict::Disagree(difference) = &mut verdict {
        difference.search(case, &settings.untimed(), device.drawer);
    }
    Leg { lanes, ..leg(name, true, verdict, profile) }
}

/// Checks a program behind a compiler, with the module of the profile that the compiler takes. The
/// program must agree between the semantics.
fn via(compiler: &Compiler, program: &Program, settings: &Settings) -> Leg {
    let (name, profile) = (compiler.name().to_string(), compilers::profile(compiler));
    let settings = Settings { profile, references: false, ..settings.clone() };
    let of = |verdict: Verdict, lanes| {
        let compiled = Some(compilers::Status::of_program(&verdict));
        Leg { lanes, compiled, ..leg(name.clone(), false, verdict, profile) }
    };
    let case = match Case::new(program.clone(), &settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => return of(Verdict::Limit(e.message()), Lanes::default()),
        Err(NoCase::Decided(verdict)) => return of(verdict, Lanes::default()),
    };
    let ran = case.run(&settings);
    let Some(awaited) = Awaited::new(&case, &ran, settings.size.0) else { return of(ran.verdict.clone(), Lanes::default()) };
    let (verdict, lanes) = match compilers::shown(compiler, &Dispatch::Fragment(Arc::new(case.dispatch(settings.size)))) {
        Ok(outcome) => awaited.compare(&outcome, &name, Route::Passthrough),
        Err(wrong) => (wrong.on_program(compiler), Lanes::default()),
    };
    of(verdict, lanes)
}

/// The minimal programs of a program that a device disagrees on.
fn faults(device: &mut UnderTest<'_>, source: &str, settings: &Settings) -> Vec<Minimal> {
    parse(source).map_or_else(|_| Vec::new(), |tree| reduce::minimal(&tree, settings, Some(device.again())))
}

fn leg(name: String, device: bool, verdict: Verdict, profile: Profile) -> Leg {
    Leg { name, device, verdict, compiled: None, profile, lanes: Lanes::default(), known: None, minimal: Vec::new() }
}

fn judged(legs: Vec<Leg>, source: &str, steps: u64, referenced: u64) -> Checked {
    Checked::Judged { legs, source: source.into(), steps, referenced }
}

fn invalid(diagnostic: Diagnostic, name: &str, source: &str) -> Checked {
    let text = diagnostic.render(name, source);
    Checked::Invalid { diagnostic: Some(diagnostic), text }
}

/// The programs under these paths: files as they are, folders searched for λV and WSL programs
/// (`.lv`, `.wsl`) and Amber scripts (`.amber`), in order of their names.
///
/// Beside them, the SPIR-V and WGSL modules in these folders (`.spv`, `.spvasm`, `.wgsl`), which
/// are none of these.
///
/// Errors: a path that is not there or cannot be read, by name.
pub fn collect(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), InvalidInput> {
    let (mut files, mut modules) = (Vec::new(), Vec::new());
    for path in paths {
        if path.as_os_str() == "-" || path.is_file() {
            files.push(path.clone());
            continue;
        }
        if !path.is_dir() {
            let why = if path.exists() { "this is neither a file nor a folder" } else { "there is no such file or folder" };
            return Err(InvalidInput::new(InputFault::File, format!("{}: {why}", path.display())));
        }
        let before = files.len();
        folder(path, 0, (&mut files, &mut modules))?;
        if files.len() == before {
            return Err(InvalidInput::new(
                InputFault::File,
                format!("{}: the folder holds no .lv file, no .wsl or .whlsl file and no .amber script", path.display()),
            ));
        }
    }
    Ok((files, modules))
}

fn folder(path: &Path, depth: u32, (files, modules): (&mut Vec<PathBuf>, &mut Vec<PathBuf>)) -> Result<(), InvalidInput> {
    if depth > 32 {
        return Err(InvalidInput::new(InputFault::File, format!("{}: folders are nested more than 32 deep", path.display())));
    }
    let unreadable = |e: std::io::Error| InvalidInput::new(InputFault::File, format!("{}: {e}", path.display()));
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).map_err(unreadable)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>().map_err(unreadable)?;
    entries.sort();
    for entry in entries {
        // A link to a folder could lead back here.
        if entry.is_dir() && !entry.is_symlink() {
            folder(&entry, depth + 1, (&mut *files, &mut *modules))?;
        } else {
            match entry.file_name().and_then(|name| Language::of_name(name.to_str()?)) {
                Some(Language::LambdaV | Language::Wsl | Language::Amber) => files.push(entry),
                Some(Language::Words | Language::Assembly | Language::Wgsl) => modules.push(entry),
                None => {}
            }
        }
    }
    Ok(())
}

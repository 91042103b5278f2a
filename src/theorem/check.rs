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

/// The devices that take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// All present devices. If there is none, a message says so.
    Auto,
    /// None.
    None,
    /// All present devices, at least one.
    Required,
    /// These.
    Named(Vec<Selection>),
}

impl Devices {
    /// Whether the user asked for a device. Then a device that could not check counts as a failure.
    pub fn asked_for(&self) -> bool {
        matches!(self, Devices::Required | Devices::Named(_))
    }
}

/// The options of a check.
#[derive(Clone)]
pub struct Options {
    /// The settings by which a program is judged. The chosen profile replaces theirs, on
    /// each device.
    pub settings: Settings,
    /// The time limit of the interpreters for each program, if any.
    pub time: Option<Duration>,
    /// The profile. The semantics are compared under it too. If each adapter has its own, the
    /// semantics are compared under the strict profile.
    pub profile: Choice,
    /// The devices.
    pub devices: Devices,
    /// The route. `None`: the best route of each device.
    pub route: Option<Route>,
    /// The options of the workers.
    pub workers: gpu::Options,
    /// The known quirks of devices. A disagreement with a device is made minimal, and then compared
    /// with these quirks.
    pub known: Vec<Quirk>,
    /// Compilers of modules. What their output shows is compared like a device.
    pub compilers: Vec<Compiler>,
}

/// The default has no device and no compiler.
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

/// One comparison of a program: between the semantics, with one device, or with one compiler.
#[derive(Clone, Debug)]
pub struct Leg {
    /// "semantics", the device with its route, or the compiler.
    pub name: String,
    /// Whether it is a comparison with a device.
    pub device: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict on the compiler, in a comparison with a compiler.
    pub compiled: Option<compilers::Status>,
    /// The profile by which it was judged.
    pub profile: Profile,
    /// The numbers of compared and of undecided lanes.
    pub lanes: Lanes,
    /// The quirks that explain the disagreement, if it is known
    /// ([`Explanation::all`](super::known::Explanation)).
    pub known: Option<String>,
    /// The minimal program of each fault ([`reduce::minimal`]). Empty unless there are known quirks
    /// to compare with.
    pub minimal: Vec<String>,
}

/// The result for one file.
#[derive(Clone, Debug)]
pub enum Checked {
    /// It is no well-typed program, or it cannot be read.
    Invalid {
        /// The error, if the file can be read.
        diagnostic: Option<Diagnostic>,
        /// The error rendered with its line, or the reason why the file cannot be read.
        text: String,
    },
    /// It was judged.
    Judged {
        /// The comparisons. The first is between the semantics.
        legs: Vec<Leg>,
        /// The source text, for places in messages.
        source: String,
        /// The number of steps of the source.
        steps: u64,
        /// The number of pixels on which the relations ran beside the machines.
        referenced: u64,
    },
}

impl Checked {
    /// The worst verdict. `None` if the program is invalid.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Checked::Invalid { .. } => None,
            Checked::Judged { legs, .. } => legs.iter().map(|l| l.verdict.clone()).reduce(Verdict::worse),
        }
    }

    /// The code of the error in an invalid program.
    pub fn code(&self) -> Option<&str> {
        match self {
            Checked::Invalid { diagnostic, .. } => diagnostic.as_ref().map(|d| d.code.as_str()),
            Checked::Judged { .. } => None,
        }
    }

    /// The quirks that explain its disagreements. `None` if it has none, or if one of them is
    /// not known.
    pub fn known(&self) -> Option<String> {
        let Checked::Judged { legs, .. } = self else { return None };
        let disagreeing = legs.iter().filter(|leg| matches!(leg.verdict, Verdict::Disagree(_)));
        let mut names = disagreeing.map(|leg| leg.known.as_deref()).collect::<Option<Vec<&str>>>()?;
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" and "))
    }

    /// Why the search for the blame of a disagreement with a device failed, for the first
    /// such disagreement.
    pub fn unblamed(&self) -> Option<&Unblamed> {
        match self {
            Checked::Invalid { .. } => None,
            Checked::Judged { legs, .. } => legs.iter().find_map(|l| match &l.verdict {
                Verdict::Disagree(d) => d.unblamed.as_ref(),
                _ => None,
            }),
        }
    }

    /// The first blame of a disagreement.
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
struct OpenDevice {
    device: Device,
    profile: Profile,
    /// The quirks that the device shows, computed at the first disagreement.
    known: Option<Known>,
}

/// A check of programs: its options and its open devices.
pub struct Checker {
    options: Options,
    devices: Vec<OpenDevice>,
    /// Why there is no device, or fewer than were asked for.
    pub missing: Option<String>,
}

impl Checker {
    /// A check between the interpreters, without a device.
    pub fn of_interpreters() -> Checker {
        Checker { options: Options::default(), devices: Vec::new(), missing: None }
    }

    /// Opens the devices. Fails only if a device was asked for.
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
                Ok(OpenDevice { device, profile, known: None })
            });
            match opened {
                Ok(opened) => checker.devices.push(opened),
                Err(why) if checker.options.devices == Devices::Auto => checker.missing = Some(why.to_string()),
                Err(why) => return Err(why),
            }
        }
        Ok(checker)
    }

    /// The names of the devices with their routes.
    pub fn devices(&self) -> Vec<String> {
        self.devices.iter().map(|opened| format!("{} ({})", opened.device.adapter().name, opened.device.route())).collect()
    }

    /// The devices with the profiles by which programs are judged on them.
    pub fn devices_by_profile(&mut self) -> impl Iterator<Item = (&mut Device, Profile)> {
        self.devices.iter_mut().map(|opened| (&mut opened.device, opened.profile))
    }

    /// The devices.
    pub fn devices_mut(&mut self) -> impl Iterator<Item = &mut Device> {
        self.devices.iter_mut().map(|opened| &mut opened.device)
    }

    /// Checks one program. `name` is its name in messages.
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
            for OpenDevice { device, profile, known } in &mut self.devices {
                let same_profile = *profile == settings.profile;
                let settings = Settings { profile: *profile, references: false, ..settings.clone() };
                let mut device = UnderTest::from(device);
                // Another profile needs another module. For the same profile the module has
                // already run.
                let mut leg = match same_profile {
                    true => draw_and_compare(&mut device, &case, &ran, &settings),
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
            legs.extend(self.options.compilers.iter().map(|compiler| through_compiler(compiler, &program, &settings)));
        }
        judged(legs, source, steps, referenced)
    }
}

/// Checks a program on a device, with the module of the settings' profile. The semantics must agree
/// on the program.
pub fn on_device(device: &mut UnderTest<'_>, program: &Program, settings: &Settings) -> Leg {
    let (name, profile) = (device.name(), settings.profile);
    let settings = Settings { references: false, ..settings.clone() };
    let case = match Case::new(program.clone(), &settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => return leg(name, true, Verdict::Limit(e.message()), profile),
        Err(NoCase::Decided(verdict)) => return leg(name, true, verdict, profile),
    };
    let ran = case.run(&settings);
    draw_and_compare(device, &case, &ran, &settings)
}

/// Draws the module of a case on a device, and compares the result with the case's own run.
fn draw_and_compare(device: &mut UnderTest<'_>, case: &Case, ran: &Ran, settings: &Settings) -> Leg {
    let (name, profile) = (device.name(), settings.profile);
    let Some(awaited) = Awaited::new(case, ran, settings.size.0) else { return leg(name, true, ran.verdict.clone(), profile) };
    let outcome = device.drawer.draw(case.dispatch(settings.size));
    let (mut verdict, lanes) = awaited.compare(&outcome, &name, device.route);
    if let Verdict::Disagree(difference) = &mut verdict {
        difference.search(case, &settings.untimed(), device.drawer);
    }
    Leg { lanes, ..leg(name, true, verdict, profile) }
}

/// Checks a program through a compiler, with the module of the profile that the compiler takes. The
/// semantics must agree on the program.
fn through_compiler(compiler: &Compiler, program: &Program, settings: &Settings) -> Leg {
    let (name, profile) = (compiler.name().to_string(), compilers::profile(compiler));
    let settings = Settings { profile, references: false, ..settings.clone() };
    let leg_of = |verdict: Verdict, lanes| {
        let compiled = Some(compilers::Status::of_program(&verdict));
        Leg { lanes, compiled, ..leg(name.clone(), false, verdict, profile) }
    };
    let case = match Case::new(program.clone(), &settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => return leg_of(Verdict::Limit(e.message()), Lanes::default()),
        Err(NoCase::Decided(verdict)) => return leg_of(verdict, Lanes::default()),
    };
    let ran = case.run(&settings);
    let Some(awaited) = Awaited::new(&case, &ran, settings.size.0) else { return leg_of(ran.verdict.clone(), Lanes::default()) };
    let (verdict, lanes) = match compilers::shown(compiler, &Dispatch::Fragment(Arc::new(case.dispatch(settings.size)))) {
        Ok(outcome) => awaited.compare(&outcome, &name, Route::Passthrough),
        Err(failure) => (failure.on_program(compiler), Lanes::default()),
    };
    leg_of(verdict, lanes)
}

/// The minimal programs for each fault of a program that disagrees on a device.
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

/// The programs under these paths. Files are listed as given. Folders are searched for λV and WSL
/// programs (`.lv`, `.wsl`) and Amber scripts (`.amber`), in order of their names.
///
/// The second list has the SPIR-V and WGSL modules in these folders (`.spv`, `.spvasm`, `.wgsl`).
///
/// Errors: the name of a path that does not exist or cannot be read.
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
        // A link to a folder could make a cycle.
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

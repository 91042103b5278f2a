//! `smallstep precision`: the results of a device compared with the allowed results, function
//! by function.

use super::device::say_unrepeated;
use super::exit::Ended;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use smallstep::gpu::{self, Device, NoDevice, Route, Selection};
use smallstep::precision::{self, Function, Measured, Plan, Subject};
use smallstep::theorem::device::Choice;
use smallstep_semantics::number::Profile;

use super::{exit, input, output};

/// The number of worker processes for an adapter that is no software. The results of one are read
/// while another computes.
const WORKERS: usize = 4;

/// Measure the precision of a device's float functions, and check it against what
/// Vulkan or WGSL requires
#[derive(Args)]
pub(crate) struct Precision {
    /// The adapter: an index, part of the name, NAME#N for one of several, or
    /// nothing for the first.
    #[arg(long, visible_alias = "device", default_value = "")]
    adapter: Selection,
    /// How words reach the device: passthrough or naga; naga if the profile is wgsl, else
    /// passthrough, if not given.
    #[arg(long, value_parser = super::route)]
    route: Option<Route>,
    /// The functions, by name, as sin,fadd,dot3; may be repeated. All, if not given.
    #[arg(long, value_name = "F", value_delimiter = ',')]
    function: Vec<String>,
    /// Stratified inputs of each function: corner cases first, then random ones.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 40), conflicts_with = "exhaustive")]
    inputs: u64,
    /// All 2^32 inputs of functions of one number; 10 million stratified ones of others.
    #[arg(long)]
    exhaustive: bool,
    /// Where random inputs begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What modules declare and results are judged by: strict, declared (all that the adapter lets
    /// a module declare), vulkan-default or wgsl; strict, or wgsl on naga's route, if not given.
    #[arg(long)]
    profile: Option<Choice>,
    /// Write one JSON object a line to this file; - for standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a picture of each function's error, FUNCTION.svg, into this folder.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Worker processes for the device; 1 for a software adapter, else 4, if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Option<u32>,
    /// How long the device may take for one dispatch, as 60s.
    #[arg(long, value_parser = super::budget::time, default_value = "60s")]
    program_limit: Duration,
}

/// The number of inputs of functions of several numbers with `--exhaustive`.
const MANY: u64 = 10_000_000;

impl Precision {
    pub(crate) fn run(self) -> Ended {
        let functions = match self.functions() {
            Ok(functions) => functions,
            Err(name) => return input::fail(exit::INVALID, &format!("no function is called \"{name}\"; there are {}", all_names())),
        };
        if let Some(folder) = &self.plot
            && let Err(e) = std::fs::create_dir_all(folder)
        {
            return input::fail(exit::INVALID, &format!("{}: {e}", folder.display()));
        }
        let mut device = match self.open() {
            Ok(device) => device,
            Err(none) => {
                let labels: Vec<String> = functions.iter().map(Function::label).collect();
                let text = format!("unchecked: {none}\nunchecked: the precision of {}", labels.join(", "));
                return input::fail_with(exit::UNCHECKED, &text);
            }
        };
        let profile = match self.profile(&device) {
            Ok(profile) => profile,
            Err((code, why)) => return input::fail_with(code, &why),
        };
        let subject = Subject::new(device.adapter(), device.route(), profile);
        tell!("{subject}");
        let plan = Plan { inputs: if self.exhaustive { MANY } else { self.inputs }, exhaustive: self.exhaustive, seed: self.seed };
        let mut all = Vec::new();
        for function in &functions {
            let measured = measure(&mut device, function, profile, plan);
            if let Some(folder) = &self.plot {
                let file = folder.join(format!("{}.svg", function.label()));
                if let Err(e) = output::write(&file, precision::plot(&subject, &measured).as_bytes()) {
                    return input::fail(exit::FAILED, &e);
                }
            }
            all.push(measured);
            if let Some(file) = &self.json
                && file.as_os_str() != "-"
                && let Err(e) = write_json(file, &subject, &all)
            {
                return input::fail(exit::FAILED, &e);
            }
        }
        self.print(&subject, &all);
        if !self.prints_json() {
            say_unrepeated(Some(device.unrepeated()));
        }
        Ok(worst(&all))
    }

    /// Whether JSON goes to standard output.
    pub(crate) fn prints_json(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    fn functions(&self) -> Result<Vec<Function>, &str> {
        if self.function.is_empty() {
            return Ok(Function::all());
        }
        let mut functions = Vec::new();
        for name in &self.function {
            let named = Function::named(name);
            if named.is_empty() {
                return Err(name);
            }
            functions.extend(named.into_iter().filter(|f| !functions.contains(f)).collect::<Vec<_>>());
        }
        Ok(functions)
    }

    /// Opens the device. The kind of adapter is known only when it is open. A software adapter uses
    /// every core with one worker.
    fn open(&self) -> Result<Device, NoDevice> {
        let route = self.route.or((self.profile == Some(Choice::Wgsl)).then_some(Route::Naga));
        let workers = self.workers.map(|n| n as usize);
        let options =
            gpu::Options { program_limit: self.program_limit, workers: workers.unwrap_or(1), window: 2, ..gpu::Options::default() };
        let device = Device::open(&self.adapter, route, options.clone())?;
        if workers.is_some() || device.adapter().kind == "software" {
            return Ok(device);
        }
        drop(device);
        Device::open(&self.adapter, route, gpu::Options { workers: WORKERS, ..options })
    }

    fn profile(&self, device: &Device) -> Result<Profile, (u8, String)> {
        self.profile.unwrap_or_default().on(device.adapter().float_controls, device.route()).map_err(|why| super::device::no_profile(&why))
    }

    fn print(&self, subject: &Subject, all: &[Measured]) {
        if self.prints_json() {
            say_part!("{}", json_lines(subject, all));
            return;
        }
        say!("{subject}");
        say_part!("{}", precision::table(all));
        let corners = precision::corner_table(all);
        if !corners.is_empty() {
            say!("");
            say_part!("{corners}");
        }
        let count = |word: &str| all.iter().filter(|measured| measured.word() == word).count();
        say!(
            "{} functions: {} conform, {} outside, {} undecided, {} unchecked",
            all.len(),
            count("conforms"),
            count("outside"),
            count("undecided"),
            count("unchecked")
        );
    }
}

fn measure(device: &mut Device, function: &Function, profile: Profile, plan: Plan) -> Measured {
    let total = if plan.exhaustive && function.is_unary() { 1 << 32 } else { plan.inputs };
    let bar = super::progress(Some(total), "{msg} {wide_bar} {pos}/{len} {per_sec}");
    bar.set_message(function.label());
    let measured = precision::measure(device, function, profile, plan, &mut |n| bar.inc(n));
    bar.finish_and_clear();
    if plan.exhaustive {
        // A long run reports its progress.
        let (label, seconds) = (function.label(), measured.time.as_secs_f64());
        tell!("{label}: {} of {} inputs outside, {seconds:.1} s", measured.tally.outside, measured.tally.inputs);
    }
    measured
}

fn write_json(file: &Path, subject: &Subject, all: &[Measured]) -> Result<(), String> {
    output::write(file, json_lines(subject, all).as_bytes())
}

/// A line for each function, and a summary.
fn json_lines(subject: &Subject, all: &[Measured]) -> String {
    let mut values = precision::json(subject, all);
    if let Some(summary) = values.last_mut() {
        summary["exit"] = json!(worst(all));
    }
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn worst(all: &[Measured]) -> u8 {
    all.iter().map(|measured| measured.verdict().code()).fold(exit::DONE, exit::worse)
}

fn all_names() -> String {
    let mut names: Vec<&str> = Function::all().iter().map(|f| f.instruction_name).collect();
    names.dedup();
    names.join(", ")
}

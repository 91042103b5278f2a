//! WSL in `smallstep check` and `smallstep type`: validation, errors and derivations.

use super::budget::Budget;
use super::exit::{self, Ended, Failure};
use super::uniformity::Strictness;
use serde_json::json;
use smallstep::compile::wsl::Options;
use smallstep::diagnostic::Diagnostic;
use smallstep::generate::wsl::beside::{self, Bounds, Fuel, Ran};
use smallstep::gpu::Device;
use smallstep::theorem::campaign::Counts;
use smallstep::theorem::compilers::{self, Compiler, Status};
use smallstep::theorem::wsl::{self as theorem, Known, Minimal, Quirk, Tally, Target};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::{Limit, TimeLimit};
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::error::Error;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::typing::show::{Node, Show};
use smallstep_semantics::wsl::validate::validate;
use std::collections::{BTreeMap, BTreeSet};

/// The results of a valid program on a device.
pub(super) struct OnDevice {
    name: String,
    tally: Box<Tally>,
    /// The faults of the device, each as a minimal program with its quirk. Empty if no quirks
    /// are given.
    faults: Vec<(Minimal, Option<String>)>,
}

impl OnDevice {
    /// The quirks that explain its disagreements. `None` if there are no disagreements, or if some
    /// are unknown.
    fn known(&self) -> Option<String> {
        let names = self.faults.iter().map(|(_, name)| name.as_deref()).collect::<Option<BTreeSet<&str>>>()?;
        let all = self.tally.all_device();
        let is_known = all.of("disagree") > 0 && all.of("failed") == 0 && !names.is_empty();
        is_known.then(|| names.into_iter().collect::<Vec<_>>().join(", "))
    }
}

/// Known disagreements of devices. They are tried when a device disagrees.
pub(super) struct Quirks {
    recorded: Vec<Quirk>,
    /// The quirks that a device still shows, by device. They are determined at the first use.
    shown: BTreeMap<String, Known>,
}

impl Quirks {
    pub(super) fn new(recorded: Vec<Quirk>) -> Quirks {
        Quirks { recorded, shown: BTreeMap::new() }
    }

    /// The faults of a device on a program. Empty if no quirks are given.
    fn explain(&mut self, text: &str, profile: Profile, device: &mut Device) -> Vec<(Minimal, Option<String>)> {
        if self.recorded.is_empty() {
            return Vec::new();
        }
        let name = name_of(device);
        if !self.shown.contains_key(&name) {
            let known = Known::on(device, &self.recorded);
            for (quirk, why) in &known.gone {
                tell!("{quirk} explains nothing: {why}");
            }
            self.shown.insert(name.clone(), known);
        }
        self.shown.get_mut(&name).map_or_else(Vec::new, |known| known.explain(text, 0, profile, device))
    }
}

fn name_of(device: &Device) -> String {
    format!("{} ({})", device.adapter().name, device.route())
}

/// The result of a program.
pub(super) enum Checked {
    /// It is valid.
    Valid {
        functions: usize,
        entry_points: Vec<String>,
        nodes: usize,
        ran: Box<Ran>,
        translated: Box<Tally>,
        via: Vec<(String, Box<Tally>)>,
        devices: Vec<OnDevice>,
        /// The time limit, if it was exceeded.
        exceeded_limit: Option<Limit>,
    },
    /// It is not valid, or it could not be read.
    Invalid(Invalid),
    /// It is valid, but its derivations do not check, or the engines disagree: a bug of ours.
    Refuted(String),
}

/// The errors of a program, and their text.
pub(super) struct Invalid {
    errors: Vec<Error>,
    text: String,
}

fn read(name: &str, text: &str, judged: Option<&Strictness>) -> Result<Program, Invalid> {
    let found = validate(text);
    let errors = match (&found.program, judged) {
        (Some(program), Some(judged)) => judged.errors(name, text, program),
        (Some(_), None) => Vec::new(),
        (None, _) => found.errors,
    };
    match found.program.filter(|_| errors.is_empty()) {
        Some(program) => Ok(program),
        None => Err(Invalid { errors: errors.clone(), text: rendered(name, text, errors) }),
    }
}

/// Reads a valid program. If `judged` is given, its uniformity is analysed too.
pub(super) fn program(name: &str, text: &str, judged: Option<&Strictness>) -> Result<Program, Failure> {
    read(name, text, judged).map_err(|error| (exit::INVALID, error.text.trim_end().to_string()))
}

fn rendered(name: &str, text: &str, errors: Vec<Error>) -> String {
    errors.into_iter().map(|e| Diagnostic::from(e).render(name, text)).collect()
}

/// The bounds for executing a program.
fn bounds(Budget { fuel, time }: Budget) -> Bounds {
    let fuel = Fuel { machine: fuel.unwrap_or(2_000), relation: fuel.unwrap_or(50_000), time };
    Bounds { functions: 256, words: 1 << 14, threads: 256, fuel }
}

/// Validates a program and calls its functions on both engines. Runs its translation on the
/// interpreter, after compilers, and on devices.
pub(super) fn check<'d>(
    name: &str,
    text: &str,
    judged: &Strictness,
    budget: Budget,
    compilers: &[Compiler],
    (devices, quirks): (impl Iterator<Item = (&'d mut Device, Profile)>, &mut Quirks),
) -> Checked {
    match read(name, text, Some(judged)) {
        Err(invalid) => Checked::Invalid(invalid),
        Ok(program) => match recheck(&program) {
            Err(refutation) => Checked::Refuted(format!("the derivations do not check: {refutation}")),
            Ok(()) => match beside::everything(&program, text, 0, &bounds(budget)) {
                Err(differ) => Checked::Refuted(format!("the engines end differently: {differ}")),
                Ok(ran) => {
                    let translated = through_spirv(&program, text, Options::default().profile, budget, None);
                    if let Some(finding) = translated.findings.first() {
                        return Checked::Refuted(format!("the translation does not show what the program allows: {}", finding.what));
                    }
                    Checked::Valid {
                        functions: program.bodies.len(),
                        entry_points: program.entry_points.iter().map(|e| entry_name(&program, e)).collect(),
                        nodes: program.exprs.len() + program.stmts.len(),
                        ran: Box::new(ran),
                        translated: Box::new(translated),
                        via: compilers
                            .iter()
                            .map(|c| {
                                let found = through_spirv(&program, text, compilers::profile(c), budget, Some(Target::Compiler(c)));
                                (c.name().to_string(), Box::new(found))
                            })
                            .collect(),
                        devices: devices
                            .map(|(device, profile)| {
                                let tally = Box::new(through_spirv(&program, text, profile, budget, Some(Target::Device(device))));
                                let is_wrong = tally.all_device().of("disagree") > 0;
                                let faults = if is_wrong { quirks.explain(text, profile, device) } else { Vec::new() };
                                OnDevice { name: name_of(device), tally, faults }
                            })
                            .collect(),
                        exceeded_limit: None,
                    }
                    .record_time_limit(budget)
                }
            },
        },
    }
}

/// Checks the theorem: translates compute entry points, draws and functions, and compares
/// both sides.
fn through_spirv(program: &Program, text: &str, profile: Profile, budget: Budget, target: Option<Target<'_>>) -> Tally {
    let (mut found, options) = (Tally::default(), Options { profile, ..Options::default() });
    theorem::check_program((program, text), 0, &options, budget.time, target, &mut found);
    found
}

/// The verdicts that occur, each with its number of dispatches and calls.
fn occurring(all: &Counts) -> impl Iterator<Item = (&'static str, u64)> {
    all.shown().filter(|(_, n)| *n > 0).collect::<Vec<_>>().into_iter()
}

/// The verdicts and their numbers in words.
fn in_words(all: &Counts) -> String {
    let words: Vec<String> = occurring(all).map(|(verdict, n)| format!("{n} {verdict}")).collect();
    if words.is_empty() { "nothing".to_string() } else { words.join(", ") }
}

fn entry_name(program: &Program, e: &smallstep_semantics::wsl::entry::EntryPoint) -> String {
    let function = program.env.function(e.function);
    format!("{} {}", e.stage.keyword(), program.env.names.name(function.name.name))
}

impl Checked {
    /// Records the time limit, if it is over now.
    fn record_time_limit(mut self, budget: Budget) -> Checked {
        if let Checked::Valid { exceeded_limit, .. } = &mut self {
            *exceeded_limit = TimeLimit::passed(budget.time);
        }
        self
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Checked::Valid { .. } if self.by_compiler().any(|counts| counts.keys().any(|verdict| verdict.is_wrong())) => "disagree",
            Checked::Valid { .. } if self.by_device().any(|(_, counts, _)| counts.of("disagree") > 0) => "disagree",
            Checked::Valid { exceeded_limit: Some(_), .. } => "unchecked",
            Checked::Valid { .. } => "valid",
            Checked::Invalid(_) => "invalid",
            Checked::Refuted(_) => "disagree",
        }
    }

    /// The results of the program after each compiler: dispatches and calls by verdict.
    pub(super) fn by_compiler(&self) -> impl Iterator<Item = BTreeMap<Status, u64>> {
        let via: &[(String, Box<Tally>)] = match self {
            Checked::Valid { via, .. } => via,
            Checked::Invalid(_) | Checked::Refuted(_) => &[],
        };
        via.iter().map(|(_, tally)| compilers::of_tally(tally))
    }

    fn devices(&self) -> &[OnDevice] {
        match self {
            Checked::Valid { devices, .. } => devices,
            Checked::Invalid(_) | Checked::Refuted(_) => &[],
        }
    }

    /// The verdict on a device that ran nothing: `unchecked` if a limit or a refusal prevented it.
    pub(super) fn nothing_ran(&self) -> &'static str {
        match self {
            Checked::Valid { translated, .. } if translated.all().of("unchecked") > 0 || !translated.refused.is_empty() => "unchecked",
            _ => "vacuous",
        }
    }

    /// The results on each device, by the device's name. Also the quirks that explain its
    /// disagreements, if all are known.
    pub(super) fn by_device(&self) -> impl Iterator<Item = (&str, Counts, Option<String>)> {
        self.devices().iter().map(|device| (device.name.as_str(), device.tally.all_device(), device.known()))
    }

    /// The quirks that explain its disagreements. `None` if there are no disagreements, or if some
    /// are unknown.
    pub(super) fn known(&self) -> Option<String> {
        let compiler_is_wrong = self.by_compiler().any(|counts| counts.keys().any(|verdict| verdict.is_wrong()));
        let disagreeing = self.by_device().filter(|(_, counts, _)| counts.of("disagree") > 0);
        let names = disagreeing.map(|(.., known)| known).collect::<Option<Vec<String>>>()?;
        let is_known = !compiler_is_wrong && !names.is_empty();
        let names: BTreeSet<&str> = names.iter().flat_map(|names| names.split(", ")).collect();
        is_known.then(|| names.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The verdict, with the known quirks.
    pub(super) fn found(&self) -> String {
        self.known().map_or_else(|| self.word().to_string(), |names| format!("disagree (known: {names})"))
    }

    /// The rules that are broken.
    pub(super) fn codes(&self) -> impl Iterator<Item = &'static str> {
        let errors: &[Error] = match self {
            Checked::Invalid(invalid) => &invalid.errors,
            Checked::Valid { .. } | Checked::Refuted(_) => &[],
        };
        errors.iter().map(|e| e.rule.name())
    }

    /// The exit code. Undecided results on devices count only if devices were requested.
    pub(super) fn code(&self, asked_for: bool) -> u8 {
        match self {
            Checked::Valid { exceeded_limit, .. } => {
                let verdicts = self.by_compiler().flat_map(BTreeMap::into_keys).filter(|verdict| *verdict != Status::Vacuous);
                let by_compiler = verdicts.map(super::compilers::code).fold(exit::DONE, exit::worse);
                let on_devices = self.by_device().map(|(_, counts, known)| match () {
                    () if counts.of("disagree") > 0 && known.is_none() => exit::DISAGREE,
                    () if counts.of("failed") > 0 => exit::FAILED,
                    () if asked_for && counts.of("undecided") + counts.of("unchecked") > 0 => exit::UNCHECKED,
                    () => exit::DONE,
                });
                let in_time = if exceeded_limit.is_some() { exit::LIMIT } else { exit::DONE };
                on_devices.fold(exit::worse(by_compiler, in_time), exit::worse)
            }
            Checked::Invalid(_) => exit::INVALID,
            Checked::Refuted(_) => exit::DISAGREE,
        }
    }

    pub(super) fn print(&self, name: &str) {
        match self {
            Checked::Valid { functions, entry_points, nodes, ran, translated, via, devices, exceeded_limit } => {
                let executed = match ran.same {
                    0 => "nothing executed".into(),
                    same => format!("{same} calls, dispatches and draws with drawn arguments alike on both engines"),
                };
                let left_out: Vec<String> = ran.left().map(|(why, n)| format!("{n} {}", why.name())).collect();
                let executed = if left_out.is_empty() { executed } else { format!("{executed}; left out: {}", left_out.join(", ")) };
                let entries = if entry_points.is_empty() { "no entry point".to_string() } else { entry_points.join(", ") };
                let through = in_words(&translated.all());
                say!(
                    "{:<10} {name}: {functions} functions ({entries}), derivations of {nodes} nodes re-checked; {executed}; through SPIR-V: {through}",
                    self.found()
                );
                if let Some(limit) = exceeded_limit {
                    say!("  {limit}");
                }
                for (why, n) in &translated.refused {
                    say!("  refused: {n} for {why}, which is not translated to SPIR-V yet");
                }
                for (why, n) in &translated.unchecked {
                    say!("  unchecked through SPIR-V: {n}, {why}");
                }
                for OnDevice { name: device, tally, faults } in devices {
                    say!("  {device}: {}", in_words(&tally.all_device()));
                    tally.findings.iter().filter(|finding| finding.device).for_each(|finding| say!("    {}", finding.what));
                    for (minimal, name) in faults {
                        let known = name.as_ref().map_or_else(|| "not known".into(), |name| format!("known: {name}"));
                        say!("    {known}, minimal: {}", minimal.text.trim_end());
                    }
                    tally
                        .unchecked
                        .iter()
                        .filter(|(why, _)| !translated.unchecked.contains_key(*why))
                        .for_each(|(why, n)| say!("    unchecked: {n}, {why}"));
                }
                for ((compiler, tally), counts) in via.iter().zip(self.by_compiler()) {
                    say!("  via {compiler}: {}", super::compilers::counts_text(&counts));
                    tally.findings.iter().for_each(|finding| say!("    {}", finding.what));
                    tally
                        .refused
                        .iter()
                        .filter(|(why, _)| !translated.refused.contains_key(*why))
                        .for_each(|(why, n)| say!("    refused: {n}: {why}"));
                }
            }
            Checked::Invalid(Invalid { text, .. }) => say_part!("{:<10} {name}\n{text}", self.word()),
            Checked::Refuted(why) => say!("{:<10} {name}: {why}; this is a bug of ours", self.word()),
        }
    }

    pub(super) fn json(&self, name: &str) -> serde_json::Value {
        let mut object = json!({"schema": 1, "kind": "program", "file": name, "verdict": self.word(), "known": self.known()});
        match self {
            Checked::Valid { functions, entry_points, nodes, ran, translated, via, devices, exceeded_limit } => {
                object["limit"] = json!(exceeded_limit.map(|limit| limit.to_string()));
                let of_device = |device_result: &OnDevice| {
                    let (device, tally) = (&device_result.name, &device_result.tally);
                    let faults: Vec<_> =
                        device_result.faults.iter().map(|(minimal, name)| json!({"known": name, "minimal": minimal.text})).collect();
                    let findings: Vec<&String> = tally.findings.iter().filter(|f| f.device).map(|finding| &finding.what).collect();
                    let all = tally.all_device();
                    json!({"device": device, "verdicts": occurring(&all).collect::<BTreeMap<_, _>>(), "lanes": all.to_json()["lanes"], "findings": findings, "known": device_result.known(), "faults": faults})
                };
                object["devices"] = devices.iter().map(of_device).collect();
                let counts = self.by_compiler().map(|counts| counts.into_iter().map(|(v, n)| (v.name(), n)).collect::<BTreeMap<_, _>>());
                let of_compiler = |((compiler, tally), verdicts): (&(String, Box<Tally>), BTreeMap<&str, u64>)| {
                    let findings: Vec<&String> = tally.findings.iter().map(|finding| &finding.what).collect();
                    json!({"compiler": compiler, "verdicts": verdicts, "findings": findings})
                };
                object["compilers"] = via.iter().zip(counts).map(of_compiler).collect();
                object["compared"] = json!(ran.same);
                object["through_spirv"] = json!({"verdicts": occurring(&translated.all()).collect::<BTreeMap<_, _>>(), "lanes": translated.all().to_json()["lanes"], "open": translated.open,
                    "refused": translated.refused, "unchecked": translated.unchecked});
                object["left_out"] =
                    ran.left().map(|(why, n)| (why.name().to_string(), json!(n))).collect::<serde_json::Map<_, _>>().into();
                object["functions"] = json!(functions);
                object["entry_points"] = json!(entry_points);
                object["nodes"] = json!(nodes);
            }
            Checked::Invalid(Invalid { errors, text }) => object["errors"] = errors_json(errors, text),
            Checked::Refuted(why) => object["why"] = json!(why),
        }
        object
    }
}

fn errors_json(errors: &[Error], text: &str) -> serde_json::Value {
    if errors.is_empty() {
        return json!([{"message": text.trim_end()}]);
    }
    let note =
        |(span, text): &(Option<smallstep_semantics::text::Span>, String)| json!({"message": text, "span": span.map(|s| [s.start, s.end])});
    let error = |e: &Error| {
        let notes: Vec<_> = e.notes.iter().map(note).collect();
        json!({"code": e.rule.name(), "message": e.message, "span": [e.span.start, e.span.end], "notes": notes})
    };
    errors.iter().map(error).collect()
}

/// Prints the functions of a program with their types and behaviours, and their derivations
/// if requested.
pub(super) fn type_of(name: &str, text: &str, judged: &Strictness, derivation: bool, as_json: bool) -> Ended {
    let program = match read(name, text, Some(judged)) {
        Ok(read) => read,
        Err(invalid) => {
            tell_part!("{}", invalid.text);
            if as_json {
                let mut object = Checked::Invalid(invalid).json(name);
                (object["kind"], object["exit"]) = (json!("summary"), json!(exit::INVALID));
                say!("{object}");
            }
            return Ok(exit::INVALID);
        }
    };
    let show = Show::new(&program, text);
    for i in 0..program.bodies.len() {
        let id = smallstep_semantics::wsl::environment::FunctionId(i as u32);
        let (signature, behaviours) = (program.env.signature(id), program.behaviours(id));
        if as_json {
            say!(
                "{}",
                json!({"schema": 1, "kind": "function", "signature": signature, "behaviours": behaviours.iter().map(|b| b.name()).collect::<Vec<_>>()})
            );
        } else {
            say!("{signature} : {behaviours}");
        }
        if derivation {
            tree(&show, show.root(id), as_json);
        }
    }
    if as_json {
        say!(
            "{}",
            json!({"schema": 1, "kind": "summary", "file": name, "functions": program.bodies.len(), "nodes": program.exprs.len() + program.stmts.len(), "exit": exit::DONE})
        );
    }
    Ok(exit::DONE)
}

/// Prints a line for each node, with premises under their conclusion. The loop is not recursive, so
/// deep nesting needs no stack.
fn tree(show: &Show, root: Node, as_json: bool) {
    let mut todo = vec![(root, 1usize)];
    while let Some((node, depth)) = todo.pop() {
        let conclusion = show.conclusion(node);
        let annotation = show.annotation(node);
        let premises = show.premises(node);
        if as_json {
            let (line, column) = line_column(show.text, conclusion.span.start);
            say!(
                "{}",
                json!({"schema": 1, "kind": "node", "depth": depth, "rule": conclusion.rule.name(), "conclusion": conclusion.text, "annotation": annotation, "premises": premises.len(), "line": line, "column": column})
            );
        } else {
            let annotation = annotation.map_or(String::new(), |a| format!("; {a}"));
            say!("{}{}   [{}{annotation}]", "  ".repeat(depth.min(60)), conclusion.text, conclusion.rule);
        }
        todo.extend(premises.into_iter().rev().map(|p| (p, depth + 1)));
    }
}

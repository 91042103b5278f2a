//! `smallstep fuzz`: a campaign over generated programs.

use super::bar::Bar;
use super::campaign::{CampaignArgs, code, groups};
use super::check::Judged;
use super::device::{DeviceArgs, say_unrepeated};
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::generate::{self, Mode};
use smallstep::gpu::Device;
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{self, Extent, Finding, Plan, Report};
use smallstep::theorem::case::Settings;
use smallstep::theorem::device::{Choice, UnderTest};
use smallstep::theorem::known::{Explained, Explanation, Known};
use smallstep::theorem::quirk::Quirk;
use smallstep::theorem::reduce::{self, Minimal};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The default number of disagreements that are shrunk.
pub(crate) const SHRINK: usize = 20;
/// The default with `--known`. A disagreement that is not shrunk cannot be known.
pub(crate) const SHRINK_KNOWN: usize = 500;

/// Check the theorem over generated programs: a campaign, reproducible from its seed.
#[derive(Args)]
pub(crate) struct Fuzz {
    /// How many programs.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// The seed of all programs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    campaign: CampaignArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    judged: Judged,
    /// One program in so many runs on the reference relations too; 0: none.
    #[arg(long, default_value_t = 10)]
    references: u64,
    /// For one program in so many, an ill-typed near-miss is tried; 0: none.
    #[arg(long, default_value_t = 10)]
    near_misses: u64,
    /// How far programs keep to what all devices must compute alike: mixed, decided (nearly every
    /// lane has one answer) or rough (every builtin, any number).
    #[arg(long, value_parser = mode, default_value = "mixed")]
    mode: Mode,
    /// Threads; 0: as many as the machine has cores.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    threads: usize,
    /// With --only: the ill-typed near-miss of that index instead.
    #[arg(long, requires = "only")]
    near_miss: bool,
    /// A folder of known disagreements (spec-tests/quirks): those of this adapter, driver, route
    /// and --constants that the device still shows. A disagreement is known if, made minimal, it is
    /// one of them: it differs in the same way, by the same instruction, in a program of the same
    /// shape. Only unknown ones make the exit code 1.
    #[arg(long, value_name = "DIR")]
    known: Option<PathBuf>,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

fn mode(text: &str) -> Result<Mode, String> {
    let found = Mode::ALL.iter().find(|(name, _)| *name == text);
    found.map(|(_, mode)| *mode).ok_or_else(|| format!("\"{text}\" is no mode; mixed, decided and rough are"))
}

impl Fuzz {
    pub(crate) fn run(self) -> exit::Ended {
        let quirks = match self.known.as_deref().map(Quirk::read_folder).transpose() {
            Ok(quirks) => quirks,
            Err(e) => return input::fail(exit::INVALID, &e.what),
        };
        let mut device = match self.device.open() {
            Ok(device) => device,
            Err(e) => return input::fail(exit::UNCHECKED, &e),
        };
        let settings =
            Settings { theorem: self.judged.theorem, constants: self.judged.constants, size: self.judged.size, ..Settings::default() };
        let settings = match campaign::settings_for(device.as_ref(), self.judged.profile.unwrap_or_default(), settings) {
            Ok(settings) => settings,
            Err(why) => {
                let (code, text) = super::device::no_profile(&why);
                return input::fail_with(code, &text);
            }
        };
        let Extent { seed, count, time, shard, threads } = self.campaign.extent(self.seed, self.count, self.threads);
        let plan = Plan {
            seed,
            count,
            time,
            shard,
            references: self.references,
            near_misses: self.near_misses,
            settings,
            threads,
            limits: self.mode.limits(),
        };
        if let (None, Some(what)) = (self.campaign.only, plan.extent().empty_shard()) {
            return input::fail(exit::INVALID, &what);
        }
        if let Some(index) = self.campaign.only {
            return self.replay(&plan, device.as_mut(), index);
        }
        let name = device.as_ref().map(|d| format!("{} ({})", d.adapter().name, d.route()));
        let journal = self.campaign.journal(&plan, name.as_deref())?;
        let bar = Bar::new(plan.count.map(|c| c / plan.shard.1));
        let begun = std::time::Instant::now();
        let ended = match campaign::run(&plan, device.as_ref(), journal, &bar) {
            Ok(ended) => ended,
            Err(e) => return input::fail(exit::FAILED, &format!("the journal: {e}")),
        };
        let seconds = begun.elapsed().as_secs_f64();
        bar.0.finish_and_clear();
        // A device that is gone cannot judge again.
        let device = if ended.outage.is_some() { None } else { device.as_mut() };
        self.report(&plan, &ended, name.as_deref(), device, quirks.as_deref(), seconds)
    }

    /// Judges a single program, on the relations too.
    fn replay(&self, plan: &Plan, device: Option<&mut Device>, index: u64) -> exit::Ended {
        let (text, verdict, why, code) = if self.near_miss {
            let (tree, expected) = generate::near_miss(plan.program_seed(index), &plan.limits);
            let result = campaign::judge_near_miss(plan.program_seed(index), &plan.settings, &plan.limits);
            let why = format!("must be rejected by {}: {}", expected.code, result.as_ref().map_or_else(|e| e.clone(), |()| "it is".into()));
            match result {
                Ok(()) => (tree.print(), "agree", why, exit::DONE),
                Err(_) => (tree.print(), "disagree", why, exit::DISAGREE),
            }
        } else {
            let tree = plan.program(index);
            let verdict = reduce::verdict(&tree, &with_relations(plan), device.map(UnderTest::from));
            (tree.print(), verdict.name(), verdict.why().to_string(), verdict.code())
        };
        let profile = plan.settings.profile.to_string();
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "program", "index": index, "near_miss": self.near_miss, "text": text}));
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "index": index, "profile": profile, "verdict": verdict, "why": why, "exit": code})
            );
            return Ok(code);
        }
        say_part!("{text}");
        match self.near_miss {
            true => say!("; {why}"),
            false => say!("; under {profile}: {verdict} {why}"),
        }
        Ok(code)
    }

    fn report(
        &self,
        plan: &Plan,
        Report { tally, outage, unrepeated }: &Report,
        name: Option<&str>,
        device: Option<&mut Device>,
        quirks: Option<&[Quirk]>,
        seconds: f64,
    ) -> exit::Ended {
        let groups = groups(&tally.findings);
        let workers = super::device::workers(device.as_ref().map_or(0, |device| device.workers()));
        let explained = self.explain(plan, tally, &groups, device, quirks);
        let missed = tally.missed_floors(name.is_some());
        let failed = outage.is_some() || tally.findings.iter().any(|f| f.verdict == "failed");
        let disagreements = tally.findings.iter().filter(|f| f.verdict == "disagree").count() as u64;
        let disagree = disagreements > explained.as_ref().map_or(0, Explained::all);
        let code = code(disagree, failed, &missed);
        let rate = tally.semantics.all() as f64 / seconds;
        if self.json {
            let mut object = tally.to_json();
            object["schema"] = json!(1);
            object["kind"] = json!("summary");
            object["plan"] = plan.identity(name);
            (object["seconds"], object["exit"]) = (json!(seconds), json!(code));
            object["missed_floors"] = json!(missed);
            object["acceptance"]["median_width"] = json!(tally.acceptance.median_width());
            object["profile"] = json!(plan.settings.profile.to_string());
            if name.is_some() {
                object["outage"] = json!(outage);
                object["unrepeated_worker_failures"] = json!(unrepeated);
            }
            if let Some(explained) = &explained {
                object["device"]["disagree"] = json!(tally.device.of("disagree").saturating_sub(explained.all()));
                object["device"]["known"] = json!(explained.all());
                object["known"] = json!(explained.by_name);
            }
            say!("{object}");
        } else {
            let all = tally.semantics.all().max(1);
            say!(
                "{} programs in {seconds:.1} s ({rate:.0} a second), {:.1} nodes each",
                tally.semantics.all(),
                tally.nodes as f64 / all as f64
            );
            say!("semantics, under {}: {}", plan.settings.profile, counts_text(&tally.semantics, None));
            say!("a device must show, by component under {}: {}", plan.settings.profile, tally.acceptance);
            if let Some(causes) = tally.acceptance.causes_text(8) {
                say!("what may be anything has no bound from: {causes}");
            }
            if let Some(name) = name {
                say!("{name}, {workers}, under {}: {}", plan.settings.profile, counts_text(&tally.device, explained.as_ref()));
                say_unrepeated(Some(*unrepeated));
            }
            say!("relations and derivation check beside the machines: {} programs", tally.referenced);
            let rejected = tally.near_misses.saturating_sub(tally.findings.iter().filter(|f| f.near_miss).count() as u64);
            say!("near-misses: {rejected} of {} rejected by the rule that they break", tally.near_misses);
            say!("rules seen: {}", tally.rules.len());
        }
        for floor in &missed {
            tell!("below the floor: {floor}");
        }
        if let Some(why) = outage {
            self.campaign.tell_outage(why);
        }
        Ok(code)
    }

    /// Shrinks findings, up to the requested number, and prints them. With quirks, known findings
    /// are only counted.
    fn explain(
        &self,
        plan: &Plan,
        tally: &campaign::Tally,
        groups: &BTreeMap<&str, Vec<&Finding>>,
        device: Option<&mut Device>,
        quirks: Option<&[Quirk]>,
    ) -> Option<Explained> {
        let bound = self.campaign.shrink.unwrap_or(if quirks.is_some() { SHRINK_KNOWN } else { SHRINK });
        let all: usize = groups.values().map(Vec::len).sum();
        if all > 0 && bound > 0 && !self.json {
            let counts = |counts: &campaign::Counts| counts_text(counts, None);
            let on_device = device.as_ref().map_or(String::new(), |_| format!("; on the device: {}", counts(&tally.device)));
            let number = all.min(bound);
            tell!("semantics: {}{on_device}. Next, {number} of {all} findings are made minimal", counts(&tally.semantics));
        }
        let mut device = device.map(UnderTest::from);
        let mut known = match (quirks, &mut device) {
            (Some(quirks), Some(device)) if all > 0 => Some(Known::on(device, quirks, &plan.settings)),
            _ => None,
        };
        for (name, why) in known.iter().flat_map(|known| &known.gone) {
            tell!("{name} explains nothing: {why}");
        }
        let mut explained = Explained::default();
        for (group, finding) in groups.iter().flat_map(|(group, findings)| findings.iter().map(move |f| (group, f))).take(bound) {
            let faults = match (finding.near_miss, &mut device) {
                (true, _) => Vec::new(),
                (_, Some(device)) if finding.device => {
                    reduce::minimal(&plan.program(finding.index), &with_relations(plan), Some(device.again()))
                }
                _ => reduce::minimal(&plan.program(finding.index), &with_relations(plan), None),
            };
            let explanation = match (&mut known, &mut device) {
                (Some(known), Some(device)) => Some(known.explain(&faults, device)),
                _ => None,
            };
            self.show(plan, group, finding, &faults, explanation.as_ref());
            explained.count(explanation.and_then(|e| e.all).filter(|_| finding.verdict == "disagree"));
        }
        if all > bound {
            let note = if quirks.is_some() { ", so that they count as not known" } else { "" };
            tell!(
                "{} more disagreements are listed in the journal, if one is kept, and were not made minimal{note} (--shrink {bound})",
                all - bound
            );
        }
        quirks.map(|_| explained)
    }

    /// Prints one finding with its minimal programs.
    fn show(&self, plan: &Plan, group: &str, finding: &Finding, faults: &[Minimal], explanation: Option<&Explanation>) {
        let near_miss_flag = if finding.near_miss { " --near-miss" } else { "" };
        let replay = format!("smallstep fuzz --seed {} --only {}{near_miss_flag}{}", plan.seed, finding.index, self.replay_flags(plan));
        let known = |i: usize| explanation.and_then(|e| e.each[i].as_deref());
        if self.json {
            let fault = |(i, m): (usize, &Minimal)| json!({"minimal": m.tree.print(), "why": m.verdict.why(), "known": known(i)});
            let first = faults.first().map(|m| m.tree.print());
            let minimal: Vec<_> = faults.iter().enumerate().map(fault).collect();
            let known = explanation.and_then(|e| e.all.as_deref());
            let shown = finding.to_json();
            say!(
                "{}",
                json!({"schema": 1, "kind": "finding", "profile": plan.settings.profile.to_string(), "finding": shown, "minimal": first, "faults": minimal, "known": known, "replay": replay})
            );
            return self.save(plan, group, finding, faults, &replay);
        }
        tell!("\n{} under {}: program {}: {}", finding.verdict, plan.settings.profile, finding.index, finding.what);
        for (i, minimal) in faults.iter().enumerate() {
            tell_part!("minimal, {} nodes:\n{}", minimal.nodes, minimal.tree.print());
            tell!("{}", minimal.verdict.why());
            if let Verdict::Disagree(difference) = &minimal.verdict {
                match (&difference.blame, &difference.unblamed) {
                    (Some(blame), _) => tell!("first differing subexpression: {blame}"),
                    (None, Some(unblamed)) => tell!("{unblamed}"),
                    (None, None) => {}
                }
            }
            match known(i) {
                Some(name) => tell!("known: {name}"),
                None if explanation.is_some() => tell!("not known"),
                None => {}
            }
        }
        tell!("replay: {replay}");
        self.save(plan, group, finding, faults, &replay);
    }

    /// Saves the minimal programs of a finding, if --save was given.
    fn save(&self, plan: &Plan, group: &str, finding: &Finding, faults: &[Minimal], replay: &str) {
        for (i, minimal) in faults.iter().enumerate() {
            let suffix = if i == 0 { String::new() } else { format!("-{}", i + 1) };
            let text = format!("; {group}\n; {replay}\n{}", minimal.tree.print());
            self.campaign.save(&format!("seed{}-{}{suffix}.lv", plan.seed, finding.index), &text);
        }
    }

    fn replay_flags(&self, plan: &Plan) -> String {
        let mut flags = String::new();
        if self.device.device != "none" {
            flags += &format!(" --device '{}'", self.device.device);
        }
        if let Some(route) = self.device.route {
            flags += &format!(" --route {route}");
        }
        if let Some(name) = self.judged.profile.and_then(Choice::name) {
            flags += &format!(" --profile {name}");
        }
        let (w, h) = plan.settings.size;
        flags += &format!(" --size {w}x{h}");
        if self.mode != Mode::default() {
            flags += &format!(" --mode {}", self.mode.name());
        }
        if plan.settings.constants == smallstep::compile::lambda_v::Constants::Opaque {
            flags += " --constants opaque";
        }
        if plan.settings.theorem == smallstep_semantics::lambda_v::step::Theorem::Printed {
            flags += " --theorem printed";
        }
        flags
    }
}

/// The settings for judging the program of a finding again: on the relations too.
fn with_relations(plan: &Plan) -> Settings {
    Settings { references: true, ..plan.settings.clone() }
}

/// The verdicts in words. Known disagreements are separate.
fn counts_text(counts: &campaign::Counts, explained: Option<&Explained>) -> String {
    let mut shown = Vec::new();
    for (name, n) in counts.shown() {
        match (name, explained) {
            ("disagree", Some(explained)) => {
                shown.push(format!("{} disagree", n.saturating_sub(explained.all())));
                shown.push(explained.to_string());
            }
            _ => shown.push(format!("{n} {name}")),
        }
    }
    format!("{}; {}", shown.join(", "), lanes_text(counts))
}

/// The lanes in words.
pub(crate) fn lanes_text(counts: &campaign::Counts) -> String {
    let lanes = counts.lanes.all();
    let percent = 100.0 * counts.lanes.checked as f64 / lanes.max(1) as f64;
    format!("{} of {lanes} lanes decided ({percent:.1} %)", counts.lanes.checked)
}

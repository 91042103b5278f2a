//! `smallstep fuzz-wsl --through spirv`: a campaign over generated WSL programs and their
//! translation.

use super::bar::Bar;
use super::campaign::{CampaignArgs, code, groups};
use super::device::{DeviceArgs, say_unrepeated};
use super::fuzz::{SHRINK, SHRINK_KNOWN, lanes_text};
use super::{exit, input};
use serde_json::json;
use smallstep::gpu::Device;
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{self, Counts, Extent, Finding, Report};
use smallstep::theorem::compilers::{self, Compiler};
use smallstep::theorem::device::profile_of;
use smallstep::theorem::known::Explained;
use smallstep::theorem::wsl::{Known, MAX_NAMED, MIX, Minimal, Plan, Programs, Quirk, SHORT_MIX, Tally, blame, minimal};
use smallstep_semantics::number::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The settings of the campaign.
pub(super) struct Through {
    pub(super) extent: Extent,
    pub(super) from: Option<u64>,
    pub(super) known: Option<PathBuf>,
    pub(super) mix: Vec<Programs>,
    pub(super) references: u64,
    pub(super) via: Option<Compiler>,
    pub(super) json: bool,
}

impl Through {
    pub(super) fn run(&self, args: &CampaignArgs, device: &DeviceArgs) -> exit::Ended {
        let device_args = device;
        let quirks = match self.known.as_deref().map(Quirk::read_folder).transpose() {
            Ok(quirks) => quirks,
            Err(e) => return input::fail(exit::INVALID, &e.what),
        };
        let mut device = match device_args.open() {
            Ok(device) => device,
            Err(why) => return input::fail_with(exit::UNCHECKED, &format!("unchecked: {why}")),
        };
        let of_compiler = self.via.as_ref().map_or(Profile::Strict, compilers::profile);
        let profile = device.as_ref().map_or(of_compiler, |device| profile_of(device.route()));
        let plan =
            Plan { extent: self.extent, mix: &self.mix, references: self.references, profile, planted: None, via: self.via.as_ref() };
        let replay = Replay { plan: &plan, device_args, route: device.as_ref().map(|device| device.route().name()) };
        let selected = match (self.from, self.mix.first(), args.only) {
            (Some(seed), Some(&programs), _) => Some((programs, seed)),
            (_, _, selected) => selected.map(|index| plan.program(index)),
        };
        if let Some((programs, seed)) = selected {
            return self.judge_one(&plan, (programs, seed), args, device.as_mut());
        }
        if let Some(what) = plan.extent.empty_shard() {
            return input::fail(exit::INVALID, &what);
        }
        let name = device.as_ref().map(|d| format!("{} ({})", d.adapter().name, d.route()));
        let journal = args.journal(&plan, name.as_deref())?;
        let bar = Bar::new(plan.extent.count.map(|count| count / plan.extent.shard.1));
        let begun = std::time::Instant::now();
        let ended = match campaign::run(&plan, device.as_ref(), journal, &bar) {
            Ok(ended) => ended,
            Err(e) => return input::fail(exit::FAILED, &format!("the journal: {e}")),
        };
        let seconds = begun.elapsed().as_secs_f64();
        bar.0.finish_and_clear();
        let Report { tally, outage, unrepeated } = &ended;
        // The findings are reported before they are shrunk, since that may take long.
        if self.json {
            let mut object = campaign::Totals::to_json(tally);
            (object["schema"], object["kind"], object["seconds"]) = (json!(1), json!("report"), json!(seconds));
            say!("{object}");
        } else {
            self.report(&plan, tally, name.as_deref(), seconds);
            for finding in &tally.findings {
                let (programs, seed) = plan.program(finding.index);
                say!("{}: program {} ({}, seed {seed}): {}", finding.verdict, finding.index, programs.name(), finding.what);
            }
        }
        let groups = groups(&tally.findings);
        // A device that is gone cannot judge again.
        let live_device = if outage.is_some() { None } else { device.as_mut() };
        let explained = self.show(&replay, args, &groups, live_device, quirks.as_deref());
        let missed = tally.missed_floors(name.is_some());
        let disagreements = tally.findings.iter().filter(|f| f.verdict == "disagree").count() as u64;
        let disagree = disagreements > explained.all();
        let failed = outage.is_some() || tally.findings.iter().any(|f| f.verdict == "failed");
        let code = code(disagree, failed, &missed);
        if self.json {
            let mut object = campaign::Totals::to_json(tally);
            (object["schema"], object["kind"]) = (json!(1), json!("summary"));
            object["plan"] = campaign::SourceLanguage::identity(&plan, name.as_deref());
            (object["seconds"], object["exit"]) = (json!(seconds), json!(code));
            object["missed_floors"] = json!(missed);
            object["known"] = json!(explained.by_name);
            object["profile"] = json!(plan.profile.to_string());
            object["via"] =
                json!(plan.via.map(|compiler| super::compilers::counts_json(compiler, &smallstep::theorem::compilers::of_tally(tally))));
            if name.is_some() {
                object["outage"] = json!(outage);
                object["unrepeated_worker_failures"] = json!(unrepeated);
            }
            say!("{object}");
        } else {
            if quirks.is_some() {
                say!("of {disagreements} that disagree: {explained}");
            }
            if name.is_some() {
                say_unrepeated(Some(*unrepeated));
            }
        }
        for floor in &missed {
            tell!("below the floor: {floor}");
        }
        if let Some(why) = outage {
            args.tell_outage(why);
        }
        Ok(code)
    }

    /// Judges a single program.
    fn judge_one(
        &self,
        plan: &Plan,
        (programs, seed): (Programs, u64),
        args: &CampaignArgs,
        mut device: Option<&mut Device>,
    ) -> exit::Ended {
        let (text, verdict) = plan.verdict_on(programs, seed, device.as_deref_mut());
        let mut small = match args.shrink {
            Some(most) if most > 0 => minimal(plan, (programs, seed), device.as_deref_mut()),
            _ => None,
        };
        if let (Some(small), Some(device)) = (&mut small, device) {
            blame(plan, (programs, seed), small, device);
        }
        let (kind, name, why, code) = (programs.name(), verdict.name(), explained(&verdict), verdict.code());
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "program", "of": kind, "seed": seed, "text": text}));
            let profile = plan.profile.to_string();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "profile": profile, "verdict": name, "why": why, "minimal": small.map(|m| m.text), "exit": code})
            );
        } else {
            say!("{text}");
            say!("// {kind}, seed {seed}, under {}: {name} {why}", plan.profile);
            if let Some(small) = small {
                say!("\n// minimal: {}\n{}", explained(&small.verdict), small.text);
            }
        }
        Ok(code)
    }

    /// Shrinks findings, up to the requested number, and prints them. With quirks, known findings
    /// are only counted. A finding is not shrunk if removing a quirk's word explains it.
    fn show(
        &self,
        replay: &Replay,
        args: &CampaignArgs,
        groups: &BTreeMap<&str, Vec<&Finding>>,
        mut device: Option<&mut Device>,
        quirks: Option<&[Quirk]>,
    ) -> Explained {
        let bound = args.shrink.unwrap_or(if quirks.is_some() { SHRINK_KNOWN } else { SHRINK });
        let all: usize = groups.values().map(Vec::len).sum();
        let mut explained = Explained::default();
        let known = match (quirks, device.as_deref_mut()) {
            (Some(quirks), Some(device)) if all > 0 => Known::on(device, quirks),
            _ => Known::default(),
        };
        for (name, why) in &known.gone {
            tell!("{name} explains nothing: {why}");
        }
        let (mut shrunk, mut rest) = (0, 0);
        for (group, finding) in groups.iter().flat_map(|(group, findings)| findings.iter().map(move |f| (group, f))) {
            let program = replay.plan.program(finding.index);
            let mut judging_device = device.as_deref_mut().filter(|_| finding.device);
            let disagrees = finding.verdict == "disagree";
            // The quirk whose word explains the finding, for the program or for a text that
            // replaces it.
            let remedied = |text: Option<&str>, judging_device: Option<&mut Device>| {
                judging_device.filter(|_| disagrees).and_then(|judging_device| known.remedied(replay.plan, program, text, judging_device))
            };
            if let Some(remedied) = remedied(None, judging_device.as_deref_mut()) {
                self.finding(replay, finding, None, Some(&remedied));
                explained.count(Some(remedied));
                continue;
            }
            if shrunk >= bound {
                rest += 1;
                continue;
            }
            shrunk += 1;
            let mut small = minimal(replay.plan, program, judging_device.as_deref_mut());
            let name = small.as_ref().filter(|_| disagrees).and_then(|small| {
                known.name_of(small).map(String::from).or_else(|| remedied(Some(&small.text), judging_device.as_deref_mut()))
            });
            if let (Some(small), Some(judging_device)) = (&mut small, judging_device) {
                blame(replay.plan, program, small, judging_device);
            }
            self.finding(replay, finding, small.as_ref(), name.as_deref());
            explained.count(name);
            if let Some(small) = &small {
                let name = format!("seed{}-{}.wsl", replay.plan.extent.seed, finding.index);
                args.save(&name, &format!("// {group}\n// {}\n{}", replay.command(finding.index), small.text));
            }
        }
        if rest > 0 {
            tell!("{rest} more disagreements are listed in the journal, if one is kept, and were not made minimal (--shrink {bound})");
        }
        explained
    }

    fn finding(&self, replay: &Replay, finding: &Finding, small: Option<&Minimal>, known: Option<&str>) {
        let (programs, seed) = replay.plan.program(finding.index);
        let replay = replay.command(finding.index);
        if self.json {
            let (text, why) = (small.map(|m| &m.text), small.map(|m| explained(&m.verdict)));
            let shown = finding.to_json();
            say!(
                "{}",
                json!({"schema": 1, "kind": "finding", "of": programs.name(), "seed": seed, "finding": shown, "minimal": text, "why": why, "replay": replay})
            );
            return;
        }
        tell!("\n{}: program {} ({}, seed {seed}): {}", finding.verdict, finding.index, programs.name(), finding.what);
        match small {
            Some(small) => {
                tell_part!("minimal:\n{}", small.text);
                tell!("{}", explained(&small.verdict));
            }
            None if known.is_some() => {}
            None => tell!("judged alone, the program is not wrong"),
        }
        if let Some(name) = known {
            tell!("known: {name}");
        }
        tell!("replay: {replay}");
    }

    fn report(&self, plan: &Plan, tally: &Tally, device: Option<&str>, seconds: f64) {
        let all = tally.all().all();
        let (rate, statements) = (all as f64 / seconds, tally.statements as f64 / all.max(1) as f64);
        say!(
            "{all} programs in {seconds:.1} s ({rate:.0} a second), {statements:.1} statements each, {} dispatches and calls",
            tally.subjects
        );
        say!("semantics, under {}: {}", plan.profile, counts_text(&tally.semantics, &tally.all()));
        say!("{} of the lanes compared may be one of several values; {} programs met something unspecified", tally.sets, tally.open);
        if let Some(name) = device {
            say!("{name}, under {}: {}", plan.profile, counts_text(&tally.device, &tally.all_device()));
        }
        if let Some(compiler) = plan.via {
            say!(
                "via {}, under {}: {}",
                compiler.name(),
                plan.profile,
                super::compilers::counts_text(&smallstep::theorem::compilers::of_tally(tally))
            );
        }
        say!("WSL's relation beside the machine: {} programs", tally.referenced);
        for (list, word) in [(&tally.refused, "refused"), (&tally.unchecked, "unchecked")] {
            for (why, n) in list {
                let seeds = tally.named.get(why).into_iter().flatten().map(u64::to_string).collect::<Vec<_>>().join(", ");
                say!("  {word}: {n} for {why}: {}{seeds}", if *n > MAX_NAMED as u64 { "the first are " } else { "" });
            }
        }
        for (list, word) in [(&tally.vacuous, "left out: dispatches and calls"), (&tally.passed, "passed over: seeds")] {
            for (why, n) in list {
                say!("  {word}: {n}, {why}");
            }
        }
        for (restriction, n) in &tally.restricted {
            say!("  restricted: {n} programs, {restriction}");
        }
        let list = |all: &BTreeMap<String, u64>| all.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
        say!("stages: {}", list(&tally.stages));
        say!("textures: {}", if tally.textures.is_empty() { "none".into() } else { list(&tally.textures) });
        let rows: Vec<String> = tally.rows.iter().map(|(row, n)| format!("{} {n}", row.name())).collect();
        say!("rows of the mapping: {}: {}", rows.len(), rows.join(", "));
    }
}

/// The reason of a verdict, with the expression to blame.
fn explained(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Disagree(difference) => difference.explained(),
        other => other.why(),
    }
}

/// The verdicts in words, for all programs and by kind.
fn counts_text(by_kind: &BTreeMap<Programs, Counts>, all: &Counts) -> String {
    let verdicts =
        |counts: &Counts| counts.shown().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ");
    let kinds = by_kind.iter().map(|(programs, counts)| format!("\n  {}: {}", programs.name(), verdicts(counts)));
    format!("{}; {}{}", verdicts(all), lanes_text(all), kinds.collect::<String>())
}

/// The data for judging a finding again.
struct Replay<'p> {
    plan: &'p Plan<'p>,
    device_args: &'p DeviceArgs,
    route: Option<&'static str>,
}

impl Replay<'_> {
    fn command(&self, index: u64) -> String {
        let mut command = format!("smallstep fuzz-wsl --through spirv --seed {} --only {index}", self.plan.extent.seed);
        if self.plan.mix == *SHORT_MIX {
            command += " --short";
        } else if self.plan.mix != MIX {
            command.extend(self.plan.mix.iter().map(|programs| format!(" --of {}", programs.name())));
        }
        if let Some(compiler) = self.plan.via {
            command += &format!(" --via '{}'", compiler.name().replace('\'', r"'\''"));
        }
        if let (Some(route), device) = (self.route, &self.device_args.device) {
            command += &format!(" --device '{device}' --route {route}");
        }
        command
    }
}

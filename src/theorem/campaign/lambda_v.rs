//! Campaigns of λV: the generated programs, how each is judged, and the results.

use super::{CHUNK, Counts, Extent, Finding, Returned, SourceLanguage, Totals};
use crate::dispatch::{Dispatch, FragmentDispatch};
use crate::generate;
use crate::gpu::{Device, Route};
use crate::theorem::Unexpected;
use crate::theorem::acceptance::Acceptance;
use crate::theorem::case::{Case, NoCase, Settings, decided};
use crate::theorem::device::{Awaited, Choice, NoProfile};
use crate::theorem::{Difference, Engine, Lanes, Verdict, theorem_name};
use serde_json::{Value, json};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing;
use smallstep_semantics::number::Profile;
use smallstep_semantics::rule::Rule;
use std::collections::BTreeMap;
use std::time::Duration;

/// The settings of a campaign.
#[derive(Clone)]
pub struct Plan {
    /// The seed of all programs.
    pub seed: u64,
    /// The number of programs in all shards together. Without one, the campaign runs until its time
    /// is up.
    pub count: Option<u64>,
    /// The time after which no chunk begins.
    pub time: Option<Duration>,
    /// The shard: number I of N takes the chunks I, I + N, …
    pub shard: (u64, u64),
    /// One program in so many also runs on the reference relations, with the derivation check.
    /// 0: none.
    pub references: u64,
    /// One program in so many also has an ill-typed near-miss tried. 0: none.
    pub near_misses: u64,
    /// The settings by which programs are judged. `references` is replaced for each program.
    pub settings: Settings,
    /// The number of threads that judge programs.
    pub threads: usize,
    /// The limits of the generator: sizes and mix of programs.
    pub limits: generate::Limits,
}

impl Plan {
    /// What identifies the campaign, for the journal's first line.
    pub fn identity(&self, device: Option<&str>) -> Value {
        json!({
            "seed": self.seed, "count": self.count, "shard": [self.shard.0, self.shard.1], "references": self.references,
            "near_misses": self.near_misses, "size": [self.settings.size.0, self.settings.size.1], "fuel": self.settings.fuel,
            "profile": format!("{:?}", self.settings.profile), "constants": format!("{:?}", self.settings.constants),
            "theorem": theorem_name(self.settings.theorem), "device": device, "chunk": CHUNK, "generator": generate::VERSION,
            "rough": self.limits.rough_percent, "grid": self.limits.grid_percent,
        })
    }

    /// The programs of the campaign, and how it runs.
    pub fn extent(&self) -> Extent {
        let &Plan { seed, count, time, shard, threads, .. } = self;
        Extent { seed, count, time, shard, threads }
    }

    /// The seed of program `index`.
    pub fn program_seed(&self, index: u64) -> u64 {
        self.extent().program_seed(index)
    }

    /// Program `index`.
    pub fn program(&self, index: u64) -> Tree {
        generate::well_typed(self.program_seed(index), &self.limits)
    }

    fn samples(&self, index: u64) -> bool {
        self.references > 0 && index.is_multiple_of(self.references)
    }
}

/// The dispatches of a campaign's programs, without end. Programs without a value on some pixel are
/// skipped. They are few.
pub fn dispatches(seed: u64, profile: Profile, size: (u32, u32)) -> impl Iterator<Item = FragmentDispatch> {
    let settings = Settings { profile, size, references: false, ..Settings::default() };
    let limits = generate::Limits::default();
    let plan = Plan {
        seed,
        count: None,
        time: None,
        shard: (0, 1),
        references: 0,
        near_misses: 0,
        settings: settings.clone(),
        threads: 1,
        limits,
    };
    (0u64..).filter_map(move |index| {
        let judged = judge(&plan.program(index), &settings, &mut Tally::default());
        judged.awaited.map(|(case, _)| case.dispatch(size))
    })
}

/// The results of some programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The comparison between the semantics. The lanes are all compared lanes. Lanes that do not
    /// bind a device count as undecided.
    pub semantics: Counts,
    /// The comparison with the device.
    pub device: Counts,
    /// How tightly the expected components are bounded.
    pub acceptance: Acceptance,
    /// The number of programs that also ran on the reference relations.
    pub referenced: u64,
    /// The number of near-misses that were tried.
    pub near_misses: u64,
    /// The number of steps of the source.
    pub steps: u64,
    /// The number of nodes of the programs.
    pub nodes: u64,
    /// How many programs used each rule: typing and translation on all programs, reduction and
    /// SPIR-V if the relations ran.
    pub rules: BTreeMap<Rule, u64>,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// Adds other results. Sums saturate. Only a forged journal reaches the maximum.
    pub fn add(&mut self, other: Tally) {
        self.semantics.add(&other.semantics);
        self.device.add(&other.device);
        self.acceptance.add(&other.acceptance);
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n);
        add(&mut self.referenced, other.referenced);
        add(&mut self.near_misses, other.near_misses);
        add(&mut self.steps, other.steps);
        add(&mut self.nodes, other.nodes);
        for (rule, n) in other.rules {
            add(self.rules.entry(rule).or_default(), n);
        }
        self.findings.extend(other.findings);
    }

    /// The results as a journal's line has them.
    pub fn to_json(&self) -> Value {
        let rules: serde_json::Map<_, _> = self.rules.iter().map(|(r, n)| (r.name().to_string(), json!(n))).collect();
        json!({
            "semantics": self.semantics.to_json(), "device": self.device.to_json(), "acceptance": self.acceptance.to_json(), "referenced": self.referenced,
            "near_misses": self.near_misses,
            "steps": self.steps, "nodes": self.nodes, "rules": rules, "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }

    /// The inverse.
    pub fn from_json(value: &Value) -> Option<Tally> {
        let number = |key: &str| value.get(key)?.as_u64();
        let rules = value.get("rules")?.as_object()?.iter().map(|(name, n)| Some((Rule::from_name(name)?, n.as_u64()?)));
        Some(Tally {
            semantics: Counts::from_json(value.get("semantics")?)?,
            device: Counts::from_json(value.get("device")?)?,
            acceptance: Acceptance::from_json(value.get("acceptance")?)?,
            referenced: number("referenced")?,
            near_misses: number("near_misses")?,
            steps: number("steps")?,
            nodes: number("nodes")?,
            rules: rules.collect::<Option<_>>()?,
            findings: value.get("findings")?.as_array()?.iter().map(Finding::from_json).collect::<Option<_>>()?,
        })
    }
}

/// The least fraction of observed lanes that must be decided.
pub const FLOOR_LANES: f64 = 0.80;
/// The largest fraction of programs that may be vacuous.
pub const CEILING_VACUOUS: f64 = 0.02;

impl Tally {
    /// The floors and ceilings that the campaign misses, each as a sentence.
    pub fn missed_floors(&self, with_device: bool) -> Vec<String> {
        let mut missed = Vec::new();
        let counts = if with_device { &self.device } else { &self.semantics };
        let lanes = counts.lanes.all();
        if lanes > 0 && (counts.lanes.checked as f64) < FLOOR_LANES * lanes as f64 {
            missed.push(format!("only {} of {lanes} lanes are decided; the floor is {:.0} %", counts.lanes.checked, FLOOR_LANES * 100.0));
        }
        let (vacuous, all) = (self.semantics.of("vacuous"), self.semantics.all());
        if vacuous as f64 > CEILING_VACUOUS * all as f64 {
            missed.push(format!("{vacuous} of {all} programs are vacuous; the ceiling is {:.0} %", CEILING_VACUOUS * 100.0));
        }
        missed
    }
}

/// The result of one program before a device runs it.
pub struct Judged {
    /// The verdict of the semantics.
    pub verdict: Verdict,
    /// The case and what the device must show, if the program has a value on every pixel.
    pub awaited: Option<(Case, Awaited)>,
}

/// Judges one program of a campaign, and adds the result to a tally.
pub fn judge(tree: &Tree, settings: &Settings, tally: &mut Tally) -> Judged {
    let program = match Program::resolve(tree) {
        Ok(program) => program,
        Err(e) => {
            let what = format!("a generated program does not resolve: {} ({})", e.message, e.code);
            return no_case(Difference::of(Engine::Generator, Engine::Typing, what), tally);
        }
    };
    tally.nodes += program.size as u64;
    let case = match Case::new(program, settings) {
        Ok(case) => case,
        Err(NoCase::IllTyped(e)) => {
            let what = format!("a program that is well typed by construction is refused: {} ({})", e.message(), e.code());
            return no_case(Difference::of(Engine::Generator, Engine::Typing, what), tally);
        }
        Err(NoCase::Decided(verdict)) => return no_case(verdict, tally),
    };
    let ran = case.run(settings);
    tally.steps += ran.steps;
    tally.referenced += u64::from(ran.referenced > 0);
    if settings.references {
        for rule in case.derivation.rules().into_iter().chain(case.translated.rules.iter().copied()).chain(ran.rules.iter().copied()) {
            *tally.rules.entry(rule).or_default() += 1;
        }
    }
    let components: Vec<u32> = case.translated.outputs.iter().map(|t| t.components).collect();
    let lanes = decided(&ran.expected, &components);
    tally.semantics.count(&ran.verdict, lanes);
    if !ran.expected.is_empty() {
        tally.acceptance.add(&ran.acceptance);
    }
    let awaited = Awaited::new(&case, &ran, settings.size.0);
    Judged { verdict: ran.verdict, awaited: awaited.map(|a| (case, a)) }
}

fn no_case(verdict: Verdict, tally: &mut Tally) -> Judged {
    tally.semantics.count(&verdict, Lanes::default());
    Judged { verdict, awaited: None }
}

/// Tries an ill-typed near-miss. The rule that the generator broke must reject it.
pub fn judge_near_miss(seed: u64, settings: &Settings, limits: &generate::Limits) -> Result<(), Unexpected> {
    let (tree, expected) = generate::near_miss(seed, limits);
    let found = match Program::resolve(&tree) {
        Err(e) => e.code.to_string(),
        Ok(program) => match typing::infer_planted(&program, settings.limits, settings.planted.typing) {
            Err(e) => e.code().to_string(),
            Ok(_) => "accepted".to_string(),
        },
    };
    match found == expected.code {
        true => Ok(()),
        false => Err(format!("a near-miss must be rejected by {} and is: {found}", expected.code).into()),
    }
}

impl SourceLanguage for Plan {
    type Tally = Tally;
    type Awaited = Awaited;

    fn extent(&self) -> Extent {
        Plan::extent(self)
    }

    fn identity(&self, device: Option<&str>) -> Value {
        Plan::identity(self, device)
    }

    fn judge(&self, index: u64, with_device: bool, tally: &mut Tally) -> Vec<(Awaited, Dispatch)> {
        let settings = Settings { references: self.samples(index), ..self.settings.clone() };
        let judged = judge(&self.program(index), &settings, tally);
        tally.findings.extend(Finding::of(index, &judged.verdict, false));
        if self.near_misses > 0 && index.is_multiple_of(self.near_misses) {
            tally.near_misses += 1;
            if let Err(Unexpected { what }) = judge_near_miss(self.program_seed(index), &settings, &self.limits) {
                let group = what.clone();
                tally.findings.push(Finding { index, verdict: "disagree".into(), group, what, near_miss: true, device: false });
            }
        }
        let awaited = judged.awaited.filter(|_| with_device);
        awaited.map(|(case, awaited)| (awaited, case.dispatch(self.settings.size).into())).into_iter().collect()
    }

    fn compare(&self, index: u64, returned: Vec<Returned<Awaited>>, device: &str, route: Route, tally: &mut Tally) {
        for (awaited, outcome) in returned {
            let (verdict, lanes) = awaited.compare(&outcome, device, route);
            tally.device.count(&verdict, lanes);
            tally.findings.extend(Finding::of(index, &verdict, true));
        }
    }
}

impl Totals for Tally {
    fn add(&mut self, other: Tally) {
        Tally::add(self, other);
    }

    fn programs(&self) -> u64 {
        self.semantics.all()
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut [Finding] {
        &mut self.findings
    }

    fn to_json(&self) -> Value {
        Tally::to_json(self)
    }

    fn from_json(value: &Value) -> Option<Tally> {
        Tally::from_json(value)
    }
}

/// The settings with the profile by which a campaign on this device judges.
///
/// # Errors
/// The device does not have that profile, or there is no device and the profile depends on
/// the adapter.
pub fn settings_for(device: Option<&Device>, choice: Choice, settings: Settings) -> Result<Settings, NoProfile> {
    let profile = match device {
        Some(device) => choice.of_programs(device.adapter().float_controls, device.route())?,
        None => {
            choice.alone().ok_or_else(|| NoProfile::NotQueried("the profile declared is an adapter's, and no device takes part".into()))?
        }
    };
    Ok(Settings { profile, ..settings })
}

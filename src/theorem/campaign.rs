//! Campaigns: the theorem over generated programs.
//!
//! Program i of a campaign is a function of the campaign's seed and i, so nothing depends on
//! threads or on what ran before. What programs that are done came to is written to the journal
//! every few seconds, so an interrupted campaign goes on with nothing counted twice and little done
//! again. With a device, programs go to it while the interpreters work on the next, and a program
//! is done when it is back. If the device is gone for good, the campaign ends; the programs that it
//! has not answered are not done.

use super::acceptance::Acceptance;
use super::case::{Case, NoCase, Settings, decided};
use super::device::{Awaited, Choice, NoProfile};
use super::journal::{Indices, Journal, Part};
use super::{Difference, Engine, Lanes, Verdict};
use crate::dispatch::FragmentDispatch;
use crate::generate;
use crate::gpu::{Device, DeviceOutcome};
use serde_json::{Value, json};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing;
use smallstep_semantics::number::Profile;
use smallstep_semantics::rule::Rule;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many programs a thread takes at once. Shards are made of whole chunks.
pub const CHUNK: u64 = 1000;
/// How long a thread keeps to itself what the programs that it has judged came to.
const HAND_OVER: Duration = Duration::from_secs(1);

/// What a campaign runs.
#[derive(Clone)]
pub struct Plan {
    /// The seed of all programs.
    pub seed: u64,
    /// How many programs all shards have together; none: until the time is up.
    pub count: Option<u64>,
    /// How long new chunks are begun.
    pub time: Option<Duration>,
    /// Which of how many shards this is: of N shards, number I takes the chunks I, I + N, …
    pub shard: (u64, u64),
    /// One program in so many runs on the reference relations too, with the
    /// derivation check; 0: none.
    pub references: u64,
    /// For one program in so many an ill-typed near-miss is tried too; 0: none.
    pub near_misses: u64,
    /// How programs are judged. `references` in it is decided per program.
    pub settings: Settings,
    /// Threads.
    pub threads: usize,
    /// The size and mix of programs.
    pub limits: generate::Limits,
}

impl Plan {
    /// What makes two plans the same campaign, for the journal's first line.
    pub fn identity(&self, device: Option<&str>) -> Value {
        json!({
            "seed": self.seed, "count": self.count, "shard": [self.shard.0, self.shard.1], "references": self.references,
            "near_misses": self.near_misses, "size": [self.settings.size.0, self.settings.size.1], "fuel": self.settings.fuel,
            "profile": format!("{:?}", self.settings.profile), "constants": format!("{:?}", self.settings.constants),
            "theorem": super::theorem_name(self.settings.theorem), "device": device, "chunk": CHUNK, "generator": generate::VERSION,
            "rough": self.limits.rough_percent, "grid": self.limits.grid_percent,
        })
    }

    /// The seed of program `index`.
    pub fn program_seed(&self, index: u64) -> u64 {
        // SplitMix64's finalizer, so that neighbouring campaigns share no programs.
        let mut z = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Program `index`.
    pub fn program(&self, index: u64) -> Tree {
        generate::well_typed(self.program_seed(index), &self.limits)
    }

    /// Whether these programs, at least one, are of this campaign and its shard.
    pub fn has(&self, range: &Range<u64>) -> bool {
        let (shard, of) = self.shard;
        let (first, last) = (range.start / CHUNK, range.end.saturating_sub(1) / CHUNK);
        let whole = of == 1 || (first == last && first % of == shard);
        whole && range.start < range.end && self.count.is_none_or(|count| range.end <= count)
    }

    /// The programs of chunk number `i` of this shard; none if the campaign has not so many.
    fn chunk(&self, i: u64) -> Option<Range<u64>> {
        let first = i.checked_mul(self.shard.1)?.checked_add(self.shard.0)?.checked_mul(CHUNK)?;
        let end = first.checked_add(CHUNK)?.min(self.count.unwrap_or(u64::MAX));
        (first < end).then_some(first..end)
    }

    fn samples(&self, index: u64) -> bool {
        self.references > 0 && index.is_multiple_of(self.references)
    }
}

/// The programs of a campaign as a device gets them, without end: those with a value on every
/// pixel, which are nearly all.
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

/// The verdicts, in the order of a tally.
pub const VERDICTS: [&str; 6] = ["agree", "disagree", "vacuous", "undecided", "unchecked", "failed"];

/// Programs by verdict, and lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Programs, in the order of [`VERDICTS`].
    pub programs: [u64; 6],
    /// Lanes.
    pub lanes: Lanes,
}

impl Counts {
    fn count(&mut self, verdict: &Verdict, lanes: Lanes) {
        let i = VERDICTS.iter().position(|n| *n == verdict.name());
        self.programs[i.unwrap_or(5)] += 1;
        self.lanes += lanes;
    }

    fn add(&mut self, other: &Counts) {
        self.programs.iter_mut().zip(other.programs).for_each(|(a, b)| *a = a.saturating_add(b));
        self.lanes += other.lanes;
    }

    /// Programs with this verdict.
    pub fn of(&self, verdict: &str) -> u64 {
        VERDICTS.iter().position(|n| *n == verdict).map_or(0, |i| self.programs[i])
    }

    /// Programs of all verdicts.
    pub fn all(&self) -> u64 {
        self.programs.iter().fold(0, |all, &n| all.saturating_add(n))
    }

    /// As JSON: verdict → programs, and lanes.
    pub fn to_json(&self) -> Value {
        let mut object: serde_json::Map<_, _> = VERDICTS.iter().zip(self.programs).map(|(n, c)| (n.to_string(), json!(c))).collect();
        object.insert("lanes".into(), json!([self.lanes.checked, self.lanes.undecided]));
        object.into()
    }

    /// Back from JSON.
    pub fn from_json(value: &Value) -> Option<Counts> {
        let mut counts = Counts::default();
        for (name, n) in VERDICTS.iter().zip(&mut counts.programs) {
            *n = value.get(name)?.as_u64()?;
        }
        let lanes = value.get("lanes")?;
        counts.lanes = Lanes { checked: lanes.get(0)?.as_u64()?, undecided: lanes.get(1)?.as_u64()? };
        Some(counts)
    }
}

/// A program that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its index in the campaign.
    pub index: u64,
    /// The verdict's name: disagree or failed.
    pub verdict: String,
    /// Programs of one group have the same engines and rule to blame.
    pub group: String,
    /// What differs.
    pub what: String,
    /// Whether it is about the ill-typed near-miss of that index.
    pub near_miss: bool,
    /// Whether a device is one of the two.
    pub device: bool,
}

impl Finding {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({"index": self.index, "verdict": self.verdict, "group": self.group, "what": self.what, "near_miss": self.near_miss, "device": self.device})
    }

    /// Back from JSON.
    pub fn from_json(value: &Value) -> Option<Finding> {
        let text = |key: &str| value.get(key)?.as_str().map(String::from);
        Some(Finding {
            index: value.get("index")?.as_u64()?,
            verdict: text("verdict")?,
            group: text("group")?,
            what: text("what")?,
            near_miss: value.get("near_miss")?.as_bool()?,
            device: value.get("device")?.as_bool()?,
        })
    }
}

/// What a number of programs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The semantics with each other. The lanes are all that were compared, and those that a device
    /// could not be held to.
    pub semantics: Counts,
    /// The device.
    pub device: Counts,
    /// What a device must show, component by component.
    pub acceptance: Acceptance,
    /// Programs that ran on the reference relations too.
    pub referenced: u64,
    /// Near-misses tried.
    pub near_misses: u64,
    /// Steps of the source.
    pub steps: u64,
    /// Nodes of the programs.
    pub nodes: u64,
    /// How often programs used each rule (typing and translation on all programs, reduction and
    /// SPIR-V where the relations ran).
    pub rules: BTreeMap<Rule, u64>,
    /// What is not as it must be.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// Adds another tally. What is too large for a number, as no campaign's and only a forged
    /// journal's can be, is the largest.
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

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let rules: serde_json::Map<_, _> = self.rules.iter().map(|(r, n)| (r.name().to_string(), json!(n))).collect();
        json!({
            "semantics": self.semantics.to_json(), "device": self.device.to_json(), "acceptance": self.acceptance.to_json(), "referenced": self.referenced,
            "near_misses": self.near_misses,
            "steps": self.steps, "nodes": self.nodes, "rules": rules, "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }

    /// Back from JSON.
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

/// The fraction of observed lanes that must be compared, and that of programs that may be vacuous.
pub const FLOOR_LANES: f64 = 0.80;
/// See [`FLOOR_LANES`].
pub const CEILING_VACUOUS: f64 = 0.02;

impl Tally {
    /// Which floors a campaign stays under, each as a sentence.
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

/// What a program came to before any device has it.
pub struct Judged {
    /// The verdict of the semantics.
    pub verdict: Verdict,
    /// The case, if there is one, and what the device must show.
    pub awaited: Option<(Case, Awaited)>,
}

/// Judges one program of a campaign, and adds what it came to to a tally.
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

/// Tries an ill-typed near-miss: it must be rejected, by the rule that the generator broke.
pub fn judge_near_miss(seed: u64, settings: &Settings, limits: &generate::Limits) -> Result<(), String> {
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
        false => Err(format!("a near-miss must be rejected by {} and is: {found}", expected.code)),
    }
}

/// Something to report while a campaign runs.
pub trait Progress: Sync {
    /// So many programs are done, of so many (if that is known), with so many findings.
    fn advanced(&self, programs: u64, of: Option<u64>, findings: u64);
}

impl Progress for () {
    fn advanced(&self, _: u64, _: Option<u64>, _: u64) {}
}

struct Shared<'a> {
    plan: &'a Plan,
    device: Option<&'a Device>,
    device_name: String,
    progress: &'a dyn Progress,
    /// Programs that the device has: what it must show, and what the semantics came to.
    awaited: Mutex<HashMap<u64, (Awaited, Tally)>>,
    journal: Mutex<(Journal, std::io::Result<()>)>,
    /// Why the device is gone, if it is.
    outage: Mutex<Option<String>>,
    next: AtomicU64,
    judging: AtomicU64,
    /// Whether the campaign ends early.
    stopped: AtomicBool,
    begun: Instant,
}

/// How a campaign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the programs that are done came to.
    pub tally: Tally,
    /// Why the device was given up, if it was: then other programs are left.
    pub outage: Option<String>,
    /// Failures of workers that no program repeated ([`Device::unrepeated`]).
    pub unrepeated: u64,
}

/// Runs a campaign. What the journal holds already is not run again, and counted once.
///
/// Errors: the journal cannot be written.
pub fn run(plan: &Plan, device: Option<&Device>, journal: Journal, progress: &dyn Progress) -> std::io::Result<Report> {
    let shared = Shared {
        plan,
        device,
        device_name: device.map_or(String::new(), |d| format!("{} ({})", d.adapter().name, d.route())),
        progress,
        awaited: Mutex::new(HashMap::new()),
        outage: Mutex::new(None),
        next: AtomicU64::new(0),
        judging: AtomicU64::new(plan.threads as u64),
        stopped: AtomicBool::new(false),
        begun: Instant::now(),
        journal: Mutex::new((journal, Ok(()))),
    };
    std::thread::scope(|scope| {
        for _ in 0..plan.threads {
            // Terms are deep; `deep` grows the stack where this is not enough.
            let worker = || {
                while let Some(missing) = shared.next_chunk() {
                    shared.judge_chunk(missing);
                }
                shared.judging.fetch_sub(1, Ordering::SeqCst);
            };
            scope.spawn(worker);
        }
        if let Some(device) = device {
            scope.spawn(|| shared.receive(device));
        }
    });
    let (mut journal, written) = shared.journal.into_inner().unwrap_or_else(|e| e.into_inner());
    written?;
    journal.flush()?;
    let mut tally = journal.tally().clone();
    tally.findings.sort_by_key(|f| (f.index, f.near_miss, f.device));
    let outage = shared.outage.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(Report { tally, outage, unrepeated: device.map_or(0, Device::unrepeated) })
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Shared<'_> {
    /// What is not done of the next chunk of this shard that is not done.
    fn next_chunk(&self) -> Option<Vec<Range<u64>>> {
        loop {
            if self.stopped.load(Ordering::SeqCst) || self.plan.time.is_some_and(|t| self.begun.elapsed() >= t) {
                return None;
            }
            let chunk = self.plan.chunk(self.next.fetch_add(1, Ordering::SeqCst))?;
            let missing = locked(&self.journal).0.missing(chunk);
            if !missing.is_empty() {
                return Some(missing);
            }
        }
    }

    fn judge_chunk(&self, missing: Vec<Range<u64>>) {
        let mut part = Part::default();
        let mut since = Instant::now();
        for index in missing.into_iter().flatten() {
            if self.stopped.load(Ordering::SeqCst) {
                break;
            }
            let mut tally = Tally::default();
            let tree = self.plan.program(index);
            let settings = Settings { references: self.plan.samples(index), ..self.plan.settings.clone() };
            let judged = judge(&tree, &settings, &mut tally);
            self.note(&mut tally, index, &judged.verdict, false);
            if self.plan.near_misses > 0 && index.is_multiple_of(self.plan.near_misses) {
                tally.near_misses += 1;
                if let Err(what) = judge_near_miss(self.plan.program_seed(index), &settings, &self.plan.limits) {
                    let group = what.clone();
                    tally.findings.push(Finding { index, verdict: "disagree".into(), group, what, near_miss: true, device: false });
                }
            }
            if let (Some(device), Some((case, awaited))) = (self.device, judged.awaited) {
                locked(&self.awaited).insert(index, (awaited, tally));
                device.submit(index, case.dispatch(self.plan.settings.size));
            } else {
                part.add(index, tally);
            }
            if since.elapsed() >= HAND_OVER {
                self.done(std::mem::take(&mut part));
                since = Instant::now();
            }
        }
        self.done(part);
    }

    fn note(&self, tally: &mut Tally, index: u64, verdict: &Verdict, device: bool) {
        let group = match verdict {
            Verdict::Disagree(difference) => difference.group(),
            Verdict::Failed(why) => why.clone(),
            _ => return,
        };
        tally.findings.push(Finding { index, verdict: verdict.name().into(), group, what: verdict.why(), near_miss: false, device });
    }

    /// Takes what comes back from the device until nothing more will.
    fn receive(&self, device: &Device) {
        loop {
            // Asked before receiving: what was submitted before the last judge ended is then sure
            // to be received.
            let last = self.judging.load(Ordering::SeqCst) == 0;
            let Some(finished) = device.receive() else {
                if last {
                    return;
                }
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            let Some((awaited, mut tally)) = locked(&self.awaited).remove(&finished.id) else { continue };
            if let DeviceOutcome::Outage(why) = finished.outcome {
                // Nothing is known of it on the device, so that it is not done.
                locked(&self.outage).get_or_insert(why);
                self.stopped.store(true, Ordering::SeqCst);
                continue;
            }
            let (verdict, lanes) = awaited.compare(&finished.outcome, &self.device_name, device.route());
            tally.device.count(&verdict, lanes);
            self.note(&mut tally, finished.id, &verdict, true);
            let mut part = Part::default();
            part.add(finished.id, tally);
            self.done(part);
        }
    }

    /// Notes that programs are done.
    fn done(&self, part: Part) {
        if part.indices == Indices::default() {
            return;
        }
        let mut journal = locked(&self.journal);
        if let Err(e) = journal.0.add(part) {
            self.stopped.store(true, Ordering::SeqCst);
            journal.1 = Err(e);
        }
        let tally = journal.0.tally();
        self.progress.advanced(tally.semantics.all(), self.plan.count, tally.findings.len() as u64);
    }
}

/// The settings with the profile that a campaign on this device judges under.
///
/// # Errors
/// The device has not that profile; without one, a profile is asked for that is an adapter's.
pub fn settings_for(device: Option<&Device>, choice: Choice, settings: Settings) -> Result<Settings, NoProfile> {
    let profile = match device {
        Some(device) => choice.of_programs(device.adapter().float_controls, device.route())?,
        None => {
            choice.alone().ok_or_else(|| NoProfile::NotQueried("the profile declared is an adapter's, and no device takes part".into()))?
        }
    };
    Ok(Settings { profile, ..settings })
}

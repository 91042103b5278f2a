//! Campaigns: the theorem over generated programs.
//!
//! Program i of a campaign is a function of the campaign's seed and i, so nothing depends on threads or on what ran before. Programs are judged
//! in chunks; a chunk that is done is written to the journal as one line, so an interrupted campaign goes on with nothing lost and nothing
//! counted twice. With a device, programs go to it while the interpreters work on the next.

use super::acceptance::Acceptance;
use super::case::{Case, NoCase, Settings, decided};
use super::device::{Awaited, Choice, NoProfile};
use super::journal::Journal;
use super::{Difference, Engine, Lanes, Verdict};
use crate::dispatch::FragmentDispatch;
use crate::generate;
use crate::gpu::Device;
use serde_json::{Value, json};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing;
use smallstep_semantics::number::Profile;
use smallstep_semantics::rule::Rule;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many programs one line of a journal stands for.
pub const CHUNK: u64 = 1000;

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
    /// One program in so many runs on the reference relations too, with the derivation check; 0: none.
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

    fn samples(&self, index: u64) -> bool {
        self.references > 0 && index.is_multiple_of(self.references)
    }
}

/// The programs of a campaign as a device gets them, without end: those with a value on every pixel, which are nearly all.
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
        self.programs.iter_mut().zip(other.programs).for_each(|(a, b)| *a += b);
        self.lanes += other.lanes;
    }

    /// Programs with this verdict.
    pub fn of(&self, verdict: &str) -> u64 {
        VERDICTS.iter().position(|n| *n == verdict).map_or(0, |i| self.programs[i])
    }

    /// Programs of all verdicts.
    pub fn all(&self) -> u64 {
        self.programs.iter().sum()
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
    /// The semantics with each other. The lanes are all that were compared, and those that a device could not be held to.
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
    /// How often programs used each rule (typing and translation on all programs, reduction and SPIR-V where the relations ran).
    pub rules: BTreeMap<Rule, u64>,
    /// What is not as it must be.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.semantics.add(&other.semantics);
        self.device.add(&other.device);
        self.acceptance.add(&other.acceptance);
        self.referenced += other.referenced;
        self.near_misses += other.near_misses;
        self.steps += other.steps;
        self.nodes += other.nodes;
        for (rule, n) in other.rules {
            *self.rules.entry(rule).or_default() += n;
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
        let lanes = counts.lanes.checked + counts.lanes.undecided;
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

/// A chunk whose programs are not all back from the device.
struct Open {
    tally: Tally,
    /// Programs that the device has.
    pending: u64,
    /// Whether the interpreters are done with it.
    judged: bool,
}

struct Shared<'a> {
    plan: &'a Plan,
    device: Option<&'a Device>,
    device_name: String,
    progress: &'a dyn Progress,
    open: Mutex<HashMap<u64, Open>>,
    awaited: Mutex<HashMap<u64, Awaited>>,
    journal: Mutex<(Journal, Tally, std::io::Result<()>)>,
    next: AtomicU64,
    judging: AtomicU64,
    failed: AtomicBool,
    begun: Instant,
}

/// Runs a campaign. What the journal holds already is not run again, and counted once.
///
/// Errors: the journal cannot be written.
pub fn run(plan: &Plan, device: Option<&Device>, journal: Journal, progress: &dyn Progress) -> std::io::Result<Tally> {
    let tally = journal.tally().clone();
    let shared = Shared {
        plan,
        device,
        device_name: device.map_or(String::new(), |d| format!("{} ({})", d.adapter().name, d.route())),
        progress,
        open: Mutex::new(HashMap::new()),
        awaited: Mutex::new(HashMap::new()),
        next: AtomicU64::new(0),
        judging: AtomicU64::new(plan.threads as u64),
        failed: AtomicBool::new(false),
        begun: Instant::now(),
        journal: Mutex::new((journal, tally, Ok(()))),
    };
    std::thread::scope(|scope| {
        for _ in 0..plan.threads {
            // Terms are deep; `deep` grows the stack where this is not enough.
            let worker = || {
                while let Some(chunk) = shared.next_chunk() {
                    shared.judge_chunk(chunk);
                }
                shared.judging.fetch_sub(1, Ordering::SeqCst);
            };
            scope.spawn(worker);
        }
        if let Some(device) = device {
            scope.spawn(|| shared.receive(device));
        }
    });
    let (_, mut tally, written) = shared.journal.into_inner().unwrap_or_else(|e| e.into_inner());
    written?;
    tally.findings.sort_by_key(|f| (f.index, f.near_miss, f.device));
    Ok(tally)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Shared<'_> {
    /// The next chunk of this shard that the journal does not hold.
    fn next_chunk(&self) -> Option<u64> {
        loop {
            if self.failed.load(Ordering::SeqCst) || self.plan.time.is_some_and(|t| self.begun.elapsed() >= t) {
                return None;
            }
            let chunk = self.next.fetch_add(1, Ordering::SeqCst) * self.plan.shard.1 + self.plan.shard.0;
            if self.plan.count.is_some_and(|count| chunk.saturating_mul(CHUNK) >= count) {
                return None;
            }
            if !locked(&self.journal).0.holds(chunk) {
                return Some(chunk);
            }
        }
    }

    fn judge_chunk(&self, chunk: u64) {
        let end = ((chunk + 1) * CHUNK).min(self.plan.count.unwrap_or(u64::MAX));
        locked(&self.open).insert(chunk, Open { tally: Tally::default(), pending: 0, judged: false });
        let mut tally = Tally::default();
        for index in chunk * CHUNK..end {
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
                locked(&self.awaited).insert(index, awaited);
                if let Some(open) = locked(&self.open).get_mut(&chunk) {
                    open.pending += 1;
                }
                device.submit(index, case.dispatch(self.plan.settings.size));
            }
        }
        if let Some(open) = locked(&self.open).get_mut(&chunk) {
            open.tally.add(tally);
            open.judged = true;
        }
        self.close(chunk);
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
            // Asked before receiving: what was submitted before the last judge ended is then sure to be received.
            let last = self.judging.load(Ordering::SeqCst) == 0;
            let Some(finished) = device.receive() else {
                if last {
                    return;
                }
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            let Some(awaited) = locked(&self.awaited).remove(&finished.id) else { continue };
            let (verdict, lanes) = awaited.compare(&finished.outcome, &self.device_name, device.route());
            let chunk = finished.id / CHUNK;
            let mut tally = Tally::default();
            tally.device.count(&verdict, lanes);
            self.note(&mut tally, finished.id, &verdict, true);
            if let Some(open) = locked(&self.open).get_mut(&chunk) {
                open.tally.add(tally);
                open.pending -= 1;
            }
            self.close(chunk);
        }
    }

    /// Writes a chunk to the journal once everything of it is there.
    fn close(&self, chunk: u64) {
        let done = {
            let mut open = locked(&self.open);
            match open.get(&chunk) {
                Some(o) if o.judged && o.pending == 0 => open.remove(&chunk),
                _ => None,
            }
        };
        let Some(Open { mut tally, .. }) = done else { return };
        tally.findings.sort_by_key(|f| (f.index, f.near_miss, f.device));
        let mut journal = locked(&self.journal);
        if let Err(e) = journal.0.write(chunk, &tally) {
            self.failed.store(true, Ordering::SeqCst);
            journal.2 = Err(e);
        }
        journal.1.add(tally);
        self.progress.advanced(journal.1.semantics.all(), self.plan.count, journal.1.findings.len() as u64);
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

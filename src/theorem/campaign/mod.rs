//! Campaigns: the theorem over generated programs of any source language.
//!
//! Program i of a campaign is a function of the campaign's seed and i, so nothing depends on
//! threads or on what ran before. What programs that are done came to is written to the journal
//! every few seconds, so an interrupted campaign goes on with nothing counted twice and little done
//! again. With a device, programs go to it while the interpreters work on the next, and a program
//! is done when all of it is back. If the device is gone for good, the campaign ends; the programs
//! that it has not answered are not done.
//!
//! A language says which programs there are and how each is judged ([`SourceLanguage`]);
//! `lambda_v` does for λV, [`super::wsl`] for WSL.

mod lambda_v;

pub use lambda_v::{CEILING_VACUOUS, FLOOR_LANES, Judged, Plan, Tally, dispatches, judge, judge_near_miss, settings_for};

use super::journal::{Indices, Journal, Part};
use super::{Lanes, Verdict};
use crate::dispatch::Dispatch;
use crate::gpu::{Device, DeviceOutcome, Route};
use serde_json::{Value, json};
use smallstep_semantics::random;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many programs a thread takes at once. Shards are made of whole chunks.
pub const CHUNK: u64 = 1000;
/// How long a thread keeps to itself what the programs that it has judged came to.
const HAND_OVER: Duration = Duration::from_secs(1);

/// Which programs a campaign has, and how it works on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The seed of all programs.
    pub seed: u64,
    /// How many programs all shards have together; none: until the time is up.
    pub count: Option<u64>,
    /// How long new chunks are begun.
    pub time: Option<Duration>,
    /// Which of how many shards this is: of N shards, number I takes the chunks I, I + N, …
    pub shard: (u64, u64),
    /// How many threads judge programs; nothing depends on it but the time.
    pub threads: usize,
}

impl Extent {
    /// The seed of program `index`.
    pub fn program_seed(&self, index: u64) -> u64 {
        // Mixed, so that neighbouring campaigns share no programs.
        random::mix(self.seed.wrapping_mul(random::STEP).wrapping_add(index))
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

    /// Why the shard has no programs, if it has none.
    pub fn empty_shard(&self) -> Option<String> {
        let (count, (shard, _)) = (self.count?, self.shard);
        (shard.saturating_mul(CHUNK) >= count).then(|| {
            let chunks = count.div_ceil(CHUNK);
            format!("shard {shard} has no programs: {count} programs are {chunks} chunks of {CHUNK}, counted from 0")
        })
    }
}

/// What came back of a dispatch: what was kept of it, and what became of it.
pub type Returned<A> = (A, DeviceOutcome);

/// What a campaign asks of a source language, by its plan.
pub trait SourceLanguage: Sync {
    /// What programs come to.
    type Tally: Totals;
    /// What is kept of a dispatch while a device has it.
    type Awaited: Send;

    /// Which programs there are.
    fn extent(&self) -> Extent;

    /// What makes two plans the same campaign, for the journal's first line. `device`: the one
    /// that takes part.
    fn identity(&self, device: Option<&str>) -> Value;

    /// Judges program `index` between the interpreters, and adds what it comes to, findings too.
    /// Gives what a device is to run of it, if one takes part.
    fn judge(&self, index: u64, with_device: bool, tally: &mut Self::Tally) -> Vec<(Self::Awaited, Dispatch)>;

    /// Adds what a device makes of program `index`, given all that came back of it, in the order
    /// in which [`SourceLanguage::judge`] gave it. `device` names the device and its route.
    fn compare(&self, index: u64, returned: Vec<Returned<Self::Awaited>>, device: &str, route: Route, tally: &mut Self::Tally);
}

/// What a number of programs came to.
pub trait Totals: Clone + Default + PartialEq + Send {
    /// Adds another tally.
    fn add(&mut self, other: Self);

    /// How many programs it is of.
    fn programs(&self) -> u64;

    /// What is not as it must be.
    fn findings(&self) -> &[Finding];

    /// The same, to be put in order.
    fn findings_mut(&mut self) -> &mut [Finding];

    /// What a journal's line holds of it.
    fn to_json(&self) -> Value;

    /// Back from JSON; none if it is no tally.
    fn from_json(value: &Value) -> Option<Self>;

    /// Puts the findings in order.
    fn sort_findings(&mut self) {
        self.findings_mut().sort_by_key(|f| (f.index, f.near_miss, f.device));
    }
}

/// The verdicts, in the order of a tally.
pub const VERDICTS: [&str; 8] = ["agree", "disagree", "vacuous", "undecided", "unchecked", "failed", "refused", "undefined"];
/// So many of them are every language's. JSON and reports name the others where there are any.
pub const ALWAYS: usize = 6;

/// Programs by verdict, and lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Programs, in the order of [`VERDICTS`].
    pub programs: [u64; VERDICTS.len()],
    /// Lanes.
    pub lanes: Lanes,
}

impl Counts {
    /// Counts a program.
    pub fn count(&mut self, verdict: &Verdict, lanes: Lanes) {
        let i = VERDICTS.iter().position(|n| *n == verdict.name());
        self.programs[i.unwrap_or(5)] += 1;
        self.lanes += lanes;
    }

    /// Adds the counts of other programs.
    pub fn add(&mut self, other: &Counts) {
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

    /// The verdicts that a report names, each with how many programs have it.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = VERDICTS.into_iter().zip(self.programs).enumerate();
        all.filter(|(i, (_, n))| *i < ALWAYS || *n > 0).map(|(_, shown)| shown)
    }

    /// As JSON: verdict → programs, and lanes.
    pub fn to_json(&self) -> Value {
        let mut object: serde_json::Map<_, _> = self.shown().map(|(n, c)| (n.to_string(), json!(c))).collect();
        object.insert("lanes".into(), json!([self.lanes.checked, self.lanes.undecided]));
        object.into()
    }

    /// Back from JSON.
    pub fn from_json(value: &Value) -> Option<Counts> {
        let mut counts = Counts::default();
        for (i, (name, n)) in VERDICTS.iter().zip(&mut counts.programs).enumerate() {
            *n = match value.get(name) {
                None if i >= ALWAYS => 0,
                given => given?.as_u64()?,
            };
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
    /// What a verdict on a program is, if it is not as it must be. `device`: whether one is judged.
    pub fn of(index: u64, verdict: &Verdict, device: bool) -> Option<Finding> {
        let (group, what) = match verdict {
            Verdict::Disagree(difference) => (difference.group(), difference.explained()),
            Verdict::Failed(why) => (why.clone(), verdict.why()),
            _ => return None,
        };
        Some(Finding { index, verdict: verdict.name().into(), group, what, near_miss: false, device })
    }

    /// As journals and reports have it: index, verdict, group, what, near_miss, device.
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

/// Something to report while a campaign runs.
pub trait Progress: Sync {
    /// So many programs are done, of so many (if that is known), with so many findings.
    fn advanced(&self, programs: u64, of: Option<u64>, findings: u64);
}

impl Progress for () {
    fn advanced(&self, _: u64, _: Option<u64>, _: u64) {}
}

/// A program that a device has.
struct Pending<L: SourceLanguage> {
    /// Its dispatches, and what became of those that are back.
    parts: Vec<(L::Awaited, Option<DeviceOutcome>)>,
    /// What the semantics came to.
    tally: L::Tally,
}

/// What a device has: programs by index, and their dispatches by the number that each was submitted
/// under.
struct OnDevice<L: SourceLanguage> {
    programs: HashMap<u64, Pending<L>>,
    dispatches: HashMap<u64, (u64, usize)>,
    submitted: u64,
}

struct Shared<'a, L: SourceLanguage> {
    plan: &'a L,
    extent: Extent,
    device: Option<&'a Device>,
    device_name: String,
    progress: &'a dyn Progress,
    awaited: Mutex<OnDevice<L>>,
    journal: Mutex<(Journal<L::Tally>, std::io::Result<()>)>,
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
pub struct Report<T = Tally> {
    /// What the programs that are done came to.
    pub tally: T,
    /// Why the device was given up, if it was: then other programs are left.
    pub outage: Option<String>,
    /// Failures of workers that no program repeated ([`Device::unrepeated`]).
    pub unrepeated: u64,
}

/// Runs a campaign. What the journal holds already is not run again, and counted once.
///
/// Errors: the journal cannot be written.
pub fn run<L: SourceLanguage>(
    plan: &L,
    device: Option<&Device>,
    journal: Journal<L::Tally>,
    progress: &dyn Progress,
) -> std::io::Result<Report<L::Tally>> {
    let extent = plan.extent();
    let shared = Shared {
        plan,
        extent,
        device,
        device_name: device.map_or(String::new(), |d| format!("{} ({})", d.adapter().name, d.route())),
        progress,
        awaited: Mutex::new(OnDevice { programs: HashMap::new(), dispatches: HashMap::new(), submitted: 0 }),
        outage: Mutex::new(None),
        next: AtomicU64::new(0),
        judging: AtomicU64::new(extent.threads as u64),
        stopped: AtomicBool::new(false),
        begun: Instant::now(),
        journal: Mutex::new((journal, Ok(()))),
    };
    std::thread::scope(|scope| {
        for _ in 0..extent.threads {
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
    tally.sort_findings();
    let outage = shared.outage.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(Report { tally, outage, unrepeated: device.map_or(0, Device::unrepeated) })
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl<L: SourceLanguage> Shared<'_, L> {
    /// What is not done of the next chunk of this shard that is not done.
    fn next_chunk(&self) -> Option<Vec<Range<u64>>> {
        loop {
            if self.stopped.load(Ordering::SeqCst) || self.extent.time.is_some_and(|t| self.begun.elapsed() >= t) {
                return None;
            }
            let chunk = self.extent.chunk(self.next.fetch_add(1, Ordering::SeqCst))?;
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
            let mut tally = L::Tally::default();
            let dispatches = self.plan.judge(index, self.device.is_some(), &mut tally);
            match self.device {
                Some(device) if !dispatches.is_empty() => self.submit(device, index, dispatches, tally),
                _ => part.add(index, tally),
            }
            if since.elapsed() >= HAND_OVER {
                self.done(std::mem::take(&mut part));
                since = Instant::now();
            }
        }
        self.done(part);
    }

    /// Gives the device all of a program.
    fn submit(&self, device: &Device, index: u64, dispatches: Vec<(L::Awaited, Dispatch)>, tally: L::Tally) {
        let (awaited, dispatches): (Vec<_>, Vec<_>) = dispatches.into_iter().unzip();
        let first = {
            let mut waiting = locked(&self.awaited);
            let first = waiting.submitted;
            waiting.submitted += dispatches.len() as u64;
            waiting.dispatches.extend((0..dispatches.len()).map(|part| (first + part as u64, (index, part))));
            let parts = awaited.into_iter().map(|awaited| (awaited, None)).collect();
            waiting.programs.insert(index, Pending { parts, tally });
            first
        };
        for (id, dispatch) in (first..).zip(dispatches) {
            device.submit(id, dispatch);
        }
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
            let Some((index, pending)) = self.received(finished.id, finished.outcome) else { continue };
            let Pending { parts, mut tally } = pending;
            let returned = parts.into_iter().filter_map(|(awaited, outcome)| Some((awaited, outcome?))).collect();
            self.plan.compare(index, returned, &self.device_name, device.route(), &mut tally);
            let mut part = Part::default();
            part.add(index, tally);
            self.done(part);
        }
    }

    /// Notes what became of a dispatch. Gives its program, if that is the last of it.
    fn received(&self, id: u64, outcome: DeviceOutcome) -> Option<(u64, Pending<L>)> {
        let mut waiting = locked(&self.awaited);
        let (index, part) = waiting.dispatches.remove(&id)?;
        if let DeviceOutcome::Outage(why) = outcome {
            // Nothing is known of it on the device, so that it is not done.
            waiting.programs.remove(&index);
            locked(&self.outage).get_or_insert(why);
            self.stopped.store(true, Ordering::SeqCst);
            return None;
        }
        let pending = waiting.programs.get_mut(&index)?;
        if let Some((_, slot)) = pending.parts.get_mut(part) {
            *slot = Some(outcome);
        }
        let done = pending.parts.iter().all(|(_, outcome)| outcome.is_some());
        if done { waiting.programs.remove(&index).map(|pending| (index, pending)) } else { None }
    }

    /// Notes that programs are done.
    fn done(&self, part: Part<L::Tally>) {
        if part.indices == Indices::default() {
            return;
        }
        let mut journal = locked(&self.journal);
        if let Err(e) = journal.0.add(part) {
            self.stopped.store(true, Ordering::SeqCst);
            journal.1 = Err(e);
        }
        let tally = journal.0.tally();
        self.progress.advanced(tally.programs(), self.extent.count, tally.findings().len() as u64);
    }
}

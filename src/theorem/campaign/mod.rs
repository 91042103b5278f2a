//! Campaigns: the theorem over generated programs of any source language.
//!
//! Program i of a campaign is a function of the campaign's seed and i. Threads and earlier programs
//! do not affect it. Every few seconds the results of finished programs go to the journal. So an
//! interrupted campaign resumes without counting a program twice, and repeats little. With a
//! device, the interpreters work on the next programs while it runs the last ones. A program is
//! finished once the device has answered all of it. If the device is gone for good, the campaign
//! ends, and programs without its answers are not finished.
//!
//! A language defines its programs and how to judge them ([`SourceLanguage`]): `lambda_v` for λV,
//! [`super::wsl`] for WSL.

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

/// The number of programs in a chunk, which one thread judges. Shards consist of whole chunks.
pub const CHUNK: u64 = 1000;
/// How long a thread collects results before it reports them.
const HAND_OVER: Duration = Duration::from_secs(1);

/// The programs of a campaign, and how it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The seed of all programs.
    pub seed: u64,
    /// The number of programs in all shards together. Without one, the campaign runs until its time
    /// is up.
    pub count: Option<u64>,
    /// The time after which no chunk begins.
    pub time: Option<Duration>,
    /// The shard: number I of N takes the chunks I, I + N, …
    pub shard: (u64, u64),
    /// The number of threads that judge programs. Only the duration depends on it.
    pub threads: usize,
}

impl Extent {
    /// The seed of program `index`.
    pub fn program_seed(&self, index: u64) -> u64 {
        // The seed is mixed, so that neighbouring campaigns share no programs.
        random::mix(self.seed.wrapping_mul(random::STEP).wrapping_add(index))
    }

    /// Whether these programs, at least one, belong to this campaign and its shard.
    pub fn has(&self, range: &Range<u64>) -> bool {
        let (shard, shards) = self.shard;
        let (first, last) = (range.start / CHUNK, range.end.saturating_sub(1) / CHUNK);
        let in_shard = shards == 1 || (first == last && first % shards == shard);
        in_shard && range.start < range.end && self.count.is_none_or(|count| range.end <= count)
    }

    /// The programs of chunk `i` of this shard. `None` beyond the last.
    fn chunk(&self, i: u64) -> Option<Range<u64>> {
        let first = i.checked_mul(self.shard.1)?.checked_add(self.shard.0)?.checked_mul(CHUNK)?;
        let end = first.checked_add(CHUNK)?.min(self.count.unwrap_or(u64::MAX));
        (first < end).then_some(first..end)
    }

    /// Why the shard is empty, if it is.
    pub fn empty_shard(&self) -> Option<String> {
        let (count, (shard, _)) = (self.count?, self.shard);
        (shard.saturating_mul(CHUNK) >= count).then(|| {
            let chunks = count.div_ceil(CHUNK);
            format!("shard {shard} has no programs: {count} programs are {chunks} chunks of {CHUNK}, counted from 0")
        })
    }
}

/// A finished dispatch: what the language kept of it, and its outcome.
pub type Returned<A> = (A, DeviceOutcome);

/// What a campaign needs from a source language.
pub trait SourceLanguage: Sync {
    /// The results of programs.
    type Tally: Totals;
    /// What the language keeps of a dispatch while a device runs it.
    type Awaited: Send;

    /// The programs of the campaign.
    fn extent(&self) -> Extent;

    /// What identifies the campaign, for the journal's first line. `device` is the one that takes
    /// part.
    fn identity(&self, device: Option<&str>) -> Value;

    /// Judges program `index` by the interpreters and adds the result, with its findings. Returns
    /// the dispatches for a device, if one takes part.
    fn judge(&self, index: u64, with_device: bool, tally: &mut Self::Tally) -> Vec<(Self::Awaited, Dispatch)>;

    /// Adds what a device shows of program `index`, from its finished dispatches in the order in
    /// which [`SourceLanguage::judge`] returned them. `device` names the device and its route.
    fn compare(&self, index: u64, returned: Vec<Returned<Self::Awaited>>, device: &str, route: Route, tally: &mut Self::Tally);
}

/// The results of some programs.
pub trait Totals: Clone + Default + PartialEq + Send {
    /// Adds other results.
    fn add(&mut self, other: Self);

    /// The number of programs.
    fn programs(&self) -> u64;

    /// The findings.
    fn findings(&self) -> &[Finding];

    /// The findings, to be sorted.
    fn findings_mut(&mut self) -> &mut [Finding];

    /// The results as a journal's line has them.
    fn to_json(&self) -> Value;

    /// The inverse. `None` if the JSON holds no results.
    fn from_json(value: &Value) -> Option<Self>;

    /// Sorts the findings.
    fn sort_findings(&mut self) {
        self.findings_mut().sort_by_key(|f| (f.index, f.near_miss, f.device));
    }
}

/// The verdicts, in the order of their counts.
pub const VERDICTS: [&str; 8] = ["agree", "disagree", "vacuous", "undecided", "unchecked", "failed", "refused", "undefined"];
/// The first so many verdicts apply to every language. JSON and reports name the others if they
/// occur.
pub const ALWAYS: usize = 6;

/// The numbers of programs by verdict, and of lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The numbers of programs, in the order of [`VERDICTS`].
    pub programs: [u64; VERDICTS.len()],
    /// The number of lanes.
    pub lanes: Lanes,
}

impl Counts {
    /// Counts a program.
    pub fn count(&mut self, verdict: &Verdict, lanes: Lanes) {
        let i = VERDICTS.iter().position(|n| *n == verdict.name());
        self.programs[i.unwrap_or(5)] += 1;
        self.lanes += lanes;
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.programs.iter_mut().zip(other.programs).for_each(|(a, b)| *a = a.saturating_add(b));
        self.lanes += other.lanes;
    }

    /// The number of programs with this verdict.
    pub fn of(&self, verdict: &str) -> u64 {
        VERDICTS.iter().position(|n| *n == verdict).map_or(0, |i| self.programs[i])
    }

    /// The number of all programs.
    pub fn all(&self) -> u64 {
        self.programs.iter().fold(0, |all, &n| all.saturating_add(n))
    }

    /// The verdicts that a report names, with their numbers of programs.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = VERDICTS.into_iter().zip(self.programs).enumerate();
        all.filter(|(i, (_, n))| *i < ALWAYS || *n > 0).map(|(_, shown)| shown)
    }

    /// As JSON: numbers of programs by verdict, and of lanes.
    pub fn to_json(&self) -> Value {
        let mut object: serde_json::Map<_, _> = self.shown().map(|(n, c)| (n.to_string(), json!(c))).collect();
        object.insert("lanes".into(), json!([self.lanes.checked, self.lanes.undecided]));
        object.into()
    }

    /// Reads what [`Counts::to_json`] writes. `None` for any other JSON.
    pub fn from_json(value: &Value) -> Option<Counts> {
        let mut counts = Counts::default();
        for (i, (name, n)) in VERDICTS.iter().zip(&mut counts.programs).enumerate() {
            *n = match value.get(name) {
                None if i >= ALWAYS => 0,
                number => number?.as_u64()?,
            };
        }
        let lanes = value.get("lanes")?;
        counts.lanes = Lanes { checked: lanes.get(0)?.as_u64()?, undecided: lanes.get(1)?.as_u64()? };
        Some(counts)
    }
}

/// A program with a verdict that needs attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its index in the campaign.
    pub index: u64,
    /// The verdict's name: disagree or failed.
    pub verdict: String,
    /// The group of the finding: programs with the same engines and the same rule to blame.
    pub group: String,
    /// The difference.
    pub what: String,
    /// Whether it concerns the ill-typed near-miss of that index.
    pub near_miss: bool,
    /// Whether one of the two engines is a device.
    pub device: bool,
}

impl Finding {
    /// The finding for a verdict, if that needs attention. `device`: whether one was judged.
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

    /// Reads what [`Finding::to_json`] writes. `None` for any other JSON.
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

/// An event to report while a campaign runs.
pub trait Progress: Sync {
    /// The numbers of finished programs, of all programs if known, and of findings.
    fn advanced(&self, programs: u64, of: Option<u64>, findings: u64);
}

impl Progress for () {
    fn advanced(&self, _: u64, _: Option<u64>, _: u64) {}
}

/// A program on a device.
struct Pending<L: SourceLanguage> {
    /// Its dispatches, with the outcomes of finished ones.
    parts: Vec<(L::Awaited, Option<DeviceOutcome>)>,
    /// The result of the interpreters.
    tally: L::Tally,
}

/// The work on a device: programs by index, and dispatches by their submission numbers.
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
    on_device: Mutex<OnDevice<L>>,
    journal: Mutex<(Journal<L::Tally>, std::io::Result<()>)>,
    /// Why the device is gone, if it is.
    outage: Mutex<Option<String>>,
    next: AtomicU64,
    judging: AtomicU64,
    /// Whether the campaign ends early.
    stopped: AtomicBool,
    begun: Instant,
}

/// The end of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<T = Tally> {
    /// The results of finished programs.
    pub tally: T,
    /// Why the device was given up, if it was. Then other programs are not finished.
    pub outage: Option<String>,
    /// Failures of workers that no program repeated ([`Device::unrepeated`]).
    pub unrepeated: u64,
}

/// Runs a campaign. Programs in the journal do not run again and count once.
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
        on_device: Mutex::new(OnDevice { programs: HashMap::new(), dispatches: HashMap::new(), submitted: 0 }),
        outage: Mutex::new(None),
        next: AtomicU64::new(0),
        judging: AtomicU64::new(extent.threads as u64),
        stopped: AtomicBool::new(false),
        begun: Instant::now(),
        journal: Mutex::new((journal, Ok(()))),
    };
    std::thread::scope(|scope| {
        for _ in 0..extent.threads {
            // Terms are deep. `deep` grows the stack if this is not enough.
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
    /// The unfinished programs of this shard's next unfinished chunk.
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

    /// Submits all dispatches of a program to the device.
    fn submit(&self, device: &Device, index: u64, dispatches: Vec<(L::Awaited, Dispatch)>, tally: L::Tally) {
        let (awaited, dispatches): (Vec<_>, Vec<_>) = dispatches.into_iter().unzip();
        let first = {
            let mut waiting = locked(&self.on_device);
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

    /// Receives outcomes from the device until no more will come.
    fn receive(&self, device: &Device) {
        loop {
            // The order matters: whatever was submitted before the last judge ended will then be
            // received.
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

    /// Records the outcome of a dispatch. Returns its program if that is the last.
    fn received(&self, id: u64, outcome: DeviceOutcome) -> Option<(u64, Pending<L>)> {
        let mut waiting = locked(&self.on_device);
        let (index, part) = waiting.dispatches.remove(&id)?;
        if let DeviceOutcome::Outage(why) = outcome {
            // The device has told nothing of the program, so it is not finished.
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

    /// Records finished programs.
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

//! Programs per second, on the bare device and through the harness.
//!
//! The *bare* half is like a prototype that measures only the device. Some threads in this process
//! each make the pipelines of a batch and draw it in one submission. While a thread waits, it
//! makes the pipelines of the next batch. The *harness* half is [`Device::run_all`]: programs run
//! through the supervised worker process. Both halves draw with the same code, on the same
//! adapter, by turns.
//!
//! A driver remembers the programs that it has compiled, even between processes. So the half that
//! gets a program second would find the work done. In a measured round each half therefore draws
//! its own programs, every other program of one source. Before that, both halves draw the same
//! programs, and every frame is compared. The time to open the device does not count.

use std::fmt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::batch::{Runner, Submitted};
use super::open::{BatchError, OpenDevice};
use super::wire::Declined;
use super::worker::BATCH;
use super::{AdapterRecord, Device, DeviceOutcome, Finished, NoDevice, Options, Route, Selection};
use crate::dispatch::{Dispatch, Shown};

mod modules;

pub use modules::{computations, programs};

/// The options of a measurement.
#[derive(Clone, Debug)]
pub struct RateOptions {
    /// The number of measured rounds.
    pub rounds: usize,
    /// The number of programs that each half draws in a round.
    pub programs: usize,
    /// The number of threads of the bare half. 0 for one per core.
    pub threads: usize,
    /// The device options of the harness.
    pub device: Options,
}

/// The times of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The number of programs that each half drew.
    pub programs: usize,
    /// The time of the bare half.
    pub bare: Duration,
    /// The time of the harness.
    pub harness: Duration,
}

impl Round {
    /// The programs per second of the bare half.
    pub fn bare_rate(&self) -> f64 {
        self.programs as f64 / self.bare.as_secs_f64()
    }

    /// The programs per second of the harness.
    pub fn harness_rate(&self) -> f64 {
        self.programs as f64 / self.harness.as_secs_f64()
    }

    /// The harness's rate divided by the bare rate.
    pub fn ratio(&self) -> f64 {
        self.bare.as_secs_f64() / self.harness.as_secs_f64()
    }
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Rates {
    /// The adapter that both halves used.
    pub adapter: AdapterRecord,
    /// The route of both halves.
    pub route: Route,
    /// The number of worker processes of the harness.
    pub workers: usize,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
}

impl Rates {
    /// The median over the rounds of a number for each round.
    pub fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        let mut numbers: Vec<f64> = self.rounds.iter().map(of).collect();
        numbers.sort_by(f64::total_cmp);
        let middle = numbers.len() / 2;
        match numbers.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => numbers[middle],
            _ => (numbers[middle - 1] + numbers[middle]) / 2.0,
        }
    }
}

/// The reason why there is no measurement.
#[derive(Debug)]
#[non_exhaustive]
pub enum RateError {
    /// There is no device.
    NoDevice(NoDevice),
    /// The source had too few programs, a program was not drawn, or the halves drew
    /// different frames.
    Programs(String),
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateError::NoDevice(none) => none.fmt(f),
            RateError::Programs(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RateError {}

impl From<NoDevice> for RateError {
    fn from(none: NoDevice) -> RateError {
        RateError::NoDevice(none)
    }
}

/// Measures both rates with programs from `source`. It must have enough of them: two rounds' worth
/// for each measured round, and one round to warm up. `progress` gets each finished round.
///
/// The bare half runs in this process, so a driver that crashes on a program ends this process. The
/// process must have been started with the environment of its own
/// [`ShaderCache`](super::ShaderCache), as the workers of the harness are. Otherwise the two halves
/// would find different cache contents.
pub fn measure<I: Iterator<Item = Dispatch>>(
    selection: &Selection,
    route: Option<Route>,
    options: &RateOptions,
    source: impl FnOnce(Route) -> I,
    mut progress: impl FnMut(&Round),
) -> Result<Rates, RateError> {
    let bare = OpenDevice::open(selection, route)?;
    let mut source = source(bare.route);
    let mut harness = Device::open(selection, Some(bare.route), options.device.clone())?;
    if *harness.adapter() != bare.record {
        return Err(RateError::Programs(format!("the halves opened different adapters, {} and {}", bare.record, harness.adapter())));
    }
    let threads = match options.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let mut run = |half: Half, programs: Vec<Dispatch>| -> Result<(Duration, Vec<Option<Shown>>), RateError> {
        let begun = Instant::now();
        let shown = match half {
            Half::Bare => run_bare(&bare, threads, &programs),
            Half::Harness => run_through_harness(&mut harness, programs),
        };
        let duration = begun.elapsed();
        Ok((duration, shown?))
    };
    let mut take = |count: usize| -> Result<Vec<Dispatch>, RateError> {
        let programs: Vec<Dispatch> = source.by_ref().take(count).collect();
        if programs.len() < count {
            return Err(RateError::Programs(format!("the source of programs ended: {} where {count} were asked for", programs.len())));
        }
        Ok(programs)
    };
    let shared_programs = take(options.programs)?;
    let (_, from_bare) = run(Half::Bare, shared_programs.clone())?;
    let (_, from_harness) = run(Half::Harness, shared_programs.clone())?;
    if let Some(at) = (0..shared_programs.len()).find(|&i| from_bare[i] != from_harness[i]) {
        let hash = shared_programs[at].words_hash();
        return Err(RateError::Programs(format!("program {at}, words {hash:#018x}, showed something else bare and through the harness")));
    }
    let mut rounds = Vec::new();
    for number in 0..options.rounds {
        let (mut for_bare, mut for_harness) = (Vec::new(), Vec::new());
        for pair in take(2 * options.programs)?.chunks_exact(2) {
            for_bare.push(pair[0].clone());
            for_harness.push(pair[1].clone());
        }
        let (bare, harness) = if number % 2 == 0 {
            let (bare, _) = run(Half::Bare, for_bare)?;
            (bare, run(Half::Harness, for_harness)?.0)
        } else {
            let (harness, _) = run(Half::Harness, for_harness)?;
            (run(Half::Bare, for_bare)?.0, harness)
        };
        let round = Round { programs: options.programs, bare, harness };
        progress(&round);
        rounds.push(round);
    }
    Ok(Rates { adapter: bare.record.clone(), route: bare.route, workers: harness.workers(), rounds })
}

/// The two halves of a measurement.
#[derive(Clone, Copy)]
enum Half {
    Bare,
    Harness,
}

fn run_through_harness(device: &mut Device, programs: Vec<Dispatch>) -> Result<Vec<Option<Shown>>, RateError> {
    let mut shown = vec![None; programs.len()];
    for Finished { id, outcome, .. } in device.run_all(programs) {
        match outcome {
            DeviceOutcome::Drawn(frame) => shown[id as usize] = Some(Shown::Frame(frame)),
            DeviceOutcome::Computed(result) => shown[id as usize] = Some(Shown::Buffers(result)),
            DeviceOutcome::Rendered(result) => shown[id as usize] = Some(Shown::Drawn(result)),
            other => {
                return Err(RateError::Programs(format!("program {id} was not run by the harness: {other}")));
            }
        }
    }
    Ok(shown)
}

fn run_bare(device: &OpenDevice, threads: usize, programs: &[Dispatch]) -> Result<Vec<Option<Shown>>, RateError> {
    // Batches are small, so that every thread gets several.
    let batch = (programs.len() / (threads * 4)).clamp(1, BATCH);
    let batches = Mutex::new(programs.chunks(batch).enumerate());
    let next = || batches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let run = || -> Result<Vec<(usize, Vec<Shown>)>, String> {
        let mut runner = Runner::new(device);
        let mut drawn = Vec::new();
        let mut waiting: Option<(usize, Submitted)> = None;
        let finish = |runner: &mut Runner<'_>, waiting: Option<(usize, Submitted)>| -> Result<_, BatchError> {
            waiting.map(|(at, submitted)| runner.finish(submitted).map(|shown| (at, shown))).transpose()
        };
        while let Some((at, chunk)) = next() {
            let compiled = chunk.iter().map(|program| device.compile(program)).collect::<Result<Vec<_>, _>>();
            let compiled = compiled.map_err(|(Declined::Refused(why) | Declined::Unchecked(why))| why)?;
            let submitted = runner.submit(compiled).map_err(|error| error.to_string())?;
            drawn.extend(finish(&mut runner, waiting.replace((at, submitted))).map_err(|error| error.to_string())?);
        }
        drawn.extend(finish(&mut runner, waiting).map_err(|error| error.to_string())?);
        Ok(drawn)
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a bare thread panicked".into()))).collect()
    });
    let mut frames = vec![None; programs.len()];
    for result in results {
        for (at, drawn) in result.map_err(|why| RateError::Programs(format!("a program was not run bare: {why}")))? {
            for (i, frame) in drawn.into_iter().enumerate() {
                frames[at * batch + i] = Some(frame);
            }
        }
    }
    Ok(frames)
}

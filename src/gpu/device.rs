//! A device as its users see it: programs go in, outcomes come out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::adapters::{AdapterRecord, NoDevice, Selection};
use super::child::Launch;
use super::shader_cache::ShaderCache;
use super::supervisor::{Coordinator, Event};
use super::{Finished, Route};
use crate::dispatch::Dispatch;

/// How a device is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that has the `worker` subcommand; None for this one ([`std::env::current_exe`]).
    pub executable: Option<PathBuf>,
    /// How long one program may take, compiled and run alone.
    pub program_limit: Duration,
    /// How long a worker may take to open its device.
    pub start_limit: Duration,
    /// After so many workers in a row that did not start, the device is given up. Between them are
    /// pauses of 0.2 s, then twice as long each time, up to 10 s. The first worker of all is
    /// started once only.
    pub start_attempts: u32,
    /// Worker processes, each with a device of its own on the same adapter; 0 for as many as a
    /// stream of small programs wants on this adapter and machine ([`Device::workers`] says how
    /// many that are).
    pub workers: usize,
    /// How many programs one worker holds at once.
    pub window: usize,
    /// Compiling threads of one worker; 0 for the cores of this machine divided by the workers.
    pub compile_threads: usize,
    /// Variables added to a worker's environment.
    pub environment: Vec<(OsString, OsString)>,
}

impl Default for Options {
    /// This executable, 20 s for a program, 60 s for a start, 12 starts (pauses of a minute in
    /// all), one worker with 256 programs.
    fn default() -> Options {
        Options {
            executable: None,
            program_limit: Duration::from_secs(20),
            start_limit: Duration::from_secs(60),
            start_attempts: 12,
            workers: 1,
            window: 256,
            compile_threads: 0,
            environment: Vec::new(),
        }
    }
}

/// An adapter with worker processes on it: programs go in, outcomes come out, in any order.
///
/// It may be shared between threads. Dropping it ends the workers; what was not received is dropped
/// with it.
pub struct Device {
    record: AdapterRecord,
    route: Route,
    workers: usize,
    shared: Arc<Shared>,
    coordinators: Coordinators,
    /// Removed when the workers have ended.
    _cache: ShaderCache,
}

/// The threads that run the workers. Dropping them ends them, and the workers.
#[derive(Default)]
struct Coordinators(Vec<(mpsc::Sender<Event>, JoinHandle<()>)>);

impl Drop for Coordinators {
    fn drop(&mut self) {
        for (coordinator, _) in &self.0 {
            let _ = coordinator.send(Event::Closed);
        }
        for (_, thread) in self.0.drain(..) {
            let _ = thread.join();
        }
    }
}

/// What the coordinators and the users of a device share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Programs may be submitted again.
    room: Condvar,
    /// A program finished.
    done: Condvar,
    capacity: usize,
    pub(super) restarts: AtomicU64,
    pub(super) unrepeated: AtomicU64,
    /// Where coordinators hear that there are programs to take.
    waiting: Mutex<Vec<mpsc::Sender<Event>>>,
    /// Workers that are not given up.
    pub(super) workers: AtomicUsize,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) pending: VecDeque<Job>,
    finished: VecDeque<Finished>,
    /// Submitted and not finished.
    unfinished: usize,
    /// How many were handed to [`Device::run`]; the last one's number.
    runs: u64,
}

impl State {
    /// The next program for a worker that holds so many already. None while it has its share of all
    /// that are unfinished: where they are few, each worker gets some.
    pub(super) fn take(&mut self, holds: usize, workers: usize) -> Option<Job> {
        if holds > 0 && holds >= self.unfinished.div_ceil(workers.max(1)) { None } else { self.pending.pop_front() }
    }
}

/// A program and the number that its user gave it.
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) dispatch: Dispatch,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells every coordinator that there are programs to take.
    pub(super) fn wake(&self) {
        for coordinator in self.waiting.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A coordinator that is gone has panicked, and `Device::receive` tells.
            let _ = coordinator.send(Event::Submitted);
        }
    }

    pub(super) fn finish(&self, finished: Finished) {
        let mut state = self.lock();
        state.unfinished -= 1;
        state.finished.push_back(finished);
        drop(state);
        self.room.notify_one();
        self.done.notify_all();
    }
}

impl Device {
    /// Starts the workers and waits until each has its device open.
    ///
    /// Without a `route`, passthrough where the adapter offers it, else naga. The error says, for
    /// people, what there is instead, or how to get a device.
    pub fn open(selection: &Selection, route: Option<Route>, options: Options) -> Result<Device, NoDevice> {
        if options.workers > 0 {
            return Device::with_workers(options.workers, selection, route, options);
        }
        // Which adapter it is shows when it is open.
        let one = Device::with_workers(1, selection, route, options.clone())?;
        match suitable_workers(&one.record.kind, thread::available_parallelism().map_or(1, usize::from)) {
            1 => Ok(one),
            workers => {
                drop(one);
                Device::with_workers(workers, selection, route, options)
            }
        }
    }

    fn with_workers(workers: usize, selection: &Selection, route: Option<Route>, options: Options) -> Result<Device, NoDevice> {
        let options = Options { workers, ..options };
        let cache =
            ShaderCache::new().map_err(|error| NoDevice(format!("no temporary directory could be made for the driver: {error}")))?;
        let mut launch = Launch::new(selection, route, &options)?;
        // What the caller asks for stands last, so that it holds.
        launch.environment.splice(0..0, cache.environment());
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            room: Condvar::new(),
            done: Condvar::new(),
            capacity: options.window.max(1).saturating_mul(workers).saturating_mul(2),
            restarts: AtomicU64::new(0),
            unrepeated: AtomicU64::new(0),
            waiting: Mutex::new(Vec::new()),
            workers: AtomicUsize::new(workers),
        });
        let mut coordinators = Coordinators::default();
        let mut starting = Vec::new();
        for _ in 0..workers {
            let (sender, events) = mpsc::channel();
            let (ready, is_ready) = mpsc::channel();
            let coordinator = Coordinator::new(shared.clone(), launch.clone(), &options, (sender.clone(), events), ready);
            let thread = thread::Builder::new()
                .name("device".into())
                .spawn(move || coordinator.run())
                .map_err(|error| NoDevice(format!("no thread could be started: {error}")))?;
            shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(sender.clone());
            coordinators.0.push((sender, thread));
            starting.push(is_ready);
        }
        let mut opened = None;
        for is_ready in starting {
            let early = |_| NoDevice("the thread that starts the worker ended early".into());
            opened = Some(is_ready.recv().map_err(early)??);
        }
        let (record, route) = opened.ok_or_else(|| NoDevice("no worker was started".into()))?;
        Ok(Device { record, route, workers, shared, coordinators, _cache: cache })
    }

    /// The adapter.
    pub fn adapter(&self) -> &AdapterRecord {
        &self.record
    }

    /// The route that every program takes.
    pub fn route(&self) -> Route {
        self.route
    }

    /// How many worker processes it has.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// How many workers were started again, because one crashed, hung or lost its device.
    pub fn restarts(&self) -> u64 {
        self.shared.restarts.load(Ordering::Relaxed)
    }

    /// How many crashes, hangs and losses of a worker were no program's: each of those that it
    /// held, if any, passed when it was run alone.
    pub fn unrepeated(&self) -> u64 {
        self.shared.unrepeated.load(Ordering::Relaxed)
    }

    /// Hands a program over; the number comes back with its outcome and need not be unique.
    ///
    /// Waits while two windows' worth of programs for each worker are unfinished. It never waits
    /// for [`Device::receive`], so one thread may submit everything and then receive; what it has
    /// not received is in memory, and is bounded if it receives as it goes, or by
    /// [`Device::run_all`].
    pub fn submit(&self, id: u64, dispatch: impl Into<Dispatch>) {
        let mut state = self.shared.lock();
        while state.unfinished >= self.shared.capacity {
            state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.enqueue(state, Job { id, dispatch: dispatch.into() });
    }

    /// Hands a program over, or gives it back where [`Device::submit`] would wait.
    pub fn try_submit(&self, id: u64, dispatch: impl Into<Dispatch>) -> Result<(), Dispatch> {
        let state = self.shared.lock();
        if state.unfinished >= self.shared.capacity {
            return Err(dispatch.into());
        }
        self.enqueue(state, Job { id, dispatch: dispatch.into() });
        Ok(())
    }

    fn enqueue(&self, mut state: MutexGuard<'_, State>, job: Job) {
        state.unfinished += 1;
        state.pending.push_back(job);
        drop(state);
        self.shared.wake();
    }

    /// Waits for the next program that comes back. None if everything that was
    /// submitted has been received.
    pub fn receive(&self) -> Option<Finished> {
        self.wait(VecDeque::pop_front)
    }

    /// Waits until something that has come back is taken; none if nothing is left to wait for.
    fn wait(&self, take: impl Fn(&mut VecDeque<Finished>) -> Option<Finished>) -> Option<Finished> {
        let mut state = self.shared.lock();
        loop {
            if let Some(finished) = take(&mut state.finished) {
                return Some(finished);
            }
            if state.unfinished == 0 {
                return None;
            }
            assert!(
                !self.coordinators.0.iter().any(|(_, thread)| thread.is_finished()),
                "a coordinator lives as long as its device, and one has ended with {} programs unfinished",
                state.unfinished
            );
            state = self.shared.done.wait_timeout(state, Duration::from_secs(1)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next program that has come back already.
    pub fn try_receive(&self) -> Option<Finished> {
        self.shared.lock().finished.pop_front()
    }

    /// Runs all these programs, numbered from 0, taking them as there is room for them. Outcomes
    /// come in any order. Memory is bounded.
    pub fn run_all<I>(&mut self, programs: I) -> RunAll<'_, I::IntoIter>
    where
        I: IntoIterator<Item: Into<Dispatch>>,
    {
        RunAll { device: self, programs: programs.into_iter(), next_id: 0, held: None, exhausted: false }
    }

    /// Runs one program and waits for it. Several threads may do so at a time, and the workers then
    /// share their programs out; none of them may submit or receive meanwhile.
    pub fn run(&self, program: impl Into<Dispatch>) -> Finished {
        let id = {
            let mut state = self.shared.lock();
            state.runs += 1;
            state.runs
        };
        self.submit(id, program);
        let own = |finished: &mut VecDeque<Finished>| {
            let at = finished.iter().position(|finished| finished.id == id)?;
            finished.remove(at)
        };
        self.wait(own).expect("every submitted program comes back")
    }
}

/// How many workers run a stream of small programs fastest on an adapter of this kind.
fn suitable_workers(kind: &str, cores: usize) -> usize {
    match kind {
        // lavapipe compiles on one thread for each device.
        "software" => 2,
        // One process keeps some eight cores at work. More processes than that get in each other's
        // way: on 16 cores and an H200 two were fastest, and four slower than the bare device.
        _ => (cores / 8).clamp(1, 2),
    }
}

/// The outcomes of [`Device::run_all`].
pub struct RunAll<'d, I> {
    device: &'d Device,
    programs: I,
    next_id: u64,
    held: Option<Dispatch>,
    exhausted: bool,
}

impl<I: Iterator<Item: Into<Dispatch>>> Iterator for RunAll<'_, I> {
    type Item = Finished;

    fn next(&mut self) -> Option<Finished> {
        while !self.exhausted {
            let Some(program) = self.held.take().or_else(|| self.programs.next().map(Into::into)) else {
                self.exhausted = true;
                break;
            };
            if let Err(program) = self.device.try_submit(self.next_id, program) {
                self.held = Some(program);
                break;
            }
            self.next_id += 1;
            // What has come back is given before more is taken, so that the caller's work and the
            // device's overlap.
            if let Some(finished) = self.device.try_receive() {
                return Some(finished);
            }
        }
        self.device.receive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, State, suitable_workers};
    use crate::dispatch::ComputeDispatch;

    /// Two programs go to two workers, whichever asks first; one that has none always gets one.
    #[test]
    fn programs_are_shared_out_among_workers() {
        let job = |id| Job { id, dispatch: ComputeDispatch::default().into() };
        let mut state = State { pending: [1, 2].map(job).into(), unfinished: 2, ..State::default() };
        let mut take = |holds| state.take(holds, 2).map(|job| job.id);
        assert_eq!([take(0), take(1), take(0), take(0)], [Some(1), None, Some(2), None]);
        let mut state = State { pending: (0..6).map(job).collect(), unfinished: 6, ..State::default() };
        assert_eq!((0..6).map_while(|holds| state.take(holds, 2)).count(), 3);
    }

    #[test]
    fn the_cores_of_a_machine_are_shared_out() {
        let of = |kind| [1, 2, 4, 7, 8, 16, 32, 128].map(|cores| suitable_workers(kind, cores));
        assert_eq!(of("discrete"), [1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(of("software"), [2; 8]);
    }
}

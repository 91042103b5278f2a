//! The device for its users: programs go in, and outcomes come out.

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

/// The options of a device.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that has the `worker` subcommand. None for this
    /// program ([`std::env::current_exe`]).
    pub executable: Option<PathBuf>,
    /// The time limit of one program, compiled and run alone.
    pub program_limit: Duration,
    /// The time limit for a worker to open its device.
    pub start_limit: Duration,
    /// The number of workers in a row that fail to start before the device is given up. The pause
    /// between attempts is 0.2 s first and then doubles, up to 10 s. The very first worker is
    /// started only once.
    pub start_attempts: u32,
    /// The number of worker processes, each with its own device on the same adapter. 0 chooses the
    /// number that suits a stream of small programs on this adapter and machine
    /// ([`Device::workers`] returns it).
    pub workers: usize,
    /// The number of programs that one worker holds at once.
    pub window: usize,
    /// The number of compiling threads of a worker. 0 for the cores of this machine divided by
    /// the workers.
    pub compile_threads: usize,
    /// Additional environment variables of a worker.
    pub environment: Vec<(OsString, OsString)>,
}

impl Default for Options {
    /// This executable, 20 s for a program, 60 s for a start, 12 starts (with pauses of a minute in
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

/// An adapter with worker processes on it. Programs go in, and outcomes come out in any order.
///
/// Threads may share it. Dropping it ends the workers and drops the outcomes that were
/// not received.
pub struct Device {
    record: AdapterRecord,
    route: Route,
    workers: usize,
    shared: Arc<Shared>,
    coordinators: Coordinators,
    /// The shader cache, which is removed after the workers have ended.
    _cache: ShaderCache,
}

/// The threads that run the workers. Dropping them ends them and the workers.
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

/// The state that the coordinators and the users of a device share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Notified when programs may be submitted again.
    room: Condvar,
    /// Notified when a program has finished.
    done: Condvar,
    capacity: usize,
    pub(super) restarts: AtomicU64,
    pub(super) unrepeated: AtomicU64,
    /// The channels that tell coordinators about new programs.
    coordinator_channels: Mutex<Vec<mpsc::Sender<Event>>>,
    /// The number of workers that are not given up.
    pub(super) workers: AtomicUsize,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) pending: VecDeque<Job>,
    finished: VecDeque<Finished>,
    /// The number of programs that are submitted and not finished.
    unfinished: usize,
    /// The number of programs that were passed to [`Device::run`], which is also the id of the
    /// last one.
    runs: u64,
}

impl State {
    /// The next program for a worker that holds `held_programs` programs. None if it has its share
    /// of all unfinished programs, so that each worker gets some if there are few.
    pub(super) fn take(&mut self, held_programs: usize, workers: usize) -> Option<Job> {
        if held_programs > 0 && held_programs >= self.unfinished.div_ceil(workers.max(1)) { None } else { self.pending.pop_front() }
    }
}

/// A program with the id that its user gave it.
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) dispatch: Dispatch,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells every coordinator that there are new programs.
    pub(super) fn wake(&self) {
        for coordinator in self.coordinator_channels.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // A missing coordinator has panicked, and `Device::receive` reports that.
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
    /// Starts the workers and waits until each has opened its device.
    ///
    /// Without a `route`, it is passthrough if the adapter offers it, and naga otherwise. The error
    /// says what is available instead, or how to get a device.
    pub fn open(selection: &Selection, route: Option<Route>, options: Options) -> Result<Device, NoDevice> {
        if options.workers > 0 {
            return Device::with_workers(options.workers, selection, route, options);
        }
        // The kind of the adapter is known once it is open.
        let single = Device::with_workers(1, selection, route, options.clone())?;
        match suitable_workers(&single.record.kind, thread::available_parallelism().map_or(1, usize::from)) {
            1 => Ok(single),
            workers => {
                drop(single);
                Device::with_workers(workers, selection, route, options)
            }
        }
    }

    fn with_workers(workers: usize, selection: &Selection, route: Option<Route>, options: Options) -> Result<Device, NoDevice> {
        let options = Options { workers, ..options };
        let cache =
            ShaderCache::new().map_err(|error| NoDevice(format!("no temporary directory could be made for the driver: {error}")))?;
        let mut launch = Launch::new(selection, route, &options)?;
        // The caller's variables come last, so that they override the others.
        launch.environment.splice(0..0, cache.environment());
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            room: Condvar::new(),
            done: Condvar::new(),
            capacity: options.window.max(1).saturating_mul(workers).saturating_mul(2),
            restarts: AtomicU64::new(0),
            unrepeated: AtomicU64::new(0),
            coordinator_channels: Mutex::new(Vec::new()),
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
            shared.coordinator_channels.lock().unwrap_or_else(PoisonError::into_inner).push(sender.clone());
            coordinators.0.push((sender, thread));
            starting.push(is_ready);
        }
        let mut opened = None;
        for is_ready in starting {
            let ended_early = |_| NoDevice("the thread that starts the worker ended early".into());
            opened = Some(is_ready.recv().map_err(ended_early)??);
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

    /// The number of worker processes.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The number of worker restarts, after a crash, a hang or a lost device.
    pub fn restarts(&self) -> u64 {
        self.shared.restarts.load(Ordering::Relaxed)
    }

    /// The number of worker crashes, hangs and lost devices that no program caused. Every program
    /// that such a worker held passed when it was run alone.
    pub fn unrepeated(&self) -> u64 {
        self.shared.unrepeated.load(Ordering::Relaxed)
    }

    /// Submits a program. The id comes back with its outcome, and need not be unique.
    ///
    /// Waits while the unfinished programs fill two windows for each worker. It never waits for
    /// [`Device::receive`], so one thread may submit everything and then receive. Outcomes that are
    /// not received stay in memory. To bound them, receive in between or use [`Device::run_all`].
    pub fn submit(&self, id: u64, dispatch: impl Into<Dispatch>) {
        let mut state = self.shared.lock();
        while state.unfinished >= self.shared.capacity {
            state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.enqueue(state, Job { id, dispatch: dispatch.into() });
    }

    /// Submits a program, or returns it if [`Device::submit`] would wait.
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

    /// Waits for the next outcome. None if all submitted programs have been received.
    pub fn receive(&self) -> Option<Finished> {
        self.wait(VecDeque::pop_front)
    }

    /// Waits until `take` takes an outcome. None if no program is unfinished.
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

    /// The next outcome that is available without waiting.
    pub fn try_receive(&self) -> Option<Finished> {
        self.shared.lock().finished.pop_front()
    }

    /// Runs all these programs, with ids from 0. It takes a program when there is room for it.
    /// Outcomes come in any order. Memory is bounded.
    pub fn run_all<I>(&mut self, programs: I) -> RunAll<'_, I::IntoIter>
    where
        I: IntoIterator<Item: Into<Dispatch>>,
    {
        RunAll { device: self, programs: programs.into_iter(), next_id: 0, unsubmitted: None, exhausted: false }
    }

    /// Runs one program and waits for it. Several threads may do so at a time, and their programs
    /// are shared out among the workers. No thread may submit or receive meanwhile.
    pub fn run(&self, program: impl Into<Dispatch>) -> Finished {
        let id = {
            let mut state = self.shared.lock();
            state.runs += 1;
            state.runs
        };
        self.submit(id, program);
        let take_own = |finished: &mut VecDeque<Finished>| {
            let at = finished.iter().position(|finished| finished.id == id)?;
            finished.remove(at)
        };
        self.wait(take_own).expect("every submitted program comes back")
    }
}

/// The number of workers that run a stream of small programs fastest on an adapter of this kind.
fn suitable_workers(kind: &str, cores: usize) -> usize {
    match kind {
        // lavapipe compiles with one thread per device.
        "software" => 2,
        // One process keeps about eight cores busy. More processes hinder each other: on 16 cores
        // and an H200, two were fastest, and four were slower than the bare device.
        _ => (cores / 8).clamp(1, 2),
    }
}

/// The outcomes of [`Device::run_all`].
pub struct RunAll<'d, I> {
    device: &'d Device,
    programs: I,
    next_id: u64,
    unsubmitted: Option<Dispatch>,
    exhausted: bool,
}

impl<I: Iterator<Item: Into<Dispatch>>> Iterator for RunAll<'_, I> {
    type Item = Finished;

    fn next(&mut self) -> Option<Finished> {
        while !self.exhausted {
            let Some(program) = self.unsubmitted.take().or_else(|| self.programs.next().map(Into::into)) else {
                self.exhausted = true;
                break;
            };
            if let Err(program) = self.device.try_submit(self.next_id, program) {
                self.unsubmitted = Some(program);
                break;
            }
            self.next_id += 1;
            // Outcomes are returned before further programs are taken, so that the work of the
            // caller and of the device overlap.
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

    /// Two programs go to two workers, in either order of asking. A worker without a program always
    /// gets one.
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
        let workers_for = |kind| [1, 2, 4, 7, 8, 16, 32, 128].map(|cores| suitable_workers(kind, cores));
        assert_eq!(workers_for("discrete"), [1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(workers_for("software"), [2; 8]);
    }
}

//! The parent's side: worker processes, what they hold, and whose fault it is when one ends.
//!
//! A worker normally holds a window of programs. When it ends, hangs or loses its device with several of them, nobody can say which one it was: they all
//! become *suspects*, and the next worker gets them one at a time, before anything else. Whoever is alone in a worker when it fails has failed. So one bad
//! program costs one or two restarts and its neighbours a second drawing, never a verdict.
//!
//! Time: among many, a worker hangs if for the limit nothing was reported, or if its oldest program has been overtaken by two windows' worth of others and
//! is older than the limit. That is a suspicion only; the limit as a verdict is measured on a program alone.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::adapters::{AdapterRecord, NoDevice, Selection};
use super::draw::Declined;
use super::shader_cache::ShaderCache;
use super::wire::{Draw, Report, WireError};
use super::{DeviceOutcome, Exit, Finished, Route};
use crate::dispatch::FragmentDispatch;

/// After so many workers in a row that did not even start, the device is given up.
const START_ATTEMPTS: u32 = 3;
/// What is kept of a worker's standard error, in bytes.
const STDERR_KEPT: usize = 4096;
/// How many of its last lines are shown.
const STDERR_LINES: usize = 8;
/// The most bytes of frames that a worker is asked for at once, unless a single program makes more.
const WINDOW_BYTES: u64 = 256 << 20;
/// How long a worker may take to leave, after its input ended or it was killed.
const LEAVE: Duration = Duration::from_secs(5);

/// How a device is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that has the `worker` subcommand; None for this one ([`std::env::current_exe`]).
    pub executable: Option<PathBuf>,
    /// How long one program may take, compiled and drawn alone.
    pub program_limit: Duration,
    /// How long a worker may take to open its device.
    pub start_limit: Duration,
    /// Worker processes, each with a device of its own on the same adapter. More than one helps where a driver compiles on one thread for each device, as
    /// lavapipe does.
    pub workers: usize,
    /// How many programs one worker holds at once.
    pub window: usize,
    /// Compiling threads of one worker; 0 for the cores of this machine divided by the workers.
    pub compile_threads: usize,
    /// Variables added to a worker's environment.
    pub environment: Vec<(OsString, OsString)>,
}

impl Default for Options {
    /// This executable, 20 s for a program, 60 s for a start, one worker with 256 programs.
    fn default() -> Options {
        Options {
            executable: None,
            program_limit: Duration::from_secs(20),
            start_limit: Duration::from_secs(60),
            workers: 1,
            window: 256,
            compile_threads: 0,
            environment: Vec::new(),
        }
    }
}

/// An adapter with worker processes on it: programs go in, outcomes come out, in any order.
///
/// It may be shared between threads. Dropping it ends the workers; what was not received is dropped with it.
pub struct Device {
    record: AdapterRecord,
    route: Route,
    shared: Arc<Shared>,
    coordinators: Vec<(mpsc::Sender<Event>, JoinHandle<()>)>,
    /// Removed when the workers have ended.
    _cache: ShaderCache,
}

struct Shared {
    state: Mutex<State>,
    /// Programs may be submitted again.
    room: Condvar,
    /// A program finished.
    done: Condvar,
    capacity: usize,
    restarts: AtomicU64,
    /// Workers that are not given up.
    workers: AtomicUsize,
}

#[derive(Default)]
struct State {
    pending: VecDeque<Job>,
    finished: VecDeque<Finished>,
    /// Submitted and not finished.
    unfinished: usize,
}

struct Job {
    id: u64,
    dispatch: FragmentDispatch,
}

enum Event {
    /// There are programs to take.
    Submitted,
    /// The device is being dropped.
    Closed,
    /// What the worker of this generation sent.
    Report(u64, Report),
    /// The output of the worker of this generation ended, or was no report.
    Ended(u64, Option<WireError>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, finished: Finished) {
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
    /// Without a `route`, passthrough where the adapter offers it, else naga. The error says, for people, what there is instead, or how to get a device.
    pub fn open(
        selection: &Selection,
        route: Option<Route>,
        options: Options,
    ) -> Result<Device, NoDevice> {
        let executable = match &options.executable {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(|error| {
                NoDevice(format!("the path of this program is not known: {error}"))
            })?,
        };
        let workers = options.workers.max(1);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let compile_threads = if options.compile_threads == 0 {
            cores.div_ceil(workers)
        } else {
            options.compile_threads
        };
        let cache = ShaderCache::new().map_err(|error| {
            NoDevice(format!(
                "no temporary directory could be made for the driver: {error}"
            ))
        })?;
        let mut environment = cache.environment();
        environment.extend(options.environment.iter().cloned());
        let launch = Launch {
            executable,
            selection: selection.clone(),
            route,
            compile_threads,
            environment,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            room: Condvar::new(),
            done: Condvar::new(),
            capacity: options.window.max(1) * workers * 2,
            restarts: AtomicU64::new(0),
            workers: AtomicUsize::new(workers),
        });
        let mut opened: Vec<(AdapterRecord, Route)> = Vec::new();
        let mut coordinators = Vec::new();
        let mut error = None;
        let mut starting = Vec::new();
        for _ in 0..workers {
            let (sender, events) = mpsc::channel();
            let (ready, is_ready) = mpsc::channel();
            let coordinator = Coordinator {
                shared: shared.clone(),
                launch: launch.clone(),
                program_limit: options.program_limit,
                start_limit: options.start_limit,
                window: options.window.max(1),
                events,
                sender: sender.clone(),
                identity: None,
                ready: Some(ready),
                worker: None,
                generation: 0,
                next_number: 0,
                in_flight: BTreeMap::new(),
                bytes_in_flight: 0,
                suspects: VecDeque::new(),
                alone: false,
                progress: Instant::now(),
                reported: 0,
                start_failures: 0,
                given_up: None,
            };
            let thread = thread::Builder::new()
                .name("device".into())
                .spawn(move || coordinator.run())
                .map_err(|error| NoDevice(format!("no thread could be started: {error}")))?;
            coordinators.push((sender, thread));
            starting.push(is_ready);
        }
        for is_ready in starting {
            match is_ready.recv() {
                Ok(Ok(device)) => opened.push(device),
                Ok(Err(none)) => error = Some(none),
                Err(_) => {
                    error = Some(NoDevice(
                        "the thread that starts the worker ended early".into(),
                    ))
                }
            }
        }
        let first = opened.first().cloned();
        let device = |(record, route)| Device {
            record,
            route,
            shared,
            coordinators,
            _cache: cache,
        };
        match (error, first) {
            (None, Some(first)) => Ok(device(first)),
            (error, first) => {
                // Dropping the device ends what was started.
                let error = error.unwrap_or_else(|| NoDevice("no worker was started".into()));
                if let Some(first) = first {
                    drop(device(first));
                }
                Err(error)
            }
        }
    }

    /// The adapter.
    pub fn adapter(&self) -> &AdapterRecord {
        &self.record
    }

    /// The route that every program takes.
    pub fn route(&self) -> Route {
        self.route
    }

    /// How many workers were started again, because one crashed, hung or lost its device.
    pub fn restarts(&self) -> u64 {
        self.shared.restarts.load(Ordering::Relaxed)
    }

    /// Hands a program over; the number comes back with its outcome and need not be unique.
    ///
    /// Waits while two windows' worth of programs for each worker are unfinished. It never waits for [`Device::receive`], so one thread may submit
    /// everything and then receive; what it has not received is in memory, and is bounded if it receives as it goes, or by [`Device::draw_all`].
    pub fn submit(&self, id: u64, dispatch: FragmentDispatch) {
        let mut state = self.shared.lock();
        while state.unfinished >= self.shared.capacity {
            state = self
                .shared
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.enqueue(state, Job { id, dispatch });
    }

    /// Hands a program over, or gives it back where [`Device::submit`] would wait.
    pub fn try_submit(&self, id: u64, dispatch: FragmentDispatch) -> Result<(), FragmentDispatch> {
        let state = self.shared.lock();
        if state.unfinished >= self.shared.capacity {
            return Err(dispatch);
        }
        self.enqueue(state, Job { id, dispatch });
        Ok(())
    }

    fn enqueue(&self, mut state: MutexGuard<'_, State>, job: Job) {
        state.unfinished += 1;
        state.pending.push_back(job);
        drop(state);
        for (coordinator, _) in &self.coordinators {
            // A coordinator that is gone has panicked, and `receive` tells.
            let _ = coordinator.send(Event::Submitted);
        }
    }

    /// Waits for the next program that comes back. None if everything that was submitted has been received.
    pub fn receive(&self) -> Option<Finished> {
        let mut state = self.shared.lock();
        loop {
            if let Some(finished) = state.finished.pop_front() {
                return Some(finished);
            }
            if state.unfinished == 0 {
                return None;
            }
            assert!(
                !self
                    .coordinators
                    .iter()
                    .any(|(_, thread)| thread.is_finished()),
                "a coordinator lives as long as its device, and one has ended with {} programs unfinished",
                state.unfinished
            );
            state = self
                .shared
                .done
                .wait_timeout(state, Duration::from_secs(1))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The next program that has come back already.
    pub fn try_receive(&self) -> Option<Finished> {
        self.shared.lock().finished.pop_front()
    }

    /// Draws all these programs, numbered from 0, taking them as there is room for them. Outcomes come in any order. Memory is bounded.
    pub fn draw_all<I>(&mut self, programs: I) -> DrawAll<'_, I::IntoIter>
    where
        I: IntoIterator<Item = FragmentDispatch>,
    {
        DrawAll {
            device: self,
            programs: programs.into_iter(),
            next_id: 0,
            held: None,
            exhausted: false,
        }
    }

    /// Draws one program and waits for it.
    pub fn draw(&mut self, program: FragmentDispatch) -> Finished {
        self.draw_all([program])
            .next()
            .expect("every submitted program comes back")
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        for (coordinator, _) in &self.coordinators {
            let _ = coordinator.send(Event::Closed);
        }
        for (_, thread) in self.coordinators.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The outcomes of [`Device::draw_all`].
pub struct DrawAll<'d, I> {
    device: &'d Device,
    programs: I,
    next_id: u64,
    held: Option<FragmentDispatch>,
    exhausted: bool,
}

impl<I: Iterator<Item = FragmentDispatch>> Iterator for DrawAll<'_, I> {
    type Item = Finished;

    fn next(&mut self) -> Option<Finished> {
        while !self.exhausted {
            let Some(program) = self.held.take().or_else(|| self.programs.next()) else {
                self.exhausted = true;
                break;
            };
            if let Err(program) = self.device.try_submit(self.next_id, program) {
                self.held = Some(program);
                break;
            }
            self.next_id += 1;
            // What has come back is given before more is taken, so that the caller's work and the device's overlap.
            if let Some(finished) = self.device.try_receive() {
                return Some(finished);
            }
        }
        self.device.receive()
    }
}

/// How a worker is started.
#[derive(Clone)]
struct Launch {
    executable: PathBuf,
    selection: Selection,
    route: Option<Route>,
    compile_threads: usize,
    environment: Vec<(OsString, OsString)>,
}

/// One worker process after another, and the programs that it holds.
struct Coordinator {
    shared: Arc<Shared>,
    launch: Launch,
    program_limit: Duration,
    start_limit: Duration,
    window: usize,
    events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    /// The device that the first worker opened; every later one must have the same.
    identity: Option<(AdapterRecord, Route)>,
    /// Who waits for the first worker.
    ready: Option<mpsc::Sender<Result<(AdapterRecord, Route), NoDevice>>>,
    worker: Option<Worker>,
    generation: u64,
    next_number: u64,
    in_flight: BTreeMap<u64, InFlight>,
    bytes_in_flight: u64,
    /// Programs that were in a worker when it failed, to be given one at a time.
    suspects: VecDeque<Job>,
    /// Whether what is in flight is one suspect alone.
    alone: bool,
    /// When the worker last reported something, or was given something after it had nothing.
    progress: Instant,
    /// How many programs were reported, all workers together.
    reported: u64,
    start_failures: u32,
    /// Why there will be no worker any more.
    given_up: Option<String>,
}

struct InFlight {
    job: Job,
    since: Instant,
    /// `Coordinator::reported` when it was given.
    reported: u64,
}

struct Worker {
    child: Child,
    /// Programs for the thread that writes them.
    programs: mpsc::Sender<Draw>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_ended: mpsc::Receiver<()>,
    started: Instant,
    ready: bool,
}

impl Coordinator {
    fn run(mut self) {
        self.start();
        loop {
            self.give();
            if self.given_up.is_some() {
                self.refuse_everything();
            }
            let event = match self.deadline() {
                None => self.events.recv().ok(),
                Some(deadline) => match self
                    .events
                    .recv_timeout(deadline.saturating_duration_since(Instant::now()))
                {
                    Ok(event) => Some(event),
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        self.overdue();
                        continue;
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => None,
                },
            };
            match event {
                Some(Event::Submitted) => {}
                None | Some(Event::Closed) => break self.close(),
                Some(Event::Report(generation, report)) if generation == self.generation => {
                    self.report(report)
                }
                Some(Event::Ended(generation, error)) if generation == self.generation => {
                    self.ended(error)
                }
                Some(Event::Report(..) | Event::Ended(..)) => {}
            }
        }
    }

    fn close(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            let idle = worker.ready && self.in_flight.is_empty();
            // Its input ends here.
            drop(worker.programs);
            let deadline = Instant::now() + if idle { LEAVE } else { Duration::ZERO };
            leave(&mut worker.child, deadline);
        }
    }

    /// Starts a worker. A failure counts as a failed start.
    fn start(&mut self) {
        if self.generation > 0 {
            self.shared.restarts.fetch_add(1, Ordering::Relaxed);
        }
        self.generation += 1;
        match Worker::start(&self.launch, self.generation, &self.sender) {
            Ok(worker) => self.worker = Some(worker),
            Err(error) => {
                let path = self.launch.executable.display();
                self.start_failed(format!("the worker {path} could not be started: {error}"));
            }
        }
    }

    fn start_failed(&mut self, why: String) {
        self.start_failures += 1;
        // The first start is not tried again: the caller waits for an answer.
        if self.ready.is_some() || self.start_failures >= START_ATTEMPTS {
            self.give_up(why);
        } else {
            thread::sleep(Duration::from_millis(200) * self.start_failures);
            self.start();
        }
    }

    fn give_up(&mut self, why: String) {
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(Err(NoDevice(why.clone())));
        }
        self.given_up = Some(why);
        self.shared.workers.fetch_sub(1, Ordering::SeqCst);
    }

    fn refuse_everything(&mut self) {
        let why = self.given_up.clone().unwrap_or_default();
        let mut jobs: Vec<Job> = self.suspects.drain(..).collect();
        if self.shared.workers.load(Ordering::SeqCst) > 0 {
            // The other workers may fare better.
            self.shared.lock().pending.extend(jobs);
            return;
        }
        jobs.extend(std::mem::take(&mut self.shared.lock().pending));
        for job in jobs {
            self.finish(
                job,
                DeviceOutcome::Lost(format!("there is no worker to draw it: {why}")),
            );
        }
    }

    fn finish(&self, job: Job, outcome: DeviceOutcome) {
        let route = self.identity.as_ref().map_or(
            self.launch.route.unwrap_or(Route::Passthrough),
            |identity| identity.1,
        );
        self.shared.finish(Finished {
            id: job.id,
            route,
            outcome,
        });
    }

    /// Fills the window of the worker, or gives it one suspect.
    fn give(&mut self) {
        while self.given_up.is_none() {
            if self.worker.as_ref().is_some_and(|worker| !worker.ready) || self.alone {
                return;
            }
            let suspect = !self.suspects.is_empty();
            let job = if !suspect {
                if self.in_flight.len() >= self.window || self.bytes_in_flight >= WINDOW_BYTES {
                    return;
                }
                self.shared.lock().pending.pop_front()
            } else if self.in_flight.is_empty() {
                self.suspects.pop_front()
            } else {
                return;
            };
            let Some(job) = job else {
                return;
            };
            if self.worker.is_none() {
                // The worker ended with nothing in flight.
                self.suspects.push_front(job);
                self.start();
                continue;
            }
            self.hand_over(job);
            self.alone = suspect;
        }
    }

    fn hand_over(&mut self, job: Job) {
        let Some(worker) = &self.worker else {
            return;
        };
        let now = Instant::now();
        if self.in_flight.is_empty() {
            self.progress = now;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.bytes_in_flight += job.dispatch.frame_bytes();
        // A worker whose input is closed has ended, and that is reported.
        let _ = worker.programs.send(Draw {
            number,
            dispatch: job.dispatch.clone(),
        });
        self.in_flight.insert(
            number,
            InFlight {
                job,
                since: now,
                reported: self.reported,
            },
        );
    }

    fn deadline(&self) -> Option<Instant> {
        let worker = self.worker.as_ref()?;
        if !worker.ready {
            return Some(worker.started + self.start_limit);
        }
        (!self.in_flight.is_empty()).then_some(self.progress + self.program_limit)
    }

    fn report(&mut self, report: Report) {
        self.progress = Instant::now();
        match report {
            Report::Ready(record, route) => {
                let device = (*record, route);
                match &self.identity {
                    None => self.identity = Some(device.clone()),
                    Some(first) if *first == device => {}
                    Some(first) => {
                        let why = format!(
                            "the worker came back with {} where it had {}",
                            device.0, first.0
                        );
                        self.kill();
                        return self.give_up(why);
                    }
                }
                if let Some(worker) = &mut self.worker {
                    worker.ready = true;
                }
                self.start_failures = 0;
                if let Some(ready) = self.ready.take() {
                    let _ = ready.send(Ok(device));
                }
            }
            Report::NoDevice(why) => {
                self.kill();
                self.start_failed(why);
            }
            Report::Finished { number, result } => {
                let Some(InFlight { job, .. }) = self.in_flight.remove(&number) else {
                    return self.ended(Some(WireError::Malformed(format!(
                        "a result for program {number}, which it does not hold"
                    ))));
                };
                self.reported += 1;
                self.bytes_in_flight -= job.dispatch.frame_bytes();
                self.alone = false;
                let outcome = match result {
                    Ok(frame) => DeviceOutcome::Drawn(frame),
                    Err(Declined::Refused(why)) => DeviceOutcome::Refused(why),
                    Err(Declined::Unchecked(why)) => DeviceOutcome::Unchecked(why),
                };
                self.finish(job, outcome);
                self.suspect_overtaken();
            }
            Report::Lost(why) => {
                self.kill();
                self.settle(DeviceOutcome::Lost(why));
            }
            Report::GaveUp(why) => {
                self.kill();
                self.settle(DeviceOutcome::Refused(why));
            }
        }
    }

    /// One compiling thread that hangs does not stop the others, so the oldest program is looked at too.
    fn suspect_overtaken(&mut self) {
        let overtaken = self.in_flight.first_key_value().is_some_and(|(_, oldest)| {
            self.reported - oldest.reported > 2 * self.window as u64
                && oldest.since.elapsed() > self.program_limit
        });
        if overtaken {
            self.overdue();
        }
    }

    fn overdue(&mut self) {
        let starting = self.worker.as_ref().is_some_and(|worker| !worker.ready);
        self.kill();
        if starting {
            self.start_failed(format!(
                "the worker did not open its device within {} s",
                self.start_limit.as_secs_f64()
            ));
        } else {
            self.settle(DeviceOutcome::TimedOut(self.program_limit));
        }
    }

    /// The worker's output ended, or was no report.
    fn ended(&mut self, error: Option<WireError>) {
        let starting = self.worker.as_ref().is_some_and(|worker| !worker.ready);
        let (exit, stderr) = match error {
            // The process goes by itself; how, is the answer.
            None | Some(WireError::Io(_)) => self.collect(LEAVE),
            Some(WireError::Malformed(what)) => {
                (Exit::Garbled(what), self.collect(Duration::ZERO).1)
            }
        };
        if starting {
            let mut why = format!("the worker ended before its device was open, with {exit}");
            if !stderr.is_empty() {
                why.push_str(&format!("; it last said: {stderr}"));
            }
            self.start_failed(why);
        } else {
            self.settle(DeviceOutcome::Crashed { exit, stderr });
        }
    }

    /// Blames the program that was alone in a worker that has ended, or makes suspects of all that were in it.
    fn settle(&mut self, outcome: DeviceOutcome) {
        let jobs: Vec<Job> = std::mem::take(&mut self.in_flight)
            .into_values()
            .map(|in_flight| in_flight.job)
            .collect();
        self.bytes_in_flight = 0;
        self.alone = false;
        let was_alone = jobs.len() == 1;
        for job in jobs {
            if was_alone {
                self.finish(job, outcome.clone());
            } else {
                self.suspects.push_back(job);
            }
        }
        if !self.suspects.is_empty() {
            self.start();
        }
    }

    fn kill(&mut self) {
        self.collect(Duration::ZERO);
    }

    /// Ends the worker, after letting it go by itself for a while; how it went, and the last lines of its standard error. What it still reports is of an
    /// old generation from here on.
    fn collect(&mut self, patience: Duration) -> (Exit, String) {
        self.generation += 1;
        let Some(mut worker) = self.worker.take() else {
            return (Exit::Unknown, String::new());
        };
        drop(worker.programs);
        let exit = leave(&mut worker.child, Instant::now() + patience).map_or(Exit::Unknown, exit);
        let _ = worker.stderr_ended.recv_timeout(Duration::from_secs(1));
        let kept: Vec<u8> = worker
            .stderr
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect();
        (exit, last_lines(&kept))
    }
}

/// Waits for the process until the deadline, kills it then, and waits again; a process that even a kill does not end (a driver may hold it in the
/// kernel) is left to a thread.
fn leave(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    let wait = |child: &mut Child, deadline: Instant| {
        let mut pause = Duration::from_micros(200);
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    };
    wait(child, deadline).or_else(|| {
        let _ = child.kill();
        wait(child, Instant::now() + LEAVE)
    })
}

#[cfg(unix)]
fn exit(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    status
        .signal()
        .map(Exit::Signal)
        .or(status.code().map(Exit::Code))
        .unwrap_or(Exit::Unknown)
}

#[cfg(not(unix))]
fn exit(status: ExitStatus) -> Exit {
    status.code().map_or(Exit::Unknown, Exit::Code)
}

/// The last lines, joined by " | ".
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].join(" | ")
}

impl Worker {
    fn start(launch: &Launch, generation: u64, events: &mpsc::Sender<Event>) -> io::Result<Worker> {
        let mut command = Command::new(&launch.executable);
        command
            .arg("worker")
            .arg("--adapter")
            .arg(launch.selection.to_string());
        command
            .arg("--compile-threads")
            .arg(launch.compile_threads.to_string());
        if let Some(route) = launch.route {
            command.arg("--route").arg(route.name());
        }
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let started = Instant::now();
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("the three streams were asked for as pipes");
        };
        #[cfg(target_os = "linux")]
        {
            // As large as an unprivileged process may have them, so that large images cross in few turns; smaller ones do as well.
            let _ = rustix::pipe::fcntl_setpipe_size(&stdin, 1 << 20);
            let _ = rustix::pipe::fcntl_setpipe_size(&stdout, 1 << 20);
        }
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (programs, queue) = mpsc::channel();
        let (ended, stderr_ended) = mpsc::channel();
        let spawned = (|| {
            let named = |name: &str| thread::Builder::new().name(name.into());
            let (events, kept) = (events.clone(), kept.clone());
            named("to worker").spawn(move || write_programs(stdin, &queue))?;
            named("from worker").spawn(move || read_reports(stdout, generation, &events))?;
            named("worker's stderr").spawn(move || {
                keep_last(stderr, &kept);
                let _ = ended.send(());
            })
        })();
        if let Err(error) = spawned {
            leave(&mut child, Instant::now());
            return Err(error);
        }
        Ok(Worker {
            child,
            programs,
            stderr: kept,
            stderr_ended,
            started,
            ready: false,
        })
    }
}

/// Writes until the queue or the pipe closes. The end of the worker's input is the end of this.
fn write_programs(stdin: ChildStdin, queue: &mpsc::Receiver<Draw>) {
    let mut out = BufWriter::with_capacity(1 << 16, stdin);
    while let Ok(first) = queue.recv() {
        let mut next = Some(first);
        while let Some(draw) = next {
            if draw.write(&mut out).is_err() {
                return;
            }
            next = queue.try_recv().ok();
        }
        if out.flush().is_err() {
            return;
        }
    }
}

fn read_reports(stdout: ChildStdout, generation: u64, events: &mpsc::Sender<Event>) {
    let mut input = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let event = match Report::read(&mut input) {
            Ok(Some(report)) => Event::Report(generation, report),
            Ok(None) => Event::Ended(generation, None),
            Err(error) => Event::Ended(generation, Some(error)),
        };
        let last = matches!(event, Event::Ended(..));
        if events.send(event).is_err() || last {
            return;
        }
    }
}

fn keep_last(mut stderr: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 4096];
    loop {
        match stderr.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&chunk[..count]);
                let excess = kept.len().saturating_sub(STDERR_KEPT);
                kept.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

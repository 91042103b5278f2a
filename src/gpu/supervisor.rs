//! The parent's side: worker processes, the programs that they hold, and the program to blame when
//! one fails.
//!
//! A worker normally holds a window of programs. If it ends, hangs or loses its device with
//! several programs, the cause is unknown. All of them become *suspects*, and the next worker gets
//! them one at a time, before any others. If a worker fails with a single program, that program
//! has failed. So a bad program costs one or two restarts and a second run of its neighbours, but
//! never their verdicts.
//!
//! Time: with several programs, a worker hangs if it reports nothing for the time limit. It
//! also hangs if its oldest program is older than the limit and has been overtaken by two
//! windows of other programs. Either is only a suspicion. The limit as a verdict is measured on
//! a single program.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::adapters::{AdapterRecord, NoDevice};
use super::child::{LEAVE, Launch, Worker};
use super::device::{Job, Shared};
use super::wire::{Declined, Report, Run, WireError};
use super::{DeviceOutcome, Exit, Finished, LAST_SAID, Options, Route};
use crate::dispatch::Shown;

/// The pause after the first failed start of a worker. It doubles after each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause after a failed start.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The most bytes of frames and buffers that a worker holds at once, unless a single program
/// has more.
const WINDOW_BYTES: u64 = 256 << 20;

/// An event for a coordinator.
pub(super) enum Event {
    /// New programs were submitted.
    Submitted,
    /// The device is being dropped.
    Closed,
    /// A report of the worker of this generation.
    Report(u64, Report),
    /// The output of the worker of this generation ended, or was no report.
    Ended(u64, Option<WireError>),
}

/// Runs one worker process after another, and holds its programs.
pub(super) struct Coordinator {
    shared: Arc<Shared>,
    launch: Launch,
    program_limit: Duration,
    start_limit: Duration,
    window: usize,
    events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    /// The adapter and route of the first worker. Every later worker must have the same.
    identity: Option<(AdapterRecord, Route)>,
    /// The channel of the thread that waits for the first worker.
    ready: Option<Ready>,
    worker: Option<Worker>,
    generation: u64,
    next_number: u64,
    in_flight: BTreeMap<u64, InFlight>,
    bytes_in_flight: u64,
    /// Programs that were in a failed worker with others. They run one at a time.
    suspects: VecDeque<Job>,
    /// Whether the worker holds a single suspect.
    holds_suspect: bool,
    /// The time of the last report, or of the program that ended an idle period.
    progress: Instant,
    /// The number of reported programs, over all workers.
    reported: u64,
    start_attempts: u32,
    /// The number of failed starts in a row.
    start_failures: u32,
    /// The time of the next start, after a failed one.
    retry: Option<Instant>,
    /// Whether a worker ended with several programs, and none of them has failed alone so far.
    unexplained: bool,
    /// The reason why no further worker is started.
    give_up_reason: Option<String>,
}

/// The channel for the result of the first start.
pub(super) type Ready = mpsc::Sender<Result<(AdapterRecord, Route), NoDevice>>;

struct InFlight {
    job: Job,
    sent_at: Instant,
    /// The value of `Coordinator::reported` when the program was sent.
    reported: u64,
}

impl Coordinator {
    pub(super) fn new(
        shared: Arc<Shared>,
        launch: Launch,
        options: &Options,
        (sender, events): (mpsc::Sender<Event>, mpsc::Receiver<Event>),
        ready: Ready,
    ) -> Coordinator {
        Coordinator {
            shared,
            launch,
            program_limit: options.program_limit,
            start_limit: options.start_limit,
            window: options.window.max(1),
            events,
            sender,
            identity: None,
            ready: Some(ready),
            worker: None,
            generation: 0,
            next_number: 0,
            in_flight: BTreeMap::new(),
            bytes_in_flight: 0,
            suspects: VecDeque::new(),
            holds_suspect: false,
            progress: Instant::now(),
            reported: 0,
            start_attempts: options.start_attempts.max(1),
            start_failures: 0,
            retry: None,
            unexplained: false,
            give_up_reason: None,
        }
    }

    /// Runs until the device is closed.
    pub(super) fn run(mut self) {
        self.start();
        loop {
            self.send_programs();
            if self.give_up_reason.is_some() {
                self.refuse_everything();
            }
            let event = match self.deadline() {
                None => self.events.recv().ok(),
                Some(deadline) => match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(event) => Some(event),
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        self.handle_timeout();
                        continue;
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => None,
                },
            };
            match event {
                Some(Event::Submitted) => {}
                None | Some(Event::Closed) => break self.close(),
                Some(Event::Report(generation, report)) if generation == self.generation => self.report(report),
                Some(Event::Ended(generation, error)) if generation == self.generation => self.handle_end(error),
                Some(Event::Report(..) | Event::Ended(..)) => {}
            }
        }
    }

    fn close(&mut self) {
        if let Some(worker) = self.worker.take() {
            let idle = worker.ready && self.in_flight.is_empty();
            worker.end(if idle { LEAVE } else { Duration::ZERO });
        }
    }

    /// Starts a worker. An error counts as a failed start.
    fn start(&mut self) {
        if self.generation > 0 {
            self.shared.restarts.fetch_add(1, Ordering::Relaxed);
        }
        self.generation += 1;
        match Worker::start(&self.launch, self.generation, &self.sender) {
            Ok(worker) => self.worker = Some(worker),
            Err(error) => {
                self.start_failed(self.launch.not_started(&error));
            }
        }
    }

    fn start_failed(&mut self, why: String) {
        self.start_failures += 1;
        // The very first start is not repeated, because the caller waits for the result.
        if self.ready.is_some() || self.start_failures >= self.start_attempts {
            let attempts = self.start_failures;
            self.give_up(if attempts > 1 { format!("{why} ({attempts} attempts)") } else { why });
        } else {
            let pause = FIRST_PAUSE.saturating_mul(1 << (self.start_failures - 1).min(16)).min(LONGEST_PAUSE);
            self.retry = Some(Instant::now() + pause);
        }
    }

    fn give_up(&mut self, why: String) {
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(Err(NoDevice(why.clone())));
        }
        self.give_up_reason = Some(why);
        self.shared.workers.fetch_sub(1, Ordering::SeqCst);
    }

    fn refuse_everything(&mut self) {
        let why = self.give_up_reason.clone().unwrap_or_default();
        let mut jobs: Vec<Job> = self.suspects.drain(..).collect();
        if self.shared.workers.load(Ordering::SeqCst) > 0 {
            // The other workers may succeed. They may be idle, and nothing else would notify them.
            if !jobs.is_empty() {
                self.shared.lock().pending.extend(jobs);
                self.shared.wake();
            }
            return;
        }
        jobs.extend(std::mem::take(&mut self.shared.lock().pending));
        for job in jobs {
            self.finish(job, DeviceOutcome::Outage(why.clone()));
        }
    }

    fn finish(&self, job: Job, outcome: DeviceOutcome) {
        let route = self.identity.as_ref().map_or(self.launch.route.unwrap_or(Route::Passthrough), |identity| identity.1);
        self.shared.finish(Finished { id: job.id, route, outcome });
    }

    /// Fills the window of the worker, or sends it one suspect.
    fn send_programs(&mut self) {
        while self.give_up_reason.is_none() {
            if self.worker.as_ref().is_some_and(|worker| !worker.ready) || self.holds_suspect || self.retry.is_some() {
                return;
            }
            let suspect = !self.suspects.is_empty();
            let job = if !suspect {
                if self.in_flight.len() >= self.window || self.bytes_in_flight >= WINDOW_BYTES {
                    return;
                }
                self.shared.lock().take(self.in_flight.len(), self.shared.workers.load(Ordering::SeqCst))
            } else if self.in_flight.is_empty() {
                self.suspects.pop_front()
            } else {
                return;
            };
            let Some(job) = job else {
                return;
            };
            if self.worker.is_none() {
                // The worker ended while it held no program.
                self.suspects.push_front(job);
                self.start();
                continue;
            }
            self.hand_over(job);
            self.holds_suspect = suspect;
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
        self.bytes_in_flight += job.dispatch.bytes();
        worker.send(Run { number, dispatch: job.dispatch.clone() });
        self.in_flight.insert(number, InFlight { job, sent_at: now, reported: self.reported });
    }

    /// The time of the next start, or the time when the worker is overdue. None if nothing is
    /// awaited, or if a limit exceeds the range of the clock.
    fn deadline(&self) -> Option<Instant> {
        if self.retry.is_some() {
            return self.retry;
        }
        let worker = self.worker.as_ref()?;
        if !worker.ready {
            worker.started.checked_add(self.start_limit)
        } else if self.in_flight.is_empty() {
            None
        } else {
            self.progress.checked_add(self.program_limit)
        }
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
                        let why = format!("the worker came back with {} where it had {}", device.0, first.0);
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
            Report::Adapters(_) => self.handle_end(Some(WireError::Malformed("a list of adapters, which nobody asked for".into()))),
            Report::NoDevice(why) => {
                self.kill();
                self.start_failed(why);
            }
            Report::Finished { number, result } => {
                let Some(InFlight { job, .. }) = self.in_flight.remove(&number) else {
                    return self.handle_end(Some(WireError::Malformed(format!("a result for program {number}, which it does not hold"))));
                };
                self.reported += 1;
                self.bytes_in_flight -= job.dispatch.bytes();
                self.holds_suspect = false;
                let outcome = match result {
                    Ok(Shown::Frame(frame)) => DeviceOutcome::Drawn(frame),
                    Ok(Shown::Buffers(result)) => DeviceOutcome::Computed(result),
                    Ok(Shown::Drawn(result)) => DeviceOutcome::Rendered(result),
                    Err(Declined::Refused(why)) => DeviceOutcome::Refused(why),
                    Err(Declined::Unchecked(why)) => DeviceOutcome::Unchecked(why),
                };
                // Counted before the thread that waits for the last program is notified.
                self.note_passed_suspects();
                self.finish(job, outcome);
                self.check_oldest();
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

    /// Counts a worker failure that no program caused, if the last of its programs has
    /// passed alone.
    fn note_passed_suspects(&mut self) {
        if self.unexplained && self.suspects.is_empty() && self.in_flight.is_empty() {
            self.unexplained = false;
            self.shared.unrepeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Checks the oldest program too, because a compiling thread that hangs does not stop
    /// the others.
    fn check_oldest(&mut self) {
        let overtaken = self.in_flight.first_key_value().is_some_and(|(_, oldest)| {
            self.reported - oldest.reported > 2 * self.window as u64 && oldest.sent_at.elapsed() > self.program_limit
        });
        if overtaken {
            self.handle_timeout();
        }
    }

    fn handle_timeout(&mut self) {
        if self.retry.take().is_some() {
            return self.start();
        }
        let starting = self.worker.as_ref().is_some_and(|worker| !worker.ready);
        self.kill();
        if starting {
            self.start_failed(format!("the worker did not open its device within {} s", self.start_limit.as_secs_f64()));
        } else {
            self.settle(DeviceOutcome::TimedOut(self.program_limit));
        }
    }

    /// Handles the end of the worker's output, or output that was no report.
    fn handle_end(&mut self, error: Option<WireError>) {
        let starting = self.worker.as_ref().is_some_and(|worker| !worker.ready);
        let (exit, stderr) = match error {
            // The process exits by itself, and its exit status explains why.
            None | Some(WireError::Io(_)) => self.collect(LEAVE),
            Some(WireError::Malformed(what)) => (Exit::Garbled(what), self.collect(Duration::ZERO).1),
        };
        if starting {
            let mut why = format!("the worker ended before its device was open, with {exit}");
            if !stderr.is_empty() {
                why.push_str(&format!("{LAST_SAID}{stderr}"));
            }
            self.start_failed(why);
        } else {
            self.settle(DeviceOutcome::Crashed { exit, stderr });
        }
    }

    /// Blames the program that was alone in a failed worker, or makes all its programs suspects.
    fn settle(&mut self, outcome: DeviceOutcome) {
        let jobs: Vec<Job> = std::mem::take(&mut self.in_flight).into_values().map(|in_flight| in_flight.job).collect();
        self.bytes_in_flight = 0;
        self.holds_suspect = false;
        let single = jobs.len() == 1;
        match jobs.len() {
            0 => drop(self.shared.unrepeated.fetch_add(1, Ordering::Relaxed)),
            count => self.unexplained = count > 1,
        }
        for job in jobs {
            if single {
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

    /// Ends the worker. Its later reports belong to an old generation.
    fn collect(&mut self, patience: Duration) -> (Exit, String) {
        self.generation += 1;
        match self.worker.take() {
            Some(worker) => worker.end(patience),
            None => (Exit::Unknown, String::new()),
        }
    }
}

//! The worker process, which holds the device and may be lost.
//!
//! Several threads compile programs, and fewer threads run them. A running thread submits all
//! compiled programs at once, and prepares the next submission while the device is busy. So batches
//! grow with the time that the device takes. The parent bounds the memory, because it keeps a
//! bounded window of programs in the worker.
//!
//! For tests of the supervisor only, the environment variable `SMALLSTEP_TEST_FAULT` makes the
//! worker misbehave. It is a comma-separated list of `crash-start`, `hang-start`, or `FAULT:HASH`.
//! FAULT is one of `crash-compile`, `crash-run`, `hang-compile`, `hang-run`, `lost`, `garbage`.
//! HASH is the hexadecimal [`words_hash`](crate::dispatch::words_hash) of the program that triggers
//! the fault.

use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::batch::{Program, Runner, Submitted};
use super::open::{BatchError, OpenDevice};
use super::wire::{Declined, Report, Run};
use super::{Route, Selection};
use crate::dispatch::{Dispatch, Shown};

/// The environment variable with the faults for tests.
pub const TEST_FAULT: &str = "SMALLSTEP_TEST_FAULT";

/// The most programs in a submission.
pub(crate) const BATCH: usize = 64;
/// The most bytes of upload and readback of all programs in a submission, unless a single program
/// has more.
const BATCH_BYTES: u64 = 64 << 20;
/// The number of submissions that a running thread has on the device at once: one that runs and one
/// that waits.
const OVERLAP: usize = 2;
/// The time that a program waits for others to join its submission.
const COMPANY: Duration = Duration::from_millis(20);
/// The number of compiling threads for each running thread.
const COMPILING_FOR_ONE_RUNNING: usize = 8;

/// The options of a worker.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The adapter.
    pub selection: Selection,
    /// The route. None for passthrough if the adapter offers it, and naga otherwise.
    pub route: Option<Route>,
    /// The number of compiling threads. 0 for one per core.
    pub compile_threads: usize,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All programs are done, or there was no device and the parent has been told.
    Done,
    /// The input ended while programs were running, so the parent is gone. Some threads are still
    /// in the driver, perhaps for ever, and an orderly exit would wait for them. The process should
    /// kill itself.
    Abandoned,
}

/// Runs programs from `input` until its end, and reports to `output`.
///
/// Errors: the output could not be written at the start, or the input broke or held something other
/// than programs.
pub fn serve(
    options: ServeOptions,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<End, Box<dyn std::error::Error>> {
    let faults = Faults::from_environment();
    faults.at_start();
    let output: Output = Arc::new(Mutex::new(BufWriter::new(Box::new(output))));
    let device = match OpenDevice::open(&options.selection, options.route) {
        Ok(device) => Arc::new(device),
        Err(none) => {
            report(&output, &Report::NoDevice(none.0));
            flush(&output)?;
            return Ok(End::Done);
        }
    };
    report(&output, &Report::Ready(Box::new(device.record.clone()), device.route));
    flush(&output)?;

    let (unreported, compiling) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (jobs, job_queue) = mpsc::channel::<Run>();
    let (compiled, compiled_queue) = mpsc::channel::<Compiled>();
    let worker = Arc::new(Worker { device, output, unreported: unreported.clone(), compiling: compiling.clone(), faults });
    let job_queue = Arc::new(Mutex::new(job_queue));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let count = if options.compile_threads == 0 { cores } else { options.compile_threads };
    let mut threads = Vec::new();
    for _ in 0..count {
        let (worker, queue, compiled) = (worker.clone(), job_queue.clone(), compiled.clone());
        threads.push(thread::Builder::new().name("compile".into()).spawn(move || worker.compile(&queue, &compiled))?);
    }
    drop(compiled);
    let compiled_queue = Arc::new(Mutex::new(compiled_queue));
    for _ in 0..count.div_ceil(COMPILING_FOR_ONE_RUNNING) {
        let (worker, queue) = (worker.clone(), compiled_queue.clone());
        threads.push(thread::Builder::new().name("run".into()).spawn(move || worker.run(&queue))?);
    }

    let mut input = BufReader::new(input);
    while let Some(run) = Run::read(&mut input)? {
        unreported.fetch_add(1, Ordering::SeqCst);
        compiling.fetch_add(1, Ordering::SeqCst);
        if jobs.send(run).is_err() {
            break;
        }
    }
    drop(jobs);
    if unreported.load(Ordering::SeqCst) > 0 {
        return Ok(End::Abandoned);
    }
    for thread in threads {
        let _ = thread.join();
    }
    Ok(End::Done)
}

/// Reports all adapters to `output`. The error is that it could not be written.
pub fn list(output: impl Write) -> io::Result<()> {
    Faults::from_environment().at_start();
    let records = super::enumerate::enumerate().into_iter().map(|(record, _)| record).collect();
    let mut output = BufWriter::new(output);
    Report::Adapters(records).write(&mut output)?;
    output.flush()
}

type Output = Arc<Mutex<BufWriter<Box<dyn Write + Send>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panicking thread has ended the process (see `abort_on_panic`), or the test that runs it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A write error means that the parent is gone. The input ends then too.
fn report(output: &Output, report: &Report) {
    let _ = report.write(&mut *lock(output));
}

fn flush(output: &Output) -> io::Result<()> {
    lock(output).flush()
}

/// Makes every panic on any thread end the process. A panic in wgpu or naga is then the crash of
/// one program, with its message on standard error.
pub fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        std::process::abort();
    }));
}

struct Compiled {
    number: u64,
    program: Program,
}

struct Worker {
    device: Arc<OpenDevice>,
    output: Output,
    /// The number of programs that were taken and not reported yet.
    unreported: Arc<AtomicUsize>,
    /// The number of programs that were taken and are neither compiled nor declined yet.
    compiling: Arc<AtomicUsize>,
    faults: Faults,
}

impl Worker {
    fn report_finished(&self, number: u64, result: Result<Shown, Declined>) {
        report(&self.output, &Report::Finished { number, result });
        self.unreported.fetch_sub(1, Ordering::SeqCst);
    }

    fn report_loss(&self, why: &str) {
        self.last_report(&Report::Lost(why.into()));
    }

    /// Sends the last report, after which the parent kills this process.
    fn last_report(&self, last: &Report) {
        report(&self.output, last);
        let _ = flush(&self.output);
    }

    fn compile(&self, jobs: &Mutex<mpsc::Receiver<Run>>, compiled: &mpsc::Sender<Compiled>) {
        loop {
            let Ok(Run { number, dispatch }) = lock(jobs).recv() else {
                return;
            };
            self.faults.at_compile(&dispatch, self);
            let result = self.device.compile(&dispatch);
            if let Some(why) = self.device.lost() {
                // A driver may refuse a pipeline with an error that Vulkan does not list for it,
                // such as VK_ERROR_UNKNOWN of Mesa's SPIR-V reader. wgpu then ends the device, with
                // this message.
                return self.last_report(&if why.contains("Unexpected error variant") {
                    Report::GaveUp(format!(
                        "the driver answered with an error that Vulkan does not list for a pipeline; wgpu then says: {why}"
                    ))
                } else {
                    Report::Lost(format!("while a pipeline was made: {why}"))
                });
            }
            match result {
                Ok(program) => {
                    let sent = compiled.send(Compiled { number, program });
                    self.compiling.fetch_sub(1, Ordering::SeqCst);
                    if sent.is_err() {
                        return;
                    }
                }
                Err(declined) => {
                    self.compiling.fetch_sub(1, Ordering::SeqCst);
                    self.report_finished(number, Err(declined));
                    let _ = flush(&self.output);
                }
            }
        }
    }

    fn run(&self, queue: &Mutex<mpsc::Receiver<Compiled>>) {
        let mut runner = Runner::new(&self.device);
        let mut submissions: std::collections::VecDeque<(Vec<u64>, Vec<Program>, Submitted)> = Default::default();
        let mut next: Option<Compiled> = None;
        loop {
            // If no submission is running, the thread waits for programs. If another thread waits
            // on the queue, that thread holds the lock, and the queue is empty.
            let collected = if submissions.is_empty() { Some(self.collect(&lock(queue), &mut next, true)) } else { None };
            let collected = collected.or_else(|| queue.try_lock().ok().map(|queue| self.collect(&queue, &mut next, false)));
            if let Some((numbers, batch)) = collected.flatten() {
                for program in &batch {
                    self.faults.at_run(program.words_hash());
                }
                match runner.submit(batch.clone()) {
                    Ok(submitted) => submissions.push_back((numbers, batch, submitted)),
                    Err(BatchError::Lost(why)) => return self.report_loss(&why),
                    Err(_) => {
                        if !self.run_singly(&mut runner, numbers, batch) {
                            return;
                        }
                    }
                }
                if submissions.len() < OVERLAP {
                    continue;
                }
            } else if submissions.is_empty() {
                return;
            }
            if let Some((numbers, batch, submitted)) = submissions.pop_front() {
                match runner.finish(submitted) {
                    Ok(shown) => {
                        for (number, shown) in numbers.into_iter().zip(shown) {
                            self.report_finished(number, Ok(shown));
                        }
                    }
                    Err(BatchError::Lost(why)) => return self.report_loss(&why),
                    Err(_) => {
                        if !self.run_singly(&mut runner, numbers, batch) {
                            return;
                        }
                    }
                }
                let _ = flush(&self.output);
            }
        }
    }

    /// The programs of the next submission. `None` if there is none yet, or with `waits`, if no
    /// further program will come.
    ///
    /// A submission costs about as much as a program. So it waits a little for other programs while
    /// some are being compiled.
    fn collect(&self, queue: &mpsc::Receiver<Compiled>, next: &mut Option<Compiled>, waits: bool) -> Option<(Vec<u64>, Vec<Program>)> {
        let first = match next.take() {
            Some(first) => first,
            None if waits => queue.recv().ok()?,
            None => queue.try_recv().ok()?,
        };
        let mut bytes = first.program.bytes();
        let (mut numbers, mut batch) = (vec![first.number], vec![first.program]);
        let deadline = Instant::now() + COMPANY;
        while batch.len() < BATCH {
            let compiled = queue.try_recv().ok().or_else(|| {
                let is_enough = batch.len() >= BATCH / 2 || self.compiling.load(Ordering::SeqCst) == 0;
                if is_enough { None } else { queue.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok() }
            });
            let Some(compiled) = compiled else { break };
            bytes += compiled.program.bytes();
            if bytes > BATCH_BYTES {
                *next = Some(compiled);
                break;
            }
            numbers.push(compiled.number);
            batch.push(compiled.program);
        }
        Some((numbers, batch))
    }

    /// Runs each program of a refused batch alone, to find the program that wgpu refuses. False if
    /// the device is lost.
    fn run_singly(&self, runner: &mut Runner<'_>, numbers: Vec<u64>, batch: Vec<Program>) -> bool {
        for (number, program) in numbers.into_iter().zip(batch) {
            let result = runner.submit(vec![program]).and_then(|submitted| runner.finish(submitted));
            match result {
                Ok(shown) => {
                    for shown in shown {
                        self.report_finished(number, Ok(shown));
                    }
                }
                Err(BatchError::Refused(why)) => self.report_finished(number, Err(Declined::Refused(why))),
                Err(BatchError::OutOfMemory(why)) => {
                    self.report_finished(number, Err(Declined::Unchecked(format!("the device ran out of memory: {why}"))));
                }
                Err(BatchError::Lost(why)) => {
                    self.report_loss(&why);
                    return false;
                }
            }
        }
        let _ = flush(&self.output);
        true
    }
}

/// The faults that tests request. See the module's documentation.
struct Faults {
    at_start: Vec<String>,
    by_hash: HashMap<u64, String>,
}

impl Faults {
    fn from_environment() -> Faults {
        let mut faults = Faults { at_start: Vec::new(), by_hash: HashMap::new() };
        for item in std::env::var(TEST_FAULT).unwrap_or_default().split(',').filter(|item| !item.is_empty()) {
            match item.split_once(':') {
                None => faults.at_start.push(item.into()),
                Some((fault, hash)) => {
                    if let Ok(hash) = u64::from_str_radix(hash, 16) {
                        faults.by_hash.insert(hash, fault.into());
                    }
                }
            }
        }
        faults
    }

    fn at_start(&self) {
        for fault in &self.at_start {
            match fault.as_str() {
                "crash-start" => std::process::abort(),
                "hang-start" => hang(),
                _ => {}
            }
        }
    }

    fn at_compile(&self, dispatch: &Dispatch, worker: &Worker) {
        if self.by_hash.is_empty() {
            return;
        }
        match self.by_hash.get(&dispatch.words_hash()).map(String::as_str) {
            Some("crash-compile") => {
                eprintln!("a crash that the test asked for");
                std::process::abort();
            }
            Some("hang-compile") => hang(),
            Some("lost") => {
                worker.report_loss("a loss that the test asked for");
                hang();
            }
            Some("garbage") => {
                let _ = lock(&worker.output).write_all(b"what a driver prints to standard output");
                let _ = flush(&worker.output);
                hang();
            }
            _ => {}
        }
    }

    fn at_run(&self, hash: u64) {
        match self.by_hash.get(&hash).map(String::as_str) {
            Some("crash-run") => {
                eprintln!("a crash that the test asked for");
                std::process::abort();
            }
            Some("hang-run") => hang(),
            _ => {}
        }
    }
}

fn hang() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

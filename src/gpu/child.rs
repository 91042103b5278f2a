//! A worker process from its parent's view: start, input, output, and end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::supervisor::Event;
use super::wire::{Report, Run, WireError};
use super::{AdapterRecord, Exit, LAST_SAID, NoDevice, Options, Route, Selection, WITHOUT_DEVICES};

/// The number of bytes of a worker's standard error that are kept.
const STDERR_KEPT: usize = 4096;
/// The number of its last lines that are shown.
const STDERR_LINES: usize = 8;
/// The time that a worker has to exit after its input has ended or it was killed.
pub(super) const LEAVE: Duration = Duration::from_secs(5);

/// The parameters for starting a worker.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) executable: PathBuf,
    pub(super) selection: Selection,
    pub(super) route: Option<Route>,
    pub(super) compile_threads: usize,
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl Launch {
    /// Errors: the path of this program is not known, or this program has no worker.
    pub(super) fn new(selection: &Selection, route: Option<Route>, options: &Options) -> Result<Launch, NoDevice> {
        let executable = match &options.executable {
            Some(path) => path.clone(),
            // Its own worker would need the feature `device`.
            None if cfg!(not(feature = "device")) => return Err(NoDevice(WITHOUT_DEVICES.into())),
            None => std::env::current_exe().map_err(|error| NoDevice(format!("the path of this program is not known: {error}")))?,
        };
        let compile_threads = match options.compile_threads {
            0 => thread::available_parallelism().map_or(1, usize::from).div_ceil(options.workers.max(1)),
            threads => threads,
        };
        Ok(Launch { executable, selection: selection.clone(), route, compile_threads, environment: options.environment.clone() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.arg("worker").envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(super) fn not_started(&self, error: &io::Error) -> String {
        format!("the worker {} could not be started: {error}", self.executable.display())
    }
}

/// Starts a worker that lists the adapters, and returns its report. `limit` bounds the time.
pub(super) fn list(launch: &Launch, limit: Duration) -> Result<Vec<AdapterRecord>, NoDevice> {
    let mut child = launch.command().arg("--list").spawn().map_err(|error| NoDevice(launch.not_started(&error)))?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        unreachable!("the streams were asked for as pipes");
    };
    let tail = Arc::new(Mutex::new(VecDeque::new()));
    let ((listed, report), (ended, stderr_ended)) = (mpsc::channel(), mpsc::channel());
    let for_stderr = tail.clone();
    thread::spawn(move || listed.send(Report::read(&mut BufReader::new(stdout))));
    thread::spawn(move || {
        keep_last(stderr, &for_stderr);
        let _ = ended.send(());
    });
    let report = report.recv_timeout(limit);
    // Once the list has arrived, the exit status of the process does not matter. Drivers may also
    // crash when they are unloaded.
    let waits = matches!(report, Ok(Ok(None) | Err(WireError::Io(_))));
    let exit = leave(&mut child, if waits { LEAVE } else { Duration::ZERO }).map_or(Exit::Unknown, exit);
    let why = match report {
        Ok(Ok(Some(Report::Adapters(records)))) => return Ok(records),
        Err(mpsc::RecvTimeoutError::Timeout) => format!("the installed drivers did not answer within {} s", limit.as_secs_f64()),
        Ok(Ok(None) | Err(WireError::Io(_))) => format!("a driver ended the process that was listing the adapters, with {exit}"),
        Ok(Err(WireError::Malformed(what))) => format!("the process that was listing the adapters sent no list: {what}"),
        Ok(Ok(Some(_))) | Err(mpsc::RecvTimeoutError::Disconnected) => "the process that was listing the adapters sent no list".into(),
    };
    let _ = stderr_ended.recv_timeout(Duration::from_secs(1));
    let last_output = last_lines(&tail.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect::<Vec<u8>>());
    Err(NoDevice(if last_output.is_empty() { why } else { format!("{why}{LAST_SAID}{last_output}") }))
}

/// A worker process. It must be ended with [`Worker::end`].
pub(super) struct Worker {
    child: Child,
    /// The queue of programs for the thread that writes them to the worker.
    programs: mpsc::Sender<Run>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_ended: mpsc::Receiver<()>,
    pub(super) started: Instant,
    /// Whether its device is open.
    pub(super) ready: bool,
}

impl Worker {
    /// Starts a worker. Its reports become events of this generation.
    pub(super) fn start(launch: &Launch, generation: u64, events: &mpsc::Sender<Event>) -> io::Result<Worker> {
        let mut command = launch.command();
        command.arg(format!("--adapter={}", launch.selection));
        command.arg("--compile-threads").arg(launch.compile_threads.to_string());
        if let Some(route) = launch.route {
            command.arg("--route").arg(route.name());
        }
        let mut child = command.spawn()?;
        let started = Instant::now();
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            unreachable!("the three streams were asked for as pipes");
        };
        #[cfg(target_os = "linux")]
        {
            // The pipes are as large as an unprivileged process may make them, so that large images
            // need few turns. Smaller pipes work too.
            let _ = rustix::pipe::fcntl_setpipe_size(&stdin, 1 << 20);
            let _ = rustix::pipe::fcntl_setpipe_size(&stdout, 1 << 20);
        }
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let (programs, queue) = mpsc::channel();
        let (ended, stderr_ended) = mpsc::channel();
        let spawned = (|| {
            let thread_named = |name: &str| thread::Builder::new().name(name.into());
            let (events, tail) = (events.clone(), tail.clone());
            thread_named("to worker").spawn(move || write_programs(stdin, &queue))?;
            thread_named("from worker").spawn(move || read_reports(stdout, generation, &events))?;
            thread_named("worker's stderr").spawn(move || {
                keep_last(stderr, &tail);
                let _ = ended.send(());
            })
        })();
        if let Err(error) = spawned {
            leave(&mut child, Duration::ZERO);
            return Err(error);
        }
        Ok(Worker { child, programs, stderr: tail, stderr_ended, started, ready: false })
    }

    /// Sends a program to the worker. If the worker has ended already, the end of its output
    /// reports that.
    pub(super) fn send(&self, run: Run) {
        let _ = self.programs.send(run);
    }

    /// Ends the worker, after `patience` for an exit of its own. Returns its exit, and the last
    /// lines of its standard error.
    pub(super) fn end(mut self, patience: Duration) -> (Exit, String) {
        // This ends the worker's input.
        drop(self.programs);
        let exit = leave(&mut self.child, patience).map_or(Exit::Unknown, exit);
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        (exit, last_lines(&tail.iter().copied().collect::<Vec<u8>>()))
    }
}

/// Waits for the process, kills it after `patience`, and waits again. None if even a kill does not
/// end the process, because a driver holds it in the kernel.
fn leave(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let wait = |child: &mut Child, patience: Duration| {
        let deadline = Instant::now() + patience;
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
    wait(child, patience).or_else(|| {
        let _ = child.kill();
        wait(child, LEAVE)
    })
}

#[cfg(unix)]
fn exit(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    status.signal().map(Exit::Signal).or(status.code().map(Exit::Code)).unwrap_or(Exit::Unknown)
}

#[cfg(not(unix))]
fn exit(status: ExitStatus) -> Exit {
    status.code().map_or(Exit::Unknown, Exit::Code)
}

/// The last lines, joined with " | ".
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].join(" | ")
}

/// Writes programs until the queue or the pipe closes. Its return ends the worker's input.
fn write_programs(stdin: ChildStdin, queue: &mpsc::Receiver<Run>) {
    let mut out = BufWriter::with_capacity(1 << 16, stdin);
    while let Ok(first) = queue.recv() {
        let mut next = Some(first);
        while let Some(run) = next {
            if run.write(&mut out).is_err() {
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

fn keep_last(mut stderr: ChildStderr, tail: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 4096];
    loop {
        match stderr.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&chunk[..count]);
                let excess = tail.len().saturating_sub(STDERR_KEPT);
                tail.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

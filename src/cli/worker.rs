//! `smallstep worker`: the process that has a device. The library starts it. It is not for users.

use std::io;

use super::exit::{self, Ended};
use clap::Args;
use smallstep::gpu::{Route, Selection, worker};

/// Serves programs from standard input to a device
#[derive(Args)]
pub(crate) struct Worker {
    /// The adapter: an index, part of the name, NAME#N for one of several, or nothing for the first
    #[arg(long, default_value = "")]
    adapter: Selection,
    /// passthrough or naga; passthrough where it is offered, if not given
    #[arg(long, value_parser = super::route)]
    route: Option<Route>,
    /// Threads that compile; 0 for one for each core
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    compile_threads: usize,
    /// Report the adapters instead
    #[arg(long)]
    list: bool,
}

impl Worker {
    pub(crate) fn run(self) -> Ended {
        worker::abort_on_panic();
        let options = worker::ServeOptions { selection: self.adapter, route: self.route, compile_threads: self.compile_threads };
        let served = frames_out().map_err(Into::into).and_then(|output| match self.list {
            true => worker::list(output).map(|()| worker::End::Done).map_err(Into::into),
            false => worker::serve(options, io::stdin(), output),
        });
        match served {
            Ok(worker::End::Done) => Ok(exit::DONE),
            Ok(worker::End::Abandoned) => killed(),
            Err(error) => Err((exit::FAILED, format!("the worker stops: {error}"))),
        }
    }
}

/// Ends this process without the exit routines of the drivers, which would wait for
/// unfinished draws.
fn killed() -> Ended {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

/// The standard output, reserved for frames. From now on, anything that a driver prints there goes
/// to standard error.
#[cfg(unix)]
fn frames_out() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(output.into())
}

#[cfg(not(unix))]
fn frames_out() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

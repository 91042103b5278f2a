//! One file for each subcommand.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod adapters;
mod bench;
mod worker;

/// What a command answers with, as README.md lists: 3 is that nothing wrong was found and something stayed unchecked.
pub(crate) const UNCHECKED: u8 = 3;

/// The executable small-step semantics of shader languages, run beside their compilers and real GPUs.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Adapters(adapters::Adapters),
    Bench(bench::Bench),
    #[command(hide = true)]
    Worker(worker::Worker),
}

pub(crate) fn run() -> ExitCode {
    match Cli::parse().command {
        Command::Adapters(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Worker(command) => command.run(),
    }
}

/// Reads `--route`.
pub(crate) fn route(text: &str) -> Result<smallstep::gpu::Route, String> {
    use smallstep::gpu::Route;
    [Route::Passthrough, Route::Naga]
        .into_iter()
        .find(|route| route.name() == text)
        .ok_or_else(|| format!("no route is called \"{text}\"; there are passthrough and naga"))
}

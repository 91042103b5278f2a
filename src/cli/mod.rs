//! One file for each subcommand.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Prints a line on standard output; ends the program quietly where nobody reads on (`| head`).
macro_rules! say {
    ($($arg:tt)*) => {
        $crate::cli::write_out(format_args!("{}\n", format_args!($($arg)*)))
    };
}

/// [`say`] without the line's end.
macro_rules! say_part {
    ($($arg:tt)*) => {
        $crate::cli::write_out(format_args!($($arg)*))
    };
}

/// Prints a line on standard error, if somebody reads it.
macro_rules! tell {
    ($($arg:tt)*) => {
        $crate::cli::write_aside(format_args!("{}\n", format_args!($($arg)*)))
    };
}

/// [`tell`] without the line's end.
macro_rules! tell_part {
    ($($arg:tt)*) => {
        $crate::cli::write_aside(format_args!($($arg)*))
    };
}

mod adapters;
mod amber;
mod asm;
mod bar;
mod bench;
mod call;
mod check;
mod compare;
mod compute;
mod desugar;
mod device;
mod draw;
mod exit;
mod fuzz;
mod fuzz_spirv;
mod fuzz_wsl;
mod grid;
mod input;
mod memory;
mod output;
mod planted;
mod precision;
mod replay;
mod run;
mod trace;
mod translate;
mod type_of;
mod vectors;
mod worker;
mod wsl;

pub(crate) use exit::UNCHECKED;

/// The executable small-step semantics of shader languages, run beside their compilers and real GPUs.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Compare(compare::Compare),
    #[command(name = "type")]
    TypeOf(type_of::TypeOf),
    Desugar(desugar::Desugar),
    Call(call::Call),
    Trace(trace::Trace),
    Run(run::Run),
    Translate(translate::Translate),
    Asm(asm::Asm),
    Dis(asm::Dis),
    Fuzz(fuzz::Fuzz),
    #[command(name = "fuzz-spirv")]
    FuzzSpirv(fuzz_spirv::FuzzSpirv),
    #[command(name = "fuzz-wsl")]
    FuzzWsl(fuzz_wsl::FuzzWsl),
    Planted(planted::Planted),
    Precision(precision::Precision),
    Vectors(vectors::Vectors),
    Replay(replay::Replay),
    Adapters(adapters::Adapters),
    Bench(bench::Bench),
    #[command(hide = true)]
    Worker(worker::Worker),
}

/// The words of the command line. An expression of `call` may begin with a minus sign, as no option does that it has: a blank in front keeps it from being taken for one.
fn words() -> impl Iterator<Item = OsString> {
    let mut call = false;
    std::env::args_os().enumerate().map(move |(i, word)| {
        call |= i == 1 && word == "call";
        let text = word.to_string_lossy();
        if call && text.len() > 1 && text.starts_with('-') && !text.starts_with("--") && text != "-h" {
            format!(" {text}").into()
        } else {
            word
        }
    })
}

pub(crate) fn run() -> ExitCode {
    match Cli::parse_from(words()).command {
        Command::Check(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::TypeOf(command) => command.run(),
        Command::Desugar(command) => command.run(),
        Command::Call(command) => command.run(),
        Command::Trace(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Translate(command) => command.run(),
        Command::Asm(command) => command.run(),
        Command::Dis(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::FuzzSpirv(command) => command.run(),
        Command::FuzzWsl(command) => command.run(),
        Command::Planted(command) => command.run(),
        Command::Precision(command) => command.run(),
        Command::Vectors(command) => command.run(),
        Command::Replay(command) => command.run(),
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

/// A progress bar on standard error, shown only if that is a terminal.
pub(crate) fn progress(length: Option<u64>, template: &str) -> indicatif::ProgressBar {
    let bar = match length {
        Some(length) => indicatif::ProgressBar::new(length),
        None => indicatif::ProgressBar::new_spinner(),
    };
    if let Ok(style) = indicatif::ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn write_out(text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    if let Err(e) = std::io::stdout().write_fmt(text) {
        if e.kind() != std::io::ErrorKind::BrokenPipe {
            tell!("error: standard output: {e}");
        }
        std::process::exit(i32::from(exit::FAILED));
    }
}

/// Where nobody reads standard error, what is said there is lost, and nothing else.
pub(crate) fn write_aside(text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = std::io::stderr().write_fmt(text);
}

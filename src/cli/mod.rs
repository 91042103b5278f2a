//! The command line. Each subcommand has its own file.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::json;

/// Prints a line on standard output. Ends the program quietly if the reader is gone (`| head`).
macro_rules! say {
    ($($arg:tt)*) => {
        $crate::cli::write_out(format_args!("{}\n", format_args!($($arg)*)))
    };
}

/// Like [`say`], without the line end.
macro_rules! say_part {
    ($($arg:tt)*) => {
        $crate::cli::write_out(format_args!($($arg)*))
    };
}

/// Prints a line on standard error, if there is a reader.
macro_rules! tell {
    ($($arg:tt)*) => {
        $crate::cli::write_aside(format_args!("{}\n", format_args!($($arg)*)))
    };
}

/// Like [`tell`], without the line end.
macro_rules! tell_part {
    ($($arg:tt)*) => {
        $crate::cli::write_aside(format_args!($($arg)*))
    };
}

mod adapters;
mod amber;
mod analyses;
mod asm;
mod bar;
#[cfg(feature = "device")]
mod bench;
mod budget;
mod call;
mod campaign;
mod check;
mod compare;
mod compilers;
mod compute;
mod desugar;
mod device;
mod draw;
mod exit;
mod fuzz;
mod fuzz_spirv;
mod fuzz_through;
mod fuzz_wsl;
mod grid;
mod input;
mod memory;
mod naga;
mod output;
mod planted;
mod precision;
mod reduce;
mod replay;
mod run;
mod trace;
mod translate;
mod type_of;
mod uniformity;
mod vectors;
#[cfg(not(feature = "device"))]
mod without_devices;
#[cfg(feature = "device")]
mod worker;
mod wsl;

/// The executable small-step semantics of shader languages, run beside their
/// compilers and real GPUs.
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
    Reduce(reduce::Reduce),
    #[command(name = "type")]
    TypeOf(type_of::TypeOf),
    Desugar(desugar::Desugar),
    Uniformity(uniformity::Uniformity),
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
    #[cfg(feature = "device")]
    Bench(bench::Bench),
    #[cfg(not(feature = "device"))]
    Bench(without_devices::NeedsDevices),
    #[command(hide = true)]
    #[cfg(feature = "device")]
    Worker(worker::Worker),
    #[cfg(not(feature = "device"))]
    Worker(without_devices::NeedsDevices),
    #[command(hide = true)]
    Naga(naga::Naga),
}

/// The words of the command line. An expression of `call` may begin with a minus sign. No option of
/// `call` begins with a single minus sign, except for -h. A space before the expression keeps it
/// from being taken for an option.
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

/// The function that prints a command's JSON. `None` without `--json`.
type Lines = Option<fn(std::fmt::Arguments<'_>)>;

/// The function for JSON beside an output file. It uses standard error if the output goes to
/// standard output.
fn lines_for_file(json: bool, out: &std::path::Path) -> Lines {
    match json {
        true if out.as_os_str() == "-" => Some(write_aside),
        true => Some(write_out),
        false => None,
    }
}

fn to_stdout(json: bool) -> Lines {
    if json { Some(write_out) } else { None }
}

/// Runs a command. Returns the function for its JSON, and its ending.
fn dispatch(command: Command) -> (Lines, exit::Ended) {
    match command {
        Command::Check(command) => (to_stdout(command.json), command.run()),
        Command::Compare(command) => (to_stdout(command.json), command.run()),
        Command::Reduce(command) => (to_stdout(command.json), command.run()),
        Command::TypeOf(command) => (to_stdout(command.json), command.run()),
        Command::Uniformity(command) => (to_stdout(command.json), command.run()),
        Command::Desugar(command) => (to_stdout(command.json), command.run()),
        Command::Call(command) => (to_stdout(command.json), command.run()),
        Command::Trace(command) => (to_stdout(command.json), command.run()),
        Command::Run(command) => (to_stdout(command.json), command.run()),
        Command::Translate(command) => (to_stdout(command.json), command.run()),
        Command::Asm(command) => (command.lines(), command.run()),
        Command::Dis(command) => (to_stdout(command.json), command.run()),
        Command::Fuzz(command) => (to_stdout(command.json), command.run()),
        Command::FuzzSpirv(command) => (to_stdout(command.json), command.run()),
        Command::FuzzWsl(command) => (to_stdout(command.json), command.run()),
        Command::Planted(command) => (to_stdout(command.json), command.run()),
        Command::Precision(command) => (to_stdout(command.prints_json()), command.run()),
        Command::Vectors(command) => (command.lines(), command.run()),
        Command::Replay(command) => (to_stdout(command.json), command.run()),
        Command::Adapters(command) => (to_stdout(command.json), command.run()),
        #[cfg(feature = "device")]
        Command::Bench(command) => (to_stdout(command.json), command.run()),
        #[cfg(not(feature = "device"))]
        Command::Bench(command) => (None, command.run()),
        Command::Worker(command) => (None, command.run()),
        Command::Naga(command) => (None, command.run()),
    }
}

pub(crate) fn run() -> ExitCode {
    let words: Vec<OsString> = words().collect();
    let parsed = Cli::command().try_get_matches_from(&words).and_then(|matches| {
        let mut command = Cli::from_arg_matches(&matches)?.command;
        match (&mut command, matches.subcommand()) {
            (Command::Run(run), Some((_, matches))) => run.given_options = options_on_command_line(matches),
            (Command::Trace(trace), Some((_, matches))) => trace.given_options = options_on_command_line(matches),
            _ => {}
        }
        Ok(command)
    });
    let (lines, ended) = match parsed {
        Ok(command) => dispatch(command),
        Err(error) => {
            let _ = error.print();
            let code = u8::try_from(error.exit_code()).unwrap_or(exit::INVALID);
            if error.use_stderr() && words.iter().any(|word| word == "--json") {
                say!("{}", failure(code, &error.to_string()));
            }
            return code.into();
        }
    };
    match ended {
        Ok(code) => code.into(),
        Err((code, message)) => {
            tell!("{message}");
            if let Some(print) = lines {
                print(format_args!("{}\n", failure(code, &message)));
            }
            code.into()
        }
    }
}

/// The summary of a command that failed.
fn failure(code: u8, message: &str) -> serde_json::Value {
    let message = message.strip_prefix("error: ").unwrap_or(message).trim_end();
    json!({"schema": 1, "kind": "summary", "error": {"message": message}, "exit": code})
}

/// The options on the command line, without leading dashes.
fn options_on_command_line(matches: &ArgMatches) -> Vec<String> {
    let is_on_command_line = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(clap::parser::ValueSource::CommandLine);
    matches.ids().filter(is_on_command_line).map(|id| id.as_str().replace('_', "-")).collect()
}

/// Fails for the first option on the command line that is not in `taken`, because the run does not
/// use it.
pub(crate) fn check_options(given_options: &[String], what: &str, taken: &[&[&str]]) -> Result<(), exit::Failure> {
    // Groups of options have names in upper case.
    let unused = |option: &&String| option.starts_with(char::is_lowercase) && !taken.concat().contains(&option.as_str());
    match given_options.iter().find(unused) {
        Some(option) => Err((exit::INVALID, format!("error: --{option} is of no use for {what}"))),
        None => Ok(()),
    }
}

/// Reads `--route`.
pub(crate) fn route(text: &str) -> Result<smallstep::gpu::Route, String> {
    use smallstep::gpu::Route;
    (Route::ALL.into_iter().find(|route| route.name() == text))
        .ok_or_else(|| format!("no route is called \"{text}\"; there are passthrough, naga and wgsl"))
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

/// If standard error has no reader, only the message is lost.
pub(crate) fn write_aside(text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = std::io::stderr().write_fmt(text);
}

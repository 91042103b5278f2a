//! The command line of smallstep. It reads arguments and prints results. Everything else is in
//! the library.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::run()
}

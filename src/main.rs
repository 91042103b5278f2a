//! The command line of smallstep: reads arguments, prints results; everything else
//! is in the library.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::run()
}

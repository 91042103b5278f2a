//! The exit codes of commands, for scripts.

pub(crate) use smallstep::verdict::code::*;

/// The exit code and message of a command that has no summary.
pub(crate) type Failure = (u8, String);
/// The ending of a command. With `--json`, a command that succeeds has already printed a summary
/// with this code. The summary of a failure is printed where it is reported.
pub(crate) type Ended = Result<u8, Failure>;

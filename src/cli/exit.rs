//! What commands answer to scripts.

pub(crate) use smallstep::verdict::code::*;

/// The code to end with and a message: why a command did not come to its summary.
pub(crate) type Failure = (u8, String);
/// How a command ends: its code. With `--json` a command that does not fail has printed a summary
/// with that code; a failure's is printed where it is told.
pub(crate) type Ended = Result<u8, Failure>;

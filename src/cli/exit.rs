//! What commands answer to scripts.

use smallstep::theorem::{Lack, Verdict};

/// The code to end with and a message: why a command did not come to its summary.
pub(crate) type Failure = (u8, String);
/// How a command ends: its code. With `--json` a command that does not fail has printed a summary
/// with that code; a failure's is printed where it is told.
pub(crate) type Ended = Result<u8, Failure>;

/// All agree, or done.
pub(crate) const DONE: u8 = 0;
/// A disagreement.
pub(crate) const DISAGREE: u8 = 1;
/// Bad usage, or an invalid program.
pub(crate) const INVALID: u8 = 2;
/// Nothing wrong found, but something that was asked for stayed unchecked or undecided, or
/// everything was vacuous.
pub(crate) const UNCHECKED: u8 = 3;
/// An engine crashed, hung or lost its device.
pub(crate) const FAILED: u8 = 4;
/// Undefined behaviour in the program.
pub(crate) const UNDEFINED: u8 = 5;
/// Unsupported.
pub(crate) const UNSUPPORTED: u8 = 6;
/// A limit, or fuel.
pub(crate) const LIMIT: u8 = 7;

/// The code of a verdict.
pub(crate) fn of(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Agree => DONE,
        Verdict::Disagree(_) => DISAGREE,
        Verdict::Failed(_) => FAILED,
        Verdict::Undefined(_) => UNDEFINED,
        Verdict::Refused(_) => UNSUPPORTED,
        Verdict::Unchecked(Lack::Room, _) => LIMIT,
        Verdict::Vacuous(_) | Verdict::Undecided(_) | Verdict::Unchecked(Lack::Device, _) => UNCHECKED,
    }
}

/// The worse of two codes: 1, 4, 5, 2, 6, 7, 3, 0.
pub(crate) fn worse(a: u8, b: u8) -> u8 {
    let order = [DISAGREE, FAILED, UNDEFINED, INVALID, UNSUPPORTED, LIMIT, UNCHECKED, DONE];
    let rank = |code: u8| order.iter().position(|&c| c == code).unwrap_or(0);
    if rank(b) < rank(a) { b } else { a }
}

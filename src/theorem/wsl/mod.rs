//! The theorem for WSL: what the translated module shows is among what the program allows.
//!
//! A dispatch runs on WSL's machine, or by WSL's relation where something is unspecified, and the
//! module that the compiler makes of it on SPIR-V's lockstep machine, over the same buffers. Every
//! scalar of every buffer is compared by the type of the elements: the source allows a set, and the
//! target must be in it. Padding is not compared, for no program sees it; neither are the bits of a
//! `bool` beyond whether it is true, nor those of a NaN beyond that it is one.
//!
//! The module must have no undefined behaviour and show no undefined value. Only a race or a
//! divergent barrier that WSL's relation reports too is excused, and has a verdict of its own.
//!
//! `subject` is what runs on both sides, `bound` what the target is bound to, `source` what the program allows, `compare` holds one
//! against the other, `programs` are the generated programs of a seed, `campaign` many of them.

mod bound;
mod campaign;
mod compare;
mod programs;
mod source;
mod subject;

pub use campaign::{Found, MAX_WRONG, campaign, check_entry_points, check_functions, device_campaign, judge};
pub use compare::{is_allowed, leaves};
pub use programs::Programs;

use crate::compile::wsl::{Options, Refusal};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::typing::program::Program;
use subject::Subject;

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// Everything was compared, and is among what the source allows. Whether that is more than
    /// one value somewhere.
    Agree {
        /// Whether the source met something unspecified.
        open: bool,
    },
    /// The compiler refuses the program.
    Refused(Refusal),
    /// Both sides report a race, or a barrier that not all threads reach.
    Undefined(String),
    /// Not compared: an engine gave up.
    Unchecked(String),
    /// The target shows what the source does not allow, or is undefined where the source is not.
    Disagree(String),
}

impl Judged {
    /// The word that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            Judged::Agree { .. } => "agree",
            Judged::Refused(_) => "refused",
            Judged::Undefined(_) => "undefined",
            Judged::Unchecked(_) => "unchecked",
            Judged::Disagree(_) => "disagree",
        }
    }
}

/// Runs both sides of a dispatch and compares them.
pub fn check(dispatch: &Dispatch, options: &Options) -> Judged {
    Subject::Dispatch(dispatch).judged(options).0
}

/// A function called with the words of its arguments, on both sides.
pub fn call_both((program, text): (&Program, &str), f: FunctionId, arguments: &[Vec<u32>], options: &Options) -> Judged {
    Subject::Call { program, text, f, arguments: arguments.to_vec() }.judged(options).0
}

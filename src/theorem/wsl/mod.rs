//! The theorem for WSL: what the translated module shows is among what the program allows.
//!
//! A dispatch runs on WSL's machine, or by WSL's relation where something is unspecified, and the
//! module that the compiler makes of it on SPIR-V's lockstep machine, over the same buffers. Every
//! scalar of every buffer is compared by the type of the elements: the source allows a set, and the
//! target must be in it. Padding is not compared, for no program sees it; neither are the bits of a
//! `bool` beyond whether it is true, nor those of a NaN beyond that it is one.
//!
//! The module must have no undefined behaviour and show no undefined value. Only a race or a
//! divergent barrier that WSL's relation reports too is excused, and has a verdict of its own. A
//! program with a race is never one that agrees: of one in ten programs, and of all that are open,
//! the relation looks for races, whatever the module shows.
//!
//! `subject` is what is computed on both sides, `draw` what is drawn, `case` either; `bound` is
//! what the target is bound to, `beside` SPIR-V's relation beside its machine, `source` what the
//! program allows, `compare` holds one against the other, `programs` are the generated programs of
//! a seed, `campaign` many of them, `tally` what they come to, `blame` names the first expression
//! that the module computes differently, `reduce` makes one that is wrong smaller, `known` finds it
//! among quirks.

mod beside;
mod blame;
mod bound;
mod campaign;
mod case;
mod compare;
mod draw;
mod known;
mod programs;
mod reduce;
mod source;
mod subject;
mod tally;

pub use campaign::{MIX, Plan, SHORT_MIX, Target, check_program, judge, translated};
pub use compare::{Compared, is_allowed, leaves};
pub use known::{Known, Quirk};
pub use programs::Programs;
pub use reduce::{Minimal, blame, minimal};
pub use tally::{CEILING_EXCLUDED, MAX_NAMED, Tally};

use super::blame::Blame;
use super::probe::Unblamed;
use super::{Difference, Engine, Verdict};
use crate::compile::wsl::{Options, Refusal};
use crate::gpu::{Device, DeviceOutcome, Route};
use smallstep_semantics::wsl::draw::Draw;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::typing::program::Program;
use source::Asks;
use subject::Subject;

/// Runs both sides of a dispatch and compares them, by WSL's relation too.
pub fn check(dispatch: &Dispatch, options: &Options) -> Verdict {
    Subject::Dispatch(dispatch).judged(options, Asks::EveryWay).0
}

/// A dispatch on both sides, and if they agree what a device shows of it.
pub fn check_on(dispatch: &Dispatch, device: &mut Device, options: &Options) -> Verdict {
    let subject = Subject::Dispatch(dispatch);
    match subject.judged(options, Asks::EveryWay) {
        (Verdict::Agree | Verdict::Undecided(_), _, Some(given)) => {
            let outcome = device.run(given.dispatch()).outcome;
            subject.on_device(&outcome, options, &device.adapter().name, device.route()).0
        }
        (verdict, ..) => verdict,
    }
}

/// Draws on both sides and compares what is shown, by WSL's relation too.
pub fn check_draw(draw: &Draw, options: &Options) -> Verdict {
    draw::judged(draw, options, Asks::EveryWay).0
}

/// The first expression that a device reached by a route computes differently in a draw, of which
/// it shows something that it may not. `run` draws on that device.
///
/// # Errors
/// Why none is named.
pub fn blame_draw(
    draw: &Draw,
    options: &Options,
    route: Route,
    run: &mut dyn FnMut(crate::dispatch::Dispatch) -> DeviceOutcome,
) -> Result<Blame, Unblamed> {
    blame::on_device(&case::Case::Drawn(draw), options, route, run)
}

/// A function called with the words of its arguments, on both sides.
pub fn call_both((program, text): (&Program, &str), f: FunctionId, arguments: &[Vec<u32>], options: &Options) -> Verdict {
    Subject::Call { program, text, f, arguments: arguments.to_vec() }.judged(options, Asks::Open).0
}

/// What an engine gave up on.
fn unchecked(why: String) -> Verdict {
    Verdict::Limit(why)
}

/// What the compiler refuses, by construct: whatever its elements are. What is not among the
/// constructs that it refuses, it was to translate.
fn refused(refusal: Refusal) -> Verdict {
    if refusal.construct.is_none() {
        return disagree(Engine::Typing, Engine::Translation, refusal.to_string());
    }
    Verdict::Refused(match (refusal.what.find('<'), refusal.what.rfind('>')) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &refusal.what[..from], &refusal.what[to + 1..]),
        _ => refusal.what,
    })
}

fn disagree(believed: Engine, judged: Engine, what: String) -> Verdict {
    Difference::of(believed, judged, what)
}

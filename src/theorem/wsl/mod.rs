//! The theorem for WSL: the translated module shows only what the program allows.
//!
//! A dispatch runs on WSL's machine, or by WSL's relation if a value is unspecified. The compiled
//! module runs on SPIR-V's lockstep machine, over the same buffers. Every scalar of every buffer is
//! compared by the type of the elements: the source allows a set, and the target's value must be in
//! it. Padding is not compared, since no program sees it. Of a `bool`, only its truth is compared,
//! and not its bits. The bits of a NaN are not compared either.
//!
//! The module must have no undefined behaviour and show no undefined value. The only exceptions are
//! a race or a divergent barrier that WSL's relation reports too. They have their own verdict. A
//! program with a race never agrees. The relation looks for races in one of ten programs, and in
//! all programs with unspecified values, whatever the module shows.
//!
//! `subject` compares dispatches and calls, `draw` compares draws, and `case` is either. `bound`
//! makes the bindings of the target. `beside` runs SPIR-V's relation beside its machine. `source`
//! runs the program, and `compare` compares the target's result with the source's. `programs` are
//! the generated programs of a seed, `campaign` judges many of them, and `tally` counts the
//! results. `blame` finds the first expression that the module computes differently. `reduce` makes
//! a wrong program smaller. `known` compares it with the quirks.

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
use source::RelationUse;
use subject::Subject;

/// The verdict on a dispatch: both sides run and are compared, also by WSL's relation.
pub fn check(dispatch: &Dispatch, options: &Options) -> Verdict {
    Subject::Dispatch(dispatch).judged(options, RelationUse::EveryWay).0
}

/// The verdict on a dispatch on both sides, and if they agree, on a device.
pub fn check_on(dispatch: &Dispatch, device: &mut Device, options: &Options) -> Verdict {
    let subject = Subject::Dispatch(dispatch);
    match subject.judged(options, RelationUse::EveryWay) {
        (Verdict::Agree | Verdict::Undecided(_), _, Some(inputs)) => {
            let outcome = device.run(inputs.dispatch()).outcome;
            subject.on_device(&outcome, options, &device.adapter().name, device.route()).0
        }
        (verdict, ..) => verdict,
    }
}

/// The verdict on a draw: both sides run and are compared, also by WSL's relation.
pub fn check_draw(draw: &Draw, options: &Options) -> Verdict {
    draw::judged(draw, options, RelationUse::EveryWay).0
}

/// The first expression that a device computes differently in a draw that shows a wrong value
/// there. `route` is the device's route, and `run` draws on it.
///
/// # Errors
/// Why no expression was found.
pub fn blame_draw(
    draw: &Draw,
    options: &Options,
    route: Route,
    run: &mut dyn FnMut(crate::dispatch::Dispatch) -> DeviceOutcome,
) -> Result<Blame, Unblamed> {
    blame::on_device(&case::Case::Drawn(draw), options, route, run)
}

/// The verdict on a call of a function on both sides. `arguments` has the words of each argument.
pub fn call_both((program, text): (&Program, &str), f: FunctionId, arguments: &[Vec<u32>], options: &Options) -> Verdict {
    Subject::Call { program, text, f, arguments: arguments.to_vec() }.judged(options, RelationUse::Open).0
}

/// The verdict if an engine gave up.
fn unchecked(why: String) -> Verdict {
    Verdict::Limit(why)
}

/// The verdict if the compiler refuses a program, by construct, without the types of its elements.
/// A refusal without a construct is a mistake: the compiler should translate the program.
fn refused(refusal: Refusal) -> Verdict {
    if refusal.construct.is_none() {
        return disagree(Engine::Typing, Engine::Translation, refusal.to_string());
    }
    Verdict::Refused(match (refusal.what.find('<'), refusal.what.rfind('>')) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &refusal.what[..from], &refusal.what[to + 1..]),
        _ => refusal.what,
    })
}

fn disagree(trusted: Engine, judged: Engine, what: String) -> Verdict {
    Difference::of(trusted, judged, what)
}

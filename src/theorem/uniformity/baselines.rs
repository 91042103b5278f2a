//! Analyses that need no thought, to compare others with and to see that the oracle says no.

use super::{Analysis, Verdict};
use smallstep_semantics::spirv::Module;
use smallstep_semantics::wsl::environment::access::Callee;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::Derivative;
use smallstep_semantics::wsl::typing::program::{ExprId, Form, Program, StmtForm, StmtId};

/// An analysis by its name.
pub type Named<P> = (&'static str, Analysis<'static, P>);

/// The baselines of WSL, by name.
pub const BASELINES: [Named<Program>; 3] = [("accept-all", &accept_all), ("reject-all", &reject_all), ("branches", &branches)];

/// The baselines of SPIR-V, by name.
pub const SPIRV_BASELINES: [Named<Module>; 2] = [("accept-all", &accept_all), ("reject-all", &reject_all)];

/// Accepts every program: as precise as can be, and unsound.
pub fn accept_all<P>(_: &P) -> Verdict {
    Verdict::Accepts
}

/// Rejects every program: sound, and as imprecise as can be.
pub fn reject_all<P>(_: &P) -> Verdict {
    Verdict::Rejects("everything is rejected".into())
}

/// Rejects a program in which threads may meet somewhere, if anything in it branches: sound, and
/// nearly as imprecise.
pub fn branches(program: &Program) -> Verdict {
    let meets = (0..program.exprs.len() as u32).any(|e| program.callees(ExprId(e)).iter().any(is_meeting));
    let branches = |s: u32| match program.stmt(StmtId(s)).form {
        StmtForm::If(..) => Some("an if"),
        StmtForm::DoWhile(..) | StmtForm::For(..) => Some("a loop"),
        StmtForm::Switch(..) => Some("a switch"),
        _ => None,
    };
    let operators = |e: u32| match program.expr(ExprId(e)).form {
        Form::And(..) | Form::Or(..) | Form::Ternary(..) => Some("an operator that evaluates some of its operands"),
        _ => None,
    };
    if !meets {
        return Verdict::Accepts;
    }
    let first = (0..program.stmts.len() as u32).find_map(branches).or_else(|| (0..program.exprs.len() as u32).find_map(operators));
    match first {
        Some(what) => Verdict::Rejects(format!("{what} in a program in which threads meet")),
        None => Verdict::Accepts,
    }
}

fn is_meeting(callee: &Callee) -> bool {
    let Callee::Library(f) = callee else { return false };
    let barriers =
        [Meaning::AllMemoryBarrierWithGroupSync, Meaning::DeviceMemoryBarrierWithGroupSync, Meaning::GroupMemoryBarrierWithGroupSync];
    barriers.contains(&f.meaning()) || Derivative::of(f.meaning()).is_some()
}

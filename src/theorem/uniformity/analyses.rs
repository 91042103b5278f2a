//! The analyses that a campaign can judge, by name. Some are trivial. They serve for comparison,
//! and to test that the oracle reports unsound analyses.

use super::{Analysis, Answer, Rejected};
use smallstep_semantics::spirv::Module;
use smallstep_semantics::uniformity;
use smallstep_semantics::wsl::environment::access::Callee;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::Derivative;
use smallstep_semantics::wsl::typing::program::{ExprId, Form, Program, StmtForm, StmtId};

/// An analysis with its name.
pub type Named<P> = (&'static str, Analysis<'static, P>);

/// The analyses of WSL.
pub const WSL_ANALYSES: [Named<Program>; 5] =
    [("precise", &precise), ("seed", &seed), ("accept-all", &accept_all), ("reject-all", &reject_all), ("branches", &branches)];

/// The analyses of SPIR-V.
pub const SPIRV_ANALYSES: [Named<Module>; 3] = [("precise", &precise_spirv), ("accept-all", &accept_all), ("reject-all", &reject_all)];

/// The analysis of [`uniformity::spirv`].
pub fn precise_spirv(module: &Module) -> Answer {
    match uniformity::spirv::analyse(module) {
        Ok(analysis) => verdict(&analysis),
        Err(_) => Err(Rejected::new("there is no verdict")),
    }
}

/// The analysis of [`uniformity::wsl`].
pub fn precise(program: &Program) -> Answer {
    match uniformity::wsl::analyse(program) {
        Ok(analysis) => verdict(&analysis),
        Err(_) => Err(Rejected::new("it is too large")),
    }
}

/// The analysis of [`uniformity::seed`].
pub fn seed(program: &Program) -> Answer {
    verdict(&uniformity::seed::analyse(program))
}

/// The answer of an analysis. The cause is the last step of the first explanation: what differs,
/// without names.
fn verdict<F, P>(analysis: &uniformity::Analysis<F, P>) -> Answer {
    if analysis.accepts() {
        return Ok(());
    }
    let Some(first) = analysis.rejections.first() else { return Err(Rejected::new("a rule is missing")) };
    let last = first.steps.last().map_or("", |step| &step.text);
    // Text between accents is a name or other text of the program.
    let unnamed: String = last.split('`').enumerate().map(|(i, text)| if i % 2 == 0 { text } else { "`…`" }).collect();
    Err(Rejected::new(format!("{}: {unnamed}", first.need.noun())))
}

/// Accepts every program: as precise as possible, and unsound.
pub fn accept_all<P>(_: &P) -> Answer {
    Ok(())
}

/// Rejects every program: sound, and as imprecise as possible.
pub fn reject_all<P>(_: &P) -> Answer {
    Err(Rejected::new("everything is rejected"))
}

/// Rejects a program in which threads may meet and anything branches: sound, and nearly as
/// imprecise as [`reject_all`].
pub fn branches(program: &Program) -> Answer {
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
        return Ok(());
    }
    let first = (0..program.stmts.len() as u32).find_map(branches).or_else(|| (0..program.exprs.len() as u32).find_map(operators));
    match first {
        Some(what) => Err(Rejected::new(format!("{what} in a program in which threads meet"))),
        None => Ok(()),
    }
}

fn is_meeting(callee: &Callee) -> bool {
    let Callee::Library(f) = callee else { return false };
    let barriers =
        [Meaning::AllMemoryBarrierWithGroupSync, Meaning::DeviceMemoryBarrierWithGroupSync, Meaning::GroupMemoryBarrierWithGroupSync];
    barriers.contains(&f.meaning()) || Derivative::of(f.meaning()).is_some()
}

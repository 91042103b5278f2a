//! The reducer for λV and WSL programs, over their syntax trees.

use smallstep_semantics::outcome::{InputFault, InvalidInput, TimeLimit};

use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::typing::{Limits, infer};
use smallstep_semantics::wsl::validate::validate;

use super::Reduced;
use crate::compile::wsl;
use crate::generate::shrink::{Keep, minimal_that_keeps};
use crate::generate::wsl::shrink;
use crate::program::Language;
use crate::theorem::check::{Checked, Checker, Devices, Options};
use crate::theorem::compilers::{self, Compiler, Status};
use crate::theorem::without_numbers;
use crate::theorem::wsl::{Tally, Target, check_program};

/// The most programs that the caller is asked about.
const MAX_TRIES: u32 = 50_000;

/// Makes a λV or a WSL program smaller while `interesting` holds for its text, until a time limit.
/// `interesting` is called only with valid programs. If the first λV program is ill typed, smaller
/// ones may be so too.
///
/// # Errors
/// The text is no program of the language, or it is not interesting itself.
pub fn reduced_text(
    language: Language,
    text: &str,
    until: Option<TimeLimit>,
    interesting: &mut dyn FnMut(&str) -> bool,
) -> Result<Reduced<String>, InvalidInput> {
    let mut questions = 0;
    let mut is_interesting = |text: &str| {
        questions += 1;
        interesting(text)
    };
    // The program is printed first, since all smaller ones are printed too.
    let tree = match language {
        Language::LambdaV => {
            Some(parse(text).map_err(|e| InvalidInput::new(InputFault::Program, format!("the program cannot be read: {}", e.message)))?)
        }
        _ => None,
    };
    let printed = tree.as_ref().map_or(text.to_string(), |tree| tree.print());
    if !is_interesting(&printed) {
        return Err(InvalidInput::new(InputFault::Uninteresting, "the program is not interesting itself"));
    }
    let mut cut_short = false;
    let mut fails = |text: &str| {
        cut_short |= TimeLimit::passed(until).is_some();
        !cut_short && is_interesting(text)
    };
    let program = match &tree {
        Some(tree) => {
            let is_typed = Program::resolve(tree).is_ok_and(|program| infer(&program, Limits::default()).is_ok());
            let keep = if is_typed { Keep::WellTyped } else { Keep::Resolved };
            minimal_that_keeps(keep, tree, &mut |tree| fails(&tree.print()), MAX_TRIES).print()
        }
        None => shrink::minimal(text, &mut fails, MAX_TRIES),
    };
    Ok(Reduced { program, questions, cut_short })
}

/// The status of a compiler for a program, and the reason without numbers. For the dispatches,
/// draws and calls of a WSL program it is the worst status.
pub fn judged_text(language: Language, text: &str, compiler: &Compiler) -> (Status, String) {
    match language {
        Language::LambdaV => of_lambda_v(text, compiler),
        _ => of_wsl(text, compiler),
    }
}

fn of_lambda_v(text: &str, compiler: &Compiler) -> (Status, String) {
    let options = Options { devices: Devices::None, compilers: vec![compiler.clone()], ..Options::default() };
    let Ok(mut checker) = Checker::open(options) else { return (Status::Unchecked, "nothing was opened".into()) };
    let Checked::Judged { legs, .. } = checker.check("the program", text) else {
        return (Status::Unchecked, "the program is not valid".into());
    };
    let leg = legs.into_iter().find_map(|leg| Some((leg.compiled?, leg.verdict)));
    let Some((compiled, verdict)) = leg else { return (Status::Unchecked, "the semantics do not agree".into()) };
    let why = match &verdict {
        crate::theorem::Verdict::Disagree(difference) => difference.way(),
        other => without_numbers(other.why().lines().next().unwrap_or_default()),
    };
    (compiled, why)
}

fn of_wsl(text: &str, compiler: &Compiler) -> (Status, String) {
    let Some(program) = validate(text).program else { return (Status::Unchecked, "the program is not valid".into()) };
    let options = wsl::Options { profile: compilers::profile(compiler), ..wsl::Options::default() };
    let mut tally = Tally::default();
    check_program((&program, text), 0, &options, None, Some(Target::Compiler(compiler)), &mut tally);
    if let Some(finding) = tally.findings.iter().find(|finding| !finding.device) {
        return (Status::Unchecked, format!("the interpreters disagree: {}", finding.what));
    }
    let worst = compilers::of_tally(&tally).into_keys().reduce(Status::weightier).unwrap_or(Status::Vacuous);
    let finding = tally.findings.first().map(|finding| without_numbers(&finding.group));
    let refusal = || tally.refused.keys().next().map(|why| without_numbers(why));
    (worst, finding.or_else(refusal).unwrap_or_default())
}

//! Makes a file of WSL cases, from generated programs, or from a program with given expressions or
//! a given dispatch.

use super::bound::{Image, Sampler};
use super::compiled::Compiled;
use super::engines::{Bounds, Expression, Grid, Unfit, type_name};
use super::format::{Bits, Buffer, Call, Case, Checks, Dispatch, Ends, Header, Lane, SCHEMA};
use super::replay::{OwnEngine, WAYS, judge};
use crate::generate::wsl::{arguments, dispatch, typed};
use crate::run::grid::{self, compute_entry};
use crate::theorem::{Lanes, Verdict};
use crate::vectors::Lines;
use crate::vectors::format::{MAX_LINE, Provenance, profile_name};
use crate::vectors::record::{RecordError, Recordable, Recorded, Tried, fill};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::InvalidInput;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{self, ResourceContents};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;
use std::io::Write;

/// The most steps of one way, and the most iterations and calls of the machine, for
/// generated calls.
const FUEL: u64 = 50_000;
/// The most steps of one way for given programs.
const FUEL_GIVEN: u64 = 10_000_000;
/// The most steps of one way, and the most iterations and calls of the machine, for
/// generated dispatches.
const FUEL_DISPATCHED: u64 = 100_000;
/// The most ways for generated programs.
const FEW_WAYS: usize = 16;
/// The most calls in a case, and the most calls of one function.
const CALLS: usize = 8;
const DRAWS: u64 = 2;

/// The settings of a recording of generated programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of cases.
    pub count: u64,
    /// The seed of the first program. Program i has the seed SEED + i. Every fourth program is a
    /// dispatch. The functions of the others are called.
    pub seed: u64,
    /// The precision profile for floats.
    pub profile: Profile,
    /// Whether every lane must be decided. Otherwise one decided lane is enough.
    pub decided: bool,
    /// The number of threads. It has no effect on the recorded cases.
    pub threads: usize,
}

impl Plan {
    /// The command that records the same file.
    pub fn command(&self) -> String {
        let Plan { count, seed, .. } = self;
        let (profile, decided) = (profile_name(self.profile), if self.decided { " --decided" } else { "" });
        format!("smallstep vectors --format wsl --count {count} --seed {seed} --profile {profile}{decided}")
    }
}

fn header(schema: u32, seed: u64, profile: Profile, cases: u64, command: String) -> Header {
    Header { schema, version: env!("CARGO_PKG_VERSION").into(), generator: dispatch::VERSION, seed, profile, cases, command }
}

/// Writes the header and the cases of generated programs. `progress` gets the number of cases
/// so far.
///
/// # Errors
/// If the file cannot be written, if the engines disagree, or if too few programs are suitable.
pub fn record(plan: &Plan, to: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<Recorded, RecordError> {
    to.write_all(header(SCHEMA, plan.seed, plan.profile, plan.count, plan.command()).to_line().as_bytes())?;
    fill(plan.count, 64, plan.threads, |number| try_one(plan, number), to, progress)
}

impl Recordable for Case {
    fn at(mut self, index: u64) -> String {
        self.index = index;
        self.to_line()
    }
}

/// The checks of a given program.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramChecks {
    /// The evaluation of these expressions with the program.
    Expressions(Vec<String>),
    /// A dispatch of the compute entry point with this name, or else of the only one.
    Dispatch {
        /// The name of the entry point.
        entry: Option<String>,
        /// The number of threadgroups.
        groups: [u32; 3],
        /// The contents of the resources.
        bound: Vec<(grid::ResourceRef, grid::ResourceInput)>,
    },
}

/// Writes a file with one case: a program and its checks. `read` reads the files of bindings.
///
/// # Errors
/// As [`record`]. Also if an expression or a binding is wrong, or cannot be recorded.
pub fn record_given(
    program: &str,
    program_checks: &ProgramChecks,
    read: grid::Read<'_>,
    profile: Profile,
    command: String,
    to: &mut dyn Write,
) -> Result<Recorded, RecordError> {
    let bounds = Bounds { fuel: FUEL_GIVEN, ways: WAYS };
    let unfit = |what: &str, unfit: Unfit| match unfit {
        Unfit::Room(why) | Unfit::Wrong(why) => RecordError::Unfit(format!("{what}: {why}")),
        Unfit::Unsupported(why) => RecordError::Unfit(format!("{what}: unsupported: {why}")),
    };
    let (checks, rules) = match program_checks {
        ProgramChecks::Expressions(expressions) => {
            let mut rules: BTreeSet<Rule> = validate(program).fired.rules().collect();
            let mut calls = Vec::new();
            for expression in expressions {
                let call = call(program, expression, profile, bounds, &mut rules).map_err(RecordError::Unfit)?;
                calls.push(call.map_err(|e| unfit(&format!("`{expression}`"), e))?);
            }
            (Checks::Calls(calls), rules)
        }
        ProgramChecks::Dispatch { entry, groups, bound } => {
            let bind = |program: &Program, entry: &EntryPoint| grid::bind(program, entry, bound, read);
            let recorded = record_dispatch(program, entry.as_deref(), *groups, &bind, profile, bounds).map_err(RecordError::Unfit)?;
            let (dispatch, rules) = recorded.map_err(|e| unfit("the dispatch", e))?;
            (Checks::Dispatch(dispatch), rules)
        }
    };
    match checked_by_engines(case(0, 0, program.into(), checks, rules), profile, FUEL_GIVEN) {
        Tried::Fit(fit) => {
            let (case, lanes) = *fit;
            let line = case.to_line();
            if line.len() > MAX_LINE {
                return Err(RecordError::Unfit(format!("the case takes {} bytes; a line has at most {MAX_LINE}", line.len())));
            }
            // A line does not record which components of an image were rounded when they
            // were stored.
            if Case::case(&line).map_err(|e| RecordError::Unfit(e.what))?.checks != case.checks {
                return Err(RecordError::Unfit("the case holds what a line does not say".into()));
            }
            to.write_all(header(case.checks.schema(), 0, profile, 1, command).to_line().as_bytes())?;
            to.write_all(line.as_bytes())?;
            to.flush()?;
            Ok(Recorded { cases: 1, lanes, tried: 1, ..Recorded::default() })
        }
        Tried::LeftOut(why) => Err(RecordError::Unfit(why.into())),
        Tried::Disagree(verdict, source) => Err(RecordError::Disagree { program: 0, verdict, source }),
    }
}

fn case(number: u64, seed: u64, program: String, checks: Checks, rules: BTreeSet<Rule>) -> Case {
    let version = env!("CARGO_PKG_VERSION");
    let engines = ["wsl/relation", "wsl/machine"].into_iter().map(|name| (name.into(), version.into())).collect();
    let provenance = Provenance { program: number, seed: format!("{seed:#018x}"), engines };
    Case { index: 0, program, checks, rules: rules.into_iter().collect(), provenance }
}

/// The case, if the machine and the SPIR-V in the case agree with it.
fn checked_by_engines(mut case: Case, profile: Profile, fuel: u64) -> Tried<Case> {
    if case.checks.has_spirv() {
        match judge(&case, OwnEngine::Spirv, profile, fuel) {
            Ok((Verdict::Agree | Verdict::Undecided(_), _)) => {
                case.provenance.engines.insert("spirv/lockstep".into(), env!("CARGO_PKG_VERSION").into());
            }
            Ok((Verdict::Unchecked(_) | Verdict::Limit(_), _)) => return Tried::LeftOut("whose SPIR-V is not run"),
            Ok((verdict, _)) => return Tried::Disagree(Box::new(verdict), case.program),
            Err(what) => return Tried::Disagree(Box::new(Verdict::Failed(what)), case.program),
        }
    }
    match judge(&case, OwnEngine::Machine, profile, fuel) {
        Ok((Verdict::Agree | Verdict::Undecided(_), _)) => {
            let lanes: Vec<&Lane> = case.checks.lanes().collect();
            let undecided = lanes.iter().filter(|l| matches!(l, Lane::Any(_))).count() as u64;
            let lanes = Lanes { checked: lanes.len() as u64 - undecided, undecided };
            Tried::Fit(Box::new((case, lanes)))
        }
        Ok((Verdict::Unchecked(_) | Verdict::Limit(_), _)) => Tried::LeftOut("not run by the machine"),
        Ok((verdict, _)) => Tried::Disagree(Box::new(verdict), case.program),
        Err(what) => Tried::Disagree(Box::new(Verdict::Failed(what)), case.program),
    }
}

/// A call with the result of the relation. The outer error is that the expression is wrong.
fn call(
    program: &str,
    expression: &str,
    profile: Profile,
    bounds: Bounds,
    rules: &mut BTreeSet<Rule>,
) -> Result<Result<Call, Unfit>, String> {
    let prepared = Expression::new(program, expression)?;
    let shown = match prepared.by_relation(profile, bounds) {
        Ok(shown) => shown,
        Err(unfit) => return Ok(Err(unfit)),
    };
    rules.extend(shown.rules);
    let (ty, expression) = (prepared.type_name(), expression.to_string());
    let returns = shown.ends == Ends::Returns;
    let spirv = if returns { Compiled::of_call(program, &expression, profile) } else { None };
    Ok(Ok(Call { expression, ty, ends: shown.ends, expected: shown.lanes, value: shown.value, spirv }))
}

fn try_one(plan: &Plan, number: u64) -> Tried<Case> {
    let seed = plan.seed.wrapping_add(number);
    let tried = if number % 4 == 3 { try_dispatch(plan, number, seed) } else { try_calls(plan, number, seed) };
    match tried {
        Tried::Fit(fit) if fit.1.checked == 0 => Tried::LeftOut("without a decided lane"),
        Tried::Fit(fit) if plan.decided && fit.1.undecided > 0 => Tried::LeftOut("with an undecided lane"),
        tried => tried,
    }
}

fn try_calls(plan: &Plan, number: u64, seed: u64) -> Tried<Case> {
    let text = typed::program(seed);
    let found = validate(&text);
    let mut rules: BTreeSet<Rule> = found.fired.rules().collect();
    let Some(program) = found.program else { return refused(text) };
    let bounds = Bounds { fuel: FUEL, ways: FEW_WAYS };
    let mut calls: Vec<Call> = Vec::new();
    for f in 0..program.env.functions.len() as u32 {
        for draw in 0..DRAWS {
            let drawn = arguments::call(&program, FunctionId(f), seed.wrapping_add(draw));
            let Some(expression) = drawn.filter(|e| calls.len() < CALLS && calls.iter().all(|c| c.expression != *e)) else { continue };
            // The call is skipped if its value is no number, or if it would call another function.
            let Ok(prepared) = Expression::new(&text, &expression) else { continue };
            match prepared.by_machine(Strategy::First, bounds) {
                Err(Unfit::Room(_) | Unfit::Unsupported(_)) => continue,
                Ok(_) | Err(Unfit::Wrong(_)) => {}
            }
            match call(&text, &expression, plan.profile, bounds, &mut rules) {
                Ok(Ok(call)) => calls.push(call),
                Ok(Err(Unfit::Wrong(what))) => {
                    return Tried::Disagree(Box::new(Verdict::Failed(format!("`{expression}`: {what}"))), text);
                }
                Ok(Err(Unfit::Room(_) | Unfit::Unsupported(_))) | Err(_) => {}
            }
        }
    }
    if calls.is_empty() {
        return Tried::LeftOut("without a function to call");
    }
    checked_by_engines(case(number, seed, text, Checks::Calls(calls), rules), plan.profile, FUEL)
}

fn refused(text: String) -> Tried<Case> {
    Tried::Disagree(Box::new(Verdict::Failed("a program that is valid by construction is refused".into())), text)
}

fn try_dispatch(plan: &Plan, number: u64, seed: u64) -> Tried<Case> {
    let generated = dispatch::dispatch(seed);
    let bounds = Bounds { fuel: FUEL_DISPATCHED, ways: FEW_WAYS };
    let bind = |program: &Program, entry: &EntryPoint| generated.bind(program, entry);
    let tried = record_dispatch(&generated.text, Some("main"), generated.groups, &bind, plan.profile, bounds);
    let disagreement = |what: String| Tried::Disagree(Box::new(Verdict::Failed(what)), generated.text.clone());
    match tried {
        Ok(Ok((checks, rules))) => {
            checked_by_engines(case(number, seed, generated.text.clone(), Checks::Dispatch(checks), rules), plan.profile, FUEL_DISPATCHED)
        }
        Ok(Err(Unfit::Room(_))) => Tried::LeftOut("over a limit"),
        Ok(Err(Unfit::Unsupported(_))) => Tried::LeftOut("not run by the relation"),
        Ok(Err(Unfit::Wrong(what))) | Err(what) => disagreement(what),
    }
}

/// A function that binds an entry point's resources.
type Bind<'b> = &'b dyn Fn(&Program, &EntryPoint) -> Result<Vec<group::Resource>, InvalidInput>;

/// A dispatch with the result of the relation, and the rules. The outer error is that the program
/// or a binding is wrong.
fn record_dispatch(
    text: &str,
    entry: Option<&str>,
    groups: [u32; 3],
    bind: Bind,
    profile: Profile,
    bounds: Bounds,
) -> Result<Result<(Dispatch, BTreeSet<Rule>), Unfit>, String> {
    let found = validate(text);
    let mut rules: BTreeSet<Rule> = found.fired.rules().collect();
    let program = found.program.ok_or_else(|| {
        let first = found.errors.into_iter().next().map(|e| e.message).unwrap_or_default();
        format!("the program is not valid: {first}")
    })?;
    let entry = program.env.names.name(program.env.function(compute_entry(&program, entry)?.function).name.name);
    let grid = Grid::of(text, &program, entry, groups, |entry| bind(&program, entry))?;
    let (lanes, fired) = match grid.by_relation(profile, bounds) {
        Ok(shown) => shown,
        Err(unfit) => return Ok(Err(unfit)),
    };
    rules.extend(fired);
    let mut dispatch = Dispatch { entry: entry.into(), groups, buffers: Vec::new(), images: Vec::new(), samplers: Vec::new(), spirv: None };
    for (k, (resource, lanes)) in grid.resources().iter().zip(lanes).enumerate() {
        let (name, register, ty) = (resource.name.clone(), resource.register.clone(), type_name(&program, &resource.contents));
        let expected = if resource.is_writable() { lanes } else { Vec::new() };
        match &resource.contents {
            ResourceContents::Buffer(buffer) => dispatch.buffers.push(Buffer {
                name,
                register,
                space: buffer.space.keyword().into(),
                ty,
                elements: (buffer.words.len() / buffer.stride as usize) as u32,
                given: grid.scalars(k, &buffer.words).map(|(&word, _)| Bits(word)).collect(),
                expected,
            }),
            ResourceContents::Texture(_) => {
                let image = resource.texture().map(|(texture, _)| (*texture.image).clone());
                dispatch.images.extend(image.map(|image| Image { name, register, ty, image, expected }));
            }
            ResourceContents::Sampler(sampler) => dispatch.samplers.extend(sampler.map(|sampler| Sampler { name, register, sampler })),
        }
    }
    dispatch.spirv = grid.compiled(profile);
    Ok(Ok((dispatch, rules)))
}

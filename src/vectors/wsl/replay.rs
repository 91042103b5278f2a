//! Checks the engines against a file of WSL cases.

use super::engines::{Bounds, Expression, Grid, Scalars, Unfit};
use super::format::{Call, Case, Checks, Dispatch, Ends, Lane};
use crate::theorem::{Difference, Engine, Lanes, Verdict};
use crate::vectors::replay::Replayed;
use crate::vectors::{LineError, Reader};
use smallstep_semantics::number::Profile;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::validate::validate;
use std::io::BufRead;

/// An engine of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnEngine {
    /// The relation. Its result must be exactly the expected result.
    Reference,
    /// The machine, with several choices of the unspecified values. Its result must be among the
    /// expected results.
    Machine,
    /// The SPIR-V machine on the words in the case. Its result must be among the expected results.
    Spirv,
}

impl OwnEngine {
    /// The engines that every case is for.
    pub const ALL: [OwnEngine; 2] = [OwnEngine::Reference, OwnEngine::Machine];

    fn engine(self) -> Engine {
        match self {
            OwnEngine::Reference => Engine::WslRelation,
            OwnEngine::Machine => Engine::WslMachine,
            OwnEngine::Spirv => Engine::SpirvMachine,
        }
    }
}

/// The most ways through unspecified values.
pub(super) const WAYS: usize = 256;
/// The choices of the machine.
const STRATEGIES: [Strategy; 3] = [Strategy::First, Strategy::Random(1), Strategy::Random(2)];

/// Checks every case of a file on each of the engines. The verdict of a case is the worst verdict
/// of the engines. `each` gets the finished cases, and the errors of lines that are no cases.
/// `fuel` is the number of steps of an engine for each check.
pub fn replay<R: BufRead>(
    reader: &mut Reader<R, Case>,
    engines: &[OwnEngine],
    fuel: u64,
    each: &mut dyn FnMut(Result<Replayed, LineError>),
) {
    let profile = reader.header().profile;
    while let Some(next) = reader.next_case() {
        each(next.and_then(|(line, case)| {
            let (mut verdict, mut lanes) = (Verdict::Agree, Lanes::default());
            for &engine in engines {
                // Together with other engines, the words run only if the case has some.
                if engine == OwnEngine::Spirv && engines.len() > 1 && !case.checks.has_spirv() {
                    continue;
                }
                let (engine_verdict, compared) = judge(&case, engine, profile, fuel).map_err(|what| LineError { line, what })?;
                verdict = verdict.worse(engine_verdict);
                lanes += compared;
            }
            Ok(Replayed { line, index: case.index, verdict, lanes })
        }));
    }
}

/// The comparison of a check: the lanes, and the first difference.
struct Compared {
    engine: Engine,
    lanes: Lanes,
    /// The first difference, as a sentence.
    first_difference: Option<String>,
    other_differences: u64,
    has_open_lane: bool,
    /// The reason why something is not compared.
    uncompared: Option<Verdict>,
}

impl Compared {
    fn new(engine: Engine) -> Compared {
        Compared { engine, lanes: Lanes::default(), first_difference: None, other_differences: 0, has_open_lane: false, uncompared: None }
    }

    fn lane(&mut self, expected: &Lane, agrees: Option<bool>, place: impl Fn() -> String, shown: impl Fn() -> String) {
        match agrees {
            None => {
                self.has_open_lane = true;
                self.lanes.undecided += 1;
            }
            Some(true) => self.lanes.checked += 1,
            Some(false) => {
                self.lanes.checked += 1;
                self.add_difference(|| format!("{}: expected {}, saw {}", place(), expected.text(), shown()));
            }
        }
    }

    fn add_difference(&mut self, what: impl FnOnce() -> String) {
        match self.first_difference {
            Some(_) => self.other_differences += 1,
            None => self.first_difference = Some(what()),
        }
    }

    fn set_unfit(&mut self, unfit: Unfit, place: &str) {
        match unfit {
            Unfit::Room(what) => self.uncompared = Some(Verdict::Limit(format!("{}: {place}: {what}", self.engine))),
            Unfit::Unsupported(what) => {
                self.uncompared = Some(Verdict::Unchecked(format!("{}: {place}: unsupported: {what}", self.engine)))
            }
            Unfit::Wrong(what) => self.add_difference(|| format!("{place}: the vectors have a value, and this engine has none: {what}")),
        }
    }

    fn lanes_of_relation(&mut self, expected: &[Lane], shown: &[Lane], place: &dyn Fn(usize) -> String) {
        if expected.len() != shown.len() {
            return self.add_difference(|| format!("{}: expected {} scalars, saw {}", place(0), expected.len(), shown.len()));
        }
        for (i, (expected, shown)) in expected.iter().zip(shown).enumerate() {
            let agrees = match (expected, shown) {
                (Lane::Any(_), Lane::Any(_)) => None,
                (a, b) => Some(a == b),
            };
            self.lane(expected, agrees, || place(i), || shown.text());
        }
    }

    fn lanes_of_machine(&mut self, expected: &[Lane], shown: &Scalars, place: &dyn Fn(usize) -> String) {
        if expected.len() != shown.len() {
            return self.add_difference(|| format!("{}: expected {} scalars, saw {}", place(0), expected.len(), shown.len()));
        }
        for (i, (expected, &(bits, scalar))) in expected.iter().zip(shown).enumerate() {
            self.lane(expected, expected.admits(bits, scalar), || place(i), || format!("{bits:08x}"));
        }
    }
}

/// The verdict of a case on an engine.
///
/// # Errors
/// If the case is invalid: its program is not valid, or does not fit the case.
pub(super) fn judge(case: &Case, engine: OwnEngine, profile: Profile, fuel: u64) -> Result<(Verdict, Lanes), String> {
    let bounds = Bounds { fuel, ways: WAYS };
    let mut compared = Compared::new(engine.engine());
    if engine == OwnEngine::Spirv && !case.checks.has_spirv() {
        return Ok((Verdict::Unchecked("the case carries no SPIR-V".into()), Lanes::default()));
    }
    match &case.checks {
        Checks::Calls(calls) => {
            for call in calls {
                compare_call(&case.program, call, engine, profile, bounds, &mut compared)?;
            }
        }
        Checks::Dispatch(dispatch) => compare_dispatch(&case.program, dispatch, engine, profile, bounds, &mut compared)?,
    }
    let Compared { lanes, first_difference, other_differences, has_open_lane, uncompared, .. } = compared;
    let verdict = match (first_difference, uncompared) {
        (Some(what), _) => {
            let more = if other_differences > 0 { format!(" (and {other_differences} more)") } else { String::new() };
            Difference::of(Engine::Vectors, engine.engine(), what + &more)
        }
        (None, Some(verdict)) => verdict,
        (None, None) if has_open_lane => {
            let all = lanes.all();
            Verdict::Undecided(format!("{} of {all} lanes may be anything", lanes.undecided))
        }
        (None, None) => Verdict::Agree,
    };
    Ok((verdict, lanes))
}

fn compare_call(
    program: &str,
    call: &Call,
    engine: OwnEngine,
    profile: Profile,
    bounds: Bounds,
    compared: &mut Compared,
) -> Result<(), String> {
    let expression = Expression::new(program, &call.expression)?;
    if expression.type_name() != call.ty {
        return Err(format!("`{}` has the type {}; the case says {}", call.expression, expression.type_name(), call.ty));
    }
    let needed = if call.ends == Ends::Discards { 0 } else { expression.scalars.len() };
    if call.expected.len() != needed {
        return Err(format!("`expected` of `{}` has {} lanes; {needed} are needed", call.expression, call.expected.len()));
    }
    let place = |i: usize| format!("`{}`, scalar {i}", call.expression);
    match engine {
        OwnEngine::Reference => match expression.by_relation(profile, bounds) {
            Err(unfit) => compared.set_unfit(unfit, &format!("`{}`", call.expression)),
            Ok(shown) if shown.ends != call.ends => {
                compared.add_difference(|| format!("`{}`: expected {:?}, saw {:?}", call.expression, call.ends, shown.ends).to_lowercase());
            }
            Ok(shown) => compared.lanes_of_relation(&call.expected, &shown.lanes, &place),
        },
        OwnEngine::Spirv => match &call.spirv {
            // Only other calls of the case have words.
            None => {}
            Some(compiled) => match compiled.call(&expression.scalars, bounds) {
                Err(unfit) => compared.set_unfit(unfit, &format!("`{}`", call.expression)),
                Ok(shown) => compared.lanes_of_machine(&call.expected, &shown, &place),
            },
        },
        OwnEngine::Machine => {
            for strategy in STRATEGIES {
                match (expression.by_machine(strategy, bounds), call.ends) {
                    (Err(unfit), _) => compared.set_unfit(unfit, &format!("`{}`", call.expression)),
                    (Ok(None), Ends::Discards | Ends::Either) => {}
                    (Ok(None), Ends::Returns) => {
                        compared.add_difference(|| format!("`{}`: expected a value, and it discards", call.expression))
                    }
                    (Ok(Some(_)), Ends::Discards) => {
                        compared.add_difference(|| format!("`{}`: expected that it discards, and it returns", call.expression));
                    }
                    (Ok(Some(shown)), Ends::Returns | Ends::Either) => compared.lanes_of_machine(&call.expected, &shown, &place),
                }
            }
        }
    }
    Ok(())
}

fn compare_dispatch(
    text: &str,
    dispatch: &Dispatch,
    engine: OwnEngine,
    profile: Profile,
    bounds: Bounds,
    compared: &mut Compared,
) -> Result<(), String> {
    let found = validate(text);
    let Some(program) = found.program else {
        let first = found.errors.into_iter().next().map(|e| e.message).unwrap_or_default();
        return Err(format!("the program is not valid: {first}"));
    };
    let grid = Grid::new(text, &program, dispatch)?;
    let entries = dispatch.entries(grid.resources())?;
    let expected_entries = || entries.iter().enumerate().filter(|(_, entry)| !entry.expected().is_empty());
    match engine {
        OwnEngine::Reference => match grid.by_relation(profile, bounds) {
            Err(unfit) => compared.set_unfit(unfit, &format!("`{}`", dispatch.entry)),
            Ok((shown, _)) => {
                for (k, entry) in expected_entries() {
                    compared.lanes_of_relation(entry.expected(), &shown[k], &|lane| entry.place(lane));
                }
            }
        },
        OwnEngine::Spirv => match &dispatch.spirv {
            None => {}
            Some(compiled) => match grid.by_spirv(dispatch, compiled, bounds) {
                Err(unfit) => compared.set_unfit(unfit, &format!("`{}`", dispatch.entry)),
                Ok(shown) => {
                    for (k, entry) in expected_entries() {
                        compared.lanes_of_machine(entry.expected(), &shown[k], &|lane| entry.place(lane));
                    }
                }
            },
        },
        OwnEngine::Machine => {
            for strategy in STRATEGIES {
                match grid.by_machine(strategy, bounds) {
                    Err(unfit) => compared.set_unfit(unfit, &format!("`{}`", dispatch.entry)),
                    Ok(shown) => {
                        for (k, entry) in expected_entries() {
                            compared.lanes_of_machine(entry.expected(), &shown[k], &|lane| entry.place(lane));
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

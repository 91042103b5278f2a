//! Comparison of the fast engine with the relation, on one call, dispatch or draw. For tests,
//! campaigns and fuzzing. Neither engine depends on it.

use super::arguments::words;
use super::bound;
use smallstep_semantics::outcome::{InvalidInput, Outcome, TimeLimit};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::Evaluation;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{self, Draw};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::call_of;
use smallstep_semantics::wsl::execution::term::Value;
use smallstep_semantics::wsl::group::{self, Dispatch, Resource};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::{self, Compiled, Ending, GridEnding};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::syntax::FunctionKind;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Both ended alike, with this result as text.
    Same(String),
    /// They were not compared, or one engine says nothing about the other.
    Not(NotCompared),
    /// They ended differently.
    Differ {
        /// How the machine ended.
        machine: String,
        /// How the relation ended.
        relation: String,
    },
}

/// A reason why a call, dispatch or draw is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotCompared {
    /// The result depends on a race.
    Race,
    /// An engine did not end within its fuel.
    Fuel,
    /// The time limit was over.
    Time,
    /// An engine does not support it.
    Unsupported,
    /// It takes arguments that are not drawn: pointers, array references, or textures and samplers
    /// in a call.
    Arguments,
    /// It exceeds the bounds, or the bounds allow no further call, dispatch or draw.
    Bounds,
}

impl NotCompared {
    /// Every reason.
    pub const ALL: [NotCompared; 6] =
        [NotCompared::Race, NotCompared::Fuel, NotCompared::Time, NotCompared::Unsupported, NotCompared::Arguments, NotCompared::Bounds];

    /// A description of the calls, dispatches and draws that are left out for this reason.
    pub fn name(self) -> &'static str {
        match self {
            NotCompared::Race => "racing",
            NotCompared::Fuel => "out of fuel",
            NotCompared::Time => "out of time",
            NotCompared::Unsupported => "not run by an engine",
            NotCompared::Arguments => "of arguments that are not drawn",
            NotCompared::Bounds => "too large",
        }
    }
}

/// The limits of the engines.
#[derive(Clone, Copy, Debug)]
pub struct Fuel {
    /// The most iterations and calls of the machine.
    pub machine: u64,
    /// The most steps of the relation.
    pub relation: u64,
    /// The time limit of both engines together, if there is one.
    pub time: Option<TimeLimit>,
}

impl Fuel {
    /// Whether the time limit is over.
    fn is_late(&self) -> bool {
        TimeLimit::passed(self.time).is_some()
    }
}

/// Calls a function on both engines with the words of its arguments. `compiled` is the compiled
/// function. If the strategy carries unspecified values, the relation follows one way only.
///
/// # Errors
/// If the arguments do not fit the function's parameters.
pub fn call(
    (program, text): (&Program, &str),
    (compiled, f): (&Compiled, FunctionId),
    arguments: &[Vec<u32>],
    strategy: Strategy,
    fuel: Fuel,
) -> Result<Compared, InvalidInput> {
    let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
    let settings = machine::Settings { strategy, fuel: fuel.machine, time: fuel.time, ..machine::Settings::default() };
    let (fast, _) = compiled.call(&flat, &mut [], &settings)?;
    if let Some(why) = reason_given_up(&fast) {
        return Ok(Compared::Not(why));
    }
    let parameters = &program.env.function(f).parameters;
    let values = parameters.iter().zip(arguments);
    let values = values.map(|(p, words)| Value { ty: p.ty, words: words.iter().map(|&w| Word::Bits(w)).collect::<Words>() });
    let evaluation = Evaluation { program, text, start: call_of(program, f, values.collect()), root: f };
    let settings = Settings { strategy, fuel: fuel.relation, time: fuel.time, ways: 1, ..Settings::default() };
    let slow = evaluation.run(&settings, &mut |_, _| {});
    let result = program.env.function(f).result;
    let shown = |words: &[Possible]| value::show(program, result, words);
    let (machine, relation) = match (fast, slow) {
        (_, Outcome::OutOfFuel) => return Ok(Compared::Not(NotCompared::Fuel)),
        (_, Outcome::Limit(_)) if fuel.is_late() => return Ok(Compared::Not(NotCompared::Time)),
        (_, Outcome::Limit(_) | Outcome::Unsupported(_)) => return Ok(Compared::Not(NotCompared::Unsupported)),
        // The relation carries an unspecified value further, while the machine stops at it.
        (Ending::Open { .. }, Outcome::Observed(slow)) => {
            ("unspecified".into(), if slow.unspecified { "unspecified".into() } else { shown(&slow.words) })
        }
        (Ending::Discarded, Outcome::Observed(slow)) if slow.discarded == slow.ways => ("discarded".into(), "discarded".to_string()),
        (Ending::Returned(words), Outcome::Observed(slow)) if slow.discarded == 0 => {
            let words: Vec<Possible> = words.into_iter().map(|w| Possible::Values(vec![w])).collect();
            (shown(&words), shown(&slow.words))
        }
        (fast, slow) => (format!("{fast:?}"), format!("{slow:?}")),
    };
    Ok(compared(machine, relation))
}

/// Why the machine gave up, if it did.
fn reason_given_up(ending: &Ending) -> Option<NotCompared> {
    match ending {
        Ending::OutOfFuel { .. } => Some(NotCompared::Fuel),
        Ending::Limit { .. } => Some(NotCompared::Time),
        _ => None,
    }
}

fn compared(machine: String, relation: String) -> Compared {
    if machine == relation { Compared::Same(machine) } else { Compared::Differ { machine, relation } }
}

/// Runs a dispatch on both engines by a definite strategy. `compiled` is its compiled entry point.
///
/// # Errors
/// If there are too many threads, or the resources do not fit the entry point.
pub fn dispatch(dispatch: &Dispatch, compiled: &Compiled, strategy: Strategy, fuel: Fuel) -> Result<Compared, InvalidInput> {
    let settings = machine::Settings { strategy, fuel: fuel.machine, time: fuel.time, ..machine::Settings::default() };
    let fast = dispatch.run_fast(compiled, &settings)?;
    if let GridEnding::Stopped { ending, .. } = &fast.ended
        && let Some(why) = reason_given_up(ending)
    {
        return Ok(Compared::Not(why));
    }
    let settings = Settings { strategy, fuel: fuel.relation, time: fuel.time, ways: 1, ..Settings::default() };
    let (machine, relation) = match (&fast.ended, dispatch.run(&settings)) {
        (_, group::Ending::OutOfFuel(_)) => return Ok(Compared::Not(NotCompared::Fuel)),
        (_, group::Ending::Other(Outcome::Limit(_))) if fuel.is_late() => return Ok(Compared::Not(NotCompared::Time)),
        (_, group::Ending::Other(Outcome::Limit(_) | Outcome::Unsupported(_))) => return Ok(Compared::Not(NotCompared::Unsupported)),
        (_, group::Ending::Shown(slow)) if !slow.races.is_empty() => return Ok(Compared::Not(NotCompared::Race)),
        (GridEnding::Diverged(..), group::Ending::Diverged(_)) => ("diverged".into(), "diverged".into()),
        (GridEnding::Done, group::Ending::Shown(slow)) => (format!("{:?}", fast.possible()), format!("{:?}", slow.buffers)),
        (fast, slow) => (format!("{fast:?}"), format!("{slow:?}")),
    };
    Ok(compared(machine, relation))
}

/// Runs a draw on both engines by a definite strategy. `compiled` is its vertex entry point, if the
/// draw has one, and its fragment entry point.
pub fn draw(draw: &Draw, compiled: (Option<&Compiled>, &Compiled), strategy: Strategy, fuel: Fuel) -> Compared {
    use draw::Ending as E;
    let settings = Settings { strategy, fuel: fuel.machine, time: fuel.time, ways: 1, ..Settings::default() };
    let fast = draw.run_fast(compiled, &settings);
    let reason_given_up = |ending: &E| match ending {
        E::OutOfFuel(_) => Some(NotCompared::Fuel),
        E::Other(Outcome::Limit(_)) if fuel.is_late() => Some(NotCompared::Time),
        E::Other(Outcome::Limit(_) | Outcome::Unsupported(_)) => Some(NotCompared::Unsupported),
        _ => None,
    };
    if let Some(why) = reason_given_up(&fast) {
        return Compared::Not(why);
    }
    let slow = draw.run(&Settings { fuel: fuel.relation, ..settings });
    if let Some(why) = reason_given_up(&slow) {
        return Compared::Not(why);
    }
    if matches!(&slow, E::Shown(shown) if !shown.races.is_empty()) {
        return Compared::Not(NotCompared::Race);
    }
    let text = |ending: E| match ending {
        // The engines count steps and rules differently.
        E::Shown(shown) => format!("{:?}", draw::Shown { steps: 0, fired: Vec::new(), ..*shown }),
        other => format!("{other:?}"),
    };
    compared(text(fast), text(slow))
}

/// The bounds for executing a program.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most functions and compute entry points together, and the most draws.
    pub functions: usize,
    /// The most words of a thread's variables, and of an element of a resource.
    pub words: u32,
    /// The most threads of a dispatch.
    pub threads: u32,
    /// The limits of the engines in one call, dispatch or draw. The time limit is for all together.
    pub fuel: Fuel,
}

/// The number of calls, dispatches and draws of a program, by the result of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Compared, and both engines ended alike.
    pub same: u64,
    /// Not compared, by [`NotCompared`].
    not_compared: [u64; NotCompared::ALL.len()],
}

impl Ran {
    /// The reasons why calls, dispatches and draws were not compared, with the number for each.
    pub fn left(&self) -> impl Iterator<Item = (NotCompared, u64)> {
        NotCompared::ALL.into_iter().zip(self.not_compared).filter(|(_, n)| *n > 0)
    }
}

/// A call, dispatch or draw on which the engines end differently.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnginesDiffer {
    /// A description of the call, dispatch or draw, with the strategy.
    pub on: String,
    /// The end of the machine's run, as text.
    pub machine: String,
    /// The end of the relation's run, as text.
    pub relation: String,
}

impl std::fmt::Display for EnginesDiffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\nmachine:  {}\nrelation: {}", self.on, self.machine, self.relation)
    }
}

impl std::error::Error for EnginesDiffer {}

/// Compares the engines on a valid program. Calls its functions with arguments drawn by a seed.
/// Runs its compute entry points over two groups, with buffers, textures and samplers drawn by the
/// seed. Draws a few pixels with its other entry points. Each is done with several strategies.
/// Functions with textures, samplers, pointers or array references as parameters are not called.
///
/// # Errors
/// The first call, dispatch or draw on which the engines end differently.
pub fn everything(program: &Program, text: &str, seed: u64, bounds: &Bounds) -> Result<Ran, EnginesDiffer> {
    let (mut layouts, mut executed, mut ran) = (Layouts::default(), 0, Ran::default());
    let mut record = |compared: Result<Compared, InvalidInput>, what: &dyn Fn() -> String| match compared {
        Ok(Compared::Same(_)) => {
            ran.same += 1;
            Ok(())
        }
        Ok(Compared::Differ { machine, relation }) => Err(EnginesDiffer { on: what(), machine, relation }),
        Ok(Compared::Not(why)) => {
            ran.not_compared[why as usize] += 1;
            Ok(())
        }
        Err(_) => {
            ran.not_compared[NotCompared::Unsupported as usize] += 1;
            Ok(())
        }
    };
    for (i, function) in program.env.functions.iter().enumerate() {
        let f = FunctionId(i as u32);
        let compiled = match function.kind {
            FunctionKind::Vertex | FunctionKind::Fragment => continue,
            FunctionKind::Normal | FunctionKind::Cast | FunctionKind::Compute(..) => Compiled::new(program, f),
        };
        let not_compared_for = |why| Ok(Compared::Not(why));
        if bounds.fuel.is_late() {
            record(not_compared_for(NotCompared::Time), &String::new)?;
            continue;
        }
        let compiled = match compiled {
            Ok(compiled) if compiled.words() <= bounds.words && executed < bounds.functions => compiled,
            found => {
                record(not_compared_for(if found.is_ok() { NotCompared::Bounds } else { NotCompared::Unsupported }), &String::new)?;
                continue;
            }
        };
        executed += 1;
        if let Some(entry) = program.entry_points.iter().find(|e| e.function == f) {
            let Some(dispatch) = drawn(program, text, entry, seed, bounds) else {
                record(not_compared_for(NotCompared::Bounds), &String::new)?;
                continue;
            };
            for strategy in [Strategy::First, Strategy::Random(seed)] {
                let what = || format!("{} by {strategy:?}", program.env.signature(f));
                record(self::dispatch(&dispatch, &compiled, strategy, bounds.fuel), &what)?;
            }
            continue;
        }
        let arguments = function.parameters.iter().zip(0..).map(|(p, k)| words(program, &mut layouts, p.ty, seed, k));
        let Some(arguments) = arguments.collect::<Option<Vec<_>>>() else {
            record(not_compared_for(NotCompared::Arguments), &String::new)?;
            continue;
        };
        for strategy in [Strategy::First, Strategy::Random(seed), Strategy::Carry] {
            let compared = call((program, text), (&compiled, f), &arguments, strategy, bounds.fuel);
            record(compared, &|| format!("{} of {arguments:?} by {strategy:?}", program.env.signature(f)))?;
        }
    }
    for draw in bound::draws(program, text, bounds.words, seed).take(bounds.functions) {
        if bounds.fuel.is_late() {
            record(Ok(Compared::Not(NotCompared::Time)), &String::new)?;
            continue;
        }
        let compile = |entry: &EntryPoint| Compiled::new(program, entry.function).ok().filter(|c| c.words() <= bounds.words);
        let (Some(vertex), Some(fragment)) = (draw.vertex().map(compile).map_or(Some(None), |v| v.map(Some)), compile(draw.fragment))
        else {
            record(Ok(Compared::Not(NotCompared::Bounds)), &String::new)?;
            continue;
        };
        for strategy in [Strategy::First, Strategy::Random(seed)] {
            let names = [draw.vertex(), Some(draw.fragment)].map(|e| e.map_or("the screen".into(), |e| program.env.signature(e.function)));
            let what = || format!("the draw of {} and {} by {strategy:?}", names[0], names[1]);
            record(Ok(self::draw(&draw, (vertex.as_ref(), &fragment), strategy, bounds.fuel)), &what)?;
        }
    }
    Ok(ran)
}

/// A dispatch of two groups with resources drawn by a seed. `None` if it exceeds the bounds.
fn drawn<'p>(program: &'p Program, text: &'p str, entry: &'p EntryPoint, seed: u64, bounds: &Bounds) -> Option<Dispatch<'p>> {
    let Stage::Compute(size) = entry.stage else { return None };
    size.iter().try_fold(2u32, |all, &n| all.checked_mul(n)).filter(|&n| n <= bounds.threads)?;
    let mut resources = Resource::of(program, entry).ok()?;
    if !bound::bind(program, &mut resources, bound::ELEMENTS, bounds.words, seed) {
        return None;
    }
    Some(Dispatch { program, text, entry, groups: [2, 1, 1], resources })
}

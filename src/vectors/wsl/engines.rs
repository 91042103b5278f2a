//! What a case shows on the relation, with every value that the specification allows, and on the machine, by one choice of what is unspecified.

use super::format::{Dispatch, Ends, Lane, MAX_SCALARS};
use crate::run::grid::compute_entry;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::call::{self, Prepared, prepare};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::group::{self, Ending};
use smallstep_semantics::wsl::machine::{self, Compiled, Dispatched};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::Scalar;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;
use std::collections::BTreeSet;

/// How far engines go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most steps of one way by the relation, and iterations and calls by the machine.
    pub fuel: u64,
    /// The most ways through what is unspecified.
    pub ways: usize,
}

/// Why an engine shows nothing.
#[derive(Clone, Debug)]
pub(super) enum Unfit {
    /// It needs more steps, ways or memory: a sentence.
    Room(String),
    /// The engine does not do it.
    Unsupported(String),
    /// It ends as nothing that can be recorded does.
    Wrong(String),
}

/// A scalar and its type.
pub(super) type Scalars = Vec<(u32, Scalar)>;

/// What a call shows on the relation.
pub(super) struct Called {
    /// How it ends.
    pub ends: Ends,
    /// What each scalar may be.
    pub lanes: Vec<Lane>,
    /// The value as text.
    pub value: String,
    /// The rules that were applied.
    pub rules: BTreeSet<Rule>,
}

/// The expression beside its program, and the scalars of its value.
pub(super) struct Expression {
    pub prepared: Prepared,
    pub scalars: Vec<(usize, Scalar)>,
}

impl Expression {
    /// # Errors
    /// What is wrong with the program or the expression, or that its value has no scalars.
    pub fn new(program: &str, expression: &str) -> Result<Expression, String> {
        let prepared = prepare(program, expression).map_err(|wrong| {
            let first = wrong.errors.into_iter().next().map(|e| e.message).unwrap_or_default();
            format!("`{expression}` cannot be evaluated: {first}")
        })?;
        let ty = prepared.ty();
        let scalars = value::scalars(&prepared.program, ty, MAX_SCALARS).ok_or_else(|| {
            format!("`{expression}` has the type {}, whose values are no numbers or too many", prepared.program.env.type_name(ty))
        })?;
        Ok(Expression { prepared, scalars })
    }

    pub fn type_name(&self) -> String {
        self.prepared.program.env.type_name(self.prepared.ty())
    }

    pub fn by_relation(&self, profile: Profile, bounds: Bounds) -> Result<Called, Unfit> {
        let settings = call::Settings { precision: Some(profile), fuel: bounds.fuel, ways: bounds.ways, ..call::Settings::default() };
        let mut rules = BTreeSet::new();
        let outcome = self.prepared.evaluation().run_ways(&settings, &mut |_, step, _| {
            rules.insert(step.rule);
            rules.extend(step.within.iter().copied());
        });
        let shown = match outcome {
            Outcome::Observed(shown) => shown,
            other => return Err(ended(&other, |_| String::new())),
        };
        if !shown.complete {
            return Err(Unfit::Room(format!("there are more than {} ways through what is unspecified", bounds.ways)));
        }
        let ends = match shown.discarded {
            0 => Ends::Returns,
            n if n == shown.ways => Ends::Discards,
            _ => Ends::Either,
        };
        let lanes = match ends {
            Ends::Discards => Vec::new(),
            _ => self.scalars.iter().map(|&(at, of)| Lane::of(&shown.words[at], of)).collect(),
        };
        let value = if ends == Ends::Discards { String::new() } else { value::show(&self.prepared.program, shown.ty, &shown.words) };
        Ok(Called { ends, lanes, value, rules })
    }

    /// The scalars of the value; none if the thread is discarded.
    pub fn by_machine(&self, strategy: Strategy, bounds: Bounds) -> Result<Option<Scalars>, Unfit> {
        let settings = call::Settings { strategy, fuel: bounds.fuel, ..call::Settings::default() };
        let unsupported = || Unfit::Unsupported("the machine does not evaluate this".into());
        match self.prepared.evaluate_fast(&settings).ok_or_else(unsupported)?.0 {
            Outcome::Observed(shown) if shown.discarded > 0 => Ok(None),
            Outcome::Observed(shown) => {
                let bits = |at: usize| shown.words.get(at).and_then(|w| w.only()).unwrap_or_default();
                Ok(Some(self.scalars.iter().map(|&(at, of)| (bits(at), of)).collect()))
            }
            other => Err(ended(&other, |_| String::new())),
        }
    }
}

/// A run that shows nothing.
fn ended<T>(outcome: &Outcome<T>, show: impl Fn(&T) -> String) -> Unfit {
    match outcome {
        Outcome::OutOfFuel => Unfit::Room("out of fuel".into()),
        Outcome::Limit(limit) => Unfit::Room(limit.to_string()),
        Outcome::Unsupported(what) => Unfit::Unsupported(what.clone()),
        Outcome::Stuck(stuck) => Unfit::Wrong(format!("stuck at {}: {}", stuck.at, stuck.why)),
        Outcome::Observed(shown) => Unfit::Wrong(show(shown)),
        other => Unfit::Wrong(other.name().into()),
    }
}

/// A dispatch beside its program.
pub(super) struct Grid<'a> {
    text: &'a str,
    program: &'a Program,
    entry: &'a EntryPoint,
    groups: [u32; 3],
    buffers: Vec<group::Buffer>,
    /// The scalars of an element of each buffer.
    scalars: Vec<Vec<(usize, Scalar)>>,
}

impl<'a> Grid<'a> {
    /// With what buffers hold in words.
    ///
    /// # Errors
    /// If there is no such entry point, or one of its resources has elements without numbers.
    pub fn of(
        text: &'a str,
        program: &'a Program,
        entry: &str,
        groups: [u32; 3],
        bind: impl FnOnce(&EntryPoint) -> Result<Vec<group::Buffer>, String>,
    ) -> Result<Grid<'a>, String> {
        let entry = compute_entry(program, Some(entry))?;
        let buffers = bind(entry)?;
        let scalars = buffers.iter().map(|b| {
            let found = value::scalars(program, b.element, MAX_SCALARS).filter(|all| !all.is_empty());
            found.ok_or_else(|| format!("the elements of `{}` are no numbers, or too many", b.name))
        });
        let scalars = scalars.collect::<Result<_, _>>()?;
        Ok(Grid { text, program, entry, groups, buffers, scalars })
    }

    /// As a case has it.
    ///
    /// # Errors
    /// If it does not fit the program.
    pub fn new(text: &'a str, program: &'a Program, of: &Dispatch) -> Result<Grid<'a>, String> {
        let mut grid = Grid::of(text, program, &of.entry, of.groups, |entry| group::Buffer::of(program, entry).map_err(|e| e.0))?;
        if grid.buffers.len() != of.buffers.len() {
            return Err(format!("`buffers` has {}; `{}` takes {}", of.buffers.len(), of.entry, grid.buffers.len()));
        }
        for ((buffer, scalars), said) in grid.buffers.iter_mut().zip(&grid.scalars).zip(&of.buffers) {
            let ty = program.env.type_name(buffer.element);
            if (&buffer.name, &buffer.register, &ty) != (&said.name, &said.register, &said.ty) {
                let (name, register) = (&buffer.name, &buffer.register);
                return Err(format!(
                    "the buffer `{}` ({}) of {} stands where `{name}` ({register}) of {ty} is needed",
                    said.name, said.register, said.ty
                ));
            }
            let wanted = u64::from(said.elements) * scalars.len() as u64;
            if said.elements == 0 || said.given.len() as u64 != wanted {
                let (given, elements) = (said.given.len(), said.elements);
                return Err(format!(
                    "`given` of `{}` has {given} scalars; {elements} elements have {wanted}, and one at least is needed",
                    said.name
                ));
            }
            let expected = if buffer.space == AddressSpace::Device { said.given.len() } else { 0 };
            if said.expected.len() != expected {
                return Err(format!("`expected` of `{}` has {} lanes; {expected} are needed", said.name, said.expected.len()));
            }
            buffer.words = vec![0; said.elements as usize * buffer.stride as usize];
            for (element, given) in said.given.chunks_exact(scalars.len()).enumerate() {
                for (&(at, _), bits) in scalars.iter().zip(given) {
                    buffer.words[element * buffer.stride as usize + at] = bits.0;
                }
            }
        }
        Ok(grid)
    }

    /// The buffers.
    pub fn buffers(&self) -> &[group::Buffer] {
        &self.buffers
    }

    /// The scalars among a buffer's words.
    pub fn scalars<'w, W>(&self, buffer: usize, words: &'w [W]) -> impl Iterator<Item = (&'w W, Scalar)> {
        let scalars = &self.scalars[buffer];
        words.chunks_exact(self.buffers[buffer].stride as usize).flat_map(move |e| scalars.iter().map(move |&(at, of)| (&e[at], of)))
    }

    fn dispatch(&self) -> group::Dispatch<'_> {
        let resources = self.buffers.iter().cloned().map(group::Resource::Buffer).collect();
        group::Dispatch { program: self.program, text: self.text, entry: self.entry, groups: self.groups, resources }
    }

    /// What each buffer may hold, and the rules that were applied.
    pub fn by_relation(&self, profile: Profile, bounds: Bounds) -> Result<(Vec<Vec<Lane>>, Vec<Rule>), Unfit> {
        let settings = group::Settings { precision: Some(profile), fuel: bounds.fuel, ways: bounds.ways, ..group::Settings::default() };
        match self.dispatch().run(&settings) {
            Ending::Shown(shown) if !shown.races.is_empty() => Err(Unfit::Wrong("it races".into())),
            Ending::Shown(shown) if !shown.complete => {
                Err(Unfit::Room(format!("there are more than {} ways through what is unspecified", bounds.ways)))
            }
            Ending::Shown(shown) => {
                let lanes = |(i, words): (usize, &Vec<_>)| self.scalars(i, words).map(|(word, of)| Lane::of(word, of)).collect();
                Ok((shown.buffers.iter().enumerate().map(lanes).collect(), shown.fired))
            }
            Ending::Diverged(_) => Err(Unfit::Wrong("its threads do not meet at a barrier".into())),
            Ending::OutOfFuel(_) => Err(ended(&Outcome::<()>::OutOfFuel, |()| String::new())),
            Ending::Other(outcome) => Err(ended(&outcome, |()| String::new())),
        }
    }

    /// What each buffer holds by this choice.
    pub fn by_machine(&self, strategy: Strategy, bounds: Bounds) -> Result<Vec<Scalars>, Unfit> {
        let compiled = Compiled::new(self.program, self.entry.function).map_err(|e| Unfit::Unsupported(e.to_string()))?;
        let settings = machine::Settings { strategy, fuel: bounds.fuel, ..machine::Settings::default() };
        let fast = self.dispatch().run_fast(&compiled, &settings).map_err(Unfit::Room)?;
        match fast.ended {
            Dispatched::Done => {
                let scalars = |(i, words): (usize, &Vec<u32>)| self.scalars(i, words).map(|(&word, of)| (word, of)).collect();
                Ok(fast.buffers.iter().enumerate().map(scalars).collect())
            }
            Dispatched::Diverged(..) => Err(Unfit::Wrong("its threads do not meet at a barrier".into())),
            Dispatched::Stopped { ending: machine::Ending::OutOfFuel { .. }, .. } => Err(Unfit::Room("out of fuel".into())),
            Dispatched::Stopped { ending, thread } => Err(Unfit::Wrong(format!("thread {thread} ends by {ending:?}"))),
        }
    }
}

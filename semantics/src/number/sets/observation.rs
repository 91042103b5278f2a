//! The possible results of a whole program: the union over its ways.

use super::cells::follow;
use super::{Cause, Exploration, Set, Sets, Site, Unsettled};
use crate::number::{Expected, Lane, Lanes, Why};
use std::fmt;
use std::ops::ControlFlow;

/// What a device must show of a program, component by component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The expectation for each component.
    pub expected: Vec<Expected>,
    /// The number of ways that were followed: 0 if the definite values decide everything.
    pub ways: u32,
    /// Why there may be more ways, if so. Then components that the definite values leave open
    /// are undecided.
    pub unsettled: Option<Unsettled>,
    /// The components that have no bound although every way was followed: their indices, ascending,
    /// and the causes. Components without a cause among the executed instructions, such as a NaN,
    /// are left out.
    pub unbounded: Vec<(usize, Cause)>,
}

/// Follows every way through a program, if the definite values leave anything open. `definite` are
/// the components of the definite run. `run` returns the same components for a run over sets.
pub fn observe(exploration: Exploration, definite: &[Lane], mut run: impl FnMut(&mut Sets) -> Result<Lanes, Unsettled>) -> Observation {
    let profile = exploration.profile;
    let is_open = |lane: &Lane| !lane.trust.is_decided(profile);
    let mut observation = Observation {
        expected: definite.iter().map(|lane| lane.judge(profile)).collect(),
        ways: 0,
        unsettled: None,
        unbounded: Vec::new(),
    };
    if !definite.iter().any(is_open) {
        return observation;
    }
    let mut shown = vec![Set::NONE; definite.len()];
    let mut causes: Vec<Option<Cause>> = vec![None; definite.len()];
    let (ways, unsettled) = follow(exploration, |sets| {
        let lanes = run(sets)?;
        for ((set, cause), &lane) in shown.iter_mut().zip(&mut causes).zip(&lanes) {
            *set = set.union(sets.operand(lane).set);
            if cause.is_none() {
                *cause = sets.cause(lane).cloned();
            }
        }
        // An unbounded component stays so, whatever the other ways show.
        let all_unbounded = definite.iter().zip(&shown).all(|(lane, set)| !is_open(lane) || !set.is_bounded());
        Ok(if all_unbounded { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    (observation.ways, observation.unsettled) = (ways, unsettled);
    if observation.unsettled.is_none() {
        for ((expected, lane), set) in observation.expected.iter_mut().zip(definite).zip(shown) {
            if is_open(lane) {
                let why = match expected {
                    Expected::Undecided(why) => *why,
                    _ => Why::Approximate,
                };
                *expected = Expected::of(set, why);
            }
        }
        let undecided = |expected: &Expected| matches!(expected, Expected::Undecided(_));
        let unbounded = causes.into_iter().enumerate().filter(|(i, _)| undecided(&observation.expected[*i]));
        observation.unbounded = unbounded.filter_map(|(i, cause)| Some((i, cause?))).collect();
    }
    observation
}

impl Observation {
    /// Why something is undecided, in a sentence. `site` describes a place. `None` if everything is
    /// decided, or if no instruction is the reason, as for a component that is NaN.
    pub fn why(&self, site: impl Fn(u32) -> Site) -> Option<String> {
        Some(match (&self.unsettled, self.unbounded.first()) {
            (Some(Unsettled::Paths(skipped)), _) => {
                let site = site(skipped.condition.place);
                format!("undecided at {}: {}, {}", site.at, skipped.condition.text(&site), skipped.explored())
            }
            (Some(unsettled), _) => format!("undecided: {unsettled}"),
            (None, Some((_, cause))) => {
                let site = site(cause.place);
                format!("undecided at {}: no bound is stated for {}", site.at, cause.text(&site))
            }
            (None, None) => return None,
        })
    }
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsettled::Infeasible => f.write_str("the branches taken contradict each other"),
            Unsettled::Paths(skipped) => write!(f, "a branch on {}, {}", skipped.condition.text(&Site::default()), skipped.explored()),
            Unsettled::Cells => f.write_str("more components that are not decided than the budget allows"),
            Unsettled::Reached(what) => f.write_str(what),
        }
    }
}

impl Expected {
    /// Whether `other` allows whatever this allows. An undecided expectation allows everything.
    pub fn is_within(self, other: Expected) -> bool {
        match (self.set(), other.set()) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(set), Some(other)) => other.holds(&set),
        }
    }

    /// The allowed floats. `None` if the expectation is undecided.
    pub fn set(self) -> Option<Set> {
        match self {
            Expected::Bits(bits) => Some(Set::point(f32::from_bits(bits).into())),
            Expected::Zero => Some(Set::ZERO),
            Expected::Within(set) => Some(set),
            Expected::Undecided(_) => None,
        }
    }
}

//! All schedules of a small dispatch, one for each class of equivalent schedules
//! ([`crate::interleavings`]).

use std::ops::ControlFlow;

use super::prepare::DispatchInvocations;
use super::{Grid, RESIDENT};
use crate::concurrency::Schedule;
use crate::concurrency::turns::{self, Threads};
use crate::interleavings::{Budget, Exploration, Explored, Stepped, Turn, explore};
use crate::outcome::{Limit, Outcome};
use crate::spirv::environment::{Dispatch, Observation};
use crate::spirv::error::LoadError;
use crate::spirv::module::Module;
use crate::spirv::step::{Relation, Sink};

/// Runs a small dispatch under one schedule of each class of equivalent schedules. Passes each
/// outcome to `visit`, with the schedule that replays it.
///
/// Errors as of [`super::run`]. If a dispatch is refused, this is the only outcome, with the
/// default schedule.
pub fn exhaust(
    module: &Module,
    dispatch: &Dispatch<'_>,
    relation: &Relation,
    budget: Budget,
    mut visit: impl FnMut(&Outcome<Observation>, &Schedule) -> ControlFlow<()>,
) -> Result<Exploration, LoadError> {
    let refused = match Grid::new(module, dispatch, relation)? {
        Err(outcome) => Some(outcome),
        Ok(grid) if grid.topology.invocations() > RESIDENT => {
            let limit = Limit { what: "invocations whose schedules are all tried", bound: RESIDENT.into() };
            Some(Outcome::Limit(limit))
        }
        Ok(_) => None,
    };
    if let Some(outcome) = refused {
        let _ = visit(&outcome, &Schedule::default());
        return Ok(Exploration::default());
    }
    let start = || -> Grid<'_, '_, DispatchInvocations<'_>> {
        let grid = Grid::new(module, dispatch, relation).ok().and_then(Result::ok);
        let mut grid = grid.expect("the same arguments were accepted before");
        turns::admit(&mut grid, &mut () as &mut dyn Sink);
        grid
    };
    let mut split = false;
    let explored = explore(start, budget, |grid: &Grid<'_, '_, _>, steps| {
        split |= grid.split;
        visit(&grid.report().outcome, &Schedule::Replay(steps))
    });
    // Parts of a subgroup on several paths may also go on in other orders.
    Ok(Exploration { complete: explored.complete && !split, ..explored })
}

impl<'m> Explored for Grid<'m, '_, DispatchInvocations<'m>> {
    fn invocations(&self) -> usize {
        self.topology.invocations() as usize
    }

    fn turn(&self, invocation: usize) -> Turn {
        self.state(invocation as u32)
    }

    fn step(&mut self, invocation: usize) -> Stepped {
        let released = turns::take(self, invocation as u32, &mut () as &mut dyn Sink);
        Stepped { released: released.into_iter().map(|member| member as usize).collect(), stop: self.ending.is_some() }
    }
}

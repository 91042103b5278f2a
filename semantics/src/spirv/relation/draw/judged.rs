//! A draw by relation and lockstep machine together. The machine runs the quads that it can judge.
//! The relation runs the others, and samples (see [`By::machine`]).

use super::fragment::{Explorer, Judged};
use super::{By, DrawObservation, PreparedDraw, before, dispatch};
use crate::concurrency::Topology;
use crate::number::sets::Exploration;
use crate::outcome::Outcome;
use crate::spirv::environment::{Draw, Observation};
use crate::spirv::grid::prepare::{self, Refused};
use crate::spirv::module::{EntryPoint, Module};
use crate::spirv::step::Sink;

pub use crate::spirv::lockstep::FragmentProgram as Machine;

/// Runs a draw with its fragment stage on the lockstep machine, if that can judge it.
pub(super) fn run(
    (vertex, fragment): (&Module, &Module),
    entries: (&EntryPoint, &EntryPoint),
    draw: &Draw<'_>,
    by: &By<'_>,
    sink: &mut dyn Sink,
) -> Result<Option<Outcome<DrawObservation>>, Refused> {
    let &By { relation, rules, schedule, sets: Some(sets), machine: Some(machine) } = by else { return Ok(None) };
    let profile = draw.resources.profile(fragment, draw.fragment);
    let mut dispatch = dispatch(draw, draw.fragment);
    dispatch.resources.profile = Some(profile);
    if profile.controls().no_contraction || !machine.is_of(entries.1.function) || machine.refused(&dispatch).is_some() {
        return Ok(None);
    }
    let mut quads = machine.quads(&dispatch, false, 1);
    if !quads.judge(Exploration { rules: sets, ..Exploration::under(profile) }) {
        return Ok(None);
    }
    let PreparedDraw { fragments, variables, vertices, instructions } =
        match before((vertex, fragment), entries, draw, (relation, &mut |_| None), rules, schedule, sink)? {
            Outcome::Observed(before) => before,
            ended => return Ok(Some(ended.map(|_| DrawObservation::default()))),
        };
    let topology = Topology::new(1, 4, prepare::subgroup_size_of_stage(fragment, &dispatch)?)?;
    let stage = prepare::stage(fragment, entries.1, &variables, &dispatch, topology)?;
    let explorer = || Explorer::new(relation, stage.clone(), topology, Exploration { rules: sets, ..Exploration::under(profile) });
    let mut fragments = fragments.exploring(explorer());
    if !fragments.is_explored() {
        return Ok(None);
    }
    let fuel = draw.limits.instructions.saturating_sub(instructions);
    let mut judged = Judged { quads, explorer: explorer(), schedule, sink, fuel, by_relation: 0, sampled: 0 };
    if let Err(stopped) = fragments.judge(&mut judged) {
        return Ok(stopped.outcome());
    }
    let Judged { quads, by_relation, .. } = judged;
    let executed = quads.executed() + by_relation;
    let (targets, depth, stencil) = fragments.finish();
    let Observation { buffers, images, .. } = quads.observation();
    let instructions = instructions + executed;
    let mut all = DrawObservation { targets, depth, stencil, buffers, images, instructions, ..DrawObservation::default() };
    vertices.add_to(&mut all);
    Ok(Some(Outcome::Observed(all)))
}

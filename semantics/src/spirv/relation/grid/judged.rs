//! A dispatch on the lockstep machine, with the values that devices may have beside the definite
//! ones. First comes the definite run. Then every part runs over sets, with 64 invocations side by
//! side while they go one way.
//!
//! The relation runs the parts that the machine cannot judge. It also runs samples of the parts
//! that the machine can judge: both must have the same result.

use super::explore::{Acceptance, Explorer, Ways, by_workgroup};
use super::observe::{Doubtful, Report};
use super::{Grid, Part};
use crate::number::Why;
use crate::number::sets::{Exploration, Unsettled};
use crate::outcome::{Outcome, Stuck};
use crate::spirv::environment::{Dispatch, Observation};
use crate::spirv::error::LoadError;
use crate::spirv::lockstep::{Piecewise, Program};
use crate::spirv::module::Module;
use crate::spirv::step::Relation;

/// The relation also runs one of this many parts, within `SAMPLE_INSTRUCTIONS` instructions.
const SAMPLE_PERIOD: u32 = 1024;
const SAMPLE_INSTRUCTIONS: u64 = 1 << 18;

/// A difference between the machine and the relation.
pub(super) type Difference = Stuck;

/// The result of the machine for a dispatch.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The report. Its doubtful bytes are those of the acceptance.
    pub report: Report,
    /// What else a device may show.
    pub acceptance: Acceptance,
    /// The number of parts that the machine has left to the relation.
    pub left: u64,
    /// The words that some way writes: the index of the buffer in the dispatch, and the offset of
    /// the first byte.
    pub written: Vec<(usize, u64)>,
}

impl Judged {
    /// The result of a run without an observation.
    fn ended(outcome: Outcome<Observation>) -> Judged {
        let undefined = if let Outcome::Undefined(undefined) = &outcome { vec![undefined.clone()] } else { Vec::new() };
        Judged { report: Report::ended(outcome, undefined), acceptance: Acceptance::default(), left: 0, written: Vec::new() }
    }
}

/// Runs a dispatch on the machine and explores what else a device may show of it, as
/// [`explore`](super::explore()) does after a run of the relation.
///
/// `None` if the machine cannot judge all of it. Then the relation must run and explore it. The
/// only error is a missing entry point.
pub fn judge(
    module: &Module,
    program: &Program,
    dispatch: &Dispatch<'_>,
    relation: &Relation,
    exploration: Exploration,
) -> Result<Option<Judged>, LoadError> {
    let Some(by_workgroup) = by_workgroup(module) else { return Ok(None) };
    let Ok(grid) = Grid::new(module, dispatch, relation)? else { return Ok(None) };
    let exploration = Exploration { profile: grid.shared.profile(), ..exploration };
    let Some(machine) = program.piecewise(dispatch, exploration, by_workgroup) else { return Ok(None) };
    let outcome = program.run_certain(dispatch, 0);
    let executed = match &outcome {
        Outcome::Observed(observation) => observation.instructions,
        Outcome::Unsupported(_) => return Ok(None),
        _ => return Ok(Some(Judged::ended(outcome))),
    };
    let mut explorer = Explorer::new(grid, exploration, executed);
    explorer.machine = Some(machine);
    let result = explorer.judge(by_workgroup);
    if let Some(difference) = explorer.difference {
        return Ok(Some(Judged::ended(Outcome::Stuck(difference))));
    }
    if result.is_err() {
        return Ok(None);
    }
    // Words whose initial value is a set, and that no part has written.
    let mut report = Report::ended(outcome, Vec::new());
    for float in dispatch.resources.bounded {
        let Some(buffer) = explorer.grid.prepared.storage.iter().position(|&(index, ..)| index == float.buffer) else { continue };
        if !explorer.words.contains_key(&(buffer, float.offset))
            && explorer.grid.shared.bounded(explorer.storage(buffer), float.offset).is_some()
        {
            report.doubtful.push(Doubtful { buffer, start: float.offset, end: float.offset + 4, why: Why::Approximate });
        }
    }
    let acceptance = explorer.acceptance(&report);
    report.doubtful.clone_from(&acceptance.doubtful);
    let written = explorer.words.keys().map(|&(buffer, offset)| (explorer.storage(buffer), offset)).collect();
    Ok(Some(Judged { report, acceptance, left: explorer.left_to_relation, written }))
}

impl Explorer<'_, '_> {
    /// Runs every part of the dispatch on all of its ways: on the machine, or by the relation if
    /// the machine cannot judge it.
    fn judge(&mut self, by_workgroup: bool) -> Result<(), Unsettled> {
        let size = self.grid.topology.workgroup_size();
        for workgroup in 0..self.grid.topology.invocations() / size {
            if by_workgroup {
                self.judged_part(Part { workgroup, local: None })?;
                continue;
            }
            for first in (0..size).step_by(Piecewise::SIDE_BY_SIDE as usize) {
                self.side_by_side(workgroup, first)?;
            }
        }
        Ok(())
    }

    /// Runs invocations of a workgroup from `first` on, together while they go one way.
    fn side_by_side(&mut self, workgroup: u32, first: u32) -> Result<(), Unsettled> {
        let fuel = self.way_limit.saturating_mul(Piecewise::SIDE_BY_SIDE.into()).min(self.instructions_left);
        let Some(machine) = &mut self.machine else { return Ok(()) };
        let before = machine.executed();
        let (written, left_lanes) = machine.side_by_side(workgroup, first, fuel)?;
        self.instructions_left -= (machine.executed() - before).min(self.instructions_left);
        let sets = machine.take_sets();
        let count = (self.grid.topology.workgroup_size() - first).min(Piecewise::SIDE_BY_SIDE);
        let mut written = written.into_iter().peekable();
        for lane in 0..count {
            let local = first + lane;
            let part = Part { workgroup, local: Some(local) };
            let written_by_lane: Vec<_> =
                std::iter::from_fn(|| written.next_if(|(writer, _)| *writer == local)).map(|(_, written)| written).collect();
            if left_lanes >> lane & 1 == 1 {
                self.judged_part(part)?;
                continue;
            }
            let words = self.written(&sets, written_by_lane);
            self.take(part, Explorer::one_way(words))?;
        }
        Ok(())
    }

    /// Runs all ways of a part, one after another.
    fn judged_part(&mut self, part: Part) -> Result<(), Unsettled> {
        let mut is_left = false;
        let ways = self.all_ways(|explorer, sets| {
            let fuel = explorer.way_limit.min(explorer.instructions_left);
            let Some(machine) = &mut explorer.machine else { return Ok(Vec::new()) };
            let before = machine.executed();
            let way = machine.way((part.workgroup, part.local), sets, fuel);
            explorer.instructions_left -= (machine.executed() - before).min(explorer.instructions_left);
            match way? {
                Some(written) => Ok(explorer.written(sets, written)),
                None => {
                    is_left = true;
                    Err(Unsettled::Reached("what the machine does not tell".into()))
                }
            }
        });
        match ways {
            Err(_) if is_left => {
                self.left_to_relation += 1;
                self.part(part)
            }
            ways => self.take(part, ways?),
        }
    }

    /// Takes the machine's result of a part. For a sample, checks that the relation has the
    /// same result.
    fn take(&mut self, part: Part, ways: Ways) -> Result<(), Unsettled> {
        if part.workgroup.wrapping_add(part.local.unwrap_or(0)).is_multiple_of(SAMPLE_PERIOD) {
            let (instructions_left, way_limit, ways_before, zeros) =
                (self.instructions_left, self.way_limit, self.ways, self.zeros.clone());
            (self.instructions_left, self.way_limit) = (SAMPLE_INSTRUCTIONS, SAMPLE_INSTRUCTIONS);
            let by_relation = self.all_ways(|explorer, sets| explorer.way(part, sets));
            (self.instructions_left, self.way_limit, self.ways, self.zeros) = (instructions_left, way_limit, ways_before, zeros);
            if let Ok(by_relation) = by_relation
                && let Some(why) = by_relation.differ(&ways)
            {
                let at = format!("workgroup {}, invocation {:?}", part.workgroup, part.local);
                self.difference = Some(Stuck { why: format!("the engines differ: {why}"), at });
                return Err(Unsettled::Reached("engines that differ".into()));
            }
        }
        self.add(ways);
        Ok(())
    }
}

impl Ways {
    /// The first difference between these ways of the relation and the ways of the machine.
    fn differ(&self, machine: &Ways) -> Option<String> {
        let text = |(buffer, offset): &(usize, u64)| format!("byte {offset} of the observed buffer {buffer}");
        if let Some(word) = self.words.keys().find(|word| !machine.words.contains_key(word)) {
            return Some(format!("the machine does not write {}", text(word)));
        }
        machine.words.iter().find_map(|(word, by_machine)| match self.words.get(word) {
            None => Some(format!("the machine writes {}", text(word))),
            Some(by_relation) if by_relation.bits == by_machine.bits && by_relation.set.is_alike(&by_machine.set) => None,
            Some(by_relation) => Some(format!(
                "{}: {:?} in {}, not {:?} in {}",
                text(word),
                by_machine.bits,
                by_machine.set,
                by_relation.bits,
                by_relation.set
            )),
        })
    }
}

//! The fragment stage of a draw on the lockstep machine. A warp holds 16 quads in the order of
//! their numbers. Lane l of quad q is invocation 4·q + l.
//!
//! Derivatives (SPIR-V §3.3.16; Vulkan, Derivative Operations) never wait. The lanes at the least
//! block run together, so all lanes of a quad that reach a dynamic instance reach it at once.

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Cell, Code, FragmentProgram, InterfaceVariable, Program};
use super::judge::{Ledger, Parting, Tag};
use super::warp::{RegisterOrLocal, Stop, Warp};
use super::{Detector, Failure, Group, Outcome, Shared, Topology, races};
use crate::number::Trust;
use crate::number::sets::{Exploration, Set, Sets, Span};
use crate::spirv::environment::{Dispatch, Observation};
use crate::spirv::operation::Scalar as Component;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Unspecified;

/// The number of quads side by side.
const QUADS: u32 = LANES as u32 / 4;

/// By kind of derivative and lane: which two lanes of the quad are subtracted.
pub(super) const DIFFERENCES: [[[usize; 2]; 4]; 4] =
    [[[1, 0]; 4], [[2, 0]; 4], [[1, 0], [1, 0], [3, 2], [3, 2]], [[2, 0], [3, 1], [2, 0], [3, 1]]];

/// Computes the derivatives of one kind.
fn subtract<const KIND: usize>(to: &mut Column, values: &Column) {
    for (to, values) in to.as_chunks_mut::<4>().0.iter_mut().zip(values.as_chunks::<4>().0) {
        let floats = values.map(f32::from_bits);
        *to = DIFFERENCES[KIND].map(|[to, from]| super::codes::bits(floats[to] - floats[from]));
    }
}

/// The lanes of those quads of which all four lanes are in the set.
pub(super) fn whole(set: Lanes) -> Lanes {
    let pairs = set & set >> 1;
    (pairs & pairs >> 2 & 0x1111_1111_1111_1111) * 0xf
}

impl Warp {
    /// Column d := the derivatives of a. A lane is undefined if its quad is not whole or if an
    /// operand is undefined.
    pub(super) fn derivative(&mut self, code: &Code) {
        let differences = &DIFFERENCES[code.c as usize % 4];
        let (values, doubtful) = (self.columns[code.a as usize], self.undefined[code.a as usize]);
        let incomplete = self.active & !whole(self.active);
        let mut origins = Vec::new();
        for lane in column::lanes(incomplete) {
            origins.push((lane, self.origin_here(Unspecified::DivergentDerivative, code.at, lane)));
        }
        if doubtful & self.active != 0 {
            // If a device may use the difference of another row or column, both must be defined.
            let other_pair: &[[usize; 2]] = [&[[3, 2]][..], &[[3, 1]], &[], &[]][code.c as usize % 4];
            for lane in column::lanes(self.active & !incomplete) {
                let read =
                    [differences[lane % 4]].into_iter().chain(other_pair.iter().copied()).flatten().map(|index| lane / 4 * 4 + index);
                let first = read.into_iter().find(|from| doubtful >> from & 1 == 1);
                origins.extend(first.map(|from| (lane, self.origin(RegisterOrLocal::Column(code.a), from, code.at))));
            }
        }
        let subtract = [subtract::<0>, subtract::<1>, subtract::<2>, subtract::<3>][code.c as usize % 4];
        self.write(code.d, code.masked, |_, to| subtract(to, &values));
        let lanes = origins.iter().fold(0, |set, (lane, _)| set | 1 << lane);
        self.keep_origins(RegisterOrLocal::Column(code.d), lanes, origins);
    }

    fn origin_here(&self, kind: Unspecified, instruction: u32, lane: usize) -> Origin {
        Origin { kind, instruction, invocation: self.number + lane as u32 }
    }

    /// Activates only the first so many lanes.
    fn narrow(&mut self, program: &Program, count: u32) {
        self.all = if count as usize >= LANES { !0 } else { (1 << count) - 1 };
        self.start(program.entry);
    }

    fn set_cell(&mut self, lane: usize, cell: Cell, component: Component, scalar: &Scalar) {
        let (bits, register) = (scalar.bits as u32, register_of_cell(cell));
        self.note_input(register, lane, component, scalar);
        match cell {
            Cell::Word(column) => self.columns[column as usize][lane] = bits,
            Cell::Truth(set) => {
                let set = &mut self.sets[set as usize];
                *set = *set & !(1 << lane) | u64::from(bits & 1) << lane;
            }
            Cell::Local(word) => self.local[word as usize][lane] = bits,
        }
        let lanes = self.undefined_mut(register);
        *lanes = *lanes & !(1 << lane) | u64::from(scalar.undefined.is_some()) << lane;
        if let Some(origin) = scalar.undefined {
            self.origins.insert((register, lane as u8), origin);
        }
    }

    /// The scalar in a cell, of that type.
    fn cell(&self, lane: usize, cell: Cell, component: Component, unwritten: Origin) -> Scalar {
        let register = register_of_cell(cell);
        let bits = match cell {
            Cell::Word(column) => self.columns[column as usize][lane],
            Cell::Truth(set) => (self.sets[set as usize] >> lane & 1) as u32,
            Cell::Local(word) => self.local[word as usize][lane],
        };
        if self.is_undefined(register, lane) {
            return Scalar::undefined(self.origins.get(&(register, lane as u8)).copied().unwrap_or(unwritten));
        }
        let trust = match &self.ledger {
            None => Trust::CERTAIN,
            Some(ledger) => ledger.note_of(register, lane).unwrap_or(Scalar::exact(component, bits.into()).trust),
        };
        Scalar { bits: bits.into(), trust, undefined: None }
    }
}

pub(super) fn register_of_cell(cell: Cell) -> RegisterOrLocal {
    match cell {
        Cell::Word(column) => RegisterOrLocal::Column(column),
        Cell::Truth(set) => RegisterOrLocal::Set(set),
        Cell::Local(word) => RegisterOrLocal::Local(word),
    }
}

/// A run of a fragment stage.
pub(in crate::spirv) struct Quads<'p> {
    shared: Shared<'p>,
    warp: Warp,
    group: Group,
}

impl FragmentProgram {
    /// Why the stage cannot run with these resources, if so.
    pub(in crate::spirv) fn refused(&self, dispatch: &Dispatch<'_>) -> Option<Outcome<Observation>> {
        self.program.refused(dispatch, 0)
    }

    /// Prepares a run. It uses the resources and limits of the dispatch. With `exact` it counts
    /// steps and finds both accesses of a race among that many quads.
    pub(in crate::spirv) fn quads<'p>(&'p self, dispatch: &'p Dispatch<'p>, exact: bool, quads: u32) -> Quads<'p> {
        let topology = Topology::new(quads, 4, 1).ok().filter(|_| exact);
        Quads {
            shared: self.program.shared(dispatch, true),
            warp: Warp::new(&self.program, exact),
            group: Group {
                number: 0,
                id: [0; 3],
                words: Vec::new(),
                undefined: Vec::new(),
                origins: rustc_hash::FxHashMap::default(),
                shadow: races::GroupShadow::new(0),
                phases: races::Phases::default(),
                detector: topology.map(Detector::new),
                atomics: None,
            },
        }
    }
}

impl Quads<'_> {
    /// The number of quads side by side.
    pub(in crate::spirv) const SIDE_BY_SIDE: u32 = QUADS;

    /// Resets the lanes, for the quads from that number on.
    pub(in crate::spirv) fn begin(&mut self, first: u32) {
        self.group.number = first;
        self.warp.begin(self.shared.program, &self.shared, &self.group, 0, LANES as u32);
        if let Some(ledger) = &mut self.warp.ledger {
            ledger.begin(Parting::Quads);
        }
    }

    /// Makes a lane a helper invocation.
    pub(in crate::spirv) fn help(&mut self, lane: usize) {
        self.warp.helpers |= 1 << lane;
    }

    /// Sets an input of a lane, if the stage uses it.
    pub(in crate::spirv) fn set_input(&mut self, lane: usize, variable: u32, scalars: &[Scalar]) {
        let Some(found) = interface_variable(self.shared.program, variable) else { return };
        for ((&cell, &of), scalar) in found.cells.iter().zip(&found.types).zip(scalars) {
            self.warp.set_cell(lane, cell, of, scalar);
        }
    }

    /// Whether the stage reads a scalar of an input.
    pub(in crate::spirv) fn reads(&self, variable: u32, index: usize) -> bool {
        interface_variable(self.shared.program, variable).and_then(|found| found.read.get(index)).copied().unwrap_or(false)
    }

    /// Sets one scalar of an input of a lane, if the stage uses it.
    pub(in crate::spirv) fn set_input_scalar(&mut self, lane: usize, variable: u32, index: usize, scalar: &Scalar) {
        let found = interface_variable(self.shared.program, variable).and_then(|found| found.cells.get(index).zip(found.types.get(index)));
        if let Some((&cell, &of)) = found {
            self.warp.set_cell(lane, cell, of, scalar);
        }
    }

    /// Sets one scalar of an input in the four lanes of a quad, to bits that every device has.
    #[inline(always)]
    pub(in crate::spirv) fn set_quad_input(&mut self, quad: u32, variable: u32, index: usize, bits: [u32; 4]) {
        let Some(&cell) = interface_variable(self.shared.program, variable).and_then(|found| found.cells.get(index)) else { return };
        let lanes = 0xf << (4 * quad);
        match cell {
            Cell::Word(column) => self.warp.columns[column as usize].as_chunks_mut::<4>().0[quad as usize] = bits,
            Cell::Truth(set) => {
                let truth = (0..).zip(bits).fold(0, |set, (lane, bit)| set | u64::from(bit & 1) << lane);
                let set = &mut self.warp.sets[set as usize];
                *set = *set & !lanes | truth << (4 * quad);
            }
            Cell::Local(word) => self.warp.local[word as usize].as_chunks_mut::<4>().0[quad as usize] = bits,
        }
        *self.warp.undefined_mut(register_of_cell(cell)) &= !lanes;
        if let Some(ledger) = &mut self.warp.ledger {
            ledger.forget(register_of_cell(cell), lanes);
        }
    }

    /// Marks a scalar of an input as defined in all lanes, which the stage does not read.
    pub(in crate::spirv) fn set_unread_input(&mut self, variable: u32, index: usize) {
        if let Some(&cell) = interface_variable(self.shared.program, variable).and_then(|found| found.cells.get(index)) {
            *self.warp.undefined_mut(register_of_cell(cell)) = 0;
        }
    }

    /// One scalar of an output in the four lanes of a finished quad. `None` if it is undefined in a
    /// lane or does not exist.
    pub(in crate::spirv) fn quad_output(&self, quad: u32, variable: u32, index: usize) -> Option<[u32; 4]> {
        let (column, undefined) = self.column_of(variable, index)?;
        (undefined >> (4 * quad) & 0xf == 0).then_some(column.as_chunks::<4>().0[quad as usize])
    }

    /// The same in all lanes of the first quads. Other lanes hold any bits.
    pub(in crate::spirv) fn output_column(&self, quads: u32, variable: u32, index: usize) -> Option<Column> {
        let (column, undefined) = self.column_of(variable, index)?;
        (undefined & lanes_of(quads) == 0).then_some(*column)
    }

    /// One scalar of an output in all finished lanes, and the set of lanes in which it is defined
    /// and its bits imply its trust.
    pub(in crate::spirv) fn exact_of_all(&self, variable: u32, index: usize) -> Option<(&Column, Lanes)> {
        let (column, undefined) = self.column_of(variable, index)?;
        let cell = *interface_variable(self.shared.program, variable)?.cells.get(index)?;
        let noted_lanes = self.warp.ledger.as_ref().map_or(0, |ledger| ledger.noted_lanes(register_of_cell(cell)));
        Some((column, !(undefined | noted_lanes)))
    }

    /// The column of one scalar of an output, and the set of lanes in which it is undefined. `None`
    /// if there is no such column.
    fn column_of(&self, variable: u32, index: usize) -> Option<(&Column, Lanes)> {
        match *interface_variable(self.shared.program, variable)?.cells.get(index)? {
            Cell::Word(column) => Some((&self.warp.columns[column as usize], self.warp.undefined[column as usize])),
            Cell::Local(word) => Some((&self.warp.local[word as usize], self.warp.local_undefined[word as usize])),
            Cell::Truth(_) => None,
        }
    }

    /// The lanes of the first quads that are neither discarded nor helper invocations.
    pub(in crate::spirv) fn staying(&self, quads: u32) -> Lanes {
        lanes_of(quads) & !self.warp.discarded & !self.warp.helpers
    }

    /// Runs the first quads to their end. `fuel` bounds the instructions of the whole draw.
    ///
    /// # Errors
    /// How the draw ends here. For undefined behaviour it says where; the draw decides
    /// what to report.
    pub(in crate::spirv) fn run(&mut self, quads: u32, fuel: u64) -> Result<(), Failure> {
        let ended = self.run_lanes(4 * quads, fuel);
        if let Some(detector) = &mut self.group.detector {
            (self.group.number..self.group.number + quads).for_each(|quad| detector.retire(quad));
        }
        ended
    }

    /// Runs the first lanes to their end. They need not form whole quads.
    ///
    /// # Errors
    /// As [`Quads::run`].
    pub(in crate::spirv) fn run_lanes(&mut self, lanes: u32, fuel: u64) -> Result<(), Failure> {
        self.shared.fuel = fuel;
        self.warp.narrow(self.shared.program, lanes);
        self.run_waiting()
    }

    /// Runs the lanes that wait in blocks.
    fn run_waiting(&mut self) -> Result<(), Failure> {
        let ended = self.warp.run(&self.shared, &mut self.group);
        match ended {
            Ok(Stop::Ended) => Ok(()),
            Ok(Stop::Waits) => Err(Failure::Stuck("lanes wait in a fragment stage".into())),
            Err(failure) => Err(failure),
        }
    }

    /// The scalars of an output variable in a finished lane. Undefined ones without an origin get
    /// `unwritten`.
    pub(in crate::spirv) fn output(&self, lane: usize, variable: u32, unwritten: Origin) -> impl Iterator<Item = Scalar> {
        let found = interface_variable(self.shared.program, variable).into_iter();
        let cells = found.flat_map(|found| found.cells.iter().zip(&found.types));
        cells.map(move |(&cell, &of)| self.warp.cell(lane, cell, of, unwritten))
    }

    /// One scalar of an output variable, likewise.
    pub(in crate::spirv) fn output_scalar(&self, lane: usize, variable: u32, index: usize, unwritten: Origin) -> Option<Scalar> {
        let found = interface_variable(self.shared.program, variable)?;
        Some(self.warp.cell(lane, *found.cells.get(index)?, *found.types.get(index)?, unwritten))
    }

    /// Makes later runs runs over sets. Returns false if the program cannot run so.
    pub(in crate::spirv) fn judge(&mut self, exploration: Exploration) -> bool {
        self.warp.ledger = Ledger::new(self.shared.program, exploration, None).map(Box::new);
        self.warp.ledger.is_some()
    }

    /// Sets which lane of which quad a lane is.
    pub(in crate::spirv) fn tag(&mut self, lane: usize, tag: Tag) {
        if let Some(ledger) = &mut self.warp.ledger {
            ledger.tag(lane, tag);
        }
    }

    /// The number of ways that still have to run.
    pub(in crate::spirv) fn pending(&self) -> usize {
        self.warp.ledger.as_ref().map_or(0, |ledger| ledger.pending())
    }

    /// Prepares the lanes from 0 on for waiting ways, each at the place where it begins. Returns
    /// whose ways they are.
    pub(in crate::spirv) fn take_ways(&mut self) -> Vec<Tag> {
        self.begin(0);
        if let Some(ledger) = &mut self.warp.ledger {
            ledger.begin(Parting::Ways);
        }
        self.warp.drop_lanes(!0);
        self.warp.take_ways()
    }

    /// Runs the ways that [`Quads::take_ways`] prepared.
    ///
    /// # Errors
    /// As [`Quads::run`].
    pub(in crate::spirv) fn run_ways(&mut self, fuel: u64) -> Result<(), Failure> {
        self.shared.fuel = fuel;
        self.run_waiting()
    }

    /// The lanes to which the last run has added ways.
    pub(in crate::spirv) fn newly_parted(&self) -> Vec<Tag> {
        self.warp.ledger.as_ref().map_or_else(Vec::new, |ledger| ledger.newly_parted().collect())
    }

    /// Removes the waiting ways of some lanes. Returns the quad of each.
    pub(in crate::spirv) fn drop_ways(&mut self, is_dropped: impl Fn(Tag) -> bool) -> Vec<u32> {
        self.warp.ledger.as_mut().map_or_else(Vec::new, |ledger| ledger.drop_ways(is_dropped))
    }

    /// Whether some way of a lane does not run.
    pub(in crate::spirv) fn is_unsettled(&self, lane: usize) -> bool {
        self.warp.ledger.as_ref().is_some_and(|ledger| (ledger.unsettled | ledger.left_to_relation) >> lane & 1 == 1)
    }

    /// The sets, in a run over sets.
    pub(in crate::spirv) fn sets(&mut self) -> Option<&mut Sets> {
        self.warp.ledger.as_mut().map(|ledger| &mut ledger.sets)
    }

    /// The set of a float in an output of a finished lane.
    pub(in crate::spirv) fn set_of(&self, scalar: &Scalar) -> Set {
        self.warp.ledger.as_ref().map_or(Set::ANY, |ledger| ledger.sets.operand(scalar.lane()).set)
    }

    /// The set of an open scalar, if it is one bounded span.
    pub(in crate::spirv) fn span_of(&self, scalar: &Scalar) -> Option<Span> {
        self.warp.ledger.as_ref()?.sets.span(scalar.lane())
    }

    /// Whether a lane is left to the relation.
    pub(in crate::spirv) fn is_left_to_relation(&self, lane: usize) -> bool {
        self.warp.ledger.as_ref().is_some_and(|ledger| ledger.left_to_relation >> lane & 1 == 1)
    }

    /// The lanes of quads that ended plainly: each lane has a fragment, took one way, and is judged
    /// here.
    pub(in crate::spirv) fn ended_plainly(&self) -> Lanes {
        let Some(ledger) = &self.warp.ledger else { return 0 };
        whole(!(ledger.left_to_relation | ledger.parted | ledger.unsettled | self.warp.discarded | self.warp.helpers))
    }

    /// Whether a lane has met an open condition.
    pub(in crate::spirv) fn is_parted(&self, lane: usize) -> bool {
        self.warp.ledger.as_ref().is_some_and(|ledger| ledger.parted >> lane & 1 == 1)
    }

    /// Whether a lane has met an open condition at a branch.
    pub(in crate::spirv) fn is_branched(&self, lane: usize) -> bool {
        self.warp.ledger.as_ref().is_some_and(|ledger| ledger.branched >> lane & 1 == 1)
    }

    /// Whether a finished lane was discarded.
    pub(in crate::spirv) fn is_discarded(&self, lane: usize) -> bool {
        self.warp.discarded >> lane & 1 == 1
    }

    /// Whether a lane is a helper invocation, from the start or since a demotion.
    pub(in crate::spirv) fn is_helper(&self, lane: usize) -> bool {
        self.warp.helpers >> lane & 1 == 1
    }

    /// The number of executed instructions.
    pub(in crate::spirv) fn executed(&self) -> u64 {
        self.shared.executed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The storage buffers and images after all lanes have finished.
    pub(in crate::spirv) fn observation(&self) -> Observation {
        self.shared.observation()
    }
}

/// The lanes of the first quads.
fn lanes_of(quads: u32) -> Lanes {
    if quads >= QUADS { !0 } else { (1 << (4 * quads)) - 1 }
}

fn interface_variable(program: &Program, variable: u32) -> Option<&InterfaceVariable> {
    program.interface.iter().find(|found| found.id == variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_is_whole_with_its_four_lanes_only() {
        assert_eq!(whole(!0), !0);
        assert_eq!(whole(0xff7f), 0xff0f);
        assert_eq!(whole(0b0111_1110), 0);
        assert_eq!(whole(0xf << 60 | 0b1110), 0xf << 60);
    }
}

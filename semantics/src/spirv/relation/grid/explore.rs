//! The observations that a device may show of a dispatch if definite values leave some open: runs
//! over sets ([`crate::number::sets`]), one for each way through the branches on open conditions.
//!
//! A way does not run the whole dispatch again, but one part of it. Without atomics nothing orders
//! accesses of different workgroups. So two of them that conflict are a data race (Vulkan Memory
//! Model, Data Race). In a run without a race no workgroup reads what another writes. Each then
//! behaves as it does alone. Without barriers the same holds of each invocation. The accesses of
//! the parts on all of their ways are compared. If a way of one part would race with a way of
//! another, nothing is settled.
//!
//! Parts may also run on the lockstep machine (`judged`). It returns the writes of a way like the
//! relation does, and leaves to the relation the parts that it cannot judge.
//!
//! Nothing is settled either if a dispatch has atomics, whose order may be any, if an open value
//! reaches an address, a case of OpSwitch or an instruction that is undefined for some values, or
//! if a way does not end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::judged::Difference;
use super::observe::{Doubtful, Report};
use super::prepare::DispatchInvocations;
use super::work::Work;
use super::{Grid, Part, SetsRun};
use crate::concurrency::{Schedule, Turns};
use crate::number::sets::{Exploration, Set, Sets, Unsettled, follow};
use crate::number::{Expected, Lane, Why};
use crate::outcome::{Outcome, TimeLimit};
use crate::spirv::check::is_atomic;
use crate::spirv::declare::is_group;
use crate::spirv::environment::Dispatch;
use crate::spirv::error::LoadError;
use crate::spirv::grammar::Op;
use crate::spirv::lockstep::{Piecewise, Written};
use crate::spirv::module::Module;
use crate::spirv::shared::{Extent, ObjectId};
use crate::spirv::step::Relation;

/// A way may execute this many times the instructions of the definite run, plus
/// [`BASE_INSTRUCTIONS`].
const WAY_FACTOR: u64 = 16;
/// All ways together may execute this many times the instructions of the definite run, plus
/// [`BASE_INSTRUCTIONS`]: the number of ways of the usual budget
/// ([`Budget`](crate::number::sets::Budget)).
const TOTAL_FACTOR: u64 = 64;
/// The instructions that every run over sets may execute, in addition.
const BASE_INSTRUCTIONS: u64 = 1 << 16;

/// An aligned word of an observed buffer that may hold one of several floats, all of which
/// are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenWord {
    /// The index of the buffer in the observation.
    pub buffer: usize,
    /// The offset of the first byte, a multiple of 4.
    pub offset: u64,
    /// The 32-bit floats that a device may show there: one bit pattern, a zero, or a bounded set.
    pub expected: Expected,
}

/// The observations that a device may show, beside what the definite run decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acceptance {
    /// The words that sets decide, in ascending order of buffer and offset.
    pub words: Vec<OpenWord>,
    /// The bytes that stay open, including bytes that only another way writes.
    pub doubtful: Vec<Doubtful>,
    /// The number of ways that were followed, over all parts. 0 if the definite run leaves
    /// nothing open.
    pub ways: u64,
    /// Why there may be more ways. Then all that the definite run leaves open stays open.
    pub unsettled: Option<Unsettled>,
}

/// The values of a word over the ways that were followed so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordValues {
    pub(super) set: Set,
    /// The bits, if they are decided and equal on every way.
    pub(super) bits: Option<u32>,
    ways: u32,
    why: Why,
}

impl WordValues {
    fn add_way(&mut self, other: WordValues) {
        let bits = if self.bits == other.bits { self.bits } else { None };
        *self = WordValues { set: self.set.union(other.set), bits, ways: self.ways + other.ways, why: self.why };
    }
}

/// A word of an observed buffer: the buffer's index, and the offset of the first byte.
pub(super) type Word = (usize, u64);

/// The words that all ways of a part write.
pub(super) struct Ways {
    /// The number of ways that were followed, and of those that a device may take.
    all: u32,
    followed: u32,
    pub(super) words: BTreeMap<Word, WordValues>,
}

/// Explores the observations of a dispatch. `shown` is the report of its definite run, which the
/// relation made under any schedule. The profile is the dispatch's, whatever the exploration has.
///
/// The only error is a missing entry point. If the definite run has no observation, the acceptance
/// is empty.
pub fn explore(
    module: &Module,
    dispatch: &Dispatch<'_>,
    shown: &Report,
    relation: &Relation,
    exploration: Exploration,
) -> Result<Acceptance, LoadError> {
    let Some(observation) = shown.outcome.observed() else { return Ok(Acceptance::default()) };
    if shown.doubtful.is_empty() && !shown.control_in_doubt {
        return Ok(Acceptance::default().with_zeros(shown.zeros.iter().copied()));
    }
    let grid = match Grid::new(module, dispatch, relation)? {
        Ok(grid) => grid,
        Err(outcome) => return Ok(undecided(shown, 0, Unsettled::ended(&outcome))),
    };
    let Some(by_workgroup) = by_workgroup(module) else {
        return Ok(undecided(shown, 0, Unsettled::Reached("it has atomics, whose order is not fixed".into())));
    };
    let mut explorer = Explorer::new(grid, exploration, observation.instructions);
    match explorer.parts(by_workgroup) {
        Ok(()) => Ok(explorer.acceptance(shown)),
        Err(why) => Ok(undecided(shown, explorer.ways, why)),
    }
}

/// Whether the parts are workgroups instead of single invocations. `None` if there are atomics,
/// which may order parts.
pub(super) fn by_workgroup(module: &Module) -> Option<bool> {
    let has = |is_wanted: fn(Op) -> bool| module.instructions().iter().any(|i| is_wanted(i.op));
    if has(is_atomic) { None } else { Some(has(|op| op == Op::ControlBarrier || is_group(op))) }
}

/// Runs the only workgroup of a grid over sets. Returns the work, and the number of
/// executed instructions.
pub(in crate::spirv) fn alone<'m, W: Work<'m>>(mut grid: Grid<'m, '_, W>, sets: &mut Sets) -> Result<(W, u64), Unsettled> {
    grid.over_sets(sets, Part { workgroup: 0, local: None })?;
    let instructions = grid.instructions;
    Ok((grid.work, instructions))
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// Runs a part over sets. Returns its accesses to memory that can be written; true for a write.
    fn over_sets(&mut self, sets: &mut Sets, part: Part) -> Result<Vec<(Extent, bool)>, Unsettled> {
        self.shared.over(sets)?;
        self.turns = Turns::from(part.workgroup);
        self.over = Some(Box::new(SetsRun { sets: RefCell::new(sets.clone()), part, accesses: Vec::new(), unsettled: None }));
        self.go(&Schedule::default(), &mut ());
        let outcome = self.report().outcome;
        let Some(run) = self.over.take() else { return Ok(Vec::new()) };
        let SetsRun { sets: sets_after, accesses, unsettled, .. } = *run;
        *sets = sets_after.into_inner();
        match unsettled {
            Some(why) => Err(why),
            None if !matches!(outcome, Outcome::Observed(_)) => Err(Unsettled::ended(&outcome)),
            None => Ok(accesses),
        }
    }
}

/// The acceptance if nothing is settled: the bytes that the definite run leaves open. If a device
/// may take other branches, all bytes of all buffers.
fn undecided(shown: &Report, ways: u64, why: Unsettled) -> Acceptance {
    let mut doubtful = shown.doubtful.clone();
    if let (true, Some(observation)) = (shown.control_in_doubt, shown.outcome.observed()) {
        doubtful = observation
            .buffers
            .iter()
            .enumerate()
            .map(|(buffer, b)| Doubtful { buffer, start: 0, end: b.bytes.len() as u64, why: Why::Control })
            .collect();
    }
    Acceptance { words: Vec::new(), doubtful, ways, unsettled: Some(why) }.with_zeros(shown.zeros.iter().copied())
}

impl Acceptance {
    /// Adds the zeros that may have either sign, at words that have no entry yet.
    fn with_zeros(mut self, zeros: impl IntoIterator<Item = Word>) -> Acceptance {
        let is_listed = |all: &Acceptance, buffer: usize, offset: u64| {
            let word = all.words.binary_search_by_key(&(buffer, offset), |word| (word.buffer, word.offset)).is_ok();
            word || all.doubtful.iter().any(|d| d.buffer == buffer && d.start < offset + 4 && offset < d.end)
        };
        let zero = |(buffer, offset): Word| OpenWord { buffer, offset, expected: Expected::Zero };
        let zeros: Vec<OpenWord> = zeros.into_iter().filter(|at| !is_listed(&self, at.0, at.1)).map(zero).collect();
        self.words.extend(zeros);
        self.words.sort_by_key(|word| (word.buffer, word.offset));
        self
    }
}

pub(super) struct Explorer<'m, 'r> {
    /// The grid before the first workgroup.
    pub(super) grid: Grid<'m, 'r, DispatchInvocations<'m>>,
    pub(super) exploration: Exploration,
    /// The machine that runs parts, if there is one.
    pub(super) machine: Option<Piecewise<'r>>,
    /// The number of parts that the machine has left to the relation.
    pub(super) left_to_relation: u64,
    /// A difference between the machine and the relation, in a part that both have run.
    pub(super) difference: Option<Difference>,
    /// The words that are a zero of either sign on some way.
    pub(super) zeros: BTreeSet<Word>,
    /// The number of instructions that may still be executed.
    pub(super) instructions_left: u64,
    /// The number of instructions that one way may execute.
    pub(super) way_limit: u64,
    pub(super) ways: u64,
    /// By byte, the part that has written it, and the parts that have read it.
    touched: FxHashMap<(ObjectId, u64), (Option<u32>, Readers)>,
    pub(super) words: BTreeMap<Word, WordValues>,
}

/// The parts that have read a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    None,
    One(u32),
    Several,
}

impl<'m, 'r> Explorer<'m, 'r> {
    /// An explorer before its first part. `executed` is the number of instructions of the
    /// definite run.
    pub(super) fn new(grid: Grid<'m, 'r, DispatchInvocations<'m>>, exploration: Exploration, executed: u64) -> Self {
        Explorer {
            exploration: Exploration { profile: grid.shared.profile(), ..exploration },
            grid,
            machine: None,
            left_to_relation: 0,
            difference: None,
            zeros: BTreeSet::new(),
            instructions_left: executed.saturating_mul(TOTAL_FACTOR).saturating_add(BASE_INSTRUCTIONS),
            way_limit: executed.saturating_mul(WAY_FACTOR).saturating_add(BASE_INSTRUCTIONS),
            ways: 0,
            touched: FxHashMap::default(),
            words: BTreeMap::new(),
        }
    }

    /// Runs every part of the dispatch by the relation, on all of its ways.
    fn parts(&mut self, by_workgroup: bool) -> Result<(), Unsettled> {
        let size = self.grid.topology.workgroup_size();
        for workgroup in 0..self.grid.topology.invocations() / size {
            if by_workgroup {
                self.part(Part { workgroup, local: None })?;
                continue;
            }
            for local in 0..size {
                self.part(Part { workgroup, local: Some(local) })?;
            }
        }
        Ok(())
    }

    /// Runs all ways of one part by the relation.
    pub(super) fn part(&mut self, part: Part) -> Result<(), Unsettled> {
        let ways = self.all_ways(|explorer, sets| explorer.way(part, sets))?;
        self.add(ways);
        Ok(())
    }

    /// The number of the part's first invocation, which identifies the part.
    fn number(&self, part: Part) -> u32 {
        part.workgroup * self.grid.topology.workgroup_size() + part.local.unwrap_or(0)
    }

    /// Follows all ways of a part. `way` runs one of them.
    pub(super) fn all_ways(
        &mut self,
        mut way: impl FnMut(&mut Self, &mut Sets) -> Result<Vec<(Word, WordValues)>, Unsettled>,
    ) -> Result<Ways, Unsettled> {
        let mut words: BTreeMap<Word, WordValues> = BTreeMap::new();
        let mut followed = 0;
        let (all, unsettled) = follow(self.exploration, |sets| {
            let written = way(self, sets)?;
            followed += 1;
            for (word, values) in written {
                words.entry(word).and_modify(|all| all.add_way(values)).or_insert(values);
            }
            Ok(std::ops::ControlFlow::Continue(()))
        });
        match unsettled {
            Some(why) => {
                self.ways += u64::from(all);
                Err(why)
            }
            None => Ok(Ways { all, followed, words }),
        }
    }

    /// Adds the words of a part to those of other parts.
    pub(super) fn add(&mut self, Ways { all, followed, words }: Ways) {
        self.ways += u64::from(all);
        for (word, mut values) in words {
            if values.ways < followed {
                // Some way does not write the word, so it may keep its initial value.
                let (buffer, offset) = (self.storage(word.0), word.1);
                let (set, bits) = match (self.grid.shared.bounded(buffer, offset), self.grid.shared.float(buffer, offset)) {
                    (Some(initial), _) => (initial, None),
                    (None, Some(lane)) => (Set::point(lane.float().into()), Some(lane.bits)),
                    (None, None) => (Set::ANY, None),
                };
                values.add_way(WordValues { set, bits, ways: 0, why: values.why });
            }
            // Parts have written different bytes of this word.
            self.words
                .entry(word)
                .and_modify(|all| *all = WordValues { set: Set::ANY, bits: all.bits.and(values.bits), ..*all })
                .or_insert(values);
        }
    }

    /// The words of observed buffers that a way has written on the machine.
    pub(super) fn written(&mut self, sets: &Sets, written: impl IntoIterator<Item = Written>) -> Vec<(Word, WordValues)> {
        let mut words = Vec::new();
        for Written { buffer, offset, float, is_zero } in written {
            let Some(observed) = self.grid.prepared.storage.iter().position(|&(of, ..)| of == buffer) else { continue };
            if is_zero {
                self.zeros.insert((observed, offset));
            }
            words.push(((observed, offset), seen(sets, float)));
        }
        words
    }

    /// The words of a part that has only one way.
    pub(super) fn one_way(words: Vec<(Word, WordValues)>) -> Ways {
        Ways { all: 1, followed: 1, words: words.into_iter().collect() }
    }

    /// The index in the dispatch's buffers of an observed buffer.
    pub(super) fn storage(&self, buffer: usize) -> usize {
        self.grid.prepared.storage[buffer].0
    }

    /// Runs one way. Returns the words that it has written.
    pub(super) fn way(&mut self, part: Part, sets: &mut Sets) -> Result<Vec<(Word, WordValues)>, Unsettled> {
        if let Some(limit) = TimeLimit::passed(self.grid.time) {
            return Err(Unsettled::Reached(limit.to_string()));
        }
        let mut grid = self.grid.clone();
        grid.fuel = self.way_limit.min(self.instructions_left);
        let result = grid.over_sets(sets, part);
        self.instructions_left -= grid.instructions.min(self.instructions_left);
        let accesses = result?;
        let mut words: Vec<Word> = Vec::new();
        for (extent, writes) in &accesses {
            for (first, bytes) in extent.stretches() {
                for at in first..first + bytes {
                    self.touch(part, (extent.object, at), *writes)?;
                }
                if let (ObjectId::Buffer(index), true) = (extent.object, writes) {
                    let observed = self.grid.prepared.storage.iter().position(|&(of, ..)| of == index as usize);
                    let range = first / 4..(first + bytes).div_ceil(4);
                    words.extend(observed.into_iter().flat_map(|buffer| range.clone().map(move |word| (buffer, 4 * word))));
                }
            }
        }
        words.sort_unstable();
        words.dedup();
        let zeros: Vec<Word> = words.iter().copied().filter(|word| grid.shared.is_zero(self.storage(word.0), word.1)).collect();
        self.zeros.extend(zeros);
        Ok(words.into_iter().map(|word| (word, seen(sets, grid.shared.float(self.storage(word.0), word.1)))).collect())
    }

    /// Records that a part accesses a byte. An error if this conflicts with another part.
    fn touch(&mut self, part: Part, byte: (ObjectId, u64), writes: bool) -> Result<(), Unsettled> {
        let conflict = || Unsettled::Reached("invocations that access the same memory on some ways through their branches".into());
        if let (Some(machine), ObjectId::Buffer(buffer)) = (&self.machine, byte.0) {
            let conflicts = machine.conflicts((part.workgroup, part.local), buffer, byte.1, writes);
            return if conflicts { Err(conflict()) } else { Ok(()) };
        }
        let part = self.number(part);
        let (writer, readers) = self.touched.entry(byte).or_insert((None, Readers::None));
        let others_write = writer.is_some_and(|writer| writer != part);
        let others_read = !matches!(readers, Readers::None) && *readers != Readers::One(part);
        if others_write || writes && others_read {
            return Err(conflict());
        }
        match (writes, *readers) {
            (true, _) => *writer = Some(part),
            (false, Readers::None) => *readers = Readers::One(part),
            (false, Readers::One(other)) if other != part => *readers = Readers::Several,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn acceptance(&self, shown: &Report) -> Acceptance {
        let mut acceptance = Acceptance { ways: self.ways, ..Acceptance::default() };
        let mut words = self.words.clone();
        for doubtful in &shown.doubtful {
            let Doubtful { buffer, start, end, why } = *doubtful;
            // A word that no part writes keeps its initial value.
            let initial = self.grid.shared.bounded(self.grid.prepared.storage[buffer].0, start).filter(|_| end == start + 4);
            let mut expected = initial.map_or(Expected::Undecided(why), |set| Expected::of(set, why));
            for offset in (start / 4 * 4..end).step_by(4) {
                // If only a part of the word is open and other branches may have been taken, the
                // word stays: the loop below compares the rest of it.
                let is_whole = start <= offset && offset + 4 <= end;
                if let (true, Some(values)) = (is_whole || !shown.control_in_doubt, words.remove(&(buffer, offset))) {
                    let expected_word = || match values.bits {
                        Some(bits) if !self.zeros.contains(&(buffer, offset)) => Expected::Bits(bits),
                        _ => Expected::of(values.set, why),
                    };
                    expected = if (start, end) == (offset, offset + 4) { expected_word() } else { expected };
                }
            }
            match expected {
                Expected::Undecided(_) => acceptance.doubtful.push(*doubtful),
                expected => acceptance.words.push(OpenWord { buffer, offset: start, expected }),
            }
        }
        // The words that the definite run decides, and that another way may write otherwise.
        for ((buffer, offset), values) in words.into_iter().filter(|(_, values)| values.bits.is_none()) {
            match Expected::of(values.set, values.why) {
                Expected::Undecided(why) => acceptance.doubtful.push(Doubtful { buffer, start: offset, end: offset + 4, why }),
                expected => acceptance.words.push(OpenWord { buffer, offset, expected }),
            }
        }
        acceptance.words.sort_by_key(|word| (word.buffer, word.offset));
        acceptance.doubtful.sort_by_key(|one| (one.buffer, one.start));
        let zeros = shown.zeros.iter().chain(&self.zeros).copied().collect::<BTreeSet<Word>>();
        acceptance.with_zeros(zeros)
    }
}

/// The value of a word after one way.
fn seen(sets: &Sets, lane: Option<Lane>) -> WordValues {
    let Some(lane) = lane else { return WordValues { set: Set::ANY, bits: None, ways: 1, why: Why::Domain } };
    let bits = lane.trust.is_decided(sets.profile()).then_some(lane.bits);
    WordValues { set: sets.operand(lane).set, bits, ways: 1, why: lane.trust.doubt.unwrap_or(Why::Approximate) }
}

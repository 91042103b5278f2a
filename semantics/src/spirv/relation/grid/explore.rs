//! What a device must show of a dispatch where definite values leave it open: runs over sets
//! ([`crate::number::sets`]), once for each way that branches on open conditions may go.
//!
//! Not the whole dispatch is run again for each way, but a part of it. Without atomics nothing
//! orders accesses of different workgroups, so that of two that conflict there is a data race
//! (Vulkan Memory Model, Data Race): in a run without one no workgroup reads what another writes,
//! and each is what it is without the others. Without barriers the same holds of each invocation.
//! What the parts access on all of their ways is compared: where some way of one would race with
//! some way of another, nothing is settled.
//!
//! Nothing is settled either where a dispatch has atomics, whose order may be any, where what is
//! open reaches an address, a case of OpSwitch or an instruction that is undefined for some values,
//! or where a way does not end.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::observe::{Doubtful, Report};
use super::prepare::Dispatched;
use super::work::Work;
use super::{Grid, Over, Part};
use crate::concurrency::{Schedule, Turns};
use crate::number::sets::{Exploration, Set, Sets, Unsettled, follow};
use crate::number::{Expected, Lane, Why};
use crate::outcome::Outcome;
use crate::spirv::check::is_atomic;
use crate::spirv::declare::is_group;
use crate::spirv::environment::Dispatch;
use crate::spirv::error::LoadError;
use crate::spirv::grammar::Op;
use crate::spirv::module::Module;
use crate::spirv::shared::{Extent, ObjectId};
use crate::spirv::step::Relation;

/// Beside so many times the instructions of the definite run, each way may execute [`LEAST`].
const SLOWER: u64 = 16;
/// What all ways together may execute, in instructions of the definite run: as many as the usual
/// budget has ways ([`Budget`](crate::number::sets::Budget)).
const ALL: u64 = 64;
/// The least bound of a run over sets, in instructions.
const LEAST: u64 = 1 << 16;

/// An aligned word of an observed buffer that may hold several floats, all of which are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenWord {
    /// Which of the observation's buffers.
    pub buffer: usize,
    /// The first byte, a multiple of 4.
    pub offset: u64,
    /// What a device must show there, as a 32-bit float: bits, a zero, or one of a bounded set.
    pub expected: Expected,
}

/// What a device must show of a dispatch beside what the definite run decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acceptance {
    /// The words that sets decide, by buffer and offset.
    pub words: Vec<OpenWord>,
    /// The bytes that stay open, those among them that only another way writes.
    pub doubtful: Vec<Doubtful>,
    /// How many ways were followed, those of all parts together; 0 if the definite run leaves
    /// nothing open.
    pub ways: u64,
    /// Why there may be more, if so: then what the definite run leaves open stays so.
    pub unsettled: Option<Unsettled>,
}

/// What is known of a word once some ways have been followed.
#[derive(Clone, Copy, Debug)]
struct Seen {
    set: Set,
    /// The bits, if they are the same on every way, and decided there.
    bits: Option<u32>,
    ways: u32,
    why: Why,
}

impl Seen {
    fn also(&mut self, other: Seen) {
        let bits = if self.bits == other.bits { self.bits } else { None };
        *self = Seen { set: self.set.union(other.set), bits, ways: self.ways + other.ways, why: self.why };
    }
}

/// A word of an observed buffer: which buffer, and its first byte.
type Word = (usize, u64);

/// Explores what a dispatch may show that shows `shown` by definite values, which the relation gave
/// under any schedule. The profile is that of the dispatch, whatever the exploration's.
///
/// The only error is an entry point that is not there. Of a run that shows no observation nothing
/// is said.
pub fn explore(
    module: &Module,
    dispatch: &Dispatch<'_>,
    shown: &Report,
    relation: &Relation,
    exploration: Exploration,
) -> Result<Acceptance, LoadError> {
    let Some(observation) = shown.outcome.observed() else { return Ok(Acceptance::default()) };
    if shown.doubtful.is_empty() && !shown.wanders {
        return Ok(Acceptance::default().with_zeros(shown));
    }
    let grid = match Grid::new(module, dispatch, relation)? {
        Ok(grid) => grid,
        Err(outcome) => return Ok(undecided(shown, 0, Unsettled::ended(&outcome))),
    };
    let has = |wanted: fn(Op) -> bool| module.instructions().iter().any(|i| wanted(i.op));
    if has(is_atomic) {
        return Ok(undecided(shown, 0, Unsettled::Reached("it has atomics, whose order is not fixed".into())));
    }
    let by_workgroup = has(|op| op == Op::ControlBarrier || is_group(op));
    let size = if by_workgroup { 1 } else { grid.topology.workgroup_size() };
    let mut explorer = Explorer { grid, exploration, left: 0, each: 0, ways: 0, touched: FxHashMap::default(), words: BTreeMap::new() };
    explorer.exploration.profile = explorer.grid.shared.profile();
    let executed = observation.instructions;
    explorer.left = executed.saturating_mul(ALL).saturating_add(LEAST);
    explorer.each = executed.saturating_mul(SLOWER).saturating_add(LEAST);
    for number in 0..explorer.grid.topology.invocations() / explorer.grid.topology.workgroup_size() * size {
        let local = if by_workgroup { None } else { Some(number % size) };
        if let Err(why) = explorer.part(number, Part { workgroup: number / size, local }) {
            return Ok(undecided(shown, explorer.ways, why));
        }
    }
    Ok(explorer.acceptance(shown))
}

/// Runs the one workgroup of a grid over sets. Gives what was done, and how
/// many instructions that took.
pub(in crate::spirv) fn alone<'m, W: Work<'m>>(mut grid: Grid<'m, '_, W>, sets: &mut Sets) -> Result<(W, u64), Unsettled> {
    grid.over_sets(sets, Part { workgroup: 0, local: None })?;
    let instructions = grid.instructions;
    Ok((grid.work, instructions))
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// Runs a part over sets; what it accesses of memory that can be written.
    fn over_sets(&mut self, sets: &mut Sets, part: Part) -> Result<Vec<(Extent, bool)>, Unsettled> {
        self.shared.over(sets)?;
        self.turns = Turns::from(part.workgroup);
        self.over = Some(Box::new(Over { sets: RefCell::new(sets.clone()), part, accesses: Vec::new(), unsettled: None }));
        self.go(&Schedule::default(), &mut ());
        let outcome = self.report().outcome;
        let Some(over) = self.over.take() else { return Ok(Vec::new()) };
        let Over { sets: met, accesses, unsettled, .. } = *over;
        *sets = met.into_inner();
        match unsettled {
            Some(why) => Err(why),
            None if !matches!(outcome, Outcome::Observed(_)) => Err(Unsettled::ended(&outcome)),
            None => Ok(accesses),
        }
    }
}

/// Where nothing is settled: what the definite run leaves open, and if a device may be elsewhere,
/// whatever it may write.
fn undecided(shown: &Report, ways: u64, why: Unsettled) -> Acceptance {
    let mut doubtful = shown.doubtful.clone();
    if let (true, Some(observation)) = (shown.wanders, shown.outcome.observed()) {
        doubtful = observation
            .buffers
            .iter()
            .enumerate()
            .map(|(buffer, b)| Doubtful { buffer, start: 0, end: b.bytes.len() as u64, why: Why::Control })
            .collect();
    }
    Acceptance { words: Vec::new(), doubtful, ways, unsettled: Some(why) }.with_zeros(shown)
}

impl Acceptance {
    /// With the zeros of either sign that nothing else is said of.
    fn with_zeros(mut self, shown: &Report) -> Acceptance {
        let said = |all: &Acceptance, buffer: usize, offset: u64| {
            let word = all.words.binary_search_by_key(&(buffer, offset), |word| (word.buffer, word.offset)).is_ok();
            word || all.doubtful.iter().any(|d| d.buffer == buffer && d.start < offset + 4 && offset < d.end)
        };
        let zero = |&(buffer, offset): &(usize, u64)| OpenWord { buffer, offset, expected: Expected::Zero };
        let zeros: Vec<OpenWord> = shown.zeros.iter().filter(|at| !said(&self, at.0, at.1)).map(zero).collect();
        self.words.extend(zeros);
        self.words.sort_by_key(|word| (word.buffer, word.offset));
        self
    }
}

struct Explorer<'m, 'r> {
    /// Before the first workgroup.
    grid: Grid<'m, 'r, Dispatched<'m>>,
    exploration: Exploration,
    /// Instructions that are left.
    left: u64,
    /// Instructions that one way may execute.
    each: u64,
    ways: u64,
    /// Which part has written a byte, and which has read it.
    touched: FxHashMap<(ObjectId, u64), (Option<u32>, Readers)>,
    words: BTreeMap<Word, Seen>,
}

/// The parts that have read a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    None,
    One(u32),
    Several,
}

impl Explorer<'_, '_> {
    /// All ways of one part.
    fn part(&mut self, number: u32, part: Part) -> Result<(), Unsettled> {
        let mut of_part: BTreeMap<Word, Seen> = BTreeMap::new();
        let exploration = self.exploration;
        let mut followed = 0;
        let (ways, unsettled) = follow(exploration, |sets| {
            let written = self.way(number, part, sets)?;
            followed += 1;
            for (word, seen) in written {
                of_part.entry(word).and_modify(|all| all.also(seen)).or_insert(seen);
            }
            Ok(std::ops::ControlFlow::Continue(()))
        });
        self.ways += u64::from(ways);
        if let Some(why) = unsettled {
            return Err(why);
        }
        for (word, mut seen) in of_part {
            if seen.ways < followed {
                // Another way leaves it as it was.
                let (buffer, offset) = (self.storage(word.0), word.1);
                let (set, bits) = match (self.grid.shared.bounded(buffer, offset), self.grid.shared.float(buffer, offset)) {
                    (Some(given), _) => (given, None),
                    (None, Some(lane)) => (Set::point(lane.float().into()), Some(lane.bits)),
                    (None, None) => (Set::ANY, None),
                };
                seen.also(Seen { set, bits, ways: 0, why: seen.why });
            }
            // Another part has written other bytes of this word.
            self.words.entry(word).and_modify(|all| *all = Seen { set: Set::ANY, bits: all.bits.and(seen.bits), ..*all }).or_insert(seen);
        }
        Ok(())
    }

    /// Which of the dispatch's buffers an observed one is.
    fn storage(&self, buffer: usize) -> usize {
        self.grid.prepared.storage[buffer].0
    }

    /// One way: what it has written, word by word.
    fn way(&mut self, number: u32, part: Part, sets: &mut Sets) -> Result<Vec<(Word, Seen)>, Unsettled> {
        if let Some(limit) = self.grid.time.and_then(|time| time.passed()) {
            return Err(Unsettled::Reached(limit.to_string()));
        }
        let mut grid = self.grid.clone();
        grid.fuel = self.each.min(self.left);
        let ran = grid.over_sets(sets, part);
        self.left -= grid.instructions.min(self.left);
        let accesses = ran?;
        let mut words: Vec<Word> = Vec::new();
        for (extent, writes) in &accesses {
            for (first, bytes) in extent.stretches() {
                for at in first..first + bytes {
                    self.touch(number, (extent.object, at), *writes)?;
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
        Ok(words.into_iter().map(|word| (word, seen(sets, grid.shared.float(self.storage(word.0), word.1)))).collect())
    }

    /// A part accesses a byte.
    fn touch(&mut self, part: u32, byte: (ObjectId, u64), writes: bool) -> Result<(), Unsettled> {
        let (writer, readers) = self.touched.entry(byte).or_insert((None, Readers::None));
        let others_write = writer.is_some_and(|writer| writer != part);
        let others_read = !matches!(readers, Readers::None) && *readers != Readers::One(part);
        if others_write || writes && others_read {
            return Err(Unsettled::Reached("invocations that access the same memory on some ways through their branches".into()));
        }
        match (writes, *readers) {
            (true, _) => *writer = Some(part),
            (false, Readers::None) => *readers = Readers::One(part),
            (false, Readers::One(other)) if other != part => *readers = Readers::Several,
            _ => {}
        }
        Ok(())
    }

    fn acceptance(&self, shown: &Report) -> Acceptance {
        let mut acceptance = Acceptance { ways: self.ways, ..Acceptance::default() };
        let mut words = self.words.clone();
        for doubtful in &shown.doubtful {
            let Doubtful { buffer, start, end, why } = *doubtful;
            // What no part has written is what was given.
            let given = self.grid.shared.bounded(self.grid.prepared.storage[buffer].0, start).filter(|_| end == start + 4);
            let mut expected = given.map_or(Expected::Undecided(why), |set| Expected::of(set, why));
            for offset in (start / 4 * 4..end).step_by(4) {
                // Of a word that is open in part the rest is compared below, if anything else may
                // have been written.
                let whole = start <= offset && offset + 4 <= end;
                if let (true, Some(seen)) = (whole || !shown.wanders, words.remove(&(buffer, offset))) {
                    expected = if (start, end) == (offset, offset + 4) { Expected::of(seen.set, why) } else { expected };
                }
            }
            match expected {
                Expected::Undecided(_) => acceptance.doubtful.push(*doubtful),
                expected => acceptance.words.push(OpenWord { buffer, offset: start, expected }),
            }
        }
        // What the definite run decides, and another way writes otherwise.
        for ((buffer, offset), seen) in words.into_iter().filter(|(_, seen)| seen.bits.is_none()) {
            match Expected::of(seen.set, seen.why) {
                Expected::Undecided(why) => acceptance.doubtful.push(Doubtful { buffer, start: offset, end: offset + 4, why }),
                expected => acceptance.words.push(OpenWord { buffer, offset, expected }),
            }
        }
        acceptance.words.sort_by_key(|word| (word.buffer, word.offset));
        acceptance.doubtful.sort_by_key(|one| (one.buffer, one.start));
        acceptance.with_zeros(shown)
    }
}

/// What a way shows of a word.
fn seen(sets: &Sets, lane: Option<Lane>) -> Seen {
    let Some(lane) = lane else { return Seen { set: Set::ANY, bits: None, ways: 1, why: Why::Domain } };
    let bits = lane.trust.is_decided(sets.profile()).then_some(lane.bits);
    Seen { set: sets.operand(lane).set, bits, ways: 1, why: lane.trust.doubt.unwrap_or(Why::Approximate) }
}

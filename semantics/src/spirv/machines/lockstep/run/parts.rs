//! A dispatch over sets, part by part. A part is an invocation or, if invocations meet at barriers,
//! a workgroup. Each part runs alone on the initial memory. Its writes are undone when it has
//! ended.
//!
//! One race shadow serves all parts and all their ways. It detects where one part accesses what
//! another writes. The ways of one part count as separated by a barrier.

use std::sync::atomic::Ordering::Relaxed as R;

use rustc_hash::FxHashMap;

use super::super::column::{self, LANES, Lanes};
use super::super::program::{Code, NONE, Op, Program};
use super::codes::Done;
use super::judge::{Ledger, Parting};
use super::races::{AccessKind, Accessor, Phases};
use super::warp::{RegisterOrLocal as At, Stop, Warp};
use super::{DetectorState, Failure, Group, Shared};
use crate::number::sets::{CellId, Exploration, Set, Sets, Unsettled};
use crate::number::{Lane, Trust, Why};
use crate::spirv::environment::{Dispatch, Robustness};
use crate::spirv::grammar::Op as Core;
use crate::spirv::shared::Note;
use crate::spirv::types::Type;
use crate::spirv::value::Scalar;

/// The scalars that an instruction loads or stores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Types {
    floats: bool,
    others: bool,
}

/// An access to shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// A load of 32 bits from a buffer.
    Load(Types),
    /// A store of 32 bits to a buffer.
    Store(Types),
    /// A load from Workgroup memory.
    LoadShared,
    /// A store to Workgroup memory.
    StoreShared,
}

/// A word of a buffer: the buffer's memory and the word's index.
type Word = (u32, u32);

/// What is known of shared memory beside its bits.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedNotes {
    /// The sets that the dispatch starts with.
    initial: FxHashMap<Word, Set>,
    buffers: FxHashMap<Word, Note>,
    words: FxHashMap<u32, Trust>,
    /// The written words: their bits before, and the writing invocation of the workgroup.
    written: FxHashMap<Word, (u32, u32)>,
    /// Why the run cannot go on over sets, if so.
    pub(super) stopped: Option<Unsettled>,
}

impl SharedNotes {
    fn clear(&mut self) {
        self.buffers.clear();
        self.words.clear();
        self.written.clear();
        self.stopped = None;
    }

    /// Visits the cells that these notes refer to.
    pub(super) fn cells(&mut self, visit: &mut dyn FnMut(&mut CellId)) {
        let notes = self.buffers.values_mut().map(|note| note.trust_mut());
        notes.chain(self.words.values_mut()).filter_map(|trust| trust.cell.as_mut()).for_each(visit);
    }

    /// The note of a word of a buffer.
    fn of(&mut self, sets: &mut Sets, word: Word, bits: u32) -> Result<Option<Note>, Unsettled> {
        if let Some(&note) = self.buffers.get(&word) {
            return Ok(Some(note));
        }
        match self.initial.get(&word) {
            Some(&set) if !self.written.contains_key(&word) => {
                let note = Note::given(sets.any_of(f32::from_bits(bits), set, Why::Approximate)?.trust);
                self.buffers.insert(word, note);
                Ok(Some(note))
            }
            _ => Ok(None),
        }
    }
}

impl Program {
    /// The access of a code to shared memory, if it can run over sets.
    pub(super) fn access(&self, code: &Code) -> Option<Access> {
        match code.op {
            Op::LoadBuffer => Some(Access::Load(self.accessed(code.at, false)?)),
            Op::StoreBuffer => Some(Access::Store(self.accessed(code.at, true)?)),
            Op::LoadShared | Op::LoadSharedSet => Some(Access::LoadShared),
            Op::StoreShared | Op::StoreSharedSet => Some(Access::StoreShared),
            _ => None,
        }
    }

    /// The scalars that the instruction at that index loads or stores.
    fn accessed(&self, at: u32, stores: bool) -> Option<Types> {
        let i = self.module.instructions().get(at as usize)?;
        let operands = i.operands(self.module.words());
        let pointer = match i.op {
            Core::CopyMemory if stores => operands.first(),
            Core::CopyMemory => operands.get(1),
            Core::Load | Core::Store => operands.first(),
            // Modf and Frexp store through their last operand.
            Core::ExtInst => operands.last(),
            _ => None,
        };
        let (_, type_) = self.module.pointer_type(self.module.type_of(*pointer?)?)?;
        let mut types = Types::default();
        self.module.types().visit_scalars(type_, &mut |type_| match type_ {
            Type::Float { width: 32 } => types.floats = true,
            _ => types.others = true,
        });
        Some(types)
    }
}

/// Lends the sets and notes that all warps of a workgroup share to the warp that runs. The first
/// warp owns them. A second call gives them back.
pub(super) fn lend(warps: &mut [Warp], at: usize) {
    let Ok([first, other]) = warps.get_disjoint_mut([0, at]) else { return };
    if let (Some(first), Some(other)) = (&mut first.ledger, &mut other.ledger) {
        std::mem::swap(&mut first.sets, &mut other.sets);
        std::mem::swap(&mut first.memory, &mut other.memory);
    }
}

impl Warp {
    /// An access to shared memory, with its notes.
    pub(super) fn judged_access(
        &mut self,
        ledger: &mut Ledger,
        access: Access,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
    ) -> Done {
        let is_set = matches!(code.op, Op::LoadSharedSet | Op::StoreSharedSet);
        let register = if is_set { At::Set(code.d) } else { At::Column(code.d) };
        let open = if code.a == NONE { 0 } else { ledger.noted_lanes(At::Column(code.a)) & self.active };
        self.leave_to_relation(ledger, open);
        let of_buffer = matches!(access, Access::Load(_) | Access::Store(_));
        let memory = if of_buffer { shared.buffers.memory_of(code.buffer) } else { 0 };
        let word = |warp: &Warp, lane: usize| (memory as u32, warp.address(code, lane) / 4);
        match access {
            Access::Store(types) => {
                let words = shared.buffers.words(memory);
                for lane in column::lanes(self.active) {
                    let at = word(self, lane);
                    if let Some(before) = words.get(at.1 as usize) {
                        ledger.memory.written.entry(at).or_insert((before.load(R), 0)).1 = self.first + lane as u32;
                    }
                }
                self.execute(code, shared, group)?;
                let mut unjudged = 0;
                for lane in column::lanes(self.active) {
                    let bits = self.columns[code.d as usize][lane];
                    let known_trust = ledger.note_of(register, lane);
                    // The bits of a float without a note imply its trust.
                    let trust =
                        known_trust.or_else(|| types.floats.then(|| Trust::of_exact(f32::from_bits(bits)))).unwrap_or(Trust::CERTAIN);
                    let scalar = Scalar { bits: bits.into(), trust, undefined: None };
                    let note = Note::of(&scalar, 4, ledger.sets.profile()).filter(|_| !self.is_undefined(register, lane));
                    unjudged |= Lanes::from(note.is_some() && known_trust.is_none() && types.others) << lane;
                    match note {
                        Some(note) => drop(ledger.memory.buffers.insert(word(self, lane), note)),
                        None => drop(ledger.memory.buffers.remove(&word(self, lane))),
                    }
                }
                self.leave_to_relation(ledger, unjudged);
            }
            Access::Load(types) => {
                self.execute(code, shared, group)?;
                let mut unjudged = 0;
                for lane in column::lanes(self.active) {
                    let bits = self.columns[code.d as usize][lane];
                    let recorded_note = ledger.memory.of(&mut ledger.sets, word(self, lane), bits);
                    ledger.forget(register, 1 << lane);
                    match recorded_note {
                        Ok(None) => {}
                        Ok(Some(note)) if !types.others => ledger.note(register, lane, note.trust()),
                        Ok(Some(note)) if !types.floats => {
                            let found = note.loaded_as(
                                Type::Int { width: 32, signed: false },
                                Scalar { bits: bits.into(), trust: Trust::CERTAIN, undefined: None },
                            );
                            if found.trust != Trust::CERTAIN {
                                ledger.note(register, lane, found.trust);
                            }
                        }
                        _ => unjudged |= 1 << lane,
                    }
                }
                self.leave_to_relation(ledger, unjudged);
            }
            Access::StoreShared => {
                self.execute(code, shared, group)?;
                for lane in column::lanes(self.active) {
                    let at = self.address(code, lane);
                    match ledger.note_of(register, lane).filter(|_| !self.is_undefined(register, lane)) {
                        Some(trust) => drop(ledger.memory.words.insert(at, trust)),
                        None => drop(ledger.memory.words.remove(&at)),
                    }
                }
            }
            Access::LoadShared => {
                self.execute(code, shared, group)?;
                for lane in column::lanes(self.active) {
                    match ledger.memory.words.get(&self.address(code, lane)).copied() {
                        Some(trust) => ledger.note(register, lane, trust),
                        None => ledger.forget(register, 1 << lane),
                    }
                }
            }
        }
        Ok(())
    }
}

/// A word that a part has written.
pub(in crate::spirv) struct Written {
    /// The index of the buffer in the dispatch.
    pub(in crate::spirv) buffer: usize,
    /// The offset of its first byte.
    pub(in crate::spirv) offset: u64,
    /// The word as a float. `None` if some of it is undefined.
    pub(in crate::spirv) float: Option<Lane>,
    /// Whether all devices have a zero there, of either sign.
    pub(in crate::spirv) is_zero: bool,
}

/// A part of a dispatch: a workgroup, or one of its invocations.
pub(in crate::spirv) type Part = (u32, Option<u32>);

/// A dispatch that runs part by part.
pub(in crate::spirv) struct Piecewise<'p> {
    shared: Shared<'p>,
    warps: Vec<Warp>,
    /// The first barrier phase of the next way of a workgroup.
    phases: Phases,
    exploration: Exploration,
}

impl Program {
    /// Prepares a dispatch. `None` if it cannot run over sets part by part.
    pub(in crate::spirv) fn piecewise<'p>(
        &'p self,
        dispatch: &'p Dispatch<'p>,
        exploration: Exploration,
        by_workgroup: bool,
    ) -> Option<Piecewise<'p>> {
        // Parts that are single invocations cannot share Workgroup memory.
        let is_unsupported = self.subgroups || self.synchronises || self.laid_out || self.granule != 4 || self.shared > 0 && !by_workgroup;
        if is_unsupported || dispatch.resources.robustness != Robustness::None || self.refused(dispatch, 0).is_some() {
            return None;
        }
        let shared = self.shared(dispatch, true);
        if shared.buffers.any_doubly_named() {
            return None;
        }
        // Invocations by themselves share one warp.
        let count = if by_workgroup { self.invocations().div_ceil(LANES as u64) as usize } else { 1 };
        let mut warps = Vec::new();
        for _ in 0..count {
            let mut warp = Warp::new(self, false);
            warp.ledger = Some(Box::new(Ledger::new(self, exploration, Some(count))?));
            warps.push(warp);
        }
        let mut parts = Piecewise { shared, warps, phases: Phases::default(), exploration };
        let bounded = dispatch.resources.bounded.iter();
        let initial_sets = bounded.map(|float| ((float.buffer as u32, (float.offset / 4) as u32), float.allowed));
        parts.ledger(0).memory.initial = initial_sets.collect();
        Some(parts)
    }
}

impl Piecewise<'_> {
    /// The number of parts that run side by side.
    pub(in crate::spirv) const SIDE_BY_SIDE: u32 = LANES as u32;

    fn ledger(&mut self, warp: usize) -> &mut Ledger {
        self.warps[warp].ledger.as_mut().expect("every warp has one, from its beginning")
    }

    /// The sets of the last run.
    pub(in crate::spirv) fn take_sets(&mut self) -> Sets {
        let fresh = Sets::before(self.exploration);
        std::mem::replace(&mut self.ledger(0).sets, fresh)
    }

    /// The number of executed instructions.
    pub(in crate::spirv) fn executed(&self) -> u64 {
        self.shared.executed.load(R)
    }

    /// Whether a part that another engine runs may race: it accesses a byte that others write, or
    /// writes one that they access.
    pub(in crate::spirv) fn conflicts(&self, (workgroup, local): Part, buffer: u32, byte: u64, writes: bool) -> bool {
        let invocations_each = self.shared.program.invocations() as u32;
        let invocation = workgroup * invocations_each + local.unwrap_or(0);
        let accessor = Accessor { invocation, workgroup, invocations_each, phase: self.phases.buffers };
        let kind = if writes { AccessKind::Write } else { AccessKind::Read };
        self.shared.shadow.touch(buffer as usize, byte as u32 / 4 * 4, 4, accessor, kind, true)
    }

    /// Sets the most instructions of the next run.
    fn begin(&mut self, fuel: u64) {
        self.shared.fuel = self.executed().saturating_add(fuel);
        self.shared.turns.store(0, R);
        self.ledger(0).memory.clear();
    }

    /// Runs as many invocations of a workgroup as there are lanes, each as a part. Returns what
    /// each has written, and the lanes left to the relation, whose writes do not count.
    ///
    /// # Errors
    /// The time is over, or a part races with another.
    pub(in crate::spirv) fn side_by_side(
        &mut self,
        workgroup: u32,
        first: u32,
        fuel: u64,
    ) -> Result<(Vec<(u32, Written)>, Lanes), Unsettled> {
        self.begin(fuel);
        let count = (self.shared.program.invocations() as u32 - first).min(LANES as u32);
        let exploration = self.exploration;
        self.ledger(0).sets = Sets::before(exploration);
        let run = self.lanes(workgroup, first, count, !0, Parting::Never);
        let all = self.warps[0].all;
        let left = match run {
            Err(Failure::Late(limit)) => return Err(Unsettled::Reached(limit.to_string())),
            Err(_) => all,
            Ok(()) => (self.ledger(0).left_to_relation | self.ledger(0).unsettled) & all,
        };
        let written = self.take_back();
        match self.ledger(0).memory.stopped.take() {
            Some(why) => Err(why),
            None => Ok((written, left)),
        }
    }

    /// Runs some invocations of a workgroup, from the given one on.
    fn lanes(&mut self, workgroup: u32, first: u32, count: u32, wanted: Lanes, parting: Parting) -> Result<(), Failure> {
        let Piecewise { shared, warps, .. } = self;
        let (program, warp) = (shared.program, &mut warps[0]);
        let mut group = program.group(shared, workgroup, &mut DetectorState::default());
        warp.begin(program, shared, &group, first, count);
        if let Some(ledger) = &mut warp.ledger {
            ledger.begin(parting);
        }
        warp.drop_lanes(!wanted);
        match warp.run(shared, &mut group)? {
            Stop::Ended => Ok(()),
            Stop::Waits => Err(Failure::Stuck("an invocation by itself waits for others".into())),
        }
    }

    /// Runs one way of a part. Returns what it has written. `None` if the part is left to another
    /// engine.
    ///
    /// # Errors
    /// The run cannot go on over sets, or the time is over.
    pub(in crate::spirv) fn way(&mut self, part: Part, sets: &mut Sets, fuel: u64) -> Result<Option<Vec<Written>>, Unsettled> {
        self.begin(fuel);
        std::mem::swap(&mut self.ledger(0).sets, sets);
        let run = match part {
            (workgroup, Some(local)) => {
                let first = local / LANES as u32 * LANES as u32;
                let count = (self.shared.program.invocations() as u32 - first).min(LANES as u32);
                self.lanes(workgroup, first, count, 1 << (local - first), Parting::Decides)
            }
            (workgroup, None) => self.whole_workgroup(workgroup),
        };
        let written = self.take_back();
        let is_left =
            self.warps.iter().filter_map(|warp| warp.ledger.as_ref()).any(|ledger| ledger.left_to_relation | ledger.unsettled != 0);
        let stopped = self.ledger(0).memory.stopped.take();
        std::mem::swap(&mut self.ledger(0).sets, sets);
        match (run, stopped) {
            (_, Some(why)) => Err(why),
            (Err(Failure::Late(limit)), _) => Err(Unsettled::Reached(limit.to_string())),
            (Ok(()), None) if !is_left => Ok(Some(written.into_iter().map(|(_, written)| written).collect())),
            _ => Ok(None),
        }
    }

    /// Runs all invocations of a workgroup.
    fn whole_workgroup(&mut self, workgroup: u32) -> Result<(), Failure> {
        let program = self.shared.program;
        let has_several_warps = self.warps.len() > 1;
        for warp in &mut self.warps {
            if let Some(ledger) = &mut warp.ledger {
                ledger.begin(Parting::Decides);
                ledger.keep_all(has_several_warps);
            }
        }
        let mut group = program.group(&self.shared, workgroup, &mut DetectorState::default());
        group.phases = self.phases;
        let result = program.run_group(&self.shared, &mut group, &mut self.warps);
        self.phases.buffers = group.phases.buffers + 1;
        result
    }

    /// Returns the written words with their writers, and restores the buffers.
    fn take_back(&mut self) -> Vec<(u32, Written)> {
        let Piecewise { shared, warps, .. } = self;
        let Some(ledger) = warps[0].ledger.as_mut() else { return Vec::new() };
        let mut words = Vec::new();
        for ((memory, word), (before, writer)) in ledger.memory.written.drain() {
            let (cell, byte) = (&shared.buffers.words(memory as usize)[word as usize], 4 * word);
            let bits = cell.swap(before, R);
            let is_undefined = shared.buffers.has_undefined(memory as usize) && shared.buffers.origin(memory as usize, byte, 4).is_some();
            if is_undefined {
                shared.buffers.set_undefined(memory as usize, byte, 4, None);
            }
            let note = ledger.memory.buffers.get(&(memory, word)).copied();
            let trust = note.map_or(Trust::CERTAIN, |note| note.trust());
            let float = (!is_undefined).then_some(Lane { bits, trust });
            let is_zero = !is_undefined && note.is_some_and(|note| note.is_zero(bits.into()));
            words.push((writer, Written { buffer: memory as usize, offset: byte.into(), float, is_zero }));
        }
        words.sort_unstable_by_key(|(writer, written)| (*writer, written.buffer, written.offset));
        words
    }
}

//! Runs over sets on the lockstep machine: what a conforming device may show beside the definite
//! bits.
//!
//! Columns hold definite bits. A *note* holds what the bits do not imply: the [`Trust`] of one lane
//! of one register, and through it the cell with the set of values. A scalar is *open* if devices
//! may have different values. An instruction without noted operands and results works on whole
//! columns. Otherwise it computes lane by lane with the functions of
//! [`operation`](crate::spirv::operation) and [`Sets`], as the relation does. Copies copy notes.
//!
//! In a draw, a lane that reaches a branch or an OpSelect with an open condition takes both ways.
//! It takes the way of the definite bits first. The other way waits in a pool and starts later from
//! the branch. In a dispatch, [`Parting`] says what happens instead. The machine leaves a lane to
//! the relation where sets cannot tell: an open integer, an undefined value that decides something,
//! or undefined behaviour.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Code, ComputeSite, End, Move, NONE, Op, Program, Slot, Slots};
use super::codes::Done;
use super::parts::{Access, SharedNotes};
use super::quads::{DIFFERENCES, whole};
use super::warp::{Place, RegisterOrLocal, Warp, registers_in};
use super::{Failure, Shared};
use crate::number::sets::{CellId, Exploration, Open, Sets, Truth, Unsettled};
use crate::number::{self, Arithmetic, Lane, Trust, Tuple, Why, integer};
use crate::spirv::operation::{Operand, Scalar as Component, Shape, Signature};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Ub;
use rspirv::spirv::Op as Core;

/// The most bytes that notes may take.
const MAX_NOTE_BYTES: usize = 1 << 28;
/// The number of cells at which unreferenced ones are dropped.
const SWEEP_FROM: usize = 1 << 14;
/// The most ways of one lane, and the most open conditions that it may meet.
pub(in crate::spirv) const WAYS: u32 = 64;

/// The decisions of a lane at its open conditions, in order.
type Decisions = SmallVec<[bool; 8]>;

/// A lane of a quad: the quad's number and the lane's index in the quad.
pub(in crate::spirv) type Tag = (u32, u8);

/// A way that still has to run.
#[derive(Clone, Debug)]
struct Pending {
    tag: Tag,
    /// The decisions so far, including the one at which this way begins.
    decisions: Decisions,
    /// The state of the lane at that point.
    state: LaneState,
}

/// The state of a lane before a code of a block, or at the block's end.
#[derive(Clone, Debug)]
struct LaneState {
    place: Place,
    /// In the order of [`LiveRegisters::live_at`]: bits, or 0 or 1 for a Boolean.
    words: Vec<u32>,
    /// The undefined registers, each with the origin of its value if that is known.
    undefined: Vec<(RegisterOrLocal, Option<Origin>)>,
    notes: Vec<(RegisterOrLocal, Trust)>,
}

/// How a run treats a lane with an open condition, and a lane that the relation has to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// The lane takes both ways. If one lane is left to the relation, so is its quad.
    Quads,
    /// The lane takes both ways. Lanes are independent.
    Ways,
    /// The lane is left to the relation. Lanes are independent.
    Never,
    /// The lane takes the way that the sets decide. If one lane is left to the relation, all are.
    Decides,
}

/// Which registers are live where. Constants are not listed, since nothing writes to them.
#[derive(Clone, Debug)]
struct LiveRegisters {
    /// The registers that may be live at the end of a block.
    at_ends: Vec<RegisterOrLocal>,
    /// By block: the registers that only this block uses, and writes before it reads them.
    block_only: Vec<Vec<RegisterOrLocal>>,
    /// The number of codes of each block.
    codes: Vec<u32>,
}

impl LiveRegisters {
    /// The registers that may be live from that place on.
    fn live_at(&self, (block, code): Place) -> impl Iterator<Item = RegisterOrLocal> {
        let is_within = code < self.codes[block as usize];
        let own = if is_within { &self.block_only[block as usize][..] } else { &[] };
        self.at_ends.iter().chain(own).copied()
    }
}

/// How the notes of a code's operands affect it and its results.
#[derive(Clone, Debug)]
enum Plan {
    /// It copies values, and their notes with them.
    Moves,
    /// It computes floats or Booleans.
    Computes {
        site: u32,
        /// Whether no operand and no result is a float. Then lanes without notes need only columns.
        plain: bool,
    },
    /// It reads texels.
    Image,
    /// It is a derivative.
    Derivative,
    /// It accesses memory that invocations share.
    Shared(Access),
    /// It reads and writes these registers. A lane with a noted operand is left to the relation.
    Columns { reads: SmallVec<[u32; 3]>, writes: SmallVec<[u32; 2]> },
}

/// What is known of a warp's scalars beside their bits.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Ledger {
    /// The cells of all lanes.
    pub(in crate::spirv) sets: Sets,
    plans: Vec<Plan>,
    /// The indices of the first set register and of the first scalar of local memory.
    first_set: usize,
    first_local: usize,
    /// By register: the lanes that have a note.
    noted_lanes: Vec<Lanes>,
    notes: Vec<[Trust; LANES]>,
    /// The notes of shared memory, in a dispatch.
    pub(super) memory: SharedNotes,
    pub(super) parting: Parting,
    /// The lanes that are left to the relation.
    pub(super) left_to_relation: Lanes,
    /// The lanes that have met an open condition, and those of them that met it at a branch rather
    /// than at an OpSelect.
    pub(super) parted: Lanes,
    pub(super) branched: Lanes,
    /// The lanes with ways that will not run, because there are too many.
    pub(super) unsettled: Lanes,
    tags: [Tag; LANES],
    decisions: Vec<Decisions>,
    conditions_met: [u32; LANES],
    /// The ways that still have to run.
    pool: Vec<Pending>,
    /// The length of the pool when this run began.
    pool_before: usize,
    /// States of finished ways, whose memory the next ones use again.
    spare_states: Vec<LaneState>,
    live: LiveRegisters,
    /// The number of cells at which unreferenced ones are dropped next.
    sweep_at: usize,
}

impl Program {
    /// The plan of each code. `None` if some code cannot run over sets. `of_dispatch` admits
    /// accesses to shared memory.
    fn plans(&self, of_dispatch: bool) -> Option<Vec<Plan>> {
        let index = |(is_set, register): (bool, u32)| if is_set { self.columns + register } else { register };
        let plan = |code: &Code| {
            let site = |at: u32| {
                let site = &self.sites[at as usize];
                let float = |shape: &Shape| shape.scalar.is_float();
                let plain = !site.args.iter().any(|(shape, _)| float(shape)) && !site.results.iter().any(float);
                Plan::Computes { site: at, plain }
            };
            let columns = || {
                let (mut writes, mut reads) = (Vec::new(), Vec::new());
                super::super::compile::registers_of(self, code, &mut writes, &mut reads);
                Plan::Columns { reads: reads.into_iter().map(index).collect(), writes: writes.into_iter().map(index).collect() }
            };
            Some(match code.op {
                Op::Copy | Op::CopySet | Op::Select | Op::SelectSet => Plan::Moves,
                Op::LoadLocal | Op::LoadLocalSet | Op::StoreLocal | Op::StoreLocalSet | Op::ForgetLocal => Plan::Moves,
                Op::AddFloat | Op::SubFloat | Op::MulFloat | Op::DivideFloat | Op::NegateFloat => site(code.at),
                Op::AbsFloat | Op::MinFloat | Op::MaxFloat => site(code.at),
                Op::FloatOfSigned | Op::FloatOfUnsigned | Op::SignedOfFloat | Op::UnsignedOfFloat | Op::Bitcast => site(code.at),
                Op::EqualFloat | Op::NotEqualFloat | Op::LessFloat | Op::LessEqualFloat => site(code.at),
                Op::UnorderedEqualFloat | Op::UnorderedNotEqualFloat => site(code.at),
                Op::UnorderedLessFloat | Op::UnorderedLessEqualFloat => site(code.at),
                Op::AndSet | Op::OrSet | Op::EqualSet | Op::NotEqualSet | Op::NotSet | Op::Compute => site(code.at),
                Op::Image => match self.images[code.c as usize].op {
                    Core::ImageWrite => return None,
                    Core::ImageQuerySize | Core::ImageQuerySizeLod | Core::ImageQueryLevels => columns(),
                    _ => Plan::Image,
                },
                Op::Derivative => Plan::Derivative,
                Op::Atomic | Op::Fence => return None,
                _ if of_dispatch && let Some(access) = self.access(code) => Plan::Shared(access),
                Op::StoreBuffer | Op::StoreBuffer16 | Op::StoreBuffer8 => return None,
                Op::LoadShared | Op::LoadSharedSet | Op::StoreShared | Op::StoreSharedSet => return None,
                // Only the relation knows whether a device has the quad together.
                Op::Demote | Op::IsHelper | Op::Group => return None,
                _ => columns(),
            })
        };
        self.codes.iter().map(plan).collect()
    }
}

impl Program {
    fn live_registers(&self) -> LiveRegisters {
        let mut uses: FxHashMap<(bool, u32), (u32, bool)> = FxHashMap::default();
        // A variable with an initializer starts like a constant.
        let mut written: FxHashSet<(bool, u32)> = FxHashSet::default();
        let mut use_register = |register: (bool, u32), block: u32, writes_first: bool| {
            let (first, live) = uses.entry(register).or_insert((block, !writes_first));
            *live |= *first != block;
        };
        for (number, block) in (0..).zip(&self.blocks) {
            let (mut writes, mut reads) = (Vec::new(), Vec::new());
            for code in &self.codes[block.first as usize..block.end as usize] {
                super::super::compile::registers_of(self, code, &mut writes, &mut reads);
                written.extend(&writes);
                reads.drain(..).for_each(|register| use_register(register, number, false));
                writes.drain(..).for_each(|register| use_register(register, number, !code.masked));
            }
        }
        let register = |place: RegisterOrLocal| match place {
            RegisterOrLocal::Column(column) => Some((false, column)),
            RegisterOrLocal::Set(set) => Some((true, set)),
            RegisterOrLocal::Local(_) => None,
        };
        written.extend(self.moves.iter().flat_map(|step| registers_in(step.to)).filter_map(register));
        // Operands of phis, conditions of branches and return addresses of calls.
        let mut live: Vec<(bool, u32)> = uses.iter().filter(|(_, (_, live))| *live).map(|(&register, _)| register).collect();
        let slots = self.moves.iter().flat_map(|step| [step.to, step.from]).flat_map(registers_in);
        let interface = self.interface.iter().flat_map(|held| held.cells.iter().map(|&cell| super::quads::register_of_cell(cell)));
        live.extend(slots.chain(interface).filter_map(register));
        for block in &self.blocks {
            match &block.ends {
                End::Call { link, .. } | End::Return { link, .. } if *link != NONE => live.push((false, *link)),
                End::Conditional { condition, .. } => live.push((true, *condition)),
                End::Switch { selector, .. } => live.extend(registers_in(*selector).filter_map(register)),
                _ => {}
            }
        }
        let constants: FxHashSet<(bool, u32)> = (self.constants.iter())
            .flat_map(|(slot, _)| registers_in(*slot))
            .filter_map(register)
            .filter(|register| !written.contains(register))
            .collect();
        live.sort_unstable();
        live.dedup();
        live.retain(|register| !constants.contains(register));
        let slot = |(is_set, register)| if is_set { RegisterOrLocal::Set(register) } else { RegisterOrLocal::Column(register) };
        let mut block_only = vec![Vec::new(); self.blocks.len()];
        for (&register, &(block, _)) in &uses {
            if !constants.contains(&register) && live.binary_search(&register).is_err() {
                block_only[block as usize].push(slot(register));
            }
        }
        LiveRegisters {
            at_ends: live.into_iter().map(slot).chain((0..self.local).map(RegisterOrLocal::Local)).collect(),
            block_only,
            codes: self.blocks.iter().map(|block| block.end - block.first).collect(),
        }
    }
}

impl Ledger {
    /// Prepares runs of a fragment stage, or of a dispatch with so many warps. `None` if the
    /// program cannot run over sets, or if the notes would take too much memory.
    pub(super) fn new(program: &Program, exploration: Exploration, warps: Option<usize>) -> Option<Ledger> {
        let registers = (program.columns + program.sets + program.local) as usize;
        if registers.saturating_mul(size_of::<[Trust; LANES]>()).saturating_mul(warps.unwrap_or(1)) > MAX_NOTE_BYTES {
            return None;
        }
        Some(Ledger {
            sets: Sets::before(exploration),
            plans: program.plans(warps.is_some())?,
            first_set: program.columns as usize,
            first_local: (program.columns + program.sets) as usize,
            noted_lanes: vec![0; registers],
            notes: vec![[Trust::CERTAIN; LANES]; registers],
            memory: SharedNotes::default(),
            parting: Parting::Quads,
            left_to_relation: 0,
            parted: 0,
            branched: 0,
            unsettled: 0,
            tags: [(0, 0); LANES],
            decisions: vec![Decisions::new(); LANES],
            conditions_met: [0; LANES],
            pool: Vec::new(),
            pool_before: 0,
            spare_states: Vec::new(),
            live: program.live_registers(),
            sweep_at: SWEEP_FROM,
        })
    }

    /// Resets the notes, before the lanes get their inputs.
    pub(super) fn begin(&mut self, parting: Parting) {
        self.noted_lanes.fill(0);
        self.decisions.iter_mut().for_each(Decisions::clear);
        (self.parting, self.left_to_relation, self.parted, self.branched) = (parting, 0, 0, 0);
        (self.unsettled, self.conditions_met) = (0, [0; LANES]);
        self.pool_before = self.pool.len();
        self.sweep();
    }

    /// Keeps all cells from now on if other warps refer to some.
    pub(super) fn keep_all(&mut self, others_hold: bool) {
        self.sweep_at = if others_hold { usize::MAX } else { SWEEP_FROM };
    }

    /// Sets which lane of which quad a lane is.
    pub(super) fn tag(&mut self, lane: usize, tag: Tag) {
        self.tags[lane] = tag;
    }

    /// The number of ways that still have to run.
    pub(super) fn pending(&self) -> usize {
        self.pool.len()
    }

    /// The lanes of the ways that this run has added to the pool.
    pub(super) fn newly_parted(&self) -> impl Iterator<Item = Tag> {
        self.pool[self.pool_before..].iter().map(|pending| pending.tag)
    }

    /// Removes the ways of some lanes from the pool. Returns the quad of each removed way.
    pub(super) fn drop_ways(&mut self, is_dropped: impl Fn(Tag) -> bool) -> Vec<u32> {
        let dropped = self.pool.extract_if(.., |pending| is_dropped(pending.tag));
        let dropped = dropped.map(|pending| pending.tag.0).collect();
        self.pool_before = self.pool_before.min(self.pool.len());
        dropped
    }

    fn at(&self, register: RegisterOrLocal) -> usize {
        match register {
            RegisterOrLocal::Column(column) => column as usize,
            RegisterOrLocal::Set(set) => self.first_set + set as usize,
            RegisterOrLocal::Local(scalar) => self.first_local + scalar as usize,
        }
    }

    pub(super) fn noted_lanes(&self, register: RegisterOrLocal) -> Lanes {
        self.noted_lanes[self.at(register)]
    }

    pub(super) fn note(&mut self, register: RegisterOrLocal, lane: usize, trust: Trust) {
        let at = self.at(register);
        self.noted_lanes[at] |= 1 << lane;
        self.notes[at][lane] = trust;
    }

    pub(super) fn forget(&mut self, register: RegisterOrLocal, lanes: Lanes) {
        let at = self.at(register);
        self.noted_lanes[at] &= !lanes;
    }

    /// The note of a lane, if it has one.
    pub(super) fn note_of(&self, register: RegisterOrLocal, lane: usize) -> Option<Trust> {
        let at = self.at(register);
        (self.noted_lanes[at] >> lane & 1 == 1).then(|| self.notes[at][lane])
    }

    /// Copies the notes of some lanes from one register to another.
    fn move_notes(&mut self, to: RegisterOrLocal, from: RegisterOrLocal, lanes: Lanes) {
        let (to, from) = (self.at(to), self.at(from));
        if to == from {
            return;
        }
        let noted_lanes = self.noted_lanes[from] & lanes;
        self.noted_lanes[to] = self.noted_lanes[to] & !lanes | noted_lanes;
        if noted_lanes != 0 {
            let [target, source] = self.notes.get_disjoint_mut([to, from]).expect("two registers of the program");
            column::lanes(noted_lanes).for_each(|lane| target[lane] = source[lane]);
        }
    }

    /// Drops unreferenced cells, if there are many.
    fn sweep(&mut self) {
        if self.sets.cells() < self.sweep_at {
            return;
        }
        let Ledger { sets, noted_lanes, notes, pool, memory, .. } = self;
        sets.keep_only(|visit| {
            for (&lanes, notes) in noted_lanes.iter().zip(notes) {
                column::lanes(lanes).for_each(|lane| notes[lane].cell.iter_mut().for_each(|id: &mut CellId| visit(id)));
            }
            memory.cells(visit);
            let held = pool.iter_mut().flat_map(|pending| &mut pending.state.notes);
            held.filter_map(|(_, trust)| trust.cell.as_mut()).for_each(visit);
        });
        self.sweep_at = (2 * self.sets.cells()).max(SWEEP_FROM);
    }

    /// Decides for a lane with an open condition, whose definite value is `holds`. Returns the
    /// decision, and whether the other way has to run later.
    fn decide(&mut self, lane: usize, holds: bool) -> (bool, bool) {
        let number = self.conditions_met[lane] as usize;
        self.conditions_met[lane] += 1;
        self.parted |= 1 << lane;
        if let Some(&way) = self.decisions[lane].get(number) {
            return (way, false);
        }
        if number as u32 >= WAYS || self.unsettled >> lane & 1 == 1 {
            self.unsettled |= 1 << lane;
            return (holds, false);
        }
        self.decisions[lane].push(holds);
        (holds, true)
    }

    /// Adds the other way at the lane's last decision to the pool.
    fn postpone(&mut self, lane: usize, state: LaneState) {
        let mut decisions = self.decisions[lane].clone();
        if let Some(last) = decisions.last_mut() {
            *last = !*last;
        }
        self.pool.push(Pending { tag: self.tags[lane], decisions, state });
    }
}

impl Warp {
    /// [`Warp::execute`] over sets.
    pub(super) fn judge(&mut self, number: usize, code: &Code, shared: &Shared<'_>, group: &mut super::Group) -> Done {
        if let Op::Narrow | Op::Widen = code.op {
            return self.execute(code, shared, group);
        }
        let Some(mut ledger) = self.ledger.take() else { return Ok(()) };
        let mut done = Ok(());
        // Lanes that resume in different blocks must not overwrite each other.
        let code = &Code { masked: code.masked || ledger.parting == Parting::Ways, ..*code };
        while self.active != 0 {
            done = match &ledger.plans[number] {
                Plan::Moves => {
                    let of_block = number as u32 - shared.program.blocks[self.block as usize].first;
                    self.judged_move(&mut ledger, of_block, code, shared, group)
                }
                &Plan::Computes { site, plain } => self.judged_site(&mut ledger, (site, plain), code, shared, group),
                Plan::Image => match self.judged_image(&mut ledger, code, shared) {
                    Ok(unjudged) => {
                        self.leave_to_relation(&mut ledger, unjudged);
                        Ok(())
                    }
                    Err(failure) => Err(failure),
                },
                &Plan::Shared(access) => self.judged_access(&mut ledger, access, code, shared, group),
                Plan::Derivative => {
                    let unjudged = self.judged_derivative(&mut ledger, code);
                    self.leave_to_relation(&mut ledger, unjudged);
                    Ok(())
                }
                Plan::Columns { reads, writes } => {
                    let open = reads.iter().fold(0, |set, &at| set | ledger.noted_lanes[at as usize]) & self.active;
                    if open != 0 {
                        self.leave_to_relation(&mut ledger, open);
                        continue;
                    }
                    let (writes, mut written) = (writes.clone(), self.active);
                    if matches!(code.op, Op::Undefine | Op::UndefineSet) && code.a != NONE {
                        // The other lanes keep their values.
                        written &= self.sets[code.a as usize];
                    }
                    let done = self.execute(code, shared, group);
                    writes.iter().for_each(|&at| ledger.noted_lanes[at as usize] &= !written);
                    done
                }
            };
            match &done {
                Err(Failure::Undefined(found)) => {
                    if found.ub == Ub::DataRace {
                        // The race makes the whole run unknown, and is reported once.
                        ledger.memory.stopped = Some(Unsettled::Reached("a way that races with another".into()));
                    }
                    self.leave_to_relation(&mut ledger, 1 << (found.invocation - self.number));
                }
                _ => break,
            }
            done = Ok(());
        }
        self.ledger = Some(ledger);
        done
    }

    /// Leaves lanes to the relation, and with them the lanes that [`Parting`] ties to them.
    pub(super) fn leave_to_relation(&mut self, ledger: &mut Ledger, lanes: Lanes) {
        let mut lanes = lanes;
        match ledger.parting {
            Parting::Quads => {
                let of_quad = lanes | lanes >> 1;
                lanes = ((of_quad | of_quad >> 2) & 0x1111_1111_1111_1111) * 0xf;
            }
            Parting::Decides if lanes != 0 => lanes = self.all,
            _ => {}
        }
        ledger.left_to_relation |= lanes;
        self.drop_lanes(lanes);
    }

    /// Drops unreferenced cells, before a block.
    pub(super) fn sweep(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.sweep();
        }
    }

    /// Resolves a block's condition. Leaves the lanes that cannot go on to the relation. Returns
    /// the lanes in which the condition counts as true.
    pub(super) fn judged_end(&mut self, end: &End) -> Option<Lanes> {
        let mut ledger = self.ledger.take()?;
        let mut truth = None;
        match end {
            End::Conditional { condition, .. } => {
                let undefined = self.sets_undefined[*condition as usize] & self.active;
                self.leave_to_relation(&mut ledger, undefined);
                truth = Some(self.condition_truth(&mut ledger, *condition, None));
            }
            End::Switch { selector, .. } => {
                let open = registers_in(*selector)
                    .fold(0, |set, register| set | *self.undefined_mut(register) | ledger.noted_lanes(register))
                    & self.active;
                self.leave_to_relation(&mut ledger, open);
            }
            End::Unreachable => {
                let all = self.active;
                self.leave_to_relation(&mut ledger, all);
            }
            _ => {}
        }
        self.ledger = Some(ledger);
        truth
    }

    /// The lanes in which a condition counts as true, with a decision for each open lane. The other
    /// way starts at the given code of the block, or at the block's end. The condition stays open:
    /// its next use may be another evaluation.
    fn condition_truth(&mut self, ledger: &mut Ledger, condition: u32, code: Option<u32>) -> Lanes {
        let mut truth = self.sets[condition as usize];
        let noted_lanes = ledger.noted_lanes(RegisterOrLocal::Set(condition)) & self.active;
        if noted_lanes != 0 && matches!(ledger.parting, Parting::Never | Parting::Decides) {
            return self.decided_truth(ledger, condition, noted_lanes);
        }
        for lane in column::lanes(noted_lanes) {
            let (holds, is_other_pending) = ledger.decide(lane, truth >> lane & 1 == 1);
            ledger.branched |= Lanes::from(code.is_none()) << lane;
            truth = truth & !(1 << lane) | u64::from(holds) << lane;
            if is_other_pending {
                let code = code.unwrap_or(ledger.live.codes[self.block as usize]);
                let saved = self.save_lane(ledger, lane, (self.block, code));
                ledger.postpone(lane, saved);
            }
        }
        truth
    }

    /// The lanes in which a condition counts as true, where the sets decide the noted lanes. Leaves
    /// the undecided lanes to the relation.
    fn decided_truth(&mut self, ledger: &mut Ledger, condition: u32, noted_lanes: Lanes) -> Lanes {
        let (mut truth, mut undecided) = (self.sets[condition as usize], 0);
        for lane in column::lanes(noted_lanes) {
            let open = self.lane_in(ledger, Slot::Truth(condition), lane);
            let known = ledger.sets.truth(open);
            let holds = match ledger.parting {
                _ if known != Truth::BOTH => known.may_hold,
                Parting::Decides => match ledger.sets.decide(open) {
                    Ok(holds) => holds,
                    Err(why) => {
                        ledger.memory.stopped = Some(why);
                        undecided |= 1 << lane;
                        break;
                    }
                },
                _ => {
                    undecided |= 1 << lane;
                    continue;
                }
            };
            truth = truth & !(1 << lane) | u64::from(holds) << lane;
        }
        self.leave_to_relation(ledger, undecided);
        truth
    }

    /// The state of a lane at that place.
    fn save_lane(&self, ledger: &mut Ledger, lane: usize, place: Place) -> LaneState {
        let empty = || LaneState { place, words: Vec::new(), undefined: Vec::new(), notes: Vec::new() };
        let mut saved = ledger.spare_states.pop().unwrap_or_else(empty);
        saved.place = place;
        saved.words.clear();
        saved.undefined.clear();
        saved.notes.clear();
        for register in ledger.live.live_at(place) {
            saved.words.push(match register {
                RegisterOrLocal::Column(column) => self.columns[column as usize][lane],
                RegisterOrLocal::Set(set) => (self.sets[set as usize] >> lane & 1) as u32,
                RegisterOrLocal::Local(scalar) => self.local[scalar as usize][lane],
            });
            if self.is_undefined(register, lane) {
                saved.undefined.push((register, self.origins.get(&(register, lane as u8)).copied()));
            } else if let Some(trust) = ledger.note_of(register, lane) {
                saved.notes.push((register, trust));
            }
        }
        saved
    }

    /// Gives ways of the pool to the lanes from 0 on, to resume where they began. Returns their
    /// lanes and quads.
    pub(super) fn take_ways(&mut self) -> Vec<Tag> {
        let Some(mut ledger) = self.ledger.take() else { return Vec::new() };
        let resumed = ledger.pool.split_off(ledger.pool.len().saturating_sub(LANES));
        ledger.pool_before = ledger.pool.len();
        self.all = if resumed.len() >= LANES { !0 } else { (1 << resumed.len()) - 1 };
        let mut tags = Vec::with_capacity(resumed.len());
        for (lane, Pending { tag, decisions, state }) in resumed.into_iter().enumerate() {
            tags.push(tag);
            ledger.tags[lane] = tag;
            // It meets the condition again, and its decision is known by then.
            (ledger.conditions_met[lane], ledger.decisions[lane]) = (decisions.len() as u32 - 1, decisions);
            self.restore_lane(&mut ledger, lane, &state);
            self.wait_at(state.place, 1 << lane);
            ledger.spare_states.push(state);
        }
        self.ledger = Some(ledger);
        tags
    }

    fn restore_lane(&mut self, ledger: &mut Ledger, lane: usize, saved: &LaneState) {
        let set_bit = |lanes: &mut Lanes, bit: u64| *lanes = *lanes & !(1 << lane) | bit << lane;
        for (register, &word) in ledger.live.live_at(saved.place).zip(&saved.words) {
            match register {
                RegisterOrLocal::Column(column) => self.columns[column as usize][lane] = word,
                RegisterOrLocal::Set(set) => set_bit(&mut self.sets[set as usize], word.into()),
                RegisterOrLocal::Local(scalar) => self.local[scalar as usize][lane] = word,
            }
            set_bit(self.undefined_mut(register), 0);
        }
        for &(register, origin) in &saved.undefined {
            set_bit(self.undefined_mut(register), 1);
            origin.map(|origin| self.origins.insert((register, lane as u8), origin));
        }
        for &(register, trust) in &saved.notes {
            ledger.note(register, lane, trust);
        }
    }

    fn judged_move(&mut self, ledger: &mut Ledger, number: u32, code: &Code, shared: &Shared<'_>, group: &mut super::Group) -> Done {
        let register_of =
            |is_set: bool, register: u32| if is_set { RegisterOrLocal::Set(register) } else { RegisterOrLocal::Column(register) };
        let is_set = matches!(code.op, Op::CopySet | Op::SelectSet | Op::LoadLocalSet | Op::StoreLocalSet);
        match code.op {
            Op::Copy | Op::CopySet => {
                if code.d != NONE {
                    ledger.move_notes(register_of(is_set, code.d), register_of(is_set, code.a), self.active);
                }
                self.execute(code, shared, group)
            }
            Op::Select | Op::SelectSet => {
                // An undefined condition selects an undefined value.
                let (before, undefined) = (self.sets[code.c as usize], self.sets_undefined[code.c as usize]);
                let active = self.active;
                self.activate(active & !undefined);
                let truth = self.condition_truth(ledger, code.c, Some(number));
                self.activate(active & !ledger.left_to_relation);
                let chosen = [(code.a, truth & !undefined), (code.b, !truth & !undefined)];
                // The result's register is often that of the other operand.
                let target = register_of(is_set, code.d);
                for (from, lanes) in chosen {
                    ledger.move_notes(target, register_of(is_set, from), lanes & self.active);
                }
                self.sets[code.c as usize] = truth;
                let done = self.execute(code, shared, group);
                if !(is_set && code.c == code.d) {
                    self.sets[code.c as usize] = before;
                }
                done
            }
            Op::ForgetLocal => {
                (code.c..code.c + code.b).for_each(|scalar| ledger.forget(RegisterOrLocal::Local(scalar), self.active));
                self.execute(code, shared, group)
            }
            _ => {
                let open = if code.a == NONE { 0 } else { ledger.noted_lanes(RegisterOrLocal::Column(code.a)) & self.active };
                self.leave_to_relation(ledger, open);
                let stores = matches!(code.op, Op::StoreLocal | Op::StoreLocalSet);
                let register = register_of(is_set, code.d);
                let mut move_at = |scalar: usize, lanes: Lanes| match stores {
                    true => ledger.move_notes(RegisterOrLocal::Local(scalar as u32), register, lanes),
                    false => ledger.move_notes(register, RegisterOrLocal::Local(scalar as u32), lanes),
                };
                match self.same_address(code) {
                    Some(at) => move_at(at, self.active),
                    None => column::lanes(self.active).for_each(|lane| move_at(self.address(code, lane) as usize, 1 << lane)),
                }
                self.execute(code, shared, group)
            }
        }
    }

    fn is_planted(&self) -> bool {
        self.calculator.planted.is_some() || self.calculator.arithmetic.planted.is_some()
    }

    /// The active lanes in which the operands' bits determine the result and its trust. No operand
    /// is noted there. The code has no floats, or it converts a number that the other type
    /// represents exactly.
    fn determined_by_bits(&self, code: &Code, plain: bool, noted_lanes: Lanes, undefined: Lanes) -> Lanes {
        let lanes_where = |holds: &dyn Fn(u32) -> bool| {
            let column = &self.columns[code.a as usize];
            column::lanes(self.active & !noted_lanes & !undefined).filter(|&lane| holds(column[lane])).fold(0, |set, lane| set | 1 << lane)
        };
        // No sign is required of a zero that was an integer.
        let is_exact = |magnitude: u32| (1..=1 << 24).contains(&magnitude);
        let is_within = |float: f32, low: f32, high: f32| float.is_normal() && low < float && float < high;
        match code.op {
            _ if plain => self.active & !noted_lanes,
            _ if self.is_planted() => 0,
            Op::FloatOfSigned => lanes_where(&|bits| is_exact((bits as i32).unsigned_abs())),
            Op::FloatOfUnsigned => lanes_where(&is_exact),
            Op::SignedOfFloat => lanes_where(&|bits| is_within(f32::from_bits(bits), -2_147_483_648.0, 2_147_483_648.0)),
            Op::UnsignedOfFloat => lanes_where(&|bits| is_within(f32::from_bits(bits), -1.0, 4_294_967_296.0)),
            _ => 0,
        }
    }

    /// Computes an instruction: by columns in the lanes where neither operands nor results have
    /// notes, and one by one in the others.
    fn judged_site(
        &mut self,
        ledger: &mut Ledger,
        (number, plain): (u32, bool),
        code: &Code,
        shared: &Shared<'_>,
        group: &mut super::Group,
    ) -> Done {
        let site = &shared.program.sites[number as usize];
        let slots = || site.args.iter().flat_map(|(_, slots)| slots).flat_map(|&slot| registers_in(slot));
        let noted_lanes = slots().fold(0, |set, register| set | ledger.noted_lanes(register)) & self.active;
        let undefined = slots().fold(0, |set, register| set | *self.undefined_mut(register)) & self.active;
        let determined = self.determined_by_bits(code, plain, noted_lanes, undefined);
        if determined != 0 {
            let others = self.active & !determined;
            site.to.iter().flat_map(|&slot| registers_in(slot)).for_each(|register| ledger.forget(register, determined));
            if others == 0 {
                return self.execute(code, shared, group);
            }
            self.activate(determined);
            let done = self.execute(&Code { masked: true, ..*code }, shared, group);
            // A lane with undefined behaviour is dropped, and the code runs again for the rest.
            self.activate(if done.is_ok() { others } else { determined | others });
            done?;
            let done = self.judged_each_lane(ledger, site, undefined);
            self.activate((determined | others) & !ledger.left_to_relation);
            return done;
        }
        self.judged_each_lane(ledger, site, undefined)
    }

    /// Computes an instruction for one active lane after the other.
    fn judged_each_lane(&mut self, ledger: &mut Ledger, site: &ComputeSite, undefined: Lanes) -> Done {
        // The operation, if it is one on floats and Booleans and no test has planted a bug.
        let lane_op = match site.operation.op {
            Some(op) if !self.is_planted() && site.args.iter().all(|(shape, _)| shape.is_lanes()) => Some(op),
            _ => None,
        };
        let mut unjudged = 0;
        let word = |slots: &Slots| if let [Slot::Word(word)] = *slots.as_slice() { Some(word) } else { None };
        let words = match site.args.as_slice() {
            [(_, x), .., (_, y)] | [(_, x @ y)] => word(x).zip(word(y)),
            [] => None,
        };
        match (lane_op, words, site.args.as_slice(), site.to.as_slice()) {
            (Some(op), Some((x, y)), _, &[to]) if undefined & self.active == 0 && ledger.sets.is_simple(op) => {
                use number::Op::{Abs, Add, Max, Min, Mul, Sub};
                // The most frequent operations, each specialised.
                let others = match (op, to) {
                    (Add, Slot::Word(to)) => self.compute_simple(ledger, to, |sets, floats, lane| {
                        sets.plainly(Add, floats.register(x, lane), floats.register(y, lane))
                    }),
                    (Sub, Slot::Word(to)) => self.compute_simple(ledger, to, |sets, floats, lane| {
                        sets.plainly(Sub, floats.register(x, lane), floats.register(y, lane))
                    }),
                    (Mul, Slot::Word(to)) => self.compute_simple(ledger, to, |sets, floats, lane| {
                        sets.plainly(Mul, floats.register(x, lane), floats.register(y, lane))
                    }),
                    (Abs, Slot::Word(to)) => self.compute_simple(ledger, to, |sets, floats, lane| {
                        sets.plainly(Abs, floats.register(x, lane), floats.register(y, lane))
                    }),
                    (Max | Min, Slot::Word(to)) => self.compute_simple(ledger, to, |sets, floats, lane| {
                        sets.plainly(op, floats.register(x, lane), floats.register(y, lane))
                    }),
                    (_, Slot::Truth(to)) => self.compare_simple(ledger, op, [x, y], to),
                    _ => self.active,
                };
                for lane in column::lanes(others) {
                    let (x, y) = (self.float_in(ledger, Slot::Word(x), lane), self.float_in(ledger, Slot::Word(y), lane));
                    match ledger.sets.simple(op, x, y) {
                        Ok(result) => self.put_lane(ledger, to, lane, result),
                        Err(_) => unjudged |= 1 << lane,
                    }
                }
            }
            (None, Some((x, _)), [(from, _)], &[Slot::Word(to)])
                if undefined & self.active == 0
                    && converts_to(site.operation.instruction).is_some()
                    && !self.is_planted()
                    && from.is_lanes()
                    && site.results[0].scalar.width() == 32 =>
            {
                let signed = converts_to(site.operation.instruction) == Some(true);
                for lane in column::lanes(self.active) {
                    let float = self.float_in(ledger, Slot::Word(x), lane);
                    if float.trust.is_decided(ledger.sets.profile()) {
                        unjudged |= Lanes::from(self.judged_lane(ledger, site, lane).is_none()) << lane;
                        continue;
                    }
                    match converted(&ledger.sets, signed, 32, float) {
                        Some(bits) => {
                            self.put(Slot::Word(to), lane, bits);
                            ledger.forget(RegisterOrLocal::Column(to), 1 << lane);
                        }
                        None => unjudged |= 1 << lane,
                    }
                }
            }
            (Some(number::Op::Dot), _, [(_, x), (_, y)], &[Slot::Word(to)]) if undefined & self.active == 0 && ledger.sets.rewrites() => {
                let others = self.compute_simple(ledger, to, |sets, floats, lane| {
                    sets.dot_plainly(x.iter().zip(y).map(|(&x, &y)| [x, y].map(|slot| floats.slot(slot, lane))))
                });
                for lane in column::lanes(others) {
                    let of = |slots: &Slots| -> number::Lanes { slots.iter().map(|&slot| self.float_in(ledger, slot, lane)).collect() };
                    let (x, y) = (of(x), of(y));
                    match ledger.sets.dot(&x, &y) {
                        Ok(result) => self.put_lane(ledger, Slot::Word(to), lane, result),
                        Err(_) => unjudged |= 1 << lane,
                    }
                }
            }
            _ => {
                let operands = || site.args.iter().flat_map(|(_, slots)| slots).copied();
                let noted_lanes = operands().flat_map(registers_in).fold(undefined, |set, register| set | ledger.noted_lanes(register));
                // The last lane with unnoted operands and results without cells: the same bits give
                // the same.
                let mut previous: Option<(usize, SmallVec<[u64; 4]>)> = None;
                for lane in column::lanes(self.active) {
                    let bits = (noted_lanes >> lane & 1 == 0).then(|| operands().map(|slot| self.bits(slot, lane)).collect());
                    if let (Some(bits), Some((previous_lane, previous_bits))) = (&bits, &previous)
                        && bits == previous_bits
                    {
                        site.to.iter().for_each(|&slot| self.copy_lane(ledger, slot, *previous_lane, lane));
                        continue;
                    }
                    let done = match lane_op {
                        Some(op) if undefined >> lane & 1 == 0 => self.judged_lanes(ledger, site, op, lane),
                        _ => None,
                    };
                    if done.or_else(|| self.judged_lane(ledger, site, lane)).is_none() {
                        unjudged |= 1 << lane;
                    } else if site.to.iter().flat_map(|&slot| registers_in(slot)).all(|register| self.has_no_cell(ledger, register, lane)) {
                        previous = bits.map(|bits| (lane, bits)).or(previous);
                    }
                }
            }
        }
        self.leave_to_relation(ledger, unjudged);
        Ok(())
    }

    /// Whether a lane is defined and refers to no cell.
    fn has_no_cell(&self, ledger: &Ledger, register: RegisterOrLocal, lane: usize) -> bool {
        !self.is_undefined(register, lane) && ledger.note_of(register, lane).is_none_or(|trust| trust.cell.is_none())
    }

    /// Copies a defined lane of a register to another lane, with its note.
    fn copy_lane(&mut self, ledger: &mut Ledger, slot: Slot, from: usize, to: usize) {
        self.put(slot, to, self.bits(slot, from));
        for register in registers_in(slot) {
            match ledger.note_of(register, from) {
                Some(trust) => ledger.note(register, to, trust),
                None => ledger.forget(register, 1 << to),
            }
        }
    }

    /// Computes an operation in the active lanes in which it is simple enough for `tell`. Returns
    /// the other lanes.
    #[inline(always)]
    fn compute_simple(&mut self, ledger: &mut Ledger, to: u32, compute: impl Fn(&mut Sets, Floats<'_>, usize) -> Option<Open>) -> Lanes {
        let Ledger { sets, noted_lanes, notes, .. } = ledger;
        let to = to as usize;
        let mut others = 0;
        for lane in column::lanes(self.active) {
            match compute(sets, Floats { columns: &self.columns, noted_lanes, notes }, lane) {
                Some(open) => {
                    self.columns[to][lane] = open.value.to_bits();
                    notes[to][lane] = open.trust();
                }
                None => others |= 1 << lane,
            }
        }
        noted_lanes[to] |= self.active & !others;
        self.undefined[to] &= !(self.active & !others);
        others
    }

    /// Compares two registers in the lanes in which that is simple. Returns the other lanes.
    fn compare_simple(&mut self, ledger: &mut Ledger, op: number::Op, [x, y]: [u32; 2], to: u32) -> Lanes {
        let at = ledger.at(RegisterOrLocal::Set(to));
        let Ledger { sets, noted_lanes, notes, .. } = ledger;
        let (mut truth, mut open, mut others) = (0, 0, 0);
        for lane in column::lanes(self.active) {
            let floats = Floats { columns: &self.columns, noted_lanes, notes };
            match sets.compared_plainly(op, floats.register(x, lane), floats.register(y, lane)) {
                Some((holds, trust)) => {
                    truth |= Lanes::from(holds) << lane;
                    if let Some(trust) = trust {
                        open |= 1 << lane;
                        notes[at][lane] = trust;
                    }
                }
                None => others |= 1 << lane,
            }
        }
        let compared = self.active & !others;
        let set = &mut self.sets[to as usize];
        *set = *set & !compared | truth;
        self.sets_undefined[to as usize] &= !compared;
        noted_lanes[at] = noted_lanes[at] & !compared | open;
        others
    }

    /// Computes a derivative of a column as the relation does. Returns the lanes that are left to
    /// it. Their quad is not whole, an operand is undefined, or a lane may have arrived by another
    /// way.
    fn judged_derivative(&mut self, ledger: &mut Ledger, code: &Code) -> Lanes {
        let (kind, arithmetic) = (code.c as usize % 4, self.calculator.arithmetic);
        let undefined = self.undefined[code.a as usize] & self.active;
        let judged = if ledger.parting == Parting::Quads { whole(whole(self.active) & !ledger.parted & !undefined) } else { 0 };
        for first in column::lanes(judged & 0x1111_1111_1111_1111) {
            let values = [0, 1, 2, 3].map(|of: usize| self.float_in(ledger, Slot::Word(code.a), first + of));
            for (of, own) in DIFFERENCES[kind].into_iter().enumerate() {
                let mut subtract = |[to, from]: [usize; 2]| difference(&arithmetic, &mut ledger.sets, values[to], values[from]);
                let result = match [[3, 2], [3, 1]].get(kind) {
                    None => subtract(own),
                    // A device may use the difference of the other row or column.
                    Some(&other) => {
                        let both = subtract(own).and_then(|own| Ok((own, subtract(other)?)));
                        both.and_then(|(own, other)| either(&mut ledger.sets, own, other))
                    }
                };
                match result {
                    Ok(result) => self.put_lane(ledger, Slot::Word(code.d), first + of, result),
                    Err(_) => ledger.unsettled |= 1 << (first + of),
                }
            }
        }
        self.active & !judged
    }

    /// An operand's scalar in a lane.
    fn scalar_in(&self, ledger: &Ledger, of: Component, slot: Slot, lane: usize, instruction: u32) -> Scalar {
        let exact = Scalar::exact(of, self.bits(slot, lane));
        let undefined =
            registers_in(slot).find(|&register| self.is_undefined(register, lane)).map(|register| self.origin(register, lane, instruction));
        let note = registers_in(slot).next().and_then(|register| ledger.note_of(register, lane));
        Scalar { undefined, trust: note.unwrap_or(exact.trust), ..exact }
    }

    /// A defined 32-bit float.
    #[inline(always)]
    pub(super) fn float_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        let Slot::Word(column) = slot else { return Lane::exact(0.0) };
        let float = f32::from_bits(self.columns[column as usize][lane]);
        match ledger.note_of(RegisterOrLocal::Column(column), lane) {
            Some(trust) => Lane { bits: float.to_bits(), trust },
            None => Lane::exact(float),
        }
    }

    /// A defined float or Boolean.
    fn lane_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        match slot {
            Slot::Truth(set) => {
                let holds = self.sets[set as usize] >> lane & 1 == 1;
                Lane { trust: ledger.note_of(RegisterOrLocal::Set(set), lane).unwrap_or(Trust::CERTAIN), ..Lane::truth(holds) }
            }
            _ => self.float_in(ledger, slot, lane),
        }
    }

    /// Writes a float or Boolean with its note. A decided Boolean needs none.
    #[inline(always)]
    fn put_lane(&mut self, ledger: &mut Ledger, slot: Slot, lane: usize, result: Lane) {
        match slot {
            Slot::Word(column) => {
                self.columns[column as usize][lane] = result.bits;
                self.undefined[column as usize] &= !(1 << lane);
                ledger.note(RegisterOrLocal::Column(column), lane, result.trust);
            }
            Slot::Truth(set) => {
                self.put(slot, lane, result.bits.into());
                match result.trust.is_decided(ledger.sets.profile()) {
                    true => ledger.forget(RegisterOrLocal::Set(set), 1 << lane),
                    false => ledger.note(RegisterOrLocal::Set(set), lane, result.trust),
                }
            }
            Slot::Wide(..) => {}
        }
    }

    /// Computes one lane of an operation on defined floats and Booleans. `None` if a result is
    /// undefined, or needs [`Warp::judged_lane`].
    fn judged_lanes(&mut self, ledger: &mut Ledger, site: &ComputeSite, op: number::Op, lane: usize) -> Option<()> {
        let of = |slots: &Slots| -> number::Lanes { slots.iter().map(|&slot| self.lane_in(ledger, slot, lane)).collect() };
        let args: SmallVec<[number::Lanes; 3]> = site.args.iter().map(|(_, slots)| of(slots)).collect();
        let columns = |k: usize| usize::from(site.args[k].0.columns);
        let profile = ledger.sets.profile();
        let is_open = |lane: &Lane| !lane.trust.is_decided(profile);
        if op == number::Op::Select || site.results.len() != 1 || !self.is_specified(op, &args, columns(0)) {
            return None;
        }
        let tuples: SmallVec<[Tuple<'_>; 3]> = args.iter().enumerate().map(|(k, lanes)| Tuple { lanes, columns: columns(k) }).collect();
        let mut results = self.calculator.arithmetic.apply(op, &tuples);
        if results.iter().any(is_open) {
            let args: SmallVec<[(&[Lane], usize); 3]> = args.iter().enumerate().map(|(k, lanes)| (lanes.as_slice(), columns(k))).collect();
            ledger.sets.widen(site.operation.instruction, &args, &mut results).ok()?;
        }
        for (&slot, mut result) in site.to.iter().zip(results) {
            if is_open(&result) && matches!(slot, Slot::Truth(_)) {
                let truth = ledger.sets.truth(result);
                if truth != Truth::BOTH {
                    result = Lane::truth(truth.may_hold);
                }
            }
            self.put_lane(ledger, slot, lane, result);
        }
        Some(())
    }

    /// Whether the operation's results are defined for these operands.
    fn is_specified(&self, op: number::Op, args: &[number::Lanes], columns: usize) -> bool {
        let Some(first) = args.first() else { return false };
        let floats = |lanes: &[Lane]| -> SmallVec<[f32; 16]> { lanes.iter().map(|lane| lane.float()).collect() };
        if number::float::unspecified_whole(op, &floats(first), columns).is_some() {
            return false;
        }
        (0..first.len()).all(|i| {
            let operands: SmallVec<[f32; 3]> = args.iter().filter_map(|lanes| lanes.get(i)).map(|lane| lane.float()).collect();
            operands.len() < args.len() || number::float::unspecified(op, &operands).is_none()
        })
    }

    /// Writes a scalar, with a note if its bits do not imply its trust.
    pub(super) fn put_scalar(&mut self, ledger: &mut Ledger, of: Component, slot: Slot, lane: usize, scalar: Scalar) {
        if let Some(origin) = scalar.undefined {
            self.put_undefined(slot, lane, origin);
        } else {
            self.put(slot, lane, scalar.bits);
        }
        for register in registers_in(slot) {
            match scalar.undefined.is_none() && scalar.trust != Scalar::exact(of, scalar.bits).trust {
                true => ledger.note(register, lane, scalar.trust),
                false => ledger.forget(register, 1 << lane),
            }
        }
    }

    /// Computes one lane of any instruction. `None` if the lane has to be left to the relation.
    fn judged_lane(&mut self, ledger: &mut Ledger, site: &ComputeSite, lane: usize) -> Option<()> {
        let profile = ledger.sets.profile();
        let scalars: SmallVec<[Scalars; 3]> = (site.args.iter())
            .map(|(shape, slots)| slots.iter().map(|&slot| self.scalar_in(ledger, shape.scalar, slot, lane, site.instruction)).collect())
            .collect();
        let args: SmallVec<[Operand<'_>; 3]> =
            site.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
        let occurrence = self.occurrence(site, lane);
        let is_open = |scalar: &Scalar| scalar.undefined.is_none() && !scalar.trust.is_decided(profile);
        let any_open = scalars.iter().flatten().any(is_open);
        if any_open && (site.operation.signature == Signature::Select || site.no_signed_wrap || site.no_unsigned_wrap) {
            return None;
        }
        if any_open && let Some(signed) = converts_to(site.operation.instruction) {
            let ([float, ..], [result]) = (scalars.first()?.as_slice(), site.results.as_slice()) else { return None };
            let bits = converted(&ledger.sets, signed, result.scalar.width(), lane_of(float))?;
            let scalar = Scalar { bits, trust: Trust::CERTAIN, undefined: None };
            self.put_scalar(ledger, site.results[0].scalar, site.to[0], lane, scalar);
            return Some(());
        }
        let mut results = self.calculator.compute(site.operation, &args, &site.results, occurrence).ok()?;
        if results.iter().any(is_open) {
            // One of two results may be an integer, which has no set.
            let [result] = site.results.as_slice() else { return None };
            if result.is_lanes() && site.args.iter().all(|(shape, _)| shape.is_lanes()) {
                widen(ledger, site, &scalars, &mut results)?;
            }
        }
        let shapes = site.results.iter().flat_map(|shape| std::iter::repeat_n(shape.scalar, shape.lanes().max(1)));
        for ((&slot, mut scalar), of) in site.to.iter().zip(results).zip(shapes) {
            if is_open(&scalar) {
                match of {
                    Component::Float { width: 32 } => {}
                    Component::Bool => {
                        let truth = ledger.sets.truth(scalar.lane());
                        if truth != Truth::BOTH {
                            scalar = Scalar::from(Lane::truth(truth.may_hold));
                        }
                    }
                    _ => return None,
                }
            }
            self.put_scalar(ledger, of, slot, lane, scalar);
        }
        Some(())
    }

    /// Copies notes along an edge, as if all copies happened at once.
    pub(super) fn cross_notes(&mut self, moves: &[Move], overlaps: bool) {
        let active = self.active;
        let Some(ledger) = &mut self.ledger else { return };
        let pairs = || moves.iter().flat_map(|step| registers_in(step.to).zip(registers_in(step.from)));
        if !overlaps {
            return pairs().for_each(|(to, from)| ledger.move_notes(to, from, active));
        }
        let read: Vec<(usize, Lanes, [Trust; LANES])> = pairs()
            .map(|(to, from)| (ledger.at(to), ledger.at(from)))
            .map(|(to, from)| (to, ledger.noted_lanes[from] & active, ledger.notes[from]))
            .collect();
        for (to, noted_lanes, notes) in read {
            ledger.noted_lanes[to] = ledger.noted_lanes[to] & !active | noted_lanes;
            column::lanes(noted_lanes).for_each(|lane| ledger.notes[to][lane] = notes[lane]);
        }
    }

    /// Notes the trust of an input, if its bits do not imply it.
    pub(super) fn note_input(&mut self, register: RegisterOrLocal, lane: usize, of: Component, scalar: &Scalar) {
        let Some(ledger) = &mut self.ledger else { return };
        let plain = [Trust::CERTAIN, Scalar::exact(of, scalar.bits).trust].contains(&scalar.trust);
        match plain || scalar.undefined.is_some() {
            true => ledger.forget(register, 1 << lane),
            false => ledger.note(register, lane, scalar.trust),
        }
    }
}

/// Access to the floats of registers and to their notes.
#[derive(Clone, Copy)]
struct Floats<'r> {
    columns: &'r [Column],
    noted_lanes: &'r [Lanes],
    notes: &'r [[Trust; LANES]],
}

impl<'r> Floats<'r> {
    #[inline(always)]
    fn register(self, register: u32, lane: usize) -> (f32, Option<&'r Trust>) {
        let register = register as usize;
        let note = if self.noted_lanes[register] >> lane & 1 == 1 { Some(&self.notes[register][lane]) } else { None };
        (f32::from_bits(self.columns[register][lane]), note)
    }

    fn slot(self, slot: Slot, lane: usize) -> (f32, Option<&'r Trust>) {
        match slot {
            Slot::Word(register) => self.register(register, lane),
            _ => (f32::NAN, None),
        }
    }
}

/// A difference of two lanes of a quad. No float control that a module declares applies to it, so
/// zeros may have either sign and infinities are in doubt.
fn difference(arithmetic: &Arithmetic, sets: &mut Sets, to: Lane, from: Lane) -> Result<Lane, Unsettled> {
    let operands = [to, from].map(|lane| [lane]);
    let tuples = [&operands[0], &operands[1]].map(|lanes| Tuple { lanes, columns: 1 });
    let mut result = arithmetic.apply(number::Op::Sub, &tuples)[0];
    if !result.float().is_finite() {
        result.trust = result.trust.in_doubt(Why::Derivative);
    }
    result.trust.zero_sign &= result.float() != 0.0;
    if !result.trust.is_decided(sets.profile()) {
        sets.widen(number::Instruction::Core(Core::DPdx as u16), &[(&[to], 1), (&[from], 1)], std::slice::from_mut(&mut result))?;
    }
    Ok(result)
}

/// Either of two differences: the first is definite, and a device may have the second.
fn either(sets: &mut Sets, first: Lane, second: Lane) -> Result<Lane, Unsettled> {
    let unknown = Trust::CERTAIN.in_doubt(Why::Derivative);
    let trust = Trust::selected(unknown, true, first.trust, second.trust, first.bits == second.bits);
    let doubt = trust.doubt.and(first.trust.doubt.or(Some(Why::Derivative)));
    let mut result = Lane { trust: Trust { doubt, cell: None, ..trust }, ..first };
    if !result.trust.is_decided(sets.profile()) {
        let either = sets.operand(first).set.union(sets.operand(second).set);
        if either.is_bounded() {
            result.trust.cell = sets.any_of(first.float(), either, Why::Derivative)?.trust.cell;
        }
    }
    Ok(result)
}

/// A component as an operand of floats. An undefined value may be any float.
fn lane_of(scalar: &Scalar) -> Lane {
    match scalar.undefined {
        None => scalar.lane(),
        Some(_) => Lane { bits: 0, trust: scalar.trust.in_doubt(Why::Domain) },
    }
}

/// Gives cells to the undecided results.
fn widen(ledger: &mut Ledger, site: &ComputeSite, args: &[Scalars], results: &mut Scalars) -> Option<()> {
    let operands: SmallVec<[number::Lanes; 3]> = args.iter().map(|scalars| scalars.iter().map(lane_of).collect()).collect();
    let operands: SmallVec<[(&[Lane], usize); 3]> =
        operands.iter().zip(&site.args).map(|(lanes, (shape, _))| (lanes.as_slice(), usize::from(shape.columns))).collect();
    let mut lanes: number::Lanes = results.iter().map(lane_of).collect();
    ledger.sets.widen(site.operation.instruction, &operands, &mut lanes).ok()?;
    for (scalar, lane) in results.iter_mut().zip(lanes).filter(|(scalar, _)| scalar.undefined.is_none()) {
        scalar.trust = lane.trust;
    }
    Some(())
}

/// For a conversion from float to integer: whether the integer is signed.
fn converts_to(instruction: number::Instruction) -> Option<bool> {
    match instruction {
        number::Instruction::Core(opcode) if opcode == Core::ConvertFToS as u16 => Some(true),
        number::Instruction::Core(opcode) if opcode == Core::ConvertFToU as u16 => Some(false),
        _ => None,
    }
}

/// An open float, converted to an integer of that width. `None` unless all floats of its set
/// convert to one integer in range.
fn converted(sets: &Sets, signed: bool, width: u8, float: Lane) -> Option<u64> {
    let (limit, set) = (f64::from(width), sets.operand(float).set);
    let (low, high) = if signed { (-(limit - 1.0).exp2(), (limit - 1.0).exp2()) } else { (-1.0, limit.exp2()) };
    let hull = set.hull().filter(|hull| set.is_bounded() && low < hull.low && hull.high < high)?;
    let is_one = hull.low.trunc() == hull.high.trunc() && hull.low.abs() < 9e18;
    is_one.then(|| hull.low.trunc() as i64 as u64 & integer::mask(width))
}

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
use super::super::program::{Code, End, Move, NONE, Op, Program, Site, Slot, Slots};
use super::codes::Done;
use super::parts::{Access, SharedNotes};
use super::quads::{DIFFERENCES, whole};
use super::warp::{Place, RegisterOrLocal, Warp, kept};
use super::{Failure, Shared};
use crate::number::sets::{CellId, Exploration, Open, Sets, Truth, Unsettled};
use crate::number::{self, Arithmetic, Lane, Trust, Tuple, Why, integer};
use crate::spirv::operation::{Operand, Scalar as Component, Shape, Signature};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Ub;
use rspirv::spirv::Op as Core;

/// The most bytes that notes may take.
const MOST: usize = 1 << 28;
/// The number of cells at which unreferenced ones are dropped.
const CELLS: usize = 1 << 14;
/// The most ways of one lane, and the most open conditions that it may meet.
pub(in crate::spirv) const WAYS: u32 = 64;

/// The decisions of a lane at its open conditions, in order.
type Ways = SmallVec<[bool; 8]>;

/// A lane of a quad: the quad's number and the lane's index in the quad.
pub(in crate::spirv) type Tag = (u32, u8);

/// A way that still has to run.
#[derive(Clone, Debug)]
struct Pending {
    tag: Tag,
    /// The decisions so far, including the one at which this way begins.
    ways: Ways,
    /// The state of the lane at that point.
    from: LaneState,
}

/// The state of a lane before a code of a block, or at the block's end.
#[derive(Clone, Debug)]
struct LaneState {
    at: Place,
    /// In the order of [`Lasting::held_at`]: bits, or 0 or 1 for a Boolean.
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
struct Lasting {
    /// The registers that may be live at the end of a block.
    blocks: Vec<RegisterOrLocal>,
    /// By block: the registers that only this block uses, and writes before it reads them.
    own: Vec<Vec<RegisterOrLocal>>,
    /// The number of codes of each block.
    codes: Vec<u32>,
}

impl Lasting {
    /// The registers that may be live from that place on.
    fn held_at(&self, (block, code): Place) -> impl Iterator<Item = RegisterOrLocal> {
        let is_within = code < self.codes[block as usize];
        let own = if is_within { &self.own[block as usize][..] } else { &[] };
        self.blocks.iter().chain(own).copied()
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
    noted: Vec<Lanes>,
    notes: Vec<[Trust; LANES]>,
    /// The notes of shared memory, in a dispatch.
    pub(super) memory: SharedNotes,
    pub(super) parting: Parting,
    /// The lanes that are left to the relation.
    pub(super) left: Lanes,
    /// The lanes that have met an open condition, and those of them that met it at a branch rather
    /// than at an OpSelect.
    pub(super) parted: Lanes,
    pub(super) branched: Lanes,
    /// The lanes with ways that will not run, because there are too many.
    pub(super) unsettled: Lanes,
    tags: [Tag; LANES],
    ways: Vec<Ways>,
    met: [u32; LANES],
    /// The ways that still have to run.
    pool: Vec<Pending>,
    /// The length of the pool when this run began.
    before: usize,
    /// States of finished ways, whose memory the next ones use again.
    spare: Vec<LaneState>,
    lasting: Lasting,
    /// The number of cells at which unreferenced ones are dropped next.
    full: usize,
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
    fn lasting(&self) -> Lasting {
        let mut named: FxHashMap<(bool, u32), (u32, bool)> = FxHashMap::default();
        // A variable with an initializer starts like a constant.
        let mut written: FxHashSet<(bool, u32)> = FxHashSet::default();
        let mut name = |register: (bool, u32), block: u32, makes: bool| {
            let (first, lasts) = named.entry(register).or_insert((block, !makes));
            *lasts |= *first != block;
        };
        for (number, block) in (0..).zip(&self.blocks) {
            let (mut writes, mut reads) = (Vec::new(), Vec::new());
            for code in &self.codes[block.first as usize..block.end as usize] {
                super::super::compile::registers_of(self, code, &mut writes, &mut reads);
                written.extend(&writes);
                reads.drain(..).for_each(|register| name(register, number, false));
                writes.drain(..).for_each(|register| name(register, number, !code.masked));
            }
        }
        let register = |kept: RegisterOrLocal| match kept {
            RegisterOrLocal::Column(column) => Some((false, column)),
            RegisterOrLocal::Set(set) => Some((true, set)),
            RegisterOrLocal::Local(_) => None,
        };
        written.extend(self.moves.iter().flat_map(|step| kept(step.to)).filter_map(register));
        // Operands of phis, conditions of branches and return addresses of calls.
        let mut lasts: Vec<(bool, u32)> = named.iter().filter(|(_, (_, lasts))| *lasts).map(|(&register, _)| register).collect();
        let slots = self.moves.iter().flat_map(|step| [step.to, step.from]).flat_map(kept);
        let interface = self.interface.iter().flat_map(|held| held.cells.iter().map(|&cell| super::quads::kept_in(cell)));
        lasts.extend(slots.chain(interface).filter_map(register));
        for block in &self.blocks {
            match &block.ends {
                End::Call { link, .. } | End::Return { link, .. } if *link != NONE => lasts.push((false, *link)),
                End::Conditional { condition, .. } => lasts.push((true, *condition)),
                End::Switch { selector, .. } => lasts.extend(kept(*selector).filter_map(register)),
                _ => {}
            }
        }
        let constants: FxHashSet<(bool, u32)> = (self.constants.iter())
            .flat_map(|(slot, _)| kept(*slot))
            .filter_map(register)
            .filter(|register| !written.contains(register))
            .collect();
        lasts.sort_unstable();
        lasts.dedup();
        lasts.retain(|register| !constants.contains(register));
        let slot = |(is_set, register)| if is_set { RegisterOrLocal::Set(register) } else { RegisterOrLocal::Column(register) };
        let mut own = vec![Vec::new(); self.blocks.len()];
        for (&register, &(block, _)) in &named {
            if !constants.contains(&register) && lasts.binary_search(&register).is_err() {
                own[block as usize].push(slot(register));
            }
        }
        Lasting {
            blocks: lasts.into_iter().map(slot).chain((0..self.local).map(RegisterOrLocal::Local)).collect(),
            own,
            codes: self.blocks.iter().map(|block| block.end - block.first).collect(),
        }
    }
}

impl Ledger {
    /// Prepares runs of a fragment stage, or of a dispatch with so many warps. `None` if the
    /// program cannot run over sets, or if the notes would take too much memory.
    pub(super) fn new(program: &Program, exploration: Exploration, warps: Option<usize>) -> Option<Ledger> {
        let registers = (program.columns + program.sets + program.local) as usize;
        if registers.saturating_mul(size_of::<[Trust; LANES]>()).saturating_mul(warps.unwrap_or(1)) > MOST {
            return None;
        }
        Some(Ledger {
            sets: Sets::before(exploration),
            plans: program.plans(warps.is_some())?,
            first_set: program.columns as usize,
            first_local: (program.columns + program.sets) as usize,
            noted: vec![0; registers],
            notes: vec![[Trust::CERTAIN; LANES]; registers],
            memory: SharedNotes::default(),
            parting: Parting::Quads,
            left: 0,
            parted: 0,
            branched: 0,
            unsettled: 0,
            tags: [(0, 0); LANES],
            ways: vec![Ways::new(); LANES],
            met: [0; LANES],
            pool: Vec::new(),
            before: 0,
            spare: Vec::new(),
            lasting: program.lasting(),
            full: CELLS,
        })
    }

    /// Resets the notes, before the lanes get their inputs.
    pub(super) fn begin(&mut self, parting: Parting) {
        self.noted.fill(0);
        self.ways.iter_mut().for_each(Ways::clear);
        (self.parting, self.left, self.parted, self.branched) = (parting, 0, 0, 0);
        (self.unsettled, self.met) = (0, [0; LANES]);
        self.before = self.pool.len();
        self.sweep();
    }

    /// Keeps all cells from now on if other warps refer to some.
    pub(super) fn keep_all(&mut self, others_hold: bool) {
        self.full = if others_hold { usize::MAX } else { CELLS };
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
    pub(super) fn parted_now(&self) -> impl Iterator<Item = Tag> {
        self.pool[self.before..].iter().map(|pending| pending.tag)
    }

    /// Removes the ways of some lanes from the pool. Returns the quad of each removed way.
    pub(super) fn drop_ways(&mut self, is_dropped: impl Fn(Tag) -> bool) -> Vec<u32> {
        let dropped = self.pool.extract_if(.., |pending| is_dropped(pending.tag));
        let dropped = dropped.map(|pending| pending.tag.0).collect();
        self.before = self.before.min(self.pool.len());
        dropped
    }

    fn at(&self, kept: RegisterOrLocal) -> usize {
        match kept {
            RegisterOrLocal::Column(column) => column as usize,
            RegisterOrLocal::Set(set) => self.first_set + set as usize,
            RegisterOrLocal::Local(scalar) => self.first_local + scalar as usize,
        }
    }

    pub(super) fn noted(&self, kept: RegisterOrLocal) -> Lanes {
        self.noted[self.at(kept)]
    }

    pub(super) fn note(&mut self, kept: RegisterOrLocal, lane: usize, trust: Trust) {
        let at = self.at(kept);
        self.noted[at] |= 1 << lane;
        self.notes[at][lane] = trust;
    }

    pub(super) fn forget(&mut self, kept: RegisterOrLocal, lanes: Lanes) {
        let at = self.at(kept);
        self.noted[at] &= !lanes;
    }

    /// The note of a lane, if it has one.
    pub(super) fn noted_trust(&self, kept: RegisterOrLocal, lane: usize) -> Option<Trust> {
        let at = self.at(kept);
        (self.noted[at] >> lane & 1 == 1).then(|| self.notes[at][lane])
    }

    /// Copies the notes of some lanes from one register to another.
    fn move_notes(&mut self, to: RegisterOrLocal, from: RegisterOrLocal, lanes: Lanes) {
        let (to, from) = (self.at(to), self.at(from));
        if to == from {
            return;
        }
        let noted = self.noted[from] & lanes;
        self.noted[to] = self.noted[to] & !lanes | noted;
        if noted != 0 {
            let [target, source] = self.notes.get_disjoint_mut([to, from]).expect("two registers of the program");
            column::lanes(noted).for_each(|lane| target[lane] = source[lane]);
        }
    }

    /// Drops unreferenced cells, if there are many.
    fn sweep(&mut self) {
        if self.sets.cells() < self.full {
            return;
        }
        let Ledger { sets, noted, notes, pool, memory, .. } = self;
        sets.keep_only(|visit| {
            for (&lanes, notes) in noted.iter().zip(notes) {
                column::lanes(lanes).for_each(|lane| notes[lane].cell.iter_mut().for_each(|id: &mut CellId| visit(id)));
            }
            memory.cells(visit);
            let held = pool.iter_mut().flat_map(|pending| &mut pending.from.notes);
            held.filter_map(|(_, trust)| trust.cell.as_mut()).for_each(visit);
        });
        self.full = (2 * self.sets.cells()).max(CELLS);
    }

    /// Decides for a lane with an open condition, whose definite value is `holds`. Returns the
    /// decision, and whether the other way has to run later.
    fn part(&mut self, lane: usize, holds: bool) -> (bool, bool) {
        let met = self.met[lane] as usize;
        self.met[lane] += 1;
        self.parted |= 1 << lane;
        if let Some(&way) = self.ways[lane].get(met) {
            return (way, false);
        }
        if met as u32 >= WAYS || self.unsettled >> lane & 1 == 1 {
            self.unsettled |= 1 << lane;
            return (holds, false);
        }
        self.ways[lane].push(holds);
        (holds, true)
    }

    /// Adds the other way at the lane's last decision to the pool.
    fn postpone(&mut self, lane: usize, from: LaneState) {
        let mut ways = self.ways[lane].clone();
        if let Some(last) = ways.last_mut() {
            *last = !*last;
        }
        self.pool.push(Pending { tag: self.tags[lane], ways, from });
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
                    Ok(lost) => {
                        self.leave(&mut ledger, lost);
                        Ok(())
                    }
                    Err(broken) => Err(broken),
                },
                &Plan::Shared(access) => self.judged_access(&mut ledger, access, code, shared, group),
                Plan::Derivative => {
                    let lost = self.judged_derivative(&mut ledger, code);
                    self.leave(&mut ledger, lost);
                    Ok(())
                }
                Plan::Columns { reads, writes } => {
                    let open = reads.iter().fold(0, |set, &at| set | ledger.noted[at as usize]) & self.active;
                    if open != 0 {
                        self.leave(&mut ledger, open);
                        continue;
                    }
                    let (writes, mut written) = (writes.clone(), self.active);
                    if matches!(code.op, Op::Undefine | Op::UndefineSet) && code.a != NONE {
                        // The other lanes keep their values.
                        written &= self.sets[code.a as usize];
                    }
                    let done = self.execute(code, shared, group);
                    writes.iter().for_each(|&at| ledger.noted[at as usize] &= !written);
                    done
                }
            };
            match &done {
                Err(Failure::Undefined(met)) => {
                    if met.ub == Ub::DataRace {
                        // The race makes the whole run unknown, and is reported once.
                        ledger.memory.stopped = Some(Unsettled::Reached("a way that races with another".into()));
                    }
                    self.leave(&mut ledger, 1 << (met.invocation - self.number));
                }
                _ => break,
            }
            done = Ok(());
        }
        self.ledger = Some(ledger);
        done
    }

    /// Leaves lanes to the relation, and with them the lanes that [`Parting`] ties to them.
    pub(super) fn leave(&mut self, ledger: &mut Ledger, lanes: Lanes) {
        let mut lanes = lanes;
        match ledger.parting {
            Parting::Quads => {
                let of_quad = lanes | lanes >> 1;
                lanes = ((of_quad | of_quad >> 2) & 0x1111_1111_1111_1111) * 0xf;
            }
            Parting::Decides if lanes != 0 => lanes = self.all,
            _ => {}
        }
        ledger.left |= lanes;
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
        let mut ways = None;
        match end {
            End::Conditional { condition, .. } => {
                let undefined = self.sets_undefined[*condition as usize] & self.active;
                self.leave(&mut ledger, undefined);
                ways = Some(self.ways(&mut ledger, *condition, None));
            }
            End::Switch { selector, .. } => {
                let open = kept(*selector).fold(0, |set, kept| set | *self.undefined_mut(kept) | ledger.noted(kept)) & self.active;
                self.leave(&mut ledger, open);
            }
            End::Unreachable => {
                let all = self.active;
                self.leave(&mut ledger, all);
            }
            _ => {}
        }
        self.ledger = Some(ledger);
        ways
    }

    /// The lanes in which a condition counts as true, with a decision for each open lane. The other
    /// way starts at the given code of the block, or at the block's end. The condition stays open:
    /// its next use may be another evaluation.
    fn ways(&mut self, ledger: &mut Ledger, condition: u32, code: Option<u32>) -> Lanes {
        let mut truth = self.sets[condition as usize];
        let noted = ledger.noted(RegisterOrLocal::Set(condition)) & self.active;
        if noted != 0 && matches!(ledger.parting, Parting::Never | Parting::Decides) {
            return self.decided(ledger, condition, noted);
        }
        for lane in column::lanes(noted) {
            let (holds, again) = ledger.part(lane, truth >> lane & 1 == 1);
            ledger.branched |= Lanes::from(code.is_none()) << lane;
            truth = truth & !(1 << lane) | u64::from(holds) << lane;
            if again {
                let code = code.unwrap_or(ledger.lasting.codes[self.block as usize]);
                let held = self.hold(ledger, lane, (self.block, code));
                ledger.postpone(lane, held);
            }
        }
        truth
    }

    /// The lanes in which a condition counts as true, where the sets decide the noted lanes. Leaves
    /// the undecided lanes to the relation.
    fn decided(&mut self, ledger: &mut Ledger, condition: u32, noted: Lanes) -> Lanes {
        let (mut truth, mut left) = (self.sets[condition as usize], 0);
        for lane in column::lanes(noted) {
            let open = self.lane_in(ledger, Slot::Truth(condition), lane);
            let known = ledger.sets.truth(open);
            let holds = match ledger.parting {
                _ if known != Truth::BOTH => known.may_hold,
                Parting::Decides => match ledger.sets.decide(open) {
                    Ok(holds) => holds,
                    Err(why) => {
                        ledger.memory.stopped = Some(why);
                        left |= 1 << lane;
                        break;
                    }
                },
                _ => {
                    left |= 1 << lane;
                    continue;
                }
            };
            truth = truth & !(1 << lane) | u64::from(holds) << lane;
        }
        self.leave(ledger, left);
        truth
    }

    /// The state of a lane at that place.
    fn hold(&self, ledger: &mut Ledger, lane: usize, at: Place) -> LaneState {
        let nothing = || LaneState { at, words: Vec::new(), undefined: Vec::new(), notes: Vec::new() };
        let mut held = ledger.spare.pop().unwrap_or_else(nothing);
        held.at = at;
        held.words.clear();
        held.undefined.clear();
        held.notes.clear();
        for kept in ledger.lasting.held_at(at) {
            held.words.push(match kept {
                RegisterOrLocal::Column(column) => self.columns[column as usize][lane],
                RegisterOrLocal::Set(set) => (self.sets[set as usize] >> lane & 1) as u32,
                RegisterOrLocal::Local(scalar) => self.local[scalar as usize][lane],
            });
            if self.is_undefined(kept, lane) {
                held.undefined.push((kept, self.origins.get(&(kept, lane as u8)).copied()));
            } else if let Some(trust) = ledger.noted_trust(kept, lane) {
                held.notes.push((kept, trust));
            }
        }
        held
    }

    /// Gives ways of the pool to the lanes from 0 on, to resume where they began. Returns their
    /// lanes and quads.
    pub(super) fn take_ways(&mut self) -> Vec<Tag> {
        let Some(mut ledger) = self.ledger.take() else { return Vec::new() };
        let some = ledger.pool.split_off(ledger.pool.len().saturating_sub(LANES));
        ledger.before = ledger.pool.len();
        self.all = if some.len() >= LANES { !0 } else { (1 << some.len()) - 1 };
        let mut whose = Vec::with_capacity(some.len());
        for (lane, Pending { tag, ways, from }) in some.into_iter().enumerate() {
            whose.push(tag);
            ledger.tags[lane] = tag;
            // It meets the condition again, and its decision is known by then.
            (ledger.met[lane], ledger.ways[lane]) = (ways.len() as u32 - 1, ways);
            self.put_back(&mut ledger, lane, &from);
            self.wait_at(from.at, 1 << lane);
            ledger.spare.push(from);
        }
        self.ledger = Some(ledger);
        whose
    }

    fn put_back(&mut self, ledger: &mut Ledger, lane: usize, held: &LaneState) {
        let keep = |lanes: &mut Lanes, bit: u64| *lanes = *lanes & !(1 << lane) | bit << lane;
        for (kept, &word) in ledger.lasting.held_at(held.at).zip(&held.words) {
            match kept {
                RegisterOrLocal::Column(column) => self.columns[column as usize][lane] = word,
                RegisterOrLocal::Set(set) => keep(&mut self.sets[set as usize], word.into()),
                RegisterOrLocal::Local(scalar) => self.local[scalar as usize][lane] = word,
            }
            keep(self.undefined_mut(kept), 0);
        }
        for &(kept, origin) in &held.undefined {
            keep(self.undefined_mut(kept), 1);
            origin.map(|origin| self.origins.insert((kept, lane as u8), origin));
        }
        for &(kept, trust) in &held.notes {
            ledger.note(kept, lane, trust);
        }
    }

    fn judged_move(&mut self, ledger: &mut Ledger, number: u32, code: &Code, shared: &Shared<'_>, group: &mut super::Group) -> Done {
        let kept = |is_set: bool, register: u32| if is_set { RegisterOrLocal::Set(register) } else { RegisterOrLocal::Column(register) };
        let is_set = matches!(code.op, Op::CopySet | Op::SelectSet | Op::LoadLocalSet | Op::StoreLocalSet);
        match code.op {
            Op::Copy | Op::CopySet => {
                if code.d != NONE {
                    ledger.move_notes(kept(is_set, code.d), kept(is_set, code.a), self.active);
                }
                self.execute(code, shared, group)
            }
            Op::Select | Op::SelectSet => {
                // An undefined condition selects an undefined value.
                let (before, undefined) = (self.sets[code.c as usize], self.sets_undefined[code.c as usize]);
                let active = self.active;
                self.activate(active & !undefined);
                let truth = self.ways(ledger, code.c, Some(number));
                self.activate(active & !ledger.left);
                let chosen = [(code.a, truth & !undefined), (code.b, !truth & !undefined)];
                // The result's register is often that of the other operand.
                let target = kept(is_set, code.d);
                for (from, lanes) in chosen {
                    ledger.move_notes(target, kept(is_set, from), lanes & self.active);
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
                let open = if code.a == NONE { 0 } else { ledger.noted(RegisterOrLocal::Column(code.a)) & self.active };
                self.leave(ledger, open);
                let stores = matches!(code.op, Op::StoreLocal | Op::StoreLocalSet);
                let register = kept(is_set, code.d);
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
    fn told_by_bits(&self, code: &Code, plain: bool, noted: Lanes, undefined: Lanes) -> Lanes {
        let fits = |fits: &dyn Fn(u32) -> bool| {
            let column = &self.columns[code.a as usize];
            column::lanes(self.active & !noted & !undefined).filter(|&lane| fits(column[lane])).fold(0, |set, lane| set | 1 << lane)
        };
        // No sign is required of a zero that was an integer.
        let is_exact = |magnitude: u32| (1..=1 << 24).contains(&magnitude);
        let is_within = |float: f32, low: f32, high: f32| float.is_normal() && low < float && float < high;
        match code.op {
            _ if plain => self.active & !noted,
            _ if self.is_planted() => 0,
            Op::FloatOfSigned => fits(&|bits| is_exact((bits as i32).unsigned_abs())),
            Op::FloatOfUnsigned => fits(&is_exact),
            Op::SignedOfFloat => fits(&|bits| is_within(f32::from_bits(bits), -2_147_483_648.0, 2_147_483_648.0)),
            Op::UnsignedOfFloat => fits(&|bits| is_within(f32::from_bits(bits), -1.0, 4_294_967_296.0)),
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
        let slots = || site.args.iter().flat_map(|(_, slots)| slots).flat_map(|&slot| kept(slot));
        let noted = slots().fold(0, |set, kept| set | ledger.noted(kept)) & self.active;
        let undefined = slots().fold(0, |set, kept| set | *self.undefined_mut(kept)) & self.active;
        let told = self.told_by_bits(code, plain, noted, undefined);
        if told != 0 {
            let others = self.active & !told;
            site.to.iter().flat_map(|&slot| kept(slot)).for_each(|kept| ledger.forget(kept, told));
            if others == 0 {
                return self.execute(code, shared, group);
            }
            self.activate(told);
            let done = self.execute(&Code { masked: true, ..*code }, shared, group);
            // A lane with undefined behaviour is dropped, and the code runs again for the rest.
            self.activate(if done.is_ok() { others } else { told | others });
            done?;
            let done = self.judged_lanes_of(ledger, site, undefined);
            self.activate((told | others) & !ledger.left);
            return done;
        }
        self.judged_lanes_of(ledger, site, undefined)
    }

    /// Computes an instruction for one active lane after the other.
    fn judged_lanes_of(&mut self, ledger: &mut Ledger, site: &Site, undefined: Lanes) -> Done {
        // The operation, if it is one on floats and Booleans and no test has planted a bug.
        let by_lanes = match site.operation.op {
            Some(op) if !self.is_planted() && site.args.iter().all(|(shape, _)| shape.is_lanes()) => Some(op),
            _ => None,
        };
        let mut lost = 0;
        let word = |slots: &Slots| if let [Slot::Word(word)] = *slots.as_slice() { Some(word) } else { None };
        let words = match site.args.as_slice() {
            [(_, x), .., (_, y)] | [(_, x @ y)] => word(x).zip(word(y)),
            [] => None,
        };
        match (by_lanes, words, site.args.as_slice(), site.to.as_slice()) {
            (Some(op), Some((x, y)), _, &[to]) if undefined & self.active == 0 && ledger.sets.is_simple(op) => {
                use number::Op::{Abs, Add, Max, Min, Mul, Sub};
                // The most frequent operations, each specialised.
                let others = match (op, to) {
                    (Add, Slot::Word(to)) => {
                        self.told_plainly(ledger, to, |sets, of, lane| sets.plainly(Add, of.register(x, lane), of.register(y, lane)))
                    }
                    (Sub, Slot::Word(to)) => {
                        self.told_plainly(ledger, to, |sets, of, lane| sets.plainly(Sub, of.register(x, lane), of.register(y, lane)))
                    }
                    (Mul, Slot::Word(to)) => {
                        self.told_plainly(ledger, to, |sets, of, lane| sets.plainly(Mul, of.register(x, lane), of.register(y, lane)))
                    }
                    (Abs, Slot::Word(to)) => {
                        self.told_plainly(ledger, to, |sets, of, lane| sets.plainly(Abs, of.register(x, lane), of.register(y, lane)))
                    }
                    (Max | Min, Slot::Word(to)) => {
                        self.told_plainly(ledger, to, |sets, of, lane| sets.plainly(op, of.register(x, lane), of.register(y, lane)))
                    }
                    (_, Slot::Truth(to)) => self.compared_plainly(ledger, op, [x, y], to),
                    _ => self.active,
                };
                for lane in column::lanes(others) {
                    let (x, y) = (self.float_in(ledger, Slot::Word(x), lane), self.float_in(ledger, Slot::Word(y), lane));
                    match ledger.sets.simple(op, x, y) {
                        Ok(result) => self.put_lane(ledger, to, lane, result),
                        Err(_) => lost |= 1 << lane,
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
                        lost |= Lanes::from(self.judged_lane(ledger, site, lane).is_none()) << lane;
                        continue;
                    }
                    match converted(&ledger.sets, signed, 32, float) {
                        Some(bits) => {
                            self.put(Slot::Word(to), lane, bits);
                            ledger.forget(RegisterOrLocal::Column(to), 1 << lane);
                        }
                        None => lost |= 1 << lane,
                    }
                }
            }
            (Some(number::Op::Dot), _, [(_, x), (_, y)], &[Slot::Word(to)]) if undefined & self.active == 0 && ledger.sets.rewrites() => {
                let others = self.told_plainly(ledger, to, |sets, of, lane| {
                    sets.dot_plainly(x.iter().zip(y).map(|(&x, &y)| [x, y].map(|slot| of.slot(slot, lane))))
                });
                for lane in column::lanes(others) {
                    let of = |slots: &Slots| -> number::Lanes { slots.iter().map(|&slot| self.float_in(ledger, slot, lane)).collect() };
                    let (x, y) = (of(x), of(y));
                    match ledger.sets.dot(&x, &y) {
                        Ok(result) => self.put_lane(ledger, Slot::Word(to), lane, result),
                        Err(_) => lost |= 1 << lane,
                    }
                }
            }
            _ => {
                let operands = || site.args.iter().flat_map(|(_, slots)| slots).copied();
                let noted = operands().flat_map(kept).fold(undefined, |set, kept| set | ledger.noted(kept));
                // The last lane with unnoted operands and results without cells: the same bits give
                // the same.
                let mut like: Option<(usize, SmallVec<[u64; 4]>)> = None;
                for lane in column::lanes(self.active) {
                    let bits = (noted >> lane & 1 == 0).then(|| operands().map(|slot| self.bits(slot, lane)).collect());
                    if let (Some(bits), Some((like, of_like))) = (&bits, &like)
                        && bits == of_like
                    {
                        site.to.iter().for_each(|&slot| self.copy_lane(ledger, slot, *like, lane));
                        continue;
                    }
                    let done = match by_lanes {
                        Some(op) if undefined >> lane & 1 == 0 => self.judged_lanes(ledger, site, op, lane),
                        _ => None,
                    };
                    if done.or_else(|| self.judged_lane(ledger, site, lane)).is_none() {
                        lost |= 1 << lane;
                    } else if site.to.iter().flat_map(|&slot| kept(slot)).all(|kept| self.has_no_cell(ledger, kept, lane)) {
                        like = bits.map(|bits| (lane, bits)).or(like);
                    }
                }
            }
        }
        self.leave(ledger, lost);
        Ok(())
    }

    /// Whether a lane is defined and refers to no cell.
    fn has_no_cell(&self, ledger: &Ledger, kept: RegisterOrLocal, lane: usize) -> bool {
        !self.is_undefined(kept, lane) && ledger.noted_trust(kept, lane).is_none_or(|trust| trust.cell.is_none())
    }

    /// Copies a defined lane of a register to another lane, with its note.
    fn copy_lane(&mut self, ledger: &mut Ledger, slot: Slot, from: usize, to: usize) {
        self.put(slot, to, self.bits(slot, from));
        for kept in kept(slot) {
            match ledger.noted_trust(kept, from) {
                Some(trust) => ledger.note(kept, to, trust),
                None => ledger.forget(kept, 1 << to),
            }
        }
    }

    /// Computes an operation in the active lanes in which it is simple enough for `tell`. Returns
    /// the other lanes.
    #[inline(always)]
    fn told_plainly(&mut self, ledger: &mut Ledger, to: u32, tell: impl Fn(&mut Sets, Floats<'_>, usize) -> Option<Open>) -> Lanes {
        let Ledger { sets, noted, notes, .. } = ledger;
        let to = to as usize;
        let mut others = 0;
        for lane in column::lanes(self.active) {
            match tell(sets, Floats { columns: &self.columns, noted, notes }, lane) {
                Some(open) => {
                    self.columns[to][lane] = open.value.to_bits();
                    notes[to][lane] = open.trust();
                }
                None => others |= 1 << lane,
            }
        }
        noted[to] |= self.active & !others;
        self.undefined[to] &= !(self.active & !others);
        others
    }

    /// Compares two registers in the lanes in which that is simple. Returns the other lanes.
    fn compared_plainly(&mut self, ledger: &mut Ledger, op: number::Op, [x, y]: [u32; 2], to: u32) -> Lanes {
        let at = ledger.at(RegisterOrLocal::Set(to));
        let Ledger { sets, noted, notes, .. } = ledger;
        let (mut truth, mut open, mut others) = (0, 0, 0);
        for lane in column::lanes(self.active) {
            let floats = Floats { columns: &self.columns, noted, notes };
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
        let told = self.active & !others;
        let set = &mut self.sets[to as usize];
        *set = *set & !told | truth;
        self.sets_undefined[to as usize] &= !told;
        noted[at] = noted[at] & !told | open;
        others
    }

    /// Computes a derivative of a column as the relation does. Returns the lanes that are left to
    /// it. Their quad is not whole, an operand is undefined, or a lane may have arrived by another
    /// way.
    fn judged_derivative(&mut self, ledger: &mut Ledger, code: &Code) -> Lanes {
        let (kind, arithmetic) = (code.c as usize % 4, self.calculator.arithmetic);
        let undefined = self.undefined[code.a as usize] & self.active;
        let here = if ledger.parting == Parting::Quads { whole(whole(self.active) & !ledger.parted & !undefined) } else { 0 };
        for first in column::lanes(here & 0x1111_1111_1111_1111) {
            let values = [0, 1, 2, 3].map(|of: usize| self.float_in(ledger, Slot::Word(code.a), first + of));
            for (of, own) in DIFFERENCES[kind].into_iter().enumerate() {
                let mut of_rows = |[to, from]: [usize; 2]| difference(&arithmetic, &mut ledger.sets, values[to], values[from]);
                let result = match [[3, 2], [3, 1]].get(kind) {
                    None => of_rows(own),
                    // A device may use the difference of the other row or column.
                    Some(&other) => {
                        let both = of_rows(own).and_then(|own| Ok((own, of_rows(other)?)));
                        both.and_then(|(own, other)| either(&mut ledger.sets, own, other))
                    }
                };
                match result {
                    Ok(result) => self.put_lane(ledger, Slot::Word(code.d), first + of, result),
                    Err(_) => ledger.unsettled |= 1 << (first + of),
                }
            }
        }
        self.active & !here
    }

    /// An operand's scalar in a lane.
    fn scalar_in(&self, ledger: &Ledger, of: Component, slot: Slot, lane: usize, instruction: u32) -> Scalar {
        let exact = Scalar::exact(of, self.bits(slot, lane));
        let undefined = kept(slot).find(|&kept| self.is_undefined(kept, lane)).map(|kept| self.origin(kept, lane, instruction));
        let noted = kept(slot).next().and_then(|kept| ledger.noted_trust(kept, lane));
        Scalar { undefined, trust: noted.unwrap_or(exact.trust), ..exact }
    }

    /// A defined 32-bit float.
    #[inline(always)]
    pub(super) fn float_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        let Slot::Word(column) = slot else { return Lane::exact(0.0) };
        let float = f32::from_bits(self.columns[column as usize][lane]);
        match ledger.noted_trust(RegisterOrLocal::Column(column), lane) {
            Some(trust) => Lane { bits: float.to_bits(), trust },
            None => Lane::exact(float),
        }
    }

    /// A defined float or Boolean.
    fn lane_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        match slot {
            Slot::Truth(set) => {
                let holds = self.sets[set as usize] >> lane & 1 == 1;
                Lane { trust: ledger.noted_trust(RegisterOrLocal::Set(set), lane).unwrap_or(Trust::CERTAIN), ..Lane::truth(holds) }
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
    fn judged_lanes(&mut self, ledger: &mut Ledger, site: &Site, op: number::Op, lane: usize) -> Option<()> {
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
            let at: SmallVec<[f32; 3]> = args.iter().filter_map(|lanes| lanes.get(i)).map(|lane| lane.float()).collect();
            at.len() < args.len() || number::float::unspecified(op, &at).is_none()
        })
    }

    /// Writes a scalar, with a note if its bits do not imply its trust.
    pub(super) fn put_scalar(&mut self, ledger: &mut Ledger, of: Component, slot: Slot, lane: usize, scalar: Scalar) {
        if let Some(origin) = scalar.undefined {
            self.put_undefined(slot, lane, origin);
        } else {
            self.put(slot, lane, scalar.bits);
        }
        for kept in kept(slot) {
            match scalar.undefined.is_none() && scalar.trust != Scalar::exact(of, scalar.bits).trust {
                true => ledger.note(kept, lane, scalar.trust),
                false => ledger.forget(kept, 1 << lane),
            }
        }
    }

    /// Computes one lane of any instruction. `None` if the lane has to be left to the relation.
    fn judged_lane(&mut self, ledger: &mut Ledger, site: &Site, lane: usize) -> Option<()> {
        let profile = ledger.sets.profile();
        let scalars: SmallVec<[Scalars; 3]> = (site.args.iter())
            .map(|(shape, slots)| slots.iter().map(|&slot| self.scalar_in(ledger, shape.scalar, slot, lane, site.instruction)).collect())
            .collect();
        let args: SmallVec<[Operand<'_>; 3]> =
            site.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
        let place = self.computed_at(site, lane);
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
        let mut results = self.calculator.compute(site.operation, &args, &site.results, place).ok()?;
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
        let pairs = || moves.iter().flat_map(|step| kept(step.to).zip(kept(step.from)));
        if !overlaps {
            return pairs().for_each(|(to, from)| ledger.move_notes(to, from, active));
        }
        let read: Vec<(usize, Lanes, [Trust; LANES])> = pairs()
            .map(|(to, from)| (ledger.at(to), ledger.at(from)))
            .map(|(to, from)| (to, ledger.noted[from] & active, ledger.notes[from]))
            .collect();
        for (to, noted, notes) in read {
            ledger.noted[to] = ledger.noted[to] & !active | noted;
            column::lanes(noted).for_each(|lane| ledger.notes[to][lane] = notes[lane]);
        }
    }

    /// Notes the trust of an input, if its bits do not imply it.
    pub(super) fn note_input(&mut self, kept: RegisterOrLocal, lane: usize, of: Component, scalar: &Scalar) {
        let Some(ledger) = &mut self.ledger else { return };
        let plain = [Trust::CERTAIN, Scalar::exact(of, scalar.bits).trust].contains(&scalar.trust);
        match plain || scalar.undefined.is_some() {
            true => ledger.forget(kept, 1 << lane),
            false => ledger.note(kept, lane, scalar.trust),
        }
    }
}

/// Access to the floats of registers and to their notes.
#[derive(Clone, Copy)]
struct Floats<'r> {
    columns: &'r [Column],
    noted: &'r [Lanes],
    notes: &'r [[Trust; LANES]],
}

impl<'r> Floats<'r> {
    #[inline(always)]
    fn register(self, register: u32, lane: usize) -> (f32, Option<&'r Trust>) {
        let register = register as usize;
        let note = if self.noted[register] >> lane & 1 == 1 { Some(&self.notes[register][lane]) } else { None };
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
fn widen(ledger: &mut Ledger, site: &Site, args: &[Scalars], results: &mut Scalars) -> Option<()> {
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

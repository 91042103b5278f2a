//! What a device may show where the bits are not all: trust and sets beside columns, lane by lane.
//!
//! A note is kept for a lane of a register whose [`Trust`] does not follow from its bits. Where a
//! code meets no note and makes none, it works on whole columns as it does without. Otherwise each
//! lane is computed by itself, by the functions of [`operation`](crate::spirv::operation)
//! and [`Sets`], which the relation uses too. What moves values moves their notes.
//!
//! In a draw a lane that comes to a branch or an OpSelect whose condition is open goes both ways,
//! one after the other: first as its definite bits say, and the other way later, from where it
//! parted. In a dispatch [`Parting`] says what becomes of it. What sets cannot tell is left to the
//! relation: an open number that is no float, an undefined value that decides something, and
//! undefined behaviour.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Code, End, Move, NONE, Op, Program, Site, Slot, Slots};
use super::codes::Done;
use super::parts::{Access, SharedNotes};
use super::quads::{DIFFERENCES, whole};
use super::warp::{Kept, Place, Warp, kept};
use super::{Broken, Shared};
use crate::number::sets::{CellId, Exploration, Open, Sets, Truth, Unsettled};
use crate::number::{self, Arithmetic, Lane, Trust, Tuple, Why, integer};
use crate::spirv::operation::{Operand, Scalar as Component, Shape, Signature};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Ub;
use rspirv::spirv::Op as Core;

/// The bytes that notes may take.
const MOST: usize = 1 << 28;
/// How many cells there may be before those that nothing holds are dropped.
const CELLS: usize = 1 << 14;
/// How many ways one lane may go.
pub(in crate::spirv) const WAYS: u32 = 64;

/// Which ways a lane goes at the open branches that it comes to, in order.
type Ways = SmallVec<[bool; 8]>;

/// A lane of a quad, by the quad's number and its place there.
pub(in crate::spirv) type Tag = (u32, u8);

/// A way that a lane has not gone.
#[derive(Clone, Debug)]
struct Pending {
    tag: Tag,
    /// The ways at the branches so far, this one among them.
    ways: Ways,
    /// What the lane holds where it parted.
    from: Held,
}

/// What a lane holds before a code of a block, or at its end.
#[derive(Clone, Debug)]
struct Held {
    at: Place,
    /// By [`Lasting::held_at`]: bits, or whether it is true.
    words: Vec<u32>,
    /// The undefined ones, and who made them, if that is known.
    undefined: Vec<(Kept, Option<Origin>)>,
    notes: Vec<(Kept, Trust)>,
}

/// What becomes of a lane whose condition is open, and of others when one is left to the relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// It goes its other way later. The lanes of a quad count together: one that is left takes the
    /// others with it.
    Quads,
    /// It goes its other way later, and is by itself.
    Ways,
    /// It is left, and is by itself.
    Never,
    /// It goes the way that the sets decide on. A lane that is left takes all others with it.
    Decides,
}

/// Which registers are needed again where. Constants, which nothing writes, are none of them.
#[derive(Clone, Debug)]
struct Lasting {
    /// The registers whose contents may outlive a block.
    blocks: Vec<Kept>,
    /// By block: those that it makes before it reads them, and that no other one names.
    own: Vec<Vec<Kept>>,
    /// How many codes each block has.
    codes: Vec<u32>,
}

impl Lasting {
    /// The registers whose contents may be needed from there on.
    fn held_at(&self, (block, code): Place) -> impl Iterator<Item = Kept> {
        let is_within = code < self.codes[block as usize];
        let own = if is_within { &self.own[block as usize][..] } else { &[] };
        self.blocks.iter().chain(own).copied()
    }
}

/// What becomes of the notes at a code.
#[derive(Clone, Debug)]
enum Plan {
    /// Nothing comes of it but what moves.
    Moves,
    /// It computes floats or Booleans.
    Computes {
        site: u32,
        /// Whether no float is among its operands and results, so that without notes
        /// columns do it.
        plain: bool,
    },
    /// It reads texels.
    Image,
    /// It takes differences in quads.
    Derivative,
    /// It accesses memory that invocations share.
    Shared(Access),
    /// It reads and writes these, of which none may be noted.
    Columns { reads: SmallVec<[u32; 3]>, writes: SmallVec<[u32; 2]> },
}

/// What is known of the scalars of a warp beside their bits.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Ledger {
    /// The cells of all lanes.
    pub(in crate::spirv) sets: Sets,
    plans: Vec<Plan>,
    /// Where the notes of sets and of local memory begin.
    first_set: usize,
    first_local: usize,
    /// By register: which lanes have a note.
    noted: Vec<Lanes>,
    notes: Vec<[Trust; LANES]>,
    /// What is known of memory that invocations share, in a dispatch.
    pub(super) memory: SharedNotes,
    pub(super) parting: Parting,
    /// The lanes that are left to the relation.
    pub(super) left: Lanes,
    /// Those that have come to an open branch or an open selection, and those of them that have
    /// come to a branch.
    pub(super) parted: Lanes,
    pub(super) branched: Lanes,
    /// Those of which not all ways will be gone.
    pub(super) unsettled: Lanes,
    tags: [Tag; LANES],
    ways: Vec<Ways>,
    met: [u32; LANES],
    /// Ways that lanes have not gone.
    pool: Vec<Pending>,
    /// Where the ways of this run begin in the pool.
    before: usize,
    /// What those that are gone held, to be filled again.
    spare: Vec<Held>,
    lasting: Lasting,
    /// Cells that nothing holds are dropped where there are so many.
    full: usize,
}

impl Program {
    /// What becomes of notes at each code; none where the program has one that is not judged.
    /// Memory that invocations share is judged in a dispatch alone.
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
                // Whether the quad is together for certain is for the relation.
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
        // A variable with an initializer begins as a constant does.
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
        let register = |kept: Kept| match kept {
            Kept::Column(column) => Some((false, column)),
            Kept::Set(set) => Some((true, set)),
            Kept::Local(_) => None,
        };
        written.extend(self.moves.iter().flat_map(|step| kept(step.to)).filter_map(register));
        // What edges copy, what branches are on, and where calls return to.
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
        let slot = |(is_set, register)| if is_set { Kept::Set(register) } else { Kept::Column(register) };
        let mut own = vec![Vec::new(); self.blocks.len()];
        for (&register, &(block, _)) in &named {
            if !constants.contains(&register) && lasts.binary_search(&register).is_err() {
                own[block as usize].push(slot(register));
            }
        }
        Lasting {
            blocks: lasts.into_iter().map(slot).chain((0..self.local).map(Kept::Local)).collect(),
            own,
            codes: self.blocks.iter().map(|block| block.end - block.first).collect(),
        }
    }
}

impl Ledger {
    /// Before a run that judges a program: a fragment stage, or a dispatch on so many warps. None
    /// if it is not judged here, or would need too much memory.
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

    /// Before the lanes are given their inputs.
    pub(super) fn begin(&mut self, parting: Parting) {
        self.noted.fill(0);
        self.ways.iter_mut().for_each(Ways::clear);
        (self.parting, self.left, self.parted, self.branched) = (parting, 0, 0, 0);
        (self.unsettled, self.met) = (0, [0; LANES]);
        self.before = self.pool.len();
        self.sweep();
    }

    /// Drops no cell from now on, if others than this warp hold some.
    pub(super) fn keep_all(&mut self, others_hold: bool) {
        self.full = if others_hold { usize::MAX } else { CELLS };
    }

    /// Which lane of which quad a lane is.
    pub(super) fn tag(&mut self, lane: usize, tag: Tag) {
        self.tags[lane] = tag;
    }

    /// How many ways are to be gone.
    pub(super) fn pending(&self) -> usize {
        self.pool.len()
    }

    /// Whose ways this run has put in the pool.
    pub(super) fn parted_now(&self) -> impl Iterator<Item = Tag> {
        self.pool[self.before..].iter().map(|pending| pending.tag)
    }

    /// Ways of some lanes are not gone; of which quads, once for each way.
    pub(super) fn drop_ways(&mut self, is_dropped: impl Fn(Tag) -> bool) -> Vec<u32> {
        let dropped = self.pool.extract_if(.., |pending| is_dropped(pending.tag));
        let dropped = dropped.map(|pending| pending.tag.0).collect();
        self.before = self.before.min(self.pool.len());
        dropped
    }

    fn at(&self, kept: Kept) -> usize {
        match kept {
            Kept::Column(column) => column as usize,
            Kept::Set(set) => self.first_set + set as usize,
            Kept::Local(scalar) => self.first_local + scalar as usize,
        }
    }

    pub(super) fn noted(&self, kept: Kept) -> Lanes {
        self.noted[self.at(kept)]
    }

    pub(super) fn note(&mut self, kept: Kept, lane: usize, trust: Trust) {
        let at = self.at(kept);
        self.noted[at] |= 1 << lane;
        self.notes[at][lane] = trust;
    }

    pub(super) fn forget(&mut self, kept: Kept, lanes: Lanes) {
        let at = self.at(kept);
        self.noted[at] &= !lanes;
    }

    /// The note of a lane, if there is one.
    pub(super) fn noted_trust(&self, kept: Kept, lane: usize) -> Option<Trust> {
        let at = self.at(kept);
        (self.noted[at] >> lane & 1 == 1).then(|| self.notes[at][lane])
    }

    /// The notes of lanes move from one register to another.
    fn move_notes(&mut self, to: Kept, from: Kept, lanes: Lanes) {
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

    /// Drops cells that no note holds, if there are many.
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

    /// Which way a lane goes whose condition is open; `holds` is the definite way. And whether it
    /// goes the other one later.
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

    /// The other way of the last branch that a lane has come to is to be gone.
    fn postpone(&mut self, lane: usize, from: Held) {
        let mut ways = self.ways[lane].clone();
        if let Some(last) = ways.last_mut() {
            *last = !*last;
        }
        self.pool.push(Pending { tag: self.tags[lane], ways, from });
    }
}

impl Warp {
    /// [`Warp::execute`] where what a device may show is kept.
    pub(super) fn judge(&mut self, number: usize, code: &Code, shared: &Shared<'_>, group: &mut super::Group) -> Done {
        if let Op::Narrow | Op::Widen = code.op {
            return self.execute(code, shared, group);
        }
        let Some(mut ledger) = self.ledger.take() else { return Ok(()) };
        let mut done = Ok(());
        // Lanes that go on from blocks of their own keep what other lanes make before these.
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
                        // The other lanes keep what they have.
                        written &= self.sets[code.a as usize];
                    }
                    let done = self.execute(code, shared, group);
                    writes.iter().for_each(|&at| ledger.noted[at as usize] &= !written);
                    done
                }
            };
            match &done {
                Err(Broken::Undefined(met)) => {
                    if met.ub == Ub::DataRace {
                        // Nothing is known of any part: what is kept of accesses sees it once.
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

    /// Leaves lanes to the relation, and those that count with them.
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

    /// Before a block: cells are dropped.
    pub(super) fn sweep(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.sweep();
        }
    }

    /// Before a block ends: lanes that it has no way for are left, and the set of a condition is
    /// that of the ways that lanes go. Gives that.
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

    /// Where a condition holds, open lanes going one way, and the other later: from a code of the
    /// block, by its number there, or from its end. The next use of the condition may be of another
    /// evaluation, and is open again.
    fn ways(&mut self, ledger: &mut Ledger, condition: u32, code: Option<u32>) -> Lanes {
        let mut truth = self.sets[condition as usize];
        let noted = ledger.noted(Kept::Set(condition)) & self.active;
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

    /// Where a condition holds that is noted in some lanes, as the sets decide. Lanes for which
    /// they do not are left.
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

    /// What a lane holds there, where it is.
    fn hold(&self, ledger: &mut Ledger, lane: usize, at: Place) -> Held {
        let nothing = || Held { at, words: Vec::new(), undefined: Vec::new(), notes: Vec::new() };
        let mut held = ledger.spare.pop().unwrap_or_else(nothing);
        held.at = at;
        held.words.clear();
        held.undefined.clear();
        held.notes.clear();
        for kept in ledger.lasting.held_at(at) {
            held.words.push(match kept {
                Kept::Column(column) => self.columns[column as usize][lane],
                Kept::Set(set) => (self.sets[set as usize] >> lane & 1) as u32,
                Kept::Local(scalar) => self.local[scalar as usize][lane],
            });
            if self.is_undefined(kept, lane) {
                held.undefined.push((kept, self.origins.get(&(kept, lane as u8)).copied()));
            } else if let Some(trust) = ledger.noted_trust(kept, lane) {
                held.notes.push((kept, trust));
            }
        }
        held
    }

    /// Gives the lanes from 0 on ways of the pool, to go on where they parted. Whose each is.
    pub(super) fn take_ways(&mut self) -> Vec<Tag> {
        let Some(mut ledger) = self.ledger.take() else { return Vec::new() };
        let some = ledger.pool.split_off(ledger.pool.len().saturating_sub(LANES));
        ledger.before = ledger.pool.len();
        self.all = if some.len() >= LANES { !0 } else { (1 << some.len()) - 1 };
        let mut whose = Vec::with_capacity(some.len());
        for (lane, Pending { tag, ways, from }) in some.into_iter().enumerate() {
            whose.push(tag);
            ledger.tags[lane] = tag;
            // It comes to where it parted again, and knows its way.
            (ledger.met[lane], ledger.ways[lane]) = (ways.len() as u32 - 1, ways);
            self.put_back(&mut ledger, lane, &from);
            self.wait_at(from.at, 1 << lane);
            ledger.spare.push(from);
        }
        self.ledger = Some(ledger);
        whose
    }

    fn put_back(&mut self, ledger: &mut Ledger, lane: usize, held: &Held) {
        let keep = |lanes: &mut Lanes, bit: u64| *lanes = *lanes & !(1 << lane) | bit << lane;
        for (kept, &word) in ledger.lasting.held_at(held.at).zip(&held.words) {
            match kept {
                Kept::Column(column) => self.columns[column as usize][lane] = word,
                Kept::Set(set) => keep(&mut self.sets[set as usize], word.into()),
                Kept::Local(scalar) => self.local[scalar as usize][lane] = word,
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
        let kept = |is_set: bool, register: u32| if is_set { Kept::Set(register) } else { Kept::Column(register) };
        let is_set = matches!(code.op, Op::CopySet | Op::SelectSet | Op::LoadLocalSet | Op::StoreLocalSet);
        match code.op {
            Op::Copy | Op::CopySet => {
                if code.d != NONE {
                    ledger.move_notes(kept(is_set, code.d), kept(is_set, code.a), self.active);
                }
                self.execute(code, shared, group)
            }
            Op::Select | Op::SelectSet => {
                // An undefined condition chooses an undefined value.
                let (before, undefined) = (self.sets[code.c as usize], self.sets_undefined[code.c as usize]);
                let active = self.active;
                self.activate(active & !undefined);
                let truth = self.ways(ledger, code.c, Some(number));
                self.activate(active & !ledger.left);
                let chosen = [(code.a, truth & !undefined), (code.b, !truth & !undefined)];
                // The other operand is often the result's register.
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
                (code.c..code.c + code.b).for_each(|scalar| ledger.forget(Kept::Local(scalar), self.active));
                self.execute(code, shared, group)
            }
            _ => {
                let open = if code.a == NONE { 0 } else { ledger.noted(Kept::Column(code.a)) & self.active };
                self.leave(ledger, open);
                let stores = matches!(code.op, Op::StoreLocal | Op::StoreLocalSet);
                let register = kept(is_set, code.d);
                let mut move_at = |scalar: usize, lanes: Lanes| match stores {
                    true => ledger.move_notes(Kept::Local(scalar as u32), register, lanes),
                    false => ledger.move_notes(register, Kept::Local(scalar as u32), lanes),
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

    /// The active lanes in which the bits of the operands tell all of a result: none of them is
    /// noted, and Booleans come of Booleans, or a number is converted that the other type has.
    fn told_by_bits(&self, code: &Code, plain: bool, noted: Lanes, undefined: Lanes) -> Lanes {
        let fits = |fits: &dyn Fn(u32) -> bool| {
            let column = &self.columns[code.a as usize];
            column::lanes(self.active & !noted & !undefined).filter(|&lane| fits(column[lane])).fold(0, |set, lane| set | 1 << lane)
        };
        // A zero that was an integer has no sign that a device must keep.
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

    /// An instruction that computes: by columns in the lanes where nothing is noted and nothing
    /// will be, and one by one in the others.
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
            // What behaves as undefined is left, and the rest comes here again.
            self.activate(if done.is_ok() { others } else { told | others });
            done?;
            let done = self.judged_lanes_of(ledger, site, undefined);
            self.activate((told | others) & !ledger.left);
            return done;
        }
        self.judged_lanes_of(ledger, site, undefined)
    }

    /// An instruction that computes, one active lane after the other.
    fn judged_lanes_of(&mut self, ledger: &mut Ledger, site: &Site, undefined: Lanes) -> Done {
        // What an operation of lanes gives, of operands that are all defined.
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
                // The most frequent operations, each compiled by itself.
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
                            ledger.forget(Kept::Column(to), 1 << lane);
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
                // The last lane whose results have no cells, of operands as their bits say.
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

    /// Whether a lane is defined and no set is noted of it.
    fn has_no_cell(&self, ledger: &Ledger, kept: Kept, lane: usize) -> bool {
        !self.is_undefined(kept, lane) && ledger.noted_trust(kept, lane).is_none_or(|trust| trust.cell.is_none())
    }

    /// What one lane of a register holds, and is noted of it, is another one's too. It is defined.
    fn copy_lane(&mut self, ledger: &mut Ledger, slot: Slot, from: usize, to: usize) {
        self.put(slot, to, self.bits(slot, from));
        for kept in kept(slot) {
            match ledger.noted_trust(kept, from) {
                Some(trust) => ledger.note(kept, to, trust),
                None => ledger.forget(kept, 1 << to),
            }
        }
    }

    /// Computes floats and their trust into a register, in the active lanes where the result is
    /// plain. Returns the lanes where it is not.
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

    /// Compares floats of two registers, where that is plain. Returns the lanes where it is not.
    fn compared_plainly(&mut self, ledger: &mut Ledger, op: number::Op, [x, y]: [u32; 2], to: u32) -> Lanes {
        let at = ledger.at(Kept::Set(to));
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

    /// The differences in quads of a column, as the relation has them. Gives the lanes that are
    /// left to it: of quads that are not whole, or with an undefined operand, or of which a lane
    /// may have come here by another way.
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
                    // The other row's or column's too.
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

    /// A scalar of an operand.
    fn scalar_in(&self, ledger: &Ledger, of: Component, slot: Slot, lane: usize, instruction: u32) -> Scalar {
        let exact = Scalar::exact(of, self.bits(slot, lane));
        let undefined = kept(slot).find(|&kept| self.is_undefined(kept, lane)).map(|kept| self.origin(kept, lane, instruction));
        let noted = kept(slot).next().and_then(|kept| ledger.noted_trust(kept, lane));
        Scalar { undefined, trust: noted.unwrap_or(exact.trust), ..exact }
    }

    /// A float of 32 bits that is defined.
    #[inline(always)]
    pub(super) fn float_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        let Slot::Word(column) = slot else { return Lane::exact(0.0) };
        let float = f32::from_bits(self.columns[column as usize][lane]);
        match ledger.noted_trust(Kept::Column(column), lane) {
            Some(trust) => Lane { bits: float.to_bits(), trust },
            None => Lane::exact(float),
        }
    }

    /// A float or Boolean that is defined.
    fn lane_in(&self, ledger: &Ledger, slot: Slot, lane: usize) -> Lane {
        match slot {
            Slot::Truth(set) => {
                let holds = self.sets[set as usize] >> lane & 1 == 1;
                Lane { trust: ledger.noted_trust(Kept::Set(set), lane).unwrap_or(Trust::CERTAIN), ..Lane::truth(holds) }
            }
            _ => self.float_in(ledger, slot, lane),
        }
    }

    /// Puts a float or Boolean in its place; one that is decided to be true or false has no note.
    #[inline(always)]
    fn put_lane(&mut self, ledger: &mut Ledger, slot: Slot, lane: usize, result: Lane) {
        match slot {
            Slot::Word(column) => {
                self.columns[column as usize][lane] = result.bits;
                self.undefined[column as usize] &= !(1 << lane);
                ledger.note(Kept::Column(column), lane, result.trust);
            }
            Slot::Truth(set) => {
                self.put(slot, lane, result.bits.into());
                match result.trust.is_decided(ledger.sets.profile()) {
                    true => ledger.forget(Kept::Set(set), 1 << lane),
                    false => ledger.note(Kept::Set(set), lane, result.trust),
                }
            }
            Slot::Wide(..) => {}
        }
    }

    /// One lane of an operation on floats and Booleans that are all defined. None if a result is
    /// not, or that is not to be told here.
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

    /// Whether an operation of these gives defined results.
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

    /// Puts a scalar in its place, with a note if its trust is not that of its bits.
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

    /// One lane of an instruction. None if that is not to be told here.
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
            // Two results, of which one may be an integer.
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

    /// The notes of the copies of an edge, as if all were copied at once.
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

    /// Notes what is not told by the bits of an input of that type.
    pub(super) fn note_input(&mut self, kept: Kept, lane: usize, of: Component, scalar: &Scalar) {
        let Some(ledger) = &mut self.ledger else { return };
        let plain = [Trust::CERTAIN, Scalar::exact(of, scalar.bits).trust].contains(&scalar.trust);
        match plain || scalar.undefined.is_some() {
            true => ledger.forget(kept, 1 << lane),
            false => ledger.note(kept, lane, scalar.trust),
        }
    }
}

/// The floats of registers, and what is noted of their trust.
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

/// A difference in a quad. Nothing that is declared holds it to a zero's sign, or to more than
/// finite numbers.
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

/// The first of two differences, where a device may have either.
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

/// What a component may be as an operand: an undefined value is anything.
fn lane_of(scalar: &Scalar) -> Lane {
    match scalar.undefined {
        None => scalar.lane(),
        Some(_) => Lane { bits: 0, trust: scalar.trust.in_doubt(Why::Domain) },
    }
}

/// Gives cells to the results that are not decided.
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

/// The type of integer that an instruction converts floats to, if it does: whether it is signed.
fn converts_to(instruction: number::Instruction) -> Option<bool> {
    match instruction {
        number::Instruction::Core(opcode) if opcode == Core::ConvertFToS as u16 => Some(true),
        number::Instruction::Core(opcode) if opcode == Core::ConvertFToU as u16 => Some(false),
        _ => None,
    }
}

/// An open float as an integer of that width: its bits, if all that the float may be has one whole
/// part, which the integer can be.
fn converted(sets: &Sets, signed: bool, width: u8, float: Lane) -> Option<u64> {
    let (limit, set) = (f64::from(width), sets.operand(float).set);
    let (low, high) = if signed { (-(limit - 1.0).exp2(), (limit - 1.0).exp2()) } else { (-1.0, limit.exp2()) };
    let hull = set.hull().filter(|hull| set.is_bounded() && low < hull.low && hull.high < high)?;
    let is_one = hull.low.trunc() == hull.high.trunc() && hull.low.abs() < 9e18;
    is_one.then(|| hull.low.trunc() as i64 as u64 & integer::mask(width))
}

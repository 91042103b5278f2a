//! A warp: 64 invocations of one workgroup side by side, each at its own place in the program.
//!
//! The lanes at the block with the least number run together, and the others wait. Blocks are
//! numbered so that diverged lanes meet again where their control flow merges (see
//! `compile::order`).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::column::{self, Column, LANES, Lanes};
use super::super::program::{Code, Edge, End, Input, Mask, Move, NONE, Op, Program, Slot};
use super::judge::Ledger;
use super::races::Accessor;
use super::{Failure, FoundUb, Group, Shared};
use crate::outcome::TimeLimit;
use crate::spirv::operation::Calculator;
use crate::spirv::report;
use crate::spirv::value::Origin;
use crate::undefined::{Ub, Unspecified};

/// Why a warp stops running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Every lane has returned.
    Ended,
    /// Every lane has returned or is parked at a barrier.
    Waits,
}

/// The dynamic instance of a barrier: the iterations of the loops around it, then the place of the
/// call and the iterations there, and so on outwards.
pub(super) type Path = SmallVec<[u32; 4]>;

/// Lanes that wait at a barrier, which ends a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parked {
    pub(super) block: u32,
    pub(super) lanes: Lanes,
    pub(super) path: Path,
}

/// A place to resume: a block, and the number of its codes that have run. If all have run, only the
/// block's end is left.
pub(super) type Place = (u32, u32);

/// A register or scalar of local memory, as the key of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegisterOrLocal {
    Column(u32),
    Set(u32),
    Local(u32),
}

pub(in super::super) struct Warp {
    pub(super) columns: Vec<Column>,
    pub(super) undefined: Vec<Lanes>,
    pub(super) sets: Vec<Lanes>,
    pub(super) sets_undefined: Vec<Lanes>,
    pub(super) local: Vec<Column>,
    pub(super) local_undefined: Vec<Lanes>,
    /// The origins of undefined scalars. One without an origin is uninitialised, and its first load
    /// makes it.
    pub(super) origins: FxHashMap<(RegisterOrLocal, u8), Origin>,
    /// The active lanes, as a set and as a column.
    pub(super) active: Lanes,
    pub(super) spread: Column,
    /// For each open Narrow: the lanes that its Widen activates again.
    pub(super) narrowed: Vec<Lanes>,
    /// The lanes that hold invocations.
    pub(super) all: Lanes,
    /// The lanes of subgroups whose invocations have taken several paths.
    pub(super) diverged: Lanes,
    /// The helper invocations, and the discarded lanes.
    pub(super) helpers: Lanes,
    pub(super) discarded: Lanes,
    /// The places where lanes wait to run.
    waiting: Vec<(Place, Lanes)>,
    /// The barriers where lanes wait for all others.
    pub(super) parked: Vec<Parked>,
    /// The block that runs.
    pub(super) block: u32,
    /// By block: whether a lane has reached it since the warp was made.
    pub(super) reached: Vec<bool>,
    /// In the second run that reports an error: by lane, how many rules the relation would have
    /// applied, including those of the current block.
    rules: Option<Box<[u64; LANES]>>,
    /// The index in the workgroup of its first lane.
    pub(super) first: u32,
    /// The index in the dispatch of its first lane.
    pub(super) number: u32,
    pub(super) steps: u64,
    /// The instructions since the warp was last begun or resumed, each counted once for all active
    /// lanes.
    turns: u64,
    scratch: Vec<Column>,
    /// The functions that sites compute with.
    pub(super) calculator: Calculator,
    /// In a run over sets: what is known beside the bits.
    pub(super) ledger: Option<Box<Ledger>>,
}

impl Warp {
    pub(super) fn new(program: &Program, exact: bool) -> Warp {
        Warp {
            columns: vec![[0; LANES]; program.columns as usize],
            undefined: vec![0; program.columns as usize],
            sets: vec![0; program.sets as usize],
            sets_undefined: vec![0; program.sets as usize],
            local: vec![[0; LANES]; program.local as usize],
            local_undefined: vec![0; program.local as usize],
            origins: FxHashMap::default(),
            active: 0,
            spread: [0; LANES],
            narrowed: Vec::new(),
            all: 0,
            diverged: 0,
            helpers: 0,
            discarded: 0,
            waiting: Vec::new(),
            parked: Vec::new(),
            block: 0,
            reached: vec![false; program.blocks.len()],
            rules: exact.then(|| Box::new([0; LANES])),
            first: 0,
            number: 0,
            steps: 0,
            turns: 0,
            scratch: Vec::new(),
            calculator: program.calculator,
            ledger: None,
        }
    }

    /// Gives the lanes to `count` invocations of the workgroup, from `first` on.
    pub(super) fn begin(&mut self, program: &Program, shared: &Shared<'_>, group: &Group, first: u32, count: u32) {
        self.origins.clear();
        self.undefined.fill(0);
        self.sets_undefined.fill(0);
        self.local_undefined.fill(!0);
        for &(slot, bits) in &program.constants {
            match slot {
                Slot::Word(column) => self.columns[column as usize] = [bits as u32; LANES],
                Slot::Wide(low, high) => {
                    self.columns[low as usize] = [bits as u32; LANES];
                    self.columns[high as usize] = [(bits >> 32) as u32; LANES];
                }
                Slot::Truth(set) => self.sets[set as usize] = if bits & 1 == 1 { !0 } else { 0 },
            }
        }
        self.first = first;
        self.number = group.number * program.invocations() as u32 + first;
        for &(slot, at) in &program.undefined {
            for register in registers_in(slot) {
                *self.undefined_mut(register) = !0;
                if at != u32::MAX {
                    for lane in 0..LANES as u8 {
                        let invocation = self.number + u32::from(lane);
                        self.origins.insert((register, lane), Origin { kind: Unspecified::Undef, instruction: at, invocation });
                    }
                }
            }
        }
        for &(scalar, bits) in &program.initial_local {
            self.local[scalar as usize] = [bits; LANES];
            self.local_undefined[scalar as usize] = 0;
        }
        self.all = if count as usize >= LANES { !0 } else { (1 << count) - 1 };
        let locals = if program.inputs.is_empty() { [[0; LANES]; 3] } else { locals(program.size, first) };
        for &(column, input) in &program.inputs {
            let column = &mut self.columns[column as usize];
            for (lane, word) in column.iter_mut().enumerate() {
                let local = std::array::from_fn(|axis| locals[axis][lane]);
                *word = value_of(input, program, shared, group.id, first + lane as u32, local);
            }
        }
        (self.steps, self.diverged, self.helpers, self.discarded) = (0, 0, 0, 0);
        self.start(program.entry);
        self.parked.clear();
        if let Some(rules) = &mut self.rules {
            **rules = [0; LANES];
        }
    }

    /// Sends all lanes to the entry point's first block.
    pub(super) fn start(&mut self, entry: u32) {
        self.waiting.clear();
        self.narrowed.clear();
        self.waiting.push(((entry, 0), self.all));
    }

    /// Runs until every lane has returned or waits at a barrier.
    pub(super) fn run(&mut self, shared: &Shared<'_>, group: &mut Group) -> Result<Stop, Failure> {
        let executed = shared.executed.load(std::sync::atomic::Ordering::Relaxed);
        let steps_before = self.steps;
        if let Some(limit) = TimeLimit::passed(shared.dispatch.limits.time) {
            return Err(Failure::Late(limit));
        }
        let turns_before = shared.turns.load(std::sync::atomic::Ordering::Relaxed);
        self.turns = 0;
        // The fuel that is left, as far as this warp knows.
        let fuel = steps_before.saturating_add(shared.fuel.saturating_sub(executed));
        let stop = self.run_to(shared, group, fuel, shared.dispatch.limits.turns.saturating_sub(turns_before));
        shared.executed.fetch_add(self.steps - steps_before, std::sync::atomic::Ordering::Relaxed);
        shared.turns.fetch_add(self.turns, std::sync::atomic::Ordering::Relaxed);
        stop
    }

    fn run_to(&mut self, shared: &Shared<'_>, group: &mut Group, fuel: u64, turns: u64) -> Result<Stop, Failure> {
        let (program, time) = (shared.program, shared.dispatch.limits.time);
        while let Some(((mut block, mut code), active)) = self.next() {
            self.activate(active);
            if program.subgroups {
                self.diverged |= self.partly_active(shared.subgroup);
            }
            loop {
                let body = &program.blocks[block as usize];
                self.block = block;
                self.reached[block as usize] = true;
                // The instructions of a block are counted when lanes enter it.
                let (count, rules) = if code == 0 { (u64::from(body.count), u64::from(body.rules)) } else { (0, 0) };
                if let Some(rules_by_lane) = &mut self.rules {
                    column::lanes(self.active).for_each(|lane| rules_by_lane[lane] += rules);
                }
                self.steps += count * u64::from(self.active.count_ones());
                self.turns += count;
                if self.steps > fuel || self.turns > turns {
                    return Err(Failure::OutOfFuel);
                }
                if let Some(limit) = TimeLimit::passed_between(time, self.turns - count, self.turns) {
                    return Err(Failure::Late(limit));
                }
                let mut truth_by_ways = None;
                if self.ledger.is_none() {
                    let codes = &program.codes[body.first as usize..body.end as usize];
                    for (number, code) in codes.iter().enumerate() {
                        if let Err(failure) = self.execute(code, shared, group) {
                            return Err(self.first_failure(failure, &codes[number..], shared, group));
                        }
                    }
                } else {
                    self.sweep();
                    for number in (body.first + code) as usize..body.end as usize {
                        self.judge(number, &program.codes[number], shared, group)?;
                    }
                    truth_by_ways = self.judged_end(&body.ends);
                    if self.active == 0 {
                        break;
                    }
                }
                let edge = match &body.ends {
                    End::Branch(edge) => edge,
                    End::Conditional { condition, taken, otherwise } => {
                        let doubtful = self.sets_undefined[*condition as usize] & self.active;
                        if doubtful != 0 {
                            return Err(self.undefined_control(shared, body.at, RegisterOrLocal::Set(*condition), doubtful));
                        }
                        let truth = truth_by_ways.unwrap_or(self.sets[*condition as usize]);
                        let (yes, no) = (self.active & truth, self.active & !truth);
                        if yes != 0 && no != 0 {
                            self.send(program, taken, yes);
                            self.send(program, otherwise, no);
                            break;
                        }
                        if yes != 0 { taken } else { otherwise }
                    }
                    End::Switch { selector, cases, default } => {
                        self.switch(shared, body.at, *selector, cases, default)?;
                        break;
                    }
                    End::Call { edge, link, then } => {
                        self.cross(program, edge);
                        for lane in column::lanes(self.active) {
                            self.columns[*link as usize][lane] = *then;
                        }
                        self.wait(edge.target, self.active);
                        break;
                    }
                    End::Return { link: NONE, .. } => break,
                    End::Return { link, edge } => {
                        self.cross(program, edge);
                        let mut remaining = self.active;
                        while remaining != 0 {
                            let to = self.columns[*link as usize][remaining.trailing_zeros() as usize];
                            let same =
                                column::lanes(remaining).filter(|&l| self.columns[*link as usize][l] == to).fold(0, |s, l| s | 1 << l);
                            self.wait(to, same);
                            remaining &= !same;
                        }
                        break;
                    }
                    End::Barrier { .. } => {
                        self.park(program, block);
                        break;
                    }
                    End::SubgroupBarrier { then, scope, semantics } => {
                        self.meet(shared, group, *scope, semantics)?;
                        self.wait(*then, self.active);
                        break;
                    }
                    End::Discard => {
                        self.discarded |= self.active;
                        break;
                    }
                    End::Unreachable => {
                        return Err(self.failure(shared, Ub::Unreachable, report::UNREACHABLE.to_string(), body.at, self.active));
                    }
                };
                self.cross(program, edge);
                if self.waiting.is_empty() {
                    (block, code) = (edge.target, 0);
                    continue;
                }
                self.wait(edge.target, self.active);
                break;
            }
        }
        Ok(if self.parked.is_empty() { Stop::Ended } else { Stop::Waits })
    }

    /// What ends a dispatch, after a lane did so within Narrow. That code ran for the lanes of one
    /// buffer. An earlier lane of another buffer may do so at the same instruction, and counts
    /// instead.
    #[cold]
    fn first_failure(&mut self, failure: Failure, rest: &[Code], shared: &Shared<'_>, group: &mut Group) -> Failure {
        let mut first = failure;
        if self.narrowed.is_empty() {
            return first;
        }
        for (last, code) in rest.iter().zip(&rest[1..]) {
            let goes_on = !self.narrowed.is_empty() || code.op == Op::Narrow && code.at == last.at;
            let (Failure::Undefined(found), true) = (&first, goes_on) else { break };
            let before = (1 << (found.invocation - self.number)) - 1;
            self.narrowed.iter_mut().for_each(|lanes| *lanes &= before);
            self.activate(self.active & before);
            if let Err(failure) = self.execute(code, shared, group) {
                first = failure;
            }
        }
        first
    }

    /// Parks the active lanes at the barrier that ends a block.
    fn park(&mut self, program: &Program, block: u32) {
        if let Some(path) = self.common_path(program, block) {
            return self.park_at(block, self.active, path);
        }
        for lane in column::lanes(self.active) {
            self.park_at(block, 1 << lane, self.path(program, block, lane));
        }
    }

    fn park_at(&mut self, block: u32, lanes: Lanes, path: Path) {
        match self.parked.iter_mut().find(|parked| parked.block == block && parked.path == path) {
            Some(there) => there.lanes |= lanes,
            None => self.parked.push(Parked { block, lanes, path }),
        }
    }

    /// Whether all its lanes are parked at one barrier, in the same instance as those.
    pub(super) fn waits_with(&self, others: &Parked) -> bool {
        matches!(self.parked.as_slice(), [own] if own.lanes == self.all && own.block == others.block && own.path == others.path)
    }

    /// Resumes the parked lanes.
    pub(super) fn release(&mut self, program: &Program) {
        for Parked { block, lanes, .. } in std::mem::take(&mut self.parked) {
            if let End::Barrier { then, .. } = program.blocks[block as usize].ends {
                self.wait(then, lanes);
            }
        }
    }

    /// The dynamic instance of a block in a lane.
    fn path(&self, program: &Program, block: u32, lane: usize) -> Path {
        self.walk(program, block, |column| Some(self.columns[column as usize][lane])).unwrap_or_default()
    }

    /// The dynamic instance of a block, if all active lanes have the same.
    fn common_path(&self, program: &Program, block: u32) -> Option<Path> {
        self.walk(program, block, |column| column::uniform(&self.columns[column as usize], self.active, &self.spread))
    }

    fn walk(&self, program: &Program, mut block: u32, word: impl Fn(u32) -> Option<u32>) -> Option<Path> {
        let mut path = Path::new();
        while let Some(instance) = program.instances.get(&block) {
            for &count in &instance.counts {
                path.push(word(count)?);
            }
            if instance.link == NONE {
                break;
            }
            block = word(instance.link)?;
            path.push(block);
        }
        Some(path)
    }

    /// Takes the waiting lanes at the least place. They run next.
    fn next(&mut self) -> Option<(Place, Lanes)> {
        let least = (0..self.waiting.len()).min_by_key(|&at| self.waiting[at].0)?;
        Some(self.waiting.swap_remove(least))
    }

    pub(super) fn wait(&mut self, block: u32, lanes: Lanes) {
        self.wait_at((block, 0), lanes);
    }

    pub(super) fn wait_at(&mut self, place: Place, lanes: Lanes) {
        match self.waiting.iter_mut().find(|(at, _)| *at == place) {
            Some((_, there)) => *there |= lanes,
            None => self.waiting.push((place, lanes)),
        }
    }

    /// Removes lanes for good.
    pub(super) fn drop_lanes(&mut self, lanes: Lanes) {
        self.activate(self.active & !lanes);
        self.narrowed.iter_mut().for_each(|before| *before &= !lanes);
        self.waiting.iter_mut().for_each(|(_, waiting)| *waiting &= !lanes);
        self.waiting.retain(|(_, waiting)| *waiting != 0);
    }

    pub(super) fn activate(&mut self, lanes: Lanes) {
        if self.active != lanes {
            self.active = lanes;
            self.spread = column::spread(lanes);
        }
    }

    /// Sends some of the active lanes along an edge.
    pub(super) fn send(&mut self, program: &Program, edge: &Edge, lanes: Lanes) {
        let active = self.active;
        if edge.first != edge.end {
            self.activate(lanes);
            self.cross(program, edge);
            self.activate(active);
        }
        self.wait(edge.target, lanes);
    }

    fn switch(&mut self, shared: &Shared<'_>, at: u32, selector: Slot, cases: &[(u64, Edge)], default: &Edge) -> Result<(), Failure> {
        for register in registers_in(selector) {
            let doubtful = *self.undefined_mut(register) & self.active;
            if doubtful != 0 {
                return Err(self.undefined_control(shared, at, register, doubtful));
            }
        }
        let mut remaining = self.active;
        while remaining != 0 {
            let value = self.bits(selector, remaining.trailing_zeros() as usize);
            let same = column::lanes(remaining).filter(|&lane| self.bits(selector, lane) == value).fold(0, |s, l| s | 1 << l);
            let edge = cases.binary_search_by_key(&value, |&(literal, _)| literal).map_or(default, |at| &cases[at].1);
            self.send(shared.program, edge, same);
            remaining &= !same;
        }
        Ok(())
    }

    /// The bits of a scalar in a lane.
    #[inline]
    pub(super) fn bits(&self, slot: Slot, lane: usize) -> u64 {
        match slot {
            Slot::Word(column) => u64::from(self.columns[column as usize][lane]),
            Slot::Wide(low, high) => u64::from(self.columns[low as usize][lane]) | u64::from(self.columns[high as usize][lane]) << 32,
            Slot::Truth(set) => self.sets[set as usize] >> lane & 1,
        }
    }

    pub(super) fn undefined_mut(&mut self, register: RegisterOrLocal) -> &mut Lanes {
        match register {
            RegisterOrLocal::Column(column) => &mut self.undefined[column as usize],
            RegisterOrLocal::Set(set) => &mut self.sets_undefined[set as usize],
            RegisterOrLocal::Local(scalar) => &mut self.local_undefined[scalar as usize],
        }
    }

    pub(super) fn is_undefined(&self, register: RegisterOrLocal, lane: usize) -> bool {
        let lanes = match register {
            RegisterOrLocal::Column(column) => self.undefined[column as usize],
            RegisterOrLocal::Set(set) => self.sets_undefined[set as usize],
            RegisterOrLocal::Local(word) => self.local_undefined[word as usize],
        };
        lanes >> lane & 1 == 1
    }

    /// Copies along an edge, as if all copies happened at once.
    #[inline]
    fn cross(&mut self, program: &Program, edge: &Edge) {
        let moves = &program.moves[edge.first as usize..edge.end as usize];
        if self.ledger.is_some() {
            self.cross_notes(moves, edge.overlaps);
        }
        if edge.overlaps {
            return self.cross_at_once(moves);
        }
        for step in moves {
            match (step.to, step.from) {
                (Slot::Word(to), Slot::Word(from)) => self.copy_column(to, from),
                (Slot::Truth(to), Slot::Truth(from)) => self.copy_set(to, from),
                (Slot::Wide(to, above), Slot::Wide(from, from_above)) => {
                    self.copy_column(to, from);
                    self.copy_column(above, from_above);
                }
                _ => {}
            }
        }
    }

    /// The same with all reads before all writes.
    fn cross_at_once(&mut self, moves: &[Move]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let (mut sets, mut doubts, mut origins) = (Vec::new(), Vec::new(), Vec::new());
        for step in moves {
            match step.from {
                Slot::Word(column) => scratch.push(self.columns[column as usize]),
                Slot::Wide(low, high) => scratch.extend([self.columns[low as usize], self.columns[high as usize]]),
                Slot::Truth(set) => sets.push(self.sets[set as usize]),
            }
            for (from, to) in registers_in(step.from).zip(registers_in(step.to)) {
                let doubt = *self.undefined_mut(from);
                doubts.push((to, doubt));
                if doubt & self.active != 0 {
                    origins.extend(
                        column::lanes(doubt & self.active).map(|lane| (to, lane as u8, self.origins.get(&(from, lane as u8)).copied())),
                    );
                }
            }
        }
        let (mut columns, mut sets) = (scratch.iter(), sets.into_iter());
        for step in moves {
            let mut write = |to: u32| {
                if let Some(from) = columns.next() {
                    blend(&mut self.columns[to as usize], from, &self.spread);
                }
            };
            match step.to {
                Slot::Word(to) => write(to),
                Slot::Wide(low, high) => {
                    write(low);
                    write(high);
                }
                Slot::Truth(to) => {
                    let set = &mut self.sets[to as usize];
                    *set = *set & !self.active | sets.next().unwrap_or(0) & self.active;
                }
            }
        }
        let active = self.active;
        for (to, doubt) in doubts {
            let lanes = self.undefined_mut(to);
            *lanes = *lanes & !active | doubt & active;
        }
        for (to, lane, origin) in origins {
            match origin {
                Some(origin) => drop(self.origins.insert((to, lane), origin)),
                None => drop(self.origins.remove(&(to, lane))),
            }
        }
        self.scratch = scratch;
    }

    /// Copies a column in the active lanes, with its undefined lanes.
    #[inline]
    pub(super) fn copy_column(&mut self, to: u32, from: u32) {
        let (t, f) = (to as usize, from as usize);
        if self.active == self.all {
            self.columns.copy_within(f..f + 1, t);
        } else if t != f {
            let [target, source] = self.columns.get_disjoint_mut([t, f]).expect("two registers of the program");
            blend(target, source, &self.spread);
        }
        let doubt = self.undefined[f] & self.active;
        self.undefined[t] = self.undefined[t] & !self.active | doubt;
        if doubt != 0 {
            self.copy_origins(RegisterOrLocal::Column(to), RegisterOrLocal::Column(from), doubt);
        }
    }

    #[inline]
    pub(super) fn copy_set(&mut self, to: u32, from: u32) {
        let (t, f) = (to as usize, from as usize);
        self.sets[t] = self.sets[t] & !self.active | self.sets[f] & self.active;
        let doubt = self.sets_undefined[f] & self.active;
        self.sets_undefined[t] = self.sets_undefined[t] & !self.active | doubt;
        if doubt != 0 {
            self.copy_origins(RegisterOrLocal::Set(to), RegisterOrLocal::Set(from), doubt);
        }
    }

    #[cold]
    pub(super) fn copy_origins(&mut self, to: RegisterOrLocal, from: RegisterOrLocal, lanes: Lanes) {
        for lane in column::lanes(lanes) {
            match self.origins.get(&(from, lane as u8)).copied() {
                Some(origin) => drop(self.origins.insert((to, lane as u8), origin)),
                None => drop(self.origins.remove(&(to, lane as u8))),
            }
        }
    }

    /// The origin of an undefined value. If it has none, memory was never written, and this load is
    /// the origin.
    pub(super) fn origin(&self, register: RegisterOrLocal, lane: usize, at: u32) -> Origin {
        let uninitialised = Origin { kind: Unspecified::Uninitialised, instruction: at, invocation: self.number + lane as u32 };
        self.origins.get(&(register, lane as u8)).copied().unwrap_or(uninitialised)
    }

    pub(super) fn accessor(&self, shared: &Shared<'_>, group: &Group, lane: usize, phase: u32) -> Accessor {
        let invocations_each = shared.program.invocations() as u32;
        Accessor { invocation: self.number + lane as u32, workgroup: group.number, invocations_each, phase }
    }

    /// Undefined behaviour at an instruction of the current block, in the first of the lanes.
    #[cold]
    pub(super) fn failure(&self, shared: &Shared<'_>, ub: Ub, what: String, instruction: u32, lanes: Lanes) -> Failure {
        let lane = lanes.trailing_zeros();
        // The rules from the instruction to the end of the block are counted already. None of them
        // is for an OpPhi.
        let rules_ahead =
            shared.program.blocks.get(self.block as usize).map_or(0, |block| u64::from(block.at + 1 - instruction.min(block.at)));
        let step = self.rules.as_ref().map(|rules| rules[lane as usize].saturating_sub(rules_ahead));
        let calls = self.calls(shared.program, instruction, lane as usize);
        Failure::Undefined(Box::new(FoundUb { ub, what, instruction, invocation: self.number + lane, step, earlier: None, calls }))
    }

    /// The calls around an instruction in a lane, innermost first.
    #[cold]
    pub(super) fn calls(&self, program: &Program, instruction: u32, lane: usize) -> Vec<u32> {
        let function_at = |instruction: u32| program.module.place(instruction as usize).function;
        let links: FxHashMap<u32, u32> = program
            .blocks
            .iter()
            .filter_map(|block| match &block.ends {
                End::Call { edge, link, .. } => Some((function_at(program.blocks[edge.target as usize].at), *link)),
                _ => None,
            })
            .collect();
        let (mut calls, mut at) = (Vec::new(), instruction);
        // No function calls itself, so this ends.
        while let Some(&link) = links.get(&function_at(at)).filter(|_| calls.len() <= links.len()) {
            // The part of a block behind a call follows the part that the call ends.
            let then = self.columns[link as usize][lane] as usize;
            let Some(call) = then.checked_sub(1).and_then(|before| program.blocks.get(before)) else { break };
            calls.push(call.at);
            at = call.at;
        }
        calls
    }

    /// The number of rules that the relation would have applied to a lane before it waited, if they
    /// are counted.
    pub(super) fn step_of_arrival(&self, lane: usize) -> Option<u64> {
        self.rules.as_ref().map(|rules| rules[lane].saturating_sub(1))
    }

    #[cold]
    fn undefined_control(&self, shared: &Shared<'_>, at: u32, register: RegisterOrLocal, lanes: Lanes) -> Failure {
        let origin = self.origin(register, lanes.trailing_zeros() as usize, at);
        let what = report::branch_on_undefined(&shared.program.module, at, origin);
        self.failure(shared, Ub::BranchOnUndefined, what, at, lanes)
    }
}

/// The register or local scalar that holds a slot.
pub(super) fn registers_in(slot: Slot) -> impl Iterator<Item = RegisterOrLocal> {
    let (first, second) = match slot {
        Slot::Word(column) => (RegisterOrLocal::Column(column), None),
        Slot::Wide(low, high) => (RegisterOrLocal::Column(low), Some(RegisterOrLocal::Column(high))),
        Slot::Truth(set) => (RegisterOrLocal::Set(set), None),
    };
    std::iter::once(first).chain(second)
}

#[inline]
pub(super) fn blend(target: &mut Column, source: &Column, spread: &Column) {
    for ((t, &s), &m) in target.iter_mut().zip(source).zip(spread) {
        *t = *t & !m | s & m;
    }
}

/// LocalInvocationId of the lanes, from an invocation on.
fn locals(size: [u32; 3], first: u32) -> [Column; 3] {
    let mut local = [first % size[0], first / size[0] % size[1], first / size[0] / size[1]];
    let mut columns = [[0; LANES]; 3];
    for lane in 0..LANES {
        for (column, &at) in columns.iter_mut().zip(&local) {
            column[lane] = at;
        }
        local[0] += 1;
        for axis in 0..2 {
            if local[axis] == size[axis] {
                (local[axis], local[axis + 1]) = (0, local[axis + 1] + 1);
            }
        }
    }
    columns
}

/// A built-in of an invocation, by its index in the workgroup and its LocalInvocationId.
#[inline]
fn value_of(input: Input, program: &Program, shared: &Shared<'_>, group: [u32; 3], number: u32, local: [u32; 3]) -> u32 {
    let (size, dispatch, subgroup) = (program.size, shared.dispatch, shared.subgroup);
    match input {
        Input::Workgroup(k) => group[k as usize],
        Input::Local(k) => local[k as usize],
        Input::Global(k) => group[k as usize].wrapping_mul(size[k as usize]).wrapping_add(local[k as usize]),
        Input::Groups(k) => dispatch.groups[k as usize],
        Input::LocalIndex => number,
        Input::Size(k) => size[k as usize],
        Input::SubgroupSize => subgroup,
        Input::Subgroups => (program.invocations() as u32).div_ceil(subgroup),
        Input::Subgroup => number / subgroup,
        Input::Lane => number % subgroup,
        Input::Lanes(mask, k) => {
            let below = |lane: u32| (1u128 << lane) - 1;
            let (all, own) = (below(subgroup), number % subgroup);
            let lanes = match mask {
                Mask::Eq => 1 << own,
                Mask::Ge => all & !below(own),
                Mask::Gt => all & !below(own + 1),
                Mask::Le => below(own + 1),
                Mask::Lt => below(own),
            };
            (lanes >> (32 * k)) as u32
        }
    }
}

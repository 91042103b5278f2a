//! Runs a compiled entry point. Workgroups run one after the other or on several threads, each as
//! warps of 64 lanes.

mod access;
mod atomic;
mod codes;
mod detect;
mod group;
mod image;
mod judge;
mod judged_image;
mod lanes;
mod memory;
mod parts;
mod pointers;
mod quads;
mod races;
mod warp;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::column::{self, LANES};
use super::program::{BufferVariable, End, Program};
use rustc_hash::FxHashMap;

use crate::concurrency::{Access, Agent, Arrival, Detector, Scope, Semantics, Topology, Wait, arrival};
use crate::outcome::{Limit, Outcome, Stuck};
use crate::random::Random;
use crate::spirv::environment::{Dispatch, InvocationId, Observation, ObservedBuffer, Robustness, SubgroupMapping, UndefinedBytes};
use crate::spirv::module::Module;
use crate::spirv::object::MAX_BYTES;
use crate::spirv::report;
use crate::spirv::value::Origin;
use crate::undefined::{Site, Ub, Undefined, Unspecified};
use image::Images;
pub(in crate::spirv) use judge::{Tag, WAYS};
use memory::Buffers;
pub(in crate::spirv) use parts::{Piecewise, Written};
pub(in crate::spirv) use quads::Quads;
use races::Shadow;
use warp::{Path, Stop, Warp};

/// Why a workgroup did not end.
#[derive(Clone, Debug)]
pub(in crate::spirv) enum Failure {
    /// Undefined behaviour.
    Undefined(Box<FoundUb>),
    /// The fuel was used up.
    OutOfFuel,
    /// The time was used up.
    Late(Limit),
    /// The machine does not support the rest of the run.
    Unsupported(String),
    /// The program did what no compiled program does.
    Stuck(String),
}

/// Undefined behaviour at an instruction, in an invocation. The step is known only if the run
/// counts steps.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct FoundUb {
    pub(super) ub: Ub,
    pub(super) what: String,
    pub(super) instruction: u32,
    pub(super) invocation: u32,
    pub(super) step: Option<u64>,
    /// For a data race: the instruction and the invocation of the earlier access.
    pub(super) earlier: Option<(u32, u32)>,
    /// The indices of the active calls, the innermost first.
    pub(super) calls: Vec<u32>,
}

impl FoundUb {
    /// The kind of undefined behaviour, its description, and its site. `global` returns the
    /// GlobalInvocationId of an invocation.
    pub(in crate::spirv) fn placed(self, module: &Module, global: impl Fn(u32) -> [u32; 3]) -> (Ub, String, Box<Site>) {
        let FoundUb { ub, what, instruction, invocation, step, earlier, calls } = self;
        let place = |instruction, invocation| report::site(module, instruction, invocation, global(invocation));
        let earlier = earlier.map(|(instruction, invocation)| Box::new(place(instruction, invocation)));
        let calls = report::calls(module, calls);
        (ub, what, Box::new(Site { step, earlier, calls, ..place(instruction, invocation) }))
    }
}

/// What a run did, apart from what it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The number of times that a workgroup left a barrier together.
    pub barriers: u64,
    /// The labels of the blocks that an invocation reached, in the order of compilation.
    pub blocks: Vec<u32>,
    /// The effects of atomics, if they were recorded.
    pub atomics: Atomics,
    /// Whether a group instruction ran in a subgroup whose invocations had taken several paths.
    pub diverged: bool,
}

/// The effects of a run's atomics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Atomics {
    /// The accesses of atomics to memory that invocations share, in the order in which they took
    /// effect. With each comes the number of barriers that its workgroup had passed.
    pub accesses: Vec<(Access, u32)>,
    /// By workgroup: the barriers that it passed.
    pub barriers: FxHashMap<u32, Vec<(Scope, Semantics)>>,
    /// Whether the run executed a fence.
    pub fenced: bool,
}

/// The number of bits of a ballot.
const BALLOT: u32 = 128;

/// The least number of warps of a workgroup in orders other than the ascending one, if it has as
/// many invocations. The invocations of one warp do everything in step, so other orders need
/// several warps.
const PARTS: u64 = 4;

/// How a dispatch runs on one thread, and what is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Whether the effects of atomics are recorded.
    pub atomics: bool,
    /// The order of workgroups, and of the warps of each up to a barrier. 0 is ascending, 1 is
    /// descending, and any other number is the seed of a random order. Except with 0, a workgroup
    /// of several invocations has several warps.
    pub order: u64,
}

/// The state that each workgroup passes to the next.
#[derive(Default)]
struct DetectorState {
    detector: Option<Detector>,
    atomics: Option<Atomics>,
}

/// The state that all workgroups share.
pub(super) struct Shared<'r> {
    pub(super) program: &'r Program,
    pub(super) dispatch: &'r Dispatch<'r>,
    pub(super) buffers: Buffers,
    pub(super) shadow: Shadow,
    pub(super) images: Images<'r>,
    /// The number of elements of each runtime array.
    pub(super) lengths: Vec<u32>,
    pub(super) executed: AtomicU64,
    /// The most instructions that may be executed.
    pub(super) fuel: u64,
    /// The number of turns taken. The most turns are in the dispatch's limits.
    pub(super) turns: AtomicU64,
    /// The number of times that a workgroup left a barrier together.
    pub(super) barriers_passed: AtomicU64,
    pub(super) failed: AtomicBool,
    /// Whether workgroups run one after the other. Then a report names the first fault.
    pub(super) in_order: bool,
    /// The order, as defined by [`Watch::order`].
    order: u64,
    /// Whether accesses to buffers out of bounds are defined.
    pub(super) robust: bool,
    /// The number of lanes that execute group instructions together: those of a subgroup,
    /// or of a quad.
    pub(super) subgroup: u32,
    /// The number of invocations of a subgroup. In a draw it is more than a quad: without a given
    /// size, it is the number of bits of a ballot.
    pub(super) subgroup_size: u32,
    /// Whether a group instruction ran in a subgroup whose lanes had taken several paths.
    pub(super) diverged: AtomicBool,
}

/// The state that the warps of one workgroup share.
pub(super) struct Group {
    /// The number of the workgroup.
    pub(super) number: u32,
    pub(super) id: [u32; 3],
    pub(super) words: Vec<u32>,
    pub(super) undefined: Vec<u64>,
    /// By word of shared memory: the origin of its undefined value, unless it is uninitialised.
    pub(super) origins: rustc_hash::FxHashMap<u32, Origin>,
    pub(super) shadow: races::GroupShadow,
    /// The number of barriers that have ordered each memory.
    pub(super) phases: races::Phases,
    /// The full detector of happens-before, for programs whose atomics or fences synchronise, and
    /// for reports. Each workgroup passes it to the next.
    pub(super) detector: Option<Detector>,
    /// The effects of atomics, if they are recorded. Each workgroup passes them to the next.
    pub(super) atomics: Option<Atomics>,
}

impl Program {
    /// The number of invocations of a workgroup.
    pub fn invocations(&self) -> u64 {
        self.size.iter().map(|&n| u64::from(n)).product()
    }

    /// Runs a dispatch on `threads` threads. 0 means one for each core. The outcome does not depend
    /// on the number.
    ///
    /// The run assumes which invocations of a subgroup execute a group instruction together.
    pub fn run(&self, dispatch: &Dispatch<'_>, threads: usize) -> Outcome<Observation> {
        self.run_on(dispatch, threads).0
    }

    /// Runs a dispatch like [`Program::run`], if every device shows the same of subgroups. Two
    /// things are unsupported: a group instruction that runs after the invocations of a subgroup
    /// took several paths, and one that combines floats in an order that a device may choose.
    pub fn run_certain(&self, dispatch: &Dispatch<'_>, threads: usize) -> Outcome<Observation> {
        use crate::spirv::grammar::Op::{GroupNonUniformFAdd, GroupNonUniformFMul};
        if let Some(group) = self.groups.iter().find(|group| matches!(group.op, GroupNonUniformFAdd | GroupNonUniformFMul)) {
            let name = report::name(&self.module, group.instruction);
            return Outcome::Unsupported(format!("{name}, whose order a device chooses, in the lockstep machine"));
        }
        if self.subgroups && dispatch.resources.subgroup_mapping == SubgroupMapping::Any {
            return Outcome::Unsupported("subgroups of any invocations in the lockstep machine".into());
        }
        match self.run_on(dispatch, threads) {
            (Outcome::Observed(_) | Outcome::Undefined(_), true) => {
                let what = "a group instruction after invocations of a subgroup took several paths, in the lockstep machine";
                Outcome::Unsupported(what.into())
            }
            (outcome, _) => outcome,
        }
    }

    /// The outcome, and whether a group instruction ran after the invocations of a subgroup had
    /// taken several paths.
    fn run_on(&self, dispatch: &Dispatch<'_>, threads: usize) -> (Outcome<Observation>, bool) {
        if let Some(refused) = self.refused(dispatch, 0) {
            return (refused, false);
        }
        let groups = match dispatch.workgroups(self.invocations().max(1)) {
            Ok(groups) => groups,
            Err(limit) => return (Outcome::Limit(limit), false),
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads }.min(groups.max(1) as usize);
        if threads > 1
            && !self.in_order
            && let Some((observation, diverged)) = self.side_by_side(dispatch, groups, threads)
        {
            return (Outcome::Observed(observation), diverged);
        }
        // The workgroups run in order, so that the report is always the same. The first run does
        // not record what a report says besides the instruction. If it finds a fault, a second run
        // records that too.
        let one_by_one = |exact| {
            let (outcome, watched) = self.one_by_one(dispatch, groups, exact, Watch::default());
            (outcome, watched.diverged)
        };
        match one_by_one(false) {
            (Outcome::Undefined(_), _) => one_by_one(true),
            ended => ended,
        }
    }

    /// Runs a dispatch on this thread, and returns what it did. A report of undefined behaviour may
    /// name another step than that of [`Program::run`].
    pub fn run_watched(&self, dispatch: &Dispatch<'_>, watch: Watch) -> (Outcome<Observation>, Watched) {
        if let Some(refused) = self.refused(dispatch, watch.order) {
            return (refused, Watched::default());
        }
        match dispatch.workgroups(self.invocations().max(1)) {
            Ok(groups) => self.one_by_one(dispatch, groups, false, watch),
            Err(limit) => (Outcome::Limit(limit), Watched::default()),
        }
    }

    /// Runs workgroups on several threads. `None` if one did not end. Also returns whether a group
    /// instruction ran after the invocations of a subgroup had taken several paths.
    fn side_by_side(&self, dispatch: &Dispatch<'_>, groups: u32, threads: usize) -> Option<(Observation, bool)> {
        let shared = self.shared(dispatch, false);
        if shared.buffers.any_doubly_named() {
            return None;
        }
        let next = AtomicU32::new(0);
        let work = || {
            let mut warps = Vec::new();
            while let Some(range) = next_workgroups(&next, groups, threads as u32) {
                for number in range {
                    if shared.failed.load(Ordering::Relaxed) {
                        return;
                    }
                    if self.workgroup(&shared, number, &mut warps, &mut DetectorState::default()).is_err() {
                        shared.failed.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        let is_within_limits = shared.executed.load(Ordering::Relaxed) <= dispatch.limits.instructions
            && shared.turns.load(Ordering::Relaxed) <= dispatch.limits.turns;
        (is_within_limits && !shared.failed.load(Ordering::Relaxed))
            .then(|| (shared.observation(), shared.diverged.load(Ordering::Relaxed)))
    }

    /// Runs workgroups one after the other. `exact` counts the steps of each invocation, and finds
    /// both accesses of a race.
    fn one_by_one(&self, dispatch: &Dispatch<'_>, groups: u32, exact: bool, watch: Watch) -> (Outcome<Observation>, Watched) {
        let shared = Shared { order: watch.order, ..self.shared(dispatch, true) };
        let mut warps = Vec::new();
        warps.resize_with(self.invocations().div_ceil(self.width(dispatch, watch.order)) as usize, || Warp::new(self, exact));
        let subgroup = if self.subgroups { shared.subgroup } else { 1 };
        let detector = match (self.synchronises || exact, Topology::new(groups, self.invocations() as u32, subgroup)) {
            (false, _) => None,
            (true, Ok(topology)) => Some(Detector::new(topology)),
            (true, Err(limit)) if self.synchronises => return (Outcome::Limit(limit), Watched::default()),
            (true, Err(_)) => None,
        };
        let mut state = DetectorState { detector, atomics: watch.atomics.then(Atomics::default) };
        let failure = permuted(groups, watch.order).find_map(|number| {
            let failure = self.workgroup(&shared, number, &mut warps, &mut state).err()?;
            Some(match failure {
                Failure::OutOfFuel => Outcome::OutOfFuel,
                Failure::Late(limit) => Outcome::Limit(limit),
                Failure::Unsupported(what) => Outcome::Unsupported(what),
                Failure::Stuck(why) => Outcome::Stuck(Stuck { why, at: format!("workgroup {number}") }),
                Failure::Undefined(found) => Outcome::Undefined(self.undefined(dispatch, *found)),
            })
        });
        let is_reached = |number: usize| warps.iter().any(|warp| warp.reached[number]);
        let blocks_reached = self.blocks.iter().enumerate().filter(|&(number, _)| is_reached(number));
        let mut blocks: Vec<u32> = blocks_reached.map(|(_, block)| self.module.place(block.at as usize).block).collect();
        // The parts of a block are neighbours.
        blocks.dedup();
        let watched = Watched {
            barriers: shared.barriers_passed.load(Ordering::Relaxed),
            blocks,
            atomics: state.atomics.unwrap_or_default(),
            diverged: shared.diverged.load(Ordering::Relaxed),
        };
        (failure.unwrap_or_else(|| Outcome::Observed(shared.observation())), watched)
    }

    /// The most invocations of a warp in the given order: a whole number of subgroups.
    fn width(&self, dispatch: &Dispatch<'_>, order: u64) -> u64 {
        let subgroup = if self.subgroups { self.subgroup(dispatch).into() } else { 1 };
        match order {
            0 => LANES as u64,
            _ => self.invocations().div_ceil(PARTS).clamp(1, LANES as u64).next_multiple_of(subgroup),
        }
    }

    /// The number of lanes that execute group instructions together.
    fn subgroup(&self, dispatch: &Dispatch<'_>) -> u32 {
        const QUAD: u32 = 4;
        if self.subgroups { dispatch.resources.subgroup_size.unwrap_or(1).clamp(1, LANES as u32) } else { QUAD }
    }

    /// The outcome if the dispatch is refused before anything runs, in the given order.
    fn refused(&self, dispatch: &Dispatch<'_>, order: u64) -> Option<Outcome<Observation>> {
        if dispatch.resources.buffers.iter().any(|buffer| buffer.bytes.len() as u64 > MAX_BYTES) {
            return Some(Outcome::Limit(Limit { what: "bytes in one memory object", bound: MAX_BYTES }));
        }
        if let Err(what) = self.descriptors(dispatch) {
            return Some(Outcome::Unsupported(what));
        }
        if self.subgroups {
            match dispatch.resources.subgroup_size {
                Some(size) if size.is_power_of_two() && size as usize <= LANES => {}
                Some(size) => return Some(Outcome::Unsupported(format!("subgroups of {size} invocations in the lockstep machine"))),
                None => {
                    return Some(Outcome::Unsupported(
                        "subgroups without their size in the lockstep machine; --subgroup-size N gives it".into(),
                    ));
                }
            }
        }
        for buffer in &self.buffers {
            if let Some(what) = buffer_fault(buffer, dispatch) {
                return Some(Outcome::Unsupported(what));
            }
        }
        let warps = self.invocations().div_ceil(self.width(dispatch, order));
        let registers = u64::from(self.columns + self.local) * (LANES * 4 + 8) as u64 + u64::from(self.sets) * 16;
        let buffers: u64 = dispatch.resources.buffers.iter().map(|b| b.bytes.len() as u64 * 2 * races::RECORDS_PER_WORD as u64).sum();
        if (warps * registers).saturating_add(buffers) > dispatch.limits.memory {
            return Some(Outcome::Limit(Limit { what: "bytes of memory", bound: dispatch.limits.memory }));
        }
        None
    }

    fn shared<'r>(&'r self, dispatch: &'r Dispatch<'r>, in_order: bool) -> Shared<'r> {
        let buffers = Buffers::new(self, dispatch);
        let lengths = self.arrays.iter().map(|array| {
            let room = buffers.length(array.buffer).saturating_sub(array.offset);
            // Load has checked that the layout of a runtime array has a stride.
            u32::try_from(room / u64::from(array.stride.max(1))).unwrap_or(u32::MAX)
        });
        let lengths = lengths.collect();
        let shadow = Shadow::new(self, &buffers);
        let robust = dispatch.resources.robustness != Robustness::None;
        let [executed, turns, barriers_passed] = [(); 3].map(|()| AtomicU64::new(0));
        let [failed, diverged] = [(); 2].map(|()| AtomicBool::new(false));
        let fuel = dispatch.limits.instructions;
        let images = Images::new(self, dispatch);
        Shared {
            program: self,
            dispatch,
            buffers,
            shadow,
            images,
            lengths,
            executed,
            fuel,
            turns,
            barriers_passed,
            failed,
            in_order,
            order: 0,
            robust,
            subgroup: self.subgroup(dispatch),
            subgroup_size: if self.subgroups { self.subgroup(dispatch) } else { dispatch.resources.subgroup_size.unwrap_or(BALLOT) },
            diverged,
        }
    }

    fn workgroup(&self, shared: &Shared<'_>, number: u32, warps: &mut Vec<Warp>, state: &mut DetectorState) -> Result<(), Failure> {
        let mut group = self.group(shared, number, state);
        self.run_group(shared, &mut group, warps)?;
        *state = DetectorState { detector: group.detector, atomics: group.atomics };
        Ok(())
    }

    /// The initial state of a workgroup.
    fn group(&self, shared: &Shared<'_>, number: u32, state: &mut DetectorState) -> Group {
        let mut group = Group {
            number,
            id: shared.dispatch.workgroup_id(number),
            words: vec![0; self.shared as usize],
            undefined: vec![u64::MAX; (self.shared as usize).div_ceil(64)],
            origins: rustc_hash::FxHashMap::default(),
            shadow: races::GroupShadow::new(self.shared as usize),
            phases: races::Phases::default(),
            detector: state.detector.take(),
            atomics: state.atomics.take(),
        };
        for &(scalar, bits) in &self.initial_shared {
            group.words[scalar as usize] = bits;
            group.undefined[scalar as usize / 64] &= !(1 << (scalar % 64));
        }
        group
    }

    fn run_group(&self, shared: &Shared<'_>, group: &mut Group, warps: &mut Vec<Warp>) -> Result<(), Failure> {
        let (invocations, number) = (self.invocations() as u32, group.number);
        let width = self.width(shared.dispatch, shared.order) as u32;
        let count = invocations.div_ceil(width);
        warps.resize_with(count as usize, || Warp::new(self, false));
        for (at, warp) in warps.iter_mut().enumerate() {
            let first = at as u32 * width;
            warp.begin(self, shared, group, first, (invocations - first).min(width));
        }
        loop {
            let mut waits = false;
            for at in permuted(count, shared.order) {
                parts::lend(warps, at as usize);
                let stop = warps[at as usize].run(shared, group);
                parts::lend(warps, at as usize);
                waits |= stop? == Stop::Waits;
            }
            if !waits {
                if let Some(detector) = &mut group.detector {
                    detector.retire(number);
                    self.shared_objects().for_each(|object| detector.forget(object));
                }
                return Ok(());
            }
            let block = match warps.iter().find_map(|warp| warp.parked.first()) {
                Some(first) if warps.iter().all(|warp| warp.waits_with(first)) => first.block,
                _ => return Err(self.diverged(shared, number, warps)),
            };
            let End::Barrier { orders_shared, orders_buffers, orders_images, scope, semantics, .. } = self.blocks[block as usize].ends
            else {
                return Err(Failure::Stuck("lanes wait where there is no barrier".into()));
            };
            warps.iter_mut().for_each(|warp| warp.release(self));
            shared.barriers_passed.fetch_add(1, Ordering::Relaxed);
            if let Some(detector) = &mut group.detector {
                detector.workgroup_barrier(number, scope, &semantics);
            }
            if let Some(atomics) = &mut group.atomics {
                atomics.barriers.entry(number).or_default().push((scope, semantics));
            }
            group.phases.shared += u32::from(orders_shared);
            group.phases.buffers += u32::from(orders_buffers);
            group.phases.images += u32::from(orders_images);
        }
    }

    /// The fault if some of a workgroup's invocations wait at a barrier that others never reach.
    #[cold]
    fn diverged(&self, shared: &Shared<'_>, workgroup: u32, warps: &[Warp]) -> Failure {
        let invocations = self.invocations() as u32;
        let mut paths: Vec<&Path> = Vec::new();
        let mut waits = vec![Wait::Ended; invocations as usize];
        for warp in warps {
            for parked in &warp.parked {
                let known_path = paths.iter().position(|path| **path == parked.path);
                let instance = known_path.unwrap_or(paths.len());
                if known_path.is_none() {
                    paths.push(&parked.path);
                }
                let instruction = self.blocks[parked.block as usize].at;
                for lane in column::lanes(parked.lanes) {
                    waits[warp.first as usize + lane] = Wait::Barrier((instruction, instance));
                }
            }
        }
        let (Arrival::Divergent { waiting, other }, Some(&Wait::Barrier((instruction, _)))) =
            (arrival(&waits), waits.iter().find(|wait| **wait != Wait::Ended))
        else {
            return Failure::Stuck("all invocations wait at one barrier, and none goes on".into());
        };
        let global = |local: usize| self.global(shared.dispatch, workgroup * invocations + local as u32);
        let what = report::divergent_barrier(&self.module, instruction, global(waiting), global(other), &waits[other]);
        let width = self.width(shared.dispatch, shared.order) as usize;
        let warp = warps.get(waiting / width);
        let step = warp.and_then(|warp| warp.step_of_arrival(waiting % width));
        let calls = warp.map_or(Vec::new(), |warp| warp.calls(self, instruction, waiting % width));
        let invocation = workgroup * invocations + waiting as u32;
        Failure::Undefined(Box::new(FoundUb { ub: Ub::DivergentBarrier, what, instruction, invocation, step, earlier: None, calls }))
    }

    /// The GlobalInvocationId of an invocation.
    fn global(&self, dispatch: &Dispatch<'_>, invocation: u32) -> [u32; 3] {
        let id = self.invocation(invocation);
        let (group, [width, height, _]) = (dispatch.workgroup_id(id.workgroup), self.size);
        let local = [id.local % width, id.local / width % height, id.local / width / height];
        [0, 1, 2].map(|k| group[k].wrapping_mul(self.size[k]).wrapping_add(local[k]))
    }

    /// The report of undefined behaviour, with its site.
    fn undefined(&self, dispatch: &Dispatch<'_>, found: FoundUb) -> Undefined {
        let (ub, what, site) = found.placed(&self.module, |invocation| self.global(dispatch, invocation));
        Undefined { ub, what, at: site.to_string(), site: Some(site) }
    }

    fn invocation(&self, number: u32) -> InvocationId {
        let each = self.invocations().max(1) as u32;
        InvocationId { workgroup: number / each, local: number % each }
    }

    fn number(&self, agent: Agent) -> u32 {
        agent.workgroup * self.invocations().max(1) as u32 + agent.local
    }
}

/// Takes the next workgroups for a thread. They are neighbours, so two threads seldom write close
/// together. Towards the end they become fewer, so all threads end at about the same time.
fn next_workgroups(next: &AtomicU32, groups: u32, threads: u32) -> Option<std::ops::Range<u32>> {
    const R: Ordering = Ordering::Relaxed;
    let end = |first: u32| first + ((groups - first) / threads.saturating_mul(4)).max(1);
    let first = next.fetch_update(R, R, |first| (first < groups).then(|| end(first))).ok()?;
    Some(first..end(first))
}

/// The fault of a variable's buffer, if there is one.
fn buffer_fault(buffer: &BufferVariable, dispatch: &Dispatch<'_>) -> Option<String> {
    let (name, bytes) = match buffer.descriptor {
        None => ("the push constants".to_string(), Some(dispatch.resources.push_constants.len())),
        Some((set, binding)) => {
            let found = dispatch.resources.buffers.iter().find(|b| b.set == set && b.binding == binding);
            (format!("the buffer at set {set}, binding {binding}"), found.map(|b| b.bytes.len()))
        }
    };
    match bytes {
        None => Some(format!("{name} is missing; %{} needs it", buffer.id)),
        Some(bytes) if (bytes as u64) < buffer.needed => Some(format!("{name} has {bytes} bytes; %{} needs {}", buffer.id, buffer.needed)),
        Some(_) => None,
    }
}

impl Shared<'_> {
    /// The storage buffers and images at the end of the run.
    fn observation(&self) -> Observation {
        let mut observed = Vec::new();
        for (at, buffer) in self.dispatch.resources.buffers.iter().enumerate() {
            let place = Some((buffer.set, buffer.binding));
            if !self.program.buffers.iter().any(|variable| variable.is_storage && variable.descriptor == place) {
                continue;
            }
            let bytes = self.buffers.bytes(at);
            let mut undefined: Vec<UndefinedBytes> = Vec::new();
            for (start, origin) in self.buffers.undefined(at) {
                let made_by = self.program.invocation(origin.invocation);
                let next = UndefinedBytes { start, end: start + 1, made_at: origin.instruction, made_by, kind: origin.kind.id() };
                match undefined.last_mut() {
                    Some(last) if last.end == start && UndefinedBytes { start, end: start + 1, ..last.clone() } == next => last.end += 1,
                    _ => undefined.push(next),
                }
            }
            observed.push(ObservedBuffer { set: buffer.set, binding: buffer.binding, bytes, undefined });
        }
        let images = self.images.observed(self.program);
        Observation { buffers: observed, images, instructions: self.executed.load(Ordering::Relaxed) }
    }
}

/// The kind of undefined value with that number.
pub(super) fn kind(number: u32) -> Unspecified {
    Unspecified::ALL.get(number as usize).copied().unwrap_or(Unspecified::Undef)
}

/// The numbers below `count`, in the order of [`Watch::order`].
fn permuted(count: u32, order: u64) -> impl Iterator<Item = u32> {
    let mut numbers: Vec<u32> = if order > 1 { (0..count).collect() } else { Vec::new() };
    let mut random = Random::new(order);
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, (random.bits() % (last as u64 + 1)) as usize);
    }
    (0..count).map(move |at| match order {
        0 => at,
        1 => count - 1 - at,
        _ => numbers[at as usize],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each order contains every number once, and different seeds give different orders.
    #[test]
    fn orders_are_permutations() {
        let orders: Vec<Vec<u32>> = (0..4).map(|order| permuted(40, order).collect()).collect();
        assert_eq!(orders[0], (0..40).collect::<Vec<u32>>());
        assert_eq!(orders[1], (0..40).rev().collect::<Vec<u32>>());
        for (number, order) in orders.iter().enumerate() {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, orders[0]);
            assert!(!orders[..number].contains(order), "{number}");
        }
    }

    #[test]
    fn every_workgroup_is_taken_once_and_the_last_ones_singly() {
        for (groups, threads) in [(1, 2), (16, 2), (1024, 2), (1000, 7), (u32::MAX, 64)] {
            let next = AtomicU32::new(0);
            let (mut end, mut last, mut ranges) = (0, u32::MAX, 0);
            while let Some(range) = next_workgroups(&next, groups, threads) {
                assert_eq!(range.start, end);
                let count = range.end - range.start;
                assert!(0 < count && count <= last, "{count} after {last}");
                (end, last, ranges) = (range.end, count, ranges + 1);
            }
            assert_eq!((end, last), (groups, 1));
            assert!(ranges <= 128 * threads, "{ranges}");
        }
    }
}

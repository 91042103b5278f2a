//! Whether a module may show something that no interleaving of its invocations shows.
//!
//! The relation interleaves: each of its runs is sequentially consistent. The Vulkan memory model
//! allows more: a device may let relaxed atomics at different locations take effect in another
//! order. An execution that is no interleaving has a cycle (Shasha and Snir, "Efficient and Correct
//! Execution of Parallel Programs that Share Memory", 1988). The cycle goes through two or more
//! invocations and as many locations. In each invocation it has a *pair* of accesses at different
//! locations, in program order. At each location it has a *hop*, from the second access of one pair
//! to the first access of the next invocation's pair. A hop follows the order in which accesses
//! take effect at its location. The memory model forbids a cycle if all of its hops, except at most
//! one, are happens-before. The reason is that each location by itself is coherent. The model
//! requires nothing else. So a cycle needs two hops that nothing orders.
//!
//! An execution departs from the interleavings at some first access. The cycle that it closes there
//! consists of accesses that an interleaving has too. So it is enough to look for cycles among the
//! accesses of each interleaving. Plain accesses are in no cycle: if nothing orders them, they
//! race, which is undefined behaviour.
//!
//! A hop is ordered by a control barrier between its accesses. It is also ordered by a release and
//! an acquire that synchronize if the second access reads what the first has written. Atomics that
//! commute and whose results are not used, as in a histogram, show the same in every order.
//!
//! An order that is not seen here counts as absent. Then the executions of the memory model
//! are enumerated ([`executions`]) within the budget. Executions beyond the budget make the
//! input undecided.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::concurrency::{self, AtomicOp, Class, Classes, Kind, Rules, Schedule, Scope, Semantics};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::environment::{InvocationId, Observation};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Read};
use smallstep_semantics::spirv::module::{Module, WHOLE};
use smallstep_semantics::spirv::shared::ObjectId;
use smallstep_semantics::spirv::step::Action;
use smallstep_semantics::spirv::words::Instruction;
use smallstep_semantics::spirv::{Event, Relation, lockstep};

use super::{Earlier, Input, Settings, Side};
use crate::compute::report;

/// The most contended accesses of one run that are searched for cycles. A run with more counts as
/// having a cycle.
const ACCESSES: usize = 1 << 12;
/// The most steps of the search for a cycle in one run. Each step looks at one access as the next
/// of a path. A longer search counts as having found a cycle.
const MAX_STEPS: u32 = 1 << 20;

/// What a module shows in the executions that the memory model allows.
pub(super) struct Executions {
    /// Each outcome, with the writes that the atomics read.
    pub(super) shown: Vec<grid::Shown>,
    /// Whether these are all outcomes.
    pub(super) complete: bool,
}

/// The most inputs of a comparison whose search may exceed its budget. If some inputs exceed it,
/// most do. So after this number no other input is searched.
pub(super) const MOST_TOO_LARGE: u32 = 8;
/// The same bound for the search through the orders of the invocations.
pub(super) const MOST_ORDERS: u32 = 4;

/// All executions of a module that the memory model allows, if the budget suffices.
pub(super) fn executions(side: &Side, input: &Input, settings: &Settings, fuel: u64, earlier: &Earlier) -> Executions {
    if earlier.too_large.get() >= MOST_TOO_LARGE {
        return Executions { shown: Vec::new(), complete: false };
    }
    let dispatch = side.dispatch(input, settings, fuel);
    let explored = grid::weakly(&side.module.module, &dispatch, &Relation::default(), Rules::MODEL, settings.executions);
    let (shown, done) = explored.unwrap_or_default();
    earlier.too_large.update(|searches| searches + u32::from(!done.complete));
    Executions { shown, complete: done.complete }
}

/// The ending of an execution without an observation, if there is one.
pub(super) fn ended(shown: &[grid::Shown]) -> Option<String> {
    shown.iter().find(|(outcome, _)| outcome.observed().is_none()).map(|(outcome, _)| super::observe::ending(outcome))
}

/// The reason for an undecided verdict if the executions exceed the budget.
pub(super) fn too_large(why: &str, settings: &Settings) -> String {
    format!("{why}; of their executions more than {} choices are not tried", settings.executions.steps)
}

/// Describes an execution that is no interleaving: a line for each atomic, with the write that
/// it reads.
pub(super) fn describe(side: &Side, reads: &[Read]) -> String {
    let module = &side.module.module;
    let invocation_text = |id: InvocationId| format!("invocation {} of workgroup {}", id.local, id.workgroup);
    let mut lines = "an execution that is no interleaving, where these atomics read:".to_string();
    for Read { by: (reader, instruction), from } in reads {
        let from = match from {
            Some((writer, at)) => format!("what {} of {} wrote", report::instruction(module, *at), invocation_text(*writer)),
            None => "what was there at the beginning".into(),
        };
        lines += &format!("\n  {} of {}: {from}", report::instruction(module, *instruction), invocation_text(*reader));
    }
    lines
}

/// The scope and the memory semantics of a release, an acquire or both.
#[derive(Clone, Copy)]
struct Ordered {
    scope: Scope,
    semantics: Semantics,
}

impl Ordered {
    fn synchronizes(&self) -> bool {
        self.semantics.releases() || self.semantics.acquires()
    }

    fn releases(&self, classes: Classes, scope: Scope) -> bool {
        self.semantics.releases() && classes.within(self.semantics.ordered_classes()) && self.scope >= scope
    }

    fn acquires(&self, classes: Classes, scope: Scope) -> bool {
        self.semantics.acquires() && classes.within(self.semantics.ordered_classes()) && self.scope >= scope
    }
}

/// An atomic access.
struct Access {
    invocation: InvocationId,
    /// Its index among the atomics and fences of its invocation.
    index: usize,
    instruction: u32,
    location: (ObjectId, u64),
    class: Class,
    op: AtomicOp,
    ordered: Ordered,
    /// For an atomic whose result is not used: the kind of operations with which it commutes.
    commutes_as: Option<Op>,
    /// The number of control barriers that its invocation passed before.
    barriers_passed: usize,
}

/// A schedule that was tried, and the atomics of its run, which are computed on first use.
pub(super) struct Tried {
    schedule: Schedule,
    run: OnceCell<Run>,
}

impl Tried {
    /// A schedule whose run was not watched.
    pub(super) fn unwatched(schedule: Schedule) -> Tried {
        Tried { schedule, run: OnceCell::new() }
    }

    /// Runs a side under a schedule and watches it. The outcome is returned as well.
    pub(super) fn watched(side: &Side, input: &Input, settings: &Settings, fuel: u64, schedule: Schedule) -> (Outcome<Observation>, Tried) {
        let (outcome, run) = Run::of(side, input, settings, fuel, &schedule);
        (outcome, Tried { schedule, run: run.into() })
    }

    fn run(&self, side: &Side, input: &Input, settings: &Settings, fuel: u64) -> &Run {
        self.run.get_or_init(|| Run::of(side, input, settings, fuel, &self.schedule).1)
    }

    /// Whether a module shows the same under every schedule. It does if two atomics of different
    /// invocations at one location, of which one writes, are ordered by a control barrier under
    /// this schedule, or commute with unused results. Then every invocation reads the same under
    /// any schedule. Also no atomic may synchronize, since synchronization may hide a race under
    /// one schedule only.
    pub(super) fn is_independent(&self, side: &Side, input: &Input, settings: &Settings, fuel: u64) -> bool {
        self.run(side, input, settings, fuel).is_independent()
    }
}

/// What a run of the lockstep machine says of the orders of a module's invocations.
pub(super) enum Orders {
    /// All of them show the same.
    Same,
    /// They may show different outcomes. The sentence, if there is one, names atomics that may take
    /// effect in an order that no schedule shows.
    MayDiffer(Option<String>),
    /// Unknown: the module has fences, and the machine does not record their places.
    Unknown,
}

/// What a run of the machine says of the orders of a module's invocations.
pub(super) fn orders(side: &Side, watched: &lockstep::Watched) -> Orders {
    if !side.depends_on_schedule() {
        return Orders::Same;
    }
    match Run::from_machine(&side.module.module, &watched.atomics) {
        None => Orders::Unknown,
        Some(run) if run.is_independent() => Orders::Same,
        Some(run) => Orders::MayDiffer(run.cycle().map(|found| another_order(side, found))),
    }
}

/// A sentence: a device may let these atomics take effect in another order.
fn another_order(side: &Side, found: [u32; 2]) -> String {
    let [first, second] = found.map(|instruction| report::instruction(&side.module.module, instruction));
    format!("a device may let {first} and {second} of {} take effect in another order", side.name)
}

/// The atomics, fences and barriers of one run.
#[derive(Default)]
struct Run {
    accesses: Vec<Access>,
    /// By invocation: the place of each fence among its atomics and fences, and what the
    /// fence orders.
    fences: FxHashMap<InvocationId, Vec<(usize, Ordered)>>,
    /// The control barriers of each workgroup.
    barriers: FxHashMap<u32, Vec<Ordered>>,
}

/// Two accesses of one invocation, the first before the second, at different locations.
#[derive(Clone, Copy)]
struct Pair<'r> {
    first: &'r Access,
    second: &'r Access,
}

/// A sentence that names atomics of a module that may take effect in an order that none of these
/// schedules shows. `None` if there are none.
pub(super) fn reordered(side: &Side, input: &Input, settings: &Settings, fuel: u64, tried: &[Tried]) -> Option<String> {
    if !side.depends_on_schedule() {
        return None;
    }
    tried.iter().find_map(|tried| tried.run(side, input, settings, fuel).cycle()).map(|found| another_order(side, found))
}

/// Whether the order of invocations may affect what a module shows, for any input. It has no effect
/// if every atomic commutes with all others of its memory, its result is not used, and nothing
/// synchronizes. Then every invocation does the same under each schedule.
pub(super) fn order_may_matter(module: &Module) -> bool {
    let is_atomic = |op: Op| Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32;
    let atomics: Vec<&Instruction> = module.instructions().iter().filter(|i| is_atomic(i.op)).collect();
    if atomics.is_empty() {
        return false;
    }
    let unused = unused(module);
    let mut kinds: FxHashMap<Memory, Op> = FxHashMap::default();
    let commutes = |i: &&Instruction| {
        let operands = i.operands(module.words());
        let semantics = module.constant_value(operands[2]).and_then(|bits| Semantics::decode(bits as u32).ok());
        let is_relaxed = semantics.is_some_and(|semantics| !semantics.releases() && !semantics.acquires());
        let kind = commutes(i.op).filter(|_| is_relaxed && unused.contains(&i.result));
        let (Some(memory), Some(kind)) = (memory(module, operands[0]), kind) else { return false };
        *kinds.entry(memory).or_insert(kind) == kind
    };
    module.instructions().iter().any(|i| i.is(Op::MemoryBarrier)) || !atomics.iter().all(commutes)
}

/// A piece of memory. Different values stand for different memory.
#[derive(PartialEq, Eq, Hash)]
enum Memory {
    Descriptor {
        set: u32,
        binding: u32,
    },
    Variable(u32),
    /// The Workgroup memory that all Blocks share.
    Blocks,
}

/// The memory of a pointer, if the pointer's instructions name it directly.
fn memory(module: &Module, pointer: u32) -> Option<Memory> {
    let mut id = pointer;
    loop {
        let i = module.instruction(id)?;
        match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::ImageTexelPointer | Op::CopyObject => id = i.operands(module.words())[0],
            Op::Variable => break,
            _ => return None,
        }
    }
    let variable = module.variable(id)?;
    match variable.class {
        StorageClass::Workgroup if module.has_layout(variable) => Some(Memory::Blocks),
        StorageClass::Workgroup => Some(Memory::Variable(id)),
        _ => {
            let at = |decoration| module.decoration(id, WHOLE, decoration);
            Some(Memory::Descriptor { set: at(Decoration::DescriptorSet)?, binding: at(Decoration::Binding)? })
        }
    }
}

/// The result ids that no instruction in a function uses.
fn unused(module: &Module) -> FxHashSet<u32> {
    let inside = || module.instructions().iter().skip_while(|i| !i.is(Op::Function));
    // A literal that equals an id is taken for a use, which is safe.
    let used: FxHashSet<u32> = inside().flat_map(|i| i.operands(module.words())).copied().collect();
    inside().map(|i| i.result).filter(|result| *result != 0 && !used.contains(result)).collect()
}

/// Integer operations that commute. Operations of one kind share a representative.
fn commutes(op: Op) -> Option<Op> {
    match op {
        Op::AtomicIAdd | Op::AtomicISub | Op::AtomicIIncrement | Op::AtomicIDecrement => Some(Op::AtomicIAdd),
        Op::AtomicAnd | Op::AtomicOr | Op::AtomicXor | Op::AtomicSMin | Op::AtomicUMin | Op::AtomicSMax | Op::AtomicUMax => Some(op),
        _ => None,
    }
}

impl Run {
    fn of(side: &Side, input: &Input, settings: &Settings, fuel: u64, schedule: &Schedule) -> (Outcome<Observation>, Run) {
        let module = &side.module.module;
        let unused = unused(module);
        let mut run = Run::default();
        let mut counts: FxHashMap<InvocationId, (usize, usize)> = FxHashMap::default();
        let report = side.report(input, settings, fuel, schedule, &mut |event: &Event<'_, '_>| {
            let (index, barriers_passed) = counts.entry(event.invocation).or_default();
            let workgroup = event.invocation.workgroup;
            // This counts arrivals at the barrier. The departure of all invocations is
            // another rule.
            if event.instruction.is(Op::ControlBarrier) && event.rule == Rule::SpirvControlBarrier {
                let barriers = run.barriers.entry(workgroup).or_default();
                if *barriers_passed == barriers.len() {
                    barriers.push(barrier(module, event.instruction.operands(module.words())));
                }
                *barriers_passed += 1;
            }
            for action in event.actions {
                match action {
                    Action::Atomic { extent, op, scope, semantics, .. } => {
                        let Some(cell) = extent.cells.first() else { continue };
                        run.accesses.push(Access {
                            invocation: event.invocation,
                            index: *index,
                            instruction: module.instructions().partition_point(|i| i.offset < event.instruction.offset) as u32,
                            location: (extent.object, cell.offset),
                            class: extent.class,
                            op: *op,
                            ordered: Ordered { scope: *scope, semantics: *semantics },
                            commutes_as: commutes(event.instruction.op).filter(|_| unused.contains(&event.instruction.result)),
                            barriers_passed: *barriers_passed,
                        });
                    }
                    Action::Fence { scope, semantics } => {
                        let fences = run.fences.entry(event.invocation).or_default();
                        fences.push((*index, Ordered { scope: *scope, semantics: *semantics }));
                    }
                    Action::Load(_) | Action::Store(..) => continue,
                }
                *index += 1;
            }
        });
        (report.outcome, run)
    }

    /// A run as the machine recorded it. `None` if it has a fence, whose place the machine does
    /// not record.
    fn from_machine(module: &Module, recorded: &lockstep::Atomics) -> Option<Run> {
        if recorded.fenced {
            return None;
        }
        let unused = unused(module);
        let access = |(index, (access, barriers_passed)): (usize, &(concurrency::Access, u32))| {
            let Kind::Atomic { op, scope, semantics } = access.kind else { return None };
            let concurrency::Agent { workgroup, local } = access.agent;
            let object = match access.class {
                Class::Workgroup => ObjectId::Workgroup { workgroup, index: access.object },
                _ => ObjectId::Buffer(access.object),
            };
            let instruction = module.instructions().get(access.instruction as usize)?;
            Some(Access {
                invocation: InvocationId { workgroup, local },
                index,
                instruction: access.instruction,
                location: (object, access.offset),
                class: access.class,
                op,
                ordered: Ordered { scope, semantics },
                commutes_as: commutes(instruction.op).filter(|_| unused.contains(&instruction.result)),
                barriers_passed: *barriers_passed as usize,
            })
        };
        let ordered =
            |barriers: &Vec<(Scope, Semantics)>| barriers.iter().map(|&(scope, semantics)| Ordered { scope, semantics }).collect();
        Some(Run {
            accesses: recorded.accesses.iter().enumerate().map(access).collect::<Option<_>>()?,
            fences: FxHashMap::default(),
            barriers: recorded.barriers.iter().map(|(&workgroup, barriers)| (workgroup, ordered(barriers))).collect(),
        })
    }

    fn is_independent(&self) -> bool {
        if self.accesses.len() > ACCESSES || !self.fences.is_empty() || self.accesses.iter().any(|a| a.ordered.synchronizes()) {
            return false;
        }
        let mut by_location: FxHashMap<(ObjectId, u64), Vec<&Access>> = FxHashMap::default();
        for access in &self.accesses {
            by_location.entry(access.location).or_default().push(access);
        }
        by_location.values().all(|accesses| {
            accesses.iter().enumerate().all(|(n, a)| {
                let class = Classes::of(&[a.class]);
                let conflicts = |b: &&&Access| a.invocation != b.invocation && (a.op.writes() || b.op.writes());
                let is_ordered = |b: &Access| self.happens_before(a, b, class) || self.happens_before(b, a, class);
                let commute = |b: &Access| a.commutes_as.is_some() && a.commutes_as == b.commutes_as;
                accesses[..n].iter().filter(conflicts).all(|b| commute(b) || is_ordered(b))
            })
        })
    }

    /// The instructions of a pair in a possible cycle.
    fn cycle(&self) -> Option<[u32; 2]> {
        let mut by_location: FxHashMap<(ObjectId, u64), Vec<&Access>> = FxHashMap::default();
        for access in &self.accesses {
            by_location.entry(access.location).or_default().push(access);
        }
        // A cycle has only accesses that may affect another invocation, or be affected by one.
        by_location.retain(|_, all| all.iter().any(|a| a.op.writes()) && all.iter().any(|a| a.invocation != all[0].invocation));
        let orderless: FxHashSet<(InvocationId, usize)> = by_location
            .values()
            .flatten()
            .filter(|a| self.order_has_no_effect(a, &by_location[&a.location]))
            .map(|a| (a.invocation, a.index))
            .collect();
        let mut by_invocation: BTreeMap<InvocationId, Vec<&Access>> = BTreeMap::new();
        for access in
            self.accesses.iter().filter(|a| by_location.contains_key(&a.location) && !orderless.contains(&(a.invocation, a.index)))
        {
            by_invocation.entry(access.invocation).or_default().push(access);
        }
        let contended: usize = by_invocation.values().map(Vec::len).sum();
        if contended > ACCESSES {
            return self.accesses.first().map(|a| [a.instruction; 2]);
        }
        let search =
            Search { run: self, by_location, by_invocation, remaining_steps: Cell::new(MAX_STEPS), classes: Classes::of(&self.classes()) };
        let mut starts = search.by_invocation.values().flatten().flat_map(|first| search.pairs(first));
        let found = starts.find(|start| search.closes(&mut vec![*start], 0))?;
        Some([found.first.instruction, found.second.instruction])
    }

    fn classes(&self) -> Vec<Class> {
        Class::ALL.into_iter().filter(|class| self.accesses.iter().any(|a| a.class == *class)).collect()
    }

    /// Whether the order of an access, relative to all accesses that may come before or after it,
    /// has no effect.
    fn order_has_no_effect(&self, access: &Access, accesses: &[&Access]) -> bool {
        let class = Classes::of(&[access.class]);
        let is_ordered = |other: &Access| self.happens_before(access, other, class) || self.happens_before(other, access, class);
        access.commutes_as.is_some()
            && accesses
                .iter()
                .all(|other| other.commutes_as == access.commutes_as || other.invocation == access.invocation || is_ordered(other))
    }

    /// Whether a control barrier makes one access happen before the other, for memory of
    /// these classes.
    fn happens_before(&self, one: &Access, other: &Access, classes: Classes) -> bool {
        let orders = |b: &Ordered| b.releases(classes, Scope::Workgroup) && b.acquires(classes, Scope::Workgroup);
        let barriers =
            self.barriers.get(&one.invocation.workgroup).and_then(|barriers| barriers.get(one.barriers_passed..other.barriers_passed));
        one.invocation.workgroup == other.invocation.workgroup && barriers.is_some_and(|between| between.iter().any(orders))
    }

    /// Whether an invocation has a fence between two of its places that satisfies a condition.
    fn fenced(&self, invocation: InvocationId, between: (usize, usize), condition: impl Fn(&Ordered) -> bool) -> bool {
        let fences = self.fences.get(&invocation).into_iter().flatten();
        fences.filter(|(at, _)| between.0 < *at && *at < between.1).any(|(_, ordered)| condition(ordered))
    }
}

/// What an OpControlBarrier orders, from its operands.
fn barrier(module: &Module, operands: &[u32]) -> Ordered {
    let constant = |k: usize| operands.get(k).and_then(|&id| module.constant_value(id)).and_then(|value| u32::try_from(value).ok());
    let (scope, semantics) = (constant(1).map(Scope::decode), constant(2).map(Semantics::decode));
    match (scope, semantics) {
        (Some(Ok(scope)), Some(Ok(semantics))) => Ordered { scope, semantics },
        // The loader accepts no such barrier.
        _ => Ordered { scope: Scope::Invocation, semantics: Semantics::RELAXED },
    }
}

struct Search<'r> {
    run: &'r Run,
    by_location: FxHashMap<(ObjectId, u64), Vec<&'r Access>>,
    by_invocation: BTreeMap<InvocationId, Vec<&'r Access>>,
    remaining_steps: Cell<u32>,
    /// The classes of all atomics.
    classes: Classes,
}

impl<'r> Search<'r> {
    /// The pairs whose first access is this one.
    fn pairs(&self, first: &'r Access) -> impl Iterator<Item = Pair<'r>> {
        let own = self.by_invocation.get(&first.invocation).into_iter().flatten();
        own.filter(|second| first.index < second.index && first.location != second.location).map(|second| Pair { first, second })
    }

    /// Whether the search may look at one more access. Counts that access.
    fn may_continue(&self) -> bool {
        let remaining = self.remaining_steps.get();
        self.remaining_steps.set(remaining.saturating_sub(1));
        remaining > 0
    }

    /// Whether a path of pairs can be closed to a cycle with at least two hops that nothing orders.
    /// `open` is the number of such hops in the path.
    fn closes(&self, path: &mut Vec<Pair<'r>>, open: u32) -> bool {
        let (Some(&start), Some(&last)) = (path.first(), path.last()) else { return false };
        if last.second.location == start.first.location {
            return self.hops(last.second, start.first) && open + u32::from(!self.synchronizes(last, start)) >= 2;
        }
        for first in self.by_location.get(&last.second.location).into_iter().flatten() {
            if !self.may_continue() {
                return true;
            }
            if path.iter().any(|pair| pair.first.invocation == first.invocation) || !self.hops(last.second, first) {
                continue;
            }
            for pair in self.pairs(first) {
                if !self.may_continue() {
                    return true;
                }
                // A shortest cycle has one hop at each location.
                if path.iter().any(|other| other.second.location == pair.second.location) {
                    continue;
                }
                let opened = open + u32::from(!self.synchronizes(last, pair));
                path.push(pair);
                if self.closes(path, opened) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }

    /// Whether one access may take effect before another at its location, with an effect on what
    /// is read.
    fn hops(&self, one: &Access, other: &Access) -> bool {
        let class = Classes::of(&[one.class]);
        let is_ordered = |a: &Access, b: &Access| self.run.happens_before(a, b, class);
        let between = |g: &&Access| {
            g.op.writes()
                && g.invocation != one.invocation
                && g.invocation != other.invocation
                && !is_ordered(g, one)
                && !is_ordered(other, g)
        };
        one.invocation != other.invocation
            && !is_ordered(other, one)
            && (one.op.writes() || other.op.writes() || self.by_location[&one.location].iter().any(between))
    }

    /// Whether the hop between two pairs, once taken, is happens-before.
    fn synchronizes(&self, one: Pair<'_>, other: Pair<'_>) -> bool {
        let (run, classes) = (self.run, self.classes);
        let (from, to) = (one.second, other.first);
        if run.happens_before(from, to, classes) {
            return true;
        }
        let scope = if from.invocation.workgroup == to.invocation.workgroup { Scope::Workgroup } else { Scope::QueueFamily };
        let release = |fence: &Ordered| fence.releases(classes, scope);
        let acquire = |fence: &Ordered| fence.acquires(classes, scope);
        let mutual = from.ordered.scope >= scope && to.ordered.scope >= scope;
        let releases = release(&from.ordered) || run.fenced(from.invocation, (one.first.index, from.index), release);
        let acquires = acquire(&to.ordered) || run.fenced(to.invocation, (to.index, other.second.index), acquire);
        // A store in between ends the release sequence. A read-modify-write continues it. The hop
        // from a later store of the same invocation is searched separately.
        let ends = |g: &&&Access| {
            let others = g.invocation != from.invocation && g.invocation != to.invocation;
            g.op == AtomicOp::Store && others && !run.happens_before(g, from, classes) && !run.happens_before(to, g, classes)
        };
        mutual && from.op.writes() && to.op.reads() && releases && acquires && self.by_location[&from.location].iter().find(ends).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ComputeModule;
    use crate::generate::spirv::{Limits, case};
    use crate::theorem::refine::Shape;
    use crate::theorem::refine::input::DRAFTS;

    /// The machine records the same atomics and barriers as the relation, for generated modules
    /// with and without dependence on the order.
    #[test]
    fn the_machine_notes_what_the_relation_watches() {
        let settings = Settings { groups: Some([2, 1, 1]), ..Settings::default() };
        let watch = lockstep::Watch { atomics: true, order: 0 };
        let [mut independent, mut dependent, mut with_barriers] = [0; 3];
        for seed in 1..=400 {
            let case = case(seed, &Limits::default());
            let module = Module::load(&case.words).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let side = Side::new("module", ComputeModule::new(module, Some(&case.entry)).unwrap_or_else(|e| panic!("{e}")), None);
            if !side.depends_on_schedule() {
                continue;
            }
            let shape = Shape::of(&side, &settings).unwrap_or_else(|e| panic!("{e}"));
            let input = shape.draw(&settings, seed, DRAFTS - 1);
            let Some((Outcome::Observed(_), watched)) = side.on_machine(&input, &settings, 1 << 20, watch) else { continue };
            let (outcome, of_relation) = Run::of(&side, &input, &settings, 1 << 20, &Schedule::InOrder);
            let Some(of_machine) = Run::from_machine(&side.module.module, &watched.atomics) else {
                assert!(!of_relation.fences.is_empty(), "seed {seed}");
                continue;
            };
            if outcome.observed().is_none() {
                continue;
            }
            let facts = |run: &Run| {
                let fact = |a: &Access| {
                    let object = if a.class == Class::Workgroup { a.invocation.workgroup } else { u32::MAX };
                    (a.instruction, a.invocation.workgroup, a.invocation.local, object, a.location.1, a.op.writes(), a.barriers_passed)
                };
                let mut facts: Vec<_> = run.accesses.iter().map(fact).collect();
                facts.sort_unstable();
                let count = |workgroup| run.barriers.get(&workgroup).map_or(0, Vec::len);
                (facts, [0, 1].map(count))
            };
            let is_independent = of_relation.is_independent();
            assert_eq!(of_machine.is_independent(), is_independent, "seed {seed}");
            if is_independent {
                assert_eq!(facts(&of_machine), facts(&of_relation), "seed {seed}");
            }
            *(if is_independent { &mut independent } else { &mut dependent }) += 1;
            with_barriers += u32::from(!of_machine.barriers.is_empty());
        }
        assert!(independent > 10 && dependent > 10 && with_barriers > 5, "{independent}, {dependent}, {with_barriers}");
    }
}

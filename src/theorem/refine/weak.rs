//! Whether a module may show what no interleaving of its invocations shows.
//!
//! The relation interleaves: each of its runs is sequentially consistent. The Vulkan memory model
//! allows more, since a device may let relaxed atomics at different locations take effect in
//! another order. An execution that is no interleaving has a cycle (Shasha and Snir, "Efficient and
//! Correct Execution of Parallel Programs that Share Memory", 1988): through two or more
//! invocations and as many locations, each invocation with a *pair* of accesses at different
//! locations in program order, each location with a *hop* from the second access of a pair to the
//! first of the next invocation's, in the order in which accesses take effect there. The memory
//! model forbids such a cycle if all of its hops, but one at most, are happens-before: each
//! location by itself is coherent, and nothing else is asked. So a cycle needs two hops that
//! nothing orders.
//!
//! An execution departs from the interleavings at some first access, and the cycle that it closes
//! there is of accesses that an interleaving has too. So it is enough to look for cycles among the
//! accesses of each interleaving. Plain accesses are in none: those that nothing orders race, which
//! is undefined behaviour.
//!
//! What orders a hop: a control barrier between its accesses, or a release and an acquire that
//! synchronize if the second access reads what the first has written. Atomics that commute and
//! whose results nobody uses, as those of a histogram, show the same in every order.
//!
//! What is not seen here counts as not ordered: then the executions of the memory model are
//! enumerated ([`executions`]), as far as the budget goes, and what is left is undecided.

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
use crate::compute::told;

/// The most contended accesses of one run among which cycles are looked for; more
/// count as having one.
const ACCESSES: usize = 1 << 12;
/// The most accesses that the search for one cycle looks at as the next of a path; more count as
/// having found one.
const LOOKED_AT: u32 = 1 << 20;

/// What a module shows in the executions that the memory model allows.
pub(super) struct Executions {
    /// Each outcome, with what the atomics read.
    pub(super) shown: Vec<grid::Shown>,
    /// Whether there are no others.
    pub(super) complete: bool,
}

/// How many inputs of a comparison may be too large for a search. What is too large for some is too
/// large for most, so after so many no other input is searched.
pub(super) const MOST_TOO_LARGE: u32 = 8;
/// The same of the search through the orders of the invocations.
pub(super) const MOST_ORDERS: u32 = 4;

/// All executions that the memory model allows of a module, if the budget suffices.
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

/// How a module ends without an observation in one of its executions, if it does.
pub(super) fn ended(shown: &[grid::Shown]) -> Option<String> {
    shown.iter().find(|(outcome, _)| outcome.observed().is_none()).map(|(outcome, _)| super::observe::ending(outcome))
}

/// Why something stays undecided.
pub(super) fn too_large(why: &str, settings: &Settings) -> String {
    format!("{why}; of their executions more than {} choices are not tried", settings.executions.steps)
}

/// What atomics read in an execution that is no interleaving: a line for each, and for each which
/// write.
pub(super) fn told(side: &Side, reads: &[Read]) -> String {
    let module = &side.module.module;
    let who = |id: InvocationId| format!("invocation {} of workgroup {}", id.local, id.workgroup);
    let mut lines = "an execution that is no interleaving, where these atomics read:".to_string();
    for Read { by: (by, instruction), from } in reads {
        let from = match from {
            Some((writer, at)) => format!("what {} of {} wrote", told::instruction(module, *at), who(*writer)),
            None => "what was there at the beginning".into(),
        };
        lines += &format!("\n  {} of {}: {from}", told::instruction(module, *instruction), who(*by));
    }
    lines
}

/// What a release, an acquire or both order, in which scope.
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
    by: InvocationId,
    /// Its place among the atomics and fences of its invocation.
    at: usize,
    instruction: u32,
    location: (ObjectId, u64),
    class: Class,
    op: AtomicOp,
    ordered: Ordered,
    /// For an atomic whose result nobody uses: with which others it commutes.
    blind: Option<Op>,
    /// How many control barriers its invocation had passed.
    passed: usize,
}

/// A schedule that was tried, and what its run's atomics did, once somebody asks.
pub(super) struct Tried {
    schedule: Schedule,
    run: OnceCell<Run>,
}

impl Tried {
    /// A schedule whose run was not watched.
    pub(super) fn unwatched(schedule: Schedule) -> Tried {
        Tried { schedule, run: OnceCell::new() }
    }

    /// Runs a side under a schedule and watches it: how it ends, too.
    pub(super) fn watched(side: &Side, input: &Input, settings: &Settings, fuel: u64, schedule: Schedule) -> (Outcome<Observation>, Tried) {
        let (outcome, run) = Run::of(side, input, settings, fuel, &schedule);
        (outcome, Tried { schedule, run: run.into() })
    }

    fn run(&self, side: &Side, input: &Input, settings: &Settings, fuel: u64) -> &Run {
        self.run.get_or_init(|| Run::of(side, input, settings, fuel, &self.schedule).1)
    }

    /// Whether a module shows the same under every schedule: under this one, atomics of different
    /// invocations meet only where a control barrier orders them, or where they commute and nobody
    /// uses their results. Then every invocation reads under any schedule what it reads under this
    /// one. Nothing may synchronize, for what does so may hide a race from one schedule only.
    pub(super) fn is_independent(&self, side: &Side, input: &Input, settings: &Settings, fuel: u64) -> bool {
        self.run(side, input, settings, fuel).is_independent()
    }
}

/// What a run of the machine says of the orders of a module's invocations.
pub(super) enum Orders {
    /// All of them show the same.
    Alike,
    /// They may differ. In a sentence, which atomics may take effect in an order that no schedule
    /// shows, if there are some.
    MayDiffer(Option<String>),
    /// Nothing: it has fences, whose places are not noted.
    Unknown,
}

/// The same of a run of the machine.
pub(super) fn orders(side: &Side, watched: &lockstep::Watched) -> Orders {
    if !side.depends_on_schedule() {
        return Orders::Alike;
    }
    match Run::noted(&side.module.module, &watched.atomics) {
        None => Orders::Unknown,
        Some(run) if run.is_independent() => Orders::Alike,
        Some(run) => Orders::MayDiffer(run.cycle().map(|found| another_order(side, found))),
    }
}

/// That a device may let these atomics take effect in another order.
fn another_order(side: &Side, found: [u32; 2]) -> String {
    let [first, second] = found.map(|instruction| told::instruction(&side.module.module, instruction));
    format!("a device may let {first} and {second} of {} take effect in another order", side.name)
}

/// The atomics, fences and barriers of one run.
#[derive(Default)]
struct Run {
    accesses: Vec<Access>,
    /// By invocation: place, and what the fence orders.
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

/// In a sentence, which atomics of a module may take effect in an order that none of these
/// schedules shows; nothing if there are none.
pub(super) fn reordered(side: &Side, input: &Input, settings: &Settings, fuel: u64, tried: &[Tried]) -> Option<String> {
    if !side.depends_on_schedule() {
        return None;
    }
    tried.iter().find_map(|tried| tried.run(side, input, settings, fuel).cycle()).map(|found| another_order(side, found))
}

/// Whether the order of invocations may show in a module, whatever its inputs are. It does not if
/// every atomic commutes with all others of its memory, nobody uses its result, and nothing
/// synchronizes: then every invocation does the same under each schedule.
pub(super) fn order_may_show(module: &Module) -> bool {
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

/// Memory that no other names.
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

/// The memory that a pointer is to, where that is plain.
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

/// The ids of atomics' results that nothing in a function uses.
fn unused(module: &Module) -> FxHashSet<u32> {
    let inside = || module.instructions().iter().skip_while(|i| !i.is(Op::Function));
    // A literal that equals an id counts as a use.
    let used: FxHashSet<u32> = inside().flat_map(|i| i.operands(module.words())).copied().collect();
    inside().map(|i| i.result).filter(|result| *result != 0 && !used.contains(result)).collect()
}

/// Integer operations that commute, by one of each kind.
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
            let (at, passed) = counts.entry(event.invocation).or_default();
            let workgroup = event.invocation.workgroup;
            // The arrival of an invocation; that all of them leave is a rule of its own, without a
            // value of its own.
            if event.instruction.is(Op::ControlBarrier) && event.rule == Rule::SpirvControlBarrier {
                let barriers = run.barriers.entry(workgroup).or_default();
                if *passed == barriers.len() {
                    barriers.push(barrier(module, event.instruction.operands(module.words())));
                }
                *passed += 1;
            }
            for action in event.actions {
                match action {
                    Action::Atomic { extent, op, scope, semantics, .. } => {
                        let Some(cell) = extent.cells.first() else { continue };
                        run.accesses.push(Access {
                            by: event.invocation,
                            at: *at,
                            instruction: module.instructions().partition_point(|i| i.offset < event.instruction.offset) as u32,
                            location: (extent.object, cell.offset),
                            class: extent.class,
                            op: *op,
                            ordered: Ordered { scope: *scope, semantics: *semantics },
                            blind: commutes(event.instruction.op).filter(|_| unused.contains(&event.instruction.result)),
                            passed: *passed,
                        });
                    }
                    Action::Fence { scope, semantics } => {
                        let fences = run.fences.entry(event.invocation).or_default();
                        fences.push((*at, Ordered { scope: *scope, semantics: *semantics }));
                    }
                    Action::Load(_) | Action::Store(..) => continue,
                }
                *at += 1;
            }
        });
        (report.outcome, run)
    }

    /// What a run of the machine noted; nothing where it has a fence, whose place it does not note.
    fn noted(module: &Module, noted: &lockstep::Atomics) -> Option<Run> {
        if noted.fenced {
            return None;
        }
        let unused = unused(module);
        let access = |(at, (access, passed)): (usize, &(concurrency::Access, u32))| {
            let Kind::Atomic { op, scope, semantics } = access.kind else { return None };
            let concurrency::Agent { workgroup, local } = access.agent;
            let object = match access.class {
                Class::Workgroup => ObjectId::Workgroup { workgroup, index: access.object },
                _ => ObjectId::Buffer(access.object),
            };
            let instruction = module.instructions().get(access.instruction as usize)?;
            Some(Access {
                by: InvocationId { workgroup, local },
                at,
                instruction: access.instruction,
                location: (object, access.offset),
                class: access.class,
                op,
                ordered: Ordered { scope, semantics },
                blind: commutes(instruction.op).filter(|_| unused.contains(&instruction.result)),
                passed: *passed as usize,
            })
        };
        let ordered =
            |barriers: &Vec<(Scope, Semantics)>| barriers.iter().map(|&(scope, semantics)| Ordered { scope, semantics }).collect();
        Some(Run {
            accesses: noted.accesses.iter().enumerate().map(access).collect::<Option<_>>()?,
            fences: FxHashMap::default(),
            barriers: noted.barriers.iter().map(|(&workgroup, barriers)| (workgroup, ordered(barriers))).collect(),
        })
    }

    fn is_independent(&self) -> bool {
        if self.accesses.len() > ACCESSES || !self.fences.is_empty() || self.accesses.iter().any(|a| a.ordered.synchronizes()) {
            return false;
        }
        let mut at: FxHashMap<(ObjectId, u64), Vec<&Access>> = FxHashMap::default();
        for access in &self.accesses {
            at.entry(access.location).or_default().push(access);
        }
        at.values().all(|there| {
            there.iter().enumerate().all(|(n, a)| {
                let class = Classes::of(&[a.class]);
                let meets = |b: &&&Access| a.by != b.by && (a.op.writes() || b.op.writes());
                let fixed = |b: &Access| self.is_fixed(a, b, class) || self.is_fixed(b, a, class);
                let commute = |b: &Access| a.blind.is_some() && a.blind == b.blind;
                there[..n].iter().filter(meets).all(|b| commute(b) || fixed(b))
            })
        })
    }

    /// The instructions of a pair in a cycle that may be.
    fn cycle(&self) -> Option<[u32; 2]> {
        let mut at: FxHashMap<(ObjectId, u64), Vec<&Access>> = FxHashMap::default();
        for access in &self.accesses {
            at.entry(access.location).or_default().push(access);
        }
        // Only what another invocation may see, or be seen by, is in a cycle.
        at.retain(|_, all| all.iter().any(|a| a.op.writes()) && all.iter().any(|a| a.by != all[0].by));
        let loose: FxHashSet<(InvocationId, usize)> =
            at.values().flatten().filter(|a| self.is_loose(a, &at[&a.location])).map(|a| (a.by, a.at)).collect();
        let mut of: BTreeMap<InvocationId, Vec<&Access>> = BTreeMap::new();
        for access in self.accesses.iter().filter(|a| at.contains_key(&a.location) && !loose.contains(&(a.by, a.at))) {
            of.entry(access.by).or_default().push(access);
        }
        let contended: usize = of.values().map(Vec::len).sum();
        if contended > ACCESSES {
            return self.accesses.first().map(|a| [a.instruction; 2]);
        }
        let search = Search { run: self, at, of, left: Cell::new(LOOKED_AT), classes: Classes::of(&self.classes()) };
        let mut starts = search.of.values().flatten().flat_map(|first| search.pairs(first));
        let found = starts.find(|start| search.closes(&mut vec![*start], 0))?;
        Some([found.first.instruction, found.second.instruction])
    }

    fn classes(&self) -> Vec<Class> {
        Class::ALL.into_iter().filter(|class| self.accesses.iter().any(|a| a.class == *class)).collect()
    }

    /// Whether the order of an access and all others that may come before or
    /// after it shows nowhere.
    fn is_loose(&self, access: &Access, there: &[&Access]) -> bool {
        let class = Classes::of(&[access.class]);
        let fixed = |other: &Access| self.is_fixed(access, other, class) || self.is_fixed(other, access, class);
        access.blind.is_some() && there.iter().all(|other| other.blind == access.blind || other.by == access.by || fixed(other))
    }

    /// Whether a control barrier has the one access happen before the other, of another invocation,
    /// in these classes.
    fn is_fixed(&self, one: &Access, other: &Access, classes: Classes) -> bool {
        let orders = |b: &Ordered| b.releases(classes, Scope::Workgroup) && b.acquires(classes, Scope::Workgroup);
        let barriers = self.barriers.get(&one.by.workgroup).and_then(|barriers| barriers.get(one.passed..other.passed));
        one.by.workgroup == other.by.workgroup && barriers.is_some_and(|between| between.iter().any(orders))
    }

    /// Whether a fence of an invocation between these places of it satisfies a condition.
    fn fenced(&self, by: InvocationId, between: (usize, usize), is: impl Fn(&Ordered) -> bool) -> bool {
        let fences = self.fences.get(&by).into_iter().flatten();
        fences.filter(|(at, _)| between.0 < *at && *at < between.1).any(|(_, ordered)| is(ordered))
    }
}

/// What an OpControlBarrier orders, by its operands.
fn barrier(module: &Module, operands: &[u32]) -> Ordered {
    let constant = |k: usize| operands.get(k).and_then(|&id| module.constant_value(id)).and_then(|value| u32::try_from(value).ok());
    let (scope, semantics) = (constant(1).map(Scope::decode), constant(2).map(Semantics::decode));
    match (scope, semantics) {
        (Some(Ok(scope)), Some(Ok(semantics))) => Ordered { scope, semantics },
        // The loader lets none through.
        _ => Ordered { scope: Scope::Invocation, semantics: Semantics::RELAXED },
    }
}

struct Search<'r> {
    run: &'r Run,
    at: FxHashMap<(ObjectId, u64), Vec<&'r Access>>,
    of: BTreeMap<InvocationId, Vec<&'r Access>>,
    left: Cell<u32>,
    /// The classes of all atomics.
    classes: Classes,
}

impl<'r> Search<'r> {
    /// The pairs that begin with an access.
    fn pairs(&self, first: &'r Access) -> impl Iterator<Item = Pair<'r>> {
        let own = self.of.get(&first.by).into_iter().flatten();
        own.filter(|second| first.at < second.at && first.location != second.location).map(|second| Pair { first, second })
    }

    /// Whether the search may look at one more access.
    fn goes_on(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether a path of pairs, with so many hops that nothing orders, can be closed to a cycle
    /// with two of them.
    fn closes(&self, path: &mut Vec<Pair<'r>>, open: u32) -> bool {
        let (Some(&start), Some(&last)) = (path.first(), path.last()) else { return false };
        if last.second.location == start.first.location {
            return self.hops(last.second, start.first) && open + u32::from(!self.synchronizes(last, start)) >= 2;
        }
        for first in self.at.get(&last.second.location).into_iter().flatten() {
            if !self.goes_on() {
                return true;
            }
            if path.iter().any(|pair| pair.first.by == first.by) || !self.hops(last.second, first) {
                continue;
            }
            for pair in self.pairs(first) {
                if !self.goes_on() {
                    return true;
                }
                // Each location has one hop of a shortest cycle.
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

    /// Whether one access may take effect before another at its location so that somebody can tell.
    fn hops(&self, one: &Access, other: &Access) -> bool {
        let class = Classes::of(&[one.class]);
        let fixed = |a: &Access, b: &Access| self.run.is_fixed(a, b, class);
        let between = |g: &&Access| g.op.writes() && g.by != one.by && g.by != other.by && !fixed(g, one) && !fixed(other, g);
        one.by != other.by && !fixed(other, one) && (one.op.writes() || other.op.writes() || self.at[&one.location].iter().any(between))
    }

    /// Whether the hop between two pairs is happens-before if it is taken.
    fn synchronizes(&self, one: Pair<'_>, other: Pair<'_>) -> bool {
        let (run, classes) = (self.run, self.classes);
        let (from, to) = (one.second, other.first);
        if run.is_fixed(from, to, classes) {
            return true;
        }
        let scope = if from.by.workgroup == to.by.workgroup { Scope::Workgroup } else { Scope::QueueFamily };
        let release = |fence: &Ordered| fence.releases(classes, scope);
        let acquire = |fence: &Ordered| fence.acquires(classes, scope);
        let mutual = from.ordered.scope >= scope && to.ordered.scope >= scope;
        let releases = release(&from.ordered) || run.fenced(from.by, (one.first.at, from.at), release);
        let acquires = acquire(&to.ordered) || run.fenced(to.by, (to.at, other.second.at), acquire);
        // A store in between ends the release sequence; what reads and writes goes on with it. The
        // hop from a later store of the same invocation is looked at by itself.
        let ends = |g: &&&Access| {
            let others = g.by != from.by && g.by != to.by;
            g.op == AtomicOp::Store && others && !run.is_fixed(g, from, classes) && !run.is_fixed(to, g, classes)
        };
        mutual && from.op.writes() && to.op.reads() && releases && acquires && self.at[&from.location].iter().find(ends).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ComputeModule;
    use crate::generate::spirv::{Limits, case};
    use crate::theorem::refine::Shape;
    use crate::theorem::refine::input::DRAFTS;

    /// The machine notes the atomics and barriers that the relation watches, of generated modules
    /// whose order shows and of others.
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
            let Some(noted) = Run::noted(&side.module.module, &watched.atomics) else {
                assert!(!of_relation.fences.is_empty(), "seed {seed}");
                continue;
            };
            if outcome.observed().is_none() {
                continue;
            }
            let facts = |run: &Run| {
                let fact = |a: &Access| {
                    let object = if a.class == Class::Workgroup { a.by.workgroup } else { u32::MAX };
                    (a.instruction, a.by.workgroup, a.by.local, object, a.location.1, a.op.writes(), a.passed)
                };
                let mut facts: Vec<_> = run.accesses.iter().map(fact).collect();
                facts.sort_unstable();
                let count = |workgroup| run.barriers.get(&workgroup).map_or(0, Vec::len);
                (facts, [0, 1].map(count))
            };
            let is_independent = of_relation.is_independent();
            assert_eq!(noted.is_independent(), is_independent, "seed {seed}");
            if is_independent {
                assert_eq!(facts(&noted), facts(&of_relation), "seed {seed}");
            }
            *(if is_independent { &mut independent } else { &mut dependent }) += 1;
            with_barriers += u32::from(!noted.barriers.is_empty());
        }
        assert!(independent > 10 && dependent > 10 && with_barriers > 5, "{independent}, {dependent}, {with_barriers}");
    }
}

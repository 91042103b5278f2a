//! Enumerates all executions of a small program that the memory model allows, not only
//! its interleavings.
//!
//! Agents run by the rules of their language. The search chooses for each atomic which write it
//! reads, and for each write its place in the modification order ([`super::axioms`]). The value
//! that is read then decides what the agent does next, as usual. Only atomics on *contended*
//! locations are choices. A location is contended if several agents access it and one of them
//! writes. Everything else is done as soon as possible, since no agent can observe when it is done.
//!
//! # Reads of later writes
//!
//! The model lets a relaxed load see a store that comes after it. Load buffering is an example:
//! two invocations load and then store. It is allowed because no relation in "Acyclicity" goes
//! from one location to another. By its letter, values might even come out of thin air: x and y
//! could become 42 if each invocation copies one to the other. No implementation does that, and it
//! would allow every value. Here a read may see a later write only of certain values: another
//! agent must have written the value there in an execution that was found before. The search is
//! repeated until there are no new values. So an execution never has a value that is written only
//! because it was read.
//!
//! # What is left out
//!
//! A read that would synchronize with a later write needs no search. Either another order of events
//! has the same execution, or the read happens before the write and may not read it. This holds if
//! all events that order anything order the same storage classes. If they do not, and such a read
//! was found, the search reports that it is not complete. Locations that overlap in part are not
//! supported either.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::axioms::{EVENTS, Event, EventKind, Execution, Location, location};
use super::race::{Access, Kind, Race};
use super::rules::Rules;
use super::scope::Topology;
use crate::interleavings::{Budget, Exploration};

/// The most rounds of the search.
const ROUNDS: u32 = 8;
/// The most agents that may be ready at once. Each choice of each agent keeps a state of the
/// whole program.
const AGENTS: usize = 16;

/// The next observable action of an agent.
#[derive(Clone, Debug)]
pub struct Upcoming<V> {
    /// The location.
    pub at: Location,
    /// For an atomic access: whether it may read. `None` for a plain access.
    pub atomic: Option<bool>,
    /// The value that memory holds there.
    pub current: V,
}

/// An action that an agent has done.
#[derive(Clone, Debug)]
pub struct Done<V> {
    /// The event that the action adds to the execution.
    pub event: Event,
    /// The value that it wrote, if any.
    pub wrote: Option<V>,
}

/// A program that the search runs. Steps must be deterministic.
pub trait Agents: Clone {
    /// The values in memory.
    type Value: Clone + PartialEq;
    /// The numbers of the agents that can step. Empty once the run is over.
    fn ready(&self) -> Vec<u32>;
    /// The next observable actions of an agent.
    fn upcoming(&self, agent: u32) -> Vec<Upcoming<Self::Value>>;
    /// Lets an agent do its next observable action, and then everything up to the one after it.
    /// Returns what was done, by the agent and by the agents that left a barrier with it.
    fn step(&mut self, agent: u32) -> Vec<Done<Self::Value>>;
    /// Sets the value at a location of memory.
    fn hold(&mut self, at: Location, value: &Self::Value);
    /// Reports two accesses that race. The second is part of the last step.
    fn race(&mut self, race: &Race);
    /// `None` unless the run stopped before its end. Otherwise whether undefined
    /// behaviour stopped it.
    fn stopped(&self) -> Option<bool>;
}

/// What is known of a program from the executions found so far.
#[derive(Clone, Default, PartialEq)]
struct Known<V> {
    contended: BTreeSet<Location>,
    /// The agents that access contended locations.
    agents: BTreeSet<u32>,
    /// The atomic writes in these executions: location, agent and value.
    values: Vec<(Location, u32, V)>,
    /// By agent: the greatest index, among its events, of an atomic write.
    last: BTreeMap<u32, usize>,
}

/// The agents that have accessed a location, and whether one of them has written.
#[derive(Clone, Default)]
struct Touched {
    agents: BTreeSet<u32>,
    written: bool,
}

#[derive(Clone)]
struct Node<A: Agents> {
    agents: A,
    execution: Execution<A::Value>,
}

/// Records an execution that has ended.
type Visit<'v, A, T> = &'v mut dyn FnMut(&mut Vec<T>, &A, &Execution<<A as Agents>::Value>);

struct Search<'v, A: Agents, T> {
    known: Known<A::Value>,
    /// What the next round will know: the values that executions of this round write, and the last
    /// index by agent.
    values: Vec<(Location, u32, A::Value)>,
    last: BTreeMap<u32, usize>,
    touched: BTreeMap<Location, Touched>,
    seen: FxHashSet<Vec<u32>>,
    done: Exploration,
    rules: Rules,
    /// Whether an execution was left out.
    is_incomplete: bool,
    found: Vec<T>,
    visit: Visit<'v, A, T>,
}

/// Runs a program in every way that the memory model allows. Returns the list that `visit` extends
/// at each end. The budget limits the ends and the choices of each of a few rounds.
pub fn enumerate<A: Agents, T>(
    start: &A,
    topology: Topology,
    rules: Rules,
    budget: Budget,
    visit: Visit<'_, A, T>,
) -> (Vec<T>, Exploration) {
    let mut known = Known { contended: BTreeSet::new(), agents: BTreeSet::new(), values: Vec::new(), last: BTreeMap::new() };
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let mut search = Search {
            values: known.values.clone(),
            last: known.last.clone(),
            known,
            touched: BTreeMap::new(),
            seen: FxHashSet::default(),
            done: Exploration::default(),
            rules,
            is_incomplete: false,
            found,
            visit: &mut *visit,
        };
        let mut stack = vec![Node { agents: start.clone(), execution: Execution::new(topology, rules) }];
        let mut is_within_budget = true;
        while let (true, Some(node)) = (is_within_budget, stack.pop()) {
            is_within_budget = search.branch(node, &mut stack);
            is_within_budget &= search.done.steps < budget.steps && search.done.executions < budget.executions;
        }
        let Search { known: before, values, last, touched, mut done, is_incomplete, found: shown, .. } = search;
        found = shown;
        let shared = |(_, t): &(&Location, &Touched)| t.agents.len() > 1 && t.written;
        let mut next = Known { values, last, ..before.clone() };
        for (at, touched) in touched.iter().filter(shared) {
            next.contended.insert(*at);
            next.agents.extend(&touched.agents);
        }
        if (&next.contended, &next.agents) != (&before.contended, &before.agents) {
            // Executions that were found without this knowledge may not be allowed at all.
            (found, next.values, next.last) = (Vec::new(), before.values, before.last);
        } else if next == before || !is_within_budget {
            done.complete = is_within_budget && !is_incomplete;
            return (found, done);
        }
        if !is_within_budget || overlapping(&next.contended, &touched) {
            return (found, done);
        }
        known = next;
    }
    (found, Exploration::default())
}

/// Whether accesses of different sizes overlap at a contended location.
fn overlapping(contended: &BTreeSet<Location>, touched: &BTreeMap<Location, Touched>) -> bool {
    let overlap = |a: &Location, b: &Location| a.0 == b.0 && a.1 < b.1 + b.2 && b.1 < a.1 + a.2;
    let of_several = |a: (&Location, &Touched), b: (&Location, &Touched)| {
        let by_several = a.1.agents != b.1.agents || a.1.agents.len() > 1;
        a.0 != b.0 && overlap(a.0, b.0) && by_several && (a.1.written || b.1.written)
    };
    let overlaps_earlier =
        |at: &(&Location, &Touched)| touched.range(..=(at.0.0, at.0.1 + at.0.2, 0)).rev().take(16).any(|other| of_several(*at, other));
    touched.iter().any(|at| overlaps_earlier(&at))
        || contended.iter().any(|at| touched.keys().any(|other| at != other && overlap(at, other)))
}

impl<A: Agents, T> Search<'_, A, T> {
    /// Adds all continuations of a node to the stack. Returns false if the program is too large.
    fn branch(&mut self, mut node: Node<A>, stack: &mut Vec<Node<A>>) -> bool {
        if !self.settle(&mut node) {
            return true;
        }
        let ready = node.agents.ready();
        if ready.is_empty() {
            self.end(&node);
            return true;
        }
        if ready.len() > AGENTS {
            return false;
        }
        let values = &self.known.values;
        let number = |at: Location, value: &A::Value| values.iter().position(|(of, _, v)| *of == at && v == value).unwrap_or(0) as u32;
        if !self.seen.insert(node.execution.key(number)) {
            self.done.blocked += 1;
            return true;
        }
        for agent in ready {
            self.choices(&node, agent, stack);
        }
        true
    }

    /// Does everything that is not a choice. Returns whether a choice is left.
    fn settle(&mut self, node: &mut Node<A>) -> bool {
        loop {
            if let Some(race) = node.execution.race()
                && node.execution.promised() == 0
            {
                node.agents.race(&race.clone());
            }
            if node.agents.stopped().is_some() {
                self.end(node);
                return false;
            }
            let free = |agent: &u32| {
                let next = node.agents.upcoming(*agent);
                !next.iter().any(|next| next.atomic.is_some() && self.known.contended.contains(&next.at))
            };
            let Some(agent) = node.agents.ready().into_iter().find(free) else { return true };
            for next in node.agents.upcoming(agent) {
                self.hold_initial(&mut node.execution, &next);
            }
            let done = node.agents.step(agent);
            if !self.record(&mut node.execution, done, None, None) {
                return false;
            }
        }
    }

    fn hold_initial(&self, execution: &mut Execution<A::Value>, next: &Upcoming<A::Value>) {
        if self.known.contended.contains(&next.at) {
            execution.hold(next.at, next.current.clone());
        }
    }

    /// Adds all choices of an agent at an atomic on a contended location.
    fn choices(&mut self, node: &Node<A>, agent: u32, stack: &mut Vec<Node<A>>) {
        let Some(next) = node.agents.upcoming(agent).into_iter().next() else { return };
        let mut node = node.clone();
        self.hold_initial(&mut node.execution, &next);
        let at = next.at;
        let length = node.execution.length(at);
        if next.atomic == Some(false) {
            for place in 1..=length + 1 {
                self.write(&node, agent, at, None, place, stack);
            }
            return;
        }
        for read in 0..=length {
            self.read(&node, agent, at, read, stack);
        }
        for value in self.promised_values(&node, agent, at) {
            for place in 1..=length + 1 {
                let mut node = node.clone();
                if node.execution.promise(at, place, value.clone()) {
                    self.read(&node, agent, at, place, stack);
                }
            }
        }
    }

    /// The values that another agent may still write to the location.
    fn promised_values(&self, node: &Node<A>, agent: u32, at: Location) -> Vec<A::Value> {
        let mut found: Vec<A::Value> = Vec::new();
        // An agent that writes nothing after the read is in no cycle through it. In another order
        // of events, the write comes first.
        if self.known.last.get(&agent).is_none_or(|last| *last <= node.execution.count(agent)) {
            return found;
        }
        for (place, writer, value) in &self.known.values {
            if *place == at && *writer != agent && !found.contains(value) {
                found.push(value.clone());
            }
        }
        found
    }

    /// Lets an atomic read from a place, and write if it does.
    fn read(&mut self, node: &Node<A>, agent: u32, at: Location, read: usize, stack: &mut Vec<Node<A>>) {
        let mut node = node.clone();
        let Some(value) = node.execution.value(at, read).cloned() else { return };
        node.agents.hold(at, &value);
        let (before, mut agents) = (node.agents.clone(), node.agents);
        let done = agents.step(agent);
        let writes = done.first().is_some_and(|done| done.wrote.is_some());
        if !writes {
            let mut execution = node.execution;
            if self.record(&mut execution, done, Some(read), None) {
                self.push(Node { agents, execution }, at, stack);
            }
            return;
        }
        let node = Node { agents: before, execution: node.execution };
        for place in read + 1..=node.execution.length(at) + 1 {
            if (self.rules.adjacent)(read, place) {
                self.write(&node, agent, at, Some(read), place, stack);
            }
        }
    }

    /// Lets an atomic write at a place, or keep the promise there.
    fn write(&mut self, node: &Node<A>, agent: u32, at: Location, read: Option<usize>, place: usize, stack: &mut Vec<Node<A>>) {
        let mut agents = node.agents.clone();
        let done = agents.step(agent);
        let wrote = done.first().and_then(|done| done.wrote.clone());
        let fulfils = node.execution.is_promised(at, place) && node.execution.value(at, place) == wrote.as_ref();
        let mut execution = node.execution.clone();
        if fulfils && self.record(&mut execution, done.clone(), read, Some((place, true))) {
            self.push(Node { agents: agents.clone(), execution }, at, stack);
        }
        let mut execution = node.execution.clone();
        if self.record(&mut execution, done, read, Some((place, false))) {
            self.push(Node { agents, execution }, at, stack);
        }
    }

    /// Adds a choice to the stack. Memory holds the last value of the modification order.
    fn push(&mut self, mut node: Node<A>, at: Location, stack: &mut Vec<Node<A>>) {
        self.done.steps += 1;
        if let Some(value) = node.execution.last(at).cloned() {
            node.agents.hold(at, &value);
        }
        stack.push(node);
    }

    /// Adds the actions of a step to the execution. Returns whether it is still consistent.
    fn record(
        &mut self,
        execution: &mut Execution<A::Value>,
        done: Vec<Done<A::Value>>,
        read: Option<usize>,
        write: Option<(usize, bool)>,
    ) -> bool {
        let mut parts: Vec<Event> = Vec::new();
        let number = |event: &Event| if let EventKind::Barrier(number, ..) = event.kind { Some(number) } else { None };
        for (index, Done { event, wrote }) in done.into_iter().enumerate() {
            if execution.events().len() + parts.len() >= EVENTS {
                self.is_incomplete = true;
                return false;
            }
            if parts.first().is_some_and(|part| number(part) != number(&event)) {
                execution.meet(&parts);
                parts.clear();
            }
            match event.kind {
                EventKind::Access(access) => {
                    self.record_access(&access, event.agent);
                    let at = location(&access);
                    if !self.known.contended.contains(&at) {
                        continue;
                    }
                    let is_plain = matches!(access.kind, Kind::Load | Kind::Store);
                    let (read, write) = if index == 0 && !is_plain { (read, write) } else { (None, None) };
                    let place = write.map_or((execution.length(at) + 1, false), |write| write);
                    let wrote = wrote.map(|value| (place, value));
                    if !execution.add(event, read, wrote.map(|((place, fulfils), value)| (place, fulfils, value))) {
                        self.is_incomplete |= !execution.is_uniform();
                        return false;
                    }
                }
                _ if !self.known.agents.contains(&event.agent) => {}
                EventKind::Fence(..) => _ = execution.add(event, None, None),
                EventKind::Barrier(..) => parts.push(event),
            }
        }
        if !parts.is_empty() {
            execution.meet(&parts);
        }
        true
    }

    fn record_access(&mut self, access: &Access, agent: u32) {
        let touched = self.touched.entry(location(access)).or_default();
        touched.agents.insert(agent);
        touched.written |= access.kind.writes();
    }

    /// Records the end of an execution.
    fn end(&mut self, node: &Node<A>) {
        if node.execution.promised() > 0 {
            // If a read of a later write leads to undefined behaviour, so does an execution in
            // which that write came first.
            self.is_incomplete |= node.agents.stopped() == Some(false);
            return;
        }
        self.done.executions += 1;
        for (agent, number) in node.execution.last_writes() {
            let last = self.last.entry(agent).or_default();
            *last = number.max(*last);
        }
        for (at, agent, value) in node.execution.values() {
            if !self.values.iter().any(|(a, b, v)| (*a, *b) == (at, agent) && v == value) {
                self.values.push((at, agent, value.clone()));
            }
        }
        (self.visit)(&mut self.found, &node.agents, &node.execution);
    }
}

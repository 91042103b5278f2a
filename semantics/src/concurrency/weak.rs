//! All executions of a small program that the memory model allows, not only its interleavings.
//!
//! Agents run by the rules of their language; the search chooses for each atomic which write it
//! reads, and for each write its place in the modification order ([`super::axioms`]). So a value
//! that is read decides what the agent does next, as always. Only atomics on *contended* locations
//! are choices: those that several agents access, and one of them writes. Everything else is done
//! as soon as it can be, for nobody can tell when it is.
//!
//! # Reads of later writes
//!
//! The model lets a relaxed load see a store that comes after it, as where two invocations load and
//! then store (load buffering): nothing in "Acyclicity" has arrows from one location to another. By
//! its letter values might even come out of thin air, so that x and y become 42 where each
//! invocation copies the one to the other. No implementation does that, and every value would be
//! allowed. Here a read may see a later write of a value that another agent has written there in
//! an execution that was found before; executions are looked for again until there are no new
//! values. A value that nothing wrote without it having been read is in none.
//!
//! # What is left out
//!
//! A read that would synchronize with a later write has an execution in another order of events, or
//! happens before the write and may not read it, as long as all that orders anything orders the
//! same storage classes. Where it does not, and such a read was met, the search says that it is not
//! complete. Locations that overlap in part are not followed either.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::axioms::{Deed, EVENTS, Event, Execution, Location, location};
use super::race::{Access, Kind, Race};
use super::rules::Rules;
use super::scope::Topology;
use crate::interleavings::{Budget, Exploration};

/// How often executions are looked for again.
const ROUNDS: u32 = 8;
/// The most agents that may act at once: each choice of each keeps a state of the whole program.
const AGENTS: usize = 16;

/// What an agent does next.
#[derive(Clone, Debug)]
pub struct Upcoming<V> {
    /// To which location.
    pub at: Location,
    /// Of an atomic access: whether it may read.
    pub atomic: Option<bool>,
    /// What the memory holds there.
    pub held: V,
}

/// What an agent did.
#[derive(Clone, Debug)]
pub struct Done<V> {
    /// The event.
    pub event: Event,
    /// What it wrote.
    pub wrote: Option<V>,
}

/// A program that is run. Steps must be deterministic.
pub trait Agents: Clone {
    /// What memory holds.
    type Value: Clone + PartialEq;
    /// The agents that can do something, by number; none once the run is over.
    fn ready(&self) -> Vec<u32>;
    /// What an agent does next that others can see.
    fn upcoming(&self, agent: u32) -> Vec<Upcoming<Self::Value>>;
    /// Has it do that, and all that follows up to what it does next; what was done, by it and by
    /// those that left a barrier with it.
    fn step(&mut self, agent: u32) -> Vec<Done<Self::Value>>;
    /// Memory holds a value at a location from now on.
    fn hold(&mut self, at: Location, value: &Self::Value);
    /// Two accesses race, the second of them in the last step.
    fn race(&mut self, race: &Race);
    /// Whether the run ended before its end: nothing if not, and whether it is by undefined
    /// behaviour.
    fn stopped(&self) -> Option<bool>;
}

/// What is known of a program from the executions that were found.
#[derive(Clone, Default, PartialEq)]
struct Known<V> {
    contended: BTreeSet<Location>,
    /// The agents that access what is contended.
    agents: BTreeSet<u32>,
    /// Who has written what.
    values: Vec<(Location, u32, V)>,
    /// By agent: which of its events was the last of these writes, at most.
    last: BTreeMap<u32, usize>,
}

/// Who has accessed a location.
#[derive(Clone, Default)]
struct Touched {
    by: BTreeSet<u32>,
    written: bool,
}

#[derive(Clone)]
struct Node<A: Agents> {
    agents: A,
    execution: Execution<A::Value>,
}

/// Takes what an end shows.
type Visit<'v, A, T> = &'v mut dyn FnMut(&mut Vec<T>, &A, &Execution<<A as Agents>::Value>);

struct Search<'v, A: Agents, T> {
    known: Known<A::Value>,
    /// The values that the executions of this round write, and when last.
    values: Vec<(Location, u32, A::Value)>,
    last: BTreeMap<u32, usize>,
    touched: BTreeMap<Location, Touched>,
    seen: FxHashSet<Vec<u32>>,
    done: Exploration,
    rules: Rules,
    /// Whether something was left out.
    cut: bool,
    found: Vec<T>,
    visit: Visit<'v, A, T>,
}

/// Runs a program in every way that the memory model allows; what `visit` puts into a list at each
/// end. The budget is for each of a few rounds: ends, and choices.
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
            cut: false,
            found,
            visit: &mut *visit,
        };
        let mut stack = vec![Node { agents: start.clone(), execution: Execution::new(topology, rules) }];
        let mut within = true;
        while let (true, Some(node)) = (within, stack.pop()) {
            within = search.branch(node, &mut stack);
            within &= search.done.steps < budget.steps && search.done.executions < budget.executions;
        }
        let Search { known: before, values, last, touched, mut done, cut, found: shown, .. } = search;
        found = shown;
        let shared = |(_, t): &(&Location, &Touched)| t.by.len() > 1 && t.written;
        let mut next = Known { values, last, ..before.clone() };
        for (at, touched) in touched.iter().filter(shared) {
            next.contended.insert(*at);
            next.agents.extend(&touched.by);
        }
        if (&next.contended, &next.agents) != (&before.contended, &before.agents) {
            // What was found without knowing of these may be no execution at all.
            (found, next.values, next.last) = (Vec::new(), before.values, before.last);
        } else if next == before || !within {
            done.complete = within && !cut;
            return (found, done);
        }
        if !within || overlapping(&next.contended, &touched) {
            return (found, done);
        }
        known = next;
    }
    (found, Exploration::default())
}

/// Whether accesses of different sizes meet at something contended.
fn overlapping(contended: &BTreeSet<Location>, touched: &BTreeMap<Location, Touched>) -> bool {
    let meet = |a: &Location, b: &Location| a.0 == b.0 && a.1 < b.1 + b.2 && b.1 < a.1 + a.2;
    let of_several = |a: (&Location, &Touched), b: (&Location, &Touched)| {
        let apart = a.1.by != b.1.by || a.1.by.len() > 1;
        a.0 != b.0 && meet(a.0, b.0) && apart && (a.1.written || b.1.written)
    };
    let near =
        |at: &(&Location, &Touched)| touched.range(..=(at.0.0, at.0.1 + at.0.2, 0)).rev().take(16).any(|other| of_several(*at, other));
    touched.iter().any(|at| near(&at)) || contended.iter().any(|at| touched.keys().any(|other| at != other && meet(at, other)))
}

impl<A: Agents, T> Search<'_, A, T> {
    /// All ways to go on. Whether the program is small enough for that.
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

    /// All that is no choice is done. Whether there is more to do.
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
                self.touch(&mut node.execution, &next);
            }
            let done = node.agents.step(agent);
            if !self.record(&mut node.execution, done, None, None) {
                return false;
            }
        }
    }

    fn touch(&self, execution: &mut Execution<A::Value>, next: &Upcoming<A::Value>) {
        if self.known.contended.contains(&next.at) {
            execution.hold(next.at, next.held.clone());
        }
    }

    /// All choices that an agent has at an atomic on something contended.
    fn choices(&mut self, node: &Node<A>, agent: u32, stack: &mut Vec<Node<A>>) {
        let Some(next) = node.agents.upcoming(agent).into_iter().next() else { return };
        let mut node = node.clone();
        self.touch(&mut node.execution, &next);
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
        for value in self.promised(&node, agent, at) {
            for place in 1..=length + 1 {
                let mut node = node.clone();
                if node.execution.promise(at, place, value.clone()) {
                    self.read(&node, agent, at, place, stack);
                }
            }
        }
    }

    /// The values that another agent may yet write there.
    fn promised(&self, node: &Node<A>, agent: u32, at: Location) -> Vec<A::Value> {
        let mut found: Vec<A::Value> = Vec::new();
        // Who writes nothing after the read is in no cycle through it: that write comes first in
        // some other order.
        if self.known.last.get(&agent).is_none_or(|last| *last <= node.execution.count(agent)) {
            return found;
        }
        for (of, by, value) in &self.known.values {
            if *of == at && *by != agent && !found.contains(value) {
                found.push(value.clone());
            }
        }
        found
    }

    /// An atomic reads what is at a place, and may write.
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

    /// An atomic writes to a place, or keeps what is promised there.
    fn write(&mut self, node: &Node<A>, agent: u32, at: Location, read: Option<usize>, place: usize, stack: &mut Vec<Node<A>>) {
        let mut agents = node.agents.clone();
        let done = agents.step(agent);
        let wrote = done.first().and_then(|done| done.wrote.clone());
        let keeps = node.execution.is_promised(at, place) && node.execution.value(at, place) == wrote.as_ref();
        let mut execution = node.execution.clone();
        if keeps && self.record(&mut execution, done.clone(), read, Some((place, true))) {
            self.push(Node { agents: agents.clone(), execution }, at, stack);
        }
        let mut execution = node.execution.clone();
        if self.record(&mut execution, done, read, Some((place, false))) {
            self.push(Node { agents, execution }, at, stack);
        }
    }

    /// One more choice. Memory holds what is last.
    fn push(&mut self, mut node: Node<A>, at: Location, stack: &mut Vec<Node<A>>) {
        self.done.steps += 1;
        if let Some(value) = node.execution.last(at).cloned() {
            node.agents.hold(at, &value);
        }
        stack.push(node);
    }

    /// Adds what was done. Whether the execution is consistent, as far as it goes.
    fn record(
        &mut self,
        execution: &mut Execution<A::Value>,
        done: Vec<Done<A::Value>>,
        read: Option<usize>,
        write: Option<(usize, bool)>,
    ) -> bool {
        let mut parts: Vec<Event> = Vec::new();
        let number = |event: &Event| if let Deed::Barrier(number, ..) = event.deed { Some(number) } else { None };
        for (index, Done { event, wrote }) in done.into_iter().enumerate() {
            if execution.events().len() + parts.len() >= EVENTS {
                self.cut = true;
                return false;
            }
            if parts.first().is_some_and(|part| number(part) != number(&event)) {
                execution.meet(&parts);
                parts.clear();
            }
            match event.deed {
                Deed::Access(access) => {
                    self.touched(&access, event.agent);
                    let at = location(&access);
                    if !self.known.contended.contains(&at) {
                        continue;
                    }
                    let is_plain = matches!(access.kind, Kind::Load | Kind::Store);
                    let (read, write) = if index == 0 && !is_plain { (read, write) } else { (None, None) };
                    let place = write.map_or((execution.length(at) + 1, false), |write| write);
                    let wrote = wrote.map(|value| (place, value));
                    if !execution.add(event, read, wrote.map(|((place, keeps), value)| (place, keeps, value))) {
                        self.cut |= !execution.is_uniform();
                        return false;
                    }
                }
                _ if !self.known.agents.contains(&event.agent) => {}
                Deed::Fence(..) => _ = execution.add(event, None, None),
                Deed::Barrier(..) => parts.push(event),
            }
        }
        if !parts.is_empty() {
            execution.meet(&parts);
        }
        true
    }

    fn touched(&mut self, access: &Access, agent: u32) {
        let touched = self.touched.entry(location(access)).or_default();
        touched.by.insert(agent);
        touched.written |= access.kind.writes();
    }

    /// An execution has come to its end.
    fn end(&mut self, node: &Node<A>) {
        if node.execution.promised() > 0 {
            // What is undefined by a read of a later write is so in an execution where that write
            // came first, as well.
            self.cut |= node.agents.stopped() == Some(false);
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

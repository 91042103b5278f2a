//! The race detector against the memory model: litmus tests with their reasons, and thousands of
//! random executions against the brute-force oracle. These tests must catch each bug that is
//! planted in the rules. `every` does the same for a language that goes on after races.

mod every;
mod explored;
mod litmus;
mod oracle;
mod planted;
mod random;
mod weak;

use oracle::{Action, Event};
use smallstep_semantics::concurrency::{Access, Agent, AtomicOp, Class, Detector, Kind, Race, Rules, Scope, Semantics, Topology};

/// A step of an execution for the detector: an action of one agent, or a control barrier that
/// several agents leave.
#[derive(Clone, Debug)]
pub enum Step {
    /// An access or a fence.
    Act(u32, Action),
    /// A control barrier that these agents leave.
    Barrier(Vec<u32>, Scope, Semantics),
}

/// The execution as events. Each participant of a barrier has one event.
pub fn events(steps: &[Step]) -> Vec<Event> {
    let mut events = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Act(agent, action) => events.push(Event { agent: *agent, action: action.clone() }),
            Step::Barrier(agents, scope, semantics) => {
                let part = |agent: &u32| Event { agent: *agent, action: Action::Barrier(number as u32, *scope, *semantics) };
                events.extend(agents.iter().map(part));
            }
        }
    }
    events
}

/// The first race that the detector reports, with the number of its step. The detector gets this
/// number as the number of the instruction.
pub fn detect(topology: Topology, rules: Rules, steps: &[Step]) -> Option<(usize, Race)> {
    let mut detector = Detector::with_rules(topology, rules);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Act(_, Action::Access(access)) => {
                if let Some(race) = detector.access(&Access { instruction: number as u32, ..*access }) {
                    return Some((number, race));
                }
            }
            Step::Act(agent, Action::Fence(scope, semantics)) => detector.fence(topology.agent(*agent), *scope, semantics),
            Step::Act(_, Action::Barrier(..)) => unreachable!("barriers are steps"),
            Step::Barrier(agents, scope, semantics) => {
                let agents: Vec<Agent> = agents.iter().map(|agent| topology.agent(*agent)).collect();
                detector.barrier(&agents, *scope, semantics);
            }
        }
    }
    None
}

/// The execution as text for messages, one line a step.
pub fn print(steps: &[Step]) -> String {
    let semantics = |s: &Semantics| format!("{:?} {:?}", s.ordering, s.classes.iter().collect::<Vec<_>>());
    let line = |(number, step): (usize, &Step)| match step {
        Step::Act(agent, Action::Access(a)) => {
            let kind = match &a.kind {
                Kind::Atomic { op, scope, semantics: s } => format!("atomic {op:?} {scope:?} {}", semantics(s)),
                plain => format!("{plain:?}"),
            };
            format!("{number}: {agent} {kind} object {} bytes {}+{} {:?}\n", a.object, a.offset, a.bytes, a.class)
        }
        Step::Act(agent, Action::Fence(scope, s)) => format!("{number}: {agent} fence {scope:?} {}\n", semantics(s)),
        Step::Act(..) => String::new(),
        Step::Barrier(agents, scope, s) => format!("{number}: {agents:?} barrier {scope:?} {}\n", semantics(s)),
    };
    steps.iter().enumerate().map(line).collect()
}

/// Judges the detector's answer by the oracle. Returns whether there is a race. The error is a
/// missed race, a race too many, or the wrong pair.
pub fn judge(topology: Topology, rules: Rules, steps: &[Step]) -> Result<bool, String> {
    let races = oracle::races(&topology, &events(steps));
    let mut of_step = Vec::new();
    let mut event = 0;
    for step in steps {
        of_step.push(event);
        event += match step {
            Step::Act(..) => 1,
            Step::Barrier(agents, ..) => agents.len(),
        };
    }
    let expected = (0..steps.len()).find(|&step| matches!(steps[step], Step::Act(..)) && !races[of_step[step]].is_empty());
    match (detect(topology, rules, steps), expected) {
        (None, None) => Ok(false),
        (Some((found, race)), Some(step)) if found == step => {
            if races[of_step[step]].contains(&of_step[race.first.instruction as usize]) {
                Ok(true)
            } else {
                Err(format!("step {step} does not race with step {}\n{}", race.first.instruction, print(steps)))
            }
        }
        (found, expected) => {
            Err(format!("the detector says {:?}, the oracle says {expected:?}\n{}", found.map(|(step, _)| step), print(steps)))
        }
    }
}

/// A step that accesses memory.
pub fn access(topology: &Topology, agent: u32, object: u32, offset: u64, bytes: u64, class: Class, kind: Kind) -> Step {
    Step::Act(agent, Action::Access(Access { agent: topology.agent(agent), object, offset, bytes, class, kind, instruction: 0 }))
}

/// An atomic access.
pub fn atomic(op: AtomicOp, scope: Scope, semantics: Semantics) -> Kind {
    Kind::Atomic { op, scope, semantics }
}

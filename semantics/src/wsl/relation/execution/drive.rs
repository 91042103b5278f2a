//! The driver: asks the rules for a thread's next step, and carries it out.

use super::context::{AppliedRules, Cx, span, turn};
use super::next::{Change, Focus, NextAction, Node, Reduct, context_rules, put};
use super::term::{Env, Expr};
use super::{Effect, Effects, Event, Gate, InDraw, Instance, Next, Shared, Step, Stop, Thread};
use crate::concurrency::Kind;
use crate::outcome::Limit;
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::access::Generated;
use crate::wsl::memory::{Address, Memory, Object, ObjectId};
use crate::wsl::open::{MAX_TERMS, OpenTerms, Word};
use crate::wsl::race::ATOMIC;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::typing::program::ExprId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The fields of a thread that a step uses besides its program and focus.
struct ThreadParts<'t> {
    number: u32,
    own: ObjectId,
    group: ObjectId,
    generated: &'t mut FxHashMap<Generated, ObjectId>,
    released: &'t mut bool,
    stage: &'t mut Option<InDraw>,
}

/// Splits a thread into its other fields, its focus and its program. Rules can then borrow the
/// program in place.
fn split(thread: &mut Thread) -> (ThreadParts<'_>, &mut Focus, &mut Expr) {
    let Thread { number, program, own, group, generated, released, stage, focus, .. } = thread;
    (ThreadParts { number: *number, own: *own, group: *group, generated, released, stage }, focus, program)
}

/// The context for rules about the expression `at`, or about a statement in that expression.
fn context<'a, 'p>(
    shared: &'a Shared<'p>,
    memory: &'a Memory,
    opens: &'a mut OpenTerms,
    thread: &'a ThreadParts,
    gate: Gate,
    (at, env): (ExprId, Option<Env>),
) -> Cx<'a, 'p> {
    opens.thread = thread.number;
    opens.planted = shared.planted.scalar;
    opens.planted_bound = shared.planted.bound;
    Cx {
        shared,
        memory,
        opens,
        own: thread.own,
        group: thread.group,
        number: thread.number,
        generated: thread.generated,
        released: *thread.released,
        gate,
        stage: thread.stage.as_ref(),
        env,
        at,
        depth: 0,
        stuck: None,
        applied_rules: None,
    }
}

/// Makes a thread's next transition. A thread whose program is a value has none: ask
/// [`Thread::value`] first.
///
/// # Errors
/// Why there is none. The thread is unchanged, or it has ended.
pub fn step(shared: &Shared, memory: &mut Memory, opens: &mut OpenTerms, thread: &mut Thread) -> Result<Step, (Stop, Instance)> {
    let gate = if std::mem::take(&mut thread.has_turn) { Gate::Open } else { thread.gate };
    let (mut parts, focus, program) = split(thread);
    // After a planted rule, the term may not step in the same place.
    if shared.planted.rule.is_some() {
        focus.clear();
    }
    let result = search_step(shared, memory, opens, &mut parts, gate, (focus, program));
    if opens.full() {
        let instance = result.map_or_else(|(_, instance)| instance, |_| Instance::default());
        return Err((Stop::Limit(Limit { what: "terms over unspecified values", bound: MAX_TERMS as u64 }), instance));
    }
    result
}

/// The next transition of a thread, searched from the focus outwards.
fn search_step(
    shared: &Shared,
    memory: &mut Memory,
    opens: &mut OpenTerms,
    thread: &mut ThreadParts,
    gate: Gate,
    (focus, program): (&mut Focus, &mut Expr),
) -> Result<Step, (Stop, Instance)> {
    let (whole, name) = (program.at, program.form.name());
    loop {
        let Some((part, at, env)) = focus.part(program) else {
            focus.clear();
            continue;
        };
        let mut cx = context(shared, memory, opens, thread, gate, (at, env));
        match focus.next(&mut cx, &part) {
            Some(next) if focus.is_whole() || next.changes_term() => {
                return carry_out(shared, memory, opens, thread, gate, (focus, part, whole), next);
            }
            // The outer contexts record where a thread stops, so all of them are asked again.
            Some(_) => focus.clear(),
            None if focus.is_whole() => {
                let (at, what) = cx.stuck.unwrap_or((whole, name));
                return Err((Stop::Stuck(format!("no rule applies to {what}"), span(shared.program, at)), Instance::default()));
            }
            None => focus.leave(),
        }
    }
}

/// Tries every rule on each term that a thread's next transition depends on, without lookup by
/// form. The whole program is the last term of the result. Nothing changes.
pub fn ask(shared: &Shared, memory: &Memory, opens: &OpenTerms, thread: &Thread) -> Vec<AppliedRules> {
    let (mut opens, mut thread) = (opens.clone(), thread.clone());
    let gate = if thread.has_turn { Gate::Open } else { thread.gate };
    let (parts, _, program) = split(&mut thread);
    let mut cx = context(shared, memory, &mut opens, &parts, gate, (program.at, None));
    cx.applied_rules = Some(Vec::new());
    let _ = cx.expr(program);
    let mut applied_rules = cx.applied_rules.unwrap_or_default();
    if let Some(last) = applied_rules.last_mut() {
        last.whole = true;
    }
    applied_rules
}

/// Carries out the result of a rule for the part in focus. `whole` is the source expression of
/// the program.
fn carry_out(
    shared: &Shared,
    memory: &mut Memory,
    opens: &mut OpenTerms,
    thread: &mut ThreadParts,
    gate: Gate,
    (focus, part, whole): (&mut Focus, Node, ExprId),
    mut next: Next,
) -> Result<Step, (Stop, Instance)> {
    let Reduct { action, at, place, contexts, around, .. } = &mut *next.0;
    let at = at.unwrap_or(whole);
    let place = place.unwrap_or_else(|| span(shared.program, at));
    let stuck = |why: &str| (Stop::Stuck(why.into(), place), Instance::default());
    if let NextAction::Either(word, alternatives) = action {
        let chosen = chosen(opens, *word, std::mem::take(alternatives));
        *action = NextAction::Becomes(chosen.ok_or_else(|| stuck("no rule applies to a value that nothing is done for"))?);
    }
    around.reverse();
    match action {
        NextAction::Becomes(change) => {
            let mut events = Vec::new();
            if !change.effects.is_empty() {
                let effects = std::mem::take(&mut change.effects);
                carry_out_effects(shared, memory, opens, thread, gate, (effects, place), &mut events)
                    .map_err(|stop| (stop, Instance::default()))?;
            }
            let value = if shared.records_steps { change.value() } else { None };
            let is_final = change.becomes.is_final();
            let (Some(rule), Some(())) = (change.rule, put(part, contexts, change.take())) else {
                return Err(stuck("what a rule gives does not fit into the term"));
            };
            let within = context_rules(shared, focus, contexts);
            focus.enter(contexts);
            if is_final {
                focus.leave();
            }
            next.end();
            Ok(Step { rule, within, at: place, events, value })
        }
        NextAction::Discards(rule) => {
            let rule = rule.unwrap_or(Rule::WslEDiscard);
            let step = Step { rule, within: context_rules(shared, focus, contexts), at: place, events: Vec::new(), value: None };
            Err((Stop::Discarded(Box::new(step)), Instance { barrier: None, around: std::mem::take(around) }))
        }
        NextAction::Stops(stop) => {
            let barrier = matches!(stop, Stop::Barrier | Stop::Quad(_)).then_some(at);
            Err((stop.clone(), Instance { barrier, around: std::mem::take(around) }))
        }
        NextAction::Either(..) => Err(stuck("no outcome of a condition is chosen")),
    }
}

/// The change whose assumption is decided to hold.
fn chosen(opens: &mut OpenTerms, word: Word, alternatives: Vec<(Option<u32>, Change)>) -> Option<Change> {
    let assumed: SmallVec<[u32; 8]> = alternatives.iter().filter_map(|a| a.0).collect();
    let decided = opens.decide(word, &assumed);
    alternatives.into_iter().find(|a| a.0 == decided).map(|a| a.1)
}

/// Whether a store does nothing because a helper thread makes it to device memory. Records an
/// access by a thread of which it is in doubt whether it is a helper.
fn note_helper_access(memory: &mut Memory, thread: &ThreadParts, at: Address) -> bool {
    let Some(stage) = &*thread.stage else { return false };
    if memory.object(at.object).space != AddressSpace::Device {
        return false;
    }
    memory.in_doubt |= stage.doubtful;
    stage.helper
}

/// Carries out the effects of a rule. Records the events with [`Shared::records_steps`].
fn carry_out_effects(
    shared: &Shared,
    memory: &mut Memory,
    opens: &mut OpenTerms,
    thread: &mut ThreadParts,
    gate: Gate,
    (effects, place): (Effects, Span),
    events: &mut Vec<Event>,
) -> Result<(), Stop> {
    let mut record = |event: Event| {
        if shared.records_steps {
            events.push(event);
        }
    };
    if gate != Gate::Open {
        let helper = thread.stage.as_ref().is_some_and(|stage| stage.helper);
        for effect in &effects {
            if let Effect::Store(at, words) = effect
                && !(helper && memory.object(at.object).space == AddressSpace::Device)
                && let Some(footprint) = turn(gate, memory, *at, words.len(), false)
            {
                return Err(Stop::Turn(footprint));
            }
        }
    }
    if let Some(races) = &mut memory.races {
        races.place = place;
    }
    let out_of_object = |what: &str| Stop::Stuck(format!("{what} goes out of its object"), place);
    for effect in effects {
        match effect {
            Effect::Load(at, words) => {
                memory.note(opens, at, words.len() as u32, Kind::Load);
                record(Event::Load(at, words));
            }
            Effect::Read(at, words) => record(Event::Load(at, words)),
            Effect::Store(at, words) => {
                if !note_helper_access(memory, thread, at) {
                    memory.store(opens, at, &words).ok_or_else(|| out_of_object("a store"))?;
                    record(Event::Store(at, words));
                }
            }
            Effect::AtomicLoad(at, word) => {
                note_helper_access(memory, thread, at);
                memory.note(opens, at, 1, ATOMIC);
                record(Event::AtomicLoad(at, word));
            }
            Effect::ReadModifyWrite(at, read, written) => {
                note_helper_access(memory, thread, at);
                memory.note(opens, at, 1, ATOMIC);
                memory.write(opens, at, &[written]).ok_or_else(|| out_of_object("an atomic operation"))?;
                record(Event::ReadModifyWrite(at, read, written));
            }
            Effect::Helped(at) => _ = note_helper_access(memory, thread, at),
            Effect::Fence(threadgroup, device) => {
                *thread.released = false;
                record(Event::Fence { threadgroup, device });
            }
            Effect::Allocate(generated, words) => {
                let name = format!("parameters of {}", shared.program.env.generated_name(generated));
                let words = vec![Word::Bits(0); words as usize];
                let object = memory.push(Object { space: AddressSpace::Thread, name, words });
                thread.generated.insert(generated, object);
            }
            Effect::Exchanged => {
                if let Some(stage) = thread.stage.as_mut() {
                    stage.exchange = None;
                }
            }
        }
    }
    Ok(())
}

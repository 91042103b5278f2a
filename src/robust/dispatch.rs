//! Edited compute modules: loaded or refused, and if loaded, one to both engines.

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{Buffer, LoadError, Module, Relation, grid, lockstep};

use super::edit::edited;
use crate::generate::spirv::{self as generate, case};
use crate::theorem::dispatches::same;

/// What a run may take.
pub(super) const LIMITS: Limits =
    Limits { instructions: 50_000, by_relation: 50_000, turns: 50_000, invocations: 1 << 10, memory: 1 << 22, time: None };

/// A generated dispatch, by its seed in the first two bytes, with the edits of the others in its
/// module. Whether both engines ran it to a definite end.
pub fn dispatch(bytes: &[u8]) -> bool {
    let Some((seed, edits)) = bytes.split_first_chunk() else { return false };
    let limits = generate::Limits { executed: 40, shared_percent: 50, int8: true, int16: true, int64: true, ..generate::Limits::default() };
    let case = case(u16::from_le_bytes(*seed).into(), &limits);
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffers: Vec<Buffer> = case.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: bytes(&b.words) }).collect();
    engines(&edited(&case.words, edits), case.groups, Resources::of_buffers(&buffers))
}

/// Words as a compute module, dispatched by both engines with little of everything: refused, or run
/// by both to the same end. Whether the relation ran it to a definite end, and the machine too, if
/// it compiles such modules.
pub fn engines(words: &[u32], groups: [u32; 3], resources: Resources<'_>) -> bool {
    let Ok(module) = Module::load(words) else { return false };
    let Some(entry) = module.entry_points().first().map(|entry| entry.name.clone()) else { return false };
    let dispatch = Dispatch { entry: &entry, groups, resources, limits: LIMITS };
    let by_relation = grid::run(&module, &dispatch, &Schedule::default(), &Relation::default(), &mut ()).expect("the entry point is there");
    assert!(!matches!(by_relation, Outcome::Stuck(_)), "a module that was loaded is stuck: {by_relation:?}");
    let by_machine = match lockstep::Program::compile(&module, &entry) {
        Ok(program) => program.run(&dispatch, 1),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => return is_definite(&by_relation),
        Err(error) => panic!("the lockstep machine refuses a module that was loaded: {error}"),
    };
    assert!(!matches!(by_machine, Outcome::Stuck(_)), "the lockstep machine is stuck: {by_machine:?}");
    if let Err(what) = compare_outcomes(&by_relation, &by_machine, may_depend_on_order(&module)) {
        panic!("the engines differ: {what}");
    }
    is_definite(&by_relation) && is_definite(&by_machine)
}

/// Whether it says what the module means.
pub(super) fn is_definite<O>(outcome: &Outcome<O>) -> bool {
    matches!(outcome, Outcome::Observed(_) | Outcome::Undefined(_) | Outcome::Deadlock)
}

/// Whether what the module shows may depend on the order of its invocations:
/// it does something atomic.
fn may_depend_on_order(module: &Module) -> bool {
    let is_atomic = |op: Op| Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32;
    module.instructions().iter().any(|i| is_atomic(i.op))
}

/// Whether both ends are one, as far as they are definite. What an engine refuses or has no means
/// for says nothing.
fn compare_outcomes(by_relation: &Outcome<Observation>, by_machine: &Outcome<Observation>, any_order: bool) -> Result<(), String> {
    use Outcome::{Deadlock, Diverges, Limit, Observed, OutOfFuel, Stuck, Undefined, Unsupported};
    match (by_relation, by_machine) {
        (Unsupported(_) | Limit(_) | OutOfFuel | Diverges(_), _) | (_, Unsupported(_) | Limit(_) | OutOfFuel | Diverges(_)) => Ok(()),
        (Observed(_) | Undefined(_) | Deadlock | Stuck(_), _) if any_order => Ok(()),
        (Observed(expected), Observed(found)) => Ok(same(expected, found)?),
        // Of several, which is met first is for the order of invocations to say.
        (Undefined(_), Undefined(_)) | (Deadlock, Deadlock) => Ok(()),
        (a, b) => Err(format!("{} by the relation, {} by the lockstep machine: {a:?}; {b:?}", a.name(), b.name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::environment::ObservedBuffer;

    #[test]
    fn what_differs_is_said() {
        let observed = |byte| {
            let buffer = ObservedBuffer { set: 0, binding: 0, bytes: vec![byte; 4], undefined: Vec::new() };
            Outcome::Observed(Observation { buffers: vec![buffer], images: Vec::new(), instructions: 1 })
        };
        assert!(
            compare_outcomes(&observed(1), &observed(1), false).is_ok()
                && compare_outcomes(&observed(1), &Outcome::OutOfFuel, false).is_ok()
        );
        assert!(
            compare_outcomes(&observed(1), &observed(2), false).is_err()
                && compare_outcomes(&observed(1), &Outcome::Deadlock, false).is_err()
        );
        assert!(compare_outcomes(&observed(1), &observed(2), true).is_ok());
    }
}

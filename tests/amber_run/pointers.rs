//! Scripts whose values depend on pointers that are chosen at run time, and planted bugs.

use pretty_assertions::assert_eq;
use smallstep::amber::Decision;
use smallstep::compute;
use smallstep::run::amber::{Interpreter, Verdict};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::lockstep::Op;
use smallstep_semantics::spirv::step::{Config, Env, Next, Rules, pointer};

use crate::{decisions, device, legs, played, played_on};

/// Each of four invocations advances in a buffer by its own number of words. A loop advances the
/// pointer, and a variable holds it. Then the invocations reverse a Workgroup array through a
/// pointer that goes backwards. Each adds the word that it finds.
const SCRIPT: &str = include_str!("scripts/pointers.amber");

#[test]
fn the_script_holds_by_both_engines() {
    assert_eq!(decisions(SCRIPT), [Decision::Holds; 2]);
    let machine = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
    let (expected, end) = played_on(SCRIPT, &machine);
    assert_eq!(end, None);
    assert!(expected.iter().all(|(decision, _)| *decision == Decision::Holds), "{expected:?}");
    let reference = Interpreter::default().engines.schedule.clone();
    let relation = Interpreter { by: compute::Interpreter::Reference { schedule: reference, keep_going: false }, ..Interpreter::default() };
    assert!(played_on(SCRIPT, &relation).0.iter().all(|(decision, _)| *decision == Decision::Holds));
}

/// Planted bugs: OpSelect takes the other pointer, and OpPtrAccessChain does not move.
fn other_way<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let Next::Config(mut next) = pointer::select_pointer(env, config)? else { return None };
    let i = config.code.first()?;
    let other = config.memory.value(config.module, i.operands(config.module.words())[1])?;
    next.memory.share(config.module, i.result, other);
    Some(Next::Config(next))
}

fn stays<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let Next::Config(mut next) = pointer::ptr_access_chain(env, config)? else { return None };
    let i = config.code.first()?;
    let base = config.memory.value(config.module, i.operands(config.module.words())[0])?;
    next.memory.share(config.module, i.result, base);
    Some(Next::Config(next))
}

#[test]
fn planted_bugs_fail_the_script() {
    let fails = |interpreter: &Interpreter| played_on(SCRIPT, interpreter).0.iter().any(|(decision, _)| *decision == Decision::Fails);
    for (rule, function) in
        [(Rule::SpirvSelectPointer, other_way as smallstep_semantics::spirv::step::RuleFunction), (Rule::SpirvPtrAccessChain, stays)]
    {
        let mut interpreter = Interpreter::default();
        interpreter.engines.relation.rules = Rules::standard().replace(rule, function);
        interpreter.by = compute::Interpreter::Reference { schedule: interpreter.engines.schedule.clone(), keep_going: false };
        assert!(fails(&interpreter), "{rule}");
    }
    let mut interpreter = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
    interpreter.engines.planted = Some(std::sync::Arc::new(|parts| {
        parts.codes.iter_mut().filter(|code| code.op == Op::Advance).for_each(|code| (code.op, code.b) = (Op::Copy, u32::MAX));
    }));
    assert!(fails(&interpreter), "the machine's pointers stay where they are");
}

/// A pointer that advances past the end points to nothing.
#[test]
fn one_link_too_many_is_undefined_behaviour() {
    let (_, end) = played(&SCRIPT.replace("DATA 0 1 2 3 END", "DATA 0 1 2 4 END"));
    let end = format!("{:?}", end.expect("it ends"));
    assert!(end.contains("spirv/access-out-of-bounds") || end.contains("spirv/pointer-to-nothing"), "{end}");
}

/// Fragments choose pointers too. A pointer past the end is undefined behaviour.
#[test]
fn fragments_choose_pointers() {
    const DRAWN: &str = include_str!("scripts/pointers_drawn.amber");
    assert_eq!(decisions(DRAWN), [Decision::Holds; 2]);
    let other = DRAWN.replace("%chosen %k2", "%chosen %k1");
    assert_ne!(decisions(&other), [Decision::Holds; 2]);
    let (_, end) = played(&DRAWN.replace("%chosen %k2", "%chosen %k4"));
    assert!(format!("{end:?}").contains("spirv/pointer-to-nothing"), "{end:?}");
}

/// A device with variable pointers shows the same.
#[test]
fn devices_agree() {
    let Some(mut device) = device() else { return };
    for leg in legs(SCRIPT, &Interpreter::default(), Some(&mut device)) {
        assert!(matches!(leg.verdict, Verdict::Agree | Verdict::Unchecked(_) | Verdict::Undecided(_)), "{:?}", leg.verdict);
    }
}

//! A script whose value depends on Workgroup memory with an explicit layout, and planted bugs.

use pretty_assertions::assert_eq;
use smallstep::amber::Decision;
use smallstep::compute;
use smallstep::run::amber::Interpreter;
use smallstep_semantics::spirv::lockstep::Op;

use crate::{decisions, played_on};

const SCRIPT: &str = include_str!("scripts/workgroup_layout.amber");

#[test]
fn the_script_holds_by_both_engines() {
    assert_eq!(decisions(SCRIPT), [Decision::Holds]);
    let schedule = Interpreter::default().engines.schedule.clone();
    for by in [compute::Interpreter::Machine, compute::Interpreter::Reference { schedule, keep_going: false }] {
        let (expected, end) = played_on(SCRIPT, &Interpreter { by, ..Interpreter::default() });
        assert_eq!((expected.len(), end), (1, None));
        assert_eq!(expected[0].0, Decision::Holds, "{}", expected[0].1);
    }
}

/// Planted bugs: another offset in the module, and another offset in the machine.
#[test]
fn planted_bugs_fail_the_script() {
    let moved = SCRIPT.replace("OpMemberDecorate %as_words 1 Offset 16", "OpMemberDecorate %as_words 1 Offset 24");
    assert_ne!(decisions(&moved), [Decision::Holds]);
    let mut interpreter = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
    interpreter.engines.planted = Some(std::sync::Arc::new(|parts| {
        parts.codes.iter_mut().filter(|code| code.op == Op::LoadShared).for_each(|code| code.c = 0);
    }));
    assert_eq!(played_on(SCRIPT, &interpreter).0[0].0, Decision::Fails);
}

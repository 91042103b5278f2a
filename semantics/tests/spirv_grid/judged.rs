//! Dispatches over sets on the lockstep machine: how it keeps memory for several warps and several
//! ways, and how it finds errors. The machine also runs all tests of `sets`.

use pretty_assertions::assert_eq;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::{Exploration, Rules};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::grammar::Op as Core;
use smallstep_semantics::spirv::grid::{self, Acceptance, Judged, Report};
use smallstep_semantics::spirv::lockstep::{Parts, Program};
use smallstep_semantics::spirv::{Buffer, Module, Relation, operation};

use super::sets::{SINE, STRICT, branch, differs, judged_alike, loaded, module, module_text, point, sets};

/// Runs a function on a dispatch of one workgroup, whose buffer has that many words, all 0.
fn with<T>(words: usize, run: impl FnOnce(&Dispatch<'_>) -> T) -> T {
    let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 4 * words] }];
    let limits = Limits { instructions: 1_000_000, ..Limits::default() };
    run(&Dispatch { entry: "main", groups: [1; 3], resources: Resources::of_buffers(&buffers), limits })
}

fn by_relation(module: &Module, dispatch: &Dispatch<'_>) -> (Report, Acceptance) {
    let relation = Relation::default();
    let shown = grid::report(module, dispatch, &Schedule::default(), &relation, false, &mut ()).expect("main is there");
    let exploration = Exploration::under(Profile::Strict);
    let acceptance = grid::explore(module, dispatch, &shown, &relation, exploration).expect("main is there");
    (shown, acceptance)
}

/// The result over sets of such a dispatch, on which both engines agree. The machine judges all
/// of it.
#[track_caller]
fn judged(controls: [&str; 2], size: u32, words: usize, body: &str) -> Acceptance {
    let module = module(controls, size, body);
    with(words, |dispatch| {
        let (shown, acceptance) = by_relation(&module, dispatch);
        let judged = judged_alike(&module, dispatch, Exploration::under(Profile::Strict), (&shown, &acceptance));
        let judged = judged.unwrap_or_else(|| panic!("the machine leaves it: {acceptance:?}"));
        assert_eq!(judged.left, 0, "the machine leaves parts of it");
        judged.acceptance
    })
}

/// Only the first invocation runs the body.
fn alone(body: &str) -> String {
    format!("%first = OpIEqual %bool %i %c0 {} ", branch("%first", body).replace("%merge", "%merge0").replace("%then", "%then0"))
}

/// 150 invocations, which are three warps, read the float that the first one left in Workgroup
/// memory. It is one value, however they read it.
#[test]
fn warps_have_the_notes_of_their_workgroup_together() {
    let body = format!(
        "{SINE} {} OpControlBarrier %c2 %c2 %c264 %x = OpLoad %float %shared %q2 = OpFMul %float %x %two
         %y = OpLoad %float %shared %q3 = OpFAdd %float %y %y %q4 = OpFSub %float %q2 %q3 OpStore %pi %q2",
        alone("OpStore %shared %q1")
    );
    let acceptance = judged(STRICT, 150, 150, &body);
    let all = sets(&acceptance);
    assert_eq!((all.len(), acceptance.ways), (150, 1));
    assert!(all.iter().all(|(_, set)| *set == all[0].1 && set.contains(2.0 * 0.479_425_55) && set.only().is_none()), "{all:?}");
}

/// On one way of the workgroup one invocation writes a word, and on the other way another one does.
/// Ways do not race with each other.
#[test]
fn ways_of_a_workgroup_do_not_race_with_each_other() {
    let body = format!(
        "{SINE} {} OpControlBarrier %c2 %c2 %c264 %x = OpLoad %float %shared %less = OpFOrdLessThan %bool %x %edge
         %mine = OpIEqual %bool %i %c1 OpSelectionMerge %m None OpBranchConditional %less %a %b
         %a = OpLabel OpSelectionMerge %ma None OpBranchConditional %mine %sa %ma %sa = OpLabel OpStore %p3 %seven OpBranch %ma
         %ma = OpLabel OpBranch %m
         %b = OpLabel OpSelectionMerge %mb None OpBranchConditional %mine %mb %sb %sb = OpLabel OpStore %p3 %seven OpBranch %mb
         %mb = OpLabel OpBranch %m %m = OpLabel",
        alone("OpStore %shared %q1"),
    );
    // Both invocations compare one value, so they go the same way.
    assert_eq!(sets(&judged(STRICT, 2, 4, &body)), []);
}

/// Each of 130 invocations has its own ways, and most of them have one way.
#[test]
fn invocations_that_go_one_way_run_side_by_side_and_others_alone() {
    let body = format!(
        "{SINE} %odd = OpIEqual %bool %i %c3 %angle = OpSelect %float %odd %half %tenth
         %q2 = OpExtInst %float %glsl Sin %angle %less = OpFOrdLessThan %bool %q2 %edge
         %x = OpSelect %float %less %one %two OpStore %pi %x {}",
        branch("%less", "OpStore %pi %three")
    );
    let acceptance = judged(STRICT, 130, 130, &body);
    // The branch and the selection have the same condition.
    assert_eq!((sets(&acceptance), acceptance.ways), (vec![(3, point(2.0).union(point(3.0)))], 131));
    let again = judged([""; 2], 130, 130, &body);
    let all = point(1.0).union(point(2.0)).union(point(3.0));
    assert_eq!((sets(&again), again.ways), (vec![(3, all)], 133));
}

/// The writes of a way are gone before the next way. A way that does not write the word finds the
/// 0 that was there at first.
#[test]
fn each_way_begins_with_the_memory_that_is_given() {
    let body = format!(
        "{SINE} %less = OpFOrdLessThan %bool %q1 %edge {} %y = OpLoad %float %p3 OpStore %p2 %y
         %u = OpLoad %uint %b1 %v = OpIAdd %uint %u %c1 OpStore %b1 %v",
        branch("%less", "OpStore %p3 %seven")
    );
    let both = point(0.0).union(point(7.0));
    assert_eq!(sets(&judged(STRICT, 1, 4, &body)), [(2, both), (3, both)]);
    // Nor are the notes of a way kept, for the buffer or for Workgroup memory.
    let noted = format!(
        "{SINE} %less = OpFOrdLessThan %bool %q1 %edge OpStore %shared %seven {} %y = OpLoad %float %p3 %z = OpLoad %float %shared
         OpControlBarrier %c2 %c2 %c264 OpStore %p1 %y OpStore %p2 %z",
        branch("%less", "OpStore %p3 %q1 OpStore %shared %q1")
    );
    let all = sets(&judged(STRICT, 1, 4, &noted));
    assert_eq!(all.iter().map(|(word, _)| *word).collect::<Vec<_>>(), [1, 2, 3], "{all:?}");
    // A value that is undefined on one way is not undefined on the other.
    let undefined = format!(
        "{SINE} %less = OpFOrdLessThan %bool %q1 %edge %u = OpUndef %float OpSelectionMerge %m None OpBranchConditional %less %a %b
         %a = OpLabel OpStore %p3 %u OpBranch %m %b = OpLabel %y = OpLoad %float %p3 OpStore %p2 %y OpBranch %m %m = OpLabel"
    );
    assert_eq!(judged(STRICT, 1, 4, &undefined).doubtful.iter().map(|d| d.start).collect::<Vec<_>>(), [12]);
}

/// A store over an open value makes the value known, in a buffer and in Workgroup memory. A
/// Workgroup variable begins with its initializer.
#[test]
fn what_is_overwritten_is_known() {
    let body = format!(
        "%z = OpLoad %float %shared OpStore %p3 %z {SINE} OpStore %p0 %q1 OpStore %p0 %seven OpStore %shared %q1 %x = OpLoad %float %shared
         OpStore %shared %seven %y = OpLoad %float %shared OpStore %p1 %x OpStore %p2 %y OpStore %shared %q1
         OpControlBarrier %c2 %c2 %c264 %less = OpFOrdLessThan %bool %q1 %edge {}",
        branch("%less", "OpStore %p0 %two")
    );
    let text = module_text(STRICT, 1, &body)
        .replace("%shared = OpVariable %wf Workgroup", "%null = OpConstantNull %float %shared = OpVariable %wf Workgroup %null");
    let module = loaded(&text);
    let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 16] }];
    let limits = Limits { instructions: 1_000_000, ..Limits::default() };
    let dispatch = Dispatch { entry: "main", groups: [1; 3], resources: Resources::of_buffers(&buffers), limits };
    let (shown, acceptance) = by_relation(&module, &dispatch);
    let judged = judged_alike(&module, &dispatch, Exploration::under(Profile::Strict), (&shown, &acceptance)).expect("it is told");
    assert_eq!(sets(&judged.acceptance).iter().map(|(word, _)| *word).collect::<Vec<_>>(), [0, 1]);
}

/// A word of which only the bits are known is decided, whatever float the bits would be. This holds
/// although the invocation has branched on an open condition.
#[test]
fn integers_are_not_small_floats() {
    let body = format!(
        "{SINE} %less = OpFOrdLessThan %bool %q1 %edge {} %u = OpLoad %uint %b0 %v = OpIAdd %uint %u %c3 OpStore %b0 %v
         %w = OpISub %uint %u %c1 OpStore %b1 %w %n = OpNot %uint %w OpStore %bi %n",
        branch("%less", "OpStore %p3 %seven")
    );
    let body = format!("%bi = OpAccessChain %pu %bits %c0 %c2 {body}");
    for controls in [STRICT, [""; 2]] {
        let acceptance = judged(controls, 1, 4, &body);
        // Without float controls, a float with these bits may become zero.
        let small = body.replace("%w = OpISub", "%tiny = OpBitcast %float %v OpStore %p0 %tiny %w = OpISub");
        let is_open = judged(controls, 1, 4, &small).doubtful.iter().map(|d| d.start).collect::<Vec<_>>() == [0];
        assert_eq!(is_open, controls != STRICT);
        // 3 would be a subnormal float, and all ones are NaN.
        assert_eq!(sets(&acceptance), [(3, point(0.0).union(point(7.0)))]);
    }
}

/// A stored undefined value is any value. A store over it makes the word known.
#[test]
fn undefined_values_are_kept_and_overwritten() {
    let body = format!("{SINE} %u = OpUndef %float OpStore %p0 %u OpStore %p1 %u OpStore %p1 %q1 OpStore %p2 %q1 OpStore %p2 %u");
    let acceptance = judged(STRICT, 1, 4, &body);
    assert_eq!(acceptance.doubtful.iter().map(|d| d.start).collect::<Vec<_>>(), [0, 8]);
    assert_eq!(sets(&acceptance).iter().map(|(word, _)| *word).collect::<Vec<_>>(), [1]);
}

/// A way that writes a word that another invocation writes is a race. Nothing is known of any word.
#[test]
fn a_way_that_races_leaves_everything() {
    for value in ["%two", "%zero"] {
        let body = format!(
            "{SINE} %is = OpIEqual %bool %i %c1 %less = OpFOrdLessThan %bool %q1 %edge %both = OpLogicalAnd %bool %is %less {} OpStore %pi %one",
            branch("%both", &format!("OpStore %p0 {value}"))
        );
        assert!(planted(&module(STRICT, 2, &body), Rules::default(), |_| {}).is_none(), "{value}");
    }
}

/// The machine's result for a module with a planted bug, and its difference from the relation.
/// `None` if the machine does not judge the dispatch.
fn planted(module: &Module, rules: Rules, bug: impl FnOnce(Parts<'_>)) -> Option<(Judged, Option<String>)> {
    let program = Program::compile(module, "main").expect("the machine takes it").planted(bug);
    with(16, |dispatch| {
        let (shown, acceptance) = by_relation(module, dispatch);
        let exploration = Exploration { rules, ..Exploration::under(Profile::Strict) };
        let judged = grid::judge(module, &program, dispatch, &Relation::default(), exploration).expect("main is there")?;
        let difference = differs((&shown, &acceptance), &judged);
        Some((judged, difference))
    })
}

/// The relation also runs samples. They find a machine that computes something else, while it runs.
#[test]
fn a_sample_by_the_relation_finds_a_wrong_machine() {
    let module = module(STRICT, 1, &format!("{SINE} %q2 = OpFSub %float %seven %q1 OpStore %p0 %q2"));
    let (judged, difference) = planted(&module, Rules::default(), |_| {}).expect("it is told");
    assert!(matches!(judged.report.outcome, Outcome::Observed(_)) && difference.is_none(), "{difference:?}");
    let (judged, _) = planted(&module, Rules::default(), |parts| {
        let [sub, add] = [Core::FSub, Core::FAdd].map(|op| operation::core(op).expect("the table has it"));
        parts.sites.iter_mut().filter(|site| site.operation == sub).for_each(|site| site.operation = add);
    })
    .expect("it is told");
    let Outcome::Stuck(stuck) = &judged.report.outcome else { panic!("{:?}", judged.report.outcome) };
    assert!(stuck.why.starts_with("the engines differ: byte 0"), "{stuck:?}");
}

/// The comparison with the relation finds sets that are too narrow.
#[test]
fn narrow_sets_are_seen() {
    let module = module(STRICT, 1, &format!("{SINE} OpStore %p0 %q1"));
    let rules = Rules { allowed: |_, _, _| Some(smallvec::smallvec![point(0.479_425_55)]), ..Rules::default() };
    let (_, difference) = planted(&module, rules, |_| {}).expect("it is told");
    assert!(difference.is_some());
}

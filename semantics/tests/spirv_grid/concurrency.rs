//! Barriers, races, atomics, and schedules.

use pretty_assertions::assert_eq;

use super::*;

const SHARED: &str = "%shared = OpVariable %wv Workgroup";

#[test]
fn barriers_order_and_without_them_there_is_a_race() {
    // Invocation 0 writes, and all read afterwards.
    let body = |barrier: &str| {
        format!(
            "%i = OpLoad %uint %lix %first = OpIEqual %bool %i %c0 OpSelectionMerge %m None OpBranchConditional %first %y %m
            %y = OpLabel OpStore %shared %c9 OpBranch %m %m = OpLabel {barrier} %r = OpLoad %uint %shared {}",
            store("i", "r")
        )
    };
    let module = load(&text(4, "", SHARED, &body("OpControlBarrier %c2 %c2 %wgsem")));
    assert_eq!(shown(&run(&module, 1, &[0; 4])), ["9"; 4]);
    for schedule in (0..20).map(|seed| Schedule::Random { seed }) {
        let buffers = [buffer(0, &[0; 4])];
        let outcome = grid::run(&module, &dispatch(1, &buffers), &schedule, &Relation::default(), &mut ()).expect("main is there");
        assert_eq!(shown(&outcome), ["9"; 4]);
    }
    for barrier in ["OpControlBarrier %c2 %c2 %c0", "", "OpMemoryBarrier %c2 %wgsem"] {
        let outcome = run(&load(&text(4, "", SHARED, &body(barrier))), 1, &[0; 4]);
        let [id, what] = shown(&outcome).try_into().unwrap_or_else(|all| panic!("{barrier}: {all:?}"));
        assert_eq!(id, "spirv/data-race", "{barrier}");
        assert!(what.contains("races with the earlier") && what.contains("neither happens before the other"), "{what}");
    }
    // Each invocation writes its own word: no race.
    let body = format!("%i = OpLoad %uint %lix {}", store("i", "i"));
    assert_eq!(shown(&run(&load(&text(3, "", "", &body)), 1, &[9; 3])), ["0", "1", "2"]);
    // Two workgroups write one word: a race.
    assert_eq!(shown(&run(&load(&text(1, "", "", &store("c0", "c1"))), 2, &[0]))[0], "spirv/data-race");
}

#[test]
fn divergent_barriers_are_undefined() {
    let body = "%i = OpLoad %uint %lix %first = OpIEqual %bool %i %c0 OpSelectionMerge %m None OpBranchConditional %first %y %m
        %y = OpLabel OpControlBarrier %c2 %c2 %wgsem OpBranch %m %m = OpLabel";
    let outcome = run(&load(&text(2, "", "", &format!("{body} {}", store("i", "i")))), 1, &[0; 2]);
    let Outcome::Undefined(undefined) = outcome else { panic!("{outcome:?}") };
    assert_eq!(undefined.ub.id(), "spirv/divergent-barrier");
    assert!(
        undefined.what.contains("invocation (0,0,0) and not by all of its workgroup: invocation (1,0,0) has ended"),
        "{}",
        undefined.what
    );
}

#[test]
fn keeping_going_collects_several() {
    let body = format!(
        "%i = OpLoad %uint %lix %z = OpUDiv %uint %c1 %i %odd = OpBitwiseAnd %uint %i %c1 %o = OpIEqual %bool %odd %c1
        OpSelectionMerge %m None OpBranchConditional %o %y %m %y = OpLabel OpUnreachable %m = OpLabel {}",
        store("c0", "c1")
    );
    let module = load(&text(4, "", "", &body));
    let buffers = [buffer(0, &[0])];
    let report =
        |keep| grid::report(&module, &dispatch(2, &buffers), &Schedule::default(), &Relation::default(), keep, &mut ()).expect("it runs");
    assert_eq!(report(false).undefined.len(), 1);
    let ids: BTreeSet<&str> = report(true).undefined.iter().map(|u| u.ub.id()).collect();
    assert_eq!(ids, BTreeSet::from(["spirv/division-by-zero", "spirv/unreachable", "spirv/data-race"]));
    assert_eq!(report(true), report(true));
}

/// The endings of all schedules of two workgroups with one invocation each. The first workgroup
/// runs `first`, the other runs `second`.
fn endings(declarations: &str, first: &str, second: &str, words: &[u32]) -> BTreeSet<Vec<String>> {
    let body = format!(
        "%g3 = OpLoad %u3 %gid3 %g = OpCompositeExtract %uint %g3 0 %is0 = OpIEqual %bool %g %c0
        %x = OpAccessChain %pword %buf %c0 %c0 %y = OpAccessChain %pword %buf %c0 %c1
        %out0 = OpAccessChain %pword %buf %c0 %c2 %out1 = OpAccessChain %pword %buf %c0 %c3
        OpSelectionMerge %m None OpBranchConditional %is0 %a %b
        %a = OpLabel {first} OpBranch %m %b = OpLabel {second} OpBranch %m %m = OpLabel"
    );
    let module = load(&text(1, "", declarations, &body));
    let buffers = [buffer(0, words)];
    let mut found = BTreeSet::new();
    let done = grid::exhaust(&module, &dispatch(2, &buffers), &Relation::default(), Budget::default(), |outcome, schedule| {
        let again = grid::run(&module, &dispatch(2, &buffers), schedule, &Relation::default(), &mut ()).expect("main is there");
        assert_eq!(&again, outcome, "{schedule} replays");
        let mut all = shown(outcome);
        if matches!(outcome, Outcome::Undefined(_)) {
            all.truncate(1);
        }
        found.insert(all);
        ControlFlow::Continue(())
    });
    assert!(done.expect("main is there").complete);
    found
}

fn strings(rows: &[&[u32]]) -> BTreeSet<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|w| w.to_string()).collect()).collect()
}

#[test]
fn message_passing_is_ordered_by_release_and_acquire_only() {
    // x := 5; flag y := 1. The reader loads x only if it saw the flag.
    let writer = |semantics: &str| format!("OpStore %x %c5 OpAtomicStore %y %c1 {semantics} %c1");
    let reader = |semantics: &str| {
        format!(
            "%seen = OpAtomicLoad %uint %y %c1 {semantics} %is1 = OpIEqual %bool %seen %c1 OpSelectionMerge %rm None
            OpBranchConditional %is1 %ry %rm %ry = OpLabel %got = OpLoad %uint %x OpStore %out0 %got OpBranch %rm %rm = OpLabel"
        )
    };
    let found = endings("", &writer("%rel"), &reader("%acq"), &[0; 4]);
    assert_eq!(found, strings(&[&[5, 1, 0, 0], &[5, 1, 5, 0]]));
    let race = BTreeSet::from([vec!["spirv/data-race".to_string()], ["5", "1", "0", "0"].map(String::from).to_vec()]);
    assert_eq!(endings("", &writer("%relaxed"), &reader("%acq"), &[0; 4]), race);
    assert_eq!(endings("", &writer("%rel"), &reader("%relaxed"), &[0; 4]), race);
}

#[test]
fn all_interleavings_of_atomics_are_seen() {
    // Store buffering: sequentially consistent interleavings of relaxed atomics show three of the
    // four results.
    let found = endings(
        "",
        "OpAtomicStore %x %c1 %c0 %c1 %r0 = OpAtomicLoad %uint %y %c1 %c0 OpStore %out0 %r0",
        "OpAtomicStore %y %c1 %c0 %c1 %r1 = OpAtomicLoad %uint %x %c1 %c0 OpStore %out1 %r1",
        &[0; 4],
    );
    assert_eq!(found, strings(&[&[1, 1, 0, 1], &[1, 1, 1, 0], &[1, 1, 1, 1]]));
    // A separate load and store may lose an increment. A read-modify-write does not.
    let apart = |n: u32| format!("%l{n} = OpAtomicLoad %uint %x %c1 %c0 %s{n} = OpIAdd %uint %l{n} %c1 OpAtomicStore %x %c1 %c0 %s{n}");
    assert_eq!(endings("", &apart(0), &apart(1), &[0; 4]), strings(&[&[1, 0, 0, 0], &[2, 0, 0, 0]]));
    let once = |n: u32| format!("%l{n} = OpAtomicIAdd %uint %x %c1 %c0 %c1");
    assert_eq!(endings("", &once(0), &once(1), &[0; 4]), strings(&[&[2, 0, 0, 0]]));
}

/// A sieve in Workgroup memory, with a barrier between rounds. Each invocation crosses out its own
/// number if a smaller number from 2 to 5 divides it. At the end it stores its flag.
#[test]
fn a_sieve_in_workgroup_memory() {
    let declarations = "%flags = OpTypeArray %uint %c32 %pflags = OpTypePointer Workgroup %flags %sieve = OpVariable %pflags Workgroup";
    let body = format!(
        "%i = OpLoad %uint %lix %mine = OpAccessChain %wv %sieve %i OpStore %mine %c1 OpBranch %h
        %h = OpLabel %n = OpPhi %uint %c2 %entry %n2 %k OpControlBarrier %c2 %c2 %wgsem OpLoopMerge %m %k None OpBranch %go
        %go = OpLabel %more = OpULessThan %bool %n %c6 OpSelectionMerge %w None OpBranchConditional %more %w %brk
        %brk = OpLabel OpBranch %m
        %w = OpLabel %rest = OpUMod %uint %i %n %hit = OpIEqual %bool %rest %c0 %above = OpUGreaterThan %bool %i %n
        %both = OpLogicalAnd %bool %hit %above OpSelectionMerge %x None OpBranchConditional %both %cross %x
        %cross = OpLabel OpStore %mine %c0 OpBranch %x %x = OpLabel OpBranch %k
        %k = OpLabel %n2 = OpIAdd %uint %n %c1 OpBranch %h
        %m = OpLabel %r = OpLoad %uint %mine {}",
        store("i", "r")
    );
    let module = load(&text(32, "", declarations, &body));
    let prime = |i: u32| !(2..6).any(|n| i > n && i.is_multiple_of(n));
    let expected: Vec<String> = (0..32).map(|i| u32::from(prime(i)).to_string()).collect();
    assert_eq!(shown(&run(&module, 1, &[0; 32])), expected);
}

/// Which dynamic instance of a barrier an invocation waits at: programs of two invocations, with
/// the ending that every schedule must have.
#[test]
fn barriers_are_told_apart_by_iterations_and_calls() {
    let barrier = "OpControlBarrier %c2 %c2 %wgsem";
    // A loop of `rounds` iterations, %k from 0 on.
    let repeated = |name: &str, before: &str, rounds: &str, body: &str| {
        format!(
            "OpBranch %h{name} %h{name} = OpLabel %k{name} = OpPhi %uint %c0 {before} %kk{name} %n{name}
            OpLoopMerge %o{name} %n{name} None OpBranch %b{name} %b{name} = OpLabel {body} OpBranch %n{name}
            %n{name} = OpLabel %kk{name} = OpIAdd %uint %k{name} %c1 %m{name} = OpULessThan %bool %kk{name} {rounds}
            OpBranchConditional %m{name} %h{name} %o{name} %o{name} = OpLabel"
        )
    };
    let when = |name: &str, condition: &str, then: &str| {
        format!(
            "%is{name} = {condition} OpSelectionMerge %e{name} None OpBranchConditional %is{name} %t{name} %e{name}
            %t{name} = OpLabel {then} OpBranch %e{name} %e{name} = OpLabel"
        )
    };
    let index = "%i = OpLoad %uint %lix %rounds = OpIAdd %uint %i %c1";
    let rows = [
        ("every iteration of one loop", repeated("a", "%entry", "%c3", barrier), true),
        ("after loops of different lengths", repeated("a", "%entry", "%rounds", "") + " " + barrier, true),
        ("loops of different lengths", repeated("a", "%entry", "%rounds", barrier), false),
        ("each in an iteration of its own", repeated("a", "%entry", "%c2", &when("w", "OpIEqual %bool %ka %i", barrier)), false),
        ("both in the second", repeated("a", "%entry", "%c2", &when("w", "OpIEqual %bool %ka %c1", barrier)), true),
        (
            "an inner loop of an outer iteration of its own",
            repeated("a", "%entry", "%c2", &when("w", "OpIEqual %bool %ka %i", &repeated("b", "%tw", "%c2", barrier))),
            false,
        ),
        (
            "an inner loop of the same outer iteration",
            repeated("a", "%entry", "%c2", &when("w", "OpIEqual %bool %ka %c1", &repeated("b", "%tw", "%c2", barrier))),
            true,
        ),
        (
            "inner loops whose iterations add up alike",
            repeated("a", "%entry", "%c2", &format!("%inner = OpIAdd %uint %c1 %i {}", repeated("b", "%ba", "%inner", barrier))),
            false,
        ),
        ("one call in a loop", repeated("a", "%entry", "%c2", "%x = OpFunctionCall %void %waits"), true),
        (
            "two calls",
            "%is = OpIEqual %bool %i %c0 OpSelectionMerge %e None OpBranchConditional %is %t1 %t2
            %t1 = OpLabel %x = OpFunctionCall %void %waits OpBranch %e %t2 = OpLabel %y = OpFunctionCall %void %waits OpBranch %e %e = OpLabel"
                .to_string(),
            false,
        ),
        ("a call in different iterations", repeated("a", "%entry", "%c2", &when("w", "OpIEqual %bool %ka %i", "%x = OpFunctionCall %void %waits")), false),
    ];
    for (name, body, is_defined) in rows {
        let waits = format!("%waits = OpFunction %void None %fn %in = OpLabel {barrier} OpReturn OpFunctionEnd");
        // The store at the end is visible to others, so that there are several schedules.
        let module = load(&format!("{} {waits}", text(2, "", "", &format!("{index} {body} {}", store("i", "c7")))));
        let buffers = [buffer(0, &[0, 0])];
        let dispatch = dispatch(1, &buffers);
        let mut endings = BTreeSet::new();
        let visit = |outcome: &Outcome<Observation>, _: &Schedule| {
            endings.insert(shown(outcome));
            ControlFlow::Continue(())
        };
        let budget = Budget { executions: 1 << 10, steps: 1 << 16 };
        grid::exhaust(&module, &dispatch, &Relation::default(), budget, visit).expect("main is there");
        assert_eq!(endings.len(), 1, "{name}: {endings:?}");
        let ending = endings.pop_first().expect("there is one");
        match is_defined {
            true => assert_eq!(ending, ["7", "7"], "{name}"),
            false => assert_eq!(ending[0], "spirv/divergent-barrier", "{name}: {ending:?}"),
        }
        let program = lockstep::Program::compile(&module, "main").unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(shown(&program.run(&dispatch, 1)), ending, "{name}");
        assert_eq!(shown(&both(&module, &dispatch)), ending, "{name}");
    }
}

/// The words of the buffer that are in doubt.
fn doubtful_words(size: u32, declarations: &str, body: &str) -> Vec<u64> {
    let module = load(&text(size, "", declarations, body));
    let buffers = [buffer(0, &[0; 4])];
    let report =
        grid::report(&module, &dispatch(1, &buffers), &Schedule::default(), &Relation::default(), false, &mut ()).expect("it runs");
    assert!(matches!(report.outcome, Outcome::Observed(_)), "{:?}", report.outcome);
    let mut words: Vec<u64> = report.doubtful.iter().flat_map(|d| d.start / 4..d.end.div_ceil(4)).collect();
    words.dedup();
    words
}

#[test]
fn doubt_goes_from_one_invocation_to_another() {
    let (barrier, barrier_none) = ("OpControlBarrier %c2 %c2 %wgsem", "");
    // Invocation 0 does something with the sine of 1, which devices round as they like. Then each
    // invocation stores the %r of `read`.
    let program = |by_first: &str, then: &str, read: &str| {
        format!(
            "%i = OpLoad %uint %lix %sin = OpExtInst %float %glsl Sin %f1 %bits = OpBitcast %uint %sin %less = OpFOrdLessThan %bool %sin %f0
            %is = OpIEqual %bool %i %c0 OpSelectionMerge %e None OpBranchConditional %is %first %e
            %first = OpLabel {by_first} OpBranch %e %e = OpLabel {then} {read} {}",
            store("i", "r")
        )
    };
    let branch =
        |then: &str| format!("OpSelectionMerge %s None OpBranchConditional %less %t1 %s %t1 = OpLabel {then} OpBranch %s %s = OpLabel");
    let shared = "%shared = OpVariable %wv Workgroup %null = OpConstantNull %uint";
    let rows: [(&str, String, Vec<u64>); 7] = [
        ("a value", program("OpStore %shared %bits", barrier, "%r = OpLoad %uint %shared"), vec![0, 1, 2]),
        ("a certain value", program("OpStore %shared %c5", barrier, "%r = OpLoad %uint %shared"), vec![]),
        // The value that the other way would have stored is not there to be read.
        (
            "a store that was not done",
            program(&format!("OpStore %shared %c5 {}", branch("OpStore %shared %c6")), barrier, "%r = OpLoad %uint %shared"),
            vec![0, 1, 2],
        ),
        ("control, and nothing is read", program(&branch(""), barrier, "%r = OpCopyObject %uint %c4"), vec![0]),
        ("control, and nobody waits", program(&branch(""), barrier_none, "%r = OpIAdd %uint %i %c1"), vec![0]),
        (
            "an atomic that was not done",
            program(
                &branch("%pa = OpAccessChain %pword %buf %c0 %c3 %a = OpAtomicIAdd %uint %pa %c1 %c0 %c1"),
                "",
                "%pb = OpAccessChain %pword %buf %c0 %c3 %r = OpAtomicLoad %uint %pb %c1 %c0",
            ),
            vec![0, 1, 2],
        ),
        (
            "a certain atomic",
            program(
                "%pa = OpAccessChain %pword %buf %c0 %c3 %a = OpAtomicIAdd %uint %pa %c1 %c0 %c1",
                "",
                "%pb = OpAccessChain %pword %buf %c0 %c3 %r = OpAtomicLoad %uint %pb %c1 %c0",
            ),
            vec![],
        ),
    ];
    for (name, body, expected) in rows {
        assert_eq!(doubtful_words(3, shared, &body), expected, "{name}");
    }
}

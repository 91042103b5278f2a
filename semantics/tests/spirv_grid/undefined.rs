//! Near-misses of undefined behaviour, undefined values with their origin, refused modules,
//! and robustness.

use pretty_assertions::assert_eq;

use super::*;

/// Bodies that are near to undefined behaviour and are defined.
#[test]
fn near_misses_are_defined() {
    let rows = [
        ("%x = OpSDiv %int %least %i1 %r = OpBitcast %uint %x", "2147483648"),
        ("%x = OpSDiv %int %m7 %m1 %r = OpBitcast %uint %x", "7"),
        ("%x = OpFNegate %float %half %r = OpConvertFToU %uint %x", "0"),
        ("%p = OpAccessChain %pword %buf %c0 %c0 %r = OpLoad %uint %p Aligned 4", "77"),
        ("%u = OpUndef %uint %r = OpBitwiseAnd %uint %u %c0", "0"),
        ("%u = OpUndef %uint %r = OpIMul %uint %c0 %u", "0"),
        ("%u = OpUndef %uint %r = OpBitwiseOr %uint %all %u", "4294967295"),
        ("%u = OpUndef %uint %r = OpSelect %uint %t %c3 %u", "3"),
        ("%u = OpUndef %uint %r = OpSelect %uint %f %c3 %u", "any(spirv/undef)"),
        ("%u = OpUndef %uint %r = OpISub %uint %u %u", "any(spirv/undef)"),
        ("%r = OpShiftLeftLogical %uint %c1 %c32", "any(spirv/shift-width)"),
        ("%r = OpBitFieldUExtract %uint %c1 %c31 %c2", "any(spirv/bit-field-range)"),
        ("%x = OpSRem %int %m7 %i2c %r = OpBitcast %uint %x", "any(spirv/negative-remainder)"),
        ("%x = OpExtInst %float %glsl Sqrt %fm %r = OpBitcast %uint %x", "any(spirv/function-domain)"),
        ("%u = OpUndef %bool %x = OpLogicalAnd %bool %u %f %r = OpSelect %uint %x %c1 %c2", "2"),
    ];
    for (body, expected) in rows {
        assert_eq!(word("%half = OpConstant %float 0.5", body), expected, "{body}");
    }
}

#[test]
fn undefined_values_say_who_made_them_where() {
    let body = format!("%u = OpUndef %uint {} %q = OpAccessChain %pword %buf %c0 %c2 OpStore %q %c7", store("c1", "u"));
    let module = load(&text(1, "", "", &body));
    let Outcome::Observed(observation) = run(&module, 1, &[0; 4]) else { panic!("it is observed") };
    let [undefined] = observation.buffers[0].undefined.as_slice() else { panic!("{observation:?}") };
    assert_eq!((undefined.start, undefined.end, undefined.kind), (4, 8, "spirv/undef"));
    assert!(module.instructions()[undefined.made_at as usize].name() == "OpUndef");
}

#[test]
fn what_is_missing_short_or_not_modeled_is_refused_before_anything_runs() {
    let module = load(&text(1, "", "", &store("c0", "c1")));
    let refused = |buffers: &[Buffer]| {
        let outcome = by_relation(&module, &dispatch(1, buffers));
        shown(&outcome.expect("main is there")).join(": ")
    };
    assert!(refused(&[]).contains("no buffer at set 0, binding 0"), "{}", refused(&[]));
    let none = by_relation(&module, &Dispatch { entry: "other", ..dispatch(1, &[]) });
    assert!(none.expect_err("there is none").to_string().contains("no entry point is named"));
    let buffers = [buffer(0, &[0])];
    let fuel = Dispatch { limits: Limits { instructions: 1, ..Limits::default() }, ..dispatch(1, &buffers) };
    assert_eq!(by_relation(&module, &fuel), Ok(Outcome::OutOfFuel));
    let many = Dispatch { groups: [u32::MAX; 3], ..dispatch(1, &buffers) };
    assert_eq!(by_relation(&module, &many).map(|o| o.name()), Ok("limit"));
    let endless = "OpBranch %h %h = OpLabel OpLoopMerge %m %n None OpBranch %n %n = OpLabel OpBranch %h %m = OpLabel";
    assert_eq!(run(&load(&text(1, "", "", endless)), 1, &[0]), Outcome::OutOfFuel);
}

/// The relation is bounded by instructions and the machine by turns of 64 invocations, so that
/// neither takes much longer than the other. If fuel is given, it bounds the instructions of both.
#[test]
fn each_engine_is_bounded_by_what_its_time_is_in_proportion_to() {
    // A loop with about six instructions in an iteration, for each of 64 invocations. It runs a
    // hundred iterations, or practically without end if `end` is the greatest word.
    let rounds = |end: &str| {
        let looped = format!(
            "OpBranch %h %h = OpLabel %i = OpPhi %uint %c0 %entry %j %n %go = OpULessThan %bool %i %{end} OpLoopMerge %m %n None
            OpBranchConditional %go %n %m %n = OpLabel %j = OpIAdd %uint %i %c1 OpBranch %h %m = OpLabel"
        );
        load(&text(64, "", "", &looped))
    };
    let buffers = [buffer(0, &[0])];
    let outcomes = |module: &Module, limits: Limits| {
        let dispatch = Dispatch { limits, ..dispatch(1, &buffers) };
        let machine = lockstep::Program::compile(module, "main").expect("it is compiled");
        let of_relation = by_relation(module, &dispatch).expect("main is there");
        [of_relation, machine.run(&dispatch, 1), machine.run(&dispatch, 2)].map(|outcome| outcome.name())
    };
    let (hundred, endless) = (rounds("c100"), rounds("all"));
    let default = Limits::default();
    assert_eq!(outcomes(&hundred, default), ["observed"; 3]);
    assert_eq!(outcomes(&hundred, Limits { turns: 1_000, ..default }), ["observed"; 3]);
    assert_eq!(outcomes(&hundred, Limits { turns: 100, ..default }), ["observed", "out of fuel", "out of fuel"]);
    assert_eq!(outcomes(&hundred, Limits { by_relation: 1_000, ..default }), ["out of fuel", "observed", "observed"]);
    assert_eq!(outcomes(&hundred, Limits::of_fuel(1_000)), ["out of fuel"; 3]);
    assert_eq!(outcomes(&hundred, Limits::of_fuel(1_000_000)), ["observed"; 3]);
    let small = Limits { by_relation: 10_000, turns: 10_000, ..default };
    assert_eq!(outcomes(&endless, small), ["out of fuel"; 3]);
    assert!(small.out_of_fuel().contains("--fuel") && !Limits::of_fuel(7).out_of_fuel().contains("--fuel"));
}

#[test]
fn robustness_decides_what_runtime_arrays_do_out_of_bounds() {
    let body = format!("%far = OpAccessChain %pword %buf %c0 %c100 %r = OpLoad %uint %far OpStore %far %c9 {}", store("c0", "r"));
    let module = load(&text(1, "", "", &body));
    let buffers = [buffer(0, &[5, 6])];
    let run = |robustness| {
        let dispatch = with_resources(dispatch(1, &buffers), |r| r.robustness = robustness);
        grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there")
    };
    assert_eq!(shown(&run(Robustness::None).outcome)[0], "spirv/access-out-of-bounds");
    let two = run(Robustness::Access2);
    assert_eq!((shown(&two.outcome), two.doubtful), (vec!["0".to_string(), "6".to_string()], vec![]));
    let one = run(Robustness::Access1);
    assert_eq!(one.doubtful.iter().map(|d| (d.start, d.end)).collect::<Vec<_>>(), [(0, 8)]);
}

//! Every undefined behaviour and undefined value with its message, and what is near to them; what is refused; robustness.

use pretty_assertions::assert_eq;

use super::*;

/// Each undefined behaviour: the body that meets it, its id, and what its sentence says.
#[test]
fn every_undefined_behaviour_is_named_with_its_sentence() {
    let rows = [
        ("%r = OpUDiv %uint %c1 %z", "spirv/division-by-zero", "OpUDiv divides by zero"),
        ("%r = OpUMod %uint %c1 %z", "spirv/division-by-zero", "OpUMod divides by zero"),
        ("%zi = OpBitcast %int %z %r = OpSRem %int %i1 %zi", "spirv/division-by-zero", "OpSRem divides by zero"),
        ("%r = OpSDiv %int %least %m1", "spirv/division-overflow", "divides the least integer"),
        ("%r = OpSMod %int %least %m1", "spirv/division-overflow", "OpSMod"),
        ("%r = OpConvertFToS %int %big", "spirv/conversion-range", "whose value int does not hold"),
        ("%r = OpConvertFToU %uint %fm", "spirv/conversion-range", "whose value uint does not hold"),
        ("%u = OpUndef %uint %r = OpUDiv %uint %c1 %u", "spirv/undefined-operand", "is undefined: spirv/undef made by"),
        (
            "%u = OpUndef %bool OpSelectionMerge %m None OpBranchConditional %u %y %m %y = OpLabel OpBranch %m %m = OpLabel",
            "spirv/branch-on-undefined",
            "OpBranchConditional depends on",
        ),
        (
            "%u = OpUndef %uint OpSelectionMerge %m None OpSwitch %u %m 1 %y %y = OpLabel OpBranch %m %m = OpLabel",
            "spirv/branch-on-undefined",
            "OpSwitch depends on",
        ),
        ("%u = OpUndef %uint %p = OpAccessChain %pword %buf %c0 %u", "spirv/address-on-undefined", "OpAccessChain has an index"),
        ("%p = OpAccessChain %pword %buf %c0 %c4", "spirv/access-out-of-bounds", "has index 4"),
        ("%p = OpAccessChain %pword %buf %c0 %m1", "spirv/access-out-of-bounds", "has index -1"),
        (
            "%v = OpVariable %farray Function %q = OpIAdd %uint %c1 %c2 %p = OpAccessChain %fword %v %q",
            "spirv/access-out-of-bounds",
            "has index 3",
        ),
        ("%x = OpLoad %uint %buf2 Aligned 8", "spirv/misaligned-access", "through"),
        (
            "%v = OpVariable %farray Function %p = OpAccessChain %fword %v %c0 OpUnreachable %dead = OpLabel",
            "spirv/unreachable",
            "OpUnreachable was reached",
        ),
        (
            "%from = OpAccessChain %pwide %low %c0 %to = OpAccessChain %pwide %high %c0 OpCopyMemory %to %from",
            "spirv/overlapping-copy",
            "overlap in part",
        ),
    ];
    let decorations = "OpDecorate %wide ArrayStride 4 OpDecorate %lowb Block OpDecorate %highb Block OpMemberDecorate %lowb 0 Offset 0
        OpMemberDecorate %highb 0 Offset 4 OpDecorate %low DescriptorSet 0 OpDecorate %low Binding 0 OpDecorate %low Aliased
        OpDecorate %high DescriptorSet 0 OpDecorate %high Binding 0 OpDecorate %high Aliased";
    let declarations = "%z = OpConstant %uint 0 %three = OpTypeArray %uint %c3 %wide = OpTypeArray %uint %c2
        %farray = OpTypePointer Function %three %lowb = OpTypeStruct %wide %highb = OpTypeStruct %wide
        %plow = OpTypePointer StorageBuffer %lowb %phigh = OpTypePointer StorageBuffer %highb %pwide = OpTypePointer StorageBuffer %wide
        %low = OpVariable %plow StorageBuffer %high = OpVariable %phigh StorageBuffer";
    for (body, id, says) in rows {
        let body = body.replace("%x = OpLoad %uint %buf2", "%q2 = OpAccessChain %pword %buf %c0 %c1 %x = OpLoad %uint %q2");
        let module = text(1, decorations, declarations, &format!("OpLine %file 12 3 {body}"));
        let outcome = run(&load(&module), 1, &[0; 4]);
        let Outcome::Undefined(undefined) = &outcome else { panic!("{body}: {outcome:?}") };
        assert_eq!(undefined.ub.id(), id, "{body}");
        assert!(undefined.what.contains(says), "{body}: {}", undefined.what);
        let site = undefined.site.as_ref().expect("a dispatch has a site");
        if !body.contains("OpLabel") {
            assert_eq!(site.line, Some(("a.comp".to_string(), 12, 3)), "{body}");
        }
        assert!(undefined.at.contains("invocation (0,0,0), step "), "{}", undefined.at);
    }
}

/// What is near to undefined behaviour and is none.
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
        let outcome = grid::run(&module, &dispatch(1, buffers), &Schedule::default(), &Relation::default(), &mut ());
        shown(&outcome.expect("main is there")).join(": ")
    };
    assert!(refused(&[]).contains("no buffer at set 0, binding 0"), "{}", refused(&[]));
    let none = grid::run(&module, &Dispatch { entry: "other", ..dispatch(1, &[]) }, &Schedule::default(), &Relation::default(), &mut ());
    assert!(none.expect_err("there is none").to_string().contains("no entry point is named"));
    let buffers = [buffer(0, &[0])];
    let fuel = Dispatch { limits: Limits { instructions: 1, ..Limits::default() }, ..dispatch(1, &buffers) };
    assert_eq!(grid::run(&module, &fuel, &Schedule::default(), &Relation::default(), &mut ()), Ok(Outcome::OutOfFuel));
    let many = Dispatch { groups: [u32::MAX; 3], ..dispatch(1, &buffers) };
    assert_eq!(grid::run(&module, &many, &Schedule::default(), &Relation::default(), &mut ()).map(|o| o.name()), Ok("limit"));
    let endless = "OpBranch %h %h = OpLabel OpLoopMerge %m %n None OpBranch %n %n = OpLabel OpBranch %h %m = OpLabel";
    assert_eq!(run(&load(&text(1, "", "", endless)), 1, &[0]), Outcome::OutOfFuel);
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

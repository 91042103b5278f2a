//! Values and memory worked out by hand.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn arithmetic_bits_and_conversions_by_hand() {
    let rows = [
        ("uint", "OpIAdd %all %c2", 1u32),
        ("uint", "OpISub %c1 %c2", u32::MAX),
        ("uint", "OpIMul %all %all", 1),
        ("uint", "OpUDiv %c100 %c7", 14),
        ("uint", "OpUMod %c100 %c7", 2),
        ("int", "OpSDiv %m7 %i2c", (-3i32) as u32),
        ("int", "OpSNegate %m7", 7),
        ("uint", "OpShiftLeftLogical %c3 %c31", 1 << 31),
        ("uint", "OpShiftRightLogical %all %c31", 1),
        ("int", "OpShiftRightArithmetic %least %c31", u32::MAX),
        ("uint", "OpBitwiseAnd %c6 %c3", 2),
        ("uint", "OpBitwiseOr %c6 %c3", 7),
        ("uint", "OpBitwiseXor %c6 %c3", 5),
        ("uint", "OpNot %c0", u32::MAX),
        ("uint", "OpBitFieldInsert %c0 %all %c4 %c3", 0x70),
        ("uint", "OpBitFieldUExtract %c100 %c2 %c3", 1),
        ("int", "OpBitFieldSExtract %m7 %c0 %c4", (-7i32) as u32),
        ("uint", "OpBitReverse %c1", 1 << 31),
        ("uint", "OpBitCount %c7", 3),
        ("uint", "OpConvertFToU %fh", 2),
        ("int", "OpConvertFToS %fm", (-2i32) as u32),
        ("float", "OpConvertSToF %m7", (-7f32).to_bits()),
        ("float", "OpConvertUToF %all", 4294967296f32.to_bits()),
        ("float", "OpFAdd %fh %f2", 4.5f32.to_bits()),
        ("float", "OpFMul %fh %fm", (-6.25f32).to_bits()),
        ("bool", "OpULessThan %c1 %all", 1),
        ("bool", "OpSLessThan %i1 %m1", 0),
        ("bool", "OpIEqual %c3 %c3", 1),
        ("bool", "OpFOrdLessThan %fm %fh", 1),
        ("bool", "OpLogicalAnd %t %f", 0),
        ("uint", "OpSelect %f %c1 %c2", 2),
        ("uint", "OpExtInst %glsl UMin %c5 %c9", 5),
        ("int", "OpExtInst %glsl SClamp %m7 %m1 %i3", u32::MAX),
        ("int", "OpExtInst %glsl FindUMsb %c100", 6),
        ("float", "OpExtInst %glsl Floor %fm", (-3f32).to_bits()),
        ("uint", "OpCopyObject %c9", 9),
    ];
    for (type_, instruction, expected) in rows {
        assert_eq!(bits(type_, instruction), expected.to_string(), "{instruction}");
    }
}

#[test]
fn composites_by_hand() {
    let rows = [
        ("%x = OpCompositeConstruct %u3 %u12 %c7 %r = OpCompositeExtract %uint %x 2", "7"),
        ("%x = OpCompositeInsert %u2 %c9 %u12 0 %r = OpCompositeExtract %uint %x 0", "9"),
        ("%x = OpCompositeInsert %u2 %c9 %u12 0 %r = OpCompositeExtract %uint %x 1", "2"),
        ("%x = OpVectorShuffle %u4 %u12 %u34 3 0 0 2 %r = OpCompositeExtract %uint %x 0", "4"),
        ("%x = OpVectorShuffle %u4 %u12 %u34 3 0 0 2 %r = OpCompositeExtract %uint %x 3", "3"),
        ("%x = OpVectorShuffle %u2 %u12 %u34 0xffffffff 1 %r = OpCompositeExtract %uint %x 0", "any(spirv/shuffle-undefined)"),
        ("%x = OpVectorShuffle %u2 %u12 %u34 0xffffffff 1 %r = OpCompositeExtract %uint %x 1", "2"),
        ("%r = OpVectorExtractDynamic %uint %u34 %c1", "4"),
        ("%r = OpVectorExtractDynamic %uint %u34 %c2", "any(spirv/vector-index)"),
        ("%x = OpVectorInsertDynamic %u2 %u34 %c9 %c1 %r = OpCompositeExtract %uint %x 1", "9"),
        ("%x = OpVectorInsertDynamic %u2 %u34 %c9 %c1 %r = OpCompositeExtract %uint %x 0", "3"),
        ("%x = OpVectorInsertDynamic %u2 %u34 %c9 %c5 %r = OpCompositeExtract %uint %x 0", "any(spirv/vector-index)"),
        ("%x = OpIAddCarry %pair %all %c2 %r = OpCompositeExtract %uint %x 0", "1"),
        ("%x = OpIAddCarry %pair %all %c2 %r = OpCompositeExtract %uint %x 1", "1"),
        ("%x = OpUMulExtended %pair %all %all %r = OpCompositeExtract %uint %x 1", "4294967294"),
        ("%x = OpCompositeExtract %uint %nested 1 0 1 %r = OpCopyObject %uint %x", "4"),
    ];
    let declarations = "%pair = OpTypeStruct %uint %uint %two = OpTypeArray %u2 %c2 %outer = OpTypeStruct %uint %two
        %both = OpConstantComposite %two %u34 %u12 %nested = OpConstantComposite %outer %c5 %both";
    for (body, expected) in rows {
        assert_eq!(word(declarations, body), expected, "{body}");
    }
}

#[test]
fn memory_of_an_invocations_own_by_hand() {
    let rows = [
        ("%v = OpVariable %fword Function %c9 %r = OpLoad %uint %v", "9"),
        ("%v = OpVariable %fword Function OpStore %v %c3 %r = OpLoad %uint %v", "3"),
        ("%v = OpVariable %fword Function %r = OpLoad %uint %v", "any(spirv/uninitialised)"),
        ("%v = OpVariable %farray Function %p = OpAccessChain %fword %v %c1 OpStore %p %c8 %r = OpLoad %uint %p", "8"),
        (
            "%v = OpVariable %farray Function %null3 %p = OpAccessChain %fword %v %c2 OpStore %p %c8 %q = OpAccessChain %fword %v %c1 %r = OpLoad %uint %q",
            "0",
        ),
        (
            "%v = OpVariable %farray Function %null3 %w = OpVariable %farray Function OpCopyMemory %w %v %q = OpAccessChain %fword %w %c1 %r = OpLoad %uint %q",
            "0",
        ),
        ("OpStore %own %c2 %x = OpLoad %uint %own %r = OpIAdd %uint %x %c5", "7"),
        ("%r = OpLoad %uint %own", "6"),
        // -2.5 has the fraction -0.5 and the whole part -2.
        (
            "%v = OpVariable %ffloat Function %x = OpExtInst %float %glsl Modf %fm %v %y = OpLoad %float %v %r = OpBitcast %uint %y",
            "3221225472",
        ),
        ("%v = OpVariable %ffloat Function %x = OpExtInst %float %glsl Modf %fm %v %r = OpBitcast %uint %x", "3204448256"),
        // 2.5 = 0.625 * 2^2
        ("%v = OpVariable %fint Function %x = OpExtInst %float %glsl Frexp %fh %v %y = OpLoad %int %v %r = OpBitcast %uint %y", "2"),
    ];
    let declarations = "%three = OpTypeArray %uint %c3 %farray = OpTypePointer Function %three %null3 = OpConstantNull %three
        %own = OpVariable %pv Private %c6 %ffloat = OpTypePointer Function %float %fint = OpTypePointer Function %int";
    for (body, expected) in rows {
        assert_eq!(word(declarations, body), expected, "{body}");
    }
}

#[test]
fn control_flow_by_hand() {
    let switch = |selector: &str| {
        format!(
            "OpSelectionMerge %m None OpSwitch {selector} %d 1 %a 7 %b
            %a = OpLabel OpBranch %b
            %b = OpLabel %pb = OpPhi %uint %c5 %entry %c6 %a OpBranch %m
            %d = OpLabel OpBranch %m
            %m = OpLabel %r = OpPhi %uint %pb %b %c9 %d"
        )
    };
    assert_eq!(word("", &switch("%c1")), "6");
    assert_eq!(word("", &switch("%c7")), "5");
    assert_eq!(word("", &switch("%c2")), "9");
    // A switch on the signed literal -1 in 32 bits.
    let signed = "OpSelectionMerge %m None OpSwitch %m1 %d -1 %a %a = OpLabel OpBranch %m %d = OpLabel OpBranch %m
        %m = OpLabel %r = OpPhi %uint %c1 %a %c2 %d";
    assert_eq!(word("", signed), "1");
    // The sum 1 + 2 + 4 + 5. The loop skips 3 by a continue and ends at 6.
    let sum = "OpBranch %h
        %h = OpLabel %i = OpPhi %uint %c1 %entry %j %n %s = OpPhi %uint %c0 %entry %s3 %n
        OpLoopMerge %m %n None OpBranch %k
        %k = OpLabel %end = OpIEqual %bool %i %c6 OpSelectionMerge %g None OpBranchConditional %end %out %g
        %out = OpLabel OpBranch %m
        %g = OpLabel %skip = OpIEqual %bool %i %c3 OpSelectionMerge %a None OpBranchConditional %skip %sk %a
        %sk = OpLabel OpBranch %n
        %a = OpLabel %s2 = OpIAdd %uint %s %i OpBranch %n
        %n = OpLabel %s3 = OpPhi %uint %s %sk %s2 %a %j = OpIAdd %uint %i %c1 OpBranch %h
        %m = OpLabel %r = OpCopyObject %uint %s";
    assert_eq!(word("", sum), "12");
}

#[test]
fn functions_have_parameters_results_and_variables_of_their_own() {
    let body = "%v = OpVariable %fword Function %c5 %x = OpFunctionCall %uint %add %v %c3 %y = OpFunctionCall %uint %add %v %c2
        %z = OpLoad %uint %v %n = OpFunctionCall %void %none %xy = OpIMul %uint %x %y %r = OpIAdd %uint %xy %z";
    let functions = "%fadd = OpTypeFunction %uint %fword %uint";
    let module = text(1, "", functions, &format!("{body} {}", store("c0", "r"))).replace(
        "%main = OpFunction",
        "%add = OpFunction %uint None %fadd %pa = OpFunctionParameter %fword %pb = OpFunctionParameter %uint %le = OpLabel
            %l = OpVariable %fword Function %c0 %l0 = OpLoad %uint %l %a = OpLoad %uint %pa %b = OpIAdd %uint %a %pb %c = OpIAdd %uint %b %l0
            OpStore %pa %c OpStore %l %c100 OpReturnValue %c OpFunctionEnd
         %none = OpFunction %void None %fn %ln = OpLabel OpReturn OpFunctionEnd
         %main = OpFunction",
    );
    // 8 * 10 + 10: the variable of the callee begins anew in each call.
    assert_eq!(shown(&run(&load(&module), 1, &[0])), ["90"]);
}

#[test]
fn built_ins_count_invocations() {
    let body = "%g3 = OpLoad %u3 %gid3 %g = OpCompositeExtract %uint %g3 0 %w3 = OpLoad %u3 %wid3 %w = OpCompositeExtract %uint %w3 0
        %l3 = OpLoad %u3 %lid3 %l = OpCompositeExtract %uint %l3 0 %n3 = OpLoad %u3 %num3 %n = OpCompositeExtract %uint %n3 0
        %i = OpLoad %uint %lix
        %w10 = OpIMul %uint %w %c100 %a = OpIAdd %uint %w10 %l %n10 = OpIMul %uint %n %c7 %b = OpIAdd %uint %a %n10 %r = OpIAdd %uint %b %i";
    let module = load(&text(2, "", "", &format!("{body} {}", store("g", "r"))));
    // 100 * workgroup + local + 7 * workgroups + index
    assert_eq!(shown(&run(&module, 3, &[0; 6])), ["21", "23", "121", "123", "221", "223"]);
}

#[test]
fn explicit_layouts_are_followed() {
    let decorations = "OpDecorate %ublock Block OpMemberDecorate %ublock 0 Offset 0 OpMemberDecorate %ublock 1 Offset 16
        OpMemberDecorate %ublock 1 RowMajor OpMemberDecorate %ublock 1 MatrixStride 16 OpMemberDecorate %ublock 2 Offset 48
        OpMemberDecorate %ublock 2 ColMajor OpMemberDecorate %ublock 2 MatrixStride 8
        OpDecorate %ubuf DescriptorSet 0 OpDecorate %ubuf Binding 1
        OpDecorate %push Block OpMemberDecorate %push 0 Offset 4";
    let declarations = "%m2 = OpTypeMatrix %v2 2 %ublock = OpTypeStruct %uint %m2 %m2 %pub = OpTypePointer Uniform %ublock
        %ubuf = OpVariable %pub Uniform %pm = OpTypePointer Uniform %m2 %pf = OpTypePointer Uniform %float %pc = OpTypePointer Uniform %v2
        %push = OpTypeStruct %uint %ppush = OpTypePointer PushConstant %push %pcv = OpVariable %ppush PushConstant
        %pcw = OpTypePointer PushConstant %uint";
    // Row-major rows (1 2) (3 4); column-major columns (5 6) (7 8).
    let floats = [1f32, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 5.0, 6.0, 7.0, 8.0];
    let mut words = vec![9, 0, 0, 0];
    words.extend(floats.iter().map(|f| f.to_bits()));
    let run = |body: &str| {
        let module = load(&text(1, decorations, declarations, &format!("{body} {}", store("c0", "r"))));
        let buffers = [buffer(0, &[0]), buffer(1, &words)];
        let dispatch = with_resources(dispatch(1, &buffers), |r| r.push_constants = &[1, 0, 0, 0, 42, 0, 0, 0]);
        let outcome = by_relation(&module, &dispatch).expect("main is there");
        f32::from_bits(shown(&outcome)[0].parse::<u32>().unwrap_or_else(|_| panic!("{outcome:?}")))
    };
    let element = |member: u32, column: u32, row: u32| {
        let whole = format!(
            "%p = OpAccessChain %pm %ubuf %c{member} %m = OpLoad %m2 %p %x = OpCompositeExtract %float %m {column} {row} %r = OpBitcast %uint %x"
        );
        let chained = format!("%p = OpAccessChain %pf %ubuf %c{member} %c{column} %c{row} %x = OpLoad %float %p %r = OpBitcast %uint %x");
        let by_column = format!(
            "%p = OpAccessChain %pc %ubuf %c{member} %c{column} %v = OpLoad %v2 %p %x = OpCompositeExtract %float %v {row} %r = OpBitcast %uint %x"
        );
        let found = [run(&whole), run(&chained), run(&by_column)];
        assert!(found.iter().all(|f| *f == found[0]), "{found:?}");
        found[0]
    };
    assert_eq!([element(1, 0, 0), element(1, 1, 0), element(1, 0, 1), element(1, 1, 1)], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!([element(2, 0, 0), element(2, 0, 1), element(2, 1, 0), element(2, 1, 1)], [5.0, 6.0, 7.0, 8.0]);
    let push = run("%p = OpAccessChain %pcw %pcv %c0 %r = OpLoad %uint %p");
    assert_eq!(push.to_bits(), 42);
}

#[test]
fn array_length_is_of_the_bound_buffer() {
    let module = load(&text(1, "", "", &format!("%r = OpArrayLength %uint %buf 0 {}", store("c0", "r"))));
    assert_eq!(shown(&run(&module, 1, &[0; 5]))[0], "5");
}

#[test]
fn atomics_read_and_write_in_one_step() {
    let rows = [
        ("OpAtomicIAdd %uint %p %c1 %c0 %c5", 9u32, 14u32),
        ("OpAtomicISub %uint %p %c1 %c0 %c5", 9, 4),
        ("OpAtomicIIncrement %uint %p %c1 %c0", u32::MAX, 0),
        ("OpAtomicIDecrement %uint %p %c1 %c0", 0, u32::MAX),
        ("OpAtomicUMin %uint %p %c1 %c0 %c5", 9, 5),
        ("OpAtomicUMax %uint %p %c1 %c0 %c5", 9, 9),
        ("OpAtomicSMin %uint %p %c1 %c0 %c5", u32::MAX, u32::MAX),
        ("OpAtomicSMax %uint %p %c1 %c0 %c5", u32::MAX, 5),
        ("OpAtomicAnd %uint %p %c1 %c0 %c5", 6, 4),
        ("OpAtomicOr %uint %p %c1 %c0 %c5", 6, 7),
        ("OpAtomicXor %uint %p %c1 %c0 %c5", 6, 3),
        ("OpAtomicExchange %uint %p %c1 %c0 %c5", 6, 5),
        ("OpAtomicCompareExchange %uint %p %c1 %c0 %c0 %c5 %c6", 6, 5),
        ("OpAtomicCompareExchange %uint %p %c1 %c0 %c0 %c5 %c7", 6, 6),
        ("OpAtomicLoad %uint %p %c1 %c0", 6, 6),
    ];
    for (instruction, before, after) in rows {
        let body = format!("%p = OpAccessChain %pword %buf %c0 %c1 %r = {instruction} {}", store("c0", "r"));
        assert_eq!(shown(&run(&load(&text(1, "", "", &body)), 1, &[0, before])), [before.to_string(), after.to_string()], "{instruction}");
    }
    let body = "%p = OpAccessChain %pword %buf %c0 %c0 OpAtomicStore %p %c1 %c0 %c8";
    assert_eq!(shown(&run(&load(&text(1, "", "", body)), 1, &[1])), ["8"]);
    // Every invocation counts.
    let body = "%p = OpAccessChain %pword %buf %c0 %c0 %x = OpAtomicIIncrement %uint %p %c1 %c0";
    assert_eq!(shown(&run(&load(&text(8, "", "", body)), 5, &[0])), ["40"]);
}

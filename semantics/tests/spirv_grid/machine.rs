//! What the lockstep machine must compile, and show as the relation does: robust buffers, numbers
//! of 64 and of less than 32 bits in memory.

use pretty_assertions::assert_eq;

use super::*;

/// The outcome by both engines, on one thread and on two.
fn agreed(text: &str, groups: u32, buffers: &[Buffer], robustness: Robustness) -> Outcome<Observation> {
    let module = load(text);
    let dispatch = with_resources(dispatch(groups, buffers), |r| r.robustness = robustness);
    let outcome = by_relation(&module, &dispatch).expect("main is there");
    let program = lockstep::Program::compile(&module, "main").unwrap_or_else(|e| panic!("{e}\n{text}"));
    for threads in [1, 2] {
        assert_eq!(program.run(&dispatch, threads), outcome, "{robustness:?}\n{text}");
    }
    outcome
}

fn wide(text: &str) -> String {
    let capabilities = "OpCapability Shader OpCapability Int64 OpCapability Int16 OpCapability Int8 OpCapability StorageBuffer16BitAccess
        OpCapability StorageBuffer8BitAccess OpExtension \"SPV_KHR_16bit_storage\" OpExtension \"SPV_KHR_8bit_storage\"";
    text.replacen("OpCapability Shader", capabilities, 1)
}

const VECTORS: (&str, &str) = (
    "OpDecorate %vectors ArrayStride 16 OpDecorate %vblock Block OpMemberDecorate %vblock 0 Offset 0
    OpDecorate %vbuf DescriptorSet 0 OpDecorate %vbuf Binding 1",
    "%vectors = OpTypeRuntimeArray %u4 %vblock = OpTypeStruct %vectors %pvblock = OpTypePointer StorageBuffer %vblock
    %vbuf = OpVariable %pvblock StorageBuffer %pvector = OpTypePointer StorageBuffer %u4
    %u64 = OpTypeInt 64 0 %i64 = OpTypeInt 64 1 %far = OpConstant %u64 0x400000001 %back = OpConstant %i64 -1 %hugeish = OpConstant %uint 0x7fffffff
    %fours = OpConstantComposite %u4 %c4 %c4 %c4 %c4",
);

#[test]
fn robust_buffers_are_so_in_both_engines() {
    // The last vector of the 24 bytes is not whole: as a whole it is out of bounds, its first word
    // is not.
    let rows = [
        ("%p = OpAccessChain %pword %buf %c0 %c100 %r = OpLoad %uint %p OpStore %p %c9", Some("0")),
        ("%p = OpAccessChain %pword %buf %c0 %hugeish %r = OpLoad %uint %p OpStore %p %c9", Some("0")),
        ("%p = OpAccessChain %pword %buf %c0 %far %r = OpLoad %uint %p OpStore %p %c9", Some("0")),
        ("%p = OpAccessChain %pword %buf %c0 %c1 %r = OpLoad %uint %p OpStore %p %c9", Some("6")),
        ("%p = OpAccessChain %pvector %vbuf %c0 %c1 %v = OpLoad %u4 %p %r = OpCompositeExtract %uint %v 0 OpStore %p %fours", Some("0")),
        ("%p = OpAccessChain %pvector %vbuf %c0 %c0 %v = OpLoad %u4 %p %r = OpCompositeExtract %uint %v 3 OpStore %p %fours", Some("4")),
        ("%p = OpAccessChain %pword %vbuf %c0 %c1 %c0 %r = OpLoad %uint %p OpStore %p %c9", Some("5")),
        ("%p = OpAccessChain %pword %vbuf %c0 %c1 %c3 %r = OpLoad %uint %p OpStore %p %c9", Some("0")),
        ("%p = OpAccessChain %pword %vbuf %c0 %hugeish %c3 %r = OpLoad %uint %p OpStore %p %c9", Some("0")),
        ("%p = OpAccessChain %pword %buf %c0 %c100 %r = OpAtomicIAdd %uint %p %c1 %c0 %c5", Some("0")),
        ("%p = OpAccessChain %pword %buf %c0 %c1 %r = OpAtomicIAdd %uint %p %c1 %c0 %c5", Some("6")),
        ("%p = OpAccessChain %pword %buf %c0 %m1 %r = OpLoad %uint %p", None),
        ("%p = OpAccessChain %pword %buf %c0 %back %r = OpLoad %uint %p", None),
        ("%p = OpAccessChain %pword %buf %c0 %c101 %r = OpLoad %uint %p Aligned 16", None),
    ];
    let buffers = [buffer(0, &[5, 6]), buffer(1, &[1, 2, 3, 4, 5, 6])];
    for (body, expected) in rows {
        let declarations = format!("{} %c101 = OpConstant %uint 101", VECTORS.1);
        let text = wide(&text(1, VECTORS.0, &declarations, &format!("{body} {}", store("c0", "r"))));
        for robustness in [Robustness::None, Robustness::Access1, Robustness::Access2] {
            let outcome = agreed(&text, 1, &buffers, robustness);
            match expected {
                Some(expected) if robustness != Robustness::None => assert_eq!(shown(&outcome)[0], expected, "{robustness:?}: {body}"),
                Some(_) => {}
                None => assert!(matches!(outcome, Outcome::Undefined(_)), "{robustness:?}: {body}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn numbers_of_64_bits_live_in_memory_that_is_indexed() {
    let declarations = "%u64 = OpTypeInt 64 0 %big1 = OpConstant %u64 0x1122334455667788 %big2 = OpConstant %u64 0xffffffff00000001
        %n32 = OpConstant %u64 32
        %item = OpTypeStruct %uint %u64 %bool %items = OpTypeArray %item %c3 %fitems = OpTypePointer Function %items
        %fitem = OpTypePointer Function %item %f64 = OpTypePointer Function %u64 %fbool = OpTypePointer Function %bool
        %witems = OpTypePointer Workgroup %items %w64 = OpTypePointer Workgroup %u64 %wbool = OpTypePointer Workgroup %bool
        %group = OpVariable %witems Workgroup
        %first = OpConstantComposite %item %c1 %big1 %t %second = OpConstantComposite %item %c2 %big2 %f
        %start = OpConstantComposite %items %first %second %first
        %pitems = OpTypePointer Private %items %p64 = OpTypePointer Private %u64 %own = OpVariable %pitems Private %start";
    let high = "%s = OpShiftRightLogical %u64 %x %n32 %r = OpUConvert %uint %s";
    let rows = [
        ("%v = OpVariable %fitems Function %start %i = OpCopyObject %uint %one %p = OpAccessChain %f64 %v %i %c1 %x = OpLoad %u64 %p", "4294967295"),
        (
            "%v = OpVariable %fitems Function %start %p = OpAccessChain %f64 %v %one %c1 OpStore %p %big1 %q = OpAccessChain %f64 %v %zero %c1
            OpStore %q %big2 %x = OpLoad %u64 %p",
            "287454020",
        ),
        ("%p = OpAccessChain %p64 %own %one %c1 %x = OpLoad %u64 %p", "4294967295"),
        ("%q = OpAccessChain %w64 %group %one %c1 OpStore %q %big1 %p = OpAccessChain %w64 %group %c1 %c1 %x = OpLoad %u64 %p", "287454020"),
        ("%p = OpAccessChain %w64 %group %one %c1 %x = OpLoad %u64 %p", "any(spirv/uninitialised)"),
        (
            "%v = OpVariable %fitems Function %start %e = OpAccessChain %fitem %v %one %w = OpVariable %fitems Function %start
            %g = OpAccessChain %fitem %w %zero OpCopyMemory %g %e %p = OpAccessChain %f64 %w %c0 %c1 %x = OpLoad %u64 %p",
            "4294967295",
        ),
        // The Boolean behind the wide member has not moved.
        (
            "%v = OpVariable %fitems Function %start %b = OpAccessChain %fbool %v %one %c2 %y = OpLoad %bool %b
            %x = OpSelect %u64 %y %big1 %big2",
            "4294967295",
        ),
    ];
    for (body, expected) in rows {
        let (variables, rest) = (body.matches("OpVariable").count(), body);
        // Variables come first in their function, so what they are indexed by does too.
        let indices = "%l = OpLoad %uint %lix %zero = OpIMul %uint %l %c2 %one = OpIAdd %uint %l %c1";
        let mut words: Vec<&str> = Vec::new();
        let mut declared = String::new();
        let mut tokens = rest.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            words.push(token);
            if token == "OpVariable" {
                let id = words[words.len() - 3];
                words.truncate(words.len() - 3);
                let operands: Vec<&str> = tokens.by_ref().take(3).collect();
                declared += &format!("{id} = OpVariable {} ", operands.join(" "));
            }
        }
        assert_eq!(declared.matches("OpVariable").count(), variables);
        let text = wide(&text(1, "", declarations, &format!("{declared} {indices} {} {high} {}", words.join(" "), store("c0", "r"))));
        assert_eq!(shown(&agreed(&text, 1, &[buffer(0, &[0])], Robustness::None))[0], expected, "{body}");
    }
}

#[test]
fn neighbouring_bytes_do_not_race() {
    let declarations = "%u8 = OpTypeInt 8 0 %u16 = OpTypeInt 16 0 %bytes = OpTypeRuntimeArray %u8 %bblock = OpTypeStruct %bytes
        %pbblock = OpTypePointer StorageBuffer %bblock %bbuf = OpVariable %pbblock StorageBuffer %pbyte = OpTypePointer StorageBuffer %u8";
    let decorations = "OpDecorate %bytes ArrayStride 1 OpDecorate %bblock Block OpMemberDecorate %bblock 0 Offset 0
        OpDecorate %bbuf DescriptorSet 0 OpDecorate %bbuf Binding 0";
    let body = |index: &str| {
        format!(
            "%i = OpLoad %uint %lix %b = OpUConvert %u8 %i %h = OpShiftRightLogical %uint %i %c1
            %p = OpAccessChain %pbyte %bbuf %c0 %{index} OpStore %p %b"
        )
    };
    let outcome = agreed(&wide(&text(4, decorations, declarations, &body("i"))), 1, &[buffer(0, &[0])], Robustness::None);
    assert_eq!(shown(&outcome), [0x0302_0100.to_string()]);
    let outcome = agreed(&wide(&text(4, decorations, declarations, &body("h"))), 1, &[buffer(0, &[0])], Robustness::None);
    assert_eq!(shown(&outcome)[0], "spirv/data-race");
}

#[test]
fn what_the_machine_does_not_compile_it_names() {
    let module = load(&super::pointers::four("%p = OpSelect %step %odd %mine %o2 %r = OpLoad %uint %p"));
    let Err(error) = lockstep::Program::compile(&module, "main") else { panic!("it is compiled") };
    assert!(error.to_string().contains("a pointer into one of several buffers in the lockstep machine"), "{error}");
}

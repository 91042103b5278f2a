//! Dispatches that the lockstep machine must compile and show as the relation does: robust buffers,
//! and numbers of 64 bits and of less than 32 bits in memory.

use pretty_assertions::assert_eq;

use super::*;

/// The outcome by both engines. The machine runs on one thread and on two.
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
    // The last vector of the 24 bytes is not whole. The vector as a whole is out of bounds, but its
    // first word is not.
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
        // Variables come first in their function. Their indices follow them.
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
    let text = super::pointers::four("%k = OpUConvert %u64 %i %p = OpPtrAccessChain %step %o0 %k %r = OpLoad %uint %p");
    let text = text.replacen("OpCapability Shader", "OpCapability Shader OpCapability Int64", 1);
    let module = load(&text.replacen("%void = OpTypeVoid", "%void = OpTypeVoid %u64 = OpTypeInt 64 0", 1));
    let Err(error) = lockstep::Program::compile(&module, "main") else { panic!("it is compiled") };
    assert!(error.to_string().contains("OpPtrAccessChain by an element of 64 bits in the lockstep machine"), "{error}");
}

/// The number of codes is bounded, because a small module may compile to very many. Here it stores
/// many scalars.
#[test]
fn a_program_has_a_bound_of_codes() {
    let declarations = "%many = OpConstant %uint 32768 %array = OpTypeArray %uint %many %parray = OpTypePointer Private %array
        %one = OpVariable %parray Private %other = OpVariable %parray Private";
    let body = format!("%whole = OpLoad %array %one {}", "OpStore %other %whole ".repeat(200));
    let module = load(&text(1, "", declarations, &body));
    let Err(error) = lockstep::Program::compile(&module, "main") else { panic!("it is compiled") };
    assert!(error.to_string().contains("codes of the lockstep machine"), "{error}");
}

/// A runtime array of 64-bit numbers at binding 1, a 64-bit number in Workgroup memory, and
/// operands of which both halves count.
const WIDES: (&str, &str) = (
    "OpDecorate %wides ArrayStride 8 OpDecorate %wblock Block OpMemberDecorate %wblock 0 Offset 0
    OpDecorate %wbuf DescriptorSet 0 OpDecorate %wbuf Binding 1 OpDecorate %halves DescriptorSet 0 OpDecorate %halves Binding 1
    OpDecorate %wbuf Aliased OpDecorate %halves Aliased",
    "%u64 = OpTypeInt 64 0 %wides = OpTypeRuntimeArray %u64 %wblock = OpTypeStruct %wides %pwblock = OpTypePointer StorageBuffer %wblock
    %wbuf = OpVariable %pwblock StorageBuffer %pwide = OpTypePointer StorageBuffer %u64 %halves = OpVariable %pblock StorageBuffer
    %pshared = OpTypePointer Workgroup %u64 %ws = OpVariable %pshared Workgroup
    %five = OpConstant %u64 0x500000005 %least64 = OpConstant %u64 0x8000000000000001 %same = OpConstant %u64 0x600000009 %near = OpConstant %u64 0x700000009",
);

fn wide_atomics(size: u32, body: &str) -> String {
    text(size, WIDES.0, WIDES.1, body).replacen("OpCapability Shader", "OpCapability Shader OpCapability Int64Atomics", 1)
}

fn wide_words(numbers: &[u64]) -> Vec<u32> {
    numbers.iter().flat_map(|&number| [number as u32, (number >> 32) as u32]).collect()
}

const BEFORE: u64 = 0x6_0000_0009;
const LEAST: u64 = 0x8000_0000_0000_0001;
/// Atomics on a 64-bit number: the number before, and the number after.
const WIDE_ROWS: &[(&str, u64, u64)] = &[
    ("OpAtomicIAdd %u64 %p %c1 %c0 %five", BEFORE, 0xb_0000_000e),
    ("OpAtomicIAdd %u64 %p %c1 %c0 %five", 0xffff_ffff, 0x6_0000_0004),
    ("OpAtomicISub %u64 %p %c1 %c0 %five", 0x6_0000_0001, 0xffff_fffc),
    ("OpAtomicIIncrement %u64 %p %c1 %c0", 0xffff_ffff, 0x1_0000_0000),
    ("OpAtomicIDecrement %u64 %p %c1 %c0", 0, u64::MAX),
    ("OpAtomicUMin %u64 %p %c1 %c0 %five", BEFORE, 0x5_0000_0005),
    ("OpAtomicUMax %u64 %p %c1 %c0 %five", 0x9, 0x5_0000_0005),
    ("OpAtomicUMax %u64 %p %c1 %c0 %least64", BEFORE, LEAST),
    ("OpAtomicSMax %u64 %p %c1 %c0 %least64", BEFORE, BEFORE),
    ("OpAtomicSMin %u64 %p %c1 %c0 %least64", BEFORE, LEAST),
    ("OpAtomicAnd %u64 %p %c1 %c0 %five", BEFORE, 0x4_0000_0001),
    ("OpAtomicOr %u64 %p %c1 %c0 %five", BEFORE, 0x7_0000_000d),
    ("OpAtomicXor %u64 %p %c1 %c0 %five", BEFORE, 0x3_0000_000c),
    ("OpAtomicExchange %u64 %p %c1 %c0 %five", BEFORE, 0x5_0000_0005),
    ("OpAtomicCompareExchange %u64 %p %c1 %c0 %c0 %five %same", BEFORE, 0x5_0000_0005),
    ("OpAtomicCompareExchange %u64 %p %c1 %c0 %c0 %five %near", BEFORE, BEFORE),
    ("OpAtomicLoad %u64 %p %c1 %c0", BEFORE, BEFORE),
];

/// The bodies of a row, on a buffer and on Workgroup memory. Both store the number after the
/// atomic, then its result.
fn wide_bodies(instruction: &str) -> [String; 2] {
    let chains = "%q = OpAccessChain %pwide %wbuf %c0 %c0 %o = OpAccessChain %pwide %wbuf %c0 %c1";
    let in_buffer = format!("{chains} %r = {} OpStore %o %r", instruction.replace("%p ", "%q "));
    let in_workgroup = format!(
        "{chains} %v = OpLoad %u64 %q OpStore %ws %v %r = {} %w = OpLoad %u64 %ws OpStore %q %w OpStore %o %r",
        instruction.replace("%p ", "%ws ")
    );
    [in_buffer, in_workgroup]
}

/// The results of 64-bit atomics and the numbers after them, in a buffer and in Workgroup memory.
#[test]
fn atomics_have_64_bits() {
    for &(instruction, before, after) in WIDE_ROWS {
        for body in wide_bodies(instruction) {
            let buffers = [buffer(0, &[0]), buffer(1, &wide_words(&[before, 7]))];
            let Outcome::Observed(observation) = agreed(&wide_atomics(1, &body), 1, &buffers, Robustness::None) else { panic!("{body}") };
            assert_eq!(observation.buffers[0].bytes, buffer(1, &wide_words(&[after, before])).bytes, "{body}");
        }
    }
    // Every invocation counts. The sum carries from the low word to the high word.
    let body = "%q = OpAccessChain %pwide %wbuf %c0 %c0 %r = OpAtomicIAdd %u64 %q %c1 %c0 %five";
    let buffers = [buffer(0, &[0]), buffer(1, &wide_words(&[0xffff_fff0]))];
    let Outcome::Observed(observation) = agreed(&wide_atomics(70, body), 3, &buffers, Robustness::None) else { panic!("it ends") };
    assert_eq!(observation.buffers[0].bytes, buffer(1, &wide_words(&[0xffff_fff0 + 210 * 0x5_0000_0005])).bytes);
}

/// Both halves of a 64-bit atomic count: an undefined value or a store of another invocation in
/// either half, and the end of the buffer. The atomic needs the capability Int64Atomics.
#[test]
fn both_halves_of_an_atomic_of_64_bits_count() {
    let whole = "%q = OpAccessChain %pwide %wbuf %c0 %c0";
    for half in ["%c0", "%c1"] {
        let of_half = format!("{whole} %h = OpAccessChain %pword %halves %c0 {half}");
        let buffers = [buffer(0, &[0]), buffer(1, &wide_words(&[3, 7]))];
        let undefined = format!("{of_half} %u = OpUndef %uint OpStore %h %u %r = OpAtomicIAdd %u64 %q %c1 %c0 %five");
        let outcome = agreed(&wide_atomics(1, &undefined), 1, &buffers, Robustness::None);
        let ranges: Vec<(u64, u64)> = outcome.observed().expect("it ends").buffers[0].undefined.iter().map(|u| (u.start, u.end)).collect();
        assert_eq!(ranges, [(0, 8)], "{half}");
        let races = format!(
            "{of_half} %index = OpLoad %uint %lix %first = OpIEqual %bool %index %c0 OpSelectionMerge %m None OpBranchConditional %first %a %b
             %a = OpLabel OpStore %h %c5 OpBranch %m %b = OpLabel %r = OpAtomicIAdd %u64 %q %c1 %c0 %five OpBranch %m %m = OpLabel"
        );
        let module = load(&wide_atomics(2, &races));
        let dispatch = dispatch(1, &buffers);
        let by_machine = lockstep::Program::compile(&module, "main").expect("it is compiled").run(&dispatch, 1);
        for outcome in [by_relation(&module, &dispatch).expect("main is there"), by_machine] {
            assert_eq!(shown(&outcome)[0], "spirv/data-race", "{half}");
        }
    }
    let past = "%q = OpAccessChain %pwide %wbuf %c0 %c3 %r = OpAtomicIAdd %u64 %q %c1 %c0 %five";
    let buffers = [buffer(0, &[0]), buffer(1, &[1, 2, 3, 4, 5, 6, 7])];
    let outcome = agreed(&wide_atomics(1, past), 1, &buffers, Robustness::None);
    assert_eq!(shown(&outcome)[0], "spirv/access-out-of-bounds");
    let without = wide_atomics(1, past).replace("Int64Atomics", "Int64");
    let words = assemble(&without, Options::default()).expect("it is assembled");
    let error = Module::load(&words).expect_err("it needs the capability").to_string();
    assert!(error.contains("this needs Int64Atomics"), "{error}");
}

/// A bug in the parts of a program, by name.
type Planted = (&'static str, fn(lockstep::Parts<'_>));

const WIDE_BUGS: &[Planted] = &[
    ("the high word stays", |parts| parts.atomics.iter_mut().for_each(|atomic| atomic.width = 32)),
    ("the operand's words are exchanged", |parts| parts.atomics.iter_mut().for_each(|atomic| atomic.value.swap(0, 1))),
    ("the comparator has no high word", |parts| parts.atomics.iter_mut().for_each(|atomic| atomic.comparator[1] = u32::MAX)),
    ("the result has no high word", |parts| parts.atomics.iter_mut().for_each(|atomic| atomic.high = u32::MAX)),
];

#[test]
fn bugs_in_atomics_of_64_bits_are_caught() {
    for &(name, bug) in WIDE_BUGS {
        let caught = WIDE_ROWS.iter().flat_map(|&(instruction, before, _)| wide_bodies(instruction).map(|body| (body, before))).any(
            |(body, before)| {
                let module = load(&wide_atomics(1, &body));
                let buffers = [buffer(0, &[0]), buffer(1, &wide_words(&[before, 7]))];
                let dispatch = dispatch(1, &buffers);
                let program = lockstep::Program::compile(&module, "main").expect("it is compiled").planted(bug);
                program.run(&dispatch, 1) != by_relation(&module, &dispatch).expect("main is there")
            },
        );
        assert!(caught, "{name}");
    }
}

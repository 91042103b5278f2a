//! Variable pointers by both engines. OpSelect, OpPhi, calls and variables that hold pointers
//! choose them, OpPtrAccessChain moves them, and instructions compare them. Also refused modules
//! and planted bugs.

use pretty_assertions::assert_eq;
use smallstep_generate::spirv::{ComputeCase, Drawn, pointers};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::Exploration;

use super::*;

/// A second buffer %other with a pair of arrays of four words. Two buffers with a runtime
/// array behind a word: %long with four elements and %short with two. Workgroup arrays %wa and
/// %wb. A variable %held of each invocation that holds a pointer. The pointer type %step
/// counts by 4 bytes.
const DECORATIONS: &str = "OpDecorate %step ArrayStride 4 OpDecorate %fours ArrayStride 4 OpDecorate %oblock Block
    OpMemberDecorate %oblock 0 Offset 0 OpMemberDecorate %oblock 1 Offset 16
    OpDecorate %other DescriptorSet 0 OpDecorate %other Binding 1 OpDecorate %tblock Block
    OpMemberDecorate %tblock 0 Offset 0 OpMemberDecorate %tblock 1 Offset 8 OpDecorate %long DescriptorSet 0 OpDecorate %long Binding 2
    OpDecorate %short DescriptorSet 0 OpDecorate %short Binding 3 ";
const DECLARATIONS: &str = "%step = OpTypePointer StorageBuffer %uint %fours = OpTypeArray %uint %c4 %oblock = OpTypeStruct %fours %fours
    %poblock = OpTypePointer StorageBuffer %oblock %other = OpVariable %poblock StorageBuffer
    %pfours = OpTypePointer StorageBuffer %fours %parray = OpTypePointer StorageBuffer %words
    %tblock = OpTypeStruct %uint %words %ptblock = OpTypePointer StorageBuffer %tblock
    %long = OpVariable %ptblock StorageBuffer %short = OpVariable %ptblock StorageBuffer
    %wfours = OpTypeArray %uint %c4 %pwfours = OpTypePointer Workgroup %wfours
    %wa = OpVariable %pwfours Workgroup %wb = OpVariable %pwfours Workgroup
    %null = OpConstantNull %step %wnull = OpConstantNull %wv
    %hold = OpTypePointer Private %step %held = OpVariable %hold Private
    %fhold = OpTypePointer Function %step %whold = OpTypePointer Function %wv
    %choose = OpTypeFunction %step %bool %step %step %wchoose = OpTypeFunction %wv %bool %wv %wv ";
const FUNCTIONS: &str = "
    %pick = OpFunction %step None %choose %pick_x = OpFunctionParameter %bool %pick_a = OpFunctionParameter %step
    %pick_b = OpFunctionParameter %step %pick_start = OpLabel OpSelectionMerge %pick_end None
    OpBranchConditional %pick_x %pick_end %pick_no %pick_no = OpLabel OpReturnValue %pick_b
    %pick_end = OpLabel OpReturnValue %pick_a OpFunctionEnd
    %wpick = OpFunction %wv None %wchoose %wpick_x = OpFunctionParameter %bool %wpick_a = OpFunctionParameter %wv
    %wpick_b = OpFunctionParameter %wv %wpick_start = OpLabel %wpick_r = OpSelect %wv %wpick_x %wpick_a %wpick_b
    OpReturnValue %wpick_r OpFunctionEnd";

pub(super) fn module(size: u32, body: &str) -> String {
    of_capability("VariablePointers", size, body)
}

fn of_capability(capability: &str, size: u32, body: &str) -> String {
    let text = text(size, DECORATIONS, DECLARATIONS, body)
        .replacen("OpCapability Shader", &format!("OpCapability Shader OpCapability {capability}"), 1)
        .replacen("%lix OpExecutionMode", "%lix %buf %other %long %short %wa %wb %held OpExecutionMode", 1);
    format!("; Version: 1.4\n{text} {FUNCTIONS}")
}

fn buffers() -> [Buffer; 4] {
    [
        buffer(0, &[10, 20, 30, 40, 50, 60, 70, 80]),
        buffer(1, &[1, 2, 3, 4, 5, 6, 7, 8]),
        buffer(2, &[9, 0, 101, 102, 103, 104]),
        buffer(3, &[9, 0, 201, 202]),
    ]
}

/// The first buffer at the end, by the relation and by the lockstep machine on one thread and on
/// two. `must_compile` says whether the machine compiles the module.
#[track_caller]
fn agreed(text: &str, must_compile: bool) -> Vec<String> {
    agreed_on(text, must_compile, Robustness::None)
}

#[track_caller]
fn agreed_on(text: &str, must_compile: bool, robustness: Robustness) -> Vec<String> {
    let (module, buffers) = (load(text), buffers());
    let dispatch = with_resources(dispatch(1, &buffers), |r| r.robustness = robustness);
    by_engines(text, &module, &dispatch, must_compile)
}

/// A module of four invocations. Each stores its %r to word 4 + %i of the first buffer. The body
/// may begin with variables, up to `---`.
pub(super) fn four(body: &str) -> String {
    let head = "%i = OpLoad %uint %lix %bit = OpBitwiseAnd %uint %i %c1 %odd = OpIEqual %bool %bit %c1
        %mine = OpAccessChain %step %buf %c0 %i %first = OpAccessChain %step %buf %c0 %c0 %third = OpAccessChain %step %buf %c0 %c3
        %o0 = OpAccessChain %step %other %c0 %c0 %o2 = OpAccessChain %step %other %c0 %c2 %q1 = OpAccessChain %step %other %c1 %c1
        %last = OpIAdd %uint %i %c4 %to = OpAccessChain %pword %buf %c0 %last ";
    let (variables, rest) = body.split_once("---").unwrap_or(("", body));
    module(4, &format!("{variables} {head} {rest} OpStore %to %r"))
}

/// Bodies, and the %r of each of the four invocations, worked out by hand.
const VALUES: &[(&str, [u32; 4])] = &[
    ("%p = OpSelect %step %odd %o0 %o2 %r = OpLoad %uint %p", [3, 1, 3, 1]),
    ("%p = OpPtrAccessChain %step %o0 %i %r = OpLoad %uint %p", [1, 2, 3, 4]),
    ("%back = OpSNegate %int %i %p = OpPtrAccessChain %step %third %back %r = OpLoad %uint %p", [40, 30, 20, 10]),
    (
        "OpSelectionMerge %m None OpBranchConditional %odd %y %n %y = OpLabel %a = OpAccessChain %step %other %c0 %i OpBranch %m
        %n = OpLabel %b = OpAccessChain %step %other %c1 %i OpBranch %m %m = OpLabel %p = OpPhi %step %a %y %b %n %r = OpLoad %uint %p",
        [5, 2, 7, 4],
    ),
    // A loop moves the pointer on. The result is the sum of the words up to the invocation's own.
    (
        "OpBranch %h %h = OpLabel %p = OpPhi %step %first %entry %p1 %c %k = OpPhi %uint %c0 %entry %k1 %c %s = OpPhi %uint %c0 %entry %s1 %c
        OpLoopMerge %m %c None OpBranch %b %b = OpLabel %w = OpLoad %uint %p %s1 = OpIAdd %uint %s %w %k1 = OpIAdd %uint %k %c1 OpBranch %c
        %c = OpLabel %p1 = OpPtrAccessChain %step %p %c1 %more = OpULessThanEqual %bool %k1 %i OpBranchConditional %more %h %m
        %m = OpLabel %r = OpIAdd %uint %s1 %c0",
        [10, 30, 60, 100],
    ),
    ("%p = OpFunctionCall %step %pick %odd %o2 %q1 %r = OpLoad %uint %p", [6, 3, 6, 3]),
    ("OpStore %held %o2 %p = OpLoad %step %held %r = OpLoad %uint %p", [3; 4]),
    ("%v = OpVariable %fhold Function --- %p = OpSelect %step %odd %o0 %q1 OpStore %v %p %q = OpLoad %step %v %r = OpLoad %uint %q", [6, 1, 6, 1]),
    (
        "%v = OpVariable %fhold Function %null --- %n = OpLoad %step %v %e = OpPtrEqual %bool %n %null OpStore %v %o0 %q = OpLoad %step %v
        %g = OpPtrNotEqual %bool %q %null %z = OpLogicalAnd %bool %e %g %r = OpSelect %uint %z %c1 %c0",
        [1; 4],
    ),
    ("%p = OpPtrAccessChain %step %first %i %e = OpPtrEqual %bool %p %third %r = OpSelect %uint %e %c1 %c0", [0, 0, 0, 1]),
    ("%p = OpPtrAccessChain %step %first %i %e = OpPtrNotEqual %bool %p %third %r = OpSelect %uint %e %c1 %c0", [1, 1, 1, 0]),
    ("%d = OpPtrDiff %int %mine %third %r = OpBitcast %uint %d", [0xffff_fffd, 0xffff_fffe, 0xffff_ffff, 0]),
    // A pointer one past the end may move back. In memory with a layout it points to the
    // next member.
    ("%e = OpPtrAccessChain %step %o0 %c4 %p = OpPtrAccessChain %step %e %m1 %r = OpLoad %uint %p", [4; 4]),
    ("%e = OpPtrAccessChain %step %o0 %c4 %n = OpAccessChain %step %other %c1 %c0 %z = OpPtrEqual %bool %e %n %r = OpSelect %uint %z %c1 %c0", [1; 4]),
    ("%e = OpPtrAccessChain %step %o0 %c4 %d = OpPtrDiff %uint %e %o2 %r = OpCopyObject %uint %d", [2; 4]),
    // Stores and atomics through a chosen pointer.
    ("%p = OpPtrAccessChain %step %o0 %i OpStore %p %last %r = OpLoad %uint %p", [4, 5, 6, 7]),
    ("%p = OpPtrAccessChain %step %o0 %i %r = OpAtomicIAdd %uint %p %c1 %c0 %c5", [1, 2, 3, 4]),
    // Workgroup memory: the arrays of two variables.
    (
        "%wp = OpAccessChain %wv %wa %i %wq = OpAccessChain %wv %wb %i OpStore %wp %i OpStore %wq %last %p = OpSelect %wv %odd %wp %wq
        %r = OpLoad %uint %p",
        [4, 1, 6, 3],
    ),
    (
        "%wp = OpAccessChain %wv %wa %i OpStore %wp %last OpControlBarrier %c2 %c2 %wgsem %w0 = OpAccessChain %wv %wa %c3 %n = OpSNegate %int %i
        %p = OpPtrAccessChain %wv %w0 %n %r = OpLoad %uint %p",
        [7, 6, 5, 4],
    ),
    (
        "%wp = OpAccessChain %wv %wa %i %wq = OpAccessChain %wv %wb %i OpStore %wp %i OpStore %wq %last
        %p = OpFunctionCall %wv %wpick %odd %wp %wq %r = OpLoad %uint %p",
        [4, 1, 6, 3],
    ),
    (
        "%v = OpVariable %whold Function %wnull --- %wp = OpAccessChain %wv %wa %i OpStore %wp %i OpStore %v %wp %p = OpLoad %wv %v
        %d = OpPtrDiff %uint %p %wp %x = OpLoad %uint %p %r = OpIAdd %uint %d %x",
        [0, 1, 2, 3],
    ),
];

#[test]
fn chosen_pointers_give_what_is_computed_by_hand() {
    for (body, expected) in VALUES {
        let shown = agreed(&four(body), true);
        let expected: Vec<String> = expected.iter().map(u32::to_string).collect();
        assert_eq!(shown.get(4..), Some(&expected[..]), "{body}: {shown:?}");
    }
}

/// Pointers into one of several buffers. %mine and %first point into the first buffer, which has
/// only a runtime array. %o0 and %o2 point into the other.
const SEVERAL: &[(&str, [u32; 4])] = &[
    ("%p = OpSelect %step %odd %mine %o2 %r = OpLoad %uint %p", [3, 20, 3, 40]),
    ("%p = OpFunctionCall %step %pick %odd %mine %o0 %r = OpLoad %uint %p", [1, 20, 1, 40]),
    (
        "%v = OpVariable %fhold Function --- OpStore %v %mine OpSelectionMerge %m None OpBranchConditional %odd %y %m
        %y = OpLabel OpStore %v %o2 OpBranch %m %m = OpLabel %p = OpLoad %step %v %r = OpLoad %uint %p",
        [10, 3, 30, 3],
    ),
    (
        "OpSelectionMerge %m None OpBranchConditional %odd %y %n %y = OpLabel OpBranch %m %n = OpLabel OpBranch %m
        %m = OpLabel %p = OpPhi %step %mine %y %o2 %n %q = OpPtrAccessChain %step %p %m1 %r = OpLoad %uint %q",
        [2, 10, 2, 30],
    ),
    // Stores, an atomic, and a copy between two chosen pointers.
    ("%w = OpAccessChain %step %other %c1 %i %p = OpSelect %step %odd %mine %w OpStore %p %last %r = OpLoad %uint %mine", [10, 5, 30, 7]),
    ("%w = OpAccessChain %step %other %c1 %i %p = OpSelect %step %odd %mine %w OpStore %p %last %r = OpLoad %uint %w", [4, 6, 6, 8]),
    ("%p = OpSelect %step %odd %mine %o2 %r = OpAtomicIAdd %uint %p %c1 %c0 %c5", [3, 20, 8, 40]),
    (
        "%p = OpSelect %step %odd %mine %o2 %w = OpAccessChain %step %other %c1 %i %s = OpSelect %step %odd %w %mine
        OpCopyMemory %s %p %r = OpLoad %uint %s",
        [3, 20, 3, 40],
    ),
    // Comparisons and differences of pointers.
    ("%e = OpPtrEqual %bool %first %o0 %r = OpSelect %uint %e %c1 %c2", [2; 4]),
    ("%p = OpSelect %step %odd %mine %o2 %e = OpPtrEqual %bool %p %o2 %r = OpSelect %uint %e %c1 %c2", [1, 2, 1, 2]),
    ("%p = OpSelect %step %odd %mine %o2 %e = OpPtrNotEqual %bool %mine %p %r = OpSelect %uint %e %c1 %c2", [1, 2, 1, 2]),
    (
        "%p = OpSelect %step %odd %mine %o2 %q = OpSelect %step %odd %first %o0 %d = OpPtrDiff %uint %p %q %r = OpCopyObject %uint %d",
        [2, 1, 2, 3],
    ),
    // The null pointer points into no buffer.
    (
        "%p = OpSelect %step %odd %mine %o2 %n = OpSelect %step %f %p %null %e = OpPtrEqual %bool %n %null %r = OpSelect %uint %e %c1 %c2",
        [1; 4],
    ),
    // Runtime arrays of several buffers, with different offsets and lengths.
    (
        "%a = OpAccessChain %parray %buf %c0 %b = OpAccessChain %parray %long %c1 %p = OpSelect %parray %odd %a %b
        %q = OpAccessChain %step %p %i %r = OpLoad %uint %q",
        [101, 20, 103, 40],
    ),
    ("%p = OpSelect %ptblock %odd %long %short %q = OpAccessChain %step %p %c1 %c1 %r = OpLoad %uint %q", [202, 102, 202, 102]),
    (
        "%p = OpSelect %ptblock %odd %long %short %q = OpAccessChain %step %p %c1 %bit %s = OpFunctionCall %step %pick %odd %q %mine
        %tt = OpPtrAccessChain %step %s %c0 %r = OpLoad %uint %tt",
        [10, 102, 30, 102],
    ),
];

/// Devices may have other floats here, which go through pointers into two buffers. Their sets go
/// with them, also if devices differ in the condition that chooses the pointer.
#[test]
fn sets_go_through_pointers_into_several_buffers() {
    let floats = "OpDecorate %fstep ArrayStride 4 OpDecorate %floats ArrayStride 4 OpDecorate %fblock Block
        OpMemberDecorate %fblock 0 Offset 0 OpMemberDecorate %fblock 1 Offset 16 OpDecorate %fa DescriptorSet 0 OpDecorate %fa Binding 2
        OpDecorate %fb DescriptorSet 0 OpDecorate %fb Binding 3";
    let types = "%fstep = OpTypePointer StorageBuffer %float %floats = OpTypeArray %float %c4 %fblock = OpTypeStruct %floats %floats
        %pfblock = OpTypePointer StorageBuffer %fblock %fa = OpVariable %pfblock StorageBuffer %fb = OpVariable %pfblock StorageBuffer
        %edge = OpConstant %float 0.9489846";
    let body = |chosen: &str| {
        format!(
            "%i = OpLoad %uint %lix %bit = OpBitwiseAnd %uint %i %c1 %odd = OpIEqual %bool %bit %c1 %n = OpConvertUToF %float %i
            %x0 = OpFAdd %float %n %fh %x = OpFDiv %float %x0 %f2 %sine = OpExtInst %float %glsl Sin %x %less = OpFOrdLessThan %bool %sine %edge
            %pa = OpAccessChain %fstep %fa %c0 %i %pb = OpAccessChain %fstep %fb %c1 %i
            OpSelectionMerge %m None OpBranchConditional {chosen} %m %not %not = OpLabel OpBranch %m %m = OpLabel
            %p = OpPhi %fstep %pa %entry %pb %not
            OpStore %p %sine %q = OpLoad %float %p %d = OpFMul %float %q %f2 %to = OpAccessChain %fstep %fb %c0 %i OpStore %to %d"
        )
    };
    let buffers = [buffer(2, &[0; 8]), buffer(3, &[0; 8])];
    for (chosen, ways, words) in [("%odd", 4, 8), ("%less", 5, 9)] {
        let text = text(4, floats, types, &body(chosen));
        let text = text.replacen("OpCapability Shader", "OpCapability Shader OpCapability VariablePointers", 1);
        let module = load(&format!("; Version: 1.4\n{}", text.replacen("%lix OpExecutionMode", "%lix %fa %fb OpExecutionMode", 1)));
        let dispatch = dispatch(1, &buffers);
        let exploration = Exploration::under(Profile::Strict);
        let shown = grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there");
        let acceptance = grid::explore(&module, &dispatch, &shown, &Relation::default(), exploration).expect("main is there");
        assert_eq!((&acceptance.unsettled, acceptance.ways), (&None, ways), "{chosen}");
        let judged = super::sets::judged_alike(&module, &dispatch, exploration, (&shown, &acceptance)).expect("the machine judges it");
        assert_eq!((judged.left, judged.acceptance.words.len()), (0, words), "{chosen}: {judged:?}");
    }
}

/// Bodies that choose among several buffers and have undefined behaviour: its id, and a part of
/// the report.
const SEVERAL_UNDEFINED: &[(&str, &str, &str)] = &[
    ("%p = OpSelect %step %odd %mine %o2 %q = OpPtrAccessChain %step %p %c4 %r = OpLoad %uint %q", "spirv/access-out-of-bounds", "of 4"),
    (
        "%p = OpSelect %ptblock %odd %long %short %q = OpAccessChain %step %p %c1 %c4 %r = OpLoad %uint %q",
        "spirv/access-out-of-bounds",
        "has index 4 (%39) of 2",
    ),
    // The report is of the first invocation with such an access, whichever buffer comes first.
    (
        "%p = OpSelect %ptblock %odd %short %long %q = OpAccessChain %step %p %c1 %c4 %r = OpLoad %uint %q",
        "spirv/access-out-of-bounds",
        "has index 4 (%39) of 4",
    ),
    ("%p = OpSelect %step %odd %mine %o2 %r = OpPtrDiff %uint %p %o2", "spirv/pointers-apart", "which are not of one array"),
    ("%p = OpSelect %step %odd %mine %null %r = OpLoad %uint %p", "spirv/pointer-to-nothing", "which is null"),
    ("%p = OpSelect %step %odd %first %o2 OpStore %p %last %r = OpCopyObject %uint %i", "spirv/data-race", ""),
];

#[test]
fn pointers_into_several_buffers_are_chosen_by_both_engines() {
    for (body, expected) in SEVERAL {
        let expected: Vec<String> = expected.iter().map(u32::to_string).collect();
        assert_eq!(agreed(&four(body), true).get(4..), Some(&expected[..]), "{body}");
    }
    for (body, id, says) in SEVERAL_UNDEFINED {
        let shown = agreed(&four(body), true);
        assert_eq!(shown[0], *id, "{body}: {shown:?}");
        assert!(shown[1].contains(says), "{body}: {}", shown[1]);
    }
}

#[test]
fn robust_buffers_bound_no_runtime_array() {
    let body = "%p = OpPtrAccessChain %step %first %c100 %r = OpLoad %uint %p";
    assert_eq!(agreed_on(&four(body), true, Robustness::Access2)[4..], ["0"; 4]);
    assert_eq!(agreed(&four(body), true)[0], "spirv/access-out-of-bounds");
    // An array of four elements keeps its bound, whatever is robust.
    let body = "%p = OpPtrAccessChain %step %o0 %c5 %r = OpLoad %uint %p";
    assert_eq!(agreed_on(&four(body), true, Robustness::Access2)[0], "spirv/access-out-of-bounds");
}

/// Bodies with undefined behaviour: its id, and a part of the report. Both engines say the same.
const UNDEFINED: &[(&str, &str, &str)] = &[
    ("%p = OpPtrAccessChain %step %o0 %c5 %r = OpCopyObject %uint %i", "spirv/access-out-of-bounds", "goes to element 5 (%"),
    ("%p = OpPtrAccessChain %step %o0 %m1 %r = OpCopyObject %uint %i", "spirv/access-out-of-bounds", "goes to element -1"),
    ("%u = OpUndef %uint %p = OpPtrAccessChain %step %o0 %u %r = OpCopyObject %uint %i", "spirv/address-on-undefined", "an index, %"),
    ("%p = OpPtrAccessChain %step %o0 %c4 %r = OpLoad %uint %p", "spirv/pointer-to-nothing", "one past the end of an array of 4"),
    ("%p = OpPtrAccessChain %step %o0 %c4 OpStore %p %i %r = OpCopyObject %uint %i", "spirv/pointer-to-nothing", "one past the end"),
    (
        "%v = OpVariable %fhold Function --- %p = OpLoad %step %v %r = OpLoad %uint %p",
        "spirv/pointer-to-nothing",
        "which is undefined: spirv/uninitialised",
    ),
    (
        "%u = OpUndef %bool %p = OpSelect %step %u %o0 %o2 %r = OpLoad %uint %p",
        "spirv/pointer-to-nothing",
        "which is undefined: spirv/undef",
    ),
    ("%p = OpSelect %step %f %o0 %null %r = OpLoad %uint %p", "spirv/pointer-to-nothing", "which is null"),
    (
        "%p = OpSelect %step %f %o0 %null %q = OpPtrAccessChain %step %p %c0 %r = OpCopyObject %uint %i",
        "spirv/pointer-to-nothing",
        "which is null",
    ),
    ("%r = OpPtrDiff %uint %o0 %q1", "spirv/pointers-apart", "which are not of one array"),
    ("%p = OpSelect %step %f %o0 %null %r = OpPtrDiff %uint %p %p", "spirv/pointers-apart", "which are not of one array"),
    (
        "%wp = OpAccessChain %wv %wa %c0 %wq = OpAccessChain %wv %wb %c0 %r = OpPtrDiff %uint %wp %wq",
        "spirv/pointers-apart",
        "which are not of one array",
    ),
    (
        "%wp = OpAccessChain %wv %wa %c0 %p = OpPtrAccessChain %wv %wp %c4 %r = OpLoad %uint %p",
        "spirv/pointer-to-nothing",
        "one past the end",
    ),
];

#[test]
fn what_has_no_pointer_is_reported_alike() {
    for (body, id, says) in UNDEFINED {
        let shown = agreed(&four(body), true);
        assert_eq!(shown[0], *id, "{body}: {shown:?}");
        assert!(shown[1].contains(says), "{body}: {}", shown[1]);
    }
}

#[test]
fn a_store_to_what_is_not_writable_is_undefined_behaviour() {
    let body = four("%p = OpSelect %step %odd %o0 %o2 OpStore %p %i %r = OpLoad %uint %p");
    let read_only = body.replacen("OpDecorate %other Binding 1", "OpDecorate %other Binding 1 OpDecorate %other NonWritable", 1);
    assert_eq!(agreed(&read_only, false)[0], "spirv/store-read-only");
    // Without the store, the same pointers may be loaded from.
    let reads = read_only.replacen("OpStore %p %i", "", 1);
    assert_eq!(agreed(&reads, true)[4..], ["3", "1", "3", "1"]);
}

/// In memory without a layout, the device chooses what lies one past the end of an array.
#[test]
fn one_past_the_end_without_a_layout_is_the_same_as_nothing_for_sure() {
    let body =
        "%w0 = OpAccessChain %wv %wa %c0 %wq = OpAccessChain %wv %wb %c0 %e = OpPtrAccessChain %wv %w0 %c4 %z = OpPtrEqual %bool %e %wq
        %r = OpSelect %uint %z %c1 %c0";
    let (module, buffers) = (load(&four(body)), buffers());
    let dispatch = dispatch(1, &buffers);
    assert_eq!(agreed(&four(body), true)[4..], ["0"; 4]);
    let report = grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there");
    let doubts: Vec<u64> = report.doubtful.iter().map(|doubt| doubt.start).collect();
    assert_eq!(doubts, [16, 20, 24, 28]);
}

/// Modules that SPIR-V and Vulkan do not allow, or that are not modeled, with a part of
/// the refusal.
#[test]
fn what_is_not_allowed_is_refused_by_name() {
    let refusal = |text: &str| {
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Module::load(&words).map(|_| ()).map_err(|e| e.to_string())
    };
    let buffer_only = |body: &str| {
        let text = of_capability(
            "VariablePointersStorageBuffer",
            4,
            &format!("%i = OpLoad %uint %lix %o0 = OpAccessChain %step %other %c0 %c0 {body}"),
        );
        let kept = text.split_once("%wpick = OpFunction").map_or(text.clone(), |(kept, _)| kept.to_string());
        kept.replacen("%wnull = OpConstantNull %wv", "", 1)
    };
    assert_eq!(refusal(&buffer_only("%p = OpSelect %step %t %o0 %o0")), Ok(()));
    let rows = [
        (buffer_only("%b0 = OpAccessChain %step %buf %c0 %c0 %p = OpSelect %step %t %o0 %b0"), "needs the capability VariablePointers"),
        (buffer_only("%wp = OpAccessChain %wv %wa %c0 %p = OpSelect %wv %t %wp %wp"), "needs the capability VariablePointers"),
        (four("%p = OpSelect %pword %t %to %to %q = OpPtrAccessChain %pword %p %c1 %r = OpLoad %uint %q"), "has no ArrayStride"),
        (four("%u = OpSelect %pin %t %lix %lix %r = OpLoad %uint %u"), "variable pointers are into StorageBuffer or Workgroup"),
        (four("%b2x = OpCompositeConstruct %b2 %t %t %p = OpSelect %step %b2x %o0 %o2 %r = OpLoad %uint %p"), "it takes one Boolean"),
        (four("%p = OpSelect %pblock %t %buf %buf %r = OpArrayLength %uint %p 0"), "is of the variable pointer"),
        (four("%e = OpPtrEqual %uint %o0 %o2 %r = OpCopyObject %uint %e"), "it must be bool"),
        (four("%e = OpPtrEqual %bool %o0 %to %r = OpCopyObject %uint %i"), "an operand of %"),
        (four("%d = OpPtrDiff %uint %to %to %r = OpCopyObject %uint %i"), "has no ArrayStride"),
        (four("%x = OpLoad %step %hold %r = OpCopyObject %uint %i"), "must be a value"),
        (four("OpCopyMemory %held %held %r = OpCopyObject %uint %i"), "OpCopyMemory of a pointer"),
    ];
    for (text, says) in rows {
        let error = refusal(&text).expect_err(says);
        assert!(error.contains(says), "{says}: {error}");
    }
}

/// A bug in a compiled program.
type Bug = fn(lockstep::Parts<'_>);

/// The comparison of the engines must find each bug.
#[test]
fn planted_bugs_are_seen() {
    use lockstep::Op;
    let rows: [(&str, Bug); 6] = [
        ("%p = OpPtrAccessChain %step %o0 %i", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == Op::Advance).for_each(|code| code.b = code.a)
        }),
        ("OpPtrAccessChain %step %o0 %c5", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == Op::Advance).for_each(|code| code.op = Op::Add)
        }),
        ("OpPtrNotEqual %bool %p %third", |parts| parts.pairs.iter_mut().for_each(|pair| pair.negates = false)),
        ("OpPtrDiff %int %mine", |parts| parts.pairs.iter_mut().for_each(|pair| pair.pointers.swap(0, 1))),
        ("%p = OpPhi %step %a %y %b %n", |parts| parts.moves.iter_mut().for_each(|step| step.from = step.to)),
        ("one past", |parts| parts.codes.iter_mut().filter(|code| code.op == Op::Follow).for_each(lockstep::Code::drop_it)),
    ];
    for (named, bug) in rows {
        let past = "%p = OpPtrAccessChain %step %o0 %c4 %r = OpLoad %uint %p";
        let bodies = VALUES.iter().map(|row| row.0).chain(UNDEFINED.iter().map(|row| row.0));
        let body = if named == "one past" { past } else { bodies.into_iter().find(|body| body.contains(named)).expect("a body") };
        let (module, buffers) = (load(&four(body)), buffers());
        let dispatch = dispatch(1, &buffers);
        let program = lockstep::Program::compile(&module, "main").expect("it compiles");
        let outcome = by_relation(&module, &dispatch).expect("main is there");
        assert_eq!(program.run(&dispatch, 1), outcome, "{body}");
        assert_ne!(program.planted(bug).run(&dispatch, 1), outcome, "{body}");
    }
}

/// A wrong rule of the relation shows other values.
#[test]
fn planted_bugs_in_the_relation_are_seen() {
    fn other_way<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
        let Next::Config(mut next) = step::pointer::select_pointer(env, config)? else { return None };
        let i = config.code.first()?;
        let operands = i.operands(config.module.words());
        let first = config.memory.value(config.module, operands[1])?;
        next.memory.share(config.module, i.result, first);
        Some(Next::Config(next))
    }
    fn stays<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
        let Next::Config(mut next) = step::pointer::ptr_access_chain(env, config)? else { return None };
        let i = config.code.first()?;
        let base = config.memory.value(config.module, i.operands(config.module.words())[0])?;
        next.memory.share(config.module, i.result, base);
        Some(Next::Config(next))
    }
    let rows: [(&str, Rule, step::RuleFunction); 2] = [
        ("%p = OpSelect %step %odd %o0 %o2", Rule::SpirvSelectPointer, other_way),
        ("%p = OpPtrAccessChain %step %o0 %i", Rule::SpirvPtrAccessChain, stays),
    ];
    for (named, rule, function) in rows {
        let (body, _) = VALUES.iter().find(|row| row.0.starts_with(named)).expect("a body");
        let (module, buffers) = (load(&four(body)), buffers());
        let dispatch = dispatch(1, &buffers);
        let wrong = Relation { rules: Rules::standard().replace(rule, function), ..Relation::default() };
        let of_wrong = grid::run(&module, &dispatch, &Schedule::default(), &wrong, &mut ()).expect("main is there");
        assert_ne!(of_wrong, by_relation(&module, &dispatch).expect("main is there"), "{body}");
    }
}

/// The analysis of uniformity does not follow chosen pointers. It reports an error.
#[test]
fn uniformity_has_no_verdict_on_chosen_pointers() {
    use smallstep_semantics::uniformity::spirv::analyse;
    for (body, _) in VALUES {
        let barrier = "OpControlBarrier %c2 %c2 %wgsem";
        let module = load(&four(&format!("{body} {barrier}")));
        let verdict = analyse(&module);
        let followed = ["OpSelect %step", "OpPhi %step", "OpPtrAccessChain"].iter().any(|chosen| body.contains(chosen));
        let compared = body.contains("OpPtr") && !body.contains("%r = OpLoad %uint %p");
        assert!(!followed || compared || verdict.is_err(), "{body}: {verdict:?}");
    }
}

/// The buffers of a generated dispatch.
fn given(case: &ComputeCase) -> Vec<Buffer> {
    case.buffers.iter().map(|b| buffer(b.binding, &b.words)).collect()
}

/// The words of the buffer that a generated dispatch writes. `None` if the run shows nothing.
fn written(outcome: &Outcome<Observation>) -> Option<Vec<u32>> {
    let output = outcome.observed()?.buffers.iter().find(|b| b.binding == 1)?;
    Some(output.bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect())
}

#[test]
fn generated_programs_give_what_a_model_gives() {
    for seed in 0..1_000 {
        let Drawn { case, text } = pointers::drawn(seed, pointers::STEPS);
        let (module, buffers) = (load(&text), given(&case));
        let dispatch = dispatch(1, &buffers);
        let outcome = by_relation(&module, &dispatch).expect("main is there");
        assert_eq!(written(&outcome), case.shown, "seed {seed}: {outcome:?}\n{text}");
        let program = lockstep::Program::compile(&module, "main").unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(program.run(&dispatch, 1), outcome, "seed {seed}\n{text}");
    }
}

#[test]
fn generated_programs_have_everything() {
    let texts: String = (0..200).map(|seed| pointers::drawn(seed, pointers::STEPS).text).collect();
    for instruction in [
        "OpSelect %bstep %odd",
        "OpSelect %wstep %odd",
        "OpSelect %bstep %small",
        "OpPhi %bstep",
        "OpPhi %wstep",
        "OpFunctionCall %bstep",
        "OpFunctionCall %wstep",
        "OpPtrAccessChain %bstep",
        "OpPtrAccessChain %wstep",
        "OpPtrEqual %bool",
        "OpPtrNotEqual %bool",
        "OpPtrDiff %uint",
        "OpLoad %bstep %held",
        "OpLoad %wstep %holdw",
        "OpStore %n",
        "WorkgroupMemoryExplicitLayoutKHR",
        "%wfours",
    ] {
        assert!(texts.contains(instruction), "{instruction}");
    }
    // A program with fewer steps is a prefix of the same program. This makes findings small.
    let [small, all] = [3, pointers::STEPS].map(|steps| pointers::drawn(1, steps).text);
    let begin = |text: &str| text.split_once("%to = ").map(|(begin, _)| begin.trim().to_string()).expect("the end");
    assert!(begin(&all).starts_with(&begin(&small)) && all.len() > small.len());
}

/// One of the first generated programs finds each bug.
#[test]
fn planted_bugs_are_seen_by_generated_programs() {
    use lockstep::Op;
    let rows: [(&str, Bug); 8] = [
        ("pointers that go astray", |parts| parts.codes.iter_mut().filter(|code| code.op == Op::Advance).for_each(|code| code.b = code.a)),
        ("what is not equal is", |parts| parts.pairs.iter_mut().for_each(|pair| pair.negates = false)),
        ("differences the other way", |parts| parts.pairs.iter_mut().for_each(|pair| pair.pointers.swap(0, 1))),
        ("phis that choose nothing", |parts| parts.moves.iter_mut().for_each(|step| step.from = step.to)),
        ("stores to Workgroup memory that are lost", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == Op::StoreShared).for_each(lockstep::Code::drop_it);
        }),
        ("accesses to one buffer for those to another", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == Op::Narrow).for_each(|code| code.c = 0);
        }),
        ("what the first buffer gives, lost where another one is loaded from", |parts| {
            parts.codes.iter_mut().filter(|code| code.op == Op::LoadBuffer).for_each(|code| code.masked = false);
        }),
        ("pointers into several buffers that are of one", |parts| {
            parts.pairs.iter_mut().flat_map(|pair| &mut pair.pointers).for_each(|pointer| pointer[3] = pointer[2]);
        }),
    ];
    for (what, bug) in rows {
        let is_seen = |seed: u64| {
            let Drawn { case, .. } = pointers::drawn(seed, pointers::STEPS);
            let (module, buffers) = (Module::load(&case.words).expect("loads"), given(&case));
            let program = lockstep::Program::compile(&module, "main").expect("it compiles").planted(bug);
            written(&program.run(&dispatch(1, &buffers), 1)) != case.shown
        };
        assert!((0..40).any(is_seen), "{what}");
    }
}

/// Words of generated programs are changed at random. The module is refused, or both engines end
/// alike. Neither engine panics.
#[test]
fn changed_words_are_refused_or_run_alike() {
    let (mut loaded, mut compared) = (0, 0);
    for seed in 0..6000u64 {
        let mut random = smallstep_semantics::random::Random::new(seed);
        let mut below = |count: u64| random.bits() % count;
        let case = pointers::drawn(seed % 40, pointers::STEPS).case;
        let mut words = case.words.clone();
        let first = words.len() / 3;
        for _ in 0..=below(2) {
            let at = first + below((words.len() - first) as u64) as usize;
            // Most often it becomes another word of the module, such as an id in place of an id.
            words[at] = match below(8) {
                0 => below(300) as u32,
                _ => words[first + below((words.len() - first) as u64) as usize],
            };
        }
        let Ok(module) = Module::load(&words) else { continue };
        loaded += 1;
        let buffers = given(&case);
        let dispatch = dispatch(1, &buffers);
        let Ok(outcome) = by_relation(&module, &dispatch) else { continue };
        let Ok(program) = lockstep::Program::compile(&module, "main") else { continue };
        let of_machine = program.run(&dispatch, 1);
        match (&outcome, &of_machine) {
            // The schedule decides which invocation meets it first.
            (Outcome::Undefined(a), Outcome::Undefined(b)) => assert_eq!(a.ub, b.ub, "seed {seed}"),
            (Outcome::Observed(_) | Outcome::Undefined(_), _) => assert_eq!(of_machine, outcome, "seed {seed}"),
            _ => continue,
        }
        compared += 1;
    }
    assert!(loaded > 100 && compared > 50, "{loaded} loaded, {compared} compared");
}

/// The converter to WGSL converts no functions that return pointers and no variables that hold
/// them. Loading for the converter refuses them.
#[test]
fn what_the_converter_does_not_know_is_refused() {
    use smallstep_semantics::spirv::LoadOptions;
    let load = |text: &str| {
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = LoadOptions { lenient: true, unmodeled: true, ..LoadOptions::default() };
        Module::load_with(&words, &options).map(|_| ()).map_err(|e| e.to_string())
    };
    let text = four("%p = OpFunctionCall %step %pick %odd %o2 %q1 %r = OpLoad %uint %p");
    let error = load(&text).expect_err("it holds a pointer");
    assert!(error.contains("OpConstantNull of pointer") || error.contains("holds a pointer"), "{error}");
    let plain = text
        .replacen("%null = OpConstantNull %step %wnull = OpConstantNull %wv", "", 1)
        .replacen("%hold = OpTypePointer Private %step %held = OpVariable %hold Private", "", 1)
        .replacen(" %held", "", 1);
    let error = load(&plain).expect_err("it calls what returns a pointer");
    assert!(error.contains("returns a pointer"), "{error}");
}

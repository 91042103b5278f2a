//! Workgroup memory with an explicit layout (SPV_KHR_workgroup_memory_explicit_layout): Blocks that
//! share one memory, by both engines.

use pretty_assertions::assert_eq;

use super::*;

const DECORATIONS: &str = "OpDecorate %wwords ArrayStride 4 OpDecorate %as_words Block OpMemberDecorate %as_words 0 Offset 0
    OpDecorate %as_pair Block OpMemberDecorate %as_pair 0 Offset 0 OpMemberDecorate %as_pair 1 Offset 8 OpMemberDecorate %as_pair 2 Offset 16
    OpMemberDecorate %as_pair 2 ColMajor OpMemberDecorate %as_pair 2 MatrixStride 8
    OpDecorate %wa Aliased OpDecorate %wb Aliased ";
const DECLARATIONS: &str =
    "%m2 = OpTypeMatrix %v2 2 %wwords = OpTypeArray %uint %c8 %as_words = OpTypeStruct %wwords %as_pair = OpTypeStruct %float %uint %m2
    %pwords = OpTypePointer Workgroup %as_words %ppair = OpTypePointer Workgroup %as_pair %pwf = OpTypePointer Workgroup %float
    %pwv = OpTypePointer Workgroup %v2
    %wa = OpVariable %pwords Workgroup %wb = OpVariable %ppair Workgroup ";

/// A module of four invocations, each of which stores its %r to its own word.
fn module_of(capabilities: &str, decorations: &str, declarations: &str, body: &str) -> String {
    let head = "%i = OpLoad %uint %lix %zero = OpIEqual %bool %i %c0 %to = OpAccessChain %pword %buf %c0 %i";
    let extension = "OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\" OpExtension \"SPV_KHR_storage";
    let text = text(4, decorations, declarations, &format!("{head} {body} OpStore %to %r"))
        .replacen("OpCapability Shader", &format!("OpCapability Shader {capabilities}"), 1)
        .replacen("OpExtension \"SPV_KHR_storage", extension, 1)
        .replacen("%lix OpExecutionMode", "%lix %buf %wa %wb OpExecutionMode", 1);
    format!("; Version: 1.4\n{text}")
}

fn module(body: &str) -> String {
    module_of("OpCapability WorkgroupMemoryExplicitLayoutKHR", DECORATIONS, DECLARATIONS, body)
}

#[track_caller]
fn agreed(text: &str, must_compile: bool) -> Vec<String> {
    let (module, buffers) = (load(text), [buffer(0, &[0; 4])]);
    let dispatch = dispatch(2, &buffers);
    let dispatch = Dispatch { groups: [1, 1, 1], ..dispatch };
    by_engines(text, &module, &dispatch, must_compile)
}

/// The first invocation runs `stores`. All invocations wait at a barrier and then run `loads`.
fn stored(stores: &str, loads: &str) -> String {
    format!(
        "OpSelectionMerge %ready None OpBranchConditional %zero %fill %ready %fill = OpLabel {stores} OpBranch %ready
        %ready = OpLabel OpControlBarrier %c2 %c2 %wgsem {loads}"
    )
}

const VALUES: &[(&str, &str, [&str; 4])] = &[
    // The other Block shows 2.5 as a word.
    ("%p = OpAccessChain %pwf %wb %c0 OpStore %p %fh", "%q = OpAccessChain %wv %wa %c0 %c0 %r = OpLoad %uint %q", ["1075838976"; 4]),
    ("%p = OpAccessChain %wv %wa %c0 %c2 OpStore %p %c9", "%q = OpAccessChain %wv %wb %c1 %r = OpLoad %uint %q", ["9"; 4]),
    // The columns of the matrix are 8 bytes apart, from byte 16 on.
    (
        "%c = OpCompositeConstruct %v2 %f1 %fh %p = OpAccessChain %pwv %wb %c2 %c1 OpStore %p %c",
        "%at = OpIAdd %uint %i %c4 %last = OpAccessChain %wv %wa %c0 %at %six = OpULessThan %bool %i %c2 %k = OpSelect %uint %six %c6 %c7
        %q = OpAccessChain %wv %wa %c0 %k %r = OpLoad %uint %q",
        ["1065353216", "1065353216", "1075838976", "1075838976"],
    ),
    // Memory that was never written is undefined, and the load makes the undefined value.
    ("", "%q = OpAccessChain %wv %wa %c0 %i %r = OpLoad %uint %q", ["any(spirv/uninitialised)"; 4]),
    (
        "%p = OpAccessChain %wv %wa %c0 %c3 OpStore %p %c5",
        "%q = OpAccessChain %wv %wa %c0 %c3 %x = OpAtomicIAdd %uint %q %c2 %c0 %c1 OpControlBarrier %c2 %c2 %wgsem %r = OpLoad %uint %q",
        ["9"; 4],
    ),
];

#[test]
fn blocks_share_their_memory() {
    for (stores, loads, expected) in VALUES {
        assert_eq!(agreed(&module(&stored(stores, loads)), true), expected, "{stores} {loads}");
    }
}

#[test]
fn races_are_of_bytes() {
    // One invocation stores through one Block, and the others load the same word through the other.
    let body = "%p = OpAccessChain %pwf %wb %c0 %q = OpAccessChain %wv %wa %c0 %c0 OpSelectionMerge %m None OpBranchConditional %zero %y %n
        %y = OpLabel OpStore %p %fh OpBranch %m %n = OpLabel %x = OpLoad %uint %q OpBranch %m %m = OpLabel %r = OpCopyObject %uint %i";
    let shown = agreed(&module(body), true);
    assert_eq!(shown[0], "spirv/data-race");
    assert!(shown[1].contains("in Workgroup memory") && shown[1].contains("both access byte 0"), "{}", shown[1]);
    // The next word does not overlap.
    let apart = body.replacen("%q = OpAccessChain %wv %wa %c0 %c0", "%q = OpAccessChain %wv %wa %c0 %c1", 1);
    assert_eq!(agreed(&module(&apart), true), ["0", "1", "2", "3"]);
}

/// Bytes and halves overlap words. The machine leaves them to the relation.
#[test]
fn narrow_numbers_share_words() {
    let capabilities = "OpCapability WorkgroupMemoryExplicitLayout16BitAccessKHR OpCapability Int16";
    let decorations = format!("{DECORATIONS} OpDecorate %halves ArrayStride 2").replacen(
        "OpMemberDecorate %as_pair 0 Offset 0 OpMemberDecorate %as_pair 1 Offset 8 OpMemberDecorate %as_pair 2 Offset 16
    OpMemberDecorate %as_pair 2 ColMajor OpMemberDecorate %as_pair 2 MatrixStride 8",
        "OpMemberDecorate %as_pair 0 Offset 0",
        1,
    );
    let declarations = DECLARATIONS
        .replacen("%as_pair = OpTypeStruct %float %uint %m2", "%u16 = OpTypeInt 16 0 %halves = OpTypeArray %u16 %c4 %as_pair = OpTypeStruct %halves %ph = OpTypePointer Workgroup %u16 %h5 = OpConstant %u16 5 %h6 = OpConstant %u16 6", 1);
    let body = stored(
        "%p = OpAccessChain %ph %wb %c0 %c0 OpStore %p %h5 %q = OpAccessChain %ph %wb %c0 %c1 OpStore %q %h6",
        "%w = OpAccessChain %wv %wa %c0 %c0 %r = OpLoad %uint %w",
    );
    assert_eq!(agreed(&module_of(capabilities, &decorations, &declarations, &body), false), ["393221"; 4]);
}

#[test]
fn what_is_not_allowed_is_refused_by_name() {
    let refusal = |text: &str| {
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Module::load(&words).map(|_| ()).map_err(|e| e.to_string())
    };
    let body = "%r = OpCopyObject %uint %i";
    let capability = "OpCapability WorkgroupMemoryExplicitLayoutKHR";
    let plain = "%wplain = OpTypePointer Workgroup %uint %wb = OpVariable %wplain Workgroup";
    let mixed = DECLARATIONS.replacen("%wb = OpVariable %ppair Workgroup", plain, 1);
    let boolean = DECLARATIONS.replacen("%as_pair = OpTypeStruct %float %uint %m2", "%as_pair = OpTypeStruct %float %bool %m2", 1);
    let rows = [
        (module_of(capability, &DECORATIONS.replacen("OpDecorate %wa Aliased", "", 1), DECLARATIONS, body), "and not Aliased"),
        (module_of("", DECORATIONS, DECLARATIONS, body), "needs the capability WorkgroupMemoryExplicitLayoutKHR"),
        (module_of(capability, DECORATIONS, &mixed, body), "some are Blocks, and some are not"),
        (module_of(capability, DECORATIONS, &boolean, body), "which has no place in a layout"),
        (module_of(capability, &DECORATIONS.replacen("1 Offset 8", "1 Offset 2", 1), DECLARATIONS, body), "is no multiple of 4"),
        (module(body).replacen("; Version: 1.4", "; Version: 1.3", 1), "needs SPIR-V 1.4"),
        (module(body).replacen("OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"", "", 1), "needs SPIR-V 1.4 and the extension"),
    ];
    for (text, says) in rows {
        let error = refusal(&text).expect_err(says);
        assert!(error.contains(says), "{says}: {error}");
    }
    assert_eq!(refusal(&module(body)), Ok(()));
}

/// A bug in a compiled program.
type Bug = fn(lockstep::Parts<'_>);

/// The comparison of the engines must find each bug.
#[test]
fn planted_bugs_are_seen() {
    use lockstep::Op;
    let rows: [(usize, Bug); 2] = [
        (1, |parts| parts.codes.iter_mut().filter(|code| code.op == Op::LoadShared).for_each(|code| code.c = 0)),
        (2, |parts| parts.codes.iter_mut().filter(|code| code.op == Op::StoreShared).for_each(lockstep::Code::drop_it)),
    ];
    for (row, bug) in rows {
        let (stores, loads, _) = VALUES[row];
        let (module, buffers) = (load(&module(&stored(stores, loads))), [buffer(0, &[0; 4])]);
        let dispatch = dispatch(1, &buffers);
        let outcome = by_relation(&module, &dispatch).expect("main is there");
        let program = lockstep::Program::compile(&module, "main").expect("it compiles");
        assert_eq!(program.run(&dispatch, 1), outcome);
        assert_ne!(program.planted(bug).run(&dispatch, 1), outcome, "{loads}");
    }
}

//! Compute dispatches by the relation: values worked out by hand, every undefined behaviour and undefined value with its message, schedules.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use pretty_assertions::assert_eq;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::concurrency::Schedule;
use smallstep_semantics::spirv::concurrency::explore::Budget;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources, Robustness};
use smallstep_semantics::spirv::memory::{Memory, Value};
use smallstep_semantics::spirv::shared::Shared;
use smallstep_semantics::spirv::step::{self, Config, Env, Event, Next, Relation, Rules};
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, grid};

/// Types, constants c0 to c9 (unsigned) and i-3 to i3 (signed), built-ins, and the storage buffer %buf of unsigned words.
const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
    %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32
    %u2 = OpTypeVector %uint 2 %u3 = OpTypeVector %uint 3 %u4 = OpTypeVector %uint 4 %v2 = OpTypeVector %float 2 %i2 = OpTypeVector %int 2
    %v3 = OpTypeVector %float 3 %b2 = OpTypeVector %bool 2
    %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3 %c4 = OpConstant %uint 4
    %c5 = OpConstant %uint 5 %c6 = OpConstant %uint 6 %c7 = OpConstant %uint 7 %c8 = OpConstant %uint 8 %c9 = OpConstant %uint 9
    %c31 = OpConstant %uint 31 %c32 = OpConstant %uint 32 %c100 = OpConstant %uint 100 %all = OpConstant %uint 0xffffffff
    %i0 = OpConstant %int 0 %i1 = OpConstant %int 1 %i2c = OpConstant %int 2 %i3 = OpConstant %int 3 %m1 = OpConstant %int -1
    %m7 = OpConstant %int -7 %least = OpConstant %int 0x80000000
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %f2 = OpConstant %float 2 %fh = OpConstant %float 2.5 %fm = OpConstant %float -2.5
    %big = OpConstant %float 1e20
    %t = OpConstantTrue %bool %f = OpConstantFalse %bool
    %u12 = OpConstantComposite %u2 %c1 %c2 %u34 = OpConstantComposite %u2 %c3 %c4
    %acqrel = OpConstant %uint 72 %acq = OpConstant %uint 66 %rel = OpConstant %uint 68 %relaxed = OpConstant %uint 0
    %wgsem = OpConstant %uint 264
    %pin3 = OpTypePointer Input %u3 %pin = OpTypePointer Input %uint
    %gid3 = OpVariable %pin3 Input %lid3 = OpVariable %pin3 Input %wid3 = OpVariable %pin3 Input %num3 = OpVariable %pin3 Input
    %lix = OpVariable %pin Input
    %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
    %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint
    %fword = OpTypePointer Function %uint %pv = OpTypePointer Private %uint %wv = OpTypePointer Workgroup %uint
";

/// The module whose `main` has that body, with workgroups of `size` invocations in x.
fn text(size: u32, decorations: &str, declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader OpExtension \"SPV_KHR_storage_buffer_storage_class\"
        %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %gid3 %lid3 %wid3 %num3 %lix OpExecutionMode %main LocalSize {size} 1 1
        %file = OpString \"a.comp\"
        OpDecorate %gid3 BuiltIn GlobalInvocationId OpDecorate %lid3 BuiltIn LocalInvocationId OpDecorate %wid3 BuiltIn WorkgroupId
        OpDecorate %num3 BuiltIn NumWorkgroups OpDecorate %lix BuiltIn LocalInvocationIndex
        OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0
        {decorations} {TYPES} {declarations}
        %main = OpFunction %void None %fn %entry = OpLabel
        {body}
        OpReturn OpFunctionEnd"
    )
}

fn load(text: &str) -> Module {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn buffer(binding: u32, words: &[u32]) -> Buffer {
    Buffer { set: 0, binding, bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() }
}

fn dispatch<'d>(groups: u32, buffers: &'d [Buffer]) -> Dispatch<'d> {
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    Dispatch { entry: "main", groups: [groups, 1, 1], resources: Resources::of_buffers(buffers), limits }
}

fn with_resources<'d>(mut dispatch: Dispatch<'d>, change: impl FnOnce(&mut Resources<'d>)) -> Dispatch<'d> {
    change(&mut dispatch.resources);
    dispatch
}

fn run(module: &Module, groups: u32, words: &[u32]) -> Outcome<Observation> {
    let buffers = [buffer(0, words)];
    let outcome = grid::run(module, &dispatch(groups, &buffers), &Schedule::default(), &Relation::default(), &mut ());
    outcome.expect("main is there")
}

/// What an outcome shows: the words of the first buffer, `any(kind)` where one is undefined; or the id and sentence of what went wrong.
fn shown(outcome: &Outcome<Observation>) -> Vec<String> {
    match outcome {
        Outcome::Observed(observation) => {
            let buffer = &observation.buffers[0];
            let word = |(i, bytes): (usize, &[u8])| {
                let at = 4 * i as u64;
                match buffer.undefined.iter().find(|u| u.start < at + 4 && at < u.end) {
                    Some(undefined) => format!("any({})", undefined.kind),
                    None => u32::from_le_bytes(bytes.try_into().expect("4 bytes")).to_string(),
                }
            };
            buffer.bytes.chunks(4).enumerate().map(word).collect()
        }
        Outcome::Undefined(undefined) => vec![undefined.ub.id().to_string(), undefined.what.clone()],
        Outcome::Unsupported(what) => vec!["unsupported".to_string(), what.clone()],
        other => vec![other.name().to_string(), format!("{other:?}")],
    }
}

fn store(index: &str, value: &str) -> String {
    format!("%p{index}{value} = OpAccessChain %pword %buf %c0 %{index} OpStore %p{index}{value} %{value} ")
}

/// What `%r`, an unsigned word, is after a body of one invocation.
fn word(declarations: &str, body: &str) -> String {
    let outcome = run(&load(&text(1, "", declarations, &format!("{body} {}", store("c0", "r")))), 1, &[77]);
    shown(&outcome)[0].clone()
}

/// The same of a signed integer, a float or a Boolean of that type.
fn bits(type_: &str, instruction: &str) -> String {
    let (op, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let after = match type_ {
        "uint" => return word("", &format!("%r = {op} %uint {operands}")),
        "bool" => "%r = OpSelect %uint %x %c1 %c0",
        _ => "%r = OpBitcast %uint %x",
    };
    word("", &format!("%x = {op} %{type_} {operands} {after}"))
}

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
    // 1 + 2 + 4 + 5, leaving out 3 by continue and leaving at 6.
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
        let outcome = grid::run(&module, &dispatch, &Schedule::default(), &Relation::default(), &mut ()).expect("main is there");
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

const SHARED: &str = "%shared = OpVariable %wv Workgroup";

#[test]
fn barriers_order_and_without_them_there_is_a_race() {
    // Invocation 0 writes, all read after.
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
    // Each of its own: no race.
    let body = format!("%i = OpLoad %uint %lix {}", store("i", "i"));
    assert_eq!(shown(&run(&load(&text(3, "", "", &body)), 1, &[9; 3])), ["0", "1", "2"]);
    // Two workgroups to one word: a race.
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

/// The endings of all schedules of two workgroups of one invocation, each of which does one of the bodies.
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
    // x := 5; flag y := 1. The reader looks at x only where it saw the flag.
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
    // Store buffering: sequentially consistent interleavings of relaxed atomics show three of four results.
    let found = endings(
        "",
        "OpAtomicStore %x %c1 %c0 %c1 %r0 = OpAtomicLoad %uint %y %c1 %c0 OpStore %out0 %r0",
        "OpAtomicStore %y %c1 %c0 %c1 %r1 = OpAtomicLoad %uint %x %c1 %c0 OpStore %out1 %r1",
        &[0; 4],
    );
    assert_eq!(found, strings(&[&[1, 1, 0, 1], &[1, 1, 1, 0], &[1, 1, 1, 1]]));
    // Load and store apart lose an increment; a read-modify-write does not.
    let apart = |n: u32| format!("%l{n} = OpAtomicLoad %uint %x %c1 %c0 %s{n} = OpIAdd %uint %l{n} %c1 OpAtomicStore %x %c1 %c0 %s{n}");
    assert_eq!(endings("", &apart(0), &apart(1), &[0; 4]), strings(&[&[1, 0, 0, 0], &[2, 0, 0, 0]]));
    let once = |n: u32| format!("%l{n} = OpAtomicIAdd %uint %x %c1 %c0 %c1");
    assert_eq!(endings("", &once(0), &once(1), &[0; 4]), strings(&[&[2, 0, 0, 0]]));
}

/// Odd numbers crossed out by all invocations of a workgroup in shared memory, with a barrier between rounds; then each counts its own.
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

#[test]
fn a_trace_has_a_line_for_every_rule() {
    let module = load(&text(2, "", "", &format!("%i = OpLoad %uint %lix %r = OpIAdd %uint %i %c5 {}", store("i", "r"))));
    let mut lines = Vec::new();
    let mut sink = |event: &Event<'_, '_>| lines.push(event.line(&module));
    let buffers = [buffer(0, &[0; 2])];
    let outcome = grid::run(&module, &dispatch(1, &buffers), &Schedule::default(), &Relation::default(), &mut sink).expect("main is there");
    let Outcome::Observed(observation) = outcome else { panic!("{outcome:?}") };
    assert_eq!(lines.len() as u64, observation.instructions);
    let one = lines.iter().find(|line| line.starts_with("0.1 1 [spirv/compute]")).unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(one.contains("= OpIAdd in %") && one.ends_with(": 6"), "{one}");
    assert!(lines.iter().any(|line| line.contains("[spirv/store]") && line.ends_with("store of 0x6 to buffer 0 bytes 4+4")), "{lines:#?}");
}

fn chain_without_bounds<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

fn case_is_default<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    // The first case, whatever the selector.
    let next = step::control::switch_case(env, config)?;
    match next {
        Next::Config(mut next) => {
            let head = config.head()?;
            let target = head.operands(config.module.words())[1];
            (next.c, next.code) = (target, config.memory.block(config.module, target)?);
            Some(Next::Config(next))
        }
        other => Some(other),
    }
}

fn store_forgets<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::store(env, config)? {
        Next::Acts(next, _) => Some(Next::Config(next)),
        other => Some(other),
    }
}

fn call_keeps_block<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::composite::vector_shuffle(env, config)? {
        Next::Config(mut next) => {
            let r = config.head()?.result;
            let mut scalars = next.scalars(r)?;
            scalars.reverse();
            next.memory.define(config.module, r, Value::Scalars(scalars));
            Some(Next::Config(next))
        }
        other => Some(other),
    }
}

/// Wrong rules put in the place of right ones show in what is observed.
#[test]
fn planted_rules_are_caught() {
    let body = format!(
        "%x = OpVectorShuffle %u2 %u12 %u34 0 3 %e = OpCompositeExtract %uint %x 0 OpSelectionMerge %m None OpSwitch %e %d 1 %a
        %a = OpLabel OpBranch %m %d = OpLabel OpBranch %m %m = OpLabel %r = OpPhi %uint %c3 %a %c4 %d {}",
        store("c0", "r")
    );
    let module = load(&text(1, "", "", &body));
    let buffers = [buffer(0, &[0])];
    let with = |rules: Rules| {
        let relation = Relation { rules, ..Relation::default() };
        shown(&grid::run(&module, &dispatch(1, &buffers), &Schedule::default(), &relation, &mut ()).expect("main is there"))[0].clone()
    };
    assert_eq!(with(Rules::standard()), "3");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvSwitchCase, case_is_default)), "4");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvStore, store_forgets)), "0");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvVectorShuffle, call_keeps_block)), "4");
    assert_eq!(with(Rules::standard().replace(Rule::SpirvAccessChain, chain_without_bounds)), "stuck");
}

/// Fragment modules beyond λV's have no grid yet: one invocation by its rules.
#[test]
fn fragments_are_discarded_and_demoted() {
    let fired = |body: &str| {
        let text = format!(
            "OpCapability Shader OpCapability DemoteToHelperInvocation OpExtension \"SPV_EXT_demote_to_helper_invocation\"
            OpExtension \"SPV_KHR_terminate_invocation\" OpMemoryModel Logical GLSL450
            OpEntryPoint Fragment %main \"main\" OpExecutionMode %main OriginUpperLeft
            %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
            %main = OpFunction %void None %fn %entry = OpLabel {body} OpFunctionEnd"
        );
        let module = load(&text);
        let entry = module.entry_point("main").expect("main is there");
        let shared = Shared::new(&module, &[], &dispatch(1, &[])).expect("nothing is used");
        let relation = Relation::default();
        let env = Env { calculator: &relation.calculator, shared: &shared, invocation: 0, workgroup: 0, judged: false };
        let mut config = Config::enter(&module, module.entry_block(entry).label, Memory::load(&module, 0));
        let mut rules = Vec::new();
        loop {
            let mut reducts = relation.step(&env, &config);
            let reduct = reducts.pop().unwrap_or_else(|| panic!("stuck after {rules:?}"));
            assert!(reducts.is_empty());
            rules.push(reduct.rule.name());
            match reduct.next {
                Next::Config(next) => config = next,
                Next::Ends(_) => return (rules, "ends", config.helper),
                Next::Discards(_) => return (rules, "discards", config.helper),
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(fired("OpKill"), (vec!["spirv/kill"], "discards", false));
    assert_eq!(fired("OpTerminateInvocation"), (vec!["spirv/terminate-invocation"], "discards", false));
    let demoted = "OpDemoteToHelperInvocation %h = OpIsHelperInvocationEXT %bool OpSelectionMerge %m None
        OpBranchConditional %h %y %m %y = OpLabel OpBranch %m %m = OpLabel OpReturn";
    let rules = ["demote", "is-helper", "nop", "branch-conditional-true", "branch", "return"].map(|rule| format!("spirv/{rule}"));
    let (found, ending, helper) = fired(demoted);
    assert_eq!((found.iter().map(|r| r.to_string()).collect::<Vec<_>>(), ending, helper), (rules.to_vec(), "ends", true));
}

//! Compute dispatches by the relation: values worked out by hand, every undefined behaviour and
//! undefined value with its message, schedules.

mod concurrency;
mod descriptors;
mod exhibits;
mod judged;
mod machine;
mod pointers;
mod rules;
mod sets;
mod undefined;
mod values;
mod workgroup_layout;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use pretty_assertions::assert_eq;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::interleavings::Budget;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources, Robustness};
use smallstep_semantics::spirv::memory::{Memory, Value};
use smallstep_semantics::spirv::shared::Shared;
use smallstep_semantics::spirv::step::{self, Config, Env, Event, Next, Relation, Rules};
use smallstep_semantics::spirv::{Buffer, LoadError, Module, Options, assemble, grid, lockstep};

/// Types, constants c0 to c9 (unsigned) and i-3 to i3 (signed), built-ins, and the storage buffer
/// %buf of unsigned words.
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

/// What a module shows by the relation. The machine shows the same with one thread and with two, if
/// it compiles the module; `must_compile` says whether it does.
#[track_caller]
fn by_engines(text: &str, module: &Module, dispatch: &Dispatch<'_>, must_compile: bool) -> Vec<String> {
    let outcome = by_relation(module, dispatch).expect("main is there");
    match lockstep::Program::compile(module, "main") {
        Ok(program) => {
            assert!(must_compile, "the machine compiles it\n{text}");
            [1, 2].into_iter().for_each(|threads| assert_eq!(program.run(dispatch, threads), outcome, "{text}"));
        }
        Err(LoadError::Unsupported { what, .. }) => assert!(!must_compile, "{what}\n{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
    shown(&outcome)
}

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

/// How a dispatch ends by the relation.
fn by_relation(module: &Module, dispatch: &Dispatch<'_>) -> Result<Outcome<Observation>, LoadError> {
    grid::run(module, dispatch, &Schedule::default(), &Relation::default(), &mut ())
}

/// How a dispatch ends by the relation. The lockstep machine must end in the same way: with the
/// same bytes, origins and instructions, or with the same report. It refuses a module by name if it
/// cannot compile it.
fn both(module: &Module, dispatch: &Dispatch<'_>) -> Outcome<Observation> {
    let outcome = by_relation(module, dispatch).expect("main is there");
    match lockstep::Program::compile(module, dispatch.entry) {
        Ok(program) => {
            let of_machine = program.run(dispatch, 1);
            match (&outcome, &of_machine) {
                (Outcome::Unsupported(_), Outcome::Unsupported(_)) => {}
                _ => assert_eq!(of_machine, outcome, "the lockstep machine"),
            }
        }
        Err(LoadError::Unsupported { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    outcome
}

fn run(module: &Module, groups: u32, words: &[u32]) -> Outcome<Observation> {
    both(module, &dispatch(groups, &[buffer(0, words)]))
}

/// What an outcome shows: the words of the first buffer, `any(kind)` where one is undefined; or the
/// id and sentence of what went wrong.
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

/// The unsigned word `%r` after a body that one invocation runs.
fn word(declarations: &str, body: &str) -> String {
    let outcome = run(&load(&text(1, "", declarations, &format!("{body} {}", store("c0", "r")))), 1, &[77]);
    shown(&outcome)[0].clone()
}

/// The result of an instruction of that type, as an unsigned word. A Boolean is 1 or 0.
fn bits(type_: &str, instruction: &str) -> String {
    let (op, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let after = match type_ {
        "uint" => return word("", &format!("%r = {op} %uint {operands}")),
        "bool" => "%r = OpSelect %uint %x %c1 %c0",
        _ => "%r = OpBitcast %uint %x",
    };
    word("", &format!("%x = {op} %{type_} {operands} {after}"))
}

//! Subgroups by the relation and the lockstep machine: every group instruction against a second
//! evaluation that follows the lanes one by one, which invocations execute an instruction together,
//! sizes, and floats in any order.

mod bugs;
mod checks;
mod generated;
mod machine;
mod seen;
mod together;
mod values;

use pretty_assertions::assert_eq;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources, SubgroupMapping};
use smallstep_semantics::spirv::grid::{self, Report};
use smallstep_semantics::spirv::step::{Relation, Rules};
use smallstep_semantics::spirv::{Buffer, LoadError, Module, Options, assemble, lockstep};

/// Types, constants c0 to c9, built-ins, and the storage buffer %buf of words.
const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
    %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32 %u4 = OpTypeVector %uint 4 %u2 = OpTypeVector %uint 2
    %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3 %c4 = OpConstant %uint 4
    %c5 = OpConstant %uint 5 %c6 = OpConstant %uint 6 %c7 = OpConstant %uint 7 %c8 = OpConstant %uint 8 %c9 = OpConstant %uint 9
    %c16 = OpConstant %uint 16 %c31 = OpConstant %uint 31 %acqrel = OpConstant %uint 264 %f0 = OpConstant %float 0
    %yes = OpConstantTrue %bool %undef = OpUndef %uint
    %pin = OpTypePointer Input %uint %pin4 = OpTypePointer Input %u4 %lix = OpVariable %pin Input %size = OpVariable %pin Input
    %lane = OpVariable %pin Input %number = OpVariable %pin Input %count = OpVariable %pin Input
    %eq = OpVariable %pin4 Input %ge = OpVariable %pin4 Input %gt = OpVariable %pin4 Input %le = OpVariable %pin4 Input
    %lt = OpVariable %pin4 Input
    %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
    %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint %wv = OpTypePointer Workgroup %uint
    %fword = OpTypePointer Function %uint
";

const CAPABILITIES: &str = "OpCapability Shader OpCapability GroupNonUniform OpCapability GroupNonUniformVote
    OpCapability GroupNonUniformArithmetic OpCapability GroupNonUniformBallot OpCapability GroupNonUniformShuffle
    OpCapability GroupNonUniformShuffleRelative OpCapability GroupNonUniformClustered OpCapability GroupNonUniformQuad";

/// A module whose `main` has that body, with workgroups of `invocations` invocations.
fn text(invocations: u32, declarations: &str, body: &str) -> String {
    let inputs = "%lix %size %lane %number %count %eq %ge %gt %le %lt";
    format!(
        "{CAPABILITIES} OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" {inputs} OpExecutionMode %main LocalSize {invocations} 1 1
        OpDecorate %lix BuiltIn LocalInvocationIndex OpDecorate %size BuiltIn SubgroupSize
        OpDecorate %lane BuiltIn SubgroupLocalInvocationId OpDecorate %number BuiltIn SubgroupId
        OpDecorate %count BuiltIn NumSubgroups OpDecorate %eq BuiltIn SubgroupEqMask OpDecorate %ge BuiltIn SubgroupGeMask
        OpDecorate %gt BuiltIn SubgroupGtMask OpDecorate %le BuiltIn SubgroupLeMask OpDecorate %lt BuiltIn SubgroupLtMask
        OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0
        {TYPES} {declarations}
        %main = OpFunction %void None %fn %entry = OpLabel
        {body}
        OpReturn OpFunctionEnd"
    )
}

fn load(text: &str) -> Result<Module, LoadError> {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Module::load(&words)
}

fn buffer(words: &[u32]) -> Buffer {
    Buffer { set: 0, binding: 0, bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() }
}

/// A dispatch of one workgroup with these buffers, in subgroups of that size.
fn dispatch<'d>(buffers: &'d [Buffer], size: Option<u32>) -> Dispatch<'d> {
    let limits = Limits { instructions: 1_000_000, ..Limits::default() };
    let resources = Resources { subgroup_size: size, ..Resources::of_buffers(buffers) };
    Dispatch { entry: "main", groups: [1; 3], resources, limits }
}

fn report(module: &Module, words: &[u32], size: Option<u32>, schedule: &Schedule, rules: Rules) -> Report {
    let relation = Relation { rules, ..Relation::default() };
    grid::report(module, &dispatch(&[buffer(words)], size), schedule, &relation, false, &mut ()).expect("main is there")
}

/// The report by the standard rules. The lockstep machine ends in the same way. Its certain run may
/// refuse the dispatch, and ends only if nothing is in doubt but the rounding of floats.
#[track_caller]
fn by_engines(module: &Module, words: &[u32], size: Option<u32>) -> Report {
    let report = report(module, words, size, &Schedule::default(), Rules::standard());
    let buffers = [buffer(words)];
    let dispatch = dispatch(&buffers, size);
    let program = lockstep::Program::compile(module, "main").unwrap_or_else(|e| panic!("{e}"));
    for threads in [1, 2] {
        match (&report.outcome, program.run(&dispatch, threads), program.run_certain(&dispatch, threads)) {
            (_, Outcome::Unsupported(what), Outcome::Unsupported(_)) => {
                let of_size = size.is_none_or(|size| size > 64 || !size.is_power_of_two());
                assert!(of_size || what.starts_with("OpControlBarrier"), "{what}");
            }
            (outcome, found, certain) => {
                assert_eq!(&found, outcome);
                let is_sure = report.doubtful.iter().all(|doubtful| doubtful.why == Why::Approximate);
                assert!(matches!(certain, Outcome::Unsupported(_)) || is_sure && &certain == outcome, "{certain:?} {report:?}");
            }
        }
    }
    report
}

/// The report of a body with these words, by both engines.
fn of_body(invocations: u32, body: &str, words: &[u32], size: Option<u32>) -> Report {
    let module = load(&text(invocations, "", body)).unwrap_or_else(|e| panic!("{e}\n{body}"));
    by_engines(&module, words, size)
}

/// A word of the buffer at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Is(u32),
    /// An undefined value.
    Any,
    /// A value that may be another one on some device.
    Doubtful,
}

fn words_of(report: &Report) -> Vec<Word> {
    let Outcome::Observed(Observation { buffers, .. }) = &report.outcome else { panic!("{:?}", report.outcome) };
    let word = |(i, bytes): (usize, &[u8])| {
        let at = 4 * i as u64;
        if buffers[0].undefined.iter().any(|u| u.start < at + 4 && at < u.end) {
            Word::Any
        } else if report.doubtful.iter().any(|d| d.start < at + 4 && at < d.end) {
            Word::Doubtful
        } else {
            Word::Is(u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
        }
    };
    buffers[0].bytes.chunks(4).enumerate().map(word).collect()
}

/// How a run ends that shows nothing.
fn ending(report: &Report) -> String {
    match &report.outcome {
        Outcome::Undefined(undefined) => format!("{}: {}", undefined.ub.id(), undefined.what),
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        other => other.name().into(),
    }
}

/// Loads %i, the invocation's index, and %v, the word of that number.
const OWN: &str = "%i = OpLoad %uint %lix %p = OpAccessChain %pword %buf %c0 %i %v = OpLoad %uint %p ";
/// Stores %r in the word that [`OWN`] loads.
const STORE: &str = " OpStore %p %r ";

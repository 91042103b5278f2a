//! The compute module of a function: it reads the operands, applies the function once, and writes
//! the result's bits.
//!
//! An invocation reads its operands from a storage buffer, or makes its only operand from its own
//! number. Operands and results are words of a buffer and pass through OpBitcast, which keeps every
//! bit (Vulkan, "Precision and Operation of SPIR-V Instructions"). So only the one arithmetic
//! instruction is judged.

use std::fmt::Write;
use std::sync::Arc;

use smallstep_semantics::number::{Instruction, Profile};
use smallstep_semantics::spirv::{Options, assemble, float_controls};

use super::Function;
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch};

/// The number of invocations in a workgroup.
const GROUP: usize = 64;
/// The number of workgroups in x if there are several rows. It is below 65,535, which every
/// device supports.
const GROUPS: usize = 1024;
/// The number of invocations in a row.
const ROW: usize = GROUP * GROUPS;

/// The inputs of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Explicit operands: the words of one input after another.
    Given(Arc<[u32]>),
    /// Consecutive inputs, for a function of one word.
    Range {
        /// The first word.
        first: u32,
        /// The number of words.
        count: usize,
    },
}

impl Batch {
    /// The number of inputs, for a function whose operands are `words` words.
    pub fn len(&self, words: usize) -> usize {
        match self {
            Batch::Given(all) => all.len() / words,
            Batch::Range { count, .. } => *count,
        }
    }
}

/// The source of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The words of the bound buffer.
    Given,
    /// The invocation's number, added to the buffer's only word.
    Range,
}

fn type_of(components: usize) -> String {
    if components == 1 { "%float".into() } else { format!("%v{components}") }
}

/// The module as text.
pub fn text(function: &Function, profile: Profile, source: Source) -> String {
    let controls = profile.controls();
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("OpCapability Shader");
    controls.modes().for_each(|control| line(&format!("OpCapability {}", control.name)));
    if controls.modes().next().is_some() {
        line(&format!("OpExtension \"{}\"", float_controls::EXTENSION));
    }
    line("%glsl = OpExtInstImport \"GLSL.std.450\"");
    line("OpMemoryModel Logical GLSL450");
    line("OpEntryPoint GLCompute %main \"main\" %id");
    line(&format!("OpExecutionMode %main LocalSize {GROUP} 1 1"));
    controls.modes().for_each(|control| line(&format!("OpExecutionMode %main {} 32", control.name)));
    if controls.no_contraction {
        line("OpDecorate %result NoContraction");
    }
    line(
        "OpDecorate %id BuiltIn GlobalInvocationId
         OpDecorate %words ArrayStride 4
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpDecorate %in DescriptorSet 0
         OpDecorate %in Binding 0
         OpDecorate %in NonWritable
         OpDecorate %out DescriptorSet 0
         OpDecorate %out Binding 1
         %void = OpTypeVoid
         %procedure = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %int = OpTypeInt 32 1
         %float = OpTypeFloat 32
         %v2 = OpTypeVector %float 2
         %v3 = OpTypeVector %float 3
         %v4 = OpTypeVector %float 4
         %uint3 = OpTypeVector %uint 3
         %words = OpTypeRuntimeArray %uint
         %block = OpTypeStruct %words
         %p_block = OpTypePointer StorageBuffer %block
         %p_word = OpTypePointer StorageBuffer %uint
         %p_uint3 = OpTypePointer Input %uint3",
    );
    // The constants for sizes and indices: words of operands, words of results, and the row.
    for n in 0..=16 {
        line(&format!("%c{n} = OpConstant %uint {n}"));
    }
    line(&format!("%row = OpConstant %uint {ROW}"));
    line(
        "%id = OpVariable %p_uint3 Input
         %in = OpVariable %p_block StorageBuffer
         %out = OpVariable %p_block StorageBuffer
         %main = OpFunction %void None %procedure
         %entry = OpLabel
         %at = OpLoad %uint3 %id
         %x = OpCompositeExtract %uint %at 0
         %y = OpCompositeExtract %uint %at 1
         %rows = OpIMul %uint %y %row
         %i = OpIAdd %uint %rows %x",
    );
    let words = function.words();
    match source {
        Source::Given => {
            line(&format!("%from = OpIMul %uint %i %c{words}"));
            for k in 0..words {
                line(&format!("%at{k} = OpIAdd %uint %from %c{k}"));
                line(&format!("%p{k} = OpAccessChain %p_word %in %c0 %at{k}"));
                line(&format!("%bits{k} = OpLoad %uint %p{k}"));
            }
        }
        Source::Range => line(
            "%pfirst = OpAccessChain %p_word %in %c0 %c0
             %first = OpLoad %uint %pfirst
             %bits0 = OpIAdd %uint %first %i",
        ),
    }
    let mut next = 0;
    let mut operands = String::new();
    for (operand, &components) in function.operands.iter().enumerate() {
        let ty = if function.is_integer(operand) { "%int" } else { "%float" };
        let parts: Vec<String> = (next..next + components).map(|k| format!("%value{k}")).collect();
        for k in next..next + components {
            line(&format!("%value{k} = OpBitcast {ty} %bits{k}"));
        }
        next += components;
        if components == 1 {
            let _ = write!(operands, " {}", parts[0]);
        } else {
            line(&format!("%operand{operand} = OpCompositeConstruct {} {}", type_of(components), parts.join(" ")));
            let _ = write!(operands, " %operand{operand}");
        }
    }
    let (ty, name) = (type_of(function.results), function.instruction_name);
    match function.instruction {
        Instruction::Core(_) => line(&format!("%result = Op{name} {ty}{operands}")),
        Instruction::Glsl(_) => line(&format!("%result = OpExtInst {ty} %glsl {name}{operands}")),
    }
    line(&format!("%to = OpIMul %uint %i %c{}", function.results));
    for k in 0..function.results {
        let component = if function.results == 1 {
            "%result".to_owned()
        } else {
            line(&format!("%component{k} = OpCompositeExtract %float %result {k}"));
            format!("%component{k}")
        };
        line(&format!("%shown{k} = OpBitcast %uint {component}"));
        line(&format!("%to{k} = OpIAdd %uint %to %c{k}"));
        line(&format!("%q{k} = OpAccessChain %p_word %out %c0 %to{k}"));
        line(&format!("OpStore %q{k} %shown{k}"));
    }
    line("OpReturn");
    line("OpFunctionEnd");
    text
}

/// The module's words.
pub fn words(function: &Function, profile: Profile, source: Source) -> Arc<[u32]> {
    let text = text(function, profile, source);
    Arc::from(
        assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{}: the text that is made here is a module: {e}", function.label())),
    )
}

/// The words of a function's modules, each assembled only once.
#[derive(Clone, Debug)]
pub struct Modules {
    function: Function,
    profile: Profile,
    given_words: Arc<[u32]>,
    range_words: Option<Arc<[u32]>>,
}

impl Modules {
    /// The modules of a function under a profile.
    pub fn new(function: &Function, profile: Profile) -> Modules {
        let range_words = function.is_unary().then(|| words(function, profile, Source::Range));
        Modules { function: function.clone(), profile, given_words: words(function, profile, Source::Given), range_words }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The profile that the modules declare.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The dispatch that computes a batch. Its results are the first words of the buffer at binding
    /// 1, with [`Function::results`] for each input.
    ///
    /// Panics if the batch is a range and the function takes more than one word.
    pub fn dispatch(&self, batch: &Batch) -> ComputeDispatch {
        let (per_input, count) = (self.function.words(), batch.len(self.function.words()).max(1));
        // There are whole workgroups, and whole rows of them.
        let rows = count.div_ceil(ROW);
        let (invocations, groups) = match rows {
            1 => (count.next_multiple_of(GROUP), [count.div_ceil(GROUP) as u32, 1, 1]),
            rows => (rows * ROW, [GROUPS as u32, rows as u32, 1]),
        };
        let (words, input) = match batch {
            Batch::Given(all) => {
                let mut bytes: Vec<u8> = bytemuck::cast_slice(all).to_vec();
                bytes.resize(invocations * per_input * 4, 0);
                (self.given_words.clone(), bytes)
            }
            Batch::Range { first, .. } => {
                (self.range_words.clone().expect("a range is of a function of one word"), first.to_ne_bytes().to_vec())
            }
        };
        let results = invocations * self.function.results * 4;
        let buffer = |binding, kind, bytes| BufferBinding { set: 0, binding, kind, bytes };
        ComputeDispatch {
            words,
            entry: "main".into(),
            groups,
            buffers: vec![buffer(0, BufferKind::ReadOnly, input), buffer(1, BufferKind::ReadWrite, vec![0; results])],
            ..ComputeDispatch::default()
        }
    }
}

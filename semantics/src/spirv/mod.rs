//! SPIR-V, run on the decoded words (report §3, and the specification beyond it).
//!
//! [`words`] and [`assemble()`] read words or text. [`Module::load`] indexes and checks them.
//! [`step`] is the relation, rule by rule. [`grid`] runs compute dispatches by it, [`draw`] runs
//! draws. [`machine`] runs λV's modules fast. No engine calls another. Load refuses features that
//! are not modeled, by name. [`subset`] refuses features that one engine does not model yet, before
//! anything runs.

mod loading;
mod machines;
mod relation;
mod text;
mod values;

use loading::{alias, check, declare, descriptors, image_operands, lenient, order, pointers};
pub use loading::{cfg, error, float_controls, module, opcodes, specialize, subset, types};
pub use machines::{lockstep, machine};
pub use relation::{draw, grid, step};
pub use text::{assemble, disassemble, grammar, literal, words, write};
pub use values::{environment, memory, object, operation, semantics, shared, value};
use values::{persistent, report};

pub use check::is_atomic;
pub use check::{compares, is_implicit};
pub use declare::{is_derivative, is_group};

pub use assemble::{AssembleError, Options, assemble};
pub use disassemble::disassemble;
pub use error::{Check, LoadError, Place};
pub use machine::{Program, Registers};
pub use module::{LoadOptions, Module};
pub use specialize::{SpecConstant, Specialization, spec_constants, specialize};
pub use step::{Config, Event, Next, Reduct, Relation, Rules, Sink, UndefinedWays};
pub use value::{Buffer, Inputs, Outputs};
pub use words::{Instruction, Malformed, WordsError, bytes_of_words, decode, words_of_bytes};

use crate::concurrency::Schedule;
use crate::outcome::Outcome;

/// Runs a compute module. Returns the contents of its storage buffers, or its undefined
/// behaviour. `groups` is the number of workgroups on each axis. A buffer has a descriptor set, a
/// binding and bytes.
///
/// The lockstep machine runs the modules that it can compile. The relation runs the others, in its
/// default order. Use [`grid`] and [`lockstep`] for other schedules, images or push constants.
///
/// ```
/// use smallstep_semantics::outcome::Outcome;
/// use smallstep_semantics::spirv::{self, Buffer, Options, assemble};
///
/// // Each of two invocations divides 12 by its element.
/// let words = assemble(r#"
///     OpCapability Shader
///     OpExtension "SPV_KHR_storage_buffer_storage_class"
///     OpMemoryModel Logical GLSL450
///     OpEntryPoint GLCompute %main "main" %id
///     OpExecutionMode %main LocalSize 2 1 1
///     OpDecorate %id BuiltIn GlobalInvocationId
///     OpDecorate %array ArrayStride 4
///     OpMemberDecorate %block 0 Offset 0
///     OpDecorate %block Block
///     OpDecorate %data DescriptorSet 0
///     OpDecorate %data Binding 0
///     %void = OpTypeVoid
///     %function = OpTypeFunction %void
///     %uint = OpTypeInt 32 0
///     %vector = OpTypeVector %uint 3
///     %zero = OpConstant %uint 0
///     %twelve = OpConstant %uint 12
///     %array = OpTypeRuntimeArray %uint
///     %block = OpTypeStruct %array
///     %to_block = OpTypePointer StorageBuffer %block
///     %to_uint = OpTypePointer StorageBuffer %uint
///     %to_vector = OpTypePointer Input %vector
///     %data = OpVariable %to_block StorageBuffer
///     %id = OpVariable %to_vector Input
///     %main = OpFunction %void None %function
///     %entry = OpLabel
///     %place = OpLoad %vector %id
///     %x = OpCompositeExtract %uint %place 0
///     %element = OpAccessChain %to_uint %data %zero %x
///     %divisor = OpLoad %uint %element
///     %quotient = OpUDiv %uint %twelve %divisor
///     OpStore %element %quotient
///     OpReturn
///     OpFunctionEnd
/// "#, Options::default())?;
/// let data = |a: u32, b: u32| {
///     let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
///     [Buffer { set: 0, binding: 0, bytes }]
/// };
///
/// let shown = spirv::run(&words, "main", [1, 1, 1], &data(3, 4))?;
/// let bytes = &shown.observed().expect("defined").buffers[0].bytes;
/// assert_eq!(bytes[..], [4, 0, 0, 0, 3, 0, 0, 0]);
///
/// let shown = spirv::run(&words, "main", [1, 1, 1], &data(3, 0))?;
/// let Outcome::Undefined(undefined) = shown else { panic!("defined") };
/// assert_eq!(undefined.ub.id(), "spirv/division-by-zero");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The words are not a valid module, the module has features that are not modeled, or there is no
/// such entry point. If buffers are missing or too small, the outcome is [`Outcome::Unsupported`].
pub fn run(words: &[u32], entry: &str, groups: [u32; 3], buffers: &[Buffer]) -> Result<Outcome<environment::Observation>, LoadError> {
    let module = Module::load(words)?;
    let resources = environment::Resources { buffers, ..environment::Resources::default() };
    let dispatch = environment::Dispatch { entry, groups, resources, limits: environment::Limits::default() };
    match lockstep::Program::compile(&module, entry) {
        Ok(program) => Ok(program.run(&dispatch, 0)),
        Err(LoadError::Unsupported { .. }) => grid::run(&module, &dispatch, &Schedule::default(), &Relation::default(), &mut ()),
        Err(other) => Err(other),
    }
}

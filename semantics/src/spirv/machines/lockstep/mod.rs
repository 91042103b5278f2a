//! The fast machine for compute and for the stages of draws. It runs 64 invocations side by side,
//! in columns with masks.
//!
//! It shares no rule with the relation. It shares only the loaded module and the scalar functions
//! of [`operation`](crate::spirv::operation). It uses these for rare instructions and for
//! undefined values. Whether a value is undefined is one bit for each lane of a register. Origins
//! are kept only for undefined lanes. Before anything runs, the machine refuses by name what it
//! does not compile.

pub(crate) mod column;
mod compile;
mod program;
mod run;

use std::sync::Arc;

use rspirv::spirv::ExecutionModel;

use crate::spirv::error::LoadError;
use crate::spirv::module::Module;

pub(in crate::spirv) use compile::compiles;
pub use program::{
    Atomic, Block, Cell, Choice, Code, ComputeSite, Edge, End, FragmentProgram, Group, ImageAccess, InterfaceVariable, Move, Op, Parts,
    Program, Slot, Slots, Space, VertexProgram,
};
pub use run::{Atomics, Watch, Watched};
pub(in crate::spirv) use run::{Failure, Piecewise, Quads, Tag, WAYS, Written};

impl Program {
    /// Compiles a compute entry point of a loaded module.
    pub fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
        Program::of(&Arc::new(module.clone()), entry)
    }

    /// Compiles an entry point of a module that the program then shares.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn of(module: &Arc<Module>, entry: &str) -> Result<Program, LoadError> {
        compile::compile(module, entry, ExecutionModel::GLCompute)
    }

    /// The program with a bug planted in its parts, for tests of the comparisons with this machine.
    /// A bug must keep registers, blocks and tables within the program.
    #[must_use]
    pub fn planted(mut self, bug: impl FnOnce(Parts<'_>)) -> Program {
        let Program { codes, blocks, moves, sites, atomics, advances, pairs, images, groups, interface, calculator, .. } = &mut self;
        bug(Parts { codes, blocks, moves, sites, atomics, advances, pairs, images, groups, interface, calculator });
        self
    }
}

impl FragmentProgram {
    /// Compiles a fragment entry point of a loaded module.
    pub fn compile(module: &Module, entry: &str) -> Result<FragmentProgram, LoadError> {
        FragmentProgram::of(&Arc::new(module.clone()), entry)
    }

    /// Compiles an entry point of a module that the program then shares.
    ///
    /// # Errors
    /// As [`FragmentProgram::compile`].
    pub fn of(module: &Arc<Module>, entry: &str) -> Result<FragmentProgram, LoadError> {
        let function = module.entry_point(entry)?.function;
        Ok(FragmentProgram { program: compile::compile(module, entry, ExecutionModel::Fragment)?, function })
    }

    /// The program with a bug planted in its parts, as [`Program::planted`].
    #[must_use]
    pub fn planted(self, bug: impl FnOnce(Parts<'_>)) -> FragmentProgram {
        FragmentProgram { program: self.program.planted(bug), ..self }
    }

    /// The module of the program.
    pub(in crate::spirv) fn module(&self) -> &Module {
        &self.program.module
    }

    /// Whether this is the program of the entry point with that function.
    pub(in crate::spirv) fn is_of(&self, function: u32) -> bool {
        self.function == function
    }
}

impl VertexProgram {
    /// Compiles a vertex entry point of a loaded module, which is shared with the program.
    ///
    /// # Errors
    /// If there is no such entry point, or if the machine does not compile it.
    pub fn of(module: &Arc<Module>, entry: &str) -> Result<VertexProgram, LoadError> {
        let function = module.entry_point(entry)?.function;
        let program = compile::compile(module, entry, ExecutionModel::Vertex)?;
        Ok(VertexProgram(FragmentProgram { program, function }))
    }

    /// The program with a bug planted in its parts, as [`Program::planted`].
    #[must_use]
    pub fn planted(self, bug: impl FnOnce(Parts<'_>)) -> VertexProgram {
        VertexProgram(self.0.planted(bug))
    }

    /// The program as lanes to run. Its lanes are vertices, not fragments of quads.
    pub(in crate::spirv) fn lanes(&self) -> &FragmentProgram {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{FragmentProgram, Program};
    use crate::outcome::Outcome;
    use crate::spirv::{self, Buffer, LoadError, Module, Options, assemble};

    /// Which scalars of the input %in the code in the entry point's block reads.
    fn read(code: &str) -> Vec<bool> {
        let text = format!(
            "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Fragment %main \"main\" %in %out
             OpExecutionMode %main OriginUpperLeft OpDecorate %in BuiltIn FragCoord OpDecorate %out Location 0
             %void = OpTypeVoid %fn = OpTypeFunction %void %float = OpTypeFloat 32 %v2 = OpTypeVector %float 2
             %v4 = OpTypeVector %float 4 %uint = OpTypeInt 32 0 %1 = OpConstant %uint 1 %pf = OpTypePointer Input %float
             %pi = OpTypePointer Input %v4 %po = OpTypePointer Output %v4 %pv = OpTypePointer Function %v4
             %in = OpVariable %pi Input %out = OpVariable %po Output
             %main = OpFunction %void None %fn %entry = OpLabel %kept = OpVariable %pv Function {code} OpReturn OpFunctionEnd"
        );
        let module = Module::load(&assemble(&text, Options::default()).expect("the test's text")).expect("a valid module");
        let program = FragmentProgram::compile(&module, "main").expect("a stage that the machine takes");
        program.program.interface.iter().find(|variable| variable.cells.len() == 4).expect("the input").read.clone()
    }

    /// A program that is too large for the machine runs by the relation.
    #[test]
    fn more_memory_than_the_machine_has_is_left_to_the_relation() {
        let text = "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint GLCompute %main \"main\"
             OpExecutionMode %main LocalSize 1 1 1 OpDecorate %words ArrayStride 4 OpDecorate %block Block
             OpMemberDecorate %block 0 Offset 0 OpDecorate %out DescriptorSet 0 OpDecorate %out Binding 0
             %void = OpTypeVoid %fn = OpTypeFunction %void %uint = OpTypeInt 32 0 %zero = OpConstant %uint 0
             %size = OpConstant %uint 2000000 %last = OpConstant %uint 1999999 %array = OpTypeArray %uint %size
             %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pb = OpTypePointer StorageBuffer %block
             %pw = OpTypePointer StorageBuffer %uint %pa = OpTypePointer Private %array %pe = OpTypePointer Private %uint
             %out = OpVariable %pb StorageBuffer %x = OpVariable %pa Private
             %main = OpFunction %void None %fn %entry = OpLabel %at = OpAccessChain %pe %x %last OpStore %at %last
             %v = OpLoad %uint %at %to = OpAccessChain %pw %out %zero %zero OpStore %to %v OpReturn OpFunctionEnd";
        let words = assemble(text, Options::default()).expect("the test's text");
        let refused = Program::compile(&Module::load(&words).expect("a valid module"), "main").map(|_| ());
        let Err(LoadError::Unsupported { what, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(what, "more than 1048576 words of memory of the lockstep machine");
        let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 4] }];
        let Ok(Outcome::Observed(shown)) = spirv::run(&words, "main", [1, 1, 1], &buffers) else { panic!("nothing is shown") };
        assert_eq!(shown.buffers[0].bytes, 1_999_999u32.to_le_bytes());
    }

    #[test]
    fn it_is_known_which_scalars_of_an_input_are_read() {
        assert_eq!(read("%x = OpLoad %v4 %in OpStore %out %x"), [true; 4]);
        assert_eq!(read("%x = OpLoad %v4 %in"), [false; 4]);
        let of_two = "%x = OpLoad %v4 %in %xy = OpVectorShuffle %v2 %x %x 0 1 %s = OpFAdd %v2 %xy %xy
                      %r = OpVectorShuffle %v4 %s %s 0 1 1 0 OpStore %out %r";
        assert_eq!(read(of_two), [true, true, false, false]);
        let of_one = "%at = OpAccessChain %pf %in %1 %x = OpLoad %float %at %r = OpCompositeConstruct %v4 %x %x %x %x OpStore %out %r";
        assert_eq!(read(of_one), [false, true, false, false]);
        // The OpSwitch has a literal equal to the input's id.
        let numbered = "%at = OpAccessChain %pf %in %1 %x = OpLoad %float %at %i = OpConvertFToU %uint %x
                        OpSelectionMerge %end None OpSwitch %i %end 1 %end 2 %end 3 %end 4 %end 5 %end 6 %end 7 %end 8 %end 9 %end 10 %end
                        11 %end 12 %end 13 %end 14 %end 15 %end %end = OpLabel";
        assert_eq!(read(numbered), [false, true, false, false]);
        // A component that is stored and never loaded is not read.
        let kept = "%x = OpLoad %v4 %in OpStore %kept %x %y = OpLoad %v4 %kept %z = OpCompositeExtract %float %y 2
                    %r = OpCompositeConstruct %v4 %z %z %z %z OpStore %out %r";
        assert_eq!(read(kept), [false, false, true, false]);
    }
}

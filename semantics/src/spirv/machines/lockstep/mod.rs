//! The fast machine for compute, and for the stages of draws: 64 invocations side by side in
//! columns, with masks.
//!
//! It shares no rule with the relation that it stands beside: only the loaded module and the scalar
//! functions of [`operation`](crate::spirv::operation), which it falls back to for the rarer
//! instructions and wherever a value is undefined. Undefinedness is one bit for each lane of a
//! register, and origins are kept only for lanes that are undefined. What it does not compile it
//! refuses by name, before anything runs.

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
    Atomic, Block, Cell, Choice, Code, Edge, End, FragmentProgram, Group, ImageAccess, InterfaceVariable, Move, Op, Parts, Program, Site,
    Slot, Slots, Space, VertexProgram,
};
pub use run::{Atomics, Watch, Watched};
pub(in crate::spirv) use run::{Broken, Quads, Tag, WAYS};

impl Program {
    /// Compiles a compute entry point of a loaded module.
    pub fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
        Program::of(&Arc::new(module.clone()), entry)
    }

    /// The same of a module that is shared with the program.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn of(module: &Arc<Module>, entry: &str) -> Result<Program, LoadError> {
        compile::compile(module, entry, ExecutionModel::GLCompute)
    }

    /// The program with a bug planted in its parts, for tests of what compares this machine with
    /// something. A bug must keep registers, blocks and tables within the program.
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

    /// The same of a module that is shared with the program.
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

    /// The module that it was compiled from.
    pub(in crate::spirv) fn module(&self) -> &Module {
        &self.program.module
    }

    /// Whether it was compiled from the entry point of that function.
    pub(in crate::spirv) fn is_of(&self, function: u32) -> bool {
        self.function == function
    }
}

impl VertexProgram {
    /// Compiles a vertex entry point of a loaded module, which is shared with the program.
    ///
    /// # Errors
    /// No such entry point, or what the machine does not compile.
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

    /// What runs its lanes, which are vertices rather than fragments of quads.
    pub(in crate::spirv) fn lanes(&self) -> &FragmentProgram {
        &self.0
    }
}

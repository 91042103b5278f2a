//! The fast machine for compute: 64 invocations side by side in columns, with masks.
//!
//! It shares no rule with the relation that it stands beside: only the loaded module and the scalar functions of
//! [`operation`](super::operation), which it falls back to for the rarer instructions and wherever a value is undefined. Undefinedness is one bit
//! for each lane of a register, and origins are kept only for lanes that are undefined. What it does not compile it refuses by name, before
//! anything runs.

pub(crate) mod column;
mod compile;
mod program;
mod run;

use super::error::LoadError;
use super::module::Module;

pub use program::{Op, Program};

impl Program {
    /// Compiles a compute entry point of a loaded module.
    pub fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
        compile::compile(module, entry)
    }

    /// The program with every code of one kind turned into another that takes the same operands: a planted bug, for tests of what compares this
    /// machine with something.
    #[must_use]
    pub fn replaced(mut self, from: Op, to: Op) -> Program {
        self.codes.iter_mut().filter(|code| code.op == from).for_each(|code| code.op = to);
        self
    }
}

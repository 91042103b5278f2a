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

pub(super) use compile::{compiles, order};
pub use program::{Atomic, Block, Code, Edge, End, Move, Op, Parts, Program, Site, Slot, Slots, Space};

impl Program {
    /// Compiles a compute entry point of a loaded module.
    pub fn compile(module: &Module, entry: &str) -> Result<Program, LoadError> {
        compile::compile(module, entry)
    }

    /// The program with a bug planted in its parts, for tests of what compares this machine with something. A bug must keep registers, blocks and
    /// tables within the program.
    #[must_use]
    pub fn planted(mut self, bug: impl FnOnce(Parts<'_>)) -> Program {
        let Program { codes, blocks, moves, sites, atomics, calculator, .. } = &mut self;
        bug(Parts { codes, blocks, moves, sites, atomics, calculator });
        self
    }
}

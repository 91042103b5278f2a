//! SPIR-V, run on the decoded words (report §3, and beyond it the specification).
//!
//! Words or text come in by [`words`] and [`assemble()`]; [`Module::load`] indexes and checks them;
//! [`step`] is the relation, rule by rule, [`grid`] runs compute dispatches by it, [`draw`] draws,
//! and [`machine`] runs λV's modules fast. No engine calls another. What is not modeled is refused
//! at load by name; what only an engine does not model yet, by [`subset`], before anything runs.

mod alias;
pub mod assemble;
pub mod cfg;
mod check;
pub mod concurrency;
mod declare;
pub mod disassemble;
pub mod draw;
pub mod environment;
pub mod error;
pub mod float_controls;
pub mod grammar;
pub mod grid;
mod lenient;
pub mod literal;
pub mod lockstep;
pub mod machine;
pub mod memory;
pub mod module;
pub mod object;
pub mod opcodes;
pub mod operation;
mod order;
mod persistent;
mod report;
pub mod shared;
pub mod specialize;
pub mod step;
pub mod subset;
pub mod types;
pub mod value;
pub mod words;

pub use assemble::{AssembleError, Options, assemble};
pub use disassemble::disassemble;
pub use error::{Check, LoadError, Place};
pub use machine::{Program, Registers};
pub use module::{LoadOptions, Module};
pub use specialize::{SpecConstant, Specialization, spec_constants, specialize};
pub use step::{Config, Event, Next, Reduct, Relation, Rules, Sink};
pub use value::{Buffer, Inputs, Outputs};
pub use words::{Instruction, Malformed, WordsError, bytes_of_words, decode, words_of_bytes};

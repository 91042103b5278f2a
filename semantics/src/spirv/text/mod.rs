//! Text and words: the decoder, the assembler, the disassembler, and the grammar that all of them
//! share.

pub mod assemble;
pub mod disassemble;
pub mod grammar;
pub mod literal;
pub mod words;
pub mod write;

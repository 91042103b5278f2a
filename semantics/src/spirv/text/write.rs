//! Writes instructions as words, for compilers, generators and passes. [`super::words`]
//! is the inverse.

use super::grammar::Op;

/// A SPIR-V id.
pub type Id = u32;

/// Appends an instruction. The operands include the result type and the result.
pub fn push(words: &mut Vec<u32>, op: Op, operands: &[u32]) {
    push_with(words, op, operands, &[]);
}

/// [`push`] with the operands in two parts.
pub fn push_with(words: &mut Vec<u32>, op: Op, first: &[u32], rest: &[u32]) {
    words.push((first.len() as u32 + rest.len() as u32 + 1) << 16 | op as u32);
    words.extend_from_slice(first);
    words.extend_from_slice(rest);
}

/// A string literal: UTF-8, NUL-terminated, padded to words.
pub fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// A sequence of instructions, with their number.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The words, instruction after instruction.
    pub words: Vec<u32>,
    /// The number of instructions.
    pub instructions: usize,
}

impl Code {
    /// Appends an instruction with these operands.
    pub fn push(&mut self, op: Op, operands: &[u32]) {
        self.push_with(op, operands, &[]);
    }

    /// Appends an instruction, with its operands in two parts.
    pub fn push_with(&mut self, op: Op, first: &[u32], rest: &[u32]) {
        push_with(&mut self.words, op, first, rest);
        self.instructions += 1;
    }

    /// Appends the instructions of `other`.
    pub fn append(&mut self, other: &Code) {
        self.words.extend_from_slice(&other.words);
        self.instructions += other.instructions;
    }
}

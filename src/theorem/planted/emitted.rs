//! Helpers that find and change instructions in the words of the translation.

use rspirv::spirv::Op;
use smallstep_semantics::spirv::write::Code;

/// The places of all instructions from `from` on, each with its opcode.
pub(super) fn instructions(words: &[u32], from: usize) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    let mut at = from;
    while let Some(&word) = words.get(at) {
        found.push((at, word & 0xffff));
        at += (word >> 16).max(1) as usize;
    }
    found
}

/// The places of the instructions `op` from `from` on.
pub(super) fn all(words: &[u32], from: usize, op: Op) -> Vec<usize> {
    instructions(words, from).into_iter().filter(|i| i.1 == op as u32).map(|i| i.0).collect()
}

/// The words of the instruction at `at`.
pub(super) fn words_of(words: &mut [u32], at: usize) -> &mut [u32] {
    let length = (words[at] >> 16) as usize;
    &mut words[at..at + length]
}

/// The words of the instruction `op` whose word at index `operand` is `id`.
pub(super) fn naming(words: &mut [u32], from: usize, op: Op, operand: usize, id: u32) -> Option<&mut [u32]> {
    let at = all(words, from, op).into_iter().find(|&at| words.get(at + operand) == Some(&id))?;
    Some(words_of(words, at))
}

/// The words of the last instruction, if there is one from `from` on.
pub(super) fn last(words: &mut [u32], from: usize) -> Option<&mut [u32]> {
    let at = instructions(words, from).last()?.0;
    Some(words_of(words, at))
}

/// Removes the instruction at `at`.
pub(super) fn remove(code: &mut Code, at: usize) {
    let length = (code.words[at] >> 16) as usize;
    code.words.drain(at..at + length);
    code.instructions -= 1;
}

/// Removes the last `count` words of the instruction at `at`.
pub(super) fn shorten(code: &mut Code, at: usize, count: usize) {
    let length = (code.words[at] >> 16) as usize;
    code.words.drain(at + length - count..at + length);
    code.words[at] -= (count as u32) << 16;
}

/// The places of the phis at the beginning of the block with this label.
pub(super) fn phis(words: &[u32], from: usize, label: u32) -> Vec<usize> {
    let instructions = instructions(words, from);
    let begin = instructions.iter().position(|&(at, op)| op == Op::Label as u32 && words[at + 1] == label);
    let Some(begin) = begin else { return Vec::new() };
    instructions[begin + 1..].iter().take_while(|i| i.1 == Op::Phi as u32).map(|i| i.0).collect()
}

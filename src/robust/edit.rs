//! Edits of a module's words, as a fuzzer's bytes say them: so that most of a module stays what it
//! was, and much of what comes out is loaded.

use std::collections::BTreeMap;

use smallstep_semantics::spirv::decode;
use smallstep_semantics::spirv::grammar::Op;

/// The bytes of one edit: what is done, where, and with which number.
pub const EDIT: usize = 7;
/// The most edits that are made.
const MAX_EDITS: usize = 16;
/// The words of a module's header.
const HEADER: usize = 5;

/// The words with some edits made, each of [`EDIT`] bytes: a kind, a place of 16 bits and a number
/// of 32. Places and numbers are taken modulo what there is.
pub fn edited(words: &[u32], edits: &[u8]) -> Vec<u32> {
    let mut words = words.to_vec();
    for edit in edits.chunks_exact(EDIT).take(MAX_EDITS) {
        let &[kind, p0, p1, n0, n1, n2, n3] = edit else { continue };
        let (place, number) = (usize::from(u16::from_le_bytes([p0, p1])), u32::from_le_bytes([n0, n1, n2, n3]));
        if words.len() <= HEADER {
            return words;
        }
        apply_edit(&mut words, kind, place, number);
    }
    words
}

fn apply_edit(words: &mut Vec<u32>, kind: u8, place: usize, number: u32) {
    let at = place % words.len();
    match kind % 32 {
        0 => words[at] = number,
        1 => words[at] ^= 1 << (number % 32),
        2 => words[at] = (words[at] & !0xff) | (number & 0xff),
        3 => words[at] = words[number as usize % words.len()],
        4 => words.insert(at, number),
        5 => {
            let end = (at + 1 + number as usize % 4).min(words.len());
            words.drain(at..end);
        }
        6..12 => edit_instruction(words, kind % 32, place, number),
        12..20 => edit_constant(words, place, number),
        _ => edit_operand(words, place, number),
    }
}

/// Changes an instruction as a whole.
fn edit_instruction(words: &mut Vec<u32>, kind: u8, place: usize, number: u32) {
    let ranges = instruction_ranges(words);
    let Some(&(start, count)) = ranges.get(place % ranges.len().max(1)) else { return };
    let (other_start, length) = ranges[number as usize % ranges.len()];
    match kind {
        // Another opcode with the same operands: any, or a near one, which is often
        // of the same kind.
        6 => words[start] = (words[start] & 0xffff_0000) | (number & 0xffff),
        7 | 8 => words[start] = (words[start] & 0xffff_0000) | (words[start] & 0xffff).wrapping_add(number % 9).saturating_sub(4),
        9 => drop(words.drain(start..start + count)),
        // Another instruction once more.
        10 => {
            let copy = words[other_start..other_start + length].to_vec();
            words.splice(start..start, copy);
        }
        // An operand of another instruction.
        _ => {
            let operand = 1 + (number >> 16) as usize % count.max(2);
            if operand < count && operand < length {
                words[start + operand] = words[other_start + operand];
            }
        }
    }
}

/// Gives a constant another value: any, a small one, or one with another bit.
fn edit_constant(words: &mut [u32], place: usize, number: u32) {
    let Ok(decoded) = decode(words) else { return };
    let constants: Vec<usize> =
        decoded.instructions.iter().filter(|i| i.is(Op::Constant)).map(|i| i.offset as usize + 3).filter(|at| *at < words.len()).collect();
    let Some(&at) = constants.get(place % constants.len().max(1)) else { return };
    words[at] = match number % 3 {
        0 => number,
        1 => (number >> 8) % 8,
        _ => words[at] ^ 1 << ((number >> 8) % 32),
    };
}

/// Puts another value of the same type in the place of an operand in a function.
fn edit_operand(words: &mut [u32], place: usize, number: u32) {
    let Ok(decoded) = decode(words) else { return };
    let types: BTreeMap<u32, u32> = decoded.instructions.iter().filter(|i| i.result_type != 0).map(|i| (i.result, i.result_type)).collect();
    let bodies = decoded.instructions.iter().skip_while(|i| !i.is(Op::Function));
    // The word of each operand that is a value.
    let mut places = Vec::new();
    for i in bodies {
        let operands = i.operands(words);
        let end = i.offset as usize + (words[i.offset as usize] >> 16) as usize;
        places.extend((end - operands.len()..end).filter(|&at| types.contains_key(&words[at])));
    }
    let Some(&at) = places.get(place % places.len().max(1)) else { return };
    let same_type: Vec<u32> =
        types.iter().filter(|(id, type_)| **id != words[at] && types.get(&words[at]) == Some(type_)).map(|(id, _)| *id).collect();
    if let Some(&other) = same_type.get(number as usize % same_type.len().max(1)) {
        words[at] = other;
    }
}

/// Where the instructions begin, and how many words each has.
fn instruction_ranges(words: &[u32]) -> Vec<(usize, usize)> {
    let (mut at, mut ranges) = (HEADER, Vec::new());
    while let Some(word) = words.get(at) {
        let count = (word >> 16) as usize;
        if count == 0 || at + count > words.len() {
            break;
        }
        ranges.push((at, count));
        at += count;
    }
    ranges
}

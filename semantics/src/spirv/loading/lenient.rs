//! Repairs the output of older tools: puts sections in order, and clears the header's
//! reserved word.

use rustc_hash::FxHashSet;

use crate::spirv::declare::{Section, section};
use crate::spirv::error::LoadError;
use crate::spirv::grammar::Op;
use crate::spirv::words::{self, HEADER_WORDS};

/// The words with the reserved word of the header set to 0, and the instructions before the first
/// function in the order of SPIR-V §2.4. Within a section they keep their order. Lines move with
/// the instruction that follows them.
///
/// With `meaning`, non-semantic instructions are removed too: optimisers leave them where an
/// instruction may not stand.
pub(in crate::spirv) fn canonical(words: &[u32], meaning: bool) -> Result<Vec<u32>, LoadError> {
    let mut fixed = words.to_vec();
    if let Some(schema) = fixed.get_mut(HEADER_WORDS - 1) {
        *schema = 0;
    }
    if meaning {
        fixed = without_non_semantic(&fixed)?;
    }
    let decoded = words::decode(&fixed)?;
    let end = decoded.instructions.iter().position(|i| i.is(Op::Function)).unwrap_or(decoded.instructions.len());
    let mut pieces: Vec<(Section, usize, usize)> = Vec::with_capacity(end);
    let mut start = 0;
    for (at, i) in decoded.instructions[..end].iter().enumerate() {
        if !matches!(i.op, Op::Line | Op::NoLine | Op::Nop) {
            pieces.push((section(i.op).unwrap_or(Section::Declaration), start, at + 1));
            start = at + 1;
        }
    }
    if pieces.is_sorted_by_key(|piece| piece.0) {
        return Ok(fixed);
    }
    pieces.sort_by_key(|piece| piece.0);
    let mut ordered = fixed[..HEADER_WORDS].to_vec();
    for (_, start, end) in pieces {
        decoded.instructions[start..end].iter().for_each(|i| ordered.extend_from_slice(i.words(&fixed)));
    }
    decoded.instructions[start..].iter().for_each(|i| ordered.extend_from_slice(i.words(&fixed)));
    Ok(ordered)
}

/// The words without the instructions of non-semantic sets (SPV_KHR_non_semantic_info).
fn without_non_semantic(words: &[u32]) -> Result<Vec<u32>, LoadError> {
    let decoded = words::decode(words)?;
    let sets: FxHashSet<u32> = decoded
        .instructions
        .iter()
        .filter(|i| i.is(Op::ExtInstImport) && words::string_at(i.operands(words)).is_ok_and(|(name, _)| name.starts_with("NonSemantic.")))
        .map(|i| i.result)
        .collect();
    if sets.is_empty() {
        return Ok(words.to_vec());
    }
    let mut kept = words[..HEADER_WORDS].to_vec();
    for i in decoded.instructions.iter().filter(|i| !i.is(Op::ExtInst) || !sets.contains(&i.operands(words)[0])) {
        kept.extend_from_slice(i.words(words));
    }
    Ok(kept)
}

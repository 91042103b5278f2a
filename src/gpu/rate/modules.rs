//! A family of fragment programs for measuring: chains of 32-bit float arithmetic over `FragCoord`, with a branch, no two alike.

use std::sync::Arc;

use crate::dispatch::{FragmentDispatch, Target};

/// Distinct programs without end: chains of `operations` steps drawn on a square grid of `size` pixels, the same for the same `seed`.
pub fn programs(seed: u64, operations: usize, size: u32) -> impl Iterator<Item = FragmentDispatch> {
    (0u64..).map(move |number| FragmentDispatch {
        words: chain(&mut Random(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)), number, operations),
        entry: "main".into(),
        width: size,
        height: size,
        outputs: vec![Target { location: 0, components: 4 }],
        constants: Vec::new(),
    })
}

/// SplitMix64 (Steele, Lea and Flood).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A float between 1 and 2.
    fn float(&mut self) -> f32 {
        f32::from_bits(0x3f80_0000 | (self.next() >> 41) as u32)
    }
}

/// A module in the making, section by section.
#[derive(Default)]
struct Words {
    types: Vec<u32>,
    code: Vec<u32>,
    next: u32,
}

impl Words {
    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// An instruction that has a type and a result.
    fn value(&mut self, opcode: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        let mut all = vec![ty, id];
        all.extend(operands);
        instruction(&mut self.code, opcode, &all);
        id
    }

    fn constant(&mut self, value: f32) -> u32 {
        let id = self.id();
        instruction(&mut self.types, 43, &[FLOAT, id, value.to_bits()]);
        id
    }
}

fn instruction(into: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    into.push((operands.len() as u32 + 1) << 16 | opcode);
    into.extend(operands);
}

const MAIN: u32 = 1;
const FLOAT: u32 = 4;
const VEC4: u32 = 5;
const BOOL: u32 = 6;
const COORD: u32 = 9;
const COLOUR: u32 = 10;

fn chain(random: &mut Random, number: u64, operations: usize) -> Arc<[u32]> {
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, 0, 0];
    instruction(&mut words, 17, &[1]); // OpCapability Shader
    instruction(&mut words, 14, &[0, 1]); // OpMemoryModel Logical GLSL450
    instruction(&mut words, 15, &[4, MAIN, u32::from_le_bytes(*b"main"), 0, COORD, COLOUR]); // OpEntryPoint Fragment
    instruction(&mut words, 16, &[MAIN, 7]); // OpExecutionMode OriginUpperLeft
    instruction(&mut words, 71, &[COORD, 11, 15]); // OpDecorate BuiltIn FragCoord
    instruction(&mut words, 71, &[COLOUR, 30, 0]); // OpDecorate Location 0

    let mut m = Words { next: 11, ..Words::default() };
    let (void, function) = (2, 3);
    instruction(&mut m.types, 19, &[void]);
    instruction(&mut m.types, 33, &[function, void]);
    instruction(&mut m.types, 22, &[FLOAT, 32]);
    instruction(&mut m.types, 23, &[VEC4, FLOAT, 4]);
    instruction(&mut m.types, 20, &[BOOL]);
    let (input, output) = (7, 8);
    instruction(&mut m.types, 32, &[input, 1, VEC4]); // OpTypePointer Input
    instruction(&mut m.types, 32, &[output, 3, VEC4]); // OpTypePointer Output
    instruction(&mut m.types, 59, &[input, COORD, 1]); // OpVariable
    instruction(&mut m.types, 59, &[output, COLOUR, 3]);

    instruction(&mut m.code, 54, &[void, MAIN, 0, function]); // OpFunction
    let mut block = m.id();
    instruction(&mut m.code, 248, &[block]); // OpLabel
    let coord = m.value(61, VEC4, &[COORD]); // OpLoad
    let mut values: Vec<u32> = (0..2).map(|lane| m.value(81, FLOAT, &[coord, lane])).collect(); // OpCompositeExtract
    // The number, exactly, so that no two programs are the same words.
    let number = m.constant(number as f32);
    values.push(number);
    for _ in 0..operations {
        let (a, b) = (values[random.below(values.len())], values[values.len() - 1]);
        let fresh = random.float();
        let value = match random.below(6) {
            0 => m.value(129, FLOAT, &[a, b]), // OpFAdd
            1 => m.value(131, FLOAT, &[a, b]), // OpFSub
            2 => {
                let c = m.constant(fresh);
                m.value(133, FLOAT, &[b, c]) // OpFMul
            }
            3 => {
                let c = m.constant(fresh);
                m.value(136, FLOAT, &[b, c]) // OpFDiv
            }
            4 => {
                let less = m.value(184, BOOL, &[a, b]); // OpFOrdLessThan
                m.value(169, FLOAT, &[less, b, a]) // OpSelect
            }
            _ => {
                let (then, merge) = (m.id(), m.id());
                let less = m.value(184, BOOL, &[a, b]);
                instruction(&mut m.code, 247, &[merge, 0]); // OpSelectionMerge
                instruction(&mut m.code, 250, &[less, then, merge]); // OpBranchConditional
                instruction(&mut m.code, 248, &[then]);
                let c = m.constant(fresh);
                let sum = m.value(129, FLOAT, &[a, c]);
                instruction(&mut m.code, 249, &[merge]); // OpBranch
                instruction(&mut m.code, 248, &[merge]);
                let phi = m.value(245, FLOAT, &[sum, then, b, block]); // OpPhi
                block = merge;
                phi
            }
        };
        values.push(value);
    }
    let lanes: Vec<u32> = (0..4).map(|back| values[values.len() - 1 - back.min(values.len() - 1)]).collect();
    let colour = m.value(80, VEC4, &lanes); // OpCompositeConstruct
    instruction(&mut m.code, 62, &[COLOUR, colour]); // OpStore
    instruction(&mut m.code, 253, &[]); // OpReturn
    instruction(&mut m.code, 56, &[]); // OpFunctionEnd

    words[3] = m.next;
    words.extend(m.types);
    words.extend(m.code);
    Arc::from(words)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn programs_are_distinct_and_come_again_from_the_same_seed() {
        let some: Vec<FragmentDispatch> = programs(7, 24, 8).take(500).collect();
        let hashes: HashSet<u64> = some.iter().map(FragmentDispatch::words_hash).collect();
        assert_eq!(hashes.len(), some.len());
        assert!(some.iter().all(|program| program.check().is_ok()));
        assert_eq!(some, programs(7, 24, 8).take(500).collect::<Vec<_>>());
    }
}

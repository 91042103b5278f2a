//! Families of distinct programs for measurements. Fragment programs are chains of 32-bit float
//! arithmetic over `FragCoord`, with branches. Compute programs are chains of 32-bit integer
//! arithmetic over a buffer.

use std::sync::Arc;

use smallstep_semantics::random::{Random, STEP};

use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch, FragmentDispatch, Target};

/// An endless sequence of distinct programs: chains of `operations` steps, drawn on a square grid
/// of `size` pixels. The `seed` determines the sequence.
pub fn programs(seed: u64, operations: usize, size: u32) -> impl Iterator<Item = FragmentDispatch> {
    (0u64..).map(move |number| FragmentDispatch {
        words: chain(&mut Random::new(seed ^ number.wrapping_mul(STEP)), number, operations),
        entry: "main".into(),
        width: size,
        height: size,
        outputs: vec![Target { location: 0, components: 4 }],
        constants: Vec::new(),
    })
}

/// An endless sequence of distinct programs: 64 invocations with chains of `operations` steps each,
/// over one storage buffer of 64 words.
pub fn computations(seed: u64, operations: usize) -> impl Iterator<Item = ComputeDispatch> {
    (0u64..).map(move |number| ComputeDispatch {
        words: integers(&mut Random::new(seed ^ number.wrapping_mul(STEP)), number, operations),
        entry: "main".into(),
        groups: [1; 3],
        buffers: vec![BufferBinding {
            set: 0,
            binding: 0,
            kind: BufferKind::ReadWrite,
            bytes: (0..64u32).flat_map(|i| (i * i).to_le_bytes()).collect(),
        }],
        ..ComputeDispatch::default()
    })
}

fn below(random: &mut Random, bound: usize) -> usize {
    (random.bits() % bound as u64) as usize
}

/// A float between 1 and 2.
fn float(random: &mut Random) -> f32 {
    f32::from_bits(0x3f80_0000 | (random.bits() >> 41) as u32)
}

/// A module that is being built, by section.
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

    /// Appends an instruction with a type and a result.
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
    // The exact number is part of the program, so that no two programs have the same words.
    let number = m.constant(number as f32);
    values.push(number);
    for _ in 0..operations {
        let (a, b) = (values[below(random, values.len())], values[values.len() - 1]);
        let fresh = float(random);
        let value = match below(random, 6) {
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

/// Each invocation computes on its element, and writes the last value of its chain there.
fn integers(random: &mut Random, number: u64, operations: usize) -> Arc<[u32]> {
    let (main, void, function, uint, vec3, array, block) = (1, 2, 3, 4, 5, 6, 7);
    let (to_block, to_word, to_vec3, to_lane, buffer, id) = (8, 9, 10, 11, 12, 13);
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 0, 0];
    instruction(&mut words, 17, &[1]); // OpCapability Shader
    instruction(&mut words, 14, &[0, 1]); // OpMemoryModel Logical GLSL450
    instruction(&mut words, 15, &[5, main, u32::from_le_bytes(*b"main"), 0, id]); // OpEntryPoint GLCompute
    instruction(&mut words, 16, &[main, 17, 64, 1, 1]); // OpExecutionMode LocalSize
    instruction(&mut words, 71, &[id, 11, 28]); // OpDecorate BuiltIn GlobalInvocationId
    instruction(&mut words, 71, &[array, 6, 4]); // OpDecorate ArrayStride 4
    instruction(&mut words, 71, &[block, 2]); // OpDecorate Block
    instruction(&mut words, 72, &[block, 0, 35, 0]); // OpMemberDecorate Offset 0
    instruction(&mut words, 71, &[buffer, 34, 0]); // OpDecorate DescriptorSet 0
    instruction(&mut words, 71, &[buffer, 33, 0]); // OpDecorate Binding 0

    let mut m = Words { next: 14, ..Words::default() };
    instruction(&mut m.types, 19, &[void]);
    instruction(&mut m.types, 33, &[function, void]);
    instruction(&mut m.types, 21, &[uint, 32, 0]);
    instruction(&mut m.types, 23, &[vec3, uint, 3]);
    instruction(&mut m.types, 29, &[array, uint]); // OpTypeRuntimeArray
    instruction(&mut m.types, 30, &[block, array]); // OpTypeStruct
    instruction(&mut m.types, 32, &[to_block, 12, block]); // OpTypePointer StorageBuffer
    instruction(&mut m.types, 32, &[to_word, 12, uint]);
    instruction(&mut m.types, 32, &[to_vec3, 1, vec3]); // OpTypePointer Input
    instruction(&mut m.types, 32, &[to_lane, 1, uint]);
    instruction(&mut m.types, 59, &[to_block, buffer, 12]); // OpVariable
    instruction(&mut m.types, 59, &[to_vec3, id, 1]);
    let constant = |m: &mut Words, value: u32| {
        let id = m.id();
        instruction(&mut m.types, 43, &[uint, id, value]);
        id
    };

    instruction(&mut m.code, 54, &[void, main, 0, function]); // OpFunction
    let label = m.id();
    instruction(&mut m.code, 248, &[label]); // OpLabel
    let zero = constant(&mut m, 0);
    let lane = m.value(65, to_lane, &[id, zero]); // OpAccessChain
    let lane = m.value(61, uint, &[lane]); // OpLoad
    let element = m.value(65, to_word, &[buffer, zero, lane]);
    let word = m.value(61, uint, &[element]);
    // The number is part of the program, so that no two programs have the same words.
    let number = constant(&mut m, number as u32);
    let mut values = vec![lane, number, word];
    for _ in 0..operations {
        let (a, b) = (values[below(random, values.len())], values[values.len() - 1]);
        let fresh = random.bits() as u32;
        // OpIAdd, OpISub, OpIMul, OpBitwiseXor, OpBitwiseOr, OpUDiv, OpShiftRightLogical
        let value = match below(random, 7) {
            5 => {
                let c = constant(&mut m, fresh | 1);
                m.value(134, uint, &[b, c])
            }
            6 => {
                let c = constant(&mut m, fresh % 32);
                m.value(194, uint, &[b, c])
            }
            which => m.value([128, 130, 132, 198, 197][which], uint, &[a, b]),
        };
        values.push(value);
    }
    instruction(&mut m.code, 62, &[element, values[values.len() - 1]]); // OpStore
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

        let some: Vec<ComputeDispatch> = computations(7, 24).take(500).collect();
        let hashes: HashSet<u64> = some.iter().map(ComputeDispatch::words_hash).collect();
        assert_eq!(hashes.len(), some.len());
        assert!(some.iter().all(|program| program.check().is_ok()));
        assert_eq!(some, computations(7, 24).take(500).collect::<Vec<_>>());
    }
}

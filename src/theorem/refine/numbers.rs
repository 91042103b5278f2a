//! The numbers in inputs, by *level*, from 0, the tamest, to 3, the wildest.
//!
//! From level 1 on, inputs also contain the numbers in the modules, their neighbours, sums and
//! products. A branch on `x == 305419896` needs exactly this number. From level 1 on, arithmetic on
//! floats rounds. Floats of level 0 have few bits, so arithmetic on them is exact.

use smallstep_semantics::number::integer::mask;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::module::Module;
use smallstep_semantics::spirv::types::Type;

use crate::generate::Random;

/// The percentage of numbers that come from the modules, from level 1 on, if the modules have some.
const NAMED: u32 = 25;
/// The percentage of integers that are bits of floats, from level 1 on, if a module casts integers
/// of this width to floats.
const AS_FLOATS: u32 = 50;
/// The most numbers of one kind that are kept.
const MAX_NUMBERS: usize = 4_096;
/// Integers below this are drawn anyway, and most of them in modules are indices of members.
const COMMON: u64 = 17;

/// The numbers in the compared modules, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Integers of every width and sign, each extended to 64 bits by its declared sign.
    integers: Vec<u64>,
    /// Floats of every width. 64 bits hold them exactly.
    floats: Vec<f64>,
    /// The widths of floats that are cast from the bits of integers.
    bitcasts: Vec<u8>,
}

impl Numbers {
    /// The numbers in some modules.
    pub fn of(modules: &[&Module]) -> Numbers {
        let (mut integers, mut floats, mut bitcasts) = (Vec::new(), Vec::new(), Vec::new());
        for module in modules {
            let words = module.words();
            for i in module.instructions() {
                match i.op {
                    Op::Bitcast => {
                        if let Some(Type::Float { width }) = module.types().scalar_at(i.result_type, 0) {
                            bitcasts.push(width);
                        }
                    }
                    Op::Constant | Op::SpecConstant => {
                        let operands = i.operands(words);
                        let low = operands.first().copied().unwrap_or(0);
                        let bits = u64::from(low) | u64::from(operands.get(1).copied().unwrap_or(0)) << 32;
                        match module.types().get(i.result_type) {
                            Some(Type::Int { width, signed }) => integers.push(extended(bits, width, signed)),
                            Some(Type::Float { width }) => floats.push(widened(bits, width)),
                            _ => {}
                        }
                    }
                    Op::Switch => {
                        let operands = i.operands(words);
                        let type_ = operands.first().and_then(|&selector| module.type_of(selector)).and_then(|id| module.types().get(id));
                        let Some(Type::Int { width, signed }) = type_ else { continue };
                        // A label takes one word, or two words for 64 bits. The id of a block
                        // follows it.
                        let label = if width == 64 { 2 } else { 1 };
                        for case in operands.get(2..).unwrap_or_default().chunks_exact(label + 1) {
                            let high = if label == 2 { u64::from(case[1]) << 32 } else { 0 };
                            integers.push(extended(u64::from(case[0]) | high, width, signed));
                        }
                    }
                    _ => {}
                }
            }
        }
        integers.retain(|&value| value >= COMMON);
        integers.sort_unstable();
        integers.dedup();
        floats.retain(|value| !value.is_nan());
        floats.sort_unstable_by(f64::total_cmp);
        floats.dedup_by(|a, b| a.to_bits() == b.to_bits());
        integers.truncate(MAX_NUMBERS);
        floats.truncate(MAX_NUMBERS);
        bitcasts.sort_unstable();
        bitcasts.dedup();
        Numbers { integers, floats, bitcasts }
    }

    /// The bits of a random integer of this width, in the low bits.
    pub(super) fn integer(&self, width: u8, level: u32, random: &mut Random) -> u64 {
        if level > 0
            && random.percent(NAMED)
            && let Some(named) = self.named_integer(width, random)
        {
            return named;
        }
        if level > 0 && self.bitcasts.contains(&width) && random.percent(AS_FLOATS) {
            return self.float(width, level, random);
        }
        let small = u64::from(random.below(5));
        match (level, random.below(8)) {
            (0, 0) => small,
            (0, _) => 1 + small,
            (1, 0) => u64::from(random.below(100)),
            (1, _) => u64::from(random.below(16)),
            (2, 0..=3) => u64::from(random.below(16)),
            (_, 0) => random.bits() & mask(width),
            (_, 1) => random.bits() >> random.below(64) & mask(width),
            _ => {
                let (least, all) = (1u64 << (width - 1), mask(width));
                let power = 1u64 << random.below(u32::from(width));
                let near = [0, 1, 2, 3, all, all - 1, least, least - 1, least + 1, u64::from(width), u64::from(width) - 1];
                match random.below(3) {
                    0 => power,
                    1 => power.wrapping_sub(1),
                    _ => random.pick(&near),
                }
            }
        }
    }

    /// The bits of a random float of this width, in the low bits.
    pub(super) fn float(&self, width: u8, level: u32, random: &mut Random) -> u64 {
        if level > 0 && random.percent(NAMED) {
            // A shader may compare the bits of a float.
            match random.below(4) {
                0 => {
                    if let Some(bits) = self.named_integer(width, random) {
                        return bits;
                    }
                }
                _ => {
                    if let Some(named) = self.named_float(random) {
                        return of_width(width, named);
                    }
                }
            }
        }
        // These values are exact in every width.
        let tame = f64::from(random.below(9) + 1) * random.pick(&[0.25, 0.5, 1.0, 1.0, 2.0]);
        let sign = if random.percent(30) { -1.0 } else { 1.0 };
        let (exponent, fraction) = match width {
            16 => (5, 10),
            32 => (8, 23),
            _ => (11, 52),
        };
        let infinity = ((1u64 << exponent) - 1) << fraction;
        let special = [
            0,
            1 << (width - 1),
            infinity,
            infinity | 1 << (width - 1),
            // A quiet and a signalling NaN.
            infinity | 1 << (fraction - 1),
            infinity | 1,
            infinity - 1,
            1,
            1 << (width - 1) | 1,
            1 << fraction,
            (1 << fraction) - 1,
            // Floats that an unsigned or a signed integer can hold, but not both, and the greatest.
            of_width(width, 2_147_483_648.0),
            of_width(width, 3e9),
            of_width(width, 4_294_967_040.0),
            of_width(width, -2_147_483_648.0),
        ];
        match (level, random.below(8)) {
            (0, _) => of_width(width, tame),
            (1, 0) => of_width(width, 0.0),
            // Few of these decimals are finite in binary.
            (1 | 2, 1..=2) => of_width(width, sign * f64::from(random.between(1, 1800)) / 100.0),
            (1, _) | (2, 3 | 4) => of_width(width, sign * tame),
            (_, 0) => random.bits() & mask(width),
            (_, 1..=3) => random.pick(&special),
            _ => of_width(width, sign * tame * random.pick(&[1.0, 1.5, 100.0, 0.1])),
        }
    }

    /// An integer of this width from the modules, a neighbour of it, or the sum or product of two.
    /// `None` if the modules have none.
    fn named_integer(&self, width: u8, random: &mut Random) -> Option<u64> {
        let all = mask(width);
        if self.integers.is_empty() {
            return None;
        }
        let mut one = || random.pick(&self.integers);
        let (x, y) = (one(), one());
        let value = match random.below(8) {
            0..=3 => x,
            4 => x.wrapping_add(1),
            5 => x.wrapping_sub(1),
            6 => x.wrapping_add(y),
            _ => x.wrapping_mul(y),
        };
        Some(value & all)
    }

    /// A float from the modules, its negation, or the sum or product of two. `None` if the modules
    /// have none.
    fn named_float(&self, random: &mut Random) -> Option<f64> {
        if self.floats.is_empty() {
            return None;
        }
        let mut one = || random.pick(&self.floats);
        let (x, y) = (one(), one());
        Some(match random.below(8) {
            0..=4 => x,
            5 => -x,
            6 => x + y,
            _ => x * y,
        })
    }
}

/// The value of an integer constant, extended to 64 bits by its declared sign.
fn extended(bits: u64, width: u8, signed: bool) -> u64 {
    let bits = bits & mask(width);
    match signed && width < 64 && bits >> (width - 1) & 1 == 1 {
        true => bits | !mask(width),
        false => bits,
    }
}

/// The value of a float constant, as 64 bits.
fn widened(bits: u64, width: u8) -> f64 {
    match width {
        64 => f64::from_bits(bits),
        32 => f32::from_bits(bits as u32).into(),
        _ => smallstep_semantics::image::unpack(smallstep_semantics::image::Numeric::Float, 16, bits & mask(16)),
    }
}

/// A number as a float of this width. For 16 bits it is rounded toward zero.
fn of_width(width: u8, value: f64) -> u64 {
    match width {
        32 => (value as f32).to_bits().into(),
        64 => value.to_bits(),
        _ => {
            let bits = (value as f32).to_bits();
            let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
            // The result is normal in 16 bits, zero, or infinity.
            u64::from(sign | (magnitude >> 13).saturating_sub(112 << 10).min(0x7c00))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::{Options, assemble};

    #[test]
    fn floats_have_every_width() {
        assert_eq!(of_width(16, 1.0), 0x3c00);
        assert_eq!(of_width(16, -2.5), 0xc100);
        assert_eq!(of_width(16, 0.0), 0);
        assert_eq!(of_width(16, 1e30), 0x7c00);
        assert_eq!(of_width(32, -0.1), u64::from((-0.1f32).to_bits()));
        assert_eq!(of_width(64, 1.5), 1.5f64.to_bits());
    }

    /// Constants of every width and switch labels are drawn, with their neighbours. Constants below
    /// 17 are not kept.
    #[test]
    fn named_numbers_are_those_of_constants_and_labels() {
        let text = "OpCapability Shader\nOpCapability Int64\nOpMemoryModel Logical GLSL450\n\
            OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
            OpDecorate %specialized SpecId 0\n\
            %void = OpTypeVoid\n%function = OpTypeFunction %void\n%u = OpTypeInt 32 0\n%l = OpTypeInt 64 1\n%f = OpTypeFloat 32\n\
            %index = OpConstant %u 3\n%magic = OpConstant %u 305419896\n%wide = OpConstant %l -5000000000\n%tenth = OpConstant %f 0.1\n\
            %specialized = OpSpecConstant %u 77\n\
            %main = OpFunction %void None %function\n%entry = OpLabel\nOpSelectionMerge %end None\n\
            OpSwitch %magic %end 4711 %case\n%case = OpLabel\nOpBranch %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n";
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what));
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
        let numbers = Numbers::of(&[&module, &module]);
        assert_eq!(numbers.integers, [77, 4711, 305_419_896, -5_000_000_000i64 as u64]);
        assert_eq!(numbers.floats, [f64::from(0.1f32)]);
        let mut random = Random::new(1);
        let drawn: Vec<u64> = (0..4000).map(|_| numbers.integer(32, 1, &mut random)).collect();
        for expected in [77, 4711, 4712, 4710, 305_419_896, 4711 + 77, 4711 * 77] {
            assert!(drawn.contains(&expected), "{expected}");
        }
        assert!((0..400).all(|_| numbers.integer(32, 0, &mut random) <= 5), "level 0 stays tame");
        let floats: Vec<u64> = (0..400).map(|_| numbers.float(32, 1, &mut random)).collect();
        assert!(floats.contains(&0.1f32.to_bits().into()) && floats.contains(&(-0.1f32).to_bits().into()));
    }
}

//! The inputs that a function is tried on: corner cases first, then random numbers of every binade,
//! or related numbers that are hard for the function.
//!
//! Input i is determined by the seed and i.

use smallstep_semantics::random;

use super::Function;

/// The random numbers for inputs.
#[derive(Clone, Debug)]
pub struct Random(random::Random);

impl Random {
    /// The numbers of the stream with that number.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(random::Random::new(seed ^ stream.wrapping_mul(random::STEP)));
        random.word();
        random
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0.bits()
    }

    /// A random number below the bound, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A float of either sign whose exponent is within the bounds, which are included.
    fn of_binades(&mut self, low: i32, high: i32) -> f32 {
        let exponent = low + self.below((high - low + 1) as u64) as i32;
        self.of_binade(exponent)
    }

    /// A float of either sign in a binade. -127 stands for subnormal numbers.
    fn of_binade(&mut self, exponent: i32) -> f32 {
        let random = self.word();
        f32::from_bits(((random >> 32) as u32 & 0x8000_0000) | ((exponent + 127) as u32) << 23 | random as u32 & 0x007f_ffff)
    }
}

/// The least and greatest exponent of normal numbers.
const EXPONENTS: (i32, i32) = (-126, 127);
/// The exponents of numbers that are usual in programs.
const USUAL: (i32, i32) = (-14, 9);

/// Magnitudes at which functions or their rounding change.
const MAGNITUDES: &[f32] = &[
    // Zero, subnormal numbers, the least normal ones.
    0.0,
    f32::from_bits(1),
    f32::from_bits(2),
    f32::from_bits(0x0040_0000),
    f32::from_bits(0x007f_fffe),
    f32::from_bits(0x007f_ffff),
    f32::MIN_POSITIVE,
    f32::from_bits(0x0080_0001),
    // Halves and their neighbours: ties of rounding to integers.
    0.5,
    0.499_999_97,
    0.500_000_06,
    1.5,
    2.5,
    3.5,
    4_194_303.5,
    8_388_607.0,
    8_388_607.5,
    8_388_609.0,
    16_777_215.0,
    // Ends of domains and ranges. 1 and its neighbours are among the powers of two.
    std::f32::consts::E,
    std::f32::consts::LN_2,
    std::f32::consts::SQRT_2,
    std::f32::consts::FRAC_1_SQRT_2,
    0.1,
    1.0 / 3.0,
    3.0,
    5.0,
    7.0,
    10.0,
    100.0,
    // The points where exp and exp2 overflow and underflow.
    88.722_83,
    88.722_84,
    87.336_54,
    87.336_55,
    89.0,
    103.278_93,
    103.972_08,
    126.0,
    127.0,
    127.999_99,
    149.0,
    150.0,
    // Huge numbers.
    1e10,
    1e20,
    1e30,
    2.0e38,
    f32::from_bits(0x7f7f_fffe),
    f32::MAX,
    f32::INFINITY,
];

/// Quiet NaNs with several payloads.
const NANS: [u32; 4] = [0x7fc0_0000, 0xffc0_0000, 0x7fc1_2345, 0xffff_ffff];

/// The exponents of the powers of two that are tried with their neighbours.
const POWERS: [i32; 25] = [-126, -125, -100, -64, -63, -32, -25, -24, -23, -22, -13, -12, -11, -2, -1, 0, 1, 2, 10, 23, 24, 31, 32, 63, 64];

/// The corner cases of a float, by their bits, without duplicates.
pub fn corners() -> Vec<u32> {
    let mut magnitudes: Vec<f32> = MAGNITUDES.to_vec();
    for exponent in POWERS.into_iter().chain([126, 127]) {
        let power = 2f32.powi(exponent);
        magnitudes.extend([power.next_down(), power, power.next_up()]);
    }
    // The floats nearest to the multiples of π/2 and their neighbours, with π/4 and some
    // large multiples.
    for k in [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 100.0, 1000.0, 1e6] {
        let nearest = (k * std::f64::consts::FRAC_PI_2) as f32;
        magnitudes.extend([nearest.next_down(), nearest, nearest.next_up()]);
    }
    let mut bits: Vec<u32> = Vec::new();
    for x in magnitudes {
        for x in [x, -x] {
            if !bits.contains(&x.to_bits()) {
                bits.push(x.to_bits());
            }
        }
    }
    bits.extend(NANS);
    bits
}

/// The corner cases that are tried in combinations with each other.
fn few_corners() -> Vec<u32> {
    let magnitudes = [
        0.0,
        f32::from_bits(1),
        f32::from_bits(0x007f_ffff),
        f32::MIN_POSITIVE,
        2f32.powi(-64),
        2f32.powi(-24),
        0.5,
        1f32.next_down(),
        1.0,
        1f32.next_up(),
        1.5,
        2.0,
        3.0,
        std::f32::consts::PI,
        8_388_609.0,
        2f32.powi(64),
        2f32.powi(126),
        f32::MAX,
        f32::INFINITY,
    ];
    let mut bits: Vec<u32> = magnitudes.into_iter().flat_map(|x: f32| [x.to_bits(), (-x).to_bits()]).collect();
    bits.extend([NANS[0], NANS[2]]);
    bits
}

/// The corner cases of an integer operand.
const INTEGERS: &[i32] = &[
    0,
    1,
    -1,
    2,
    -2,
    10,
    -10,
    23,
    -23,
    24,
    -24,
    126,
    -126,
    127,
    -127,
    128,
    -128,
    149,
    -149,
    150,
    -150,
    253,
    254,
    255,
    277,
    -277,
    300,
    -300,
    i32::MAX,
    i32::MIN,
];

/// The stratified inputs of a function.
#[derive(Clone, Debug)]
pub struct Inputs {
    function: Function,
    seed: u64,
    count: u64,
    /// The corner cases, by word.
    corners: Vec<Vec<u32>>,
    /// The number of inputs with corner cases only. `all_combinations` is whether they are
    /// all combinations.
    of_corners: u64,
    all_combinations: bool,
}

impl Inputs {
    /// `count` inputs: corner cases, then random inputs. The corner cases are all combinations if
    /// these are at most half of the inputs. Otherwise they are random combinations, half of the
    /// inputs. A function of one number begins with all corner cases.
    pub fn new(function: &Function, seed: u64, count: u64) -> Inputs {
        let words = function.words();
        let corners: Vec<Vec<u32>> = (0..words)
            .map(|word| match (function.is_integer(function.operand_of(word)), words) {
                (true, _) => INTEGERS.iter().map(|&n| n as u32).collect(),
                (false, 1 | 2) => corners(),
                _ => few_corners(),
            })
            .collect();
        let combinations = corners.iter().try_fold(1u64, |product, of| product.checked_mul(of.len() as u64));
        let half = if words == 1 { count } else { count / 2 };
        let all_combinations = combinations.is_some_and(|n| n <= half);
        let of_corners = if all_combinations { combinations.unwrap_or(half) } else { half };
        Inputs { function: function.clone(), seed, count, corners, of_corners, all_combinations }
    }

    /// The number of inputs.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends the words of input i.
    pub fn push(&self, i: u64, out: &mut Vec<u32>) {
        let mut random = Random::new(self.seed, i);
        if i < self.of_corners {
            let mut rest = i;
            for of in &self.corners {
                let at = match self.all_combinations || self.corners.len() == 1 {
                    true => {
                        let at = rest % of.len() as u64;
                        rest /= of.len() as u64;
                        at
                    }
                    false => random.below(of.len() as u64),
                };
                out.push(of[at as usize]);
            }
            return;
        }
        let from = out.len();
        match self.function.words() {
            1 => out.push(random_number(&mut random, i).to_bits()),
            _ => self.several(&mut random, i, out),
        }
        for (word, bits) in out[from..].iter_mut().enumerate() {
            if self.function.is_integer(self.function.operand_of(word)) {
                *bits = (random.below(321) as i32 - 160) as u32;
            }
        }
    }

    /// Appends the words of several numbers that are related to each other.
    fn several(&self, random: &mut Random, i: u64, out: &mut Vec<u32>) {
        let words = self.function.words();
        let (low, high) = match i % 4 {
            0 => EXPONENTS,
            _ => USUAL,
        };
        let first = random.of_binades(low, high);
        match i % 16 {
            // Magnitudes that are equal, or within a few units in the last place.
            1 | 2 => {
                let bits = first.to_bits();
                for _ in 0..words {
                    let near = bits.wrapping_add(random.below(5) as u32).wrapping_sub(2);
                    out.push(near & 0x7fff_ffff | (random.word() as u32) & 0x8000_0000);
                }
            }
            // The first number is near an integer multiple of the second.
            3 | 5 if words == 2 => {
                let bits = random.below(24);
                let factor = (1 + random.below(1 << bits)) as f32;
                let multiple = (first * factor).to_bits().wrapping_add(random.below(3) as u32).wrapping_sub(1);
                out.extend([multiple ^ (random.word() as u32 & 0x8000_0000), first.to_bits()]);
            }
            // The last number nearly cancels the product of the others.
            3 | 5 => {
                out.push(first.to_bits());
                let mut product = f64::from(first);
                for _ in 1..words - 1 {
                    let x = random.of_binades(-4, 4);
                    product *= f64::from(x);
                    out.push(x.to_bits());
                }
                out.push((-product as f32).to_bits().wrapping_add(random.below(5) as u32).wrapping_sub(2));
            }
            // Ascending numbers (6) and fractions (7).
            6 => {
                let mut all: Vec<f32> = (0..words).map(|_| random.of_binades(-3, 3)).collect();
                all.sort_by(f32::total_cmp);
                out.extend(all.into_iter().map(f32::to_bits));
            }
            7 => out.extend((0..words).map(|_| (random.below(1 << 24) as f32 / (1 << 24) as f32).to_bits())),
            // Numbers of very different magnitudes.
            9 => out.extend((0..words).map(|_| random.of_binades(EXPONENTS.0, EXPONENTS.1).to_bits())),
            // A corner case among usual numbers.
            10 => {
                let corner = random.below(words as u64) as usize;
                for word in 0..words {
                    let other = random.of_binades(USUAL.0, USUAL.1).to_bits();
                    let corner = (word == corner).then(|| random.one_of(&self.corners[word]));
                    out.push(corner.unwrap_or(other));
                }
            }
            // Numbers of one binade.
            11 | 13 => {
                let exponent = low + random.below((high - low + 1) as u64) as i32;
                out.extend((0..words).map(|_| random.of_binade(exponent).to_bits()));
            }
            14 => out.extend((0..words).map(|_| random.of_binades(-127, -100).to_bits())),
            _ => out.extend((0..words).map(|_| random.of_binades(low, high).to_bits())),
        }
    }
}

/// A random number. Every other one is from each binade in turn, including subnormal numbers, and
/// the rest are usual in programs.
fn random_number(random: &mut Random, i: u64) -> f32 {
    match i % 2 {
        0 => random.of_binade(-127 + ((i / 2) % 255) as i32),
        _ => random.of_binades(USUAL.0, USUAL.1),
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, Inputs, corners};

    fn all(name: &str, seed: u64, count: u64) -> Vec<u32> {
        let function = Function::named(name).remove(0);
        let inputs = Inputs::new(&function, seed, count);
        let mut words = Vec::new();
        (0..count).for_each(|i| inputs.push(i, &mut words));
        assert_eq!(words.len() as u64, count * function.words() as u64, "{name}");
        words
    }

    #[test]
    fn inputs_are_a_function_of_the_seed() {
        assert_eq!(all("FMod", 7, 2000), all("FMod", 7, 2000));
        assert_ne!(all("FMod", 7, 2000), all("FMod", 8, 2000));
    }

    #[test]
    fn corners_come_first_and_every_binade_follows() {
        let (corners, inputs) = (corners(), all("Sin", 1, 4000));
        assert_eq!(inputs[..corners.len()], corners);
        for exponent in 0..255u32 {
            for sign in 0..2u32 {
                assert!(inputs.iter().any(|bits| bits >> 23 == sign << 8 | exponent), "no input with sign {sign} and exponent {exponent}");
            }
        }
    }

    #[test]
    fn functions_of_any_shape_get_inputs() {
        for function in Function::all() {
            all(&function.label(), 3, 500);
        }
    }

    #[test]
    fn pairs_cancel_and_divide_nearly() {
        let pairs = all("FAdd", 5, 20_000);
        let floats = || pairs.chunks_exact(2).map(|p| (f32::from_bits(p[0]), f32::from_bits(p[1])));
        assert!(floats().filter(|(a, b)| a.is_finite() && *a != 0.0 && (a + b).abs() < a.abs() * 1e-6).count() > 100);
        assert!(floats().filter(|(a, b)| b.is_normal() && (a / b).abs() > 1.5 && a.abs() < 1e30 && (a / b).fract() == 0.0).count() > 100);
    }
}

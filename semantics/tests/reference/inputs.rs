//! Operands: the corners, and random operands of several kinds.

use smallstep_semantics::number::Instruction;
use smallstep_semantics::number::reference::FUNCTIONS;

#[path = "../common/random.rs"]
mod random;
pub use random::Random;

/// The instruction of the function with that name.
pub fn named(name: &str) -> Instruction {
    FUNCTIONS.iter().find(|function| function.1 == name).unwrap_or_else(|| panic!("no function {name}")).0
}

impl Random {
    /// Any finite bits, a magnitude within 2^±16, a short number, a number in [-1, 1], or a number
    /// close to 1.
    fn operand(&mut self) -> f32 {
        let bits = (self.next() >> 32) as u32;
        let x = match self.below(8) {
            0 | 1 => f32::from_bits(bits),
            2..=4 => f32::from_bits(bits & 0x807f_ffff | (self.below(32) as u32 + 111) << 23),
            5 => (self.below(4096) as f32 - 2048.0) * 0.125,
            6 => (self.next() as i64 as f64 / 2f64.powi(63)) as f32,
            _ => f32::from_bits(bits & 0x8000_0000 | (0x3f80_0000 + self.below(4096) as u32 - 2048)),
        };
        if x.is_finite() { x } else { self.operand() }
    }

    /// Operands of a function. The second operand of Ldexp is an integer. In one of four sets, the
    /// first two floats are near each other.
    pub fn operands(&mut self, name: &str, arity: usize) -> Vec<f32> {
        let mut operands: Vec<f32> = (0..arity).map(|_| self.operand()).collect();
        if arity > 1 && self.below(4) == 0 {
            operands[1] = f32::from_bits(operands[0].to_bits().wrapping_add(self.below(9) as u32).wrapping_sub(4));
            if !operands[1].is_finite() {
                operands[1] = operands[0];
            }
        }
        match name {
            "Ldexp" => operands[1] = self.below(400) as f32 - 200.0,
            "Pow" if self.below(4) > 0 => operands[0] = operands[0].abs(),
            // In order, so that most are in the domain.
            "SmoothStep" if operands[0] > operands[1] => operands.swap(0, 1),
            "FClamp" if operands[1] > operands[2] => operands.swap(1, 2),
            _ => {}
        }
        operands
    }
}

/// Zeros, subnormals, powers of two and their neighbours, integers and halves, ends of domains and
/// of ranges, and large arguments. All are in both signs.
pub fn corners() -> Vec<f32> {
    let mut corners = vec![0.0, f32::INFINITY, f32::MAX, f32::MAX.next_down()];
    corners.extend([1, 2, 3, 0x40_0000, 0x7f_fffe, 0x7f_ffff].map(f32::from_bits));
    for exponent in [-126, -125, -75, -55, -29, -28, -25, -24, -23, -14, -2, -1, 0, 1, 2, 4, 7, 10, 22, 23, 24, 31, 59, 60, 63, 126, 127] {
        let power = 2f32.powi(exponent);
        corners.extend([power.next_down(), power, power.next_up(), power * 1.5]);
    }
    // Where exp, exp2, sinh and cosh overflow and underflow in 32 bits, and where tanh is 1.
    for edge in
        [88.72284f32, 89.41599, 103.97208, 87.33655, 128.0, 126.0, 149.0, 150.0, 9.010913, 20.0, 711.0, 746.0, 1024.0, 1074.0, 1075.0]
    {
        corners.extend([edge.next_down(), edge, edge.next_up()]);
    }
    let (pi, half) = (std::f32::consts::PI, std::f32::consts::FRAC_PI_2);
    corners.extend([pi, pi.next_up(), half, half.next_up(), 3.0 * half, 2.0 * pi, 1e5 * pi, std::f32::consts::E]);
    corners.extend([
        0.1,
        0.5,
        1.0 / 3.0,
        2.5,
        3.0,
        3.5,
        5.0,
        7.0,
        9.0,
        10.0,
        25.0,
        49.0,
        100.25,
        180.0,
        360.0,
        8_388_607.5,
        1e10,
        1e22,
        1e38,
    ]);
    let negative: Vec<f32> = corners.iter().map(|x| -x).collect();
    corners.extend(negative);
    corners
}

/// All corners for one operand, and all pairs for two. For three operands, the triples of
/// some corners.
pub fn corner_operands(name: &str, arity: usize) -> Vec<Vec<f32>> {
    let all = corners();
    let some = |every: usize| all.iter().copied().enumerate().filter(move |(n, _)| n % every == 0).map(|(_, x)| x).collect::<Vec<f32>>();
    match arity {
        1 => all.iter().map(|&x| vec![x]).collect(),
        2 if name == "Ldexp" => {
            let exponents = [-2500.0, -300.0, -277.0, -150.0, -149.0, -126.0, -24.0, -1.0, 0.0, 1.0, 23.0, 127.0, 128.0, 277.0, 2500.0];
            all.iter().flat_map(|&x| exponents.map(|y| vec![x, y])).collect()
        }
        2 => {
            let (left, right) = (some(3), some(2));
            left.iter().flat_map(|&x| right.iter().map(move |&y| vec![x, y])).collect()
        }
        _ => {
            let (first, second, third) = (some(17), some(13), some(11));
            let pairs = first.iter().flat_map(|&x| second.iter().map(move |&y| (x, y)));
            pairs.flat_map(|(x, y)| third.iter().map(move |&z| vec![x, y, z])).collect()
        }
    }
}

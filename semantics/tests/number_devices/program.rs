//! Random straight-line programs over the operations, with what the number library claims about
//! each lane.

use smallstep_semantics::number::{Arithmetic, Lane, Lanes, Op, Tuple};

#[path = "../common/random.rs"]
mod random;

pub use random::Random;

impl Random {
    /// True in `n` of a hundred cases.
    pub fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }
}

/// Lanes of floats or Booleans, or a square matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Float(usize),
    Bool(usize),
    Matrix(usize),
}

impl Shape {
    pub fn columns(self) -> usize {
        match self {
            Shape::Matrix(n) => n,
            _ => 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Leaf,
    Apply(Op),
    /// A vector from scalars.
    Construct,
    /// The lane with that number of a vector.
    Extract(usize),
}

/// A result. `args` are the places of its operands in the program.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: Kind,
    pub args: Vec<usize>,
    pub shape: Shape,
    pub lanes: Lanes,
}

#[derive(Debug, Default)]
pub struct Program {
    pub nodes: Vec<Node>,
}

/// Operations that leave many lanes decided and that rewriting changes.
const FAVOURED: [Op; 38] = [
    Op::Add,
    Op::Add,
    Op::Add,
    Op::Sub,
    Op::Sub,
    Op::Mul,
    Op::Mul,
    Op::Mul,
    Op::Negate,
    Op::VectorTimesScalar,
    Op::MatrixTimesScalar,
    Op::MatrixTimesVector,
    Op::VectorTimesMatrix,
    Op::MatrixTimesMatrix,
    Op::Dot,
    Op::Mix,
    Op::Cross,
    Op::Reflect,
    Op::Min,
    Op::Max,
    Op::Clamp,
    Op::Clamp,
    Op::Clamp,
    Op::Abs,
    Op::Floor,
    Op::Round,
    Op::Fract,
    Op::Step,
    Op::Sign,
    Op::LessThan,
    Op::Equal,
    Op::GreaterThanEqual,
    Op::And,
    Op::Or,
    Op::Any,
    Op::Select,
    Op::Select,
    Op::Transpose,
];

/// Operations whose results are polynomials of their operands, comparisons and choices.
const POLYNOMIAL: [Op; 20] = [
    Op::Add,
    Op::Add,
    Op::Add,
    Op::Sub,
    Op::Sub,
    Op::Mul,
    Op::Mul,
    Op::Mul,
    Op::Mul,
    Op::Negate,
    Op::VectorTimesScalar,
    Op::MatrixTimesVector,
    Op::VectorTimesMatrix,
    Op::Dot,
    Op::Mix,
    Op::Cross,
    Op::Reflect,
    Op::LessThan,
    Op::GreaterThanEqual,
    Op::Select,
];

/// Operations that are no polynomials but have bounds, choices between values, and some polynomials
/// that may be their operands.
const COMPARED: [Op; 26] = [
    Op::Div,
    Op::Div,
    Op::Div,
    Op::Div,
    Op::Mod,
    Op::Mod,
    Op::Sqrt,
    Op::InverseSqrt,
    Op::Exp2,
    Op::Exp,
    Op::Log2,
    Op::Sin,
    Op::Length,
    Op::Distance,
    Op::Fract,
    Op::Min,
    Op::Max,
    Op::Clamp,
    Op::Abs,
    Op::Floor,
    Op::Step,
    Op::Negate,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Dot,
];

/// The comparisons.
const COMPARISONS: [Op; 6] = [Op::LessThan, Op::LessThanEqual, Op::GreaterThan, Op::GreaterThanEqual, Op::Equal, Op::NotEqual];

/// A float, mostly in the given style.
fn float(random: &mut Random, style: usize) -> f32 {
    let style = if random.percent(75) { style } else { random.below(7) };
    match style {
        0 => random.below(17) as f32 - 8.0,
        1 => (random.below(129) as f32 - 64.0) / 16.0,
        2 => (random.below(40_001) as f32 - 20_000.0) / 4096.0,
        3 => f32::from_bits((random.next() as u32 & 0x83ff_ffff) | 0x3c00_0000),
        4 => {
            let corners = [
                0.0,
                -0.0,
                1.0,
                2.0,
                0.5,
                1.5,
                -2.5,
                f32::MIN_POSITIVE,
                f32::MIN_POSITIVE * 1.5,
                f32::MAX,
                f32::EPSILON,
                1.0 + f32::EPSILON,
                1.0 - f32::EPSILON / 2.0,
                16_777_215.0,
                16_777_216.0,
                4_194_304.5,
                1.0e-20,
                1.0e20,
                1.0e30,
                f32::from_bits(1),
                f32::from_bits(0x7f_ffff),
                -1.0e-40,
                -4096.0,
                0.25,
                1.0e-19,
            ];
            corners[random.below(corners.len())]
        }
        _ => match random.below(20) {
            0 => f32::INFINITY,
            1 => f32::NAN,
            _ => {
                // A power of two, or a small multiple of one.
                let reach = if style == 6 { 120 } else { 30 };
                let exponent = random.below(2 * reach) as i32 - reach as i32;
                (1 + random.below(5)) as f32 * 2f32.powi(exponent) * if random.percent(50) { 1.0 } else { -1.0 }
            }
        },
    }
}

impl Program {
    /// A program of `length` operations. `arithmetic` says what is known of each lane.
    pub fn generate(random: &mut Random, length: usize, arithmetic: &Arithmetic) -> Program {
        let mut program = Program::default();
        let style = random.below(7);
        for _ in 0..length {
            let op = if random.percent(70) { FAVOURED[random.below(FAVOURED.len())] } else { Op::ALL[random.below(Op::ALL.len())] };
            program.push_operation(random, style, op, arithmetic);
        }
        program
    }

    /// A program of `length` operations, mostly + - · and choices between their results. These
    /// operations are not exact on all of its floats.
    pub fn generate_polynomial(random: &mut Random, length: usize) -> Program {
        let mut program = Program::default();
        let style = [2, 3, 3, 4, 5, 6][random.below(6)];
        for _ in 0..length {
            let op = if random.percent(90) { POLYNOMIAL[random.below(POLYNOMIAL.len())] } else { FAVOURED[random.below(FAVOURED.len())] };
            program.push_operation(random, style, op, &Arithmetic::default());
        }
        program
    }

    /// A program of `length` operations with bounds, and a comparison of the last result with a
    /// float near its value.
    pub fn generate_compared(random: &mut Random, length: usize) -> Program {
        let mut program = Program::default();
        let style = [1, 2, 2, 2, 3, 5][random.below(6)];
        for _ in 0..length {
            let op = COMPARED[random.below(COMPARED.len())];
            program.push_operation(random, style, op, &Arithmetic::default());
        }
        let last = program.nodes.len() - 1;
        let reach = [1, 4, 16, 64, 1024, 1 << 20][random.below(6)];
        let near = |random: &mut Random, lane: &Lane| {
            let moved = random.below(2 * reach + 1) as i32 - reach as i32;
            let bits = (lane.bits & 0x7fff_ffff).saturating_add_signed(moved).min(0x7f7f_ffff);
            Lane::exact(f32::from_bits(bits | lane.bits & 0x8000_0000))
        };
        let lanes: Lanes = program.nodes[last].lanes.iter().map(|lane| near(random, lane)).collect();
        let shape = program.nodes[last].shape;
        let constant = program.push(Kind::Leaf, Vec::new(), shape, lanes);
        let args = if random.percent(50) { vec![last, constant] } else { vec![constant, last] };
        let op = COMPARISONS[random.below(COMPARISONS.len())];
        let tuples: Vec<Tuple<'_>> = args.iter().map(|&arg| Tuple { lanes: &program.nodes[arg].lanes, columns: 1 }).collect();
        let lanes = Arithmetic::default().apply(op, &tuples);
        let shape = Shape::Bool(lanes.len());
        program.push(Kind::Apply(op), args, shape, lanes);
        program
    }

    fn push(&mut self, kind: Kind, args: Vec<usize>, shape: Shape, lanes: Lanes) -> usize {
        self.nodes.push(Node { kind, args, shape, lanes });
        self.nodes.len() - 1
    }

    fn push_operation(&mut self, random: &mut Random, style: usize, op: Op, arithmetic: &Arithmetic) {
        use Shape::{Bool, Float, Matrix};
        let n = [1, 1, 1, 1, 2, 3, 4][random.below(7)];
        let m = [2, 2, 2, 3, 3, 4][random.below(6)];
        let (wanted, shape) = match op {
            Op::VectorTimesScalar => (vec![Float(n), Float(1)], Float(n)),
            Op::MatrixTimesScalar => (vec![Matrix(m), Float(1)], Matrix(m)),
            Op::VectorTimesMatrix => (vec![Float(m), Matrix(m)], Float(m)),
            Op::MatrixTimesVector => (vec![Matrix(m), Float(m)], Float(m)),
            Op::MatrixTimesMatrix => (vec![Matrix(m), Matrix(m)], Matrix(m)),
            Op::Transpose | Op::MatrixInverse => (vec![Matrix(m)], Matrix(m)),
            Op::Determinant => (vec![Matrix(m)], Float(1)),
            Op::Dot | Op::Distance => (vec![Float(n), Float(n)], Float(1)),
            Op::Length => (vec![Float(n)], Float(1)),
            Op::Cross => (vec![Float(3), Float(3)], Float(3)),
            Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual => {
                (vec![Float(n), Float(n)], Bool(n))
            }
            Op::LogicalEqual | Op::LogicalNotEqual | Op::And | Op::Or => (vec![Bool(n), Bool(n)], Bool(n)),
            Op::Not => (vec![Bool(n)], Bool(n)),
            Op::Any | Op::All => (vec![Bool(m)], Bool(1)),
            Op::Select => {
                let object = if random.percent(15) { Bool(n) } else { Float(n) };
                let condition = if random.percent(50) { Bool(1) } else { Bool(n) };
                (vec![condition, object, object], object)
            }
            _ => (vec![Float(n); op.arity()], Float(n)),
        };
        let mut args: Vec<usize> = wanted.into_iter().map(|shape| self.operand(random, style, shape)).collect();
        // One operand becomes the definite value of the other. Devices that round in another way
        // see another outcome, and either value may be chosen.
        let chooses = matches!(shape, Bool(_)) || matches!(op, Op::Step | Op::Min | Op::Max | Op::Clamp | Op::Select);
        if chooses && args.len() >= 2 && random.percent(30) {
            let (mut from, mut to) = if args.len() == 2 { (0, 1) } else { (1, 2) };
            if random.percent(50) {
                (from, to) = (to, from);
            }
            let (shape, mut lanes) = (self.nodes[args[from]].shape, self.nodes[args[from]].lanes.clone());
            if matches!(shape, Float(_)) {
                lanes.iter_mut().for_each(|lane| *lane = Lane::exact(lane.float()));
                args[to] = self.push(Kind::Leaf, Vec::new(), shape, lanes);
            }
        }
        let tuples: Vec<Tuple<'_>> =
            args.iter().map(|&arg| Tuple { lanes: &self.nodes[arg].lanes, columns: self.nodes[arg].shape.columns() }).collect();
        let lanes = arithmetic.apply(op, &tuples);
        self.push(Kind::Apply(op), args, shape, lanes);
    }

    /// The place of a value of this shape: an existing result, mostly a late one, or a new value.
    fn operand(&mut self, random: &mut Random, style: usize, shape: Shape) -> usize {
        if random.percent(65) {
            let fitting: Vec<usize> = (0..self.nodes.len()).filter(|&i| self.nodes[i].shape == shape).collect();
            if !fitting.is_empty() {
                let back = random.below(fitting.len()).min(random.below(fitting.len()));
                return fitting[fitting.len() - 1 - back];
            }
        }
        match shape {
            Shape::Float(1) if random.percent(30) => {
                let vectors: Vec<usize> = (0..self.nodes.len()).filter(|&i| matches!(self.nodes[i].shape, Shape::Float(2..))).collect();
                if let Some(&vector) = vectors.last() {
                    let lane = random.below(self.nodes[vector].lanes.len());
                    let lanes = Lanes::from_slice(&[self.nodes[vector].lanes[lane]]);
                    return self.push(Kind::Extract(lane), vec![vector], shape, lanes);
                }
            }
            Shape::Float(n @ 2..) if random.percent(40) => {
                let args: Vec<usize> = (0..n).map(|_| self.operand(random, style, Shape::Float(1))).collect();
                let lanes = args.iter().map(|&arg| self.nodes[arg].lanes[0]).collect();
                return self.push(Kind::Construct, args, shape, lanes);
            }
            _ => {}
        }
        let lanes = match shape {
            Shape::Float(n) => (0..n).map(|_| Lane::exact(float(random, style))).collect(),
            Shape::Matrix(n) => (0..n * n).map(|_| Lane::exact(float(random, style))).collect(),
            Shape::Bool(n) => (0..n).map(|_| Lane::truth(random.percent(50))).collect(),
        };
        self.push(Kind::Leaf, Vec::new(), shape, lanes)
    }
}

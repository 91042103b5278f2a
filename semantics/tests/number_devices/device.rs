//! Simulated devices. Each run of a program makes its own choices among those that the precision
//! rules leave open.
//!
//! This module does not know what the number library decides. A device starts from the library's
//! value only for operations that need not be correctly rounded. It then moves the value by up to
//! two units in the last place.

mod rewriting;

use super::program::{Kind, Program, Random, Shape};
use smallstep_semantics::number::{Lane, Lanes, Op, Profile, Tuple, apply};

/// A polynomial or quotient in some form, before its evaluation.
#[derive(Clone, Debug)]
enum Expr {
    /// A value, with the node and lane that it comes from as its identity.
    Leaf((usize, usize), f32),
    Negated(Box<Expr>),
    Sum(Vec<Expr>),
    Product(Vec<Expr>),
    Quotient(Box<Expr>, Box<Expr>),
}

/// An infinity, a NaN or an overflow has made the result arbitrary.
struct Arbitrary;

type Evaluated = Result<f32, Arbitrary>;

/// The node number of constants in formulas. Node n's own values, such as the floor in the formula
/// of Fract, have the node number CONSTANT - 1 - n.
const CONSTANT: usize = usize::MAX;

pub struct Device<'p> {
    /// Whether instructions lack NoContraction. If so, the device rewrites formulas and rounds in
    /// either direction.
    rewrites: bool,
    /// Whether NoContraction decorates extended instructions too.
    extended_alone: bool,
    program: &'p Program,
    random: Random,
    pub values: Vec<Vec<u32>>,
}

impl<'p> Device<'p> {
    /// Runs the program, with choices drawn from the seed. If the profile has NoContraction, it
    /// decorates core instructions only.
    pub fn run(program: &'p Program, profile: Profile, seed: u64) -> Device<'p> {
        Device { extended_alone: false, ..Device::new(program, profile, seed) }.ran()
    }

    /// The same, but NoContraction decorates every instruction.
    pub fn run_decorated(program: &'p Program, profile: Profile, seed: u64) -> Device<'p> {
        Device::new(program, profile, seed).ran()
    }

    fn new(program: &'p Program, profile: Profile, seed: u64) -> Device<'p> {
        let rewrites = match profile {
            Profile::Strict => false,
            Profile::VulkanDefault | Profile::Wgsl => true,
            Profile::Declared(_) => unreachable!("no such device is simulated"),
        };
        Device { rewrites, extended_alone: true, program, random: Random(seed), values: Vec::new() }
    }

    fn ran(mut self) -> Device<'p> {
        for node in 0..self.program.nodes.len() {
            let values = self.node(node);
            self.values.push(values);
        }
        self
    }

    fn float(&self, node: usize, lane: usize) -> f32 {
        f32::from_bits(self.values[node][lane])
    }

    fn node(&mut self, index: usize) -> Vec<u32> {
        let node = &self.program.nodes[index];
        match node.kind {
            Kind::Leaf => node.lanes.iter().map(|lane| lane.bits).collect(),
            Kind::Construct => node.args.iter().map(|&arg| self.values[arg][0]).collect(),
            Kind::Extract(lane) => vec![self.values[node.args[0]][lane]],
            Kind::Apply(op) => {
                if let Some(values) = self.approximate(op, index) {
                    return values;
                }
                (0..node.lanes.len()).map(|lane| self.operation(op, index, lane)).collect()
            }
        }
    }

    fn operation(&mut self, op: Op, index: usize, lane: usize) -> u32 {
        let args = &self.program.nodes[index].args;
        let at = |k: usize| {
            if self.values[args[k]].len() == 1 { 0 } else { lane }
        };
        let bits = |k: usize| self.values[args[k]][at(k)];
        match op {
            Op::LogicalEqual => (bits(0) == bits(1)) as u32,
            Op::LogicalNotEqual => (bits(0) != bits(1)) as u32,
            Op::And => bits(0) & bits(1),
            Op::Or => bits(0) | bits(1),
            Op::Not => 1 - bits(0),
            Op::Any => self.values[args[0]].contains(&1) as u32,
            Op::All => !self.values[args[0]].contains(&0) as u32,
            Op::Select => bits(if bits(0) == 1 { 1 } else { 2 }),
            Op::Transpose => {
                let n = self.program.nodes[index].shape.columns();
                let value = self.float(args[0], lane % n * n + lane / n);
                if self.rewrites { self.signed(value).to_bits() } else { self.flushed(value).to_bits() }
            }
            Op::Add | Op::Sub | Op::Mul | Op::Negate | Op::VectorTimesScalar | Op::MatrixTimesScalar if !self.rewrites => {
                self.core(op, index, lane)
            }
            _ if is_polynomial(op) => {
                let expr = self.formula(op, index, lane, true);
                let result = self.rewritten_and_evaluated(expr);
                self.finish(result)
            }
            Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual => {
                match self.sides((args[0], lane), (args[1], lane)) {
                    Ok((x, y)) => compare(op, x, y) as u32,
                    Err(Arbitrary) => self.random.percent(50) as u32,
                }
            }
            _ => {
                let result = self.exact(op, index, lane);
                self.finish(result)
            }
        }
    }

    /// The bits of a result. A zero may have either sign. An arbitrary result may have any bits.
    fn finish(&mut self, result: Evaluated) -> u32 {
        match result {
            Ok(value) if value.is_finite() => {
                let value = self.flushed(value);
                self.signed(value).to_bits()
            }
            _ => match self.random.below(4) {
                0 => f32::NAN.to_bits(),
                1 => f32::INFINITY.to_bits(),
                2 => f32::MAX.to_bits(),
                _ => self.random.next() as u32,
            },
        }
    }

    /// A subnormal may become a zero of either sign.
    fn flushed(&mut self, value: f32) -> f32 {
        if value.is_subnormal() && self.random.percent(50) { self.zero() } else { value }
    }

    fn zero(&mut self) -> f32 {
        if self.random.percent(50) { 0.0 } else { -0.0 }
    }

    /// A zero may have either sign.
    fn signed(&mut self, value: f32) -> f32 {
        if value == 0.0 { self.zero() } else { value }
    }

    /// A core operation under `Strict`.
    fn core(&mut self, op: Op, index: usize, lane: usize) -> u32 {
        let args = &self.program.nodes[index].args;
        let x = self.float(args[0], lane);
        let x = self.flushed(x);
        let y = args.get(1).map_or(0.0, |&arg| self.float(arg, if self.values[arg].len() == 1 { 0 } else { lane }));
        let y = self.flushed(y);
        let mut preserves_sign = true;
        let exact = match op {
            Op::Negate => return self.flushed(-x).to_bits(),
            Op::Add => f64::from(x) + f64::from(y),
            Op::Sub => f64::from(x) - f64::from(y),
            Op::Mul => f64::from(x) * f64::from(y),
            _ => {
                preserves_sign = false;
                f64::from(x) * f64::from(y)
            }
        };
        let rounded = match op {
            Op::Add => x + y,
            Op::Sub => x - y,
            _ => x * y,
        };
        if rounded.is_nan() || rounded.is_infinite() && !preserves_sign {
            return self.finish(Err(Arbitrary));
        }
        let mut result = rounded;
        if exact != 0.0 && exact.abs() < f64::from(f32::MIN_POSITIVE) && self.random.percent(50) {
            result = self.zero();
        } else if exact.abs() > f64::from(f32::MAX) && exact.is_finite() && self.random.percent(50) {
            result = if self.random.percent(50) { f32::INFINITY } else { f32::MAX }.copysign(rounded);
        } else if !preserves_sign {
            result = self.signed(result);
        }
        result.to_bits()
    }

    /// Whether the formula of an operand may become a part of the formula of `root`.
    fn transparent(&self, root: Op, op: Op) -> bool {
        let undecorated = |op| matches!(op, Op::Mix | Op::Cross | Op::Reflect | Op::Fract);
        match self.rewrites {
            true => is_polynomial(op) || matches!(op, Op::Fract | Op::Div),
            false => !self.extended_alone && undecorated(root) && undecorated(op),
        }
    }

    /// The polynomial of an operand of `root`: a leaf, or perhaps the formula of the operation that
    /// made it.
    fn operand(&mut self, root: Op, node: usize, lane: usize, depth: usize) -> Expr {
        let leaf = Expr::Leaf((node, lane), self.float(node, lane));
        if depth == 0 || self.random.percent(20) {
            return leaf;
        }
        let rewrites = self.rewrites;
        let it = &self.program.nodes[node];
        let value = self.float(node, lane);
        let args = &it.args;
        match it.kind {
            Kind::Construct => self.operand(root, args[lane], 0, depth),
            Kind::Extract(from) => self.operand(root, args[0], from, depth),
            Kind::Apply(op) if self.transparent(root, op) => self.formula_at(root, op, node, lane, depth - 1),
            Kind::Apply(Op::Select) if rewrites => {
                let condition = self.values[args[0]][if self.values[args[0]].len() == 1 { 0 } else { lane }];
                self.operand(root, args[if condition == 1 { 1 } else { 2 }], lane, depth - 1)
            }
            // A compiler may know that such an instruction returns its operand here.
            Kind::Apply(Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::RoundEven | Op::Sign)
                if rewrites && self.float(args[0], lane) == value =>
            {
                self.operand(root, args[0], lane, depth - 1)
            }
            Kind::Apply(Op::Abs) if rewrites => Expr::Negated(Box::new(self.operand(root, args[0], lane, depth - 1))),
            Kind::Apply(Op::Min | Op::Max | Op::Clamp) if rewrites => {
                let equal: Vec<usize> = args.iter().copied().filter(|&arg| self.float(arg, lane) == value).collect();
                match equal.len() {
                    0 => leaf,
                    n => {
                        let chosen = equal[self.random.below(n)];
                        self.operand(root, chosen, lane, depth - 1)
                    }
                }
            }
            _ => leaf,
        }
    }

    fn formula(&mut self, op: Op, node: usize, lane: usize, deep: bool) -> Expr {
        self.formula_at(op, op, node, lane, if deep { 6 } else { 0 })
    }

    /// The formula of a polynomial operation.
    fn formula_at(&mut self, root: Op, op: Op, node: usize, lane: usize, depth: usize) -> Expr {
        let args = self.program.nodes[node].args.clone();
        let n = self.program.nodes[node].shape.columns();
        let width = |k: usize| self.values[args[k]].len();
        let (first, last) = (width(0), args.len() - 1);
        let second = width(last);
        let broadcast = |k: usize, width: usize| (k, if width == 1 { 0 } else { lane });
        let mut get = |(k, lane): (usize, usize)| self.operand(root, args[k], lane, depth);
        let product = |a: Expr, b: Expr| Expr::Product(vec![a, b]);
        let negated = |a: Expr| Expr::Negated(Box::new(a));
        let one = || Expr::Leaf((CONSTANT, 1), 1.0);
        match op {
            Op::Negate => negated(get((0, lane))),
            Op::Add => Expr::Sum(vec![get((0, lane)), get((1, lane))]),
            Op::Sub => {
                let (x, y) = (get((0, lane)), get((1, lane)));
                Expr::Sum(vec![x, negated(y)])
            }
            Op::Mul | Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let x = get((0, lane));
                product(x, get(broadcast(1, second)))
            }
            Op::Dot => Expr::Sum((0..first).map(|i| product(get((0, i)), get((1, i)))).collect()),
            Op::MatrixTimesVector => {
                let n = second;
                Expr::Sum((0..n).map(|c| product(get((0, c * n + lane)), get((1, c)))).collect())
            }
            Op::VectorTimesMatrix => {
                let n = first;
                Expr::Sum((0..n).map(|r| product(get((0, r)), get((1, lane * n + r)))).collect())
            }
            Op::MatrixTimesMatrix => {
                let (c, r) = (lane / n, lane % n);
                Expr::Sum((0..n).map(|k| product(get((0, k * n + r)), get((1, c * n + k)))).collect())
            }
            Op::Mix => {
                let (x, y, a) = (get((0, lane)), get((1, lane)), get((2, lane)));
                let a_again = get((2, lane));
                let rest = Expr::Sum(vec![one(), negated(a)]);
                Expr::Sum(vec![product(x, rest), product(y, a_again)])
            }
            Op::Cross => {
                let (i, j) = [(1, 2), (2, 0), (0, 1)][lane];
                let left = product(get((0, i)), get((1, j)));
                Expr::Sum(vec![left, negated(product(get((1, i)), get((0, j))))])
            }
            Op::Reflect => {
                let dot = Expr::Sum((0..first).map(|i| product(get((1, i)), get((0, i)))).collect());
                let two = Expr::Leaf((CONSTANT, 2), 2.0);
                let x = get((0, lane));
                Expr::Sum(vec![x, negated(Expr::Product(vec![two, dot, get((1, lane))]))])
            }
            Op::Div => {
                let (x, y) = (get((0, lane)), get((1, lane)));
                Expr::Quotient(Box::new(x), Box::new(y))
            }
            Op::Fract => {
                let x = get((0, lane));
                let floor = self.float(args[0], lane).floor();
                Expr::Sum(vec![x, negated(Expr::Leaf((CONSTANT - 1 - node, lane), floor))])
            }
            _ => unreachable!("{op:?} is no polynomial"),
        }
    }

    /// Two values to compare. Over the reals, they compare as the operands do. With rewritings,
    /// terms may have moved from one side to the other.
    fn sides(&mut self, x: (usize, usize), y: (usize, usize)) -> Result<(f32, f32), Arbitrary> {
        let (x_value, y_value) = (self.float(x.0, x.1), self.float(y.0, y.1));
        if !x_value.is_finite() || !y_value.is_finite() {
            return Err(Arbitrary);
        }
        if !self.rewrites || self.random.percent(50) {
            return Ok((self.flushed(x_value), self.flushed(y_value)));
        }
        if (self.is_inverted(x.0) || self.is_inverted(y.0))
            && self.random.percent(40)
            && let Some(sides) = self.inverted(x, y)
        {
            return sides;
        }
        let mut sides = [Vec::new(), Vec::new()];
        for (k, (node, lane)) in [x, y].into_iter().enumerate() {
            let mut expr = self.side(node, lane);
            for _ in 0..self.random.below(3) {
                expr = self.rewrite(expr);
            }
            let terms = match expr {
                Expr::Sum(terms) => terms,
                other => vec![other],
            };
            for term in terms {
                if self.random.percent(30) {
                    sides[1 - k].push(Expr::Negated(Box::new(term)));
                } else {
                    sides[k].push(term);
                }
            }
        }
        let [left, right] = sides.map(|terms| match terms.len() {
            0 => Expr::Leaf((CONSTANT, 0), 0.0),
            _ => Expr::Sum(terms),
        });
        Ok((self.rewritten_and_evaluated(left)?, self.rewritten_and_evaluated(right)?))
    }

    /// Functions of GLSL.std.450 whose results need at most one rounding.
    fn exact(&mut self, op: Op, index: usize, lane: usize) -> Evaluated {
        let args = self.program.nodes[index].args.clone();
        let mut operands = Vec::new();
        for &arg in &args {
            let value = self.float(arg, lane);
            if !value.is_finite() {
                return Err(Arbitrary);
            }
            let value = self.flushed(value);
            operands.push(self.signed(value));
        }
        let x = operands[0];
        // An instruction that is not rewritten takes each operand once, either flushed or not.
        let once = (!self.rewrites && self.extended_alone).then(|| operands.clone());
        let less = |device: &mut Self, i: usize, j: usize| -> Result<bool, Arbitrary> {
            if let Some(once) = &once {
                return Ok(once[i] < once[j]);
            }
            let (a, b) = device.sides((args[i], lane), (args[j], lane))?;
            Ok(a < b)
        };
        Ok(match op {
            Op::Abs => x.abs(),
            Op::Sign => {
                if x == 0.0 {
                    0.0
                } else {
                    1f32.copysign(x)
                }
            }
            Op::Trunc => x.trunc(),
            Op::Floor => x.floor(),
            Op::Ceil => x.ceil(),
            Op::RoundEven => x.round_ties_even(),
            Op::Round => {
                let (down, up) = (x.floor(), x.ceil());
                match (x - down).partial_cmp(&(up - x)).expect("finite") {
                    std::cmp::Ordering::Less => down,
                    std::cmp::Ordering::Greater => up,
                    std::cmp::Ordering::Equal => [down, up][self.random.below(2)],
                }
            }
            Op::Fract => {
                if self.random.percent(50) {
                    let expr = self.formula(op, index, lane, true);
                    return self.rewritten_and_evaluated(expr);
                }
                let fract = x - x.floor();
                // Some devices keep the result below 1.
                let rounds_down = self.rewrites || !self.extended_alone;
                if fract == 1.0 && rounds_down && self.random.percent(50) { 1f32.next_down() } else { fract }
            }
            Op::Min => {
                if operands[1] == x || !less(self, 1, 0)? {
                    x
                } else {
                    operands[1]
                }
            }
            Op::Max => {
                if operands[1] == x || !less(self, 0, 1)? {
                    x
                } else {
                    operands[1]
                }
            }
            Op::Step => {
                if less(self, 1, 0)? {
                    0.0
                } else {
                    1.0
                }
            }
            Op::Clamp => {
                let (low, high) = (operands[1], operands[2]);
                match self.random.below(3) {
                    _ if low > high => return Err(Arbitrary),
                    0 => x.max(low).min(high),
                    1 => x.min(high).max(low),
                    _ => {
                        // The two forms above always give the middle one of the three values. This
                        // form may not.
                        if less(self, 0, 1)? {
                            low
                        } else if less(self, 2, 0)? {
                            high
                        } else {
                            x
                        }
                    }
                }
            }
            _ => unreachable!("{op:?} is not exact"),
        })
    }

    /// The results of an operation that need not be correctly rounded. `None` for other operations.
    fn approximate(&mut self, op: Op, index: usize) -> Option<Vec<u32>> {
        let exact = matches!(
            op,
            Op::Round
                | Op::RoundEven
                | Op::Trunc
                | Op::Abs
                | Op::Sign
                | Op::Floor
                | Op::Ceil
                | Op::Fract
                | Op::Min
                | Op::Max
                | Op::Clamp
                | Op::Step
        );
        let node = &self.program.nodes[index];
        let boolean = matches!(node.shape, Shape::Bool(_));
        if exact || boolean || is_polynomial(op) || matches!(op, Op::Select | Op::Transpose) {
            return None;
        }
        let args = node.args.clone();
        if op == Op::Div && self.rewrites && self.random.percent(50) {
            let lanes = 0..self.program.nodes[index].lanes.len();
            return Some(
                lanes
                    .map(|lane| {
                        let quotient = self.divided((args[0], lane), (args[1], lane));
                        self.finish(quotient)
                    })
                    .collect(),
            );
        }
        let operands: Vec<Lanes> = args
            .iter()
            .map(|&arg| {
                (0..self.values[arg].len())
                    .map(|lane| {
                        let value = self.float(arg, lane);
                        Lane::exact(self.flushed(value))
                    })
                    .collect()
            })
            .collect();
        let tuples: Vec<Tuple<'_>> =
            operands.iter().zip(&args).map(|(lanes, &arg)| Tuple { lanes, columns: self.program.nodes[arg].shape.columns() }).collect();
        let results = apply(op, &tuples);
        // In runs that are compared with sets, a result moves only as far as its rule allows
        // whatever the correctly rounded result is. This is one float for rules of 2.5 ULP and
        // more, and nothing for the others.
        let reach = match op {
            _ if !self.extended_alone => 2,
            Op::Div | Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::Sin | Op::Cos | Op::Atan | Op::Atan2 => 1,
            _ => 0,
        };
        let moved = |lane: &Lane| {
            let value = lane.float();
            if !value.is_finite() {
                return self.finish(Err(Arbitrary));
            }
            let bits = value.to_bits();
            let moved = f32::from_bits(
                (bits & 0x7fff_ffff).saturating_add_signed(self.random.below(2 * reach + 1) as i32 - reach as i32) | bits & 0x8000_0000,
            );
            self.finish(Ok(moved))
        };
        Some(results.iter().map(moved).collect())
    }
}

fn is_polynomial(op: Op) -> bool {
    matches!(
        op,
        Op::Negate
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::Dot
            | Op::Mix
            | Op::Cross
            | Op::Reflect
    )
}

fn compare(op: Op, x: f32, y: f32) -> bool {
    match op {
        Op::LessThan => x < y,
        Op::LessThanEqual => x <= y,
        Op::GreaterThan => x > y,
        Op::GreaterThanEqual => x >= y,
        Op::Equal => x == y,
        _ => x != y,
    }
}

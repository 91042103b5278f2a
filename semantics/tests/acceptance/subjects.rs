//! The instructions under test: their random operands, and their results on simulated devices and
//! by the definite semantics.

use super::device::{Device, Term};
use super::inputs::Random;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallstep_semantics::number::{Computed, Instruction, Lane, Op, Tuple, apply, float};

/// An operand: its components, and the number of columns that they form.
pub type Arg = (Vec<f32>, usize);

/// The shapes of an instruction's operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Scalars(usize),
    Vectors(usize),
    VectorAndScalar,
    MatrixAndScalar,
    VectorAndMatrix,
    MatrixAndVector,
    Matrices,
    Matrix,
    Outer,
    Refract,
}

#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub name: &'static str,
    pub instruction: Instruction,
    pub shape: Shape,
}

macro_rules! subjects {
    ($($set:ident $name:ident $shape:ident $(($n:literal))?;)*) => {
        pub const SUBJECTS: &[Subject] = &[
            $(Subject { name: stringify!($name), instruction: subjects!(@ $set $name), shape: Shape::$shape $(($n))? },)*
        ];
    };
    (@ Core $name:ident) => { Instruction::Core(Core::$name as u16) };
    (@ Glsl $name:ident) => { Instruction::Glsl(Glsl::$name as u32) };
}

subjects! {
    Core FNegate Scalars(1);
    Core FAdd Scalars(2);
    Core FSub Scalars(2);
    Core FMul Scalars(2);
    Core FDiv Scalars(2);
    Core FRem Scalars(2);
    Core FMod Scalars(2);
    Core VectorTimesScalar VectorAndScalar;
    Core MatrixTimesScalar MatrixAndScalar;
    Core VectorTimesMatrix VectorAndMatrix;
    Core MatrixTimesVector MatrixAndVector;
    Core MatrixTimesMatrix Matrices;
    Core Transpose Matrix;
    Core Dot Vectors(2);
    Core OuterProduct Outer;
    Core QuantizeToF16 Scalars(1);
    Glsl Round Scalars(1);
    Glsl RoundEven Scalars(1);
    Glsl Trunc Scalars(1);
    Glsl FAbs Scalars(1);
    Glsl FSign Scalars(1);
    Glsl Floor Scalars(1);
    Glsl Ceil Scalars(1);
    Glsl Fract Scalars(1);
    Glsl Radians Scalars(1);
    Glsl Degrees Scalars(1);
    Glsl Sin Scalars(1);
    Glsl Cos Scalars(1);
    Glsl Tan Scalars(1);
    Glsl Asin Scalars(1);
    Glsl Acos Scalars(1);
    Glsl Atan Scalars(1);
    Glsl Sinh Scalars(1);
    Glsl Cosh Scalars(1);
    Glsl Tanh Scalars(1);
    Glsl Asinh Scalars(1);
    Glsl Acosh Scalars(1);
    Glsl Atanh Scalars(1);
    Glsl Atan2 Scalars(2);
    Glsl Pow Scalars(2);
    Glsl Exp Scalars(1);
    Glsl Log Scalars(1);
    Glsl Exp2 Scalars(1);
    Glsl Log2 Scalars(1);
    Glsl Sqrt Scalars(1);
    Glsl InverseSqrt Scalars(1);
    Glsl FMin Scalars(2);
    Glsl FMax Scalars(2);
    Glsl FClamp Scalars(3);
    Glsl NMin Scalars(2);
    Glsl NMax Scalars(2);
    Glsl NClamp Scalars(3);
    Glsl FMix Scalars(3);
    Glsl Step Scalars(2);
    Glsl SmoothStep Scalars(3);
    Glsl Fma Scalars(3);
    Glsl Ldexp Scalars(2);
    Glsl Length Vectors(1);
    Glsl Distance Vectors(2);
    Glsl Cross Vectors(2);
    Glsl Normalize Vectors(1);
    Glsl FaceForward Vectors(3);
    Glsl Reflect Vectors(2);
    Glsl Refract Refract;
}

pub fn subject(name: &str) -> &'static Subject {
    SUBJECTS.iter().find(|subject| subject.name == name).unwrap_or_else(|| panic!("no subject {name}"))
}

impl Subject {
    pub fn is_listed(&self) -> bool {
        matches!(self.name, "FNegate" | "FAdd" | "FSub" | "FMul" | "Transpose")
    }

    /// Whether the result is exact, or is rounded once from a number that 64 bits hold.
    pub fn is_exact(&self) -> bool {
        let names = [
            "FNegate",
            "FAdd",
            "FSub",
            "FMul",
            "VectorTimesScalar",
            "MatrixTimesScalar",
            "Transpose",
            "OuterProduct",
            "QuantizeToF16",
            "Ldexp",
        ];
        let rounded = [
            "Round",
            "RoundEven",
            "Trunc",
            "FAbs",
            "FSign",
            "Floor",
            "Ceil",
            "Fract",
            "FMin",
            "FMax",
            "FClamp",
            "NMin",
            "NMax",
            "NClamp",
            "Step",
        ];
        names.contains(&self.name) || rounded.contains(&self.name)
    }

    /// Draws operands from the corners and from random floats. Most are within the domain.
    pub fn draw(&self, random: &mut Random, corners: &[f32]) -> Vec<Arg> {
        let float = |random: &mut Random| match random.below(8) {
            0 => corners[random.below(corners.len())],
            1 if random.below(20) == 0 => f32::NAN,
            _ => random.operands("", 1)[0],
        };
        let floats = |random: &mut Random, n: usize| {
            // Components of one magnitude test more than components of any magnitude.
            let scale = (random.below(4) == 0).then(|| random.below(200) as i32 - 120);
            let near = |random: &mut Random| {
                let x = (random.below(1 << 24) as f32 + 1.0) / 16_777_216.0;
                let x = if random.below(2) == 0 { x } else { -x };
                scale.map_or(x, |scale| x * 2f32.powi(scale))
            };
            let is_near = random.below(4) > 0;
            (0..n).map(|_| if is_near { near(random) } else { float(random) }).collect::<Vec<f32>>()
        };
        let n = 2 + random.below(3);
        let columns = 2 + random.below(3);
        let n = if self.name == "Cross" { 3 } else { n };
        match self.shape {
            Shape::Scalars(arity) => {
                let mut args = random.operands(self.name, arity);
                if random.below(3) == 0 {
                    args = floats(random, arity);
                }
                if random.below(12) == 0 {
                    // Zeros and their neighbours.
                    let small = [0.0, -0.0, 1e-45, -1e-45, 1e-39, f32::MIN_POSITIVE, 1.0, -1.0];
                    args.iter_mut().for_each(|x| *x = small[random.below(8)]);
                }
                if random.below(40) == 0 {
                    args[0] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][random.below(3)];
                }
                match self.name {
                    "Asin" | "Acos" | "Atanh" if random.below(4) > 0 => args[0] = (f64::from(args[0]) % 1.0) as f32,
                    "Acosh" if random.below(4) > 0 => args[0] = args[0].abs() + 1.0,
                    "Exp" | "Exp2" | "Sinh" | "Cosh" | "Tanh" if random.below(2) == 0 => args[0] %= 150.0,
                    "Sin" | "Cos" | "Tan" if random.below(4) > 0 => args[0] %= std::f32::consts::PI,
                    "Log" | "Log2" if random.below(3) == 0 => args[0] = 0.4 + args[0].abs() % 2.0,
                    "Log" | "Log2" | "Sqrt" | "InverseSqrt" if random.below(8) > 0 => args[0] = args[0].abs(),
                    "FMod" | "FRem" if random.below(2) == 0 => args[0] = args[1] * (random.below(40) as f32 - 20.0),
                    "Round" | "RoundEven" if random.below(2) == 0 => args[0] = random.below(64) as f32 * 0.5 - 16.0,
                    "Pow" if random.below(2) == 0 => args = vec![args[0].abs() % 9.0, args[1] % 9.0],
                    "SmoothStep" if args[0] > args[1] => args.swap(0, 1),
                    "FClamp" | "NClamp" if args[1] > args[2] && random.below(16) > 0 => args.swap(1, 2),
                    "Ldexp" => args[1] = random.below(400) as f32 - 200.0,
                    _ => {}
                }
                args.into_iter().map(|x| (vec![x], 1)).collect()
            }
            Shape::Vectors(count) => (0..count).map(|_| (floats(random, n), 1)).collect(),
            Shape::VectorAndScalar => vec![(floats(random, n), 1), (floats(random, 1), 1)],
            Shape::MatrixAndScalar => vec![(floats(random, n * columns), columns), (floats(random, 1), 1)],
            Shape::VectorAndMatrix => vec![(floats(random, n), 1), (floats(random, n * columns), columns)],
            Shape::MatrixAndVector => vec![(floats(random, n * columns), columns), (floats(random, columns), 1)],
            Shape::Matrices => {
                let other = 2 + random.below(3);
                vec![(floats(random, n * columns), columns), (floats(random, columns * other), other)]
            }
            Shape::Matrix => vec![(floats(random, n * columns), columns)],
            Shape::Outer => vec![(floats(random, n), 1), (floats(random, columns), 1)],
            Shape::Refract => vec![(floats(random, n), 1), (floats(random, n), 1), (floats(random, 1), 1)],
        }
    }

    /// The result of the definite semantics. `None` if it has none.
    pub fn definite(&self, args: &[Arg]) -> Option<Vec<f32>> {
        if let Some(op) = Op::of(self.instruction) {
            let lanes: Vec<Vec<Lane>> = args.iter().map(|(x, _)| x.iter().map(|&x| Lane::exact(x)).collect()).collect();
            let tuples: Vec<Tuple<'_>> = lanes.iter().zip(args).map(|(lanes, (_, columns))| Tuple { lanes, columns: *columns }).collect();
            return Some(apply(op, &tuples).iter().map(|lane| lane.float()).collect());
        }
        let (x, y) = (&args[0].0, args.get(1).map(|y| &y.0));
        match self.name {
            "FaceForward" => Some(float::face_forward(x, y?, &args[2].0).to_vec()),
            "Refract" => Some(float::refract(x, y?, args[2].0[0]).to_vec()),
            "Ldexp" => Some(vec![float::ldexp(x[0], y?[0] as i64)?]),
            "OuterProduct" => Some(y?.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect()),
            _ => {
                let scalars: Vec<f32> = args.iter().map(|arg| arg.0[0]).collect();
                match float::other(self.instruction, &scalars)? {
                    Computed::Value(bits) => Some(vec![f32::from_bits(bits as u32)]),
                    _ => None,
                }
            }
        }
    }

    /// The result of one device in component `i`. `None` if it may be anything.
    pub fn simulated(&self, d: &mut Device<'_>, args: &[Arg], i: usize) -> Option<f32> {
        let at = |k: usize| args[k].0[if args[k].0.len() == 1 { 0 } else { i }];
        let wide = |k: usize| f64::from(at(k));
        let of = |k: usize| args[k].0.as_slice();
        match self.name {
            "FNegate" => {
                let x = d.operand(at(0))?;
                return d.result(-x);
            }
            "Transpose" => {
                let (matrix, columns) = &args[0];
                let rows = matrix.len() / columns;
                let x = d.operand(matrix[i % columns * rows + i / columns])?;
                return d.result(x);
            }
            "FAdd" => return d.add(at(0), at(1)),
            "FSub" => return d.sub(at(0), at(1)),
            "FMul" | "VectorTimesScalar" | "MatrixTimesScalar" => return d.mul(at(0), at(1)),
            "OuterProduct" => return d.mul(args[0].0[i % args[0].0.len()], args[1].0[i / args[0].0.len()]),
            "FDiv" => return d.div(at(0), at(1)),
            _ => {}
        }
        // The remaining instructions keep no special values.
        for x in args.iter().flat_map(|arg| &arg.0) {
            d.operand(*x)?;
        }
        match self.name {
            "Exp" | "Exp2" | "Log" | "Log2" | "InverseSqrt" | "Sin" | "Cos" | "Atan" | "Sqrt" => d.function(self.name, at(0)),
            "Atan2" => d.atan2(at(0), at(1)),
            "Round" | "RoundEven" | "Trunc" | "Floor" | "Ceil" | "FAbs" | "FSign" => {
                let x = d.operand(at(0))?;
                let up = d.coin();
                d.result(match self.name {
                    "Round" if (x - x.trunc()).abs() == 0.5 && up => x.ceil(),
                    "Round" if (x - x.trunc()).abs() == 0.5 => x.floor(),
                    "Round" | "RoundEven" => x.round_ties_even(),
                    "Trunc" => x.trunc(),
                    "Floor" => x.floor(),
                    "Ceil" => x.ceil(),
                    "FAbs" => x.abs(),
                    _ if x == 0.0 => 0.0,
                    _ => x.signum(),
                })
            }
            "Fract" => {
                let x = d.operand(at(0))?;
                // The operand is flushed once, if at all.
                let value = d.exact_difference(x, x.floor())?;
                if d.controls.wgsl { d.inherited(f64::from(x) - f64::from(x).floor(), value) } else { Some(value) }
            }
            "FMin" | "NMin" | "FMax" | "NMax" => {
                let (x, y) = (d.operand(at(0))?, d.operand(at(1))?);
                d.result(if matches!(self.name, "FMin" | "NMin") { x.min(y) } else { x.max(y) })
            }
            "FClamp" | "NClamp" => {
                let (x, low, high) = (d.operand(at(0))?, d.operand(at(1))?, d.operand(at(2))?);
                if low > high { None } else { d.result(x.max(low).min(high)) }
            }
            "Step" => {
                let (edge, x) = (d.operand(at(0))?, d.operand(at(1))?);
                d.result(if x < edge { 0.0 } else { 1.0 })
            }
            "Radians" | "Degrees" => {
                let exact = if self.name == "Radians" { std::f64::consts::PI / 180.0 } else { 180.0 / std::f64::consts::PI };
                let factor = d.constant(exact);
                let value = d.mul(at(0), factor)?;
                d.inherited(wide(0) * exact, value)
            }
            "FRem" | "FMod" => {
                let quotient = d.div(at(0), at(1))?;
                let whole = if self.name == "FRem" { quotient.trunc() } else { quotient.floor() };
                let value = d.product_sum(-at(1), whole, at(0))?;
                let remainder = wide(0) % wide(1);
                let exact = if self.name == "FMod" && remainder * wide(1) < 0.0 { remainder + wide(1) } else { remainder };
                d.inherited(exact, value)
            }
            "Tan" => {
                let (sin, cos) = (d.function("Sin", at(0))?, d.function("Cos", at(0))?);
                let value = d.div(sin, cos)?;
                d.inherited(wide(0).tan(), value)
            }
            "Asin" | "Acos" => {
                let radicand = d.product_sum(-at(0), at(0), 1.0)?;
                let root = d.function("Sqrt", radicand)?;
                let (value, exact) =
                    if self.name == "Asin" { (d.atan2(at(0), root)?, wide(0).asin()) } else { (d.atan2(root, at(0))?, wide(0).acos()) };
                d.inherited(exact, value)
            }
            "Sinh" | "Cosh" => {
                let value = d.hyperbolic(at(0), self.name == "Cosh")?;
                Some(value)
            }
            "Tanh" => {
                let (sinh, cosh) = (d.hyperbolic(at(0), false)?, d.hyperbolic(at(0), true)?);
                let value = d.div(sinh, cosh)?;
                d.inherited(wide(0).tanh(), value)
            }
            "Asinh" | "Acosh" => {
                let (unit, exact) = if self.name == "Asinh" { (1.0, wide(0).asinh()) } else { (-1.0, wide(0).acosh()) };
                let radicand = d.product_sum(at(0), at(0), unit)?;
                let root = d.function("Sqrt", radicand)?;
                let sum = d.add(at(0), root)?;
                let value = d.function("Log", sum)?;
                d.inherited(exact, value)
            }
            "Atanh" => {
                let (above, below) = (d.add(1.0, at(0))?, d.sub(1.0, at(0))?);
                let quotient = d.div(above, below)?;
                let logarithm = d.function("Log", quotient)?;
                let value = d.mul(logarithm, 0.5)?;
                d.inherited(wide(0).atanh(), value)
            }
            "Pow" => {
                let logarithm = d.function("Log2", at(0))?;
                let product = d.mul(at(1), logarithm)?;
                let value = d.function("Exp2", product)?;
                d.inherited(wide(0).powf(wide(1)), value)
            }
            "Fma" => {
                let value = d.product_sum(at(0), at(1), at(2))?;
                d.inherited(wide(0) * wide(1) + wide(2), value)
            }
            "Ldexp" => {
                let (x, exponent) = (d.operand(at(0))?, at(1) as i32);
                if exponent > 128 {
                    return None;
                }
                let exact = f64::from(x) * 2f64.powi(exponent);
                d.exact(exact, exact as f32)
            }
            // Rounds to a neighbour among the multiples of 2^-10 times the number's power of two,
            // or of 2^-24.
            "QuantizeToF16" => {
                let x = f64::from(d.operand(at(0))?);
                if x.abs() > 65504.0 {
                    return None;
                }
                let unit = if x.abs() < 2f64.powi(-14) { 2f64.powi(-24) } else { 2f64.powi(x.abs().log2().floor() as i32 - 10) };
                let rounded = if d.coin() { (x / unit).floor() } else { (x / unit).ceil() } * unit;
                let flushes = x.abs() < 2f64.powi(-14) && d.coin();
                d.result(if flushes { 0.0 } else { rounded as f32 })
            }
            "FMix" => {
                let (x, y, a) = (at(0), at(1), at(2));
                let value = match d.random.below(3) {
                    0 => {
                        let rest = d.sub(1.0, a)?;
                        d.sum(vec![Term::Product(x, rest), Term::Product(y, a)])
                    }
                    1 => d.sum(vec![Term::Value(x), Term::Product(-x, a), Term::Product(y, a)]),
                    _ => {
                        let difference = d.sub(y, x)?;
                        d.product_sum(difference, a, x)
                    }
                }?;
                d.inherited(wide(0) - wide(0) * wide(2) + wide(1) * wide(2), value)
            }
            "SmoothStep" => {
                let (e0, e1, x) = (at(0), at(1), at(2));
                if e0 >= e1 {
                    return None;
                }
                let (above, below) = (d.sub(x, e0)?, d.sub(e1, e0)?);
                let t = d.div(above, below)?.clamp(0.0, 1.0);
                let rest = d.product_sum(-2.0, t, 3.0)?;
                match d.random.below(3) {
                    0 => {
                        let square = d.mul(t, t)?;
                        d.mul(square, rest)
                    }
                    1 => {
                        let right = d.mul(t, rest)?;
                        d.mul(t, right)
                    }
                    _ => {
                        let square = d.mul(t, t)?;
                        let twice = d.mul(2.0, t)?;
                        let cube = d.mul(square, twice)?;
                        d.product_sum(3.0, square, -cube)
                    }
                }
            }
            "Dot" => d.dot(&pairs(of(0), of(1))),
            "VectorTimesMatrix" => {
                let rows = of(0).len();
                d.dot(&pairs(of(0), &of(1)[i * rows..][..rows]))
            }
            "MatrixTimesVector" | "MatrixTimesMatrix" => {
                let columns = args[0].1;
                let rows = of(0).len() / columns;
                let row: Vec<f32> = of(0).iter().copied().skip(i % rows).step_by(rows).collect();
                d.dot(&pairs(&row, &of(1)[i / rows * columns..][..columns]))
            }
            "Cross" => {
                let (j, k) = [(1, 2), (2, 0), (0, 1)][i];
                let (x, y) = (of(0), of(1));
                let value = d.sum(vec![Term::Product(x[j], y[k]), Term::Product(-y[j], x[k])])?;
                d.inherited(f64::from(x[j]) * f64::from(y[k]) - f64::from(y[j]) * f64::from(x[k]), value)
            }
            "Length" => d.length(of(0)),
            "Distance" => {
                let differences: Option<Vec<f32>> = of(0).iter().zip(of(1)).map(|(&x, &y)| d.sub(x, y)).collect();
                let value = d.length(&differences?)?;
                let exact: f64 = of(0).iter().zip(of(1)).map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum();
                d.inherited(exact.sqrt(), value)
            }
            "Normalize" => {
                let square = d.dot(&pairs(of(0), of(0)))?;
                let value = if d.controls.wgsl {
                    let root = d.function("Sqrt", square)?;
                    d.div(at(0), root)?
                } else {
                    let root = d.function("InverseSqrt", square)?;
                    d.mul(at(0), root)?
                };
                let exact: f64 = of(0).iter().map(|&x| f64::from(x).powi(2)).sum();
                d.inherited(wide(0) / exact.sqrt(), value)
            }
            // k and the sum are computed as the formulas are written, fused or not.
            "Refract" => {
                let eta = args[2].0[0];
                let dot = d.dot(&pairs(of(1), of(0)))?;
                let rest = d.product_sum(-dot, dot, 1.0)?;
                let square = d.mul(eta, eta)?;
                let k = if d.coin() {
                    d.product_sum(-square, rest, 1.0)?
                } else {
                    let once = d.mul(eta, rest)?;
                    d.product_sum(-eta, once, 1.0)?
                };
                if k < 0.0 {
                    return d.result(0.0);
                }
                let root = d.function("Sqrt", k)?;
                let factor = d.product_sum(eta, dot, root)?;
                d.sum(vec![Term::Product(eta, at(0)), Term::Product(-factor, at(1))])
            }
            "FaceForward" => {
                let dot = d.dot(&pairs(of(2), of(1)))?;
                let n = d.operand(at(0))?;
                d.result(if dot < 0.0 { n } else { -n })
            }
            "Reflect" => {
                let dot = d.dot(&pairs(of(1), of(0)))?;
                let (twice, n) = if d.coin() { (d.mul(-2.0, dot)?, at(1)) } else { (dot, d.mul(-2.0, at(1))?) };
                let value = d.product_sum(twice, n, at(0))?;
                let exact: f64 = of(0).iter().zip(of(1)).map(|(&i, &n)| f64::from(i) * f64::from(n)).sum();
                d.inherited(wide(0) - 2.0 * exact * wide(1), value)
            }
            name => panic!("{name} is not simulated"),
        }
    }
}

fn pairs(x: &[f32], y: &[f32]) -> Vec<(f32, f32)> {
    x.iter().copied().zip(y.iter().copied()).collect()
}

impl Device<'_> {
    fn constant(&mut self, near: f64) -> f32 {
        let nearest = near as f32;
        let (down, up) = if f64::from(nearest) > near { (nearest.next_down(), nearest) } else { (nearest, nearest.next_up()) };
        self.choose(down, nearest, up, true)
    }

    fn hyperbolic(&mut self, x: f32, plus: bool) -> Option<f32> {
        let (rising, falling) = (self.function("Exp", x)?, self.function("Exp", -x)?);
        let sum = if plus { self.add(rising, falling)? } else { self.sub(rising, falling)? };
        let value = self.mul(sum, 0.5)?;
        let wide = f64::from(x);
        self.inherited(if plus { wide.cosh() } else { wide.sinh() }, value)
    }

    fn length(&mut self, x: &[f32]) -> Option<f32> {
        let square = self.dot(&pairs(x, x))?;
        let value = self.function("Sqrt", square)?;
        let exact: f64 = x.iter().map(|&x| f64::from(x).powi(2)).sum();
        self.inherited(exact.sqrt(), value)
    }
}

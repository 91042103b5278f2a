//! Values without trust: from the bits of the operands to the components of the result.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;

use super::{Operation, Scalar, Shape, Signature, Signs};
use crate::number::float::{self, Reals};
use crate::number::{Computed, Environment, Half, Instruction, Real, integer, pack};
use crate::undefined::Unspecified;

/// An operand: its shape and the bits of its components, column after column.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    /// The shape; of what has no components of its own, [`Shape::OTHER`].
    pub shape: Shape,
    /// The components' bits.
    pub bits: &'a [u64],
}

/// The components of a result; of a structure, member after member.
pub type Components = SmallVec<[Computed; 4]>;

/// Runs the body with `$real` as the type of floats of that width.
macro_rules! in_format {
    ($width:expr, $real:ident => $body:expr) => {
        match $width {
            16 => {
                type $real = Half;
                $body
            }
            64 => {
                type $real = f64;
                $body
            }
            _ => {
                type $real = f32;
                $body
            }
        }
    };
}
pub(super) use in_format;

/// The floats of an operand.
pub(super) fn reals<R: Real>(bits: &[u64]) -> Reals<R> {
    bits.iter().map(|&bits| R::of_bits(bits)).collect()
}

/// Computes the instruction on operands of fitting shapes, which is for the caller to check;
/// `results` are the shapes of the result, or of the members of a result that is a structure. Of
/// Modf and Frexp, which write through a pointer, `args` is only x, and what is written comes after
/// the result. `None` for instructions that do not compute by themselves. No bits make this panic.
pub fn pure(operation: Operation, args: &[Bits<'_>], results: &[Shape], environment: Environment) -> Option<Components> {
    let (first, result) = (args.first()?, *results.first()?);
    if operation.instruction == Instruction::Core(Core::Select as u16) {
        return Some(selected(args[0].bits, args.get(1)?.bits, args.get(2)?.bits));
    }
    let from = first.shape.scalar;
    let lanes = result.lanes();
    // Component i of the operands; a scalar stands for every component.
    let at = |i: usize| -> SmallVec<[u64; 4]> { args.iter().map(|a| a.bits[if a.bits.len() == 1 { 0 } else { i }]).collect() };
    let each = |f: &dyn Fn(&[u64]) -> Option<Computed>| -> Option<Components> { (0..lanes).map(|i| f(&at(i))).collect() };
    match (operation.instruction, from) {
        (Instruction::Core(opcode), _) => {
            let op = Core::from_u32(opcode.into())?;
            match (op, from) {
                (Core::Bitcast, _) => Some(values(pack::bitcast(from.width(), result.scalar.width(), first.bits))),
                (Core::IAddCarry | Core::ISubBorrow | Core::UMulExtended | Core::SMulExtended, _) => {
                    let pairs: Option<SmallVec<[[u64; 2]; 4]>> =
                        (0..lanes).map(|i| integer::pair(op, from.width(), first.bits[i], args.get(1)?.bits[i])).collect();
                    Some(members(&pairs?))
                }
                (Core::SDot | Core::UDot | Core::SUDot | Core::SDotAccSat | Core::UDotAccSat | Core::SUDotAccSat, _) => {
                    let Signature::IntegerDot(signs, _) = operation.signature else { return None };
                    let sum = dot(signs, result.scalar.width(), first, args.get(1)?, args.get(2).map(|a| a.bits[0]));
                    Some(Components::from_slice(&[sum]))
                }
                (Core::UConvert, _) => each(&|x| Some(Computed::Value(x[0] & integer::mask(result.scalar.width())))),
                (Core::SConvert, _) => {
                    let sign_extended = |x: &[u64]| integer::signed(from.width(), x[0]) as u64 & integer::mask(result.scalar.width());
                    each(&|x| Some(Computed::Value(sign_extended(x))))
                }
                (Core::ConvertSToF | Core::ConvertUToF, _) => {
                    let is_signed = op == Core::ConvertSToF;
                    in_format!(result.scalar.width(), R => each(&|x| {
                        Some(Computed::Value(float::of_integer::<R>(x[0], from.width(), is_signed).bits()))
                    }))
                }
                (Core::ConvertFToS | Core::ConvertFToU, _) => in_format!(from.width(), R => each(&|x| {
                    Some(float::to_integer(R::of_bits(x[0]), result.scalar.width(), op == Core::ConvertFToS))
                })),
                (Core::FConvert, _) => in_format!(from.width(), R => each(&|x| {
                    let wide = R::of_bits(x[0]).wide();
                    Some(Computed::Value(in_format!(result.scalar.width(), S => S::of(wide).bits())))
                })),
                (_, Scalar::Int { width, .. }) => each(&|x| integer::core(op, width, x, environment)),
                (_, Scalar::Bool) => logical(op, args, lanes),
                (Core::OuterProduct, _) => in_format!(from.width(), R => {
                    let (x, y) = (reals::<R>(first.bits), reals::<R>(args.get(1)?.bits));
                    let products = y.iter().flat_map(|&y| x.iter().map(move |&x| Computed::Value((x * y).canonical().bits())));
                    Some(products.collect())
                }),
                (_, Scalar::Float { width }) => in_format!(width, R => real::<R>(operation, args, lanes)),
                _ => None,
            }
        }
        (Instruction::Glsl(number), _) => {
            let op = Glsl::from_u32(number)?;
            match (op, from) {
                (Glsl::ModfStruct | Glsl::Modf, _) => in_format!(from.width(), R => {
                    let pairs: SmallVec<[[u64; 2]; 4]> =
                        first.bits.iter().map(|&x| float::modf(R::of_bits(x)).map(R::bits)).collect();
                    Some(members(&pairs))
                }),
                (Glsl::FrexpStruct | Glsl::Frexp, _) => in_format!(from.width(), R => {
                    let pairs: SmallVec<[Option<[u64; 2]>; 4]> = first
                        .bits
                        .iter()
                        .map(|&x| float::frexp(R::of_bits(x)).map(|(x, exponent)| [x.bits(), u64::from(exponent as u32)]))
                        .collect();
                    let part = |member: usize| {
                        let special = Computed::Undefined(Unspecified::FrexpSpecial);
                        pairs.iter().map(move |pair| pair.map_or(special, |pair| Computed::Value(pair[member])))
                    };
                    Some(part(0).chain(part(1)).collect())
                }),
                (Glsl::Ldexp, _) => {
                    let exponent_width = args.get(1)?.shape.scalar.width();
                    in_format!(from.width(), R => each(&|x| {
                        let scaled = float::ldexp(R::of_bits(x[0]), integer::signed(exponent_width, x[1]));
                        Some(scaled.map_or(Computed::Undefined(Unspecified::LdexpRange), |x| Computed::Value(x.bits())))
                    }))
                }
                (Glsl::FaceForward, _) => in_format!(from.width(), R => {
                    let [n, i, reference] = [0, 1, 2].map(|a| args.get(a).map_or_else(Reals::new, |a| reals::<R>(a.bits)));
                    Some(values(float::face_forward(&n, &i, &reference).iter().map(|x| x.bits()).collect()))
                }),
                (Glsl::Refract, _) => in_format!(from.width(), R => {
                    let (i, n) = (reals::<R>(first.bits), reals::<R>(args.get(1)?.bits));
                    Some(values(float::refract(&i, &n, R::of_bits(args.get(2)?.bits[0])).iter().map(|x| x.bits()).collect()))
                }),
                _ => match (pack::packed(op, first.bits), from) {
                    (Some(packed), _) => Some(values(packed)),
                    (None, Scalar::Int { width, .. }) => each(&|x| integer::glsl(op, width, x)),
                    (None, Scalar::Float { width }) => in_format!(width, R => real::<R>(operation, args, lanes)),
                    _ => None,
                },
            }
        }
    }
}

/// All of these are values.
fn values(bits: SmallVec<[u64; 4]>) -> Components {
    bits.into_iter().map(Computed::Value).collect()
}

/// The product of two integer vectors, added to an accumulator if there is one (SPIR-V §3.3.13,
/// OpSDot to OpSUDotAccSat).
fn dot(signs: Signs, width: u8, a: &Bits<'_>, b: &Bits<'_>, accumulator: Option<u64>) -> Computed {
    let components = |of: &Bits<'_>, is_signed: bool| -> SmallVec<[i128; 4]> {
        let (bits, width): (SmallVec<[u64; 4]>, u8) = match Signature::is_packed(of.shape) {
            // The least significant byte is component 0.
            true => ((0..4).map(|k| of.bits[0] >> (8 * k) & 0xff).collect(), 8),
            false => (of.bits.iter().copied().collect(), of.shape.scalar.width()),
        };
        bits.into_iter().map(|bits| if is_signed { integer::signed(width, bits).into() } else { bits.into() }).collect()
    };
    let (a, b) = (components(a, signs != Signs::Unsigned), components(b, signs == Signs::Signed));
    integer::dot(width, signs != Signs::Unsigned, &a, &b, accumulator)
}

/// First the first of each, then the second.
fn members(pairs: &[[u64; 2]]) -> Components {
    [0, 1].iter().flat_map(|&member| pairs.iter().map(move |pair| Computed::Value(pair[member]))).collect()
}

/// OpSelect: with one condition the whole object, otherwise component by component.
fn selected(conditions: &[u64], on_true: &[u64], on_false: &[u64]) -> Components {
    let condition = |i: usize| conditions[if conditions.len() == 1 { 0 } else { i }] != 0;
    on_true.iter().zip(on_false).enumerate().map(|(i, (&a, &b))| Computed::Value(if condition(i) { a } else { b })).collect()
}

/// The logical instructions.
fn logical(op: Core, args: &[Bits<'_>], lanes: usize) -> Option<Components> {
    let x = args[0].bits;
    let truth = |i: usize, a: usize| args.get(a).is_some_and(|a| a.bits[i] != 0);
    let each = |f: &dyn Fn(bool, bool) -> bool| Some((0..lanes).map(|i| f(truth(i, 0), truth(i, 1)).into()).collect());
    match op {
        Core::LogicalEqual => each(&|a, b| a == b),
        Core::LogicalNotEqual => each(&|a, b| a != b),
        Core::LogicalAnd => each(&|a, b| a && b),
        Core::LogicalOr => each(&|a, b| a || b),
        Core::LogicalNot => each(&|a, _| !a),
        Core::Any => Some(SmallVec::from_slice(&[x.iter().any(|&x| x != 0).into()])),
        Core::All => Some(SmallVec::from_slice(&[x.iter().all(|&x| x != 0).into()])),
        _ => None,
    }
}

/// What computes on floats alone: on vectors and matrices as a whole, or on each component.
fn real<R: Real>(operation: Operation, args: &[Bits<'_>], lanes: usize) -> Option<Components> {
    let operands: SmallVec<[Reals<R>; 3]> = args.iter().map(|a| reals::<R>(a.bits)).collect();
    if let Some(op) = operation.op {
        let shaped: SmallVec<[(&[R], usize); 3]> =
            operands.iter().zip(args).map(|(reals, a)| (reals.as_slice(), a.shape.columns as usize)).collect();
        if let Some(components) = float::whole(op, &shaped) {
            return Some(components);
        }
    }
    (0..lanes)
        .map(|i| {
            let at: SmallVec<[R; 3]> = operands.iter().map(|a| a[i]).collect();
            match operation.op {
                Some(op) => float::component(op, &at),
                None => float::other(operation.instruction, &at),
            }
        })
        .collect()
}

//! Values without trust: computes the components of a result from the bits of the operands.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;

use super::{Opcode, Operation, Scalar, Shape, Signature, Signs};
use crate::number::float::{self, Reals};
use crate::number::{Computed, Environment, Half, Real, integer, pack};
use crate::undefined::Unspecified;

/// An operand: its shape and the bits of its components, column by column.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    /// The shape. [`Shape::OTHER`] if it has no components of its own.
    pub shape: Shape,
    /// The bits of the components.
    pub bits: &'a [u64],
}

/// The components of a result. Those of a structure come member by member.
pub type Components = SmallVec<[Computed; 4]>;

/// Evaluates the body with `$real` as the float type of that width.
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

/// Computes an instruction. The caller ensures that the shapes of the operands fit. `results` is
/// the shape of the result. For a result that is a structure, it holds the shapes of its members.
/// Modf and Frexp write through a pointer. For these, `args` is only x, and the written value
/// comes after the result. `None` for instructions that do not compute by themselves. No bits
/// make this panic.
pub fn pure(operation: Operation, args: &[Bits<'_>], results: &[Shape], environment: Environment) -> Option<Components> {
    let result = *results.first()?;
    if operation.opcode == Opcode::Core(Core::Select) {
        return Some(select(args[0].bits, args.get(1)?.bits, args.get(2)?.bits));
    }
    if let Some(components) = whole(operation, args, results) {
        return Some(components);
    }
    let scalars: SmallVec<[Scalar; 4]> = args.iter().map(|a| a.shape.scalar).collect();
    let component_at = |i: usize| {
        // A scalar operand applies to every component.
        let bits: SmallVec<[u64; 4]> = args.iter().map(|a| a.bits[if a.bits.len() == 1 { 0 } else { i }]).collect();
        component(operation, &scalars, result.scalar, &bits, environment)
    };
    (0..result.lanes()).map(component_at).collect()
}

/// Computes an operation that takes its operands as a whole, even if each has one component. `None`
/// if the operation is computed component by component.
fn whole(operation: Operation, args: &[Bits<'_>], results: &[Shape]) -> Option<Components> {
    let (first, result) = (args.first()?, *results.first()?);
    let from = first.shape.scalar;
    match operation.opcode {
        Opcode::Core(op) => match (op, from) {
            (Core::Bitcast, _) => Some(values(pack::bitcast(from.width(), result.scalar.width(), first.bits))),
            (Core::IAddCarry | Core::ISubBorrow | Core::UMulExtended | Core::SMulExtended, _) => {
                let mut pairs: SmallVec<[[u64; 2]; 4]> = SmallVec::new();
                for (&x, &y) in first.bits.iter().zip(args.get(1)?.bits) {
                    pairs.push(integer::pair(op, from.width(), x, y)?);
                }
                Some(members(&pairs))
            }
            (Core::SDot | Core::UDot | Core::SUDot | Core::SDotAccSat | Core::UDotAccSat | Core::SUDotAccSat, _) => {
                let Signature::IntegerDot(signs, _) = operation.signature else { return None };
                let sum = dot(signs, result.scalar.width(), first, args.get(1)?, args.get(2).map(|a| a.bits[0]));
                Some(Components::from_slice(&[sum]))
            }
            (Core::Any | Core::All, Scalar::Bool) => Some(Components::from_slice(&[logical(op, first.bits)?])),
            (Core::OuterProduct, _) => in_format!(from.width(), R => {
                let (x, y) = (reals::<R>(first.bits), reals::<R>(args.get(1)?.bits));
                let products = y.iter().flat_map(|&y| x.iter().map(move |&x| Computed::Value((x * y).canonical().bits())));
                Some(products.collect())
            }),
            (_, Scalar::Float { width }) => in_format!(width, R => tuples::<R>(operation, args)),
            _ => None,
        },
        Opcode::Glsl(op) => match op {
            Glsl::ModfStruct | Glsl::Modf => in_format!(from.width(), R => {
                let pairs: SmallVec<[[u64; 2]; 4]> =
                    first.bits.iter().map(|&x| float::modf(R::of_bits(x)).map(R::bits)).collect();
                Some(members(&pairs))
            }),
            Glsl::FrexpStruct | Glsl::Frexp => in_format!(from.width(), R => {
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
            Glsl::FaceForward => in_format!(from.width(), R => {
                let [n, i, reference] = [0, 1, 2].map(|a| args.get(a).map_or_else(Reals::new, |a| reals::<R>(a.bits)));
                Some(values(float::face_forward(&n, &i, &reference).iter().map(|x| x.bits()).collect()))
            }),
            Glsl::Refract => in_format!(from.width(), R => {
                let (i, n) = (reals::<R>(first.bits), reals::<R>(args.get(1)?.bits));
                Some(values(float::refract(&i, &n, R::of_bits(args.get(2)?.bits[0])).iter().map(|x| x.bits()).collect()))
            }),
            _ => match (pack::packed(op, first.bits), from) {
                (Some(packed), _) => Some(values(packed)),
                (None, Scalar::Float { width }) => in_format!(width, R => tuples::<R>(operation, args)),
                _ => None,
            },
        },
    }
}

/// Computes one component of a componentwise operation ([`Operation::is_componentwise`]), from the
/// operands' scalar types and bits and the result's type. Also computes OpAny and OpAll from the
/// components of their operand. `None` for other operations. No bits make this panic.
pub fn component(operation: Operation, from: &[Scalar], to: Scalar, bits: &[u64], environment: Environment) -> Option<Computed> {
    let (first, &x) = (*from.first()?, bits.first()?);
    match operation.opcode {
        Opcode::Core(op) => match (op, first) {
            (Core::UConvert, _) => Some(Computed::Value(x & integer::mask(to.width()))),
            (Core::SConvert, _) => Some(Computed::Value(integer::signed(first.width(), x) as u64 & integer::mask(to.width()))),
            (Core::ConvertSToF | Core::ConvertUToF, _) => in_format!(to.width(), R => {
                Some(Computed::Value(float::of_integer::<R>(x, first.width(), op == Core::ConvertSToF).bits()))
            }),
            (Core::ConvertFToS | Core::ConvertFToU, _) => in_format!(first.width(), R => {
                Some(float::to_integer(R::of_bits(x), to.width(), op == Core::ConvertFToS))
            }),
            (Core::FConvert, _) => in_format!(first.width(), R => {
                let wide = R::of_bits(x).wide();
                Some(Computed::Value(in_format!(to.width(), S => S::of(wide).bits())))
            }),
            (_, Scalar::Int { width, .. }) => integer::core(op, width, bits, environment),
            (_, Scalar::Bool) => logical(op, bits),
            (_, Scalar::Float { width }) => in_format!(width, R => real::<R>(operation, bits)),
            _ => None,
        },
        Opcode::Glsl(op) => match (op, first) {
            (Glsl::Ldexp, _) => in_format!(first.width(), R => {
                let scaled = float::ldexp(R::of_bits(x), integer::signed(from.get(1)?.width(), *bits.get(1)?));
                Some(scaled.map_or(Computed::Undefined(Unspecified::LdexpRange), |x| Computed::Value(x.bits())))
            }),
            (op, Scalar::Int { width, .. }) => integer::glsl(op, width, bits),
            (_, Scalar::Float { width }) => in_format!(width, R => real::<R>(operation, bits)),
            _ => None,
        },
    }
}

/// Computes one component of an instruction with two results, such as OpIAddCarry, on integers of
/// that width. `None` for other operations.
pub fn pair(operation: Operation, width: u8, x: u64, y: u64) -> Option<[u64; 2]> {
    match operation.opcode {
        Opcode::Core(op) => integer::pair(op, width, x, y),
        Opcode::Glsl(_) => None,
    }
}

/// Wraps bits that are all defined values.
fn values(bits: SmallVec<[u64; 4]>) -> Components {
    bits.into_iter().map(Computed::Value).collect()
}

/// The product of two integer vectors, added to an accumulator if there is one (SPIR-V §3.3.13,
/// OpSDot to OpSUDotAccSat).
fn dot(signs: Signs, width: u8, a: &Bits<'_>, b: &Bits<'_>, accumulator: Option<u64>) -> Computed {
    let components = |operand: &Bits<'_>, is_signed: bool| -> SmallVec<[i128; 4]> {
        let (bits, width): (SmallVec<[u64; 4]>, u8) = match Signature::is_packed(operand.shape) {
            // The least significant byte is component 0.
            true => ((0..4).map(|k| operand.bits[0] >> (8 * k) & 0xff).collect(), 8),
            false => (operand.bits.iter().copied().collect(), operand.shape.scalar.width()),
        };
        bits.into_iter().map(|bits| if is_signed { integer::signed(width, bits).into() } else { bits.into() }).collect()
    };
    let (a, b) = (components(a, signs != Signs::Unsigned), components(b, signs == Signs::Signed));
    integer::dot(width, signs != Signs::Unsigned, &a, &b, accumulator)
}

/// The first member of every pair, then the second member of every pair.
fn members(pairs: &[[u64; 2]]) -> Components {
    [0, 1].iter().flat_map(|&member| pairs.iter().map(move |pair| Computed::Value(pair[member]))).collect()
}

/// OpSelect. One condition selects the whole object; several select component by component.
fn select(conditions: &[u64], on_true: &[u64], on_false: &[u64]) -> Components {
    let condition = |i: usize| conditions[if conditions.len() == 1 { 0 } else { i }] != 0;
    on_true.iter().zip(on_false).enumerate().map(|(i, (&a, &b))| Computed::Value(if condition(i) { a } else { b })).collect()
}

/// The logical instructions on one component, and OpAny and OpAll on all components.
fn logical(op: Core, bits: &[u64]) -> Option<Computed> {
    let is_true = |&bits: &u64| bits != 0;
    let truth = |a: usize| bits.get(a).is_some_and(is_true);
    let (a, b) = (truth(0), truth(1));
    Some(Computed::from(match op {
        Core::LogicalEqual => a == b,
        Core::LogicalNotEqual => a != b,
        Core::LogicalAnd => a && b,
        Core::LogicalOr => a || b,
        Core::LogicalNot => !a,
        Core::Any => bits.iter().any(is_true),
        Core::All => bits.iter().all(is_true),
        _ => return None,
    }))
}

/// The operations that take vectors or matrices of floats as a whole.
fn tuples<R: Real>(operation: Operation, args: &[Bits<'_>]) -> Option<Components> {
    let operands: SmallVec<[Reals<R>; 3]> = args.iter().map(|a| reals::<R>(a.bits)).collect();
    let shaped: SmallVec<[(&[R], usize); 3]> =
        operands.iter().zip(args).map(|(reals, a)| (reals.as_slice(), a.shape.columns as usize)).collect();
    float::whole(operation.op?, &shaped)
}

/// One component of an operation on floats only.
fn real<R: Real>(operation: Operation, bits: &[u64]) -> Option<Computed> {
    let at = |i: usize| R::of_bits(bits.get(i).copied().unwrap_or(0));
    let all = [at(0), at(1), at(2)];
    let args = all.get(..bits.len())?;
    let Some(op) = operation.op else { return float::other(operation.instruction, args) };
    // Operations made of products and sums work on vectors of any length, so also on length 1.
    let vectors = || args.chunks(1).map(|x| (x, 1)).collect::<SmallVec<[(&[R], usize); 3]>>();
    float::component(op, args).or_else(|| float::whole(op, &vectors())?.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::operation::all;

    /// If a signature is componentwise, each component is the result of the instruction on scalars.
    #[test]
    fn components_are_computed_as_scalars_are() {
        let types = [16, 32, 64].map(|width| Scalar::Float { width });
        let integers = [8, 16, 32, 64].map(|width| Scalar::Int { width, signed: false });
        let mut compared = 0;
        for operation in all().filter(|operation| operation.is_componentwise()) {
            let mut computes = false;
            for &first in types.iter().chain(&integers).chain(&[Scalar::Bool]) {
                for &to in types.iter().chain(&integers).chain(&[Scalar::Bool]) {
                    let from: SmallVec<[Scalar; 4]> = (0..operation.signature.arity()).map(|_| first).collect();
                    for bits in [[0, 1, 2, 3], [1, 0, 1, 0], [0x4049_0fdb, 7, 0x3f80_0000, 5], [u64::MAX, 3, 8, 4]] {
                        let operand_bits: SmallVec<[u64; 4]> =
                            from.iter().zip(bits).map(|(s, bits)| bits & integer::mask(s.width().max(1))).collect();
                        let shape = |scalar: Scalar| Shape::vector(scalar, 1);
                        let args: SmallVec<[Bits<'_>; 4]> =
                            operand_bits.chunks(1).zip(&from).map(|(bits, &of)| Bits { shape: shape(of), bits }).collect();
                        let single = component(operation, &from, to, &operand_bits, Environment::default());
                        let all = pure(operation, &args, &[shape(to)], Environment::default());
                        assert_eq!(all.map(|all| all[0]), single, "{} of {first:?}", operation.name());
                        computes |= single.is_some();
                        compared += 1;
                    }
                }
            }
            assert!(computes, "{} computes nothing", operation.name());
        }
        assert!(compared > 10_000, "{compared}");
    }
}

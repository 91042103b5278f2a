//! The possible results of each instruction for operands that are sets: Vulkan's "Precision and
//! Operation of SPIR-V Instructions", and WGSL's "Floating Point Evaluation".
//!
//! | module | contents |
//! |---|---|
//! | `bounds` | intervals of real numbers |
//! | `core` | rounding, ULP, subnormals, zeros and infinities; OpFNegate, OpFAdd, OpFMul, OpFDiv |
//! | `range` | the range of a function's exact result over intervals |
//! | `exact` | exact functions: whole numbers, minima, Fract, Modf, Frexp; OpQuantizeToF16 |
//! | `glsl` | GLSL.std.450 with an error in ULP, or an absolute one |
//! | `matrices` | Determinant and MatrixInverse, for which no clause gives a bound |
//! | `value`, `inherited`, `vectors` | results whose accuracy is that of a formula |
//! | `compare` | comparisons, and the sets of their operands once the result is known |
//! | `certain` | functions of one float, judged without their sets where that is certain |
//!
//! # Where any value is allowed
//! Under every profile any value is allowed in these cases (Vulkan, "Precision and Operation of
//! SPIR-V Instructions"):
//! - *Infinities and NaN in functions of GLSL.std.450, quotients, remainders and formulas*, as
//!   operands or results. An implementation may assume that neither occurs.
//!   SignedZeroInfNanPreserve forbids that for the core instructions on its list only (`core`), and
//!   no extended instruction is on it. This includes FMin, FMax, FClamp, NMin, NMax and NClamp of a
//!   NaN. GLSL.std.450 says that FMin and FMax of one NaN are either operand, and NMin and NMax the
//!   other one. That binds where NotNaN may not be assumed. Only FPFastMathDefault declares this
//!   (SPV_KHR_float_controls2), and no profile here does. For the same reason a zero operand or
//!   result of these instructions has either sign.
//! - *A quotient by zero*: the 2.5 ULP that are stated for it are those of an infinity, and OpFDiv
//!   is not on the list. Nothing is stated for a divisor beyond 2^126.
//! - *Sqrt(±0)*: inherited from 1/inversesqrt(x), where inversesqrt(0) is infinite. Even if that
//!   infinity were kept, the quotient by it would have no bound. The same holds for functions that
//!   are built on Sqrt: Length of zeros, Distance of equal points, Asin and Acos of ±1, Acosh(1).
//! - *Outside of a domain*, and for FClamp, NClamp and SmoothStep with exchanged bounds: undefined
//!   in GLSL.std.450.
//!
//! Determinant and MatrixInverse have no bound by any clause; `matrices` states what is assumed.
//!
//! # Where the sets are wider than necessary
//! - Over intervals, formulas are bounded operand by operand, as if the operands
//!   varied independently.

mod bounds;
mod certain;
mod compare;
mod core;
mod exact;
mod glsl;
mod inherited;
mod matrices;
mod range;
mod value;
mod vectors;

pub use certain::{Certain, Certainty};
pub use compare::{compared, compared_by_difference, narrowed};

use super::{CellId, Format, Set, Span};
use crate::number::{Instruction, Profile};
use core::Rules;
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use smallvec::SmallVec;
use vectors::Component;

/// A component of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// The possible values.
    pub set: Set,
    /// Its dynamic result id, if it is not decided. Equal ids mean equal values.
    pub id: Option<CellId>,
}

/// The possible results of a comparison. At least one of the two is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Whether it may be true.
    pub may_hold: bool,
    /// Whether it may be false.
    pub may_fail: bool,
}

impl Truth {
    /// Either result is possible.
    pub const BOTH: Truth = Truth { may_hold: true, may_fail: true };
}

/// The sets of an instruction's components.
type Sets = SmallVec<[Set; 4]>;

/// The values that a conforming device may have in each component of a 32-bit result. Each operand
/// has its components, column after column, and its number of columns. The caller checks the
/// shapes. `None` if there is no rule, so that any value is allowed.
///
/// Modf, Frexp and their Struct forms have the components of both results, one after the other,
/// with exponents as numbers. The operands of a derivative are the two values of a quad whose
/// difference is taken: the first less the second. OpFwidth and similar instructions are sums
/// of magnitudes.
///
/// Without NoContraction an implementation may combine a result with others, so no rule of a single
/// instruction bounds it: `None`.
pub fn allowed(profile: Profile, instruction: Instruction, args: &[(&[Operand], usize)]) -> Option<SmallVec<[Set; 4]>> {
    profile.controls().no_contraction.then(|| allowed_alone(profile, instruction, args)).flatten()
}

/// [`allowed`] for an instruction that cannot be combined with others: its operands are read from
/// memory, and its results are written to memory.
pub fn allowed_alone(profile: Profile, instruction: Instruction, args: &[(&[Operand], usize)]) -> Option<SmallVec<[Set; 4]>> {
    allowed_in(Format::Single, profile, instruction, args)
}

/// [`allowed_alone`] for floats of any format. The sets of operands and results contain floats of
/// that format, and what the profile declares is declared for it.
///
/// WGSL's bounds are known here for 32 bits. For 16 bits, only those of exact and correctly rounded
/// results are known.
pub fn allowed_in(format: Format, profile: Profile, instruction: Instruction, args: &[(&[Operand], usize)]) -> Option<SmallVec<[Set; 4]>> {
    let controls = profile.controls();
    let (listed, unlisted) = (Rules::listed(format, controls), Rules::unlisted(format, controls));
    if controls.wgsl && format != Format::Single && !is_correctly_rounded(instruction) {
        return None;
    }
    if args.iter().any(|(operands, _)| operands.iter().any(|operand| operand.set.is_none())) {
        return None;
    }
    let operands = Operands { rules: unlisted, args };
    match instruction {
        Instruction::Core(opcode) => operands.core(&listed, spirv::Op::from_u32(opcode.into())?),
        Instruction::Glsl(number) => operands.glsl(Glsl::from_u32(number)?),
    }
}

/// Whether both Vulkan and WGSL require an exact or correctly rounded result.
fn is_correctly_rounded(instruction: Instruction) -> bool {
    use spirv::Op;
    match instruction {
        Instruction::Core(opcode) => matches!(
            Op::from_u32(opcode.into()),
            Some(
                Op::FNegate
                    | Op::FAdd
                    | Op::FSub
                    | Op::FMul
                    | Op::VectorTimesScalar
                    | Op::MatrixTimesScalar
                    | Op::OuterProduct
                    | Op::Transpose
            )
        ),
        Instruction::Glsl(number) => matches!(
            Glsl::from_u32(number),
            Some(
                Glsl::Round
                    | Glsl::RoundEven
                    | Glsl::Trunc
                    | Glsl::FAbs
                    | Glsl::FSign
                    | Glsl::Floor
                    | Glsl::Ceil
                    | Glsl::FMin
                    | Glsl::FMax
                    | Glsl::FClamp
                    | Glsl::NMin
                    | Glsl::NMax
                    | Glsl::NClamp
                    | Glsl::Step
            )
        ),
    }
}

/// An instruction's operands, and the rules for instructions that are on no list.
struct Operands<'a> {
    rules: Rules,
    args: &'a [(&'a [Operand], usize)],
}

impl<'a> Operands<'a> {
    fn arg(&self, k: usize) -> Option<&'a [Operand]> {
        self.args.get(k).map(|arg| arg.0)
    }

    /// Applies a rule to each component of the first operand, with that component of the others.
    fn each<const N: usize>(&self, rule: impl Fn([&Operand; N]) -> Set) -> Option<Sets> {
        let first = self.arg(0)?;
        let mut result = Sets::with_capacity(first.len());
        for (i, x) in first.iter().enumerate() {
            let mut operands = [x; N];
            for (k, operand) in operands.iter_mut().enumerate() {
                *operand = self.arg(k)?.get(i)?;
            }
            result.push(rule(operands));
        }
        Some(result)
    }

    /// Applies a rule to the spans of the operands, component by component. The rule returns a set,
    /// or `None` for any value.
    fn each_span<const N: usize>(&self, rule: impl Fn([Span; N]) -> Option<Set>) -> Option<Sets> {
        self.each(|operands: [&Operand; N]| self.over_spans(operands, &rule))
    }

    fn over_spans<const N: usize>(&self, operands: [&Operand; N], rule: impl Fn([Span; N]) -> Option<Set>) -> Set {
        let mut finite = [Set::NONE; N];
        for (finite, operand) in finite.iter_mut().zip(operands) {
            match self.rules.operand(&operand.set) {
                Some(parts) => *finite = parts.finite,
                None => return Set::ANY,
            }
        }
        let mut result = Set::NONE;
        let mut at = [0; N];
        loop {
            let mut spans = [Span::point(0.0); N];
            for k in 0..N {
                spans[k] = finite[k].spans()[at[k]];
            }
            match rule(spans) {
                Some(set) if !set.is_any() => result = result.union(set),
                _ => return Set::ANY,
            }
            // The next combination.
            let mut k = 0;
            while k < N && at[k] + 1 == finite[k].spans().len() {
                at[k] = 0;
                k += 1;
            }
            if k == N {
                return self.rules.result(result);
            }
            at[k] += 1;
        }
    }

    /// The hulls of an operand's components, for formulas over vectors. `None` if a component may
    /// be infinite or NaN.
    fn components(&self, k: usize) -> Option<SmallVec<[Component; 16]>> {
        let component = |operand: &Operand| {
            let span = self.rules.operand(&operand.set)?.finite.hull()?;
            Some(Component { span, id: operand.id.filter(|_| self.rules.identity) })
        };
        self.arg(k)?.iter().map(component).collect()
    }

    /// The result of a formula over vectors, by component: any value where the formula has
    /// no bound.
    fn each_index(&self, count: usize, rule: impl Fn(usize) -> Option<Set>) -> Option<Sets> {
        Some((0..count).map(|i| rule(i).unwrap_or(Set::ANY)).collect())
    }

    fn is_same(&self, x: &Operand, y: &Operand) -> bool {
        self.rules.identity && x.id.is_some() && x.id == y.id
    }

    /// Core instructions.
    fn core(&self, listed: &Rules, opcode: spirv::Op) -> Option<Sets> {
        use spirv::Op;
        match opcode {
            Op::FNegate => self.each(|[x]| listed.copied(&x.set, true)),
            Op::FAdd => self.each(|[x, y]| listed.sum(&x.set, &y.set)),
            Op::FSub => {
                self.each(|[x, y]| if self.is_same(x, y) { listed.difference_of_one(&x.set) } else { listed.difference(&x.set, &y.set) })
            }
            Op::FMul => self.each(|[x, y]| if self.is_same(x, y) { listed.square_of_one(&x.set) } else { listed.product(&x.set, &y.set) }),
            Op::FDiv => self.each(|[x, y]| if self.is_same(x, y) { self.rules.quotient_of_one(&x.set) } else { self.divided(x, y) }),
            Op::FRem => self.each_span(|[x, y]| inherited::remainder(&self.rules, true, x, y)),
            Op::FMod => self.each_span(|[x, y]| inherited::remainder(&self.rules, false, x, y)),
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let scalar = self.arg(1)?.first()?;
                Some(self.arg(0)?.iter().map(|x| self.rules.product(&x.set, &scalar.set)).collect())
            }
            Op::OuterProduct => {
                let (x, y) = (self.arg(0)?, self.arg(1)?);
                Some(y.iter().flat_map(|y| x.iter().map(|x| self.rules.product(&x.set, &y.set))).collect())
            }
            Op::Transpose => {
                let (matrix, columns) = *self.args.first()?;
                let rows = matrix.len() / columns.max(1);
                Some((0..rows).flat_map(|r| matrix.iter().skip(r).step_by(rows)).map(|x| listed.copied(&x.set, false)).collect())
            }
            Op::Dot | Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix => self.products(opcode),
            Op::QuantizeToF16 => self.each_span(|[x]| exact::quantize(&self.rules, x)),
            // The operands are two values of a quad: the first less the second. Derivatives are on
            // no list.
            Op::DPdx | Op::DPdy | Op::DPdxFine | Op::DPdyFine | Op::DPdxCoarse | Op::DPdyCoarse => self.each(|[to, from]| {
                if self.is_same(to, from) { self.rules.difference_of_one(&to.set) } else { self.rules.difference(&to.set, &from.set) }
            }),
            _ => None,
        }
    }

    fn divided(&self, x: &Operand, y: &Operand) -> Set {
        self.over_spans([x, y], |[x, y]| self.rules.quotient(x.into(), y.into()))
    }

    /// OpDot and matrix products: each component is a row by a column.
    fn products(&self, opcode: spirv::Op) -> Option<Sets> {
        let (left, right) = (self.args.first()?, self.args.get(1)?);
        let (rows, columns, terms) = match opcode {
            spirv::Op::Dot => (1, 1, left.0.len()),
            spirv::Op::VectorTimesMatrix => (1, right.1, left.0.len()),
            spirv::Op::MatrixTimesVector => (left.0.len() / left.1.max(1), 1, left.1),
            _ => (left.0.len() / left.1.max(1), right.1, left.1),
        };
        let (Some(x), Some(y)) = (self.components(0), self.components(1)) else {
            return Some(SmallVec::from_elem(Set::ANY, rows * columns));
        };
        self.each_index(rows * columns, |i| {
            let (c, r) = (i / rows, i % rows);
            self.rules.dot((0..terms).map(|k| (x[k * rows + r], y[c * terms + k])))
        })
    }

    /// Functions of GLSL.std.450.
    fn glsl(&self, function: Glsl) -> Option<Sets> {
        let rules = &self.rules;
        match function {
            Glsl::Round | Glsl::RoundEven | Glsl::Trunc | Glsl::FAbs | Glsl::FSign | Glsl::Floor | Glsl::Ceil | Glsl::Fract => {
                self.each_span(|[x]| exact::of_one(rules, function, x))
            }
            Glsl::FMin | Glsl::NMin | Glsl::FMax | Glsl::NMax => {
                let greater = matches!(function, Glsl::FMax | Glsl::NMax);
                self.each(|[x, y]| match self.is_same(x, y) {
                    true => self.over_spans([x], |[x]| Some(exact::extreme(rules, x, x, greater))),
                    false => self.over_spans([x, y], |[x, y]| Some(exact::extreme(rules, x, y, greater))),
                })
            }
            Glsl::FClamp | Glsl::NClamp => self.each_span(|[x, low, high]| exact::clamp(rules, x, low, high)),
            Glsl::Step => self.each_span(|[edge, x]| Some(exact::step(rules, edge, x))),
            Glsl::Ldexp => self.each(|[x, exponent]| match exponent.set.only() {
                Some(exponent) => self.over_spans([x], |[x]| exact::ldexp(rules, x, exponent)),
                None => Set::ANY,
            }),
            Glsl::Radians
            | Glsl::Degrees
            | Glsl::Sin
            | Glsl::Cos
            | Glsl::Tan
            | Glsl::Asin
            | Glsl::Acos
            | Glsl::Atan
            | Glsl::Sinh
            | Glsl::Cosh
            | Glsl::Tanh
            | Glsl::Asinh
            | Glsl::Acosh
            | Glsl::Atanh
            | Glsl::Exp
            | Glsl::Log
            | Glsl::Exp2
            | Glsl::Log2
            | Glsl::Sqrt
            | Glsl::InverseSqrt => self.each_span(|[x]| glsl::of_one(rules, function, x)),
            Glsl::Modf | Glsl::ModfStruct => {
                let fractions = self.each_span(|[x]| exact::fraction(rules, x))?;
                let wholes = self.each_span(|[x]| exact::of_one(rules, Glsl::Trunc, x))?;
                Some(fractions.into_iter().chain(wholes).collect())
            }
            Glsl::Frexp | Glsl::FrexpStruct => {
                let significands = self.each_span(|[x]| Some(exact::significand(rules, x)))?;
                // Exponents are integers, so their zeros have no sign.
                let exponents = self.each(|[x]| match rules.operand(&x.set) {
                    Some(parts) => parts.finite.spans().iter().fold(Set::NONE, |set, &span| set.union(exact::exponent(span))),
                    None => Set::ANY,
                })?;
                Some(significands.into_iter().chain(exponents).collect())
            }
            Glsl::Atan2 => self.each_span(|[y, x]| glsl::atan2(rules, y, x)),
            Glsl::Pow => self.each_span(|[x, y]| glsl::pow(rules, x, y)),
            Glsl::Fma => self.each_span(|[a, b, c]| inherited::fma(rules, a, b, c)),
            Glsl::FMix => self.each_span(|[x, y, a]| inherited::mix(rules, x, y, a)),
            Glsl::SmoothStep => self.each_span(|[edge0, edge1, x]| inherited::smooth_step(rules, edge0, edge1, x)),
            _ => self.vectors(function),
        }
    }

    /// Functions of vectors.
    fn vectors(&self, function: Glsl) -> Option<Sets> {
        let rules = &self.rules;
        let count = self.arg(0)?.len();
        let components = |k: usize| self.components(k);
        let anything = |count: usize| Some(SmallVec::from_elem(Set::ANY, count));
        match function {
            Glsl::Length => self.each_index(1, |_| rules.length(&components(0)?)),
            Glsl::Distance => self.each_index(1, |_| rules.distance(&components(0)?, &components(1)?)),
            Glsl::Normalize => self.each_index(count, |i| rules.normalize(&components(0)?, i)),
            Glsl::Cross if count == 3 => self.each_index(count, |i| rules.cross(&components(0)?, &components(1)?, i)),
            Glsl::Reflect => self.each_index(count, |i| rules.reflect(&components(0)?, &components(1)?, i)),
            Glsl::FaceForward => {
                let sets = (|| rules.face_forward(&components(0)?, &components(1)?, &components(2)?))();
                sets.or_else(|| anything(count))
            }
            Glsl::Refract => {
                let eta = self.components(2).and_then(|eta| eta.first().copied());
                let sets = (|| rules.refract(&components(0)?, &components(1)?, eta?))();
                sets.or_else(|| anything(count))
            }
            Glsl::Determinant => {
                let columns = self.args.first()?.1;
                self.each_index(1, |_| rules.determinant(&components(0)?, columns))
            }
            Glsl::MatrixInverse => {
                let (matrix, columns) = (components(0), self.args.first()?.1);
                self.each_index(count, |i| rules.inverse(matrix.as_ref()?, columns, i))
            }
            _ => None,
        }
    }
}

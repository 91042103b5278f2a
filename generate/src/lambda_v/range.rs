//! An estimate of the magnitude and the granularity of an expression's numbers. It keeps most
//! programs where arithmetic is exact.
//!
//! The estimate only steers the generator and guarantees nothing. The semantics computes the
//! actual values.

use smallstep_semantics::lambda_v::builtin::Emit;
use smallstep_semantics::number::Op;

/// Magnitudes of at most 2^mag, multiples of 2^-frac.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) mag: i16,
    pub(super) frac: i16,
}

impl Range {
    /// The range of Booleans, 0 and 1.
    pub(super) const UNIT: Range = Range { mag: 0, frac: 0 };
    /// The range of the fragment's coordinate, up to 128 pixels.
    pub(super) const FRAG_COORD: Range = Range { mag: 7, frac: 1 };
    /// The assumed range of a function's parameters.
    pub(super) const PARAMETER: Range = Range { mag: 7, frac: 2 };
    /// The range that a function's results are forced into.
    pub(super) const RESULT: Range = Range { mag: 15, frac: 5 };
    /// The range that a loop's accumulators are forced into.
    pub(super) const ACCUMULATOR: Range = Range { mag: 8, frac: 3 };
    /// The range of an expression about which nothing is known.
    pub(super) const UNKNOWN: Range = Range { mag: 30, frac: 60 };

    /// The range of one number.
    pub(super) fn of(x: f32) -> Range {
        if x == 0.0 {
            return Range::UNIT;
        }
        if !x.is_normal() {
            return Range::UNKNOWN;
        }
        let biased = (x.to_bits() >> 23 & 0xff) as i16;
        let trailing = (x.to_bits() & 0x7f_ffff | 0x80_0000).trailing_zeros() as i16;
        Range { mag: (biased - 126).max(0), frac: (150 - biased - trailing).max(0) }
    }

    /// The smallest range that contains both.
    pub(super) fn join(self, other: Range) -> Range {
        Range { mag: self.mag.max(other.mag), frac: self.frac.max(other.frac) }
    }

    /// Whether each number in the range is exactly a float.
    pub(super) fn is_exact(self) -> bool {
        self.mag + self.frac <= 22
    }

    /// Whether this range lies inside the other.
    pub(super) fn fits(self, other: Range) -> bool {
        self.mag <= other.mag && self.frac <= other.frac
    }

    fn plus(self, mag: i16) -> Range {
        Range { mag: self.mag + mag, frac: self.frac }
    }

    fn times(self, other: Range) -> Range {
        Range { mag: self.mag + other.mag, frac: self.frac + other.frac }
    }
}

/// The range of an instruction's result, from the ranges of its operands.
pub(super) fn result(emit: Emit, operands: &[Range]) -> Range {
    let all = operands.iter().copied().reduce(Range::join).unwrap_or(Range::UNIT);
    let op = match emit {
        Emit::Compute(op) | Emit::Swapped(op) => op,
        Emit::FragCoord => return Range::FRAG_COORD,
        Emit::Construct | Emit::Extract(_) | Emit::Column | Emit::Identity => return all,
    };
    match op {
        Op::Add | Op::Sub => all.plus(1),
        Op::Mul | Op::VectorTimesScalar | Op::MatrixTimesScalar => operands[0].times(operands[1]),
        Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix | Op::Dot => operands[0].times(operands[1]).plus(2),
        Op::Cross => operands[0].times(operands[1]).plus(1),
        Op::Mix => operands[0].join(operands[1]).times(operands[2].join(Range::UNIT)).plus(2),
        Op::Reflect => operands[0].times(operands[1]).times(operands[1]).plus(4),
        Op::Negate | Op::Abs | Op::Min | Op::Max | Op::Transpose => all,
        Op::Clamp => Range { mag: operands[1].mag.max(operands[2].mag), frac: all.frac },
        Op::Select => operands[1].join(operands[2]),
        Op::Sign | Op::Step => Range::UNIT,
        Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::RoundEven => Range { mag: all.mag, frac: 0 },
        Op::Fract => Range { mag: 0, frac: all.frac },
        Op::LessThan
        | Op::LessThanEqual
        | Op::GreaterThan
        | Op::GreaterThanEqual
        | Op::Equal
        | Op::NotEqual
        | Op::LogicalEqual
        | Op::LogicalNotEqual
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Any
        | Op::All => Range::UNIT,
        _ => Range::UNKNOWN,
    }
}

/// Whether the instruction has a fixed result only if that is exact.
pub(super) fn needs_exact(emit: Emit) -> bool {
    let (Emit::Compute(op) | Emit::Swapped(op)) = emit else { return false };
    matches!(
        op,
        Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix | Op::Dot | Op::Cross | Op::Mix | Op::Reflect | Op::Fract
    )
}

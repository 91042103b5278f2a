//! Comparisons (Vulkan: EXACT; §3.3.15): their possible results, and the sets of their operands
//! once a result is known.
//!
//! A subnormal operand may be flushed first, and zeros of both signs are equal. Comparisons are not
//! on the list of SignedZeroInfNanPreserve. So a comparison that may meet an infinity or NaN may
//! have either result, whatever is declared, and says nothing of the other operand. All comparisons
//! here are of 32-bit floats.

use super::super::{Format, Set, Span};
use super::core::{Rules, finite, has_special, has_subnormals, has_zero, subnormals};
use super::{Operand, Truth};
use crate::number::{Instruction, Profile};
use rspirv::spirv;

/// The format of the compared floats.
const FORMAT: Format = Format::Single;

/// The relation that a comparison of numbers tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Less,
    LessEqual,
    Equal,
}

/// A comparison of numbers: a relation, perhaps with exchanged operands or a negated result.
#[derive(Clone, Copy, Debug)]
struct Question {
    relation: Relation,
    exchanged: bool,
    negated: bool,
}

/// The question that an instruction asks of numbers. `None` for IsNan, IsInf and instructions that
/// are no comparisons. Ordered and unordered comparisons differ for NaN only.
fn question(instruction: Instruction) -> Option<Question> {
    use spirv::Op;
    let Instruction::Core(opcode) = instruction else { return None };
    let (relation, exchanged, negated) = match Op::from_u32(opcode.into())? {
        Op::FOrdLessThan | Op::FUnordLessThan => (Relation::Less, false, false),
        Op::FOrdGreaterThan | Op::FUnordGreaterThan => (Relation::Less, true, false),
        Op::FOrdLessThanEqual | Op::FUnordLessThanEqual => (Relation::LessEqual, false, false),
        Op::FOrdGreaterThanEqual | Op::FUnordGreaterThanEqual => (Relation::LessEqual, true, false),
        Op::FOrdEqual | Op::FUnordEqual => (Relation::Equal, false, false),
        Op::FOrdNotEqual | Op::FUnordNotEqual => (Relation::Equal, false, true),
        _ => return None,
    };
    Some(Question { relation, exchanged, negated })
}

/// Whether the instruction asks what kind of float its operand is.
fn is_classification(instruction: Instruction) -> bool {
    let Instruction::Core(opcode) = instruction else { return false };
    matches!(spirv::Op::from_u32(opcode.into()), Some(spirv::Op::IsNan | spirv::Op::IsInf))
}

/// A set of numbers as a comparison may take them. Zeros of both signs are one number.
fn flushed(set: &Set) -> Set {
    if has_subnormals(FORMAT, set) || has_zero(set) { set.union(Set::ZERO) } else { *set }
}

impl Truth {
    fn opposite(self) -> Truth {
        Truth { may_hold: self.may_fail, may_fail: self.may_hold }
    }

    fn or(self, other: Truth) -> Truth {
        Truth { may_hold: self.may_hold || other.may_hold, may_fail: self.may_fail || other.may_fail }
    }
}

/// The possible results for any two numbers of two sets, neither empty.
fn of_numbers(relation: Relation, x: &Set, y: &Set) -> Truth {
    let (x, y) = (flushed(x), flushed(y));
    let (Some(a), Some(b)) = (x.hull(), y.hull()) else { return Truth::BOTH };
    match relation {
        Relation::Less => Truth { may_hold: a.low < b.high, may_fail: a.high >= b.low },
        Relation::LessEqual => Truth { may_hold: a.low <= b.high, may_fail: a.high > b.low },
        Relation::Equal => Truth { may_hold: !x.meet(y).is_none(), may_fail: !(a.low == a.high && b.low == b.high && a.low == b.low) },
    }
}

/// The possible results of a comparison of two floats.
pub fn compared(profile: Profile, instruction: Instruction, x: &Operand, y: &Operand) -> Truth {
    let rules = Rules::unlisted(FORMAT, profile.controls());
    // Without NoContraction a term may be moved from one side of a comparison to the other.
    if !rules.identity || has_special(&x.set) || !is_classification(instruction) && has_special(&y.set) {
        return Truth::BOTH;
    }
    if is_classification(instruction) {
        return Truth { may_hold: false, may_fail: true };
    }
    let Some(Question { relation, exchanged, negated }) = question(instruction) else { return Truth::BOTH };
    let truth = if x.id.is_some() && x.id == y.id {
        // One value; but a subnormal may be flushed on one side alone.
        let subnormals = subnormals(FORMAT, &x.set);
        let same = Truth { may_hold: relation != Relation::Less, may_fail: relation == Relation::Less };
        if has_subnormals(FORMAT, &x.set) { same.or(of_numbers(relation, &subnormals, &subnormals)) } else { same }
    } else if exchanged {
        of_numbers(relation, &y.set, &x.set)
    } else {
        of_numbers(relation, &x.set, &y.set)
    };
    if negated { truth.opposite() } else { truth }
}

/// The possible results of a comparison of two floats, from their difference: an implementation may
/// have moved terms from one side to the other.
pub fn compared_by_difference(instruction: Instruction, difference: &Set) -> Truth {
    let Some(Question { relation, exchanged, negated }) = question(instruction) else { return Truth::BOTH };
    let (left, right) = if exchanged { (&Set::ZERO, difference) } else { (difference, &Set::ZERO) };
    let truth = of_numbers(relation, left, right);
    if negated { truth.opposite() } else { truth }
}

/// The floats that are below a bound, or at it if `or_equal`, before or after flushing. A bound of
/// zero may have either sign.
fn below(bound: f64, or_equal: bool) -> Set {
    let high = if or_equal {
        if bound == 0.0 { 0.0 } else { bound }
    } else if bound == 0.0 {
        -FORMAT.spacing()
    } else {
        FORMAT.below(bound)
    };
    // A positive subnormal may be flushed to zero.
    let zero_is = bound > 0.0 || or_equal && bound == 0.0;
    Set::of(Span { low: -FORMAT.max(), high: if zero_is { high.max(FORMAT.max_subnormal()) } else { high } })
}

/// The floats that are above a bound, or at it if `or_equal`, before or after flushing.
fn above(bound: f64, or_equal: bool) -> Set {
    let mirrored = below(-bound, or_equal);
    let span = mirrored.spans()[0];
    Set::of(Span { low: -span.high, high: FORMAT.max() })
}

/// The floats that may be equal to one of the set, before or after flushing.
fn equal(set: &Set) -> Set {
    let set = flushed(&finite(FORMAT, set));
    if has_zero(&set) { set.with(Span { low: -FORMAT.max_subnormal(), high: FORMAT.max_subnormal() }) } else { set }
}

/// The sets of two operands once a comparison of them is known to hold or to fail. Empty if that
/// is impossible.
pub fn narrowed(profile: Profile, instruction: Instruction, x: &Operand, y: &Operand, holds: bool) -> [Set; 2] {
    let unchanged = [x.set, y.set];
    let rules = Rules::unlisted(FORMAT, profile.controls());
    let Some(Question { relation, exchanged, negated }) = question(instruction).filter(|_| rules.identity) else { return unchanged };
    let special = [has_special(&x.set), has_special(&y.set)];
    let (Some(a), Some(b)) = (flushed(&finite(FORMAT, &x.set)).hull(), flushed(&finite(FORMAT, &y.set)).hull()) else { return unchanged };
    let [to_x, to_y] = match (relation, holds != negated) {
        // x = y.
        (Relation::Equal, true) => [equal(&y.set), equal(&x.set)],
        (Relation::Equal, false) => return unchanged,
        (relation, holds) => {
            // x < y or x ≤ y, or with both exchanged: !(x < y) is y ≤ x.
            let or_equal = (relation == Relation::LessEqual) == holds;
            if exchanged == holds {
                [above(b.low, or_equal), below(a.high, or_equal)]
            } else {
                [below(b.high, or_equal), above(a.low, or_equal)]
            }
        }
    };
    // Next to an infinity or NaN nothing is known. An operand that may itself be one keeps
    // these values.
    let left = |set: &Set, to: Set, special: bool, other: bool| match (special, other) {
        (_, true) => *set,
        (false, false) => set.meet(to),
        (true, false) => set.meet(to.with(Span::point(f64::NEG_INFINITY)).with(Span::point(f64::INFINITY)).or_nan()),
    };
    [left(&x.set, to_x, special[0], special[1]), left(&y.set, to_y, special[1], special[0])]
}

//! Transfer functions of operations on integers. Bounds of the operands give bounds of the result,
//! and bounds of the result give bounds of the operands. The bounds lose no word that an execution
//! may have.
//!
//! Seed 004 "Integer arithmetic", "Bit manipulation", as `meaning::integer` defines it for
//! definite operands.

use super::integers::Integers;
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Op;
use crate::wsl::types::Scalar;

/// A function that a test plants to replace the bounds of results. It gets the operation, the
/// bounds of the operands, and the correct bounds.
pub type Replacement = fn(Op, &[Integers], Integers) -> Integers;

/// The bounds of an operation's results, for all operands for which the operation has one. Only
/// operations from integers to integers have bounds. For others the result is every word.
pub fn forward(op: Op, operands: &[Integers]) -> Integers {
    if !matches!(op.of, Scalar::Int | Scalar::Uint) || !matches!(op.to, Scalar::Int | Scalar::Uint) {
        return Integers::ANY;
    }
    match *operands {
        [x] => of_one(op, x),
        [x, y] => of_two(op, x, y),
        [x, low, high] if op.meaning == Meaning::Clamp => extreme(op.of, extreme(op.of, x, low, true), high, false),
        _ => Integers::ANY,
    }
}

fn signed(x: Integers) -> (i128, i128) {
    (x.signed.0.into(), x.signed.1.into())
}

fn unsigned(x: Integers) -> (i128, i128) {
    (x.unsigned.0.into(), x.unsigned.1.into())
}

fn within(bounds: Option<Integers>) -> Integers {
    bounds.unwrap_or(Integers::ANY)
}

fn of_one(op: Op, x: Integers) -> Integers {
    match op.meaning {
        Meaning::Convert | Meaning::Reinterpret | Meaning::Plus | Meaning::Identity => x,
        Meaning::Increment => sum(x, Integers::only(1)),
        Meaning::Decrement => difference(x, Integers::only(1)),
        Meaning::Negate => negated(x),
        Meaning::Complement => complement(x),
        Meaning::Abs if op.of == Scalar::Uint => x,
        Meaning::Abs => {
            let part = |of: Option<Integers>| of.and_then(|of| x.meet(of));
            match (part(Integers::between_signed(0, i32::MAX)), part(Integers::between_signed(i32::MIN, -1))) {
                (Some(positive), Some(negative)) => positive.join(negated(negative)),
                (Some(positive), None) => positive,
                (None, Some(negative)) => negated(negative),
                (None, None) => Integers::ANY,
            }
        }
        Meaning::Sign if op.of == Scalar::Uint => within(Integers::between(x.unsigned.0.min(1), x.unsigned.1.min(1))),
        Meaning::Sign => within(Integers::between_signed(x.signed.0.signum(), x.signed.1.signum())),
        Meaning::CountBits => within(Integers::between(x.ones.count_ones(), x.zeros.count_zeros())),
        Meaning::ReverseBits => within(Integers::bits(x.zeros.reverse_bits(), x.ones.reverse_bits())),
        Meaning::FirstBitHigh | Meaning::FirstBitLow => {
            let Some(bits) = Integers::between(1, u32::MAX).and_then(|some| x.meet(some)) else { return Integers::only(u32::MAX) };
            let (low, high) = (bits.unsigned.0.ilog2(), bits.unsigned.1.ilog2());
            let found = match op.meaning {
                Meaning::FirstBitHigh => (low, high),
                _ => ((!bits.zeros).trailing_zeros(), if bits.ones == 0 { high } else { bits.ones.trailing_zeros() }),
            };
            let found = within(Integers::between(found.0, found.1));
            if x.contains(0) { found.join(Integers::only(u32::MAX)) } else { found }
        }
        _ => Integers::ANY,
    }
}

fn of_two(op: Op, x: Integers, y: Integers) -> Integers {
    match op.meaning {
        Meaning::Add => sum(x, y),
        Meaning::Subtract => difference(x, y),
        Meaning::Multiply => product(x, y),
        Meaning::Divide => quotient(op.of, x, y),
        Meaning::Remainder => remainder(op.of, x, y),
        Meaning::Min => extreme(op.of, x, y, false),
        Meaning::Max => extreme(op.of, x, y, true),
        Meaning::And => within(Integers::bits(x.zeros | y.zeros, x.ones & y.ones)).or_both(below(x.unsigned.1.min(y.unsigned.1))),
        Meaning::Or => {
            let least = within(Integers::between(x.unsigned.0.max(y.unsigned.0), u32::MAX));
            within(Integers::bits(x.zeros & y.zeros, x.ones | y.ones)).or_both(least)
        }
        Meaning::Xor => within(Integers::bits(x.zeros & y.zeros | x.ones & y.ones, x.zeros & y.ones | x.ones & y.zeros)),
        Meaning::ShiftLeft => over_shift_amounts(y, |n| shifted_left(x, n)),
        Meaning::ShiftRight => over_shift_amounts(y, |n| shifted_right(op.of, x, n)),
        _ => Integers::ANY,
    }
}

fn below(most: u32) -> Integers {
    within(Integers::between(0, most))
}

/// The known bits of x + y + carry. A bit is known if it is known in both operands and the carry
/// into it is known. The least and the greatest sum show these carries.
fn added_bits(x: Integers, y: Integers, carry: u32) -> Integers {
    let most = (!x.zeros).wrapping_add(!y.zeros).wrapping_add(carry);
    let least = x.ones.wrapping_add(y.ones).wrapping_add(carry);
    let carried_zero = !(most ^ x.zeros ^ y.zeros);
    let carried_one = least ^ x.ones ^ y.ones;
    let known = (x.zeros | x.ones) & (y.zeros | y.ones) & (carried_zero | carried_one);
    within(Integers::bits(!most & known, least & known))
}

fn sum(x: Integers, y: Integers) -> Integers {
    let ends = |(a, b): (i128, i128), (c, d): (i128, i128)| Integers::wrapped(a + c, b + d);
    added_bits(x, y, 0).or_both(ends(unsigned(x), unsigned(y))).or_both(ends(signed(x), signed(y)))
}

fn difference(x: Integers, y: Integers) -> Integers {
    let ends = |(a, b): (i128, i128), (c, d): (i128, i128)| Integers::wrapped(a - d, b - c);
    added_bits(x, complement(y), 1).or_both(ends(unsigned(x), unsigned(y))).or_both(ends(signed(x), signed(y)))
}

fn negated(x: Integers) -> Integers {
    difference(Integers::only(0), x)
}

fn complement(x: Integers) -> Integers {
    Integers { zeros: x.ones, ones: x.zeros, unsigned: (!x.unsigned.1, !x.unsigned.0), signed: (!x.signed.1, !x.signed.0) }
}

/// The least and the greatest value of a function that is monotone in each operand. Both are
/// at corners.
fn at_corners((a, b): (i128, i128), (c, d): (i128, i128), f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
    (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
}

fn product(x: Integers, y: Integers) -> Integers {
    // The lowest bits of the product are known from the lowest known bits of both, and from their
    // trailing zeros.
    let zeros = |of: Integers| of.zeros.trailing_ones();
    let known = |of: Integers| (of.zeros | of.ones).trailing_ones();
    let low = |bits: u32| if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    let (zx, zy) = (zeros(x), zeros(y));
    let (kx, ky) = (known(x), known(y));
    let bits = low((kx - zx).min(ky - zy) + zx + zy);
    let lowest = (x.ones & low(kx)).wrapping_mul(y.ones & low(ky));
    let ends = |a, b| {
        let (least, most) = at_corners(a, b, |x, y| x * y);
        Integers::wrapped(least, most)
    };
    within(Integers::bits(!lowest & bits, lowest & bits)).or_both(ends(unsigned(x), unsigned(y))).or_both(ends(signed(x), signed(y)))
}

/// Bounds of a quotient, for divisors other than 0.
fn quotient(of: Scalar, x: Integers, y: Integers) -> Integers {
    let part = |low: i128, high: i128, divisor: (i128, i128), x: (i128, i128)| {
        let (low, high) = (divisor.0.max(low), divisor.1.min(high));
        (low <= high).then(|| at_corners(x, (low, high), |x, y| x / y))
    };
    let all = match of {
        Scalar::Uint => [part(1, i128::MAX, unsigned(y), unsigned(x)), None],
        _ => [part(1, i128::MAX, signed(y), signed(x)), part(i128::MIN, -1, signed(y), signed(x))],
    };
    let hull = all.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let quotient = hull.map_or(Integers::ANY, |(low, high)| Integers::wrapped(low, high));
    match y.single() {
        Some(n) if of == Scalar::Uint && n.is_power_of_two() => quotient.or_both(shifted_right(of, x, n.trailing_zeros())),
        _ => quotient,
    }
}

/// Bounds of a remainder, for divisors other than 0. Its magnitude is below the divisor's, and it
/// has the sign of the dividend.
fn remainder(of: Scalar, x: Integers, y: Integers) -> Integers {
    // Multiples of the divisor have no bits below its lowest one.
    let below_divisor = match y.zeros.trailing_ones() {
        32.. => 0,
        n => (1u32 << n) - 1,
    };
    let lowest = within(Integers::bits(x.zeros & below_divisor, x.ones & below_divisor));
    let (range, magnitude) = match of {
        Scalar::Uint => (unsigned(x), i128::from(y.unsigned.1)),
        _ => (signed(x), signed(y).0.abs().max(signed(y).1.abs())),
    };
    let most = (magnitude - 1).max(0);
    let ends = (if range.0 >= 0 { 0 } else { range.0.max(-most) }, if range.1 <= 0 { 0 } else { range.1.min(most) });
    let rest = lowest.or_both(Integers::wrapped(ends.0, ends.1));
    // A dividend that is less than every divisor stays as it is.
    let least = if of == Scalar::Uint { i128::from(y.unsigned.0) } else { signed(y).0 };
    if range.0 >= 0 && range.1 < least { x } else { rest }
}

/// The lesser of two, or the greater.
fn extreme(of: Scalar, x: Integers, y: Integers, greater: bool) -> Integers {
    let (a, b) = if of == Scalar::Uint { (unsigned(x), unsigned(y)) } else { (signed(x), signed(y)) };
    // An operand is the result throughout, if it is never beyond the other.
    let (is_first, is_second) = if greater { (a.0 >= b.1, b.0 >= a.1) } else { (a.1 <= b.0, b.1 <= a.0) };
    let pick = |a: i128, b: i128| if greater { a.max(b) } else { a.min(b) };
    match (is_first, is_second) {
        (true, _) => x,
        (_, true) => y,
        _ => x.join(y).or_both(Integers::wrapped(pick(a.0, b.0), pick(a.1, b.1))),
    }
}

/// Bounds that hold the results for every possible number of bits to shift by.
fn over_shift_amounts(amount: Integers, shifted: impl Fn(u32) -> Integers) -> Integers {
    let is_possible = |n: &u32| {
        n & amount.zeros & 31 == 0
            && !n & amount.ones & 31 == 0
            && (amount.unsigned.1 > 31 || (amount.unsigned.0..=amount.unsigned.1).contains(n))
    };
    (0..32).filter(is_possible).map(shifted).reduce(Integers::join).unwrap_or(Integers::ANY)
}

fn shifted_left(x: Integers, n: u32) -> Integers {
    let ends = |(a, b): (i128, i128)| Integers::wrapped(a << n, b << n);
    within(Integers::bits(x.zeros << n | !(u32::MAX << n), x.ones << n)).or_both(ends(unsigned(x))).or_both(ends(signed(x)))
}

fn shifted_right(of: Scalar, x: Integers, n: u32) -> Integers {
    match of {
        Scalar::Uint => {
            let bits = within(Integers::bits(x.zeros >> n | !(u32::MAX >> n), x.ones >> n));
            bits.or_both(within(Integers::between(x.unsigned.0 >> n, x.unsigned.1 >> n)))
        }
        _ => {
            let arithmetic = |bits: u32| (bits as i32 >> n) as u32;
            let bits = within(Integers::bits(arithmetic(x.zeros), arithmetic(x.ones)));
            bits.or_both(within(Integers::between_signed(x.signed.0 >> n, x.signed.1 >> n)))
        }
    }
}

/// Whether the divisor of a division or remainder is never 0, or the ends of a clamp are in order.
/// Then the same operands give one number.
pub fn is_defined(op: Op, operands: &[Integers]) -> bool {
    match (op.meaning, operands) {
        (Meaning::Divide | Meaning::Remainder, [_, y]) if op.of != Scalar::Float => !y.contains(0),
        (Meaning::Clamp, [_, low, high]) => match op.of {
            Scalar::Uint => low.unsigned.1 <= high.unsigned.0,
            Scalar::Int => low.signed.1 <= high.signed.0,
            Scalar::Float | Scalar::Bool => false,
        },
        _ => false,
    }
}

/// Whether all are 0 or 1. Any other bits of a `bool` are true too.
fn are_truths(all: &[Integers]) -> bool {
    all.iter().all(|x| x.unsigned.1 <= 1)
}

/// The result of a comparison of integers, if it is the same for all of them.
pub fn compared(op: Op, x: Integers, y: Integers) -> Option<bool> {
    let less = |(a, b): (i128, i128), (c, d): (i128, i128)| match (b < c, a >= d) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    if op.of == Scalar::Bool && !are_truths(&[x, y]) {
        return None;
    }
    match (op.meaning, op.of) {
        (Meaning::Equal, Scalar::Int | Scalar::Uint | Scalar::Bool) => match (x.single(), y.single()) {
            (Some(x), Some(y)) => Some(x == y),
            _ => x.meet(y).is_none().then_some(false),
        },
        (Meaning::Less, Scalar::Uint) => less(unsigned(x), unsigned(y)),
        (Meaning::Less, Scalar::Int) => less(signed(x), signed(y)),
        _ => None,
    }
}

/// The bounds of the operands after a comparison was decided. `None` if it cannot be decided so.
pub fn operands_after_comparison(op: Op, x: Integers, y: Integers, holds: bool) -> Option<[Integers; 2]> {
    if op.of == Scalar::Bool && !are_truths(&[x, y]) {
        return Some([x, y]);
    }
    match (op.meaning, op.of, holds) {
        (Meaning::Equal, Scalar::Int | Scalar::Uint | Scalar::Bool, true) => x.meet(y).map(|both| [both; 2]),
        // If an operand is one number, that number is removed from the ends of the other.
        (Meaning::Equal, Scalar::Int | Scalar::Uint | Scalar::Bool, false) => {
            let x = y.single().map_or(Some(x), |y| x.without(y))?;
            Some([x, x.single().map_or(Some(y), |x| y.without(x))?])
        }
        (Meaning::Less, Scalar::Uint, true) => {
            let (low, high) = (x.unsigned.0.checked_add(1)?, y.unsigned.1.checked_sub(1)?);
            Some([x.meet(Integers::between(0, high)?)?, y.meet(Integers::between(low, u32::MAX)?)?])
        }
        (Meaning::Less, Scalar::Uint, false) => {
            let (low, high) = (y.unsigned.0, x.unsigned.1);
            Some([x.meet(Integers::between(low, u32::MAX)?)?, y.meet(Integers::between(0, high)?)?])
        }
        (Meaning::Less, Scalar::Int, true) => {
            let (low, high) = (x.signed.0.checked_add(1)?, y.signed.1.checked_sub(1)?);
            Some([x.meet(Integers::between_signed(i32::MIN, high)?)?, y.meet(Integers::between_signed(low, i32::MAX)?)?])
        }
        (Meaning::Less, Scalar::Int, false) => {
            let (low, high) = (y.signed.0, x.signed.1);
            Some([x.meet(Integers::between_signed(low, i32::MAX)?)?, y.meet(Integers::between_signed(i32::MIN, high)?)?])
        }
        _ => Some([x, y]),
    }
}

/// The bounds of the operand in that place, from the bounds of the result and of all operands. The
/// operand is also within its own bounds.
pub fn backward(op: Op, result: Integers, operands: &[Integers], place: usize) -> Integers {
    let truth = op.of == Scalar::Bool && op.to == Scalar::Bool && are_truths(operands);
    if !truth && (!matches!(op.of, Scalar::Int | Scalar::Uint) || !matches!(op.to, Scalar::Int | Scalar::Uint)) {
        return Integers::ANY;
    }
    let other = |of: &[Integers]| of.get(1 - place.min(1)).copied().unwrap_or(Integers::ANY);
    match (op.meaning, operands.len()) {
        (Meaning::And, 2) => within(Integers::bits(result.zeros & other(operands).ones, result.ones)),
        (Meaning::Or, 2) => within(Integers::bits(result.zeros, result.ones & other(operands).zeros)),
        (Meaning::Not, 1) if truth => within(Integers::bits(!1 | result.ones & 1, result.zeros & 1)),
        (Meaning::Xor, 2) => of_two(op, result, other(operands)),
        _ if truth => Integers::ANY,
        (Meaning::Add, 2) => difference(result, other(operands)),
        (Meaning::Subtract, 2) if place == 0 => sum(result, other(operands)),
        (Meaning::Subtract, 2) => difference(other(operands), result),
        (Meaning::Increment, 1) => difference(result, Integers::only(1)),
        (Meaning::Decrement, 1) => sum(result, Integers::only(1)),
        (Meaning::Negate, 1) => negated(result),
        (Meaning::Complement, 1) => complement(result),
        (Meaning::Min, 2) => beyond(op.of, result, other(operands), true),
        (Meaning::Max, 2) => beyond(op.of, result, other(operands), false),
        (Meaning::ShiftLeft, 2) if place == 0 => match operands[1].single() {
            Some(n) => within(Integers::bits(result.zeros >> (n & 31), result.ones >> (n & 31))),
            None => Integers::ANY,
        },
        (Meaning::ShiftRight, 2) if place == 0 => match (operands[1].single(), op.of) {
            (Some(n), Scalar::Uint) => scaled(result, 1 << (n & 31)),
            (Some(n), _) => {
                let (least, most) = (i64::from(result.signed.0) << (n & 31), ((i64::from(result.signed.1) + 1) << (n & 31)) - 1);
                let end = |n: i64| n.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                within(Integers::between_signed(end(least), end(most)))
            }
            (None, _) => Integers::ANY,
        },
        (Meaning::Divide, 2) if place == 0 && op.of == Scalar::Uint => match operands[1].single() {
            Some(n) if n > 0 => scaled(result, n.into()),
            _ => Integers::ANY,
        },
        _ => Integers::ANY,
    }
}

/// The unsigned numbers whose quotients by a number are these.
fn scaled(quotient: Integers, divisor: u64) -> Integers {
    let (low, high) = (u64::from(quotient.unsigned.0) * divisor, u64::from(quotient.unsigned.1) * divisor + (divisor - 1));
    let end = |n: u64| n.min(u32::MAX.into()) as u32;
    within(Integers::between(end(low), end(high)))
}

/// Bounds of an operand of the lesser of two, or of the greater. The operand of the lesser is not
/// below the result. It is the result itself if the other operand is beyond the result.
fn beyond(of: Scalar, result: Integers, other: Integers, lesser: bool) -> Integers {
    let (ends, others) = if of == Scalar::Uint { (unsigned(result), unsigned(other)) } else { (signed(result), signed(other)) };
    match (lesser, of) {
        (true, _) if others.0 > ends.1 => result,
        (false, _) if others.1 < ends.0 => result,
        (true, Scalar::Uint) => within(Integers::between(result.unsigned.0, u32::MAX)),
        (true, _) => within(Integers::between_signed(result.signed.0, i32::MAX)),
        (false, Scalar::Uint) => within(Integers::between(0, result.unsigned.1)),
        (false, _) => within(Integers::between_signed(i32::MIN, result.signed.1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use crate::wsl::meaning::{OpResult, scalar};

    struct Random(random::Random);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0.bits()
        }

        /// Small numbers, powers of two, their neighbours, any.
        fn word(&mut self) -> u32 {
            let n = self.next();
            let any = (n >> 32) as u32;
            match n % 5 {
                0 => any % 9,
                1 => 0u32.wrapping_sub(any % 9),
                2 => (1u32 << (any % 32)).wrapping_add(n as u32 >> 8 & 3).wrapping_sub(1),
                3 => any >> (n >> 8 & 31),
                _ => any,
            }
        }

        /// Bounds that the word is within.
        fn around(&mut self, word: u32) -> Integers {
            let mut all = Integers::ANY;
            let n = self.next();
            let mut meet = |bounds: Option<Integers>| all = all.meet(bounds.expect("the word is there")).expect("the word is there");
            if n & 1 == 0 {
                let others = [self.word(), self.word()];
                meet(Integers::of(others.into_iter().take((n >> 8 & 3) as usize).chain([word])));
            }
            if n & 2 == 0 {
                let known = self.word() | self.word();
                meet(Integers::bits(known & !word, known & word));
            }
            if n & 12 == 0 {
                let other = self.word();
                meet(Integers::between(word.min(other), word.max(other)));
            }
            all
        }
    }

    fn operations() -> Vec<Op> {
        use Meaning::*;
        let both = [Scalar::Int, Scalar::Uint];
        let of_integers = [
            Add,
            Subtract,
            Multiply,
            Negate,
            Increment,
            Decrement,
            Divide,
            Remainder,
            Abs,
            Sign,
            Min,
            Max,
            Clamp,
            And,
            Or,
            Xor,
            Complement,
            ShiftLeft,
            ShiftRight,
            CountBits,
            ReverseBits,
            FirstBitHigh,
            FirstBitLow,
            Convert,
            Reinterpret,
            Equal,
            Less,
        ];
        let all = of_integers
            .into_iter()
            .flat_map(|m| both.into_iter().flat_map(move |of| [Scalar::Int, Scalar::Uint, Scalar::Bool].map(|to| Op::new(m, of, to))));
        let truths = [And, Or, Xor, Not, Equal].map(|m| Op::new(m, Scalar::Bool, Scalar::Bool));
        all.chain(truths).filter(|op| op.arity().is_some()).collect()
    }

    #[test]
    fn no_word_is_lost() {
        let mut random = Random(random::Random::new(7));
        let (mut exact, mut known) = (0u32, 0u32);
        for op in operations() {
            for _ in 0..4000 {
                let truth = |n: u32| if op.of == Scalar::Bool { n & 1 } else { n };
                let words: Vec<u32> = (0..op.arity().unwrap_or(0)).map(|_| truth(random.word())).collect();
                let mut bounds: Vec<Integers> = words.iter().map(|&word| random.around(word)).collect();
                if op.of == Scalar::Bool {
                    let truths = Integers::between(0, 1).expect("there are two");
                    bounds.iter_mut().for_each(|x| *x = x.meet(truths).expect("it is one of them"));
                }
                let OpResult::Exactly(bits) = scalar(op, &words) else {
                    assert!(!is_defined(op, &bounds), "{op:?} {words:x?} {bounds:x?}");
                    continue;
                };
                let result = forward(op, &bounds);
                assert!(result.contains(bits), "{op:?} {words:x?} {bounds:x?}: {bits:x} is not in {result:x?}");
                exact += u32::from(result.single().is_some());
                if op.to == Scalar::Bool && op.meaning != Meaning::Convert && op.arity() == Some(2) {
                    let found = compared(op, bounds[0], bounds[1]);
                    assert!(found.is_none_or(|found| u32::from(found) == bits), "{op:?} {words:x?} {bounds:x?}: {found:?}");
                    known += u32::from(found.is_some());
                    let narrowed = operands_after_comparison(op, bounds[0], bounds[1], bits != 0)
                        .unwrap_or_else(|| panic!("{op:?} {words:x?} {bounds:x?} is {bits}"));
                    assert!(
                        narrowed[0].contains(words[0]) && narrowed[1].contains(words[1]),
                        "{op:?} {words:x?} {bounds:x?}: {narrowed:x?}"
                    );
                }
                let around = random.around(bits).or_both(result);
                for (place, word) in words.iter().enumerate() {
                    let operand = backward(op, around, &bounds, place);
                    assert!(operand.contains(*word), "{op:?} {words:x?} {bounds:x?} gives {around:x?}: {operand:x?}");
                }
            }
        }
        // Bounds that say nothing would lose nothing either, so enough of them have to be exact.
        assert!(exact > 5000 && known > 5000, "{exact} results and {known} comparisons were known");
    }

    #[test]
    fn few_words_are_added() {
        let of = |words: &[u32]| Integers::of(words.iter().copied()).expect("there are some");
        let op = |meaning, of| Op::new(meaning, of, of);
        let (int, uint) = (Scalar::Int, Scalar::Uint);
        let signed = |least, most| Integers::between_signed(least, most).expect("in order");
        for (op, operands, expected) in [
            (op(Meaning::Add, uint), vec![of(&[1, 5]), of(&[2, 6])], of(&[3, 7, 11])),
            (op(Meaning::Subtract, int), vec![signed(0, 3), signed(1, 2)], signed(-2, 2)),
            (op(Meaning::Multiply, int), vec![signed(-3, 4), signed(-2, 5)], signed(-15, 20)),
            (op(Meaning::Divide, int), vec![signed(-9, 7), signed(-2, 4)], signed(-9, 9)),
            (op(Meaning::Remainder, int), vec![signed(-9, 2), signed(-3, 4)], signed(-3, 2)),
            (op(Meaning::Remainder, uint), vec![Integers::ANY, of(&[7])], Integers::between(0, 6).expect("in order")),
            (op(Meaning::Abs, int), vec![signed(-9, 7)], signed(0, 9)),
            (op(Meaning::Abs, int), vec![Integers::ANY], Integers::between(0, 1 << 31).expect("in order")),
            (op(Meaning::ShiftRight, int), vec![signed(-9, 7), of(&[1])], signed(-5, 3)),
            (op(Meaning::FirstBitLow, uint), vec![of(&[8, 24])], of(&[3])),
            (op(Meaning::CountBits, uint), vec![of(&[8, 24])], of(&[1, 2])),
        ] {
            assert_eq!(forward(op, &operands), expected, "{op:?} {operands:?}");
        }
    }
}

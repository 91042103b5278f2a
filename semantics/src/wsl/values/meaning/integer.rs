//! Operations on `int` and `uint`: seed 004 "Integer arithmetic", "Bit manipulation", "Comparison
//! operators". Results are the low 32 bits of the exact ones.

use super::OpResult;
use crate::wsl::library::Meaning;

/// Operations that do not depend on the sign.
fn of_either(meaning: Meaning, operands: &[u32]) -> Option<OpResult> {
    use Meaning::*;
    Some(match (meaning, operands) {
        (Add, &[x, y]) => OpResult::Exactly(x.wrapping_add(y)),
        (Subtract, &[x, y]) => OpResult::Exactly(x.wrapping_sub(y)),
        (Multiply, &[x, y]) => OpResult::Exactly(x.wrapping_mul(y)),
        (Increment, &[x]) => OpResult::Exactly(x.wrapping_add(1)),
        (Decrement, &[x]) => OpResult::Exactly(x.wrapping_sub(1)),
        // "If the second operand is 0, both return an unspecified value."
        (Divide | Remainder, &[_, 0]) => OpResult::ANY,
        (And, &[x, y]) => OpResult::Exactly(x & y),
        (Or, &[x, y]) => OpResult::Exactly(x | y),
        (Xor, &[x, y]) => OpResult::Exactly(x ^ y),
        (Complement, &[x]) => OpResult::Exactly(!x),
        // "By their second argument modulo the bit-width of their first argument."
        (ShiftLeft, &[x, amount]) => OpResult::Exactly(x << (amount & 31)),
        (Equal, &[x, y]) => (x == y).into(),
        (NotEqual, &[x, y]) => (x != y).into(),
        _ => return None,
    })
}

/// The result of an operation on `uint`. `None` if there is no such operation.
pub(super) fn of_uint(meaning: Meaning, operands: &[u32]) -> Option<OpResult> {
    use Meaning::*;
    if let Some(result) = of_either(meaning, operands) {
        return Some(result);
    }
    // "-1 if its argument is 0" is the greatest uint (ERRATA WSL-E1).
    let bit = |number: Option<u32>| OpResult::Exactly(number.unwrap_or(u32::MAX));
    Some(match (meaning, operands) {
        (Divide, &[x, y]) => OpResult::Exactly(x / y),
        (Remainder, &[x, y]) => OpResult::Exactly(x % y),
        (Abs, &[x]) => OpResult::Exactly(x),
        (Sign, &[x]) => OpResult::Exactly((x != 0).into()),
        (Min, &[x, y]) => OpResult::Exactly(x.min(y)),
        (Max, &[x, y]) => OpResult::Exactly(x.max(y)),
        (Clamp, &[_, low, high]) if high < low => OpResult::ANY,
        (Clamp, &[x, low, high]) => OpResult::Exactly(x.clamp(low, high)),
        (ShiftRight, &[x, amount]) => OpResult::Exactly(x >> (amount & 31)),
        (CountBits, &[x]) => OpResult::Exactly(x.count_ones()),
        (ReverseBits, &[x]) => OpResult::Exactly(x.reverse_bits()),
        (FirstBitHigh, &[x]) => bit(x.checked_ilog2()),
        (FirstBitLow, &[x]) => bit((x != 0).then(|| x.trailing_zeros())),
        (Less, &[x, y]) => (x < y).into(),
        (LessEqual, &[x, y]) => (x <= y).into(),
        (Greater, &[x, y]) => (x > y).into(),
        (GreaterEqual, &[x, y]) => (x >= y).into(),
        _ => return None,
    })
}

/// The result of an operation on `int`. `None` if there is no such operation.
pub(super) fn of_int(meaning: Meaning, operands: &[u32]) -> Option<OpResult> {
    use Meaning::*;
    if let Some(result) = of_either(meaning, operands) {
        return Some(result);
    }
    let int = |bits: u32| bits as i32;
    let exactly = |x: i32| OpResult::Exactly(x as u32);
    Some(match (meaning, operands) {
        // INT_MIN / -1 and INT_MIN % -1 "follow 2-complement semantics": INT_MIN and 0.
        (Divide, &[x, y]) => exactly(int(x).wrapping_div(int(y))),
        (Remainder, &[x, y]) => exactly(int(x).wrapping_rem(int(y))),
        (Negate, &[x]) => exactly(int(x).wrapping_neg()),
        (Abs, &[x]) => exactly(int(x).wrapping_abs()),
        (Sign, &[x]) => exactly(int(x).signum()),
        (Min, &[x, y]) => exactly(int(x).min(int(y))),
        (Max, &[x, y]) => exactly(int(x).max(int(y))),
        (Clamp, &[_, low, high]) if int(high) < int(low) => OpResult::ANY,
        (Clamp, &[x, low, high]) => exactly(int(x).clamp(int(low), int(high))),
        (ShiftRight, &[x, amount]) => exactly(int(x) >> (amount & 31)),
        (Less, &[x, y]) => (int(x) < int(y)).into(),
        (LessEqual, &[x, y]) => (int(x) <= int(y)).into(),
        (Greater, &[x, y]) => (int(x) > int(y)).into(),
        (GreaterEqual, &[x, y]) => (int(x) >= int(y)).into(),
        _ => return None,
    })
}

//! The operations on scalars.

use super::Op;
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;

impl Op {
    /// The operation from operands of one type to a result of another.
    pub const fn new(meaning: Meaning, of: Scalar, to: Scalar) -> Op {
        Op { meaning, of, to }
    }

    /// The number of operands. `None` if there is no such operation on scalars.
    ///
    /// The second operand of a shift is a `uint`. [`Meaning::Modf`] is only the fraction
    /// ([`Meaning::Trunc`] is the rest). [`Meaning::All`] and [`Meaning::Any`] are whether one
    /// element is true or not zero. An enum has the operations of its base type.
    pub fn arity(self) -> Option<usize> {
        use Meaning::*;
        let Op { meaning, of, to } = self;
        let (integer, float, same) = (matches!(of, Scalar::Uint | Scalar::Int), of == Scalar::Float, of == to);
        let (number, truth) = (integer || float, to == Scalar::Bool);
        let (exists, arity) = match meaning {
            Add | Subtract | Multiply | Divide | Min | Max => (number && same, 2),
            Remainder | ShiftLeft | ShiftRight => (integer && same, 2),
            Clamp => (number && same, 3),
            Increment | Decrement => (integer && same, 1),
            Negate => ((of == Scalar::Int || float) && same, 1),
            Abs => (number && same, 1),
            Sign => (if float { same } else { integer && to == Scalar::Int }, 1),
            And | Or | Xor => (!float && same, 2),
            Complement => (!float && same, 1),
            Not => (of == Scalar::Bool && same, 1),
            All | Any => (truth, 1),
            CountBits | ReverseBits | FirstBitHigh | FirstBitLow => (of == Scalar::Uint && same, 1),
            Cos | Sin | Tan | Acos | Asin | Atan | Cosh | Sinh | Tanh | Ceil | Floor | Round | Trunc | Frac | Exp | Exp2 | Log | Log2
            | Log10 | Sqrt | Rsqrt | Rcp | Degrees | Radians | Saturate | Modf => (float && same, 1),
            Pow | Step | Ldexp | Fmod | Atan2 => (float && same, 2),
            Smoothstep | Lerp | Mad => (float && same, 3),
            IsFinite | IsInf | IsNan => (float && truth, 1),
            Convert => (!same, 1),
            Reinterpret => (number && !truth, 1),
            Equal | NotEqual => (truth, 2),
            Less | LessEqual | Greater | GreaterEqual => (number && truth, 2),
            _ => (false, 0),
        };
        exists.then_some(arity)
    }
}

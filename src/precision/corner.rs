//! Questions whose answers show how a device treats corner cases, allowed or not.

use smallstep_semantics::number::sets::Set;

use super::{Function, Judge};

/// A question: the result of the function for these operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The topic of the question.
    pub about: &'static str,
    /// The label of the function.
    pub function: &'static str,
    /// The operands of the function.
    pub operands: &'static [f32],
}

/// The result of a device for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The index of the question in [`QUESTIONS`].
    pub place: usize,
    /// The question.
    pub question: Question,
    /// The bits of the result.
    pub shown: u32,
    /// The set of allowed results.
    pub allowed: Set,
}

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const MAX: f32 = f32::MAX;
/// The least normal number, half of it, and the least subnormal number.
const NORMAL: f32 = f32::MIN_POSITIVE;
const HALF: f32 = f32::from_bits(0x0040_0000);
const LEAST: f32 = f32::from_bits(1);

macro_rules! questions {
    ($($about:literal: $($function:ident($($operand:expr),*))|+;)*) => {
        /// All questions, grouped by topic.
        pub const QUESTIONS: &[Question] = &[
            $($(Question { about: $about, function: stringify!($function), operands: &[$($operand),*] },)+)*
        ];
    };
}

questions! {
    "subnormal operands": FAdd(HALF, HALF) | FMul(HALF, 4.0) | FDiv(HALF, HALF) | FSub(LEAST, 0.0) | FNegate(HALF) | FAbs(-HALF) | FMin(HALF, 1.0)
        | FMax(HALF, 0.0) | FSign(LEAST) | Ceil(LEAST) | Floor(-LEAST) | Step(0.0, -LEAST) | Sqrt(HALF) | InverseSqrt(HALF) | Log2(HALF) | Sin(HALF)
        | Fract(-LEAST);
    "subnormal results": FMul(NORMAL, 0.5) | FDiv(NORMAL, 2.0) | FSub(1.5 * NORMAL, NORMAL) | Exp2(-127.0) | Exp(-88.0) | Fma(NORMAL, 0.25, NORMAL)
        | Radians(2.0 * NORMAL) | Pow(2.0, -130.0);
    "subnormal after rounding": FMul(1.0 - f32::EPSILON / 2.0, NORMAL);
    "rounding": FAdd(1.0, f32::EPSILON / 2.0) | FAdd(1.0 + f32::EPSILON, f32::EPSILON / 2.0) | FAdd(1.0, -1e-20) | FAdd(-1.0, 1e-20)
        | Fma(1.0 + f32::EPSILON, 1.0 + f32::EPSILON, -1.0);
    "halves": Round(0.5) | Round(1.5) | Round(2.5) | Round(-0.5) | RoundEven(2.5) | RoundEven(-0.5);
    "signs of zero": FNegate(0.0) | FAdd(-0.0, -0.0) | FAdd(1.0, -1.0) | FSub(0.0, 0.0) | FMul(-0.0, 1.0) | FDiv(0.0, -1.0) | FRem(-1.0, 1.0)
        | FMod(-1.0, 1.0) | Trunc(-0.5) | Ceil(-0.5) | Floor(-0.0) | FSign(-0.0) | Sqrt(-0.0) | Sin(-0.0) | Atan(-0.0) | Fract(-0.0)
        | FMin(-0.0, 0.0) | FMin(0.0, -0.0) | FMax(-0.0, 0.0) | FMax(0.0, -0.0) | Atan2(0.0, -1.0) | Atan2(-0.0, -1.0) | Atan2(0.0, 0.0);
    "overflow": FAdd(MAX, MAX) | FMul(MAX, -2.0) | FDiv(MAX, 0.5) | Exp(89.0) | Exp2(128.0) | Cosh(90.0) | Pow(2.0, 128.0) | Degrees(MAX)
        | Ldexp(1.0, f32::from_bits(128)) | Fma(MAX, 2.0, -MAX);
    "infinities": FAdd(INF, 1.0) | FAdd(INF, -INF) | FMul(INF, 0.0) | FDiv(1.0, 0.0) | FDiv(1.0, -0.0) | FDiv(0.0, 0.0) | FDiv(1.0, INF)
        | FMod(1.0, INF) | FRem(1.0, INF) | FMod(1.0, 0.0) | Floor(INF) | Fract(INF) | Exp(-INF) | Log(0.0) | Log(INF) | Sqrt(INF) | InverseSqrt(0.0)
        | InverseSqrt(-0.0) | InverseSqrt(INF) | Sin(INF) | Atan(INF) | Tanh(INF) | Pow(0.0, -1.0) | Atanh(1.0) | FMix(0.0, INF, 0.0);
    "outside of the domain": Sqrt(-1.0) | InverseSqrt(-1.0) | Log(-1.0) | Log2(-1.0) | Asin(2.0) | Acos(2.0) | Acosh(0.5) | Atanh(2.0) | Pow(-2.0, 2.0)
        | Pow(0.0, 0.0) | FClamp(0.5, 1.0, 0.0) | SmoothStep(1.0, 0.0, 0.5) | SmoothStep(0.5, 0.5, 0.5);
    "NaN": FAdd(NAN, 1.0) | FNegate(NAN) | FAbs(NAN) | FSign(NAN) | Floor(NAN) | FMin(NAN, 1.0) | FMin(1.0, NAN) | FMax(NAN, 1.0) | FMax(1.0, NAN)
        | NMin(NAN, 1.0) | NMin(1.0, NAN) | NMax(NAN, 1.0) | NMax(1.0, NAN) | NMin(NAN, NAN) | FClamp(NAN, 0.0, 1.0) | NClamp(NAN, 0.0, 1.0)
        | NClamp(0.5, NAN, 1.0) | Step(NAN, 1.0) | Step(1.0, NAN) | Sin(NAN) | Pow(NAN, 0.0) | Pow(1.0, NAN);
    "quotients near an integer": FMod(1.0, 0.1) | FRem(1.0, 0.1) | FMod(-1.0, 3.0) | FMod(1.0, -3.0) | FRem(-7.0, 3.0) | FMod(0.3, 0.1) | FMod(3.0, 3.0)
        | FMod(1e10, 3.0);
    "large arguments": Sin(1e10) | Cos(1e10) | Tan(1e6) | Sin(MAX) | Tanh(20.0) | Asinh(1e30) | Acosh(1e30);
}

impl Question {
    /// Whether the question is about this function.
    pub fn is_for(&self, function: &Function) -> bool {
        self.function == function.label()
    }

    /// The bits of the operands.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.operands.iter().map(|x| x.to_bits())
    }
}

impl Answer {
    pub(super) fn new(place: usize, shown: u32, judge: &Judge) -> Answer {
        let question = QUESTIONS[place];
        let words: Vec<u32> = question.words().collect();
        Answer { place, question, shown, allowed: judge.allowed(&words)[0] }
    }

    /// Whether the result is allowed.
    pub fn is_allowed(&self) -> bool {
        self.allowed.contains(f64::from(f32::from_bits(self.shown)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, QUESTIONS};

    #[test]
    fn every_question_is_asked_of_a_function() {
        let all = Function::all();
        for question in QUESTIONS {
            let function = all.iter().find(|f| question.is_for(f)).unwrap_or_else(|| panic!("there is no {}", question.function));
            assert_eq!((function.words(), function.results), (question.operands.len(), 1), "{}", question.function);
        }
    }
}

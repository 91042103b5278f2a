//! Operations on `bool`, `int` and `uint`: by hand, and by a second implementation in 128 bits.

use crate::common::Checks;
use crate::random::Random;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::{Op, OpResult, Planted};
use smallstep_semantics::wsl::types::Scalar;

const ANY: OpResult = OpResult::Any(0);

fn exactly(x: i64) -> OpResult {
    OpResult::Exactly(x as u32)
}

/// Checks operations with results worked out by hand.
pub fn by_hand(checks: &mut Checks) {
    use Meaning::*;
    const LEAST: i64 = i32::MIN as i64;
    const MOST: i64 = i32::MAX as i64;
    const ALL: i64 = u32::MAX as i64;
    let mut of = |scalar: Scalar, cases: &[(Meaning, &[i64], OpResult)]| {
        for (meaning, operands, expected) in cases {
            let to = if matches!(meaning, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual) { Scalar::Bool } else { scalar };
            let to = if *meaning == Sign { Scalar::Int } else { to };
            let operands: Vec<u32> = operands.iter().map(|&x| x as u32).collect();
            checks.scalar(Op { meaning: *meaning, of: scalar, to }, &operands, expected.clone());
        }
    };
    of(
        Scalar::Int,
        &[
            (Add, &[MOST, 1], exactly(LEAST)),
            (Subtract, &[LEAST, 1], exactly(MOST)),
            (Multiply, &[65536, 65536], exactly(0)),
            (Multiply, &[-3, 7], exactly(-21)),
            (Negate, &[LEAST], exactly(LEAST)),
            (Negate, &[5], exactly(-5)),
            (Increment, &[MOST], exactly(LEAST)),
            (Decrement, &[LEAST], exactly(MOST)),
            (Divide, &[-7, 2], exactly(-3)),
            (Divide, &[7, -2], exactly(-3)),
            (Divide, &[LEAST, -1], exactly(LEAST)),
            (Divide, &[1, 0], ANY),
            (Divide, &[0, 0], ANY),
            (Remainder, &[-7, 2], exactly(-1)),
            (Remainder, &[7, -2], exactly(1)),
            (Remainder, &[LEAST, -1], exactly(0)),
            (Remainder, &[LEAST, 0], ANY),
            (Abs, &[LEAST], exactly(LEAST)),
            (Abs, &[-3], exactly(3)),
            (Sign, &[-9], exactly(-1)),
            (Sign, &[0], exactly(0)),
            (Sign, &[MOST], exactly(1)),
            (Min, &[-1, 0], exactly(-1)),
            (Max, &[-1, 0], exactly(0)),
            (Clamp, &[5, -1, 1], exactly(1)),
            (Clamp, &[-5, -1, 1], exactly(-1)),
            (Clamp, &[0, -1, 1], exactly(0)),
            (Clamp, &[0, 1, -1], ANY),
            (Clamp, &[7, 2, 2], exactly(2)),
            (And, &[-1, 6], exactly(6)),
            (Or, &[LEAST, 1], exactly(LEAST + 1)),
            (Xor, &[-1, 1], exactly(-2)),
            (Complement, &[0], exactly(-1)),
            (ShiftLeft, &[1, 31], exactly(LEAST)),
            (ShiftLeft, &[1, 33], exactly(2)),
            (ShiftLeft, &[1, 32], exactly(1)),
            (ShiftRight, &[-8, 1], exactly(-4)),
            (ShiftRight, &[-8, 33], exactly(-4)),
            (ShiftRight, &[LEAST, 31], exactly(-1)),
            (ShiftRight, &[-8, 64], exactly(-8)),
            (Less, &[-1, 0], exactly(1)),
            (LessEqual, &[-1, -1], exactly(1)),
            (Greater, &[-1, 0], exactly(0)),
            (GreaterEqual, &[LEAST, MOST], exactly(0)),
            (Equal, &[-1, -1], exactly(1)),
            (NotEqual, &[-1, 1], exactly(1)),
        ],
    );
    of(
        Scalar::Uint,
        &[
            (Add, &[ALL, 1], exactly(0)),
            (Subtract, &[0, 1], exactly(ALL)),
            (Multiply, &[ALL, ALL], exactly(1)),
            (Increment, &[ALL], exactly(0)),
            (Decrement, &[0], exactly(ALL)),
            (Divide, &[ALL, 2], exactly(MOST)),
            (Divide, &[3, 0], ANY),
            (Remainder, &[ALL, 10], exactly(5)),
            (Remainder, &[3, 0], ANY),
            (Abs, &[ALL], exactly(ALL)),
            (Sign, &[ALL], exactly(1)),
            (Sign, &[0], exactly(0)),
            (Min, &[ALL, 0], exactly(0)),
            (Max, &[ALL, 0], exactly(ALL)),
            (Clamp, &[ALL, 1, 9], exactly(9)),
            (Clamp, &[5, 9, 1], ANY),
            (ShiftRight, &[ALL, 31], exactly(1)),
            (ShiftRight, &[ALL, 32], exactly(ALL)),
            (ShiftLeft, &[ALL, 63], exactly(LEAST)),
            (CountBits, &[0], exactly(0)),
            (CountBits, &[ALL], exactly(32)),
            (CountBits, &[0xf0f0], exactly(8)),
            (ReverseBits, &[1], exactly(0x8000_0000)),
            (ReverseBits, &[0x0000_ff01], exactly(0x80ff_0000)),
            (FirstBitHigh, &[0], exactly(ALL)),
            (FirstBitHigh, &[1], exactly(0)),
            (FirstBitHigh, &[ALL], exactly(31)),
            (FirstBitHigh, &[0x0000_8001], exactly(15)),
            (FirstBitLow, &[0], exactly(ALL)),
            (FirstBitLow, &[0x8000_0000], exactly(31)),
            (FirstBitLow, &[0x0000_0018], exactly(3)),
            (Less, &[0, ALL], exactly(1)),
            (Greater, &[ALL, 0], exactly(1)),
            (LessEqual, &[ALL, 0], exactly(0)),
            (GreaterEqual, &[ALL, ALL], exactly(1)),
            (Equal, &[ALL, -1], exactly(1)),
            (NotEqual, &[0, 0], exactly(0)),
        ],
    );
    // Any bits except 0 are true.
    of(
        Scalar::Bool,
        &[
            (And, &[1, 2], exactly(1)),
            (And, &[1, 0], exactly(0)),
            (Or, &[0, 4], exactly(1)),
            (Or, &[0, 0], exactly(0)),
            (Xor, &[1, 2], exactly(0)),
            (Xor, &[0, 2], exactly(1)),
            (Complement, &[0], exactly(1)),
            (Complement, &[7], exactly(0)),
            (Not, &[0], exactly(1)),
            (Not, &[ALL], exactly(0)),
            (Equal, &[1, 8], exactly(1)),
            (Equal, &[0, 8], exactly(0)),
            (NotEqual, &[1, 8], exactly(0)),
            (NotEqual, &[0, 8], exactly(1)),
        ],
    );
}

/// The operation on integers of any size, after the seed's sentences. `None` for operations that
/// are no arithmetic.
fn exact(op: Op, x: &[i128]) -> Option<OpResult> {
    use Meaning::*;
    // "As if they computed the result as integers with a large enough width […], then truncated
    // to the 32 low-bits of the result."
    let low = |x: i128| Some(OpResult::Exactly((x & 0xffff_ffff) as u32));
    let truth = |x: bool| low(x.into());
    let bit = |i: u32| 1i128 << i;
    let unsigned = |x: i128| x & 0xffff_ffff;
    let by_bits = |f: &dyn Fn(i128, i128) -> bool| {
        let y = x.get(1).copied().unwrap_or(0);
        low((0..32).filter(|&i| f(x[0] >> i & 1, y >> i & 1)).map(bit).sum())
    };
    let first = |mut bits: Box<dyn Iterator<Item = u32>>| low(bits.find(|&i| unsigned(x[0]) & bit(i) != 0).map_or(-1, i128::from));
    match op.meaning {
        Add => low(x[0] + x[1]),
        Subtract => low(x[0] - x[1]),
        Multiply => low(x[0] * x[1]),
        Negate => low(-x[0]),
        Increment => low(x[0] + 1),
        Decrement => low(x[0] - 1),
        Divide | Remainder if x[1] == 0 => Some(ANY),
        Divide => low(if (x[0] < 0) == (x[1] < 0) { x[0].abs() / x[1].abs() } else { -(x[0].abs() / x[1].abs()) }),
        // (a/b)·b + a%b = a.
        Remainder => low((x[0].abs() % x[1].abs()) * if x[0] < 0 { -1 } else { 1 }),
        Abs => low(if x[0] >= 0 { x[0] } else { -x[0] }),
        Sign => low((x[0] > 0) as i128 - (x[0] < 0) as i128),
        Min => low(if x[0] <= x[1] { x[0] } else { x[1] }),
        Max => low(if x[0] >= x[1] { x[0] } else { x[1] }),
        Clamp if x[2] < x[1] => Some(ANY),
        Clamp => low(if x[0] < x[1] {
            x[1]
        } else if x[0] > x[2] {
            x[2]
        } else {
            x[0]
        }),
        And => by_bits(&|a, b| a + b == 2),
        Or => by_bits(&|a, b| a + b > 0),
        Xor => by_bits(&|a, b| a + b == 1),
        Complement => by_bits(&|a, _| a == 0),
        ShiftLeft => low(x[0] * bit((unsigned(x[1]) % 32) as u32)),
        ShiftRight => low(x[0].div_euclid(bit((unsigned(x[1]) % 32) as u32))),
        CountBits => low((0..32).map(|i| x[0] >> i & 1).sum()),
        ReverseBits => low((0..32).map(|i| (x[0] >> i & 1) * bit(31 - i)).sum()),
        FirstBitHigh => first(Box::new((0..32).rev())),
        FirstBitLow => first(Box::new(0..32)),
        Equal => truth(x[0] == x[1]),
        NotEqual => truth(x[0] != x[1]),
        Less => truth(x[0] < x[1]),
        LessEqual => truth(x[0] <= x[1]),
        Greater => truth(x[0] > x[1]),
        GreaterEqual => truth(x[0] >= x[1]),
        _ => None,
    }
}

pub const MEANINGS: [Meaning; 30] = [
    Meaning::Add,
    Meaning::Subtract,
    Meaning::Multiply,
    Meaning::Negate,
    Meaning::Increment,
    Meaning::Decrement,
    Meaning::Divide,
    Meaning::Remainder,
    Meaning::Abs,
    Meaning::Sign,
    Meaning::Min,
    Meaning::Max,
    Meaning::Clamp,
    Meaning::And,
    Meaning::Or,
    Meaning::Xor,
    Meaning::Complement,
    Meaning::Not,
    Meaning::ShiftLeft,
    Meaning::ShiftRight,
    Meaning::CountBits,
    Meaning::ReverseBits,
    Meaning::FirstBitHigh,
    Meaning::FirstBitLow,
    Meaning::Equal,
    Meaning::NotEqual,
    Meaning::Less,
    Meaning::LessEqual,
    Meaning::Greater,
    Meaning::GreaterEqual,
];

/// Checks every operation on integers at corners and at `random` other operands.
pub fn again(checks: &mut Checks, random: usize) {
    let corners: [u32; 20] = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        0xffff,
        0x1_0000,
        0x5555_5555,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xaaaa_aaaa,
        0xffff_fffe,
        0xffff_ffff,
        0xffff_ffe0,
    ];
    let mut source = Random(7);
    for (of, to, meaning) in [Scalar::Int, Scalar::Uint]
        .into_iter()
        .flat_map(|of| Scalar::ALL.into_iter().flat_map(move |to| MEANINGS.map(|meaning| (of, to, meaning))))
    {
        let op = Op { meaning, of, to };
        let Some(arity) = op.arity() else { continue };
        let mut check = |operands: &[u32]| {
            let signed = |(i, &x): (usize, &u32)| {
                let shift = i == 1 && matches!(meaning, Meaning::ShiftLeft | Meaning::ShiftRight);
                if of == Scalar::Int && !shift { i128::from(x as i32) } else { i128::from(x) }
            };
            let exact = exact(op, &operands.iter().enumerate().map(signed).collect::<Vec<_>>());
            checks.scalar(op, operands, exact.unwrap_or_else(|| panic!("{op:?}")));
        };
        for i in 0..corners.len().pow(arity as u32) {
            let operands: Vec<u32> = (0..arity).map(|k| corners[i / corners.len().pow(k as u32) % corners.len()]).collect();
            check(&operands);
        }
        for _ in 0..random {
            let operands: Vec<u32> = (0..arity).map(|_| source.next() as u32 >> source.below(32)).collect();
            check(&operands);
        }
    }
}

#[test]
fn integers_by_hand() {
    let mut checks = Checks::of(Planted::NONE);
    by_hand(&mut checks);
    checks.assert();
}

#[test]
fn integers_on_128_bits() {
    let mut checks = Checks::of(Planted::NONE);
    again(&mut checks, 500);
    checks.assert();
}

#[test]
fn operations_are_those_of_the_table() {
    let count = |of: Scalar| {
        MEANINGS.into_iter().filter(|&meaning| Scalar::ALL.into_iter().any(|to| Op { meaning, of, to }.arity().is_some())).count()
    };
    // No negation and no bit counts of int, …
    assert_eq!([Scalar::Bool, Scalar::Uint, Scalar::Int].map(count), [7, 28, 25]);
    assert_eq!(Op { meaning: Meaning::Negate, of: Scalar::Uint, to: Scalar::Uint }.arity(), None);
    assert_eq!(Op { meaning: Meaning::Dot, of: Scalar::Int, to: Scalar::Int }.arity(), None);
    assert_eq!(Op { meaning: Meaning::Sign, of: Scalar::Uint, to: Scalar::Uint }.arity(), None);
}

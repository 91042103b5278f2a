//! Conversions from one scalar type to another.

use crate::common::{Checks, NAN};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::{Op, OpResult, Planted};
use smallstep_semantics::wsl::types::Scalar;

pub fn by_hand(checks: &mut Checks) {
    use Scalar::{Bool, Float, Int, Uint};
    let exactly = OpResult::Exactly;
    let float = |x: f32| x.to_bits();
    let any = OpResult::Any(0);
    let cases: &[(Scalar, Scalar, u32, OpResult)] = &[
        (Float, Int, float(-1.75), exactly(-1i32 as u32)),
        (Float, Int, float(1.75), exactly(1)),
        (Float, Int, float(-0.0), exactly(0)),
        (Float, Int, float(-2147483648.0), exactly(0x8000_0000)),
        (Float, Int, float(2147483520.0), exactly(2147483520)),
        (Float, Int, float(2147483648.0), any.clone()),
        (Float, Int, float(-2147483904.0), any.clone()),
        (Float, Int, NAN, any.clone()),
        (Float, Int, float(f32::INFINITY), any.clone()),
        (Float, Uint, float(-0.99), exactly(0)),
        (Float, Uint, float(-1.0), any.clone()),
        (Float, Uint, float(4294967040.0), exactly(4294967040)),
        (Float, Uint, float(4294967296.0), any.clone()),
        (Float, Uint, float(f32::NEG_INFINITY), any.clone()),
        (Float, Uint, float(1e-45), exactly(0)),
        (Float, Bool, float(-0.0), exactly(0)),
        (Float, Bool, float(0.0), exactly(0)),
        (Float, Bool, float(1e-45), exactly(1)),
        (Float, Bool, NAN, exactly(1)),
        (Int, Bool, 0x8000_0000, exactly(1)),
        (Int, Bool, 0, exactly(0)),
        (Uint, Bool, 2, exactly(1)),
        (Int, Uint, 0xffff_ffff, exactly(0xffff_ffff)),
        (Uint, Int, 0x8000_0000, exactly(0x8000_0000)),
        (Int, Float, -1i32 as u32, exactly(float(-1.0))),
        (Int, Float, 0x8000_0000, exactly(float(-2147483648.0))),
        // Halfway between two floats, to the even one.
        (Int, Float, 16777217, exactly(float(16777216.0))),
        (Int, Float, 16777219, exactly(float(16777220.0))),
        (Uint, Float, 0xffff_ffff, exactly(float(4294967296.0))),
        (Uint, Float, 0x8000_0000, exactly(float(2147483648.0))),
        (Uint, Float, 0, exactly(0)),
        (Bool, Uint, 5, exactly(1)),
        (Bool, Int, 0, exactly(0)),
        (Bool, Float, 1, exactly(float(1.0))),
        (Bool, Float, 0, exactly(0)),
    ];
    for (of, to, x, expected) in cases {
        checks.scalar(Op { meaning: Meaning::Convert, of: *of, to: *to }, &[*x], expected.clone());
    }
    // Reinterpretation keeps the bits, also those of a NaN.
    for (of, to, x) in [(Float, Uint, 0xff80_0001), (Uint, Float, 0x7f80_0001), (Int, Int, 7), (Float, Int, 0x8000_0000)] {
        checks.scalar(Op { meaning: Meaning::Reinterpret, of, to }, &[x], exactly(x));
    }
    for meaning in [Meaning::All, Meaning::Any] {
        for (of, x, expected) in
            [(Bool, 4, 1), (Bool, 0, 0), (Uint, 1, 1), (Int, 0, 0), (Float, float(-0.0), 0), (Float, NAN, 1), (Float, float(0.5), 1)]
        {
            checks.scalar(Op { meaning, of, to: Bool }, &[x], exactly(expected));
        }
    }
}

#[test]
fn conversions_by_hand() {
    let mut checks = Checks::of(Planted::NONE);
    by_hand(&mut checks);
    checks.assert();
}

//! Values worked out by hand, or known to many digits for centuries.

use super::inputs::named;
use smallstep_semantics::number::reference::{Direction, Enclosure, Exact, Rounded, enclose, enclose_tightly, rounded};
use std::f64::consts::{E, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_10, PI, SQRT_2};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The tight enclosure. The fast enclosure must contain it.
fn tight(name: &str, args: &[f64]) -> Exact {
    let (fast, tight) = (enclose(named(name), args).expect("a function"), enclose_tightly(named(name), args).expect("a function"));
    match (fast, tight) {
        (Exact::Within(fast), Exact::Within(tight)) => assert!(fast.low <= tight.low && tight.high <= fast.high, "{name} {args:?}"),
        _ => assert_eq!(fast, tight, "{name} {args:?}"),
    }
    tight
}

fn assert_within(name: &str, args: &[f64], low: f64, high: f64) {
    let found = tight(name, args);
    let Exact::Within(found) = found else { panic!("{name} {args:?} is undefined") };
    // This compares the sign of zero too.
    assert_eq!((found.low.to_bits(), found.high.to_bits()), (low.to_bits(), high.to_bits()), "{name} {args:?}: {found:?}");
}

#[test]
fn known_constants_are_on_the_right_side_of_the_nearest_float() {
    // π = 3.14159265358979323846, and its float is …9311600. A half and a quarter of it are
    // exact divisions.
    assert_within("Acos", &[-1.0], PI, PI.next_up());
    assert_within("Asin", &[1.0], FRAC_PI_2, FRAC_PI_2.next_up());
    assert_within("Atan", &[-1.0], -FRAC_PI_4.next_up(), -FRAC_PI_4);
    assert_within("Atan", &[1e300], FRAC_PI_2, FRAC_PI_2.next_up());
    assert_within("Radians", &[180.0], PI, PI.next_up());
    // e = 2.71828182845904523536, its float …4509080.
    assert_within("Exp", &[1.0], E, E.next_up());
    // log 2 = 0.69314718055994530942, its float …52862.
    assert_within("Log", &[2.0], LN_2, LN_2.next_up());
    // log2 10 = 3.32192809488736234787, its float …218171.
    assert_within("Log2", &[10.0], LOG2_10, LOG2_10.next_up());
    // √2 = 1.41421356237309504880, its float …0951455.
    assert_within("Sqrt", &[2.0], SQRT_2.next_down(), SQRT_2);
    assert_within("Exp2", &[0.5], SQRT_2.next_down(), SQRT_2);
    assert_within("Pow", &[2.0, 0.5], SQRT_2.next_down(), SQRT_2);
}

/// Values known to twenty digits. Their nearest float is one end of the enclosure.
#[test]
fn known_digits_are_an_end() {
    #[rustfmt::skip]
    let known: [(&str, &[f64], &str); 18] = [
        ("Sin", &[1.0], "0.84147098480789650665"), ("Cos", &[1.0], "0.54030230586813971740"), ("Tan", &[1.0], "1.55740772465490223051"),
        ("Sinh", &[1.0], "1.17520119364380145688"), ("Cosh", &[1.0], "1.54308063481524377848"), ("Tanh", &[1.0], "0.76159415595576488812"),
        ("Asinh", &[1.0], "0.88137358701954302523"), ("Acosh", &[2.0], "1.31695789692481670863"), ("Atanh", &[0.5], "0.54930614433405484570"),
        ("Pow", &[10.0, 0.5], "3.16227766016837933200"), ("InverseSqrt", &[2.0], "0.70710678118654752440"),
        ("Degrees", &[1.0], "57.29577951308232087680"), ("Atan2", &[1.0, -1.0], "2.35619449019234492885"),
        ("Exp", &[-1.0], "0.36787944117144232160"), ("Log", &[10.0], "2.30258509299404568402"), ("Asin", &[0.5], "0.52359877559829887308"),
        ("Sin", &[1e22], "-0.85220084976718880177"), ("FDiv", &[1.0, 3.0], "0.33333333333333333333"),
    ];
    for (name, args, digits) in known {
        let Exact::Within(Enclosure { low, high }) = tight(name, args) else { panic!("{name} is undefined") };
        let nearest: f64 = digits.parse().expect("digits");
        assert!(low.next_up() == high && (nearest == low || nearest == high), "{name} {args:?}: {low:?} {high:?}, known {digits}");
    }
}

#[test]
fn exact_results_are_points() {
    let tiny = f64::from_bits(1);
    #[rustfmt::skip]
    let points: &[(&str, &[f64], f64)] = &[
        ("Pow", &[3.0, 5.0], 243.0), ("Pow", &[9.0, 0.5], 3.0), ("Pow", &[0.25, -1.5], 8.0), ("Pow", &[49.0, 1.5], 343.0),
        ("Pow", &[1.5, 3.0], 3.375), ("Pow", &[2.25, 2.5], 7.59375), ("Pow", &[6561.0, 0.125], 3.0), ("Pow", &[3.0, 33.0], 5_559_060_566_555_523.0),
        ("Pow", &[16.0, -0.25], 0.5), ("Pow", &[2.0, -1074.0], tiny), ("Pow", &[1.0, 1e300], 1.0), ("Pow", &[7.0, 0.0], 1.0), ("Pow", &[0.1, 1.0], 0.1),
        ("Pow", &[0.0, 2.5], 0.0), ("Exp2", &[10.0], 1024.0), ("Exp2", &[-149.0], 2f64.powi(-149)), ("Exp2", &[-1074.0], tiny), ("Exp2", &[0.0], 1.0),
        ("Log2", &[2f64.powi(-149)], -149.0), ("Log2", &[tiny], -1074.0), ("Log2", &[1.0], 0.0), ("Log2", &[65536.0], 16.0), ("Log", &[1.0], 0.0),
        ("Sqrt", &[49.0], 7.0), ("Sqrt", &[-0.0], -0.0), ("Sqrt", &[2f64.powi(-148)], 2f64.powi(-74)), ("InverseSqrt", &[0.0625], 4.0),
        ("InverseSqrt", &[2f64.powi(-148)], 2f64.powi(74)), ("Sin", &[-0.0], -0.0), ("Cos", &[0.0], 1.0), ("Tan", &[0.0], 0.0), ("Acos", &[1.0], 0.0),
        ("Acosh", &[1.0], 0.0), ("Exp", &[-0.0], 1.0), ("Cosh", &[0.0], 1.0), ("Atan2", &[-0.0, 3.0], -0.0), ("Atan2", &[0.0, 3.0], 0.0),
        ("FAdd", &[1.0, -1.0], 0.0), ("FAdd", &[1e16, 2.0], 10_000_000_000_000_002.0), ("FSub", &[0.5, 0.25], 0.25), ("FMul", &[0.1, 8.0], 0.8),
        ("FMul", &[-3.0, 0.0], -0.0), ("FDiv", &[1.0, -8.0], -0.125), ("FDiv", &[0.0, -8.0], -0.0), ("FRem", &[-7.0, 4.0], -3.0), ("FRem", &[8.0, -4.0], 0.0),
        ("FMod", &[-7.0, 4.0], 1.0), ("FMod", &[7.0, -4.0], -1.0), ("FMod", &[8.0, -4.0], -0.0), ("FMod", &[1e22, 3.0], 1.0),
        ("Fma", &[3.0, 5.0, -15.0], 0.0), ("Fma", &[1.0 + 2f64.powi(-23), 1.0 - 2f64.powi(-23), -1.0], -(2f64.powi(-46))),
        ("FMix", &[2.0, 10.0, 0.25], 4.0), ("FMix", &[1e30, 1e-30, 1.0], 1e-30), ("SmoothStep", &[0.0, 4.0, 1.0], 0.156_25), ("SmoothStep", &[0.0, 4.0, -1.0], 0.0),
        ("SmoothStep", &[0.0, 4.0, 9.0], 1.0), ("SmoothStep", &[0.0, 4.0, INF], 1.0), ("Fract", &[-0.25], 0.75), ("Fract", &[-0.0], 0.0), ("Round", &[2.5], 2.0),
        ("Round", &[-3.5], -4.0), ("RoundEven", &[0.5], 0.0), ("Trunc", &[-1.75], -1.0), ("Floor", &[-0.5], -1.0), ("Ceil", &[-0.5], -0.0), ("FNegate", &[3.0], -3.0),
        ("FAbs", &[-INF], INF), ("FSign", &[-0.0], 0.0), ("FSign", &[-1e-300], -1.0), ("FMin", &[2.0, -3.0], -3.0), ("FMax", &[2.0, -3.0], 2.0), ("NMin", &[NAN, 5.0], 5.0),
        ("NMax", &[5.0, NAN], 5.0), ("FClamp", &[7.0, 1.0, 3.0], 3.0), ("NClamp", &[NAN, 1.0, 3.0], 1.0), ("Step", &[2.0, 1.0], 0.0), ("Step", &[2.0, 2.0], 1.0),
        ("Ldexp", &[3.0, -2.0], 0.75), ("Ldexp", &[3.0, -1074.0], 3.0 * tiny), ("Ldexp", &[tiny, 2000.0], 2f64.powi(926)), ("Ldexp", &[INF, 1.0], INF),
    ];
    for &(name, args, expected) in points {
        assert_within(name, args, expected, expected);
    }
}

#[test]
fn limits_and_poles_are_points() {
    #[rustfmt::skip]
    let points: &[(&str, &[f64], f64)] = &[
        ("Exp", &[-INF], 0.0), ("Exp", &[INF], INF), ("Exp2", &[-INF], 0.0), ("Log", &[0.0], -INF), ("Log", &[-0.0], -INF), ("Log2", &[0.0], -INF), ("Log", &[INF], INF),
        ("Tanh", &[-INF], -1.0), ("Atanh", &[1.0], INF), ("Atanh", &[-1.0], -INF), ("Acosh", &[INF], INF), ("Cosh", &[-INF], INF), ("Sinh", &[-INF], -INF),
        ("InverseSqrt", &[INF], 0.0), ("InverseSqrt", &[0.0], INF), ("InverseSqrt", &[-0.0], -INF), ("FDiv", &[1.0, 0.0], INF), ("FDiv", &[1.0, -0.0], -INF),
        ("FDiv", &[-1.0, INF], -0.0), ("FAdd", &[INF, -1.0], INF), ("FMul", &[INF, -2.0], -INF), ("FRem", &[-3.0, INF], -3.0), ("FMod", &[3.0, INF], 3.0),
        ("FMod", &[-3.0, INF], INF), ("Pow", &[2.0, INF], INF), ("Pow", &[0.5, INF], 0.0), ("Pow", &[INF, -1.0], 0.0), ("Fma", &[1e300, 1e300, -INF], -INF),
        ("FMix", &[1.0, INF, 0.5], INF), ("Atan2", &[1.0, INF], 0.0),
    ];
    for &(name, args, expected) in points {
        assert_within(name, args, expected, expected);
    }
    assert_within("Atan", &[INF], FRAC_PI_2, FRAC_PI_2.next_up());
    assert_within("Atan2", &[-0.0, -1.0], -PI.next_up(), -PI);
    assert_within("Atan2", &[INF, 1.0], FRAC_PI_2, FRAC_PI_2.next_up());
    assert_within("Atan2", &[1.0, -INF], PI, PI.next_up());
    assert_within("Exp", &[710.0], f64::MAX, INF);
    assert_within("Sinh", &[-711.0], -INF, -f64::MAX);
    assert_within("Pow", &[10.0, 309.0], f64::MAX, INF);
    assert_within("Pow", &[10.0, -400.0], 0.0, f64::from_bits(1));
    assert_within("Exp2", &[1024.0], f64::MAX, INF);
    assert_within("Ldexp", &[1.5, -1074.0], f64::from_bits(1), f64::from_bits(2));
    assert_within("Ldexp", &[-1.75, -1074.0], -f64::from_bits(2), -f64::from_bits(1));
    assert_within("Ldexp", &[1.0, -9999.0], 0.0, f64::from_bits(1));
    assert_within("Ldexp", &[-1.0, 9999.0], -INF, -f64::MAX);
    assert_within("FMul", &[1e200, 1e200], f64::MAX, INF);
    assert_within("FMul", &[1e-200, -1e-200], -f64::from_bits(1), -0.0);
    assert_within("FAdd", &[f64::MAX, f64::MAX], f64::MAX, INF);
    assert_within("FAdd", &[1.0, 1e-300], 1.0, 1f64.next_up());
    assert_within("Tanh", &[25.0], 1f64.next_down(), 1.0);
    assert_within("Fract", &[-1e-30], 1f64.next_down(), 1.0);
    assert_within("FMod", &[-1e-30, 2.0], 2f64.next_down(), 2.0);
    assert_within("FMod", &[1e-30, -2.0], -2.0, -2f64.next_down());
}

#[test]
fn outside_of_the_domain_there_is_nothing() {
    #[rustfmt::skip]
    let undefined: &[(&str, &[f64])] = &[
        ("Log", &[-1.0]), ("Log2", &[-1e-30]), ("Sqrt", &[-1.0]), ("Sqrt", &[-INF]), ("InverseSqrt", &[-1.0]), ("Asin", &[1.5]), ("Acos", &[-1.0000001]), ("Acosh", &[0.5]),
        ("Atanh", &[2.0]), ("Pow", &[-2.0, 2.0]), ("Pow", &[0.0, 0.0]), ("Pow", &[0.0, -1.0]), ("Pow", &[1.0, INF]), ("Atan2", &[0.0, 0.0]), ("Atan2", &[INF, INF]),
        ("Sin", &[INF]), ("Cos", &[-INF]), ("Tan", &[INF]), ("FDiv", &[0.0, 0.0]), ("FDiv", &[INF, INF]), ("FAdd", &[INF, -INF]), ("FSub", &[INF, INF]), ("FMul", &[0.0, INF]),
        ("FRem", &[1.0, 0.0]), ("FMod", &[INF, 1.0]), ("Fract", &[INF]), ("FClamp", &[0.0, 2.0, 1.0]), ("SmoothStep", &[1.0, 1.0, 0.5]), ("SmoothStep", &[2.0, 1.0, 0.5]),
        ("Fma", &[INF, 0.0, 1.0]), ("Fma", &[INF, 1.0, -INF]), ("FMix", &[INF, -INF, 0.5]), ("FMin", &[NAN, 1.0]), ("NMin", &[NAN, NAN]), ("FSign", &[NAN]),
        ("FNegate", &[NAN]), ("Exp", &[NAN]), ("Pow", &[NAN, 0.0]), ("Ldexp", &[1.0, 0.5]), ("NClamp", &[1.0, NAN, 2.0]),
    ];
    for &(name, args) in undefined {
        assert_eq!(tight(name, args), Exact::Undefined, "{name} {args:?}");
    }
}

/// The results to nearest, toward zero, down and up.
#[test]
fn roundings_in_each_direction() {
    let least = f32::from_bits(1);
    let one = 1f32.next_up();
    #[rustfmt::skip]
    let cases: &[(&str, &[f32], [f32; 4])] = &[
        // 4097² = 2^24 + 2^13 + 1 is a tie that is rounded down to a multiple of 4, like all odd
        // squares. 4097·4099 = 16793603 is a tie that is rounded up.
        ("FMul", &[4097.0, 4097.0], [16_785_408.0, 16_785_408.0, 16_785_408.0, 16_785_410.0]),
        ("Pow", &[4097.0, 2.0], [16_785_408.0, 16_785_408.0, 16_785_408.0, 16_785_410.0]),
        ("FMul", &[4097.0, 4099.0], [16_793_604.0, 16_793_602.0, 16_793_602.0, 16_793_604.0]),
        ("Pow", &[4099.0, 2.0], [16_801_800.0, 16_801_800.0, 16_801_800.0, 16_801_802.0]),
        ("FMul", &[-4097.0, 4097.0], [-16_785_408.0, -16_785_408.0, -16_785_410.0, -16_785_408.0]),
        ("FAdd", &[1.0, 5.9604645e-8], [1.0, 1.0, 1.0, one]),
        ("FAdd", &[one, 5.9604645e-8], [one.next_up(), one, one, one.next_up()]),
        ("Fma", &[4097.0, 4097.0, 1e-45], [16_785_410.0, 16_785_408.0, 16_785_408.0, 16_785_410.0]),
        ("Fma", &[4097.0, 4097.0, -1e-45], [16_785_408.0, 16_785_408.0, 16_785_408.0, 16_785_410.0]),
        ("Exp2", &[-150.0], [0.0, 0.0, 0.0, least]),
        ("Exp2", &[-149.0], [least; 4]),
        ("Exp2", &[128.0], [f32::INFINITY, f32::MAX, f32::MAX, f32::INFINITY]),
        ("Exp", &[1e-45], [1.0, 1.0, 1.0, one]),
        ("Exp", &[-1e-45], [1.0, 1f32.next_down(), 1f32.next_down(), 1.0]),
        ("Exp", &[-200.0], [0.0, 0.0, 0.0, least]),
        ("Sin", &[1e-45], [least, 0.0, 0.0, least]),
        ("Sin", &[-1e-45], [-least, -0.0, -least, -0.0]),
        ("Tan", &[1e-45], [least, least, least, least.next_up()]),
        ("Cos", &[1e-45], [1.0, 1f32.next_down(), 1f32.next_down(), 1.0]),
        ("Tanh", &[-100.0], [-1.0, -(1f32.next_down()), -1.0, -(1f32.next_down())]),
        ("Log", &[0.0], [f32::NEG_INFINITY; 4]),
        ("FAdd", &[f32::MAX, f32::MAX], [f32::INFINITY, f32::MAX, f32::MAX, f32::INFINITY]),
        ("FAdd", &[-f32::MAX, -f32::MAX], [f32::NEG_INFINITY, -f32::MAX, f32::NEG_INFINITY, -f32::MAX]),
        ("FDiv", &[1.0, 3.0], [0.333_333_34, 0.333_333_3, 0.333_333_3, 0.333_333_34]),
        ("Sqrt", &[49.0], [7.0; 4]),
        ("Pow", &[3.0, 5.0], [243.0; 4]),
    ];
    for &(name, args, expected) in cases {
        for (direction, expected) in Direction::ALL.into_iter().zip(expected) {
            let found = rounded(named(name), args, direction).expect("a function");
            let Rounded::Value(value) = found else { panic!("{name} {args:?} is undefined") };
            assert_eq!(value.to_bits(), expected.to_bits(), "{name} {args:?} {direction:?}: {value:?}, by hand {expected:?}");
        }
    }
    assert_eq!(rounded(named("Log"), &[-1.0], Direction::Up), Some(Rounded::Undefined));
}

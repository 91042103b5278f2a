//! Rounding of numbers with many digits.

use astro_float::{BigFloat, Sign};

/// The nearest float, as a 64-bit float, with ties to even. Its format has `precision` binary
/// digits and exponents from `least_normal` to `beyond - 1`; smaller numbers are subnormal, greater
/// ones infinite.
pub fn nearest(x: &BigFloat, precision: i64, least_normal: i64, beyond: i64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x.is_inf() {
        return if x.is_inf_pos() { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    if x.is_zero() {
        return 0.0;
    }
    let (words, _, sign, exponent, inexact) = x.as_raw_parts().expect("finite");
    // x = 0.words · 2^exponent. Its leading bit is worth 2^(exponent - 1).
    let leading = i64::from(exponent) - 1;
    let keep = if leading >= least_normal { precision } else { precision + leading - least_normal };
    let magnitude = if leading >= beyond {
        f64::INFINITY
    } else if keep < 0 {
        0.0
    } else {
        let bit = |i: i64| words[words.len() - 1 - (i / 64) as usize] >> (63 - i % 64) & 1;
        let kept = (0..keep).fold(0u64, |kept, i| kept << 1 | bit(i));
        let rest = (keep + 1..64 * words.len() as i64).any(|i| bit(i) == 1) || inexact;
        let up = bit(keep) == 1 && (rest || kept & 1 == 1);
        let scale = (leading - keep + 1) as i32;
        // The two steps are exact.
        let number = (kept + u64::from(up)) as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2);
        if number >= 2f64.powi((beyond - 1) as i32) * 2.0 { f64::INFINITY } else { number }
    };
    if sign == Sign::Pos { magnitude } else { -magnitude }
}

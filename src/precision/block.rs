//! Consecutive inputs of a function of one number, judged together: most of them without their sets.
//!
//! A block has the exponent and the upper bits of its inputs in common. Its sets at a few places say how far from the precise result a device may be
//! at least: [`SHARE`] of the least of these distances, in absolute value as well as in units of the last place, is taken to be allowed in the whole block. A result that
//! is so near, or that is the correctly rounded one (which is in every set), is accepted; every other is judged by its own set, so nothing is
//! ever said to be outside that is not. That nothing is accepted that is outside rests on the bounds not falling by a quarter and rising again between
//! the places, which no rule of Vulkan's does; the tests compare with the sets.

use smallstep_semantics::number::reference::{self, Direction, Exact};
use smallstep_semantics::number::sets::Set;

use super::judge::{Judge, Words, error, is_ordinary, middle, ulp};
use super::tally::{Error, Tally};

/// Inputs of a block: a power of two.
pub(super) const SIZE: usize = 1 << 13;

/// The part of the least distance that is taken to be allowed.
const SHARE: f64 = 0.75;

/// How a block is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Everything is allowed.
    Anything,
    /// A result is accepted within these distances of the precise one.
    Within { absolute: f64, ulps: f64 },
    /// Each input by its set.
    Singly,
}

/// Judges the inputs from `first` on, which is the first of a block.
pub(super) fn judge(judge: &Judge, first: u32, results: &[u32], tally: &mut Tally) {
    let inputs = (0..results.len() as u32).map(|i| first.wrapping_add(i));
    match way(judge, first, results.len()) {
        Way::Anything => {
            tally.inputs += results.len() as u64;
            tally.any += results.len() as u64;
        }
        Way::Singly => {
            for (bits, result) in inputs.zip(results) {
                judge.judge(&[bits], std::slice::from_ref(result), tally);
            }
        }
        Way::Within { absolute, ulps } => {
            let instruction = judge.function().instruction;
            for (bits, &shown) in inputs.zip(results) {
                let exact = reference::enclose(instruction, &[f64::from(f32::from_bits(bits))]).unwrap_or(Exact::Undefined);
                let result = f32::from_bits(shown);
                match accepted(result, exact, absolute, ulps) {
                    Some(ulp) => {
                        tally.inputs += 1;
                        tally.decided += 1;
                        if let Some(ulp) = ulp {
                            tally.error_of(bits, ulp, || Error { ulp, operands: Words::from_slice(&[bits]), component: 0, result: shown });
                        }
                    }
                    None => judge.judge(&[bits], &[shown], tally),
                }
            }
        }
    }
}

/// Whether the result is accepted, and its error where that is measured.
#[inline]
fn accepted(result: f32, exact: Exact, absolute: f64, ulps: f64) -> Option<Option<f64>> {
    let Exact::Within(enclosure) = exact else { return None };
    let x = middle(enclosure);
    if is_ordinary(x) && result.is_normal() {
        let unit = ulp(x);
        let off = (f64::from(result) - x).abs();
        let bound = off + (enclosure.high - enclosure.low);
        if bound <= absolute && bound <= ulps * unit {
            return Some(Some(off / unit));
        }
    }
    let nearest = enclosure.rounded(Direction::NearestEven)?;
    let is_plain = nearest.is_normal() || nearest == 0.0 || nearest.is_infinite();
    (is_plain && nearest.to_bits() == result.to_bits()).then(|| error(result, exact))
}

/// How the block is judged, by its sets at some places.
fn way(judge: &Judge, first: u32, count: usize) -> Way {
    let Some(last) = u32::try_from(count).ok().and_then(|n| first.checked_add(n.checked_sub(1)?)) else { return Way::Singly };
    let is_plain = |bits: u32| f32::from_bits(bits).is_normal();
    if count < 64 || !is_plain(first) || !is_plain(last) {
        // Below: zero, subnormal numbers, infinities and NaNs. All of them may be anything only if each is.
        return Way::Singly;
    }
    let (mut absolute, mut ulps) = (f64::INFINITY, f64::INFINITY);
    let (mut any, mut bounded) = (false, false);
    for bits in [first, first + 1, first + (last - first) / 3, first + (last - first) / 2, first + (last - first) / 3 * 2, last - 1, last] {
        let wanted = judge.wanted(&[bits]);
        let set = wanted.allowed[0];
        if set.is_any() {
            any = true;
            continue;
        }
        bounded = true;
        let Some((distance, unit)) = slack(&set, wanted.exact[0]) else {
            // Only the correctly rounded result is accepted without a look at the set.
            absolute = -1.0;
            continue;
        };
        absolute = absolute.min(distance);
        ulps = ulps.min(distance / unit);
    }
    match (any, bounded) {
        (true, false) => Way::Anything,
        (true, true) => Way::Singly,
        _ => Way::Within { absolute: absolute * SHARE, ulps: ulps * SHARE },
    }
}

/// How far a result may be from the precise one, to either side, and the unit of the last place there.
fn slack(set: &Set, exact: Exact) -> Option<(f64, f64)> {
    let Exact::Within(enclosure) = exact else { return None };
    let x = middle(enclosure);
    if !is_ordinary(x) {
        return None;
    }
    let nearest = f64::from(x as f32);
    let span = set.spans().iter().find(|span| span.contains(nearest))?;
    Some(((enclosure.low - span.low).min(span.high - enclosure.high), ulp(x)))
}

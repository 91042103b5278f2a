//! The counts over a function's results.

use smallstep_semantics::number::reference::Exact;
use smallstep_semantics::number::sets::Set;

use super::judge::Words;

/// A result and its distance from the exact value.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The distance in units in the last place.
    pub ulp: f64,
    /// The bits of the operands, one after another.
    pub operands: Words,
    /// The component of the result.
    pub component: usize,
    /// The bits of that component.
    pub result: u32,
}

/// A result that no conforming device returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// The bits of the operands, one after another.
    pub operands: Words,
    /// The component of the result.
    pub component: usize,
    /// The bits of that component.
    pub result: u32,
    /// The set of allowed values.
    pub allowed: Set,
    /// The exact value.
    pub exact: Exact,
}

/// The errors of all inputs whose first operand has one sign and exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Binade {
    /// The number of measured errors.
    pub count: u64,
    /// The sum of the errors, in units in the last place.
    pub sum: f64,
    /// The worst error, in units in the last place.
    pub worst: f64,
    /// The bits of the first operand at the worst error. The least bits if there are several.
    pub worst_at: u32,
}

impl Binade {
    #[inline]
    fn record_worst(&mut self, worst: f64, at: u32) {
        if (worst, self.worst_at) >= (self.worst, at) {
            (self.worst, self.worst_at) = (worst, at);
        }
    }
}

/// The counts over a function's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of inputs.
    pub inputs: u64,
    /// The number of inputs that `any` does not count.
    pub decided: u64,
    /// The number of inputs for which some component may have any value and no result is outside of
    /// its set.
    pub any: u64,
    /// The number of decided inputs with a result outside of its set.
    pub outside: u64,
    /// The number of measured errors. An error is measured if the operands are zero or normal, the
    /// exact value is in the range of normal numbers, the result is finite, and not every result
    /// is allowed.
    pub measured: u64,
    /// The sum of the measured errors, in units in the last place.
    pub sum: f64,
    /// The worst measured error.
    pub worst: Option<Error>,
    /// The simplest input with a result outside of its set.
    pub reproducer: Option<Outside>,
    /// The errors by sign and exponent bits of the first operand. Empty if none is measured.
    pub binades: Vec<Binade>,
}

/// The complexity of operands, for comparison: significant bits, then distance of the exponents
/// from that of 1, then the bits themselves.
fn complexity(words: &[u32]) -> (u32, u32, &[u32]) {
    let bits = |&w: &u32| if w & 0x007f_ffff == 0 { 0 } else { 23 - w.trailing_zeros() };
    let exponent = |&w: &u32| if w & 0x7fff_ffff == 0 { 0 } else { (w >> 23 & 0xff).abs_diff(127) };
    (words.iter().map(bits).sum(), words.iter().map(exponent).sum(), words)
}

impl Tally {
    /// Counts an error.
    pub fn error(&mut self, error: Error) {
        let (first, ulp) = (error.operands[0], error.ulp);
        self.error_of(first, ulp, || error);
    }

    /// Counts an error. The details are computed only if it is the worst.
    #[inline]
    pub(super) fn error_of(&mut self, first: u32, ulp: f64, error: impl FnOnce() -> Error) {
        self.measured += 1;
        self.sum += ulp;
        if self.binades.is_empty() {
            self.binades = vec![Binade::default(); 512];
        }
        let binade = &mut self.binades[(first >> 23) as usize];
        if binade.count == 0 {
            binade.worst_at = first;
        }
        binade.count += 1;
        binade.sum += ulp;
        binade.record_worst(ulp, first);
        let may_be_worse = |worst: &Error| worst.ulp < ulp || worst.ulp == ulp && first <= worst.operands[0];
        if self.worst.as_ref().is_none_or(may_be_worse) {
            self.record_worst(error());
        }
    }

    fn record_worst(&mut self, error: Error) {
        // Among equal errors the one with the least bits wins, so that the result does not depend
        // on the order of inputs.
        let is_worse = |worst: &Error| {
            worst.ulp < error.ulp || worst.ulp == error.ulp && (&error.operands, error.component) < (&worst.operands, worst.component)
        };
        if self.worst.as_ref().is_none_or(is_worse) {
            self.worst = Some(error);
        }
    }

    /// Counts a result outside of its set.
    pub fn outside(&mut self, outside: Outside) {
        self.outside += 1;
        self.record_simplest(outside);
    }

    fn record_simplest(&mut self, outside: Outside) {
        if self.reproducer.as_ref().is_none_or(|simplest| complexity(&outside.operands) < complexity(&simplest.operands)) {
            self.reproducer = Some(outside);
        }
    }

    /// Adds the counts over other inputs.
    pub fn merge(&mut self, other: Tally) {
        self.inputs += other.inputs;
        self.decided += other.decided;
        self.any += other.any;
        self.outside += other.outside;
        self.measured += other.measured;
        self.sum += other.sum;
        if let Some(error) = other.worst {
            self.record_worst(error);
        }
        if let Some(outside) = other.reproducer {
            self.record_simplest(outside);
        }
        if self.binades.is_empty() {
            self.binades = other.binades;
        } else {
            for (binade, other) in self.binades.iter_mut().zip(other.binades) {
                if binade.count == 0 {
                    *binade = other;
                } else if other.count > 0 {
                    binade.count += other.count;
                    binade.sum += other.sum;
                    binade.record_worst(other.worst, other.worst_at);
                }
            }
        }
    }

    /// The mean error in units in the last place. `None` if no error was measured.
    pub fn mean(&self) -> Option<f64> {
        (self.measured > 0).then(|| self.sum / self.measured as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Outside, Tally, complexity};
    use smallstep_semantics::number::reference::Exact;
    use smallstep_semantics::number::sets::Set;
    use smallvec::smallvec;

    fn outside(x: f32) -> Outside {
        Outside { operands: smallvec![x.to_bits()], component: 0, result: 0, allowed: Set::NONE, exact: Exact::Undefined }
    }

    #[test]
    fn the_simplest_operands_are_kept_whatever_the_order() {
        let xs: [f32; 7] = [0.1, 1e30, 3.0, 1.5, 1.0, -1.0, 0.0];
        let mut sorted = xs;
        sorted.sort_by(|a: &f32, b: &f32| complexity(&[a.to_bits()]).cmp(&complexity(&[b.to_bits()])));
        assert_eq!(sorted[..3], [0.0, 1.0, -1.0]);
        for turn in 0..xs.len() {
            let mut tally = Tally::default();
            for i in 0..xs.len() {
                tally.outside(outside(xs[(i + turn) % xs.len()]));
            }
            assert_eq!((tally.outside, tally.reproducer), (xs.len() as u64, Some(outside(0.0))));
        }
    }

    #[test]
    fn merged_tallies_are_those_of_all_inputs() {
        let error = |bits: u32, ulp: f64| Error { ulp, operands: smallvec![bits], component: 0, result: bits };
        let errors = [error(0x3f80_0000, 1.0), error(0x4000_0000, 2.0), error(0x3f80_0001, 2.0), error(0xbf80_0000, 0.5)];
        let mut whole = Tally::default();
        errors.iter().for_each(|e| whole.error(e.clone()));
        for cut in 0..errors.len() {
            let (mut a, mut b) = (Tally::default(), Tally::default());
            errors[..cut].iter().for_each(|e| a.error(e.clone()));
            errors[cut..].iter().for_each(|e| b.error(e.clone()));
            b.merge(a);
            assert_eq!(b, whole);
        }
        assert_eq!(whole.worst, Some(error(0x3f80_0001, 2.0)));
        assert_eq!(whole.mean(), Some(5.5 / 4.0));
    }
}

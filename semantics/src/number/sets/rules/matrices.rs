//! Determinant and MatrixInverse: square matrices of 2 to 4 columns. `None`: any value.
//!
//! Vulkan and GLSL.std.450 state no precision for them. The bounds here hold for every
//! implementation that computes the determinant as a polynomial, and the inverse as cofactors
//! divided by it. That is an assumption, and the only one: an implementation that eliminates by
//! rows is not covered. In WGSL a determinant may have any value (its accuracy is "infinite ULP"),
//! so it has no bounds.
//!
//! # Determinant
//! By Leibniz, det M is the sum of n! monomials, each a product of n components. Expansion along
//! any row or column, in any order, multiplied out or not, with sums fused into products or not,
//! is a rewriting of that polynomial. By `rewriting` each monomial passes at most R = 2·(n! - 1) +
//! (n - 1) operations: 3, 12 and 49 for n = 2, 3 and 4. So the result is within γ·P + lost of det
//! M, where u = 2^-23 and γ = R·u/(1 - R·u). P is the permanent of the components' magnitudes,
//! which is the sum of the monomials' magnitudes. `lost` bounds what subnormal results may lose,
//! as in `rewriting`.
//!
//! # MatrixInverse
//! Component [c][r] is C/D, where C is ± the determinant without column r and row c, and D = det M.
//! - The evaluated divisor is D·(1 + ρ') with |ρ'| ≤ ρ, where ρ is the error of D relative
//!   to the least |D|. If ρ > 1/4, the matrix is poorly conditioned. GLSL.std.450 says that the
//!   result is then undefined.
//! - A quotient is within 2.5 ULP, which is at most 2.5·u of it. A product with a reciprocal of
//!   that accuracy is within 3.5·u and what their product adds. An implementation may divide C,
//!   each monomial of C, or a factor of a monomial. So each monomial passes at most 4 operations
//!   more than the R' of C. The evaluation multiplies it by (1 + δ)/(1 + ρ'), where |δ| ≤ γ'
//!   and γ' = (R' + 4)·u/(1 - (R' + 4)·u).
//! - So the result is within P'/|D|·((1 + γ')/(1 - ρ) - 1) + lost of C/D, where P' is the sum of
//!   the magnitudes of C's monomials. All are taken at the components' greatest magnitudes and the
//!   least |D|.
//! - A loss on the way to C is divided by |D|·(1 - ρ) too.

use super::super::rewriting::{LOST, Polynomial, TOO_HIGH, UNIT};
use super::super::{Format, Set};
use super::bounds::Bounds;
use super::core::Rules;
use super::vectors::Component;
use smallvec::SmallVec;

/// A polynomial of components: the bounds of its evaluations, and the range of its exact value.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rounding: Polynomial,
    exact: Bounds,
}

/// The components of a matrix, column after column.
type Entries = SmallVec<[Entry; 16]>;

impl Entry {
    fn of(component: &Component) -> Entry {
        let exact = Bounds::from(component.span);
        let magnitude = exact.magnitude();
        Entry { rounding: Polynomial::monomial(magnitude, 1), exact }
    }

    fn times(self, other: Entry) -> Entry {
        Entry { rounding: self.rounding * other.rounding, exact: self.exact.times(other.exact) }
    }

    fn plus(self, other: Entry) -> Entry {
        Entry { rounding: self.rounding + other.rounding, exact: self.exact.plus(other.exact) }
    }

    fn negated(self) -> Entry {
        Entry { exact: self.exact.negated(), ..self }
    }
}

/// The matrix of n columns without column c and row r.
fn minor(m: &[Entry], n: usize, c: usize, r: usize) -> Entries {
    (0..n * n).filter(|i| i / n != c && i % n != r).map(|i| m[i]).collect()
}

/// The determinant of a matrix of n columns, expanded along the first. `None` for no columns.
fn determinant(m: &[Entry], n: usize) -> Option<Entry> {
    if n == 1 {
        return m.first().copied();
    }
    let term = |r: usize| {
        let term = m[r].times(determinant(&minor(m, n, 0, r), n - 1)?);
        Some(if r % 2 == 1 { term.negated() } else { term })
    };
    (0..n).map(term).reduce(|sum, term| Some(sum?.plus(term?)))?
}

/// The components of a matrix, if there are rules for it.
fn entries(rules: &Rules, m: &[Component], n: usize) -> Option<Entries> {
    let is_bounded = rules.format == Format::Single && !rules.wgsl && (2..=4).contains(&n) && m.len() == n * n;
    is_bounded.then(|| m.iter().map(Entry::of).collect())
}

impl Rules {
    /// Determinant, of a matrix of n columns.
    pub(super) fn determinant(&self, m: &[Component], n: usize) -> Option<Set> {
        let determinant = determinant(&entries(self, m, n)?, n)?;
        Some(self.within_absolute(determinant.rounding.error()?, determinant.exact.finite()?))
    }

    /// Component i of MatrixInverse.
    pub(super) fn inverse(&self, m: &[Component], n: usize, i: usize) -> Option<Set> {
        let entries = entries(self, m, n)?;
        let (c, r) = (i / n, i % n);
        let cofactor = determinant(&minor(&entries, n, r, c), n - 1)?;
        let cofactor = if (c + r) % 2 == 1 { cofactor.negated() } else { cofactor };
        let divisor = determinant(&entries, n)?;
        let least = divisor.exact.least_magnitude();
        let rho = divisor.rounding.error()? / least + UNIT;
        let of_divisor = LOST * 2.0..=0.5 / LOST;
        // The bound of the divisor may be NaN if nothing is known of the divisor.
        if rho.is_nan() || rho > 0.25 || !of_divisor.contains(&least) || !of_divisor.contains(&divisor.exact.magnitude()) {
            return None;
        }
        let operations = cofactor.rounding.operations() + 4.0;
        let gamma = operations * UNIT / (1.0 - operations * UNIT);
        let scale = (1.0 / (least * (1.0 - rho))).max(1.0);
        let high = cofactor.rounding.high * scale;
        let lost = 4.0 * operations * LOST * high;
        if high * (1.0 + gamma) + lost >= TOO_HIGH {
            return None;
        }
        let error = cofactor.rounding.magnitude / least * ((1.0 + gamma) / (1.0 - rho) - 1.0) + lost;
        Some(self.within_absolute(error, cofactor.exact.over(divisor.exact)?))
    }
}

//! Vectors and matrices: formulas over components, whose accuracy their instructions inherit.
//! `None`: any value.
//!
//! The bound of a sum of products covers every order and every tree of the sum. Any of the products
//! may be fused into the sum that it goes to.

use super::super::{Set, Span};
use super::bounds::Bounds;
use super::core::Rules;
use super::value::{Value, any_way, product_distance};
use rspirv::spirv::GlslStd450Op as Glsl;
use smallvec::SmallVec;

/// A term of a sum: its value by itself, and the products that may be fused into the sum instead.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// The value of the term, computed by itself.
    pub(super) value: Value,
    /// For each way to compute the term: the factors of its last product, and whether they are
    /// one value.
    pub(super) factors: SmallVec<[(Value, Value, bool); 3]>,
}

impl From<Value> for Term {
    fn from(value: Value) -> Term {
        Term { value, factors: SmallVec::new() }
    }
}

/// A component of an operand. Components with one id have one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    /// The hull of its floats; finite.
    pub(super) span: Span,
    /// Its dynamic result id, if rewriting keeps identities ([`Rules::identity`]).
    pub(super) id: Option<super::CellId>,
}

impl Component {
    fn value(self, rules: &Rules) -> Value {
        rules.leaf(self.span)
    }

    fn is_same(self, other: Component) -> bool {
        self.id.is_some() && self.id == other.id
    }
}

/// The most terms of a sum for which all orders are followed.
const MOST_TERMS: usize = 6;

impl Rules {
    /// The sum of all terms, in any order and as any tree. `None` if there are no terms or too
    /// many, or if a partial sum has no bound.
    pub(super) fn sum_any_way(&self, terms: &[Term]) -> Option<Value> {
        if terms.is_empty() || terms.len() > MOST_TERMS {
            return None;
        }
        // For each set of terms, as bits: the values of its sum, from each way to split the set
        // in two.
        let mut sums: SmallVec<[Value; 64]> = SmallVec::from_elem(terms[0].value, 1 << terms.len());
        for subset in 1usize..1 << terms.len() {
            if subset.is_power_of_two() {
                sums[subset] = terms[subset.trailing_zeros() as usize].value;
                continue;
            }
            let mut values: Option<Value> = None;
            let mut part = (subset - 1) & subset;
            while part > 0 {
                let complement = subset & !part;
                if part.is_power_of_two() {
                    for &(x, y, same) in &terms[part.trailing_zeros() as usize].factors {
                        let fused = self.fused(x, y, sums[complement], same)?;
                        values = Some(values.map_or(fused, |values| values.either(fused)));
                    }
                }
                // This takes each split once.
                if part < complement {
                    let sum = self.add(sums[part], sums[complement])?;
                    values = Some(values.map_or(sum, |values| values.either(sum)));
                }
                part = (part - 1) & subset;
            }
            sums[subset] = values?;
        }
        sums.last().copied()
    }

    /// A product as a term; `same` if both factors are one value.
    pub(super) fn term(&self, x: Value, y: Value, same: bool) -> Option<Term> {
        let value = if same { self.square(x)? } else { self.multiply(x, y)? };
        Some(Term { value, factors: SmallVec::from_slice(&[(x, y, same)]) })
    }

    /// A product of three as a term. Any two of them may be multiplied first.
    fn term_of_three(&self, x: Value, y: Value, z: Value) -> Option<Term> {
        let factors = [(self.multiply(x, y)?, z, false), (self.multiply(x, z)?, y, false), (self.multiply(y, z)?, x, false)];
        let value = any_way(factors.map(|(x, y, _)| self.multiply(x, y)))?;
        Some(Term { value, factors: SmallVec::from_slice(&factors) })
    }

    /// OpDot and the components of matrix products: INH(Σ xi·yi).
    pub(super) fn dot(&self, pairs: impl Iterator<Item = (Component, Component)>) -> Option<Set> {
        let terms: Option<SmallVec<[Term; 4]>> = pairs.map(|(x, y)| self.term(x.value(self), y.value(self), x.is_same(y))).collect();
        Some(self.inherited(None, self.sum_any_way(&terms?)?))
    }

    /// dot(x, y) within a formula: all that OpDot may give for the operands that a device has
    /// there. Each pair says whether its two factors are one value.
    fn dot_within(&self, pairs: &[(Value, Value, bool)]) -> Option<Value> {
        let of = |exact: fn(&Value) -> Bounds| {
            let product = |(x, y, same): &(Value, Value, bool)| if *same { exact(x).squared() } else { exact(x).times(exact(y)) };
            pairs.iter().map(product).reduce(Bounds::plus)
        };
        let mut terms: SmallVec<[Term; 4]> = SmallVec::new();
        let mut inherited = 0.0;
        for &(x, y, same) in pairs {
            terms.push(self.term(self.start_from(x.device), self.start_from(y.device), same)?);
            inherited += product_distance(x, y);
        }
        let formula = self.sum_any_way(&terms)?;
        let device = Rules::finite_bounds(&self.inherited(of(|x| x.device), formula))?;
        let flushed = if device.contains(0.0) { self.format.min() } else { 0.0 };
        Value::new(of(|x| x.exact)?, device, formula.distance + inherited + flushed)
    }

    /// `dot_within` for components.
    fn dot_of_components(&self, x: &[Component], y: &[Component]) -> Option<Value> {
        let pairs: SmallVec<[_; 4]> = x.iter().zip(y).map(|(x, y)| (x.value(self), y.value(self), x.is_same(*y))).collect();
        self.dot_within(&pairs)
    }

    /// dot(x, x) within a formula.
    fn squares(&self, x: &[Value]) -> Option<Value> {
        let pairs: SmallVec<[_; 4]> = x.iter().map(|&x| (x, x, true)).collect();
        self.dot_within(&pairs)
    }

    fn length_of(&self, x: &[Value]) -> Option<Value> {
        self.apply_function(Glsl::Sqrt, self.squares(x)?)
    }

    /// Length: INH(√dot(x, x)).
    pub(super) fn length(&self, x: &[Component]) -> Option<Set> {
        let values: SmallVec<[Value; 4]> = x.iter().map(|x| x.value(self)).collect();
        Some(self.inherited(None, self.length_of(&values)?))
    }

    /// Distance: INH(length(x - y)).
    pub(super) fn distance(&self, x: &[Component], y: &[Component]) -> Option<Set> {
        let differences: Option<SmallVec<[Value; 4]>> = x.iter().zip(y).map(|(x, y)| self.subtract(x.value(self), y.value(self))).collect();
        let differences = differences?;
        // All that Length may give for the differences that a device has.
        let of_device: SmallVec<[Value; 4]> = differences.iter().map(|x| self.start_from(x.device)).collect();
        let formula = self.length_of(&of_device)?;
        let device = Rules::finite_bounds(&self.inherited(None, formula))?;
        let exact = differences.iter().map(|x| x.exact.squared()).reduce(Bounds::plus)?.root()?;
        // A vector's length changes by at most the sum of the changes of its components.
        let inherited: f64 = differences.iter().map(|x| x.distance).sum();
        Some(self.inherited(None, Value::new(exact, device, formula.distance + inherited)?))
    }

    /// Normalize: INH(x·inversesqrt(dot(x, x))); WGSL's INH(x/length(x)).
    pub(super) fn normalize(&self, x: &[Component], i: usize) -> Option<Set> {
        let values: SmallVec<[Value; 4]> = x.iter().map(|x| x.value(self)).collect();
        let squares = self.squares(&values)?;
        let formula = if self.wgsl {
            self.divide(values[i], self.apply_function(Glsl::Sqrt, squares)?)?
        } else {
            self.multiply(values[i], self.apply_function(Glsl::InverseSqrt, squares)?)?
        };
        Some(self.inherited(normalized(&values, i), formula))
    }

    /// Component i of Cross: INH(xj·yk - yj·xk), fused or not.
    pub(super) fn cross(&self, x: &[Component], y: &[Component], i: usize) -> Option<Set> {
        let (j, k) = [(1, 2), (2, 0), (0, 1)][i];
        let at = |of: &[Component], i: usize| of[i].value(self);
        let terms = [self.term(at(x, j), at(y, k), false)?, self.term(at(y, j).negated(), at(x, k), false)?];
        Some(self.inherited(None, self.sum_any_way(&terms)?))
    }

    /// FaceForward (N, I, Nref): N if dot(Nref, I) < 0, otherwise -N. The exact product may decide
    /// too, since a product below the least float may be lost.
    pub(super) fn face_forward(&self, n: &[Component], i: &[Component], reference: &[Component]) -> Option<SmallVec<[Set; 4]>> {
        let dot = self.dot_of_components(reference, i)?;
        let may_hold = dot.device.low < 0.0 || dot.exact.low < 0.0;
        let may_fail = dot.device.high >= 0.0 || dot.exact.high >= 0.0;
        let component = |n: &Component| {
            let n = Set::of(n.span);
            let (unchanged, negated) = (self.copied(&n, false), self.copied(&n, true));
            match (may_hold, may_fail) {
                (true, false) => unchanged,
                (false, true) => negated,
                _ => unchanged.union(negated),
            }
        };
        Some(n.iter().map(component).collect())
    }

    /// Component c of Reflect (I, N): INH(I - 2·dot(N, I)·N). The dot product has any order. It
    /// may be multiplied out, or subtracted twice.
    pub(super) fn reflect(&self, i: &[Component], n: &[Component], c: usize) -> Option<Set> {
        let minus_two = Value::constant(-2.0);
        let dot = self.dot_of_components(n, i)?;
        // Doubling is exact, so it may come before or after a product.
        let twice = self.multiply(minus_two, dot)?;
        let (x, direction) = (i[c].value(self), n[c].value(self));
        let mut terms: SmallVec<[Term; 5]> = SmallVec::from_elem(x.into(), 1);
        for (n, i) in n.iter().zip(i) {
            terms.push(self.term_of_three(self.multiply(minus_two, n.value(self))?, i.value(self), direction)?);
        }
        let (negated_dot, single_term) = (dot.negated(), self.multiply(dot.negated(), direction)?);
        let formula = any_way([
            self.add(x, self.multiply(twice, direction)?),
            self.fused(twice, direction, x, false),
            self.sum_any_way(&terms),
            self.add(self.add(x, single_term)?, single_term),
            self.fused(negated_dot, direction, self.fused(negated_dot, direction, x, false)?, false),
        ])?;
        Some(self.inherited(None, formula))
    }

    /// Refract (I, N, eta): INH(k < 0 ? 0 : eta·I - (eta·d + √k)·N), k = 1 - eta·eta·(1 - d·d), d =
    /// dot(N, I).
    pub(super) fn refract(&self, i: &[Component], n: &[Component], eta: Component) -> Option<SmallVec<[Set; 4]>> {
        let (one, eta) = (Value::constant(1.0), eta.value(self));
        let d = self.dot_of_components(n, i)?;
        let rest = any_way([self.subtract(one, self.square(d)?), self.fused(d.negated(), d, one, false)])?;
        let eta_squared = self.square(eta)?;
        let by_one = self.multiply(eta, rest)?;
        let k = any_way([
            self.subtract(one, self.multiply(eta_squared, rest)?),
            self.fused(eta_squared.negated(), rest, one, false),
            self.subtract(one, self.multiply(eta, by_one)?),
            self.fused(eta.negated(), by_one, one, false),
            self.sum_any_way(&[
                one.into(),
                Term { value: eta_squared.negated(), factors: SmallVec::from_slice(&[(eta.negated(), eta, false)]) },
                self.term(eta_squared, self.square(d)?, false)?,
            ]),
        ])?;
        if k.device.high < 0.0 {
            return Some(i.iter().map(|_| Set::ZERO).collect());
        }
        // At 0 the root may be anything.
        let root = self.apply_function(Glsl::Sqrt, k)?;
        let factor = any_way([self.add(self.multiply(eta, d)?, root), self.fused(eta, d, root, false)])?.negated();
        let component = |(i, n): (&Component, &Component)| {
            let (left, right) = (self.term(eta, i.value(self), false)?, self.term(factor, n.value(self), false)?);
            Some(self.inherited(None, self.sum_any_way(&[left, right])?))
        };
        i.iter().zip(n).map(component).collect()
    }
}

/// xi/√(x0·x0 + x1·x1 + …): it rises with xi, and is nearer to zero the greater the
/// others are.
fn normalized(x: &[Value], i: usize) -> Option<Bounds> {
    let others = x.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| x.exact.squared()).reduce(Bounds::plus);
    let others = others.unwrap_or(Bounds::point(0.0));
    let at = |xi: f64, others: f64| {
        let square = Bounds::point(xi).squared().plus(Bounds::point(others));
        Bounds::point(xi).over(square.root()?)
    };
    let (low, high) = (x[i].exact.low, x[i].exact.high);
    let low = at(low, if low < 0.0 { others.low } else { others.high })?;
    let high = at(high, if high < 0.0 { others.high } else { others.low })?;
    Some(Bounds { low: low.low, high: high.high })
}

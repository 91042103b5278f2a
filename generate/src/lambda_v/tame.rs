//! Mapping of operands into the domain of a function, for functions with bounded results only on a
//! part of the floats.
//!
//! Most numbers in a program lie outside of [-1, 1], and many are negative or zero. So an inverse
//! sine, a logarithm or a quotient is usually unbounded, and so is everything computed from it. The
//! mapping adds one operation, and the set of answers stays as wide as before. The mix determines
//! how often operands are mapped. The other operands stay as they are.

use super::catalog::{Instance, slot};
use super::draft::Id;
use super::expr::{Generator, RangedExpr};
use super::range::Range;
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallstep_semantics::number::Op;
use smallvec::SmallVec;

/// A part of the floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    /// Numbers in (-1, 1).
    Unit,
    /// Positive numbers.
    Positive,
    /// Numbers greater than 1.
    AboveOne,
    /// Numbers in (-π, π).
    Angle,
    /// Numbers whose exponential is far from infinity.
    Exponent,
    /// Constants of this sign, whatever the operand was.
    Edge(i8),
}

/// The operands of an operation, by index, that have a domain.
fn domains(op: Op) -> &'static [(usize, Domain)] {
    match op {
        Op::Asin | Op::Acos | Op::Atanh => &[(0, Domain::Unit)],
        Op::Sqrt | Op::InverseSqrt | Op::Log | Op::Log2 | Op::Length | Op::Normalize | Op::Distance => &[(0, Domain::Positive)],
        Op::Acosh => &[(0, Domain::AboveOne)],
        Op::Sin | Op::Cos | Op::Tan => &[(0, Domain::Angle)],
        Op::Exp | Op::Exp2 | Op::Sinh | Op::Cosh | Op::Tanh => &[(0, Domain::Exponent)],
        Op::Div | Op::Mod | Op::Atan2 => &[(1, Domain::Positive)],
        Op::Pow => &[(0, Domain::Positive), (1, Domain::Exponent)],
        Op::SmoothStep => &[(0, Domain::Edge(-1)), (1, Domain::Edge(1))],
        Op::Clamp => &[(1, Domain::Edge(-1)), (2, Domain::Edge(1))],
        _ => &[],
    }
}

impl Generator {
    /// Maps the operands of an instance into their domains, as often as the mix says.
    pub(super) fn tame(&mut self, instance: &Instance, operands: &mut [RangedExpr]) {
        // A change of a near-miss stays as it is, whether it is pending or made.
        if self.mix.tame == 0 || self.breach.is_some() || self.broken.is_some() {
            return;
        }
        let domains = instance.op().map_or(&[][..], domains);
        if domains.is_empty() || !self.random.percent(self.mix.tame) {
            return;
        }
        for &(i, domain) in domains {
            if let Some(id) = self.moved_into_domain(domain, instance.params[i], operands[i].id) {
                operands[i] = RangedExpr { id, range: Range::UNKNOWN };
            }
        }
    }

    /// An expression mapped into a domain. `None` if a name that this needs is hidden.
    fn moved_into_domain(&mut self, domain: Domain, ty: Ground, id: Id) -> Option<Id> {
        let known = self.known();
        let within = |g: &mut Generator, bound: f32| {
            let (low, high) = (g.constant_of(ty, -bound)?, g.constant_of(ty, bound)?);
            g.named(known.clamp, &[id, low, high])
        };
        let above = |g: &mut Generator, least: f32| {
            let least = g.constant_of(ty, least)?;
            if g.random.percent(30) {
                return g.named(known.max, &[id, least]);
            }
            let magnitude = g.named(known.abs, &[id])?;
            g.named(known.plus, &[magnitude, least])
        };
        match domain {
            Domain::Unit if self.random.percent(50) => within(self, 0.75),
            Domain::Unit => {
                let fraction = self.named(known.fract, &[id])?;
                let half = self.constant_of(ty, 0.5)?;
                self.named(known.minus, &[fraction, half])
            }
            Domain::Angle => within(self, 3.0),
            Domain::Exponent => within(self, 6.0),
            Domain::Positive => {
                let least = self.random.pick(&[0.25, 0.5, 1.0, 0.1]);
                above(self, least)
            }
            Domain::AboveOne => above(self, 1.5),
            Domain::Edge(side) => {
                let magnitude = self.random.pick(&[0.5, 1.0, 4.0, 2.75]);
                self.constant_of(ty, f32::from(side) * magnitude)
            }
        }
    }

    /// `(builtin items…)`. `None` if the name is hidden.
    fn named(&mut self, builtin: Builtin, items: &[Id]) -> Option<Id> {
        self.scope.has(builtin).then(|| self.call(builtin, items))
    }

    /// The number, or the vector with this number in each component.
    pub(super) fn constant_of(&mut self, ty: Ground, x: f32) -> Option<Id> {
        match ty {
            Ground::Vec(1, Elem::F) => Some(self.draft.num(x)),
            Ground::Vec(n, Elem::F) => {
                let constructor = self.known().constructors[slot(ty)]?;
                let components: SmallVec<[Id; 4]> = (0..n).map(|_| self.draft.num(x)).collect();
                self.named(constructor, &components)
            }
            _ => None,
        }
    }
}

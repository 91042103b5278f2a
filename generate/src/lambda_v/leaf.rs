//! Variables, literals and numbers: the leaves of expressions.

use super::catalog::{literal_size, slot};
use super::draft::{Id, Name};
use super::expr::{Generator, RangedExpr};
use super::mix::Numbers;
use super::range::Range;
use super::scope::Kind;
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// The largest cost of one use of a binding, in steps by name.
pub(super) const MAX_WEIGHT: u64 = 250;

impl Generator {
    /// The fewest nodes of an expression of the type here.
    pub(super) fn cheapest(&self, ty: Ground) -> u32 {
        let literal = literal_size(ty);
        let bound = |kind: &Kind| matches!(kind, Kind::Value(t, _, weight) if *t == ty && *weight <= MAX_WEIGHT);
        if literal > 1 && self.scope.bindings.iter().any(|b| b.visible && bound(&b.kind)) {
            1
        } else if ty == Ground::Vec(4, Elem::F) {
            2
        } else {
            literal
        }
    }

    /// A variable of the type, if there is one.
    pub(super) fn variable(&mut self, ty: Ground) -> Option<RangedExpr> {
        let found = self.scope.visible(|kind| matches!(kind, Kind::Value(t, _, weight) if *t == ty && *weight <= MAX_WEIGHT));
        if found.is_empty() {
            return None;
        }
        let at = self.prefer_unused(&found);
        Some(self.use_value(at))
    }

    /// The index of one of the bindings. Unused bindings are preferred.
    pub(super) fn prefer_unused(&mut self, found: &[u16]) -> usize {
        let unused: SmallVec<[u16; 8]> = found.iter().copied().filter(|&i| self.scope.bindings[i as usize].uses == 0).collect();
        let candidates = if unused.is_empty() || self.random.percent(30) { found } else { &unused };
        self.random.pick(candidates) as usize
    }

    /// A use of the variable at this position of the scope. It must be bound to a value.
    pub(super) fn use_value(&mut self, at: usize) -> RangedExpr {
        let binding = &mut self.scope.bindings[at];
        binding.uses += 1;
        let Kind::Value(_, range, weight) = binding.kind else { unreachable!("only values are used as variables") };
        self.work += weight.max(1);
        RangedExpr { id: self.draft.name(binding.name), range }
    }

    /// A variable or literal.
    pub(super) fn leaf(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let prefers_variable = size < literal_size(ty) || self.random.percent(72);
        if prefers_variable && let Some(expr) = self.variable(ty) {
            return expr;
        }
        if ty == Ground::Vec(4, Elem::F) && self.random.percent(70) && self.scope.has(self.known().frag_coord) {
            return self.frag_coord();
        }
        if size >= 3
            && ty == Ground::NUM
            && self.random.percent(70)
            && let Some(expr) = self.component()
        {
            return expr;
        }
        self.literal(ty)
    }

    /// A component of a vector in scope, or of the pixel's coordinate.
    fn component(&mut self) -> Option<RangedExpr> {
        let found = self.scope.visible(|kind| matches!(kind, Kind::Value(Ground::Vec(2.., Elem::F), _, weight) if *weight <= MAX_WEIGHT));
        if found.is_empty() {
            return self.pixel();
        }
        let at = self.prefer_unused(&found);
        let Kind::Value(Ground::Vec(n, _), ..) = self.scope.bindings[at].kind else { return None };
        let component = self.known().components[self.random.below(u32::from(n)) as usize];
        if !self.scope.has(component) {
            return None;
        }
        let vector = self.use_value(at);
        Some(RangedExpr { id: self.call(component, &[vector.id]), range: vector.range })
    }

    /// `(frag-coord)`. The name must not be hidden.
    pub(super) fn frag_coord(&mut self) -> RangedExpr {
        RangedExpr { id: self.call(self.known().frag_coord, &[]), range: Range::FRAG_COORD }
    }

    /// The pixel's x or y, if the names are not hidden here.
    pub(super) fn pixel(&mut self) -> Option<RangedExpr> {
        let component = self.known().components[self.random.below(2) as usize];
        if !self.scope.has(component) || !self.scope.has(self.known().frag_coord) {
            return None;
        }
        let coordinate = self.frag_coord();
        Some(RangedExpr { id: self.call(component, &[coordinate.id]), range: Range::FRAG_COORD })
    }

    /// A number, or a constructor applied to numbers and variables.
    pub(super) fn literal(&mut self, ty: Ground) -> RangedExpr {
        self.work += 1;
        match ty {
            Ground::NUM => {
                let x = self.number();
                RangedExpr { id: self.draft.num(x), range: Range::of(x) }
            }
            Ground::BOOL => {
                let b = self.random.percent(50);
                RangedExpr { id: self.draft.bool(b), range: Range::UNIT }
            }
            Ground::Vec(n, elem) => {
                let Some(constructor) = self.known().constructors[slot(ty)].filter(|&b| self.scope.has(b)) else {
                    return self.by_constructor_name(ty);
                };
                let components: SmallVec<[RangedExpr; 4]> = (0..n).map(|_| self.leaf(Ground::Vec(1, elem), 1)).collect();
                self.construct(constructor, &components)
            }
            Ground::Mat(n) => {
                let Some(constructor) = self.known().constructors[slot(ty)].filter(|&b| self.scope.has(b)) else {
                    return self.by_constructor_name(ty);
                };
                let columns: SmallVec<[RangedExpr; 4]> = (0..n).map(|_| self.leaf(Ground::Vec(n, Elem::F), u32::from(n) + 2)).collect();
                self.construct(constructor, &columns)
            }
        }
    }

    fn construct(&mut self, constructor: Builtin, parts: &[RangedExpr]) -> RangedExpr {
        let ids: SmallVec<[Id; 4]> = parts.iter().map(|p| p.id).collect();
        let range = parts.iter().map(|p| p.range).fold(Range::UNIT, Range::join);
        RangedExpr { id: self.call(constructor, &ids), range }
    }

    /// A name that hides a constructor is bound to a value of the constructor's type, so every type
    /// has an expression.
    fn by_constructor_name(&mut self, ty: Ground) -> RangedExpr {
        let constructor = self.known().constructors[slot(ty)].expect("only vectors and matrices have constructors that can be hidden");
        let name = Name::builtin(constructor);
        let at = self.scope.bindings.iter().rposition(|b| b.visible && b.name == name).expect("a hidden constructor's name is bound");
        self.use_value(at)
    }

    /// A random number that the mix allows.
    pub(super) fn number(&mut self) -> f32 {
        const SPECIAL: [f32; 16] = [
            -0.0,
            0.0,
            1e-45,
            -1.1754942e-38,
            f32::MIN_POSITIVE,
            1e-30,
            3.4028235e38,
            -3.4028235e38,
            1e30,
            16777216.0,
            16777215.0,
            8388607.5,
            0.49999997,
            1.0000001,
            -0.99999994,
            4_194_303.8,
        ];
        let special = self.mix.special || self.unobserved > 0;
        if special && self.random.percent(25) {
            return self.random.pick(&SPECIAL);
        }
        let sign = if self.random.percent(25) { -1.0 } else { 1.0 };
        let magnitude = match self.random.below(if self.mix.numbers == Numbers::Rounded { 14 } else { 10 }) {
            0..5 => self.random.below(5) as f32,
            5 => self.random.below(33) as f32,
            // Halves are ties of round-even.
            6..8 => self.random.below(10) as f32 + 0.5,
            8 => self.random.between(1, 15) as f32 * 0.25,
            9 => self.random.between(1, 31) as f32 * 0.125,
            10 => self.random.between(1, 99) as f32 / 10.0,
            11 => self.random.between(1, 9999) as f32 / 1000.0,
            12 => self.random.pick(&[1.0 / 3.0, std::f32::consts::PI, std::f32::consts::E, 1e-3, 1e5, 0.1]),
            // Any mantissa, from 2^-6 to 2^6.
            _ => f32::from_bits((self.random.between(121, 133) << 23) | self.random.below(1 << 23)),
        };
        sign * magnitude
    }
}

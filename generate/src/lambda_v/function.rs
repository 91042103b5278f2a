//! Functions in every place that λV allows. They are applied where they stand, named, passed,
//! returned, and chosen by a condition.

use super::binding::Purpose;
use super::draft::{Id, Name};
use super::expr::{Generator, RangedExpr};
use super::range::{self, Range};
use super::scope::{Combinator, Cost, Kind, Signature, Ty};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::Ground;
use smallvec::SmallVec;

/// The largest cost of a named function's body.
pub(super) const MAX_BODY_COST: u64 = 120;

impl Generator {
    /// The number of a signature. A new signature is added.
    pub(super) fn signature(&mut self, params: &[Ty], result: Ty) -> u16 {
        let existing = self.signatures.iter().position(|s| s.result == result && s.params.as_slice() == params);
        existing.unwrap_or_else(|| {
            self.signatures.push(Signature { params: SmallVec::from_slice(params), result });
            self.signatures.len() - 1
        }) as u16
    }

    /// A random signature with this result. Parameters and results may be functions if `higher` is
    /// set and the mix allows it.
    pub(super) fn draw_signature(&mut self, result: Ty, size: u32, higher: bool) -> u16 {
        let Ty::Value(hint) = result else { return self.signature(&[Ty::Value(Ground::NUM)], result) };
        if self.random.percent(9) {
            // The signature of `if` itself.
            return self.signature(&[Ty::Value(Ground::BOOL), result, result], result);
        }
        if higher && self.random.percent(self.mix.higher_order / 2) {
            // A function that returns a function.
            let inner = self.draw_signature(result, size / 2, false);
            let ty = self.some_type(hint, size / 4);
            return self.signature(&[Ty::Value(ty)], Ty::Function(inner));
        }
        let count = self.random.pick(&[0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
        let mut params: SmallVec<[Ty; 4]> = SmallVec::new();
        for _ in 0..count {
            let higher = higher && self.random.percent(self.mix.higher_order);
            params.push(match higher {
                true => {
                    let result = self.some_type(hint, size / 4);
                    Ty::Function(self.draw_signature(Ty::Value(result), size / 3, false))
                }
                false => Ty::Value(self.some_type(hint, size / 3)),
            });
        }
        self.signature(&params, result)
    }

    /// A random builtin with this signature, if one is found.
    fn builtin_with(&mut self, signature: &Signature) -> Option<Builtin> {
        let Ty::Value(result) = signature.result else { return None };
        let rough = self.is_rough() && self.random.percent(40);
        let instances = if rough { &self.catalog.rough } else { &self.catalog.fixed };
        let instances = &instances[super::catalog::slot(result)];
        for _ in 0..if instances.is_empty() { 0 } else { 12 } {
            let instance = &self.catalog.all[self.random.pick(instances) as usize];
            let same = instance.params.len() == signature.params.len()
                && instance.params.iter().zip(&signature.params).all(|(&p, &q)| Ty::Value(p) == q);
            if !same || instance.index || !self.scope.has(instance.builtin) {
                continue;
            }
            let ranges: SmallVec<[Range; 4]> = instance.params.iter().map(|_| Range::PARAMETER).collect();
            if self.is_rough() || range::result(instance.emit, &ranges).fits(Range::RESULT) {
                return Some(instance.builtin);
            }
        }
        None
    }

    /// An expression for a function of this signature, and its cost. `func` must be visible.
    pub(super) fn function(&mut self, signature: u16, size: u32) -> (Id, Cost) {
        let unit_cost = Cost { body: 1, uses: [1; 4] };
        let signature_types = self.signatures[signature as usize].clone();
        match self.random.below(16) {
            0..4 => {
                let candidates = self.scope.visible(|kind| matches!(kind, Kind::Function(s, _) if *s == signature));
                if !candidates.is_empty() {
                    let binding = &mut self.scope.bindings[self.random.pick(&candidates) as usize];
                    binding.uses += 1;
                    let Kind::Function(_, cost) = binding.kind else { unreachable!("only functions were looked for") };
                    return (self.draft.name(binding.name), cost);
                }
            }
            4..8 => {
                let result = signature_types.result;
                let is_if = signature_types.params.as_slice() == [Ty::Value(Ground::BOOL), result, result];
                if is_if && self.scope.means_itself(Name::IF) && self.random.percent(70) {
                    return (self.draft.name(Name::IF), unit_cost);
                }
                if let Some(builtin) = self.builtin_with(&signature_types) {
                    return (self.draft.name(Name::builtin(builtin)), unit_cost);
                }
            }
            8 if size >= 14 && self.scope.means_itself(Name::IF) => {
                let condition = self.unreached(|g| g.condition(size / 5));
                let (then_branch, a) = self.function(signature, size * 2 / 5);
                let (else_branch, b) = self.function(signature, size * 2 / 5);
                let uses = std::array::from_fn(|i| a.uses[i].max(b.uses[i]));
                return (self.if_list(condition.id, then_branch, else_branch), Cost { body: a.body + b.body, uses });
            }
            9 if size >= 12 && self.scope.means_itself(Name::LET) => {
                let head = self.open_let(Ground::NUM, size / 3, &[Name::FUNC]);
                let (body, cost) = self.function(signature, size / 2);
                return (self.close_let(head, body), cost);
            }
            10 if size >= 14 => {
                // A partial application: ((func (a) (func (b) e)) e1).
                let ty = self.some_type(Ground::NUM, size / 4);
                let curried = self.signature(&[Ty::Value(ty)], Ty::Function(signature));
                let (head, cost) = self.lambda(curried, size * 2 / 3);
                let argument = self.unreached(|g| g.expr_within(ty, size / 4, Range::PARAMETER));
                return (self.draft.apply(head, &[argument.id]), Cost { body: cost.body, uses: [2; 4] });
            }
            11 if size >= 14 && signature_types.params.len() == 2 => {
                // (flip f), where f takes the two arguments in the opposite order.
                let flipped = self.signature(&[signature_types.params[1], signature_types.params[0]], signature_types.result);
                if let Some(head) = self.combinator_head(Combinator::Flip) {
                    let (f, cost) = self.function(flipped, size - 8);
                    let uses = [cost.uses[1], cost.uses[0], 0, 0];
                    return (self.draft.apply(head, &[f]), Cost { uses, ..cost });
                }
            }
            12 if size >= 14 && signature_types.params.len() == 1 => {
                let middle = Ty::Value(self.some_type(Ground::NUM, size / 4));
                let (first, second) = (self.signature(&signature_types.params, middle), self.signature(&[middle], signature_types.result));
                if let Some(head) = self.combinator_head(Combinator::Compose) {
                    let (f, a) = self.function(second, size / 2);
                    let (g, b) = self.function(first, size / 3);
                    let cost = Cost { body: a.body + u64::from(a.uses[0]) * b.body, uses: [a.uses[0].saturating_mul(b.uses[0]); 4] };
                    return (self.draft.apply(head, &[f, g]), cost);
                }
            }
            _ => {}
        }
        self.lambda(signature, size)
    }

    /// `(func (id …) e)`
    pub(super) fn lambda(&mut self, signature: u16, size: u32) -> (Id, Cost) {
        let signature_types = self.signatures[signature as usize].clone();
        let params: SmallVec<[(Ty, Range); 4]> = signature_types.params.iter().map(|&ty| (ty, Range::PARAMETER)).collect();
        // A function that returns a function needs `func` in its body.
        let keep: &[Name] = if matches!(signature_types.result, Ty::Function(_)) { &[Name::FUNC] } else { &[] };
        self.lambda_over(&params, keep, size, |g, size| match signature_types.result {
            Ty::Value(ty) => g.unreached(|g| g.expr_within(ty, size, Range::RESULT)),
            Ty::Function(inner) => RangedExpr { id: g.unreached(|g| g.function(inner, size)).0, range: Range::UNKNOWN },
        })
        .0
    }

    /// `(func (id …) e)` with parameters of these types and ranges, and the range of the body. No
    /// parameter has a name in `keep`.
    pub(super) fn lambda_over(
        &mut self,
        params: &[(Ty, Range)],
        keep: &[Name],
        size: u32,
        body: impl FnOnce(&mut Generator, u32) -> RangedExpr,
    ) -> ((Id, Cost), Range) {
        let mut names: SmallVec<[Name; 4]> = SmallVec::from_slice(keep);
        for &(ty, _) in params {
            let purpose = match ty {
                Ty::Value(ty) => Purpose::Value(ty),
                Ty::Function(_) => Purpose::Function,
            };
            let name = self.fresh(purpose, &names);
            names.push(name);
        }
        let names = &names[keep.len()..];
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        let list = self.draft.list(&ids);
        let outer_len = self.scope.len();
        for (&name, &(ty, range)) in names.iter().zip(params) {
            let kind = match ty {
                Ty::Value(ty) => Kind::Value(ty, range, 1),
                Ty::Function(signature) => Kind::Function(signature, Cost { body: 1, uses: [1; 4] }),
            };
            self.scope.push(name, kind);
        }
        let work_before = self.work;
        let expr = body(self, size.saturating_sub(3 + params.len() as u32).max(1));
        let mut cost = Cost { body: self.work - work_before + 1, uses: [0; 4] };
        self.work = work_before;
        for (uses, binding) in cost.uses.iter_mut().zip(&self.scope.bindings[outer_len..]) {
            *uses = binding.uses;
        }
        self.scope.truncate(outer_len);
        ((self.draft.call(Name::FUNC, &[list, expr.id]), cost), expr.range)
    }

    /// An application of a function. `func` must be visible.
    pub(super) fn application(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let unused = self.has_unused_function();
        match self.random.below(20) {
            0..5 if !unused => self.direct(ty, size),
            0..12 => self.call_named(ty, size),
            12..15 if self.mix.higher_order > 0 => self.with_combinator(ty, size),
            _ if size >= 12 => {
                let signature = self.draw_signature(Ty::Value(ty), size / 2, true);
                let (head, cost) = self.function(signature, size / 2);
                self.apply(head, signature, cost, size / 2)
            }
            _ => self.direct(ty, size),
        }
    }

    /// `((func (id …) e) e1 …)`. The parameters have the types and ranges of the arguments.
    fn direct(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let count = if size >= 14 { self.random.between(1, 3) } else { 1 };
        let share = size.saturating_sub(4) * 2 / 5 / count;
        let mut params: SmallVec<[(Ty, Range); 4]> = SmallVec::new();
        let mut arguments: SmallVec<[Id; 4]> = SmallVec::new();
        let mut weights: SmallVec<[u64; 4]> = SmallVec::new();
        for _ in 0..count {
            let work_before = self.work;
            let higher = share >= 3 && self.random.percent(self.mix.higher_order);
            if higher {
                let result = self.some_type(ty, share);
                let signature = self.draw_signature(Ty::Value(result), share, false);
                let (id, cost) = self.unreached(|g| g.function(signature, share));
                arguments.push(id);
                params.push((Ty::Function(signature), Range::UNKNOWN));
                weights.push(cost.body);
            } else {
                let param = self.some_type(ty, share);
                let expr = self.unreached(|g| g.expr(param, share));
                arguments.push(expr.id);
                params.push((Ty::Value(param), expr.range));
                weights.push(self.work - work_before);
            }
            self.work = work_before;
        }
        // The body of a function that is applied where it stands is typed there.
        let body_size = size.saturating_sub(1 + share * count);
        let ((head, cost), range) = self.lambda_over(&params, &[], body_size, |g, size| g.expr(ty, size));
        self.charge(cost, &weights);
        RangedExpr { id: self.draft.apply(head, &arguments), range }
    }

    /// An application of a function in scope that yields this type, or of a new function.
    fn call_named(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let signatures = &self.signatures;
        let candidates = self.scope.visible(|kind| match kind {
            Kind::Function(s, cost) if cost.body <= MAX_BODY_COST => {
                // The function itself may yield the type, or the function that it returns, and
                // so on.
                let mut signature = &signatures[*s as usize];
                while let Ty::Function(inner) = signature.result {
                    signature = &signatures[inner as usize];
                }
                signature.result == Ty::Value(ty)
            }
            _ => false,
        });
        if candidates.is_empty() {
            return self.direct(ty, size);
        }
        let at = self.prefer_unused(&candidates);
        let binding = &mut self.scope.bindings[at];
        binding.uses += 1;
        let Kind::Function(signature, cost) = binding.kind else { unreachable!("only functions were looked for") };
        let name = self.draft.name(binding.name);
        self.apply(name, signature, cost, size.saturating_sub(1))
    }

    /// An application of the function to arguments with about `size` nodes. Its result is applied
    /// to further arguments until it is a value.
    pub(super) fn apply(&mut self, mut head: Id, mut signature: u16, mut cost: Cost, size: u32) -> RangedExpr {
        loop {
            let Signature { params, result } = self.signatures[signature as usize].clone();
            let share = size.saturating_sub(1) / (params.len() as u32).max(1);
            let mut arguments: SmallVec<[Id; 4]> = SmallVec::new();
            let mut weights: SmallVec<[u64; 4]> = SmallVec::new();
            for (i, &param) in params.iter().enumerate() {
                let work_before = self.work;
                let unused = cost.uses.get(i) == Some(&0);
                let id = self.unreached(|g| g.argument(param, share, unused));
                arguments.push(id.0);
                weights.push(id.1.unwrap_or(self.work - work_before));
                self.work = work_before;
            }
            self.charge(cost, &weights);
            head = self.draft.apply(head, &arguments);
            match result {
                Ty::Value(_) => return RangedExpr { id: head, range: Range::RESULT },
                Ty::Function(inner) => (signature, cost) = (inner, Cost { body: 0, uses: [2; 4] }),
            }
        }
    }

    /// An argument, and its weight if it is a function. If the parameter is never used, the
    /// argument may be anything.
    fn argument(&mut self, param: Ty, size: u32, unused: bool) -> (Id, Option<u64>) {
        match param {
            Ty::Function(signature) => {
                let (id, cost) = self.function(signature, size);
                (id, Some(cost.body))
            }
            Ty::Value(_) if unused && self.random.percent(self.mix.unused) => (self.ill_typed(size), None),
            Ty::Value(ty) if unused && self.random.percent(self.mix.unused * 2) => (self.unobserved(|g| g.expr(ty, size)).id, None),
            Ty::Value(ty) => (self.expr_within(ty, size, Range::PARAMETER).id, None),
        }
    }

    fn charge(&mut self, cost: Cost, weights: &[u64]) {
        self.work += cost.body + 1;
        for (i, &weight) in weights.iter().enumerate() {
            self.work += u64::from(cost.uses.get(i).copied().unwrap_or(1)) * weight;
        }
    }

    /// The combinator as an expression.
    pub(super) fn combinator(&mut self, combinator: Combinator) -> Id {
        let (f, g) = (Name::of_function(0), Name::of_function(1));
        let (a, b) = (Name::of_value(0), Name::of_value(1));
        match combinator {
            Combinator::Identity => self.func(&[a], |g| g.draft.name(a)),
            Combinator::First => self.func(&[a, b], |g| g.draft.name(a)),
            Combinator::Apply => self.func(&[f, a], |g| g.list_of(&[f, a])),
            Combinator::Flip => self.func(&[f], |g| g.func(&[a, b], |g| g.list_of(&[f, b, a]))),
            Combinator::Compose => self.func(&[f, g], |h| {
                h.func(&[a], |h| {
                    let inner = h.list_of(&[g, a]);
                    let f = h.draft.name(f);
                    h.draft.list(&[f, inner])
                })
            }),
            Combinator::Twice => self.func(&[f, a], |g| {
                let inner = g.list_of(&[f, a]);
                let f = g.draft.name(f);
                g.draft.list(&[f, inner])
            }),
        }
    }

    /// `(func (params…) body)`, where the body contains only the parameters.
    fn func(&mut self, params: &[Name], body: impl FnOnce(&mut Generator) -> Id) -> Id {
        let list = self.list_of(params);
        let body = body(self);
        self.draft.call(Name::FUNC, &[list, body])
    }

    fn list_of(&mut self, names: &[Name]) -> Id {
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        self.draft.list(&ids)
    }

    /// The combinator, by a name in scope or as an expression.
    fn combinator_head(&mut self, combinator: Combinator) -> Option<Id> {
        let candidates = self.scope.visible(|kind| matches!(kind, Kind::Combinator(c) if *c == combinator));
        match candidates.first() {
            Some(&at) => {
                let binding = &mut self.scope.bindings[at as usize];
                binding.uses += 1;
                Some(self.draft.name(binding.name))
            }
            None if self.scope.means_itself(Name::FUNC) => Some(self.combinator(combinator)),
            None => None,
        }
    }

    /// An application of a combinator, preferably of one in scope.
    fn with_combinator(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let candidates = self.scope.visible(|kind| matches!(kind, Kind::Combinator(_)));
        let combinator = match candidates.as_slice() {
            [] => self.random.pick(&Combinator::ALL),
            some => match self.scope.bindings[self.random.pick(some) as usize].kind {
                Kind::Combinator(combinator) => combinator,
                _ => unreachable!("only combinators were looked for"),
            },
        };
        let value = Ty::Value(ty);
        let plain = matches!(combinator, Combinator::Identity | Combinator::First);
        let Some(head) = (if plain || size >= 16 { self.combinator_head(combinator) } else { None }) else { return self.direct(ty, size) };
        let size = size - 4;
        match combinator {
            Combinator::Identity => {
                let expr = self.expr(ty, size);
                self.work += 1;
                RangedExpr { id: self.draft.apply(head, &[expr.id]), range: expr.range }
            }
            Combinator::First => {
                let other = self.some_type(ty, size / 2);
                let expr = self.expr(ty, size / 2);
                let work_before = self.work;
                let unused = self.unreached(|g| g.argument(Ty::Value(other), size / 2, true)).0;
                self.work = work_before + 1;
                RangedExpr { id: self.draft.apply(head, &[expr.id, unused]), range: expr.range }
            }
            Combinator::Apply | Combinator::Twice => {
                let param = if combinator == Combinator::Twice { ty } else { self.some_type(ty, size / 3) };
                let signature = self.signature(&[Ty::Value(param)], value);
                let (f, cost) = self.unreached(|g| g.function(signature, size / 2));
                let work_before = self.work;
                let argument = self.unreached(|g| g.expr_within(param, size / 3, Range::PARAMETER));
                let weight = self.work - work_before;
                self.work = work_before;
                self.charge(cost, &[weight]);
                if combinator == Combinator::Twice {
                    self.charge(cost, &[weight * u64::from(cost.uses[0])]);
                }
                RangedExpr { id: self.draft.apply(head, &[f, argument.id]), range: Range::RESULT }
            }
            Combinator::Flip => {
                let (first, second) = (self.some_type(ty, size / 4), self.some_type(ty, size / 4));
                let signature = self.signature(&[Ty::Value(second), Ty::Value(first)], value);
                let (f, cost) = self.unreached(|g| g.function(signature, size / 2));
                let head = self.draft.apply(head, &[f]);
                let flipped = self.signature(&[Ty::Value(first), Ty::Value(second)], value);
                let cost = Cost { body: cost.body, uses: [cost.uses[1], cost.uses[0], 0, 0] };
                self.apply(head, flipped, cost, size / 2)
            }
            Combinator::Compose => {
                let (param, middle) = (self.some_type(ty, size / 4), self.some_type(ty, size / 4));
                let first = self.signature(&[Ty::Value(param)], Ty::Value(middle));
                let second = self.signature(&[Ty::Value(middle)], value);
                let (f, a) = self.unreached(|g| g.function(second, size / 3));
                let (g, b) = self.unreached(|h| h.function(first, size / 3));
                let head = self.draft.apply(head, &[f, g]);
                let composed = self.signature(&[Ty::Value(param)], value);
                let uses = [a.uses[0].saturating_mul(b.uses[0]); 4];
                self.apply(head, composed, Cost { body: a.body + u64::from(a.uses[0]) * b.body, uses }, size / 4)
            }
        }
    }
}

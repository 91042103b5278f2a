//! Generated expressions of a value type.

use super::binding::Purpose;
use super::catalog::{Catalog, Instance, Known, catalog, literal_size, slot};
use super::draft::{Draft, Id, Name};
use super::leaf::MAX_WEIGHT;
use super::mix::{Mix, Numbers};
use super::near_miss::Breach;
use super::range::{self, Range};
use super::scope::{Binding, Kind, Scope, Signature};
use crate::random::Random;
use smallstep_semantics::lambda_v::builtin::{Builtin, Emit};
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallstep_semantics::number::Op;
use smallvec::SmallVec;

/// A generated expression, with the estimated range of its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangedExpr {
    pub(super) id: Id,
    pub(super) range: Range,
}

/// A program under construction.
pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) mix: Mix,
    pub(super) draft: Draft,
    pub(super) scope: Scope,
    pub(super) signatures: Vec<Signature>,
    pub(super) catalog: &'static Catalog,
    /// The estimated cost of the current expression, by name.
    pub(super) work: u64,
    /// The number of enclosing expressions whose value cannot be observed.
    pub(super) unobserved: u32,
    /// The number of enclosing loops.
    pub(super) nesting: u32,
    /// The number of loops so far.
    pub(super) loops: u32,
    /// The instance that this program prefers. So a campaign covers each instance.
    pub(super) focus: &'static Instance,
    /// The pending change of a near-miss, and the percentage of suitable places that take it.
    /// `None` if no change is pending.
    pub(super) breach: Option<(Breach, u32)>,
    /// The node of the change, once it is made.
    pub(super) broken: Option<Id>,
    /// Whether typing is certain to reach the current place.
    pub(super) reached: bool,
}

impl Generator {
    pub(super) fn new(mut random: Random, mut mix: Mix) -> Generator {
        let catalog = catalog();
        let focus = loop {
            let instance = &catalog.all[random.below(catalog.all.len() as u32) as usize];
            if mix.rough == instance.rough || random.percent(30) {
                break instance;
            }
        };
        let takes = |predicate: fn(&Ground) -> bool| focus.params.iter().any(predicate) || predicate(&focus.result);
        if takes(|ty| matches!(ty, Ground::Mat(_))) {
            (mix.matrices, mix.size) = (mix.matrices.max(80), mix.size.max(40));
        }
        if takes(|ty| matches!(ty, Ground::Vec(2.., _))) {
            mix.vectors = mix.vectors.max(80);
        }
        Generator {
            random,
            mix,
            draft: Draft::with_room(mix.size + 20),
            scope: Scope::new(),
            signatures: Vec::new(),
            catalog,
            work: 0,
            unobserved: 0,
            nesting: 0,
            loops: 0,
            focus,
            breach: None,
            broken: None,
            reached: true,
        }
    }

    pub(super) fn known(&self) -> &'static Known {
        &self.catalog.known
    }

    /// Whether expressions without a fixed result may stand here.
    pub(super) fn is_rough(&self) -> bool {
        self.mix.rough || self.unobserved > 0
    }

    /// Generates something that typing may not reach.
    pub(super) fn unreached<T>(&mut self, make: impl FnOnce(&mut Generator) -> T) -> T {
        let reached = std::mem::replace(&mut self.reached, false);
        let result = make(self);
        self.reached = reached;
        result
    }

    /// Generates something whose value cannot be observed.
    pub(super) fn unobserved<T>(&mut self, make: impl FnOnce(&mut Generator) -> T) -> T {
        self.unobserved += 1;
        let result = make(self);
        self.unobserved -= 1;
        result
    }

    /// `(builtin items…)`
    pub(super) fn call(&mut self, builtin: Builtin, items: &[Id]) -> Id {
        self.work += 1;
        self.draft.call(Name::builtin(builtin), items)
    }

    /// An expression of the type, with about `size` nodes.
    pub(super) fn expr(&mut self, ty: Ground, size: u32) -> RangedExpr {
        if self.breach.is_some()
            && self.reached
            && let Some(expr) = self.breach_here(ty, size)
        {
            return expr;
        }
        // If the program is too large already, the rest becomes as small as possible.
        let size = if self.draft.len() as u32 > self.mix.size + self.mix.size / 3 + 12 { 1 } else { size };
        if size < 3 || size < 4 && ty != Ground::NUM {
            return self.leaf(ty, size);
        }
        let has = |name| self.scope.means_itself(name);
        let weights = [
            if size >= 14 { 30 } else { 45 },
            if size >= 8 && has(Name::IF) { self.mix.ifs } else { 0 },
            if size >= 9 && has(Name::LET) { self.mix.lets } else { 0 },
            if size >= 7 && has(Name::FUNC) { self.mix.functions + if self.has_unused_function() { 25 } else { 0 } } else { 0 },
            if size >= 16 && self.nesting < 3 && self.can_loop() { self.mix.loops * (2 + 2 * u32::from(self.nesting > 0)) } else { 0 },
            if self.mix.unused > 0 && size >= 6 { 1 } else { 0 },
        ];
        match self.random.weighted(&weights) {
            1 => self.conditional(ty, size),
            2 => self.let_expr(ty, size),
            3 => self.application(ty, size),
            4 => self.rec_func(ty, size),
            5 => self.with_absorbed_operand(ty, size),
            _ => self.builtin(ty, size),
        }
    }

    pub(super) fn has_unused_function(&self) -> bool {
        let function = |kind: &Kind| matches!(kind, Kind::Function(..) | Kind::Combinator(_));
        self.scope.bindings.iter().any(|b| b.visible && b.uses == 0 && function(&b.kind))
    }

    /// An expression whose range fits, unless results need not be fixed here.
    pub(super) fn expr_within(&mut self, ty: Ground, size: u32, range: Range) -> RangedExpr {
        let expr = self.expr(ty, size);
        self.within(ty, expr, range)
    }

    /// The expression, changed so that its range fits, unless results need not be fixed here.
    pub(super) fn within(&mut self, ty: Ground, expr: RangedExpr, range: Range) -> RangedExpr {
        if self.is_rough() || expr.range.fits(range) || !matches!(ty, Ground::Vec(_, Elem::F)) {
            return expr;
        }
        let known = self.known();
        let wraps = [
            (known.fract, Range { mag: 0, frac: expr.range.frac }),
            (known.floor, Range { mag: expr.range.mag, frac: 0 }),
            (known.sign, Range::UNIT),
        ];
        for (builtin, wrapped) in wraps {
            if wrapped.fits(range) && self.scope.has(builtin) {
                return RangedExpr { id: self.call(builtin, &[expr.id]), range: wrapped };
            }
        }
        expr
    }

    /// An application of a builtin.
    fn builtin(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let catalog = self.catalog;
        if self.random.percent(60)
            && let Some(expr) = self.expr_with_unused(ty, size)
        {
            return expr;
        }
        let focus = self.focus;
        let focused = focus.result == ty && (!focus.rough || self.is_rough());
        if focused && self.random.percent(50) && self.fits_here(focus, size) {
            return self.apply_instance(focus, size, None);
        }
        for _ in 0..6 {
            let rough = self.is_rough() && self.random.percent(40);
            let instances = if rough { &catalog.rough[slot(ty)] } else { &catalog.fixed[slot(ty)] };
            if instances.is_empty() {
                continue;
            }
            let instance = &catalog.all[self.random.pick(instances) as usize];
            if self.accepts(instance, ty, size) {
                return self.apply_instance(instance, size, None);
            }
        }
        self.leaf(ty, size)
    }

    /// An expression with a variable that was not used yet, whatever the variable's type.
    fn expr_with_unused(&mut self, ty: Ground, size: u32) -> Option<RangedExpr> {
        let is_unused_value = |b: &Binding| b.visible && b.uses == 0 && matches!(b.kind, Kind::Value(_, _, weight) if weight <= MAX_WEIGHT);
        let at = self.scope.bindings.iter().rposition(is_unused_value)?;
        let Kind::Value(required_ty, ..) = self.scope.bindings[at].kind else { return None };
        let variable = self.use_value(at);
        self.expr_containing(ty, variable, required_ty, size)
    }

    /// An expression of the type that contains the given expression, by one builtin, a conditional,
    /// or in two steps.
    fn expr_containing(&mut self, ty: Ground, required: RangedExpr, required_ty: Ground, size: u32) -> Option<RangedExpr> {
        if required_ty == Ground::BOOL && ty != Ground::BOOL && size >= 5 && self.scope.means_itself(Name::IF) {
            let sizes = self.split(size - 3, &[ty, ty]);
            let then_branch = self.expr(ty, sizes[0]);
            let else_branch = self.expr(ty, sizes[1]);
            return Some(RangedExpr {
                id: self.if_list(required.id, then_branch.id, else_branch.id),
                range: then_branch.range.join(else_branch.range),
            });
        }
        let instances = &self.catalog.taking[slot(ty)][slot(required_ty)];
        for _ in 0..if instances.is_empty() { 0 } else { 3 } {
            let instance = &self.catalog.all[self.random.pick(instances) as usize];
            if self.fits_here(instance, size) {
                let position = instance.params.iter().rposition(|&p| p == required_ty)?;
                return Some(self.apply_instance(instance, size, Some((position, required))));
            }
        }
        let middle = match required_ty {
            _ if required_ty == ty => return Some(required),
            Ground::Mat(n) => Ground::Vec(n, Elem::F),
            Ground::Vec(2.., Elem::B) => Ground::BOOL,
            Ground::Vec(2.., Elem::F) => Ground::NUM,
            _ => return None,
        };
        if middle == ty {
            return None;
        }
        let part = self.expr_containing(middle, required, required_ty, size / 3)?;
        self.expr_containing(ty, part, middle, size * 2 / 3)
    }

    /// `(let ((id e)) …)`, where e has the instance that this program prefers and the body
    /// uses id.
    pub(super) fn showcase(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let focus = self.focus;
        if !self.scope.means_itself(Name::LET) || focus.emit == Emit::FragCoord || !self.fits_here(focus, u32::MAX) {
            return self.expr(ty, size);
        }
        let work_before = self.work;
        let featured = self.unreached(|g| g.apply_instance(focus, size / 2, None));
        let weight = std::mem::replace(&mut self.work, work_before) - work_before;
        let name = self.fresh(Purpose::Value(focus.result), &[]);
        let value = Kind::Value(focus.result, featured.range, weight);
        let head = self.open_alias(featured.id, name, value);
        let rest = (size / 2).max(8);
        let body = match self.expr_with_unused(ty, rest) {
            Some(expr) => expr,
            None => self.expr(ty, rest),
        };
        RangedExpr { id: self.close_let(head, body.id), range: body.range }
    }

    /// Whether the instance can be named here, and `size` has room for its operands.
    fn fits_here(&self, instance: &Instance, size: u32) -> bool {
        let aliased = |b: &Binding| b.visible && matches!(b.kind, Kind::Builtin(x) if x == instance.builtin);
        let named = self.scope.has(instance.builtin) || self.scope.bindings.iter().any(aliased);
        named && instance.params.iter().map(|&p| self.cheapest(p)).sum::<u32>() + 2 <= size
    }

    /// Whether the mix and the size allow the instance.
    fn accepts(&mut self, instance: &Instance, ty: Ground, size: u32) -> bool {
        if !self.fits_here(instance, size) {
            return false;
        }
        let spends = |predicate: fn(&Ground) -> bool| !predicate(&ty) && instance.params.iter().any(predicate);
        let matrices = spends(|p| matches!(p, Ground::Mat(_)));
        let vectors = spends(|p| matches!(p, Ground::Vec(2.., _)));
        if matrices && !self.random.percent(self.mix.matrices) || vectors && !self.random.percent(self.mix.vectors) {
            return false;
        }
        // `(frag-coord)` alone would fill the place with one leaf, so it stands only where there is
        // little room.
        instance.emit != Emit::FragCoord || size <= 12
    }

    /// The instance applied to generated expressions. One operand may be given, with its position.
    fn apply_instance(&mut self, instance: &Instance, size: u32, fixed_operand: Option<(usize, RangedExpr)>) -> RangedExpr {
        if fixed_operand.is_none() && instance.op() == Some(Op::Clamp) && !self.is_rough() && self.random.percent(70) {
            return self.clamp(instance, size);
        }
        let sizes = self.split(size.saturating_sub(2), &instance.params);
        let mut operands: SmallVec<[RangedExpr; 4]> = SmallVec::new();
        for (i, (&param, &size)) in instance.params.iter().zip(&sizes).enumerate() {
            let operand = match instance.index && i == 0 {
                _ if fixed_operand.is_some_and(|(position, _)| position == i) => {
                    fixed_operand.map_or_else(|| self.literal(param), |(_, expr)| expr)
                }
                true => {
                    let n = instance.params[1].columns() as u32;
                    let x = self.random.below(n) as f32;
                    RangedExpr { id: self.draft.num(x), range: Range::of(x) }
                }
                false => self.expr(param, size),
            };
            operands.push(operand);
        }
        self.apply_to(instance, operands)
    }

    /// The instance applied to operands. Operands may be changed so that the result stays exact.
    pub(super) fn apply_to(&mut self, instance: &Instance, mut operands: SmallVec<[RangedExpr; 4]>) -> RangedExpr {
        let mut builtin = instance.builtin;
        let ranges = |operands: &[RangedExpr]| -> SmallVec<[Range; 4]> { operands.iter().map(|o| o.range).collect() };
        self.tame(instance, &mut operands);
        let mut range = range::result(instance.emit, &ranges(&operands));
        if !self.is_rough() {
            if instance.op() == Some(Op::Round) {
                // Avoids ties, which may be rounded either way.
                operands[0] = self.untied(instance.params[0], operands[0]);
            }
            let needs_exact = range::needs_exact(instance.emit);
            if !range.is_exact() && needs_exact {
                for (operand, &ty) in operands.iter_mut().zip(&instance.params) {
                    *operand = self.within(ty, *operand, Range { mag: 4, frac: 1 });
                }
                range = range::result(instance.emit, &ranges(&operands));
            }
            let too_large = if self.mix.numbers == Numbers::Grid { !range.is_exact() } else { range.mag > 60 };
            if too_large && instance.op() == Some(Op::Mul) {
                // A minimum or sum of the same operands grows less than the product.
                let known = self.known();
                for (other, emit) in [(known.min, Emit::Compute(Op::Min)), (known.plus, Emit::Compute(Op::Add))] {
                    if instance.builtin == known.times && self.scope.has(other) {
                        builtin = other;
                        range = range::result(emit, &ranges(&operands));
                    }
                }
            }
        }
        let ids: SmallVec<[Id; 4]> = operands.iter().map(|o| o.id).collect();
        RangedExpr { id: self.builtin_call(builtin, &ids), range }
    }

    /// `(builtin items…)`. Now and then another name for the builtin is used, or another
    /// expression with its value.
    fn builtin_call(&mut self, builtin: Builtin, items: &[Id]) -> Id {
        self.work += 1;
        let aliases = self.scope.visible(|kind| matches!(kind, Kind::Builtin(b) if *b == builtin));
        let hidden = !self.scope.has(builtin);
        let head = match aliases.first() {
            Some(&alias) if hidden || self.random.percent(50) => {
                let binding = &mut self.scope.bindings[alias as usize];
                binding.uses += 1;
                binding.name
            }
            _ => Name::builtin(builtin),
        };
        self.draft.call(head, items)
    }

    /// Adds 1/4 to x, if x may be a tie.
    fn untied(&mut self, ty: Ground, expr: RangedExpr) -> RangedExpr {
        let known = self.known();
        if expr.range.frac == 0 || ty != Ground::NUM || !self.scope.has(known.plus) || !self.scope.has(known.floor) {
            return self.within(ty, expr, Range { mag: 20, frac: 0 });
        }
        let halves = if expr.range.frac == 1 { expr } else { self.within(ty, expr, Range { mag: 20, frac: 0 }) };
        let quarter = self.draft.num(0.25);
        RangedExpr { id: self.call(known.plus, &[halves.id, quarter]), range: Range { mag: halves.range.mag + 1, frac: 2 } }
    }

    /// `(clamp e low high)` with low ≤ high. Otherwise its result is undefined.
    fn clamp(&mut self, instance: &Instance, size: u32) -> RangedExpr {
        let ty = instance.result;
        let bound = literal_size(ty);
        let e = self.expr(ty, size.saturating_sub(2 + 2 * bound));
        let (low, high) = self.random.pick(&[(0.0, 1.0), (-1.0, 1.0), (0.5, 2.0), (-4.0, 4.0), (1.0, 1.0)]);
        match (self.constant_of(ty, low), self.constant_of(ty, high)) {
            (Some(low_id), Some(high_id)) => {
                let operands = [e, RangedExpr { id: low_id, range: Range::of(low) }, RangedExpr { id: high_id, range: Range::of(high) }];
                self.apply_to(instance, SmallVec::from_slice(&operands))
            }
            _ => e,
        }
    }

    /// Divides `size` among expressions of these types at random. As far as `size` allows, each
    /// gets room for its smallest expression.
    pub(super) fn split(&mut self, size: u32, types: &[Ground]) -> SmallVec<[u32; 4]> {
        // No minimum exceeds an equal share, or expressions of large types would grow on the
        // way down.
        let limit = size / (types.len() as u32).max(1);
        let mut parts: SmallVec<[u32; 4]> = types.iter().map(|&ty| self.cheapest(ty).min(limit)).collect();
        let spare = size.saturating_sub(parts.iter().sum());
        self.spread(spare, &mut parts);
        parts
    }

    /// Adds `spare` nodes to the parts, unevenly.
    pub(super) fn spread(&mut self, spare: u32, parts: &mut [u32]) {
        let weights: SmallVec<[u32; 8]> = parts.iter().map(|_| self.random.between(1, 8)).collect();
        let total: u32 = weights.iter().sum();
        for (part, weight) in parts.iter_mut().zip(&weights) {
            *part += spare * weight / total.max(1);
        }
    }

    /// A condition. Usually it is a comparison.
    pub(super) fn condition(&mut self, size: u32) -> RangedExpr {
        let known = self.known();
        let compare = [known.less_than, known.less_equal, known.greater_than, known.greater_equal, known.eq, known.neq];
        let builtin = self.random.pick(&compare);
        if size >= 4 && self.breach.is_none() && self.random.percent(60) && self.scope.has(builtin) {
            let sizes = self.split(size - 2, &[Ground::NUM, Ground::NUM]);
            let x = self.expr(Ground::NUM, sizes[0]);
            let y = self.expr(Ground::NUM, sizes[1]);
            return RangedExpr { id: self.builtin_call(builtin, &[x.id, y.id]), range: Range::UNIT };
        }
        self.expr(Ground::BOOL, size)
    }

    /// `(if e1 e2 e3)`. `if` must be visible.
    fn conditional(&mut self, ty: Ground, size: u32) -> RangedExpr {
        if self.random.percent(self.mix.unused)
            && let Some(expr) = self.one_way(ty, size)
        {
            return expr;
        }
        let sizes = self.split(size - 2, &[Ground::BOOL, ty, ty]);
        let condition = self.condition(sizes[0].max(sizes[1].min(6)));
        let then_branch = self.expr(ty, sizes[1]);
        let else_branch = self.expr(ty, sizes[2]);
        let id = self.if_list(condition.id, then_branch.id, else_branch.id);
        RangedExpr { id, range: then_branch.range.join(else_branch.range) }
    }

    /// `(if e1 e2 e3)`, now and then with another name for `if`.
    pub(super) fn if_list(&mut self, condition: Id, then_branch: Id, else_branch: Id) -> Id {
        self.work += 1;
        let aliases = self.scope.visible(|kind| matches!(kind, Kind::If));
        let head = match aliases.first() {
            Some(&alias) if self.random.percent(60) => {
                let binding = &mut self.scope.bindings[alias as usize];
                binding.uses += 1;
                binding.name
            }
            _ => Name::IF,
        };
        self.draft.call(head, &[condition, then_branch, else_branch])
    }

    /// A conditional with one branch that is never taken. That branch may be any expression.
    pub(super) fn one_way(&mut self, ty: Ground, size: u32) -> Option<RangedExpr> {
        let known = self.known();
        let (holds, condition) = match self.random.below(3) {
            0 => (self.random.percent(50), None),
            _ => (self.random.percent(50), Some(self.pixel()?)),
        };
        let condition = match condition {
            None => self.draft.bool(holds),
            Some(pixel) => {
                // A pixel's coordinates are positive.
                let builtin = if holds { known.greater_than } else { known.less_than };
                if !self.scope.has(builtin) {
                    return None;
                }
                let zero = self.draft.num(0.0);
                self.call(builtin, &[pixel.id, zero])
            }
        };
        let sizes = self.split(size.saturating_sub(6), &[ty, ty]);
        let observed = self.expr(ty, sizes[0]);
        let work_before = self.work;
        let shows_focus = self.focus.rough && !self.is_rough();
        let unobserved = self.unobserved(|g| if shows_focus { g.showcase(ty, sizes[1].max(12)) } else { g.expr(ty, sizes[1]) });
        self.work = work_before;
        let (then_branch, else_branch) = if holds { (observed, unobserved) } else { (unobserved, observed) };
        Some(RangedExpr { id: self.if_list(condition, then_branch.id, else_branch.id), range: observed.range })
    }

    /// An expression with an operand that is evaluated but cannot be observed: (and false e), (or
    /// true e), (select true a e).
    fn with_absorbed_operand(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let known = self.known();
        let (builtin, operand) = match ty {
            Ground::BOOL => (if self.random.percent(50) { known.and } else { known.or }, ty),
            Ground::NUM => (known.select, ty),
            _ => return self.builtin(ty, size),
        };
        if !self.scope.has(builtin) {
            return self.leaf(ty, size);
        }
        let unobserved = self.unobserved(|g| g.expr(operand, size / 2));
        let (items, range): (SmallVec<[Id; 3]>, Range) = if builtin == known.select {
            let first = self.random.percent(50);
            let condition = self.draft.bool(first);
            let observed = self.expr(ty, (size / 2).saturating_sub(3));
            let (x, y) = if first { (observed, unobserved) } else { (unobserved, observed) };
            (SmallVec::from_slice(&[condition, x.id, y.id]), observed.range)
        } else {
            let absorbing = self.draft.bool(builtin == known.or);
            let items = if self.random.percent(50) { [absorbing, unobserved.id] } else { [unobserved.id, absorbing] };
            (SmallVec::from_slice(&items), Range::UNIT)
        };
        RangedExpr { id: self.call(builtin, &items), range }
    }
}

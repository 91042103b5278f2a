//! let, and functions in every place that λV allows: applied where they stand, named, passed, returned, and chosen by a condition.

use super::catalog::literal_size;
use super::draft::{Id, Name};
use super::expr::{Generator, Made};
use super::range::{self, Range};
use super::scope::{Combinator, Cost, Kind, Signature, Ty};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// The most that a named function's body may cost.
const DEAREST_BODY: u64 = 120;

/// What names are for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum For {
    Value(Ground),
    Function,
    Accumulator,
    Counter,
    Rec,
}

/// The head of a let: its list of bindings, and where its scope began.
pub(super) struct LetHead {
    list: Id,
    outside: usize,
}

impl LetHead {
    /// Where the scope began.
    pub(super) fn outside(&self) -> usize {
        self.outside
    }
}

impl Generator {
    /// A name that is not among `taken`.
    pub(super) fn fresh(&mut self, purpose: For, taken: &[Name]) -> Name {
        for _ in 0..8 {
            let i = self.random.below(64);
            let shadow = self.random.percent(self.mix.shadowing);
            let name = match purpose {
                _ if shadow && self.scope.len() > 0 && self.random.percent(60) => {
                    let at = self.random.below(self.scope.len() as u32) as usize;
                    self.scope.bindings[at].name
                }
                For::Value(_) if shadow => Name::predefined(self.random.below(256)),
                For::Value(_) => Name::of_value(i),
                For::Function => Name::of_function(i),
                For::Accumulator => Name::of_accumulator(i),
                For::Counter => Name::of_counter(i),
                For::Rec => Name::of_rec(i),
            };
            if !taken.contains(&name) && (shadow || !self.scope.binds(name)) && self.may_bind(name, purpose) {
                return name;
            }
        }
        // Every name of the purpose is in use: hide one, but none of this list.
        (0..64).map(Name::of_value).find(|name| !taken.contains(name)).unwrap_or(Name::of_function(0))
    }

    /// The name of a constructor is left to values of its own type, so that there always is an expression of each type.
    fn may_bind(&self, name: Name, purpose: For) -> bool {
        if !name.is_predefined() {
            return true;
        }
        let constructed = self.known().constructors.iter().position(|b| b.is_some_and(|b| Name::builtin(b) == name));
        constructed.is_none_or(|slot| matches!(purpose, For::Value(ty) if ty == Ground::ALL[slot]))
    }

    /// A type for a binding or parameter: now and then that of what is being made.
    pub(super) fn some_type(&mut self, hint: Ground, size: u32) -> Ground {
        let matrix = Ground::Mat(self.random.between(2, 4) as u8);
        if literal_size(matrix) <= size + 6 && self.random.percent(self.mix.matrices / 4) {
            return matrix;
        }
        for _ in 0..4 {
            let ty = match self.random.below(22) {
                0..6 => hint,
                6..11 => Ground::NUM,
                11..15 => Ground::Vec(self.random.between(2, 4) as u8, Elem::F),
                15 => Ground::BOOL,
                16..19 if !self.focus.params.is_empty() => self.random.pick(&self.focus.params),
                16..20 => self.focus.result,
                20 => Ground::Vec(self.random.between(2, 4) as u8, Elem::B),
                _ => Ground::NUM,
            };
            if literal_size(ty) <= size {
                return ty;
            }
        }
        Ground::NUM
    }

    /// `(let ((id e) …) e)`
    pub(super) fn let_expr(&mut self, ty: Ground, size: u32) -> Made {
        let share = (size - 5) * self.random.between(25, 65) / 100;
        let head = self.open_let(ty, share, &[]);
        let body = self.expr(ty, (size - 4).saturating_sub(share).max(2));
        Made { id: self.close_let(head, body.id), range: body.range }
    }

    /// Makes the bindings of a let, of about so many nodes, and begins their scope. `let` must be visible. The names in
    /// `keep` are not bound.
    pub(super) fn open_let(&mut self, hint: Ground, size: u32, keep: &[Name]) -> LetHead {
        let count = match size {
            0..6 => 1,
            6..14 => self.random.between(1, 2),
            _ => self.random.between(1, 3),
        };
        let mut names: SmallVec<[Name; 4]> = SmallVec::from_slice(keep);
        let mut kinds: SmallVec<[Kind; 4]> = SmallVec::new();
        let mut pairs: SmallVec<[Id; 4]> = SmallVec::new();
        for _ in 0..count {
            let share = (size / count).saturating_sub(2).max(1);
            let (value, kind, name) = self.unreached(|g| g.binding(hint, share, &names));
            let id = self.draft.name(name);
            pairs.push(self.draft.list(&[id, value]));
            names.push(name);
            kinds.push(kind);
        }
        self.begin_scope(&pairs, &names[keep.len()..], &kinds)
    }

    fn begin_scope(&mut self, pairs: &[Id], names: &[Name], kinds: &[Kind]) -> LetHead {
        let list = self.draft.list(pairs);
        let outside = self.scope.len();
        for (&name, &kind) in names.iter().zip(kinds) {
            self.scope.push(name, kind);
        }
        LetHead { list, outside }
    }

    /// A let of names for the pixel: `(let ((p (frag-coord))) …)`, or its x and y, and whether it is these.
    pub(super) fn open_coordinate(&mut self) -> (LetHead, bool) {
        let (x, y) = (self.known().components[0], self.known().components[1]);
        let apart = self.scope.has(x) && self.scope.has(y) && self.random.percent(35);
        let ty = if apart { Ground::NUM } else { Ground::Vec(4, Elem::F) };
        let kind = Kind::Value(ty, Range::FRAG_COORD, if apart { 2 } else { 1 });
        let before = self.work;
        let (pairs, names): (SmallVec<[Id; 2]>, SmallVec<[Name; 2]>) = if apart {
            // The names may hide the builtins that are used in what they are bound to.
            let hide = self.mix.shadowing > 0;
            let mut taken: SmallVec<[Name; 2]> = SmallVec::new();
            [x, y]
                .into_iter()
                .map(|component| {
                    let name = if hide { Name::builtin(component) } else { self.fresh(For::Value(ty), &taken) };
                    taken.push(name);
                    let whole = self.frag_coord();
                    let value = self.call(component, &[whole.id]);
                    let id = self.draft.name(name);
                    (self.draft.list(&[id, value]), name)
                })
                .unzip()
        } else {
            let name = self.fresh(For::Value(ty), &[]);
            let value = self.frag_coord();
            let id = self.draft.name(name);
            (SmallVec::from_slice(&[self.draft.list(&[id, value.id])]), SmallVec::from_slice(&[name]))
        };
        self.work = before;
        let kinds: SmallVec<[Kind; 2]> = names.iter().map(|_| kind).collect();
        (self.begin_scope(&pairs, &names, &kinds), apart)
    }

    /// A let of one name for `rec` of the loop.
    pub(super) fn open_alias(&mut self, value: Id, name: Name, kind: Kind) -> LetHead {
        let id = self.draft.name(name);
        let pair = self.draft.list(&[id, value]);
        self.begin_scope(&[pair], &[name], &[kind])
    }

    /// Ends the scope and puts the let together.
    pub(super) fn close_let(&mut self, head: LetHead, body: Id) -> Id {
        self.work += 1;
        self.scope.truncate(head.outside);
        self.draft.call(Name::LET, &[head.list, body])
    }

    /// What a let or define binds: an expression, what it is, and its name.
    pub(super) fn binding(&mut self, hint: Ground, size: u32, taken: &[Name]) -> (Id, Kind, Name) {
        let before = self.work;
        let weights = [
            60,
            14,
            if size >= 6 { self.mix.functions * 2 } else { 0 },
            6,
            2,
            if self.mix.higher_order > 0 { 5 } else { 0 },
            self.mix.unused / 3,
            self.mix.unused / 2,
        ];
        let has_func = self.scope.means_itself(Name::FUNC);
        let (value, kind, name) = match self.random.weighted(&weights) {
            1 if self.scope.has(self.known().frag_coord) => {
                let made = self.frag_coord();
                let ty = Ground::Vec(4, Elem::F);
                (made.id, Kind::Value(ty, made.range, 1), self.fresh(For::Value(ty), taken))
            }
            2 if has_func => {
                let signature = self.draw_signature(Ty::Value(hint), size, true);
                let (id, cost) = self.function(signature, size);
                let kind = if cost.body <= DEAREST_BODY { Kind::Function(signature, cost) } else { Kind::Unused };
                (id, kind, self.fresh(For::Function, taken))
            }
            3 => {
                let builtin = Builtin(self.random.below(self.catalog.builtins) as u8);
                if !self.scope.has(builtin) {
                    return self.plain_binding(hint, size, taken);
                }
                let name = self.fresh(For::Function, taken);
                (self.draft.name(Name::builtin(builtin)), Kind::Builtin(builtin), name)
            }
            4 if self.scope.means_itself(Name::IF) => (self.draft.name(Name::IF), Kind::If, self.fresh(For::Function, taken)),
            5 if has_func => {
                let combinator = self.random.pick(&Combinator::ALL);
                (self.combinator(combinator), Kind::Combinator(combinator), self.fresh(For::Function, taken))
            }
            6 => (self.ill_typed(size), Kind::Unused, self.fresh(For::Value(Ground::NUM), taken)),
            7 => {
                let ty = self.some_type(hint, size);
                (self.unseen(|g| g.expr(ty, size)).id, Kind::Unused, self.fresh(For::Value(Ground::NUM), taken))
            }
            _ => return self.plain_binding(hint, size, taken),
        };
        // By name: a binding costs where it is used.
        self.work = before;
        (value, kind, name)
    }

    fn plain_binding(&mut self, hint: Ground, size: u32, taken: &[Name]) -> (Id, Kind, Name) {
        let before = self.work;
        let ty = self.some_type(hint, size);
        let made = self.expr(ty, size);
        let weight = self.work - before;
        self.work = before;
        (made.id, Kind::Value(ty, made.range, weight), self.fresh(For::Value(ty), taken))
    }

    /// An expression that has no type, for where nothing asks for one.
    fn ill_typed(&mut self, size: u32) -> Id {
        let names = self.known();
        match self.random.below(6) {
            0 => self.draft.list(&[]),
            1 => {
                let (one, two) = (self.draft.num(1.0), self.draft.num(2.0));
                self.draft.list(&[one, two])
            }
            2 if self.scope.has(names.plus) => {
                let (one, yes) = (self.draft.num(1.0), self.draft.bool(true));
                self.call(names.plus, &[one, yes])
            }
            3 if self.scope.means_itself(Name::IF) => {
                let (one, e) = (self.draft.num(1.0), self.expr(Ground::NUM, size / 2).id);
                self.draft.call(Name::IF, &[one, e, e])
            }
            4 if self.scope.means_itself(Name::FUNC) => {
                let (half, other) = (self.self_application(), self.self_application());
                self.draft.list(&[half, other])
            }
            _ => self.draft.bool(true),
        }
    }

    /// `(func (s) (s s))`
    pub(super) fn self_application(&mut self) -> Id {
        let name = Name::of_value(7);
        let (param, s, t) = (self.draft.name(name), self.draft.name(name), self.draft.name(name));
        let (params, body) = (self.draft.list(&[param]), self.draft.list(&[s, t]));
        self.draft.call(Name::FUNC, &[params, body])
    }

    /// The number of a signature.
    pub(super) fn signature(&mut self, params: &[Ty], result: Ty) -> u16 {
        let found = self.signatures.iter().position(|s| s.result == result && s.params.as_slice() == params);
        found.unwrap_or_else(|| {
            self.signatures.push(Signature { params: SmallVec::from_slice(params), result });
            self.signatures.len() - 1
        }) as u16
    }

    /// A signature with this result. Functions are among the parameters if `higher` and the mix say so.
    pub(super) fn draw_signature(&mut self, result: Ty, size: u32, higher: bool) -> u16 {
        let Ty::Value(hint) = result else { return self.signature(&[Ty::Value(Ground::NUM)], result) };
        if self.random.percent(9) {
            // That of `if` itself.
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

    /// The name of a builtin with this signature, whose result fits, if one is drawn.
    fn builtin_with(&mut self, signature: &Signature) -> Option<Builtin> {
        let Ty::Value(result) = signature.result else { return None };
        let rough = self.is_rough() && self.random.percent(40);
        let among = if rough { &self.catalog.rough } else { &self.catalog.fixed };
        let among = &among[super::catalog::slot(result)];
        for _ in 0..if among.is_empty() { 0 } else { 12 } {
            let instance = &self.catalog.all[self.random.pick(among) as usize];
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

    /// An expression for a function of the signature. `func` must be visible.
    pub(super) fn function(&mut self, signature: u16, size: u32) -> (Id, Cost) {
        let one = Cost { body: 1, uses: [1; 4] };
        let described = self.signatures[signature as usize].clone();
        match self.random.below(16) {
            0..4 => {
                let found = self.scope.visible(|kind| matches!(kind, Kind::Function(s, _) if *s == signature));
                if !found.is_empty() {
                    let binding = &mut self.scope.bindings[self.random.pick(&found) as usize];
                    binding.uses += 1;
                    let Kind::Function(_, cost) = binding.kind else { unreachable!("only functions were looked for") };
                    return (self.draft.name(binding.name), cost);
                }
            }
            4..8 => {
                let result = described.result;
                let is_if = described.params.as_slice() == [Ty::Value(Ground::BOOL), result, result];
                if is_if && self.scope.means_itself(Name::IF) && self.random.percent(70) {
                    return (self.draft.name(Name::IF), one);
                }
                if let Some(builtin) = self.builtin_with(&described) {
                    return (self.draft.name(Name::builtin(builtin)), one);
                }
            }
            8 if size >= 14 && self.scope.means_itself(Name::IF) => {
                let condition = self.unreached(|g| g.condition(size / 5));
                let (yes, a) = self.function(signature, size * 2 / 5);
                let (no, b) = self.function(signature, size * 2 / 5);
                let uses = std::array::from_fn(|i| a.uses[i].max(b.uses[i]));
                return (self.if_list(condition.id, yes, no), Cost { body: a.body + b.body, uses });
            }
            9 if size >= 12 && self.scope.means_itself(Name::LET) => {
                let head = self.open_let(Ground::NUM, size / 3, &[Name::FUNC]);
                let (body, cost) = self.function(signature, size / 2);
                return (self.close_let(head, body), cost);
            }
            10 if size >= 14 => {
                // Partly applied: ((func (a) (func (b) e)) e1).
                let ty = self.some_type(Ground::NUM, size / 4);
                let curried = self.signature(&[Ty::Value(ty)], Ty::Function(signature));
                let (head, cost) = self.lambda(curried, size * 2 / 3);
                let argument = self.unreached(|g| g.expr_within(ty, size / 4, Range::PARAMETER));
                return (self.draft.apply(head, &[argument.id]), Cost { body: cost.body, uses: [2; 4] });
            }
            11 if size >= 14 && described.params.len() == 2 => {
                // (flip f), with f taking the two the other way round.
                let flipped = self.signature(&[described.params[1], described.params[0]], described.result);
                if let Some(head) = self.combinator_head(Combinator::Flip) {
                    let (f, cost) = self.function(flipped, size - 8);
                    let uses = [cost.uses[1], cost.uses[0], 0, 0];
                    return (self.draft.apply(head, &[f]), Cost { uses, ..cost });
                }
            }
            12 if size >= 14 && described.params.len() == 1 => {
                let middle = Ty::Value(self.some_type(Ground::NUM, size / 4));
                let (first, second) = (self.signature(&described.params, middle), self.signature(&[middle], described.result));
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
        let described = self.signatures[signature as usize].clone();
        let params: SmallVec<[(Ty, Range); 4]> = described.params.iter().map(|&ty| (ty, Range::PARAMETER)).collect();
        // A function that returns one needs `func` in its body.
        let keep: &[Name] = if matches!(described.result, Ty::Function(_)) { &[Name::FUNC] } else { &[] };
        self.lambda_over(&params, keep, size, |g, size| match described.result {
            Ty::Value(ty) => g.unreached(|g| g.expr_within(ty, size, Range::RESULT)),
            Ty::Function(inner) => Made { id: g.unreached(|g| g.function(inner, size)).0, range: Range::UNKNOWN },
        })
        .0
    }

    /// `(func (id …) e)` with parameters of these types and ranges, none of them named as in `keep`; and the body's range.
    pub(super) fn lambda_over(
        &mut self,
        params: &[(Ty, Range)],
        keep: &[Name],
        size: u32,
        body: impl FnOnce(&mut Generator, u32) -> Made,
    ) -> ((Id, Cost), Range) {
        let mut names: SmallVec<[Name; 4]> = SmallVec::from_slice(keep);
        for &(ty, _) in params {
            let purpose = match ty {
                Ty::Value(ty) => For::Value(ty),
                Ty::Function(_) => For::Function,
            };
            let name = self.fresh(purpose, &names);
            names.push(name);
        }
        let names = &names[keep.len()..];
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        let list = self.draft.list(&ids);
        let outside = self.scope.len();
        for (&name, &(ty, range)) in names.iter().zip(params) {
            let kind = match ty {
                Ty::Value(ty) => Kind::Value(ty, range, 1),
                Ty::Function(signature) => Kind::Function(signature, Cost { body: 1, uses: [1; 4] }),
            };
            self.scope.push(name, kind);
        }
        let before = self.work;
        let made = body(self, size.saturating_sub(3 + params.len() as u32).max(1));
        let mut cost = Cost { body: self.work - before + 1, uses: [0; 4] };
        self.work = before;
        for (uses, binding) in cost.uses.iter_mut().zip(&self.scope.bindings[outside..]) {
            *uses = binding.uses;
        }
        self.scope.truncate(outside);
        ((self.draft.call(Name::FUNC, &[list, made.id]), cost), made.range)
    }

    /// A function applied to arguments. `func` must be visible.
    pub(super) fn application(&mut self, ty: Ground, size: u32) -> Made {
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

    /// `((func (id …) e) e1 …)`, with parameters as the arguments are.
    fn direct(&mut self, ty: Ground, size: u32) -> Made {
        let count = if size >= 14 { self.random.between(1, 3) } else { 1 };
        let share = size.saturating_sub(4) * 2 / 5 / count;
        let mut params: SmallVec<[(Ty, Range); 4]> = SmallVec::new();
        let mut arguments: SmallVec<[Id; 4]> = SmallVec::new();
        let mut weights: SmallVec<[u64; 4]> = SmallVec::new();
        for _ in 0..count {
            let before = self.work;
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
                let made = self.unreached(|g| g.expr(param, share));
                arguments.push(made.id);
                params.push((Ty::Value(param), made.range));
                weights.push(self.work - before);
            }
            self.work = before;
        }
        // A function applied where it stands is typed where it stands.
        let rest = size.saturating_sub(1 + share * count);
        let ((head, cost), range) = self.lambda_over(&params, &[], rest, |g, size| g.expr(ty, size));
        self.charge(cost, &weights);
        Made { id: self.draft.apply(head, &arguments), range }
    }

    /// A function in scope with this result, applied; or one written here.
    fn call_named(&mut self, ty: Ground, size: u32) -> Made {
        let signatures = &self.signatures;
        let found = self.scope.visible(|kind| match kind {
            Kind::Function(s, cost) if cost.body <= DEAREST_BODY => {
                // The function itself, or what it returns, and so on.
                let mut signature = &signatures[*s as usize];
                while let Ty::Function(inner) = signature.result {
                    signature = &signatures[inner as usize];
                }
                signature.result == Ty::Value(ty)
            }
            _ => false,
        });
        if found.is_empty() {
            return self.direct(ty, size);
        }
        let at = self.prefer_unused(&found);
        let binding = &mut self.scope.bindings[at];
        binding.uses += 1;
        let Kind::Function(signature, cost) = binding.kind else { unreachable!("only functions were looked for") };
        let name = self.draft.name(binding.name);
        self.apply(name, signature, cost, size.saturating_sub(1))
    }

    /// The function applied to arguments of about so many nodes, and its result to further ones until it is a value.
    pub(super) fn apply(&mut self, mut head: Id, mut signature: u16, mut cost: Cost, size: u32) -> Made {
        loop {
            let Signature { params, result } = self.signatures[signature as usize].clone();
            let share = size.saturating_sub(1) / (params.len() as u32).max(1);
            let mut arguments: SmallVec<[Id; 4]> = SmallVec::new();
            let mut weights: SmallVec<[u64; 4]> = SmallVec::new();
            for (i, &param) in params.iter().enumerate() {
                let before = self.work;
                let unused = cost.uses.get(i) == Some(&0);
                let id = self.unreached(|g| g.argument(param, share, unused));
                arguments.push(id.0);
                weights.push(id.1.unwrap_or(self.work - before));
                self.work = before;
            }
            self.charge(cost, &weights);
            head = self.draft.apply(head, &arguments);
            match result {
                Ty::Value(_) => return Made { id: head, range: Range::RESULT },
                Ty::Function(inner) => (signature, cost) = (inner, Cost { body: 0, uses: [2; 4] }),
            }
        }
    }

    /// An argument, and its weight if it is a function. One that is never used may be anything.
    fn argument(&mut self, param: Ty, size: u32, unused: bool) -> (Id, Option<u64>) {
        match param {
            Ty::Function(signature) => {
                let (id, cost) = self.function(signature, size);
                (id, Some(cost.body))
            }
            Ty::Value(_) if unused && self.random.percent(self.mix.unused) => (self.ill_typed(size), None),
            Ty::Value(ty) if unused && self.random.percent(self.mix.unused * 2) => (self.unseen(|g| g.expr(ty, size)).id, None),
            Ty::Value(ty) => (self.expr_within(ty, size, Range::PARAMETER).id, None),
        }
    }

    fn charge(&mut self, cost: Cost, weights: &[u64]) {
        self.work += cost.body + 1;
        for (i, &weight) in weights.iter().enumerate() {
            self.work += u64::from(cost.uses.get(i).copied().unwrap_or(1)) * weight;
        }
    }

    /// The combinator written out.
    fn combinator(&mut self, combinator: Combinator) -> Id {
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

    /// `(func (params…) body)`, where the body is made of the parameters only.
    fn func(&mut self, params: &[Name], body: impl FnOnce(&mut Generator) -> Id) -> Id {
        let list = self.list_of(params);
        let body = body(self);
        self.draft.call(Name::FUNC, &[list, body])
    }

    fn list_of(&mut self, names: &[Name]) -> Id {
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        self.draft.list(&ids)
    }

    /// The combinator by a name in scope, or written out.
    fn combinator_head(&mut self, combinator: Combinator) -> Option<Id> {
        let found = self.scope.visible(|kind| matches!(kind, Kind::Combinator(c) if *c == combinator));
        match found.first() {
            Some(&at) => {
                let binding = &mut self.scope.bindings[at as usize];
                binding.uses += 1;
                Some(self.draft.name(binding.name))
            }
            None if self.scope.means_itself(Name::FUNC) => Some(self.combinator(combinator)),
            None => None,
        }
    }

    /// A combinator applied, one in scope if there is one.
    fn with_combinator(&mut self, ty: Ground, size: u32) -> Made {
        let found = self.scope.visible(|kind| matches!(kind, Kind::Combinator(_)));
        let combinator = match found.as_slice() {
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
                let made = self.expr(ty, size);
                self.work += 1;
                Made { id: self.draft.apply(head, &[made.id]), range: made.range }
            }
            Combinator::First => {
                let other = self.some_type(ty, size / 2);
                let made = self.expr(ty, size / 2);
                let before = self.work;
                let unused = self.unreached(|g| g.argument(Ty::Value(other), size / 2, true)).0;
                self.work = before + 1;
                Made { id: self.draft.apply(head, &[made.id, unused]), range: made.range }
            }
            Combinator::Apply | Combinator::Twice => {
                let param = if combinator == Combinator::Twice { ty } else { self.some_type(ty, size / 3) };
                let signature = self.signature(&[Ty::Value(param)], value);
                let (f, cost) = self.unreached(|g| g.function(signature, size / 2));
                let before = self.work;
                let argument = self.unreached(|g| g.expr_within(param, size / 3, Range::PARAMETER));
                let weight = self.work - before;
                self.work = before;
                self.charge(cost, &[weight]);
                if combinator == Combinator::Twice {
                    self.charge(cost, &[weight * u64::from(cost.uses[0])]);
                }
                Made { id: self.draft.apply(head, &[f, argument.id]), range: Range::RESULT }
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

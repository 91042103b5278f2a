//! Names, and the expressions that `let` and `define` bind to them.

use super::catalog::literal_size;
use super::draft::{Id, Name};
use super::expr::{Generator, RangedExpr};
use super::function::MAX_BODY_COST;
use super::range::Range;
use super::scope::{Combinator, Kind, Ty};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// The use of a name.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    Value(Ground),
    Function,
    Accumulator,
    Counter,
    Rec,
}

/// The head of a let: its list of bindings, and the number of bindings outside of its scope.
pub(super) struct LetHead {
    list: Id,
    outer_len: usize,
}

impl LetHead {
    /// The number of bindings outside of the scope.
    pub(super) fn outer_len(&self) -> usize {
        self.outer_len
    }
}

impl Generator {
    /// A name that is not among `used_names`.
    pub(super) fn fresh(&mut self, purpose: Purpose, used_names: &[Name]) -> Name {
        for _ in 0..8 {
            let i = self.random.below(64);
            let shadow = self.random.percent(self.mix.shadowing);
            let name = match purpose {
                _ if shadow && self.scope.len() > 0 && self.random.percent(60) => {
                    let at = self.random.below(self.scope.len() as u32) as usize;
                    self.scope.bindings[at].name
                }
                Purpose::Value(_) if shadow => Name::predefined(self.random.below(256)),
                Purpose::Value(_) => Name::of_value(i),
                Purpose::Function => Name::of_function(i),
                Purpose::Accumulator => Name::of_accumulator(i),
                Purpose::Counter => Name::of_counter(i),
                Purpose::Rec => Name::of_rec(i),
            };
            if !used_names.contains(&name) && (shadow || !self.scope.binds(name)) && self.may_bind(name, purpose) {
                return name;
            }
        }
        // Every name for this use is taken. Hide one, but none of this list.
        (0..64).map(Name::of_value).find(|name| !used_names.contains(name)).unwrap_or(Name::of_function(0))
    }

    /// Whether the name may be bound for this use. The name of a constructor is bound only to
    /// values of its own type, so that every type always has an expression.
    fn may_bind(&self, name: Name, purpose: Purpose) -> bool {
        if !name.is_predefined() {
            return true;
        }
        let constructed = self.known().constructors.iter().position(|b| b.is_some_and(|b| Name::builtin(b) == name));
        constructed.is_none_or(|slot| matches!(purpose, Purpose::Value(ty) if ty == Ground::ALL[slot]))
    }

    /// A type for a binding or parameter. Now and then it is `hint`, the type of the
    /// whole expression.
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
    pub(super) fn let_expr(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let share = (size - 5) * self.random.between(25, 65) / 100;
        let head = self.open_let(ty, share, &[]);
        let body = self.expr(ty, (size - 4).saturating_sub(share).max(2));
        RangedExpr { id: self.close_let(head, body.id), range: body.range }
    }

    /// Generates the bindings of a let with about `size` nodes, and begins their scope. `let` must
    /// be visible. The bindings do not use the names in `keep`.
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
        let outer_len = self.scope.len();
        for (&name, &kind) in names.iter().zip(kinds) {
            self.scope.push(name, kind);
        }
        LetHead { list, outer_len }
    }

    /// A let with names for the pixel: `(let ((p (frag-coord))) …)`, or names for its x and y.
    /// The flag says whether it binds x and y.
    pub(super) fn open_coordinate(&mut self) -> (LetHead, bool) {
        let (x, y) = (self.known().components[0], self.known().components[1]);
        let by_component = self.scope.has(x) && self.scope.has(y) && self.random.percent(35);
        let ty = if by_component { Ground::NUM } else { Ground::Vec(4, Elem::F) };
        let kind = Kind::Value(ty, Range::FRAG_COORD, if by_component { 2 } else { 1 });
        let work_before = self.work;
        let (pairs, names): (SmallVec<[Id; 2]>, SmallVec<[Name; 2]>) = if by_component {
            // The names may hide builtins that the bound expressions use.
            let hides = self.mix.shadowing > 0;
            let mut used_names: SmallVec<[Name; 2]> = SmallVec::new();
            [x, y]
                .into_iter()
                .map(|component| {
                    let name = if hides { Name::builtin(component) } else { self.fresh(Purpose::Value(ty), &used_names) };
                    used_names.push(name);
                    let whole = self.frag_coord();
                    let value = self.call(component, &[whole.id]);
                    let id = self.draft.name(name);
                    (self.draft.list(&[id, value]), name)
                })
                .unzip()
        } else {
            let name = self.fresh(Purpose::Value(ty), &[]);
            let value = self.frag_coord();
            let id = self.draft.name(name);
            (SmallVec::from_slice(&[self.draft.list(&[id, value.id])]), SmallVec::from_slice(&[name]))
        };
        self.work = work_before;
        let kinds: SmallVec<[Kind; 2]> = names.iter().map(|_| kind).collect();
        (self.begin_scope(&pairs, &names, &kinds), by_component)
    }

    /// A let with one name for `rec` of the loop.
    pub(super) fn open_alias(&mut self, value: Id, name: Name, kind: Kind) -> LetHead {
        let id = self.draft.name(name);
        let pair = self.draft.list(&[id, value]);
        self.begin_scope(&[pair], &[name], &[kind])
    }

    /// Ends the scope and builds the let.
    pub(super) fn close_let(&mut self, head: LetHead, body: Id) -> Id {
        self.work += 1;
        self.scope.truncate(head.outer_len);
        self.draft.call(Name::LET, &[head.list, body])
    }

    /// A binding of a let or define: the expression, its kind, and its name.
    pub(super) fn binding(&mut self, hint: Ground, size: u32, used_names: &[Name]) -> (Id, Kind, Name) {
        let work_before = self.work;
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
                let expr = self.frag_coord();
                let ty = Ground::Vec(4, Elem::F);
                (expr.id, Kind::Value(ty, expr.range, 1), self.fresh(Purpose::Value(ty), used_names))
            }
            2 if has_func => {
                let signature = self.draw_signature(Ty::Value(hint), size, true);
                let (id, cost) = self.function(signature, size);
                let kind = if cost.body <= MAX_BODY_COST { Kind::Function(signature, cost) } else { Kind::Unused };
                (id, kind, self.fresh(Purpose::Function, used_names))
            }
            3 => {
                let builtin = Builtin(self.random.below(self.catalog.builtins) as u8);
                if !self.scope.has(builtin) {
                    return self.plain_binding(hint, size, used_names);
                }
                let name = self.fresh(Purpose::Function, used_names);
                (self.draft.name(Name::builtin(builtin)), Kind::Builtin(builtin), name)
            }
            4 if self.scope.means_itself(Name::IF) => (self.draft.name(Name::IF), Kind::If, self.fresh(Purpose::Function, used_names)),
            5 if has_func => {
                let combinator = self.random.pick(&Combinator::ALL);
                (self.combinator(combinator), Kind::Combinator(combinator), self.fresh(Purpose::Function, used_names))
            }
            6 => (self.ill_typed(size), Kind::Unused, self.fresh(Purpose::Value(Ground::NUM), used_names)),
            7 => {
                let ty = self.some_type(hint, size);
                (self.unobserved(|g| g.expr(ty, size)).id, Kind::Unused, self.fresh(Purpose::Value(Ground::NUM), used_names))
            }
            _ => return self.plain_binding(hint, size, used_names),
        };
        // Evaluation is by name: a binding costs at each use.
        self.work = work_before;
        (value, kind, name)
    }

    fn plain_binding(&mut self, hint: Ground, size: u32, used_names: &[Name]) -> (Id, Kind, Name) {
        let work_before = self.work;
        let ty = self.some_type(hint, size);
        let expr = self.expr(ty, size);
        let weight = self.work - work_before;
        self.work = work_before;
        (expr.id, Kind::Value(ty, expr.range, weight), self.fresh(Purpose::Value(ty), used_names))
    }

    /// An expression without a type, for places where no rule asks for the type.
    pub(super) fn ill_typed(&mut self, size: u32) -> Id {
        let names = self.known();
        match self.random.below(6) {
            0 => self.draft.list(&[]),
            1 => {
                let (one, two) = (self.draft.num(1.0), self.draft.num(2.0));
                self.draft.list(&[one, two])
            }
            2 if self.scope.has(names.plus) => {
                let (one, truth) = (self.draft.num(1.0), self.draft.bool(true));
                self.call(names.plus, &[one, truth])
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
}

//! Loops: rec-func with a counter that ends it after a few iterations, accumulators, and `rec` in
//! every tail position that §5 allows.

use super::binding::Purpose;
use super::catalog::literal_size;
use super::draft::{Id, Name};
use super::expr::{Generator, RangedExpr};
use super::range::Range;
use super::scope::Kind;
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::types::Ground;
use smallvec::SmallVec;

/// How a loop counts its iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    /// Down to 0 from some number.
    Down,
    /// Up to this number from 0.
    Up(f32),
    /// A number is halved until it is below 1.
    Halve,
    /// A Boolean that is true only in the first iteration.
    Once,
}

impl Count {
    fn ty(self) -> Ground {
        if self == Count::Once { Ground::BOOL } else { Ground::NUM }
    }
}

/// A loop under construction.
pub(super) struct Loop {
    number: u32,
    count: Count,
    ty: Ground,
    /// The types of the parameters, with the ranges that they are forced into. `counter` is
    /// the index of the counter among them. `first` is the position of the first parameter in
    /// the scope.
    params: SmallVec<[(Ground, Range); 4]>,
    counter: usize,
    first: usize,
    /// Whether some branch calls `rec` already.
    called: bool,
}

impl Generator {
    /// Whether the names that every loop needs are not hidden here.
    pub(super) fn can_loop(&self) -> bool {
        self.scope.means_itself(Name::REC_FUNC) && self.loop_names()[1..].iter().all(|&name| self.scope.means_itself(name))
    }

    /// The names that a loop's own binders must not hide: `rec`, and the names for counting.
    fn loop_names(&self) -> [Name; 10] {
        let k = self.known();
        let b = Name::builtin;
        let comparisons = [b(k.less_equal), b(k.less_than), b(k.greater_equal), b(k.greater_than)];
        let [c0, c1, c2, c3] = comparisons;
        [Name::REC, Name::IF, c0, c1, c2, c3, b(k.minus), b(k.plus), b(k.times), b(k.not)]
    }

    /// `((rec-func (id …) e) e1 …)`
    pub(super) fn rec_func(&mut self, ty: Ground, size: u32) -> RangedExpr {
        let rounds = self.random.between(1, if self.nesting > 0 { 3 } else { 5 });
        let count = match self.random.below(10) {
            0..5 => Count::Down,
            5..8 => Count::Up(rounds as f32),
            8 => Count::Halve,
            _ => Count::Once,
        };
        // The parameters are the counter, usually an accumulator, and perhaps more.
        let mut params: SmallVec<[(Ground, Range); 4]> = SmallVec::new();
        if self.random.percent(85) {
            params.push((ty, Range::ACCUMULATOR));
        }
        if size >= 30 && self.random.percent(40) {
            params.push((self.some_type(ty, size / 6), Range::ACCUMULATOR));
        }
        let counter = self.random.below(params.len() as u32 + 1) as usize;
        params.insert(counter, (count.ty(), Range { mag: 3, frac: 0 }));
        // Now and then one argument is large enough for a loop of its own.
        let share = (size / 5 / params.len() as u32).max(1);
        let large_argument = if size >= 36 && self.random.percent(25) { self.random.below(params.len() as u32) as usize } else { counter };
        let share_of = |i: usize| if i == large_argument && i != counter { size / 2 } else { share };
        let mut arguments: SmallVec<[Id; 4]> = SmallVec::new();
        for (i, &(param, range)) in params.iter().enumerate() {
            let argument = if i == counter { self.initial_counter(count, rounds) } else { self.expr_within(param, share_of(i), range).id };
            arguments.push(argument);
        }
        let mut used_names: SmallVec<[Name; 16]> = SmallVec::from_slice(&self.loop_names());
        let own_start = used_names.len();
        for (i, &(param, _)) in params.iter().enumerate() {
            let purpose = match i == counter {
                true => Purpose::Counter,
                false if self.random.percent(self.mix.shadowing) => Purpose::Value(param),
                false => Purpose::Accumulator,
            };
            let name = self.fresh(purpose, &used_names);
            used_names.push(name);
        }
        let names = &used_names[own_start..];
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        let list = self.draft.list(&ids);
        let outer_len = self.scope.len();
        self.loops += 1;
        let number = self.loops;
        self.scope.push(Name::REC, Kind::Rec(number));
        for (&name, &(param, range)) in names.iter().zip(&params) {
            self.scope.push(name, Kind::Value(param, range, 1));
        }
        self.nesting += 1;
        let work_before = self.work;
        let argument_size = 4 + (0..params.len()).map(share_of).sum::<u32>();
        let mut current = Loop { number, count, ty, params, counter, first: outer_len + 1, called: false };
        let rest = size.saturating_sub(argument_size).max(16);
        let body = self.round(&mut current, rest);
        self.work += (self.work - work_before) * u64::from(rounds + 1);
        self.nesting -= 1;
        self.scope.truncate(outer_len);
        let head = self.draft.call(Name::REC_FUNC, &[list, body.id]);
        RangedExpr { id: self.draft.apply(head, &arguments), range: body.range }
    }

    /// The initial value of the counter. Sometimes it depends on the pixel.
    fn initial_counter(&mut self, count: Count, rounds: u32) -> Id {
        let known = self.known();
        match count {
            Count::Once => self.draft.bool(true),
            Count::Up(_) => self.draft.num(0.0),
            Count::Halve => {
                let x = self.random.pick(&[1.0, 2.0, 4.0, 6.0]);
                self.draft.num(x)
            }
            Count::Down => {
                let are_named = [known.clamp, known.floor].iter().all(|&b| self.scope.has(b));
                match if are_named && self.random.percent(30) { self.pixel() } else { None } {
                    None => self.draft.num(rounds as f32),
                    Some(pixel) => {
                        let whole = self.call(known.floor, &[pixel.id]);
                        let (low, high) = (self.random.below(2), rounds);
                        let (low, high) = (self.draft.num(low as f32), self.draft.num(high as f32));
                        self.call(known.clamp, &[whole, low, high])
                    }
                }
            }
        }
    }

    /// The body. It ends the loop or goes on, depending on the counter.
    fn round(&mut self, current: &mut Loop, size: u32) -> RangedExpr {
        if size >= 24 {
            match self.random.below(10) {
                0 if self.scope.means_itself(Name::LET) => {
                    let head = self.open_let(current.ty, size / 4, &[]);
                    if self.still_counts(current) {
                        let body = self.round(current, (size * 3 / 4).saturating_sub(5));
                        return RangedExpr { id: self.close_let(head, body.id), ..body };
                    }
                    // The let hides the counter, so it can hold only a result. The loop goes on
                    // around it.
                    let body = self.expr(current.ty, 4);
                    let result = self.close_let(head, body.id);
                    return self.branch(current, RangedExpr { id: result, ..body }, size / 2);
                }
                1 => {
                    if let Some(expr) = self.rec_by_another_name(current, size, Generator::round) {
                        return expr;
                    }
                }
                _ => {}
            }
        }
        let result = self.result(current, size / 3);
        self.branch(current, result, size * 2 / 3)
    }

    /// `(if done result step)`, or with the branches exchanged.
    fn branch(&mut self, current: &mut Loop, result: RangedExpr, size: u32) -> RangedExpr {
        let swapped = self.random.percent(35);
        let condition = self.end_condition(current, swapped);
        let mut step = self.step(current, size.saturating_sub(5));
        if self.mix.divergent && self.unobserved == 0 {
            step = self.diverging(current, step);
        }
        let (then_branch, else_branch) = if swapped { (step, result.id) } else { (result.id, step) };
        RangedExpr { id: self.if_list(condition, then_branch, else_branch), range: result.range }
    }

    fn still_counts(&self, current: &Loop) -> bool {
        self.scope.bindings[current.first + current.counter].visible && self.rec(current).is_some() && self.can_loop()
    }

    /// The loop's result in the last iteration. Often it is an accumulator.
    fn result(&mut self, current: &Loop, size: u32) -> RangedExpr {
        let accumulators: SmallVec<[usize; 4]> = (0..current.params.len())
            .filter(|&i| i != current.counter && current.params[i].0 == current.ty && self.scope.bindings[current.first + i].visible)
            .map(|i| current.first + i)
            .collect();
        if !accumulators.is_empty() && self.random.percent(if size < 6 { 90 } else { 35 }) {
            let at = self.random.pick(&accumulators);
            return self.use_value(at);
        }
        self.expr(current.ty, size)
    }

    /// The condition that the counter is at its end, or the opposite.
    fn end_condition(&mut self, current: &Loop, opposite: bool) -> Id {
        let known = self.known();
        let counter = self.use_value(current.first + current.counter).id;
        let (finished, continuing, bound): (&[Builtin], &[Builtin], f32) = match current.count {
            Count::Once if opposite => return counter,
            Count::Once => return self.call(known.not, &[counter]),
            Count::Down => match self.random.below(2) {
                0 => (&[known.less_equal], &[known.greater_than], 0.0),
                _ => (&[known.less_than], &[known.greater_equal], 1.0),
            },
            Count::Up(end) => (&[known.greater_equal], &[known.less_than], end),
            Count::Halve => (&[known.less_than], &[known.greater_equal], 1.0),
        };
        let bound = self.draft.num(bound);
        match (opposite, self.random.percent(15)) {
            (false, false) => self.call(finished[0], &[counter, bound]),
            (true, false) => self.call(continuing[0], &[counter, bound]),
            (_, true) => {
                let not = self.call(if opposite { finished[0] } else { continuing[0] }, &[counter, bound]);
                self.call(known.not, &[not])
            }
        }
    }

    /// The step of the loop when the counter is not at its end. It calls `rec` on every path, or
    /// ends early on some.
    fn step(&mut self, current: &mut Loop, size: u32) -> Id {
        let needed: u32 = current.params.iter().map(|&(ty, _)| literal_size(ty).min(4)).sum::<u32>() + 4;
        if current.called && size < needed / 2 {
            return self.result(current, 1).id;
        }
        if size < needed.min(9) || self.rec(current).is_none() {
            return self.rec_call(current, size);
        }
        match self.random.below(20) {
            0..7 => {
                let condition = self.condition((size / 4).min(8));
                let then_branch = self.step(current, size * 3 / 8);
                let else_branch = self.step(current, size * 3 / 8);
                self.if_list(condition.id, then_branch, else_branch)
            }
            7..11 => {
                let condition = self.condition((size / 4).min(8));
                let early_result = self.result(current, size / 4);
                let next_step = self.step(current, size / 2);
                match self.random.percent(50) {
                    true => self.if_list(condition.id, early_result.id, next_step),
                    false => self.if_list(condition.id, next_step, early_result.id),
                }
            }
            11..13 if self.scope.means_itself(Name::LET) => {
                let head = self.open_let(current.ty, size / 3, &[]);
                if self.still_counts(current) {
                    let body = self.step(current, (size * 2 / 3).saturating_sub(4));
                    return self.close_let(head, body);
                }
                // The loop cannot go on inside of this let, so its scope is removed.
                self.scope.truncate(head.outer_len());
                self.rec_call(current, size)
            }
            13 => {
                let make_step =
                    |g: &mut Generator, current: &mut Loop, size| RangedExpr { id: g.step(current, size), range: Range::UNKNOWN };
                match self.rec_by_another_name(current, size, make_step) {
                    Some(expr) => expr.id,
                    None => self.rec_call(current, size),
                }
            }
            14 | 15 if current.params.len() <= 3 => {
                // ((if c rec rec) e1 …). Instead of `rec` there may be a function that calls it.
                let condition = self.condition(size / 4);
                let (then_branch, else_branch) = (self.rec_or_caller(current), self.rec_or_caller(current));
                let head = self.if_list(condition.id, then_branch, else_branch);
                let arguments = self.next_arguments(current, size / 2);
                self.draft.apply(head, &arguments)
            }
            _ => self.rec_call(current, size),
        }
    }

    /// A visible name for `rec` of this loop.
    fn rec(&self, current: &Loop) -> Option<Name> {
        let mut bindings = self.scope.bindings.iter().rev();
        bindings.find(|b| b.visible && matches!(b.kind, Kind::Rec(n) if n == current.number)).map(|b| b.name)
    }

    /// A use of `rec` of this loop, by a random visible name.
    fn rec_name(&mut self, current: &Loop) -> Id {
        let found = self.scope.visible(|kind| matches!(kind, Kind::Rec(n) if *n == current.number));
        let at = self.random.pick(&found) as usize;
        self.scope.bindings[at].uses += 1;
        self.draft.name(self.scope.bindings[at].name)
    }

    /// `(rec e1 …)`
    fn rec_call(&mut self, current: &mut Loop, size: u32) -> Id {
        current.called = true;
        let head = self.rec_name(current);
        let arguments = self.next_arguments(current, size.saturating_sub(2));
        self.work += 1;
        self.draft.apply(head, &arguments)
    }

    /// The arguments of the next iteration. The counter is advanced, and the accumulators
    /// are updated.
    fn next_arguments(&mut self, current: &mut Loop, size: u32) -> SmallVec<[Id; 4]> {
        current.called = true;
        let known = self.known();
        let share = size.saturating_sub(4) / current.params.len() as u32;
        let mut arguments = SmallVec::new();
        for (i, &(ty, range)) in current.params.iter().enumerate() {
            arguments.push(match i == current.counter {
                true => {
                    let counter = self.use_value(current.first + i).id;
                    let (builtin, amount) = match current.count {
                        Count::Once => {
                            arguments.push(self.draft.bool(false));
                            continue;
                        }
                        Count::Down if self.random.percent(20) => (known.plus, -1.0),
                        Count::Down => (known.minus, 1.0),
                        Count::Up(_) => (known.plus, 1.0),
                        Count::Halve => (known.times, 0.5),
                    };
                    let amount = self.draft.num(amount);
                    self.call(builtin, &[counter, amount])
                }
                false => self.next_accumulator(current, i, ty, range, share),
            });
        }
        arguments
    }

    /// The next value of an accumulator: its value, combined with another expression if there
    /// is room.
    fn next_accumulator(&mut self, current: &Loop, i: usize, ty: Ground, range: Range, share: u32) -> Id {
        let known = self.known();
        let at = current.first + i;
        let summable = matches!(ty, Ground::Vec(_, smallstep_semantics::lambda_v::types::Elem::F));
        if share >= 4 && summable && self.scope.bindings[at].visible && self.random.percent(50) {
            let summand = self.expr(ty, share - 3);
            let current_value = self.use_value(at);
            let builtin = if self.random.percent(70) { known.plus } else { known.minus };
            let mag = summand.range.mag.max(current_value.range.mag);
            let sum = RangedExpr {
                id: self.call(builtin, &[current_value.id, summand.id]),
                range: Range { mag, frac: summand.range.frac.max(current_value.range.frac) },
            };
            return self.within(ty, sum, range).id;
        }
        self.expr_within(ty, share, range).id
    }

    /// A let or func that gives `rec` another name, and contains what `make_body` makes.
    fn rec_by_another_name(
        &mut self,
        current: &mut Loop,
        size: u32,
        make_body: impl FnOnce(&mut Generator, &mut Loop, u32) -> RangedExpr,
    ) -> Option<RangedExpr> {
        let counter = self.scope.bindings[current.first + current.counter].name;
        let name = self.fresh(Purpose::Rec, &[counter]);
        let kind = Kind::Rec(current.number);
        if self.random.percent(50) && self.scope.means_itself(Name::LET) {
            let value = self.rec_name(current);
            let head = self.open_alias(value, name, kind);
            let body = make_body(self, current, size.saturating_sub(6));
            return Some(RangedExpr { id: self.close_let(head, body.id), ..body });
        }
        if !self.scope.means_itself(Name::FUNC) {
            return None;
        }
        // The form ((func (again) e) rec).
        let param = self.draft.name(name);
        let params = self.draft.list(&[param]);
        let argument = self.rec_name(current);
        let outer_len = self.scope.len();
        self.scope.push(name, kind);
        let body = make_body(self, current, size.saturating_sub(6));
        self.scope.truncate(outer_len);
        let head = self.draft.call(Name::FUNC, &[params, body.id]);
        self.work += 1;
        Some(RangedExpr { id: self.draft.apply(head, &[argument]), ..body })
    }

    /// `rec`, or `(func (a …) (rec a …))`.
    fn rec_or_caller(&mut self, current: &mut Loop) -> Id {
        current.called = true;
        if self.random.percent(70) || !self.scope.means_itself(Name::FUNC) {
            return self.rec_name(current);
        }
        let names: SmallVec<[Name; 4]> = (0..current.params.len() as u32).map(Name::of_value).collect();
        let hides_rec = self.scope.bindings.iter().any(|b| b.visible && names.contains(&b.name) && matches!(b.kind, Kind::Rec(_)));
        if hides_rec {
            return self.rec_name(current);
        }
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        let params = self.draft.list(&ids);
        let rec = self.rec_name(current);
        let ids: SmallVec<[Id; 4]> = names.iter().map(|&name| self.draft.name(name)).collect();
        let body = self.draft.apply(rec, &ids);
        self.draft.call(Name::FUNC, &[params, body])
    }

    /// `(if c (rec id …) next_step)`. At the pixels where c holds, the loop never ends.
    fn diverging(&mut self, current: &mut Loop, next_step: Id) -> Id {
        let known = self.known();
        let all_visible = (0..current.params.len()).all(|i| self.scope.bindings[current.first + i].visible);
        let Some(pixel) = self.pixel() else { return next_step };
        if !all_visible {
            return next_step;
        }
        let bound = self.random.pick(&[1.0, 2.0, 3.0]);
        let bound = self.draft.num(bound);
        let builtin = if self.random.percent(50) { known.less_than } else { known.greater_than };
        let condition = self.call(builtin, &[pixel.id, bound]);
        let head = self.rec_name(current);
        let mut same_arguments: SmallVec<[Id; 4]> = SmallVec::new();
        for i in 0..current.params.len() {
            same_arguments.push(self.use_value(current.first + i).id);
        }
        let same_call = self.draft.apply(head, &same_arguments);
        self.if_list(condition, same_call, next_step)
    }
}

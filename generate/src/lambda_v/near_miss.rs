//! Near-misses: programs that are well typed except for one change. The change breaks one named
//! rule at a place that typing is certain to reach.
//!
//! The generator makes a well-typed program as usual. At one random expression that typing must
//! reach, it makes something that the rule under test must reject. Bindings and arguments that
//! nothing uses are never typed, so they are no such places.

use super::draft::{Id, Name};
use super::expr::{Generator, RangedExpr};
use super::mix::{Limits, Mix};
use super::range::Range;
use crate::random::Random;
use smallstep_semantics::lambda_v::builtin::{Builtin, Shape};
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallvec::SmallVec;

/// The expected result of a near-miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The code of the resolving or typing error: the rule that is broken.
    pub code: &'static str,
    /// A description of the change in a few words.
    pub change: &'static str,
}

macro_rules! breaches {
    ($($breach:ident $code:literal $change:literal;)*) => {
        /// A change that breaks a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Breach {
            $($breach,)*
        }

        const ALL: &[Breach] = &[$(Breach::$breach,)*];

        impl Breach {
            fn expectation(self) -> Expectation {
                match self {
                    $(Breach::$breach => Expectation { code: $code, change: $change },)*
                }
            }
        }
    };
}

breaches! {
    NumberApplied "lv/t-num" "a number applied to an argument";
    TrueApplied "lv/t-true" "true applied to an argument";
    FalseApplied "lv/t-false" "false applied to an argument";
    ParameterApplied "lv/t-param" "a rec-func's parameter applied to an argument";
    EmptyList "lv/t-app" "an empty list";
    NoObservation "lv/t-app" "an output that is no vector of floats";
    NoObservationDefined "lv/t-let" "an output after a define that is no vector of floats";
    FunctionArity "lv/t-func" "a func applied to one argument more or less";
    FunctionAsValue "lv/t-func" "a func in the place of a value";
    NamedFunctionArity "lv/t-func" "a named func applied to one argument less";
    OperandType "lv/t-builtin" "an operand of another type";
    OperandCount "lv/t-builtin" "an operand too many or too few";
    BuiltinAsValue "lv/t-builtin" "a builtin in the place of a value";
    BuiltinApplied "lv/t-builtin" "a builtin's result applied to an argument";
    IndexRange "lv/t-builtin" "a column that the matrix does not have";
    IndexComputed "lv/t-builtin" "a column's index that is no literal";
    Condition "lv/t-if" "a condition that is no Bool";
    Branches "lv/t-if" "branches of two types";
    BranchCount "lv/t-if" "an if without its last branch, or with one more";
    IfAsValue "lv/t-if" "if in the place of a value";
    RecMatch "lv/t-if" "a loop that ends in two types";
    NeverRec "lv/t-rec-func" "a loop that never calls rec";
    AlwaysRec "lv/t-rec-func" "a loop that always calls rec";
    LoopArity "lv/t-rec-func" "a rec-func applied to one argument less";
    LoopAsValue "lv/t-rec-func" "a rec-func in the place of a value";
    LoopApplied "lv/t-rec-func" "a loop's result applied to an argument";
    TailArgument "lv/t-rec-func" "a tail call as the argument of a loop";
    RecOperand "lv/t-rec" "rec within an argument of rec";
    RecCondition "lv/t-rec" "rec in a condition";
    RecArity "lv/t-rec" "rec applied to one argument less";
    RecEmpty "lv/t-rec" "rec applied to nothing";
    RecType "lv/t-rec" "an argument of rec of another type";
    RecAsValue "lv/t-rec" "rec in the place of a value";
    RecApplied "lv/t-rec" "the result of rec applied to an argument";
    OuterRec "lv/t-rec" "rec of an outer loop called from the inner one";
    SelfApplication "lv/no-finite-derivation" "a function applied to itself";
    SelfRecursion "lv/no-finite-derivation" "recursion through self-application";
    Unknown "lv/unknown-identifier" "a name that nothing binds";
    DuplicateInLet "lv/binder-duplicate" "a name bound twice in one let";
    DuplicateInFunc "lv/binder-duplicate" "a name bound twice in one func";
    BinderNumber "lv/binder" "a number in the place of a name";
    LetShape "lv/let" "a let without a body, or with no list";
    FuncShape "lv/func" "a func without a body, or with no list";
    RecFuncShape "lv/rec-func" "a rec-func without a body, or with no list";
    RecOutside "lv/rec-outside" "rec outside every rec-func";
    FormPlace "lv/form-place" "a form's name in the place of a value";
    DefineShape "lv/define" "a define without a name, or without a value";
    OutputShape "lv/output" "an output without a value";
    OutputLocation "lv/output-location" "a location that is none";
    OutputDuplicate "lv/output-duplicate" "two outputs at one location";
    BareAmongForms "lv/program-form" "a bare expression beside an output";
    NoOutput "lv/program-output" "defines without an output";
}

/// The near-miss of a seed, and its expected result.
pub fn near_miss(seed: u64, limits: &Limits) -> (Tree, Expectation) {
    let mut random = Random::new(seed ^ 0x6e65_6172);
    let breach = random.pick(ALL);
    let mut mix = Mix { divergent: false, ..Mix::draw(&mut random, limits) };
    let concerns_program = matches!(
        breach,
        Breach::DefineShape
            | Breach::OutputShape
            | Breach::OutputLocation
            | Breach::OutputDuplicate
            | Breach::BareAmongForms
            | Breach::NoOutput
            | Breach::NoObservation
            | Breach::NoObservationDefined
    );
    if concerns_program {
        mix.defines = match breach {
            Breach::NoObservation => 0,
            Breach::NoObservationDefined | Breach::NoOutput => mix.defines.max(1),
            _ => mix.defines,
        };
        let mut generator = Generator::new(random, mix);
        let roots = generator.roots();
        let roots = generator.breach_program(breach, roots);
        return (generator.draft.finish(&roots), breach.expectation());
    }
    // First the change goes to a random place. If none is chosen, it goes to the first
    // suitable place.
    for percent in [30, 100] {
        let mut generator = Generator::new(random.clone(), mix);
        generator.breach = Some((breach, percent));
        let roots = generator.roots();
        // A generated expression may have been discarded for another one.
        if generator.broken.is_some_and(|id| generator.draft.contains(&roots, id)) {
            return (generator.draft.finish(&roots), breach.expectation());
        }
    }
    // In a program of one expression, no name is hidden at the root.
    let mut generator = Generator::new(random, Mix { outputs: 1, defines: 0, ..mix });
    let expr = (0..1000).find_map(|_| generator.breach_expr(breach, Ground::Vec(4, Elem::F), 20));
    let expr = expr.expect("every change can be made where no name is hidden");
    (generator.draft.finish(&[expr]), breach.expectation())
}

impl Generator {
    /// The change in place of an expression of the type, if it is to be made here.
    pub(super) fn breach_here(&mut self, ty: Ground, size: u32) -> Option<RangedExpr> {
        let (breach, percent) = self.breach?;
        if !self.random.percent(percent) {
            return None;
        }
        // No second change is made inside of the first.
        self.breach = None;
        match self.breach_expr(breach, ty, size.max(6)) {
            Some(id) => {
                self.broken = Some(id);
                Some(RangedExpr { id, range: Range::UNIT })
            }
            None => {
                self.breach = Some((breach, percent));
                None
            }
        }
    }

    /// A type other than this one.
    fn other_type(&mut self, ty: Ground) -> Ground {
        loop {
            let other = self.random.pick(&Ground::ALL[..9]);
            if other != ty {
                return other;
            }
        }
    }

    fn small(&mut self, ty: Ground, size: u32) -> Id {
        self.expr(ty, (size / 3).max(2)).id
    }

    /// The expression that the change puts in the place of an expression of the type. `None` if a
    /// name that it needs is hidden here.
    fn breach_expr(&mut self, breach: Breach, ty: Ground, size: u32) -> Option<Id> {
        let needs: &[Name] = match breach {
            Breach::FunctionArity | Breach::FunctionAsValue | Breach::DuplicateInFunc | Breach::FuncShape | Breach::SelfApplication => {
                &[Name::FUNC]
            }
            Breach::Condition | Breach::Branches | Breach::BranchCount | Breach::IfAsValue => &[Name::IF],
            Breach::DuplicateInLet | Breach::BinderNumber | Breach::LetShape | Breach::FormPlace => &[Name::LET],
            Breach::NamedFunctionArity => &[Name::LET, Name::FUNC],
            Breach::SelfRecursion => &[Name::LET, Name::FUNC, Name::IF],
            Breach::RecFuncShape => &[Name::REC_FUNC],
            _ => &[],
        };
        if needs.iter().any(|&name| !self.scope.means_itself(name)) {
            return None;
        }
        let a = Name::of_value(0);
        Some(match breach {
            Breach::NumberApplied => {
                let (head, argument) = (self.number(), self.small(ty, size));
                let head = self.draft.num(head);
                self.draft.apply(head, &[argument])
            }
            Breach::TrueApplied | Breach::FalseApplied => {
                let head = self.draft.bool(breach == Breach::TrueApplied);
                let argument = self.small(ty, size);
                self.draft.apply(head, &[argument])
            }
            Breach::EmptyList => self.draft.list(&[]),
            Breach::FunctionArity | Breach::FunctionAsValue => {
                let count = self.random.below(3);
                let names: SmallVec<[Id; 4]> = (0..count).map(|i| self.draft.name(Name::of_value(i))).collect();
                let params = self.draft.list(&names);
                let body = self.small(ty, size);
                let function = self.draft.call(Name::FUNC, &[params, body]);
                if breach == Breach::FunctionAsValue {
                    return Some(function);
                }
                let argument_count = if count == 0 || self.random.percent(50) { count + 1 } else { count - 1 };
                let arguments: SmallVec<[Id; 4]> = (0..argument_count).map(|_| self.leaf(Ground::NUM, 1).id).collect();
                self.draft.apply(function, &arguments)
            }
            Breach::NamedFunctionArity => {
                let (f, b) = (Name::of_function(0), Name::of_value(1));
                let (p, q) = (self.draft.name(a), self.draft.name(b));
                let (params, body) = (self.draft.list(&[p, q]), self.draft.name(a));
                let function = self.draft.call(Name::FUNC, &[params, body]);
                let name = self.draft.name(f);
                let pair = self.draft.list(&[name, function]);
                let bindings = self.draft.list(&[pair]);
                let argument = self.literal(ty).id;
                let body = self.draft.call(f, &[argument]);
                self.draft.call(Name::LET, &[bindings, body])
            }
            Breach::OperandType | Breach::OperandCount | Breach::BuiltinApplied => return self.broken_builtin(breach, ty, size),
            Breach::BuiltinAsValue => {
                let instance = &self.catalog.all[self.random.below(self.catalog.all.len() as u32) as usize];
                if !self.scope.has(instance.builtin) {
                    return None;
                }
                self.draft.name(Name::builtin(instance.builtin))
            }
            Breach::IndexRange | Breach::IndexComputed => return self.broken_column(breach, ty),
            Breach::Condition => {
                let other = self.other_type(Ground::BOOL);
                let condition = self.small(other, size);
                let (then_branch, else_branch) = (self.small(ty, size), self.small(ty, size));
                self.draft.call(Name::IF, &[condition, then_branch, else_branch])
            }
            Breach::Branches => {
                let other = self.other_type(ty);
                let condition = self.small(Ground::BOOL, size);
                let (then_branch, else_branch) = (self.small(ty, size), self.small(other, size));
                let swapped = self.random.percent(50);
                self.draft
                    .call(Name::IF, &if swapped { [condition, else_branch, then_branch] } else { [condition, then_branch, else_branch] })
            }
            Breach::BranchCount => {
                let condition = self.small(Ground::BOOL, size);
                let branches = [self.small(ty, size), self.small(ty, size), self.small(ty, size)];
                let count = if self.random.percent(50) { 1 } else { 3 };
                let items: SmallVec<[Id; 4]> = [condition].into_iter().chain(branches[..count].iter().copied()).collect();
                self.draft.call(Name::IF, &items)
            }
            Breach::IfAsValue => self.draft.name(Name::IF),
            Breach::SelfApplication => {
                let (head, argument) = (self.self_application(), self.self_application());
                self.draft.list(&[head, argument])
            }
            Breach::SelfRecursion => return self.sum_up(),
            Breach::Unknown => self.draft.name(Name::unbound()),
            Breach::DuplicateInLet => {
                let first = self.small(ty, size);
                let (one, two) = (self.draft.name(a), self.draft.name(a));
                let second = self.leaf(Ground::NUM, 1).id;
                let pairs = [self.draft.list(&[one, first]), self.draft.list(&[two, second])];
                let bindings = self.draft.list(&pairs);
                let body = self.small(ty, size);
                self.draft.call(Name::LET, &[bindings, body])
            }
            Breach::DuplicateInFunc => {
                let (one, two) = (self.draft.name(a), self.draft.name(a));
                let params = self.draft.list(&[one, two]);
                let body = self.small(ty, size);
                let function = self.draft.call(Name::FUNC, &[params, body]);
                let arguments = [self.leaf(Ground::NUM, 1).id, self.leaf(Ground::NUM, 1).id];
                self.draft.apply(function, &arguments)
            }
            Breach::BinderNumber => {
                let (name, value) = (self.draft.num(1.0), self.small(ty, size));
                let pair = self.draft.list(&[name, value]);
                let bindings = self.draft.list(&[pair]);
                let body = self.small(ty, size);
                self.draft.call(Name::LET, &[bindings, body])
            }
            Breach::LetShape => {
                let body = self.small(ty, size);
                match self.random.below(3) {
                    0 => self.draft.call(Name::LET, &[body]),
                    1 => {
                        let name = self.draft.name(a);
                        self.draft.call(Name::LET, &[name, body])
                    }
                    _ => {
                        let name = self.draft.name(a);
                        let bindings = self.draft.list(&[name]);
                        self.draft.call(Name::LET, &[bindings, body])
                    }
                }
            }
            Breach::FuncShape | Breach::RecFuncShape => {
                let form = if breach == Breach::FuncShape { Name::FUNC } else { Name::REC_FUNC };
                let (name, body) = (self.draft.name(a), self.small(ty, size));
                let head = match self.random.percent(50) {
                    true => self.draft.call(form, &[name, body]),
                    false => self.draft.call(form, &[body]),
                };
                let argument = self.leaf(Ground::NUM, 1).id;
                self.draft.apply(head, &[argument])
            }
            Breach::RecOutside => {
                if self.scope.binds(Name::REC) {
                    return None;
                }
                let argument = self.small(ty, size);
                self.draft.call(Name::REC, &[argument])
            }
            Breach::FormPlace => {
                let form = self.random.pick(&[Name::LET, Name::FUNC, Name::REC_FUNC, Name::DEFINE, Name::OUTPUT]);
                if !self.scope.means_itself(form) {
                    return None;
                }
                self.draft.name(form)
            }
            _ => return self.broken_loop(breach, ty, size),
        })
    }

    /// A builtin with wrong operands, or a builtin whose result is applied.
    fn broken_builtin(&mut self, breach: Breach, ty: Ground, size: u32) -> Option<Id> {
        for _ in 0..20 {
            let instance = &self.catalog.all[self.random.below(self.catalog.all.len() as u32) as usize];
            if instance.result != ty && self.random.percent(90) || !self.scope.has(instance.builtin) || instance.index {
                continue;
            }
            let mut types: SmallVec<[Ground; 4]> = instance.params.clone();
            match breach {
                Breach::OperandType if types.is_empty() => continue,
                Breach::OperandType => {
                    let at = self.random.below(types.len() as u32) as usize;
                    types[at] = self.other_type(types[at]);
                }
                Breach::OperandCount if types.is_empty() || self.random.percent(50) => types.push(self.random.pick(&Ground::ALL[..9])),
                Breach::OperandCount => _ = types.pop(),
                _ => {}
            }
            if breach != Breach::BuiltinApplied && instance.builtin.resolve(&types).is_some() {
                continue;
            }
            let operands: SmallVec<[Id; 4]> = types.iter().map(|&ty| self.small(ty, size)).collect();
            let call = self.draft.call(Name::builtin(instance.builtin), &operands);
            if breach == Breach::BuiltinApplied {
                let argument = self.small(ty, size);
                return Some(self.draft.apply(call, &[argument]));
            }
            return Some(call);
        }
        None
    }

    /// `(column i m)` with an invalid index i.
    fn broken_column(&mut self, breach: Breach, ty: Ground) -> Option<Id> {
        let n = match ty {
            Ground::Vec(n @ 2.., Elem::F) => n,
            _ => self.random.between(2, 4) as u8,
        };
        let instance = self.catalog.all.iter().find(|i| i.index && i.result == Ground::Vec(n, Elem::F))?;
        debug_assert!(instance.builtin.row().overloads.iter().any(|o| o.params.first() == Some(&Shape::Index)));
        let minus = self.known().minus;
        if !self.scope.has(instance.builtin) || !self.scope.has(minus) {
            return None;
        }
        let matrix = self.leaf(Ground::Mat(n), 1).id;
        let index = match breach {
            Breach::IndexRange => {
                let index = self.random.pick(&[f32::from(n), -1.0, 0.5, 16.0]);
                self.draft.num(index)
            }
            _ => {
                let (one, two) = (self.draft.num(1.0), self.draft.num(1.0));
                self.call(minus, &[one, two])
            }
        };
        Some(self.call(instance.builtin, &[index, matrix]))
    }

    /// Sum-up from the report: (let ((f (func (s n) (if (eq n 0) 0 (+ n (s s (- n 1))))))) (f
    /// f 10)).
    fn sum_up(&mut self) -> Option<Id> {
        let (f, s, n) = (Name::of_function(0), Name::of_value(7), Name::of_counter(0));
        let known = self.known();
        if ![known.eq, known.plus, known.minus].iter().all(|&b| self.scope.has(b)) {
            return None;
        }
        let d = &mut self.draft;
        let (zero, empty_sum) = (d.num(0.0), d.num(0.0));
        let (n0, n1, n2) = (d.name(n), d.name(n), d.name(n));
        let is_finished = d.call(Name::builtin(known.eq), &[n0, zero]);
        let one = d.num(1.0);
        let next_count = d.call(Name::builtin(known.minus), &[n2, one]);
        let itself = d.name(s);
        let rest_of_sum = d.call(s, &[itself, next_count]);
        let sum = d.call(Name::builtin(known.plus), &[n1, rest_of_sum]);
        let body = d.call(Name::IF, &[is_finished, empty_sum, sum]);
        let params = [d.name(s), d.name(n)];
        let params = d.list(&params);
        let function = d.call(Name::FUNC, &[params, body]);
        let name = d.name(f);
        let pair = d.list(&[name, function]);
        let bindings = d.list(&[pair]);
        let (itself, ten) = (d.name(f), d.num(10.0));
        let call = d.call(f, &[itself, ten]);
        Some(d.call(Name::LET, &[bindings, call]))
    }

    /// ((rec-func (n acc) (if (less-than n 1) acc (rec (- n 1) acc))) 2 e) with a mistake.
    fn broken_loop(&mut self, breach: Breach, ty: Ground, size: u32) -> Option<Id> {
        if !self.can_loop() || !self.scope.means_itself(Name::LET) {
            return None;
        }
        let known = self.known();
        let start = self.small(ty, size);
        // A literal, since a variable could be one of the loop's variables.
        let wrong_value = if ty == Ground::NUM { self.draft.bool(true) } else { self.draft.num(1.0) };
        let (n, acc, other_rec, i) = (Name::of_counter(0), Name::of_accumulator(0), Name::of_rec(0), Name::of_counter(1));
        let d = &mut self.draft;
        let end_condition = |d: &mut super::draft::Draft| {
            let (n, one) = (d.name(n), d.num(1.0));
            d.call(Name::builtin(known.less_than), &[n, one])
        };
        let next = |d: &mut super::draft::Draft| {
            let (n, one) = (d.name(n), d.num(1.0));
            d.call(Name::builtin(known.minus), &[n, one])
        };
        let condition = end_condition(d);
        let result = d.name(acc);
        let (next_count, next_accumulator) = (next(d), d.name(acc));
        let rec_call = d.call(Name::REC, &[next_count, next_accumulator]);
        let body = match breach {
            Breach::ParameterApplied => {
                let argument = d.name(n);
                let applied = d.call(acc, &[argument]);
                d.call(Name::IF, &[condition, applied, rec_call])
            }
            Breach::RecMatch => {
                let inner = end_condition(d);
                let inner = d.call(Name::IF, &[inner, wrong_value, rec_call]);
                d.call(Name::IF, &[condition, result, inner])
            }
            Breach::NeverRec => {
                let accumulator = d.name(acc);
                d.call(Name::IF, &[condition, result, accumulator])
            }
            Breach::AlwaysRec => rec_call,
            Breach::TailArgument => {
                // (if c acc ((rec-func (i) (if (less-than n 1) acc (rec i))) (rec (- n 1) acc)))
                let (param, round) = (d.name(i), d.name(i));
                let params = d.list(&[param]);
                let (inner_end, inner_rec) = (end_condition(d), d.call(Name::REC, &[round]));
                let accumulator = d.name(acc);
                let inner = d.call(Name::IF, &[inner_end, accumulator, inner_rec]);
                let inner = d.call(Name::REC_FUNC, &[params, inner]);
                let inner = d.apply(inner, &[rec_call]);
                d.call(Name::IF, &[condition, result, inner])
            }
            Breach::RecOperand => {
                let accumulator = d.name(acc);
                let outer = d.call(Name::REC, &[rec_call, accumulator]);
                d.call(Name::IF, &[condition, result, outer])
            }
            Breach::RecCondition => {
                let (next_count, next_accumulator) = (next(d), d.name(acc));
                let condition_call = d.call(Name::REC, &[next_count, next_accumulator]);
                d.call(Name::IF, &[condition_call, result, rec_call])
            }
            Breach::RecArity | Breach::RecEmpty | Breach::RecType | Breach::RecAsValue | Breach::RecApplied => {
                let wrong_value = match breach {
                    Breach::RecArity => {
                        let next_count = next(d);
                        d.call(Name::REC, &[next_count])
                    }
                    Breach::RecEmpty => d.call(Name::REC, &[]),
                    Breach::RecType => {
                        let next_count = next(d);
                        d.call(Name::REC, &[next_count, wrong_value])
                    }
                    Breach::RecAsValue => d.name(Name::REC),
                    _ => {
                        let argument = d.name(n);
                        d.apply(rec_call, &[argument])
                    }
                };
                d.call(Name::IF, &[condition, result, wrong_value])
            }
            Breach::OuterRec => {
                // (let ((again rec)) (if c acc ((rec-func (i) (if (less-than n 1) acc (again (- n
                // 1) acc))) n)))
                let (next_count, next_accumulator) = (next(d), d.name(acc));
                let outer = d.call(other_rec, &[next_count, next_accumulator]);
                let (inner_end, accumulator) = (end_condition(d), d.name(acc));
                let inner = d.call(Name::IF, &[inner_end, accumulator, outer]);
                let param = d.name(i);
                let params = d.list(&[param]);
                let inner = d.call(Name::REC_FUNC, &[params, inner]);
                let argument = d.name(n);
                let inner = d.apply(inner, &[argument]);
                let body = d.call(Name::IF, &[condition, result, inner]);
                let (name, rec) = (d.name(other_rec), d.name(Name::REC));
                let pair = d.list(&[name, rec]);
                let bindings = d.list(&[pair]);
                d.call(Name::LET, &[bindings, body])
            }
            _ => d.call(Name::IF, &[condition, result, rec_call]),
        };
        let params = [d.name(n), d.name(acc)];
        let params = d.list(&params);
        let function = d.call(Name::REC_FUNC, &[params, body]);
        let two = d.num(2.0);
        Some(match breach {
            Breach::LoopAsValue => function,
            Breach::LoopArity => d.apply(function, &[two]),
            Breach::LoopApplied => {
                let applied = d.apply(function, &[two, start]);
                let argument = d.num(1.0);
                d.apply(applied, &[argument])
            }
            _ => d.apply(function, &[two, start]),
        })
    }

    /// Changes one of the top-level expressions, or their number.
    fn breach_program(&mut self, breach: Breach, mut roots: SmallVec<[Id; 4]>) -> SmallVec<[Id; 4]> {
        let is_bare_expression = self.mix.outputs == 1 && self.mix.defines == 0;
        if is_bare_expression {
            let (zero, value) = (self.draft.num(0.0), roots[0]);
            roots[0] = self.draft.call(Name::OUTPUT, &[zero, value]);
        }
        let defines = self.mix.defines as usize;
        let output = |g: &Generator| g.draft.items(roots[defines]).map(|items| (items[1], items[2])).expect("an output is a list of three");
        match breach {
            Breach::NoObservation | Breach::NoObservationDefined => {
                let at = output(self).0;
                let ty = self.random.pick(&[Ground::BOOL, Ground::Vec(2, Elem::B), Ground::Mat(2), Ground::Mat(3)]);
                let fixed = &self.catalog.fixed[super::catalog::slot(ty)];
                let value = loop {
                    let instance = &self.catalog.all[self.random.pick(fixed) as usize];
                    if let Some(id) = self.plain_call(instance.builtin, &instance.params, instance.index) {
                        break id;
                    }
                };
                roots[defines] = self.draft.call(Name::OUTPUT, &[at, value]);
            }
            Breach::DefineShape => {
                let define = match self.random.percent(50) {
                    true => {
                        let (number, value) = (self.draft.num(1.0), self.draft.num(2.0));
                        self.draft.call(Name::DEFINE, &[number, value])
                    }
                    false => {
                        let name = self.draft.name(Name::of_value(0));
                        self.draft.call(Name::DEFINE, &[name])
                    }
                };
                roots.insert(0, define);
            }
            Breach::OutputShape => {
                let at = output(self).0;
                roots[defines] = self.draft.call(Name::OUTPUT, &[at]);
            }
            Breach::OutputLocation => {
                let value = output(self).1;
                let at = match self.random.below(4) {
                    0 => self.draft.num(8.0),
                    1 => self.draft.num(0.5),
                    2 => self.draft.num(-1.0),
                    _ => self.draft.bool(true),
                };
                roots[defines] = self.draft.call(Name::OUTPUT, &[at, value]);
            }
            Breach::OutputDuplicate => {
                let at = output(self).0;
                let value = self.leaf(Ground::NUM, 1).id;
                roots.push(self.draft.call(Name::OUTPUT, &[at, value]));
            }
            Breach::BareAmongForms => {
                let value = self.leaf(Ground::NUM, 1).id;
                let at = self.random.below(roots.len() as u32 + 1) as usize;
                roots.insert(at, value);
            }
            _ => roots.truncate(defines),
        }
        roots
    }

    /// The builtin applied to leaves. `None` if its name is hidden.
    fn plain_call(&mut self, builtin: Builtin, params: &[Ground], index: bool) -> Option<Id> {
        if !self.scope.has(builtin) {
            return None;
        }
        let mut operands: SmallVec<[Id; 4]> = SmallVec::new();
        for (i, &param) in params.iter().enumerate() {
            let operand = if index && i == 0 { self.draft.num(0.0) } else { self.leaf(param, 1).id };
            operands.push(operand);
        }
        Some(self.call(builtin, &operands))
    }
}

//! Judges the results of a device by the allowed sets, input by input, on every core.

use std::thread;

use smallstep_semantics::number::Profile;
use smallstep_semantics::number::reference::{self, Enclosure, Exact};
use smallstep_semantics::number::sets::{Certain, Certainty, Operand, Set, allowed_alone};
use smallvec::{SmallVec, smallvec};

use super::tally::{Error, Outside, Tally};
use super::{Batch, Function};

/// The least number of inputs for which a thread pays off.
const SHARE: usize = 1 << 12;

/// The words of an input, or of a result.
pub(super) type Words = SmallVec<[u32; 4]>;

/// Judges the results of one function under one profile.
#[derive(Clone, Debug)]
pub struct Judge {
    function: Function,
    profile: Profile,
    /// The judgements that need no set, for a function of one float.
    certain: Option<Certain>,
}

/// The allowed and the exact results for an input, component by component.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The set of allowed results of each component.
    pub allowed: SmallVec<[Set; 4]>,
    /// The exact value of each component.
    pub exact: SmallVec<[Exact; 4]>,
}

/// The distance between two neighbouring 32-bit floats at a number. At a power of two it is the
/// distance to the float below (Vulkan, "Precision and Operation of SPIR-V Instructions").
pub fn ulp(x: f64) -> f64 {
    let bits = x.to_bits() & 0x7fff_ffff_ffff_ffff;
    let exponent = (bits >> 52) as i64 - 1023 - i64::from(bits & 0x000f_ffff_ffff_ffff == 0);
    let exponent = exponent.clamp(-126, 127) - 23;
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Whether the number is in the range of normal 32-bit floats.
fn is_ordinary(x: f64) -> bool {
    (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&x.abs())
}

/// The midpoint of an enclosure.
pub(super) fn middle(enclosure: Enclosure) -> f64 {
    enclosure.low + (enclosure.high - enclosure.low) * 0.5
}

/// The distance of a result from the exact value, in units in the last place. `None` unless the
/// exact value is in the range of normal numbers and the result is finite. So a zero result counts
/// only for an exact value in that range.
fn error(result: f32, exact: Exact) -> Option<f64> {
    let Exact::Within(enclosure) = exact else { return None };
    let x = middle(enclosure);
    (is_ordinary(x) && result.is_finite()).then(|| (f64::from(result) - x).abs() / ulp(x))
}

/// The greatest distance of the set from the exact value, in units in the last place. Infinite if
/// the set contains everything.
pub fn reach(set: &Set, exact: Exact) -> Option<f64> {
    let Exact::Within(enclosure) = exact else { return None };
    let (x, hull) = (middle(enclosure), set.hull()?);
    is_ordinary(x).then(|| (x - hull.low).max(hull.high - x) / ulp(x))
}

/// Whether the error of every word is meaningful: each is normal or zero.
fn are_ordinary(words: &[u32]) -> bool {
    words.iter().all(|&bits| bits & 0x7fff_ffff == 0 || f32::from_bits(bits).is_normal())
}

impl Judge {
    /// A judge for a function under a profile.
    pub fn new(function: &Function, profile: Profile) -> Judge {
        let certain = if function.is_unary() { Certain::new(profile, function.instruction) } else { None };
        Judge { function: function.clone(), profile, certain }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The operands as numbers, one component after another.
    fn numbers(&self, words: &[u32]) -> SmallVec<[f64; 8]> {
        let number = |(at, &bits): (usize, &u32)| match self.function.is_integer(self.function.operand_of(at)) {
            true => f64::from(bits as i32),
            false => f64::from(f32::from_bits(bits)),
        };
        words.iter().enumerate().map(number).collect()
    }

    /// Splits a list of components by operand.
    fn by_operand<'a, T>(&'a self, mut all: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        self.function.operands.iter().map(move |&components| {
            let (operand, rest) = all.split_at(components);
            all = rest;
            operand
        })
    }

    /// The allowed set of each component of the result. Any value is allowed if there is no rule.
    pub fn allowed(&self, words: &[u32]) -> SmallVec<[Set; 4]> {
        let operands: SmallVec<[Operand; 8]> =
            self.numbers(words).into_iter().map(|value| Operand { set: Set::point(value), id: None }).collect();
        let tuples: SmallVec<[(&[Operand], usize); 3]> = self.by_operand(&operands).map(|operand| (operand, 1)).collect();
        allowed_alone(self.profile, self.function.instruction, &tuples).unwrap_or_else(|| smallvec![Set::ANY; self.function.results])
    }

    /// The exact value of each component of the result.
    pub fn exact(&self, words: &[u32]) -> SmallVec<[Exact; 4]> {
        let numbers = self.numbers(words);
        if numbers.len() == self.function.operands.len() {
            let exact = reference::enclose(self.function.instruction, &numbers).unwrap_or(Exact::Undefined);
            return smallvec![exact; self.function.results];
        }
        let vectors: SmallVec<[reference::Operand<'_>; 3]> = self.by_operand(&numbers).map(reference::Operand::vector).collect();
        match reference::enclose_vector(self.function.instruction, &vectors) {
            Some(exact) => SmallVec::from_vec(exact),
            None => smallvec![Exact::Undefined; self.function.results],
        }
    }

    /// The allowed sets and the exact values.
    pub fn expected(&self, words: &[u32]) -> Expected {
        Expected { allowed: self.allowed(words), exact: self.exact(words) }
    }

    /// Judges one input by its allowed set.
    pub fn judge(&self, words: &[u32], results: &[u32], tally: &mut Tally) {
        tally.inputs += 1;
        let allowed = self.allowed(words);
        let (mut any, mut outside) = (false, None);
        for (component, (set, &bits)) in allowed.iter().zip(results).enumerate() {
            any |= set.is_any();
            if !set.contains(f64::from(f32::from_bits(bits))) {
                outside = outside.or(Some(component));
            }
        }
        if any && outside.is_none() {
            tally.any += 1;
            return;
        }
        tally.decided += 1;
        if let Some(component) = outside {
            tally.outside(Outside {
                operands: words.into(),
                component,
                result: results[component],
                allowed: allowed[component],
                exact: self.exact(words).get(component).copied().unwrap_or(Exact::Undefined),
            });
        }
        if any || !are_ordinary(words) {
            return;
        }
        for (component, (exact, &bits)) in self.exact(words).into_iter().zip(results).enumerate() {
            if let Some(ulp) = error(f32::from_bits(bits), exact) {
                tally.error(Error { ulp, operands: words.into(), component, result: bits });
            }
        }
    }

    /// Judges consecutive inputs of a function of one 32-bit word. The set is computed only if
    /// [`Certain`] does not decide the result.
    pub fn judge_range(&self, first: u32, results: &[u32], tally: &mut Tally) {
        let certain = |bits: u32, shown: u32| match &self.certain {
            Some(certain) => certain.of(f32::from_bits(bits), f32::from_bits(shown)),
            None => Certainty::Open,
        };
        for (i, &shown) in results.iter().enumerate() {
            let bits = first.wrapping_add(i as u32);
            match certain(bits, shown) {
                Certainty::Anything => {
                    tally.inputs += 1;
                    tally.any += 1;
                }
                Certainty::Allowed(exact) => {
                    tally.inputs += 1;
                    tally.decided += 1;
                    if let Some(ulp) = error(f32::from_bits(shown), exact.into()).filter(|_| are_ordinary(&[bits])) {
                        tally.error_of(bits, ulp, || Error { ulp, operands: Words::from_slice(&[bits]), component: 0, result: shown });
                    }
                }
                Certainty::Open => self.judge(&[bits], &[shown], tally),
            }
        }
    }

    /// Judges the results of a batch, on every core. `results` has [`Function::results`] words for
    /// each input, and perhaps more after them.
    pub fn judge_batch(&self, batch: &Batch, results: &[u32]) -> Tally {
        let (words, results_per_input) = (self.function.words(), self.function.results);
        let count = batch.len(words);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = count.div_ceil(threads).max(SHARE);
        let judge_part = |from: usize| {
            let to = (from + share).min(count);
            let shown = &results[from * results_per_input..to * results_per_input];
            let mut tally = Tally::default();
            match batch {
                Batch::Given(all) => {
                    for (words, results) in all[from * words..to * words].chunks_exact(words).zip(shown.chunks_exact(results_per_input)) {
                        self.judge(words, results, &mut tally);
                    }
                }
                Batch::Range { first, .. } => self.judge_range(first.wrapping_add(from as u32), shown, &mut tally),
            }
            tally
        };
        let mut all = Tally::default();
        thread::scope(|scope| {
            let parts: Vec<_> = (0..count).step_by(share).map(|from| scope.spawn(move || judge_part(from))).collect();
            for part in parts {
                all.merge(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::number::sets::Span;

    fn within(low: f64, high: f64) -> Exact {
        Exact::Within(Enclosure { low, high })
    }

    #[test]
    fn an_error_is_counted_from_the_precise_result() {
        assert_eq!(middle(Enclosure { low: 1.0, high: 3.0 }), 2.0);
        assert_eq!(error(1.0, within(1.0, 1.0)), Some(0.0));
        assert_eq!(error(1f32.next_up(), within(1.0, 1.0)), Some(2.0), "above a power of two floats are twice as far apart");
        assert_eq!(error(1f32.next_down(), within(1.0, 1.0)), Some(1.0));
        assert_eq!(error(-3f32.next_up(), within(-3.0, -3.0)), Some(1.0));
        assert_eq!(error(0.0, within(1.0, 1.0)), Some(2f64.powi(24)), "a zero where there is a number");
        // There is no error if the exact value is not a normal number, or the result is not finite.
        for (result, exact) in
            [(0.0, within(0.0, 0.0)), (1e-40, within(1e-40, 1e-40)), (f32::MAX, within(1e39, 1e39)), (1.0, Exact::Undefined)]
        {
            assert_eq!(error(result, exact), None, "{result}");
        }
        assert_eq!([f32::INFINITY, f32::NAN].map(|result| error(result, within(1.0, 1.0))), [None; 2]);
    }

    #[test]
    fn a_set_reaches_as_far_as_its_farther_end() {
        let unit = 2f64.powi(-23);
        let set = Set::of(Span { low: 1.5 - 2.0 * unit, high: 1.5 + 3.0 * unit });
        assert_eq!(reach(&set, within(1.5, 1.5)), Some(3.0));
        assert_eq!(reach(&set, within(1.5 + 3.0 * unit, 1.5 + 3.0 * unit)), Some(5.0));
        assert_eq!(reach(&set, within(0.0, 0.0)), None);
        assert_eq!(reach(&set, Exact::Undefined), None);
    }

    #[test]
    fn zeros_and_normal_numbers_are_ordinary() {
        let bits = |x: f32| x.to_bits();
        assert!(are_ordinary(&[bits(0.0), bits(-0.0), bits(1.0), bits(f32::MAX), bits(-f32::MIN_POSITIVE)]));
        for x in [1e-40f32, f32::INFINITY, f32::NAN] {
            assert!(!are_ordinary(&[bits(1.0), bits(x)]), "{x}");
        }
    }

    /// The tally is the same for inputs judged one by one, as a range, and as a batch on every
    /// core. It also matches the results.
    #[test]
    fn inputs_are_judged_alike_one_by_one_and_together() {
        let function = Function::named("sqrt").into_iter().next().expect("there is one");
        let judge = Judge::new(&function, Profile::Strict);
        let first = 4f32.to_bits();
        let mut results: Vec<u32> = (0..100).map(|i| f32::from_bits(first + i).sqrt().to_bits()).collect();
        // One result is a hundred floats off, and one is NaN.
        results[40] += 100;
        results[60] = f32::NAN.to_bits();
        let (mut one_by_one, mut as_range) = (Tally::default(), Tally::default());
        for (i, &shown) in (0u32..).zip(&results) {
            judge.judge(&[first + i], &[shown], &mut one_by_one);
        }
        judge.judge_range(first, &results, &mut as_range);
        let range_batch = judge.judge_batch(&Batch::Range { first, count: 100 }, &results);
        let given_batch = judge.judge_batch(&Batch::Given((first..first + 100).collect()), &results);
        for tally in [&one_by_one, &as_range, &range_batch, &given_batch] {
            assert_eq!((tally.inputs, tally.decided, tally.any, tally.outside, tally.measured), (100, 100, 0, 2, 99));
            let worst = tally.worst.as_ref().expect("an error");
            assert!((worst.operands.as_slice(), worst.result) == (&[first + 40][..], results[40]) && worst.ulp > 90.0, "{worst:?}");
        }
        // The root of a negative number may be anything.
        let mut any = Tally::default();
        judge.judge(&[(-4f32).to_bits()], &[7], &mut any);
        assert_eq!((any.inputs, any.decided, any.any, any.measured), (1, 0, 1, 0));
        // No error is measured for a subnormal operand, even if the result is normal.
        let sum = Function::named("fadd").into_iter().find(|f| f.words() == 2).expect("there is one of two numbers");
        for (small, measured) in [(1e-40f32, 0), (1e-30, 1)] {
            let mut tally = Tally::default();
            Judge::new(&sum, Profile::Strict).judge(&[small, 1.0].map(f32::to_bits), &[1f32.to_bits()], &mut tally);
            assert_eq!((tally.inputs, tally.decided, tally.outside, tally.measured), (1, 1, 0, measured), "{small}");
        }
    }

    /// Each input is judged by its own results of several words, in every division of a batch
    /// between cores.
    #[test]
    fn inputs_of_several_words_are_judged_by_their_own_results() {
        let function = Function::named("normalize").into_iter().find(|f| f.words() == 2).expect("there is one of two components");
        let judge = Judge::new(&function, Profile::Strict);
        let count = 2 * SHARE + 5;
        let inputs: Vec<u32> = (0..count).flat_map(|i| [3f32, 4.0 + 3.0 * i as f32].map(f32::to_bits)).collect();
        let mut results: Vec<u32> = (inputs.chunks_exact(2))
            .flat_map(|v| {
                let [x, y] = [v[0], v[1]].map(|bits| f64::from(f32::from_bits(bits)));
                [x, y].map(|z| ((z / x.hypot(y)) as f32).to_bits())
            })
            .collect();
        assert_eq!(judge.judge_batch(&Batch::Given(inputs.as_slice().into()), &results).outside, 0);
        let last = results.len() - 1;
        results[last] = 7f32.to_bits();
        let tally = judge.judge_batch(&Batch::Given(inputs.as_slice().into()), &results);
        assert_eq!((tally.inputs, tally.decided, tally.outside), (count as u64, count as u64, 1));
        let reproducer = tally.reproducer.expect("one is outside");
        assert_eq!((reproducer.operands.as_slice(), reproducer.component), (&inputs[last - 1..], 1));
    }

    #[test]
    fn the_unit_at_a_power_of_two_is_that_below_it() {
        assert_eq!(ulp(1.0), 2f64.powi(-24));
        assert_eq!(ulp(1.0f64.next_up()), 2f64.powi(-23));
        assert_eq!(ulp(-3.0), 2f64.powi(-22));
        assert_eq!(ulp(1e-42), 2f64.powi(-149));
        assert_eq!(ulp(0.0), 2f64.powi(-149));
        assert_eq!(ulp(1e300), 2f64.powi(104));
    }
}

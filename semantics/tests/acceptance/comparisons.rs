//! Comparisons of members of sets have results that the rules allow. The sets that a result narrows
//! keep the members. Also comparisons of one value with itself.

use super::inputs::{Random, corners};
use super::soundness::{around, member};
use super::subjects::SUBJECTS;
use super::{PROFILES, inputs, points};
use rspirv::spirv::Op;
use smallstep_semantics::number::sets::{Budget, CellId, Operand, Set, Span, Truth, allowed, compared, explore, narrowed};
use smallstep_semantics::number::{Instruction, Profile, Why};

const COMPARISONS: [Op; 14] = [
    Op::FOrdLessThan,
    Op::FOrdLessThanEqual,
    Op::FOrdGreaterThan,
    Op::FOrdGreaterThanEqual,
    Op::FOrdEqual,
    Op::FOrdNotEqual,
    Op::FUnordLessThan,
    Op::FUnordLessThanEqual,
    Op::FUnordGreaterThan,
    Op::FUnordGreaterThanEqual,
    Op::FUnordEqual,
    Op::FUnordNotEqual,
    Op::IsNan,
    Op::IsInf,
];

/// The answer of a device.
fn answer(op: Op, x: f32, y: f32) -> bool {
    let unordered = x.is_nan() || y.is_nan();
    match op {
        Op::FOrdLessThan => x < y,
        Op::FOrdLessThanEqual => x <= y,
        Op::FOrdGreaterThan => x > y,
        Op::FOrdGreaterThanEqual => x >= y,
        Op::FOrdEqual => x == y,
        Op::FOrdNotEqual => !unordered && x != y,
        Op::FUnordLessThan => unordered || x < y,
        Op::FUnordLessThanEqual => unordered || x <= y,
        Op::FUnordGreaterThan => unordered || x > y,
        Op::FUnordGreaterThanEqual => unordered || x >= y,
        Op::FUnordEqual => unordered || x == y,
        Op::FUnordNotEqual => x != y,
        Op::IsNan => x.is_nan(),
        _ => x.is_infinite(),
    }
}

/// The rules under test, or others in their place.
pub struct Comparing {
    pub compared: fn(Profile, Instruction, &Operand, &Operand) -> Truth,
    pub narrowed: fn(Profile, Instruction, &Operand, &Operand, bool) -> [Set; 2],
}

pub const RULES: Comparing = Comparing { compared, narrowed };

fn cell() -> CellId {
    let explored = explore(Profile::Strict, Budget::default(), |sets| Ok(sets.any_of(0.0, Set::ANY, Why::Approximate)?.trust.cell));
    explored.ways[0].expect("a cell")
}

/// The first pair of members that contradicts a rule, in words.
pub fn contradiction(comparing: &Comparing, count: u64, seed: u64) -> Option<String> {
    let (mut random, corners) = (Random(seed), corners());
    let id = cell();
    for n in 0..count {
        let op = COMPARISONS[random.below(14)];
        let instruction = Instruction::Core(op as u16);
        let profile = PROFILES[n as usize % PROFILES.len()];
        let draw = |random: &mut Random| match random.below(3) {
            0 if random.below(10) == 0 => f32::NAN,
            0 => corners[random.below(corners.len())],
            1 => random.below(16) as f32 * 0.25 - 2.0,
            _ => random.operands("", 1)[0],
        };
        let x = draw(&mut random);
        let y = if random.below(3) == 0 { x } else { draw(&mut random) };
        let same = random.below(6) == 0;
        let x = Operand { set: around(&mut random, x), id: same.then_some(id) };
        let y = if same { x } else { Operand { set: around(&mut random, y), id: None } };
        let truth = (comparing.compared)(profile, instruction, &x, &y);
        for _ in 0..6 {
            let a = member(&mut random, &x.set);
            let b = if same { a } else { member(&mut random, &y.set) };
            let mut flushed = |x: f32| if x.is_subnormal() && random.below(2) == 0 { 0.0 } else { x };
            let (on_left, on_right) = (flushed(a), flushed(b));
            // With an infinity or NaN, any answer is possible.
            let unary = matches!(op, Op::IsNan | Op::IsInf);
            let arbitrary = !on_left.is_finite() || !unary && !on_right.is_finite();
            let holds = if arbitrary { random.below(2) == 0 } else { answer(op, on_left, on_right) };
            let case =
                || format!("{op:?} under {profile:?} of {a:?} in {} and {b:?} in {}{}", x.set, y.set, if same { ", the same" } else { "" });
            if !(if holds { truth.may_hold } else { truth.may_fail }) {
                return Some(format!("{}: {holds} on a device, which is not in {truth:?}", case()));
            }
            let [left, right] = (comparing.narrowed)(profile, instruction, &x, &y, holds);
            if !left.contains(a.into()) || !right.contains(b.into()) {
                return Some(format!("{}: {holds}, but then they are said to be in {left} and {right}", case()));
            }
        }
    }
    None
}

#[test]
fn comparisons_hold_what_devices_answer() {
    let fault = contradiction(&RULES, inputs() * 20, 6);
    assert_eq!(fault, None);
}

fn operand(low: f64, high: f64) -> Operand {
    Operand { set: Set::of(Span { low, high }), id: None }
}

fn less() -> Instruction {
    Instruction::Core(Op::FOrdLessThan as u16)
}

#[test]
fn a_comparison_narrows_both_sides() {
    let (x, y) = (operand(0.0, 4.0), operand(1.0, 2.0));
    assert_eq!(compared(Profile::Strict, less(), &x, &y), Truth::BOTH);
    let below_two = f64::from(2f32.next_down());
    assert_eq!(narrowed(Profile::Strict, less(), &x, &y, true), [Set::of(Span { low: 0.0, high: below_two }), y.set]);
    assert_eq!(narrowed(Profile::Strict, less(), &x, &y, false), [Set::of(Span { low: 1.0, high: 4.0 }), y.set]);
    // Without NoContraction, a comparison may see other numbers.
    assert_eq!(narrowed(Profile::VulkanDefault, less(), &x, &y, true), [x.set, y.set]);
}

#[test]
fn less_than_zero_may_be_a_flushed_subnormal_on_the_other_side() {
    let (x, zero) = (operand(-1.0, 1.0), Operand { set: Set::point(0.0), id: None });
    let [narrower, _] = narrowed(Profile::Strict, less(), &x, &zero, false);
    // The numbers that are not below zero: a negative subnormal that was flushed, -0, and
    // anything above.
    let subnormal = f64::from(f32::MIN_POSITIVE.next_down());
    assert_eq!(narrower, Set::of(Span { low: -subnormal, high: 1.0 }));
    let [narrower, _] = narrowed(Profile::Strict, less(), &x, &zero, true);
    assert_eq!(narrower, Set::of(Span { low: -1.0, high: -f64::from(f32::from_bits(1)) }));
}

/// x - x, x·x, x/x, and the comparisons of a value with itself.
#[test]
fn one_value_twice() {
    let id = Some(cell());
    let of = |op: Op, low: f64, high: f64| {
        let x = [Operand { set: Set::of(Span { low, high }), id }];
        allowed(Profile::Strict, Instruction::Core(op as u16), &[(&x, 1), (&x, 1)]).expect("a rule")[0]
    };
    assert_eq!(of(Op::FSub, 1.0, 2.0), Set::point(0.0));
    assert_eq!(of(Op::FSub, -2.0, -1.0), Set::point(0.0));
    // A subnormal may be flushed on one side alone.
    assert_eq!(
        of(Op::FSub, 1e-40f32.into(), 1.0),
        Set::of(Span { low: -f64::from(f32::MIN_POSITIVE.next_down()), high: f32::MIN_POSITIVE.next_down().into() })
    );
    assert!(of(Op::FSub, 1.0, f64::INFINITY).has_nan());
    assert_eq!(of(Op::FMul, -2.0, 1.5).hull().map(|hull| (hull.low, hull.high)), Some((0.0, 4.0)));
    let one = of(Op::FDiv, 1.0, 100.0).hull().expect("numbers");
    assert!(one.low > 0.999_999 && one.high < 1.000_001);
    let x = Operand { set: Set::of(Span { low: 1.0, high: 2.0 }), id };
    let is = |op: Op| compared(Profile::Strict, Instruction::Core(op as u16), &x, &x);
    assert_eq!(is(Op::FOrdLessThan), Truth { may_hold: false, may_fail: true });
    assert_eq!(is(Op::FOrdGreaterThanEqual), Truth { may_hold: true, may_fail: false });
    assert_eq!(is(Op::FUnordNotEqual), Truth { may_hold: false, may_fail: true });
}

/// Without NoContraction, an instruction that may be combined with others has no rule.
#[test]
fn what_may_be_contracted_has_no_rule() {
    for subject in SUBJECTS {
        let args = subject.draw(&mut Random(7), &corners());
        let operands = points(&args);
        let operands: Vec<(&[Operand], usize)> = operands.iter().map(|(operands, columns)| (operands.as_slice(), *columns)).collect();
        for profile in [Profile::VulkanDefault, Profile::Wgsl] {
            assert_eq!(allowed(profile, subject.instruction, &operands), None, "{}", subject.name);
        }
    }
}

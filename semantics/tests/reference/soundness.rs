//! The fast enclosure contains the tight one, is narrow, and is rounded to the same result.

use super::inputs::{Random, corner_operands, named};
use smallstep_semantics::number::Instruction;
use smallstep_semantics::number::reference::{Direction, Enclosure, Exact, FUNCTIONS, Rounded, enclose, enclose_tightly, rounded};
use std::sync::atomic::{AtomicUsize, Ordering};

type Enclose = fn(Instruction, &[f64]) -> Option<Exact>;

fn wide(args: &[f32]) -> Vec<f64> {
    args.iter().map(|&x| f64::from(x)).collect()
}

/// Describes what is wrong with a fast enclosure, compared with the tight one.
fn fault(fast: Exact, tight: Exact) -> Option<String> {
    let (fast, tight) = match (fast, tight) {
        (Exact::Undefined, Exact::Undefined) => return None,
        (Exact::Within(fast), Exact::Within(tight)) => (fast, tight),
        _ => return Some(format!("{fast:?}, tightly {tight:?}")),
    };
    let near = tight.is_point() || tight.low.next_up() == tight.high;
    let narrow =
        fast.relative_width() <= 2f64.powi(-45) || fast.low.abs() < 1e-300 || fast.high == f64::INFINITY || fast.low == -f64::INFINITY;
    if !near {
        Some(format!("{tight:?} is not tight"))
    } else if !(fast.low <= tight.low && tight.high <= fast.high) {
        Some(format!("{fast:?} does not hold {tight:?}"))
    } else if fast.is_point() && !tight.is_point() {
        Some(format!("{fast:?} is no float exactly"))
    } else if !narrow {
        Some(format!("{fast:?} is wide"))
    } else {
        None
    }
}

/// Describes the first input with a wrong enclosure, among the corners and `random_inputs`
/// random inputs.
fn first_fault(&(function, name, arity): &(Instruction, &'static str, usize), random_inputs: usize, fast: Enclose) -> Option<String> {
    let mut random = Random(0x5eed ^ arity as u64 ^ u64::from(name.len() as u32) << 8);
    let random_inputs = (0..random_inputs).map(|_| random.operands(name, arity));
    corner_operands(name, arity).into_iter().chain(random_inputs).find_map(|args| {
        let args = wide(&args);
        let (fast, tight) = (fast(function, &args)?, enclose_tightly(function, &args)?);
        Some(format!("{name} {args:?}: {}", fault(fast, tight)?))
    })
}

/// The number of random inputs for each function.
fn inputs() -> usize {
    match std::env::var("SMALLSTEP_REFERENCE_INPUTS") {
        Ok(number) => number.parse().expect("SMALLSTEP_REFERENCE_INPUTS is a number"),
        Err(_) => 10_000,
    }
}

/// Runs a check of every function on all processors. Returns the faults.
pub fn over_functions(check: impl Fn(&(Instruction, &'static str, usize)) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut found = Vec::new();
        while let Some(function) = FUNCTIONS.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(check(function));
        }
        found
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..std::thread::available_parallelism().map_or(2, usize::from)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}

#[test]
fn the_fast_enclosure_holds_the_tight_one() {
    let random_inputs = inputs();
    let faults = over_functions(|function| first_fault(function, random_inputs, enclose));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The middle of the fast enclosure alone. A bound of zero on libm's error would claim this.
fn without_a_bound(function: Instruction, args: &[f64]) -> Option<Exact> {
    Some(match enclose(function, args)? {
        Exact::Within(Enclosure { low, high }) if low.to_bits() + 2 < high.to_bits() && low > 0.0 => {
            let middle = f64::from_bits(low.to_bits().midpoint(high.to_bits()));
            Enclosure { low: middle, high: middle }.into()
        }
        exact => exact,
    })
}

#[test]
fn a_bound_of_zero_is_found_wrong() {
    for function in FUNCTIONS.iter().filter(|(_, name, _)| {
        "Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Atan2 Pow Exp Log Exp2 Log2 InverseSqrt Radians Degrees SmoothStep"
            .split(' ')
            .any(|own| own == *name)
    }) {
        let fault = first_fault(function, 500, without_a_bound);
        assert!(fault.is_some_and(|fault| fault.contains("does not hold")), "{} passes without a bound", function.1);
    }
}

/// A single float where there are two neighbours, neighbours on the wrong side, an enclosure that
/// is much too wide, and a wrong domain.
#[test]
fn other_wrong_enclosures_are_found() {
    let point = |x: f64| Exact::Within(Enclosure { low: x, high: x });
    let between = |low: f64, high: f64| Exact::Within(Enclosure { low, high });
    let next = 1f64.next_up();
    assert!(fault(point(1.0), point(1.0)).is_none());
    assert!(fault(point(1.0), between(1.0, next)).is_some());
    assert!(fault(between(1.0, next), between(1f64.next_down(), 1.0)).is_some());
    assert!(fault(between(0.5, 2.0), between(1.0, next)).is_some());
    assert!(fault(Exact::Undefined, point(1.0)).is_some());
    assert!(fault(point(1.0), Exact::Undefined).is_some());
}

/// The 32-bit float in a direction, found among all floats only by their order.
fn by_order(tight: Enclosure, direction: Direction) -> f32 {
    let Enclosure { low, high } = tight;
    if low == high && f64::from(low as f32) == low {
        return low as f32;
    }
    // The greatest float not above the result, and the next one, by bisection
    // over the ordered encodings.
    let float = |key: i64| if key < 0 { -f32::from_bits(!key as u32) } else { f32::from_bits(key as u32) };
    let (mut below, mut above) = (!0x7f80_0000i64, 0x7f80_0000i64);
    while above - below > 1 {
        let middle = (above + below).div_euclid(2);
        if f64::from(float(middle)) <= low { below = middle } else { above = middle }
    }
    let (below, above) = (float(below), float(above));
    let up = match direction {
        Direction::Down => false,
        Direction::Up => true,
        Direction::TowardZero => high <= 0.0,
        Direction::NearestEven => {
            // The number after the largest float counts as 2^128.
            let wide = |x: f32| if x.is_infinite() { 2f64.powi(128).copysign(f64::from(x)) } else { f64::from(x) };
            let middle = wide(below) / 2.0 + wide(above) / 2.0;
            low > middle || low == middle && (high > middle || above.to_bits() & 1 == 0)
        }
    };
    if up { above } else { below }
}

#[test]
fn results_are_rounded_as_the_tight_enclosure_says() {
    let faults = over_functions(|&(function, name, arity)| {
        let mut random = Random(31 + arity as u64);
        let corners = corner_operands(name, arity);
        // Only some of many corners, so that all functions have a similar share.
        let corners = corners.iter().step_by(1 + corners.len() / 2000).cloned();
        corners.chain((0..1500).map(|_| random.operands(name, arity))).find_map(|args| {
            let tight = enclose_tightly(function, &wide(&args))?;
            Direction::ALL.into_iter().find_map(|direction| {
                let found = rounded(function, &args, direction)?;
                let same = match (found, tight) {
                    (Rounded::Undefined, Exact::Undefined) => true,
                    (Rounded::Value(found), Exact::Within(tight)) => found == by_order(tight, direction),
                    _ => false,
                };
                (!same).then(|| format!("{name} {args:?} {direction:?}: {found:?}, exactly {tight:?}"))
            })
        })
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_no_function_of_so_many_scalars_has_no_reference() {
    let [add, sin] = ["FAdd", "Sin"].map(named);
    assert!(enclose(add, &[1.0]).is_none() && enclose(sin, &[1.0, 2.0]).is_none() && rounded(sin, &[0.0; 5], Direction::Up).is_none());
    assert!(enclose(Instruction::Glsl(9999), &[1.0]).is_none() && enclose_tightly(Instruction::Core(1), &[]).is_none());
}

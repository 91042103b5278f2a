//! Programs over sets: what simulated devices show is in the set, and bounds that claim too much
//! are caught by that.

use super::device::Device;
use super::program::{Kind, Program, Random, Shape};
use super::text;
use smallstep_semantics::number::sets::{
    Exploration, Operand, Passed, Polynomial, Polynomials, Rules, Set, Sets, Span, Unsettled, allowed_alone, observe, passed, polynomials,
};
use smallstep_semantics::number::{Arithmetic, Expected, Instruction, Lane, Lanes, Op, Profile, Tuple, Why};

/// How many lanes of operations there were, and how many have a bound: by themselves,
/// and by sets beyond.
#[derive(Default, Debug)]
struct Count {
    lanes: u64,
    decided: u64,
    by_sets: u64,
    widths: Vec<u32>,
}

/// A Boolean as the float 0 or 1, of which sets are observed.
fn number(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}

/// The lanes of all operations, in order; Booleans as numbers.
fn definite(program: &Program, profile: Profile) -> Lanes {
    let of_node = |node: &super::program::Node| -> Lanes {
        let boolean = |lane: &Lane| {
            let mut number = Lane::exact(number(lane.is_true()));
            if !lane.trust.is_decided(profile) {
                number.trust = number.trust.in_doubt(Why::Control);
            }
            number
        };
        match (node.kind, node.shape) {
            (Kind::Apply(_), Shape::Bool(_)) => node.lanes.iter().map(boolean).collect(),
            (Kind::Apply(_), _) => node.lanes.clone(),
            _ => Lanes::new(),
        }
    };
    program.nodes.iter().flat_map(of_node).collect()
}

/// The same as a run over sets shows them.
fn over(program: &Program, sets: &mut Sets) -> Result<Lanes, Unsettled> {
    let mut values: Vec<Lanes> = Vec::new();
    let mut shown = Lanes::new();
    for node in &program.nodes {
        let lanes = match node.kind {
            Kind::Leaf => node.lanes.clone(),
            Kind::Construct => node.args.iter().map(|&arg| values[arg][0]).collect(),
            Kind::Extract(lane) => Lanes::from_slice(&[values[node.args[0]][lane]]),
            Kind::Apply(op) => {
                let tuple = |&arg: &usize| Tuple { lanes: &values[arg], columns: program.nodes[arg].shape.columns() };
                let tuples: Vec<Tuple<'_>> = node.args.iter().map(tuple).collect();
                let lanes = sets.apply(&Arithmetic::default(), op, &tuples)?;
                for &lane in &lanes {
                    shown.push(if matches!(node.shape, Shape::Bool(_)) { observed(sets, lane)? } else { lane });
                }
                lanes
            }
        };
        values.push(lanes);
    }
    Ok(shown)
}

/// A Boolean as a number that may be whatever it may be.
fn observed(sets: &mut Sets, lane: Lane) -> Result<Lane, Unsettled> {
    if lane.trust.is_decided(sets.profile()) {
        return Ok(Lane::exact(number(lane.is_true())));
    }
    let truth = sets.truth(lane);
    let zero = if truth.may_fail { Set::ZERO } else { Set::NONE };
    let set = if truth.may_hold { zero.with(Span::point(1.0)) } else { zero };
    sets.any_of(number(lane.is_true()), set, Why::Control)
}

/// In words, the first lane for which a set has no place for the definite value, or for what a
/// device shows.
fn outside(program: &Program, exploration: Exploration, devices: u64, seed: u64, count: &mut Count) -> Option<String> {
    let profile = exploration.profile;
    let definite = definite(program, profile);
    let expected = observe(exploration, &definite, |sets| over(program, sets)).expected;
    count.lanes += definite.len() as u64;
    for (lane, expected) in definite.iter().zip(&expected) {
        let decided = lane.trust.is_decided(profile);
        count.decided += decided as u64;
        match expected.set().filter(|_| !decided) {
            Some(set) => {
                count.by_sets += 1;
                count.widths.push(set.width_in_floats());
            }
            None => continue,
        }
    }
    let places = || {
        let operations = program.nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, Kind::Apply(_)));
        operations.flat_map(|(index, node)| (0..node.lanes.len()).map(move |lane| (index, lane)))
    };
    let refused = |(index, lane): (usize, usize), expected: &Expected, bits: u32| {
        let bits = if matches!(program.nodes[index].shape, Shape::Bool(_)) { number(bits != 0).to_bits() } else { bits };
        (expected.admits(bits) == Some(false)).then(|| {
            let value = f32::from_bits(bits);
            format!("{profile}: lane {lane} of node {index} is {value:?} ({bits:#010x}), not {expected:?}\n{}", text(program, index))
        })
    };
    for ((place, expected), lane) in places().zip(&expected).zip(&definite) {
        let open = !lane.trust.is_decided(profile);
        let found = refused(place, expected, program.nodes[place.0].lanes[place.1].bits);
        if let Some(found) = found.filter(|_| open) {
            return Some(format!("the definite value: {found}"));
        }
    }
    for device in 0..devices {
        let run = Device::run_decorated(program, profile, seed ^ device << 48);
        let shown = places().zip(&expected);
        if let Some(found) = shown.into_iter().find_map(|(place, expected)| refused(place, expected, run.values[place.0][place.1])) {
            return Some(found);
        }
    }
    None
}

/// Draws programs until one is contradicted; `polynomial` ones are mostly of + - ·.
fn search(exploration: Exploration, polynomial: bool, programs: u64, devices: u64, seed: u64) -> (Option<(u64, String)>, Count) {
    let mut random = Random(seed);
    let mut count = Count::default();
    for i in 0..programs {
        let length = 1 + random.below(9);
        let program = match polynomial {
            true => Program::generate_polynomial(&mut random, length),
            false => Program::generate(&mut random, length, &Arithmetic::default()),
        };
        let device_seed = random.next();
        if let Some(found) = outside(&program, exploration, devices, device_seed, &mut count) {
            return (Some((i, found)), count);
        }
    }
    (None, count)
}

/// What the count says in a line; and the part of the lanes that are not decided by themselves and
/// have a bound.
fn report(what: &str, count: &mut Count) -> f64 {
    count.widths.sort_unstable();
    let median = count.widths.get(count.widths.len() / 2).copied().unwrap_or(0);
    let (lanes, decided, by_sets) = (count.lanes, count.decided, count.by_sets);
    let open = lanes - decided;
    let part = by_sets as f64 / open as f64;
    println!(
        "{what}: {lanes} lanes, {decided} decided, {by_sets} of the other {open} by sets ({:.1} %), median width {median} floats",
        part * 100.0
    );
    part
}

#[test]
fn no_legal_device_is_outside_the_sets() {
    let mut failures = Vec::new();
    for (profile, polynomial, least) in [
        (Profile::Wgsl, true, 0.4),
        (Profile::VulkanDefault, true, 0.4),
        (Profile::Strict, true, 0.4),
        (Profile::Wgsl, false, 0.1),
        (Profile::VulkanDefault, false, 0.1),
        (Profile::Strict, false, 0.1),
    ] {
        let (found, mut count) = search(Exploration::under(profile), polynomial, 20_000, 3, 11);
        failures.extend(found.map(|(i, found)| format!("program {i}: {found}")));
        let part = report(&format!("{profile}, {}", if polynomial { "polynomials" } else { "all operations" }), &mut count);
        if part < least {
            failures.push(format!("{profile}: too little is bounded to mean much: {part}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The polynomials of an instruction, with something forgotten of those of its first
/// operand and of theirs.
fn forgetful(
    instruction: Instruction,
    args: &[(&[Polynomial], usize)],
    forget: fn(Op, &Polynomial, &mut Polynomial),
) -> Option<Polynomials> {
    let mut results = polynomials(instruction, args)?;
    if let Some(op @ (Op::Add | Op::Sub | Op::Mul)) = Op::of(instruction) {
        results.iter_mut().zip(args[0].0).for_each(|(result, first)| forget(op, first, result));
    }
    Some(results)
}

/// The same set around the value, so many times as wide.
fn scaled(polynomial: &Polynomial, by: f64) -> Set {
    let Some(error) = polynomial.error().filter(|&error| error > 0.0) else { return polynomial.set() };
    let (low, high) = (polynomial.value - by * error, polynomial.value + by * error);
    let set = Set::of(Span::between((low as f32).into(), (high as f32).into()));
    if low <= 0.0 && high >= 0.0 { set.union(Set::ZERO) } else { set }
}

/// Bounds that claim too much.
fn planted() -> Vec<(&'static str, Rules)> {
    let right = Rules::default();
    vec![
        ("u is 2^-24: every rounding is to nearest", Rules { bound: |p| scaled(p, 0.5), ..right }),
        ("u is 2^-25", Rules { bound: |p| scaled(p, 0.25), ..right }),
        (
            "the value's magnitude instead of the monomials'",
            Rules { bound: |p| Polynomial { magnitude: p.value.abs(), ..*p }.set(), ..right },
        ),
        (
            "nothing is flushed",
            Rules { bound: |p| if p.set().is_any() { Set::ANY } else { Polynomial { high: 0.0, ..*p }.set() }, ..right },
        ),
        (
            "what is flushed is not multiplied after",
            Rules { bound: |p| if p.set().is_any() { Set::ANY } else { Polynomial { high: 1.0, ..*p }.set() }, ..right },
        ),
        ("nothing overflows before the end", Rules { bound: |p| Polynomial { high: p.value.abs().max(1.0), ..*p }.set(), ..right }),
        (
            "terms are not multiplied",
            Rules {
                polynomials: |i, args| {
                    forgetful(i, args, |op, first, result| {
                        if op == Op::Mul {
                            result.terms = first.terms;
                        }
                    })
                },
                ..right
            },
        ),
        (
            "terms are not added",
            Rules {
                polynomials: |i, args| {
                    forgetful(i, args, |op, first, result| {
                        if op != Op::Mul {
                            result.terms = first.terms;
                        }
                    })
                },
                ..right
            },
        ),
        (
            "degrees are not added",
            Rules {
                polynomials: |i, args| {
                    forgetful(i, args, |op, first, result| {
                        if op == Op::Mul {
                            result.degree = first.degree;
                        }
                    })
                },
                ..right
            },
        ),
        ("a result is the exact one, rounded", Rules { bound: |p| Set::point((p.value as f32).into()), ..right }),
    ]
}

/// What a rule of one instruction gives for the sets of its operands, as if nothing of them could
/// be drawn into it.
fn alone(profile: Profile, instruction: Instruction, operands: &[Passed]) -> Option<Passed> {
    let operands: Vec<[Operand; 1]> = operands.iter().map(|operand| [Operand { set: operand.set, id: None }]).collect();
    let args: Vec<(&[Operand], usize)> = operands.iter().map(|operand| (&operand[..], 1)).collect();
    let set = *allowed_alone(profile, instruction, &args)?.first()?;
    set.is_bounded().then_some(Passed { set, polynomial: None })
}

/// Rules of choices and quotients that claim too much.
fn planted_in_passing() -> Vec<(&'static str, Rules)> {
    let right = Rules::default();
    fn of(op: Op, instruction: Instruction) -> bool {
        Op::of(instruction) == Some(op)
    }
    vec![
        (
            "a quotient is of its operands' sets only",
            Rules {
                passed: |p, i, operands, bound| if of(Op::Div, i) { alone(p, i, operands) } else { passed(p, i, operands, bound) },
                ..right
            },
        ),
        (
            "the least of two is chosen by what is shown",
            Rules {
                passed: |p, i, operands, bound| if of(Op::Min, i) { alone(p, i, operands) } else { passed(p, i, operands, bound) },
                ..right
            },
        ),
        (
            "the first of two is the greatest",
            Rules {
                passed: |p, i, operands, bound| if of(Op::Max, i) { Some(operands[0]) } else { passed(p, i, operands, bound) },
                ..right
            },
        ),
        (
            "what is clamped is within its bounds",
            Rules {
                passed: |p, i, operands, bound| if of(Op::Clamp, i) { Some(operands[0]) } else { passed(p, i, operands, bound) },
                ..right
            },
        ),
        (
            "magnitudes keep the sign",
            Rules {
                passed: |p, i, operands, bound| if of(Op::Abs, i) { Some(operands[0]) } else { passed(p, i, operands, bound) },
                ..right
            },
        ),
        (
            "whole numbers are below",
            Rules {
                passed: |p, i, operands, bound| {
                    let floor = Op::Floor.instruction();
                    let whole = [Op::Ceil, Op::Trunc, Op::Round, Op::RoundEven].iter().any(|&op| of(op, i));
                    passed(p, if whole { floor } else { i }, operands, bound)
                },
                ..right
            },
        ),
    ]
}

#[test]
fn choices_and_quotients_that_claim_too_much_are_caught() {
    let mut survivors = Vec::new();
    for (name, rules) in planted_in_passing() {
        let exploration = Exploration { rules, ..Exploration::under(Profile::Wgsl) };
        match search(exploration, false, 60_000, 4, 13) {
            (Some((i, _)), _) => println!("{name}: caught by program {i}"),
            (None, _) => survivors.push(name),
        }
    }
    assert!(survivors.is_empty(), "not caught: {survivors:#?}");
}

#[test]
fn bounds_that_claim_too_much_are_caught() {
    let mut survivors = Vec::new();
    for (name, rules) in planted() {
        let exploration = Exploration { rules, ..Exploration::under(Profile::Wgsl) };
        match search(exploration, true, 30_000, 4, 12) {
            (Some((i, found)), _) if !found.starts_with("the definite") => println!("{name}: caught by program {i}"),
            (Some((i, _)), _) => println!("{name}: caught by the definite value of program {i}"),
            (None, _) => survivors.push(name),
        }
    }
    assert!(survivors.is_empty(), "not caught: {survivors:#?}");
}

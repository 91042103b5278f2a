//! Programs over sets. The results of simulated devices are in the sets, and bounds that claim too
//! much are caught.

use super::device::Device;
use super::program::{Kind, Program, Random, Shape};
use super::text;
use smallstep_semantics::number::sets::{
    Budget, ComponentBound, Exploration, MovableTerms, Operand, Polynomial, Polynomials, Rules, Set, Sets, Side, Span, Truth, Unsettled,
    allowed_alone, compared_moved, explore, observe, passed, polynomials,
};
use smallstep_semantics::number::{Arithmetic, Expected, Instruction, Lane, Lanes, Op, Profile, Tuple, Why};

/// The number of lanes of operations, of lanes that are decided by themselves, and of other lanes
/// that have a set. Also the widths of these sets, in floats.
#[derive(Default, Debug)]
struct Count {
    lanes: u64,
    decided: u64,
    by_sets: u64,
    widths: Vec<u32>,
}

/// A Boolean as the float 0 or 1, since sets of floats are observed.
fn number(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}

/// The lanes of all operations, in order, with Booleans as numbers.
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

/// The same lanes, from a run over sets.
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

/// A Boolean as a number whose set has 0 if it may be false and 1 if it may be true.
fn observed(sets: &mut Sets, lane: Lane) -> Result<Lane, Unsettled> {
    if lane.trust.is_decided(sets.profile()) {
        return Ok(Lane::exact(number(lane.is_true())));
    }
    let truth = sets.truth(lane);
    let zero = if truth.may_fail { Set::ZERO } else { Set::NONE };
    let set = if truth.may_hold { zero.with(Span::point(1.0)) } else { zero };
    sets.any_of(number(lane.is_true()), set, Why::Control)
}

/// Describes the first lane whose set excludes the definite value or the value of a device.
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

/// Draws programs until a device contradicts one. Programs are mostly of + - · if `polynomial`.
fn search(exploration: Exploration, polynomial: bool, programs: u64, devices: u64, seed: u64) -> (Option<(u64, String)>, Count) {
    let generate = |random: &mut Random, length| match polynomial {
        true => Program::generate_polynomial(random, length),
        false => Program::generate(random, length, &Arithmetic::default()),
    };
    search_of(exploration, (9, generate), programs, devices, seed)
}

/// The same for programs of up to `longest` operations, from another generator.
fn search_of(
    exploration: Exploration,
    (longest, generate): (usize, impl Fn(&mut Random, usize) -> Program),
    programs: u64,
    devices: u64,
    seed: u64,
) -> (Option<(u64, String)>, Count) {
    let mut random = Random(seed);
    let mut count = Count::default();
    for i in 0..programs {
        let length = 1 + random.below(longest);
        let program = generate(&mut random, length);
        let device_seed = random.next();
        if let Some(found) = outside(&program, exploration, devices, device_seed, &mut count) {
            return (Some((i, found)), count);
        }
    }
    (None, count)
}

/// Prints the counts in a line. Returns the fraction of lanes with a set among the lanes that are
/// not decided by themselves.
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

/// The polynomials of an instruction. For + - and ·, `forget` then drops something from each
/// result, in view of the polynomial of the first operand.
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

/// The set of a polynomial around its value, with `by` times the error.
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
        (
            "a sum that is a factor is exact",
            Rules {
                polynomials: |i, args| {
                    let exact = |p: &Polynomial| Polynomial { spread: 0.0, magnitude: p.value.abs(), terms: 1, ..*p };
                    let operands: Vec<(Vec<Polynomial>, usize)> = args.iter().map(|(of, n)| (of.iter().map(exact).collect(), *n)).collect();
                    let exact: Vec<(&[Polynomial], usize)> = operands.iter().map(|(of, n)| (&of[..], *n)).collect();
                    polynomials(i, if Op::of(i) == Some(Op::Mul) { &exact } else { args })
                },
                ..right
            },
        ),
        ("what leaves leave open is no error", Rules { bound: |p| Polynomial { spread: 0.0, ..*p }.set(), ..right }),
        ("a result is the exact one, rounded", Rules { bound: |p| Set::point((p.value as f32).into()), ..right }),
    ]
}

/// The bound from an instruction's own rule and the sets of its operands, as if no operand could
/// become a part of its formula.
fn alone(profile: Profile, instruction: Instruction, operands: &[ComponentBound]) -> Option<ComponentBound> {
    let operands: Vec<[Operand; 1]> = operands.iter().map(|operand| [Operand { set: operand.set, id: None }]).collect();
    let args: Vec<(&[Operand], usize)> = operands.iter().map(|operand| (&operand[..], 1)).collect();
    let set = *allowed_alone(profile, instruction, &args)?.first()?;
    let polynomial = Polynomial::within(&set);
    set.is_bounded().then_some(ComponentBound { set, polynomial, moved: Some(MovableTerms::NOTHING) })
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
        let found = match search(exploration, false, 60_000, 4, 13) {
            (None, _) => search_of(exploration, (9, Program::generate_compared), 300_000, 4, 13),
            found => found,
        };
        match found {
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

#[test]
fn comparisons_of_what_is_bounded_hold_what_devices_answer() {
    for profile in [Profile::VulkanDefault, Profile::Wgsl] {
        let (found, mut count) = search_of(Exploration::under(profile), (3, Program::generate_compared), 60_000, 4, 17);
        assert_eq!(found.map(|(i, found)| format!("program {i}: {found}")), None);
        report(&format!("{profile}, comparisons"), &mut count);
    }
}

/// Rules of comparisons that claim too much.
#[test]
fn comparisons_that_claim_too_much_are_caught() {
    let right = Rules::default();
    let planted: Vec<(&str, Rules)> = vec![
        (
            "no term moves",
            Rules {
                compared_moved: |i, x, y| {
                    let alone = |side: &Side| Side { moved: MovableTerms::NOTHING, ..*side };
                    compared_moved(i, &alone(x), &alone(y))
                },
                ..right
            },
        ),
        ("a remainder is a value by itself", Rules { moved: |_, _, _, _| Some(MovableTerms::NOTHING), ..right }),
        ("the other side is the first", Rules { compared_moved: |i, x, _| compared_moved(i, x, x), ..right }),
        (
            "sets are half as wide",
            Rules {
                compared_moved: |i, x, y| {
                    let half = |side: &Side| {
                        let hull = side.set.hull().expect("bounded");
                        let quarter = (hull.high - hull.low) / 4.0;
                        Side { set: Set::of(Span { low: hull.low + quarter, high: hull.high - quarter }), ..*side }
                    };
                    compared_moved(i, &half(x), &half(y))
                },
                ..right
            },
        ),
        (
            "a divisor multiplies nothing",
            Rules {
                compared_moved: |i, x, y| {
                    let undivided = |side: &Side| match side.moved {
                        MovableTerms::Terms { divisor: Some(_), .. } => Side { moved: MovableTerms::NOTHING, ..*side },
                        _ => *side,
                    };
                    compared_moved(i, &undivided(x), &undivided(y))
                },
                ..right
            },
        ),
    ];
    let mut survivors = Vec::new();
    for (name, rules) in planted {
        let exploration = Exploration { rules, ..Exploration::under(Profile::VulkanDefault) };
        match search_of(exploration, (3, Program::generate_compared), 200_000, 4, 18) {
            (Some((i, _)), _) => println!("{name}: caught by program {i}"),
            (None, _) => survivors.push(name),
        }
    }
    assert!(survivors.is_empty(), "not caught: {survivors:#?}");
}

/// The truths of the six comparisons, as they stand below, between the result of an operation on
/// constants and another constant.
fn truths(profile: Profile, op: Op, args: &[&[f32]], constant: f32) -> [Truth; 6] {
    let exact = |x: &f32| Lane::exact(*x);
    let operands: Vec<Lanes> = args.iter().map(|arg| arg.iter().map(exact).collect()).collect();
    let tuples: Vec<Tuple<'_>> = operands.iter().map(|lanes| Tuple::vector(lanes)).collect();
    let explored = explore(profile, Budget::default(), |sets| {
        let value = sets.apply(&Arithmetic::default(), op, &tuples)?;
        let constant: Lanes = value.iter().map(|_| Lane::exact(constant)).collect();
        let comparisons = [Op::LessThan, Op::LessThanEqual, Op::GreaterThan, Op::GreaterThanEqual, Op::Equal, Op::NotEqual];
        let mut truths = [Truth::BOTH; 6];
        for (truth, op) in truths.iter_mut().zip(comparisons) {
            let holds = sets.apply(&Arithmetic::default(), op, &[Tuple::vector(&value), Tuple::vector(&constant)])?;
            *truth = sets.truth(holds[0]);
        }
        Ok(truths)
    });
    explored.ways[0]
}

/// A constant outside the set of an operation's results decides every comparison. A constant inside
/// decides none.
#[test]
fn a_constant_outside_decides_and_one_inside_does_not() {
    let close = |x: f32, factor: f64| (f64::from(x) * factor) as f32;
    let cases: &[(Op, &[&[f32]], f32)] = &[
        (Op::Div, &[&[2.5], &[1.5]], 1.666_666_7),
        (Op::Div, &[&[-1.0], &[3.0]], -0.333_333_34),
        (Op::Sqrt, &[&[2.0]], std::f32::consts::SQRT_2),
        (Op::InverseSqrt, &[&[2.0]], std::f32::consts::FRAC_1_SQRT_2),
        (Op::Exp2, &[&[0.5]], std::f32::consts::SQRT_2),
        (Op::Exp, &[&[1.0]], std::f32::consts::E),
        (Op::Log2, &[&[10.0]], std::f32::consts::LOG2_10),
        (Op::Log, &[&[10.0]], std::f32::consts::LN_10),
        (Op::Sin, &[&[1.0]], 0.841_471),
        (Op::Pow, &[&[2.0], &[0.5]], std::f32::consts::SQRT_2),
        (Op::Mod, &[&[7.3], &[0.7]], 0.300_000_3),
        (Op::Length, &[&[3.0, 4.0]], 5.0),
        (Op::Length, &[&[1.0, 2.0, 2.0, 4.0]], 5.0),
        (Op::Distance, &[&[1.0, 1.0], &[4.0, 5.0]], 5.0),
        (Op::Normalize, &[&[3.0, 4.0]], 0.6),
        (Op::Sinh, &[&[1.0]], 1.175_201_2),
        (Op::SmoothStep, &[&[0.0], &[1.0], &[0.3]], 0.216),
    ];
    let [yes, no] = [true, false].map(Truth::from);
    for profile in [Profile::Strict, Profile::VulkanDefault, Profile::Wgsl] {
        for &(op, args, value) in cases {
            let wide = if op == Op::Sin { 1e-2 } else { 1e-4 };
            let magnitude = value.abs();
            let (less, more) = (close(magnitude, 1.0 - wide), close(magnitude, 1.0 + wide));
            let (below, above) = if value < 0.0 { (-more, -less) } else { (less, more) };
            let what = format!("{profile}: {op:?} of {args:?}");
            assert_eq!(truths(profile, op, args, below), [no, no, yes, yes, no, yes], "{what} and {below}");
            assert_eq!(truths(profile, op, args, above), [yes, yes, no, no, no, yes], "{what} and {above}");
            assert_eq!(truths(profile, op, args, value), [Truth::BOTH; 6], "{what} and {value}");
        }
    }
}

/// The same for a matrix: for its determinant 2·4 - 1·3, and for a component of its inverse, the
/// first cofactor over the determinant.
#[test]
fn comparisons_of_determinants_and_inverses() {
    let m: Lanes = [2.0, 1.0, 3.0, 4.0].iter().map(|&x| Lane::exact(x)).collect();
    let truths = |op: Op, constant: f32| {
        let explored = explore(Profile::VulkanDefault, Budget::default(), |sets| {
            let value = sets.apply(&Arithmetic::default(), op, &[Tuple::matrix(&m, 2)])?;
            let constant = Lanes::from_slice(&[Lane::exact(constant)]);
            let holds = sets.apply(&Arithmetic::default(), Op::LessThan, &[Tuple::vector(&value[..1]), Tuple::vector(&constant)])?;
            Ok(sets.truth(holds[0]))
        });
        explored.ways[0]
    };
    for (op, [below, within, above]) in [(Op::Determinant, [4.999, 5.0, 5.001]), (Op::MatrixInverse, [0.7999, 0.8, 0.8001])] {
        assert_eq!(
            [truths(op, below), truths(op, within), truths(op, above)],
            [Truth::from(false), Truth::BOTH, Truth::from(true)],
            "{op:?}"
        );
    }
}

/// The ends of the set of a result belong to the set. `result < x` is open from just above the low
/// end, and certain from just above the high end.
#[test]
fn the_ends_of_a_set_are_inside() {
    for (op, args) in [(Op::Div, [[2.5].as_slice(), &[1.5]].as_slice()), (Op::Sqrt, &[&[2.0]]), (Op::Exp2, &[&[0.3]])] {
        let instruction = op.instruction();
        let point = |x: &f32| Operand { set: Set::point((*x).into()), id: None };
        let operands: Vec<Vec<Operand>> = args.iter().map(|arg| arg.iter().map(point).collect()).collect();
        let tuples: Vec<(&[Operand], usize)> = operands.iter().map(|arg| (&arg[..], 1)).collect();
        let hull = allowed_alone(Profile::VulkanDefault, instruction, &tuples).expect("a rule")[0].hull().expect("bounded");
        let (low, high) = (hull.low as f32, hull.high as f32);
        let less = |constant: f32| truths(Profile::VulkanDefault, op, args, constant)[0];
        assert_eq!([less(low), less(high)], [Truth::from(false), Truth::BOTH], "{op:?}");
        assert_eq!([less(low.next_up()), less(high.next_up())], [Truth::BOTH, Truth::from(true)], "{op:?}");
    }
}

/// FMin, FMax, FClamp, Step, FNegate and Floor of a root, which is no polynomial. Comparisons
/// decide them: 1.41… is neither less than 1 nor a whole number.
#[test]
fn choices_between_roots_and_constants_are_decided() {
    let two = Lanes::from_slice(&[Lane::exact(2.0)]);
    let constants = [1.0, 1.5, std::f32::consts::SQRT_2].map(|x| Lanes::from_slice(&[Lane::exact(x)]));
    for profile in [Profile::VulkanDefault, Profile::Wgsl, Profile::Strict] {
        let explored = explore(profile, Budget::default(), |sets| {
            let mut apply = |op: Op, args: &[&Lanes]| {
                let tuples: Vec<Tuple<'_>> = args.iter().map(|lanes| Tuple::vector(lanes)).collect();
                sets.apply(&Arithmetic::default(), op, &tuples)
            };
            let [low, high, inside] = &constants;
            let root = apply(Op::Sqrt, &[&two])?;
            let results = [
                apply(Op::Min, &[&root, low])?,
                apply(Op::Max, &[&root, low])?,
                apply(Op::Clamp, &[&root, low, high])?,
                apply(Op::Step, &[&root, low])?,
                apply(Op::Step, &[low, &root])?,
                apply(Op::Floor, &[&root])?,
                apply(Op::Step, &[inside, &root])?,
            ];
            Ok((sets.operand(root[0]).set, results.map(|lanes| sets.operand(lanes[0]).set)))
        });
        let (root, sets) = explored.ways[0];
        let one = Set::point(1.0);
        let decided = sets[..6].to_vec();
        assert_eq!(decided, [one, root, root, Set::ZERO, one, one], "{profile}");
        assert!(sets[6].contains(0.0) && sets[6].contains(1.0), "{profile}: {}", sets[6]);
    }
}

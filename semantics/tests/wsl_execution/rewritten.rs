//! Floats under profiles that let a device rewrite several operations together. Simulated
//! devices evaluate an expression in any allowed way. Their results are among those that the
//! relation allows.

use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::open::Possible;

use crate::random::Random;

#[derive(Clone, Debug)]
enum Expr {
    Number(f32),
    Of(&'static str, Vec<Expr>),
}

use Expr::{Number, Of};

fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len())]
}

fn generate(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 || random.below(8) == 0 {
        let number = one_of(random, &[0.0, 0.1, 0.59375, 0.7, 1.0, 1.5, 2.0, 2.9, 3.0, 100.25, 0.001]);
        return Number(if random.below(3) == 0 { -number } else { number });
    }
    let (name, operands) = one_of(
        random,
        &[
            ("+", 2),
            ("+", 2),
            ("-", 2),
            ("-", 2),
            ("*", 2),
            ("*", 2),
            ("/", 2),
            ("negate", 1),
            ("abs", 1),
            ("min", 2),
            ("max", 2),
            ("saturate", 1),
            ("lerp", 3),
            ("mad", 3),
        ],
    );
    Of(name, (0..operands).map(|_| generate(random, depth - 1)).collect())
}

/// The expression as WSL text.
fn written(expr: &Expr) -> String {
    match expr {
        Number(x) if x.is_sign_negative() => format!("(-{:?})", x.abs()),
        Number(x) => format!("{x:?}"),
        Of(name, of) => {
            let of: Vec<String> = of.iter().map(written).collect();
            match *name {
                "negate" => format!("(-({}))", of[0]),
                "+" | "-" | "*" | "/" => format!("({} {name} {})", of[0], of[1]),
                _ => format!("{name}({})", of.join(", ")),
            }
        }
    }
}

/// The expression with its root written in another way.
fn rewritten(random: &mut Random, expr: Expr) -> Expr {
    let of = |name, operands: Vec<Expr>| Of(name, operands);
    let Of(name, operands) = &expr else { return expr };
    match (*name, &operands[..], random.below(3)) {
        ("lerp", [x, y, z], _) => {
            of("+", vec![of("*", vec![x.clone(), of("-", vec![Number(1.0), z.clone()])]), of("*", vec![y.clone(), z.clone()])])
        }
        ("mad", [x, y, z], _) => of("+", vec![of("*", vec![x.clone(), y.clone()]), z.clone()]),
        (sum @ ("+" | "-"), [Of("+", ab), c], 0) => of("+", vec![ab[0].clone(), of(sum, vec![ab[1].clone(), c.clone()])]),
        ("+", [a, Of("-", bc)], 0) => of("-", vec![of("+", vec![a.clone(), bc[0].clone()]), bc[1].clone()]),
        ("-", [Of("-", ab), c], 0) => of("-", vec![ab[0].clone(), of("+", vec![ab[1].clone(), c.clone()])]),
        ("*", [a, Of(sum @ ("+" | "-"), bc)], 0 | 1) => {
            of(sum, vec![of("*", vec![a.clone(), bc[0].clone()]), of("*", vec![a.clone(), bc[1].clone()])])
        }
        ("*", [Of(sum @ ("+" | "-"), ab), c], 0 | 1) => {
            of(sum, vec![of("*", vec![ab[0].clone(), c.clone()]), of("*", vec![ab[1].clone(), c.clone()])])
        }
        ("*", [Of("*", ab), c], 0) => of("*", vec![ab[0].clone(), of("*", vec![ab[1].clone(), c.clone()])]),
        ("*", [Number(2.0), x], 0) => of("+", vec![x.clone(), x.clone()]),
        ("-", [Of("-", ab), Number(c)], 1) => of("+", vec![of("-", ab.clone()), Number(-c)]),
        ("negate", [Of("-", ab)], 0) => of("-", vec![ab[1].clone(), ab[0].clone()]),
        _ => expr,
    }
}

/// A 64-bit result, rounded to either neighbour.
fn rounded(random: &mut Random, x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || random.below(2) == 0 || !near.is_finite() {
        return near;
    }
    if f64::from(near) < x { near.next_up() } else { near.next_down() }
}

/// The result of a device that rewrites as it likes.
fn computed(random: &mut Random, expr: &Expr) -> f32 {
    let expr = &rewritten(random, expr.clone());
    let Of(name, of) = expr else {
        let Number(x) = expr else { return 0.0 };
        return *x;
    };
    // A product may be added without a rounding in between.
    if let ("+" | "-", [Of("*", ab), c]) = (*name, &of[..])
        && random.below(2) == 0
    {
        let [a, b, c] = [&ab[0], &ab[1], c].map(|x| f64::from(computed(random, x)));
        return rounded(random, a * b + if *name == "+" { c } else { -c });
    }
    let operands: Vec<f64> = of.iter().map(|x| f64::from(computed(random, x))).collect();
    match (*name, &operands[..]) {
        ("+", [a, b]) => rounded(random, a + b),
        ("-", [a, b]) => rounded(random, a - b),
        ("*", [a, b]) => rounded(random, a * b),
        ("/", [a, b]) => match random.below(2) {
            0 => rounded(random, a / b),
            _ => {
                let reciprocal = rounded(random, 1.0 / b);
                rounded(random, a * f64::from(reciprocal))
            }
        },
        ("negate", [a]) => -a as f32,
        ("abs", [a]) => a.abs() as f32,
        ("min", [a, b]) => a.min(*b) as f32,
        ("max", [a, b]) => a.max(*b) as f32,
        ("saturate", [a]) => a.clamp(0.0, 1.0) as f32,
        _ => panic!("{name} of {operands:?}"),
    }
}

/// The values that the relation allows for the expression.
fn allowed(ty: &str, expression: &str, profile: Profile) -> Possible {
    let program = format!("{ty} f() {{ return {expression}; }}");
    let prepared = prepare(&program, "f()").unwrap_or_else(|wrong| panic!("{:?}\n{program}", wrong.errors));
    match prepared.evaluate(&Settings { precision: Some(profile), ..Settings::default() }, &mut |_, _| {}) {
        Outcome::Observed(shown) => shown.words[0].clone(),
        other => panic!("{program}: {other:?}"),
    }
}

#[test]
fn every_evaluation_is_within_the_set() {
    let mut random = Random(40);
    let (mut bounded, mut definite, mut others, mut inside) = (0, 0, 0, 0);
    for number in 0..4_000 {
        let profile = if number % 2 == 0 { Profile::Wgsl } else { Profile::VulkanDefault };
        let expr = generate(&mut random, 1 + number % 4);
        let text = written(&expr);
        let set = allowed("float", &text, profile).floats();
        if !set.is_bounded() {
            continue;
        }
        bounded += 1;
        definite += u32::from(set.only().is_some());
        let first = computed(&mut Random(1), &expr);
        for _ in 0..40 {
            let found = computed(&mut random, &expr);
            assert!(set.contains(found.into()), "{text} under {profile} is {found:?} on a device, and within {set}");
            inside += 1;
            others += u32::from(found != first);
        }
    }
    // The comparison is not trivial: devices have several results, and the sets do not
    // allow everything.
    assert!(bounded > 2_500 && definite > 300 && others > 20_000 && others < inside, "{bounded}, {definite}, {others} of {inside}");
}

#[test]
fn a_comparison_that_is_decided_comes_out_so_on_every_device() {
    let mut random = Random(41);
    let (mut decided, mut open) = (0, 0);
    for number in 0..2_000 {
        let (a, b) = (generate(&mut random, 1 + number % 4), generate(&mut random, 1 + number % 3));
        let text = format!("{} < {}", written(&a), written(&b));
        match allowed("bool", &text, Profile::Wgsl).only() {
            None => open += 1,
            Some(truth) => {
                decided += 1;
                for _ in 0..10 {
                    let found = computed(&mut random, &a) < computed(&mut random, &b);
                    assert_eq!(found, truth != 0, "{text} on a device");
                }
            }
        }
    }
    assert!(decided > 1_000 && open > 50, "{decided} decided, {open} open");
}

#[test]
fn short_numbers_are_exact_however_they_are_computed() {
    for (expression, expected) in [
        ("-1.5 * 0.59375 + 2.0 * 0.3125 - 1.0 * 0.171875", Some(-0.4375f32)),
        ("0.5 + abs(-0.5)", Some(1.0)),
        ("1.0 + 0.25 * abs(-1.5)", Some(1.375)),
        ("0.1 * 0.3", None),
    ] {
        let found = allowed("float", expression, Profile::Wgsl);
        assert_eq!(found.only().map(f32::from_bits), expected, "{expression}: {found:?}");
    }
    // A zero may have either sign.
    let zero = allowed("float", "0.0 * 0.59375", Profile::Wgsl).floats();
    assert!(zero.contains(0.0) && zero.contains(-0.0) && zero.hull().is_some_and(|hull| hull.low == 0.0 && hull.high == 0.0), "{zero}");
}

#[test]
fn one_expression_may_come_out_in_two_ways() {
    let twice = "0.1 * 0.3 + 0.7 == 0.1 * 0.3 + 0.7";
    assert_eq!(allowed("bool", twice, Profile::Wgsl).only(), None);
    let kept = "float f() { float x = 0.1 * 0.3 + 0.7; return x == x ? 1.0 : 2.0; }";
    let prepared = prepare(kept, "f()").unwrap_or_else(|wrong| panic!("{:?}", wrong.errors));
    let Outcome::Observed(shown) = prepared.evaluate(&Settings { precision: Some(Profile::Wgsl), ..Settings::default() }, &mut |_, _| {})
    else {
        panic!("it ends")
    };
    assert_eq!(shown.words[0].only(), None, "either value is evaluated again");
}

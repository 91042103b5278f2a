//! The tight enclosures, compared with a second library of many digits that shares no code with the
//! first. Also identities within the first library.

use super::inputs::{Random, corner_operands};
use super::soundness::over_functions;
use astro_float::{BigFloat, Consts, RoundingMode};
use dashu_float::round::mode::HalfEven;
use dashu_float::{Context, FBig};
use smallstep_semantics::number::reference::{Enclosure, Exact, enclose_tightly};

/// The precision in bits: `P` for functions, and `WIDE` for sums and products, which 32-bit floats
/// never exhaust.
const P: usize = 320;
const WIDE: usize = 1600;
const RM: RoundingMode = RoundingMode::ToEven;

/// The exact number of a float. A subnormal is scaled from a normal one, since `BigFloat::from_f64`
/// only reads normal numbers correctly.
pub fn big(x: f64) -> BigFloat {
    if x != 0.0 && x.abs() < f64::MIN_POSITIVE {
        let up = BigFloat::from_f64(x * 2f64.powi(600), 64);
        return up.mul(&BigFloat::from_f64(2f64.powi(-600), 64), 64, RM);
    }
    BigFloat::from_f64(x, 64)
}

fn add(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.add(y, WIDE, RM)
}

fn sub(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.sub(y, WIDE, RM)
}

fn mul(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.mul(y, WIDE, RM)
}

/// The function at finite operands. `None` if this library has no such function.
fn value(name: &str, args: &[f64], c: &mut Consts) -> Option<BigFloat> {
    let bigs: Vec<BigFloat> = args.iter().map(|&x| big(x)).collect();
    let x = &bigs[0];
    let quotient = || x.div(&bigs[1], WIDE, RM);
    Some(match name {
        "FAdd" => add(x, &bigs[1]),
        "FSub" => sub(x, &bigs[1]),
        "FMul" => mul(x, &bigs[1]),
        "FDiv" => quotient(),
        "FRem" => sub(x, &mul(&bigs[1], &quotient().int())),
        "FMod" => sub(x, &mul(&bigs[1], &quotient().floor())),
        "Fract" => sub(x, &x.floor()),
        "Floor" => x.floor(),
        "Ceil" => x.ceil(),
        "Trunc" => x.int(),
        "FMix" => add(&mul(x, &sub(&big(1.0), &bigs[2])), &mul(&bigs[1], &bigs[2])),
        "Fma" => add(&mul(x, &bigs[1]), &bigs[2]),
        "SmoothStep" if args[2] <= args[0] => big(0.0),
        "SmoothStep" if args[2] >= args[1] => big(1.0),
        "SmoothStep" => {
            let t = sub(&bigs[2], x).div(&sub(&bigs[1], x), P, RM);
            mul(&mul(&t, &t), &sub(&big(3.0), &mul(&big(2.0), &t)))
        }
        "Radians" => mul(x, &c.pi(P, RM)).div(&big(180.0), P, RM),
        "Degrees" => mul(x, &big(180.0)).div(&c.pi(P, RM), P, RM),
        "Sin" => x.sin(P, RM, c),
        "Cos" => x.cos(P, RM, c),
        "Tan" => x.tan(P, RM, c),
        "Asin" => x.asin(P, RM, c),
        "Acos" => x.acos(P, RM, c),
        "Atan" => x.atan(P, RM, c),
        "Sinh" => x.sinh(P, RM, c),
        "Cosh" => x.cosh(P, RM, c),
        "Tanh" => x.tanh(P, RM, c),
        "Asinh" => x.asinh(P, RM, c),
        "Acosh" => x.acosh(P, RM, c),
        "Atanh" => x.atanh(P, RM, c),
        "Exp" => x.exp(P, RM, c),
        "Log" => x.ln(P, RM, c),
        "Log2" => x.log2(P, RM, c),
        "Exp2" | "Ldexp" => {
            let power = big(2.0).pow(bigs.last()?, P, RM, c);
            if name == "Exp2" { power } else { mul(x, &power) }
        }
        "Pow" => x.pow(&bigs[1], P, RM, c),
        "Sqrt" => x.sqrt(P, RM),
        "InverseSqrt" => big(1.0).div(&x.sqrt(P, RM), P, RM),
        // (y, x), by half planes.
        "Atan2" => {
            let (y, x) = (args[0], args[1]);
            let half_turn = c.pi(P, RM);
            let half_turn = if y.is_sign_negative() { half_turn.neg() } else { half_turn };
            let angle = |c: &mut Consts| quotient().atan(P, RM, c);
            if x > 0.0 {
                angle(c)
            } else if x < 0.0 {
                angle(c).add(&half_turn, P, RM)
            } else {
                half_turn.div(&big(2.0), P, RM)
            }
        }
        _ => return None,
    })
}

/// Describes what is wrong with an enclosure of a number that is known with a relative error
/// of 2^-200.
pub fn fault(found: Exact, value: &BigFloat) -> Option<String> {
    if value.is_nan() {
        return (found != Exact::Undefined).then(|| format!("{found:?}, but there is none"));
    }
    let Exact::Within(Enclosure { low, high }) = found else { return Some("undefined".to_owned()) };
    if value.is_inf() {
        // A pole, or a number beyond this library's exponents of 32 bits, such as e to the power
        // of 2^127.
        let (end, greatest) = if value.is_inf_pos() { (low, f64::MAX) } else { (-high, f64::MAX) };
        return (end < greatest).then(|| format!("{found:?} does not hold {value}"));
    }
    let error = value.abs().mul(&big(2f64.powi(-200)), P, RM);
    let (least, greatest) = (value.sub(&error, P, RM), value.add(&error, P, RM));
    let holds = big(low).cmp(&greatest).is_some_and(|order| order <= 0) && least.cmp(&big(high)).is_some_and(|order| order <= 0);
    (!holds).then(|| format!("{found:?} does not hold {value}"))
}

#[test]
fn a_second_library_agrees() {
    let faults = over_functions(|&(function, name, arity)| {
        let mut random = Random(77 + arity as u64);
        let mut consts = Consts::new().expect("constants");
        let corners = corner_operands(name, arity);
        let corners = corners.iter().step_by(1 + corners.len() / 1000).cloned();
        let mut compared = 0;
        let fault = corners.chain((0..700).map(|_| random.operands(name, arity))).find_map(|args| {
            let args: Vec<f64> = args.into_iter().map(f64::from).collect();
            let found = enclose_tightly(function, &args)?;
            // Limits are compared by hand. So are operands for which SPIR-V is undefined and this
            // library is not.
            let beyond = match name {
                "Pow" => args[0] <= 0.0,
                "FDiv" | "FRem" | "FMod" => args[1] == 0.0,
                "Atan2" => args[0] == 0.0 && args[1] == 0.0,
                "SmoothStep" => args[0] >= args[1],
                "Atanh" => args[0].abs() == 1.0,
                "Ldexp" => args[1].abs() > 300.0,
                "InverseSqrt" => args[0] == 0.0,
                _ => false,
            };
            if beyond || !args.iter().all(|x| x.is_finite()) {
                return None;
            }
            let value = value(name, &args, &mut consts)?;
            compared += 1;
            Some(format!("{name} {args:?}: {}", fault(found, &value)?))
        });
        let by_hand = ["FNegate", "Round", "RoundEven", "FAbs", "FSign", "FMin", "FMax", "FClamp", "NMin", "NMax", "NClamp", "Step"];
        let few = compared < 500 && !by_hand.contains(&name);
        fault.or_else(|| few.then(|| format!("{name}: compared at {compared} operands")))
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An enclosure that is one float off, to either side, is wrong.
#[test]
fn an_enclosure_beside_the_value_is_found_wrong() {
    let mut consts = Consts::new().expect("constants");
    let e = value("Exp", &[1.0], &mut consts).expect("a value");
    let below = std::f64::consts::E;
    let between = |low: f64, high: f64| Exact::Within(Enclosure { low, high });
    assert!(fault(between(below, below.next_up()), &e).is_none());
    assert!(fault(between(below.next_down(), below), &e).is_some());
    assert!(fault(between(below.next_up(), below.next_up().next_up()), &e).is_some());
    assert!(fault(between(below, below), &e).is_some());
    assert!(fault(Exact::Undefined, &e).is_some());
}

/// With 256 digits, these identities hold up to a relative error of 2^-240: e^log x = x, sin² +
/// cos² = 1, tan·cos = sin, cosh² - sinh² = 1, tanh·cosh = sinh, and the inverses of sin, tan,
/// sinh and tanh.
#[test]
fn identities_hold_in_the_first_library() {
    type Big = FBig<HalfEven, 2>;
    let precise = Context::<HalfEven>::new(256);
    let mut random = Random(256);
    for _ in 0..200 {
        let x = random.below(1 << 24) as f64 / f64::from(1 << 24) + 2f64.powi(-24);
        let x = Big::try_from(x).expect("finite").with_precision(256).value();
        let r = x.repr();
        let [sin, cos, tan, sinh, cosh, tanh] = [
            precise.sin(r, None),
            precise.cos(r, None),
            precise.tan(r, None),
            precise.sinh(r, None),
            precise.cosh(r, None),
            precise.tanh(r, None),
        ]
        .map(|result| result.expect("defined").value());
        let one = Big::ONE.with_precision(256).value();
        let pairs = [
            (x.ln().exp(), x.clone()),
            (&sin * &sin + &cos * &cos, one.clone()),
            (&tan * &cos, sin.clone()),
            (&cosh * &cosh - &sinh * &sinh, one),
            (&tanh * &cosh, sinh.clone()),
            (sin.asin(), x.clone()),
            (cos.acos(), x.clone()),
            (tan.atan(), x.clone()),
            (sinh.asinh(), x.clone()),
            (cosh.acosh(), x.clone()),
            (tanh.atanh(), x.clone()),
        ];
        for (n, (left, right)) in pairs.iter().enumerate() {
            let difference = (left - right).to_f64().value().abs();
            // acos and acosh magnify errors near 1, by 1/x² at most.
            let allowed = 2f64.powi(-240) / x.to_f64().value().powi(2);
            assert!(difference <= allowed, "identity {n} at {x}: {difference:e}");
        }
    }
}

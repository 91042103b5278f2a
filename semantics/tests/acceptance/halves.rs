//! The sets of 16-bit instructions against other means: a table of all halves, the host's 64-bit
//! functions, and simulated devices. Functions of one operand are tried on every half.

use super::inputs::Random;
use super::{PROFILES, inputs, over};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallstep_semantics::number::sets::{Format, Operand, Set, allowed_in};
use smallstep_semantics::number::{Denormals, Half, Instruction, Profile, Real, Rounding};
use std::sync::LazyLock;

const MIN: f64 = 1.0 / 16384.0;
const MAX: f64 = 65504.0;

/// Every finite half in ascending order. Zero is there once.
static HALVES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let positive = || (1..0x7c00).map(|bits| Half::of_bits(bits).wide());
    let mut all: Vec<f64> = positive().map(|x| -x).collect();
    all.reverse();
    all.push(0.0);
    all.extend(positive());
    all
});

/// The greatest finite half that is not above `x`, and with `ceiling` the least one that is not
/// below. `None` beyond the finite halves.
fn floor(x: f64) -> Option<f64> {
    HALVES.partition_point(|&half| half <= x).checked_sub(1).map(|i| HALVES[i])
}

fn ceiling(x: f64) -> Option<f64> {
    HALVES.get(HALVES.partition_point(|&half| half < x)).copied()
}

fn position(half: f64) -> usize {
    HALVES.partition_point(|&other| other < half)
}

/// The least b - a of halves a ≤ x ≤ b, with a < b.
fn ulp(x: f64) -> f64 {
    let at = position(x.abs()).min(HALVES.len() - 1);
    match HALVES[at] == x.abs() {
        true => (HALVES[at] - HALVES[at - 1]).min(HALVES.get(at + 1).map_or(f64::INFINITY, |next| next - HALVES[at])),
        false => HALVES[at] - HALVES[at - 1],
    }
}

/// A function: its instruction, the number of its operands, and its result on the host.
#[derive(Clone, Copy)]
struct Function {
    name: &'static str,
    instruction: Instruction,
    operands: usize,
    exact: fn(&[f64]) -> f64,
}

macro_rules! functions {
    ($($set:ident $name:ident $operands:literal $exact:expr;)*) => {
        const FUNCTIONS: &[Function] = &[
            $(Function { name: stringify!($name), instruction: functions!(@ $set $name), operands: $operands, exact: $exact },)*
        ];
    };
    (@ Core $name:ident) => { Instruction::Core(Core::$name as u16) };
    (@ Glsl $name:ident) => { Instruction::Glsl(Glsl::$name as u32) };
}

functions! {
    Core FNegate 1 |x| -x[0];
    Core FAdd 2 |x| x[0] + x[1];
    Core FSub 2 |x| x[0] - x[1];
    Core FMul 2 |x| x[0] * x[1];
    Core FDiv 2 |x| x[0] / x[1];
    Core FRem 2 |x| x[0] % x[1];
    Core FMod 2 |x| x[0] - x[1] * (x[0] / x[1]).floor();
    Glsl Trunc 1 |x| x[0].trunc();
    Glsl Floor 1 |x| x[0].floor();
    Glsl Ceil 1 |x| x[0].ceil();
    Glsl Fract 1 |x| x[0] - x[0].floor();
    Glsl FAbs 1 |x| x[0].abs();
    Glsl FMin 2 |x| x[0].min(x[1]);
    Glsl FMax 2 |x| x[0].max(x[1]);
    Glsl Radians 1 |x| x[0].to_radians();
    Glsl Degrees 1 |x| x[0].to_degrees();
    Glsl Sin 1 |x| x[0].sin();
    Glsl Cos 1 |x| x[0].cos();
    Glsl Tan 1 |x| x[0].tan();
    Glsl Asin 1 |x| x[0].asin();
    Glsl Acos 1 |x| x[0].acos();
    Glsl Atan 1 |x| x[0].atan();
    Glsl Sinh 1 |x| x[0].sinh();
    Glsl Cosh 1 |x| x[0].cosh();
    Glsl Tanh 1 |x| x[0].tanh();
    Glsl Asinh 1 |x| x[0].asinh();
    Glsl Acosh 1 |x| x[0].acosh();
    Glsl Atanh 1 |x| x[0].atanh();
    Glsl Exp 1 |x| x[0].exp();
    Glsl Exp2 1 |x| x[0].exp2();
    Glsl Log 1 |x| x[0].ln();
    Glsl Log2 1 |x| x[0].log2();
    Glsl Sqrt 1 |x| x[0].sqrt();
    Glsl InverseSqrt 1 |x| 1.0 / x[0].sqrt();
    Glsl Atan2 2 |x| x[0].atan2(x[1]);
    Glsl Pow 2 |x| x[0].powf(x[1]);
    Glsl Fma 3 |x| x[0] * x[1] + x[2];
    Glsl FMix 3 |x| x[0] * (1.0 - x[2]) + x[1] * x[2];
}

/// A function in the place of the rules under test. It gives the set of a result.
type Rule<'a> = &'a (dyn Fn(Profile, &Function, &[f64]) -> Set + Sync);

fn rule(format: Format, profile: Profile, function: &Function, x: &[f64]) -> Set {
    let operands: Vec<Operand> = x.iter().map(|&x| Operand { set: Set::point(x), id: None }).collect();
    let args: Vec<(&[Operand], usize)> = operands.chunks(1).map(|own| (own, 1)).collect();
    allowed_in(format, profile, function.instruction, &args).map_or(Set::ANY, |sets| sets[0])
}

fn halves(profile: Profile, function: &Function, x: &[f64]) -> Set {
    rule(Format::Half, profile, function, x)
}

/// The operands to try: every half for a function of one operand, otherwise random halves, many of
/// one magnitude.
fn operands(function: &Function, seed: u64) -> Vec<Vec<f64>> {
    if function.operands == 1 {
        return HALVES.iter().map(|&x| vec![x]).chain([vec![f64::NAN], vec![f64::INFINITY], vec![-0.0]]).collect();
    }
    let mut random = Random(seed);
    let mut draw = |near: bool| match near {
        true => HALVES[position(1.0 / 64.0) + random.below(12 << 10)] * if random.below(2) == 0 { 1.0 } else { -1.0 },
        false => HALVES[random.below(HALVES.len())],
    };
    let drawn = |i: u64| (0..function.operands).map(|_| draw(!i.is_multiple_of(4))).collect::<Vec<f64>>();
    let mut all: Vec<Vec<f64>> = (0..inputs() * 4).map(drawn).collect();
    if function.name == "Pow" {
        all.iter_mut().for_each(|x| x[0] = x[0].abs());
    }
    all
}

/// The first operands at which the set lacks the correctly rounded result, in words.
fn definite_outside(function: &Function, rule: Rule<'_>, seed: u64) -> Option<String> {
    for (n, x) in operands(function, seed).into_iter().enumerate() {
        let profile = PROFILES[n % PROFILES.len()];
        let exact = (function.exact)(&x);
        let rounded = match profile.controls().rounding {
            Rounding::TowardZero if exact.abs() <= MAX => if exact < 0.0 { ceiling(exact)? } else { floor(exact)? }.copysign(exact),
            _ => Half::of(exact).wide(),
        };
        // If every step of a formula rounds toward zero, its result may differ from the exact
        // result rounded toward zero. A result that must be flushed is not the rounded one.
        let simple = matches!(function.name, "FAdd" | "FSub" | "FMul");
        if profile.controls().rounding == Rounding::TowardZero && !simple
            || rounded.abs() < MIN && profile.controls().denormals == Denormals::Flush
        {
            continue;
        }
        let set = rule(profile, function, &x);
        if !set.contains(rounded) {
            return Some(format!("{} under {profile:?} of {x:?}: {rounded:?} is not in {set}", function.name));
        }
    }
    None
}

/// The exact result and its greatest error. `None` if no error is stated.
fn bound(function: &Function, x: &[f64]) -> Option<(f64, f64)> {
    let exact = (function.exact)(x);
    let ulps = |n: f64| Some((exact, n * ulp(exact)));
    let pi = std::f64::consts::PI;
    match function.name {
        "FDiv" if (MIN..=1.0 / MIN).contains(&x[1].abs()) => ulps(2.5),
        "Exp" | "Exp2" => ulps(1.0 + 2.0 * x[0].abs()),
        "Log" | "Log2" if (0.5..=2.0).contains(&x[0]) => Some((exact, 1.0 / 128.0)),
        "Log" | "Log2" if x[0] > 0.0 => ulps(3.0),
        "InverseSqrt" if x[0] > 0.0 => ulps(2.0),
        "Sin" | "Cos" if x[0].abs() <= pi => Some((exact, 1.0 / 128.0)),
        "Atan" => ulps(5.0),
        "Atan2" if x[0] != 0.0 && x[1] != 0.0 => ulps(5.0),
        _ => None,
    }
}

const STATED: [&str; 10] = ["FDiv", "Exp", "Exp2", "Log", "Log2", "InverseSqrt", "Sin", "Cos", "Atan", "Atan2"];

/// The first operands at which an end of the set is wrong, in words. Ends must be the exact half,
/// unless the host's last digits may matter.
fn end_astray(function: &Function, rule: Rule<'_>, seed: u64) -> Option<String> {
    for x in operands(function, seed) {
        // Flushed operands have bounds of their own.
        if x.iter().any(|x| x.abs() < MIN && *x != 0.0 || !x.is_finite()) {
            continue;
        }
        let set = rule(Profile::Strict, function, &x);
        let fault = |expected: &dyn std::fmt::Display| Some(format!("{} of {x:?}: {set}, expected {expected}", function.name));
        let Some((exact, error)) = bound(function, &x) else {
            let open = function.name == "Atan2" || set.is_any();
            if open { continue } else { return fault(&"any value") }
        };
        let (low, high) = (exact - error, exact + error);
        if low < -MAX || high > MAX {
            if set.is_any() { continue } else { return fault(&"any value, for infinity may come of it") }
        }
        let (Some(mut least), Some(mut most)) = (ceiling(low), floor(high)) else { return fault(&"numbers") };
        if low < MIN && high > -MIN {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        let Some(hull) = set.hull().filter(|_| !set.has_nan()) else { return fault(&"numbers") };
        let is_close = |end: f64, bound: f64| (end - bound).abs() <= 1e-12 * bound.abs().max(MIN);
        let differs = |end: f64, expected: f64, bound: f64| end != expected && !(is_close(end, bound) || is_close(expected, bound));
        if differs(hull.low, least, low) || differs(hull.high, most, high) {
            return fault(&format!("[{least:?}, {most:?}]"));
        }
    }
    None
}

/// A device that takes every liberty in 16 bits, under `strict`.
struct Device<'r>(&'r mut Random);

impl Device<'_> {
    fn flushed(&mut self, x: f64) -> f64 {
        if x.abs() < MIN && self.0.below(2) == 0 { 0.0 } else { x }
    }

    fn rounded(&mut self, x: f64) -> Option<f64> {
        let rounded = Half::of(x).wide();
        let rounded = if x.abs() < MIN { self.flushed(rounded) } else { rounded };
        rounded.is_finite().then_some(rounded)
    }

    /// A half within an error of `x`, often one of the outermost. `None` if the interval exceeds
    /// the finite halves.
    fn near(&mut self, x: f64, error: f64) -> Option<f64> {
        let error = error * (1.0 - 1e-9);
        if !((x - error).abs() <= MAX && (x + error).abs() <= MAX) {
            return None;
        }
        let (low, high) = (position(ceiling(x - error)?), position(floor(x + error)?));
        let at = match self.0.below(4) {
            0 => low,
            1 => high,
            _ => low.min(high) + self.0.below(low.abs_diff(high) + 1),
        };
        Some(self.flushed(HALVES[at]))
    }

    fn stated(&mut self, name: &str, x: &[f64]) -> Option<f64> {
        let function = FUNCTIONS.iter().find(|function| function.name == name)?;
        let x: Vec<f64> = x.iter().map(|&x| self.flushed(x)).collect();
        let (exact, error) = bound(function, &x)?;
        self.near(exact, error)
    }

    fn sum(&mut self, x: f64, y: f64) -> Option<f64> {
        let exact = self.flushed(x) + self.flushed(y);
        self.rounded(exact)
    }

    fn product(&mut self, x: f64, y: f64) -> Option<f64> {
        let exact = self.flushed(x) * self.flushed(y);
        self.rounded(exact)
    }

    /// x·y + z, fused or not. Products of halves are exact in 64 bits, and so are nearly all of
    /// their sums.
    fn fma(&mut self, x: f64, y: f64, z: f64) -> Option<f64> {
        if self.0.below(2) == 0 {
            let product = self.product(x, y)?;
            return self.sum(product, z);
        }
        self.rounded(x * y + z)
    }

    /// The value that a formula gives, or about its mirror image on the other side of the
    /// exact result.
    fn inherited(&mut self, exact: f64, value: f64) -> Option<f64> {
        let mirrored = Half::of(2.0 * exact - value).wide();
        let is_within = (mirrored - exact).abs() <= (value - exact).abs() * (1.0 - 1e-9);
        Some(if is_within && self.0.below(2) == 0 { mirrored } else { value })
    }

    fn root(&mut self, x: f64) -> Option<f64> {
        let inverse = self.stated("InverseSqrt", &[x])?;
        let root = self.stated("FDiv", &[1.0, inverse])?;
        self.inherited(x.sqrt(), root)
    }

    fn hyperbolic(&mut self, x: f64, sign: f64) -> Option<f64> {
        let (rising, falling) = (self.stated("Exp", &[x])?, self.stated("Exp", &[-x])?);
        let sum = self.sum(rising, sign * falling)?;
        let half = self.product(sum, 0.5)?;
        self.inherited(if sign > 0.0 { x.cosh() } else { x.sinh() }, half)
    }

    /// The result that the device shows. `None` if it may be anything.
    fn shows(&mut self, function: &Function, x: &[f64]) -> Option<f64> {
        let value = match function.name {
            "FAdd" => return self.sum(x[0], x[1]),
            "FSub" => return self.sum(x[0], -x[1]),
            "FMul" => return self.product(x[0], x[1]),
            name if STATED.contains(&name) => return self.stated(name, x),
            "Sqrt" => return self.root(x[0]),
            "Sinh" => return self.hyperbolic(x[0], -1.0),
            "Cosh" => return self.hyperbolic(x[0], 1.0),
            "Tanh" => {
                let (sine, cosine) = (self.hyperbolic(x[0], -1.0)?, self.hyperbolic(x[0], 1.0)?);
                self.stated("FDiv", &[sine, cosine])?
            }
            "Tan" => {
                let (sine, cosine) = (self.stated("Sin", x)?, self.stated("Cos", x)?);
                self.stated("FDiv", &[sine, cosine])?
            }
            "Asin" | "Acos" => {
                let rest = self.fma(-x[0], x[0], 1.0)?;
                let root = self.root(rest)?;
                if function.name == "Asin" { self.stated("Atan2", &[x[0], root])? } else { self.stated("Atan2", &[root, x[0]])? }
            }
            "Asinh" | "Acosh" => {
                let square = self.fma(x[0], x[0], if function.name == "Asinh" { 1.0 } else { -1.0 })?;
                let root = self.root(square)?;
                let sum = self.sum(x[0], root)?;
                self.stated("Log", &[sum])?
            }
            "Atanh" => {
                let (above, below) = (self.sum(1.0, x[0])?, self.sum(1.0, -x[0])?);
                let quotient = self.stated("FDiv", &[above, below])?;
                let logarithm = self.stated("Log", &[quotient])?;
                self.product(logarithm, 0.5)?
            }
            "Radians" => self.product(x[0], Half::of(1f64.to_radians()).wide())?,
            "Degrees" => self.product(x[0], Half::of(1f64.to_degrees()).wide())?,
            "Pow" => {
                let logarithm = self.stated("Log2", &x[..1])?;
                let exponent = self.product(x[1], logarithm)?;
                self.stated("Exp2", &[exponent])?
            }
            "FRem" | "FMod" => {
                let quotient = self.stated("FDiv", x)?;
                let whole = if function.name == "FRem" { quotient.trunc() } else { quotient.floor() };
                self.fma(-x[1], whole, x[0])?
            }
            "Fma" => self.fma(x[0], x[1], x[2])?,
            "FMix" => {
                let rest = self.sum(1.0, -x[2])?;
                let right = self.product(x[1], x[2])?;
                self.fma(x[0], rest, right)?
            }
            _ => return None,
        };
        self.inherited((function.exact)(x), value)
    }
}

/// The first operands at which a device shows a result outside of the set, in words.
fn device_outside(function: &Function, rule: Rule<'_>, seed: u64, decided: &mut u64) -> Option<String> {
    let mut random = Random(seed);
    for x in operands(function, seed + 1) {
        if x.iter().any(|x| !x.is_finite()) {
            continue;
        }
        let set = rule(Profile::Strict, function, &x);
        *decided += u64::from(!set.is_any());
        for _ in 0..4 {
            let Some(shown) = Device(&mut random).shows(function, &x) else { continue };
            if !(set.contains(shown) || shown == 0.0 && set.contains(-shown)) {
                return Some(format!("{} of {x:?}: a device shows {shown:?}, which is not in {set}", function.name));
            }
        }
    }
    None
}

fn named(name: &str) -> &'static Function {
    FUNCTIONS.iter().find(|function| function.name == name).unwrap_or_else(|| panic!("no function {name}"))
}

#[test]
fn rounded_halves_are_allowed() {
    let faults = over(FUNCTIONS, |function| definite_outside(function, &halves, 21));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn stated_bounds_of_halves_are_neither_tighter_nor_wider() {
    let faults = over(&STATED, |name| end_astray(named(name), &halves, 22));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn devices_of_halves_are_within() {
    let faults = over(FUNCTIONS, |function| {
        let mut decided = 0;
        let fault = device_outside(function, &halves, 23, &mut decided);
        fault.or_else(|| (decided < 2000).then(|| format!("{}: only {decided} inputs are decided", function.name)))
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn correct_rounding_leaves_one_half_or_two() {
    for name in ["FAdd", "FSub", "FMul"] {
        for x in operands(named(name), 24) {
            let exact = (named(name).exact)(&x);
            if x.iter().any(|x| x.abs() < MIN) || exact.abs() <= MIN || exact.abs() > MAX {
                continue;
            }
            assert_eq!(halves(Profile::Strict, named(name), &x), Set::point(Half::of(exact).wide()), "{name} of {x:?}");
            let either = halves(Profile::VulkanDefault, named(name), &x).hull().expect("numbers");
            assert_eq!(Some(either.low).zip(Some(either.high)), floor(exact).zip(ceiling(exact)), "{name} of {x:?}");
        }
    }
}

#[test]
fn wrong_rules_of_halves_are_caught() {
    let trimmed = |set: Set, halves: i64| {
        let Some(hull) = set.hull().filter(|_| set.is_bounded()) else { return set };
        let moved = |x: f64, by: i64| HALVES[(position(x) as i64 + by).clamp(0, HALVES.len() as i64 - 1) as usize];
        let (low, high) = (moved(hull.low, halves), moved(hull.high, -halves));
        if low < high { Set::of(smallstep_semantics::number::sets::Span { low, high }) } else { set }
    };
    let caught = |function: &Function, rule: Rule<'_>| {
        let ends = || if STATED.contains(&function.name) { end_astray(function, rule, 25) } else { None };
        device_outside(function, rule, 26, &mut 0).or_else(|| definite_outside(function, rule, 27)).or_else(ends)
    };
    let planted: [(&str, &[&str], Rule<'_>); 4] = [
        (
            "a half less on each side",
            &["FDiv", "Exp", "Exp2", "Log", "InverseSqrt", "Sin", "Cos", "Atan", "Atan2", "Sqrt", "Tan", "Sinh"],
            &|p, f, x| trimmed(halves(p, f, x), 1),
        ),
        ("a half more on each side", &["FDiv", "Exp", "Exp2", "Log2", "InverseSqrt", "Sin", "Cos", "Atan", "Atan2"], &|p, f, x| {
            trimmed(halves(p, f, x), -1)
        }),
        ("the bounds of 32 bits", &["FAdd", "FMul", "Exp", "Log", "Sin", "Cos", "Atan", "Sqrt", "Fma"], &|p, f, x| {
            rule(Format::Single, p, f, x)
        }),
        ("correctly rounded", &["Tan", "Acos", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Pow", "FMix"], &|p, f, x| {
            let set = halves(p, f, x);
            if set.is_any() { set } else { Set::point(Half::of((f.exact)(x)).wide()) }
        }),
    ];
    for (what, names, rule) in planted {
        for name in names {
            let found = caught(named(name), rule);
            println!("{name}, {what}: {found:?}");
            assert!(found.is_some(), "{name}: {what}");
        }
    }
}

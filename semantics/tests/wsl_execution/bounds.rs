//! Unspecified values compared with definite ones. The fast engine runs a program with any definite
//! arguments. Its result is among the values that the relation carries for unspecified arguments.

use crate::random::Random;
use smallstep_semantics::number::sets::Set;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::Planted;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::machine::{self, Compiled, Ending};
use smallstep_semantics::wsl::open::{BoundReplacement, Integers, Possible};
use smallstep_semantics::wsl::validate::validate;

/// The number of argument lists for each program.
const SAMPLES: u64 = 48;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(100) * 10
}

/// A number near special ones: small numbers, powers of two, and the ends of the range.
fn number(random: &mut Random) -> u32 {
    let any = random.next() as u32;
    match random.below(6) {
        0 | 1 => any % 9,
        2 => 0u32.wrapping_sub(any % 9),
        3 => (1u32 << (any % 32)).wrapping_add(any >> 8 & 3).wrapping_sub(1),
        4 => any >> (any & 31),
        _ => any,
    }
}

/// A generator of expressions over parameters and variables.
struct Expressions(Random);

impl Expressions {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.0.below(all.len())]
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.0.below(5) {
                0 => match number(&mut self.0) as i32 {
                    i32::MIN => "-2147483647".into(),
                    n => format!("({n})"),
                },
                1 => "x".into(),
                2 => "y".into(),
                3 => "a".into(),
                _ => self.one_of(&["0", "1", "2", "5"]).into(),
            };
        }
        let d = depth - 1;
        match self.0.below(16) {
            0..=5 => {
                let op = self.one_of(&["+", "-", "*", "/", "%", "&", "|", "^", "+", "-"]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
            6 => format!("({} {} {})", self.int(d), self.one_of(&["<<", ">>"]), self.uint(d)),
            7 => format!("{}({}, {})", self.one_of(&["min", "max"]), self.int(d), self.int(d)),
            8 => format!("clamp({}, {}, {})", self.int(d), self.int(0), self.int(0)),
            9 => format!("{}({})", self.one_of(&["~", "-", "abs"]), self.int(d)),
            10 => format!("int({})", self.uint(d)),
            11 => format!("int({})", self.bool(d)),
            12 => format!("sign({})", self.int(d)),
            13 => format!("({} ? {} : {})", self.bool(d), self.int(d), self.int(d)),
            14 => format!("int(clamp({}, -8.0, 8.0))", self.float(d)),
            _ => self.int(0),
        }
    }

    fn uint(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.0.below(4) {
                0 => format!("{}u", number(&mut self.0)),
                1 => "u".into(),
                2 => "b".into(),
                _ => self.one_of(&["0u", "1u", "2u", "31u", "v"]).into(),
            };
        }
        let d = depth - 1;
        match self.0.below(14) {
            0..=5 => {
                let op = self.one_of(&["+", "-", "*", "/", "%", "&", "|", "^", "&", "<<", ">>"]);
                format!("({} {op} {})", self.uint(d), self.uint(d))
            }
            6 => format!("{}({}, {})", self.one_of(&["min", "max"]), self.uint(d), self.uint(d)),
            7 => format!("clamp({}, {}, {})", self.uint(d), self.uint(0), self.uint(0)),
            8 => format!("{}({})", self.one_of(&["countbits", "reversebits", "firstbithigh", "firstbitlow", "~"]), self.uint(d)),
            9 => format!("uint({})", self.int(d)),
            10 => format!("uint({})", self.bool(d)),
            11 => format!("({} ? {} : {})", self.bool(d), self.uint(d), self.uint(d)),
            _ => self.uint(0),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.one_of(&["f", "g", "0.0", "1.0", "-2.5", "f"]).into();
        }
        let d = depth - 1;
        match self.0.below(6) {
            0 | 1 => format!("({} {} {})", self.float(d), self.one_of(&["+", "-", "*"]), self.float(d)),
            2 => format!("float({})", self.int(d)),
            3 => format!("float({})", self.uint(d)),
            4 => format!("{}({})", self.one_of(&["abs", "floor", "trunc", "-"]), self.float(d)),
            _ => self.float(0),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        let relation = self.one_of(&["<", "<=", ">", ">=", "==", "!="]);
        match self.0.below(12) {
            0..=2 => format!("({} {relation} {})", self.int(d), self.int(d)),
            3..=5 => format!("({} {relation} {})", self.uint(d), self.uint(d)),
            6 | 7 => format!("({} {relation} {})", self.float(d), self.float(0)),
            8 if depth > 0 => format!("({} {} {})", self.bool(d), self.one_of(&["&&", "||"]), self.bool(d)),
            9 | 10 if depth > 0 => format!("({} {} {})", self.bool(d), self.one_of(&["&", "|", "^", "==", "!="]), self.bool(d)),
            11 if depth > 0 => format!("!{}", self.bool(d)),
            8 => format!("bool({})", self.int(d)),
            9 => format!("isnan({})", self.float(d)),
            _ => self.one_of(&["c", "true", "c"]).into(),
        }
    }

    fn program(&mut self) -> String {
        let (a, b, c) = (self.int(0), self.uint(0), "(x < 4)".to_string());
        let mut body = format!("int a = {a}; uint b = {b}; bool c = {c};\n", a = a.replace('a', "x"), b = b.replace('b', "u"));
        let ty = self.one_of(&["int", "uint", "bool"]);
        for _ in 0..1 + self.0.below(3) {
            let statement = match self.0.below(4) {
                0 => format!("a = {};", self.int(2)),
                1 => format!("b = {};", self.uint(2)),
                2 => format!("c = {};", self.bool(2)),
                _ => {
                    let depth = 1 + self.0.below(2);
                    format!("if ({}) {{ a = {}; b = {}; }}", self.bool(depth), self.int(1), self.uint(1))
                }
            };
            body += &statement;
            body.push('\n');
        }
        let result = match ty {
            "int" => self.int(2),
            "uint" => self.uint(2),
            _ => self.bool(3),
        };
        format!("{ty} test(int x, int y, uint u, uint v, float f, float g) {{\n{body}return {result};\n}}")
    }
}

/// The numbers of carried results that were sets, single values, and any value.
#[derive(Default)]
struct Counts {
    bounded: u64,
    single: u64,
    any: u64,
}

/// The first program with a definite run whose result the relation does not carry.
fn lost(seeds: std::ops::Range<u64>, bound: Option<BoundReplacement>, counts: &mut Counts) -> Option<String> {
    let planted = Planted { bound, ..Planted::default() };
    for seed in seeds {
        let text = Expressions(Random(seed)).program();
        let expression = "test(1 / 0, 2 / 0, 1u / 0u, 2u / 0u, 1.0 / 0.0, 2.0 / 0.0)";
        let prepared = prepare(&text, expression).unwrap_or_else(|wrong| panic!("{:?}\n{text}", wrong.errors));
        let settings = Settings { ways: 64, planted, ..Settings::default() };
        let Outcome::Observed(shown) = prepared.evaluate(&settings, &mut |_, _| {}) else { panic!("{text}") };
        if !shown.complete {
            continue;
        }
        let [possible] = &shown.words[..] else { panic!("one word: {text}") };
        match possible {
            Possible::Values(values) if values.len() == 1 => counts.single += 1,
            Possible::Values(_) | Possible::Floats(_) => counts.bounded += 1,
            Possible::Any => {
                counts.any += 1;
                continue;
            }
        }
        let program = validate(&text).program.expect("it is valid");
        let compiled = Compiled::new(&program, FunctionId(program.bodies.len() as u32 - 1)).unwrap_or_else(|_| panic!("{text}"));
        let mut random = Random(seed ^ 0x5eed);
        for sample in 0..SAMPLES {
            let arguments: Vec<u32> = (0..6).map(|_| number(&mut random)).collect();
            let float = |bits: u32| if sample % 2 == 0 { (bits as i32 as f32 / 2.0).to_bits() } else { bits };
            let arguments = [&arguments[..4], &[float(arguments[4]), float(arguments[5])]].concat();
            let settings = machine::Settings { strategy: Strategy::Random(sample), fuel: 1000, ..machine::Settings::default() };
            let (ending, _) = compiled.call(&arguments, &mut [], &settings).expect("the arguments fit");
            let Ending::Returned(words) = ending else { panic!("{ending:?}: {text}") };
            let held = match possible {
                Possible::Values(values) => values.contains(&words[0]),
                Possible::Floats(set) => *set == Set::ANY || set.contains(f32::from_bits(words[0]).into()),
                Possible::Any => true,
            };
            if !held {
                return Some(format!("{seed}: {arguments:x?} gives {:x}, not among {possible:?}\n{text}", words[0]));
            }
        }
    }
    None
}

#[test]
fn definite_results_are_among_what_is_carried() {
    let mut counts = Counts::default();
    if let Some(lost) = lost(0..programs(), None, &mut counts) {
        panic!("{lost}");
    }
    let Counts { bounded, single, any } = counts;
    println!("{bounded} sets, {single} single values, {any} of anything");
    assert!(bounded > programs() / 10 && single > programs() / 100, "{bounded} sets, {single} single values, {any} of anything");
}

#[test]
fn bounds_that_lose_a_value_are_found() {
    let planted: [(&str, BoundReplacement); 4] = [
        ("the lesser is never the end", |op, _, within| match op.meaning {
            Meaning::Min | Meaning::Max => {
                let (low, high) = within.unsigned;
                Integers::between(low, high.saturating_sub(1).max(low)).unwrap_or(within)
            }
            _ => within,
        }),
        ("a remainder has no sign", |op, _, within| match op.meaning {
            Meaning::Remainder => Integers::between_signed(0, i32::MAX).and_then(|other| within.meet(other)).unwrap_or(within),
            _ => within,
        }),
        ("a bit that either operand has not is not in both", |op, parts, within| match op.meaning {
            Meaning::Or => Integers::bits(parts[0].zeros | parts[1].zeros, 0).and_then(|other| within.meet(other)).unwrap_or(within),
            _ => within,
        }),
        ("a shift to the right gives no number with a sign", |op, _, within| match op.meaning {
            Meaning::ShiftRight => Integers::bits(1 << 31, 0).and_then(|other| within.meet(other)).unwrap_or(within),
            _ => within,
        }),
    ];
    for (what, bound) in planted {
        let found = lost(0..programs() * 4, Some(bound), &mut Counts::default());
        assert!(found.is_some(), "not found: {what}");
    }
}

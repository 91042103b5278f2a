//! Draws on both engines: draws of generated programs, and fragments whose quads diverge around
//! derivatives and samples.

use smallstep_generate::wsl::beside::{self, Compared, Fuel};
use smallstep_generate::wsl::bound::draws;
use smallstep_generate::wsl::typed;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Draw, Ending};
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::fmt::Write;

const FUEL: Fuel = Fuel { machine: 20_000, relation: 400_000, time: None };

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

fn program(text: &str) -> Program {
    let found = validate(text);
    found.program.unwrap_or_else(|| panic!("{:?}\n{text}", found.errors))
}

fn compare(draw: &Draw, strategy: Strategy) -> Compared {
    let compile = |function| Compiled::new(draw.program, function).unwrap_or_else(|e| panic!("{e}\n{}", draw.text));
    let (vertex, fragment) = (draw.vertex().map(|e| compile(e.function)), compile(draw.fragment.function));
    beside::draw(draw, (vertex.as_ref(), &fragment), strategy, FUEL)
}

/// Compares every draw of a program. Returns how many ended alike.
fn same(text: &str, seed: u64) -> u64 {
    let program = program(text);
    let mut same = 0;
    for draw in draws(&program, text, 1 << 12, seed) {
        for strategy in [Strategy::First, Strategy::Random(seed)] {
            match compare(&draw, strategy) {
                Compared::Same(_) => same += 1,
                Compared::Not(_) => {}
                Compared::Differ { machine, relation } => {
                    panic!("program {seed} by {strategy:?}\nmachine:  {machine}\nrelation: {relation}\n{text}")
                }
            }
        }
    }
    same
}

#[test]
fn draws_of_generated_programs_show_the_same() {
    let same: u64 = (0..programs()).map(|seed| same(&typed::program(seed), seed)).sum();
    println!("{same} draws of {} programs alike", programs());
    assert!(same > programs() / 8, "{same} draws alike");
}

/// A sequence of random numbers below a bound, from a seed and the number of draws so far.
struct Random(u64, u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.1 += 1;
        Strategy::Random(self.0).choose(0, self.1, bound as u64).expect("something is chosen") as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// An expression of type float with operations over the quad.
fn float(random: &mut Random, depth: usize) -> String {
    let derivative = ["ddx", "ddy", "ddx_coarse", "ddy_coarse", "ddx_fine", "ddy_fine", "fwidth", "fwidth_coarse", "fwidth_fine"];
    if depth == 0 {
        return random.of(&["x.x", "x.y", "a", "b", "0.5", "float(k)"]).into();
    }
    let mut inner = || float(random, depth - 1);
    let (a, b) = (inner(), inner());
    match random.below(9) {
        0 | 1 => format!("{}({a})", random.of(&derivative)),
        2 => format!("{}(float2({a}, {b})).{}", random.of(&derivative), random.of(&["x", "y"])),
        3 => format!("Sample(t, s, float2({a}, {b})).{}", random.of(&["x", "z"])),
        4 => format!("SampleBias(t, s, float2({a}, {b}), 0.5).y"),
        5 => format!("step({a})"),
        6 => format!("({}(float3(x, {b})) * {a}).z", random.of(&["ddx", "fwidth_coarse"])),
        _ => format!("({a} {} {b})", random.of(&["+", "-", "*"])),
    }
}

fn statements(random: &mut Random, depth: usize, text: &mut String) {
    for _ in 0..1 + random.below(3) {
        let condition = random.of(&["x.x > 0.5", "x.y > 0.3", "a > b", "k % 2 == 0", "x.x + x.y > 0.9", "true"]);
        let variable = random.of(&["a", "b"]);
        match random.below(if depth == 0 { 3 } else { 7 }) {
            0 | 1 => _ = write!(text, "{variable} = {}; ", float(random, 2)),
            2 => _ = write!(text, "{variable} += {}; ", float(random, 1)),
            3 => {
                _ = write!(text, "if ({condition}) {{ ");
                statements(random, depth - 1, text);
                text.push_str("} else { ");
                statements(random, depth - 1, text);
                text.push_str("} ");
            }
            4 => {
                _ = write!(text, "for (k = {}; float(k) < 3.0 + a; k++) {{ if (k > 6) break; ", random.below(2));
                statements(random, depth - 1, text);
                text.push_str("} ");
            }
            5 => {
                text.push_str("k = 0; do { k++; ");
                statements(random, depth - 1, text);
                _ = write!(text, "}} while (({condition}) && k < 3); ");
            }
            _ => {
                _ = write!(
                    text,
                    "if (({condition}) && x.x > 0.7) {{ {} }} ",
                    random.of(&["discard;", "device_store(out, x);", "hit(out);"])
                )
            }
        }
    }
}

/// A fragment entry point that takes its place on the screen, a texture and a buffer.
fn fragment(seed: u64) -> String {
    let mut random = Random(seed, 0);
    let mut body = String::new();
    statements(&mut random, 3, &mut body);
    format!(
        "float step(float v) {{ return fwidth(v) + 0.25; }}
         void device_store(device uint[] out, float2 x) {{ out[uint(x.x * 3.0) % 4u] = uint(x.y * 2.0); }}
         void hit(device uint[] out) {{ out[0] = 7u; }}
         fragment float4 f(float2 x : attribute(0), Texture2D<float4> t : register(t0), sampler s : register(s0), device uint[] out : register(u0)) : SV_Target 0 {{
             float a = x.x; float b = 0.25; int k = 0;
             {body}
             return float4(a, b, float(k), 1.0);
         }}"
    )
}

#[test]
fn quads_that_part_ways_show_the_same() {
    let mut all = 0;
    for seed in 0..programs() {
        all += same(&fragment(seed), seed);
    }
    println!("{all} draws of {} alike", 2 * programs());
    assert!(all > programs(), "{all} draws alike");
}

#[test]
fn what_is_carried_stops_the_fast_engine_where_it_is_met() {
    let text = "fragment float4 f(float2 x : attribute(0)) : SV_Target 0 { return float4(x.x, ddx(x.y * x.y), 0.0, 0.0); }";
    let program = program(text);
    let (mut stopped, mut shown) = (0, 0);
    for seed in 0..20 {
        for draw in draws(&program, text, 16, seed) {
            let compiled = Compiled::new(&program, draw.fragment.function).expect("it compiles");
            match draw.run_fast((None, &compiled), &Settings::default()) {
                Ending::Open(at) => {
                    assert_eq!(at.at.start as usize, text.find("ddx(").expect("it is there"));
                    stopped += 1;
                }
                Ending::Shown(all) => {
                    assert!(!all.unspecified);
                    shown += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(stopped + shown, 20);
    assert!(shown > 0, "{shown} of constants");
}

#[test]
fn threads_with_much_memory_take_fuel() {
    let text = "fragment float4 f() : SV_Target 0 { float[1000000] a; a[1] = 0.5; return float4(a[1], 0.0, 0.0, 1.0); }";
    let program = program(text);
    let mut draw = draws(&program, text, 1 << 24, 0).next().expect("one over the screen");
    draw.size = [512, 512];
    let compiled = Compiled::new(&program, draw.fragment.function).expect("it compiles");
    let settings = Settings { strategy: Strategy::First, fuel: 100_000, ..Settings::default() };
    assert!(matches!(draw.run_fast((None, &compiled), &settings), Ending::OutOfFuel(_)));
}

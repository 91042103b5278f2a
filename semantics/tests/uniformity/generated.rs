//! Runs generated dispatches. No accepted dispatch diverges.

use smallstep_semantics::uniformity::seed::behaviour::Behaviour;
use smallstep_semantics::uniformity::seed::{self, Planted, Settings};
use smallstep_semantics::wsl;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::group::{self, Ending, Resource, Schedule};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate;
use std::fmt::Write;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
}

/// Writes programs with barriers anywhere and many ways to leave a statement.
struct Writer {
    state: u64,
    /// The names of the functions that can be called.
    functions: Vec<String>,
    /// The names of values that can be read.
    values: Vec<&'static str>,
    /// The number of loops and of switches around the current place.
    loops: usize,
    switches: usize,
    names: usize,
    returns: &'static str,
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.state >> 33) % n as u64) as usize
    }

    fn value(&mut self, depth: usize) -> String {
        let of_depth = if depth == 0 { 8 } else { 16 };
        match self.below(of_depth) {
            0..=2 => format!("{}u", self.below(4)),
            3..=5 => {
                let at = self.below(self.values.len());
                self.values[at].into()
            }
            6 => ["x", "y"][self.below(2)].into(),
            7 => format!("c[{}]", self.below(4)),
            8 => format!("({} + {})", self.value(depth - 1), self.value(depth - 1)),
            9 => format!("c[{} % 16u]", self.value(depth - 1)),
            10 => format!("a[{} % 4u]", self.value(depth - 1)),
            11 => format!("({} ? {} : {})", self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1)),
            12 => format!("min({}, {})", self.value(depth - 1), self.value(depth - 1)),
            13 => format!("({} = {})", ["x", "y"][self.below(2)], self.value(depth - 1)),
            14 => format!("{}++", ["x", "y"][self.below(2)]),
            _ if self.functions.is_empty() => "s.a".into(),
            _ => {
                let f = self.function();
                format!("{f}({}, {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }

    fn function(&mut self) -> String {
        let at = self.below(self.functions.len());
        self.functions[at].clone()
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0..=3 => format!("({} == {})", self.value(depth), self.value(depth)),
            4 => format!("({} < {})", self.value(depth), self.value(depth)),
            5 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            6 => format!("({} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("({}, bar())", self.value(0)),
        }
    }

    /// Writes a block. Returns whether its end is reached.
    fn block(&mut self, depth: usize, out: &mut String) -> bool {
        out.push_str("{ ");
        for _ in 0..self.below(3) + usize::from(depth > 2) {
            self.stmt(depth, out);
        }
        let leaves = self.below(9);
        match leaves {
            0 if self.loops > 0 || self.switches > 0 => out.push_str("break; "),
            1 if self.loops > 0 => out.push_str("continue; "),
            2 => {
                let value = if self.returns.is_empty() { String::new() } else { self.value(1) };
                let _ = write!(out, "return {value}; ");
            }
            _ => {
                out.push_str("} ");
                return true;
            }
        }
        out.push_str("} ");
        false
    }

    fn stmt(&mut self, depth: usize, out: &mut String) {
        let kinds = if depth == 0 { 8 } else { 15 };
        match self.below(kinds) {
            0 | 1 => out.push_str("BAR "),
            2 => _ = write!(out, "{} = {}; ", ["x", "y", "s.a", "s.b"][self.below(4)], self.value(2)),
            3 => _ = write!(out, "{} += {}; ", ["x", "y"][self.below(2)], self.value(1)),
            4 => _ = write!(out, "a[{} % 4u] = {}; ", self.value(1), self.value(1)),
            5 => _ = write!(out, "d[{} % 16u] = {}; ", self.value(1), self.value(1)),
            6 if self.below(3) == 0 => _ = write!(out, "set(&{}, {}); ", ["x", "y"][self.below(2)], self.value(1)),
            7 if !self.functions.is_empty() => {
                let f = self.function();
                let _ = write!(out, "{f}({}, {}); ", self.value(1), self.value(1));
            }
            6 | 7 => _ = write!(out, "x = y; "),
            8..=10 => {
                let _ = write!(out, "if ({}) ", self.condition(1));
                self.block(depth - 1, out);
                if self.below(2) == 0 {
                    out.push_str("else ");
                    self.block(depth - 1, out);
                }
            }
            11 | 12 => {
                self.names += 1;
                let (i, n) = (self.names, [String::from("3u"), format!("({} % 4u)", self.value(1))][self.below(2)].clone());
                let _ = write!(out, "for (uint i{i} = 0; i{i} < {n}; i{i}++) ");
                self.within_loop(depth, out);
            }
            13 => {
                self.names += 1;
                let i = self.names;
                let _ = write!(out, "uint i{i} = 0; do ");
                self.within_loop(depth, out);
                let _ = write!(out, "while (++i{i} < 4u && {}); ", self.condition(1));
            }
            _ => {
                let _ = write!(out, "switch ({} % 4u) {{ ", self.value(1));
                let loops = std::mem::replace(&mut self.switches, 1);
                for case in 0..2 {
                    let _ = write!(out, "case {case}: ");
                    if self.block(depth - 1, out) {
                        out.push_str(["break; ", "fallthrough; ", "break; "][self.below(3)]);
                    }
                }
                out.push_str("default: ");
                let ends = self.block(depth - 1, out);
                out.push_str(if ends { "break; } " } else { "} " });
                self.switches = loops;
            }
        }
    }

    fn within_loop(&mut self, depth: usize, out: &mut String) {
        let switches = std::mem::replace(&mut self.switches, 0);
        self.loops += 1;
        self.block(depth - 1, out);
        self.loops -= 1;
        self.switches = switches;
    }

    fn program(seed: u64) -> String {
        let mut w = Writer {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995,
            functions: Vec::new(),
            values: vec!["p", "q"],
            loops: 0,
            switches: 0,
            names: 0,
            returns: "uint",
        };
        let mut out =
            String::from("struct S { uint a; uint b; } bool bar() { BAR return true; } void set(thread uint* t, uint v) { *t = v; }\n");
        const LOCALS: &str = "uint x = 0; uint y = 1; uint[4] a; S s;";
        for f in 0..w.below(4) {
            let mut body = String::new();
            (0..1 + w.below(3)).for_each(|_| w.stmt(2, &mut body));
            // Functions have no access to resources, so they use a local array instead.
            let body = body.replace("c[", "a[").replace("d[", "a[").replace("% 16u", "% 4u");
            let _ = writeln!(out, "uint f{f}(uint p, uint q) {{ {LOCALS} {body} return {}; }}", ["p", "q", "x", "2u"][w.below(4)]);
            w.functions.push(format!("f{f}"));
        }
        (w.values, w.returns) = (vec!["tid", "gid.x", "c[1]", "gid.x", "c[2]"], "");
        let mut body = String::new();
        (0..2 + w.below(4)).for_each(|_| w.stmt(3, &mut body));
        let _ = writeln!(
            out,
            "[numthreads(4, 1, 1)] compute void main(uint tid : SV_GroupIndex, uint3 gid : SV_GroupID, constant uint[] c : register(b0), \
             device uint[] d : register(u0)) {{ {LOCALS} {body} }}"
        );
        out.replace("BAR", "GroupMemoryBarrierWithGroupSync();")
    }
}

const WORDS: [[u32; 16]; 3] = [[0; 16], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3], [3, 0, 2, 1, 0, 3, 2, 2, 1, 0, 1, 0, 3, 2, 0, 1]];

fn diverges(text: &str, program: &Program) -> bool {
    let entry = &program.entry_points[0];
    WORDS.iter().any(|words| {
        let mut resources = Resource::of(program, entry).expect("buffers only");
        resources.iter_mut().for_each(|r| r.fill(words));
        let dispatch = group::Dispatch { program, text, entry, groups: [2, 1, 1], resources };
        let settings = wsl::Settings {
            strategy: Strategy::First,
            schedule: Some(Schedule::RoundRobin { quantum: 1 }),
            fuel: 40_000,
            races: false,
            ..wsl::Settings::default()
        };
        match dispatch.run(&settings) {
            Ending::Diverged(_) => true,
            Ending::Shown(_) | Ending::OutOfFuel(_) => false,
            other => panic!("{other:?}\n{text}"),
        }
    })
}

#[test]
fn no_generated_program_is_accepted_and_diverges() {
    let bugs = [
        Planted::AlwaysMeets,
        Planted::NoControl,
        Planted::NoMust,
        Planted::NoConditions,
        Planted::ForgetsReturns,
        Planted::Forgets(Behaviour::Break),
        Planted::Forgets(Behaviour::Continue),
    ];
    let mut caught = [0; 7];
    let (mut valid, mut accepted, mut apart, mut kept) = (0, 0, 0, 0);
    for seed in 0..programs() {
        let text = Writer::program(seed);
        // An unreachable statement makes a program invalid.
        let Some(program) = validate::validate(&text).program else { continue };
        valid += 1;
        let analysis = seed::analyse(&program);
        let diverges = diverges(&text, &program);
        assert!(!(analysis.accepts() && diverges), "program {seed} is accepted and diverges\n{text}");
        accepted += u64::from(analysis.accepts());
        apart += u64::from(diverges);
        kept += u64::from(!diverges && !analysis.accepts());
        if diverges {
            for (count, &planted) in caught.iter_mut().zip(&bugs) {
                *count += u64::from(seed::analyse_with(&program, &Settings { planted, ..Settings::default() }).accepts());
            }
        }
    }
    println!("{valid} programs: {apart} diverge, {accepted} are accepted, {kept} are rejected and diverge in no run");
    println!("bugs that accept programs that diverge: {:?}", bugs.iter().zip(&caught).collect::<Vec<_>>());
    assert!(
        valid * 10 >= programs() * 4 && apart * 20 >= valid && accepted * 10 >= valid,
        "{valid} valid, {apart} diverge, {accepted} accepted"
    );
    assert!(programs() < 1000 || caught[..2].iter().all(|&n| n > 0), "{caught:?}");
}

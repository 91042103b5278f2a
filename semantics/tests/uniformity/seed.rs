//! The analysis of seed 001 on programs written by hand. It accepts and rejects the right programs.
//! Each weakened rule accepts a program that diverges.

use crate::programs::{ACCEPTED, REJECTED, program};
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::text::line_column;
use smallstep_semantics::uniformity::picture::Kind;
use smallstep_semantics::uniformity::report::{Exit, Metadata, Parameter};
use smallstep_semantics::uniformity::seed::behaviour::Behaviour;
use smallstep_semantics::uniformity::seed::{self, LiteralRules, Planted, Settings};
use smallstep_semantics::uniformity::table::Need;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::typing::program::Program;
use std::collections::BTreeSet;

#[test]
fn uniform_programs_are_accepted() {
    for case in ACCEPTED {
        let (text, program) = program(case);
        let analysis = seed::analyse(&program);
        assert!(analysis.accepts(), "{}: {:#?}\n{text}", case.what, analysis.rejections);
        assert!(analysis.nodes > 0 && analysis.stuck.is_none());
    }
}

#[test]
fn divergent_programs_are_rejected() {
    for case in REJECTED {
        let (text, program) = program(case);
        let analysis = seed::analyse(&program);
        assert!(!analysis.accepts(), "{}\n{text}", case.what);
        for rejection in &analysis.rejections {
            let first = rejection.steps.first().expect("an explanation begins with the barrier or derivative");
            assert_eq!(first.span, rejection.span, "{}", case.what);
            let at = &text[rejection.span.start as usize..rejection.span.end as usize];
            let expected: &[&str] = match rejection.need {
                Need::Barrier => &["GroupMemoryBarrierWithGroupSync()"],
                Need::Derivative => &["ddx", "Sample"],
            };
            assert!(expected.iter().any(|e| at.starts_with(e)), "{}: {at}", case.what);
            assert!(rejection.steps.len() > 1 && rejection.steps.iter().all(|s| !s.text.is_empty()), "{}", case.what);
        }
    }
}

/// Every rule of the analysis is used by some program.
#[test]
fn every_rule_fires() {
    let all = ACCEPTED.iter().chain(REJECTED);
    let fired: BTreeSet<Rule> = all.flat_map(|case| seed::analyse(&program(case).1).fired).collect();
    let of_seed = |r: &&Rule| r.judgement() == Judgement::Uniformity && !r.name().starts_with("uniformity/flow-");
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(of_seed).filter(|r| !fired.contains(r)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The edges that other edges imply, because a computed value implies the control flow in which it
/// is computed. Leaving such an edge out changes no verdict.
const REDUNDANT: &[(Rule, u8)] = &[
    // result ⇒ {CF, C}, and C ⇒ CF.
    (Rule::UniformityReturn, 1),
    (Rule::UniformityAddressOf, 2),
    (Rule::UniformityMakeReference, 2),
    (Rule::UniformityLeftAddressTaker, 2),
    (Rule::UniformityLoad, 2),
    (Rule::UniformityCallGenerated, 1),
    // Control flow after the previous case implies the control flow in which the switch has chosen.
    (Rule::UniformityCase, 1),
];

/// The weakened rules: each edge of each rule left out, and bugs in metadata and behaviours.
fn bugs(programs: &[Program]) -> Vec<Planted> {
    let edges = |settings: &Settings| programs.iter().map(|p| seed::analyse_with(p, settings).edges).sum::<usize>();
    let all = edges(&Settings::default());
    let mut bugs = Vec::new();
    for &rule in Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Uniformity) {
        for number in 0..9 {
            let planted = Planted::Without(rule, number);
            // If the number of edges does not change, the rule has no edge with that number.
            if edges(&Settings { planted, ..Settings::default() }) != all {
                bugs.push(planted);
            }
        }
    }
    bugs.extend([Behaviour::Break, Behaviour::Continue, Behaviour::Fallthrough, Behaviour::Discard].map(Planted::Forgets));
    bugs.extend([Planted::AlwaysMeets, Planted::ForgetsReturns, Planted::NoControl, Planted::NoMust, Planted::FreeResult]);
    bugs.extend([Planted::NoConditions, Planted::NoExit, Planted::NotByFunction]);
    bugs
}

#[test]
fn every_weakened_rule_is_caught() {
    let rejected: Vec<Program> = REJECTED.iter().map(|case| program(case).1).collect();
    let bugs = bugs(&rejected);
    let (mut survived, mut wrong) = (Vec::new(), Vec::new());
    let mut caught = 0;
    for &planted in &bugs {
        let settings = Settings { planted, ..Settings::default() };
        let seen = rejected.iter().any(|p| seed::analyse_with(p, &settings).accepts());
        let redundant = matches!(planted, Planted::Without(rule, number) if REDUNDANT.contains(&(rule, number)));
        match (seen, redundant) {
            (false, false) => survived.push(planted),
            (true, true) => wrong.push(planted),
            _ => caught += usize::from(seen),
        }
    }
    println!("{caught} of {} weakened rules are caught", bugs.len());
    assert!(survived.is_empty(), "nothing diverges under {survived:?}");
    assert!(wrong.is_empty(), "not redundant: {wrong:?}");
    assert!(caught >= 60, "{caught} bugs");
}

/// An unsound rule by the letter accepts some program of REJECTED. A rule by the letter that is
/// only too strict accepts none of them.
#[test]
fn letters_are_unsound_or_not_as_the_errata_say() {
    let rejected: Vec<Program> = REJECTED.iter().map(|case| program(case).1).collect();
    for number in 1..=14 {
        let mut letter = LiteralRules::default();
        let Some(flag) = letter.flag(number) else { continue };
        *flag = true;
        let settings = Settings { letter, ..Settings::default() };
        let unsound = rejected.iter().any(|p| seed::analyse_with(p, &settings).accepts());
        assert_eq!(unsound, [1, 8, 9, 10].contains(&number), "U-{number}");
    }
}

fn metadata(text: &str, name: &str) -> Metadata {
    let validated = smallstep_semantics::wsl::validate::validate(text);
    let program = validated.program.unwrap_or_else(|| panic!("{:?}\n{text}", validated.errors));
    let at = program.env.functions.iter().position(|f| program.env.names.name(f.name.name) == name).expect("the function is there");
    seed::analyse(&program).functions[at].clone()
}

#[test]
fn metadata_are_as_computed_by_hand() {
    let barrier = Some(Need::Barrier);
    let must = Parameter::MustBeUniform(Need::Barrier);
    let (conditionally, free) = (Parameter::Conditionally, Parameter::Free);
    let cases = [
        ("void f(uint x) { GroupMemoryBarrierWithGroupSync(); }", barrier, vec![free], false, Exit::AsEntry),
        ("void f(uint x) { if (x == 0) { GroupMemoryBarrierWithGroupSync(); } }", barrier, vec![must], false, Exit::AsEntry),
        ("uint f(uint x, uint y) { return x; }", None, vec![conditionally, free], true, Exit::AsEntry),
        ("uint f(uint x, device uint* y) { return x + *y; }", None, vec![conditionally, free], false, Exit::AsEntry),
        ("uint f(uint x, uint y) { if (y == 0) { return 1; } return 2; }", None, vec![free, conditionally], true, Exit::AsEntry),
        ("void f(uint x, uint y) { if (y == 0) { discard; } }", None, vec![free, free], false, Exit::IfUniform(vec![1])),
        ("void f(device uint* y) { if (*y == 0) { discard; } }", None, vec![free], false, Exit::Varies),
        ("void f() { discard; }", None, vec![], false, Exit::IfUniform(vec![])),
        (
            "void g(uint x) { if (x == 0) { GroupMemoryBarrierWithGroupSync(); } } void f(uint a, uint b) { g(b); }",
            barrier,
            vec![free, must],
            false,
            Exit::AsEntry,
        ),
    ];
    for (text, control, parameters, result, exit) in cases {
        assert_eq!(metadata(text, "f"), Metadata { control, parameters, result, exit, stores: Vec::new() }, "{text}");
    }
    let derivative = metadata("float f(float x) { return ddx(x); }", "f");
    assert_eq!(
        derivative,
        Metadata {
            control: Some(Need::Derivative),
            parameters: vec![conditionally],
            result: true,
            exit: Exit::AsEntry,
            stores: Vec::new()
        }
    );
}

/// The picture of a function has a node that cannot be uniform if and only if the function
/// is rejected.
#[test]
fn pictures_show_why() {
    for case in ACCEPTED.iter().chain(REJECTED) {
        let (text, program) = program(case);
        let analysis = seed::analyse(&program);
        for f in (0..program.bodies.len() as u32).map(FunctionId) {
            let picture = seed::picture(&program, &text, f);
            let rejected = analysis.rejections.iter().any(|r| r.function == f);
            assert_eq!(picture.nodes.iter().any(|(kind, _)| *kind == Kind::Cannot), rejected, "{}", case.what);
            assert!(picture.edges.iter().all(|(a, b, _)| (*a.max(b) as usize) < picture.nodes.len()));
        }
    }
}

/// In a group of one invocation everything is uniform. A function that larger groups run too is
/// judged as for larger groups.
#[test]
fn groups_of_one_invocation_are_uniform() {
    let text = |threads: &str, more: &str| {
        format!(
            "void f(device uint[] d) {{ if (d[0] == 0) {{ GroupMemoryBarrierWithGroupSync(); }} }} \
             [numthreads({threads})] compute void main(uint t : SV_GroupIndex, device uint[] d : register(u0)) \
             {{ f(d); if (t == 0) {{ GroupMemoryBarrierWithGroupSync(); }} }} {more}"
        )
    };
    let rejections = |text: &str| {
        let program = smallstep_semantics::wsl::validate::validate(text).program.expect("it is valid");
        seed::analyse(&program).rejections.len()
    };
    assert_eq!(rejections(&text("1, 1, 1", "")), 0);
    assert_eq!(rejections(&text("2, 1, 1", "")), 2);
    let other = "[numthreads(2, 1, 1)] compute void other(device uint[] d : register(u0)) { f(d); }";
    assert_eq!(rejections(&text("1, 1, 1", other)), 1);
}

#[test]
fn an_explanation_goes_from_the_barrier_to_what_differs() {
    let text = "void g(uint n) {\n    if (n == 3) {\n        GroupMemoryBarrierWithGroupSync();\n    }\n}\n\
                [numthreads(8, 1, 1)] compute void main(uint tid : SV_GroupIndex) {\n    uint x = 1;\n    x = tid;\n    g(x);\n}\n";
    let program = smallstep_semantics::wsl::validate::validate(text).program.expect("it is valid");
    let analysis = seed::analyse(&program);
    let [rejection] = &analysis.rejections[..] else { panic!("{:?}", analysis.rejections) };
    let steps: Vec<String> = rejection
        .steps
        .iter()
        .map(|s| {
            let (line, column) = line_column(text, s.span.start);
            format!("{line}:{column} {}{}", s.text, s.rule.map_or(String::new(), |r| format!(" [{r}]")))
        })
        .collect();
    let expected = [
        "3:9 this barrier needs control flow that is uniform in the workgroup",
        "9:5 whether it is reached depends on what this call gives for `n` of `g`",
        "9:7 this value [uniformity/variable]",
        "7:10 the variable `x` [uniformity/assign]",
        "8:9 this value [uniformity/variable]",
        "6:46 the parameter `tid` [uniformity/entry-point]",
        "6:46 `tid` is SV_GroupIndex, which differs between invocations [uniformity/entry-point]",
    ];
    assert_eq!(steps, expected);
}

/// Deep and long programs are analysed, and the size of the graph is linear in the size of
/// the program.
#[test]
fn graphs_are_linear_in_the_program() {
    let size = |n: usize| {
        let body: String = (0..n).map(|i| format!("x = x + {i}; if (x == c[0]) {{ x = 2; }} ")).collect();
        let text =
            format!("[numthreads(8, 1, 1)] compute void main(uint x : SV_GroupIndex, constant uint[] c : register(b0)) {{ {body} }}");
        let program = smallstep_semantics::wsl::validate::validate(&text).program.expect("it is valid");
        let start = std::time::Instant::now();
        let analysis = seed::analyse(&program);
        println!("{} statements in {:?}", program.stmts.len(), start.elapsed());
        (analysis.nodes, analysis.edges)
    };
    let (small, large) = (size(200), size(2000));
    let start = std::time::Instant::now();
    let huge = size(20_000);
    println!("60,000 statements: {} nodes, {} edges; read, validated and analysed in {:?}", huge.0, huge.1, start.elapsed());
    assert!(large.0 < 10 * small.0 && large.1 < 10 * small.1, "{small:?}, {large:?}");
    let nested = format!("uint f(uint x) {{ return {}x{}; }}", "(".repeat(3000), ")".repeat(3000));
    assert!(metadata(&nested, "f").result);
}

/// A chain of calls, in which each function calls the previous one.
#[test]
fn chains_of_calls_are_analysed_once_each() {
    let mut text = String::from("void f0(uint x) { if (x == 0) { GroupMemoryBarrierWithGroupSync(); } }\n");
    (1..2000).for_each(|i| text += &format!("void f{i}(uint x) {{ f{}(x); }}\n", i - 1));
    text += "[numthreads(8, 1, 1)] compute void main(uint tid : SV_GroupIndex) { f1999(tid); }";
    let program = smallstep_semantics::wsl::validate::validate(&text).program.expect("it is valid");
    let analysis = seed::analyse(&program);
    assert_eq!(analysis.rejections.len(), 1);
    assert!(analysis.nodes < 20 * 2000 && analysis.rejections[0].steps.len() < 100);
}

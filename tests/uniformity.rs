//! The oracle of the uniformity analysis. It finds exactly the programs whose threads are *apart*:
//! they do not execute the same instances of a barrier or derivative. A campaign catches
//! wrong analyses.

use smallstep::compile;
use smallstep::generate::spirv::barriers;
use smallstep::generate::uniformity::{Generated, program};
use smallstep::theorem::uniformity::relation::{disagreement, disagreement_with};
use smallstep::theorem::uniformity::{
    Answer, Executions, Found, Observed, Plan, Rejected, Spirv, Wsl, accept_all, branches, campaign, execution, precise, precise_spirv,
    reject_all, seed, spirv,
};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::step::{self, Env};
use smallstep_semantics::spirv::{Config, Module, Next, Relation, Rules};
use smallstep_semantics::wsl::execution::Planted;
use smallstep_semantics::wsl::group::{Replacement, State};
use smallstep_semantics::wsl::typing::program::Program;

const HEAD: &str = "[numthreads(4, 1, 1)] compute void main(uint lane : SV_GroupIndex, uint3 gid : SV_GroupID, constant uint[] c : register(b0), \
                    device uint[] data : register(u0))";

fn typed(text: &str) -> Program {
    smallstep_semantics::wsl::check(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn observed(text: &str) -> Observed {
    let program = typed(text);
    let observed = execution::observe(text, &program, [2, 1, 1], 7, &Executions::default());
    assert_eq!(disagreement(text, &program, [2, 1, 1], 7, &Executions::default()), None, "{text}");
    observed
}

/// The observation of a body of `main` behind other functions.
fn shows(functions: &str, body: &str) -> Observed {
    observed(&format!("{functions} {HEAD} {{ {body} }}"))
}

fn is_apart(functions: &str, body: &str) -> bool {
    match shows(functions, body) {
        Observed::Apart { .. } => true,
        Observed::Together { .. } => false,
        Observed::Unjudged(why) => panic!("{why}: {body}"),
    }
}

const SYNC: &str = "AllMemoryBarrierWithGroupSync();";

#[test]
fn the_first_erratum_of_the_seed_is_apart() {
    let body = format!("uint a = 0u; if (lane < 2u) {{ a = 1u; }} else {{ return; }} if (c[0] < 9u) {{ {SYNC} }}");
    assert!(is_apart("", &body));
}

#[test]
fn a_place_alone_is_no_instance() {
    // All threads reach the same barrier once, but in different iterations.
    assert!(is_apart("", &format!("for (uint i = 0u; i < 4u; i++) {{ if (i == lane) {{ {SYNC} }} }}")));
    assert!(is_apart(
        "",
        &format!("for (uint i = 0u; i < 2u; i++) {{ for (uint k = 0u; k < 2u; k++) {{ if (2u * i + k == lane) {{ {SYNC} }} }} }}")
    ));
    // The same barrier, reached through different calls.
    let f = format!("void f() {{ {SYNC} }}");
    assert!(is_apart(&f, "if (lane == 0u) { f(); } else { f(); }"));
    assert!(is_apart(&format!("{f} void g() {{ f(); }}"), "if (lane == 0u) { g(); } else { g(); }"));
    // The same call, in different iterations of a loop around it.
    assert!(is_apart(&f, "for (uint i = 0u; i < 4u; i++) { if (i == lane) { f(); } }"));
    let g = format!("{f} void g(uint lane) {{ for (uint i = 0u; i < 4u; i++) {{ if (i == lane) {{ f(); }} }} }}");
    assert!(is_apart(&g, "g(lane);"));
}

#[test]
fn equal_traces_are_not_apart() {
    let f = format!("void f() {{ {SYNC} }}");
    assert!(!is_apart(&f, "for (uint i = 0u; i < c[0]; i++) { f(); f(); }"));
    assert!(!is_apart("", &format!("uint x = lane; if (lane < 2u) {{ x = 3u; }} else {{ x = 4u; }} {SYNC}")));
    // Threads leave a loop in different iterations, and meet behind it.
    assert!(!is_apart("", &format!("for (uint i = 0u; i < 4u; i++) {{ if (i == lane) {{ break; }} }} {SYNC}")));
    // A condition that differs between groups does not differ within one.
    assert!(!is_apart("", &format!("if (gid.x == 0u) {{ {SYNC} }}")));
    assert!(is_apart("", &format!("if (lane == 0u) {{ {SYNC} }}")));
    let Observed::Together { met, cut: false } = shows("", &format!("{SYNC} {SYNC}")) else { panic!("threads are apart") };
    // Two barriers in each of two groups, in each of eight runs.
    assert_eq!(met, 32);
}

#[test]
fn a_thread_that_never_ends_leaves_a_prefix() {
    let spin = "for (;;) { if (lane == 99u) { break; } }";
    // The thread may still reach the barrier, as far as its trace shows.
    assert!(matches!(shows("", &format!("if (lane == 1u) {{ {spin} }} {SYNC}")), Observed::Together { cut: true, .. }));
    // It never ends after a barrier that all threads have passed.
    let Observed::Together { met, cut: true } = shows("", &format!("{SYNC} if (lane == 1u) {{ {spin} }} {SYNC}")) else { panic!("apart") };
    assert_eq!(met, 16);
    // The other threads are compared with each other.
    assert!(is_apart("", &format!("if (lane == 0u) {{ {spin} }} if (lane == 1u) {{ {SYNC} }} else {{ {SYNC} }}")));
    assert!(is_apart("", &format!("if (lane == 3u) {{ {spin} }} if (lane == 1u) {{ return; }} {SYNC}")));
    // The thread may be apart before its endless loop.
    assert!(is_apart("", &format!("if (lane == 0u) {{ {SYNC} {spin} }} else {{ {SYNC} }}")));
}

#[test]
fn other_contents_of_buffers_are_tried() {
    let body = format!("if (c[0] == 0u) {{ {SYNC} }} else if (c[1] > 1u) {{ if (lane < 1u) {{ {SYNC} }} }}");
    let Observed::Apart { run, .. } = shows("", &body) else { panic!("no run shows threads apart") };
    assert!(run > 0, "in run 0 the constants are zeros");
    // The order of threads decides: only the first thread sees a zero.
    assert!(is_apart(
        "",
        &format!("data[0] = 0u; uint x = data[0]; data[0] = 1u; data[1] = x; uint y = data[2]; data[2] = 9u; if (y < 9u) {{ {SYNC} }}")
    ));
}

fn fragment(body: &str) -> bool {
    let head = "fragment float4 main(float2 at : attribute(0), constant uint[] c : register(b0)) : SV_Target 0";
    let text = format!("{head} {{ uint x = uint(at.x * 2.0); uint y = uint(at.y * 2.0); {body} return float4(0.0, 0.0, 0.0, 0.0); }}");
    match observed(&text) {
        Observed::Apart { .. } => true,
        Observed::Together { .. } => false,
        Observed::Unjudged(why) => panic!("{why}: {text}"),
    }
}

#[test]
fn derivatives_are_compared_over_quads() {
    assert!(!fragment("float d = ddx(at.x);"));
    assert!(!fragment("if (c[0] < 3u) { float d = fwidth_fine(at.x); }"));
    assert!(fragment("if (x == 1u) { float d = ddx(at.x); }"));
    assert!(fragment("if (x + y == 2u) { float d = ddy_coarse(at.x); }"));
    assert!(fragment("for (uint i = 0u; i < x; i++) { float d = fwidth(at.x); }"));
    assert!(fragment("for (uint i = 0u; i < 2u; i++) { if (i == x) { float d = ddx(at.x); } }"));
    // A discarded thread reaches nothing more.
    assert!(fragment("if (y == 1u) { discard; } float d = ddx(at.x);"));
    assert!(!fragment("if (c[0] == 1u) { discard; } float d = ddx(at.x);"));
}

#[test]
fn a_reference_interpreter_with_a_bug_does_not_agree() {
    let text = format!("{HEAD} {{ if (lane < 2u) {{ {SYNC} }} }}");
    let program = typed(&text);
    let all_pass = Replacement::Barrier(|_, group| {
        for (thread, state) in &mut group.threads {
            if *state != State::Ended {
                thread.released = true;
                *state = State::Running;
            }
        }
        Ok(())
    });
    let planted = Planted { group: Some(all_pass), ..Planted::default() };
    let said = disagreement_with(&text, &program, [1, 1, 1], 1, &Executions::default(), planted);
    assert!(said.as_ref().is_some_and(|said| said.contains("reference: together")), "{said:?}");
    assert_eq!(disagreement(&text, &program, [1, 1, 1], 1, &Executions::default()), None);
}

fn judged(analysis: fn(&Program) -> Answer, count: u64, examples: usize) -> Found {
    campaign::<Wsl>(&Plan { count, threads: 2, references: 20, examples, ..Plan::default() }, &analysis, &|| ())
}

#[test]
fn an_analysis_that_accepts_everything_is_caught() {
    let found = judged(accept_all, 400, 0);
    assert_eq!((found.failures, found.programs), (0, 400), "{:?}", found.failure_cases);
    assert!(found.references == 20 && found.apart == found.unsound && found.accepted == 400);
    assert_eq!(found.precision(), 100.0);
    let smallest = found.unsound_cases.iter().map(|case| case.text.lines().count()).min();
    assert!(smallest.is_some_and(|lines| lines <= 8), "{smallest:?}");
    for case in &found.unsound_cases {
        let Generated { groups, .. } = program(case.seed);
        let shown = execution::observe(&case.text, &typed(&case.text), groups, case.seed, &Executions::default());
        assert!(matches!(shown, Observed::Apart { .. }), "{shown:?}\n{}", case.text);
        assert!(case.what.contains("thread"), "{}", case.what);
    }
}

#[test]
fn what_is_rejected_needlessly_is_counted_by_cause() {
    let all = judged(reject_all, 200, 1);
    assert_eq!((all.unsound, all.accepted, all.precision()), (0, 0, 0.0));
    let [cause] = &all.causes[..] else { panic!("{:?}", all.causes) };
    assert_eq!(cause.count, all.together());
    let branches = judged(branches, 400, 2);
    assert_eq!((branches.unsound, branches.failures), (0, 0));
    assert!(branches.causes.len() > 1 && branches.causes[0].count >= branches.causes[1].count);
    assert_eq!(branches.causes.iter().map(|cause| cause.count).sum::<u64>() + branches.accepted_together, branches.together());
    let example = branches.causes[0].example.as_ref().expect("one is asked for");
    assert_eq!(smallstep::theorem::uniformity::branches(&typed(&example.text)), Err(Rejected::new(&branches.causes[0].cause)));
    assert!(example.text.lines().count() <= 16, "{}", example.text);
}

#[test]
fn the_analyses_of_wsl_accept_no_program_that_comes_apart() {
    for (name, analysis) in [("precise", precise as fn(&Program) -> Answer), ("seed", seed)] {
        let found = judged(analysis, 3000, 0);
        assert_eq!((found.unsound, found.failures), (0, 0), "{name}: {:?} {:?}", found.unsound_cases, found.failure_cases);
        println!("{name}: {:.1} %", found.precision());
        assert!(found.apart > 300 && found.accepted_together > 0);
    }
}

#[test]
fn the_precise_analysis_of_modules_accepts_none_that_comes_apart() {
    let plan = Plan { count: 2000, threads: 2, references: 0, examples: 0, ..Plan::default() };
    let found = campaign::<Spirv>(&plan, &precise_spirv, &|| ());
    assert_eq!((found.unsound, found.failures), (0, 0), "{:?} {:?}", found.unsound_cases, found.failure_cases);
    println!("{:.1} %", found.precision());
    assert!(found.apart > 150 && found.accepted_together > 0);
}

/// If a program is accepted as WSL, its SPIR-V translation is accepted. The analysis of the module
/// may be more precise.
#[test]
fn translated_programs_are_judged_alike() {
    let (mut both, mut neither, mut module_only, mut program_only, mut refused) = (0, 0, 0, Vec::new(), 0);
    for generated in (0..600).map(program) {
        let text = generated.tree.text();
        let program = typed(&text);
        let translated = compile::wsl::translate(&program, &program.entry_points[0], &compile::wsl::Options::default());
        let Ok(translated) = translated else {
            refused += 1;
            continue;
        };
        let module = Module::load(&translated.words).unwrap_or_else(|e| panic!("{e}\n{text}"));
        match (precise(&program), precise_spirv(&module)) {
            (Ok(()), Ok(())) => both += 1,
            (Err(_), Err(_)) => neither += 1,
            (Err(_), Ok(())) => module_only += 1,
            (Ok(()), Err(why)) => program_only.push((why, text)),
        }
    }
    let only = program_only.len();
    println!(
        "{both} accepted by both, {neither} by neither, {module_only} as modules only, {only} as programs only; {refused} not translated"
    );
    assert!(both > 200 && neither > 40);
    if let Some((why, text)) = program_only.first() {
        panic!("{only} are accepted as programs only, as this one: {why}\n{text}");
    }
}

#[test]
fn campaigns_do_not_depend_on_threads() {
    let on = |threads| campaign::<Wsl>(&Plan { count: 120, threads, ..Plan::default() }, &accept_all, &|| ());
    assert_eq!(on(1), on(2));
}

#[test]
fn modules_with_barriers_anywhere_often_come_apart() {
    let plan =
        Plan { count: 1500, threads: 2, references: 30, executions: Executions { runs: 4, ..Executions::default() }, ..Plan::default() };
    let found = campaign::<Spirv>(&plan, &accept_all, &|| ());
    assert_eq!((found.failures, found.programs, found.references), (0, 1500, 50), "{:?}", found.failure_cases);
    assert!(found.apart_percent() >= 10.0, "{}", found.apart_percent());
    assert!(found.met * 10 > found.together() * 6, "{} of {}", found.met, found.together());
    for case in &found.unsound_cases {
        assert!(case.what.contains("spirv/divergent-barrier") && case.text.lines().count() < 100, "{}\n{}", case.what, case.text);
    }
    let other = campaign::<Spirv>(&Plan { threads: 1, ..plan }, &accept_all, &|| ());
    assert_eq!(found, other);
    let none = campaign::<Spirv>(&Plan { count: 200, ..plan }, &reject_all, &|| ());
    assert_eq!((none.unsound, none.accepted_together), (0, 0));
    let [cause] = &none.causes[..] else { panic!("{:?}", none.causes) };
    assert_eq!(cause.count, none.together());
}

#[test]
fn a_relation_whose_barriers_do_not_wait_does_not_agree() {
    fn passed<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
        match step::barrier::control_barrier(env, config)? {
            Next::Waits(next, _) => Some(Next::Config(next)),
            other => Some(other),
        }
    }
    let rules = Rules::default().replace(Rule::SpirvControlBarrier, passed);
    let relation = Relation { rules, ..Relation::default() };
    let executions = Executions { runs: 4, ..Executions::default() };
    let mut caught = 0;
    for seed in 1..400 {
        let case = barriers::module(seed).case();
        let module = Module::load(&case.words).unwrap_or_else(|error| panic!("{seed}: {error}"));
        if let Observed::Apart { .. } = spirv::observe(&case, &module, seed, &executions) {
            assert_eq!(spirv::disagreement(&case, &module, seed, &executions, &Relation::default()), None);
            caught += u32::from(spirv::disagreement(&case, &module, seed, &executions, &relation).is_some());
        }
    }
    assert!(caught > 10, "{caught}");
}

/// Forms that generated programs must contain, and in how many of a thousand at least.
const FORMS: [(&str, u32); 44] = [
    ("if (", 600),
    (" else ", 300),
    ("while (", 200),
    ("do {", 100),
    ("for (", 300),
    ("switch (", 150),
    ("fallthrough;", 60),
    ("break;", 150),
    ("continue;", 50),
    ("return;", 10),
    ("discard;", 5),
    ("&&", 200),
    ("||", 100),
    (" ? ", 200),
    ("++", 200),
    ("--", 20),
    ("+=", 100),
    ("thread uint* p", 50),
    ("thread uint* a", 80),
    ("(&v", 20),
    ("threadgroup uint[8] part", 500),
    ("@part", 80),
    ("data[", 400),
    ("c[", 500),
    ("gid.x", 200),
    ("tid.x", 200),
    ("Pair v", 80),
    ("uint4(", 80),
    ("uint[4] v", 80),
    (".sum", 10),
    (".met", 5),
    ("AllMemoryBarrierWithGroupSync(), ", 10),
    ("bool b", 100),
    ("thread Pair* p", 10),
    ("->", 5),
    ("thread uint[] p", 10),
    ("thread uint[] a", 20),
    ("constant uint* p", 20),
    ("device uint* p", 20),
    ("InterlockedAdd(", 20),
    (".half ", 5),
    (".first ", 5),
    ("*same(&", 5),
    ("*second(&", 1),
];

#[test]
fn generated_programs_use_every_form_and_often_come_apart() {
    let count = 2000u32;
    let texts: Vec<String> = (0..u64::from(count)).map(|seed| program(seed).tree.text()).collect();
    for (form, permille) in FORMS {
        let with = texts.iter().filter(|text| text.contains(form)).count() as u32;
        assert!(with * 1000 >= permille * count, "{form}: {with} of {count}");
    }
    assert_eq!(program(5), program(5));
    let found = judged(accept_all, u64::from(count), 0);
    assert_eq!(found.failures, 0, "{:?}", found.failure_cases);
    assert!(found.apart_percent() >= 10.0, "{}", found.apart_percent());
    // In most other programs, threads meet.
    assert!(found.met * 10 > found.together() * 7, "{} of {}", found.met, found.together());
    assert!(found.cut > 0);
}

//! λV from text to value on small programs: typing with its checker, the relation, and
//! the machine.

use smallstep_semantics::lambda_v::machine::{self, Bounds, Pixels, Sharing};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{Reduct, Reduction, Setting, Strategy, Theorem};
use smallstep_semantics::lambda_v::terms::Node;
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::lambda_v::typing::{self, Limits};
use smallstep_semantics::number::{Arithmetic, Lane, Op};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallvec::SmallVec;

/// Runs a program on every engine. The engines must agree. Returns the value of its first output as
/// text, or the name of the ending.
fn run(text: &str) -> String {
    let program = Program::read(text).expect("reads");
    let setting = Setting::at_pixel(3, 4);
    let e = program.outputs[0].term;

    let mut fired = Vec::new();
    let mut reduction = Reduction::new(&program, setting);
    let outcome = reduction.run(e, Strategy::First, 10_000, &mut |r, _, reduct| {
        let value = (reduct.rule == Rule::LvEBuiltin).then(|| made(r, reduct));
        fired.push((reduct.rule, r.terms.span(reduct.redex), value));
    });
    for seed in 0..5 {
        let random = Reduction::new(&program, setting).run(e, Strategy::Random(seed), 10_000, &mut |_, _, _| {});
        assert!(same(&outcome, &random), "{text}: {outcome:?} and, in another order, {random:?}");
    }

    let bounds = Bounds { fuel: 10_000, ..Bounds::default() };
    let mut seen = Vec::new();
    let mut sink = |f: machine::Firing<'_>| seen.push((f.0, f.1, f.2.map(|v| v.bits().collect::<Vec<_>>())));
    let (by_name, steps) = machine::run_watched(&program, e, &setting, bounds, Sharing::ByName, Some(&mut sink));
    assert!(same(&outcome, &by_name), "{text}: {outcome:?} and by name {by_name:?}");
    let (by_need, shared_steps) = machine::run(&program, e, &setting, bounds);
    assert!(same(&outcome, &by_need), "{text}: {outcome:?} and by need {by_need:?}");
    assert_eq!(Pixels::new(&program, bounds).run(e, &setting), bits((by_need, shared_steps)), "{text}");
    if matches!(outcome, Outcome::Observed(_)) {
        assert_eq!(seen, fired, "{text}: the machine fires the relation's rules");
        assert_eq!((steps, shared_steps), (fired.len() as u64, fired.len() as u64), "{text}");
    }
    match outcome {
        Outcome::Observed(v) => v.to_string(),
        other => other.name().into(),
    }
}

/// The bits of the value with which a reduct replaces its redex.
fn made(r: &Reduction, reduct: &Reduct) -> Vec<u32> {
    let mut e = reduct.next;
    for &i in &reduct.at {
        let Node::List(items) = r.terms.node(e) else { panic!("the path leads through lists") };
        e = r.terms.items(items)[i as usize];
    }
    r.value(e).expect("δ makes a value").bits().collect()
}

/// The ending of a run, with bits in place of the value, and the steps of the run.
fn bits((outcome, steps): (Outcome<Value>, u64)) -> (Outcome<SmallVec<[u32; 4]>>, u64) {
    (outcome.map(|value| value.bits().collect()), steps)
}

fn same(a: &Outcome<Value>, b: &Outcome<Value>) -> bool {
    match (a, b) {
        (Outcome::Observed(x), Outcome::Observed(y)) => x.same_bits(y),
        _ => a.name() == b.name(),
    }
}

fn ty(text: &str) -> String {
    let program = Program::read(text).expect("reads");
    match typing::infer(&program, Limits::default()) {
        Ok(d) => {
            typing::check(&d).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            d.types().map(|t| t.to_string()).collect::<Vec<_>>().join(" ")
        }
        Err(e) => e.code().into(),
    }
}

const NAT_FOLD: &str = "(let ((nat-fold (func (n accum f)
    (let ((body (rec-func (n accum) (if (eq n 0) accum (rec (- n 1) (f accum n)))))) (body n accum)))))
  (nat-fold 4 0 +))";
const SUMUP: &str = "(let ((sumup (func (self n) (if (eq n 0) 0 (+ n (self self (- n 1))))))) (sumup sumup 10))";

#[test]
fn programs_have_their_types_and_values() {
    for (text, expected_type, expected) in [
        ("(vec4 1.0 1.0 0.0 1.0)", "Vec(4,f)", "<1 1 0 1>"),
        ("(+ 1 2)", "Num", "3"),
        ("(if (less-than 1 2) 5 6)", "Num", "5"),
        ("(let ((x 1) (y 2)) (let ((x y) (y x)) (- x y)))", "Num", "1"),
        ("((func (x y) (* x y)) 3 4)", "Num", "12"),
        ("(((func (x) (func (y) (- x y))) 3) 4)", "Num", "-1"),
        ("(let ((plus +)) (plus 1 2))", "Num", "3"),
        ("(let ((+ -)) (+ 1 2))", "Num", "-1"),
        ("(let ((my-if if)) (my-if true 1 2))", "Num", "1"),
        ("(let ((if 3)) (+ if 1))", "Num", "4"),
        ("((rec-func (n acc) (if (eq n 0) acc (rec (- n 1) (+ acc n)))) 10 0)", "Num", "55"),
        ("((rec-func (n) (let ((again rec)) (if (less-equal n 1) n (again (/ n 2))))) 8)", "Num", "1"),
        ("((rec-func (n) ((func (r) (if (less-equal n 1) n (r (- n 2)))) rec)) 9)", "Num", "1"),
        ("(let ((unused (1 2))) 7)", "Num", "7"),
        ("(column 1 (mat2 (vec2 1 2) (vec2 3 4)))", "Vec(2,f)", "<3 4>"),
        ("(* (mat2 (vec2 1 2) (vec2 3 4)) (vec2 1 1))", "Vec(2,f)", "<4 6>"),
        ("(x (frag-coord))", "Num", "3.5"),
        (NAT_FOLD, "Num", "10"),
        ("(x (column 2 (transpose (mat3 (vec3 1 2 3) (vec3 4 5 6) (vec3 7 8 9)))))", "Num", "3"),
        // let carries rec of the outer loop into the inner loop, where it still means the
        // outer loop.
        ("((rec-func (n) (if (eq n 0) 42 (let ((again rec)) (again ((rec-func (m) (if (eq m 0) m (rec (- m 1)))) n))))) 3)", "Num", "42"),
        ("((rec-func (n) (if (eq n 0) n (rec n))) 3)", "Num", "diverges"),
        ("((rec-func (n) (if (eq n 0) n (rec (+ n 1)))) 3)", "Num", "out of fuel"),
    ] {
        assert_eq!(ty(text), expected_type, "{text}");
        assert_eq!(run(text), expected, "{text}");
    }
}

#[test]
fn ill_typed_programs_break_a_rule() {
    for (text, code) in [
        ("(if (vec4 1 1 1 1) 1 2)", "lv/t-if"),
        ("(if true 1 false)", "lv/t-if"),
        ("(1 2)", "lv/t-num"),
        ("(true 2)", "lv/t-true"),
        ("(false)", "lv/t-false"),
        ("(+ 1 true)", "lv/t-builtin"),
        ("+", "lv/t-builtin"),
        ("((func (x) x) 1 2)", "lv/t-func"),
        ("(func (x) x)", "lv/t-func"),
        ("()", "lv/t-app"),
        ("((rec-func (n) n) 1)", "lv/t-rec-func"),
        ("((rec-func (n) (rec n)) 1)", "lv/t-rec-func"),
        ("((rec-func (n) (+ 1 (if true 1 (rec n)))) 1)", "lv/t-rec"),
        ("((rec-func (n) (if true 1 (rec true))) 1)", "lv/t-rec"),
        ("((rec-func (n) (if true (n 1) (rec 1))) 1)", "lv/t-param"),
        // The inner loop calls the outer one's rec.
        ("((rec-func (n) (if true 1 (let ((out rec)) ((rec-func (m) (if true 1 (if true (out 1) (rec 1)))) 1)))) 1)", "lv/t-rec"),
        // LV-8: an argument of the inner loop is a call of the outer one.
        ("((rec-func (n) (if true 1 ((rec-func (m) (if true 1 (rec m))) (rec 1)))) 1)", "lv/t-rec-func"),
        ("true", "lv/t-true"),
        (SUMUP, "lv/no-finite-derivation"),
        ("((func (x) (x x)) (func (x) (x x)))", "lv/no-finite-derivation"),
        // Self-application of functions that keep growing reaches a limit.
        ("((func (f g) (f f (func (h) (g h)))) (func (f g) (f f (func (h) (g h)))) +)", "lv/limit"),
    ] {
        assert_eq!(ty(text), code, "{text}");
    }
}

#[test]
fn let_heavy_programs_are_typed_in_shared_nodes() {
    let mut text = "(let ((f0 1)) ".to_string();
    for i in 1..200 {
        text += &format!("(let ((f{i} (+ f{0} f{0}))) ", i - 1);
    }
    text += "f199";
    text += &")".repeat(200);
    let program = Program::read(&text).expect("reads");
    let derivation = typing::infer(&program, Limits::default()).expect("types");
    assert!(derivation.nodes.len() < 2_000, "{} nodes", derivation.nodes.len());
    typing::check(&derivation).expect("checks");
}

#[test]
fn the_printed_theorem_reduces_by_name() {
    let text = "((rec-func (n x) (if (eq n 0) n (rec (- n 1) x))) 3 ((rec-func (d) (if (eq d 1) d (rec d))) 0))";
    let program = Program::read(text).expect("reads");
    let printed = Setting { theorem: Theorem::Printed, ..Setting::at_pixel(0, 0) };
    let outcome = Reduction::new(&program, printed).run(program.outputs[0].term, Strategy::First, 1000, &mut |_, _, _| {});
    assert_eq!(outcome.observed().map(|v| v.to_string()), Some("0".into()), "LV-5: the unused argument never runs");
    assert_eq!(run(text), "diverges", "LV-5: corrected, it is a value first");
}

#[test]
fn deep_programs_end_in_a_value_or_a_limit() {
    let n = 4_000;
    let deep = format!("{}1{}", "(+ 1 ".repeat(n), ")".repeat(n));
    let program = Program::read(&deep).expect("reads");
    let d = typing::infer(&program, Limits::default()).expect("types");
    typing::check(&d).expect("checks");
    let (outcome, _) = machine::run(&program, program.outputs[0].term, &Setting::at_pixel(0, 0), Bounds::default());
    assert_eq!(outcome.observed().map(|v| v.to_string()), Some("4001".into()));

    // Doubling: by name the sum has 2^40 terms. Typing and the machine share terms, but all steps
    // are counted.
    let doubling = format!("{}1{}", "((func (x) (+ x x)) ".repeat(40), ")".repeat(40));
    let program = Program::read(&doubling).expect("reads");
    typing::infer(&program, Limits::default()).expect("types");
    let bounds = Bounds { fuel: u64::MAX, ..Bounds::default() };
    let (outcome, steps) = machine::run(&program, program.outputs[0].term, &Setting::at_pixel(0, 0), bounds);
    assert_eq!(outcome.name(), "observed");
    assert_eq!(steps, 2 * ((1 << 40) - 1), "a shared value costs again at each use");
}

/// One [`Pixels`] serves all pixels and outputs of a program, also after endings of any kind.
#[test]
fn bits_alone_end_as_values_do() {
    let mut ends = std::collections::BTreeMap::<&str, u32>::new();
    let mut compare = |program: &Program, bounds: Bounds, what: &dyn std::fmt::Display| {
        let mut pixels = Pixels::new(program, bounds);
        for (x, y) in [(0, 0), (130, 70), (1, 2)] {
            let setting = Setting::at_pixel(x, y);
            for output in &program.outputs {
                let by_values = bits(machine::run(program, output.term, &setting, bounds));
                assert_eq!(pixels.run(output.term, &setting), by_values, "{what} at ({x}, {y})");
                *ends.entry(by_values.0.name()).or_default() += 1;
            }
        }
    };
    for seed in 0..3_000 {
        let text = smallstep_generate::well_typed(seed, &smallstep_generate::Limits::default()).print();
        let program = Program::read(&text).expect("reads");
        for bounds in [
            Bounds { fuel: 10_000, ..Bounds::default() },
            Bounds { fuel: 30, ..Bounds::default() },
            Bounds { bindings: 12, ..Bounds::default() },
            Bounds { depth: 6, ..Bounds::default() },
        ] {
            compare(&program, bounds, &format_args!("seed {seed}, {bounds:?}\n{text}"));
        }
    }
    for file in std::fs::read_dir("../examples").expect("the examples") {
        let path = file.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "lv") {
            let program = Program::read(&std::fs::read_to_string(&path).expect("a text")).expect("reads");
            compare(&program, Bounds::default(), &path.display());
        }
    }
    println!("{ends:?}");
    assert!(["observed", "diverges", "out of fuel", "limit"].iter().all(|name| ends.get(name).is_some_and(|&n| n > 50)), "{ends:?}");
}

#[test]
fn a_planted_operation_is_seen_where_bits_alone_are_asked() {
    let program = Program::read("(+ 1 2)").expect("reads");
    let arithmetic =
        Arithmetic { planted: Some(|op, _, lanes| if op == Op::Add { [Lane::exact(7.0)].into_iter().collect() } else { lanes }) };
    let setting = Setting { arithmetic, ..Setting::at_pixel(0, 0) };
    let (outcome, _) = Pixels::new(&program, Bounds::default()).run(program.outputs[0].term, &setting);
    assert_eq!(outcome.observed().map(|bits| bits[0]), Some(7f32.to_bits()));
}

/// `CODES` has every code of an error in the source that is not the name of a rule.
#[test]
fn every_code_of_an_error_is_known() {
    fn read(folder: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            found.extend(
                text.split('"')
                    .filter(|word| {
                        word.strip_prefix("lv/").is_some_and(|w| !w.is_empty() && w.chars().all(|c| c == '-' || c.is_ascii_lowercase()))
                    })
                    .map(str::to_string),
            );
        }
    }
    let mut found = std::collections::BTreeSet::new();
    read(std::path::Path::new("src/lambda_v"), &mut found);
    found.retain(|code| Rule::from_name(code).is_none());
    assert_eq!(found, smallstep_semantics::lambda_v::parse::CODES.iter().map(ToString::to_string).collect());
}

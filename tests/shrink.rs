//! Shrinking: the small programs that remain for planted predicates.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};
use smallstep::generate::shrink::{Keep, Shrinking, minimal, minimal_that_keeps};
use smallstep::generate::{Limits, near_miss, well_typed};
use smallstep_semantics::lambda_v::machine::{self, Bounds, Sharing};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Tree};
use smallstep_semantics::lambda_v::typing::{self, infer};
use smallstep_semantics::number::{Arithmetic, Lane, Lanes, Op, Tuple};
use smallstep_semantics::rule::Rule;

/// Well-typed programs as a proptest strategy. They shrink like those of a campaign.
#[derive(Clone, Copy, Debug)]
struct Programs;

/// A program while proptest shrinks it.
struct Smaller(Shrinking);

/// A program whose debug output is its text.
#[derive(Clone)]
struct Printed(Tree);

impl std::fmt::Debug for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.print().trim_end())
    }
}

impl Strategy for Programs {
    type Tree = Smaller;
    type Value = Printed;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Programs> {
        let seed = proptest::prelude::Rng::next_u64(runner.rng());
        Ok(Smaller(Shrinking::new(&well_typed(seed, &Limits::default()), Keep::WellTyped)))
    }
}

impl ValueTree for Smaller {
    type Value = Printed;

    fn current(&self) -> Printed {
        Printed(self.0.shown().clone())
    }

    fn simplify(&mut self) -> bool {
        self.0.simplify()
    }

    fn complicate(&mut self) -> bool {
        self.0.complicate()
    }
}

fn nodes(tree: &Tree) -> usize {
    tree.roots.iter().map(|&root| tree.size(root)).sum()
}

fn items(tree: &Tree, id: ExprId) -> &[ExprId] {
    match tree.expr(id) {
        Expr::List(items) => items,
        _ => &[],
    }
}

fn head(tree: &Tree, id: ExprId) -> Option<&str> {
    match tree.expr(*items(tree, id).first()?) {
        Expr::Ident(symbol) => Some(tree.symbols.name(*symbol)),
        _ => None,
    }
}

fn count(tree: &Tree, root: ExprId, found: &dyn Fn(ExprId) -> bool) -> usize {
    usize::from(found(root)) + items(tree, root).iter().map(|&item| count(tree, item, found)).sum::<usize>()
}

fn any(tree: &Tree, found: &dyn Fn(ExprId) -> bool) -> bool {
    tree.roots.iter().any(|&root| count(tree, root, found) > 0)
}

fn calls_rec_twice(tree: &Tree) -> bool {
    any(tree, &|e| head(tree, e) == Some("rec-func") && count(tree, e, &|inner| head(tree, inner) == Some("rec")) > 1)
}

/// The names that a let binds.
fn bound(tree: &Tree, id: ExprId) -> Vec<&str> {
    match (head(tree, id), items(tree, id)) {
        (Some("let"), &[_, list, _]) => items(tree, list).iter().filter_map(|&pair| head(tree, pair)).collect(),
        _ => Vec::new(),
    }
}

fn let_hides_let(tree: &Tree) -> bool {
    any(tree, &|outer| {
        let names = bound(tree, outer);
        items(tree, outer).get(2).is_some_and(|&body| count(tree, body, &|e| bound(tree, e).iter().any(|n| names.contains(n))) > 0)
    })
}

/// Whether δ is applied to the builtin when the program runs.
fn evaluates(tree: &Tree, builtin: &str) -> bool {
    let text = tree.print();
    let Ok(program) = Program::resolve(tree) else { return false };
    program.outputs.iter().any(|output| {
        let mut found = false;
        let mut sink = |(rule, span, _): machine::Firing<'_>| {
            let redex = &text[span.start as usize..span.end as usize];
            found |= rule == Rule::LvEBuiltin && redex.strip_prefix('(').is_some_and(|r| r.split([' ', ')']).next() == Some(builtin));
        };
        machine::run_watched(&program, output.term, &Setting::at_pixel(1, 2), Bounds::default(), Sharing::ByNeed, Some(&mut sink));
        found
    })
}

/// Whether planted arithmetic changes an output.
fn shows(tree: &Tree, planted: smallstep_semantics::number::Planted) -> bool {
    let Ok(program) = Program::resolve(tree) else { return false };
    let right = Setting::at_pixel(1, 2);
    let wrong = Setting { arithmetic: Arithmetic { planted: Some(planted) }, ..right };
    let bounds = Bounds { fuel: 10_000, ..Bounds::default() };
    program.outputs.iter().any(|output| {
        let (expected, seen) =
            (machine::run(&program, output.term, &right, bounds).0, machine::run(&program, output.term, &wrong, bounds).0);
        match (expected.observed(), seen.observed()) {
            (Some(expected), Some(seen)) => !expected.same_bits(seen),
            _ => false,
        }
    })
}

fn swapped_difference(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Sub { smallstep_semantics::number::apply(op, &[args[1], args[0]]) } else { result }
}

fn max_for_min(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Min { smallstep_semantics::number::apply(Op::Max, args) } else { result }
}

/// A property, the greatest median of nodes after shrinking, and the predicate.
type Predicate = (&'static str, usize, fn(&Tree) -> bool);

const PREDICATES: &[Predicate] = &[
    // No well-typed program with two calls of rec is smaller: two ifs, a result,
    // the calls, the application.
    ("a rec-func with two calls of rec", 19, calls_rec_twice),
    ("a let that hides what another binds", 15, let_hides_let),
    ("evaluates cross", 15, |tree| evaluates(tree, "cross")),
    ("evaluates transpose", 15, |tree| evaluates(tree, "transpose")),
    ("evaluates less-than", 15, |tree| evaluates(tree, "less-than")),
    ("shows swapped operands of -", 15, |tree| shows(tree, swapped_difference)),
    ("shows max in the place of min", 15, |tree| shows(tree, max_for_min)),
];

#[test]
fn planted_predicates_shrink_to_fifteen_nodes_within_a_few_hundred_questions() {
    let mut report = String::new();
    let mut failures = Vec::new();
    for &(what, bound, holds) in PREDICATES {
        let mut results: Vec<(usize, usize, usize)> = Vec::new();
        let mut example = String::new();
        for seed in 0.. {
            if results.len() == 50 {
                break;
            }
            assert!(seed < 200_000, "{what}: only {} programs", results.len());
            let tree = well_typed(seed, &Limits::default());
            if nodes(&tree) < 30 || !holds(&tree) {
                continue;
            }
            let mut questions = 0;
            let mut ask = |tree: &Tree| {
                questions += 1;
                holds(tree)
            };
            let small = minimal(&tree, &mut ask, 2_000);
            let text = small.print();
            assert!(holds(&small), "{what}, seed {seed}:\n{text}");
            let program = Program::resolve(&small).unwrap_or_else(|e| panic!("{what}, seed {seed}: {}\n{text}", e.message));
            infer(&program, typing::Limits::default()).unwrap_or_else(|e| panic!("{what}, seed {seed}: {}\n{text}", e.message()));
            assert!(nodes(&small) <= nodes(&tree));
            results.push((nodes(&small), questions, nodes(&tree)));
            if std::env::var_os("SHOW_SHRUNK").is_some() {
                println!("{} -> {} in {questions}: {text}", nodes(&tree), nodes(&small));
            }
            example = text;
        }
        let mut small: Vec<usize> = results.iter().map(|r| r.0).collect();
        let mut questions: Vec<usize> = results.iter().map(|r| r.1).collect();
        small.sort_unstable();
        questions.sort_unstable();
        report += &format!(
            "{what}: {} nodes at the median, {} most; {} questions at the median, {} most; {}",
            small[25], small[49], questions[25], questions[49], example
        );
        if small[25] > bound || questions[25] > 300 {
            failures.push(what);
        }
    }
    println!("{report}");
    assert!(failures.is_empty(), "{failures:?}\n{report}");
}

/// A planted bug: 0 - 0 is -0, whatever the sign of the second operand.
fn negated_zero(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    let is_bad = |i: usize| op == Op::Sub && args[0].lanes[i].bits == 0 && args[1].lanes[i].float() == 0.0;
    result.into_iter().enumerate().map(|(i, lane)| Lane { bits: if is_bad(i) { 0x8000_0000 } else { lane.bits }, ..lane }).collect()
}

#[test]
fn different_programs_that_show_one_thing_come_down_to_the_same() {
    let text = |text: &str, fails: &mut dyn FnMut(&Tree) -> bool| {
        let tree = smallstep_semantics::lambda_v::parse::parse(text).expect("reads");
        assert!(fails(&tree), "{text}");
        minimal(&tree, fails, 2_000).print().trim_end().to_string()
    };
    // Vectors shrink to one component, loops and sums to an expression that is no constant.
    for program in [
        "(- (vec4 0 -0 0 0) (frag-coord))",
        "(vec2 (- 0 ((rec-func (n) (if (less-equal n 0) n (rec (- n (x (frag-coord)))))) 0)) 2)",
        "(- (vec2 0 -0) (* (vec2 0 5) (dot (frag-coord) (frag-coord))))",
        "(define v (frag-coord)) (output 0 2) (output 3 (if true (vec3 1 (- 0 (z v)) 1) (vec3 0 0 0)))",
    ] {
        let mut fails = |tree: &Tree| shows(tree, negated_zero) && any(tree, &|e| head(tree, e) == Some("frag-coord"));
        assert_eq!(text(program, &mut fails), "(- 0 (z (frag-coord)))", "{program}");
    }
    // A constant expression becomes a literal. In a commutative operation the literal comes first.
    let mut adds = |tree: &Tree| any(tree, &|e| head(tree, e) == Some("+") && items(tree, e).len() == 3) && evaluates(tree, "frag-coord");
    assert_eq!(text("(+ (* 2 (w (frag-coord))) (- (+ 1 2) 2))", &mut adds), "(+ 0 (x (frag-coord)))");
    // Conditions that are no literals shrink to one comparison.
    for program in
        ["(if (z (less-equal (frag-coord) (frag-coord))) 0 -1)", "(if (any-of (bvec2 false (greater-than 3 (x (frag-coord))))) 0 -1)"]
    {
        let mut chooses = |tree: &Tree| {
            any(tree, &|e| match *items(tree, e) {
                [_, condition, zero, _] => !items(tree, condition).is_empty() && *tree.expr(zero) == Expr::Num(0.0),
                _ => false,
            })
        };
        let small = text(program, &mut chooses);
        assert_eq!(small, "(if (less-than 0 0) 0 0)", "{program}");
    }
}

#[test]
fn a_slice_is_the_part_that_makes_one_component() {
    use smallstep::generate::shrink::slice;
    let of = |text: &str, location, component| {
        let tree = smallstep_semantics::lambda_v::parse::parse(text).expect("reads");
        slice(&tree, location, component).map(|tree| tree.print())
    };
    let two = "(define a (vec2 1 2)) (output 0 (+ a (vec2 3 4))) (output 2 (column 1 (mat2 a a)))";
    assert_eq!(of(two, 0, 1).as_deref(), Some("(define a (vec2 1 2))\n(output 0 (+ (y a) 4))\n"));
    assert_eq!(of(two, 2, 0).as_deref(), Some("(define a (vec2 1 2))\n(output 2 (x (column 1 (mat2 a a))))\n"));
    assert_eq!(of(two, 1, 0), None, "there is no such output");
    assert_eq!(of("(+ 1 2)", 0, 0), None, "it is the whole");
    assert_eq!(
        of("(let ((b (frag-coord))) (* (if true b b) 3))", 0, 2).as_deref(),
        Some("(let ((b (frag-coord))) (* (if true (z b) (z b)) 3))\n")
    );
}

#[test]
fn near_misses_shrink_to_the_mistake() {
    let code = |tree: &Tree| match Program::resolve(tree) {
        Err(e) => Some(e.code),
        Ok(program) => infer(&program, typing::Limits::default()).err().map(|e| e.code()),
    };
    let mut sizes = Vec::new();
    for seed in 0..200 {
        let (tree, expected) = near_miss(seed, &Limits::default());
        if Program::resolve(&tree).is_err() {
            continue;
        }
        let small = minimal_that_keeps(Keep::Resolved, &tree, &mut |tree| code(tree) == Some(expected.code), 2_000);
        assert_eq!(code(&small), Some(expected.code), "seed {seed}: {}", small.print());
        if std::env::var_os("SHOW_SHRUNK").is_some() {
            println!("{} -> {} {}: {}", nodes(&tree), nodes(&small), expected.code, small.print());
        }
        sizes.push(nodes(&small));
    }
    sizes.sort_unstable();
    println!("near-misses: {} nodes at the median, {} most", sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    assert!(sizes.len() > 80 && sizes[sizes.len() / 2] <= 8);
}

#[test]
fn a_property_of_programs_fails_with_a_small_program() {
    let config = Config { cases: 5_000, failure_persistence: None, max_shrink_iters: 5_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha));
    let result = runner.run(&Programs, |program| match evaluates(&program.0, "reflect") {
        true => Err(TestCaseError::fail("it evaluates reflect")),
        false => Ok(()),
    });
    let Err(TestError::Fail(_, Printed(program))) = result else { panic!("some program evaluates reflect") };
    assert!(nodes(&program) <= 15 && evaluates(&program, "reflect"), "{}", program.print());
}

#[test]
fn what_passes_is_taken_back() {
    let tree = well_typed(5, &Limits::default());
    let mut program = Shrinking::new(&tree, Keep::WellTyped);
    let first = program.shown().clone();
    assert!(first.same(&tree));
    // Every proposal passes: the search ends with the original program.
    let mut more = program.simplify();
    let mut proposals = 0;
    while more {
        assert!(nodes(program.shown()) <= nodes(&tree) && !program.shown().same(&tree));
        proposals += 1;
        more = program.complicate();
    }
    assert!(proposals > 5);
    assert!(program.shown().same(&tree));
    // Every proposal fails: a literal or name remains.
    let small = minimal(&tree, &mut |_| true, 1_000);
    assert_eq!(small.print(), "0\n");
}

#[test]
fn the_budget_is_kept_and_a_hundred_nodes_need_a_few_hundred_questions() {
    let mut most = 0;
    for seed in 0..2_000 {
        let tree = well_typed(seed, &Limits::default());
        if nodes(&tree) < 90 {
            continue;
        }
        let mut questions = 0;
        minimal(
            &tree,
            &mut |tree| {
                questions += 1;
                any(tree, &|e| head(tree, e) == Some("let"))
            },
            10,
        );
        assert!(questions <= 10);
        let mut questions = 0;
        // The worst case: nothing smaller fails.
        minimal(
            &tree,
            &mut |smaller| {
                questions += 1;
                smaller.same(&tree)
            },
            100_000,
        );
        most = most.max(questions);
    }
    println!("{most} questions where every proposal passes");
    assert!(most < 3_000);
}

#[test]
fn what_does_not_fail_stays() {
    let tree = well_typed(3, &Limits::default());
    assert!(minimal(&tree, &mut |_| false, 100).same(&tree));
}

#[test]
fn deep_and_long_programs_shrink_in_bounded_time() {
    let nested = format!("{}1{}", "(- ".repeat(3_000), ")".repeat(3_000));
    let mut long = String::from("(let (");
    (0..2_000).for_each(|i| long += &format!("(a{i} (+ {i} 0.5)) "));
    long += ") (+ a7 a1999))";
    for text in [nested, long] {
        let tree = smallstep_semantics::lambda_v::parse::parse(&text).expect("reads");
        let begun = std::time::Instant::now();
        assert_eq!(minimal(&tree, &mut |_| true, 1_000).print(), "0\n");
        minimal(&tree, &mut |smaller| smaller.same(&tree), 50);
        println!("{:?}", begun.elapsed());
    }
}

proptest::proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Default::default() })]

    /// Programs as a proptest strategy: the printed text reads back.
    #[test]
    fn programs_read_back(tree in Programs) {
        let again = smallstep_semantics::lambda_v::parse::parse(&tree.0.print()).expect("reads");
        proptest::prop_assert!(tree.0.same(&again));
    }
}

#[test]
fn questions_about_a_vector_of_booleans_come_down_to_one() {
    let joined =
        |tree: &Tree| any(tree, &|e| head(tree, e) == Some("or") && items(tree, e).len() == 3 && head(tree, items(tree, e)[2]).is_some());
    for question in ["any-of", "all-of", "x", "y"] {
        let text =
            format!("(vec2 3 (if ({question} (or (neq (frag-coord) (frag-coord)) (bvec4 true (less-than 1 2) false true))) 2 (sin 1)))");
        let tree = smallstep_semantics::lambda_v::parse::parse(&text).expect("reads");
        let small = minimal(&tree, &mut |tree| joined(tree), 2_000);
        assert_eq!(small.print().trim_end(), "(if (any-of (or (bvec2 false false) (bvec2 false false))) 0 0)", "{question}");
    }
}

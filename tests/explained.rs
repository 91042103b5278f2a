//! The reasons for undecided results, with places and subexpressions of the source.

use smallstep::theorem::Verdict;
use smallstep::theorem::case::{Case, Ran, Settings};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::number::sets::Budget;

fn ran(text: &str, paths: u32) -> Ran {
    let settings = Settings { size: (2, 1), budget: Budget { paths, ..Budget::default() }, ..Settings::default() };
    let Ok(case) = Case::new(Program::read(text).expect("reads"), &settings) else { panic!("it is well typed") };
    let ran = case.run(&settings);
    assert_eq!(ran.verdict, Verdict::Agree, "{text}");
    ran
}

fn why(text: &str, paths: u32) -> Option<String> {
    ran(text, paths).undecided
}

#[test]
fn a_branch_beyond_the_budget_is_named_by_its_comparison() {
    let text = "; More branches than the budget.\n(let ((c (sin 0.5235)))\n  (+ (if (less-than c 0.5) 1 2)\n     (if (not (and (greater-equal c 0.5) true)) 3 4)))\n";
    // Two branches. The way that the second branch did not take comes next. Its condition goes
    // through a negation and a conjunction.
    let sine = "[0.49942622, 0.50040275]";
    let second = format!("4:20: greater-equal of {sine} and 0.5 in (greater-equal (sin 0.5235) 0.5), 1 path");
    assert_eq!(why(text, 1), Some(format!("undecided at {second} explored, at pixel (0, 0)")));
    let first = format!("3:10: less-than of {sine} and 0.5 in (less-than (sin 0.5235) 0.5), 2 paths");
    assert_eq!(why(text, 2), Some(format!("undecided at {first} explored, at pixel (0, 0)")));
    assert_eq!(why(text, 4), None);
}

#[test]
fn what_has_no_bound_is_named_by_the_first_instruction_that_has_none() {
    let text = "(vec2 1\n  (cos (+ 1\n    (sin (* 1e20 (x (frag-coord)))))))\n";
    let found = why(text, 64).expect("no sine of that is bounded");
    let expected = "undecided at 3:5: no bound is stated for sin of 5e19 in (sin (* 1e20 (x (frag-coord)))), at pixel (0, 0)";
    assert_eq!(found, expected);
    let causes = ran(text, 64).acceptance.causes;
    assert_eq!(causes.into_iter().collect::<Vec<_>>(), [("GLSL.std.450 Sin".to_string(), 2)]);
    // The cause is on the second pixel only, below a selection that keeps the value.
    let found = why("(log (select true (- 1.25 (x (frag-coord))) 2))", 64).expect("the logarithm of -0.25");
    assert_eq!(
        found,
        "undecided at 1:1: no bound is stated for log of -0.25 in (log (select true (- 1.25 (x (frag-coord))) 2)), at pixel (1, 0)"
    );
    assert_eq!(why("(select true (sin 1) (sin 1e30))", 64), None);
}

#[test]
fn the_places_of_printed_programs_are_those_of_their_text() {
    let tree = parse("(define a\n (sin 4)) ; two lines\n(output 0 (vec2 1 a)) (output 1\n 2)").expect("reads");
    let text = tree.print();
    let laid_out = smallstep::generate::shrink::minimal(&tree, &mut |_| false, 1);
    assert!(laid_out.same(&tree));
    let found = why(&text, 64).expect("the sine of 4 has no bound");
    assert!(found.starts_with("undecided at 1:11: no bound is stated for sin of 4.0 in (sin 4)"), "{found}");
    for seed in 0..40 {
        let tree = smallstep::generate::well_typed(seed, &smallstep::generate::Limits::default());
        let again = parse(&tree.print()).expect("reads");
        let last = again.spans.iter().map(|span| span.end).max().unwrap_or(0);
        assert!((0..=last).all(|at| tree.lines.at(at) == again.lines.at(at)), "seed {seed}");
    }
}

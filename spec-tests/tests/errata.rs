//! Exhibits of errata that a case file cannot hold.

use rspirv::spirv::Op;
use smallstep::compile::lambda_v::{Site, translate};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::{Case, Settings};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::line_column;
use smallstep_semantics::rule::Rule;

/// Turns every product into a sum, in the code that tr-builtin has just emitted.
fn sums_for_products(site: Site<'_>) {
    if site.rule != Rule::LvTrBuiltin {
        return;
    }
    let mut at = site.from;
    while at < site.code.words.len() {
        let word = site.code.words[at];
        if word & 0xffff == Op::FMul as u32 {
            site.code.words[at] = word & 0xffff_0000 | Op::FAdd as u32;
        }
        at += (word >> 16) as usize;
    }
}

#[test]
fn lv_27_the_witness_says_which_subterm_of_a_loop_is_wrong() {
    let text = std::fs::read_to_string(smallstep_spec_tests::root().join("theorem/lv-27-induction.lv")).expect("the case can be read");
    let program = Program::read(&text).expect("it reads");
    let mut settings = Settings { size: (1, 1), ..Settings::default() };
    let right = Case::new(program.clone(), &settings).ok().expect("it translates").run(&settings);
    assert_eq!(right.verdict, Verdict::Agree);

    settings.planted.translation.rule = Some(sums_for_products);
    let wrong = Case::new(program, &settings).ok().expect("the module is valid all the same").run(&settings);
    let Verdict::Disagree(difference) = wrong.verdict else { panic!("{:?}", wrong.verdict) };
    let blame = difference.blame.expect("a subterm is to blame");
    // In the first round, (* product 2) is 6, but the module computed 3 + 2. The expression has the
    // parameter as the id of its phi.
    assert!(blame.expression.starts_with("(* %") && blame.expression.ends_with(" 2)"), "{blame}");
    assert!(blame.expected.starts_with('6') && blame.found.starts_with('5'), "{blame}");
    assert_eq!(blame.rule, Rule::LvTrBuiltin);
    assert_eq!(&text[blame.span.start as usize..blame.span.end as usize], "(* product 2)");
    assert_eq!(line_column(&text, blame.span.start).0, text.lines().count());
}

#[test]
fn lv_27_the_witness_has_every_subterm_with_a_value() {
    let program = Program::read("((rec-func (n) (if (eq n 0) n (rec (- n 1)))) (+ 1 2))").expect("it reads");
    let options = smallstep::compile::lambda_v::Options { witness: true, ..Default::default() };
    let module = translate(&program, &options).expect("it translates");
    let count = |rule| module.witness.iter().filter(|w| w.rule == rule).count();
    // Numbers: 1, 2, 0 and 1. Parameters: n three times. Builtins: (+ 1 2), (eq n 0) and (- n 1).
    // Then the if, and the whole expression.
    assert_eq!(count(Rule::LvTrNum), 4);
    assert_eq!(count(Rule::LvTrParam), 3);
    assert_eq!(count(Rule::LvTrBuiltin), 3);
    assert_eq!((count(Rule::LvTrIf), count(Rule::LvTrRecFunc)), (1, 1));
}

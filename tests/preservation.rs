//! Preservation and progress: each step of a well-typed program preserves its type, and no program
//! gets stuck.

use smallstep::generate::{self, Limits};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{Reduction, Setting, Strategy, ValueId};
use smallstep_semantics::lambda_v::terms::{Node, TermId, Terms};
use smallstep_semantics::lambda_v::typing::{self, Typed};
use smallstep_semantics::outcome::Outcome;

/// The type of a term during a run. Its values count as parameters of their types.
fn type_of(reduction: &Reduction, e: TermId) -> Result<String, String> {
    let mut terms: Terms<Typed> = Terms::new(1 << 20);
    let e = terms
        .import(&reduction.terms, e, &mut |terms, ValueId(v), span| {
            terms.add(Node::Ext(Typed::Param(reduction.value_of(ValueId(v)).ty)), span)
        })
        .map_err(|l| l.to_string())?;
    typing::infer_term(terms, e, typing::Limits::default()).map(|ty| ty.to_string()).map_err(|e| format!("{}: {}", e.code(), e.message()))
}

#[test]
fn steps_preserve_types_and_nothing_is_stuck() {
    let (mut steps, mut programs) = (0u64, 0u64);
    for seed in 0..1_500 {
        let tree = generate::well_typed(seed, &Limits::default());
        let program = Program::resolve(&tree).expect("resolves");
        let derivation = typing::infer(&program, typing::Limits::default()).expect("types");
        typing::check(&derivation).expect("checks");
        for (output, ty) in program.outputs.iter().zip(derivation.types()) {
            for strategy in [Strategy::First, Strategy::Random(seed)] {
                let mut failure = None;
                let mut seen = 0;
                let setting = Setting::at_pixel(seed as u32 % 7, 3);
                let outcome = Reduction::new(&program, setting).run(output.term, strategy, 400, &mut |r, _, reduct| {
                    seen += 1;
                    // All of the first steps of a program, then samples.
                    if seen < 30 || seen % 17 == 0 {
                        let found = type_of(r, reduct.next);
                        if found.as_ref() != Ok(&ty.to_string()) {
                            failure.get_or_insert(format!("step {seen}, {}: {found:?}, not {ty}", reduct.rule));
                        }
                    }
                });
                assert_eq!(failure, None, "{}", tree.print());
                assert!(!matches!(outcome, Outcome::Stuck(_)), "{outcome:?}\n{}", tree.print());
                steps += seen;
            }
        }
        programs += 1;
    }
    assert!(steps > 15 * programs, "{steps} steps of {programs} programs are too few to mean anything");
}

#[test]
fn an_ill_typed_step_is_seen() {
    // The check above can fail: the term of a wrong rule has another type or none.
    let program = Program::read("(+ 1 2)").expect("reads");
    let mut reduction = Reduction::new(&program, Setting::at_pixel(0, 0));
    let span = reduction.terms.span(program.outputs[0].term);
    let wrong = reduction.terms.add(Node::Bool(true), span).expect("fits");
    assert_eq!(type_of(&reduction, program.outputs[0].term), Ok("Num".into()));
    assert_eq!(type_of(&reduction, wrong), Ok("Bool".into()));
}

#[test]
fn every_order_of_reduction_ends_the_same() {
    let mut explored = 0;
    for seed in 0..2_000 {
        let limits = Limits { smallest: 4, mean: 9, largest: 14, ..Limits::default() };
        let tree = generate::well_typed(seed, &limits);
        let program = Program::resolve(&tree).expect("resolves");
        let mut reduction = Reduction::new(&program, Setting::at_pixel(1, 2));
        let Some(endings) = reduction.explore(program.outputs[0].term, 2_000) else { continue };
        // A loop that diverges has no ending, since its terms recur.
        assert!(endings.len() <= 1, "{endings:?}\n{}", tree.print());
        explored += usize::from(endings.len() == 1);
    }
    assert!(explored > 1_000, "only {explored} programs were explored");
}

//! Shrinking: minimal programs are small, well typed, and still show what they were made small for.

use smallstep::generate::{Limits, shrink, well_typed};
use smallstep_semantics::lambda_v::machine::{self, Bounds};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing;

fn size(tree: &Tree) -> usize {
    tree.roots.iter().map(|&r| tree.size(r)).sum()
}

/// Whether a run of the program computes with this builtin.
fn computes(tree: &Tree, builtin: &str) -> bool {
    let Ok(program) = Program::resolve(tree) else { return false };
    let text = tree.print();
    let mut seen = false;
    for output in &program.outputs {
        let mut sink = |(_, span, value): machine::Firing<'_>| {
            // Spans are those of the printed text.
            let at = text.get(span.start as usize..span.end as usize).unwrap_or("");
            seen |= value.is_some() && at.starts_with(&format!("({builtin} "));
        };
        let bounds = Bounds { fuel: 20_000, ..Bounds::default() };
        machine::run_watched(&program, output.term, &Setting::at_pixel(0, 0), bounds, machine::Sharing::ByNeed, Some(&mut sink));
    }
    seen
}

fn medians(what: &str, fails: &dyn Fn(&Tree) -> bool) -> usize {
    let mut sizes = Vec::new();
    let mut before = 0;
    for seed in 0..4_000 {
        let tree = well_typed(seed, &Limits { mean: 60, ..Limits::default() });
        if !fails(&tree) {
            continue;
        }
        let mut tests = 0;
        let mut counted = |tree: &Tree| {
            tests += 1;
            fails(tree)
        };
        let minimal = shrink::minimal(&tree, &mut counted, 2_000);
        assert!(fails(&minimal), "the minimal program still shows {what}");
        assert!(tests <= 2_100, "{tests} tests");
        let program = Program::resolve(&minimal).expect("resolves");
        typing::infer(&program, typing::Limits::default()).expect("types");
        before += size(&tree);
        sizes.push(size(&minimal));
        if sizes.len() == 25 {
            break;
        }
    }
    assert_eq!(sizes.len(), 25, "{what} is generated often enough");
    sizes.sort();
    println!("{what}: {} nodes before, {} at the median after, at most {}", before / 25, sizes[12], sizes[24]);
    sizes[12]
}

#[test]
fn minimal_programs_are_small() {
    assert!(medians("a dot product", &|t| computes(t, "dot")) <= 8);
    assert!(medians("a cross product", &|t| computes(t, "cross")) <= 12);
    assert!(medians("a loop", &|t| t.print().contains("(rec-func ") && computes(t, "-")) <= 15);
    assert!(medians("two calls of rec", &|t| t.print().matches("(rec ").count() >= 2) <= 30);
}

#[test]
fn what_does_not_fail_stays() {
    let tree = well_typed(3, &Limits::default());
    assert!(shrink::minimal(&tree, &mut |_| false, 100).same(&tree));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 200, failure_persistence: None, ..Default::default() })]

    /// Programs as a proptest strategy: what is printed reads back.
    #[test]
    fn programs_read_back(tree in shrink::programs(Limits::default())) {
        let again = smallstep_semantics::lambda_v::parse::parse(&tree.print()).expect("reads");
        proptest::prop_assert!(tree.same(&again));
    }
}

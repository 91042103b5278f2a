//! The generators' promises, over thousands of seeds.

use smallstep::generate::{Limits, well_typed};
use smallstep_semantics::lambda_v::machine::{self, Bounds};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing::{self, check, infer};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use std::collections::BTreeMap;

fn nodes(tree: &Tree) -> usize {
    tree.roots.iter().map(|&root| tree.size(root)).sum()
}

#[test]
fn ten_thousand_programs_are_well_typed_and_run() {
    let setting = Setting::at_pixel(1, 2);
    let (mut lanes, mut strict, mut wgsl, mut size, mut steps, mut most_steps) = (0u64, 0u64, 0u64, 0usize, 0u64, 0u64);
    let mut endings: BTreeMap<&str, u32> = BTreeMap::new();
    let mut derived = 0usize;
    let count = 10_000;
    let mut whys: BTreeMap<String, u32> = BTreeMap::new();
    let mut sizes = Vec::new();
    for seed in 0..count {
        let tree = well_typed(seed, &Limits::default());
        sizes.push(nodes(&tree));
        size += nodes(&tree);
        let text = tree.print();
        let program = Program::resolve(&tree).unwrap_or_else(|e| panic!("seed {seed}: {}: {}\n{text}", e.code, e.message));
        let derivation = infer(&program, typing::Limits::default())
            .unwrap_or_else(|e| panic!("seed {seed}: {}: {} at {:?}\n{text}", e.code(), e.message(), e.span()));
        derived += derivation.nodes.len();
        check(&derivation).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.message));
        let again = parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {}\n{text}", e.message));
        assert!(again.same(&tree), "seed {seed}\n{text}");
        for output in &program.outputs {
            let (outcome, n) = machine::run(&program, output.term, &setting, Bounds::default());
            steps += n;
            most_steps = most_steps.max(n);
            *endings.entry(outcome.name()).or_default() += 1;
            match outcome {
                Outcome::Observed(value) => {
                    for lane in &value.lanes {
                        lanes += 1;
                        if let smallstep_semantics::number::Expected::Undecided(why) = lane.judge(Profile::Strict) {
                            *whys.entry(format!("{why:?}")).or_default() += 1;
                        }
                        strict += u64::from(lane.judge(Profile::Strict).admits(lane.bits).is_some());
                        wgsl += u64::from(lane.judge(Profile::Wgsl).admits(lane.bits).is_some());
                    }
                }
                Outcome::Diverges(_) | Outcome::OutOfFuel => {}
                other => panic!("seed {seed}: {other:?}\n{text}"),
            }
        }
    }
    sizes.sort();
    println!("endings {endings:?}; undecided {whys:?}");
    println!(
        "sizes: mean {} p5 {} p50 {} p95 {} max {}",
        size as f64 / count as f64,
        sizes[sizes.len() / 20],
        sizes[sizes.len() / 2],
        sizes[sizes.len() * 19 / 20],
        sizes[sizes.len() - 1]
    );
    println!(
        "strict {:.3} wgsl {:.3} steps {:.1} most {most_steps} derivation nodes {:.1}",
        strict as f64 / lanes as f64,
        wgsl as f64 / lanes as f64,
        steps as f64 / count as f64,
        derived as f64 / count as f64
    );
}

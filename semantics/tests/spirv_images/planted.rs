//! The cases notice what is planted in what values are computed by, and every rule that is not
//! there; and words changed at random end in an outcome or are refused.

use smallstep_semantics::image::{AddressMode, Rules as ImageRules};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::operation::Calculator;
use smallstep_semantics::spirv::step::{Config, Env, Next, Relation, Rules};
use smallstep_semantics::spirv::{Module, Options, assemble};

use super::cases::CASES;
use super::module::{Bound, outcome, report, shown, text};

/// The first case that comes out otherwise.
fn caught(relation: &Relation) -> Option<&'static str> {
    let bound = Bound::new();
    CASES.iter().find(|(type_, body, expected)| shown(type_, &outcome(type_, body, &bound, relation)) != *expected).map(|case| case.1)
}

#[test]
fn planted_values_are_caught() {
    let right = ImageRules::default();
    let planted: [(&str, ImageRules); 13] = [
        ("unpack", ImageRules { unpack: |_, width, code| code as f64 / (1u64 << width) as f64, ..right }),
        ("unnormalize", ImageRules { unnormalize: |s, size| s * f64::from(size - 1), ..right }),
        ("nearest", ImageRules { nearest: f64::round, ..right }),
        ("linear", ImageRules { linear: |u| (u.floor(), u - u.floor()), ..right }),
        ("wrap", ImageRules { wrap: |_, i, size| AddressMode::ClampToEdge.wrap(i, size), ..right }),
        ("weights", ImageRules { weights: |a, b| [a * b, (1.0 - a) * b, a * (1.0 - b), (1.0 - a) * (1.0 - b)], ..right }),
        ("scale factor", ImageRules { scale_factor: |[[ux, vx, _], _]| ux.hypot(vx), ..right }),
        ("bias", ImageRules { bias: |_, _| 1.0, ..right }),
        ("nearest level", ImageRules { nearest_level: f64::floor, ..right }),
        ("minified", ImageRules { minified: |lambda| lambda <= 0.0, ..right }),
        ("missing", ImageRules { missing: [0.0; 4], ..right }),
        ("gather", ImageRules { gather: [0, 1, 2, 3], ..right }),
        ("compare", ImageRules { compare: |compare, reference, stored| compare.holds(stored, reference), ..right }),
    ];
    assert_eq!(caught(&Relation::default()), None);
    let missed: Vec<&str> = planted
        .iter()
        .filter(|(_, images)| {
            let calculator = Calculator { images: *images, ..Calculator::default() };
            caught(&Relation { calculator, ..Relation::default() }).is_none()
        })
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn every_rule_is_missed() {
    fn never<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
        None
    }
    // Levels of detail of quads are for draws (`spirv_draw`).
    let others = [Rule::SpirvImageUndefined, Rule::SpirvImageSampleImplicitLod, Rule::SpirvImageSampleDrefImplicitLod];
    let image = |rule: &Rule| rule.item().starts_with("spirv::step::image::") && !others.contains(rule);
    let rules: Vec<Rule> = Rule::ALL.iter().copied().filter(image).collect();
    assert_eq!(rules.len(), 14);
    for rule in rules {
        let relation = Relation { rules: Rules::standard().replace(rule, never), ..Relation::default() };
        assert!(caught(&relation).is_some(), "{rule}: every case comes out the same without it");
    }
}

/// Modules of the cases with a word changed: those that load run to an outcome, and never to where
/// no rule applies.
#[test]
fn changed_words_are_refused_or_run() {
    let mut state = 11u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (bound, relation) = (Bound::new(), Relation::default());
    let mut ran = 0;
    for (type_, body, _) in CASES {
        let words = assemble(&text(type_, body, 1, ""), Options::default()).expect("the cases are modules");
        for _ in 0..40 {
            let mut changed = words.clone();
            // A word of the function, becoming another word of the module or one next to it.
            let at = words.len() - 1 - random(words.len().min(120) - 1);
            changed[at] = match random(3) {
                0 => changed[at].wrapping_add(1),
                1 => changed[at] ^ 1 << random(12),
                _ => words[random(words.len())],
            };
            let Ok(module) = Module::load(&changed) else { continue };
            if module.entry_point("main").is_err() {
                continue;
            }
            let outcome = report(&module, &bound, &relation).outcome;
            assert!(!matches!(outcome, Outcome::Stuck(_)), "{body}: word {at}: {outcome:?}");
            ran += 1;
        }
    }
    assert!(ran > 100, "only {ran} modules ran");
}

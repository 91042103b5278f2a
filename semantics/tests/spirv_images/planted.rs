//! The cases find planted errors in the functions that compute values, and find the absence of
//! every rule. Modules with randomly changed words end in an outcome or are refused.

use smallstep_semantics::image::{AddressMode, Rules as ImageRules};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::lockstep::{Choice, ImageAccess, Parts};
use smallstep_semantics::spirv::operation::Calculator;
use smallstep_semantics::spirv::step::{Config, Env, Next, Relation, Rules};
use smallstep_semantics::spirv::{Module, Options, assemble};

use super::cases::CASES;
use super::module::{Bound, difference, fresh, load, report, shown, text};

/// The first case that shows something else by this relation.
fn caught(relation: &Relation) -> Option<&'static str> {
    let bound = Bound::new();
    let run = |type_: &str, body: &str| bound.run_by(&load(&text(type_, body, 1, "")), 1, relation, &mut ());
    CASES.iter().find(|(type_, body, expected)| shown(type_, &run(type_, body)) != *expected).map(|case| case.1)
}

/// The first case in which the lockstep machine with this bug differs from the relation.
fn caught_in_machine(bug: &dyn Fn(Parts<'_>)) -> Option<&'static str> {
    let bound = Bound::new();
    let buffers = fresh();
    let differs = |type_: &str, body: &str| {
        let module = load(&text(type_, body, 1, ""));
        let outcome = bound.run_by(&module, 1, &Relation::default(), &mut ()).outcome;
        difference(&module, &bound.dispatch(1, &buffers), &outcome, bug).is_some()
    };
    CASES.iter().find(|(type_, body, _)| differs(type_, body)).map(|case| case.1)
}

/// Wrong versions of the functions that compute definite values.
fn wrong_rules() -> [(&'static str, ImageRules); 14] {
    let right = ImageRules::default();
    [
        ("unpack", ImageRules { unpack: |_, width, code| code as f64 / (1u64 << width) as f64, ..right }),
        ("unnormalize", ImageRules { unnormalize: |s, size| s * f64::from(size - 1), ..right }),
        ("nearest", ImageRules { nearest: f64::round, ..right }),
        ("linear", ImageRules { linear: |u| (u.floor(), u - u.floor()), ..right }),
        ("wrap", ImageRules { wrap: |_, i, size| AddressMode::ClampToEdge.wrap(i, size), ..right }),
        ("slice", ImageRules { slice: |layer, face| layer + face, ..right }),
        ("weights", ImageRules { weights: |a, b| [a * b, (1.0 - a) * b, a * (1.0 - b), (1.0 - a) * (1.0 - b)], ..right }),
        ("scale factor", ImageRules { scale_factor: |[[ux, vx, _], _]| ux.hypot(vx), ..right }),
        ("bias", ImageRules { bias: |_, _| 1.0, ..right }),
        ("nearest level", ImageRules { nearest_level: f64::floor, ..right }),
        ("minified", ImageRules { minified: |lambda| lambda <= 0.0, ..right }),
        ("missing", ImageRules { missing: [0.0; 4], ..right }),
        ("gather", ImageRules { gather: [0, 1, 2, 3], ..right }),
        ("compare", ImageRules { compare: |compare, reference, stored| compare.holds(stored, reference), ..right }),
    ]
}

#[test]
fn planted_values_are_caught() {
    assert_eq!(caught(&Relation::default()), None);
    let missed: Vec<&str> = wrong_rules()
        .iter()
        .filter(|(_, images)| {
            let calculator = Calculator { images: *images, ..Calculator::default() };
            caught(&Relation { calculator, ..Relation::default() }).is_none()
        })
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(missed, [""; 0]);
}

/// By both engines, the cases find errors in the lockstep machine alone: a wrong function of
/// values, or an operand that is taken for another one.
#[test]
fn bugs_in_the_lockstep_machine_are_caught() {
    assert_eq!(caught_in_machine(&|_| {}), None);
    let mut missed = Vec::new();
    for (name, images) in wrong_rules() {
        if caught_in_machine(&|parts| parts.calculator.images = images).is_none() {
            missed.push(name);
        }
    }
    let without = |choice: Choice| move |access: &mut ImageAccess| access.places[choice as usize] = 0;
    type Bug = Box<dyn Fn(&mut ImageAccess)>;
    let bugs: [(&str, Bug); 10] = [
        ("Lod", Box::new(without(Choice::Lod))),
        ("Grad", Box::new(without(Choice::Grad))),
        ("ConstOffset", Box::new(without(Choice::ConstOffset))),
        ("Offset", Box::new(without(Choice::Offset))),
        ("ConstOffsets", Box::new(without(Choice::ConstOffsets))),
        ("signs of coordinates", Box::new(|access| access.signed[0] ^= true)),
        ("component", Box::new(|access| access.component = 3 - access.component)),
        ("coordinates", Box::new(|access| access.choosing.iter_mut().take(1).for_each(|(_, slots)| slots.reverse()))),
        ("results", Box::new(|access| access.results.reverse())),
        (
            "texel",
            Box::new(|access| {
                if access.op == Op::ImageWrite {
                    access.value.reverse()
                }
            }),
        ),
    ];
    for (name, bug) in bugs {
        if caught_in_machine(&|parts| parts.images.iter_mut().for_each(&bug)).is_none() {
            missed.push(name);
        }
    }
    assert_eq!(missed, [""; 0]);
}

#[test]
fn every_rule_is_missed() {
    fn never<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
        None
    }
    // Levels of detail of quads are tested with draws (`spirv_draw`).
    let others = [Rule::SpirvImageUndefined, Rule::SpirvImageSampleImplicitLod, Rule::SpirvImageSampleDrefImplicitLod];
    let image = |rule: &Rule| rule.item().starts_with("spirv::relation::step::image::") && !others.contains(rule);
    let rules: Vec<Rule> = Rule::ALL.iter().copied().filter(image).collect();
    assert_eq!(rules.len(), 14);
    for rule in rules {
        let relation = Relation { rules: Rules::standard().replace(rule, never), ..Relation::default() };
        assert!(caught(&relation).is_some(), "{rule}: every case comes out the same without it");
    }
}

/// Modules of the cases with a changed word. If a module loads, it runs to an outcome and never
/// gets stuck.
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
            // A word of the function becomes another word of the module, or a number near its own.
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

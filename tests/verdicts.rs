//! Verdicts of λV programs if something is missing or wrong: limits, termination, a relation.

use smallstep::dispatch::Frame;
use smallstep::gpu::{DeviceOutcome, FloatControls, Route};
use smallstep::theorem::case::{Case, NoCase, Planted, Ran, Settings};
use smallstep::theorem::device::{Awaited, Choice, declared};
use smallstep::theorem::planted::table;
use smallstep::theorem::{Engine, Place, Verdict};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Theorem;
use smallstep_semantics::lambda_v::typing::Limits;
use smallstep_semantics::number::sets::{Budget, Rules as SetRules, Set, Span};
use smallstep_semantics::number::{Arithmetic, Denormals, Expected, Lanes, Op, Rounding, Tuple, Why, apply};

fn case(text: &str, settings: &Settings) -> Result<Case, NoCase> {
    Case::new(Program::read(text).expect("reads"), settings)
}

fn ran(text: &str, settings: &Settings) -> Ran {
    let case = match case(text, settings) {
        Ok(case) => case,
        Err(NoCase::Decided(verdict)) => panic!("{verdict:?}: {text}"),
        Err(_) => panic!("{text} is no case"),
    };
    case.run(settings)
}

/// The settings of a small case with the planted bug of that name.
fn with(bug: &str) -> Settings {
    let planted = table().into_iter().find(|b| b.name == bug).expect("a planted bug").planted;
    Settings { size: (2, 1), planted, ..Settings::default() }
}

#[test]
fn what_is_too_large_to_type_or_translate_is_unchecked() {
    let few = Settings { limits: Limits { nodes: 2, ..Limits::default() }, ..Settings::default() };
    let Err(NoCase::Decided(Verdict::Limit(why))) = case("(+ 1 (+ 2 3))", &few) else { panic!("it is typed") };
    assert!(why.starts_with("typing gave up: "), "{why}");
    // Each name is twice the previous one, so that the module has 2^17 additions.
    let doubled = (0..16).fold("(+ a a)".to_string(), |inner, _| format!("(let ((a (+ a a))) {inner})"));
    let doubled = format!("(let ((a 1)) {doubled})");
    let Err(NoCase::Decided(Verdict::Limit(why))) = case(&doubled, &Settings::default()) else { panic!("translated") };
    assert!(why.starts_with("the translation gave up: "), "{why}");
}

/// If the relation has no room for more terms, the machine's value counts. Under the printed
/// theorem, only the relation runs the source, and nothing is known.
#[test]
fn what_is_too_long_for_the_relation_is_left_to_the_machine() {
    let sums = |rounds: u32, each: u32| {
        let sum = (0..each).fold("m".to_string(), |m, _| format!("(+ {m} 1)"));
        format!("((rec-func (n m) (if (less-than n {rounds}) (rec (+ n 1) {sum}) m)) 0 0)")
    };
    let settings = Settings { size: (1, 1), references: true, ..Settings::default() };
    // Each step copies the additions around its redex.
    let long = ran(&sums(27, 700), &settings);
    assert_eq!((long.verdict, long.referenced), (Verdict::Agree, 1));
    // In call by name, the sum is computed only at the end: 42,000 nested additions.
    let verdict = ran(&sums(60, 700), &Settings { theorem: Theorem::Printed, ..settings }).verdict;
    let Verdict::Limit(why) = &verdict else { panic!("{verdict:?}") };
    assert!(why.starts_with("the source, at pixel (0, 0): ") && why.ends_with(" levels of nesting"), "{why}");
}

fn adds_for_multiplies(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Mul { apply(Op::Add, args) } else { result }
}

/// If one pixel runs out of fuel, a disagreement at the next pixel is still found.
#[test]
fn a_pixel_without_room_hides_no_disagreement() {
    // On the left ten thousand rounds, on the right a product.
    let text = "(if (less-than (x (frag-coord)) 1)
        ((rec-func (n) (if (less-than n 10000) (rec (+ n 1)) n)) 0)
        (* 2 4))";
    let settings = Settings { size: (2, 1), fuel: 500, ..Settings::default() };
    assert!(matches!(ran(text, &settings).verdict, Verdict::Limit(_)));
    let planted = Planted { target_arithmetic: Arithmetic { planted: Some(adds_for_multiplies) }, ..Planted::default() };
    let found = ran(text, &Settings { planted, ..settings }).verdict;
    let Verdict::Disagree(difference) = found else { panic!("{found:?}") };
    assert_eq!(difference.place.map(|place| place.pixel), Some((1, 0)));
}

/// A translation that does not terminate is wrong if its source does, also under the printed
/// theorem. If the source takes too long, nothing is known.
#[test]
fn a_translation_that_does_not_end_disagrees() {
    let loops = "((rec-func (n) (if (less-than n 3) (rec (+ n 1)) n)) 0)";
    let printed = Settings { theorem: Theorem::Printed, ..with("tr-rec-func-header-value") };
    for settings in [printed.clone(), with("tr-rec-func-header-value")] {
        let found = ran(loops, &settings).verdict;
        let Verdict::Disagree(difference) = found else { panic!("{found:?}") };
        assert_eq!(difference.between, (Engine::Machine, Engine::SpirvMachine));
    }
    assert_eq!(ran(loops, &Settings { planted: Default::default(), ..printed }).verdict, Verdict::Agree);
}

#[test]
fn the_relations_run_where_they_are_wanted() {
    let settings = Settings { size: (2, 1), ..Settings::default() };
    assert_eq!(ran("(+ 1 2)", &settings).referenced, 2);
    assert_eq!(ran("(+ 1 2)", &Settings { references: false, ..settings.clone() }).referenced, 0);
    let long = "((rec-func (n) (if (less-than n 10000) (rec (+ n 1)) n)) 0)";
    assert_eq!(ran(long, &settings).referenced, 0, "the source takes too many steps for them");
}

/// If a run over sets leaves one output open, the other outputs are still judged.
#[test]
fn an_open_output_leaves_the_others_alone() {
    let text = "(output 0 (+ 1 2)) (output 1 (let ((c (sin 0.5235))) (+ (if (less-than c 0.5) 1 2) (if (less-than c 0.5) 3 4))))";
    let budget = Budget { paths: 1, ..Budget::default() };
    let found = ran(text, &Settings { size: (2, 1), budget, ..Settings::default() });
    assert!(found.verdict == Verdict::Agree && found.undecided.is_some(), "{:?}", found.verdict);
    let none = Budget { paths: 0, ..budget };
    assert_eq!(ran(text, &Settings { size: (2, 1), budget: none, ..Settings::default() }).verdict, Verdict::Agree);
}

/// A wrong value of the relation is seen even if the run over sets is too long to be compared.
#[test]
fn the_relation_is_held_to_values_where_it_is_not_to_sets() {
    let text = "(- 2 ((rec-func (n) (if (less-than n 1500) (rec (+ n 1)) n)) 0))";
    assert_eq!(ran(text, &Settings { size: (1, 1), ..Settings::default() }).verdict, Verdict::Agree);
    let found = ran(text, &Settings { size: (1, 1), ..with("compute-difference-reversed") }).verdict;
    let Verdict::Disagree(difference) = found else { panic!("{found:?}") };
    assert_eq!(difference.between, (Engine::SpirvRelation, Engine::SpirvMachine));
    let [relation, machine] = [1498f32, -1498.0].map(|x| format!("\"{:#010x}\"", x.to_bits()));
    let what = &difference.what;
    assert!(what.contains(&format!("[{relation}")) && what.contains(&format!("[{machine}")) && what.ends_with(" by the machine"), "{what}");
}

/// The machines are compared with the relations over sets, too. A set that is too narrow or too
/// wide is reported although the value is right.
#[test]
fn the_machines_are_held_to_the_relations_over_sets() {
    let settings = Settings { size: (1, 1), ..Settings::default() };
    let sine = "(sin 0.5)";
    assert_eq!(ran(sine, &settings).verdict, Verdict::Agree);
    let too_narrow =
        SetRules { allowed: |_, _, _| Some([Set::point(f64::from(0.5f32.sin()))].into_iter().collect()), ..SetRules::default() };
    let too_wide =
        SetRules { allowed: |_, _, _| Some([Set::of(Span { low: -10.0, high: 10.0 })].into_iter().collect()), ..SetRules::default() };
    let target = Planted { target_sets: too_narrow, ..Planted::default() };
    let source = Planted { source_sets: too_wide, ..Planted::default() };
    for (planted, between) in
        [(target, (Engine::SpirvRelation, Engine::SpirvMachine)), (source.clone(), (Engine::Reduction, Engine::Machine))]
    {
        let found = ran(sine, &Settings { planted, ..settings.clone() }).verdict;
        let Verdict::Disagree(difference) = found else { panic!("{found:?}") };
        assert_eq!(difference.between, between);
        let what = &difference.what;
        assert!(what.contains("over sets, ") && what.contains(" by the relation, ") && what.ends_with(" by the machine"), "{what}");
    }
    // In call by name, the run over sets is another run, and is not compared.
    let printed = Settings { theorem: Theorem::Printed, planted: source, ..settings.clone() };
    assert_eq!(ran(sine, &printed).verdict, Verdict::Agree);
    // If the set of the source is too wide, the target's set is within it. If it is too narrow, it
    // is not.
    let narrow = Planted { source_sets: too_narrow, ..Planted::default() };
    let found = ran(sine, &Settings { planted: narrow, references: false, ..settings }).verdict;
    assert!(matches!(found, Verdict::Disagree(difference) if difference.between == (Engine::Machine, Engine::SpirvMachine)));
}

/// If a relation of λV gives another value, the report says so.
#[test]
fn the_machine_is_held_to_the_value_of_the_relation() {
    let found = ran("(vec3 1 2 3)", &with("e-builtin-construct-reversed")).verdict;
    let Verdict::Disagree(difference) = found else { panic!("{found:?}") };
    assert_eq!(difference.between, (Engine::Reduction, Engine::Machine));
    assert!(difference.what.contains(" by the relation, ") && difference.what.ends_with(" by the machine"), "{}", difference.what);
}

/// The expected output 4 of three by two pixels, with two components. The first component is 1
/// everywhere, and the second is undecided.
fn awaited() -> Awaited {
    let one = Expected::Bits(1f32.to_bits());
    let open = Expected::Undecided(Why::Approximate);
    Awaited { words_hash: 11, outputs: vec![(4, vec![[one, open, open, open]; 6], 2)], undecided: Some("a sine".into()), width: 3 }
}

fn drawn(first: [f32; 6]) -> DeviceOutcome {
    DeviceOutcome::Drawn(Frame { words_hash: 11, images: vec![first.iter().map(|x| [x.to_bits(), 5, 6, 7]).collect()] })
}

#[test]
fn a_device_is_judged_lane_by_lane() {
    let judged = |outcome: &DeviceOutcome| awaited().compare(outcome, "a device", Route::Passthrough);
    let (verdict, lanes) = judged(&drawn([1.0; 6]));
    assert_eq!(verdict, Verdict::Undecided("6 of 12 lanes were left alone: a sine".into()));
    assert_eq!((lanes.checked, lanes.undecided), (6, 6));
    let wrong = drawn([1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    let (Verdict::Disagree(difference), _) = judged(&wrong) else { panic!("2 is not 1") };
    let place = Place { pixel: (2, 1), location: 4, component: 0 };
    assert_eq!((difference.place, difference.bits), (Some(place), Some((1f32.to_bits(), 2f32.to_bits()))));
    // If several lanes of one component differ, the report has the first lane for each kind
    // of difference.
    let all = awaited().differences(&drawn([1.0, 1.0, 1.0, 1.0, 2.0, 2.0]), "a device", Route::Passthrough);
    assert_eq!(all[0].place, Some(Place { pixel: (1, 1), ..place }));
    assert!(awaited().differences(&drawn([1.0; 6]), "a device", Route::Passthrough).is_empty());
}

#[test]
fn what_a_device_does_not_draw_has_its_verdict() {
    let judged = |outcome: &DeviceOutcome, route| awaited().compare(outcome, "a device", route).0;
    let other = DeviceOutcome::Drawn(Frame { words_hash: 12, images: vec![vec![[0; 4]; 6]] });
    assert!(matches!(judged(&other, Route::Passthrough), Verdict::Unchecked(why) if why.contains("the device ran the words")));
    assert!(awaited().differences(&other, "a device", Route::Passthrough).is_empty(), "of other words nothing is known");
    let refused = DeviceOutcome::Refused("no".into());
    for (route, blamed) in [(Route::Naga, "naga or the driver refuses"), (Route::Passthrough, "the driver refuses")] {
        let Verdict::Disagree(difference) = judged(&refused, route) else { panic!("a refusal is wrong") };
        assert!(difference.what.starts_with(blamed), "{}", difference.what);
        assert_eq!(awaited().differences(&refused, "a device", route), [*difference]);
    }
    assert_eq!(judged(&DeviceOutcome::Unchecked("no room".into()), Route::Naga), Verdict::Unchecked("no room".into()));
    assert!(matches!(judged(&DeviceOutcome::Lost("gone".into()), Route::Naga), Verdict::Failed(why) if why.contains("gone")));
}

/// Rounding to nearest even is preferred to rounding toward zero, and preserved subnormals to
/// flushed ones. Modules of programs do not declare rounding toward zero.
#[test]
fn what_an_adapter_lets_a_module_declare_is_declared() {
    let none = FloatControls::default();
    let of = |controls: FloatControls| declared(&controls).controls();
    let (rte, rtz) = (FloatControls { rounding_mode_rte: true, ..none }, FloatControls { rounding_mode_rtz: true, ..none });
    assert_eq!(of(none).rounding, Rounding::Either);
    assert_eq!(of(rte).rounding, Rounding::NearestEven);
    assert_eq!(of(rtz).rounding, Rounding::TowardZero);
    assert_eq!(of(FloatControls { rounding_mode_rte: true, ..rtz }).rounding, Rounding::NearestEven);
    let (keep, flush) = (FloatControls { denorm_preserve: true, ..none }, FloatControls { denorm_flush_to_zero: true, ..none });
    assert_eq!(of(none).denormals, Denormals::MayFlush);
    assert_eq!(of(keep).denormals, Denormals::Preserve);
    assert_eq!(of(flush).denormals, Denormals::Flush);
    assert_eq!(of(FloatControls { denorm_preserve: true, ..flush }).denormals, Denormals::Preserve);
    assert!(!of(none).keeps_special && of(FloatControls { signed_zero_inf_nan_preserve: true, ..none }).keeps_special);
    let program = |single| Choice::Declared.of_programs(Some([none, single, none]), Route::Passthrough).expect("known").controls().rounding;
    assert_eq!([program(rte), program(rtz), program(none)], [Rounding::NearestEven, Rounding::Either, Rounding::Either]);
}

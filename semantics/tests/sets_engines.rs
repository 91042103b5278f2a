//! Whole programs over sets. Both λV engines make the same observation, and so do both SPIR-V
//! engines. For programs made by hand, the observation is known.

use smallstep_semantics::lambda_v::machine::{self, Bounds};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{self, Setting};
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::number::sets::{Exploration, Observation, Set, Site, SkippedBranch, Span, Unsettled};
use smallstep_semantics::number::{Arithmetic, Expected, Profile, Why};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::{self, Inputs, Relation};

fn strict() -> Exploration {
    Exploration::under(Profile::Strict)
}

/// The program, its definite value, and the λV machine's observation.
fn machine_says(text: &str, exploration: Exploration) -> (Program, Value, Observation) {
    let program = Program::read(text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
    let setting = Setting::at_pixel(0, 0);
    let term = program.outputs[0].term;
    let (outcome, _) = machine::run(&program, term, &setting, Bounds::default());
    let Outcome::Observed(value) = outcome else { panic!("{outcome:?}\n{text}") };
    let observation = machine::explore(&program, term, &value, &setting, Bounds::default(), exploration);
    (program, value, observation)
}

/// The observation of both λV engines. The definite value must be in it.
#[track_caller]
fn shown(text: &str, exploration: Exploration) -> Observation {
    let (program, value, by_machine) = machine_says(text, exploration);
    let by_relation = step::explore(&program, program.outputs[0].term, &value, &Setting::at_pixel(0, 0), 100_000, exploration);
    assert_eq!(by_relation, by_machine, "{text}");
    for (expected, bits) in by_machine.expected.iter().zip(value.bits()) {
        assert_ne!(expected.admits(bits), Some(false), "{text}: the definite value is not among {expected:?}");
    }
    by_machine
}

/// The set of the only component.
#[track_caller]
fn set(text: &str) -> Set {
    let observation = shown(text, strict());
    assert_eq!(observation.unsettled, None);
    observation.expected[0].set().unwrap_or_else(|| panic!("{text}: {:?}", observation.expected))
}

#[test]
fn a_branch_on_an_approximate_condition_goes_both_ways() {
    // sin 0.5 = 0.47942554, with an absolute error of 2^-11.
    let text = "(if (less-than (sin 0.5) 0.4794) 1 2)";
    assert_eq!(set(text), Set::point(1.0).with(Span::point(2.0)));
    assert_eq!(shown(text, strict()).ways, 2);
    // Further away it goes one way.
    assert_eq!(set("(if (less-than (sin 0.5) 0.47) 1 (sqrt 4))").hull().map(|h| h.low > 1.9 && h.high < 2.1), Some(true));
    // If one way is decided and the other allows anything, the result may be anything.
    let either = shown("(vec2 (if (less-than (sin 0.5) 0.4794) 1 (tan 100000000)) (+ 1 2))", strict());
    assert!(matches!(either.expected[..], [Expected::Undecided(_), Expected::Bits(0x4040_0000)]), "{either:?}");
}

#[test]
fn a_value_equals_itself_and_two_evaluations_need_not() {
    assert_eq!(set("((rec-func (x) (- x x)) (sin 0.5))"), Set::point(0.0));
    for two in ["(let ((x (sin 0.5))) (- x x))", "((func (x) (- x x)) (sin 0.5))", "(- (sin 0.5) (sin 0.5))"] {
        let set = set(two);
        // Twice the error of one evaluation, to either side.
        let Some(Span { low, high }) = set.hull() else { panic!("{set}") };
        assert!(low == -high && (9.7e-4..1.0e-3).contains(&high), "{two}: {set}");
    }
    // Instructions that only move bits keep the identity of a value.
    assert_eq!(set("((rec-func (v) (- (x v) (y v))) ((rec-func (s) (vec2 s s)) (sin 0.5)))"), Set::point(0.0));
}

#[test]
fn a_condition_that_is_known_narrows_what_it_was_made_from() {
    // sin 0.5235 is about a half.
    let below = set("((rec-func (x) (if (less-than x 0.5) x 0.25)) (sin 0.5235))");
    let half = f64::from(0.5f32.next_down());
    assert_eq!(below.spans().iter().map(|s| s.high).collect::<Vec<_>>(), [0.25, half]);
    // A second comparison of the same value has one outcome on each way.
    let twice = "((rec-func (x) (if (less-than x 0.5) (if (less-than x 0.5) 1 2) (if (less-than x 0.5) 3 4))) (sin 0.5235))";
    assert_eq!(set(twice), Set::point(1.0).with(Span::point(4.0)));
    // A comparison of another evaluation says nothing about the first.
    let other = "(let ((x (sin 0.5235))) (if (less-than x 0.5) (if (less-than x 0.5) 1 2) 4))";
    assert_eq!(set(other), Set::point(1.0).with(Span::point(2.0)).with(Span::point(4.0)));
    // Through negation and conjunction.
    let both = "((rec-func (x) (if (and (not (greater-than x 0.5)) (greater-than x 0)) (if (greater-than x 0.5) 1 2) 3)) (sin 0.5235))";
    assert_eq!(set(both), Set::point(2.0).with(Span::point(3.0)));
}

#[test]
fn beyond_the_budget_nothing_is_decided_and_the_place_is_named() {
    let text = "(let ((c (sin 0.5235))) (+ (if (less-than c 0.5) 1 2) (+ (if (less-than c 0.5) 3 4) (if (less-than c 0.5) 5 6))))";
    let mut few = strict();
    few.budget.paths = 3;
    let observation = shown(text, few);
    assert_eq!((observation.ways, &observation.expected[..]), (3, &[Expected::Undecided(Why::Control)][..]));
    let Some(Unsettled::Paths(SkippedBranch { ways: 3, condition })) = &observation.unsettled else { panic!("{observation:?}") };
    // The first ways are the two through the third condition, and then the first one through it
    // again. The skipped branch is the other way of the second or the third condition.
    assert!(text[condition.place as usize..].starts_with("(less-than c 0.5)"), "{condition:?}");
    let why = observation.why(|place| Site::at(format!("byte {place}"))).expect("it is unsettled");
    assert!(
        why.starts_with("undecided at byte ") && why.contains(": OpFOrdLessThan of [") && why.ends_with(" and 0.5, 3 paths explored"),
        "{why}"
    );
    assert_eq!(shown(text, strict()).ways, 8);
    let mut small = strict();
    small.budget.cells = 2;
    assert_eq!(shown(text, small).unsettled, Some(Unsettled::Cells));
}

#[test]
fn a_way_that_does_not_end_leaves_everything_undecided() {
    let text = "((rec-func (x n) (if (less-than x 0.6) (if (less-than x 0.5) n (rec x (+ n 1))) 1)) (sin 0.5235) 0)";
    let (.., observation) = machine_says(text, strict());
    let why = observation.why(|_| Site::default()).expect("it is unsettled");
    assert_eq!(why, "undecided: a way through its branches ends as out of fuel");
    assert!(matches!(observation.expected[..], [Expected::Undecided(Why::Control)]));
}

#[test]
fn rules_that_are_too_wide_are_sound_and_those_that_narrow_wrongly_are_caught() {
    let text = "((rec-func (x) (if (less-than x 0.5) x 0.25)) (sin 0.5235))";
    let right = shown(text, strict());
    let mut planted = strict();
    planted.rules.narrowed = |_, _, x, y, _| [x.set, y.set];
    let wide = shown(text, planted);
    assert!(right.expected[0].is_within(wide.expected[0]) && !wide.expected[0].is_within(right.expected[0]));
    // As if the condition had the other outcome. The definite value is not in the set any more, and
    // the set is not within the relation's.
    planted.rules.narrowed = |profile, instruction, x, y, holds| (strict().rules.narrowed)(profile, instruction, x, y, !holds);
    let (.., wrong) = machine_says(text, planted);
    assert!(!wrong.expected[0].is_within(right.expected[0]), "{wrong:?}");
}

const MODULE: &str = r#"
               OpCapability Shader
       %glsl = OpExtInstImport "GLSL.std.450"
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %main "main" %out
               OpExecutionMode %main OriginUpperLeft
               OpDecorate %out Location 0
       %void = OpTypeVoid
       %bool = OpTypeBool
      %float = OpTypeFloat 32
         %v4 = OpTypeVector %float 4
      %proto = OpTypeFunction %void
    %pointer = OpTypePointer Output %v4
       %zero = OpConstant %float 0
       %half = OpConstant %float 0.5
      %angle = OpConstant %float 0.5235
        %out = OpVariable %pointer Output
       %main = OpFunction %void None %proto
      %first = OpLabel
        %sin = OpExtInst %float %glsl Sin %angle
       %less = OpFOrdLessThan %bool %sin %half
        %two = OpSelect %float %less %half %zero
               OpSelectionMerge %merge None
               OpBranchConditional %less %yes %merge
        %yes = OpLabel
       %same = OpFSub %float %sin %sin
               OpBranch %merge
      %merge = OpLabel
        %phi = OpPhi %float %same %yes %sin %first
        %all = OpCompositeConstruct %v4 %phi %two %sin %half
               OpStore %out %all
               OpReturn
               OpFunctionEnd
"#;

/// The observation of both SPIR-V engines.
#[track_caller]
fn module_shows(text: &str, exploration: Exploration) -> Observation {
    let words = spirv::assemble(text, spirv::Options::default()).unwrap_or_else(|e| panic!("{}: {}", e.line, e.what));
    let module = spirv::Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    let program = spirv::Program::compile(&module, "main").expect("compiles");
    let (inputs, arithmetic) = (Inputs::default(), Arithmetic::default());
    let Outcome::Observed(outputs) = program.run(&inputs, 1000, &arithmetic) else { panic!("it ends") };
    let by_machine = program.explore(&outputs, &inputs, 1000, &arithmetic, exploration);
    let by_relation = spirv::step::explore(&module, "main", &outputs, &inputs, 1000, &Relation::default(), exploration).expect("main");
    assert_eq!(by_relation, by_machine);
    by_machine
}

#[test]
fn spirv_engines_go_both_ways_and_say_where() {
    let shown = module_shows(MODULE, strict());
    let [phi, two, sin, half] = shown.expected[..] else { panic!("{shown:?}") };
    assert_eq!((shown.ways, half), (2, Expected::Bits(0.5f32.to_bits())));
    assert_eq!(two, Expected::Within(Set::point(0.0).with(Span::point(0.5))));
    let sin = sin.set().and_then(|s| s.hull()).expect("an interval");
    // If the condition holds, this is sin - sin. Otherwise it is a value of the sine that is at
    // least a half.
    assert_eq!(phi, Expected::Within(Set::point(0.0).with(Span { low: 0.5, high: sin.high })));
    assert!(sin.low < 0.5 && sin.high > 0.5 && sin.high - sin.low < 1e-3, "{sin:?}");

    let mut one = strict();
    one.budget.paths = 1;
    let why = module_shows(MODULE, one).why(|id| Site::at(format!("%{id}"))).expect("unsettled");
    assert!(why.starts_with("undecided at %") && why.contains(": OpFOrdLessThan of [0.49"), "{why}");
    assert!(why.ends_with("and 0.5, 1 path explored"), "{why}");
}

#[test]
fn a_module_that_may_not_write_an_output_says_nothing_of_it() {
    let text = MODULE.replacen("               OpStore %out %all\n", "", 1).replacen(
        "       %same = OpFSub %float %sin %sin\n",
        "       %same = OpFSub %float %sin %sin\n        %set = OpCompositeConstruct %v4 %same %zero %zero %half\n               OpStore %out %set\n",
        1,
    );
    // The definite run takes the way that writes the output. The other way does not write it.
    let shown = module_shows(&text, strict());
    assert!(shown.expected.iter().all(|e| matches!(e, Expected::Undecided(_))), "{shown:?}");
}

//! Draws over sets. The lockstep machine runs the fragment stage together with the relation. Each
//! draw is compared with the same draw by the relation alone. The machine must show the same, or
//! decide more than the relation.

use smallstep_generate::Random;
use smallstep_generate::spirv::beside::Components;
use smallstep_generate::spirv::quads::{LISTS, Mix, of_mix};
use smallstep_semantics::number::sets::Rules;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::By;
use smallstep_semantics::spirv::grammar::Op as Core;
use smallstep_semantics::spirv::lockstep::{Code, FragmentProgram, Op, Parts};
use smallstep_semantics::spirv::operation;
use smallstep_semantics::spirv::{Event, Sink};

use crate::*;

/// A generated fragment stage that computes with floats and writes nothing but colours.
fn generated(seed: u64) -> Drawn {
    let samples = if seed.is_multiple_of(5) { 4 } else { 1 };
    let mix = Mix { depth: seed.is_multiple_of(4), samples, each_sample: samples > 1 && seed.is_multiple_of(2), ..Mix::FLOATS };
    of_mix(mix, Random::new(seed), LISTS)
}

fn run(scene: &Scene, machine: Option<&FragmentProgram>, sink: &mut dyn Sink) -> Outcome<DrawObservation> {
    let sets = Some(Rules::default());
    let by = By { relation: &scene.relation, rules: &scene.rules, schedule: &scene.schedule, sets, machine };
    scene.with(|draw| draw::run_with(&scene.vertex, &scene.fragment, draw, &by, sink).expect("the entry points"))
}

/// Counts the rules that the relation applies.
#[derive(Default)]
struct Applied(u64);

impl Sink for Applied {
    fn event(&mut self, _: &Event<'_, '_>) {
        self.0 += 1;
    }
}

/// The components that were compared, and the rules that the relation applied.
#[derive(Default, Debug)]
struct Counts {
    components: Components,
    /// The number of rules that the relation applies to definite values: in a draw by itself
    /// (`alone`), and in a draw with the machine (`beside`).
    alone: u64,
    beside: u64,
}

/// The first difference between a draw with its fragments on the machine and the draw by the
/// relation alone, both over sets. `None` if there is none.
pub fn difference(scene: &Scene, machine: &FragmentProgram) -> Option<String> {
    compared(scene, machine, &mut Counts::default())
}

/// Runs the draw by both engines, adds to the counts, and returns the first difference.
fn compared(scene: &Scene, machine: &FragmentProgram, counts: &mut Counts) -> Option<String> {
    let (mut alone, mut beside) = (Applied::default(), Applied::default());
    let outcomes = (run(scene, None, &mut alone), run(scene, Some(machine), &mut beside));
    (counts.alone, counts.beside) = (counts.alone + alone.0, counts.beside + beside.0);
    match outcomes {
        (Outcome::Observed(relation), Outcome::Observed(machine)) => beside::over_sets(&relation, &machine, &mut counts.components),
        (relation, machine) => {
            let [a, b] = [relation, machine].map(|outcome| format!("{:?}", outcome.map(|_| ())));
            (a != b).then(|| format!("{b}, not {a}"))
        }
    }
}

#[test]
fn generated_stages_are_judged_as_by_the_relation() {
    let mut counts = Counts::default();
    for seed in 0..400 {
        let drawn = generated(seed);
        let scene = Scene::drawn(&drawn);
        let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes");
        if let Some(difference) = compared(&scene, &machine, &mut counts) {
            panic!("program {seed}: {difference}\n{}", drawn.text);
        }
    }
    println!("{counts:?}");
    // The machine runs most fragments, so the relation applies less than a third of the rules.
    let Components { exactly, sets, undefined, .. } = counts.components;
    assert!(counts.beside < counts.alone / 3, "{counts:?}");
    assert!(sets > 5_000 && exactly > 5_000 && undefined > 100, "{counts:?}");
}

type Bug = fn(Parts<'_>);

/// Bugs in the machine's program. The comparison must find each of them.
#[rustfmt::skip]
const BUGS: &[(&str, Bug)] = &[
    ("a sum for a difference", |parts| sites(parts, Core::FSub, Core::FAdd)),
    ("a product for a quotient", |parts| sites(parts, Core::FDiv, Core::FMul)),
    ("less for greater", |parts| sites(parts, Core::FOrdGreaterThan, Core::FOrdLessThan)),
    ("a disjunction for a conjunction", |parts| sites(parts, Core::LogicalAnd, Core::LogicalOr)),
    ("edges that copy to each other", |parts| parts.moves.iter_mut().for_each(|step| std::mem::swap(&mut step.to, &mut step.from))),
    ("the other operand of selections", |parts| codes(parts, |code| matches!(code.op, Op::Select), |code| std::mem::swap(&mut code.a, &mut code.b))),
    ("texels by columns for rows", |parts| parts.images.iter_mut().for_each(|access| access.choosing[0].1.swap(0, 1))),
    ("another component of a gather", |parts| parts.images.iter_mut().for_each(|access| access.component ^= 1)),
    ("differences by columns for rows", |parts| codes(parts, |code| code.op == Op::Derivative, |code| code.c ^= 1)),
    ("stores to the element before", |parts| codes(parts, |code| code.op == Op::StoreLocal && code.c > 0, |code| code.c -= 1)),
];

fn codes(parts: Parts<'_>, is: fn(&Code) -> bool, change: fn(&mut Code)) {
    parts.codes.iter_mut().filter(|code| is(code)).for_each(change);
}

fn sites(parts: Parts<'_>, from: Core, to: Core) {
    let [from, to] = [from, to].map(|op| operation::core(op).expect("the table has it"));
    parts.sites.iter_mut().filter(|site| site.operation == from).for_each(|site| site.operation = to);
}

#[test]
fn planted_bugs_are_caught() {
    for (what, bug) in BUGS {
        let caught = (0..400).any(|seed| {
            let scene = Scene::drawn(&generated(seed));
            let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes").planted(bug);
            compared(&scene, &machine, &mut Counts::default()).is_some()
        });
        assert!(caught, "{what}");
    }
}

/// In a draw over sets the relation also runs a sample of the machine's quads. This sample alone
/// finds a wrong machine: the draw is stuck.
#[test]
fn a_sample_by_the_relation_finds_a_wrong_machine() {
    let body = format!("{COORDINATES} %x = OpFSub %float %cx %third %o = OpCompositeConstruct %v4 %x %cy %f0 %f1 OpStore %out %o");
    let scene = Scene::new(passing(), fragment("", "", "", &body), &ALL);
    let scene = Scene { attributes: [scene.attributes.clone(), vec![floats(1, Rate::Vertex, &ALL)]].concat(), ..scene };
    let right = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes");
    let wrong = right.clone().planted(|parts| sites(parts, Core::FSub, Core::FAdd));
    assert!(matches!(run(&scene, Some(&right), &mut ()), Outcome::Observed(_)));
    let Outcome::Stuck(stuck) = run(&scene, Some(&wrong), &mut ()) else { panic!("it is not found") };
    assert!(stuck.why.contains("the engines differ") && stuck.at.contains("pixel (0, 0)"), "{stuck:?}");
}

/// Both engines judge a vector alike if some of its components are open and others are known.
#[test]
fn vectors_with_open_components_are_judged_alike() {
    let ones = "%ones = OpConstantComposite %v4 %f1 %f1 %f1 %f1";
    for op in ["FDiv", "FMul", "FAdd", "FSub"] {
        let body = format!("%i = OpLoad %v4 %in %d = Op{op} %v4 %i %ones OpStore %out %d");
        let scene = Scene::new(passing(), fragment("", "", ones, &body), &ALL);
        let given = floats(1, Rate::Vertex, &[[0.0, f32::INFINITY, f32::INFINITY, -0.0007]; 3]);
        let scene = Scene { attributes: [scene.attributes.clone(), vec![given]].concat(), ..scene };
        let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes");
        assert_eq!(compared(&scene, &machine, &mut Counts::default()), None, "{op}");
    }
}

/// A scene whose vertex stage passes `items` on as %in, four floats for each vertex.
fn given(declarations: &str, body: &str, items: [[f32; 4]; 3]) -> Scene {
    let scene = Scene::new(passing(), fragment("", "", declarations, body), &ALL);
    Scene { attributes: [scene.attributes.clone(), vec![floats(1, Rate::Vertex, &items)]].concat(), ..scene }
}

/// An interpolated input. Its first component is %cx / 4, but no device knows whether it is above
/// or below that number.
const OPEN: [[f32; 4]; 3] = [[0.0, 2.0, 7.0, 0.1], [5.0, 2.5, 7.5, 0.1], [0.0, 2.0, 7.0, 0.1]];
/// Two conditions that are open in some pixels. They compare the interpolated %ix with %tx, the
/// same number as the stage computes it.
const CONDITIONS: &str = "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %tx = OpFMul %float %cx %quarter
    %open = OpFOrdLessThan %bool %ix %tx %too = OpFOrdGreaterThan %bool %ix %tx ";

/// Asserts that the machine over sets shows what the relation alone shows, and that `is` holds of
/// both observations.
#[track_caller]
fn judged_alike(scene: &Scene, is: fn(&DrawObservation) -> bool) {
    let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes");
    assert_eq!(compared(scene, &machine, &mut Counts::default()), None);
    for by in [None, Some(&machine)] {
        let Outcome::Observed(observation) = run(scene, by, &mut ()) else { panic!("it is not shown") };
        assert!(is(&observation), "by {}: {:?}", if by.is_some() { "both" } else { "the relation" }, observation.targets[0].inexact());
    }
}

/// Whether some pixel may show this float in component `c`.
fn shows(observation: &DrawObservation, c: usize, float: f64) -> bool {
    let target = &observation.targets[0];
    let is = |x, y| matches!(target.component(x, y, c), Some(Component::Within(set)) if set.contains(float));
    (0..8).any(|y| (0..8).any(|x| is(x, y)))
}

fn all_exactly(observation: &DrawObservation, components: &[usize]) -> bool {
    let target = &observation.targets[0];
    let pixels = (0..8).flat_map(|y| (0..8).map(move |x| (x, y)));
    let is = |x, y, c| matches!(target.component(x, y, c), Some(zero) if is_zero(&zero) || matches!(zero, Component::Exactly(_)));
    pixels.into_iter().all(|(x, y)| components.iter().all(|&c| is(x, y, c)))
}

/// If a known index chooses a component of a vector, the component keeps its set. %in.z is above 1
/// and below 8 everywhere.
#[test]
fn a_component_by_a_known_index_keeps_its_set() {
    let insert = "%j = OpVectorInsertDynamic %v4 %i %f4 %c1 %e = OpCompositeExtract %float %j 2";
    for choose in ["%e = OpVectorExtractDynamic %float %i %c2", insert] {
        let body = format!(
            "%i = OpLoad %v4 %in OpStore %out %grey {choose} %small = OpFOrdLessThan %bool %e %f1
            OpSelectionMerge %m None OpBranchConditional %small %y %m %y = OpLabel OpStore %out %red OpBranch %m %m = OpLabel"
        );
        judged_alike(&given("", &body, OPEN), |observation| all_exactly(observation, &[0, 1, 2, 3]));
        // The pixel shows the set of the component.
        let body = format!("%i = OpLoad %v4 %in {choose} %shown = OpCompositeConstruct %v4 %e %f1 %f1 %f1 OpStore %out %shown");
        judged_alike(&given("", &body, OPEN), |observation| {
            matches!(observation.targets[0].component(3, 3, 0), Some(Component::Within(_))) && all_exactly(observation, &[1, 2, 3])
        });
    }
}

/// An integer that was converted from a float may differ between devices, because the float may be
/// rewritten. The machine too takes such an integer as an open input.
#[test]
fn integers_that_are_not_decided_are_inputs_of_the_machine_too() {
    let body = "%x = OpFMul %float %third %third %y = OpFAdd %float %x %f1 %n = OpConvertFToU %uint %y OpStore %number %n";
    let (decorations, declarations) = ("OpDecorate %number Location 1", "%number = OpVariable %pout_uint Output");
    let vertex = vertex("%number", decorations, declarations, body);
    let body = "OpStore %out %grey %n = OpLoad %uint %number %is = OpINotEqual %bool %n %c0
        OpSelectionMerge %m None OpBranchConditional %is %y %m %y = OpLabel OpStore %out %red OpBranch %m %m = OpLabel";
    let decorations = "OpDecorate %number Location 1 OpDecorate %number Flat";
    let fragment = fragment("%number", decorations, "%number = OpVariable %pin_uint Input", body);
    judged_alike(&Scene::new(vertex, fragment, &ALL), |observation| {
        matches!(observation.targets[0].component(3, 3, 0), Some(Component::Undecided(_) | Component::Within(_)))
    });
}

/// A fragment that is discarded on every way leaves its pixel alone.
#[test]
fn what_every_way_discards_is_gone() {
    let body = format!(
        "{COORDINATES} {CONDITIONS} OpStore %out %grey %s = OpSelect %float %open %f1 %f2 %o = OpCompositeConstruct %v4 %s %f1 %f1 %f1
        %left = OpFOrdLessThan %bool %cx %f4 OpSelectionMerge %m None OpBranchConditional %left %y %m
        %y = OpLabel OpKill %m = OpLabel OpStore %out %grey"
    );
    judged_alike(&given("", &body, OPEN), |observation| all_exactly(observation, &[0, 1, 2, 3]));
}

/// The stage has more open selections than ways are followed. Definite values then decide the
/// components that the selections do not choose.
#[test]
fn selections_leave_what_they_do_not_choose() {
    let selections: String = (0..8)
        .map(|k| {
            let before = if k == 0 { "%f1".into() } else { format!("%s{}", k - 1) };
            format!("%d{k} = OpFOrdLessThan %bool %ix %tx %t{k} = OpFAdd %float {before} %f1 %s{k} = OpSelect %float %d{k} %t{k} {before} ")
        })
        .collect();
    let body = format!("{COORDINATES} {CONDITIONS} {selections} %o = OpCompositeConstruct %v4 %s7 %f2 %cx %cy OpStore %out %o");
    judged_alike(&given("", &body, OPEN), |observation| all_exactly(observation, &[1, 2, 3]));
}

/// If a device may select an undefined value, a definite zero is not decided. This holds although
/// the bits of the zero are those that represent the undefined value.
#[test]
fn a_zero_beside_an_undefined_value_is_not_decided() {
    let body = format!(
        "{COORDINATES} {CONDITIONS} %apart = OpFOrdLessThan %bool %ix %f0 %s = OpSelect %float %open %u %f0
        %t = OpSelect %float %apart %u %f0 %o = OpCompositeConstruct %v4 %s %t %f1 %f1 OpStore %out %o"
    );
    judged_alike(&given("%u = OpUndef %float", &body, OPEN), |observation| {
        !all_exactly(observation, &[0]) && all_exactly(observation, &[1, 2, 3])
    });
}

/// On a way where the condition of a selection is undefined, the result is undefined. It is not one
/// of the two operands. The same holds for a component of a vector.
#[test]
fn an_undefined_condition_selects_an_undefined_value() {
    let declarations = "%edge = OpConstant %float 0.875 %u = OpUndef %float %b2 = OpTypeVector %bool 2
        %ones = OpConstantComposite %v2 %f1 %f1 %fours = OpConstantComposite %v2 %f4 %f4";
    let selections = [
        "%k = OpFOrdLessThan %bool %x %f2 %s = OpSelect %float %k %f1 %f4",
        "%k = OpFOrdLessThan %bool %x %f2 %j = OpCompositeConstruct %b2 %k %open %t = OpSelect %v2 %j %ones %fours
            %s = OpCompositeExtract %float %t 0",
    ];
    for selection in selections {
        let body = format!(
            "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %open = OpFOrdLessThan %bool %ix %edge OpBranch %here
            %here = OpLabel OpSelectionMerge %m None OpBranchConditional %open %y %m %y = OpLabel OpBranch %m
            %m = OpLabel %x = OpPhi %float %f1 %here %u %y {selection}
            %o = OpCompositeConstruct %v4 %s %f1 %f1 %f1 OpStore %out %o"
        );
        judged_alike(&given(declarations, &body, OPEN), |observation| {
            !shows(observation, 0, 1.0)
                && !shows(observation, 0, 4.0)
                && !all_exactly(observation, &[0])
                && all_exactly(observation, &[1, 2, 3])
        });
    }
}

/// On every way, a variable with an initializer holds the value that was stored to it.
#[test]
fn variables_with_initializers_keep_what_is_stored() {
    let declarations = "%pp = OpTypePointer Private %float %own = OpVariable %pp Private %f1";
    let body = format!(
        "{COORDINATES} {CONDITIONS} OpStore %own %f4 OpSelectionMerge %m None OpBranchConditional %open %y %m
        %y = OpLabel OpBranch %m %m = OpLabel %f = OpLoad %float %own %o = OpCompositeConstruct %v4 %f %f %f %f OpStore %out %o"
    );
    judged_alike(&given(declarations, &body, OPEN), |observation| all_exactly(observation, &[0, 1, 2, 3]));
}

/// Ways that run side by side from blocks of their own keep the values that they had there. The sum
/// %t is of the value that %v had before the second branch.
#[test]
fn ways_from_several_blocks_do_not_meddle() {
    // The relation follows at most 64 ways of a quad. Both conditions are open in one column only.
    let body = format!(
        "%v = OpVariable %pfn Function OpStore %v %c1 {COORDINATES} %i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0
        %open = OpFOrdLessThan %bool %ix %edge %too = OpFOrdGreaterThan %bool %ix %edge
        OpSelectionMerge %m None OpBranchConditional %open %y %m %y = OpLabel OpBranch %m
        %m = OpLabel %a = OpLoad %uint %v %t = OpIAdd %uint %a %c1 OpStore %v %c300
        OpSelectionMerge %n None OpBranchConditional %too %z %n %z = OpLabel OpBranch %n
        %n = OpLabel %f = OpConvertUToF %float %t %o = OpCompositeConstruct %v4 %f %f %f %f OpStore %out %o"
    );
    let declarations = "%pfn = OpTypePointer Function %uint %edge = OpConstant %float 0.875";
    judged_alike(&given(declarations, &body, OPEN), |observation| all_exactly(observation, &[0, 1, 2, 3]));
}

/// If results may be rewritten, each use of a condition may be another evaluation. Two selections
/// by one condition then differ by 1, by -1 or not at all.
#[test]
fn each_use_of_a_condition_goes_its_own_ways() {
    // The condition is open in one column only: the relation follows at most 64 ways of a quad.
    let again = [
        "%b = OpSelect %float %open %f1 %f2",
        "OpBranch %next %next = OpLabel %same = OpPhi %bool %open %here %b = OpSelect %float %same %f1 %f2",
        "OpSelectionMerge %m None OpBranchConditional %open %y %n %y = OpLabel OpBranch %m %n = OpLabel OpBranch %m
        %m = OpLabel %b = OpPhi %float %f1 %y %f2 %n",
    ];
    for again in again {
        for [first, second] in [["", again], [again, ""]] {
            let body = format!(
                "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %open = OpFOrdLessThan %bool %ix %edge OpBranch %here %here = OpLabel {first} %a = OpSelect %float %open %f1 %f2 {second}
                %d = OpFSub %float %a %b %o = OpCompositeConstruct %v4 %a %d %f1 %f1 OpStore %out %o"
            );
            judged_alike(&given("%edge = OpConstant %float 0.875", &body, OPEN), |observation| {
                let differences = [-1.0, 0.0, 1.0].map(|x| shows(observation, 1, x));
                differences == [true; 3] && all_exactly(observation, &[2, 3])
            });
        }
    }
}

/// A way that goes on in the middle of a block has the results of the instructions before.
#[test]
fn a_way_has_what_its_block_has_made() {
    let body = format!(
        "{COORDINATES} {CONDITIONS} %n = OpConvertFToU %uint %cx %m = OpIAdd %uint %n %n %odd = OpIEqual %bool %n %c1
        %s = OpSelect %float %open %f1 %f2 %f = OpConvertUToF %float %m %p = OpFAdd %float %cy %f1
        %t = OpSelect %float %odd %f4 %f1 %o = OpCompositeConstruct %v4 %s %f %p %t OpStore %out %o"
    );
    judged_alike(&given("", &body, OPEN), |observation| !all_exactly(observation, &[0]) && all_exactly(observation, &[2, 3]));
}

/// OpFwidth, OpFwidthFine and OpFwidthCoarse are the sum of two magnitudes. Both engines bound it
/// in the same way, also for a constant operand.
#[test]
fn widths_are_sums() {
    for op in ["OpFwidth", "OpFwidthFine", "OpFwidthCoarse"] {
        let body =
            format!("{COORDINATES} %w = {op} %float %big %v = {op} %float %cx %o = OpCompositeConstruct %v4 %w %v %f1 %f1 OpStore %out %o");
        judged_alike(&given("%big = OpConstant %float 960.942", &body, OPEN), |observation| {
            shows(observation, 0, 0.0) && shows(observation, 0, 0.002) && !shows(observation, 0, 0.003) && all_exactly(observation, &[2, 3])
        });
    }
}

/// The quads of a triangle are written after those of earlier triangles, even if the earlier quads
/// wait for other ways of their lanes. Here the second triangle hides all of the first.
#[test]
fn triangles_are_written_in_their_order() {
    const HIDES: [f32; 4] = [100.0, 2.0, 3.0, 4.0];
    // The condition is open in one column of the first triangle. So few ways wait until there
    // are more.
    let body = "%i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %open = OpFOrdLessThan %bool %ix %edge
        OpStore %out %i OpSelectionMerge %m None OpBranchConditional %open %y %m
        %y = OpLabel OpStore %out %red OpBranch %m %m = OpLabel";
    let scene = Scene::new(passing(), fragment("", "", "%edge = OpConstant %float 0.875", body), &[ALL, ALL].concat());
    let attributes = [scene.attributes.clone(), vec![floats(1, Rate::Vertex, &[OPEN, [HIDES; 3]].concat())]].concat();
    judged_alike(&Scene { attributes, ..scene }, |observation| {
        let is = |x, y| [0, 1, 2, 3].map(|c| definite(&observation.targets[0], x, y, c)) == HIDES;
        (0..8).all(|y| (0..8).all(|x| is(x, y)))
    });
}

/// Devices round an integer that no float represents. A zero that was converted from an integer has
/// either sign.
#[test]
fn integers_become_floats_with_what_devices_may_round() {
    let body = format!(
        "{COORDINATES} %n = OpConvertFToU %uint %cx %large = OpIAdd %uint %n %beyond %o0 = OpConvertUToF %float %large
        %o1 = OpConvertUToF %float %n %o2 = OpConvertSToF %float %n %o = OpCompositeConstruct %v4 %o0 %o1 %o2 %f1 OpStore %out %o"
    );
    judged_alike(&given("%beyond = OpConstant %uint 16777217", &body, OPEN), |observation| {
        let at = |x, c| observation.targets[0].component(x, 3, c);
        let exactly = |x, c| matches!(at(x, c), Some(Component::Exactly(_)));
        !exactly(0, 0) && exactly(1, 0) && !exactly(0, 1) && !exactly(0, 2) && exactly(3, 1) && exactly(3, 2)
    });
}

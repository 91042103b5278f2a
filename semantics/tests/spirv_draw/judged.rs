//! Draws over sets with their fragment stage on the lockstep machine, beside the same by the
//! relation alone: the machine shows the same, or more than the relation decides.

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

/// A stage of floats that writes nothing but colours.
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

/// What is compared.
#[derive(Default, Debug)]
struct Counts {
    components: Components,
    /// Rules that the relation applies to definite values: by itself, and beside the machine.
    alone: u64,
    beside: u64,
}

/// Both engines over a stage; what differs.
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
    // The machine runs most of it.
    let Components { exactly, sets, undefined, .. } = counts.components;
    assert!(counts.beside < counts.alone / 3, "{counts:?}");
    assert!(sets > 5_000 && exactly > 5_000 && undefined > 100, "{counts:?}");
}

type Bug = fn(Parts<'_>);

/// Bugs in what the machine runs, which the comparison must find.
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

/// A machine that is wrong is found by the relation's samples alone.
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

/// A vector of which components are open beside known ones.
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

//! Known disagreements of a device with a bug only in its constant folding. The wrong value shows
//! far from its origin, behind other operations, in lanes that only a run over sets decides. The
//! device is the interpreter with constant folding in front.

use rustc_hash::{FxHashMap, FxHashSet};
use smallstep::dispatch::{FragmentDispatch, Frame};
use smallstep::generate::{Limits, well_typed};
use smallstep::gpu::{DeviceOutcome, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::Settings;
use smallstep::theorem::device::UnderTest;
use smallstep::theorem::known::Known;
use smallstep::theorem::probe::Drawer;
use smallstep::theorem::quirk::Quirk;
use smallstep::theorem::reduce;
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::number::{Arithmetic, Lane, Lanes, Op, Planted, Tuple};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::grammar::Op as Opcode;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::{self, Event, Inputs, Module, Relation};
use std::cell::RefCell;

thread_local! {
    /// The sums that the device folds, by the bits of both operands. For a difference, the second
    /// operand is negated.
    static FOLDED: RefCell<FxHashSet<(u32, u32)>> = RefCell::default();
}

/// The sum of two floats, rounded toward zero. Both are far from overflow and underflow.
fn toward_zero(a: f32, b: f32) -> f32 {
    let exact = f64::from(a) + f64::from(b);
    let nearest = exact as f32;
    if f64::from(nearest.abs()) > exact.abs() { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

fn folds_toward_zero(op: Op, args: &[Tuple<'_>], mut result: Lanes) -> Lanes {
    if matches!(op, Op::Add | Op::Sub) {
        for ((a, b), result) in args[0].lanes.iter().zip(args[1].lanes).zip(&mut result) {
            let b = if op == Op::Sub { -b.float() } else { b.float() };
            if FOLDED.with_borrow(|folded| folded.contains(&(a.bits, b.to_bits()))) {
                *result = Lane { bits: toward_zero(a.float(), b).to_bits(), ..*result };
            }
        }
    }
    result
}

/// The constant results of a module: made from constants by these instructions, without
/// control flow.
fn constants(module: &Module) -> FxHashSet<u32> {
    let mut constant = FxHashSet::default();
    for i in module.instructions() {
        let operands = i.operands(module.words());
        let is_constant = |id: &u32| module.is_constant(*id) || constant.contains(id);
        let folds = match i.op {
            Opcode::FAdd | Opcode::FSub | Opcode::FMul | Opcode::FNegate | Opcode::CompositeConstruct | Opcode::VectorTimesScalar => {
                operands.iter().all(is_constant)
            }
            Opcode::CompositeExtract => is_constant(&operands[0]),
            _ => false,
        };
        if folds {
            constant.insert(i.result);
        }
    }
    constant
}

fn bits(module: &Module, held: &FxHashMap<u32, Vec<u32>>, id: u32) -> Vec<u32> {
    let mut scalars = Vec::new();
    module.constant_scalars(id, &mut scalars);
    match scalars.is_empty() {
        true => held.get(&id).cloned().unwrap_or_default(),
        false => scalars.iter().map(|scalar| scalar.bits as u32).collect(),
    }
}

/// A device that computes like the interpreter, but folds sums of constants and rounds these
/// toward zero.
struct Folding(Planted);

impl Drawer for Folding {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        let module = Module::load(&dispatch.words).unwrap_or_else(|e| panic!("{e}"));
        let program = spirv::Program::compile(&module, &dispatch.entry).unwrap_or_else(|e| panic!("{e}"));
        let constant = constants(&module);
        let mut images = vec![Vec::new(); dispatch.outputs.len()];
        for (x, y) in (0..dispatch.height).flat_map(|y| (0..dispatch.width).map(move |x| (x, y))) {
            let inputs = Inputs { frag_coord: [x as f32 + 0.5, y as f32 + 0.5, 0.0, 1.0], buffers: &[] };
            let mut held: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            let mut folded = FxHashSet::default();
            let mut sink = |event: &Event<'_, '_>| {
                let i = event.instruction;
                if !constant.contains(&i.result) {
                    return;
                }
                if let Opcode::FAdd | Opcode::FSub = i.op {
                    let operands = i.operands(module.words());
                    let negated = if i.op == Opcode::FSub { 0x8000_0000 } else { 0 };
                    let [a, b] = [operands[0], operands[1]].map(|id| bits(&module, &held, id));
                    folded.extend(a.into_iter().zip(b).map(|(a, b)| (a, b ^ negated)));
                }
                if let Some(Value::Scalars(scalars)) = event.value {
                    held.insert(i.result, scalars.iter().map(|scalar| scalar.lane().bits).collect());
                }
            };
            let _ = spirv::step::run(&module, &dispatch.entry, &inputs, 1_000_000, &Relation::default(), &mut sink);
            FOLDED.set(folded);
            let outcome = program.run(&inputs, 1_000_000, &Arithmetic { planted: Some(self.0) });
            let Outcome::Observed(outputs) = outcome else { return DeviceOutcome::Unchecked(outcome.name().into()) };
            for (image, target) in images.iter_mut().zip(&dispatch.outputs) {
                let lanes = outputs.at(target.location).expect("every output is written");
                image.push(std::array::from_fn(|i| lanes.get(i).map_or(0, |lane| lane.bits)));
            }
        }
        DeviceOutcome::Drawn(Frame { words_hash: dispatch.words_hash(), images })
    }

    fn max_outputs(&self) -> u32 {
        8
    }
}

fn under_test(drawer: &mut Folding) -> UnderTest<'_> {
    UnderTest { drawer, adapter: "NVIDIA H200".into(), driver: "580.159.04".into(), route: Route::Passthrough }
}

fn settings() -> Settings {
    Settings { size: (2, 2), references: false, ..Settings::default() }
}

fn folded_quirks() -> Vec<Quirk> {
    let all = Quirk::read_folder(std::path::Path::new("spec-tests/quirks")).unwrap_or_else(|e| panic!("{e}"));
    all.into_iter().filter(|quirk| ["nvidia-folded-sum", "nvidia-folded-difference"].contains(&quirk.name.as_str())).collect()
}

/// The quirks that explain a program's disagreement, and the minimal programs.
fn explain(text: &str, planted: Planted) -> (Option<String>, Vec<String>) {
    let mut drawer = Folding(planted);
    let mut device = under_test(&mut drawer);
    let mut known = Known::on(&mut device, &folded_quirks(), &settings());
    let faults = reduce::minimal(&parse(text).expect("reads"), &settings(), Some(device.again()));
    (known.explain(&faults, &mut device).all, faults.iter().map(|fault| fault.tree.print().trim_end().to_string()).collect())
}

#[test]
fn a_fault_seen_through_other_operations_comes_down_to_where_it_comes_about() {
    // The fault shows as two units in the last place, as a half instead of a zero, and as a value
    // outside of an interval.
    let amplified = [
        ("(- (- 2.5 0.33333334) 1)", "nvidia-folded-difference"),
        ("(fract (+ 4194303.8 1))", "nvidia-folded-sum"),
        ("(let ((s (+ 0.001 1))) (x (* (mat2 (vec2 0.46 0) (vec2 0 0)) (vec2 s s))))", "nvidia-folded-sum"),
        ("(* (inverse-sqrt 2) (* 16777216 (- (+ 0.001 1) 1.001)))", "nvidia-folded-sum"),
    ];
    for (text, name) in amplified {
        let (explained, minimal) = explain(text, folds_toward_zero);
        assert_eq!(explained.as_deref(), Some(name), "{text}: {minimal:?}");
        assert!(minimal.iter().all(|program| ["(+ ", "(- "].iter().any(|head| program.starts_with(head))), "{minimal:?}");
        assert!(minimal.iter().all(|program| program.matches('(').count() == 1), "{minimal:?}");
    }
}

/// A device with the folding bug, and a second bug in `fract`.
fn folds_and_loses_fractions(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    let mut result = folds_toward_zero(op, args, result);
    if op == Op::Fract {
        result.iter_mut().for_each(|lane| lane.bits = 0.5f32.to_bits());
    }
    result
}

#[test]
fn a_new_bug_does_not_hide_behind_the_operand_that_a_known_one_makes_wrong() {
    let (explained, minimal) = explain("(fract (+ 4194303.8 1))", folds_and_loses_fractions);
    assert_eq!(explained, None, "{minimal:?}");
    assert!(minimal.iter().any(|program| program.starts_with("(fract ")), "{minimal:?}");
}

/// A choice between 1 and -0 gives +0 for -0.
fn chooses_plus_zero(op: Op, args: &[Tuple<'_>], mut result: Lanes) -> Lanes {
    if op == Op::Select {
        for ((a, b), result) in args[1].lanes.iter().zip(args[2].lanes).zip(&mut result) {
            let [one, minus_zero] = [1.0f32.to_bits(), (-0.0f32).to_bits()];
            if [[one, minus_zero], [minus_zero, one]].contains(&[a.bits, b.bits]) && result.bits == minus_zero {
                result.bits = 0;
            }
        }
    }
    result
}

#[test]
fn a_choice_that_loses_the_sign_of_a_zero_comes_down_to_the_choice() {
    let programs = [
        "(select (less-than (y (frag-coord)) 1) 1 -0)",
        "(* 3 (select (less-than (y (frag-coord)) 1) 1 (- 0)))",
        "((func (c) (vec3 (sin 1) 2 (select c 1 -0))) (greater-than 1 (x (frag-coord))))",
        "(vec2 (sin 1) (- (select (less-than (sin 0.5235) 2) -0 1)))",
    ];
    for text in programs {
        let mut drawer = Folding(chooses_plus_zero);
        let faults = reduce::minimal(&parse(text).expect("reads"), &settings(), Some(under_test(&mut drawer)));
        let minimal: Vec<String> = faults.iter().map(|fault| fault.tree.print().trim_end().to_string()).collect();
        let known = ["(select false 1 -0)", "(select true -0 1)"];
        assert!(!minimal.is_empty() && minimal.iter().all(|program| known.contains(&program.as_str())), "{text}: {minimal:?}");
    }
}

#[test]
fn every_generated_program_that_shows_a_folded_sum_is_explained() {
    let mut drawer = Folding(folds_toward_zero);
    let mut device = under_test(&mut drawer);
    let mut known = Known::on(&mut device, &folded_quirks(), &settings());
    assert!(known.gone.is_empty(), "{:?}", known.gone);
    let mut found = 0;
    for seed in 0..20_000 {
        let tree = well_typed(seed, &Limits::default());
        let Verdict::Disagree(_) = reduce::verdict(&tree, &settings(), Some(device.again())) else { continue };
        found += 1;
        let faults = reduce::minimal(&tree, &settings(), Some(device.again()));
        let programs: Vec<String> = faults.iter().map(|fault| fault.tree.print()).collect();
        assert!(known.explain(&faults, &mut device).all.is_some(), "seed {seed}: {programs:?}\n{}", tree.print());
    }
    println!("{found} programs explained");
    assert!(found > 10);
}

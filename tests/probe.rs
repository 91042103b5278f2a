//! Blame on a device with a bug planted in one operation: the search must name that operation and
//! nothing else.
//!
//! The device is the SPIR-V machine with the planted bug, so the expected result is known. Like a
//! device, it draws any words, the adapted ones included.

use pretty_assertions::assert_eq;
use smallstep::compile::lambda_v::Constants;
use smallstep::compile::probe::{self as pass, Probe};
use smallstep::dispatch::{FragmentDispatch, Frame};
use smallstep::generate::{self, Limits};
use smallstep::gpu::{DeviceOutcome, Route};
use smallstep::theorem::blame::Blame;
use smallstep::theorem::case::{Case, NoCase, Settings};
use smallstep::theorem::device::Awaited;
use smallstep::theorem::probe::{Drawer, Unblamed};
use smallstep::theorem::{Difference, Place, Verdict};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::frag_coord;
use smallstep_semantics::number::{Arithmetic, Expected, Lane, Lanes, Op, Planted, Profile, Tuple};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::{self, Buffer, Inputs};
use smallstep_spec_tests::tools;
use std::cell::{Cell, RefCell};
use std::process::Command;

/// The SPIR-V machine as a device.
struct Machine {
    planted: Option<Planted>,
    /// The hash of the only words with the bug. `None` if all words have it. 0 stands for the words
    /// of the case, whose hash `difference` sets.
    only: Option<u64>,
    outputs: u32,
    draws: u32,
}

impl Machine {
    fn new(planted: Option<Planted>) -> Machine {
        Machine { planted, only: None, outputs: 8, draws: 0 }
    }
}

impl Drawer for Machine {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        self.draws += 1;
        assert!(dispatch.outputs.len() as u32 <= self.outputs, "more outputs than the device has");
        let module = spirv::Module::load(&dispatch.words).unwrap_or_else(|e| panic!("{e}"));
        let program = spirv::Program::compile(&module, &dispatch.entry).expect("compiles");
        let buffers = [Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&dispatch.constants) }];
        let wrong = self.only.is_none_or(|hash| hash == dispatch.words_hash());
        let arithmetic = Arithmetic { planted: self.planted.filter(|_| wrong) };
        let mut images = vec![Vec::new(); dispatch.outputs.len()];
        for y in 0..dispatch.height {
            for x in 0..dispatch.width {
                let inputs = Inputs { frag_coord: frag_coord(x, y).map(Lane::float), buffers: &buffers };
                // A planted condition may make a loop endless.
                let Outcome::Observed(shown) = program.run(&inputs, 1 << 20, &arithmetic) else {
                    return DeviceOutcome::TimedOut(std::time::Duration::from_secs(1));
                };
                for (target, image) in dispatch.outputs.iter().zip(&mut images) {
                    let lanes = shown.at(target.location).expect("every output is written");
                    image.push(std::array::from_fn(|i| lanes[i].bits));
                }
            }
        }
        DeviceOutcome::Drawn(Frame { words_hash: dispatch.words_hash(), images })
    }

    fn max_outputs(&self) -> u32 {
        self.outputs
    }
}

fn settings(profile: Profile, constants: Constants) -> Settings {
    Settings { profile, constants, references: false, size: (2, 2), ..Settings::default() }
}

/// The device's first difference from the semantics, with the cause that the search found. `None`
/// if the device agrees.
fn difference(program: Program, settings: &Settings, device: &mut Machine) -> Option<Difference> {
    let Ok(case) = Case::new(program, settings) else { panic!("the program is well typed") };
    let ran = case.run(settings);
    let awaited = Awaited::new(&case, &ran, settings.size.0)?;
    if device.only == Some(0) {
        device.only = Some(case.words_hash);
    }
    let outcome = device.draw(case.dispatch(settings.size));
    device.draws = 0;
    match awaited.compare(&outcome, "the machine", Route::Passthrough).0 {
        Verdict::Disagree(mut difference) => {
            difference.search(&case, settings, device);
            Some(*difference)
        }
        _ => None,
    }
}

#[track_caller]
fn blame_of(text: &str, constants: Constants, planted: Planted) -> Blame {
    let program = Program::read(text).expect("reads");
    let mut device = Machine::new(Some(planted));
    let found = difference(program, &settings(Profile::Strict, constants), &mut device).expect("the planted operation shows");
    let blame = found.blame.unwrap_or_else(|| panic!("no blame: {:?}", found.unblamed));
    assert_eq!(blame.dispatches, device.draws, "dispatches are counted");
    blame
}

fn is(args: &[Tuple<'_>], values: &[f32]) -> bool {
    args.iter().map(|a| a.lanes[0].float()).eq(values.iter().copied())
}

const PLACES: [Constants; 2] = [Constants::InModule, Constants::Opaque];

#[test]
fn a_wrong_operation_in_a_chain_is_named() {
    let text = "(let ((a (+ (x (frag-coord)) 1.5)) (b (* 3 5))) (vec4 a (- (+ b a) 4) (* (- b a) (- b a)) (+ a a)))";
    for constants in PLACES {
        let blame = blame_of(text, constants, |op, args, mut lanes| {
            if op == Op::Sub && is(args, &[15.0, 2.0]) {
                lanes[0] = Lane::exact(12.5);
            }
            lanes
        });
        assert_eq!((blame.expression.as_str(), blame.instruction.as_str()), ("(- (* 3 5) (+ (x (frag-coord)) 1.5))", "OpFSub"));
        assert_eq!((blame.expected.as_str(), blame.found.as_str()), ("13 (0x41500000)", "12.5 (0x41480000)"));
        assert_eq!(blame.rule.name(), "lv/tr-builtin");
        assert_eq!(&text[blame.span.start as usize..blame.span.end as usize], "(- b a)");
    }
}

const SUM: &str = "((rec-func (i sum) (if (less-than i 12) (rec (+ i 1) (+ sum (* i i))) sum)) 0 (x (frag-coord)))";

#[test]
fn a_wrong_operation_in_one_round_of_a_loop_is_named_with_its_round() {
    for constants in PLACES {
        let blame = blame_of(SUM, constants, |op, args, mut lanes| {
            if op == Op::Mul && is(args, &[7.0, 7.0]) {
                lanes[0] = Lane::exact(50.0);
            }
            lanes
        });
        assert_eq!((blame.instruction.as_str(), blame.occurrence), ("OpFMul", 7));
        assert_eq!((blame.expected.as_str(), blame.found.as_str()), ("49 (0x42440000)", "50 (0x42480000)"));
        assert_eq!(&SUM[blame.span.start as usize..blame.span.end as usize], "(* i i)");
        assert!(blame.dispatches <= 30, "{} dispatches for some 90 computations", blame.dispatches);
    }
}

#[test]
fn a_wrong_condition_is_named_and_not_what_it_leaves_undone() {
    let blame = blame_of(SUM, Constants::InModule, |op, args, mut lanes| {
        if op == Op::LessThan && is(args, &[4.0, 12.0]) {
            lanes[0] = Lane::truth(false);
        }
        lanes
    });
    assert_eq!((blame.instruction.as_str(), blame.occurrence), ("OpFOrdLessThan", 4));
    assert_eq!((blame.expected.as_str(), blame.found.as_str()), ("true", "false"));
}

#[test]
fn a_wrong_column_of_a_matrix_is_named() {
    let text = "(let ((m (mat3 (vec3 1 2 3) (vec3 4 5 6) (vec3 7 8 (x (frag-coord)))))) (let ((p (* m m))) (+ (column 0 p) (column 2 p))))";
    let blame = blame_of(text, Constants::InModule, |op, _, mut lanes| {
        if op == Op::MatrixTimesMatrix {
            lanes[7] = Lane::exact(-1.0);
        }
        lanes
    });
    assert_eq!(blame.instruction, "OpMatrixTimesMatrix");
    assert!(blame.expected.starts_with("column 2: ") && blame.found.contains(", -1 (0xbf800000), "), "{blame}");
}

#[test]
fn without_room_for_another_output_the_value_takes_the_place_of_the_program_s() {
    let outputs: Vec<String> = (0..8).map(|n| format!("(output {n} (+ (x (frag-coord)) {n}))")).collect();
    let program = || Program::read(&outputs.join("\n")).expect("reads");
    let mut device = Machine::new(Some(|op, args, mut lanes| {
        if op == Op::Add && is(args, &[1.5, 5.0]) {
            lanes[0] = Lane::exact(7.0);
        }
        lanes
    }));
    let found = difference(program(), &settings(Profile::Strict, Constants::InModule), &mut device).expect("it shows");
    let blame = found.blame.expect("there is a culprit");
    assert_eq!((blame.expression.as_str(), blame.expected.as_str()), ("(+ (x (frag-coord)) 5)", "6.5 (0x40d00000)"));
}

#[test]
fn a_disagreement_that_vanishes_under_observation_is_said_to() {
    let program = Program::read(SUM).expect("reads");
    let planted: Planted = |op, args, mut lanes| {
        if op == Op::Mul && is(args, &[7.0, 7.0]) {
            lanes[0] = Lane::exact(50.0);
        }
        lanes
    };
    let mut device = Machine { only: Some(0), ..Machine::new(Some(planted)) };
    let found = difference(program, &settings(Profile::Strict, Constants::InModule), &mut device).expect("it shows");
    assert_eq!((found.blame, found.unblamed), (None, Some(Unblamed::Vanishes { dispatches: 1 })));
}

thread_local! {
    /// The operation with the planted bug, and the bits of its operands.
    static TARGET: RefCell<Option<(Op, Vec<u32>)>> = const { RefCell::new(None) };
    /// The operations that were applied while `RECORDS` is set.
    static APPLIED: RefCell<Vec<(Op, Vec<u32>)>> = const { RefCell::new(Vec::new()) };
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

fn bits(args: &[Tuple<'_>]) -> Vec<u32> {
    args.iter().flat_map(|a| a.lanes.iter().map(|l| l.bits)).collect()
}

fn planted(op: Op, args: &[Tuple<'_>], mut lanes: Lanes) -> Lanes {
    if RECORDS.get() {
        APPLIED.with_borrow_mut(|applied| applied.push((op, bits(args))));
    }
    let hit = TARGET.with_borrow(|target| target.as_ref().is_some_and(|t| t.0 == op && t.1 == bits(args)));
    if hit {
        for lane in &mut lanes {
            // Changes the least bit of a float, and inverts a Boolean.
            lane.bits ^= 1;
        }
    }
    lanes
}

/// Operations of the probe itself. A bug planted in one of them would make its answers meaningless.
fn is_used_by_the_probe(op: Op) -> bool {
    matches!(op, Op::Add | Op::Equal | Op::Select)
}

/// Whether every device shows the definite value of the lane.
fn has_one_value(case: &Case, place: Place, settings: &Settings) -> bool {
    let program = spirv::Program::compile(case.module(), "main").expect("compiles");
    let buffers = case.buffers();
    let inputs = Inputs { frag_coord: frag_coord(place.pixel.0, place.pixel.1).map(Lane::float), buffers: &buffers };
    let Outcome::Observed(shown) = program.run(&inputs, 1 << 20, &Arithmetic::default()) else { return false };
    let lane = shown.at(place.location).expect("every output is written")[place.component as usize];
    !matches!(lane.judge(settings.profile), Expected::Undecided(_))
}

/// The verdict of the simulated device on a program, with the blame.
fn verdict_of(text: &str, settings: &Settings, planted: Planted) -> Verdict {
    let Ok(case) = Case::new(Program::read(text).expect("reads"), settings) else { panic!("the program is well typed") };
    let awaited = Awaited::new(&case, &case.run(settings), settings.size.0).expect("it has values");
    let mut device = Machine::new(Some(planted));
    let outcome = device.draw(case.dispatch(settings.size));
    let (mut verdict, _) = awaited.compare(&outcome, "the machine", Route::Passthrough);
    if let Verdict::Disagree(difference) = &mut verdict {
        difference.search(&case, settings, &mut device);
    }
    verdict
}

fn sine_off_by(lanes: &mut Lanes, op: Op, error: f32) {
    if op == Op::Sin {
        lanes[0] = Lane::exact(lanes[0].float() + error);
    }
}

#[test]
fn a_device_outside_of_a_set_is_caught_and_one_inside_is_not() {
    // The sine of any device is within 2^-11 of the true one.
    let strict = settings(Profile::Strict, Constants::Opaque);
    let text = "(vec2 (* 2 (+ 1 (sin 0.5))) (+ (x (frag-coord)) 1))";
    let inside = verdict_of(text, &strict, |op, _, mut lanes| {
        sine_off_by(&mut lanes, op, 0.000_4);
        lanes
    });
    assert_eq!(inside, Verdict::Agree);
    let outside = verdict_of(text, &strict, |op, _, mut lanes| {
        sine_off_by(&mut lanes, op, 0.000_6);
        lanes
    });
    let Verdict::Disagree(difference) = outside else { panic!("{}", outside.why()) };
    assert!(difference.what.starts_with("expected one of [2.957") && difference.what.contains("], saw 2.960"), "{}", difference.what);
    let blame = difference.blame.unwrap_or_else(|| panic!("{:?}", difference.unblamed));
    assert!(blame.instruction.ends_with("Sin") && blame.expression == "(sin 0.5)", "{blame}");
    assert!(blame.expected.starts_with("one of [0.478") && blame.found.starts_with("0.480"), "{blame}");
}

#[test]
fn a_device_may_take_either_way_of_a_doubtful_branch_and_no_third() {
    let strict = settings(Profile::Strict, Constants::Opaque);
    // The sine of 0.5235 is 0.4999.
    let text = "(+ 8 (if (less-than (sin 0.5235) 0.5) 1 2))";
    let other_way = verdict_of(text, &strict, |op, _, mut lanes| {
        sine_off_by(&mut lanes, op, 0.000_2);
        lanes
    });
    assert_eq!(other_way, Verdict::Agree);
    let third = verdict_of(text, &strict, |op, _, mut lanes| {
        if op == Op::Add {
            lanes[0] = Lane::exact(9.5);
        }
        lanes
    });
    let Verdict::Disagree(difference) = third else { panic!("{}", third.why()) };
    assert_eq!(difference.what, "expected one of 9.0 or 10.0, saw 9.5 (0x41180000)");
    assert!(difference.blame.is_some_and(|b| b.instruction == "OpFAdd"));
    // A lane with one value only because of an identity, x - x.
    let text = "((rec-func (x n) (if (less-than n 1) (- x x) (rec x (- n 1)))) (sin 0.5) 0)";
    let zero = verdict_of(text, &strict, |op, _, mut lanes| {
        if op == Op::Sub {
            lanes[0] = Lane::exact(1.0);
        }
        lanes
    });
    assert!(zero.why().contains("expected 0 (0x00000000), saw 1 "), "{}", zero.why());
}

#[test]
fn an_undecided_verdict_says_where_and_why() {
    let mut few = settings(Profile::Strict, Constants::Opaque);
    few.budget.paths = 1;
    let verdict = verdict_of("(vec2 (if (less-than (sin 0.5235) 0.5) 1 2) 3)", &few, |_, _, lanes| lanes);
    let Verdict::Undecided(why) = verdict else { panic!("{}", verdict.why()) };
    assert!(why.starts_with("8 of 8 lanes were left alone: undecided at 1:11: less-than of [0.499"), "{why}");
    assert!(why.ends_with("] and 0.5 in (less-than (sin 0.5235) 0.5), 1 path explored, at pixel (0, 0)"), "{why}");
}

#[test]
fn on_generated_programs_the_planted_operation_is_blamed() {
    let (mut blamed, mut shown, mut in_loops, mut most) = (0, 0, 0, 0);
    for seed in 0..2000u64 {
        let constants = PLACES[seed as usize % 2];
        let profile = [Profile::Strict, Profile::Wgsl][seed as usize / 2 % 2];
        let settings = Settings { size: (1, 1), ..settings(profile, constants) };
        let tree = generate::well_typed(seed, &Limits::default());
        let program = || Program::resolve(&tree).expect("resolves");
        TARGET.set(None);
        APPLIED.take();
        let case = match Case::new(program(), &settings) {
            Ok(case) => case,
            Err(NoCase::Decided(_)) => continue,
            Err(NoCase::IllTyped(e)) => panic!("{}", e.message()),
        };
        RECORDS.set(true);
        Machine::new(Some(planted)).draw(case.dispatch(settings.size));
        RECORDS.set(false);
        let applied: Vec<_> = APPLIED.take().into_iter().filter(|(op, _)| !is_used_by_the_probe(*op)).collect();
        for pick in 0..3usize {
            let Some((op, args)) = applied.get((seed as usize * 31 + pick * 977) % applied.len().max(1)) else { continue };
            TARGET.set(Some((*op, args.clone())));
            let mut device = Machine::new(Some(planted));
            let Some(found) = difference(program(), &settings, &mut device) else { continue };
            let Some(place) = found.place else { continue };
            if !has_one_value(&case, place, &settings) {
                continue;
            }
            shown += 1;
            let text = tree.print();
            let Some(blame) = found.blame else { panic!("seed {seed}, {op:?} {args:x?}: {:?}\n{text}", found.unblamed) };
            let name = op.name();
            assert!(
                blame.instruction == name || blame.instruction == format!("OpExtInst {name}"),
                "seed {seed}: planted {name} of {args:x?}, blamed {blame}\n{text}"
            );
            blamed += 1;
            in_loops += u32::from(blame.occurrence > 0);
            most = most.max(blame.dispatches);
        }
    }
    assert_eq!(blamed, shown);
    // The test is worthless if no planted bug shows.
    assert!(blamed >= 2000 && in_loops >= 80, "{blamed} blamed, {in_loops} of them in later rounds of loops, at most {most} dispatches");
    eprintln!("{blamed} blamed, {in_loops} of them in later rounds of loops, at most {most} dispatches");
}

/// spirv-val accepts the adapted modules, and they show what the original shows on the interpreter.
#[test]
fn spirv_val_accepts_adapted_modules() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("adapted.spv");
    let mut count = 0;
    for seed in 1000..1090u64 {
        let profile = [Profile::Strict, Profile::Wgsl][seed as usize % 2];
        let settings = settings(profile, PLACES[seed as usize / 2 % 2]);
        let tree = generate::well_typed(seed, &Limits::default());
        let Ok(case) = Case::new(Program::resolve(&tree).expect("resolves"), &settings) else { continue };
        let module = case.module();
        let used: Vec<u32> = case.translated.outputs.iter().map(|t| t.location).collect();
        let free = (0..8).find(|l| !used.contains(l)).unwrap_or(used[0]);
        let probed = module.instructions().iter().filter(|i| i.result != 0 && i.result_type != 0 && module.shape(i.result).is_lanes());
        for (n, i) in probed.enumerate() {
            let probe = Probe {
                id: i.result,
                occurrence: (n % 2 == 0).then_some(n as u32),
                column: u32::from(module.shape(i.result).columns) - 1,
                shown: pass::Shown::Output(if n % 3 == 0 { used[0] } else { free }),
                counts_in_floats: n % 4 == 0,
                marker: (-1234.5f32).to_bits(),
            };
            let Ok(words) = pass::adapt(module, "main", &probe) else {
                assert!(i.name().starts_with("OpConstant"), "{} is refused", i.name());
                continue;
            };
            spirv::Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
            std::fs::write(&file, spirv::bytes_of_words(&words)).expect("written");
            let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().expect("runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "seed {seed}, {probe:?}: {said}\n{}", spirv::disassemble(&words).expect("disassembles"));
            count += 1;
        }
    }
    assert!(count > 1000, "{count} modules");
}

//! Known disagreements without a device: an interpreter with a planted bug takes its place. A known
//! bug is recognised in every program that shows it. A similar bug that is not known is
//! not recognised.

use smallstep::dispatch::{FragmentDispatch, Frame};
use smallstep::generate::{Limits, well_typed};
use smallstep::gpu::{DeviceOutcome, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::case::Settings;
use smallstep::theorem::device::UnderTest;
use smallstep::theorem::known::{Explained, Known};
use smallstep::theorem::probe::Drawer;
use smallstep::theorem::quirk::Quirk;
use smallstep::theorem::reduce;
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::number::{Arithmetic, Lane, Lanes, Op, Planted, Tuple};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv;

/// A device that computes like the interpreter, with one planted bug.
struct Interpreted(Planted);

impl Drawer for Interpreted {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        let module = spirv::Module::load(&dispatch.words).unwrap_or_else(|e| panic!("{e}"));
        let program = spirv::Program::compile(&module, &dispatch.entry).unwrap_or_else(|e| panic!("{e}"));
        let bytes = spirv::bytes_of_words(&dispatch.constants);
        let buffers: Vec<_> = (!bytes.is_empty()).then_some(spirv::Buffer { set: 0, binding: 0, bytes }).into_iter().collect();
        let mut images = vec![Vec::new(); dispatch.outputs.len()];
        for (x, y) in (0..dispatch.height).flat_map(|y| (0..dispatch.width).map(move |x| (x, y))) {
            let frag_coord = [x as f32 + 0.5, y as f32 + 0.5, 0.0, 1.0];
            let inputs = spirv::Inputs { frag_coord, buffers: &buffers };
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

/// Replaces the results for operands that satisfy `bad`.
fn where_operands(args: &[Tuple<'_>], result: Lanes, bad: impl Fn(f32, f32) -> bool, instead: f32) -> Lanes {
    let pairs = args[0].lanes.iter().zip(args[1].lanes);
    pairs
        .zip(result)
        .map(|((a, b), right)| if bad(a.float(), b.float()) { Lane { bits: instead.to_bits(), ..right } } else { right })
        .collect()
}

fn is_plus_zero(x: f32) -> bool {
    x.to_bits() == 0
}

/// The known bug: 0 - 0 is -0.
fn zero_minus(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Sub { where_operands(args, result, |a, b| is_plus_zero(a) && is_plus_zero(b), -0.0) } else { result }
}

/// 0 - 0 is 3: another wrong value, with the same instruction and operands.
fn zero_minus_is_three(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Sub { where_operands(args, result, |a, b| is_plus_zero(a) && is_plus_zero(b), 3.0) } else { result }
}

/// 2 - 2 is -0: the same wrong value and instruction, with other operands.
fn two_minus_two(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Sub { where_operands(args, result, |a, b| a == 2.0 && b == 2.0, -0.0) } else { result }
}

/// 1 + -1 is -0: the same wrong value with another instruction.
fn one_plus_minus_one(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == Op::Add { where_operands(args, result, |a, b| a == 1.0 && b == -1.0, -0.0) } else { result }
}

/// Both 0 - 0 and 1 + -1 are -0.
fn zero_minus_and_one_plus(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    one_plus_minus_one(op, args, zero_minus(op, args, result))
}

/// 0 - 0 is -0, and 3 + 4 is 8: another instruction with another kind of wrong value.
fn zero_minus_and_eight(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    let result = zero_minus(op, args, result);
    if op == Op::Add { where_operands(args, result, |a, b| a == 3.0 && b == 4.0, 8.0) } else { result }
}

fn nothing(_: Op, _: &[Tuple<'_>], result: Lanes) -> Lanes {
    result
}

const HEAD: &str = ";@ quirk adapter: Interpreted\n;@ quirk driver: 22.3.6\n;@ quirk route: passthrough\n;@ quirk constants: module\n\
    ;@ quirk seen: 2026-11-21\n";
const ZERO_MINUS: &str = ";@ quirk says: expected 0 (0x00000000), saw -0 (0x80000000)\n;@ quirk blames: OpFSub\n(- 0 0)\n";

/// The quirks that these files declare: names and texts.
fn quirks(files: &[(&str, String)]) -> Vec<Quirk> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(format!("{name}.lv")), text).expect("written");
    }
    Quirk::read_folder(folder.path()).unwrap_or_else(|e| panic!("{e}"))
}

fn zero_minus_quirk() -> Vec<Quirk> {
    quirks(&[("zero-minus", format!("{HEAD}{ZERO_MINUS}"))])
}

fn under_test(drawer: &mut Interpreted) -> UnderTest<'_> {
    UnderTest { drawer, adapter: "Interpreted".into(), driver: "Mesa 22.3.6 (of nobody)".into(), route: Route::Passthrough }
}

fn settings() -> Settings {
    Settings { size: (2, 2), references: false, ..Settings::default() }
}

/// The name of the quirks that explain a program's disagreement, and the minimal programs.
fn explain(text: &str, quirks: &[Quirk], planted: Planted) -> (Option<String>, Vec<String>) {
    let mut drawer = Interpreted(planted);
    let mut device = under_test(&mut drawer);
    let mut known = Known::on(&mut device, quirks, &settings());
    let faults = reduce::minimal(&parse(text).expect("reads"), &settings(), Some(device.again()));
    assert!(faults.iter().all(|fault| matches!(fault.verdict, Verdict::Disagree(_))), "{text}");
    (known.explain(&faults, &mut device).all, faults.iter().map(|fault| fault.tree.print().trim_end().to_string()).collect())
}

const LARGE: &str = "(let ((c (- 0 (* (x (frag-coord)) 0))) (f (func (a b) (- a b))))
    ((rec-func (i sum) (if (less-than i 3) (rec (+ i 1) (+ sum (f i 0.5))) (vec3 c sum (f 1 (y (frag-coord)))))) 0 8))";

#[test]
fn the_known_bug_is_recognized_in_a_large_program() {
    assert_eq!(explain(LARGE, &zero_minus_quirk(), zero_minus), (Some("zero-minus".into()), vec!["(- 0 0)".into()]));
}

#[test]
fn a_quirk_need_not_be_minimal() {
    let large = quirks(&[("large", format!("{HEAD}{ZERO_MINUS}").replace("(- 0 0)", LARGE))]);
    assert_eq!(explain("(vec2 1 (- 0 0))", &large, zero_minus), (Some("large".into()), vec!["(- 0 0)".into()]));
    // A quirk that shows two faults makes neither of them known alone.
    let two = quirks(&[(
        "two",
        format!("{HEAD}{ZERO_MINUS}").replace("(- 0 0)", "(vec2 (- 0 0) (+ 1 -1))").replace(";@ quirk blames: OpFSub\n", ""),
    )]);
    assert_eq!(explain("(vec3 1 1 (- 0 0))", &two, zero_minus_and_one_plus).0, None);
}

#[test]
fn a_device_without_the_bug_is_explained_nothing() {
    assert_eq!(explain(LARGE, &zero_minus_quirk(), nothing), (None, vec![]));
    let mut drawer = Interpreted(nothing);
    let known = Known::on(&mut under_test(&mut drawer), &zero_minus_quirk(), &settings());
    assert_eq!(under_test(&mut drawer).name(), "Interpreted (passthrough)");
    assert!(known.is_empty() && known.gone.len() == 1, "the quirk is not shown, and that is said");
    assert!(known.gone[0].0 == "zero-minus" && known.gone[0].1.contains("no longer shows it (agree)"), "{:?}", known.gone);
}

/// A device with the known bug in its first draws only. The field counts the draws that are left.
struct Flaky(u32);

impl Drawer for Flaky {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        let planted = if self.0 == 0 { nothing } else { zero_minus };
        self.0 = self.0.saturating_sub(1);
        Interpreted(planted).draw(dispatch)
    }

    fn max_outputs(&self) -> u32 {
        8
    }
}

#[test]
fn what_does_not_come_back_is_not_known() {
    let mut drawer = Interpreted(zero_minus);
    let mut known = Known::on(&mut under_test(&mut drawer), &zero_minus_quirk(), &settings());
    assert!(!known.is_empty() && known.gone.is_empty());
    let tree = parse("(vec2 (- 0 0) 1)").expect("reads");
    let minimal = |draws: u32| {
        let mut flaky = Flaky(draws);
        reduce::minimal(&tree, &settings(), Some(UnderTest { drawer: &mut flaky, ..under_test(&mut Interpreted(nothing)) }))
    };
    for draws in 1..10 {
        let faults = minimal(draws);
        assert_eq!(faults.len(), 1, "after {draws} draws");
        assert_eq!(known.explain(&faults, &mut under_test(&mut drawer)).all, None, "after {draws} draws");
    }
    let faults = minimal(1_000);
    assert_eq!(known.explain(&faults, &mut under_test(&mut drawer)).all.as_deref(), Some("zero-minus"));
}

#[test]
fn a_quirk_of_another_adapter_driver_route_or_placing_explains_nothing() {
    let others = [
        ("adapter: Interpreted", "adapter: Compiled"),
        ("driver: 22.3.6", "driver: 22.3.60"),
        ("driver: 22.3.6", "driver: 2.3.6"),
        ("driver: 22.3.6", "driver: 22.3.5 or 22.3.7"),
        ("route: passthrough", "route: naga"),
        ("constants: module", "constants: opaque"),
        // The device must show the quirk as it is recorded.
        ("saw -0 (0x80000000)", "saw 3"),
        ("blames: OpFSub", "blames: OpFMul"),
    ];
    for (from, to) in others {
        let text = format!("{HEAD}{ZERO_MINUS}");
        assert!(text.contains(from));
        let (explained, minimal) = explain(LARGE, &quirks(&[("other", text.replace(from, to))]), zero_minus);
        assert_eq!((explained, minimal), (None, vec!["(- 0 0)".into()]), "{to}");
    }
    let several =
        format!("{HEAD}{ZERO_MINUS}").replace("driver: 22.3.6", "driver: 580.1 or 22.3.6").replace("adapter: Interpreted", "adapter: any");
    assert_eq!(explain(LARGE, &quirks(&[("several", several)]), zero_minus).0.as_deref(), Some("several"));
}

#[test]
fn a_new_bug_does_not_hide_behind_a_known_one() {
    // The device has the known bug and a new bug, and the program shows both.
    let both = "(vec4 1 (- 0 0) 5 (+ 1 (- (+ (x (frag-coord)) 0.5))))";
    let (explained, minimal) = explain(both, &zero_minus_quirk(), zero_minus_and_one_plus);
    assert_eq!(explained, None, "the same way, by another instruction");
    assert!(minimal.contains(&"(- 0 0)".into()) && minimal.contains(&"(+ 1 -1)".into()), "{minimal:?}");
    let both = "(vec2 (- 0 0) (+ 3 (+ 1 3)))";
    let (explained, minimal) = explain(both, &zero_minus_quirk(), zero_minus_and_eight);
    assert_eq!(explained, None, "another way");
    assert!(minimal.contains(&"(- 0 0)".into()) && minimal.contains(&"(+ 3 4)".into()), "{minimal:?}");
    // In one lane the new bug comes first. If shrinking kept only the kind of difference, it could
    // lose that bug.
    let (explained, minimal) = explain("(vec2 (+ 1 -1) (- 0 0))", &zero_minus_quirk(), zero_minus_and_one_plus);
    assert_eq!((explained, minimal.len()), (None, 2), "{minimal:?}");
}

/// Two planted bugs of one instruction. The wrong value or the shape of the operands
/// distinguishes them.
#[test]
fn a_bug_of_the_same_instruction_is_another_one() {
    let known = zero_minus_quirk();
    let new = |planted: Planted, text: &str| {
        // The known bug's quirk is shown only where the device has it; here it has both.
        explain(text, &known, planted)
    };
    assert_eq!(new(zero_minus_is_three, "(vec2 1 (- 0 0))"), (None, vec!["(- 0 0)".into()]), "another value");
    fn operands(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
        two_minus_two(op, args, zero_minus(op, args, result))
    }
    let (explained, minimal) = new(operands, "(vec2 1 (- (+ 1 1) 2))");
    assert_eq!((explained, minimal), (None, vec!["(- 2 2)".into()]), "other operands");
    assert_eq!(new(operands, "(vec2 1 (- (- 1 1) 0))").0.as_deref(), Some("zero-minus"));
}

#[test]
fn every_generated_program_that_shows_the_known_bug_is_explained() {
    let known = zero_minus_quirk();
    let mut drawer = Interpreted(zero_minus);
    let mut device = under_test(&mut drawer);
    let mut shown = Known::on(&mut device, &known, &settings());
    let mut explained = 0;
    for seed in 0..20_000 {
        let tree = well_typed(seed, &Limits::default());
        let verdict = reduce::verdict(&tree, &settings(), Some(device.again()));
        let faults = match verdict {
            Verdict::Disagree(_) => reduce::minimal(&tree, &settings(), Some(device.again())),
            _ => continue,
        };
        let programs: Vec<String> = faults.iter().map(|fault| fault.tree.print()).collect();
        assert_eq!(shown.explain(&faults, &mut device).all.as_deref(), Some("zero-minus"), "seed {seed}: {programs:?}\n{}", tree.print());
        explained += 1;
    }
    println!("{explained} programs explained");
    assert!(explained > 5);
}

#[test]
fn what_is_known_is_counted_by_name() {
    let mut explained = Explained::default();
    assert_eq!((explained.all(), explained.to_string()), (0, "0 known".into()));
    for name in [Some("b"), None, Some("a and b"), Some("b")] {
        explained.count(name.map(String::from));
    }
    assert_eq!((explained.all(), explained.to_string()), (3, "3 known (a and b: 1, b: 2)".into()));
}

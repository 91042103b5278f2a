//! A device beside the interpreter: agreement, planted bugs, scripts that are not
//! compared, requirements.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pretty_assertions::assert_eq;
use rspirv::spirv::Op;
use smallstep::gpu::Route;
use smallstep::run::amber::{Compared, Interpreter, Side, Verdict, requirement};
use smallstep::theorem::dispatches::Engines;
use smallstep_semantics::number::sets::Set;
use smallstep_semantics::number::{Computed, Instruction, PlantedComponent};
use smallstep_semantics::spirv::environment::Limits;
use smallstep_semantics::spirv::lockstep::{self, Parts};

use crate::{FLOATS, RACE, REPEAT, SUM, WORDS, device, device_by, legs, script, script_of};

/// The interpreter with a planted bug in relation and machine: products are off by one.
fn off_by_one() -> Interpreter {
    let component: PlantedComponent = |instruction, _, _, computed| match computed {
        Computed::Value(bits) if instruction == Instruction::Core(Op::IMul as u16) => Computed::Value(bits ^ 1),
        other => other,
    };
    let mut engines = Engines::default();
    engines.relation.calculator.planted = Some(component);
    engines.planted = Some(Arc::new(move |parts: Parts<'_>| parts.calculator.planted = Some(component)));
    let reference = smallstep::compute::Interpreter::Reference { schedule: Default::default(), keep_going: false };
    Interpreter { by: reference, engines, ..Interpreter::default() }
}

#[test]
fn without_a_device_the_interpreter_is_judged() {
    let legs = legs(SUM, &Interpreter::default(), None);
    assert_eq!(legs.len(), 1);
    assert_eq!((legs[0].name.as_str(), &legs[0].verdict, legs[0].device), ("interpreter", &Verdict::Agree, false));
    assert_eq!(legs[0].compared, Compared { expectations: 2, ..Compared::default() });
}

#[test]
fn the_worse_of_two_verdicts_is_kept_and_of_equals_the_first() {
    let difference = smallstep::run::amber::Difference {
        between: (Side::Script, Side::Interpreter),
        line: smallstep::amber::Line(1),
        place: None,
        expected: String::new(),
        found: String::new(),
    };
    let why = || "why".to_string();
    let all = [
        Verdict::Agree,
        Verdict::Undecided(why()),
        Verdict::Unchecked(why()),
        Verdict::Limit(why()),
        Verdict::Unsupported(why()),
        Verdict::Invalid(why()),
        Verdict::Undefined(why()),
        Verdict::Failed(why()),
        Verdict::Disagree(Box::new(difference)),
    ];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(a.clone().worse(b.clone()), all[i.max(j)], "{a:?} {b:?}");
        }
    }
    assert_eq!(Verdict::Undecided("first".into()).worse(Verdict::Undecided("second".into())), Verdict::Undecided("first".into()));
}

#[test]
fn a_planted_bug_of_the_interpreter_fails_the_script() {
    let verdict = legs(REPEAT, &off_by_one(), None).remove(0).verdict;
    let Verdict::Disagree(difference) = verdict else { panic!("{verdict:?}") };
    assert_eq!(difference.between, (Side::Script, Side::Interpreter));
    let place = difference.place.expect("a place");
    assert_eq!((place.buffer.as_str(), difference.found.as_str()), ("counters", "15"), "4 + (10 ^ 1)");
}

#[test]
fn a_device_agrees_byte_by_byte() {
    let Some(mut device) = device() else { return };
    let legs = legs(REPEAT, &Interpreter::default(), Some(&mut device));
    assert_eq!(legs[1].verdict, Verdict::Agree);
    // Four dispatches with 48 bytes of buffers each, and all three buffers at the end.
    assert_eq!(legs[1].compared, Compared { expectations: 4, open: 0, bytes: 4 * 48 + 48 + 4 + 48, one_of: 0, within: 0, left: 0 });
}

/// A driver bug (docs/findings/mesa-clipped-noperspective.md). A driver known to have it must show
/// it, and once it does not, the page is deleted. Every other driver must agree. If x / w differs
/// between the ends of the edge, all drivers must agree.
#[test]
fn a_clipped_edge_keeps_what_is_interpolated_without_perspective() {
    const CLIPPED: &str = include_str!("scripts/clipped.amber");
    let Some(mut device) = device() else { return };
    let is_known = device.adapter().driver.starts_with("llvmpipe Mesa 22.3.6 ");
    let verdict = legs(CLIPPED, &Interpreter::default(), Some(&mut device)).remove(1).verdict;
    match &verdict {
        Verdict::Disagree(difference) if is_known => {
            let place = difference.place.as_ref().expect("a place");
            assert_eq!((place.buffer.as_str(), difference.found.as_str()), ("picture", "NaN (0xffc00000)"));
        }
        _ => assert!(!is_known && verdict == Verdict::Agree, "{verdict:?}"),
    }
    let (same, another) = ("\n 1 1.5 0 2\n", "\n 0.75 1.5 0 2\n");
    assert!(CLIPPED.contains(same));
    let legs = legs(&CLIPPED.replace(same, another), &Interpreter::default(), Some(&mut device));
    assert_eq!((&legs[1].verdict, legs[1].compared.bytes), (&Verdict::Agree, 572));
}

/// A driver bug (docs/findings/mesa-broadcast-crash.md). A driver known to have it must crash, and
/// once it does not, the page is deleted. Every other driver draws. With 1 as the selected value,
/// all drivers draw.
#[test]
fn a_product_beside_a_selection_is_broadcast() {
    const BROADCAST: &str = include_str!("scripts/broadcast.amber");
    let Some(mut device) = device() else { return };
    let is_known = device.adapter().driver.starts_with("llvmpipe Mesa 22.3.6 ");
    let (half, one) = ("OpSelect %float %left %half %f0", "OpSelect %float %left %f1 %f0");
    assert!(BROADCAST.contains(half));
    for (text, crashes) in [(BROADCAST.to_string(), is_known), (BROADCAST.replace(half, one), false)] {
        let verdict = legs(&text, &Interpreter::default(), Some(&mut device)).remove(1).verdict;
        match &verdict {
            Verdict::Failed(why) if crashes => assert!(why.contains("SIGABRT"), "{why}"),
            // The device chooses which invocations form a subgroup.
            Verdict::Undecided(_) | Verdict::Unchecked(_) if !crashes => {}
            _ => panic!("{verdict:?}"),
        }
    }
}

#[test]
fn a_planted_bug_is_told_as_a_difference_of_the_device() {
    let Some(mut device) = device() else { return };
    let text: String = REPEAT.lines().filter(|line| !line.starts_with("EXPECT")).map(|line| format!("{line}\n")).collect();
    let legs = legs(&text, &off_by_one(), Some(&mut device));
    assert_eq!(legs[0].verdict, Verdict::Agree, "nothing is expected");
    let Verdict::Disagree(difference) = &legs[1].verdict else { panic!("{:?}", legs[1].verdict) };
    let run = 1 + text.lines().position(|line| line == "RUN ones 1 1 1").expect("it runs") as u32;
    let place = difference.place.as_ref().expect("a place");
    assert_eq!((difference.line.0, place.buffer.as_str(), place.offset), (run, "counters", Some(16)));
    assert_eq!(place.element, "IDX 16, uint32");
    assert_eq!((difference.expected.as_str(), difference.found.as_str()), ("15 (0x0000000f)", "14 (0x0000000e)"));
    assert_eq!(difference.between, (Side::Interpreter, Side::Device(legs[1].name.clone())));
}

#[test]
fn a_wrong_expectation_fails_on_a_device_too() {
    let Some(mut device) = device() else { return };
    let legs = legs(&SUM.replace("EQ 36", "EQ 37"), &Interpreter::default(), Some(&mut device));
    for leg in &legs {
        let Verdict::Disagree(difference) = &leg.verdict else { panic!("{:?}", leg.verdict) };
        assert_eq!((difference.found.as_str(), difference.expected.as_str()), ("36", "EQ 37"));
        assert_eq!(difference.between.0, Side::Script);
    }
}

/// The pass that makes bindings dense must not change what a module shows. A bug that is planted in
/// the run of the adapted words stands for a bug in the pass.
#[test]
fn what_the_pass_for_dense_bindings_changes_is_told() {
    let Some(mut device) = device() else { return };
    let mut interpreter = Interpreter::default();
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    interpreter.engines.planted = Some(Arc::new(move |parts: Parts<'_>| {
        // The second run is of the adapted words.
        if count.fetch_add(1, Ordering::SeqCst) == 1 {
            parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Mul).for_each(|code| code.op = lockstep::Op::Add);
        }
    }));
    let both = legs(REPEAT, &interpreter, Some(&mut device));
    assert!(
        matches!(&both[0].verdict, Verdict::Failed(why) if why.contains("the passes for devices change what the program shows: the buffer at 0.2 differs")),
        "{both:?}"
    );
    // A module with dense bindings runs once.
    runs.store(0, Ordering::SeqCst);
    assert_eq!(legs(SUM, &interpreter, Some(&mut device))[0].verdict, Verdict::Agree);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[test]
fn an_undefined_script_is_not_compared() {
    let Some(mut device) = device() else { return };
    // The device's values and the script's expectations do not matter.
    for text in [RACE.to_string(), RACE.replace("EQ 36", "EQ 99")] {
        let legs = legs(&text, &Interpreter::default(), Some(&mut device));
        assert!(matches!(&legs[0].verdict, Verdict::Undefined(report) if report.starts_with("undefined[spirv/data-race]")));
        let Verdict::Undefined(why) = &legs[1].verdict else { panic!("{:?}", legs[1].verdict) };
        assert!(why.starts_with("not compared from line 1"), "{why}");
        assert_eq!(legs[1].compared, Compared::default());
    }
}

#[test]
fn open_bytes_are_left_alone_on_a_device() {
    let Some(mut device) = device() else { return };
    let undef = script_of(
        WORDS,
        "%undef = OpUndef %item\nOpStore %p1 %undef",
        "DATA_TYPE int32 DATA 5 6 7 8 END",
        "RUN p 1 1 1\nEXPECT data IDX 4 EQ 77\nEXPECT data IDX 0 EQ 5",
    );
    let both = legs(&undef, &Interpreter::default(), Some(&mut device));
    assert!(both.iter().all(|leg| matches!(&leg.verdict, Verdict::Undefined(why) if why.contains("any value"))), "{both:?}");
    assert_eq!(both[1].compared, Compared { expectations: 1, open: 1, bytes: 24, one_of: 0, within: 0, left: 8 });
    let third = script_of(
        FLOATS,
        "%a = OpLoad %item %p0\n%q = OpFDiv %item %a %three\nOpStore %p1 %q",
        "DATA_TYPE float DATA 1 0 0 0 END",
        "RUN p 1 1 1\nEXPECT data IDX 4 EQ 0.33333334\nEXPECT data IDX 8 EQ 0",
    );
    let both = legs(&third, &Interpreter::default(), Some(&mut device));
    assert!(both.iter().all(|leg| matches!(&leg.verdict, Verdict::Undecided(_))), "{both:?}");
    // A decided value that does not match fails.
    let both = legs(&third.replace("IDX 8 EQ 0", "IDX 8 EQ 1"), &Interpreter::default(), Some(&mut device));
    assert!(both.iter().all(|leg| matches!(&leg.verdict, Verdict::Disagree(_))), "{both:?}");
}

#[test]
fn what_is_asked_of_a_device_is_known_or_unchecked_by_name() {
    let Some(mut device) = device() else { return };
    let with = |line: &str| SUM.replacen("SHADER", &format!("{line}\nSHADER"), 1);
    let text = with("DEVICE_FEATURE geometryShader");
    let both = legs(&text, &Interpreter::default(), Some(&mut device));
    assert_eq!(both[0].verdict, Verdict::Agree);
    assert!(matches!(&both[1].verdict, Verdict::Unchecked(why) if why.contains("feature geometryShader")), "{both:?}");
    let mut record = device.adapter().clone();
    for line in ["DEVICE_FEATURE shaderInt64", "DEVICE_EXTENSION VK_KHR_storage_buffer_storage_class", "DEVICE_FEATURE Any.shaderInt8"] {
        assert_eq!(requirement::lacking(&script(&with(line)), &record), None, "{line}");
    }
    record.vulkan = (1, 0);
    record.float_controls = None;
    for (line, said) in [
        ("DEVICE_EXTENSION VK_KHR_storage_buffer_storage_class", "came with Vulkan 1.1; the device has 1.0"),
        ("DEVICE_PROPERTY FloatControlsProperties.shaderDenormPreserveFloat32", "below 1.2"),
        ("INSTANCE_EXTENSION VK_EXT_whatever", "not known here"),
    ] {
        let lack = requirement::lacking(&script(&with(line)), &record).expect(line);
        assert!(lack.contains(said) && lack.starts_with("line "), "{lack}");
    }
}

#[test]
fn what_naga_refuses_is_unchecked_and_not_a_difference() {
    let Some(mut device) = device_by(Some(Route::Naga)) else { return };
    // naga has no extended multiplication, so nothing is known of the device.
    let body = "%a = OpLoad %item %p0\n%m = OpSMulExtended %pair %a %a\n%low = OpCompositeExtract %item %m 0\nOpStore %p1 %low";
    let types = format!("{WORDS}\n%pair = OpTypeStruct %item %item");
    let text = script_of(&types, body, "DATA_TYPE int32 DATA 5 6 7 8 END", "RUN p 1 1 1\nEXPECT data IDX 4 EQ 25");
    let both = legs(&text, &Interpreter::default(), Some(&mut device));
    assert_eq!(both[0].verdict, Verdict::Agree);
    assert!(matches!(&both[1].verdict, Verdict::Unchecked(why) if why.contains("naga refuses a module: ")), "{both:?}");
    // If naga accepts a module and the device shows another value, that is a difference.
    let both = legs(REPEAT, &off_by_one(), Some(&mut device));
    assert!(matches!(&both[1].verdict, Verdict::Disagree(_)), "{both:?}");
}

/// A script that stores a third, copies the buffer, and runs the dispatch again.
fn thirds() -> String {
    let body = "%a = OpLoad %item %p0\n%q = OpFDiv %item %a %three\nOpStore %p1 %q";
    let run = "DERIVE_PIPELINE again FROM p\nEND\nRUN p 1 1 1\nCOPY data TO other\nRUN p 1 1 1";
    script_of(FLOATS, body, "DATA_TYPE float DATA 1 0 0 0 END\nBUFFER other DATA_TYPE float DATA 0 0 0 0 END", run)
}

#[test]
fn a_device_is_judged_by_runs_over_sets() {
    let Some(mut device) = device_by(Some(Route::Passthrough)) else { return };
    let leg = legs(&thirds(), &Interpreter::default(), Some(&mut device)).remove(1);
    assert_eq!(leg.verdict, Verdict::Agree);
    // Compared after two dispatches, and at the end for both buffers.
    assert_eq!((leg.compared.within, leg.compared.left), (4 * 4, 0));
    // If the interpreter allows only a quarter as the quotient, the device is wrong. A set of one
    // value counts as that value, and the report shows its bits.
    let mut interpreter = Interpreter::default();
    interpreter.engines.sets.polynomials = |_, of| Some(of[0].0.into());
    interpreter.engines.sets.bound = |_| Set::point(0.25);
    let verdict = legs(&thirds(), &interpreter, Some(&mut device)).remove(1).verdict;
    let Verdict::Disagree(difference) = verdict else { panic!("{verdict:?}") };
    let place = difference.place.as_ref().expect("a place");
    assert_eq!((place.buffer.as_str(), place.offset, difference.expected.as_str()), ("data", Some(4), "0.25 (0x3e800000)"));
    assert!(difference.found.starts_with("0.333333"), "{}", difference.found);
}

/// If the interpreter runs out of fuel, the device goes on. The script is not compared any more,
/// since the interpreter's buffers are those of an earlier command.
#[test]
fn a_device_goes_on_without_the_interpreter() {
    let Some(mut device) = device() else { return };
    // The second word counts up to the first word.
    let types = format!("{WORDS}\n%bool = OpTypeBool\n%one = OpConstant %item 1");
    let body = "OpBranch %head\n%head = OpLabel\nOpLoopMerge %merge %next None\nOpBranch %test\n%test = OpLabel\n%a = OpLoad %item %p1\n\
        %n = OpLoad %item %p0\n%c = OpSLessThan %bool %a %n\nOpBranchConditional %c %next %merge\n%next = OpLabel\n%b = OpIAdd %item %a %one\n\
        OpStore %p1 %b\nOpBranch %head\n%merge = OpLabel";
    let data = "DATA_TYPE int32 DATA 5 0 0 0 END\nBUFFER many DATA_TYPE int32 DATA 5000 0 0 0 END";
    let runs = "RUN p 1 1 1\nEXPECT data IDX 4 EQ 5\nCOPY many TO data\nRUN p 1 1 1\nRUN p 1 1 1\nEXPECT data IDX 4 EQ 5000";
    let text = script_of(&types, body, data, runs);
    assert!(legs(&text, &Interpreter::default(), Some(&mut device)).iter().all(|leg| leg.verdict == Verdict::Agree));
    let few = Interpreter { limits: Limits::of_fuel(1_000), ..Interpreter::default() };
    let both = legs(&text, &few, Some(&mut device));
    assert!(matches!(&both[0].verdict, Verdict::Limit(why) if why.contains("out of fuel")), "{both:?}");
    assert!(matches!(&both[1].verdict, Verdict::Unchecked(why) if why.starts_with("not compared from line ")), "{both:?}");
    assert_eq!((both[1].compared.expectations, both[1].compared.bytes), (2, 16), "one RUN is compared");
    // The device must meet the expectations of the script until its end.
    let both = legs(&text.replace("EQ 5000", "EQ 4999"), &few, Some(&mut device));
    assert!(matches!(&both[1].verdict, Verdict::Disagree(difference) if difference.found == "5000"), "{both:?}");
}

/// A module that declares a rounding mode is judged by it if its words reach the device unchanged.
/// It is not if naga removes the float controls.
#[test]
fn float_controls_count_where_the_device_sees_them() {
    let declared = |text: String| {
        let capability = "OpCapability Shader\nOpCapability RoundingModeRTE\nOpExtension \"SPV_KHR_float_controls\"\n";
        let mode = "OpExecutionMode %main LocalSize 1 1 1";
        let text = text.replace("OpCapability Shader\n", capability).replace("Block\n", "Block\nOpDecorate %q NoContraction\n");
        text.replace(mode, &format!("{mode}\nOpExecutionMode %main RoundingModeRTE 32"))
    };
    // The exact sum is not a float of 32 bits.
    let body = "%a = OpLoad %item %p0\n%q = OpFAdd %item %a %three\nOpStore %p1 %q";
    let text = declared(script_of(FLOATS, body, "DATA_TYPE float DATA 0.1 0 0 0 END", "RUN p 1 1 1"));
    for route in [Route::Passthrough, Route::Naga] {
        let Some(mut device) = device_by(Some(route)) else { return };
        let leg = legs(&text, &Interpreter::default(), Some(&mut device)).remove(1);
        let open = leg.compared.left + leg.compared.within + leg.compared.one_of;
        match (route, &leg.verdict) {
            (Route::Passthrough, verdict) => assert_eq!((verdict, open), (&Verdict::Agree, 0), "{leg:?}"),
            (Route::Naga, Verdict::Unchecked(why)) => assert!(why.contains("naga refuses"), "{why}"),
            (Route::Naga | Route::Wgsl, _) => assert!(open > 0, "{leg:?}"),
        }
    }
}

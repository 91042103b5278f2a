//! A script on the interpreter: expectations that hold, fail or are open, and early ends.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use smallstep::amber::Decision::{Fails, Holds, Undecided, Undefined};
use smallstep::amber::{Certainty, Contents};
use smallstep::compute;
use smallstep::run::amber::{End, Engine, Interpreter, Player, Step, Verdict, commands as commands_of};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::spirv::environment::Limits;

use crate::{FLOATS, RACE, REPEAT, SUM, WORDS, decisions, device, legs, loaded, played, played_on, script, script_of};

#[test]
fn the_examples_hold() {
    assert_eq!(decisions(SUM), [Holds; 2]);
    assert_eq!(decisions(REPEAT), [Holds; 4]);
}

#[test]
fn a_wrong_expectation_fails() {
    let (expected, end) = played(&SUM.replace("EQ 36", "EQ 37"));
    assert_eq!((expected[0].0, expected[1].0, end), (Fails, Holds, None));
    assert!(expected[0].1.contains("buffer result, IDX 0: found 36, expected EQ 37"), "{}", expected[0].1);
}

#[test]
fn every_engine_shows_the_same() {
    let reference = compute::Interpreter::Reference { schedule: Default::default(), keep_going: false };
    for by in [compute::Interpreter::Any, compute::Interpreter::Machine, reference] {
        let interpreter = Interpreter { by, ..Interpreter::default() };
        for text in [SUM, REPEAT] {
            let (expected, end) = played_on(text, &interpreter);
            assert!(end.is_none() && expected.iter().all(|(decision, _)| *decision == Holds), "{expected:?}, {end:?}");
        }
    }
}

#[test]
fn numbers_that_are_read_bit_for_bit() {
    let of = |body: &str, data: &str, expect: &str| {
        decisions(&script_of(WORDS, body, data, &format!("RUN p 1 1 1\nEXPECT data IDX 4 {expect}")))
    };
    let negates = "%a = OpLoad %item %p0\n%n = OpSNegate %item %a\nOpStore %p1 %n";
    // -1 and -2, each negated.
    assert_eq!(of(negates, "DATA_TYPE int32 DATA 4294967295 0 0 0 END", "EQ 1"), [Holds]);
    assert_eq!(of(negates, "DATA_TYPE int32 DATA 4294967294 0 0 0 END", "EQ 1"), [Fails]);
    assert_eq!(of(negates, "DATA_TYPE int32 SIZE 4 FILL 7.0", "EQ -7"), [Holds]);
    assert_eq!(of(negates, "DATA_TYPE int32 SIZE 4 FILL 8.0", "EQ -7"), [Fails]);
    assert_eq!(of(negates, "DATA_TYPE int32 SIZE 4 FILL 0.0", "EQ 0"), [Holds]);
    let copies = "%a = OpLoad %item %p0\nOpStore %p1 %a";
    assert_eq!(of(copies, "DATA_TYPE float DATA nan 1 1 1 END", "EQ nan"), [Holds]);
    assert_eq!(of(copies, "DATA_TYPE float DATA 1 nan 1 1 END", "EQ nan"), [Fails]);
}

/// A uniform block of three words, of which the first is copied. Twelve bytes are bound.
const UNIFORM: &str = include_str!("scripts/uniform.amber");

#[test]
fn a_uniform_range_may_be_shorter_than_its_block_if_the_tail_is_not_read() {
    let mut device = device();
    agrees_on(UNIFORM, device.as_mut());
    let short = UNIFORM.replace("DESCRIPTOR_RANGE 12", "DESCRIPTOR_RANGE 4");
    agrees_on(&short, device.as_mut());
    // The bound range moves, and the read moves with it.
    assert_eq!(decisions(&short.replace("DESCRIPTOR_OFFSET 0", "DESCRIPTOR_OFFSET 256")), [Fails]);
    let second = |text: &str| text.replace("%uniforms %u0", "%uniforms %u1").replace("EQ 7", "EQ 8");
    assert_eq!(decisions(&second(UNIFORM)), [Holds]);
    assert_eq!(decisions(&second(&UNIFORM.replace("DESCRIPTOR_RANGE 12", "DESCRIPTOR_RANGE 8"))), [Holds]);
    let (expected, end) = played(&second(&short));
    let why = "the uniform buffer at 0.1 is read at byte 4, and what is bound of given has 4";
    assert!(expected.is_empty() && matches!(&end, Some(End::Invalid(what)) if what.contains(why)), "{end:?}");
    // A read beyond the range is invalid even if its value is unused. An engine that does not know
    // what is read refuses a short range.
    let whole = short.replace("%from = OpAccessChain", "%all = OpLoad %block %uniforms\n%from = OpAccessChain");
    assert!(matches!(played(&whole).1, Some(End::Invalid(_))));
    let machine = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
    assert!(matches!(played_on(&short, &machine).1, Some(End::Unsupported(what)) if what.contains("the reference does")));
    assert_eq!(played_on(UNIFORM, &machine).1, None);
    // A module can query the length of a storage buffer, and nothing provides words beyond it.
    let storage = UNIFORM.replace("BUFFER data DATA_TYPE uint32 SIZE 3", "BUFFER data DATA_TYPE uint32 SIZE 1");
    assert!(matches!(&played(&storage).1, Some(End::Invalid(what)) if what.contains("needs 8 bytes")));
}

#[track_caller]
fn agrees_on(text: &str, device: Option<&mut smallstep::gpu::Device>) {
    for leg in legs(text, &Interpreter::default(), device) {
        assert_eq!((&leg.verdict, leg.compared.expectations), (&Verdict::Agree, 1), "{}", leg.name);
    }
}

#[test]
fn undefined_behaviour_ends_the_script_at_its_line() {
    let (expected, end) = played(RACE);
    let Some(End::Undefined { undefined, report, .. }) = end else { panic!("{end:?}") };
    assert_eq!((expected.len(), undefined.ub.id()), (0, "spirv/data-race"));
    let run = 1 + RACE.lines().position(|line| line.starts_with("RUN ")).expect("it runs");
    // The report names the script's line with the instruction.
    let at = report.lines().find_map(|line| line.trim().strip_prefix("at test.amber:")).expect("a place");
    let line = RACE.lines().nth(at.parse::<usize>().expect("a line") - 1).expect("a line of the script");
    assert!(line.contains("OpLoad") && report.ends_with(&format!("in RUN, line {run}")), "{line}\n{report}");
}

const STORES_UNDEF: &str = "%undef = OpUndef %item\nOpStore %p1 %undef";

#[test]
fn an_undefined_value_is_any_value_with_who_made_it() {
    let text = script_of(
        WORDS,
        STORES_UNDEF,
        "DATA_TYPE int32 DATA 5 6 7 8 END",
        "RUN p 1 1 1\nEXPECT data IDX 0 EQ 5\nEXPECT data IDX 4 EQ 0\nEXPECT data IDX 4 NE 123\nEXPECT data IDX 8 EQ 7 8\nEXPECT data IDX 0 EQ 9 9",
    );
    let (expected, end) = played(&text);
    assert_eq!(end, None);
    assert_eq!(expected.iter().map(|e| e.0).collect::<Vec<_>>(), [Holds, Undefined, Undefined, Holds, Fails]);
    let why = &expected[1].1;
    assert!(why.contains("any value, made at %") && why.contains("OpUndef by invocation (0,0,0) (spirv/undef)"), "{why}");
}

#[test]
fn writing_again_decides_and_a_copy_takes_the_doubt_along() {
    let text = script_of(
        WORDS,
        STORES_UNDEF,
        "DATA_TYPE int32 DATA 5 6 7 8 END\nBUFFER copy DATA_TYPE int32 SIZE 4 FILL 1",
        "RUN p 1 1 1\nCOPY data TO copy\nEXPECT copy IDX 4 EQ 1\nEXPECT copy EQ_BUFFER data\nEXPECT copy IDX 0 EQ 5",
    );
    let (expected, _) = played(&text);
    assert_eq!(expected.iter().map(|e| e.0).collect::<Vec<_>>(), [Undefined, Undefined, Holds]);
    assert!(expected[0].1.contains("buffer copy, IDX 4: any value, made at"), "{}", expected[0].1);
}

/// A third, which need not be correctly rounded, beside a value that is exact.
const THIRD: &str = "%a = OpLoad %item %p0\n%q = OpFDiv %item %a %three\nOpStore %p1 %q\nOpStore %p2 %a";

#[test]
fn a_value_that_devices_differ_in_is_judged_by_its_set() {
    let text = script_of(
        FLOATS,
        THIRD,
        "DATA_TYPE float DATA 1 0 0 0 END",
        "RUN p 1 1 1\nEXPECT data IDX 4 EQ 0.33333334\nEXPECT data IDX 4 TOLERANCE 100 EQ 0.33333334\nEXPECT data IDX 8 EQ 1\nEXPECT data IDX 8 EQ 2\n\
         EXPECT data IDX 4 EQ 9 9\nEXPECT data IDX 4 LT 0.34\nEXPECT data IDX 4 GE 0.33333337\nEXPECT data IDX 4 NE 0.34",
    );
    let (expected, end) = played(&text);
    assert_eq!(end, None);
    assert_eq!(expected.iter().map(|e| e.0).collect::<Vec<_>>(), [Undecided, Holds, Holds, Fails, Fails, Holds, Undecided, Holds]);
    let within = "devices may hold other values: a float in [0.3333332";
    assert!(expected[0].1.contains(within) && expected[0].1.contains("], RUN in line "), "{}", expected[0].1);
    // The machine keeps no such record, and says so.
    let machine = Interpreter { by: compute::Interpreter::Machine, ..Interpreter::default() };
    let (expected, _) = played_on(&text, &machine);
    assert_eq!(expected[2].0, Undecided);
    assert!(expected[2].1.contains("the machine keeps no record"), "{}", expected[2].1);
}

#[test]
fn what_is_computed_of_open_bytes_is_not_known() {
    let text = script_of(
        WORDS,
        "%a = OpLoad %item %p3\nOpStore %p0 %a",
        "DATA_TYPE int32 DATA 5 6 7 8 END\nBUFFER other DATA_TYPE int32 SIZE 4 FILL 3",
        "DERIVE_PIPELINE again FROM p\n  BIND BUFFER other AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\n\
         RUN again 1 1 1\nRUN p 1 1 1\nEXPECT other IDX 0 EQ 3\nEXPECT data IDX 0 EQ 8",
    );
    assert_eq!(decisions(&text), [Holds; 2]);
    // The RUN reads nothing, so an open word stays open. The record of its writer stays too.
    let undef = script_of(
        WORDS,
        STORES_UNDEF,
        "DATA_TYPE int32 DATA 5 6 7 8 END",
        "RUN p 1 1 1\nRUN p 1 1 1\nEXPECT data IDX 0 EQ 5\nEXPECT data IDX 4 EQ 6",
    );
    assert_eq!(decisions(&undef), [Holds, Undefined]);
    // A shader makes word 1 undefined if word 3 is 8. Otherwise it copies word 1 to word 0.
    let conditional = "%w = OpLoad %item %p3\n%eight = OpIEqual %bool %w %n8\nOpSelectionMerge %end None\nOpBranchConditional %eight %make %copy\n\
                       %make = OpLabel\n%undef = OpUndef %item\nOpStore %p1 %undef\nOpBranch %end\n\
                       %copy = OpLabel\n%a = OpLoad %item %p1\nOpStore %p0 %a\nOpBranch %end\n%end = OpLabel";
    let types = format!("{WORDS}\n%bool = OpTypeBool\n%n8 = OpConstant %item 8");
    let data = "DATA_TYPE int32 DATA 5 6 7 8 END\nBUFFER nine DATA_TYPE int32 DATA 5 6 7 9 END";
    let run = "DERIVE_PIPELINE q FROM p\n  BIND BUFFER nine AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\nRUN p 1 1 1\nEXPECT data IDX 0 EQ 5\n\
               EXPECT data IDX 4 EQ 6\nRUN q 1 1 1\nEXPECT nine IDX 0 EQ 6\nCOPY data TO nine\n";
    assert_eq!(decisions(&script_of(&types, conditional, data, run)), [Holds, Undefined, Holds]);
    let reads = script_of(
        WORDS,
        "%a = OpLoad %item %p1\nOpStore %p0 %a\n%undef = OpUndef %item\nOpStore %p1 %undef",
        "DATA_TYPE int32 DATA 5 6 7 8 END",
        "RUN p 1 1 1\nEXPECT data IDX 0 EQ 6\nRUN p 1 1 1\nEXPECT data IDX 0 EQ 6\nEXPECT data IDX 12 EQ 8",
    );
    let (expected, end) = played(&reads);
    assert_eq!((expected.iter().map(|e| e.0).collect::<Vec<_>>(), end), (vec![Holds, Undecided, Undecided], None));
    assert!(
        expected[1].1.contains("is given an undefined value in byte 4 of data, and what it computes of that is not known"),
        "{}",
        expected[1].1
    );
    // Push constants are read too.
    let pushed = crate::REPEAT
        .replace("RUN ones 1 1 1\n", "RUN makes 1 1 1\nRUN ones 1 1 1\n")
        .replace("COPY counters TO before", "PIPELINE compute makes\n  ATTACH shader\n  BIND BUFFER factor AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\nCOPY counters TO before")
        .replacen("SHADER", &format!("{}SHADER", crate::shader(WORDS, "%undef = OpUndef %item\nOpStore %p0 %undef").replace("%p1 = OpAccessChain %p_item %data %k0 %k1\n", "").replace("%p2 = OpAccessChain %p_item %data %k0 %k2\n", "").replace("%p3 = OpAccessChain %p_item %data %k0 %k3\n", "")), 1);
    let (expected, end) = played(&pushed);
    assert_eq!((expected[0].0, end), (Undecided, None), "{expected:?}");
    assert!(expected[0].1.contains("byte 0 of factor"), "{}", expected[0].1);
}

#[test]
fn fuel_and_limits_end_the_script() {
    let looping =
        "OpBranch %loop\n%loop = OpLabel\nOpLoopMerge %end %next None\nOpBranch %next\n%next = OpLabel\nOpBranch %loop\n%end = OpLabel";
    let text = script_of(WORDS, looping, "DATA_TYPE int32 SIZE 4 FILL 0", "RUN p 1 1 1");
    for by in [compute::Interpreter::Any, compute::Interpreter::Reference { schedule: Default::default(), keep_going: false }] {
        let (_, end) = played_on(&text, &Interpreter { by, limits: Limits::of_fuel(10_000), ..Interpreter::default() });
        assert!(matches!(&end, Some(End::Limit(why)) if why.contains("out of fuel after 10000")), "{end:?}");
    }
    let text = script_of(WORDS, "OpStore %p0 %c", "DATA_TYPE int32 SIZE 4 FILL 0", "RUN p 65535 65535 65535");
    let (_, end) = played(&text.replace("%k0 = ", "%c = OpConstant %item 1\n%k0 = "));
    assert!(matches!(&end, Some(End::Limit(why)) if why.contains("invocations")), "{end:?}");
    let (_, end) = played(&text.replace("%k0 = ", "%c = OpConstant %item 1\n%k0 = ").replace("RUN p 65535 65535 65535", "RUN p 0 1 1"));
    assert_eq!(end, None, "no workgroups, nothing to do");
}

#[test]
fn an_attachment_is_cleared() {
    let text = "#!amber
SHADER vertex v PASSTHROUGH
SHADER fragment f SPIRV-ASM
END
BUFFER target FORMAT B8G8R8A8_UNORM
BUFFER depth FORMAT D32_SFLOAT
PIPELINE graphics g
  ATTACH v
  ATTACH f
  FRAMEBUFFER_SIZE 3 2
  BIND BUFFER target AS color LOCATION 0
  BIND BUFFER depth AS depth_stencil
END
CLEAR g
EXPECT target IDX 0 0 SIZE 3 2 EQ_RGBA 0 0 0 0
EXPECT depth IDX 20 EQ 1.0
CLEAR_COLOR g 255 0 128 255
CLEAR_DEPTH g 0.25
EXPECT depth IDX 0 EQ 1.0
CLEAR g
EXPECT target IDX 0 0 SIZE 3 2 EQ_RGB 255 0 128
EXPECT depth IDX 0 EQ 0.25 0.25 0.25 0.25 0.25 0.25
EXPECT target IDX 2 1 SIZE 1 1 EQ_RGB 255 1 128
";
    // 128 / 255 is no 32-bit float, so the stored code may be undecided. 0 and 1 are exact.
    let decisions = decisions(text);
    assert_eq!((decisions[0], decisions[1], decisions[2]), (Holds, Holds, Holds));
    assert!(matches!(decisions[3], Holds | Undecided), "{decisions:?}");
    assert_eq!((decisions[4], decisions[5]), (Holds, Fails));
}

#[test]
fn vkscript_writes_between_dispatches() {
    let body = crate::shader(WORDS, "%a = OpLoad %item %p0\n%b = OpIAdd %item %a %a\nOpStore %p1 %b");
    let body: String = body.lines().skip(1).filter(|line| *line != "END").map(|line| format!("{line}\n")).collect();
    let text = format!(
        "[compute shader spirv]\n{body}[test]\nssbo 0 subdata int 0 4 0 0 0\ncompute 1 1 1\nprobe ssbo int 0 4 == 8\nssbo 0 subdata int 0 21\n\
         compute 1 1 1\nprobe ssbo int 0 0 == 21 42\nprobe ssbo int 0 4 == 8\n"
    );
    assert_eq!(decisions(&text), [Holds, Holds, Fails]);
}

/// The property of the fuzz target, for mutated scripts that run.
#[test]
fn any_script_is_played_or_refused() {
    use smallstep::generate::Random;
    let samples = [SUM, REPEAT, RACE];
    let mut random = Random::new(11);
    for round in 0..1_500 {
        let mut text = samples[round % samples.len()].as_bytes().to_vec();
        for _ in 0..=random.below(2) {
            let at = random.below(text.len() as u32) as usize;
            let line = |at: usize, text: &[u8]| {
                let start = text[..at].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
                (start, text[at..].iter().position(|&b| b == b'\n').map_or(text.len(), |n| at + n + 1))
            };
            let (start, end) = line(at, &text);
            match random.below(4) {
                0 => drop(text.drain(start..end)),
                1 => {
                    let other = samples[random.below(3) as usize].as_bytes();
                    let (from, to) = line(random.below(other.len() as u32) as usize, other);
                    text.splice(start..start, other[from..to].iter().copied());
                }
                _ => text[at] = b"0123456789 -%"[random.below(13) as usize],
            }
        }
        smallstep::robust::amber(&text);
    }
}

/// The buffers after a script, and its early end if there is one.
fn left_by(text: &str, interpreter: &Interpreter) -> (Vec<Contents>, Option<End>) {
    let script = script(text);
    let modules = loaded(&script);
    let mut player = Player::new(&script, &modules);
    let mut engine = Engine::Interpreter(Box::new(interpreter.clone()));
    for command in commands_of(&script) {
        if let Step::Ended(_, end) = player.step(command, &mut engine) {
            return (Vec::new(), Some(end));
        }
    }
    (player.buffers.0.clone(), None)
}

/// Compute shaders with floats run on the machine over sets, and leave the same buffers as on the
/// reference interpreter. This holds after RUNs with sets as input, through undecided branches,
/// beside integers, and where only the reference interpreter can decide. A planted bug in the
/// machine is found.
#[test]
fn the_machine_leaves_what_the_reference_leaves() {
    let data = "DATA_TYPE float DATA 1 0.5 0.25 7 END";
    let third = "%a = OpLoad %item %p0\n%b = OpFDiv %item %a %three\nOpStore %p1 %b\nOpStore %p0 %b";
    let open = "%bool = OpTypeBool\n%third = OpConstant %item 0.33333334";
    let branches = "%a = OpLoad %item %p0\n%b = OpFDiv %item %a %three\n%is = OpFOrdLessThan %bool %b %third
OpSelectionMerge %m None\nOpBranchConditional %is %y %m\n%y = OpLabel\nOpStore %p2 %three\nOpBranch %m\n%m = OpLabel";
    let index = "%a = OpLoad %item %p0\n%b = OpFDiv %item %a %three\n%n = OpConvertFToU %uint %b\n%p = OpAccessChain %p_item %data %k0 %n
OpStore %p %three";
    let reference =
        Interpreter { by: compute::Interpreter::Reference { schedule: Schedule::default(), keep_going: false }, ..Interpreter::default() };
    let mut sets = 0;
    for (types, body, commands) in [
        ("", third, "RUN p 1 1 1"),
        ("", third, "RUN p 1 1 1\nRUN p 1 1 1\nRUN p 1 1 1"),
        (open, branches, "RUN p 1 1 1"),
        (open, branches, "RUN p 1 1 1\nRUN p 1 1 1"),
        ("", index, "RUN p 1 1 1"),
    ] {
        let text = script_of(&format!("{FLOATS}\n{types}"), body, data, commands);
        let (machine, reference) = (left_by(&text, &Interpreter::default()), left_by(&text, &reference));
        assert_eq!(machine, reference, "{text}");
        sets += machine.0[0].known.iter().filter(|known| **known != Certainty::Decided).count();
    }
    assert_eq!(sets, 24);
    let mut wrong = Interpreter::default();
    wrong.engines.planted = Some(Arc::new(|parts| {
        parts.sites.iter_mut().for_each(|site| site.args.reverse());
    }));
    let (_, end) = left_by(&script_of(FLOATS, third, data, "RUN p 1 1 1"), &wrong);
    assert!(matches!(&end, Some(End::Invalid(why)) if why.contains("the engines differ")), "{end:?}");
}

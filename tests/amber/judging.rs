//! The judgement of expectations: each kind holds, and its near miss fails.

use crate::script;
use pretty_assertions::assert_eq;
use smallstep::amber::*;
use smallstep_semantics::image::Codes;
use smallstep_semantics::number::sets::{Set, Span};

/// Judges the last command of a script, after `change` has edited the initial contents of
/// the buffers.
fn judged_with(text: &str, change: impl FnOnce(&mut Buffers)) -> Judgement {
    let script = script(&format!("#!amber\n{text}"));
    let mut held = script.contents();
    change(&mut held);
    let Some(Action::Expect(expect)) = script.commands.last().map(|c| &c.action) else { panic!("{text} ends with an EXPECT") };
    judge(&script, expect, &held)
}

fn judged(text: &str) -> Judgement {
    judged_with(text, |_| {})
}

#[track_caller]
fn holds(text: &str) {
    let judgement = judged(text);
    assert_eq!(judgement, Judgement::default(), "{text}");
}

#[track_caller]
fn fails(text: &str, message: &str) {
    let judgement = judged(text);
    let messages: Vec<String> = judgement.failures.iter().map(Failure::to_string).collect();
    assert_eq!((judgement.decision(), messages.first().map(String::as_str)), (Decision::Fails, Some(message)), "{text}");
}

const INTEGERS: &str = "BUFFER b DATA_TYPE int32 DATA -1 2 3 END\n";
const FLOATS: &str = "BUFFER b DATA_TYPE float DATA 0.1 -2.5 100 0 END\n";

#[test]
fn comparators() {
    for (comparator, at_2, at_3) in
        [("EQ", false, true), ("NE", true, false), ("LT", true, false), ("LE", true, true), ("GT", false, false), ("GE", false, true)]
    {
        for (value, expected) in [(2, at_2), (3, at_3)] {
            for buffer in ["int32", "uint8", "float", "float16", "uint64", "double"] {
                let text = format!("BUFFER b DATA_TYPE {buffer} DATA {value} END\nEXPECT b IDX 0 {comparator} 3");
                assert_eq!(judged(&text).decision() == Decision::Holds, expected, "{text}");
            }
        }
    }
    holds(&format!("{INTEGERS}EXPECT b IDX 0 EQ -1 2 3"));
    holds(&format!("{INTEGERS}EXPECT b IDX 0 LT 0 3"));
    fails(&format!("{INTEGERS}EXPECT b IDX 4 EQ 2 4"), "line 3: buffer b, IDX 8: found 3, expected EQ 4");
    fails(&format!("{INTEGERS}EXPECT b IDX 0 GT 0"), "line 3: buffer b, IDX 0: found -1, expected GT 0");
    let judgement = judged(&format!("{INTEGERS}EXPECT b IDX 0 NE -1 0 3"));
    assert_eq!((judgement.failed, judgement.failures.len()), (2, 2));
}

#[test]
fn equality_of_floats() {
    holds(&format!("{FLOATS}EXPECT b IDX 0 EQ 0.1 -2.5 100 -0.0"));
    // The next float: 0.10000001.
    fails(
        &format!("{FLOATS}EXPECT b IDX 0 EQ 0.10000001"),
        "line 3: buffer b, IDX 0: found 0.10000000149011612, expected EQ 0.10000000894069672",
    );
    holds("BUFFER b DATA_TYPE double DATA 1 END\nEXPECT b IDX 0 EQ 1.00000000999");
    assert_eq!(judged("BUFFER b DATA_TYPE double DATA 1 END\nEXPECT b IDX 0 EQ 1.000000011").decision(), Decision::Fails);
    // Only doubles have a tolerance. It is relative to the expected value.
    holds("BUFFER b DATA_TYPE double DATA 1000 END\nEXPECT b IDX 0 EQ 1000.00000999");
    assert_eq!(judged("BUFFER b DATA_TYPE double DATA 1000 END\nEXPECT b IDX 0 EQ 1000.000011").decision(), Decision::Fails);
    holds("BUFFER b DATA_TYPE double DATA 0 END\nEXPECT b IDX 0 EQ 0");
    fails(
        "BUFFER b DATA_TYPE uint32 DATA 4294967295 END\nEXPECT b IDX 0 EQ 4294967294",
        "line 3: buffer b, IDX 0: found 4294967295, expected EQ 4294967294",
    );
    let nan = |held: &mut Buffers| held.0[0].bytes[..4].copy_from_slice(&0x7fc0_0000u32.to_le_bytes());
    for (comparator, expected) in [("EQ", false), ("NE", true), ("LT", false), ("LE", false), ("GT", false), ("GE", false)] {
        let judgement = judged_with(&format!("{FLOATS}EXPECT b IDX 0 {comparator} 1"), nan);
        assert_eq!(judgement.decision() == Decision::Holds, expected, "{comparator}");
    }
    assert_eq!(judged_with(&format!("{FLOATS}EXPECT b IDX 0 TOLERANCE 1000 EQ 1"), nan).decision(), Decision::Fails);
    // If the script expects a NaN, any NaN holds.
    for (data, comparator, expected) in [
        ("nan", "EQ", Decision::Holds),
        ("nan", "NE", Decision::Fails),
        ("nan", "LE", Decision::Fails),
        ("nan", "TOLERANCE 5 EQ", Decision::Holds),
        ("1", "EQ", Decision::Fails),
        ("1", "NE", Decision::Holds),
        ("1", "TOLERANCE 5 EQ", Decision::Fails),
    ] {
        for of in ["float", "float16", "double"] {
            let text = format!("BUFFER b DATA_TYPE {of} DATA {data} END\nEXPECT b IDX 0 {comparator} nan");
            assert_eq!(judged(&text).decision(), expected, "{text}");
        }
    }
    let payload = |held: &mut Buffers| held.0[0].bytes[..4].copy_from_slice(&0xffc1_2345u32.to_le_bytes());
    assert_eq!(judged_with(&format!("{FLOATS}EXPECT b IDX 0 EQ nan"), payload).decision(), Decision::Holds);
}

#[test]
fn integers_beyond_the_signed_range_are_their_bits() {
    let data = "BUFFER b DATA_TYPE int8 DATA 129 -1 END\n";
    holds(&format!("{data}EXPECT b IDX 0 EQ -127 255"));
    holds(&format!("{data}EXPECT b IDX 0 EQ 129 -1"));
    holds(&format!("{data}EXPECT b IDX 0 LT 0 0"));
    fails(&format!("{data}EXPECT b IDX 0 EQ 127"), "line 3: buffer b, IDX 0: found -127, expected EQ 127");
}

#[test]
fn tolerances() {
    holds(&format!("{INTEGERS}EXPECT b IDX 0 TOLERANCE 1 EQ 0 3 4"));
    fails(&format!("{INTEGERS}EXPECT b IDX 0 TOLERANCE 1 EQ 0 3 5"), "line 3: buffer b, IDX 8: found 3, expected EQ 5 within 1");
    holds(&format!("{FLOATS}EXPECT b IDX 8 TOLERANCE 1% EQ 101"));
    fails(&format!("{FLOATS}EXPECT b IDX 8 TOLERANCE 1 % EQ 101.5"), "line 3: buffer b, IDX 8: found 100.0, expected EQ 101.5 within 1%");
    // The percentage is of the expected value: 50 % of 200 reaches 100, and 50 % of 100 does not
    // reach 200.
    holds(&format!("{FLOATS}EXPECT b IDX 8 TOLERANCE 50% EQ 200"));
    fails(&format!("{FLOATS}EXPECT b IDX 8 TOLERANCE 50% EQ 60"), "line 3: buffer b, IDX 8: found 100.0, expected EQ 60.0 within 50%");
    fails(&format!("{FLOATS}EXPECT b IDX 8 TOLERANCE 50% EQ 0"), "line 3: buffer b, IDX 8: found 100.0, expected EQ 0.0 within 50%");
    holds(&format!("{FLOATS}EXPECT b IDX 4 TOLERANCE 0.5 EQ -3"));
    // One tolerance per component. Components after the last tolerance are exact. A single one
    // holds for all.
    let vectors = "BUFFER v DATA_TYPE vec3<int32> DATA 10 20 30 10 20 30 END\n";
    holds(&format!("{vectors}EXPECT v IDX 0 TOLERANCE 1 2 EQ 11 22 30 9 18 30"));
    fails(
        &format!("{vectors}EXPECT v IDX 0 TOLERANCE 1 2 EQ 11 22 30 9 18 31"),
        "line 3: buffer v, IDX 24: found 30, expected EQ 31 within 0",
    );
    assert_eq!(judged(&format!("{vectors}EXPECT v IDX 16 TOLERANCE 1 2 EQ 12")).decision(), Decision::Fails);
    holds(&format!("{vectors}EXPECT v IDX 16 TOLERANCE 5 EQ 15 25 35"));
    // Differences of wide integers are exact.
    assert_eq!(
        judged("BUFFER b DATA_TYPE uint64 DATA 0 END\nEXPECT b IDX 0 TOLERANCE 1 EQ 18446744073709551615").decision(),
        Decision::Fails
    );
    holds("BUFFER b DATA_TYPE uint32 DATA 0 END\nEXPECT b IDX 0 TOLERANCE 4294967295 EQ 4294967295");
}

const IMAGE: &str = "IMAGE i FORMAT B8G8R8A8_UNORM DIM_2D WIDTH 2 HEIGHT 2 DATA\n0 128 255 0  0 128 255 0\n0 128 255 0  0 128 254 0\nEND\n";

#[test]
fn colours() {
    holds(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 1 EQ_RGBA 255 128 0 0"));
    holds(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 1 EQ_RGB 255 128 0"));
    fails(
        &format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGB 255 128 0"),
        "line 6: buffer i, texel (1, 1): found [254, 128, 0, 0], expected [255, 128, 0] of 255",
    );
    fails(
        &format!("{IMAGE}EXPECT i IDX 1 0 SIZE 1 1 EQ_RGBA 255 128 0 1"),
        "line 6: buffer i, texel (1, 0): found [255, 128, 0, 0], expected [255, 128, 0, 1] of 255",
    );
    // A step of a channel is 1/255, 0.0039…. The default tolerance is 0.002.
    holds(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGB 255 128 0 TOLERANCE 0.004"));
    assert_eq!(judged(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGB 255 128 0 TOLERANCE 0.0039")).decision(), Decision::Fails);
    holds(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGBA 255 128 0 0 TOLERANCE 0.4% 0 0 0"));
    assert_eq!(judged(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGBA 255 128 0 0 TOLERANCE 0 0.4% 0 0")).decision(), Decision::Fails);
    let floats = "IMAGE i DATA_TYPE R32_SFLOAT DIM_2D WIDTH 1 HEIGHT 1 DATA 0.5 END\n";
    // Only the components of the format are compared: 127.5 of 255 is within 0.002 of 127 and
    // of 128.
    holds(&format!("{floats}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGBA 127 9 9 9"));
    holds(&format!("{floats}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGBA 128 9 9 9"));
    fails(
        &format!("{floats}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGBA 129 9 9 9"),
        "line 3: buffer i, texel (0, 0): found [0.5 × 255], expected [129, 9, 9, 9] of 255",
    );
}

#[test]
fn whole_buffers() {
    let pair = |a: &str, b: &str| format!("BUFFER a DATA_TYPE uint8 DATA {a} END\nBUFFER b DATA_TYPE uint8 DATA {b} END\n");
    holds(&(pair("1 2 3", "1 2 3") + "EXPECT a EQ_BUFFER b"));
    fails(&(pair("1 2 3", "1 4 3") + "EXPECT a EQ_BUFFER b"), "line 4: buffer a, byte 1: found 0x02, expected 0x04 as in b");
    // By hand: the differences are 3, 4 and 0. The mean of their squares is 25/3, and its
    // root 2.886751.
    holds(&(pair("10 20 30", "13 16 30") + "EXPECT a RMSE_BUFFER b TOLERANCE 2.8868"));
    fails(
        &(pair("10 20 30", "13 16 30") + "EXPECT a RMSE_BUFFER b TOLERANCE 2.8867"),
        "line 4: buffer a: found a root mean square error of 2.886751345948129 to b, expected at most 2.8867",
    );
    holds(&(pair("0", "255") + "EXPECT a RMSE_BUFFER b TOLERANCE 255"));
    // EQ_BUFFER compares bytes, padding included. RMSE_BUFFER compares values only.
    let padded = "BUFFER a DATA_TYPE vec3<float> DATA 1 2 3 END\nBUFFER b DATA_TYPE vec3<float> DATA 1 2 3 END\n";
    let spoil = |held: &mut Buffers| held.0[1].bytes[12] = 7;
    assert_eq!(judged_with(&format!("{padded}EXPECT a EQ_BUFFER b"), spoil).decision(), Decision::Fails);
    assert_eq!(judged_with(&format!("{padded}EXPECT a RMSE_BUFFER b TOLERANCE 0"), spoil).decision(), Decision::Holds);
    let nan = |held: &mut Buffers| held.0[1].bytes[..4].copy_from_slice(&[0xff; 4]);
    assert_eq!(judged_with(&format!("{padded}EXPECT a RMSE_BUFFER b TOLERANCE 1e30"), nan).decision(), Decision::Fails);
    // The buffer that came back is too short.
    let cut = |held: &mut Buffers| held.0[0].bytes.truncate(8);
    for check in ["EQ_BUFFER b", "RMSE_BUFFER b TOLERANCE 9", "IDX 8 EQ 3"] {
        assert_eq!(judged_with(&format!("{padded}EXPECT a {check}"), cut).decision(), Decision::Fails, "{check}");
    }
}

#[test]
fn histograms() {
    let pair = |a: &str, b: &str| {
        format!(
            "BUFFER a DATA_TYPE R8G8B8A8_UNORM DATA {a} END\nBUFFER b DATA_TYPE R8G8B8A8_UNORM DATA {b} END\nEXPECT a EQ_HISTOGRAM_EMD_BUFFER b TOLERANCE "
        )
    };
    // The order of texels does not matter.
    holds(&(pair("1 2 3 4 5 6 7 8", "5 6 7 8 1 2 3 4") + "0"));
    // By hand: green moves by 64 bins in one of two texels: 1/2 · 64 / 256 = 0.125. Red moves by
    // 2, which is less.
    holds(&(pair("0 0 0 0 0 0 0 0", "2 64 0 0 0 0 0 0") + "0.125"));
    fails(
        &(pair("0 0 0 0 0 0 0 0", "2 64 0 0 0 0 0 0") + "0.1249"),
        "line 4: buffer a: found an earth mover's distance of 0.125 to b, expected at most 0.1249",
    );
    // The greatest distance: 255 of 256 bins.
    holds(&(pair("0 0 0 0", "0 0 0 255") + "0.99609375"));
    assert_eq!(judged(&(pair("0 0 0 0", "0 0 0 255") + "0.996")).decision(), Decision::Fails);
}

#[test]
fn open_bytes_decide_nothing() {
    let check = |text: &str, bytes: &[usize], expected: Decision| {
        let of = |known| {
            judged_with(text, |held| {
                for &byte in bytes {
                    held.0[0].mark(byte..byte + 1, known);
                }
            })
        };
        let (undefined, doubtful) = (of(Certainty::Undefined), of(Certainty::Doubtful));
        assert_eq!(undefined.decision(), expected, "{text}");
        let of_doubtful = if expected == Decision::Undefined { Decision::Undecided } else { expected };
        assert_eq!(doubtful.decision(), of_doubtful, "{text}");
        undefined
    };
    let text = format!("{INTEGERS}EXPECT b IDX 0 EQ -1 2");
    let judgement = check(&text, &[7], Decision::Undefined);
    let open = judgement.open.expect("a place");
    assert_eq!((open.byte, open.buffer), (7, BufferId(0)));
    assert_eq!(open.to_string(), "line 3: buffer b, IDX 4: the value is undefined");
    check(&text, &[8], Decision::Holds);
    check(&format!("{INTEGERS}EXPECT b IDX 0 NE 5 5"), &[0], Decision::Undefined);
    // No tolerance is wide enough for an unknown value.
    check(&format!("{FLOATS}EXPECT b IDX 0 TOLERANCE 1000 EQ 0.1"), &[3], Decision::Undefined);
    // A decided value that does not match fails.
    check(&format!("{INTEGERS}EXPECT b IDX 0 EQ -1 9"), &[0], Decision::Fails);
    let image = format!("{IMAGE}EXPECT i IDX 0 0 SIZE 2 1 EQ_RGB 255 128 0");
    assert_eq!(check(&image, &[6], Decision::Undefined).open.map(|o| o.byte), Some(6));
    check(&image, &[3], Decision::Holds);
    check(&image, &[12], Decision::Holds);
    check(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGB 255 1 0"), &[2], Decision::Fails);
    let pair = "BUFFER a DATA_TYPE vec4<uint8> DATA 1 2 3 4 END\nBUFFER b DATA_TYPE vec4<uint8> DATA 1 9 3 4 END\n";
    check(&format!("{pair}EXPECT a EQ_BUFFER b"), &[1], Decision::Undefined);
    let other = check(&format!("{pair}EXPECT b EQ_BUFFER a"), &[1], Decision::Undefined);
    assert_eq!(other.open.map(|o| o.buffer), Some(BufferId(0)), "the open byte is the other buffer's");
    check(&format!("{pair}EXPECT a EQ_BUFFER b"), &[0], Decision::Fails);
    check(&format!("{pair}EXPECT a RMSE_BUFFER b TOLERANCE 100"), &[0], Decision::Undefined);
    check(&format!("{pair}EXPECT b RMSE_BUFFER a TOLERANCE 100"), &[0], Decision::Undefined);
    check(&format!("{pair}EXPECT a EQ_HISTOGRAM_EMD_BUFFER b TOLERANCE 1"), &[0], Decision::Undefined);
}

#[test]
fn an_undefined_byte_counts_before_a_doubtful_one() {
    let judgement = judged_with(&format!("{INTEGERS}EXPECT b IDX 0 EQ -1 2 3"), |held| {
        held.0[0].mark(0..4, Certainty::Doubtful);
        held.0[0].mark(9..10, Certainty::Undefined);
    });
    assert_eq!((judgement.decision(), judgement.open.map(|o| o.byte)), (Decision::Undefined, Some(9)));
    // A write makes bytes decided.
    let mut held = Contents::of(vec![0; 4]);
    held.mark(0..4, Certainty::Undefined);
    let lane = Lane { offset: 0, scalar: Scalar::Uint16, component: 0, bits: 0x0201 };
    assert_eq!(held.write(&lane), Ok(()));
    assert_eq!(
        (held.bytes, held.known),
        (vec![1, 2, 0, 0], vec![Certainty::Decided, Certainty::Decided, Certainty::Undefined, Certainty::Undefined])
    );
}

#[test]
fn of_bytes_that_are_open_alike_the_first_is_named() {
    let judgement = judged_with(&format!("{INTEGERS}EXPECT b IDX 0 EQ -1 2 3"), |held| held.0[0].mark(4..12, Certainty::Doubtful));
    assert_eq!(judgement.open.map(|o| (o.byte, o.place)), Some((4, "line 3: buffer b, IDX 4".into())));
    // The same for components: blue is doubtful, red and green are undefined.
    let judgement = judged_with(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGB 255 128 0"), |held| {
        held.0[0].mark(0..1, Certainty::Doubtful);
        held.0[0].mark(1..3, Certainty::Undefined);
    });
    assert_eq!((judgement.decision(), judgement.open.map(|o| o.byte)), (Decision::Undefined, Some(1)));
    let judgement =
        judged_with(&format!("{IMAGE}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGB 255 128 0"), |held| held.0[0].mark(0..3, Certainty::Doubtful));
    assert_eq!((judgement.decision(), judgement.open.map(|o| o.byte)), (Decision::Undecided, Some(0)));
    // If both buffers have open bytes, the report names the judged one.
    let pair = "BUFFER a DATA_TYPE uint8 DATA 1 2 END\nBUFFER b DATA_TYPE uint8 DATA 1 2 END\nEXPECT b EQ_BUFFER a";
    let judgement = judged_with(pair, |held| held.0.iter_mut().for_each(|one| one.mark(1..2, Certainty::Doubtful)));
    assert_eq!(judgement.open.map(|o| (o.buffer, o.byte)), Some((BufferId(1), 1)));
}

/// The codes of a scalar that holds one of several values.
fn one_of(best: u64, others: &[u64], nan: u8) -> Codes {
    Codes { best, others: others.iter().copied().collect(), nan, any: None }
}

#[test]
fn bytes_of_several_values_are_compared_as_far_as_they_go() {
    // 301 or 302: the low byte is 0x2d or 0x2e, the high one 1.
    let pair = |other: u16| format!("BUFFER a DATA_TYPE uint16 DATA 300 301 END\nBUFFER b DATA_TYPE uint16 DATA 300 {other} END\n");
    let open = |held: &mut Buffers| held.0[0].choose(2, 2, one_of(301, &[302], 0));
    for (other, decision) in [(301, Decision::Undecided), (302, Decision::Undecided), (303, Decision::Fails), (0x022d, Decision::Fails)] {
        for check in ["a EQ_BUFFER b", "b EQ_BUFFER a"] {
            let judgement = judged_with(&format!("{}EXPECT {check}", pair(other)), open);
            assert_eq!(judgement.decision(), decision, "{other} {check}");
            assert!(judgement.open.is_none_or(|o| o.buffer == BufferId(0)), "{other} {check}");
        }
    }
    // Doubtful bytes are not compared with the possible values of the other buffer: they may be any
    // of these.
    let judgement = judged_with(&format!("{}EXPECT a EQ_BUFFER b", pair(303)), |held| {
        open(held);
        held.0[1].mark(2..4, Certainty::Doubtful);
    });
    assert_eq!((judgement.decision(), judgement.open.map(|o| o.buffer)), (Decision::Undecided, Some(BufferId(1))));
    // A NaN has many codes.
    let halves = "BUFFER a DATA_TYPE float16 DATA 1 END\nBUFFER b DATA_TYPE float16 DATA 1 END\nEXPECT a EQ_BUFFER b";
    let judgement = judged_with(halves, |held| {
        held.0[0].choose(0, 2, one_of(0x3c00, &[], 16));
        held.0[1].bytes = vec![0x01, 0x7e];
    });
    assert_eq!(judgement.decision(), Decision::Undecided);
}

#[test]
fn errors_of_several_values_have_two_ends() {
    // The difference is 4 or 2 in one of two scalars. The errors are the roots of 8 and of 2.
    let pair = "BUFFER a DATA_TYPE uint8 DATA 10 20 END\nBUFFER b DATA_TYPE uint8 DATA 10 24 END\n";
    let at = |check: &str, most: &str| {
        judged_with(&format!("{pair}EXPECT {check} TOLERANCE {most}"), |held| held.0[0].choose(1, 1, one_of(20, &[22], 0)))
    };
    for (most, decision) in [
        ("3", Decision::Holds),
        ("2.8284271247461903", Decision::Holds),
        ("2.82", Decision::Undecided),
        ("1.4142135623730951", Decision::Undecided),
        ("1.41", Decision::Fails),
    ] {
        for check in ["a RMSE_BUFFER b", "b RMSE_BUFFER a"] {
            let judgement = at(check, most);
            assert_eq!(judgement.decision(), decision, "{check} {most}");
            assert!(judgement.open.is_none_or(|o| (o.buffer, o.byte, o.known) == (BufferId(0), 1, Certainty::OneOf)), "{check} {most}");
        }
    }
    // Both scalars may be one of two: 20 or 22 against 24 or 21. They differ by at least 1.
    let both = |most: &str| {
        judged_with(&format!("{pair}EXPECT a RMSE_BUFFER b TOLERANCE {most}"), |held| {
            held.0[0].choose(1, 1, one_of(20, &[22], 0));
            held.0[1].choose(1, 1, one_of(24, &[21], 0));
        })
        .decision()
    };
    assert_eq!(["2.83", "2.82", "0.71", "0.7"].map(both), [Decision::Holds, Decision::Undecided, Decision::Undecided, Decision::Fails]);
    // A NaN is within no bound.
    let halves = "BUFFER a DATA_TYPE float16 DATA 1 END\nBUFFER b DATA_TYPE float16 DATA 1 END\nEXPECT a RMSE_BUFFER b TOLERANCE 9";
    assert_eq!(judged_with(halves, |held| held.0[0].choose(0, 2, one_of(0x3c00, &[], 16))).decision(), Decision::Undecided);
    // A histogram does not use the possible values.
    let texels = "BUFFER a DATA_TYPE R8G8B8A8_UNORM DATA 1 2 3 4 END\nBUFFER b DATA_TYPE R8G8B8A8_UNORM DATA 1 2 3 4 END\n";
    let open = |held: &mut Buffers| held.0[0].choose(1, 1, one_of(2, &[3], 0));
    assert_eq!(judged_with(&format!("{texels}EXPECT a EQ_HISTOGRAM_EMD_BUFFER b TOLERANCE 1"), open).decision(), Decision::Undecided);
}

#[test]
fn infinities_of_one_sign_differ_by_nothing() {
    let pair = "BUFFER a DATA_TYPE float DATA 1 2 END\nBUFFER b DATA_TYPE float DATA 1 2 END\nEXPECT a RMSE_BUFFER b TOLERANCE 0";
    let with = |a: f32, b: f32| {
        judged_with(pair, |held| {
            held.0[0].bytes[..4].copy_from_slice(&a.to_le_bytes());
            held.0[1].bytes[..4].copy_from_slice(&b.to_le_bytes());
        })
        .decision()
    };
    assert_eq!(with(f32::INFINITY, f32::INFINITY), Decision::Holds);
    assert_eq!(with(f32::INFINITY, f32::NEG_INFINITY), Decision::Fails);
}

#[test]
fn a_float_of_a_set_is_judged_where_it_stands_as_a_float() {
    let set = Set::of(Span { low: 1.0, high: 2.0 });
    let of = |data: &str, at: usize, check: &str| {
        judged_with(&format!("BUFFER b DATA_TYPE {data} END\nEXPECT b {check}"), |held| held.0[0].bound(at, set)).decision()
    };
    for (check, decision) in [
        ("IDX 4 LT 3", Decision::Holds),
        ("IDX 4 LE 2", Decision::Holds),
        ("IDX 4 LT 2", Decision::Undecided),
        ("IDX 4 GE 3", Decision::Fails),
        ("IDX 4 EQ 3", Decision::Fails),
        ("IDX 4 NE 3", Decision::Holds),
        ("IDX 4 EQ 1.5", Decision::Undecided),
        ("IDX 4 NE 1.5", Decision::Undecided),
        ("IDX 4 TOLERANCE 0.5 EQ 1.5", Decision::Holds),
        ("IDX 4 TOLERANCE 0.4 EQ 1.5", Decision::Undecided),
        ("IDX 4 EQ nan", Decision::Fails),
        ("IDX 0 EQ 7", Decision::Holds),
        ("IDX 8 EQ 8", Decision::Holds),
    ] {
        assert_eq!(of("float DATA 7 1.5 8", 4, check), decision, "{check}");
    }
    let judgement = judged_with("BUFFER b DATA_TYPE float DATA 1.5 END\nEXPECT b IDX 0 LT 1.2", |held| held.0[0].bound(0, set));
    assert_eq!(judgement.open.map(|o| (o.byte, o.known)), Some((0, Certainty::Doubtful)));
    // As an integer its bits are none of the set's numbers, and half of it is no float.
    assert_eq!(of("uint32 DATA 5 6", 0, "IDX 0 NE 9"), Decision::Undecided);
    assert_eq!(of("uint32 DATA 5 6", 0, "IDX 0 EQ 9"), Decision::Undecided);
    assert_eq!(of("float DATA 1 1", 2, "IDX 4 NE 99"), Decision::Undecided);
    // The set may contain NaN too.
    let with_nan = |check: &str| {
        judged_with(&format!("BUFFER b DATA_TYPE float DATA 1.5 END\nEXPECT b IDX 0 {check}"), |held| held.0[0].bound(0, set.or_nan()))
            .decision()
    };
    assert_eq!(["LT 3", "GE 3"].map(with_nan), [Decision::Undecided; 2]);
}

#[test]
fn texels_of_wide_channels_and_the_ends_of_images() {
    let image = "IMAGE i FORMAT R16G16_UNORM DIM_2D WIDTH 2 HEIGHT 2 DATA\n0 65535  65535 0\n65535 65535  13107 0\nEND\n";
    holds(&format!("{image}EXPECT i IDX 0 0 SIZE 1 1 EQ_RGB 0 255 9"));
    holds(&format!("{image}EXPECT i IDX 1 0 SIZE 1 1 EQ_RGB 255 0 9"));
    holds(&format!("{image}EXPECT i IDX 1 1 SIZE 1 1 EQ_RGB 51 0 9"));
    fails(
        &format!("{image}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGB 0 255 9"),
        "line 6: buffer i, texel (1, 0): found [255, 0], expected [0, 255, 9] of 255",
    );
    // Bytes 14 and 15 are the green of the last texel.
    for (byte, decision) in [(14, Decision::Undecided), (15, Decision::Undecided), (11, Decision::Holds)] {
        let judgement = judged_with(&format!("{image}EXPECT i IDX 1 1 SIZE 1 1 EQ_RGB 51 0 9"), |held| {
            held.0[0].mark(byte..byte + 1, Certainty::Doubtful)
        });
        assert_eq!((judgement.decision(), judgement.open.map_or(byte, |o| o.byte)), (decision, byte));
    }
    // A component may be one of a few codes: all are near, or one is not.
    let some = |tolerance: &str| {
        let text = format!("{image}EXPECT i IDX 1 1 SIZE 1 1 EQ_RGB 51 0 9 TOLERANCE {tolerance}");
        judged_with(&text, |held| held.0[0].choose(12, 2, one_of(13107, &[13207], 0))).decision()
    };
    assert_eq!(["0.0016", "0.001"].map(some), [Decision::Holds, Decision::Undecided]);
    // A tolerance in per cent refers to the found value: 0.3 % of 254 is less than 1.
    let percent = |tolerance: &str| judged(&format!("{IMAGE}EXPECT i IDX 1 1 SIZE 1 1 EQ_RGB 255 128 0 TOLERANCE {tolerance}")).decision();
    assert_eq!(["0.4%", "0.3%"].map(percent), [Decision::Holds, Decision::Fails]);
    // Beyond the last column, beyond the last row, and in a buffer that came back too short. No
    // script that is read has such an expectation.
    let mut script = script(&format!("#!amber\n{image}EXPECT i IDX 0 0 SIZE 2 2 EQ_RGB 0 255 9 TOLERANCE 1000"));
    let judged = |script: &Script, bytes: usize| {
        let Action::Expect(expect) = &script.commands[0].action else { panic!("an expectation") };
        let mut held = script.contents();
        held.0[0].bytes.truncate(bytes);
        judge(script, expect, &held)
    };
    assert_eq!((judged(&script, 16).decision(), judged(&script, 15).failed), (Decision::Holds, 1));
    for outside in [[1, 0, 2, 1], [0, 1, 1, 2], [2, 0, 1, 1]] {
        let Action::Expect(Expect { check: Check::Colour { rect, .. }, .. }) = &mut script.commands[0].action else { panic!("a colour") };
        *rect = outside;
        assert_eq!(judged(&script, 16).failed, 1, "{outside:?}");
    }
}

#[test]
fn failures_are_listed_up_to_a_bound() {
    let script = script("#!amber\nIMAGE i FORMAT R8_UNORM DIM_2D WIDTH 100 HEIGHT 100 FILL 3\nEXPECT i IDX 0 0 SIZE 100 100 EQ_RGB 0 0 0");
    let Action::Expect(expect) = &script.commands[0].action else { panic!("an expectation") };
    let judgement = judge(&script, expect, &script.contents());
    assert_eq!((judgement.failed, judgement.failures.len()), (10_000, limits::MAX_FAILURES));
}

//! Vectors files: written, read back, replayed, tampered with, and hostile ones.

use pretty_assertions::assert_eq;
use smallstep::compile::lambda_v::Constants;
use smallstep::dispatch::words_hash;
use smallstep::theorem::Verdict;
use smallstep::vectors::format::{MAX_LINE, lane_from_text, lane_text};
use smallstep::vectors::record::{Plan, record};
use smallstep::vectors::replay::{OwnEngine, Replayed, Subject, replay};
use smallstep::vectors::{Case, Header, LineError, Reader};
use smallstep_semantics::number::sets::{Set, Span};
use smallstep_semantics::number::{Arithmetic, Expected, Lanes, Op, Profile, Tuple, Why};
use std::io::{BufReader, Read};
use std::sync::Arc;

const PLAN: Plan =
    Plan { count: 40, seed: 7, size: (3, 2), profile: Profile::Strict, constants: Constants::InModule, decided: false, threads: 2 };

fn recorded(plan: &Plan) -> String {
    let mut file = Vec::new();
    let recorded = record(plan, &mut file, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(recorded.cases, plan.count);
    String::from_utf8(file).expect("JSON is text")
}

fn replayed(file: &str, engine: OwnEngine, arithmetic: Arithmetic) -> Vec<Result<Replayed, LineError>> {
    let mut reader = Reader::open(file.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let mut all = Vec::new();
    replay(&mut reader, Subject::Ours { engine, fuel: 1_000_000, arithmetic }, &mut |r| all.push(r));
    all
}

#[track_caller]
fn verdicts(file: &str, engine: OwnEngine, arithmetic: Arithmetic) -> Vec<Verdict> {
    replayed(file, engine, arithmetic).into_iter().map(|r| r.unwrap_or_else(|e| panic!("{e}")).verdict).collect()
}

fn cases(file: &str) -> Vec<Case> {
    file.lines().skip(1).map(|line| Case::from_line(line).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn file_of(header: &str, cases: &[Case]) -> String {
    header.to_string() + "\n" + &cases.iter().map(Case::to_line).collect::<String>()
}

/// The file with a changed case at `index`.
fn altered(file: &str, index: usize, alter: impl FnOnce(&mut Case)) -> String {
    let mut cases = cases(file);
    alter(&mut cases[index]);
    file_of(file.lines().next().expect("a header"), &cases)
}

#[test]
fn a_file_reads_back_to_the_same_bytes() {
    for constants in [Constants::InModule, Constants::Opaque] {
        for profile in [Profile::Strict, Profile::Wgsl] {
            let file = recorded(&Plan { constants, profile, count: 10, ..PLAN });
            let header = Header::from_line(file.lines().next().expect("a header")).expect("it was written so");
            assert_eq!((header.profile, header.constants, header.cases, header.seed), (profile, constants, 10, 7));
            assert_eq!(header.to_line() + &cases(&file).iter().map(Case::to_line).collect::<String>(), file);
        }
    }
}

#[test]
fn a_file_does_not_depend_on_threads() {
    assert_eq!(recorded(&Plan { threads: 1, ..PLAN }), recorded(&Plan { threads: 5, ..PLAN }));
}

#[test]
fn every_engine_conforms() {
    for constants in [Constants::InModule, Constants::Opaque] {
        let file = recorded(&Plan { constants, ..PLAN });
        for engine in OwnEngine::ALL {
            let mut agree = 0;
            for verdict in verdicts(&file, engine, Arithmetic::default()) {
                assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{}: {}", engine.name(), verdict.why());
                agree += usize::from(verdict == Verdict::Agree);
            }
            assert!(agree >= 36, "{}: {agree} of 40 cases agree", engine.name());
        }
    }
}

#[test]
fn decided_files_hold_no_lane_of_any_value() {
    let file = recorded(&Plan { decided: true, ..PLAN });
    for verdict in verdicts(&file, OwnEngine::Spirv, Arithmetic::default()) {
        assert_eq!(verdict, Verdict::Agree);
    }
    assert!(!file.contains("any:"));
}

#[test]
fn rules_and_provenance_are_recorded() {
    for case in cases(&recorded(&PLAN)) {
        let names: Vec<&str> = case.rules.iter().map(|r| r.name()).collect();
        for family in ["lv/t-", "lv/e-", "lv/tr-", "lv/mc-", "spirv/"] {
            let some = names.iter().any(|n| n.starts_with(family));
            // A single number or variable reduces by no rule.
            assert!(some || family == "lv/e-", "case {}: no {family} in {names:?}", case.index);
        }
        assert_eq!(case.provenance.engines.len(), 4);
    }
}

#[test]
fn a_tampered_expectation_is_caught_by_every_engine() {
    let file = recorded(&PLAN);
    let mut tampered = 0;
    for index in [0, 7, 39] {
        let changed = altered(&file, index, |case| {
            let lanes = case.expected.iter_mut().flatten().flatten();
            for lane in lanes {
                let other = match *lane {
                    Expected::Bits(bits) => Expected::Bits(bits ^ 1),
                    Expected::Zero => Expected::Bits(1),
                    Expected::Within(_) | Expected::Undecided(_) => continue,
                };
                *lane = other;
                tampered += 1;
                break;
            }
        });
        for engine in OwnEngine::ALL {
            for (i, verdict) in verdicts(&changed, engine, Arithmetic::default()).iter().enumerate() {
                assert_eq!(matches!(verdict, Verdict::Disagree(_)), i == index, "{}, case {i}: {}", engine.name(), verdict.why());
            }
        }
    }
    assert_eq!(tampered, 3);
}

#[test]
fn a_set_is_recorded_and_what_lies_outside_of_it_is_caught() {
    let plan = Plan { count: 120, size: (1, 1), ..PLAN };
    let file = recorded(&plan);
    let bounded = |case: &Case| case.expected.iter().flatten().flatten().any(|lane| matches!(lane, Expected::Within(_)));
    let Some(index) = cases(&file).iter().position(bounded) else { panic!("none of {} programs shows a set", plan.count) };
    assert!(file.lines().nth(index + 1).is_some_and(|line| line.contains("\"in:")), "it is written as one");
    let elsewhere = altered(&file, index, |case| {
        for lane in case.expected.iter_mut().flatten().flatten() {
            if let Expected::Within(set) = lane {
                let high = set.hull().expect("something is in it").high as f32;
                *set = Set::of(Span::between(high.next_up().into(), high.next_up().next_up().into()));
            }
        }
    });
    for engine in OwnEngine::ALL {
        let (right, wrong) = (verdicts(&file, engine, Arithmetic::default()), verdicts(&elsewhere, engine, Arithmetic::default()));
        assert!(!matches!(right[index], Verdict::Disagree(_)), "{}", right[index].why());
        assert!(wrong[index].why().contains("expected one of ["), "{}: {}", engine.name(), wrong[index].why());
    }
}

fn last_bit_of_sums(op: Op, _: &[Tuple<'_>], mut result: Lanes) -> Lanes {
    if op == Op::Add {
        result.iter_mut().for_each(|lane| lane.bits ^= 1);
    }
    result
}

#[test]
fn a_planted_engine_is_caught() {
    let file = recorded(&Plan { count: 60, ..PLAN });
    let planted = Arithmetic { planted: Some(last_bit_of_sums) };
    for engine in OwnEngine::ALL {
        let caught = verdicts(&file, engine, planted).into_iter().filter(|v| matches!(v, Verdict::Disagree(_))).count();
        assert!(caught > 5, "{}: {caught} of 60 cases catch sums with a wrong bit", engine.name());
    }
}

#[test]
fn an_engine_without_fuel_is_unchecked_and_no_agreement() {
    let file = recorded(&Plan { count: 5, ..PLAN });
    let mut reader = Reader::open(file.as_bytes()).expect("it was written so");
    let mut unchecked = 0;
    replay(&mut reader, Subject::Ours { engine: OwnEngine::Spirv, fuel: 1, arithmetic: Arithmetic::default() }, &mut |r| {
        unchecked += u32::from(matches!(r.expect("a case").verdict, Verdict::Unchecked(_) | Verdict::Limit(_)));
    });
    assert_eq!(unchecked, 5);
}

/// If one pixel runs out of fuel, another pixel that provably has no value is still found.
#[test]
fn a_pixel_without_fuel_hides_no_divergence() {
    let file = recorded(&Plan { count: 1, ..PLAN });
    let long = "((rec-func (n) (if (less-than n 1e7) (rec (+ n 1)) n)) 0)";
    let endless = "((rec-func (n) (if (less-than n 1) (rec n) n)) 0)";
    let source = |right: &str| altered(&file, 0, |case| case.source = format!("(if (less-than (x (frag-coord)) 1) {long} {right})"));
    let verdict = |file: &str| verdicts(file, OwnEngine::Machine, Arithmetic::default()).remove(0);
    let Verdict::Disagree(difference) = verdict(&source(endless)) else { panic!("a pixel diverges") };
    assert!(difference.what.contains("at pixel (1, 0)"), "{}", difference.what);
    assert!(matches!(verdict(&source("2")), Verdict::Unchecked(why) | Verdict::Limit(why) if why.contains("at pixel (0, 0)")));
}

/// The outputs of words and sources must be at the locations that the case expects.
#[test]
fn an_output_at_another_location_is_missing() {
    let file = recorded(&Plan { count: 1, ..PLAN });
    let moved = altered(&file, 0, |case| case.dispatch.outputs[0].location += 5);
    for engine in OwnEngine::ALL {
        let error = replayed(&moved, engine, Arithmetic::default()).remove(0).expect_err("there is no such output");
        let who = if matches!(engine, OwnEngine::Spirv | OwnEngine::SpirvReference) { "the words have" } else { "the program has" };
        assert!(error.what.starts_with(&format!("{who} no output of ")) && error.what.contains("at location 5"), "{}", error.what);
    }
}

#[test]
fn lanes_read_back_and_nothing_else_is_a_lane() {
    let whys = [Why::Approximate, Why::Subnormal, Why::Infinite, Why::NaN, Why::Tie, Why::Domain, Why::Control];
    let lanes = whys.map(Expected::Undecided).into_iter().chain([Expected::Zero, Expected::Bits(0), Expected::Bits(0x7fc0_0000)]);
    let (ends, tiny) = ([0.5, 0.75], f64::from(f32::from_bits(1)));
    let sets = [Set::of(Span::between(ends[0], ends[1])), Set::of(Span::between(-tiny, 0.0)).with(Span::point(2.0)).with(Span::point(3.0))];
    assert_eq!(sets.map(|set| lane_text(Expected::Within(set))), ["in:3f000000..3f400000", "in:80000001..00000000|40000000|40400000"]);
    for lane in lanes.chain(sets.map(Expected::Within)) {
        assert_eq!(lane_from_text(&lane_text(lane)), Some(lane));
    }
    for text in [
        "in:",
        "in:3f000000..",
        "in:3f000000..3f000000",
        "in:3f400000..3f000000",
        "in:3f000000..7f800000",
        "in:7fc00000",
        "in:40000000|3f000000",
        "in:3f000000..3f400000|3f200000",
        "in:3f000000|3f800000|40000000|40800000",
        "in:3f000000..3f400000..3f800000",
    ] {
        assert_eq!(lane_from_text(text), None, "{text:?}");
    }
    for text in ["", "0", "zero ", "any", "any:", "any:else", "3f80000", "3f8000000", "3F800000", "+f800000", "0x3f8000", "é000000"] {
        assert_eq!(lane_from_text(text), None, "{text:?}");
    }
}

/// The error of a file with this text as line 3, in place of the second case.
#[track_caller]
fn said_of_line_3(line: &str) -> String {
    let file = recorded(&Plan { count: 3, ..PLAN });
    let lines: Vec<&str> = file.lines().collect();
    let file = [lines[0], lines[1], line, lines[3]].join("\n");
    let mut results = replayed(&file, OwnEngine::Spirv, Arithmetic::default());
    assert_eq!(results.len(), 3, "the lines around it are taken");
    assert!(results[0].is_ok() && results[2].is_ok());
    let error = results.remove(1).expect_err("a bad line");
    assert_eq!(error.line, 3);
    error.what
}

#[test]
fn hostile_lines_are_named_and_the_rest_goes_on() {
    let file = recorded(&Plan { count: 3, ..PLAN });
    let good = file.lines().nth(2).expect("the second case");
    let case = Case::from_line(good).expect("it was written so");
    let with = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from} is not in the line");
        changed
    };
    let hash = format!("{:#018x}", case.dispatch.words_hash());
    let no_module = |words: Vec<u32>| {
        let mut case = case.clone();
        case.dispatch.words = Arc::from(words);
        case.to_line().trim_end().to_string()
    };
    let mut wrong_output = case.clone();
    wrong_output.dispatch.outputs[0].location += 3;
    let mut narrow = case.clone();
    narrow.dispatch.entry = "other".into();
    let mut flipped = case.dispatch.words.to_vec();
    flipped[8] ^= 0x00ff_0000;
    let table: Vec<(String, &str)> = vec![
        (String::new(), "no JSON object"),
        (good[..good.len() / 2].to_string(), "EOF while parsing"),
        ("[]".into(), "no JSON object"),
        ("null".into(), "no JSON object"),
        ("{}".into(), "missing field"),
        ("[".repeat(1 << 20), "no JSON object"),
        (with("{", &format!("{{\"unknown\":{},", "[".repeat(1 << 20))), "at column"),
        (with("\"index\":1", "\"index\":\"one\""), "invalid type"),
        (with("\"index\":1", "\"index\":0"), "case 0 stands where case 1 is needed"),
        (with("\"index\":1", "\"index\":-1"), "invalid value"),
        (with("\"kind\":\"case\"", "\"kind\":\"header\""), "a case of version 2 is needed here"),
        (with("\"schema\":2", "\"schema\":3"), "of version 3"),
        (with(&hash, "0x0000000000000000"), "the words have the hash"),
        (with(&hash, "not a hash"), "the words have the hash"),
        (with("\"words\":\"", "\"words\":\"*"), "no base64"),
        (with("\"words\":\"", "\"words\":\"AAAA"), "no whole number"),
        (with("\"size\":[3,2]", "\"size\":[4294967295,4294967295]"), "frame would have"),
        (with("\"size\":[3,2]", "\"size\":[4096,4096]"), "the size asks for 16777216"),
        (with("\"size\":[3,2]", "\"size\":[0,2]"), "0 by 2 pixels"),
        (with("\"size\":[3,2]", "\"size\":[3,2,1]"), "trailing characters"),
        (with("\"size\":[3,2]", "\"size\":[99999999999,2]"), "invalid value"),
        (with("\"expected\":[", "\"expected\":[[],"), "`outputs` has"),
        (with("\"expected\":[[[", "\"expected\":[[[\"zero\",\"zero\",\"zero\",\"zero\","), "components"),
        (with("\"expected\":[[[\"", "\"expected\":[[[\"q"), "hexadecimal digits"),
        (with("\"components\":", "\"components\":9"), "components"),
        (wrong_output.to_line().trim_end().into(), "no output"),
        (narrow.to_line().trim_end().into(), "no entry point is named"),
        (no_module(vec![]), "words/header"),
        (no_module(vec![0x0723_0203; 5]), "words/version"),
        (no_module(case.dispatch.words[..case.dispatch.words.len() - 1].to_vec()), "error[module/"),
        (no_module(flipped), "error["),
    ];
    for (line, expected) in table {
        let said = said_of_line_3(&line);
        assert!(said.contains(expected), "{said:?} lacks {expected:?}");
    }
}

#[test]
fn lines_beyond_the_limit_are_passed_over_without_being_kept() {
    let file = recorded(&Plan { count: 2, ..PLAN });
    let lines: Vec<&str> = file.lines().collect();
    let endless = std::io::repeat(b'[').take(3 * MAX_LINE as u64);
    let begin = format!("{}\n", lines[0]);
    let end = format!("\n{}\n", lines[2]);
    let input = begin.as_bytes().chain(endless).chain(end.as_bytes());
    let mut reader = Reader::open(BufReader::new(input)).expect("the header is good");
    let first = reader.next_case().expect("a line").expect_err("it is too long");
    assert_eq!((first.line, first.what.contains("longer than")), (2, true));
    assert!(reader.next_case().expect("a line").is_ok());
    assert!(reader.next_case().is_none());
}

#[test]
fn files_that_are_cut_or_go_on_are_told() {
    let file = recorded(&Plan { count: 3, ..PLAN });
    let lines: Vec<&str> = file.lines().collect();
    let cut = lines[..3].join("\n");
    let last = replayed(&cut, OwnEngine::Spirv, Arithmetic::default()).pop().expect("something").expect_err("it is cut");
    assert_eq!((last.line, last.what.as_str()), (3, "the file ends after 2 of 3 cases"));
    let more = file.clone() + lines[3] + "\n" + lines[3];
    let results = replayed(&more, OwnEngine::Spirv, Arithmetic::default());
    assert_eq!(results.len(), 4);
    assert_eq!(results[3].as_ref().expect_err("one too many").line, 5);
    for (text, expected) in [
        ("", "the file is empty"),
        ("\n", "no header"),
        ("{\"schema\":2,\"kind\":\"case\"}", "no header"),
        ("{\"schema\":2,\"kind\":\"header\",\"format\":\"smallstep-vectors\"}", "missing field"),
        ("{\"schema\":1,\"kind\":\"header\",\"format\":\"smallstep-vectors\"}", "reads version 2"),
        ("\u{0}\u{1}", "no header"),
    ] {
        let Err(error) = Reader::open(text.as_bytes()) else { panic!("{text:?} is no header") };
        assert!(error.line == 1 && error.what.contains(expected), "{error} lacks {expected:?}");
    }
    let Err(error) = Reader::open(&b"\xff\xfe\n"[..]) else { panic!("that is no text") };
    assert!(error.what.contains("UTF-8"), "{error}");
}

#[test]
fn the_format_page_names_every_field() {
    let page = include_str!("../src/vectors/FORMAT.md");
    let file = recorded(&Plan { count: 1, ..PLAN });
    for line in file.lines() {
        let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for key in object.as_object().expect("an object").keys() {
            assert!(page.contains(&format!("| `{key}` |")), "FORMAT.md does not say what `{key}` is");
        }
    }
    let hash = words_hash(&cases(&file)[0].dispatch.words);
    assert!(file.contains(&format!("{hash:#018x}")));
}

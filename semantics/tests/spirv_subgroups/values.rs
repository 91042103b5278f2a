//! Every group instruction, on random words and with some lanes inactive, against a second
//! evaluation that shares nothing with the relation.

use pretty_assertions::assert_eq;
use smallstep_semantics::random::Random;

use super::*;

/// The lanes of a subgroup: the two operands of each, or `None` if the lane is inactive.
pub(super) type Lanes = [Option<[u32; 2]>];

/// A group instruction: how it computes %r from the words %a and %b, and the expected %r of a lane,
/// which is `None` if it is undefined.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) expected: fn(&Lanes, usize) -> Option<u32>,
    /// The operand b is below this number. If `same` is set, b must be the same in all lanes.
    pub(super) below: u32,
    pub(super) same: bool,
    /// The operand a is below this number.
    pub(super) values: u32,
}

const fn case(name: &'static str, text: &'static str, expected: fn(&Lanes, usize) -> Option<u32>) -> Case {
    Case { name, text, expected, below: 8, same: false, values: u32::MAX }
}

const fn small(case: Case, values: u32) -> Case {
    Case { values, ..case }
}

fn at(lanes: &Lanes, lane: usize) -> Option<u32> {
    lanes.get(lane).copied().flatten().map(|[a, _]| a)
}

fn b(lanes: &Lanes, lane: usize) -> usize {
    lanes[lane].map_or(0, |[_, b]| b as usize)
}

fn actives(lanes: &Lanes) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
    lanes.iter().enumerate().filter_map(|(lane, operands)| operands.map(|[a, _]| (lane, a)))
}

fn ballot(lanes: &Lanes) -> u32 {
    actives(lanes).filter(|(_, a)| a & 1 == 1).fold(0, |bits, (lane, _)| bits | 1 << lane)
}

/// For words: a reduction, an inclusive scan, an exclusive scan, and a reduction of clusters of 2.
macro_rules! scans {
    ($op:literal, $identity:expr, $combine:expr) => {
        [
            case($op, concat!("%r = ", $op, " %uint %c3 Reduce %a"), |lanes, _| {
                Some(actives(lanes).fold($identity, |x, (_, y)| $combine(x, y)))
            }),
            case($op, concat!("%r = ", $op, " %uint %c3 InclusiveScan %a"), |lanes, own| {
                Some(actives(lanes).filter(|&(lane, _)| lane <= own).fold($identity, |x, (_, y)| $combine(x, y)))
            }),
            case($op, concat!("%r = ", $op, " %uint %c3 ExclusiveScan %a"), |lanes, own| {
                Some(actives(lanes).filter(|&(lane, _)| lane < own).fold($identity, |x, (_, y)| $combine(x, y)))
            }),
            case($op, concat!("%r = ", $op, " %uint %c3 ClusteredReduce %a %c2"), |lanes, own| {
                Some(actives(lanes).filter(|&(lane, _)| lane / 2 == own / 2).fold($identity, |x, (_, y)| $combine(x, y)))
            }),
        ]
    };
}

/// For signed words: a reduction, an exclusive scan, and a reduction of clusters of 4.
macro_rules! signed {
    ($op:literal, $identity:expr, $combine:expr) => {
        [
            case($op, concat!("%s = OpBitcast %int %a %t = ", $op, " %int %c3 Reduce %s %r = OpBitcast %uint %t"), |lanes, _| {
                Some(actives(lanes).fold($identity, |x: i32, (_, y)| $combine(x, y as i32)) as u32)
            }),
            case($op, concat!("%s = OpBitcast %int %a %t = ", $op, " %int %c3 ExclusiveScan %s %r = OpBitcast %uint %t"), |lanes, own| {
                Some(actives(lanes).filter(|&(lane, _)| lane < own).fold($identity, |x: i32, (_, y)| $combine(x, y as i32)) as u32)
            }),
            case(
                $op,
                concat!("%s = OpBitcast %int %a %t = ", $op, " %int %c3 ClusteredReduce %s %c4 %r = OpBitcast %uint %t"),
                |lanes, own| {
                    let near = actives(lanes).filter(|&(lane, _)| lane / 4 == own / 4);
                    Some(near.fold($identity, |x: i32, (_, y)| $combine(x, y as i32)) as u32)
                },
            ),
        ]
    };
}

/// For floats that are small integers: a reduction and an inclusive scan.
macro_rules! floats {
    ($op:literal, $identity:expr, $combine:expr, $values:literal) => {
        [
            small(
                case(
                    $op,
                    concat!("%s = OpConvertUToF %float %a %r0 = ", $op, " %float %c3 Reduce %s %r = OpBitcast %uint %r0"),
                    |lanes, _| Some(actives(lanes).fold($identity, |x: f32, (_, y)| $combine(x, y as f32)).to_bits()),
                ),
                $values,
            ),
            small(
                case(
                    $op,
                    concat!("%s = OpConvertUToF %float %a %r0 = ", $op, " %float %c3 InclusiveScan %s %r = OpBitcast %uint %r0"),
                    |lanes, own| {
                        let before = actives(lanes).filter(|&(lane, _)| lane <= own);
                        Some(before.fold($identity, |x: f32, (_, y)| $combine(x, y as f32)).to_bits())
                    },
                ),
                $values,
            ),
        ]
    };
}

/// For Booleans, which say whether words are odd: an exclusive scan.
macro_rules! logical {
    ($op:literal, $identity:expr, $combine:expr) => {
        [case(
            $op,
            concat!(
                "%o = OpBitwiseAnd %uint %a %c1 %h = OpIEqual %bool %o %c1 %q = ",
                $op,
                " %bool %c3 ExclusiveScan %h %r = OpSelect %uint %q %c1 %c0"
            ),
            |lanes, own| {
                let before = actives(lanes).filter(|&(lane, _)| lane < own);
                Some(u32::from(before.fold($identity, |x: bool, (_, y)| $combine(x, y & 1 == 1))))
            },
        )]
    };
}

/// Computes %h, whether %a is odd, before the text.
macro_rules! odd {
    ($text:literal) => {
        concat!("%o = OpBitwiseAnd %uint %a %c1 %h = OpIEqual %bool %o %c1 ", $text)
    };
}

/// All instructions of SPIR-V §3.3.24 that Vulkan 1.1 has.
pub(super) fn cases() -> Vec<Case> {
    let first = |lanes: &Lanes, _: usize| actives(lanes).next().map(|(_, a)| a);
    let mut cases = vec![
        case("OpGroupNonUniformElect", "%q = OpGroupNonUniformElect %bool %c3 %r = OpSelect %uint %q %c1 %c0", |lanes, own| {
            Some(u32::from(actives(lanes).next().is_some_and(|(lane, _)| lane == own)))
        }),
        case("OpGroupNonUniformAll", odd!("%q = OpGroupNonUniformAll %bool %c3 %h %r = OpSelect %uint %q %c1 %c0"), |lanes, _| {
            Some(u32::from(actives(lanes).all(|(_, a)| a & 1 == 1)))
        }),
        case("OpGroupNonUniformAny", odd!("%q = OpGroupNonUniformAny %bool %c3 %h %r = OpSelect %uint %q %c1 %c0"), |lanes, _| {
            Some(u32::from(actives(lanes).any(|(_, a)| a & 1 == 1)))
        }),
        small(
            case("OpGroupNonUniformAllEqual", "%q = OpGroupNonUniformAllEqual %bool %c3 %a %r = OpSelect %uint %q %c1 %c0", |lanes, _| {
                let all: Vec<u32> = actives(lanes).map(|(_, a)| a).collect();
                Some(u32::from(all.windows(2).all(|pair| pair[0] == pair[1])))
            }),
            2,
        ),
        Case {
            same: true,
            ..case("OpGroupNonUniformBroadcast", "%r = OpGroupNonUniformBroadcast %uint %c3 %a %c2", |lanes, _| at(lanes, 2))
        },
        case("OpGroupNonUniformBroadcastFirst", "%r = OpGroupNonUniformBroadcastFirst %uint %c3 %a", first),
        case("OpGroupNonUniformBallot", odd!("%w = OpGroupNonUniformBallot %u4 %c3 %h %r = OpCompositeExtract %uint %w 0"), |lanes, _| {
            Some(ballot(lanes))
        }),
        case(
            "OpGroupNonUniformInverseBallot",
            odd!("%w = OpGroupNonUniformBallot %u4 %c3 %h %q = OpGroupNonUniformInverseBallot %bool %c3 %w %r = OpSelect %uint %q %c1 %c0"),
            |lanes, own| Some(at(lanes, own).unwrap_or(0) & 1),
        ),
        Case {
            below: 20,
            ..case(
                "OpGroupNonUniformBallotBitExtract",
                odd!(
                    "%w = OpGroupNonUniformBallot %u4 %c3 %h %q = OpGroupNonUniformBallotBitExtract %bool %c3 %w %b %r = OpSelect %uint %q %c1 %c0"
                ),
                |lanes, own| (b(lanes, own) < lanes.len()).then(|| ballot(lanes) >> b(lanes, own) & 1),
            )
        },
        case(
            "OpGroupNonUniformBallotBitCount",
            "%w = OpCompositeConstruct %u4 %a %a %a %a %r = OpGroupNonUniformBallotBitCount %uint %c3 Reduce %w",
            |lanes, own| Some((u64::from(at(lanes, own).unwrap_or(0)) & ((1 << lanes.len()) - 1)).count_ones()),
        ),
        case(
            "OpGroupNonUniformBallotBitCount",
            "%w = OpCompositeConstruct %u4 %a %a %a %a %r = OpGroupNonUniformBallotBitCount %uint %c3 InclusiveScan %w",
            |lanes, own| Some((u64::from(at(lanes, own).unwrap_or(0)) & ((2 << own) - 1)).count_ones()),
        ),
        case(
            "OpGroupNonUniformBallotBitCount",
            "%w = OpCompositeConstruct %u4 %a %a %a %a %r = OpGroupNonUniformBallotBitCount %uint %c3 ExclusiveScan %w",
            |lanes, own| Some((u64::from(at(lanes, own).unwrap_or(0)) & ((1 << own) - 1)).count_ones()),
        ),
        case(
            "OpGroupNonUniformBallotFindLSB",
            odd!("%w = OpGroupNonUniformBallot %u4 %c3 %h %r = OpGroupNonUniformBallotFindLSB %uint %c3 %w"),
            |lanes, _| actives(lanes).find(|(_, a)| a & 1 == 1).map(|(lane, _)| lane as u32),
        ),
        case(
            "OpGroupNonUniformBallotFindMSB",
            odd!("%w = OpGroupNonUniformBallot %u4 %c3 %h %r = OpGroupNonUniformBallotFindMSB %uint %c3 %w"),
            |lanes, _| actives(lanes).rfind(|(_, a)| a & 1 == 1).map(|(lane, _)| lane as u32),
        ),
        case("OpGroupNonUniformShuffle", "%r = OpGroupNonUniformShuffle %uint %c3 %a %b", |lanes, own| at(lanes, b(lanes, own))),
        case("OpGroupNonUniformShuffleXor", "%r = OpGroupNonUniformShuffleXor %uint %c3 %a %b", |lanes, own| {
            at(lanes, own ^ b(lanes, own))
        }),
        Case {
            below: 4,
            ..case("OpGroupNonUniformShuffleUp", "%r = OpGroupNonUniformShuffleUp %uint %c3 %a %b", |lanes, own| {
                own.checked_sub(b(lanes, own)).and_then(|lane| at(lanes, lane))
            })
        },
        Case {
            below: 4,
            ..case("OpGroupNonUniformShuffleDown", "%r = OpGroupNonUniformShuffleDown %uint %c3 %a %b", |lanes, own| {
                at(lanes, own + b(lanes, own))
            })
        },
        case("OpGroupNonUniformQuadBroadcast", "%r = OpGroupNonUniformQuadBroadcast %uint %c3 %a %c1", |lanes, own| {
            at(lanes, own / 4 * 4 + 1)
        }),
        case("OpGroupNonUniformQuadSwap", "%r = OpGroupNonUniformQuadSwap %uint %c3 %a %c0", |lanes, own| {
            at(lanes, [1, 0, 3, 2][own % 4] + own / 4 * 4)
        }),
        case("OpGroupNonUniformQuadSwap", "%r = OpGroupNonUniformQuadSwap %uint %c3 %a %c1", |lanes, own| {
            at(lanes, [2, 3, 0, 1][own % 4] + own / 4 * 4)
        }),
        case("OpGroupNonUniformQuadSwap", "%r = OpGroupNonUniformQuadSwap %uint %c3 %a %c2", |lanes, own| {
            at(lanes, [3, 2, 1, 0][own % 4] + own / 4 * 4)
        }),
    ];
    cases.extend(scans!("OpGroupNonUniformIAdd", 0, u32::wrapping_add));
    cases.extend(scans!("OpGroupNonUniformIMul", 1, u32::wrapping_mul));
    cases.extend(scans!("OpGroupNonUniformUMin", u32::MAX, u32::min));
    cases.extend(scans!("OpGroupNonUniformUMax", 0, u32::max));
    cases.extend(scans!("OpGroupNonUniformBitwiseAnd", u32::MAX, |x, y| x & y));
    cases.extend(scans!("OpGroupNonUniformBitwiseOr", 0, |x, y| x | y));
    cases.extend(scans!("OpGroupNonUniformBitwiseXor", 0, |x, y| x ^ y));
    cases.extend(signed!("OpGroupNonUniformSMin", i32::MAX, i32::min));
    cases.extend(signed!("OpGroupNonUniformSMax", i32::MIN, i32::max));
    cases.extend(floats!("OpGroupNonUniformFAdd", 0.0, |x, y| x + y, 1000));
    cases.extend(floats!("OpGroupNonUniformFMul", 1.0, |x, y| x * y, 3));
    cases.extend(floats!("OpGroupNonUniformFMin", f32::INFINITY, f32::min, 1000));
    cases.extend(floats!("OpGroupNonUniformFMax", f32::NEG_INFINITY, f32::max, 1000));
    cases.extend(logical!("OpGroupNonUniformLogicalAnd", true, |x, y| x && y));
    cases.extend(logical!("OpGroupNonUniformLogicalOr", false, |x, y| x || y));
    cases.extend(logical!("OpGroupNonUniformLogicalXor", false, |x, y| x != y));
    cases
}

/// The module of a case. The buffer holds %a of all invocations, then %b, then whether each
/// invocation is active. An active invocation stores %r in the place of its %a.
pub(super) fn module_of(case: &Case, invocations: u32) -> Module {
    let body = format!(
        "{OWN} %ib = OpIAdd %uint %i %a0 %pb = OpAccessChain %pword %buf %c0 %ib %b = OpLoad %uint %pb
        %ic = OpIAdd %uint %ib %a0 %pc = OpAccessChain %pword %buf %c0 %ic %act = OpLoad %uint %pc %a = OpCopyObject %uint %v
        %goes = OpINotEqual %bool %act %c0 OpSelectionMerge %m None OpBranchConditional %goes %y %m %y = OpLabel {} {STORE} OpBranch %m
        %m = OpLabel",
        case.text
    );
    let text = text(invocations, &format!("%a0 = OpConstant %uint {invocations}"), &body);
    load(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", case.name))
}

/// Words for a module of a case, and the word that each invocation should store: `None` if it is
/// inactive, and `Some(None)` if the word is undefined.
pub(super) fn drawn(case: &Case, invocations: usize, size: usize, random: &mut Random) -> (Vec<u32>, Vec<Option<Option<u32>>>) {
    let mut word = || (random.bits() >> 32) as u32;
    let all_active = word() % 3 == 0;
    let same = word() % case.below;
    let odd = word() % 4;
    let mut lanes: Vec<Option<[u32; 2]>> = Vec::new();
    let mut words = [vec![], vec![], vec![]];
    for _ in 0..invocations {
        let mut a = word() % case.values;
        if odd == 0 {
            a &= !1;
        }
        if case.name.starts_with("OpGroupNonUniformF") {
            // A zero may have either sign.
            a = a.max(1);
        }
        let (b, active) = (if case.same { same } else { word() % case.below }, all_active || word() % 3 > 0);
        words[0].push(a);
        words[1].push(b);
        words[2].push(u32::from(active));
        lanes.push(active.then_some([a, b]));
    }
    let mut expected = Vec::new();
    for (invocation, operands) in lanes.iter().enumerate() {
        let first = invocation / size * size;
        let mut subgroup: Vec<_> = lanes[first..(first + size).min(invocations)].to_vec();
        subgroup.resize(size, None);
        expected.push(operands.map(|_| (case.expected)(&subgroup, invocation - first)));
    }
    (words.concat(), expected)
}

#[test]
fn every_instruction_gives_what_the_second_evaluation_gives() {
    let mut random = Random::new(11);
    let (mut compared, mut undefined) = (0, 0);
    for case in cases() {
        for (invocations, size) in [(1, 4), (4, 4), (6, 4), (8, 8), (13, 8), (16, 16), (19, 16), (33, 32)] {
            let module = module_of(&case, invocations);
            for _ in 0..3 {
                let (words, expected) = drawn(&case, invocations as usize, size as usize, &mut random);
                let report = by_engines(&module, &words, Some(size));
                let shown = words_of(&report);
                for (invocation, expected) in expected.iter().enumerate() {
                    let expected = match expected {
                        None => Word::Is(words[invocation]),
                        Some(None) => Word::Any,
                        Some(Some(word)) => Word::Is(*word),
                    };
                    compared += 1;
                    undefined += usize::from(expected == Word::Any);
                    assert_eq!(
                        shown[invocation], expected,
                        "{} {}: invocation {invocation} of {invocations} in subgroups of {size}, {words:?}",
                        case.name, case.text
                    );
                }
            }
        }
    }
    assert!(compared > 10_000 && undefined > 300, "{compared} words, {undefined} undefined");
}

#[test]
fn every_instruction_has_a_case() {
    let all: Vec<String> = smallstep_semantics::spirv::grammar::instructions()
        .map(|i| format!("Op{}", i.opname))
        .filter(|name| name.starts_with("OpGroupNonUniform"))
        .filter(|name| {
            !["RotateKHR", "PartitionEXT", "PartitionNV", "QuadAllKHR", "QuadAnyKHR", "IMulKHR"].iter().any(|end| name.ends_with(end))
        })
        .collect();
    assert_eq!(all.len(), 34);
    for name in all {
        assert!(cases().iter().any(|case| case.name == name), "{name}");
    }
}

#[test]
fn built_ins_say_which_subgroup_and_lane() {
    let store = |k: u32, value: &str| {
        format!(
            "%j{k} = OpIMul %uint %i %c9 %k{k} = OpIAdd %uint %j{k} %c{k} %p{k} = OpAccessChain %pword %buf %c0 %k{k} OpStore %p{k} {value} "
        )
    };
    let mut body = "%i = OpLoad %uint %lix ".to_string();
    for (k, name) in ["size", "lane", "number", "count"].into_iter().enumerate() {
        body += &format!("%l{name} = OpLoad %uint %{name} {}", store(k as u32, &format!("%l{name}")));
    }
    for (k, name) in ["eq", "ge", "gt", "le", "lt"].into_iter().enumerate() {
        body += &format!("%l{name} = OpLoad %u4 %{name} %w{name} = OpCompositeExtract %uint %l{name} 0 ");
        body += &store(4 + k as u32, &format!("%w{name}"));
    }
    let shown = words_of(&of_body(11, &body, &[0; 99], Some(8)));
    for i in 0..11u32 {
        let (lane, all) = (i % 8, 0xff);
        let ge = all & !((1 << lane) - 1);
        let expected = [8, lane, i / 8, 2, 1 << lane, ge, ge & !(1 << lane), (2 << lane) - 1, (1 << lane) - 1];
        assert_eq!(shown[9 * i as usize..][..9], expected.map(Word::Is), "invocation {i}");
    }
}

#[test]
fn ballots_have_a_bit_for_each_of_128_lanes() {
    let body = format!(
        "{OWN} %h = OpUGreaterThan %bool %v %c0 %w = OpGroupNonUniformBallot %u4 %c3 %h %q = OpUDiv %uint %i %c8 %q4 = OpUDiv %uint %q %c4
        %x = OpVectorExtractDynamic %uint %w %q4 %n = OpGroupNonUniformBallotBitCount %uint %c3 InclusiveScan %w
        %top = OpGroupNonUniformBallotFindMSB %uint %c3 %w %low = OpGroupNonUniformBallotFindLSB %uint %c3 %w
        %s0 = OpIAdd %uint %x %n %s1 = OpIAdd %uint %s0 %top %r = OpIAdd %uint %s1 %low {STORE}"
    );
    let words: Vec<u32> = (0..128).map(|i| u32::from([3, 40, 77, 78, 120].contains(&i))).collect();
    let shown = words_of(&of_body(128, &body, &words, Some(128)));
    for (i, word) in shown.into_iter().enumerate() {
        let x = [1u32 << 3, 1 << 8, 1 << 13 | 1 << 14, 1 << 24][i / 32];
        let count = words[..=i].iter().sum::<u32>();
        assert_eq!(word, Word::Is(x + count + 120 + 3), "lane {i}");
    }
}

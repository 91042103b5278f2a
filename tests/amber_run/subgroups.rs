//! Scripts whose values depend on subgroups: each kind of group instruction, sizes, results that
//! depend on the size, and planted bugs.

#[path = "../../semantics/tests/spirv_subgroups/bugs.rs"]
mod bugs;

use pretty_assertions::assert_eq;
use smallstep::amber::{Decision, read};
use smallstep::compute;
use smallstep::run::amber::{Interpreter, Verdict};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::Rules;

use crate::graphics::{DRAW_ALL, OF_ALL, PLAIN, Stage, script_of};
use crate::{device, legs, played_on};

/// The capabilities of all group instructions, without the prefix `GroupNonUniform`.
const KINDS: [&str; 7] = ["Vote", "Arithmetic", "Ballot", "Shuffle", "ShuffleRelative", "Clustered", "Quad"];

/// A script with a workgroup of 16 invocations. `body` computes `%r` from `%v`, the invocation's
/// word in `data`, and `%r` is stored there. `%i` is the number of the invocation, and `%k…`
/// are constants.
fn script(body: &str, block: &str, commands: &str) -> String {
    // Not every device has clustered operations.
    let asked = KINDS.iter().filter(|kind| **kind != "Clustered" || body.contains("ClusteredReduce"));
    let capabilities: String = asked.map(|kind| format!("OpCapability GroupNonUniform{kind}\n")).collect();
    format!(
        "#!amber
SHADER compute shader SPIRV-ASM TARGET_ENV spv1.3
OpCapability Shader
OpCapability GroupNonUniform
{capabilities}OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %index %lane %size
OpExecutionMode %main LocalSize 16 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %lane BuiltIn SubgroupLocalInvocationId
OpDecorate %size BuiltIn SubgroupSize
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%ballot = OpTypeVector %uint 4
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%k2 = OpConstant %uint 2
%k3 = OpConstant %uint 3
%k4 = OpConstant %uint 4
%p_in = OpTypePointer Input %uint
%index = OpVariable %p_in Input
%lane = OpVariable %p_in Input
%size = OpVariable %p_in Input
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%p_block = OpTypePointer StorageBuffer %block
%p_item = OpTypePointer StorageBuffer %uint
%data = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %function
%start = OpLabel
%i = OpLoad %uint %index
%l = OpLoad %uint %lane
%p = OpAccessChain %p_item %data %k0 %i
%v = OpLoad %uint %p
{body}
OpStore %p %r
OpReturn
OpFunctionEnd
END
BUFFER data DATA_TYPE uint32 DATA 5 3 8 1 9 2 7 6 4 3 4 14 0 11 10 12 END
PIPELINE compute p
  ATTACH shader
  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0
{block}END
RUN p 1 1 1
{commands}
"
    )
}

const WORDS: [u32; 16] = [5, 3, 8, 1, 9, 2, 7, 6, 4, 3, 4, 14, 0, 11, 10, 12];
/// Computes `%is_odd`, whether `%v` is odd.
const ODD: &str = "%odd = OpBitwiseAnd %uint %v %k1\n%is_odd = OpIEqual %bool %odd %k1\n";

fn expects(words: &[u32]) -> String {
    format!("EXPECT data IDX 0 EQ {}", words.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
}

/// A name, a body, and the word that it stores in a subgroup, computed by hand from the words of
/// the subgroup and the lane.
type Case = (&'static str, &'static str, fn(&[u32], usize) -> u32);

/// Every kind of group instruction.
const CASES: &[Case] = &[
    ("elect", "%q = OpGroupNonUniformElect %bool %k3\n%r = OpSelect %uint %q %k1 %k0", |_, lane| u32::from(lane == 0)),
    ("vote", "ODD%q = OpGroupNonUniformAny %bool %k3 %is_odd\n%r = OpSelect %uint %q %k1 %k0", |words, _| {
        u32::from(words.iter().any(|word| word % 2 == 1))
    }),
    ("ballot", "ODD%w = OpGroupNonUniformBallot %ballot %k3 %is_odd\n%r = OpCompositeExtract %uint %w 0", |words, _| ballot(words)),
    ("ballot bits", "ODD%w = OpGroupNonUniformBallot %ballot %k3 %is_odd\n%r = OpGroupNonUniformBallotFindLSB %uint %k3 %w", |words, _| {
        ballot(words).trailing_zeros()
    }),
    ("broadcast", "%r = OpGroupNonUniformBroadcastFirst %uint %k3 %v", |words, _| words[0]),
    ("shuffle", "%m = OpBitwiseAnd %uint %l %k1\n%r = OpGroupNonUniformShuffleUp %uint %k3 %v %m", |words, lane| words[lane - lane % 2]),
    ("exclusive scan", "%r = OpGroupNonUniformIAdd %uint %k3 ExclusiveScan %v", |words, lane| words[..lane].iter().sum()),
    ("clusters", "%r = OpGroupNonUniformIAdd %uint %k3 ClusteredReduce %v %k4", |words, lane| words[lane / 4 * 4..][..4].iter().sum()),
    (
        "least of signed",
        "%n = OpISub %uint %v %k4\n%s = OpBitcast %int %n\n%t = OpGroupNonUniformSMin %int %k3 Reduce %s\n%r = OpBitcast %uint %t",
        |words, _| words.iter().map(|&word| word as i32 - 4).min().unwrap_or(0) as u32,
    ),
    ("quad", "%r = OpGroupNonUniformQuadSwap %uint %k3 %v %k2", |words, lane| words[lane / 4 * 4 + 3 - lane % 4]),
    // Invocations with odd words count themselves. The others store 4.
    (
        "inactive",
        "ODDOpSelectionMerge %m None\nOpBranchConditional %is_odd %y %m\n%y = OpLabel\n%n = OpGroupNonUniformIAdd %uint %k3 Reduce %k1\n\
         OpBranch %m\n%m = OpLabel\n%r = OpPhi %uint %n %y %k4 %start",
        |words, lane| if words[lane] % 2 == 1 { ballot(words).count_ones() } else { 4 },
    ),
    (
        "inactive votes",
        "ODDOpSelectionMerge %m None\nOpBranchConditional %is_odd %y %m\n%y = OpLabel\n%w = OpGroupNonUniformBallot %ballot %k3 %is_odd\n\
         %n = OpCompositeExtract %uint %w 0\nOpBranch %m\n%m = OpLabel\n%r = OpPhi %uint %n %y %k4 %start",
        |words, lane| if words[lane] % 2 == 1 { ballot(words) } else { 4 },
    ),
];

fn ballot(words: &[u32]) -> u32 {
    words.iter().enumerate().fold(0, |bits, (lane, word)| bits | (word % 2) << lane)
}

fn text(case: &Case, size: usize, block: &str) -> String {
    let expected: Vec<u32> = (0..16).map(|i| (case.2)(&WORDS[i / size * size..][..size], i % size)).collect();
    script(&case.1.replace("ODD", ODD), block, &expects(&expected))
}

fn sized(size: Option<u32>) -> Interpreter {
    Interpreter { subgroup_size: size, ..Interpreter::default() }
}

#[track_caller]
fn decided(text: &str, interpreter: &Interpreter) -> Decision {
    let (expected, end) = played_on(text, interpreter);
    assert_eq!(end, None, "{text}");
    expected[0].0
}

#[test]
fn every_kind_gives_what_is_computed_by_hand() {
    for case in CASES {
        for size in [4, 8, 16] {
            let text = text(case, size, "");
            let decision = decided(&text, &sized(Some(size as u32)));
            assert_eq!(decision, Decision::Holds, "{} in subgroups of {size}\n{text}", case.0);
        }
        // Another size gives other words, unless an instruction reads only lanes that share a
        // subgroup in both sizes.
        let same = matches!(case.0, "vote" | "ballot bits" | "quad" | "clusters" | "shuffle");
        let other = decided(&text(case, 8, ""), &sized(Some(4)));
        assert_eq!(other, if same { Decision::Holds } else { Decision::Fails }, "{}", case.0);
    }
}

#[test]
fn planted_bugs_fail_the_scripts() {
    for bug in bugs::BUGS {
        let mut interpreter = sized(Some(8));
        interpreter.engines.relation.rules = Rules::standard().replace(bug.rule, bug.function);
        interpreter.by = compute::Interpreter::Reference { schedule: interpreter.engines.schedule.clone(), keep_going: false };
        let failing = CASES.iter().filter(|case| decided(&text(case, 8, ""), &interpreter) != Decision::Holds).count();
        assert!(failing > 0, "{}", bug.name);
    }
}

/// A draw in which each pixel shows the value of its horizontal neighbour, and whether the subgroup
/// has a pixel left of the middle.
fn drawn(expect: &str) -> String {
    let stage = Stage {
        interface: "%coord",
        decorations: "OpDecorate %coord BuiltIn FragCoord",
        variables: "%coord = OpVariable %p_in_vec4 Input\n%sub = OpConstant %uint 3\n%eighth = OpConstant %float 0.125",
        body: "%c = OpLoad %vec4 %coord\n%x = OpCompositeExtract %float %c 0\n%y = OpGroupNonUniformQuadSwap %float %sub %x %u0
%r = OpFMul %float %y %eighth\n%left = OpFOrdLessThan %bool %x %f4\n%any = OpGroupNonUniformAny %bool %sub %left
%g = OpSelect %float %any %f1 %f0\n%o = OpCompositeConstruct %vec4 %r %g %f0 %f1\nOpStore %colour %o",
    };
    let text = script_of([PLAIN, stage], "R32G32B32A32_SFLOAT", "", OF_ALL, &format!("CLEAR g\n{DRAW_ALL}\n{expect}"));
    let (before, after) = text.split_at(text.find("SHADER fragment").expect("a fragment stage"));
    let capabilities =
        "OpCapability Shader\nOpCapability GroupNonUniform\nOpCapability GroupNonUniformVote\nOpCapability GroupNonUniformQuad";
    before.to_string() + &after.replacen("OpCapability Shader", capabilities, 1)
}

#[test]
fn draws_have_subgroups_of_which_quads_are_known() {
    // Red of the first two pixels, and of pixel 4 in row 1. Green depends on the subgroup.
    for (at, red) in [(0, "0.1875"), (16, "0.0625"), (192, "0.6875")] {
        let text = drawn(&format!("EXPECT target IDX {at} TOLERANCE 0.0001 EQ {red}"));
        assert_eq!(decided(&text, &sized(None)), Decision::Holds, "{text}");
        assert_eq!(decided(&text.replace(red, "0.3125"), &sized(None)), Decision::Fails, "{text}");
        let mut wrong = sized(None);
        let quads = bugs::BUGS.iter().find(|bug| bug.rule == Rule::SpirvGroupQuad).expect("a bug");
        wrong.engines.relation.rules = Rules::standard().replace(quads.rule, quads.function);
        // With the planted bug, quads of two invocations, horizontal neighbours are still right.
        assert_eq!(decided(&text, &wrong), Decision::Holds);
        let below = text.replace("%sub %x %u0", "%sub %x %u1").replace(red, &format!("{}", (at / 16 % 8) as f32 / 8.0 + 0.0625));
        assert_eq!(decided(&below, &sized(None)), Decision::Holds, "{below}");
        assert_ne!(decided(&below, &wrong), Decision::Holds, "{below}");
    }
    let votes = drawn("EXPECT target IDX 4 TOLERANCE 0.0001 EQ 1");
    assert_eq!(decided(&votes, &sized(Some(8))), Decision::Undecided);
}

#[test]
fn a_pipeline_says_the_size() {
    let block = "  SUBGROUP shader\n    FULLY_POPULATED on\n    REQUIRED_SIZE 8\n    VARYING_SIZE off\n  END\n";
    let sum = &CASES[6];
    let said = text(sum, 8, block);
    // It has precedence over the size of the command line.
    assert_eq!(decided(&said, &sized(Some(4))), Decision::Holds);
    let script = read(&said).expect("a script");
    assert_eq!(script.pipelines[0].subgroup_size, Some(8));
    let printed = read(&script.print().expect("printable")).expect("a script");
    assert_eq!(printed.pipelines[0].subgroup_size, Some(8));
    for (from, to) in
        [("REQUIRED_SIZE 8", "REQUIRED_SIZE 6"), ("REQUIRED_SIZE 8", "REQUIRED_SIZE 256"), ("VARYING_SIZE off", "VARYING_SIZE on")]
    {
        assert!(read(&said.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn without_a_size_what_depends_on_it_is_open() {
    let clusters = &CASES[7];
    assert_eq!(decided(&text(clusters, 8, ""), &sized(None)), Decision::Holds);
    let sum = &CASES[6];
    assert_eq!(decided(&text(sum, 8, ""), &sized(None)), Decision::Undecided);
    let (expected, _) = played_on(&text(sum, 8, ""), &sized(None));
    assert!(expected[0].1.contains("it depends on the size of the subgroups"), "{}", expected[0].1);
}

/// The sum of the words before the sixth in its subgroup is 9, which is one word, or 26, which are
/// five words. An expectation that holds for no size fails, and one that holds for every
/// size holds.
#[test]
fn without_a_size_what_depends_on_it_is_one_of_what_sizes_give() {
    let sum = CASES[6].1;
    for (expect, decision) in [
        ("EXPECT data IDX 20 EQ 9", Decision::Undecided),
        ("EXPECT data IDX 20 EQ 26", Decision::Undecided),
        ("EXPECT data IDX 20 EQ 12", Decision::Fails),
        ("EXPECT data IDX 20 LT 27", Decision::Holds),
        ("EXPECT data IDX 20 LT 26", Decision::Undecided),
        ("EXPECT data IDX 20 GT 26", Decision::Fails),
        // Of the words before the fifth, its subgroup has none or all.
        ("EXPECT data IDX 16 EQ 17", Decision::Undecided),
        ("EXPECT data IDX 16 NE 5", Decision::Holds),
    ] {
        assert_eq!(decided(&script(sum, "", expect), &sized(None)), decision, "{expect}");
    }
}

#[test]
fn a_device_shows_the_same() {
    let Some(mut device) = device() else { return };
    let known = device.adapter().subgroups;
    let mut compared = 0;
    for case in CASES {
        let size = known.size().unwrap_or(8);
        let text = text(case, size.min(16) as usize, "");
        let legs = legs(&text, &Interpreter::default(), Some(&mut device));
        match &legs[1].verdict {
            Verdict::Agree => compared += 1,
            Verdict::Unchecked(_) | Verdict::Undecided(_) => {}
            other => panic!("{}: {other:?}", case.0),
        }
    }
    if known.size().is_some() && (61..=68).filter(|&capability| capability != 67).all(|capability| known.has(capability)) {
        assert!(compared + 1 >= CASES.len(), "{compared} compared");
    }
    // A size that the device does not support is not compared.
    let other = known.size().map_or(64, |size| if size == 64 { 32 } else { 64 });
    let block = format!("  SUBGROUP shader\n    REQUIRED_SIZE {other}\n  END\n");
    let legs = legs(&text(&CASES[7], 8, &block), &Interpreter::default(), Some(&mut device));
    assert!(matches!(&legs[1].verdict, Verdict::Unchecked(why) if why.contains("requires subgroups of")), "{:?}", legs[1].verdict);
}

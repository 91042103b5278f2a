//! Branches on undefined values: some change nothing, and others do.

use pretty_assertions::assert_eq;
use smallstep::amber::Decision;
use smallstep::run::amber::{End, Engine, Interpreter, Player, Step, Verdict, commands};
use smallstep_semantics::undefined::Ub;

use crate::{WORDS, legs, loaded, script, script_of};

/// A fragment stage over 4 by 2 pixels. Its body computes `%shade`, a float. `%u` is an undefined
/// Boolean, and `%x` is the column.
fn drawn(body: &str) -> String {
    format!(
        "#!amber
SHADER vertex corners PASSTHROUGH
SHADER fragment shade SPIRV-ASM
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %coordinate %colour
OpExecutionMode %main OriginUpperLeft
OpDecorate %coordinate BuiltIn FragCoord
OpDecorate %colour Location 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%vec4 = OpTypeVector %float 4
%p_input = OpTypePointer Input %vec4
%p_output = OpTypePointer Output %vec4
%p_float = OpTypePointer Function %float
%coordinate = OpVariable %p_input Input
%colour = OpVariable %p_output Output
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%f2 = OpConstant %float 2
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%true = OpConstantTrue %bool
%u = OpUndef %bool
%main = OpFunction %void None %function
%start = OpLabel
%place = OpLoad %vec4 %coordinate
%x = OpCompositeExtract %float %place 0
{body}
%out = OpCompositeConstruct %vec4 %shade %f0 %f0 %f1
OpStore %colour %out
OpReturn
OpFunctionEnd
END
BUFFER picture FORMAT R8G8B8A8_UNORM
PIPELINE graphics draw
  ATTACH corners
  ATTACH shade
  FRAMEBUFFER_SIZE 4 2
  BIND BUFFER picture AS color LOCATION 0
END
CLEAR_COLOR draw 0 0 0 0
CLEAR draw
RUN draw DRAW_RECT POS 0 0 SIZE 4 2
EXPECT picture IDX 0 0 SIZE 4 2 EQ_RGBA 255 0 0 255
"
    )
}

/// A branch on a condition. The float `%v` with its number is `yes` or `no`, depending on the way.
fn branch(number: usize, condition: &str, yes: &str, no: &str) -> String {
    format!(
        "OpSelectionMerge %after{number} None\nOpBranchConditional {condition} %yes{number} %no{number}\n%yes{number} = OpLabel\n\
         OpBranch %after{number}\n%no{number} = OpLabel\nOpBranch %after{number}\n%after{number} = OpLabel\n\
         %v{number} = OpPhi %float {yes} %yes{number} {no} %no{number}\n"
    )
}

/// Plays a script. Returns its notes, its decisions, and the undefined behaviour that ends it.
fn followed(text: &str, follows: bool) -> (Vec<String>, Vec<Decision>, Option<Ub>) {
    let script = script(text);
    let modules = loaded(&script);
    let mut player = Player::new(&script, &modules);
    let mut engine = Engine::Interpreter(Box::new(Interpreter { follows, ..Interpreter::default() }));
    let (mut decisions, mut met) = (Vec::new(), None);
    for command in commands(&script) {
        match player.step(command, &mut engine) {
            Step::Done | Step::Ran(_) => {}
            Step::Judged(judgement) => decisions.push(judgement.decision()),
            Step::Ended(_, End::Undefined { undefined, .. }) => {
                met = Some(undefined.ub);
                break;
            }
            Step::Ended(_, end) => panic!("{end:?}"),
        }
    }
    (player.notes.iter().map(|(_, note)| note.clone()).collect(), decisions, met)
}

const ENDS: Option<Ub> = Some(Ub::BranchOnUndefined);

#[test]
fn ways_that_show_the_same_are_a_note() {
    let text = drawn(&format!("{}%shade = OpCopyObject %float %v0", branch(0, "%u", "%f1", "%f1")));
    let (notes, decisions, met) = followed(&text, true);
    assert_eq!((notes.len(), decisions, met), (1, vec![Decision::Holds], None));
    assert!(notes[0].contains("all of 2 ways show the same"), "{notes:?}");
    let legs = legs(&text, &Interpreter::default(), None);
    assert_eq!((legs[0].verdict.clone(), legs[0].notes.len()), (Verdict::Agree, 1));
    // The rest of the script is judged as usual.
    let other = text.replace("EQ_RGBA 255", "EQ_RGBA 254");
    assert_eq!(followed(&other, true).1, [Decision::Fails]);
    assert_eq!(followed(&text, false), (vec![], vec![], ENDS));
}

#[test]
fn ways_that_differ_end_the_script() {
    let end = "%shade = OpCopyObject %float %v0";
    let differs = drawn(&format!("{}{end}", branch(0, "%u", "%f1", "%f0")));
    assert_eq!(followed(&differs, true), (vec![], vec![], ENDS));
    // The ways differ only in the last column.
    let last = "%three = OpConstant %float 3";
    let body =
        format!("%right = OpFOrdGreaterThan %bool %x %three\n{}%shade = OpSelect %float %right %v0 %f1", branch(0, "%u", "%f1", "%f0"));
    let one = drawn(&body).replace("%true = ", &format!("{last}\n%true = "));
    assert_eq!(followed(&one, true), (vec![], vec![], ENDS));
    let nowhere = one.replace("%three = OpConstant %float 3", "%three = OpConstant %float 4");
    assert_eq!(followed(&nowhere, true).1, [Decision::Holds]);
}

#[test]
fn a_report_names_the_instruction_the_line_and_the_pixel() {
    // Only the fragments of the third and fourth column reach the branch.
    let body = format!(
        "%in = OpFOrdGreaterThan %bool %x %f2\nOpSelectionMerge %end None\nOpBranchConditional %in %deep %end\n%deep = OpLabel\n{}\
         OpBranch %end\n%end = OpLabel\n%shade = OpPhi %float %f1 %start %v0 %after0",
        branch(0, "%u", "%f1", "%f0")
    );
    let text = drawn(&body);
    let line = 1 + text.lines().position(|line| line.starts_with("OpBranchConditional %u")).expect("the branch");
    let report = legs(&text, &Interpreter::default(), None)[0].verdict.why();
    for part in ["OpBranchConditional depends on", "fragment stage, pixel (2, 0)", &format!("at test.amber:{line}\n")] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn every_branch_has_its_own_ways() {
    // The difference of both values is 0 only if both branches go the same way.
    let two = |other: &str| {
        let body = format!(
            "{}{}%d = OpFSub %float %v0 %v1\n%shade = OpFAdd %float %d %f1",
            branch(0, "%u", "%f1", "%f0"),
            branch(1, other, "%f1", "%f0")
        );
        followed(&drawn(&body), true)
    };
    assert_eq!(two("%u"), (vec![], vec![], ENDS));
    let body = format!(
        "{}{}%d = OpFSub %float %v0 %v1\n%shade = OpFAdd %float %d %f1",
        branch(0, "%u", "%f1", "%f1"),
        branch(1, "%u", "%f1", "%f1")
    );
    let (notes, decisions, met) = followed(&drawn(&body), true);
    assert_eq!((decisions, met), (vec![Decision::Holds], None));
    assert!(notes[0].contains("all of 4 ways"), "{notes:?}");
    // 64 ways are followed, 128 are not.
    let many = |n: usize| {
        let branches: String = (0..n).map(|i| branch(i, "%u", "%f1", "%f1")).collect();
        followed(&drawn(&format!("{branches}%shade = OpCopyObject %float %v0")), true).2
    };
    assert_eq!((many(6), many(7)), (None, ENDS));
}

#[test]
fn a_way_that_is_undefined_ends_the_script() {
    let body = "OpSelectionMerge %after None\nOpBranchConditional %u %yes %after\n%yes = OpLabel\n%q = OpSDiv %int %i1 %i0\nOpBranch %after\n\
                %after = OpLabel\n%shade = OpCopyObject %float %f1";
    assert_eq!(followed(&drawn(body), true), (vec![], vec![], ENDS));
    assert_eq!(followed(&drawn(&body.replace("%i1 %i0", "%i1 %i1")), true).1, [Decision::Holds]);
}

#[test]
fn ways_are_followed_only_where_no_invocation_sees_another() {
    let text = drawn(&format!("{}%shade = OpCopyObject %float %v0", branch(0, "%u", "%f1", "%f1")));
    let differences = text.replace("%out =", "%dx = OpDPdx %float %v0\n%out =");
    assert_eq!(followed(&differences, true).2, ENDS);
    let corners = "BUFFER at DATA_TYPE vec2<float> DATA -1 -1 3 -1 -1 3 END\nPIPELINE";
    let array = text.replace("PIPELINE", corners).replace("AS color LOCATION 0", "AS color LOCATION 0\n  VERTEX_DATA at LOCATION 0");
    let array = array.replace("DRAW_RECT POS 0 0 SIZE 4 2", "DRAW_ARRAY AS TRIANGLE_LIST");
    assert_eq!(followed(&array, true).2, ENDS);

    let types = format!("{WORDS}\n%bool = OpTypeBool\n%u = OpUndef %bool\n%i7 = OpConstant %item 7");
    let body = "OpSelectionMerge %after None\nOpBranchConditional %u %yes %no\n%yes = OpLabel\nOpStore %p0 %i7\nOpBranch %after\n\
                %no = OpLabel\nOpStore %p0 %i7\nOpBranch %after\n%after = OpLabel";
    let compute = |groups: &str| {
        followed(
            &script_of(&types, body, "DATA_TYPE int32 DATA 1 2 3 4 END", &format!("RUN p {groups}\nEXPECT data IDX 0 EQ 7 2 3 4")),
            true,
        )
    };
    let (notes, decisions, met) = compute("1 1 1");
    assert_eq!((notes.len(), decisions, met), (1, vec![Decision::Holds], None));
    assert_eq!(compute("2 1 1").2, ENDS);
}

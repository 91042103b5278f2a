//! Group instructions in the stages of a draw. Of the subgroup of a fragment only its quad is
//! known. Of the subgroup of a vertex nothing is known. The lockstep machine shows the same
//! definite values. Planted bugs are seen.

#[path = "../spirv_subgroups/bugs.rs"]
mod bugs;

use pretty_assertions::assert_eq;
use rspirv::spirv::GroupOperation;
use smallstep_semantics::number::Why;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::Rules;
use smallstep_semantics::spirv::grammar::Op as Core;
use smallstep_semantics::spirv::lockstep::{FragmentProgram, Parts};
use smallstep_semantics::spirv::operation;
use smallstep_semantics::spirv::step::{Config, Env, Join, Mapping, Next, Tangle, group};

use crate::*;

const GROUPS: &str = "OpCapability Shader OpCapability GroupNonUniform OpCapability GroupNonUniformVote OpCapability GroupNonUniformQuad
    OpCapability GroupNonUniformArithmetic OpCapability GroupNonUniformBallot OpCapability GroupNonUniformShuffle
    OpCapability GroupNonUniformShuffleRelative OpCapability GroupNonUniformClustered OpCapability Float16";

fn grouping(text: &str) -> Module {
    load(&text.replacen("OpCapability Shader", GROUPS, 1))
}

/// A scene whose fragment stage runs `body` and shows its %r.
fn scene(body: &str, positions: &[[f32; 4]]) -> Scene {
    let decorations = "OpDecorate %size BuiltIn SubgroupSize OpDecorate %size Flat OpDecorate %own BuiltIn SubgroupLocalInvocationId
        OpDecorate %own Flat";
    let declarations = "%sub = OpConstant %uint 3 %half16 = OpTypeFloat 16 %c8 = OpConstant %uint 8 %c16 = OpConstant %uint 16 %size = OpVariable %pin_uint Input %own = OpVariable %pin_uint Input";
    let body = format!("{COORDINATES} {body} %o = OpCompositeConstruct %v4 %r %r %r %r OpStore %out %o");
    Scene::new(passing_zeros(), grouping(&fragment_text("%size %own", decorations, declarations, &body)), positions)
}

fn passing_zeros() -> Module {
    vertex("", "", "", "")
}

/// The draw by the relation alone, for devices with that subgroup size; any size if `None`.
fn by(scene: &Scene, size: Option<u32>) -> DrawObservation {
    let outcome = scene.with(|draw| {
        let mut draw = draw.clone();
        draw.resources.subgroup_size = size;
        draw::run_by(&scene.vertex, &scene.fragment, &draw, &scene.relation, &scene.rules, &scene.schedule, &mut ())
    });
    match outcome.expect("the entry points are there") {
        Outcome::Observed(observation) => observation,
        other => panic!("{other:?}"),
    }
}

fn component(observation: &DrawObservation, x: u32, y: u32) -> Component {
    observation.targets[0].component(x, y, 0).expect("a pixel")
}

/// A body, and its result %r at pixel (x, y).
type Quad = (&'static str, fn(u32, u32) -> f32);

/// Bodies that take the value of the neighbour in the row, in the column, on the diagonal, and of a
/// lane with a given number.
const QUADS: &[Quad] = &[
    ("%r = OpGroupNonUniformQuadSwap %float %sub %cx %c0", |x, _| (x ^ 1) as f32 + 0.5),
    ("%r = OpGroupNonUniformQuadSwap %float %sub %cy %c1", |_, y| (y ^ 1) as f32 + 0.5),
    ("%s = OpFMul %float %cx %cy %r = OpGroupNonUniformQuadSwap %float %sub %s %c2", |x, y| {
        ((x ^ 1) as f32 + 0.5) * ((y ^ 1) as f32 + 0.5)
    }),
    ("%r = OpGroupNonUniformQuadBroadcast %float %sub %cx %c1", |x, _| (x | 1) as f32 + 0.5),
    ("%r = OpGroupNonUniformQuadBroadcast %float %sub %cy %c2", |_, y| (y | 1) as f32 + 0.5),
    // Two lanes take a derivative first. The others wait for them.
    (
        "%xi = OpConvertFToU %uint %cx %odd = OpBitwiseAnd %uint %xi %c1 %is = OpINotEqual %bool %odd %c0
        OpSelectionMerge %m None OpBranchConditional %is %y %m %y = OpLabel %d = OpDPdy %float %cy OpBranch %m %m = OpLabel
        %r = OpGroupNonUniformQuadSwap %float %sub %cx %c0",
        |x, _| (x ^ 1) as f32 + 0.5,
    ),
];

/// Whether all pixels inside the upper left triangle show the value that is computed by hand.
fn shows(scene: &Scene, at: fn(u32, u32) -> f32) -> bool {
    let observation = by(scene, Some(8));
    let pixels = (0..8).flat_map(|y| (0..8 - y).map(move |x| (x, y))).filter(|(x, y)| x + y < 7);
    pixels.into_iter().all(|(x, y)| component(&observation, x, y) == Component::Exactly(at(x, y).to_bits().into()))
}

#[test]
fn quads_are_known_with_their_helpers() {
    for positions in [&ALL, &HALF] {
        for (body, at) in QUADS {
            assert!(shows(&scene(body, positions), *at), "{body}");
        }
    }
}

/// Group instructions that the machine runs by quads, besides [`QUADS`] and [`OTHERS`].
const BY_QUADS: &[&str] = &[
    "%b = OpFOrdLessThan %bool %cx %f4 %q = OpGroupNonUniformAll %bool %sub %b %r = OpSelect %float %q %f1 %f2",
    "%b = OpFOrdLessThan %bool %cx %f4 %q = OpGroupNonUniformAllEqual %bool %sub %cy %r = OpSelect %float %q %f1 %f2",
    "%r = OpGroupNonUniformFAdd %float %sub Reduce %cx",
    "%r = OpGroupNonUniformFMul %float %sub InclusiveScan %cx",
    "%r = OpGroupNonUniformFMin %float %sub ExclusiveScan %cy",
    "%n = OpConvertFToU %uint %cx %s = OpGroupNonUniformIAdd %uint %sub ExclusiveScan %n %r = OpConvertUToF %float %s",
    "%n = OpConvertFToU %uint %cx %s = OpGroupNonUniformBitwiseXor %uint %sub InclusiveScan %n %r = OpConvertUToF %float %s",
    "%b = OpFOrdLessThan %bool %cx %f1 %s = OpGroupNonUniformBallot %u4 %sub %b %n = OpCompositeExtract %uint %s 0 %r = OpConvertUToF %float %n",
    "%n = OpConvertFToU %uint %cx %odd = OpBitwiseAnd %uint %n %c1 %r = OpGroupNonUniformShuffleXor %float %sub %cy %c2",
    "%r = OpGroupNonUniformShuffleUp %float %sub %cx %c1",
    "%r = OpGroupNonUniformShuffleDown %float %sub %cx %c1",
    "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %y %m %y = OpLabel
     %s = OpGroupNonUniformFAdd %float %sub Reduce %cy OpBranch %m %m = OpLabel %r = OpPhi %float %f2 %entry %s %y",
    "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %y %m %y = OpLabel OpKill
     %m = OpLabel %r = OpGroupNonUniformQuadSwap %float %sub %cx %c0",
    "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %y %m %y = OpLabel
     %s = OpGroupNonUniformQuadBroadcast %float %sub %cx %c1 OpBranch %m %m = OpLabel %r = OpPhi %float %f2 %entry %s %y",
    "%u = OpUndef %float %left = OpFOrdLessThan %bool %cx %f1 %s = OpSelect %float %left %u %cx
     %r = OpGroupNonUniformFMax %float %sub Reduce %s",
    // Ballots with the bits of eight lanes, of which a quad has four.
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %n = OpGroupNonUniformBallotBitCount %uint %sub Reduce %s
     %r = OpConvertUToF %float %n",
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %n = OpGroupNonUniformBallotBitCount %uint %sub InclusiveScan %s
     %r = OpConvertUToF %float %n",
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %n = OpGroupNonUniformBallotFindMSB %uint %sub %s %r = OpConvertUToF %float %n",
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %n = OpGroupNonUniformBallotFindLSB %uint %sub %s %r = OpConvertUToF %float %n",
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %n = OpConvertFToU %uint %cx %m = OpIMul %uint %n %c2
     %q = OpGroupNonUniformBallotBitExtract %bool %sub %s %m %r = OpSelect %float %q %f1 %f2",
    "%s = OpCompositeConstruct %u4 %c300 %c1 %c0 %c0 %q = OpGroupNonUniformInverseBallot %bool %sub %s %r = OpSelect %float %q %f1 %f2",
    // Clusters of two lanes, of all eight, and of more lanes than there are.
    "%n = OpConvertFToU %uint %cx %s = OpGroupNonUniformIAdd %uint %sub ClusteredReduce %n %c2 %r = OpConvertUToF %float %s",
    "%n = OpConvertFToU %uint %cx %s = OpGroupNonUniformIAdd %uint %sub ClusteredReduce %n %c8 %r = OpConvertUToF %float %s",
    "%n = OpConvertFToU %uint %cx %s = OpGroupNonUniformIAdd %uint %sub ClusteredReduce %n %c16 %r = OpConvertUToF %float %s",
    // Values of 16 bits.
    "%h = OpFConvert %half16 %cx %s = OpGroupNonUniformFAdd %half16 %sub InclusiveScan %h %r = OpFConvert %float %s",
    "%h = OpFConvert %half16 %cx %s = OpGroupNonUniformFMax %half16 %sub Reduce %h %r = OpFConvert %float %s",
    "%h = OpFConvert %half16 %cx %r16 = OpGroupNonUniformShuffleXor %half16 %sub %h %c1 %r = OpFConvert %float %r16",
    // Lane numbers that are computed.
    "%n = OpConvertFToU %uint %cx %odd = OpBitwiseAnd %uint %n %c3 %r = OpGroupNonUniformShuffle %float %sub %cy %odd",
    "%n = OpConvertFToU %uint %cx %odd = OpBitwiseAnd %uint %n %c1 %r = OpGroupNonUniformShuffleXor %float %sub %cx %odd",
];

type Bug = fn(Parts<'_>);

/// The first difference between the relation and the machine with this bug.
fn by_machine(scene: &Scene, bug: Bug) -> Option<String> {
    let machine = FragmentProgram::compile(&scene.fragment, "fs").expect("a stage that the machine takes").planted(bug);
    let outcomes = scene.with(|draw| {
        let mut draw = draw.clone();
        draw.resources.subgroup_size = Some(8);
        let relation = draw::run_by(&scene.vertex, &scene.fragment, &draw, &scene.relation, &scene.rules, &scene.schedule, &mut ());
        (relation.expect("the entry points"), draw::picture(&scene.vertex, &machine, &draw, &scene.rules).expect("the entry points"))
    });
    beside::definite(&outcomes.0, &outcomes.1)
}

/// Bugs in the group instructions of the machine.
const BUGS: &[(&str, Bug)] = &[
    ("a sum of what is multiplied", |parts| joins(parts, Core::FMul, Core::FAdd)),
    ("a disjunction for a conjunction", |parts| joins(parts, Core::LogicalAnd, Core::LogicalOr)),
    ("an inclusive scan for an exclusive one", |parts| scans(parts, GroupOperation::ExclusiveScan, GroupOperation::InclusiveScan)),
    ("a reduction for a scan", |parts| scans(parts, GroupOperation::InclusiveScan, GroupOperation::Reduce)),
    ("another identity", |parts| parts.groups.iter_mut().for_each(|group| group.identity ^= 1)),
    ("up for down", |parts| ops(parts, Core::GroupNonUniformShuffleUp, Core::GroupNonUniformShuffleDown)),
    ("across for to the side", |parts| ops(parts, Core::GroupNonUniformQuadSwap, Core::GroupNonUniformShuffleXor)),
    ("a broadcast for a swap", |parts| ops(parts, Core::GroupNonUniformQuadSwap, Core::GroupNonUniformQuadBroadcast)),
    ("the first for any", |parts| ops(parts, Core::GroupNonUniformAny, Core::GroupNonUniformElect)),
    ("the last bit for the first", |parts| ops(parts, Core::GroupNonUniformBallotFindLSB, Core::GroupNonUniformBallotFindMSB)),
    ("the first bit for the last", |parts| ops(parts, Core::GroupNonUniformBallotFindMSB, Core::GroupNonUniformBallotFindLSB)),
    ("clusters of any size", |parts| parts.groups.iter_mut().for_each(|group| group.cluster = None)),
];

fn joins(parts: Parts<'_>, from: Core, to: Core) {
    let groups = parts.groups.iter_mut().filter(|group| group.combine == operation::core(from));
    groups.for_each(|group| group.combine = operation::core(to));
}

fn scans(parts: Parts<'_>, from: GroupOperation, to: GroupOperation) {
    parts.groups.iter_mut().filter(|group| group.operation == Some(from)).for_each(|group| group.operation = Some(to));
}

fn ops(parts: Parts<'_>, from: Core, to: Core) {
    parts.groups.iter_mut().filter(|group| group.op == from).for_each(|group| group.op = to);
}

#[test]
fn the_machine_runs_group_instructions_by_quads() {
    let bodies = || QUADS.iter().map(|(body, _)| *body).chain(OTHERS.iter().copied()).chain(BY_QUADS.iter().copied());
    for (body, positions) in bodies().flat_map(|body| [(body, &ALL), (body, &HALF)]) {
        assert_eq!(by_machine(&scene(body, positions), |_| {}), None, "{body}");
    }
    // Only the relation decides whether a ballot must be the same in all lanes of the quad.
    let differs = "%n = OpConvertFToU %uint %cx %s = OpCompositeConstruct %u4 %n %c1 %c0 %c0
        %q = OpGroupNonUniformInverseBallot %bool %sub %s %r = OpSelect %float %q %f1 %f2";
    let (differs, wrong) = (scene(differs, &ALL), "an operand that may differ");
    let left = by_machine(&differs, |_| {}).expect("the machine does not show it");
    assert!(left.contains("unsupported"), "{left}");
    let shown = by_machine(&differs, |parts| parts.groups.iter_mut().for_each(|group| group.uniform_operand = None));
    assert!(shown.is_some_and(|shown| shown != left), "{wrong} is not seen");
    for (what, bug) in BUGS {
        assert!(bodies().any(|body| by_machine(&scene(body, &ALL), *bug).is_some()), "{what} is not seen");
    }
}

#[test]
fn who_was_discarded_gives_an_undefined_value() {
    let body = "%left = OpFOrdLessThan %bool %cx %f1 OpSelectionMerge %m None OpBranchConditional %left %y %m %y = OpLabel OpKill
        %m = OpLabel %r = OpGroupNonUniformQuadSwap %float %sub %cx %c0";
    let observation = by(&scene(body, &ALL), Some(8));
    assert!(matches!(component(&observation, 1, 0), Component::Undefined(_)), "{:?}", component(&observation, 1, 0));
    assert_eq!(component(&observation, 2, 0), Component::Exactly(3.5f32.to_bits().into()));
}

/// Bodies whose result depends on more than the quad.
const OTHERS: &[&str] = &[
    "%q = OpGroupNonUniformElect %bool %sub %r = OpSelect %float %q %f1 %f2",
    "%b = OpFOrdLessThan %bool %cx %f4 %q = OpGroupNonUniformAny %bool %sub %b %r = OpSelect %float %q %f1 %f2",
    "%r = OpGroupNonUniformFMax %float %sub Reduce %cx",
    "%r = OpGroupNonUniformBroadcastFirst %float %sub %cx",
    "%r = OpGroupNonUniformBroadcast %float %sub %cx %c300",
    "%n = OpLoad %uint %own %r = OpConvertUToF %float %n",
];

/// Why a component is not decided. `None` if it is decided.
fn why(observation: &DrawObservation, x: u32, y: u32) -> Option<Why> {
    match component(observation, x, y) {
        Component::Undecided(why) => Some(why),
        _ => None,
    }
}

#[test]
fn what_depends_on_more_than_the_quad_is_open() {
    for body in OTHERS {
        // If such a value is a condition, the selected value depends on control flow.
        let why = why(&by(&scene(body, &ALL), Some(8)), 3, 3);
        assert!(matches!(why, Some(Why::SubgroupMapping | Why::Control)), "{body}: {why:?}");
    }
    let size = scene("%n = OpLoad %uint %size %r = OpConvertUToF %float %n", &ALL);
    assert_eq!(component(&by(&size, Some(8)), 3, 3), Component::Exactly(8f32.to_bits().into()));
    assert_eq!(why(&by(&size, None), 3, 3), Some(Why::SubgroupSize));
    // For a vertex not even the quad is known.
    for op in ["QuadSwap %float %sub %x %c0", "BroadcastFirst %float %sub %x"] {
        let body = format!(
            "%x = OpCompositeExtract %float %p 0 %s = OpGroupNonUniform{op} %w = OpCompositeConstruct %v4 %s %s %s %s OpStore %v %w"
        );
        let vertex = grouping(&vertex_text("", "", "%sub = OpConstant %uint 3", &body));
        let scene = Scene::new(vertex, fragment("", "", "", "%c = OpLoad %v4 %in OpStore %out %c"), &ALL);
        // The component is interpolated from open values.
        assert!(why(&by(&scene, Some(8)), 3, 3).is_some(), "{op}");
    }
}

#[test]
fn a_quad_has_four_invocations() {
    let scene = scene(QUADS[0].0, &ALL);
    let outcome = scene.with(|draw| {
        let mut draw = draw.clone();
        draw.resources.subgroup_size = Some(2);
        draw::run(&scene.vertex, &scene.fragment, &draw, &scene.relation, &mut ()).expect("the entry points are there")
    });
    assert!(matches!(&outcome, Outcome::Unsupported(what) if what.contains("a quad has four")), "{outcome:?}");
}

/// A planted rule for votes. It takes the quad for the whole tangle on every device.
fn quads_vote<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    fn resumed<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
        match group::group_vote(env, config)? {
            Next::Joins(Join { resume, .. }) => {
                let mut known = tangle.clone();
                known.mapping = Mapping::Known;
                resume(env, config, &known)
            }
            other => Some(other),
        }
    }
    match group::group_vote(env, config)? {
        Next::Joins(join) => Some(Next::Joins(Join { resume: resumed, ..join })),
        other => Some(other),
    }
}

#[test]
fn planted_bugs_are_seen() {
    for bug in bugs::BUGS.iter().filter(|bug| bug.rule == Rule::SpirvGroupQuad) {
        let wrong = |body: &str| {
            let mut scene = scene(body, &ALL);
            scene.relation.rules = Rules::standard().replace(bug.rule, bug.function);
            scene
        };
        assert!(QUADS.iter().any(|(body, at)| !shows(&wrong(body), *at)), "{}", bug.name);
    }
    let mut scene = scene(OTHERS[1], &ALL);
    scene.relation.rules = Rules::standard().replace(Rule::SpirvGroupVote, quads_vote);
    assert_eq!(why(&by(&scene, Some(8)), 3, 3), None, "a quad that votes alone is seen");
}

//! Dispatches over sets: intervals worked out by hand, and dispatches that cannot be settled.

use pretty_assertions::assert_eq;
use smallstep_generate::spirv::beside::{self, Components};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::sets::{Exploration, Rules, Set, Span};
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{BoundedFloat, Dispatch, Limits, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Acceptance, Judged, Report};
use smallstep_semantics::spirv::lockstep::Program;
use smallstep_semantics::spirv::words::Instruction;
use smallstep_semantics::spirv::{Buffer, Module, Options, Relation, assemble};

/// All that [`Profile::Strict`] asks for. NoContraction decorates %q1 to %q9, the arithmetic
/// results of all bodies.
pub(super) const STRICT: [&str; 2] = [
    "OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve",
    "OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32",
];

/// A module whose buffer %buf of floats is also the buffer %bits of words, with workgroups of
/// `size` invocations.
pub(super) fn module(controls: [&str; 2], size: u32, body: &str) -> Module {
    loaded(&module_text(controls, size, body))
}

pub(super) fn module_text(controls: [&str; 2], size: u32, body: &str) -> String {
    let named = |q: &u32| body.contains(&format!("%q{q} ="));
    let decorations: String = if controls == STRICT {
        (1..10).filter(named).map(|q| format!("OpDecorate %q{q} NoContraction ")).collect()
    } else {
        String::new()
    };
    format!(
        "; Version: 1.4
        OpCapability Shader {} %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %lix %buf %bits %shared OpExecutionMode %main LocalSize {size} 1 1 {}
        {decorations}
        OpDecorate %lix BuiltIn LocalInvocationIndex
        OpDecorate %floats ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %words ArrayStride 4 OpDecorate %other Block OpMemberDecorate %other 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0 OpDecorate %buf Aliased
        OpDecorate %bits DescriptorSet 0 OpDecorate %bits Binding 0 OpDecorate %bits Aliased
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1
        %modf = OpTypeStruct %float %float %frexp = OpTypeStruct %float %int
        %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3 %c4 = OpConstant %uint 4
        %c264 = OpConstant %uint 264
        %zero = OpConstant %float 0 %one = OpConstant %float 1 %two = OpConstant %float 2 %half = OpConstant %float 0.5 %seven = OpConstant %float 7
        %edge = OpConstant %float 0.4794 %far = OpConstant %float 0.4 %tenth = OpConstant %float 0.1 %three = OpConstant %float 3
        %hundred = OpConstant %float 100 %minus = OpConstant %float -0.0
        %v2 = OpTypeVector %float 2 %floats = OpTypeRuntimeArray %float %block = OpTypeStruct %floats %pblock = OpTypePointer StorageBuffer %block
        %words = OpTypeRuntimeArray %uint %other = OpTypeStruct %words %pother = OpTypePointer StorageBuffer %other
        %buf = OpVariable %pblock StorageBuffer %bits = OpVariable %pother StorageBuffer
        %pf = OpTypePointer StorageBuffer %float %pu = OpTypePointer StorageBuffer %uint
        %wf = OpTypePointer Workgroup %float %shared = OpVariable %wf Workgroup %pin = OpTypePointer Input %uint %lix = OpVariable %pin Input
        %main = OpFunction %void None %fn %entry = OpLabel
        %p0 = OpAccessChain %pf %buf %c0 %c0 %p1 = OpAccessChain %pf %buf %c0 %c1 %p2 = OpAccessChain %pf %buf %c0 %c2
        %p3 = OpAccessChain %pf %buf %c0 %c3 %b0 = OpAccessChain %pu %bits %c0 %c0 %b1 = OpAccessChain %pu %bits %c0 %c1
        %i = OpLoad %uint %lix %pi = OpAccessChain %pf %buf %c0 %i
        {body} OpReturn OpFunctionEnd",
        controls[0], controls[1],
    )
}

pub(super) fn loaded(text: &str) -> Module {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub(super) fn explored_by(module: &Module, rules: Rules) -> (Report, Acceptance) {
    let bytes = [0u32; 16].iter().flat_map(|w| w.to_le_bytes()).collect();
    let buffers = [Buffer { set: 0, binding: 0, bytes }];
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let dispatch = Dispatch { entry: "main", groups: [1; 3], resources: Resources::of_buffers(&buffers), limits };
    let relation = Relation::default();
    let shown = grid::report(module, &dispatch, &Schedule::default(), &relation, false, &mut ()).expect("main is there");
    assert!(matches!(shown.outcome, Outcome::Observed(_)), "{:?}", shown.outcome);
    let profile = module.profile(&module.entry_points()[0]);
    let exploration = Exploration { rules, ..Exploration::under(profile) };
    let acceptance = grid::explore(module, &dispatch, &shown, &relation, exploration).expect("main is there");
    // An instruction with two results, one of which may be an integer, may be open. The machine
    // then leaves the dispatch to the relation.
    let is_left = acceptance.unsettled.is_some() || module.instructions().iter().any(|i| i.is(Op::ExtInst) && two_results(module, i));
    let judged = judged_alike(module, &dispatch, exploration, (&shown, &acceptance));
    assert!(judged.is_some() || is_left, "{acceptance:?}");
    // The definite value is always a member.
    for word in &acceptance.words {
        let observation = shown.outcome.observed().expect("it is observed");
        let bytes = &observation.buffers[word.buffer].bytes[word.offset as usize..][..4];
        let bits = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        assert_eq!(word.expected.admits(bits), Some(true), "{word:?} without {bits:#x}");
    }
    (shown, acceptance)
}

fn two_results(module: &Module, i: &Instruction) -> bool {
    const MODF_TO_FREXP_STRUCT: std::ops::RangeInclusive<u32> = 35..=36;
    const FREXP: std::ops::RangeInclusive<u32> = 51..=52;
    let number = i.operands(module.words())[1];
    MODF_TO_FREXP_STRUCT.contains(&number) || FREXP.contains(&number)
}

/// The machine's result over sets, which must be the same as the relation's. `None` if the machine
/// does not judge the dispatch.
pub(super) fn judged_alike(
    module: &Module,
    dispatch: &Dispatch<'_>,
    exploration: Exploration,
    by_relation: (&Report, &Acceptance),
) -> Option<Judged> {
    let program = Program::compile(module, dispatch.entry).ok()?;
    let judged = grid::judge(module, &program, dispatch, &Relation::default(), exploration).expect("main is there")?;
    assert_eq!(differs(by_relation, &judged), None, "{judged:?}, not {:?}", by_relation.1);
    Some(judged)
}

/// The first difference between the machine and the relation over sets.
pub(super) fn differs(by_relation: (&Report, &Acceptance), judged: &Judged) -> Option<String> {
    let shown = by_relation.0.outcome.observed().expect("it is observed");
    match judged.report.outcome.observed() {
        Some(observed) => {
            assert_eq!(judged.acceptance.unsettled, None);
            beside::dispatched((shown, by_relation.1), (observed, &judged.acceptance), &mut Components::default())
        }
        None => Some(format!("{:?}", judged.report.outcome)),
    }
}

fn explored(controls: [&str; 2], size: u32, body: &str) -> Acceptance {
    explored_by(&module(controls, size, body), Rules::default()).1
}

/// The set of each open word, by the number of the word.
#[track_caller]
pub(super) fn sets(acceptance: &Acceptance) -> Vec<(u64, Set)> {
    assert_eq!(acceptance.unsettled, None);
    acceptance.words.iter().map(|w| (w.offset / 4, w.expected.set().expect("a word that is decided has a set"))).collect()
}

pub(super) fn point(x: f32) -> Set {
    Set::point(x.into())
}

/// %q1 is sin(0.5) = 0.479425538604203.
pub(super) const SINE: &str = "%q1 = OpExtInst %float %glsl Sin %half ";

pub(super) fn branch(condition: &str, then: &str) -> String {
    format!(
        "OpSelectionMerge %merge None OpBranchConditional {condition} %then %merge %then = OpLabel {then} OpBranch %merge %merge = OpLabel "
    )
}

#[test]
fn a_sine_has_an_absolute_error() {
    let acceptance = explored(STRICT, 1, &format!("{SINE} OpStore %p0 %q1 OpStore %p1 %half"));
    let (sine, error) = (0.479_425_538_604_203_f64, 1.0 / 2048.0);
    let [(0, set)] = sets(&acceptance)[..] else { panic!("{acceptance:?}") };
    let [Span { low, high }] = *set.spans() else { panic!("{set}") };
    // The ends are the outermost floats within the error.
    let ulp = 1.0 / f64::from(1u32 << 25);
    assert!(sine - error <= low && low < sine - error + ulp, "{set}");
    assert!(sine + error - ulp < high && high <= sine + error, "{set}");
    assert_eq!((acceptance.ways, &acceptance.doubtful[..]), (1, &[][..]));
    let admits = |x: f32| acceptance.words[0].expected.admits(x.to_bits());
    assert_eq!(
        [high as f32, (high as f32).next_up(), low as f32, (low as f32).next_down()].map(admits),
        [true, false, true, false].map(Some)
    );
}

#[test]
fn memory_keeps_which_value_it_is() {
    let difference = "%x = OpLoad %float %p0 %y = OpLoad %float %p0 %q2 = OpFSub %float %x %y OpStore %p1 %q2";
    let of_memory = sets(&explored(STRICT, 1, &format!("{SINE} OpStore %p0 %q1 {difference}")));
    assert_eq!(of_memory[1], (1, point(0.0)));
    // Two evaluations may differ.
    let of_two =
        sets(&explored(STRICT, 1, &format!("{SINE} %q3 = OpExtInst %float %glsl Sin %half %q2 = OpFSub %float %q1 %q3 OpStore %p1 %q2")));
    assert!(of_two[0].1.hull().is_some_and(|hull| hull.low == -hull.high && hull.high > 9e-4), "{of_two:?}");
    // Another invocation reads the value behind a barrier.
    let body = format!(
        "{SINE} OpStore %shared %q1 OpControlBarrier %c2 %c2 %c264 %x = OpLoad %float %shared %y = OpLoad %float %shared
         %q2 = OpFSub %float %x %y OpStore %pi %q2"
    );
    // If both invocations wrote, they would race.
    let one = body.replace("OpStore %shared %q1", "%is = OpIEqual %bool %i %c0 OpSelectionMerge %e None OpBranchConditional %is %f %e %f = OpLabel OpStore %shared %q1 OpBranch %e %e = OpLabel");
    let acceptance = explored(STRICT, 2, &one);
    assert_eq!((sets(&acceptance), acceptance.ways), (vec![(0, point(0.0)), (1, point(0.0))], 1));
    // An integer with the same bits keeps the set. An integer that is computed from it is
    // any value.
    let copied = explored(
        STRICT,
        1,
        &format!("{SINE} OpStore %p0 %q1 %u = OpLoad %uint %b0 OpStore %b1 %u %v = OpIAdd %uint %u %c1 OpStore %b0 %v"),
    );
    assert_eq!(copied.words.iter().map(|w| w.offset).collect::<Vec<_>>(), [4]);
    assert_eq!(copied.doubtful.iter().map(|d| (d.start, d.end)).collect::<Vec<_>>(), [(0, 4)]);
}

#[test]
fn each_invocation_goes_its_own_ways() {
    let chosen = "%less = OpFOrdLessThan %bool %q1 %edge %x = OpSelect %float %less %one %two OpStore %pi %x";
    let acceptance = explored(STRICT, 8, &format!("{SINE} {chosen}"));
    let both = point(1.0).union(point(2.0));
    assert_eq!((sets(&acceptance), acceptance.ways), ((0..8).map(|i| (i, both)).collect(), 16));
    // The word 3 is written on one way only. The definite values take the other way.
    let body = format!("{SINE} %less = OpFOrdLessThan %bool %q1 %edge {}", branch("%less", "OpStore %p3 %seven"));
    let (shown, acceptance) = explored_by(&module(STRICT, 1, &body), Rules::default());
    assert_eq!((&shown.doubtful[..], shown.control_in_doubt), (&[][..], true));
    assert_eq!(sets(&acceptance), [(3, point(0.0).union(point(7.0)))]);
    // A comparison with a number further away is decided.
    let far = explored(STRICT, 1, &body.replace("%edge", "%far"));
    assert_eq!((sets(&far), far.ways), (vec![], 1));
    // A value that both ways write alike is decided.
    let alike = explored(STRICT, 1, &format!("{body} OpStore %p2 %three"));
    assert_eq!(sets(&alike), [(2, point(3.0)), (3, point(0.0).union(point(7.0)))]);
}

#[test]
fn what_cannot_be_settled_says_why() {
    let less = format!("{SINE} %less = OpFOrdLessThan %bool %q1 %edge OpStore %p0 %q1");
    let atomic = "%old = OpAtomicIAdd %uint %b1 %c1 %c0 %c1";
    // The whole part of 10000 times a sine may be one of several.
    let several = "%q2 = OpFMul %float %q1 %hundred %q3 = OpFMul %float %q2 %hundred %n = OpConvertFToU %uint %q3";
    let index: &str = &format!("{several} %odd = OpBitwiseAnd %uint %n %c1 %pn = OpAccessChain %pf %buf %c0 %odd OpStore %pn %one");
    let divides: &str = &format!("{several} %m = OpUDiv %uint %c4 %n");
    // Beyond π a sine may be anything.
    let converts = "%q2 = OpExtInst %float %glsl Sin %hundred %n = OpConvertFToU %uint %q2";
    let loops =
        "OpBranch %head %head = OpLabel OpLoopMerge %done %next None OpBranchConditional %less %next %done %next = OpLabel OpBranch %head
                 %done = OpLabel";
    let unwritten = branch("%less", "OpUnreachable").replace("OpUnreachable OpBranch %merge", "OpUnreachable");
    let cases = [
        (atomic, "it has atomics"),
        (index, "OpAccessChain by a value that may be several"),
        (divides, "OpUDiv of a value that may be several"),
        (converts, "OpConvertFToU of a value that may be several"),
        (loops, "a way through its branches ends as out of fuel"),
        (&unwritten, "a way through its branches ends as undefined"),
    ];
    for (body, why) in cases {
        let acceptance = explored(STRICT, 1, &format!("{less} {body}"));
        let told = acceptance.unsettled.map(|why| why.to_string()).unwrap_or_default();
        assert!(told.contains(why), "{body}: {told:?}");
        assert!(acceptance.words.is_empty() && !acceptance.doubtful.is_empty(), "{body}");
    }
    // The whole part of three times the sine is 1.
    let one = "%q2 = OpFMul %float %q1 %three %n = OpConvertFToU %uint %q2 %m = OpUDiv %uint %c4 %n";
    assert_eq!(explored(STRICT, 1, &format!("{less} {one}")).unsettled, None);
    // By definite values, invocation 1 does not take the way on which it writes the word of
    // invocation 0.
    let conflict = format!(
        "%is = OpIEqual %bool %i %c1 {less0} %both = OpLogicalAnd %bool %is %less {} OpStore %pi %one",
        branch("%both", "OpStore %p0 %two"),
        less0 = less.replace("OpStore %p0 %q1", "")
    );
    let told = explored(STRICT, 2, &conflict).unsettled.map(|why| why.to_string());
    assert_eq!(told.as_deref(), Some("invocations that access the same memory on some ways through their branches"));
    // One invocation has more than 64 ways.
    let many: String = (0..7)
        .map(|n| format!("%s{n} = OpExtInst %float %glsl Sin %half %l{n} = OpFOrdLessThan %bool %s{n} %edge %x{n} = OpSelect %float %l{n} %one %two OpStore %p0 %x{n} "))
        .collect();
    let strict = many.replace("%s", "%q").replace("%q0", "%q8");
    let told = explored(STRICT, 1, &strict).unsettled.map(|why| why.to_string()).unwrap_or_default();
    assert!(told.starts_with("a branch on OpFOrdLessThan of [") && told.ends_with("64 paths explored"), "{told}");
}

/// A zero whose sign is open is a set of both zeros. No way is followed for it.
#[test]
fn a_zero_of_unknown_sign_is_either_zero() {
    let body = "%q1 = OpExtInst %float %glsl FMax %zero %minus OpStore %p0 %q1 %q2 = OpFMul %float %zero %minus OpStore %p1 %q2";
    let acceptance = explored(STRICT, 1, body);
    // The greater of 0 and -0 may be either. The sign of a product is definite.
    assert_eq!(sets(&acceptance), [(0, Set::ZERO)]);
    assert_eq!(
        (acceptance.ways, [0, 1 << 31, 1].map(|bits| acceptance.words[0].expected.admits(bits))),
        (0, [true, true, false].map(Some))
    );
}

/// A float that another dispatch left as a set is one value for all loads.
#[test]
fn what_is_given_as_a_set_is_one_value() {
    let body = "%x = OpLoad %float %p0 %y = OpLoad %float %p0 %q1 = OpFSub %float %x %y OpStore %p1 %q1 %q2 = OpFMul %float %x %two OpStore %p2 %q2
        %p4 = OpAccessChain %pf %buf %c0 %c4 %z = OpLoad %float %p4 OpStore %p4 %three %w = OpLoad %float %p4 OpStore %p4 %z OpStore %p4 %w";
    let module = module(STRICT, 1, body);
    let bytes = [0.5f32, 0.0, 0.0, 0.75, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffers = [Buffer { set: 0, binding: 0, bytes }];
    let of = |low: f64, high: f64| Set::of(Span { low, high });
    let bounded =
        [(0, of(0.25, 0.5)), (12, of(0.75, 1.0)), (16, of(0.25, 0.5))].map(|(offset, allowed)| BoundedFloat { buffer: 0, offset, allowed });
    let resources = Resources { bounded: &bounded, ..Resources::of_buffers(&buffers) };
    let dispatch = Dispatch { entry: "main", groups: [1; 3], resources, limits: Limits { instructions: 1_000, ..Limits::default() } };
    let shown = grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there");
    assert_eq!(shown.doubtful.iter().map(|d| d.start).collect::<Vec<_>>(), [0, 4, 8, 12]);
    let exploration = Exploration::under(Profile::Strict);
    let acceptance = grid::explore(&module, &dispatch, &shown, &Relation::default(), exploration).expect("main is there");
    let judged = judged_alike(&module, &dispatch, exploration, (&shown, &acceptance)).expect("the machine tells it");
    assert_eq!((judged.written, sets(&judged.acceptance)), (vec![(0, 4), (0, 8), (0, 16)], sets(&acceptance)));
    assert_eq!(sets(&acceptance), [(0, of(0.25, 0.5)), (1, point(0.0)), (2, of(0.5, 1.0)), (3, of(0.75, 1.0))]);
}

#[test]
fn without_controls_what_is_rewritten_stays_within() {
    // 0.1 · 3 + 7, fused or not, rounded up or down.
    let body = "%q1 = OpFMul %float %tenth %three OpStore %p0 %q1 %q2 = OpFAdd %float %q1 %seven OpStore %p1 %q2 %q3 = OpFMul %float %two %three OpStore %p2 %q3";
    let module = module([""; 2], 1, body);
    assert_eq!(module.profile(&module.entry_points()[0]), Profile::VulkanDefault);
    let (shown, acceptance) = explored_by(&module, Rules::default());
    assert_eq!(shown.doubtful.iter().map(|d| d.start).collect::<Vec<_>>(), [0, 4]);
    let sets = sets(&acceptance);
    let product = 0.1f32 * 3.0;
    for x in [product, product.next_up(), product.next_down()] {
        let exact = f64::from(0.1f32) * 3.0;
        let near = (f64::from(x) - exact).abs() < f64::from(product.next_up() - product);
        assert!(!near || sets[0].1.contains(x.into()), "{x} {sets:?}");
    }
    for x in [product + 7.0, 0.1f32.mul_add(3.0, 7.0)] {
        assert!(sets[1].1.contains(x.into()), "{x} {sets:?}");
    }
    assert!(!sets[1].1.contains((product + 7.0 + 1e-5).into()));
    // With float controls both are decided.
    assert_eq!(explored(STRICT, 1, body), Acceptance::default());
}

/// A vector times a number is bounded by component. The set of one component says nothing
/// of another.
#[test]
fn a_vector_times_a_number_is_bounded_by_component() {
    let body = "%q1 = OpFMul %float %tenth %three %q2 = OpFDiv %float %one %zero %v = OpCompositeConstruct %v2 %q1 %q2
         %w = OpVectorTimesScalar %v2 %v %seven %x = OpCompositeExtract %float %w 0 %y = OpCompositeExtract %float %w 1
         OpStore %p0 %x OpStore %p1 %y %q3 = OpFMul %float %q1 %seven OpStore %p2 %q3";
    let acceptance = explored([""; 2], 1, body);
    let set = |word: u64| acceptance.words.iter().find(|w| w.offset == 4 * word).and_then(|w| w.expected.set());
    let bounded = set(2).expect("a product of numbers is bounded");
    assert_eq!((set(0), set(1)), (Some(bounded), None), "{acceptance:?}");
}

/// A remainder of vectors is bounded by component. A difference from one component has the error of
/// that component's operands, not that of a greater component.
#[test]
fn a_remainder_of_vectors_is_bounded_by_component() {
    let body = "%q1 = OpFRem %float %tenth %three %q2 = OpFSub %float %q1 %one OpStore %p0 %q2
         %v = OpCompositeConstruct %v2 %tenth %seven %w = OpCompositeConstruct %v2 %three %seven
         %r = OpFRem %v2 %v %w %x = OpCompositeExtract %float %r 0 %q3 = OpFSub %float %x %one OpStore %p1 %q3";
    let sets = sets(&explored([""; 2], 1, body));
    assert_eq!((sets[0].0, sets[1].0), (0, 1));
    assert_eq!(sets[0].1, sets[1].1);
}

/// A function of vectors is bounded by component. If one component is any value, another one keeps
/// its set.
#[test]
fn a_function_of_vectors_is_bounded_by_component() {
    for function in ["Pow", "FMin", "Atan2"] {
        let body = format!(
            "%q1 = OpFMul %float %tenth %three %q2 = OpFDiv %float %one %zero %q3 = OpExtInst %float %glsl {function} %q1 %two OpStore %p0 %q3
             %v = OpCompositeConstruct %v2 %q1 %q2 %w = OpCompositeConstruct %v2 %two %q2
             %x = OpExtInst %v2 %glsl {function} %v %w %y = OpCompositeExtract %float %x 0 OpStore %p1 %y"
        );
        let acceptance = explored([""; 2], 1, &body);
        let set = |word: u64| acceptance.words.iter().find(|w| w.offset == 4 * word).and_then(|w| w.expected.set());
        assert!(set(0).is_some() && set(0) == set(1), "{function}: {acceptance:?}");
    }
}

/// A value that is the same on every device is decided by definite values alone. It has no set.
#[test]
fn without_controls_what_is_exact_is_decided() {
    let cases = [
        "%q1 = OpExtInst %float %glsl NMin %two %seven OpStore %p0 %q1 %q2 = OpExtInst %float %glsl NClamp %seven %one %two OpStore %p1 %q2",
        "%q1 = OpExtInst %float %glsl Ldexp %seven %c3 OpStore %p0 %q1",
        "%m = OpExtInst %frexp %glsl FrexpStruct %seven %f = OpCompositeExtract %float %m 0 %e = OpCompositeExtract %int %m 1
         %u = OpBitcast %uint %e OpStore %p0 %f OpStore %b1 %u",
        "%m = OpExtInst %modf %glsl ModfStruct %seven %f = OpCompositeExtract %float %m 0 %w = OpCompositeExtract %float %m 1
         %a = OpFAdd %float %f %w OpStore %p0 %w OpStore %p1 %a",
        "%n = OpBitcast %int %i %u = OpBitcast %uint %n %v = OpIAdd %uint %u %c1 OpStore %b0 %v",
        "%n = OpExtInst %float %glsl NMin %two %seven %k = OpIsNan %bool %n %s = OpSelect %float %k %one %two OpStore %p0 %s",
    ];
    for body in cases {
        assert_eq!(explored([""; 2], 1, body), Acceptance::default(), "{body}");
        assert_eq!(explored(STRICT, 1, body), Acceptance::default(), "{body}");
    }
    // Near-misses: a zero that may lose its sign, and a subnormal number.
    let open = |body: &str| explored([""; 2], 1, body).doubtful.iter().map(|d| d.start).collect::<Vec<_>>();
    for zero in ["%zero", "%minus"] {
        assert_eq!(open(&format!("%u = OpBitcast %uint {zero} OpStore %b0 %u")), [0], "{zero}");
    }
    let tiny = "%u = OpISub %uint %c0 %c264 %q1 = OpExtInst %float %glsl Ldexp %seven %u OpStore %p0 %q1";
    assert_eq!(open(tiny), [0]);
    // With an open operand, NMin chooses as FMin does.
    let of = |function: &str| {
        let body = format!("%q1 = OpFMul %float %tenth %three %q2 = OpExtInst %float %glsl {function} %q1 %seven OpStore %p0 %q2");
        sets(&explored([""; 2], 1, &body))
    };
    assert_eq!(of("NMin"), of("FMin"));
    assert!(of("NMin")[0].1.contains((0.1f32 * 3.0).into()));
    assert_eq!([of("NMax"), of("FMax")], [vec![(0, point(7.0))], vec![(0, point(7.0))]]);
}

/// 7·sin(0.5) is 3.356, with an error of at most 7·2^-11.
#[test]
fn modf_and_frexp_give_two_sets() {
    let seven = format!("{SINE} %q2 = OpFMul %float %q1 %seven ");
    let modf = [
        "%q3 = OpExtInst %float %glsl Modf %q2 %shared %w = OpLoad %float %shared OpStore %p0 %q3 OpStore %p1 %w",
        "%m = OpExtInst %modf %glsl ModfStruct %q2 %f = OpCompositeExtract %float %m 0 %w = OpCompositeExtract %float %m 1 OpStore %p0 %f OpStore %p1 %w",
    ];
    for body in modf {
        let all = sets(&explored(STRICT, 1, &format!("{seven} {body}")));
        let [(0, fraction), (1, whole)] = all[..] else { panic!("{all:?}") };
        assert!(fraction.contains(0.356) && fraction.hull().is_some_and(|h| 0.35 < h.low && h.high < 0.3595), "{fraction}");
        assert_eq!(whole, point(3.0));
    }
    let frexp = "%m = OpExtInst %frexp %glsl FrexpStruct %q2 %s = OpCompositeExtract %float %m 0 %e = OpCompositeExtract %int %m 1
        %x = OpConvertSToF %float %e OpStore %p0 %s OpStore %p1 %x";
    let acceptance = explored(STRICT, 1, &format!("{seven} {frexp}"));
    let words = acceptance.words.iter().map(|w| (w.offset / 4, w.expected.set().expect("a set"))).collect::<Vec<_>>();
    let (0, significand) = words[0] else { panic!("{acceptance:?}") };
    assert!(significand.contains(0.839) && significand.hull().is_some_and(|h| 0.8375 < h.low && h.high < 0.84), "{significand}");
    // All numbers of the set have the exponent 2.
    assert_eq!((words.get(1), &acceptance.doubtful[..]), (Some(&(1, point(2.0))), &[][..]));
    // No power of two lies between 3.35 and 3.36. If a set goes past a power of two, the exponent
    // stays open.
    let wide = "%q3 = OpExtInst %float %glsl Sin %half %q4 = OpFAdd %float %q3 %q3 %q5 = OpFDiv %float %q4 %q1 %m = OpExtInst %frexp %glsl FrexpStruct %q5
        %e = OpCompositeExtract %int %m 1 %x = OpConvertSToF %float %e OpStore %p0 %x";
    let acceptance = explored(STRICT, 1, &format!("{SINE} {wide}"));
    assert_eq!((acceptance.words.len(), acceptance.doubtful.len()), (0, 1), "{acceptance:?}");
}

#[test]
fn a_planted_rule_of_sets_shows() {
    let module = module(STRICT, 1, &format!("{SINE} OpStore %p0 %q1"));
    let narrow = Rules { allowed: |_, _, _| Some(smallvec::smallvec![point(0.25)]), ..Rules::default() };
    let bytes = vec![0; 64];
    let buffers = [Buffer { set: 0, binding: 0, bytes }];
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let dispatch = Dispatch { entry: "main", groups: [1; 3], resources: Resources::of_buffers(&buffers), limits };
    let shown = grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there");
    let exploration = Exploration { rules: narrow, ..Exploration::under(Profile::Strict) };
    let acceptance = grid::explore(&module, &dispatch, &shown, &Relation::default(), exploration).expect("main is there");
    assert_eq!(acceptance.words.iter().map(|w| w.expected).collect::<Vec<_>>(), [Expected::Bits(0.25f32.to_bits())]);
}

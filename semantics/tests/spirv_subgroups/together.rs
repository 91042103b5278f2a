//! Which invocations execute a group instruction together, and what is known of that.

use pretty_assertions::assert_eq;
use smallstep_semantics::number::sets::Exploration;
use smallstep_semantics::number::{Expected, Profile};

use super::*;

/// Counts the invocations that execute it together. A body computes %r by it, and each invocation
/// stores %r.
const COUNT: &str = "OpGroupNonUniformIAdd %uint %c3 Reduce %c1";

/// A selection on whether %i is below `below`, with `inside` and `elsewhere` as its two paths, and
/// a merge block.
fn selection(name: &str, below: u32, inside: &str, elsewhere: &str) -> String {
    format!(
        "%is{name} = OpULessThan %bool %i %c{below} OpSelectionMerge %m{name} None OpBranchConditional %is{name} %y{name} %n{name}
        %y{name} = OpLabel {inside} OpBranch %m{name} %n{name} = OpLabel {elsewhere} OpBranch %m{name} %m{name} = OpLabel "
    )
}

fn shown(body: &str) -> Vec<Word> {
    words_of(&of_body(8, body, &[0; 8], Some(8)))
}

fn repeated(counts: &[(usize, Word)]) -> Vec<Word> {
    counts.iter().flat_map(|&(count, word)| std::iter::repeat_n(word, count)).collect()
}

#[test]
fn invocations_that_took_one_path_are_together() {
    let body = OWN.to_string() + &selection("a", 3, &format!("%r1 = {COUNT} OpStore %p %r1"), &format!("%r2 = {COUNT} OpStore %p %r2"));
    assert_eq!(shown(&body), repeated(&[(3, Word::Is(3)), (5, Word::Is(5))]));
}

#[test]
fn where_the_subgroup_is_together_before_a_construct_it_is_after_it() {
    let body = format!("{OWN} {} %r = {COUNT} {STORE}", selection("a", 3, "", ""));
    assert_eq!(shown(&body), vec![Word::Is(8); 8]);
    // A loop in which each invocation runs as many iterations as its number.
    let loops = "OpBranch %h %h = OpLabel %k = OpPhi %uint %c0 %entry %k1 %next OpLoopMerge %out %next None OpBranch %b
        %b = OpLabel %more = OpULessThan %bool %k %i OpBranchConditional %more %next %out
        %next = OpLabel %k1 = OpIAdd %uint %k %c1 OpBranch %h %out = OpLabel ";
    assert_eq!(shown(&format!("{OWN} {loops} %r = {COUNT} {STORE}")), vec![Word::Is(8); 8]);
}

#[test]
fn iterations_are_told_apart() {
    let body = format!(
        "{OWN} OpBranch %h %h = OpLabel %k = OpPhi %uint %c0 %entry %k1 %next %s = OpPhi %uint %c0 %entry %s1 %next
        OpLoopMerge %out %next None OpBranch %b
        %b = OpLabel %more = OpULessThan %bool %k %i OpBranchConditional %more %next %out
        %next = OpLabel %n = {COUNT} %s1 = OpIAdd %uint %s %n %k1 = OpIAdd %uint %k %c1 OpBranch %h
        %out = OpLabel OpStore %p %s"
    );
    // The 7 - k invocations with greater numbers execute iteration k.
    let expected: Vec<Word> = (0..8u32).map(|i| Word::Is((0..i).map(|k| 7 - k).sum())).collect();
    assert_eq!(shown(&body), expected);
}

#[test]
fn several_paths_within_a_part_of_the_subgroup_are_doubtful_after_their_merge() {
    let inner = selection("b", 1, "", "");
    let body =
        OWN.to_string() + &selection("a", 3, &format!("{inner} %r1 = {COUNT} OpStore %p %r1"), &format!("%r2 = {COUNT} OpStore %p %r2"));
    assert_eq!(shown(&body), repeated(&[(3, Word::Doubtful), (5, Word::Is(5))]));
    let report = of_body(8, &body, &[0; 8], Some(8));
    assert!(report.doubtful.iter().all(|doubtful| doubtful.why == Why::Reconvergence), "{:?}", report.doubtful);
    // After the outer merge the subgroup is together again.
    assert_eq!(shown(&format!("{body} %r = {COUNT} {STORE}")), vec![Word::Is(8); 8]);
}

#[test]
fn a_continue_and_a_break_part_the_subgroup() {
    // The odd invocations skip the rest of the first iteration. In the second, it is not known
    // which ones are together.
    let body = format!(
        "{OWN} %odd = OpBitwiseAnd %uint %i %c1 %isodd = OpIEqual %bool %odd %c1 OpBranch %h
        %h = OpLabel %k = OpPhi %uint %c0 %entry %k1 %next OpLoopMerge %out %next None OpBranch %b
        %b = OpLabel %n = {COUNT} OpStore %p %n OpSelectionMerge %rest None OpBranchConditional %isodd %next %rest
        %rest = OpLabel OpBranch %next
        %next = OpLabel %k1 = OpIAdd %uint %k %c1 %more = OpULessThan %bool %k1 %c2 OpBranchConditional %more %h %out %out = OpLabel"
    );
    assert_eq!(shown(&body), vec![Word::Doubtful; 8]);
    let once = body.replace("OpULessThan %bool %k1 %c2", "OpULessThan %bool %k1 %c1");
    assert_eq!(shown(&once), vec![Word::Is(8); 8]);
}

#[test]
fn those_that_have_returned_are_not_waited_for() {
    let body = format!(
        "{OWN} %is = OpULessThan %bool %i %c3 OpSelectionMerge %m None OpBranchConditional %is %y %m
        %y = OpLabel OpReturn %m = OpLabel %r = {COUNT} {STORE}"
    );
    assert_eq!(shown(&body), repeated(&[(3, Word::Is(0)), (5, Word::Is(5))]));
}

#[test]
fn a_path_through_a_function_counts() {
    let module = |inside: &str| {
        let body = format!("{OWN} %r0 = OpFunctionCall %uint %f %i %n = {COUNT} %r = OpIAdd %uint %n %r0 {STORE}");
        let text = text(8, "%ft = OpTypeFunction %uint %uint", &body);
        let function = format!(
            " %f = OpFunction %uint None %ft %x = OpFunctionParameter %uint %fe = OpLabel %fis = OpULessThan %bool %x %c3
            OpSelectionMerge %fm None OpBranchConditional %fis %fy %fm %fy = OpLabel {inside} %fm = OpLabel OpReturnValue %c0 OpFunctionEnd"
        );
        load(&(text + &function)).unwrap()
    };
    let run = |module: &Module| words_of(&by_engines(module, &[0; 8], Some(8)));
    assert_eq!(run(&module("OpBranch %fm")), vec![Word::Is(8); 8]);
    // Some invocations return earlier.
    assert_eq!(run(&module("OpReturnValue %c0")), vec![Word::Doubtful; 8]);
}

#[test]
fn every_schedule_shows_the_same() {
    let body = OWN.to_string()
        + &selection("a", 3, &format!("%r1 = {COUNT} OpStore %p %r1"), &format!("%r2 = {COUNT} OpStore %p %r2"))
        + "%q = OpGroupNonUniformShuffleXor %uint %c3 %v %c1 OpStore %p %q";
    let module = load(&text(24, "", &body)).unwrap();
    let words: Vec<u32> = (0..24).collect();
    let of = |schedule: &Schedule| words_of(&report(&module, &words, Some(8), schedule, Rules::standard()));
    let first = of(&Schedule::default());
    assert_eq!(first, (0..24u32).map(|i| Word::Is(i ^ 1)).collect::<Vec<_>>());
    for text in ["round-robin", "random 1", "random 2", "random 3"] {
        assert_eq!(of(&text.parse().unwrap()), first, "{text}");
    }
}

#[test]
fn what_differs_between_sizes_is_doubtful() {
    let of = |body: &str, size| of_body(8, &format!("{OWN} {body} {STORE}"), &[0; 8], size);
    let size = of("%r = OpLoad %uint %size", None);
    assert_eq!(words_of(&size), vec![Word::Doubtful; 8]);
    assert!(size.doubtful.iter().all(|doubtful| doubtful.why == Why::SubgroupSize));
    // The count is 8 in all sizes from 8 on, but 4 in size 4.
    assert_eq!(words_of(&of(&format!("%r = {COUNT}"), None)), vec![Word::Doubtful; 8]);
    assert_eq!(words_of(&of("%r = OpGroupNonUniformQuadSwap %uint %c3 %i %c0", None)), (0..8).map(|i| Word::Is(i ^ 1)).collect::<Vec<_>>());
    let lanes = of("%r = OpLoad %uint %lane", None);
    assert_eq!(words_of(&lanes), [vec![0, 1, 2, 3].into_iter().map(Word::Is).collect(), vec![Word::Doubtful; 4]].concat());
    // The possible values of each word are known, unless one size makes it undefined or open.
    let few = |report: &Report| -> Vec<(u64, Vec<u32>)> { report.one_of.iter().map(|one| (one.offset / 4, one.values.clone())).collect() };
    assert_eq!(few(&size), (0..8).map(|word| (word, vec![4, 8, 16, 32, 64])).collect::<Vec<_>>());
    assert_eq!(few(&lanes), (4..8).map(|word| (word, vec![word as u32 - 4, word as u32])).collect::<Vec<_>>());
    for (of_size, at) in [("%c4", 4), ("%c8", 8), ("%c16", 16), ("%c64", 64)] {
        let undefined = format!(
            "%c64 = OpIMul %uint %c16 %c4 %s = OpLoad %uint %size
             %u = OpUndef %uint %is = OpIEqual %bool %s {of_size} %r = OpSelect %uint %is %u %s"
        );
        let report = of(&undefined, None);
        assert_eq!((few(&report), report.doubtful.len()), (vec![], 8), "{at}");
    }
    // Clusters of 8 need subgroups that have 8 invocations.
    assert_eq!(words_of(&of("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %c1 %c8", None)), vec![Word::Is(8); 8]);
    let small = of("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %c1 %c8", Some(4));
    assert!(ending(&small).starts_with("spirv/cluster-size"), "{}", ending(&small));
    // A run whose ending depends on the size is unsupported.
    let ends = format!(
        "%s = OpLoad %uint %size %is = OpIEqual %bool %s %c8 OpSelectionMerge %m None OpBranchConditional %is %y %m
        %y = OpLabel OpUnreachable %m = OpLabel %r = {COUNT}"
    );
    assert_eq!(
        ending(&of(&ends, None)),
        "unsupported: a dispatch whose outcome depends on the size of subgroups, which is not given: observed with 4, \
         undefined[spirv/unreachable] with 8; --subgroup-size N gives it"
    );
    assert!(ending(&of("%r = OpLoad %uint %lane", Some(6))).starts_with("unsupported: subgroups of 6 invocations"));
    assert!(ending(&of("%r = OpLoad %uint %lane", Some(256))).starts_with("unsupported: subgroups of 256 invocations"));
}

#[test]
fn operands_that_must_be_the_same_are() {
    let of = |body: &str| {
        let text = text(8, "", &format!("{OWN} {body} {STORE}"));
        let text =
            text.replacen("OpCapability", "; Version: 1.5\nOpCapability", 1).replace("%lt OpExecutionMode", "%lt %buf OpExecutionMode");
        ending(&by_engines(&load(&text).unwrap(), &[0; 8], Some(4)))
    };
    assert_eq!(of("%n = OpLoad %uint %number %r = OpGroupNonUniformBroadcast %uint %c3 %i %n"), "observed");
    assert!(of("%r = OpGroupNonUniformBroadcast %uint %c3 %i %i").starts_with("spirv/non-uniform-operand: %"));
    assert!(of("%r = OpGroupNonUniformQuadBroadcast %uint %c3 %i %i").starts_with("spirv/non-uniform-operand: %"));
    let inverse =
        "%w = OpCompositeConstruct %u4 %i %i %i %i %q = OpGroupNonUniformInverseBallot %bool %c3 %w %r = OpSelect %uint %q %c1 %c0";
    assert!(of(inverse).starts_with("spirv/non-uniform-operand: %"));
}

#[test]
fn a_barrier_of_the_subgroup_is_passed_by_those_that_are_together() {
    let shared = "%shared = OpVariable %warr Workgroup";
    let body = |barrier: &str, between: &str| {
        format!(
            "%i = OpLoad %uint %lix %p = OpAccessChain %pword %buf %c0 %i %o = OpAccessChain %wv %shared %i OpStore %o %i {barrier}
            %j = OpBitwiseXor %uint %i {between} %q = OpAccessChain %wv %shared %j %r = OpLoad %uint %q {STORE}"
        )
    };
    let run = |barrier: &str, between: &str| {
        let declarations = format!("%arr = OpTypeArray %uint %c8 %warr = OpTypePointer Workgroup %arr {shared}");
        let module = load(&text(8, &declarations, &body(barrier, between))).unwrap();
        by_engines(&module, &[0; 8], Some(4))
    };
    let barrier = "OpControlBarrier %c3 %c3 %acqrel";
    assert_eq!(words_of(&run(barrier, "%c2")), (0..8).map(|i| Word::Is(i ^ 2)).collect::<Vec<_>>());
    // The barrier does not wait for the other subgroup.
    assert!(ending(&run(barrier, "%c4")).starts_with("spirv/data-race"));
    assert!(ending(&run("", "%c2")).starts_with("spirv/data-race"));
    // After several paths in a part of the subgroup, it is not known which invocations are at
    // a barrier.
    let parted = selection("a", 3, &format!("{} {barrier}", selection("b", 1, "", "")), "");
    assert!(ending(&run(&parted, "%c0")).starts_with("unsupported: OpControlBarrier of the scope Subgroup"));
}

#[test]
fn floats_are_combined_in_any_order() {
    let kept = "%i = OpLoad %uint %lix %pf = OpAccessChain %pfloat %fbuf %c0 %i %s = OpLoad %float %pf
        %r = OpGroupNonUniformFAdd %float %c3 OP %s OpStore %pf %r";
    let declarations = "%floats = OpTypeRuntimeArray %float %fblock = OpTypeStruct %floats %pfblock = OpTypePointer StorageBuffer %fblock
        %fbuf = OpVariable %pfblock StorageBuffer %pfloat = OpTypePointer StorageBuffer %float";
    let module = |op: &str| {
        let text = text(4, declarations, &kept.replace("OP", op)).replace(
            "OpDecorate %words",
            "OpDecorate %floats ArrayStride 4 OpDecorate %fblock Block OpMemberDecorate %fblock 0 Offset 0
            OpDecorate %fbuf DescriptorSet 0 OpDecorate %fbuf Binding 0 OpDecorate %words",
        );
        load(&text).unwrap()
    };
    let values = [1e8f32, -1e8, 0.5, 0.25];
    let bits = values.map(f32::to_bits);
    let reduce = module("Reduce");
    let shown = by_engines(&reduce, &bits, Some(4));
    assert_eq!(words_of(&shown), vec![Word::Doubtful; 4]);
    let buffers = [buffer(&bits)];
    let acceptance =
        grid::explore(&reduce, &dispatch(&buffers, Some(4)), &shown, &Relation::default(), Exploration::under(Profile::Strict)).unwrap();
    assert_eq!(acceptance.unsettled, None);
    assert_eq!(acceptance.words.len(), 4);
    // All orders of these four, with the identity anywhere.
    let mut orders = Vec::new();
    permute(&mut values.to_vec(), 0, &mut |values| orders.extend(sums(values)));
    for word in &acceptance.words {
        let Expected::Within(set) = word.expected else { panic!("{:?}", word.expected) };
        assert!(orders.iter().all(|&sum| set.contains(sum.into())), "{set:?} {orders:?}");
        assert!(!set.contains(1e8), "{set:?}");
    }
    assert!(orders.contains(&0.75) && orders.iter().any(|&sum| sum != 0.75));
    // A sum of two terms has one order.
    let scan = words_of(&by_engines(&module("InclusiveScan"), &bits, Some(4)));
    assert_eq!(scan, [Word::Is(bits[0]), Word::Is(0f32.to_bits()), Word::Doubtful, Word::Doubtful]);
    // If every order is exact, nothing is open.
    let exact = words_of(&by_engines(&reduce, &[1.0f32, 2.5, -8.0, 100.0].map(f32::to_bits), Some(4)));
    assert_eq!(exact, vec![Word::Is(95.5f32.to_bits()); 4]);
}

fn permute(values: &mut Vec<f32>, from: usize, show: &mut impl FnMut(&[f32])) {
    if from == values.len() {
        return show(values);
    }
    for i in from..values.len() {
        values.swap(from, i);
        permute(values, from + 1, show);
        values.swap(from, i);
    }
}

/// All sums of the values in this order, with every way to put parentheses.
fn sums(values: &[f32]) -> Vec<f32> {
    match values {
        [] => Vec::new(),
        [one] => vec![*one],
        _ => (1..values.len())
            .flat_map(|at| {
                let (left, right) = (sums(&values[..at]), sums(&values[at..]));
                left.into_iter().flat_map(move |x| right.clone().into_iter().map(move |y| x + y))
            })
            .collect(),
    }
}

/// If any invocations may be a subgroup, values that depend on other invocations are in doubt.
/// Values that depend only on the size, or on no other invocation, are not.
#[test]
fn what_depends_on_the_mapping_is_doubtful() {
    let of = |body: &str| {
        let module = load(&text(8, "", &format!("{OWN} {body} {STORE}"))).unwrap_or_else(|e| panic!("{e}\n{body}"));
        let buffers = [buffer(&[0; 8])];
        let by_index = dispatch(&buffers, Some(4));
        let resources = Resources { subgroup_mapping: SubgroupMapping::Any, ..by_index.resources };
        let any = Dispatch { resources, ..by_index.clone() };
        let report = |dispatch: &Dispatch<'_>| {
            grid::report(&module, dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there")
        };
        let (known, unknown) = (report(&by_index), report(&any));
        if let (Outcome::Observed(known), Outcome::Observed(unknown)) = (&known.outcome, &unknown.outcome) {
            assert_eq!(known.buffers, unknown.buffers, "the definite answer is that by indices");
        }
        let program = lockstep::Program::compile(&module, "main").unwrap_or_else(|e| panic!("{e}"));
        assert!(matches!(program.run_certain(&any, 1), Outcome::Unsupported(_)), "{body}");
        unknown
    };
    let in_doubt = |report: &Report| {
        assert!(report.doubtful.iter().all(|doubtful| doubtful.why == Why::SubgroupMapping), "{:?}", report.doubtful);
        words_of(report) == vec![Word::Doubtful; 8]
    };
    for body in [
        "%r = OpLoad %uint %lane",
        "%r = OpLoad %uint %number",
        "%w = OpLoad %u4 %lt %r = OpCompositeExtract %uint %w 0",
        &format!("%r = {COUNT}"),
        "%r = OpGroupNonUniformShuffleXor %uint %c3 %i %c1",
        "%r = OpGroupNonUniformBroadcastFirst %uint %c3 %i",
        "%r = OpGroupNonUniformQuadSwap %uint %c3 %i %c0",
    ] {
        assert!(in_doubt(&of(body)), "{body}");
    }
    assert_eq!(words_of(&of("%r = OpLoad %uint %size")), vec![Word::Is(4); 8]);
    assert_eq!(words_of(&of("%r = OpLoad %uint %count")), vec![Word::Is(2); 8]);
    // The bits that are read from a ballot are in doubt, although the ballot is given.
    let own = "%w = OpCompositeConstruct %u4 %c5 %c0 %c0 %c0 %r = OpGroupNonUniformBallotBitCount %uint %c3 Reduce %w";
    assert!(in_doubt(&of(own)));
    let barrier = of("OpControlBarrier %c3 %c3 %acqrel %r = OpCopyObject %uint %i");
    assert_eq!(ending(&barrier), "unsupported: OpControlBarrier of the scope Subgroup where any invocations may be a subgroup");
}

/// Some operands must be the same in all of a subgroup. If the subgroups are not known, they may be
/// the same, so the result is in doubt.
#[test]
fn operands_that_must_be_the_same_may_be_where_nobody_knows() {
    let body = "%r = OpGroupNonUniformBroadcast %uint %c3 %i %i";
    let text = text(8, "", &format!("{OWN} {body} {STORE}"));
    let text = text.replacen("OpCapability", "; Version: 1.5\nOpCapability", 1).replace("%lt OpExecutionMode", "%lt %buf OpExecutionMode");
    let (module, buffers) = (load(&text).unwrap(), [buffer(&[0; 8])]);
    let of = |subgroup_mapping| {
        let by_index = dispatch(&buffers, Some(4));
        let dispatch = Dispatch { resources: Resources { subgroup_mapping, ..by_index.resources }, ..by_index };
        grid::report(&module, &dispatch, &Schedule::default(), &Relation::default(), false, &mut ()).expect("main is there")
    };
    assert!(ending(&of(SubgroupMapping::ByIndex)).starts_with("spirv/non-uniform-operand"));
    assert_eq!(words_of(&of(SubgroupMapping::Any)), vec![Word::Doubtful; 8]);
}

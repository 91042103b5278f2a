//! Refinement of SPIR-V: right rewrites are allowed, and wrong rewrites are caught with the input,
//! the place and the writer. Also inputs, schedules, WGSL and optimisers.

mod common;

use std::time::Duration;

use common::command;
use common::frame::{ENDLESS, EXCHANGE, GUARDED, HOISTED, LOOP, TICKET, float_frame, shown, text, two};
use smallstep::compute::ComputeModule;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::compilers::{Compiler, NotCompiled};
use smallstep::theorem::dispatches::optimised::{Ends, Wrong, compared, optimised};
use smallstep::theorem::refine::observe::DifferenceKind;
use smallstep::theorem::refine::{Engine, Settings, Side, Summary, Unchecked, refines};
use smallstep::verdict::Verdict;
use smallstep_semantics::spirv::environment::SubgroupMapping;
use smallstep_semantics::spirv::{Module, Options, assemble};

fn side(name: &str, text: &str) -> Side {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{name}: {}:{}: {}", e.line, e.column, e.what));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
    Side::new(name, ComputeModule::new(module, None).expect("one entry point"), None)
}

fn settings() -> Settings {
    Settings { inputs: 24, groups: Some([1; 3]), fuel: 1 << 12, ..Settings::default() }
}

fn compared_texts(before: &str, after: &str) -> Summary {
    refines(&side("BEFORE", before), &side("AFTER", after), &settings(), |_| {}).expect("the interfaces match")
}

/// Compares two bodies. Returns the verdict, or the kind of difference.
fn verdict(before: &str, after: &str, strict: bool) -> String {
    let summary = compared_texts(&text(before, strict), &text(after, strict));
    match &summary.disagreement {
        Some(found) => found.2.difference.kind.category().to_string(),
        None => summary.verdict().name().to_string(),
    }
}

const SHUFFLED: &str = "%v = OpCompositeConstruct %v2 %a %b
    %w = OpVectorShuffle %v2 %v %v 0 1
    %x = OpCompositeExtract %u %w 0
    OpStore %po %x";
const BRANCHED_ON_UNDEF: &str = "%c = OpUndef %bool
    OpSelectionMerge %end None
    OpBranchConditional %c %then %end
    %then = OpLabel
    OpBranch %end
    %end = OpLabel
    %r = OpPhi %u %a %then %b %entry
    OpStore %po %r";
const SELECTED_BY_UNDEF: &str = "%c = OpUndef %bool
    %r = OpSelect %u %c %a %b
    OpStore %po %r";

/// When the time has passed, no further input is tried, and the verdict says how many were.
#[test]
fn a_comparison_ends_in_time() {
    let compared = |seconds: u64| {
        let settings = Settings { time: Some(Duration::from_secs(seconds)), ..settings() };
        let side = |name: &str| side(name, &text("OpStore %po %a", false));
        refines(&side("BEFORE"), &side("AFTER"), &settings, |_| {}).expect("the interfaces match")
    };
    let late = "limit exceeded: more than 0 milliseconds, after 0 of 24 inputs";
    assert_eq!((compared(0).verdict(), compared(0).inputs), (Verdict::Limit(late.into()), 0));
    assert_eq!(compared(3600).verdict(), Verdict::Agree);
}

/// Right and wrong rewrites of optimisers: name, BEFORE, AFTER, and what [`verdict`] must return.
fn rewrites() -> Vec<(&'static str, String, String, &'static str)> {
    let s = |text: &str| text.to_string();
    let stored = |value: &str| format!("%x = {value}\nOpStore %po %x");
    vec![
        ("nothing is changed", s("OpStore %po %a"), s("OpStore %po %a"), "agree"),
        ("a store is dropped", s("OpStore %po %a"), s(""), "another value"),
        ("a dead store is dropped", s("OpStore %po %b\nOpStore %po %a"), s("OpStore %po %a"), "agree"),
        ("two stores are swapped", s("OpStore %po %b\nOpStore %po %a"), s("OpStore %po %a\nOpStore %po %b"), "another value"),
        (
            "a signed division is unsigned",
            s("%d = OpBitwiseOr %u %b %u1\n%x = OpSDiv %u %a %d\nOpStore %po %x"),
            s("%d = OpBitwiseOr %u %b %u1\n%x = OpUDiv %u %a %d\nOpStore %po %x"),
            "another value",
        ),
        ("a division is hoisted above its guard", s(GUARDED), s(HOISTED), "spirv/division-by-zero"),
        ("a division sinks under a guard", s(HOISTED), s(GUARDED), "agree"),
        ("a sum is reassociated", s("%t = OpIAdd %u %a %b\n%x = OpISub %u %t %a\nOpStore %po %x"), s("OpStore %po %b"), "agree"),
        (
            "a sum must not wrap any more",
            stored("OpIAdd %u %a %b"),
            stored("OpIAdd %u %a %b") + "\n@OpDecorate %x NoUnsignedWrap",
            "spirv/wrap",
        ),
        ("a sum may wrap now", stored("OpIAdd %u %a %b") + "\n@OpDecorate %x NoUnsignedWrap", stored("OpIAdd %u %a %b"), "agree"),
        (
            "a shift loses its mask",
            s("%n = OpBitwiseAnd %u %b %u31\n%x = OpShiftLeftLogical %u %a %n\nOpStore %po %x"),
            stored("OpShiftLeftLogical %u %a %b"),
            "any value",
        ),
        (
            "a shift gets a mask",
            stored("OpShiftLeftLogical %u %a %b"),
            s("%n = OpBitwiseAnd %u %b %u31\n%x = OpShiftLeftLogical %u %a %n\nOpStore %po %x"),
            "agree",
        ),
        ("a product is a shift", stored("OpIMul %u %a %u4"), stored("OpShiftLeftLogical %u %a %u2"), "agree"),
        ("a product is a shift too far", stored("OpIMul %u %a %u2"), stored("OpShiftLeftLogical %u %a %u2"), "another value"),
        (
            "an arithmetic shift is logical",
            stored("OpShiftRightArithmetic %u %a %u4"),
            stored("OpShiftRightLogical %u %a %u4"),
            "another value",
        ),
        (
            "a signed comparison is unsigned",
            s("%c = OpSLessThan %bool %a %b\n%x = OpSelect %u %c %u1 %u0\nOpStore %po %x"),
            s("%c = OpULessThan %bool %a %b\n%x = OpSelect %u %c %u1 %u0\nOpStore %po %x"),
            "another value",
        ),
        ("a barrier is removed", s(EXCHANGE), EXCHANGE.replace("OpControlBarrier %u2 %u2 %u264\n", ""), "spirv/data-race"),
        ("a barrier loses its semantics", s(EXCHANGE), EXCHANGE.replace("%u264", "%u0"), "spirv/data-race"),
        ("a store is moved behind the barrier", s(EXCHANGE), EXCHANGE.replace("%u264\n", "%u264\nOpStore %own %b\n"), "spirv/data-race"),
        ("what is undefined is a value", stored("OpUndef %u"), s("OpStore %po %u7"), "agree"),
        ("a value is undefined", s("OpStore %po %u7"), stored("OpUndef %u"), "any value"),
        (
            "undefined by a mask of nothing",
            s("OpStore %po %u0"),
            s("%y = OpUndef %u\n%x = OpBitwiseAnd %u %y %u0\nOpStore %po %x"),
            "agree",
        ),
        (
            "a divisor is undefined",
            s("%q = OpUDiv %u %a %u7\nOpStore %po %a"),
            s("%d = OpUndef %u\n%q = OpUDiv %u %a %d\nOpStore %po %a"),
            "spirv/undefined-operand",
        ),
        (
            "a divisor is undefined and no zero",
            s("%q = OpUDiv %u %a %u7\nOpStore %po %a"),
            s("%y = OpUndef %u\n%d = OpBitwiseOr %u %y %u1\n%q = OpUDiv %u %a %d\nOpStore %po %a"),
            "undecided",
        ),
        ("a selection by what is undefined is decided", s(SELECTED_BY_UNDEF), s("OpStore %po %b"), "agree"),
        ("a selection by what is undefined is a branch", s(SELECTED_BY_UNDEF), s(BRANCHED_ON_UNDEF), "spirv/branch-on-undefined"),
        ("a branch on what is undefined is a selection", s(BRANCHED_ON_UNDEF), s("OpStore %po %u7"), "vacuous"),
        ("a loop takes a turn less", s(LOOP), LOOP.replace("OpULessThan %bool %k %u4", "OpULessThan %bool %k %u3"), "another value"),
        ("a loop takes turns more", s(LOOP), LOOP.replace("%k %u4", "%k %u7"), "another value"),
        ("a loop never ends", s("OpStore %po %a"), s(ENDLESS), "no observation"),
        ("a loop that never ended ends", s(ENDLESS), s("OpStore %po %b"), "vacuous"),
        ("a shuffle takes the other component", s(SHUFFLED), SHUFFLED.replace("%v %v 0 1", "%v %v 1 0"), "another value"),
        ("a shuffle takes none", s(SHUFFLED), SHUFFLED.replace("%v %v 0 1", "%v %v 0xFFFFFFFF 1"), "any value"),
        ("a shuffle goes", s(SHUFFLED), s("OpStore %po %a"), "agree"),
        ("a store goes to another place", s("OpStore %po %a"), s("%p = OpAccessChain %pu %out %u0 %u0\nOpStore %p %a"), "spirv/data-race"),
        ("tickets as they come", s(TICKET), s(TICKET), "agree"),
        ("tickets in order", s(TICKET), TICKET.replace("OpStore %po %t", "OpStore %po %i"), "agree"),
        ("tickets in reverse", s(TICKET), TICKET.replace("OpStore %po %t", "%r = OpISub %u %u3 %i\nOpStore %po %r"), "agree"),
    ]
}

#[test]
fn every_rewrite_is_allowed_or_caught_as_argued() {
    let mut wrong = Vec::new();
    for (name, before, after, expected) in rewrites() {
        let found = verdict(&before, &after, false);
        if found != expected {
            wrong.push(format!("{name}: {found}, where {expected} is due"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sum from which a term is subtracted again is rounded, unless a compiler may cancel the term.
#[test]
fn rounding_is_held_to_what_is_declared() {
    let (before, after) = (
        "%m = OpConvertUToF %f %a\n%n = OpConvertUToF %f %b\n%t = OpFAdd %f %m %n\n%x = OpFSub %f %t %n\n%y = OpBitcast %u %x\nOpStore %po %y",
        "%m = OpConvertUToF %f %a\n%y = OpBitcast %u %m\nOpStore %po %y",
    );
    let uncontracted = "\n@OpDecorate %t NoContraction\n@OpDecorate %x NoContraction";
    assert_eq!(verdict(before, after, false), "agree");
    assert_eq!(verdict(&format!("{before}{uncontracted}"), after, true), "another value");
    // A difference that no rounding explains is caught without float controls.
    let half = ("%x = OpConvertUToF %f %i\n%y = OpBitcast %u %x\nOpStore %po %y", "%y = OpCopyObject %u %i\nOpStore %po %y");
    assert_eq!(verdict(half.0, half.1, false), "another value");
}

/// An integer 0 keeps its bits in another integer type. Once it has been a float, its bits are
/// in doubt.
#[test]
fn an_integer_zero_is_the_same_in_another_type() {
    let zero = "%z = OpIMul %u %i %u0\n";
    let cast = format!("{zero}%n = OpBitcast %signed %z\n%y = OpBitcast %u %n\n");
    let [before, after] = ["OpStore %po %y", "%x = OpIAdd %u %y %u1\nOpStore %po %x"].map(|end| format!("{cast}{end}"));
    assert_eq!([verdict(&before, &after, false), verdict(&before, &before, false)], ["another value", "agree"]);
    let of_float = format!("{zero}%m = OpConvertUToF %f %z\n%y = OpBitcast %u %m\n");
    assert_eq!(verdict(&format!("{of_float}OpStore %po %y"), &after, false), "undecided");
    let exact = "%m = OpConvertUToF %f %i\n%g = OpExtInst %f %glsl NMin %m %m\n%n = OpConvertFToU %u %g\n";
    let [before, after] = ["OpStore %po %n", "%x = OpIAdd %u %n %u1\nOpStore %po %x"].map(|end| format!("{exact}{end}"));
    assert_eq!(verdict(&before, &after, false), "another value");
}

/// What BEFORE computes over its subgroup, AFTER must compute too. Where any invocations may form a
/// subgroup, another value is no disagreement.
#[test]
fn what_depends_on_the_mapping_of_subgroups_is_undecided() {
    let of = |body: &str| {
        let capability = "OpCapability Shader OpCapability GroupNonUniformArithmetic";
        side("a module", &text(body, false).replacen("OpCapability Shader", capability, 1))
    };
    let greatest = of("%s = OpGroupNonUniformUMax %u %u3 Reduce %i OpStore %po %s");
    let verdict = |after: &str, subgroup_mapping| {
        let settings = Settings { subgroup_size: Some(4), subgroup_mapping, ..settings() };
        refines(&greatest, &of(after), &settings, |_| {}).expect("the interfaces match").verdict().name()
    };
    assert_eq!(verdict("OpStore %po %u3", SubgroupMapping::ByIndex), "agree");
    assert_eq!(verdict("OpStore %po %u2", SubgroupMapping::ByIndex), "disagree");
    assert_eq!(verdict("OpStore %po %u2", SubgroupMapping::Any), "undecided");
}

#[test]
fn a_schedule_that_cannot_be_is_caught() {
    assert_eq!(verdict(TICKET, &TICKET.replace("OpStore %po %t", "OpStore %po %u0"), false), "another value");
    // All schedules of four invocations were tried, and in none of them are two invocations first.
    // With a budget of one execution, some schedules are untried, and the result is open.
    let few = Settings { budget: smallstep_semantics::interleavings::Budget { executions: 1, steps: 1_000 }, ..settings() };
    let reverse = text(&TICKET.replace("OpStore %po %t", "%r = OpISub %u %u3 %i\nOpStore %po %r"), false);
    let summary = refines(&side("BEFORE", &text(TICKET, false)), &side("AFTER", &reverse), &few, |_| {}).expect("the interfaces match");
    assert_ne!(summary.verdict().name(), "disagree");
}

/// The memory model lets relaxed atomics at different locations take effect in another order. It
/// allows no other reordering: not at one location, and not across a release, an acquire or
/// a barrier.
#[test]
fn relaxed_atomics_at_two_locations_may_be_reordered_and_no_others() {
    let store = |to: &str, value: &str, semantics: &str| format!("OpAtomicStore %p{to} %u2 %{semantics} %{value}\n");
    let load = |from: &str, semantics: &str| format!("%r{from} = OpAtomicLoad %u %p{from} %u2 %{semantics}\n");
    let add = |to: &str, result: &str| format!("%{result} = OpAtomicIAdd %u %p{to} %u2 %u0 %u1\n");
    let fence = "OpMemoryBarrier %u2 %u264\n";
    let (x, y) = (store("x", "u1", "u0"), store("y", "u1", "u0"));
    let (rx, ry) = (load("x", "u0"), load("y", "u0"));
    let read = shown("ry", "rx");
    // Message passing: x is the data and y the flag.
    let relaxed = two(&format!("{x}{y}"), &format!("{ry}{rx}{read}"));
    let swapped = two(&format!("{y}{x}"), &format!("{ry}{rx}{read}"));
    let read_early = two(&format!("{x}{y}"), &format!("{rx}{ry}{read}"));
    let (released, acquired) = (store("y", "u1", "u260"), load("y", "u258"));
    let ordered = two(&format!("{x}{released}"), &format!("{acquired}{rx}{read}"));
    let ordered_swapped = two(&format!("{released}{x}"), &format!("{acquired}{rx}{read}"));
    let released_only = two(&format!("{x}{released}"), &format!("{ry}{rx}{read}"));
    let released_only_swapped = two(&format!("{released}{x}"), &format!("{ry}{rx}{read}"));
    let fenced = two(&format!("{x}{fence}{y}"), &format!("{ry}{fence}{rx}{read}"));
    let fenced_swapped = two(&format!("{y}{fence}{x}"), &format!("{ry}{fence}{rx}{read}"));
    // Store buffering: neither a release nor an acquire orders a store before a load.
    let buffered = |fence: &str| two(&format!("{x}{fence}{ry}OpStore %po %ry"), &format!("{y}{fence}{rx}OpStore %po %rx"));
    let unbuffered = two(&format!("{ry}{x}OpStore %po %ry"), &format!("{rx}{y}OpStore %po %rx"));
    // Store buffering with a barrier in between, which all invocations reach.
    let met = |barrier: &str| {
        format!(
            "%pown = OpAccessChain %p_shared %shared %i
            %j = OpBitwiseXor %u %i %u1
            %pother = OpAccessChain %p_shared %shared %j
            OpAtomicStore %pown %u2 %u0 %u0
            OpControlBarrier %u2 %u2 %u264
            OpAtomicStore %pown %u2 %u0 %u1
            {barrier}
            %r = OpAtomicLoad %u %pother %u2 %u0
            OpStore %po %r"
        )
    };
    let barrier = "OpControlBarrier %u2 %u2 %u264";
    // Coherence of one location.
    let twice = |reads: &str| two(&format!("{x}{}", store("x", "u2", "u0")), &format!("{reads}{}", shown("ra", "rb")));
    let reads = ["%ra = OpAtomicLoad %u %px %u2 %u0\n", "%rb = OpAtomicLoad %u %px %u2 %u0\n"];
    // Two counters. The two invocations add to them in opposite orders.
    let lost = |to: &str| {
        format!("%l{to} = OpAtomicLoad %u %p{to} %u2 %u0\n%m{to} = OpIAdd %u %l{to} %u1\n{}", store(to, &format!("m{to}"), "u0"))
    };
    let counted = |zeroth: &str, first: &str, barrier: &str| two(zeroth, first) + &format!("\n{barrier}\n{rx}{ry}{}", shown("rx", "ry"));
    let both = counted(&(add("x", "ta") + &add("y", "tb")), &(add("y", "tc") + &add("x", "td")), barrier);
    let one_lost = counted(&(lost("x") + &add("y", "tb")), &(add("y", "tc") + &add("x", "td")), barrier);
    let uncounted = counted(&(add("x", "ta") + &add("y", "tb")), &(add("y", "tc") + &add("x", "td")), "");
    let seen = two(&(add("x", "ta") + &add("y", "tb") + &shown("ta", "tb")), &(add("y", "tc") + &add("x", "td") + &shown("td", "tc")));
    let seen_swapped =
        two(&(add("x", "ta") + &add("y", "tb") + &shown("ta", "tb")), &(add("x", "td") + &add("y", "tc") + &shown("td", "tc")));
    let in_order = two(&(add("x", "ta") + &add("y", "tb") + &shown("ta", "tb")), &(add("x", "td") + &add("y", "tc") + &shown("td", "tc")));
    let in_order_lost = two(&(lost("x") + &add("y", "tb") + &shown("lx", "tb")), &(add("x", "td") + &add("y", "tc") + &shown("td", "tc")));
    let unchanged = |text: &String| (text.clone(), text.clone(), "agree");
    let pair = |before: &String, after: &String, expected| (before.clone(), after.clone(), expected);
    let cases = [
        ("relaxed message passing stays", unchanged(&relaxed)),
        ("relaxed stores are swapped", pair(&relaxed, &swapped, "agree")),
        ("relaxed loads are swapped", pair(&relaxed, &read_early, "agree")),
        ("a release is swapped with what it releases", pair(&ordered, &ordered_swapped, "another value")),
        ("a release that nobody acquires is swapped", pair(&released_only, &released_only_swapped, "agree")),
        ("fenced stores are swapped", pair(&fenced, &fenced_swapped, "another value")),
        ("release and acquire are relaxed", pair(&ordered, &relaxed, "another value")),
        ("fences are removed", pair(&fenced, &relaxed, "another value")),
        ("release and acquire are added", pair(&relaxed, &ordered, "agree")),
        ("fences are added", pair(&relaxed, &fenced, "agree")),
        ("a relaxed load is moved above a store", pair(&buffered(""), &unbuffered, "agree")),
        ("fences do not keep a load below a store", pair(&buffered(fence), &unbuffered, "agree")),
        ("a barrier between stores and loads is removed", (met(barrier), met(""), "another value")),
        ("loads of one location are swapped", (twice(&reads.concat()), twice(&[reads[1], reads[0]].concat()), "another value")),
        ("an update that nobody sees is lost", pair(&both, &one_lost, "another value")),
        ("the barrier before counters are read is removed", pair(&both, &uncounted, "another value")),
        ("updates that are seen are swapped", pair(&seen, &seen_swapped, "agree")),
        ("an update in the common order is lost", pair(&in_order, &in_order_lost, "another value")),
        (
            "a ticket is taken twice",
            (
                TICKET.into(),
                TICKET.replace(
                    "%t = OpAtomicIAdd %u %pc %u2 %u0 %u1",
                    "%t = OpAtomicLoad %u %pc %u2 %u0\n%t1 = OpIAdd %u %t %u1\nOpAtomicStore %pc %u2 %u0 %t1",
                ),
                "another value",
            ),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, (before, after, expected)) in &cases {
        let few = Settings { inputs: 3, ..settings() };
        let sides = (side("BEFORE", &text(before, false)), side("AFTER", &text(after, false)));
        let summary = refines(&sides.0, &sides.1, &few, |_| {}).expect("the interfaces match");
        let found = summary.disagreement.as_ref().map_or(summary.verdict().name(), |found| found.2.difference.kind.category());
        if found != *expected {
            wrong.push(format!("{name}: {found} {:?}, where {expected} is due", summary.undecided));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A float is another value if its bits differ. Two exceptions are allowed: any NaN for a NaN, and
/// a zero of the other sign if the module does not preserve signs of zeros.
#[test]
fn floats_of_every_width_are_told_apart() {
    for (width, fraction) in [(16, 10), (32, 23), (64, 52)] {
        let sign = 1u64 << (width - 1);
        let infinity = sign - (1 << fraction);
        let one = ((infinity / 2) >> fraction) << fraction;
        let (two, greatest, nan) = (one + (1 << fraction), infinity - 1, infinity | 1 << (fraction - 1));
        let stored = |bits: u64, strict: bool| {
            float_frame(width, strict, "%x = OpBitcast %f %given\nOpStore %po %x").replace("NUMBER", &bits.to_string())
        };
        for (strict, what, before, after, expected) in [
            (true, "nothing is changed", one, one, "agree"),
            (true, "the double", one, two, "another value"),
            (true, "the negative", one, sign | one, "another value"),
            (true, "a zero of another sign that is kept", 0, sign, "another value"),
            (true, "another zero of another sign that is kept", sign, 0, "another value"),
            (false, "a zero of another sign", 0, sign, "agree"),
            (false, "another zero of another sign", sign, 0, "agree"),
            (true, "no zero", 0, one, "another value"),
            (true, "zero", one, 0, "another value"),
            (false, "no zero, without controls", 0, one, "another value"),
            (false, "zero, without controls", one, 0, "another value"),
            (true, "finite", infinity, greatest, "another value"),
            (true, "infinite", greatest, infinity, "another value"),
            (true, "a NaN", infinity, nan, "another value"),
            (true, "another NaN", nan, nan | 1, "agree"),
            (true, "a negative NaN", nan, sign | nan, "agree"),
            (true, "no NaN", nan, one, "another value"),
        ] {
            let few = Settings { inputs: 1, ..settings() };
            // Without float controls, only a float of 32 bits is certain.
            let expected = if strict || width == 32 { expected } else { "undecided" };
            let sides = (side("BEFORE", &stored(before, strict)), side("AFTER", &stored(after, strict)));
            let summary = refines(&sides.0, &sides.1, &few, |_| {}).expect("the interfaces match");
            let found = summary.disagreement.as_ref().map_or(summary.verdict().name(), |found| found.2.difference.kind.category());
            assert_eq!(found, expected, "{width} bits, {what}: {:?}", summary.undecided);
        }
    }
}

/// Undefined behaviour is in doubt if control flow or an operand depends on a value that may differ
/// between devices. The workgroup does not matter.
#[test]
fn undefined_behaviour_by_a_doubtful_value_is_in_doubt() {
    // The sine is about 0.5, and certainly less than 1.
    let doubt = "%n = OpConvertUToF %f %u1\n%sin = OpExtInst %f %glsl Sin %n\n";
    let divided = "%d = OpConvertFToU %u %sin\n%q = OpUDiv %u %a %d";
    let only = |condition: &str, code: &str| {
        format!(
            "{doubt}{condition}
            OpSelectionMerge %end None
            OpBranchConditional %c %then %end
            %then = OpLabel
            {code}
            OpBranch %end
            %end = OpLabel
            OpStore %po %a"
        )
    };
    let sixth = "%u6 = OpIAdd %u %u4 %u2\n%c = OpIEqual %bool %i %u6";
    let by_control = only("%c = OpFOrdLessThan %bool %sin %n", "%q = OpUDiv %u %a %u0");
    let settings = Settings { groups: Some([2, 1, 1]), inputs: 4, ..settings() };
    for (name, after, expected) in [
        ("an operand", only("%c = OpIEqual %bool %u0 %u0", divided), "undecided"),
        ("an operand of invocation 6", only(sixth, divided), "undecided"),
        ("control", by_control, "undecided"),
        ("neither, in invocation 6", only(sixth, "%q = OpUDiv %u %a %u0"), "spirv/division-by-zero"),
    ] {
        let sides = (side("BEFORE", &text("OpStore %po %a", false)), side("AFTER", &text(&after, false)));
        let summary = refines(&sides.0, &sides.1, &settings, |_| {}).expect("the interfaces match");
        let found = summary.disagreement.as_ref().map_or(summary.verdict().name(), |found| found.2.difference.kind.category());
        assert_eq!(found, expected, "{name}: {:?}", summary.undecided);
    }
}

/// The report of a difference says how many bytes differ, who stored them, also by an atomic, and
/// what makes a value undefined.
#[test]
fn blame_says_what_differs_and_who_stored_it() {
    let blamed = |before: &str, after: &str| {
        let summary = compared_texts(&text(before, false), &text(after, false));
        summary.disagreement.unwrap_or_else(|| panic!("{before}\n{after}: {:?}", summary.undecided)).2
    };
    let one = blamed("OpStore %po %u1", "OpStore %po %u2");
    assert!(one.what.starts_with("0.1 member 0[0]: BEFORE shows 1, AFTER shows 2"), "{}", one.what);
    // Two of 4 invocations store words that differ in one byte each.
    let several = blamed("OpStore %po %u0", "%x = OpISub %u %u0 %u1\nOpStore %po %x").what;
    assert!(several.ends_with(" bytes differ)"), "{several}");
    let first = "%first = OpIEqual %bool %i %u0\n%x = OpSelect %u %first %u2 %u1\nOpStore %po %x";
    assert_eq!(blamed("OpStore %po %u1", first).what, "0.1 member 0[0]: BEFORE shows 1, AFTER shows 2");
    let any = blamed("OpStore %po %u7", "%x = OpUndef %u\nOpStore %po %x").what;
    assert!(any.contains("BEFORE shows 7, AFTER shows any value, made at %") && any.contains("= OpUndef by invocation (0,0,0)"), "{any}");
    let atomic = blamed("OpAtomicStore %po %u1 %u0 %u7", "OpAtomicStore %po %u1 %u0 %u4");
    assert!(atomic.before.starts_with("OpAtomicStore") && atomic.before.contains(" stores 7\n"), "{}", atomic.before);
    assert!(atomic.after.starts_with("OpAtomicStore") && atomic.after.contains(" stores 4\n"), "{}", atomic.after);
    let endless = blamed("OpStore %po %a", ENDLESS);
    assert_eq!(endless.after, format!("it executes more than {} instructions", endless.difference.fuel));
    assert_eq!(endless.what, "AFTER ends without an observation: out of fuel");
}

/// An input that stays vacuous is drawn seven times. The summary counts why BEFORE ended.
#[test]
fn what_is_not_compared_is_counted_by_why() {
    let vacuous = |body: &str| {
        let one = Settings { inputs: 1, ..settings() };
        refines(&side("BEFORE", &text(body, false)), &side("AFTER", &text(body, false)), &one, |_| {}).expect("the interfaces match")
    };
    for (body, why) in [(ENDLESS, "out of fuel"), ("%q = OpUDiv %u %a %u0\nOpStore %po %q", "spirv/division-by-zero")] {
        let summary = vacuous(body);
        assert_eq!((summary.verdict().name(), summary.redrawn, summary.inputs), ("vacuous", 6, 1));
        assert_eq!(summary.vacuous.into_iter().collect::<Vec<_>>(), [(why.to_string(), 1)]);
    }
    let sides = (side("BEFORE", &text("OpStore %po %a", false)), side("AFTER", &text("OpStore %po %a", false)));
    let many = Settings { groups: Some([1 << 20, 1, 1]), pinned: vec![("0.0".parse().expect("a place"), vec![0; 64]); 1], ..settings() };
    let summary = refines(&sides.0, &sides.1, &many, |_| {}).expect("the interfaces match");
    assert_eq!((summary.verdict().name(), summary.verdict().code()), ("unchecked", 7));
    assert!(matches!(summary.unchecked, Some((0, Unchecked::Limit(_)))), "{:?}", summary.unchecked);
    // The orders of four tickets are all tried, or only some.
    let few = Settings { budget: smallstep_semantics::interleavings::Budget { executions: 1, steps: 1_000 }, inputs: 3, ..settings() };
    let tickets = |after: &str, settings: &Settings| {
        let sides = (side("BEFORE", &text(TICKET, false)), side("AFTER", &text(after, false)));
        refines(&sides.0, &sides.1, settings, |_| {}).expect("the interfaces match")
    };
    for (settings, sampled) in [(Settings { inputs: 3, ..settings() }, 0), (few.clone(), 3)] {
        let summary = tickets(TICKET, &settings);
        assert_eq!((summary.agree, summary.sampled), (3, sampled), "{:?}", summary.undecided);
    }
    // Once several inputs had too many orders, a few orders of the machine stand for all of them.
    // They allow only what is the same in each of them.
    let wrong = TICKET.replace(
        "OpStore %po %t",
        "%is = OpIEqual %bool %b %u258\n%more = OpSelect %u %is %u1 %u0\n%t1 = OpIAdd %u %t %more\nOpStore %po %t1",
    );
    let undecided = |inputs: u64| tickets(&wrong, &Settings { inputs, ..few.clone() }).undecided.values().sum::<u64>();
    let many = tickets(TICKET, &Settings { inputs: 60, ..few.clone() });
    assert_eq!((many.agree, many.sampled), (60, 60), "{:?}", many.undecided);
    assert!(undecided(60) > undecided(6), "{} of 60, {} of 6", undecided(60), undecided(6));
}

/// The relation runs what the machine does not compile, unless the settings ask for the
/// machine only.
#[test]
fn an_engine_that_was_asked_for_is_not_replaced() {
    let indexed = text("%k = OpBitwiseAnd %u %a %u0\n%pi = OpAccessChain %p_in %gid %k\n%x = OpLoad %u %pi\nOpStore %po %x", false)
        .replace("%p_gid =", "%p_in = OpTypePointer Input %u\n%p_gid =");
    let verdict = |text: &str, engine: Engine| {
        let settings = Settings { engine, inputs: 3, ..settings() };
        refines(&side("BEFORE", text), &side("AFTER", text), &settings, |_| {}).expect("the interfaces match")
    };
    for engine in [Engine::Any, Engine::Reference] {
        assert_eq!(verdict(&indexed, engine).agree, 3, "{engine:?}");
    }
    let refused = verdict(&indexed, Engine::Machine);
    assert_eq!(refused.verdict().name(), "unsupported");
    assert_eq!(refused.unchecked, Some((0, Unchecked::Unsupported("an index that is no constant into a built-in".into()))));
    assert_eq!(verdict(&text("OpStore %po %a", false), Engine::Machine).agree, 3);
}

/// Every order of the invocations is compared, whichever invocation comes first. A difference is
/// reported against the nearest order.
#[test]
fn every_order_is_compared_and_the_nearest_is_told() {
    let last = |zeroth: u32, first: u32, shown: &str| {
        let store = |value: u32| format!("OpAtomicStore %px %u2 %u0 %u{value}\n");
        let read = "OpControlBarrier %u2 %u2 %u264\n%x = OpAtomicLoad %u %px %u2 %u0";
        two(&store(zeroth), &store(first)) + "\n" + read + "\n" + shown + "\nOpStore %po %v"
    };
    let same = "%v = OpCopyObject %u %x";
    assert_eq!(verdict(&last(1, 2, same), &last(2, 1, same), false), "agree");
    // The last invocation shows another value than the rest. Against the other order, all four
    // words differ.
    let wrong = last(1, 2, "%is3 = OpIEqual %bool %i %u3\n%v = OpSelect %u %is3 %u4 %x");
    let summary = compared_texts(&text(&last(1, 2, same), false), &text(&wrong, false));
    let how = &summary.disagreement.as_ref().expect("4 is neither").2.difference.kind;
    assert!(matches!(how, DifferenceKind::Byte { bytes: 1, undefined: false, .. }), "{how:?}");
}

/// Code that runs `then` if the invocation reads the value 1 from `%px`.
fn seen(then: &str) -> String {
    format!(
        "%rx = OpAtomicLoad %u %px %u2 %u0
        %seen = OpIEqual %bool %rx %u1
        OpSelectionMerge %unseen None
        OpBranchConditional %seen %then %unseen
        %then = OpLabel
        {then}
        OpBranch %unseen
        %unseen = OpLabel"
    )
}

/// What happens in only one order counts, whether all orders are tried or some. Examples are
/// undefined behaviour of AFTER, and atomics of BEFORE that may be reordered.
#[test]
fn what_only_another_order_meets_is_found() {
    // In the default order the store comes after the load.
    let wait = |k: u32| format!("%w{k} = OpAtomicLoad %u %pw %u2 %u0\n");
    let waits: String = (0..4).map(wait).collect();
    let store = &format!("%pw = OpAccessChain %p_shared %shared %u3\n{waits}OpAtomicStore %px %u2 %u0 %u1\n");
    let before = text(&two("", store), false);
    let divides = text(&two(&seen("%q = OpUDiv %u %a %u0"), store), false);
    for executions in [1, settings().budget.executions] {
        let budget = smallstep_semantics::interleavings::Budget { executions, ..settings().budget };
        let sides = (side("BEFORE", &before), side("AFTER", &divides));
        let summary = refines(&sides.0, &sides.1, &Settings { budget, ..settings() }, |_| {}).expect("the interfaces match");
        let found = summary.disagreement.as_ref().map(|found| found.2.difference.kind.category());
        assert_eq!(found, Some("spirv/division-by-zero"), "{executions} executions: {:?}", summary.undecided);
        let after = summary.disagreement.map(|found| found.2.difference.after);
        assert_ne!(after, Some(smallstep_semantics::concurrency::Schedule::default()));
    }
    // Every order shows the same. In some order, the two stores and the two loads are executed.
    let z = "%pz = OpAccessChain %p_shared %shared %u2\n";
    let stores = format!("{z}{}", seen("OpAtomicStore %py %u2 %u0 %u1\nOpAtomicStore %pz %u2 %u0 %u1"));
    let loads = "%pz1 = OpAccessChain %p_shared %shared %u2
        %rz = OpAtomicLoad %u %pz1 %u2 %u0
        %ry = OpAtomicLoad %u %py %u2 %u0
        %sum = OpIAdd %u %ry %rz
        %none = OpBitwiseAnd %u %sum %u0
        OpStore %po %none";
    let reordered = two(&stores, &format!("{store}{loads}"));
    assert_eq!(verdict(&reordered, &reordered, false), "agree");
    // All executions of the memory model show the same, too. If they are not tried, the result
    // is open.
    let verdict = |executions: u64| {
        let before = side("BEFORE", &text(&two("", &format!("{store}{loads}")), false));
        let executions = smallstep_semantics::interleavings::Budget { executions, steps: executions };
        let settings = Settings { inputs: 2, executions, ..settings() };
        refines(&before, &side("AFTER", &text(&reordered, false)), &settings, |_| {}).expect("the interfaces match").verdict().name()
    };
    assert_eq!((verdict(0), verdict(10_000)), ("undecided", "agree"));
    // The result stays open for later inputs, which are no longer searched.
    let sides = (side("BEFORE", &text(&two("", &format!("{store}{loads}")), false)), side("AFTER", &text(&reordered, false)));
    let none = smallstep_semantics::interleavings::Budget { executions: 0, steps: 0 };
    let budget = smallstep_semantics::interleavings::Budget { executions: 1, steps: 1_000 };
    let settings = Settings { executions: none, budget, ..settings() };
    let summary = refines(&sides.0, &sides.1, &settings, |_| {}).expect("the interfaces match");
    assert_eq!((summary.agree, summary.undecided.values().sum::<u64>()), (0, settings.inputs), "{:?}", summary.undecided);
}

/// With too many invocations to try every order, some orders run.
#[test]
fn more_invocations_than_all_orders_are_tried_of_run_in_some() {
    let many = Settings { groups: Some([260, 1, 1]), inputs: 1, fuel: 1 << 20, ..settings() };
    let stores = text("%px = OpAccessChain %p_shared %shared %i\nOpAtomicStore %px %u2 %u0 %u1", false)
        .replace("OpCompositeExtract %u %id 0", "OpCompositeExtract %u %id 1");
    let summary = refines(&side("BEFORE", &stores), &side("AFTER", &stores), &many, |_| {}).expect("the interfaces match");
    assert_eq!((summary.agree, summary.sampled), (1, 1), "{:?}", summary.undecided);
}

/// Of two orders that differ from AFTER equally, the report names the first one tried. Of undefined
/// behaviour, it names the invocation that meets it first in the relation.
#[test]
fn the_first_of_equals_is_told() {
    let store = |value: u32| format!("OpAtomicStore %px %u2 %u0 %u{value}\n");
    let read = "OpControlBarrier %u2 %u2 %u264\n%x = OpAtomicLoad %u %px %u2 %u0";
    let shows = |value: &str| text(&(two(&store(1), &store(2)) + "\n" + read + "\nOpStore %po " + value), false);
    let summary = compared_texts(&shows("%x"), &shows("%u4"));
    let difference = &summary.disagreement.as_ref().expect("4 is neither").2.difference;
    assert!(matches!(difference.kind, DifferenceKind::Byte { bytes: 4, .. }), "{:?}", difference.kind);
    assert_eq!(difference.before, smallstep_semantics::concurrency::Schedule::default());
    // The division of invocation 1 comes first in the code, and that of invocation 0 second.
    let divides = |k: u32, name: &str| {
        format!(
            "%is{name} = OpIEqual %bool %i %u{k}
            OpSelectionMerge %end{name} None
            OpBranchConditional %is{name} %do{name} %end{name}
            %do{name} = OpLabel
            %q{name} = OpUDiv %u %a %u0
            OpBranch %end{name}
            %end{name} = OpLabel"
        )
    };
    let both = format!("{}\n{}\nOpStore %po %a", divides(1, "one"), divides(0, "zero"));
    let summary = compared_texts(&text("OpStore %po %a", false), &text(&both, false));
    let DifferenceKind::Undefined(undefined) = &summary.disagreement.as_ref().expect("undefined").2.difference.kind else {
        panic!("defined")
    };
    assert_eq!(undefined.site.as_ref().map(|site| site.global), Some([0, 0, 0]));
}

/// Only atomics make the order of invocations matter: every atomic with a visible effect does.
#[test]
fn modules_with_atomics_depend_on_the_schedule() {
    let depends = |body: &str| side("BEFORE", &text(body, false)).depends_on_schedule();
    assert!(!depends(EXCHANGE) && !depends(GUARDED) && !depends(""));
    for atomic in [
        "%x = OpAtomicLoad %u %po %u1 %u0",
        "OpAtomicStore %po %u1 %u0 %a",
        "%x = OpAtomicIAdd %u %po %u1 %u0 %a\nOpStore %po %x",
        "%x = OpAtomicXor %u %po %u1 %u0 %a\nOpStore %po %x",
    ] {
        assert!(depends(atomic), "{atomic}");
    }
}

/// A minimal input has nothing that does not matter, and the rest is small: workgroups, array
/// elements, numbers, push constants.
#[test]
fn minimal_inputs_are_minimal() {
    let minimal = |before: &str, after: &str| {
        let settings = Settings { inputs: 200, fuel: 1 << 12, ..Settings::default() };
        let summary = refines(&side("BEFORE", before), &side("AFTER", after), &settings, |_| {}).expect("the interfaces match");
        summary.disagreement.expect("a disagreement").1
    };
    let lengths = |input: &smallstep::theorem::refine::Input| input.buffers.iter().map(|b| b.bytes.len()).collect::<Vec<_>>();
    // A number that matters still matters when halved, until it is below 200.
    let big = |value: &str| {
        text(
            &format!("%u100 = OpIMul %u %u4 %u25\n%c = OpUGreaterThanEqual %bool %a %u100\n%x = OpSelect %u %c {value} %a\nOpStore %po %x"),
            false,
        )
        .replace("%four =", "%u25 = OpConstant %u 25\n%four =")
    };
    let input = minimal(&big("%a"), &big("%b"));
    let held: Vec<u32> = input.buffers[0].bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("a word"))).collect();
    assert_eq!(held.iter().filter(|value| **value != 0).count(), 1, "{held:?}");
    assert!(held.iter().all(|value| *value == 0 || (100..200).contains(value)), "{held:?}");
    assert_eq!((input.groups, lengths(&input)), ([1; 3], vec![32, 16]));
    // The contents of the buffers do not matter, but the buffers must exist: a block with a word
    // before its array, and one without. One of three push constants matters.
    let pushed = |value: &str| {
        text("", false)
            .replace("OpMemberDecorate %block 0 Offset 0", "OpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %headed 0 Offset 0\nOpMemberDecorate %headed 1 Offset 4\nOpDecorate %headed Block\nOpMemberDecorate %pushed 0 Offset 0\nOpMemberDecorate %pushed 1 Offset 4\nOpMemberDecorate %pushed 2 Offset 8\nOpDecorate %pushed Block")
            .replace("%out = OpVariable %p_block StorageBuffer", "%headed = OpTypeStruct %u %array\n%p_headed = OpTypePointer StorageBuffer %headed\n%out = OpVariable %p_headed StorageBuffer\n%pushed = OpTypeStruct %u %u %u\n%p_pushed = OpTypePointer PushConstant %pushed\n%p_push = OpTypePointer PushConstant %u\n%push = OpVariable %p_pushed PushConstant")
            .split("%entry = OpLabel")
            .next()
            .expect("there")
            .to_string()
            + &format!(
                "%entry = OpLabel
                %length = OpArrayLength %u %in 0
                %pp = OpAccessChain %p_push %push %u1
                %x = OpLoad %u %pp
                %id = OpLoad %v3 %gid
                %i = OpCompositeExtract %u %id 0
                %first = OpIEqual %bool %i %u0
                OpSelectionMerge %end None
                OpBranchConditional %first %then %end
                %then = OpLabel
                %po = OpAccessChain %pu %out %u0
                OpStore %po {value}
                OpBranch %end
                %end = OpLabel
                OpReturn
                OpFunctionEnd\n"
            )
    };
    let input = minimal(&pushed("%x"), &pushed("%u0"));
    let words: Vec<u32> = input.push_constants.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("a word"))).collect();
    assert!(words[0] == 0 && words[1] != 0 && words[2] == 0, "{words:?}");
    assert_eq!((input.groups, lengths(&input)), ([1; 3], vec![4, 4]));
}

/// For every first input and any number of workgroups on each axis, one number remains that cannot
/// be halved. The difference stays of its kind.
#[test]
fn every_first_input_becomes_minimal() {
    let module = |threshold: u32, where_: &str, code: &str| {
        let body = format!(
            "%iy = OpCompositeExtract %u %id 1
            %iz = OpCompositeExtract %u %id 2
            %yz = OpBitwiseOr %u %iy %iz
            %only_x = OpIEqual %bool %yz %u0
            %zeroth = OpIEqual %bool %i %u0
            %first = OpLogicalAnd %bool %only_x %zeroth
            %not = OpNot %u %a
            OpSelectionMerge %end None
            OpBranchConditional {where_} %then %end
            %then = OpLabel
            {code}
            OpBranch %end
            %end = OpLabel"
        );
        // Elements i and i + 3 are read. The number of elements is odd.
        let body = text(&body, false).replace("%i4 = OpIAdd %u %i %u4", "%i4 = OpIAdd %u %i %u3");
        body.replace("%four =", &format!("%t = OpConstant %u {threshold}\n%four ="))
    };
    let minimal = |before: &str, after: &str, seed: u64| {
        let settings = Settings { inputs: 200, fuel: 1 << 12, seed, ..Settings::default() };
        let summary = refines(&side("BEFORE", before), &side("AFTER", after), &settings, |_| {}).expect("the interfaces match");
        let (_, input, found) = *summary.disagreement.expect("a disagreement");
        let lengths: Vec<_> = input.buffers.iter().map(|b| b.bytes.len()).collect();
        assert_eq!((input.groups, lengths), ([1; 3], vec![28, 16]), "seed {seed}");
        let words = input.buffers[0].bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("a word")));
        (words.filter(|&word| word != 0).collect::<Vec<_>>(), found.difference.kind.category())
    };
    let at_least = "%c = OpUGreaterThanEqual %bool %a %t";
    let odd = "%low = OpBitwiseAnd %u %a %u1\n%c = OpIEqual %bool %low %u1";
    for (condition, threshold, most) in [(at_least, 2, 3), (at_least, 100, 199), (at_least, 1 << 20, (1 << 21) - 1), (odd, 1, 1)] {
        let stores = |value: &str| module(threshold, "%only_x", &format!("{condition}\n%x = OpSelect %u %c {value} %a\nOpStore %po %x"));
        for seed in 1..=6 {
            let (words, kind) = minimal(&stores("%a"), &stores("%not"), seed);
            assert!(words.len() == 1 && (threshold..=most).contains(&words[0]), "{condition}, {threshold}, seed {seed}: {words:?}");
            assert_eq!(kind, "another value");
        }
    }
    // AFTER has undefined behaviour for 0, and another value for every other number.
    let after = module(0, "%first", "%q = OpUDiv %u %u1 %a\nOpStore %po %not");
    let found: Vec<_> = (1..=6).map(|seed| minimal(&module(0, "%first", "OpStore %po %a"), &after, seed)).collect();
    assert!(found.iter().any(|(_, kind)| *kind == "another value"), "{found:?}");
    for (words, kind) in found {
        assert_eq!(words, if kind == "another value" { vec![1] } else { vec![] }, "{kind}");
    }
    // Floats that do not matter become zeros.
    let stores =
        |value: u32| side("", &float_frame(32, true, "%x = OpBitcast %f %given\nOpStore %po %x").replace("NUMBER", &value.to_string()));
    for seed in 1..=6 {
        let summary = refines(&stores(1), &stores(2), &Settings { seed, ..settings() }, |_| {}).expect("the interfaces match");
        assert_eq!(summary.disagreement.expect("a disagreement").1.buffers[0].bytes, [0; 8], "seed {seed}");
    }
}

#[test]
fn interfaces_must_match() {
    let before = text("OpStore %po %a", false);
    let mismatch = |after: &str| refines(&side("BEFORE", &before), &side("AFTER", after), &settings(), |_| {}).expect_err("differs").0;
    let said = mismatch(&before.replace("LocalSize 4 1 1", "LocalSize 2 1 1"));
    assert_eq!(said, "a workgroup has 4,1,1 invocations before and 2,1,1 after; they must be as many");
    let said = mismatch(&before.replace("GLCompute %main \"main\"", "GLCompute %main \"other\""));
    assert!(said.contains("\"main\" before and \"other\" after"), "{said}");
    let said = mismatch(&before.replace("%out Binding 1", "%out Binding 2"));
    assert!(said.contains("AFTER uses a storage buffer at 0.2 (") && said.contains("BEFORE uses nothing there"), "{said}");
    let uniform = before
        .replace(
            "%in = OpVariable %p_block StorageBuffer",
            "%words = OpTypeArray %u %u31\n%uniform = OpTypeStruct %words\n%p_uniform = OpTypePointer Uniform %uniform\n%puu = OpTypePointer Uniform %u\n%in = OpVariable %p_uniform Uniform",
        )
        .replace("OpAccessChain %pu %in", "OpAccessChain %puu %in")
        .replace("OpDecorate %array", "OpDecorate %words ArrayStride 16\nOpMemberDecorate %uniform 0 Offset 0\nOpDecorate %uniform Block\nOpDecorate %array");
    let said = mismatch(&uniform);
    assert!(said.contains("at 0.0 is a storage buffer before and a uniform buffer after"), "{said}");
    let said = mismatch(&before.replace("MemberDecorate %block 0 Offset 0", "MemberDecorate %block 0 Offset 8"));
    assert!(said.contains("AFTER needs 8 bytes at 0.0") && said.contains("BEFORE 0"), "{said}");
    // AFTER may use less: here it does not read the input.
    assert_eq!(
        compared_texts(&text("%x = OpBitwiseAnd %u %a %u0\nOpStore %po %x", false), &text("OpStore %po %u0", false)).verdict().name(),
        "agree"
    );
    let pinned = Settings { pinned: vec![("0.7".parse().expect("a place"), vec![0; 64])], ..settings() };
    let sides = (side("BEFORE", &before), side("AFTER", &before));
    assert!(refines(&sides.0, &sides.1, &pinned, |_| {}).expect_err("no such buffer").0.contains("0.7"));
}

/// Inputs are a function of seed and number. Most of them are not vacuous. A disagreement is the
/// same each time.
#[test]
fn inputs_say_something_and_come_back() {
    let before = text(GUARDED, false);
    let free = Settings { inputs: 60, ..Settings::default() };
    let again = || refines(&side("BEFORE", &before), &side("AFTER", &text(HOISTED, false)), &free, |_| {}).expect("the interfaces match");
    let (one, two) = (again(), again());
    assert_eq!(format!("{:?}", one.disagreement), format!("{:?}", two.disagreement));
    let (_, minimal, _) = *one.disagreement.expect("a division by zero");
    assert_eq!(minimal.groups, [1; 3]);
    assert!(minimal.buffers.iter().all(|b| b.bytes.iter().all(|&byte| byte == 0) && b.bytes.len() <= 32), "{minimal:?}");
    let summary = refines(&side("BEFORE", &before), &side("AFTER", &before), &free, |_| {}).expect("the interfaces match");
    assert!(summary.verdict().name() == "agree" && summary.agree >= 57, "{summary:?}");
}

fn smallstep(args: &[&str]) -> (i32, String, String) {
    let shown = command::smallstep(args, "");
    (shown.code, shown.out, shown.err)
}

/// Splits a command line into words as a shell does. No word may contain a quote.
fn words(line: &str) -> Vec<String> {
    let parts = line.trim().split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part.to_string()] } else { part.split_whitespace().map(str::to_string).collect() })
        .collect()
}

#[test]
fn the_command_blames_and_its_minimal_input_reproduces() {
    let (before, after) = ("examples/spirv/average.spvasm", "examples/spirv/average-hoisted.spvasm");
    let (code, out, err) = smallstep(&["compare", before, after]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.starts_with("disagree on input "), "{out}");
    assert!(out.contains("AFTER has undefined behaviour that BEFORE has not: spirv/division-by-zero"), "{out}");
    assert!(out.contains(&format!("\n  at {after}:")), "{out}");
    let lines: Vec<Vec<String>> = out.lines().filter(|line| line.starts_with("  smallstep run ")).map(words).collect();
    let codes: Vec<i32> = lines.iter().map(|line| smallstep(&line[1..].iter().map(String::as_str).collect::<Vec<_>>()).0).collect();
    assert_eq!(codes, [0, 5], "{out}");

    let (code, out, _) = smallstep(&["compare", before, after, "--json"]);
    let object: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &object["verdict"], &object["disagreement"]["kind"]), (1, &"disagree".into(), &"spirv/division-by-zero".into()));

    assert_eq!(smallstep(&["compare", after, before, "--inputs", "20"]).0, 0, "a division may sink under its guard");
    let (code, out, _) = smallstep(&["compare", "examples/spirv/race.spvasm", "examples/spirv/sum.spvasm", "--inputs", "5"]);
    assert!(code == 3 && out.contains("nothing was shown"), "{code}: {out}");
    assert_eq!(smallstep(&["compare", before, "no-such-file"]).0, 2);
    assert_eq!(smallstep(&["compare", before, after, "--schedule", "random:1"]).0, 2);
}

/// If AFTER has another interface, that is a disagreement that names the change. More entry points,
/// or fewer resources, are no disagreement.
#[test]
fn another_interface_is_a_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        path
    };
    let whole = text("%x = OpIAdd %u %a %b\nOpStore %po %x", false);
    let before = file("before.spvasm", &whole);
    for (from, to, said) in [
        ("LocalSize 4 1 1", "LocalSize 8 1 1", "a workgroup has 4,1,1 invocations before and 8,1,1 after"),
        ("GLCompute %main \"main\"", "GLCompute %main \"other\"", "no compute entry point is called \"main\"; there are other"),
        ("OpDecorate %out Binding 1", "OpDecorate %out Binding 7", "uses a storage buffer at 0.7"),
        ("OpDecorate %out DescriptorSet 0", "OpDecorate %out DescriptorSet 3", "at 3.1"),
        ("%u4 = OpConstant %u 4", "OpDecorate %u4 SpecId 9\n%u4 = OpSpecConstant %u 4", "has the SpecId 9"),
    ] {
        assert!(whole.contains(from), "{from}");
        let mut changed = whole.replace(from, to);
        if let Some(line) = to.lines().find(|line| line.starts_with("OpDecorate %u4")) {
            changed = changed.replace(&format!("{line}\n"), "").replace("OpDecorate %gid", &format!("{line}\nOpDecorate %gid"));
        }
        let after = file("after.spvasm", &changed);
        let (code, out, err) = smallstep(&["compare", &before, &after]);
        assert_eq!(code, 1, "{to}: {out}{err}");
        assert!(out.contains("disagree: AFTER has another interface: ") && out.contains(said), "{to}: {out}");
        let (code, out, _) = smallstep(&["compare", &before, &after, "--json"]);
        let object: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((code, &object["verdict"], &object["disagreement"]["kind"]), (1, &"disagree".into(), &"another interface".into()));
    }
    let more = whole.replace("OpExecutionMode", "OpEntryPoint GLCompute %main \"more\" %gid\nOpExecutionMode");
    let (code, out, err) = smallstep(&["compare", &before, &file("more.spvasm", &more), "--inputs", "10"]);
    assert_eq!(code, 0, "an entry point more: {out}{err}");
    let zero = text("%x = OpISub %u %a %a\nOpStore %po %x", false);
    let uses = ["%pa ", "%pb ", "%a ", "%b ", "%fa ", "%fb ", "%in ", "%x ", "OpDecorate %in "];
    let kept: Vec<&str> = zero.lines().filter(|line| !uses.iter().any(|used| line.starts_with(used))).collect();
    let less = kept.join("\n").replace("OpStore %po %x", "OpStore %po %u0");
    let (code, out, err) = smallstep(&["compare", &file("zero.spvasm", &zero), &file("less.spvasm", &less), "--inputs", "10"]);
    assert_eq!(code, 0, "a buffer less: {out}{err}");
    let (code, out, _) = smallstep(&["compare", &file("less.spvasm", &less), &file("zero.spvasm", &zero)]);
    assert!(code == 1 && out.contains("uses a storage buffer at 0.0"), "a buffer more: {out}");
    // A mistake in BEFORE or in the arguments is no finding.
    assert_eq!(smallstep(&["compare", &before, &before, "--entry", "other"]).0, 2);
    assert_eq!(smallstep(&["compare", &before, &before, "--set", "0.9=u32:1"]).0, 2);
}

#[test]
fn a_byte_is_blamed_on_its_writers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        path
    };
    let a = file("a.spvasm", &text("%x = OpIAdd %u %a %b\nOpStore %po %x", false));
    let b = file("b.spvasm", &text("%x = OpISub %u %a %b\nOpStore %po %x", false));
    let (code, out, _) = smallstep(&["compare", &a, &b]);
    let line = 1 + std::fs::read_to_string(&b).expect("there").lines().position(|line| line == "OpStore %po %x").expect("it stores");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("0.1 member 0[") && out.contains("BEFORE shows 1, AFTER shows 4294967295"), "{out}");
    assert!(out.contains("OpStore (instruction ") && out.contains(" stores 4294967295\n  in %"), "{out}");
    assert!(out.contains(&format!("  at {b}:{line}\n")), "{out}");
    // A pinned buffer keeps its contents.
    let (code, out, _) = smallstep(&["compare", &a, &b, "--set", "0.0=u32:5*8", "--groups", "1"]);
    assert!(code == 1 && out.contains("--set '0.0=u32:5*8'"), "{out}");
    assert_eq!(smallstep(&["compare", &a, &b, "--set", "0.0=u32:0*8", "--groups", "1", "--engine", "reference"]).0, 0);
    let (code, out, _) = smallstep(&["compare", &a, &b, "--set", "0.0=u32:5*8", "--set", "0.1=u32:3*9", "--groups", "1"]);
    assert!(code == 1 && out.contains("--set '0.1=u32:3*9'"), "{out}");
}

#[test]
fn wgsl_is_read_by_naga() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        path
    };
    let shader = |value: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> a: array<u32>;\n@group(0) @binding(1) var<storage, read_write> b: array<u32>;\n\
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n  b[id.x] = {value};\n}}\n"
        )
    };
    let (double, shifted, tripled) =
        (file("a.wgsl", &shader("a[id.x] * 2")), file("b.wgsl", &shader("a[id.x] << 1")), file("c.wgsl", &shader("a[id.x] * 3")));
    assert_eq!(smallstep(&["compare", &double, &shifted, "--inputs", "20"]).0, 0);
    let (code, out, _) = smallstep(&["compare", &double, &tripled]);
    assert!(code == 1 && out.contains("c.wgsl:4:"), "{out}");
    let (code, out, err) = smallstep(&["run", &double, "--set", "0.0=u32:1,2,3,4", "--set", "0.1=u32:0*4"]);
    assert!(code == 0 && out.contains("= 2 4 6 8"), "{out}{err}");
    let (code, _, err) = smallstep(&["run", &file("d.wgsl", "fn main( {")]);
    assert!(code == 2 && err.contains("d.wgsl:1:"), "{err}");
    // An unchecked index stays undefined behaviour.
    assert_eq!(smallstep(&["run", &double, "--set", "0.0=u32:1", "--set", "0.1=u32:0*4"]).0, 5);
}

/// Rewrites a module: replaces the opcode `from` by `to` in every instruction.
fn replaced(words: &[u32], from: u32, to: u32) -> Vec<u32> {
    let mut words = words.to_vec();
    let mut at = 5;
    while at < words.len() {
        if words[at] & 0xffff == from {
            words[at] = words[at] & 0xffff_0000 | to;
        }
        at += (words[at] >> 16).max(1) as usize;
    }
    words
}

#[test]
fn wrong_optimisers_of_generated_modules_are_caught() {
    use rspirv::spirv::Op;
    let count = |rewrite: &dyn Fn(&[u32]) -> Vec<u32>| {
        let (mut wrong, mut undecided) = (0, 0);
        for seed in 0..12 {
            let case = case(seed, &Limits { executed: 60, ..Limits::default() });
            match compared(&case, &rewrite(&case.words)) {
                Verdict::Agree => {}
                Verdict::Disagree(_) => wrong += 1,
                Verdict::Undecided(_) => undecided += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(undecided <= 2, "{undecided} of 12 modules are undecided");
        wrong
    };
    assert_eq!(count(&|words| words.to_vec()), 0);
    for (from, to) in [(Op::IAdd, Op::ISub), (Op::ULessThan, Op::ULessThanEqual), (Op::ShiftLeftLogical, Op::ShiftRightLogical)] {
        let wrong = count(&|words| replaced(words, from as u32, to as u32));
        assert!(wrong > 0, "{from:?} as {to:?} survives");
    }
}

#[cfg(unix)]
#[test]
fn commands_that_optimise_are_run_and_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    // A shell reads the script: a file that was just written may be too busy to execute.
    let script = |name: &str, body: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{body}\n")).expect("written");
        format!("sh {}", path.display())
    };
    let case = case(3, &Limits { executed: 40, ..Limits::default() });
    let made = |command: &str, seconds: u64| Compiler::new(command, Duration::from_secs(seconds)).expect("it is there");
    let copies = made(&format!("{} -O", script("copies", "cp \"$2\" \"$4\"")), 60);
    assert_eq!(copies.run(&case.words).map(|compiled| compiled.words), Ok(case.words.clone()));
    assert_eq!(optimised(&case, &copies), Verdict::Agree);
    let refuses = made(&script("refuses", "echo no such pass >&2; exit 1"), 60);
    assert_eq!(
        optimised(&case, &refuses),
        Verdict::Disagree(Wrong { what: "the compiler refuses a valid module: no such pass".into(), ends: Ends::Shown })
    );
    let hangs = made(&script("hangs", "exec sleep 600"), 1);
    assert_eq!(hangs.run(&case.words).err(), Some(NotCompiled::TimedOut("the compiler has not ended after 1 s".into())));
    let crashes = made(&script("crashes", "kill -SEGV $$"), 60);
    assert!(matches!(optimised(&case, &crashes), Verdict::Disagree(Wrong { ends: Ends::Failed, .. })));
    let by_wgsl = || Compiler::wgsl(smallstep::compile::wgsl::Options::default(), Duration::from_secs(60));
    assert_eq!(optimised(&case, &by_wgsl().validated_by("grep -q @compute")), Verdict::Agree);
    let says = script("says", "echo \"error in $1\" >&2; exit 1");
    assert_eq!(
        optimised(&case, &by_wgsl().validated_by(&says)),
        Verdict::Disagree(Wrong { what: "the validator refuses a valid module: error in FILE".into(), ends: Ends::Shown })
    );
    let writes_nothing = made(&script("nothing", "exit 0"), 60);
    assert!(matches!(writes_nothing.run(&case.words), Err(NotCompiled::Invalid(_))));
    assert!(Compiler::new("no-such-optimiser -O", Duration::from_secs(1)).expect_err("absent").what.contains("no-such-optimiser"));
    let (code, _, err) = smallstep(&["fuzz-spirv", "--count", "1", "--optimiser", "no-such-optimiser -O"]);
    assert!(code == 3 && err.contains("no-such-optimiser"), "{code}: {err}");
    let (code, out, _) = smallstep(&["fuzz-spirv", "--count", "3", "--executed", "40", "--optimiser", copies.name()]);
    assert!(code == 0 && out.contains("0 disagree or failed"), "{code}: {out}");
}

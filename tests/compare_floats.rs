//! Refinement of floats of which devices may show several values. Disjoint sets disagree, and sets
//! that overlap do not. Also, the numbers in modules are among the inputs.

mod common;

use common::frame::float_text;
use smallstep::compute::ComputeModule;
use smallstep::compute::given::Place;
use smallstep::theorem::refine::{Settings, Side, Summary, Verdict, refines};
use smallstep_semantics::spirv::{Module, Options, assemble};

fn side(name: &str, body: &str) -> Side {
    side_of(name, &float_text(body))
}

fn side_of(name: &str, text: &str) -> Side {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{name}: {}:{}: {}", e.line, e.column, e.what));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
    Side::new(name, ComputeModule::new(module, None).expect("one entry point"), None)
}

fn compared(before: &str, after: &str) -> Summary {
    let settings = Settings { inputs: 40, ..Settings::default() };
    refines(&side("BEFORE", before), &side("AFTER", after), &settings, |_| {}).expect("the interfaces match")
}

/// A float that no device shows for BEFORE is a disagreement, which names both sets.
#[test]
fn floats_outside_of_their_set_disagree() {
    for (what, before, after) in [
        ("cosine for sine", "%r = OpExtInst %f %glsl Sin %a", "%r = OpExtInst %f %glsl Cos %a"),
        ("twice a square root", "%r = OpExtInst %f %glsl Sqrt %a", "%s = OpExtInst %f %glsl Sqrt %a\n%r = OpFMul %f %s %two"),
        ("a half for a third", "%r = OpFMul %f %a %third", "%r = OpFMul %f %a %half"),
        ("a quotient the other way round", "%r = OpFDiv %f %a %b", "%r = OpFDiv %f %b %a"),
        ("exp for exp2", "%r = OpExtInst %f %glsl Exp2 %a", "%r = OpExtInst %f %glsl Exp %a"),
        (
            "length for distance",
            "%v = OpCompositeConstruct %f2 %a %b\n%r = OpExtInst %f %glsl Length %v",
            "%r = OpExtInst %f %glsl Distance %a %b",
        ),
    ] {
        let summary = compared(before, after);
        assert_eq!(summary.verdict().name(), "disagree", "{what}: {:?}", summary.undecided);
        let (_, _, found) = *summary.disagreement.expect("a disagreement");
        assert!(found.what.contains("AFTER shows"), "{what}: {}", found.what);
    }
    let summary = compared("%r = OpExtInst %f %glsl Sin %a", "%r = OpExtInst %f %glsl Cos %a");
    let found = summary.disagreement.expect("a disagreement").2.what;
    assert!(found.contains("; on devices BEFORE allows ["), "{found}");
}

/// If a device may show the same value for both modules, there is no disagreement.
#[test]
fn floats_within_their_set_do_not_disagree() {
    for (what, before, after) in [
        ("a product for a quotient", "%r = OpFDiv %f %a %three", "%r = OpFMul %f %a %third"),
        ("a sum in another order", "%s = OpFAdd %f %a %b\n%r = OpFAdd %f %s %third", "%s = OpFAdd %f %b %third\n%r = OpFAdd %f %a %s"),
        (
            "an inverse square root",
            "%r = OpExtInst %f %glsl InverseSqrt %a",
            "%s = OpExtInst %f %glsl Sqrt %a\n%o = OpFDiv %f %half %half\n%r = OpFDiv %f %o %s",
        ),
        ("a fused product", "%m = OpFMul %f %a %b\n%r = OpFAdd %f %m %third", "%r = OpExtInst %f %glsl Fma %a %b %third"),
        (
            "a tangent as a quotient",
            "%r = OpExtInst %f %glsl Tan %a",
            "%s = OpExtInst %f %glsl Sin %a\n%c = OpExtInst %f %glsl Cos %a\n%r = OpFDiv %f %s %c",
        ),
    ] {
        let summary = compared(before, after);
        assert!(
            matches!(summary.verdict(), Verdict::Undecided(_) | Verdict::Agree),
            "{what}: {:?}",
            summary.disagreement.map(|d| d.2.what)
        );
        assert!(summary.agree > 0, "{what}: {:?}", summary.undecided);
    }
}

/// Sums and products in another order, multiplied out, contracted, or without terms that cancel. A
/// compiler may do all this without NoContraction. It may not add terms that cancel.
#[test]
fn the_same_sums_and_products_agree() {
    let sine = "%s = OpExtInst %f %glsl Sin %a\n";
    let of_sine = |body: &str| format!("{sine}{body}");
    let root = |sum: &str| format!("{sine}{sum}\n%p = OpFMul %f %t %t\n%r = OpExtInst %f %glsl Sqrt %p");
    let left = "%q = OpFAdd %f %s %third\n%t = OpFAdd %f %q %two";
    let right = "%q = OpFAdd %f %third %two\n%t = OpFAdd %f %s %q";
    let before = of_sine("%q = OpFAdd %f %s %third\n%r = OpFAdd %f %q %two");
    let cases = [
        ("a sum in another order", before.clone(), of_sine("%q = OpFAdd %f %third %two\n%r = OpFAdd %f %s %q"), "agree"),
        ("the same below a root", root(left), root(right), "agree"),
        (
            "a product in another order",
            of_sine("%q = OpFMul %f %s %third\n%r = OpFMul %f %q %s"),
            of_sine("%q = OpFMul %f %s %s\n%r = OpFMul %f %third %q"),
            "agree",
        ),
        (
            "multiplied out",
            of_sine("%q = OpFAdd %f %s %third\n%r = OpFMul %f %q %three"),
            of_sine("%p = OpFMul %f %s %three\n%q = OpFMul %f %third %three\n%r = OpFAdd %f %p %q"),
            "agree",
        ),
        (
            "contracted",
            of_sine("%q = OpFMul %f %s %third\n%r = OpFAdd %f %q %third"),
            of_sine("%r = OpExtInst %f %glsl Fma %s %third %third"),
            "agree",
        ),
        (
            "a reciprocal",
            of_sine("%q = OpFMul %f %s %half\n%r = OpFDiv %f %q %three"),
            of_sine("%q = OpFDiv %f %half %three\n%r = OpFMul %f %s %q"),
            "agree",
        ),
        (
            "what cancels is left out",
            of_sine("%q = OpFAdd %f %s %third\n%r = OpFSub %f %q %third"),
            of_sine("%r = OpCopyObject %f %s"),
            "agree",
        ),
        (
            "what cancels is brought in",
            of_sine("%r = OpCopyObject %f %s"),
            of_sine("%q = OpFAdd %f %s %third\n%r = OpFSub %f %q %third"),
            "undecided",
        ),
        ("another term", before.clone(), of_sine("%q = OpFAdd %f %s %third\n%r = OpFAdd %f %q %three"), "disagree"),
        ("a term twice", before.clone(), of_sine("%q = OpFAdd %f %s %third\n%w = OpFAdd %f %q %third\n%r = OpFAdd %f %w %two"), "disagree"),
    ];
    for (what, before, after, expected) in cases {
        let summary = compared(&before, &after);
        assert_eq!(summary.verdict().name(), expected, "{what}: {:?}", summary.undecided);
    }
}

/// For an infinite y, x + y - y is not x. A module that preserves infinities does not leave out
/// terms that cancel.
#[test]
fn nothing_is_left_out_where_infinities_are_kept() {
    let keeping = |body: &str| {
        let extension = "OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\"\n%glsl";
        let mode = "OpExecutionMode %main SignedZeroInfNanPreserve 32\nOpDecorate %gid";
        float_text(body).replacen("%glsl", extension, 1).replacen("OpDecorate %gid", mode, 1)
    };
    let sine = "%s = OpExtInst %f %glsl Sin %a\n";
    let [before, after] =
        ["%q = OpFAdd %f %s %third\n%r = OpFSub %f %q %third", "%r = OpCopyObject %f %s"].map(|body| format!("{sine}{body}"));
    let verdict = |text: &dyn Fn(&str) -> String| {
        let [before, after] = [("BEFORE", &before), ("AFTER", &after)].map(|(name, body)| side_of(name, &text(body)));
        refines(&before, &after, &Settings { inputs: 12, ..Settings::default() }, |_| {}).expect("compared").verdict().name()
    };
    assert_eq!(verdict(&|body| float_text(body)), "agree", "nothing is kept");
    assert_eq!(verdict(&keeping), "undecided");
}

/// A device may flush a subnormal number. Then a zero of either sign is allowed, and no
/// other value.
#[test]
fn subnormal_numbers_may_be_zero() {
    // The least normal number, made from its bits, and half of it.
    let least = "%b4 = OpIMul %u %u4 %u4\n%b8 = OpIMul %u %b4 %b4\n%b16 = OpIMul %u %b8 %b8\n%b20 = OpIMul %u %b16 %b4\n\
        %b22 = OpIMul %u %b20 %u4\n%b23 = OpIAdd %u %b22 %b22\n%least = OpBitcast %f %b23\n";
    let before = format!("{least}%r = OpFMul %f %least %half");
    for (what, after, expected) in [
        ("the same", before.clone(), "agree"),
        ("zero", "%r = OpFSub %f %half %half".into(), "agree"),
        ("minus zero", "%z = OpFSub %f %half %half\n%r = OpFNegate %f %z".into(), "agree"),
        ("a half of it", format!("{least}%q = OpFMul %f %least %half\n%r = OpFMul %f %q %half"), "disagree"),
        ("its negative", format!("{least}%q = OpFMul %f %least %half\n%r = OpFNegate %f %q"), "disagree"),
        ("the normal number", format!("{least}%r = OpCopyObject %f %least"), "disagree"),
    ] {
        let summary = compared(&before, &after);
        assert_eq!(summary.verdict().name(), expected, "{what}: {:?}", summary.undecided);
    }
}

/// If nothing is known of a compared float, its comparison has either result. An integer that
/// depends on it is undecided, although 0 and 1 have the bits of zero and of a subnormal number.
#[test]
fn integers_that_depend_on_an_unknown_float_are_undecided() {
    use smallstep::compile::naga::{LIMIT, Space, words};
    let side = |name: &str, value: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> a: array<u32, 4>; @group(0) @binding(1) var<storage, read_write> out: array<u32, 4>;
            @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {{
            let x = unpack4x8unorm(a[i]).x; out[i] = select(0u, 1u, {value}); }}"
        );
        let module = Module::load(&words(name, &text, Space::OfEach, LIMIT).expect("valid")).expect("loads");
        Side::new(name, ComputeModule::new(module, None).expect("one entry point"), None)
    };
    let before = || side("BEFORE", "x < 0.5");
    let settings = Settings { pinned: vec![(Place::new(0, 0), 0x83u32.to_le_bytes().repeat(4))], ..Settings::default() };
    for (after, expected) in [("x < 0.5", "agree"), ("0.5 > x", "agree"), ("x > 0.5", "undecided"), ("i < 7u", "undecided")] {
        let summary = refines(&before(), &side("AFTER", after), &settings, |_| {}).expect("the interfaces match");
        assert_eq!(summary.verdict().name(), expected, "{after}");
        let first: Vec<u64> = summary.first_undecided.values().map(|(index, _)| *index).collect();
        assert_eq!(first, if expected == "undecided" { vec![0] } else { vec![] });
    }
}

/// An undefined float is not in a bounded set.
#[test]
fn an_undefined_float_is_in_no_bounded_set() {
    let summary = compared("%r = OpExtInst %f %glsl Sin %a", "%r = OpUndef %f");
    let found = summary.disagreement.expect("a disagreement").2;
    assert_eq!(found.difference.kind.category(), "any value");
}

/// Some input takes a branch that only one number takes, since the module names that number.
#[test]
fn the_numbers_that_modules_name_are_drawn() {
    let body = |value: &str| format!("%bits = OpBitcast %u %a\n%c = OpIEqual %bool %bits %magic\n%r = OpSelect %f %c {value} %b");
    let summary = compared(&body("%two"), &body("%three"));
    assert_eq!(summary.verdict().name(), "disagree", "floats have the bits of integers too");
}

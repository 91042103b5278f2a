//! Refinement of modules with images, and of drawn stages: allowed and wrong rewrites.

mod common;

use common::frame::{DRAWN_TYPES, flat_fragment, fragment, sampled, storage};
use smallstep::compute::ComputeModule;
use smallstep::theorem::refine::{Engine, Settings, Side, StageModule, Summary, refines, refines_draws};
use smallstep_semantics::spirv::{Module, Options, assemble};

fn module(text: &str) -> Module {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}\n{text}", e.line, e.column, e.what));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn drawn(before: &str, after: &str) -> Summary {
    let stages = |name: &str, text: &str| StageModule::new(name, module(text), None).unwrap_or_else(|e| panic!("{e}"));
    let settings = Settings { inputs: 16, ..Settings::default() };
    refines_draws(&stages("BEFORE", before), &stages("AFTER", after), &settings, |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

fn dispatched(before: &str, after: &str) -> Summary {
    let side = |name: &str, text: &str| Side::new(name, ComputeModule::new(module(text), None).expect("one entry point"), None);
    let settings = Settings { inputs: 16, engine: Engine::Any, ..Settings::default() };
    refines(&side("BEFORE", before), &side("AFTER", after), &settings, |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// The result of a comparison: the verdict, or the kind of difference and its description.
fn said(summary: &Summary) -> String {
    match &summary.disagreement {
        Some(found) => format!("{}: {}", found.2.difference.kind.category(), found.2.what),
        None => summary.verdict().name().into(),
    }
}

const SCALED: &str = "%cx = OpCompositeExtract %float %c 0\n%t = OpFMul %float %cx %f3\n%r = OpFMul %float %t %third\n\
    %o = OpCompositeConstruct %v4 %r %r %r %f1\nOpStore %out %o";

#[test]
fn fragment_stages_show_only_what_is_allowed() {
    let depth = "%t = OpFMul %float %x %third\n%d = OpFMul %float %t %third\nOpStore %depth %d\nOpStore %out %white";
    let cases: [(&str, &str, &str); 11] = [
        ("OpStore %out %c", "OpStore %out %c", "agree"),
        ("OpStore %out %white", "OpStore %out %grey", "another value: component 0 of the texel at "),
        // Of a depth that devices may differ in, nothing is known.
        (depth, depth, "agree"),
        (depth, "OpStore %depth %f0\nOpStore %out %white", "undecided"),
        // A discarded fragment leaves the target unchanged.
        (
            "OpStore %out %white",
            "OpStore %out %white\n%left = OpFOrdLessThan %bool %x %f1\nOpSelectionMerge %m None\nOpBranchConditional %left %k %m\n\
             %k = OpLabel\nOpKill\n%m = OpLabel",
            "another value: component 0 of the texel at ",
        ),
        ("OpStore %out %white", "OpStore %depth %f0\nOpStore %out %white", "another value: component 0 of the texel at "),
        ("OpStore %out %white", "", "any value"),
        ("%u = OpUndef %v4\nOpStore %out %u", "OpStore %out %grey", "agree"),
        ("OpStore %out %white", "%u = OpUndef %v4\nOpStore %out %u", "any value"),
        // Devices may round, so the result is a set. The exact product is in it.
        (SCALED, SCALED, "agree"),
        (SCALED, "OpStore %out %grey", "another value"),
    ];
    for (before, after, expected) in cases {
        let summary = drawn(&fragment(before), &fragment(after));
        assert!(said(&summary).starts_with(expected), "{before}\n{after}\n{}", said(&summary));
        assert!(summary.verdict().name() != "agree" || summary.agree == 16, "{summary:?}");
    }
}

#[test]
fn a_float_of_the_set_that_devices_may_show_is_allowed() {
    let root = "%r = OpExtInst %float %glsl Sqrt %half\n%o = OpCompositeConstruct %v4 %r %r %r %f1\nOpStore %out %o";
    let stored = |name: &str| format!("%o = OpCompositeConstruct %v4 {name} {name} {name} %f1\nOpStore %out %o");
    // One unit in the last place above the nearest float.
    let summary = drawn(&flat_fragment(root), &flat_fragment(&stored("%above")));
    assert_eq!((said(&summary).as_str(), summary.agree), ("agree", 16));
    assert!(said(&drawn(&flat_fragment(root), &flat_fragment(&stored("%third")))).starts_with("another value"));
}

/// AFTER may have undefined behaviour only on some devices, or only for some values of an undefined
/// value. This is no disagreement.
#[test]
fn undefined_behaviour_that_is_not_certain_is_undecided() {
    let white = "OpStore %out %white";
    let divided = |divisor: &str| format!("%u = OpUndef %uint\n{divisor}\n%q = OpUDiv %uint %c1 %d\n{white}");
    let rounded = |factor: &str| {
        format!("%r = OpExtInst %float %glsl Sqrt %half\n%s = OpFMul %float %r {factor}\n%q = OpConvertFToU %uint %s\n{white}")
    };
    for (after, expected) in [
        (divided("%d = OpCopyObject %uint %u"), "spirv/undefined-operand: "),
        (divided("%d = OpBitwiseOr %uint %u %c1"), "undecided"),
        (divided("%d = OpBitwiseOr %uint %c1 %c1"), "agree"),
        (rounded("%f1"), "agree"),
        (rounded("%huge"), "undecided"),
    ] {
        let summary = drawn(&flat_fragment(white), &flat_fragment(&after));
        assert!(said(&summary).starts_with(expected), "{after}\n{}", said(&summary));
    }
}

/// A vertex stage with an attribute as its position, which passes another attribute on.
fn vertex(position: &str, passed: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Vertex %main \"main\" %p %a %position %v\n\
         OpDecorate %p Location 0\nOpDecorate %a Location 1\nOpDecorate %position BuiltIn Position\nOpDecorate %v Location 0\n{DRAWN_TYPES}\
         %p = OpVariable %in4 Input\n%a = OpVariable %in4 Input\n%position = OpVariable %out4 Output\n%v = OpVariable %out4 Output\n\
         %main = OpFunction %void None %fn\n%l = OpLabel\n%at = OpLoad %v4 %p\n%b = OpLoad %v4 %a\n{position}\n{passed}\nOpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn vertex_stages_show_positions_and_what_they_hand_on() {
    let plain = vertex("OpStore %position %at", "OpStore %v %b");
    assert_eq!(said(&drawn(&plain, &plain)), "agree");
    let without_w = vertex("%moved = OpCompositeInsert %v4 %f1 %at 3\nOpStore %position %moved", "OpStore %v %b");
    for other in [vertex("OpStore %position %b", "OpStore %v %b"), vertex("OpStore %position %at", "OpStore %v %at"), without_w] {
        assert!(said(&drawn(&plain, &other)).starts_with("another value"), "{other}");
    }
    let said_of_none = StageModule::new("X", module(&plain), Some("other")).err();
    assert_eq!(said_of_none.map(String::from).as_deref(), Some("no vertex or fragment entry point is called \"other\""));
}

#[test]
fn images_are_sampled_and_compared() {
    let text = sampled();
    assert_eq!(said(&drawn(&text, &text)), "agree");
    let other = text.replace("%c %c 0 1\n", "%c %c 1 0\n");
    assert!(said(&drawn(&text, &other)).starts_with("another value"));
}

#[test]
fn texels_of_storage_images_are_compared() {
    let copies = storage("OpImageWrite %o %at %r");
    assert_eq!(said(&dispatched(&copies, &copies)), "agree");
    let swizzled = storage("%q = OpVectorShuffle %v4 %r %r 1 0 2 3\nOpImageWrite %o %at %q");
    assert!(
        said(&dispatched(&copies, &swizzled)).contains("of the image at 0.1: BEFORE shows"),
        "{}",
        said(&dispatched(&copies, &swizzled))
    );
    let nothing = storage("");
    assert!(said(&dispatched(&copies, &nothing)).starts_with("another value"));
    let undefined = storage("%u = OpUndef %v4\nOpImageWrite %o %at %u");
    assert!(said(&dispatched(&copies, &undefined)).starts_with("any value"));
    assert_eq!(said(&dispatched(&undefined, &copies)), "agree");
}

#[test]
fn stages_must_be_the_same() {
    let both = |text: &str| StageModule::new("X", module(text), None).expect("a stage");
    let (vertex, fragment) = (both(&vertex("OpStore %position %at", "OpStore %v %b")), both(&fragment("OpStore %out %c")));
    let said = refines_draws(&vertex, &fragment, &Settings::default(), |_| {}).expect_err("other stages").0;
    assert!(said.contains("must be the same"), "{said}");
}

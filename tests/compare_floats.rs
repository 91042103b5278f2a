//! Refinement of floats of which devices may show several: sets that have nothing in common
//! disagree, and sets that overlap do not. And the numbers that modules name are among the inputs.

use smallstep::compute::ComputeModule;
use smallstep::theorem::refine::{Settings, Side, Summary, Verdict, refines};
use smallstep_semantics::spirv::{Module, Options, assemble};

/// Invocation i computes `%r`, a float, of `%a` and `%b`, the elements i and i + 4 of the input,
/// and stores it to element i of the output.
const FRAME: &str = r#"
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %gid
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block BufferBlock
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%u = OpTypeInt 32 0
%f = OpTypeFloat 32
%f2 = OpTypeVector %f 2
%v3 = OpTypeVector %u 3
%u0 = OpConstant %u 0
%u4 = OpConstant %u 4
%magic = OpConstant %u 305419896
%half = OpConstant %f 0.5
%third = OpConstant %f 0.333333343
%two = OpConstant %f 2
%three = OpConstant %f 3
%array = OpTypeRuntimeArray %f
%block = OpTypeStruct %array
%p_block = OpTypePointer Uniform %block
%pf = OpTypePointer Uniform %f
%p_gid = OpTypePointer Input %v3
%in = OpVariable %p_block Uniform
%out = OpVariable %p_block Uniform
%gid = OpVariable %p_gid Input
%main = OpFunction %void None %function
%entry = OpLabel
%id = OpLoad %v3 %gid
%i = OpCompositeExtract %u %id 0
%i4 = OpIAdd %u %i %u4
%pa = OpAccessChain %pf %in %u0 %i
%pb = OpAccessChain %pf %in %u0 %i4
%po = OpAccessChain %pf %out %u0 %i
%a = OpLoad %f %pa
%b = OpLoad %f %pb
BODY
OpStore %po %r
OpReturn
OpFunctionEnd
"#;

fn side(name: &str, body: &str) -> Side {
    let text = FRAME.trim_start().replace("BODY", body);
    let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{name}: {}:{}: {}", e.line, e.column, e.what));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
    Side::new(name, ComputeModule::new(module, None).expect("one entry point"), None)
}

fn compared(before: &str, after: &str) -> Summary {
    let settings = Settings { inputs: 40, ..Settings::default() };
    refines(&side("BEFORE", before), &side("AFTER", after), &settings, |_| {}).expect("the interfaces match")
}

/// What no device shows of BEFORE is a disagreement, which names both sets.
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

/// Where a device may show the same of both there is no disagreement.
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

/// An undefined float is not in a bounded set.
#[test]
fn an_undefined_float_is_in_no_bounded_set() {
    let summary = compared("%r = OpExtInst %f %glsl Sin %a", "%r = OpUndef %f");
    let found = summary.disagreement.expect("a disagreement").2;
    assert_eq!(found.difference.how.kind(), "any value");
}

/// A branch that only one number takes is taken.
#[test]
fn the_numbers_that_modules_name_are_drawn() {
    let body = |value: &str| format!("%bits = OpBitcast %u %a\n%c = OpIEqual %bool %bits %magic\n%r = OpSelect %f %c {value} %b");
    let summary = compared(&body("%two"), &body("%three"));
    assert_eq!(summary.verdict().name(), "disagree", "floats have the bits of integers too");
}

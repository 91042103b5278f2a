//! The exhibits of the errata of seed 002.

use smallstep::compile::wgsl::planted::Change;
use smallstep::compile::wgsl::{Options, PointSize, Why, convert};
use smallstep_semantics::spirv::{self, Module};

use super::{assembled, refusal, there_and_back};

#[test]
fn w_1_operands() {
    let module = |sum: &str| include_str!("modules/signedness.spvasm").replace("%m1 = OpIAdd %uint %s_a %b", sum);
    let loads = |text: &str| spirv::assemble(text, spirv::Options::default()).is_ok_and(|words| Module::load(&words).is_ok());
    assert!(loads(&module("%m1 = OpIAdd %uint %s_a %b")));
    assert!(!loads(&module("%m1 = OpIAdd %uint %int %s_a %b")));
}

#[test]
fn w_2_and_3_phis() {
    assert!(crate::sections::catches_in("phis", Change::Sequential));
    assert!(crate::sections::catches_in("phis", Change::EveryEdge));
}

#[test]
fn w_4_clip_distances() {
    let text = include_str!("modules/vertex.spvasm");
    let (wgsl, _) = there_and_back(&assembled(&text.replace("OpStore %point_size %one", "OpStore %clip %one")), &Options::default());
    assert!(wgsl.starts_with("enable clip_distances;") && wgsl.contains("@builtin(clip_distances)"), "{wgsl}");
    let refused = refusal(&assembled(&text.replace("OpStore %point_size %one", "OpStore %point_size %two")));
    assert_eq!((refused.why, refused.what.as_str()), (Why::BuiltIn, "the size of points is always 1.0 in WGSL"));
    there_and_back(&assembled(text), &Options::default());
    let sized = assembled(&text.replace("OpStore %point_size %one", "OpStore %point_size %two"));
    let ignores = Options { point_size: PointSize::Ignore, ..Options::default() };
    let converted = convert(&sized, &ignores).expect("it is converted");
    assert_eq!(converted.notes, ["the size of points is left out: in WGSL it is always 1.0"]);
    there_and_back(&sized, &ignores);
}

#[test]
fn w_5_depth_texels() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/textures.spvasm")), &Options::default());
    assert!(wgsl.contains("vec4<f32>(textureSampleLevel(depth, plain, "), "{wgsl}");
    assert!(wgsl.contains("0.0f, 0.0f, 1.0f)"), "{wgsl}");
}

#[test]
fn w_6_derivatives() {
    let (wgsl, _) = there_and_back(&assembled(include_str!("modules/textures.spvasm")), &Options::default());
    // The only use of the derivative is in the branch. The derivative stays in front of the branch.
    let (derivative, branch) = (wgsl.find("dpdx(").expect("a derivative"), wgsl.find("if ").expect("a branch"));
    assert!(derivative < branch, "{wgsl}");
}

//! Vertex and fragment stages, textures and samplers: their declarations, and modules that
//! are refused.

use smallstep::compile::wgsl::{Options, Why, convert};

use super::{assembled, refusal, there_and_back};

const TEXTURES: &str = include_str!("modules/textures.spvasm");

#[test]
fn depth_and_comparison_are_inferred_from_use() {
    let (wgsl, _) = there_and_back(&assembled(TEXTURES), &Options::default());
    for line in [
        "var color: texture_2d<f32>;",
        "var depth: texture_depth_2d;",
        "var plain: sampler;",
        "var compares: sampler_comparison;",
        "textureSampleCompareLevel(depth, compares, ",
    ] {
        assert!(wgsl.contains(line), "{line} is not in\n{wgsl}");
    }
}

#[test]
fn a_sampler_of_both_kinds_is_two() {
    let text = TEXTURES.replace("%cs = OpLoad %sampler %compares", "%cs = OpLoad %sampler %plain");
    let (wgsl, _) = there_and_back(&assembled(&text), &Options::default());
    for line in ["var plain: sampler;", "var plain_comparison: sampler_comparison;", "textureSampleCompareLevel(depth, plain_comparison, "]
    {
        assert!(wgsl.contains(line), "{line} is not in\n{wgsl}");
    }
}

#[test]
fn coordinates_have_as_many_dimensions_as_the_function_takes() {
    let (wgsl, _) = there_and_back(&assembled(TEXTURES), &Options::default());
    assert!(wgsl.contains("textureSample(color, plain, "), "{wgsl}");
    assert!(wgsl.contains(".xy"), "{wgsl}");
}

#[test]
fn the_position_is_all_that_is_left_of_gl_per_vertex() {
    let (wgsl, back) = there_and_back(&assembled(include_str!("modules/vertex.spvasm")), &Options::default());
    assert!(wgsl.contains("@builtin(position)"), "{wgsl}");
    assert!(!wgsl.contains("@builtin(point_size)") && !wgsl.contains("clip_distances"), "{wgsl}");
    assert!(!back.is_empty());
}

#[test]
fn a_killed_invocation_returns() {
    let text = TEXTURES.replace("OpReturn\nOpFunctionEnd", "OpKill\nOpFunctionEnd");
    let (wgsl, _) = there_and_back(&assembled(&text), &Options::default());
    assert!(wgsl.contains("discard;\n    return "), "{wgsl}");
}

#[test]
fn an_entry_point_is_selected_by_name() {
    let words = assembled(TEXTURES);
    let of = |entry: &str| convert(&words, &Options { entry: Some(entry.into()), ..Options::default() });
    assert!(of("main").is_ok());
    let said = of("other").expect_err("there is no such entry point").to_string();
    assert_eq!(said, "the module has no entry point called \"other\"");
}

#[test]
fn a_vertex_stage_writes_no_buffer_unless_that_is_asked_for() {
    let text = include_str!("modules/vertex.spvasm")
        .replace("OpDecorate %index", "OpDecorate %Buf Block\nOpMemberDecorate %Buf 0 Offset 0\nOpDecorate %buf DescriptorSet 0\nOpDecorate %buf Binding 0\nOpDecorate %index")
        .replace("%main = OpFunction", "%Buf = OpTypeStruct %float\n%pBuf = OpTypePointer StorageBuffer %Buf\n%pB = OpTypePointer StorageBuffer %float\n%buf = OpVariable %pBuf StorageBuffer\n%main = OpFunction")
        .replace("OpStore %color %p\n", "OpStore %color %p\n%bp = OpAccessChain %pB %buf %int_0\nBODY\n");
    let reads = text.replace("BODY", "%read = OpLoad %float %bp\nOpStore %clip %read");
    let (wgsl, _) = there_and_back(&assembled(&reads), &Options::default());
    assert!(wgsl.contains("var<storage, read> "), "{wgsl}");
    let writes = assembled(&text.replace("BODY", "OpStore %bp %f"));
    let refused = refusal(&writes);
    assert!(refused.why == Why::VertexWrites && refused.what.contains("WGSL's rules refuse"), "{refused}");
    let (wgsl, _) = there_and_back(&writes, &Options { vertex_writes: true, ..Options::default() });
    assert!(wgsl.contains("var<storage, read_write> "), "{wgsl}");
}

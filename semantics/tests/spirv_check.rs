//! What loading accepts and refuses: small modules, each with the check that refuses it; and
//! spirv-val's word on each, where it is installed.

#[path = "spirv_check/cases.rs"]
mod cases;
#[path = "spirv_check/data.rs"]
mod data;
#[path = "spirv_check/hostile.rs"]
mod hostile;
#[path = "spirv_check/specialize.rs"]
mod specialize;
#[path = "../../spec-tests/src/tools.rs"]
mod tools;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use cases::{PARTS, Says, Val, cases};
use smallstep_semantics::spirv::{Check, LoadError, Module, Options, assemble, bytes_of_words};

/// The module that a case's parts make.
fn text(case: &str) -> (String, Options) {
    let mut parts: Vec<(&str, String)> = PARTS.iter().map(|&p| (p, String::new())).collect();
    let (mut model, mut version, mut entry) = ("compute", (1, 3), String::new());
    let mut current = "body";
    for word in case.split_inclusive(char::is_whitespace) {
        match word.trim().strip_prefix('@') {
            Some(stage @ ("fragment" | "vertex")) => model = stage,
            Some("version") => current = "version",
            Some(part) => current = part,
            None if current == "version" => {
                let minor = word.trim().split_once('.').expect("a version").1;
                version = (1, minor.parse().expect("a minor version"));
                current = "body";
            }
            None if current == "entry" => entry.push_str(word),
            None => parts.iter_mut().find(|(p, _)| *p == current).unwrap_or_else(|| panic!("no part @{current}")).1.push_str(word),
        }
    }
    let part = |name: &str| parts.iter().find(|(p, _)| *p == name).map_or("", |(_, text)| text.as_str());
    // From 1.4 on the interface lists every variable.
    let every = if version.1 >= 4 { "%buf %tex %sep %sampler %store" } else { "" };
    let (stage, own, modes, decor, decls) = match model {
        "fragment" => (
            "Fragment",
            "%out %uv",
            "OpExecutionMode %main OriginUpperLeft",
            "OpDecorate %out Location 0 OpDecorate %uv Location 0",
            "%p_out = OpTypePointer Output %v4 %out = OpVariable %p_out Output %p_uv = OpTypePointer Input %v2 %uv = OpVariable %p_uv Input",
        ),
        "vertex" => {
            ("Vertex", "%pos", "", "OpDecorate %pos BuiltIn Position", "%p_pos = OpTypePointer Output %v4 %pos = OpVariable %p_pos Output")
        }
        _ => (
            "GLCompute",
            "%id",
            "OpExecutionMode %main LocalSize 4 1 1",
            "OpDecorate %id BuiltIn GlobalInvocationId",
            "%p_id = OpTypePointer Input %u3v %id = OpVariable %p_id Input %p_gx = OpTypePointer Input %uint",
        ),
    };
    let first = if part("body").contains("%gx") { "%gx = OpAccessChain %p_gx %id %u0" } else { "" };
    // An entry point of the case's own stands with the others, its mode after them.
    let (entry, mode) =
        entry.split_once("OpExecutionMode").map_or((entry.as_str(), String::new()), |(e, m)| (e, format!("OpExecutionMode{m}")));
    let text = format!(
        "OpCapability Shader {} {} %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint {stage} %main \"main\" {own} {} {every}\n{entry}\n{modes}\n{mode}\n{}
        {decor} OpDecorate %rta ArrayStride 4 OpDecorate %Buf Block OpMemberDecorate %Buf 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0 OpDecorate %tex DescriptorSet 0 OpDecorate %tex Binding 2
        OpDecorate %sep DescriptorSet 0 OpDecorate %sep Binding 3 OpDecorate %sampler DescriptorSet 0 OpDecorate %sampler Binding 4
        OpDecorate %store DescriptorSet 0 OpDecorate %store Binding 5 {}
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %int = OpTypeInt 32 1 %uint = OpTypeInt 32 0 %float = OpTypeFloat 32
        %v2 = OpTypeVector %float 2 %v4 = OpTypeVector %float 4 %u2v = OpTypeVector %uint 2 %u3v = OpTypeVector %uint 3
        %i2v = OpTypeVector %int 2 %m2 = OpTypeMatrix %v2 2
        %u0 = OpConstant %uint 0 %u1 = OpConstant %uint 1 %u2 = OpConstant %uint 2 %u3 = OpConstant %uint 3
        %i0 = OpConstant %int 0 %i1 = OpConstant %int 1 %f0 = OpConstant %float 0 %f1 = OpConstant %float 1
        %true = OpConstantTrue %bool %false = OpConstantFalse %bool %va = OpConstantComposite %v2 %f0 %f1
        %u2c = OpConstantComposite %u2v %u1 %u2 %u3c = OpConstantComposite %u3v %u1 %u2 %u3 %i2c = OpConstantComposite %i2v %i0 %i1
        %v4c = OpConstantComposite %v4 %f0 %f1 %f0 %f1
        %acquire = OpConstant %uint 0x42 %release = OpConstant %uint 0x44 %acqrel = OpConstant %uint 0x48 %wgacqrel = OpConstant %uint 0x108
        %twice = OpConstant %uint 0x46
        %pair = OpTypeStruct %uint %uint %ipair = OpTypeStruct %int %int %arr = OpTypeArray %uint %u3
        %rta = OpTypeRuntimeArray %uint %Buf = OpTypeStruct %rta %ps_buf = OpTypePointer StorageBuffer %Buf
        %ps_u = OpTypePointer StorageBuffer %uint %buf = OpVariable %ps_buf StorageBuffer
        %pf_u = OpTypePointer Function %uint %pf_f = OpTypePointer Function %float %pf_i = OpTypePointer Function %int
        %pf_arr = OpTypePointer Function %arr %pw_u = OpTypePointer Workgroup %uint %pw_arr = OpTypePointer Workgroup %arr
        %pp_u = OpTypePointer Private %uint
        %img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img %smp = OpTypeSampler
        %stimg = OpTypeImage %float 2D 0 0 0 2 Rgba8 %p_simg = OpTypePointer UniformConstant %simg %p_img = OpTypePointer UniformConstant %img
        %p_smp = OpTypePointer UniformConstant %smp %p_st = OpTypePointer UniformConstant %stimg
        %tex = OpVariable %p_simg UniformConstant %sep = OpVariable %p_img UniformConstant %sampler = OpVariable %p_smp UniformConstant
        %store = OpVariable %p_st UniformConstant
        {decls} {}
        %main = OpFunction %void None %fn %entry = OpLabel {} {first} {} OpReturn OpFunctionEnd
        {}",
        part("caps"),
        part("exts"),
        part("interface"),
        part("modes"),
        part("decor"),
        part("decls"),
        part("vars"),
        part("body"),
        part("after"),
    );
    (text, Options { version: Some(version) })
}

fn words(case: &str) -> Vec<u32> {
    let (text, options) = text(case);
    assemble(&text, options).unwrap_or_else(|e| panic!("{case}: {e}\n{text}"))
}

#[test]
fn every_module_loads_or_is_refused_by_its_check() {
    let mut wrong = String::new();
    for (says, _, case) in cases() {
        let found = Module::load(&words(case));
        let agrees = match (&found, says) {
            (Ok(_), Says::Loads) => true,
            (Err(LoadError::Invalid { check, .. }), Says::Refuses(expected)) => *check == expected,
            (Err(LoadError::Unsupported { what, .. }), Says::Lacks(expected)) => what.starts_with(expected),
            _ => false,
        };
        if !agrees {
            let found = found.map_or_else(|e| e.to_string(), |_| "it loads".to_string());
            let _ = writeln!(wrong, "{case}\n  expected {says:?}, found {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_check_has_a_module_that_it_refuses() {
    let refused: BTreeSet<&str> =
        cases().iter().filter_map(|(says, ..)| if let Says::Refuses(c) = says { Some(c.id()) } else { None }).collect();
    let missing: Vec<&str> = Check::ALL.iter().map(|c| c.id()).filter(|id| !refused.contains(id)).collect();
    assert!(missing.is_empty(), "no module is refused by {}", missing.join(", "));
    assert!(cases().len() >= 150, "there are {} modules", cases().len());
}

/// Whether spirv-val accepts a module for Vulkan 1.3.
fn validates(words: &[u32]) -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("smallstep-check-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("the temporary directory can be written");
    // Each test has its own: they run at the same time.
    let file = directory.join(format!("{:?}.spv", std::thread::current().id()));
    std::fs::write(&file, bytes_of_words(words)).expect("the temporary directory can be written");
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(&file).output().map_err(|e| e.to_string())?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}

#[test]
fn spirv_val_agrees_on_what_is_valid() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let mut wrong = String::new();
    for (says, val, case) in cases() {
        let verdict = validates(&words(case));
        let agrees = match says {
            Says::Loads => verdict.is_ok(),
            Says::Refuses(_) => verdict.is_err(),
            // What is not modeled may be valid or not.
            Says::Lacks(_) => continue,
        };
        if agrees != (val == Val::Agrees) {
            let _ = writeln!(wrong, "{case}\n  we say {says:?}, expected {val:?}, spirv-val says {verdict:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

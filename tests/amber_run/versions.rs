//! Scripts whose shaders are SPIR-V 1.4 to 1.6: their values, features of these versions only, and
//! `--target-env`.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use rspirv::spirv::Op;
use smallstep::amber::Decision;
use smallstep::run::amber::compiler::CompilerCommand;
use smallstep_semantics::number::{Computed, Instruction, PlantedComponent};
use smallstep_semantics::spirv::lockstep;
use smallstep_semantics::spirv::operation::Calculator;

use crate::common::STAGE_TYPES;
use crate::common::command::smallstep;
use crate::{computing, decisions, fails_with, holds, script};

/// A compute stage whose interface lists every variable that it uses. It copies a structure to
/// another type, selects a whole structure by one Boolean, and reads a NonWritable table.
fn compute(version: &str, interface: &str, extra: &str) -> String {
    format!(
        "#!amber
SHADER compute s SPIRV-ASM{version}
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" {interface}
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %table NonWritable
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %block Block
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%true = OpConstantTrue %bool
%uint = OpTypeInt 32 0
%k0 = OpConstant %uint 0
%k1 = OpConstant %uint 1
%k2 = OpConstant %uint 2
%k7 = OpConstant %uint 7
%k9 = OpConstant %uint 9
%array = OpTypeArray %uint %k2
%rows = OpConstantComposite %array %k7 %k9
%p_array = OpTypePointer Private %array
%p_entry = OpTypePointer Private %uint
%table = OpVariable %p_array Private %rows
%plain = OpTypeStruct %uint %uint
%block = OpTypeStruct %uint %uint
%p_block = OpTypePointer StorageBuffer %block
%p_member = OpTypePointer StorageBuffer %uint
%data = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %function
%start = OpLabel
%first = OpAccessChain %p_entry %table %k0
%second = OpAccessChain %p_entry %table %k1
%a = OpLoad %uint %first
%b = OpLoad %uint %second
%one = OpCompositeConstruct %plain %a %b
%other = OpCompositeConstruct %plain %k1 %k2
%chosen = OpSelect %plain %true %one %other
%laid = OpCopyLogical %block %chosen
OpStore %data %laid
{extra}
OpReturn
OpFunctionEnd
END
BUFFER out DATA_TYPE uint32 DATA 0 0 END
PIPELINE compute p
  ATTACH s
  BIND BUFFER out AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
EXPECT out IDX 0 EQ 7
EXPECT out IDX 4 EQ 9
"
    )
}

const ALL: &str = "%data %table";

#[test]
fn compute_stages_of_later_versions_run() {
    for version in ["spv1.4", "vulkan1.1spv1.4", "spv1.5", "vulkan1.2", "spv1.6", "vulkan1.3", "vulkan1.4"] {
        let text = compute(&format!(" TARGET_ENV {version}"), ALL, "");
        assert_eq!(decisions(&text), [Decision::Holds; 2], "{version}");
        assert_eq!(decisions(&text.replace("EQ 9", "EQ 2")), [Decision::Holds, Decision::Fails], "{version}");
    }
    // On both engines. A planted bug: OpSelect of whole objects takes the other object.
    let other: PlantedComponent = |instruction, operands, component, computed| match instruction {
        Instruction::Core(op) if op == Op::Select as u16 => Computed::Value(operands[2][component]),
        _ => computed,
    };
    let text = compute(" TARGET_ENV spv1.6", ALL, "");
    for machine in [false, true] {
        let mut wrong = computing(Calculator { planted: Some(other), ..Calculator::default() }, machine);
        if machine {
            wrong.engines.planted = Some(Arc::new(|parts| {
                parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Select).for_each(|code| code.a = code.b);
            }));
        }
        assert!(holds(&script(&text), &computing(Calculator::default(), machine)) && !holds(&script(&text), &wrong), "{machine}");
    }
    for (version, interface, extra, said) in [
        (" TARGET_ENV spv1.3", "", "", "needs SPIR-V 1.4"),
        (" TARGET_ENV spv1.4", "%data", "", "which the interface of \"main\" does not list"),
        (" TARGET_ENV spv1.4", "%data %table %data", "", "twice"),
        (" TARGET_ENV spv1.4", ALL, "OpStore %first %k1", "declared NonWritable"),
    ] {
        let shown = smallstep(&["run", "-"], &compute(version, interface, extra));
        assert!(shown.code == 2 && shown.err.contains(said), "{}", shown.err);
    }
}

#[test]
fn integer_dot_products_run() {
    let sum =
        "%sum = OpUDotAccSat %uint %k7 %k9 %k1 PackedVectorFormat4x8Bit\n%place = OpAccessChain %p_member %data %k0\nOpStore %place %sum";
    let capabilities = "OpCapability Shader\nOpCapability DotProduct\nOpCapability DotProductInput4x8BitPacked";
    let text = compute(" TARGET_ENV spv1.6", ALL, sum).replace("OpCapability Shader", capabilities).replace("EQ 7\n", "EQ 64\n");
    assert_eq!(decisions(&text), [Decision::Holds; 2]);
    assert_eq!(smallstep(&["run", "-", "--engine", "reference"], &text).code, 0);
    let wrong: PlantedComponent = |instruction, _, _, computed| match computed {
        Computed::Value(bits) if instruction == Instruction::Core(Op::UDotAccSatKHR as u16) => Computed::Value(bits - 1),
        other => other,
    };
    fails_with(&text, Calculator { planted: Some(wrong), ..Calculator::default() });
    // Without the accumulator, the sum is 63.
    assert_eq!(decisions(&text.replace("EQ 64", "EQ 63")), [Decision::Fails, Decision::Holds]);
    let shown = smallstep(&["run", "-"], &text.replace("TARGET_ENV spv1.6", "TARGET_ENV spv1.5"));
    assert!(shown.code == 2 && shown.err.contains("SPV_KHR_integer_dot_product"), "{}", shown.err);
}

/// A pipeline of two stages of that version. The fragment stage reads a uniform buffer, which its
/// interface lists. It ends if its `x` is below 4.
fn graphics(version: &str) -> String {
    format!(
        "#!amber
SHADER vertex v SPIRV-ASM TARGET_ENV {version}
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %corner %position
OpDecorate %corner Location 0
OpDecorate %position BuiltIn Position
{STAGE_TYPES}%corner = OpVariable %p_in_vec4 Input
%position = OpVariable %p_out_vec4 Output
%main = OpFunction %void None %function
%start = OpLabel
%at = OpLoad %vec4 %corner
OpStore %position %at
OpReturn
OpFunctionEnd
END
SHADER fragment f SPIRV-ASM TARGET_ENV {version}
OpCapability Shader
OpExtension \"SPV_KHR_terminate_invocation\"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %colour %where %tint
OpExecutionMode %main OriginUpperLeft
OpDecorate %colour Location 0
OpDecorate %where BuiltIn FragCoord
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %tint DescriptorSet 0
OpDecorate %tint Binding 0
{STAGE_TYPES}%colour = OpVariable %p_out_vec4 Output
%where = OpVariable %p_in_vec4 Input
%block = OpTypeStruct %vec4
%p_block = OpTypePointer Uniform %block
%p_tint = OpTypePointer Uniform %vec4
%tint = OpVariable %p_block Uniform
%main = OpFunction %void None %function
%start = OpLabel
%coordinates = OpLoad %vec4 %where
%x = OpCompositeExtract %float %coordinates 0
%left = OpFOrdLessThan %bool %x %f4
OpSelectionMerge %after None
OpBranchConditional %left %ends %after
%ends = OpLabel
OpTerminateInvocation
%after = OpLabel
%part = OpAccessChain %p_tint %tint %u0
%value = OpLoad %vec4 %part
OpStore %colour %value
OpReturn
OpFunctionEnd
END
BUFFER target FORMAT R8G8B8A8_UNORM
BUFFER tint DATA_TYPE vec4<float> DATA 0 1 0 1 END
BUFFER all DATA_TYPE vec4<float> DATA -1 -1 0.5 1 3 -1 0.5 1 -1 3 0.5 1 END
PIPELINE graphics g
  ATTACH v
  ATTACH f
  FRAMEBUFFER_SIZE 8 8
  VERTEX_DATA all LOCATION 0
  BIND BUFFER target AS color LOCATION 0
  BIND BUFFER tint AS uniform DESCRIPTOR_SET 0 BINDING 0
END
CLEAR_COLOR g 255 0 0 255
CLEAR g
RUN g DRAW_ARRAY AS TRIANGLE_LIST
EXPECT target IDX 0 0 SIZE 4 8 EQ_RGBA 255 0 0 255
EXPECT target IDX 4 0 SIZE 4 8 EQ_RGBA 0 255 0 255
"
    )
}

#[test]
fn stages_of_later_versions_draw() {
    for version in ["spv1.4", "spv1.5", "spv1.6"] {
        assert_eq!(decisions(&graphics(version)), [Decision::Holds; 2], "{version}");
    }
    let other = graphics("spv1.6").replace("IDX 4 0 SIZE 4 8", "IDX 3 0 SIZE 4 8");
    assert_eq!(decisions(&other), [Decision::Holds, Decision::Fails]);
    let shown = smallstep(&["run", "-"], &graphics("spv1.5").replace("OpExtension \"SPV_KHR_terminate_invocation\"\n", ""));
    assert!(shown.code == 2 && shown.err.contains("OpTerminateInvocation needs SPIR-V 1.6"), "{}", shown.err);
    assert_eq!(smallstep(&["run", "-"], &graphics("spv1.6").replace("OpExtension \"SPV_KHR_terminate_invocation\"\n", "")).code, 0);
}

#[test]
fn an_environment_is_given_to_shaders_that_name_none() {
    let unsaid = compute("", ALL, "");
    let shown = smallstep(&["run", "-"], &unsaid);
    assert!(shown.code == 2 && shown.err.contains("SPIR-V 1.4"), "{}", shown.err);
    for command in [&["run"][..], &["check", "--device", "none"]] {
        let run = |environment: &str, text: &str| smallstep(&[command, &["--target-env", environment, "-"]].concat(), text);
        assert_eq!(run("spv1.4", &unsaid).code, 0);
        assert_eq!(run("vulkan1.3", &unsaid).code, 0);
        assert_eq!(run("spv1.3", &unsaid).code, 2);
        // The environment that a shader names has precedence.
        assert_eq!(run("spv1.6", &compute(" TARGET_ENV spv1.3", ALL, "")).code, 2);
        let shown = run("spv2.0", &unsaid);
        assert!(shown.code == 2 && shown.err.contains("\"spv2.0\" is no target environment"), "{}", shown.err);
    }
}

#[test]
fn modules_are_assembled_for_an_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let script = compute("", ALL, "");
    let text = script.lines().skip(2).take_while(|line| *line != "END").collect::<Vec<_>>().join("\n");
    std::fs::write(path("a.spvasm"), &text).expect("written");
    std::fs::write(path("said.spvasm"), format!("; Version: 1.5\n{text}")).expect("written");
    let minor = |from: &str, options: &[&str]| {
        let (from, to) = (path(from), path("out.spv"));
        let shown = smallstep(&[&["asm", &from, "-o", &to], options].concat(), "");
        assert_eq!(shown.code, 0, "{}", shown.err);
        std::fs::read(to).expect("written")[5]
    };
    assert_eq!([minor("a.spvasm", &[]), minor("said.spvasm", &[])], [3, 5]);
    assert_eq!([minor("a.spvasm", &["--target-env", "spv1.6"]), minor("said.spvasm", &["--target-env", "spv1.4"])], [6, 4]);
    // `run` assembles the text as `asm` does.
    let file = path("a.spvasm");
    let shown = smallstep(&["run", &file, "--set", "0.0=u32:0,0"], "");
    assert!(shown.code == 2 && shown.err.contains("SPIR-V 1.4"), "{}", shown.err);
    let shown = smallstep(&["run", &file, "--set", "0.0=u32:0,0", "--target-env", "spv1.4"], "");
    assert!(shown.code == 0 && shown.out.contains('7'), "{}{}", shown.out, shown.err);
    // A binary module has a version. If the environment does not support it, it is refused.
    minor("a.spvasm", &["--target-env", "spv1.5"]);
    let words = path("out.spv");
    assert_eq!(smallstep(&["run", &words, "--set", "0.0=u32:0,0", "--target-env", "vulkan1.2"], "").code, 0);
    let shown = smallstep(&["run", &words, "--set", "0.0=u32:0,0", "--target-env", "spv1.4"], "");
    assert!(shown.code == 2 && shown.err.contains("the module is SPIR-V 1.5, and the target environment takes 1.4"), "{}", shown.err);
    let shown = smallstep(&["run", "examples/circle.lv", "--target-env", "spv1.4"], "");
    assert!(shown.code == 2 && shown.err.contains("--target-env is for SPIR-V and Amber scripts"), "{}", shown.err);
}

#[test]
#[cfg(unix)]
fn a_compiler_is_told_the_environment() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let said = |program: &str, options: &str, header: &str| {
        let path = folder.path().join(program);
        std::fs::write(&path, "#!/bin/sh\necho \"<$*>\"\nexit 1\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("made executable");
        let command: CompilerCommand = format!("{}{options}", path.display()).parse().expect("a command");
        let script = crate::script(&format!("#!amber\nSHADER compute s GLSL{header}\nvoid main() {{}}\nEND\n"));
        let told = command.compile(&script.shaders[0]).expect_err("it fails").to_string();
        let arguments = told.split_once('<').map_or("", |(_, rest)| rest);
        arguments.split(' ').take_while(|word| !word.ends_with("shader.comp")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(said("glslangValidator", " -V", " TARGET_ENV spv1.4"), "-V --target-env spirv1.4");
    assert_eq!(said("glslangValidator", " -V", " TARGET_ENV vulkan1.2"), "-V --target-env vulkan1.2");
    assert_eq!(said("glslangValidator", " -V", " TARGET_ENV vulkan1.1spv1.4"), "-V --target-env spirv1.4");
    assert_eq!(said("glslangValidator", " -V", ""), "-V");
    assert_eq!(said("glslangValidator", " -V --target-env vulkan1.0", " TARGET_ENV spv1.4"), "-V --target-env vulkan1.0");
    assert_eq!(said("glslc", "", " TARGET_ENV spv1.4"), "--target-spv=spv1.4");
    assert_eq!(said("glslc", "", " TARGET_ENV vulkan1.1spv1.4"), "--target-env=vulkan1.1 --target-spv=spv1.4");
    assert_eq!(said("other", "", " TARGET_ENV spv1.4"), "");
}

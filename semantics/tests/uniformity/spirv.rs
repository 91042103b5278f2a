//! Verdicts on SPIR-V modules, written by hand.
//!
//! Bodies are assembly with some words for control flow. See [`expand`].

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::{self, Buffer, Module, Options as Assembly};
use smallstep_semantics::uniformity::Need;
use smallstep_semantics::uniformity::flow::Planted as InFlow;
use smallstep_semantics::uniformity::spirv::{self as uniformity, Options, Planted, Why};

/// Words that stand for several instructions, each with a name N for its labels:
///
/// - `barrier`, `derivative`;
/// - `if %c N`, `else N`, `end N`: a selection between `%N_then` and `%N_else`, to `%N_end`;
/// - `loop N` begins the header `%N_head`, in which phis may follow; `body N` ends it;
///   `next N` begins the continue target `%N_next`; `again N` ends it, and goes on at `%N_end`;
///   `until %c N` is `again N` that leaves the loop if the condition holds;
/// - `break %c N M` and `continue %c N M` leave the body of the loop N, or go on at `%M`;
/// - `dead N` begins a block behind a branch or return.
///
/// The variables of the function come first, wherever the body declares them.
fn expand(body: &str) -> (String, String) {
    let (mut variables, mut code, mut count) = (String::new(), String::new(), 0);
    for line in body.split([';', '\n']).map(str::trim).filter(|l| !l.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        count += 1;
        let text = match words[..] {
            ["barrier"] => "OpControlBarrier %two %two %semantics".to_owned(),
            ["derivative"] => format!("%derivative{count} = OpDPdx %float %fu"),
            ["if", c, n] => {
                format!("OpSelectionMerge %{n}_end None\nOpBranchConditional {c} %{n}_then %{n}_else\n%{n}_then = OpLabel")
            }
            ["else", n] => format!("OpBranch %{n}_end\n%{n}_else = OpLabel"),
            ["end", n] => format!("OpBranch %{n}_end\n%{n}_end = OpLabel"),
            ["loop", n] => format!("OpBranch %{n}_head\n%{n}_head = OpLabel"),
            ["body", n] => format!("OpLoopMerge %{n}_end %{n}_next None\nOpBranch %{n}_body\n%{n}_body = OpLabel"),
            ["next", n] => format!("OpBranch %{n}_next\n%{n}_next = OpLabel"),
            ["again", n] => format!("OpBranch %{n}_head\n%{n}_end = OpLabel"),
            ["until", c, n] => format!("OpBranchConditional {c} %{n}_end %{n}_head\n%{n}_end = OpLabel"),
            ["break", c, n, m] => format!("OpBranchConditional {c} %{n}_end %{m}\n%{m} = OpLabel"),
            ["continue", c, n, m] => format!("OpBranchConditional {c} %{n}_next %{m}\n%{m} = OpLabel"),
            ["dead", n] => format!("%{n} = OpLabel"),
            [_, "=", "OpVariable", ..] => {
                variables += &format!("{line}\n");
                continue;
            }
            _ => line.to_owned(),
        };
        code += &format!("{text}\n");
    }
    (variables, code)
}

const TYPES: &str = "
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %int = OpTypeInt 32 1
    %float = OpTypeFloat 32
    %uint2 = OpTypeVector %uint 2
    %uint3 = OpTypeVector %uint 3
    %bool2 = OpTypeVector %bool 2
    %float2 = OpTypeVector %float 2
    %float4 = OpTypeVector %float 4
    %function = OpTypeFunction %void
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %two = OpConstant %uint 2
    %three = OpConstant %uint 3
    %seven = OpConstant %uint 7
    %eight = OpConstant %uint 8
    %forty = OpConstant %uint 40
    %large = OpConstant %uint 300
    %sizes = OpConstant %uint 4
    %semantics = OpConstant %uint 264
    %fzero = OpConstant %float 0
    %ulong = OpTypeInt 64 0
    %wide = OpConstant %ulong 4294967296
    %wide_zero = OpConstant %ulong 0
    %true = OpConstantTrue %bool
    %false = OpConstantFalse %bool
    %undefined = OpUndef %uint
    %pair = OpTypeStruct %uint %uint
    %array = OpTypeArray %uint %sizes
    %many = OpTypeArray %uint %large
    %pairs = OpTypeArray %pair %sizes
    %null_pair = OpConstantNull %pair
    %to_function = OpTypePointer Function %uint
    %to_bool = OpTypePointer Function %bool
    %to_pair = OpTypePointer Function %pair
    %to_array = OpTypePointer Function %array
    %to_many = OpTypePointer Function %many
    %to_pairs = OpTypePointer Function %pairs
    %to_private = OpTypePointer Private %uint
    %to_input = OpTypePointer Input %uint
    %to_output = OpTypePointer Output %float4
    %to_uint3 = OpTypePointer Input %uint3
    %to_workgroup = OpTypePointer Workgroup %uint
    %f_uint = OpTypeFunction %uint %uint
    %f_store = OpTypeFunction %void %to_function %uint
    %p = OpVariable %to_private Private
    %q = OpVariable %to_private Private %zero
    %runtime = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %runtime
    %fixed_block = OpTypeStruct %uint %runtime
    %uniform_block = OpTypeStruct %uint %uint
    %to_block = OpTypePointer StorageBuffer %block
    %to_fixed = OpTypePointer StorageBuffer %fixed_block
    %to_element = OpTypePointer StorageBuffer %uint
    %to_uniform = OpTypePointer Uniform %uniform_block
    %to_member = OpTypePointer Uniform %uint
    %image = OpTypeImage %float 2D 0 0 0 1 Unknown
    %storage_image = OpTypeImage %float 2D 0 0 0 2 R32f
    %sampled_image = OpTypeSampledImage %image
    %to_sampled = OpTypePointer UniformConstant %sampled_image
    %to_storage = OpTypePointer UniformConstant %storage_image
    %d = OpVariable %to_block StorageBuffer
    %r = OpVariable %to_block StorageBuffer
    %a = OpVariable %to_block StorageBuffer
    %m = OpVariable %to_fixed StorageBuffer
    %c = OpVariable %to_uniform Uniform
    %s = OpVariable %to_workgroup Workgroup
    %tex = OpVariable %to_sampled UniformConstant
    %img = OpVariable %to_storage UniformConstant
    %rimg = OpVariable %to_storage UniformConstant
    %coordinate = OpConstantNull %float2
    %texel = OpConstantNull %uint2
";

const DECORATIONS: &str = "
    OpDecorate %runtime ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %fixed_block Block
    OpMemberDecorate %fixed_block 0 Offset 0
    OpMemberDecorate %fixed_block 1 Offset 4
    OpMemberDecorate %fixed_block 0 NonWritable
    OpDecorate %uniform_block Block
    OpMemberDecorate %uniform_block 0 Offset 0
    OpMemberDecorate %uniform_block 1 Offset 4
    OpDecorate %d DescriptorSet 0
    OpDecorate %d Binding 0
    OpDecorate %r DescriptorSet 0
    OpDecorate %r Binding 1
    OpDecorate %r NonWritable
    OpDecorate %c DescriptorSet 0
    OpDecorate %c Binding 2
    OpDecorate %m DescriptorSet 0
    OpDecorate %m Binding 3
    OpDecorate %a DescriptorSet 0
    OpDecorate %a Binding 4
    OpDecorate %a NonWritable
    OpDecorate %a Aliased
    OpDecorate %tex DescriptorSet 0
    OpDecorate %tex Binding 5
    OpDecorate %img DescriptorSet 0
    OpDecorate %img Binding 6
    OpDecorate %rimg DescriptorSet 0
    OpDecorate %rimg Binding 7
    OpDecorate %rimg NonWritable
    OpDecorate %relaxed RelaxedPrecision
";

const FUNCTIONS: &str = "
    %twice = OpFunction %uint None %f_uint
    %twice_x = OpFunctionParameter %uint
    %twice_entry = OpLabel
    %twice_y = OpIAdd %uint %twice_x %twice_x
    OpReturnValue %twice_y
    OpFunctionEnd
    %put = OpFunction %void None %f_store
    %put_p = OpFunctionParameter %to_function
    %put_x = OpFunctionParameter %uint
    %put_entry = OpLabel
    OpStore %put_p %put_x
    OpReturn
    OpFunctionEnd
    %early = OpFunction %uint None %f_uint
    %early_x = OpFunctionParameter %uint
    %early_entry = OpLabel
    %early_c = OpIEqual %bool %early_x %three
    OpSelectionMerge %early_end None
    OpBranchConditional %early_c %early_then %early_end
    %early_then = OpLabel
    OpReturnValue %one
    %early_end = OpLabel
    OpReturnValue %two
    OpFunctionEnd
    %fresh = OpFunction %uint None %f_uint
    %fresh_x = OpFunctionParameter %uint
    %fresh_entry = OpLabel
    %fresh_v = OpVariable %to_function Function
    %fresh_old = OpLoad %uint %fresh_v
    OpStore %fresh_v %fresh_x
    OpReturnValue %fresh_old
    OpFunctionEnd
    %counts = OpFunction %uint None %f_uint
    %counts_x = OpFunctionParameter %uint
    %counts_entry = OpLabel
    %counts_old = OpLoad %uint %q
    %counts_new = OpIAdd %uint %counts_old %counts_x
    OpStore %q %counts_new
    OpReturnValue %counts_old
    OpFunctionEnd
";

const COMPUTE_FUNCTIONS: &str = "
    %waits = OpFunction %uint None %f_uint
    %waits_x = OpFunctionParameter %uint
    %waits_entry = OpLabel
    %waits_c = OpIEqual %bool %waits_x %three
    OpSelectionMerge %waits_end None
    OpBranchConditional %waits_c %waits_then %waits_end
    %waits_then = OpLabel
    OpControlBarrier %two %two %semantics
    OpBranch %waits_end
    %waits_end = OpLabel
    OpReturnValue %two
    OpFunctionEnd
";

/// A compute module with workgroups of that size. `%t` differs between invocations and `%u` is
/// uniform. `%tb` and `%ub` are true where these are 1.
fn compute(size: &str, body: &str) -> String {
    let (variables, code) = expand(body);
    format!(
        "OpCapability Shader
        OpCapability Int64
        OpCapability StorageImageExtendedFormats
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"
        %glsl = OpExtInstImport \"GLSL.std.450\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %lid %gid %wid %index
        OpExecutionMode %main LocalSize {size}
        OpName %t \"thread\"
        OpDecorate %lid BuiltIn LocalInvocationId
        OpDecorate %gid BuiltIn GlobalInvocationId
        OpDecorate %wid BuiltIn WorkgroupId
        OpDecorate %index BuiltIn LocalInvocationIndex
        {DECORATIONS} {TYPES}
        %lid = OpVariable %to_uint3 Input
        %gid = OpVariable %to_uint3 Input
        %wid = OpVariable %to_uint3 Input
        %index = OpVariable %to_input Input
        %main = OpFunction %void None %function
        %entry = OpLabel
        {variables}
        %l = OpLoad %uint3 %lid
        %g = OpLoad %uint3 %gid
        %w = OpLoad %uint3 %wid
        %n = OpLoad %uint %index
        %t = OpCompositeExtract %uint %g 0
        %tb = OpIEqual %bool %t %one
        %up = OpAccessChain %to_member %c %zero
        %u = OpLoad %uint %up
        %ub = OpIEqual %bool %u %one
        {relaxed}
        {code}
        OpReturn
        OpFunctionEnd
        {FUNCTIONS} {COMPUTE_FUNCTIONS}",
        relaxed = if code.contains("%relaxed") { "" } else { "%relaxed = OpIAdd %uint %u %u" },
    )
}

/// A fragment module: `%t` is an input, `%u` is uniform.
fn fragment(body: &str) -> String {
    let (variables, code) = expand(body);
    format!(
        "OpCapability Shader
        OpCapability Int64
        OpCapability StorageImageExtendedFormats
        OpCapability DemoteToHelperInvocation
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"
        OpExtension \"SPV_EXT_demote_to_helper_invocation\"
        %glsl = OpExtInstImport \"GLSL.std.450\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\" %in %out
        OpExecutionMode %main OriginUpperLeft
        OpDecorate %in Location 0
        OpDecorate %in Flat
        OpDecorate %out Location 0
        {DECORATIONS} {TYPES}
        %in = OpVariable %to_input Input
        %out = OpVariable %to_output Output
        %main = OpFunction %void None %function
        %entry = OpLabel
        {variables}
        %t = OpLoad %uint %in
        %tb = OpIEqual %bool %t %one
        %up = OpAccessChain %to_member %c %zero
        %u = OpLoad %uint %up
        %ub = OpIEqual %bool %u %one
        %fu = OpConvertUToF %float %u
        %ft = OpConvertUToF %float %t
        %relaxed = OpIAdd %uint %u %u
        {code}
        OpReturn
        OpFunctionEnd
        {FUNCTIONS}"
    )
}

/// A selection around a barrier.
fn barrier_if(condition: &str) -> String {
    format!("if {condition} K; barrier; else K; end K")
}

/// A comparison of the value with one, and a selection on it around a barrier.
fn barrier_if_one(value: &str) -> String {
    format!("%k = OpIEqual %bool {value} %one; {}", barrier_if("%k"))
}

/// Compute bodies: the name, whether the analysis accepts the body, and the body. `BARRIER x` at
/// the end is a barrier where the condition x holds. `ONE x` is a barrier where the value x is one.
const COMPUTE: &[(&str, bool, &str)] = &[
    ("nothing", true, "barrier"),
    ("branch on the thread", false, "BARRIER %tb"),
    ("branch on a uniform", true, "BARRIER %ub"),
    ("after a branch", true, "if %tb A; else A; end A; barrier"),
    ("early exit to the merge block", true, "if %ub A; if %tb B; else B; end B; else A; end A; barrier"),
    ("early return", false, "if %tb A; OpReturn; dead x; else A; end A; barrier"),
    ("early return of all", true, "if %ub A; OpReturn; dead x; else A; end A; barrier"),
    ("barrier in both branches", false, "if %tb A; barrier; else A; barrier; end A"),
    // Phis and selects.
    ("phi of different values", false, "if %tb A; else A; end A; %x = OpPhi %uint %one %A_then %two %A_else; ONE %x"),
    ("phi of one value", true, "if %tb A; else A; end A; %x = OpPhi %uint %u %A_then %u %A_else; ONE %x"),
    (
        "phi of equal values",
        true,
        "if %tb A; %y = OpIAdd %uint %u %one; else A; %z = OpIAdd %uint %u %one; end A; %x = OpPhi %uint %y %A_then %z %A_else; ONE %x",
    ),
    ("phi on a uniform branch", true, "if %ub A; else A; end A; %x = OpPhi %uint %one %A_then %two %A_else; ONE %x"),
    ("phi of a thread's value", false, "if %ub A; else A; end A; %x = OpPhi %uint %t %A_then %two %A_else; ONE %x"),
    ("second value of a phi", false, "if %ub A; else A; end A; %x = OpPhi %uint %two %A_then %t %A_else; ONE %x"),
    ("select by the thread", false, "%x = OpSelect %uint %tb %one %two; ONE %x"),
    ("select of one value", true, "%x = OpSelect %uint %tb %u %u; ONE %x"),
    ("select of a thread's value", false, "%x = OpSelect %uint %ub %t %one; ONE %x"),
    ("select by a constant", true, "%x = OpSelect %uint %false %t %u; ONE %x"),
    (
        "select of components",
        true,
        "%b = OpCompositeConstruct %bool2 %tb %ub; %y = OpCompositeConstruct %uint2 %t %u; %z = OpCompositeConstruct %uint2 %u %one; \
      %v = OpSelect %uint2 %b %y %z; %x = OpCompositeExtract %uint %v 1; ONE %x",
    ),
    (
        "select of the other component",
        false,
        "%b = OpCompositeConstruct %bool2 %tb %ub; %y = OpCompositeConstruct %uint2 %t %u; %z = OpCompositeConstruct %uint2 %u %one; \
      %v = OpSelect %uint2 %b %y %z; %x = OpCompositeExtract %uint %v 0; ONE %x",
    ),
    (
        "phis that swap",
        true,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %x = OpPhi %uint %t %entry %y %A_next; %y = OpPhi %uint %u %entry %u %A_next; body A; \
      %k0 = OpULessThan %bool %i %three; OpBranchConditional %k0 %go %A_end; dead go; next A; %j = OpIAdd %uint %i %one; again A; ONE %y",
    ),
    (
        "phis that swap, the other",
        false,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %x = OpPhi %uint %u %entry %y %A_next; %y = OpPhi %uint %t %entry %x %A_next; body A; \
      %k0 = OpULessThan %bool %i %u; OpBranchConditional %k0 %go %A_end; dead go; next A; %j = OpIAdd %uint %i %one; again A; ONE %x",
    ),
    (
        "phis that follow each other",
        false,
        "loop A; %x = OpPhi %uint %u %entry %u %A_next; %y = OpPhi %uint %t %entry %x %A_next; body A; \
      break %ub A go; next A; again A; ONE %y",
    ),
    (
        "phi that is read late",
        false,
        "loop A; %x = OpPhi %uint %t %entry %u %A_next; %y = OpPhi %uint %u %entry %x %A_next; body A; \
      break %ub A go; next A; again A; ONE %y",
    ),
    // Loops.
    (
        "loop",
        true,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %k0 = OpULessThan %bool %i %u; OpLoopMerge %A_end %A_next None; \
      OpBranchConditional %k0 %A_body %A_end; dead A_body; barrier; next A; %j = OpIAdd %uint %i %one; again A",
    ),
    (
        "loop by thread",
        false,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %k0 = OpULessThan %bool %i %t; OpLoopMerge %A_end %A_next None; \
      OpBranchConditional %k0 %A_body %A_end; dead A_body; barrier; next A; %j = OpIAdd %uint %i %one; again A",
    ),
    (
        "after a loop by thread",
        true,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %k0 = OpULessThan %bool %i %t; OpLoopMerge %A_end %A_next None; \
      OpBranchConditional %k0 %A_body %A_end; dead A_body; next A; %j = OpIAdd %uint %i %one; again A; barrier",
    ),
    (
        "counter after a loop by thread",
        false,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %k0 = OpULessThan %bool %i %t; OpLoopMerge %A_end %A_next None; \
      OpBranchConditional %k0 %A_body %A_end; dead A_body; next A; %j = OpIAdd %uint %i %one; again A; ONE %i",
    ),
    (
        "counter after a uniform loop",
        true,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; %k0 = OpULessThan %bool %i %u; OpLoopMerge %A_end %A_next None; \
      OpBranchConditional %k0 %A_body %A_end; dead A_body; next A; %j = OpIAdd %uint %i %one; again A; ONE %i",
    ),
    ("barrier before the exit of a loop", false, "loop A; body A; barrier; next A; until %tb A"),
    ("several exits", false, "loop A; body A; break %ub A b; break %tb A c1; barrier; next A; again A"),
    ("barrier before the second exit", false, "loop A; body A; break %ub A b; barrier; break %tb A c1; next A; again A"),
    (
        "several uniform exits",
        true,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; body A; %k0 = OpIEqual %bool %i %u; break %ub A b; barrier; break %k0 A c1; \
      next A; %j = OpIAdd %uint %i %one; again A; ONE %i",
    ),
    ("after several exits", true, "loop A; body A; break %ub A b; break %tb A c1; next A; again A; barrier"),
    (
        "value of several exits",
        false,
        "loop A; body A; break %ub A b; break %tb A c1; next A; again A; %x = OpPhi %uint %one %A_body %two %b; ONE %x",
    ),
    (
        "on the only way out of a loop",
        false,
        "loop A; %i = OpPhi %uint %zero %entry %j %A_next; body A; %k0 = OpIEqual %bool %i %t; OpSelectionMerge %go None; \
      OpBranchConditional %k0 %out1 %go; dead out1; barrier; OpBranch %A_end; dead go; next A; %j = OpIAdd %uint %i %one; again A",
    ),
    (
        "behind a continue that differs",
        false,
        "loop A; body A; %i = OpLoad %uint %q; %j = OpIAdd %uint %i %one; OpStore %q %j; %k0 = OpIEqual %bool %i %t; \
      continue %k0 A go; barrier; %k1 = OpUGreaterThan %bool %i %u; break %k1 A b; next A; again A",
    ),
    (
        "before a continue that differs",
        true,
        "loop A; body A; %i = OpLoad %uint %q; %j = OpIAdd %uint %i %one; OpStore %q %j; %k0 = OpIEqual %bool %i %t; \
      barrier; %k1 = OpUGreaterThan %bool %i %u; break %k1 A b; continue %k0 A go; next A; again A",
    ),
    ("in the continue target", true, "loop A; body A; continue %tb A go; next A; barrier; until %ub A"),
    ("return in a loop", false, "loop A; body A; if %tb B; OpReturn; dead x; else B; end B; next A; until %ub A; barrier"),
    // Switches.
    ("switch", false, "OpSelectionMerge %e None; OpSwitch %t %e 0 %c0; dead c0; barrier; OpBranch %e; dead e"),
    ("switch on a uniform", true, "OpSelectionMerge %e None; OpSwitch %u %e 0 %c0; dead c0; barrier; OpBranch %e; dead e"),
    (
        "fallthrough of all",
        true,
        "OpSelectionMerge %e None; OpSwitch %t %c1 0 %c0; dead c0; OpBranch %c1; dead c1; barrier; OpBranch %e; dead e",
    ),
    (
        "fallthrough of some",
        false,
        "OpSelectionMerge %e None; OpSwitch %t %e 0 %c0 1 %c1; dead c0; OpBranch %c1; dead c1; barrier; OpBranch %e; dead e",
    ),
    ("default", false, "OpSelectionMerge %e None; OpSwitch %t %d0 0 %c0; dead c0; OpBranch %e; dead d0; barrier; OpBranch %e; dead e"),
    (
        "after a switch",
        true,
        "OpSelectionMerge %e None; OpSwitch %t %d0 0 %c0; dead c0; OpBranch %e; dead d0; OpBranch %e; dead e; barrier",
    ),
    (
        "switch on a constant",
        true,
        "OpSelectionMerge %e None; OpSwitch %one %d0 1 %c0; dead c0; barrier; OpBranch %e; dead d0; BARRIER0 %tb; OpBranch %e; dead e",
    ),
    (
        "unreachable default",
        true,
        "OpSelectionMerge %e None; OpSwitch %t %d0 0 %c0; dead c0; barrier; OpBranch %e; dead d0; OpUnreachable; dead e; barrier",
    ),
    (
        "barrier before unreachable",
        false,
        "OpSelectionMerge %e None; OpSwitch %t %c0 0 %d0; dead c0; OpBranch %e; dead d0; barrier; OpUnreachable; dead e",
    ),
    ("return in one case", false, "OpSelectionMerge %e None; OpSwitch %t %e 0 %c0; dead c0; OpReturn; dead e; barrier"),
    // Variables.
    ("variable", true, "%x = OpVariable %to_function Function; OpStore %x %u; %y = OpLoad %uint %x; ONE %y"),
    ("variable of a thread", false, "%x = OpVariable %to_function Function; OpStore %x %t; %y = OpLoad %uint %x; ONE %y"),
    (
        "assigned in a branch",
        false,
        "%x = OpVariable %to_function Function; OpStore %x %zero; if %tb A; OpStore %x %one; else A; end A; %y = OpLoad %uint %x; ONE %y",
    ),
    ("uninitialised", false, "%x = OpVariable %to_function Function; %y = OpLoad %uint %x; ONE %y"),
    ("initialised", true, "%x = OpVariable %to_function Function %one; %y = OpLoad %uint %x; ONE %y"),
    ("uninitialised at each call", false, "%y0 = OpFunctionCall %uint %fresh %u; %y = OpFunctionCall %uint %fresh %u; ONE %y"),
    ("private, uninitialised", false, "%y = OpLoad %uint %p; ONE %y"),
    ("private, initialised", true, "%y = OpLoad %uint %q; ONE %y"),
    ("private, changed by a call", false, "%y0 = OpFunctionCall %uint %counts %t; %y = OpLoad %uint %q; ONE %y"),
    ("private, across calls", true, "%y0 = OpFunctionCall %uint %counts %u; %y = OpFunctionCall %uint %counts %t; ONE %y"),
    ("private, after another call", false, "%y0 = OpFunctionCall %uint %counts %t; %y = OpFunctionCall %uint %counts %u; ONE %y"),
    (
        "member",
        true,
        "%x = OpVariable %to_pair Function; %a0 = OpAccessChain %to_function %x %zero; %a1 = OpAccessChain %to_function %x %one; \
      OpStore %a0 %t; OpStore %a1 %u; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "other member",
        false,
        "%x = OpVariable %to_pair Function; %a0 = OpAccessChain %to_function %x %zero; %a1 = OpAccessChain %to_function %x %one; \
      OpStore %a0 %t; OpStore %a1 %u; %y = OpLoad %uint %a0; ONE %y",
    ),
    (
        "element",
        true,
        "%x = OpVariable %to_array Function; %a0 = OpAccessChain %to_function %x %zero; %a1 = OpAccessChain %to_function %x %one; \
      OpStore %a0 %t; OpStore %a1 %u; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "element by a uniform index",
        false,
        "%x = OpVariable %to_array Function; %a0 = OpAccessChain %to_function %x %zero; %a1 = OpAccessChain %to_function %x %u; \
      OpStore %a0 %t; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "uniform elements by the thread",
        false,
        "%x = OpVariable %to_array Function; %null = OpCompositeConstruct %array %u %one %two %three; OpStore %x %null; \
      %a1 = OpAccessChain %to_function %x %t; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "uniform elements by a uniform",
        true,
        "%x = OpVariable %to_array Function; %null = OpCompositeConstruct %array %u %one %two %three; OpStore %x %null; \
      %a1 = OpAccessChain %to_function %x %u; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "stored at the thread's index",
        false,
        "%x = OpVariable %to_array Function; %null = OpCompositeConstruct %array %u %one %two %three; OpStore %x %null; \
      %a1 = OpAccessChain %to_function %x %t; OpStore %a1 %one; %a0 = OpAccessChain %to_function %x %two; %y = OpLoad %uint %a0; ONE %y",
    ),
    (
        "member of an element by a uniform",
        true,
        "%x = OpVariable %to_pairs Function; %c0 = OpCompositeConstruct %pair %t %u; %null = OpCompositeConstruct %pairs %c0 %c0 %c0 %c0; \
      OpStore %x %null; %a1 = OpAccessChain %to_function %x %u %one; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "other member of an element by a uniform",
        false,
        "%x = OpVariable %to_pairs Function; %c0 = OpCompositeConstruct %pair %t %u; %null = OpCompositeConstruct %pairs %c0 %c0 %c0 %c0; \
      OpStore %x %null; %a1 = OpAccessChain %to_function %x %u %zero; %y = OpLoad %uint %a1; ONE %y",
    ),
    (
        "large array",
        false,
        "%x = OpVariable %to_many Function; %a0 = OpAccessChain %to_function %x %zero; OpStore %a0 %t; OpStore %a0 %u; \
      %y = OpLoad %uint %a0; ONE %y",
    ),
    (
        "copied",
        false,
        "%x = OpVariable %to_pair Function; %z = OpVariable %to_pair Function; %c0 = OpCompositeConstruct %pair %t %u; OpStore %x %c0; \
      OpCopyMemory %z %x; %a0 = OpAccessChain %to_function %z %zero; %y = OpLoad %uint %a0; ONE %y",
    ),
    (
        "copied, other member",
        true,
        "%x = OpVariable %to_pair Function; %z = OpVariable %to_pair Function; %c0 = OpCompositeConstruct %pair %t %u; OpStore %x %c0; \
      OpCopyMemory %z %x; %a0 = OpAccessChain %to_function %z %one; %y = OpLoad %uint %a0; ONE %y",
    ),
    // Composites.
    ("component", true, "%v = OpCompositeConstruct %uint2 %t %u; %y = OpCompositeExtract %uint %v 1; ONE %y"),
    ("other component", false, "%v = OpCompositeConstruct %uint2 %t %u; %y = OpCompositeExtract %uint %v 0; ONE %y"),
    (
        "sum of vectors",
        true,
        "%v = OpCompositeConstruct %uint2 %t %u; %w2 = OpIAdd %uint2 %v %v; %y = OpCompositeExtract %uint %w2 1; ONE %y",
    ),
    (
        "inserted",
        true,
        "%v = OpCompositeConstruct %uint2 %t %t; %w2 = OpCompositeInsert %uint2 %u %v 0; %y = OpCompositeExtract %uint %w2 0; ONE %y",
    ),
    (
        "inserted thread",
        false,
        "%v = OpCompositeConstruct %uint2 %u %u; %w2 = OpCompositeInsert %uint2 %t %v 0; %y = OpCompositeExtract %uint %w2 0; ONE %y",
    ),
    (
        "shuffled",
        true,
        "%v = OpCompositeConstruct %uint2 %t %u; %w2 = OpVectorShuffle %uint2 %v %v 1 0; %y = OpCompositeExtract %uint %w2 0; ONE %y",
    ),
    (
        "shuffled, other component",
        false,
        "%v = OpCompositeConstruct %uint2 %t %u; %w2 = OpVectorShuffle %uint2 %v %v 1 0; %y = OpCompositeExtract %uint %w2 1; ONE %y",
    ),
    (
        "shuffled, undefined",
        false,
        "%v = OpCompositeConstruct %uint2 %u %u; %w2 = OpVectorShuffle %uint2 %v %v 1 0xffffffff; %y = OpCompositeExtract %uint %w2 1; ONE %y",
    ),
    ("dynamic component", false, "%v = OpCompositeConstruct %uint2 %u %one; %y = OpVectorExtractDynamic %uint %v %t; ONE %y"),
    ("dynamic component by a uniform", true, "%v = OpCompositeConstruct %uint2 %u %one; %y = OpVectorExtractDynamic %uint %v %u; ONE %y"),
    (
        "inserted at the thread's index",
        false,
        "%v = OpCompositeConstruct %uint2 %u %one; %w2 = OpVectorInsertDynamic %uint2 %v %two %t; %y = OpCompositeExtract %uint %w2 1; ONE %y",
    ),
    // Calls.
    ("call", true, "%y = OpFunctionCall %uint %twice %u; ONE %y"),
    ("call by the thread", false, "%y = OpFunctionCall %uint %twice %t; ONE %y"),
    ("call twice", true, "%y0 = OpFunctionCall %uint %twice %t; %y = OpFunctionCall %uint %twice %u; ONE %y"),
    (
        "call that stores",
        false,
        "%x = OpVariable %to_function Function; OpStore %x %u; %v = OpFunctionCall %void %put %x %t; %y = OpLoad %uint %x; ONE %y",
    ),
    (
        "call that stores a uniform",
        true,
        "%x = OpVariable %to_function Function; OpStore %x %t; %v = OpFunctionCall %void %put %x %u; %y = OpLoad %uint %x; ONE %y",
    ),
    ("call that waits", true, "%y = OpFunctionCall %uint %waits %u"),
    ("call that waits by the thread", false, "%y = OpFunctionCall %uint %waits %t"),
    ("call that waits in a branch", false, "if %tb A; %y = OpFunctionCall %uint %waits %three; else A; end A"),
    ("call that returns early", true, "%y = OpFunctionCall %uint %early %t; barrier"),
    ("value of a call that returns early", false, "%y = OpFunctionCall %uint %early %t; ONE %y"),
    // Memory.
    ("uniform buffer by a uniform", true, "ONE %u"),
    ("storage buffer", false, "%a0 = OpAccessChain %to_element %d %zero %zero; %y = OpLoad %uint %a0; ONE %y"),
    ("read-only storage buffer", true, "%a0 = OpAccessChain %to_element %r %zero %u; %y = OpLoad %uint %a0; ONE %y"),
    ("read-only storage buffer by the thread", false, "%a0 = OpAccessChain %to_element %r %zero %t; %y = OpLoad %uint %a0; ONE %y"),
    ("aliased read-only storage buffer", false, "%a0 = OpAccessChain %to_element %a %zero %zero; %y = OpLoad %uint %a0; ONE %y"),
    ("read-only member", true, "%a0 = OpAccessChain %to_element %m %zero; %y = OpLoad %uint %a0; ONE %y"),
    ("member that can be written", false, "%a0 = OpAccessChain %to_element %m %one %zero; %y = OpLoad %uint %a0; ONE %y"),
    ("length of a buffer", true, "%y = OpArrayLength %uint %d 0; ONE %y"),
    ("workgroup memory", false, "%y = OpLoad %uint %s; ONE %y"),
    ("atomic", false, "%a0 = OpAccessChain %to_element %d %zero %zero; %y = OpAtomicIAdd %uint %a0 %one %zero %one; ONE %y"),
    (
        "loaded before and after a branch",
        true,
        "if %tb A; %y0 = OpLoad %uint %up; else A; %y1 = OpLoad %uint %up; end A; %y = OpPhi %uint %y0 %A_then %y1 %A_else; ONE %y",
    ),
    (
        "storage image",
        false,
        "%i0 = OpLoad %storage_image %img; %x = OpImageRead %float4 %i0 %texel; %f = OpCompositeExtract %float %x 0; \
      %k = OpFOrdLessThan %bool %f %fzero; BARRIER %k",
    ),
    (
        "read-only storage image",
        true,
        "%i0 = OpLoad %storage_image %rimg; %x = OpImageRead %float4 %i0 %texel; %f = OpCompositeExtract %float %x 0; \
      %k = OpFOrdLessThan %bool %f %fzero; BARRIER %k",
    ),
    (
        "sampled image",
        true,
        "%i0 = OpLoad %sampled_image %tex; %x = OpImageSampleExplicitLod %float4 %i0 %coordinate Lod %fzero; \
      %f = OpCompositeExtract %float %x 0; %k = OpFOrdLessThan %bool %f %fzero; BARRIER %k",
    ),
    (
        "sampled image by the thread",
        false,
        "%i0 = OpLoad %sampled_image %tex; %f0 = OpConvertUToF %float %t; %at = OpCompositeConstruct %float2 %f0 %fzero; \
      %x = OpImageSampleExplicitLod %float4 %i0 %at Lod %fzero; \
      %f = OpCompositeExtract %float %x 0; %k = OpFOrdLessThan %bool %f %fzero; BARRIER %k",
    ),
    // Built-ins.
    ("workgroup", true, "%y = OpCompositeExtract %uint %w 0; ONE %y"),
    ("local id", false, "%y = OpCompositeExtract %uint %l 0; ONE %y"),
    ("local id of one row", true, "%y = OpCompositeExtract %uint %l 1; ONE %y"),
    ("global id of one row", true, "%y = OpCompositeExtract %uint %g 1; ONE %y"),
    ("bound of the group", true, "%y = OpCompositeExtract %uint %l 0; %k = OpULessThan %bool %y %eight; BARRIER %k"),
    ("bound of the group, too small", false, "%y = OpCompositeExtract %uint %l 0; %k = OpULessThan %bool %y %seven; BARRIER %k"),
    ("bound of the index", true, "%k = OpUGreaterThan %bool %eight %n; BARRIER %k"),
    ("bound of the index, too small", false, "%k = OpUGreaterThanEqual %bool %seven %n; %z = OpLogicalNot %bool %k; BARRIER %tb"),
    ("last of the index", false, "%k = OpULessThan %bool %n %seven; BARRIER %k"),
    // Values.
    ("dead", true, "if %false A; BARRIER0 %tb; else A; end A"),
    ("remainder", true, "%y = OpUMod %uint %t %eight; %k = OpULessThan %bool %y %eight; BARRIER %k"),
    ("mask", true, "%y = OpBitwiseAnd %uint %t %seven; %k = OpULessThan %bool %y %eight; BARRIER %k"),
    ("difference of itself", true, "%y = OpISub %uint %t %t; ONE %y"),
    ("zero shifted by the thread", false, "%y = OpShiftLeftLogical %uint %zero %t; ONE %y"),
    ("zero shifted by little", true, "%z = OpBitwiseAnd %uint %t %seven; %y = OpShiftLeftLogical %uint %zero %z; ONE %y"),
    ("product with zero", true, "%y = OpIMul %uint %t %zero; ONE %y"),
    ("product with zero, not exact", false, "%relaxed = OpIMul %uint %t %zero; ONE %relaxed"),
    ("wide constant", false, "%k0 = OpIEqual %bool %wide %wide_zero; if %k0 A; else A; BARRIER0 %tb; end A"),
    ("wide constants", true, "%k0 = OpIEqual %bool %wide %wide_zero; BARRIER %k0"),
    ("undefined", false, "ONE %undefined"),
    ("undefined in a function", false, "%y = OpUndef %uint; ONE %y"),
    ("null", true, "%y = OpCompositeExtract %uint %null_pair 1; ONE %y"),
    ("false and the thread", true, "%k = OpLogicalAnd %bool %tb %false; BARRIER %k"),
    ("true and the thread", false, "%k = OpLogicalAnd %bool %true %tb; BARRIER %k"),
    ("bits of a float", true, "%f = OpBitcast %float %u; %y = OpBitcast %uint %f; ONE %y"),
    ("least", true, "%y = OpExtInst %uint %glsl UMin %t %three; %k = OpULessThan %bool %y %sizes; BARRIER %k"),
    ("clamped", true, "%y = OpExtInst %uint %glsl UClamp %t %one %three; %k = OpULessThan %bool %y %sizes; BARRIER %k"),
    ("greatest", false, "%y = OpExtInst %uint %glsl UMax %t %three; %k = OpULessThan %bool %y %sizes; BARRIER %k"),
];

/// Fragment bodies: the name, whether the analysis accepts the body, and the body.
const FRAGMENT: &[(&str, bool, &str)] = &[
    ("derivative", true, "derivative"),
    ("derivative in a branch", false, "if %tb A; derivative; else A; end A"),
    ("derivative in a uniform branch", true, "if %ub A; derivative; else A; end A"),
    ("after a kill", false, "if %tb A; OpKill; dead x; else A; end A; derivative"),
    ("after a kill of all", true, "if %ub A; OpKill; dead x; else A; end A; derivative"),
    ("after a demotion", true, "if %tb A; OpDemoteToHelperInvocation; else A; end A; derivative"),
    ("whether a helper", false, "%h = OpIsHelperInvocationEXT %bool; if %h A; derivative; else A; end A"),
    ("implicit sample", true, "%i0 = OpLoad %sampled_image %tex; %x = OpImageSampleImplicitLod %float4 %i0 %coordinate"),
    (
        "implicit sample in a branch",
        false,
        "if %tb A; %i0 = OpLoad %sampled_image %tex; %x = OpImageSampleImplicitLod %float4 %i0 %coordinate; else A; end A",
    ),
    (
        "explicit sample in a branch",
        true,
        "if %tb A; %i0 = OpLoad %sampled_image %tex; %x = OpImageSampleExplicitLod %float4 %i0 %coordinate Lod %fzero; else A; end A",
    ),
    ("derivative of a uniform", true, "%x = OpDPdx %float %fu; %k = OpFOrdLessThan %bool %x %fzero; if %k A; derivative; else A; end A"),
    ("derivative of an input", false, "%x = OpDPdx %float %ft; %k = OpFOrdLessThan %bool %x %fzero; if %k A; derivative; else A; end A"),
    (
        "output",
        false,
        "%o = OpCompositeConstruct %float4 %ft %fu %fu %fu; OpStore %out %o; %o1 = OpLoad %float4 %out; %x = OpCompositeExtract %float %o1 0; \
      %k = OpFOrdLessThan %bool %x %fzero; if %k A; derivative; else A; end A",
    ),
    (
        "output, other component",
        true,
        "%o = OpCompositeConstruct %float4 %ft %fu %fu %fu; OpStore %out %o; %o1 = OpLoad %float4 %out; %x = OpCompositeExtract %float %o1 1; \
      %k = OpFOrdLessThan %bool %x %fzero; if %k A; derivative; else A; end A",
    ),
    ("unreachable", true, "if %tb A; OpUnreachable; dead x; else A; end A; derivative"),
];

fn body(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(at) = text.rfind("BARRIER0 ") {
        let rest: String = text[at + 9..].chars().take_while(|c| *c != ';').collect();
        text = text.replace(&format!("BARRIER0 {rest}"), &barrier_if(&rest).replace('K', "K0"));
    }
    if let Some((before, value)) = text.split_once("ONE ") {
        return format!("{before}{}", barrier_if_one(value));
    }
    if let Some((before, condition)) = text.split_once("BARRIER ") {
        return format!("{before}{}", barrier_if(condition));
    }
    text
}

fn load(text: &str) -> Result<Module, String> {
    let words = spirv::assemble(text, Assembly::default()).map_err(|e| e.to_string())?;
    Module::load(&words).map_err(|e| e.to_string())
}

/// Every case: its name, the verdict, and the module.
fn cases() -> Vec<(String, bool, Module)> {
    let mut cases = Vec::new();
    let mut wrong = Vec::new();
    let compute = COMPUTE.iter().map(|(name, accepted, text)| (name, accepted, compute("8 1 1", &body(text))));
    let fragment = FRAGMENT.iter().map(|(name, accepted, text)| (name, accepted, fragment(text)));
    for (name, accepted, text) in compute.chain(fragment) {
        match load(&text) {
            Ok(module) => cases.push(((*name).to_owned(), *accepted, module)),
            Err(e) => wrong.push(format!("{name}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{} modules do not load:\n{}", wrong.len(), wrong.join("\n"));
    cases
}

fn analyse(module: &Module, planted: Option<Planted>) -> uniformity::Analysis {
    uniformity::analyse_with(module, &Options { planted, ..Options::default() }).expect("small")
}

#[test]
fn modules_are_judged_as_by_hand() {
    let mut wrong = Vec::new();
    for (name, accepted, module) in cases() {
        let analysis = analyse(&module, None);
        if analysis.accepts() != accepted {
            wrong.push(format!("{name}: accepted {}, {:#?}", analysis.accepts(), analysis.rejections));
        }
        for rejection in &analysis.rejections {
            let last = rejection.steps.last().unwrap_or_else(|| panic!("{name}: no steps"));
            assert!(last.text.starts_with("this is "), "{name}: {rejection:?}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each weakened analysis accepts some module that it must reject.
#[test]
fn every_weakened_rule_is_caught() {
    let in_flow = [
        InFlow::ControlOfBranch,
        InFlow::ControlOfOuterBranch,
        InFlow::MergeIgnoresEdges,
        InFlow::MergeIgnoresValues,
        InFlow::LoopExit,
        InFlow::LoopCarried,
        InFlow::Operands,
        InFlow::FirstOperandOnly,
        InFlow::Varying,
        InFlow::IterationsAreAlike,
        InFlow::DynamicIndexIsIgnored,
        InFlow::StoresHitFirstElement,
        InFlow::BlendsForget,
    ];
    let own = [
        Planted::LocalIdIsUniform,
        Planted::GlobalIdOfOtherAxis,
        Planted::BoundTooSmall,
        Planted::StorageIsUniform,
        Planted::WorkgroupIsUniform,
        Planted::StorageImagesAreUniform,
        Planted::AtomicsAreUniform,
        Planted::UndefinedIsUniform,
        Planted::FragmentInputsAreUniform,
        Planted::PhisAreWrittenInOrder,
        Planted::PhiOfOnePredecessor,
        Planted::SwitchesHaveNoDefault,
        Planted::KillGoesOn,
        Planted::VariablesKeepTheirValue,
        Planted::PrivateIsUniform,
        Planted::ShiftsWrap,
        Planted::ImplicitLevelsNeedNothing,
        Planted::NonWritableOfAnyMember,
        Planted::AliasedIsLikeAnyOther,
        Planted::InsertIsIgnored,
        Planted::NarrowIntegersFold,
        Planted::WrapsAreDefined,
    ];
    let cases = cases();
    let mut missed = Vec::new();
    for planted in in_flow.map(Planted::Flow).into_iter().chain(own) {
        let caught = cases.iter().find(|(_, accepted, module)| !accepted && analyse(module, Some(planted)).accepts());
        if caught.is_none() {
            missed.push(planted);
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

/// Whether the invocations of some run do not all reach a barrier. `None` if the module cannot
/// be run.
fn diverges(module: &Module, u: u32) -> Option<bool> {
    let buffer = |binding, words: [u32; 8]| Buffer { set: 0, binding, bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let filled = |binding| buffer(binding, [0, 1, 2, 1, 0, 3, 1, 1]);
    let buffers = [filled(0), filled(1), buffer(2, [u; 8]), filled(3), filled(4)];
    let resources = Resources { buffers: &buffers, ..Resources::default() };
    let limits = Limits { by_relation: 200_000, ..Limits::default() };
    let dispatch = Dispatch { entry: "main", groups: [2, 1, 1], resources, limits };
    let outcome =
        spirv::grid::run(module, &dispatch, &smallstep_semantics::concurrency::Schedule::default(), &spirv::Relation::default(), &mut ());
    match outcome.ok()? {
        Outcome::Undefined(undefined) => Some(undefined.ub.id() == "spirv/divergent-barrier"),
        Outcome::Deadlock => Some(true),
        Outcome::Unsupported(_) => None,
        _ => Some(false),
    }
}

/// The relation shows no divergence of accepted modules, and shows divergence of most
/// rejected ones.
#[test]
fn accepted_modules_do_not_diverge() {
    let (mut run, mut shown, mut unsound) = (0, Vec::new(), Vec::new());
    let mut rejected = 0;
    for (name, accepted, module) in cases().into_iter().take(COMPUTE.len()) {
        let seen: Vec<bool> = [0, 1, 2, 3].into_iter().filter_map(|u| diverges(&module, u)).collect();
        run += usize::from(!seen.is_empty());
        rejected += usize::from(!accepted);
        match (accepted, seen.contains(&true)) {
            (true, true) => unsound.push(name),
            (false, true) => shown.push(name),
            _ => {}
        }
    }
    assert!(unsound.is_empty(), "accepted and divergent: {unsound:?}");
    eprintln!("{run} of {} modules ran; of {rejected} rejected ones {} diverge", COMPUTE.len(), shown.len());
    for name in ["on the only way out of a loop", "behind a continue that differs", "phis that swap, the other"] {
        assert!(shown.iter().any(|s| s == name), "{name} does not diverge");
    }
    assert!(3 * run >= 2 * COMPUTE.len() && 3 * shown.len() >= rejected);
}

/// In a workgroup of one invocation everything is uniform. In a larger one, a local id is uniform
/// along the axes of size 1.
#[test]
fn workgroup_sizes() {
    let accepts = |size: &str, text: &str| {
        let module = load(&compute(size, &body(text))).unwrap_or_else(|e| panic!("{e}"));
        analyse(&module, None).accepts()
    };
    let row = "%y = OpCompositeExtract %uint %l 1; ONE %y";
    assert!(accepts("1 1 1", "BARRIER %tb"));
    assert!(accepts("8 1 1", row) && !accepts("8 2 1", row) && !accepts("1 2 1", row));
    assert!(accepts("1 8 1", "BARRIER %tb"), "one column");
}

/// An explanation names the operation that needs uniform control flow, the path to it, and the
/// start of this path.
#[test]
fn an_explanation_has_places() {
    let text = compute(
        "8 1 1",
        "%file = OpCopyObject %uint %t; OpLine %source 7 3; %k = OpIEqual %bool %file %one; if %k K; barrier; else K; end K",
    );
    let text = text.replace("OpName %t", "%source = OpString \"a.hlsl\"\nOpName %t");
    let module = load(&text).unwrap_or_else(|e| panic!("{e}"));
    let analysis = analyse(&module, None);
    let [rejection] = &analysis.rejections[..] else { panic!("{analysis:?}") };
    assert_eq!((rejection.function.as_str(), rejection.need), ("main", Need::Barrier));
    assert_eq!(rejection.span.text, "OpControlBarrier");
    let texts: Vec<&str> = rejection.steps.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "which way is taken is decided by this branch",
            "this depends on its operands",
            "this is `GlobalInvocationId`, which differs between the invocations of the workgroup",
        ]
    );
    assert_eq!(rejection.steps[0].span.source, Some(("a.hlsl".to_owned(), 7, 3)));
    assert!(rejection.steps[0].span.to_string().ends_with("(a.hlsl:7:3)"), "{}", rejection.steps[0].span);
}

/// A specialization constant has the value with which loading freezes it, or it is uniform
/// and unknown.
#[test]
fn specialization_constants() {
    let inner = format!("if %k0 A; {}; else A; end A", barrier_if("%tb"));
    let text = compute("8 1 1", &format!("%k0 = OpIEqual %bool %special %three; {inner}"));
    let text = text.replace("%two = OpConstant %uint 2", "%two = OpConstant %uint 2\n%special = OpSpecConstant %uint 4");
    let words = spirv::assemble(&text, Assembly::default()).unwrap_or_else(|e| panic!("{e}"));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    let unknown = uniformity::unknown_constants(&words).expect("well-formed");
    assert_eq!(unknown.len(), 1);
    assert!(analyse(&module, None).accepts());
    let analysis = uniformity::analyse_with(&module, &Options { unknown, planted: None }).expect("small");
    assert!(!analysis.accepts());
}

/// Calls that double at each level are too many to inline. The analysis reports this soon.
#[test]
fn too_much_to_inline_has_no_verdict() {
    let mut functions = String::new();
    let levels = 40;
    for level in 0..levels {
        let callee = if level == 0 { "twice".to_owned() } else { format!("level{}", level - 1) };
        functions += &format!(
            "%level{level} = OpFunction %uint None %f_uint\n%x{level} = OpFunctionParameter %uint\n%entry{level} = OpLabel\n\
             %y{level} = OpFunctionCall %uint %{callee} %x{level}\n%z{level} = OpFunctionCall %uint %{callee} %y{level}\n\
             OpReturnValue %z{level}\nOpFunctionEnd\n"
        );
    }
    let text = compute("8 1 1", &format!("%y = OpFunctionCall %uint %level{} %u; {}", levels - 1, barrier_if_one("%y"))) + &functions;
    let module = load(&text).unwrap_or_else(|e| panic!("{e}"));
    let error = uniformity::analyse(&module).expect_err("too large");
    assert!(matches!(error.why, Why::Instructions(n) if n > 1 << 40), "{error}");
}

/// The time for long functions and deep nesting is nearly linear. Eight times the work may take
/// thirty times as long, but not sixty-four times.
#[test]
fn growth_is_linear() {
    let time = |module: &Module| {
        let run = || {
            let start = std::time::Instant::now();
            assert!(analyse(module, None).accepts());
            start.elapsed().as_secs_f64()
        };
        (0..3).map(|_| run()).fold(f64::MAX, f64::min)
    };
    let straight = |n: usize| {
        let mut text = String::from("%x0 = OpIAdd %uint %t %u;");
        for k in 1..n {
            text += &format!("%x{k} = OpIAdd %uint %x{} %u;", k - 1);
        }
        load(&compute("8 1 1", &(text + "barrier"))).unwrap_or_else(|e| panic!("{e}"))
    };
    let selections = |n: usize| {
        let mut text = String::from("%v = OpVariable %to_function Function;");
        for k in 0..n {
            text += &format!("if %tb A{k}; OpStore %v %u; else A{k}; OpStore %v %one; end A{k}; barrier;");
        }
        load(&compute("8 1 1", &text)).unwrap_or_else(|e| panic!("{e}"))
    };
    for (name, of) in [("straight", &straight as &dyn Fn(usize) -> Module), ("selections", &selections)] {
        let (small, large) = (of(16_000), of(128_000));
        let (a, b) = (time(&small), time(&large));
        eprintln!("{name}: {:.0} instructions a second", large.instructions().len() as f64 / b);
        assert!(b < 30.0 * a, "{name}: {a} s, {b} s");
    }
}

/// Very deep nesting ends soon: selections in selections, and loops in loops.
#[test]
fn deep_nesting() {
    let nested = |n: usize, open: &str, close: &str| {
        let mut text: String = (0..n).map(|k| open.replace('#', &k.to_string())).collect();
        text += "barrier;";
        text.extend((0..n).rev().map(|k| close.replace('#', &k.to_string())));
        load(&compute("8 1 1", &text)).unwrap_or_else(|e| panic!("{e}"))
    };
    for (name, module) in [
        ("selections", nested(5_000, "if %ub A#;", "else A#; end A#;")),
        ("loops", nested(1_000, "loop A#; body A#;", "next A#; until %ub A#;")),
    ] {
        let start = std::time::Instant::now();
        assert!(analyse(&module, None).accepts(), "{name}");
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("{name}: {seconds:.3} s");
        assert!(seconds < 5.0, "{name}: {seconds} s");
    }
}

//! Modules around a body, for comparisons: dispatches and stages. Also bodies that several
//! tests use.

/// Invocation i reads `%a` and `%b`, the elements i and i + 4 of the input. It stores through `%po`
/// to element i of the output.
const FRAME: &str = r#"
OpCapability Shader
CAPABILITIES
OpExtension "SPV_KHR_storage_buffer_storage_class"
EXTENSIONS
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %gid
OpExecutionMode %main LocalSize 4 1 1
MODES
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
DECORATIONS
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%u = OpTypeInt 32 0
%f = OpTypeFloat 32
%signed = OpTypeInt 32 1
%v2 = OpTypeVector %u 2
%v3 = OpTypeVector %u 3
%v4 = OpTypeVector %u 4
%true = OpConstantTrue %bool
%u0 = OpConstant %u 0
%u1 = OpConstant %u 1
%u2 = OpConstant %u 2
%u3 = OpConstant %u 3
%u4 = OpConstant %u 4
%u7 = OpConstant %u 7
%u31 = OpConstant %u 31
%u258 = OpConstant %u 258
%u260 = OpConstant %u 260
%u264 = OpConstant %u 264
%four = OpTypeArray %u %u4
%p_four = OpTypePointer Workgroup %four
%p_shared = OpTypePointer Workgroup %u
%array = OpTypeRuntimeArray %u
%block = OpTypeStruct %array
%p_block = OpTypePointer StorageBuffer %block
%pu = OpTypePointer StorageBuffer %u
%p_gid = OpTypePointer Input %v3
%in = OpVariable %p_block StorageBuffer
%out = OpVariable %p_block StorageBuffer
%gid = OpVariable %p_gid Input
%shared = OpVariable %p_four Workgroup
%main = OpFunction %void None %function
%entry = OpLabel
%id = OpLoad %v3 %gid
%i = OpCompositeExtract %u %id 0
%i4 = OpIAdd %u %i %u4
%pa = OpAccessChain %pu %in %u0 %i
%pb = OpAccessChain %pu %in %u0 %i4
%po = OpAccessChain %pu %out %u0 %i
%a = OpLoad %u %pa
%b = OpLoad %u %pb
%fa = OpBitcast %f %a
%fb = OpBitcast %f %b
BODY
OpReturn
OpFunctionEnd
"#;

/// A dispatch with this body. Lines of the body that begin with `@` are decorations. With `strict`
/// the module declares float controls.
pub fn text(body: &str, strict: bool) -> String {
    let (decorations, code): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.trim_start().starts_with('@'));
    let decorations: Vec<&str> = decorations.iter().map(|line| line.trim_start().trim_start_matches('@')).collect();
    let when = |text: &'static str| if strict { text } else { "" };
    FRAME
        .trim_start()
        .replace("CAPABILITIES", when("OpCapability RoundingModeRTE\nOpCapability SignedZeroInfNanPreserve"))
        .replace("EXTENSIONS", when("OpExtension \"SPV_KHR_float_controls\""))
        .replace("MODES", when("OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main SignedZeroInfNanPreserve 32"))
        .replace("DECORATIONS", &decorations.join("\n"))
        .replace("BODY", &code.join("\n"))
}

pub const GUARDED: &str = "%c = OpINotEqual %bool %b %u0
    OpSelectionMerge %end None
    OpBranchConditional %c %then %end
    %then = OpLabel
    %q = OpUDiv %u %a %b
    OpBranch %end
    %end = OpLabel
    %r = OpPhi %u %q %then %u0 %entry
    OpStore %po %r";
pub const HOISTED: &str = "%c = OpINotEqual %bool %b %u0
    %q = OpUDiv %u %a %b
    %r = OpSelect %u %c %q %u0
    OpStore %po %r";
pub const EXCHANGE: &str = "%own = OpAccessChain %p_shared %shared %i
    OpStore %own %a
    OpControlBarrier %u2 %u2 %u264
    %j = OpBitwiseXor %u %i %u1
    %other = OpAccessChain %p_shared %shared %j
    %x = OpLoad %u %other
    OpStore %po %x";
pub const LOOP: &str = "OpBranch %head
    %head = OpLabel
    %k = OpPhi %u %u0 %entry %k2 %next
    %s = OpPhi %u %u0 %entry %s2 %next
    %more = OpULessThan %bool %k %u4
    OpLoopMerge %done %next None
    OpBranchConditional %more %next %done
    %next = OpLabel
    %pk = OpAccessChain %pu %in %u0 %k
    %x = OpLoad %u %pk
    %s2 = OpIAdd %u %s %x
    %k2 = OpIAdd %u %k %u1
    OpBranch %head
    %done = OpLabel
    OpStore %po %s";
pub const ENDLESS: &str = "OpStore %po %a
    OpBranch %head
    %head = OpLabel
    OpLoopMerge %done %next None
    OpBranchConditional %true %next %done
    %next = OpLabel
    OpBranch %head
    %done = OpLabel";
/// Each invocation takes a ticket from a counter in Workgroup memory. Invocation 0 clears the
/// counter before a barrier.
pub const TICKET: &str = "%pc = OpAccessChain %p_shared %shared %u0
    %first = OpIEqual %bool %i %u0
    OpSelectionMerge %cleared None
    OpBranchConditional %first %clear %cleared
    %clear = OpLabel
    OpAtomicStore %pc %u2 %u0 %u0
    OpBranch %cleared
    %cleared = OpLabel
    OpControlBarrier %u2 %u2 %u264
    %t = OpAtomicIAdd %u %pc %u2 %u0 %u1
    OpStore %po %t";

/// Clears the Workgroup variables `%px` and `%py` before a barrier. Then invocation 0 executes
/// `zeroth`, and invocation 1 executes `first`.
pub fn two(zeroth: &str, first: &str) -> String {
    format!(
        "%px = OpAccessChain %p_shared %shared %u0
        %py = OpAccessChain %p_shared %shared %u1
        %is0 = OpIEqual %bool %i %u0
        %is1 = OpIEqual %bool %i %u1
        OpSelectionMerge %cleared None
        OpBranchConditional %is0 %clear %cleared
        %clear = OpLabel
        OpAtomicStore %px %u2 %u0 %u0
        OpAtomicStore %py %u2 %u0 %u0
        OpBranch %cleared
        %cleared = OpLabel
        OpControlBarrier %u2 %u2 %u264
        OpSelectionMerge %after0 None
        OpBranchConditional %is0 %do0 %after0
        %do0 = OpLabel
        {zeroth}
        OpBranch %after0
        %after0 = OpLabel
        OpSelectionMerge %after1 None
        OpBranchConditional %is1 %do1 %after1
        %do1 = OpLabel
        {first}
        OpBranch %after1
        %after1 = OpLabel"
    )
}

/// Stores two numbers, each below 4, as one number.
pub fn shown(a: &str, b: &str) -> String {
    format!("%{a}{b}4 = OpIMul %u %{a} %u4\n%{a}{b} = OpIAdd %u %{a}{b}4 %{b}\nOpStore %po %{a}{b}")
}

/// Types, pointers and constants of [`fragment`] and [`storage`].
pub const DRAWN_TYPES: &str = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n\
    %v2 = OpTypeVector %float 2\n%v4 = OpTypeVector %float 4\n%f0 = OpConstant %float 0\n%f1 = OpConstant %float 1\n\
    %half = OpConstant %float 0.5\n%f3 = OpConstant %float 3\n%third = OpConstant %float 0.333333343\n%huge = OpConstant %float 1e20\n%above = OpConstant %float 0.70710683\n%c0 = OpConstant %uint 0\n\
    %c1 = OpConstant %uint 1\n%white = OpConstantComposite %v4 %f1 %f1 %f1 %f1\n%grey = OpConstantComposite %v4 %half %half %half %half\n\
    %in4 = OpTypePointer Input %v4\n%out4 = OpTypePointer Output %v4\n%out1 = OpTypePointer Output %float\n";

/// A fragment stage with the input `%c` at location 0 and FragCoord `%at`. The body stores to
/// `%out`. The depth is 0.5.
pub fn fragment(body: &str) -> String {
    format!(
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\" %in %coord %out %depth\nOpExecutionMode %main OriginUpperLeft\n\
         OpExecutionMode %main DepthReplacing\nOpDecorate %in Location 0\nOpDecorate %coord BuiltIn FragCoord\nOpDecorate %out Location 0\n\
         OpDecorate %depth BuiltIn FragDepth\n{DRAWN_TYPES}%in = OpVariable %in4 Input\n%coord = OpVariable %in4 Input\n\
         %out = OpVariable %out4 Output\n%depth = OpVariable %out1 Output\n%main = OpFunction %void None %fn\n%l = OpLabel\n\
         %c = OpLoad %v4 %in\n%at = OpLoad %v4 %coord\n%x = OpCompositeExtract %float %at 0\nOpStore %depth %half\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

/// [`fragment`] without a depth. Stages that write a depth do not run over sets.
pub fn flat_fragment(body: &str) -> String {
    let text = fragment(body).replace(" %depth\n", "\n").replace("OpExecutionMode %main DepthReplacing\n", "");
    let gone = ["OpDecorate %depth BuiltIn FragDepth\n", "%depth = OpVariable %out1 Output\n", "OpStore %depth %half\n"];
    gone.iter().fold(text, |text, line| text.replace(line, ""))
}

/// A compute module that reads a texel of one storage image and writes a texel of another.
pub fn storage(body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         OpDecorate %a DescriptorSet 0\nOpDecorate %a Binding 0\nOpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 1\n{DRAWN_TYPES}\
         %image = OpTypeImage %float 2D 0 0 0 2 Rgba32f\n%pi = OpTypePointer UniformConstant %image\n%a = OpVariable %pi UniformConstant\n\
         %b = OpVariable %pi UniformConstant\n%u2 = OpTypeVector %uint 2\n%at = OpConstantComposite %u2 %c0 %c0\n\
         %main = OpFunction %void None %fn\n%l = OpLabel\n%i = OpLoad %image %a\n%o = OpLoad %image %b\n%r = OpImageRead %v4 %i %at\n{body}\n\
         OpReturn\nOpFunctionEnd\n"
    )
}

/// A dispatch of one invocation that stores element 1 of a buffer of two floats of this width.
pub fn float_frame(width: u32, strict: bool, body: &str) -> String {
    let when = |text: String| if strict { text } else { String::new() };
    let bytes = width / 8;
    let capabilities = when("OpCapability RoundingModeRTE\nOpCapability SignedZeroInfNanPreserve\n".into());
    let extension = when("OpExtension \"SPV_KHR_float_controls\"\n".into());
    let modes: String = [16, 32, 64]
        .map(|width| {
            when(format!("OpExecutionMode %main RoundingModeRTE {width}\nOpExecutionMode %main SignedZeroInfNanPreserve {width}\n"))
        })
        .concat();
    let int = if width == 32 { "".into() } else { format!("%bits = OpTypeInt {width} 0\n") };
    let bits = if width == 32 { "u" } else { "bits" };
    format!(
        r#"OpCapability Shader
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpCapability StorageBuffer16BitAccess
{capabilities}OpExtension "SPV_KHR_storage_buffer_storage_class"
OpExtension "SPV_KHR_16bit_storage"
{extension}OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
{modes}OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset {bytes}
OpDecorate %block Block
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%u = OpTypeInt 32 0
{int}%f = OpTypeFloat {width}
%u1 = OpConstant %u 1
%block = OpTypeStruct %f %f
%p_block = OpTypePointer StorageBuffer %block
%pf = OpTypePointer StorageBuffer %f
%out = OpVariable %p_block StorageBuffer
CONSTANTS%main = OpFunction %void None %function
%entry = OpLabel
%po = OpAccessChain %pf %out %u1
{body}
OpReturn
OpFunctionEnd
"#
    )
    .replace("CONSTANTS", &if body.contains("%given") { format!("%given = OpConstant %{bits} NUMBER\n") } else { String::new() })
}

const FLOAT_FRAME: &str = r#"
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

/// A dispatch in which invocation i reads `%a` and `%b`, floats at i and i + 4 of the input. The
/// body computes the float `%r`, which is stored at i of the output.
pub fn float_text(body: &str) -> String {
    FLOAT_FRAME.trim_start().replace("BODY", body)
}

/// A fragment stage that shows a texel at the coordinates in its input.
pub fn sampled() -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %in %out\n\
    OpExecutionMode %main OriginUpperLeft\nOpDecorate %in Location 0\nOpDecorate %out Location 0\nOpDecorate %t DescriptorSet 0\n\
    OpDecorate %t Binding 0\nOpDecorate %s DescriptorSet 0\nOpDecorate %s Binding 1\n{DRAWN_TYPES}%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n\
    %sampler = OpTypeSampler\n%sampled = OpTypeSampledImage %image\n%pi = OpTypePointer UniformConstant %image\n\
    %ps = OpTypePointer UniformConstant %sampler\n%t = OpVariable %pi UniformConstant\n%s = OpVariable %ps UniformConstant\n\
    %in = OpVariable %in4 Input\n%out = OpVariable %out4 Output\n%main = OpFunction %void None %fn\n%l = OpLabel\n%c = OpLoad %v4 %in\n\
    %i = OpLoad %image %t\n%k = OpLoad %sampler %s\n%both = OpSampledImage %sampled %i %k\n%uv = OpVectorShuffle %v2 %c %c 0 1\n\
    %r = OpImageSampleExplicitLod %v4 %both %uv Lod %f0\nOpStore %out %r\nOpReturn\nOpFunctionEnd\n"
    )
}

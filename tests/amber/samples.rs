//! Scripts that use every supported feature.

pub const COMPUTE: &str = r##"#!amber
# A comment.
DEVICE_FEATURE shaderInt16
DEVICE_FEATURE Float16Int8Features.shaderFloat16
DEVICE_PROPERTY FloatControlsProperties.shaderDenormPreserveFloat32
DEVICE_EXTENSION VK_KHR_storage_buffer_storage_class # why not
INSTANCE_EXTENSION VK_KHR_get_physical_device_properties2
SET ENGINE_DATA fence_timeout_ms 3000

VIRTUAL_FILE kernels/empty.spvasm
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %1 "main"
OpExecutionMode %1 LocalSize 1 1 1
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%1 = OpFunction %2 None %3
%4 = OpLabel
OpReturn
OpFunctionEnd
END

SHADER compute from_file SPIRV-ASM TARGET_ENV spv1.3 VIRTUAL_FILE kernels/empty.spvasm
SHADER multi two SPIRV-HEX
0x07230203 00010000 0X0
5 0
END
SHADER compute source GLSL TARGET_ENV vulkan1.1
#version 450
void main() { } // END of it
END # shader

STRUCT inner
  vec2<float> p
  float16 q OFFSET 8
END
STRUCT outer STRIDE 96
  inner one
  int32[3] counts ARRAY_STRIDE 8 OFFSET 16
  mat2x2<float> m MATRIX_STRIDE 16 OFFSET 48
END

BUFFER plain DATA_TYPE uint32 DATA
1 2 # two
0xffffffff
END
BUFFER line DATA_TYPE vec2<int32> SIZE 4 FILL -7
BUFFER series DATA_TYPE float SIZE 5 SERIES_FROM 0.5 INC_BY 0.25
BUFFER block DATA_TYPE outer STD140 DATA
0.5 1.5 2.5  1 2 3  1 2 3 4
-0.5 -1.5 -2.5  -1 -2 -3  -1 -2 -3 -4
END
BUFFER rounded DATA_TYPE float[] STD140 DATA 1.5 2.5 END
BUFFER joined \
  DATA_TYPE int64 \
  SIZE 2 FILL 3
BUFFER consts DATA_TYPE uint8 SIZE 16 FILL 0x7f
BUFFER plain2 DATA_TYPE uint32 SIZE 3 FILL 0

PIPELINE compute first
  ATTACH from_file ENTRY_POINT main SPECIALIZE 0 AS uint32 4 SPECIALIZE 7 AS float -0.1 SPECIALIZE 1 AS int32 -1
  BIND BUFFER plain AS storage DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER line AS storage DESCRIPTOR_SET 0 BINDING 0 DESCRIPTOR_OFFSET 8 DESCRIPTOR_RANGE 16
  BIND BUFFER block AS uniform DESCRIPTOR_SET 1 BINDING 0
  BIND BUFFER_ARRAY plain2 plain2 AS storage DESCRIPTOR_SET 1 BINDING 1 DESCRIPTOR_OFFSET 0 4 DESCRIPTOR_RANGE 8 4
  BIND BUFFER consts AS push_constant
  SHADER_OPTIMIZATION from_file
  END
END
DERIVE_PIPELINE second FROM first
  ATTACH two TYPE compute ENTRY_POINT other
  BIND BUFFER series AS storage DESCRIPTOR_SET 0 BINDING 1
END

RUN first 2 3 4
COPY plain TO plain2
REPEAT 3
  RUN second 1 1 1
  EXPECT plain IDX 0 EQ 1 2 4294967295
END
EXPECT plain2 EQ_BUFFER plain
EXPECT line IDX 8 NE 0 0 0
EXPECT series IDX 4 TOLERANCE 0.1 EQ 0.75 1
EXPECT series IDX 4 TOLERANCE 5% EQ 0.75 1
EXPECT series IDX 0 GE 0.5
EXPECT block IDX 104 EQ -2.5 -1 -2 -3
EXPECT plain RMSE_BUFFER plain2 TOLERANCE 0.25
"##;

pub const GRAPHICS: &str = r##"#!amber
SHADER vertex passed PASSTHROUGH
SHADER fragment red SPIRV-ASM
OpCapability Shader
END
SHADER vertex other SPIRV-ASM TARGET_ENV vulkan1.2
END

BUFFER target FORMAT B8G8R8A8_UNORM MIP_LEVELS 1 SAMPLES 1
BUFFER target2 FORMAT B8G8R8A8_UNORM
BUFFER copied FORMAT B8G8R8A8_UNORM
BUFFER depth FORMAT D32_SFLOAT
IMAGE texture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 2 DATA
255 0 0 255  0 255 0 255
0 0 255 255  255 255 255 255
END
IMAGE empty FORMAT R32_SFLOAT DIM_2D WIDTH 4 HEIGHT 2
IMAGE floats DATA_TYPE vec4<float> DIM_2D WIDTH 2 HEIGHT 1 FILL 0.5
BUFFER old DATA_TYPE R8_UNORM WIDTH 3 HEIGHT 2 SERIES_FROM 0 INC_BY 10
BUFFER positions DATA_TYPE vec3<float> DATA
-1 -1 0  1 -1 0  0 1 0.5
END
BUFFER colours DATA_TYPE R8G8B8A8_UNORM DATA 255 0 0 255 0 255 0 255 0 0 255 255 END
BUFFER indices DATA_TYPE uint16 DATA 0 1 2 END

SAMPLER plain
SAMPLER full MAG_FILTER linear MIN_FILTER linear ADDRESS_MODE_U clamp_to_edge ADDRESS_MODE_V mirrored_repeat \
  ADDRESS_MODE_W clamp_to_border BORDER_COLOR int_opaque_white MIN_LOD 0.25 MAX_LOD 2 NORMALIZED_COORDS COMPARE off COMPARE_OP never
SAMPLER pixels UNNORMALIZED_COORDS MAX_LOD 7

PIPELINE graphics draw
  ATTACH passed
  ATTACH red
  FRAMEBUFFER_SIZE 64 32
  VIEWPORT 0 0.5 SIZE 64 32 MIN_DEPTH 0.25 MAX_DEPTH 0.75
  CULL_MODE back
  FRONT_FACE clockwise
  POLYGON_MODE fill
  BIND BUFFER target AS color LOCATION 0 BASE_MIP_LEVEL 0
  BIND BUFFER target2 AS color LOCATION 2
  BIND BUFFER depth AS depth_stencil
  BIND BUFFER texture AS combined_image_sampler SAMPLER full DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER empty AS sampled_image DESCRIPTOR_SET 0 BINDING 1 BASE_MIP_LEVEL 0
  BIND BUFFER floats AS storage_image DESCRIPTOR_SET 0 BINDING 2
  BIND SAMPLER pixels DESCRIPTOR_SET 0 BINDING 3
  VERTEX_DATA positions LOCATION 0
  VERTEX_DATA colours LOCATION 1 RATE instance FORMAT R8G8_UNORM OFFSET 4 STRIDE 4
  INDEX_DATA indices
END
DERIVE_PIPELINE again FROM draw
  ATTACH other ENTRY_POINT there
  VERTEX_DATA colours LOCATION 1
END

CLEAR_COLOR draw 255 128 0 1
CLEAR_DEPTH draw 0.5
CLEAR_STENCIL draw 7
CLEAR draw
RUN draw DRAW_RECT POS 0 0 SIZE 64 32
RUN draw DRAW_GRID POS 1 2 SIZE 8 8 CELLS 4 2
RUN draw DRAW_ARRAY AS TRIANGLE_LIST
RUN draw DRAW_ARRAY AS TRIANGLE_STRIP START_IDX 1 COUNT 2 START_INSTANCE 3 INSTANCE_COUNT 4
RUN again DRAW_ARRAY AS TRIANGLE_FAN INDEXED START_IDX 0 COUNT 3
COPY target TO copied
EXPECT target IDX 0 0 SIZE 64 32 EQ_RGBA 255 0 0 255
EXPECT target IDX 1 2 SIZE 3 4 EQ_RGB 1 2 3 TOLERANCE 0.5%
EXPECT target IDX 1 2 SIZE 3 4 EQ_RGBA 1 2 3 4 TOLERANCE 0.01 0.02 3% 0.04
EXPECT target EQ_HISTOGRAM_EMD_BUFFER target2 TOLERANCE 0.005
EXPECT copied EQ_BUFFER target
EXPECT texture IDX 4 EQ 0 255 0 255
"##;

pub const VKSCRIPT: &str = r##"# an old one
[require]
shaderFloat64
VK_KHR_storage_buffer_storage_class
fence_timeout 500

[compute shader spirv]
OpCapability Shader ; [not a section]
# kept

[test]
ssbo 0 subdata float 0 1.5 -2 0x10
ssbo 1:2 32
uniform ubo 3 vec3 0 1 2 3 4 5 6
uniform uint 4 7
compute entrypoint other
compute 4 1 1
tolerance 0.1 2%
probe ssbo float 0 0 ~= 1.5 -2 16
probe ssbo ivec4 1:2 16 != 0 0 0 0
probe ssbo float 0 4 <= 0
"##;

//! Texts that are no scripts: near misses of each command, with the place and the sentence of
//! the error.

use crate::{lines, script};
use smallstep::amber::*;

/// Declarations that the cases build on: 30 lines.
const BASE: &str = "#!amber
SHADER vertex v PASSTHROUGH
SHADER fragment f SPIRV-ASM
END
SHADER compute c SPIRV-ASM
END
SHADER multi m SPIRV-ASM
END
STRUCT s
  int32 x
END
BUFFER b DATA_TYPE uint32 SIZE 4 FILL 0
BUFFER b3 DATA_TYPE uint32 SIZE 3 FILL 0
BUFFER i DATA_TYPE int32 SIZE 4 FILL 0
BUFFER odd DATA_TYPE mat2x2<float> SIZE 4 FILL 0
BUFFER pos DATA_TYPE vec2<float> SIZE 3 FILL 0
BUFFER t FORMAT R8G8B8A8_UNORM
BUFFER u FORMAT R8G8B8A8_UINT
BUFFER d FORMAT D16_UNORM
BUFFER un FORMAT R8_UNORM
SAMPLER sm
PIPELINE compute p
  ATTACH c
END
PIPELINE graphics g
  ATTACH v
  ATTACH f
  FRAMEBUFFER_SIZE 8 4
  BIND BUFFER t AS color LOCATION 0
  BIND BUFFER u AS color LOCATION 1
END
";

#[track_caller]
fn refuses(cases: &[(&str, &str)]) {
    script(BASE);
    let first = BASE.lines().count() as u32;
    for (text, expected) in cases {
        let errors = read(&format!("{BASE}{text}\n")).expect_err(text);
        // Lines are counted from the first line of the case.
        let of_case = |error: &ScriptError| {
            let mut error = error.clone();
            error.line -= first;
            error
        };
        let relative: Vec<_> = errors.iter().map(of_case).collect();
        assert_eq!(lines(&relative).trim_end(), *expected, "{text}");
    }
}

fn accepts(cases: &[&str]) {
    for text in cases {
        script(&format!("{BASE}{text}\n"));
    }
}

const INVALID: &str = "error[amber]: ";

#[test]
fn statements() {
    refuses(&[
        ("FROB x", "error[amber]: 1:1: found `FROB`, where a command of AmberScript should stand"),
        ("run p 1 1 1", "error[amber]: 1:1: found `run`, where a command of AmberScript should stand"),
        ("DEVICE_FEATURE", "error[amber]: 1:15: the line ends where a name should stand"),
        ("DEVICE_PROPERTY a b", "error[amber]: 1:19: found `b` after a complete statement"),
        ("SET ENGINE_DATA frobnication 3", "unsupported: 1:17: engine data `frobnication` is not supported"),
        (
            "SET ENGINE_DATA fence_timeout_ms -1",
            "error[amber]: 1:34: found `-1`, where a number of milliseconds from 0 to 4294967295 should stand",
        ),
        ("SET KERNEL x", "error[amber]: 1:5: found `KERNEL`, where ENGINE_DATA should stand"),
        ("ACCELERATION_STRUCTURE x", "unsupported: 1:1: ray tracing is not supported"),
        ("DEBUG x", "unsupported: 1:1: DEBUG is not supported"),
        ("VIRTUAL_FILE a\nb", "error[amber]: 1:1: VIRTUAL_FILE has no END"),
        ("VIRTUAL_FILE a\nEND\nVIRTUAL_FILE a\nEND", "error[amber]: 3:14: the virtual file `a` is declared twice"),
    ]);
    assert!(read("#!Amber\n").is_err() && read(" #!amber\n").is_err() && read("#!amber").is_ok());
}

#[test]
fn shaders() {
    refuses(&[
        ("SHADER geometry x GLSL\nEND", "unsupported: 1:8: the stage geometry is not supported"),
        ("SHADER tessellation_control x GLSL\nEND", "unsupported: 1:8: tessellation is not supported"),
        (
            "SHADER pixel x GLSL\nEND",
            "error[amber]: 1:8: found `pixel`, where a shader's stage should stand: vertex, fragment, compute or multi",
        ),
        ("SHADER fragment x PASSTHROUGH", "error[amber]: 1:19: only a vertex shader can be PASSTHROUGH"),
        ("SHADER compute x SPIRV\nEND", "error[amber]: 1:18: found `SPIRV`, where a shader's format should stand"),
        ("SHADER multi x GLSL\nEND", "error[amber]: 1:16: a multi shader is SPIRV-ASM or SPIRV-HEX"),
        (
            "SHADER compute x SPIRV-ASM TARGET_ENV spv9\nEND",
            "error[amber]: 1:39: found `spv9`, where a target environment should stand, as spv1.3 or vulkan1.1",
        ),
        ("SHADER compute x SPIRV-ASM", "error[amber]: 1:1: SHADER has no END"),
        ("SHADER compute x SPIRV-HEX\n1 100000000\nEND", "error[amber]: 2:3: found `100000000`, where a word of SPIR-V should stand"),
        ("SHADER compute x SPIRV-HEX\n+1\nEND", "error[amber]: 2:1: found `+1`, where a word of SPIR-V should stand"),
        ("SHADER compute x SPIRV-ASM VIRTUAL_FILE none", "error[amber]: 1:41: no virtual file `none` is declared before this"),
        ("SHADER compute x SPIRV-ASM FILE a.spvasm", "unsupported: 1:28: FILE, which needs a file outside the script, is not supported"),
        ("SHADER compute x SPIRV-BIN FILE a.spv", "unsupported: 1:18: SPIRV-BIN, which needs a file outside the script, is not supported"),
        ("SHADER compute c GLSL\nEND", "error[amber]: 1:16: the shader `c` is declared twice"),
        ("SHADER compute x SPIRV-ASM y\nEND", "error[amber]: 1:28: found `y` after a complete statement"),
    ]);
    accepts(&["SHADER compute x HLSL\nEND", "SHADER compute x OPENCL-C TARGET_ENV spv1.6\nEND"]);
}

#[test]
fn structures_and_types() {
    refuses(&[
        ("STRUCT s\n int32 y\nEND", "error[amber]: 1:8: the structure `s` is declared twice"),
        ("STRUCT x\nEND", "error[amber]: 1:8: the structure `x`: a structure of no members has no layout"),
        ("STRUCT x\n int32 y\n int8 y\nEND", "error[amber]: 3:7: the member `y` is declared twice"),
        ("STRUCT x\n x y\nEND", "error[amber]: 2:2: found `x`, where a data type should stand"),
        ("STRUCT x\n int32 y FROB 3\nEND", "error[amber]: 2:10: found `FROB`, where OFFSET, ARRAY_STRIDE or MATRIX_STRIDE should stand"),
        ("STRUCT x\n int32[] y\nEND", "error[amber]: 2:2: found `int32[]`, where a data type should stand"),
        (
            "STRUCT x\n int64 a\n int32 y OFFSET 4\nEND",
            "error[amber]: 1:8: the structure `x`: member y at offset 4 overlaps what ends at 8",
        ),
        ("STRUCT x STRIDE 4\n int64 a\nEND", "error[amber]: 1:8: the structure `x`: STRIDE 4 is less than the 8 bytes of the members"),
        ("STRUCT x\n int32 y", "error[amber]: 1:1: STRUCT has no END"),
        ("BUFFER x DATA_TYPE int SIZE 1 FILL 0", "error[amber]: 1:20: found `int`, where a data type should stand"),
        ("BUFFER x DATA_TYPE vec5<float> SIZE 1 FILL 0", "error[amber]: 1:20: found `vec5<float>`, where a data type should stand"),
        ("BUFFER x DATA_TYPE mat2x<float> SIZE 1 FILL 0", "error[amber]: 1:20: found `mat2x<float>`, where a data type should stand"),
        ("BUFFER x DATA_TYPE float[0] SIZE 1 FILL 0", "error[amber]: 1:20: found `float[0]`, where a data type should stand"),
        ("BUFFER x DATA_TYPE R10X6_UNORM_PACK16 SIZE 1 FILL 0", "unsupported: 1:20: the format R10X6_UNORM_PACK16 is not supported"),
        ("BUFFER x FORMAT B10G11R11_UFLOAT_PACK32", "unsupported: 1:17: the format B10G11R11_UFLOAT_PACK32 is not supported"),
        ("BUFFER x FORMAT float", "error[amber]: 1:17: found `float`, where an image format should stand"),
    ]);
    // If a type has an error, its uses report none.
    refuses(&[(
        "STRUCT x\n what y\nEND\nBUFFER z DATA_TYPE x SIZE 1 FILL 0\nEXPECT z IDX 0 EQ 1",
        "error[amber]: 2:2: found `what`, where a data type should stand",
    )]);
}

#[test]
fn buffers() {
    refuses(&[
        ("BUFFER x", "error[amber]: 1:9: the line ends where DATA_TYPE or FORMAT should stand"),
        ("BUFFER x SIZE 3", "error[amber]: 1:10: found `SIZE`, where DATA_TYPE or FORMAT should stand"),
        ("BUFFER x DATA_TYPE int8", "error[amber]: 1:1: the buffer `x` has no DATA, or SIZE with FILL or SERIES_FROM"),
        ("BUFFER x DATA_TYPE int8 FILL 3", "error[amber]: 1:1: the buffer `x` has no SIZE"),
        ("BUFFER x DATA_TYPE int8 SIZE 3 FILL 300", "error[amber]: 1:37: 300 is outside the range of int8"),
        ("BUFFER x DATA_TYPE int8 SIZE 3 FILL 0.5", "error[amber]: 1:37: 0.5 is no value of the integer type int8"),
        ("BUFFER x DATA_TYPE int8 SIZE 3 FILL nan", "error[amber]: 1:37: nan is no value of the integer type int8"),
        ("BUFFER x DATA_TYPE float SIZE 3 SERIES_FROM nan INC_BY 1", "error[amber]: 1:45: the series leaves the range of float"),
        ("SAMPLER x MIN_LOD nan", "error[amber]: 1:19: found `nan`, where a level of detail should stand"),
        ("BUFFER x DATA_TYPE int8 SIZE 3 FILL", "error[amber]: 1:36: the line ends where a number should stand"),
        ("BUFFER x DATA_TYPE int8 SIZE 3 FILL 0 0", "error[amber]: 1:39: found `0` after a complete statement"),
        (
            "BUFFER x DATA_TYPE uint8 SIZE 7 SERIES_FROM 250 INC_BY 1",
            "error[amber]: 1:45: the series reaches 256, outside the range of uint8",
        ),
        ("BUFFER x DATA_TYPE uint8 SIZE 7 SERIES_FROM 0 INC_BY 1.5", "error[amber]: 1:45: 1.5 is no value of the integer type uint8"),
        ("BUFFER x DATA_TYPE float SIZE 7 SERIES_FROM 0 INC_BY 1e38", "error[amber]: 1:45: the series leaves the range of float"),
        (
            "BUFFER x DATA_TYPE vec2<float> SIZE 7 SERIES_FROM 0 INC_BY 1",
            "unsupported: 1:39: SERIES_FROM of what is no scalar is not supported",
        ),
        ("BUFFER x DATA_TYPE float SIZE 7 SERIES_FROM 0 BY 1", "error[amber]: 1:47: found `BY`, where INC_BY should stand"),
        (
            "BUFFER x DATA_TYPE vec2<int8> DATA\n1 2\n3\nEND",
            "error[amber]: 1:31: DATA has 3 values, which are no whole number of items of 2",
        ),
        ("BUFFER x DATA_TYPE int8 DATA\n1 x 300\nEND", "error[amber]: 2:3: found `x`, where a number or END should stand"),
        ("BUFFER x DATA_TYPE int8 DATA END", "error[amber]: 1:25: DATA has no values"),
        ("BUFFER x DATA_TYPE int8 DATA 1 2", "error[amber]: 1:25: DATA has no END"),
        ("BUFFER x DATA_TYPE int8 SIZE 2 DATA 1 END", "error[amber]: 1:8: DATA has 1 items, where 2 should stand"),
        (
            "BUFFER x DATA_TYPE int8 SIZE 2 FILE BINARY a",
            "unsupported: 1:32: FILE, which needs a file outside the script, is not supported",
        ),
        ("BUFFER x FORMAT R8_UNORM MIP_LEVELS 16", "limit: 1:37: a number of levels: at most 15"),
        (
            "BUFFER x DATA_TYPE int8 MIP_LEVELS 2 SIZE 2 FILL 0",
            "error[amber]: 1:8: found 2 levels, where at most 1 should stand for an image of that size",
        ),
        (
            "IMAGE x FORMAT R8_UNORM MIP_LEVELS 3 DIM_2D WIDTH 2 HEIGHT 3",
            "error[amber]: 1:7: found 3 levels, where at most 2 should stand for an image of that size",
        ),
        (
            "IMAGE x FORMAT R8_UNORM MIP_LEVELS 2 DIM_2D WIDTH 2 HEIGHT 2 DATA 1 2 3 END",
            "error[amber]: 1:7: DATA has 3 items, where 5 should stand",
        ),
        ("BUFFER x FORMAT R8_UNORM SAMPLES 3", "error[amber]: 1:34: found `3`, where a number of samples should stand: 1, 2, 4, 8, 16"),
        ("BUFFER x FORMAT R8_UNORM SAMPLES 64", "unsupported: 1:34: an image of 64 samples is not supported"),
        (
            "IMAGE x FORMAT R8_UNORM MIP_LEVELS 2 SAMPLES 4 DIM_2D WIDTH 2 HEIGHT 2",
            "error[amber]: 1:7: SAMPLES of what is no image of two dimensions and one level",
        ),
        ("BUFFER x DATA_TYPE int8 WIDTH 0 HEIGHT 3 FILL 0", "error[amber]: 1:31: found `0`, where a width from 1 should stand"),
        ("IMAGE x FORMAT R8_UNORM DIM_3D WIDTH 1 HEIGHT 1", "error[amber]: 1:48: the line ends where DEPTH should stand"),
        ("IMAGE x FORMAT R8_UNORM WIDTH 1 HEIGHT 1", "error[amber]: 1:25: found `WIDTH`, where DIM_1D, DIM_2D or DIM_3D should stand"),
        ("IMAGE x FORMAT R8_UNORM DIM_2D WIDTH 2 HEIGHT 1 DATA 1 END", "error[amber]: 1:7: DATA has 1 items, where 2 should stand"),
        // The numbers of a wrong declaration do not count as commands.
        (
            "BUFFER x DATA_TYPE int DATA\n1 2\nEND\nFROB",
            "error[amber]: 1:20: found `int`, where a data type should stand\nerror[amber]: 4:1: found `FROB`, where a command of AmberScript should stand",
        ),
        ("SAMPLER sm", "error[amber]: 1:9: the sampler `sm` is declared twice"),
        ("SAMPLER x MAG_FILTER cubic", "error[amber]: 1:22: found `cubic`, where a filter should stand: nearest, linear"),
        ("SAMPLER x MIN_LOD 2", "error[amber]: 1:9: MIN_LOD is greater than MAX_LOD"),
        ("SAMPLER x MIN_LOD 1e50", "error[amber]: 1:19: 1e50 is outside the range of float"),
        ("SAMPLER x FROB", "error[amber]: 1:11: found `FROB`, where an option of a sampler should stand"),
    ]);
}

#[test]
fn pipelines() {
    let inside = |line: &str| format!("PIPELINE graphics x\n ATTACH v\n ATTACH f\n {line}\nEND");
    for (line, expected) in [
        ("ATTACH f", "4:2: the pipeline has two fragment shaders"),
        ("ATTACH c", "4:9: a compute shader stands in a graphics pipeline"),
        ("ATTACH none", "4:9: no shader `none` is declared before this"),
        ("ATTACH m", "4:9: the multi shader `m` is attached without TYPE"),
        ("ATTACH v TYPE fragment", "4:9: the shader `v` is no fragment shader"),
        ("ATTACH v ENTRY_POINT", "4:22: the line ends where the name of an entry point should stand"),
        ("ATTACH v SPECIALIZE 1 AS double 2", "4:27: found `double`, where a type of 32 bits should stand: int32, uint32, float"),
        ("ATTACH v SPECIALIZE 1 AS uint32 -2", "4:34: -2 is outside the range of uint32"),
        ("ATTACH v SPECIALIZE 1 AS uint32 2 SPECIALIZE 1 AS uint32 2", "4:59: specialization constant 1 is set twice"),
        ("FRAMEBUFFER_SIZE 0 1", "4:19: found `0`, where a width from 1 should stand"),
        ("VIEWPORT 0 0 64 64", "4:15: found `64`, where SIZE should stand"),
        ("CULL_MODE some", "4:12: found `some`, where a cull mode should stand: none, front, back, front_and_back"),
        ("FRONT_FACE left", "4:13: found `left`, where an order should stand: counter_clockwise, clockwise"),
        ("POLYGON_MODE hole", "4:15: found `hole`, where fill, line or point should stand"),
        ("BIND TEXTURE b", "4:7: found `TEXTURE`, where BUFFER or SAMPLER should stand"),
        ("BIND BUFFER none AS uniform DESCRIPTOR_SET 0 BINDING 0", "4:14: no buffer `none` is declared before this"),
        ("BIND BUFFER b AS stuff DESCRIPTOR_SET 0 BINDING 0", "4:19: found `stuff`, where what a buffer is bound as should stand"),
        ("BIND BUFFER b AS uniform BINDING 0", "4:27: found `BINDING`, where DESCRIPTOR_SET should stand"),
        ("BIND BUFFER un AS storage DESCRIPTOR_SET 0 BINDING 0", "4:14: the buffer `un` has no size"),
        (
            "BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0 DESCRIPTOR_OFFSET 16",
            "4:72: found `16`, where an offset from 0 to 15 should stand",
        ),
        ("BIND BUFFER odd AS color LOCATION 0", "4:14: the attachment `odd` is of mat2x2<float>, which is no image format"),
        ("BIND BUFFER b AS depth_stencil", "4:14: the format R32_UINT is not for such an attachment"),
        ("BIND BUFFER d AS color LOCATION 0", "4:14: the format D16_UNORM is not for such an attachment"),
        ("BIND BUFFER un AS depth_stencil", "4:14: the format R8_UNORM is not for such an attachment"),
        (
            "BIND BUFFER b AS sampled_image DESCRIPTOR_SET 0 BINDING 0",
            "4:14: the buffer `b` is bound as an image and has no WIDTH and HEIGHT",
        ),
        ("BIND BUFFER un AS combined_image_sampler DESCRIPTOR_SET 0 BINDING 0", "4:43: found `DESCRIPTOR_SET`, where SAMPLER should stand"),
        ("BIND SAMPLER b DESCRIPTOR_SET 0 BINDING 0", "4:15: no sampler `b` is declared before this"),
        ("VERTEX_DATA pos LOCATION 0 RATE frame", "4:34: found `frame`, where vertex or instance should stand: vertex, instance"),
        ("INDEX_DATA pos", "4:13: the indices `pos` are no integers of 8, 16 or 32 bits"),
        ("FROB", "4:2: found `FROB`, where a command of a pipeline or END should stand"),
    ] {
        refuses(&[(&inside(line), &format!("{INVALID}{expected}"))]);
    }
    for (line, expected) in [
        ("POLYGON_MODE line", "4:15: the polygon mode line is not supported"),
        ("BIND BUFFER b KERNEL ARG_NAME in", "4:16: KERNEL is not supported"),
        ("SHADER_OPTIMIZATION v\n --merge-return\n END", "5:2: an optimization pass is not supported"),
        ("BLEND\n SRC_COLOR_FACTOR constant_color\n END", "5:19: the blend factor constant_color is not supported"),
        ("PATCH_CONTROL_POINTS 4", "4:2: tessellation is not supported"),
        ("BIND ACCELERATION_STRUCTURE a DESCRIPTOR_SET 0 BINDING 0", "4:7: ray tracing is not supported"),
        ("SHADER_BINDING_TABLE t\n g\n END", "4:2: ray tracing is not supported"),
    ] {
        refuses(&[(&inside(line), &format!("unsupported: {expected}"))]);
    }
    refuses(&[
        ("PIPELINE raytracing x\n SHADER_GROUP a b\nEND", "unsupported: 1:10: ray tracing is not supported"),
        (
            "PIPELINE graphics x\n ATTACH v\n ATTACH f\n BIND BUFFER b AS color LOCATION 0\nEND",
            "error[amber]: 1:19: the attachment `b` has 4 items, the framebuffer 250 by 250",
        ),
        ("PIPELINE x\nEND", "error[amber]: 1:10: found `x`, where compute or graphics should stand"),
        ("PIPELINE compute x\nEND", "error[amber]: 1:18: the pipeline `x` has no compute shader"),
        ("PIPELINE graphics x\n ATTACH v\nEND", "error[amber]: 1:19: the pipeline `x` has no fragment shader"),
        ("PIPELINE compute x\n ATTACH c\n VIEWPORT 0 0 SIZE 1 1\nEND", "error[amber]: 3:2: VIEWPORT stands in a compute pipeline"),
        (
            "PIPELINE compute x\n ATTACH c\n BIND BUFFER t AS color LOCATION 0\nEND",
            "error[amber]: 3:19: color stands in a compute pipeline",
        ),
        ("PIPELINE compute x\n ATTACH c", "error[amber]: 1:1: PIPELINE has no END"),
        ("PIPELINE compute p\n ATTACH c\nEND", "error[amber]: 1:18: the pipeline `p` is declared twice"),
        ("DERIVE_PIPELINE x FROM none\nEND", "error[amber]: 1:24: no pipeline `none` is declared before this"),
        ("DERIVE_PIPELINE x p\nEND", "error[amber]: 1:19: found `p`, where FROM should stand"),
        (
            "DERIVE_PIPELINE x FROM g\n FRAMEBUFFER_SIZE 9 9\nEND",
            "error[amber]: 1:17: the attachment `t` is 8 by 4, the framebuffer 9 by 9",
        ),
        (
            "PIPELINE compute x\n ATTACH c\n BIND SAMPLER sm DESCRIPTOR_SET 0 BINDING 1\n BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 1\nEND",
            "error[amber]: 4:27: descriptor set 0, binding 1 is bound twice",
        ),
        // Several errors of one block are reported, but no errors that follow from them.
        (
            "PIPELINE compute x\n ATTACH none\n FROB\nEND\nRUN x 1 1 1\nRUN y 1 1 1",
            "error[amber]: 2:9: no shader `none` is declared before this\nerror[amber]: 3:2: found `FROB`, where a command of a pipeline or END should stand\nerror[amber]: 6:5: no pipeline `y` is declared before this",
        ),
    ]);
}

/// A script of ray tracing. Every statement after the first contains something that is left out, or
/// may follow from it.
const RAYS: &str = "DEVICE_EXTENSION VK_KHR_ray_tracing_pipeline
SHADER ray_generation rays GLSL
END
SHADER miss none GLSL
END
ACCELERATION_STRUCTURE BOTTOM_LEVEL bottom
  GEOMETRY TRIANGLES
    0 0 0
  END
END
PIPELINE raytracing r
  ATTACH rays
  SHADER_GROUP group rays
  SHADER_BINDING_TABLE table
    group
  END
END
RUN r RAYGEN table 1 1 1
FROB";

#[test]
fn what_is_unsupported_is_said_once_and_nothing_that_may_follow_from_it() {
    refuses(&[
        (RAYS, "unsupported: 2:8: ray tracing is not supported"),
        (
            "TEXTURE_VIEW x\nDEBUG x\n THREAD 1\nEND\nDEBUG y",
            "unsupported: 1:1: TEXTURE_VIEW is not supported\nunsupported: 2:1: DEBUG is not supported",
        ),
        // An error in front of it does not follow from it.
        (
            "FROB\nDEBUG x\nFROB",
            "error[amber]: 1:1: found `FROB`, where a command of AmberScript should stand\nunsupported: 2:1: DEBUG is not supported",
        ),
    ]);
    // A pipeline whose errors are not reported does not count as a good one.
    refuses(&[("DEBUG x\nPIPELINE compute y\n FROB\nEND\nRUN y TIMED", "unsupported: 1:1: DEBUG is not supported")]);
    // Errors that are not reported take no memory.
    let many = format!("#!amber\nDEBUG x\n{}", "FROB\nDEBUG y\n".repeat(200_000));
    assert_eq!(read(&many).expect_err("it is not supported").len(), 1);
}

#[test]
fn commands() {
    refuses(&[
        ("RUN p 1 1", "error[amber]: 1:10: the line ends where a number of workgroups should stand"),
        ("RUN p 1 1 -1", "error[amber]: 1:11: found `-1`, where a number of workgroups from 0 to 4294967295 should stand"),
        ("RUN p 1 1 1 1", "error[amber]: 1:13: found `1` after a complete statement"),
        ("RUN p", "error[amber]: 1:6: the line ends where numbers of workgroups or a kind of draw should stand"),
        ("RUN none 1 1 1", "error[amber]: 1:5: no pipeline `none` is declared before this"),
        ("RUN g 1 1 1", "error[amber]: 1:7: found `1`, and `g` is a graphics pipeline"),
        ("RUN p DRAW_RECT POS 0 0 SIZE 1 1", "error[amber]: 1:7: found `DRAW_RECT`, and `p` is a compute pipeline"),
        ("RUN g DRAW_LINE", "error[amber]: 1:7: found `DRAW_LINE`, where DRAW_RECT, DRAW_GRID or DRAW_ARRAY should stand"),
        ("RUN g DRAW_RECT SIZE 1 1", "error[amber]: 1:17: found `SIZE`, where POS should stand"),
        ("RUN g DRAW_GRID POS 0 0 SIZE 8 8", "error[amber]: 1:33: the line ends where CELLS should stand"),
        ("RUN g DRAW_GRID POS 0 0 SIZE 8 8 CELLS 2000000 1", "limit: 1:34: the cells of a grid: at most 1048576"),
        ("RUN g DRAW_ARRAY AS TRIANGLE_LIST", "error[amber]: 1:5: DRAW_ARRAY needs vertex data; the pipeline `g` has none"),
        ("RUN g DRAW_ARRAY AS line_strip_with_adjacency", "unsupported: 1:21: the topology line_strip_with_adjacency is not supported"),
        ("RUN g DRAW_ARRAY AS QUADS", "error[amber]: 1:21: found `QUADS`, where a topology should stand"),
        ("RUN TIMED_EXECUTION p 1 1 1", "unsupported: 1:5: TIMED_EXECUTION is not supported"),
        (
            "DERIVE_PIPELINE x FROM g\n VERTEX_DATA pos LOCATION 0\nEND\nRUN x DRAW_ARRAY AS TRIANGLE_LIST INDEXED",
            "error[amber]: 4:5: INDEXED needs index data; the pipeline `x` has none",
        ),
        (
            "DERIVE_PIPELINE x FROM g\n VERTEX_DATA pos LOCATION 0\n INDEX_DATA b\nEND\nRUN x DRAW_ARRAY AS TRIANGLE_LIST INDEXED START_IDX 2 COUNT 3",
            "error[amber]: 5:5: the draw takes indices up to 5, and there are 4",
        ),
        ("CLEAR p", "error[amber]: 1:7: CLEAR needs a graphics pipeline; `p` is a compute pipeline"),
        ("CLEAR_COLOR g 0 0 256 0", "error[amber]: 1:19: found `256`, where a colour component from 0 to 255 should stand"),
        ("CLEAR_DEPTH g x", "error[amber]: 1:15: found `x`, where a depth should stand"),
        ("CLEAR_STENCIL g 256", "error[amber]: 1:17: found `256`, where a stencil value from 0 to 255 should stand"),
        ("COPY b b3", "error[amber]: 1:8: found `b3`, where TO should stand"),
        ("COPY b TO b", "error[amber]: 1:11: COPY to the same buffer"),
        ("COPY b TO i", "error[amber]: 1:11: COPY of uint32 to int32"),
        ("COPY b TO b3", "unsupported: 1:11: COPY of 4 items to 3 is not supported"),
        ("REPEAT 0\nRUN p 1 1 1\nEND", "error[amber]: 1:8: found `0`, where a number of repetitions from 1 should stand"),
        ("REPEAT 2\nEND", "error[amber]: 1:1: REPEAT holds no command"),
        (
            "REPEAT 2\nREPEAT 2\nEND",
            "error[amber]: 2:1: found `REPEAT`, where RUN, CLEAR, COPY, EXPECT or END should stand in REPEAT\nerror[amber]: 1:1: REPEAT holds no command",
        ),
        ("REPEAT 2\nRUN p 1 1 1", "error[amber]: 1:1: REPEAT has no END"),
        (
            "REPEAT 2000000\nRUN p 1 1 1\nEND",
            "limit: 2:1: commands, repeated ones counted each time: at most 1048576\nerror[amber]: 1:1: REPEAT holds no command",
        ),
    ]);
}

#[test]
fn expectations() {
    refuses(&[
        ("EXPECT none IDX 0 EQ 1", "error[amber]: 1:8: no buffer `none` is declared before this"),
        ("EXPECT un IDX 0 EQ 1", "error[amber]: 1:8: the buffer `un` has no size: nothing is drawn to it"),
        ("EXPECT b EQ 1", "error[amber]: 1:10: found `EQ`, where IDX, EQ_BUFFER, RMSE_BUFFER or EQ_HISTOGRAM_EMD_BUFFER should stand"),
        ("EXPECT b IDX EQ 1", "error[amber]: 1:14: found `EQ`, where a byte or a coordinate should stand"),
        ("EXPECT b IDX -4 EQ 1", "error[amber]: 1:14: found -4, where an index from 0 should stand"),
        ("EXPECT b IDX 2 EQ 1", "error[amber]: 1:14: byte 2 is not where a value begins"),
        ("EXPECT b IDX 16 EQ 1", "error[amber]: 1:14: byte 16 is past the buffer's 16 bytes"),
        ("EXPECT b IDX 12 EQ 1 2", "error[amber]: 1:22: the buffer ends before this value: it has 16 bytes"),
        ("EXPECT b IDX 0 EQ", "error[amber]: 1:18: EQ has no values"),
        ("EXPECT b IDX 0 EQ x", "error[amber]: 1:19: found `x`, where a value should stand"),
        ("EXPECT b IDX 0 EQ -1", "error[amber]: 1:19: -1 is outside the range of uint32"),
        ("EXPECT b IDX 0 == 1", "error[amber]: 1:16: found `==`, where EQ, NE, LT, LE, GT or GE should stand"),
        ("EXPECT b IDX 0 TOLERANCE EQ 1", "error[amber]: 1:26: TOLERANCE has no values"),
        ("EXPECT b IDX 0 TOLERANCE 1 2 3 4 5 EQ 1", "error[amber]: 1:34: TOLERANCE has more than four values"),
        ("EXPECT b IDX 0 TOLERANCE -1 EQ 1", "error[amber]: 1:26: -1 is no tolerance"),
        ("EXPECT b IDX 0 TOLERANCE 1 LT 1", "error[amber]: 1:28: TOLERANCE stands with LT; it goes with EQ only"),
        ("EXPECT b IDX 0 0 SIZE 1 1 EQ_RGB 1 1 1", "error[amber]: 1:14: the buffer `b` is no image"),
        ("EXPECT t IDX 0 0 SIZE 9 4 EQ_RGB 1 1 1", "error[amber]: 1:14: the rectangle reaches (9, 4), and the image is 8 by 4"),
        ("EXPECT t IDX 8 0 SIZE 0 1 EQ_RGB 1 1 1", "error[amber]: 1:23: found `0`, where a width from 1 should stand"),
        ("EXPECT t IDX 0 0 SIZE 1 1 EQ 1 1 1", "error[amber]: 1:27: found `EQ`, where EQ_RGB or EQ_RGBA should stand"),
        (
            "EXPECT t IDX 0 0 SIZE 1 1 EQ_RGB 1 1 256",
            "error[amber]: 1:38: found `256`, where a colour component from 0 to 255 should stand",
        ),
        ("EXPECT t IDX 0 0 SIZE 1 1 EQ_RGB 1 1 1 1", "error[amber]: 1:40: found `1` after a complete statement"),
        ("EXPECT t IDX 0 0 SIZE 1 1 EQ_RGB 1 1 1 TOLERANCE 1 2", "error[amber]: 1:40: TOLERANCE has 2 values, where 1 or 3 should stand"),
        ("EXPECT u IDX 0 0 SIZE 1 1 EQ_RGB 1 1 1", "unsupported: 1:27: EQ_RGB of the integer format R8G8B8A8_UINT is not supported"),
        ("EXPECT b EQ_BUFFER i", "error[amber]: 1:20: a buffer of uint32 is compared with one of int32"),
        ("EXPECT b EQ_BUFFER b3", "error[amber]: 1:20: buffers of different sizes are compared: 4 and 3 items"),
        ("EXPECT b RMSE_BUFFER b", "error[amber]: 1:23: the line ends where TOLERANCE should stand"),
        ("EXPECT b RMSE_BUFFER b TOLERANCE -1", "error[amber]: 1:34: -1 is no tolerance"),
        (
            "EXPECT b EQ_HISTOGRAM_EMD_BUFFER b TOLERANCE 1",
            "unsupported: 1:10: EQ_HISTOGRAM_EMD_BUFFER of what has not four channels of unsigned 8 bits is not supported",
        ),
    ]);
}

#[test]
fn hostile_texts_end_soon() {
    let start = |text: &str| read(&format!("#!amber\n{text}"));
    let limit = |text: &str, what: &str| {
        let errors = start(text).expect_err(what);
        assert_eq!(errors[0].kind, Kind::Limit, "{}", lines(&errors));
        assert!(errors[0].what.contains(what), "{}", lines(&errors));
    };
    limit("BUFFER b DATA_TYPE float SIZE 18446744073709551615 FILL 0", "bytes of one buffer");
    limit("BUFFER b DATA_TYPE int8 SIZE 1073741825 SERIES_FROM 0 INC_BY 0", "bytes of one buffer");
    limit("BUFFER b DATA_TYPE float[4000000000][4000000000] SIZE 1 FILL 0", "bytes");
    limit("BUFFER b DATA_TYPE float[33000000] SIZE 1 FILL 0", "scalars");
    limit("IMAGE b FORMAT R8_UNORM DIM_2D WIDTH 4294967295 HEIGHT 1", "a width");
    let three: String = (0..3).map(|i| format!("BUFFER b{i} DATA_TYPE int8 SIZE 1073741824 FILL 0\n")).collect();
    limit(&three, "all buffers together");
    // Nothing is allocated for a mere declaration.
    assert!(start("BUFFER b DATA_TYPE int8 SIZE 1073741824 FILL 0").is_ok());
    let nested = (0..40).map(|i| format!("STRUCT s{}\n s{i} x\nEND\n", i + 1)).collect::<String>();
    assert!(start(&format!("STRUCT s0\n int8 x\nEND\n{nested}")).is_err_and(|e| e[0].what.contains("nesting")));
    let doubled = (0..30).map(|i| format!("STRUCT s{}\n s{i} x\n s{i} y\nEND\n", i + 1)).collect::<String>();
    assert!(start(&format!("STRUCT s0\n int8 x\nEND\n{doubled}")).is_err_and(|e| e[0].what.contains("scalars")));
    // The list of errors is limited, and so are long words.
    let errors = start(&"FROB\n".repeat(100_000)).expect_err("errors");
    assert_eq!(errors.len(), limits::MAX_ERRORS);
    assert!(start(&"x".repeat(1_000_000)).is_err_and(|e| e[0].what.len() < 200));
    // As many declarations, uses and lines as in a large file.
    let many: String = (0..20_000).map(|i| format!("BUFFER b{i} DATA_TYPE int32 SIZE 1 FILL {i}\nEXPECT b{i} IDX 0 EQ {i}\n")).collect();
    assert!(start(&many).is_ok_and(|s| s.commands.len() == 20_000));
    let data = format!("BUFFER b DATA_TYPE uint32 DATA\n{}END\n", "1 ".repeat(500_000));
    assert!(start(&data).is_ok_and(|s| s.buffers[0].items == 500_000));
    for text in [
        "\\".repeat(100_000),
        "\\\n".repeat(100_000),
        "#".repeat(100_000),
        "\n".repeat(100_000),
        "SHADER ".repeat(10_000),
        "[".repeat(100_000),
    ] {
        let _ = start(&text);
        let _ = read(&text);
    }
    assert!(read(&" ".repeat(limits::MAX_TEXT + 1)).is_err_and(|e| e[0].kind == Kind::Limit));
}

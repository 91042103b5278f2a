//! Edited vertex and fragment modules: refused, or drawn to an end.

use smallstep_semantics::image::{Compare, Format, Image};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{DepthBuffer, State, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, DepthTarget, Draw, Rate, Resources, Robustness, Vertices};
use smallstep_semantics::spirv::{Buffer, Module, Options, Relation, assemble, draw};

use super::dispatch::{LIMITS, is_definite};
use super::edit::edited;

const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %uint = OpTypeInt 32 0 %float = OpTypeFloat 32
    %v2 = OpTypeVector %float 2 %v4 = OpTypeVector %float 4
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %half = OpConstant %float 0.5 %f3 = OpConstant %float 3
    %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c3 = OpConstant %uint 3
    %in_v4 = OpTypePointer Input %v4 %in_uint = OpTypePointer Input %uint
    %out_v4 = OpTypePointer Output %v4 %out_uint = OpTypePointer Output %uint %out_float = OpTypePointer Output %float";

/// The position of location 0 is passed on as the position, that of location 1 as what fragments
/// see, and the number of the vertex.
const VERTEX: &str = "
    OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"main\" %pos %a %position %v %n %index
    OpDecorate %pos Location 0 OpDecorate %a Location 1 OpDecorate %v Location 0 OpDecorate %n Location 1 OpDecorate %n Flat
    OpDecorate %position BuiltIn Position OpDecorate %index BuiltIn VertexIndex TYPES
    %pos = OpVariable %in_v4 Input %a = OpVariable %in_v4 Input %index = OpVariable %in_uint Input
    %position = OpVariable %out_v4 Output %v = OpVariable %out_v4 Output %n = OpVariable %out_uint Output
    %main = OpFunction %void None %fn %entry = OpLabel
    %p = OpLoad %v4 %pos OpStore %position %p %x = OpLoad %v4 %a %y = OpFAdd %v4 %x %x OpStore %v %y
    %i = OpLoad %uint %index OpStore %n %i OpReturn OpFunctionEnd";

/// A fragment stage with the input as %c, its parts %cx and %cy, FragCoord %coord, and words %buf.
const FRAGMENT: &str = "
    OpCapability Shader OpCapability DerivativeControl OpCapability DemoteToHelperInvocation
    OpExtension \"SPV_EXT_demote_to_helper_invocation\" OpExtension \"SPV_KHR_terminate_invocation\"
    OpExtension \"SPV_KHR_storage_buffer_storage_class\" %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
    OpEntryPoint Fragment %main \"main\" %coord %in %n %out %depth OpExecutionMode %main OriginUpperLeft OpExecutionMode %main DepthReplacing
    OpDecorate %coord BuiltIn FragCoord OpDecorate %depth BuiltIn FragDepth OpDecorate %in Location 0 OpDecorate %out Location 0
    OpDecorate %n Location 1 OpDecorate %n Flat
    OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
    OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0 TYPES
    %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %p_block = OpTypePointer StorageBuffer %block
    %buf = OpVariable %p_block StorageBuffer %p_word = OpTypePointer StorageBuffer %uint
    %coord = OpVariable %in_v4 Input %in = OpVariable %in_v4 Input %n = OpVariable %in_uint Input
    %out = OpVariable %out_v4 Output %depth = OpVariable %out_float Output
    %main = OpFunction %void None %fn %entry = OpLabel
    %c = OpLoad %v4 %in %cx = OpCompositeExtract %float %c 0 %cy = OpCompositeExtract %float %c 1 OpStore %depth %half
    BODY %o = OpCompositeConstruct %v4 %r %cx %cy %f1 OpStore %out %o OpReturn OpFunctionEnd";

/// What fragment stages compute as %r: derivatives, an early end, memory, loops, what is undefined.
const BODIES: [&str; 6] = [
    "%d = OpDPdx %v4 %c %e = OpFwidthFine %v4 %c %s = OpFAdd %v4 %d %e %r = OpCompositeExtract %float %s 2",
    "%left = OpFOrdLessThan %bool %cx %half OpSelectionMerge %m None OpBranchConditional %left %yes %m %yes = OpLabel OpKill %m = OpLabel \
     %r = OpDPdy %float %cy",
    "%left = OpFOrdLessThan %bool %cx %half OpSelectionMerge %m None OpBranchConditional %left %yes %m \
     %yes = OpLabel OpDemoteToHelperInvocation OpBranch %m %m = OpLabel %h = OpIsHelperInvocationEXT %bool %r = OpSelect %float %h %f0 %cx",
    "%w = OpAccessChain %p_word %buf %c0 %c1 %old = OpAtomicIAdd %uint %w %c1 %c0 %c1 %at = OpBitwiseAnd %uint %old %c3 \
     %x = OpAccessChain %p_word %buf %c0 %at %y = OpLoad %uint %x %r = OpConvertUToF %float %y",
    "%i = OpLoad %uint %n OpBranch %head %head = OpLabel %k = OpPhi %uint %c0 %entry %next %again %a = OpPhi %float %cx %entry %b %again \
     OpLoopMerge %done %again None OpBranch %body %body = OpLabel %b = OpFMul %float %a %cy OpBranch %again %again = OpLabel \
     %next = OpIAdd %uint %k %c1 %more = OpULessThan %bool %next %i OpBranchConditional %more %head %done %done = OpLabel \
     %r = OpDPdxCoarse %float %b",
    "%q = OpLoad %v4 %coord %qx = OpCompositeExtract %float %q 0 %z = OpConvertFToU %uint %qx %m = OpUMod %uint %c3 %z \
     %f = OpConvertUToF %float %m %r = OpExtInst %float %glsl FMix %f %cx %half",
];

/// The modules that are edited: the vertex stage, and a fragment stage of those that there are.
pub fn modules(which: usize) -> [Vec<u32>; 2] {
    let words = |text: &str| assemble(&text.replace("TYPES", TYPES), Options::default()).expect("the stages assemble");
    [words(VERTEX), words(&FRAGMENT.replace("BODY", BODIES[which % BODIES.len()]))]
}

/// A draw of one of the pairs of modules, which the first byte says, with edits: its highest bit
/// says of which. Whether it was drawn to a definite end.
pub fn draw(bytes: &[u8]) -> bool {
    let Some((&first, edits)) = bytes.split_first() else { return false };
    let [mut vertex, mut fragment] = modules(usize::from(first & 0x7f));
    let module = if first & 0x80 == 0 { &mut fragment } else { &mut vertex };
    *module = edited(module, edits);
    stages(&vertex, &fragment)
}

/// Words as the stages of a small draw of two triangles with a depth attachment: refused, or drawn
/// to an end. Whether it is a definite one.
pub fn stages(vertex: &[u32], fragment: &[u32]) -> bool {
    let (Ok(vertex), Ok(fragment)) = (Module::load(vertex), Module::load(fragment)) else { return false };
    let first = |module: &Module| module.entry_points().first().map(|entry| entry.name.clone());
    let (Some(vs), Some(fs)) = (first(&vertex), first(&fragment)) else { return false };
    let floats = |location, items: [[f32; 4]; 6]| {
        let bytes = items.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        Attribute { location, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes }
    };
    let at = |x: f32, y: f32, w: f32| [x * w, y * w, 0.5 * w, w];
    let positions =
        [at(-1.0, -1.0, 1.0), at(3.0, -1.0, 2.0), at(-1.0, 3.0, 1.0), at(-0.6, -0.6, 1.0), at(0.7, -0.3, 1.0), at(0.1, 0.9, -1.0)];
    let attributes = [floats(0, positions), floats(1, positions)];
    let image = Image::new(Format::Rgba32Sfloat, 6, 5, 1).expect("a small image");
    let targets = [ColourTarget { location: 0, image }];
    let depth = DepthTarget {
        buffer: DepthBuffer::new(Format::D32Sfloat, 6, 5, 1.0).expect("a depth format"),
        compare: Compare::LessOrEqual,
        writes: true,
        stencil: None,
    };
    let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 16] }];
    let draw = Draw {
        vertex: &vs,
        fragment: &fs,
        vertices: Vertices {
            topology: Topology::List,
            indices: None,
            first: 0,
            count: 6,
            vertex_offset: 0,
            first_instance: 0,
            instances: 1,
            attributes: &attributes,
        },
        resources: Resources { robustness: Robustness::None, ..Resources::of_buffers(&buffers) },
        state: State::of_size(6, 5),
        targets: &targets,
        depth: Some(&depth),
        limits: LIMITS,
    };
    let outcome = draw::run(&vertex, &fragment, &draw, &Relation::default(), &mut ()).expect("the entry points are there");
    assert!(!matches!(outcome, Outcome::Stuck(_)), "a draw is stuck: {outcome:?}");
    is_definite(&outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_stages_is_loaded() {
        for which in 0..BODIES.len() {
            for words in modules(which) {
                Module::load(&words).unwrap_or_else(|e| panic!("{which}: {e}"));
            }
            assert!(stages(&modules(which)[0], &modules(which)[1]), "{which}");
        }
    }
}

#version 450
// refused: enable subgroups
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
layout(local_size_x=32) in;
layout(std430, binding=0) buffer B {
    uint o[];
};
void main() {
    uint x=gl_LocalInvocationIndex;
    o[x]=subgroupAdd(x)+subgroupBroadcastFirst(x)+gl_SubgroupInvocationID;
}

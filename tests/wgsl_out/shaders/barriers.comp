#version 450
layout(local_size_x=8) in;
shared uint s[8];
layout(std430, binding=0) coherent buffer B {
    uint o[];
};
void main() {
    uint i=gl_LocalInvocationIndex;
    s[i]=i;
    memoryBarrier();
    barrier();
    groupMemoryBarrier();
    memoryBarrierBuffer();
    uint v=s[7u-i];
    barrier();
    if (i<4u) {
        s[i]+=v;
        memoryBarrierShared();
    }
    barrier();
    o[i]=s[i]+v;
}

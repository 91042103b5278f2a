#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    uint o[8];
    uint p[4];
};
shared uint s[4];
void main() {
    uint i=gl_LocalInvocationIndex;
    o[i]=p[i]*2u+i;
    s[i]=i;
    if (i<9u) {
        memoryBarrierBuffer();
    }
    barrier();
    if (i<9u) {
        memoryBarrierBuffer();
    }
    o[i+4u]=o[3u-i]+s[(i+1u)&3u];
}

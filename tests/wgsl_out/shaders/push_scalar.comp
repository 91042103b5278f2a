#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(local_size_x=4) in;
struct S {
    vec3 a;
    float b[3];
};
layout(scalar, push_constant) uniform U {
    float f[5];
    S s[2];
    uint n;
} u;
layout(std430, binding=0) buffer B {
    float o[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    o[i]=u.f[i%5u]+u.s[i&1u].b[i%3u]+u.s[1].a.y+float(u.n);
}

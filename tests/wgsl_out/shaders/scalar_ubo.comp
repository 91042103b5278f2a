#version 450
#extension GL_EXT_scalar_block_layout : enable
layout(local_size_x=4) in;
struct S {
    vec3 a;
    float b;
    vec2 c;
};
layout(scalar, binding=0) uniform U {
    float f[5];
    vec3 v[2];
    S s[3];
    mat3 m;
    layout(row_major) mat2x3 r;
    ivec3 iv;
    uint u;
} u;
layout(std430, binding=1) buffer B {
    float o[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    int k=int(i)&1;
    vec3 w=u.m*u.v[k]+u.s[k+1].a*u.s[2].b+u.m[k+1];
    vec3 q=u.r*u.s[k].c;
    o[i]=w.x+w.y+w.z+q.x+q.y+q.z+u.f[i&3u]+u.f[4]+float(u.iv[k])+float(u.iv.z)+float(u.u)+u.r[k][k+1];
    S t=u.s[k];
    o[i]+=t.a.z+t.c.y;
}

#version 450
layout(local_size_x=4) in;
struct In {
    float f;
    vec3 v;
};
struct Nest {
    In a[2];
    mat3 m;
    int k;
};
layout(std140, binding=0) uniform U {
    float a[5];
    mat3 m3;
    mat2 m2;
    layout(row_major) mat4x3 rm;
    Nest n;
    vec2 v2;
    float tail;
    ivec3 iv;
    uint u;
    bool flag;
} u;
layout(std430, binding=1) buffer B {
    float o[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    int j=int(i&3u);
    vec3 w=u.m3*vec3(1, 2, 3)+u.rm*vec4(1, 2, 3, 4)+u.n.a[j&1].v*u.n.a[1].f;
    vec2 q=u.m2*u.v2;
    w+=u.n.m[j%3];
    o[i]=w.x+w.y+w.z+q.x+q.y+u.a[j]+float(u.n.k)+u.tail+float(u.iv[j%3])+float(u.u)+(u.flag?1.0:0.0)+
        u.m3[1][j%3]+u.rm[2][1];
}

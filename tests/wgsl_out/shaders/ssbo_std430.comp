#version 450
layout(local_size_x=2) in;
struct P {
    vec3 pos;
    float w;
    vec2 uv;
};
layout(std430, binding=0) buffer A {
    uint n;
    P p[];
} a;
layout(std430, binding=1) readonly buffer Bq {
    mat3x2 m;
    vec3 v[3];
    float f[];
} b;
layout(std430, binding=2) writeonly buffer C {
    vec4 c[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    if (i>=uint(a.p.length()))return;
    P p=a.p[i];
    p.pos.y+=b.v[i%3u].z;
    p.uv=b.m*p.pos;
    a.p[i]=p;
    c[i]=vec4(p.pos, p.w+float(b.f.length()));
}

#version 450
layout(local_size_x=1) in;
struct S {
    vec3 a;
    float b[3];
    mat2 m;
};
layout(std140, binding=0) uniform U {
    S s[2];
} u;
layout(std430, binding=1) buffer B {
    S s[2];
    float o;
} b;
S g;
void main() {
    b.s[0]=u.s[1];
    g=b.s[1];
    g.b[1]=4.0;
    S l=g;
    l.m[1].x=9.0;
    b.s[1]=l;
    b.o=l.b[2]+g.a.z;
}

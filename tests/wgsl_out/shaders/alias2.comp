#version 450
// shows: 0
layout(local_size_x=1) in;
struct P {
    vec2 a;
    int b;
};
layout(std430, binding=0) buffer A {
    uint n;
    uint a[];
} a;
layout(std430, binding=0) buffer B {
    int c;
    ivec3 v;
    P p[];
} b;
layout(std430, binding=1) buffer O {
    float o[];
};
void main() {
    uint i=gl_WorkGroupID.x&1u;
    o[0]=float(b.v.y)+b.p[i].a.y+float(a.a[i+2u])+float(b.p.length()+a.a.length());
    b.p[0].b=a.a[1]>5u?3:4;
    b.v=ivec3(7, 8, 9);
    a.n+=uint(b.c)+a.a[4];
}

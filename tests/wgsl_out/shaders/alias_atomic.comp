#version 450
// shows: 0
layout(local_size_x=1) in;
layout(std430, binding=0) buffer A {
    uint n;
    uint a[];
} a;
layout(std430, binding=0) buffer B {
    int c;
    ivec3 v;
    vec4 p[];
} b;
layout(std430, binding=1) buffer O {
    int o[];
};
void main() {
    a.a[3]=2u;
    o[0]=atomicMin(b.c, -5);
    o[1]=int(atomicAdd(a.n, 3u));
    b.p[0].y=1.5;
    o[2]=b.c+b.v.z;
    o[3]=int(atomicExchange(a.a[5], 7u));
}

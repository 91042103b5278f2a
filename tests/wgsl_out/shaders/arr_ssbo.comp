#version 450
// shows: 0
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    uint n;
    uint d[];
} b[3];
layout(binding=4) uniform U {
    vec4 v;
} u[2];
void main() {
    uint i=gl_WorkGroupID.x;
    b[0].d[i]=b[1].n+uint(u[1].v.x);
    b[2].n=7u;
    b[(i+1u)%3u].d[0]=uint(u[i&1u].v.y);
    atomicAdd(b[1].d[1], 2u);
    b[0].n=uint(b[2].d.length());
}

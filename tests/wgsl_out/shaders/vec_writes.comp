#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    vec3 v;
    mat3x2 m;
    vec4 w[2];
    uint idx;
};
shared vec4 sh[4];
shared mat2 sm;
void main() {
    uint i=gl_LocalInvocationIndex;
    sh[i].x=float(i);
    sh[i].zw=vec2(i);
    barrier();
    if (i==0u) {
        v.y=sh[1].x;
        v.xz=sh[2].zw;
        m[idx%3u]=vec2(1, 2);
        m[2][idx&1u]=7.0;
        w[idx&1u].yx=sh[3].xz;
        w[1][idx&3u]+=2.0;
        sm[idx&1u][0]=1.0;
        w[0].w=sm[0][0];
    }
}

#version 450
layout(local_size_x=4) in;
layout(push_constant) uniform U {
    vec4 a;
    uint n;
    float k;
} u;
layout(std430, binding=0) buffer B {
    float o[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    o[i]=u.a[i&3u]*u.k+float(u.n+i);
}

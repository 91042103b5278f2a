#version 450
layout(local_size_x=1) in;
layout(std430, binding=0) buffer A {
    uint a[];
};
layout(std430, binding=0) buffer B {
    vec4 b[];
};
layout(std430, binding=1) buffer O {
    vec4 o[];
};
void main() {
    uint i=gl_GlobalInvocationID.x;
    o[i]=b[i]+float(a[i]);
    a[5]=3u;
}

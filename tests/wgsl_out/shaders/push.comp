#version 450
layout(local_size_x=1) in;
layout(push_constant) uniform P {
    mat4 m;
    float arr[4];
    vec3 v;
    uint n;
    vec2 z;
} pc;
layout(std430, binding=0) buffer B {
    vec4 o[];
};
void main() {
    o[0]=pc.m*vec4(pc.v, 1)+vec4(pc.arr[0], pc.arr[pc.n&3u], pc.z);
}

#version 450
struct S {
    vec2 a;
    float b[2];
};
layout(location=3) in Block {
    vec4 a;
    flat int b;
    mat2 m;
    S s;
} blk;
layout(location=12) in vec2 arr[3];
layout(location=0) out vec4 o;
void main() {
    int i=blk.b&1;
    o=blk.a+vec4(blk.m[i], blk.s.a)+blk.s.b[i]+vec4(arr[i], arr[2]);
}

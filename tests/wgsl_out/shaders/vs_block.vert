#version 450
layout(location=0) in vec4 p;
struct S {
    vec2 a;
    float b[2];
};
layout(location=3) out Block {
    vec4 a;
    flat int b;
    mat2 m;
    S s;
} blk;
layout(location=12) out vec2 arr[3];
void main() {
    gl_Position=p;
    blk.a=p;
    blk.b=3;
    blk.m=mat2(1, 2, 3, 4);
    blk.s.a=p.xy;
    blk.s.b[1]=2.0;
    blk.s.b[0]=1.0;
    arr[0]=p.xy;
    arr[1]=p.yx;
    arr[2]=p.zz;
}

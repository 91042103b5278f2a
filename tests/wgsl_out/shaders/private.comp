#version 450
layout(local_size_x=2) in;
vec4 g[3];
int cnt=5;
struct S {
    vec2 a;
    int b;
} gs;
layout(std430, binding=0) buffer B {
    vec4 o[];
};
void step1(int i) {
    g[i]=vec4(cnt);
    cnt+=i;
    gs.b+=cnt;
}
void main() {
    gs.a=vec2(1);
    gs.b=0;
    step1(0);
    step1(1);
    step1(2);
    o[gl_LocalInvocationIndex]=g[0]+g[1]+g[2]+vec4(gs.a, float(gs.b), 0);
}

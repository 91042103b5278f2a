#version 450
layout(local_size_x=4) in;
shared float sh[8];
shared struct {
    int a;
    vec2 b;
} ss;
layout(std430, binding=0) buffer B {
    float o[];
};
void put(int i, inout float x) {
    x+=float(i);
}
float get(float a[8], int i) {
    return a[i];
}
void main() {
    int i=int(gl_LocalInvocationID.x);
    sh[i]=float(i);
    sh[i+4]=o[i];
    if (i==0) {
        ss.a=3;
        ss.b=vec2(1, 2);
    }
    barrier();
    put(i, sh[i]);
    memoryBarrierShared();
    barrier();
    o[i]=get(sh, (i+1)&7)+ss.b.y+float(ss.a);
}

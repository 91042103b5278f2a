#version 450
layout(local_size_x_id=0, local_size_y=2) in;
layout(constant_id=1) const int N=4;
layout(constant_id=2) const float F=2.5;
layout(constant_id=3) const bool T=true;
layout(constant_id=4) const uint M=3u;
const int N2=N*2+1;
const vec3 V=vec3(F, 1.0, 2.0);
shared float sh[N];
layout(std430, binding=0) buffer B {
    float o[];
};
void main() {
    float l[N2];
    for (int i=0;i<N2;i++) l[i]=float(i)*F;
    if (gl_LocalInvocationIndex==0u) for (int i=0;i<N;i++) sh[i]=float(i);
    barrier();
    float r=T?1.0:0.0;
    for (int i=0;i<N2;i++) r+=l[i];
    uint idx=gl_LocalInvocationIndex;
    o[idx]=r+sh[int(M)%N]+V.x+float(gl_WorkGroupSize.x)+float(-N)+float(N>3)+float(N==4&&T)+float(M<<2)+
        float(~M);
}

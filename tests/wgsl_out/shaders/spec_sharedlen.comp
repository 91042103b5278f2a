#version 450
layout(local_size_x=4) in;
layout(constant_id=1) const uint N=4u;
shared uint sh[N*2u];
shared uint t2[N][3];
layout(std430, binding=0) buffer B {
    uint o[];
};
void main() {
    uint i=gl_LocalInvocationIndex;
    sh[i]=i;
    sh[i+N]=i*2u;
    t2[i][1]=i;
    barrier();
    o[i]=sh[(i+1u)%(2u*N)]+t2[3u-i][1];
}

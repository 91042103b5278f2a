#version 450
layout(local_size_x=8) in;
layout(std430, binding=0) buffer B {
    uint k[8];
};
shared uint s[8];
void main() {
    uint i=gl_LocalInvocationID.x;
    s[i]=k[i];
    barrier();
    for (uint a=2u;a<=8u;a<<=1) for (uint j=a>>1;j>0u;j>>=1) {
        uint l=i^j;
        if (l>i) {
            bool up=(i&a)==0u;
            if ((s[i]>s[l])==up) {
                uint t=s[i];
                s[i]=s[l];
                s[l]=t;
            }
        }
        barrier();
    }
    k[i]=s[i];
}

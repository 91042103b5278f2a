#version 450
layout(local_size_x=16) in;
shared uint t[32];
layout(std430, binding=0) buffer D {
    uint d[];
};
void main() {
    uint i=gl_LocalInvocationID.x;
    t[2*i]=d[2*i];
    t[2*i+1]=d[2*i+1];
    uint off=1;
    for (uint n=16;n>0;n>>=1) {
        barrier();
        if (i<n) {
            uint a=off*(2*i+1)-1, b=off*(2*i+2)-1;
            t[b]+=t[a];
        }
        off*=2;
    }
    if (i==0) t[31]=0;
    for (uint n=1;n<32;n*=2) {
        off>>=1;
        barrier();
        if (i<n) {
            uint a=off*(2*i+1)-1, b=off*(2*i+2)-1;
            uint x=t[a];
            t[a]=t[b];
            t[b]+=x;
        }
    }
    barrier();
    d[2*i]=t[2*i];
    d[2*i+1]=t[2*i+1];
}

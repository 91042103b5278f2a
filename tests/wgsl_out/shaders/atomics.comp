#version 450
layout(local_size_x=4) in;
shared uint s;
shared int arr[4];
struct A {
    uint c;
    int d;
    uint plain;
};
layout(std430, binding=0) buffer B {
    A x;
    uint y[4];
    int z;
    uint o[];
};
void main() {
    uint i=gl_LocalInvocationIndex;
    if (i==0u) {
        s=0u;
    }
    arr[i]=int(i);
    barrier();
    atomicAdd(s, i);
    atomicMin(arr[0], -3);
    atomicMax(x.c, i);
    atomicAnd(y[1], ~i);
    atomicOr(y[2], i);
    atomicXor(y[3], i);
    uint old=atomicExchange(x.plain, 5u);
    atomicCompSwap(x.d, 0, 7);
    atomicAdd(z, -1);
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    if (i==0u) {
        o[0]=s;
        o[1]=uint(arr[0]+arr[1]);
        o[2]=x.c;
        y[0]=3u;
    }
}

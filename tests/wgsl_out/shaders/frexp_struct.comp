#version 450
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    float a[8];
    int e[8];
    vec3 w;
};
struct S {
    float f;
    int i;
};
void main() {
    S s;
    s.f=frexp(a[0], s.i);
    a[1]=s.f;
    e[1]=s.i;
    int arr[2];
    a[2]=frexp(a[3], arr[1]);
    e[2]=arr[1];
    vec3 t;
    w=modf(w, t)+t*2.0;
    float k[3];
    a[4]=modf(a[5], k[2]);
    a[6]=k[2];
    a[7]=frexp(a[5], e[3]);
    uint c;
    e[5]=int(uaddCarry(uint(e[6]), uint(e[7]), c));
    e[4]=int(c);
}

#version 450
layout(local_size_x=1) in;
const vec3 K[3]=vec3[](vec3(1, 2, 3), vec3(4, 5, 6), vec3(7, 8, 9));
const struct T {
    int a;
    float b[2];
}
TT[2]=T[](T(1, float[](1., 2.)), T(3, float[](4., 5.)));
layout(std430, binding=0) buffer B {
    int i;
    vec4 o[];
};
void main() {
    o[0]=vec4(K[i%3], TT[i&1].b[(i>>1)&1]);
    vec3 l[3]=K;
    l[i%3].y=9.0;
    o[1]=vec4(l[1], float(TT[1].a));
    float z=0.0;
    o[2]=vec4(1.0/z, -1.0/z, z/z, sqrt(-1.0));
}

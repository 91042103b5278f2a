#version 450
layout(local_size_x=8) in;
const int T[64]=int[](1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
        49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64);
const mat3 M[2]=mat3[](mat3(1), mat3(2));
layout(std430, binding=0) buffer B {
    int o[8];
    float f[8];
};
int look(int i) {
    return T[(i*7)&63];
}
void main() {
    int i=int(gl_LocalInvocationID.x);
    o[i]=T[i]+look(o[i])+T[(i*5)&63];
    f[i]=M[i&1][1][i%3]+M[1][0].x;
}

#version 450
layout(local_size_x=1) in;
layout(std140, binding=0) buffer B {
    mat3 m[2];
    mat2 k[3][2];
    vec3 v[2][2];
    float f[3][4];
} b;
layout(std430, binding=1) buffer C {
    mat3 m[2];
    mat2 k[3][2];
    vec3 v[2][2];
    float f[3][4];
    mat4x3 w;
} c;
void main() {
    c.m=b.m;
    c.k[1]=b.k[2];
    c.v=b.v;
    c.f=b.f;
    b.m[1]=c.m[0]*2.0;
    int i=int(c.f[0][0])&1;
    b.k[i][1][i]=c.k[1][i][1];
    b.f[i+1][i+2]+=1.0;
    c.w[i]=b.v[i][1];
    c.w[2].y=4.0;
    c.m[i][2].z+=c.w[1].x;
    mat3 t=b.m[i];
    t[1]=vec3(1);
    c.m[1]=t;
}

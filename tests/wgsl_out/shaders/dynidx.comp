#version 450
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    int i;
    vec4 v;
    mat4 m;
    vec4 o[];
};
void main() {
    vec4 t=v;
    t[i&3]=5.0;
    o[0]=t;
    mat4 k=m;
    k[i&3][1]=2.0;
    k[1][i&3]=3.0;
    o[1]=k[i&3]+k[2];
    o[2].x=m[i&3][i&1];
    m[i&3]=t;
    m[0][i&3]=9.0;
    v[i&3]+=1.0;
    ivec3 z=ivec3(1, 2, 3);
    z[i%3]++;
    o[3]=vec4(z, 0);
    vec3 a[2]=vec3[](vec3(1), vec3(2));
    a[i&1][i%3]=4.0;
    o[4].xyz=a[0]+a[1];
}

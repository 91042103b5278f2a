#version 450
layout(local_size_x=1) in;
layout(std140, row_major, binding=0) uniform U {
    mat3 a;
    mat2x4 b;
    mat4x2 c;
    mat3 arr[2];
} u;
layout(std140, row_major, binding=2) buffer V {
    mat3 a;
    mat2x3 b;
    mat4 c;
    mat2 d[3];
} v;
layout(std430, binding=1) buffer B {
    vec4 o[];
};
void main() {
    int i=int(gl_GlobalInvocationID.x)&1;
    o[0]=vec4(u.a[i], u.b[1][i]);
    o[1]=u.b*vec2(1, 2);
    o[2]=vec4(u.c*vec4(1, 2, 3, 4), u.arr[i][1][2], u.arr[1][i].y);
    v.a=u.arr[i];
    v.b[i]=vec3(1, 2, 3);
    v.c[1][i]=4.0;
    v.c[2]=vec4(7);
    v.d[i+1]=mat2(1, 2, 3, 4);
    v.d[0][1]=vec2(5, 6);
    o[3]=v.c[i];
}

#version 450
// shows: 1
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    vec4 a[4];
    mat4 m;
    mat3 m3;
    mat2 m2;
    vec4 o[];
};
void main() {
    o[0]=inverse(m)*a[0];
    o[1]=vec4(inverse(m3)*a[0].xyz, determinant(m));
    o[2]=vec4((inverse(m2)*a[0].xy), determinant(m2), determinant(m3)+dot(a[0].xy*m2, a[1].xy));
    mat4 op=outerProduct(a[0], a[1]);
    o[3]=transpose(op)[1];
    o[4]=matrixCompMult(m, op)*a[2];
    o[5]=a[0]*m;
    o[6]=(m*op)[2];
    mat3x2 q=mat3x2(a[0].xy, a[1].xy, a[2].xy);
    o[7]=vec4(q*a[0].xyz, dot(a[0].xy, q[0]), dot(a[0], a[1]));
    o[8]=mat4(m3)[2];
    mat3 m33=m3;
    mat2x4 w=mat2x4(a[0], a[1]);
    o[9]=w*vec2(1, 2);
    o[10]=vec4(transpose(w)*a[3], 0.0, 0.0);
    m=m+op-m*2.0;
    m=-m;
    m/=3.0;
    o[11]=m[0];
    m3=mat3(m);
    o[12].xyz=m3[1];
    m2++;
    o[13].xy=m2[0];
    o[14]=vec4(float(m==op), float(m!=op), 0, 1);
}

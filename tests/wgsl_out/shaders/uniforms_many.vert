#version 450
layout(location=0) in vec3 p;
layout(location=1) in vec4 wt;
layout(location=2) in ivec4 id;
layout(std140, binding=0) uniform A {
    mat4 b[32];
    mat3x4 c[8];
    vec2 off[6];
    int cnt;
    float ws[7];
} u;
layout(location=0) out vec2 uv;
layout(location=1) flat out uint f;
layout(location=2) out mat3 nm;
void main() {
    mat4 m=mat4(0);
    for (int i=0;i<4;i++) m+=u.b[id[i]]*wt[i];
    vec4 q=m*vec4(p, 1);
    q.xyz+=vec4(p, 1.)*mat3x4(1)*mat3(1) * u.ws[id.x%7];
    uv=u.off[u.cnt%6]+ (vec4(p, 1)*u.c[3]).xy*0.;
    nm=mat3(m);
    f=uint(id.y);
    gl_Position=q;
}

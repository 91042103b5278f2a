#version 450
layout(location=0) in vec3 p;
layout(location=1) in vec3 n;
layout(location=2) in uvec4 j;
layout(location=3) in vec4 w;
layout(set=0, binding=0) uniform C {
    mat4 vp;
} c;
layout(std430, set=1, binding=0) readonly buffer J {
    mat4 jm[];
};
layout(location=0) out vec3 on;
out gl_PerVertex {
    vec4 gl_Position;
};
void main() {
    mat4 s=w.x*jm[j.x]+w.y*jm[j.y]+w.z*jm[j.z]+w.w*jm[j.w];
    on=normalize(mat3(s)*n);
    gl_Position=c.vp*s*vec4(p, 1);
    gl_Position.y=-gl_Position.y;
    gl_Position.z=(gl_Position.z+gl_Position.w)*0.5;
}

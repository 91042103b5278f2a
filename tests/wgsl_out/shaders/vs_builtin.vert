#version 450
layout(location=0) in vec4 p;
layout(location=1) in ivec2 q;
layout(location=2) in mat3 m;
layout(location=0) out vec4 c;
layout(location=1) flat out ivec2 d;
layout(location=2) noperspective out vec2 e;
layout(location=3) centroid out float f;
out gl_PerVertex {
    vec4 gl_Position;
    float gl_PointSize;
};
void main() {
    gl_Position=p+vec4(float(gl_VertexIndex), float(gl_InstanceIndex), 0, 0);
    gl_PointSize=1.0;
    c=vec4(m*p.xyz, 1);
    d=q;
    e=p.xy;
    f=p.z;
}

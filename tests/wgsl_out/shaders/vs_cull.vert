#version 450
// refused: no cull distances
layout(location=0) in vec4 p;
out gl_PerVertex {
    vec4 gl_Position;
    float gl_CullDistance[1];
};
void main() {
    gl_Position=p;
    gl_CullDistance[0]=p.x;
}

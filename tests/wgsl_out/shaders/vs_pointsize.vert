#version 450
// refused: size of points
layout(location=0) in vec4 p;
void main() {
    gl_Position=p;
    gl_PointSize=p.w;
}

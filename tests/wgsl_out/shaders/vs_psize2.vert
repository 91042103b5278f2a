#version 450
// refused: size of points
layout(location=0) in vec4 p;
void main() {
    gl_PointSize=2.0;
    gl_Position=p;
}

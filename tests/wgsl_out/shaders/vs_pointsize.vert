#version 450
layout(location=0) in vec4 p;
void main() {
    gl_Position=p;
    gl_PointSize=p.w;
}

#version 450
layout(location=0) in vec4 p;
layout(location=0, component=0) out vec2 a;
layout(location=0, component=2) out vec2 b;
void main() {
    gl_Position=p;
    a=p.xy;
    b=p.zw;
}

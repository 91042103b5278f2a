#version 450
layout(location=0, component=0) in vec2 a;
layout(location=0, component=2) in float b;
layout(location=0, component=3) in float c;
layout(location=0) out vec4 o;
void main() {
    o=vec4(a, b, c);
}

#version 450
layout(push_constant) uniform P {
    layout(offset=16) vec2 a;
    float b[3];
    int i;
} pc;
layout(location=0) out vec4 o;
void main() {
    o=vec4(pc.a, pc.b[1], pc.b[pc.i]);
}

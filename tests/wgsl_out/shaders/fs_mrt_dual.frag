#version 450
layout(location=0, index=0) out vec4 a;
layout(location=0, index=1) out vec4 b;
void main() {
    a=vec4(1);
    b=vec4(0.5);
}

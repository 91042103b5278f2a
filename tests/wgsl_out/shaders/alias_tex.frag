#version 450
// refused: at one binding, of different types
layout(binding=0) uniform sampler2D a;
layout(binding=0) uniform samplerCube b;
layout(location=0) in vec3 v;
layout(location=0) out vec4 o;
void main() {
    o=texture(a, v.xy)+texture(b, v);
}

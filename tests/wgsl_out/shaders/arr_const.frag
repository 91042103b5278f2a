#version 450
layout(binding=0) uniform sampler2D t[4];
layout(location=0) in vec2 uv;
layout(location=0) out vec4 o;
void main() {
    o=texture(t[0], uv)*texture(t[3], uv.yx);
}

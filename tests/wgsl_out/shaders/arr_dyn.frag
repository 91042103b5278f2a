#version 450
layout(binding=0) uniform sampler2D t[3];
layout(binding=5) uniform U {
    int k;
};
layout(location=0) in vec2 uv;
layout(location=0) out vec4 o;
void main() {
    o=texture(t[k], uv);
    for (int i=0;i<3;i++) o+=textureLod(t[i], uv, 0.0);
}

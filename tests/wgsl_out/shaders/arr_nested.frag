#version 450
layout(binding=0) uniform sampler2D t[2][3];
layout(location=0) in vec4 v;
layout(location=1) flat in ivec2 k;
layout(location=0) out vec4 o;
void main() {
    o=texture(t[1][2], v.xy)+texture(t[k.x][k.y], v.xy)+texture(t[0][k.y], v.xy);
}

#version 450
layout(binding=0) uniform sampler2D t[3];
layout(binding=7) uniform sampler2DShadow sh[2];
layout(location=0) in vec4 v;
layout(location=1) flat in int k;
layout(location=0) out vec4 o;
vec4 one(sampler2D s, vec2 p) {
    return texture(s, p)+textureLod(s, p, 1.0);
}
vec4 all_(sampler2D s[3], int i) {
    return texture(s[i], vec2(i))+texture(s[2], vec2(0));
}
void main() {
    o=one(t[1], v.xy)+one(t[k], v.yx)+all_(t, k)+all_(t, 1)+texture(sh[k&1], v.xyz)+texture(sh[0],
        v.xyz)+float(textureSize(t[k], 0).x);
}

#version 450
#extension GL_EXT_samplerless_texture_functions : enable
layout(binding=0) uniform texture2D t[3];
layout(binding=1) uniform sampler s[2];
layout(location=0) in vec2 uv;
layout(location=0) out vec4 o;
layout(location=1) flat in int k;
vec4 f(texture2D x, sampler y) {
    return texture(sampler2D(x, y), uv);
}
void main() {
    o=texture(sampler2D(t[k], s[1]), uv)+f(t[1], s[0]);
    o.xy+=vec2(textureSize(t[k], 0));
}

#version 450
#extension GL_EXT_samplerless_texture_functions : enable
layout(set=0, binding=0) uniform texture2D t;
layout(set=0, binding=1) uniform sampler s;
layout(set=0, binding=2) uniform samplerShadow ss;
layout(set=1, binding=0) uniform texture2D depth;
layout(set=1, binding=1) uniform textureCubeArray ca;
layout(location=0) in vec3 uv;
layout(location=0) out vec4 o;
vec4 pick(texture2D x, sampler y, vec2 c) {
    return texture(sampler2D(x, y), c);
}
void main() {
    o=pick(t, s, uv.xy)+pick(depth, s, uv.yx)+texture(samplerCubeArray(ca, s), vec4(uv, 1));
    o.x+=texture(sampler2DShadow(depth, ss), uv);
    o+=texelFetch(t, ivec2(1), 0);
    o.xy+=vec2(textureSize(t, 0));
}

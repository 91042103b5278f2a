#version 450
layout(binding=0) uniform sampler2DShadow a;
layout(binding=1) uniform sampler2DArrayShadow b;
layout(binding=2) uniform samplerCubeShadow c;
layout(binding=3) uniform samplerCubeArrayShadow d;
layout(location=0) in vec4 uv;
layout(location=0) out vec4 o;
void main() {
    o=vec4(texture(a, uv.xyz), texture(b, uv), texture(c, uv), texture(d, uv, 0.5));
    o.x+=textureProj(a, uv)+textureLod(a, uv.xyz, 0.0)+textureOffset(a, uv.xyz, ivec2(1));
    o.zw+=vec2(textureSize(c, 0));
}

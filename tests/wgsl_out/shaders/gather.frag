#version 450
layout(binding=0) uniform sampler2D a;
layout(binding=1) uniform sampler2DShadow s;
layout(binding=2) uniform sampler2DArray b;
layout(binding=3) uniform samplerCube c;
layout(binding=4) uniform usampler2D u;
layout(location=0) in vec3 uv;
layout(location=0) out vec4 o;
void main() {
    o=textureGather(a, uv.xy)+textureGather(a, uv.xy, 2)+textureGatherOffset(a, uv.xy, ivec2(1, 2), 1)+
        textureGather(s, uv.xy, 0.5)+textureGatherOffset(s, uv.xy, 0.25, ivec2(-1))+textureGather(b, uv,
            3)+textureGather(c, uv)+vec4(textureGather(u, uv.xy));
    const ivec2 off[4]=ivec2[4](ivec2(0, 1), ivec2(1, 0), ivec2(2, 2), ivec2(-1));
    o+=textureGatherOffsets(a, uv.xy, off);
}

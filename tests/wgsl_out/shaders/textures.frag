#version 450
layout(binding=0) uniform sampler2D a;
layout(binding=1) uniform sampler2DArray b;
layout(binding=2) uniform samplerCube c;
layout(binding=3) uniform sampler3D d;
layout(binding=4) uniform usampler2D e;
layout(binding=5) uniform isampler3D f;
layout(binding=6) uniform sampler2DMS g;
layout(location=0) in vec3 uv;
layout(location=0) out vec4 o;
void main() {
    o=texture(a, uv.xy)+texture(b, uv)+texture(c, uv)+texture(d, uv);
    o+=texture(a, uv.xy, 1.5)+textureLod(c, uv, 2.0)+textureGrad(d, uv, dFdx(uv), dFdy(uv))+
        textureOffset(a, uv.xy, ivec2(1, -1))+textureLodOffset(b, uv, 0.5, ivec2(2));
    o+=vec4(texelFetch(e, ivec2(1, 2), 0))+vec4(texelFetch(f, ivec3(1, 2, 3), 1))+texelFetch(g,
        ivec2(gl_FragCoord.xy), 2);
    o+=vec4(textureSize(a, 0), textureSize(g))+vec4(textureSize(b, 1), textureQueryLevels(c));
    o+=textureProj(a, uv)+textureProj(a, vec4(uv, 2));
    o+=texelFetchOffset(a, ivec2(3), 0, ivec2(1, 1));
}

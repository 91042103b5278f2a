#version 450
layout(binding=0) uniform sampler2DMS a;
layout(location=0) out vec4 o;
void main() {
    o=texelFetch(a, ivec2(0), gl_SampleID)+float(textureSamples(a));
}

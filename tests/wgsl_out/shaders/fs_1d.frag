#version 450
layout(binding=0) uniform sampler1D a;
layout(binding=2) uniform samplerCubeArray c;
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
void main() {
    o=texture(a, v.x)+texture(c, v)+textureLod(a, v.x, 1.0)+texelFetch(a, 2, 0)+vec4(textureSize(c, 0),
        textureSize(a, 0));
}

#version 450
// refused: no textures of DimBuffer
layout(binding=0) uniform samplerBuffer t;
layout(location=0) out vec4 o;
void main() {
    o=texelFetch(t, int(gl_FragCoord.x))+float(textureSize(t));
}

#version 450
// refused: no textures of DimRect
layout(binding=0) uniform sampler2DRect a;
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
void main() {
    o=texture(a, v.xy);
}

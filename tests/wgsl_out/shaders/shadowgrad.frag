#version 450
// refused: without bias or gradients
layout(binding=0) uniform sampler2DShadow a;
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
void main() {
    o=vec4(textureGrad(a, v.xyz, v.xy, v.zw));
}

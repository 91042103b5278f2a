#version 450
// refused: OpImageQueryLod
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
layout(binding=0) uniform sampler2D t;
void main() {
    o=vec4(textureQueryLod(t, v.xy), 0, 0);
}

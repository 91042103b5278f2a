#version 450
layout(set=1, binding=0) uniform texture2D tInput;
layout(set=1, binding=1) uniform sampler s;
layout(location=0) out vec4 o;
void main() {
    vec4 v=texture(sampler2D(tInput, s), vec2(0));
    float f=texture(sampler2DShadow(tInput, s), vec3(0));
    o=v+f;
}

#version 450
layout(location=0) in vec3 p;
layout(location=0) out vec3 c;
layout(push_constant) uniform P {
    mat4 mvp;
    vec4 color;
} pc;
void main() {
    gl_Position=pc.mvp*vec4(p, 1);
    c=pc.color.rgb;
}

#version 450
vec2 P[3]=vec2[](vec2(0, -.5), vec2(.5), vec2(-.5, .5));
layout(location=0) out vec3 c;
vec3 K[3]=vec3[](vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1));
void main() {
    gl_Position=vec4(P[gl_VertexIndex], 0, 1);
    c=K[gl_VertexIndex];
}

#version 450
layout(depth_greater) out float gl_FragDepth;
layout(location=0) out vec4 o;
void main() {
    gl_FragDepth=gl_FragCoord.z+0.1;
    o=vec4(1);
}

#version 450
layout(location=0) out vec4 o;
layout(location=1) out uvec2 p;
layout(location=2) out ivec4 q;
layout(location=3) out float r;
void main() {
    o=gl_FragCoord;
    if (gl_FrontFacing) o.x=1.0;
    p=uvec2(3);
    q=ivec4(gl_FragCoord);
    r=gl_FragCoord.w;
    gl_FragDepth=0.25;
}

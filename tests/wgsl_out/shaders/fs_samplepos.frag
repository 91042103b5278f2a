#version 450
// refused: SamplePosition
layout(location=0) out vec4 o;
void main() {
    o=vec4(gl_SamplePosition, gl_PointCoord);
}

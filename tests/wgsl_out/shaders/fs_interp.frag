#version 450
// refused: no function like InterpolateAtCentroid
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
void main() {
    o=interpolateAtCentroid(v)+interpolateAtSample(v, 0)+interpolateAtOffset(v, vec2(0.1));
}

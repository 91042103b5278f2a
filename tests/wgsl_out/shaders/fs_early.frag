#version 450
// refused: EarlyFragmentTests
layout(early_fragment_tests) in;
layout(std430, binding=0) buffer B {
    uint n;
};
layout(location=0) out vec4 o;
void main() {
    atomicAdd(n, 1u);
    o=vec4(1);
}

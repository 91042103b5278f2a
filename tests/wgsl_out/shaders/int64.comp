#version 450
// refused: no integers of 64 bits
#extension GL_EXT_shader_explicit_arithmetic_types : enable
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    int64_t a;
    uint64_t b;
    int o[];
};
void main() {
    o[0]=int(a>>3);
    b=uint64_t(a)*b;
}

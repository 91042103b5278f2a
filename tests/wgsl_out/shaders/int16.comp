#version 450
// refused: no integers of 16 bits
#extension GL_EXT_shader_explicit_arithmetic_types : enable
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    int a;
    int o[];
};
void main() {
    int16_t x=int16_t(a);
    x*=int16_t(3);
    o[0]=int(x);
    uint8_t y=uint8_t(a);
    y+=uint8_t(200);
    o[1]=int(y);
}

#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    f16vec4 a;
    float16_t b;
    vec4 o[];
};
void main() {
    f16vec4 x=a*b+float16_t(1.5);
    x=sqrt(abs(x));
    a=x;
    o[0]=vec4(x);
    o[1].x=float(dot(x, x));
    f16mat2 m=f16mat2(x);
    o[1].yz=vec2(m*x.xy);
}

#version 450
#extension GL_EXT_shader_16bit_storage : enable
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    float16_t h[8];
    f16vec3 v;
    f16vec4 w[2];
    float o[4];
};
void main() {
    uint i=gl_LocalInvocationID.x;
    float x=float(h[i])*2.0;
    h[i+4u]=float16_t(x);
    o[i]=x+vec3(v).y+vec4(w[0])[i];
    if (i==0u) w[1]=f16vec4(vec4(1.5));
}

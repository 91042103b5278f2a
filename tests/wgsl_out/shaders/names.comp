#version 450
layout(local_size_x=1) in;
struct vec2f {
    float fn;
    int var;
};
layout(std430, binding=0) buffer array {
    vec2f let;
    float loop_;
    int type;
    float as[];
} ptr;
float select_(float i32) {
    return i32;
}
void main() {
    float f16=ptr.as[0];
    float abs_=ptr.let.fn;
    ptr.as[1]=f16+abs_+select_(f16)+float(ptr.let.var+ptr.type);
}

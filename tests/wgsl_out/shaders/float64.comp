#version 450
// refused: no floats of 64 bits
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    double a;
    float o[];
};
void main() {
    o[0]=float(a*2.0lf);
}

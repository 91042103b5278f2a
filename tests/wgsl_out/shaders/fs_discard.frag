#version 450
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
layout(std430, binding=0) buffer B {
    uint n;
    uint a[];
};
float g(float x) {
    if (x<0.0) discard;
    n+=1u;
    return x*2.0;
}
float f(float x) {
    for (int i=0;i<4;i++) {
        if (x>3.0) {
            discard;
        }
        x+=g(x);
    }
    return x;
}
void main() {
    if (v.x>9.0) discard;
    o=vec4(f(v.x));
    atomicAdd(a[1], 1u);
    o.y=dFdx(v.y);
}

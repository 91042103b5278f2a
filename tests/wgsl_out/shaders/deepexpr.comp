#version 450
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    float a[];
};
float h(float n) {
    return fract(sin(n)*43758.5453);
}
float noise(vec3 x) {
    vec3 p=floor(x), f=fract(x);
    f=f*f*(3.-2.*f);
    float n=p.x+p.y*57.+113.*p.z;
    return mix(mix(mix(h(n), h(n+1.), f.x), mix(h(n+57.), h(n+58.), f.x), f.y), mix(mix(h(n+113.), h(n+
        114.), f.x), mix(h(n+170.), h(n+171.), f.x), f.y), f.z);
}
void main() {
    uint i=gl_GlobalInvocationID.x;
    float f=0.;
    vec3 q=vec3(a[i], a[i]*2., 1.);
    f=0.5*noise(q);
    q*=2.02;
    f+=0.25*noise(q);
    q*=2.03;
    f+=.125*noise(q);
    a[i]=f;
}

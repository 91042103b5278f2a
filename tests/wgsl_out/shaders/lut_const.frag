#version 450
layout(location=0) out vec4 o;
layout(location=0) in vec2 uv;
const mat2 R=mat2(0.8, 0.6, -0.6, 0.8);
const vec4 T[4]=vec4[](vec4(0), vec4(1), vec4(.5), vec4(.25));
float fbm(vec2 p) {
    float a=0.;
    float w=.5;
    for (int i=0;i<5;i++) {
        a+=w*sin(p.x+p.y);
        p=R*p*2.;
        w*=.5;
    }
    return a;
}
vec3 hsv(vec3 c) {
    vec4 K=vec4(1., 2./3., 1./3., 3.);
    vec3 p=abs(fract(c.xxx+K.xyz)*6.-K.www);
    return c.z*mix(K.xxx, clamp(p-K.xxx, 0., 1.), c.y);
}
void main() {
    vec2 z=uv;
    int n=0;
    for (;n<64;++n) {
        z=vec2(z.x*z.x-z.y*z.y, 2.*z.x*z.y)+uv;
        if (dot(z, z)>4.) break;
    }
    o=T[n&3]+vec4(hsv(vec3(fbm(uv), .5, float(n)/64.)), 1);
}

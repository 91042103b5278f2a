#version 450
layout(location=0) in vec3 N;
layout(location=1) in vec3 W;
layout(location=2) in vec2 uv;
layout(location=0) out vec4 o;
struct Light {
    vec4 pos;
    vec3 color;
    float radius;
};
layout(set=0, binding=0) uniform Ubo {
    Light lights[6];
    vec4 viewPos;
    int count;
} ubo;
layout(set=1, binding=0) uniform sampler2D albedo;
layout(set=1, binding=1) uniform sampler2D nmap;
layout(set=1, binding=2) uniform samplerCube env;
layout(set=1, binding=3) uniform sampler2D lut;
layout(push_constant) uniform PC {
    float rough;
    float metal;
} pc;
layout(constant_id=0) const int MAXL=6;
float D(float nh, float r) {
    float a=r*r;
    float a2=a*a;
    float d=nh*nh*(a2-1.0)+1.0;
    return a2/(3.14159*d*d);
}
vec3 F(float c, vec3 f0) {
    return f0+(1.0-f0)*pow(1.0-c, 5.0);
}
vec3 nm() {
    vec3 t=texture(nmap, uv).xyz*2.0-1.0;
    vec3 q1=dFdx(W), q2=dFdy(W);
    vec2 s1=dFdx(uv), s2=dFdy(uv);
    vec3 n=normalize(N);
    vec3 T=normalize(q1*s2.t-q2*s1.t);
    vec3 Bn=-normalize(cross(n, T));
    return normalize(mat3(T, Bn, n)*t);
}
void main() {
    vec3 n=nm();
    vec3 v=normalize(ubo.viewPos.xyz-W);
    vec3 al=pow(texture(albedo, uv).rgb, vec3(2.2));
    vec3 f0=mix(vec3(0.04), al, pc.metal);
    vec3 lo=vec3(0);
    for (int i=0;i<min(ubo.count, MAXL);i++) {
        vec3 l=ubo.lights[i].pos.xyz-W;
        float dist=length(l);
        if (dist>ubo.lights[i].radius) continue;
        l/=dist;
        vec3 h=normalize(v+l);
        float nl=max(dot(n, l), 0.0);
        lo+=(al/3.14+D(max(dot(n, h), 0.), pc.rough)*F(max(dot(h, v), 0.),
            f0))*ubo.lights[i].color*nl/(dist*dist);
    }
    vec2 b=texture(lut, vec2(max(dot(n, v), 0.), pc.rough)).rg;
    vec3 r=reflect(-v, n);
    lo+=textureLod(env, r, pc.rough*8.0).rgb*(f0*b.x+b.y);
    o=vec4(lo/(lo+1.0), 1);
}

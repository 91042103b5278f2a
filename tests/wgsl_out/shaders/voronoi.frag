#version 450
layout(location=0) out vec4 o;
layout(location=0) in vec2 uv;
layout(push_constant) uniform P {
    float t;
    int mode;
} pc;
vec2 hash(vec2 p) {
    return fract(sin(vec2(dot(p, vec2(127.1, 311.7)), dot(p, vec2(269.5, 183.3))))*43758.5453);
}
vec3 vor(in vec2 x) {
    vec2 n=floor(x), f=fract(x);
    vec2 mg, mr;
    float md=8.0;
    for (int j=-1;j<=1;j++) for (int i=-1;i<=1;i++) {
        vec2 g=vec2(float(i), float(j));
        vec2 q=hash(n+g);
        q=0.5+0.5*sin(pc.t+6.2831*q);
        vec2 r=g+q-f;
        float d=dot(r, r);
        if (d<md) {
            md=d;
            mr=r;
            mg=g;
        }
    }
    md=8.0;
    for (int j=-2;j<=2;j++) for (int i=-2;i<=2;i++) {
        vec2 g=mg+vec2(float(i), float(j));
        vec2 q=hash(n+g);
        vec2 r=g+q-f;
        if (dot(mr-r, mr-r)>0.00001) md=min(md, dot(0.5*(mr+r), normalize(r-mr)));
    }
    return vec3(md, mr);
}
void main() {
    vec3 c=vor(8.0*uv);
    vec3 col=c.x*(0.5+0.5*sin(64.0*c.x))*vec3(1.0);
    switch (pc.mode) {
        case 0: break;
        case 1: col=mix(vec3(1., .6, 0.), col, smoothstep(.04, .07, c.x));
        case 2: {
            float d=length(c.yz);
            col=mix(vec3(1., .6, .1), col, smoothstep(0., .12, d));
            break;
        }
        default: discard;
    }
    o=vec4(col, fwidth(col.x));
}

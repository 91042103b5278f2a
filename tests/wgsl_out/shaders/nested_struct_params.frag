#version 450
struct Mat {
    vec4 c;
    float r;
    int tex;
};
struct Hit {
    bool ok;
    vec3 p;
    Mat m;
};
layout(binding=0) uniform sampler2D t0;
layout(binding=1) uniform sampler2D t1;
layout(location=0) in vec3 d;
layout(location=0) out vec4 o;
void shade(inout Hit h, const vec3 l) {
    if (h.ok) {
        h.m.c*=max(dot(h.p, l), 0.);
        if (h.m.tex==1) h.m.c*=texture(t0, h.p.xy);
        else if (h.m.tex==2) h.m.c+=textureLod(t1, h.p.xy, h.m.r);
    }
    h.ok=!h.ok;
}
bool cast_(vec3 dir, out Hit h) {
    h.ok=dot(dir, dir)>1.;
    h.p=dir*2.;
    h.m=Mat(vec4(1), .5, int(dir.x));
    return h.ok;
}
void main() {
    Hit h;
    if (!cast_(d, h)) {
        o=vec4(0, 0, 1, 1);
        return;
    }
    shade(h, vec3(0, 1, 0));
    o=h.m.c;
}

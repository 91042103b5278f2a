#version 450
layout(local_size_x=16) in;
struct P {
    vec2 pos;
    vec2 vel;
    vec4 grad;
};
layout(std140, binding=0) buffer Pos {
    P p[];
};
layout(binding=1) uniform U {
    float dt;
    float dx;
    float dy;
    int n;
} u;
vec2 att(vec2 a, vec2 b) {
    vec2 d=b-a;
    float k=1.0/sqrt(dot(d, d)+0.35);
    return d*k*k*k*0.000035;
}
void main() {
    uint i=gl_GlobalInvocationID.x;
    if (i>=u.n) return;
    vec2 v=p[i].vel;
    vec2 q=p[i].pos;
    v+=att(q, vec2(u.dx, u.dy))*0.05;
    q+=v*u.dt;
    if (q.x<-1.||q.x>1.||q.y<-1.||q.y>1.) v=(-v*0.1)+att(q, vec2(0))*12.;
    else p[i].pos=q;
    p[i].vel=v;
    p[i].grad.x+=0.02*u.dt;
    if (p[i].grad.x>1.) p[i].grad.x-=1.;
}

#version 450
layout(local_size_x=4, local_size_y=2) in;
struct Cell {
    int kind;
    float mass;
    vec2 v;
};
layout(std430, binding=0) readonly buffer A {
    Cell a[];
};
layout(std430, binding=1) writeonly buffer B {
    Cell b[];
};
layout(std140, binding=2) uniform U {
    ivec2 size;
    float dt;
    bvec2 wrap;
    vec3 g[2];
} u;
int at(ivec2 p) {
    if (u.wrap.x) p.x=(p.x+u.size.x)%max(u.size.x, 1);
    if (u.wrap.y) p.y=(p.y+u.size.y)%max(u.size.y, 1);
    p=clamp(p, ivec2(0), max(u.size-1, ivec2(0)));
    return p.y*u.size.x+p.x;
}
void main() {
    ivec2 p=ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, u.size))) return;
    Cell c=a[at(p)];
    int n=0;
    for (int y=-1;y<=1;y++) for (int x=-1;x<=1;x++) if ((x|y)!=0&&a[at(p+ivec2(x, y))].kind==c.kind) n++;
    c.v+=u.g[n&1].xy*u.dt;
    c.kind=n==3?1:(n==2?c.kind:0);
    c.mass*=1.0/float(n+1);
    b[at(p)]=c;
}

#version 450
layout(local_size_x=1) in;
struct S {
    float a[3];
    vec3 v;
    mat2 m;
};
layout(std430, binding=0) buffer B {
    S s[2];
    float o[];
};
void inc(inout float x) {
    x+=1.0;
}
void two(in float a, out float b, inout vec3 c) {
    b=a*2.0;
    c.y+=b;
    c*=a;
}
S mk(float x) {
    S r;
    r.a=float[3](x, x+1., x+2.);
    r.v=vec3(x);
    r.m=mat2(x);
    return r;
}
void arr(inout float a[3]) {
    for (int i=0;i<3;i++) a[i]*=2.0;
}
void st(inout S s) {
    inc(s.a[1]);
    arr(s.a);
    two(s.a[0], s.a[2], s.v);
    inc(s.m[1][0]);
}
void main() {
    S t=s[0];
    st(t);
    s[1]=t;
    inc(s[0].a[2]);
    st(s[0]);
    S q=mk(o[0]);
    arr(q.a);
    int i=int(o[1])%3;
    inc(q.a[i]);
    inc(q.v[i]);
    o[2]=q.a[0]+q.a[1]+q.a[2]+q.v.x+q.v.y+q.m[0][0];
    o[3]=(s[0]==s[1])?1.0:0.0;
}

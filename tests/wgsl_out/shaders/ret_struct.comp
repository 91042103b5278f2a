#version 450
layout(local_size_x=1) in;
struct R {
    bool hit;
    float t;
    vec3 n;
};
layout(std430, binding=0) buffer B {
    vec4 o[4];
    int arr[5];
};
R tr(vec3 a, vec3 d) {
    R r;
    r.hit=false;
    r.t=-1.;
    r.n=vec3(0);
    float b=dot(a, d);
    float k=b*b-dot(a, a)+1.;
    if (k<0.) return r;
    r.hit=true;
    r.t=-b-sqrt(k);
    r.n=a+d*r.t;
    return r;
}
int[5] mk(int x) {
    int r[5];
    for (int i=0;i<5;i++) r[i]=x*i;
    return r;
}
void main() {
    R r=tr(o[0].xyz, o[1].xyz);
    if (r.hit&&r.t>0.) o[2]=vec4(r.n, r.t);
    arr=mk(arr[2]);
    o[3]=vec4(mk(3)[4]);
}

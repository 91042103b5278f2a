#version 450
layout(local_size_x=1) in;
layout(std430, binding=0) buffer B {
    bool b;
    bvec3 v;
    bool arr[3];
    int o[];
};
struct S {
    bool x;
    bvec2 y;
};
void main() {
    S s;
    s.x=b;
    s.y=v.xy;
    arr[1]=s.x||s.y.y;
    v=not(v);
    o[0]=int(arr[2])+int(any(v))+(all(s.y)?4:0);
    b=!b;
}

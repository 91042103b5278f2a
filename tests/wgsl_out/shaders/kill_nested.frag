#version 450
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
int f(int x) {
    if (x==3) discard;
    return x+1;
}
int g(int x) {
    for (int i=0;i<5;i++) {
        x=f(x);
        if (x>9) return x;
    }
    return f(x)*2;
}
void main() {
    int k=int(v.x);
    int s=0;
    int turns=0;
    while (s<20) {
        s+=g(k+s);
        turns++;
    }
    o=vec4(s, turns, k, 1);
}

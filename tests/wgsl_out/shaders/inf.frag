#version 450
layout(location=0) out vec4 o;
layout(location=0) in vec4 v;
void main() {
    o=v;
    if (v.x>1e9) {
        for (;;) {
        }
    }
    while (v.y<-1e9) {
        o.x+=1.;
    }
}

#version 450
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
void main() {
    o=dFdx(v)+dFdyFine(v)+fwidth(v)+dFdxCoarse(v)+fwidthFine(v);
    if (v.x>0.5) {
        o+=fwidthCoarse(v.yzwx);
    }
}

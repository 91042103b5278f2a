#version 450
layout(location=0) in vec4 v;
layout(location=1) in vec4 w;
layout(location=0) out vec4 o;
vec4 glob=vec4(1, 2, 3, 4);
const float tab[4]=float[](1., 2., 3., 4.);
void main() {
    int i=int(v.x)&3;
    o=glob*tab[i];
    glob.x=o.y;
    o+=glob;
}

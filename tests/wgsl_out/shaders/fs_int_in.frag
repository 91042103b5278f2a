#version 450
layout(location=0) flat in uvec3 v;
layout(location=1) flat in int k;
layout(location=0) out uvec4 o;
void main() {
    o=uvec4(v, uint(k));
}

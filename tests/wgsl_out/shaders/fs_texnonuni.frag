#version 450
layout(location=0) in vec4 v;
layout(location=0) out vec4 o;
layout(binding=0) uniform sampler2D t;
void main() {
    o=vec4(0);
    for (int i=0;i<int(v.z);i++) {
        if (v.x>float(i)) {
            o+=texture(t, v.xy*float(i));
        } else if (v.y>2.0) continue;
        if (o.x>4.0) break;
    }
}

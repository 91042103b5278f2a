#version 450
layout(location=0) in vec2 uv;
layout(location=0) out vec4 o;
layout(binding=0) uniform U {
    mat4 view;
    vec3 eye;
    float time;
    vec4 lights[4];
    int n;
};
float sd(vec3 p) {
    vec3 q=abs(p)-vec3(1);
    return length(max(q, 0.0))+min(max(q.x, max(q.y, q.z)), 0.0);
}
vec3 nrm(vec3 p) {
    const vec2 e=vec2(1, -1)*0.001;
    return normalize(e.xyy*sd(p+e.xyy)+e.yyx*sd(p+e.yyx)+e.yxy*sd(p+e.yxy)+e.xxx*sd(p+e.xxx));
}
void main() {
    vec3 d=normalize((view*vec4(uv, 1, 0)).xyz);
    float t=0.;
    bool hit=false;
    for (int i=0;i<64;i++) {
        vec3 p=eye+d*t;
        float h=sd(p);
        if (h<0.001) {
            hit=true;
            break;
        }
        t+=h;
        if (t>100.) break;
    }
    if (!hit) {
        o=vec4(0);
        return;
    }
    vec3 n=nrm(eye+d*t);
    vec3 c=vec3(0);
    for (int i=0;i<n.length();i++) c[i]=0.1;
    for (int i=0;i<4;i++) {
        if (lights[i].w<=0.) continue;
        c+=max(dot(n, normalize(lights[i].xyz)), 0.)*lights[i].w;
    }
    o=vec4(pow(c, vec3(1./2.2)), 1);
}

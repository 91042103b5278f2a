#version 450
// shows: 0
layout(local_size_x=2) in;
layout(binding=0, rgba16f) uniform image2D a;
layout(binding=1, r32f) uniform image2D b;
layout(binding=2) uniform sampler2DArray t;
vec4 tex(sampler2DArray s, vec3 p) {
    return textureLod(s, p, 0.0);
}
void main() {
    ivec2 p=ivec2(gl_GlobalInvocationID.xy);
    imageStore(a, p, imageLoad(b, p)+tex(t, vec3(p, 1)));
    imageStore(b, p+1, vec4(3));
}

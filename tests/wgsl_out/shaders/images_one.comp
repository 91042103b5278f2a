#version 450
// shows: 0
layout(local_size_x=2, local_size_y=2) in;
layout(binding=0, rgba8) uniform writeonly image2D a;
layout(binding=1, r32ui) uniform uimage2D b;
layout(binding=2, rgba32f) readonly uniform image2D c;
void main() {
    ivec2 p=ivec2(gl_GlobalInvocationID.xy);
    imageStore(a, p, imageLoad(c, p));
    uint x=imageLoad(b, p).x;
    imageStore(b, p, uvec4(x+1u));
}

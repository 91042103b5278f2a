#version 450
// shows: 0
layout(local_size_x=2, local_size_y=2) in;
layout(binding=0, rgba8) uniform image2D a;
layout(binding=1, r32ui) uniform uimage2D b;
layout(binding=2, rgba32f) readonly uniform image3D c;
layout(binding=3, rg16f) writeonly uniform image2DArray d;
layout(binding=4, r32i) uniform iimage1D e;
layout(binding=5, rgba16ui) writeonly uniform uimage2D f;
layout(binding=6, r8) writeonly uniform image2D g;
layout(binding=7, rgb10_a2) writeonly uniform image2D h;
layout(binding=8, r11f_g11f_b10f) writeonly uniform image2D k;
layout(binding=9, rgba16) writeonly uniform image2D l;
void main() {
    ivec2 p=ivec2(gl_GlobalInvocationID.xy);
    vec4 v=imageLoad(a, p);
    imageStore(a, p, v*2.0);
    uint x=imageLoad(b, p).x;
    imageStore(b, p, uvec4(x+1u));
    imageStore(d, ivec3(p, 1), imageLoad(c, ivec3(p, 0)));
    imageStore(e, p.x, ivec4(3));
    imageStore(f, p, uvec4(imageSize(a), imageSize(c).z, imageSize(d).z));
    imageStore(g, p, v);
    imageStore(h, p, v);
    imageStore(k, p, v);
    imageStore(l, p, v);
}

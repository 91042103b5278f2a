#version 450
// shows: 0
layout(local_size_x=8, local_size_y=8) in;
layout(binding=0) uniform sampler2D src;
layout(binding=1, rgba8) writeonly uniform image2D dst;
shared vec4 tile[12][12];
void main() {
    ivec2 l=ivec2(gl_LocalInvocationID.xy);
    ivec2 b=ivec2(gl_WorkGroupID.xy)*8-2;
    for (int y=l.y;y<12;y+=8) for (int x=l.x;x<12;x+=8) tile[y][x]=texelFetch(src, clamp(b+ivec2(x, y),
        ivec2(0), textureSize(src, 0)-1), 0);
    barrier();
    vec4 s=vec4(0);
    for (int y=0;y<5;y++) for (int x=0;x<5;x++) s+=tile[l.y+y][l.x+x];
    imageStore(dst, ivec2(gl_GlobalInvocationID.xy), s/25.0);
}

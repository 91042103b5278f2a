#version 450
// refused: of the format Unknown
#extension GL_EXT_shader_image_load_formatted : enable
layout(local_size_x=1) in;
layout(binding=0) uniform writeonly image2D a;
layout(binding=1) uniform image2D b;
void main() {
    imageStore(a, ivec2(0), imageLoad(b, ivec2(1)));
}

#version 450
// refused: atomics on texels
layout(local_size_x=1) in;
layout(binding=0, r32ui) uniform uimage2D b;
layout(std430, binding=1) buffer O {
    uint o[];
};
void main() {
    o[0]=imageAtomicAdd(b, ivec2(1), 5u);
    imageAtomicMax(b, ivec2(0), 3u);
    o[1]=imageAtomicCompSwap(b, ivec2(2), 1u, 2u);
    o[2]=imageAtomicExchange(b, ivec2(3), 4u);
}

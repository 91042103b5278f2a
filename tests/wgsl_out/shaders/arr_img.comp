#version 450
// shows: 0
layout(local_size_x=1) in;
layout(binding=0, rgba8) uniform image2D im[2];
layout(binding=4) uniform U {
    int k;
};
void main() {
    vec4 v=imageLoad(im[k], ivec2(0));
    imageStore(im[1-k], ivec2(1), v);
    imageStore(im[0], imageSize(im[k]), v);
}

#version 450
layout(binding=0, rgba32f) uniform image2D im;
layout(location=0) out vec4 o;
void main() {
    ivec2 p=ivec2(gl_FragCoord.xy);
    o=imageLoad(im, p);
    imageStore(im, p, o+1.0);
}

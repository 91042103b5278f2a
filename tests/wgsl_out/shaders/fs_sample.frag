#version 450
layout(location=0) out vec4 o;
layout(location=0) in vec4 v;
layout(location=1) sample in vec4 w;
void main() {
    o=v+w+float(gl_SampleID);
    gl_SampleMask[0]=gl_SampleMaskIn[0]&3;
}

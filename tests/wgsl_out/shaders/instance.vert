#version 450
// refused: BaseVertex
#extension GL_ARB_shader_draw_parameters : enable
layout(location=0) in vec3 p;
void main() {
    gl_Position=vec4(p, 1)+float(gl_BaseVertexARB+gl_DrawIDARB);
}

#version 450
// refused: no textures of DimSubpassData
layout(input_attachment_index=0, binding=0) uniform subpassInput i;
layout(location=0) out vec4 o;
void main() {
    o=subpassLoad(i);
}

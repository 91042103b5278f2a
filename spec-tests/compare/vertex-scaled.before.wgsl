//@ compare: disagree
// Triangles have another size.
@vertex
fn main(@location(0) p: vec4<f32>) -> @builtin(position) vec4<f32> {
    return p;
}

//@ compare: disagree
// Another colour.
@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(1.0, 0.5, 0.0, 1.0);
}

//@ compare: agree
// The same components by another way.
@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(p.x, p.y, 0.0, 1.0);
}

@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let q = p.yxyx;
    return vec4<f32>(q.yx, 0.0, 1.0);
}

@vertex
fn main(@location(0) p: vec4<f32>, @location(1) q: vec4<f32>) -> @builtin(position) vec4<f32> {
    return p + q - q;
}

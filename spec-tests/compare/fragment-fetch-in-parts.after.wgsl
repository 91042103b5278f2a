@group(0) @binding(0) var t: texture_2d<f32>;
@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let x = i32(p.x) & 1;
    let y = i32(p.y) & 1;
    return textureLoad(t, vec2<i32>(x, y), 0);
}

//@ compare: agree
// The coordinates are computed one by one.
@group(0) @binding(0) var t: texture_2d<f32>;
@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(t, vec2<i32>(p.xy) % 2, 0);
}

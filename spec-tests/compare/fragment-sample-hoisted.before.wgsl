//@ compare: agree
// A sample with a level may stand anywhere.
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@fragment
fn main(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    if (p.x < 2.0) { return textureSampleLevel(t, s, vec2<f32>(0.25), 0.0); }
    return vec4<f32>(0.0);
}

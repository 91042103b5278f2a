@group(0) @binding(0) var<storage, read> a: array<vec4<f32>, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = a[i];
    out[i] = v.yxzw;
}

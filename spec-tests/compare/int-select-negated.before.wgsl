//@ compare: agree
// The condition and the values are turned round.
@group(0) @binding(0) var<storage, read> a: array<i32, 4>;
@group(0) @binding(1) var<storage, read> b: array<i32, 4>;
@group(0) @binding(2) var<storage, read_write> out: array<i32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = a[i];
    let y = b[i];
    out[i] = select(x, y, x < y);
}

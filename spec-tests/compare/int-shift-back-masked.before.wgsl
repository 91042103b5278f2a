//@ compare: agree
// The mask loses the same bit.
@group(0) @binding(0) var<storage, read> a: array<u32, 4>;
@group(0) @binding(1) var<storage, read> b: array<u32, 4>;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = a[i];
    let y = b[i];
    out[i] = (x << 1u) >> 1u;
}

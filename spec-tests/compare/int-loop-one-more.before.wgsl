//@ compare: disagree
// The loop runs once more.
@group(0) @binding(0) var<storage, read> a: array<u32, 4>;
@group(0) @binding(1) var<storage, read> b: array<u32, 4>;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = a[i];
    let y = b[i];
    var n = 0u;
    for (var j = 0u; j < 4u; j++) { n += a[j] * (j + 1u); }
    out[i] = n;
}

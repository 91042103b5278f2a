//@ compare: disagree
// The load races with the store of the neighbour.
@group(0) @binding(0) var<storage, read> a: array<u32, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 4>;
var<workgroup> s: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    s[i] = a[i];
    workgroupBarrier();
    out[i] = s[(i + 1u) % 4u];
}

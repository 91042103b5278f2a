//@ compare: disagree
// Three more elements are written.
@group(0) @binding(0) var<storage, read> a: array<u32, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 4>;
var<workgroup> s: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if (i == 0u) { out[0] = 7u; }
}

struct Memory {
    x: atomic<u32>,
    y: atomic<u32>,
}
@group(0) @binding(0) var<storage, read_write> m: Memory;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let t = atomicAdd(&m.x, 1u);
    out[i] = t;
}

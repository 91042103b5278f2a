struct Memory {
    x: atomic<u32>,
    y: atomic<u32>,
}
@group(0) @binding(0) var<storage, read_write> m: Memory;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    switch i {
    case 0u: { let r = atomicLoad(&m.y); atomicStore(&m.x, 1u); out[0] = r; }
    case 1u: { let r = atomicLoad(&m.x); atomicStore(&m.y, 1u); out[1] = r; }
    default: {}
    }
}

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
    case 0u: { let r = atomicLoad(&m.x); out[0] = r; atomicStore(&m.y, 1u); }
    case 1u: { let r = atomicLoad(&m.y); out[1] = r; atomicStore(&m.x, r & 1u); }
    default: {}
    }
}

struct Memory {
    x: atomic<u32>,
    y: atomic<u32>,
}
@group(0) @binding(0) var<storage, read_write> m: Memory;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    switch i {
    case 0u: { atomicStore(&m.x, 1u); }
    case 1u: { atomicStore(&m.y, 1u); }
    case 2u: { let q = atomicLoad(&m.y); let r = atomicLoad(&m.x); out[0] = r; out[1] = q; }
    case 3u: { let q = atomicLoad(&m.x); let r = atomicLoad(&m.y); out[2] = r; out[3] = q; }
    default: {}
    }
}

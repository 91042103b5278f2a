//! The workloads of the benches: a Mandelbrot set and a sieve, each from a compiler and after
//! an optimiser.

/// A compute dispatch on one storage buffer of zeros at set 0, binding 0, with facts about it.
pub struct Workload {
    /// The name of the benchmark.
    pub name: &'static str,
    /// The module as SPIR-V assembly.
    pub text: &'static str,
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The length of the buffer in words.
    pub words: usize,
    /// The number of instructions that the dispatch executes.
    pub instructions: u64,
    /// The FNV-1a hash of the buffer after the dispatch, by bytes or by words.
    checksum: u32,
}

const fn workload(name: &'static str, text: &'static str, size: ([u32; 3], usize), instructions: u64, checksum: u32) -> Workload {
    Workload { name, text, groups: size.0, words: size.1, instructions, checksum }
}

/// All workloads.
pub const PROGRAMS: [Workload; 4] = [
    workload("mandel", include_str!("mandel.spvasm"), ([32, 32, 1], 65_536), 125_481_169, 0x02fd_c58f),
    workload("mandel.opt", include_str!("mandel.opt.spvasm"), ([32, 32, 1], 65_536), 64_308_293, 0x02fd_c58f),
    workload("sieve", include_str!("sieve.spvasm"), ([16, 1, 1], 1_024), 85_614_712, 0x9c8c_f35f),
    workload("sieve.opt", include_str!("sieve.opt.spvasm"), ([16, 1, 1], 1_024), 54_481_324, 0x9c8c_f35f),
];

impl Workload {
    /// Panics if the bytes do not have the checksum.
    pub fn check(&self, bytes: &[u8]) {
        let by_bytes = bytes.iter().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
        let by_words = bytes
            .chunks_exact(4)
            .fold(0x811c_9dc5u32, |hash, word| (hash ^ u32::from_le_bytes(word.try_into().expect("four bytes"))).wrapping_mul(0x0100_0193));
        assert!([by_bytes, by_words].contains(&self.checksum), "{}: {by_bytes:08x} {by_words:08x}", self.name);
    }
}

//! Random passes of spirv-opt: a function of the module's words.

use crate::generate::Random;

/// Passes that do not change what a module shows. The list has no passes that need another
/// environment, change interfaces, or only strip.
const PASSES: &[&str] = &[
    "--ccp",
    "--cfg-cleanup",
    "--combine-access-chains",
    "--compact-ids",
    "--convert-local-access-chains",
    "--copy-propagate-arrays",
    "--eliminate-dead-branches",
    "--eliminate-dead-code-aggressive",
    "--eliminate-dead-const",
    "--eliminate-dead-functions",
    "--eliminate-dead-inserts",
    "--eliminate-dead-variables",
    "--eliminate-local-multi-store",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--if-conversion",
    "--inline-entry-points-exhaustive",
    "--local-redundancy-elimination",
    "--loop-fission=20",
    "--loop-fusion=20",
    "--loop-invariant-code-motion",
    "--loop-peeling",
    "--loop-unroll",
    "--loop-unroll-partial=3",
    "--loop-unswitch",
    "--merge-blocks",
    "--merge-return",
    "--private-to-local",
    "--reduce-load-size",
    "--redundancy-elimination",
    "--scalar-replacement=100",
    "--simplify-instructions",
    "--ssa-rewrite",
    "--strength-reduction",
    "--unify-const",
    "--vector-dce",
    "--wrap-opkill",
];

/// The most passes for one module.
const MAX_PASSES: u32 = 12;

/// The passes for a module. They depend on its words only.
pub fn drawn(words: &[u32]) -> Vec<&'static str> {
    let hash = words.iter().fold(0u64, |hash, &word| (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95));
    let mut random = Random::new(hash);
    (0..random.between(1, MAX_PASSES)).map(|_| random.pick(PASSES)).collect()
}

//! Generated trees print and read back to the same trees. So do the desugared forms of their
//! programs, where they are source.

use crate::random::Random;
use smallstep_generate::wsl as generate;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print;

/// The number of generated trees.
const TREES: u64 = if cfg!(debug_assertions) { 5_000 } else { 100_000 };

#[test]
fn generated_trees_read_back_to_themselves() {
    for seed in 0..TREES {
        let mut random = Random(seed);
        let tree = generate::tree(&mut || random.next(), 10 + (seed % 7) as usize * 20);
        let text = print(&tree);
        let (again, errors) = parse(&text);
        assert!(errors.is_empty(), "seed {seed}:\n{text}\n{errors:#?}");
        assert!(tree.same(&again), "seed {seed} reads back to another tree:\n{text}\nthat is\n{}", print(&again));
        assert_eq!(text, print(&again), "seed {seed} prints as another text");
    }
}

//! What a campaign asks of a language.

use super::execution::{Executions, Observed, observe};
use super::relation;
use crate::generate::uniformity::{Generated, program};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// A language with generated programs, whose threads meet.
pub trait Language {
    /// A program as it is generated and shrunk.
    type Tree;
    /// A valid program, which analyses judge.
    type Program;

    /// The tree of a seed.
    fn generated(seed: u64) -> Self::Tree;

    /// The tree as text.
    fn text(tree: &Self::Tree) -> String;

    /// The program of a tree.
    ///
    /// # Errors
    /// Why it is not valid.
    fn program(tree: &Self::Tree) -> Result<Self::Program, InvalidInput>;

    /// What executions show, with the contents of the seed.
    fn observed(tree: &Self::Tree, program: &Self::Program, seed: u64, executions: &Executions) -> Observed;

    /// What the reference interpreter says against that, if it does.
    fn disagreement(tree: &Self::Tree, program: &Self::Program, seed: u64, executions: &Executions) -> Option<String>;

    /// A small tree that `keeps` holds of, if it holds of this one. It is asked about at most
    /// `most` trees.
    fn shrunk(tree: &Self::Tree, most: usize, keeps: &mut dyn FnMut(&Self::Tree) -> bool) -> Self::Tree;
}

/// WSL: compute and fragment entry points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wsl;

impl Language for Wsl {
    type Tree = Generated;
    type Program = Program;

    fn generated(seed: u64) -> Generated {
        program(seed)
    }

    fn text(tree: &Generated) -> String {
        tree.tree.text()
    }

    fn program(tree: &Generated) -> Result<Program, InvalidInput> {
        let validated = validate(&Wsl::text(tree));
        let errors = validated.errors;
        validated.program.ok_or_else(|| {
            let each: Vec<String> = errors.iter().map(|e| format!("[{}] {}", e.rule, e.message)).collect();
            InvalidInput::new(InputFault::Program, each.join("; "))
        })
    }

    fn observed(tree: &Generated, program: &Program, seed: u64, executions: &Executions) -> Observed {
        observe(&Wsl::text(tree), program, tree.groups, seed, executions)
    }

    fn disagreement(tree: &Generated, program: &Program, seed: u64, executions: &Executions) -> Option<String> {
        relation::disagreement(&Wsl::text(tree), program, tree.groups, seed, executions)
    }

    fn shrunk(tree: &Generated, most: usize, keeps: &mut dyn FnMut(&Generated) -> bool) -> Generated {
        let groups = tree.groups;
        let small = tree.tree.shrunk(most, &mut |tree| keeps(&Generated { tree: tree.clone(), groups }));
        Generated { tree: small, groups }
    }
}

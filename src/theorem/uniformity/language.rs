//! What a campaign needs from a language.

use super::execution::{Executions, Observed, observe};
use super::relation;
use crate::generate::uniformity::{Generated, program};
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// A language with generated programs whose threads meet.
pub trait Language {
    /// A program in the form that is generated and shrunk.
    type Tree;
    /// A valid program, the input of analyses.
    type Program;

    /// Generates the tree of a seed.
    fn generated(seed: u64) -> Self::Tree;

    /// The text of a tree.
    fn text(tree: &Self::Tree) -> String;

    /// The program of a tree.
    ///
    /// # Errors
    /// Why the tree is not valid.
    fn program(tree: &Self::Tree) -> Result<Self::Program, InvalidInput>;

    /// The results of executions. `seed` determines the contents of buffers.
    fn observed(tree: &Self::Tree, program: &Self::Program, seed: u64, executions: &Executions) -> Observed;

    /// The difference of the reference interpreter from these executions, if there is one.
    fn disagreement(tree: &Self::Tree, program: &Self::Program, seed: u64, executions: &Executions) -> Option<String>;

    /// A small tree for which `keeps` holds. It must hold for this tree. `keeps` is called at most
    /// `most` times.
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

//! Wrong meanings, planted beside the rules. A test plants one, and requires that what judges the
//! rules catches it.

use super::{Evaluator, Op, OpResult, Results};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{TypeId, Types};
use smallvec::SmallVec;

/// A function that a test plants to replace the result of an operation. It gets the operation, its
/// operands, and the correct result.
pub type Replacement = fn(Op, &[u32], OpResult) -> OpResult;

/// The planted errors of a test. Outside of such tests there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    /// Replaces the result of an operation on scalars.
    pub replace: Option<Replacement>,
    /// For a function and the index of an argument, the index of the argument to take instead. It
    /// has the same type.
    pub arguments: Option<fn(Meaning, usize) -> usize>,
    /// For a function and the index of a word of its results, the index of the word to take
    /// instead. The words are those of the result, then the stored ones. The last parameter is
    /// their number.
    pub words: Option<fn(Meaning, usize, usize) -> usize>,
}

impl Planted {
    /// No planted error.
    pub const NONE: Planted = Planted { replace: None, arguments: None, words: None };

    /// [`super::scalar()`], then the replacement.
    pub fn scalar(&self, op: Op, operands: &[u32]) -> OpResult {
        let result = super::scalar(op, operands);
        match self.replace {
            None => result,
            Some(replace) => replace(op, operands, result),
        }
    }

    /// [`super::apply`] with arguments and words moved accordingly. The evaluator itself
    /// ([`Evaluator`]) replaces operations on scalars.
    pub fn apply<L: Evaluator>(
        &self,
        evaluator: &mut L,
        types: &Types,
        function: LibraryFunction,
        parameters: &[TypeId],
        result: TypeId,
        arguments: &[&[L::Word]],
    ) -> Option<Results<L::Word>> {
        let meaning = function.meaning();
        let replaced_arguments: SmallVec<[&[L::Word]; 4]> = match self.arguments {
            None => SmallVec::from_slice(arguments),
            Some(from) => (0..arguments.len()).map(|i| arguments[from(meaning, i)]).collect(),
        };
        let results = super::apply(evaluator, types, function, parameters, result, &replaced_arguments)?;
        let Some(from) = self.words else { return Some(results) };
        let all: Vec<L::Word> = results.result.iter().chain(results.stored.iter().flatten()).copied().collect();
        let mut words = (0..all.len()).map(|i| all[from(meaning, i, all.len())]);
        let mut take = |of: &SmallVec<[L::Word; 4]>| words.by_ref().take(of.len()).collect();
        Some(Results { result: take(&results.result), stored: results.stored.iter().map(take).collect() })
    }
}

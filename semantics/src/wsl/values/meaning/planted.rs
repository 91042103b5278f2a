//! Wrong meanings, planted beside the rules: a test of what judges the rules plants one, and must
//! see it caught.

use super::{Given, Lanes, Op, Results};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{TypeId, Types};
use smallvec::SmallVec;

/// What a test puts in the place of what an operation gives: the operation, its operands, and what
/// it gives.
pub type Replacement = fn(Op, &[u32], Given) -> Given;

/// What a test puts in the place of meanings; nothing, outside such tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    /// Replaces what an operation on scalars gives.
    pub replace: Option<Replacement>,
    /// From which argument of a function its argument of that index is taken, which
    /// has the same type.
    pub arguments: Option<fn(Meaning, usize) -> usize>,
    /// From which of the words that a function gives, the stored ones after the result's, that
    /// index is taken; the last parameter is how many there are.
    pub words: Option<fn(Meaning, usize, usize) -> usize>,
}

impl Planted {
    /// Nothing.
    pub const NONE: Planted = Planted { replace: None, arguments: None, words: None };

    /// [`super::scalar()`], then the replacement.
    pub fn scalar(&self, op: Op, operands: &[u32]) -> Given {
        let given = super::scalar(op, operands);
        match self.replace {
            None => given,
            Some(replace) => replace(op, operands, given),
        }
    }

    /// [`super::apply`] with arguments and words so moved; operations on scalars are replaced by
    /// who has the [`Lanes`].
    pub fn apply<L: Lanes>(
        &self,
        lanes: &mut L,
        types: &Types,
        function: LibraryFunction,
        parameters: &[TypeId],
        result: TypeId,
        arguments: &[&[L::Word]],
    ) -> Option<Results<L::Word>> {
        let meaning = function.meaning();
        let moved: SmallVec<[&[L::Word]; 4]> = match self.arguments {
            None => SmallVec::from_slice(arguments),
            Some(from) => (0..arguments.len()).map(|i| arguments[from(meaning, i)]).collect(),
        };
        let results = super::apply(lanes, types, function, parameters, result, &moved)?;
        let Some(from) = self.words else { return Some(results) };
        let all: Vec<L::Word> = results.result.iter().chain(results.stored.iter().flatten()).copied().collect();
        let mut words = (0..all.len()).map(|i| all[from(meaning, i, all.len())]);
        let mut take = |of: &SmallVec<[L::Word; 4]>| words.by_ref().take(of.len()).collect();
        Some(Results { result: take(&results.result), stored: results.stored.iter().map(take).collect() })
    }
}

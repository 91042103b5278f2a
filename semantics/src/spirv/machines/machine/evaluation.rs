//! How a run computes, and which way its branches go: by definite values, with control that may be
//! in doubt, or over sets.

use std::convert::Infallible;

use super::Control;
use crate::number::sets::{Sets, Unsettled};
use crate::number::{self, Arithmetic, Lane, Lanes, Tuple};

/// What a run is evaluated by.
pub(super) trait Evaluation {
    /// Why it cannot go on.
    type Error;

    /// Computes an operation; `place` gives the id of the result.
    fn apply(
        &mut self,
        place: impl FnOnce() -> u32,
        arithmetic: &Arithmetic,
        op: number::Op,
        args: &[Tuple<'_>],
    ) -> Result<Lanes, Self::Error>;

    /// Which way a branch on the Boolean of that id goes.
    fn decide(&mut self, id: u32, condition: Lane) -> Result<bool, Self::Error>;

    /// Puts lanes that are written now in the doubt that control is in.
    fn mark(&self, lanes: &mut [Lane]);
}

/// By definite values.
impl Evaluation for Control {
    type Error = Infallible;

    #[inline]
    fn apply(&mut self, _: impl FnOnce() -> u32, arithmetic: &Arithmetic, op: number::Op, args: &[Tuple<'_>]) -> Result<Lanes, Infallible> {
        Ok(arithmetic.apply(op, args))
    }

    #[inline]
    fn decide(&mut self, _: u32, condition: Lane) -> Result<bool, Infallible> {
        *self = self.after(condition.trust);
        Ok(condition.is_true())
    }

    #[inline]
    fn mark(&self, lanes: &mut [Lane]) {
        Control::mark(*self, lanes);
    }
}

/// Over sets. The way is known to be taken: nothing that is written on it is in doubt for that.
impl Evaluation for &mut Sets {
    type Error = Unsettled;

    fn apply(
        &mut self,
        place: impl FnOnce() -> u32,
        arithmetic: &Arithmetic,
        op: number::Op,
        args: &[Tuple<'_>],
    ) -> Result<Lanes, Unsettled> {
        self.stand_at(place());
        Sets::apply(self, arithmetic, op, args)
    }

    fn decide(&mut self, id: u32, condition: Lane) -> Result<bool, Unsettled> {
        self.stand_at(id);
        Sets::decide(self, condition)
    }

    fn mark(&self, _: &mut [Lane]) {}
}

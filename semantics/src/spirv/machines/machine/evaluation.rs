//! How a run computes and decides branches: by definite values with trust, or over sets.

use std::convert::Infallible;

use super::Control;
use crate::number::sets::{Sets, Unsettled};
use crate::number::{self, Arithmetic, Lane, Lanes, Tuple};

/// A way to evaluate a run.
pub(super) trait Evaluation {
    /// Why the evaluation cannot continue.
    type Error;

    /// Computes an operation. `place` returns the id of the result.
    fn apply(
        &mut self,
        place: impl FnOnce() -> u32,
        arithmetic: &Arithmetic,
        op: number::Op,
        args: &[Tuple<'_>],
    ) -> Result<Lanes, Self::Error>;

    /// Decides a branch on the Boolean with that id.
    fn decide(&mut self, id: u32, condition: Lane) -> Result<bool, Self::Error>;

    /// Puts lanes that are written now in doubt, if control is.
    fn mark(&self, lanes: &mut [Lane]);
}

/// Evaluation by definite values, with control that may be in doubt.
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

/// Evaluation over sets. The way that the run takes is known, so it puts no write in doubt.
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

//! Operations over a quad, and derivatives: seed 004 "Floating point arithmetic" (ERRATA WSL-D26;
//! [`Derivative`]).

use super::builtin::called;
use super::term::{Expr, Form};
use super::{Cx, Done, Stop};
use crate::wsl::meaning::Derivative;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;

impl Cx<'_, '_> {
    /// What the four threads of the quad hold for operands at this operation, in the order of
    /// lanes: x + 2·y. A thread that does not meet them has unspecified ones.
    ///
    /// # Errors
    /// [`Stop::Quad`] until the quad goes on; [`Stop::Unsupported`] of a thread that is in no quad.
    pub fn quad(&mut self, operand: &[Word]) -> Result<[Words; 4], Stop> {
        Ok(self.exchange(operand)?.operands)
    }

    fn exchange(&mut self, operand: &[Word]) -> Result<super::Exchange, Stop> {
        let place = self.span();
        let Some(stage) = self.stage.as_mut().filter(|stage| stage.lane.is_some()) else {
            return Err(Stop::Unsupported("an operation over a quad of threads, and no fragment is drawn here".into(), place));
        };
        match stage.exchange.take() {
            Some(exchange) => Ok(exchange),
            None => {
                self.instance.barrier = Some(self.at);
                Err(Stop::Quad(Words::from_slice(operand)))
            }
        }
    }

    /// The thread's place in its quad, x + 2·y.
    pub fn lane(&self) -> Option<usize> {
        self.stage.as_ref()?.lane
    }
}

/// ddx(v) → b - a, and so on, once the quad of the thread stands at it [wsl/e-derivative, 004
/// Floating point arithmetic; WSL-D26]
pub fn e_derivative(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, arguments) = called(cx, e)?;
    let [(_, operand)] = &arguments[..] else { return cx.stuck("a derivative has one argument") };
    let Some(derivative) = Derivative::of(function.meaning()) else { return cx.stuck("no derivative") };
    let super::Exchange { operands, chosen } = cx.exchange(operand)?;
    let Some(lane) = cx.lane() else { return cx.stuck("no lane") };
    e.form = Form::Value(derivative.result(cx.opens, operands.each_ref().map(|o| &o[..]), &chosen, lane));
    Ok(())
}

//! Operations over a quad, and derivatives: seed 004 "Floating point arithmetic" (ERRATA WSL-D26;
//! [`Derivative`]).

use super::builtin::library_call;
use super::next::conclude;
use super::table::{Class, Function::Expr as E, Row, Shape};
use super::term::Expr;
use super::{Cx, Effect, Exchange, Next, Stop};
use crate::rule::Rule;
use crate::wsl::meaning::Derivative;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use smallvec::smallvec;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[(Rule::WslEDerivative, E(&[Shape::CallDerivative], e_derivative))];

impl Cx<'_, '_> {
    /// The operands of the four threads of the quad at this operation, in the order of lanes: x +
    /// 2·y. They are unspecified for a thread that does not meet the others. The caller adds
    /// [`Effect::Exchanged`].
    ///
    /// # Errors
    /// [`Stop::Quad`] until the quad goes on. [`Stop::Unsupported`] for a thread that is in
    /// no quad.
    pub fn quad(&self, operand: &[Word]) -> Result<Exchange, Stop> {
        let Some(stage) = self.stage.filter(|stage| stage.lane.is_some()) else {
            return Err(Stop::Unsupported("an operation over a quad of threads, and no fragment is drawn here".into(), self.span()));
        };
        stage.exchange.clone().ok_or_else(|| Stop::Quad(Words::from_slice(operand)))
    }

    /// The thread's place in its quad, x + 2·y. `None` for a thread that is in no quad.
    pub fn lane(&self) -> Option<usize> {
        self.stage?.lane
    }
}

/// ddx(v) → b - a, and so on, once the quad of the thread stands at it [wsl/e-derivative, 004
/// Floating point arithmetic; WSL-D26]
pub fn e_derivative(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (function, arguments) = library_call(e, |class| class == Class::Derivative)?;
    let (Some(derivative), [(_, operand)]) = (Derivative::of(function.meaning()), &arguments[..]) else { return None };
    conclude(|| {
        let Exchange { operands, chosen } = cx.quad(operand)?;
        let Some(lane) = cx.lane() else { return cx.stuck("no lane") };
        let result = derivative.result(cx.opens, operands.each_ref().map(|o| &o[..]), &chosen, lane);
        Ok(Next::value(e, result).with(smallvec![Effect::Exchanged]))
    })
}

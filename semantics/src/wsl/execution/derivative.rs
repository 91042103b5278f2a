//! Operations over a quad, and derivatives: seed 004 "Floating point arithmetic", a todo that only names them (ERRATA WSL-D26).
//!
//! Of the lanes 0 1 / 2 3 of a quad with the values a, b, c, d the fine derivatives are the differences b - a and d - c of rows and c - a and d - b of
//! columns. A coarse one is that of either row or column for all four lanes, and `ddx`, `ddy` and `fwidth` are fine or coarse. What is left open is
//! chosen once for the whole quad, as an unspecified value is: one symbol.

use super::builtin::called;
use super::term::{Expr, Form};
use super::{Cx, Done, Stop};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Lanes, Op};
use crate::wsl::memory::Words;
use crate::wsl::open::{Opens, Word};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// Which row or column a derivative is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The lane's own.
    Fine,
    /// Either, for the whole quad.
    Coarse,
    /// Fine or coarse.
    Either,
}

/// A derivative of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivative {
    /// Along x, along y.
    along: [bool; 2],
    how: How,
}

impl Derivative {
    /// That of a meaning, if it is one.
    pub fn of(meaning: Meaning) -> Option<Derivative> {
        use How::{Coarse, Either, Fine};
        use Meaning as M;
        let (along, how) = match meaning {
            M::Ddx => ([true, false], Either),
            M::Ddy => ([false, true], Either),
            M::DdxCoarse => ([true, false], Coarse),
            M::DdyCoarse => ([false, true], Coarse),
            M::DdxFine => ([true, false], Fine),
            M::DdyFine => ([false, true], Fine),
            M::Fwidth => ([true, true], Either),
            M::FwidthCoarse => ([true, true], Coarse),
            M::FwidthFine => ([true, true], Fine),
            _ => return None,
        };
        Some(Derivative { along, how })
    }
}

/// The differences of both rows (along x) or columns (along y) of a quad, word by word.
fn differences(opens: &mut Opens, operands: &[Words; 4], axis: usize) -> [Words; 2] {
    let subtract = Op::new(Meaning::Subtract, Scalar::Float, Scalar::Float);
    let pairs = if axis == 0 { [(0, 1), (2, 3)] } else { [(0, 2), (1, 3)] };
    pairs.map(|(from, to)| operands[from].iter().zip(&operands[to]).map(|(&a, &b)| opens.scalar(subtract, &[b, a])).collect())
}

/// What an operation over a quad leaves open, chosen for the whole quad: for each axis that it is along, of which row or column its derivative is.
///
/// Nothing is chosen where both are the same.
pub fn chosen(opens: &mut Opens, meaning: Meaning, operands: &[Words; 4]) -> SmallVec<[Word; 2]> {
    let Some(derivative) = Derivative::of(meaning) else { return SmallVec::new() };
    let mut choices = SmallVec::new();
    for axis in (0..2).filter(|&axis| derivative.along[axis]) {
        let [first, second] = differences(opens, operands, axis);
        let options: &[u32] = match derivative.how {
            How::Fine => &[FINE],
            _ if first == second => &[0],
            How::Coarse => &[0, 1],
            How::Either => &[FINE, 0, 1],
        };
        choices.push(match options {
            [only] => Word::Bits(*only),
            _ => opens.leaf(Some(options), Scalar::Uint, options[0]),
        });
    }
    choices
}

/// The choice of a lane's own row or column; those of the quad are 0 and 1.
const FINE: u32 = 2;

impl Cx<'_, '_> {
    /// What the four threads of the quad hold for operands at this operation, in the order of lanes: x + 2·y. A thread that does not meet them has unspecified
    /// ones.
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

/// ddx(v) → b - a, and so on, once the quad of the thread stands at it         [wsl/e-derivative, 004 Floating point arithmetic; WSL-D26]
pub fn e_derivative(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, arguments) = called(cx, e)?;
    let [(_, operand)] = &arguments[..] else { return cx.stuck("a derivative has one argument") };
    let Some(derivative) = Derivative::of(function.meaning()) else { return cx.stuck("no derivative") };
    let super::Exchange { operands, chosen } = cx.exchange(operand)?;
    let Some(lane) = cx.lane() else { return cx.stuck("no lane") };
    let mut along: SmallVec<[Words; 2]> = SmallVec::new();
    for (axis, &choice) in (0..2).filter(|&axis| derivative.along[axis]).zip(&chosen) {
        let both = differences(cx.opens, &operands, axis);
        let own = if axis == 0 { lane / 2 } else { lane % 2 };
        let word = |cx: &mut Cx, k: usize| cx.opens.among(choice, &[(FINE, both[own][k]), (0, both[0][k]), (1, both[1][k])]);
        along.push((0..operand.len()).map(|k| word(cx, k)).collect());
    }
    let float = |meaning| Op::new(meaning, Scalar::Float, Scalar::Float);
    let result = match &along[..] {
        [only] => only.clone(),
        [x, y] => {
            let mut sum = Words::new();
            for (&x, &y) in x.iter().zip(y) {
                let [x, y] = [x, y].map(|word| cx.opens.scalar(float(Meaning::Abs), &[word]));
                sum.push(cx.opens.scalar(float(Meaning::Add), &[x, y]));
            }
            sum
        }
        _ => return cx.stuck("a derivative along no axis"),
    };
    e.form = Form::Value(result);
    Ok(())
}

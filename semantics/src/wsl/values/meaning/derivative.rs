//! Derivatives: seed 004 "Floating point arithmetic", a todo that only names them (ERRATA WSL-D26).
//!
//! Let the lanes 0 1 / 2 3 of a quad have the values a, b, c, d. The fine derivatives are the
//! differences b - a and d - c of rows, and c - a and d - b of columns. A coarse derivative is that
//! of either row or column for all four lanes. `ddx`, `ddy` and `fwidth` are fine or coarse. The
//! choices that this leaves open are made once for the whole quad, like an unspecified value: each
//! is one symbol.

use super::{Op, Unspecified};
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The words of a value.
type Words<W> = SmallVec<[W; 4]>;

/// The row or column that a derivative is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DerivativeControl {
    /// The lane's own row or column.
    Fine,
    /// Either row or column, the same for the whole quad.
    Coarse,
    /// Fine or coarse.
    Either,
}

/// A derivative of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivative {
    /// Whether it is along x, and whether it is along y.
    along: [bool; 2],
    control: DerivativeControl,
}

/// The choice of a lane's own row or column. The choices of the quad's rows or columns are 0 and 1.
const FINE: u32 = 2;

impl Derivative {
    /// The derivative of a meaning. `None` if the meaning is none.
    pub fn of(meaning: Meaning) -> Option<Derivative> {
        use DerivativeControl::{Coarse, Either, Fine};
        use Meaning as M;
        let (along, control) = match meaning {
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
        Some(Derivative { along, control })
    }

    /// The axes of the derivative, at most two: 0 is x, 1 is y.
    fn axes(self) -> impl Iterator<Item = usize> {
        (0..2).filter(move |&axis| self.along[axis])
    }

    /// The choices that the derivative leaves open, made for the whole quad: for each of its axes,
    /// the row or column.
    ///
    /// Nothing is chosen if both rows or columns have the same differences.
    pub fn chosen<L: Unspecified>(self, evaluator: &mut L, operands: [&[L::Word]; 4]) -> SmallVec<[L::Word; 2]> {
        let mut choices = SmallVec::new();
        for axis in self.axes() {
            let [first, second] = differences(evaluator, operands, axis);
            let options: &[u32] = match self.control {
                DerivativeControl::Fine => &[FINE],
                _ if first == second => &[0],
                DerivativeControl::Coarse => &[0, 1],
                DerivativeControl::Either => &[FINE, 0, 1],
            };
            choices.push(match options {
                [only] => evaluator.bits(*only),
                _ => evaluator.unspecified(Some(options), Scalar::Uint, options[0]),
            });
        }
        choices
    }

    /// The derivative for a lane of the quad, from the operands of all four lanes and the choices.
    pub fn result<L: Unspecified>(self, evaluator: &mut L, operands: [&[L::Word]; 4], chosen: &[L::Word], lane: usize) -> Words<L::Word> {
        let mut along: SmallVec<[Words<L::Word>; 2]> = SmallVec::new();
        for (axis, &choice) in self.axes().zip(chosen) {
            let [first, second] = differences(evaluator, operands, axis);
            let own = if axis == 0 { lane / 2 } else { lane % 2 };
            let mut words = Words::new();
            for (&first, &second) in first.iter().zip(&second) {
                words.push(evaluator.pick(choice, &[first, second, if own == 0 { first } else { second }]));
            }
            along.push(words);
        }
        let float = |meaning| Op::new(meaning, Scalar::Float, Scalar::Float);
        match &along[..] {
            [x, y] => {
                let mut sum = Words::new();
                for (&x, &y) in x.iter().zip(y) {
                    let [x, y] = [x, y].map(|word| evaluator.scalar(float(Meaning::Abs), &[word]));
                    sum.push(evaluator.scalar(float(Meaning::Add), &[x, y]));
                }
                sum
            }
            other => other.first().cloned().unwrap_or_default(),
        }
    }
}

/// The differences of both rows (along x) or columns (along y) of a quad, word by word.
fn differences<L: Unspecified>(evaluator: &mut L, operands: [&[L::Word]; 4], axis: usize) -> [Words<L::Word>; 2] {
    let subtract = Op::new(Meaning::Subtract, Scalar::Float, Scalar::Float);
    let pairs = if axis == 0 { [(0, 1), (2, 3)] } else { [(0, 2), (1, 3)] };
    pairs.map(|(from, to): (usize, usize)| {
        operands[from].iter().zip(operands[to]).map(|(&a, &b)| evaluator.scalar(subtract, &[b, a])).collect()
    })
}

//! Definite words: the choices for unspecified values, and the built-in functions that have
//! no instructions.

use super::code::{LibraryCall, Words};
use crate::number::Inexact;
use crate::number::sets::Set;
use crate::wsl::choice::Strategy;
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Evaluator, Op, OpResult, Results, Unspecified, apply, scalar};
use crate::wsl::types::{Scalar, Types};
use smallvec::SmallVec;

/// Makes the choices that the specification leaves open, for one thread.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    pub strategy: Strategy,
    pub thread: u32,
    /// The number of choices so far.
    pub number: u64,
    /// How often it met a value that was undefined from the start. These are no choices of
    /// the thread.
    pub undefined: u64,
    /// Whether an unspecified value was left open.
    pub open: bool,
}

impl Chooser {
    /// A chooser for a thread that has made `number` choices.
    pub(super) fn new(strategy: Strategy, thread: u32, number: u64) -> Chooser {
        Chooser { strategy, thread, number, undefined: 0, open: false }
    }

    /// How many unspecified values it met.
    pub(super) fn unspecified_count(&self) -> u64 {
        self.number + self.undefined
    }

    /// Chooses a number below `options`, which is at least 1. `None` if the strategy
    /// chooses nothing.
    #[cold]
    pub(super) fn below(&mut self, options: u32) -> Option<u32> {
        let chosen = self.strategy.choose(self.thread, self.number, u64::from(options.max(1)))?;
        self.number += 1;
        Some(chosen as u32)
    }

    /// The result of a function of floats. `None` if an unspecified value is left open.
    #[cold]
    pub(super) fn float(&mut self, meaning: Meaning, operands: &[u32]) -> Option<u32> {
        let bits = self.scalar(Op { meaning, of: Scalar::Float, to: Scalar::Float }, operands);
        (!self.open).then_some(bits)
    }

    fn leave_open(&mut self) -> u32 {
        self.open = true;
        0
    }

    /// Chooses the bits of a scalar that may have any value.
    #[cold]
    pub(super) fn any(&mut self, first: u32) -> Option<u32> {
        let chosen = self.strategy.any(self.thread, self.number, first)?;
        self.number += 1;
        Some(chosen)
    }
}

impl Evaluator for Chooser {
    type Word = u32;

    fn bits(&mut self, bits: u32) -> u32 {
        bits
    }

    fn scalar(&mut self, op: Op, operands: &[u32]) -> u32 {
        match scalar(op, operands) {
            OpResult::Exactly(bits) => bits,
            OpResult::OneOf(list) => {
                let chosen = self.below(list.len() as u32).unwrap_or_else(|| self.leave_open());
                list.get(chosen as usize).copied().unwrap_or(0)
            }
            OpResult::Any(first) => self.any(first).unwrap_or_else(|| self.leave_open()),
        }
    }

    fn below(&mut self, index: u32, bound: u32, otherwise: u32) -> u32 {
        if index < bound { index } else { Chooser::below(self, otherwise).unwrap_or_else(|| self.leave_open()) }
    }

    fn pick(&mut self, index: u32, words: &[u32]) -> u32 {
        words.get(index as usize).copied().unwrap_or(0)
    }
}

impl Unspecified for Chooser {
    fn definite(&self, word: u32) -> Option<u32> {
        Some(word)
    }

    fn bounds(&self, word: u32) -> Option<Inexact> {
        Some(Inexact::exact(f64::from(f32::from_bits(word)))).filter(|x| x.value.is_finite())
    }

    fn unspecified(&mut self, values: Option<&[u32]>, of: Scalar, first: u32) -> u32 {
        match self.strategy.one_of(self.thread, self.number, values, of, first) {
            Some(bits) => {
                self.number += 1;
                bits
            }
            None => self.leave_open(),
        }
    }

    fn undefined(&mut self, what: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> u32 {
        self.undefined += 1;
        self.strategy.undefined(what, values, of, first).unwrap_or_else(|| self.leave_open())
    }

    fn within(&mut self, set: Set) -> u32 {
        match set.only() {
            Some(x) => (x as f32).to_bits(),
            None => self.leave_open(),
        }
    }

    fn takes_formula(&self, definite: bool) -> bool {
        definite || self.strategy != Strategy::Carry
    }
}

/// Evaluates a call: its result, and the words that it stores. `None` if it is not a function of
/// values alone.
fn evaluate(types: &Types, call: &LibraryCall, words: &[u32], chooser: &mut Chooser) -> Option<Results<u32>> {
    let range = |w: &Words| w.at as usize..(w.at + w.n) as usize;
    let arguments: SmallVec<[&[u32]; 4]> = call.arguments.iter().map(|a| words.get(range(a)).unwrap_or(&[])).collect();
    apply(chooser, types, call.function, &call.parameters, call.ty, &arguments)
}

/// Whether [`library`] can evaluate the function. It is tried on zeros.
pub(super) fn supported(types: &Types, call: &LibraryCall) -> bool {
    let mut trial = call.clone();
    trial.arguments.iter_mut().for_each(|a| a.at = 0);
    let words = vec![0; trial.arguments.iter().map(|a| a.n as usize).max().unwrap_or(0)];
    let mut chooser = Chooser::new(Strategy::First, 0, 0);
    evaluate(types, &trial, &words, &mut chooser).is_some()
}

/// Evaluates a call, and writes its result and the words that it stores to their slots. `None` if
/// an unspecified value is left open.
pub(super) fn library(types: &Types, call: &LibraryCall, words: &mut [u32], chooser: &mut Chooser) -> Option<()> {
    let results = evaluate(types, call, words, chooser)?;
    if chooser.open {
        return None;
    }
    for (to, from) in [(&call.result, &results.result)].into_iter().chain(call.stored.iter().zip(&results.stored)) {
        words[to.at as usize..(to.at + to.n) as usize].copy_from_slice(from);
    }
    Some(())
}

//! What is known of a function by itself: seed 001 "Function validation", its metadata.

use super::{Done, Lower, Summaries};
use crate::uniformity::flow::{Planted, Solution, analyse};
use crate::uniformity::report::{Exit, Metadata, Parameter};
use crate::wsl::environment::FunctionId;
use crate::wsl::typing::program::Program;
use std::ops::Range;
use std::rc::Rc;

/// What the analysis of a function by itself gives.
#[derive(Clone, Debug)]
pub struct Summary {
    /// About its inputs and outputs.
    pub solution: Solution,
    /// By parameter: its inputs. The first input of a pointer is its address.
    pub inputs: Vec<Range<u32>>,
    /// The number of outputs that are the result; the others are what pointers point to.
    pub result: u32,
    /// Whether an invocation may end in it.
    pub discards: bool,
}

impl Summary {
    /// How it uses a parameter.
    pub fn parameter(&self, at: usize) -> Parameter {
        let inputs = || self.inputs.get(at).cloned().unwrap_or(0..0);
        let outputs = || self.solution.outputs.iter().take(self.result as usize);
        if let Some((need, _)) = inputs().find_map(|i| self.solution.must[i as usize]) {
            Parameter::MustBeUniform(need)
        } else if inputs().any(|i| outputs().flatten().any(|list| list.contains(&i))) {
            Parameter::Conditionally
        } else {
            Parameter::Free
        }
    }

    /// What a caller must know, in the seed's terms.
    pub fn metadata(&self) -> Metadata {
        Metadata {
            control: self.solution.control.first().map(|(need, _)| *need),
            parameters: (0..self.inputs.len()).map(|at| self.parameter(at)).collect(),
            result: self.result > 0 && self.solution.outputs.iter().take(self.result as usize).all(Option::is_some),
            exit: match (&self.solution.returns, self.discards) {
                (_, false) => Exit::AsEntry,
                (Some(inputs), true) => {
                    let has = |range: &Range<u32>| range.clone().any(|i| inputs.contains(&i));
                    Exit::IfUniform((0..).zip(&self.inputs).filter(|(_, range)| has(range)).map(|(at, _)| at).collect())
                }
                (None, true) => Exit::Varies,
            },
        }
    }
}

/// The summary of a function.
pub fn summarize(
    program: &Program,
    function: FunctionId,
    weights: &[u64],
    summaries: &mut Summaries,
    planted: Option<Planted>,
) -> Done<Rc<Summary>> {
    if let Some(summary) = summaries.get(&function) {
        return Ok(summary.clone());
    }
    let mut lower = Lower::new(program, function, weights, summaries, planted);
    let inputs = lower.bind_inputs(function);
    let ty = program.env.function(function).result;
    let result = lower.size(ty);
    lower.body(function)?;
    lower.flow.finish();
    let (flow, findings) = (lower.flow, lower.findings);
    let mut solution = analyse(&flow, planted);
    solution.findings.extend(findings);
    let discards = program.behaviours(function).has(crate::wsl::typing::behaviour::Behaviour::Discard);
    let summary = Rc::new(Summary { solution, inputs, result, discards });
    summaries.insert(function, summary.clone());
    Ok(summary)
}

impl Lower<'_> {
    pub(super) fn summary(&mut self, function: FunctionId) -> Done<Rc<Summary>> {
        crate::text::deep(|| summarize(self.program, function, self.weights, self.summaries, self.planted))
    }
}

//! The summary of a function: its metadata in seed 001 "Function validation".

use super::{Done, Facts, Lower, Summaries, TooLarge};
use crate::uniformity::flow::{Planted, Solution, analyse};
use crate::uniformity::report::{Exit, Metadata, Parameter};
use crate::wsl::environment::FunctionId;
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::Program;
use std::ops::Range;
use std::rc::Rc;

/// The result of the analysis of a function alone.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The solution for its inputs and outputs.
    pub solution: Solution,
    /// By parameter: its range of inputs. The first input of a pointer is its address.
    pub inputs: Vec<Range<u32>>,
    /// The number of outputs that form the result. The other outputs are the targets of pointers.
    pub result: u32,
    /// Whether an invocation may end in it.
    pub discards: bool,
    /// The parameters that point into the thread's memory, each with the number of its outputs.
    pub pointers: Vec<(u32, u32)>,
    /// The types that it may store to variables of its callers, through pointers of unknown target.
    /// If there are any, the last output is what is stored.
    pub outside: Vec<TypeId>,
}

impl Summary {
    /// The requirement of the function on a parameter.
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

    /// The metadata for callers, in the seed's terms.
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
            stores: self.stores(),
        }
    }

    /// By pointer parameter, the parameters that the final value of its target depends on. Leaves
    /// out targets that do not change.
    fn stores(&self) -> Vec<(u32, Option<Vec<u32>>)> {
        let mut outputs = self.solution.outputs.iter().skip(self.result as usize);
        let mut stores = Vec::new();
        for &(pointer, n) in &self.pointers {
            let sources: Vec<_> = outputs.by_ref().take(n as usize).collect();
            // The first input of a pointer is its address.
            let first = self.inputs[pointer as usize].start + 1;
            if (first..).zip(&sources).all(|(input, sources)| sources.as_deref() == Some(&[input])) {
                continue;
            }
            let inputs: Option<Vec<u32>> = sources.into_iter().cloned().collect::<Option<Vec<_>>>().map(|all| all.concat());
            let named = |inputs: Vec<u32>| {
                let has = |range: &Range<u32>| inputs.iter().any(|input| range.contains(input));
                (0..).zip(&self.inputs).filter(|(_, range)| has(range)).map(|(at, _)| at).collect()
            };
            stores.push((pointer, inputs.map(named)));
        }
        stores
    }
}

/// The summary of a function.
pub fn summarize(
    program: &Program,
    function: FunctionId,
    facts: &Facts,
    summaries: &mut Summaries,
    planted: Option<Planted>,
) -> Done<Rc<Summary>> {
    if let Some(summary) = summaries.get(&function) {
        return Ok(summary.clone());
    }
    let mut lower = Lower::new(program, function, facts, summaries, planted);
    let inputs = lower.bind_inputs(function);
    let outside = lower.flow.new_cells(u32::MAX, 1);
    let nothing = lower.flow.constant(0);
    lower.flow.write(outside, nothing);
    lower.unknown_stores.outside = Some(outside);
    let ty = program.env.function(function).result;
    let result = lower.size(ty);
    lower.body(function)?;
    let stored = std::mem::take(&mut lower.unknown_stores.types);
    if !stored.is_empty() {
        lower.flow.outputs.push(outside);
    }
    lower.flow.finish();
    if lower.unknown_stores.too_many() {
        return Err(TooLarge::Pointers);
    }
    let mut pointers = Vec::new();
    for (at, parameter) in (0..).zip(&program.env.function(function).parameters) {
        if let Some((_, n)) = lower.pointee(parameter.ty) {
            pointers.push((at, n));
        }
    }
    let (flow, findings) = (lower.flow, lower.findings);
    let mut solution = analyse(&flow)?;
    solution.findings.extend(findings);
    let discards = program.behaviours(function).has(crate::wsl::typing::behaviour::Behaviour::Discard);
    let summary = Rc::new(Summary { solution, inputs, result, discards, pointers, outside: stored });
    summaries.insert(function, summary.clone());
    Ok(summary)
}

impl Lower<'_> {
    pub(super) fn summary(&mut self, function: FunctionId) -> Done<Rc<Summary>> {
        crate::text::deep(|| summarize(self.program, function, self.facts, self.summaries, self.planted))
    }
}

//! All computations of one invocation, in the order of the SPIR-V relation.

use super::super::case::Settings;
use super::is_decided;
use rustc_hash::FxHashMap;
use smallstep_semantics::number::Lanes;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::module::Interface;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::{Event, Inputs, Module, Outputs, Relation, Rules, step};

/// The most computations of one invocation that are recorded.
const MAX_COMPUTED: usize = 1 << 21;
/// The most decisions that are kept at the start, and at the end, of those since a block was left.
/// Twice this number of dominating decisions is kept.
const MAX_DECISIONS: usize = 16;

/// One computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    /// The result id.
    pub(super) id: u32,
    /// The number of earlier executions of the id's instruction.
    pub(super) occurrence: u32,
    /// The step of the relation.
    pub(super) step: u64,
    /// The block that control came from.
    predecessor: u32,
    /// The index of its first component in the trace's bits.
    first_component: u32,
    /// Whether its value is decided, so that a device can be wrong about it.
    pub(super) decided: bool,
}

/// The computations of one invocation.
pub(super) struct Trace {
    pub(super) computed: Vec<Computed>,
    /// The indices of the decided computations.
    pub(super) decided: Vec<usize>,
    /// For each output location: the id that was last stored there, and the step of the store.
    pub(super) stores: FxHashMap<u32, (u32, u64)>,
    /// The outputs of the invocation.
    pub(super) outputs: Outputs,
    /// By id: the indices of its computations, in order.
    by_id: FxHashMap<u32, Vec<u32>>,
    bits: Vec<u32>,
    by_definition: FxHashMap<u32, Definition>,
    /// The conditional branches in order: step and condition.
    branches: Vec<(u64, u32)>,
    /// By block: the indices of its conditional branches in `branches`.
    by_block: FxHashMap<u32, Vec<u32>>,
    /// By block: its immediate dominator.
    dominators: FxHashMap<u32, u32>,
}

/// The place and the operands of an id's instruction.
struct Definition {
    block: u32,
    is_phi: bool,
    /// For an OpPhi, values and parents alternate.
    operands: Vec<u32>,
}

impl Trace {
    /// Runs the relation and records its computations.
    ///
    /// Errors, as sentences: the run has no observation, or too many computations.
    pub(super) fn record(module: &Module, entry: &str, inputs: &Inputs<'_>, fuel: u64, settings: &Settings) -> Result<Trace, String> {
        let mut trace = Trace {
            computed: Vec::new(),
            decided: Vec::new(),
            stores: FxHashMap::default(),
            outputs: Outputs::default(),
            by_id: FxHashMap::default(),
            bits: Vec::new(),
            by_definition: FxHashMap::default(),
            branches: Vec::new(),
            by_block: FxHashMap::default(),
            dominators: dominators(module, entry),
        };
        let mut predecessor = 0;
        let mut sink = |event: &Event<'_, '_>| trace.event(module, event, settings, &mut predecessor);
        let relation = Relation::new(Rules::standard(), settings.planted.target_arithmetic);
        let outcome = step::run(module, entry, inputs, fuel, &relation, &mut sink).map_err(|e| e.to_string())?;
        let Outcome::Observed(outputs) = outcome else { return Err(format!("the relation ends as {}", outcome.name())) };
        trace.outputs = outputs;
        if trace.computed.len() >= MAX_COMPUTED {
            return Err(format!("the pixel takes {MAX_COMPUTED} computations or more"));
        }
        let decided = trace.computed.iter().enumerate().filter(|(_, c)| c.decided).map(|(i, _)| i);
        trace.decided = decided.collect();
        Ok(trace)
    }

    /// Makes every computation count as decided.
    pub(super) fn decide_all(&mut self) {
        self.computed.iter_mut().for_each(|computed| computed.decided = true);
        self.decided = (0..self.computed.len()).collect();
    }

    fn event(&mut self, module: &Module, event: &Event<'_, '_>, settings: &Settings, predecessor: &mut u32) {
        let operands = event.instruction.operands(module.words());
        match event.instruction.op {
            Op::Branch => *predecessor = event.at.block,
            Op::BranchConditional => {
                *predecessor = event.at.block;
                self.by_block.entry(event.at.block).or_default().push(self.branches.len() as u32);
                self.branches.push((event.step, operands[0]));
            }
            Op::Store => {
                if let Some(Interface::Output(location)) = module.interface(operands[0]) {
                    self.stores.insert(location, (operands[1], event.step));
                }
            }
            _ => {}
        }
        let id = event.instruction.result;
        let Some(Value::Scalars(scalars)) = event.value else { return };
        let lanes: Lanes = scalars.iter().map(|s| s.lane()).collect();
        if self.computed.len() >= MAX_COMPUTED {
            return;
        }
        let is_truth = module.shape(id).scalar == Scalar::Bool;
        let index = self.computed.len() as u32;
        let indices = self.by_id.entry(id).or_default();
        let computed = Computed {
            id,
            occurrence: indices.len() as u32,
            step: event.step,
            predecessor: *predecessor,
            first_component: self.bits.len() as u32,
            decided: lanes.iter().any(|&l| is_decided(l, is_truth, settings.profile)),
        };
        indices.push(index);
        self.bits.extend(lanes.iter().map(|l| l.bits));
        self.computed.push(computed);
        let ids = match event.instruction.op {
            Op::ExtInst => &operands[2..],
            Op::CompositeExtract => &operands[..1],
            _ => operands,
        };
        let definition = || Definition { block: event.at.block, is_phi: event.instruction.is(Op::Phi), operands: ids.to_vec() };
        self.by_definition.entry(id).or_insert_with(definition);
    }

    /// The bits of a computation's components, followed by those of later ones.
    pub(super) fn bits(&self, computed: &Computed) -> &[u32] {
        // Computations are stored without gaps. The caller knows the number of components.
        &self.bits[computed.first_component as usize..]
    }

    /// The last computation of an id before a step.
    pub(super) fn last(&self, id: u32, step: u64) -> Option<usize> {
        let indices = self.by_id.get(&id)?;
        let before = indices.partition_point(|&i| self.computed[i as usize].step < step);
        before.checked_sub(1).map(|at| indices[at] as usize)
    }

    /// The decided computations that are direct operands of a computation.
    pub(super) fn operands(&self, index: usize) -> Vec<usize> {
        let computed = self.computed[index];
        let Some(definition) = self.by_definition.get(&computed.id) else { return Vec::new() };
        let ids: Vec<u32> = match definition.is_phi {
            true => definition.operands.chunks_exact(2).filter(|pair| pair[1] == computed.predecessor).map(|pair| pair[0]).collect(),
            false => definition.operands.clone(),
        };
        self.decided_before(ids.into_iter().map(|id| (id, computed.step)))
    }

    /// The decided conditions that led control to a computation. They are the last condition of
    /// each block that dominates the computation's block, and the conditions of all branches since
    /// the nearest of these. In a loop they are those since the id was computed before. Of very
    /// many, the first and the last ones are kept.
    ///
    /// They matter even if the chosen value looks right. A device that leaves a loop a round late
    /// computes everything after it once, from operands that were each right at their time.
    pub(super) fn decisions(&self, index: usize) -> Vec<usize> {
        let computed = self.computed[index];
        let block = self.by_definition.get(&computed.id).map_or(0, |d| d.block);
        let mut conditions: Vec<(u64, u32)> = Vec::new();
        for block in std::iter::successors(self.dominators.get(&block), |b| self.dominators.get(b)) {
            let Some(indices) = self.by_block.get(block) else { continue };
            let before = indices.partition_point(|&b| self.branches[b as usize].0 < computed.step);
            conditions.extend(before.checked_sub(1).map(|at| self.branches[indices[at] as usize]));
        }
        let previous_step = self.last(computed.id, computed.step).map(|i| self.computed[i].step);
        let since_step = conditions.first().map(|b| b.0).max(previous_step).unwrap_or(0);
        let from = self.branches.partition_point(|b| b.0 < since_step);
        let to = self.branches.partition_point(|b| b.0 < computed.step);
        let since = &self.branches[from..to];
        let first = since.len().min(MAX_DECISIONS);
        let last = since.len().saturating_sub(MAX_DECISIONS).max(first);
        conditions.truncate(2 * MAX_DECISIONS);
        conditions.extend_from_slice(&since[..first]);
        conditions.extend_from_slice(&since[last..]);
        self.decided_before(conditions.into_iter().map(|(step, condition)| (condition, step)))
    }

    /// The decided ones among the last computations of these ids before these steps, in order.
    fn decided_before(&self, ids: impl Iterator<Item = (u32, u64)>) -> Vec<usize> {
        let mut found: Vec<usize> = ids.filter_map(|(id, step)| self.last(id, step)).filter(|&i| self.computed[i].decided).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The immediate dominator of each block in an entry point's function.
fn dominators(module: &Module, entry: &str) -> FxHashMap<u32, u32> {
    let Ok(entry) = module.entry_point(entry) else { return FxHashMap::default() };
    let Some(function) = module.function(entry.function) else { return FxHashMap::default() };
    let (blocks, graph) = (module.function_blocks(function), module.control_flow(function).graph());
    let dominator = |node: u32| blocks.get(graph.immediate_dominator(node) as usize).map(|b| b.label);
    blocks.iter().zip(0..).filter_map(|(block, node)| Some((block.label, dominator(node)?))).collect()
}

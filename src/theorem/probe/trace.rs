//! Everything that one invocation computes, in the order of the SPIR-V relation.

use super::super::case::Settings;
use super::is_decided;
use rustc_hash::FxHashMap;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::module::Interface;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::{Event, Inputs, Module, Outputs, Relation, Rules, step};

/// The most computations of one invocation that are recorded.
const MAX_COMPUTED: usize = 1 << 21;

/// One computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    /// The result id.
    pub(super) id: u32,
    /// Which execution of the id's instruction this is, from 0.
    pub(super) occurrence: u32,
    /// The step of the relation.
    pub(super) step: u64,
    /// The block that control came from.
    from: u32,
    /// The id of the condition that control depended on last, or 0.
    condition: u32,
    /// Where its components begin in the trace's bits.
    first: u32,
    /// Whether a device can be wrong about it.
    pub(super) decided: bool,
}

/// The computations of one invocation.
pub(super) struct Trace {
    pub(super) computed: Vec<Computed>,
    /// The indices of those that are decided.
    pub(super) decided: Vec<usize>,
    /// For each output that is stored: the id last stored there, and the step of that.
    pub(super) stores: FxHashMap<u32, (u32, u64)>,
    /// What the invocation shows.
    pub(super) outputs: Outputs,
    /// By id: its computations, in order.
    by_id: FxHashMap<u32, Vec<u32>>,
    bits: Vec<u32>,
    /// By id: whether it is an OpPhi, and the ids that it is computed from; of an OpPhi, values and parents by turns.
    operands: FxHashMap<u32, (bool, Vec<u32>)>,
}

impl Trace {
    /// Runs the relation.
    ///
    /// Errors, as sentences: the run shows nothing, or computes too much to be recorded.
    pub(super) fn record(module: &Module, entry: &str, inputs: &Inputs<'_>, fuel: u64, settings: &Settings) -> Result<Trace, String> {
        let mut trace = Trace {
            computed: Vec::new(),
            decided: Vec::new(),
            stores: FxHashMap::default(),
            outputs: Outputs::default(),
            by_id: FxHashMap::default(),
            bits: Vec::new(),
            operands: FxHashMap::default(),
        };
        let (mut from, mut condition) = (0, 0);
        let mut sink = |event: &Event<'_, '_>| trace.event(module, event, settings, (&mut from, &mut condition));
        let relation = Relation { rules: Rules::standard(), arithmetic: settings.planted.target_arithmetic };
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

    fn event(&mut self, module: &Module, event: &Event<'_, '_>, settings: &Settings, (from, condition): (&mut u32, &mut u32)) {
        let operands = event.instruction.operands(module.words());
        match event.instruction.op {
            Op::Branch => *from = event.at.block,
            Op::BranchConditional => (*from, *condition) = (event.at.block, operands[0]),
            Op::Store => {
                if let Some(Interface::Output(location)) = module.interface(operands[0]) {
                    self.stores.insert(location, (operands[1], event.step));
                }
            }
            _ => {}
        }
        let id = event.instruction.result;
        let Some(Value::Lanes(lanes)) = event.value else { return };
        if self.computed.len() >= MAX_COMPUTED {
            return;
        }
        let is_truth = module.shape(id).scalar == Scalar::Bool;
        let index = self.computed.len() as u32;
        let places = self.by_id.entry(id).or_default();
        let computed = Computed {
            id,
            occurrence: places.len() as u32,
            step: event.step,
            from: *from,
            condition: *condition,
            first: self.bits.len() as u32,
            decided: lanes.iter().any(|&l| is_decided(l, is_truth, settings.profile)),
        };
        places.push(index);
        self.bits.extend(lanes.iter().map(|l| l.bits));
        self.computed.push(computed);
        let ids = match event.instruction.op {
            Op::ExtInst => &operands[2..],
            Op::CompositeExtract => &operands[..1],
            _ => operands,
        };
        self.operands.entry(id).or_insert_with(|| (event.instruction.is(Op::Phi), ids.to_vec()));
    }

    /// The components of a computation.
    pub(super) fn bits(&self, computed: &Computed) -> &[u32] {
        // Computations follow each other without gaps; the caller knows how many components there are.
        &self.bits[computed.first as usize..]
    }

    /// The last computation of an id before a step.
    pub(super) fn last(&self, id: u32, step: u64) -> Option<usize> {
        let places = self.by_id.get(&id)?;
        let before = places.partition_point(|&i| self.computed[i as usize].step < step);
        before.checked_sub(1).map(|at| places[at] as usize)
    }

    /// The decided computations that one depends on directly: its operands, and the condition that control depended on last.
    pub(super) fn operands(&self, index: usize) -> Vec<usize> {
        let computed = self.computed[index];
        let mut ids: Vec<u32> = match self.operands.get(&computed.id) {
            Some((true, pairs)) => pairs.chunks_exact(2).filter(|pair| pair[1] == computed.from).map(|pair| pair[0]).collect(),
            Some((false, ids)) => ids.clone(),
            None => Vec::new(),
        };
        ids.push(computed.condition);
        let mut found: Vec<usize> =
            ids.into_iter().filter_map(|id| self.last(id, computed.step)).filter(|&i| self.computed[i].decided).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

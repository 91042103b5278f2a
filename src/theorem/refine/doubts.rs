//! Decides whether undefined behaviour of AFTER is certain, from the values that its operands were
//! computed from. It runs the relation again.

use rustc_hash::FxHashMap;
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv::environment::InvocationId;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::value::Scalar;
use smallstep_semantics::spirv::{Event, Instruction, Module};
use smallstep_semantics::undefined::Ub;

/// An id that no instruction has. It stands for the conditions on which control has depended.
const CONTROL: u32 = 0;

/// Whether an instruction only moves components of its operands, which are all in registers.
fn only_moves(op: Op) -> bool {
    matches!(
        op,
        Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::CopyObject
            | Op::CopyLogical
            | Op::Bitcast
            | Op::Phi
            | Op::Select
    )
}

/// What is known about the ids of each invocation during a run.
pub(super) struct Doubts<'m> {
    pub(super) module: &'m Module,
    profile: Profile,
    /// Whether devices may differ in some component of an id.
    differs: FxHashMap<(InvocationId, u32), bool>,
    /// Whether some component of an id is computed from an undefined value, and so may not take
    /// every value.
    computed: FxHashMap<(InvocationId, u32), bool>,
    /// The last instruction of the run, and its invocation.
    pub(super) last: Option<(InvocationId, Instruction)>,
}

impl<'m> Doubts<'m> {
    /// The state before the run. [`Doubts::event`] must then get each step.
    pub(super) fn new(module: &'m Module, profile: Profile) -> Doubts<'m> {
        Doubts { module, profile, differs: FxHashMap::default(), computed: FxHashMap::default(), last: None }
    }

    pub(super) fn event(&mut self, event: &Event<'_, '_>) {
        let (i, invocation) = (event.instruction, event.invocation);
        let operands = i.operands(self.module.words());
        self.last = Some((invocation, *i));
        if let Some(Value::Scalars(scalars)) = event.value {
            let differs = |scalar: &Scalar| scalar.undefined.is_none() && !scalar.trust.is_decided(self.profile);
            self.differs.insert((invocation, i.result), scalars.iter().any(differs));
            let known = |id: &u32| self.computed.get(&(invocation, *id)).copied().unwrap_or(false);
            let computed = scalars.iter().filter_map(|scalar| scalar.undefined).any(|origin| {
                let made_here = self.module.instructions().get(origin.instruction as usize).is_some_and(|made| made.result == i.result);
                !made_here && (!only_moves(i.op) || operands.iter().any(known))
            });
            self.computed.insert((invocation, i.result), computed);
        }
        if matches!(i.op, Op::BranchConditional | Op::Switch) && self.differs.get(&(invocation, operands[0])).copied().unwrap_or(false) {
            self.differs.insert((invocation, CONTROL), true);
        }
    }

    /// Why the undefined behaviour of an invocation at an instruction is not certain. `None` if
    /// it is.
    pub(super) fn why_uncertain(&self, ub: Ub, invocation: InvocationId, instruction: &Instruction) -> Option<String> {
        let operands = instruction.operands(self.module.words());
        let any = |flags: &FxHashMap<(InvocationId, u32), bool>, ids: &[u32]| {
            ids.iter().any(|&id| flags.get(&(invocation, id)).copied().unwrap_or(false))
        };
        if any(&self.differs, operands) || any(&self.differs, &[CONTROL]) {
            return Some(format!("{} depends on a value that devices may differ in", ub.id()));
        }
        // For example, `undef | 1` is never zero.
        let is_computed = ub == Ub::UndefinedOperand && any(&self.computed, operands);
        is_computed.then(|| format!("{} is met with a value computed from an undefined one, which may not take every value", ub.id()))
    }
}

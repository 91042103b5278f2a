//! The small-step relation of SPIR-V: report §3, corrected by LV-1 and LV-2, and extended to the
//! instructions of real modules.
//!
//! The judgement is M, I, c, p → M', I', c', p'. M maps ids to values and block labels to
//! instruction vectors. I is the rest of the block's instruction vector, c the current block and p
//! the previous block. A rule is one function. It returns the next configuration of one invocation
//! and its actions on the state that invocations share ([`Action`]), or `None` if it does not
//! apply. [`Relation::step`] returns every reduct. In a loaded module exactly one rule applies to
//! every configuration until the invocation ends. Tests check this. If no rule applies, the run is
//! stuck and reports it.
//!
//! Rules are pure. They read shared memory through [`Env`]. The grid ([`crate::spirv::grid`])
//! commits their actions; for the one invocation of a λV program, [`run`] does. There is one file
//! for each section of the specification:
//!
//! | module | SPIR-V | |
//! |---|---|---|
//! | [`miscellaneous`] | §3.3.1, §3.3.3 | OpNop, OpUndef, lines |
//! | [`memory`] | §3.3.8 | variables, access chains, loads and stores |
//! | [`function`] | §3.3.9, §3.3.17 | calls and returns |
//! | [`mod@image`] | §3.3.10 | images and samplers |
//! | [`composite`] | §3.3.12 | constructing, taking apart, shuffling |
//! | [`mod@compute`] | §3.3.11, §3.3.13 to §3.3.15, GLSL.std.450 | values from values |
//! | [`control`] | §3.3.17 | branches, phis, the end of invocations |
//! | [`atomic`] | §3.3.18 | atomics |
//! | [`barrier`] | §3.3.20 | barriers; collective rules are the grid's |
//! | [`group`] | §3.3.24 | group instructions, once the grid has who executes them together |
//! | [`derivative`] | §3.3.16 | derivatives, once the grid has those of the quad |
//!
//! Tests plant faults by replacing entries of the table ([`Rules::replace`]), never in the rules.

pub mod atomic;
pub mod barrier;
pub mod composite;
pub mod compute;
pub mod control;
pub mod derivative;
pub mod function;
pub mod group;
pub mod image;
pub mod memory;
pub mod miscellaneous;
pub(in crate::spirv) mod over;
pub mod pointer;
pub(in crate::spirv) mod run;
mod sink;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use rspirv::spirv::BuiltIn;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::concurrency::{AtomicOp, Scope, Semantics};
use crate::number::sets::Sets;
use crate::number::{Arithmetic, Lane, Lanes};
use crate::rule::Rule;
use crate::spirv::error::{LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::memory::{Descriptor, Memory, Pointer, Value};
use crate::spirv::module::{Function, Module, WHOLE};
use crate::spirv::operation;
use crate::spirv::operation::Calculator;
use crate::spirv::shared::{Extent, Shared};
use crate::spirv::subset;
use crate::spirv::value::{Control, Inputs, Scalar, Scalars};
use crate::spirv::words::Instruction;
use crate::undefined::{Ub, Undefined};

pub use composite::{composite_construct, composite_extract};
pub use compute::{compute, ext_inst};
pub(in crate::spirv) use control::phi_group;
pub use control::{branch, branch_conditional_false, branch_conditional_true, phi, unreachable};
pub use derivative::Derivatives;
pub use function::return_;
pub use group::{Mapping, Member, Tangle};
pub(in crate::spirv) use memory::accessed;
pub use memory::{access_chain, access_chain_out_of_bounds, load, store};
pub use miscellaneous::nop;
pub use run::{explore, run};
pub use sink::{Event, Sink};

/// The input of a rule beside the configuration. It does not change while a rule is applied.
#[derive(Clone, Copy)]
pub struct Env<'e> {
    /// The calculator, which computes the results of operations.
    pub calculator: &'e Calculator,
    /// The memory that invocations share.
    pub shared: &'e Shared,
    /// The invocation, by its number in the grid.
    pub invocation: u32,
    /// Its workgroup.
    pub workgroup: u32,
    /// Whether values are judged lanes, as in λV's theorem. A result outside of a function's
    /// domain is then in doubt, not undefined.
    pub judged: bool,
    /// The run over sets, if this is one. Some rules bound a result by facts that only they know
    /// (filtered texels, derivatives, both results of Modf). They give the result its cells.
    pub over: Option<&'e RefCell<Sets>>,
}

/// A loop that an invocation is in, from the header to the merge block: SPIR-V §2.11.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    header: u32,
    merge: u32,
    /// The number of returns to the header.
    count: u64,
    /// The loop around it, within the function.
    outer: Option<Rc<Iteration>>,
}

/// One part of the name of a dynamic instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spirv) struct Part {
    /// The block: the header of a loop, or the caller's block of a call.
    pub(in crate::spirv) block: u32,
    /// In a block, the number of instructions before it plus one. 0 for a loop.
    pub(in crate::spirv) instruction: u32,
    /// For a loop, the number of returns to the header. For a call, `u64::MAX`.
    pub(in crate::spirv) count: u64,
}

/// A call that has not returned.
#[derive(Clone, Debug)]
pub struct Frame<'m> {
    /// The caller's instructions after the call.
    code: &'m [Instruction],
    /// The caller's block.
    c: u32,
    /// The block before the caller's block.
    p: u32,
    /// The id of the call's result.
    result: u32,
    /// The loops that the caller is in.
    loops: Option<Rc<Iteration>>,
    /// The call that the caller is in.
    outer: Option<Rc<Frame<'m>>>,
}

/// M, I, c, p of one invocation, and its calls that have not returned.
#[derive(Clone, Debug)]
pub struct Config<'m> {
    /// The module that runs.
    pub module: &'m Module,
    /// The inputs of the one invocation of a fragment program.
    pub inputs: Inputs<'m>,
    /// M.
    pub memory: Memory<'m>,
    /// I: the rest of the block's instruction vector.
    pub code: &'m [Instruction],
    /// The current block's label.
    pub c: u32,
    /// The previous block's label, or 0.
    pub p: u32,
    /// The calls that have not returned, the innermost first.
    pub calls: Option<Rc<Frame<'m>>>,
    /// The loops of the current function that the invocation is in, the innermost first.
    pub loops: Option<Rc<Iteration>>,
    /// Whether control has depended on values in doubt.
    pub control: Control,
    /// Whether it is a helper invocation. Helpers write nothing.
    pub helper: bool,
}

/// An action of a rule on the state that invocations share.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A plain load.
    Load(Extent),
    /// A plain store.
    Store(Extent, Scalars),
    /// An atomic access.
    Atomic {
        /// The accessed memory.
        extent: Extent,
        /// The kind of access.
        op: AtomicOp,
        /// The memory scope.
        scope: Scope,
        /// The memory semantics.
        semantics: Semantics,
        /// The written value, if the access writes.
        store: Option<Scalar>,
    },
    /// OpMemoryBarrier.
    Fence {
        /// The memory scope.
        scope: Scope,
        /// The memory semantics.
        semantics: Semantics,
    },
}

/// The actions of one rule, in order.
pub type Actions = Vec<Action>;

/// A control barrier at which an invocation has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The index of its instruction.
    pub instruction: u32,
    /// The execution scope.
    pub execution: Scope,
    /// The memory scope.
    pub memory: Scope,
    /// The memory semantics.
    pub semantics: Semantics,
}

/// A value whose derivatives an invocation awaits. It computes them together with the others of
/// its quad.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// The index of the instruction that waits.
    pub instruction: u32,
    /// The id of the value: 32-bit floats, one or a vector.
    pub value: u32,
    /// Computes the next configuration from the derivatives. The current configuration stands
    /// before the instruction.
    pub resume: Resume,
}

/// The next configuration of an invocation, once the derivatives are known.
pub type Resume = for<'e, 'm> fn(&Env<'e>, &Config<'m>, &Derivatives) -> Option<Next<'m>>;

/// A group instruction at which an invocation waits. It executes it together with others of
/// its subgroup.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// The index of the instruction that waits.
    pub instruction: u32,
    /// The ids of the operands that the other invocations need. Unused entries are 0.
    pub operands: [u32; 2],
    /// Computes the next configuration from the tangle. The current configuration stands before
    /// the instruction.
    pub resume: ResumeInTangle,
}

/// The next configuration of an invocation, once the tangle has arrived.
pub type ResumeInTangle = for<'e, 'm> fn(&Env<'e>, &Config<'m>, &Tangle) -> Option<Next<'m>>;

/// The result of a rule.
#[derive(Clone, Debug)]
pub enum Next<'m> {
    /// Another configuration.
    Config(Config<'m>),
    /// Another configuration, with actions on the state that invocations share.
    Acts(Config<'m>, Actions),
    /// Another configuration, once all invocations of the scope have arrived.
    Waits(Config<'m>, Arrived),
    /// The invocation waits until all invocations of the quad have arrived, then goes on with the
    /// derivatives of a value.
    Awaits(Awaited),
    /// The invocation waits until those of its subgroup that execute the same instruction have
    /// arrived, then goes on with their operands.
    Joins(Join),
    /// The invocation ends; M holds the observation.
    Ends(Config<'m>),
    /// The invocation ends and is discarded.
    Discards(Config<'m>),
    /// Undefined behaviour.
    Undefined(Undefined),
}

/// A labelled reduct.
#[derive(Clone, Debug)]
pub struct Reduct<'m> {
    /// The rule that applies.
    pub rule: Rule,
    /// The instruction to which it applies.
    pub at: Place,
    /// The result of the rule.
    pub next: Next<'m>,
}

/// A rule as a function. It returns `None` if the rule does not apply.
pub type RuleFunction = for<'e, 'm> fn(&Env<'e>, &Config<'m>) -> Option<Next<'m>>;

/// The instructions to which a rule may apply.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) enum Ops {
    /// The listed instructions.
    Of(&'static [Op]),
    /// The core instructions of the table of operations.
    Computing,
}

/// A rule of the table.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) struct Row {
    rule: Rule,
    ops: Ops,
    function: RuleFunction,
}

const fn row(rule: Rule, ops: &'static [Op], function: RuleFunction) -> Row {
    Row { rule, ops: Ops::Of(ops), function }
}

/// The table of rules.
struct Table {
    rows: Vec<Row>,
    /// By opcode, the indices of the rows that may apply.
    by_op: FxHashMap<u32, Vec<u16>>,
}

/// The standard rules, section by section.
static STANDARD: LazyLock<Table> = LazyLock::new(|| {
    let sections: [&[Row]; 12] = [
        control::RULES,
        miscellaneous::RULES,
        compute::RULES,
        composite::RULES,
        memory::RULES,
        pointer::RULES,
        function::RULES,
        image::RULES,
        atomic::RULES,
        barrier::RULES,
        derivative::RULES,
        group::RULES,
    ];
    let rows = sections.concat();
    let mut by_op: FxHashMap<u32, Vec<u16>> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        let ops: Vec<Op> = match row.ops {
            Ops::Of(ops) => ops.to_vec(),
            Ops::Computing => compute::ops(),
        };
        ops.iter().for_each(|&op| by_op.entry(op as u32).or_default().push(at as u16));
    }
    Table { rows, by_op }
});

/// The rules of the judgement, as a table that tests may decorate.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The replaced rules with their new functions. They are tried on every instruction.
    replaced: Vec<(Rule, RuleFunction)>,
    /// The collective rules that never apply.
    suspended: Vec<Rule>,
}

impl Rules {
    /// The standard rules.
    pub fn standard() -> Rules {
        Rules { replaced: Vec::new(), suspended: Vec::new() }
    }

    /// The names of all rules in the table.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        STANDARD.rows.iter().map(|row| row.rule)
    }

    /// Whether there is a rule for instructions of this opcode.
    pub fn has(&self, op: Op) -> bool {
        STANDARD.by_op.contains_key(&(op as u32))
    }

    /// Replaces one rule's function. The replacement may call the original function by its name in
    /// this module. Does nothing if the table does not have the rule.
    #[must_use]
    pub fn replace(mut self, rule: Rule, function: RuleFunction) -> Rules {
        self.replaced.retain(|(of, _)| *of != rule);
        if self.rules().any(|of| of == rule) {
            self.replaced.push((rule, function));
        }
        self
    }

    /// Turns off a rule of several invocations: it never applies. Nothing else changes.
    #[must_use]
    pub fn suspend(mut self, rule: Rule) -> Rules {
        self.suspended.push(rule);
        self
    }

    /// Whether a rule of several invocations can apply, that is, it is not suspended.
    pub(in crate::spirv) fn applies(&self, rule: Rule) -> bool {
        !self.suspended.contains(&rule)
    }

    /// The rules that may apply to an instruction, with their functions.
    pub(in crate::spirv) fn about(&self, op: Op) -> impl Iterator<Item = (Rule, RuleFunction)> + '_ {
        let rows = STANDARD.by_op.get(&(op as u32)).map_or(&[][..], Vec::as_slice);
        let standard = rows.iter().map(|&at| &STANDARD.rows[at as usize]).map(|row| (row.rule, row.function));
        standard.filter(|(rule, _)| self.replaced.iter().all(|(of, _)| of != rule)).chain(self.replaced.iter().copied())
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::standard()
    }
}

/// The rules and the calculator that they use.
#[derive(Clone, Default)]
pub struct Relation {
    /// The rules.
    pub rules: Rules,
    /// The calculator, which computes the results of operations.
    pub calculator: Calculator,
    /// The ways that branches on undefined values take. If `None`, such a branch is undefined
    /// behaviour (SPIR-V, OpUndef).
    pub ways: Option<UndefinedWays>,
}

/// The ways that an invocation takes at its branches on undefined values (OpBranchConditional),
/// in order.
#[derive(Clone, Debug, Default)]
pub struct UndefinedWays {
    /// By branch, whether the condition holds. It does at a branch without an entry.
    pub ways: Vec<bool>,
    /// The greatest number of such branches that one invocation has reached.
    pub met: Arc<AtomicU32>,
}

impl UndefinedWays {
    /// If the next instruction branches on an undefined condition, sets the condition to the chosen
    /// way. `before` is the number of such branches that the invocation has passed. Returns the id
    /// of the condition and its undefined value.
    pub(in crate::spirv) fn decide(&self, config: &mut Config<'_>, before: u32) -> over::DecidedCondition {
        let (_, operands) = config.next_of(&[Op::BranchConditional])?;
        let x = operands[0];
        let condition = config.scalar(x).filter(|condition| condition.undefined.is_some())?;
        self.met.fetch_max(before + 1, Ordering::Relaxed);
        let holds = self.ways.get(before as usize).copied().unwrap_or(true);
        let way = Scalar::from(Lane::truth(holds));
        config.memory.define(config.module, x, Value::Scalars(Scalars::from_slice(&[way])));
        Some((x, Scalars::from_slice(&[condition])))
    }
}

impl Relation {
    /// A relation of these rules, with this arithmetic for 32-bit floats and Booleans.
    pub fn new(rules: Rules, arithmetic: Arithmetic) -> Relation {
        Relation { rules, calculator: Calculator { arithmetic, ..Calculator::default() }, ways: None }
    }

    /// All reducts of a configuration.
    pub fn step<'m>(&self, env: &Env<'_>, config: &Config<'m>) -> SmallVec<[Reduct<'m>; 1]> {
        let mut reducts = SmallVec::new();
        let Some(head) = config.head() else { return reducts };
        for (rule, function) in self.rules.about(head.op) {
            if let Some(next) = function(env, config) {
                reducts.push(Reduct { rule, at: config.place(), next });
            }
        }
        reducts
    }
}

impl<'m> Config<'m> {
    /// The initial configuration of the invocation of a fragment program. Constants, variables and
    /// blocks are loaded into M, and the function's first block is next.
    pub fn start(module: &'m Module, entry: &str, inputs: Inputs<'m>) -> Result<Config<'m>, LoadError> {
        subset::lambda_v(module)?;
        let entry = module.entry_point(entry)?;
        let mut config = Config::enter(module, module.entry_block(entry).label, Memory::load(module, 0));
        config.inputs = inputs;
        let coordinates = module.globals().iter().filter(|v| module.built_in(v.id, WHOLE) == Some(BuiltIn::FragCoord));
        let lanes: Scalars = inputs.frag_coord.iter().map(|&x| Scalar::from(Lane::fragment_input(x))).collect();
        coordinates.for_each(|variable| config.memory.store_own(&Pointer::to(module, variable), &lanes));
        Ok(config)
    }

    /// The configuration before a block, with this memory and in no call.
    pub fn enter(module: &'m Module, label: u32, memory: Memory<'m>) -> Config<'m> {
        let code = module.block(label).map_or(&[][..], |block| module.code(block));
        let inputs = Inputs::default();
        Config { module, inputs, memory, code, c: label, p: 0, calls: None, loops: None, control: Control::default(), helper: false }
    }

    /// The next instruction.
    pub fn head(&self) -> Option<&'m Instruction> {
        self.code.first()
    }

    /// The index of the next instruction.
    pub fn index(&self) -> u32 {
        self.module.block(self.c).map_or(0, |block| block.end - self.code.len() as u32)
    }

    /// The current function.
    pub fn function(&self) -> Option<&'m Function> {
        self.module.block(self.c).map(|block| &self.module.functions()[block.function as usize])
    }

    /// The place of the next instruction.
    pub fn place(&self) -> Place {
        let function = self.function().map_or(0, |f| f.id);
        let word = self.head().map_or(self.module.words().len() as u32, |i| i.offset);
        Place { function, block: self.c, word }
    }

    fn operands(&self, instruction: &Instruction) -> &'m [u32] {
        instruction.operands(self.module.words())
    }

    fn next_if(&self, op: Op) -> Option<(&'m Instruction, &'m [u32])> {
        let head = self.head().filter(|i| i.is(op))?;
        Some((head, self.operands(head)))
    }

    /// The next instruction with its operands, if its opcode is one of `ops`.
    fn next_of(&self, ops: &[Op]) -> Option<(&'m Instruction, &'m [u32])> {
        let head = self.head().filter(|i| ops.contains(&i.op))?;
        Some((head, self.operands(head)))
    }

    /// M(id) as scalars.
    pub fn scalars(&self, id: u32) -> Option<Scalars> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Scalars(scalars) => Some(scalars.clone()),
            Value::Pointer(_) | Value::Nowhere(_) | Value::Descriptor(_) => None,
        }
    }

    /// M(id) as a scalar.
    pub fn scalar(&self, id: u32) -> Option<Scalar> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Scalars(scalars) => scalars.first().copied(),
            Value::Pointer(_) | Value::Nowhere(_) | Value::Descriptor(_) => None,
        }
    }

    /// M(id) as components of 32-bit floats or Booleans.
    pub fn lanes(&self, id: u32) -> Option<Lanes> {
        self.scalars(id).map(|scalars| scalars.iter().map(|s| s.lane()).collect())
    }

    /// M(id) as a pointer.
    pub fn pointer(&self, id: u32) -> Option<Pointer> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Pointer(pointer) => Some(*pointer),
            Value::Scalars(_) | Value::Nowhere(_) | Value::Descriptor(_) => None,
        }
    }

    /// M(id) as an image, a sampler or a sampled image.
    pub fn descriptor(&self, id: u32) -> Option<Descriptor> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Descriptor(descriptor) => Some(*descriptor),
            Value::Scalars(_) | Value::Pointer(_) | Value::Nowhere(_) => None,
        }
    }

    /// M[r ↦ value], I, c, p, where I follows the next instruction.
    fn defining(&self, r: u32, value: Value) -> Config<'m> {
        let mut next = self.advanced(1);
        next.define(r, value);
        next
    }

    fn define(&mut self, r: u32, mut value: Value) {
        if let Value::Scalars(scalars) = &mut value {
            self.control.mark_scalars(scalars);
        }
        self.memory.define(self.module, r, value);
    }

    fn advanced(&self, count: usize) -> Config<'m> {
        Config { code: &self.code[count..], ..self.clone() }
    }

    /// M, M(t), t, c.
    fn entering(&self, t: u32) -> Option<Config<'m>> {
        let code = self.memory.block(self.module, t)?;
        Some(Config { code, c: t, p: self.c, loops: self.loops_in(t, code), ..self.clone() })
    }

    /// The loops that contain block `t`, if the invocation enters it from here. `code` is the
    /// block's instruction vector.
    fn loops_in(&self, t: u32, code: &[Instruction]) -> Option<Rc<Iteration>> {
        let mut loops = self.loops.clone();
        let mut current = self.loops.as_ref();
        while let Some(iteration) = current {
            current = iteration.outer.as_ref();
            if iteration.merge == t {
                loops = iteration.outer.clone();
            }
        }
        let header = code.len().checked_sub(2).map(|merge| &code[merge]).filter(|i| i.is(Op::LoopMerge));
        let Some(header) = header else { return loops };
        Some(Rc::new(match loops {
            Some(iteration) if iteration.header == t => Iteration { count: iteration.count + 1, ..iteration.as_ref().clone() },
            outer => Iteration { header: t, merge: self.operands(header)[0], count: 0, outer },
        }))
    }

    /// The dynamic instance of the block's instructions that comes next (SPIR-V §2.2.5, Dynamic
    /// Instance: iterations of loops and chains of call sites distinguish instances). Its parts are
    /// the loops and calls that the invocation is in, the outermost first. Invocations that have
    /// diverged have equal instances again after the merge block.
    pub(in crate::spirv) fn instance(&self) -> SmallVec<[Part; 4]> {
        let mut parts = SmallVec::new();
        let (mut loops, mut calls) = (self.loops.as_ref(), self.calls.as_ref());
        loop {
            while let Some(iteration) = loops {
                parts.push(Part { block: iteration.header, instruction: 0, count: iteration.count });
                loops = iteration.outer.as_ref();
            }
            let Some(frame) = calls else { break };
            parts.push(Part { count: u64::MAX, ..self.at(frame.c, frame.code) });
            (loops, calls) = (frame.loops.as_ref(), frame.outer.as_ref());
        }
        parts.reverse();
        parts
    }

    /// The indices of the calls that the invocation is in, the innermost first.
    pub(in crate::spirv) fn calls(&self) -> Vec<u32> {
        let frames = std::iter::successors(self.calls.as_deref(), |frame| frame.outer.as_deref());
        let call = |frame: &Frame<'_>| Some(self.module.block(frame.c)?.end - frame.code.len() as u32 - 1);
        frames.filter_map(call).collect()
    }

    /// The next instruction, as the last part of a dynamic instance's name.
    pub(in crate::spirv) fn here(&self) -> Part {
        self.at(self.c, self.code)
    }

    /// The part for the place in block `label` before the instructions `code`, which end the block.
    fn at(&self, label: u32, code: &[Instruction]) -> Part {
        let before = self.module.block(label).map_or(0, |block| block.end - block.start - code.len() as u32);
        Part { block: label, instruction: 1 + before, count: 0 }
    }

    /// Undefined behaviour of the next instruction. The grid adds the place and the time.
    fn undefined(&self, ub: Ub, what: String) -> Next<'m> {
        Next::Undefined(Undefined { ub, what, at: self.place().to_string(), site: None })
    }
}

/// The table's operation for an instruction that computes.
fn operation_of(i: &Instruction, operands: &[u32]) -> Option<operation::Operation> {
    if i.is(Op::ExtInst) { operation::glsl(operands[1]) } else { operation::core(i.op) }
}

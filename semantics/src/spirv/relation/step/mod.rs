//! The small-step relation of SPIR-V: report §3, corrected by LV-1 and LV-2, and grown to the
//! instructions of real modules.
//!
//! M, I, c, p → M', I', c', p': M maps ids to values and block labels to instruction vectors, I is
//! the rest of the block's instruction vector, c the current block and p the previous one. A rule
//! is one function that says what the configuration of one invocation becomes and what it does to
//! what invocations share ([`Action`]), or that it does not apply; [`Relation::step`] returns every
//! reduct. Of a loaded module exactly one rule applies to every configuration until the invocation
//! ends, and that is tested, not assumed: where none does the run is stuck and says so.
//!
//! Rules are pure: they read shared memory through [`Env`], and what they do to it is committed by
//! the grid ([`crate::spirv::grid`]), or by [`run`] for the one invocation that λV's programs have.
//! One file for each section of the specification:
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
//! Faults are planted by decorating the table ([`Rules::replace`]), never in the rules.

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
pub use memory::{access_chain, access_chain_out_of_bounds, load, store};
pub use miscellaneous::nop;
pub use run::{explore, run};
pub use sink::{Event, Sink};

/// What a rule is given beside the configuration: nothing of it changes while a rule is applied.
#[derive(Clone, Copy)]
pub struct Env<'e> {
    /// What values are computed with.
    pub calculator: &'e Calculator,
    /// The memory that invocations share.
    pub shared: &'e Shared,
    /// The invocation, by its number in the grid.
    pub invocation: u32,
    /// Its workgroup.
    pub workgroup: u32,
    /// Whether values are judged lanes, as λV's theorem has them: what is outside of a function's
    /// domain is in doubt, not undefined.
    pub judged: bool,
    /// The run over sets that this is, if it is one: rules that bound a result by what only they
    /// see (filtered texels, derivatives, both results of Modf) give it its cells.
    pub over: Option<&'e RefCell<Sets>>,
}

/// A loop that an invocation is in: SPIR-V §2.11.1, from its header to its merge block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    header: u32,
    merge: u32,
    /// How many times it has come back to the header.
    count: u64,
    /// The loop around it, within the function.
    outer: Option<Rc<Iteration>>,
}

/// One part of the name of a dynamic instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spirv) struct Part {
    /// The block: of a loop the header, of a call the caller's.
    pub(in crate::spirv) block: u32,
    /// In a block, one more than the instructions before it; of a loop 0.
    pub(in crate::spirv) instruction: u32,
    /// How many times a loop has come back to its header; the greatest number for a call.
    pub(in crate::spirv) count: u64,
}

/// A call that has not returned.
#[derive(Clone, Debug)]
pub struct Frame<'m> {
    /// The caller's instructions after the call.
    code: &'m [Instruction],
    /// The caller's block.
    c: u32,
    /// The block before it.
    p: u32,
    /// The id of the call's result.
    result: u32,
    /// The loops that the caller is in.
    loops: Option<Rc<Iteration>>,
    /// The call that the caller is in.
    outer: Option<Rc<Frame<'m>>>,
}

/// M, I, c, p of one invocation, and the calls that it is in.
#[derive(Clone, Debug)]
pub struct Config<'m> {
    /// The module that runs.
    pub module: &'m Module,
    /// What the one invocation of a fragment program sees.
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
    /// The loops of the function that it is in, the innermost first.
    pub loops: Option<Rc<Iteration>>,
    /// Whether control has depended on what is in doubt.
    pub control: Control,
    /// Whether it is a helper invocation, which writes nothing.
    pub helper: bool,
}

/// What a rule does to what invocations share.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A plain load.
    Load(Extent),
    /// A plain store.
    Store(Extent, Scalars),
    /// An atomic access.
    Atomic {
        /// To what.
        extent: Extent,
        /// What kind.
        op: AtomicOp,
        /// The memory scope.
        scope: Scope,
        /// The memory semantics.
        semantics: Semantics,
        /// What is written, if anything is.
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

/// A control barrier that an invocation has arrived at.
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

/// A value of which an invocation awaits the derivatives, which it computes with the
/// others of its quad.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// The index of the instruction that waits.
    pub instruction: u32,
    /// The id of the value: 32-bit floats, one or a vector.
    pub value: u32,
    /// What the configuration, which stands before the instruction, becomes by the derivatives.
    pub resume: Resume,
}

/// What a configuration becomes that has awaited derivatives.
pub type Resume = for<'e, 'm> fn(&Env<'e>, &Config<'m>, &Derivatives) -> Option<Next<'m>>;

/// A group instruction that an invocation has come to, which it executes with others of its
/// subgroup.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// The index of the instruction that waits.
    pub instruction: u32,
    /// The ids of the operands that the others need, as many as are not 0.
    pub operands: [u32; 2],
    /// What the configuration, which stands before the instruction, becomes with the others.
    pub resume: Together,
}

/// What a configuration becomes that has waited for others of its subgroup.
pub type Together = for<'e, 'm> fn(&Env<'e>, &Config<'m>, &Tangle) -> Option<Next<'m>>;

/// What a configuration becomes.
#[derive(Clone, Debug)]
pub enum Next<'m> {
    /// Another configuration.
    Config(Config<'m>),
    /// Another configuration, with what is done to what invocations share.
    Acts(Config<'m>, Actions),
    /// Another configuration, once all invocations of the scope have arrived.
    Waits(Config<'m>, Arrived),
    /// What the derivatives of a value make of it, once all invocations of the quad have arrived.
    Awaits(Awaited),
    /// What it makes of the operands of the others of its subgroup that execute the instruction
    /// with it, once these have arrived.
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
    /// The instruction that it applies to.
    pub at: Place,
    /// What the configuration becomes.
    pub next: Next<'m>,
}

/// A rule as a function: what the configuration becomes, or `None` where the rule does not apply.
pub type RuleFunction = for<'e, 'm> fn(&Env<'e>, &Config<'m>) -> Option<Next<'m>>;

/// The instructions that a rule may apply to.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) enum Ops {
    /// These.
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
    /// By opcode, the rows that may apply.
    by_op: FxHashMap<u32, Vec<u16>>,
}

/// The rules as they are, section by section.
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
    /// The replaced ones: they are asked about every instruction.
    replaced: Vec<(Rule, RuleFunction)>,
    /// The collective ones that never apply.
    suspended: Vec<Rule>,
}

impl Rules {
    /// The rules as they are.
    pub fn standard() -> Rules {
        Rules { replaced: Vec::new(), suspended: Vec::new() }
    }

    /// The rules of the table.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        STANDARD.rows.iter().map(|row| row.rule)
    }

    /// Whether there is a rule for instructions of that opcode.
    pub fn has(&self, op: Op) -> bool {
        STANDARD.by_op.contains_key(&(op as u32))
    }

    /// The table with one rule's function replaced; the replacement may call the one it replaces by
    /// its name in this module. A rule that the table does not have is not put in.
    #[must_use]
    pub fn replace(mut self, rule: Rule, function: RuleFunction) -> Rules {
        self.replaced.retain(|(of, _)| *of != rule);
        if self.rules().any(|of| of == rule) {
            self.replaced.push((rule, function));
        }
        self
    }

    /// The table with a rule of several invocations that never applies; nothing else changes.
    #[must_use]
    pub fn suspend(mut self, rule: Rule) -> Rules {
        self.suspended.push(rule);
        self
    }

    /// Whether a rule of several invocations applies at all.
    pub(in crate::spirv) fn applies(&self, rule: Rule) -> bool {
        !self.suspended.contains(&rule)
    }

    /// The rules that may apply to an instruction, with their functions.
    pub(in crate::spirv) fn about(&self, op: Op) -> impl Iterator<Item = (Rule, RuleFunction)> + '_ {
        let rows = STANDARD.by_op.get(&(op as u32)).map_or(&[][..], Vec::as_slice);
        let own = rows.iter().map(|&at| &STANDARD.rows[at as usize]).map(|row| (row.rule, row.function));
        own.filter(|(rule, _)| self.replaced.iter().all(|(of, _)| of != rule)).chain(self.replaced.iter().copied())
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::standard()
    }
}

/// The rules and what they compute with.
#[derive(Clone, Default)]
pub struct Relation {
    /// The rules.
    pub rules: Rules,
    /// What values are computed with.
    pub calculator: Calculator,
    /// Which ways branches on undefined values go. Without it such a branch is undefined behaviour
    /// (SPIR-V, OpUndef).
    pub ways: Option<UndefinedWays>,
}

/// Which ways an invocation goes at its branches on undefined values (OpBranchConditional), one
/// after the other.
#[derive(Clone, Debug, Default)]
pub struct UndefinedWays {
    /// Whether it goes on where the condition holds, by branch; it does at those that are not here.
    pub ways: Vec<bool>,
    /// The most of such branches that one invocation has come to.
    pub met: Arc<AtomicU32>,
}

impl UndefinedWays {
    /// Takes a way for granted where the next instruction branches by an undefined condition, the
    /// one after so many. Gives the condition and what it was.
    pub(in crate::spirv) fn decide(&self, config: &mut Config<'_>, before: u32) -> over::Branched {
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
    /// These rules, with an arithmetic of 32-bit floats and Booleans.
    pub fn new(rules: Rules, arithmetic: Arithmetic) -> Relation {
        Relation { rules, calculator: Calculator { arithmetic, ..Calculator::default() }, ways: None }
    }

    /// Every reduct of a configuration.
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
    /// The configuration that the invocation of a fragment program starts in: constants, variables
    /// and blocks loaded into M, the function's first block next.
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

    /// The configuration before a block, with that memory and in no call.
    pub fn enter(module: &'m Module, label: u32, memory: Memory<'m>) -> Config<'m> {
        let code = module.block(label).map_or(&[][..], |block| module.code(block));
        let inputs = Inputs::default();
        Config { module, inputs, memory, code, c: label, p: 0, calls: None, loops: None, control: Control::default(), helper: false }
    }

    /// The instruction that is next.
    pub fn head(&self) -> Option<&'m Instruction> {
        self.code.first()
    }

    /// The index of the instruction that is next.
    pub fn index(&self) -> u32 {
        self.module.block(self.c).map_or(0, |block| block.end - self.code.len() as u32)
    }

    /// The function that runs.
    pub fn function(&self) -> Option<&'m Function> {
        self.module.block(self.c).map(|block| &self.module.functions()[block.function as usize])
    }

    /// The place of the instruction that is next.
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

    /// The instruction that is next, with its operands, if it is one of these.
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

    /// M[r ↦ value], I, c, p, where I is what follows the next instruction.
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

    /// The loops that the block t is in, coming from where this is.
    fn loops_in(&self, t: u32, code: &[Instruction]) -> Option<Rc<Iteration>> {
        let mut loops = self.loops.clone();
        let mut at = self.loops.as_ref();
        while let Some(iteration) = at {
            at = iteration.outer.as_ref();
            if iteration.merge == t {
                loops = iteration.outer.clone();
            }
        }
        let header = code.len().checked_sub(2).map(|merge| &code[merge]).filter(|i| i.is(Op::LoopMerge));
        let Some(header) = header else { return loops };
        Some(Rc::new(match loops {
            Some(again) if again.header == t => Iteration { count: again.count + 1, ..again.as_ref().clone() },
            outer => Iteration { header: t, merge: self.operands(header)[0], count: 0, outer },
        }))
    }

    /// Which dynamic instance of the block's instructions comes next (SPIR-V §2.2.5, Dynamic
    /// Instance: iterations of loops and chains of call sites tell instances apart): the loops and
    /// calls that it is in, the outermost first. Invocations that parted are at one again after the
    /// merge block.
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

    /// The instruction that is next, as the last part of a dynamic instance's name.
    pub(in crate::spirv) fn here(&self) -> Part {
        self.at(self.c, self.code)
    }

    /// Where so many instructions of a block are left.
    fn at(&self, label: u32, code: &[Instruction]) -> Part {
        let done = self.module.block(label).map_or(0, |block| block.end - block.start - code.len() as u32);
        Part { block: label, instruction: 1 + done, count: 0 }
    }

    /// Undefined behaviour of the next instruction. The grid adds where and when.
    fn undefined(&self, ub: Ub, what: String) -> Next<'m> {
        Next::Undefined(Undefined { ub, what, at: self.place().to_string(), site: None })
    }
}

/// The table's operation for an instruction that computes.
fn operation_of(i: &Instruction, operands: &[u32]) -> Option<operation::Operation> {
    if i.is(Op::ExtInst) { operation::glsl(operands[1]) } else { operation::core(i.op) }
}

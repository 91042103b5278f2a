//! The small-step relation of SPIR-V: report §3, corrected by LV-1 and LV-2.
//!
//! M, I, c, p → M', I', c', p': M maps ids to values and block labels to instruction vectors, I is the rest of the block's instruction
//! vector, c the current block and p the previous one. A rule is one function that says what the configuration becomes, or that it does not
//! apply; [`step`] returns every reduct. Of a loaded module exactly one rule applies to every configuration until the invocation ends, and
//! that is tested, not assumed: where none does the run is stuck and says so.
//!
//! Faults are planted by decorating the table ([`Rules::replace`]), never in the rules.

use std::rc::Rc;

use smallvec::SmallVec;

use super::error::{LoadError, Place};
use super::grammar::Op;
use super::memory::{Memory, Pointer, Value};
use super::module::Module;
use super::operation::{self, Operation};
use super::subset;
use super::value::{self, Control, Inputs, Outputs};
use super::words::Instruction;
use crate::number::{Arithmetic, Lanes, Tuple};
use crate::outcome::{Outcome, Stuck};
use crate::rule::Rule;
use crate::undefined::{Ub, Undefined};

/// M, I, c, p, and what the environment gives.
#[derive(Clone, Debug)]
pub struct Config<'m> {
    /// The module that runs.
    pub module: &'m Module,
    /// What the invocation sees.
    pub inputs: Inputs<'m>,
    /// M.
    pub memory: Memory<'m>,
    /// I: the rest of the block's instruction vector.
    pub code: &'m [Instruction],
    /// The current block's label.
    pub c: u32,
    /// The previous block's label, or 0.
    pub p: u32,
    /// Whether control has depended on what is in doubt.
    pub control: Control,
}

/// What a configuration becomes.
#[derive(Clone, Debug)]
pub enum Next<'m> {
    /// Another configuration.
    Config(Config<'m>),
    /// The invocation ends; M holds the observation.
    Ends(Config<'m>),
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
pub type RuleFunction = for<'m> fn(&Arithmetic, &Config<'m>) -> Option<Next<'m>>;

/// The rules of the judgement, as a table that tests may decorate.
#[derive(Clone, Debug)]
pub struct Rules {
    table: Vec<(Rule, RuleFunction)>,
}

impl Rules {
    /// The rules as they are.
    pub fn standard() -> Rules {
        let table: Vec<(Rule, RuleFunction)> = vec![
            (Rule::SpirvBranch, branch),
            (Rule::SpirvBranchConditionalTrue, branch_conditional_true),
            (Rule::SpirvBranchConditionalFalse, branch_conditional_false),
            (Rule::SpirvPhi, phi),
            (Rule::SpirvNop, nop),
            (Rule::SpirvCompute, compute),
            (Rule::SpirvExtInst, ext_inst),
            (Rule::SpirvCompositeConstruct, composite_construct),
            (Rule::SpirvCompositeExtract, composite_extract),
            (Rule::SpirvAccessChain, access_chain),
            (Rule::SpirvAccessChainOutOfBounds, access_chain_out_of_bounds),
            (Rule::SpirvLoad, load),
            (Rule::SpirvStore, store),
            (Rule::SpirvReturn, return_),
            (Rule::SpirvUnreachable, unreachable),
        ];
        Rules { table }
    }

    /// The rules of the table.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        self.table.iter().map(|&(rule, _)| rule)
    }

    /// The table with one rule's function replaced; the replacement may call the one it replaces by its name in this module.
    #[must_use]
    pub fn replace(mut self, rule: Rule, function: RuleFunction) -> Rules {
        for row in &mut self.table {
            if row.0 == rule {
                row.1 = function;
            }
        }
        self
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::standard()
    }
}

/// The rules and the arithmetic that they compute with.
#[derive(Clone, Default)]
pub struct Relation {
    /// The rules.
    pub rules: Rules,
    /// The arithmetic.
    pub arithmetic: Arithmetic,
}

impl Relation {
    /// Every reduct of a configuration.
    pub fn step<'m>(&self, config: &Config<'m>) -> Vec<Reduct<'m>> {
        let at = config.place();
        let reducts = self
            .rules
            .table
            .iter()
            .filter_map(|&(rule, function)| function(&self.arithmetic, config).map(|next| Reduct { rule, at, next }));
        reducts.collect()
    }
}

/// Every reduct of a configuration by the rules as they are.
pub fn step<'m>(config: &Config<'m>) -> Vec<Reduct<'m>> {
    Relation::default().step(config)
}

impl<'m> Config<'m> {
    /// The configuration that an entry point starts in: constants, variables and blocks loaded into M, the function's first block next.
    pub fn start(module: &'m Module, entry: &str, inputs: Inputs<'m>) -> Result<Config<'m>, LoadError> {
        subset::lambda_v(module)?;
        let block = module.entry_block(module.entry_point(entry)?);
        let memory = Memory::load(module);
        Ok(Config { module, inputs, memory, code: module.code(block), c: block.label, p: 0, control: Control::default() })
    }

    /// The instruction that is next.
    pub fn head(&self) -> Option<&'m Instruction> {
        self.code.first()
    }

    /// The place of the instruction that is next.
    pub fn place(&self) -> Place {
        let function = self.module.block(self.c).map_or(0, |b| self.module.functions()[b.function as usize].id);
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

    /// M(id) as components.
    pub fn lanes(&self, id: u32) -> Option<Lanes> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Lanes(lanes) => Some(lanes.clone()),
            _ => None,
        }
    }

    /// M[r ↦ value], I, c, p, where I is what follows the next instruction.
    fn defining(&self, r: u32, value: Value) -> Config<'m> {
        let mut next = self.advanced(1);
        next.define(r, value);
        next
    }

    fn define(&mut self, r: u32, mut value: Value) {
        if let Value::Lanes(lanes) = &mut value {
            self.control.mark(lanes);
        }
        self.memory.define(self.module, r, value);
    }

    fn advanced(&self, count: usize) -> Config<'m> {
        Config { code: &self.code[count..], ..self.clone() }
    }

    /// M, M(t), t, c.
    fn entering(&self, t: u32) -> Option<Config<'m>> {
        let code = self.memory.block(self.module, t)?;
        Some(Config { code, c: t, p: self.c, ..self.clone() })
    }

    fn pointer(&self, id: u32) -> Option<Pointer> {
        match self.memory.value(self.module, id)?.as_ref() {
            Value::Pointer(pointer) => Some(*pointer),
            _ => None,
        }
    }
}

/// M, (OpBranch t), c, p → M, M(t), t, c                       [spirv/branch, report §3.1, LV-1]
pub fn branch<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::Branch)?;
    config.entering(operands[0]).map(Next::Config)
}

fn branch_conditional<'m>(config: &Config<'m>, taken: bool) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::BranchConditional)?;
    let condition = *config.lanes(operands[0])?.first()?;
    if condition.is_true() != taken {
        return None;
    }
    let mut next = config.entering(operands[if taken { 1 } else { 2 }])?;
    next.control = next.control.after(condition);
    Some(Next::Config(next))
}

/// M(x) = true: M, (OpBranchConditional x t f), c, p → M, M(t), t, c   [spirv/branch-conditional-true, report §3.1]
pub fn branch_conditional_true<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    branch_conditional(config, true)
}

/// M(x) = false: M, (OpBranchConditional x t f), c, p → M, M(f), f, c  [spirv/branch-conditional-false, report §3.1]
pub fn branch_conditional_false<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    branch_conditional(config, false)
}

/// The number of instructions up to the last OpPhi of those that begin a block, lines between them counted.
fn phi_group(code: &[Instruction]) -> usize {
    let group = code.iter().take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine)).count();
    code[..group].iter().rposition(|i| i.is(Op::Phi)).map_or(0, |last| last + 1)
}

/// p = parent_i(r): M, (r = OpPhi τ var_1 parent_1 …, I), c, p → M[r ↦ M(var_i(r)) for all r together], I, c, p
///                                                              [spirv/phi, report §3.1, LV-1, LV-2]
pub fn phi<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Phi)?;
    let group = phi_group(config.code);
    let mut chosen: SmallVec<[(u32, Rc<Value>); 4]> = SmallVec::new();
    for i in config.code[..group].iter().filter(|i| i.is(Op::Phi)) {
        let pair = config.operands(i).chunks_exact(2).find(|pair| pair[1] == config.p)?;
        chosen.push((i.result, config.memory.value(config.module, pair[0])?));
    }
    let mut next = config.advanced(group);
    for (r, value) in chosen {
        next.define(r, value.as_ref().clone());
    }
    Some(Next::Config(next))
}

/// M, (OpNop, I), c, p → M, I, c, p                              [spirv/nop, report §3.3]
pub fn nop<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let ignored = [Op::Nop, Op::SelectionMerge, Op::LoopMerge, Op::Line, Op::NoLine];
    config.head().filter(|i| ignored.contains(&i.op))?;
    Some(Next::Config(config.advanced(1)))
}

fn operation<'m>(arithmetic: &Arithmetic, config: &Config<'m>, operation: Operation, ids: &[u32]) -> Option<Next<'m>> {
    let op = operation.op?;
    let r = config.head()?.result;
    let mut values: SmallVec<[(Lanes, usize); 3]> = SmallVec::new();
    for &id in ids {
        values.push((config.lanes(id)?, config.module.shape(id).columns as usize));
    }
    let tuples: SmallVec<[Tuple<'_>; 3]> = values.iter().map(|(lanes, columns)| Tuple { lanes, columns: *columns }).collect();
    let result = arithmetic.apply(op, &tuples);
    Some(Next::Config(config.defining(r, Value::Lanes(result))))
}

/// M, (r = Op τ a…, I), c, p → M[r ↦ op(M(a)…)], I, c, p         [spirv/compute, report §3.2]
pub fn compute<'m>(arithmetic: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head()?;
    operation(arithmetic, config, operation::core(head.op)?, config.operands(head))
}

/// M, (r = OpExtInst τ set f a…, I), c, p → M[r ↦ f(M(a)…)], I, c, p   [spirv/ext-inst, report §3.2, GLSL.std.450]
pub fn ext_inst<'m>(arithmetic: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::ExtInst)?;
    operation(arithmetic, config, operation::glsl(operands[1])?, &operands[2..])
}

/// M, (r = OpCompositeConstruct τ a…, I), c, p → M[r ↦ (M(a)…)], I, c, p   [spirv/composite-construct, report §6.7]
pub fn composite_construct<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::CompositeConstruct)?;
    let mut lanes = Lanes::new();
    for &id in operands {
        lanes.extend(config.lanes(id)?);
    }
    Some(Next::Config(config.defining(head.result, Value::Lanes(lanes))))
}

/// M, (r = OpCompositeExtract τ a i…, I), c, p → M[r ↦ M(a).i…], I, c, p   [spirv/composite-extract, SPIR-V §3.3.12]
pub fn composite_extract<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::CompositeExtract)?;
    let composite = config.lanes(operands[0])?;
    let shape = config.module.shape(operands[0]);
    let (first, length) = match (&operands[1..], shape.columns) {
        (&[component], 1) => (component as usize, 1),
        (&[column], _) => (column as usize * shape.rows as usize, shape.rows as usize),
        (&[column, component], _) => (column as usize * shape.rows as usize + component as usize, 1),
        _ => return None,
    };
    let lanes = Lanes::from_slice(composite.get(first..first + length)?);
    Some(Next::Config(config.defining(head.result, Value::Lanes(lanes))))
}

/// What an access chain arrives at: a pointer, or the first index that is out of bounds.
fn follow(config: &Config<'_>) -> Option<(u32, Result<Pointer, String>)> {
    let head = config.head().filter(|i| matches!(i.op, Op::AccessChain | Op::InBoundsAccessChain))?;
    let operands = config.operands(head);
    let mut pointer = config.pointer(operands[0])?;
    for &id in &operands[1..] {
        let Value::Integer(index) = *config.memory.value(config.module, id)? else { return None };
        let count = pointer.parts(config.module, &config.inputs)?;
        if index < 0 || index as u64 >= count {
            let what = format!("%{} = {} has index {index} (%{id}) of {count}", head.result, head.name());
            return Some((head.result, Err(what)));
        }
        pointer = pointer.part(config.module, index as u64)?;
    }
    Some((head.result, Ok(pointer)))
}

/// M, (r = OpAccessChain τ b i…, I), c, p → M[r ↦ M(b).M(i)…], I, c, p, each M(i) in bounds   [spirv/access-chain, SPIR-V §3.3.8]
pub fn access_chain<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (r, pointer) = follow(config)?;
    Some(Next::Config(config.defining(r, Value::Pointer(pointer.ok()?))))
}

/// M, (r = OpAccessChain τ b i…, I), c, p is undefined behaviour where some M(i) is out of bounds
///                                                              [spirv/access-chain-out-of-bounds, SPIR-V §3.3.8]
pub fn access_chain_out_of_bounds<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let what = follow(config)?.1.err()?;
    Some(Next::Undefined(Undefined { ub: Ub::AccessOutOfBounds, what, at: config.place().to_string() }))
}

/// M, (r = OpLoad τ a, I), c, p → M[r ↦ M(M(a))], I, c, p        [spirv/load, SPIR-V §3.3.8]
pub fn load<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::Load)?;
    let lanes = config.memory.load_through(&config.pointer(operands[0])?, config.module, &config.inputs)?;
    Some(Next::Config(config.defining(head.result, Value::Lanes(lanes))))
}

/// M, (OpStore a v, I), c, p → M[M(a) ↦ M(v)], I, c, p           [spirv/store, SPIR-V §3.3.8]
pub fn store<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::Store)?;
    let pointer = config.pointer(operands[0])?;
    let mut lanes = config.lanes(operands[1])?;
    config.control.mark(&mut lanes);
    let mut next = config.advanced(1);
    next.memory.store(pointer.variable, lanes);
    Some(Next::Config(next))
}

/// M, (OpReturn), c, p ends the invocation; M holds the observation   [spirv/return, SPIR-V §3.3.17]
pub fn return_<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Return)?;
    Some(Next::Ends(config.clone()))
}

/// M, (OpUnreachable), c, p is undefined behaviour               [spirv/unreachable, SPIR-V §3.3.17]
pub fn unreachable<'m>(_: &Arithmetic, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Unreachable)?;
    let what = "OpUnreachable was reached".to_string();
    Some(Next::Undefined(Undefined { ub: Ub::Unreachable, what, at: config.place().to_string() }))
}

/// One application of a rule, as a sink sees it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a, 'm> {
    /// The rule.
    pub rule: Rule,
    /// How many rules were applied before.
    pub step: u64,
    /// The instruction's place.
    pub at: Place,
    /// The instruction; for OpPhi, one event for each of the group, all of one step.
    pub instruction: &'m Instruction,
    /// The value that the instruction's result now has; none where the rule ends the run in undefined behaviour.
    pub value: Option<&'a Value>,
}

/// Sees every application of a rule.
pub trait Sink {
    /// One application.
    fn event(&mut self, event: &Event<'_, '_>);

    /// Whether events are wanted at all.
    fn wants_events(&self) -> bool {
        true
    }
}

/// Sees nothing.
impl Sink for () {
    fn event(&mut self, _: &Event<'_, '_>) {}

    fn wants_events(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Event<'_, '_>)> Sink for F {
    fn event(&mut self, event: &Event<'_, '_>) {
        self(event);
    }
}

/// Runs an entry point for one invocation by the relation, for at most `fuel` rule applications.
///
/// The only error is an entry point that is not there. Buffers that are missing or too short are `Outcome::Unsupported`.
pub fn run(
    module: &Module,
    entry: &str,
    inputs: &Inputs<'_>,
    fuel: u64,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<Outputs>, LoadError> {
    let mut config = Config::start(module, entry, *inputs)?;
    if let Some(what) = value::missing_resource(module, inputs) {
        return Ok(Outcome::Unsupported(what));
    }
    for steps in 0..fuel {
        let mut reducts = relation.step(&config);
        let Some(Reduct { rule, at, next }) = reducts.pop() else {
            let head = config.head().map_or("the end of the block".to_string(), |i| i.name());
            let why = format!("no rule applies to {head}");
            return Ok(Outcome::Stuck(Stuck { why, at: format!("{at}, step {steps}", at = config.place()) }));
        };
        if !reducts.is_empty() {
            let why = format!("{rule} and {} both apply", reducts[0].rule);
            return Ok(Outcome::Stuck(Stuck { why, at: format!("{at}, step {steps}") }));
        }
        let after = match next {
            Next::Config(next) => next,
            Next::Ends(last) => {
                emit(sink, rule, steps, &config, &last);
                return Ok(Outcome::Observed(last.memory.outputs(module, last.control, steps + 1)));
            }
            Next::Undefined(mut undefined) => {
                if let (true, Some(instruction)) = (sink.wants_events(), config.head()) {
                    sink.event(&Event { rule, step: steps, at, instruction, value: None });
                }
                undefined.at = format!("{}, step {steps}", undefined.at);
                return Ok(Outcome::Undefined(undefined));
            }
        };
        emit(sink, rule, steps, &config, &after);
        config = after;
    }
    Ok(Outcome::OutOfFuel)
}

fn emit<'m>(sink: &mut dyn Sink, rule: Rule, step: u64, before: &Config<'m>, after: &Config<'m>) {
    if !sink.wants_events() {
        return;
    }
    let count = if rule == Rule::SpirvPhi { phi_group(before.code) } else { 1 };
    for instruction in before.code.iter().take(count) {
        if rule == Rule::SpirvPhi && !instruction.is(Op::Phi) {
            continue;
        }
        let value = if instruction.result == 0 { None } else { after.memory.value(after.module, instruction.result) };
        let at = Place { word: instruction.offset, ..before.place() };
        sink.event(&Event { rule, step, at, instruction, value: value.as_deref() });
    }
}

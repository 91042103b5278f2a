//! Finds the subexpression to blame. It checks the claim of the induction in report §7, for each
//! subterm (LV-27).
//!
//! The claim: whenever the target computes the result id of a subexpression e, M(id) is
//! eval_λ(e[M(id_k)/id_k]), where the id_k are the translated rec-func parameters in e. The first
//! computation for which it fails is to blame, since all of its operands were right.

use super::case::{Case, Settings, target_fuel};
use super::value_text;
use crate::compile::lambda_v::{Translated, Witness};
use rustc_hash::FxHashMap;
use smallstep_semantics::lambda_v::step::{Reduction, Strategy, ValueId};
use smallstep_semantics::lambda_v::syntax::Span;
use smallstep_semantics::lambda_v::terms::{TermId, Terms};
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::number::Lane;
use smallstep_semantics::outcome::{Limit, Outcome};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv;

/// The first subexpression whose value differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The text of the subexpression. Rec-func parameters appear as their ids.
    pub expression: String,
    /// Its place in the source.
    pub span: Span,
    /// Its result id.
    pub id: u32,
    /// The translation rule that made the id.
    pub rule: Rule,
    /// The instruction that computes it.
    pub instruction: String,
    /// The step of the target that computed it.
    pub step: u64,
    /// The number of earlier executions of the instruction. In a loop, the index of the round.
    pub occurrence: u64,
    /// The number of dispatches for intermediate values on a device. 0 if no device is judged.
    pub dispatches: u32,
    /// The right value, in decimal and bits.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

impl std::fmt::Display for Blame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Blame { expression, id, rule, instruction, step, occurrence, dispatches, expected, found, .. } = self;
        write!(f, "{expression}: expected {expected}, found {found} in %{id} ({instruction}, by {rule}, at step {step}")?;
        if *occurrence > 0 {
            write!(f, ", execution {} of it", occurrence + 1)?;
        }
        if *dispatches > 0 {
            write!(f, "; {dispatches} dispatches")?;
        }
        f.write_str(")")
    }
}

/// One computation of a witnessed id.
struct Computed<'a> {
    witness: &'a Witness,
    instruction: String,
    step: u64,
    occurrence: u64,
    found: Value,
    /// The values of the ids that stand for rec-func parameters in its term.
    bindings: FxHashMap<u32, Value>,
}

/// The most computations that are checked.
const MAX_COMPUTED: usize = 4096;
/// The most steps of λV for the value of one subexpression.
const FUEL: u64 = 20_000;

/// The first subexpression whose value in the SPIR-V relation, on this pixel, differs from its
/// value in λV.
pub fn in_semantics(case: &Case, pixel: (u32, u32), settings: &Settings) -> Option<Blame> {
    let module = case.witnessed(settings).ok()?;
    let mut by_id: FxHashMap<u32, &Witness> = FxHashMap::default();
    for witness in &module.witness {
        // If several subexpressions share an id, the outermost is listed last. The innermost is the
        // most precise.
        if module.terms.frames(witness.term) == 0 {
            by_id.entry(witness.id).or_insert(witness);
        }
    }
    let shapes: FxHashMap<u32, _> = module.witness.iter().map(|w| (w.id, w.ty)).collect();

    let mut current: FxHashMap<u32, Value> = FxHashMap::default();
    let mut executed: FxHashMap<u32, u64> = FxHashMap::default();
    let mut computed: Vec<Computed<'_>> = Vec::new();
    let mut sink = |event: &spirv::Event<'_, '_>| {
        let id = event.instruction.result;
        let (Some(spirv::memory::Value::Scalars(scalars)), Some(&ty)) = (event.value, shapes.get(&id)) else { return };
        let value = Value { ty, lanes: scalars.iter().map(|s| s.lane()).collect() };
        let executed = executed.entry(id).or_default();
        let occurrence = *executed;
        *executed += 1;
        current.insert(id, value.clone());
        if let Some(witness) = by_id.get(&id)
            && computed.len() < MAX_COMPUTED
        {
            let bindings = current_values(&module.terms, witness.term, &current);
            let instruction = instruction_text(case.module(), event.instruction);
            computed.push(Computed { witness, instruction, step: event.step, occurrence, found: value, bindings });
        }
    };
    let setting = case.setting(pixel, settings);
    let buffers = case.buffers();
    let inputs = spirv::Inputs { frag_coord: setting.frag_coord.map(Lane::float), buffers: &buffers };
    let relation = spirv::Relation::new(spirv::Rules::standard(), settings.planted.target_arithmetic);
    let fuel = target_fuel(FUEL, module.instructions);
    spirv::step::run(case.module(), module.entry, &inputs, fuel, &relation, &mut sink).ok()?;

    computed.iter().find_map(|c| {
        let mut reduction = Reduction::new(&case.program, setting);
        let term = import(&mut reduction, &module.terms, c.witness.term, &c.bindings).ok()?;
        let Outcome::Observed(expected) = reduction.run(term, Strategy::First, FUEL, &mut |_, _, _| {}) else { return None };
        (!expected.same_bits(&c.found)).then(|| {
            let symbols = &case.program.symbols;
            Blame {
                expression: module.expression(c.witness.term, symbols, 200),
                span: module.terms.span(c.witness.term),
                id: c.witness.id,
                rule: c.witness.rule,
                instruction: c.instruction.clone(),
                step: c.step,
                occurrence: c.occurrence,
                dispatches: 0,
                expected: value_text(&expected),
                found: value_text(&c.found),
            }
        })
    })
}

/// The name of an instruction. An extended instruction has the name of its function too.
pub(super) fn instruction_text(module: &spirv::Module, instruction: &spirv::Instruction) -> String {
    let name = instruction.name();
    let number = instruction.operands(module.words()).get(1).filter(|_| instruction.is(spirv::grammar::Op::ExtInst));
    match number.and_then(|&n| spirv::grammar::set("GLSL.std.450")?.by_number(n)) {
        Some(function) => format!("{name} {}", function.opname),
        None => name,
    }
}

/// The current values of the translated ids in a term.
fn current_values(terms: &Terms<Translated>, e: TermId, current: &FxHashMap<u32, Value>) -> FxHashMap<u32, Value> {
    let mut bindings = FxHashMap::default();
    let mut scratch: Terms<ValueId> = Terms::new(1 << 20);
    // The copy is discarded. Only the traversal matters.
    let _ = scratch.import(terms, e, &mut |scratch, x, span| {
        if let Translated::Value { id, .. } = x
            && let Some(value) = current.get(&id)
        {
            bindings.insert(id, value.clone());
        }
        scratch.add(smallstep_semantics::lambda_v::terms::Node::Bool(false), span)
    });
    bindings
}

/// A term with translated ids replaced by their values.
fn import(reduction: &mut Reduction, from: &Terms<Translated>, e: TermId, bindings: &FxHashMap<u32, Value>) -> Result<TermId, Limit> {
    let mut values: FxHashMap<u32, TermId> = FxHashMap::default();
    for (&id, value) in bindings {
        values.insert(id, reduction.add_value(value.clone(), from.span(e))?);
    }
    reduction.terms.import(from, e, &mut |_, x, _| match x {
        Translated::Value { id, .. } => {
            values.get(&id).copied().ok_or(Limit { what: "computations looked at", bound: MAX_COMPUTED as u64 })
        }
        Translated::Rec(_) => Err(Limit { what: "open recursive frames in a subexpression", bound: 0 }),
    })
}

//! Mistakes in the SPIR-V relation.

use super::{Bug, Check};
use crate::theorem::case::Planted;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::step::{self, Env, RuleFunction};
use smallstep_semantics::spirv::value::Scalars;
use smallstep_semantics::spirv::{Config, Next, Rules};

fn replacing(rule: Rule, function: RuleFunction) -> Planted {
    Planted { relation: Some(Rules::standard().replace(rule, function)), ..Planted::default() }
}

/// The result of a rule with a changed configuration.
pub(in crate::theorem) fn after<'m>(next: Option<Next<'m>>, change: impl FnOnce(&mut Config<'m>)) -> Option<Next<'m>> {
    match next {
        Some(Next::Config(mut config)) => {
            change(&mut config);
            Some(Next::Config(config))
        }
        Some(Next::Acts(mut config, actions)) => {
            change(&mut config);
            Some(Next::Acts(config, actions))
        }
        other => other,
    }
}

/// The result of a rule with a changed value of the result id.
pub(in crate::theorem) fn redefined<'m>(
    before: &Config<'m>,
    next: Option<Next<'m>>,
    change: impl FnOnce(&mut Scalars),
) -> Option<Next<'m>> {
    let result = before.head()?.result;
    after(next, |config| {
        if let Some(mut scalars) = config.scalars(result) {
            change(&mut scalars);
            config.memory.define(config.module, result, Value::Scalars(scalars));
        }
    })
}

fn branch_keeps_previous<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    after(step::branch(a, config), |next| next.p = config.p)
}

/// A conditional branch goes to the label at operand `position`, if the condition is `taken`.
fn conditional<'m>(config: &Config<'m>, taken: bool, position: usize) -> Option<Next<'m>> {
    let head = config.head().filter(|i| i.is(Op::BranchConditional))?;
    let operands = head.operands(config.module.words());
    if config.lanes(operands[0])?.first()?.is_true() != taken {
        return None;
    }
    let t = operands[position];
    let code = config.memory.block(config.module, t)?;
    Some(Next::Config(Config { code, c: t, p: config.c, ..config.clone() }))
}

fn true_goes_to_false<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    conditional(config, true, 2)
}

fn false_goes_to_true<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    conditional(config, false, 1)
}

/// OpPhi one after the other: each reads what the earlier ones have written.
pub(in crate::theorem) fn phi_in_sequence<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.head().filter(|i| i.is(Op::Phi))?;
    let group = config.code.iter().take_while(|i| i.is(Op::Phi)).count();
    let mut next = Config { code: &config.code[group..], ..config.clone() };
    for i in &config.code[..group] {
        let pair = i.operands(config.module.words()).chunks_exact(2).find(|pair| pair[1] == config.p)?;
        let value = next.memory.value(config.module, pair[0])?;
        next.memory.define(config.module, i.result, value.as_ref().clone());
    }
    Some(Next::Config(next))
}

pub(in crate::theorem) fn phi_first_operand<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.head().filter(|i| i.is(Op::Phi))?;
    let group = config.code.iter().take_while(|i| i.is(Op::Phi)).count();
    let mut next = Config { code: &config.code[group..], ..config.clone() };
    for i in &config.code[..group] {
        let first = i.operands(config.module.words())[0];
        // If the first operand's block has not run, its value does not exist. Then the right
        // operand is taken.
        let chosen = match config.memory.value(config.module, first) {
            Some(value) => value,
            None => {
                let pair = i.operands(config.module.words()).chunks_exact(2).find(|pair| pair[1] == config.p)?;
                config.memory.value(config.module, pair[0])?
            }
        };
        next.memory.define(config.module, i.result, chosen.as_ref().clone());
    }
    Some(Next::Config(next))
}

fn nop_not_loop_merge<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    if config.head()?.is(Op::LoopMerge) { None } else { step::nop(a, config) }
}

fn compute_subtracts_reversed<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let is_difference = config.head()?.is(Op::FSub);
    redefined(config, step::compute(a, config), |lanes| {
        if is_difference {
            for lane in lanes.iter_mut().filter(|lane| lane.lane().float() != 0.0) {
                lane.bits ^= 0x8000_0000;
            }
        }
    })
}

fn ext_inst_loses_last<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    redefined(config, step::ext_inst(a, config), |lanes| {
        if let [first, .., last] = lanes.as_mut_slice() {
            *last = *first;
        }
    })
}

pub(in crate::theorem) fn construct_rotated<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    redefined(config, step::composite_construct(a, config), |lanes| lanes.rotate_left(1))
}

pub(in crate::theorem) fn extract_first<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head().filter(|i| i.is(Op::CompositeExtract))?;
    let composite = config.scalars(head.operands(config.module.words())[0])?;
    redefined(config, step::composite_extract(a, config), |lanes| {
        let length = lanes.len();
        *lanes = Scalars::from_slice(&composite[..length]);
    })
}

fn extract_row<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head().filter(|i| i.is(Op::CompositeExtract))?;
    let operands = head.operands(config.module.words());
    let matrix = config.scalars(operands[0])?;
    let (columns, row) = (config.module.shape(operands[0]).columns as usize, operands[1] as usize);
    redefined(config, step::composite_extract(a, config), |lanes| {
        if columns > 1 && lanes.len() == columns {
            *lanes = matrix.iter().skip(row).step_by(columns).copied().collect();
        }
    })
}

fn access_one_less<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let result = config.head()?.result;
    after(step::access_chain(a, config), |next| {
        if let Some(Value::Pointer(mut pointer)) = next.memory.value(next.module, result).map(|v| v.as_ref().clone()) {
            // The pointer stays in bounds, so the first element is read twice.
            pointer.address.offset = pointer.address.offset.saturating_sub(4);
            next.memory.define(next.module, result, Value::Pointer(pointer));
        }
    })
}

/// An index out of bounds has no rule.
fn access_stuck<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

fn load_swaps_coordinates<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    redefined(config, step::load(a, config), |lanes| {
        if lanes.len() == 4 {
            lanes.swap(0, 1);
        }
    })
}

fn store_first_component<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head().filter(|i| i.is(Op::Store))?;
    let operands = head.operands(config.module.words());
    let (pointer, value) = (config.pointer(operands[0])?, config.scalars(operands[1])?);
    after(step::store(a, config), |next| {
        let spread: Scalars = value.iter().map(|_| value[0]).collect();
        next.memory.store_own(&pointer, &spread);
    })
}

/// The invocation ends with the memory that it began with.
fn return_loses_outputs<'m>(a: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::return_(a, config)? {
        Next::Ends(last) => {
            let started = Config::start(last.module, &last.module.entry_points().first()?.name, last.inputs).ok()?;
            Some(Next::Ends(Config { memory: started.memory, ..last }))
        }
        other => Some(other),
    }
}

fn unreachable_ends<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.head().filter(|i| i.is(Op::Unreachable))?;
    Some(Next::Ends(config.clone()))
}

pub(super) fn bugs() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::SpirvBranch,
            "branch-previous",
            "OpBranch does not note the block that it leaves (LV-1)",
            replacing(Rule::SpirvBranch, branch_keeps_previous),
        ),
        Bug::of(
            Rule::SpirvBranchConditionalTrue,
            "branch-true-false",
            "a true condition goes to the false label",
            replacing(Rule::SpirvBranchConditionalTrue, true_goes_to_false),
        ),
        Bug::of(
            Rule::SpirvBranchConditionalFalse,
            "branch-false-true",
            "a false condition goes to the true label",
            replacing(Rule::SpirvBranchConditionalFalse, false_goes_to_true),
        ),
        Bug::of(
            Rule::SpirvPhi,
            "phi-first-operand",
            "OpPhi takes its first operand, whichever block it comes from",
            replacing(Rule::SpirvPhi, phi_first_operand),
        ),
        Bug::of(
            Rule::SpirvPhi,
            "phi-in-sequence",
            "the phis of a block read and write one after the other (LV-2)",
            replacing(Rule::SpirvPhi, phi_in_sequence),
        )
        .caught_by(Check::KnownModules),
        Bug::of(Rule::SpirvNop, "nop-not-loop-merge", "OpLoopMerge has no rule", replacing(Rule::SpirvNop, nop_not_loop_merge)),
        Bug::of(
            Rule::SpirvCompute,
            "compute-difference-reversed",
            "OpFSub takes its operands in reverse order",
            replacing(Rule::SpirvCompute, compute_subtracts_reversed),
        ),
        Bug::of(
            Rule::SpirvExtInst,
            "ext-inst-last",
            "the last component of an extended instruction is its first",
            replacing(Rule::SpirvExtInst, ext_inst_loses_last),
        ),
        Bug::of(
            Rule::SpirvCompositeConstruct,
            "construct-rotated",
            "OpCompositeConstruct shifts its components by one",
            replacing(Rule::SpirvCompositeConstruct, construct_rotated),
        ),
        Bug::of(
            Rule::SpirvCompositeExtract,
            "extract-first",
            "OpCompositeExtract takes the first part, whatever the index",
            replacing(Rule::SpirvCompositeExtract, extract_first),
        ),
        Bug::of(
            Rule::SpirvCompositeExtract,
            "extract-row",
            "OpCompositeExtract of a column takes the row",
            replacing(Rule::SpirvCompositeExtract, extract_row),
        ),
        Bug::of(
            Rule::SpirvAccessChain,
            "access-off-by-one",
            "OpAccessChain arrives one element too early",
            replacing(Rule::SpirvAccessChain, access_one_less),
        ),
        Bug::of(
            Rule::SpirvAccessChainOutOfBounds,
            "access-no-bounds",
            "an index out of bounds has no rule",
            replacing(Rule::SpirvAccessChainOutOfBounds, access_stuck),
        )
        .caught_by(Check::KnownModules),
        Bug::of(
            Rule::SpirvLoad,
            "load-coordinates-swapped",
            "the fragment's coordinate is (y, x, z, w)",
            replacing(Rule::SpirvLoad, load_swaps_coordinates),
        ),
        Bug::of(
            Rule::SpirvStore,
            "store-first-component",
            "OpStore writes the first component to all",
            replacing(Rule::SpirvStore, store_first_component),
        ),
        Bug::of(
            Rule::SpirvReturn,
            "return-loses-outputs",
            "OpReturn ends with the outputs as they began",
            replacing(Rule::SpirvReturn, return_loses_outputs),
        ),
        Bug::of(
            Rule::SpirvUnreachable,
            "unreachable-ends",
            "OpUnreachable ends the invocation",
            replacing(Rule::SpirvUnreachable, unreachable_ends),
        )
        .caught_by(Check::KnownModules),
    ]
}

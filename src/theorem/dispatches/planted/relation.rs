//! Mistakes in the rules of the relation.

use smallstep_semantics::concurrency::Semantics;
use smallstep_semantics::number::Trust;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::{Pointer, Value};
use smallstep_semantics::spirv::step::{self, Action, Env, RuleFunction};
use smallstep_semantics::spirv::value::{Scalar, Scalars};
use smallstep_semantics::spirv::{Config, Next};

use super::{Bug, Check, Plant};
use crate::generate::spirv::Defect;
use crate::theorem::planted::relation::{after, construct_rotated, extract_first, phi_first_operand, phi_in_sequence, redefined};

fn bug(name: &'static str, check: Check, rule: Rule, function: RuleFunction) -> Bug {
    Bug { name, check, plant: Plant::Rule(rule, function) }
}

const ZERO: Scalar = Scalar { bits: 0, trust: Trust::CERTAIN, undefined: None };

fn operands<'m>(config: &Config<'m>) -> Option<&'m [u32]> {
    Some(config.head()?.operands(config.module.words()))
}

fn entering<'m>(config: &Config<'m>, t: u32) -> Option<Next<'m>> {
    let code = config.memory.block(config.module, t)?;
    Some(Next::Config(Config { code, c: t, p: config.c, ..config.clone() }))
}

fn skipping<'m>(config: &Config<'m>) -> Config<'m> {
    Config { code: &config.code[1..], ..config.clone() }
}

/// The instruction defines these scalars, whatever its rule says.
fn giving<'m>(config: &Config<'m>, scalars: Scalars) -> Option<Next<'m>> {
    let mut next = skipping(config);
    next.memory.define(config.module, config.head()?.result, Value::Scalars(scalars));
    Some(Next::Config(next))
}

fn case_is_default<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::control::switch_case(env, config)?;
    entering(config, operands(config)?[1])
}

/// The modules for this mistake have literals of one word.
fn default_is_case<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::control::switch_default(env, config)?;
    let operands = operands(config)?;
    entering(config, *operands.get(3).unwrap_or(&operands[1]))
}

fn undefined_is_true<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::control::branch_conditional_undefined(env, config)?;
    entering(config, operands(config)?[1])
}

fn undefined_is_default<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::control::switch_undefined(env, config)?;
    entering(config, operands(config)?[1])
}

fn unreachable_ends<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.head().filter(|i| i.is(Op::Unreachable))?;
    Some(Next::Ends(config.clone()))
}

fn store_forgets<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::store(env, config)? {
        Next::Config(_) => Some(Next::Config(skipping(config))),
        other => Some(other),
    }
}

fn store_reverses<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let next = step::store(env, config)?;
    let (to, from) = (operands(config)?[0], operands(config)?[1]);
    let (pointer, mut scalars) = (config.pointer(to)?, config.scalars(from)?);
    scalars.reverse();
    match next {
        Next::Config(mut next) => {
            next.memory.store_own(&pointer, &scalars);
            Some(Next::Config(next))
        }
        Next::Acts(next, mut actions) => {
            for action in &mut actions {
                if let Action::Store(_, stored) = action {
                    stored.reverse();
                }
            }
            Some(Next::Acts(next, actions))
        }
        other => Some(other),
    }
}

fn load_gives_zeros<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let is_undefined = |scalar: &&mut Scalar| scalar.undefined.is_some();
    redefined(config, step::load(env, config), |scalars| scalars.iter_mut().filter(is_undefined).for_each(|scalar| *scalar = ZERO))
}

fn undef_is_zero<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    redefined(config, step::miscellaneous::undef(env, config), |scalars| scalars.fill(ZERO))
}

fn variable_keeps<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head().filter(|i| i.is(Op::Variable))?;
    let pointer = Pointer::to(config.module, config.module.variable(head.result)?);
    let mut next = skipping(config);
    next.memory.define(config.module, head.result, Value::Pointer(pointer));
    Some(Next::Config(next))
}

fn chain_without_bounds<'m>(_: &Env<'_>, _: &Config<'m>) -> Option<Next<'m>> {
    None
}

/// An access chain out of bounds gives its base pointer.
fn chain_stays<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::access_chain_out_of_bounds(env, config)?;
    let pointer = config.pointer(operands(config)?[0])?;
    let mut next = skipping(config);
    next.memory.define(config.module, config.head()?.result, Value::Pointer(pointer));
    Some(Next::Config(next))
}

fn barrier_is_passed<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::barrier::control_barrier(env, config)? {
        Next::Waits(next, _) => Some(Next::Config(next)),
        other => Some(other),
    }
}

fn barrier_orders<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::barrier::control_barrier(env, config)? {
        // These are AcquireRelease and WorkgroupMemory.
        Next::Waits(next, arrived) => {
            let semantics = Semantics::decode(0x108).ok()?;
            Some(Next::Waits(next, step::Arrived { semantics, ..arrived }))
        }
        other => Some(other),
    }
}

fn barrier_orders_nothing<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::barrier::control_barrier(env, config)? {
        Next::Waits(next, arrived) => Some(Next::Waits(next, step::Arrived { semantics: Semantics::default(), ..arrived })),
        other => Some(other),
    }
}

fn atomic_gives_new<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let next = step::atomic::atomic_modify(env, config)?;
    let new = match &next {
        Next::Acts(_, actions) => actions.iter().find_map(|action| match action {
            Action::Atomic { store, .. } => *store,
            _ => None,
        }),
        _ => None,
    };
    redefined(config, Some(next), |scalars| scalars.fill(new.unwrap_or(ZERO)))
}

fn atomic_is_plain<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match step::atomic::atomic_modify(env, config)? {
        Next::Acts(next, mut actions) => {
            for action in &mut actions {
                if let Action::Atomic { extent, store: Some(new), .. } = action {
                    *action = Action::Store(extent.clone(), Scalars::from_slice(&[*new]));
                }
            }
            Some(Next::Acts(next, actions))
        }
        other => Some(other),
    }
}

fn shuffle_reverses<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    redefined(config, step::composite::vector_shuffle(env, config), |scalars| scalars.reverse())
}

fn insert_loses<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::composite::composite_insert(env, config)?;
    giving(config, config.scalars(operands(config)?[1])?)
}

fn dynamic_is_first<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::composite::vector_extract_dynamic(env, config)?;
    giving(config, Scalars::from_slice(&config.scalars(operands(config)?[0])?[..1]))
}

fn dynamic_beyond_is_first<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::composite::vector_extract_dynamic_out_of_bounds(env, config)?;
    giving(config, Scalars::from_slice(&config.scalars(operands(config)?[0])?[..1]))
}

fn zero_by_zero<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    step::compute::division_by_zero(env, config)?;
    let count = config.module.types().scalars(config.head()?.result_type) as usize;
    giving(config, std::iter::repeat_n(ZERO, count).collect())
}

fn call_returns_nothing<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let value = operands(config)?.first().copied();
    after(step::function::return_value(env, config), |next| {
        // The call is the instruction before the next one. It defines the result.
        let Some(call) = next.index().checked_sub(1).and_then(|at| next.module.instructions().get(at as usize)) else { return };
        if let Some(scalars) = value.and_then(|id| config.scalars(id)) {
            next.memory.define(next.module, call.result, Value::Scalars(std::iter::repeat_n(ZERO, scalars.len()).collect()));
        }
    })
}

#[rustfmt::skip]
pub(super) fn bugs() -> Vec<Bug> {
    use Check::{Clean, Twin, Vector};
    vec![
        bug("a case of a switch is its default", Clean, Rule::SpirvSwitchCase, case_is_default),
        bug("the default of a switch is its first case", Clean, Rule::SpirvSwitchDefault, default_is_case),
        bug("OpPhi reads what the one before wrote", Clean, Rule::SpirvPhi, phi_in_sequence),
        bug("OpPhi takes its first operand", Clean, Rule::SpirvPhi, phi_first_operand),
        bug("a store to a variable is lost", Clean, Rule::SpirvStore, store_forgets),
        bug("a store puts components in the reverse order", Clean, Rule::SpirvStore, store_reverses),
        bug("OpVectorShuffle is reversed", Clean, Rule::SpirvVectorShuffle, shuffle_reverses),
        bug("OpCompositeInsert loses its object", Clean, Rule::SpirvCompositeInsert, insert_loses),
        bug("OpCompositeExtract takes what is first", Clean, Rule::SpirvCompositeExtract, extract_first),
        bug("OpCompositeConstruct is rotated", Clean, Rule::SpirvCompositeConstruct, construct_rotated),
        bug("OpVectorExtractDynamic takes what is first", Clean, Rule::SpirvVectorExtractDynamic, dynamic_is_first),
        bug("OpReturnValue returns zero", Clean, Rule::SpirvReturnValue, call_returns_nothing),
        bug("OpControlBarrier does not wait", Clean, Rule::SpirvControlBarrier, barrier_is_passed),
        bug("OpControlBarrier never orders", Clean, Rule::SpirvControlBarrier, barrier_orders_nothing),
        bug("an atomic gives the new value", Clean, Rule::SpirvAtomicModify, atomic_gives_new),
        bug("an atomic is a plain store", Clean, Rule::SpirvAtomicModify, atomic_is_plain),
        bug("OpControlBarrier always orders", Twin(Defect::RaceWithoutSemantics), Rule::SpirvControlBarrier, barrier_orders),
        bug("OpControlBarrier need not be reached by all", Twin(Defect::DivergentBarrier), Rule::SpirvControlBarrier, barrier_is_passed),
        bug("a chain out of bounds is stuck", Twin(Defect::ChainArray), Rule::SpirvAccessChainOutOfBounds, chain_without_bounds),
        bug("a chain out of bounds stays", Twin(Defect::ChainArray), Rule::SpirvAccessChainOutOfBounds, chain_stays),
        bug("a branch on an undefined value is taken", Twin(Defect::Undef), Rule::SpirvBranchConditionalUndefined, undefined_is_true),
        bug("a switch on an undefined value goes to its default", Twin(Defect::Undef), Rule::SpirvSwitchUndefined, undefined_is_default),
        bug("OpUndef is zero", Twin(Defect::Undef), Rule::SpirvUndef, undef_is_zero),
        bug("uninitialised memory is zero", Twin(Defect::UninitialisedFunction), Rule::SpirvLoad, load_gives_zeros),
        bug("uninitialised Workgroup memory is zero", Twin(Defect::UninitialisedWorkgroup), Rule::SpirvLoad, load_gives_zeros),
        bug("OpVectorExtractDynamic beyond takes what is first", Twin(Defect::ExtractIndex), Rule::SpirvVectorExtractDynamicOutOfBounds, dynamic_beyond_is_first),
        bug("a quotient by zero is zero", Twin(Defect::UDivZero), Rule::SpirvDivisionByZero, zero_by_zero),
        bug("OpUnreachable ends the invocation", Twin(Defect::Unreachable), Rule::SpirvUnreachable, unreachable_ends),
        bug("OpVariable keeps what the last call left", Vector("a variable at its second call"), Rule::SpirvVariable, variable_keeps),
    ]
}

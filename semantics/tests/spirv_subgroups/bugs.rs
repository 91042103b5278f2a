//! Planted bugs in group instructions.

use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::memory::Value;
use smallstep_semantics::spirv::step::{Config, Env, Join, Member, Next, RuleFunction, Tangle, group};

/// A planted bug, and the rule that it is in.
pub struct Bug {
    pub name: &'static str,
    pub rule: Rule,
    pub function: RuleFunction,
}

/// Runs the rule, and completes it with another tangle.
fn on<'m>(rule: RuleFunction, env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    match rule(env, config)? {
        Next::Joins(Join { resume, .. }) => resume(env, config, tangle),
        other => Some(other),
    }
}

/// The tangle with other members. `own` is the place of the invocation among them.
fn with(tangle: &Tangle, members: Vec<Member>, own: usize) -> Tangle {
    let mut other = Tangle::new(tangle.size, members, tangle.doubt);
    other.own = own;
    other
}

/// Changes the bits of the result.
fn changed<'m>(config: &Config<'m>, next: Option<Next<'m>>, change: impl Fn(u64) -> u64) -> Option<Next<'m>> {
    let Next::Config(mut next) = next? else { return None };
    let result = config.head()?.result;
    let mut scalars = next.scalars(result)?;
    scalars.iter_mut().for_each(|scalar| scalar.bits = change(scalar.bits));
    next.memory.define(next.module, result, Value::Scalars(scalars));
    Some(Next::Config(next))
}

fn operand(config: &Config<'_>, at: usize) -> Option<u32> {
    config.head()?.operands(config.module.words()).get(at).copied()
}

/// Declares a planted rule. `$resumed` replaces the function that completes the rule with
/// the tangle.
macro_rules! bug {
    ($function:ident, $rule:ident, $resumed:expr) => {
        fn $function<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
            fn resumed<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
                let wrong: fn(&Env<'_>, &Config<'m>, &Tangle) -> Option<Next<'m>> = $resumed;
                wrong(env, config, tangle)
            }
            match group::$rule(env, config)? {
                Next::Joins(join) => Some(Next::Joins(Join { resume: resumed, ..join })),
                other => Some(other),
            }
        }
    };
}

/// The tangle with every lane of the subgroup. Lanes that are missing get the invocation's
/// own operands.
fn all_active(tangle: &Tangle) -> Tangle {
    let own = tangle.members[tangle.own].clone();
    let known = |lane: u32| tangle.members.iter().find(|member| member.lane == lane).cloned();
    let members = (0..tangle.size).map(|lane| known(lane).unwrap_or(Member { lane, ..own.clone() })).collect();
    with(tangle, members, own.lane as usize)
}

bug!(exclusive_is_inclusive, group_arithmetic, |env, config, tangle| {
    // The exclusive scan of the next lane is the inclusive scan of this one.
    let mut members = tangle.members.clone();
    let last = Member { lane: members.last()?.lane + 1, ..members.last()?.clone() };
    members.push(last);
    let exclusive = operand(config, 1) == Some(rspirv::spirv::GroupOperation::ExclusiveScan as u32);
    let own = tangle.own + usize::from(exclusive);
    on(group::group_arithmetic, env, config, &if exclusive { with(tangle, members, own) } else { tangle.clone() })
});
bug!(clusters_are_ignored, group_arithmetic, |env, config, tangle| {
    // All lanes are in one cluster.
    let clustered = operand(config, 1) == Some(rspirv::spirv::GroupOperation::ClusteredReduce as u32);
    let members = tangle.members.iter().map(|member| Member { lane: 0, ..member.clone() }).collect();
    on(group::group_arithmetic, env, config, &if clustered { with(tangle, members, tangle.own) } else { tangle.clone() })
});
bug!(the_inactive_count, group_arithmetic, |env, config, tangle| on(group::group_arithmetic, env, config, &all_active(tangle)));
bug!(least_is_unsigned, group_arithmetic, |env, config, tangle| {
    const TOP: u64 = 1 << 31;
    if config.head()?.op != Op::GroupNonUniformSMin {
        return on(group::group_arithmetic, env, config, tangle);
    }
    let mut members = tangle.members.clone();
    members.iter_mut().flat_map(|member| &mut member.operands[0]).for_each(|scalar| scalar.bits ^= TOP);
    let next = on(group::group_arithmetic, env, config, &with(tangle, members, tangle.own));
    changed(config, next, |bits| bits ^ TOP)
});
bug!(ballot_is_reversed, group_ballot, |env, config, tangle| {
    changed(config, on(group::group_ballot, env, config, tangle), |bits| (bits as u32).reverse_bits().into())
});
bug!(the_inactive_vote, group_ballot, |env, config, tangle| on(group::group_ballot, env, config, &all_active(tangle)));
bug!(first_bit_is_bit_0, group_ballot_bits, |env, config, tangle| {
    let next = on(group::group_ballot_bits, env, config, tangle);
    let first = config.head()?.op == Op::GroupNonUniformBallotFindLSB;
    changed(config, next, move |bits| if first { 0 } else { bits })
});
bug!(last_is_elected, group_elect, |env, config, tangle| {
    let own = usize::from(tangle.own + 1 != tangle.members.len());
    on(group::group_elect, env, config, &with(tangle, tangle.members.clone(), own))
});
bug!(some_are_all, group_vote, |env, config, tangle| {
    // Only the invocation's own vote counts.
    on(group::group_vote, env, config, &with(tangle, vec![tangle.members[tangle.own].clone()], 0))
});
bug!(first_is_last, group_broadcast, |env, config, tangle| {
    let last = tangle.members.last()?.operands[0].clone();
    let first = config.head()?.op == Op::GroupNonUniformBroadcastFirst;
    let next = on(group::group_broadcast, env, config, tangle);
    let bits = last.first()?.bits;
    changed(config, next, move |old| if first { bits } else { old })
});
bug!(up_is_down, group_shuffle, |env, config, tangle| {
    let up = config.head()?.op == Op::GroupNonUniformShuffleUp;
    // If the lanes are mirrored, up becomes down.
    let mirrored = |member: &Member| Member { lane: tangle.size - 1 - member.lane, ..member.clone() };
    let members = tangle.members.iter().rev().map(mirrored).collect();
    let own = tangle.members.len() - 1 - tangle.own;
    on(group::group_shuffle, env, config, &if up { with(tangle, members, own) } else { tangle.clone() })
});
bug!(quads_are_of_two, group_quad, |env, config, tangle| {
    let own = tangle.members[tangle.own].lane;
    let members: Vec<Member> = tangle.members.iter().filter(|member| member.lane / 2 == own / 2).cloned().collect();
    let at = members.iter().position(|member| member.lane == own)?;
    on(group::group_quad, env, config, &with(tangle, members, at))
});

pub const BUGS: &[Bug] = &[
    Bug { name: "an exclusive scan is an inclusive one", rule: Rule::SpirvGroupArithmetic, function: exclusive_is_inclusive },
    Bug { name: "the size of clusters is ignored", rule: Rule::SpirvGroupArithmetic, function: clusters_are_ignored },
    Bug { name: "inactive invocations are counted", rule: Rule::SpirvGroupArithmetic, function: the_inactive_count },
    Bug { name: "the least is that of unsigned numbers", rule: Rule::SpirvGroupArithmetic, function: least_is_unsigned },
    Bug { name: "the bits of a ballot are reversed", rule: Rule::SpirvGroupBallot, function: ballot_is_reversed },
    Bug { name: "inactive invocations vote", rule: Rule::SpirvGroupBallot, function: the_inactive_vote },
    Bug { name: "the first bit of a ballot is bit 0", rule: Rule::SpirvGroupBallotBits, function: first_bit_is_bit_0 },
    Bug { name: "the last invocation is elected", rule: Rule::SpirvGroupElect, function: last_is_elected },
    Bug { name: "an invocation votes alone", rule: Rule::SpirvGroupVote, function: some_are_all },
    Bug { name: "the last invocation broadcasts", rule: Rule::SpirvGroupBroadcast, function: first_is_last },
    Bug { name: "OpGroupNonUniformShuffleUp shuffles down", rule: Rule::SpirvGroupShuffle, function: up_is_down },
    Bug { name: "quads have two invocations", rule: Rule::SpirvGroupQuad, function: quads_are_of_two },
];

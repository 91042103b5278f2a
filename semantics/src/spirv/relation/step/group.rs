//! SPIR-V §3.3.24, Non-Uniform Instructions, from the view of one invocation. It waits, and goes
//! on with the operands of the invocations that execute the instruction with it, the *tangle*. A
//! rule of the grid ([`crate::spirv::grid`]) decides which invocations these are.
//!
//! A device may add or multiply floats in any order, starting from the identity. If the order
//! matters, the definite value is that of ascending invocations, and it is in doubt. A run over
//! sets gives it the interval of all orders.
//!
//! A tangle is open if invocations on other paths may belong to it. Then all that depends on other
//! invocations is in doubt. In a draw, all that depends on more than the quad is in doubt, since
//! nothing says which quads, or which vertices, form a subgroup. In a dispatch whose subgroups may
//! consist of any invocations, all that depends on others is in doubt.

use std::cell::RefCell;

use rspirv::spirv::GroupOperation;
use smallvec::SmallVec;

use super::{Config, Env, Join, Next, Row, row};
use crate::number::sets::{Set, Span};
use crate::number::{Lanes, Trust, Why, integer};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::operation::{self, Occurrence, Operand, Operation, Shape};
use crate::spirv::report;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::{Ub, Unspecified};

const VOTES: &[Op] = &[Op::GroupNonUniformAll, Op::GroupNonUniformAny, Op::GroupNonUniformAllEqual];
const BALLOT_BITS: &[Op] = &[
    Op::GroupNonUniformInverseBallot,
    Op::GroupNonUniformBallotBitExtract,
    Op::GroupNonUniformBallotBitCount,
    Op::GroupNonUniformBallotFindLSB,
    Op::GroupNonUniformBallotFindMSB,
];
const BROADCASTS: &[Op] = &[Op::GroupNonUniformBroadcast, Op::GroupNonUniformBroadcastFirst];
const SHUFFLES: &[Op] =
    &[Op::GroupNonUniformShuffle, Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown];
const ARITHMETIC: &[Op] = &[
    Op::GroupNonUniformIAdd,
    Op::GroupNonUniformFAdd,
    Op::GroupNonUniformIMul,
    Op::GroupNonUniformFMul,
    Op::GroupNonUniformSMin,
    Op::GroupNonUniformUMin,
    Op::GroupNonUniformFMin,
    Op::GroupNonUniformSMax,
    Op::GroupNonUniformUMax,
    Op::GroupNonUniformFMax,
    Op::GroupNonUniformBitwiseAnd,
    Op::GroupNonUniformBitwiseOr,
    Op::GroupNonUniformBitwiseXor,
    Op::GroupNonUniformLogicalAnd,
    Op::GroupNonUniformLogicalOr,
    Op::GroupNonUniformLogicalXor,
];
const QUADS: &[Op] = &[Op::GroupNonUniformQuadBroadcast, Op::GroupNonUniformQuadSwap];

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvGroupElect, &[Op::GroupNonUniformElect], group_elect),
    row(Rule::SpirvGroupVote, VOTES, group_vote),
    row(Rule::SpirvGroupBallot, &[Op::GroupNonUniformBallot], group_ballot),
    row(Rule::SpirvGroupBallotBits, BALLOT_BITS, group_ballot_bits),
    row(Rule::SpirvGroupBroadcast, BROADCASTS, group_broadcast),
    row(Rule::SpirvGroupShuffle, SHUFFLES, group_shuffle),
    row(Rule::SpirvGroupArithmetic, ARITHMETIC, group_arithmetic),
    row(Rule::SpirvGroupQuad, QUADS, group_quad),
];

/// An invocation that executes a group instruction with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// SubgroupLocalInvocationId.
    pub lane: u32,
    /// Its operands ([`Join::operands`]).
    pub operands: [Scalars; 2],
}

/// How much is known of which invocations form a subgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// All: the order of local invocation indices decides.
    #[default]
    Known,
    /// A subgroup contains whole quads of fragments. Other invocations, helpers among them, may
    /// belong to it or not (Vulkan, Helper Invocations; Quad scope).
    Quads,
    /// Nothing: for vertices, and for dispatches that declare it.
    Unknown,
}

/// The invocations of a subgroup that execute a dynamic instance of a group instruction together,
/// from the view of one of them.
#[derive(Clone, Debug)]
pub struct Tangle {
    /// The size of a subgroup, including lanes without an invocation.
    pub size: u32,
    /// The invocations that take part, by ascending lanes.
    pub members: Vec<Member>,
    /// The index of the invocation itself among the members.
    pub own: usize,
    /// Why the members are not certain. `None` if they are.
    pub doubt: Option<Why>,
    /// How much is known of the subgroup. Unless it is `Known`, there may be other members.
    pub mapping: Mapping,
    /// The combination of the operands up to each member, once it is computed. All members
    /// share it.
    combined: RefCell<Option<Vec<Scalars>>>,
}

impl Tangle {
    /// The tangle of these members, from the view of the first.
    pub fn new(size: u32, members: Vec<Member>, doubt: Option<Why>) -> Tangle {
        Tangle { size, members, own: 0, doubt, mapping: Mapping::Known, combined: RefCell::default() }
    }

    /// The invocation's lane.
    pub fn lane(&self) -> u32 {
        self.members.get(self.own).map_or(0, |member| member.lane)
    }

    /// An operand of the invocation in a lane, if it takes part.
    fn operand_of_lane(&self, lane: u32, operand: usize) -> Option<&Scalars> {
        let at = self.members.binary_search_by_key(&lane, |member| member.lane).ok()?;
        Some(&self.members[at].operands[operand])
    }

    /// An operand of the invocation itself.
    fn own(&self, operand: usize) -> Scalars {
        self.members.get(self.own).map(|member| member.operands[operand].clone()).unwrap_or_default()
    }
}

/// The opcode, the result's id and the operands of the next instruction, if its opcode is one
/// of `ops`.
fn next_of<'m>(config: &Config<'m>, ops: &[Op]) -> Option<(Op, u32, &'m [u32])> {
    let (head, operands) = config.next_of(ops)?;
    Some((head.op, head.result, operands))
}

fn join_tangle<'m>(config: &Config<'m>, ops: &[Op], operands: &[usize], resume: super::ResumeInTangle) -> Option<Next<'m>> {
    let (_, _, all_ids) = next_of(config, ops)?;
    let mut ids = [0; 2];
    for (id, &at) in ids.iter_mut().zip(operands) {
        *id = all_ids.get(at).copied().unwrap_or(0);
    }
    Some(Next::Joins(Join { instruction: config.index(), operands: ids, resume }))
}

/// Defines the result, which is in doubt if the tangle is.
fn define_result<'m>(config: &Config<'m>, tangle: &Tangle, result: u32, mut scalars: Scalars) -> Option<Next<'m>> {
    if let Some(why) = tangle.doubt.or((tangle.mapping != Mapping::Known).then_some(Why::SubgroupMapping)) {
        scalars.iter_mut().for_each(|scalar| scalar.trust = scalar.trust.in_doubt(why));
    }
    Some(Next::Config(config.defining(result, Value::Scalars(scalars))))
}

fn certain(bits: u64) -> Scalar {
    Scalar { bits, trust: Trust::CERTAIN, undefined: None }
}

/// A scalar of these bits, made of other scalars without a rule of trust. It is undefined or in
/// doubt if one of them is.
fn scalar_of_bits<'s>(bits: u64, of: impl IntoIterator<Item = &'s Scalar>) -> Scalar {
    let mut result = certain(bits);
    for scalar in of {
        result.undefined = result.undefined.or(scalar.undefined);
        if let Some(why) = scalar.trust.doubt {
            result.trust = result.trust.in_doubt(why);
        }
        if scalar.trust.grid.is_none() {
            result.trust.grid = None;
        }
    }
    result
}

fn undefined(env: &Env<'_>, config: &Config<'_>, kind: Unspecified, result: u32) -> Scalars {
    let origin = Origin { kind, instruction: config.index(), invocation: env.invocation };
    std::iter::repeat_n(Scalar::undefined(origin), config.module.shape(result).lanes()).collect()
}

/// Computes an operation on values of one shape.
fn computed(env: &Env<'_>, config: &Config<'_>, operation: Option<Operation>, shapes: [Shape; 2], args: [&Scalars; 2]) -> Scalars {
    let operands = args.map(|scalars| Operand { shape: shapes[0], scalars });
    let occurrence = Occurrence { instruction: config.index(), invocation: env.invocation, ..Occurrence::default() };
    let Some(operation) = operation else { return Scalars::new() };
    let mut results = env.calculator.compute(operation, &operands, &[shapes[1]], occurrence).unwrap_or_default();
    widen(env, operation, args, &mut results);
    results
}

/// In a run over sets, gives cells to the open components of a result.
fn widen(env: &Env<'_>, operation: Operation, args: [&Scalars; 2], results: &mut Scalars) {
    let Some(sets) = env.over else { return };
    let lanes = |scalars: &Scalars| -> Lanes { scalars.iter().map(|scalar| scalar.lane()).collect() };
    if operation.op.is_none() || args.iter().any(|scalars| scalars.iter().any(|scalar| scalar.undefined.is_some())) {
        return;
    }
    let ([x, y], mut open) = (args.map(lanes), lanes(results));
    if sets.borrow_mut().widen(operation.instruction, &[(&x, 1), (&y, 1)], &mut open).is_ok() {
        results.iter_mut().zip(open).for_each(|(result, lane)| result.trust = lane.trust);
    }
}

/// M, (r = OpGroupNonUniformElect τ s, I), c, p → M[r ↦ whether it is the first of the
/// tangle], I, c, p once the tangle has arrived [spirv/group-elect, SPIR-V §3.3.24]
pub fn group_elect<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, &[Op::GroupNonUniformElect], &[], resume_elect)
}

fn resume_elect<'m>(_: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (_, result, _) = next_of(config, &[Op::GroupNonUniformElect])?;
    define_result(config, tangle, result, Scalars::from_slice(&[certain(u64::from(tangle.own == 0))]))
}

/// M, (r = OpGroupNonUniformAll τ s a, I), c, p → M[r ↦ whether M(a) holds in all of the
/// tangle], I, c, p once the tangle has arrived; OpGroupNonUniformAny, whether in some;
/// OpGroupNonUniformAllEqual, whether all M(a) are equal [spirv/group-vote, SPIR-V §3.3.24]
pub fn group_vote<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, VOTES, &[1], resume_vote)
}

fn resume_vote<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, operands) = next_of(config, VOTES)?;
    let (shape, truth) = (config.module.shape(operands[1]), config.module.shape(result));
    let values = tangle.members.iter().map(|member| &member.operands[0]);
    let join = operation::core(if op == Op::GroupNonUniformAny { Op::LogicalOr } else { Op::LogicalAnd });
    let mut votes: Vec<Scalars> = Vec::new();
    if op == Op::GroupNonUniformAllEqual {
        let compare = operation::core(match shape.scalar {
            operation::Scalar::Bool => Op::LogicalEqual,
            scalar if scalar.is_float() => Op::FOrdEqual,
            _ => Op::IEqual,
        });
        let first = tangle.members.first().map(|member| member.operands[0].clone()).unwrap_or_default();
        let equal_shape = Shape { rows: shape.rows, ..truth };
        for value in values {
            let equal = computed(env, config, compare, [shape, equal_shape], [&first, value]);
            votes.extend(equal.iter().map(|&scalar| Scalars::from_slice(&[scalar])));
        }
    } else {
        votes.extend(values.cloned());
    }
    let all = votes.into_iter().reduce(|all, vote| computed(env, config, join, [truth, truth], [&all, &vote]));
    define_result(config, tangle, result, all.unwrap_or_default())
}

/// M, (r = OpGroupNonUniformBallot τ s a, I), c, p → M[r ↦ a bit for each invocation of the
/// tangle in which M(a) holds], I, c, p once the tangle has arrived [spirv/group-ballot, SPIR-V
/// §3.3.24]
pub fn group_ballot<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, &[Op::GroupNonUniformBallot], &[1], resume_ballot)
}

fn resume_ballot<'m>(_: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (_, result, _) = next_of(config, &[Op::GroupNonUniformBallot])?;
    let word = |word: u32| {
        let votes = || tangle.members.iter().filter(move |member| member.lane / 32 == word);
        let bits = votes()
            .filter(|member| member.operands[0].iter().any(|vote| vote.is_true()))
            .fold(0, |bits, member| bits | 1 << (member.lane % 32));
        scalar_of_bits(bits, votes().flat_map(|member| &member.operands[0]))
    };
    define_result(config, tangle, result, (0..4).map(word).collect())
}

/// The words of a ballot that hold bits of the lanes `from..to`, with all other bits cleared.
fn bits_between(ballot: &Scalars, from: u32, to: u32) -> SmallVec<[(u32, Scalar); 4]> {
    let words = (0..4u32).zip(ballot).filter(|(word, _)| word * 32 < to && from < word * 32 + 32);
    words
        .map(|(word, scalar)| {
            let (low, high) = (from.saturating_sub(word * 32).min(32), to.saturating_sub(word * 32).min(32));
            let below = |lane: u32| (1u64 << lane) - 1;
            (word, Scalar { bits: scalar.bits & below(high) & !below(low), ..*scalar })
        })
        .collect()
}

/// M, (r = OpGroupNonUniformBallotBitCount τ s o a, I), c, p → M[r ↦ how many of the bits of
/// M(a) that o takes are set], I, c, p once the tangle has arrived, and the other instructions that
/// read a ballot [spirv/group-ballot-bits, SPIR-V §3.3.24]
pub fn group_ballot_bits<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (op, ..) = next_of(config, BALLOT_BITS)?;
    let operands: &[usize] = match op {
        Op::GroupNonUniformBallotBitCount => &[2],
        Op::GroupNonUniformBallotBitExtract => &[1, 2],
        _ => &[1],
    };
    join_tangle(config, BALLOT_BITS, operands, resume_ballot_bits)
}

fn resume_ballot_bits<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, operands) = next_of(config, BALLOT_BITS)?;
    let (size, lane, ballot) = (tangle.size, tangle.lane(), tangle.own(0));
    if op == Op::GroupNonUniformInverseBallot
        && let Some(next) = non_uniform(config, tangle, 0, operands[1])
    {
        return Some(next);
    }
    // The result depends on other invocations only through an operand that must be uniform.
    let certain_tangle = Tangle { doubt: None, ..tangle.clone() };
    let define_scalar = |scalar: Scalar| define_result(config, &certain_tangle, result, Scalars::from_slice(&[scalar]));
    let bit = |lane: u32| {
        let words = bits_between(&ballot, lane, lane + 1);
        words.first().map(|(_, scalar)| Scalar { bits: u64::from(scalar.bits != 0), ..*scalar })
    };
    match op {
        Op::GroupNonUniformInverseBallot => define_result(config, tangle, result, Scalars::from_slice(&[bit(lane)?])),
        Op::GroupNonUniformBallotBitExtract => {
            let index = tangle.own(1);
            let index = index.first()?;
            if index.undefined.is_some() {
                return define_scalar(scalar_of_bits(0, [index]));
            }
            if index.bits >= u64::from(size) {
                return define_result(config, &certain_tangle, result, undefined(env, config, Unspecified::BallotBit, result));
            }
            let bit = bit(index.bits as u32)?;
            define_scalar(scalar_of_bits(bit.bits, [&bit, index]))
        }
        Op::GroupNonUniformBallotBitCount => {
            let to = match GroupOperation::from_u32(operands[1])? {
                GroupOperation::InclusiveScan => lane + 1,
                GroupOperation::ExclusiveScan => lane,
                _ => size,
            };
            let words = bits_between(&ballot, 0, to);
            let count: u32 = words.iter().map(|(_, scalar)| scalar.bits.count_ones()).sum();
            define_scalar(scalar_of_bits(count.into(), words.iter().map(|(_, scalar)| scalar)))
        }
        _ => {
            let words = bits_between(&ballot, 0, size);
            let set = |(word, scalar): &(u32, Scalar)| (scalar.bits != 0 || scalar.undefined.is_some()).then_some((*word, *scalar));
            let (found, low) = match op {
                Op::GroupNonUniformBallotFindLSB => (words.iter().find_map(set), true),
                _ => (words.iter().rev().find_map(set), false),
            };
            let Some((word, scalar)) = found else {
                return define_result(config, &certain_tangle, result, undefined(env, config, Unspecified::BallotBit, result));
            };
            let at = if low { scalar.bits.trailing_zeros() } else { 63 - scalar.bits.leading_zeros().min(63) };
            define_scalar(scalar_of_bits(u64::from(32 * word + at), words.iter().map(|(_, scalar)| scalar)))
        }
    }
}

/// Undefined behaviour if the members of the tangle have different values of an operand, whose id
/// is `id`. `None` if the members are not known.
fn non_uniform<'m>(config: &Config<'m>, tangle: &Tangle, operand: usize, id: u32) -> Option<Next<'m>> {
    let bits = |member: &Member| -> Option<SmallVec<[u64; 4]>> {
        member.operands[operand].iter().map(|scalar| scalar.undefined.is_none().then_some(scalar.bits)).collect()
    };
    let first = tangle.members.first().and_then(bits);
    let is_unknown = tangle.doubt.is_some() || tangle.mapping == Mapping::Unknown;
    if is_unknown || first.is_some() && tangle.members.iter().all(|member| bits(member) == first) {
        return None;
    }
    Some(config.undefined(Ub::NonUniformOperand, report::non_uniform_operand(config.module, config.index(), id)))
}

/// M, (r = OpGroupNonUniformBroadcast τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of the
/// tangle], I, c, p once the tangle has arrived; OpGroupNonUniformBroadcastFirst, of the first
/// [spirv/group-broadcast, SPIR-V §3.3.24]
pub fn group_broadcast<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, BROADCASTS, &[1, 2], resume_broadcast)
}

fn resume_broadcast<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, operands) = next_of(config, BROADCASTS)?;
    if op == Op::GroupNonUniformBroadcastFirst {
        return define_result(config, tangle, result, tangle.members.first()?.operands[0].clone());
    }
    if let Some(next) = non_uniform(config, tangle, 1, operands[2]) {
        return Some(next);
    }
    from_lane(env, config, tangle, result, Some)
}

/// The value of another lane. `lane` computes its number from the bits of the second operand.
fn from_lane<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle, result: u32, lane: impl Fn(u64) -> Option<u64>) -> Option<Next<'m>> {
    let index = tangle.own(1);
    let index = index.first()?;
    let from = lane(index.bits).and_then(|lane| u32::try_from(lane).ok()).and_then(|lane| tangle.operand_of_lane(lane, 0));
    let mut scalars = match (index.undefined, from) {
        (None, Some(scalars)) => scalars.clone(),
        // The invocation may exist.
        (None, None) if tangle.mapping != Mapping::Known => tangle.own(0),
        (None, None) => undefined(env, config, Unspecified::InactiveInvocation, result),
        (Some(origin), _) => std::iter::repeat_n(Scalar::undefined(origin), config.module.shape(result).lanes()).collect(),
    };
    if let Some(why) = index.trust.doubt {
        scalars.iter_mut().for_each(|scalar| scalar.trust = scalar.trust.in_doubt(why));
    }
    define_result(config, tangle, result, scalars)
}

/// M, (r = OpGroupNonUniformShuffle τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of the
/// tangle], I, c, p once the tangle has arrived; OpGroupNonUniformShuffleXor, Up and Down, of
/// invocation l xor M(i), l - M(i) and l + M(i), where it is invocation l itself
/// [spirv/group-shuffle, SPIR-V §3.3.24]
pub fn group_shuffle<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, SHUFFLES, &[1, 2], resume_shuffle)
}

fn resume_shuffle<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, _) = next_of(config, SHUFFLES)?;
    let own = u64::from(tangle.lane());
    from_lane(env, config, tangle, result, |index| match op {
        Op::GroupNonUniformShuffleXor => Some(own ^ index),
        Op::GroupNonUniformShuffleUp => own.checked_sub(index),
        Op::GroupNonUniformShuffleDown => own.checked_add(index),
        _ => Some(index),
    })
}

/// M, (r = OpGroupNonUniformQuadBroadcast τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of
/// its quad], I, c, p once the tangle has arrived; OpGroupNonUniformQuadSwap, of the one beside,
/// below or across [spirv/group-quad, SPIR-V §3.3.24]
pub fn group_quad<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, QUADS, &[1, 2], resume_quad)
}

fn resume_quad<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, operands) = next_of(config, QUADS)?;
    let mapping = if tangle.mapping == Mapping::Quads { Mapping::Known } else { tangle.mapping };
    let tangle = &Tangle { mapping, ..tangle.clone() };
    let own = u64::from(tangle.lane());
    if op == Op::GroupNonUniformQuadSwap {
        // Direction 0 is horizontal, 1 vertical, 2 diagonal.
        return from_lane(env, config, tangle, result, |direction| Some(own ^ (direction + 1)));
    }
    if let Some(next) = non_uniform(config, tangle, 1, operands[2]) {
        return Some(next);
    }
    from_lane(env, config, tangle, result, |index| (index < 4).then_some(own / 4 * 4 + index))
}

/// M, (r = OpGroupNonUniformOp τ s o a (n), I), c, p → M[r ↦ the M(a) of the tangle that o
/// takes, combined by Op], I, c, p once the tangle has arrived [spirv/group-arithmetic, SPIR-V
/// §3.3.24]
pub fn group_arithmetic<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    join_tangle(config, ARITHMETIC, &[2], resume_arithmetic)
}

fn resume_arithmetic<'m>(env: &Env<'_>, config: &Config<'m>, tangle: &Tangle) -> Option<Next<'m>> {
    let (op, result, operands) = next_of(config, ARITHMETIC)?;
    let scan = GroupOperation::from_u32(operands[1])?;
    let cluster = match (scan, operands.get(3)) {
        (GroupOperation::ClusteredReduce, Some(&id)) => config.module.constant_value(id)? as u32,
        _ => u32::MAX,
    };
    if cluster != u32::MAX && cluster > tangle.size {
        let what = report::cluster_size(config.module, config.index(), cluster, tangle.size);
        return Some(config.undefined(Ub::ClusterSize, what));
    }
    let shape = config.module.shape(result);
    let (operation, identity) = operation::combination(op, shape.scalar.width())?;
    let identity: Scalars = std::iter::repeat_n(Scalar::exact(shape.scalar, identity), shape.lanes()).collect();
    let starts = |at: usize| at == 0 || tangle.members[at - 1].lane / cluster != tangle.members[at].lane / cluster;
    let mut combined = tangle.combined.borrow_mut();
    let sums = combined.get_or_insert_with(|| {
        let mut sums: Vec<Scalars> = Vec::with_capacity(tangle.members.len());
        let mut first = 0;
        for (at, member) in tangle.members.iter().enumerate() {
            if starts(at) {
                first = at;
            }
            let before = match (first == at, op) {
                // The identity is an infinity, which would put the result in doubt.
                (true, Op::GroupNonUniformFMin | Op::GroupNonUniformFMax) => &member.operands[0],
                (true, _) => &identity,
                (false, _) => &sums[at - 1],
            };
            sums.push(computed(env, config, Some(operation), [shape, shape], [before, &member.operands[0]]));
        }
        sums
    });
    // The members `from..to` are the ones that the group operation combines.
    let from = (0..=tangle.own).rev().find(|&at| starts(at)).unwrap_or(0);
    let to = match scan {
        GroupOperation::InclusiveScan => tangle.own + 1,
        GroupOperation::ExclusiveScan => tangle.own,
        _ => (from + 1..tangle.members.len()).find(|&at| starts(at)).unwrap_or(tangle.members.len()),
    };
    let mut value = if to == from { identity } else { sums.get(to - 1)?.clone() };
    if matches!(op, Op::GroupNonUniformFAdd | Op::GroupNonUniformFMul) {
        let terms: Vec<&Scalars> = tangle.members[from..to].iter().map(|member| &member.operands[0]).collect();
        in_any_order(env, op, shape.scalar.width(), &terms, &mut value);
    }
    define_result(config, tangle, result, value)
}

/// Bounds a sum or product that a device may compute in any order, with or without the identity.
/// Certificates of exact results ([`Trust::grid`]) hold in every order.
fn in_any_order(env: &Env<'_>, op: Op, width: u8, terms: &[&Scalars], value: &mut Scalars) {
    for (lane, scalar) in value.iter_mut().enumerate().filter(|(_, scalar)| scalar.undefined.is_none()) {
        // The identity 0 turns a sum of nothing but -0 into +0.
        let negative = |term: &Scalar| term.bits & integer::mask(width) >> 1 == 0 && (term.bits != 0 || !term.trust.zero_sign);
        if op == Op::GroupNonUniformFAdd && terms.iter().all(|term| term.get(lane).is_some_and(negative)) {
            scalar.trust.zero_sign = false;
        }
        if terms.len() < 3 || scalar.trust.grid.is_some() {
            continue;
        }
        let why = scalar.trust.doubt.unwrap_or(Why::Approximate);
        scalar.trust = scalar.trust.in_doubt(why);
        let Some(sets) = env.over.filter(|_| width == 32) else { continue };
        let sets = &mut *sets.borrow_mut();
        let hulls: Option<Vec<Span>> = terms
            .iter()
            .map(|term| {
                let set = sets.operand(term.get(lane)?.lane()).set;
                set.hull().filter(|_| set.is_bounded())
            })
            .collect();
        let bound = hulls.and_then(|hulls| if op == Op::GroupNonUniformFAdd { sum_of(&hulls) } else { product_of(&hulls) });
        if let Some(span) = bound
            && let Ok(any) = sets.any_of(f32::from_bits(scalar.bits as u32), Set::of(span), why)
        {
            scalar.trust.cell = any.trust.cell;
        }
    }
}

/// The greatest relative error of rounding in any direction.
const ROUNDING: f64 = 1.0 / (1u64 << 23) as f64;
/// The least magnitude that is not flushed to zero.
const NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// The bounds of a sum of floats, in any order. `None` if it may overflow.
fn sum_of(terms: &[Span]) -> Option<Span> {
    let n = terms.len() as f64;
    let (low, high) = terms.iter().fold((0.0, 0.0), |(low, high), term| (low + term.low, high + term.high));
    let magnitude: f64 = terms.iter().map(|term| term.low.abs().max(term.high.abs())).sum();
    // Every partial sum is at most the sum of magnitudes, which each rounding may increase.
    // Subnormals may be flushed before and after each addition.
    let rounded_up = magnitude * (1.0 + ROUNDING).powf(n);
    if rounded_up >= f64::from(f32::MAX) {
        return None;
    }
    let error = rounded_up * ROUNDING * n + 3.0 * n * NORMAL;
    Some(Span::between(low - error, high + error))
}

/// The bounds of a product of floats, in any order. `None` if a partial product may leave the
/// normal floats.
fn product_of(factors: &[Span]) -> Option<Span> {
    let n = factors.len() as f64;
    // No partial product may leave the normal floats, in any order.
    let [mut log_greatest, mut log_least] = [0.0; 2];
    let (mut low, mut high) = (1.0f64, 1.0f64);
    for factor in factors {
        let zero = factor.low <= 0.0 && factor.high >= 0.0;
        let greatest = factor.low.abs().max(factor.high.abs());
        let least = if zero { 0.0 } else { factor.low.abs().min(factor.high.abs()) };
        if factor.low == 0.0 && factor.high == 0.0 {
            (low, high) = (0.0, 0.0);
            continue;
        }
        if least < NORMAL {
            return None;
        }
        log_greatest += greatest.log2().max(0.0);
        log_least += least.log2().min(0.0);
        let ends = [low * factor.low, low * factor.high, high * factor.low, high * factor.high];
        low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    if log_greatest > 126.0 || log_least < -124.0 {
        return None;
    }
    let error = low.abs().max(high.abs()) * ((1.0 + ROUNDING).powf(n + 1.0) - 1.0);
    Some(Span::between(low - error, high + error))
}

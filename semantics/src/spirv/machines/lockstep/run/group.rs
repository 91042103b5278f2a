//! Group instructions (SPIR-V §3.3.24). A dispatch executes them in subgroups, and a fragment
//! stage in quads. A draw determines the quad of an invocation, but not the other invocations of
//! its subgroup. In the definite answer there are no others.
//!
//! As with derivatives, all lanes of a subgroup that reach a dynamic instance are active there at
//! once. The machine does not track whether a device must have them together. A device must, if the
//! lanes of a subgroup have never taken different paths ([`Warp::diverged`](super::warp::Warp)).

use std::sync::atomic::Ordering;

use rspirv::spirv::GroupOperation;
use smallvec::SmallVec;

use super::super::column::{self, LANES, Lanes};
use super::super::program::{Code, Group, Slots};
use super::codes::Done;
use super::warp::{Warp, registers_in};
use super::{Failure, Group as Workgroup, Shared};
use crate::concurrency::{Agent, Scope, Semantics};
use crate::number::Trust;
use crate::spirv::grammar::Op as Core;
use crate::spirv::operation::{self, Occurrence, Operand, Operation, Shape};
use crate::spirv::report;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::{Ub, Unspecified};

/// A lane that takes part in a group instruction.
struct Member {
    lane: usize,
    /// The number of the lane in its subgroup or quad.
    number: u32,
    value: Scalars,
    selector: Scalars,
}

type Members = SmallVec<[Member; 4]>;

fn certain(bits: u64) -> Scalar {
    Scalar { bits, trust: Trust::CERTAIN, undefined: None }
}

/// The words of a ballot, reduced to the lanes below a number.
fn ballot_below(ballot: &[Scalar], lanes: u32) -> impl DoubleEndedIterator<Item = (u32, Scalar)> + '_ {
    let words = (0u32..).step_by(32).zip(ballot).map(move |(first, &word)| {
        let bits_below = lanes.saturating_sub(first).min(32);
        (first, bits_below, Scalar { bits: word.bits & ((1 << bits_below) - 1), ..word })
    });
    let words: SmallVec<[(u32, u32, Scalar); 4]> = words.collect();
    words.into_iter().filter(|&(_, bits_below, _)| bits_below > 0).map(|(first, _, word)| (first, word))
}

impl Warp {
    /// The subgroups of that size that contain one of these lanes, as sets of lanes.
    pub(super) fn subgroups_of(lanes: Lanes, size: u32) -> impl Iterator<Item = Lanes> {
        let first_subgroup: Lanes = if size as usize >= LANES { !0 } else { (1 << size) - 1 };
        (0..LANES).step_by(size as usize).map(move |first| first_subgroup << first).filter(move |subgroup| lanes & subgroup != 0)
    }

    /// The lanes of subgroups that are partly active.
    pub(super) fn partly_active(&self, size: u32) -> Lanes {
        let (active, all) = (self.active, self.all);
        let partly_active = |subgroup: &Lanes| active & subgroup != all & subgroup;
        Self::subgroups_of(active, size).filter(partly_active).fold(0, |partly_active, subgroup| partly_active | subgroup)
    }

    /// Executes a group instruction in all subgroups, or in all quads.
    pub(super) fn group(&mut self, code: &Code, shared: &Shared<'_>) -> Done {
        let (group, active, size) = (&shared.program.groups[code.c as usize], self.active, shared.subgroup);
        if active & self.diverged != 0 {
            shared.diverged.store(true, Ordering::Relaxed);
        }
        for subgroup in Self::subgroups_of(active, size) {
            let member = |lane: usize| {
                let [value, selector] = [&group.value, &group.selector].map(|slots| self.scalars(group, slots, lane));
                Member { lane, number: lane as u32 % size, value, selector }
            };
            let members: Members = column::lanes(active & subgroup).map(member).collect();
            self.check_operands(group, &members, shared)?;
            let results = self.results(group, &members, shared);
            for (member, scalars) in members.iter().zip(results) {
                for (&slot, scalar) in group.to.iter().zip(scalars) {
                    match scalar.undefined {
                        Some(origin) => self.put_undefined(slot, member.lane, origin),
                        None => self.put(slot, member.lane, scalar.bits),
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks for undefined behaviour: an operand that must be the same in all of a subgroup
    /// differs, or clusters are larger than the subgroup.
    fn check_operands(&self, group: &Group, members: &Members, shared: &Shared<'_>) -> Done {
        let module = &shared.program.module;
        let failure = |ub, what| Err(self.failure(shared, ub, what, group.instruction, 1 << members[0].lane));
        if let Some(id) = group.uniform_operand {
            let operand = |member: &Member| -> Option<SmallVec<[u64; 4]>> {
                let operand = if group.op == Core::GroupNonUniformInverseBallot { &member.value } else { &member.selector };
                operand.iter().map(|scalar| if scalar.undefined.is_some() { None } else { Some(scalar.bits) }).collect()
            };
            let first = operand(&members[0]);
            if first.is_none() || members.iter().any(|member| operand(member) != first) {
                // In a draw, values in doubt decide which invocations are together. If that is
                // open, the relation reports nothing.
                if !shared.program.subgroups {
                    let what = "an operand that is not the same in all of a quad, in the lockstep machine";
                    return Err(Failure::Unsupported(what.into()));
                }
                return failure(Ub::NonUniformOperand, report::non_uniform_operand(module, group.instruction, id));
            }
        }
        match group.cluster {
            Some(cluster) if cluster > shared.subgroup_size => {
                failure(Ub::ClusterSize, report::cluster_size(module, group.instruction, cluster, shared.subgroup_size))
            }
            _ => Ok(()),
        }
    }

    fn scalars(&self, group: &Group, slots: &Slots, lane: usize) -> Scalars {
        let scalar = |&slot| {
            let undefined = registers_in(slot)
                .find(|&register| self.is_undefined(register, lane))
                .map(|register| self.origin(register, lane, group.instruction));
            Scalar { undefined, ..certain(self.bits(slot, lane)) }
        };
        slots.iter().map(scalar).collect()
    }

    /// The result of each member.
    fn results(&self, group: &Group, members: &Members, shared: &Shared<'_>) -> Vec<Scalars> {
        let all = |scalars: Scalars| vec![scalars; members.len()];
        match group.op {
            Core::GroupNonUniformElect => (0..members.len()).map(|at| Scalars::from_slice(&[certain(u64::from(at == 0))])).collect(),
            Core::GroupNonUniformBroadcastFirst => all(members[0].value.clone()),
            Core::GroupNonUniformBallot => {
                let mut words = Scalars::from_elem(certain(0), 4);
                for member in members {
                    let (word, vote) = (&mut words[member.number as usize / 32], member.value[0]);
                    word.bits |= u64::from(vote.is_true()) << (member.number % 32);
                    word.undefined = word.undefined.or(vote.undefined);
                }
                all(words)
            }
            Core::GroupNonUniformAll | Core::GroupNonUniformAny => {
                let joined =
                    |all: Scalars, vote: &Scalars| self.computed(group, group.combine, [group.shape; 2], [&all, vote], members[0].lane);
                let mut votes = members.iter().map(|member| &member.value);
                let first = votes.next().cloned().unwrap_or_default();
                all(votes.fold(first, joined))
            }
            Core::GroupNonUniformAllEqual => all(self.all_equal(group, members)),
            Core::GroupNonUniformInverseBallot
            | Core::GroupNonUniformBallotBitExtract
            | Core::GroupNonUniformBallotBitCount
            | Core::GroupNonUniformBallotFindLSB
            | Core::GroupNonUniformBallotFindMSB => {
                members.iter().map(|member| Scalars::from_slice(&[self.ballot_result(group, member, shared.subgroup_size)])).collect()
            }
            _ if group.operation.is_some() => self.combined(group, members),
            _ => members.iter().map(|member| self.value_from_other(group, members, member, shared)).collect(),
        }
    }

    fn all_equal(&self, group: &Group, members: &Members) -> Scalars {
        let compare = operation::core(match group.shape.scalar {
            operation::Scalar::Bool => Core::LogicalEqual,
            scalar if scalar.is_float() => Core::FOrdEqual,
            _ => Core::IEqual,
        });
        let (first, truth) = (&members[0], Shape::vector(operation::Scalar::Bool, 1));
        let equal = Shape { scalar: operation::Scalar::Bool, ..group.shape };
        let equals =
            members.iter().flat_map(|other| self.computed(group, compare, [group.shape, equal], [&first.value, &other.value], first.lane));
        let results = equals.map(|equal| Scalars::from_slice(&[equal]));
        results.reduce(|all, equal| self.computed(group, group.combine, [truth; 2], [&all, &equal], first.lane)).unwrap_or_default()
    }

    /// The result of an instruction on a member's ballot.
    fn ballot_result(&self, group: &Group, member: &Member, size: u32) -> Scalar {
        let ballot = &member.value;
        let undefined_result = || Scalar::undefined(self.origin_at(group, member, Unspecified::BallotBit));
        let bit = |lane: u32| {
            let word = ballot[lane as usize / 32];
            Scalar { undefined: word.undefined, ..certain(word.bits >> (lane % 32) & 1) }
        };
        match group.op {
            Core::GroupNonUniformInverseBallot => bit(member.number),
            Core::GroupNonUniformBallotBitExtract => match member.selector[0] {
                index if index.undefined.is_some() => Scalar { undefined: index.undefined, ..certain(0) },
                index if index.bits >= size.into() => undefined_result(),
                index => bit(index.bits as u32),
            },
            Core::GroupNonUniformBallotBitCount => {
                let lanes = match group.operation {
                    Some(GroupOperation::InclusiveScan) => member.number + 1,
                    Some(GroupOperation::ExclusiveScan) => member.number,
                    _ => size,
                };
                ballot_below(ballot, lanes).fold(certain(0), |sum, (_, word)| Scalar {
                    undefined: sum.undefined.or(word.undefined),
                    ..certain(sum.bits + u64::from(word.bits.count_ones()))
                })
            }
            op => {
                let mut words = ballot_below(ballot, size);
                if let Some((_, word)) = ballot_below(ballot, size).find(|(_, word)| word.undefined.is_some()) {
                    return Scalar { undefined: word.undefined, ..certain(0) };
                }
                let is_set = |(_, word): &(u32, Scalar)| word.bits != 0;
                let found = match op {
                    Core::GroupNonUniformBallotFindLSB => words.find(is_set).map(|(first, word)| first + word.bits.trailing_zeros()),
                    _ => words.rfind(is_set).map(|(first, word)| first + word.bits.ilog2()),
                };
                found.map_or_else(undefined_result, |lane| certain(lane.into()))
            }
        }
    }

    /// Combines values over lanes, in the order of the lanes of each cluster.
    fn combined(&self, group: &Group, members: &Members) -> Vec<Scalars> {
        let identity: Scalars = std::iter::repeat_n(certain(group.identity), group.to.len()).collect();
        let cluster = |member: &Member| group.cluster.map_or(0, |cluster| member.number / cluster.max(1));
        // Minima and maxima begin with the first operand, as in the relation. An infinity as start
        // would put them in doubt.
        let begins_with_itself = matches!(group.op, Core::GroupNonUniformFMin | Core::GroupNonUniformFMax);
        let mut results: Vec<Scalars> = Vec::with_capacity(members.len());
        for cluster in members.chunk_by(|previous, next| cluster(previous) == cluster(next)) {
            let initial = if begins_with_itself { &cluster[0].value } else { &identity };
            let sums = cluster.iter().scan(initial.clone(), |sum, member| {
                *sum = self.computed(group, group.combine, [group.shape; 2], [sum, &member.value], members[0].lane);
                Some(sum.clone())
            });
            let sums: SmallVec<[Scalars; 4]> = sums.collect();
            match group.operation {
                Some(GroupOperation::InclusiveScan) => results.extend(sums),
                Some(GroupOperation::ExclusiveScan) => {
                    results.push(identity.clone());
                    results.extend_from_slice(&sums[..sums.len() - 1]);
                }
                _ => results.extend(std::iter::repeat_n(&sums[sums.len() - 1], sums.len()).cloned()),
            }
        }
        results
    }

    /// The value of the lane that a member selects.
    fn value_from_other(&self, group: &Group, members: &Members, member: &Member, shared: &Shared<'_>) -> Scalars {
        let all = |origin| member.value.iter().map(|_| Scalar::undefined(origin)).collect();
        let inactive = || self.origin_at(group, member, Unspecified::InactiveInvocation);
        let Some(index) = member.selector.first() else { return all(inactive()) };
        if let Some(origin) = index.undefined {
            return all(origin);
        }
        let (own, index) = (u64::from(member.number), index.bits);
        let is_of_quad = matches!(group.op, Core::GroupNonUniformQuadSwap | Core::GroupNonUniformQuadBroadcast);
        let target = match group.op {
            Core::GroupNonUniformQuadSwap => Some(own ^ (index + 1)),
            Core::GroupNonUniformQuadBroadcast => (index < 4).then_some(own / 4 * 4 + index),
            Core::GroupNonUniformShuffleXor => Some(own ^ index),
            Core::GroupNonUniformShuffleUp => own.checked_sub(index),
            Core::GroupNonUniformShuffleDown => own.checked_add(index),
            _ => Some(index),
        };
        match target.and_then(|target| members.iter().find(|other| u64::from(other.number) == target)) {
            Some(other) => other.value.clone(),
            None if shared.program.subgroups || is_of_quad => all(inactive()),
            // There may be an invocation beyond the quad. The definite answer is the
            // member's own value.
            None => member.value.clone(),
        }
    }

    fn origin_at(&self, group: &Group, member: &Member, kind: Unspecified) -> Origin {
        Origin { kind, instruction: group.instruction, invocation: self.number + member.lane as u32 }
    }

    fn computed(&self, group: &Group, operation: Option<Operation>, [shape, to]: [Shape; 2], args: [&Scalars; 2], lane: usize) -> Scalars {
        let operands = args.map(|scalars| Operand { shape, scalars });
        let occurrence = Occurrence { instruction: group.instruction, invocation: self.number + lane as u32, ..Occurrence::default() };
        operation.and_then(|operation| self.calculator.compute(operation, &operands, &[to], occurrence).ok()).unwrap_or_default()
    }

    /// Passes a barrier of subgroups with the active lanes. If the lanes of a subgroup have taken
    /// different paths, a device need not have them together, and the run is unsupported.
    pub(super) fn meet(&self, shared: &Shared<'_>, group: &mut Workgroup, scope: Scope, semantics: &Semantics) -> Result<(), Failure> {
        if self.active & self.diverged != 0 {
            let what = "OpControlBarrier of the scope Subgroup after its invocations took several paths, in the lockstep machine";
            return Err(Failure::Unsupported(what.into()));
        }
        if let Some(atomics) = &mut group.atomics {
            atomics.fenced = true;
        }
        let Some(detector) = &mut group.detector else { return Ok(()) };
        for subgroup in Self::subgroups_of(self.active, shared.subgroup) {
            let agent = |lane| Agent { workgroup: group.number, local: self.first + lane as u32 };
            let members: SmallVec<[Agent; 4]> = column::lanes(self.active & subgroup).map(agent).collect();
            detector.barrier(&members, scope, semantics);
        }
        Ok(())
    }
}

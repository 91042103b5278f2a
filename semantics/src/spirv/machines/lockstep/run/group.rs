//! Group instructions of a fragment stage (SPIR-V §3.3.24), quad by quad. A draw says which quad
//! an invocation is in, and not who else is in its subgroup. By the definite answer nobody else is.
//!
//! As with derivatives, all lanes of a quad that come to a dynamic instance are active there at
//! once.

use rspirv::spirv::GroupOperation;
use smallvec::SmallVec;

use super::super::column::LANES;
use super::super::program::{Code, Group, Slots};
use super::Shared;
use super::warp::{Warp, kept};
use crate::number::Trust;
use crate::spirv::grammar::Op as Core;
use crate::spirv::operation::{self, Operand, Operation, Shape, Site as Where};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

/// The lanes of a quad that are there, with their operands.
type Members = SmallVec<[(usize, [Scalars; 2]); 4]>;

impl Warp {
    /// A group instruction in all quads.
    pub(super) fn group(&mut self, code: &Code, shared: &Shared<'_>) {
        let (group, active) = (&shared.program.groups[code.c as usize], self.active);
        for first in (0..LANES).step_by(4).filter(|first| active >> first & 0xf != 0) {
            let lanes = (first..first + 4).filter(|lane| active >> lane & 1 == 1);
            let operands = |lane: usize| [&group.value, &group.chosen].map(|slots| self.scalars(group, slots, lane));
            let members: Members = lanes.map(|lane| (lane, operands(lane))).collect();
            let results: SmallVec<[Scalars; 4]> = (0..members.len()).map(|own| self.of_group(group, &members, own)).collect();
            for ((lane, _), scalars) in members.iter().zip(results) {
                for (&slot, scalar) in group.to.iter().zip(scalars) {
                    match scalar.undefined {
                        Some(origin) => self.put_undefined(slot, *lane, origin),
                        None => self.put(slot, *lane, scalar.bits),
                    }
                }
            }
        }
    }

    fn scalars(&self, group: &Group, slots: &Slots, lane: usize) -> Scalars {
        let scalar = |&slot| {
            let undefined = kept(slot).find(|&kept| self.is_undefined(kept, lane)).map(|kept| self.origin(kept, lane, group.instruction));
            Scalar { bits: self.bits(slot, lane), trust: Trust::CERTAIN, undefined }
        };
        slots.iter().map(scalar).collect()
    }

    /// What one of the members is given.
    fn of_group(&self, group: &Group, members: &Members, own: usize) -> Scalars {
        let (lane, [value, chosen]) = &members[own];
        let one = |bits: u64| Scalar { bits, trust: Trust::CERTAIN, undefined: None };
        let values = || members.iter().map(|(_, [value, _])| value);
        match group.op {
            Core::GroupNonUniformElect => Scalars::from_slice(&[one(u64::from(own == 0))]),
            Core::GroupNonUniformBroadcastFirst => members[0].1[0].clone(),
            Core::GroupNonUniformBallot => {
                let votes = members.iter().filter(|(_, [vote, _])| vote.iter().any(|vote| vote.is_true()));
                let bits = votes.fold(0u64, |bits, (lane, _)| bits | 1 << (lane % 4));
                let undefined = values().flatten().find_map(|vote| vote.undefined);
                [Scalar { undefined, ..one(bits) }, one(0), one(0), one(0)].into_iter().collect()
            }
            Core::GroupNonUniformAll | Core::GroupNonUniformAny => {
                let joined = |all: Scalars, vote: &Scalars| self.computed(group, group.joins, [group.shape; 2], [&all, vote], *lane);
                let mut votes = values();
                let first = votes.next().cloned().unwrap_or_default();
                votes.fold(first, joined)
            }
            Core::GroupNonUniformAllEqual => {
                let compare = operation::core(match group.shape.scalar {
                    operation::Scalar::Bool => Core::LogicalEqual,
                    scalar if scalar.is_float() => Core::FOrdEqual,
                    _ => Core::IEqual,
                });
                let truth = Shape::vector(operation::Scalar::Bool, 1);
                let equal = Shape { scalar: operation::Scalar::Bool, ..group.shape };
                let equals =
                    values().flat_map(|value| self.computed(group, compare, [group.shape, equal], [&members[0].1[0], value], *lane));
                let all = equals.map(|equal| Scalars::from_slice(&[equal]));
                all.reduce(|all, equal| self.computed(group, group.joins, [truth; 2], [&all, &equal], *lane)).unwrap_or_default()
            }
            op if group.over.is_some() => {
                let of = match group.over {
                    Some(GroupOperation::InclusiveScan) => &members[..=own],
                    Some(GroupOperation::ExclusiveScan) => &members[..own],
                    _ => &members[..],
                };
                let identity: Scalars = std::iter::repeat_n(one(group.identity), group.to.len()).collect();
                // Minima and maxima begin with the first operand, as the relation's do: an infinity
                // in its place would make them doubtful.
                let begins_with_itself = matches!(op, Core::GroupNonUniformFMin | Core::GroupNonUniformFMax);
                let begin = of.first().filter(|_| begins_with_itself).map_or(&identity, |(_, [value, _])| value).clone();
                of.iter().fold(begin, |sum, (_, [value, _])| self.computed(group, group.joins, [group.shape; 2], [&sum, value], *lane))
            }
            // The others name a lane.
            op => {
                let origin = |kind| Origin { kind, instruction: group.instruction, invocation: self.number + *lane as u32 };
                let all = |origin| value.iter().map(|_| Scalar::undefined(origin)).collect();
                let Some(index) = chosen.first() else { return all(origin(Unspecified::InactiveInvocation)) };
                if let Some(origin) = index.undefined {
                    return all(origin);
                }
                let (in_quad, index) = (*lane as u64 % 4, index.bits);
                let named = match op {
                    Core::GroupNonUniformQuadSwap => Some(in_quad ^ (index + 1)),
                    Core::GroupNonUniformShuffleXor => Some(in_quad ^ index),
                    Core::GroupNonUniformShuffleUp => in_quad.checked_sub(index),
                    Core::GroupNonUniformShuffleDown => in_quad.checked_add(index),
                    _ => Some(index),
                };
                let found = named.and_then(|named| members.iter().find(|(lane, _)| *lane as u64 % 4 == named));
                match (found, op) {
                    (Some((_, [value, _])), _) => value.clone(),
                    (None, Core::GroupNonUniformQuadSwap | Core::GroupNonUniformQuadBroadcast) => {
                        all(origin(Unspecified::InactiveInvocation))
                    }
                    // Beyond the quad there may be somebody; the definite answer is what it has.
                    (None, _) => value.clone(),
                }
            }
        }
    }

    fn computed(&self, group: &Group, by: Option<Operation>, [of, to]: [Shape; 2], args: [&Scalars; 2], lane: usize) -> Scalars {
        let operands = args.map(|scalars| Operand { shape: of, scalars });
        let place = Where { instruction: group.instruction, invocation: self.number + lane as u32, ..Where::default() };
        by.and_then(|operation| self.calculator.compute(operation, &operands, &[to], place).ok()).unwrap_or_default()
    }
}

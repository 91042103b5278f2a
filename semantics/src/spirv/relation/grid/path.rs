//! The control-flow path of an invocation, as far as it decides which invocations of its subgroup
//! execute a group instruction with it.
//!
//! SPIR-V §2.2.5, Dynamic Instance: invocations execute the same dynamic instance if they follow
//! the same control-flow path. Uniform Control Flow: if it is uniform upon entry into a header
//! block, and all invocations leave by the declared merge block, it reconverges there. Here this
//! holds for a subgroup, as in SPV_KHR_subgroup_uniform_control_flow.
//!
//! So a path records the blocks in each construct that the invocation is in, in order. For a
//! construct that was left by its merge block, it records a digest of what happened inside. The
//! digest does not matter if the whole subgroup entered the construct and left it so. A construct
//! that was left otherwise, by a break, a continue or a return, always matters.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::spirv::grammar::Op;
use crate::spirv::module::Module;
use crate::spirv::step::Config;

/// The number of parts of a path that are kept apart in one construct. Earlier parts are
/// one digest.
const MAX_PARTS: usize = 1 << 12;

/// A part of a path within a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// A block.
    Block(u32),
    /// A construct that was left by its merge block: the header, and a digest.
    Merged(u32, u64),
    /// A construct that was left otherwise: the header, and a digest.
    Left(u32, u64),
}

/// A construct that the invocation is in (SPIR-V §2.11.1). The outermost is the whole invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Construct {
    header: u32,
    merge: u32,
    /// The continue target of a loop, or 0.
    target: u32,
    /// The number of calls that the invocation is in, at the construct.
    calls: u32,
    parts: Vec<Part>,
    /// A digest of earlier parts, if there were too many.
    before: u64,
}

/// The path of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    constructs: Vec<Construct>,
    calls: u32,
}

fn digest(of: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Path {
    /// The path of an invocation that starts.
    pub(super) fn start(config: &Config<'_>) -> Path {
        let mut path = Path { constructs: vec![Construct::default()], calls: 0 };
        path.enter(config.module, config.c);
        path
    }

    /// Records that the invocation has applied a rule to the next instruction of `before`, and is
    /// at `after` now.
    pub(super) fn follow(&mut self, before: &Config<'_>, after: &Config<'_>) {
        match before.head().map(|head| head.op) {
            Some(Op::Branch | Op::BranchConditional | Op::Switch) => self.enter(after.module, after.c),
            Some(Op::FunctionCall) => {
                self.calls += 1;
                self.enter(after.module, after.c);
            }
            Some(Op::Return | Op::ReturnValue) => {
                while self.constructs.len() > 1 && self.constructs.last().is_some_and(|inner| inner.calls >= self.calls) {
                    self.leave(false);
                }
                self.calls = self.calls.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn enter(&mut self, module: &Module, label: u32) {
        let exit =
            |construct: &Construct| construct.calls == self.calls && [construct.merge, construct.target, construct.header].contains(&label);
        let exited = self.constructs.iter().skip(1).rposition(exit).map(|at| at + 1);
        if let Some(at) = exited {
            let merges = self.constructs[at].merge == label;
            while self.constructs.len() > at + 1 {
                self.leave(false);
            }
            if merges {
                self.leave(true);
            }
        }
        self.push(Part::Block(label));
        let is_repeated = self.constructs.len() > 1 && self.constructs.last().is_some_and(|c| c.header == label && c.calls == self.calls);
        let code = module.block(label).map_or(&[][..], |block| module.code(block));
        let head = code.len().checked_sub(2).map(|at| &code[at]);
        if let Some(head) = head.filter(|head| matches!(head.op, Op::SelectionMerge | Op::LoopMerge) && !is_repeated) {
            let operands = head.operands(module.words());
            let target = if head.is(Op::LoopMerge) { operands[1] } else { 0 };
            let construct = Construct { header: label, merge: operands[0], target, calls: self.calls, ..Construct::default() };
            self.constructs.push(construct);
        }
    }

    /// Leaves the innermost construct.
    fn leave(&mut self, merged: bool) {
        let Some(inner) = self.constructs.pop() else { return };
        let digest = digest(&inner);
        self.push(if merged { Part::Merged(inner.header, digest) } else { Part::Left(inner.header, digest) });
    }

    fn push(&mut self, part: Part) {
        let Some(inner) = self.constructs.last_mut() else { return };
        if inner.parts.len() == MAX_PARTS {
            inner.before = digest(&(inner.before, &inner.parts));
            inner.parts.clear();
        }
        inner.parts.push(part);
    }

    /// Forgets the past, since the whole subgroup is here.
    pub(super) fn forget(&mut self) {
        for construct in &mut self.constructs {
            construct.parts.clear();
            construct.before = 0;
        }
    }
}

/// Whether the invocations of a tangle certainly execute one dynamic instance. Takes the paths of
/// the tangle and of the whole subgroup. From the point on where control flow is not uniform in the
/// subgroup, the tangle must have taken one path.
pub(super) fn are_together(tangle: &[&Path], subgroup: &[&Path]) -> bool {
    let Some((first, rest)) = subgroup.split_first() else { return true };
    let construct = |path: &Path, level: usize| path.constructs.get(level).map(|c| (c.header, c.calls, c.before));
    let part_of = |path: &Path, level: usize, part: usize| path.constructs.get(level).and_then(|c| c.parts.get(part)).copied();
    let (mut level, mut part) = (0, 0);
    'uniform: while construct(first, level).is_some() {
        if rest.iter().any(|path| construct(path, level) != construct(first, level)) {
            break;
        }
        while let Some(of_first) = part_of(first, level, part) {
            let same = |path: &&Path| match (of_first, part_of(path, level, part)) {
                (Part::Merged(header, _), Some(Part::Merged(other, _))) => header == other,
                (of_first, other) => other == Some(of_first),
            };
            if !rest.iter().all(same) {
                break 'uniform;
            }
            part += 1;
        }
        if rest.iter().any(|path| part_of(path, level, part).is_some()) {
            break;
        }
        (level, part) = (level + 1, 0);
    }
    // The rest of the paths, after the last point where the subgroup was together.
    let same = |a: &Path, b: &Path| match (a.constructs.get(level), b.constructs.get(level)) {
        (Some(x), Some(y)) => {
            let is_same_level = construct(a, level) == construct(b, level) && x.parts.get(part..) == y.parts.get(part..);
            is_same_level && a.constructs.get(level + 1..) == b.constructs.get(level + 1..)
        }
        (a, b) => a.is_none() && b.is_none(),
    };
    let Some((first, others)) = tangle.split_first() else { return true };
    others.iter().all(|path| same(first, path))
}

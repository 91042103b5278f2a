//! Structured control flow (SPIR-V §2.11): the construct of each block, and the branches that may
//! leave or enter one.
//!
//! Dominance here is structural: in the graph that also has an edge from each header to its merge
//! block and its continue target. If a header dominates its merge block in this graph, it is the
//! merge block's immediate dominator. So one walk down the dominator tree finds the innermost
//! construct of every block. Each branch is then checked by the constructs at its two ends, in
//! constant time.

use super::{Checked, Pass};
use crate::spirv::cfg::{ControlFlow, Graph, Header, NONE};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Selection,
    Switch,
    /// A case of the switch with this header. `first` is its first block.
    Case {
        first: u32,
    },
    Loop,
    Continue,
}

/// A construct.
#[derive(Clone, Copy, Debug)]
struct Construct {
    kind: Kind,
    header: u32,
    /// The innermost loop or continue construct, which may be this one.
    innermost_loop: u32,
    /// The innermost switch without a loop between, which may be this one.
    innermost_switch: u32,
    /// The number of constructs around it, including itself.
    depth: u32,
}

/// The constructs of a function.
struct Structure<'f> {
    flow: &'f ControlFlow,
    constructs: Vec<Construct>,
    /// By block: the construct in which the block lies, or `NONE`.
    enclosing: Vec<u32>,
    /// By block: the construct in which its branches start. For a header, its own construct.
    branching: Vec<u32>,
    /// By block: the header of which it is the merge block, and the header of which it is the
    /// continue target.
    merge_of: Vec<u32>,
    continue_of: Vec<u32>,
}

impl Pass<'_> {
    /// Checks a function without merge instructions: it must not select.
    pub(super) fn no_structure(&mut self) -> Checked {
        for (node, block) in self.blocks().iter().enumerate() {
            self.index = block.end as usize - 1;
            if self.flow.graph().reachable(node as u32) && self.flow.graph().successors(node as u32).len() > 1 {
                return self.fail_unmerged(block.label);
            }
            if self.flow.graph().reachable(node as u32) && self.instruction().is(Op::Switch) {
                return self.fail_unmerged(block.label);
            }
        }
        Ok(())
    }

    fn fail_unmerged<T>(&self, label: u32) -> Checked<T> {
        let name = self.instruction().name();
        self.fail(Check::SelectionMerge, format!("{name} of block %{label} selects without an OpSelectionMerge before it"))
    }

    fn label(&self, node: u32) -> u32 {
        self.blocks()[node as usize].label
    }

    fn header(&self, node: u32) -> Checked<Header> {
        let code = self.module.code(&self.blocks()[node as usize]);
        let [.., merge, branch] = code else { return Ok(Header::None) };
        let operands = self.operands(merge);
        Ok(match (merge.op, branch.op) {
            (Op::SelectionMerge, Op::Switch) => Header::Switch { merge: self.target(operands[0], Check::MergeTarget)? },
            (Op::SelectionMerge, _) => Header::Selection { merge: self.target(operands[0], Check::MergeTarget)? },
            (Op::LoopMerge, _) => Header::Loop {
                merge: self.target(operands[0], Check::MergeTarget)?,
                continues: self.target(operands[1], Check::MergeTarget)?,
            },
            _ => Header::None,
        })
    }

    /// Checks the structure of a function that has merge instructions.
    pub(super) fn structure(&mut self) -> Checked {
        let n = self.blocks().len();
        let headers = (0..n as u32).map(|node| self.header(node)).collect::<Checked<Vec<Header>>>()?;
        let flow = ControlFlow::new(std::mem::take(&mut self.flow).into_graph(), headers);
        self.structured(&flow)?;
        self.flow = flow;
        Ok(())
    }

    fn structured(&mut self, flow: &ControlFlow) -> Checked {
        let n = self.blocks().len();
        let mut structure = Structure {
            flow,
            constructs: Vec::new(),
            enclosing: vec![NONE; n],
            branching: vec![NONE; n],
            merge_of: vec![NONE; n],
            continue_of: vec![NONE; n],
        };
        structure.constructs();
        self.headers_dominate(&structure)?;
        let mut back_edges = vec![0u8; n];
        for node in 0..n as u32 {
            if structure.graph().reachable(node) {
                self.index = self.blocks()[node as usize].end as usize - 1;
                self.branches(&structure, node, &mut back_edges)?;
            }
        }
        self.loops_close(&structure, &back_edges)?;
        self.cases(&structure)
    }

    /// Checks that each header strictly dominates its merge block and its continue target
    /// (SPIR-V §2.11.1).
    fn headers_dominate(&mut self, structure: &Structure) -> Checked {
        for node in 0..self.blocks().len() as u32 {
            let header = structure.flow.header(node);
            if !structure.graph().reachable(node) {
                continue;
            }
            self.index = (self.blocks()[node as usize].end as usize).saturating_sub(2);
            let [merge, continues] = header.targets();
            for (target, what) in [(merge, "merge block"), (continues, "continue target")] {
                if target != NONE && target != node && structure.graph().immediate_dominator(target) != node {
                    let [header, target] = [node, target].map(|n| self.label(n));
                    let what = format!("header %{header} does not dominate its {what} %{target}");
                    return self.fail(Check::MergeDominance, what);
                }
            }
        }
        Ok(())
    }

    /// Checks the targets of a block's branches.
    fn branches(&self, structure: &Structure, node: u32, back_edges: &mut [u8]) -> Checked {
        let from = structure.branching[node as usize];
        let successors = structure.flow.graph().successors(node);
        let mut stay_count = 0;
        for &to in successors {
            let enclosing = structure.enclosing[to as usize];
            if matches!(structure.flow.header(to), Header::Loop { .. }) && structure.graph().dominates(to, node) {
                if structure.kind(from) != Some((Kind::Continue, to)) {
                    let [node, to] = [node, to].map(|n| self.label(n));
                    let what = format!("the branch back from %{node} to %{to} does not end the loop's continue construct");
                    return self.fail(Check::BackEdge, what);
                }
                back_edges[to as usize] = back_edges[to as usize].saturating_add(1);
            } else if structure.leaves(from, to, successors) {
            } else if enclosing == from {
                stay_count +=
                    u32::from(structure.graph().immediate_dominator(to) == node && structure.flow.graph().predecessors(to).len() == 1);
            } else if let Some((Kind::Case { .. }, header)) = structure.kind(enclosing)
                && structure.is_case(enclosing, to)
                && (node == header || matches!(structure.kind(from), Some((Kind::Case { .. }, h)) if h == header))
            {
            } else {
                let [node, to] = [node, to].map(|n| self.label(n));
                let outer = structure.depth(enclosing) < structure.depth(from);
                return match outer {
                    true => {
                        self.fail(Check::ConstructExit, format!("the branch from %{node} to %{to} leaves a construct, but not by its exit"))
                    }
                    false => self
                        .fail(Check::ConstructEntry, format!("the branch from %{node} to %{to} enters a construct, but not by its header")),
                };
            }
        }
        let i = self.instruction();
        let has_no_merge = structure.flow.header(node) == Header::None;
        if has_no_merge && (i.is(Op::Switch) || stay_count > 1) {
            return self.fail_unmerged(self.label(node));
        }
        let in_continue = structure.innermost_loop(from).is_some_and(|c| c.kind == Kind::Continue);
        if successors.is_empty() && in_continue {
            let what = format!("{} of block %{} ends a continue construct, which must branch back", i.name(), self.label(node));
            return self.fail(Check::BackEdge, what);
        }
        Ok(())
    }

    /// Checks that exactly one branch goes back to each loop's header.
    fn loops_close(&mut self, structure: &Structure, back_edges: &[u8]) -> Checked {
        for (node, &back_edges) in back_edges.iter().enumerate() {
            let is_loop = matches!(structure.flow.header(node as u32), Header::Loop { .. });
            if !is_loop || !structure.graph().reachable(node as u32) || back_edges == 1 {
                continue;
            }
            self.index = self.blocks()[node].end as usize - 1;
            let count = if back_edges == 0 { "no branch goes" } else { "several branches go" };
            return self.fail(Check::BackEdge, format!("{count} back to loop header %{}; one must", self.label(node as u32)));
        }
        Ok(())
    }

    /// Checks how the cases of each OpSwitch fall through (SPIR-V §2.11.1). A case falls through
    /// to at most one other case, the next.
    fn cases(&mut self, structure: &Structure) -> Checked {
        let n = self.blocks().len();
        // By first block of a case: the case that falls through to it, and the case that it falls
        // through to.
        let (mut from_case, mut to_case) = (vec![NONE; n], vec![NONE; n]);
        for node in 0..n as u32 {
            let Some((Kind::Case { first }, header)) = structure.kind(structure.branching[node as usize]) else { continue };
            for &to in structure.flow.graph().successors(node) {
                let other = structure.enclosing[to as usize];
                if !structure.is_case(other, to) || structure.kind(other).map(|(_, h)| h) != Some(header) || to == first {
                    continue;
                }
                self.index = self.blocks()[node as usize].end as usize - 1;
                let [this, next] = [first, to].map(|n| self.label(n));
                if to_case[first as usize] != NONE && to_case[first as usize] != to
                    || from_case[to as usize] != NONE && from_case[to as usize] != first
                {
                    return self.fail(Check::Switch, format!("case %{this} and another fall through to or from %{next}; only one may"));
                }
                (to_case[first as usize], from_case[to as usize]) = (to, first);
            }
        }
        for node in 0..n {
            if !matches!(structure.flow.header(node as u32), Header::Switch { .. }) {
                continue;
            }
            self.index = self.blocks()[node].end as usize - 1;
            let i = self.instruction();
            let default = self.target(self.operands(&i)[1], Check::BranchTarget)?;
            let mut targets = Vec::new();
            for (_, label) in self.module.switch_cases(&i) {
                let target = self.target(label, Check::BranchTarget)?;
                if targets.last() != Some(&target) {
                    targets.push(target);
                }
            }
            for (at, &target) in targets.iter().enumerate() {
                let next = to_case[target as usize];
                if next != NONE && next != default && target != default && targets.get(at + 1) != Some(&next) {
                    let [this, next] = [target, next].map(|n| self.label(n));
                    let what = format!("case %{this} falls through to %{next}, which is not the next case of its OpSwitch");
                    return self.fail(Check::Switch, what);
                }
            }
        }
        Ok(())
    }
}

impl<'f> Structure<'f> {
    /// The graph in which dominance is structural.
    fn graph(&self) -> &'f Graph {
        self.flow.structural()
    }

    /// Finds the construct of every block, down the dominator tree.
    fn constructs(&mut self) {
        let graph = self.graph();
        for node in (0..self.enclosing.len() as u32).filter(|&node| graph.reachable(node)) {
            match self.flow.header(node) {
                Header::None => {}
                Header::Selection { merge } | Header::Switch { merge } => self.merge_of[merge as usize] = node,
                Header::Loop { merge, continues } => {
                    self.merge_of[merge as usize] = node;
                    self.continue_of[continues as usize] = node;
                }
            }
        }
        for node in graph.by_dominance() {
            let dominator = graph.immediate_dominator(node);
            let enclosing = match dominator {
                NONE => NONE,
                dominator => self.construct_below(dominator, node),
            };
            self.enclosing[node as usize] = enclosing;
            self.branching[node as usize] = match self.flow.header(node) {
                Header::None => enclosing,
                Header::Selection { .. } => self.push(Kind::Selection, node, enclosing),
                Header::Switch { .. } => self.push(Kind::Switch, node, enclosing),
                Header::Loop { continues, .. } if continues == node => self.push(Kind::Continue, node, enclosing),
                Header::Loop { .. } => self.push(Kind::Loop, node, enclosing),
            };
        }
    }

    /// The construct in which a block lies, given its immediate dominator.
    fn construct_below(&mut self, dominator: u32, node: u32) -> u32 {
        let enclosing = self.enclosing[dominator as usize];
        let branching = self.branching[dominator as usize];
        match self.flow.header(dominator) {
            Header::Selection { merge } | Header::Switch { merge } | Header::Loop { merge, .. } if merge == node => enclosing,
            Header::Loop { continues, .. } if continues == node => self.push(Kind::Continue, dominator, enclosing),
            Header::Switch { .. } if self.graph().predecessors(node).binary_search(&dominator).is_ok() => {
                self.push(Kind::Case { first: node }, dominator, branching)
            }
            _ => branching,
        }
    }

    fn push(&mut self, kind: Kind, header: u32, outer: u32) -> u32 {
        let number = self.constructs.len() as u32;
        let (innermost_loop, innermost_switch, depth) = match self.constructs.get(outer as usize) {
            Some(outer) => (outer.innermost_loop, outer.innermost_switch, outer.depth + 1),
            None => (NONE, NONE, 1),
        };
        let (innermost_loop, innermost_switch) = match kind {
            Kind::Selection | Kind::Case { .. } => (innermost_loop, innermost_switch),
            Kind::Switch => (innermost_loop, number),
            Kind::Loop | Kind::Continue => (number, NONE),
        };
        self.constructs.push(Construct { kind, header, innermost_loop, innermost_switch, depth });
        number
    }

    fn kind(&self, construct: u32) -> Option<(Kind, u32)> {
        self.constructs.get(construct as usize).map(|c| (c.kind, c.header))
    }

    fn depth(&self, construct: u32) -> u32 {
        self.constructs.get(construct as usize).map_or(0, |c| c.depth)
    }

    fn innermost_loop(&self, construct: u32) -> Option<Construct> {
        let innermost = self.constructs.get(construct as usize)?.innermost_loop;
        self.constructs.get(innermost as usize).copied()
    }

    /// Whether a construct is a case with this first block.
    fn is_case(&self, construct: u32, first: u32) -> bool {
        matches!(self.kind(construct), Some((Kind::Case { first: begins }, _)) if begins == first)
    }

    /// Whether a branch from a construct to a block is an exit. Exits lead to the merge block of
    /// the construct itself, of the innermost loop or of the innermost switch, or to the innermost
    /// loop's continue target.
    fn leaves(&self, from: u32, to: u32, successors: &[u32]) -> bool {
        let Some(&construct) = self.constructs.get(from as usize) else { return false };
        let innermost = self.innermost_loop(from);
        let merges = self.merge_of[to as usize];
        if merges != NONE {
            // In a continue construct, only the block that branches back may leave the loop.
            let leaves_loop = innermost.is_some_and(|c| {
                c.header == merges && (c.kind == Kind::Loop || construct.kind == Kind::Continue && successors.contains(&c.header))
            });
            let leaves_switch = self.kind(construct.innermost_switch) == Some((Kind::Switch, merges));
            let leaves_selection = construct.header == merges && construct.kind == Kind::Selection;
            if leaves_loop || leaves_switch || leaves_selection {
                return true;
            }
        }
        let continues = self.continue_of[to as usize];
        continues != NONE && innermost.is_some_and(|c| c.kind == Kind::Loop && c.header == continues)
    }
}

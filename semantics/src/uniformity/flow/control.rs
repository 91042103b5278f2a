//! The shape of the control flow: orders, loops, dominance frontiers, control dependence.

use super::{Block, Flow, NONE};
use crate::spirv::cfg::Graph;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The loops of a function, and the places where phis may stand.
pub(super) struct Shape {
    /// The reachable blocks. Each comes before its successors, except along edges that go back.
    pub order: Vec<u32>,
    /// By block: the blocks that it immediately dominates, in that order.
    pub dominated: Vec<Vec<u32>>,
    /// By block: its dominance frontier.
    pub frontier: Vec<Vec<u32>>,
    /// By block: the innermost natural loop around it, or `NONE`.
    pub loop_of: Vec<u32>,
    /// By loop: the loop around it, or `NONE`.
    pub outer: Vec<u32>,
    /// By loop: the number of loops around it.
    pub depth: Vec<u32>,
    /// By block: whether an edge goes back to it, so that it is a header.
    pub header: Vec<bool>,
    /// The number of entries of all frontiers. If it reaches [`super::MAX_MERGES`], the frontiers
    /// are incomplete.
    pub frontiers: usize,
}

impl Shape {
    pub(super) fn of(flow: &Flow) -> Shape {
        let n = flow.blocks.len();
        let successors: Vec<_> = flow.blocks.iter().map(|b| b.end.successors()).collect();
        let graph = Graph::new(successors.iter().map(|s| s.iter().map(|b| b.0)));
        let mut order = crate::spirv::cfg::postorder(0, |block| graph.successors(block).to_vec());
        order.reverse();
        let mut number = vec![NONE; n];
        for (i, &block) in order.iter().enumerate() {
            number[block as usize] = i as u32;
        }
        let mut dominated = vec![Vec::new(); n];
        let mut frontier: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut header = vec![false; n];
        let mut frontiers = 0;
        for &block in &order {
            let idom = graph.immediate_dominator(block);
            if idom != crate::spirv::cfg::NONE {
                dominated[idom as usize].push(block);
            }
            let live = || graph.predecessors(block).iter().copied().filter(|p| number[*p as usize] != NONE);
            header[block as usize] = live().any(|p| number[p as usize] >= number[block as usize]);
            if live().count() > 1 || header[block as usize] {
                for p in live() {
                    let mut at = p;
                    while at != idom && at != crate::spirv::cfg::NONE && frontiers < super::MAX_MERGES {
                        frontiers += 1;
                        if frontier[at as usize].last() != Some(&block) {
                            frontier[at as usize].push(block);
                        }
                        at = graph.immediate_dominator(at);
                    }
                }
            }
        }
        let outer = Vec::new();
        let mut shape = Shape { loop_of: vec![NONE; n], depth: outer.clone(), outer, order, dominated, frontier, header, frontiers };
        shape.loops(&graph, &number);
        shape
    }

    /// Finds natural loops, from the inside out.
    fn loops(&mut self, graph: &Graph, number: &[u32]) {
        let n = number.len();
        // By block: the header of its loop so far. Initially the block itself.
        let mut parent: Vec<u32> = (0..n as u32).collect();
        fn find(parent: &mut [u32], mut at: u32) -> u32 {
            while parent[at as usize] != at {
                let grandparent = parent[parent[at as usize] as usize];
                parent[at as usize] = grandparent;
                at = grandparent;
            }
            at
        }
        // By header: its loop.
        let mut loop_at = vec![NONE; n];
        let mut stack = Vec::new();
        for &header in self.order.clone().iter().rev() {
            if !self.header[header as usize] {
                continue;
            }
            let id = self.outer.len() as u32;
            self.outer.push(NONE);
            loop_at[header as usize] = id;
            self.loop_of[header as usize] = id;
            for &p in graph.predecessors(header) {
                if number[p as usize] != NONE && graph.dominates(header, p) {
                    stack.push(find(&mut parent, p));
                }
            }
            while let Some(at) = stack.pop() {
                if at == header || parent[at as usize] != at {
                    continue;
                }
                parent[at as usize] = header;
                match loop_at[at as usize] {
                    NONE => self.loop_of[at as usize] = id,
                    inner => self.outer[inner as usize] = id,
                }
                for &p in graph.predecessors(at) {
                    if number[p as usize] != NONE {
                        let p = find(&mut parent, p);
                        if p != header {
                            stack.push(p);
                        }
                    }
                }
            }
        }
        // Outer loops have higher numbers than inner loops.
        self.depth = vec![0; self.outer.len()];
        for id in (0..self.outer.len()).rev() {
            if let Some(depth) = self.depth.get(self.outer[id] as usize) {
                self.depth[id] = depth + 1;
            }
        }
    }

    /// Whether loop `outer` contains a block whose innermost loop is `inner`. `NONE` means no loop.
    pub(super) fn encloses(&self, outer: u32, mut inner: u32) -> bool {
        if outer == NONE {
            return true;
        }
        while inner != NONE {
            if inner == outer {
                return true;
            }
            if self.depth[inner as usize] <= self.depth[outer as usize] {
                return false;
            }
            inner = self.outer[inner as usize];
        }
        false
    }
}

/// What a block is control dependent on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DependsOn {
    /// On the call of the function.
    Entry,
    /// On the branch at the end of this block.
    Branch(u32),
}

/// Calls `depends` for each control dependence of a live block. `successors` are the live edges.
/// `exits` says whether the invocation may end at the end of a block. `loops` are those of
/// [`Flow::looped`]: an edge back to the header may also lead to the block after the loop.
pub(super) fn dependences(
    successors: &[Vec<u32>],
    live: &[bool],
    order: &[u32],
    exits: &[bool],
    loops: &[(Block, Block, Option<Block>)],
    mut depends: impl FnMut(u32, DependsOn),
) {
    let n = successors.len();
    let mut ends = exits.to_vec();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut number = vec![0; if loops.is_empty() { 0 } else { n }];
    let mut after = FxHashMap::default();
    if !loops.is_empty() {
        for (at, &block) in order.iter().enumerate() {
            number[block as usize] = at;
        }
        let is_live = |block: &Block| live[block.0 as usize];
        after.extend(loops.iter().map(|(header, after, returns)| (header.0, [Some(*after), *returns].into_iter().flatten().find(is_live))));
    }
    // Other targets of a block: the blocks after the loops to whose headers it goes back.
    let mut extra_targets: FxHashMap<u32, SmallVec<[u32; 1]>> = FxHashMap::default();
    for &block in order.iter().filter(|b| live[**b as usize] && !loops.is_empty()) {
        for &to in successors[block as usize].iter().filter(|to| number[**to as usize] <= number[block as usize]) {
            match after.get(&to) {
                Some(Some(after)) => {
                    extra_targets.entry(block).or_default().push(after.0);
                    predecessors[after.0 as usize].push(block);
                }
                Some(None) => ends[block as usize] = true,
                None => {}
            }
        }
    }
    // Loops that are never left get an edge to the exit.
    for &block in order {
        for &to in &successors[block as usize] {
            predecessors[to as usize].push(block);
        }
    }
    let mut reaches = vec![false; n];
    let mut stack: Vec<u32> = (0..n as u32).filter(|&b| live[b as usize] && ends[b as usize]).collect();
    let mut unvisited = order.iter().rev();
    loop {
        while let Some(block) = stack.pop() {
            if !std::mem::replace(&mut reaches[block as usize], true) {
                stack.extend(predecessors[block as usize].iter().filter(|p| !reaches[**p as usize]));
            }
        }
        match unvisited.find(|&&block| live[block as usize] && !reaches[block as usize]) {
            Some(&block) => {
                ends[block as usize] = true;
                stack.push(block);
            }
            None => break,
        }
    }
    // Node 0 is the exit. Block b is node b + 1.
    let exit: Vec<u32> = (0..n as u32).filter(|&b| live[b as usize] && ends[b as usize]).map(|b| b + 1).collect();
    let reversed = Graph::new((0..n + 1).map(|node| match node {
        0 => exit.clone(),
        _ => predecessors[node - 1].iter().map(|p| p + 1).collect(),
    }));
    let post_dominator = |block: u32| reversed.immediate_dominator(block + 1);
    let mut walk = |from: u32, until: u32, on: DependsOn| {
        let mut at = from + 1;
        while at != until && at != 0 && at != crate::spirv::cfg::NONE {
            depends(at - 1, on);
            at = post_dominator(at - 1);
        }
    };
    if live.first() == Some(&true) {
        walk(0, 0, DependsOn::Entry);
    }
    for &block in order {
        let to = &successors[block as usize];
        let extra_targets = extra_targets.get(&block).map_or(&[][..], |b| b);
        if !live[block as usize] || to.len() + extra_targets.len() + usize::from(ends[block as usize]) < 2 {
            continue;
        }
        let until = post_dominator(block);
        for &successor in to.iter().chain(extra_targets) {
            walk(successor, until, DependsOn::Branch(block));
        }
    }
}

//! The control-flow graph of one function: predecessors, reachability, dominators and orders.
//!
//! Dominators are found by the algorithm of Lengauer and Tarjan (1979, the simple version, O(m log
//! n)). So even hostile graphs take time in proportion to their size, up to a logarithm.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A block, by its index in the function.
pub type Node = u32;

/// The number that means no block.
pub const NONE: Node = u32::MAX;

/// The kind of construct of which a block is the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The block is not a header.
    None,
    /// A selection by OpBranchConditional.
    Selection {
        /// The merge block.
        merge: Node,
    },
    /// A selection by OpSwitch.
    Switch {
        /// The merge block.
        merge: Node,
    },
    /// A loop.
    Loop {
        /// The merge block.
        merge: Node,
        /// The continue target.
        continues: Node,
    },
}

impl Header {
    /// Its merge block and its continue target, each `NONE` if it has none.
    pub fn targets(self) -> [Node; 2] {
        match self {
            Header::None => [NONE; 2],
            Header::Selection { merge } | Header::Switch { merge } => [merge, NONE],
            Header::Loop { merge, continues } => [merge, continues],
        }
    }
}

/// The control flow of a function: its graph, and its merge instructions.
#[derive(Clone, Debug, Default)]
pub struct ControlFlow {
    graph: Graph,
    /// By block. Empty if no block is a header.
    headers: Vec<Header>,
    /// The graph with the edges of merge instructions, if it has other dominators.
    structural: Option<Graph>,
}

impl ControlFlow {
    /// The flow of a graph whose blocks have these headers. An empty list means that no block is
    /// a header.
    pub fn new(graph: Graph, headers: Vec<Header>) -> ControlFlow {
        let structural = if headers.is_empty() { None } else { graph.with(|node| headers[node as usize].targets()) };
        ControlFlow { graph, headers, structural }
    }

    /// The graph of its branches.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The graph of its branches, without the rest.
    pub fn into_graph(self) -> Graph {
        self.graph
    }

    /// A graph for structural dominance: with an edge from each header to its merge block and its
    /// continue target (SPIR-V §2.11.1).
    pub fn structural(&self) -> &Graph {
        self.structural.as_ref().unwrap_or(&self.graph)
    }

    /// The header of a block.
    pub fn header(&self, block: Node) -> Header {
        self.headers.get(block as usize).copied().unwrap_or(Header::None)
    }
}

/// The graph; block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    successors: Lists,
    predecessors: Lists,
    immediate_dominator: Vec<Node>,
    /// The interval of a block in a preorder of the dominator tree: (first, one past the last). (0,
    /// 0) if unreachable.
    interval: Vec<(u32, u32)>,
}

/// The nodes that `first` reaches by edges, including itself, in depth-first postorder. A node
/// comes after all nodes that it reaches, except those that lead back to it. In particular it comes
/// after the target of its first edge.
///
/// Of the nodes that a node dominates, only those that the target of its first edge reaches come
/// before this target. So if the first edge of a header leads to its merge block, the construct
/// comes after the merge block.
pub fn postorder(first: u32, edges: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let (mut finished, mut seen) = (Vec::new(), FxHashSet::from_iter([first]));
    let mut stack = vec![(first, edges(first), 0)];
    while let Some((node, to, at)) = stack.last_mut() {
        match to.get(*at) {
            Some(&target) => {
                *at += 1;
                if seen.insert(target) {
                    stack.push((target, edges(target), 0));
                }
            }
            None => {
                finished.push(*node);
                stack.pop();
            }
        }
    }
    finished
}

/// The number of arrays in the search for dominators. Each has an entry for each block.
const ARRAYS: usize = 11;

/// A list of blocks for each block.
#[derive(Clone, Debug, Default)]
struct Lists {
    start: Vec<u32>,
    nodes: Vec<Node>,
}

impl Lists {
    fn of(&self, block: Node) -> &[Node] {
        let block = block as usize;
        &self.nodes[self.start[block] as usize..self.start[block + 1] as usize]
    }
}

impl Graph {
    /// The graph with these successors of each block, in order. `NONE` is no successor, and
    /// duplicates count once.
    pub fn new<S: IntoIterator<Item = Node>>(successors: impl ExactSizeIterator<Item = S>) -> Graph {
        let n = successors.len();
        let mut forward = Lists { start: Vec::with_capacity(n + 1), nodes: Vec::with_capacity(2 * n) };
        let mut predecessor_start = vec![0u32; n + 1];
        // By block: the last block that has it as a successor so far.
        let mut last_source: SmallVec<[Node; 16]> = SmallVec::from_elem(NONE, n);
        for (from, next) in successors.enumerate() {
            forward.start.push(forward.nodes.len() as u32);
            for to in next {
                if to != NONE && last_source[to as usize] != from as u32 {
                    last_source[to as usize] = from as u32;
                    forward.nodes.push(to);
                    predecessor_start[to as usize + 1] += 1;
                }
            }
        }
        forward.start.push(forward.nodes.len() as u32);
        for i in 0..n {
            predecessor_start[i + 1] += predecessor_start[i];
        }
        let mut place: SmallVec<[u32; 17]> = SmallVec::from_slice(&predecessor_start);
        let mut predecessors = vec![0; predecessor_start[n] as usize];
        for from in 0..n as u32 {
            for &to in forward.of(from) {
                predecessors[place[to as usize] as usize] = from;
                place[to as usize] += 1;
            }
        }
        let mut graph = Graph {
            successors: forward,
            predecessors: Lists { start: predecessor_start, nodes: predecessors },
            immediate_dominator: vec![NONE; n],
            interval: vec![(0, 0); n],
        };
        if n > 0 {
            graph.dominators();
        }
        graph
    }

    /// The graph with two more edges from each block ([`NONE`] is no edge). `None` if they change
    /// no dominator.
    pub fn with(&self, extra_edges: impl Fn(Node) -> [Node; 2]) -> Option<Graph> {
        let n = self.interval.len() as u32;
        // An edge changes no dominator if it comes from the target's immediate dominator, or from
        // an unreachable block.
        let changes = |from: Node| extra_edges(from).iter().any(|&to| to != NONE && self.immediate_dominator(to) != from);
        let changes_any = (0..n).any(|node| self.reachable(node) && changes(node));
        changes_any.then(|| Graph::new((0..n).map(|node| self.successors(node).iter().copied().chain(extra_edges(node)))))
    }

    /// The reachable blocks, each after its immediate dominator.
    pub fn by_dominance(&self) -> Vec<Node> {
        let reachable = (0..self.interval.len() as u32).filter(|&block| self.reachable(block));
        let mut order = vec![NONE; reachable.clone().count()];
        for block in reachable {
            order[self.interval[block as usize].0 as usize] = block;
        }
        order
    }

    /// The blocks that branch to this one, each once.
    pub fn predecessors(&self, block: Node) -> &[Node] {
        self.predecessors.of(block)
    }

    /// The blocks that this one branches to, each once.
    pub fn successors(&self, block: Node) -> &[Node] {
        self.successors.of(block)
    }

    /// Whether control can reach the block from the entry.
    pub fn reachable(&self, block: Node) -> bool {
        self.interval[block as usize].1 != 0
    }

    /// The block's immediate dominator; `NONE` for the entry and for unreachable blocks.
    pub fn immediate_dominator(&self, block: Node) -> Node {
        self.immediate_dominator[block as usize]
    }

    /// Whether every path from the entry to `b` passes `a`. True for every `a` if `b`
    /// is unreachable.
    pub fn dominates(&self, a: Node, b: Node) -> bool {
        if !self.reachable(b) {
            return true;
        }
        let ((first, end), (at, _)) = (self.interval[a as usize], self.interval[b as usize]);
        first <= at && at < end
    }

    fn dominators(&mut self) {
        let n = self.interval.len();
        if n == 1 {
            self.interval[0] = (0, 1);
            return;
        }
        // Depth-first numbering. From here on, blocks are these numbers.
        let mut arrays: SmallVec<[u32; 96]> = SmallVec::from_elem(NONE, ARRAYS * n);
        let mut arrays = arrays.chunks_exact_mut(n);
        let [number, vertex, parent, semi, ancestor, label, bucket_head, bucket_next, dominator, size, next] =
            std::array::from_fn(|_| arrays.next().unwrap_or_default());
        let mut count = 0;
        let mut stack: SmallVec<[(Node, u32); 16]> = SmallVec::from_slice(&[(0, 0)]);
        while let Some((block, from)) = stack.pop() {
            if number[block as usize] != NONE {
                continue;
            }
            let index = count as u32;
            number[block as usize] = index;
            (vertex[count], parent[count]) = (block, from);
            count += 1;
            for &to in self.successors(block).iter().rev() {
                if number[to as usize] == NONE {
                    stack.push((to, index));
                }
            }
        }
        for w in 0..count {
            (semi[w], label[w], dominator[w], size[w], next[w]) = (w as u32, w as u32, 0, 1, 0);
        }
        let mut forest = Forest { ancestor, label, path: Vec::new() };
        for w in (1..count as u32).rev() {
            for i in 0..self.predecessors(vertex[w as usize]).len() {
                let v = number[self.predecessors(vertex[w as usize])[i] as usize];
                if v != NONE {
                    let u = forest.evaluate(v, semi);
                    semi[w as usize] = semi[w as usize].min(semi[u as usize]);
                }
            }
            let s = semi[w as usize] as usize;
            bucket_next[w as usize] = bucket_head[s];
            bucket_head[s] = w;
            let p = parent[w as usize];
            forest.ancestor[w as usize] = p;
            let mut v = std::mem::replace(&mut bucket_head[p as usize], NONE);
            while v != NONE {
                let u = forest.evaluate(v, semi);
                dominator[v as usize] = if semi[u as usize] < semi[v as usize] { u } else { p };
                v = bucket_next[v as usize];
            }
        }
        for w in 1..count {
            if dominator[w] != semi[w] {
                dominator[w] = dominator[dominator[w] as usize];
            }
        }
        // Dominators have smaller numbers. So sizes add up backwards, and preorder positions are
        // assigned forwards.
        for w in (1..count).rev() {
            size[dominator[w] as usize] += size[w];
        }
        for w in 0..count {
            let first = if w == 0 {
                0
            } else {
                let d = dominator[w] as usize;
                self.immediate_dominator[vertex[w] as usize] = vertex[d];
                let first = next[d];
                next[d] += size[w];
                first
            };
            next[w] = first + 1;
            self.interval[vertex[w] as usize] = (first, first + size[w]);
        }
    }
}

/// The forest of Lengauer and Tarjan, with path compression and no recursion.
struct Forest<'a> {
    ancestor: &'a mut [u32],
    label: &'a mut [u32],
    path: Vec<u32>,
}

impl Forest<'_> {
    fn evaluate(&mut self, v: u32, semi: &[u32]) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(u) = self.path.pop() {
            let above = self.ancestor[u as usize] as usize;
            if semi[self.label[above] as usize] < semi[self.label[u as usize] as usize] {
                self.label[u as usize] = self.label[above];
            }
            self.ancestor[u as usize] = self.ancestor[above];
        }
        self.label[v as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Dominance by its definition: without `a`, `b` is unreachable.
    fn dominates_by_definition(successors: &[[Node; 2]], a: Node, b: Node) -> bool {
        let reach = |without: Node| {
            let mut seen = vec![false; successors.len()];
            let mut stack = if without == 0 { vec![] } else { vec![0u32] };
            while let Some(block) = stack.pop() {
                if block == without || std::mem::replace(&mut seen[block as usize], true) {
                    continue;
                }
                stack.extend(successors[block as usize].iter().filter(|&&t| t != NONE));
            }
            seen
        };
        !reach(NONE)[b as usize] || a == b || !reach(a)[b as usize]
    }

    /// The nodes that a node reaches, including itself, by the definition: the least set that is
    /// closed under edges.
    fn reached_by_definition(edges: &[Vec<u32>], from: u32) -> Vec<bool> {
        let mut reached = vec![false; edges.len()];
        reached[from as usize] = true;
        for _ in 0..edges.len() {
            for (node, to) in edges.iter().enumerate() {
                if reached[node] {
                    to.iter().for_each(|&to| reached[to as usize] = true);
                }
            }
        }
        reached
    }

    /// What is wrong with an order of the nodes that node 0 reaches, if anything.
    fn misplaced(edges: &[Vec<u32>], order: &[u32]) -> Option<String> {
        let reached: Vec<Vec<bool>> = (0..edges.len() as u32).map(|node| reached_by_definition(edges, node)).collect();
        let reaches = |a: u32, b: u32| reached[a as usize][b as usize];
        let without = |gone: u32| {
            let left = |(node, to): (usize, &Vec<u32>)| if node as u32 == gone { Vec::new() } else { to.clone() };
            reached_by_definition(&edges.iter().enumerate().map(left).collect::<Vec<_>>(), 0)
        };
        let nodes = 0..edges.len() as u32;
        let mut place = vec![None; edges.len()];
        for (at, &node) in order.iter().enumerate() {
            if place[node as usize].replace(at).is_some() {
                return Some(format!("{node} twice"));
            }
        }
        if let Some(node) = nodes.clone().find(|&node| place[node as usize].is_some() != reaches(0, node)) {
            return Some(format!("{node} reached or not"));
        }
        for a in nodes.clone().filter(|&a| reaches(0, a)) {
            let after = edges[a as usize].iter().find(|&&b| !reaches(b, a) && place[b as usize] > place[a as usize]);
            if let Some(b) = after {
                return Some(format!("{a} before {b}, which it leads to"));
            }
            // A header, its merge block, and the nodes that only the header leads to.
            let Some(&merge) = edges[a as usize].first().filter(|&&merge| !reaches(merge, a)) else { continue };
            let past_header = without(a);
            let inside = |x: u32| x != a && reaches(a, x) && !past_header[x as usize] && !reaches(merge, x);
            if let Some(x) = nodes.clone().find(|&x| inside(x) && place[x as usize] < place[merge as usize]) {
                return Some(format!("{x} of the construct of {a} before the merge block {merge}"));
            }
        }
        None
    }

    fn graphs() -> impl Strategy<Value = Vec<Vec<u32>>> {
        (1usize..12).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n as u32, 0..4), n))
    }

    #[test]
    fn an_order_that_is_none_is_seen() {
        // 0 is a header with the merge block 1 and the construct 2.
        let edges = [vec![1, 2], vec![], vec![1]];
        assert_eq!(misplaced(&edges, &[1, 2, 0]), None);
        for (order, what) in [
            (&[1, 0, 2][..], "0 before 2, which it leads to"),
            (&[2, 1, 0], "2 of the construct of 0 before the merge block 1"),
            (&[1, 0], "2 reached or not"),
            (&[1, 2, 2, 0], "2 twice"),
        ] {
            assert_eq!(misplaced(&edges, order).as_deref(), Some(what));
        }
        // The construct does not reach its merge block.
        let edges = [vec![1, 2], vec![], vec![]];
        assert_eq!(misplaced(&edges, &[1, 2, 0]), None);
        assert_eq!(misplaced(&edges, &[2, 1, 0]).as_deref(), Some("2 of the construct of 0 before the merge block 1"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn a_postorder_is_what_its_definition_says(edges in graphs()) {
            let order = postorder(0, |node| edges[node as usize].clone());
            prop_assert_eq!(misplaced(&edges, &order), None);
        }

        #[test]
        fn dominance_is_what_its_definition_says(edges in (1usize..14).prop_flat_map(|n| {
            let target = prop_oneof![1 => Just(NONE), 5 => 0..n as u32];
            prop::collection::vec([target.clone(), target], n)
        })) {
            let graph = Graph::new(edges.iter().copied());
            let order = graph.by_dominance();
            prop_assert_eq!(order.len(), (0..edges.len() as u32).filter(|&b| graph.reachable(b)).count());
            for (at, &block) in order.iter().enumerate() {
                let dominator = graph.immediate_dominator(block);
                prop_assert!(at == 0 || order[..at].contains(&dominator), "{} comes before {}", block, dominator);
            }
            for a in 0..edges.len() as u32 {
                for b in 0..edges.len() as u32 {
                    prop_assert_eq!(graph.dominates(a, b), dominates_by_definition(&edges, a, b), "{} over {}", a, b);
                }
            }
        }
    }

    #[test]
    fn a_chain_whose_every_block_leaves_for_the_last_is_not_quadratic() {
        let n = 200_000u32;
        let edges: Vec<[Node; 2]> = (0..n).map(|i| if i + 1 < n { [i + 1, n - 1] } else { [NONE, NONE] }).collect();
        let graph = Graph::new(edges.into_iter());
        assert_eq!(graph.immediate_dominator(n - 1), 0);
        assert!(graph.dominates(n - 3, n - 2));
        assert_eq!(graph.predecessors(n - 1).len() as u32, n - 1);
    }
}

//! The graph of implications (seed 001 "Validating a statement"): an edge from `a` to `b` says that
//! if `a` must be uniform, then `b` must be uniform.
//!
//! A program is rejected if *must be uniform* leads to *cannot be uniform*. The path from one to
//! the other is the explanation, so each edge carries the rule that adds it. Adding an edge
//! takes constant time. A search takes time linear in the number of edges. The graph may have
//! cycles (U-12).

use crate::rule::Rule;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// The index that means no edge.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: Node,
    rule: Rule,
    /// The next edge from the same node, or `NONE`.
    next: u32,
}

/// A graph whose nodes carry labels.
#[derive(Clone, Debug)]
pub struct Graph<L> {
    labels: Vec<L>,
    /// The last edge that was added from each node, or `NONE`.
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl<L> Default for Graph<L> {
    fn default() -> Graph<L> {
        Graph { labels: Vec::new(), first: Vec::new(), edges: Vec::new() }
    }
}

/// A step of a path: the node, and the rule of the edge that leads to it. `None` for the
/// first node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The node.
    pub node: Node,
    /// The rule of the edge.
    pub rule: Option<Rule>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Reached {
    /// By node: the edge that reached it, or `NONE` for a start. `None` if it was not reached.
    incoming_edge: Vec<Option<u32>>,
    from: Vec<Node>,
}

impl<L> Graph<L> {
    /// Adds a node.
    pub fn node(&mut self, label: L) -> Node {
        self.labels.push(label);
        self.first.push(NONE);
        Node(self.labels.len() as u32 - 1)
    }

    /// Adds an edge: if `a` must be uniform, `b` must be uniform.
    pub fn imply(&mut self, a: Node, b: Node, rule: Rule) {
        let next = std::mem::replace(&mut self.first[a.0 as usize], self.edges.len() as u32);
        self.edges.push(Edge { to: b, rule, next });
    }

    /// The label of a node.
    pub fn label(&self, node: Node) -> &L {
        &self.labels[node.0 as usize]
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }

    /// The rules that added an edge, in registry order.
    pub fn rules(&self) -> Vec<Rule> {
        let mut fired = vec![false; Rule::ALL.len()];
        for edge in &self.edges {
            fired[edge.rule as usize] = true;
        }
        Rule::ALL.iter().copied().filter(|r| fired[*r as usize]).collect()
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The edges from a node, the most recent first.
    pub fn implied(&self, node: Node) -> impl Iterator<Item = (Node, Rule)> + '_ {
        let mut at = self.first[node.0 as usize];
        std::iter::from_fn(move || {
            let edge = self.edges.get(at as usize)?;
            at = edge.next;
            Some((edge.to, edge.rule))
        })
    }

    /// All nodes that must be uniform if `starts` must be, by shortest paths (breadth first).
    /// Leaves out the nodes that `without` reached.
    pub fn reach(&self, starts: &[Node], without: Option<&Reached>) -> Reached {
        let mut reached = Reached { incoming_edge: vec![None; self.labels.len()], from: vec![Node(NONE); self.labels.len()] };
        let mut queue = Vec::with_capacity(64);
        for &start in starts {
            if reached.incoming_edge[start.0 as usize].is_none() && !without.is_some_and(|w| w.has(start)) {
                reached.incoming_edge[start.0 as usize] = Some(NONE);
                queue.push(start);
            }
        }
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            let mut at = self.first[node.0 as usize];
            while let Some(edge) = self.edges.get(at as usize) {
                let to = edge.to.0 as usize;
                if reached.incoming_edge[to].is_none() && !without.is_some_and(|w| w.has(edge.to)) {
                    reached.incoming_edge[to] = Some(at);
                    reached.from[to] = node;
                    queue.push(edge.to);
                }
                at = edge.next;
            }
        }
        reached
    }

    /// The path by which a search reached a node, from a start.
    pub fn path(&self, reached: &Reached, node: Node) -> Vec<Hop> {
        let (mut path, mut at) = (Vec::new(), node);
        while let Some(incoming_edge) = reached.incoming_edge[at.0 as usize] {
            let edge = self.edges.get(incoming_edge as usize);
            path.push(Hop { node: at, rule: edge.map(|e| e.rule) });
            if edge.is_none() {
                break;
            }
            at = reached.from[at.0 as usize];
        }
        path.reverse();
        path
    }
}

impl Reached {
    /// Whether the search reached the node.
    pub fn has(&self, node: Node) -> bool {
        self.incoming_edge.get(node.0 as usize).is_some_and(Option::is_some)
    }

    /// By node: the second node of the path to it. `None` if the search did not reach it, or if it
    /// is a start.
    pub fn heads(&self) -> Vec<Option<Node>> {
        let mut heads: Vec<Option<Node>> = vec![None; self.incoming_edge.len()];
        let is_start = |node: Node| self.incoming_edge[node.0 as usize] == Some(NONE);
        let mut path = Vec::new();
        for node in (0..self.incoming_edge.len() as u32).map(Node).filter(|n| self.has(*n) && !is_start(*n)) {
            let mut at = node;
            while heads[at.0 as usize].is_none() && !is_start(self.from[at.0 as usize]) {
                path.push(at);
                at = self.from[at.0 as usize];
            }
            let head = heads[at.0 as usize].unwrap_or(at);
            heads[at.0 as usize] = Some(head);
            path.drain(..).for_each(|n| heads[n.0 as usize] = Some(head));
        }
        heads
    }
}

/// The nodes that lead to a node, with the shortest path from each.
#[derive(Clone, Debug)]
pub struct Back {
    /// By node: the first edge of the path. `None` if there is no path.
    first_edge: Vec<Option<u32>>,
    /// By edge: its target and its rule.
    edges: Vec<(Node, Rule)>,
}

impl Back {
    /// Whether there is a path from the node.
    pub fn has(&self, node: Node) -> bool {
        self.first_edge[node.0 as usize].is_some()
    }

    /// The nodes of the path, each with the rule of the edge to the next node.
    pub fn path(&self, node: Node) -> Vec<(Node, Option<Rule>)> {
        let (mut path, mut at) = (Vec::new(), node);
        while let Some(first_edge) = self.first_edge[at.0 as usize] {
            match self.edges.get(first_edge as usize) {
                Some(&(to, rule)) => {
                    path.push((at, Some(rule)));
                    at = to;
                }
                None => {
                    path.push((at, None));
                    break;
                }
            }
        }
        path
    }
}

impl<L> Graph<L> {
    /// All nodes from which a path leads to `to`, by shortest paths.
    pub fn back(&self, to: Node) -> Back {
        let n = self.labels.len();
        // Sorts the edges by target.
        let mut start = vec![0u32; n + 1];
        for edge in &self.edges {
            start[edge.to.0 as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut place = start.clone();
        let mut incoming = vec![(0u32, 0u32); self.edges.len()];
        for (node, &first) in self.first.iter().enumerate() {
            let mut at = first;
            while let Some(edge) = self.edges.get(at as usize) {
                let slot = &mut place[edge.to.0 as usize];
                incoming[*slot as usize] = (node as u32, at);
                *slot += 1;
                at = edge.next;
            }
        }
        let mut first_edge = vec![None; n];
        first_edge[to.0 as usize] = Some(NONE);
        let mut queue = vec![to];
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            let at = node.0 as usize;
            for &(from, edge) in &incoming[start[at] as usize..start[at + 1] as usize] {
                if first_edge[from as usize].is_none() {
                    first_edge[from as usize] = Some(edge);
                    queue.push(Node(from));
                }
            }
        }
        Back { first_edge, edges: self.edges.iter().map(|e| (e.to, e.rule)).collect() }
    }
}

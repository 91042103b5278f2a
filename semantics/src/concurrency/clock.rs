//! Maps from agents to numbers. They serve as vector clocks, and as the sets of accesses that are
//! compared with vector clocks.
//!
//! A map is a tree whose nodes have 16 children. A range of agents with equal numbers is one leaf.
//! So a workgroup after a barrier costs a few nodes, whatever its size. Copies share their common
//! parts, and a join skips shared parts.

use std::ops::Range;
use std::rc::Rc;

const BITS: u32 = 4;
const WIDTH: usize = 1 << BITS;

#[derive(Clone, Debug)]
enum Node {
    /// All agents below this node have this number.
    Leaf(u64),
    /// The children, by four bits of the agent's number.
    Branch(Rc<[Node; WIDTH]>),
}

/// A map from agents to numbers. The default is 0.
#[derive(Clone, Debug)]
pub struct Clock {
    root: Node,
    levels: u32,
}

impl Clock {
    /// A map for that many agents, with all numbers 0.
    pub fn new(agents: u32) -> Clock {
        let mut levels = 1;
        while levels < 8 && u64::from(agents) > 1 << (BITS * levels) {
            levels += 1;
        }
        Clock { root: Node::Leaf(0), levels }
    }

    /// The number of an agent.
    pub fn get(&self, agent: u32) -> u64 {
        let mut node = &self.root;
        let mut shift = BITS * self.levels;
        loop {
            match node {
                Node::Leaf(value) => return *value,
                Node::Branch(children) => {
                    shift -= BITS;
                    node = &children[(agent >> shift) as usize % WIDTH];
                }
            }
        }
    }

    /// Sets the number of an agent.
    pub fn set(&mut self, agent: u32, value: u64) {
        if self.get(agent) != value {
            self.fill(agent..agent + 1, value);
        }
    }

    /// Sets the numbers of a range of agents.
    pub fn fill(&mut self, agents: Range<u32>, value: u64) {
        let range = u64::from(agents.start)..u64::from(agents.end);
        if !range.is_empty() {
            fill(&mut self.root, 0, self.levels, &range, value);
        }
    }

    /// Sets each agent's number to the greater one of the two maps.
    pub fn join(&mut self, other: &Clock) {
        join(&mut self.root, &other.root);
    }

    /// The first agent outside of `except` for which the test holds, with its number in this
    /// map. The arguments of the test are the agent's numbers here and in `there`. Agents with 0
    /// here are skipped.
    pub fn search(&self, there: &Clock, except: &Range<u32>, mut test: impl FnMut(u64, u64) -> bool) -> Option<(u32, u64)> {
        search(&self.root, &there.root, 0, self.levels, except, &mut test)
    }

    /// The number of tree nodes, for measurements. A shared node counts each time.
    pub fn nodes(&self) -> usize {
        fn count(node: &Node) -> usize {
            match node {
                Node::Leaf(_) => 0,
                Node::Branch(children) => 1 + children.iter().map(count).sum::<usize>(),
            }
        }
        count(&self.root)
    }
}

fn branch(node: &mut Node) -> &mut [Node; WIDTH] {
    if let Node::Leaf(value) = *node {
        *node = Node::Branch(Rc::new(std::array::from_fn(|_| Node::Leaf(value))));
    }
    match node {
        Node::Branch(children) => Rc::make_mut(children),
        Node::Leaf(_) => unreachable!("a leaf was made a branch above"),
    }
}

/// Turns a node into a leaf if all its children are equal leaves.
fn collapse(node: &mut Node) {
    if let Node::Branch(children) = node
        && let Node::Leaf(first) = children[0]
        && children[1..].iter().all(|child| matches!(child, Node::Leaf(value) if *value == first))
    {
        *node = Node::Leaf(first);
    }
}

fn fill(node: &mut Node, base: u64, level: u32, range: &Range<u64>, value: u64) {
    if matches!(node, Node::Leaf(old) if *old == value) {
        return;
    }
    if range.start <= base && base + (1 << (BITS * level)) <= range.end {
        *node = Node::Leaf(value);
        return;
    }
    let span = 1u64 << (BITS * (level - 1));
    let first = range.start.saturating_sub(base) / span;
    let last = ((range.end - 1 - base) / span).min(WIDTH as u64 - 1);
    let children = branch(node);
    for child in first..=last {
        fill(&mut children[child as usize], base + child * span, level - 1, range, value);
    }
    collapse(node);
}

fn join(node: &mut Node, other: &Node) {
    match (&mut *node, other) {
        (Node::Leaf(a), Node::Leaf(b)) => *a = (*a).max(*b),
        (_, Node::Leaf(0)) => {}
        (Node::Leaf(0), _) => *node = other.clone(),
        (Node::Branch(a), Node::Branch(b)) if Rc::ptr_eq(a, b) => {}
        (_, Node::Branch(theirs)) => {
            let mut changed = match &*node {
                Node::Branch(ours) => (0..WIDTH).filter(|&i| !covers(&ours[i], &theirs[i])).fold(0u32, |set, i| set | 1 << i),
                Node::Leaf(_) => u32::MAX,
            };
            if changed == 0 {
                return;
            }
            let ours = branch(node);
            for i in 0..WIDTH {
                if changed & 1 != 0 {
                    join(&mut ours[i], &theirs[i]);
                }
                changed >>= 1;
            }
            collapse(node);
        }
        (_, leaf @ Node::Leaf(_)) => {
            if covers(node, leaf) {
                return;
            }
            for child in branch(node) {
                join(child, leaf);
            }
            collapse(node);
        }
    }
}

/// Whether a join would change nothing. It is found without a copy.
fn covers(node: &Node, other: &Node) -> bool {
    match (node, other) {
        (Node::Leaf(a), Node::Leaf(b)) => a >= b,
        (_, Node::Leaf(0)) => true,
        (Node::Branch(a), Node::Branch(b)) => Rc::ptr_eq(a, b) || a.iter().zip(b.iter()).all(|(a, b)| covers(a, b)),
        (Node::Branch(a), leaf) => a.iter().all(|a| covers(a, leaf)),
        (leaf, Node::Branch(b)) => b.iter().all(|b| covers(leaf, b)),
    }
}

fn search(
    here: &Node,
    there: &Node,
    base: u64,
    level: u32,
    except: &Range<u32>,
    test: &mut impl FnMut(u64, u64) -> bool,
) -> Option<(u32, u64)> {
    let end = base + (1 << (BITS * level));
    if u64::from(except.start) <= base && end <= u64::from(except.end) {
        return None;
    }
    match (here, there) {
        (Node::Leaf(0), _) => None,
        (Node::Leaf(a), Node::Leaf(b)) => {
            let first = if u64::from(except.start) <= base { base.max(u64::from(except.end)) } else { base };
            (first < end && test(*a, *b)).then_some((first as u32, *a))
        }
        _ => {
            let span = 1u64 << (BITS * (level - 1));
            (0..WIDTH).find_map(|i| {
                let child = |node| match node {
                    &Node::Leaf(_) => None,
                    Node::Branch(children) => Some(&children[i]),
                };
                search(child(here).unwrap_or(here), child(there).unwrap_or(there), base + i as u64 * span, level - 1, except, test)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_workgroup_is_a_few_nodes() {
        let mut clock = Clock::new(65_536);
        clock.fill(1024..2048, 7);
        assert_eq!((clock.get(1023), clock.get(1024), clock.get(2047), clock.get(2048)), (0, 7, 7, 0));
        assert_eq!(clock.nodes(), 2);
        for agent in 0..65_536 {
            clock.set(agent, 9);
        }
        assert_eq!(clock.nodes(), 0);
    }

    #[test]
    fn copies_do_not_show_writes() {
        let mut clock = Clock::new(100);
        clock.set(3, 1);
        let old = clock.clone();
        clock.set(3, 2);
        assert_eq!((old.get(3), clock.get(3)), (1, 2));
    }

    proptest! {
        #[test]
        fn it_is_a_map(agents in 1u32..400, writes in prop::collection::vec((any::<bool>(), 0u32..400, 1u32..40, 0u64..5), 0..60),
                       except in (0u32..400, 0u32..40)) {
            let mut clocks = [Clock::new(agents), Clock::new(agents)];
            let mut plain = [vec![0u64; agents as usize], vec![0u64; agents as usize]];
            for (which, start, length, value) in writes {
                let range = start.min(agents)..(start + length).min(agents);
                clocks[usize::from(which)].fill(range.clone(), value);
                for i in range {
                    plain[usize::from(which)][i as usize] = value;
                }
            }
            let except = except.0..except.0 + except.1;
            let found = clocks[0].search(&clocks[1], &except, |a, b| a > b);
            let expected = (0..agents).find(|i| !except.contains(i) && plain[0][*i as usize] > plain[1][*i as usize]);
            prop_assert_eq!(found.map(|(agent, _)| agent), expected);
            let [mut joined, other] = clocks;
            let before = joined.clone();
            joined.join(&other);
            for (i, (a, b)) in plain[0].iter().zip(&plain[1]).enumerate() {
                prop_assert_eq!(joined.get(i as u32), *a.max(b));
                prop_assert_eq!(before.get(i as u32), *a);
            }
        }
    }
}

//! Structured control flow, from structural dominance (seed 002, Reconstructing structured control
//! flow).
//!
//! A function becomes a tree of statement lists. Each block is in one list, each edge between
//! blocks leaves from one. What a branch is follows from where its target lies: the end of the
//! list, the end of a case, `break`, `continue`, or an exit through several constructs, which sets
//! a flag that each construct on the way looks at behind its end.
//!
//! | SPIR-V | WGSL |
//! |---|---|
//! | OpLoopMerge | `loop`; the continue construct is `continuing`, its last branch a `break if` |
//! | OpSelectionMerge with OpBranchConditional | `if` |
//! | OpSwitch | `switch`; cases that fall through are one clause that asks for the selector again |
//! | several branches within a construct to one block | that block behind all that leads to it |
//! | blocks that nothing reaches | nothing |

use std::cell::OnceCell;

use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::spirv::cfg::{ControlFlow, Graph, Header, NONE, Node, postorder};
use smallstep_semantics::spirv::module::Function;
use smallstep_semantics::spirv::{Instruction, Module};
use smallstep_semantics::text::deep;

use super::planted::Plan;
use super::{Refused, Why};

/// The index of a list in [`Tree::lists`].
pub(super) type ListId = u32;

/// How deep statements may be nested: WGSL §2.4 guarantees 127 levels of braces.
const MAX_NESTING: u32 = 120;

/// The most steps that are taken to find where branches go, for each function.
const MAX_STEPS: u64 = 1 << 24;

/// The statements of a function.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// List 0 is the body of the function.
    pub(super) lists: Vec<List>,
    /// By block: the list that it is in; [`NONE`] where it is in none.
    pub(super) list_of: Vec<ListId>,
    /// The list that an edge leaves from, of those with copies of phis.
    pub(super) edges: FxHashMap<(Node, Node), ListId>,
    /// Whether control comes to the end of the body.
    pub(super) falls: bool,
    /// How many flags there are.
    pub(super) flags: u32,
}

/// A list of statements: what is between two braces.
#[derive(Debug)]
pub(super) struct List {
    /// The list that it is within; of a continue construct that of the loop's body.
    pub(super) parent: ListId,
    /// How deep it is nested.
    pub(super) depth: u32,
    /// Whether it is a continue construct.
    pub(super) continuing: bool,
    /// The flags that are declared at its beginning.
    pub(super) flags: Vec<u32>,
    /// The statements.
    pub(super) items: Vec<Item>,
}

/// A statement, or several.
#[derive(Debug)]
pub(super) enum Item {
    /// The instructions of a block, without its termination instruction.
    Block(Node),
    /// The copies of the phis of the second block for the edge from the first.
    Copies(Node, Node),
    /// `if` on the condition that ends a block.
    If { block: Node, negated: bool, then: ListId, other: Option<ListId> },
    /// `loop`; `exits` tells whether anything leaves it, `falls` whether what is behind it is
    /// reached.
    Loop { body: ListId, continuing: Option<ListId>, exits: bool, falls: bool },
    /// The end of a continue construct: the loop ends if the condition that ends the block holds,
    /// or if it does not.
    Latch { block: Node, header: Node, merge: Node, negated: bool },
    /// `switch` on the selector that ends a block.
    Switch { block: Node, clauses: Vec<Clause> },
    /// What is done only if the selector that ends the block is one of the values.
    Among { block: Node, values: Vec<u64>, negated: bool, list: ListId },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// What ends a block ends the function.
    End(Node),
    /// The flag becomes true.
    Set(u32),
    /// What is done if one of the flags is true, or if none is.
    IfFlag { flags: Vec<u32>, negated: bool, list: ListId },
}

/// A clause of a `switch`.
#[derive(Debug)]
pub(super) struct Clause {
    /// The values of the selector.
    pub(super) values: Vec<u64>,
    /// Whether it is also the default.
    pub(super) default: bool,
    /// What is done.
    pub(super) list: ListId,
}

/// What is around the statement that is being made.
#[derive(Debug)]
enum Frame {
    /// The block follows behind.
    Next { target: Node, list: ListId, reached: bool, crossed: Vec<u32> },
    /// The body of a loop.
    Loop { merge: Node, continues: Node, list: ListId, broken: bool, landings: Vec<(u32, Node)> },
    /// The continue construct of a loop.
    Continuing { header: Node, merge: Node, list: ListId, broken: bool },
    /// A clause of a switch.
    Switch { merge: Node, list: ListId, reached: bool, landings: Vec<(u32, Node)> },
}

/// What comes after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Control comes to its end.
    Falls,
    /// Control leaves from within.
    Ends,
    /// The block follows.
    Goes(Node),
}

struct Builder<'m> {
    module: &'m Module,
    function: &'m Function,
    plan: &'m Plan,
    flow: &'m ControlFlow,
    graph: &'m Graph,
    /// The blocks that another one dominates immediately, with that one first.
    dominated: Vec<(Node, Node)>,
    /// By block: its place in a reverse postorder. Few functions need it.
    order: OnceCell<Vec<u32>>,
    tree: Tree,
    frames: Vec<Frame>,
    /// How many statements have ended the function.
    ends: u64,
    steps: u64,
}

/// The statements of a function.
///
/// Errors: the nesting passes what WGSL guarantees, or an exit has no form.
pub(super) fn structure(module: &Module, function: &Function, plan: &Plan) -> Result<Tree, Refused> {
    let blocks = module.function_blocks(function);
    let flow = module.control_flow(function);
    let structural = flow.structural();
    let n = blocks.len();
    let by_dominance = structural.by_dominance().into_iter().map(|block| (structural.immediate_dominator(block), block));
    let mut dominated: Vec<(Node, Node)> = by_dominance.filter(|(dominator, _)| *dominator != NONE).collect();
    // What one block dominates stays in order.
    dominated.sort_by_key(|(dominator, _)| *dominator);
    let mut builder = Builder {
        module,
        function,
        plan,
        flow,
        graph: flow.graph(),
        dominated,
        order: OnceCell::new(),
        tree: Tree { list_of: vec![NONE; n], ..Tree::default() },
        frames: Vec::new(),
        ends: 0,
        steps: 0,
    };
    let root = builder.list(0, false)?;
    let falls = builder.node(0, root)?;
    builder.tree.falls = falls;
    Ok(builder.tree)
}

/// By block: its place in a reverse postorder.
fn order(graph: &Graph, blocks: usize) -> Vec<u32> {
    let mut order = vec![0; blocks];
    for (at, block) in postorder(0, |block| graph.successors(block).to_vec()).into_iter().rev().enumerate() {
        order[block as usize] = at as u32;
    }
    order
}

/// Whether the merge block of a switch is reached, the exits of constructs around it, and whether
/// control comes to the end of a clause.
type SwitchEnd = (bool, Vec<(u32, Node)>, bool);

impl Builder<'_> {
    fn list(&mut self, parent: ListId, continuing: bool) -> Result<ListId, Refused> {
        let depth = self.tree.lists.get(parent as usize).map_or(0, |list| list.depth + 1);
        if depth > MAX_NESTING {
            return Err(self.refused(Why::Nesting, format!("statements are nested more than {MAX_NESTING} deep")));
        }
        self.tree.lists.push(List { parent, depth, continuing, flags: Vec::new(), items: Vec::new() });
        Ok(self.tree.lists.len() as ListId - 1)
    }

    fn push(&mut self, list: ListId, item: Item) {
        self.tree.lists[list as usize].items.push(item);
    }

    #[cold]
    fn refused(&self, why: Why, what: String) -> Refused {
        Refused { why, what: format!("function %{}: {what}", self.function.id), instruction: None }
    }

    fn label(&self, node: Node) -> u32 {
        self.module.function_blocks(self.function)[node as usize].label
    }

    fn terminator(&self, node: Node) -> Instruction {
        let block = &self.module.function_blocks(self.function)[node as usize];
        self.module.code(block)[(block.end - block.start) as usize - 1]
    }

    fn target(&self, label: u32) -> Node {
        let blocks = self.module.function_blocks(self.function);
        let first = blocks.partition_point(|b| self.module.definition(b.label) < self.module.definition(label));
        first as Node
    }

    fn has_phis(&self, node: Node) -> bool {
        let block = &self.module.function_blocks(self.function)[node as usize];
        self.module.code(block).iter().find(|i| !matches!(i.op, Op::Line | Op::NoLine)).is_some_and(|i| i.is(Op::Phi))
    }

    /// How many branches lead forward to a block.
    fn joins(&self, node: Node) -> usize {
        let forward = |&&from: &&Node| self.graph.reachable(from) && !self.graph.dominates(node, from);
        self.graph.predecessors(node).iter().filter(forward).take(2).count()
    }

    /// The block, all that it dominates in its construct, and all that follows behind. Whether
    /// control comes to the end.
    fn node(&mut self, mut x: Node, list: ListId) -> Result<bool, Refused> {
        loop {
            if let Header::Loop { merge, continues } = self.flow.header(x) {
                let (reached, landings) = self.loop_(x, merge, continues, list)?;
                match self.behind(merge, reached, landings, list)? {
                    Flow::Goes(next) => x = next,
                    flow => return Ok(flow == Flow::Falls),
                }
                continue;
            }
            match deep(|| self.plain(x, list))? {
                Flow::Goes(next) => x = next,
                flow => return Ok(flow == Flow::Falls),
            }
        }
    }

    /// What comes behind a loop or switch: exits of constructs around it, then its merge block.
    fn behind(&mut self, merge: Node, reached: bool, landings: Vec<(u32, Node)>, list: ListId) -> Result<Flow, Refused> {
        if landings.is_empty() {
            return Ok(if reached { Flow::Goes(merge) } else { Flow::Ends });
        }
        self.frames.push(Frame::Next { target: if reached { merge } else { NONE }, list, reached, crossed: Vec::new() });
        let mut crossed_all = Vec::new();
        let mut seen = FxHashSet::default();
        for (flag, target) in landings {
            if !seen.insert(flag) {
                continue;
            }
            let inner = self.list(list, false)?;
            self.jump(target, inner, Some(flag))?;
            self.push(list, Item::IfFlag { flags: vec![flag], negated: false, list: inner });
        }
        if let Some(Frame::Next { crossed, .. }) = self.frames.pop() {
            crossed_all = crossed;
        }
        if !reached {
            // Behind the `if` of the last flag nothing is left to do.
            return Ok(Flow::Falls);
        }
        if crossed_all.is_empty() {
            return Ok(Flow::Goes(merge));
        }
        let inner = self.list(list, false)?;
        deep(|| self.node(merge, inner))?;
        self.push(list, Item::IfFlag { flags: crossed_all, negated: true, list: inner });
        Ok(Flow::Falls)
    }

    /// A loop. Whether its merge block is reached, and the exits of constructs around it.
    fn loop_(&mut self, x: Node, merge: Node, continues: Node, list: ListId) -> Result<(bool, Vec<(u32, Node)>), Refused> {
        let body = self.list(list, false)?;
        let ends = self.ends;
        self.frames.push(Frame::Loop { merge, continues, list, broken: false, landings: Vec::new() });
        if let Flow::Goes(next) = deep(|| self.plain(x, body))? {
            deep(|| self.node(next, body))?;
        }
        let Some(Frame::Loop { mut broken, landings, .. }) = self.frames.pop() else { return Err(self.lost(x)) };
        let mut continuing = None;
        if continues != x && self.graph.reachable(continues) {
            let inner = self.list(body, true)?;
            self.frames.push(Frame::Continuing { header: x, merge, list: body, broken: false });
            deep(|| self.node(continues, inner))?;
            let Some(Frame::Continuing { broken: left, .. }) = self.frames.pop() else { return Err(self.lost(x)) };
            broken |= left;
            continuing = Some(inner);
        }
        let falls = broken || !landings.is_empty();
        let exits = falls || self.ends > ends;
        self.push(list, Item::Loop { body, continuing, exits, falls });
        Ok((broken, landings))
    }

    fn lost(&self, x: Node) -> Refused {
        self.refused(Why::ControlFlow, format!("the construct of block %{} has no end", self.label(x)))
    }

    /// A block, and what it dominates, but for what a loop has outside of its body.
    fn plain(&mut self, x: Node, list: ListId) -> Result<Flow, Refused> {
        if std::mem::replace(&mut self.tree.list_of[x as usize], list) != NONE {
            return Err(self.refused(Why::ControlFlow, format!("block %{} is reached in two ways that are no construct", self.label(x))));
        }
        self.push(list, Item::Block(x));
        let end = self.terminator(x);
        let header = self.flow.header(x);
        let outside = header.targets();
        let own_merge = if matches!(header, Header::Loop { .. }) { NONE } else { outside[0] };
        let is_switch = end.is(Op::Switch);
        let mut follow: Vec<Node> = Vec::new();
        let first = self.dominated.partition_point(|(dominator, _)| *dominator < x);
        for &(_, to) in self.dominated[first..].iter().take_while(|(dominator, _)| *dominator == x) {
            let is_case = is_switch && self.graph.successors(x).contains(&to);
            if !outside.contains(&to) && !is_case && self.graph.reachable(to) && self.joins(to) > 1 {
                follow.push(to);
            }
        }
        if follow.len() > 1 {
            let order = self.order.get_or_init(|| order(self.graph, self.tree.list_of.len()));
            follow.sort_by_key(|&to| order.get(to as usize));
        }
        if is_switch {
            let (reached, landings, falls) = self.switch(x, own_merge, list)?;
            let reached = reached || falls && self.graph.reachable(own_merge);
            let flow = self.behind(own_merge, reached, landings, list)?;
            return Ok(if falls && flow == Flow::Ends { Flow::Falls } else { flow });
        }
        if own_merge != NONE && self.graph.reachable(own_merge) {
            follow.push(own_merge);
        }
        if follow.is_empty() {
            return self.branch(x, &end, list);
        }
        for &target in follow.iter().rev() {
            self.frames.push(Frame::Next { target, list, reached: false, crossed: Vec::new() });
        }
        let mut flow = self.branch(x, &end, list)?;
        if let Flow::Goes(next) = flow {
            flow = if deep(|| self.node(next, list))? { Flow::Falls } else { Flow::Ends };
        }
        let last = follow.len() - 1;
        for (at, &target) in follow.iter().enumerate() {
            let Some(Frame::Next { reached, crossed, .. }) = self.frames.pop() else { return Err(self.lost(x)) };
            if !reached {
                // Nothing leads to it any more; what falls here is not reached.
                continue;
            }
            if !crossed.is_empty() {
                let inner = self.list(list, false)?;
                deep(|| self.node(target, inner))?;
                self.push(list, Item::IfFlag { flags: crossed, negated: true, list: inner });
                flow = Flow::Falls;
            } else if at == last {
                return Ok(Flow::Goes(target));
            } else {
                flow = if deep(|| self.node(target, list))? { Flow::Falls } else { Flow::Ends };
            }
        }
        Ok(flow)
    }

    /// What ends a block, where it is no switch.
    fn branch(&mut self, x: Node, end: &Instruction, list: ListId) -> Result<Flow, Refused> {
        let operands = end.operands(self.module.words());
        match end.op {
            Op::Branch => {
                let to = self.target(operands[0]);
                self.edge(x, to, list)
            }
            Op::BranchConditional => {
                let (yes, no) = (self.target(operands[1]), self.target(operands[2]));
                if yes == no {
                    return self.edge(x, yes, list);
                }
                if let Some(flow) = self.latch(x, yes, no, list)? {
                    return Ok(flow);
                }
                for (out, stays, negated) in [(yes, no, false), (no, yes, true)] {
                    if self.is_hard(out) {
                        let then = self.list(list, false)?;
                        self.edge(x, out, then)?;
                        self.push(list, Item::If { block: x, negated, then, other: None });
                        return self.edge(x, stays, list);
                    }
                }
                let then = self.list(list, false)?;
                let falls = self.edge_to_end(x, yes, then)?;
                let other = self.list(list, false)?;
                let other_falls = self.edge_to_end(x, no, other)?;
                let empty = |list: ListId| self.tree.lists[list as usize].items.is_empty();
                let item = match (empty(then), empty(other)) {
                    (true, false) => Item::If { block: x, negated: true, then: other, other: None },
                    (_, true) => Item::If { block: x, negated: false, then, other: None },
                    _ => Item::If { block: x, negated: false, then, other: Some(other) },
                };
                self.push(list, item);
                Ok(if falls || other_falls { Flow::Falls } else { Flow::Ends })
            }
            Op::Unreachable => Ok(Flow::Falls),
            _ => {
                self.ends += 1;
                self.push(list, Item::End(x));
                Ok(Flow::Ends)
            }
        }
    }

    /// The branch that goes back to a loop's header or leaves the loop, at the end of its continue
    /// construct.
    fn latch(&mut self, x: Node, yes: Node, no: Node, list: ListId) -> Result<Option<Flow>, Refused> {
        let Some(Frame::Continuing { header, merge, broken, .. }) = self.frames.last_mut() else { return Ok(None) };
        let (header, merge) = (*header, *merge);
        let negated = match (yes, no) {
            _ if (yes, no) == (merge, header) => false,
            _ if (yes, no) == (header, merge) => true,
            _ => return Ok(None),
        };
        *broken = true;
        if !self.tree.lists[list as usize].continuing {
            return Err(self.refused(
                Why::ControlFlow,
                format!("block %{} leaves its loop from within a selection of the continue construct", self.label(x)),
            ));
        }
        for to in [header, merge] {
            if self.has_phis(to) {
                self.tree.edges.insert((x, to), list);
            }
        }
        self.push(list, Item::Latch { block: x, header, merge, negated });
        Ok(Some(Flow::Falls))
    }

    /// The copies of an edge, and where it goes.
    fn edge(&mut self, x: Node, to: Node, list: ListId) -> Result<Flow, Refused> {
        if self.has_phis(to) {
            self.push(list, Item::Copies(x, to));
            self.tree.edges.insert((x, to), list);
        }
        self.go(to, list)
    }

    fn go(&mut self, to: Node, list: ListId) -> Result<Flow, Refused> {
        match self.lands(to) {
            true => self.jump(to, list, None),
            false => Ok(Flow::Goes(to)),
        }
    }

    fn edge_to_end(&mut self, x: Node, to: Node, list: ListId) -> Result<bool, Refused> {
        match self.edge(x, to, list)? {
            Flow::Goes(next) => deep(|| self.node(next, list)),
            flow => Ok(flow == Flow::Falls),
        }
    }

    /// The frame that a branch to a block ends at, innermost first.
    fn landing(&self, to: Node) -> Option<usize> {
        self.frames.iter().rposition(|frame| match frame {
            Frame::Next { target, .. } => *target == to,
            Frame::Loop { merge, continues, .. } => *merge == to || *continues == to,
            Frame::Continuing { header, merge, .. } => *header == to || *merge == to,
            Frame::Switch { merge, .. } => *merge == to,
        })
    }

    fn lands(&mut self, to: Node) -> bool {
        self.steps += self.frames.len() as u64;
        self.landing(to).is_some()
    }

    /// Whether a branch to a block is `break` or `continue`, and not just the end of the list.
    fn is_hard(&self, to: Node) -> bool {
        for (at, frame) in self.frames.iter().enumerate().rev() {
            match frame {
                Frame::Next { target, .. } if *target == to => return false,
                Frame::Next { .. } => {}
                Frame::Loop { merge, continues, .. } => return *merge == to || *continues == to && at + 1 < self.frames.len(),
                Frame::Switch { merge, .. } => {
                    return *merge == to && at + 1 < self.frames.len()
                        || self.frames[..at]
                            .iter()
                            .rev()
                            .find(|f| matches!(f, Frame::Loop { .. } | Frame::Continuing { .. }))
                            .is_some_and(|f| matches!(f, Frame::Loop { continues, .. } if *continues == to));
                }
                Frame::Continuing { .. } => return false,
            }
        }
        false
    }

    /// Goes to a block at whose landing no statement is between; `set` is the flag that is already
    /// true for it.
    fn jump(&mut self, to: Node, list: ListId, set: Option<u32>) -> Result<Flow, Refused> {
        if self.steps > MAX_STEPS {
            return Err(self.refused(Why::Limit, "its branches leave too many constructs".into()));
        }
        // The end of the list may be the way there.
        match self.frames.last_mut() {
            Some(Frame::Next { target, reached, .. }) if *target == to => {
                *reached = true;
                return Ok(Flow::Falls);
            }
            Some(Frame::Loop { continues, .. }) if *continues == to => return Ok(Flow::Falls),
            Some(Frame::Continuing { header, .. }) if *header == to => return Ok(Flow::Falls),
            Some(Frame::Switch { merge, reached, .. }) if *merge == to => {
                *reached = true;
                return Ok(Flow::Falls);
            }
            _ => {}
        }
        let innermost = self.frames.iter().rposition(|f| !matches!(f, Frame::Next { .. }));
        let mut breakable = None;
        if let Some(at) = innermost {
            match &mut self.frames[at] {
                Frame::Loop { merge, broken: reached, .. } | Frame::Switch { merge, reached, .. } if *merge == to => {
                    *reached = true;
                    self.push(list, Item::Break);
                    return Ok(Flow::Ends);
                }
                Frame::Loop { .. } | Frame::Switch { .. } => breakable = Some(at),
                _ => {}
            }
        }
        let around = self.frames.iter().rposition(|f| matches!(f, Frame::Loop { .. } | Frame::Continuing { .. }));
        if let Some(Frame::Loop { continues, .. }) = around.map(|at| &self.frames[at])
            && *continues == to
        {
            self.push(list, Item::Continue);
            return Ok(Flow::Ends);
        }
        let Some(landing) = self.landing(to) else {
            return Err(self.refused(Why::ControlFlow, format!("no construct ends at block %{}", self.label(to))));
        };
        // Through several constructs.
        let outermost = self.frames.get(landing + 1).map_or(list, |frame| match frame {
            Frame::Next { list, .. } | Frame::Loop { list, .. } | Frame::Continuing { list, .. } | Frame::Switch { list, .. } => *list,
        });
        if self.frames[landing..].iter().any(|f| matches!(f, Frame::Continuing { .. })) {
            return Err(self.refused(Why::ControlFlow, format!("a branch to block %{} leaves a continue construct", self.label(to))));
        }
        let flag = match set {
            Some(flag) => flag,
            None => {
                let flag = self.tree.flags;
                self.tree.flags += 1;
                self.tree.lists[outermost as usize].flags.push(flag);
                if !self.plan.forgets_flags() {
                    self.push(list, Item::Set(flag));
                }
                flag
            }
        };
        if let Some(at) = breakable.filter(|&at| at > landing) {
            if let Frame::Loop { landings, .. } | Frame::Switch { landings, .. } = &mut self.frames[at] {
                landings.push((flag, to));
            }
            self.push(list, Item::Break);
            return Ok(Flow::Ends);
        }
        self.steps += (self.frames.len() - landing) as u64;
        for frame in &mut self.frames[landing + 1..] {
            if let Frame::Next { crossed, .. } = frame
                && !crossed.contains(&flag)
            {
                crossed.push(flag);
            }
        }
        match &mut self.frames[landing] {
            Frame::Next { reached, .. } | Frame::Switch { reached, .. } => *reached = true,
            Frame::Loop { merge, broken, .. } if *merge == to => *broken = true,
            _ => {}
        }
        Ok(Flow::Falls)
    }

    /// A switch, and how it ends.
    fn switch(&mut self, x: Node, merge: Node, list: ListId) -> Result<SwitchEnd, Refused> {
        let end = self.terminator(x);
        let default = self.target(end.operands(self.module.words())[1]);
        let cases: Vec<(u64, Node)> = self.module.switch_cases(&end).map(|(value, label)| (value, self.target(label))).collect();
        let mut values: FxHashMap<Node, Vec<u64>> = FxHashMap::default();
        let mut targets: Vec<Node> = Vec::new();
        for (value, target) in cases.into_iter().map(|(v, t)| (Some(v), t)).chain([(None, default)]) {
            let known = values.entry(target).or_insert_with(|| {
                targets.push(target);
                Vec::new()
            });
            known.extend(value);
        }
        self.frames.push(Frame::Switch { merge, list, reached: false, landings: Vec::new() });
        // Which case falls through to which.
        let (mut next, mut has_previous) = (FxHashMap::default(), FxHashSet::default());
        let constructs: Vec<Node> = targets.iter().copied().filter(|&t| self.landing(t).is_none()).collect();
        for &target in &constructs {
            for &from in self.graph.predecessors(target) {
                if from == x || !self.graph.reachable(from) || self.graph.dominates(target, from) {
                    continue;
                }
                self.steps += targets.len() as u64;
                let falling = targets.iter().copied().find(|&other| other != target && self.flow.structural().dominates(other, from));
                if let Some(falling) = falling {
                    next.insert(falling, target);
                    has_previous.insert(target);
                }
            }
        }
        let mut clauses = Vec::new();
        let mut falls = false;
        for &first in targets.iter().filter(|t| !has_previous.contains(*t)) {
            let mut group = vec![first];
            while let Some(&then) = next.get(group.last().unwrap_or(&first)) {
                if group.contains(&then) {
                    return Err(self.refused(Why::ControlFlow, format!("the cases of block %{} fall through in a circle", self.label(x))));
                }
                group.push(then);
                self.steps += group.len() as u64;
                if self.steps > MAX_STEPS {
                    return Err(self.refused(Why::Limit, "its cases fall through too far".into()));
                }
            }
            let inner = self.list(list, false)?;
            falls |= match group[..] {
                [only] => self.edge_to_end(x, only, inner)?,
                _ => self.falling(x, &group, &values, default, inner)?,
            };
            let has_default = group.contains(&default);
            let values: Vec<u64> = group.iter().flat_map(|t| values.get(t).into_iter().flatten().copied()).collect();
            clauses.push(Clause { values, default: has_default, list: inner });
        }
        let Some(Frame::Switch { reached, landings, .. }) = self.frames.pop() else { return Err(self.lost(x)) };
        if self.plan.swaps_clauses() && clauses.len() > 1 {
            let last = clauses.len() - 1;
            let list = clauses[0].list;
            clauses[0].list = clauses[last].list;
            clauses[last].list = list;
        }
        self.push(list, Item::Switch { block: x, clauses });
        Ok((reached, landings, falls))
    }

    /// Cases that fall through to each other, in one clause: each but the first is also done where
    /// the one before it comes to its end.
    fn falling(
        &mut self,
        x: Node,
        group: &[Node],
        values: &FxHashMap<Node, Vec<u64>>,
        default: Node,
        list: ListId,
    ) -> Result<bool, Refused> {
        let of = |cases: &[Node]| -> Vec<u64> { cases.iter().flat_map(|t| values.get(t).into_iter().flatten().copied()).collect() };
        let default_at = group.iter().position(|&t| t == default);
        // The selector is one of those of the first cases of the clause, or of the default.
        let among = |upto: usize| match default_at {
            Some(at) if at <= upto => (of(&group[upto + 1..]), true),
            _ => (of(&group[..=upto]), false),
        };
        for (at, &target) in group.iter().enumerate() {
            if !self.has_phis(target) {
                continue;
            }
            let (values, negated) = match default_at == Some(at) {
                true => (of(&[&group[..at], &group[at + 1..]].concat()), true),
                false => (of(&[target]), false),
            };
            let inner = self.list(list, false)?;
            self.push(inner, Item::Copies(x, target));
            self.tree.edges.insert((x, target), inner);
            self.push(list, Item::Among { block: x, values, negated, list: inner });
        }
        let last = group.len() - 1;
        let mut falls = false;
        for (at, &target) in group.iter().enumerate() {
            let (values, negated) = among(at);
            let guarded = at < last && !self.plan.forgets_fallthrough_guard();
            let inner = if guarded { self.list(list, false)? } else { list };
            if at < last {
                self.frames.push(Frame::Next { target: group[at + 1], list, reached: false, crossed: Vec::new() });
            }
            falls = deep(|| self.node(target, inner))?;
            if at < last {
                self.frames.pop();
            }
            if guarded {
                self.push(list, Item::Among { block: x, values, negated, list: inner });
                falls = true;
            }
        }
        Ok(falls)
    }
}

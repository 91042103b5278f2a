//! Structured control flow, from structural dominance (seed 002, Reconstructing structured control
//! flow).
//!
//! A function becomes a tree of statement lists. Each block is in one list, and each edge between
//! blocks leaves from one list. The place of its target decides the form of a branch: the end of
//! the list, the end of a case, `break`, `continue`, or an exit through several constructs. Such an
//! exit sets a flag, which each construct on the way tests after its end.
//!
//! | SPIR-V | WGSL |
//! |---|---|
//! | OpLoopMerge | `loop`; the continue construct is `continuing`, its last branch a `break if` |
//! | OpSelectionMerge with OpBranchConditional | `if` |
//! | OpSwitch | `switch`; cases that fall through are one clause that tests the selector again |
//! | several branches within a construct to one block | that block after all its predecessors |
//! | unreachable blocks | nothing |

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

/// The deepest nesting of statements. WGSL §2.4 guarantees 127 levels of braces.
const MAX_NESTING: u32 = 120;

/// The most steps to find the targets of branches, per function.
const MAX_STEPS: u64 = 1 << 24;

/// The statements of a function.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The lists. List 0 is the body of the function.
    pub(super) lists: Vec<List>,
    /// By block: its list, or [`NONE`] if it is in no list.
    pub(super) list_of: Vec<ListId>,
    /// By edge that assigns phis: the list that it leaves from.
    pub(super) edges: FxHashMap<(Node, Node), ListId>,
    /// Whether control reaches the end of the body.
    pub(super) falls: bool,
    /// The number of flags.
    pub(super) flags: u32,
}

/// A list of statements: the content of a pair of braces.
#[derive(Debug)]
pub(super) struct List {
    /// The enclosing list. For a continue construct, it is the list of the loop's body.
    pub(super) parent: ListId,
    /// The nesting depth. 0 for the body of the function.
    pub(super) depth: u32,
    /// Whether it is a continue construct.
    pub(super) continuing: bool,
    /// The flags that are declared at its beginning.
    pub(super) flags: Vec<u32>,
    /// The statements.
    pub(super) items: Vec<Item>,
}

/// One statement or several.
#[derive(Debug)]
pub(super) enum Item {
    /// The instructions of a block, without its termination instruction.
    Block(Node),
    /// The copies of the phis of the second block for the edge from the first.
    Copies(Node, Node),
    /// `if` on the condition that ends a block.
    If { block: Node, negated: bool, then: ListId, other: Option<ListId> },
    /// `loop`. `exits` is whether any statement leaves it, and `falls` whether control reaches the
    /// statement after it.
    Loop { body: ListId, continuing: Option<ListId>, exits: bool, falls: bool },
    /// The end of a continue construct. The loop ends if the condition that ends the block holds,
    /// or with `negated` if it does not hold.
    Latch { block: Node, header: Node, merge: Node, negated: bool },
    /// `switch` on the selector that ends a block.
    Switch { block: Node, clauses: Vec<Clause> },
    /// Statements that are executed if the selector that ends the block is one of the values, or
    /// with `negated` if it is none of them.
    Among { block: Node, values: Vec<u64>, negated: bool, list: ListId },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// The terminator of the block, which ends the function.
    End(Node),
    /// An assignment of true to a flag.
    Set(u32),
    /// Statements that are executed if one of the flags is true, or with `negated` if none is.
    IfFlag { flags: Vec<u32>, negated: bool, list: ListId },
}

/// A clause of a `switch`.
#[derive(Debug)]
pub(super) struct Clause {
    /// The values of the selector.
    pub(super) values: Vec<u64>,
    /// Whether it is also the default.
    pub(super) default: bool,
    /// The statements of the clause.
    pub(super) list: ListId,
}

/// A construct around the current statement.
#[derive(Debug)]
enum Frame {
    /// The target is the next block after the current statements. `skip_flags` are the flags of
    /// exits that skip it.
    Next { target: Node, list: ListId, reached: bool, skip_flags: Vec<u32> },
    /// The body of a loop. `exits_through` are the flags and targets of exits through it.
    Loop { merge: Node, continues: Node, list: ListId, broken: bool, exits_through: Vec<(u32, Node)> },
    /// The continue construct of a loop.
    Continuing { header: Node, merge: Node, list: ListId, broken: bool },
    /// A clause of a switch. `exits_through` are the flags and targets of exits through it.
    Switch { merge: Node, list: ListId, reached: bool, exits_through: Vec<(u32, Node)> },
}

/// How control leaves a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Control reaches the end of the statement.
    Falls,
    /// Control leaves from within the statement.
    Ends,
    /// Control goes to the block, which is written next.
    Goes(Node),
}

struct Builder<'m> {
    module: &'m Module,
    function: &'m Function,
    plan: &'m Plan,
    flow: &'m ControlFlow,
    graph: &'m Graph,
    /// Pairs of a block and its immediate dominator, with the dominator first. Sorted by
    /// the dominator.
    dominated: Vec<(Node, Node)>,
    /// By block: its index in a reverse postorder. It is computed on demand, since few functions
    /// need it.
    order: OnceCell<Vec<u32>>,
    tree: Tree,
    frames: Vec<Frame>,
    /// The number of statements so far that end the function.
    ends: u64,
    steps: u64,
}

/// Builds the statements of a function.
///
/// Errors: the nesting is deeper than WGSL guarantees, or an exit has no form in WGSL.
pub(super) fn structure(module: &Module, function: &Function, plan: &Plan) -> Result<Tree, Refused> {
    let blocks = module.function_blocks(function);
    let flow = module.control_flow(function);
    let structural = flow.structural();
    let n = blocks.len();
    let by_dominance = structural.by_dominance().into_iter().map(|block| (structural.immediate_dominator(block), block));
    let mut dominated: Vec<(Node, Node)> = by_dominance.filter(|(dominator, _)| *dominator != NONE).collect();
    // The sort is stable, so the blocks with one dominator stay in order.
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

/// By block: its index in a reverse postorder.
fn order(graph: &Graph, blocks: usize) -> Vec<u32> {
    let mut order = vec![0; blocks];
    for (at, block) in postorder(0, |block| graph.successors(block).to_vec()).into_iter().rev().enumerate() {
        order[block as usize] = at as u32;
    }
    order
}

/// The end of a switch: whether its merge block is reached, the exits of enclosing constructs, and
/// whether control reaches the end of a clause.
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

    /// The number of forward branches to a block, counted up to 2.
    fn joins(&self, node: Node) -> usize {
        let forward = |&&from: &&Node| self.graph.reachable(from) && !self.graph.dominates(node, from);
        self.graph.predecessors(node).iter().filter(forward).take(2).count()
    }

    /// Writes a block, all blocks that it dominates in its construct, and all that follow. Returns
    /// whether control reaches the end.
    fn node(&mut self, mut x: Node, list: ListId) -> Result<bool, Refused> {
        loop {
            if let Header::Loop { merge, continues } = self.flow.header(x) {
                let (reached, exits_through) = self.loop_(x, merge, continues, list)?;
                match self.after_construct(merge, reached, exits_through, list)? {
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

    /// Writes what follows a loop or switch: the exits of enclosing constructs, then its
    /// merge block.
    fn after_construct(&mut self, merge: Node, reached: bool, exits_through: Vec<(u32, Node)>, list: ListId) -> Result<Flow, Refused> {
        if exits_through.is_empty() {
            return Ok(if reached { Flow::Goes(merge) } else { Flow::Ends });
        }
        self.frames.push(Frame::Next { target: if reached { merge } else { NONE }, list, reached, skip_flags: Vec::new() });
        let mut all_skip_flags = Vec::new();
        let mut seen = FxHashSet::default();
        for (flag, target) in exits_through {
            if !seen.insert(flag) {
                continue;
            }
            let inner = self.list(list, false)?;
            self.jump(target, inner, Some(flag))?;
            self.push(list, Item::IfFlag { flags: vec![flag], negated: false, list: inner });
        }
        if let Some(Frame::Next { skip_flags, .. }) = self.frames.pop() {
            all_skip_flags = skip_flags;
        }
        if !reached {
            // After the `if` of the last flag nothing is left to do.
            return Ok(Flow::Falls);
        }
        if all_skip_flags.is_empty() {
            return Ok(Flow::Goes(merge));
        }
        let inner = self.list(list, false)?;
        deep(|| self.node(merge, inner))?;
        self.push(list, Item::IfFlag { flags: all_skip_flags, negated: true, list: inner });
        Ok(Flow::Falls)
    }

    /// Writes a loop. Returns whether its merge block is reached, and the exits of
    /// enclosing constructs.
    fn loop_(&mut self, x: Node, merge: Node, continues: Node, list: ListId) -> Result<(bool, Vec<(u32, Node)>), Refused> {
        let body = self.list(list, false)?;
        let ends = self.ends;
        self.frames.push(Frame::Loop { merge, continues, list, broken: false, exits_through: Vec::new() });
        if let Flow::Goes(next) = deep(|| self.plain(x, body))? {
            deep(|| self.node(next, body))?;
        }
        let Some(Frame::Loop { mut broken, exits_through, .. }) = self.frames.pop() else { return Err(self.missing_end(x)) };
        let mut continuing = None;
        if continues != x && self.graph.reachable(continues) {
            let inner = self.list(body, true)?;
            self.frames.push(Frame::Continuing { header: x, merge, list: body, broken: false });
            deep(|| self.node(continues, inner))?;
            let Some(Frame::Continuing { broken: leaves_inside, .. }) = self.frames.pop() else { return Err(self.missing_end(x)) };
            broken |= leaves_inside;
            continuing = Some(inner);
        }
        let falls = broken || !exits_through.is_empty();
        let exits = falls || self.ends > ends;
        self.push(list, Item::Loop { body, continuing, exits, falls });
        Ok((broken, exits_through))
    }

    fn missing_end(&self, x: Node) -> Refused {
        self.refused(Why::ControlFlow, format!("the construct of block %{} has no end", self.label(x)))
    }

    /// Writes a block and the blocks that it dominates. The blocks of a loop outside of its body
    /// are left out.
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
        let mut followers: Vec<Node> = Vec::new();
        let first = self.dominated.partition_point(|(dominator, _)| *dominator < x);
        for &(_, to) in self.dominated[first..].iter().take_while(|(dominator, _)| *dominator == x) {
            let is_case = is_switch && self.graph.successors(x).contains(&to);
            if !outside.contains(&to) && !is_case && self.graph.reachable(to) && self.joins(to) > 1 {
                followers.push(to);
            }
        }
        if followers.len() > 1 {
            let order = self.order.get_or_init(|| order(self.graph, self.tree.list_of.len()));
            followers.sort_by_key(|&to| order.get(to as usize));
        }
        if is_switch {
            let (reached, exits_through, falls) = self.switch(x, own_merge, list)?;
            let reached = reached || falls && self.graph.reachable(own_merge);
            let flow = self.after_construct(own_merge, reached, exits_through, list)?;
            return Ok(if falls && flow == Flow::Ends { Flow::Falls } else { flow });
        }
        if own_merge != NONE && self.graph.reachable(own_merge) {
            followers.push(own_merge);
        }
        if followers.is_empty() {
            return self.branch(x, &end, list);
        }
        for &target in followers.iter().rev() {
            self.frames.push(Frame::Next { target, list, reached: false, skip_flags: Vec::new() });
        }
        let mut flow = self.branch(x, &end, list)?;
        if let Flow::Goes(next) = flow {
            flow = if deep(|| self.node(next, list))? { Flow::Falls } else { Flow::Ends };
        }
        let last = followers.len() - 1;
        for (at, &target) in followers.iter().enumerate() {
            let Some(Frame::Next { reached, skip_flags, .. }) = self.frames.pop() else { return Err(self.missing_end(x)) };
            if !reached {
                // No branch leads to it any more, so control does not fall to it either.
                continue;
            }
            if !skip_flags.is_empty() {
                let inner = self.list(list, false)?;
                deep(|| self.node(target, inner))?;
                self.push(list, Item::IfFlag { flags: skip_flags, negated: true, list: inner });
                flow = Flow::Falls;
            } else if at == last {
                return Ok(Flow::Goes(target));
            } else {
                flow = if deep(|| self.node(target, list))? { Flow::Falls } else { Flow::Ends };
            }
        }
        Ok(flow)
    }

    /// Writes the terminator of a block, which is not a switch.
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
                    if self.is_jump(out) {
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

    /// Writes the branch at the end of a continue construct that goes back to the header or leaves
    /// the loop. `None` if the branch has another form.
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

    /// Writes the phi assignments of an edge and its branch.
    fn edge(&mut self, x: Node, to: Node, list: ListId) -> Result<Flow, Refused> {
        if self.has_phis(to) {
            self.push(list, Item::Copies(x, to));
            self.tree.edges.insert((x, to), list);
        }
        self.go(to, list)
    }

    fn go(&mut self, to: Node, list: ListId) -> Result<Flow, Refused> {
        match self.has_landing(to) {
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

    /// The innermost frame that a branch to a block can end at.
    fn landing(&self, to: Node) -> Option<usize> {
        self.frames.iter().rposition(|frame| match frame {
            Frame::Next { target, .. } => *target == to,
            Frame::Loop { merge, continues, .. } => *merge == to || *continues == to,
            Frame::Continuing { header, merge, .. } => *header == to || *merge == to,
            Frame::Switch { merge, .. } => *merge == to,
        })
    }

    fn has_landing(&mut self, to: Node) -> bool {
        self.steps += self.frames.len() as u64;
        self.landing(to).is_some()
    }

    /// Whether a branch to a block is `break` or `continue`, and not the end of the list.
    fn is_jump(&self, to: Node) -> bool {
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

    /// Writes a branch to a block that some frame ends at. `set` is the flag that is already true
    /// for this exit, if there is one.
    fn jump(&mut self, to: Node, list: ListId, set: Option<u32>) -> Result<Flow, Refused> {
        if self.steps > MAX_STEPS {
            return Err(self.refused(Why::Limit, "its branches leave too many constructs".into()));
        }
        // The end of the list may lead there.
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
        // The exit passes through several constructs.
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
            if let Frame::Loop { exits_through, .. } | Frame::Switch { exits_through, .. } = &mut self.frames[at] {
                exits_through.push((flag, to));
            }
            self.push(list, Item::Break);
            return Ok(Flow::Ends);
        }
        self.steps += (self.frames.len() - landing) as u64;
        for frame in &mut self.frames[landing + 1..] {
            if let Frame::Next { skip_flags, .. } = frame
                && !skip_flags.contains(&flag)
            {
                skip_flags.push(flag);
            }
        }
        match &mut self.frames[landing] {
            Frame::Next { reached, .. } | Frame::Switch { reached, .. } => *reached = true,
            Frame::Loop { merge, broken, .. } if *merge == to => *broken = true,
            _ => {}
        }
        Ok(Flow::Falls)
    }

    /// Writes a switch, and returns its end.
    fn switch(&mut self, x: Node, merge: Node, list: ListId) -> Result<SwitchEnd, Refused> {
        let end = self.terminator(x);
        let default = self.target(end.operands(self.module.words())[1]);
        let cases: Vec<(u64, Node)> = self.module.switch_cases(&end).map(|(value, label)| (value, self.target(label))).collect();
        let mut values: FxHashMap<Node, Vec<u64>> = FxHashMap::default();
        let mut targets: Vec<Node> = Vec::new();
        for (value, target) in cases.into_iter().map(|(v, t)| (Some(v), t)).chain([(None, default)]) {
            let case_values = values.entry(target).or_insert_with(|| {
                targets.push(target);
                Vec::new()
            });
            case_values.extend(value);
        }
        self.frames.push(Frame::Switch { merge, list, reached: false, exits_through: Vec::new() });
        // Find which case falls through to which.
        let (mut next, mut has_previous) = (FxHashMap::default(), FxHashSet::default());
        let constructs: Vec<Node> = targets.iter().copied().filter(|&t| self.landing(t).is_none()).collect();
        for &target in &constructs {
            for &from in self.graph.predecessors(target) {
                if from == x || !self.graph.reachable(from) || self.graph.dominates(target, from) {
                    continue;
                }
                self.steps += targets.len() as u64;
                let case = targets.iter().copied().find(|&other| other != target && self.flow.structural().dominates(other, from));
                if let Some(case) = case {
                    next.insert(case, target);
                    has_previous.insert(target);
                }
            }
        }
        let mut clauses = Vec::new();
        let mut falls = false;
        for &first in targets.iter().filter(|t| !has_previous.contains(*t)) {
            let mut group = vec![first];
            while let Some(&next_case) = next.get(group.last().unwrap_or(&first)) {
                if group.contains(&next_case) {
                    return Err(self.refused(Why::ControlFlow, format!("the cases of block %{} fall through in a circle", self.label(x))));
                }
                group.push(next_case);
                self.steps += group.len() as u64;
                if self.steps > MAX_STEPS {
                    return Err(self.refused(Why::Limit, "its cases fall through too far".into()));
                }
            }
            let inner = self.list(list, false)?;
            falls |= match group[..] {
                [only] => self.edge_to_end(x, only, inner)?,
                _ => self.fall_through_cases(x, &group, &values, default, inner)?,
            };
            let has_default = group.contains(&default);
            let values: Vec<u64> = group.iter().flat_map(|t| values.get(t).into_iter().flatten().copied()).collect();
            clauses.push(Clause { values, default: has_default, list: inner });
        }
        let Some(Frame::Switch { reached, exits_through, .. }) = self.frames.pop() else { return Err(self.missing_end(x)) };
        if self.plan.swaps_clauses() && clauses.len() > 1 {
            let last = clauses.len() - 1;
            let list = clauses[0].list;
            clauses[0].list = clauses[last].list;
            clauses[last].list = list;
        }
        self.push(list, Item::Switch { block: x, clauses });
        Ok((reached, exits_through, falls))
    }

    /// Writes cases that fall through to each other, in one clause. Each case but the first is also
    /// executed when the case before it reaches its end.
    fn fall_through_cases(
        &mut self,
        x: Node,
        group: &[Node],
        values: &FxHashMap<Node, Vec<u64>>,
        default: Node,
        list: ListId,
    ) -> Result<bool, Refused> {
        let values_of = |cases: &[Node]| -> Vec<u64> { cases.iter().flat_map(|t| values.get(t).into_iter().flatten().copied()).collect() };
        let default_at = group.iter().position(|&t| t == default);
        // The values and the negation that test whether the selector selects a case up to `upto`.
        let test_up_to = |upto: usize| match default_at {
            Some(at) if at <= upto => (values_of(&group[upto + 1..]), true),
            _ => (values_of(&group[..=upto]), false),
        };
        for (at, &target) in group.iter().enumerate() {
            if !self.has_phis(target) {
                continue;
            }
            let (values, negated) = match default_at == Some(at) {
                true => (values_of(&[&group[..at], &group[at + 1..]].concat()), true),
                false => (values_of(&[target]), false),
            };
            let inner = self.list(list, false)?;
            self.push(inner, Item::Copies(x, target));
            self.tree.edges.insert((x, target), inner);
            self.push(list, Item::Among { block: x, values, negated, list: inner });
        }
        let last = group.len() - 1;
        let mut falls = false;
        for (at, &target) in group.iter().enumerate() {
            let (values, negated) = test_up_to(at);
            let guarded = at < last && !self.plan.forgets_fallthrough_guard();
            let inner = if guarded { self.list(list, false)? } else { list };
            if at < last {
                self.frames.push(Frame::Next { target: group[at + 1], list, reached: false, skip_flags: Vec::new() });
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

//! Static single assignment form, and the graph of implications over it.

use super::control::{DependsOn, Shape, dependences};
use super::pure::{Operand, Pure, Simple};
use super::{Action, Block, Cell, Def, End, Flow, MAX_MERGES, NONE, TooManyMerges, Value};
use crate::rule::Rule;
use crate::text::Span;
use crate::uniformity::Need;
use crate::uniformity::graph::{Graph, Node};
use rustc_hash::FxHashMap;

/// The meaning of a node of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// The node for all that must be uniform.
    Must,
    /// The node for all that differs between invocations.
    Cannot,
    /// Control flow at the call of the function.
    Call,
    /// Control flow at a block.
    Control,
    /// The branch whose condition has this place.
    Branch(Span),
    /// The exit from a loop.
    Loop,
    /// A value that is computed at this place.
    Value(Span),
    /// The value of a variable where control flow meets. The variable is numbered by the front end.
    Merge(u32),
    /// The value after a loop of a value that the loop computes.
    After,
    /// A constant, or another value that is the same in all invocations.
    Same,
    /// A varying value: the index of its description, and its place.
    Varying(u32, Span),
    /// An input of the function, by number.
    Input(u32),
}

/// A planted fault: a weakened analysis, to test the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each says what is left out")]
pub enum Planted {
    ControlOfBranch,
    ControlOfOuterBranch,
    CallIsUniform,
    MergeIgnoresEdges,
    MergeIgnoresValues,
    LoopExit,
    LoopCarried,
    Operands,
    FirstOperandOnly,
    Varying,
    BoundsTooSmall,
    RepeatsUnspecified,
    SharedPointees,
    LoadedPointers,
    PointersStay,
    DynamicIndexIsIgnored,
    StoresHitFirstElement,
    BlendsForget,
    IterationsAreAlike,
    Folding,
}

impl Planted {
    /// All faults.
    pub const ALL: [Planted; 20] = [
        Planted::ControlOfBranch,
        Planted::ControlOfOuterBranch,
        Planted::CallIsUniform,
        Planted::MergeIgnoresEdges,
        Planted::MergeIgnoresValues,
        Planted::LoopExit,
        Planted::LoopCarried,
        Planted::Operands,
        Planted::FirstOperandOnly,
        Planted::Varying,
        Planted::BoundsTooSmall,
        Planted::RepeatsUnspecified,
        Planted::SharedPointees,
        Planted::LoadedPointers,
        Planted::PointersStay,
        Planted::DynamicIndexIsIgnored,
        Planted::StoresHitFirstElement,
        Planted::BlendsForget,
        Planted::IterationsAreAlike,
        Planted::Folding,
    ];
}

/// An operation that needs uniform control flow and may not have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind of operation.
    pub need: Need,
    /// The source text of the operation.
    pub span: Span,
    /// The path from the control flow of the operation to a value that differs.
    pub path: Vec<Hop>,
    /// The description of this value, at the end of the path.
    pub what: String,
}

/// A node on the path of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The meaning of the node.
    pub cause: Cause,
    /// The rule of the edge to the next node.
    pub rule: Option<Rule>,
    /// The variable to which the value was assigned first, as the front end numbers it.
    pub variable: Option<u32>,
}

/// The result of the analysis of a function.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The graph.
    pub graph: Graph<Cause>,
    /// The node of the graph for all that must be uniform.
    pub must_be_uniform: Node,
    /// The rules that added an edge, in registry order.
    pub fired: Vec<Rule>,
    /// The operations whose control flow may not be uniform, one for each place.
    pub findings: Vec<Finding>,
    /// The kinds of operations that need the function to be called in uniform control flow, each
    /// with the place of one operation.
    pub control: Vec<(Need, Span)>,
    /// By input: an operation that needs it to be uniform, if there is one.
    pub must: Vec<Option<(Need, Span)>>,
    /// By output: the inputs that must be uniform for it to be uniform. `None` if it may
    /// differ anyway.
    pub outputs: Vec<Option<Vec<u32>>>,
    /// The inputs that must be uniform for either all invocations or none to return. `None` if some
    /// may not return anyway. A separate input stands for the call.
    pub returns: Option<Vec<u32>>,
}

/// A value of the single assignment form.
#[derive(Clone, Copy, Debug)]
struct SsaValue {
    bits: Option<u32>,
    bound: u32,
    /// The innermost loop in which it varies from one iteration to the next, or `NONE`.
    owner: u32,
    node: Node,
    /// The variable to which it was assigned first, or `NONE`.
    variable: u32,
}

struct State<'a> {
    flow: &'a Flow,
    shape: Shape,
    planted: Option<Planted>,
    graph: Graph<Cause>,
    must: Node,
    cannot: Node,
    call: Node,
    /// The node of the control flow of block 0. Each block has this node and, next to it, the node
    /// of the branch at its end.
    control: Node,
    /// The node of the exit from loop 0. Each loop has one.
    loop_exits: Node,
    singles: Vec<SsaValue>,
    /// By value of the flow: its single, or `NONE`.
    single_of_value: Vec<u32>,
    /// By cell: its current value, or `NONE`.
    current: Vec<u32>,
    /// The changed cells, with their previous values.
    undo_log: Vec<(u32, u32)>,
    value_numbers: FxHashMap<(Pure, smallvec::SmallVec<[u32; 3]>), u32>,
    constants: FxHashMap<u32, u32>,
    after_loop: FxHashMap<(u32, u32), u32>,
    /// By block: the cells that have a phi at its start.
    phis: Vec<Vec<u32>>,
    /// By block: the edges to it so far, each with the values of the phis' cells.
    incoming: Vec<Vec<(Node, Vec<u32>)>>,
    /// By visited block: the values of its phis.
    merged: Vec<Vec<u32>>,
    visited: Vec<bool>,
    live: Vec<bool>,
    successors: Vec<Vec<u32>>,
    needs: Vec<(Node, Need, Span)>,
    outputs: Vec<u32>,
    zero: u32,
}

/// Decides which blocks and values are uniform.
///
/// # Errors
/// Nested loops make more than [`MAX_MERGES`] merges.
pub fn analyse(flow: &Flow) -> Result<Solution, TooManyMerges> {
    let n = flow.blocks.len();
    let mut graph = Graph::default();
    let (must, cannot, call) = (graph.node(Cause::Must), graph.node(Cause::Cannot), graph.node(Cause::Call));
    let shape = Shape::of(flow);
    let control = Node(graph.nodes() as u32);
    for block in &flow.blocks {
        graph.node(Cause::Control);
        graph.node(Cause::Branch(block.span.unwrap_or(flow.span)));
    }
    let loop_exits = Node(graph.nodes() as u32);
    for _ in 0..shape.outer.len() {
        graph.node(Cause::Loop);
    }
    let phis = place(flow, &shape).filter(|_| shape.frontiers < MAX_MERGES).ok_or(TooManyMerges)?;
    let mut s = State {
        planted: flow.planted,
        graph,
        must,
        cannot,
        call,
        control,
        loop_exits,
        singles: Vec::with_capacity(flow.values.len() + n),
        single_of_value: vec![NONE; flow.values.len()],
        current: vec![NONE; flow.cells.len()],
        undo_log: Vec::new(),
        value_numbers: FxHashMap::default(),
        constants: FxHashMap::default(),
        after_loop: FxHashMap::default(),
        merged: vec![Vec::new(); n],
        incoming: vec![Vec::new(); n],
        visited: vec![false; n],
        live: vec![false; n],
        successors: vec![Vec::new(); n],
        needs: Vec::new(),
        outputs: Vec::new(),
        zero: 0,
        phis,
        shape,
        flow,
    };
    s.zero = s.constant(0);
    s.rename();
    s.depend();
    Ok(s.solve())
}

/// The blocks in which each cell needs a phi. These are the iterated dominance frontier of the
/// blocks that write it, if some block reads it before writing it. `None` if there are too many.
fn place(flow: &Flow, shape: &Shape) -> Option<Vec<Vec<u32>>> {
    let cells = flow.cells.len();
    let mut changed: Vec<smallvec::SmallVec<[u32; 4]>> = vec![smallvec::SmallVec::new(); cells];
    let mut exposed = vec![false; cells];
    for cell in &flow.outputs {
        exposed[cell.0 as usize] = true;
    }
    let mut last = vec![NONE; cells];
    for &block in &shape.order {
        for action in flow.actions(block as usize) {
            match action {
                Action::Write(cell, _) => {
                    let at = cell.0 as usize;
                    if std::mem::replace(&mut last[at], block) != block {
                        changed[at].push(block);
                    }
                }
                Action::Define(value) => {
                    if let Def::Read(cell) = flow.value(*value).def
                        && last[cell.0 as usize] != block
                    {
                        exposed[cell.0 as usize] = true;
                    }
                }
                _ => {}
            }
        }
    }
    let mut phis = vec![Vec::new(); flow.blocks.len()];
    let mut count = 0;
    let mut placed = vec![NONE; flow.blocks.len()];
    let mut work = Vec::new();
    for cell in (0..cells as u32).filter(|c| exposed[*c as usize]) {
        work.extend_from_slice(&changed[cell as usize]);
        while let Some(block) = work.pop() {
            for &at in &shape.frontier[block as usize] {
                if std::mem::replace(&mut placed[at as usize], cell) != cell {
                    phis[at as usize].push(cell);
                    work.push(at);
                    count += 1;
                }
            }
            if count > MAX_MERGES {
                return None;
            }
        }
    }
    Some(phis)
}

impl State<'_> {
    fn control_of(&self, block: u32) -> Node {
        Node(self.control.0 + 2 * block)
    }

    fn branch_of(&self, block: u32) -> Node {
        Node(self.control.0 + 2 * block + 1)
    }

    fn is(&self, planted: Planted) -> bool {
        self.planted == Some(planted)
    }

    fn single(&mut self, bits: Option<u32>, bound: u32, owner: u32, cause: Cause) -> u32 {
        let node = self.graph.node(cause);
        self.singles.push(SsaValue { bits, bound, owner, node, variable: NONE });
        self.singles.len() as u32 - 1
    }

    fn constant(&mut self, bits: u32) -> u32 {
        if let Some(&at) = self.constants.get(&bits) {
            return at;
        }
        let at = self.single(Some(bits), bits, NONE, Cause::Same);
        self.constants.insert(bits, at);
        at
    }

    fn node(&self, single: u32) -> Node {
        self.singles[single as usize].node
    }

    fn operand(&self, value: u32) -> Operand {
        let single = &self.singles[value as usize];
        Operand { value, bits: single.bits, bound: single.bound }
    }

    /// The value as a block sees it. After a loop, this is the value of the last iteration.
    fn value_seen_from(&mut self, mut value: u32, block_loop: u32) -> u32 {
        loop {
            let owner = self.singles[value as usize].owner;
            if self.shape.encloses(owner, block_loop) {
                return value;
            }
            value = match self.after_loop.get(&(owner, value)) {
                Some(&after) => after,
                None => {
                    let bound = self.singles[value as usize].bound;
                    let after = self.single(None, bound, self.shape.outer[owner as usize], Cause::After);
                    flow_after(self, after, value, owner);
                    self.after_loop.insert((owner, value), after);
                    after
                }
            };
        }
    }

    fn use_of(&mut self, value: Value, block_loop: u32) -> u32 {
        match self.single_of_value[value.0 as usize] {
            NONE => self.zero,
            at => self.value_seen_from(at, block_loop),
        }
    }

    fn cell_value(&mut self, cell: Cell, block_loop: u32) -> u32 {
        match self.current[cell.0 as usize] {
            NONE => self.zero,
            at => self.value_seen_from(at, block_loop),
        }
    }

    fn set_cell(&mut self, cell: u32, value: u32) {
        let before = std::mem::replace(&mut self.current[cell as usize], value);
        self.undo_log.push((cell, before));
    }

    /// Visits every block after its immediate dominator.
    fn rename(&mut self) {
        if self.flow.blocks.is_empty() {
            return;
        }
        self.live[0] = true;
        // Visits a block, or undoes changes of cells down to a length of the undo log.
        enum Work {
            Visit(u32),
            Undo(usize),
        }
        let mut work = vec![Work::Visit(0)];
        while let Some(next) = work.pop() {
            match next {
                Work::Undo(length) => {
                    while self.undo_log.len() > length {
                        let Some((cell, before)) = self.undo_log.pop() else { break };
                        self.current[cell as usize] = before;
                    }
                }
                Work::Visit(block) => {
                    if !self.live[block as usize] {
                        continue;
                    }
                    work.push(Work::Undo(self.undo_log.len()));
                    self.visit(block);
                    for i in (0..self.shape.dominated[block as usize].len()).rev() {
                        work.push(Work::Visit(self.shape.dominated[block as usize][i]));
                    }
                }
            }
        }
    }

    fn visit(&mut self, block: u32) {
        let at = block as usize;
        let block_loop = self.shape.loop_of[at];
        self.visited[at] = true;
        let incoming = std::mem::take(&mut self.incoming[at]);
        for i in 0..self.phis[at].len() {
            let cell = self.phis[at][i];
            let value = if self.shape.header[at] {
                let phi = self.single(None, u32::MAX, block_loop, Cause::Merge(self.flow.cells[cell as usize]));
                for (edge, cell_values) in &incoming {
                    flow_iterate(self, phi, cell_values[i], (incoming.len() > 1).then_some(*edge));
                }
                phi
            } else {
                let first = incoming.first().map_or(self.zero, |(_, cell_values)| cell_values[i]);
                if incoming.iter().all(|(_, cell_values)| cell_values[i] == first) {
                    first
                } else {
                    let bound =
                        incoming.iter().map(|(_, cell_values)| self.singles[cell_values[i] as usize].bound).max().unwrap_or(u32::MAX);
                    let phi = self.single(None, bound, block_loop, Cause::Merge(self.flow.cells[cell as usize]));
                    for (edge, cell_values) in &incoming {
                        flow_merge(self, phi, cell_values[i], *edge);
                    }
                    phi
                }
            };
            self.merged[at].push(value);
            self.set_cell(cell, value);
        }
        let flow = self.flow;
        for action in flow.actions(at) {
            match action {
                Action::Define(value) => {
                    let single = self.define(*value, block_loop);
                    self.single_of_value[value.0 as usize] = single;
                }
                Action::Write(cell, value) => {
                    let value = self.use_of(*value, block_loop);
                    let single = &mut self.singles[value as usize];
                    if single.variable == NONE {
                        single.variable = self.flow.cells[cell.0 as usize];
                    }
                    self.set_cell(cell.0, value);
                }
                Action::Need(need, span) => {
                    let node = self.control_of(block);
                    self.needs.push((node, *need, *span));
                }
                Action::Must(value, need, span) => {
                    let value = self.use_of(*value, block_loop);
                    let node = self.node(value);
                    self.needs.push((node, *need, *span));
                }
            }
        }
        self.follow_edges(block, block_loop);
    }

    fn define(&mut self, value: Value, block_loop: u32) -> u32 {
        let data = self.flow.value(value);
        match &data.def {
            Def::Constant(bits) => self.constant(*bits),
            Def::Uniform(bound) => self.single(None, *bound, NONE, Cause::Same),
            Def::Varying(text, bound) => {
                let single = self.single(None, *bound, block_loop, Cause::Varying(*text, data.span));
                flow_varying(self, single);
                single
            }
            Def::Input(number) => self.single(None, u32::MAX, NONE, Cause::Input(*number)),
            Def::Read(cell) => self.cell_value(*cell, block_loop),
            Def::Pure(pure, operands) => {
                let flow = self.flow;
                let operands: smallvec::SmallVec<[Operand; 4]> = flow
                    .operands(operands)
                    .iter()
                    .map(|v| {
                        let at = self.use_of(*v, block_loop);
                        self.operand(at)
                    })
                    .collect();
                self.compute(*pure, &operands, block_loop, data.span)
            }
        }
    }

    fn compute(&mut self, pure: Pure, operands: &[Operand], block_loop: u32, span: Span) -> u32 {
        if !self.is(Planted::Folding) || operands.len() == 1 {
            match pure.simplify(operands) {
                Some(Simple::Bits(bits)) => return self.constant(bits),
                Some(Simple::Same(value)) => return value,
                None => {}
            }
        } else if let [first, ..] = operands {
            return first.value;
        }
        let repeatable = pure.repeatable(operands) || self.is(Planted::RepeatsUnspecified);
        let mut key: smallvec::SmallVec<[u32; 3]> = operands.iter().map(|o| o.value).collect();
        if pure.commutes() {
            key.sort_unstable();
        }
        let key = (pure, key);
        if repeatable && let Some(&at) = self.value_numbers.get(&key) {
            return at;
        }
        let bound = if self.is(Planted::BoundsTooSmall) { pure.bound(operands) / 2 } else { pure.bound(operands) };
        // It varies in the innermost loop of its operands. A result that may be unspecified is
        // chosen anew in each iteration.
        let owner = match repeatable {
            false => block_loop,
            true => operands.iter().map(|o| self.singles[o.value as usize].owner).fold(NONE, |a, b| match (a, b) {
                (NONE, other) | (other, NONE) => other,
                (a, b) if self.shape.depth[a as usize] >= self.shape.depth[b as usize] => a,
                (_, b) => b,
            }),
        };
        let single = self.single(None, bound, owner, Cause::Value(span));
        flow_operand(self, single, operands);
        if repeatable {
            self.value_numbers.insert(key, single);
        }
        single
    }

    /// Follows the edges from a block.
    fn follow_edges(&mut self, block: u32, block_loop: u32) {
        let flow = self.flow;
        let mut targets: Vec<u32> = Vec::new();
        let mut condition = None;
        match &flow.blocks[block as usize].end {
            End::Exit | End::Unreachable => {}
            End::Jump(next) => targets.push(next.0),
            End::Branch(value, then_block, else_block) => {
                let value = self.use_of(*value, block_loop);
                match self.singles[value as usize].bits {
                    Some(0) => targets.push(else_block.0),
                    Some(_) => targets.push(then_block.0),
                    None if self.singles[value as usize].bound == 0 => targets.push(else_block.0),
                    None => targets.extend([then_block.0, else_block.0]),
                }
                condition = Some(value);
            }
            End::Switch(value, cases, default_block) => {
                let value = self.use_of(*value, block_loop);
                match self.singles[value as usize].bits {
                    Some(bits) => {
                        targets.extend(cases.iter().find(|(b, _)| *b == bits).map(|(_, b)| b).or(default_block.as_ref()).map(|b| b.0))
                    }
                    None => targets.extend(cases.iter().map(|(_, b)| *b).chain(*default_block).map(|Block(b)| b)),
                }
                condition = Some(value);
            }
        }
        targets.sort_unstable();
        targets.dedup();
        let split = targets.len() > 1;
        // After an edge of a branch, the value of its condition is known.
        let known = match (&flow.blocks[block as usize].end, condition) {
            (End::Branch(_, then_block, else_block), Some(value)) if split => {
                let true_value = (self.singles[value as usize].bound <= 1).then(|| self.constant(1));
                Some((value, then_block.0, true_value.unwrap_or(value), else_block.0, self.zero))
            }
            _ => None,
        };
        if let (true, Some(condition)) = (split, condition) {
            flow_branch(self, block, condition);
        }
        let edge = if split { self.branch_of(block) } else { self.control_of(block) };
        for &next in &targets {
            self.live[next as usize] = true;
            let target_loop = self.shape.loop_of[next as usize];
            // The loops that this edge leaves.
            let mut exited_loop = block_loop;
            while exited_loop != NONE && !self.shape.encloses(exited_loop, target_loop) {
                flow_leave(self, exited_loop, edge);
                exited_loop = self.shape.outer[exited_loop as usize];
            }
            let mut cell_values = Vec::with_capacity(self.phis[next as usize].len());
            for i in 0..self.phis[next as usize].len() {
                let cell = self.phis[next as usize][i];
                cell_values.push(match known {
                    Some((value, then_block, true_value, ..)) if next == then_block && self.current[cell as usize] == value => {
                        self.value_seen_from(true_value, target_loop)
                    }
                    Some((value, .., else_block, false_value)) if next == else_block && self.current[cell as usize] == value => false_value,
                    _ => self.cell_value(Cell(cell), target_loop),
                });
            }
            if self.visited[next as usize] {
                for (i, &value) in cell_values.iter().enumerate() {
                    let phi = self.merged[next as usize][i];
                    flow_iterate(self, phi, value, None);
                }
            } else {
                self.incoming[next as usize].push((edge, cell_values));
            }
        }
        if block == flow.returning.0 {
            for i in 0..flow.outputs.len() {
                let value = self.cell_value(flow.outputs[i], NONE);
                self.outputs.push(value);
            }
        }
        self.successors[block as usize] = targets;
    }

    fn depend(&mut self) {
        let exits: Vec<bool> = self.flow.blocks.iter().map(|b| b.end == End::Exit).collect();
        let mut dependences_found: Vec<(u32, DependsOn)> = Vec::new();
        let loops = if self.is(Planted::IterationsAreAlike) { &[][..] } else { &self.flow.loops };
        dependences(&self.successors, &self.live, &self.shape.order, &exits, loops, |block, dependence| {
            dependences_found.push((block, dependence))
        });
        for (block, dependence) in dependences_found {
            match dependence {
                DependsOn::Entry => flow_entry(self, block),
                DependsOn::Branch(at) => flow_control(self, block, at),
            }
        }
    }

    /// Searches backwards from values that differ to operations that need uniform control flow.
    fn solve(mut self) -> Solution {
        for i in 0..self.needs.len() {
            let (node, ..) = self.needs[i];
            flow_need(&mut self, node);
        }
        let back = self.graph.back(self.cannot);
        let (mut findings, mut control): (Vec<Finding>, Vec<(Need, Span)>) = (Vec::new(), Vec::new());
        let mut must: Vec<Option<(Need, Span)>> = vec![None; self.flow.inputs as usize];
        let mut inputs: Vec<Node> = vec![Node(NONE); self.flow.inputs as usize];
        for single in &self.singles {
            if let Cause::Input(number) = self.graph.label(single.node) {
                inputs[*number as usize] = single.node;
            }
        }
        let mut found = rustc_hash::FxHashSet::default();
        for (node, need, span) in &self.needs {
            if back.has(*node) && found.insert((span.start, span.end)) {
                let hop = |(node, rule): (Node, Option<Rule>)| {
                    // The nodes of values are in the same order as the values.
                    let single = self.singles.binary_search_by_key(&node, |s| s.node).ok().map(|at| self.singles[at].variable);
                    Hop { cause: *self.graph.label(node), rule, variable: single.filter(|v| *v != NONE) }
                };
                let path: Vec<Hop> = back.path(*node).into_iter().map(hop).collect();
                let text = path.iter().find_map(|hop| match hop.cause {
                    Cause::Varying(text, _) => self.flow.texts.get(text as usize),
                    _ => None,
                });
                findings.push(Finding { need: *need, span: *span, path, what: text.cloned().unwrap_or_default() });
            }
        }
        // A caller's data, computed only if the flow has inputs or outputs.
        let metadata = self.flow.inputs > 0 || !self.flow.outputs.is_empty();
        let (mut outputs, mut returns) = (Vec::new(), None);
        if metadata {
            for need in [Need::Barrier, Need::Derivative] {
                let starts: Vec<Node> = self.needs.iter().filter(|(_, n, _)| *n == need).map(|(node, ..)| *node).collect();
                let Some(&(_, _, span)) = self.needs.iter().find(|(_, n, _)| *n == need) else { continue };
                let reached = self.graph.reach(&starts, None);
                if reached.has(self.call) {
                    control.push((need, span));
                }
                for (input, must) in inputs.iter().zip(&mut must) {
                    if reached.has(*input) && must.is_none() {
                        *must = Some((need, span));
                    }
                }
            }
            for &output in &self.outputs {
                let node = self.node(output);
                let reached = self.graph.reach(&[node], None);
                outputs.push(
                    (!reached.has(self.cannot)).then(|| (0..self.flow.inputs).filter(|i| reached.has(inputs[*i as usize])).collect()),
                );
            }
            let end = self.control_of(self.flow.returning.0);
            let reached = self.graph.reach(&[end], None);
            returns = (!reached.has(self.cannot)).then(|| (0..self.flow.inputs).filter(|i| reached.has(inputs[*i as usize])).collect());
        }
        let fired = self.graph.rules();
        Solution { graph: self.graph, must_be_uniform: self.must, fired, findings, control, must, outputs, returns }
    }
}

/// an operation in block B that needs uniform control flow gives must ⇒ control(B)
/// [uniformity/flow-need, 001 Function validation]
fn flow_need(s: &mut State, node: Node) {
    s.graph.imply(s.must, node, Rule::UniformityFlowNeed);
}

/// block B that every invocation of a call comes to gives control(B) ⇒ control of the call
/// [uniformity/flow-entry, 001 Function validation; U-11]
fn flow_entry(s: &mut State, block: u32) {
    if !s.is(Planted::CallIsUniform) {
        let node = s.control_of(block);
        s.graph.imply(node, s.call, Rule::UniformityFlowEntry);
    }
}

/// block B control dependent on the branch at the end of A gives control(B) ⇒ branch(A)
/// [uniformity/flow-control, 001 Validating a statement; U-2, U-3, U-11]
fn flow_control(s: &mut State, block: u32, at: u32) {
    if !s.is(Planted::ControlOfBranch) {
        // A block with one successor has no branch. Others depend on it only since it goes back to
        // a header, which ends an iteration.
        let branch = if s.successors[at as usize].len() > 1 { s.branch_of(at) } else { s.control_of(at) };
        let node = s.control_of(block);
        s.graph.imply(node, branch, Rule::UniformityFlowControl);
    }
}

/// block A that ends in a branch on e gives branch(A) ⇒ {e, control(A)} [uniformity/flow-branch,
/// 001 Validating a statement]
fn flow_branch(s: &mut State, block: u32, condition: u32) {
    let (branch, control, condition) = (s.branch_of(block), s.control_of(block), s.node(condition));
    s.graph.imply(branch, condition, Rule::UniformityFlowBranch);
    if !s.is(Planted::ControlOfOuterBranch) {
        s.graph.imply(branch, control, Rule::UniformityFlowBranch);
    }
}

/// v = f(e1, …, en) gives v ⇒ {e1, …, en} [uniformity/flow-operand, 001 Expressions]
fn flow_operand(s: &mut State, value: u32, operands: &[Operand]) {
    if s.is(Planted::Operands) {
        return;
    }
    for operand in operands.iter().take(if s.is(Planted::FirstOperandOnly) { 1 } else { usize::MAX }) {
        if operand.bits.is_none() {
            let (node, to) = (s.node(value), s.node(operand.value));
            s.graph.imply(node, to, Rule::UniformityFlowOperand);
        }
    }
}

/// v that may differ between invocations gives v ⇒ cannot [uniformity/flow-varying, 001
/// Expressions; U-8, U-9]
fn flow_varying(s: &mut State, value: u32) {
    if !s.is(Planted::Varying) {
        let node = s.node(value);
        s.graph.imply(node, s.cannot, Rule::UniformityFlowVarying);
    }
}

/// v = φ(v1 by the edge from A1, …, vn by the edge from An), not all the same value, gives v ⇒ {vi,
/// branch(Ai)}, and control(Ai) for branch(Ai) where Ai has one edge [uniformity/flow-merge, 001
/// Validating a statement; U-13]
fn flow_merge(s: &mut State, phi: u32, value: u32, edge: Node) {
    let (node, source) = (s.node(phi), s.node(value));
    if !s.is(Planted::MergeIgnoresValues) && s.singles[value as usize].bits.is_none() {
        s.graph.imply(node, source, Rule::UniformityFlowMerge);
    }
    if !s.is(Planted::MergeIgnoresEdges) {
        s.graph.imply(node, edge, Rule::UniformityFlowMerge);
    }
}

/// v = φ(v1 before a loop, v2 from its last iteration) gives v ⇒ {v1, v2} [uniformity/flow-iterate,
/// 001 Validating a statement; U-13]
fn flow_iterate(s: &mut State, phi: u32, value: u32, edge: Option<Node>) {
    if s.is(Planted::LoopCarried) {
        return;
    }
    let (node, source) = (s.node(phi), s.node(value));
    if s.singles[value as usize].bits.is_none() && phi != value {
        s.graph.imply(node, source, Rule::UniformityFlowIterate);
    }
    if let Some(edge) = edge {
        s.graph.imply(node, edge, Rule::UniformityFlowIterate);
    }
}

/// v of the loop L, seen after it as w, gives w ⇒ {v, left(L)} [uniformity/flow-after, 001
/// Validating a statement; U-3]
fn flow_after(s: &mut State, after: u32, value: u32, loop_number: u32) {
    let (node, inner, loop_exit) = (s.node(after), s.node(value), Node(s.loop_exits.0 + loop_number));
    s.graph.imply(node, inner, Rule::UniformityFlowAfter);
    if !s.is(Planted::LoopExit) {
        s.graph.imply(node, loop_exit, Rule::UniformityFlowAfter);
    }
}

/// an edge from A that leaves the loop L gives left(L) ⇒ branch(A), and control(A) for branch(A)
/// where A has one edge [uniformity/flow-leave, 001 Validating a statement; U-3]
fn flow_leave(s: &mut State, loop_number: u32, edge: Node) {
    let node = Node(s.loop_exits.0 + loop_number);
    s.graph.imply(node, edge, Rule::UniformityFlowLeave);
}

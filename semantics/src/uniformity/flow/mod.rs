//! The input of the precise analysis: control flow and values, independent of the language.
//!
//! A front end (`uniformity::wsl`, `uniformity::spirv`) lowers a function, with its callees
//! inlined, to a [`Flow`]: blocks of actions over values and cells. A cell is a variable of one
//! scalar. A value is computed once, at its place in a block. [`analyse`] decides which blocks and
//! values are uniform:
//!
//! - Cells become values in static single assignment form. Equal computations are one value, and
//!   integer constants are folded. Edges that no constant condition takes are left out.
//! - A block runs uniformly if the branches on which it is control dependent are uniform. A branch
//!   is uniform if its condition is, and if its block runs uniformly.
//! - A merge of different values is uniform if the values are, and if the edges that lead to it are
//!   taken uniformly.
//! - An operation in a loop belongs to an iteration. For control dependence a loop may therefore
//!   end with each iteration ([`Flow::looped`]).
//! - A value that varies within a loop and is used after it is uniform only if the loop is left
//!   uniformly.
//!
//! Control dependence is that of Ferrante, Ottenstein and Warren (1987). Phis are placed as in
//! Cytron et al. (1991), up to a limit. Unspecified results (a division by zero, an index out of
//! bounds) count as uniform if the operands are.

mod control;
mod pure;
mod region;
mod single;

pub use pure::Pure;
pub use region::{Pick, Region, Scalars};
pub use single::{Cause, Finding, Hop, Planted, Solution, analyse};

use super::Need;
use crate::text::Span;
use std::ops::Range;

/// A value of a [`Flow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);
/// A scalar variable of a [`Flow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(pub u32);
/// A basic block of a [`Flow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(pub u32);

/// The greatest number of merges of a function. In nested loops, a variable has as many merges as
/// there are loops around it.
pub const MAX_MERGES: usize = 1 << 21;

/// No verdict: there are more than [`MAX_MERGES`] merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyMerges;

impl std::fmt::Display for TooManyMerges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the loops in one another make more than {MAX_MERGES} merges of variables")
    }
}

impl std::error::Error for TooManyMerges {}

/// The index that means no item.
pub(super) const NONE: u32 = u32::MAX;

/// How a value is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// These 32 bits, in every invocation.
    Constant(u32),
    /// The same unknown value in every invocation, at most this number.
    Uniform(u32),
    /// A value that may differ between invocations. The first number is the index in
    /// [`Flow::texts`] of its description. The second is an upper bound.
    Varying(u32, u32),
    /// An input, by number, of a function that is analysed by itself.
    Input(u32),
    /// A function of its operands.
    Pure(Pure, Range<u32>),
    /// The value of the cell.
    Read(Cell),
}

/// An action of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    /// Computes a value.
    Define(Value),
    /// Sets a cell.
    Write(Cell, Value),
    /// An operation that needs uniform control flow, and its place.
    Need(Need, Span),
    /// A value that must be uniform. Otherwise an operation that needs uniform control flow does
    /// not have it.
    Must(Value, Need, Span),
}

/// The end of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum End {
    /// The invocation ends.
    #[default]
    Exit,
    /// This point cannot be reached.
    Unreachable,
    /// Control flow goes on in this block.
    Jump(Block),
    /// A branch on a condition: the first block if it is not zero, the second if it is.
    Branch(Value, Block, Block),
    /// A switch on a value. The last block is for all other values.
    Switch(Value, Vec<(u32, Block)>, Option<Block>),
}

impl End {
    /// The blocks that it leads to. A block may occur twice.
    pub(super) fn successors(&self) -> smallvec::SmallVec<[Block; 2]> {
        match self {
            End::Exit | End::Unreachable => smallvec::SmallVec::new(),
            End::Jump(to) => smallvec::smallvec![*to],
            End::Branch(_, a, b) => smallvec::smallvec![*a, *b],
            End::Switch(_, cases, other) => cases.iter().map(|(_, b)| *b).chain(*other).collect(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct BlockData {
    pub actions: Range<u32>,
    pub end: End,
    /// The place of the condition.
    pub span: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct ValueData {
    pub def: Def,
    pub span: Span,
}

/// A function as blocks. Block 0 is the first. Blocks are filled one after another.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) blocks: Vec<BlockData>,
    pub(super) actions: Vec<Action>,
    pub(super) values: Vec<ValueData>,
    pub(super) operands: Vec<Value>,
    /// By cell: its variable, as the front end numbers variables.
    pub(super) cells: Vec<u32>,
    /// The descriptions of varying values.
    pub texts: Vec<String>,
    current: Block,
    /// The place of the construct that is being lowered.
    pub span: Span,
    /// The number of inputs.
    pub inputs: u32,
    /// The cells of the results, in order, at the end of the block that [`Flow::finish`] ends.
    pub outputs: Vec<Cell>,
    pub(super) returning: Block,
    pub(super) planted: Option<Planted>,
    /// The loops whose iterations distinguish operations: [`Flow::looped`].
    pub(super) loops: Vec<(Block, Block, Option<Block>)>,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            blocks: vec![BlockData::default()],
            actions: Vec::new(),
            values: Vec::new(),
            operands: Vec::new(),
            cells: Vec::new(),
            texts: Vec::new(),
            current: Block(0),
            span: Span { start: 0, end: 0 },
            inputs: 0,
            outputs: Vec::new(),
            returning: Block(0),
            planted: None,
            loops: Vec::new(),
        }
    }
}

impl Flow {
    /// An empty function, for an analysis with a planted fault or none.
    pub fn new(planted: Option<Planted>) -> Flow {
        Flow { planted, ..Flow::default() }
    }

    /// Adds a block.
    pub fn block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block(self.blocks.len() as u32 - 1)
    }

    /// Makes an empty block the current block.
    pub fn begin(&mut self, block: Block) {
        let at = self.actions.len() as u32;
        self.blocks[block.0 as usize].actions = at..at;
        self.current = block;
    }

    /// Ends the current block.
    pub fn end(&mut self, end: End) {
        let data = &mut self.blocks[self.current.0 as usize];
        data.actions.end = self.actions.len() as u32;
        data.end = end;
        data.span = Some(self.span);
    }

    /// Ends the current block and goes on in another one.
    pub fn jump(&mut self, to: Block) {
        self.end(End::Jump(to));
        self.begin(to);
    }

    /// Adds a loop, by its header and the block in which control flow goes on after it. If no edge
    /// leads there, control flow goes on in `returns`, the block in which the function returns.
    ///
    /// All that is executed in the loop belongs to an iteration, including the last way out of it.
    /// So a block is not uniform if every invocation reaches it, but some in another iteration.
    pub fn looped(&mut self, header: Block, after: Block, returns: Option<Block>) {
        self.loops.push((header, after, returns));
    }

    /// Ends the current block, in which the function returns.
    pub fn finish(&mut self) {
        self.returning = self.current;
        self.end(End::Exit);
    }

    /// Whether two cells belong to the same variable.
    pub fn same_variable(&self, a: Cell, b: Cell) -> bool {
        self.cells[a.0 as usize] == self.cells[b.0 as usize]
    }

    /// The number of cells of a variable, from this cell on.
    pub fn cells_from(&self, cell: Cell) -> u32 {
        let rest = &self.cells[cell.0 as usize..];
        rest.iter().take_while(|variable| **variable == rest[0]).count() as u32
    }

    /// Adds `n` cells of a variable. Returns the first.
    pub fn new_cells(&mut self, variable: u32, n: u32) -> Cell {
        let first = Cell(self.cells.len() as u32);
        self.cells.resize(self.cells.len() + n as usize, variable);
        first
    }

    fn define(&mut self, def: Def) -> Value {
        let value = Value(self.values.len() as u32);
        self.values.push(ValueData { def, span: self.span });
        self.actions.push(Action::Define(value));
        value
    }

    /// Adds a constant.
    pub fn constant(&mut self, bits: u32) -> Value {
        self.define(Def::Constant(bits))
    }

    /// Adds a value that is the same in every invocation, and at most `bound`.
    pub fn uniform(&mut self, bound: u32) -> Value {
        self.define(Def::Uniform(bound))
    }

    /// Adds a value that may differ between invocations, and is at most `bound`.
    pub fn varying(&mut self, text: u32, bound: u32) -> Value {
        self.define(Def::Varying(text, bound))
    }

    /// Adds the next input.
    pub fn input(&mut self) -> Value {
        self.inputs += 1;
        self.define(Def::Input(self.inputs - 1))
    }

    /// Adds a function of operands.
    pub fn pure(&mut self, pure: Pure, operands: &[Value]) -> Value {
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        self.define(Def::Pure(pure, start..self.operands.len() as u32))
    }

    /// Reads a cell.
    pub fn read(&mut self, cell: Cell) -> Value {
        self.define(Def::Read(cell))
    }

    /// Sets a cell.
    pub fn write(&mut self, cell: Cell, value: Value) {
        self.actions.push(Action::Write(cell, value));
    }

    /// Adds an operation that needs uniform control flow.
    pub fn need(&mut self, need: Need, span: Span) {
        self.actions.push(Action::Need(need, span));
    }

    /// Adds an operation that needs this value to be uniform, since it branches on the value before
    /// it needs uniform control flow.
    pub fn must(&mut self, value: Value, need: Need, span: Span) {
        self.actions.push(Action::Must(value, need, span));
    }

    /// The bits of a value that is defined as a constant.
    pub fn known(&self, value: Value) -> Option<u32> {
        match self.values[value.0 as usize].def {
            Def::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    pub(super) fn value(&self, value: Value) -> &ValueData {
        &self.values[value.0 as usize]
    }

    pub(super) fn actions(&self, block: usize) -> &[Action] {
        let range = &self.blocks[block].actions;
        &self.actions[range.start as usize..range.end as usize]
    }

    pub(super) fn operands(&self, range: &Range<u32>) -> &[Value] {
        &self.operands[range.start as usize..range.end as usize]
    }
}

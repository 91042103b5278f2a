//! What the precise analysis looks at: control flow and values, whatever the language.
//!
//! A front end (`uniformity::wsl`, `uniformity::spirv`) lowers a function, with its callees
//! inlined, to a [`Flow`]: blocks of actions over values and cells. A cell is a variable of one
//! scalar. A value is computed once where it stands. [`analyse`] decides what is uniform:
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
//! Control dependence is that of Ferrante, Ottenstein and Warren (1987). Phis are placed as Cytron
//! et al. (1991) do it; their number is limited. Unspecified results (a division by zero, an index
//! out of bounds) are taken to be uniform if the operands are.

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

/// The most merges of a function. Loops in one another have as many for each variable as there are
/// loops around it.
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

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// How a value is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// These 32 bits, in every invocation.
    Constant(u32),
    /// The same in every invocation, and otherwise unknown; at most the number.
    Uniform(u32),
    /// It may differ between invocations; at most the number. The text says what it is, by its
    /// index in [`Flow::texts`].
    Varying(u32, u32),
    /// An input of the function that is analysed by itself, by its number.
    Input(u32),
    /// A function of its operands.
    Pure(Pure, Range<u32>),
    /// What the cell holds.
    Read(Cell),
}

/// What a block does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    /// Computes a value.
    Define(Value),
    /// Changes a cell.
    Write(Cell, Value),
    /// What needs uniform control flow, and where it stands.
    Need(Need, Span),
    /// The value must be uniform, or what needs uniform control flow is not.
    Must(Value, Need, Span),
}

/// How a block ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum End {
    /// The invocation ends.
    #[default]
    Exit,
    /// It cannot be reached.
    Unreachable,
    /// It goes on there.
    Jump(Block),
    /// By a condition: where it is not zero, and where it is.
    Branch(Value, Block, Block),
    /// By a value; the last is for every other one.
    Switch(Value, Vec<(u32, Block)>, Option<Block>),
}

impl End {
    /// Where it leads, perhaps the same block twice.
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
    /// Where the condition stands.
    pub span: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct ValueData {
    pub def: Def,
    pub span: Span,
}

/// A function as blocks; block 0 is the first. Blocks are filled one after the other.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) blocks: Vec<BlockData>,
    pub(super) actions: Vec<Action>,
    pub(super) values: Vec<ValueData>,
    pub(super) operands: Vec<Value>,
    /// By cell: the variable that it belongs to, as the front end numbers them.
    pub(super) cells: Vec<u32>,
    /// What varying values are.
    pub texts: Vec<String>,
    current: Block,
    /// Where what is being lowered stands.
    pub span: Span,
    /// The number of inputs.
    pub inputs: u32,
    /// What the function gives, in order, at the end of the block that [`Flow::finish`] ends.
    pub outputs: Vec<Cell>,
    pub(super) returning: Block,
    pub(super) planted: Option<Planted>,
    /// The loops whose iterations tell operations apart: [`Flow::looped`].
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
    /// A function that does nothing yet, for an analysis of which one rule may be weakened.
    pub fn new(planted: Option<Planted>) -> Flow {
        Flow { planted, ..Flow::default() }
    }

    /// A new block.
    pub fn block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block(self.blocks.len() as u32 - 1)
    }

    /// Goes on in that block, which is empty.
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

    /// A loop from its header to where control flow goes on after it, and where the function
    /// returns if no way leads there.
    ///
    /// What is executed in the loop belongs to an iteration, also on the last way out of it. So a
    /// block that every invocation comes to, but some in another iteration, is not uniform.
    pub fn looped(&mut self, header: Block, after: Block, returns: Option<Block>) {
        self.loops.push((header, after, returns));
    }

    /// Ends the current block, from which the function returns.
    pub fn finish(&mut self) {
        self.returning = self.current;
        self.end(End::Exit);
    }

    /// Whether two cells belong to the same variable.
    pub fn same_variable(&self, a: Cell, b: Cell) -> bool {
        self.cells[a.0 as usize] == self.cells[b.0 as usize]
    }

    /// The number of cells from that one on that belong to the same variable.
    pub fn cells_from(&self, cell: Cell) -> u32 {
        let rest = &self.cells[cell.0 as usize..];
        rest.iter().take_while(|variable| **variable == rest[0]).count() as u32
    }

    /// New cells of a variable; the first of them.
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

    /// A constant.
    pub fn constant(&mut self, bits: u32) -> Value {
        self.define(Def::Constant(bits))
    }

    /// A value that is the same in every invocation, and at most `most`.
    pub fn uniform(&mut self, most: u32) -> Value {
        self.define(Def::Uniform(most))
    }

    /// A value that may differ between invocations, and is at most `most`.
    pub fn varying(&mut self, text: u32, most: u32) -> Value {
        self.define(Def::Varying(text, most))
    }

    /// The next input.
    pub fn input(&mut self) -> Value {
        self.inputs += 1;
        self.define(Def::Input(self.inputs - 1))
    }

    /// A function of operands.
    pub fn pure(&mut self, pure: Pure, operands: &[Value]) -> Value {
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        self.define(Def::Pure(pure, start..self.operands.len() as u32))
    }

    /// What the cell holds.
    pub fn read(&mut self, cell: Cell) -> Value {
        self.define(Def::Read(cell))
    }

    /// Changes a cell.
    pub fn write(&mut self, cell: Cell, value: Value) {
        self.actions.push(Action::Write(cell, value));
    }

    /// An operation that needs uniform control flow.
    pub fn need(&mut self, need: Need, span: Span) {
        self.actions.push(Action::Need(need, span));
    }

    /// Something that needs this value to be uniform, since it branches on it before it needs
    /// uniform control flow.
    pub fn must(&mut self, value: Value, need: Need, span: Span) {
        self.actions.push(Action::Must(value, need, span));
    }

    /// The bits, if the value is a constant as it stands.
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

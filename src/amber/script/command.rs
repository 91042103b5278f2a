//! The commands of a script: runs, writes, copies and expectations.

use super::{BufferId, Line, PipelineId};
use crate::amber::scalar::Scalar;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The action.
    pub action: Action,
    /// The line of the command.
    pub line: Line,
}

/// The action of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Dispatches or draws.
    Run(Run),
    /// Fills the attachments of a pipeline with its clear values. The defaults are zeros, and 1.0
    /// for depth.
    Clear(PipelineId),
    /// Sets the clear colour: red, green, blue and alpha, as bits of 32-bit floats.
    ClearColour(PipelineId, [u32; 4]),
    /// Sets the clear depth, as bits of a 32-bit float.
    ClearDepth(PipelineId, u32),
    /// Sets the clear stencil.
    ClearStencil(PipelineId, u8),
    /// Copies all bytes of a buffer.
    Copy {
        /// The source.
        from: BufferId,
        /// The destination.
        to: BufferId,
    },
    /// Judges the contents of a buffer.
    Expect(Expect),
    /// Repeats commands.
    Repeat {
        /// The number of repetitions.
        count: u32,
        /// The commands. They contain no repetition.
        body: Vec<Command>,
    },
    /// Writes some scalars of a buffer, as VkScript can between two runs.
    Write {
        /// The buffer that is written.
        buffer: BufferId,
        /// The scalars with their values.
        lanes: Vec<Lane>,
    },
}

/// A dispatch or draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The pipeline that runs.
    pub pipeline: PipelineId,
    /// The dispatch or draw.
    pub what: RunKind,
}

/// The size of a dispatch, or the geometry of a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// A dispatch of this number of workgroups in x, y and z.
    Compute([u32; 3]),
    /// A rectangle: left, top, width and height in pixels. It has two triangles. Location 0 gets
    /// their corners instead of vertex data.
    DrawRect([u32; 4]),
    /// Such a rectangle for each cell of a grid.
    DrawGrid {
        /// The whole grid: left, top, width and height in pixels.
        rect: [u32; 4],
        /// The number of cells in a row.
        columns: u32,
        /// The number of rows.
        rows: u32,
    },
    /// Primitives from vertex data.
    DrawArray {
        /// How vertices form primitives.
        topology: Topology,
        /// Whether the vertices are selected by indices.
        indexed: bool,
        /// The index of the first vertex, or of the first index.
        first: u32,
        /// The number of vertices or indices. By default to the end of the data.
        count: Option<u32>,
        /// The number of the first instance.
        first_instance: u32,
        /// The number of instances.
        instances: u32,
    },
}

/// An expectation about a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The buffer whose contents are compared.
    pub buffer: BufferId,
    /// The comparison.
    pub check: Check,
    /// The line of the EXPECT.
    pub line: Line,
}

/// The comparison of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Compares scalars with given values.
    Values {
        /// The comparison of the found with the expected value.
        comparator: Comparator,
        /// The tolerances, only for [`Comparator::Eq`]. A single tolerance applies to all values.
        /// Several apply to the components of a vector or column in order, and further components
        /// must be equal.
        tolerance: Vec<Tolerance>,
        /// The scalars with their expected values.
        lanes: Vec<Lane>,
    },
    /// All texels of a rectangle must have a colour.
    Colour {
        /// Left, top, width and height in pixels.
        rect: [u32; 4],
        /// Red, green, blue and alpha from 0 to 255, which stand for 0 to 1.
        colour: [u8; 4],
        /// Whether alpha is compared too.
        alpha: bool,
        /// The tolerance of a component, in units of 1: one for all components, or one for each
        /// component. If empty, 0.002.
        tolerance: Vec<Tolerance>,
    },
    /// The buffer must have the same bytes as another buffer.
    EqBuffer(BufferId),
    /// The root mean square of the differences of all scalars must be at most the tolerance.
    RmseBuffer(BufferId, Bits64),
    /// The greatest earth mover's distance of the four channels must be at most the tolerance.
    HistogramEmdBuffer(BufferId, Bits64),
}

/// A double, stored as bits so that scripts can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits64(pub u64);

impl Bits64 {
    /// The double.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Bits64 {
    fn from(value: f64) -> Bits64 {
        Bits64(value.to_bits())
    }
}

impl std::fmt::Debug for Bits64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

/// The allowed difference of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// The greatest difference.
    pub amount: Bits64,
    /// Whether the amount is in per cent of the expected value.
    pub percent: bool,
}

/// A scalar of a buffer, with a value for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The offset in bytes from the buffer's start.
    pub offset: u64,
    /// Its type.
    pub scalar: Scalar,
    /// The index in its vector or column.
    pub component: u32,
    /// The value's bits.
    pub bits: u64,
}

named! {
    /// How vertices form triangles, points or lines (Vulkan §Primitive Topologies).
    Topology { TriangleList "TRIANGLE_LIST", TriangleStrip "TRIANGLE_STRIP", TriangleFan "TRIANGLE_FAN", PointList "POINT_LIST",
        LineList "LINE_LIST", LineStrip "LINE_STRIP", }
}
named! {
    /// The comparison of two values.
    Comparator { Eq "EQ", Ne "NE", Lt "LT", Le "LE", Gt "GT", Ge "GE", }
}

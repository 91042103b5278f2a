//! Commands: what is run, set, copied and expected.

use super::{BufferId, Line, PipelineId};
use crate::amber::scalar::Scalar;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What.
    pub action: Action,
    /// Where.
    pub line: Line,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Dispatch or draw.
    Run(Run),
    /// Fill the attachments with the clear values, which are zeros, and 1.0 for depth,
    /// if not set before.
    Clear(PipelineId),
    /// Set the clear colour: red, green, blue and alpha, bits of 32-bit floats.
    ClearColour(PipelineId, [u32; 4]),
    /// Set the clear depth: bits of a 32-bit float.
    ClearDepth(PipelineId, u32),
    /// Set the clear stencil.
    ClearStencil(PipelineId, u8),
    /// Copy all of a buffer.
    Copy {
        /// From.
        from: BufferId,
        /// To.
        to: BufferId,
    },
    /// Judge a buffer.
    Expect(Expect),
    /// Do these so many times.
    Repeat {
        /// How often.
        count: u32,
        /// What; no repetition in it.
        body: Vec<Command>,
    },
    /// Set some of a buffer, as VkScript can between two runs.
    Write {
        /// Which buffer.
        buffer: BufferId,
        /// What and where.
        lanes: Vec<Lane>,
    },
}

/// A dispatch or draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// By which pipeline.
    pub pipeline: PipelineId,
    /// Of what.
    pub what: RunKind,
}

/// What is dispatched or drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// So many workgroups.
    Compute([u32; 3]),
    /// A rectangle: left, top, width and height in pixels. Two triangles; location 0 gets their
    /// corners in place of vertex data.
    DrawRect([u32; 4]),
    /// Such a rectangle for each cell of a grid.
    DrawGrid {
        /// The whole grid: left, top, width and height in pixels.
        rect: [u32; 4],
        /// Cells in a row.
        columns: u32,
        /// Rows.
        rows: u32,
    },
    /// Triangles from vertex data.
    DrawArray {
        /// How vertices make triangles.
        topology: Topology,
        /// Whether the indices say which vertices.
        indexed: bool,
        /// The first vertex or index.
        first: u32,
        /// How many vertices or indices; to the end of the data if not said.
        count: Option<u32>,
        /// The first instance's number.
        first_instance: u32,
        /// How many instances.
        instances: u32,
    },
}

/// What a buffer must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Which buffer.
    pub buffer: BufferId,
    /// What of it.
    pub check: Check,
    /// Where.
    pub line: Line,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Scalars, each with a value.
    Values {
        /// Found against expected.
        comparator: Comparator,
        /// With [`Comparator::Eq`] only: how far off a value may be. One holds for all; with more,
        /// each holds for its component of a vector or column, and components past
        /// them must be equal.
        tolerance: Vec<Tolerance>,
        /// Where and what.
        lanes: Vec<Lane>,
    },
    /// The texels of a rectangle all have a colour.
    Colour {
        /// Left, top, width and height in pixels.
        rect: [u32; 4],
        /// Red, green, blue and alpha from 0 to 255, which stand for 0 to 1.
        colour: [u8; 4],
        /// Whether alpha counts.
        alpha: bool,
        /// How far off a component may be, in units of 1; one for all, or one each for as many
        /// components as there are. If there is none, 0.002.
        tolerance: Vec<Tolerance>,
    },
    /// The same bytes as another buffer.
    EqBuffer(BufferId),
    /// The root mean square of the differences of all scalars is at most the tolerance.
    RmseBuffer(BufferId, Bits64),
    /// The greatest earth mover's distance over the four channels is at most the tolerance.
    HistogramEmdBuffer(BufferId, Bits64),
}

/// A double by its bits, so that scripts can be compared.
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

/// How far off a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// How far.
    pub amount: Bits64,
    /// Whether that is in hundredths of the expected value.
    pub percent: bool,
}

/// One scalar of a buffer and a value for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Bytes from the buffer's start.
    pub offset: u64,
    /// Its type.
    pub scalar: Scalar,
    /// Its place in its vector or column.
    pub component: u32,
    /// The value's bits.
    pub bits: u64,
}

named! {
    /// How vertices make triangles, points or lines (Vulkan §Primitive Topologies).
    Topology { TriangleList "TRIANGLE_LIST", TriangleStrip "TRIANGLE_STRIP", TriangleFan "TRIANGLE_FAN", PointList "POINT_LIST",
        LineList "LINE_LIST", LineStrip "LINE_STRIP", }
}
named! {
    /// How two values are compared.
    Comparator { Eq "EQ", Ne "NE", Lt "LT", Le "LE", Gt "GT", Ge "GE", }
}

//! Primitive assembly: Vulkan, Primitive Topologies, with the first vertex provoking.

/// How vertices form triangles, points or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Every three.
    List,
    /// Each with the two before.
    Strip,
    /// Each with the one before and the first.
    Fan,
    /// Each is a point.
    Points,
    /// Every two are a line.
    Lines,
    /// Each is a line with the one before.
    LineStrip,
}

impl Topology {
    /// How many triangles, points or lines that many vertices form; what is left over is dropped.
    pub fn triangles(self, vertices: usize) -> usize {
        match self {
            Topology::List => vertices / 3,
            Topology::Strip | Topology::Fan => vertices.saturating_sub(2),
            Topology::Points => vertices,
            Topology::Lines => vertices / 2,
            Topology::LineStrip => vertices.saturating_sub(1),
        }
    }

    /// How many vertices each has.
    pub fn corners(self) -> usize {
        match self {
            Topology::List | Topology::Strip | Topology::Fan => 3,
            Topology::Points => 1,
            Topology::Lines | Topology::LineStrip => 2,
        }
    }

    /// The vertices of triangle i, the provoking one first; of a point or a line the last one again
    /// in place of those that it has not.
    pub fn triangle(self, i: usize) -> [usize; 3] {
        match self {
            Topology::List => [3 * i, 3 * i + 1, 3 * i + 2],
            Topology::Strip => [i, i + 1 + i % 2, i + 2 - i % 2],
            Topology::Fan => [i + 1, i + 2, 0],
            Topology::Points => [i; 3],
            Topology::Lines => [2 * i, 2 * i + 1, 2 * i + 1],
            Topology::LineStrip => [i, i + 1, i + 1],
        }
    }
}

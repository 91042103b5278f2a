//! Primitive assembly: Vulkan, Primitive Topologies, with the first vertex provoking.

/// How vertices form triangles, or points.
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
}

impl Topology {
    /// How many triangles or points that many vertices form; what is left over is dropped.
    pub fn triangles(self, vertices: usize) -> usize {
        match self {
            Topology::List => vertices / 3,
            Topology::Strip | Topology::Fan => vertices.saturating_sub(2),
            Topology::Points => vertices,
        }
    }

    /// The vertices of triangle i, the provoking one first; three times that of point i.
    pub fn triangle(self, i: usize) -> [usize; 3] {
        match self {
            Topology::List => [3 * i, 3 * i + 1, 3 * i + 2],
            Topology::Strip => [i, i + 1 + i % 2, i + 2 - i % 2],
            Topology::Fan => [i + 1, i + 2, 0],
            Topology::Points => [i; 3],
        }
    }
}

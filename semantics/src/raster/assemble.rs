//! Primitive assembly: Vulkan, Primitive Topologies. The first vertex of a primitive is provoking.

use super::Rules;

/// How vertices form triangles, points or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Every three vertices form a triangle.
    List,
    /// Each vertex forms a triangle with the two before it.
    Strip,
    /// Each vertex forms a triangle with the one before it and the first.
    Fan,
    /// Each vertex is a point.
    Points,
    /// Every two vertices form a line.
    Lines,
    /// Each vertex forms a line with the one before it.
    LineStrip,
}

impl Topology {
    /// The number of triangles, points or lines that the vertices form. Surplus
    /// vertices are dropped.
    pub fn triangles(self, vertices: usize) -> usize {
        match self {
            Topology::List => vertices / 3,
            Topology::Strip | Topology::Fan => vertices.saturating_sub(2),
            Topology::Points => vertices,
            Topology::Lines => vertices / 2,
            Topology::LineStrip => vertices.saturating_sub(1),
        }
    }

    /// The number of vertices of each primitive.
    pub fn corners(self) -> usize {
        match self {
            Topology::List | Topology::Strip | Topology::Fan => 3,
            Topology::Points => 1,
            Topology::Lines | Topology::LineStrip => 2,
        }
    }

    /// The vertices of primitive i, the provoking one first. For a point or a line, the last vertex
    /// repeats to fill the array.
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

/// The primitives of a draw, instance by instance.
#[derive(Clone, Debug)]
pub struct Primitives {
    topology: Topology,
    /// The vertices of an instance.
    vertices: usize,
    /// The primitives of an instance.
    each: u64,
    /// The primitives of all instances.
    all: u64,
    next: u64,
}

impl Primitives {
    /// The primitives of so many instances of so many vertices.
    pub fn new(topology: Topology, vertices: u32, instances: u32) -> Primitives {
        let vertices = vertices as usize;
        let each = topology.triangles(vertices) as u64;
        Primitives { topology, vertices, each, all: each * u64::from(instances), next: 0 }
    }

    /// The number of primitives of all instances.
    pub fn count(&self) -> u64 {
        self.all
    }

    /// The number of the next primitive, counted over all instances.
    pub fn number(&self) -> u64 {
        self.next
    }

    /// The vertices of the next primitive, the provoking one first, counted over all instances.
    /// `None` after the last primitive.
    pub fn next(&mut self, rules: &Rules) -> Option<[usize; 3]> {
        if self.next >= self.all {
            return None;
        }
        let (instance, number) = (self.next / self.each, self.next % self.each);
        self.next += 1;
        let first = instance as usize * self.vertices;
        Some((rules.assemble)(self.topology, number as usize).map(|corner| first + corner))
    }
}

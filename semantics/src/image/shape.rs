//! Shapes of images, and where in them a sample is taken: Vulkan, Image Views (VkImageViewType);
//! (s,t,r,q,a) to (u,v,w,a) Transformation.

use crate::number::Inexact;

/// What an image's texels are arranged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A row.
    D1,
    /// Several rows, one a layer.
    D1Array,
    /// A rectangle.
    D2,
    /// Several rectangles, one a layer.
    D2Array,
    /// A box.
    D3,
    /// Six squares: the faces +X, -X, +Y, -Y, +Z and -Z.
    Cube,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 6] = [Shape::D1, Shape::D1Array, Shape::D2, Shape::D2Array, Shape::D3, Shape::Cube];

    /// How many coordinates a texel has within its layer or face, each of which
    /// is wrapped and filtered.
    pub fn axes(self) -> usize {
        match self {
            Shape::D1 | Shape::D1Array => 1,
            Shape::D2 | Shape::D2Array | Shape::Cube => 2,
            Shape::D3 => 3,
        }
    }

    /// Whether there are layers.
    pub fn is_layered(self) -> bool {
        matches!(self, Shape::D1Array | Shape::D2Array)
    }
}

/// Where a sample is taken. What the image's shape has no use for is not looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// s, t and r; of a cube a direction.
    pub at: [Inexact; 3],
    /// The layer, a: a number that is rounded.
    pub layer: Inexact,
}

impl From<[Inexact; 3]> for Location {
    fn from(at: [Inexact; 3]) -> Location {
        Location { at, layer: Inexact::exact(0.0) }
    }
}

impl From<[Inexact; 2]> for Location {
    fn from([s, t]: [Inexact; 2]) -> Location {
        Location::from([s, t, Inexact::exact(0.0)])
    }
}

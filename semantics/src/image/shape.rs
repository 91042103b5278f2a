//! Shapes of images, and locations of samples: Vulkan, Image Views (VkImageViewType); (s,t,r,q,a)
//! to (u,v,w,a) Transformation.

use crate::number::Inexact;

/// The arrangement of an image's texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A row.
    D1,
    /// Several rows, one for each layer.
    D1Array,
    /// A rectangle.
    D2,
    /// Several rectangles, one for each layer.
    D2Array,
    /// A box.
    D3,
    /// Six squares: the faces +X, -X, +Y, -Y, +Z and -Z.
    Cube,
    /// Several cubes, one for each layer: slice 6·layer + face.
    CubeArray,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 7] = [Shape::D1, Shape::D1Array, Shape::D2, Shape::D2Array, Shape::D3, Shape::Cube, Shape::CubeArray];

    /// The shape in words, such as "of two dimensions with layers".
    pub fn name(self) -> &'static str {
        match self {
            Shape::D1 => "of one dimension",
            Shape::D1Array => "of one dimension with layers",
            Shape::D2 => "of two dimensions and one layer",
            Shape::D2Array => "of two dimensions with layers",
            Shape::D3 => "of three dimensions",
            Shape::Cube => "a cube",
            Shape::CubeArray => "a cube with layers",
        }
    }

    /// The number of coordinates of a texel within its layer or face. Each of them is wrapped
    /// and filtered.
    pub fn axes(self) -> usize {
        match self {
            Shape::D1 | Shape::D1Array => 1,
            Shape::D2 | Shape::D2Array | Shape::Cube | Shape::CubeArray => 2,
            Shape::D3 => 3,
        }
    }

    /// The number of coordinates that a sampler needs: those of the axes, or of a cube's direction,
    /// and then the layer.
    pub fn coordinates(self) -> usize {
        self.directions() + usize::from(self.is_layered())
    }

    /// The number of coordinates without the layer: those that have derivatives.
    pub fn directions(self) -> usize {
        if self.is_cube() { 3 } else { self.axes() }
    }

    /// The number of integers of a texel's place: its axes, then the layer or the face. For several
    /// cubes, the last integer is the slice.
    pub fn integers(self) -> usize {
        self.coordinates().min(3)
    }

    /// A texel's place (x, y, z), from these integers.
    pub fn place(self, integers: &[i64]) -> [i64; 3] {
        let of = |k: usize| integers.get(k).copied().unwrap_or(0);
        match self {
            Shape::D1 => [of(0), 0, 0],
            Shape::D1Array => [of(0), 0, of(1)],
            Shape::D2 => [of(0), of(1), 0],
            Shape::D2Array | Shape::D3 | Shape::Cube | Shape::CubeArray => [of(0), of(1), of(2)],
        }
    }

    /// The sides that a query returns, as indices into width, height, and depth or number
    /// of layers.
    pub fn queried(self) -> &'static [usize] {
        match self {
            Shape::D1 => &[0],
            Shape::D1Array => &[0, 2],
            Shape::D2 | Shape::Cube => &[0, 1],
            Shape::D2Array | Shape::D3 | Shape::CubeArray => &[0, 1, 2],
        }
    }

    /// The number of slices of a layer: the faces of a cube, otherwise 1.
    pub fn faces(self) -> u32 {
        if self.is_cube() { 6 } else { 1 }
    }

    /// Whether the shape has layers.
    pub fn is_layered(self) -> bool {
        matches!(self, Shape::D1Array | Shape::D2Array | Shape::CubeArray)
    }

    /// Whether a location in the image is a direction.
    pub fn is_cube(self) -> bool {
        matches!(self, Shape::Cube | Shape::CubeArray)
    }
}

/// The location of a sample. Numbers that the image's shape does not use are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// s, t and r. For a cube, a direction.
    pub at: [Inexact; 3],
    /// a, the layer: a number that is rounded.
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

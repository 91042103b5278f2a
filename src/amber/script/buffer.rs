//! Buffers and images, and samplers.

use std::ops::Range;
use std::sync::Arc;

use super::{BufferId, Compare, Line};
use crate::amber::format::Format;
use crate::amber::layout::{DataType, Layout, Slot, Standard};
use crate::amber::scalar::Number;

/// A buffer or an image. It is a sequence of items of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The type of an item.
    pub data_type: DataType,
    /// Whether `[]` follows the type. If so, items lie like elements of an array. Otherwise they
    /// lie like members of a block.
    pub as_array: bool,
    /// The layout rules of the items.
    pub standard: Standard,
    /// The layout of an item by these rules.
    pub layout: Arc<Layout>,
    /// The distance in bytes from one item to the next.
    pub stride: u64,
    /// The number of items. For [`Extent::Framebuffer`], it follows from the pipelines that draw to
    /// it. It is 0 if there is none.
    pub items: u64,
    /// The arrangement of the items. The items of further image levels follow those of the first.
    pub extent: Extent,
    /// The number of levels of an image.
    pub levels: u32,
    /// The number of samples of a texel. The first samples of all texels stand before all
    /// second samples.
    pub samples: u32,
    /// The initial contents.
    pub initial: Initial,
    /// The line of its declaration.
    pub line: Line,
}

/// The arrangement of a buffer's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One row of items, no image.
    Linear,
    /// An image of two dimensions. IMAGE DIM_2D declares it, or a BUFFER with WIDTH and HEIGHT.
    Image {
        /// The number of texels in a row.
        width: u32,
        /// The number of rows.
        height: u32,
        /// Whether IMAGE declares it.
        declared: bool,
    },
    /// An image of one dimension, declared by IMAGE DIM_1D.
    Row {
        /// The number of texels.
        width: u32,
    },
    /// An image of three dimensions, declared by IMAGE DIM_3D.
    Box {
        /// The number of texels in a row.
        width: u32,
        /// The number of rows in a slice.
        height: u32,
        /// The number of slices.
        depth: u32,
    },
    /// An image with the size of the framebuffers that it is bound to, or of the buffer that it is
    /// copied from. Zeros if there is none.
    Framebuffer {
        /// The number of texels in a row.
        width: u32,
        /// The number of rows.
        height: u32,
    },
}

/// A level of an image, or that level and all further levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// The image.
    pub buffer: BufferId,
    /// The index of the level, or of the first level.
    pub level: u32,
}

impl Extent {
    /// Width, height and depth of an image's first level. Missing dimensions are 1. `None` if it is
    /// no image.
    pub fn sides(self) -> Option<[u32; 3]> {
        match self {
            Extent::Linear => None,
            Extent::Row { width } => Some([width, 1, 1]),
            Extent::Image { width, height, .. } | Extent::Framebuffer { width, height } => Some([width, height, 1]),
            Extent::Box { width, height, depth } => Some([width, height, depth]),
        }
    }

    /// Width, height and depth of a level. Each is half of the level before, rounded down, but at
    /// least 1.
    pub fn level(self, level: u32) -> Option<[u32; 3]> {
        self.sides().map(|sides| sides.map(|side| side.checked_shr(level).unwrap_or(0).max(side.min(1))))
    }

    /// The number of texels in the first `levels` levels of an image.
    pub fn texels(self, levels: u32) -> Option<u64> {
        let of = |level: u32| self.level(level).map(|sides| sides.into_iter().fold(1, |n: u64, side| n.saturating_mul(side.into())));
        (0..levels).map(of).try_fold(0u64, |sum, texels| Some(sum.saturating_add(texels?)))
    }

    /// The greatest possible number of levels of an image of that size.
    pub fn most_levels(self) -> u32 {
        let greatest = self.sides().map_or(0, |sides| sides.into_iter().fold(0, u32::max));
        greatest.checked_ilog2().unwrap_or(0) + 1
    }

    /// The columns and rows of an image of one or two dimensions.
    pub fn image(self) -> Option<(u32, u32)> {
        match self {
            Extent::Linear | Extent::Box { .. } => None,
            Extent::Row { width } => Some((width, 1)),
            Extent::Image { width, height, .. } | Extent::Framebuffer { width, height } => Some((width, height)),
        }
    }
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Zeros.
    Zero,
    /// The bits of each scalar in flat order, item by item. The rest is zero.
    Data(Arc<[u64]>),
    /// Each scalar has this number.
    Fill(Number),
    /// Item i, which has a scalar type, has the i-th partial sum.
    Series {
        /// The first item.
        from: Number,
        /// The difference of consecutive items.
        by: Number,
    },
}

impl Buffer {
    /// The byte range of one sample of all texels of an image.
    pub fn sample(&self, sample: u32) -> Option<Range<usize>> {
        let bytes = usize::try_from(self.extent.texels(1)?.checked_mul(self.stride)?).ok()?;
        let start = bytes.checked_mul(sample as usize)?;
        (sample < self.samples).then_some(start..start.checked_add(bytes)?)
    }

    /// The byte range of a level of an image.
    pub fn level(&self, level: u32) -> Option<Range<usize>> {
        let [start, end] = [level, level.checked_add(1)?].map(|levels| usize::try_from(self.extent.texels(levels)? * self.stride).ok());
        (level < self.levels).then_some(start?..end?)
    }

    /// The size of all items in bytes.
    pub fn size(&self) -> u64 {
        self.stride * self.items
    }

    /// The image format of its items: their own, or that of their scalars. `None` for matrices,
    /// arrays, structures, and for vectors with padding between them.
    pub fn format(&self) -> Option<Format> {
        self.item_format().filter(|f| u64::from(f.texel_size()) == self.stride)
    }

    /// The image format of one item, whatever padding follows. A vertex attribute reads this
    /// format. `None` for matrices, arrays and structures.
    pub fn item_format(&self) -> Option<Format> {
        match self.data_type {
            DataType::Texel(format) => Some(format),
            DataType::Scalar(scalar) => Format::of(scalar, 1),
            DataType::Vector(scalar, count) => Format::of(scalar, count),
            _ => None,
        }
    }

    /// The scalar at an index in flat order over all items. Its offset is from the buffer's start.
    pub fn slot(&self, index: u64) -> Option<Slot> {
        let item = index / self.layout.scalars;
        if item >= self.items {
            return None;
        }
        let slot = self.layout.slot(index % self.layout.scalars)?;
        Some(Slot { offset: slot.offset + item * self.stride, ..slot })
    }

    /// The index in flat order over all items of the scalar that starts at this byte.
    pub fn index_at(&self, offset: u64) -> Option<u64> {
        let item = offset / self.stride;
        if item >= self.items {
            return None;
        }
        self.layout.index_at(offset % self.stride).map(|i| i + item * self.layout.scalars)
    }

    /// The number of scalars in all items.
    pub fn scalars(&self) -> u64 {
        self.items * self.layout.scalars
    }
}

/// A sampler (Vulkan §Samplers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// The filter for magnification.
    pub mag: Filter,
    /// The filter for minification.
    pub min: Filter,
    /// The filter between levels. The default is nearest.
    pub mip: Filter,
    /// The addressing outside of the image, along u, v and w.
    pub address: [AddressMode; 3],
    /// The colour for [`AddressMode::ClampToBorder`].
    pub border: BorderColour,
    /// The least and the greatest level of detail, as bits of 32-bit floats. Zeros if coordinates
    /// are not normalized.
    pub lod: [u32; 2],
    /// Whether coordinates are normalized: 0 to 1 over the image, rather than texels.
    pub normalized: bool,
    /// The comparison of a reference with depths, if it is on. The default is never.
    pub compare: Option<Compare>,
    /// The line of its declaration.
    pub line: Line,
}

named! {
    /// The combination of texels or levels.
    Filter { Nearest "nearest", Linear "linear", }
}
named! {
    /// The texel for coordinates outside of the image.
    AddressMode {
        Repeat "repeat",
        MirroredRepeat "mirrored_repeat",
        ClampToEdge "clamp_to_edge",
        ClampToBorder "clamp_to_border",
        MirrorClampToEdge "mirrored_clamp_to_edge",
    }
}
named! {
    /// The colour of the border.
    BorderColour {
        FloatTransparentBlack "float_transparent_black",
        IntTransparentBlack "int_transparent_black",
        FloatOpaqueBlack "float_opaque_black",
        IntOpaqueBlack "int_opaque_black",
        FloatOpaqueWhite "float_opaque_white",
        IntOpaqueWhite "int_opaque_white",
    }
}

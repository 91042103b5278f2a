//! Buffers and images, and samplers.

use std::ops::Range;
use std::sync::Arc;

use super::{BufferId, Compare, Line};
use crate::amber::format::Format;
use crate::amber::layout::{DataType, Layout, Slot, Standard};
use crate::amber::scalar::Number;

/// A buffer or an image: items of one type that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What an item is.
    pub data_type: DataType,
    /// Whether the type is followed by `[]`: then items lie as elements of an array do, else as
    /// members of a block.
    pub as_array: bool,
    /// By which rules items lie.
    pub standard: Standard,
    /// An item's layout by those rules.
    pub layout: Arc<Layout>,
    /// Bytes from one item to the next.
    pub stride: u64,
    /// How many items. Where [`Extent::Framebuffer`] says the size, it is that of the pipelines
    /// that draw to it, or 0 if none does.
    pub items: u64,
    /// How its items are arranged; those of further levels of an image follow those of the first.
    pub extent: Extent,
    /// How many levels an image has.
    pub levels: u32,
    /// How many samples a texel of an image has. All first samples are followed by all second ones.
    pub samples: u32,
    /// What it holds at first.
    pub initial: Initial,
    /// Where.
    pub line: Line,
}

/// How a buffer's items are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// In one row.
    Linear,
    /// An image of so many columns and rows; `declared` by IMAGE DIM_2D, or else by a BUFFER with
    /// WIDTH and HEIGHT.
    Image {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Whether IMAGE declared it.
        declared: bool,
    },
    /// An image of one dimension, which IMAGE DIM_1D declares.
    Row {
        /// How many texels.
        width: u32,
    },
    /// An image of three dimensions, which IMAGE DIM_3D declares.
    Box {
        /// Texels in a row.
        width: u32,
        /// Rows in a slice.
        height: u32,
        /// Slices.
        depth: u32,
    },
    /// An image as large as the framebuffers that it is bound to, or the buffer that it is copied
    /// from: columns and rows; zero if none.
    Framebuffer {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
}

/// A level of an image, or the levels from it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// Whose.
    pub buffer: BufferId,
    /// Which, or the first.
    pub level: u32,
}

impl Extent {
    /// Width, height and depth of an image's first level; 1 for what it has not.
    pub fn sides(self) -> Option<[u32; 3]> {
        match self {
            Extent::Linear => None,
            Extent::Row { width } => Some([width, 1, 1]),
            Extent::Image { width, height, .. } | Extent::Framebuffer { width, height } => Some([width, height, 1]),
            Extent::Box { width, height, depth } => Some([width, height, depth]),
        }
    }

    /// The same of any level: half of those before, rounded down, but 1 at least.
    pub fn level(self, level: u32) -> Option<[u32; 3]> {
        self.sides().map(|sides| sides.map(|side| side.checked_shr(level).unwrap_or(0).max(side.min(1))))
    }

    /// How many texels an image has in its first levels, so many of them.
    pub fn texels(self, levels: u32) -> Option<u64> {
        let of = |level: u32| self.level(level).map(|sides| sides.into_iter().fold(1, |n: u64, side| n.saturating_mul(side.into())));
        (0..levels).map(of).try_fold(0u64, |sum, texels| Some(sum.saturating_add(texels?)))
    }

    /// How many levels an image of that size has at most.
    pub fn most_levels(self) -> u32 {
        let greatest = self.sides().map_or(0, |sides| sides.into_iter().fold(0, u32::max));
        greatest.checked_ilog2().unwrap_or(0) + 1
    }

    /// Columns and rows, for an image of one or two dimensions.
    pub fn image(self) -> Option<(u32, u32)> {
        match self {
            Extent::Linear | Extent::Box { .. } => None,
            Extent::Row { width } => Some((width, 1)),
            Extent::Image { width, height, .. } | Extent::Framebuffer { width, height } => Some((width, height)),
        }
    }
}

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Zeros.
    Zero,
    /// The bits of each scalar in flat order, item after item; what follows is zero.
    Data(Arc<[u64]>),
    /// Each scalar holds this number.
    Fill(Number),
    /// Item i of scalar type holds the i-th partial sum.
    Series {
        /// The first.
        from: Number,
        /// What is added from one to the next.
        by: Number,
    },
}

impl Buffer {
    /// The bytes of a sample of all texels of an image.
    pub fn sample(&self, sample: u32) -> Option<Range<usize>> {
        let bytes = usize::try_from(self.extent.texels(1)?.checked_mul(self.stride)?).ok()?;
        let start = bytes.checked_mul(sample as usize)?;
        (sample < self.samples).then_some(start..start.checked_add(bytes)?)
    }

    /// The bytes of a level of an image.
    pub fn level(&self, level: u32) -> Option<Range<usize>> {
        let [start, end] = [level, level.checked_add(1)?].map(|levels| usize::try_from(self.extent.texels(levels)? * self.stride).ok());
        (level < self.levels).then_some(start?..end?)
    }

    /// Bytes of all its items.
    pub fn size(&self) -> u64 {
        self.stride * self.items
    }

    /// The image format of its items: theirs, or that of as many scalars that follow each other;
    /// none for matrices, arrays, structures, and vectors with padding between them.
    pub fn format(&self) -> Option<Format> {
        self.item_format().filter(|f| u64::from(f.texel_size()) == self.stride)
    }

    /// The format of one item, whatever lies between it and the next: what a vertex attribute
    /// reads. None for matrices, arrays and structures.
    pub fn item_format(&self) -> Option<Format> {
        match self.data_type {
            DataType::Texel(format) => Some(format),
            DataType::Scalar(scalar) => Format::of(scalar, 1),
            DataType::Vector(scalar, count) => Format::of(scalar, count),
            _ => None,
        }
    }

    /// The scalar at a place in flat order over all items; its offset is from the buffer's start.
    pub fn slot(&self, index: u64) -> Option<Slot> {
        let item = index / self.layout.scalars;
        if item >= self.items {
            return None;
        }
        let slot = self.layout.slot(index % self.layout.scalars)?;
        Some(Slot { offset: slot.offset + item * self.stride, ..slot })
    }

    /// The place in flat order over all items of the scalar that begins at a byte.
    pub fn index_at(&self, offset: u64) -> Option<u64> {
        let item = offset / self.stride;
        if item >= self.items {
            return None;
        }
        self.layout.index_at(offset % self.stride).map(|i| i + item * self.layout.scalars)
    }

    /// How many scalars it holds.
    pub fn scalars(&self) -> u64 {
        self.items * self.layout.scalars
    }
}

/// A sampler (Vulkan §Samplers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Magnified.
    pub mag: Filter,
    /// Minified.
    pub min: Filter,
    /// Between levels; nearest if not said.
    pub mip: Filter,
    /// Outside the image, along u, v and w.
    pub address: [AddressMode; 3],
    /// For [`AddressMode::ClampToBorder`].
    pub border: BorderColour,
    /// The least and the greatest level of detail, as bits of 32-bit floats; zeros if coordinates
    /// are not normalized.
    pub lod: [u32; 2],
    /// Whether coordinates go from 0 to 1 over the image, not by pixels.
    pub normalized: bool,
    /// How a reference is compared with depths, if it is; never if it is not said how.
    pub compare: Option<Compare>,
    /// Where.
    pub line: Line,
}

named! {
    /// How texels, or levels, are combined.
    Filter { Nearest "nearest", Linear "linear", }
}
named! {
    /// What stands for coordinates outside the image.
    AddressMode {
        Repeat "repeat",
        MirroredRepeat "mirrored_repeat",
        ClampToEdge "clamp_to_edge",
        ClampToBorder "clamp_to_border",
        MirrorClampToEdge "mirrored_clamp_to_edge",
    }
}
named! {
    /// The colour outside the image.
    BorderColour {
        FloatTransparentBlack "float_transparent_black",
        IntTransparentBlack "int_transparent_black",
        FloatOpaqueBlack "float_opaque_black",
        IntOpaqueBlack "int_opaque_black",
        FloatOpaqueWhite "float_opaque_white",
        IntOpaqueWhite "int_opaque_white",
    }
}

//! Buffers and images, and samplers.

use std::sync::Arc;

use super::{Compare, Line};
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
    /// How its items are arranged.
    pub extent: Extent,
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

impl Extent {
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
    /// How texels are combined.
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

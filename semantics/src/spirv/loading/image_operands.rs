//! The operands of image instructions (SPIR-V §3.2.14 and §3.3.10), and the samplers that fit
//! them. The relation and the lockstep machine share them.

use rspirv::spirv::ImageOperands;

use crate::image::{Image, Sampler, Shape};
use crate::spirv::check::{compares, is_implicit, samples};
use crate::spirv::grammar::Op;

/// The image operands in the order of their ids, with the number of ids of each.
const ORDER: [(ImageOperands, usize); 6] = [
    (ImageOperands::BIAS, 1),
    (ImageOperands::LOD, 1),
    (ImageOperands::GRAD, 2),
    (ImageOperands::CONST_OFFSET, 1),
    (ImageOperands::OFFSET, 1),
    (ImageOperands::CONST_OFFSETS, 1),
];

/// The number of operands before the image operands.
fn leading_count(op: Op) -> usize {
    match op {
        Op::ImageGather | Op::ImageDrefGather | Op::ImageWrite => 3,
        op if compares(op) => 3,
        _ => 2,
    }
}

/// Whether the instruction divides its coordinates by the last one.
pub(in crate::spirv) fn projects(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
    )
}

/// Whether the instruction gathers.
pub(in crate::spirv) fn gathers(op: Op) -> bool {
    matches!(op, Op::ImageGather | Op::ImageDrefGather)
}

/// The operands of an image instruction that chooses texels.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) struct Operands<'m> {
    pub(in crate::spirv) op: Op,
    /// The ids before the image operands: the image, the coordinate, and others.
    pub(in crate::spirv) leading: &'m [u32],
    mask: ImageOperands,
    /// The ids of the image operands.
    pub(in crate::spirv) ids: &'m [u32],
}

impl<'m> Operands<'m> {
    /// The operands of a checked instruction.
    pub(in crate::spirv) fn of(op: Op, operands: &'m [u32]) -> Operands<'m> {
        let (leading, rest) = operands.split_at(leading_count(op).min(operands.len()));
        let (mask, ids) = rest.split_first().map_or((0, rest), |(mask, ids)| (*mask, ids));
        Operands { op, leading, mask: ImageOperands::from_bits_truncate(mask), ids }
    }

    /// The range of an image operand in `ids`. `None` if the instruction does not have it.
    pub(in crate::spirv) fn place(&self, wanted: ImageOperands) -> Option<std::ops::Range<usize>> {
        let mut at = 0;
        for (bit, count) in ORDER {
            if bit == wanted {
                return self.mask.contains(bit).then_some(at..at + count).filter(|place| place.end <= self.ids.len());
            }
            at += if self.mask.contains(bit) { count } else { 0 };
        }
        None
    }

    /// The ids of an image operand. `None` if the instruction does not have it.
    pub(in crate::spirv) fn get(&self, wanted: ImageOperands) -> Option<&'m [u32]> {
        self.place(wanted).map(|place| &self.ids[place])
    }
}

/// The number of components of an instruction's coordinate that choose texels in an image of
/// this shape.
pub(in crate::spirv) fn coordinates(op: Op, shape: Shape) -> usize {
    if samples(op) { shape.coordinates() + usize::from(projects(op)) } else { shape.integers() }
}

/// Whether an instruction has undefined results for an image of this kind with this sampler:
/// Vulkan, Texel Input Validation, Instruction/Sampler/Image View Validation. The sampler itself is
/// checked elsewhere. `has_offset` says that an offset moves the texels.
pub(in crate::spirv) fn is_unfit(op: Op, image: &Image, sampler: &Sampler, has_offset: bool) -> bool {
    let flat = matches!(image.shape(), Shape::D1 | Shape::D2);
    let unnormalized =
        sampler.unnormalized && (gathers(op) || has_offset || !flat || projects(op) || is_implicit(op) || image.levels() > 1);
    unnormalized || compares(op) && !image.format().is_depth()
}

//! Image instructions (SPIR-V §3.3.10): two-dimensional sampled images and storage images.

use rspirv::spirv::{Capability, Decoration as Decorate, ImageFormat, ImageOperands};

use super::super::error::Check;
use super::super::grammar::Op;
use super::super::module::{NO_BLOCK, WHOLE};
use super::super::operation::{Scalar, Shape};
use super::super::types::{Image, Type};
use super::super::words::Instruction;
use super::{Checked, Pass};

/// Whether the instruction is an image instruction that is modeled.
pub(super) fn is_image(op: Op) -> bool {
    matches!(
        op,
        Op::SampledImage
            | Op::Image
            | Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageFetch
            | Op::ImageRead
            | Op::ImageWrite
            | Op::ImageQuerySize
            | Op::ImageQuerySizeLod
    )
}

/// The image operands of an instruction that are modeled.
fn modeled(op: Op) -> ImageOperands {
    match op {
        Op::ImageSampleImplicitLod => ImageOperands::BIAS | ImageOperands::CONST_OFFSET,
        Op::ImageSampleExplicitLod | Op::ImageFetch => ImageOperands::LOD | ImageOperands::CONST_OFFSET,
        _ => ImageOperands::NONE,
    }
}

impl Pass<'_> {
    pub(super) fn image(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let type_ = self.value_type(operands[0])?;
        let found = self.module.types.get(type_);
        let wrong = |needed: &str| {
            self.fail(Check::Image, format!("{} is of %{}, which is {}; it is of {needed}", i.name(), operands[0], self.text(type_)))
        };
        if i.is(Op::SampledImage) {
            return match found {
                Some(Type::Image(image)) if image.usage == 1 => self.combine(i, operands, type_),
                _ => wrong("an image that is sampled"),
            };
        }
        let sampled = match found {
            Some(Type::SampledImage { image }) => Some(image),
            _ => None,
        };
        let image = match (i.op, found) {
            (Op::Image, _) => {
                return match sampled {
                    Some(image) if image == i.result_type => self.same_block(i, operands[0]),
                    _ => wrong("a sampled image of its result"),
                };
            }
            (Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod, _) => match sampled.and_then(|image| self.module.types.get(image)) {
                Some(Type::Image(image)) => image,
                _ => return wrong("a sampled image"),
            },
            (Op::ImageFetch | Op::ImageQuerySizeLod, Some(Type::Image(image))) if image.usage == 1 => image,
            (Op::ImageFetch | Op::ImageQuerySizeLod, _) => return wrong("an image that is sampled"),
            (_, Some(Type::Image(image))) if image.usage == 2 => image,
            _ => return wrong("a storage image"),
        };
        self.same_block(i, operands[0])?;
        let result = self.module.shapes[self.index];
        let texel = self.module.shape(image.sampled).scalar;
        let fail = |what: String| self.fail(Check::Image, what);
        match i.op {
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                if result.columns != 1 || result.rows != 2 || !matches!(result.scalar, Scalar::Int { width: 32, .. }) {
                    return fail(format!("%{} = {} has result {result}; it is two 32-bit integers", i.result, i.name()));
                }
                return match operands.get(1) {
                    Some(&lod) => self.integer_scalar(i, lod, "the level"),
                    None => Ok(()),
                };
            }
            Op::ImageWrite => {
                self.coordinate(i, operands[1], false)?;
                let value = self.value(operands[2])?;
                if value.scalar != texel || value.columns != 1 || value.rows < components(image.format) {
                    let needed = format!("{} or more components of {texel}", components(image.format));
                    return fail(format!("OpImageWrite writes {value}; it must be {needed}"));
                }
                self.storage(i, operands[0], &image)?;
                return self.image_operands(i, &operands[3..]);
            }
            _ => {}
        }
        let floats = matches!(i.op, Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod);
        self.coordinate(i, operands[1], floats)?;
        if result != Shape::vector(texel, 4) {
            return fail(format!("%{} = {} has result {result}; it is vec4 of {texel}", i.result, i.name()));
        }
        if i.is(Op::ImageRead) {
            self.storage(i, operands[0], &image)?;
        }
        self.image_operands(i, &operands[2..])
    }

    fn combine(&self, i: &Instruction, operands: &[u32], image: u32) -> Checked {
        let sampler = self.value_type(operands[1])?;
        if self.module.types.get(sampler) != Some(Type::Sampler) {
            return self.fail(Check::Image, format!("%{} = OpSampledImage takes {}; it takes a sampler", i.result, self.text(sampler)));
        }
        if self.module.types.get(i.result_type) != (Some(Type::SampledImage { image })) {
            return self
                .fail(Check::Image, format!("%{} = OpSampledImage is {}, which is of another image", i.result, self.text(i.result_type)));
        }
        Ok(())
    }

    /// That the result of OpSampledImage is used in its own block (SPIR-V §3.3.10).
    fn same_block(&self, i: &Instruction, id: u32) -> Checked {
        let Some(index) = self.module.definition(id) else { return Ok(()) };
        let block = self.module.block_of[index];
        if self.module.instructions[index].is(Op::SampledImage) && block != NO_BLOCK && block != self.function.first_block + self.block {
            return self.fail(Check::Image, format!("{} uses %{id} = OpSampledImage in another block than its own", i.name()));
        }
        Ok(())
    }

    fn coordinate(&self, i: &Instruction, id: u32, floats: bool) -> Checked {
        let shape = self.value(id)?;
        let fits = match floats {
            true => shape.scalar == Scalar::F32,
            false => matches!(shape.scalar, Scalar::Int { width: 32, .. }),
        };
        if fits && shape.columns == 1 && shape.rows >= 2 {
            return Ok(());
        }
        let needed = if floats { "32-bit floats" } else { "32-bit integers" };
        self.fail(Check::Image, format!("the coordinate of {}, %{id}, is {shape}; it is two or more {needed}", i.name()))
    }

    fn image_operands(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let mask = ImageOperands::from_bits_truncate(operands.first().copied().unwrap_or(0));
        let other = mask - modeled(i.op);
        if !other.is_empty() {
            let explicit = i.is(Op::ImageSampleExplicitLod) || i.is(Op::ImageFetch);
            if other.contains(ImageOperands::LOD) && i.is(Op::ImageSampleImplicitLod) || other.contains(ImageOperands::BIAS) && explicit {
                return self.fail(Check::Image, format!("{} has an image operand that is not for it", i.name()));
            }
            return self.unsupported(format!("{} with image operands of mask {:#x}", i.name(), mask.bits()));
        }
        if i.is(Op::ImageSampleExplicitLod) && !mask.contains(ImageOperands::LOD) {
            return self.fail(Check::Image, "OpImageSampleExplicitLod says no level");
        }
        let mut rest = operands.get(1..).unwrap_or(&[]).iter();
        for bit in [ImageOperands::BIAS, ImageOperands::LOD, ImageOperands::CONST_OFFSET] {
            if !mask.contains(bit) {
                continue;
            }
            let Some(&id) = rest.next() else { break };
            let shape = self.value(id)?;
            let int = matches!(shape.scalar, Scalar::Int { width: 32, .. });
            let fits = if bit == ImageOperands::CONST_OFFSET {
                int && shape.rows == 2 && shape.columns == 1 && self.module.is_constant(id)
            } else if bit == ImageOperands::LOD && i.is(Op::ImageFetch) {
                int && shape.lanes() == 1
            } else {
                shape == Shape::vector(Scalar::F32, 1)
            };
            if !fits {
                return self.fail(Check::Image, format!("an image operand of {}, %{id}, is {shape}, which is not what it takes", i.name()));
            }
        }
        Ok(())
    }

    /// That a storage image may be read, or written, and that its format is known where it must be.
    fn storage(&self, i: &Instruction, id: u32, image: &Image) -> Checked {
        let (capability, decoration, text) = match i.op {
            Op::ImageRead => (Capability::StorageImageReadWithoutFormat, Decorate::NonReadable, "NonReadable"),
            _ => (Capability::StorageImageWriteWithoutFormat, Decorate::NonWritable, "NonWritable"),
        };
        if image.format == ImageFormat::Unknown && !self.module.has_capability(capability) {
            return self.fail(Check::Capability, format!("{} of an image of Unknown format needs the capability {capability:?}", i.name()));
        }
        let load = self.module.instruction(id).filter(|l| l.is(Op::Load));
        let from = load.map(|l| self.operands(l)[0]);
        if from.is_some_and(|variable| self.module.decoration(variable, WHOLE, decoration).is_some()) {
            return self.fail(Check::Storage, format!("{} is of %{id}, whose variable is {text}", i.name()));
        }
        Ok(())
    }
}

/// How many components a texel of a format has; 1 where the format is not known.
fn components(format: ImageFormat) -> u8 {
    use ImageFormat::*;
    match format {
        Rgba32f | Rgba16f | Rgba8 | Rgba8Snorm | Rgba16 | Rgb10A2 | Rgba16Snorm | Rgba32i | Rgba16i | Rgba8i | Rgba32ui | Rgba16ui
        | Rgba8ui | Rgb10a2ui => 4,
        R11fG11fB10f => 3,
        Rg32f | Rg16f | Rg16 | Rg8 | Rg16Snorm | Rg8Snorm | Rg32i | Rg16i | Rg8i | Rg32ui | Rg16ui | Rg8ui => 2,
        _ => 1,
    }
}

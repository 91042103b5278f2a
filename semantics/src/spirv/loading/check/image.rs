//! Image instructions (SPIR-V §3.3.10): sampled images and storage images of one sample.

use rspirv::spirv::{Capability, Decoration as Decorate, ImageFormat, ImageOperands};

use super::{Checked, Pass};
use crate::image::Shape as Whole;
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::image_operands::{coordinates, gathers, projects};
use crate::spirv::module::{NO_BLOCK, WHOLE};
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::types::{Image, Type};
use crate::spirv::words::Instruction;

/// Whether the instruction is a modeled image instruction.
pub(in crate::spirv) fn is_image(op: Op) -> bool {
    samples(op)
        || matches!(
            op,
            Op::SampledImage
                | Op::Image
                | Op::ImageFetch
                | Op::ImageRead
                | Op::ImageWrite
                | Op::ImageQuerySize
                | Op::ImageQuerySizeLod
                | Op::ImageQueryLevels
        )
}

/// Whether its operands give the level of detail.
fn is_explicit(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleExplicitLod | Op::ImageSampleDrefExplicitLod | Op::ImageSampleProjExplicitLod | Op::ImageSampleProjDrefExplicitLod
    )
}

/// Whether a modeled image instruction takes its level of detail from the derivatives of its
/// coordinate in a quad (SPIR-V §3.3.10).
pub fn is_implicit(op: Op) -> bool {
    matches!(op, Op::ImageSampleImplicitLod | Op::ImageSampleDrefImplicitLod)
}

/// Whether it takes a sampled image and float coordinates.
pub fn samples(op: Op) -> bool {
    is_explicit(op) || gathers(op) || is_implicit(op)
}

/// Whether an image instruction has a depth reference (SPIR-V §3.3.10).
pub fn compares(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageDrefGather
    )
}

/// The modeled image operands of an instruction.
fn modeled(op: Op) -> ImageOperands {
    match op {
        op if is_implicit(op) => ImageOperands::BIAS | ImageOperands::CONST_OFFSET,
        Op::ImageFetch => ImageOperands::LOD | ImageOperands::CONST_OFFSET,
        op if is_explicit(op) => ImageOperands::LOD | ImageOperands::GRAD | ImageOperands::CONST_OFFSET,
        op if gathers(op) => OFFSETS,
        _ => ImageOperands::NONE,
    }
}

/// The image operands that move texels. An instruction has at most one.
const OFFSETS: ImageOperands = ImageOperands::CONST_OFFSET.union(ImageOperands::OFFSET).union(ImageOperands::CONST_OFFSETS);

impl Pass<'_> {
    pub(super) fn image(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let type_ = self.value_type(operands[0])?;
        let found = self.module.types.get(type_);
        let wrong = |needed: &str| {
            self.fail(Check::Image, format!("{} is of %{}, which is {}; it is of {needed}", i.name(), operands[0], self.text(type_)))
        };
        if i.is(Op::SampledImage) {
            return match found {
                Some(Type::Image(image)) if image.usage == 1 && !image.is_texel_buffer() => self.combine(i, operands, type_),
                _ => wrong("an image that is sampled"),
            };
        }
        let sampled = match found {
            Some(Type::SampledImage { image }) => Some(image),
            _ => None,
        };
        if self.module.unmodeled {
            return self.read_only(i, operands, type_);
        }
        let image = match (i.op, found) {
            (Op::Image, _) => {
                return match sampled {
                    Some(image) if image == i.result_type => self.same_block(i, operands[0]),
                    _ => wrong("a sampled image of its result"),
                };
            }
            (op, _) if samples(op) => match sampled.and_then(|image| self.module.types.get(image)) {
                Some(Type::Image(image)) if image.is_texel_buffer() => return wrong("a sampled image that is no texel buffer"),
                Some(Type::Image(image)) => image,
                _ => return wrong("a sampled image"),
            },
            // A texel buffer has no levels, so its size is queried without one.
            (Op::ImageQuerySize, Some(Type::Image(image))) if image.is_texel_buffer() => image,
            (Op::ImageQuerySizeLod | Op::ImageQueryLevels, Some(Type::Image(image))) if image.is_texel_buffer() => {
                return wrong("an image with levels");
            }
            (Op::ImageFetch | Op::ImageQuerySizeLod | Op::ImageQueryLevels, Some(Type::Image(image))) if image.usage == 1 => image,
            (Op::ImageFetch | Op::ImageQuerySizeLod | Op::ImageQueryLevels, _) => return wrong("an image that is sampled"),
            (_, Some(Type::Image(image))) if image.usage == 2 => image,
            _ => return wrong("a storage image"),
        };
        self.same_block(i, operands[0])?;
        let result = self.module.shapes[self.index];
        let texel = self.module.shape(image.sampled).scalar;
        let fail = |what: String| self.fail(Check::Image, what);
        match i.op {
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                let sides = image.shape().queried().len();
                if result.columns != 1 || usize::from(result.rows) != sides || !matches!(result.scalar, Scalar::Int { width: 32, .. }) {
                    let needed = if sides == 1 { "a 32-bit integer".into() } else { format!("{sides} 32-bit integers") };
                    return fail(format!("%{} = {} has result {result}; it is {needed}", i.result, i.name()));
                }
                return match operands.get(1) {
                    Some(&lod) => self.integer_scalar(i, lod, "the level"),
                    None => Ok(()),
                };
            }
            Op::ImageQueryLevels => {
                if result.lanes() == 1 && matches!(result.scalar, Scalar::Int { width: 32, .. }) {
                    return Ok(());
                }
                return fail(format!("%{} = OpImageQueryLevels has result {result}; it is a 32-bit integer", i.result));
            }
            Op::ImageWrite => {
                self.coordinate(i, operands[1], &image)?;
                let value = self.value(operands[2])?;
                if value.scalar != texel || value.columns != 1 || value.rows < components(image.format) {
                    let needed = format!("{} or more components of {texel}", components(image.format));
                    return fail(format!("OpImageWrite writes {value}; it must be {needed}"));
                }
                self.storage(i, operands[0], &image)?;
                return self.image_operands(i, &operands[3..], &image);
            }
            _ => {}
        }
        self.fits_shape(i, &image)?;
        self.coordinate(i, operands[1], &image)?;
        let needed = Shape::vector(texel, if compares(i.op) && !gathers(i.op) { 1 } else { 4 });
        if result != needed {
            return fail(format!("%{} = {} has result {result}; it is {needed}", i.result, i.name()));
        }
        if i.is(Op::ImageRead) {
            self.storage(i, operands[0], &image)?;
        }
        if compares(i.op) {
            let reference = self.value(operands[2])?;
            if reference != Shape::vector(Scalar::F32, 1) {
                return fail(format!("the reference of {}, %{}, is {reference}; it is a 32-bit float", i.name(), operands[2]));
            }
        }
        if i.is(Op::ImageGather) {
            self.integer_scalar(i, operands[2], "the component")?;
            if !self.module.integer(operands[2]).is_some_and(|component| (0..4).contains(&component)) {
                return fail(format!("the component of OpImageGather, %{}, is no constant from 0 to 3", operands[2]));
            }
        }
        let before = if compares(i.op) || gathers(i.op) { 3 } else { 2 };
        self.image_operands(i, &operands[before..], &image)
    }

    /// Checks an image instruction that no engine runs: its image and the place of its coordinate.
    fn read_only(&self, i: &Instruction, operands: &[u32], type_: u32) -> Checked {
        if !self.module.types.get(type_).is_some_and(Type::is_opaque) || self.module.types.get(type_) == Some(Type::Sampler) {
            return self.fail(Check::Image, format!("{} is of %{}, which is {}", i.name(), operands[0], self.text(type_)));
        }
        let values = match i.op {
            Op::Image | Op::ImageQuerySize | Op::ImageQueryLevels => 1,
            op if op == Op::ImageWrite || compares(op) || gathers(op) => 3,
            _ => 2,
        };
        operands[1..values.min(operands.len())].iter().try_for_each(|&id| self.value(id).map(|_| ()))
    }

    fn combine(&self, i: &Instruction, operands: &[u32], image: u32) -> Checked {
        let sampler = self.value_type(operands[1])?;
        if self.module.types.get(sampler) != Some(Type::Sampler) {
            return self.fail(Check::Image, format!("%{} = OpSampledImage takes {}; it takes a sampler", i.result, self.text(sampler)));
        }
        let types = &self.module.types;
        // Vulkan, Image Operations Overview: the Depth operand of OpTypeImage is ignored.
        let without_depth = |id: u32| match types.get(id) {
            Some(Type::Image(image)) => Some(Image { depth: 0, ..image }),
            _ => None,
        };
        if !matches!(types.get(i.result_type), Some(Type::SampledImage { image: of }) if without_depth(of) == without_depth(image)) {
            return self
                .fail(Check::Image, format!("%{} = OpSampledImage is {}, which is of another image", i.result, self.text(i.result_type)));
        }
        Ok(())
    }

    /// Checks that the result of OpSampledImage is used only in its own block (SPIR-V §3.3.10).
    fn same_block(&self, i: &Instruction, id: u32) -> Checked {
        let Some(index) = self.module.definition(id) else { return Ok(()) };
        let block = self.module.block_of[index];
        if self.module.instructions[index].is(Op::SampledImage) && block != NO_BLOCK && block != self.function.first_block + self.block {
            return self.fail(Check::Image, format!("{} uses %{id} = OpSampledImage in another block than its own", i.name()));
        }
        Ok(())
    }

    /// Checks that the instruction exists for images of the shape.
    fn fits_shape(&self, i: &Instruction, image: &Image) -> Checked {
        let shape = image.shape();
        let fits = match i.op {
            op if projects(op) => {
                return if shape == Whole::D2 { Ok(()) } else { self.unsupported(format!("{} of an image {}", i.name(), shape.name())) };
            }
            op if gathers(op) => matches!(shape, Whole::D2 | Whole::D2Array) || shape.is_cube(),
            op if compares(op) => shape != Whole::D3,
            Op::ImageFetch => !shape.is_cube(),
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            self.fail(Check::Image, format!("{} is of an image that is {}, which it is not for", i.name(), shape.name()))
        }
    }

    fn coordinate(&self, i: &Instruction, id: u32, image: &Image) -> Checked {
        let floats = samples(i.op);
        let least = coordinates(i.op, image.shape()) as u8;
        let shape = self.value(id)?;
        let fits = match floats {
            true => shape.scalar == Scalar::F32,
            false => matches!(shape.scalar, Scalar::Int { width: 32, .. }),
        };
        if fits && shape.columns == 1 && shape.rows >= least {
            return Ok(());
        }
        let needed = if floats { "32-bit floats" } else { "32-bit integers" };
        self.fail(Check::Image, format!("the coordinate of {}, %{id}, is {shape}; it is {least} or more {needed}", i.name()))
    }

    fn image_operands(&self, i: &Instruction, operands: &[u32], image: &Image) -> Checked {
        let mask = ImageOperands::from_bits_truncate(operands.first().copied().unwrap_or(0));
        let other = mask - modeled(i.op);
        if !other.is_empty() {
            let explicit = is_explicit(i.op) || i.is(Op::ImageFetch);
            if other.contains(ImageOperands::LOD) && is_implicit(i.op) || other.contains(ImageOperands::BIAS) && explicit {
                return self.fail(Check::Image, format!("{} has an image operand that is not for it", i.name()));
            }
            return self.unsupported(format!("{} with image operands of mask {:#x}", i.name(), mask.bits()));
        }
        if image.is_texel_buffer() && !mask.is_empty() {
            return self.fail(Check::Image, format!("{} has image operands and is of a texel buffer, which has none", i.name()));
        }
        if is_explicit(i.op) && mask.contains(ImageOperands::LOD) == mask.contains(ImageOperands::GRAD) {
            return self.fail(Check::Image, format!("{} says no level, or two; it has one of Lod and Grad", i.name()));
        }
        if (mask & OFFSETS).bits().count_ones() > 1 {
            return self.fail(Check::Image, format!("{} has more than one of ConstOffset, Offset and ConstOffsets", i.name()));
        }
        let extended = mask.intersects(ImageOperands::OFFSET | ImageOperands::CONST_OFFSETS);
        if extended && !self.module.has_capability(Capability::ImageGatherExtended) {
            return self.fail(Check::Capability, format!("{} with an offset needs the capability ImageGatherExtended", i.name()));
        }
        if image.shape().is_cube() && mask.intersects(OFFSETS) {
            return self.fail(Check::Image, format!("{} has an offset in a cube, which has none", i.name()));
        }
        let mut rest = operands.get(1..).unwrap_or(&[]).iter();
        let one = [ImageOperands::BIAS, ImageOperands::LOD, ImageOperands::GRAD, ImageOperands::GRAD];
        let offsets = [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET, ImageOperands::CONST_OFFSETS];
        for bit in one.into_iter().chain(offsets).filter(|&bit| mask.contains(bit)) {
            let Some(&id) = rest.next() else {
                return self.fail(Check::Image, format!("{} has fewer operands than its image operands say", i.name()));
            };
            let shape = self.value(id)?;
            let (axes, directions) = (image.shape().axes() as u8, image.shape().directions() as u8);
            let (int, pair) = (matches!(shape.scalar, Scalar::Int { width: 32, .. }), shape.rows == axes && shape.columns == 1);
            let fits = if bit == ImageOperands::CONST_OFFSETS {
                self.four_offsets(id)
            } else if bit == ImageOperands::CONST_OFFSET || bit == ImageOperands::OFFSET {
                int && pair && (bit == ImageOperands::OFFSET || self.module.is_constant(id))
            } else if bit == ImageOperands::GRAD {
                shape == Shape::vector(Scalar::F32, directions)
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

    /// Whether an operand is a constant array of four offsets, as ConstOffsets needs.
    fn four_offsets(&self, id: u32) -> bool {
        let element = match self.module.type_of(id).and_then(|t| self.module.types.get(t)) {
            Some(Type::Array { element, length: 4, .. }) => self.module.shape(element),
            _ => return false,
        };
        let int = matches!(element.scalar, Scalar::Int { width: 32, .. });
        int && element.rows == 2 && element.columns == 1 && self.module.is_constant(id)
    }

    /// The variable from which an image or a pointer to one comes. `None` if it comes from
    /// a parameter.
    fn image_variable(&self, mut id: u32) -> Option<u32> {
        loop {
            if self.module.variable(id).is_some() {
                return Some(id);
            }
            // Definitions come before their uses, and each has been checked.
            let i = self.module.instruction(id).filter(|i| matches!(i.op, Op::Load | Op::CopyObject))?;
            id = self.operands(i)[0];
        }
    }

    /// Refuses an argument that is NonReadable or NonWritable, since the called function would not
    /// know it.
    pub(super) fn passed_image(&self, argument: u32) -> Checked {
        let opaque = |id: u32| self.module.variable(id).is_some_and(|v| self.module.types.contents(v.type_).opaque);
        let declared = |id: u32, decoration| self.module.decoration(id, WHOLE, decoration).is_some();
        match self.image_variable(argument) {
            Some(id) if opaque(id) && (declared(id, Decorate::NonReadable) || declared(id, Decorate::NonWritable)) => {
                self.unsupported(format!("OpFunctionCall with an image that is NonReadable or NonWritable (%{argument})"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a storage image may be read, or written, and that its format is known if needed.
    fn storage(&self, i: &Instruction, id: u32, image: &Image) -> Checked {
        let (capability, decoration, text) = match i.op {
            Op::ImageRead => (Capability::StorageImageReadWithoutFormat, Decorate::NonReadable, "NonReadable"),
            _ => (Capability::StorageImageWriteWithoutFormat, Decorate::NonWritable, "NonWritable"),
        };
        if image.format == ImageFormat::Unknown && !self.module.has_capability(capability) {
            return self.fail(Check::Capability, format!("{} of an image of Unknown format needs the capability {capability:?}", i.name()));
        }
        let from = self.image_variable(id);
        if from.is_some_and(|variable| self.module.decoration(variable, WHOLE, decoration).is_some()) {
            return self.fail(Check::Storage, format!("{} is of %{id}, whose variable is {text}", i.name()));
        }
        Ok(())
    }
}

/// The number of components of a format's texel. 1 if the format is unknown.
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

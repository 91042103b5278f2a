//! Image instructions: SPIR-V §3.3.10. What an image or a sampler is, is known here: the variable
//! that it was loaded from.

use rspirv::spirv::ImageOperands;
use smallvec::SmallVec;

use super::super::program::{Choice, ImageAccess, NONE, Op, Slot, Slots};
use super::{Compiled, Compiler, Home};
use crate::spirv::check::compares;
use crate::spirv::grammar::Op as Core;
use crate::spirv::image_operands::Operands;
use crate::spirv::operation::Scalar;
use crate::spirv::types::{Image, Type};
use crate::spirv::words::Instruction;

/// Each image operand, and how many ids it has.
const CHOICES: [(Choice, ImageOperands); 6] = [
    (Choice::Bias, ImageOperands::BIAS),
    (Choice::Lod, ImageOperands::LOD),
    (Choice::Grad, ImageOperands::GRAD),
    (Choice::ConstOffset, ImageOperands::CONST_OFFSET),
    (Choice::Offset, ImageOperands::OFFSET),
    (Choice::ConstOffsets, ImageOperands::CONST_OFFSETS),
];

impl Compiler<'_> {
    /// The variables that name an image and a sampler.
    fn opaque(&self, id: u32) -> Compiled<(u32, u32)> {
        match self.homes.get(&id) {
            Some(&Home::Opaque { image, sampler }) => Ok((image, sampler)),
            _ => self.unsupported(format!("%{id}, which is no image or sampler of a variable")),
        }
    }

    /// The image of a type.
    fn image_of(&self, id: u32) -> Compiled<Image> {
        let type_ = self.type_(self.module.type_of(id).unwrap_or(0));
        match type_ {
            Type::Image(image) => Ok(image),
            Type::SampledImage { image } => match self.type_(image) {
                Type::Image(image) => Ok(image),
                _ => self.unsupported("a sampled image of no image"),
            },
            _ => self.unsupported("an image instruction of no image"),
        }
    }

    /// The scalars of an operand, each a word.
    fn words_of(&self, id: u32) -> Compiled<Slots> {
        let slots = self.value(id)?;
        match slots.iter().all(|slot| matches!(slot, Slot::Word(_))) {
            true => Ok(slots),
            false => self.unsupported("an operand of an image instruction that is not of 32 bits"),
        }
    }

    fn is_signed(&self, id: u32) -> bool {
        matches!(self.module.shape(id).scalar, Scalar::Int { signed: true, .. })
    }

    pub(super) fn image(&mut self, i: &Instruction) -> Compiled {
        let operands = self.operands(i);
        let (image, sampler) = self.opaque(operands[0])?;
        let home = match i.op {
            Core::SampledImage => Home::Opaque { image, sampler: self.opaque(operands[1])?.1 },
            Core::Image => Home::Opaque { image, sampler: NONE },
            _ => return self.image_access(i, image, sampler),
        };
        self.homes.insert(i.result, home);
        Ok(())
    }

    fn image_access(&mut self, i: &Instruction, image: u32, sampler: u32) -> Compiled {
        let operands = self.operands(i);
        let mut access = ImageAccess {
            op: i.op,
            image,
            sampler,
            choosing: SmallVec::new(),
            places: [0; 6],
            signed: [false; 2],
            value: Slots::new(),
            component: 0,
            results: Slots::new(),
        };
        match i.op {
            Core::ImageQuerySize | Core::ImageQueryLevels => {}
            Core::ImageQuerySizeLod => {
                access.value = self.words_of(operands[1])?;
                access.signed[1] = self.is_signed(operands[1]);
            }
            _ => {
                let shape = self.image_of(operands[0])?.shape();
                let all = Operands::of(i.op, operands);
                let mut coordinate = self.words_of(all.own[1])?;
                coordinate.truncate(all.coordinates(shape));
                access.signed[0] = self.is_signed(all.own[1]);
                access.choosing.push((all.own[1], coordinate));
                for &id in all.ids {
                    access.choosing.push((id, self.words_of(id)?));
                }
                for (choice, bit) in CHOICES {
                    access.places[choice as usize] = all.place(bit).map_or(0, |place| place.start as u8 + 1);
                }
                access.signed[1] = all.get(ImageOperands::LOD).is_some_and(|ids| self.is_signed(ids[0]));
                if compares(i.op) || i.is(Core::ImageWrite) {
                    access.value = self.words_of(all.own[2])?;
                }
                if i.is(Core::ImageGather) {
                    access.component = self.module.constant_value(all.own[2]).unwrap_or(0) as u8;
                }
                // The race detector goes through workgroups in order.
                self.program.in_order |= i.is(Core::ImageWrite);
            }
        }
        if i.result != 0 {
            access.results = self.slots(i.result_type)?;
        }
        let results = access.results.clone();
        self.program.images.push(access);
        self.emit(Op::Image, NONE, NONE, NONE, self.program.images.len() as u32 - 1);
        if i.result != 0 {
            self.bind(i.result, results)?;
        }
        Ok(())
    }
}

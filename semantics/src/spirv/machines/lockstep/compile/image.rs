//! Image instructions: SPIR-V §3.3.10. The variable that an image or a sampler was loaded from is
//! known at compile time. In a function with such parameters, the possible variables are known.

use rspirv::spirv::ImageOperands;
use smallvec::SmallVec;

use super::super::program::{Choice, ImageAccess, NONE, Op, Slot, Slots};
use super::{Compiled, Compiler, IdMeaning, Opaque, Pointer, Storage};
use crate::spirv::check::compares;
use crate::spirv::grammar::Op as Core;
use crate::spirv::image_operands::{Operands, coordinates};
use crate::spirv::operation::Scalar;
use crate::spirv::types::{Image, Type};
use crate::spirv::words::Instruction;

/// The image operands of [`Choice`], with their bits in the mask.
const CHOICES: [(Choice, ImageOperands); 6] = [
    (Choice::Bias, ImageOperands::BIAS),
    (Choice::Lod, ImageOperands::LOD),
    (Choice::Grad, ImageOperands::GRAD),
    (Choice::ConstOffset, ImageOperands::CONST_OFFSET),
    (Choice::Offset, ImageOperands::OFFSET),
    (Choice::ConstOffsets, ImageOperands::CONST_OFFSETS),
];

/// The most pairs of an image and a sampler that one instruction may access. Also the most
/// pairs of buffers.
pub(super) const MAX_PAIRS: usize = 64;

/// The most image instructions of a program. Each counts once for every pair.
const MAX_IMAGES: usize = 1 << 18;

impl Compiler<'_> {
    /// The variables that name the image and the sampler of a value, or of a pointer to one.
    pub(super) fn opaque(&self, id: u32) -> Compiled<(Opaque, Opaque)> {
        match self.meanings.get(&id) {
            Some(IdMeaning::Opaque { image, sampler }) => Ok((image.clone(), sampler.clone())),
            Some(&IdMeaning::Pointer(Pointer { storage: Storage::Opaque(variable), .. })) => {
                let variable_in_both = Opaque { variables: SmallVec::from_slice(&[variable]), number: NONE };
                Ok((variable_in_both.clone(), variable_in_both))
            }
            _ => self.unsupported(format!("%{id}, which is no image or sampler of a variable")),
        }
    }

    /// The possible variables of a parameter of that type, or of a parameter that points to that
    /// type. These are all variables of the type. For a sampled image they also include the images
    /// and samplers that OpSampledImage may combine.
    pub(super) fn opaque_parameter(&mut self, type_id: u32, points: bool) -> Compiled<IdMeaning> {
        let type_ = self.type_(type_id);
        let module = self.module;
        let variables = |fits: &dyn Fn(u32) -> bool| -> SmallVec<[u32; 1]> {
            let is_possible = |&(_, &id): &(u32, &u32)| module.variable(id).is_some_and(|v| fits(v.type_));
            (0..).zip(&self.program.opaque).filter(is_possible).map(|(number, _)| number).collect()
        };
        let is_of_type = |candidate: u32| candidate == type_id;
        let (images, samplers) = match type_ {
            Type::SampledImage { image } if !points => {
                let is_sampler = |candidate: u32| is_of_type(candidate) || self.type_(candidate) == Type::Sampler;
                (variables(&|candidate| is_of_type(candidate) || candidate == image), variables(&is_sampler))
            }
            Type::Sampler if !points => (SmallVec::new(), variables(&is_of_type)),
            _ => (variables(&is_of_type), SmallVec::new()),
        };
        let opaque_of = |compiler: &mut Self, variables: SmallVec<[u32; 1]>| -> Compiled<Opaque> {
            let number = if variables.len() > 1 { compiler.column()? } else { NONE };
            Ok(Opaque { variables, number })
        };
        let (image, sampler) = (opaque_of(self, images)?, opaque_of(self, samplers)?);
        // A pointer points to one variable, which names both.
        Ok(IdMeaning::Opaque { sampler: if points { image.clone() } else { sampler }, image })
    }

    /// The copy by which a call tells a parameter its image or sampler. `None` if the parameter has
    /// only one possible variable.
    pub(super) fn opaque_argument(&mut self, to: &Opaque, from: &Opaque) -> Compiled<Option<(Slot, Slot)>> {
        if to.number == NONE {
            return Ok(None);
        }
        let number = match (from.number, from.variables.first()) {
            (NONE, Some(&variable)) => self.number(variable.into())?,
            (NONE, None) => return self.unsupported("an argument that is no image or sampler of a variable"),
            (column, _) => column,
        };
        Ok(Some((Slot::Word(to.number), Slot::Word(number))))
    }

    /// Emits codes for each variable that names the image or the sampler. Each runs only in the
    /// lanes with that variable.
    fn each_opaque(&mut self, opaque: &Opaque, mut make: impl FnMut(&mut Self, u32) -> Compiled) -> Compiled {
        if let ([variable], NONE) = (&opaque.variables[..], opaque.number) {
            return make(self, *variable);
        }
        for &variable in &opaque.variables {
            self.narrowed(opaque.number, variable, |compiler| make(compiler, variable))?;
        }
        Ok(())
    }

    /// The image type of an id.
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

    /// The slots of an operand, which must all be words.
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
        let meaning = match i.op {
            Core::SampledImage => IdMeaning::Opaque { image, sampler: self.opaque(operands[1])?.1 },
            Core::Image => IdMeaning::Opaque { image, sampler: Opaque::none() },
            _ => return self.image_access(i, image, sampler),
        };
        self.meanings.insert(i.result, meaning);
        Ok(())
    }

    fn image_access(&mut self, i: &Instruction, image: Opaque, sampler: Opaque) -> Compiled {
        let operands = self.operands(i);
        let mut access = ImageAccess {
            op: i.op,
            image: NONE,
            sampler: NONE,
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
                let parsed = Operands::of(i.op, operands);
                let mut coordinate = self.words_of(parsed.leading[1])?;
                coordinate.truncate(coordinates(i.op, shape));
                access.signed[0] = self.is_signed(parsed.leading[1]);
                access.choosing.push((parsed.leading[1], coordinate));
                for &id in parsed.ids {
                    access.choosing.push((id, self.words_of(id)?));
                }
                for (choice, bit) in CHOICES {
                    access.places[choice as usize] = parsed.place(bit).map_or(0, |place| place.start as u8 + 1);
                }
                access.signed[1] = parsed.get(ImageOperands::LOD).is_some_and(|ids| self.is_signed(ids[0]));
                if compares(i.op) || i.is(Core::ImageWrite) {
                    access.value = self.words_of(parsed.leading[2])?;
                }
                if i.is(Core::ImageGather) {
                    access.component = self.module.constant_value(parsed.leading[2]).unwrap_or(0) as u8;
                }
                // The race detector needs workgroups in order.
                self.program.in_order |= i.is(Core::ImageWrite);
            }
        }
        if i.result != 0 {
            access.results = self.slots(i.result_type)?;
        }
        let results = access.results.clone();
        // A variable behind a pointer names both the image and the sampler.
        let are_one = image.number != NONE && image.number == sampler.number;
        let samplers = if are_one { 1 } else { sampler.variables.len().max(1) };
        if image.variables.is_empty() || image.variables.len() * samplers > MAX_PAIRS {
            return self.unsupported("an image that may be that of any of many variables, or of none, in the lockstep machine");
        }
        self.each_opaque(&image, |compiler, image| {
            let emit_access = |compiler: &mut Self, sampler: u32| {
                if compiler.program.images.len() >= MAX_IMAGES {
                    return compiler.too_many("image instructions", MAX_IMAGES as u64);
                }
                compiler.program.images.push(ImageAccess { image, sampler, ..access.clone() });
                compiler.emit(Op::Image, NONE, NONE, NONE, compiler.program.images.len() as u32 - 1);
                Ok(())
            };
            match sampler.variables[..] {
                [] => emit_access(compiler, NONE),
                _ if are_one => emit_access(compiler, image),
                _ => compiler.each_opaque(&sampler, emit_access),
            }
        })?;
        if i.result != 0 {
            self.bind(i.result, results)?;
        }
        Ok(())
    }
}

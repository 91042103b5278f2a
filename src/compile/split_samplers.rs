//! The pass `split_samplers`: each combined image sampler becomes an image and a sampler.
//!
//! wgpu has no combined descriptors. In the adapted module, a variable of a sampled image becomes a
//! variable of its image, at the same place. A new variable holds the sampler, at a place after all
//! others in the same descriptor set. At each use of the loaded value, OpSampledImage combines
//! image and sampler. The image keeps the ids of the variable and of the loaded value. No
//! computation changes.
//!
//! Invariant: the adapted program shows what the original shows. To compare a device with an
//! interpreter, run the adapted words in the interpreter too, and compare by their hash.

use std::collections::BTreeMap;
use std::sync::Arc;

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::{Decoded, HEADER_WORDS, string_at};
use smallstep_semantics::spirv::{Instruction, decode};

use super::CannotAdapt;
use super::bindings::Place;
use crate::dispatch::resources::{self, Descriptor, ResourceKind, defined, for_each_id};
use crate::dispatch::{ComputeDispatch, DrawDispatch, SamplerBinding, Stage};
use smallstep_semantics::spirv::write::push;

/// The dispatch without combined image samplers. The words are unchanged if it has none.
///
/// Errors: the words are not a module of the grammar, or a combined image sampler is used in
/// another way than by a load and an image instruction.
pub fn adapt(dispatch: &ComputeDispatch) -> Result<ComputeDispatch, CannotAdapt> {
    let samplers = Samplers(places([&dispatch.words], dispatch.bound().places())?);
    Ok(ComputeDispatch { words: samplers.split(&dispatch.words)?, samplers: samplers.rebind(&dispatch.samplers), ..dispatch.clone() })
}

/// The draw without combined image samplers. See [`adapt`].
pub fn adapt_draw(dispatch: &DrawDispatch) -> Result<DrawDispatch, CannotAdapt> {
    let samplers = Samplers(places([&dispatch.vertex.words, &dispatch.fragment.words], dispatch.bound().places())?);
    let stage = |stage: &Stage| Ok(Stage { words: samplers.split(&stage.words)?, ..stage.clone() });
    Ok(DrawDispatch {
        vertex: stage(&dispatch.vertex)?,
        fragment: stage(&dispatch.fragment)?,
        samplers: samplers.rebind(&dispatch.samplers),
        ..dispatch.clone()
    })
}

/// The place of each combined image sampler, and the new place of its sampler.
struct Samplers(BTreeMap<Place, Place>);

/// The new place of the sampler of each combined image sampler in these modules. It is after all
/// places that they declare in its set and all bound places.
///
/// Errors: the words are not a module of the grammar, or no binding is left.
pub fn places<const N: usize>(modules: [&[u32]; N], bound: impl Iterator<Item = Place>) -> Result<BTreeMap<Place, Place>, CannotAdapt> {
    let mut used_places: Vec<Place> = bound.collect();
    let mut combined = BTreeMap::new();
    for words in modules {
        let decoded = decode(words).map_err(|error| CannotAdapt(error.to_string()))?;
        for descriptor in resources::descriptors(&decoded) {
            let Some(place) = descriptor.set.zip(descriptor.binding) else { continue };
            used_places.push(place);
            if let ResourceKind::CombinedImageSampler(..) = descriptor.kind {
                if descriptor.count != Some(1) {
                    let id = descriptor.id;
                    return Err(CannotAdapt(format!("%{id} is an array of combined image samplers, which is not split into two arrays")));
                }
                combined.insert(place, place);
            }
        }
    }
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for (set, binding) in used_places {
        let last = last.entry(set).or_default();
        *last = binding.max(*last);
    }
    for (&(set, binding), to) in &mut combined {
        let last = last.entry(set).or_default();
        *last = last
            .checked_add(1)
            .ok_or_else(|| CannotAdapt(format!("there is no binding left for the sampler of set {set}, binding {binding}")))?;
        *to = (set, *last);
    }
    Ok(combined)
}

impl Samplers {
    fn rebind(&self, samplers: &[SamplerBinding]) -> Vec<SamplerBinding> {
        let to = |place: Place| self.0.get(&place).copied().unwrap_or(place);
        let rebound = samplers.iter().map(|sampler| {
            let (set, binding) = to((sampler.set, sampler.binding));
            SamplerBinding { set, binding, ..sampler.clone() }
        });
        rebound.collect()
    }

    fn split(&self, words: &Arc<[u32]>) -> Result<Arc<[u32]>, CannotAdapt> {
        let decoded = decode(words).map_err(|error| CannotAdapt(error.to_string()))?;
        let descriptors = resources::descriptors(&decoded);
        let combined = |d: &&Descriptor| matches!(d.kind, ResourceKind::CombinedImageSampler(..));
        let placed = descriptors.iter().filter(combined).filter_map(|d| Some((d.id, *self.0.get(&d.set.zip(d.binding)?)?)));
        let placed: Vec<(u32, Place)> = placed.collect();
        if placed.is_empty() {
            return Ok(words.clone());
        }
        Split::new(&decoded, placed)?.words()
    }
}

/// A variable that is split.
#[derive(Clone, Copy)]
struct Variable {
    /// The id of the new variable of the sampler.
    sampler: u32,
    place: Place,
    /// The types: `combined` of image and sampler together, `image` of the image alone.
    combined: u32,
    image: u32,
}

/// The loaded value of such a variable: the sampler, and the combined type.
struct Loaded {
    sampler: u32,
    combined: u32,
}

struct Split<'d> {
    decoded: &'d Decoded<'d>,
    next: u32,
    words: Vec<u32>,
    variables: FxHashMap<u32, Variable>,
    loaded: FxHashMap<u32, Loaded>,
    /// The id of OpTypeSampler. `declared` is whether it is declared yet.
    sampler_type: u32,
    declared: bool,
}

impl<'d> Split<'d> {
    fn new(decoded: &'d Decoded<'d>, placed: Vec<(u32, Place)>) -> Result<Split<'d>, CannotAdapt> {
        let words = decoded.words[..HEADER_WORDS].to_vec();
        let (variables, loaded) = (FxHashMap::default(), FxHashMap::default());
        let mut split = Split { decoded, next: words[3], words, variables, loaded, sampler_type: 0, declared: false };
        let sampler_type = decoded.instructions.iter().find(|i| i.is(Op::TypeSampler)).map(|i| i.result);
        split.sampler_type = match sampler_type {
            Some(id) => id,
            None => split.fresh()?,
        };
        for (id, place) in placed {
            let unknown = || CannotAdapt(format!("%{id} is a combined image sampler without an image type"));
            let variable = decoded.instructions.iter().find(|i| i.is(Op::Variable) && i.result == id).ok_or_else(unknown)?;
            let combined = defined(decoded, variable.result_type, Op::TypePointer).ok_or_else(unknown)?[1];
            let image = defined(decoded, combined, Op::TypeSampledImage).ok_or_else(unknown)?[0];
            let sampler = split.fresh()?;
            split.variables.insert(id, Variable { sampler, place, combined, image });
        }
        Ok(split)
    }

    fn fresh(&mut self) -> Result<u32, CannotAdapt> {
        let id = self.next;
        self.next = id.checked_add(1).ok_or_else(|| CannotAdapt("the module has no ids left".into()))?;
        Ok(id)
    }

    fn words(mut self) -> Result<Arc<[u32]>, CannotAdapt> {
        let mut decorated = Vec::new();
        for instruction in &self.decoded.instructions {
            let operands = instruction.operands(self.decoded.words);
            match instruction.op {
                Op::EntryPoint => self.entry_point(operands)?,
                Op::Decorate if operands[1] == Decoration::Binding as u32 && self.variables.contains_key(&operands[0]) => {
                    self.words.extend(instruction.words(self.decoded.words));
                    let Variable { sampler, place: (set, binding), .. } = self.variables[&operands[0]];
                    push(&mut self.words, Op::Decorate, &[sampler, Decoration::DescriptorSet as u32, set]);
                    push(&mut self.words, Op::Decorate, &[sampler, Decoration::Binding as u32, binding]);
                    decorated.push(operands[0]);
                }
                Op::TypeSampler if self.declared => {}
                Op::TypeSampler => {
                    self.declared = true;
                    self.words.extend(instruction.words(self.decoded.words));
                }
                Op::Variable if self.variables.contains_key(&instruction.result) => self.variable(instruction.result)?,
                Op::Load if self.variables.contains_key(&operands[0]) => self.load(instruction, operands)?,
                _ => self.other_instruction(instruction, operands)?,
            }
        }
        if let Some(id) = self.variables.keys().filter(|id| !decorated.contains(id)).min() {
            return Err(CannotAdapt(format!("%{id} is decorated through a group")));
        }
        self.words[3] = self.next;
        Ok(Arc::from(self.words))
    }

    /// From SPIR-V 1.4 on, the interface contains such variables too.
    fn entry_point(&mut self, operands: &[u32]) -> Result<(), CannotAdapt> {
        let Ok((_, length)) = string_at(&operands[2..]) else {
            return Err(CannotAdapt("an entry point has no name".into()));
        };
        let samplers = operands[2 + length..].iter().filter_map(|id| Some(self.variables.get(id)?.sampler));
        let all: Vec<u32> = operands.iter().copied().chain(samplers).collect();
        if all.len() >= usize::from(u16::MAX) {
            return Err(CannotAdapt(format!("an entry point's interface has no room for the samplers beside {} words", operands.len())));
        }
        push(&mut self.words, Op::EntryPoint, &all);
        Ok(())
    }

    fn variable(&mut self, id: u32) -> Result<(), CannotAdapt> {
        let (class, variable) = (StorageClass::UniformConstant as u32, self.variables[&id]);
        if !self.declared {
            self.declared = true;
            push(&mut self.words, Op::TypeSampler, &[self.sampler_type]);
        }
        for (id, ty) in [(id, variable.image), (variable.sampler, self.sampler_type)] {
            let pointer = self.fresh()?;
            push(&mut self.words, Op::TypePointer, &[pointer, class, ty]);
            push(&mut self.words, Op::Variable, &[pointer, id, class]);
        }
        Ok(())
    }

    fn load(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), CannotAdapt> {
        let Variable { sampler: variable, combined, image, .. } = self.variables[&operands[0]];
        let sampler = self.fresh()?;
        for (ty, id, from) in [(image, instruction.result, operands[0]), (self.sampler_type, sampler, variable)] {
            let all: Vec<u32> = [ty, id, from].into_iter().chain(operands[1..].iter().copied()).collect();
            push(&mut self.words, Op::Load, &all);
        }
        self.loaded.insert(instruction.result, Loaded { sampler, combined });
        Ok(())
    }

    fn other_instruction(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), CannotAdapt> {
        let is_annotation = matches!(instruction.op, Op::Name | Op::Decorate | Op::GroupDecorate | Op::DecorateId);
        let first = operands.first().copied().unwrap_or(0);
        let mut found = None;
        let mut uses = 0;
        if !is_annotation {
            for_each_id(self.decoded, instruction, &mut |id| {
                if self.variables.contains_key(&id) || self.loaded.contains_key(&id) {
                    found = Some(id);
                    uses += 1;
                }
            });
        }
        let Some(id) = found else {
            self.words.extend(instruction.words(self.decoded.words));
            return Ok(());
        };
        let Some(loaded) = self.loaded.get(&first).filter(|_| uses == 1 && id == first && samples(instruction.op)) else {
            return Err(CannotAdapt(format!(
                "%{id}, of a combined image sampler, is used by {:?}; what is known here is to load and to sample it",
                instruction.op
            )));
        };
        let (combined, sampler) = (loaded.combined, loaded.sampler);
        let combined_value = self.fresh()?;
        push(&mut self.words, Op::SampledImage, &[combined, combined_value, first, sampler]);
        let start = self.words.len();
        self.words.extend(instruction.words(self.decoded.words));
        // The first operand comes after result type and result.
        self.words[start + 3] = combined_value;
        Ok(())
    }
}

/// The instructions whose first operand is a sampled image.
fn samples(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Image
            | ImageSampleImplicitLod
            | ImageSampleExplicitLod
            | ImageSampleDrefImplicitLod
            | ImageSampleDrefExplicitLod
            | ImageSampleProjImplicitLod
            | ImageSampleProjExplicitLod
            | ImageSampleProjDrefImplicitLod
            | ImageSampleProjDrefExplicitLod
            | ImageGather
            | ImageDrefGather
            | ImageQueryLod
    )
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::{Format, Image, Sampler};
    use smallstep_semantics::spirv::{Options, assemble};

    use super::*;
    use crate::dispatch::{ImageBinding, ImageKind};

    /// Two combined image samplers, sampled and queried three times. `more` is declared after them,
    /// and `body` comes last.
    fn words(more: &str, body: &str) -> Arc<[u32]> {
        let text = format!(
            "OpCapability Shader
             OpCapability ImageQuery
             OpMemoryModel Logical GLSL450
             OpEntryPoint GLCompute %main \"main\" %first %second
             OpExecutionMode %main LocalSize 1 1 1
             OpName %first \"first\"
             OpDecorate %first DescriptorSet 1
             OpDecorate %first Binding 3
             OpDecorate %second DescriptorSet 1
             OpDecorate %second Binding 5
             OpDecorate %loaded RelaxedPrecision
             %void = OpTypeVoid
             %function = OpTypeFunction %void
             %float = OpTypeFloat 32
             %uint = OpTypeInt 32 0
             %vec2 = OpTypeVector %float 2
             %uvec2 = OpTypeVector %uint 2
             %vec4 = OpTypeVector %float 4
             %zero = OpConstant %float 0
             %level = OpConstant %uint 0
             %origin = OpConstantComposite %vec2 %zero %zero
             %image = OpTypeImage %float 2D 0 0 0 1 Unknown
             %both = OpTypeSampledImage %image
             %p_both = OpTypePointer UniformConstant %both
             %first = OpVariable %p_both UniformConstant
             %second = OpVariable %p_both UniformConstant
             {more}
             %main = OpFunction %void None %function
             %entry = OpLabel
             %loaded = OpLoad %both %first
             %other = OpLoad %both %second
             OpBranch %next
             %next = OpLabel
             %a = OpImageSampleExplicitLod %vec4 %loaded %origin Lod %zero
             %b = OpImageSampleExplicitLod %vec4 %other %origin Lod %zero
             %alone = OpImage %image %loaded
             %size = OpImageQuerySizeLod %uvec2 %alone %level
             {body}
             OpReturn
             OpFunctionEnd"
        );
        Arc::from(assemble(&text, Options::default()).expect("it assembles"))
    }

    fn dispatch(words: Arc<[u32]>) -> ComputeDispatch {
        let image = Image::new(Format::Rgba8Unorm, 2, 2, 1).expect("it has texels");
        let image = |binding| ImageBinding { set: 1, binding, kind: ImageKind::Sampled, image: image.clone() };
        let sampler = |binding, lod_max| SamplerBinding { set: 1, binding, sampler: Sampler { lod_max, ..Sampler::default() } };
        ComputeDispatch {
            words,
            entry: "main".into(),
            groups: [1; 3],
            images: vec![image(3), image(5)],
            samplers: vec![sampler(5, 5.0), sampler(3, 3.0)],
            ..ComputeDispatch::default()
        }
    }

    #[test]
    fn each_sampler_goes_behind_everything_in_its_set() {
        let original = dispatch(words("", ""));
        let adapted = adapt(&original).expect("it is only loaded and sampled");
        let places = adapted.samplers.iter().map(|s| (s.set, s.binding, s.sampler.lod_max)).collect::<Vec<_>>();
        assert_eq!(places, [(1, 7, 5.0), (1, 6, 3.0)]);
        assert_eq!(adapted.images, original.images);
        let decoded = decode(&adapted.words).expect("it decodes");
        let mut found = resources::descriptors(&decoded).iter().map(|d| (d.set, d.binding, d.kind)).collect::<Vec<_>>();
        found.sort_by_key(|descriptor| descriptor.1);
        let sampled = ResourceKind::SampledImage(smallstep_semantics::image::Shape::D2, resources::Texels::Float);
        let at = |binding: u32, kind: ResourceKind| (Some(1), Some(binding), kind);
        assert_eq!(found, [at(3, sampled), at(5, sampled), at(6, ResourceKind::Sampler), at(7, ResourceKind::Sampler)]);
        // Each use makes a sampled image of its own in its block: three uses after the branch.
        let ops: Vec<Op> = decoded.instructions.iter().map(|i| i.op).collect();
        let sampled_images: Vec<usize> = (0..ops.len()).filter(|&i| ops[i] == Op::SampledImage).collect();
        let branch = ops.iter().position(|op| *op == Op::Branch).expect("there is one");
        assert_eq!(
            sampled_images.iter().map(|&i| ops[i + 1]).collect::<Vec<_>>(),
            [Op::ImageSampleExplicitLod, Op::ImageSampleExplicitLod, Op::Image]
        );
        assert!(sampled_images.iter().all(|&i| i > branch));
        assert!(decoded.instructions.iter().all(|i| i.result < adapted.words[3]));
        // The interface has the samplers too.
        let interface = decoded.instructions.iter().find(|i| i.is(Op::EntryPoint)).map(|i| i.operands(decoded.words).len());
        assert_eq!(interface, Some(2 + 2 + 4));
        assert_eq!(adapt(&adapted), Ok(adapted.clone()), "once is enough");
    }

    #[test]
    fn a_sampler_type_is_declared_once_and_before_it_is_used() {
        let later =
            "%sampler = OpTypeSampler\n %p_sampler = OpTypePointer UniformConstant %sampler\n %own = OpVariable %p_sampler UniformConstant";
        let adapted = adapt(&dispatch(words(later, ""))).expect("it is only loaded and sampled");
        let decoded = decode(&adapted.words).expect("it decodes");
        let at = |op: Op| decoded.instructions.iter().position(|i| i.is(op)).expect("there is one");
        assert_eq!(decoded.instructions.iter().filter(|i| i.is(Op::TypeSampler)).count(), 1);
        assert!(at(Op::TypeSampler) < at(Op::Variable));
    }

    /// Each word in turn is replaced by a huge one, by zero or by a neighbour. The result is an
    /// error or other words, never a panic.
    #[test]
    fn altered_words_are_refused_or_adapted() {
        let original = words("", "");
        for at in 0..original.len() {
            for with in [u32::MAX, 0, original[at] + 1, original[at].wrapping_sub(1)] {
                let mut altered = original.to_vec();
                altered[at] = with;
                let _ = adapt(&dispatch(Arc::from(altered)));
            }
        }
    }

    #[test]
    fn what_is_used_otherwise_is_named() {
        let cases = [
            ("%copy = OpCopyObject %p_both %first", "CopyObject"),
            ("%copy = OpCopyObject %both %loaded", "CopyObject"),
            ("%p = OpAccessChain %p_both %first", "AccessChain"),
        ];
        for (body, expected) in cases {
            let error = adapt(&dispatch(words("", body))).expect_err(body).0;
            assert!(error.contains(expected), "{error}");
        }
        assert!(!adapt(&dispatch(Arc::from([1, 2, 3]))).expect_err("these are no words").0.is_empty());
    }
}

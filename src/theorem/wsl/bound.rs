//! The bindings of the target: the buffers, images and samplers of a compiled module, made from the
//! resources of a program.

use crate::compile::wsl::{Binding, BindingKind};
use crate::dispatch::{BufferBinding, BufferKind, ImageBinding, ImageKind};
use smallstep_semantics::image::{Format, Image, Shape};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler, Resources};
use smallstep_semantics::wsl::group::{Resource, ResourceContents, Textured};
use smallstep_semantics::wsl::texture::Texture;

/// The resources that are bound to a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    pub buffers: Vec<Buffer>,
    pub images: Vec<BoundImage>,
    pub samplers: Vec<BoundSampler>,
}

/// The formats of bound textures, by register.
pub(super) fn formats(resources: &[Resource]) -> Vec<(String, Format)> {
    let format = |r: &Resource| Some((r.register.clone(), r.texture()?.0.image.format()));
    resources.iter().filter_map(format).collect()
}

fn kind_at(bindings: &[Binding], set: u32, binding: u32) -> Option<BindingKind> {
    bindings.iter().find(|b| (b.set, b.binding) == (set, binding)).map(|b| b.kind)
}

impl Bound {
    /// The resources for the bindings of a module. The error is a sentence if a resource does
    /// not fit.
    pub(super) fn of(bindings: &[Binding], resources: &[Resource]) -> Result<Bound, String> {
        let mut bound = Bound::default();
        for &Binding { ref register, set, binding, kind, .. } in bindings {
            let resource = resources.iter().find(|r| r.register == *register);
            match (kind, resource.map(|r| &r.contents)) {
                (BindingKind::Buffer(..), Some(ResourceContents::Buffer(buffer))) if buffer.words.is_empty() => {
                    return Err("a buffer has no bytes".into());
                }
                (BindingKind::Buffer(..), Some(ResourceContents::Buffer(buffer))) => {
                    let bytes = buffer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    bound.buffers.push(Buffer { set, binding, bytes });
                }
                (BindingKind::Sampled(_, shape), Some(ResourceContents::Texture(Textured { texture: Some(texture), .. }))) => {
                    let image = image_of(texture, shape, texture.image.format())?;
                    bound.images.push(BoundImage { set, binding, image });
                }
                (BindingKind::Storage(_, shape, format), Some(ResourceContents::Texture(Textured { texture: Some(texture), .. }))) => {
                    let image = image_of(texture, shape, format)?;
                    bound.images.push(BoundImage { set, binding, image });
                }
                (BindingKind::Sampler(sampler_kind), Some(ResourceContents::Sampler(Some(sampler)))) => {
                    if sampler.unnormalized {
                        return Err("a sampler has unnormalized coordinates".into());
                    }
                    bound.samplers.push(BoundSampler { set, binding, sampler: sampler_kind.fitting(*sampler) });
                }
                _ => return Err(format!("nothing is bound to {register}")),
            }
        }
        Ok(bound)
    }

    /// The buffers for a device.
    pub(super) fn buffer_bindings(&self, bindings: &[Binding]) -> Vec<BufferBinding> {
        let buffer = |buffer: &Buffer| {
            let kind = match kind_at(bindings, buffer.set, buffer.binding) {
                Some(BindingKind::Buffer(kind, _)) => kind,
                _ => BufferKind::ReadWrite,
            };
            BufferBinding { set: buffer.set, binding: buffer.binding, kind, bytes: buffer.bytes.clone() }
        };
        self.buffers.iter().map(buffer).collect()
    }

    /// The images for a device.
    pub(super) fn image_bindings(&self, bindings: &[Binding]) -> Vec<ImageBinding> {
        let image = |image: &BoundImage| {
            let kind = match kind_at(bindings, image.set, image.binding) {
                Some(BindingKind::Storage(..)) => ImageKind::Storage,
                _ => ImageKind::Sampled,
            };
            ImageBinding { set: image.set, binding: image.binding, kind, image: image.image.clone() }
        };
        self.images.iter().map(image).collect()
    }

    /// The resources for the interpreters.
    pub(super) fn resources(&self) -> Resources<'_> {
        Resources { buffers: &self.buffers, images: &self.images, samplers: &self.samplers, ..Resources::default() }
    }
}

/// The image of a texture, in a shape with as many texels and a format with the same codes.
/// Undefined texels become 0, which is one of the values that a program may see.
fn image_of(texture: &Texture, shape: Shape, format: Format) -> Result<Image, String> {
    let source = &texture.image;
    let sides = source.sides(0).unwrap_or_default();
    let mut image = Image::of_shape(format, shape, sides, source.levels()).map_err(|e| e.to_string())?;
    for level in 0..source.levels() {
        image.fill(level, source.bytes(level).unwrap_or_default()).map_err(|e| e.to_string())?;
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::super::programs::{Programs, subjects};
    use crate::compile::wsl::Options;
    use crate::dispatch::{Dispatch, ImageKind};
    use crate::generate::wsl::typed::Restriction;
    use smallstep_semantics::image::{AddressMode, Filter, Sampler};

    /// A device can check nearly all generated programs with textures. The restrictions of
    /// the generator make it rare that samplers beside integer images filter, or clamp to
    /// their borders.
    #[test]
    fn few_textured_programs_have_samplers_that_no_device_has() {
        let clamps = |sampler: &Sampler| sampler.address.contains(&AddressMode::ClampToBorder);
        let filters = |sampler: &Sampler| [sampler.mag, sampler.min, sampler.mip].contains(&Filter::Linear);
        let options = Options::default();
        let mut counts = [[0u32; 3]; 2];
        for (programs, seed) in (0..400).flat_map(|seed| [Programs::TexturedEntryPoints, Programs::TexturedStages].map(|p| (p, seed))) {
            let mut found = [[false; 3]; 2];
            let restricted = subjects(programs, seed, &mut |_, _, case| {
                let Some(dispatch) = case.ok().and_then(|case| case.translated(&options).ok()) else { return };
                let bound = match &dispatch {
                    Dispatch::Compute(dispatch) => dispatch.bound(),
                    Dispatch::Draw(dispatch) => dispatch.bound(),
                    Dispatch::Fragment(_) => return,
                };
                let integers = bound.images.iter().any(|i| i.kind == ImageKind::Sampled && i.image.format().numeric().is_integer());
                for (does, found) in [clamps as fn(&Sampler) -> bool, filters].into_iter().zip(&mut found) {
                    let does = bound.samplers.iter().any(|sampler| does(&sampler.sampler));
                    found[0] |= does;
                    found[1] |= does && integers;
                }
            });
            for ((restriction, found), counts) in [Restriction::Borders, Restriction::Filters].into_iter().zip(&mut found).zip(&mut counts)
            {
                found[2] = restricted.as_ref().is_ok_and(|all| all.contains(&restriction));
                counts.iter_mut().zip(found).for_each(|(count, found)| *count += u32::from(*found));
            }
        }
        for (what, [all, unchecked, restricted]) in ["clamp to their borders", "filter linearly"].into_iter().zip(counts) {
            println!("samplers of {all} programs {what}, of {unchecked} beside integers; {restricted} programs are restricted");
            assert!(all > 50 && unchecked <= 10 && restricted > 4 * unchecked, "{what}: {all}, {unchecked}, {restricted}");
        }
    }
}

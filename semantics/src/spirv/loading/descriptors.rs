//! The images and samplers behind the descriptors that variables name (Vulkan, "Resource
//! Descriptors"), after checking the bound resources against the declarations. The relation and the
//! lockstep machine share them.

use rspirv::spirv::{Decoration, ImageFormat, StorageClass};
use rustc_hash::FxHashMap;

use crate::image::{Format, Image, Numeric, Sampler};
use crate::spirv::environment::{BoundImage, BoundSampler, InvocationId, ObservedImage, Resources, UndefinedTexels};
use crate::spirv::memory::Descriptor;
use crate::spirv::module::{Module, Variable, WHOLE};
use crate::spirv::types::{self, Type};
use crate::undefined::Unspecified;

/// An image that a variable names.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) struct DeclaredImage<'r> {
    pub(in crate::spirv) set: u32,
    pub(in crate::spirv) binding: u32,
    /// The bound image.
    pub(in crate::spirv) image: &'r Image,
    /// Whether it is a storage image.
    pub(in crate::spirv) storage: bool,
    /// Whether a variable of it can be written.
    pub(in crate::spirv) written: bool,
}

/// The bindings of a dispatch's variables.
#[derive(Clone, Debug, Default)]
pub(in crate::spirv) struct Descriptors<'r> {
    /// In the order of the dispatch. Several images at one binding are the elements of an array of
    /// descriptors, in this order.
    pub(in crate::spirv) images: Vec<DeclaredImage<'r>>,
    /// One sampler for each descriptor that has one.
    pub(in crate::spirv) samplers: Vec<Sampler>,
    /// By variable and index of the descriptor: the indices in these lists.
    pub(in crate::spirv) by_variable: FxHashMap<(u32, u32), Descriptor>,
}

impl<'r> Descriptors<'r> {
    /// The images and samplers that the variables name.
    ///
    /// # Errors
    /// A sentence: something is missing, or is not what a variable declares.
    pub(in crate::spirv) fn new(module: &Module, used: &[&Variable], resources: &Resources<'r>) -> Result<Descriptors<'r>, String> {
        let opaque: Vec<&Variable> = used.iter().copied().filter(|v| v.class == StorageClass::UniformConstant).collect();
        let mut descriptors = Descriptors { images: declared_images(module, &opaque, resources)?, ..Descriptors::default() };
        for variable in opaque {
            let id = variable.id;
            let Some(at) = module.descriptor(id) else {
                return Err(format!("%{id} has no descriptor set and binding"));
            };
            let (declared, with_sampler) = parts(module, module.resource_type(variable));
            if declared.is_some() {
                let images = (0..).zip(&descriptors.images).filter(|(_, image)| (image.set, image.binding) == at).map(|(index, _)| index);
                for (element, image) in (0..).zip(bound_descriptors(module, variable, "image", images)?) {
                    descriptors.by_variable.entry((id, element)).or_default().image = Some(image);
                }
            }
            if with_sampler {
                let samplers = (0..).zip(resources.samplers).filter(|(_, bound)| (bound.set, bound.binding) == at).map(|(index, _)| index);
                for (element, sampler) in (0..).zip(bound_descriptors(module, variable, "sampler", samplers)?) {
                    descriptors.by_variable.entry((id, element)).or_default().sampler = Some(descriptors.samplers.len() as u32);
                    descriptors.samplers.push(check_sampler(&resources.samplers[sampler as usize])?);
                }
            }
        }
        Ok(descriptors)
    }
}

/// The index of the resource that a variable names: the first at its place. For an array of
/// descriptors, one for each element, or all if it has no length. `what` is the kind of resource.
///
/// # Errors
/// A sentence: there are too few.
pub(in crate::spirv) fn bound_descriptors(
    module: &Module,
    variable: &Variable,
    what: &str,
    at_place: impl Iterator<Item = u32>,
) -> Result<Vec<u32>, String> {
    let (id, count) = (variable.id, module.descriptor_count(variable));
    let (set, binding) = module.descriptor(id).unwrap_or_default();
    let bound: Vec<u32> = at_place.take(count.map_or(usize::MAX, |count| count.try_into().unwrap_or(usize::MAX))).collect();
    match (bound.len(), count) {
        (0, _) => Err(format!("no {what} at set {set}, binding {binding} for %{id}")),
        (found, Some(count)) if (found as u64) < count => {
            Err(format!("%{id} is an array of {count} descriptors, and the number of {what}s at set {set}, binding {binding} is {found}"))
        }
        _ => Ok(bound),
    }
}

/// The instruction and invocation that made an undefined component of a texel, or `None` if it was
/// undefined before the run; and its kind.
pub(in crate::spirv) type TexelOrigin = (Option<(u32, InvocationId)>, Unspecified);

/// Level 0 of the storage image at this set and binding, at the end of a run. `undefined` is called
/// with the index of a texel and a component, component by component. It returns how the component
/// became undefined, if it is undefined.
pub(in crate::spirv) fn observed(
    image: &Image,
    (set, binding): (u32, u32),
    mut undefined: impl FnMut(u64, u8) -> Option<TexelOrigin>,
) -> ObservedImage {
    let (format, size) = (image.format(), image.sides(0).unwrap_or_default());
    let bytes = image.bytes(0).unwrap_or_default().to_vec();
    let mut observed = ObservedImage { set, binding, format, size, bytes, undefined: Vec::new() };
    for (component, channel) in (0u8..).zip(format.channels()) {
        for at in 0..size.into_iter().map(u64::from).product() {
            let Some((made, kind)) = undefined(at, component) else { continue };
            channel.clear(&mut observed.bytes[at as usize * format.bytes()..][..format.bytes()]);
            let kind = kind.id();
            match observed.undefined.last_mut() {
                Some(last) if (last.component, last.end, last.made, last.kind) == (component, at, made, kind) => last.end += 1,
                _ => observed.undefined.push(UndefinedTexels { component, start: at, end: at + 1, made, kind }),
            }
        }
    }
    observed
}

/// The image of an opaque type, and whether it includes a sampler.
fn parts(module: &Module, type_: u32) -> (Option<types::Image>, bool) {
    match module.types().get(type_) {
        Some(Type::Image(image)) => (Some(image), false),
        // A texel buffer has no sampler, even if it is declared as a sampled image.
        Some(Type::SampledImage { image }) => {
            let image = parts(module, image).0;
            (image, image.is_none_or(|image| !image.is_texel_buffer()))
        }
        _ => (None, true),
    }
}

fn declared_images<'r>(module: &Module, opaque: &[&Variable], resources: &Resources<'r>) -> Result<Vec<DeclaredImage<'r>>, String> {
    let mut images: Vec<DeclaredImage<'r>> = Vec::new();
    for (index, bound) in resources.images.iter().enumerate() {
        let BoundImage { set, binding, .. } = *bound;
        let element = resources.images[..index].iter().filter(|earlier| (earlier.set, earlier.binding) == (set, binding)).count() as u64;
        let mut declared_image: Option<DeclaredImage<'r>> = None;
        for variable in opaque.iter().filter(|v| module.descriptor(v.id) == Some((set, binding))) {
            let Some(declared) = parts(module, module.resource_type(variable)).0 else { continue };
            if module.descriptor_count(variable).is_some_and(|count| element >= count) {
                continue;
            }
            fits(module, variable.id, &declared, bound)?;
            let storage = declared.usage == 2;
            let entry = declared_image.get_or_insert(DeclaredImage { set, binding, image: &bound.image, storage, written: false });
            if entry.storage != storage {
                return Err(format!("the image at set {set}, binding {binding} is declared sampled and storage; it is one of the two"));
            }
            entry.written |= storage && module.decoration(variable.id, WHOLE, Decoration::NonWritable).is_none();
        }
        images.extend(declared_image);
    }
    Ok(images)
}

/// Checks that an image fits a variable's declaration: the type of its numbers, and the format if
/// the declaration has one.
fn fits(module: &Module, variable: u32, declared: &types::Image, bound: &BoundImage) -> Result<(), String> {
    let format = bound.image.format();
    let misfit = |rest: String| Err(format!("the image at set {}, binding {} is of {}{rest}", bound.set, bound.binding, format.name()));
    let (shape, needed) = (bound.image.shape(), declared.shape());
    if shape != needed {
        return misfit(format!(" and {}; %{variable} declares one that is {}", shape.name(), needed.name()));
    }
    let fits = match (module.types().get(declared.sampled), format.numeric()) {
        (Some(Type::Float { .. }), numeric) => !numeric.is_integer(),
        (Some(Type::Int { signed, .. }), numeric) => numeric == if signed { Numeric::Sint } else { Numeric::Uint },
        _ => false,
    };
    if !fits {
        let numbers = match format.numeric() {
            Numeric::Uint => "unsigned integers",
            Numeric::Sint => "signed integers",
            _ => "floats",
        };
        let needed = module.types().text(declared.sampled);
        return misfit(format!(", which has {numbers}; %{variable} declares texels of {needed}"));
    }
    if declared.usage == 2 && format.is_depth() {
        return misfit(format!(", a format of depths; %{variable} is a storage image"));
    }
    if declared.format == ImageFormat::Unknown {
        return Ok(());
    }
    match Format::of_spirv(declared.format) {
        None => Err(format!("an image of the format {:?} (%{variable})", declared.format)),
        Some(needed) if needed != format => misfit(format!("; %{variable} declares {:?}, which is {}", declared.format, needed.name())),
        Some(_) => Ok(()),
    }
}

/// Refuses a sampler whose levels of detail are NaN.
fn check_sampler(bound: &BoundSampler) -> Result<Sampler, String> {
    let sampler = bound.sampler;
    if [sampler.lod_bias, sampler.lod_min, sampler.lod_max].iter().any(|x| x.is_nan()) {
        let (set, binding) = (bound.set, bound.binding);
        return Err(format!("the sampler at set {set}, binding {binding} has a level of detail that is no number"));
    }
    Ok(sampler)
}

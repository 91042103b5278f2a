//! SPIR-V §3.3.10, Image Instructions, and OpLoad of their operands (§3.3.8).
//!
//! Values come from [`crate::image`], which follows Vulkan's "Image Operations". Sampled images
//! never change. A texel of a storage image is memory that invocations share, so reading or
//! writing one is an action. The level of detail comes from an operand, or from the derivatives of
//! the coordinate in a quad. In the second case an invocation waits for the others of its quad, as
//! at a derivative.
//!
//! An undefined coordinate, offset or level of detail is undefined behaviour, as every undefined
//! address is. If one is in doubt, so is the texel.

use rspirv::spirv::ImageOperands;

use super::{Action, Awaited, Config, Derivatives, Env, Next, Row, row};
use crate::image::{self, Allowed, Location, Lod, Numeric, Sampled, SamplerError, Sampling, Shape};
use crate::number::sets::Set;
use crate::number::{Inexact, Interval, Trust, Why};
use crate::rule::Rule;
use crate::spirv::check::compares;
use crate::spirv::grammar::Op;
use crate::spirv::image_operands::{Operands, coordinates, is_unfit, projects};
use crate::spirv::memory::{Descriptor, Value};
use crate::spirv::operation::Scalar as Component;
use crate::spirv::report;
use crate::spirv::shared::{ObjectId, texel_scalar};
use crate::spirv::types::Type;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::spirv::words::Instruction;
use crate::undefined::{Ub, Unspecified};
use smallvec::SmallVec;

const SIZES: &[Op] = &[Op::ImageQuerySize, Op::ImageQuerySizeLod];
/// The instructions whose operands choose texels.
const CHOOSING: &[Op] = &[
    Op::ImageSampleImplicitLod,
    Op::ImageSampleDrefImplicitLod,
    Op::ImageSampleExplicitLod,
    Op::ImageSampleDrefExplicitLod,
    Op::ImageSampleProjExplicitLod,
    Op::ImageSampleProjDrefExplicitLod,
    Op::ImageFetch,
    Op::ImageGather,
    Op::ImageDrefGather,
    Op::ImageRead,
    Op::ImageWrite,
];

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvLoadDescriptor, &[Op::Load], load_descriptor),
    row(Rule::SpirvSampledImage, &[Op::SampledImage], sampled_image),
    row(Rule::SpirvImage, &[Op::Image], image),
    row(Rule::SpirvImageSampleImplicitLod, &[Op::ImageSampleImplicitLod], image_sample_implicit_lod),
    row(Rule::SpirvImageSampleDrefImplicitLod, &[Op::ImageSampleDrefImplicitLod], image_sample_dref_implicit_lod),
    row(Rule::SpirvImageSampleExplicitLod, &[Op::ImageSampleExplicitLod], image_sample_explicit_lod),
    row(Rule::SpirvImageSampleDrefExplicitLod, &[Op::ImageSampleDrefExplicitLod], image_sample_dref_explicit_lod),
    row(Rule::SpirvImageSampleProjExplicitLod, &[Op::ImageSampleProjExplicitLod], image_sample_proj_explicit_lod),
    row(Rule::SpirvImageSampleProjDrefExplicitLod, &[Op::ImageSampleProjDrefExplicitLod], image_sample_proj_dref_explicit_lod),
    row(Rule::SpirvImageFetch, &[Op::ImageFetch], image_fetch),
    row(Rule::SpirvImageGather, &[Op::ImageGather], image_gather),
    row(Rule::SpirvImageDrefGather, &[Op::ImageDrefGather], image_dref_gather),
    row(Rule::SpirvImageRead, &[Op::ImageRead], image_read),
    row(Rule::SpirvImageWrite, &[Op::ImageWrite], image_write),
    row(Rule::SpirvImageQuerySize, SIZES, image_query_size),
    row(Rule::SpirvImageQueryLevels, &[Op::ImageQueryLevels], image_query_levels),
    row(Rule::SpirvImageUndefined, CHOOSING, image_undefined),
];

/// M, (r = OpLoad τ a, I), c, p → M[r ↦ the image, sampler or sampled image behind M(a)], I, c, p
/// [spirv/load-descriptor, SPIR-V §3.3.8]
pub fn load_descriptor<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::Load)?;
    let descriptor = env.shared.images().descriptor(&config.pointer(operands[0])?)?;
    Some(Next::Config(config.defining(head.result, Value::Descriptor(descriptor))))
}

/// M, (r = OpSampledImage τ a s, I), c, p → M[r ↦ M(a) with M(s)], I, c, p [spirv/sampled-image,
/// SPIR-V §3.3.10]
pub fn sampled_image<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::SampledImage)?;
    let (image, sampler) = (config.descriptor(operands[0])?.image, config.descriptor(operands[1])?.sampler);
    Some(Next::Config(config.defining(head.result, Value::Descriptor(Descriptor { image, sampler }))))
}

/// M, (r = OpImage τ a, I), c, p → M[r ↦ the image of M(a)], I, c, p [spirv/image, SPIR-V §3.3.10]
pub fn image<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::Image)?;
    let image = config.descriptor(operands[0])?.image;
    Some(Next::Config(config.defining(head.result, Value::Descriptor(Descriptor { image, sampler: None }))))
}

/// The operands of an image instruction, grouped.
fn operands_of<'m>(config: &Config<'m>, head: &Instruction) -> Operands<'m> {
    Operands::of(head.op, config.operands(head))
}

/// The ids of an image operand of an instruction (SPIR-V §3.2.14). `None` if it does not have
/// this operand.
fn image_operand<'m>(config: &Config<'m>, head: &Instruction, wanted: ImageOperands) -> Option<&'m [u32]> {
    operands_of(config, head).get(wanted)
}

/// The shape of the image with this id, or of the image of a sampled image.
fn shape_of(config: &Config<'_>, id: u32) -> Option<Shape> {
    let types = config.module.types();
    match types.get(config.module.type_of(id)?)? {
        Type::Image(image) => Some(image.shape()),
        Type::SampledImage { image } => match types.get(image)? {
            Type::Image(image) => Some(image.shape()),
            _ => None,
        },
        _ => None,
    }
}

/// The first undefined operand among those by which an instruction chooses texels, with its origin.
fn undefined_choice(config: &Config<'_>, head: &Instruction) -> Option<(u32, Origin)> {
    let operands = operands_of(config, head);
    let coordinate = (operands.leading[1], coordinates(operands.op, shape_of(config, operands.leading[0])?));
    std::iter::once(coordinate)
        .chain(operands.ids.iter().map(|&id| (id, usize::MAX)))
        .find_map(|(id, count)| Some((id, config.scalars(id)?.iter().take(count).find_map(|s| s.undefined)?)))
}

/// M, (r = OpImage… τ a x…, I), c, p is undefined behaviour where a coordinate, an offset or a
/// level of detail is undefined              [spirv/image-undefined, SPIR-V 1.6 revision 7, Poison]
pub fn image_undefined<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(CHOOSING)?;
    let (id, origin) = undefined_choice(config, head)?;
    let operand = if id == operands[1] { "a coordinate" } else { "an image operand" };
    let what = report::operand_undefined(config.module, config.index(), operand, id, origin);
    Some(config.undefined(Ub::AddressOnUndefined, what))
}

/// The next instruction with its operands, if it has this opcode and the operands that choose
/// texels are defined.
fn next_with_defined_choice<'m>(config: &Config<'m>, op: Op) -> Option<(&'m Instruction, &'m [u32])> {
    let (head, operands) = config.next_if(op)?;
    undefined_choice(config, head).is_none().then_some((head, operands))
}

/// The origin of an undefined value that the next instruction makes.
fn origin(env: &Env<'_>, config: &Config<'_>, kind: Unspecified) -> Origin {
    Origin { kind, instruction: config.index(), invocation: env.invocation }
}

/// The interval of a 32-bit float: all floats if it is in doubt. In a run over sets, the hull of
/// its set.
fn inexact(env: &Env<'_>, scalar: Scalar) -> Inexact {
    let value = f64::from(f32::from_bits(scalar.bits as u32));
    let Some(sets) = env.over.map(|sets| sets.borrow()) else {
        return Inexact { value, allowed: if scalar.trust.doubt.is_some() { Interval::ANY } else { Interval::point(value) } };
    };
    if scalar.trust.is_decided(sets.profile()) {
        return Inexact::exact(value);
    }
    let set = sets.operand(scalar.lane()).set;
    match set.hull() {
        // On a way that the definite run does not take, the definite value means nothing.
        Some(hull) if set.is_bounded() => {
            let value = if hull.low <= value && value <= hull.high { value } else { hull.low };
            Inexact { value, allowed: Interval::between(hull.low, hull.high) }
        }
        _ => Inexact { value, allowed: Interval::ANY },
    }
}

/// Whether all components of these operands that are not floats or Booleans are decided, in a run
/// over sets: an offset, a component.
fn are_certain<'i>(env: &Env<'_>, config: &Config<'_>, ids: impl Iterator<Item = &'i u32>) -> bool {
    let Some(profile) = env.over.map(|sets| sets.borrow().profile()) else { return false };
    ids.filter(|&&id| !config.module.shape(id).is_lanes())
        .flat_map(|&id| config.scalars(id).unwrap_or_default())
        .all(|scalar| scalar.trust.is_decided(profile))
}

/// x / q. A quotient of floats is correct to 2.5 ULP. A quotient by a power of two is exact.
fn quotient(x: Inexact, q: Inexact) -> Inexact {
    let value = x.value / q.value;
    let fraction = q.value.to_bits() << 12;
    let allowed = match x.allowed.is_any() || q.allowed.is_any() {
        true => Interval::ANY,
        false if fraction == 0 => Interval::point(value),
        false => Interval::point(value).widened(value.abs() / f64::from(1 << 21)),
    };
    Inexact { value, allowed }
}

/// A 32-bit integer, with the signedness of its type.
fn integer(config: &Config<'_>, id: u32, scalar: Scalar) -> i64 {
    match config.module.shape(id).scalar {
        Component::Int { signed: true, .. } => i64::from(scalar.bits as u32 as i32),
        _ => i64::from(scalar.bits as u32),
    }
}

/// The offsets in an operand: one integer along each axis, or an array of such offsets.
fn offsets(config: &Config<'_>, id: u32, shape: Shape) -> Option<Vec<[i32; 3]>> {
    let offset_of = |scalars: &[Scalar]| [0, 1, 2].map(|axis: usize| scalars.get(axis).map_or(0, |s| s.bits as u32 as i32));
    Some(config.scalars(id)?.chunks_exact(shape.axes()).map(offset_of).collect())
}

/// Why devices may have other offsets, as the result of an operation in doubt. `None` if all have
/// the same.
fn doubt_of(config: &Config<'_>, id: u32) -> Option<Why> {
    config.scalars(id)?.iter().find_map(|s| s.trust.doubt)
}

/// The offset of the next instruction, and why it is in doubt, if it is.
fn offset(config: &Config<'_>, head: &Instruction) -> Option<([i32; 3], Option<Why>)> {
    let constant = image_operand(config, head, ImageOperands::CONST_OFFSET);
    match constant.or_else(|| image_operand(config, head, ImageOperands::OFFSET)) {
        None => Some(([0; 3], None)),
        Some(ids) => {
            let shape = shape_of(config, *config.operands(head).first()?)?;
            Some((*offsets(config, ids[0], shape)?.first()?, doubt_of(config, ids[0])))
        }
    }
}

/// The evaluated operands of a sampling or gathering instruction.
struct Source<'e> {
    sampling: Sampling<'e>,
    /// The coordinates, after projection.
    at: Location,
    /// The depth reference, after projection.
    reference: Option<Inexact>,
    /// The origin, if every component of the result is an undefined value.
    undefined: Option<Origin>,
    /// Why the offset is in doubt, if it is.
    doubt: Option<Why>,
    /// Whether coordinates, reference and other operands are also the same without float controls.
    certified: bool,
    /// Whether the intervals cover all that is open, in a run over sets.
    bounded: bool,
}

/// Evaluates the operands of the next instruction, which samples or gathers.
fn source<'e>(env: &Env<'e>, config: &Config<'_>) -> Option<Source<'e>> {
    let head = config.head()?;
    let operands = config.operands(head);
    let descriptor = config.descriptor(operands[0])?;
    let images = env.shared.images();
    let (image, sampler) = (images.image(descriptor.image?), images.sampler(descriptor.sampler?));
    let coordinate = config.scalars(operands[1])?;
    let (shape, mut reference) = (image.shape(), None);
    let (directions, zero) = (shape.directions(), Inexact::exact(0.0));
    let mut at = [zero; 3];
    for (x, scalar) in at.iter_mut().zip(coordinate.get(..directions)?) {
        *x = inexact(env, *scalar);
    }
    let layer = coordinate.get(directions).filter(|_| shape.is_layered()).map_or(zero, |scalar| inexact(env, *scalar));
    let mut undefined = None;
    if compares(head.op) {
        let scalar = config.scalar(operands[2])?;
        (reference, undefined) = (Some(inexact(env, scalar)), scalar.undefined);
    }
    if projects(head.op) {
        let q = inexact(env, *coordinate.get(2)?);
        (at, reference) = (at.map(|x| quotient(x, q)), reference.map(|x| quotient(x, q)));
    }
    let (offset, doubt) = offset(config, head)?;
    let grouped = operands_of(config, head);
    let has_offset = offset != [0; 3] || grouped.get(ImageOperands::CONST_OFFSETS).is_some();
    if is_unfit(head.op, image, sampler, has_offset) {
        undefined = undefined.or(Some(origin(env, config, Unspecified::ImageSampler)));
    }
    let precision = images.precision(image.format());
    let sampling = Sampling { image, sampler, precision, rules: &env.calculator.images, offset };
    let ids = grouped.leading[1..].iter().chain(grouped.ids);
    let certified = ids.clone().flat_map(|&id| config.scalars(id).unwrap_or_default()).all(|scalar| scalar.trust.grid.is_some());
    let bounded = are_certain(env, config, ids);
    Some(Source { sampling, at: Location { at, layer }, reference, undefined, doubt, certified, bounded })
}

impl Source<'_> {
    /// The result as scalars. A sample with a depth reference has one, others four.
    fn scalars(&self, env: &Env<'_>, config: &Config<'_>, found: Result<Sampled, SamplerError>, count: usize) -> Scalars {
        let found = match (self.undefined, found) {
            (Some(origin), _) => return std::iter::repeat_n(Scalar::undefined(origin), count).collect(),
            (None, Ok(found)) => found,
            (None, Err(_)) => Sampled { bits: [0; 4], undefined: [Some(Unspecified::ImageSampler); 4], allowed: Allowed::any() },
        };
        let format = self.sampling.image.format();
        // Zeros of float formats may have either sign, and filters sum. All other zeros are exact.
        let zero_sign = |c: usize| format.numeric() != Numeric::Float || self.reference.is_some() || c >= format.channels().len();
        let component = |c: usize| {
            let scalar = match found.undefined[c] {
                Some(kind) => Scalar::undefined(origin(env, config, kind)),
                None => texel_scalar(format.numeric(), found.bits[c], found.allowed.hull(c), zero_sign(c)),
            };
            let scalar = put_in_doubt(scalar, self.doubt);
            let scalar = if self.certified { scalar } else { Scalar { trust: Trust { grid: None, ..scalar.trust }, ..scalar } };
            let allowed = || found.allowed.0.iter().fold(Set::NONE, |set, one| set.union(Set::of_f32(one[c])));
            let is_float = self.bounded && self.doubt.is_none() && !format.numeric().is_integer();
            if is_float { with_cell(env, scalar, allowed) } else { scalar }
        };
        (0..count).map(component).collect()
    }
}

/// Gives a cell to a scalar in a run over sets, if it is not decided.
fn with_cell(env: &Env<'_>, scalar: Scalar, allowed: impl Fn() -> Set) -> Scalar {
    let Some(sets) = env.over.filter(|sets| scalar.undefined.is_none() && !scalar.trust.is_decided(sets.borrow().profile())) else {
        return scalar;
    };
    let set = allowed();
    let why = scalar.trust.doubt.unwrap_or(Why::Texel);
    match sets.borrow_mut().any_of(scalar.lane().float(), set, why) {
        Ok(lane) if set.is_bounded() => Scalar { trust: Trust { cell: lane.trust.cell, ..scalar.trust }, ..scalar },
        _ => scalar,
    }
}

/// The scalar, in doubt for this reason too.
fn put_in_doubt(scalar: Scalar, why: Option<Why>) -> Scalar {
    match why {
        Some(why) => Scalar { trust: scalar.trust.in_doubt(why), ..scalar },
        None => scalar,
    }
}

/// The result of the next instruction, which samples, at this level of detail. `certified` says
/// that the level is the same without float controls.
fn sample(env: &Env<'_>, config: &Config<'_>, lod: Lod, certified: bool) -> Option<Scalars> {
    let mut source = source(env, config)?;
    source.certified &= certified;
    let found = source.sampling.sample(source.at, lod, source.reference);
    Some(source.scalars(env, config, found, if source.reference.is_some() { 1 } else { 4 }))
}

/// The level of detail by the operands of the next instruction: Lod, or the derivatives of Grad.
fn explicit_lod(env: &Env<'_>, config: &Config<'_>, head: &Instruction) -> Option<Lod> {
    if let Some(ids) = image_operand(config, head, ImageOperands::LOD) {
        return Some(Lod::Explicit(inexact(env, config.scalar(ids[0])?)));
    }
    let ids = image_operand(config, head, ImageOperands::GRAD)?;
    let derivative = |id: u32| {
        let scalars = config.scalars(id)?;
        Some([0, 1, 2].map(|axis: usize| scalars.get(axis).map_or(Inexact::exact(0.0), |scalar| inexact(env, *scalar))))
    };
    Some(Lod::Derivatives { dx: derivative(ids[0])?, dy: derivative(ids[1])?, bias: 0.0 })
}

fn sample_explicit<'m>(env: &Env<'_>, config: &Config<'m>, op: Op) -> Option<Next<'m>> {
    let (head, _) = next_with_defined_choice(config, op)?;
    let scalars = sample(env, config, explicit_lod(env, config, head)?, true)?;
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// The configuration after the next instruction, whose level of detail comes from the quad.
fn resume_sample<'m>(env: &Env<'_>, config: &Config<'m>, derivatives: &Derivatives) -> Option<Next<'m>> {
    let head = config.head()?;
    let derivatives_of = [&derivatives.rows, &derivatives.columns];
    let directions = shape_of(config, *config.operands(head).first()?)?.directions();
    let mut parts = derivatives_of.iter().flat_map(|pair| pair.iter()).flat_map(|scalars| scalars.iter().take(directions));
    let bias = image_operand(config, head, ImageOperands::BIAS).map_or(Some(certain(0)), |ids| config.scalar(ids[0]))?;
    let scalars = match parts.clone().find_map(|scalar| scalar.undefined) {
        Some(origin) => std::iter::repeat_n(Scalar::undefined(origin), config.module.shape(head.result).lanes()).collect(),
        None => {
            // The rows of a quad may have different derivatives, and so may its columns. A device
            // may use those of the first or its own.
            let either = |[first, second]: &[Scalars; 2], c: usize| {
                let (first, second) = (inexact(env, *first.get(c)?), inexact(env, *second.get(c)?));
                Some(Inexact { allowed: first.allowed.hull(second.allowed), ..first })
            };
            let along_axes = |pair: &[Scalars; 2]| {
                let mut along_axes = [Inexact::exact(0.0); 3];
                for (axis, x) in along_axes.iter_mut().enumerate().take(directions) {
                    *x = either(pair, axis)?;
                }
                Some(along_axes)
            };
            let [dx, dy] = derivatives_of.map(along_axes);
            let certified = parts.all(|scalar| scalar.trust.grid.is_some());
            sample(env, config, Lod::Derivatives { dx: dx?, dy: dy?, bias: f32::from_bits(bias.bits as u32) }, certified)?
        }
    };
    // An open bias bounds nothing.
    let open = env.over.is_some_and(|sets| !bias.trust.is_decided(sets.borrow().profile()));
    let why = bias.trust.doubt.or(open.then_some(Why::Approximate));
    let scalars = scalars.into_iter().map(|scalar| put_in_doubt(scalar, why)).collect();
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

fn sample_implicit<'m>(config: &Config<'m>, op: Op) -> Option<Next<'m>> {
    let (_, operands) = next_with_defined_choice(config, op)?;
    Some(Next::Awaits(Awaited { instruction: config.index(), value: operands[1], resume: resume_sample }))
}

/// M, (r = OpImageSampleImplicitLod τ a x b…, I), c, p → M[r ↦ M(a) sampled at M(x) with the level
/// of detail of its derivatives in the quad], I, c, p once its invocations have arrived
/// [spirv/image-sample-implicit-lod, SPIR-V §3.3.10]
pub fn image_sample_implicit_lod<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_implicit(config, Op::ImageSampleImplicitLod)
}

/// M, (r = OpImageSampleDrefImplicitLod τ a x d b…, I), c, p → M[r ↦ M(a) sampled at M(x), each
/// texel compared with M(d)], I, c, p likewise
///                                                           [spirv/image-sample-dref-implicit-lod,
///                                                              SPIR-V §3.3.10]
pub fn image_sample_dref_implicit_lod<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_implicit(config, Op::ImageSampleDrefImplicitLod)
}

/// M, (r = OpImageSampleExplicitLod τ a x l…, I), c, p → M[r ↦ M(a) sampled at M(x) with the level
/// of detail of M(l)…], I, c, p
///                                                              [spirv/image-sample-explicit-lod,
///                                                              SPIR-V §3.3.10]
pub fn image_sample_explicit_lod<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_explicit(env, config, Op::ImageSampleExplicitLod)
}

/// M, (r = OpImageSampleDrefExplicitLod τ a x d l…, I), c, p → M[r ↦ M(a) sampled at M(x), each
/// texel compared with M(d)], I, c, p
///                                                           [spirv/image-sample-dref-explicit-lod,
///                                                              SPIR-V §3.3.10]
pub fn image_sample_dref_explicit_lod<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_explicit(env, config, Op::ImageSampleDrefExplicitLod)
}

/// M, (r = OpImageSampleProjExplicitLod τ a x l…, I), c, p → M[r ↦ M(a) sampled at M(x) over its
/// last component], I, c, p
///                                                           [spirv/image-sample-proj-explicit-lod,
///                                                              SPIR-V §3.3.10]
pub fn image_sample_proj_explicit_lod<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_explicit(env, config, Op::ImageSampleProjExplicitLod)
}

/// M, (r = OpImageSampleProjDrefExplicitLod τ a x d l…, I), c, p → M[r ↦ M(a) sampled at M(x), each
/// texel compared with M(d), both over the last component of M(x)], I, c, p
/// [spirv/image-sample-proj-dref-explicit-lod, SPIR-V §3.3.10]
pub fn image_sample_proj_dref_explicit_lod<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    sample_explicit(env, config, Op::ImageSampleProjDrefExplicitLod)
}

/// The gathered component M(n), or comparison, of the four texels around M(x). With ConstOffsets,
/// the first texel of each of four footprints (Vulkan, Texel Gathering).
fn gather(env: &Env<'_>, config: &Config<'_>, head: &Instruction, component: usize) -> Option<Scalars> {
    /// The index of the footprint's first texel, i0j0, among the gathered texels.
    const FIRST: usize = 3;
    let source = source(env, config)?;
    let gather = |offset: [i32; 3]| {
        let sampling = Sampling { offset, ..source.sampling };
        source.scalars(env, config, sampling.gather(source.at, component, source.reference), 4)
    };
    match image_operand(config, head, ImageOperands::CONST_OFFSETS) {
        None => Some(gather(source.sampling.offset)),
        Some(ids) => {
            let shape = source.sampling.image.shape();
            Some(offsets(config, ids[0], shape)?.into_iter().take(4).map(|offset| gather(offset)[FIRST]).collect())
        }
    }
}

/// M, (r = OpImageGather τ a x n, I), c, p → M[r ↦ component M(n) of the four texels around M(x)],
/// I, c, p
///                                                              [spirv/image-gather, SPIR-V
///                                                              §3.3.10]
pub fn image_gather<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = next_with_defined_choice(config, Op::ImageGather)?;
    let component = config.scalar(operands[2])?.bits as usize;
    Some(Next::Config(config.defining(head.result, Value::Scalars(gather(env, config, head, component)?))))
}

/// M, (r = OpImageDrefGather τ a x d, I), c, p → M[r ↦ the four texels around M(x), each compared
/// with M(d)], I, c, p
///                                                              [spirv/image-dref-gather, SPIR-V
///                                                              §3.3.10]
pub fn image_dref_gather<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, _) = next_with_defined_choice(config, Op::ImageDrefGather)?;
    Some(Next::Config(config.defining(head.result, Value::Scalars(gather(env, config, head, 0)?))))
}

/// The image of the next instruction, the integer coordinates in it without the offset, and why
/// they are in doubt, if they are.
fn texel_place(config: &Config<'_>, operands: &[u32]) -> Option<(u32, [i64; 3], Option<Why>)> {
    let shape = shape_of(config, operands[0])?;
    let coordinate = config.scalars(operands[1])?;
    let coordinate = coordinate.get(..shape.integers())?;
    let doubt = coordinate.iter().find_map(|s| s.trust.doubt);
    let integers: SmallVec<[i64; 3]> = coordinate.iter().map(|s| integer(config, operands[1], *s)).collect();
    Some((config.descriptor(operands[0])?.image?, shape.place(&integers), doubt))
}

/// Reads the texel of an image at integer coordinates in a level. `doubt` is why the access is in
/// doubt. If a device may have another float, as the format rounds, the float gets the set of them.
fn read(env: &Env<'_>, config: &Config<'_>, (image, at, level): (u32, [i64; 3], i64), doubt: Option<Why>) -> Scalars {
    let images = env.shared.images();
    let is_float = !images.image(image).format().numeric().is_integer();
    let texel = images.read(&env.calculator.images, image, at, level, |kind| origin(env, config, kind));
    let component = |(scalar, allowed): (Scalar, Option<Interval>)| match (doubt, allowed) {
        (None, Some(allowed)) if is_float => with_cell(env, scalar, || Set::of_f32(allowed)),
        _ => put_in_doubt(scalar, doubt),
    };
    texel.into_iter().map(component).collect()
}

/// M, (r = OpImageFetch τ a x l…, I), c, p → M[r ↦ the texel of M(a) at M(x) of the level M(l)], I,
/// c, p [spirv/image-fetch, SPIR-V §3.3.10]
pub fn image_fetch<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = next_with_defined_choice(config, Op::ImageFetch)?;
    let (image, mut at, doubt) = texel_place(config, operands)?;
    let (level, level_doubt) = match image_operand(config, head, ImageOperands::LOD) {
        None => (0, None),
        Some(ids) => (integer(config, ids[0], config.scalar(ids[0])?), doubt_of(config, ids[0])),
    };
    let (offset, offset_doubt) = offset(config, head)?;
    let axes = shape_of(config, operands[0])?.axes();
    for (x, offset) in at.iter_mut().zip(offset).take(axes) {
        *x += i64::from(offset);
    }
    let scalars = read(env, config, (image, at, level), doubt.or(level_doubt).or(offset_doubt));
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// M, (r = OpImageRead τ a x, I), c, p → M[r ↦ the texel of M(a) at M(x)], I, c, p
/// [spirv/image-read, SPIR-V §3.3.10]
pub fn image_read<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = next_with_defined_choice(config, Op::ImageRead)?;
    let (image, at, doubt) = texel_place(config, operands)?;
    let after_doubt = env.shared.is_written(ObjectId::Image(image)) && env.shared.is_doubtful_reader(env.invocation);
    let scalars = read(env, config, (image, at, 0), doubt.or(after_doubt.then_some(Why::Control)));
    let next = config.defining(head.result, Value::Scalars(scalars));
    Some(Next::Acts(next, vec![Action::Load(env.shared.images().extent(image, at))]))
}

/// M, (OpImageWrite a x v, I), c, p → M, I, c, p with M(v) as the texel of M(a) at M(x), if there
/// is one [spirv/image-write, SPIR-V §3.3.10]
pub fn image_write<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = next_with_defined_choice(config, Op::ImageWrite)?;
    let (image, at, _) = texel_place(config, operands)?;
    let format = env.shared.images().image(image).format();
    let texel = config.scalars(operands[2])?;
    let mut stored: Scalars = (0..format.channels().len())
        .map(|c| match texel.get(c) {
            None => Scalar::undefined(origin(env, config, Unspecified::ImageConversion)),
            Some(scalar) if scalar.undefined.is_some() => *scalar,
            Some(scalar) => match image::pack(format.numeric(), format.channels()[c].width, scalar.bits as u32).any {
                Some(kind) => Scalar::undefined(origin(env, config, kind)),
                None => *scalar,
            },
        })
        .collect();
    config.control.mark_scalars(&mut stored);
    let mut next = config.advanced(1);
    // A device may write another texel, so anything may follow.
    let integers = shape_of(config, operands[0])?.integers();
    for scalar in config.scalars(operands[1])?.iter().take(integers) {
        next.control = next.control.after(scalar.trust);
    }
    match next.helper {
        true => Some(Next::Config(next)),
        false => Some(Next::Acts(next, vec![Action::Store(env.shared.images().extent(image, at), stored)])),
    }
}

/// An integer that is the same on every device.
fn certain(bits: u32) -> Scalar {
    Scalar { bits: bits.into(), trust: Trust::CERTAIN, undefined: None }
}

/// M, (r = OpImageQuerySize τ a, I), c, p → M[r ↦ width, height and depth or layers of M(a)], I,
/// c, p, as far as its type has them, and OpImageQuerySizeLod of the level M(l)
///                                                              [spirv/image-query-size, SPIR-V
///                                                              §3.3.10]
pub fn image_query_size<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(SIZES)?;
    let image = env.shared.images().image(config.descriptor(operands[0])?.image?);
    let (level, scalar) = match operands.get(1) {
        None => (0, certain(0)),
        Some(&id) => {
            let scalar = config.scalar(id)?;
            (integer(config, id, scalar), scalar)
        }
    };
    let every_component = |scalar: Scalar| image.shape().queried().iter().map(|_| scalar).collect();
    let scalars: Scalars = match (scalar.undefined, image.query_size(level)) {
        (Some(origin), _) => every_component(Scalar::undefined(origin)),
        (None, Err(kind)) => every_component(Scalar::undefined(origin(env, config, kind))),
        (None, Ok(size)) => size.into_iter().map(|side| put_in_doubt(certain(side), scalar.trust.doubt)).collect(),
    };
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// M, (r = OpImageQueryLevels τ a, I), c, p → M[r ↦ how many levels M(a) has], I, c, p
/// [spirv/image-query-levels, SPIR-V §3.3.10]
pub fn image_query_levels<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::ImageQueryLevels)?;
    let image = env.shared.images().image(config.descriptor(operands[0])?.image?);
    Some(Next::Config(config.defining(head.result, Value::Scalars(Scalars::from_slice(&[certain(image.levels())])))))
}

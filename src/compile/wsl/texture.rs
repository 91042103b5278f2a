//! Textures and samplers: seed 003 "Textures", "Samplers", "Intrinsic functions", todos there.
//!
//! A texture is an OpTypeImage. A one-dimensional texture becomes a two-dimensional image of
//! height 1, since wgpu has no layers or levels of 1D images. A variable is declared at the first
//! use of a texture or sampler. Each kind of use that needs another binding has a variable of its
//! own ([`SamplerUse`]).
//!
//! Nothing is undefined. The coordinates, layer and level of a load are clamped to the texture. A
//! store outside of the texture does nothing. A gather of a component that the elements do not have
//! gathers the first component. SPIR-V requires constant offsets, from -8 to 7. Any other offset
//! becomes a switch over all of these ([`Compiler::moved`]).

use super::emit::{Id, Operands};
use super::place::{Place, Value};
use super::{Binding, BindingKind, Compiler, Construct, Done, SamplerUse};
use rspirv::spirv::{Capability, Decoration, Dim, GlslStd450Op as Glsl, ImageFormat, ImageOperands, Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::image::{Format, Numeric, Shape};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::library::{LibraryFunction, Meaning};
use smallstep_semantics::wsl::texture::{is_writable, sampling, shape};
use smallstep_semantics::wsl::types::{Scalar, TextureKind, Type, TypeId};
use std::collections::BTreeSet;

/// The least texel offset of a sample.
const LEAST_OFFSET: i32 = *sampling::OFFSETS.start();
/// The number of offsets along an axis.
const OFFSETS: u32 = (*sampling::OFFSETS.end() - LEAST_OFFSET + 1) as u32;

/// The textures and samplers of the entry point.
#[derive(Debug, Default)]
pub(super) struct Textures {
    opaques: Vec<Opaque>,
    /// The variables, by index in `opaques` and by use.
    variables: FxHashMap<(usize, Use), Id>,
    capabilities: BTreeSet<u32>,
}

/// A texture or sampler of the entry point.
#[derive(Clone, Debug)]
struct Opaque {
    register: String,
    names: Vec<String>,
    set: u32,
    ty: TypeId,
}

/// The use of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Use {
    /// A texture.
    Texture,
    /// A texture whose depths are compared.
    Depths,
    /// A sampler.
    Sampler(SamplerUse),
}

/// The texture of a call.
#[derive(Clone, Copy, Debug)]
struct Texture {
    number: usize,
    kind: TextureKind,
    /// The scalar type of its elements. `components` is their number of components.
    scalar: Scalar,
    components: u8,
    /// The shape of its image in the module.
    shape: Shape,
    /// Whether it is one-dimensional in the program.
    is_row: bool,
}

/// A call that samples or gathers. `middle` is the operand between the coordinates and the image
/// operands: the reference or the component.
#[derive(Clone, Debug)]
struct Sampling {
    op: Op,
    result: Id,
    image: Id,
    sampler: Id,
    coordinates: Id,
    middle: Option<Id>,
    mask: ImageOperands,
    operands: Operands,
}

impl Textures {
    /// The capabilities that the emitted instructions need.
    pub(super) fn capabilities(&self) -> impl Iterator<Item = Capability> {
        self.capabilities.iter().filter_map(|&c| Capability::from_u32(c))
    }

    fn need(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }
}

/// The shape of a texture's image in the module.
fn image_shape(kind: TextureKind) -> Shape {
    match shape(kind) {
        Shape::D1 => Shape::D2,
        Shape::D1Array => Shape::D2Array,
        other => other,
    }
}

/// The SPIR-V format of a storage image. `None` for a format that no storage image has.
fn storage_format(format: Format) -> Option<ImageFormat> {
    // RWTextureDepth is a texture of one float.
    let format = match format {
        Format::D16Unorm => Format::R16Unorm,
        Format::D32Sfloat => Format::R32Sfloat,
        other => other,
    };
    (1..=ImageFormat::R8ui as u32).filter_map(ImageFormat::from_u32).find(|of| Format::of_spirv(*of) == Some(format))
}

/// Whether every Vulkan device supports the storage format without a capability of its own.
fn is_common(format: ImageFormat) -> bool {
    use ImageFormat as F;
    matches!(
        format,
        F::Rgba32f
            | F::Rgba16f
            | F::R32f
            | F::Rgba8
            | F::Rgba8Snorm
            | F::Rgba32i
            | F::Rgba16i
            | F::Rgba8i
            | F::R32i
            | F::Rgba32ui
            | F::Rgba16ui
            | F::Rgba8ui
            | F::R32ui
    )
}

/// The format with 32 bits for each component. Three components take a format of four.
fn wide_format(scalar: Scalar, components: u8) -> Format {
    match (scalar, components) {
        (Scalar::Int, 1) => Format::R32Sint,
        (Scalar::Int, 2) => Format::Rg32Sint,
        (Scalar::Int, _) => Format::Rgba32Sint,
        (Scalar::Uint | Scalar::Bool, 1) => Format::R32Uint,
        (Scalar::Uint | Scalar::Bool, 2) => Format::Rg32Uint,
        (Scalar::Uint | Scalar::Bool, _) => Format::Rgba32Uint,
        (Scalar::Float, 1) => Format::R32Sfloat,
        (Scalar::Float, 2) => Format::Rg32Sfloat,
        (Scalar::Float, _) => Format::Rgba32Sfloat,
    }
}

impl Compiler<'_> {
    /// Registers a texture or sampler of the entry point. Returns its index in `opaques`.
    pub(super) fn opaque(&mut self, register: String, name: &str, set: u32, ty: TypeId) -> usize {
        let opaques = &mut self.textures.opaques;
        if let Some(k) = opaques.iter().position(|o| o.register == register && o.ty == ty) {
            if !opaques[k].names.iter().any(|n| n == name) {
                opaques[k].names.push(name.into());
            }
            return k;
        }
        opaques.push(Opaque { register, names: vec![name.into()], set, ty });
        opaques.len() - 1
    }

    /// The variable of a texture or sampler for that use, and the type of its contents.
    fn opaque_variable(&mut self, number: usize, of: Use) -> Done<(Id, Id)> {
        let Some(opaque) = self.textures.opaques.get(number).cloned() else { return self.unforeseen("this texture or sampler") };
        let (ty, kind) = match (of, self.program.env.types.get(opaque.ty)) {
            (Use::Sampler(of), Type::Sampler) => {
                let saved = self.e.enter(Rule::CodegenSamplerBinding);
                let ty = self.e.declare(Op::TypeSampler, None, &[]);
                self.e.rule = saved;
                (ty, BindingKind::Sampler(of))
            }
            (Use::Texture | Use::Depths, Type::Texture(kind, element)) => self.image_type(&opaque, kind, element, of == Use::Depths)?,
            _ => return self.unforeseen("this texture or sampler"),
        };
        if let Some(&id) = self.textures.variables.get(&(number, of)) {
            return Ok((id, ty));
        }
        let (set, binding) = (opaque.set, self.next_binding(&opaque.register, opaque.set, &kind));
        let saved = self.e.enter(Rule::CodegenTypeTexture);
        let pointer = self.pointer(StorageClass::UniformConstant, ty);
        let id = self.e.declare_new(Op::Variable, Some(pointer), &[StorageClass::UniformConstant as u32]);
        self.e.name(id, opaque.names.first().map_or("", String::as_str));
        self.e.enter(Rule::CodegenBufferBinding);
        self.e.decorate(id, Decoration::DescriptorSet, &[set]);
        self.e.decorate(id, Decoration::Binding, &[binding]);
        self.e.rule = saved;
        self.bindings.push(Binding { register: opaque.register, names: opaque.names, set, binding, kind });
        self.variables.push(id);
        self.textures.variables.insert((number, of), id);
        Ok((id, ty))
    }

    fn image_type(&mut self, opaque: &Opaque, kind: TextureKind, element: TypeId, depths: bool) -> Done<(Id, BindingKind)> {
        let Some(elements) = self.shape(element) else { return self.unforeseen("a texture of these elements") };
        let (shape, component) = (image_shape(kind), self.scalar(elements.scalar));
        let dim = match shape {
            Shape::D3 => Dim::Dim3D,
            Shape::Cube => Dim::DimCube,
            _ => Dim::Dim2D,
        };
        let arrayed = u32::from(shape.is_layered());
        if !is_writable(kind) {
            let saved = self.e.enter(Rule::CodegenTypeTexture);
            let operands = [component, dim as u32, depths.into(), arrayed, 0, 1, ImageFormat::Unknown as u32];
            let ty = self.e.declare(Op::TypeImage, None, &operands);
            self.e.rule = saved;
            return Ok((ty, BindingKind::Sampled(opaque.ty, shape)));
        }
        let bound_format = self.formats.iter().find(|(register, _)| *register == opaque.register);
        let format = bound_format.map_or(wide_format(elements.scalar, elements.rows), |(_, format)| *format);
        let Some(image_format) = storage_format(format) else {
            return self.refuse(Construct::Format, format!("a texture of the format {}, which no storage image has,", format.name()));
        };
        if !is_common(image_format) {
            self.textures.need(Capability::StorageImageExtendedFormats);
        }
        let saved = self.e.enter(Rule::CodegenStorageFormat);
        let ty = self.e.declare(Op::TypeImage, None, &[component, dim as u32, 0, arrayed, 0, 2, image_format as u32]);
        self.e.rule = saved;
        // A depth format becomes the colour format with the same codes.
        let format = Format::of_spirv(image_format).unwrap_or(format);
        Ok((ty, BindingKind::Storage(opaque.ty, shape, format)))
    }

    /// A call of a texture function.
    pub(super) fn call_of_texture(&mut self, f: LibraryFunction, values: &[Value], types: &[TypeId], ty: TypeId) -> Done<Value> {
        let meaning = f.meaning();
        let texture = self.texture_of(values, types)?;
        match meaning {
            Meaning::Load if is_writable(texture.kind) => {
                let ids = self.ids_of(&values[1..])?;
                self.read_texel(texture, &ids, &types[1..], ty).map(Value::Id)
            }
            Meaning::Load => {
                let ids = self.ids_of(&values[1..])?;
                self.fetch(texture, &ids, &types[1..], ty).map(Value::Id)
            }
            Meaning::Store => {
                let ids = self.ids_of(&values[1..])?;
                self.write_texel(texture, &ids, &types[1..])?;
                Ok(Value::Void)
            }
            Meaning::GetDimensions => {
                self.dimensions(texture, &values[1..], &types[1..])?;
                Ok(Value::Void)
            }
            _ => {
                let Some(Value::Sampler(sampler)) = values.get(1) else { return self.unforeseen("this sampler") };
                let ids = self.ids_of(&values[2..])?;
                if sampling::is_gather(meaning) {
                    return self.gather(texture, *sampler, meaning, (&ids, &types[2..]), ty).map(Value::Id);
                }
                self.sample(texture, *sampler, meaning, (&ids, &types[2..]), ty).map(Value::Id)
            }
        }
    }

    fn texture_of(&self, values: &[Value], types: &[TypeId]) -> Done<Texture> {
        let (Some(Value::Texture(number)), Some(ty)) = (values.first(), types.first()) else { return self.unforeseen("this texture") };
        let Type::Texture(kind, element) = self.program.env.types.get(*ty) else { return self.unforeseen("this texture") };
        let Some(elements) = self.shape(element) else { return self.unforeseen("a texture of these elements") };
        let is_row = matches!(shape(kind), Shape::D1 | Shape::D1Array);
        let (scalar, components) = (elements.scalar, elements.rows);
        Ok(Texture { number: *number, kind, scalar, components, shape: image_shape(kind), is_row })
    }

    fn ids_of(&self, values: &[Value]) -> Done<Vec<Id>> {
        let id = |value: &Value| match value {
            Value::Id(id) => Ok(*id),
            _ => self.unforeseen("this argument of a texture's function"),
        };
        values.iter().map(id).collect()
    }

    /// Loads a texture or sampler.
    fn loaded_opaque(&mut self, number: usize, of: Use) -> Done<Id> {
        let (variable, ty) = self.opaque_variable(number, of)?;
        let saved = self.e.enter(Rule::CodegenTypeTexture);
        let id = self.e.op(Op::Load, ty, &[variable]);
        self.e.rule = saved;
        Ok(id)
    }

    /// The elements of a scalar or vector.
    fn scalars_of(&mut self, id: Id, ty: TypeId) -> Done<Vec<Id>> {
        let Some(shape) = self.shape(ty) else { return self.unforeseen("this argument of a texture's function") };
        if shape.rows == 1 {
            return Ok(vec![id]);
        }
        if let Some(parts) = self.e.parts(id).filter(|parts| parts.len() == usize::from(shape.rows)) {
            return Ok(parts);
        }
        let of = self.scalar(shape.scalar);
        Ok((0..shape.rows.into()).map(|k| self.e.op(Op::CompositeExtract, of, &[id, k])).collect())
    }

    /// One element as a scalar, several as a vector.
    fn vector_of(&mut self, scalar: Scalar, elements: &[Id]) -> Id {
        match elements {
            &[only] => only,
            _ => {
                let ty = self.vector(scalar, elements.len() as u8);
                self.e.op(Op::CompositeConstruct, ty, elements)
            }
        }
    }

    /// Coordinates in the image. A one-dimensional texture gets `second` as its second coordinate.
    fn place_in_image(&mut self, texture: Texture, scalar: Scalar, mut elements: Vec<Id>, second: u32) -> Id {
        if texture.is_row {
            elements.insert(1, self.scalar_constant(scalar, second));
        }
        self.vector_of(scalar, &elements)
    }

    /// The result of a call: the first components of four, as many as the elements have.
    fn first_components(&mut self, texture: Texture, four: Id, ty: TypeId) -> Done<Id> {
        let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenTexelComponents));
        let id = match texture.components {
            4 => four,
            1 => self.e.op(Op::CompositeExtract, of, &[four, 0]),
            n => {
                let mut operands = Operands::from_slice(&[four, four]);
                operands.extend(0..u32::from(n));
                self.e.op(Op::VectorShuffle, of, &operands)
            }
        };
        self.e.rule = saved;
        Ok(id)
    }

    /// The uses of the image and of the sampler in a call.
    fn sampler_use(texture: Texture, compares: bool) -> (Use, Use) {
        match (compares, texture.scalar) {
            (true, _) => (Use::Depths, Use::Sampler(SamplerUse::Compare)),
            (false, Scalar::Float) => (Use::Texture, Use::Sampler(SamplerUse::Filter)),
            (false, _) => (Use::Texture, Use::Sampler(SamplerUse::Choose)),
        }
    }

    /// `Sample…`. The arguments after the sampler are the location, the reference, the bias, the
    /// level or two derivatives, and the offset.
    fn sample(&mut self, texture: Texture, sampler: usize, meaning: Meaning, (ids, types): (&[Id], &[TypeId]), ty: TypeId) -> Done<Id> {
        let compares = matches!(meaning, Meaning::SampleCmp | Meaning::SampleCmpLevelZero);
        let (of_image, of_sampler) = Self::sampler_use(texture, compares);
        let (image, sampler) = (self.loaded_opaque(texture.number, of_image)?, self.loaded_opaque(sampler, of_sampler)?);
        let rule = if compares { Rule::CodegenSampleCompare } else { Rule::CodegenSample };
        let saved = self.e.enter(rule);
        let mut rest = ids.iter().copied().zip(types.iter().copied());
        let Some((location, location_ty)) = rest.next() else { return self.unforeseen("a sample without a location") };
        let elements = self.scalars_of(location, location_ty)?;
        const HALF: u32 = 0x3f00_0000;
        let coordinates = self.place_in_image(texture, Scalar::Float, elements, HALF);
        let middle = if compares { rest.next().map(|(id, _)| id) } else { None };
        let result = if compares { self.scalar(Scalar::Float) } else { self.vector(texture.scalar, 4) };
        let (mut mask, mut operands) = (ImageOperands::NONE, Operands::new());
        match meaning {
            Meaning::SampleBias => {
                mask |= ImageOperands::BIAS;
                operands.extend(rest.next().map(|(id, _)| id));
            }
            Meaning::SampleLevel => {
                mask |= ImageOperands::LOD;
                operands.extend(rest.next().map(|(id, _)| id));
            }
            Meaning::SampleCmpLevelZero => {
                mask |= ImageOperands::LOD;
                operands.push(self.scalar_constant(Scalar::Float, 0));
            }
            Meaning::SampleGrad => {
                mask |= ImageOperands::GRAD;
                for _ in 0..2 {
                    let Some((id, of)) = rest.next() else { return self.unforeseen("a sample without derivatives") };
                    let elements = self.scalars_of(id, of)?;
                    operands.push(self.place_in_image(texture, Scalar::Float, elements, 0));
                }
            }
            _ => {}
        }
        let op = match (compares, mask.intersects(ImageOperands::LOD | ImageOperands::GRAD)) {
            (false, false) => Op::ImageSampleImplicitLod,
            (false, true) => Op::ImageSampleExplicitLod,
            (true, false) => Op::ImageSampleDrefImplicitLod,
            (true, true) => Op::ImageSampleDrefExplicitLod,
        };
        let sampling = Sampling { op, result, image, sampler, coordinates, middle, mask, operands };
        let found = self.with_offset(texture, of_image, rule, sampling, rest.next())?;
        self.e.rule = saved;
        if compares { Ok(found) } else { self.first_components(texture, found, ty) }
    }

    /// Emits the sampling instruction, with the offset if there is one.
    fn with_offset(&mut self, texture: Texture, of_image: Use, rule: Rule, s: Sampling, offset: Option<(Id, TypeId)>) -> Done<Id> {
        let Some((offset, ty)) = offset else { return self.sampled(texture, of_image, rule, &s, None) };
        let elements = self.scalars_of(offset, ty)?;
        let bits: Option<Vec<u32>> = elements.iter().map(|&id| self.e.bits(id)).collect();
        let Some(bits) = bits else { return self.moved(texture, of_image, rule, s, &elements) };
        let offset = self.constant_offset(texture, &bits);
        self.sampled(texture, of_image, rule, &s, Some(offset))
    }

    /// A constant offset, clamped to the bounds. Beyond them, WSL's value is unspecified.
    fn constant_offset(&mut self, texture: Texture, bits: &[u32]) -> Id {
        let saved = self.e.enter(Rule::CodegenTexelOffset);
        let within = |bits: u32| (bits as i32).clamp(LEAST_OFFSET, LEAST_OFFSET + OFFSETS as i32 - 1) as u32;
        let mut elements: Vec<Id> = bits.iter().map(|&b| self.scalar_constant(Scalar::Int, within(b))).collect();
        if texture.is_row {
            elements.insert(1, self.scalar_constant(Scalar::Int, 0));
        }
        let ty = self.vector(Scalar::Int, elements.len() as u8);
        let id = self.e.declare(Op::ConstantComposite, Some(ty), &elements);
        self.e.rule = saved;
        id
    }

    /// Emits the instruction with its OpSampledImage, which must be in the same block.
    fn sampled(&mut self, texture: Texture, of_image: Use, rule: Rule, s: &Sampling, offset: Option<Id>) -> Done<Id> {
        let (_, image_ty) = self.opaque_variable(texture.number, of_image)?;
        let saved = self.e.enter(rule);
        let combined_ty = self.e.declare(Op::TypeSampledImage, None, &[image_ty]);
        let combined = self.e.op(Op::SampledImage, combined_ty, &[s.image, s.sampler]);
        let mut operands = Operands::from_slice(&[combined, s.coordinates]);
        operands.extend(s.middle);
        let mask = if offset.is_some() { s.mask | ImageOperands::CONST_OFFSET } else { s.mask };
        if !mask.is_empty() {
            operands.push(mask.bits());
            operands.extend(s.operands.iter().copied().chain(offset));
        }
        let id = self.e.op(s.op, s.result, &operands);
        self.e.rule = saved;
        Ok(id)
    }

    /// Samples with an offset that is not constant, by a switch over all offsets. An implicit level
    /// comes from the quad, and the invocations of a quad may take different cases. So the
    /// derivatives are computed before the switch.
    fn moved(&mut self, texture: Texture, of_image: Use, rule: Rule, mut s: Sampling, offset: &[Id]) -> Done<Id> {
        if matches!(s.op, Op::ImageSampleImplicitLod | Op::ImageSampleDrefImplicitLod) {
            self.explicit_derivatives(texture, &mut s);
        }
        let saved = self.e.enter(Rule::CodegenTexelOffset);
        let (uint, int) = (self.uint(), self.scalar(Scalar::Int));
        let (eight, fifteen) = (self.scalar_constant(Scalar::Int, LEAST_OFFSET.unsigned_abs()), self.uint_constant(OFFSETS - 1));
        let mut selector = None;
        for (axis, &element) in (0..).zip(offset) {
            let from_least = self.e.op(Op::IAdd, int, &[element, eight]);
            let bits = self.e.op(Op::Bitcast, uint, &[from_least]);
            let bits = self.e.op(Op::BitwiseAnd, uint, &[bits, fifteen]);
            selector = Some(match selector {
                None => bits,
                Some(sum) => {
                    let shift = self.uint_constant(axis * OFFSETS.ilog2());
                    let bits = self.e.op(Op::ShiftLeftLogical, uint, &[bits, shift]);
                    self.e.op(Op::BitwiseOr, uint, &[sum, bits])
                }
            });
        }
        let Some(selector) = selector else { return self.unforeseen("an offset of no axes") };
        let merge = self.e.fresh();
        let cases: Vec<(u32, Id)> = (0..OFFSETS.pow(offset.len() as u32)).map(|k| (k, self.e.fresh())).collect();
        let Some(&(_, default)) = cases.first() else { return self.unforeseen("an offset of no axes") };
        let mut operands = Operands::from_slice(&[selector, default]);
        operands.extend(cases.iter().flat_map(|&(k, label)| [k, label]));
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::Switch, &operands);
        let mut found = Operands::new();
        for (k, label) in cases {
            self.check_room()?;
            self.e.begin(label);
            let bits = |axis: usize| LEAST_OFFSET.wrapping_add((k >> (axis as u32 * OFFSETS.ilog2()) & (OFFSETS - 1)) as i32) as u32;
            let bits: Vec<u32> = (0..offset.len()).map(bits).collect();
            let offset = self.constant_offset(texture, &bits);
            let id = self.sampled(texture, of_image, rule, &s, Some(offset))?;
            found.extend([id, label]);
            self.e.enter(Rule::CodegenTexelOffset);
            self.e.branch(merge);
        }
        self.e.begin(merge);
        let id = self.e.op(Op::Phi, s.result, &found);
        self.e.rule = saved;
        Ok(id)
    }

    /// Makes the derivatives of the quad explicit. A bias becomes a factor on them.
    fn explicit_derivatives(&mut self, texture: Texture, s: &mut Sampling) {
        let count = texture.shape.directions() as u8;
        let all = self.vector(Scalar::Float, texture.shape.coordinates() as u8);
        let directions = self.vector(Scalar::Float, count);
        let bias = s.operands.first().copied().filter(|_| s.mask.contains(ImageOperands::BIAS));
        let factor = bias.map(|bias| {
            let float = self.scalar(Scalar::Float);
            let saved = self.e.enter(Rule::CodegenApproximate);
            let factor = self.e.glsl(Glsl::Exp2, float, &[bias]);
            self.e.rule = saved;
            factor
        });
        let mut operands = Operands::new();
        for op in [Op::DPdx, Op::DPdy] {
            let mut id = self.e.op(op, all, &[s.coordinates]);
            if texture.shape.is_layered() {
                let mut parts = Operands::from_slice(&[id, id]);
                parts.extend(0..u32::from(count));
                id = self.e.op(Op::VectorShuffle, directions, &parts);
            }
            if let Some(factor) = factor {
                id = self.e.op(Op::VectorTimesScalar, directions, &[id, factor]);
            }
            operands.push(id);
        }
        s.op = if s.middle.is_some() { Op::ImageSampleDrefExplicitLod } else { Op::ImageSampleExplicitLod };
        (s.mask, s.operands) = (ImageOperands::GRAD, operands);
    }

    /// `Gather…`. The arguments after the sampler are the location, the reference and the offset.
    fn gather(&mut self, texture: Texture, sampler: usize, meaning: Meaning, (ids, types): (&[Id], &[TypeId]), ty: TypeId) -> Done<Id> {
        let compares = meaning == Meaning::GatherCmp;
        let (of_image, of_sampler) = Self::sampler_use(texture, compares);
        let (image, sampler) = (self.loaded_opaque(texture.number, of_image)?, self.loaded_opaque(sampler, of_sampler)?);
        let rule = if compares { Rule::CodegenGatherCompare } else { Rule::CodegenGather };
        let saved = self.e.enter(rule);
        let mut rest = ids.iter().copied().zip(types.iter().copied());
        let Some((coordinates, _)) = rest.next() else { return self.unforeseen("a gather without a location") };
        let component = match meaning {
            Meaning::GatherGreen => 1,
            Meaning::GatherBlue => 2,
            Meaning::GatherAlpha => 3,
            _ => 0,
        };
        let middle = match compares {
            true => rest.next().map(|(id, _)| id),
            // A component that the elements do not have is unspecified in WSL.
            false => Some(self.uint_constant(if component < texture.components.into() { component } else { 0 })),
        };
        let op = if compares { Op::ImageDrefGather } else { Op::ImageGather };
        let (mask, operands) = (ImageOperands::NONE, Operands::new());
        let sampling = Sampling { op, result: self.ty(ty)?, image, sampler, coordinates, middle, mask, operands };
        let found = self.with_offset(texture, of_image, rule, sampling, rest.next())?;
        self.e.rule = saved;
        Ok(found)
    }

    /// The numbers that a size query returns, of a level or of an image without levels.
    fn image_size(&mut self, texture: Texture, image: Id, level: Option<Id>) -> Vec<Id> {
        self.textures.need(Capability::ImageQuery);
        let n = texture.shape.queried().len() as u8;
        let (of, uint) = (self.vector(Scalar::Uint, n), self.uint());
        let size = match level {
            Some(level) => self.e.op(Op::ImageQuerySizeLod, of, &[image, level]),
            None => self.e.op(Op::ImageQuerySize, of, &[image]),
        };
        (0..n.into()).map(|k| self.e.op(Op::CompositeExtract, uint, &[size, k])).collect()
    }

    /// Coordinates as uints, moved by an offset.
    fn integers(&mut self, id: Id, ty: TypeId, offset: Option<(Id, TypeId)>) -> Done<Vec<Id>> {
        let Some(shape) = self.shape(ty) else { return self.unforeseen("these coordinates") };
        let mut elements = self.scalars_of(id, ty)?;
        if let Some((offset, offset_ty)) = offset {
            let int = self.scalar(Scalar::Int);
            for (element, by) in elements.iter_mut().zip(self.scalars_of(offset, offset_ty)?) {
                *element = self.e.op(Op::IAdd, int, &[*element, by]);
            }
        }
        let uint = self.uint();
        if shape.scalar == Scalar::Int {
            for element in &mut elements {
                *element = match self.e.bits(*element) {
                    Some(bits) => self.uint_constant(bits),
                    None => self.e.op(Op::Bitcast, uint, &[*element]),
                };
            }
        }
        Ok(elements)
    }

    /// Clamps each coordinate to the last texel of its side.
    fn within(&mut self, texture: Texture, mut coordinates: Vec<Id>, size: &[Id]) -> Id {
        let saved = self.e.enter(Rule::CodegenTexelClamp);
        if texture.is_row {
            coordinates.insert(1, self.uint_constant(0));
        }
        let (uint, one) = (self.uint(), self.uint_constant(1));
        for (coordinate, &side) in coordinates.iter_mut().zip(size) {
            let last = self.e.op(Op::ISub, uint, &[side, one]);
            *coordinate = self.e.glsl(Glsl::UMin, uint, &[*coordinate, last]);
        }
        let id = self.vector_of(Scalar::Uint, &coordinates);
        self.e.rule = saved;
        id
    }

    /// `Load` of a texture with levels. The level is the last coordinate.
    fn fetch(&mut self, texture: Texture, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Id> {
        let image = self.loaded_opaque(texture.number, Use::Texture)?;
        let (&[at, ..], &[at_ty, ..]) = (ids, types) else { return self.unforeseen("a load without coordinates") };
        let saved = self.e.enter(Rule::CodegenTexelClamp);
        let offset = ids.get(1).copied().zip(types.get(1).copied());
        let mut coordinates = self.integers(at, at_ty, offset)?;
        let Some(level) = coordinates.pop() else { return self.unforeseen("a load without coordinates") };
        self.textures.need(Capability::ImageQuery);
        let (uint, one) = (self.uint(), self.uint_constant(1));
        let levels = self.e.op(Op::ImageQueryLevels, uint, &[image]);
        let last = self.e.op(Op::ISub, uint, &[levels, one]);
        let level = self.e.glsl(Glsl::UMin, uint, &[level, last]);
        let size = self.image_size(texture, image, Some(level));
        let at = self.within(texture, coordinates, &size);
        let four = self.vector(texture.scalar, 4);
        self.e.enter(Rule::CodegenTexelLoad);
        let found = self.e.op(Op::ImageFetch, four, &[image, at, ImageOperands::LOD.bits(), level]);
        self.e.rule = saved;
        self.first_components(texture, found, ty)
    }

    /// `Load` of a writable texture.
    fn read_texel(&mut self, texture: Texture, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Id> {
        let image = self.loaded_opaque(texture.number, Use::Texture)?;
        let (&[at, ..], &[at_ty, ..]) = (ids, types) else { return self.unforeseen("a load without coordinates") };
        let saved = self.e.enter(Rule::CodegenTexelClamp);
        let coordinates = self.integers(at, at_ty, None)?;
        let size = self.image_size(texture, image, None);
        let at = self.within(texture, coordinates, &size);
        let four = self.vector(texture.scalar, 4);
        self.e.enter(Rule::CodegenTexelLoad);
        let found = self.e.op(Op::ImageRead, four, &[image, at]);
        self.e.rule = saved;
        self.first_components(texture, found, ty)
    }

    /// `Store`: the value, then the coordinates. Outside of the texture nothing is stored.
    fn write_texel(&mut self, texture: Texture, ids: &[Id], types: &[TypeId]) -> Done {
        let image = self.loaded_opaque(texture.number, Use::Texture)?;
        let (&[value, at], &[value_ty, at_ty]) = (ids, types) else { return self.unforeseen("a store without coordinates") };
        let saved = self.e.enter(Rule::CodegenTexelStore);
        let mut coordinates = self.integers(at, at_ty, None)?;
        if texture.is_row {
            coordinates.insert(1, self.uint_constant(0));
        }
        let size = self.image_size(texture, image, None);
        let truth = self.scalar(Scalar::Bool);
        let mut is_inside = None;
        for (&coordinate, side) in coordinates.iter().zip(size) {
            let is_within = self.e.op(Op::ULessThan, truth, &[coordinate, side]);
            is_inside = Some(match is_inside {
                None => is_within,
                Some(before) => self.e.op(Op::LogicalAnd, truth, &[before, is_within]),
            });
        }
        let Some(is_inside) = is_inside else { return self.unforeseen("a store without coordinates") };
        let mut components = self.scalars_of(value, value_ty)?;
        self.stored_components(texture, &mut components)?;
        self.e.enter(Rule::CodegenTexelStore);
        let zero = self.scalar_constant(texture.scalar, 0);
        components.resize(4, zero);
        let value = self.vector_of(texture.scalar, &components);
        let at = self.vector_of(Scalar::Uint, &coordinates);
        let (then, merge) = (self.e.fresh(), self.e.fresh());
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[is_inside, then, merge]);
        self.e.begin(then);
        self.e.effect(Op::ImageWrite, &[image, at, value]);
        self.e.branch(merge);
        self.e.begin(merge);
        self.e.rule = saved;
        Ok(())
    }

    /// Gives each component of a stored texel a defined code. A NaN has no defined code in a
    /// normalized format, and neither has an integer outside of the range of the format. WSL leaves
    /// such texels unspecified.
    fn stored_components(&mut self, texture: Texture, components: &mut [Id]) -> Done {
        let (variable, _) = self.opaque_variable(texture.number, Use::Texture)?;
        let place = self.variables.iter().position(|&id| id == variable);
        let Some(BindingKind::Storage(_, _, format)) = place.and_then(|k| self.bindings.get(k)).map(|b| b.kind) else { return Ok(()) };
        let (truth, of, numeric) = (self.scalar(Scalar::Bool), self.scalar(texture.scalar), format.numeric());
        let saved = self.e.enter(Rule::CodegenTexelConvert);
        for (component, channel) in components.iter_mut().zip(format.channels()) {
            *component = match numeric {
                Numeric::Unorm | Numeric::Snorm => {
                    let (is_nan, zero) = (self.e.op(Op::IsNan, truth, &[*component]), self.scalar_constant(Scalar::Float, 0));
                    self.e.op(Op::Select, of, &[is_nan, zero, *component])
                }
                Numeric::Uint if channel.width < 32 => {
                    let greatest = self.uint_constant(u32::MAX >> (32 - channel.width));
                    self.e.glsl(Glsl::UMin, of, &[*component, greatest])
                }
                Numeric::Sint if channel.width < 32 => {
                    let greatest = i32::MAX >> (32 - channel.width);
                    let bounds = [!greatest, greatest].map(|x| self.scalar_constant(Scalar::Int, x as u32));
                    self.e.glsl(Glsl::SClamp, of, &[*component, bounds[0], bounds[1]])
                }
                Numeric::Uint | Numeric::Sint | Numeric::Float => *component,
            };
        }
        self.e.rule = saved;
        Ok(())
    }

    /// `GetDimensions`. The arguments are the level, if there is one, and the pointers.
    fn dimensions(&mut self, texture: Texture, values: &[Value], types: &[TypeId]) -> Done {
        let image = self.loaded_opaque(texture.number, Use::Texture)?;
        let saved = self.e.enter(Rule::CodegenDimensions);
        let (uint, zero) = (self.uint(), self.uint_constant(0));
        let named = match values.first() {
            Some(Value::Id(level)) if types.first() == Some(&TypeId::UINT) => Some(*level),
            _ => None,
        };
        let mut numbers = if is_writable(texture.kind) {
            self.image_size(texture, image, None)
        } else {
            match named {
                None => self.image_size(texture, image, Some(zero)),
                Some(level) => {
                    self.textures.need(Capability::ImageQuery);
                    let truth = self.scalar(Scalar::Bool);
                    let levels = self.e.op(Op::ImageQueryLevels, uint, &[image]);
                    let is_inside = self.e.op(Op::ULessThan, truth, &[level, levels]);
                    let level = self.e.op(Op::Select, uint, &[is_inside, level, zero]);
                    let mut numbers = self.image_size(texture, image, Some(level));
                    for number in &mut numbers {
                        *number = self.e.op(Op::Select, uint, &[is_inside, *number, zero]);
                    }
                    numbers.push(levels);
                    numbers
                }
            }
        };
        if texture.is_row {
            // The texture has no height.
            numbers.remove(1);
        }
        for (number, pointer) in numbers.into_iter().zip(&values[usize::from(named.is_some())..]) {
            let Value::Pointer(place) = pointer else { return self.unforeseen("this argument of GetDimensions") };
            let place: Place = place.clone();
            self.e.enter(Rule::CodegenDimensions);
            let value = match self.shape(place.ty).map(|shape| shape.scalar) {
                Some(Scalar::Float) => {
                    let float = self.scalar(Scalar::Float);
                    self.e.op(Op::ConvertUToF, float, &[number])
                }
                _ => number,
            };
            self.store(Rule::CodegenDimensions, &place, value)?;
        }
        self.e.rule = saved;
        Ok(())
    }
}

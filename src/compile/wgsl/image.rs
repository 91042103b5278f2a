//! Textures and samplers (seed 002, Translating textures and samplers; Passing textures and
//! samplers into helper functions; Dimensionality mismatch in texture builtins; Texture and sampler
//! types).
//!
//! An image operation names the variables: what it is given is traced back through OpSampledImage,
//! loads and parameters. A function that is given images is written for those that it is given.
//! Whether a texture is a depth texture, and a sampler one that compares, is inferred from use.
//! WGSL's texture functions have one number of coordinates each, and a layer apart; SPIR-V allows
//! more coordinates, which are dropped.

use rspirv::spirv::{Decoration as Decorate, Dim, ImageFormat, ImageOperands, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::spirv::module::WHOLE;
use smallstep_semantics::spirv::types::{Image, Type};
use smallstep_semantics::spirv::{self, Instruction, Module};

use super::convert::Convert;
use super::function::Body;
use super::text::Expr;
use super::{Refused, Why};
use crate::compile::split_samplers;

/// How a texture or sampler is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handle {
    /// With a depth reference.
    compares: bool,
    /// Without.
    samples: bool,
}

/// The most values that are traced for one operand.
const MAX_TRACED: usize = 1 << 12;

/// The variables that an image or a sampler may come from.
fn sources(module: &Module, arguments: &FxHashMap<u32, Vec<u32>>, id: u32, sampler: bool) -> Vec<u32> {
    let (mut found, mut seen, mut work) = (Vec::new(), FxHashSet::default(), vec![id]);
    while let Some(id) = work.pop() {
        if !seen.insert(id) || seen.len() > MAX_TRACED {
            continue;
        }
        let Some(i) = module.instruction(id) else { continue };
        let operands = i.operands(module.words());
        match i.op {
            Op::Variable => found.push(id),
            Op::SampledImage => work.push(operands[usize::from(sampler)]),
            Op::Load | Op::Image | Op::CopyObject | Op::AccessChain | Op::InBoundsAccessChain => work.push(operands[0]),
            Op::FunctionParameter => work.extend(arguments.get(&id).into_iter().flatten()),
            _ => {}
        }
    }
    found
}

/// How the textures of a module are used, and its samplers, by variable.
fn handles(module: &Module) -> [FxHashMap<u32, Handle>; 2] {
    let mut handles = [FxHashMap::default(), FxHashMap::default()];
    let arguments = Convert::arguments(module);
    for i in module.instructions() {
        let samples = is_sample(i.op) || matches!(i.op, Op::ImageGather | Op::ImageDrefGather | Op::ImageFetch);
        if !samples {
            continue;
        }
        let id = i.operands(module.words())[0];
        for sampler in [false, true] {
            for source in sources(module, &arguments, id, sampler) {
                let handle: &mut Handle = handles[usize::from(sampler)].entry(source).or_default();
                handle.compares |= spirv::compares(i.op);
                handle.samples |= !spirv::compares(i.op) && !i.is(Op::ImageFetch);
            }
        }
    }
    handles
}

/// The textures and samplers of a module that are used with a depth reference, by variable.
pub fn comparing(module: &Module) -> FxHashSet<u32> {
    let compares = |(id, handle): (u32, Handle)| handle.compares.then_some(id);
    handles(module).into_iter().flatten().filter_map(compares).collect()
}

fn is_sample(op: Op) -> bool {
    Op::ImageSampleImplicitLod as u32 <= op as u32 && op as u32 <= Op::ImageSampleProjDrefExplicitLod as u32
}

/// The name of a format in WGSL.
fn format(format: ImageFormat) -> Option<&'static str> {
    Some(match format {
        ImageFormat::Rgba8 => "rgba8unorm",
        ImageFormat::Rgba8Snorm => "rgba8snorm",
        ImageFormat::Rgba8ui => "rgba8uint",
        ImageFormat::Rgba8i => "rgba8sint",
        ImageFormat::Rgba16ui => "rgba16uint",
        ImageFormat::Rgba16i => "rgba16sint",
        ImageFormat::Rgba16f => "rgba16float",
        ImageFormat::R32ui => "r32uint",
        ImageFormat::R32i => "r32sint",
        ImageFormat::R32f => "r32float",
        ImageFormat::Rg32ui => "rg32uint",
        ImageFormat::Rg32i => "rg32sint",
        ImageFormat::Rg32f => "rg32float",
        ImageFormat::Rgba32ui => "rgba32uint",
        ImageFormat::Rgba32i => "rgba32sint",
        ImageFormat::Rgba32f => "rgba32float",
        _ => return None,
    })
}

/// How many coordinates a texture has, without the layer.
fn dimensions(image: &Image) -> usize {
    match image.dim {
        Dim::Dim1D => 1,
        Dim::Dim2D => 2,
        _ => 3,
    }
}

impl Convert<'_> {
    /// By parameter: the arguments that it has anywhere.
    pub(super) fn arguments(module: &Module) -> FxHashMap<u32, Vec<u32>> {
        let mut arguments: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for i in module.instructions().iter().filter(|i| i.is(Op::FunctionCall)) {
            let operands = i.operands(module.words());
            let Some(function) = module.function(operands[0]) else { continue };
            for (parameter, &argument) in module.parameters(function).iter().zip(&operands[1..]) {
                arguments.entry(parameter.id).or_default().push(argument);
            }
        }
        arguments
    }

    /// Finds how textures and samplers are used.
    pub(super) fn find_handles(&mut self) {
        [self.textures, self.samplers] = handles(self.module);
    }

    /// The declaration of a texture, a sampler, or both: the name of the texture or sampler.
    pub(super) fn declare_handle(&mut self, id: u32, type_: u32, wanted: &str, i: &Instruction) -> Result<(String, String), Refused> {
        let module = self.module;
        let Some((set, binding)) = module.descriptor(id) else {
            return Err(self.refused_at(i, Why::Pointer, format!("%{id} has no DescriptorSet and Binding")));
        };
        let name = self.names.fresh(wanted);
        let at = |binding: u32| format!("@group({set}) @binding({binding})");
        let mut line = String::new();
        let image = match module.types().get(type_) {
            Some(Type::Image(image)) => Some(image),
            Some(Type::SampledImage { image }) => match module.types().get(image) {
                Some(Type::Image(image)) => Some(image),
                _ => None,
            },
            _ => None,
        };
        if let Some(image) = image {
            let text = self.texture_type(id, &image, i)?;
            line.push_str(&format!("{} var {name}: {text};\n", at(binding)));
        }
        let sampler = match module.types().get(type_) {
            Some(Type::Sampler) => Some((name.clone(), binding)),
            Some(Type::SampledImage { .. }) => {
                // WGSL has no combined descriptor: the sampler gets a binding of its own.
                let place = match self.split {
                    Some(ref places) => places.get(&(set, binding)).copied(),
                    None => {
                        let places = split_samplers::places([module.words()], std::iter::empty())
                            .map_err(|error| self.refused_at(i, Why::Limit, error.0))?;
                        self.split.insert(places).get(&(set, binding)).copied()
                    }
                };
                let Some((_, free)) = place else {
                    return Err(self.refused_at(i, Why::Type, format!("there is no binding for the sampler of %{id}")));
                };
                self.notes.push(format!("the sampler of {name} at set {set}, binding {binding}, is at binding {free}"));
                Some((self.names.fresh(&format!("{wanted}_sampler")), free))
            }
            Some(Type::Image(_)) => None,
            _ => return Err(self.refused_at(i, Why::Type, format!("%{id} is an array of descriptors, which WGSL has not"))),
        };
        if let Some((name, binding)) = sampler {
            let uses = self.samplers.get(&id).copied().unwrap_or_default();
            if uses.compares && uses.samples {
                let what = format!("the sampler %{id} is used with a depth reference and without; in WGSL it is one or the other");
                return Err(self.refused_at(i, Why::Type, what));
            }
            let text = if uses.compares { "sampler_comparison" } else { "sampler" };
            line.push_str(&format!("{} var {name}: {text};\n", at(binding)));
            self.sampler_names.insert(id, name);
        }
        Ok((name, line))
    }

    fn texture_type(&mut self, id: u32, image: &Image, i: &Instruction) -> Result<String, Refused> {
        let scalar = self.value_type(image.sampled)?;
        let layers = if image.arrayed { "_array" } else { "" };
        let dim = match (image.dim, image.arrayed) {
            (Dim::Dim1D, false) => "1d",
            (Dim::Dim2D, _) => "2d",
            (Dim::Dim3D, false) => "3d",
            (Dim::DimCube, _) => "cube",
            (dim, _) => return Err(self.refused_at(i, Why::Type, format!("WGSL has no textures of {dim:?}{layers}"))),
        };
        if image.usage == 2 {
            let Some(format) = format(image.format) else {
                let what = format!("WGSL has no storage texture of the format {:?}", image.format);
                return Err(self.refused_at(i, Why::Type, what));
            };
            if dim == "cube" || image.multisampled {
                return Err(self.refused_at(i, Why::Type, "WGSL has no storage textures of that kind"));
            }
            let is = |decoration| self.module.decoration(id, WHOLE, decoration).is_some();
            let access = match (is(Decorate::NonWritable), is(Decorate::NonReadable)) {
                (true, _) => "read",
                (false, true) => "write",
                _ => "read_write",
            };
            return Ok(format!("texture_storage_{dim}{layers}<{format}, {access}>"));
        }
        let depth = self.is_depth(id);
        Ok(match (depth, image.multisampled) {
            (true, false) if dim == "2d" || dim == "cube" => format!("texture_depth_{dim}{layers}"),
            (false, true) if layers.is_empty() => format!("texture_multisampled_2d<{scalar}>"),
            (false, false) => format!("texture_{dim}{layers}<{scalar}>"),
            _ => return Err(self.refused_at(i, Why::Type, format!("WGSL has no depth or multisampled texture of {dim}{layers}"))),
        })
    }

    /// Whether a texture is compared with a depth reference anywhere.
    fn is_depth(&self, id: u32) -> bool {
        self.textures.get(&id).is_some_and(|t| t.compares)
    }
}

/// The image operands of an instruction, by their bits.
#[derive(Default)]
struct Extras {
    bias: Option<u32>,
    lod: Option<u32>,
    gradient: Option<(u32, u32)>,
    constant_offset: Option<u32>,
    offset: Option<u32>,
    sample: Option<u32>,
    other: bool,
}

fn extras(operands: &[u32]) -> Extras {
    let mut extras = Extras::default();
    let Some((&mask, rest)) = operands.split_first() else { return extras };
    let mut rest = rest.iter().copied();
    let mask = ImageOperands::from_bits_retain(mask);
    for bit in mask.iter() {
        match bit {
            ImageOperands::BIAS => extras.bias = rest.next(),
            ImageOperands::LOD => extras.lod = rest.next(),
            ImageOperands::GRAD => extras.gradient = rest.next().zip(rest.next()),
            ImageOperands::CONST_OFFSET => extras.constant_offset = rest.next(),
            ImageOperands::OFFSET => extras.offset = rest.next(),
            ImageOperands::SAMPLE => extras.sample = rest.next(),
            ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND => {}
            _ => extras.other = true,
        }
    }
    extras
}

const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

impl Body<'_, '_> {
    /// The variable that an image or sampler is.
    pub(super) fn handle(&self, id: u32, sampler: bool) -> Result<u32, Refused> {
        let module = self.convert.module;
        let mut at = id;
        for _ in 0..64 {
            at = self.bindings.get(&at).copied().unwrap_or(at);
            let Some(i) = module.instruction(at) else { break };
            let operands = i.operands(module.words());
            at = match i.op {
                Op::Variable => return Ok(at),
                Op::SampledImage => operands[usize::from(sampler)],
                Op::Load | Op::Image | Op::CopyObject => operands[0],
                _ => break,
            };
        }
        Err(self.convert.refused(Why::Pointer, format!("the image or sampler %{id} is no variable")))
    }

    fn image_of(&self, variable: u32) -> Option<Image> {
        let types = self.convert.module.types();
        match types.get(self.convert.module.variable(variable)?.type_)? {
            Type::Image(image) => Some(image),
            Type::SampledImage { image } => match types.get(image)? {
                Type::Image(image) => Some(image),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first components of a coordinate.
    fn components(&self, coordinate: &Expr, id: u32, count: usize) -> Expr {
        let rows = self.convert.module.shape(id).rows as usize;
        if rows == count { coordinate.clone() } else { coordinate.member(&LETTERS[..count].concat()) }
    }

    /// An image instruction.
    pub(super) fn image(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let refuse = |this: &Self, what: &str| Err(this.convert.refused_at(i, Why::Instruction, what));
        let texture = self.handle(operands[0], false)?;
        let name = self.convert.global(texture)?.name;
        let Some(image) = self.image_of(texture) else { return refuse(self, "what it is given is no image") };
        let texture_expr = Expr::name(name);
        let depth = self.convert.is_depth(texture);
        let count = dimensions(&image);
        match i.op {
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                let mut arguments = vec![texture_expr.clone()];
                if i.is(Op::ImageQuerySizeLod) {
                    arguments.push(self.value(operands[1])?);
                }
                let size = Expr::call("textureDimensions", &arguments);
                let size = match image.arrayed {
                    false => size,
                    true => {
                        let layers = Expr::call("textureNumLayers", &[texture_expr]);
                        Expr::call(&format!("vec{}<u32>", if image.dim == Dim::DimCube { 3 } else { count + 1 }), &[size, layers])
                    }
                };
                let value = self.as_result(Expr { constant: false, ..size }, false, i)?;
                return self.define(index, i, value);
            }
            Op::ImageQueryLevels | Op::ImageQuerySamples => {
                let function = if i.is(Op::ImageQueryLevels) { "textureNumLevels" } else { "textureNumSamples" };
                let value = self.as_result(Expr::call(function, &[texture_expr]), false, i)?;
                return self.define(index, i, value);
            }
            _ => {}
        }
        let coordinate = self.value(operands[1])?;
        let coordinate = if coordinate.constant { coordinate } else { self.named(&coordinate)? };
        let coordinate =
            if coordinate.constant && self.convert.module.shape(operands[1]).rows > 1 { self.bound(&coordinate)? } else { coordinate };
        let projects = matches!(
            i.op,
            Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
        );
        let mut place = self.components(&coordinate, operands[1], count);
        let divisor = coordinate.member(LETTERS[count.min(3)]);
        if projects {
            place = Expr::binary("/", &place, &divisor);
        }
        let layer = coordinate.member(LETTERS[count.min(3)]);
        match i.op {
            Op::ImageFetch | Op::ImageRead | Op::ImageWrite => {
                let mut arguments = vec![texture_expr, place];
                if image.arrayed {
                    arguments.push(layer);
                }
                let at = if i.is(Op::ImageWrite) { 3 } else { 2 };
                let extra = extras(operands.get(at..).unwrap_or(&[]));
                if extra.other || extra.constant_offset.is_some() || extra.offset.is_some() || extra.bias.is_some() {
                    return refuse(self, "WGSL has no offsets for it");
                }
                if i.is(Op::ImageWrite) {
                    let texel = self.value(operands[2])?;
                    let shape = self.convert.module.shape(operands[2]);
                    let texel = match shape.rows {
                        4 => texel,
                        rows => {
                            let zero = self.convert.scalar_literal(shape.scalar, 0)?.unwrap_or_default();
                            let whole = self.convert.shape_type(smallstep_semantics::spirv::operation::Shape::vector(shape.scalar, 4))?;
                            let mut parts = vec![texel];
                            parts.extend((rows..4).map(|_| Expr::literal(zero.clone())));
                            Expr::call(&whole, &parts)
                        }
                    };
                    arguments.push(texel);
                    let call = Expr::call("textureStore", &arguments);
                    self.line(format!("{};", call.text));
                    return Ok(());
                }
                if image.usage != 2 {
                    arguments.push(match (extra.sample, extra.lod) {
                        (Some(sample), _) => self.value(sample)?,
                        (None, Some(lod)) => self.value(lod)?,
                        (None, None) => Expr::literal("0i"),
                    });
                }
                let call = Expr { constant: false, ..Expr::call("textureLoad", &arguments) };
                let texel = if depth { whole_texel(&call) } else { call };
                self.texel(index, i, texel)
            }
            Op::ImageGather | Op::ImageDrefGather => {
                let sampler = self.sampler(operands[0])?;
                let extra = extras(operands.get(3..).unwrap_or(&[]));
                if extra.other || extra.offset.is_some() || extra.lod.is_some() || extra.bias.is_some() {
                    return refuse(self, "WGSL gathers with constant offsets at level 0 only");
                }
                let mut arguments = Vec::new();
                if i.is(Op::ImageGather) && !depth {
                    let Some(component) = self.convert.module.constant_value(operands[2]) else {
                        return refuse(self, "the component is no constant, as WGSL needs it");
                    };
                    arguments.push(Expr::literal(format!("{component}i")));
                }
                arguments.extend([texture_expr, sampler, place]);
                if image.arrayed {
                    arguments.push(rounded(&layer));
                }
                if i.is(Op::ImageDrefGather) {
                    arguments.push(self.value(operands[2])?);
                }
                arguments.extend(self.offset(&extra)?);
                let function = if i.is(Op::ImageGather) { "textureGather" } else { "textureGatherCompare" };
                let call = Expr::call(function, &arguments);
                self.texel(index, i, Expr { constant: false, ..call })
            }
            _ if is_sample(i.op) => {
                let sampler = self.sampler(operands[0])?;
                let reference = spirv::compares(i.op);
                let extra = extras(operands.get(if reference { 3 } else { 2 }..).unwrap_or(&[]));
                if extra.other || extra.offset.is_some() {
                    return refuse(self, "WGSL samples with constant offsets only");
                }
                if !matches!(self.convert.module.types().get(image.sampled), Some(Type::Float { .. })) {
                    return refuse(self, "WGSL samples textures of floats only");
                }
                let mut arguments = vec![texture_expr, sampler, place];
                if image.arrayed {
                    arguments.push(rounded(&layer));
                }
                let explicit = extra.lod.is_some() || extra.gradient.is_some();
                self.convert.derivatives |= !explicit;
                let function = if reference {
                    let value = self.value(operands[2])?;
                    arguments.push(if projects { Expr::binary("/", &value, &divisor) } else { value });
                    if extra.bias.is_some() || extra.gradient.is_some() {
                        return refuse(self, "WGSL compares with a depth reference without bias or gradients");
                    }
                    match extra.lod {
                        None => "textureSampleCompare",
                        Some(lod) if self.convert.module.constant_value(lod).is_some_and(|bits| bits as u32 & 0x7fff_ffff == 0) => {
                            "textureSampleCompareLevel"
                        }
                        Some(_) => return refuse(self, "WGSL compares with a depth reference at level 0 only"),
                    }
                } else if let Some((x, y)) = extra.gradient {
                    let pair = [self.value(x)?, self.value(y)?];
                    arguments.extend(pair);
                    "textureSampleGrad"
                } else if let Some(lod) = extra.lod {
                    let level = self.value(lod)?;
                    arguments.push(if depth { Expr::call("i32", &[level]) } else { level });
                    "textureSampleLevel"
                } else if let Some(bias) = extra.bias {
                    arguments.push(self.value(bias)?);
                    "textureSampleBias"
                } else {
                    "textureSample"
                };
                if depth && matches!(function, "textureSampleGrad" | "textureSampleBias") {
                    return refuse(self, "WGSL samples depth textures without bias or gradients");
                }
                if depth && function == "textureSampleLevel" && !extra.lod.is_some_and(|lod| self.is_whole(lod)) {
                    return refuse(self, "WGSL samples depth textures at whole levels only");
                }
                arguments.extend(self.offset(&extra)?);
                let call = Expr { constant: false, ..Expr::call(function, &arguments) };
                let texel = if depth && !reference { whole_texel(&call) } else { call };
                self.texel(index, i, texel)
            }
            _ => refuse(self, "WGSL has no such instruction"),
        }
    }

    /// Whether a float is a constant that is a whole number.
    fn is_whole(&self, id: u32) -> bool {
        self.convert.module.constant_value(id).is_some_and(|bits| f32::from_bits(bits as u32).fract() == 0.0)
    }

    fn sampler(&mut self, id: u32) -> Result<Expr, Refused> {
        let sampler = self.handle(id, true)?;
        self.convert.global(sampler)?;
        match self.convert.sampler_names.get(&sampler) {
            Some(name) => Ok(Expr::name(name.clone())),
            None => Err(self.convert.refused(Why::Type, format!("%{sampler} is no sampler"))),
        }
    }

    fn offset(&mut self, extra: &Extras) -> Result<Option<Expr>, Refused> {
        match extra.constant_offset {
            Some(id) => self.constant(id, Some(true)).map(Some),
            None => Ok(None),
        }
    }

    /// A texel as the result, which may have fewer components.
    fn texel(&mut self, index: usize, i: &Instruction, texel: Expr) -> Result<(), Refused> {
        let rows = self.convert.module.shape(i.result).rows as usize;
        let scalar_call = spirv::compares(i.op) && !i.is(Op::ImageDrefGather);
        let texel = if rows == 4 || scalar_call { texel } else { texel.member(&LETTERS[..rows.clamp(1, 4)].concat()) };
        self.define(index, i, texel)
    }
}

/// The texel of a depth texture: WGSL gives its one component.
fn whole_texel(depth: &Expr) -> Expr {
    let zero = Expr::literal("0.0f");
    Expr::call("vec4<f32>", &[depth.clone(), zero.clone(), zero, Expr::literal("1.0f")])
}

/// A layer that is a float, as the nearest whole number.
fn rounded(layer: &Expr) -> Expr {
    Expr::call("i32", &[Expr::call("round", std::slice::from_ref(layer))])
}

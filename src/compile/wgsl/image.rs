//! Textures and samplers (seed 002, Translating textures and samplers; Passing textures and
//! samplers into helper functions; Dimensionality mismatch in texture builtins; Texture and sampler
//! types).
//!
//! An image instruction names the variables. Its operand is traced back through OpSampledImage,
//! loads and parameters. A function with image parameters is written for its arguments. The use of
//! a texture decides whether it is a depth texture, and the use of a sampler decides whether it
//! compares. Each texture function of WGSL has a fixed number of coordinates, with the layer as a
//! separate argument. SPIR-V allows more coordinates, which are dropped.

use rspirv::spirv::{Decoration as Decorate, Dim, ImageFormat, ImageOperands, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::spirv::module::WHOLE;
use smallstep_semantics::spirv::operation::{Scalar, Shape};
use smallstep_semantics::spirv::types::{Image, Type};
use smallstep_semantics::spirv::{self, Instruction, Module};

use super::convert::{Convert, Element, MAX_DESCRIPTORS};
use super::function::Body;
use super::place::DescriptorIndex;
use super::scan::Scan;
use super::text::{COMPONENTS, Expr, Text};
use super::{Refused, Why};
use crate::compile::split_samplers;

/// The uses of a texture or sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Handle {
    /// It is sampled with a depth reference.
    compares: bool,
    /// It is sampled without a depth reference.
    samples: bool,
    /// It is a storage image that is read.
    reads: bool,
    /// It is a storage image that is written.
    writes: bool,
}

/// The variable of an image or sampler, and the descriptor in it.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) variable: u32,
    pub(super) index: DescriptorIndex,
}

/// The most values that are traced for an operand.
const MAX_TRACED: usize = 1 << 12;

/// The variables that the image or the sampler of an operand may come from.
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

/// The uses of the textures and of the samplers of a module, by variable.
fn handles(module: &Module, scan: &Scan) -> [FxHashMap<u32, Handle>; 2] {
    let mut handles = [FxHashMap::default(), FxHashMap::default()];
    if scan.images.is_empty() {
        return handles;
    }
    let arguments = arguments(module, scan);
    for i in scan.images.iter().map(|&at| &module.instructions()[at as usize]) {
        let samples = is_sample(i.op) || matches!(i.op, Op::ImageGather | Op::ImageDrefGather | Op::ImageFetch);
        if !samples && !matches!(i.op, Op::ImageRead | Op::ImageWrite) {
            continue;
        }
        let id = i.operands(module.words())[0];
        for sampler in [false, true] {
            for source in sources(module, &arguments, id, sampler) {
                let handle: &mut Handle = handles[usize::from(sampler)].entry(source).or_default();
                handle.compares |= spirv::compares(i.op);
                handle.samples |= samples && !spirv::compares(i.op) && !i.is(Op::ImageFetch);
                handle.reads |= i.is(Op::ImageRead);
                handle.writes |= i.is(Op::ImageWrite);
            }
        }
    }
    handles
}

/// The textures and samplers of a module that are sampled with a depth reference, by variable.
pub fn comparing(module: &Module) -> FxHashSet<u32> {
    let compares = |(id, handle): (u32, Handle)| handle.compares.then_some(id);
    handles(module, &Scan::of(module)).into_iter().flatten().filter_map(compares).collect()
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
        ImageFormat::Rgba16 => "rgba16unorm",
        ImageFormat::Rgba16Snorm => "rgba16snorm",
        ImageFormat::Rg16f => "rg16float",
        ImageFormat::Rg16 => "rg16unorm",
        ImageFormat::Rg16Snorm => "rg16snorm",
        ImageFormat::Rg16ui => "rg16uint",
        ImageFormat::Rg16i => "rg16sint",
        ImageFormat::Rg8 => "rg8unorm",
        ImageFormat::Rg8Snorm => "rg8snorm",
        ImageFormat::Rg8ui => "rg8uint",
        ImageFormat::Rg8i => "rg8sint",
        ImageFormat::R16f => "r16float",
        ImageFormat::R16 => "r16unorm",
        ImageFormat::R16Snorm => "r16snorm",
        ImageFormat::R16ui => "r16uint",
        ImageFormat::R16i => "r16sint",
        ImageFormat::R8 => "r8unorm",
        ImageFormat::R8Snorm => "r8snorm",
        ImageFormat::R8ui => "r8uint",
        ImageFormat::R8i => "r8sint",
        ImageFormat::Rgb10A2 => "rgb10a2unorm",
        ImageFormat::Rgb10a2ui => "rgb10a2uint",
        ImageFormat::R11fG11fB10f => "rg11b10ufloat",
        _ => return None,
    })
}

/// The number of coordinates of a texture, without the layer.
fn dimensions(image: &Image) -> usize {
    match image.dim {
        Dim::Dim1D => 1,
        Dim::Dim2D => 2,
        _ => 3,
    }
}

/// By parameter: its arguments in all calls.
fn arguments(module: &Module, scan: &Scan) -> FxHashMap<u32, Vec<u32>> {
    let mut arguments: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for i in scan.calls.iter().map(|&at| &module.instructions()[at as usize]) {
        let operands = i.operands(module.words());
        let Some(function) = module.function(operands[0]) else { continue };
        for (parameter, &argument) in module.parameters(function).iter().zip(&operands[1..]) {
            arguments.entry(parameter.id).or_default().push(argument);
        }
    }
    arguments
}

impl Convert<'_> {
    /// By parameter: its arguments in all calls.
    pub(super) fn arguments(&self) -> FxHashMap<u32, Vec<u32>> {
        arguments(self.module, &self.scan)
    }

    /// Finds the uses of textures and samplers.
    pub(super) fn find_handles(&mut self) {
        [self.textures, self.samplers] = handles(self.module, &self.scan);
        let is_combined = |i: &Instruction| i.is(Op::TypeSampledImage);
        if self.module.instructions().iter().take_while(|i| !i.is(Op::Function)).any(is_combined) {
            // The same places where the hosts of devices bind the samplers. Arrays have none.
            self.split = split_samplers::places([self.module.words()], std::iter::empty()).unwrap_or_default();
        }
    }

    /// Declares a texture, a sampler, or both. Returns the name of the texture or sampler and
    /// the declaration.
    pub(super) fn declare_handle(
        &mut self,
        id: u32,
        element: u64,
        type_: u32,
        wanted_name: &str,
        (set, binding): (u32, u32),
        i: &Instruction,
    ) -> Result<(Text, String), Refused> {
        let module = self.module;
        let name = self.names.fresh(wanted_name);
        let at = |binding: u32| format!("@group({set}) @binding({binding})");
        let mut line = String::new();
        if let Some(image) = image_type(module, type_) {
            let text = self.texture_type(id, &image, self.is_depth(id), i)?;
            line.push_str(&format!("{} var {name}: {text};\n", at(binding)));
        }
        let uses = self.samplers.get(&id).copied().unwrap_or_default();
        // SPIR-V has one sampler type. WGSL has two: one that compares and one that does not.
        let mut samplers = Vec::new();
        match module.types().get(type_) {
            Some(Type::Sampler) => {
                let compares = uses.compares && !uses.samples;
                samplers.push((compares, name.clone(), binding));
                if uses.compares && uses.samples {
                    let free = self.free_binding(set);
                    self.notes.push(format!("the sampler {name} at set {set}, binding {binding}, compares at binding {free}"));
                    samplers.push((true, self.names.fresh(&format!("{wanted_name}_comparison")), free));
                }
            }
            Some(Type::SampledImage { .. }) => {
                // WGSL has no combined descriptor, so the sampler gets a binding of its own.
                let mut split_binding = self.split.get(&(set, binding)).map(|to| to.1).filter(|_| element == 0);
                let kinds = [(false, uses.samples || !uses.compares), (true, uses.compares)];
                for (compares, _) in kinds.into_iter().filter(|(_, used)| *used) {
                    let free = split_binding.take().unwrap_or_else(|| self.free_binding(set));
                    let comparison_note = if uses.compares && uses.samples && compares { ", which compares," } else { "" };
                    self.notes
                        .push(format!("the sampler of {name} at set {set}, binding {binding},{comparison_note} is at binding {free}"));
                    samplers.push((compares, self.names.fresh(&format!("{wanted_name}_sampler")), free));
                }
            }
            Some(Type::Image(_)) => {}
            _ => return Err(self.refused_at(i, Why::Type, format!("%{id} holds no image and no sampler"))),
        }
        for (compares, name, binding) in samplers {
            let text = if compares { "sampler_comparison" } else { "sampler" };
            line.push_str(&format!("{} var {name}: {text};\n", at(binding)));
            self.sampler_names.insert((id, element, compares), name);
        }
        Ok((name, line))
    }

    /// The name of a texture that is declared beside a depth texture of the same variable. It
    /// serves operations that WGSL does not have for depth textures.
    fn color_texture(&mut self, id: u32, element: u64, image: &Image, i: &Instruction) -> Result<Text, Refused> {
        if let Some(name) = self.color_names.get(&(id, element)) {
            return Ok(name.clone());
        }
        let text = self.texture_type(id, image, false, i)?;
        let (set, binding) = self.module.descriptor(id).unwrap_or_default();
        let free = self.free_binding(set);
        let depth = self.element(id, element)?.name;
        let name = self.names.fresh(&format!("{depth}_color"));
        self.notes
            .push(format!("the texture {depth} at set {set}, binding {binding}, is read without a depth reference at binding {free}"));
        self.globals.push_str(&format!("@group({set}) @binding({free}) var {name}: {text};\n"));
        self.color_names.insert((id, element), name.clone());
        Ok(name)
    }

    fn texture_type(&mut self, id: u32, image: &Image, depth: bool, i: &Instruction) -> Result<String, Refused> {
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
                return Err(self.refused_at(i, Why::Type, "WGSL has no storage textures that are cubes or have several samples"));
            }
            let is = |decoration| self.module.decoration(id, WHOLE, decoration).is_some();
            let uses = self.textures.get(&id).copied().unwrap_or_default();
            let access = match (uses.reads && !is(Decorate::NonReadable), uses.writes && !is(Decorate::NonWritable)) {
                (true, true) => "read_write",
                (true, false) => "read",
                (false, true) => "write",
                // In WGSL, a vertex stage cannot use a writable texture.
                (false, false) if is(Decorate::NonWritable) || self.is_in_vertex_stage(id) => "read",
                (false, false) => "write",
            };
            return Ok(format!("texture_storage_{dim}{layers}<{format}, {access}>"));
        }
        Ok(match (depth, image.multisampled) {
            (true, false) if dim == "2d" || dim == "cube" => format!("texture_depth_{dim}{layers}"),
            (false, true) if dim == "2d" && layers.is_empty() => format!("texture_multisampled_2d<{scalar}>"),
            (false, false) => format!("texture_{dim}{layers}<{scalar}>"),
            _ => return Err(self.refused_at(i, Why::Type, format!("WGSL has no depth or multisampled texture of {dim}{layers}"))),
        })
    }

    /// Whether two variables have the same uses.
    pub(super) fn is_used_alike(&self, a: u32, b: u32) -> bool {
        self.textures.get(&a) == self.textures.get(&b) && self.samplers.get(&a) == self.samplers.get(&b)
    }

    /// Whether a variable is a storage image that some function writes.
    pub(super) fn is_written_image(&self, id: u32) -> bool {
        self.textures.get(&id).is_some_and(|t| t.writes)
    }

    /// Whether a texture is sampled with a depth reference anywhere.
    fn is_depth(&self, id: u32) -> bool {
        self.textures.get(&id).is_some_and(|t| t.compares)
    }
}

/// The image operands of an instruction, as ids. `other` is whether there are further operands.
#[derive(Default)]
struct Extras {
    bias: Option<u32>,
    lod: Option<u32>,
    gradient: Option<(u32, u32)>,
    offset: Option<u32>,
    offsets: Option<u32>,
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
            ImageOperands::CONST_OFFSET | ImageOperands::OFFSET => extras.offset = rest.next(),
            ImageOperands::CONST_OFFSETS => extras.offsets = rest.next(),
            ImageOperands::SAMPLE => extras.sample = rest.next(),
            ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND => {}
            _ => extras.other = true,
        }
    }
    extras
}

/// The image type of an image or of a combined image sampler.
fn image_type(module: &Module, type_: u32) -> Option<Image> {
    let types = module.types();
    let type_ = match types.get(type_)? {
        Type::SampledImage { image } => types.get(image)?,
        other => other,
    };
    match type_ {
        Type::Image(image) => Some(image),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// The variable and descriptor of an image or sampler.
    pub(super) fn handle(&mut self, id: u32, sampler: bool) -> Result<Resource, Refused> {
        let module = self.convert.module;
        let (mut at, mut indices) = (id, Vec::new());
        for _ in 0..64 {
            if let Some(bound) = self.bindings.get(&at).copied() {
                let index = match (bound.element, self.descriptor_numbers.get(&at)) {
                    (Element::Only(number), _) => DescriptorIndex::Only(number),
                    (Element::Argument, Some(number)) => DescriptorIndex::Any(number.clone()),
                    _ => {
                        at = bound.variable;
                        continue;
                    }
                };
                return Ok(Resource { variable: bound.variable, index });
            }
            let Some(i) = module.instruction(at) else { break };
            let operands = i.operands(module.words());
            at = match i.op {
                Op::Variable => {
                    let type_ = module.variable(at).map_or(0, |v| v.type_);
                    let (index, _) = self.descriptor_index(type_, &indices)?;
                    return Ok(Resource { variable: at, index });
                }
                Op::SampledImage => operands[usize::from(sampler)],
                Op::AccessChain | Op::InBoundsAccessChain => {
                    indices.splice(0..0, operands[1..].iter().copied());
                    operands[0]
                }
                Op::Load | Op::Image | Op::CopyObject => operands[0],
                _ => break,
            };
        }
        Err(self.convert.refused(Why::Pointer, format!("the image or sampler %{id} is no variable")))
    }

    /// The first `count` components of a coordinate.
    fn components(&self, coordinate: &Expr, id: u32, count: usize) -> Expr {
        let rows = self.convert.module.shape(id).rows as usize;
        if rows == count { coordinate.clone() } else { coordinate.member(&COMPONENTS[..count].concat()) }
    }

    /// Writes an image instruction. If the descriptor is an element of an array, a switch
    /// selects it.
    pub(super) fn image(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let texture = self.handle(operands[0], false)?;
        let has_sampler = is_sample(i.op) || matches!(i.op, Op::ImageGather | Op::ImageDrefGather);
        let sampler = if has_sampler { self.handle(operands[0], true)? } else { texture.clone() };
        if let (DescriptorIndex::Only(a), DescriptorIndex::Only(b)) = (&texture.index, &sampler.index) {
            return match self.image_of((texture.variable, *a), (sampler.variable, *b), i, operands)? {
                Some(value) => self.define(index, i, value),
                None => Ok(()),
            };
        }
        let name = self.convert.names.local("chosen");
        if i.result != 0 {
            let text = self.convert.value_type(i.result_type)?;
            self.line(format!("var {name}: {text};"));
        }
        self.each_descriptor(&texture, &mut |this, a| {
            let mut write_one = |this: &mut Self, b: u64| {
                if let Some(value) = this.image_of((texture.variable, a), (sampler.variable, b), i, operands)? {
                    this.line(format!("{name} = {};", value.text));
                }
                Ok(())
            };
            // A combined image and sampler have the same index.
            if sampler.variable == texture.variable { write_one(this, a) } else { this.each_descriptor(&sampler, &mut write_one) }
        })?;
        if i.result == 0 { Ok(()) } else { self.define(index, i, Expr::name(name)) }
    }

    /// Calls `each` for every descriptor that a resource may be, in the clauses of a switch if
    /// there are several.
    fn each_descriptor(&mut self, resource: &Resource, each: &mut dyn FnMut(&mut Self, u64) -> Result<(), Refused>) -> Result<(), Refused> {
        match &resource.index {
            DescriptorIndex::Only(at) => each(self, *at),
            DescriptorIndex::Any(index) => {
                let count = self.convert.descriptors(resource.variable).map_or(1, |(count, _)| count);
                self.clauses(index, count.min(MAX_DESCRIPTORS) as usize, &mut |this, at| each(this, at as u64))
            }
        }
    }

    /// The result of an image instruction on one texture and one sampler. `None` if it writes.
    fn image_of(&mut self, texture: (u32, u64), sampler: (u32, u64), i: &Instruction, operands: &[u32]) -> Result<Option<Expr>, Refused> {
        let refuse = |this: &Self, what: &str| Err(this.convert.refused_at(i, Why::Instruction, what));
        let name = self.convert.element(texture.0, texture.1)?.name;
        let type_ = self.convert.descriptors(texture.0).map_or(0, |(_, type_)| type_);
        let Some(image) = image_type(self.convert.module, type_) else { return refuse(self, "what it is given is no image") };
        let texture_expr = Expr::name(name);
        let depth = self.convert.is_depth(texture.0);
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
                return self.as_result(Expr { constant: false, ..size }, false, i).map(Some);
            }
            Op::ImageQueryLevels | Op::ImageQuerySamples => {
                let function = if i.is(Op::ImageQueryLevels) { "textureNumLevels" } else { "textureNumSamples" };
                return self.as_result(Expr::call(function, &[texture_expr]), false, i).map(Some);
            }
            Op::ImageQueryFormat | Op::ImageQueryOrder | Op::ImageQueryLod => return refuse(self, "WGSL has no such instruction"),
            _ => {}
        }
        let coordinate = self.value(operands[1])?;
        let coordinate = if coordinate.constant { coordinate } else { self.repeatable(&coordinate)? };
        let coordinate =
            if coordinate.constant && self.convert.module.shape(operands[1]).rows > 1 { self.bind(&coordinate)? } else { coordinate };
        let projects = matches!(
            i.op,
            Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
        );
        let mut place = self.components(&coordinate, operands[1], count);
        let divisor = coordinate.member(COMPONENTS[count.min(3)]);
        if projects {
            place = Expr::binary("/", &place, &divisor);
        }
        let layer = coordinate.member(COMPONENTS[count.min(3)]);
        match i.op {
            Op::ImageFetch | Op::ImageRead | Op::ImageWrite => {
                let at = if i.is(Op::ImageWrite) { 3 } else { 2 };
                let extra = extras(operands.get(at..).unwrap_or(&[]));
                if extra.other || extra.bias.is_some() || extra.offsets.is_some() {
                    return refuse(self, "WGSL has no such image operand for it");
                }
                if let Some(offset) = extra.offset {
                    let signed = matches!(self.convert.module.shape(operands[1]).scalar, Scalar::Int { signed: true, .. });
                    let offset = self.integer(offset, signed)?;
                    place = if place.constant { self.bind(&place)? } else { place };
                    place = Expr::binary("+", &place, &offset);
                }
                let mut arguments = vec![texture_expr, place];
                if image.arrayed {
                    arguments.push(layer);
                }
                if i.is(Op::ImageWrite) {
                    let texel = self.value(operands[2])?;
                    let shape = self.convert.module.shape(operands[2]);
                    let texel = match shape.rows {
                        4 => texel,
                        rows => {
                            let zero = self.convert.scalar_literal(shape.scalar, 0)?.unwrap_or_default();
                            let vector_type = self.convert.shape_type(Shape::vector(shape.scalar, 4))?;
                            let mut parts = vec![texel];
                            parts.extend((rows..4).map(|_| Expr::literal(zero.clone())));
                            Expr::call(&vector_type, &parts)
                        }
                    };
                    arguments.push(texel);
                    let call = Expr::call("textureStore", &arguments);
                    self.line(format!("{};", call.text));
                    return Ok(None);
                }
                if image.usage != 2 {
                    arguments.push(match (extra.sample, extra.lod) {
                        (Some(sample), _) => self.value(sample)?,
                        (None, Some(lod)) => self.value(lod)?,
                        (None, None) => Expr::literal("0i"),
                    });
                }
                let call = Expr { constant: false, ..Expr::call("textureLoad", &arguments) };
                Ok(Some(self.texel(i, if depth { whole_texel(&call) } else { call })))
            }
            Op::ImageGather | Op::ImageDrefGather => {
                let reference = i.is(Op::ImageDrefGather);
                let extra = extras(operands.get(3..).unwrap_or(&[]));
                if extra.other || extra.lod.is_some() || extra.bias.is_some() {
                    return refuse(self, "WGSL gathers at level 0 only");
                }
                let component = self.convert.module.constant_value(operands[2]).filter(|_| !reference);
                let mut arguments = Vec::new();
                if !reference {
                    let Some(component) = component else { return refuse(self, "the component is no constant, as WGSL needs it") };
                    if !depth || component != 0 {
                        arguments.push(Expr::literal(format!("{component}i")));
                    }
                }
                let of = match depth && component.is_some_and(|component| component != 0) {
                    true => Expr::name(self.convert.color_texture(texture.0, texture.1, &image, i)?),
                    false => texture_expr,
                };
                arguments.extend([of, self.sampler(sampler, reference)?, place]);
                if image.arrayed {
                    arguments.push(rounded(&layer));
                }
                if reference {
                    arguments.push(self.value(operands[2])?);
                }
                let function = if reference { "textureGatherCompare" } else { "textureGather" };
                let Some(offsets) = extra.offsets else {
                    arguments.extend(self.offset(&extra, i)?);
                    return Ok(Some(self.texel(i, Expr { constant: false, ..Expr::call(function, &arguments) })));
                };
                // The last component of a gather is the texel at the offset itself.
                let offsets =
                    self.convert.module.instruction(offsets).map_or(Vec::new(), |i| i.operands(self.convert.module.words()).to_vec());
                let mut parts = Vec::new();
                for offset in offsets {
                    let mut arguments = arguments.clone();
                    arguments.push(self.constant(offset, Some(true))?);
                    parts.push(Expr::call(function, &arguments).member("w"));
                }
                let text = self.convert.value_type(i.result_type)?;
                Ok(Some(Expr { constant: false, ..Expr::call(&text, &parts) }))
            }
            _ if is_sample(i.op) => {
                let reference = spirv::compares(i.op);
                let sampler = self.sampler(sampler, reference)?;
                let extra = extras(operands.get(if reference { 3 } else { 2 }..).unwrap_or(&[]));
                if extra.other || extra.offsets.is_some() {
                    return refuse(self, "WGSL has no such image operand for it");
                }
                if !matches!(self.convert.module.types().get(image.sampled), Some(Type::Float { .. })) {
                    return refuse(self, "WGSL samples textures of floats only");
                }
                // WGSL samples depth textures without bias and gradients, and only at
                // integer levels.
                let is_whole_level = extra.lod.is_none_or(|lod| self.is_whole(lod));
                let is_color = depth && !reference && (extra.bias.is_some() || extra.gradient.is_some() || !is_whole_level);
                let depth = depth && !is_color;
                let of = match is_color {
                    true => Expr::name(self.convert.color_texture(texture.0, texture.1, &image, i)?),
                    false => texture_expr,
                };
                let mut arguments = vec![of, sampler, place];
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
                arguments.extend(self.offset(&extra, i)?);
                let call = Expr { constant: false, ..Expr::call(function, &arguments) };
                Ok(Some(self.texel(i, if depth && !reference { whole_texel(&call) } else { call })))
            }
            _ => refuse(self, "WGSL has no such instruction"),
        }
    }

    /// Whether a float is a constant with an integer value.
    fn is_whole(&self, id: u32) -> bool {
        self.convert.module.constant_value(id).is_some_and(|bits| f32::from_bits(bits as u32).fract() == 0.0)
    }

    fn sampler(&mut self, (id, element): (u32, u64), compares: bool) -> Result<Expr, Refused> {
        self.convert.element(id, element)?;
        match self.convert.sampler_names.get(&(id, element, compares)) {
            Some(name) => Ok(Expr::name(name.clone())),
            None => Err(self.convert.refused(Why::Type, format!("%{id} is no sampler"))),
        }
    }

    fn offset(&mut self, extra: &Extras, i: &Instruction) -> Result<Option<Expr>, Refused> {
        match extra.offset {
            Some(id) if self.convert.module.is_constant(id) && !self.convert.specialized.has(id) => self.constant(id, Some(true)).map(Some),
            Some(_) => Err(self.convert.refused_at(i, Why::Instruction, "WGSL samples and gathers with constant offsets only")),
            None => Ok(None),
        }
    }

    /// A texel as the result of an instruction, which may have fewer components.
    fn texel(&self, i: &Instruction, texel: Expr) -> Expr {
        let rows = self.convert.module.shape(i.result).rows as usize;
        let scalar_call = spirv::compares(i.op) && !i.is(Op::ImageDrefGather);
        if rows == 4 || scalar_call { texel } else { texel.member(&COMPONENTS[..rows.clamp(1, 4)].concat()) }
    }
}

/// A texel of a depth texture as a vector. WGSL returns only its one component.
fn whole_texel(depth: &Expr) -> Expr {
    let zero = Expr::literal("0.0f");
    Expr::call("vec4<f32>", &[depth.clone(), zero.clone(), zero, Expr::literal("1.0f")])
}

/// A layer that is a float, rounded to an integer.
fn rounded(layer: &Expr) -> Expr {
    Expr::call("i32", &[Expr::call("round", std::slice::from_ref(layer))])
}

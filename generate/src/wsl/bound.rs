//! Resources for the entry points of a program, drawn by a seed: buffers, textures, samplers and
//! attributes. Also the draws of a program.

use super::arguments::drawn;
use super::typed::Restriction;
use smallstep_semantics::image::{AddressMode, Compare, Filter, Format, Image, Sampler, Shape};
use smallstep_semantics::wsl::draw::{Attribute, Draw, StageInSource, Vertices, resources};
use smallstep_semantics::wsl::entry::{EntryPoint, Stage};
use smallstep_semantics::wsl::environment::Semantic;
use smallstep_semantics::wsl::environment::access::Callee;
use smallstep_semantics::wsl::group::{Resource, ResourceContents};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::specialization::{Specialization, constants};
use smallstep_semantics::wsl::texture::sampling::{is_filter, is_gather};
use smallstep_semantics::wsl::texture::{Texture, is_depth, is_writable, shape};
use smallstep_semantics::wsl::types::{Scalar, TextureKind, Type, TypeId};
use smallstep_semantics::wsl::typing::program::{Form, Program};
use std::collections::BTreeSet;

/// The most pairs of a vertex stage and a fragment entry point that are tried.
const MAX_PAIRS: usize = 1000;
/// The number of elements in a buffer, unless something needs more.
pub const ELEMENTS: u64 = 4;

/// Gives each resource small contents: a buffer of `elements` elements, an image with few undefined
/// texels, or a sampler. Returns false if some resource has elements of more than `words` words, or
/// texels that no format has.
pub fn bind(program: &Program, resources: &mut [Resource], elements: u64, words: u32, seed: u64) -> bool {
    let sampler_limits = SamplerLimits::of(program, resources, seed);
    let has_sampler = resources.iter().any(|resource| matches!(resource.contents, ResourceContents::Sampler(_)));
    let sampler_use = if has_sampler { SamplerUse::of(program) } else { SamplerUse::default() };
    (0..).zip(resources).all(|(place, resource)| match &mut resource.contents {
        ResourceContents::Buffer(buffer) => {
            let stride = buffer.others.iter().map(|other| other.1).chain([buffer.stride]).max().unwrap_or(1);
            let count = (elements * u64::from(stride.min(words))).next_multiple_of(buffer.stride.max(1).into());
            buffer.words = (0..count).map(|k| drawn(seed, place, k)).collect();
            stride <= words
        }
        ResourceContents::Sampler(sampler) => {
            let compare = sampler_use.drawn_compare(seed, place);
            *sampler = Some(Sampler { compare, ..sampler_limits.restricted(drawn_sampler(seed, place)) });
            true
        }
        ResourceContents::Texture(textured) => {
            let scalar = match program.env.types.get(textured.texel) {
                Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar,
                _ => return false,
            };
            textured.texture = image(textured.kind, scalar, seed, place).and_then(|image| Texture::new(textured.kind, scalar, image).ok());
            textured.texture.is_some()
        }
    })
}

/// The features that samplers may use, given the sampled textures.
#[derive(Clone, Copy)]
struct SamplerLimits {
    clamps_to_border: bool,
    filters: bool,
}

impl SamplerLimits {
    /// If a texture of integers is sampled, no sampler clamps to its border, since no device of
    /// wgpu has borders of integers. If a texture of floats is sampled as well, no sampler filters,
    /// since a device requires the same of all textures. One seed in eight is exempt from both.
    fn of(program: &Program, resources: &[Resource], seed: u64) -> SamplerLimits {
        let samples = |floats: bool| {
            resources.iter().any(|resource| match &resource.contents {
                ResourceContents::Texture(textured) if !is_writable(textured.kind) => match program.env.types.get(textured.texel) {
                    Type::Scalar(scalar) | Type::Vector(scalar, _) => (scalar == Scalar::Float) == floats,
                    _ => false,
                },
                _ => false,
            })
        };
        let is_exempt = !samples(false) || drawn(seed, u64::MAX, 0) == 0;
        SamplerLimits { clamps_to_border: is_exempt, filters: is_exempt || !samples(true) }
    }

    /// The sampler without the features that it must not use.
    fn restricted(self, sampler: Sampler) -> Sampler {
        let edge = |mode| if mode == AddressMode::ClampToBorder { AddressMode::ClampToEdge } else { mode };
        let address = if self.clamps_to_border { sampler.address } else { sampler.address.map(edge) };
        match self.filters {
            true => Sampler { address, ..sampler },
            false => Sampler { address, mag: Filter::Nearest, min: Filter::Nearest, mip: Filter::Nearest, ..sampler },
        }
    }
}

/// What the functions that a program calls do with samplers. All samplers of a program count as
/// one. If a sampler does not fit a function, the function's value is unspecified (WSL-D23).
#[derive(Clone, Copy, Default)]
struct SamplerUse {
    compares: bool,
    does_not_compare: bool,
}

impl SamplerUse {
    fn of(program: &Program) -> SamplerUse {
        let mut found = SamplerUse::default();
        for expr in &program.exprs {
            let Form::Call(Callee::Library(function), _) = &expr.form else { continue };
            match function.meaning() {
                Meaning::SampleCmp | Meaning::SampleCmpLevelZero | Meaning::GatherCmp => found.compares = true,
                meaning if is_filter(meaning) || is_gather(meaning) => found.does_not_compare = true,
                _ => {}
            }
        }
        found
    }

    /// The comparison of a sampler. If the program has both uses, one of two samplers compares.
    fn drawn_compare(self, seed: u64, place: u64) -> Option<Compare> {
        let compares = self.compares && (!self.does_not_compare || drawn(seed, place, 7).is_multiple_of(2));
        compares.then(|| [Compare::Less, Compare::GreaterOrEqual][drawn(seed, place, 6) as usize % 2])
    }
}

/// The restrictions that changed the resources of this seed.
pub fn restrictions(program: &Program, resources: &[Resource], seed: u64) -> BTreeSet<Restriction> {
    let sampler_limits = SamplerLimits::of(program, resources, seed);
    let samplers = (0..).zip(resources).filter(|(_, resource)| matches!(resource.contents, ResourceContents::Sampler(_)));
    let restrictions = samplers.flat_map(|(place, _)| {
        let drawn = drawn_sampler(seed, place);
        let restricted_sampler = sampler_limits.restricted(drawn);
        let filters = |sampler: Sampler| [sampler.mag, sampler.min, sampler.mip];
        let borders = (restricted_sampler.address != drawn.address).then_some(Restriction::Borders);
        borders.into_iter().chain((filters(restricted_sampler) != filters(drawn)).then_some(Restriction::Filters))
    });
    restrictions.collect()
}

/// A sampler that does not compare.
fn drawn_sampler(seed: u64, place: u64) -> Sampler {
    let pick = |k: u64| drawn(seed, place, k) as usize;
    let filter = |k: u64| [Filter::Nearest, Filter::Linear][pick(k) % 2];
    let mode =
        |k: u64| [AddressMode::Repeat, AddressMode::MirroredRepeat, AddressMode::ClampToEdge, AddressMode::ClampToBorder][pick(k) % 4];
    Sampler { mag: filter(0), min: filter(1), mip: filter(2), address: [mode(3), mode(4), mode(5)], ..Sampler::default() }
}

/// A small image for a texture of this kind. It has one level if the texture is writable, otherwise
/// all levels. One image in eight has no texels yet, and one writable image in 64.
fn image(kind: TextureKind, scalar: Scalar, seed: u64, place: u64) -> Option<Image> {
    let format = match scalar {
        _ if is_depth(kind) => Format::D32Sfloat,
        Scalar::Int => Format::Rgba32Sint,
        Scalar::Uint => Format::Rgba32Uint,
        Scalar::Float => [Format::Rgba32Sfloat, Format::Rgba8Unorm][drawn(seed, place, 0) as usize % 2],
        Scalar::Bool => return None,
    };
    let sides = match shape(kind) {
        Shape::D1 => [4, 1, 1],
        Shape::D1Array => [4, 1, 3],
        Shape::D2 => [4, 2, 1],
        Shape::D2Array => [4, 2, 3],
        Shape::D3 => [4, 2, 2],
        Shape::Cube => [4, 4, 6],
        Shape::CubeArray => [4, 4, 12],
    };
    let levels = if is_writable(kind) { 1 } else { 3 };
    let mut image = Image::of_shape(format, shape(kind), sides, levels).ok()?;
    // If a texture is shown, nothing tells the contents of its undefined texels.
    let is_empty = drawn(seed, place, 1) == 0 && (!is_writable(kind) || drawn(seed, place, u64::MAX) == 0);
    if is_empty {
        return Some(image);
    }
    let mut k = 2;
    for level in 0..levels {
        let mut bytes = image.bytes(level)?.to_vec();
        let width = if format == Format::Rgba8Unorm { 1 } else { 4 };
        for component in bytes.chunks_mut(width) {
            let number = drawn(seed, place, k);
            let bits = match format {
                Format::Rgba8Unorm => 36 * number,
                Format::Rgba32Sfloat | Format::D32Sfloat => (number as f32 / 8.0).to_bits(),
                _ => number,
            };
            component.copy_from_slice(&bits.to_le_bytes()[..width]);
            k += 1;
        }
        image.fill(level, &bytes).ok()?;
    }
    Some(image)
}

/// The scalar type and the number of scalars of an attribute.
fn scalars(program: &Program, ty: TypeId) -> Option<(Scalar, usize)> {
    match program.env.types.get(ty) {
        Type::Scalar(s) => Some((s, 1)),
        Type::Vector(s, n) => Some((s, n.into())),
        Type::Matrix(s, n, m) => Some((s, usize::from(n) * usize::from(m))),
        _ => None,
    }
}

/// Data for each attribute among an entry point's arguments, for `copies` vertices.
fn attributes(program: &Program, entry: &EntryPoint, copies: usize, seed: u64) -> Vec<Attribute> {
    let mut all: Vec<Attribute> = Vec::new();
    for item in &entry.inputs {
        let (Some((Semantic::Attribute(number), _)), Some((scalar, n))) = (item.semantic, scalars(program, item.ty)) else { continue };
        let word = |k: usize| match (scalar, drawn(seed, u64::from(number), k as u64)) {
            (Scalar::Bool, drawn) => drawn & 1,
            (Scalar::Float, drawn) => (drawn as f32 * 0.5 - 1.5).to_bits(),
            (Scalar::Int | Scalar::Uint, drawn) => drawn,
        };
        if all.iter().all(|a| a.number != number) {
            all.push(Attribute { number, scalar, words: (0..n * copies).map(word).collect() });
        }
    }
    all
}

/// The draws of a program: each fragment entry point over a small screen, and with each vertex
/// entry point before it. Draws whose resources cannot be bound are left out. Some of the other
/// draws combine stages that do not fit together.
pub fn draws<'p>(program: &'p Program, text: &'p str, words: u32, seed: u64) -> impl Iterator<Item = Draw<'p>> {
    let entries = move |stage: Stage| program.entry_points.iter().filter(move |e| e.stage == stage);
    let screen_vertices = move |fragment: &EntryPoint| {
        let sources = attributes(program, fragment, 1, seed).into_iter().map(|a| {
            let is_place = a.scalar == Scalar::Float && a.words.len() == 2 && drawn(seed, 0, 0) < 4;
            (a.number, if is_place { StageInSource::Place } else { StageInSource::Constant(a) })
        });
        Vertices::Screen(sources.collect())
    };
    let shaded_vertices = move |entry: &'p EntryPoint| {
        let attributes = attributes(program, entry, 3, seed);
        Vertices::Shaded { entry, count: 3, instances: 2, attributes }
    };
    let pairs = entries(Stage::Fragment).flat_map(move |fragment| {
        let vertices = std::iter::once_with(move || screen_vertices(fragment)).chain(entries(Stage::Vertex).map(shaded_vertices));
        vertices.map(move |vertices| (vertices, fragment))
    });
    pairs.take(MAX_PAIRS).filter_map(move |(vertices, fragment)| draw(program, text, vertices, fragment, (words, seed)))
}

fn draw<'p>(
    program: &'p Program,
    text: &'p str,
    vertices: Vertices<'p>,
    fragment: &'p EntryPoint,
    (words, seed): (u32, u64),
) -> Option<Draw<'p>> {
    let specialization = Specialization::default();
    let depth = (drawn(seed, 1, 0) < 4).then_some(Compare::LessOrEqual);
    let mut draw = Draw { program, text, vertices, fragment, size: [3, 2], depth, resources: Vec::new(), specialization };
    let entry = draw.vertex();
    draw.resources = resources(program, entry, fragment).ok()?;
    if !bind(program, &mut draw.resources, ELEMENTS, words, seed) {
        return None;
    }
    let entries: Vec<&EntryPoint> = entry.into_iter().chain([fragment]).collect();
    let value = |scalar| String::from(if scalar == Scalar::Bool { "true" } else { "1" });
    let mut constant_values: Vec<(String, String)> =
        entries.iter().flat_map(|e| constants(program, e)).map(|(name, scalar)| (name.to_string(), value(scalar))).collect();
    constant_values.sort();
    constant_values.dedup_by(|a, b| a.0 == b.0);
    draw.specialization = Specialization::new(program, &entries, &constant_values).ok()?;
    Some(draw)
}

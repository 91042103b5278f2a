//! Parts of programs and of their results as words and data: bindings, images, geometry, and the
//! state of a draw.
//!
//! Each part is written to the words and the data of a frame. It is read in two steps, because all
//! words come before the data.

use std::io::Read;

use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Image, Sampler, Shape};
use smallstep_semantics::raster::{self, Area, Cull, FrontFace, Topology, Viewport};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};

use super::{Body, WireError, malformed, put_string, put_u64};
use crate::dispatch::{
    Bound, BufferBinding, BufferKind, DepthAttachment, DrawDispatch, DrawResult, Geometry, ImageBinding, ImageKind, SamplerBinding, Stage,
};

const FILTERS: [Filter; 2] = [Filter::Nearest, Filter::Linear];
const BORDERS: [Border; 3] = [Border::TransparentBlack, Border::OpaqueBlack, Border::OpaqueWhite];
const TOPOLOGIES: [Topology; 6] = [Topology::List, Topology::Strip, Topology::Fan, Topology::Points, Topology::Lines, Topology::LineStrip];
const CULLS: [Cull; 4] = [Cull::None, Cull::Front, Cull::Back, Cull::Both];
const FACES: [FrontFace; 2] = [FrontFace::CounterClockwise, FrontFace::Clockwise];
const RATES: [Rate; 2] = [Rate::Vertex, Rate::Instance];

/// The value at an index of a list, which is in the order of its declaration.
fn one_of<T: Copy>(all: &[T], number: u32, what: &str) -> Result<T, WireError> {
    all.get(number as usize).copied().map_or_else(|| malformed(format!("{what} {number}")), Ok)
}

/// The words of a frame, and the data after them.
pub(super) struct Written<'d> {
    pub(super) words: Vec<u32>,
    pub(super) data: Vec<&'d [u8]>,
}

impl<'d> Written<'d> {
    fn image(&mut self, image: &'d Image) {
        let [width, height, slices] = image.sides(0).unwrap_or_default();
        self.words.extend([image.format() as u32, image.shape() as u32, width, height, slices, image.levels()]);
        self.data.extend((0..image.levels()).filter_map(|level| image.bytes(level)));
    }

    pub(super) fn bound(&mut self, bound: Bound<'d>) {
        self.words.push(bound.buffers.len() as u32);
        self.data.push(bound.push_constants);
        for buffer in bound.buffers {
            self.words.extend([buffer.set, buffer.binding, buffer.kind as u32]);
            self.data.push(&buffer.bytes);
        }
        self.words.push(bound.images.len() as u32);
        for image in bound.images {
            self.words.extend([image.set, image.binding, image.kind as u32]);
            self.image(&image.image);
        }
        self.words.push(bound.samplers.len() as u32);
        for SamplerBinding { set, binding, sampler: s } in bound.samplers {
            self.words.extend([*set, *binding, s.mag as u32, s.min as u32, s.mip as u32]);
            self.words.extend(s.address.map(|mode| mode as u32));
            self.words.extend([s.border as u32, u32::from(s.unnormalized)]);
            self.words.extend([s.lod_bias, s.lod_min, s.lod_max].map(f32::to_bits));
            self.words.push(s.compare.map_or(0, |compare| 1 + compare as u32));
        }
    }

    fn floats<const N: usize>(&mut self, floats: Option<[f32; N]>) {
        self.words.push(u32::from(floats.is_some()));
        self.words.extend(floats.iter().flatten().map(|x| x.to_bits()));
    }

    pub(super) fn draw(&mut self, d: &'d DrawDispatch) {
        put_string(&mut self.words, &d.vertex.entry);
        put_string(&mut self.words, &d.fragment.entry);
        self.data.push(bytemuck::cast_slice(&d.vertex.words));
        self.data.push(bytemuck::cast_slice(&d.fragment.words));
        let g = &d.geometry;
        self.words.extend([g.topology as u32, g.first, g.count, g.vertex_offset as u32, g.first_instance, g.instances]);
        self.words.push(u32::from(g.indices.is_some()));
        self.data.extend(g.indices.as_deref().map(bytemuck::cast_slice));
        self.words.push(g.attributes.len() as u32);
        for a in &g.attributes {
            self.words.extend([a.location, a.format as u32, a.rate as u32]);
            put_u64(&mut self.words, a.offset);
            put_u64(&mut self.words, a.stride);
            self.data.push(&a.bytes);
        }
        let (v, a, s) = (&d.state.viewport, &d.state.area, &d.state);
        self.words.extend([v.x, v.y, v.width, v.height, v.min_depth, v.max_depth].map(f32::to_bits));
        self.words.extend([a.x, a.y, a.end_x, a.end_y, s.cull as u32, s.front as u32, u32::from(s.depth_clamp)]);
        self.floats(s.depth_bias.map(|bias| [bias.constant, bias.clamp, bias.slope]));
        self.floats(s.depth_bounds);
        self.words.push(u32::from(s.blend.is_some()));
        for e in s.blend.iter().flat_map(|blend| [blend.colour, blend.alpha]) {
            self.words.extend([e.source as u32, e.destination as u32, e.operation as u32]);
        }
        self.words.extend([s.precision.sub_pixel_bits, s.precision.interpolation_bits].map(u32::from));
        self.words.push(d.targets.len() as u32);
        for target in &d.targets {
            self.words.push(target.location);
            self.image(&target.image);
        }
        self.words.push(u32::from(d.depth.is_some()));
        if let Some(depth) = &d.depth {
            self.words.extend([depth.compare as u32, u32::from(depth.writes)]);
            self.image(&depth.image);
        }
        self.bound(d.bound());
    }

    /// Writes the places and contents of buffers.
    pub(super) fn buffers(&mut self, buffers: &'d [Buffer]) {
        self.words.push(buffers.len() as u32);
        for buffer in buffers {
            self.words.extend([buffer.set, buffer.binding]);
            self.data.push(&buffer.bytes);
        }
    }

    pub(super) fn drawn(&mut self, result: &'d DrawResult) {
        self.words.extend([result.targets.len() as u32, u32::from(result.depth.is_some())]);
        self.data.extend(result.targets.iter().chain(&result.depth).map(Vec::as_slice));
        self.buffers(&result.buffers);
        self.buffers(&result.images);
    }
}

/// An image without its data, which are not read yet.
struct ImageHead([u32; 6]);

impl ImageHead {
    /// Reads the data and makes the image. Memory is allocated only for data that have arrived.
    fn read<R: Read>(self, body: &mut Body<'_, R>) -> Result<Image, WireError> {
        let [format, shape, width, height, slices, levels] = self.0;
        let shape = one_of(&Shape::ALL, shape, "image shape")?;
        let format = one_of(Format::ALL, format, "image format")?;
        if levels > u32::BITS {
            return malformed(format!("an image of {levels} levels"));
        }
        let side = |side: u32, level: u32| u64::from(side.checked_shr(level).unwrap_or(0).max(1));
        let mut data = Vec::new();
        for level in 0..levels {
            let bytes = body.bytes()?;
            let depth = if shape == Shape::D3 { side(slices, level) } else { u64::from(slices) };
            let texels = side(width, level).saturating_mul(side(height, level)).saturating_mul(depth);
            let expected = texels.saturating_mul(format.bytes() as u64);
            if bytes.len() as u64 != expected {
                return malformed(format!("{} bytes for a level of {expected}", bytes.len()));
            }
            data.push(bytes);
        }
        let mut image = Image::of_shape(format, shape, [width, height, slices], levels).or_else(|error| malformed(error.to_string()))?;
        for (level, bytes) in (0..levels).zip(&data) {
            image.fill(level, bytes).or_else(|error| malformed(error.to_string()))?;
        }
        Ok(image)
    }
}

/// Bindings without their data, which are not read yet.
pub(super) struct BoundHead {
    buffers: Vec<[u32; 3]>,
    images: Vec<[u32; 9]>,
    samplers: Vec<[u32; 14]>,
}

/// Bindings, in the order of their data.
pub(super) struct BoundRead {
    pub(super) push_constants: Vec<u8>,
    pub(super) buffers: Vec<BufferBinding>,
    pub(super) images: Vec<ImageBinding>,
    pub(super) samplers: Vec<SamplerBinding>,
}

impl BoundHead {
    pub(super) fn read<R: Read>(body: &mut Body<'_, R>) -> Result<BoundHead, WireError> {
        Ok(BoundHead { buffers: body.counted()?, images: body.counted()?, samplers: body.counted()? })
    }

    pub(super) fn data<R: Read>(self, body: &mut Body<'_, R>) -> Result<BoundRead, WireError> {
        let push_constants = body.bytes()?;
        let (mut buffers, mut images) = (Vec::new(), Vec::new());
        for [set, binding, kind] in self.buffers {
            let kind = one_of(&BufferKind::ALL, kind, "buffer kind")?;
            buffers.push(BufferBinding { set, binding, kind, bytes: body.bytes()? });
        }
        for [set, binding, kind, head @ ..] in self.images {
            let kind = one_of(&ImageKind::ALL, kind, "image kind")?;
            images.push(ImageBinding { set, binding, kind, image: ImageHead(head).read(body)? });
        }
        let samplers = self.samplers.into_iter().map(sampler).collect::<Result<_, _>>()?;
        Ok(BoundRead { push_constants, buffers, images, samplers })
    }
}

fn sampler(words: [u32; 14]) -> Result<SamplerBinding, WireError> {
    let [set, binding, mag, min, mip, x, y, z, border, unnormalized, bias, lod_min, lod_max, compare] = words;
    let filter = |number| one_of(&FILTERS, number, "filter");
    let address = |number| one_of(&AddressMode::ALL, number, "address mode");
    let sampler = Sampler {
        mag: filter(mag)?,
        min: filter(min)?,
        mip: filter(mip)?,
        address: [address(x)?, address(y)?, address(z)?],
        border: one_of(&BORDERS, border, "border")?,
        unnormalized: unnormalized != 0,
        lod_bias: f32::from_bits(bias),
        lod_min: f32::from_bits(lod_min),
        lod_max: f32::from_bits(lod_max),
        compare: compare.checked_sub(1).map(|number| one_of(&Compare::ALL, number, "comparison")).transpose()?,
    };
    Ok(SamplerBinding { set, binding, sampler })
}

pub(super) fn draw<R: Read>(body: &mut Body<'_, R>) -> Result<DrawDispatch, WireError> {
    let (vertex, fragment) = (body.string()?, body.string()?);
    let [topology, first, count, vertex_offset, first_instance, instances, indexed] = body.array()?;
    let attributes: Vec<[u32; 7]> = body.counted()?;
    let [x, y, width, height, min_depth, max_depth] = body.array()?.map(f32::from_bits);
    let viewport = Viewport { x, y, width, height, min_depth, max_depth };
    let [x, y, end_x, end_y, cull, front, depth_clamp] = body.array()?;
    let (bias, depth_bounds) = (floats(body)?, floats(body)?);
    let equation = |body: &mut Body<'_, R>| -> Result<raster::Equation, WireError> {
        let [source, destination, operation] = body.array()?;
        let factor = |number| one_of(&raster::Factor::ALL, number, "blend factor");
        let operation = one_of(&raster::Operation::ALL, operation, "blend operation")?;
        Ok(raster::Equation { source: factor(source)?, destination: factor(destination)?, operation })
    };
    let blend = if body.flag()? { Some(raster::Blend { colour: equation(body)?, alpha: equation(body)? }) } else { None };
    let [sub_pixel_bits, interpolation_bits] = body.array()?;
    let state = raster::State {
        viewport,
        area: Area { x, y, end_x, end_y },
        cull: one_of(&CULLS, cull, "culling")?,
        front: one_of(&FACES, front, "front face")?,
        depth_clamp: depth_clamp != 0,
        depth_bias: bias.map(|[constant, clamp, slope]| raster::DepthBias { constant, clamp, slope }),
        depth_bounds,
        blend,
        samples: 1,
        precision: raster::Precision { sub_pixel_bits: sub_pixel_bits as u8, interpolation_bits: interpolation_bits as u8 },
    };
    let targets: Vec<[u32; 7]> = body.counted()?;
    let depth: Option<[u32; 8]> = if body.flag()? { Some(body.array()?) } else { None };
    let bound = BoundHead::read(body)?;

    let vertex = Stage { words: body.words()?.into(), entry: vertex };
    let fragment = Stage { words: body.words()?.into(), entry: fragment };
    let mut geometry = Geometry {
        topology: one_of(&TOPOLOGIES, topology, "topology")?,
        indices: if indexed != 0 { Some(body.words()?) } else { None },
        first,
        count,
        vertex_offset: vertex_offset as i32,
        first_instance,
        instances,
        attributes: Vec::new(),
    };
    let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    for [location, format, rate, offset, offset_high, stride, stride_high] in attributes {
        geometry.attributes.push(Attribute {
            location,
            format: one_of(Format::ALL, format, "attribute format")?,
            rate: one_of(&RATES, rate, "input rate")?,
            offset: wide(offset, offset_high),
            stride: wide(stride, stride_high),
            bytes: body.bytes()?,
        });
    }
    let read_target = |body: &mut Body<'_, R>, [location, head @ ..]: [u32; 7]| {
        Ok::<_, WireError>(ColourTarget { location, image: ImageHead(head).read(body)? })
    };
    let targets = targets.into_iter().map(|target| read_target(body, target)).collect::<Result<_, _>>()?;
    let depth = match depth {
        None => None,
        Some([compare, writes, head @ ..]) => Some(DepthAttachment {
            compare: one_of(&Compare::ALL, compare, "comparison")?,
            writes: writes != 0,
            image: ImageHead(head).read(body)?,
        }),
    };
    let BoundRead { push_constants, buffers, images, samplers } = bound.data(body)?;
    Ok(DrawDispatch { vertex, fragment, geometry, buffers, images, samplers, push_constants, state, targets, depth })
}

fn floats<R: Read, const N: usize>(body: &mut Body<'_, R>) -> Result<Option<[f32; N]>, WireError> {
    Ok(if body.flag()? { Some(body.array()?.map(f32::from_bits)) } else { None })
}

fn contents<R: Read>(body: &mut Body<'_, R>, places: Vec<[u32; 2]>) -> Result<Vec<Buffer>, WireError> {
    places.into_iter().map(|[set, binding]| Ok(Buffer { set, binding, bytes: body.bytes()? })).collect()
}

/// Reads the buffers and images of a result.
pub(super) fn shown<R: Read>(body: &mut Body<'_, R>) -> Result<[Vec<Buffer>; 2], WireError> {
    let (buffers, images) = (body.counted()?, body.counted()?);
    Ok([contents(body, buffers)?, contents(body, images)?])
}

pub(super) fn drawn<R: Read>(body: &mut Body<'_, R>, words_hash: u64) -> Result<DrawResult, WireError> {
    let [targets, depth] = body.array()?;
    let (buffers, images) = (body.counted()?, body.counted()?);
    let mut target_bytes = Vec::new();
    for _ in 0..targets {
        target_bytes.push(body.bytes()?);
    }
    let depth = if depth != 0 { Some(body.bytes()?) } else { None };
    Ok(DrawResult { words_hash, targets: target_bytes, depth, buffers: contents(body, buffers)?, images: contents(body, images)? })
}

//! Draws: generated ones, and generated dispatches as draws. The entry point of such a dispatch
//! becomes a fragment stage, and each invocation one pixel with a triangle of its own. The
//! built-ins with an invocation's number become inputs, which are constant in the triangle. The
//! rest of the module is unchanged.

use std::sync::Arc;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel};
use smallstep_semantics::image::{Compare, Format, Image};
use smallstep_semantics::raster::{Interpolation, State, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::words::HEADER_WORDS;
use smallstep_semantics::spirv::{Options, assemble, decode};

use super::for_device;
use crate::compute::passing::{self, Port, PortSource};
use crate::dispatch::{BufferBinding, BufferKind, DepthAttachment, DrawDispatch, Geometry, ImageBinding, ImageKind, SamplerBinding, Stage};
use crate::generate::spirv::ComputeCase;
use crate::generate::spirv::quads::{Drawn, SIDE};

/// The most invocations of a dispatch that becomes a draw.
const MAX_INVOCATIONS: u32 = 64;
/// The number of triangles in a row. Each has its own quad of pixels.
const COLUMNS: u32 = 8;

/// The built-ins with an invocation's number, and their numbers of components.
const NUMBERS: [(BuiltIn, u32); 5] = [
    (BuiltIn::GlobalInvocationId, 3),
    (BuiltIn::LocalInvocationId, 3),
    (BuiltIn::WorkgroupId, 3),
    (BuiltIn::NumWorkgroups, 3),
    (BuiltIn::LocalInvocationIndex, 1),
];

/// The value of a built-in in each invocation.
fn numbers(case: &ComputeCase, built_in: BuiltIn) -> Vec<[u32; 3]> {
    let [x, y, z] = case.local_size;
    let split = |n: u32, [x, y, _]: [u32; 3]| [n % x, n / x % y, n / x / y];
    let size = x * y * z;
    let value = |n: u32| {
        let (group, local) = (split(n / size, case.groups), split(n % size, case.local_size));
        match built_in {
            BuiltIn::GlobalInvocationId => [0, 1, 2].map(|i| group[i] * case.local_size[i] + local[i]),
            BuiltIn::LocalInvocationId => local,
            BuiltIn::WorkgroupId => group,
            BuiltIn::NumWorkgroups => case.groups,
            _ => [n % size, 0, 0],
        }
    };
    (0..case.invocations()).map(value).collect()
}

/// A dispatch as a draw. `None` if it has barriers or atomics, or more than 64 invocations. A
/// fragment stage has no barriers, and another order of atomics.
pub fn drawn(case: &ComputeCase) -> Option<DrawDispatch> {
    let decoded = decode(&case.words).ok()?;
    let is_shared_access = |op: Op| {
        matches!(op, Op::ControlBarrier | Op::MemoryBarrier) || Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32
    };
    if case.invocations() > MAX_INVOCATIONS || decoded.instructions.iter().any(|i| is_shared_access(i.op)) {
        return None;
    }
    let mut words = decoded.words[..HEADER_WORDS].to_vec();
    let mut inputs: Vec<(Port, BuiltIn)> = Vec::new();
    for i in &decoded.instructions {
        let (start, operands) = (words.len(), i.operands(decoded.words));
        words.extend(i.words(decoded.words));
        match (i.op, operands) {
            (Op::EntryPoint, _) => words[start + 1] = ExecutionModel::Fragment as u32,
            (Op::ExecutionMode, &[entry, ..]) => {
                words.truncate(start);
                words.extend([3 << 16 | Op::ExecutionMode as u32, entry, ExecutionMode::OriginUpperLeft as u32]);
            }
            (Op::Decorate, &[variable, decoration, built_in]) if decoration == Decoration::BuiltIn as u32 => {
                let (name, rows) = *NUMBERS.iter().find(|(name, _)| *name as u32 == built_in)?;
                let location = inputs.len() as u32;
                let type_ = Type::Int { width: 32, signed: false };
                inputs.push((Port { location, component: 0, type_, rows, how: Interpolation::Flat }, name));
                words.truncate(start);
                words.extend([4 << 16 | Op::Decorate as u32, variable, Decoration::Location as u32, location]);
                words.extend([3 << 16 | Op::Decorate as u32, variable, Decoration::Flat as u32]);
            }
            _ => {}
        }
    }
    let ports: Vec<(Port, PortSource)> = inputs.iter().map(|(port, _)| (*port, PortSource::Attribute(port.location + 1))).collect();
    let vertex = assemble(&passing::vertex(&ports, true), Options::default()).ok()?;
    let (count, rows) = (case.invocations(), case.invocations().div_ceil(COLUMNS));
    let [width, height] = [2 * COLUMNS, 2 * rows];
    let floats = |floats: Vec<f32>| floats.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    // The triangle covers the centre of exactly one pixel.
    let corners = (0..count).flat_map(|n| {
        let centre = [(n % COLUMNS * 2) as f32 + 0.5, (n / COLUMNS * 2) as f32 + 0.5];
        [[-0.375, -0.375], [0.375, -0.375], [0.0, 0.375]].into_iter().flat_map(move |[dx, dy]: [f32; 2]| {
            [2.0 * (centre[0] + dx) / width as f32 - 1.0, 2.0 * (centre[1] + dy) / height as f32 - 1.0, 0.5, 1.0]
        })
    });
    let attribute = |location, format, stride, bytes| Attribute { location, format, rate: Rate::Vertex, offset: 0, stride, bytes };
    let mut attributes = vec![attribute(0, Format::Rgba32Sfloat, 16, floats(corners.collect()))];
    for (port, built_in) in &inputs {
        let each = numbers(case, *built_in).into_iter().flat_map(|number| [number; 3]);
        let bytes = each.flat_map(|number| number[..port.rows as usize].to_vec()).flat_map(u32::to_le_bytes).collect();
        let format = if port.rows == 1 { Format::R32Uint } else { Format::Rgb32Uint };
        attributes.push(attribute(port.location + 1, format, 4 * u64::from(port.rows), bytes));
    }
    let dispatch = for_device(case);
    let mut depths = Image::new(Format::D32Sfloat, width, height, 1).ok()?;
    depths.fill(0, &1f32.to_le_bytes().repeat((width * height) as usize)).ok()?;
    Some(DrawDispatch {
        vertex: Stage { words: vertex.into(), entry: "main".into() },
        fragment: Stage { words: Arc::from(words), entry: case.entry.clone() },
        geometry: Geometry { attributes, ..Geometry::of_count(Topology::List, 3 * count) },
        buffers: dispatch.buffers,
        images: Vec::new(),
        samplers: Vec::new(),
        push_constants: Vec::new(),
        state: State::of_size(width, height),
        targets: Vec::new(),
        depth: Some(DepthAttachment { image: depths, compare: Compare::LessOrEqual, writes: true }),
    })
}

/// A generated draw. With several samples, it has one attachment for each sample: the colour
/// attachments share one location, and the depths are stacked vertically in one image.
pub fn quads(drawn: &Drawn) -> DrawDispatch {
    let stage = |words: &[u32], entry: &str| Stage { words: Arc::from(words), entry: entry.into() };
    let attribute = |location, items: &[[f32; 4]]| Attribute {
        location,
        format: Format::Rgba32Sfloat,
        rate: Rate::Vertex,
        offset: 0,
        stride: 16,
        bytes: items.iter().flatten().flat_map(|x| x.to_le_bytes()).collect(),
    };
    let samples = drawn.mix.samples;
    let image = |format: Format, height, texel: &[u8]| {
        let mut image = Image::new(format, SIDE, height, 1).expect("a small image");
        image.fill(0, &texel.repeat((SIDE * height) as usize)).expect("the bytes of its level");
        image
    };
    let one = |format| if format == Format::D16Unorm { &[0xff; 2][..] } else { &[0, 0, 0x80, 0x3f] };
    let zeros = vec![0; drawn.format.bytes()];
    let target = ColourTarget { location: 0, image: image(drawn.format, SIDE, &zeros) };
    DrawDispatch {
        vertex: stage(&drawn.vertex, "vs"),
        fragment: stage(&drawn.fragment, "fs"),
        geometry: Geometry {
            attributes: vec![attribute(0, &drawn.positions), attribute(1, &drawn.given)],
            ..Geometry::of_count(Topology::List, drawn.positions.len() as u32)
        },
        buffers: match drawn.mix.sees {
            true => vec![BufferBinding { set: 0, binding: 0, kind: BufferKind::ReadWrite, bytes: drawn.buffer.clone() }],
            false => Vec::new(),
        },
        images: vec![ImageBinding { set: 0, binding: 1, kind: ImageKind::Sampled, image: drawn.texture.clone() }],
        samplers: vec![SamplerBinding { set: 0, binding: 2, sampler: drawn.sampler }],
        push_constants: Vec::new(),
        state: State { samples, ..State::of_size(SIDE, SIDE) },
        targets: (0..samples).map(|_| target.clone()).collect(),
        depth: drawn.depth.map(|format| DepthAttachment {
            image: image(format, SIDE * samples, one(format)),
            compare: Compare::LessOrEqual,
            writes: true,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::spirv::{Limits, case};
    use crate::theorem::dispatches::{Engines, Judged, judge};
    use crate::theorem::refine::draws::Stages;
    use smallstep_semantics::outcome::Outcome;

    /// The draw shows the results of the dispatch, word for word.
    #[test]
    fn a_draw_shows_what_the_dispatch_shows() {
        let (mut same, mut some) = (0, 0);
        for seed in 0..40 {
            let case = case(seed, &Limits { executed: 60, shared_percent: 0, ..Limits::default() });
            let Some(draw) = drawn(&case) else { continue };
            some += 1;
            draw.check().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let engines = Engines { without_relation: true, ..Engines::default() };
            let (Judged::Observed(computed) | Judged::Uncompiled(_, Some(computed))) = judge(&case, &engines) else { continue };
            let stages = Stages::new(&draw).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            match stages.definite(&draw, 1 << 24) {
                Ok(Outcome::Observed(picture)) => {
                    for buffer in &computed.buffers {
                        let shown = picture.buffers.iter().find(|b| (b.set, b.binding) == (buffer.set, buffer.binding));
                        assert_eq!(shown.map(|b| &b.bytes), Some(&buffer.bytes), "seed {seed}, binding {}", buffer.binding);
                    }
                    same += 1;
                }
                other => panic!("seed {seed}: {:?}", other.map(|outcome| outcome.name())),
            }
        }
        assert!(same >= 20 && some >= 20, "{same} of {some}");
    }
}

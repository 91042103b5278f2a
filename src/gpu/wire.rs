//! The protocol between the two processes. Programs go one way and reports the other, each as a
//! [frame](frame) over the worker's standard input and output.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::Route;
use super::adapters::{AdapterRecord, ComputeLimits, Subgroups};
use super::float_controls::FloatControls;
use crate::dispatch::{ComputeDispatch, ComputeResult, Dispatch, FragmentDispatch, Frame, Shown, Target};

mod frame;
mod parts;

pub(crate) use frame::WireError;
use frame::{Body, malformed, put_string, put_u64, read_frame, write_frame};
use parts::{BoundHead, BoundRead, Written};

const DRAW: u32 = 1;
const READY: u32 = 2;
const NO_DEVICE: u32 = 3;
const DRAWN: u32 = 4;
const REFUSED: u32 = 5;
const UNCHECKED: u32 = 6;
const LOST: u32 = 7;
const GAVE_UP: u32 = 8;
const ADAPTERS: u32 = 9;
const COMPUTE: u32 = 10;
const COMPUTED: u32 = 11;
const RENDER: u32 = 12;
const RENDERED: u32 = 13;

/// From parent to worker: a program to run. Its number comes back with the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) dispatch: Dispatch,
}

/// The reason why a program did not run, although the device works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declined {
    /// wgpu, naga or the driver refused the module or its pipeline.
    Refused(String),
    /// The device does not support the program. The text names a limit or a capability.
    Unchecked(String),
}

/// From worker to parent: a report.
#[derive(Debug, PartialEq)]
pub(crate) enum Report {
    /// The device is open, and the worker accepts programs.
    Ready(Box<AdapterRecord>, Route),
    /// All adapters. It is the only report of a worker that lists them.
    Adapters(Vec<AdapterRecord>),
    /// There is no such device. This is the last report.
    NoDevice(String),
    /// The result of one program.
    Finished { number: u64, result: Result<Shown, Declined> },
    /// The device is lost, with all its programs. This is the last report.
    Lost(String),
    /// The driver refused a program in a way that makes wgpu's device unusable. This is the
    /// last report.
    GaveUp(String),
}

impl Run {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut body = Written { words: Vec::with_capacity(32), data: Vec::new() };
        put_u64(&mut body.words, self.number);
        let kind = match &self.dispatch {
            Dispatch::Fragment(d) => {
                put_string(&mut body.words, &d.entry);
                body.words.extend([d.width, d.height, d.outputs.len() as u32]);
                for target in &d.outputs {
                    body.words.extend([target.location, target.components]);
                }
                body.data.extend([bytemuck::cast_slice(&d.words), bytemuck::cast_slice(&d.constants)]);
                DRAW
            }
            Dispatch::Compute(d) => {
                put_string(&mut body.words, &d.entry);
                body.words.extend(d.groups);
                body.data.push(bytemuck::cast_slice(&d.words));
                body.bound(d.bound());
                COMPUTE
            }
            Dispatch::Draw(d) => {
                body.draw(d);
                RENDER
            }
        };
        write_frame(out, kind, &body.words, &body.data)
    }

    /// Reads the next frame. None at the end of the stream.
    pub(crate) fn read(input: &mut impl Read) -> Result<Option<Run>, WireError> {
        let Some((kind, mut body)) = read_frame(input)? else {
            return Ok(None);
        };
        let number = body.u64()?;
        let dispatch = match kind {
            DRAW => {
                let entry = body.string()?;
                let [width, height] = body.array()?;
                let outputs = body.counted()?.into_iter().map(|[location, components]| Target { location, components }).collect();
                let words = Arc::from(body.words()?);
                FragmentDispatch { words, entry, width, height, outputs, constants: body.words()? }.into()
            }
            COMPUTE => {
                let (entry, groups) = (body.string()?, body.array()?);
                let head = BoundHead::read(&mut body)?;
                let words = Arc::from(body.words()?);
                let BoundRead { push_constants, buffers, images, samplers } = head.data(&mut body)?;
                ComputeDispatch { words, entry, groups, buffers, images, samplers, push_constants }.into()
            }
            RENDER => parts::draw(&mut body)?.into(),
            _ => return malformed(format!("kind {kind} where a program is due")),
        };
        body.end()?;
        Ok(Some(Run { number, dispatch }))
    }
}

impl Report {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        let kind = match self {
            Report::Ready(record, route) => {
                put_record(&mut body, record);
                body.push(match route {
                    Route::Passthrough => 0,
                    Route::Naga => 1,
                    Route::Wgsl => 2,
                });
                READY
            }
            Report::Adapters(records) => {
                body.push(records.len() as u32);
                records.iter().for_each(|record| put_record(&mut body, record));
                ADAPTERS
            }
            Report::NoDevice(text) => {
                put_string(&mut body, text);
                NO_DEVICE
            }
            Report::Lost(text) => {
                put_string(&mut body, text);
                LOST
            }
            Report::GaveUp(text) => {
                put_string(&mut body, text);
                GAVE_UP
            }
            Report::Finished { number, result } => {
                put_u64(&mut body, *number);
                match result {
                    Ok(Shown::Frame(frame)) => {
                        put_u64(&mut body, frame.words_hash);
                        body.push(frame.images.len() as u32);
                        let images: Vec<&[u8]> = frame.images.iter().map(|image| bytemuck::cast_slice(image)).collect();
                        return write_frame(out, DRAWN, &body, &images);
                    }
                    Ok(Shown::Buffers(result)) => {
                        put_u64(&mut body, result.words_hash);
                        let mut body = Written { words: body, data: Vec::new() };
                        body.buffers(&result.buffers);
                        body.buffers(&result.images);
                        return write_frame(out, COMPUTED, &body.words, &body.data);
                    }
                    Ok(Shown::Drawn(result)) => {
                        put_u64(&mut body, result.words_hash);
                        let mut body = Written { words: body, data: Vec::new() };
                        body.drawn(result);
                        return write_frame(out, RENDERED, &body.words, &body.data);
                    }
                    Err(Declined::Refused(text)) => {
                        put_string(&mut body, text);
                        REFUSED
                    }
                    Err(Declined::Unchecked(text)) => {
                        put_string(&mut body, text);
                        UNCHECKED
                    }
                }
            }
        };
        write_frame(out, kind, &body, &[])
    }

    /// Reads the next frame. None at the end of the stream.
    pub(crate) fn read(input: &mut impl Read) -> Result<Option<Report>, WireError> {
        let Some((kind, mut body)) = read_frame(input)? else {
            return Ok(None);
        };
        let report = match kind {
            READY => {
                let record = Box::new(body.record()?);
                let route = match body.word()? {
                    0 => Route::Passthrough,
                    1 => Route::Naga,
                    2 => Route::Wgsl,
                    other => return malformed(format!("route {other}")),
                };
                Report::Ready(record, route)
            }
            ADAPTERS => {
                let count = body.word()?;
                Report::Adapters((0..count).map(|_| body.record()).collect::<Result<_, _>>()?)
            }
            NO_DEVICE => Report::NoDevice(body.string()?),
            LOST => Report::Lost(body.string()?),
            GAVE_UP => Report::GaveUp(body.string()?),
            DRAWN => {
                let (number, words_hash, count) = (body.u64()?, body.u64()?, body.word()?);
                let mut images = Vec::new();
                for _ in 0..count {
                    images.push(body.image()?);
                }
                Report::Finished { number, result: Ok(Shown::Frame(Frame { words_hash, images })) }
            }
            COMPUTED => {
                let (number, words_hash) = (body.u64()?, body.u64()?);
                let [buffers, images] = parts::shown(&mut body)?;
                Report::Finished { number, result: Ok(Shown::Buffers(ComputeResult { words_hash, buffers, images })) }
            }
            RENDERED => {
                let (number, words_hash) = (body.u64()?, body.u64()?);
                Report::Finished { number, result: Ok(Shown::Drawn(parts::drawn(&mut body, words_hash)?)) }
            }
            REFUSED => Report::Finished { number: body.u64()?, result: Err(Declined::Refused(body.string()?)) },
            UNCHECKED => Report::Finished { number: body.u64()?, result: Err(Declined::Unchecked(body.string()?)) },
            other => return malformed(format!("kind {other} where a report is due")),
        };
        body.end()?;
        Ok(Some(report))
    }
}

fn put_record(body: &mut Vec<u32>, record: &AdapterRecord) {
    body.push(record.index);
    for text in [&record.name, &record.driver, &record.kind, &record.backend, &record.pci] {
        put_string(body, text);
    }
    body.extend([record.vulkan.0, record.vulkan.1, u32::from(record.passthrough), u32::from(record.float_targets)]);
    body.push(u32::from(record.float_controls.is_some()));
    body.extend(record.float_controls.unwrap_or_default().map(FloatControls::bits));
    body.extend([record.max_color_attachments, record.max_color_attachment_bytes_per_sample, record.max_texture_dimension_2d]);
    put_u64(body, record.max_storage_buffer_binding_size);
    body.extend([record.int8, record.sample_shading, record.cube_arrays, record.terminate_invocation].map(u32::from));
    body.extend(record.variable_pointers.map(u32::from));
    let Subgroups { min_size, max_size, operations, stages } = record.subgroups;
    body.extend([min_size, max_size, operations, stages]);
    let compute = &record.compute;
    body.extend([compute.max_workgroups_per_dimension, compute.max_invocations_per_workgroup]);
    body.extend(compute.max_workgroup_size);
    body.extend([
        compute.max_workgroup_storage_size,
        compute.max_descriptor_sets,
        compute.max_storage_buffers,
        compute.max_uniform_buffers,
    ]);
    body.push(compute.max_push_constants_size);
    put_u64(body, compute.max_uniform_buffer_binding_size);
    put_u64(body, compute.max_buffer_size);
}

impl<R: Read> Body<'_, R> {
    fn record(&mut self) -> Result<AdapterRecord, WireError> {
        Ok(AdapterRecord {
            index: self.word()?,
            name: self.string()?,
            driver: self.string()?,
            kind: self.string()?,
            backend: self.string()?,
            pci: self.string()?,
            vulkan: (self.word()?, self.word()?),
            passthrough: self.flag()?,
            float_targets: self.flag()?,
            float_controls: {
                let has_controls = self.flag()?;
                let widths = [self.word()?, self.word()?, self.word()?].map(FloatControls::from_bits);
                has_controls.then_some(widths)
            },
            max_color_attachments: self.word()?,
            max_color_attachment_bytes_per_sample: self.word()?,
            max_texture_dimension_2d: self.word()?,
            max_storage_buffer_binding_size: self.u64()?,
            int8: self.flag()?,
            sample_shading: self.flag()?,
            cube_arrays: self.flag()?,
            terminate_invocation: self.flag()?,
            variable_pointers: [self.flag()?, self.flag()?],
            subgroups: Subgroups { min_size: self.word()?, max_size: self.word()?, operations: self.word()?, stages: self.word()? },
            compute: ComputeLimits {
                max_workgroups_per_dimension: self.word()?,
                max_invocations_per_workgroup: self.word()?,
                max_workgroup_size: self.array()?,
                max_workgroup_storage_size: self.word()?,
                max_descriptor_sets: self.word()?,
                max_storage_buffers: self.word()?,
                max_uniform_buffers: self.word()?,
                max_push_constants_size: self.word()?,
                max_uniform_buffer_binding_size: self.u64()?,
                max_buffer_size: self.u64()?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::{Border, Compare, Filter, Format, Image, Sampler};
    use smallstep_semantics::raster::{self, Cull, FrontFace, Topology};
    use smallstep_semantics::spirv::Buffer;
    use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};

    use super::*;
    use crate::dispatch::{
        BufferBinding, BufferKind, DepthAttachment, DrawDispatch, DrawResult, Geometry, ImageBinding, ImageKind, SamplerBinding, Stage,
    };

    fn image(format: Format, width: u32, height: u32, levels: u32) -> Image {
        let mut image = Image::new(format, width, height, levels).expect("it has that many levels");
        for level in 0..levels {
            let bytes: Vec<u8> = (0..image.bytes(level).map_or(0, <[u8]>::len)).map(|i| (7 * i) as u8).collect();
            image.fill(level, &bytes).expect("the level has as many bytes");
        }
        image
    }

    fn draw() -> DrawDispatch {
        let sampler = Sampler {
            mip: Filter::Linear,
            border: Border::OpaqueWhite,
            lod_bias: -1.5,
            compare: Some(Compare::Always),
            ..Sampler::default()
        };
        let mut state = raster::State::of_size(3, 2);
        (state.cull, state.front, state.depth_clamp) = (Cull::Both, FrontFace::Clockwise, true);
        state.viewport.height = -2.0;
        state.depth_bias = Some(raster::DepthBias { constant: 3.0, clamp: -0.5, slope: 2.0 });
        state.depth_bounds = Some([0.25, 0.75]);
        let equation = |source, destination, operation| raster::Equation { source, destination, operation };
        state.blend = Some(raster::Blend {
            colour: equation(raster::Factor::SourceAlpha, raster::Factor::OneMinusSourceAlpha, raster::Operation::ReverseSubtract),
            alpha: equation(raster::Factor::DestinationAlpha, raster::Factor::Zero, raster::Operation::Max),
        });
        let attribute = Attribute {
            location: 1,
            format: Format::Rg16Sfloat,
            rate: Rate::Instance,
            offset: 1 << 40,
            stride: 3,
            bytes: vec![1, 2, 3, 4, 5],
        };
        DrawDispatch {
            vertex: Stage { words: Arc::from([1, 2, 3]), entry: "v".into() },
            fragment: Stage { words: Arc::from([4]), entry: "fragment".into() },
            geometry: Geometry {
                topology: Topology::Fan,
                indices: Some(vec![3, 2, 1]),
                first: 4,
                count: 5,
                vertex_offset: -6,
                first_instance: 7,
                instances: 8,
                attributes: vec![attribute],
            },
            buffers: vec![BufferBinding { set: 1, binding: 2, kind: BufferKind::Uniform, bytes: vec![1; 3] }],
            images: vec![ImageBinding { set: 3, binding: 4, kind: ImageKind::Sampled, image: image(Format::R8Unorm, 5, 3, 3) }],
            samplers: vec![SamplerBinding { set: 5, binding: 6, sampler }],
            push_constants: vec![9; 8],
            state,
            targets: vec![ColourTarget { location: 2, image: image(Format::Rgba8Unorm, 3, 2, 1) }],
            depth: Some(DepthAttachment { image: image(Format::D32Sfloat, 3, 2, 1), compare: Compare::Greater, writes: true }),
        }
    }

    fn runs() -> [Run; 3] {
        let fragment = FragmentDispatch {
            words: Arc::from([1, 2, 3]),
            entry: "maïn".into(),
            width: 3,
            height: 2,
            outputs: vec![Target { location: 2, components: 1 }, Target { location: 0, components: 4 }],
            constants: vec![7],
        };
        let buffer = |binding: u32, kind: BufferKind, bytes: &[u8]| BufferBinding { set: 1, binding, kind, bytes: bytes.to_vec() };
        let compute = ComputeDispatch {
            words: Arc::from([4, 5]),
            entry: "main".into(),
            groups: [7, 8, 9],
            buffers: vec![
                buffer(0, BufferKind::ReadWrite, &[1, 2, 3, 4, 5, 6, 7, 8]),
                buffer(3, BufferKind::Uniform, &[9; 5]),
                buffer(2, BufferKind::ReadOnly, &[1; 4]),
            ],
            images: vec![ImageBinding { set: 0, binding: 1, kind: ImageKind::Storage, image: image(Format::R32Uint, 2, 2, 1) }],
            samplers: vec![SamplerBinding { set: 5, binding: 6, sampler: Sampler::default() }],
            push_constants: vec![1, 2, 3, 4],
        };
        [
            Run { number: u64::MAX - 1, dispatch: fragment.into() },
            Run { number: 3, dispatch: compute.into() },
            Run { number: 4, dispatch: draw().into() },
        ]
    }

    fn reports() -> Vec<Report> {
        let controls = FloatControls { rounding_mode_rte: true, denorm_preserve: true, ..FloatControls::default() };
        let record = AdapterRecord {
            index: 3,
            name: "a name".into(),
            driver: "".into(),
            kind: "software".into(),
            backend: "vulkan".into(),
            pci: "0000:01:00.0".into(),
            vulkan: (1, 3),
            passthrough: true,
            float_targets: false,
            float_controls: Some([FloatControls::default(), controls, FloatControls::default()]),
            max_color_attachments: 8,
            max_color_attachment_bytes_per_sample: 128,
            max_texture_dimension_2d: 16384,
            max_storage_buffer_binding_size: 1 << 40,
            int8: false,
            sample_shading: true,
            cube_arrays: true,
            terminate_invocation: true,
            variable_pointers: [true, false],
            subgroups: Subgroups { min_size: 8, max_size: 16, operations: 0xff, stages: 0x30 },
            compute: ComputeLimits {
                max_workgroups_per_dimension: 1,
                max_invocations_per_workgroup: 2,
                max_workgroup_size: [3, 4, 5],
                max_workgroup_storage_size: 6,
                max_descriptor_sets: 7,
                max_storage_buffers: 8,
                max_uniform_buffers: 9,
                max_push_constants_size: 10,
                max_uniform_buffer_binding_size: 11 << 32,
                max_buffer_size: 12 << 32,
            },
        };
        let buffer = |binding: u32, bytes: &[u8]| Buffer { set: 2, binding, bytes: bytes.to_vec() };
        vec![
            Report::Ready(Box::new(record.clone()), Route::Naga),
            Report::Adapters(vec![]),
            Report::Adapters(vec![record.clone(), record]),
            Report::NoDevice("none".into()),
            Report::Lost("gone".into()),
            Report::GaveUp("it would not".into()),
            Report::Finished {
                number: 9,
                result: Ok(Shown::Frame(Frame { words_hash: 1 << 63, images: vec![vec![[1, 2, 3, 4]; 6], vec![[0; 4]; 6]] })),
            },
            Report::Finished {
                number: 9,
                result: Ok(Shown::Buffers(ComputeResult {
                    words_hash: 5,
                    buffers: vec![buffer(0, &[1; 6]), buffer(4, &[2; 8])],
                    images: vec![buffer(5, &[3; 4])],
                })),
            },
            Report::Finished {
                number: 9,
                result: Ok(Shown::Drawn(DrawResult {
                    words_hash: 6,
                    targets: vec![vec![1; 6], vec![2; 3]],
                    depth: Some(vec![3; 2]),
                    buffers: vec![buffer(0, &[1; 6])],
                    images: vec![buffer(4, &[2; 8]), buffer(6, &[2; 7])],
                })),
            },
            Report::Finished { number: 9, result: Err(Declined::Refused("no".into())) },
            Report::Finished { number: 9, result: Err(Declined::Unchecked("why".into())) },
        ]
    }

    #[test]
    fn frames_come_back_as_they_were_written() {
        let mut bytes = Vec::new();
        for run in runs() {
            run.write(&mut bytes).expect("memory takes it");
        }
        let mut input = bytes.as_slice();
        for run in runs() {
            assert_eq!(Run::read(&mut input).expect("whole"), Some(run));
        }
        assert_eq!(Run::read(&mut input).expect("the end"), None);
        for report in reports() {
            let mut bytes = Vec::new();
            report.write(&mut bytes).expect("memory takes it");
            assert_eq!(Report::read(&mut bytes.as_slice()).expect("whole"), Some(report));
        }
    }

    #[test]
    fn truncated_and_altered_frames_are_errors() {
        let mut frames = Vec::new();
        for report in reports() {
            let mut bytes = Vec::new();
            report.write(&mut bytes).expect("memory takes it");
            frames.push(bytes);
        }
        for bytes in frames {
            for end in 1..bytes.len() {
                assert!(Report::read(&mut &bytes[..end]).is_err(), "a frame cut to {end} of {} bytes", bytes.len());
            }
            alter(&bytes);
        }
        for run in runs() {
            let mut bytes = Vec::new();
            run.write(&mut bytes).expect("memory takes it");
            for end in 1..bytes.len() {
                assert!(Run::read(&mut &bytes[..end]).is_err(), "a frame cut to {end} of {} bytes", bytes.len());
            }
            alter(&bytes);
        }
        let text = b"a driver that prints to standard output";
        assert!(matches!(Report::read(&mut text.as_slice()), Err(WireError::Malformed(said)) if said.contains("a driver")));
    }

    /// Each word in turn is replaced by a huge one. The result is an error or another frame, never
    /// a panic and never memory for missing data.
    fn alter(bytes: &[u8]) {
        for word in 0..bytes.len() / 4 {
            let mut altered = bytes.to_vec();
            altered[word * 4..word * 4 + 4].copy_from_slice(&[0xff; 4]);
            let _ = Report::read(&mut altered.as_slice());
            let _ = Run::read(&mut altered.as_slice());
        }
    }
}

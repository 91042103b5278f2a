//! What passes between the two processes: length-prefixed frames of 32-bit words in host order, over the worker's standard input and output.
//!
//! A frame is `[MAGIC, kind, length]` and `length` words. Every length is checked against a bound or against what is left before memory is taken, so
//! that a worker gone wild costs an error, not the parent.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::adapters::AdapterRecord;
use super::float_controls::FloatControls;
use super::{Route, draw::Declined};
use crate::dispatch::{self, FragmentDispatch, Frame, Target};

const MAGIC: u32 = 0x536d_5374;
/// The most words of one frame: the largest image, or the largest module and constants, and some.
const MAX_BODY: usize = dispatch::MAX_FRAME_PIXELS as usize * 4 + (1 << 20);
/// How many items are read before more memory is taken.
const STRIDE: usize = 1 << 16;

const DRAW: u32 = 1;
const READY: u32 = 2;
const NO_DEVICE: u32 = 3;
const DRAWN: u32 = 4;
const REFUSED: u32 = 5;
const UNCHECKED: u32 = 6;
const LOST: u32 = 7;
const GAVE_UP: u32 = 8;
const ADAPTERS: u32 = 9;

/// From parent to worker: draw this. The number comes back with the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draw {
    pub(crate) number: u64,
    pub(crate) dispatch: FragmentDispatch,
}

/// From worker to parent.
#[derive(Debug, PartialEq)]
pub(crate) enum Report {
    /// The device is open; programs are taken from now on.
    Ready(Box<AdapterRecord>, Route),
    /// Every adapter: the only report of a worker that lists them.
    Adapters(Vec<AdapterRecord>),
    /// There is no such device. The last report.
    NoDevice(String),
    /// What became of one program.
    Finished { number: u64, result: Result<Frame, Declined> },
    /// The device is lost, and everything that it was given. The last report.
    Lost(String),
    /// The driver refused a program in a way after which wgpu has no device any more. The last report.
    GaveUp(String),
}

/// Why a frame could not be read.
#[derive(Debug)]
pub(crate) enum WireError {
    /// Reading failed, or the stream ended within a frame.
    Io(io::Error),
    /// The bytes are no frame.
    Malformed(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Io(error) => write!(f, "the stream broke: {error}"),
            WireError::Malformed(what) => write!(f, "the stream holds no frame: {what}"),
        }
    }
}

impl std::error::Error for WireError {}

fn malformed<T>(what: impl Into<String>) -> Result<T, WireError> {
    Err(WireError::Malformed(what.into()))
}

impl Draw {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let d = &self.dispatch;
        let mut body = Vec::with_capacity(d.words.len() + d.constants.len() + 32);
        put_u64(&mut body, self.number);
        body.extend([d.width, d.height]);
        put_string(&mut body, &d.entry);
        body.push(d.outputs.len() as u32);
        for target in &d.outputs {
            body.extend([target.location, target.components]);
        }
        put_words(&mut body, &d.words);
        put_words(&mut body, &d.constants);
        write_frame(out, DRAW, &body, &[])
    }

    /// The next frame; None at the end of the stream.
    pub(crate) fn read(input: &mut impl Read) -> Result<Option<Draw>, WireError> {
        let Some((kind, mut body)) = read_frame(input)? else {
            return Ok(None);
        };
        if kind != DRAW {
            return malformed(format!("kind {kind} where a program is due"));
        }
        let number = body.u64()?;
        let (width, height) = (body.word()?, body.word()?);
        let entry = body.string()?;
        let count = body.word()?;
        let mut outputs = Vec::new();
        for _ in 0..count {
            outputs.push(Target { location: body.word()?, components: body.word()? });
        }
        let words = Arc::from(body.words()?);
        let constants = body.words()?;
        body.end()?;
        Ok(Some(Draw { number, dispatch: FragmentDispatch { words, entry, width, height, outputs, constants } }))
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
                    Ok(frame) => {
                        put_u64(&mut body, frame.words_hash);
                        body.push(frame.images.len() as u32);
                        return write_frame(out, DRAWN, &body, &frame.images);
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

    /// The next frame; None at the end of the stream.
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
                Report::Finished { number, result: Ok(Frame { words_hash, images }) }
            }
            REFUSED => Report::Finished { number: body.u64()?, result: Err(Declined::Refused(body.string()?)) },
            UNCHECKED => Report::Finished { number: body.u64()?, result: Err(Declined::Unchecked(body.string()?)) },
            other => return malformed(format!("kind {other} where a report is due")),
        };
        body.end()?;
        Ok(Some(report))
    }
}

/// A frame of some words and, after them, some images, each with its length in words; images are not copied on the way.
fn write_frame(out: &mut impl Write, kind: u32, body: &[u32], images: &[Vec<[u32; 4]>]) -> io::Result<()> {
    let length = body.len() + images.iter().map(|image| 1 + image.len() * 4).sum::<usize>();
    if length > MAX_BODY {
        return Err(io::Error::other(format!("a frame of {length} words is over the bound of {MAX_BODY}")));
    }
    out.write_all(bytemuck::cast_slice(&[MAGIC, kind, length as u32]))?;
    out.write_all(bytemuck::cast_slice(body))?;
    for image in images {
        let pixels: &[u32] = image.as_flattened();
        out.write_all(bytemuck::bytes_of(&(pixels.len() as u32)))?;
        out.write_all(bytemuck::cast_slice(pixels))?;
    }
    Ok(())
}

/// The kind and the body of the next frame; None at the end of the stream.
fn read_frame<R: Read>(input: &mut R) -> Result<Option<(u32, Body<'_, R>)>, WireError> {
    let mut header = [0u32; 3];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut header);
    let mut have = 0;
    while have < bytes.len() {
        match input.read(&mut bytes[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(WireError::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(n) => have += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(WireError::Io(error)),
        }
    }
    let [magic, kind, length] = header;
    if magic != MAGIC {
        return malformed(format!("it begins with {:?}", String::from_utf8_lossy(bytemuck::bytes_of(&header))));
    }
    let left = length as usize;
    if left > MAX_BODY {
        return malformed(format!("a length of {left} words, over the bound of {MAX_BODY}"));
    }
    Ok(Some((kind, Body { input, left })))
}

fn put_u64(body: &mut Vec<u32>, value: u64) {
    body.extend([value as u32, (value >> 32) as u32]);
}

fn put_words(body: &mut Vec<u32>, words: &[u32]) {
    body.push(words.len() as u32);
    body.extend(words);
}

fn put_string(body: &mut Vec<u32>, text: &str) {
    body.push(text.len() as u32);
    body.extend(text.as_bytes().chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    }));
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
}

/// What is left of a frame's body, still in the stream.
struct Body<'a, R> {
    input: &'a mut R,
    /// In words.
    left: usize,
}

impl<R: Read> Body<'_, R> {
    /// Claims so many words; the caller reads them.
    fn claim(&mut self, count: usize) -> Result<(), WireError> {
        match self.left.checked_sub(count) {
            Some(left) => self.left = left,
            None => return malformed(format!("{count} words are due, {} are left", self.left)),
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u32; N], WireError> {
        self.claim(N)?;
        let mut words = [0; N];
        self.input.read_exact(bytemuck::cast_slice_mut(&mut words)).map_err(WireError::Io)?;
        Ok(words)
    }

    /// So many items of so many words, in memory that grows with what has arrived.
    fn items<const N: usize>(&mut self, count: usize) -> Result<Vec<[u32; N]>, WireError> {
        self.claim(count.saturating_mul(N))?;
        let mut items: Vec<[u32; N]> = Vec::new();
        while items.len() < count {
            let start = items.len();
            items.resize(count.min(start + STRIDE), [0; N]);
            self.input.read_exact(bytemuck::cast_slice_mut(items[start..].as_flattened_mut())).map_err(WireError::Io)?;
        }
        Ok(items)
    }

    fn word(&mut self) -> Result<u32, WireError> {
        Ok(self.array::<1>()?[0])
    }

    fn u64(&mut self) -> Result<u64, WireError> {
        let [low, high] = self.array()?;
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    fn words(&mut self) -> Result<Vec<u32>, WireError> {
        let count = self.word()? as usize;
        Ok(self.items::<1>(count)?.into_flattened())
    }

    fn image(&mut self) -> Result<Vec<[u32; 4]>, WireError> {
        let words = self.word()? as usize;
        if !words.is_multiple_of(4) {
            return malformed(format!("an image of {words} words, which are no whole pixels"));
        }
        self.items(words / 4)
    }

    fn string(&mut self) -> Result<String, WireError> {
        let length = self.word()? as usize;
        let words = self.items::<1>(length.div_ceil(4))?.into_flattened();
        let bytes = words.iter().flat_map(|w| w.to_le_bytes()).take(length).collect();
        String::from_utf8(bytes).or_else(|_| malformed("a text that is not UTF-8"))
    }

    fn flag(&mut self) -> Result<bool, WireError> {
        Ok(self.word()? != 0)
    }

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
                let known = self.flag()?;
                let widths = [self.word()?, self.word()?, self.word()?].map(FloatControls::from_bits);
                known.then_some(widths)
            },
            max_color_attachments: self.word()?,
            max_color_attachment_bytes_per_sample: self.word()?,
            max_texture_dimension_2d: self.word()?,
            max_storage_buffer_binding_size: self.u64()?,
        })
    }

    fn end(&self) -> Result<(), WireError> {
        if self.left == 0 { Ok(()) } else { malformed(format!("{} words more than the frame's kind has", self.left)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw() -> Draw {
        Draw {
            number: u64::MAX - 1,
            dispatch: FragmentDispatch {
                words: Arc::from([1, 2, 3]),
                entry: "maïn".into(),
                width: 3,
                height: 2,
                outputs: vec![Target { location: 2, components: 1 }, Target { location: 0, components: 4 }],
                constants: vec![7],
            },
        }
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
        };
        vec![
            Report::Ready(Box::new(record.clone()), Route::Naga),
            Report::Adapters(vec![]),
            Report::Adapters(vec![record.clone(), record]),
            Report::NoDevice("none".into()),
            Report::Lost("gone".into()),
            Report::GaveUp("it would not".into()),
            Report::Finished { number: 9, result: Ok(Frame { words_hash: 1 << 63, images: vec![vec![[1, 2, 3, 4]; 6], vec![[0; 4]; 6]] }) },
            Report::Finished { number: 9, result: Err(Declined::Refused("no".into())) },
            Report::Finished { number: 9, result: Err(Declined::Unchecked("why".into())) },
        ]
    }

    #[test]
    fn frames_come_back_as_they_were_written() {
        let mut bytes = Vec::new();
        draw().write(&mut bytes).expect("memory takes it");
        draw().write(&mut bytes).expect("memory takes it");
        let mut input = bytes.as_slice();
        assert_eq!(Draw::read(&mut input).expect("whole"), Some(draw()));
        assert_eq!(Draw::read(&mut input).expect("whole"), Some(draw()));
        assert_eq!(Draw::read(&mut input).expect("the end"), None);
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
            // Any word replaced by a huge one: an error or another frame, never a panic and never memory for what is not there.
            for word in 0..bytes.len() / 4 {
                let mut altered = bytes.clone();
                altered[word * 4..word * 4 + 4].copy_from_slice(&[0xff; 4]);
                let _ = Report::read(&mut altered.as_slice());
                let _ = Draw::read(&mut altered.as_slice());
            }
        }
        let text = b"a driver that prints to standard output";
        assert!(matches!(Report::read(&mut text.as_slice()), Err(WireError::Malformed(said)) if said.contains("a driver")));
    }
}

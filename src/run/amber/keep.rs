//! The results of a RUN, stored in the buffers of a script: bytes, the knowledge of them, and the
//! origins of undecided bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use smallstep_semantics::image::Codes;
use smallstep_semantics::number::sets::Set;
use smallstep_semantics::raster::{DepthBuffer, StencilBuffer};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::draw::{Component, MadeBy, ObservedTarget};
use smallstep_semantics::spirv::environment::{InvocationId, ObservedBuffer, ObservedImage, UndefinedBytes};
use smallstep_semantics::spirv::grid::{Doubtful, DoubtfulTexels};

use super::bind::{Bound, BufferAt};
use super::play::{DispatchInputs, Player};
use crate::amber::format::Channel;
use crate::amber::{BufferId, Certainty, Contents, Format, Line};
use crate::compute::given::Place;
use crate::dispatch::{BufferKind, ImageKind};
use crate::theorem::why_text;

/// The most origins of undefined or doubtful bytes that are recorded for one buffer.
pub const MAX_ORIGINS: usize = 4_096;

/// The most codes of an inexact depth that are listed.
const MAX_DEPTHS: u64 = 16;

/// The origin of undefined or doubtful bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    pub range: Range<usize>,
    pub why: String,
}

/// The contents of a depth attachment after a draw. Inexact depths are intervals, which bytes
/// cannot express.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredDepth {
    /// The contents of the buffer right after the draw. If the buffer has changed since, the depths
    /// are out of date.
    pub contents: Contents,
    /// The depths and the stencils, if a draw has them.
    pub depths: Option<DepthBuffer>,
    pub stencil: Option<StencilBuffer>,
}

/// The open parts of one buffer after a RUN.
pub(super) struct OpenParts {
    /// Bytes for which a device may have other bits.
    pub doubtful: Vec<Doubtful>,
    /// 32-bit floats with a bounded set, by the offset of their first byte.
    pub bounded: Vec<(u64, Set)>,
    /// Words with a few possible values. The shown value comes first.
    pub one_of: Vec<(u64, Vec<u32>)>,
    /// The reason why runs over sets know no more, if they do not.
    pub unsettled: Option<String>,
}

/// Inexact bytes of an image, to be marked together.
#[derive(Default)]
pub(super) struct Marks(Vec<(Range<usize>, Certainty, String)>);

impl Marks {
    pub fn push(&mut self, range: Range<usize>, known: Certainty, why: String) {
        self.0.push((range, known, why));
    }

    /// Marks the bytes, and records each contiguous range with one origin.
    fn apply(mut self, player: &mut Player<'_>, id: BufferId) {
        self.0.sort_by_key(|(range, ..)| range.start);
        let mut open: Option<(Range<usize>, String)> = None;
        for (range, known, why) in self.0 {
            if known > Certainty::OneOf {
                player.buffers[id].mark(range.clone(), known);
            }
            match &mut open {
                Some((before, of)) if before.end == range.start && *of == why => before.end = range.end,
                _ => {
                    if let Some((range, why)) = open.replace((range, why)) {
                        player.note(id, range, why);
                    }
                }
            }
        }
        if let Some((range, why)) = open {
            player.note(id, range, why);
        }
    }
}

impl Player<'_> {
    /// Records the origin of undefined or doubtful bytes.
    pub(super) fn note(&mut self, buffer: BufferId, range: Range<usize>, why: String) {
        let origins = &mut self.origins[buffer.0];
        if origins.len() < MAX_ORIGINS {
            origins.push(Origin { range, why });
        }
    }

    /// Stores the result of an interpreter for a buffer, with the knowledge of it. That
    /// covers bytes that the run makes undefined or doubtful, and earlier open bytes that are
    /// not `written`.
    pub(super) fn keep(
        &mut self,
        origin_text: &dyn Fn(&UndefinedBytes) -> String,
        inputs: &DispatchInputs,
        index: usize,
        observed: &ObservedBuffer,
        open_parts: &OpenParts,
        written: &[bool],
    ) {
        let BufferAt { place, buffer: id, range, .. } = &inputs.bound.buffers[index];
        let (line, id) = (inputs.line, *id);
        let before = self.buffers[id].clone();
        let origins = self.origins[id.0].clone();
        if self.store(&inputs.bound, *place, &observed.bytes).is_none() {
            return;
        }
        let mut has_kept_bytes = false;
        let mut at = range.start;
        while at < range.end {
            let is_written = |at: usize| written.get(at - range.start).copied().unwrap_or(false);
            let (end, known) = match before.choice(at) {
                Some((start, choice)) if start == at && at + choice.size <= range.end => (at + choice.size, Certainty::OneOf),
                _ => (at + 1, before.known_at(at).max(Certainty::Decided)),
            };
            if known > Certainty::Decided && !(at..end).any(is_written) {
                self.buffers[id].take(at..end, &before);
                has_kept_bytes = true;
            } else if known == Certainty::OneOf {
                // A part of the scalar is overwritten.
                (at..end).filter(|&at| !is_written(at)).for_each(|at| self.buffers[id].mark(at..at + 1, Certainty::Doubtful));
            }
            at = end;
        }
        if has_kept_bytes {
            self.origins[id.0] = origins;
        }
        let within = |start: u64, end: u64| range.start + start as usize..range.start + end as usize;
        for bytes in &observed.undefined {
            let open = within(bytes.start, bytes.end);
            self.buffers[id].mark(open.clone(), Certainty::Undefined);
            self.note(id, open, format!("any value, made at {} ({}), RUN in line {line}", origin_text(bytes), bytes.kind));
        }
        let unsettled = open_parts.unsettled.as_ref().map_or_else(String::new, |why| format!("; {why}"));
        for one in &open_parts.doubtful {
            let open = within(one.start, one.end);
            self.buffers[id].mark(open.clone(), Certainty::Doubtful);
            self.note(id, open, format!("{}, RUN in line {line}{unsettled}", why_text(one.why)));
        }
        for (offset, set) in &open_parts.bounded {
            let open = within(*offset, offset + 4);
            self.buffers[id].bound(open.start, *set);
            self.note(id, open, format!("a float in {set}, RUN in line {line}"));
        }
        for (offset, values) in &open_parts.one_of {
            let open = within(*offset, offset + 4);
            let Some((&best, others)) = values.split_first() else { continue };
            let codes = Codes { best: best.into(), others: others.iter().map(|&value| value.into()).collect(), nan: 0, any: None };
            self.buffers[id].choose(open.start, 4, codes);
        }
    }

    /// Stores the result of an interpreter for a storage image, including undefined and
    /// doubtful texels.
    pub(super) fn keep_image<'d>(
        &mut self,
        origin_text: &dyn Fn((u32, InvocationId)) -> String,
        inputs: &DispatchInputs,
        (place, observed): (Place, &ObservedImage),
        doubtful: impl Iterator<Item = &'d DoubtfulTexels>,
    ) {
        let Some((id, Range { start: first, .. })) = self.store_image(&inputs.bound, place, &observed.bytes) else { return };
        let line = inputs.line;
        let (channels, size) = (observed.format.channels(), observed.format.bytes());
        let mut marks = Marks::default();
        let mut each = |component: u8, start: u64, end: u64, known: Certainty, why: String| {
            let Some(channel) = channels.get(component as usize) else { return };
            for texel in start..end {
                let start = first + texel as usize * size;
                let at = start + channel.offset as usize / 8;
                let range = if observed.format.is_packed() { start..start + size } else { at..at + channel.width as usize / 8 };
                marks.push(range, known, why.clone());
            }
        };
        for texels in &observed.undefined {
            let origin = texels.made.map_or_else(|| "before".to_string(), origin_text);
            let why = format!("any value, made at {origin} ({}), RUN in line {line}", texels.kind);
            each(texels.component, texels.start, texels.end, Certainty::Undefined, why);
        }
        for one in doubtful {
            each(one.component, one.start, one.end, Certainty::Doubtful, format!("{}, RUN in line {line}", why_text(one.why)));
        }
        marks.apply(self, id);
    }

    /// Stores the result of the relation for a colour attachment. If the attachment had open
    /// components before, `other` is the same draw with other bits in them. A component that keeps
    /// its bits in both draws was not written by any fragment.
    pub(super) fn keep_target(
        &mut self,
        origin_text: &dyn Fn(&MadeBy) -> String,
        (id, whole, format): (BufferId, Range<usize>, Format),
        observed: &ObservedTarget,
        other: Option<&ObservedTarget>,
        line: Line,
    ) {
        let before = self.buffers[id].clone();
        let Some(bytes) = observed.image.bytes(0).filter(|bytes| bytes.len() == whole.len()) else { return };
        let mut contents = before.clone();
        contents.bytes[whole.clone()].copy_from_slice(bytes);
        contents.mark(whole.clone(), Certainty::Decided);
        let mut marks = Marks::default();
        let (channels, size) = (observed.image.format().channels(), observed.image.format().bytes());
        let width = observed.image.size(0).map_or(1, |[width, _]| width);
        // If components are no whole bytes, knowledge is about whole texels.
        let is_packed = observed.image.format().is_packed();
        let place = |[x, y]: [u32; 2], c: usize| {
            let at = whole.start + (y as usize * width as usize + x as usize) * size;
            let bytes = channels[c].width as usize / 8;
            let start = at + channels[c].offset as usize / 8;
            if is_packed { at..at + size } else { start..start + bytes }
        };
        let origins = self.origins[id.0].clone();
        self.origins[id.0].retain(|o| !(whole.start <= o.range.start && o.range.end <= whole.end));
        let mut ways: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (pixel, c, shown) in observed.inexact() {
            let range = place(pixel, c);
            match shown {
                Component::Exactly(_) => {}
                Component::OneOf(codes) if is_packed && codes.nan == 0 && codes.any.is_none() => {
                    let bits = contents.bytes[range.clone()].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                    let (channel, texels) = (channels[c], ways.entry(range.start).or_insert_with(|| vec![bits]));
                    let field = ((1u64 << channel.width) - 1) << channel.offset;
                    let with =
                        |texel: &u64| codes.others.iter().map(move |code| texel & !field | code << channel.offset).collect::<Vec<_>>();
                    texels.extend(texels.iter().flat_map(with).collect::<Vec<_>>());
                }
                Component::OneOf(codes) => {
                    contents.choose(range.start, range.len(), codes.clone());
                    // Adjacent codes are roundings of one value. Codes further apart are different
                    // values, for example of an open branch.
                    let why = match codes.others.iter().all(|other| other.abs_diff(codes.best) <= 1) {
                        true => format!("RUN in line {line} rounds to the format {}", format.name()),
                        false => format!("RUN in line {line} writes one of several values, in the format {}", format.name()),
                    };
                    marks.push(range, Certainty::OneOf, why);
                }
                Component::Within(set) => {
                    // The bytes and the knowledge of them are stored already. Only the origin
                    // is recorded.
                    contents.bound(range.start, *set);
                    marks.push(range, Certainty::OneOf, format!("a float in {set}, RUN in line {line}"));
                }
                Component::Undecided(why) => marks.push(range, Certainty::Doubtful, format!("{}, RUN in line {line}", why_text(*why))),
                Component::Undefined(made_by) => {
                    marks.push(range, Certainty::Undefined, format!("any value, {}, RUN in line {line}", origin_text(made_by)))
                }
            }
        }
        for (start, texels) in ways {
            let others = texels[1..].iter().copied().filter(|texel| *texel != texels[0]).collect();
            let is_open = contents.known_at(start) > Certainty::Decided;
            if !is_open {
                contents.choose(start, size, Codes { best: texels[0], others, nan: 0, any: None });
                marks.push(start..start + size, Certainty::OneOf, format!("RUN in line {line} rounds to the format {}", format.name()));
            }
        }
        if let Some(other) = other {
            self.origins[id.0] = origins;
            let size = observed.image.size(0).unwrap_or([0; 2]);
            for pixel in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y])) {
                for c in 0..channels.len() {
                    let range = place(pixel, c);
                    let Some((_, known)) = before.open(range.start, range.len()) else { continue };
                    let [x, y] = pixel;
                    let code = |bytes: &[u8]| bytes[range.clone()].iter().rev().fold(0, |code, byte| code << 8 | u64::from(*byte));
                    let unwritten = [&before.bytes, &flipped(&before)].map(|bytes| Some(Component::Exactly(code(bytes))));
                    let shown = [observed, other].map(|target| target.component(x, y, c));
                    if shown == unwritten {
                        contents.take(range, &before);
                    } else if shown[0] != shown[1] {
                        contents.mark(range.clone(), Certainty::Decided);
                        let undefined = shown.iter().any(|shown| matches!(shown, Some(Component::Undefined(_))));
                        let known = if undefined { Certainty::Undefined } else { known.max(Certainty::Doubtful) };
                        marks.push(range, known, format!("whether the fragment is there depends on the device, RUN in line {line}"));
                    }
                }
            }
        }
        self.buffers[id] = contents;
        marks.apply(self, id);
    }

    /// Stores a depth and stencil attachment. Depths become the nearest codes.
    pub(super) fn keep_depth(
        &mut self,
        (id, format): (BufferId, Format),
        depths: Option<DepthBuffer>,
        stencil: Option<StencilBuffer>,
        line: Line,
    ) {
        let texel = format.texel_size() as usize;
        let before = self.depths.remove(&id).filter(|stored| stored.contents == self.buffers[id]);
        let mut marks = Marks::default();
        let mut contents = self.buffers[id].clone();
        if let (Some(field), Some(stencil)) = (format.field(Channel::Stencil), &stencil) {
            for (pixel, &best) in stencil.values().iter().enumerate() {
                let start = pixel * texel + field.offset as usize / 8;
                let others = stencil.possible(pixel).filter(|value| *value != best).map(u64::from).collect();
                contents.mark(start..start + 1, Certainty::Decided);
                contents.choose(start, 1, Codes { best: best.into(), others, nan: 0, any: None });
                if contents.known_at(start) == Certainty::OneOf {
                    marks.push(
                        start..start + 1,
                        Certainty::OneOf,
                        format!("the stencil that is stored depends on the device, RUN in line {line}"),
                    );
                }
            }
        }
        let depth_bits = format.field(Channel::Depth).map_or(0, |field| field.bits);
        let code = |value: f64| match depth_bits {
            32 => u64::from((value as f32).to_bits()),
            bits => (value * ((1u64 << bits) - 1) as f64).round() as u64,
        };
        let [width, height] = depths.as_ref().map_or([0; 2], DepthBuffer::size);
        for (pixel, [x, y]) in (0..height).flat_map(|y| (0..width).map(move |x| [x, y])).enumerate() {
            let Some(depth) = depths.as_ref().and_then(|depths| depths.depth(x, y)) else { continue };
            let (size, start) = (depth_bits as usize / 8, pixel * texel);
            contents.mark(start..start + size, Certainty::Decided);
            let (low, high, best) = (code(depth.0.allowed.low), code(depth.0.allowed.high), code(depth.0.value));
            // The codes of numbers that are not negative have the order of the numbers.
            let few = !depth.0.allowed.nan && depth.0.allowed.low.is_sign_positive() && high >= low && high - low <= MAX_DEPTHS;
            let others = if few { (low..=high).filter(|code| *code != best).collect() } else { Default::default() };
            contents.choose(start, size, Codes { best, others, nan: 0, any: None });
            let why = || format!("the depth that is stored depends on the device, RUN in line {line}");
            match contents.known_at(start) {
                _ if !few => marks.push(start..start + size, Certainty::Doubtful, why()),
                Certainty::OneOf => marks.push(start..start + size, Certainty::OneOf, why()),
                _ => {}
            }
        }
        self.buffers[id] = contents;
        self.origins[id.0] = Vec::new();
        marks.apply(self, id);
        let (old_depths, old_stencil) = before.map_or((None, None), |before| (before.depths, before.stencil));
        let (depths, stencil) = (depths.or(old_depths), stencil.or(old_stencil));
        self.depths.insert(id, StoredDepth { contents: self.buffers[id].clone(), depths, stencil });
    }

    /// Makes all bytes that a RUN may write doubtful.
    pub(super) fn doubt(&mut self, bound: &Bound, why: String) {
        let buffers = bound.buffers.iter().filter(|b| b.kind == BufferKind::ReadWrite).map(|b| (b.buffer, b.range.clone()));
        let images = bound.images.iter().filter(|i| i.kind == ImageKind::Storage);
        let whole: Vec<_> = images.map(|i| (i.buffer, i.range.clone())).collect();
        for (id, range) in buffers.chain(whole).collect::<Vec<_>>() {
            self.doubt_bytes(id, range, why.clone());
        }
    }

    /// Makes these bytes doubtful.
    pub(super) fn doubt_bytes(&mut self, id: BufferId, range: Range<usize>, why: String) {
        self.buffers[id].mark(range.clone(), Certainty::Doubtful);
        self.origins[id.0].retain(|o| !(range.start <= o.range.start && o.range.end <= range.end));
        self.note(id, range, why);
    }

    /// Stores the decided result of a RUN at a place. Returns the buffer and the byte range. `None`
    /// for a buffer that is only read.
    pub(super) fn store(&mut self, bound: &Bound, place: Place, bytes: &[u8]) -> Option<(BufferId, Range<usize>)> {
        let found = bound.buffers.iter().find(|b| b.place == place && b.kind == BufferKind::ReadWrite && b.range.len() == bytes.len())?;
        self.store_bytes(found.buffer, found.range.clone(), bytes);
        Some((found.buffer, found.range.clone()))
    }

    /// Stores the decided result of a RUN for the storage image at a place. Returns the buffer and
    /// the byte range.
    pub(super) fn store_image(&mut self, bound: &Bound, place: Place, bytes: &[u8]) -> Option<(BufferId, Range<usize>)> {
        let found = bound.images.iter().find(|i| i.place == place && i.kind == ImageKind::Storage)?;
        (found.range.len() == bytes.len()).then(|| self.store_bytes(found.buffer, found.range.clone(), bytes))?;
        Some((found.buffer, found.range.clone()))
    }

    /// Stores the decided result of a RUN on a device.
    pub(super) fn store_shown(&mut self, bound: &Bound, buffers: &[Buffer], images: &[Buffer]) {
        for (index, buffer) in buffers.iter().enumerate() {
            self.store(bound, Place::of(buffers, index, |b| (b.set, b.binding)), &buffer.bytes);
        }
        for (index, image) in images.iter().enumerate() {
            self.store_image(bound, Place::of(images, index, |i| (i.set, i.binding)), &image.bytes);
        }
    }

    /// Stores decided bytes. Their number is that of the range.
    pub(super) fn store_bytes(&mut self, id: BufferId, range: Range<usize>, bytes: &[u8]) {
        self.buffers[id].bytes[range.clone()].copy_from_slice(bytes);
        self.buffers[id].mark(range.clone(), Certainty::Decided);
        self.origins[id.0].retain(|o| !(range.start <= o.range.start && o.range.end <= range.end));
    }
}

/// The bytes, with other bits in open bytes.
pub(super) fn flipped(contents: &Contents) -> Vec<u8> {
    let flip = |(at, byte): (usize, &u8)| if contents.known_at(at) > Certainty::Decided { byte ^ 1 } else { *byte };
    contents.bytes.iter().enumerate().map(flip).collect()
}

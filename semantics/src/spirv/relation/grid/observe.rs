//! What is observed of a dispatch that has ended, or of a stage of a draw: storage buffers and
//! storage images, with what in them is undefined or doubtful.

use super::Grid;
use super::work::Work;
use crate::number::Why;
use crate::outcome::Outcome;
use crate::spirv::descriptors::observed;
use crate::spirv::environment::{InvocationId, Observation, ObservedBuffer, ObservedImage, UndefinedBytes};
use crate::spirv::shared::Last;
use crate::spirv::value::Origin;
use crate::undefined::{Undefined, Unspecified};

/// Bytes of a storage buffer that a conforming device may hold other bits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubtful {
    /// Which of the observation's buffers.
    pub buffer: usize,
    /// The first byte.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Why.
    pub why: Why,
}

/// An aligned word of a storage buffer that holds one of a few values on every device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOf {
    /// Which of the observation's buffers.
    pub buffer: usize,
    /// The first byte.
    pub offset: u64,
    /// The values, that of the observation first.
    pub values: Vec<u32>,
}

/// A component of neighbouring texels of a storage image, row after row, that a conforming device
/// may hold another one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubtfulTexels {
    /// Which of the observation's images.
    pub image: usize,
    /// The component, from 0.
    pub component: u8,
    /// The first texel: y times the width, plus x.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Why.
    pub why: Why,
}

/// What a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended; of several undefined behaviours, the first.
    pub outcome: Outcome<Observation>,
    /// The undefined behaviours that were met, in the order of the schedule: one at most unless the
    /// run was to keep going.
    pub undefined: Vec<Undefined>,
    /// The bytes of the observed buffers that other devices may hold other bits in.
    pub doubtful: Vec<Doubtful>,
    /// Words among them of which all values are known that they may have.
    pub one_of: Vec<OneOf>,
    /// The components of the observed images that other devices may hold other ones of.
    pub doubtful_texels: Vec<DoubtfulTexels>,
    /// Words of the observed buffers that are a zero on every device, of one sign or the other:
    /// which buffer, and the first byte.
    pub zeros: Vec<(usize, u64)>,
    /// Whether some invocation has branched by what is in doubt, so that a device
    /// may have been elsewhere.
    pub wanders: bool,
}

impl Report {
    fn of(outcome: Outcome<Observation>) -> Report {
        let (undefined, doubtful, one_of, doubtful_texels, zeros) = Default::default();
        Report { outcome, undefined, doubtful, one_of, doubtful_texels, zeros, wanders: false }
    }

    /// The report of a run that ended without an observation.
    pub fn ended(outcome: Outcome<Observation>, undefined: Vec<Undefined>) -> Report {
        Report { undefined, ..Report::of(outcome) }
    }
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The report of a run that has met no end but its own.
    pub(super) fn observed(&self) -> Report {
        let mut observation = Observation { instructions: self.instructions, ..Observation::default() };
        let (mut doubtful, mut zeros) = (Vec::new(), Vec::new());
        for &(index, set, binding) in &self.prepared.storage {
            let buffer = observation.buffers.len();
            let mut observed = ObservedBuffer { set, binding, ..ObservedBuffer::default() };
            for (at, byte) in self.shared.bytes(index).enumerate() {
                let at = at as u64;
                observed.bytes.push(byte.unwrap_or(0));
                let Err(origin) = byte else { continue };
                let (made_at, made_by) = self.made(origin);
                let kind = origin.kind.id();
                match observed.undefined.last_mut() {
                    Some(last) if last.end == at && (last.made_at, last.made_by, last.kind) == (made_at, made_by, kind) => last.end += 1,
                    _ => observed.undefined.push(UndefinedBytes { start: at, end: at + 1, made_at, made_by, kind }),
                }
            }
            for (start, bytes, why) in self.shared.doubts(index) {
                doubtful.push(Doubtful { buffer, start, end: start + bytes, why });
            }
            zeros.extend(self.shared.zeros(index).map(|at| (buffer, at)));
            observation.buffers.push(observed);
        }
        let mut doubtful_texels = Vec::new();
        for image in self.shared.images().storage() {
            let number = observation.images.len();
            let observed = self.observed_image(image, |component, start, why| match doubtful_texels.last_mut() {
                Some(DoubtfulTexels { image, component: c, end, why: w, .. })
                    if (*image, *c, *end, *w) == (number, component, start, why) =>
                {
                    *end += 1;
                }
                _ => doubtful_texels.push(DoubtfulTexels { image: number, component, start, end: start + 1, why }),
            });
            observation.images.push(observed);
        }
        Report {
            outcome: Outcome::Observed(observation),
            undefined: self.undefined.clone(),
            doubtful,
            one_of: Vec::new(),
            doubtful_texels,
            zeros,
            wanders: self.doubtful,
        }
    }

    /// The instruction and the invocation that made an undefined value.
    fn made(&self, origin: Origin) -> (u32, InvocationId) {
        let agent = self.topology.agent(origin.invocation);
        (origin.instruction, InvocationId { workgroup: agent.workgroup, local: agent.local })
    }

    /// Level 0 of a storage image at the end; `doubtful` sees components of texels that a device
    /// may hold other ones of, and why.
    fn observed_image(&self, image: u32, mut doubtful: impl FnMut(u8, u64, Why)) -> ObservedImage {
        let images = self.shared.images();
        observed(images.image(image), images.binding(image), |at, component| match images.last(image, at, component) {
            Last::Certain => None,
            Last::Doubtful(why) => {
                doubtful(component, at, why);
                None
            }
            Last::Undefined(origin) => {
                Some((origin.map(|origin| self.made(origin)), origin.map_or(Unspecified::Uninitialised, |origin| origin.kind)))
            }
        })
    }
}

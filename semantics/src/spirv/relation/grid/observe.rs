//! The observation of a dispatch that has ended, or of a stage of a draw: storage buffers and
//! storage images, with their undefined and doubtful parts.

use super::Grid;
use super::work::Work;
use crate::number::Why;
use crate::outcome::Outcome;
use crate::spirv::descriptors::observed;
use crate::spirv::environment::{InvocationId, Observation, ObservedBuffer, ObservedImage, UndefinedBytes};
use crate::spirv::shared::Last;
use crate::spirv::value::Origin;
use crate::undefined::{Undefined, Unspecified};

/// Bytes of a storage buffer that may differ on a conforming device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubtful {
    /// The index of the buffer in the observation.
    pub buffer: usize,
    /// The offset of the first byte.
    pub start: u64,
    /// One past the offset of the last byte.
    pub end: u64,
    /// Why they may differ.
    pub why: Why,
}

/// An aligned word of a storage buffer that holds one of a few known values on every device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOf {
    /// The index of the buffer in the observation.
    pub buffer: usize,
    /// The offset of the first byte, a multiple of 4.
    pub offset: u64,
    /// The values. The observation's value comes first.
    pub values: Vec<u32>,
}

/// One component of consecutive texels of a storage image, row after row, that may differ on a
/// conforming device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubtfulTexels {
    /// The index of the image in the observation.
    pub image: usize,
    /// The component, from 0.
    pub component: u8,
    /// The first texel, as y times the width plus x.
    pub start: u64,
    /// One past the last texel.
    pub end: u64,
    /// Why they may differ.
    pub why: Why,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The outcome. With several undefined behaviours, it is the first.
    pub outcome: Outcome<Observation>,
    /// The undefined behaviours of the run, in the order of the schedule. There is at most one,
    /// unless the run keeps going.
    pub undefined: Vec<Undefined>,
    /// The bytes of the observed buffers that may differ on other devices.
    pub doubtful: Vec<Doubtful>,
    /// The words among them whose possible values are all known.
    pub one_of: Vec<OneOf>,
    /// The components of the observed images that may differ on other devices.
    pub doubtful_texels: Vec<DoubtfulTexels>,
    /// The words of the observed buffers that are a zero of either sign on every device: the index
    /// of the buffer, and the offset of the first byte.
    pub zeros: Vec<(usize, u64)>,
    /// Whether an invocation has branched on a value in doubt. Then a device may have taken
    /// another branch.
    pub control_in_doubt: bool,
}

impl Report {
    fn of(outcome: Outcome<Observation>) -> Report {
        let (undefined, doubtful, one_of, doubtful_texels, zeros) = Default::default();
        Report { outcome, undefined, doubtful, one_of, doubtful_texels, zeros, control_in_doubt: false }
    }

    /// The report of a run that ended without an observation.
    pub fn ended(outcome: Outcome<Observation>, undefined: Vec<Undefined>) -> Report {
        Report { undefined, ..Report::of(outcome) }
    }
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The report of a run that has ended normally.
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
                let (made_at, made_by) = self.maker(origin);
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
            control_in_doubt: self.doubtful,
        }
    }

    /// The instruction and the invocation that made an undefined value.
    fn maker(&self, origin: Origin) -> (u32, InvocationId) {
        let agent = self.topology.agent(origin.invocation);
        (origin.instruction, InvocationId { workgroup: agent.workgroup, local: agent.local })
    }

    /// Level 0 of a storage image at the end. Passes each component that may differ on a device to
    /// `doubtful`: the component, the texel and the reason.
    fn observed_image(&self, image: u32, mut doubtful: impl FnMut(u8, u64, Why)) -> ObservedImage {
        let images = self.shared.images();
        observed(images.image(image), images.binding(image), |at, component| match images.last(image, at, component) {
            Last::Certain => None,
            Last::Doubtful(why) => {
                doubtful(component, at, why);
                None
            }
            Last::Undefined(origin) => {
                Some((origin.map(|origin| self.maker(origin)), origin.map_or(Unspecified::Uninitialised, |origin| origin.kind)))
            }
        })
    }
}

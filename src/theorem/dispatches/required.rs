//! The required result of a dispatch on a device: the definite bytes, except for floats with a set
//! from runs over sets.

use crate::theorem::Unexpected;
use std::collections::BTreeMap;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::sets::{Exploration, Rules, Set};
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Acceptance, Doubtful};
use smallstep_semantics::spirv::{Buffer, Module, Relation};

use super::same_bytes;
use crate::dispatch::{ComputeDispatch, ComputeResult};
use crate::gpu::Route;

/// The required result on a conforming device.
#[derive(Clone, Debug, PartialEq)]
pub struct RequiredResult {
    /// The definite observation, with the bindings on the device.
    pub observation: Observation,
    /// The other values that a device may show.
    pub acceptance: Acceptance,
}

/// How the bytes of a right result were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// The number of floats that were judged by a set.
    pub by_sets: u64,
    /// The number of bytes that are undecided, since devices may differ.
    pub undecided: u64,
}

impl RequiredResult {
    /// Exactly these bytes on every device, for a program without floats.
    pub fn exactly(observation: Observation) -> RequiredResult {
        RequiredResult { observation, acceptance: Acceptance::default() }
    }

    /// The required result of a dispatch with this observation, on a device with a route. The route
    /// over naga drops float controls.
    ///
    /// # Errors
    /// The relation refuses the module, or shows something else.
    pub fn of(
        module: &Module,
        dispatch: &ComputeDispatch,
        observation: Observation,
        route: Route,
        rules: Rules,
    ) -> Result<RequiredResult, Unexpected> {
        if !module.instructions().iter().any(|i| i.is(Op::TypeFloat)) {
            return Ok(RequiredResult::exactly(observation));
        }
        let (buffers, bound) = (dispatch.contents(), dispatch.bound());
        let images = bound.image_contents();
        let profile = route.re_emits().then_some(Profile::Wgsl);
        let push_constants = &dispatch.push_constants;
        let resources =
            Resources { images: &images, samplers: &dispatch.samplers, push_constants, profile, ..Resources::of_buffers(&buffers) };
        let run = Dispatch { entry: &dispatch.entry, groups: dispatch.groups, resources, limits: Limits::default() };
        let relation = Relation::default();
        let report = grid::report(module, &run, &Schedule::default(), &relation, false, &mut ())
            .map_err(|error| Unexpected::from(error.to_string()))?;
        match report.outcome.observed() {
            Some(found) if found.buffers == observation.buffers => {}
            _ => return Err(format!("the relation ends with {}, and not with what was observed", report.outcome.name()).into()),
        }
        let exploration = Exploration { rules, ..Exploration::under(Profile::Strict) };
        let acceptance =
            grid::explore(module, &run, &report, &relation, exploration).map_err(|error| Unexpected::from(error.to_string()))?;
        Ok(RequiredResult { observation, acceptance })
    }

    /// Checks that a device may show this result in every buffer. The error is the
    /// first difference.
    pub fn admits(&self, shown: &ComputeResult) -> Result<Admitted, Unexpected> {
        let mut admitted = Admitted::default();
        for Buffer { set, binding, bytes } in &shown.buffers {
            let buffer_index = self.observation.buffers.iter().position(|b| (b.set, b.binding) == (*set, *binding));
            let Some(buffer_index) = buffer_index else {
                return Err(format!("a buffer at set {set}, binding {binding} that was not given").into());
            };
            let mut required = self.observation.buffers[buffer_index].clone();
            let words = self.acceptance.words.iter().filter(|word| word.buffer == buffer_index);
            let sets: BTreeMap<u64, Expected> = words.map(|word| (word.offset, word.expected)).collect();
            for (&offset, expected) in &sets {
                let range = offset as usize..offset as usize + 4;
                let Some(Ok(found)) = bytes.get(range.clone()).map(<[u8; 4]>::try_from) else { break };
                let bits = u32::from_le_bytes(found);
                if expected.admits(bits) == Some(false) {
                    let allowed = expected.set().unwrap_or(Set::ANY);
                    let x = f32::from_bits(bits);
                    return Err(format!(
                        "byte {offset} of the buffer at set {set}, binding {binding}: expected a float in {allowed}, saw {x:?} ({bits:#010x})"
                    ).into());
                }
                admitted.by_sets += 1;
                required.bytes[range.clone()].copy_from_slice(&bytes[range]);
            }
            for open in self.acceptance.doubtful.iter().filter(|open| open.buffer == buffer_index) {
                let range = open.start as usize..open.end as usize;
                if let (Some(to), Some(from)) = (required.bytes.get_mut(range.clone()), bytes.get(range)) {
                    to.copy_from_slice(from);
                    admitted.undecided += from.len() as u64;
                }
            }
            same_bytes(&required, bytes)?;
        }
        Ok(admitted)
    }

    /// The first word of a buffer that a device may not show: its index, the required value, and
    /// the found bits.
    pub fn wrong_word(&self, (set, binding): (u32, u32), found: &[u8]) -> Option<(usize, Expected, u32)> {
        let buffer_index = self.observation.buffers.iter().position(|b| (b.set, b.binding) == (set, binding))?;
        let words = |bytes: &[u8]| -> Vec<u32> { bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect() };
        let required = words(&self.observation.buffers[buffer_index].bytes);
        required.into_iter().zip(words(found)).enumerate().find_map(|(at, (definite, found))| {
            let offset = 4 * at as u64;
            let by_sets = self.acceptance.words.iter().find(|word| word.buffer == buffer_index && word.offset == offset);
            let is_open = |open: &Doubtful| open.buffer == buffer_index && open.start < offset + 4 && offset < open.end;
            let expected = match by_sets {
                Some(word) => word.expected,
                None if self.acceptance.doubtful.iter().any(is_open) => return None,
                None => Expected::Bits(definite),
            };
            (expected.admits(found) == Some(false)).then_some((at, expected, found))
        })
    }
}

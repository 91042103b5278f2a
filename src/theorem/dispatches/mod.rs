//! Comparisons of SPIR-V without a source language: generated compute dispatches run by the
//! relation, on the lockstep machine and on a device.
//!
//! A clean dispatch has one observation, and every engine must show it, bit for bit. A twin has one
//! defect ([`mod@crate::generate::spirv::twin`]). The interpreters must report it at its place, by
//! its id in the registry of undefined behaviour and values. [`campaign`] judges many of them.

pub use crate::compute::MachineBug;

pub mod campaign;
pub mod engines;
pub mod fragments;
mod in_order;
pub mod learn;
pub mod optimised;
pub mod optimiser_quirk;
pub mod planted;
pub mod quirk;
pub mod required;
pub mod shaders;
pub mod translated;
pub mod uses;

use crate::theorem::Unexpected;
use std::fmt;
use std::sync::Arc;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::sets;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, ObservedBuffer, Resources};
use smallstep_semantics::spirv::{Buffer, LoadError, Module, Relation, grid, lockstep};

use crate::compile::bindings;
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch};
use crate::generate::spirv::{ComputeCase, Kind, Twin};
use crate::gpu::Route;
use required::RequiredResult;

/// An engine that runs a dispatch, or a stage before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Runner {
    /// The loader's checks.
    Loader,
    /// The relation, under a schedule.
    Relation,
    /// The lockstep machine.
    Machine,
    /// A device.
    Device,
    /// An optimiser.
    Optimiser,
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Runner::Loader => "the module checks",
            Runner::Relation => "the SPIR-V relation",
            Runner::Machine => "the lockstep machine",
            Runner::Device => "the device",
            Runner::Optimiser => "the optimiser",
        })
    }
}

/// The interpreters, with or without a planted mistake.
#[derive(Clone, Default)]
pub struct Engines {
    /// The relation.
    pub relation: Relation,
    /// Whether the relation is skipped.
    pub without_relation: bool,
    /// The schedule of the relation.
    pub schedule: Schedule,
    /// A mistake planted in the machine.
    pub planted: Option<MachineBug>,
    /// The rules of runs over sets.
    pub sets: sets::Rules,
}

/// The judged results of the interpreters for a dispatch.
#[derive(Clone, Debug)]
pub enum Judged {
    /// They agree. This is the observation.
    Observed(Observation),
    /// They report the planted defect at its place.
    Reported,
    /// The machine does not compile the module, for this reason. If the relation ran and had an
    /// observation, it is included.
    Uncompiled(String, Option<Observation>),
    /// A wrong result: the engine, and the difference as one sentence.
    Wrong(Runner, String),
}

/// Runs a generated dispatch on the interpreters and judges their results.
pub fn judge(case: &ComputeCase, engines: &Engines) -> Judged {
    let twin = case.twin.as_ref();
    let module = match Module::load(&case.words) {
        Ok(module) => module,
        Err(error) => {
            return match twin {
                Some(Twin { kind: Kind::Refused, .. }) if matches!(error, LoadError::Invalid { .. }) => Judged::Reported,
                _ => Judged::Wrong(Runner::Loader, format!("a valid module is refused: {error}")),
            };
        }
    };
    if let Some(Twin { kind: Kind::Refused, id, .. }) = twin {
        return Judged::Wrong(Runner::Loader, format!("a module with {id} is accepted"));
    }
    let buffers = contents(case);
    let resources = Resources { subgroup_size: case.subgroup_size, ..Resources::of_buffers(&buffers) };
    let dispatch = Dispatch { entry: &case.entry, groups: case.groups, resources, limits: Limits::default() };
    let mut observed = None;
    if !engines.without_relation {
        let outcome = match grid::run(&module, &dispatch, &engines.schedule, &engines.relation, &mut ()) {
            Ok(outcome) => outcome,
            Err(error) => return Judged::Wrong(Runner::Relation, error.to_string()),
        };
        match expected(case, &outcome) {
            Ok(()) => observed = outcome.observed().cloned(),
            Err(what) => return Judged::Wrong(Runner::Relation, what),
        }
    }
    let program = match lockstep::Program::compile(&module, &case.entry) {
        Ok(program) => program,
        Err(LoadError::Unsupported { what, .. }) => return Judged::Uncompiled(what, observed),
        Err(error) => return Judged::Wrong(Runner::Machine, error.to_string()),
    };
    let program = match &engines.planted {
        Some(bug) => program.planted(|parts| bug(parts)),
        None => program,
    };
    let outcome = program.run(&dispatch, 1);
    if let Err(what) = expected(case, &outcome) {
        return Judged::Wrong(Runner::Machine, what);
    }
    match (twin, outcome) {
        (None, Outcome::Observed(of_machine)) => match observed.as_ref().map_or(Ok(()), |expected| same(expected, &of_machine)) {
            Ok(()) => Judged::Observed(of_machine),
            Err(wrong) => Judged::Wrong(Runner::Machine, wrong.what),
        },
        _ => Judged::Reported,
    }
}

/// Checks an outcome. It must be an observation without undefined bytes, or a twin's defect must
/// be reported.
fn expected(case: &ComputeCase, outcome: &Outcome<Observation>) -> Result<(), String> {
    let (twin, words_each) = (case.twin.as_ref(), case.words_each);
    let ending = || match outcome {
        Outcome::Observed(_) => "an observation".to_string(),
        Outcome::Undefined(undefined) => undefined.to_string(),
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        Outcome::Limit(limit) => limit.to_string(),
        other => other.name().to_string(),
    };
    let Some(twin) = twin else {
        return match outcome {
            Outcome::Observed(observation) => match first_undefined(observation) {
                None => shown(case, observation),
                Some((buffer, at, kind)) => {
                    Err(format!("byte {at} of the buffer at binding {buffer} is undefined ({kind}) in a clean module"))
                }
            },
            _ => Err(format!("a clean module ends with {}", ending())),
        };
    };
    let required = match (twin.kind, &twin.reached) {
        (Kind::Value, Some(reached)) => reached.id.map(|id| (id, reached.instruction)),
        _ => Some((twin.id, twin.instruction)),
    };
    // The defect may be in any invocation, so only the word within an invocation's words counts.
    let is_same_word = |word: u64, other: u32| word % u64::from(words_each.max(1)) == u64::from(other % words_each.max(1));
    match (required, outcome) {
        (Some((id, instruction)), Outcome::Undefined(undefined)) => {
            let at = undefined.site.as_ref().map_or(usize::MAX, |site| site.instruction as usize);
            if undefined.ub.id() != id {
                return Err(format!("{id} is expected at instruction {instruction}, and it reports {undefined}"));
            }
            if at != instruction && !twin.also.contains(&at) {
                return Err(format!("{id} is expected at instruction {instruction}, and it reports it at {at}: {undefined}"));
            }
            Ok(())
        }
        (Some((id, instruction)), _) => Err(format!("{id} is expected at instruction {instruction}, and it ends with {}", ending())),
        (None, Outcome::Observed(observation)) => {
            let word = twin.reached.as_ref().and_then(|reached| reached.word);
            let found = observation.buffers.iter().flat_map(|b| &b.undefined).any(|bytes| {
                let made_at = bytes.made_at as usize;
                let made_there = made_at == twin.instruction || twin.also.contains(&made_at);
                bytes.kind == twin.id && made_there && word.is_none_or(|word| is_same_word(bytes.start / 4, word))
            });
            match found {
                true => Ok(()),
                false => Err(format!(
                    "an undefined value of {} made at instruction {} is expected in word {word:?} of the output, and it shows {:?}",
                    twin.id,
                    twin.instruction,
                    observation.buffers.iter().flat_map(|b| &b.undefined).next()
                )),
            }
        }
        (None, _) => Err(format!("an undefined value of {} is expected in the output, and it ends with {}", twin.id, ending())),
    }
}

/// Checks that a dispatch shows what its generator predicts.
fn shown(case: &ComputeCase, observation: &Observation) -> Result<(), String> {
    let Some(words) = &case.shown else { return Ok(()) };
    let Some(found) = observation.buffers.iter().find(|b| b.binding == 1) else { return Err("the output is not observed".into()) };
    let expected_bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    same_bytes(&ObservedBuffer { bytes: expected_bytes, ..found.clone() }, &found.bytes).map_err(|wrong| wrong.what)
}

fn first_undefined(observation: &Observation) -> Option<(u32, u64, &'static str)> {
    observation.buffers.iter().find_map(|b| b.undefined.first().map(|u| (b.binding, u.start, u.kind)))
}

/// Checks that two observations are equal. The error is the first difference.
pub fn same(expected: &Observation, found: &Observation) -> Result<(), Unexpected> {
    let places = |o: &Observation| o.buffers.iter().map(|b| (b.set, b.binding)).collect::<Vec<_>>();
    if places(expected) != places(found) {
        return Err(format!("it observes the buffers {:?}, where {:?} are expected", places(found), places(expected)).into());
    }
    for (e, f) in expected.buffers.iter().zip(&found.buffers) {
        same_bytes(e, &f.bytes)?;
        if e.undefined != f.undefined {
            return Err(
                format!("the buffer at binding {} has other undefined bytes: {:?} for {:?}", e.binding, f.undefined, e.undefined).into()
            );
        }
    }
    if expected.instructions != found.instructions {
        return Err(format!("it executes {} instructions, where {} are expected", found.instructions, expected.instructions).into());
    }
    Ok(())
}

fn same_bytes(expected: &ObservedBuffer, found: &[u8]) -> Result<(), Unexpected> {
    let (set, binding) = (expected.set, expected.binding);
    if expected.bytes.len() != found.len() {
        return Err(format!("the buffer at set {set}, binding {binding} has {} bytes for {}", found.len(), expected.bytes.len()).into());
    }
    match expected.bytes.iter().zip(found).position(|(e, f)| e != f) {
        None => Ok(()),
        Some(at) => {
            let word = |bytes: &[u8]| {
                let four: Vec<u8> = bytes[at / 4 * 4..].iter().copied().take(4).collect();
                four.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte))
            };
            let (e, f) = (word(&expected.bytes), word(found));
            Err(format!("word {} of the buffer at set {set}, binding {binding}: expected {e:#010x}, saw {f:#010x}", at / 4).into())
        }
    }
}

fn contents(case: &ComputeCase) -> Vec<Buffer> {
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    case.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: bytes(&b.words) }).collect()
}

/// A dispatch for a device, with what it must show.
#[derive(Clone, Debug)]
pub struct DeviceCheck {
    /// The dispatch. If its bindings have gaps, [`bindings`] adapts them.
    pub dispatch: ComputeDispatch,
    /// The requirement on the device's result.
    pub required: RequiredResult,
}

/// The dispatch of a clean case for a device on a route. If the pass `bindings` adapts the words,
/// an interpreter runs the adapted words. They must show at each adapted place what the original
/// words show at the original one. Otherwise the error has the difference.
pub fn asked(case: &ComputeCase, observed: &Observation, route: Route) -> Result<DeviceCheck, Unexpected> {
    let original = for_device(case);
    let (dispatch, places) = bindings::adapt(&original).map_err(|error| Unexpected::from(error.to_string()))?;
    let mut expected = observed.clone();
    if places.is_identity() {
        let module = Module::load(&dispatch.words).map_err(|error| Unexpected::from(error.to_string()))?;
        let required = RequiredResult::of(&module, &dispatch, expected, route, sets::Rules::default())?;
        return Ok(DeviceCheck { dispatch, required });
    }
    for buffer in &mut expected.buffers {
        let place = (buffer.set, buffer.binding);
        (buffer.set, buffer.binding) = places.adapted(place).ok_or_else(|| Unexpected::from(format!("{place:?} has no adapted place")))?;
    }
    let module = Module::load(&dispatch.words).map_err(|error| Unexpected::from(format!("the adapted module is refused: {error}")))?;
    let buffers = dispatch.contents();
    let resources = Resources { subgroup_size: case.subgroup_size, ..Resources::of_buffers(&buffers) };
    let run = Dispatch { entry: &dispatch.entry, groups: dispatch.groups, resources, limits: Limits::default() };
    let outcome = match lockstep::Program::compile(&module, &dispatch.entry) {
        Ok(program) => program.run(&run, 1),
        Err(_) => grid::run(&module, &run, &Schedule::default(), &Relation::default(), &mut ())
            .map_err(|error| Unexpected::from(error.to_string()))?,
    };
    match outcome {
        Outcome::Observed(found) => same(&expected, &found)
            .map_err(|wrong| Unexpected::from(format!("the pass `bindings` changes what the module shows: {wrong}")))?,
        other => return Err(format!("the pass `bindings` changes what the module shows: it ends with {}", other.name()).into()),
    }
    let required = RequiredResult::of(&module, &dispatch, expected, route, sets::Rules::default())?;
    Ok(DeviceCheck { dispatch, required })
}

/// The dispatch of a case, with the bindings of the module.
pub fn for_device(case: &ComputeCase) -> ComputeDispatch {
    let buffer = |(buffer, written): (Buffer, bool)| BufferBinding {
        set: buffer.set,
        binding: buffer.binding,
        kind: if written { BufferKind::ReadWrite } else { BufferKind::ReadOnly },
        bytes: buffer.bytes,
    };
    ComputeDispatch {
        words: Arc::from(case.words.as_slice()),
        entry: case.entry.clone(),
        groups: case.groups,
        buffers: contents(case).into_iter().zip(case.buffers.iter().map(|b| b.written)).map(buffer).collect(),
        ..ComputeDispatch::default()
    }
}

//! A check by the interpreter that words which are adapted for devices have the same result as the
//! script's own words.
//!
//! If the passes do not accept a program, it is unchecked on a device with the same message, and
//! does not run here.

use std::collections::BTreeMap;

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::{Component, DrawObservation, ObservedTarget, run_by};
use smallstep_semantics::spirv::environment::{Dispatch, Draw, Observation, ObservedBuffer, ObservedImage, Resources};
use smallstep_semantics::spirv::{LoadOptions, Module};

use super::play::Interpreter;
use crate::compile::{self, bindings::Places};
use crate::compute::given::Place;
use crate::compute::{self, ComputeModule};
use crate::dispatch::{ComputeDispatch, DrawDispatch};
use crate::theorem::dispatches::Engines;

fn refused(e: &dyn std::fmt::Display) -> String {
    format!("the passes for devices make a module that is refused: {e}")
}

fn changed(what: &str) -> String {
    format!("the passes for devices change what the program shows: {what}")
}

fn loaded(words: &[u32]) -> Result<Module, String> {
    Module::load_with(words, &LoadOptions { lenient: true, ..LoadOptions::default() }).map_err(|e| refused(&e))
}

/// Checks that a dispatch shows the same after the passes for devices, if these change it. The
/// error describes the difference.
pub(super) fn shows(
    original: &ComputeDispatch,
    dispatch: &Dispatch<'_>,
    interpreter: &compute::Interpreter,
    engines: &Engines,
    observed: &Observation,
) -> Result<(), String> {
    let Ok((adapted, places)) = compile::for_wgpu(original) else { return Ok(()) };
    if adapted.words == original.words {
        return Ok(());
    }
    let module = ComputeModule::new(loaded(&adapted.words)?, Some(&adapted.entry)).map_err(|e| refused(&e))?;
    let (buffers, images) = (adapted.contents(), adapted.bound().image_contents());
    let resources = Resources { buffers: &buffers, images: &images, samplers: &adapted.samplers, ..dispatch.resources };
    let dispatch = Dispatch { resources, ..dispatch.clone() };
    let ran = compute::interpret(&module, &dispatch, interpreter, &engines.relation, engines.planted.as_ref(), &mut ());
    match ran.map_err(|e| refused(&e))?.report.outcome {
        Outcome::Observed(found) => {
            same_buffers(&observed.buffers, &found.buffers, &places)?;
            same_images(&observed.images, &found.images, &places)
        }
        // Only the remaining time was too short.
        Outcome::Limit(_) if dispatch.limits.time.is_some() => Ok(()),
        other => Err(changed(&format!("it ends with {}", other.name()))),
    }
}

/// Checks the same for a draw.
pub(super) fn draw_shows(original: &DrawDispatch, interpreter: &Interpreter, observed: &DrawObservation) -> Result<(), String> {
    let Ok((adapted, places)) = compile::draw_for_wgpu(original) else { return Ok(()) };
    if adapted == *original {
        return Ok(());
    }
    let (vertex, fragment) = (loaded(&adapted.vertex.words)?, loaded(&adapted.fragment.words)?);
    let contents = adapted.contents();
    let lent = contents.lend(&adapted, interpreter.limits);
    let draw = Draw { resources: Resources { profile: interpreter.profile, ..lent.resources }, ..lent };
    let (engines, rules) = (&interpreter.engines, &interpreter.raster);
    let ran = run_by(&vertex, &fragment, &draw, &engines.relation, rules, &engines.schedule, &mut ()).map_err(|e| refused(&e))?;
    let found = match ran {
        Outcome::Observed(found) => found,
        Outcome::Limit(_) if interpreter.limits.time.is_some() => return Ok(()),
        other => return Err(changed(&format!("it ends with {}", other.name()))),
    };
    for (expected, found) in observed.targets.iter().zip(&found.targets) {
        same_target(expected, found)?;
    }
    same_buffers(&observed.buffers, &found.buffers, &places)
}

fn same_buffers(expected: &[ObservedBuffer], found: &[ObservedBuffer], places: &Places) -> Result<(), String> {
    for (index, e) in expected.iter().enumerate() {
        let of = |buffer: &ObservedBuffer| (buffer.set, buffer.binding);
        let place = Place::of(expected, index, of);
        let (set, binding) = places.adapted(place.whole()).unwrap_or(place.whole());
        let counterpart = Place { set, binding, ..place }.find(found, of);
        let undefined = |b: &ObservedBuffer| b.undefined.iter().map(|u| (u.start, u.end, u.kind)).collect::<Vec<_>>();
        if !counterpart.is_some_and(|f| f.bytes == e.bytes && undefined(f) == undefined(e)) {
            return Err(changed(&format!("the buffer at {place} differs")));
        }
    }
    Ok(())
}

fn same_images(expected: &[ObservedImage], found: &[ObservedImage], places: &Places) -> Result<(), String> {
    for (index, e) in expected.iter().enumerate() {
        let of = |image: &ObservedImage| (image.set, image.binding);
        let place = Place::of(expected, index, of);
        let (set, binding) = places.adapted(place.whole()).unwrap_or(place.whole());
        let counterpart = Place { set, binding, ..place }.find(found, of);
        let undefined = |i: &ObservedImage| i.undefined.iter().map(|u| (u.component, u.start, u.end, u.kind)).collect::<Vec<_>>();
        if !counterpart.is_some_and(|f| f.bytes == e.bytes && undefined(f) == undefined(e)) {
            return Err(changed(&format!("the image at {place} differs")));
        }
    }
    Ok(())
}

/// Checks that two attachments are equal, including their inexact components. The origins of
/// undefined components are not compared, because passes move instructions.
fn same_target(expected: &ObservedTarget, found: &ObservedTarget) -> Result<(), String> {
    let same = |a: &Component, b: &Component| match (a, b) {
        (Component::Undefined(a), Component::Undefined(b)) => a.kind == b.kind,
        (a, b) => a == b,
    };
    let inexact_components = |target: &ObservedTarget| -> BTreeMap<([u32; 2], usize), Component> {
        target.inexact().into_iter().map(|(pixel, c, component)| ((pixel, c), component.clone())).collect()
    };
    let (expected_of, found_of) = (inexact_components(expected), inexact_components(found));
    // The adapted draw does not run over sets. These know more of undecided components.
    let fits = |(at, found): (&([u32; 2], usize), &Component)| {
        matches!(found, Component::Undecided(_)) || expected_of.get(at).is_some_and(|expected| same(expected, found))
    };
    let inexact = found_of.iter().all(fits) && expected_of.keys().all(|at| found_of.contains_key(at));
    if expected.image != found.image || !inexact {
        return Err(changed(&format!("the attachment at location {} differs", expected.location)));
    }
    Ok(())
}

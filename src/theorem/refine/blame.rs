//! Finds the cause of a disagreement: the last store to a byte, in both modules, or the undefined
//! behaviour of AFTER. It runs the relation again.

use std::fmt::Write;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::{Profile, Trust};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::Event;
use smallstep_semantics::spirv::environment::{InvocationId, Observation, ObservedBuffer};
use smallstep_semantics::spirv::error::Place as At;
use smallstep_semantics::spirv::module::Module;
use smallstep_semantics::spirv::shared::{Extent, ObjectId};
use smallstep_semantics::spirv::step::Action;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::value::{Origin, Scalar};
use smallstep_semantics::undefined::Undefined;

use super::doubts::Doubts;
use super::observe::{Difference, DifferenceKind, bytes_at};
use super::stages::StageModule;
use super::{Input, Settings, Side};
use crate::compute::given::Place;
use crate::compute::report::Invocations;
use crate::compute::{report, show};

/// The last store to a byte.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The index of the instruction.
    pub instruction: u32,
    /// Its function and block.
    pub at: At,
    /// The invocation that executed it.
    pub invocation: InvocationId,
    /// The number of rules that this invocation had applied before.
    pub step: u64,
    /// The first byte of the stored scalar, as an offset in the buffer.
    pub start: u64,
    /// The width of the scalar in bytes.
    pub width: u8,
    /// The scalar's bits.
    pub bits: u64,
    /// The origin of the undefined value, if the scalar is undefined.
    pub undefined: Option<Origin>,
    /// What is known about the scalar on devices.
    pub trust: Trust,
    /// Whether the scalar is a float.
    pub is_float: bool,
    /// The type of the scalar, if known.
    pub type_: Option<Type>,
}

/// The record of a run of the relation.
pub(super) struct Traced<'m> {
    /// The float controls that the module declares.
    pub(super) profile: Profile,
    writers: Vec<Writer>,
    /// By place and byte: the index in `writers` of the last store.
    last: FxHashMap<(Place, u64), u32>,
    doubts: Doubts<'m>,
    size: u32,
    /// The first undefined behaviour of the run, if any. Another engine may meet that of another
    /// invocation first.
    pub(super) undefined_behaviour: Option<Undefined>,
}

impl Traced<'_> {
    /// The last store to a byte.
    pub(super) fn writer(&self, place: Place, byte: u64) -> Option<&Writer> {
        self.writers.get(*self.last.get(&(place, byte))? as usize)
    }

    /// Why the undefined behaviour is not certain. `None` if it is certain.
    pub(super) fn doubt(&self, undefined: &Undefined) -> Option<String> {
        let site = undefined.site.as_ref()?;
        let size = self.size.max(1);
        let invocation = InvocationId { workgroup: site.invocation / size, local: site.invocation % size };
        self.doubts.why_uncertain(undefined.ub, invocation, self.doubts.module.instructions().get(site.instruction as usize)?)
    }
}

/// Runs a module by the relation, and records its stores to buffers.
pub(super) fn traced<'m>(side: &'m Side, input: &Input, settings: &Settings, fuel: u64, schedule: &Schedule) -> Traced<'m> {
    let module = &side.module.module;
    let profile = module.entry_point(&side.module.entry).map_or(Profile::VulkanDefault, |entry| module.profile(entry));
    let size = side.module.needs().local_size.unwrap_or([1; 3]).iter().product();
    let (writers, last, doubts) = (Vec::new(), FxHashMap::default(), Doubts::new(module, profile));
    let mut trace = Traced { profile, writers, last, doubts, size, undefined_behaviour: None };
    let report = side.report(input, settings, fuel, schedule, &mut |event: &Event<'_, '_>| {
        let operands = event.instruction.operands(module.words());
        trace.doubts.event(event);
        for action in event.actions {
            match action {
                Action::Store(extent, scalars) => {
                    let type_ = operands.get(1).and_then(|&id| module.type_of(id));
                    trace.record_store(event, (module, input), extent, scalars, &|k| type_.and_then(|id| module.types().scalar_at(id, k)));
                }
                Action::Atomic { extent, store: Some(scalar), .. } => {
                    let type_ = operands.first().and_then(|&id| module.type_of(id)).and_then(|id| module.pointer_type(id));
                    let scalars = std::slice::from_ref(scalar);
                    trace.record_store(event, (module, input), extent, scalars, &|_| type_.and_then(|(_, id)| module.types().get(id)));
                }
                _ => {}
            }
        }
    });
    trace.undefined_behaviour = report.undefined.first().cloned();
    trace
}

impl Traced<'_> {
    fn record_store(
        &mut self,
        event: &Event<'_, '_>,
        (module, input): (&Module, &Input),
        extent: &Extent,
        scalars: &[Scalar],
        type_: &dyn Fn(u64) -> Option<Type>,
    ) {
        let ObjectId::Buffer(index) = extent.object else { return };
        if index as usize >= input.buffers.len() {
            return;
        }
        let place = Place::of(&input.buffers, index as usize, |b| (b.set, b.binding));
        let before = module.instructions().partition_point(|i| i.offset < event.instruction.offset);
        let instruction = before as u32;
        for ((cell, scalar), k) in extent.cells.iter().zip(scalars).zip(0..) {
            let type_ = type_(k);
            self.writers.push(Writer {
                instruction,
                at: event.at,
                invocation: event.invocation,
                step: event.step,
                start: cell.offset,
                width: cell.bytes,
                bits: scalar.bits,
                undefined: scalar.undefined,
                trust: scalar.trust,
                is_float: matches!(type_, Some(Type::Float { .. })),
                type_,
            });
            for byte in cell.offset..cell.offset + u64::from(cell.bytes) {
                self.last.insert((place, byte), self.writers.len() as u32 - 1);
            }
        }
    }
}

/// A disagreement with its explanation.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The difference between BEFORE and AFTER.
    pub difference: Difference,
    /// The difference, as one sentence.
    pub what: String,
    /// What BEFORE does at the differing place: some lines.
    pub before: String,
    /// What AFTER does at the differing place: some lines.
    pub after: String,
    /// The other elements of buffers that differ, one line each.
    pub others: Vec<String>,
    /// The last store to the byte in BEFORE.
    pub before_writer: Option<Writer>,
    /// The last store to the byte in AFTER.
    pub after_writer: Option<Writer>,
}

/// Explains a difference between BEFORE and AFTER.
pub(super) fn blame(before: &Side, after: &Side, input: &Input, settings: &Settings, difference: Difference) -> Disagreement {
    let mut disagreement = Disagreement {
        what: String::new(),
        before: "it has an observation, and no undefined behaviour".into(),
        after: String::new(),
        others: Vec::new(),
        before_writer: None,
        after_writer: None,
        difference,
    };
    match &disagreement.difference.kind {
        DifferenceKind::Undefined(undefined) => {
            disagreement.what = format!("AFTER has undefined behaviour that BEFORE has not: {}", undefined.ub.id());
            disagreement.after = report::undefined(&after.module.module, undefined, after.assembly.as_ref());
            if let Some(elsewhere) = &disagreement.difference.elsewhere {
                disagreement.after += &format!("\n{}", elsewhere.description);
            }
        }
        DifferenceKind::Ends(ending) => {
            disagreement.what = format!("AFTER ends without an observation: {ending}");
            disagreement.after = match ending.as_str() {
                "out of fuel" => format!("it executes more than {} instructions", disagreement.difference.fuel),
                ending => ending.into(),
            };
        }
        DifferenceKind::Texel { after, .. } => {
            disagreement.after = format!("it shows {after} there");
            disagreement.what = texel_text(&disagreement.difference.kind);
        }
        DifferenceKind::Byte { place, byte, bytes, allowed, .. } => {
            let (place, byte, bytes) = (*place, *byte, *bytes);
            let inspect = |side: &Side, fuel: u64, schedule: &Schedule| {
                let observation = side.report(input, settings, fuel, schedule, &mut ()).outcome;
                let trace = traced(side, input, settings, fuel, schedule);
                let observation = if let Outcome::Observed(observation) = observation { observation } else { Observation::default() };
                let found = element(before, side, input, place, byte, &observation);
                (found, trace.writer(place, byte).copied(), observation)
            };
            let (b, b_writer, b_shown) = inspect(before, settings.fuel, &disagreement.difference.before);
            let (a, a_writer, a_shown) = match &disagreement.difference.elsewhere {
                None => inspect(after, disagreement.difference.fuel, &disagreement.difference.after),
                Some(elsewhere) => {
                    let observation = elsewhere.shown.observed().cloned().unwrap_or_default();
                    (element(before, after, input, place, byte, &observation), None, observation)
                }
            };
            let mut seen = vec![(place, b.path.clone())];
            for &(place, byte) in &disagreement.difference.places {
                let (b, a) = (element(before, before, input, place, byte, &b_shown), element(before, after, input, place, byte, &a_shown));
                if !seen.iter().any(|(at, path)| (*at, path) == (place, &b.path)) {
                    disagreement.others.push(format!("{place} {}: BEFORE shows {}, AFTER shows {}", b.path, b.text, a.text));
                    seen.push((place, b.path));
                }
            }
            let more = if bytes > 1 { format!(" ({bytes} bytes differ)") } else { String::new() };
            let allowed = allowed.as_ref().map(|set| format!("; on devices BEFORE allows {set}")).unwrap_or_default();
            disagreement.what = format!("{place} {}: BEFORE shows {}, AFTER shows {}{more}{allowed}", b.path, b.text, a.text);
            disagreement.before = stored(before, input, b_writer.as_ref());
            disagreement.after = match &disagreement.difference.elsewhere {
                None => stored(after, input, a_writer.as_ref()),
                Some(elsewhere) => elsewhere.description.clone(),
            };
            (disagreement.before_writer, disagreement.after_writer) = (b_writer, a_writer);
        }
    }
    disagreement
}

/// Explains a difference between draws.
pub(super) fn of_draw(after: &StageModule, difference: Difference) -> Disagreement {
    let (what, shown) = match &difference.kind {
        DifferenceKind::Undefined(undefined) => (
            format!("AFTER has undefined behaviour that BEFORE has not: {}", undefined.ub.id()),
            report::undefined(&after.module, undefined, None),
        ),
        DifferenceKind::Ends(ending) => (format!("AFTER ends without an observation: {ending}"), ending.clone()),
        DifferenceKind::Texel { after: shown, .. } => (texel_text(&difference.kind), format!("it shows {shown} there")),
        DifferenceKind::Byte { place, byte, bytes, undefined, .. } => {
            let shown = if *undefined { "any value" } else { "another value" };
            let more = if *bytes > 1 { format!(" ({bytes} bytes differ)") } else { String::new() };
            (format!("AFTER shows {shown} in byte {byte} of the buffer at {place}{more}"), format!("it shows {shown} there"))
        }
    };
    let before = "it has an observation, and no undefined behaviour".into();
    Disagreement { what, before, after: shown, others: Vec::new(), before_writer: None, after_writer: None, difference }
}

/// A differing texel, as one sentence.
fn texel_text(kind: &DifferenceKind) -> String {
    let DifferenceKind::Texel { of, at: [x, y, z], component, components, before, after, .. } = kind else { return String::new() };
    let more = if *components > 1 { format!(" ({components} components differ)") } else { String::new() };
    format!("component {component} of the texel at ({x},{y},{z}) of {of}: BEFORE shows {before}, AFTER shows {after}{more}")
}

struct Found {
    path: String,
    text: String,
}

/// The element that contains a byte, by BEFORE's type of the buffer, with its value in an
/// observation of `side`.
fn element(before: &Side, side: &Side, input: &Input, place: Place, byte: u64, observation: &Observation) -> Found {
    let unnamed = || Found { path: format!("byte {byte}"), text: "?".into() };
    let Some(variable) = before.module.storage_at(place) else { return unnamed() };
    let types = before.module.module.types();
    let mut wanted = None;
    let length = input.at(place).len() as u64;
    let _ = show::places(&before.module.module, variable, length, &mut |path, index, at| {
        let mut inside = false;
        types.visit_addresses(at, &mut |offset, width| inside |= (offset..offset + u64::from(width / 8)).contains(&byte));
        match inside {
            true => {
                wanted = Some((path.to_string(), index));
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        }
    });
    let shown = bytes_at(observation, input, place);
    let known = place.find(&observation.buffers, |b| (b.set, b.binding));
    let buffer = ObservedBuffer {
        set: place.set,
        binding: place.binding,
        bytes: shown.iter().map(|byte| byte.unwrap_or(0)).collect(),
        undefined: known.map(|b| b.undefined.clone()).unwrap_or_default(),
    };
    let mut found = None;
    show::elements(Invocations::OfDispatch(&before.module, input.groups), variable, &buffer, &mut |e| {
        if wanted.as_ref().is_some_and(|(path, index)| *path == e.path && *index == e.index) {
            found = Some(Found { path: e.place(), text: if e.text == "any" { "any value".into() } else { e.text } });
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let mut found = found.unwrap_or_else(unnamed);
    let undefined = buffer.undefined.iter().find(|u| (u.start..u.end).contains(&byte));
    if let Some(bytes) = undefined {
        let _ = write!(found.text, ", made at {}", Invocations::OfDispatch(&side.module, input.groups).origin(bytes));
    }
    found
}

/// The last store, in words.
fn stored(side: &Side, input: &Input, writer: Option<&Writer>) -> String {
    let module: &Module = &side.module.module;
    let Some(writer) = writer else { return "nothing stores there: it is what was given".into() };
    let value = match (writer.undefined, writer.type_) {
        (Some(_), _) => "any value".to_string(),
        (None, Some(type_)) => show::scalar_text(type_, writer.bits),
        (None, None) => format!("{:#x}", writer.bits),
    };
    let global = side.module.global(input.groups, writer.invocation.workgroup, writer.invocation.local);
    let (function, block) = (report::id(module, writer.at.function), report::id(module, writer.at.block));
    let instruction = report::instruction(module, writer.instruction);
    let mut text = format!("{instruction} (instruction {}) stores {value}", writer.instruction);
    let _ = write!(text, "\n  in {function}, block {block}, invocation {}, step {}", report::invocation(global), writer.step);
    if let Some((file, line, column)) = module.source_line(writer.instruction as usize) {
        let _ = write!(text, "\n  source {file}:{line}:{column}");
    }
    if let Some(place) = side.assembly.as_ref().and_then(|lines| lines.place(writer.instruction)) {
        let _ = write!(text, "\n  at {place}");
    }
    text
}

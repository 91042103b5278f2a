//! A script's commands, one after another, on one engine.

use std::ops::Range;

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, ObservedBuffer, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::Doubtful;
use smallstep_semantics::spirv::{Buffer, LoadOptions, Module, Sink};
use smallstep_semantics::undefined::Undefined;

use super::clear::ClearValues;
use super::modules::{Loaded, Modules};
use super::watch::Watch;
use crate::amber::{
    Action, BufferId, Buffers, Command, Judgement, Known, Line, Pipeline, PipelineId, Resource, Run, RunKind, Script, judge,
};
use crate::compile::bindings;
use crate::dispatch::BufferKind;
use crate::dispatch::resources::Behind;
use crate::gpu::{Device, DeviceOutcome};
use crate::run::compute::given::Place;
use crate::run::compute::told::{self, AssemblyLines};
use crate::run::compute::{self, ComputeModule};
use crate::theorem::dispatches::{self, Engines};
use crate::theorem::why_text;

/// The most places of one buffer of which it is kept who made their undefined or doubtful bytes.
pub const MAX_ORIGINS: usize = 4_096;

/// What runs RUN commands.
#[expect(clippy::large_enum_variant, reason = "a script has one or two, and keeps them to its end")]
pub enum Engine<'d> {
    /// The relation or the lockstep machine.
    Interpreter(Interpreter),
    /// A device.
    Device(&'d mut Device),
}

/// An interpreter of dispatches.
#[derive(Clone)]
pub struct Interpreter {
    /// Which. The machine keeps no record of what other devices may show, so that [`compute::Interpreter::Any`] gives modules with floats to the relation.
    pub by: compute::Interpreter,
    /// Relation and machine as they are, or with a planted bug.
    pub engines: Engines,
    /// The most instructions of all invocations of one RUN together.
    pub fuel: u64,
    /// Whether a module whose bindings a device has made dense ([`mod@bindings`]) is run that way too, and must show the same.
    pub adapted_too: bool,
}

impl Default for Interpreter {
    fn default() -> Interpreter {
        Interpreter { by: compute::Interpreter::Any, engines: Engines::default(), fuel: Limits::default().instructions, adapted_too: false }
    }
}

/// Why a script is not played on.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A RUN met undefined behaviour: it, and the report in some lines.
    Undefined(Box<Undefined>, String),
    /// Something that is not modeled.
    Unsupported(String),
    /// A limit of an engine, or fuel.
    Limit(String),
    /// The script does not fit its shaders.
    Invalid(String),
    /// The device lacks something.
    Unchecked(String),
    /// The device, or naga, refused a module that the interpreter takes.
    Refused(String),
    /// The device crashed, hung or was lost; or a pass of ours changed what a module shows.
    Failed(String),
}

impl End {
    /// The word that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            End::Undefined(..) => "undefined",
            End::Unsupported(_) => "unsupported",
            End::Limit(_) => "limit",
            End::Invalid(_) => "invalid",
            End::Unchecked(_) => "unchecked",
            End::Refused(_) => "refused",
            End::Failed(_) => "failed",
        }
    }

    /// Why, in a sentence.
    pub fn why(&self) -> String {
        match self {
            End::Undefined(undefined, _) => undefined.to_string(),
            End::Unsupported(why) => format!("unsupported: {why}"),
            End::Limit(why) | End::Invalid(why) | End::Unchecked(why) | End::Refused(why) | End::Failed(why) => why.clone(),
        }
    }
}

/// What one command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It is done.
    Done,
    /// A RUN is done; these buffers may have changed.
    Ran(Vec<BufferId>),
    /// An expectation was judged.
    Judged(Judgement),
    /// The script ends here.
    Ended(Line, End),
}

/// Who made bytes undefined or doubtful.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    range: Range<usize>,
    why: String,
}

/// What one engine has made of a script's buffers so far.
pub struct Player<'s> {
    script: &'s Script,
    modules: &'s Modules,
    /// What the buffers hold.
    pub buffers: Buffers,
    origins: Vec<Vec<Origin>>,
    clear: Vec<ClearValues>,
}

/// A buffer behind a descriptor that an entry point uses.
struct Bound {
    place: Place,
    buffer: BufferId,
    range: Range<usize>,
    kind: BufferKind,
}

/// What a dispatch is given.
struct Given {
    bound: Vec<Bound>,
    push_constants: Vec<u8>,
    /// Whose bytes the push constants are.
    pushed: Option<BufferId>,
    groups: [u32; 3],
    /// The line of the RUN.
    line: Line,
}

/// The commands of a script in the order in which they are done; those of REPEAT as often as it says.
pub fn commands(script: &Script) -> impl Iterator<Item = &Command> {
    script.commands.iter().flat_map(|command| {
        let (body, count) = match &command.action {
            Action::Repeat { count, body } => (body.as_slice(), *count),
            _ => (std::slice::from_ref(command), 1),
        };
        (0..count).flat_map(move |_| body)
    })
}

impl<'s> Player<'s> {
    /// Before the first command.
    pub fn new(script: &'s Script, modules: &'s Modules) -> Player<'s> {
        Player {
            script,
            modules,
            buffers: script.contents(),
            origins: vec![Vec::new(); script.buffers.len()],
            clear: vec![ClearValues::default(); script.pipelines.len()],
        }
    }

    /// Does one command.
    pub fn step(&mut self, command: &Command, engine: &mut Engine<'_>) -> Step {
        let done = match &command.action {
            Action::Run(run) => match self.run(run, command.line, engine) {
                Ok(changed) => return Step::Ran(changed),
                Err(end) => Err(end),
            },
            Action::Expect(expect) => return Step::Judged(judge(self.script, expect, &self.buffers)),
            Action::Clear(pipeline) => self.clear(*pipeline, command.line),
            Action::ClearColour(pipeline, bits) => {
                self.clear[pipeline.0].colour = bits.map(f32::from_bits);
                Ok(())
            }
            Action::ClearDepth(pipeline, bits) => {
                self.clear[pipeline.0].depth = f32::from_bits(*bits);
                Ok(())
            }
            Action::ClearStencil(pipeline, value) => {
                self.clear[pipeline.0].stencil = *value;
                Ok(())
            }
            Action::Copy { from, to } => {
                self.buffers[*to] = self.buffers[*from].clone();
                self.origins[to.0] = self.origins[from.0].clone();
                Ok(())
            }
            Action::Write { buffer, lanes } => {
                let held = &mut self.buffers[*buffer];
                let outside = |e| End::Invalid(format!("line {}: buffer {}: {e}", command.line, self.script[*buffer].name));
                lanes.iter().try_for_each(|lane| held.write(lane)).map_err(outside)
            }
            Action::Repeat { .. } => Err(End::Invalid("a REPEAT is done by its commands".into())),
        };
        match done {
            Ok(()) => Step::Done,
            Err(end) => Step::Ended(command.line, end),
        }
    }

    /// The script.
    pub fn script(&self) -> &'s Script {
        self.script
    }

    /// Who made a byte of a buffer undefined or doubtful, as the second half of a sentence.
    pub fn origin(&self, buffer: BufferId, byte: usize) -> Option<&str> {
        self.origins[buffer.0].iter().rev().find(|o| o.range.contains(&byte)).map(|o| o.why.as_str())
    }

    fn clear(&mut self, pipeline: PipelineId, line: Line) -> Result<(), End> {
        let declared = &self.script[pipeline];
        let attached = declared.colours.iter().map(|(_, buffer)| *buffer).chain(declared.depth_stencil);
        for buffer in attached {
            let Some(format) = self.script[buffer].format() else { continue };
            let filled = self.clear[pipeline.0].fill(format, &mut self.buffers[buffer]);
            filled.map_err(|what| End::Unsupported(format!("line {line}: {what}")))?;
            self.origins[buffer.0] = Vec::new();
            let whole = 0..self.buffers[buffer].bytes.len();
            self.note(buffer, whole, format!("CLEAR in line {line} rounds to the format {}", format.name()));
        }
        Ok(())
    }

    fn note(&mut self, buffer: BufferId, range: Range<usize>, why: String) {
        let origins = &mut self.origins[buffer.0];
        if origins.len() < MAX_ORIGINS {
            origins.push(Origin { range, why });
        }
    }

    fn run(&mut self, run: &Run, line: Line, engine: &mut Engine<'_>) -> Result<Vec<BufferId>, End> {
        let pipeline = &self.script[run.pipeline];
        match (self.modules.of(run.pipeline), &run.what) {
            (Some(Loaded::Compute { module, lines }), RunKind::Compute(groups)) => {
                let given = Given {
                    bound: self.bind(pipeline, module, line)?,
                    push_constants: self.push_constants(pipeline, module, line)?,
                    pushed: pipeline.push_constants,
                    groups: *groups,
                    line,
                };
                if !groups.contains(&0) {
                    self.dispatch(module, lines.as_ref(), &given, engine)?;
                }
                Ok(given.bound.iter().filter(|b| b.kind == BufferKind::ReadWrite).map(|b| b.buffer).collect())
            }
            (Some(Loaded::Graphics { vertex, fragment }), what) => {
                // What is drawn is known; the engines that draw it are asked here.
                super::draw::drawing(self.script, &self.buffers, run.pipeline, what, [&vertex.entry, &fragment.entry])
                    .map_err(|what| End::Unsupported(format!("line {line}: {what}")))?;
                Err(End::Unsupported(format!("line {line}: RUN of a graphics pipeline")))
            }
            _ => Err(End::Invalid(format!("line {line}: the pipeline {} cannot run this", pipeline.name))),
        }
    }

    /// The bytes behind the descriptors that the entry point uses.
    fn bind(&self, pipeline: &Pipeline, module: &ComputeModule, line: Line) -> Result<Vec<Bound>, End> {
        let mut bound: Vec<Bound> = Vec::new();
        for (place, behind, variable) in module.bound() {
            let name = module.name_of(variable);
            let invalid = |what: String| End::Invalid(format!("line {line}: pipeline {}: {what}", pipeline.name));
            match behind {
                Behind::Uniform | Behind::Storage => {}
                Behind::Array => return Err(End::Unsupported(format!("line {line}: {name}, an array of descriptors"))),
                _ => return Err(End::Unsupported(format!("line {line}: {name}, an image or a sampler of a compute pipeline"))),
            }
            let binding = pipeline.bindings.iter().find(|b| (b.set, b.binding) == (place.set, place.binding));
            let binding = binding.ok_or_else(|| {
                invalid(format!("nothing is bound at descriptor set {}, binding {} for {name}", place.set, place.binding))
            })?;
            let range = match (binding.resource, behind) {
                (Resource::Uniform(range), Behind::Uniform) | (Resource::Storage(range), Behind::Storage) => range,
                (_, behind) => {
                    let wanted = if behind == Behind::Uniform { "uniform" } else { "storage" };
                    return Err(invalid(format!("{name} is a {wanted} buffer, and what line {} binds is none", binding.line)));
                }
            };
            let whole = self.buffers[range.buffer].bytes.len();
            let start = usize::try_from(range.offset).unwrap_or(whole).min(whole);
            let length = range.range.map_or(whole - start, |n| usize::try_from(n).unwrap_or(whole)).min(whole - start);
            let needed = module.module.buffer_size(variable.id);
            if (length as u64) < needed {
                let buffer = &self.script[range.buffer].name;
                return Err(invalid(format!("{name} needs {needed} bytes, and what is bound of {buffer} has {length}")));
            }
            if bound.iter().any(|b| b.place == place) {
                continue;
            }
            let kind = module.kind_at(place).unwrap_or(BufferKind::ReadWrite);
            bound.push(Bound { place, buffer: range.buffer, range: start..start + length, kind });
        }
        for (i, one) in bound.iter().enumerate() {
            let overlaps = |other: &&Bound| {
                let written = one.kind == BufferKind::ReadWrite || other.kind == BufferKind::ReadWrite;
                let meet = one.range.start < other.range.end && other.range.start < one.range.end;
                one.buffer == other.buffer && written && meet
            };
            if let Some(other) = bound[..i].iter().find(overlaps) {
                let name = &self.script[one.buffer].name;
                let what = format!("line {line}: the buffer {name}, bound at {} and at {} and written", other.place, one.place);
                return Err(End::Unsupported(what));
            }
        }
        Ok(bound)
    }

    /// As many bytes of the push constants as the entry point uses, a whole number of words.
    fn push_constants(&self, pipeline: &Pipeline, module: &ComputeModule, line: Line) -> Result<Vec<u8>, End> {
        let needed = module.push_constant_bytes();
        let mut bytes = pipeline.push_constants.map_or(&[][..], |buffer| &self.buffers[buffer].bytes).to_vec();
        if (bytes.len() as u64) < needed {
            let (name, entry) = (&pipeline.name, &module.entry);
            return Err(End::Invalid(format!(
                "line {line}: pipeline {name}: \"{entry}\" needs {needed} bytes of push constants, and is given {}",
                bytes.len()
            )));
        }
        bytes.truncate(needed as usize);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Ok(bytes)
    }

    fn dispatch(
        &mut self,
        module: &ComputeModule,
        lines: Option<&AssemblyLines>,
        given: &Given,
        engine: &mut Engine<'_>,
    ) -> Result<(), End> {
        let bytes = |b: &Bound| self.buffers[b.buffer].bytes[b.range.clone()].to_vec();
        let buffers: Vec<Buffer> =
            given.bound.iter().map(|b| Buffer { set: b.place.set, binding: b.place.binding, bytes: bytes(b) }).collect();
        match engine {
            Engine::Device(device) => {
                let line = given.line;
                let dispatch = module.for_device(given.groups, &buffers, given.push_constants.clone());
                let shown = compute::on_device(&dispatch, device).map_err(|outcome| match outcome {
                    DeviceOutcome::Unchecked(why) => End::Unchecked(format!("line {line}: {why}")),
                    DeviceOutcome::Refused(why) => End::Refused(format!("a refusal: {why}")),
                    other => End::Failed(format!("line {line}: {other}")),
                })?;
                for buffer in shown {
                    self.store(&given.bound, Place { set: buffer.set, binding: buffer.binding }, &buffer.bytes);
                }
                Ok(())
            }
            Engine::Interpreter(interpreter) => {
                let resources = Resources { buffers: &buffers, push_constants: &given.push_constants, ..Resources::default() };
                let limits = Limits { instructions: interpreter.fuel, ..Limits::default() };
                let dispatch = Dispatch { entry: &module.entry, groups: given.groups, resources, limits };
                self.interpret(module, lines, &dispatch, given, interpreter)
            }
        }
    }

    fn interpret(
        &mut self,
        module: &ComputeModule,
        lines: Option<&AssemblyLines>,
        dispatch: &Dispatch<'_>,
        given: &Given,
        interpreter: &Interpreter,
    ) -> Result<(), End> {
        let Given { bound, line, .. } = given;
        let floats = module.module.instructions().iter().any(|i| i.is(Op::TypeFloat));
        let pushed = given.pushed.map(|buffer| (buffer, 0..given.push_constants.len().min(self.buffers[buffer].bytes.len())));
        let all: Vec<(BufferId, Range<usize>)> = bound.iter().map(|b| (b.buffer, b.range.clone())).chain(pushed).collect();
        let first_open = all.iter().find_map(|(b, range)| Some((*b, self.buffers[*b].open(range.start, range.len())?.0)));
        let schedule = interpreter.engines.schedule.clone();
        let by = match &interpreter.by {
            // The relation knows what devices differ in, and what is read.
            compute::Interpreter::Any if floats || first_open.is_some() => compute::Interpreter::Reference { schedule, keep_going: false },
            by => by.clone(),
        };
        let engines = &interpreter.engines;
        let known = |(buffer, range): &(BufferId, Range<usize>)| match self.buffers[*buffer].open(range.start, range.len()) {
            Some(_) => &self.buffers[*buffer].known[range.clone()],
            None => &[][..],
        };
        let mut watch = Watch::new(all.iter().map(known).collect());
        let sink: &mut dyn Sink = if first_open.is_some() { &mut watch } else { &mut () };
        let ran = compute::interpret(module, dispatch, &by, &engines.relation, engines.planted.as_ref(), sink)
            .map_err(|e| End::Unsupported(format!("line {line}: {e}")))?;
        let seen = watch.seen();
        let observation = observed(ran.report.outcome, module, lines, dispatch.limits.instructions, *line)?;
        if interpreter.adapted_too {
            adapted_shows(module, dispatch, &by, engines, &observation).map_err(|what| End::Failed(format!("line {line}: {what}")))?;
        }
        let read = match (seen.read, first_open, ran.engine) {
            (Some((index, at)), ..) => all.get(index).map(|(buffer, range)| (*buffer, range.start + at)),
            // The machine does not say what it reads.
            (None, open, "machine") => open,
            _ => None,
        };
        let unknown = match read {
            Some((buffer, at)) => {
                let kind = match self.buffers[buffer].known_at(at) {
                    Known::Undefined => "an undefined value",
                    _ => "a value that devices differ in",
                };
                let name = &self.script[buffer].name;
                Some(format!("RUN in line {line} is given {kind} in byte {at} of {name}, and what it computes of that is not known"))
            }
            None if floats && ran.engine == "machine" => Some(format!(
                "RUN in line {line} has floats, and the machine keeps no record of what else devices may show; the reference does"
            )),
            None => None,
        };
        for (index, observed) in observation.buffers.iter().enumerate() {
            let place = Place { set: observed.set, binding: observed.binding };
            let Some(which) = bound.iter().position(|b| b.place == place && b.kind == BufferKind::ReadWrite) else { continue };
            let doubtful = ran.report.doubtful.iter().filter(|d| d.buffer == index);
            self.keep(module, given, which, observed, doubtful, &seen.written[which]);
        }
        if let Some(why) = unknown {
            for b in bound.iter().filter(|b| b.kind == BufferKind::ReadWrite) {
                self.buffers[b.buffer].mark(b.range.clone(), Known::Doubtful);
                self.origins[b.buffer.0].retain(|o| !(b.range.start <= o.range.start && o.range.end <= b.range.end));
                self.note(b.buffer, b.range.clone(), why.clone());
            }
        }
        Ok(())
    }

    /// Puts what the relation or the machine shows of a buffer in its place, with what is known of it: what it makes undefined or doubtful, and what was
    /// so before and is not `written` over.
    fn keep<'d>(
        &mut self,
        module: &ComputeModule,
        given: &Given,
        which: usize,
        observed: &ObservedBuffer,
        doubtful: impl Iterator<Item = &'d Doubtful>,
        written: &[bool],
    ) {
        let Bound { place, buffer: id, range, .. } = &given.bound[which];
        let (line, id) = (given.line, *id);
        let before = self.buffers[id].known.get(range.clone()).unwrap_or(&[]).to_vec();
        let origins = self.origins[id.0].clone();
        if self.store(&given.bound, *place, &observed.bytes).is_none() {
            return;
        }
        let mut stayed = false;
        for (at, known) in before.into_iter().enumerate() {
            if known > Known::Decided && !written.get(at).copied().unwrap_or(false) {
                self.buffers[id].mark(range.start + at..range.start + at + 1, known);
                stayed = true;
            }
        }
        if stayed {
            self.origins[id.0] = origins;
        }
        let within = |start: u64, end: u64| range.start + start as usize..range.start + end as usize;
        for bytes in &observed.undefined {
            let open = within(bytes.start, bytes.end);
            self.buffers[id].mark(open.clone(), Known::Undefined);
            let made = told::origin(module, given.groups, bytes);
            self.note(id, open, format!("any value, made at {made} ({}), RUN in line {line}", bytes.kind));
        }
        for one in doubtful {
            let open = within(one.start, one.end);
            self.buffers[id].mark(open.clone(), Known::Doubtful);
            self.note(id, open, format!("{}, RUN in line {line}", why_text(one.why)));
        }
    }

    /// Puts what a RUN shows at a place into its buffer, decided; gives the buffer and the bytes. Nothing for a buffer that is only read.
    fn store(&mut self, bound: &[Bound], place: Place, bytes: &[u8]) -> Option<(BufferId, Range<usize>)> {
        let found = bound.iter().find(|b| b.place == place && b.kind == BufferKind::ReadWrite && b.range.len() == bytes.len())?;
        let (buffer, range) = (found.buffer, found.range.clone());
        self.buffers[buffer].bytes[range.clone()].copy_from_slice(bytes);
        self.buffers[buffer].mark(range.clone(), Known::Decided);
        self.origins[buffer.0].retain(|o| !(range.start <= o.range.start && o.range.end <= range.end));
        Some((buffer, range))
    }
}

/// The observation, or how the script ends without one.
fn observed(
    outcome: Outcome<Observation>,
    module: &ComputeModule,
    lines: Option<&AssemblyLines>,
    fuel: u64,
    line: Line,
) -> Result<Observation, End> {
    Err(match outcome {
        Outcome::Observed(observation) => return Ok(observation),
        Outcome::Undefined(undefined) => {
            let report = told::undefined(&module.module, &undefined, lines);
            End::Undefined(Box::new(undefined), format!("{report}\n  in RUN, line {line}"))
        }
        Outcome::Unsupported(what) => End::Unsupported(format!("line {line}: {what}")),
        Outcome::OutOfFuel => End::Limit(format!("line {line}: out of fuel after {fuel} instructions")),
        Outcome::Limit(limit) => End::Limit(format!("line {line}: {limit}")),
        Outcome::Diverges(why) => End::Limit(format!("line {line}: it never ends: {why}")),
        Outcome::Stuck(stuck) => End::Invalid(format!("line {line}: stuck, at {}: {}", stuck.at, stuck.why)),
        Outcome::Deadlock => End::Invalid(format!("line {line}: every invocation waits for another")),
    })
}

/// Whether a module shows the same after the pass that makes its bindings dense for a device, where there is anything to do for it; if not, how it
/// differs. A module that the pass does not take is unchecked on a device, by the same message.
fn adapted_shows(
    module: &ComputeModule,
    dispatch: &Dispatch<'_>,
    by: &compute::Interpreter,
    engines: &Engines,
    observed: &Observation,
) -> Result<(), String> {
    let given = module.for_device(dispatch.groups, dispatch.resources.buffers, dispatch.resources.push_constants.to_vec());
    let Ok((adapted, places)) = bindings::adapt(&given) else { return Ok(()) };
    if places.is_identity() {
        return Ok(());
    }
    let refused = |e: &dyn std::fmt::Display| format!("the pass `bindings` makes a module that is refused: {e}");
    let loaded = Module::load_with(&adapted.words, &LoadOptions { lenient: true, ..LoadOptions::default() }).map_err(|e| refused(&e))?;
    let adapted_module = ComputeModule::new(loaded, Some(&adapted.entry)).map_err(|e| refused(&e))?;
    let buffers = adapted.contents();
    let resources = Resources { buffers: &buffers, ..dispatch.resources };
    let ran = compute::interpret(
        &adapted_module,
        &Dispatch { resources, ..dispatch.clone() },
        by,
        &engines.relation,
        engines.planted.as_ref(),
        &mut (),
    );
    let outcome = ran.map_err(|e| refused(&e))?.report.outcome;
    let mut expected = observed.clone();
    for buffer in &mut expected.buffers {
        (buffer.set, buffer.binding) = places.adapted((buffer.set, buffer.binding)).unwrap_or((buffer.set, buffer.binding));
    }
    let changes = |what: &str| format!("the pass `bindings` changes what the module shows: {what}");
    match outcome {
        Outcome::Observed(found) => dispatches::same(&expected, &found).map_err(|what| changes(&what)),
        other => Err(changes(&format!("it ends with {}", other.name()))),
    }
}

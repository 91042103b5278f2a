//! The execution of a script's commands on one engine.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::Exploration;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster;
use smallstep_semantics::spirv::environment::{Dispatch, InvocationId, Limits, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Acceptance, Doubtful, Report};
use smallstep_semantics::spirv::{LoadError, Module, Relation, Sink, UndefinedWays};
use smallstep_semantics::undefined::{Ub, Undefined};

use super::bind::{Bound, given_sets};
use super::clear::ClearValues;
use super::keep::{OpenParts, Origin, StoredDepth};
use super::modules::{Loaded, Modules};
use super::watch::Watch;
use super::{adapted, resolve};
use crate::amber::{
    Action, BufferId, Buffers, Certainty, Command, Judgement, Line, PipelineId, Run, RunKind, Script, Source, Stage, View, judge,
};
use crate::compute::given::Place;
use crate::compute::report::{self, AssemblyLines, Invocations};
use crate::compute::{self, ComputeModule};
use crate::dispatch::{BufferKind, ComputeDispatch};
use crate::gpu::{Device, DeviceOutcome, Route};
use crate::theorem::dispatches::Engines;

/// The engine that executes RUN commands.
pub enum Engine<'d> {
    /// The relation or the lockstep machine.
    Interpreter(Box<Interpreter>),
    /// A device.
    Device(&'d mut Device),
}

/// An interpreter of dispatches and draws.
#[derive(Clone)]
pub struct Interpreter {
    /// The engine for dispatches. The machine keeps no record of the values that other devices may
    /// have, so [`compute::Interpreter::Any`] runs modules with floats on the relation.
    pub by: compute::Interpreter,
    /// The relation and the machine. Tests plant bugs in them.
    pub engines: Engines,
    /// The rules for the rasterisation of draws.
    pub raster: raster::Rules,
    /// The limits of one RUN.
    pub limits: Limits,
    /// The profile for floats. The default is the profile that each module declares.
    pub profile: Option<Profile>,
    /// The subgroup size for pipelines that declare none. If `None`, a RUN that depends on it is
    /// played with several sizes.
    pub subgroup_size: Option<u32>,
    /// Whether a module that is adapted for devices ([`crate::compile`]) also runs in that form. It
    /// must then show the same.
    pub adapted_too: bool,
    /// Whether a RUN goes on after a branch on an undefined value, if all ways show the same.
    pub follows: bool,
}

impl Default for Interpreter {
    fn default() -> Interpreter {
        Interpreter {
            by: compute::Interpreter::Any,
            engines: Engines::default(),
            raster: raster::Rules::default(),
            limits: Limits::default(),
            profile: None,
            subgroup_size: None,
            adapted_too: false,
            follows: true,
        }
    }
}

/// The reason why a script ends early.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A RUN has undefined behaviour.
    Undefined {
        /// The undefined behaviour.
        undefined: Box<Undefined>,
        /// The report, in some lines.
        report: String,
        /// The lines of the shader's instructions in the script, if the source is assembly.
        assembly: Option<AssemblyLines>,
    },
    /// A feature that is not modeled.
    Unsupported(String),
    /// A limit of an engine was exceeded, or the fuel.
    Limit(String),
    /// The script does not fit its shaders.
    Invalid(String),
    /// The device lacks a feature.
    Unchecked(String),
    /// The device, or naga, rejected a module that the interpreter accepts.
    Refused(String),
    /// The device crashed, hung or was lost. Or a pass of ours changed the result of a module.
    Failed(String),
}

impl End {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            End::Undefined { .. } => "undefined",
            End::Unsupported(_) => "unsupported",
            End::Limit(_) => "limit",
            End::Invalid(_) => "invalid",
            End::Unchecked(_) => "unchecked",
            End::Refused(_) => "refused",
            End::Failed(_) => "failed",
        }
    }

    /// The reason in a sentence.
    pub fn why(&self) -> String {
        match self {
            End::Undefined { undefined, .. } => undefined.to_string(),
            End::Unsupported(why) => format!("unsupported: {why}"),
            End::Limit(why) | End::Invalid(why) | End::Unchecked(why) | End::Refused(why) | End::Failed(why) => why.clone(),
        }
    }
}

/// The result of one command.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The command was executed.
    Done,
    /// A RUN was executed. These buffers may have changed.
    Ran(Vec<BufferId>),
    /// An expectation was judged.
    Judged(Judgement),
    /// The script ends here.
    Ended(Line, End),
}

/// The state of one engine during a script.
pub struct Player<'s> {
    pub(super) script: &'s Script,
    modules: &'s Modules,
    /// The contents of the buffers.
    pub buffers: Buffers,
    pub(super) origins: Vec<Vec<Origin>>,
    /// The depths that draws have left in depth attachments.
    pub(super) depths: BTreeMap<BufferId, StoredDepth>,
    clear: Vec<ClearValues>,
    /// Branches on undefined values that do not affect the result, with the line of their RUN.
    pub notes: Vec<(Line, String)>,
}

/// The state of a player: buffers, origins of open bytes, and depths.
type PlayerState = (Buffers, Vec<Vec<Origin>>, BTreeMap<BufferId, StoredDepth>);

/// The most branches on undefined values of one invocation if all ways are followed. They give up
/// to 64 ways.
const MOST_UNDEFINED: usize = 6;

/// Whether an instruction depends on the other invocations of a quad.
fn is_of_quad(op: Op) -> bool {
    let name = format!("{op:?}");
    ["DPd", "Fwidth", "ImageQueryLod"].iter().any(|prefix| name.starts_with(prefix)) || name.contains("ImplicitLod")
}

/// The inputs of a dispatch.
pub(super) struct DispatchInputs {
    pub bound: Bound,
    pub groups: [u32; 3],
    /// The subgroup size that the pipeline requires, if any.
    pub subgroup_size: Option<u32>,
    /// The line of the RUN.
    pub line: Line,
}

/// The commands of a script in the order of execution. Those of REPEAT are repeated.
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
    /// A player before the first command.
    pub fn new(script: &'s Script, modules: &'s Modules) -> Player<'s> {
        Player {
            script,
            modules,
            buffers: script.contents(),
            origins: vec![Vec::new(); script.buffers.len()],
            depths: BTreeMap::new(),
            clear: vec![ClearValues::default(); script.pipelines.len()],
            notes: Vec::new(),
        }
    }

    /// Executes one command.
    pub fn step(&mut self, command: &Command, engine: &mut Engine<'_>) -> Step {
        let result = match &command.action {
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
                let contents = &mut self.buffers[*buffer];
                let outside = |e| End::Invalid(format!("line {}: buffer {}: {e}", command.line, self.script[*buffer].name));
                lanes.iter().try_for_each(|lane| contents.write(lane)).map_err(outside)
            }
            Action::Repeat { .. } => Err(End::Invalid("a REPEAT is done by its commands".into())),
        };
        match result {
            Ok(()) => Step::Done,
            Err(end) => Step::Ended(command.line, end),
        }
    }

    /// The script.
    pub fn script(&self) -> &'s Script {
        self.script
    }

    /// The origin of an undefined or doubtful byte, as the second half of a sentence.
    pub fn origin(&self, buffer: BufferId, byte: usize) -> Option<&str> {
        self.origins[buffer.0].iter().rev().find(|o| o.range.contains(&byte)).map(|o| o.why.as_str())
    }

    fn clear(&mut self, pipeline: PipelineId, line: Line) -> Result<(), End> {
        let declared = &self.script[pipeline];
        let depth = declared.depth_stencil.map(|buffer| View { buffer, level: 0 });
        let attached = declared.colours.iter().map(|(_, view)| *view).chain(depth);
        for View { buffer, level } in attached {
            let declared = &self.script[buffer];
            let Some(format) = declared.format() else { continue };
            let all = 0..self.buffers[buffer].bytes.len();
            let whole = if declared.samples > 1 { all } else { declared.level(level).unwrap_or(all) };
            let filled = self.clear[pipeline.0].fill(format, &mut self.buffers[buffer], whole.clone());
            filled.map_err(|what| End::Unsupported(format!("line {line}: {what}")))?;
            self.origins[buffer.0].retain(|o| !(whole.start <= o.range.start && o.range.end <= whole.end));
            self.note(buffer, whole, format!("CLEAR in line {line} rounds to the format {}", format.name()));
        }
        self.resolve(&resolve::pairs(&self.script[pipeline]), line);
        Ok(())
    }

    fn run(&mut self, run: &Run, line: Line, engine: &mut Engine<'_>) -> Result<Vec<BufferId>, End> {
        let end = match self.run_once(run, line, engine) {
            Err(end @ End::Undefined { .. }) => end,
            other => return other,
        };
        let (Engine::Interpreter(interpreter), End::Undefined { undefined, .. }) = (engine, &end) else { return Err(end) };
        if !interpreter.follows || undefined.ub != Ub::BranchOnUndefined || !self.may_be_followed(run, line) {
            return Err(end);
        }
        match self.follow(run, line, interpreter)? {
            Some((changed, ways)) => {
                self.notes.push((line, format!("{undefined}; all of {ways} ways show the same")));
                Ok(changed)
            }
            None => Err(end),
        }
    }

    /// Whether no invocation of a RUN depends on another, so that the ways of one invocation are
    /// those of each. That holds for a draw of rectangles that no vertex shader moves, with one
    /// fragment for each pixel. Its fragment stage must write nothing that invocations share, and
    /// compute no differences in quads. It also holds for a dispatch of one invocation.
    fn may_be_followed(&self, run: &Run, line: Line) -> bool {
        let differs = |module: &Module| module.instructions().iter().any(|i| is_of_quad(i.op));
        match (self.modules.of(run.pipeline), &run.what) {
            (Some(Loaded::Compute { module, .. }), RunKind::Compute(groups)) => {
                let size = module.module.entry_point(&module.entry).ok().and_then(|entry| module.module.modes(entry).workgroup_size);
                *groups == [1; 3] && size.unwrap_or([1; 3]) == [1; 3]
            }
            (Some(Loaded::Graphics { vertex, fragment }), RunKind::DrawRect(_) | RunKind::DrawGrid { .. }) => {
                let corners = self.script[run.pipeline].shader(Stage::Vertex).map(|attached| &self.script[attached.shader].source);
                let uses = [vertex, fragment].map(|stage| stage.uses());
                let bound = Bound::new(self.script, &self.buffers, &self.script[run.pipeline], &uses, line);
                corners == Some(&Source::Passthrough)
                    && !differs(&fragment.module)
                    && bound.is_ok_and(|bound| bound.written().next().is_none())
            }
            _ => false,
        }
    }

    /// Follows all ways of a RUN's branches on undefined values. Returns the changed buffers and
    /// the number of ways. `None` if the ways have different results, or if there are too many. All
    /// invocations take the same way. That covers the ways of each, since none depends on another.
    ///
    /// The error is that one of the ways reaches a limit.
    fn follow(&mut self, run: &Run, line: Line, interpreter: &Interpreter) -> Result<Option<(Vec<BufferId>, u32)>, End> {
        let before = self.state();
        let (mut ways, mut count, mut first): (Vec<bool>, u32, Option<PlayerState>) = (Vec::new(), 0, None);
        let schedule = interpreter.engines.schedule.clone();
        loop {
            (self.buffers, self.origins, self.depths) = before.clone();
            let followed = UndefinedWays { ways: ways.clone(), met: Arc::default() };
            let met = followed.met.clone();
            let relation = Relation { ways: Some(followed), ..interpreter.engines.relation.clone() };
            let by = compute::Interpreter::Reference { schedule: schedule.clone(), keep_going: false };
            let engines = Engines { relation, ..interpreter.engines.clone() };
            let interpreter = Interpreter { by, engines, adapted_too: false, follows: false, ..interpreter.clone() };
            let ran = self.run_once(run, line, &mut Engine::Interpreter(Box::new(interpreter)));
            let met = met.load(Ordering::Relaxed) as usize;
            let same = first.as_ref().is_none_or(|first| (&first.0, &first.2) == (&self.buffers, &self.depths));
            let (Ok(changed), true, true) = (&ran, same, met <= MOST_UNDEFINED) else {
                (self.buffers, self.origins, self.depths) = before;
                return match ran {
                    Err(end @ End::Limit(_)) => Err(end),
                    _ => Ok(None),
                };
            };
            first = first.or_else(|| Some(self.state()));
            count += 1;
            ways.resize(met.max(ways.len()), true);
            while ways.last() == Some(&false) {
                ways.pop();
            }
            match ways.last_mut() {
                None => return Ok(Some((changed.clone(), count))),
                Some(last) => *last = false,
            }
        }
    }

    fn state(&self) -> PlayerState {
        (self.buffers.clone(), self.origins.clone(), self.depths.clone())
    }

    fn run_once(&mut self, run: &Run, line: Line, engine: &mut Engine<'_>) -> Result<Vec<BufferId>, End> {
        let pipeline = &self.script[run.pipeline];
        match (self.modules.of(run.pipeline), &run.what) {
            (Some(Loaded::Compute { module, lines }), RunKind::Compute(groups)) => {
                let bound = Bound::new(self.script, &self.buffers, pipeline, &[module.uses()], line)?;
                let inputs = DispatchInputs { bound, groups: *groups, subgroup_size: pipeline.subgroup_size, line };
                if !groups.contains(&0) {
                    self.dispatch(module, lines.as_ref(), &inputs, engine)?;
                }
                Ok(inputs.bound.written().collect())
            }
            (Some(Loaded::Graphics { vertex, fragment }), RunKind::DrawArray { .. } | RunKind::DrawRect(_) | RunKind::DrawGrid { .. }) => {
                self.draw(run, [vertex, fragment], line, engine)
            }
            _ => Err(End::Invalid(format!("line {line}: the pipeline {} cannot run this", pipeline.name))),
        }
    }

    fn dispatch(
        &mut self,
        module: &ComputeModule,
        lines: Option<&AssemblyLines>,
        inputs: &DispatchInputs,
        engine: &mut Engine<'_>,
    ) -> Result<(), End> {
        let buffers = inputs.bound.contents(&self.buffers);
        match engine {
            Engine::Device(device) => {
                let dispatch = self.for_device(module, inputs);
                let device_size = device.adapter().subgroups.size();
                if let Some(required) =
                    inputs.subgroup_size.filter(|&required| device_size != Some(required) && grid::uses_subgroups(&module.module))
                {
                    let device_size = device_size
                        .map_or_else(|| "of a size that is not known".into(), |device_size| format!("of {device_size} invocations"));
                    let why = format!("the pipeline requires subgroups of {required} invocations, and the device has some {device_size}");
                    return Err(not_run(DeviceOutcome::Unchecked(why), device.route(), inputs.line));
                }
                let shown = compute::shown_by(&dispatch, device).map_err(|outcome| not_run(outcome, device.route(), inputs.line))?;
                self.store_shown(&inputs.bound, &shown.buffers, &shown.images);
                Ok(())
            }
            Engine::Interpreter(interpreter) => {
                let (images, samplers) = (inputs.bound.image_contents(&self.buffers), &inputs.bound.samplers());
                let push_constants = &inputs.bound.push_constants;
                let bounded = inputs.bound.bounded(&self.buffers);
                let bounded = bounded.as_slice();
                let (profile, subgroup_size) = (interpreter.profile, inputs.subgroup_size.or(interpreter.subgroup_size));
                let (buffers, images) = (buffers.as_slice(), images.as_slice());
                let resources =
                    Resources { buffers, images, samplers, push_constants, bounded, profile, subgroup_size, ..Resources::default() };
                let limits = interpreter.limits;
                let dispatch = Dispatch { entry: &module.entry, groups: inputs.groups, resources, limits };
                self.interpret(module, lines, &dispatch, inputs, interpreter)
            }
        }
    }

    /// A dispatch in the form for devices.
    fn for_device(&self, module: &ComputeModule, inputs: &DispatchInputs) -> ComputeDispatch {
        ComputeDispatch {
            words: Arc::from(module.module.words()),
            entry: module.entry.clone(),
            groups: inputs.groups,
            buffers: inputs.bound.buffer_bindings(&self.buffers),
            images: inputs.bound.image_bindings(),
            samplers: inputs.bound.samplers(),
            push_constants: inputs.bound.push_constants.clone(),
        }
    }

    fn interpret(
        &mut self,
        module: &ComputeModule,
        lines: Option<&AssemblyLines>,
        dispatch: &Dispatch<'_>,
        inputs: &DispatchInputs,
        interpreter: &Interpreter,
    ) -> Result<(), End> {
        let DispatchInputs { bound, line, .. } = inputs;
        let open_image = bound.open_image(&self.buffers, true);
        let floats = module.module.instructions().iter().any(|i| i.is(Op::TypeFloat));
        let any_subgroups = dispatch.resources.subgroup_size.is_none() && grid::uses_subgroups(&module.module);
        let pushed = bound.pushed.map(|buffer| (buffer, 0..bound.push_constants.len().min(self.buffers[buffer].bytes.len())));
        let all: Vec<(BufferId, Range<usize>)> = bound.buffers.iter().map(|b| (b.buffer, b.range.clone())).chain(pushed).collect();
        let first_open = all.iter().find_map(|(b, range)| Some((*b, self.buffers[*b].open(range.start, range.len())?.0)));
        let schedule = interpreter.engines.schedule.clone();
        let chosen_interpreter = match &interpreter.by {
            // Only the relation knows where devices may differ, and which bytes are read.
            compute::Interpreter::Any if floats || any_subgroups || first_open.is_some() || open_image.is_some() || bound.is_short() => {
                compute::Interpreter::Reference { schedule, keep_going: false }
            }
            other => other.clone(),
        };
        let engines = &interpreter.engines;
        // Inputs with a set are no more open than other bytes.
        let known: Vec<Vec<Certainty>> = all.iter().enumerate().map(|(at, place)| self.known(place, at < bound.buffers.len())).collect();
        let lengths = all.iter().map(|(_, range)| range.len()).collect();
        let mut watch = Watch::new(known.iter().map(Vec::as_slice).collect(), lengths);
        let refused = |e: LoadError| End::Unsupported(format!("line {line}: {e}"));
        let is_decided = known.iter().flatten().all(|known| *known == Certainty::Decided) && open_image.is_none() && !bound.is_short();
        let judged = match &interpreter.by {
            compute::Interpreter::Any if floats && !any_subgroups && is_decided => {
                compute::judge(module, dispatch, &engines.relation, engines.sets, engines.planted.as_ref()).map_err(refused)?
            }
            _ => None,
        };
        let (ran, seen, judged) = match judged {
            Some(grid::Judged { report, acceptance, written, .. }) => {
                written.iter().for_each(|&(buffer, at)| watch.writes(buffer, at));
                (compute::Ran { engine: "machine", note: None, report }, watch.seen(), Some(acceptance))
            }
            None => {
                let sink: &mut dyn Sink = if first_open.is_some() || bound.is_short() { &mut watch } else { &mut () };
                let ran = compute::interpret(module, dispatch, &chosen_interpreter, &engines.relation, engines.planted.as_ref(), sink)
                    .map_err(refused)?;
                (ran, watch.seen(), None)
            }
        };
        bound.read_past(self.script, seen.past, *line)?;
        if bound.is_short() && ran.engine == "machine" {
            let what = "a uniform buffer is shorter than its block, and the machine does not say what is read; the reference does";
            return Err(End::Unsupported(format!("line {line}: {what}")));
        }
        let report = ran.report;
        let observation = observed(report.outcome.clone(), &module.module, lines, &dispatch.limits, *line)?;
        if interpreter.adapted_too {
            adapted::shows(&self.for_device(module, inputs), dispatch, &chosen_interpreter, engines, &observation)
                .map_err(|what| End::Failed(format!("line {line}: {what}")))?;
        }
        let read = match (seen.read, first_open, ran.engine) {
            _ if judged.is_some() => None,
            (Some((index, at)), ..) => all.get(index).map(|(buffer, range)| (*buffer, range.start + at)),
            // The machine does not report the bytes that it reads.
            (None, open, "machine") => open,
            _ => None,
        };
        // Only the relation tracks sampled texels.
        let open_image = if ran.engine == "reference" { bound.open_image(&self.buffers, false) } else { open_image };
        let unknown = match read.or(open_image) {
            Some(open) => Some(self.unknown_reason(open, *line)),
            None if floats && ran.engine == "machine" && judged.is_none() => Some(format!(
                "RUN in line {line} has floats, and the machine keeps no record of what else devices may show; the reference does"
            )),
            None => None,
        };
        let acceptance = match (&unknown, ran.engine) {
            _ if judged.is_some() => judged,
            (None, "reference") => Some(accepted(module, dispatch, &report, engines, *line)?),
            _ => None,
        };
        let invocations = Invocations::OfDispatch(module, inputs.groups);
        for (index, observed) in observation.buffers.iter().enumerate() {
            let place = Place::of(&observation.buffers, index, |b| (b.set, b.binding));
            let Some(buffer_index) = bound.buffers.iter().position(|b| b.place == place && b.kind == BufferKind::ReadWrite) else {
                continue;
            };
            let open_parts = open_parts(&report, acceptance.as_ref(), index);
            let origin = |bytes: &_| invocations.origin(bytes);
            self.keep(&origin, inputs, buffer_index, observed, &open_parts, &seen.written[buffer_index]);
        }
        for (index, observed) in observation.images.iter().enumerate() {
            let origin = |(at, invocation_id): (u32, InvocationId)| {
                format!("{} by {}", report::instruction(&module.module, at), invocations.text(invocation_id))
            };
            let doubtful = report.doubtful_texels.iter().filter(|d| d.image == index);
            let place = Place::of(&observation.images, index, |i| (i.set, i.binding));
            self.keep_image(&origin, inputs, (place, observed), doubtful);
        }
        if let Some(why) = unknown {
            self.doubt(bound, why);
        }
        Ok(())
    }

    /// The knowledge of some bytes of a buffer. Empty if all are decided. With `with_sets`, floats
    /// with a set count as known.
    fn known(&self, (buffer, range): &(BufferId, Range<usize>), with_sets: bool) -> Vec<Certainty> {
        let contents = &self.buffers[*buffer];
        if contents.open(range.start, range.len()).is_none() {
            return Vec::new();
        }
        let mut known: Vec<Certainty> = range.clone().map(|at| contents.known_at(at)).collect();
        for (at, _) in given_sets(contents, range).filter(|_| with_sets) {
            known[at - range.start..][..4].fill(Certainty::Decided);
        }
        known
    }

    /// The reason why the results of a RUN that reads an open byte are unknown.
    pub(super) fn unknown_reason(&self, (buffer, at): (BufferId, usize), line: Line) -> String {
        let kind = match self.buffers[buffer].known_at(at) {
            Certainty::Undefined => "an undefined value",
            _ => "a value that devices differ in",
        };
        let name = &self.script[buffer].name;
        format!("RUN in line {line} is given {kind} in byte {at} of {name}, and what it computes of that is not known")
    }
}

/// The result of runs over sets for the parts that a run of the relation leaves open.
fn accepted(module: &ComputeModule, dispatch: &Dispatch<'_>, report: &Report, engines: &Engines, line: Line) -> Result<Acceptance, End> {
    let refused = |e: LoadError| End::Unsupported(format!("line {line}: {e}"));
    let exploration = Exploration { rules: engines.sets, ..Exploration::under(Profile::Strict) };
    grid::explore(&module.module, dispatch, report, &engines.relation, exploration).map_err(refused)
}

/// The open parts of one observed buffer.
fn open_parts(report: &Report, acceptance: Option<&Acceptance>, buffer: usize) -> OpenParts {
    let of_buffer = |all: &[Doubtful]| all.iter().filter(|d| d.buffer == buffer).copied().collect();
    let one_of = report.one_of.iter().filter(|one| one.buffer == buffer).map(|one| (one.offset, one.values.clone())).collect();
    let Some(acceptance) = acceptance else {
        return OpenParts { doubtful: of_buffer(&report.doubtful), bounded: Vec::new(), one_of, unsettled: None };
    };
    let words = acceptance.words.iter().filter(|word| word.buffer == buffer);
    OpenParts {
        doubtful: of_buffer(&acceptance.doubtful),
        bounded: words.filter_map(|word| Some((word.offset, word.expected.set()?))).collect(),
        one_of,
        unsettled: acceptance.unsettled.as_ref().map(ToString::to_string),
    }
}

/// The ending of a script whose program a device did not run. A rejection by naga is no fault of
/// the driver: naga is a front end, and accepts fewer modules than a driver does. A rejection on
/// the other route is the driver's fault, since it must accept the module.
pub(super) fn not_run(outcome: DeviceOutcome, route: Route, line: Line) -> End {
    match outcome {
        DeviceOutcome::Unchecked(why) => End::Unchecked(format!("line {line}: {why}")),
        DeviceOutcome::Refused(why) if route.re_emits() => End::Unchecked(format!("line {line}: naga refuses a module: {why}")),
        DeviceOutcome::Refused(why) => End::Refused(format!("a refusal: {why}")),
        other => End::Failed(format!("line {line}: {other}")),
    }
}

/// The observation, or the ending of the script without one.
pub(super) fn observed<T>(
    outcome: Outcome<T>,
    module: &Module,
    lines: Option<&AssemblyLines>,
    limits: &Limits,
    line: Line,
) -> Result<T, End> {
    Err(match outcome {
        Outcome::Observed(observation) => return Ok(observation),
        Outcome::Undefined(undefined) => {
            let report = format!("{}\n  in RUN, line {line}", report::undefined(module, &undefined, lines));
            End::Undefined { undefined: Box::new(undefined), report, assembly: lines.cloned() }
        }
        Outcome::Unsupported(what) => End::Unsupported(format!("line {line}: {what}")),
        Outcome::OutOfFuel => End::Limit(format!("line {line}: {}", limits.out_of_fuel())),
        Outcome::Limit(limit) => End::Limit(format!("line {line}: {limit}")),
        Outcome::Diverges(why) => End::Limit(format!("line {line}: it never ends: {why}")),
        Outcome::Stuck(stuck) => End::Invalid(format!("line {line}: stuck, at {}: {}", stuck.at, stuck.why)),
        Outcome::Deadlock => End::Invalid(format!("line {line}: every invocation waits for another")),
    })
}

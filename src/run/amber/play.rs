//! A script's commands, one after another, on one engine.

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
use super::keep::{LeftOpen, Origin, StoredDepth};
use super::modules::{Loaded, Modules};
use super::watch::Watch;
use super::{adapted, resolve};
use crate::amber::{
    Action, BufferId, Buffers, Command, Judgement, Known, Line, PipelineId, Run, RunKind, Script, Source, Stage, View, judge,
};
use crate::compute::given::Place;
use crate::compute::told::{self, AssemblyLines, Invocations};
use crate::compute::{self, ComputeModule};
use crate::dispatch::{BufferKind, ComputeDispatch};
use crate::gpu::{Device, DeviceOutcome, Route};
use crate::theorem::dispatches::Engines;

/// What runs RUN commands.
pub enum Engine<'d> {
    /// The relation or the lockstep machine.
    Interpreter(Box<Interpreter>),
    /// A device.
    Device(&'d mut Device),
}

/// An interpreter of dispatches and draws.
#[derive(Clone)]
pub struct Interpreter {
    /// Which. The machine keeps no record of what other devices may show, so that
    /// [`compute::Interpreter::Any`] gives modules with floats to the relation.
    pub by: compute::Interpreter,
    /// Relation and machine as they are, or with a planted bug.
    pub engines: Engines,
    /// How draws are rasterised.
    pub raster: raster::Rules,
    /// What one RUN may take.
    pub limits: Limits,
    /// Under which profile floats are judged; by default that which each module asks for.
    pub profile: Option<Profile>,
    /// How many invocations a subgroup has where a pipeline does not say; without, a RUN that
    /// depends on it is played with several sizes.
    pub subgroup_size: Option<u32>,
    /// Whether a module that is adapted for devices ([`crate::compile`]) is run that way too, and
    /// must show the same.
    pub adapted_too: bool,
    /// Whether a RUN goes on that branches on an undefined value, if all ways show the same.
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

/// Why a script is not played on.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A RUN met undefined behaviour.
    Undefined {
        /// What it met.
        undefined: Box<Undefined>,
        /// The report, in some lines.
        report: String,
        /// Where the instructions of the shader stand in the script, if its text is there.
        assembly: Option<AssemblyLines>,
    },
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
            End::Undefined { .. } => "undefined",
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
            End::Undefined { undefined, .. } => undefined.to_string(),
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

/// What one engine has made of a script's buffers so far.
pub struct Player<'s> {
    pub(super) script: &'s Script,
    modules: &'s Modules,
    /// What the buffers hold.
    pub buffers: Buffers,
    pub(super) origins: Vec<Vec<Origin>>,
    /// What draws have left in depth attachments.
    pub(super) depths: BTreeMap<BufferId, StoredDepth>,
    clear: Vec<ClearValues>,
    /// Branches on undefined values that change nothing, by the line of their RUN.
    pub notes: Vec<(Line, String)>,
}

/// What a player holds: buffers, who made what is open in them, and depths.
type Held = (Buffers, Vec<Vec<Origin>>, BTreeMap<BufferId, StoredDepth>);

/// The most branches on undefined values that one invocation may come to where all ways are
/// followed: 64 ways.
const MOST_UNDEFINED: usize = 6;

/// Whether an instruction sees what other invocations of a quad have.
fn is_of_quad(op: Op) -> bool {
    let name = format!("{op:?}");
    ["DPd", "Fwidth", "ImageQueryLod"].iter().any(|prefix| name.starts_with(prefix)) || name.contains("ImplicitLod")
}

/// What a dispatch is given.
pub(super) struct Given {
    pub bound: Bound,
    pub groups: [u32; 3],
    /// How many invocations a subgroup has, if the pipeline says so.
    pub subgroup_size: Option<u32>,
    /// The line of the RUN.
    pub line: Line,
}

/// The commands of a script in the order in which they are done; those of REPEAT as
/// often as it says.
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
            depths: BTreeMap::new(),
            clear: vec![ClearValues::default(); script.pipelines.len()],
            notes: Vec::new(),
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

    /// Whether no invocation of a RUN sees what another does, so that the ways of each are those of
    /// one: a draw of rectangles that no vertex shader moves, with one fragment for each pixel,
    /// whose fragment stage writes nothing that is shared and takes no differences in quads; or a
    /// dispatch of one invocation.
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

    /// Follows all ways of a RUN's branches on undefined values: what changed, and how many ways
    /// there are; nothing if they do not show the same, or are too many. Every invocation takes the
    /// same ways, which shows those of each where none sees another.
    ///
    /// Errors: one of the ways reaches a limit.
    fn follow(&mut self, run: &Run, line: Line, interpreter: &Interpreter) -> Result<Option<(Vec<BufferId>, u32)>, End> {
        let before = self.held();
        let (mut ways, mut count, mut first): (Vec<bool>, u32, Option<Held>) = (Vec::new(), 0, None);
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
            first = first.or_else(|| Some(self.held()));
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

    fn held(&self) -> Held {
        (self.buffers.clone(), self.origins.clone(), self.depths.clone())
    }

    fn run_once(&mut self, run: &Run, line: Line, engine: &mut Engine<'_>) -> Result<Vec<BufferId>, End> {
        let pipeline = &self.script[run.pipeline];
        match (self.modules.of(run.pipeline), &run.what) {
            (Some(Loaded::Compute { module, lines }), RunKind::Compute(groups)) => {
                let bound = Bound::new(self.script, &self.buffers, pipeline, &[module.uses()], line)?;
                let given = Given { bound, groups: *groups, subgroup_size: pipeline.subgroup_size, line };
                if !groups.contains(&0) {
                    self.dispatch(module, lines.as_ref(), &given, engine)?;
                }
                Ok(given.bound.written().collect())
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
        given: &Given,
        engine: &mut Engine<'_>,
    ) -> Result<(), End> {
        let buffers = given.bound.contents(&self.buffers);
        match engine {
            Engine::Device(device) => {
                let dispatch = self.for_device(module, given);
                let own = device.adapter().subgroups.size();
                if let Some(asked) = given.subgroup_size.filter(|&asked| own != Some(asked) && grid::uses_subgroups(&module.module)) {
                    let own = own.map_or_else(|| "of a size that is not known".into(), |own| format!("of {own} invocations"));
                    let why = format!("the pipeline requires subgroups of {asked} invocations, and the device has some {own}");
                    return Err(not_run(DeviceOutcome::Unchecked(why), device.route(), given.line));
                }
                let shown = compute::shown_by(&dispatch, device).map_err(|outcome| not_run(outcome, device.route(), given.line))?;
                for buffer in shown.buffers {
                    self.store(&given.bound, Place { set: buffer.set, binding: buffer.binding }, &buffer.bytes);
                }
                for image in shown.images {
                    self.store_image(&given.bound, Place { set: image.set, binding: image.binding }, &image.bytes);
                }
                Ok(())
            }
            Engine::Interpreter(interpreter) => {
                let (images, samplers) = (given.bound.image_contents(&self.buffers), &given.bound.samplers);
                let push_constants = &given.bound.push_constants;
                let bounded = given.bound.bounded(&self.buffers);
                let bounded = bounded.as_slice();
                let (profile, subgroup_size) = (interpreter.profile, given.subgroup_size.or(interpreter.subgroup_size));
                let (buffers, images) = (buffers.as_slice(), images.as_slice());
                let resources =
                    Resources { buffers, images, samplers, push_constants, bounded, profile, subgroup_size, ..Resources::default() };
                let limits = interpreter.limits;
                let dispatch = Dispatch { entry: &module.entry, groups: given.groups, resources, limits };
                self.interpret(module, lines, &dispatch, given, interpreter)
            }
        }
    }

    /// A dispatch as devices take it.
    fn for_device(&self, module: &ComputeModule, given: &Given) -> ComputeDispatch {
        ComputeDispatch {
            words: Arc::from(module.module.words()),
            entry: module.entry.clone(),
            groups: given.groups,
            buffers: given.bound.buffer_bindings(&self.buffers),
            images: given.bound.image_bindings(),
            samplers: given.bound.samplers.clone(),
            push_constants: given.bound.push_constants.clone(),
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
        let open_image = bound.open_image(&self.buffers, true);
        let floats = module.module.instructions().iter().any(|i| i.is(Op::TypeFloat));
        let any_subgroups = dispatch.resources.subgroup_size.is_none() && grid::uses_subgroups(&module.module);
        let pushed = bound.pushed.map(|buffer| (buffer, 0..bound.push_constants.len().min(self.buffers[buffer].bytes.len())));
        let all: Vec<(BufferId, Range<usize>)> = bound.buffers.iter().map(|b| (b.buffer, b.range.clone())).chain(pushed).collect();
        let first_open = all.iter().find_map(|(b, range)| Some((*b, self.buffers[*b].open(range.start, range.len())?.0)));
        let schedule = interpreter.engines.schedule.clone();
        let by = match &interpreter.by {
            // The relation knows what devices differ in, and what is read.
            compute::Interpreter::Any if floats || any_subgroups || first_open.is_some() || open_image.is_some() || bound.is_short() => {
                compute::Interpreter::Reference { schedule, keep_going: false }
            }
            by => by.clone(),
        };
        let engines = &interpreter.engines;
        // What the dispatch is given as a set is no more open than other bytes.
        let known: Vec<Vec<Known>> = all.iter().enumerate().map(|(at, place)| self.known(place, at < bound.buffers.len())).collect();
        let lengths = all.iter().map(|(_, range)| range.len()).collect();
        let mut watch = Watch::new(known.iter().map(Vec::as_slice).collect(), lengths);
        let refused = |e: LoadError| End::Unsupported(format!("line {line}: {e}"));
        let is_told = known.iter().flatten().all(|known| *known == Known::Decided) && open_image.is_none() && !bound.is_short();
        let judged = match &interpreter.by {
            compute::Interpreter::Any if floats && !any_subgroups && is_told => {
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
                let ran = compute::interpret(module, dispatch, &by, &engines.relation, engines.planted.as_ref(), sink).map_err(refused)?;
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
            adapted::shows(&self.for_device(module, given), dispatch, &by, engines, &observation)
                .map_err(|what| End::Failed(format!("line {line}: {what}")))?;
        }
        let read = match (seen.read, first_open, ran.engine) {
            _ if judged.is_some() => None,
            (Some((index, at)), ..) => all.get(index).map(|(buffer, range)| (*buffer, range.start + at)),
            // The machine does not say what it reads.
            (None, open, "machine") => open,
            _ => None,
        };
        // Texels that are sampled are followed by the relation alone.
        let open_image = if ran.engine == "reference" { bound.open_image(&self.buffers, false) } else { open_image };
        let unknown = match read.or(open_image) {
            Some(open) => Some(self.given_open(open, *line)),
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
        let invocations = Invocations::OfDispatch(module, given.groups);
        for (index, observed) in observation.buffers.iter().enumerate() {
            let place = Place { set: observed.set, binding: observed.binding };
            let Some(which) = bound.buffers.iter().position(|b| b.place == place && b.kind == BufferKind::ReadWrite) else { continue };
            let left = left_open(&report, acceptance.as_ref(), index);
            let made = |bytes: &_| invocations.origin(bytes);
            self.keep(&made, given, which, observed, &left, &seen.written[which]);
        }
        for (index, observed) in observation.images.iter().enumerate() {
            let made = |(at, by): (u32, InvocationId)| format!("{} by {}", told::instruction(&module.module, at), invocations.text(by));
            let doubtful = report.doubtful_texels.iter().filter(|d| d.image == index);
            self.keep_image(&made, given, observed, doubtful);
        }
        if let Some(why) = unknown {
            self.doubt(bound, why);
        }
        Ok(())
    }

    /// What is known of some bytes of a buffer, where some are open; if they are given as sets,
    /// what those say more is taken for known.
    fn known(&self, (buffer, range): &(BufferId, Range<usize>), with_sets: bool) -> Vec<Known> {
        let held = &self.buffers[*buffer];
        if held.open(range.start, range.len()).is_none() {
            return Vec::new();
        }
        let mut known: Vec<Known> = range.clone().map(|at| held.known_at(at)).collect();
        for (at, _) in given_sets(held, range).filter(|_| with_sets) {
            known[at - range.start..][..4].fill(Known::Decided);
        }
        known
    }

    /// Why nothing is known of what a RUN computes that reads an open byte.
    pub(super) fn given_open(&self, (buffer, at): (BufferId, usize), line: Line) -> String {
        let kind = match self.buffers[buffer].known_at(at) {
            Known::Undefined => "an undefined value",
            _ => "a value that devices differ in",
        };
        let name = &self.script[buffer].name;
        format!("RUN in line {line} is given {kind} in byte {at} of {name}, and what it computes of that is not known")
    }
}

/// What runs over sets say of what a run of the relation leaves open.
fn accepted(module: &ComputeModule, dispatch: &Dispatch<'_>, report: &Report, engines: &Engines, line: Line) -> Result<Acceptance, End> {
    let refused = |e: LoadError| End::Unsupported(format!("line {line}: {e}"));
    let exploration = Exploration { rules: engines.sets, ..Exploration::under(Profile::Strict) };
    grid::explore(&module.module, dispatch, report, &engines.relation, exploration).map_err(refused)
}

/// What is left open of one observed buffer.
fn left_open(report: &Report, acceptance: Option<&Acceptance>, buffer: usize) -> LeftOpen {
    let of = |all: &[Doubtful]| all.iter().filter(|d| d.buffer == buffer).copied().collect();
    let one_of = report.one_of.iter().filter(|one| one.buffer == buffer).map(|one| (one.offset, one.values.clone())).collect();
    let Some(acceptance) = acceptance else {
        return LeftOpen { doubtful: of(&report.doubtful), bounded: Vec::new(), one_of, unsettled: None };
    };
    let words = acceptance.words.iter().filter(|word| word.buffer == buffer);
    LeftOpen {
        doubtful: of(&acceptance.doubtful),
        bounded: words.filter_map(|word| Some((word.offset, word.expected.set()?))).collect(),
        one_of,
        unsettled: acceptance.unsettled.as_ref().map(ToString::to_string),
    }
}

/// How a script ends whose program a device did not run. What naga says about a module is naga's: a
/// front end of its own that takes fewer modules than a driver does. A refusal on the other route
/// is the driver's, of a module that it has to take.
pub(super) fn not_run(outcome: DeviceOutcome, route: Route, line: Line) -> End {
    match outcome {
        DeviceOutcome::Unchecked(why) => End::Unchecked(format!("line {line}: {why}")),
        DeviceOutcome::Refused(why) if route.re_emits() => End::Unchecked(format!("line {line}: naga refuses a module: {why}")),
        DeviceOutcome::Refused(why) => End::Refused(format!("a refusal: {why}")),
        other => End::Failed(format!("line {line}: {other}")),
    }
}

/// The observation, or how the script ends without one.
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
            let report = format!("{}\n  in RUN, line {line}", told::undefined(module, &undefined, lines));
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

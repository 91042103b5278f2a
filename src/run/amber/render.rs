//! A RUN of a graphics pipeline on an interpreter or on a device.

use std::ops::Range;

use smallstep_semantics::image::Image;
use smallstep_semantics::spirv::draw::{By, DrawObservation, MadeBy, run_with};
use smallstep_semantics::spirv::environment::{ColourTarget, Draw, InvocationId, Resources, Robustness, UndefinedBytes};
use smallstep_semantics::spirv::lockstep::FragmentProgram;
use smallstep_semantics::spirv::{Event, Sink};

use super::bind::Bound;
use super::draw::{Assembled, Depth, Drawing, drawing};
use super::keep::OpenParts;
use super::modules::Stage;
use super::play::{DispatchInputs, End, Engine, Interpreter, Player, not_run, observed};
use super::watch::Watch;
use super::{adapted, keep, resolve};
use crate::amber::{BufferId, Line, Run};
use crate::compute::drawn_by;
use crate::compute::given::Place;
use crate::compute::{self, report};
use crate::dispatch::{self, BufferKind, DepthAttachment, DrawDispatch, DrawResult, Geometry};
use crate::theorem::dispatches::Engines;

impl Player<'_> {
    /// Draws. Returns the buffers that may have changed.
    pub(super) fn draw(&mut self, run: &Run, stages: [&Stage; 2], line: Line, engine: &mut Engine<'_>) -> Result<Vec<BufferId>, End> {
        let pipeline = &self.script[run.pipeline];
        let bound = Bound::new(self.script, &self.buffers, pipeline, &stages.map(Stage::uses), line)?;
        let mut drawing = drawing(self.script, &self.buffers, run.pipeline, &run.what, stages.map(|stage| stage.entry.as_str()))
            .map_err(|what| End::Unsupported(format!("line {line}: {what}")))?;
        drawing.buffers = bound.contents(&self.buffers);
        drawing.images = bound.image_contents(&self.buffers);
        drawing.samplers = bound.samplers();
        drawing.push_constants = bound.push_constants.clone();
        let inputs = DispatchInputs { bound, groups: [1; 3], subgroup_size: None, line };
        let dispatch = self.draw_for_device(&drawing, stages, &inputs.bound);
        match engine {
            Engine::Device(_) if drawing.depth.as_ref().is_some_and(|depth| depth.target.stencil.is_some()) => {
                return Err(End::Unchecked(format!("line {line}: the draw tests stencils, which are not given to devices yet")));
            }
            Engine::Device(_) if drawing.state.samples > 1 => {
                return Err(End::Unchecked(format!("line {line}: the draw has several samples, which are not given to devices yet")));
            }
            Engine::Device(device) => {
                let shown = drawn_by(&dispatch, device).map_err(|outcome| not_run(outcome, device.route(), line))?;
                self.store_drawn(&drawing, &inputs.bound, shown);
            }
            Engine::Interpreter(interpreter) => self.interpret_draw(&drawing, stages, &inputs, &dispatch, interpreter)?,
        }
        let colours = drawing.shown.iter().flatten().map(|(id, _)| *id);
        let attached = colours.chain(drawing.depth.iter().map(|depth| depth.buffer));
        let resolved = self.resolve(&resolve::pairs(pipeline), line);
        Ok(inputs.bound.written().chain(attached).chain(resolved).collect())
    }

    /// A draw in the form for devices.
    fn draw_for_device(&self, drawing: &Drawing, [vertex, fragment]: [&Stage; 2], bound: &Bound) -> DrawDispatch {
        let stage = |stage: &Stage| dispatch::Stage { words: stage.module.words().into(), entry: stage.entry.clone() };
        let Assembled { topology, indices, first, count, first_instance, instances, attributes } = drawing.assembled.clone();
        let attachment =
            |depth: &Depth| DepthAttachment { image: depth.image.clone(), compare: depth.target.compare, writes: depth.target.writes };
        DrawDispatch {
            vertex: stage(vertex),
            fragment: stage(fragment),
            geometry: Geometry { topology, indices, first, count, vertex_offset: 0, first_instance, instances, attributes },
            buffers: bound.buffer_bindings(&self.buffers),
            images: bound.image_bindings(),
            samplers: bound.samplers(),
            push_constants: bound.push_constants.clone(),
            state: drawing.state,
            targets: drawing.targets.clone(),
            depth: drawing.depth.as_ref().map(attachment),
        }
    }

    /// Stores the result of a device as decided bytes.
    fn store_drawn(&mut self, drawing: &Drawing, bound: &Bound, shown: DrawResult) {
        let targets = drawing.shown.iter().zip(shown.targets).filter_map(|(shown, bytes)| Some((shown.clone()?, bytes)));
        let whole = |id: BufferId| (id, 0..self.buffers[id].bytes.len());
        let depth = drawing.depth.as_ref().map(|depth| whole(depth.buffer)).zip(shown.depth);
        for ((id, range), bytes) in targets.chain(depth).collect::<Vec<_>>() {
            if bytes.len() == range.len() {
                self.store_bytes(id, range, &bytes);
            }
        }
        self.store_shown(bound, &shown.buffers, &shown.images);
    }

    fn interpret_draw(
        &mut self,
        drawing: &Drawing,
        stages: [&Stage; 2],
        inputs: &DispatchInputs,
        dispatch: &DrawDispatch,
        interpreter: &Interpreter,
    ) -> Result<(), End> {
        let (line, bound) = (inputs.line, &inputs.bound);
        if interpreter.by == compute::Interpreter::Machine {
            return Err(End::Unsupported(format!("line {line}: the machine runs no draws; the reference does")));
        }
        let mut drawing = drawing.clone();
        // The depths that earlier draws have left are more precise than the buffer's bytes.
        let mut open = drawing.open.map(|(id, at, _)| (id, at)).or_else(|| bound.open_image(&self.buffers, false));
        let mut stored_depths = false;
        if let Some(depth) = &mut drawing.depth {
            let contents = &self.buffers[depth.buffer];
            match self.depths.get(&depth.buffer).filter(|stored| stored.contents == *contents) {
                Some(stored) => {
                    let mut is_exact = true;
                    match &stored.depths {
                        Some(depths) if depth.has_depths => depth.target.buffer = depths.clone(),
                        depths => is_exact &= depths.is_some() || !depth.has_depths,
                    }
                    if let Some(target) = &mut depth.target.stencil {
                        match &stored.stencil {
                            Some(stencil) => target.buffer = stencil.clone(),
                            None => is_exact = false,
                        }
                    }
                    if !is_exact {
                        open = open.or_else(|| Some((depth.buffer, contents.open(0, contents.bytes.len())?.0)));
                    }
                    stored_depths = true;
                }
                None => open = open.or_else(|| Some((depth.buffer, contents.open(0, contents.bytes.len())?.0))),
            }
        }
        let draw = drawing.draw(interpreter.limits);
        let known = |b: &super::bind::BufferAt| match self.buffers[b.buffer].open(b.range.start, b.range.len()) {
            Some(_) => &self.buffers[b.buffer].known[b.range.clone()],
            None => &[][..],
        };
        let lengths = bound.buffers.iter().map(|b| b.range.len()).collect();
        let mut seen = Stages { watch: Watch::new(bound.buffers.iter().map(known).collect(), lengths), stages, last: 0 };
        // The machine's reads are not watched.
        let decided = bound.buffers.iter().all(|b| known(b).is_empty());
        let observation = draw_by(&draw, stages, interpreter, decided, &mut seen, line);
        let seen = seen.watch.seen();
        bound.read_past(self.script, seen.past, line)?;
        let observation = observation?;
        // The adapted draw gets the same inputs as a device, so no inexact depths and texels.
        let open_texels = bound.open_image(&self.buffers, true).is_some();
        let stencils = drawing.depth.as_ref().is_some_and(|depth| depth.target.stencil.is_some());
        let samples = drawing.state.samples > 1;
        if interpreter.adapted_too && !stored_depths && !open_texels && !stencils && !samples {
            adapted::draw_shows(dispatch, interpreter, &observation).map_err(|what| End::Failed(format!("line {line}: {what}")))?;
        }
        let other = self.over_other_bits(&drawing, stages, interpreter, line)?;
        let read = seen.read.map(|(index, at)| (bound.buffers[index].buffer, bound.buffers[index].range.start + at));
        let unknown = open.or(read).map(|open| self.unknown_reason(open, line));
        let fragment = &stages[1].module;
        for (index, observed) in observation.buffers.iter().enumerate() {
            let place = Place::of(&observation.buffers, index, |b| (b.set, b.binding));
            let Some(buffer_index) = bound.buffers.iter().position(|b| b.place == place && b.kind == BufferKind::ReadWrite) else {
                continue;
            };
            let doubtful = observation.doubtful.iter().filter(|d| d.buffer == index).copied().collect();
            let open_parts = OpenParts { doubtful, bounded: Vec::new(), one_of: Vec::new(), unsettled: None };
            let origin = |bytes: &UndefinedBytes| report::instruction(fragment, bytes.made_at);
            self.keep(&origin, inputs, buffer_index, observed, &open_parts, &seen.written[buffer_index]);
        }
        for (index, observed) in observation.images.iter().enumerate() {
            let origin = |(instruction, _): (u32, InvocationId)| report::instruction(fragment, instruction);
            let doubtful = observation.doubtful_texels.iter().filter(|d| d.image == index);
            let place = Place::of(&observation.images, index, |i| (i.set, i.binding));
            self.keep_image(&origin, inputs, (place, observed), doubtful);
        }
        let origin_text = |made_by: &MadeBy| match made_by.instruction {
            Some((index, _)) => format!("made at {} of the fragment stage ({})", report::instruction(fragment, index), made_by.kind.id()),
            None => format!("which no instruction has made ({})", made_by.kind.id()),
        };
        for (at, observed) in observation.targets.iter().enumerate() {
            let Some((id, whole)) = drawing.shown.get(at).cloned().flatten() else { continue };
            let Some(format) = self.script[id].format() else { continue };
            let other = other.as_ref().and_then(|other| other.targets.get(at));
            self.keep_target(&origin_text, (id, whole, format), observed, other, line);
        }
        if let (Some(depths), Some(depth)) = (observation.depth, &drawing.depth)
            && let Some(format) = self.script[depth.buffer].format()
        {
            self.keep_depth((depth.buffer, format), depth.has_depths.then_some(depths), observation.stencil, line);
        }
        if let Some(why) = unknown {
            self.doubt(bound, why.clone());
            let depth = drawing.depth.iter().map(|depth| (depth.buffer, 0..self.buffers[depth.buffer].bytes.len()));
            for (id, whole) in drawing.shown.iter().flatten().cloned().chain(depth).collect::<Vec<_>>() {
                self.doubt_bytes(id, whole, why.clone());
            }
        }
        Ok(())
    }

    /// The same draw, with other bits in the open components of the colour attachments. `None` if
    /// there are no open components.
    fn over_other_bits(
        &self,
        drawing: &Drawing,
        stages: [&Stage; 2],
        interpreter: &Interpreter,
        line: Line,
    ) -> Result<Option<DrawObservation>, End> {
        let is_open = |(id, range): &(BufferId, Range<usize>)| self.buffers[*id].open(range.start, range.len()).is_some();
        if !drawing.shown.iter().flatten().any(is_open) {
            return Ok(None);
        }
        let flipped_target = |(target, shown): (&ColourTarget, &Option<(BufferId, Range<usize>)>)| {
            let mut image: Image = target.image.clone();
            if let Some((id, range)) = shown {
                // The number of bytes is unchanged.
                let _ = image.fill(0, &keep::flipped(&self.buffers[*id])[range.clone()]);
            }
            ColourTarget { location: target.location, image }
        };
        let targets: Vec<ColourTarget> = drawing.targets.iter().zip(&drawing.shown).map(flipped_target).collect();
        let draw = Draw { targets: &targets, ..drawing.draw(interpreter.limits) };
        draw_by(&draw, stages, interpreter, true, &mut (), line).map(Some)
    }
}

/// Watches a draw of the relation: which bytes are read and written, and which stage runs.
struct Stages<'s, 'k> {
    watch: Watch<'k>,
    stages: [&'s Stage; 2],
    /// The stage of the last instruction: 0 vertex, 1 fragment.
    last: usize,
}

/// A sink that knows the stage in which a draw has ended.
trait Staged: Sink {
    fn last(&self) -> usize;
}

impl Staged for () {
    fn last(&self) -> usize {
        1
    }
}

impl Staged for Stages<'_, '_> {
    fn last(&self) -> usize {
        self.last
    }
}

impl Sink for Stages<'_, '_> {
    fn event(&mut self, event: &Event<'_, '_>) {
        let of_vertex = self.stages[0].module.instructions().as_ptr_range().contains(&std::ptr::from_ref(event.instruction));
        self.last = usize::from(!of_vertex);
        self.watch.event(event);
    }
}

/// The result of a draw, or the ending of the script without it. It comes from the relation. If
/// `machine` is set, it comes from the lockstep machine as far as that can judge the draw.
fn draw_by(
    draw: &Draw<'_>,
    [vertex, fragment]: [&Stage; 2],
    interpreter: &Interpreter,
    machine: bool,
    sink: &mut dyn Staged,
    line: Line,
) -> Result<DrawObservation, End> {
    let schedule = match &interpreter.by {
        compute::Interpreter::Reference { schedule, .. } => schedule,
        _ => &interpreter.engines.schedule,
    };
    let Engines { relation, sets, planted, .. } = &interpreter.engines;
    let machine = machine && interpreter.by == compute::Interpreter::Any && draw.resources.robustness == Robustness::None;
    // The relation runs a stage that the machine does not compile.
    let program = if machine { FragmentProgram::compile(&fragment.module, &fragment.entry).ok() } else { None };
    let program = match planted {
        Some(bug) => program.map(|program| program.planted(|parts| bug(parts))),
        None => program,
    };
    let run_settings = By { relation, rules: &interpreter.raster, schedule, sets: Some(*sets), machine: program.as_ref() };
    let draw = Draw { resources: Resources { profile: interpreter.profile, ..draw.resources }, ..draw.clone() };
    let ran = run_with(&vertex.module, &fragment.module, &draw, &run_settings, sink);
    let outcome = ran.map_err(|e| End::Unsupported(format!("line {line}: {e}")))?;
    let stage = [vertex, fragment][sink.last()];
    observed(outcome, &stage.module, stage.lines.as_ref(), &interpreter.limits, line).map_err(with_pixel)
}

/// Adds the vertex or pixel to the report of a draw.
fn with_pixel(mut end: End) -> End {
    if let End::Undefined { undefined, report, .. } = &mut end
        && let (Some(_), Some((whose, _))) = (&undefined.site, undefined.at.split_once(", in "))
    {
        *report += &format!(", {whose}");
    }
    end
}

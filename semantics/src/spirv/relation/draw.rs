//! A draw by the relation: vertex stage, primitive assembly, clipping and rasterisation
//! ([`crate::raster`]), fragment stage in quads with helper invocations, depth test, colour
//! attachments (Vulkan, Drawing Commands to Fragment Operations).
//!
//! Each stage is a grid ([`crate::spirv::grid`]): vertices are workgroups of one invocation, quads
//! are workgroups of four, of which those that no fragment needs are helpers. What a device may do
//! differently is kept beside the definite answer: where a triangle's edge passes a pixel's centre,
//! how interpolation rounds, whether a depth test passes; every component of an attachment that is
//! not exact says why. Two triangles drawn one after the other at a common edge have its pixels
//! between them, where there is neither a depth attachment nor a discard.
//!
//! Each sample of a pixel has a colour attachment of its own: those of one location follow each
//! other, and those of its depths and stencils are below each other. A fragment is shaded once for
//! all samples that it covers. Its inputs may be interpolated anywhere in the pixel then, for no
//! clause says where. With SampleId, SamplePosition or Sample it is shaded for each sample that it
//! covers. Its other inputs may be interpolated anywhere still.
//!
//! The bit of a sample in SampleMask is set for what is covered, not for helpers, and clear it
//! leaves the sample as it was, though not the memory that the fragment has written.
//!
//! Helpers load what invocations share, and their loads race as those of others do; they write
//! nothing. Where a device may or may not have a fragment, and the stage writes buffers or images,
//! all that is written is in doubt.
//!
//! A subgroup has the four invocations of a quad, and others that nothing is known of; of a vertex
//! even less. So of group instructions only those of quads are decided.
//!
//! [`picture`] runs the stages on the lockstep machine instead, and shows definite values only.
//!
//! Absent on purpose: several layers, user clip distances, geometry and tessellation. A vertex is
//! shaded once for each instance, though a device may shade it more often: what a vertex stage
//! writes that does more than store is in doubt. A stage that writes what the other one uses is
//! refused, for nothing orders them.

mod fragment;
mod interface;
pub mod judged;
mod picture;
mod targets;
mod vertex;

use rspirv::spirv::{ExecutionModel, StorageClass};

use crate::concurrency::{Schedule, Topology};
use crate::number::Why;
use crate::number::sets::{self, Exploration};
use crate::outcome::{InputFault, InvalidInput, Outcome};
use crate::raster::{self, DepthBuffer, StencilBuffer};
use crate::spirv::environment::{Dispatch, Draw, Observation, ObservedBuffer, ObservedImage};
use crate::spirv::error::LoadError;
use crate::spirv::grid::prepare::{self, Prepared, Refused, unsupported};
use crate::spirv::grid::{Doubtful, DoubtfulTexels, Grid};
use crate::spirv::memory::Pointer;
use crate::spirv::module::{EntryPoint, Module, Variable};
use crate::spirv::shared::{ObjectId, Shared};
use crate::spirv::step::{Config, Relation, Sink};
use crate::spirv::types::Type;
use crate::spirv::value::{Origin, Scalars};
use crate::undefined::Unspecified;

use fragment::Explorer;
use interface::Effects;

pub use picture::{Picture, picture, picture_by};
pub use targets::{Component, DefiniteTarget, MadeBy, ObservedTarget};

/// What is observed of a draw.
#[derive(Clone, Debug, Default)]
pub struct DrawObservation {
    /// The colour attachments, in the order of the draw's.
    pub targets: Vec<ObservedTarget>,
    /// The depth attachment, if there is one.
    pub depth: Option<DepthBuffer>,
    /// The stencil attachment, if it is tested.
    pub stencil: Option<StencilBuffer>,
    /// The storage buffers that the fragment stage uses, in the order of the draw's; then those
    /// that the vertex stage alone uses, if it writes. Undefined bytes are of the stage's
    /// invocations: lane `local` of quad `workgroup`, or vertex `workgroup`.
    pub buffers: Vec<ObservedBuffer>,
    /// The bytes of these buffers that other devices may hold other bits in.
    pub doubtful: Vec<Doubtful>,
    /// The storage images, as the buffers.
    pub images: Vec<ObservedImage>,
    /// The components of these images that other devices may hold other ones of.
    pub doubtful_texels: Vec<DoubtfulTexels>,
    /// Instructions executed by all invocations of both stages, helpers among them.
    pub instructions: u64,
}

/// A scalar of a stage's interface at a location: Vulkan, Location and Component Assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The location.
    pub location: u32,
    /// The component of it.
    pub component: u32,
    /// Its type, a scalar one.
    pub type_: Type,
    /// How it is interpolated as an input of a fragment stage.
    pub how: raster::Interpolation,
}

/// The scalars at locations of an entry point's inputs, or of its outputs, in the order of its
/// interface.
///
/// # Errors
/// A variable that no draw has: a sentence.
pub fn located(module: &Module, entry: &EntryPoint, class: StorageClass) -> Result<Vec<Located>, InvalidInput> {
    let mut located = Vec::new();
    for variable in module.interface_of(entry).iter().filter_map(|&id| module.variable(id)).filter(|v| v.class == class) {
        let parts = interface::parts(module, variable).map_err(|refused| match refused {
            Refused::Unsupported(what) => InvalidInput::new(InputFault::Unsupported, what),
            Refused::Limit(limit) => limit.into(),
        })?;
        located.extend(parts.into_iter().filter_map(|part| match part.place {
            interface::Place::At(slot) => {
                Some(Located { location: slot.location, component: slot.component, type_: part.type_, how: part.how })
            }
            interface::Place::BuiltIn(..) => None,
        }));
    }
    Ok(located)
}

/// Runs a draw to its end, or to the first undefined behaviour.
///
/// The only error is an entry point that is not there. What is not modeled, and resources,
/// attributes or outputs that are missing, are `Outcome::Unsupported`, before anything runs.
pub fn run(
    vertex: &Module,
    fragment: &Module,
    draw: &Draw<'_>,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<DrawObservation>, LoadError> {
    run_by(vertex, fragment, draw, relation, &raster::Rules::default(), &Schedule::default(), sink)
}

/// The same, rasterised by these rules and with quads, and the invocations in them, taking turns by
/// a schedule.
///
/// Errors as [`run`].
pub fn run_by(
    vertex: &Module,
    fragment: &Module,
    draw: &Draw<'_>,
    relation: &Relation,
    rules: &raster::Rules,
    schedule: &Schedule,
    sink: &mut dyn Sink,
) -> Result<Outcome<DrawObservation>, LoadError> {
    run_with(vertex, fragment, draw, &By { relation, rules, schedule, sets: None, machine: None }, sink)
}

/// By what a draw is run.
#[derive(Clone, Copy)]
pub struct By<'b> {
    /// The relation.
    pub relation: &'b Relation,
    /// How it is rasterised.
    pub rules: &'b raster::Rules,
    /// How quads, and the invocations in them, take turns.
    pub schedule: &'b Schedule,
    /// What instructions may give in runs over sets; without, what definite values
    /// leave open stays so.
    pub sets: Option<sets::Rules>,
    /// With sets, the fragment stage as the lockstep machine runs it, if it is to run what it can
    /// judge: it shows the same, but for what it tells more precisely. The relation runs the rest,
    /// and samples. The sink sees only what the relation runs.
    pub machine: Option<&'b judged::Machine>,
}

/// [`run_by`], with quads that run over sets where definite values leave open what they write.
///
/// Errors as [`run`].
pub fn run_with(
    vertex: &Module,
    fragment: &Module,
    draw: &Draw<'_>,
    by: &By<'_>,
    sink: &mut dyn Sink,
) -> Result<Outcome<DrawObservation>, LoadError> {
    let entries = (vertex.entry_point(draw.vertex)?, fragment.entry_point(draw.fragment)?);
    Ok(stages((vertex, fragment), entries, draw, by, sink).unwrap_or_else(|refused| refused.into()))
}

fn stages(
    (vertex, fragment): (&Module, &Module),
    entries: (&EntryPoint, &EntryPoint),
    draw: &Draw<'_>,
    by: &By<'_>,
    sink: &mut dyn Sink,
) -> Result<Outcome<DrawObservation>, Refused> {
    if let Some(outcome) = judged::run((vertex, fragment), entries, draw, by, sink)? {
        return Ok(outcome);
    }
    let &By { relation, rules, schedule, sets, .. } = by;
    let Before { fragments, variables, vertices, instructions } =
        match before((vertex, fragment), entries, draw, (relation, &mut |_| None), rules, schedule, sink)? {
            Outcome::Observed(before) => before,
            ended => return Ok(ended.map(|_| DrawObservation::default())),
        };
    let of_fragments = dispatch(draw, draw.fragment);
    let topology = Topology::new(fragments.quads(), 4, prepare::subgroup_size_of_stage(fragment, &of_fragments)?)?;
    let stage = prepare::stage(fragment, entries.1, &variables, &of_fragments, topology)?;
    let fragments = match sets {
        Some(rules) => {
            let exploration = Exploration { rules, ..Exploration::under(draw.resources.profile(fragment, draw.fragment)) };
            fragments.exploring(Explorer::new(relation, stage.clone(), topology, exploration))
        }
        None => fragments,
    };
    let fuel = draw.limits.of_relation() - instructions;
    let mut grid = Grid::of(fragment, relation, stage, fragments, topology, fuel).until(draw.limits.time);
    grid.go(schedule, sink);
    let (fragments, report) = grid.end();
    let (targets, depth, stencil) = fragments.finish();
    Ok(report.outcome.map(|observed| {
        let mut all = DrawObservation {
            targets,
            depth,
            stencil,
            buffers: observed.buffers,
            doubtful: report.doubtful,
            images: observed.images,
            doubtful_texels: report.doubtful_texels,
            instructions: instructions + observed.instructions,
        };
        vertices.add_to(&mut all);
        all
    }))
}

/// What a vertex stage that writes leaves in buffers and images.
#[derive(Clone, Debug, Default)]
struct Written {
    buffers: Vec<ObservedBuffer>,
    doubtful: Vec<Doubtful>,
    images: Vec<ObservedImage>,
    doubtful_texels: Vec<DoubtfulTexels>,
}

impl Written {
    /// Of a report of the vertex stage.
    fn of(observed: Observation, doubtful: Vec<Doubtful>, doubtful_texels: Vec<DoubtfulTexels>, effects: Effects) -> Written {
        let Observation { buffers, images, .. } = observed;
        let mut written = Written { buffers, doubtful, images, doubtful_texels };
        if effects.updates {
            // Whoever shades a vertex twice may have other numbers.
            written.doubtful = (written.buffers.iter().enumerate())
                .map(|(buffer, b)| Doubtful { buffer, start: 0, end: b.bytes.len() as u64, why: Why::Control })
                .collect();
        }
        written
    }

    /// Beside what the fragment stage uses, of which the vertex stage has written nothing.
    fn add_to(self, all: &mut DrawObservation) {
        let mut places = Vec::new();
        for buffer in self.buffers {
            let known = all.buffers.iter().any(|b| (b.set, b.binding) == (buffer.set, buffer.binding));
            places.push((!known).then_some(all.buffers.len()));
            if !known {
                all.buffers.push(buffer);
            }
        }
        let at = |doubt: Doubtful| Some(Doubtful { buffer: places.get(doubt.buffer).copied().flatten()?, ..doubt });
        all.doubtful.extend(self.doubtful.into_iter().filter_map(at));
        let mut places = Vec::new();
        for image in self.images {
            let known = all.images.iter().any(|i| (i.set, i.binding) == (image.set, image.binding));
            places.push((!known).then_some(all.images.len()));
            if !known {
                all.images.push(image);
            }
        }
        let at = |doubt: DoubtfulTexels| Some(DoubtfulTexels { image: places.get(doubt.image).copied().flatten()?, ..doubt });
        all.doubtful_texels.extend(self.doubtful_texels.into_iter().filter_map(at));
    }
}

/// A draw before its first fragment.
struct Before<'a> {
    fragments: fragment::Fragments<'a, 'a>,
    /// The variables that the fragment stage uses.
    variables: Vec<&'a Variable>,
    /// What the vertex stage has written.
    vertices: Written,
    /// Instructions that the vertex stage has executed.
    instructions: u64,
}

/// What the resources and limits of a draw are to a stage.
fn dispatch<'d>(draw: &Draw<'d>, entry: &'d str) -> Dispatch<'d> {
    Dispatch { entry, groups: [1; 3], resources: draw.resources, limits: draw.limits }
}

/// Shades every vertex, and gives what is observed of that; nothing if the relation is to do it.
type Shade<'s> = &'s mut dyn FnMut(&mut vertex::Vertices<'_, '_>) -> Option<Observation>;

/// Both stages checked, and the vertex stage run: by the relation, or otherwise where no order of
/// vertices counts. Then nothing is known of what devices may do differently.
fn before<'a>(
    (vertex, fragment): (&'a Module, &'a Module),
    (vertex_entry, fragment_entry): (&EntryPoint, &EntryPoint),
    draw: &'a Draw<'a>,
    (relation, shade): (&'a Relation, Shade<'_>),
    rules: &'a raster::Rules,
    schedule: &Schedule,
    sink: &mut dyn Sink,
) -> Result<Outcome<Before<'a>>, Refused> {
    check(draw)?;
    for (entry, model) in [(vertex_entry, ExecutionModel::Vertex), (fragment_entry, ExecutionModel::Fragment)] {
        if entry.model != model {
            return unsupported(format!("OpEntryPoint {:?} as the {model:?} stage of a draw", entry.model));
        }
    }
    let [used_before, variables] = [used(vertex, vertex_entry, relation)?, used(fragment, fragment_entry, relation)?];
    let effects = interface::effects(vertex, vertex_entry)?;
    let before = vertex::Interface::new(vertex, &used_before, draw)?;
    let after = fragment::Interface::new(fragment, fragment_entry, &variables, draw, &before)?;
    let mut vertices = vertex::Vertices::new(vertex, draw, before)?;
    let of_vertices = dispatch(draw, draw.vertex);
    let topology = Topology::new(vertices.invocations(), 1, prepare::subgroup_size_of_stage(vertex, &of_vertices)?)?;
    let stage = prepare::stage(vertex, vertex_entry, &used_before, &of_vertices, topology)?;
    // Both stages are checked before either runs.
    let next = prepare::stage(fragment, fragment_entry, &variables, &dispatch(draw, draw.fragment), Topology::new(1, 4, 1)?)?;
    unordered((&stage, effects.writes), (&next, interface::effects(fragment, fragment_entry)?.writes))?;
    let profile = draw.resources.profile(vertex, draw.vertex);
    if let Some(observed) = if effects.updates { None } else { shade(&mut vertices) } {
        let fragments = fragment::Fragments::new(fragment, draw, rules, after, (vertices, profile));
        let instructions = observed.instructions;
        let written = match effects.writes {
            true => Written::of(observed, Vec::new(), Vec::new(), effects),
            false => Written::default(),
        };
        return Ok(Outcome::Observed(Before { fragments, variables, vertices: written, instructions }));
    }
    let mut grid = Grid::of(vertex, relation, stage, vertices, topology, draw.limits.of_relation()).until(draw.limits.time);
    grid.go(schedule, sink);
    let instructions = grid.instructions();
    let (vertices, report) = grid.end();
    let vertices = (vertices, profile);
    Ok(report.outcome.map(|observed| {
        let fragments = fragment::Fragments::new(fragment, draw, rules, after, vertices);
        let written = match effects.writes {
            true => Written::of(observed, report.doubtful, report.doubtful_texels, effects),
            false => Written::default(),
        };
        Before { fragments, variables, vertices: written, instructions }
    }))
}

/// Whether the attachments and the state of a draw fit together.
fn check(draw: &Draw<'_>) -> Result<(), Refused> {
    if let Err(error) = draw.state.check() {
        return unsupported(error.to_string());
    }
    let area = &draw.state.area;
    let within = |[width, height]: [u32; 2]| area.end_x <= width && area.end_y <= height;
    let samples = draw.state.samples as usize;
    if !draw.targets.len().is_multiple_of(samples) {
        return unsupported(format!("{} attachments of {samples} samples", draw.targets.len()));
    }
    for (number, target) in draw.targets.iter().enumerate() {
        let first = number - number % samples;
        if draw.targets[first].location != target.location {
            return unsupported(format!("samples of an attachment at locations {} and {}", draw.targets[first].location, target.location));
        }
        if draw.targets[..first].iter().any(|other| other.location == target.location) {
            return unsupported(format!("two attachments at location {}", target.location));
        }
        if !target.image.size(0).is_some_and(within) {
            return unsupported(format!("an area beyond the attachment at location {}", target.location));
        }
        if draw.state.blend.is_some() && target.image.format().numeric().is_integer() {
            return unsupported(format!("blending with an attachment of integers at location {}", target.location));
        }
        if target.image.format().is_depth() {
            return unsupported(format!("an attachment of format {} at location {}", target.image.format().name(), target.location));
        }
    }
    // Depths and stencils of the samples are below each other.
    let of_one = |[width, height]: [u32; 2]| [width, height / draw.state.samples];
    if draw.depth.is_some_and(|depth| !within(of_one(depth.buffer.size()))) {
        return unsupported("an area beyond the depth attachment");
    }
    if draw.depth.is_some_and(|depth| depth.stencil.as_ref().is_some_and(|stencil| !within(of_one(stencil.buffer.size())))) {
        return unsupported("an area beyond the stencil attachment");
    }
    let attributes = draw.vertices.attributes;
    let twice = attributes.iter().enumerate().find(|(at, a)| attributes[..*at].iter().any(|b| b.location == a.location));
    twice.map_or(Ok(()), |(_, a)| unsupported(format!("two vertex attributes at location {}", a.location)))
}

/// A stage that is prepared.
type Stage = (Prepared, Shared);

/// Refuses memory that one stage may write and the other one uses: nothing orders the vertices of
/// one triangle and the fragments of another. Beside each stage: whether it writes at all.
fn unordered((before, before_writes): (&Stage, bool), (after, after_writes): (&Stage, bool)) -> Result<(), Refused> {
    let sides = [
        (before_writes, before, after, "a fragment stage that uses", "vertex"),
        (after_writes, after, before, "a vertex stage that uses", "fragment"),
    ];
    for (_, (writer, written), (reader, read), who, whose) in sides.into_iter().filter(|(writes, ..)| *writes) {
        for buffer @ &(index, set, binding) in &writer.storage {
            if reader.storage.contains(buffer) && written.is_written(ObjectId::Buffer(index as u32)) {
                return unsupported(format!("{who} the storage buffer at set {set}, binding {binding}, which the {whose} stage may write"));
            }
        }
        for image in written.images().storage().filter(|&image| written.is_written(ObjectId::Image(image))) {
            let (set, binding) = written.images().binding(image);
            if read.images().storage().any(|other| read.images().binding(other) == (set, binding)) {
                return unsupported(format!("{who} the storage image at set {set}, binding {binding}, which the {whose} stage may write"));
            }
        }
    }
    Ok(())
}

/// The variables that a stage uses, all of which are modeled.
fn used<'m>(module: &'m Module, entry: &EntryPoint, relation: &Relation) -> Result<Vec<&'m Variable>, Refused> {
    let variables = prepare::used(module, entry, &relation.rules)?;
    for variable in variables.iter().filter(|v| !matches!(v.class, StorageClass::Input | StorageClass::Output)) {
        prepare::memory(module, variable)?;
    }
    Ok(variables)
}

/// What an output variable holds when an invocation ends; what nothing has written is undefined.
fn outputs(config: &Config<'_>, variable: &Variable, invocation: u32) -> Scalars {
    let pointer = Pointer::to(config.module, variable);
    let mut scalars = config.memory.load_own(config.module, &pointer, variable.instruction, invocation).unwrap_or_default();
    let unwritten = Origin { kind: Unspecified::Uninitialised, instruction: variable.instruction, invocation };
    for origin in scalars.iter_mut().filter_map(|scalar| scalar.undefined.as_mut()) {
        if *origin == unwritten {
            origin.kind = Unspecified::UnwrittenOutput;
        }
    }
    scalars
}

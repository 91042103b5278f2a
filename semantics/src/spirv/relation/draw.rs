//! A draw by the relation: vertex stage, primitive assembly, clipping and rasterisation
//! ([`crate::raster`]), fragment stage in quads with helper invocations, depth test, colour
//! attachments (Vulkan, Drawing Commands to Fragment Operations).
//!
//! Each stage is a grid ([`crate::spirv::grid`]). A vertex is a workgroup of one invocation. A quad
//! is a workgroup of four; an invocation that has no fragment is a helper. The relation records
//! what a device may do differently beside the definite answer: on which side of a pixel's centre a
//! triangle's edge passes, how interpolation rounds, whether a depth test passes. Every inexact
//! component of an attachment has a reason. Two triangles that are drawn one after the other share
//! the pixels of a common edge: each pixel belongs to one of them. This holds if there is neither a
//! depth attachment nor a discard.
//!
//! Each sample of a pixel has a colour attachment of its own. The attachments of one location
//! follow each other. The depths and stencils of the samples stand below each other in one
//! buffer. A fragment is shaded once for all samples that it covers. Its inputs may then be
//! interpolated anywhere in the pixel, since no clause says where. With SampleId, SamplePosition
//! or Sample, a fragment is shaded for each sample that it covers. Its other inputs may still be
//! interpolated anywhere.
//!
//! In SampleMask as an input, a sample's bit is set if the sample is covered. It is clear in
//! helpers. A clear bit of the output leaves the sample unchanged. It does not undo what the
//! fragment has written to memory.
//!
//! Helpers load memory that invocations share, and their loads race like those of others. They
//! write nothing. If a device may or may not have a fragment, and the stage writes buffers or
//! images, all that is written is in doubt.
//!
//! A subgroup contains the four invocations of a quad, and unknown others. Of a vertex's subgroup
//! even less is known. So the relation decides only the group instructions of quads.
//!
//! [`picture`] runs the stages on the lockstep machine instead, and returns definite values only.
//!
//! Absent on purpose: several layers, user clip distances, geometry and tessellation. A vertex is
//! shaded once for each instance, though a device may shade it more often. So if the writes of a
//! vertex stage may depend on the memory that it writes, they are in doubt. A stage that writes
//! memory that the other stage uses is refused, since nothing orders the two.

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

/// The observation of a draw.
#[derive(Clone, Debug, Default)]
pub struct DrawObservation {
    /// The colour attachments, in the order of the draw.
    pub targets: Vec<ObservedTarget>,
    /// The depth attachment, if there is one.
    pub depth: Option<DepthBuffer>,
    /// The stencil attachment, if there is a stencil test.
    pub stencil: Option<StencilBuffer>,
    /// The storage buffers that the fragment stage uses, in the order of the draw. Then the buffers
    /// that only the vertex stage uses, if it writes. Undefined bytes name invocations of the
    /// stage: lane `local` of quad `workgroup`, or vertex `workgroup`.
    pub buffers: Vec<ObservedBuffer>,
    /// The bytes of these buffers that may differ on other devices.
    pub doubtful: Vec<Doubtful>,
    /// The storage images, in the same order as the buffers.
    pub images: Vec<ObservedImage>,
    /// The components of these images that may differ on other devices.
    pub doubtful_texels: Vec<DoubtfulTexels>,
    /// The number of instructions that all invocations of both stages execute, helpers included.
    pub instructions: u64,
}

/// A scalar at a location of a stage's interface: Vulkan, Location and Component Assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The location.
    pub location: u32,
    /// The component of the location, from 0 to 3.
    pub component: u32,
    /// The scalar type.
    pub type_: Type,
    /// How the rasteriser interpolates it, as an input of a fragment stage.
    pub how: raster::Interpolation,
}

/// The scalars with locations among an entry point's inputs or outputs, in the order of
/// its interface.
///
/// # Errors
/// A sentence, if a draw cannot have one of the variables.
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
/// The only error is a missing entry point. If a feature is not modeled, or resources, attributes
/// or outputs are missing, the outcome is `Outcome::Unsupported` before anything runs.
pub fn run(
    vertex: &Module,
    fragment: &Module,
    draw: &Draw<'_>,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<DrawObservation>, LoadError> {
    run_by(vertex, fragment, draw, relation, &raster::Rules::default(), &Schedule::default(), sink)
}

/// [`run`] with these rasterisation rules. Quads, and the invocations in them, take turns by
/// the schedule.
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

/// The parameters of a run of a draw, beside the draw itself.
#[derive(Clone, Copy)]
pub struct By<'b> {
    /// The relation.
    pub relation: &'b Relation,
    /// The rules of rasterisation.
    pub rules: &'b raster::Rules,
    /// The schedule of quads, and of the invocations in them.
    pub schedule: &'b Schedule,
    /// The possible results of instructions in runs over sets. If `None`, no quad runs over sets,
    /// and what definite values leave open stays open.
    pub sets: Option<sets::Rules>,
    /// The lockstep machine for the fragment stage. Only used with `sets`. The machine runs what it
    /// can judge, with the same observation or a more precise one. The relation runs the other
    /// quads, and a sample of these quads. The sink sees only what the relation runs.
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
    let PreparedDraw { fragments, variables, vertices, instructions } =
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

/// The buffers and images that a vertex stage leaves, if it writes.
#[derive(Clone, Debug, Default)]
struct Written {
    buffers: Vec<ObservedBuffer>,
    doubtful: Vec<Doubtful>,
    images: Vec<ObservedImage>,
    doubtful_texels: Vec<DoubtfulTexels>,
}

impl Written {
    /// Takes them from a report of the vertex stage.
    fn of(observed: Observation, doubtful: Vec<Doubtful>, doubtful_texels: Vec<DoubtfulTexels>, effects: Effects) -> Written {
        let Observation { buffers, images, .. } = observed;
        let mut written = Written { buffers, doubtful, images, doubtful_texels };
        if effects.updates {
            // A device may shade a vertex twice, and get other numbers.
            written.doubtful = (written.buffers.iter().enumerate())
                .map(|(buffer, b)| Doubtful { buffer, start: 0, end: b.bytes.len() as u64, why: Why::Control })
                .collect();
        }
        written
    }

    /// Adds them to the resources that the fragment stage uses. The vertex stage has written none
    /// of these.
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

/// A draw, before its first fragment.
struct PreparedDraw<'a> {
    fragments: fragment::Fragments<'a, 'a>,
    /// The variables that the fragment stage uses.
    variables: Vec<&'a Variable>,
    /// The buffers and images that the vertex stage has written.
    vertices: Written,
    /// The number of instructions that the vertex stage has executed.
    instructions: u64,
}

/// The resources and limits of a draw, as a dispatch of one stage.
fn dispatch<'d>(draw: &Draw<'d>, entry: &'d str) -> Dispatch<'d> {
    Dispatch { entry, groups: [1; 3], resources: draw.resources, limits: draw.limits }
}

/// Shades every vertex and returns the observation, or `None` to leave it to the relation.
type Shade<'s> = &'s mut dyn FnMut(&mut vertex::Vertices<'_, '_>) -> Option<Observation>;

/// Checks both stages and runs the vertex stage. `shade` may run it instead of the relation if the
/// order of vertices does not matter. Then nothing is known of what devices may do differently.
fn before<'a>(
    (vertex, fragment): (&'a Module, &'a Module),
    (vertex_entry, fragment_entry): (&EntryPoint, &EntryPoint),
    draw: &'a Draw<'a>,
    (relation, shade): (&'a Relation, Shade<'_>),
    rules: &'a raster::Rules,
    schedule: &Schedule,
    sink: &mut dyn Sink,
) -> Result<Outcome<PreparedDraw<'a>>, Refused> {
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
        return Ok(Outcome::Observed(PreparedDraw { fragments, variables, vertices: written, instructions }));
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
        PreparedDraw { fragments, variables, vertices: written, instructions }
    }))
}

/// Checks that the attachments and the state of a draw fit together.
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
    // The depths and stencils of the samples stand below each other.
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

/// A prepared stage.
type Stage = (Prepared, Shared);

/// Refuses a draw in which one stage may write memory that the other stage uses. Nothing orders the
/// vertices of one triangle and the fragments of another. The Booleans say whether the stage writes
/// at all.
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

/// The variables that a stage uses. Refuses those that are not modeled.
fn used<'m>(module: &'m Module, entry: &EntryPoint, relation: &Relation) -> Result<Vec<&'m Variable>, Refused> {
    let variables = prepare::used(module, entry, &relation.rules)?;
    for variable in variables.iter().filter(|v| !matches!(v.class, StorageClass::Input | StorageClass::Output)) {
        prepare::memory(variable)?;
    }
    Ok(variables)
}

/// The scalars of an output variable when an invocation ends. Unwritten scalars are undefined.
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

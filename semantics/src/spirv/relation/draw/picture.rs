//! A draw with its fragment stage on the lockstep machine, with definite values. The vertex stage
//! runs there too if none of its outputs is undefined and the order of vertices does not matter.
//! Rasterisation and attachments are those of the relation. The machine runs 64 vertices or 16
//! quads at a time. Quads reach the attachments in order.

use super::fragment::{Ended, Fragments};
use super::targets::DefiniteTarget;
use super::vertex::Vertices;
use super::{DrawObservation, before, dispatch};
use crate::concurrency::{Agent, Begin, Schedule};
use crate::number::Profile;
use crate::outcome::{Outcome, Stuck};
use crate::raster;
use crate::spirv::environment::{Dispatch, Draw, Observation, ObservedBuffer, ObservedImage};
use crate::spirv::error::LoadError;
use crate::spirv::grid::prepare::Refused;
use crate::spirv::grid::work::Work;
use crate::spirv::lockstep::{Failure, FragmentProgram, Quads, VertexProgram};
use crate::spirv::module::{EntryPoint, Module, Variable};
use crate::spirv::step::Relation;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::{Undefined, Unspecified};

/// The result of a draw on the lockstep machine: definite values, and the undefined ones. It says
/// nothing of what devices may do differently. So it serves to look at, or to compare with the
/// relation's definite values. [`super::run`] judges devices.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The colour attachments, in the draw's order.
    pub targets: Vec<DefiniteTarget>,
    /// The definite depths by rows, if there is a depth attachment.
    pub depth: Option<Vec<f64>>,
    /// The storage buffers, as in [`DrawObservation::buffers`].
    pub buffers: Vec<ObservedBuffer>,
    /// The storage images, as in [`DrawObservation::images`].
    pub images: Vec<ObservedImage>,
    /// The executed instructions of both stages, including those of helpers.
    pub instructions: u64,
}

/// Runs a draw to its end, or to the first undefined behaviour, on one thread: the fragment stage
/// on the lockstep machine, the vertex stage by the relation.
///
/// The only error is an entry point that is not there. What is not modeled, resources, attributes
/// or outputs that are missing, and a program of another entry point than the draw's are
/// `Outcome::Unsupported`, before anything runs.
pub fn picture(vertex: &Module, fragment: &FragmentProgram, draw: &Draw<'_>, rules: &raster::Rules) -> Result<Outcome<Picture>, LoadError> {
    picture_by((vertex, None), fragment, draw, rules)
}

/// The same with the vertex stage on the lockstep machine too, where that does it. What is shown is
/// the same, and so is what is undefined: the relation tells that.
///
/// Errors as [`picture`].
pub fn picture_by(
    (vertex, shader): (&Module, Option<&VertexProgram>),
    fragment: &FragmentProgram,
    draw: &Draw<'_>,
    rules: &raster::Rules,
) -> Result<Outcome<Picture>, LoadError> {
    let entries = (vertex.entry_point(draw.vertex)?, fragment.module().entry_point(draw.fragment)?);
    let run = |exact| drawn((vertex, shader), fragment, entries, draw, rules, exact).unwrap_or_else(|refused| refused.into());
    // What a report says beside the instruction is not kept while nothing is wrong: where something
    // is, the draw is run once more.
    Ok(match run(false) {
        Outcome::Undefined(_) => run(true),
        outcome => outcome,
    })
}

fn drawn(
    (vertex, shader): (&Module, Option<&VertexProgram>),
    fragment: &FragmentProgram,
    entries: (&EntryPoint, &EntryPoint),
    draw: &Draw<'_>,
    rules: &raster::Rules,
    exact: bool,
) -> Result<Outcome<Picture>, Refused> {
    if !fragment.is_of(entries.1.function) {
        return Ok(Outcome::Unsupported(format!("a program of another fragment stage than {}", draw.fragment)));
    }
    let mut dispatch = dispatch(draw, draw.fragment);
    if let Some(refused) = fragment.refused(&dispatch) {
        return Ok(refused.map(|_| Picture::default()));
    }
    let relation = Relation::default();
    let of_vertices = super::dispatch(draw, draw.vertex);
    let shader = shader.map(VertexProgram::lanes).filter(|program| program.is_of(entries.0.function));
    let mut shade = |vertices: &mut Vertices<'_, '_>| shaded(vertices, shader?, &of_vertices);
    let before = before((vertex, fragment.module()), entries, draw, (&relation, &mut shade), rules, &Schedule::default(), &mut ())?;
    let (mut fragments, written, instructions) = match before {
        Outcome::Observed(before) => (before.fragments.without_doubt(), before.vertices, before.instructions),
        ended => return Ok(ended.map(|_| Picture::default())),
    };
    dispatch.limits.instructions -= instructions;
    let mut quads = fragment.quads(&dispatch, exact, fragments.quads());
    fragments.run_inside(|variable, index| quads.reads(variable.id, index));
    if let Err(ended) = all(fragment.module(), &mut fragments, &mut quads, dispatch.limits.instructions) {
        return Ok(ended);
    }
    let (targets, depth, _) = fragments.finish();
    let depth = depth.map(|buffer| {
        let [width, height] = buffer.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        pixels.filter_map(|[x, y]| buffer.depth(x, y)).map(|depth| depth.0.value).collect()
    });
    let Observation { buffers, images, .. } = quads.observation();
    let mut shown = DrawObservation { buffers, images, ..DrawObservation::default() };
    written.add_to(&mut shown);
    Ok(Outcome::Observed(Picture {
        targets: targets.into_iter().map(DefiniteTarget::from).collect(),
        depth,
        buffers: shown.buffers,
        images: shown.images,
        instructions: instructions + quads.executed(),
    }))
}

/// Runs all vertices on the machine. `None` if the machine does not run the stage, or if a value is
/// undefined; the relation then says where.
fn shaded(vertices: &mut Vertices<'_, '_>, program: &FragmentProgram, dispatch: &Dispatch<'_>) -> Option<Observation> {
    if program.refused(dispatch).is_some() {
        return None;
    }
    let (all, side_by_side) = (vertices.invocations(), 4 * Quads::SIDE_BY_SIDE);
    let mut lanes = program.quads(dispatch, false, all.div_ceil(4));
    for first in (0..all).step_by(side_by_side as usize) {
        lanes.begin(first / 4);
        let count = (all - first).min(side_by_side);
        for lane in 0..count {
            for (variable, scalars) in vertices.inputs(first + lane)? {
                lanes.set_input(lane as usize, variable.id, &scalars);
            }
        }
        lanes.run_lanes(count, dispatch.limits.instructions).ok()?;
        for lane in 0..count {
            vertices.leave(first + lane, |variable| {
                let (kind, invocation) = (Unspecified::UnwrittenOutput, first + lane);
                let unwritten = Origin { kind, instruction: variable.instruction, invocation };
                lanes.output(lane as usize, variable.id, unwritten).collect()
            });
        }
    }
    let observed = Observation { instructions: lanes.executed(), ..lanes.observation() };
    let bytes = observed.buffers.iter().all(|b| b.undefined.is_empty()) && observed.images.iter().all(|i| i.undefined.is_empty());
    (bytes && vertices.is_defined()).then_some(observed)
}

/// Runs all quads, in order.
fn all(module: &Module, fragments: &mut Fragments<'_, '_>, quads: &mut Quads<'_>, mut fuel: u64) -> Result<(), Outcome<Picture>> {
    let (mut first, mut more) = (0, true);
    while more {
        quads.begin(first);
        fragments.give_unread(quads);
        fragments.forget_inner();
        let mut count = 0;
        while count < Quads::SIDE_BY_SIDE {
            let mut left = fuel - quads.executed();
            let begins = fragments.advance(first + count, &mut left);
            fuel = quads.executed() + left;
            match begins {
                Ok(Begin::Begins) => {}
                Ok(Begin::NotYet) => break,
                Ok(Begin::NoMore) => {
                    more = false;
                    break;
                }
                Err(ended) => return Err(ended.map(|_| Picture::default())),
            }
            let is_inner = fragments.give_inner(first + count, |variable, index, four| match four {
                Ok(bits) => quads.set_quad_input(count, variable.id, index, bits),
                Err(kind) => {
                    for of_quad in 0..4 {
                        let origin = Origin { kind, instruction: variable.instruction, invocation: 4 * (first + count) + of_quad };
                        quads.set_input_scalar((4 * count + of_quad) as usize, variable.id, index, &Scalar::undefined(origin));
                    }
                }
            });
            for of_quad in (0..4).filter(|_| !is_inner) {
                let lane = 4 * count as usize + of_quad;
                if fragments.begins_as_helper(of_quad) {
                    quads.help(lane);
                }
                for (variable, scalars) in fragments.inputs(of_quad, 4 * first + lane as u32) {
                    quads.set_input(lane, variable.id, &scalars);
                }
            }
            count += 1;
        }
        if count > 0 {
            quads.run(count, fuel).map_err(|broken| ending(fragments, module, broken))?;
        }
        let ended =
            fragments.end_all_inner((first, count), quads.staying(count), |variable, index| quads.output_column(count, variable.id, index));
        for quad in (0..count).filter(|_| !ended) {
            let lane = |of_quad| Lane { quads, lane: 4 * quad as usize + of_quad, number: 4 * (first + quad) + of_quad as u32 };
            let lanes = [lane(0), lane(1), lane(2), lane(3)];
            if !fragments.end_inner(first + quad, &lanes, |variable, index| quads.quad_output(quad, variable.id, index)) {
                fragments.ended(first + quad, &lanes);
                fragments.commit();
            }
        }
        first += count;
    }
    Ok(())
}

fn ending(fragments: &Fragments<'_, '_>, module: &Module, broken: Failure) -> Outcome<Picture> {
    match broken {
        Failure::OutOfFuel => Outcome::OutOfFuel,
        Failure::Late(limit) => Outcome::Limit(limit),
        Failure::Unsupported(what) => Outcome::Unsupported(what),
        Failure::Stuck(why) => Outcome::Stuck(Stuck { why, at: "fragment stage".into() }),
        Failure::Undefined(met) => {
            let global = |invocation: u32| fragments.global(Agent { workgroup: invocation / 4, local: invocation % 4 });
            let (ub, what, site) = met.placed(module, global);
            Outcome::Undefined(Undefined { ub, what, at: fragments.at(&site), site: Some(site) })
        }
    }
}

/// A finished lane.
struct Lane<'q, 'p> {
    quads: &'q Quads<'p>,
    lane: usize,
    number: u32,
}

impl Ended for Lane<'_, '_> {
    fn is_discarded(&self) -> bool {
        self.quads.is_discarded(self.lane)
    }

    fn is_helper(&self) -> bool {
        self.quads.is_helper(self.lane)
    }

    fn control_in_doubt(&self, _: Profile) -> bool {
        false
    }

    fn output(&self, variable: &Variable) -> Scalars {
        let unwritten = Origin { kind: Unspecified::UnwrittenOutput, instruction: variable.instruction, invocation: self.number };
        self.quads.output(self.lane, variable.id, unwritten).collect()
    }
}

//! A draw by the relation: seed 004 "Graphics Pipeline", "Entry Points"
//! (ERRATA WSL-D25 to WSL-D29).
//!
//! Vertices are threads, and each three vertices form a triangle. [`crate::raster`] clips the
//! triangle, finds the pixels that it covers, and interpolates. Quads of pixels are groups of four
//! threads. These step as all threads do ([`super::execution`]) and meet at operations over the
//! quad. The results of fragments are merged in the order of triangles. The vertex stage ends
//! before the first fragment begins. Within a stage no threads are ordered, so they can race.
//!
//! | module | section |
//! |---|---|
//! | `interface` | "Arguments and Return Types": values that pass between stages |
//! | `vertex` | "Vertex Shader" |
//! | `fragment` | "Rasterizer", "Fragment Shader" |
//! | `target` | "Output Merger": coverage, depth, targets |
//! | `threads`, `quad` | steps, and operations of the threads of a quad together |
//! | `fast` | threads on the fast engine instead |
//!
//! Differences between devices are not resolved silently. A pixel is marked if its centre is so
//! near to an edge that a device may see it on the other side. So is a pixel whose depth test may
//! go either way. Interpolated values are the definite values of [`crate::raster`]. Under a
//! precision profile they may be any that devices may compute.
//!
//! Absent on purpose: points and lines, strips and fans (the seed has none), several samples per
//! pixel, blending, culling.

mod fast;
pub mod fragment;
pub mod interface;
pub mod quad;
pub mod target;
pub mod threads;
pub mod vertex;

pub use quad::UnmetOperation;

use super::Settings;
use super::entry::{EntryPoint, Item};
use super::environment::FunctionId;
use super::error::Error;
use super::execution::{Planted, Shared};
use super::group::{OnStep, Resource, push};
use super::memory::{Memory, ObjectId, Words};
use super::open::{OpenTerms, Possible, Ways, Word, explore};
use super::race::{self, Race};
use super::specialization::Specialization;
use super::syntax::{BuiltinSemantic, Qualifier};
use super::types::Scalar;
use super::typing::program::Program;
use crate::concurrency::Topology;
use crate::image::Compare;
use crate::number::Inexact;
use crate::outcome::{InvalidInput, Limit, Outcome, TimeLimit};
use crate::raster::{self, Interpolation, Lane, Presence};
use crate::rule::Rule;
use fragment::Fragments;
use interface::Interface;
use rustc_hash::FxHashSet;
use target::{Attachments, Texels};
use threads::{Common, Group, Listener, World, limit};

/// The most vertices of a draw, and the most fragment threads that run side by side.
pub const MAX_THREADS: u64 = 1 << 16;
/// The most pixels.
pub const MAX_PIXELS: u64 = 1 << 20;
/// The most runs of one way. A way runs again when more stores are found to race.
const MAX_PASSES: usize = 16;

/// The data of one attribute, vertex after vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The number n of attribute(n).
    pub number: u32,
    /// The type of its scalars.
    pub scalar: Scalar,
    /// Their bits, without padding. A matrix is stored column by column.
    pub words: Vec<u32>,
}

/// The source of a stage-in variable of a fragment shader that is drawn without a vertex shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageInSource {
    /// The same value at every pixel. The number of the attribute is ignored.
    Constant(Attribute),
    /// The x and y of the pixel's centre, from 0 to 1 from the top left.
    Place,
}

/// The source of the vertices.
#[derive(Clone, Debug)]
pub enum Vertices<'p> {
    /// A vertex shader computes them.
    Shaded {
        /// The vertex shader.
        entry: &'p EntryPoint,
        /// The number of vertices of an instance.
        count: u32,
        /// The number of instances.
        instances: u32,
        /// The vertex attributes.
        attributes: Vec<Attribute>,
    },
    /// One triangle over the whole screen, with these attributes.
    Screen(Vec<(u32, StageInSource)>),
}

/// A draw.
#[derive(Clone, Debug)]
pub struct Draw<'p> {
    /// The program.
    pub program: &'p Program,
    /// The program's text, for places.
    pub text: &'p str,
    /// The vertices.
    pub vertices: Vertices<'p>,
    /// The fragment shader.
    pub fragment: &'p EntryPoint,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The comparison with the depth attachment, if there is one. It has 32-bit floats, which are 1
    /// at first.
    pub depth: Option<Compare>,
    /// The contents of the resources of both shaders, as [`resources`] lists them.
    pub resources: Vec<Resource>,
    /// The values of the specialization constants of both shaders.
    pub specialization: Specialization,
}

/// The rules of draws, as functions. Tests plant bugs here.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The rules for assembly, clipping, coverage and interpolation of triangles.
    pub raster: raster::Rules,
    /// [`interface::d_match`]
    pub matches: fn(&Item, &Item) -> bool,
    /// [`interface::d_left_over`]
    pub left_over: fn(usize) -> Words,
    /// [`interface::d_attribute`]
    pub attribute: for<'a> fn(&'a Attribute, Scalar, usize, u32, u32) -> Option<&'a [u32]>,
    /// [`interface::d_integer`]
    pub integer: fn(Scalar, &[Qualifier]) -> bool,
    /// [`interface::d_position`]
    pub position: for<'a> fn(&'a [Item]) -> Option<&'a Item>,
    /// [`vertex::d_vertex`]
    pub vertex: fn(u32, u32, BuiltinSemantic) -> Option<u32>,
    /// [`fragment::d_clip`]
    pub clip: fn([f32; 4]) -> [f32; 4],
    /// [`fragment::d_interpolate`]
    pub interpolate: fn(&[Qualifier]) -> Interpolation,
    /// [`fragment::d_helper`]
    pub helper: fn(Lane) -> Option<Presence>,
    /// [`fragment::d_fragment`]
    pub fragment: fn(&mut OpenTerms, BuiltinSemantic, bool, bool) -> Option<Word>,
    /// [`target::d_discarded`]
    pub discarded: fn(bool) -> bool,
    /// [`target::d_coverage`]
    pub coverage: fn(u32) -> bool,
    /// [`target::d_depth`]
    pub depth: fn(Option<Inexact>, Inexact) -> Inexact,
    /// [`target::d_target`]
    pub target: fn(&mut Texels, usize, [Word; 4], Presence),
    /// [`quad::g_quad`]
    pub quad: fn(&mut World, &Program, &mut Group),
    /// [`quad::g_quad_apart`]
    pub quad_apart: fn(&mut World, &Program, &mut Group),
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            raster: raster::Rules::default(),
            matches: interface::d_match,
            left_over: interface::d_left_over,
            attribute: interface::d_attribute,
            integer: interface::d_integer,
            position: interface::d_position,
            vertex: vertex::d_vertex,
            clip: fragment::d_clip,
            interpolate: fragment::d_interpolate,
            helper: fragment::d_helper,
            fragment: fragment::d_fragment,
            discarded: target::d_discarded,
            coverage: target::d_coverage,
            depth: target::d_depth,
            target: target::d_target,
            quad: quad::g_quad,
            quad_apart: quad::g_quad_apart,
        }
    }
}

impl Rules {
    /// The rules, with a bug if one is planted.
    pub(super) fn with(planted: Planted) -> Rules {
        let mut rules = Rules::default();
        if let Some(plant) = planted.draw {
            plant(&mut rules);
        }
        rules
    }
}

/// The contents of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The number n of SV_Target n.
    pub number: u32,
    /// By pixel, row by row from the top, the possible values of each component. Zeros where
    /// nothing is drawn.
    pub texels: Vec<[Possible; 4]>,
    /// By pixel, whether a device may show something else, because an edge passes the centre or a
    /// depth test may go either way.
    pub in_doubt: Vec<bool>,
}

/// The results of a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The targets, ordered by number.
    pub targets: Vec<Target>,
    /// The depth attachment, if there is one, row by row from the top.
    pub depth: Option<Vec<Inexact>>,
    /// The possible values of each word of each buffer at the end.
    pub buffers: Vec<Vec<Possible>>,
    /// The races.
    pub races: Vec<Race>,
    /// The operations over quads that not all threads of a quad reached. Their results
    /// are unspecified.
    pub apart: Vec<UnmetOperation>,
    /// Whether the buffers are in doubt, because a fragment that devices may or may not have stores
    /// in a buffer.
    pub in_doubt: bool,
    /// Whether a triangle may be in several places, because a vertex position is not known to the
    /// bit. Then nothing is known about pixels and buffers in doubt.
    pub moved: bool,
    /// Whether the draw met an unspecified value.
    pub unspecified: bool,
    /// Whether every way was followed.
    pub complete: bool,
    /// The number of ways.
    pub ways: usize,
    /// The number of steps of all threads on all ways.
    pub steps: u64,
    /// The rules that were applied.
    pub fired: Vec<Rule>,
}

/// How a draw ended.
pub type Ending = super::Ending<Shown>;

/// The resources of both shaders, empty. Those of the vertex shader come first, then those that
/// only the fragment shader has.
///
/// # Errors
/// If the elements of a resource have no size, or a register cannot be one resource.
pub fn resources(program: &Program, vertex: Option<&EntryPoint>, fragment: &EntryPoint) -> Result<Vec<Resource>, InvalidInput> {
    let mut resources = vertex.map_or(Ok(Vec::new()), |vertex| Resource::of(program, vertex))?;
    for resource in Resource::of(program, fragment)? {
        match resources.iter_mut().find(|r| r.register == resource.register) {
            None => resources.push(resource),
            Some(first) => first.join(&resource, program)?,
        }
    }
    Ok(resources)
}

/// [`Shared::new`] for the relation, [`Shared::laid_out`] for the machine.
type LayOut<'p> = fn(&'p Program, FunctionId, Planted) -> Result<Shared<'p>, Limit>;

/// The stores that are known to race, by stage.
type Known = [race::Known; 2];

/// The entry points of a draw, laid out, and the interface between them.
struct Stages<'p> {
    /// `None` if no vertices are shaded.
    vertex: Option<Shared<'p>>,
    fragment: Shared<'p>,
    interface: Interface<'p>,
}

/// The results of one way.
struct WayResult<'a> {
    world: World<'a>,
    attachments: Attachments,
    races: Vec<Race>,
}

impl<'p> Draw<'p> {
    /// The vertex entry point, if vertices are shaded.
    pub fn vertex(&self) -> Option<&'p EntryPoint> {
        match &self.vertices {
            Vertices::Shaded { entry, .. } => Some(entry),
            Vertices::Screen(_) => None,
        }
    }

    /// Checks that the parts of the draw fit together.
    ///
    /// # Errors
    /// The part that does not fit: the rule, and the place.
    pub fn fits(&self) -> Result<(), Box<Error>> {
        match self.stages(&Settings::default(), Shared::laid_out) {
            Err(Ending::Refused(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Runs the draw on every way.
    pub fn run(&self, settings: &Settings) -> Ending {
        self.try_run(settings).unwrap_or_else(|ending| ending)
    }

    /// Runs the first way, in the order of the schedule, and calls `on` for each step. Vertices are
    /// numbered first, then the threads of quads, four consecutive numbers each. Loads return the
    /// last store. A race is recorded once it has happened.
    ///
    /// # Errors
    /// The ending of a draw that does not run to its end. `on` was called for the steps before it.
    pub fn trace(&self, settings: &Settings, on: OnStep) -> Result<(), Ending> {
        let Stages { vertex, fragment, interface } = self.stages(settings, Shared::new)?;
        let (mut fuel, known) = (settings.fuel, Known::default());
        self.pass((vertex.as_ref(), &fragment), &interface, settings, (Ways::default(), &mut fuel), (&known, Some(on))).map(|_| ())
    }

    /// The number of vertex threads, which is the number of the first fragment thread.
    pub fn vertex_threads(&self) -> u32 {
        match &self.vertices {
            Vertices::Shaded { count, instances, .. } => count.saturating_mul(*instances),
            Vertices::Screen(_) => fragment::over_screen().len() as u32,
        }
    }

    /// Whether fragments can store in resources.
    fn stores(&self) -> bool {
        Resource::of(self.program, self.fragment).map_or(true, |all| all.iter().any(Resource::is_writable))
    }

    /// Both stages with their shared data, if they fit together.
    fn stages(&self, settings: &Settings, lay_out: LayOut<'p>) -> Result<Stages<'p>, Ending> {
        let shared = |entry: &EntryPoint| {
            lay_out(self.program, entry.function, settings.planted).map_err(|limit| Ending::Other(Outcome::Limit(limit)))
        };
        let vertex = self.vertex().map(shared).transpose()?;
        let fragment = shared(self.fragment)?;
        let interface = Interface::new(self, (vertex.as_ref(), &fragment), &Rules::with(settings.planted))
            .map_err(|error| Ending::Refused(Box::new(error)))?;
        Ok(Stages { vertex, fragment, interface })
    }

    fn try_run(&self, settings: &Settings) -> Result<Ending, Ending> {
        let Stages { mut vertex, mut fragment, interface } = self.stages(settings, Shared::new)?;
        vertex.iter_mut().chain([&mut fragment]).for_each(|shared| shared.records_steps = false);
        let (mut all, mut fired, mut halted): (Option<Shown>, FxHashSet<Rule>, _) = (None, FxHashSet::default(), None);
        fired.extend(&interface.fired);
        let (mut fuel, mut spent) = (settings.fuel, false);
        let complete = explore(settings.ways, |ways| {
            if let Some(limit) = TimeLimit::passed(settings.time) {
                halted = Some(Ending::Other(Outcome::Limit(limit)));
            }
            let raced = settings.until_race && all.as_ref().is_some_and(|shown| !shown.races.is_empty());
            if halted.is_some() || spent || raced {
                return Vec::new();
            }
            match self.way((vertex.as_ref(), &fragment), &interface, settings, (&ways, &mut fuel)) {
                Err(Ending::OutOfFuel(_)) if all.is_some() => {
                    spent = true;
                    Vec::new()
                }
                Err(ending) => {
                    halted = Some(ending);
                    Vec::new()
                }
                Ok(way) => {
                    fired.extend(way.world.common.fired.rules());
                    let shown = way.shown(self.resources.len());
                    match &mut all {
                        None => all = Some(shown),
                        Some(all) => all.also(shown),
                    }
                    vec![way.world.common.opens.ways]
                }
            }
        });
        if let Some(ending) = halted {
            return Err(ending);
        }
        let Some(mut shown) = all else { return Err(limit("ways", settings.ways as u64)) };
        shown.complete = complete && !spent;
        shown.fired = fired.into_iter().collect();
        shown.fired.sort_unstable();
        Ok(Ending::Shown(Box::new(shown)))
    }

    /// Runs one way, and again until no more stores are found to race.
    fn way<'a>(
        &'a self,
        shared: (Option<&Shared<'p>>, &Shared<'p>),
        interface: &Interface<'p>,
        settings: &'a Settings,
        (ways, fuel): (&Ways, &mut u64),
    ) -> Result<WayResult<'a>, Ending> {
        let mut known = Known::default();
        for _ in 0..MAX_PASSES {
            let (way, found) = self.pass(shared, interface, settings, (ways.again(), fuel), (&known, None))?;
            let more = known.iter_mut().zip(&found).fold(false, |more, (known, found)| known.merge(found) || more);
            if !more || settings.until_race && !way.races.is_empty() {
                return Ok(way);
            }
        }
        Err(limit("runs to find the stores that race", MAX_PASSES as u64))
    }

    fn pass<'a>(
        &'a self,
        (vertex, fragment): (Option<&Shared<'p>>, &Shared<'p>),
        interface: &Interface<'p>,
        settings: &'a Settings,
        (ways, fuel): (Ways, &mut u64),
        (known, on): (&Known, Option<OnStep<'a>>),
    ) -> Result<(WayResult<'a>, Known), Ending> {
        let mut memory = Memory::default();
        let mut opens = OpenTerms::new(settings.strategy, ways);
        opens.precision = settings.precision;
        push(&self.resources, &mut memory, &mut opens);
        let mut world = World::new(Common::new(self.text, settings, opens, *fuel), memory);
        world.on = Listener(on);
        let (mut races, mut found) = (Vec::new(), Known::default());
        // No two threads of a draw are ordered, so each is a group of its own here.
        let apart = Topology::new(u32::MAX - 1, 1, 1).map_err(|limit| Ending::Other(Outcome::Limit(limit)))?;
        let begin = |world: &mut World, stage: usize| {
            if settings.races {
                world.memory.races = Some(Box::new(race::Races::new(apart, known[stage].clone())));
            }
        };
        let mut end = |world: &mut World, stage: usize| {
            if let Some(stage_races) = world.memory.races.take() {
                found[stage].clone_from(&stage_races.learnt);
                races.extend(stage_races.found);
            }
        };
        begin(&mut world, 0);
        let rows = vertex::rows(&mut world, self, vertex, interface)?;
        end(&mut world, 0);
        begin(&mut world, 1);
        let watched = world.on.0.is_some() || settings.watch.is_some();
        world.helpers_idle = !fragment.meets_quads && !self.stores() && !watched;
        let mut fragments = Fragments { engine: &mut world, draw: self, shared: fragment, interface, rows: &rows };
        let attachments = fragments.all()?;
        end(&mut world, 1);
        *fuel = world.common.fuel.saturating_sub(world.common.opens.steps_of_work());
        Ok((WayResult { world, attachments, races }, found))
    }
}

impl WayResult<'_> {
    fn shown(&self, buffers: usize) -> Shown {
        let World { memory, common: Common { opens, apart, moved, .. }, .. } = &self.world;
        let words = |k: usize| memory.object(ObjectId(k as u32)).words.iter().map(|&w| opens.possible(w)).collect();
        let target = |t: &Texels| Target {
            number: t.number,
            texels: t.texels.iter().map(|texel| texel.map(|word| opens.possible(word))).collect(),
            in_doubt: t.in_doubt.clone(),
        };
        Shown {
            targets: self.attachments.targets.iter().map(target).collect(),
            depth: self.attachments.depths().map(|depths| depths.into_iter().map(|d| d.0).collect()),
            buffers: (0..buffers).map(words).collect(),
            races: self.races.clone(),
            apart: apart.clone(),
            in_doubt: memory.in_doubt,
            moved: *moved,
            unspecified: opens.met_unspecified(),
            complete: false,
            ways: 1,
            steps: self.world.steps,
            fired: Vec::new(),
        }
    }
}

impl Shown {
    /// Adds the results of another way.
    fn also(&mut self, other: Shown) {
        let or = |all: &mut Possible, more: Possible| *all = std::mem::replace(all, Possible::Any).or(more);
        for (all, more) in self.targets.iter_mut().zip(other.targets) {
            all.texels.iter_mut().flatten().zip(more.texels.into_iter().flatten()).for_each(|(all, more)| or(all, more));
            all.in_doubt.iter_mut().zip(more.in_doubt).for_each(|(all, more)| *all |= more);
        }
        self.buffers.iter_mut().flatten().zip(other.buffers.into_iter().flatten()).for_each(|(all, more)| or(all, more));
        if let (Some(all), Some(more)) = (&mut self.depth, other.depth) {
            all.iter_mut().zip(more).for_each(|(all, more)| all.allowed = all.allowed.hull(more.allowed));
        }
        let pair = |r: &Race| {
            let (a, b) = (r.first.instruction, r.second.instruction);
            (a.min(b), a.max(b))
        };
        for race in other.races {
            if !self.races.iter().any(|r| pair(r) == pair(&race)) {
                self.races.push(race);
            }
        }
        for apart in other.apart {
            if !self.apart.iter().any(|a| a.place == apart.place) {
                self.apart.push(apart);
            }
        }
        self.in_doubt |= other.in_doubt;
        self.moved |= other.moved;
        self.unspecified |= other.unspecified;
        self.ways += 1;
        self.steps += other.steps;
    }
}

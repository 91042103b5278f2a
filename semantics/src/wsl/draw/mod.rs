//! A draw by the relation: seed 004 "Graphics Pipeline", "Entry Points"
//! (ERRATA WSL-D25 to WSL-D29).
//!
//! Vertices are threads, and every three of them a triangle; [`crate::raster`] clips it, finds the
//! pixels that it covers and interpolates; quads of pixels are groups of four threads, which step
//! as all threads do ([`super::execution`]) and meet at operations over the quad; what fragments
//! give is merged in the order of triangles. The vertex stage has ended before the first fragment
//! begins; within a stage threads are ordered by nothing, and race.
//!
//! | module | section |
//! |---|---|
//! | `interface` | "Arguments and Return Types": what stages hand on |
//! | `vertex` | "Vertex Shader" |
//! | `fragment` | "Rasterizer", "Fragment Shader" |
//! | `target` | "Output Merger": coverage, depth, targets |
//! | `threads`, `quad` | steps, and what the threads of a quad do together |
//! | `fast` | threads on the fast engine instead |
//!
//! What a device may do differently is not resolved silently. A pixel whose centre lies so near to
//! an edge that a device may see it on the other side is marked, and so is one whose depth test may
//! end either way. Interpolated values are the definite ones of [`crate::raster`], and under a
//! profile of precision any that devices may compute.
//!
//! Absent on purpose: points and lines, strips and fans (the seed has none), several samples a
//! pixel, blending, culling.

mod fast;
pub mod fragment;
pub mod interface;
pub mod quad;
pub mod target;
pub mod threads;
pub mod vertex;

pub use quad::Apart;

use super::Settings;
use super::entry::{EntryPoint, Item};
use super::environment::FunctionId;
use super::error::Error;
use super::execution::{Planted, Shared};
use super::group::{OnStep, Resource, push};
use super::memory::{Memory, ObjectId, Words};
use super::open::{Opens, Possible, Ways, Word, explore};
use super::race::{self, Race};
use super::specialization::Specialization;
use super::syntax::{BuiltinSemantic, Qualifier};
use super::types::Scalar;
use super::typing::program::Program;
use crate::concurrency::Topology;
use crate::image::Compare;
use crate::number::Inexact;
use crate::outcome::{InvalidInput, Limit, Outcome, TimeLimit};
use crate::raster::{self, Interpolation, Lane};
use crate::rule::Rule;
use fragment::Fragments;
use interface::Interface;
use rustc_hash::FxHashSet;
use target::{Attachments, Presence, Texels};
use threads::{Common, Group, Listener, World, limit};

/// The most vertices of a draw, and the most fragments' threads that run side by side.
pub const MAX_THREADS: u64 = 1 << 16;
/// The most pixels.
pub const MAX_PIXELS: u64 = 1 << 20;
/// How often a draw is run again because more loads are known to race.
const MAX_PASSES: usize = 16;

/// The data of one attribute, vertex after vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// n of attribute(n).
    pub number: u32,
    /// What they are.
    pub scalar: Scalar,
    /// Their bits, without padding; of a matrix column after column.
    pub words: Vec<u32>,
}

/// What a stage-in variable of a fragment shader holds where nothing but that shader is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// The same at every pixel; the attribute's number counts for nothing.
    Constant(Attribute),
    /// x and y of the pixel's centre, 0 to 1 from the top left.
    Place,
}

/// Where vertices come from.
#[derive(Clone, Debug)]
pub enum Vertices<'p> {
    /// They are shaded.
    Shaded {
        /// The vertex shader.
        entry: &'p EntryPoint,
        /// How many there are.
        count: u32,
        /// How often they are drawn.
        instances: u32,
        /// What they hold.
        attributes: Vec<Attribute>,
    },
    /// One triangle over the whole screen, with these attributes.
    Screen(Vec<(u32, Given)>),
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
    /// How depths are compared with a depth attachment of 32-bit floats that holds ones before, if
    /// there is one.
    pub depth: Option<Compare>,
    /// What is bound to the resources of both shaders: those of [`resources`].
    pub resources: Vec<Resource>,
    /// The values of the specialization constants of both.
    pub specialization: Specialization,
}

/// The functions that draws go by, each a rule. A test plants its bugs here.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How triangles are assembled, clipped, covered and interpolated.
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
    pub fragment: fn(&mut Opens, BuiltinSemantic, bool, bool) -> Option<Word>,
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

/// What a target shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// n of SV_Target n.
    pub number: u32,
    /// By pixel, row after row from the top: what each component may be. Zeros
    /// where nothing was drawn.
    pub texels: Vec<[Possible; 4]>,
    /// By pixel, whether a device may show something else: an edge passes its centre, or its depth
    /// test may end otherwise.
    pub doubted: Vec<bool>,
}

/// What a draw shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The targets, by their numbers.
    pub targets: Vec<Target>,
    /// The depth attachment, if there is one: row after row from the top.
    pub depth: Option<Vec<Inexact>>,
    /// What each word of each buffer may hold at the end.
    pub buffers: Vec<Vec<Possible>>,
    /// The races.
    pub races: Vec<Race>,
    /// Operations over quads that not all threads of a quad came to: what they give is unspecified.
    pub apart: Vec<Apart>,
    /// Whether a fragment that a device may or may not have stores in a buffer, so that the buffers
    /// are in doubt.
    pub doubted: bool,
    /// Whether a triangle may be in one place or in another, because a vertex's position is not
    /// known to the bit. Then pixels and buffers in doubt are not known at all.
    pub moved: bool,
    /// Whether something unspecified was met.
    pub unspecified: bool,
    /// Whether every way was followed.
    pub complete: bool,
    /// How many ways there were.
    pub ways: usize,
    /// How many steps all threads took on all of them.
    pub steps: u64,
    /// The rules that were applied.
    pub fired: Vec<Rule>,
}

/// How a draw ended.
pub type Ending = super::Ending<Shown>;

/// The resources of both shaders, empty: those of the vertex shader, then those that only the
/// fragment shader has.
///
/// # Errors
/// If there are elements without a size; or a register that cannot be one resource.
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

/// The stores that are known to race, of both stages.
type Known = [race::Known; 2];

/// The entry points of a draw, laid out, and what they hand on.
struct Stages<'p> {
    /// If vertices are shaded.
    vertex: Option<Shared<'p>>,
    fragment: Shared<'p>,
    interface: Interface<'p>,
}

/// One way, to its end.
struct Way<'a> {
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

    /// Whether its parts fit together.
    ///
    /// # Errors
    /// What does not: the rule, and where.
    pub fn fits(&self) -> Result<(), Box<Error>> {
        match self.stages(&Settings::default(), Shared::laid_out) {
            Err(Ending::Refused(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Runs the draw along every way.
    pub fn run(&self, settings: &Settings) -> Ending {
        self.try_run(settings).unwrap_or_else(|ending| ending)
    }

    /// Runs the first way, in the order of the schedule. `on` is told of each step: vertices come
    /// first, then the threads of quads, four with following numbers each. Loads see the last
    /// store: a race is noted once it has happened.
    ///
    /// # Errors
    /// How the draw ends where it does not end as it should; `on` was told of the steps before.
    pub fn trace(&self, settings: &Settings, on: OnStep) -> Result<(), Ending> {
        let Stages { vertex, fragment, interface } = self.stages(settings, Shared::new)?;
        let (mut fuel, known) = (settings.fuel, Known::default());
        self.pass((vertex.as_ref(), &fragment), &interface, settings, (Ways::default(), &mut fuel), (&known, Some(on))).map(|_| ())
    }

    /// How many threads shade vertices: the first fragment's thread has this number.
    pub fn vertex_threads(&self) -> u32 {
        match &self.vertices {
            Vertices::Shaded { count, instances, .. } => count.saturating_mul(*instances),
            Vertices::Screen(_) => fragment::over_screen().len() as u32,
        }
    }

    /// Whether fragments may store in resources.
    fn stores(&self) -> bool {
        Resource::of(self.program, self.fragment).map_or(true, |all| all.iter().any(Resource::is_writable))
    }

    /// Both stages, if they fit together, with what their threads share.
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
        vertex.iter_mut().chain([&mut fragment]).for_each(|shared| shared.tells_all = false);
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

    /// One way, run again until no more stores are known to race.
    fn way<'a>(
        &'a self,
        shared: (Option<&Shared<'p>>, &Shared<'p>),
        interface: &Interface<'p>,
        settings: &'a Settings,
        (ways, fuel): (&Ways, &mut u64),
    ) -> Result<Way<'a>, Ending> {
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
    ) -> Result<(Way<'a>, Known), Ending> {
        let mut memory = Memory::default();
        let mut opens = Opens::new(settings.strategy, ways);
        opens.precision = settings.precision;
        push(&self.resources, &mut memory, &mut opens);
        let mut world = World::new(Common::new(self.text, settings, opens, *fuel), memory);
        world.on = Listener(on);
        let (mut races, mut found) = (Vec::new(), Known::default());
        // No two threads of a draw are ordered: each is a group of its own.
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
        Ok((Way { world, attachments, races }, found))
    }
}

impl Way<'_> {
    fn shown(&self, buffers: usize) -> Shown {
        let World { memory, common: Common { opens, apart, moved, .. }, .. } = &self.world;
        let words = |k: usize| memory.object(ObjectId(k as u32)).words.iter().map(|&w| opens.possible(w)).collect();
        let target = |t: &Texels| Target {
            number: t.number,
            texels: t.texels.iter().map(|texel| texel.map(|word| opens.possible(word))).collect(),
            doubted: t.doubted.clone(),
        };
        Shown {
            targets: self.attachments.targets.iter().map(target).collect(),
            depth: self.attachments.depths().map(|depths| depths.into_iter().map(|d| d.0).collect()),
            buffers: (0..buffers).map(words).collect(),
            races: self.races.clone(),
            apart: apart.clone(),
            doubted: memory.doubted,
            moved: *moved,
            unspecified: opens.met(),
            complete: false,
            ways: 1,
            steps: self.world.steps,
            fired: Vec::new(),
        }
    }
}

impl Shown {
    /// What one way more shows.
    fn also(&mut self, other: Shown) {
        let or = |all: &mut Possible, more: Possible| *all = std::mem::replace(all, Possible::Any).or(more);
        for (all, more) in self.targets.iter_mut().zip(other.targets) {
            all.texels.iter_mut().flatten().zip(more.texels.into_iter().flatten()).for_each(|(all, more)| or(all, more));
            all.doubted.iter_mut().zip(more.doubted).for_each(|(all, more)| *all |= more);
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
        self.doubted |= other.doubted;
        self.moved |= other.moved;
        self.unspecified |= other.unspecified;
        self.ways += 1;
        self.steps += other.steps;
    }
}

//! Fragments: seed 004 "Rasterizer", "Fragment Shader" (ERRATA WSL-D27, WSL-D29). Triangles are
//! drawn in order, quad by quad. Each quad has four threads.

use super::interface::{From, Interface};
use super::target::{Attachments, ThreadOutput};
use super::threads::{Common, Engine, Start, Starts, limit};
use super::vertex::{Row, arguments};
use super::{Draw, Ending, MAX_PIXELS, MAX_THREADS, Vertices};
use crate::number::Interval;
use crate::number::sets::Set;
use crate::outcome::Outcome;
use crate::raster::{
    self, Interpolation, Lane, Next, Plane, Planes, Presence, Primitives, RasterOrder, Setup, TestedFragment, Topology, Triangle,
};
use crate::rule::Rule;
use crate::wsl::environment::Semantic;
use crate::wsl::execution::{InDraw, Shared};
use crate::wsl::group::{Schedule, bound};
use crate::wsl::memory::Words;
use crate::wsl::open::{OpenTerms, Possible, Word};
use crate::wsl::syntax::{BuiltinSemantic, Qualifier};
use crate::wsl::types::Scalar;

/// A front-facing triangle over the whole screen. For each vertex: its position, and its place on
/// the screen, from 0 to 1 from the top left.
pub fn over_screen() -> [([f32; 4], [f32; 2]); 3] {
    [([-1.0, 1.0, 0.0, 1.0], [0.0, 0.0]), ([-1.0, -3.0, 0.0, 1.0], [0.0, 2.0]), ([3.0, 1.0, 0.0, 1.0], [2.0, 0.0])]
}

/// a position is in view where -w ≤ x, y, z ≤ w: x from the left edge to the right, y from the
/// lower edge to the upper, z from the least depth to the greatest [wsl/d-clip, 004 Vertex Shader;
/// WSL-D27]
///
/// Returns the position for [`crate::raster`], whose y points down and whose z goes from 0 to w.
pub fn d_clip([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    [x, -y, z * 0.5 + w * 0.5, w]
}

/// a stage-in variable is the first vertex's if nointerpolation, linear on the screen if
/// noperspective, else the average by the perspective-correct barycentric coordinates of the
/// pixel's centre [wsl/d-interpolate, 004 Rasterizer, Arguments and Return Types; WSL-D29]
///
/// With one sample per pixel, centroid and sample have no effect.
pub fn d_interpolate(qualifiers: &[Qualifier]) -> Interpolation {
    if qualifiers.contains(&Qualifier::Nointerpolation) {
        Interpolation::Flat
    } else if qualifiers.contains(&Qualifier::Noperspective) {
        Interpolation::Linear
    } else {
        Interpolation::Perspective
    }
}

/// a quad has four threads; one whose pixel the triangle does not cover is a helper, of which
/// nothing is kept [wsl/d-helper, 004 Floating point arithmetic; WSL-D29]
///
/// Returns the devices that have the fragment. `None` for a thread that is a helper on
/// every device.
pub fn d_helper(lane: Lane) -> Option<Presence> {
    Presence::of(lane)
}

/// SV_IsFrontFace is true if the triangle turns counter-clockwise on the screen, SV_SampleIndex is
/// 0, SV_InnerCoverage is 0 or 1 [wsl/d-fragment, 004 Built-in Variables; WSL-D27, WSL-D29]
///
/// `front` is whether the triangle turns so, and `certain` whether it does so on every device.
pub fn d_fragment(opens: &mut OpenTerms, built_in: BuiltinSemantic, front: bool, certain: bool) -> Option<Word> {
    Some(match built_in {
        BuiltinSemantic::IsFrontFace if certain => Word::Bits(front.into()),
        BuiltinSemantic::IsFrontFace => opens.leaf(Some(&[front.into(), (!front).into()]), Scalar::Bool, front.into()),
        BuiltinSemantic::SampleIndex => Word::Bits(0),
        BuiltinSemantic::InnerCoverage => opens.leaf(Some(&[0, 1]), Scalar::Uint, 0),
        _ => return None,
    })
}

/// A scalar of a stage-in variable, interpolated between the three vertices. Under a precision
/// profile it is any value that devices may compute.
fn interpolated(opens: &mut OpenTerms, fragment: &raster::Fragment, corners: [Word; 3], how: Interpolation) -> Word {
    if how == Interpolation::Flat {
        return corners[0];
    }
    let allowed = |values: [f32; 3]| fragment.interpolate(values, how).allowed;
    let floats = match corners.map(|word| opens.possible(word).only()) {
        [Some(a), Some(b), Some(c)] => [a, b, c].map(f32::from_bits),
        _ => {
            let sets = corners.map(|word| opens.possible(word).floats());
            let ends = sets.map(|set| set.hull().filter(|_| set.is_bounded() && !set.has_nan()).map(|s| [s.low as f32, s.high as f32]));
            let [Some(a), Some(b), Some(c)] = ends else { return opens.leaf(None, Scalar::Float, 0) };
            // An average is least and greatest at the ends of the intervals.
            let all = (0..8).map(|k| allowed([a[k & 1], b[k >> 1 & 1], c[k >> 2]]));
            let hull = all.reduce(Interval::hull).unwrap_or(Interval::ANY);
            return opens.by_itself(Set::of_f32(hull));
        }
    };
    match opens.precision {
        None if !fragment.is_of_several() => Word::Bits(fragment.definite(floats, how).to_bits()),
        _ => opens.by_itself(Set::of_f32(allowed(floats))),
    }
}

/// The region in which a vertex may be, in the space of [`d_clip`]'s results, from the possible
/// coordinates of its position.
fn placed(clip: fn([f32; 4]) -> [f32; 4], position: [Possible; 4]) -> [Interval; 4] {
    let ends = |possible: &Possible| {
        let set = possible.floats();
        let hull = set.hull().filter(|_| set.is_bounded() && !set.has_nan())?;
        Some([hull.low as f32, hull.high as f32])
    };
    let [Some(x), Some(y), Some(z), Some(w)] = position.each_ref().map(ends) else { return [Interval::ANY; 4] };
    let corner = |k: usize| clip([x[k & 1], y[k >> 1 & 1], z[k >> 2 & 1], w[k >> 3]]).map(f64::from);
    let mut placed = corner(0).map(Interval::point);
    for k in 1..16 {
        placed.iter_mut().zip(corner(k)).for_each(|(all, at)| *all = all.hull(Interval::point(at)));
    }
    if [z, w].iter().any(|[low, high]| low != high) {
        // The depth is a sum. A device may round it either way, or compute it in another form.
        let terms = [z, w].iter().flatten().map(|end| f64::from(end.abs())).fold(0.0, f64::max);
        placed[2] = placed[2].widened(terms * 8.0 * f64::from(f32::EPSILON));
    }
    placed
}

/// A quad whose threads run, with the data for merging their results.
struct Running {
    /// The upper left pixel.
    at: [u32; 2],
    presences: [Option<Presence>; 4],
    /// By lane: what the depth test compares.
    tested: [TestedFragment; 4],
}

/// The fragment stage of a draw.
pub(super) struct Fragments<'e, 'p, E> {
    pub(super) engine: &'e mut E,
    pub(super) draw: &'e Draw<'p>,
    pub(super) shared: &'e Shared<'p>,
    pub(super) interface: &'e Interface<'p>,
    pub(super) rows: &'e [Row],
}

/// The quads of a draw that have started.
#[derive(Default)]
struct StartedQuads {
    /// The number of quads so far.
    count: u32,
    /// The threads that have not run.
    starts: Vec<Starts>,
    /// The quads that are not merged.
    order: RasterOrder<Running, Vec<Option<Words>>>,
}

impl<'a, E: Engine<'a>> Fragments<'_, '_, E> {
    /// Draws all triangles.
    pub(super) fn all(&mut self) -> Result<Attachments, Ending> {
        let draw = self.draw;
        let too_many = || limit("pixels", MAX_PIXELS);
        if u64::from(draw.size[0]) * u64::from(draw.size[1]) > MAX_PIXELS {
            return Err(too_many());
        }
        let mut attachments = Attachments::new(draw.size, &self.interface.targets, draw.depth).ok_or_else(too_many)?;
        let state = raster::State::of_size(draw.size[0], draw.size[1]);
        if draw.size.contains(&0) {
            return Ok(attachments);
        }
        let settings = self.engine.common().settings;
        let rules = self.engine.common().rules;
        let (count, instances) = match &draw.vertices {
            Vertices::Screen(_) => (3, 1),
            Vertices::Shaded { count, instances, .. } => (*count, *instances),
        };
        let stores = draw.stores();
        let in_order = settings.schedule == Some(Schedule::InOrder);
        let (mut started, first) = (StartedQuads::default(), self.first());
        let (mut primitives, mut planes) = (Primitives::new(Topology::List, count, instances), Planes::default());
        while let Some(corners) = primitives.next(&rules.raster) {
            self.engine.common().spend(1, first)?;
            let corners = corners.map(|corner| &self.rows[corner]);
            let Common { opens, fired, moved, .. } = self.engine.common();
            let places = corners.map(|row| placed(rules.clip, row.position.map(|word| opens.possible(word))));
            fired.insert(Rule::WslDClip);
            let setup = Setup::within(&rules.raster, &state, places);
            *moved |= match &setup {
                Ok(Setup::Unknown) => places.iter().flatten().any(|place| place.low != place.high),
                Ok(Setup::Visible(triangle)) => triangle.is_one_of_several(),
                _ => false,
            };
            match setup {
                Err(error) => return Err(Ending::Other(Outcome::Unsupported(error.to_string()))),
                Ok(Setup::Nothing) => {}
                Ok(Setup::Unknown) => {
                    if stores {
                        let what = "a triangle of which it is not known where it is, where fragments may store in buffers";
                        return Err(Ending::Other(Outcome::Unsupported(what.into())));
                    }
                    self.engine.common().spend(u64::from(draw.size[0]) * u64::from(draw.size[1]), first)?;
                    started.order.unknown();
                }
                Ok(Setup::Visible(triangle)) => {
                    let definite = places.iter().flatten().all(|place| place.low == place.high);
                    let plane = definite.then(|| planes.of(places.map(|place| place.map(|c| c.low))));
                    let mut walk = triangle.walk();
                    while let Some(quad) = walk.next(&triangle) {
                        self.engine.common().spend(1, first)?;
                        let Some(quad) = quad else { continue };
                        if !self.begin((&triangle, plane), &quad, corners, &mut started) {
                            continue;
                        }
                        if in_order {
                            self.run(&mut started, &mut attachments)?;
                        } else if u64::from(started.count) * 4 > MAX_THREADS {
                            return Err(limit("threads that run side by side", MAX_THREADS));
                        }
                    }
                }
            }
        }
        self.run(&mut started, &mut attachments)?;
        Ok(attachments)
    }

    /// The number of the first fragment thread. Smaller numbers are vertices.
    fn first(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Prepares the threads of a quad. Returns false if no device has a fragment of it.
    fn begin(
        &mut self,
        (triangle, plane): (&Triangle, Option<Plane>),
        quad: &raster::Quad,
        corners: [&Row; 3],
        started: &mut StartedQuads,
    ) -> bool {
        let (draw, rules, first, number) = (self.draw, self.engine.common().rules, self.first(), started.count);
        let presences = quad.lanes.map(rules.helper);
        if presences.iter().all(Option::is_none) {
            return false;
        }
        let pixel = |lane: usize| [i64::from(quad.x) + lane as i64 % 2, i64::from(quad.y) + lane as i64 / 2];
        let fragments = [0, 1, 2, 3].map(|lane| triangle.fragment(pixel(lane)[0], pixel(lane)[1]));
        let mut threads = Vec::with_capacity(4);
        let Common { opens, fired, .. } = self.engine.common();
        for (lane, fragment) in fragments.iter().enumerate() {
            let thread = first.wrapping_add(number * 4 + lane as u32);
            opens.thread = thread;
            let mut inputs = self.interface.inputs.iter();
            let values = arguments(draw.program, self.shared, draw.fragment, |k, item| match item.semantic {
                Some((Semantic::Specialized, _)) => Some(Words::from_slice(&[Word::Bits(draw.specialization.word(draw.fragment, k)?)])),
                Some((Semantic::Builtin(built_in), _)) => {
                    fired.insert(Rule::WslDFragment);
                    Some(Words::from_slice(&[(rules.fragment)(opens, built_in, triangle.front, triangle.front_certain)?]))
                }
                Some((Semantic::Attribute(_), _)) => {
                    let input = inputs.find(|input| std::ptr::eq(input.item, item))?;
                    let From::Vertices(k) = input.from else { return Some((rules.left_over)(input.elements.words)) };
                    fired.insert(Rule::WslDInterpolate);
                    let mut words = Words::from_elem(Word::Bits(0), input.elements.words);
                    for &at in &input.elements.at {
                        words[at] = interpolated(opens, fragment, corners.map(|row| row.outputs[k][at]), input.how);
                    }
                    Some(words)
                }
                _ => bound(draw.program, &draw.resources, item),
            });
            let (presence, lane) = (presences[lane], Some(lane));
            let helper = matches!(presence, None | Some(Presence::Elsewhere));
            let doubtful = matches!(presence, Some(Presence::Here | Presence::Elsewhere));
            if helper {
                fired.insert(Rule::WslDHelper);
            }
            threads.push(Start { number: thread, values, stage: InDraw { lane, helper, doubtful, exchange: None } });
        }
        let (front, front_certain) = (triangle.front, triangle.front_certain);
        let tested = fragments.map(|fragment| TestedFragment { depth: fragment.coordinate[2], plane, front, front_certain });
        started.starts.push(Starts { number: first.wrapping_add(number), threads });
        started.order.start(number, Running { at: [quad.x, quad.y], presences, tested });
        started.count += 1;
        true
    }

    /// Runs the quads that have started. Their results reach the attachments in order.
    fn run(&mut self, started: &mut StartedQuads, attachments: &mut Attachments) -> Result<(), Ending> {
        let starts = std::mem::take(&mut started.starts);
        let first = started.count - starts.len() as u32;
        for (number, words) in (first..).zip(self.engine.run(self.shared, self.draw.fragment, starts)?) {
            started.order.end(number, words);
        }
        while let Some(next) = started.order.pop() {
            let Next::Quad(quad, outputs) = next else {
                attachments.doubt_all();
                continue;
            };
            for (lane, words) in outputs.into_iter().enumerate() {
                let Some(presence) = quad.presences[lane] else { continue };
                self.merge(attachments, &quad, lane, words, presence);
            }
        }
        Ok(())
    }

    fn merge(&mut self, attachments: &mut Attachments, quad: &Running, lane: usize, words: Option<Words>, presence: Presence) {
        let rules = self.engine.common().rules;
        let Common { opens, fired, .. } = self.engine.common();
        if words.is_none() && presence != Presence::Elsewhere {
            fired.insert(Rule::WslDDiscarded);
        }
        if !(rules.discarded)(words.is_none()) {
            return;
        }
        let words = words.unwrap_or_default();
        let word = |at: usize| words.get(at).copied().unwrap_or(Word::Bits(0));
        let output = ThreadOutput {
            presence,
            coverage: self.interface.coverage.map(word),
            depth: self.interface.depth.map(word),
            interpolated: quad.tested[lane],
            values: self.interface.targets.iter().map(|&(_, at)| [0, 1, 2, 3].map(|c| word(at + c))).collect(),
        };
        let pixel = [quad.at[0] + lane as u32 % 2, quad.at[1] + lane as u32 / 2];
        if attachments.depth.is_some() {
            fired.insert(Rule::WslDDepth);
        }
        let (covered, written) = attachments.merge(&rules, opens, pixel, output);
        if !covered {
            fired.insert(Rule::WslDCoverage);
        }
        if written && !self.interface.targets.is_empty() {
            fired.insert(Rule::WslDTarget);
        }
    }
}

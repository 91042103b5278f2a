//! Refinement of draws: AFTER's stages may replace BEFORE's if the draw shows only what BEFORE's
//! draw allows.
//!
//! The observation consists of the colour attachments, the depth attachment, and the memory that
//! the stages write. Both draws run on the lockstep machine if it supports what they need,
//! otherwise by the relation. Both are rasterised by the same rules. So equal results are compared
//! bit for bit. A pixel whose fragments were discarded keeps its initial value on both sides. If
//! something differs, the relation runs BEFORE's draw over sets:
//!
//! | BEFORE, over sets | allows |
//! |---|---|
//! | a component that is undefined | any value, defined or not |
//! | a component, or a depth, with a set | the values in the set |
//! | an inexact depth of FragDepth | this depth; another is *undecided* |
//! | another value that devices may differ in, without a set | this value; another is *undecided* |

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::sets::Rules;
use smallstep_semantics::number::{Interval, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{self, DepthBuffer};
use smallstep_semantics::spirv::draw::{self, By, Component, DefiniteTarget, DrawObservation, Picture};
use smallstep_semantics::spirv::environment::{Limits, Observation, ObservedBuffer, Robustness};
use smallstep_semantics::spirv::lockstep::{FragmentProgram, VertexProgram};
use smallstep_semantics::spirv::{Event, LoadError, Module, Relation};
use smallstep_semantics::undefined::Ub;
use std::sync::Arc;

use super::doubts::Doubts;
use super::observe::{self, Difference, DifferenceKind, Judged, OtherExecution, Texels};
use super::on_device::NotShown;
use super::texels::{self, Differing};
use super::{ALLOWANCE, Input, Planted, SLOWER, Settings, Unchecked};
use crate::compute::given::Place;
use crate::compute::{self, drawn_by};
use crate::dispatch::{DrawDispatch, DrawResult};

/// A part of the observation of a draw.
#[derive(Clone, Copy, Debug)]
pub(in crate::theorem) enum DrawPart {
    /// The colour attachment at a location.
    Target(u32),
    /// The buffer at a set and binding.
    Buffer(u32, u32),
}

/// The stages of a draw, ready to run.
pub struct Stages {
    pub(in crate::theorem) vertex: Arc<Module>,
    pub(in crate::theorem) fragment: Arc<Module>,
    /// The vertex stage on the machine. `None` if the machine does not support it.
    vertex_program: Option<VertexProgram>,
    /// The fragment stage on the machine. `None` if the machine does not support it.
    pub(in crate::theorem) fragment_program: Option<FragmentProgram>,
    /// The behaviour of accesses out of bounds.
    pub robustness: Robustness,
}

impl Stages {
    /// Loads and compiles the stages of a draw.
    ///
    /// # Errors
    /// A module is refused.
    pub fn new(dispatch: &DrawDispatch) -> Result<Stages, LoadError> {
        let vertex = Arc::new(Module::load(&dispatch.vertex.words)?);
        let fragment = Arc::new(Module::load(&dispatch.fragment.words)?);
        let vertex_program = compiled(VertexProgram::of(&vertex, &dispatch.vertex.entry))?;
        let fragment_program = compiled(FragmentProgram::of(&fragment, &dispatch.fragment.entry))?;
        Ok(Stages { vertex, vertex_program, fragment, fragment_program, robustness: Robustness::None })
    }

    /// The picture of a draw with these stages, within so many instructions. The machine draws it,
    /// or if that does not support the draw, the relation.
    ///
    /// # Errors
    /// An entry point is missing.
    pub fn definite(&self, dispatch: &DrawDispatch, fuel: u64) -> Result<Outcome<Picture>, LoadError> {
        let contents = dispatch.contents();
        let mut lent = contents.lend(dispatch, Limits::of_fuel(fuel));
        lent.resources.robustness = self.robustness;
        if let Some(program) = &self.fragment_program {
            match draw::picture_by((&self.vertex, self.vertex_program.as_ref()), program, &lent, &raster::Rules::default())? {
                // The relation supports more than the machine.
                Outcome::Unsupported(_) => {}
                outcome => return Ok(outcome),
            }
        }
        let outcome = draw::run(&self.vertex, &self.fragment, &lent, &Relation::default(), &mut ())?;
        Ok(outcome.map(|shown| {
            let depth = shown.depth.as_ref().and_then(depths);
            let targets = shown.targets.into_iter().map(DefiniteTarget::from).collect();
            Picture { depth, targets, buffers: shown.buffers, images: shown.images, instructions: shown.instructions }
        }))
    }

    /// Why the undefined behaviour of this kind, in which a draw ends, is not certain. `None` if it
    /// is certain, or if the relation does not meet it.
    fn doubt(&self, dispatch: &DrawDispatch, fuel: u64, ub: Ub) -> Option<String> {
        let contents = dispatch.contents();
        let mut lent = contents.lend(dispatch, Limits::of_fuel(fuel));
        lent.resources.robustness = self.robustness;
        let stage =
            |module, entry| Doubts::new(module, Module::entry_point(module, entry).map_or(Profile::VulkanDefault, |e| module.profile(e)));
        let mut stages = [stage(&*self.vertex, &dispatch.vertex.entry), stage(&self.fragment, &dispatch.fragment.entry)];
        let mut last = 0;
        let mut watch = |event: &Event<'_, '_>| {
            let of_vertex = self.vertex.instructions().as_ptr_range().contains(&std::ptr::from_ref(event.instruction));
            last = usize::from(!of_vertex);
            stages[last].event(event);
        };
        let outcome = draw::run(&self.vertex, &self.fragment, &lent, &Relation::default(), &mut watch).ok()?;
        let (invocation, instruction) = stages[last].last?;
        matches!(outcome, Outcome::Undefined(undefined) if undefined.ub == ub)
            .then(|| stages[last].why_uncertain(ub, invocation, &instruction))?
    }

    /// The first word of an attachment or a buffer that a device shows and no device may show: its
    /// required value and its value on the device. The result has the bindings of the draw.
    /// `before` is the interpreter's picture of the draw. `left_out` says by its index which texels
    /// of an attachment are skipped.
    ///
    /// # Errors
    /// Why the words cannot be compared.
    pub(in crate::theorem) fn wrong_word(
        &self,
        dispatch: &DrawDispatch,
        before: &Picture,
        result: DrawResult,
        (part, profile): (DrawPart, Option<Profile>),
        left_out: &mut dyn FnMut(u64) -> bool,
        fuel: u64,
    ) -> Result<Option<(u32, u32)>, String> {
        let after = picture(dispatch, result).ok_or("an attachment of another size")?;
        let allowed = match self.over_sets(dispatch, profile, fuel).map_err(|e| e.to_string())? {
            Outcome::Observed(allowed) => allowed,
            other => return Err(format!("over sets, the draw ends with {}", observe::ending(&other))),
        };
        match part {
            DrawPart::Target(location) => {
                let targets: Vec<_> = before.targets.iter().filter(|target| target.location == location).cloned().collect();
                let differing = differing_targets(&targets, &after).into_iter();
                let wrong = differing.filter(|texel| !left_out(texel.texel)).find(|texel| allows(&allowed, texel) == Some(false));
                Ok(wrong.map(|texel| (texel.before as u32, texel.after.unwrap_or_default() as u32)))
            }
            DrawPart::Buffer(set, binding) => {
                let position_in = |buffers: &[ObservedBuffer]| buffers.iter().position(|b| (b.set, b.binding) == (set, binding));
                let whole = "a draw shows no such buffer";
                let (b, a) = (position_in(&before.buffers).ok_or(whole)?, position_in(&after.buffers).ok_or(whole)?);
                let words = |b: &ObservedBuffer| -> Vec<u32> {
                    b.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
                };
                let number = position_in(&allowed.buffers);
                let doubted = |at: u64| allowed.doubtful.iter().any(|d| Some(d.buffer) == number && d.start < at + 4 && at < d.end);
                let both = words(&before.buffers[b]).into_iter().zip(words(&after.buffers[a]));
                Ok((0u64..).zip(both).find(|(word, (was, is))| was != is && !doubted(4 * word)).map(|(_, both)| both))
            }
        }
    }

    /// The values that a device may show, by the relation over sets. `profile` is needed if the
    /// words do not reach the device as they are.
    fn over_sets(&self, dispatch: &DrawDispatch, profile: Option<Profile>, fuel: u64) -> Result<Outcome<DrawObservation>, LoadError> {
        let contents = dispatch.contents();
        let mut lent = contents.lend(dispatch, Limits::of_fuel(fuel));
        lent.resources.robustness = self.robustness;
        lent.resources.profile = profile;
        let (relation, rules, schedule) = (Relation::default(), raster::Rules::default(), Schedule::default());
        let run_settings = By { relation: &relation, rules: &rules, schedule: &schedule, sets: Some(Rules::default()), machine: None };
        draw::run_with(&self.vertex, &self.fragment, &lent, &run_settings, &mut ())
    }
}

/// A compiled stage. `None` if the machine does not support it.
fn compiled<P>(program: Result<P, LoadError>) -> Result<Option<P>, LoadError> {
    match program {
        Ok(program) => Ok(Some(program)),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn refused(error: LoadError) -> Judged {
    Judged::Unchecked(match error {
        LoadError::Limit(limit) => Unchecked::Limit(limit.to_string()),
        other => Unchecked::Unsupported(other.to_string()),
    })
}

/// The contents of buffers and images after the draw, in the form of a dispatch's observation.
fn observation(picture: &Picture) -> Observation {
    Observation { buffers: picture.buffers.clone(), images: picture.images.clone(), instructions: picture.instructions }
}

/// Judges one draw. AFTER is the same draw with other stages. Of the settings, `fuel` is the most
/// instructions of BEFORE.
pub fn judge((before, draw): (&Stages, &DrawDispatch), (after, draw_after): (&Stages, &DrawDispatch), settings: &Settings) -> Judged {
    let fuel = settings.fuel;
    let of_before = match before.definite(draw, fuel) {
        Ok(outcome) => outcome,
        Err(error) => return refused(error),
    };
    if let Some(what) = observe::unchecked(&of_before) {
        return Judged::Unchecked(what);
    }
    let Outcome::Observed(b) = &of_before else { return Judged::Vacuous(observe::ending(&of_before)) };
    let more = b.instructions.max(1).saturating_mul(SLOWER).saturating_add(ALLOWANCE);
    let of_after = match after.definite(draw_after, more) {
        Ok(outcome) => outcome,
        Err(error) => return refused(error),
    };
    if let Some(what) = observe::unchecked(&of_after) {
        return Judged::Unchecked(what);
    }
    let disagree = |kind| {
        let schedule = Schedule::default();
        Judged::Disagree(Box::new(Difference {
            kind,
            before: schedule.clone(),
            after: schedule,
            fuel: more,
            places: Vec::new(),
            elsewhere: None,
        }))
    };
    let a = match &of_after {
        Outcome::Observed(a) => a,
        Outcome::Undefined(undefined) => {
            return match after.doubt(draw_after, more, undefined.ub) {
                Some(why) => Judged::Undecided(why),
                None => disagree(DifferenceKind::Undefined(Box::new(undefined.clone()))),
            };
        }
        other => return disagree(DifferenceKind::Ends(observe::ending(other))),
    };
    let judged = compared((before, draw), (b, a), &disagree, settings);
    let (Judged::Agree { .. }, Some(device)) = (&judged, &settings.device) else { return judged };
    let result = match device.shown(|device| drawn_by(draw_after, device)) {
        Ok(result) => result,
        Err(NotShown::Judged(judged)) => return judged,
        Err(NotShown::Fails(ending)) => return disagree(DifferenceKind::Ends(ending)),
    };
    let Some(picture) = picture(draw_after, result) else {
        return Judged::Unchecked(Unchecked::Unsupported("an attachment of another size".into()));
    };
    match compared((before, draw), (b, &picture), &disagree, settings) {
        Judged::Disagree(difference) => {
            let shown = Outcome::Observed(observation(&picture));
            let elsewhere = OtherExecution { shown, description: format!("{} shows it", device.name()), on_device: true };
            Judged::Disagree(Box::new(Difference { elsewhere: Some(Box::new(elsewhere)), ..*difference }))
        }
        Judged::Undecided(why) => Judged::Undecided(format!("{}: {why}", device.name())),
        other => other,
    }
}

/// The definite depths, row after row.
fn depths(buffer: &DepthBuffer) -> Option<Vec<f64>> {
    let [width, height] = buffer.size();
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.map(|(x, y)| Some(buffer.depth(x, y)?.0.value)).collect()
}

/// Whether a picture shows everything that another picture shows, with the same values.
pub(in crate::theorem) fn includes(all: &Picture, part: &Picture) -> bool {
    let at = |b: &ObservedBuffer| (b.set, b.binding);
    let is_same = |index: usize| {
        let shown = Place::of(&part.buffers, index, at).find(&all.buffers, at);
        shown.is_some_and(|shown| shown.bytes == part.buffers[index].bytes)
    };
    differing_targets(&part.targets, all).is_empty() && part.depth == all.depth && (0..part.buffers.len()).all(is_same)
}

/// The picture of a draw on a device. `None` if an attachment has another size than in the draw.
fn picture(dispatch: &DrawDispatch, result: DrawResult) -> Option<Picture> {
    let mut targets = Vec::new();
    for (target, bytes) in dispatch.targets.iter().zip(&result.targets) {
        let mut image = target.image.clone();
        image.fill(0, bytes).ok()?;
        targets.push(DefiniteTarget::defined(target.location, image));
    }
    let depth = match (&dispatch.depth, result.depth) {
        (Some(depth), Some(bytes)) => {
            let mut image = depth.image.clone();
            image.fill(0, &bytes).ok()?;
            depths(&DepthBuffer::holding(&image)?)
        }
        _ => None,
    };
    Some(Picture {
        targets,
        depth,
        buffers: compute::shown_buffers(result.buffers),
        images: compute::shown_images(result.images, &dispatch.images),
        instructions: 0,
    })
}

/// Compares AFTER's picture with what BEFORE allows.
fn compared(
    (before, draw): (&Stages, &DrawDispatch),
    (b, a): (&Picture, &Picture),
    disagree: &dyn Fn(DifferenceKind) -> Judged,
    settings: &Settings,
) -> Judged {
    let bound = draw.bound();
    let input = Input { buffers: bound.buffer_contents(), images: bound.image_contents(), ..Input::default() };
    let (shown_before, shown_after) = (observation(b), observation(a));
    let bytes = observe::differing(&shown_before, &shown_after, &input, settings);
    let of_images = texels::differing(&shown_before, &shown_after, &input.images, settings);
    let targets = if settings.does(Planted::Targets) { b.targets.get(..1).unwrap_or_default() } else { &b.targets };
    let of_targets = differing_targets(targets, a);
    let depths = if settings.does(Planted::Depths) { Vec::new() } else { differing_depths(b, a, draw.size()) };
    if bytes.is_empty() && of_images.is_empty() && of_targets.is_empty() && depths.is_empty() {
        return Judged::Agree { all: true };
    }
    let allowed = match before.over_sets(draw, None, settings.fuel) {
        Ok(Outcome::Observed(allowed)) => allowed,
        Ok(other) => {
            return match observe::unchecked(&other) {
                Some(what) => Judged::Unchecked(what),
                None => Judged::Undecided(format!("by the relation, BEFORE ends with {}", observe::ending(&other))),
            };
        }
        Err(error) => return refused(error),
    };
    let mut undecided = false;
    let mut wrong: Vec<Differing> = Vec::new();
    for texel in of_targets.into_iter().chain(depths) {
        match allows(&allowed, &texel) {
            Some(true) => {}
            Some(false) if settings.does(Planted::TargetSets) => {}
            Some(false) => wrong.push(texel),
            None => undecided = true,
        }
    }
    for texel in of_images {
        if texel.is_wrong(&allowed.doubtful_texels) { wrong.push(texel) } else { undecided = true }
    }
    if let Some(first) = wrong.first() {
        return disagree(first.difference_kind(wrong.len() as u64));
    }
    let doubted = |place: Place, byte: u64| {
        let buffer = place.position(&allowed.buffers, |b| (b.set, b.binding));
        allowed.doubtful.iter().any(|d| Some(d.buffer) == buffer && (d.start..d.end).contains(&byte))
    };
    let certain: Vec<_> = bytes.iter().filter(|(place, byte, ..)| !doubted(*place, *byte)).collect();
    if let Some(&&(place, byte, _, shown)) = certain.first() {
        return disagree(DifferenceKind::Byte { place, byte, bytes: certain.len() as u64, undefined: shown.is_none(), allowed: None });
    }
    match undecided || !bytes.is_empty() {
        true => Judged::Undecided("a texel, depth or byte depends on a value that devices may differ in".into()),
        false => Judged::Agree { all: true },
    }
}

/// Whether BEFORE allows AFTER's value of a component. `None` if that is not decided.
fn allows(allowed: &DrawObservation, texel: &Differing) -> Option<bool> {
    let [x, y, _] = texel.at;
    match texel.of {
        Texels::Target(location) => {
            let target = allowed.targets.iter().find(|t| t.location == location)?;
            match (target.component(x, y, texel.component.into())?, texel.after) {
                (Component::Undefined(_), _) => Some(true),
                (Component::Undecided(_), _) => None,
                (_, None) => Some(false),
                (_, Some(_)) if texel.is_nan() => None,
                (Component::Exactly(code), Some(after)) => Some(code == after),
                (Component::OneOf(codes), Some(after)) => Some(codes.admits(after)),
                (Component::Within(set), Some(after)) => {
                    let float = f32::from_bits(after as u32);
                    Some(if float.is_nan() { set.has_nan() } else { set.contains(float.into()) })
                }
            }
        }
        Texels::Depth => {
            let within = allowed.depth.as_ref()?.depth(x, y)?.0.allowed;
            // The relation gives this range to a depth of which nothing is known.
            if within == Interval::between(0.0, 1.0) {
                return None;
            }
            let depth = f64::from(f32::from_bits(texel.after? as u32));
            Some(within.low <= depth && depth <= within.high)
        }
        Texels::Image(_) => None,
    }
}

fn differing_targets(before: &[DefiniteTarget], after: &Picture) -> Vec<Differing> {
    let mut found = Vec::new();
    for b in before {
        let Some(a) = after.targets.iter().find(|a| a.location == b.location) else { continue };
        let (format, [width, _]) = (b.image.format(), b.image.size(0).unwrap_or([1, 1]));
        let texels = |target: &DefiniteTarget| target.image.bytes(0).unwrap_or_default().to_vec();
        let (of_before, of_after) = (texels(b), texels(a));
        let both = of_before.chunks_exact(format.bytes()).zip(of_after.chunks_exact(format.bytes()));
        for (texel, (was, is)) in (0u32..).zip(both) {
            let [x, y] = [texel % width.max(1), texel / width.max(1)];
            for component in 0..format.channels().len() {
                if b.undefined(x, y, component).is_some() {
                    continue;
                }
                let was = texels::code(format, component, was);
                let is = a.undefined(x, y, component).is_none().then(|| texels::code(format, component, is));
                if is != Some(was) {
                    let of = Texels::Target(b.location);
                    let (component, texel, at) = (component as u8, u64::from(texel), [x, y, 0]);
                    found.push(Differing { of, format, image: 0, texel, at, component, before: was, after: is });
                }
            }
        }
    }
    found
}

fn differing_depths(before: &Picture, after: &Picture, size: Option<[u32; 2]>) -> Vec<Differing> {
    let (Some(b), Some(a)) = (&before.depth, &after.depth) else { return Vec::new() };
    let width = size.map_or(1, |[width, _]| width.max(1));
    let bits = |depth: f64| u64::from((depth as f32).to_bits());
    let both = (0u32..).zip(b.iter().zip(a)).filter(|(_, (was, is))| was != is);
    let found = both.map(|(texel, (&was, &is))| Differing {
        of: Texels::Depth,
        // A picture has depths as floats, for every format of the attachment.
        format: smallstep_semantics::image::Format::D32Sfloat,
        image: 0,
        texel: texel.into(),
        at: [texel % width, texel / width, 0],
        component: 0,
        before: bits(was),
        after: Some(bits(is)),
    });
    found.collect()
}

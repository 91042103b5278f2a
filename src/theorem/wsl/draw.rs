//! Draws on both sides. WSL's draw runs on its machine or by its relation. The compiler makes two
//! modules of its stages, and their draw runs on SPIR-V's lockstep machine.
//!
//! Every component of every target, every depth and every scalar of every buffer is compared. A
//! pixel whose fragments were discarded keeps its initial value on both sides. Both interpreters
//! rasterise by the same rules, so they are compared at every pixel. A device may differ at some
//! pixels: an edge passes near the pixel's centre, or a depth test is not certain. These pixels are
//! not compared with a device, and count as undecided.

use super::beside::draw_differs;
use super::blame;
use super::bound::{Bound, formats};
use super::compare::{Compared, Wrong, compare, is_allowed};
use super::source::{FUEL, LARGE_FUEL, RelationUse, Source, WAYS, allows};
use super::subject::BOTH_OUT_OF_FUEL;
use super::{disagree, refused, unchecked};
use crate::compile::wsl::{Binding, Module, Options, StageVariable, translate_draw};
use crate::compile::{bindings::Places, draw_for_wgpu};
use crate::dispatch::{DepthAttachment, DrawDispatch, DrawResult, Geometry, Stage};
use crate::gpu::{DeviceOutcome, Route};
use crate::theorem::device::without_frame;
use crate::theorem::refine::draws::Stages;
use crate::theorem::{Engine, Verdict};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{self, Topology};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::draw::Picture;
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Limits, Rate};
use smallstep_semantics::spirv::{self, Buffer, LoadError};
use smallstep_semantics::undefined::{Ub, Unspecified};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::fragment::over_screen;
use smallstep_semantics::wsl::draw::{self, Draw, Shown, Vertices};
use smallstep_semantics::wsl::entry::{EntryPoint, Item};
use smallstep_semantics::wsl::environment::Semantic;
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::syntax::BuiltinSemantic;
use smallstep_semantics::wsl::types::{Scalar, Type};
use smallstep_semantics::wsl::typing::program::Program;

/// The number of other orders of the threads in which a draw must show the same.
const OTHER_ORDERS: u64 = 4;

/// The translated draw with its inputs.
pub(super) struct TranslatedDraw {
    /// The vertex stage, and the fragment stage.
    pub(super) modules: [Module; 2],
    bindings: Vec<Binding>,
    dispatch: DrawDispatch,
}

impl TranslatedDraw {
    /// The draw for an interpreter.
    pub(super) fn dispatch(&self) -> &DrawDispatch {
        &self.dispatch
    }

    /// The draw as a device takes it, and the places of its bindings there.
    ///
    /// # Errors
    /// The verdict, if the draw cannot be adapted.
    fn adapted(&self) -> Result<(DrawDispatch, Places), Verdict> {
        draw_for_wgpu(&self.dispatch).map_err(|e| unchecked(e.to_string()))
    }

    /// The draw for a device. If it cannot be adapted, it stays as it is, and the device
    /// refuses it.
    pub(super) fn for_device(&self) -> DrawDispatch {
        self.adapted().map_or_else(|_| self.dispatch.clone(), |(adapted, _)| adapted)
    }
}

/// The result of the target: bits of texels and depths, row after row from the top.
struct TargetResult {
    /// The words of each target, by location.
    targets: Vec<(u32, Vec<u32>)>,
    depth: Option<Vec<f32>>,
    /// Buffers and storage images.
    buffers: Vec<Buffer>,
}

/// The rules by which a result is judged.
struct Judge<'j> {
    precision: Option<Profile>,
    engine: Engine,
    /// Whether pixels are skipped at which devices may differ.
    on_device: bool,
    /// When WSL's relation runs.
    relation: RelationUse,
    draw: &'j Draw<'j>,
    translated: &'j TranslatedDraw,
}

/// The verdict on both interpreters, the counts of what was compared, and the translated draw if
/// there is one.
pub(super) fn judged(draw: &Draw, options: &Options, relation: RelationUse) -> (Verdict, Compared, Option<TranslatedDraw>) {
    match translated_draw(draw, options) {
        Ok(translated) => {
            let (mut verdict, compared) = judge_interpreters(draw, &translated, options, relation);
            if let Verdict::Disagree(difference) = &mut verdict {
                difference.blame = blame::in_draw(draw, &translated, options);
            }
            (verdict, compared, Some(translated))
        }
        Err(verdict) => (verdict, Compared::default(), None),
    }
}

/// The verdict on a device's result. `device` names it.
pub(super) fn on_device(draw: &Draw, outcome: &DeviceOutcome, options: &Options, device: &str, route: Route) -> (Verdict, Compared) {
    let none = Compared::default();
    let translated = match translated_draw(draw, options).and_then(|translated| Ok((translated.adapted()?, translated))) {
        Ok(translated) => translated,
        Err(verdict) => return (verdict, none),
    };
    let ((adapted, places), translated) = translated;
    let engine = Engine::Device(device.into());
    match outcome {
        DeviceOutcome::Rendered(result) if result.words_hash != adapted.words_hash() => {
            (unchecked("the device ran other words".into()), none)
        }
        DeviceOutcome::Rendered(result) => {
            let judge = Judge {
                precision: Some(options.profile),
                engine,
                on_device: true,
                relation: RelationUse::Open,
                draw,
                translated: &translated,
            };
            let (verdict, compared) = judge.allows(machine(draw), &target_result_of(&translated, &places, result));
            if matches!(verdict, Verdict::Disagree(_)) && depends_on_order(draw, &translated) {
                let why = "what the draw shows depends on the order of its atomic accesses, which is the device's to choose";
                return (unchecked(why.into()), none);
            }
            (verdict, compared)
        }
        other => (without_frame(other, Engine::SpirvMachine, engine, route), none),
    }
}

/// Whether the program shows something else in another order of its threads. Without atomic
/// functions it does not.
fn depends_on_order(draw: &Draw, translated: &TranslatedDraw) -> bool {
    if !translated.modules.iter().any(|m| m.rules.iter().any(|(rule, _)| *rule == Rule::CodegenAtomic)) {
        return false;
    }
    let shown_in = |schedule: Schedule| {
        let settings = Settings { strategy: Strategy::Carry, schedule: Some(schedule), fuel: FUEL.1, ways: 1, ..Settings::default() };
        match draw.run(&settings) {
            draw::Ending::Shown(shown) => Some((shown.targets, shown.depth, shown.buffers)),
            _ => None,
        }
    };
    let Some(in_order) = shown_in(Schedule::InOrder) else { return false };
    (0..OTHER_ORDERS).any(|seed| shown_in(Schedule::Random { seed }).is_some_and(|other| other != in_order))
}

fn target_result_of(translated: &TranslatedDraw, places: &Places, result: &DrawResult) -> TargetResult {
    let targets = translated.dispatch.targets.iter().zip(&result.targets).map(|(target, bytes)| (target.location, words(bytes)));
    let restored = |buffer: &Buffer| {
        let (set, binding) = places.original((buffer.set, buffer.binding)).unwrap_or((buffer.set, buffer.binding));
        Buffer { set, binding, bytes: buffer.bytes.clone() }
    };
    TargetResult {
        targets: targets.collect(),
        depth: result.depth.as_ref().map(|bytes| words(bytes).into_iter().map(f32::from_bits).collect()),
        buffers: result.buffers.iter().chain(&result.images).map(restored).collect(),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// The translated draw. The error is the verdict if the translation refuses the program or the draw
/// cannot be made.
pub(super) fn translated(draw: &Draw, options: &Options) -> Result<DrawDispatch, Verdict> {
    Ok(translated_draw(draw, options)?.dispatch)
}

/// The translation with its inputs. The error is the verdict if the translation refuses the program
/// or the draw cannot be made.
pub(super) fn translated_draw(draw: &Draw, options: &Options) -> Result<TranslatedDraw, Verdict> {
    let formats = formats(&draw.resources);
    let options = Options { formats: &formats, ..*options };
    let modules = translate_draw(draw.program, draw.vertex(), draw.fragment, &options).map_err(refused)?;
    let bound = Bound::of(&modules.bindings, &draw.resources).map_err(unchecked)?;
    let [width, height] = draw.size;
    let image = |format: Format, texel: &[u8]| {
        let mut image = Image::new(format, width, height, 1).map_err(|e| unchecked(e.to_string()))?;
        let bytes = texel.repeat(width as usize * height as usize);
        image.fill(0, &bytes).map_err(|e| unchecked(e.to_string()))?;
        Ok::<Image, Verdict>(image)
    };
    let targets = draw.fragment.outputs.iter().filter_map(|item| match item.semantic {
        Some((Semantic::Target(location), _)) => Some(location),
        _ => None,
    });
    let targets = targets.map(|location| Ok(ColourTarget { location, image: image(Format::Rgba32Sfloat, &[0; 16])? }));
    let targets = targets.collect::<Result<_, Verdict>>()?;
    let depth = match draw.depth {
        None => None,
        Some(compare) => Some(DepthAttachment { image: image(Format::D32Sfloat, &1f32.to_le_bytes())?, compare, writes: true }),
    };
    let is_constant = |item: &Item| matches!(item.semantic, Some((Semantic::Specialized, _)));
    // The SpecId of a specialization constant is its index among the inputs.
    let stage = |module: &Module, entry: Option<&EntryPoint>| {
        let words = match entry.filter(|entry| entry.inputs.iter().any(is_constant)) {
            None => module.words.clone(),
            Some(entry) => {
                let values = (0..).zip(&entry.inputs).filter_map(|(k, _)| {
                    let word = draw.specialization.word(entry, k)?;
                    Some(spirv::Specialization { id: k as u32, bits: word.into() })
                });
                spirv::specialize(&module.words, &values.collect::<Vec<_>>()).map_err(|e| unchecked(e.to_string()))?
            }
        };
        Ok::<Stage, Verdict>(Stage { words: words.into(), entry: module.entry.clone() })
    };
    let dispatch = DrawDispatch {
        vertex: stage(&modules.vertex, draw.vertex())?,
        fragment: stage(&modules.fragment, Some(draw.fragment))?,
        geometry: geometry(draw, &modules.vertex.taken).map_err(unchecked)?,
        buffers: bound.buffer_bindings(&modules.bindings),
        images: bound.image_bindings(&modules.bindings),
        samplers: bound.samplers,
        push_constants: Vec::new(),
        state: raster::State::of_size(width, height),
        targets,
        depth,
    };
    dispatch.check().map_err(|e| unchecked(e.0))?;
    Ok(TranslatedDraw { modules: [modules.vertex, modules.fragment], bindings: modules.bindings, dispatch })
}

/// The scalar type of a stage variable, and the number of elements in each of its columns.
fn shape(program: &Program, variable: &StageVariable) -> Option<(Scalar, usize)> {
    match program.env.types.get(variable.ty) {
        Type::Scalar(s) => Some((s, 1)),
        Type::Vector(s, n) | Type::Matrix(s, _, n) => Some((s, n.into())),
        _ => None,
    }
}

/// The vertices. For a screen they are the corners of the triangle that covers it, with their
/// screen positions.
fn geometry(draw: &Draw, variables: &[StageVariable]) -> Result<Geometry, String> {
    let (count, instances) = match &draw.vertices {
        Vertices::Shaded { count, instances, .. } => (*count, *instances),
        Vertices::Screen(_) => (3, 1),
    };
    let floats = |floats: &[f32]| floats.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    let mut attributes = Vec::new();
    for (k, variable) in variables.iter().enumerate() {
        let (scalar, rows) = shape(draw.program, variable).ok_or("an attribute that is no scalar, vector or matrix")?;
        let nothing = || format!("nothing is given for attribute({})", variable.number);
        let words: Vec<u32> = match &draw.vertices {
            Vertices::Shaded { attributes, .. } => {
                let attribute = attributes.iter().find(|a| a.number == variable.number).ok_or_else(nothing)?;
                attribute.words.clone()
            }
            Vertices::Screen(_) if k == 0 => over_screen().iter().flat_map(|(position, _)| floats(position)).collect(),
            Vertices::Screen(inputs) => match inputs.iter().find(|(n, _)| *n == variable.number).ok_or_else(nothing)? {
                (_, draw::StageInSource::Place) => over_screen().iter().flat_map(|(_, place)| floats(place)).collect(),
                (_, draw::StageInSource::Constant(data)) => data.words.repeat(3),
            },
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let formats = match scalar {
            Scalar::Float => [Format::R32Sfloat, Format::Rg32Sfloat, Format::Rgb32Sfloat, Format::Rgba32Sfloat],
            Scalar::Int => [Format::R32Sint, Format::Rg32Sint, Format::Rgb32Sint, Format::Rgba32Sint],
            Scalar::Uint | Scalar::Bool => [Format::R32Uint, Format::Rg32Uint, Format::Rgb32Uint, Format::Rgba32Uint],
        };
        let format = *formats.get(rows - 1).ok_or("a column of more than four elements")?;
        for column in 0..variable.columns {
            attributes.push(Attribute {
                location: variable.location + column,
                format,
                rate: Rate::Vertex,
                offset: u64::from(column) * 4 * rows as u64,
                stride: u64::from(variable.columns) * 4 * rows as u64,
                bytes: bytes.clone(),
            });
        }
    }
    Ok(Geometry { instances, attributes, ..Geometry::of_count(Topology::List, count) })
}

/// The program on its machine, up to the first unspecified value.
fn machine(draw: &Draw) -> Source<Shown> {
    let unknown = |why: &str| Source::Unknown(unchecked(why.into()));
    let compile = |entry: &EntryPoint| Compiled::new(draw.program, entry.function).ok();
    let Some(fragment) = compile(draw.fragment) else { return unknown("the machine refuses the fragment stage") };
    let vertex = match draw.vertex().map(compile) {
        Some(None) => return unknown("the machine refuses the vertex stage"),
        Some(vertex) => vertex,
        None => None,
    };
    let settings = Settings { strategy: Strategy::Carry, fuel: FUEL.0, ways: 1, ..Settings::default() };
    Source::of(draw.run_fast((vertex.as_ref(), &fragment), &settings), Engine::WslMachine, shown)
}

/// The program by its relation, along so many ways.
fn relation(draw: &Draw, precision: Option<Profile>, ways: usize) -> Source<Shown> {
    let settings = Settings { strategy: Strategy::Carry, precision, fuel: FUEL.1, ways, ..Settings::default() };
    Source::of(draw.run(&settings), Engine::WslRelation, shown)
}

fn shown(shown: Shown) -> Source<Shown> {
    Source::Shown { open: shown.unspecified, complete: shown.complete, races: !shown.races.is_empty(), shown }
}

impl Judge<'_> {
    /// Compares the whole result. Returns the counts of what was compared, or the first value that
    /// is not allowed.
    fn compared(&self, shown: &Shown, target_result: &TargetResult) -> Result<Compared, Wrong> {
        let mut compared = Compared { open: shown.unspecified, ..Compared::default() };
        let width = self.draw.size[0].max(1) as usize;
        let doubted = |pixel: usize| shown.targets.iter().any(|t| t.in_doubt.get(pixel) == Some(&true));
        let at = |pixel: usize| {
            let doubt = if doubted(pixel) { ", which devices may see otherwise," } else { "" };
            format!("pixel ({}, {}){doubt}", pixel % width, pixel / width)
        };
        // If a fragment's coverage is unspecified, its presence is too.
        let covers = |item: &Item| matches!(item.semantic, Some((Semantic::Builtin(BuiltinSemantic::Coverage), _)));
        let may_differ = self.on_device || shown.moved || shown.unspecified && self.draw.fragment.outputs.iter().any(covers);
        for target in &shown.targets {
            let Some((_, words)) = target_result.targets.iter().find(|(location, _)| *location == target.number) else {
                return Err(format!("target {} is not shown", target.number).as_str().into());
            };
            if words.len() != 4 * target.texels.len() {
                return Err(format!("target {} has another size", target.number).as_str().into());
            }
            for (pixel, (texel, words)) in target.texels.iter().zip(words.chunks_exact(4)).enumerate() {
                if may_differ && doubted(pixel) {
                    compared.lanes.undecided += 4;
                    continue;
                }
                for (c, (possible, &word)) in texel.iter().zip(words).enumerate() {
                    if !is_allowed(possible, Scalar::Float, word) {
                        let place = format!("component {c} of target {} at {}", target.number, at(pixel));
                        return Err(Wrong::at(&place, possible, Scalar::Float, word));
                    }
                    compared.count(possible);
                }
            }
        }
        match (&shown.depth, &target_result.depth) {
            (Some(allowed), Some(depths)) if allowed.len() == depths.len() => {
                for (pixel, (allowed, &depth)) in allowed.iter().zip(depths).enumerate() {
                    if may_differ && doubted(pixel) {
                        compared.lanes.undecided += 1;
                        continue;
                    }
                    let (value, within) = (f64::from(depth), allowed.allowed);
                    if !(within.low <= value && value <= within.high) {
                        let what =
                            format!("the depth at {} is {depth:?} and the source allows {} to {}", at(pixel), within.low, within.high);
                        return Err(what.as_str().into());
                    }
                    compared.lanes.checked += 1;
                }
            }
            (None, _) => {}
            _ => return Err("there are other depths than the source has".into()),
        }
        let bytes = |set, binding| target_result.buffers.iter().find(|b| (b.set, b.binding) == (set, binding)).map(|b| b.bytes.as_slice());
        if (self.on_device || shown.moved) && shown.in_doubt {
            // A fragment whose presence is uncertain stores in the buffers.
            compared.lanes.undecided += target_result.buffers.iter().map(|b| b.bytes.len() as u64 / 4).sum::<u64>();
            return Ok(compared);
        }
        compared += compare(self.draw.program, &self.draw.resources, &self.translated.bindings, &shown.buffers, &bytes)?;
        Ok(compared)
    }

    /// Whether the source allows what the target shows.
    fn allows(&self, source: Source<Shown>, target_result: &TargetResult) -> (Verdict, Compared) {
        let relation = |precision, ways| relation(self.draw, precision, ways);
        allows(source, relation, (self.precision, self.relation), &self.engine, |shown| self.compared(shown, target_result))
    }
}

fn judge_interpreters(draw: &Draw, translated: &TranslatedDraw, options: &Options, relation_use: RelationUse) -> (Verdict, Compared) {
    let (none, engine) = (Compared::default(), Engine::SpirvMachine);
    let wrong = |what: String| disagree(Engine::WslRelation, engine.clone(), what);
    let source = machine(draw);
    let target = target(&translated.dispatch, &source, relation_use);
    if let Ok((_, Some(what))) = &target {
        let what = format!("the relation shows another one: {what}");
        return (disagree(Engine::SpirvRelation, engine, what), none);
    }
    let picture = match target.map(|(outcome, _)| outcome) {
        Err(LoadError::Limit(limit)) => return (unchecked(format!("the target: {limit}")), none),
        Err(error) => return (disagree(Engine::Translation, Engine::Module, format!("a module is not valid: {error}")), none),
        Ok(Outcome::Observed(shown)) => shown,
        Ok(Outcome::Undefined(undefined)) => {
            let what = format!("{}: {}", undefined.ub.id(), undefined.what);
            let verdict = match (undefined.ub, relation(draw, None, WAYS)) {
                (Ub::DataRace, Source::Shown { races: true, .. }) => Verdict::Undefined(what),
                (_, Source::Unknown(stuck @ Verdict::Disagree(_))) => stuck,
                (Ub::DataRace, other @ (Source::Unknown(_) | Source::Endless | Source::Diverged)) => other.unknown(),
                // A derivative that not all threads of a quad come to decides it.
                (Ub::BranchOnUndefined | Ub::AddressOnUndefined | Ub::UndefinedOperand, Source::Shown { shown, .. })
                    if !shown.apart.is_empty() =>
                {
                    Verdict::Undefined(what)
                }
                _ => wrong(format!("the modules have undefined behaviour: {what} at {}", undefined.at)),
            };
            return (verdict, Compared { by_relation: true, ..none });
        }
        Ok(Outcome::OutOfFuel) if matches!(source, Source::Endless) => return (unchecked(BOTH_OUT_OF_FUEL.into()), none),
        Ok(Outcome::OutOfFuel) => return (unchecked("the target does not end within its fuel".into()), none),
        Ok(Outcome::Diverges(why) | Outcome::Unsupported(why)) => return (wrong(format!("the modules: {why}")), none),
        Ok(Outcome::Stuck(stuck)) => {
            let what = format!("a module is stuck at {}: {}", stuck.at, stuck.why);
            return (disagree(Engine::Module, engine, what), none);
        }
        Ok(other) => return (unchecked(format!("the target: {}", other.name())), none),
    };
    let mut target_result = TargetResult { targets: Vec::new(), depth: None, buffers: Vec::new() };
    let [width, height] = draw.size;
    for target in &picture.targets {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let all = pixels.flat_map(|(x, y)| (0..4).map(move |c| (x, y, c)));
        if let Some(origin) = all.into_iter().find_map(|(x, y, c)| target.undefined(x, y, c)) {
            return (shows_undefined(draw, origin.kind.id(), wrong), none);
        }
        target_result.targets.push((target.location, words(target.image.bytes(0).unwrap_or_default())));
    }
    target_result.depth = picture.depth.map(|depths| depths.into_iter().map(|depth| depth as f32).collect());
    for buffer in picture.buffers {
        if let Some(undefined) = buffer.undefined.first() {
            return (shows_undefined(draw, undefined.kind, wrong), none);
        }
        target_result.buffers.push(Buffer { set: buffer.set, binding: buffer.binding, bytes: buffer.bytes });
    }
    for image in picture.images {
        if let Some(undefined) = image.undefined.first() {
            return (shows_undefined(draw, undefined.kind, wrong), none);
        }
        target_result.buffers.push(Buffer { set: image.set, binding: image.binding, bytes: image.bytes });
    }
    // The profile counts only if the modules approximate results that are definite in WSL.
    let approximates = translated.modules.iter().any(|m| m.rules.iter().any(|(row, _)| *row == Rule::CodegenApproximate));
    let precision = approximates.then_some(options.profile);
    Judge { precision, engine, on_device: false, relation: relation_use, draw, translated }.allows(source, &target_result)
}

/// The verdict if the modules show an undefined value. It is excused only for a derivative that not
/// all threads of a quad reach, and only if the source reports that too.
fn shows_undefined(draw: &Draw, kind: &str, wrong: impl FnOnce(String) -> Verdict) -> Verdict {
    let what = format!("the modules show an undefined value: {kind}");
    if kind != Unspecified::DivergentDerivative.id() {
        return wrong(what);
    }
    match relation(draw, None, WAYS) {
        Source::Shown { shown, .. } if !shown.apart.is_empty() => Verdict::Undefined(what),
        Source::Shown { .. } => wrong(what),
        other => other.unknown(),
    }
}

/// Runs the modules. They have more fuel where the source ends, and less where it does not within
/// its own. `relation`: SPIR-V's relation runs beside the machine, if there are images; then also
/// in what it shows something else.
fn target(dispatch: &DrawDispatch, source: &Source<Shown>, relation: RelationUse) -> Result<(Outcome<Picture>, Option<String>), LoadError> {
    let stages = Stages::new(dispatch)?;
    let run = |fuel| stages.definite(dispatch, fuel);
    let first = if matches!(source, Source::Endless) { FUEL.0 } else { FUEL.2 };
    let outcome = match run(first)? {
        Outcome::OutOfFuel if matches!(source, Source::Shown { .. }) => match run(LARGE_FUEL)? {
            Outcome::OutOfFuel => Outcome::Diverges(format!("they do not end within {LARGE_FUEL} instructions, and the source ends")),
            other => other,
        },
        other => other,
    };
    let differs = match (&outcome, &stages.fragment_program) {
        (Outcome::Observed(shown), Some(_)) if relation != RelationUse::Open => {
            let contents = dispatch.contents();
            draw_differs(&stages.vertex, &stages.fragment, &contents.lend(dispatch, Limits::of_fuel(FUEL.1)), shown)?
        }
        _ => None,
    };
    Ok((outcome, differs))
}

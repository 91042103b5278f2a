//! The results of compiled modules for a dispatch. A compiler followed by the interpreters takes
//! the place of a device, and the results are judged like a device's.

use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{State, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Observation, Rate};
use smallstep_semantics::spirv::{Buffer, LoadError, Module, Options, assemble, bytes_of_words};

use super::{Compiler, Status};
use crate::compute::{ComputeModule, passing};
use crate::dispatch::{
    BufferBinding, BufferKind, ComputeDispatch, ComputeResult, Dispatch, DrawDispatch, DrawResult, FragmentDispatch, Frame, Geometry, Stage,
};
use crate::gpu::DeviceOutcome;
use crate::theorem::refine::draws::Stages;
use crate::theorem::refine::{Input, Settings, Side, interface};
use crate::theorem::{Difference, Engine};

/// The most instructions of a run of compiled modules.
const FUEL: u64 = 1 << 25;

/// Why compiled modules show nothing: the status of the compiler, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotShown {
    /// The status of the compiler. It is never [`Status::Agrees`], since nothing is shown.
    pub status: Status,
    /// The compiler's message, or why nothing can be compared. Reports group by it.
    pub cause: String,
}

impl NotShown {
    fn of(status: Status, cause: impl Into<String>) -> NotShown {
        NotShown { status, cause: cause.into() }
    }

    /// The verdict of the theorem on a program, with the compiler as the judged engine.
    pub fn on_program(self, compiler: &Compiler) -> crate::theorem::Verdict {
        use crate::theorem::Verdict;
        let NotShown { status, cause } = self;
        match status {
            Status::Refuses => Verdict::Refused(cause),
            Status::Crashes | Status::TimesOut => Verdict::Failed(cause),
            Status::Miscompiles | Status::Invalid => {
                let what = if status == Status::Invalid { format!("{}: {cause}", status.name()) } else { cause };
                Difference::of(Engine::SpirvMachine, Engine::Device(compiler.name().into()), what)
            }
            Status::Undecided => Verdict::Undecided(cause),
            Status::Vacuous => Verdict::Vacuous(cause),
            Status::Agrees | Status::Unchecked => Verdict::Unchecked(cause),
        }
    }
}

impl std::fmt::Display for NotShown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.status.name(), self.cause)
    }
}

impl std::error::Error for NotShown {}

type Shown = Result<DeviceOutcome, NotShown>;

/// The results of a dispatch's modules after a compiler has rewritten them.
///
/// # Errors
/// They show nothing definite. The compiler gives no module, or an invalid one, or one with another
/// interface, undefined behaviour or undefined values. Or an engine does not run it.
pub fn shown(compiler: &Compiler, dispatch: &Dispatch) -> Shown {
    match dispatch {
        Dispatch::Compute(dispatch) => computed(compiler, dispatch),
        Dispatch::Draw(dispatch) => drawn(compiler, dispatch),
        Dispatch::Fragment(dispatch) => fragment(compiler, dispatch),
    }
}

/// The profile that modules declare for a compiler. Naga refuses float controls.
pub fn profile(compiler: &Compiler) -> Profile {
    if compiler.is_naga() { Profile::Wgsl } else { Profile::Strict }
}

fn compiled(compiler: &Compiler, words: &[u32]) -> Result<Vec<u32>, NotShown> {
    let wrong = |(status, cause)| NotShown { status, cause };
    compiler.run(words).map(|compiled| compiled.named).map_err(|why| wrong(why.judged()))
}

fn loaded(words: &[u32]) -> Result<Module, NotShown> {
    Module::load(words).map_err(not_loaded)
}

fn not_loaded(error: LoadError) -> NotShown {
    match error {
        LoadError::Unsupported { what, .. } => NotShown::of(Status::Unchecked, format!("unsupported: {what}")),
        LoadError::Limit(limit) => NotShown::of(Status::Unchecked, limit.to_string()),
        other => NotShown::of(Status::Invalid, other.to_string()),
    }
}

/// Why a run that ended without an observation shows nothing.
fn ended<O>(outcome: &Outcome<O>) -> NotShown {
    match outcome {
        Outcome::Undefined(undefined) => {
            let what = format!("what it writes has undefined behaviour: {}: {}", undefined.ub.id(), undefined.what);
            NotShown::of(Status::Miscompiles, what)
        }
        Outcome::Stuck(stuck) => NotShown::of(Status::Miscompiles, format!("what it writes is stuck at {}: {}", stuck.at, stuck.why)),
        Outcome::Unsupported(what) => NotShown::of(Status::Unchecked, format!("unsupported: {what}")),
        other => NotShown::of(Status::Unchecked, format!("what it writes: {}", other.name())),
    }
}

fn another_interface(what: impl std::fmt::Display) -> NotShown {
    NotShown::of(Status::Miscompiles, format!("another interface: {what}"))
}

/// Fails if a result has an undefined value. The iterator has the kinds of its undefined values.
fn definite(mut kinds: impl Iterator<Item = &'static str>) -> Result<(), NotShown> {
    match kinds.next() {
        Some(kind) => Err(NotShown::of(Status::Miscompiles, format!("what it writes shows an undefined value: {kind}"))),
        None => Ok(()),
    }
}

fn computed(compiler: &Compiler, dispatch: &ComputeDispatch) -> Shown {
    let written = compiled(compiler, &dispatch.words)?;
    let side = |name: &str, module: Module| {
        let module = ComputeModule::new(module, Some(&dispatch.entry)).map_err(another_interface)?;
        Ok::<Side, NotShown>(Side::new(name, module, None))
    };
    let after = side("what the compiler writes", loaded(&written)?)?;
    let before = side("the module", loaded(&dispatch.words)?)?;
    interface::check(&before, &after).map_err(another_interface)?;
    let input = Input::from(dispatch);
    let outcome = after.run(&input, &Settings::default(), FUEL, None);
    let Some(Observation { buffers, images, .. }) = outcome.observed() else { return Err(ended(&outcome)) };
    definite(buffers.iter().flat_map(|b| &b.undefined).map(|u| u.kind))?;
    definite(images.iter().flat_map(|i| &i.undefined).map(|u| u.kind))?;
    Ok(DeviceOutcome::Computed(ComputeResult {
        words_hash: dispatch.words_hash(),
        buffers: buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect(),
        images: images.iter().map(|i| Buffer { set: i.set, binding: i.binding, bytes: i.bytes.clone() }).collect(),
    }))
}

fn drawn(compiler: &Compiler, dispatch: &DrawDispatch) -> Shown {
    let stage = |stage: &Stage| {
        let words = compiled(compiler, &stage.words)?;
        match loaded(&words)?.entry_point(&stage.entry) {
            Ok(_) => Ok(Stage { words: words.into(), entry: stage.entry.clone() }),
            Err(e) => Err(another_interface(e)),
        }
    };
    let after = DrawDispatch { vertex: stage(&dispatch.vertex)?, fragment: stage(&dispatch.fragment)?, ..dispatch.clone() };
    let stages = Stages::new(&after).map_err(not_loaded)?;
    let outcome = stages.definite(&after, FUEL).map_err(not_loaded)?;
    let Some(picture) = outcome.observed() else { return Err(ended(&outcome)) };
    definite(picture.buffers.iter().flat_map(|b| &b.undefined).map(|u| u.kind))?;
    definite(picture.images.iter().flat_map(|i| &i.undefined).map(|u| u.kind))?;
    for target in &picture.targets {
        let [width, height] = target.image.size(0).unwrap_or_default();
        let components = (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..4).map(move |c| (x, y, c))));
        definite(components.filter_map(|(x, y, c)| target.undefined(x, y, c)).map(|origin| origin.kind.id()))?;
    }
    let texels = |target: &smallstep_semantics::spirv::draw::DefiniteTarget| target.image.bytes(0).unwrap_or_default().to_vec();
    let depth = |depths: &Vec<f64>| depths.iter().flat_map(|&depth| (depth as f32).to_le_bytes()).collect();
    Ok(DeviceOutcome::Rendered(DrawResult {
        words_hash: dispatch.words_hash(),
        targets: picture.targets.iter().map(texels).collect(),
        depth: picture.depth.as_ref().map(depth),
        buffers: picture.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect(),
        images: picture.images.iter().map(|i| Buffer { set: i.set, binding: i.binding, bytes: i.bytes.clone() }).collect(),
    }))
}

/// The stage is drawn over all pixels, after a vertex stage that was not compiled.
fn fragment(compiler: &Compiler, dispatch: &FragmentDispatch) -> Shown {
    let words = compiled(compiler, &dispatch.words)?;
    loaded(&words)?.entry_point(&dispatch.entry).map_err(another_interface)?;
    let not_run = |what: String| NotShown::of(Status::Unchecked, what);
    let vertex = assemble(&passing::vertex(&[], true), Options::default()).map_err(|e| not_run(e.what))?;
    let (width, height) = (dispatch.width, dispatch.height);
    let corners = [[-1f32, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];
    let bytes = corners.into_iter().flatten().flat_map(f32::to_le_bytes).collect();
    let corner = Attribute { location: 0, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes };
    let target = |location: u32| {
        let mut image = Image::new(Format::Rgba32Sfloat, width, height, 1).map_err(|e| not_run(e.to_string()))?;
        image.fill(0, &vec![0; 16 * (width * height) as usize]).map_err(|e| not_run(e.to_string()))?;
        Ok::<ColourTarget, NotShown>(ColourTarget { location, image })
    };
    let constants = BufferBinding { set: 0, binding: 0, kind: BufferKind::ReadOnly, bytes: bytes_of_words(&dispatch.constants) };
    let draw = DrawDispatch {
        vertex: Stage { words: vertex.into(), entry: "main".into() },
        fragment: Stage { words: words.into(), entry: dispatch.entry.clone() },
        geometry: Geometry { attributes: vec![corner], ..Geometry::of_count(Topology::List, 3) },
        buffers: if dispatch.constants.is_empty() { Vec::new() } else { vec![constants] },
        images: Vec::new(),
        samplers: Vec::new(),
        push_constants: Vec::new(),
        state: State::of_size(width, height),
        targets: dispatch.outputs.iter().map(|output| target(output.location)).collect::<Result<_, _>>()?,
        depth: None,
    };
    let stages = Stages::new(&draw).map_err(not_loaded)?;
    let outcome = stages.definite(&draw, FUEL).map_err(not_loaded)?;
    let Some(picture) = outcome.observed() else { return Err(ended(&outcome)) };
    let mut images = Vec::new();
    for output in &dispatch.outputs {
        let target = picture.targets.iter().find(|target| target.location == output.location);
        let target =
            target.ok_or_else(|| another_interface(format!("nothing is written to the output at location {}", output.location)))?;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let components = pixels.flat_map(|(x, y)| (0..output.components as usize).map(move |c| (x, y, c)));
        definite(components.filter_map(|(x, y, c)| target.undefined(x, y, c)).map(|origin| origin.kind.id()))?;
        let bytes = target.image.bytes(0).unwrap_or_default();
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        images.push(words.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect());
    }
    Ok(DeviceOutcome::Drawn(Frame { words_hash: dispatch.words_hash(), images }))
}

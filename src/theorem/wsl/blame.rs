//! Blame: the first expression of a program that the compiled module computes differently.
//!
//! WSL's relation reports each expression that becomes a value, and SPIR-V's each result id that
//! gets one. The compiler's witness relates ids to expressions. As long as both engines compute the
//! same, they run the threads of a dispatch alike. So the n-th value of an expression in a thread
//! corresponds to the n-th on the other side. The first difference, in the order of the SPIR-V
//! relation, is to blame, since its operands were right.
//!
//! Values with an unspecified part are skipped. The vertices of a draw count as threads, and so do
//! the fragments of its quads, including helpers. Both engines shade the same vertices and quads in
//! the same order.
//!
//! A device shows no intermediate values. The pass [`compile::probe`](crate::compile::probe) makes
//! a module in which each invocation also shows one of its values. One dispatch thus shows one
//! value of all threads. The search asks for values in the order of the SPIR-V relation, and blames
//! the first that no device may have. With atomic accesses it asks only for values that are the
//! same in several orders of the threads. Vertices show their values in a buffer. Fragments show
//! them in another attachment, where a pixel has the value of its last fragment, or none if the
//! device keeps no fragment. Draws with atomic accesses are not searched.

use super::case::Case;
use super::compare::{is_allowed, result_leaves};
use super::draw;
use super::source::FUEL;
use super::subject::{Subject, TargetInputs};
use crate::compile::draw_for_wgpu;
use crate::compile::probe::{self as pass, Invocations, Probe, Shown};
use crate::compile::wsl::{Options, Witness};
use crate::dispatch::{BufferBinding, BufferKind, Dispatch, DrawDispatch, DrawResult, ImageBinding, SamplerBinding, words_hash};
use crate::gpu::{DeviceOutcome, Route};
use crate::theorem::blame::{Blame, instruction_text};
use crate::theorem::dispatches::required::RequiredResult;
use crate::theorem::probe::Unblamed;
use crate::theorem::refine::draws::{DrawPart, Stages, includes};
use crate::theorem::{expected_text, float_text};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::number::{Expected, Profile, sets};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::draw::Picture;
use smallstep_semantics::spirv::environment::{self, ColourTarget, Limits, Observation, ObservedBuffer, Resources};
use smallstep_semantics::spirv::{self, Event, LoadError, Relation, grid, is_atomic, operation};
use smallstep_semantics::text::Span;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::Draw;
use smallstep_semantics::wsl::group::OnStep;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::syntax::Fix;
use smallstep_semantics::wsl::types::{Scalar, TypeId};
use smallstep_semantics::wsl::typing::program::{Access, ExprId, Form, Program};

/// The most values of each side.
const MAX_VALUES: usize = 1 << 18;
/// The number of other orders in which a value must be the same, for the search on a device.
const OTHER_ORDERS: u64 = 4;
/// The most dispatches of one search.
const MAX_DISPATCHES: u32 = 256;
/// The executions of each instruction that the search asks for if there are too many: the first so
/// many.
const FEW: u32 = 4;
/// The bits that a thread shows if it has not computed the value. They are an unlikely float, and
/// no NaN, which WGSL has no constant for.
const MARKER: u32 = 0x75a5_5a5a;
/// The most characters of an expression in a message.
const MAX_EXPRESSION: usize = 200;

/// The values of expressions in order, by thread, place in the text and type.
type Values = FxHashMap<(u32, Span, TypeId), Vec<Words>>;

/// A value that the module computes.
struct Computed<'w> {
    witness: &'w Witness,
    ty: TypeId,
    thread: u32,
    /// Its number among the values of its expression, from 0.
    occurrence: usize,
    /// Its number among the executions of its instruction, from 0.
    executed: u32,
    step: u64,
    bits: Vec<u32>,
    instruction: String,
}

impl Computed<'_> {
    fn blame(&self, text: &str, (expected, found): (String, String), dispatches: u32) -> Blame {
        Blame {
            expression: expression(text, self.witness.span),
            span: self.witness.span,
            id: self.witness.id,
            rule: self.witness.rule,
            instruction: self.instruction.clone(),
            step: self.step,
            occurrence: u64::from(self.executed),
            dispatches,
            expected,
            found,
        }
    }
}

/// Records the values of expressions that the SPIR-V relation computes, in order.
struct Recorder<'w> {
    module: &'w spirv::Module,
    by_id: FxHashMap<u32, (&'w Witness, TypeId)>,
    counts: FxHashMap<(u32, Span, TypeId), usize>,
    executions: FxHashMap<(u32, u32), u32>,
    computed: Vec<Computed<'w>>,
}

impl<'w> Recorder<'w> {
    fn new(module: &'w spirv::Module, witnesses: &'w [Witness]) -> Recorder<'w> {
        let mut by_id: FxHashMap<u32, (&Witness, TypeId)> = FxHashMap::default();
        for witness in witnesses {
            if let Some(ty) = witness.ty {
                // Of several expressions with one id, the innermost comes first and is the most
                // precise.
                by_id.entry(witness.id).or_insert((witness, ty));
            }
        }
        Recorder { module, by_id, counts: FxHashMap::default(), executions: FxHashMap::default(), computed: Vec::new() }
    }

    /// Whether an event is of this module.
    fn is_of(&self, event: &Event<'_, '_>) -> bool {
        self.module.instructions().as_ptr_range().contains(&std::ptr::from_ref(event.instruction))
    }

    /// Records a step of a thread.
    fn record(&mut self, event: &Event<'_, '_>, thread: u32) {
        let id = event.instruction.result;
        let (Some(&(witness, ty)), Some(spirv::memory::Value::Scalars(scalars))) = (self.by_id.get(&id), event.value) else { return };
        if self.computed.len() >= MAX_VALUES {
            return;
        }
        let count = self.counts.entry((thread, witness.span, ty)).or_default();
        let execution = self.executions.entry((thread, id)).or_default();
        let (occurrence, executed) = (*count, *execution);
        *count += 1;
        *execution += 1;
        let bits = scalars.iter().map(|scalar| scalar.lane().bits).collect();
        let instruction = instruction_text(self.module, event.instruction);
        self.computed.push(Computed { witness, ty, thread, occurrence, executed, step: event.step, bits, instruction });
    }
}

/// The values of a dispatch in an order of its threads, up to its end, and what it shows.
fn computed<'w>(
    inputs: &'w TargetInputs,
    module: &'w spirv::Module,
    threads: u32,
    order: &Schedule,
) -> (Vec<Computed<'w>>, Option<Observation>) {
    let mut recorder = Recorder::new(module, &inputs.module().witness);
    let mut sink = |event: &Event<'_, '_>| recorder.record(event, event.invocation.workgroup * threads + event.invocation.local);
    let ended = grid::run(module, &inputs.environment(FUEL.2), order, &Relation::default(), &mut sink);
    let shown = match ended {
        Ok(Outcome::Observed(shown)) => Some(shown),
        _ => None,
    };
    (recorder.computed, shown)
}

/// The first expression with another value by the SPIR-V relation than by WSL's. `None` if all
/// values agree, so that a store is wrong.
pub(super) fn in_semantics(subject: &Subject, inputs: &TargetInputs, options: &Options) -> Option<Blame> {
    let witnessed = subject.target_inputs(&Options { witness: true, ..*options }).ok()?;
    if words_hash(&witnessed.module().words) != words_hash(&inputs.module().words) {
        return None;
    }
    let expected = expected(subject.program(), &mut |on| subject.trace(on));
    let module = spirv::Module::load(&witnessed.module().words).ok()?;
    let computed = computed(&witnessed, &module, subject.threads_per_group(), &Schedule::InOrder).0;
    first_wrong(subject.program(), subject.text(), &expected, &computed)
}

/// The same for a draw: a vertex if one differs, or else a fragment.
pub(super) fn in_draw(draw: &Draw, translated: &draw::TranslatedDraw, options: &Options) -> Option<Blame> {
    let witnessed = draw::translated_draw(draw, &Options { witness: true, ..*options }).ok()?;
    let dispatch = witnessed.dispatch();
    if dispatch.words_hash() != translated.dispatch().words_hash() {
        return None;
    }
    let settings = Settings { strategy: Strategy::Carry, fuel: FUEL.1, ways: 1, races: false, ..Settings::default() };
    // The run may end early. What it has shown until then is right.
    let expected = expected(draw.program, &mut |on| _ = draw.trace(&settings, on));
    let [vertex, fragment] = [&dispatch.vertex, &dispatch.fragment].map(|stage| spirv::Module::load(&stage.words).ok());
    let (vertex, fragment) = (vertex?, fragment?);
    let [vertices, fragments] = recorded(&witnessed, [&vertex, &fragment], draw.vertex_threads()).ok()?;
    let blame_of = |computed: &[Computed]| first_wrong(draw.program, draw.text, &expected, computed);
    blame_of(&vertices.computed).or_else(|| blame_of(&fragments.computed))
}

/// The values of a draw's vertices, and of its fragments, which are threads from that number on.
fn recorded<'w>(translated: &'w draw::TranslatedDraw, modules: [&'w spirv::Module; 2], first: u32) -> Result<[Recorder<'w>; 2], LoadError> {
    let dispatch = translated.dispatch();
    let [vertex, fragment] = modules;
    let [mut vertices, mut fragments] = [0, 1].map(|stage| Recorder::new(modules[stage], &translated.modules[stage].witness));
    let mut sink = |event: &Event<'_, '_>| {
        let spirv::environment::InvocationId { workgroup, local } = event.invocation;
        match vertices.is_of(event) {
            true => vertices.record(event, workgroup),
            false => fragments.record(event, first + 4 * workgroup + local),
        }
    };
    let contents = dispatch.contents();
    let lent = contents.lend(dispatch, Limits::of_fuel(FUEL.2));
    let (rules, order) = (raster::Rules::default(), Schedule::InOrder);
    spirv::draw::run_by(vertex, fragment, &lent, &Relation::default(), &rules, &order, &mut sink)?;
    Ok([vertices, fragments])
}

/// The first unexpected value.
fn first_wrong(program: &Program, text: &str, expected: &Values, computed: &[Computed]) -> Option<Blame> {
    let mut layouts = Layouts::default();
    computed.iter().find_map(|c| {
        let words = expected.get(&(c.thread, c.witness.span, c.ty))?.get(c.occurrence)?;
        let leaves = result_leaves(program, &mut layouts, c.ty)?;
        let scalars = leaves.iter().map(|&(at, scalar)| match words.get(at) {
            Some(&Word::Bits(bits)) => Some((bits, scalar)),
            _ => None,
        });
        let scalars: Vec<(u32, Scalar)> = scalars.collect::<Option<_>>()?;
        let differs = scalars.len() == c.bits.len()
            && scalars.iter().zip(&c.bits).any(|(&(bits, scalar), &found)| !is_allowed(&Possible::Values(vec![bits]), scalar, found));
        let found = c.bits.iter().zip(&scalars).map(|(&bits, &(_, scalar))| (bits, scalar));
        differs.then(|| c.blame(text, (value_text(scalars.iter().copied()), value_text(found)), 0))
    })
}

/// The executions of instructions, by id and number, whose value in some thread depends on the
/// order of the threads.
fn order_dependent(inputs: &TargetInputs, module: &spirv::Module, threads: u32, computed: &[Computed]) -> FxHashSet<(u32, u32)> {
    let values = |computed: &[Computed]| -> FxHashMap<(u32, u32, u32), Vec<u32>> {
        computed.iter().map(|c| ((c.thread, c.witness.id, c.executed), c.bits.clone())).collect()
    };
    let (in_order, mut order_dependent) = (values(computed), FxHashSet::default());
    for seed in 0..OTHER_ORDERS {
        let other = values(&self::computed(inputs, module, threads, &Schedule::Random { seed }).0);
        let differ = |one: &FxHashMap<_, Vec<u32>>, two: &FxHashMap<_, Vec<u32>>, all: &mut FxHashSet<(u32, u32)>| {
            all.extend(one.iter().filter(|(key, bits)| two.get(*key) != Some(*bits)).map(|(&(_, id, executed), _)| (id, executed)));
        };
        differ(&in_order, &other, &mut order_dependent);
        differ(&other, &in_order, &mut order_dependent);
    }
    order_dependent
}

/// Runs dispatches: a device, or a test's stand-in.
pub(super) type Runs<'d> = &'d mut dyn FnMut(Dispatch) -> DeviceOutcome;

/// The expected and the found value, if a device shows one that it may not.
type Answer = Result<Option<(String, String)>, String>;

fn unknown(why: String, dispatches: u32) -> Unblamed {
    Unblamed::Unknown { why, dispatches }
}

/// The first expression that a device, reached by a route, computes differently.
///
/// # Errors
/// Why no expression is named.
pub(super) fn on_device(case: &Case, options: &Options, route: Route, run: Runs) -> Result<Blame, Unblamed> {
    match case {
        Case::Computed(subject) => of_computed(subject, options, route, run),
        Case::Drawn(draw) => of_drawn(draw, options, route, run),
    }
}

/// By execution of an instruction: the value of the first thread. If there are too many executions,
/// of a few only.
fn questions<'c, 'w>(computed: &'c [Computed<'w>], mut seen: FxHashSet<(u32, u32)>) -> Vec<&'c Computed<'w>> {
    let mut questions: Vec<&Computed> = computed.iter().filter(|c| seen.insert((c.witness.id, c.executed))).collect();
    if questions.len() > MAX_DISPATCHES as usize {
        questions.retain(|c| c.executed < FEW);
    }
    questions
}

/// Asks for the values column by column and blames the first wrong one. `None` if all are right.
/// Adds to `dispatches`.
fn search(
    (questions, module): (&[&Computed], &spirv::Module),
    text: &str,
    dispatches: &mut u32,
    ask: &mut dyn FnMut(&Computed, u32) -> Answer,
) -> Result<Option<Blame>, Unblamed> {
    for question in questions {
        for column in 0..u32::from(module.shape(question.witness.id).columns) {
            if *dispatches >= MAX_DISPATCHES {
                return Err(unknown(format!("the device was asked {MAX_DISPATCHES} times"), *dispatches));
            }
            *dispatches += 1;
            if let Some(wrong) = ask(question, column).map_err(|why| unknown(why, *dispatches))? {
                return Ok(Some(question.blame(text, wrong, *dispatches)));
            }
        }
    }
    Ok(None)
}

fn of_computed(subject: &Subject, options: &Options, route: Route, run: Runs) -> Result<Blame, Unblamed> {
    let witnessed = subject.target_inputs(&Options { witness: true, ..*options });
    let inputs = witnessed.map_err(|verdict| unknown(verdict.why(), 0))?;
    let module = spirv::Module::load(&inputs.module().words).map_err(|e| unknown(e.to_string(), 0))?;
    let threads = subject.threads_per_group();
    let (computed, original) = computed(&inputs, &module, threads, &Schedule::InOrder);
    let original = original.ok_or_else(|| unknown("the module does not end by the SPIR-V relation".into(), 0))?;
    // A device may choose the order of atomic accesses.
    let has_atomics = module.instructions().iter().any(|i| is_atomic(i.op));
    let order_dependent = if has_atomics { order_dependent(&inputs, &module, threads, &computed) } else { FxHashSet::default() };
    let (mut dispatches, depends_on_order) = (0, !order_dependent.is_empty());
    let questions = questions(&computed, order_dependent);
    let mut ask = |question: &Computed, column| {
        let ask = Ask { program: subject.program(), module: &module, question, column };
        ask.in_dispatch(&inputs, &original, route, &mut *run)
    };
    match search((&questions, &module), subject.text(), &mut dispatches, &mut ask)? {
        Some(blame) => Ok(blame),
        None if depends_on_order => {
            let why = "what is left depends on the order of its atomic accesses, which is the device's to choose";
            Err(unknown(why.into(), dispatches))
        }
        None => Err(Unblamed::Vanishes { dispatches }),
    }
}

/// In a draw, vertices come first.
fn of_drawn(draw: &Draw, options: &Options, route: Route, run: Runs) -> Result<Blame, Unblamed> {
    let translated = draw::translated_draw(draw, &Options { witness: true, ..*options }).map_err(|verdict| unknown(verdict.why(), 0))?;
    let stages = Stages::new(translated.dispatch()).map_err(|e| unknown(e.to_string(), 0))?;
    let modules = [&*stages.vertex, &*stages.fragment];
    if modules.iter().any(|module| module.instructions().iter().any(|i| is_atomic(i.op))) {
        return Err(unknown("a draw with atomic accesses, whose order is the device's to choose".into(), 0));
    }
    let original = match stages.definite(translated.dispatch(), FUEL.2) {
        Ok(Outcome::Observed(picture)) => picture,
        _ => return Err(unknown("the stages do not end by the interpreter".into(), 0)),
    };
    let recorded = recorded(&translated, modules, draw.vertex_threads()).map_err(|e| unknown(e.to_string(), 0))?;
    let (mut dispatches, mut is_missing) = (0, false);
    for (stage, (module, recorder)) in modules.into_iter().zip(recorded).enumerate() {
        let questions = questions(&recorder.computed, FxHashSet::default());
        let mut ask = |question: &Computed, column| {
            let ask = Ask { program: draw.program, module, question, column };
            ask.in_draw(&translated, stage, &original, route, (&mut *run, &mut is_missing))
        };
        if let Some(blame) = search((&questions, module), draw.text, &mut dispatches, &mut ask)? {
            return Ok(blame);
        }
    }
    if is_missing {
        let why = "the device keeps no fragment at a pixel that has one: its vertices are elsewhere, or it discards the fragment";
        return Err(unknown(why.into(), dispatches));
    }
    Err(Unblamed::Vanishes { dispatches })
}

/// By pixel: whether all attachments hold what they held before the draw.
fn untouched(dispatch: &DrawDispatch, result: &DrawResult) -> Vec<bool> {
    let [width, height] = dispatch.size().unwrap_or_default();
    let targets = || dispatch.targets.iter().zip(&result.targets);
    let is_untouched = |pixel: usize| {
        targets().all(|(target, shown)| {
            let bytes = target.image.format().bytes();
            let texel = pixel * bytes..(pixel + 1) * bytes;
            target.image.bytes(0).and_then(|before| before.get(texel.clone())) == shown.get(texel)
        })
    };
    (0..width as usize * height as usize).map(is_untouched).collect()
}

/// A binding of set 0 above all that are in use.
fn free_binding(buffers: &[BufferBinding], images: &[ImageBinding], samplers: &[SamplerBinding]) -> u32 {
    let buffers = buffers.iter().map(|b| (b.set, b.binding));
    let all = buffers.chain(images.iter().map(|i| (i.set, i.binding))).chain(samplers.iter().map(|s| (s.set, s.binding)));
    all.filter(|place| place.0 == 0).map(|place| place.1 + 1).max().unwrap_or(0)
}

/// The interpreter must show the same with a probe.
const DISTURBED: &str = "the interpreter makes of the adapted words something else than of the original ones";
/// A probe adds at most a dozen instructions for each one of the original.
const PROBED_FUEL: u64 = 16 * FUEL.2;

/// A value that the search asks a device for.
struct Ask<'a> {
    program: &'a Program,
    /// The module that computes it.
    module: &'a spirv::Module,
    question: &'a Computed<'a>,
    column: u32,
}

impl Ask<'_> {
    /// The words of the module in which each invocation also shows the value.
    fn probed(&self, entry: &str, shown: Shown) -> Result<Vec<u32>, String> {
        let Ask { question: &Computed { witness, executed, .. }, column, .. } = *self;
        let probe = Probe { id: witness.id, occurrence: Some(executed), column, shown, counts_in_floats: false, marker: MARKER };
        pass::adapt(self.module, entry, &probe).map_err(|e| e.to_string())
    }

    /// What a device shows with these words.
    fn run_on_device(&self, dispatch: Dispatch, run: Runs) -> Result<DeviceOutcome, String> {
        let hash = dispatch.words_hash();
        let outcome = run(dispatch);
        let words_hash = match &outcome {
            DeviceOutcome::Computed(result) => result.words_hash,
            DeviceOutcome::Rendered(result) => result.words_hash,
            other => return Err(format!("a module that shows %{} did not run: {other}", self.question.witness.id)),
        };
        if words_hash == hash { Ok(outcome) } else { Err("the device ran other words than it was given".into()) }
    }

    /// The expected and the found value, as text.
    fn answer(&self, expected: Expected, found: u32) -> (String, String) {
        let leaves = result_leaves(self.program, &mut Layouts::default(), self.question.ty);
        let scalar = leaves.and_then(|leaves| Some(leaves.first()?.1)).unwrap_or(Scalar::Uint);
        let text = |bits| value_text(std::iter::once((bits, scalar)));
        let required = match expected {
            Expected::Bits(bits) => text(bits),
            other => expected_text(other),
        };
        (required, if found == MARKER { "nothing: the device does not compute it".into() } else { text(found) })
    }

    /// The expected and the found value, if a thread of a dispatch has one that it may not have on
    /// the device. `original` is what the module shows.
    ///
    /// # Errors
    /// The probe cannot be adapted or does not run, or the interpreter shows something
    /// else with it.
    fn in_dispatch(&self, inputs: &TargetInputs, original: &Observation, route: Route, run: Runs) -> Answer {
        let mut dispatch = inputs.dispatch();
        let binding = free_binding(&dispatch.buffers, &dispatch.images, &dispatch.samplers);
        let shown = Shown::Buffer { set: 0, binding, of: Invocations::Workgroups(dispatch.groups) };
        let words = self.probed(&dispatch.entry, shown)?;
        let adapted = spirv::Module::load(&words).map_err(|e| format!("the adapted module is refused: {e}"))?;
        let size = adapted.entry_point(&dispatch.entry).map_or([1; 3], |entry| adapted.modes(entry).workgroup_size.unwrap_or([1; 3]));
        let invocations: u32 = dispatch.groups.iter().chain(&size).product();
        let bytes = MARKER.to_le_bytes().repeat(4 * invocations as usize);
        dispatch.words = words.into();
        dispatch.buffers.push(BufferBinding { set: 0, binding, kind: BufferKind::ReadWrite, bytes });

        let contents = dispatch.contents();
        let images = dispatch.bound().image_contents();
        let resources = Resources { images: &images, samplers: &dispatch.samplers, ..Resources::of_buffers(&contents) };
        let limits = Limits::of_fuel(PROBED_FUEL);
        let target = environment::Dispatch { entry: &dispatch.entry, groups: dispatch.groups, resources, limits };
        let ran = grid::run(&adapted, &target, &Schedule::InOrder, &Relation::default(), &mut ());
        let Outcome::Observed(observation) = ran.map_err(|e| e.to_string())? else {
            return Err("the adapted module does not end by the interpreter".into());
        };
        let is_undisturbed = |buffer: &ObservedBuffer| {
            let same = |b: &&ObservedBuffer| (b.set, b.binding) == (buffer.set, buffer.binding);
            observation.buffers.iter().find(same).is_some_and(|b| b.bytes == buffer.bytes)
        };
        if !original.buffers.iter().all(is_undisturbed) {
            return Err(DISTURBED.into());
        }
        let required = RequiredResult::of(&adapted, &dispatch, observation, route, sets::Rules::default())?;
        let DeviceOutcome::Computed(result) = self.run_on_device(dispatch.into(), run)? else { return Err("the device draws".into()) };
        let found = result.buffer(0, binding).ok_or("the device shows no such buffer")?;
        Ok(required.wrong_word((0, binding), found).map(|(_, expected, found)| self.answer(expected, found)))
    }

    /// The same for a vertex (`stage` 0) or a fragment (`stage` 1) of a draw. A pixel without a
    /// fragment on the device says nothing of the value; the result says that one is missing.
    ///
    /// # Errors
    /// As [`Ask::in_dispatch`].
    fn in_draw(
        &self,
        translated: &draw::TranslatedDraw,
        stage: usize,
        original: &Picture,
        route: Route,
        (run, is_missing): (Runs, &mut bool),
    ) -> Answer {
        let mut dispatch = translated.dispatch().clone();
        let (shown, part) = if stage == 0 {
            let binding = free_binding(&dispatch.buffers, &dispatch.images, &dispatch.samplers);
            let (count, instances) = (dispatch.geometry.count, dispatch.geometry.instances);
            let bytes = MARKER.to_le_bytes().repeat(4 * count as usize * instances as usize);
            dispatch.buffers.push(BufferBinding { set: 0, binding, kind: BufferKind::ReadWrite, bytes });
            (Shown::Buffer { set: 0, binding, of: Invocations::Vertices(count) }, DrawPart::Buffer(0, binding))
        } else {
            let [width, height] = dispatch.size().ok_or("a draw without attachments")?;
            let location = dispatch.targets.iter().map(|target| target.location + 1).max().unwrap_or(0);
            // Floats are shown as floats. As integers only their bits would be known.
            let is_integer = matches!(self.module.shape(self.question.witness.id).scalar, operation::Scalar::Int { .. });
            let format = if is_integer { Format::Rgba32Uint } else { Format::Rgba32Sfloat };
            let mut image = Image::new(format, width, height, 1).map_err(|e| e.to_string())?;
            let texels = MARKER.to_le_bytes().repeat(4 * width as usize * height as usize);
            image.fill(0, &texels).map_err(|e| e.to_string())?;
            dispatch.targets.push(ColourTarget { location, image });
            (if is_integer { Shown::Bits(location) } else { Shown::Output(location) }, DrawPart::Target(location))
        };
        let probed = if stage == 0 { &mut dispatch.vertex } else { &mut dispatch.fragment };
        probed.words = self.probed(&probed.entry, shown)?.into();

        let stages = Stages::new(&dispatch).map_err(|e| format!("the adapted module is refused: {e}"))?;
        let picture = match stages.definite(&dispatch, PROBED_FUEL).map_err(|e| e.to_string())? {
            Outcome::Observed(picture) => picture,
            _ => return Err("the adapted module does not end by the interpreter".into()),
        };
        if !includes(&picture, original) {
            return Err(DISTURBED.into());
        }
        let (adapted, places) = draw_for_wgpu(&dispatch).map_err(|e| e.to_string())?;
        let DeviceOutcome::Rendered(mut result) = self.run_on_device(adapted.into(), run)? else {
            return Err("the device does not draw".into());
        };
        for buffer in &mut result.buffers {
            (buffer.set, buffer.binding) = places.original((buffer.set, buffer.binding)).unwrap_or((buffer.set, buffer.binding));
        }
        let profile = route.re_emits().then_some(Profile::Wgsl);
        let untouched = untouched(&dispatch, &result);
        let mut left_out = |texel: u64| {
            let is_left_out = untouched.get(texel as usize) == Some(&true);
            *is_missing |= is_left_out;
            is_left_out
        };
        let wrong = stages.wrong_word(&dispatch, &picture, result, (part, profile), &mut left_out, PROBED_FUEL)?;
        Ok(wrong.map(|(expected, found)| self.answer(Expected::Bits(expected), found)))
    }
}

/// The values of expressions by WSL's relation: by thread, in order.
///
/// An assignment is reduced to assignments to the target's variable. The terms of these steps stand
/// for the target, but their values are not values of the target and are left out. For `++e` and
/// `e1 += e2` the operator's value is kept, as that of the expression. An expression that is
/// reduced to one of its parts (`||`, `?:`) has no value of its own.
fn expected(program: &Program, trace: &mut dyn FnMut(OnStep)) -> Values {
    let (targets, mut count) = (targets(program), 0);
    let mut values: Values = FxHashMap::default();
    trace(&mut |thread, step| {
        let (Some((e, value)), true) = (step.value.as_deref(), count < MAX_VALUES) else { return };
        let id = match targets.get(e) {
            None => *e,
            Some(Some(whole)) if !matches!(step.rule, Rule::WslELoad | Rule::WslEAssignExecute) => *whole,
            Some(_) => return,
        };
        // A load first makes a pointer, which stands for the same expression.
        let is_pointer = value.words.iter().any(|word| matches!(word, Word::Address(_)));
        let is_part = matches!(
            program.expr(id).form,
            Form::Or(..) | Form::And(..) | Form::Ternary(..) | Form::Comma(..) | Form::Parens(_) | Form::Step(_, Fix::Postfix, ..)
        );
        if !is_pointer && !is_part {
            count += 1;
            values.entry((thread.number, program.expr(id).span, value.ty)).or_default().push(value.words.clone());
        }
    });
    values
}

/// The targets of assignments, with all of their parts. Also `++e` and `e1 += e2`, if no getter or
/// setter is called for them.
fn targets(program: &Program) -> FxHashMap<ExprId, Option<ExprId>> {
    let mut targets = FxHashMap::default();
    for (number, expr) in (0..).zip(&program.exprs) {
        let (mut target, mut whole) = match expr.form {
            Form::Assign(target, _) | Form::Step(_, Fix::Postfix, target, ..) => (target, None),
            Form::Step(_, Fix::Prefix, target, ..) | Form::CompoundAssign(_, target, _) => (target, Some(ExprId(number))),
            _ => continue,
        };
        loop {
            let next = match &program.expr(target).form {
                Form::Parens(next) | Form::Coerce(_, next) => (*next, whole),
                Form::Dot(next, _, access) | Form::Index(next, _, access) => {
                    whole = whole.filter(|_| matches!(access, Access::AddressTaker(_)));
                    (*next, None)
                }
                _ => (target, None),
            };
            targets.insert(target, whole);
            if next.0 == target {
                break;
            }
            (target, whole) = next;
        }
    }
    targets
}

/// The text of an expression, on one line.
fn expression(text: &str, span: Span) -> String {
    let text = text.get(span.start as usize..span.end as usize).unwrap_or("an expression that the compiler made");
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    match text.char_indices().nth(MAX_EXPRESSION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn value_text(scalars: impl Iterator<Item = (u32, Scalar)>) -> String {
    let text = scalars.map(|(bits, scalar)| match scalar {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::Float => float_text(bits),
        Scalar::Int => (bits as i32).to_string(),
        Scalar::Uint => bits.to_string(),
    });
    text.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::programs::{Programs, subjects};
    use super::super::source::RelationUse;
    use super::super::subject::tests::simulated;
    use super::*;
    use crate::compile::wsl::planted::BUGS;
    use crate::theorem::{Engine, Verdict};
    use smallstep_semantics::number::{Arithmetic, Lanes, Op, Planted};
    use smallstep_semantics::spirv::Buffer;
    use smallstep_semantics::wsl::draw::{Attribute, Vertices};
    use smallstep_semantics::wsl::entry::Stage;
    use smallstep_semantics::wsl::group::{self, Resource, ResourceContents};
    use smallstep_semantics::wsl::specialization::Specialization;
    use smallstep_semantics::wsl::validate::validate;

    /// Programs that agree get no blame.
    #[test]
    fn nothing_is_blamed_where_the_engines_agree() {
        let options = Options::default();
        let (mut agreed, mut compared) = (0, 0);
        for (programs, seeds) in [(Programs::Dispatches, 0..40), (Programs::Functions, 0..60), (Programs::EntryPoints, 0..60)] {
            for seed in seeds {
                let _ = subjects(programs, seed, &mut |_, text, case| {
                    let Ok(Case::Computed(subject)) = case else { return };
                    let (verdict, _, Some(inputs)) = subject.judged(&options, RelationUse::Open) else { return };
                    if verdict == Verdict::Agree {
                        agreed += 1;
                        compared += expected(subject.program(), &mut |on| subject.trace(on)).len();
                        let blame = in_semantics(&subject, &inputs, &options);
                        assert!(
                            blame.is_none(),
                            "{} {seed}: {}\n{text}",
                            programs.name(),
                            blame.map(|b| b.to_string()).unwrap_or_default()
                        );
                    }
                });
            }
        }
        assert!(agreed >= 60 && compared >= 1000, "{agreed} programs agree, with {compared} expressions");
    }

    /// Draws that agree get no blame, with values of vertices and fragments compared.
    #[test]
    fn nothing_is_blamed_where_the_engines_agree_on_draws() {
        let options = Options::default();
        let mut agreed = 0;
        for (programs, seeds) in [(Programs::Draws, 0..16), (Programs::ShortStages, 0..24)] {
            for seed in seeds {
                let _ = subjects(programs, seed, &mut |_, text, case| {
                    let Ok(Case::Drawn(draw)) = case else { return };
                    let (verdict, _, Some(translated)) = draw::judged(draw, &options, RelationUse::Open) else { return };
                    if verdict == Verdict::Agree {
                        agreed += 1;
                        let blame = in_draw(draw, &translated, &options);
                        assert!(
                            blame.is_none(),
                            "{} {seed}: {}\n{text}",
                            programs.name(),
                            blame.map(|b| b.to_string()).unwrap_or_default()
                        );
                    }
                });
            }
        }
        assert!(agreed >= 30, "{agreed} draws agree");
    }

    /// A mistake planted in an operation is blamed on an expression that its rule made, in a vertex
    /// or a fragment.
    #[test]
    fn a_planted_mistake_in_a_draw_is_blamed_on_an_expression_of_its_rule() {
        let names = ["+ of floats subtracts", "* of floats adds"];
        for bug in BUGS.iter().filter(|bug| names.contains(&bug.name)) {
            let options = Options { planted: Some(bug), ..Options::default() };
            let (mut found, mut by_rule, mut of_vertices) = (0, 0, 0);
            for seed in 0..100 {
                let _ = subjects(Programs::Draws, seed, &mut |_, text, case| {
                    let Ok(Case::Drawn(draw)) = case else { return };
                    let (Verdict::Disagree(difference), ..) = draw::judged(draw, &options, RelationUse::Open) else { return };
                    if difference.between.1 == Engine::SpirvMachine && difference.what.contains("the source allows") {
                        found += 1;
                        if let Some(blame) = difference.blame {
                            assert!(text.contains(blame.expression.split_whitespace().next().unwrap_or("")), "{blame}");
                            by_rule += u32::from(blame.rule == bug.rule);
                            of_vertices += u32::from((blame.span.start as usize) < text.find("fragment ").unwrap_or(0));
                        }
                    }
                });
                if found >= 12 {
                    break;
                }
            }
            assert!(found >= 3 && by_rule * 10 >= found * 7, "{}: {by_rule} of {found} are blamed on {}", bug.name, bug.rule);
            assert!(0 < of_vertices && of_vertices < found, "{}: {of_vertices} of {found} in vertices", bug.name);
        }
    }

    /// A mistake planted in an operation is blamed on an expression that its rule made.
    #[test]
    fn a_planted_mistake_is_blamed_on_an_expression_of_its_rule() {
        // A mistake in an index makes programs race, and they show nothing then.
        let names =
            ["+ of floats subtracts", "* of floats adds", "/ of floats multiplies", "- of floats takes its operands the other way round"];
        for bug in BUGS.iter().filter(|bug| names.contains(&bug.name)) {
            let options = Options { planted: Some(bug), ..Options::default() };
            let (mut found, mut by_rule) = (0, 0);
            for seed in 0..200 {
                let _ = subjects(Programs::Dispatches, seed, &mut |_, text, case| {
                    let Ok(Case::Computed(subject)) = case else { return };
                    let (Verdict::Disagree(difference), ..) = subject.judged(&options, RelationUse::Open) else { return };
                    if difference.between.1 == Engine::SpirvMachine && difference.what.contains("the source allows") {
                        found += 1;
                        if let Some(blame) = difference.blame {
                            assert!(text.contains(blame.expression.split_whitespace().next().unwrap_or("")), "{blame}");
                            by_rule += u32::from(blame.rule == bug.rule);
                        }
                    }
                });
                if found >= 6 {
                    break;
                }
            }
            assert!(found >= 3 && by_rule * 10 >= found * 8, "{}: {by_rule} of {found} are blamed on {}", bug.name, bug.rule);
        }
    }

    /// If a device is wrong in one operation, the search names an expression with it. If it is
    /// right, the search names nothing.
    #[test]
    fn a_device_is_blamed_for_the_operation_that_it_gets_wrong() {
        let text = "float twice(float x) { return x + x; }
            [numthreads(4, 1, 1)] compute void main(device float[] b : register(u0), uint3 id : SV_DispatchThreadID) {
                float x = b[id.x];
                for (uint i = 0u; i < 3u; i++) { x = twice(x) * float(i + 1u); }
                if (x > 2.0) { x = x - 1.0; }
                b[id.x] = x;
            }";
        let program = validate(text).program.expect("valid");
        let entry = &program.entry_points[0];
        let mut resources = Resource::of(&program, entry).expect("resources");
        let ResourceContents::Buffer(buffer) = &mut resources[0].contents else { panic!("a buffer") };
        buffer.words = [0.5f32, 1.5, 2.5, -1.0].map(f32::to_bits).to_vec();
        let dispatch = group::Dispatch { program: &program, text, entry, groups: [1; 3], resources };
        let case = Case::from(Subject::Dispatch(&dispatch));
        let options = Options::default();
        let blamed =
            |planted: Option<Planted>| on_device(&case, &options, Route::Passthrough, &mut |dispatch| wrong_device(&dispatch, planted));
        for (op, expression, instruction) in
            [(Op::Add, "x + x", "OpFAdd"), (Op::Mul, "twice(x) * float(i + 1u)", "OpFMul"), (Op::Sub, "x - 1.0", "OpFSub")]
        {
            let blame = blamed(Some(wrong(op))).expect("a culprit");
            assert_eq!((blame.expression.as_str(), blame.instruction.as_str()), (expression, instruction), "{blame}");
            assert!(blame.dispatches > 1 && blame.expected != blame.found, "{blame}");
        }
        let Err(Unblamed::Vanishes { dispatches }) = blamed(None) else { panic!("a device that is right is blamed") };
        assert!(dispatches > 10, "{dispatches}");
    }

    /// The search works with atomic accesses, but does not ask for what they read.
    #[test]
    fn what_no_order_of_atomic_accesses_changes_is_searched_on_devices() {
        let text = "[numthreads(4, 1, 1)]
            compute void main(device float[] b : register(u0), device atomic_uint[] n : register(u1), uint3 id : SV_DispatchThreadID) {
                uint old;
                InterlockedAdd(&n[0], 1u, &old);
                float x = b[id.x];
                float y = x + x;
                b[id.x] = y * float(old - old + 1u);
                b[id.x + 4u] = float(old) - 0.5;
            }";
        let program = validate(text).program.expect("valid");
        let entry = &program.entry_points[0];
        let mut resources = Resource::of(&program, entry).expect("resources");
        for (resource, words) in resources.iter_mut().zip([vec![0x3f80_0000; 8], vec![0]]) {
            let ResourceContents::Buffer(buffer) = &mut resource.contents else { panic!("a buffer") };
            buffer.words = words;
        }
        let dispatch = group::Dispatch { program: &program, text, entry, groups: [1; 3], resources };
        let (case, options) = (Case::from(Subject::Dispatch(&dispatch)), Options::default());
        let blamed =
            |planted: Planted| on_device(&case, &options, Route::Passthrough, &mut |dispatch| wrong_device(&dispatch, Some(planted)));
        let blame = blamed(|op, _, lanes| flipped(op == Op::Add, lanes)).expect("a culprit");
        assert_eq!((blame.expression.as_str(), blame.instruction.as_str()), ("x + x", "OpFAdd"), "{blame}");
        // The wrong value depends on the number that a thread draws.
        let Err(Unblamed::Unknown { why, .. }) = blamed(|op, _, lanes| flipped(op == Op::Sub, lanes)) else { panic!("it is blamed") };
        assert!(why.contains("depends on the order"), "{why}");
    }

    /// A device that computes with this arithmetic, in draws and in dispatches.
    fn wrong_device(dispatch: &Dispatch, planted: Option<Planted>) -> DeviceOutcome {
        let dispatch = match dispatch {
            Dispatch::Compute(dispatch) => return simulated(dispatch, planted),
            Dispatch::Draw(dispatch) => dispatch,
            Dispatch::Fragment(_) => panic!("no fragment stage is drawn alone"),
        };
        let relation = Relation::new(spirv::Rules::standard(), Arithmetic { planted });
        let stages = Stages::new(dispatch).expect("loads");
        let contents = dispatch.contents();
        let lent = contents.lend(dispatch, Limits::default());
        let shown = spirv::draw::run(&stages.vertex, &stages.fragment, &lent, &relation, &mut ()).expect("runs");
        let shown = shown.observed().expect("ends");
        let buffers = shown.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect();
        let targets = shown.targets.iter().map(|target| target.image.bytes(0).expect("a level").to_vec()).collect();
        DeviceOutcome::Rendered(DrawResult { words_hash: dispatch.words_hash(), targets, depth: None, buffers, images: Vec::new() })
    }

    /// If a device is wrong in one operation of a draw, the search names an expression of that
    /// stage. It names nothing if the device is right or lacks fragments.
    #[test]
    fn a_device_is_blamed_for_the_operation_of_a_draw_that_it_gets_wrong() {
        let text = "struct V { float4 p : SV_Position; nointerpolation int k : attribute(1); }
            float half(float x) { return x * 0.5; }
            vertex V v(float2 at : attribute(0), uint n : SV_VertexID) {
                V o;
                o.k = 7 - int(n);
                float2 p = at - float2(0.25, 0.125);
                o.p = float4(p, 0., 1.);
                return o;
            }
            fragment float4 f(nointerpolation int k : attribute(1)) : SV_Target 0 {
                float sum = 0.;
                for (int i = 0; i < 3; i++) { sum = sum + half(float(i)); }
                bool more = sum > 1.;
                return float4(sum, more ? 1. : 0., float(k ^ 2), 1.);
            }";
        let program = validate(text).program.expect("valid");
        let stage = |stage| program.entry_points.iter().find(|e| e.stage == stage).expect("an entry point");
        let at = [-4f32, 4., -4., -12., 12., 4.].map(f32::to_bits).to_vec();
        let attributes = vec![Attribute { number: 0, scalar: Scalar::Float, words: at }];
        let draw = Draw {
            program: &program,
            text,
            vertices: Vertices::Shaded { entry: stage(Stage::Vertex), count: 3, instances: 1, attributes },
            fragment: stage(Stage::Fragment),
            size: [4, 3],
            depth: None,
            resources: Vec::new(),
            specialization: Specialization::default(),
        };
        let (case, options) = (Case::Drawn(&draw), Options::default());
        let blamed =
            |planted: Option<Planted>| on_device(&case, &options, Route::Passthrough, &mut |dispatch| wrong_device(&dispatch, planted));
        let cases =
            [(Op::Sub, "at - float2(0.25, 0.125)", "OpFSub"), (Op::Mul, "x * 0.5", "OpFMul"), (Op::Add, "sum + half(float(i))", "OpFAdd")];
        for (op, expression, instruction) in cases {
            let blame = blamed(Some(wrong(op))).unwrap_or_else(|unblamed| panic!("{op:?}: {unblamed}"));
            assert_eq!((blame.expression.as_str(), blame.instruction.as_str()), (expression, instruction), "{blame}");
            assert_ne!(blame.expected, blame.found, "{blame}");
        }
        let Err(Unblamed::Vanishes { dispatches }) = blamed(None) else { panic!("a device that is right is blamed") };
        assert!(dispatches > 10, "{dispatches}");
        // The compiled vertex stage halves its depth, 0. A subnormal position may be anywhere, so
        // the interpreter that stands for the device draws nothing.
        let of_zeros: Planted = |op, _, mut lanes| {
            lanes.iter_mut().for_each(|lane| lane.bits ^= u32::from(op == Op::Mul));
            lanes
        };
        let Err(Unblamed::Unknown { why, .. }) = blamed(Some(of_zeros)) else { panic!("fragments that are not there are blamed") };
        assert!(why.contains("keeps no fragment"), "{why}");
    }

    /// A device with wrong sums, products or differences.
    fn wrong(op: Op) -> Planted {
        match op {
            Op::Add => |op, _, lanes| flipped(op == Op::Add, lanes),
            Op::Mul => |op, _, lanes| flipped(op == Op::Mul, lanes),
            _ => |op, _, lanes| flipped(op == Op::Sub, lanes),
        }
    }

    /// One bit is wrong, except in zeros.
    fn flipped(is_wrong: bool, mut lanes: Lanes) -> Lanes {
        lanes.iter_mut().for_each(|lane| lane.bits ^= u32::from(is_wrong && lane.bits != 0));
        lanes
    }
}

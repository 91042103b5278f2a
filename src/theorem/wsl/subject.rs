//! A subject of the theorem: a dispatch of a compute entry point, or calls of a function with a
//! table of arguments.

use super::beside::dispatch_differs;
use super::blame;
use super::bound::{Bound, formats};
use super::compare::{Compared, Wrong, compare, is_allowed, leaves, result_leaves};
use super::source::{ALL_WAYS, FUEL, LARGE_FUEL, RelationUse, Source, WAYS, Words, allows, machine, relation, shows_nothing, stopped};
use super::{disagree, refused, unchecked};
use crate::compile::wsl::{Module, Options, translate, translate_function};
use crate::dispatch::{ComputeDispatch, words_hash};
use crate::gpu::{DeviceOutcome, Route};
use crate::theorem::device::without_frame;
use crate::theorem::{Engine, Verdict};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::environment::{self, Limits, Observation};
use smallstep_semantics::spirv::{self, Buffer, LoadError, Relation, lockstep};
use smallstep_semantics::undefined::Ub;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::term::{Expr, Form};
use smallstep_semantics::wsl::execution::{Step, Thread};
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::{self as wsl_machine, Compiled, Ending};
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::types::{Type, TypeId};
use smallstep_semantics::wsl::typing::program::{Coercion, Program};
use smallstep_semantics::wsl::{call, execution, memory};
use std::sync::Arc;

/// What source and target run.
pub(super) enum Subject<'s, 'p> {
    /// A dispatch of a compute entry point.
    Dispatch(&'s Dispatch<'p>),
    /// A function, with the words of its arguments.
    Call { program: &'p Program, text: &'p str, f: FunctionId, arguments: Vec<Vec<u32>> },
}

/// The target: its module and resources.
pub(super) struct TargetInputs {
    module: Module,
    groups: [u32; 3],
    bound: Bound,
    /// The interpreter's observation, once it has run: buffers and storage images.
    pub(super) shown: Vec<Buffer>,
}

impl TargetInputs {
    /// The output of the compiler.
    pub(super) fn module(&self) -> &Module {
        &self.module
    }

    /// The dispatch for an interpreter, with so much fuel.
    pub(super) fn environment(&self, fuel: u64) -> environment::Dispatch<'_> {
        let (resources, limits) = (self.bound.resources(), Limits::of_fuel(fuel));
        environment::Dispatch { entry: &self.module.entry, groups: self.groups, resources, limits }
    }

    /// The dispatch for a device.
    pub(super) fn dispatch(&self) -> ComputeDispatch {
        ComputeDispatch {
            words: self.module.words.clone().into(),
            entry: self.module.entry.clone(),
            groups: self.groups,
            buffers: self.bound.buffer_bindings(&self.module.bindings),
            images: self.bound.image_bindings(&self.module.bindings),
            samplers: self.bound.samplers.clone(),
            ..ComputeDispatch::default()
        }
    }
}

/// The final contents of a buffer or storage image, by set and binding. `None` if the module does
/// not name it.
pub(super) type Bytes<'b> = &'b dyn Fn(u32, u32) -> Option<&'b [u8]>;

impl Subject<'_, '_> {
    /// The program of the subject.
    pub(super) fn program(&self) -> &Program {
        match self {
            Subject::Dispatch(dispatch) => dispatch.program,
            Subject::Call { program, .. } => program,
        }
    }

    /// The translation with its inputs. An error if the compiler refuses it, or if it cannot run.
    pub(super) fn target_inputs(&self, options: &Options) -> Result<TargetInputs, Verdict> {
        match self {
            Subject::Dispatch(dispatch) => {
                let formats = formats(&dispatch.resources);
                let options = Options { formats: &formats, ..*options };
                let module = translate(dispatch.program, dispatch.entry, &options).map_err(refused)?;
                let bound = Bound::of(&module.bindings, &dispatch.resources).map_err(unchecked)?;
                Ok(TargetInputs { module, groups: dispatch.groups, bound, shown: Vec::new() })
            }
            Subject::Call { program, f, arguments, .. } => {
                let module = translate_function(program, *f, options).map_err(refused)?;
                let mut layouts = Layouts::default();
                let function = program.env.function(*f);
                let too_large = || unchecked("an argument or the result is too large".into());
                // The tables hold the scalars one after the other, and one word more, since no
                // buffer may be empty.
                let mut argument_words = Vec::new();
                for (parameter, words) in function.parameters.iter().zip(arguments) {
                    let leaves = leaves(program, &mut layouts, parameter.ty).ok_or_else(too_large)?;
                    argument_words.extend(leaves.iter().map(|&(at, _)| words.get(at).copied().unwrap_or(0)));
                }
                argument_words.push(0);
                let results = result_leaves(program, &mut layouts, shown_type(program, function.result)).ok_or_else(too_large)?.len() + 1;
                let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
                let buffers = vec![
                    Buffer { set: 0, binding: 0, bytes: bytes(&argument_words) },
                    Buffer { set: 0, binding: 1, bytes: bytes(&vec![0; results]) },
                ];
                Ok(TargetInputs { module, groups: [1; 3], bound: Bound { buffers, ..Bound::default() }, shown: Vec::new() })
            }
        }
    }

    /// Runs the source on its machine, up to the first unspecified value.
    fn machine(&self) -> Source<Words> {
        match self {
            Subject::Dispatch(dispatch) => machine(dispatch),
            // Only the relation sees where a pointer points.
            Subject::Call { program, f, .. } if program.env.types.is_reference(program.env.function(*f).result) => {
                Source::Unknown(unchecked("the machine gives an address".into()))
            }
            Subject::Call { program, f, arguments, .. } => {
                let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
                let settings = wsl_machine::Settings { strategy: Strategy::Carry, fuel: FUEL.0, ..wsl_machine::Settings::default() };
                let called = Compiled::new(program, *f).ok().map(|compiled| compiled.call(&flat, &mut [], &settings));
                match called {
                    Some(Ok((Ending::Returned(words), _))) => {
                        let shown = vec![words.into_iter().map(|word| Possible::Values(vec![word])).collect()];
                        Source::Shown { shown, open: false, complete: true, races: false }
                    }
                    Some(Ok((Ending::OutOfFuel { .. }, _))) => Source::Endless,
                    Some(Ok((ending, _))) => Source::Unknown(stopped(&ending, self.text())),
                    Some(Err(_)) | None => Source::Unknown(unchecked("the machine refuses".into())),
                }
            }
        }
    }

    /// The program's text.
    pub(super) fn text(&self) -> &str {
        match self {
            Subject::Dispatch(dispatch) => dispatch.text,
            Subject::Call { text, .. } => text,
        }
    }

    /// The number of threads of a group.
    pub(super) fn threads_per_group(&self) -> u32 {
        match self {
            Subject::Dispatch(dispatch) => match dispatch.entry.stage {
                Stage::Compute(size) => size.iter().product(),
                Stage::Vertex | Stage::Fragment => 1,
            },
            Subject::Call { .. } => 1,
        }
    }

    /// Runs the source by its relation, along the first way. `on` sees each step.
    pub(super) fn trace(&self, on: &mut dyn FnMut(&Thread, &Step)) {
        match self {
            Subject::Dispatch(dispatch) => {
                let settings = Settings { strategy: Strategy::Carry, fuel: FUEL.1, ways: 1, ..Settings::default() };
                dispatch.trace(&settings, on);
            }
            Subject::Call { .. } => {
                let settings = Settings { strategy: Strategy::Carry, fuel: FUEL.1, ways: 1, ..Settings::default() };
                if let Some(evaluation) = self.evaluation() {
                    evaluation.run(&settings, &mut |step, thread| on(thread, step));
                }
            }
        }
    }

    /// The call for the relation, if the subject is one.
    fn evaluation(&self) -> Option<call::Evaluation<'_>> {
        let Subject::Call { program, text, f, arguments } = self else { return None };
        let values = program.env.function(*f).parameters.iter().zip(arguments);
        let values = values
            .map(|(p, words)| execution::term::Value { ty: p.ty, words: words.iter().map(|&w| Word::Bits(w)).collect::<memory::Words>() });
        let start = shown_of(program, execution::call_of(program, *f, values.collect()));
        Some(call::Evaluation { program, text, start, root: *f })
    }

    /// Runs the source by its relation, along up to so many ways.
    fn relation(&self, precision: Option<Profile>, ways: usize) -> Source<Words> {
        match self {
            Subject::Dispatch(dispatch) => relation(dispatch, precision, ways),
            Subject::Call { .. } => {
                let settings = Settings { strategy: Strategy::Carry, precision, fuel: ALL_WAYS, ways, ..Settings::default() };
                let Some(evaluation) = self.evaluation() else { return Source::Unknown(unchecked("no call".into())) };
                match evaluation.run(&settings, &mut |_, _| {}) {
                    Outcome::Observed(shown) if shown.discarded > 0 => Source::Unknown(unchecked("the source discards".into())),
                    Outcome::Observed(shown) => {
                        Source::Shown { shown: vec![shown.words], open: shown.unspecified, complete: shown.complete, races: false }
                    }
                    other => Source::Unknown(shows_nothing(other, Engine::WslRelation)),
                }
            }
        }
    }

    /// Compares every scalar that the target shows. Returns their number, or the first that is not
    /// allowed.
    fn compare(&self, module: &Module, words: &[Vec<Possible>], shown: Bytes) -> Result<Compared, Wrong> {
        match self {
            Subject::Dispatch(dispatch) => compare(dispatch.program, &dispatch.resources, &module.bindings, words, shown),
            Subject::Call { program, f, .. } => {
                let mut compared = Compared::default();
                let result = shown_type(program, program.env.function(*f).result);
                let leaves = result_leaves(program, &mut Layouts::default(), result).ok_or("the result is too large")?;
                let (Some(allowed), bytes) = (words.first(), shown(0, 1).unwrap_or_default()) else { return Ok(compared) };
                for (k, &(at, scalar)) in leaves.iter().enumerate() {
                    let word = bytes.get(4 * k..4 * k + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    let (Some(possible), Some(word)) = (allowed.get(at), word) else { return Err("the result has another size".into()) };
                    if !is_allowed(possible, scalar, word) {
                        return Err(Wrong::at(&format!("word {at} of the result"), possible, scalar, word));
                    }
                    compared.count(possible);
                }
                Ok(compared)
            }
        }
    }

    /// The verdict between the interpreters, with what was compared, and the target's inputs if it
    /// ran. `relation` says when WSL's relation runs.
    pub(super) fn judged(&self, options: &Options, relation: RelationUse) -> (Verdict, Compared, Option<TargetInputs>) {
        let mut inputs = match self.target_inputs(options) {
            Ok(inputs) => inputs,
            Err(verdict) => return (verdict, Compared::default(), None),
        };
        let (mut verdict, compared) = self.judge_interpreters(&mut inputs, options, relation);
        if let Verdict::Disagree(difference) = &mut verdict {
            difference.blame = blame::in_semantics(self, &inputs, options);
        }
        (verdict, compared, Some(inputs))
    }

    fn judge_interpreters(&self, inputs: &mut TargetInputs, options: &Options, relation: RelationUse) -> (Verdict, Compared) {
        let none = Compared::default();
        let engine = Engine::SpirvMachine;
        let source = self.machine();
        let target = target(inputs, &source, relation);
        if let Ok((_, Some(what))) = &target {
            let what = format!("the relation shows another one: {what}");
            return (disagree(Engine::SpirvRelation, engine, what), none);
        }
        let shown = match target.map(|(outcome, _)| outcome) {
            Err(LoadError::Limit(limit)) => return (unchecked(format!("the target: {limit}")), none),
            Err(error) => return (disagree(Engine::Translation, Engine::Module, format!("the module is not valid: {error}")), none),
            Ok(Outcome::Observed(shown)) => shown,
            Ok(Outcome::Undefined(undefined)) => {
                let what = format!("{}: {}", undefined.ub.id(), undefined.what);
                let disagree =
                    || disagree(Engine::WslRelation, engine, format!("the module has undefined behaviour: {what} at {}", undefined.at));
                if !matches!(undefined.ub, Ub::DataRace | Ub::DivergentBarrier) {
                    return (disagree(), none);
                }
                let verdict = match self.relation(None, WAYS) {
                    Source::Shown { races: true, .. } | Source::Diverged => Verdict::Undefined(what),
                    // Another way may be the one on which the source races.
                    Source::Shown { complete: false, .. } => unchecked(format!("not every way was followed, and the module has {what}")),
                    Source::Shown { .. } => disagree(),
                    other => other.unknown(),
                };
                return (verdict, Compared { by_relation: true, ..none });
            }
            Ok(Outcome::OutOfFuel) if matches!(source, Source::Endless) => return (unchecked(BOTH_OUT_OF_FUEL.into()), none),
            Ok(Outcome::OutOfFuel) => return (unchecked("the target does not end within its fuel".into()), none),
            Ok(Outcome::Diverges(why) | Outcome::Unsupported(why)) => {
                return (disagree(Engine::WslRelation, engine, format!("the module: {why}")), none);
            }
            Ok(Outcome::Stuck(stuck)) => {
                let what = format!("the module is stuck at {}: {}", stuck.at, stuck.why);
                return (disagree(Engine::Module, engine, what), none);
            }
            Ok(other) => return (unchecked(format!("the target: {other:?}")), none),
        };
        if let Some(undefined) = shown.buffers.iter().find_map(|b| b.undefined.first()) {
            return (disagree(Engine::WslRelation, engine, format!("the module shows an undefined value: {}", undefined.kind)), none);
        }
        if let Some(undefined) = shown.images.iter().find_map(|i| i.undefined.first()) {
            let what = format!("the module stores an undefined value in a texture: {}", undefined.kind);
            return (disagree(Engine::WslRelation, engine, what), none);
        }
        let bytes = |set, binding| {
            let buffers = shown.buffers.iter().map(|b| (b.set, b.binding, b.bytes.as_slice()));
            let mut all = buffers.chain(shown.images.iter().map(|i| (i.set, i.binding, i.bytes.as_slice())));
            all.find(|(s, b, _)| (*s, *b) == (set, binding)).map(|(.., bytes)| bytes)
        };
        // The profile matters only if the module approximates definite results of WSL.
        let approximates = inputs.module.rules.iter().any(|(rule, _)| *rule == Rule::CodegenApproximate);
        let judged = allows(
            source,
            |precision, ways| self.relation(precision, ways),
            (approximates.then_some(options.profile), relation),
            &engine,
            |words| self.compare(&inputs.module, words, &bytes),
        );
        let buffers = shown.buffers.into_iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes });
        let images = shown.images.into_iter().map(|i| Buffer { set: i.set, binding: i.binding, bytes: i.bytes });
        inputs.shown = buffers.chain(images).collect();
        judged
    }

    /// The verdict on a device. The profile judges floats, and `device` names it.
    pub(super) fn on_device(&self, outcome: &DeviceOutcome, options: &Options, device: &str, route: Route) -> (Verdict, Compared) {
        let none = Compared::default();
        let inputs = match self.target_inputs(options) {
            Ok(inputs) => inputs,
            Err(verdict) => return (verdict, none),
        };
        let engine = Engine::Device(device.into());
        match outcome {
            DeviceOutcome::Computed(result) if result.words_hash != words_hash(&inputs.module.words) => {
                (unchecked("the device ran other words".into()), none)
            }
            DeviceOutcome::Computed(result) => allows(
                self.machine(),
                |precision, ways| self.relation(precision, ways),
                (Some(options.profile), RelationUse::Open),
                &engine,
                |words| self.compare(&inputs.module, words, &|set, binding| result.shown(set, binding)),
            ),
            other => (without_frame(other, Engine::SpirvMachine, engine, route), none),
        }
    }
}

/// The type in which a result is shown. A pointer shows its pointee unless that is a pointer, and
/// an array reference its length.
fn shown_type(program: &Program, result: TypeId) -> TypeId {
    match program.env.types.get(result) {
        Type::Pointer(_, to) if program.env.types.is_reference(to) => TypeId::VOID,
        Type::Pointer(_, to) => to,
        Type::ArrayReference(..) => TypeId::UINT,
        _ => result,
    }
}

/// The scalars that a call shows.
fn shown_of(program: &Program, call: Expr) -> Expr {
    let (at, ty) = (call.at, shown_type(program, call.ty));
    let expr = |form| Expr { at, ty, form };
    match program.env.types.get(call.ty) {
        Type::Pointer(..) if ty != TypeId::VOID => {
            let place = expr(Form::Dereference(Box::new(call)));
            expr(Form::Coerce(Coercion::LeftToRight, Box::new(place)))
        }
        Type::ArrayReference(..) => expr(Form::ReferenceLength(Box::new(call))),
        _ => call,
    }
}

/// Why nothing was compared. Nothing proves that either side diverges.
pub(super) const BOTH_OUT_OF_FUEL: &str = "neither side ends within its fuel";

/// Runs the module, with more fuel if the source ends and less if the source runs out of its own.
/// Unless `relation` is `Open`, a module with images also runs by SPIR-V's relation. Returns the
/// outcome, and what that relation shows differently.
fn target(
    inputs: &TargetInputs,
    source: &Source<Words>,
    relation: RelationUse,
) -> Result<(Outcome<Observation>, Option<String>), LoadError> {
    let (loaded, program) = loaded(&inputs.module)?;
    let run = |fuel| run_target(inputs, (&loaded, program.as_ref()), fuel);
    let first = if matches!(source, Source::Endless) { FUEL.0 } else { FUEL.2 };
    let outcome = match run(first)? {
        Outcome::OutOfFuel if matches!(source, Source::Shown { .. }) => match run(LARGE_FUEL)? {
            Outcome::OutOfFuel => Outcome::Diverges(format!("it does not end within {LARGE_FUEL} instructions, and the source ends")),
            other => other,
        },
        other => other,
    };
    let differs = match (&outcome, &program) {
        (Outcome::Observed(shown), Some(_)) if relation != RelationUse::Open => {
            dispatch_differs(&loaded, &inputs.environment(FUEL.1), shown)?
        }
        _ => None,
    };
    Ok((outcome, differs))
}

/// The module, and its program for the lockstep machine if that compiles it.
fn loaded(module: &Module) -> Result<(Arc<spirv::Module>, Option<lockstep::Program>), LoadError> {
    let loaded = Arc::new(spirv::Module::load(&module.words)?);
    match lockstep::Program::of(&loaded, &module.entry) {
        Ok(program) => Ok((loaded, Some(program))),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => Ok((loaded, None)),
        Err(other) => Err(other),
    }
}

fn run_target(
    inputs: &TargetInputs,
    (loaded, program): (&spirv::Module, Option<&lockstep::Program>),
    fuel: u64,
) -> Result<Outcome<Observation>, LoadError> {
    let dispatch = inputs.environment(fuel);
    match program {
        Some(program) => Ok(program.run(&dispatch, 1)),
        None => spirv::grid::run(loaded, &dispatch, &Schedule::default(), &Relation::default(), &mut ()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::case::Case;
    use super::super::programs::{Programs, subjects};
    use super::*;
    use crate::dispatch::{ComputeResult, words_hash};
    use smallstep_semantics::concurrency::Schedule;
    use smallstep_semantics::number::{self, Arithmetic, Lane, Lanes, Op, Tuple};
    use smallstep_semantics::spirv::Rules;
    use smallstep_semantics::spirv::environment::Resources;
    use smallstep_semantics::wsl::execution::{Planted, Replacement};
    use smallstep_semantics::wsl::validate::validate;

    /// A device disagrees with a word that the source does not allow. Without a result it fails or
    /// is unchecked.
    #[test]
    fn a_device_that_shows_something_else_disagrees() {
        let text = "int f(int a) { int[2] v; v[0] = a; v[1] = a + 1; return v[uint(a)]; }";
        let program = validate(text).program.expect("valid");
        let options = Options::default();
        let subject = |argument: u32| Subject::Call { program: &program, text, f: FunctionId(0), arguments: vec![vec![argument]] };
        let on_device = |argument, outcome: DeviceOutcome| subject(argument).on_device(&outcome, &options, "a device", Route::Passthrough);
        let judged = |argument: u32, shown: u32| {
            let inputs = subject(argument).target_inputs(&options).unwrap_or_else(|e| panic!("{e:?}"));
            let bytes = [shown.to_le_bytes(), [0; 4]].concat();
            let buffers = vec![Buffer { set: 0, binding: 1, bytes }];
            let result = ComputeResult { words_hash: words_hash(&inputs.module.words), buffers, images: Vec::new() };
            on_device(argument, DeviceOutcome::Computed(result))
        };
        let (verdict, compared) = judged(1, 2);
        assert_eq!((verdict, compared.lanes.checked, compared.sets), (Verdict::Agree, 1, 0));
        assert!(matches!(judged(1, 1).0, Verdict::Disagree(_)));
        // An index out of bounds becomes any index in bounds.
        for shown in [7, 8] {
            let (verdict, compared) = judged(7, shown);
            assert_eq!((verdict, compared.lanes.checked, compared.sets, compared.open), (Verdict::Agree, 1, 1, true));
        }
        assert!(matches!(judged(7, 9).0, Verdict::Disagree(_)));
        assert!(matches!(on_device(1, DeviceOutcome::Lost("gone".into())).0, Verdict::Failed(_)));
        assert!(matches!(on_device(1, DeviceOutcome::Unchecked("no".into())).0, Verdict::Unchecked(_) | Verdict::Limit(_)));
        let other = ComputeResult { words_hash: 1, buffers: Vec::new(), images: Vec::new() };
        assert!(matches!(on_device(1, DeviceOutcome::Computed(other)).0, Verdict::Unchecked(_) | Verdict::Limit(_)));
    }

    /// A result that is a pointer is compared by its pointee, and an array reference by its length.
    #[test]
    fn pointers_are_compared_by_what_they_point_at() {
        let text = "thread int* f(int a) { int v = a + 1; return &v; }\nthread int[] g(int a) { int[3] v; return @v; }";
        let program = validate(text).program.expect("valid");
        let options = Options::default();
        for (f, right) in [(0, 6), (1, 3)] {
            let subject = Subject::Call { program: &program, text, f: FunctionId(f), arguments: vec![vec![5]] };
            let (verdict, compared, inputs) = subject.judged(&options, RelationUse::Open);
            assert_eq!((verdict, compared.lanes.checked, compared.by_relation), (Verdict::Agree, 1, true));
            let inputs = inputs.expect("it ran");
            let on_device = |shown: u32| {
                let bytes = [shown.to_le_bytes(), [0; 4]].concat();
                let buffers = vec![Buffer { set: 0, binding: 1, bytes }];
                let result = ComputeResult { words_hash: words_hash(&inputs.module().words), buffers, images: Vec::new() };
                subject.on_device(&DeviceOutcome::Computed(result), &options, "a device", Route::Passthrough).0
            };
            assert_eq!(on_device(right), Verdict::Agree);
            assert!(matches!(on_device(right + 1), Verdict::Disagree(_)));
        }
    }

    /// A stuck relation lacks a rule, which is a disagreement: progress fails. A run out of fuel
    /// stays unchecked.
    #[test]
    fn a_relation_without_a_rule_disagrees() {
        let text = "enum E { A, B }\nint f() { return E.B.value; }";
        let program = validate(text).program.expect("valid");
        let subject = Subject::Call { program: &program, text, f: FunctionId(0), arguments: Vec::new() };
        let verdict = |settings: &Settings| {
            let ended = subject.evaluation().expect("a call").run(settings, &mut |_, _| {});
            shows_nothing(ended, Engine::WslRelation)
        };
        let rule = Some((Rule::WslEDotGetter, Replacement::Expr(|_, _| None)));
        let lacking = Settings { planted: Planted { rule, ..Planted::default() }, ..Settings::default() };
        let Verdict::Disagree(difference) = verdict(&lacking) else { panic!("{:?}", verdict(&lacking)) };
        assert_eq!(difference.between, (Engine::Typing, Engine::WslRelation));
        assert_eq!(difference.what, "the program is stuck at 2:18: no rule applies to a field");
        assert!(matches!(verdict(&Settings { fuel: 1, ..Settings::default() }), Verdict::Unchecked(_) | Verdict::Limit(_)));
    }

    /// All ways, and the work on unspecified values, share one fuel, which bounds a program's cost.
    /// If the first way has ended and fuel is gone, what the others allow is left out.
    #[test]
    fn the_work_of_a_program_is_bounded() {
        // 2^16 ways; each goes some hundred steps.
        let many_ways = "int f(int a) { int z = 7 / a; int s = 0;
            for (int i = 0; i < 16; i++) { if (((z >> uint(i)) & 1) == 1) { s += i; } } return s; }";
        // Few steps and two ways, but much work to find what each product may be.
        let much_work = "int f(int a) { uint[256] v; for (uint i = 0u; i < 256u; i++) { v[i] = i * i; }
            uint s = 1u; for (uint i = 0u; i < 40u; i++) { s = s * v[1000u] + v[1000u + i]; if (s == 5u) { s = 3u; } } return int(s); }";
        let fuel = 1 << 15;
        for (text, least_ways, most_steps) in [(many_ways, 2, fuel), (much_work, 1, fuel / 2)] {
            let program = validate(text).program.expect("valid");
            let subject = Subject::Call { program: &program, text, f: FunctionId(0), arguments: vec![vec![0]] };
            let run = |fuel| {
                let settings = Settings { fuel, ways: 1 << 20, ..Settings::default() };
                subject.evaluation().expect("a call").run(&settings, &mut |_, _| {})
            };
            let Outcome::Observed(shown) = run(fuel) else { panic!("the first way takes more: {text}") };
            let (ways, steps) = (shown.ways, shown.steps);
            assert!(!shown.complete && ways >= least_ways && steps <= most_steps, "{ways} ways, {steps} steps: {text}");
            assert!(matches!(run(64), Outcome::OutOfFuel), "{text}");
        }
    }

    /// A device with this arithmetic.
    pub(in crate::theorem::wsl) fn simulated(dispatch: &ComputeDispatch, planted: Option<number::Planted>) -> DeviceOutcome {
        let relation = Relation::new(Rules::standard(), Arithmetic { planted });
        let (contents, module) = (dispatch.contents(), spirv::Module::load(&dispatch.words).expect("loads"));
        let (resources, limits) = (Resources::of_buffers(&contents), Limits::default());
        let target = environment::Dispatch { entry: &dispatch.entry, groups: dispatch.groups, resources, limits };
        let ran = spirv::grid::run(&module, &target, &Schedule::default(), &relation, &mut ()).expect("runs");
        let shown = ran.observed().expect("ends");
        let buffers = shown.buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: b.bytes.clone() }).collect();
        DeviceOutcome::Computed(ComputeResult { words_hash: dispatch.words_hash(), buffers, images: Vec::new() })
    }

    /// Arithmetic that flushes floats below a magnitude, as operands and as results. The bits of
    /// `true` are no float.
    fn flushing(op: Op, operands: &[Tuple], lanes: Lanes, below: f32) -> Lanes {
        if matches!(op, Op::Select | Op::Any | Op::All) {
            return lanes;
        }
        let flushed = |lane: &Lane| match lane.bits > 1 && lane.float().abs() < below {
            true => Lane { bits: lane.bits & 0x8000_0000, ..*lane },
            false => *lane,
        };
        let flushed_operands: Vec<Lanes> = operands.iter().map(|operand| operand.lanes.iter().map(flushed).collect()).collect();
        let tuples: Vec<Tuple> = operands.iter().zip(&flushed_operands).map(|(o, lanes)| Tuple { lanes, columns: o.columns }).collect();
        number::apply(op, &tuples).iter().map(flushed).collect()
    }

    /// A read of a float with one value or with several.
    const READERS: &[&str] = &[
        "bool f(float x) { return any(x); }",
        "bool f(float x) { return all(float2(1., x)); }",
        "bool f(float x) { return bool(x); }",
        "bool f(float x) { return x > 0.; }",
        "bool f(float x) { return 0. >= x; }",
        "bool f(float x) { return x == 0.; }",
        "bool f(float x) { return x != 0.; }",
        "bool f(float x) { return !(x != 0.); }",
        "int f(float x) { return x < 0.0001 && x > 0. ? 1 : 2; }",
        "float f(float x) { return sign(x); }",
        "float f(float x) { return ceil(x); }",
        "float f(float x) { return floor(-x); }",
        "float f(float x) { return x + x; }",
        "float f(float x) { return x * 1000000.; }",
        "float f(float x) { return step(0.00000000000000000000000000000000000000001, x); }",
        "bool f(float x) { float[2] v; v[0] = x; v[1] = asfloat(3u); return any(v[9]); }",
        "bool f(float x) { float[2] v; v[0] = x; v[1] = asfloat(3u); return v[9] > 0.; }",
        "bool f(float x) { float[2] v; v[0] = x; v[1] = asfloat(3u); return bool(v[9]); }",
        "float f(float x) { float[2] v; v[0] = x; v[1] = asfloat(3u); return sign(v[9]); }",
        "int f(float x) { float[2] v; v[0] = x; v[1] = asfloat(3u); if (v[9] == 0.) { return 1; } return 2; }",
    ];

    /// A device may flush subnormal floats wherever it reads them, and no others.
    #[test]
    fn a_device_may_flush_subnormal_floats_and_no_others() {
        let flushes: number::Planted = |op, operands, lanes| flushing(op, operands, lanes, f32::MIN_POSITIVE);
        let wrong: number::Planted = |op, operands, lanes| flushing(op, operands, lanes, 1e-30);
        let mut unseen = 0;
        for text in READERS {
            let program = validate(text).program.unwrap_or_else(|| panic!("{text}"));
            let (mut flushed, mut found) = (false, false);
            for (x, is_wrong) in [(0x0020_0000, false), (0x8000_0007, false), (1e-35f32.to_bits(), true), (0x3fc0_0000, false)] {
                let subject = Subject::Call { program: &program, text, f: FunctionId(0), arguments: vec![vec![x]] };
                for profile in [Profile::Strict, Profile::Wgsl] {
                    let options = Options { profile, ..Options::default() };
                    let (verdict, _, inputs) = subject.judged(&options, RelationUse::Open);
                    assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{text}: {verdict:?}");
                    let dispatch = inputs.expect("it ran").dispatch();
                    let outcome = simulated(&dispatch, Some(if is_wrong { wrong } else { flushes }));
                    flushed |= !is_wrong && outcome != simulated(&dispatch, None);
                    let verdict = subject.on_device(&outcome, &options, "a device", Route::Passthrough).0;
                    match is_wrong {
                        true => found |= matches!(verdict, Verdict::Disagree(_)),
                        false => assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{text} of {x:#x}: {verdict:?}"),
                    }
                }
            }
            unseen += u32::from(!flushed);
            // Another value that may be read is subnormal, so a device may flush it.
            let excused = text.contains("v[9]");
            assert_eq!(found, !excused, "whether the wrong device is caught by {text}");
        }
        assert!(unseen <= 1, "{unseen} programs show nothing of flushing");
    }

    /// A generated program on which a device was once called wrong. It had flushed an element out
    /// of bounds, which is subnormal.
    #[test]
    fn a_generated_program_allows_flushing() {
        let flushes: number::Planted = |op, operands, lanes| flushing(op, operands, lanes, f32::MIN_POSITIVE);
        let options = Options::default();
        let mut judged = 0;
        let _ = subjects(Programs::EntryPoints, 69902655220909324, &mut |_, _, case| {
            let Ok(Case::Computed(subject)) = case else { return };
            let (Verdict::Agree | Verdict::Undecided(_), _, Some(inputs)) = subject.judged(&options, RelationUse::Open) else { return };
            let dispatch = inputs.dispatch();
            if dispatch.images.is_empty() {
                judged += 1;
                let verdict = subject.on_device(&simulated(&dispatch, Some(flushes)), &options, "a device", Route::Passthrough).0;
                assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{verdict:?}");
            }
        });
        assert!(judged > 0);
    }
}

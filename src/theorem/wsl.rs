//! The theorem for WSL: what the translated module shows is among what the program allows.
//!
//! A dispatch runs on WSL's machine, or by WSL's relation where something is unspecified, and the
//! module that the compiler makes of it on SPIR-V's lockstep machine, over the same buffers. Every
//! scalar of every buffer is compared by the type of the elements: the source allows a set, and the
//! target must be in it. Padding is not compared, for no program sees it; neither are the bits of a
//! `bool` beyond whether it is true, nor those of a NaN beyond that it is one.
//!
//! The module must have no undefined behaviour and show no undefined value. Only a race or a
//! divergent barrier that WSL's relation reports too is excused, and has a verdict of its own.

use crate::compile::wsl::row::Row;
use crate::compile::wsl::{Binding, Module, Options, Refusal, translate, translate_function};
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch};
use crate::gpu::{Device, DeviceOutcome};
use smallstep_semantics::number::{Profile, Real};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{self, Limits, Observation};
use smallstep_semantics::spirv::{self, Buffer, LoadError, Relation, lockstep};
use smallstep_semantics::undefined::Ub;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::generate::{arguments, bound, dispatch, typed};
use smallstep_semantics::wsl::group::{self, Dispatch, Resource};
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::{self, Compiled, Dispatched, Ending};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use smallstep_semantics::wsl::{call, entry::Stage, execution, memory};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// Everything was compared, and is among what the source allows. Whether that is more than
    /// one value somewhere.
    Agree {
        /// Whether the source met something unspecified.
        open: bool,
    },
    /// The compiler refuses the program.
    Refused(Refusal),
    /// Both sides report a race, or a barrier that not all threads reach.
    Undefined(String),
    /// Not compared: an engine gave up.
    Unchecked(String),
    /// The target shows what the source does not allow, or is undefined where the source is not.
    Disagree(String),
}

impl Judged {
    /// The word that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            Judged::Agree { .. } => "agree",
            Judged::Refused(_) => "refused",
            Judged::Undefined(_) => "undefined",
            Judged::Unchecked(_) => "unchecked",
            Judged::Disagree(_) => "disagree",
        }
    }
}

/// The fuel of WSL's machine, of its relation, and of SPIR-V's machine.
const FUEL: (u64, u64, u64) = (1 << 16, 1 << 20, 1 << 22);
/// The fuel of SPIR-V's machine where the source ends.
const MUCH: u64 = 1 << 28;
/// The most ways of the relation.
const WAYS: usize = 64;

/// What the source allows.
enum Source {
    /// These values of each word of each resource.
    Shown { words: Vec<Vec<Possible>>, open: bool, complete: bool, races: bool },
    /// Threads of a group wait at different barriers.
    Diverged,
    /// Nothing is known.
    Unknown(String),
}

/// Runs both sides of a dispatch and compares them.
pub fn check(dispatch: &Dispatch, options: &Options) -> Judged {
    Subject::Dispatch(dispatch).judged(options).0
}

/// What runs on both sides.
enum Subject<'s, 'p> {
    /// A dispatch of a compute entry point.
    Dispatch(&'s Dispatch<'p>),
    /// A function with the words of its arguments.
    Call { program: &'p Program, text: &'p str, f: FunctionId, arguments: Vec<Vec<u32>> },
}

/// What the target is given: its module, and the contents of its buffers.
struct Given {
    module: Module,
    groups: [u32; 3],
    buffers: Vec<Buffer>,
}

impl Given {
    /// The dispatch for a device.
    fn dispatch(&self) -> ComputeDispatch {
        let bound = |buffer: &Buffer| {
            let binding = self.module.bindings.iter().find(|b| (b.set, b.binding) == (buffer.set, buffer.binding));
            let kind = binding.map_or(BufferKind::ReadWrite, |b| b.kind);
            BufferBinding { set: buffer.set, binding: buffer.binding, kind, bytes: buffer.bytes.clone() }
        };
        ComputeDispatch {
            words: self.module.words.clone().into(),
            entry: self.module.entry.clone(),
            groups: self.groups,
            buffers: self.buffers.iter().map(bound).collect(),
            ..ComputeDispatch::default()
        }
    }
}

/// What is in a buffer at the end, by set and binding; none of one that the module does not name.
type Bytes<'b> = &'b dyn Fn(u32, u32) -> Option<&'b [u8]>;

impl Subject<'_, '_> {
    /// The translation and what it is given, unless that is refused or cannot be.
    fn given(&self, options: &Options) -> Result<Given, Judged> {
        match self {
            Subject::Dispatch(dispatch) => {
                let module = translate(dispatch.program, dispatch.entry, options).map_err(Judged::Refused)?;
                let buffers = buffers_of(&module.bindings, &dispatch.resources).map_err(Judged::Unchecked)?;
                Ok(Given { module, groups: dispatch.groups, buffers })
            }
            Subject::Call { program, f, arguments, .. } => {
                let module = translate_function(program, *f, options).map_err(Judged::Refused)?;
                let mut layouts = Layouts::default();
                let function = program.env.function(*f);
                let too_large = || Judged::Unchecked("an argument or the result is too large".into());
                // The tables have the scalars one after the other, and one word more: no buffer is
                // empty.
                let mut given = Vec::new();
                for (parameter, words) in function.parameters.iter().zip(arguments) {
                    let leaves = leaves(program, &mut layouts, parameter.ty).ok_or_else(too_large)?;
                    given.extend(leaves.iter().map(|&(at, _)| words.get(at).copied().unwrap_or(0)));
                }
                given.push(0);
                let results = result_leaves(program, &mut layouts, function.result).ok_or_else(too_large)?.len() + 1;
                let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
                let buffers = vec![
                    Buffer { set: 0, binding: 0, bytes: bytes(&given) },
                    Buffer { set: 0, binding: 1, bytes: bytes(&vec![0; results]) },
                ];
                Ok(Given { module, groups: [1; 3], buffers })
            }
        }
    }

    /// The source by its machine, up to the first unspecified value.
    fn machine(&self) -> Source {
        match self {
            Subject::Dispatch(dispatch) => machine(dispatch),
            Subject::Call { program, f, arguments, .. } => {
                let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
                let settings = machine::Settings { strategy: Strategy::Carry, fuel: FUEL.0, ..machine::Settings::default() };
                let called = Compiled::new(program, *f).ok().map(|compiled| compiled.call(&flat, &mut [], &settings));
                match called {
                    Some(Ok((Ending::Returned(words), _))) => {
                        let words = vec![words.into_iter().map(|word| Possible::Values(vec![word])).collect()];
                        Source::Shown { words, open: false, complete: true, races: false }
                    }
                    _ => Source::Unknown("the machine stopped".into()),
                }
            }
        }
    }

    /// The source by its relation, along every way.
    fn relation(&self, precision: Option<Profile>) -> Source {
        match self {
            Subject::Dispatch(dispatch) => relation(dispatch, precision),
            Subject::Call { program, text, f, arguments } => {
                let values = program.env.function(*f).parameters.iter().zip(arguments);
                let values = values.map(|(p, words)| execution::term::Value {
                    ty: p.ty,
                    words: words.iter().map(|&w| smallstep_semantics::wsl::open::Word::Bits(w)).collect::<memory::Words>(),
                });
                let evaluation = call::Evaluation { program, text, start: execution::call_of(program, *f, values.collect()), root: *f };
                let settings =
                    call::Settings { strategy: Strategy::Carry, precision, fuel: FUEL.1, ways: WAYS, ..call::Settings::default() };
                match evaluation.run(&settings, &mut |_, _| {}) {
                    Outcome::Observed(shown) if shown.discarded > 0 => Source::Unknown("the source discards".into()),
                    Outcome::Observed(shown) => {
                        Source::Shown { words: vec![shown.words], open: shown.unspecified, complete: shown.complete, races: false }
                    }
                    other => Source::Unknown(format!("the relation: {}", other.name())),
                }
            }
        }
    }

    /// Every scalar that the target shows; the first that is not allowed.
    fn compare(&self, module: &Module, words: &[Vec<Possible>], shown: Bytes) -> Result<(), String> {
        match self {
            Subject::Dispatch(dispatch) => compare(dispatch.program, &dispatch.resources, &module.bindings, words, shown),
            Subject::Call { program, f, .. } => {
                let result = program.env.function(*f).result;
                let leaves = result_leaves(program, &mut Layouts::default(), result).ok_or("the result is too large")?;
                let (Some(allowed), bytes) = (words.first(), shown(0, 1).unwrap_or_default()) else { return Ok(()) };
                for (k, &(at, of)) in leaves.iter().enumerate() {
                    let word = bytes.get(4 * k..4 * k + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    let (Some(possible), Some(word)) = (allowed.get(at), word) else { return Err("the result has another size".into()) };
                    if !is_allowed(possible, of, word) {
                        return Err(format!("word {at} of the result is {word:#x} and the source allows {possible:?}"));
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether what the target shows is allowed, by the machine, then by the relation, then by the
    /// relation under that precision if there is one.
    fn allows(&self, module: &Module, precision: Option<Profile>, shown: Bytes) -> Judged {
        match self.machine() {
            Source::Shown { words, .. } if self.compare(module, &words, shown).is_ok() => return Judged::Agree { open: false },
            Source::Diverged => return Judged::Undefined("threads of a group wait at different barriers".into()),
            Source::Shown { .. } | Source::Unknown(_) => {}
        }
        let mut last = String::new();
        for precision in [Some(None), precision.map(Some)].into_iter().flatten() {
            match self.relation(precision) {
                Source::Shown { races: true, .. } => return Judged::Undefined("the source has a race".into()),
                Source::Shown { words, open, complete, .. } => match self.compare(module, &words, shown) {
                    Ok(()) => return Judged::Agree { open },
                    Err(why) if complete => last = why,
                    Err(why) => return Judged::Unchecked(format!("not every way was followed, and {why}")),
                },
                Source::Diverged => return Judged::Undefined("threads of a group wait at different barriers".into()),
                Source::Unknown(why) => return Judged::Unchecked(why),
            }
        }
        Judged::Disagree(last)
    }

    /// The verdict of both interpreters, and what the target was given if it ran.
    fn judged(&self, options: &Options) -> (Judged, Option<Given>) {
        let given = match self.given(options) {
            Ok(given) => given,
            Err(judged) => return (judged, None),
        };
        let judged = self.judged_of(&given, options);
        (judged, Some(given))
    }

    fn judged_of(&self, given: &Given, options: &Options) -> Judged {
        let ends = || matches!(self.machine(), Source::Shown { .. });
        let shown = match target(&given.module, given.groups, &given.buffers, ends) {
            Err(LoadError::Limit(limit)) => return Judged::Unchecked(format!("the target: {limit}")),
            Err(error) => return Judged::Disagree(format!("the module is not valid: {error}")),
            Ok(Outcome::Observed(shown)) => shown,
            Ok(Outcome::Undefined(undefined)) => {
                let what = format!("{}: {}", undefined.ub.id(), undefined.what);
                let disagree = || Judged::Disagree(format!("the module has undefined behaviour: {what} at {}", undefined.at));
                if !matches!(undefined.ub, Ub::DataRace | Ub::DivergentBarrier) {
                    return disagree();
                }
                return match self.relation(None) {
                    Source::Shown { races: true, .. } | Source::Diverged => Judged::Undefined(what),
                    Source::Unknown(why) => Judged::Unchecked(why),
                    Source::Shown { .. } => disagree(),
                };
            }
            Ok(Outcome::OutOfFuel) => return Judged::Unchecked(BOTH_OUT.into()),
            Ok(Outcome::Diverges(why) | Outcome::Unsupported(why)) => return Judged::Disagree(format!("the module: {why}")),
            Ok(other) => return Judged::Unchecked(format!("the target: {other:?}")),
        };
        if let Some(undefined) = shown.buffers.iter().find_map(|b| b.undefined.first()) {
            return Judged::Disagree(format!("the module shows an undefined value: {}", undefined.kind));
        }
        let bytes = |set, binding| {
            let buffer = shown.buffers.iter().find(|b| (b.set, b.binding) == (set, binding));
            buffer.map(|b| b.bytes.as_slice())
        };
        // By the profile only if the module approximates what WSL's definite results are.
        let approximates = given.module.rows.iter().any(|(row, _)| *row == Row::Approximate);
        self.allows(&given.module, approximates.then_some(options.profile), &bytes)
    }

    /// The verdict of what a device shows: floats are judged by the profile.
    fn on_device(&self, outcome: &DeviceOutcome, options: &Options) -> Judged {
        let module = match self.given(options) {
            Ok(given) => given.module,
            Err(judged) => return judged,
        };
        match outcome {
            DeviceOutcome::Computed(result) => self.allows(&module, Some(options.profile), &|set, binding| result.buffer(set, binding)),
            DeviceOutcome::Unchecked(why) | DeviceOutcome::Outage(why) => Judged::Unchecked(why.clone()),
            other => Judged::Disagree(other.to_string()),
        }
    }
}

/// The scalars of a result; none of `void`.
fn result_leaves(program: &Program, layouts: &mut Layouts, ty: TypeId) -> Option<Vec<(usize, Scalar)>> {
    if ty == TypeId::VOID { Some(Vec::new()) } else { leaves(program, layouts, ty) }
}

/// Why neither side shows anything.
const BOTH_OUT: &str = "neither side ends within its fuel";

/// The buffers of a module, with what is bound to them.
fn buffers_of(bindings: &[Binding], resources: &[Resource]) -> Result<Vec<Buffer>, String> {
    let mut buffers = Vec::new();
    for binding in bindings {
        let resource = resources.iter().find(|r| r.register == binding.register).and_then(Resource::buffer);
        let Some(buffer) = resource else { return Err(format!("nothing is bound to {}", binding.register)) };
        if buffer.words.is_empty() {
            return Err("a buffer has no bytes".into());
        }
        let bytes = buffer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        buffers.push(Buffer { set: binding.set, binding: binding.binding, bytes });
    }
    Ok(buffers)
}

/// Runs the module. Where it is out of fuel and the source ends, it gets more.
fn target(
    module: &Module,
    groups: [u32; 3],
    buffers: &[Buffer],
    source_ends: impl FnOnce() -> bool,
) -> Result<Outcome<Observation>, LoadError> {
    match target_with(module, groups, buffers, FUEL.2)? {
        Outcome::OutOfFuel if source_ends() => match target_with(module, groups, buffers, MUCH)? {
            Outcome::OutOfFuel => Ok(Outcome::Diverges(format!("it does not end within {MUCH} instructions, and the source ends"))),
            other => Ok(other),
        },
        other => Ok(other),
    }
}

fn target_with(module: &Module, groups: [u32; 3], buffers: &[Buffer], fuel: u64) -> Result<Outcome<Observation>, LoadError> {
    let loaded = spirv::Module::load(&module.words)?;
    let resources = environment::Resources::of_buffers(buffers);
    let dispatch = environment::Dispatch { entry: &module.entry, groups, resources, limits: Limits::of_fuel(fuel) };
    match lockstep::Program::compile(&loaded, &module.entry) {
        Ok(program) => Ok(program.run(&dispatch, 1)),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => {
            spirv::grid::run(&loaded, &dispatch, &spirv::concurrency::Schedule::default(), &Relation::default(), &mut ())
        }
        Err(other) => Err(other),
    }
}

/// The source by its machine, up to the first unspecified value.
fn machine(dispatch: &Dispatch) -> Source {
    let unknown = |why: &str| Source::Unknown(why.into());
    let Ok(compiled) = Compiled::new(dispatch.program, dispatch.entry.function) else { return unknown("the machine refuses") };
    let settings = machine::Settings { strategy: Strategy::Carry, fuel: FUEL.0, ..machine::Settings::default() };
    match dispatch.run_fast(&compiled, &settings) {
        Ok(fast) => match fast.ended {
            Dispatched::Done => Source::Shown { words: fast.possible(), open: false, complete: true, races: false },
            Dispatched::Diverged(..) => Source::Diverged,
            Dispatched::Stopped { ending: Ending::OutOfFuel { .. }, .. } => unknown("the machine is out of fuel"),
            Dispatched::Stopped { .. } => unknown("the machine stopped"),
        },
        Err(why) => Source::Unknown(why),
    }
}

/// The source by its relation, along every way.
fn relation(dispatch: &Dispatch, precision: Option<Profile>) -> Source {
    let settings = group::Settings { strategy: Strategy::Carry, precision, fuel: FUEL.1, ways: WAYS, ..group::Settings::default() };
    match dispatch.run(&settings) {
        group::Ending::Shown(shown) => {
            Source::Shown { words: shown.buffers, open: shown.unspecified, complete: shown.complete, races: !shown.races.is_empty() }
        }
        group::Ending::Diverged(_) => Source::Diverged,
        group::Ending::OutOfFuel(_) => Source::Unknown("the relation is out of fuel".into()),
        group::Ending::Other(other) => Source::Unknown(format!("the relation: {other:?}")),
    }
}

/// The scalars of a type: in which word each is. None if it is too large.
pub fn leaves(program: &Program, layouts: &mut Layouts, ty: TypeId) -> Option<Vec<(usize, Scalar)>> {
    let mut out = Vec::new();
    add_leaves(program, layouts, ty, 0, &mut out)?;
    Some(out)
}

fn add_leaves(program: &Program, layouts: &mut Layouts, ty: TypeId, at: usize, out: &mut Vec<(usize, Scalar)>) -> Option<()> {
    match program.env.types.get(ty) {
        Type::Scalar(s) | Type::Atomic(s) => out.push((at, s)),
        Type::Vector(s, n) => out.extend((0..n.into()).map(|k: usize| (at + k, s))),
        Type::Matrix(s, columns, rows) => {
            let stride = usize::from(rows).next_power_of_two();
            out.extend((0..columns.into()).flat_map(|c: usize| (0..rows.into()).map(move |r: usize| (at + c * stride + r, s))));
        }
        Type::Enum(id) => add_leaves(program, layouts, program.env.enumeration(id).base, at, out)?,
        Type::Array(of, n) => {
            let stride = layouts.stride(&program.env, of)? as usize / 4;
            for k in 0..n as usize {
                add_leaves(program, layouts, of, at + k * stride, out)?;
            }
        }
        Type::Struct(s) => {
            let offsets = layouts.offsets(&program.env, s)?.to_vec();
            for (field, offset) in program.env.structure(s).fields.iter().zip(offsets) {
                add_leaves(program, layouts, field.ty, at + offset as usize / 4, out)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Whether a scalar is among what the source allows.
pub fn is_allowed(possible: &Possible, of: Scalar, shown: u32) -> bool {
    let float = f32::from_bits(shown);
    match possible {
        Possible::Any => true,
        Possible::Values(values) => values.iter().any(|&value| match of {
            Scalar::Bool => (value != 0) == (shown != 0),
            Scalar::Float if f32::from_bits(value).is_nan() => float.is_nan(),
            _ => value == shown,
        }),
        Possible::Floats(set) if float.is_nan() => set.has_nan(),
        Possible::Floats(set) => set.contains(f64::from(float.canonical())),
    }
}

/// Every scalar of every buffer; the first that is not allowed.
fn compare(program: &Program, resources: &[Resource], bindings: &[Binding], words: &[Vec<Possible>], shown: Bytes) -> Result<(), String> {
    let mut layouts = Layouts::default();
    for (resource, allowed) in resources.iter().zip(words) {
        let Some(buffer) = resource.buffer() else { continue };
        let Some(binding) = bindings.iter().find(|b| b.register == resource.register) else { continue };
        let observed = shown(binding.set, binding.binding);
        let stride = buffer.stride.max(1) as usize;
        let leaves = leaves(program, &mut layouts, buffer.element).ok_or("the elements of a buffer are too large")?;
        for element in 0..buffer.words.len() / stride {
            for &(leaf, of) in &leaves {
                let at = element * stride + leaf;
                // A buffer that the module does not name keeps what it holds.
                let word = match observed {
                    Some(bytes) => bytes.get(4 * at..4 * at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                    None => buffer.words.get(at).copied(),
                };
                let (Some(word), Some(possible)) = (word, allowed.get(at)) else { return Err("a buffer has another size".into()) };
                if !is_allowed(possible, of, word) {
                    let name = &resource.name;
                    return Err(format!("word {leaf} of {name}[{element}] is {word:#x} and the source allows {possible:?}"));
                }
            }
        }
    }
    Ok(())
}

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Found {
    /// How many of each verdict, by its name.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Of those that agree, how many met something unspecified.
    pub open: u64,
    /// What was refused, by construct.
    pub refused: BTreeMap<String, u64>,
    /// Why something was not compared.
    pub unchecked: BTreeMap<String, u64>,
    /// Disagreements: seed, text, and what differs; at most [`MAX_WRONG`].
    pub wrong: Vec<(u64, String, String)>,
}

/// The most disagreements that are kept.
pub const MAX_WRONG: usize = 10;

impl Found {
    /// How many have the verdict.
    pub fn count(&self, verdict: &str) -> u64 {
        self.verdicts.get(verdict).copied().unwrap_or(0)
    }

    /// Adds a verdict.
    pub fn note(&mut self, seed: u64, text: &str, judged: Judged) {
        *self.verdicts.entry(judged.name()).or_default() += 1;
        match judged {
            Judged::Agree { open } => self.open += u64::from(open),
            Judged::Refused(refusal) => {
                // By construct, whatever its elements are.
                let what = match (refusal.what.find('<'), refusal.what.rfind('>')) {
                    (Some(from), Some(to)) if from < to => format!("{}{}", &refusal.what[..from], &refusal.what[to + 1..]),
                    _ => refusal.what,
                };
                *self.refused.entry(what).or_default() += 1;
            }
            Judged::Unchecked(why) => {
                let kind = why.split(", and ").next().unwrap_or_default().chars().take(80).collect();
                *self.unchecked.entry(kind).or_default() += 1;
            }
            Judged::Undefined(_) => {}
            Judged::Disagree(why) if self.wrong.len() < MAX_WRONG => self.wrong.push((seed, text.into(), why)),
            Judged::Disagree(_) => {}
        }
    }

    fn merge(&mut self, other: Found) {
        for (verdict, n) in other.verdicts {
            *self.verdicts.entry(verdict).or_default() += n;
        }
        for (what, n) in other.refused {
            *self.refused.entry(what).or_default() += n;
        }
        for (what, n) in other.unchecked {
            *self.unchecked.entry(what).or_default() += n;
        }
        self.open += other.open;
        self.wrong.extend(other.wrong);
        self.wrong.sort_by_key(|w| w.0);
        self.wrong.truncate(MAX_WRONG);
    }
}

/// The most threads of a group of a typed program that are run.
const MAX_THREADS: u32 = 512;

/// Which programs are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Dispatches with barriers, threadgroup memory and atomics ([`dispatch::dispatch`]).
    Dispatches,
    /// The compute entry points of typed programs, with two groups ([`typed::program`]).
    EntryPoints,
    /// The functions of typed programs, with arguments drawn.
    Functions,
    /// Dispatches in which a race is planted ([`dispatch::racy`]).
    Racy,
}

/// What a program of a seed is run as: to each subject with its number, or to why there is none.
type Each<'e> = &'e mut dyn FnMut(u32, &str, Result<Subject<'_, '_>, Judged>);

/// The subjects of the program of a seed.
fn subjects(programs: Programs, seed: u64, each: Each) {
    match programs {
        Programs::Dispatches | Programs::Racy => {
            let made = if programs == Programs::Racy { dispatch::racy(seed) } else { dispatch::dispatch(seed) };
            let Some(program) = validate(&made.text).program else {
                return each(0, &made.text, Err(Judged::Disagree("the program is not valid".into())));
            };
            let Some(entry) = program.entry_points.first() else { return };
            match made.bind(&program, entry) {
                Ok(resources) => {
                    let dispatch = Dispatch { program: &program, text: &made.text, entry, groups: made.groups, resources };
                    each(0, &made.text, Ok(Subject::Dispatch(&dispatch)));
                }
                Err(wrong) => each(0, &made.text, Err(Judged::Unchecked(wrong.0))),
            }
        }
        Programs::EntryPoints | Programs::Functions => {
            let text = typed::program(seed);
            match validate(&text).program {
                Some(program) if programs == Programs::EntryPoints => entry_points(&program, &text, seed, each),
                Some(program) => functions(&program, &text, seed, each),
                None => each(0, &text, Err(Judged::Disagree("the program is not valid".into()))),
            }
        }
    }
}

/// The compute entry points of a program, each over one group or two with resources drawn by a
/// seed.
fn entry_points(program: &Program, text: &str, seed: u64, each: Each) {
    for (number, entry) in (0..).zip(&program.entry_points) {
        let Stage::Compute(size) = entry.stage else { continue };
        let mut unchecked = |why: String| each(number, text, Err(Judged::Unchecked(why)));
        let threads = size.iter().try_fold(1u32, |all, &n| all.checked_mul(n)).filter(|&n| n <= MAX_THREADS);
        let Some(threads) = threads else {
            unchecked(format!("more than {MAX_THREADS} threads"));
            continue;
        };
        let groups = if threads <= 64 { 2 } else { 1 };
        let Ok(mut resources) = Resource::of(program, entry) else {
            unchecked("resources that are not bound".into());
            continue;
        };
        if !bound::bind(program, &mut resources, 2048, seed) {
            unchecked("an element of more than 2048 words".into());
            continue;
        }
        let dispatch = Dispatch { program, text, entry, groups: [groups, 1, 1], resources };
        each(number, text, Ok(Subject::Dispatch(&dispatch)));
    }
}

/// The functions of a program that are no entry points, each called with arguments drawn by a seed.
/// Those whose arguments are not drawn are left out.
fn functions(program: &Program, text: &str, seed: u64, each: Each) {
    let mut layouts = Layouts::default();
    for (number, function) in (0..).zip(&program.env.functions) {
        let parameters = function.parameters.iter().zip(0..);
        let arguments = parameters.map(|(p, k)| arguments::words(program, &mut layouts, p.ty, seed, k)).collect::<Option<Vec<_>>>();
        if let (false, Some(arguments)) = (function.kind.is_entry_point(), arguments) {
            each(number, text, Ok(Subject::Call { program, text, f: FunctionId(number), arguments }));
        }
    }
}

/// The compute entry points of a program, judged.
pub fn check_entry_points(program: &Program, text: &str, seed: u64, options: &Options, found: &mut Found) {
    entry_points(program, text, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

/// The functions of a program that are no entry points, judged.
pub fn check_functions(program: &Program, text: &str, seed: u64, options: &Options, found: &mut Found) {
    functions(program, text, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

fn judged(subject: Result<Subject, Judged>, options: &Options) -> Judged {
    match subject {
        Ok(subject) => subject.judged(options).0,
        Err(judged) => judged,
    }
}

/// The program of a seed, judged.
pub fn judge(programs: Programs, seed: u64, options: &Options, found: &mut Found) {
    subjects(programs, seed, &mut |_, text, subject| found.note(seed, text, judged(subject, options)));
}

/// Programs on which both interpreters agree, run on a device: what it shows must be among what the
/// source allows. Of the others the interpreters' verdict is counted.
pub fn device_campaign(programs: Programs, seed: u64, count: u64, device: &Device, options: &Options) -> Found {
    const WINDOW: u64 = 128;
    let mut found = Found::default();
    for first in (0..count).step_by(WINDOW as usize) {
        for seed in (first..count.min(first + WINDOW)).map(|i| seed.wrapping_add(i)) {
            subjects(programs, seed, &mut |number, text, subject| {
                let (judged, given) = match &subject {
                    Ok(subject) => subject.judged(options),
                    Err(judged) => (judged.clone(), None),
                };
                match given {
                    Some(given) if matches!(judged, Judged::Agree { .. }) && number < 1 << 16 => {
                        device.submit(seed << 16 | u64::from(number), given.dispatch());
                    }
                    _ => found.note(seed, text, judged),
                }
            });
        }
        while let Some(finished) = device.receive() {
            let seed = finished.id >> 16;
            subjects(programs, seed, &mut |number, text, subject| {
                if let (true, Ok(subject)) = (u64::from(number) == finished.id & 0xffff, subject) {
                    found.note(seed, text, subject.on_device(&finished.outcome, options));
                }
            });
        }
    }
    found
}

/// A function called with the words of its arguments, on both sides.
pub fn call_both((program, text): (&Program, &str), f: FunctionId, arguments: &[Vec<u32>], options: &Options) -> Judged {
    Subject::Call { program, text, f, arguments: arguments.to_vec() }.judged(options).0
}

/// Programs `seed` to `seed + count - 1`, on so many threads.
pub fn campaign(programs: Programs, seed: u64, count: u64, threads: usize, options: &Options) -> Found {
    let (next, all) = (AtomicU64::new(0), Mutex::new(Found::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut found = Found::default();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    judge(programs, seed.wrapping_add(i), options, &mut found);
                }
                all.lock().unwrap_or_else(|e| e.into_inner()).merge(found);
            });
        }
    });
    all.into_inner().unwrap_or_else(|e| e.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::{ComputeResult, words_hash};

    /// What a device shows is judged: another word than the source allows disagrees, and so does a
    /// crash.
    #[test]
    fn a_device_that_shows_something_else_disagrees() {
        let text = "int f(int a) { int[2] v; v[0] = a; v[1] = a + 1; return v[uint(a)]; }";
        let program = validate(text).program.expect("valid");
        let options = Options::default();
        let judged = |argument: u32, shown: u32| {
            let subject = Subject::Call { program: &program, text, f: FunctionId(0), arguments: vec![vec![argument]] };
            let given = subject.given(&options).unwrap_or_else(|e| panic!("{e:?}"));
            let bytes = [shown.to_le_bytes(), [0; 4]].concat();
            let buffers = vec![Buffer { set: 0, binding: 1, bytes }];
            let result = ComputeResult { words_hash: words_hash(&given.module.words), buffers, images: Vec::new() };
            subject.on_device(&DeviceOutcome::Computed(result), &options)
        };
        assert_eq!(judged(1, 2), Judged::Agree { open: false });
        assert!(matches!(judged(1, 1), Judged::Disagree(_)));
        // An index out of bounds is any in bounds.
        assert_eq!([judged(7, 7), judged(7, 8)], [Judged::Agree { open: true }, Judged::Agree { open: true }]);
        assert!(matches!(judged(7, 9), Judged::Disagree(_)));
        let subject = Subject::Call { program: &program, text, f: FunctionId(0), arguments: vec![vec![1]] };
        assert!(matches!(subject.on_device(&DeviceOutcome::Lost("gone".into()), &options), Judged::Disagree(_)));
        assert!(matches!(subject.on_device(&DeviceOutcome::Unchecked("no".into()), &options), Judged::Unchecked(_)));
    }

    #[test]
    fn values_are_compared_by_their_types() {
        let (nan, other_nan) = (0x7fc0_0000, 0xffc0_0001);
        let one = |bits| Possible::Values(vec![bits]);
        assert!(is_allowed(&one(nan), Scalar::Float, other_nan) && !is_allowed(&one(nan), Scalar::Uint, other_nan));
        assert!(is_allowed(&one(4), Scalar::Bool, 1) && !is_allowed(&one(4), Scalar::Bool, 0) && !is_allowed(&one(4), Scalar::Int, 1));
        assert!(!is_allowed(&one(0), Scalar::Float, 0x8000_0000) && is_allowed(&Possible::Any, Scalar::Float, 5));
    }
}

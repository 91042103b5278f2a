//! What runs on both sides: a dispatch of a compute entry point, or a function over a table of
//! arguments.

use super::Judged;
use super::bound::{Bound, formats};
use super::compare::{compare, is_allowed, leaves, result_leaves};
use super::source::{FUEL, MUCH, Source, WAYS, machine, relation};
use crate::compile::wsl::row::Row;
use crate::compile::wsl::{BindingKind, Module, Options, translate, translate_function};
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch, ImageBinding, ImageKind};
use crate::gpu::DeviceOutcome;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{self, BoundImage, Limits, Observation};
use smallstep_semantics::spirv::{self, Buffer, LoadError, Relation, lockstep};
use smallstep_semantics::undefined::Ub;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::{self as wsl_machine, Compiled, Ending};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::{call, execution, memory};

/// What runs on both sides.
pub(super) enum Subject<'s, 'p> {
    /// A dispatch of a compute entry point.
    Dispatch(&'s Dispatch<'p>),
    /// A function with the words of its arguments.
    Call { program: &'p Program, text: &'p str, f: FunctionId, arguments: Vec<Vec<u32>> },
}

/// What the target is given: its module, and what is bound.
pub(super) struct Given {
    module: Module,
    groups: [u32; 3],
    bound: Bound,
}

impl Given {
    /// The dispatch for a device.
    pub(super) fn dispatch(&self) -> ComputeDispatch {
        let kind_at = |set: u32, binding: u32| {
            let at = self.module.bindings.iter().find(|b| (b.set, b.binding) == (set, binding));
            at.map(|b| b.kind)
        };
        let buffer = |buffer: &Buffer| {
            let kind = match kind_at(buffer.set, buffer.binding) {
                Some(BindingKind::Buffer(kind, _)) => kind,
                _ => BufferKind::ReadWrite,
            };
            BufferBinding { set: buffer.set, binding: buffer.binding, kind, bytes: buffer.bytes.clone() }
        };
        let image = |image: &BoundImage| {
            let kind = match kind_at(image.set, image.binding) {
                Some(BindingKind::Storage(..)) => ImageKind::Storage,
                _ => ImageKind::Sampled,
            };
            ImageBinding { set: image.set, binding: image.binding, kind, image: image.image.clone() }
        };
        ComputeDispatch {
            words: self.module.words.clone().into(),
            entry: self.module.entry.clone(),
            groups: self.groups,
            buffers: self.bound.buffers.iter().map(buffer).collect(),
            images: self.bound.images.iter().map(image).collect(),
            samplers: self.bound.samplers.clone(),
            ..ComputeDispatch::default()
        }
    }
}

/// What is in a buffer or storage image at the end, by set and binding; none of one that the module does not name.
pub(super) type Bytes<'b> = &'b dyn Fn(u32, u32) -> Option<&'b [u8]>;

impl Subject<'_, '_> {
    /// The translation and what it is given, unless that is refused or cannot be.
    pub(super) fn given(&self, options: &Options) -> Result<Given, Judged> {
        match self {
            Subject::Dispatch(dispatch) => {
                let formats = formats(&dispatch.resources);
                let options = Options { formats: &formats, ..*options };
                let module = translate(dispatch.program, dispatch.entry, &options).map_err(Judged::Refused)?;
                let bound = Bound::of(&module.bindings, &dispatch.resources).map_err(Judged::Unchecked)?;
                Ok(Given { module, groups: dispatch.groups, bound })
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
                Ok(Given { module, groups: [1; 3], bound: Bound { buffers, ..Bound::default() } })
            }
        }
    }

    /// The source by its machine, up to the first unspecified value.
    fn machine(&self) -> Source {
        match self {
            Subject::Dispatch(dispatch) => machine(dispatch),
            Subject::Call { program, f, arguments, .. } => {
                let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
                let settings = wsl_machine::Settings { strategy: Strategy::Carry, fuel: FUEL.0, ..wsl_machine::Settings::default() };
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
    pub(super) fn judged(&self, options: &Options) -> (Judged, Option<Given>) {
        let given = match self.given(options) {
            Ok(given) => given,
            Err(judged) => return (judged, None),
        };
        let judged = self.judged_of(&given, options);
        (judged, Some(given))
    }

    fn judged_of(&self, given: &Given, options: &Options) -> Judged {
        let ends = || matches!(self.machine(), Source::Shown { .. });
        let shown = match target(given, ends) {
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
        if let Some(undefined) = shown.images.iter().find_map(|i| i.undefined.first()) {
            return Judged::Disagree(format!("the module stores an undefined value in a texture: {}", undefined.kind));
        }
        let bytes = |set, binding| {
            let buffers = shown.buffers.iter().map(|b| (b.set, b.binding, b.bytes.as_slice()));
            let mut all = buffers.chain(shown.images.iter().map(|i| (i.set, i.binding, i.bytes.as_slice())));
            all.find(|(s, b, _)| (*s, *b) == (set, binding)).map(|(.., bytes)| bytes)
        };
        // By the profile only if the module approximates what WSL's definite results are.
        let approximates = given.module.rows.iter().any(|(row, _)| *row == Row::Approximate);
        self.allows(&given.module, approximates.then_some(options.profile), &bytes)
    }

    /// The verdict of what a device shows: floats are judged by the profile.
    pub(super) fn on_device(&self, outcome: &DeviceOutcome, options: &Options) -> Judged {
        let module = match self.given(options) {
            Ok(given) => given.module,
            Err(judged) => return judged,
        };
        match outcome {
            DeviceOutcome::Computed(result) => {
                let image = |set, binding| result.images.iter().find(|i| (i.set, i.binding) == (set, binding)).map(|i| i.bytes.as_slice());
                let shown = |set, binding| result.buffer(set, binding).or_else(|| image(set, binding));
                self.allows(&module, Some(options.profile), &shown)
            }
            DeviceOutcome::Unchecked(why) | DeviceOutcome::Outage(why) => Judged::Unchecked(why.clone()),
            other => Judged::Disagree(other.to_string()),
        }
    }
}

/// Why neither side shows anything.
const BOTH_OUT: &str = "neither side ends within its fuel";

/// Runs the module. Where it is out of fuel and the source ends, it gets more.
fn target(given: &Given, source_ends: impl FnOnce() -> bool) -> Result<Outcome<Observation>, LoadError> {
    match target_with(given, FUEL.2)? {
        Outcome::OutOfFuel if source_ends() => match target_with(given, MUCH)? {
            Outcome::OutOfFuel => Ok(Outcome::Diverges(format!("it does not end within {MUCH} instructions, and the source ends"))),
            other => Ok(other),
        },
        other => Ok(other),
    }
}

fn target_with(Given { module, groups, bound }: &Given, fuel: u64) -> Result<Outcome<Observation>, LoadError> {
    let loaded = spirv::Module::load(&module.words)?;
    let resources = bound.resources();
    let dispatch = environment::Dispatch { entry: &module.entry, groups: *groups, resources, limits: Limits::of_fuel(fuel) };
    match lockstep::Program::compile(&loaded, &module.entry) {
        Ok(program) => Ok(program.run(&dispatch, 1)),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => {
            spirv::grid::run(&loaded, &dispatch, &spirv::concurrency::Schedule::default(), &Relation::default(), &mut ())
        }
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::{ComputeResult, words_hash};
    use smallstep_semantics::wsl::validate::validate;

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
}

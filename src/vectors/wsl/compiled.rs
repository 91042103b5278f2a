//! The SPIR-V in a case. The compiler makes it when the case is recorded. A replay runs the words
//! of the file.

use super::engines::{Bounds, Scalars, Unfit};
use crate::compile::wsl::{Binding, Module, Options, translate, translate_function};
use crate::dispatch::words_hash;
use crate::theorem::wsl::leaves;
use crate::vectors::format::{from_hex, hex, short, words_from_text, words_text};
use serde::{Deserialize, Serialize};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{self, Limits, Observation};
use smallstep_semantics::spirv::{self, LoadError, Relation, lockstep};
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::types::{Scalar, TypeId};
use smallstep_semantics::wsl::typing::program::Program;

/// A compiled module, and the offsets of the case's scalars in its buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// The words, in base64.
    words: String,
    words_hash: String,
    /// The name of the entry point.
    entry: String,
    /// For a dispatch: each of its buffers. For a call: the buffer that gets the result.
    buffers: Vec<Bound>,
}

/// The binding of a buffer, and the offsets of the scalars in an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The descriptor set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The distance in bytes from one element to the next.
    pub stride: u32,
    /// The offset in bytes of each scalar of an element.
    pub offsets: Vec<u32>,
}

impl Bound {
    /// The bytes of a buffer with these scalars.
    fn bytes(&self, elements: u32, scalars: impl Iterator<Item = u32>) -> Result<Vec<u8>, Unfit> {
        let size = (self.stride as usize).saturating_mul(elements as usize);
        if size > MAX_BYTES {
            return Err(Unfit::Room(format!("a buffer of more than {MAX_BYTES} bytes")));
        }
        let mut bytes = vec![0; size];
        for (at, word) in self.places(elements).zip(scalars) {
            bytes.get_mut(at..at + 4).ok_or_else(outside)?.copy_from_slice(&word.to_le_bytes());
        }
        Ok(bytes)
    }

    fn places(&self, elements: u32) -> impl Iterator<Item = usize> + '_ {
        (0..elements as usize).flat_map(move |element| self.offsets.iter().map(move |&at| element * self.stride as usize + at as usize))
    }
}

/// The most bytes of one buffer.
const MAX_BYTES: usize = 1 << 26;

fn outside() -> Unfit {
    Unfit::Wrong("an offset of `spirv` lies outside its buffer".into())
}

/// A buffer for the words: its binding, its number of elements, and its initial scalars.
pub(super) type BufferContents<'g> = (&'g Bound, u32, &'g mut dyn Iterator<Item = u32>);

impl Compiled {
    fn of(module: Module, buffers: Vec<Bound>) -> Compiled {
        let Module { words, entry, .. } = module;
        Compiled { words: words_text(&words), words_hash: hex(words_hash(&words)), entry, buffers }
    }

    /// The SPIR-V of a dispatch, if the compiler accepts the program. `elements` has for each
    /// buffer its register, the words of an element, and the indices of its scalars in these words.
    pub(super) fn of_dispatch(
        program: &Program,
        entry: &EntryPoint,
        profile: Profile,
        elements: &[(&str, usize, Vec<usize>)],
    ) -> Option<Compiled> {
        let module = translate(program, entry, &Options { profile, ..Options::default() }).ok()?;
        let bound = |(register, stride, scalars): &(&str, usize, Vec<usize>)| {
            let Binding { set, binding, .. } = module.bindings.iter().find(|b| b.register == *register)?;
            let offsets = scalars.iter().map(|&at| 4 * at as u32).collect();
            Some(Bound { set: *set, binding: *binding, stride: 4 * *stride as u32, offsets })
        };
        let buffers = elements.iter().map(bound).collect::<Option<_>>()?;
        Some(Compiled::of(module, buffers))
    }

    /// The SPIR-V of a call, if the compiler accepts it. Its entry point evaluates the expression
    /// with the functions of the program.
    pub(super) fn of_call(program: &str, expression: &str, profile: Profile) -> Option<Compiled> {
        // After an empty statement, the expression's value becomes the result of a function.
        let prepared = prepare(program, &format!("{{}} {expression}")).ok()?;
        let root = FunctionId(prepared.program.bodies.len().checked_sub(1)? as u32);
        let result = prepared.program.env.function(root).result;
        if result == TypeId::VOID {
            return None;
        }
        let scalars = leaves(&prepared.program, &mut Layouts::default(), result)?.len() as u32;
        let module = translate_function(&prepared.program, root, &Options { profile, ..Options::default() }).ok()?;
        // The buffer of results has one more word, so it is never empty.
        let bound = Bound { set: 0, binding: 1, stride: 4 * (scalars + 1), offsets: (0..scalars).map(|k| 4 * k).collect() };
        Some(Compiled::of(module, vec![bound]))
    }

    /// The bindings of the buffers.
    pub(super) fn buffers(&self) -> &[Bound] {
        &self.buffers
    }

    /// Runs the module of a call. Returns its scalars.
    pub(super) fn call(&self, scalars: &[(usize, Scalar)], bounds: Bounds) -> Result<Scalars, Unfit> {
        let [bound] = &self.buffers[..] else { return Err(Unfit::Wrong("`spirv` of a call has one buffer".into())) };
        let argument = Bound { set: 0, binding: 0, stride: 4, offsets: vec![0] };
        let (mut none, mut zeros) = (std::iter::empty(), std::iter::once(0));
        let mut shown = self.run([1; 3], vec![(&argument, 1, &mut zeros), (bound, 1, &mut none)], bounds)?;
        let words = shown.pop().unwrap_or_default();
        if words.len() != scalars.len() {
            return Err(Unfit::Wrong(format!("`spirv` says where {} scalars are, and the value has {}", words.len(), scalars.len())));
        }
        Ok(words.into_iter().zip(scalars).map(|(word, &(_, scalar))| (word, scalar)).collect())
    }

    /// Runs the words over these buffers. Returns the final scalars of each buffer.
    pub(super) fn run(&self, groups: [u32; 3], contents: Vec<BufferContents>, bounds: Bounds) -> Result<Vec<Vec<u32>>, Unfit> {
        let words = words_from_text("words", &self.words).map_err(|e| Unfit::Wrong(e.what))?;
        let found = words_hash(&words);
        if from_hex(&self.words_hash) != Some(found) {
            let stated_hash = short(&self.words_hash).to_string();
            return Err(Unfit::Wrong(format!("the words have the hash {}; `words_hash` says \"{stated_hash}\"", hex(found))));
        }
        let mut buffers = Vec::new();
        let mut places = Vec::new();
        for (bound, elements, scalars) in contents {
            let bytes = bound.bytes(elements, scalars)?;
            buffers.push(spirv::Buffer { set: bound.set, binding: bound.binding, bytes });
            places.push((bound, elements));
        }
        let shown = observed(&words, &self.entry, groups, &buffers, bounds)?;
        let word = |bytes: &[u8], at: usize| match bytes.get(at..at + 4) {
            Some(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => Err(outside()),
        };
        let scalars = |(bound, elements): (&Bound, u32)| {
            let found = shown.buffers.iter().find(|b| (b.set, b.binding) == (bound.set, bound.binding));
            let initial = buffers.iter().find(|b| (b.set, b.binding) == (bound.set, bound.binding));
            // A buffer that the module does not use keeps its contents.
            let bytes = found.map(|b| &b.bytes[..]).or(initial.map(|b| &b.bytes[..])).unwrap_or_default();
            bound.places(elements).map(|at| word(bytes, at)).collect()
        };
        places.into_iter().map(scalars).collect()
    }
}

/// The observation of the words on the lockstep machine. The relation runs them if the machine
/// lacks something.
fn observed(words: &[u32], entry: &str, groups: [u32; 3], buffers: &[spirv::Buffer], bounds: Bounds) -> Result<Observation, Unfit> {
    let refused = |e: LoadError| match e {
        LoadError::Limit(limit) => Unfit::Room(limit.to_string()),
        other => Unfit::Wrong(format!("the words are no module that runs: {other}")),
    };
    let loaded = spirv::Module::load(words).map_err(refused)?;
    let resources = environment::Resources::of_buffers(buffers);
    let dispatch = environment::Dispatch { entry, groups, resources, limits: Limits::of_fuel(bounds.fuel.saturating_mul(STEPS)) };
    let outcome = match lockstep::Program::compile(&loaded, entry) {
        Ok(program) => program.run(&dispatch, 1),
        Err(LoadError::Unsupported { .. } | LoadError::Limit(_)) => {
            spirv::grid::run(&loaded, &dispatch, &Schedule::default(), &Relation::default(), &mut ()).map_err(refused)?
        }
        Err(other) => return Err(refused(other)),
    };
    match outcome {
        Outcome::Observed(shown) => match shown.buffers.iter().find_map(|b| b.undefined.first()) {
            Some(undefined) => Err(Unfit::Wrong(format!("the words show an undefined value: {}", undefined.kind))),
            None => Ok(shown),
        },
        Outcome::Undefined(undefined) => Err(Unfit::Wrong(format!("{}: {}", undefined.ub.id(), undefined.what))),
        Outcome::OutOfFuel => Err(Unfit::Room("out of fuel".into())),
        Outcome::Limit(limit) => Err(Unfit::Room(limit.to_string())),
        other => Err(Unfit::Wrong(format!("the words end by {}", other.name()))),
    }
}

/// The number of instructions that one step of the source may take.
const STEPS: u64 = 16;

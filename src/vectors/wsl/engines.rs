//! The results of a case: on the relation, with every value that the specification allows, and on
//! the machine, with one choice for each unspecified value.

use super::bound::{Image, MAX_COMPONENTS, Sampler, components};
use super::compiled::Compiled as Spirv;
use super::format::{Buffer, Dispatch, Ends, Lane, MAX_SCALARS};
use crate::run::grid::{compute_entry, hold};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::{InputFault, InvalidInput, Outcome};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::{Prepared, prepare};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::group::{self, Ending, Resource, ResourceContents};
use smallstep_semantics::wsl::machine::{self, Compiled, GridEnding};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::texture::is_writable;
use smallstep_semantics::wsl::types::{Scalar, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;
use std::collections::BTreeSet;

/// The limits of the engines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most steps of one way of the relation, and the most iterations and calls of the machine.
    pub fuel: u64,
    /// The most ways through unspecified values.
    pub ways: usize,
}

/// The reason why an engine has no result.
#[derive(Clone, Debug)]
pub(super) enum Unfit {
    /// It needs more steps, ways or memory: a sentence.
    Room(String),
    /// The engine does not support it.
    Unsupported(String),
    /// It ends in a way that cannot be recorded.
    Wrong(String),
}

/// Scalars by their bits, with their types.
pub(super) type Scalars = Vec<(u32, Scalar)>;

/// The result of a call on the relation.
pub(super) struct Called {
    /// The ending of the thread.
    pub ends: Ends,
    /// The allowed values of each scalar.
    pub lanes: Vec<Lane>,
    /// The value as text.
    pub value: String,
    /// The rules that were applied.
    pub rules: BTreeSet<Rule>,
}

/// An expression with its program, and the scalars of its value.
pub(super) struct Expression {
    pub prepared: Prepared,
    pub scalars: Vec<(usize, Scalar)>,
}

impl Expression {
    /// # Errors
    /// The error in the program or the expression, or the value has no scalars.
    pub(super) fn new(program: &str, expression: &str) -> Result<Expression, String> {
        let prepared = prepare(program, expression).map_err(|invalid| {
            let first = invalid.errors.into_iter().next().map(|e| e.message).unwrap_or_default();
            format!("`{expression}` cannot be evaluated: {first}")
        })?;
        let ty = prepared.ty();
        let scalars = value::scalars(&prepared.program, ty, MAX_SCALARS).ok_or_else(|| {
            format!("`{expression}` has the type {}, whose values are no numbers or too many", prepared.program.env.type_name(ty))
        })?;
        Ok(Expression { prepared, scalars })
    }

    pub fn type_name(&self) -> String {
        self.prepared.program.env.type_name(self.prepared.ty())
    }

    pub fn by_relation(&self, profile: Profile, bounds: Bounds) -> Result<Called, Unfit> {
        let settings = Settings { precision: Some(profile), fuel: bounds.fuel, ways: bounds.ways, ..Settings::default() };
        let mut rules = BTreeSet::new();
        let outcome = self.prepared.evaluation().run_ways(&settings, &mut |_, step, _| {
            rules.insert(step.rule);
            rules.extend(step.within.iter().copied());
        });
        let shown = match outcome {
            Outcome::Observed(shown) => shown,
            other => return Err(unfit_ending(&other, |_| String::new())),
        };
        if !shown.complete {
            return Err(Unfit::Room(format!("there are more than {} ways through what is unspecified", bounds.ways)));
        }
        let ends = match shown.discarded {
            0 => Ends::Returns,
            n if n == shown.ways => Ends::Discards,
            _ => Ends::Either,
        };
        let lanes = match ends {
            Ends::Discards => Vec::new(),
            _ => self.scalars.iter().map(|&(at, scalar)| Lane::of(&shown.words[at], scalar)).collect(),
        };
        let value = if ends == Ends::Discards { String::new() } else { value::show(&self.prepared.program, shown.ty, &shown.words) };
        Ok(Called { ends, lanes, value, rules })
    }

    /// The scalars of the value. `None` if the thread is discarded.
    pub fn by_machine(&self, strategy: Strategy, bounds: Bounds) -> Result<Option<Scalars>, Unfit> {
        let settings = Settings { strategy, fuel: bounds.fuel, ..Settings::default() };
        let unsupported = || Unfit::Unsupported("the machine does not evaluate this".into());
        match self.prepared.evaluate_fast(&settings).ok_or_else(unsupported)?.0 {
            Outcome::Observed(shown) if shown.discarded > 0 => Ok(None),
            Outcome::Observed(shown) => {
                let bits = |at: usize| shown.words.get(at).and_then(|w| w.only()).unwrap_or_default();
                Ok(Some(self.scalars.iter().map(|&(at, scalar)| (bits(at), scalar)).collect()))
            }
            other => Err(unfit_ending(&other, |_| String::new())),
        }
    }
}

/// The error for a run without a result.
fn unfit_ending<T>(outcome: &Outcome<T>, show: impl Fn(&T) -> String) -> Unfit {
    match outcome {
        Outcome::OutOfFuel => Unfit::Room("out of fuel".into()),
        Outcome::Limit(limit) => Unfit::Room(limit.to_string()),
        Outcome::Unsupported(what) => Unfit::Unsupported(what.clone()),
        Outcome::Stuck(stuck) => Unfit::Wrong(format!("stuck at {}: {}", stuck.at, stuck.why)),
        Outcome::Observed(shown) => Unfit::Wrong(show(shown)),
        other => Unfit::Wrong(other.name().into()),
    }
}

/// The entry of a case for a resource.
pub(super) enum ResourceEntry<'a> {
    Buffer(&'a Buffer),
    Image(&'a Image),
    Sampler(&'a Sampler),
}

impl Dispatch {
    /// The case's entry for each of the entry point's resources, in their order.
    ///
    /// # Errors
    /// If the case has more or fewer entries of a kind than there are resources.
    pub(super) fn entries(&self, resources: &[Resource]) -> Result<Vec<ResourceEntry<'_>>, String> {
        let count = |is_kind: fn(&ResourceContents) -> bool| resources.iter().filter(|r| is_kind(&r.contents)).count();
        let lists = [
            ("buffers", self.buffers.len(), count(|contents| matches!(contents, ResourceContents::Buffer(_)))),
            ("images", self.images.len(), count(|contents| matches!(contents, ResourceContents::Texture(_)))),
            ("samplers", self.samplers.len(), count(|contents| matches!(contents, ResourceContents::Sampler(_)))),
        ];
        if let Some((list, has, takes)) = lists.into_iter().find(|(_, has, takes)| has != takes) {
            return Err(format!("`{list}` has {has}; `{}` takes {takes}", self.entry));
        }
        let (mut buffers, mut images, mut samplers) = (self.buffers.iter(), self.images.iter(), self.samplers.iter());
        let next_entry = |resource: &Resource| match resource.contents {
            ResourceContents::Buffer(_) => buffers.next().map(ResourceEntry::Buffer),
            ResourceContents::Texture(_) => images.next().map(ResourceEntry::Image),
            ResourceContents::Sampler(_) => samplers.next().map(ResourceEntry::Sampler),
        };
        Ok(resources.iter().filter_map(next_entry).collect())
    }
}

impl<'a> ResourceEntry<'a> {
    /// The expected lanes.
    pub fn expected(&self) -> &'a [Lane] {
        match self {
            ResourceEntry::Buffer(buffer) => &buffer.expected,
            ResourceEntry::Image(image) => &image.expected,
            ResourceEntry::Sampler(_) => &[],
        }
    }

    /// A description of the place of a lane.
    pub fn place(&self, lane: usize) -> String {
        match self {
            ResourceEntry::Buffer(buffer) => {
                let scalars_per_element = (buffer.given.len() / buffer.elements.max(1) as usize).max(1);
                format!("`{}`, element {}, scalar {}", buffer.name, lane / scalars_per_element, lane % scalars_per_element)
            }
            ResourceEntry::Image(Image { name, image, .. }) => {
                let (channels, [width, height, _]) = (image.format().channels().len(), image.sides(0).unwrap_or([1; 3]));
                let (texel, component) = (lane / channels, lane % channels);
                let (x, row) = (texel % width as usize, texel / width as usize);
                let (y, z) = (row % height as usize, row / height as usize);
                format!("`{name}`, texel ({x}, {y}, {z}), component {component}")
            }
            ResourceEntry::Sampler(sampler) => format!("`{}`", sampler.name),
        }
    }

    /// Sets a resource to the contents in the case.
    ///
    /// # Errors
    /// If the entry is for another resource, or its contents have another size.
    fn set_contents(&self, program: &Program, resource: &mut Resource) -> Result<(), String> {
        let (what, name, register, ty) = match self {
            ResourceEntry::Buffer(entry) => ("buffer", &entry.name, &entry.register, entry.ty.as_str()),
            ResourceEntry::Image(entry) => ("image", &entry.name, &entry.register, entry.ty.as_str()),
            ResourceEntry::Sampler(entry) => ("sampler", &entry.name, &entry.register, ""),
        };
        let needed = type_name(program, &resource.contents);
        if (&resource.name, &resource.register, needed.as_str()) != (name, register, ty) {
            let of_type = |ty: &str| if ty.is_empty() { String::new() } else { format!(" of {ty}") };
            let (has, needs) = (of_type(ty), of_type(&needed));
            return Err(format!(
                "the {what} `{name}` ({register}){has} stands where `{}` ({}){needs} is needed",
                resource.name, resource.register
            ));
        }
        let expected = |needed: usize| match self.expected().len() {
            found if found == needed => Ok(()),
            found => Err(format!("`expected` of `{name}` has {found} lanes; {needed} are needed")),
        };
        match (&mut resource.contents, self) {
            (ResourceContents::Buffer(buffer), ResourceEntry::Buffer(entry)) => {
                let scalars = scalars_of(program, name, buffer.element)?;
                let needed_scalars = u64::from(entry.elements) * scalars.len() as u64;
                if entry.elements == 0 || entry.given.len() as u64 != needed_scalars {
                    let (given, elements) = (entry.given.len(), entry.elements);
                    return Err(format!(
                        "`given` of `{name}` has {given} scalars; {elements} elements have {needed_scalars}, and one at least is needed"
                    ));
                }
                expected(if buffer.space == AddressSpace::Device { entry.given.len() } else { 0 })?;
                let stride = buffer.stride as usize;
                buffer.words = vec![0; entry.elements as usize * stride];
                for (element, element_bits) in entry.given.chunks_exact(scalars.len()).enumerate() {
                    for (&(at, _), bits) in scalars.iter().zip(element_bits) {
                        buffer.words[element * stride + at] = bits.0;
                    }
                }
            }
            (ResourceContents::Texture(textured), ResourceEntry::Image(entry)) => {
                expected(if is_writable(textured.kind) { components(&entry.image) as usize } else { 0 })?;
                hold(program, name, textured, entry.image.clone())?;
            }
            (ResourceContents::Sampler(sampler), ResourceEntry::Sampler(entry)) => *sampler = Some(entry.sampler),
            _ => {}
        }
        Ok(())
    }
}

/// The type of a resource's contents in a case. Empty for a sampler.
pub(super) fn type_name(program: &Program, contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Buffer(buffer) => program.env.type_name(buffer.element),
        ResourceContents::Texture(texture) => format!("{}<{}>", texture.kind.name(), program.env.type_name(texture.texel)),
        ResourceContents::Sampler(_) => String::new(),
    }
}

/// The scalars of an element of a buffer.
fn scalars_of(program: &Program, name: &str, element: TypeId) -> Result<Vec<(usize, Scalar)>, String> {
    let found = value::scalars(program, element, MAX_SCALARS).filter(|all| !all.is_empty());
    found.ok_or_else(|| format!("the elements of `{name}` are no numbers, or too many"))
}

/// The scalars among the words of a resource: for every `stride` words, the scalars of a buffer's
/// element, or the components of a texel of a writable texture.
struct Parts {
    stride: usize,
    scalars: Vec<(usize, Scalar)>,
}

impl Parts {
    fn of(program: &Program, resource: &Resource) -> Result<Parts, String> {
        Ok(match (&resource.contents, resource.texture()) {
            (ResourceContents::Buffer(buffer), _) => {
                Parts { stride: buffer.stride as usize, scalars: scalars_of(program, &resource.name, buffer.element)? }
            }
            (_, Some((texture, _))) => {
                let (channels, scalar) = (texture.channels(), texture.scalar());
                Parts { stride: channels, scalars: (0..channels).map(|c| (c, scalar)).collect() }
            }
            _ => Parts { stride: 1, scalars: Vec::new() },
        })
    }
}

/// A dispatch with its program.
pub(super) struct Grid<'a> {
    text: &'a str,
    program: &'a Program,
    entry: &'a EntryPoint,
    groups: [u32; 3],
    resources: Vec<Resource>,
    /// The scalars of each resource.
    parts: Vec<Parts>,
}

impl<'a> Grid<'a> {
    /// A dispatch with bound resources.
    ///
    /// # Errors
    /// If there is no such entry point, if a buffer has elements without numbers, or if the images
    /// are too large.
    pub fn of(
        text: &'a str,
        program: &'a Program,
        entry: &str,
        groups: [u32; 3],
        bind: impl FnOnce(&EntryPoint) -> Result<Vec<Resource>, InvalidInput>,
    ) -> Result<Grid<'a>, String> {
        let entry = compute_entry(program, Some(entry))?;
        let resources = bind(entry)?;
        let total: u64 = resources.iter().filter_map(|r| r.texture()).map(|(texture, _)| components(&texture.image)).sum();
        if total > MAX_COMPONENTS {
            return Err(format!("the images have {total} components together; those of a case have at most {MAX_COMPONENTS}"));
        }
        let parts = resources.iter().map(|r| Parts::of(program, r)).collect::<Result<_, String>>()?;
        Ok(Grid { text, program, entry, groups, resources, parts })
    }

    /// The dispatch of a case.
    ///
    /// # Errors
    /// If it does not fit the program.
    pub(super) fn new(text: &'a str, program: &'a Program, case: &Dispatch) -> Result<Grid<'a>, String> {
        Grid::of(text, program, &case.entry, case.groups, |entry| {
            let mut resources = Resource::of(program, entry)?;
            let entries = case.entries(&resources).map_err(|e| InvalidInput::new(InputFault::Type, e))?;
            for (entry, resource) in entries.into_iter().zip(&mut resources) {
                entry.set_contents(program, resource).map_err(|e| InvalidInput::new(InputFault::Type, e))?;
            }
            Ok(resources)
        })
    }

    /// The bound resources.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The scalars among a resource's words.
    pub fn scalars<'w, W>(&self, resource: usize, words: &'w [W]) -> impl Iterator<Item = (&'w W, Scalar)> {
        let Parts { stride, scalars } = &self.parts[resource];
        words.chunks_exact(*stride).flat_map(move |e| scalars.iter().map(move |&(at, scalar)| (&e[at], scalar)))
    }

    /// The SPIR-V of the dispatch, if the compiler accepts it and only buffers are bound.
    pub fn compiled(&self, profile: Profile) -> Option<Spirv> {
        let element = |(resource, parts): (&'_ Resource, &Parts)| {
            let scalars = parts.scalars.iter().map(|&(at, _)| at).collect();
            resource.buffer().map(|_| (resource.register.clone(), parts.stride, scalars))
        };
        let elements: Vec<(String, usize, Vec<usize>)> = self.resources.iter().zip(&self.parts).map(element).collect::<Option<_>>()?;
        let elements: Vec<(&str, usize, Vec<usize>)> = elements.iter().map(|(register, n, at)| (&register[..], *n, at.clone())).collect();
        Spirv::of_dispatch(self.program, self.entry, profile, &elements)
    }

    /// The final scalars of each buffer by the SPIR-V in the case.
    pub fn by_spirv(&self, case: &Dispatch, compiled: &Spirv, bounds: Bounds) -> Result<Vec<Scalars>, Unfit> {
        if compiled.buffers().len() != case.buffers.len() {
            let (has, needed) = (compiled.buffers().len(), case.buffers.len());
            return Err(Unfit::Wrong(format!("`spirv` has {has} buffers; the dispatch has {needed}")));
        }
        let mut scalars: Vec<_> = case.buffers.iter().map(|buffer| buffer.given.iter().map(|bits| bits.0)).collect();
        let buffers = compiled.buffers().iter().zip(&case.buffers).zip(&mut scalars);
        let contents =
            buffers.map(|((bound, buffer), scalars)| (bound, buffer.elements, scalars as &mut dyn Iterator<Item = u32>)).collect();
        let shown = compiled.run(self.groups, contents, bounds)?;
        let typed =
            |(words, parts): (Vec<u32>, &Parts)| words.into_iter().zip(parts.scalars.iter().cycle()).map(|(w, s)| (w, s.1)).collect();
        Ok(shown.into_iter().zip(&self.parts).map(typed).collect())
    }

    fn dispatch(&self) -> group::Dispatch<'_> {
        group::Dispatch {
            program: self.program,
            text: self.text,
            entry: self.entry,
            groups: self.groups,
            resources: self.resources.clone(),
        }
    }

    /// The allowed values of each resource that is written, and the applied rules. Other resources
    /// have no lanes.
    pub fn by_relation(&self, profile: Profile, bounds: Bounds) -> Result<(Vec<Vec<Lane>>, Vec<Rule>), Unfit> {
        let settings = Settings { precision: Some(profile), fuel: bounds.fuel, ways: bounds.ways, ..Settings::default() };
        match self.dispatch().run(&settings) {
            Ending::Shown(shown) if !shown.races.is_empty() => Err(Unfit::Wrong("it races".into())),
            Ending::Shown(shown) if !shown.complete => {
                Err(Unfit::Room(format!("there are more than {} ways through what is unspecified", bounds.ways)))
            }
            Ending::Shown(shown) => {
                let lanes = |(i, words): (usize, &Vec<_>)| self.scalars(i, words).map(|(word, scalar)| Lane::of(word, scalar)).collect();
                Ok((shown.buffers.iter().enumerate().map(lanes).collect(), shown.fired))
            }
            Ending::Refused(error) => Err(Unfit::Wrong(error.message.clone())),
            Ending::Open(_) => Err(Unfit::Room("an unspecified value was met".into())),
            Ending::Diverged(_) => Err(Unfit::Wrong("its threads do not meet at a barrier".into())),
            Ending::OutOfFuel(_) => Err(unfit_ending(&Outcome::<()>::OutOfFuel, |()| String::new())),
            Ending::Other(outcome) => Err(unfit_ending(&outcome, |()| String::new())),
        }
    }

    /// The values of each resource that is written, by these choices. Other resources have
    /// no values.
    pub fn by_machine(&self, strategy: Strategy, bounds: Bounds) -> Result<Vec<Scalars>, Unfit> {
        let compiled = Compiled::new(self.program, self.entry.function).map_err(|e| Unfit::Unsupported(e.to_string()))?;
        let settings = machine::Settings { strategy, fuel: bounds.fuel, ..machine::Settings::default() };
        let fast = self.dispatch().run_fast(&compiled, &settings).map_err(|e| Unfit::Room(e.what))?;
        match fast.ended {
            GridEnding::Done => {
                let scalars = |(i, words): (usize, &Vec<u32>)| self.scalars(i, words).map(|(&word, scalar)| (word, scalar)).collect();
                Ok(fast.buffers.iter().enumerate().map(scalars).collect())
            }
            GridEnding::Diverged(..) => Err(Unfit::Wrong("its threads do not meet at a barrier".into())),
            GridEnding::Stopped { ending: machine::Ending::OutOfFuel { .. }, .. } => Err(Unfit::Room("out of fuel".into())),
            GridEnding::Stopped { ending, thread } => Err(Unfit::Wrong(format!("thread {thread} ends by {ending:?}"))),
        }
    }
}

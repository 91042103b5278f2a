//! One compute dispatch, from text to text: a module, its inputs from the command line or from its
//! own comments, and an engine.
//!
//! [`given`] and [`carried`] read the inputs. [`Prepared`] is the module with its inputs, checked
//! before anything runs. [`show`] prints buffers by their types, and [`report`] says where
//! behaviour is undefined. Draws use the same code for their inputs. Nothing is compared here.

pub mod bound;
pub mod carried;
pub mod given;
pub mod passing;
pub mod report;
pub mod show;

use std::sync::Arc;

use rspirv::spirv::{Decoration, ExecutionModel};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::Shape;
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::{self, Exploration};
use smallstep_semantics::outcome::{InputFault, InvalidInput, Outcome};
use smallstep_semantics::spirv::environment::{
    BoundImage, BoundSampler, Dispatch, Limits, Observation, ObservedBuffer, ObservedImage, Resources, Robustness, SubgroupMapping,
};
use smallstep_semantics::spirv::grid::{self, Report};
use smallstep_semantics::spirv::module::{Variable, WHOLE};
use smallstep_semantics::spirv::{Buffer, LoadError, LoadOptions, Module, Relation, Sink, lockstep};

use crate::compile;
use crate::compile::bindings::Places;
use crate::dispatch::resources::{self, Needs, ResourceKind};
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch, ComputeResult, DrawDispatch, DrawResult, ImageBinding, ImageKind};
use crate::gpu::{Device, DeviceOutcome};
use crate::source::{ReadError, Wrong};
use given::{NotSpecialized, Place, SpecValue};

/// A module with a compute entry point.
pub struct ComputeModule {
    /// The module, with its specialization constants frozen.
    pub module: Module,
    /// The entry point.
    pub entry: String,
    /// The resources that the entry point uses.
    needs: Needs,
}

/// A bug in the lockstep machine, as a change to a compiled program.
pub type MachineBug = Arc<dyn Fn(lockstep::Parts<'_>) + Send + Sync>;

/// The resources that an entry point of any stage uses.
#[derive(Clone, Copy)]
pub struct Uses<'m> {
    module: &'m Module,
    needs: &'m Needs,
}

impl<'m> Uses<'m> {
    /// The resources of a module, and the requirements of its entry point.
    pub fn new(module: &'m Module, needs: &'m Needs) -> Uses<'m> {
        Uses { module, needs }
    }

    /// The module.
    pub fn module(self) -> &'m Module {
        self.module
    }

    /// The size of the push constants in bytes.
    pub fn push_constant_bytes(self) -> u64 {
        self.needs.push_constant_bytes
    }

    /// The variables at descriptors, with the kinds of their resources. Variables without set or
    /// binding are left out.
    pub fn bound(self) -> impl Iterator<Item = (Place, ResourceKind, &'m Variable)> {
        self.needs.descriptors.iter().filter_map(move |d| {
            let place = Place::new(d.set?, d.binding?);
            Some((place, d.kind, self.module.variable(d.id)?))
        })
    }

    /// The variable that shows the storage buffer at a descriptor.
    pub fn storage_at(self, place: Place) -> Option<&'m Variable> {
        self.bound()
            .find(|(at, resource, _)| at.whole() == place.whole() && *resource == ResourceKind::Storage)
            .map(|(.., variable)| variable)
    }

    /// The name of a variable in messages: its id, and its name or that of its type.
    pub fn name_of(self, variable: &Variable) -> String {
        match self.module.name(variable.id).or_else(|| self.module.name(self.module.resource_type(variable))) {
            Some(name) => format!("%{} \"{name}\"", variable.id),
            None => format!("%{}", variable.id),
        }
    }

    /// The kind of buffer at a descriptor, if it is used. It is a storage buffer if one of several
    /// variables there may be written.
    pub fn kind_at(self, place: Place) -> Option<BufferKind> {
        let read_only = |variable: &Variable| {
            let type_ = self.module.resource_type(variable);
            let members = self.module.types().members(type_).len() as u32;
            let decorated = |target, member| self.module.decoration(target, member, Decoration::NonWritable).is_some();
            decorated(variable.id, WHOLE) || members > 0 && (0..members).all(|member| decorated(type_, member))
        };
        let of_place = self.bound().filter(|(at, ..)| at.whole() == place.whole());
        let kinds = of_place.map(|(_, resource, variable)| match resource {
            ResourceKind::Uniform => BufferKind::Uniform,
            _ if read_only(variable) => BufferKind::ReadOnly,
            _ => BufferKind::ReadWrite,
        });
        kinds.max()
    }
}

impl Uses<'_> {
    /// The kind of image at a descriptor, if it is used.
    pub fn image_kind_at(self, place: Place) -> Option<ImageKind> {
        let kinds = self.bound().filter(|(at, ..)| at.whole() == place.whole()).filter_map(|(_, resource, _)| match resource {
            ResourceKind::StorageImage(..) | ResourceKind::TexelBuffer { written: true, .. } => Some(ImageKind::Storage),
            ResourceKind::SampledImage(..) | ResourceKind::CombinedImageSampler(..) | ResourceKind::TexelBuffer { .. } => {
                Some(ImageKind::Sampled)
            }
            _ => None,
        });
        kinds.max()
    }
}

/// Whether the module's entry point of that name is a compute one. Without such a name: whether one
/// of its entry points is.
pub fn is_compute(module: &Module, entry: Option<&str>) -> bool {
    let points = module.entry_points();
    let named = |name: &str| points.iter().any(|e| e.name == name);
    let entry = entry.filter(|name| named(name));
    points.iter().any(|e| e.model == ExecutionModel::GLCompute && entry.is_none_or(|name| name == e.name))
}

/// Loads words with values for specialization constants. Messages name that file.
pub fn load(name: &str, words: &[u32], lenient: bool, values: &[SpecValue]) -> Result<Module, ReadError> {
    let specialization = given::specialization(words, values).map_err(|e| match e {
        NotSpecialized::Words(e) => ReadError::of_module(name, &e),
        NotSpecialized::Value(what) => ReadError { wrong: Wrong::Invalid, text: format!("error: {name}: {what}") },
    })?;
    Module::load_with(words, &LoadOptions { lenient, specialization, ..LoadOptions::default() }).map_err(|e| ReadError::of_module(name, &e))
}

impl ComputeModule {
    /// The compute entry point of that name. Without a name, the only one.
    ///
    /// Errors: there is none, or there are several. The text is a sentence.
    pub fn new(module: Module, entry: Option<&str>) -> Result<ComputeModule, InvalidInput> {
        let compute: Vec<&str> =
            module.entry_points().iter().filter(|e| e.model == ExecutionModel::GLCompute).map(|e| e.name.as_str()).collect();
        let entry = match (entry, compute.as_slice()) {
            (Some(name), names) if names.contains(&name) => name.to_string(),
            (None, [only]) => only.to_string(),
            (Some(name), names) => {
                return Err(InvalidInput::new(
                    InputFault::EntryPoint,
                    format!("no compute entry point is called \"{name}\"; there are {}", names.join(", ")),
                ));
            }
            (None, names) => {
                let shown = &names[..names.len().min(8)];
                return Err(InvalidInput::new(
                    InputFault::EntryPoint,
                    format!("the module has {} compute entry points ({}); name one by --entry", names.len(), shown.join(", ")),
                ));
            }
        };
        let needs = resources::needs(module.words(), ExecutionModel::GLCompute, &entry)?;
        Ok(ComputeModule { module, entry, needs })
    }

    /// The requirements of the entry point.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The resources that the entry point uses.
    pub fn uses(&self) -> Uses<'_> {
        Uses { module: &self.module, needs: &self.needs }
    }

    /// The variables at descriptors that the entry point uses, with the kinds of their resources.
    /// Variables without set or binding are left out.
    pub fn bound(&self) -> impl Iterator<Item = (Place, ResourceKind, &Variable)> {
        self.uses().bound()
    }

    /// The variable that shows the storage buffer at a descriptor.
    pub fn storage_at(&self, place: Place) -> Option<&Variable> {
        self.uses().storage_at(place)
    }

    /// The name of a variable in messages: its id, and its name or that of its type.
    pub fn name_of(&self, variable: &Variable) -> String {
        self.uses().name_of(variable)
    }

    /// The number of invocations of so many workgroups.
    pub fn invocations(&self, groups: [u32; 3]) -> u64 {
        let size = self.needs.local_size.unwrap_or([1; 3]);
        groups.iter().chain(&size).fold(1, |product, &n| product.saturating_mul(n.into()))
    }

    /// GlobalInvocationId of an invocation.
    pub fn global(&self, groups: [u32; 3], workgroup: u32, local: u32) -> [u32; 3] {
        let coordinates = |number: u32, [x, y, _]: [u32; 3]| {
            let (x, y) = (x.max(1), y.max(1));
            [number % x, number / x % y, number / x / y]
        };
        let size = self.needs.local_size.unwrap_or([1; 3]);
        let (group, within) = (coordinates(workgroup, groups), coordinates(local, size));
        [0, 1, 2].map(|i| group[i].wrapping_mul(size[i]).wrapping_add(within[i]))
    }

    /// The size in bytes of the push constants that the entry point uses.
    pub fn push_constant_bytes(&self) -> u64 {
        self.needs.push_constant_bytes
    }

    /// The kind of buffer at a descriptor, if the entry point uses it. It is a storage buffer if
    /// one of several variables there may be written.
    pub fn kind_at(&self, place: Place) -> Option<BufferKind> {
        self.uses().kind_at(place)
    }

    /// Runs it on a device. The observation counts no instructions, and nothing in it is undefined:
    /// it is what this device shows.
    ///
    /// # Errors
    /// What became of it instead.
    pub fn run_on(&self, groups: [u32; 3], inputs: &BoundInputs, device: &Device) -> Result<Observation, DeviceOutcome> {
        let uses = [self.uses()];
        let dispatch = ComputeDispatch {
            words: Arc::from(self.module.words()),
            entry: self.entry.clone(),
            groups,
            buffers: inputs.buffer_bindings(&uses),
            images: inputs.image_bindings(&uses),
            samplers: inputs.samplers.clone(),
            push_constants: inputs.push_constants.clone(),
        };
        let shown = shown_by(&dispatch, device)?;
        let images = shown_images(shown.images, &dispatch.images);
        Ok(Observation { buffers: shown_buffers(shown.buffers), images, instructions: 0 })
    }

    /// The dispatch for a device: with only the buffers that the entry point uses.
    pub fn for_device(&self, groups: [u32; 3], buffers: &[Buffer], push_constants: Vec<u8>) -> ComputeDispatch {
        let buffers = buffers.iter().filter_map(|b| {
            let kind = self.kind_at(Place::new(b.set, b.binding))?;
            Some(BufferBinding { set: b.set, binding: b.binding, kind, bytes: b.bytes.clone() })
        });
        ComputeDispatch {
            words: Arc::from(self.module.words()),
            entry: self.entry.clone(),
            groups,
            buffers: buffers.collect(),
            push_constants,
            ..ComputeDispatch::default()
        }
    }
}

/// A dispatch with all its inputs.
pub struct Prepared {
    /// The module.
    pub module: ComputeModule,
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    inputs: BoundInputs,
    /// What buffer accesses out of bounds do.
    pub robustness: Robustness,
    /// The number of invocations of a subgroup, if given.
    pub subgroup_size: Option<u32>,
    /// How invocations form subgroups.
    pub subgroup_mapping: SubgroupMapping,
    /// The bounds of a run.
    pub limits: Limits,
}

/// The interpreter that runs a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// The lockstep machine. If that does not compile the module, the reference interpreter.
    Any,
    /// The lockstep machine only.
    Machine,
    /// The reference interpreter.
    Reference {
        /// The schedule of its threads.
        schedule: Schedule,
        /// Whether it goes on after undefined behaviour, to collect several.
        keep_going: bool,
    },
}

/// The result of a run on an interpreter.
pub struct Ran {
    /// The engine's name.
    pub engine: &'static str,
    /// Why the machine did not run it, if it was asked to.
    pub note: Option<String>,
    /// The outcome, with all undefined behaviour met.
    pub report: Report,
}

/// The resources at descriptors, and the push constants.
#[derive(Clone, Debug, Default)]
pub struct BoundInputs {
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Images.
    pub images: Vec<BoundImage>,
    /// Samplers.
    pub samplers: Vec<BoundSampler>,
    /// The push constants.
    pub push_constants: Vec<u8>,
}

/// Checks that so many resources of a kind are enough for a variable. `options` names the options
/// that give a resource.
fn enough((what, given): (&str, usize), module: &Module, variable: &Variable, name: &str, options: &str) -> Result<(), InvalidInput> {
    let needed = module.descriptor_count(variable).unwrap_or(1);
    let text = match given as u64 {
        0 if needed == 1 => format!("no {what} is given for {name}; give {options}"),
        given if given < needed => {
            format!("{name} is an array of {needed} descriptors, and {given} of the {needed} {what}s are given; give for each {options}")
        }
        _ => return Ok(()),
    };
    Err(InvalidInput::new(InputFault::Missing, text))
}

impl BoundInputs {
    /// Checks that all resources of an entry point are there and large enough.
    ///
    /// Errors: a sentence that says what is missing.
    pub fn suffices(&self, uses: Uses<'_>, entry: &str) -> Result<(), InvalidInput> {
        for (place, resource, variable) in uses.bound() {
            let at = |set: u32, binding: u32| (set, binding) == place.whole();
            let name = uses.name_of(variable);
            if matches!(resource, ResourceKind::Uniform | ResourceKind::Storage) {
                let needed = uses.module().buffer_size(variable.id);
                let given: Vec<&Buffer> = self.buffers.iter().filter(|b| at(b.set, b.binding)).collect();
                let example = needed.max(4).div_ceil(4);
                let options = format!("--set {place}=FILE, or as --set {place}=u32:zero*{example}");
                enough(("buffer", given.len()), uses.module(), variable, &name, &options)?;
                if let Some(b) = given.iter().find(|b| (b.bytes.len() as u64) < needed) {
                    return Err(InvalidInput::new(
                        InputFault::Type,
                        format!("the buffer for {name} at {place} has {} bytes; it needs {needed}", b.bytes.len()),
                    ));
                }
            }
            let shape = match resource {
                ResourceKind::SampledImage(shape, _)
                | ResourceKind::StorageImage(shape, ..)
                | ResourceKind::CombinedImageSampler(shape, _) => Some(shape),
                ResourceKind::TexelBuffer { .. } => Some(Shape::D1),
                _ => None,
            };
            if shape.is_some() {
                let options = format!("--texture {place}=FILE.png, or as --texture '{place}=R8G8B8A8_UNORM 2x2'");
                let given = self.images.iter().filter(|i| at(i.set, i.binding)).count();
                enough(("image", given), uses.module(), variable, &name, &options)?;
            }
            if let Some(shape) = shape
                && let Some(other) = self.images.iter().find(|i| at(i.set, i.binding) && i.image.shape() != shape)
            {
                let found = other.image.shape().name();
                return Err(InvalidInput::new(
                    InputFault::Type,
                    format!("the image for {name} at {place} is {found}; the program needs one that is {}", shape.name()),
                ));
            }
            let needs_sampler = matches!(resource, ResourceKind::Sampler | ResourceKind::CombinedImageSampler(..));
            if needs_sampler {
                let options = format!("one as --sampler '{place}=linear edge', or --sampler {place}=");
                let given = self.samplers.iter().filter(|s| at(s.set, s.binding)).count();
                enough(("sampler", given), uses.module(), variable, &name, &options)?;
            }
        }
        let needed = uses.push_constant_bytes();
        if (self.push_constants.len() as u64) < needed {
            let found = self.push_constants.len();
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("the push constants have {found} bytes; \"{entry}\" needs {needed}; give --push"),
            ));
        }
        Ok(())
    }

    /// Checks that no descriptor is given twice, and that each resource is for some variable that
    /// these modules declare.
    ///
    /// Errors: a sentence.
    pub fn belongs(&self, modules: &[&Module]) -> Result<(), InvalidInput> {
        let count = |m: &&Module, place: (u32, u32)| {
            let of_place = m.globals().iter().filter(move |v| m.descriptor(v.id) == Some(place));
            of_place.map(|v| m.descriptor_count(v).unwrap_or(u64::MAX)).max()
        };
        let check = |what: &str, places: Vec<(u32, u32)>| {
            for (i, place) in places.iter().enumerate() {
                let (set, binding) = *place;
                let earlier = places[..i].iter().filter(|earlier| *earlier == place).count() as u64;
                let wrong = match modules.iter().filter_map(|m| count(m, *place)).max() {
                    None => format!("{what} is given for {set}.{binding}, and no variable has that descriptor set and binding"),
                    Some(1) if earlier == 1 => format!("two {what}s are given for {set}.{binding}"),
                    Some(count) if earlier >= count => {
                        format!("more than {count} {what}s are given for {set}.{binding}, an array of {count} descriptors")
                    }
                    Some(_) => continue,
                };
                return Err(InvalidInput::new(InputFault::Unused, wrong));
            }
            Ok(())
        };
        check("buffer", self.buffers.iter().map(|b| (b.set, b.binding)).collect())?;
        check("image", self.images.iter().map(|i| (i.set, i.binding)).collect())?;
        check("sampler", self.samplers.iter().map(|s| (s.set, s.binding)).collect())
    }

    /// The resources for interpreters.
    pub fn resources(&self, robustness: Robustness) -> Resources<'_> {
        let BoundInputs { buffers, images, samplers, push_constants } = self;
        Resources { buffers, images, samplers, push_constants, robustness, ..Resources::default() }
    }

    /// The buffers for a device: those that some of these entry points use.
    pub fn buffer_bindings(&self, uses: &[Uses<'_>]) -> Vec<BufferBinding> {
        let used = |b: &Buffer| {
            let place = Place::new(b.set, b.binding);
            let kind = uses.iter().filter_map(|uses| uses.kind_at(place)).max()?;
            Some(BufferBinding { set: b.set, binding: b.binding, kind, bytes: b.bytes.clone() })
        };
        self.buffers.iter().filter_map(used).collect()
    }

    /// The images for a device: those that some of these entry points use.
    pub fn image_bindings(&self, uses: &[Uses<'_>]) -> Vec<ImageBinding> {
        let used = |i: &BoundImage| {
            let place = Place::new(i.set, i.binding);
            let kind = uses.iter().filter_map(|uses| uses.image_kind_at(place)).max()?;
            Some(ImageBinding { set: i.set, binding: i.binding, kind, image: i.image.clone() })
        };
        self.images.iter().filter_map(used).collect()
    }
}

impl Prepared {
    /// Checks that all resources of the entry point are there and large enough, and that each given
    /// one is for some variable.
    ///
    /// Errors: a sentence that says what is missing.
    pub fn new(module: ComputeModule, groups: [u32; 3], inputs: BoundInputs) -> Result<Prepared, InvalidInput> {
        inputs.belongs(&[&module.module])?;
        inputs.suffices(module.uses(), &module.entry)?;
        Ok(Prepared {
            module,
            groups,
            inputs,
            robustness: Robustness::None,
            subgroup_size: None,
            subgroup_mapping: SubgroupMapping::default(),
            limits: Limits::default(),
        })
    }

    /// The given bytes at a descriptor.
    pub fn given(&self, place: Place) -> Option<&[u8]> {
        place.find(&self.inputs.buffers, |b| (b.set, b.binding)).map(|b| b.bytes.as_slice())
    }

    /// The resources at its descriptors, and its push constants.
    pub fn resources(&self) -> &BoundInputs {
        &self.inputs
    }

    /// The buffers, in the given order.
    pub fn buffers(&self) -> &[Buffer] {
        &self.inputs.buffers
    }

    /// The push constants.
    pub fn push_constants(&self) -> &[u8] {
        &self.inputs.push_constants
    }

    fn dispatch(&self) -> Dispatch<'_> {
        let (subgroup_size, subgroup_mapping) = (self.subgroup_size, self.subgroup_mapping);
        let resources = Resources { subgroup_size, subgroup_mapping, ..self.inputs.resources(self.robustness) };
        Dispatch { entry: &self.module.entry, groups: self.groups, resources, limits: self.limits }
    }

    /// Runs it on the default interpreter, for a device with subgroups of that size if known.
    ///
    /// Errors: as [`Prepared::run`].
    pub fn run_as_on_device(&self, subgroup_size: Option<u32>) -> Result<Ran, LoadError> {
        let mut dispatch = self.dispatch();
        dispatch.resources.subgroup_size = self.subgroup_size.or(subgroup_size);
        interpret(&self.module, &dispatch, &Interpreter::Any, &Relation::default(), None, &mut ())
    }

    /// Runs it on an interpreter.
    ///
    /// Errors: the machine does not compile the module, and no other engine may run it.
    pub fn run(&self, interpreter: &Interpreter) -> Result<Ran, LoadError> {
        interpret(&self.module, &self.dispatch(), interpreter, &Relation::default(), None, &mut ())
    }

    /// Runs it by the reference interpreter. The sink sees every step.
    pub fn trace(&self, schedule: &Schedule, keep_going: bool, sink: &mut dyn Sink) -> Result<Report, LoadError> {
        grid::report(&self.module.module, &self.dispatch(), schedule, &Relation::default(), keep_going, sink)
    }

    /// Runs it on a device. The observation counts no instructions, and nothing in it is undefined:
    /// it is what this device shows.
    ///
    /// Errors: what became of it instead.
    pub fn run_on(&self, device: &Device) -> Result<Observation, DeviceOutcome> {
        self.module.run_on(self.groups, &self.inputs, device)
    }
}

/// The buffers that a device shows. Nothing in them is undefined.
pub fn shown_buffers(buffers: Vec<Buffer>) -> Vec<ObservedBuffer> {
    let shown = |b: Buffer| ObservedBuffer { set: b.set, binding: b.binding, bytes: b.bytes, undefined: Vec::new() };
    buffers.into_iter().map(shown).collect()
}

/// The storage images that a device shows. Nothing in them is undefined.
pub fn shown_images(images: Vec<Buffer>, bound: &[ImageBinding]) -> Vec<ObservedImage> {
    let shown = |shown: Buffer| {
        let (set, binding) = (shown.set, shown.binding);
        let image = &bound.iter().find(|i| (i.set, i.binding) == (set, binding))?.image;
        let size = image.sides(0).unwrap_or_default();
        Some(ObservedImage { set, binding, format: image.format(), size, bytes: shown.bytes, undefined: Vec::new() })
    };
    images.into_iter().filter_map(shown).collect()
}

/// Draws on a device, the words of both stages adapted to wgpu: what it shows, at
/// the draw's own places.
///
/// # Errors
/// What became of it instead.
pub fn drawn_by(dispatch: &DrawDispatch, device: &Device) -> Result<DrawResult, DeviceOutcome> {
    let unchecked = |what: String| DeviceOutcome::Unchecked(what);
    dispatch.check().map_err(|e| unchecked(e.to_string()))?;
    let (adapted, places) = compile::draw_for_wgpu(dispatch).map_err(|e| unchecked(e.to_string()))?;
    let words_hash = adapted.words_hash();
    let mut result = match device.run(adapted).outcome {
        DeviceOutcome::Rendered(result) if result.words_hash == words_hash => result,
        DeviceOutcome::Rendered(result) => return Err(other_words(result.words_hash, words_hash)),
        other => return Err(other),
    };
    put_back(&places, &mut result.buffers, &mut result.images);
    Ok(result)
}

fn other_words(ran: u64, submitted: u64) -> DeviceOutcome {
    DeviceOutcome::Unchecked(format!("the device ran the words {ran:#018x}, and was given {submitted:#018x}"))
}

/// Restores the sets and bindings that buffers and images had before the words were adapted.
fn put_back(places: &Places, buffers: &mut [Buffer], images: &mut [Buffer]) {
    for shown in buffers.iter_mut().chain(images) {
        (shown.set, shown.binding) = places.original((shown.set, shown.binding)).unwrap_or((shown.set, shown.binding));
    }
}

/// Runs a dispatch on an interpreter, perhaps with a planted bug. The sink sees the steps of the
/// reference interpreter.
///
/// Errors: the machine does not compile the module, and no other engine may run it.
pub fn interpret(
    module: &ComputeModule,
    dispatch: &Dispatch<'_>,
    interpreter: &Interpreter,
    relation: &Relation,
    planted: Option<&MachineBug>,
    sink: &mut dyn Sink,
) -> Result<Ran, LoadError> {
    let (schedule, keep_going) = match interpreter {
        Interpreter::Reference { schedule, keep_going } => (schedule, *keep_going),
        _ => (&Schedule::default(), false),
    };
    let mut note = None;
    if !matches!(interpreter, Interpreter::Reference { .. }) {
        let outcome = match lockstep::Program::compile(&module.module, &module.entry) {
            Ok(program) => {
                let program = match planted {
                    Some(bug) => program.planted(|parts| bug(parts)),
                    None => program,
                };
                match interpreter {
                    Interpreter::Any => program.run_certain(dispatch, 0),
                    _ => program.run(dispatch, 0),
                }
            }
            Err(LoadError::Unsupported { what, .. }) => Outcome::Unsupported(what),
            Err(error) => return Err(error),
        };
        match outcome {
            Outcome::Unsupported(what) if *interpreter == Interpreter::Any => note = Some(what),
            outcome => {
                let undefined = if let Outcome::Undefined(undefined) = &outcome { vec![undefined.clone()] } else { Vec::new() };
                return Ok(Ran { engine: "machine", note, report: Report::ended(outcome, undefined) });
            }
        }
    }
    let report = grid::report(&module.module, dispatch, schedule, relation, keep_going, sink)?;
    Ok(Ran { engine: "reference", note, report })
}

/// Runs a dispatch on the machine, and says what else devices may show. `None` if only the
/// reference interpreter can tell.
///
/// Errors: there is no such entry point.
pub fn judge(
    module: &ComputeModule,
    dispatch: &Dispatch<'_>,
    relation: &Relation,
    rules: sets::Rules,
    planted: Option<&MachineBug>,
) -> Result<Option<grid::Judged>, LoadError> {
    let Ok(program) = lockstep::Program::compile(&module.module, &module.entry) else { return Ok(None) };
    let program = match planted {
        Some(bug) => program.planted(|parts| bug(parts)),
        None => program,
    };
    let exploration = Exploration { rules, ..Exploration::under(Profile::Strict) };
    grid::judge(&module.module, &program, dispatch, relation, exploration)
}

/// Runs a dispatch on a device, its bindings made dense where that is needed: the written buffers,
/// at their own places.
///
/// Errors: what became of it instead.
pub fn on_device(dispatch: &ComputeDispatch, device: &Device) -> Result<Vec<ObservedBuffer>, DeviceOutcome> {
    Ok(shown_buffers(shown_by(dispatch, device)?.buffers))
}

/// Runs a dispatch on a device, its words adapted to wgpu: the written buffers and the storage
/// images, at their own places.
///
/// Errors: what became of it instead.
pub fn shown_by(dispatch: &ComputeDispatch, device: &Device) -> Result<ComputeResult, DeviceOutcome> {
    let unchecked = |what: String| DeviceOutcome::Unchecked(what);
    dispatch.check().map_err(|e| unchecked(e.to_string()))?;
    let (adapted, places) = compile::for_wgpu(dispatch).map_err(|e| unchecked(e.to_string()))?;
    let words_hash = adapted.words_hash();
    let mut result = match device.run(adapted).outcome {
        DeviceOutcome::Computed(result) if result.words_hash == words_hash => result,
        DeviceOutcome::Computed(result) => return Err(other_words(result.words_hash, words_hash)),
        other => return Err(other),
    };
    put_back(&places, &mut result.buffers, &mut result.images);
    Ok(result)
}

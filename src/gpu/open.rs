//! An open wgpu device in this process. A module becomes a pipeline, or the reason why it does not.
//!
//! wgpu's robustness stays on, because wgpu cannot turn it off. Nothing here guards against a
//! driver that crashes or hangs. The worker process does that. The worker and the bare half of the
//! benchmark both run programs with this module and [`super::batch`].

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rspirv::spirv::ExecutionModel;

use super::Route;
use super::adapters::{AdapterRecord, NoDevice, Selection};
use super::batch::Program;
use super::bound::{Layouts, check_handles};
use super::capabilities;
use super::draw::DrawState;
use super::physical;
use super::wire::Declined;
use crate::compile::naga::{self, Handle};
use crate::compile::wgsl;
use crate::dispatch::resources::{self, Needs, NeedsError};
use crate::dispatch::{Bound, Dispatch, Stage};

/// The reason why a batch has no results.
#[derive(Debug)]
pub(crate) enum BatchError {
    /// wgpu refused the batch. One of its programs may be the cause.
    Refused(String),
    /// Memory ran out.
    OutOfMemory(String),
    /// The device is lost.
    Lost(String),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (BatchError::Refused(text) | BatchError::OutOfMemory(text) | BatchError::Lost(text)) = self;
        f.write_str(text)
    }
}

/// Facts about a stage's words for wgpu, besides the words.
pub(super) struct Code {
    /// The WGSL of the converter, on the route through it.
    wgsl: Option<String>,
    /// The storage buffers that the WGSL only reads, by set and binding.
    pub(super) read_only: Vec<(u32, u32)>,
    /// The kinds that naga infers for textures and samplers, by set and binding.
    pub(super) handles: Vec<((u32, u32), Handle)>,
}

impl Code {
    /// The name of the entry point for wgpu. None for WGSL, which has only one entry point, perhaps
    /// with another name.
    pub(super) fn entry<'e>(&self, name: &'e str) -> Option<&'e str> {
        self.wgsl.is_none().then_some(name)
    }
}

/// An open device.
pub(crate) struct OpenDevice {
    pub(crate) record: AdapterRecord,
    pub(crate) route: Route,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) drawing: DrawState,
    pub(super) layouts: Layouts,
    pub(super) adapter: wgpu::Adapter,
    /// The pipeline that fills 32-bit depths, made on first use.
    pub(super) filling: OnceLock<wgpu::RenderPipeline>,
    features: wgpu::Features,
    lost: Arc<OnceLock<String>>,
}

impl OpenDevice {
    /// Opens the selected adapter with all its features and limits that programs may need.
    /// Passthrough is enabled only on that route. Without a `route`, it is passthrough if the
    /// adapter offers it, and naga otherwise.
    pub(crate) fn open(selection: &Selection, route: Option<Route>) -> Result<OpenDevice, NoDevice> {
        let mut adapters = super::enumerate::enumerate();
        let records: Vec<AdapterRecord> = adapters.iter().map(|(record, _)| record.clone()).collect();
        let (record, adapter) = adapters.swap_remove(selection.choose(&records)?);
        if !record.float_targets {
            return Err(NoDevice(format!("{record} cannot draw to 32-bit float targets; nothing can be read from it bit for bit")));
        }
        let route = match route {
            Some(Route::Passthrough) if !record.passthrough => {
                return Err(NoDevice(format!("{record} offers no SPIR-V passthrough; the routes naga and wgsl remain")));
            }
            Some(route) => route,
            None if record.passthrough => Route::Passthrough,
            None => Route::Naga,
        };
        let mut features = adapter.features() & capabilities::OPTIONAL_FEATURES;
        features |= adapter.features() & (wgpu::Features::IMMEDIATES | capabilities::DRAWING_FEATURES);
        if route == Route::Passthrough {
            features |= wgpu::Features::PASSTHROUGH_SHADERS;
            features |= adapter.features() & capabilities::EXPERIMENTAL_FEATURES;
        }
        #[allow(unsafe_code)]
        let experimental_features = if route == Route::Passthrough {
            // SAFETY: passthrough is asked for in order to give drivers modules that no validator
            // of wgpu's has seen. The process that does so is a worker that may crash, and holds
            // nothing that a crash or a wild write could harm.
            unsafe { wgpu::ExperimentalFeatures::enabled() }
        } else {
            wgpu::ExperimentalFeatures::disabled()
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: adapter.limits(),
            experimental_features,
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let not_opened = |error: &(dyn std::error::Error + 'static)| NoDevice(format!("{record} could not be opened: {}", sentence(error)));
        let (device, queue) = if route == Route::Passthrough && record.terminate_invocation {
            physical::open(&adapter, &descriptor, record.variable_pointers).map_err(|error| not_opened(&*error))?
        } else {
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| not_opened(&error))?
        };
        let lost = Arc::new(OnceLock::new());
        device.set_device_lost_callback({
            let lost = lost.clone();
            move |reason, text| {
                let _ = lost.set(format!("{reason:?}: {text}"));
            }
        });
        let drawing = DrawState::new(&device);
        Ok(OpenDevice {
            record,
            route,
            device,
            queue,
            drawing,
            layouts: Layouts::default(),
            adapter,
            filling: OnceLock::new(),
            features,
            lost,
        })
    }

    /// Makes the program's pipeline. Many threads may call it at once.
    pub(crate) fn compile(&self, dispatch: &Dispatch) -> Result<Program, Declined> {
        dispatch.check().map_err(|malformed| Declined::Unchecked(malformed.0))?;
        let scopes = Scopes::push(&self.device);
        let built = self.build(dispatch);
        match scopes.pop() {
            None => built.map_err(Declined::Unchecked),
            Some(wgpu::Error::OutOfMemory { source }) => {
                self.layouts.forget();
                Err(Declined::Unchecked(format!("the device ran out of memory: {}", sentence(&*source))))
            }
            Some(wgpu::Error::Validation { source, .. } | wgpu::Error::Internal { source, .. }) => {
                Err(Declined::Refused(sentence(&*source)))
            }
        }
    }

    /// The program, if it is within the device's limits and needs no feature that the device did
    /// not enable. The error names the limit or feature.
    ///
    /// If naga writes the words again, wgpu knows the module and checks its interface. Words that
    /// pass through unseen are checked here in the same way.
    fn build(&self, dispatch: &Dispatch) -> Result<Program, String> {
        match dispatch {
            Dispatch::Fragment(dispatch) => {
                self.within_draw_limits(dispatch)?;
                if self.route == Route::Passthrough
                    && let Some(needs) = self.needs(&dispatch.words, ExecutionModel::Fragment, &dispatch.entry)?
                {
                    self.can_draw(dispatch, &needs)?;
                }
                let no_bindings = Bound { buffers: &[], images: &[], samplers: &[], push_constants: &[] };
                let code = self.code(&dispatch.words, &dispatch.entry, no_bindings, wgsl::Options::default())?;
                Ok(Program::Draw(self.drawable(dispatch, &code)))
            }
            Dispatch::Compute(dispatch) => {
                self.within_compute_limits(dispatch)?;
                let bound = dispatch.bound();
                if self.route == Route::Passthrough {
                    let needs = self.needs(&dispatch.words, ExecutionModel::GLCompute, &dispatch.entry)?;
                    self.can_compute(dispatch, &needs.unwrap_or_default())?;
                } else if !(bound.images.is_empty() && bound.samplers.is_empty()) {
                    // wgpu's refusals do not name the image whose format or shape is wrong.
                    let needs = self.needs(&dispatch.words, ExecutionModel::GLCompute, &dispatch.entry)?;
                    self.check_resources(bound, &needs.unwrap_or_default())?;
                }
                let code = self.code(&dispatch.words, &dispatch.entry, bound, wgsl::Options::default())?;
                check_handles(bound, &code.handles)?;
                Ok(Program::Compute(self.computation(dispatch, &code)))
            }
            Dispatch::Draw(dispatch) => {
                self.within_render_limits(dispatch)?;
                let needs = |stage: &Stage, model| match self.needs(&stage.words, model, &stage.entry)? {
                    Some(needs) => Ok(needs),
                    None => Err(format!("the {model:?} stage's words are not of the grammar, and which stage uses what cannot be told")),
                };
                let needs = [needs(&dispatch.vertex, ExecutionModel::Vertex)?, needs(&dispatch.fragment, ExecutionModel::Fragment)?];
                self.can_render(dispatch, &needs)?;
                let bound = dispatch.bound();
                let code = |stage: &Stage| {
                    // Only triangles are drawn, and the stages share a layout.
                    let options = wgsl::Options {
                        point_size: wgsl::PointSize::Ignore,
                        access: wgsl::Access::Declared,
                        vertex_writes: true,
                        ..wgsl::Options::default()
                    };
                    let code = self.code(&stage.words, &stage.entry, bound, options)?;
                    check_handles(bound, &code.handles)?;
                    Ok::<Code, String>(code)
                };
                let codes = [code(&dispatch.vertex)?, code(&dispatch.fragment)?];
                Ok(Program::Render(self.rendering(dispatch, &needs, &codes)?))
            }
        }
    }

    /// The facts about a stage's words on the device's route.
    ///
    /// Errors: the converter refuses the words.
    fn code(&self, words: &[u32], entry: &str, bound: Bound<'_>, options: wgsl::Options) -> Result<Code, String> {
        let wgsl = match self.route {
            Route::Passthrough | Route::Naga => None,
            Route::Wgsl => {
                let options = wgsl::Options { entry: Some(entry.into()), ..options };
                Some(wgsl::convert(words, &options).map_err(|e| match e {
                    wgsl::NotConverted::Refused(refused) => format!("WGSL has no form for it ({:?}): {}", refused.why, refused.what),
                    wgsl::NotConverted::Load(e) => format!("the converter does not read it: {e}"),
                })?)
            }
        };
        let (wgsl, read_only) = wgsl.map(|converted| (converted.text, converted.read)).unzip();
        let mut code = Code { wgsl, read_only: read_only.unwrap_or_default(), handles: Vec::new() };
        if self.route.re_emits() && !(bound.images.is_empty() && bound.samplers.is_empty()) {
            let program = code.wgsl.as_deref().map_or(naga::Program::Words(words), naga::Program::Wgsl);
            // If naga cannot read the program, wgpu refuses it with the reason.
            code.handles = naga::handles(program).unwrap_or_default();
        }
        Ok(code)
    }

    /// The resources that an entry point needs. If the driver gets the words themselves, they must
    /// not need features that the device did not enable. None if the words are not of the grammar:
    /// the driver may judge them.
    fn needs(&self, words: &[u32], model: ExecutionModel, entry: &str) -> Result<Option<Needs>, String> {
        if self.route == Route::Passthrough {
            capabilities::missing(words, &self.record, self.features)?;
        }
        match resources::needs(words, model, entry) {
            Ok(needs) => Ok(Some(needs)),
            Err(NeedsError::NoEntryPoint(text)) => Err(text),
            Err(NeedsError::Words(_)) => Ok(None),
        }
    }

    /// Checks a need of the program against a limit.
    pub(super) fn within(&self, what: &str, needed: u64, limit: &str, has: u64) -> Result<(), String> {
        if needed <= has { Ok(()) } else { Err(format!("the program needs {needed} {what}; the device's {limit} is {has}")) }
    }

    /// The shader module, by the device's route.
    pub(super) fn module(&self, words: &[u32], entry: &str, code: &Code) -> wgpu::ShaderModule {
        if let Some(text) = &code.wgsl {
            let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(text));
            return self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        }
        match self.route {
            #[allow(unsafe_code)]
            // SAFETY: the framing, the version and the capabilities were checked by the caller.
            // What else may be wrong with the words can crash or corrupt this process, and this
            // process is a worker that is there to be lost.
            Route::Passthrough => unsafe {
                self.device.create_shader_module_passthrough(wgpu::ShaderModuleDescriptorPassthrough {
                    label: None,
                    entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
                        name: Cow::Borrowed(entry),
                        // Only other backends use it.
                        workgroup_size: (0, 0, 0),
                    }]),
                    spirv: Some(Cow::Borrowed(words)),
                    ..Default::default()
                })
            },
            Route::Naga | Route::Wgsl => self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::SpirV(Cow::Borrowed(words)),
            }),
        }
    }

    /// The driver's message when the device was lost. None if it was not.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }
}

/// Error scopes for every error that wgpu reports. They belong to the current thread.
pub(super) struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    pub(super) fn push(device: &wgpu::Device) -> Scopes {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Scopes([Validation, Internal, OutOfMemory].map(|filter| device.push_error_scope(filter)))
    }

    pub(super) fn pop(self) -> Option<wgpu::Error> {
        let [validation, internal, memory] = self.0;
        // They are popped in reverse order. The most informative error is returned.
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        memory.or(internal).or(validation)
    }
}

/// An error with its causes, as one line.
pub(super) fn sentence(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The modules of a script's pipelines. Shader sources become words, specialization constants are
//! frozen, and modules are loaded and checked before anything runs.

use rspirv::spirv::ExecutionModel;
use smallstep_semantics::spirv::{LoadError, LoadOptions, Module, Specialization, spec_constants};

use crate::amber::{
    Action, Attachment, Command, Compiler, Language, Pipeline, PipelineId, PipelineKind, Script, Shader, ShaderError, Source, Stage as For,
};
use crate::compute::report::AssemblyLines;
use crate::compute::{ComputeModule, Uses};
use crate::dispatch::resources::{self, Needs};
use crate::source::{ReadError, Wrong};

/// The options for loading shaders.
#[derive(Clone, Copy, Default)]
pub struct Options<'c> {
    /// The compiler for shaders in GLSL. Without it they are unsupported.
    pub glsl: Option<Compiler<'c>>,
    /// Whether to accept the output of older tools: sections out of order, another reserved word.
    pub lenient: bool,
}

/// A stage of a graphics pipeline.
pub struct Stage {
    /// The module.
    pub module: Module,
    /// The entry point.
    pub entry: String,
    /// The resources that the entry point uses.
    pub needs: Needs,
    /// The lines of its instructions in the script, if the source is assembly.
    pub lines: Option<AssemblyLines>,
}

impl Stage {
    /// The resources that the entry point uses.
    pub fn uses(&self) -> Uses<'_> {
        Uses::new(&self.module, &self.needs)
    }
}

/// The modules of a pipeline.
pub enum Loaded {
    /// A compute stage.
    Compute {
        /// The module.
        module: Box<ComputeModule>,
        /// The lines of its instructions in the script, if the source is assembly.
        lines: Option<AssemblyLines>,
    },
    /// A vertex and a fragment stage.
    Graphics {
        /// The vertex stage.
        vertex: Box<Stage>,
        /// The fragment stage.
        fragment: Box<Stage>,
    },
}

/// The modules of all pipelines that a script runs.
pub struct Modules(Vec<Option<Loaded>>);

impl Modules {
    /// Loads the modules of a script. `name` is the name of its file.
    ///
    /// Errors: a shader without words, a module that is rejected, or a pipeline without a stage.
    /// The message begins with the place.
    pub fn load(name: &str, script: &Script, options: &Options<'_>) -> Result<Modules, ReadError> {
        let mut modules = Modules(script.pipelines.iter().map(|_| None).collect());
        for command in script.commands.iter().flat_map(with_body) {
            let Action::Run(run) = &command.action else { continue };
            let PipelineId(place) = run.pipeline;
            if modules.0[place].is_none() {
                modules.0[place] = Some(load(name, script, &script[run.pipeline], options)?);
            }
        }
        Ok(modules)
    }

    /// The modules of a pipeline. `None` if no command runs it.
    pub fn of(&self, pipeline: PipelineId) -> Option<&Loaded> {
        self.0.get(pipeline.0)?.as_ref()
    }
}

/// A command, followed by the commands that it repeats.
fn with_body(command: &Command) -> impl Iterator<Item = &Command> {
    let body = match &command.action {
        Action::Repeat { body, .. } => body.as_slice(),
        _ => &[],
    };
    std::iter::once(command).chain(body)
}

fn load(name: &str, script: &Script, pipeline: &Pipeline, options: &Options<'_>) -> Result<Loaded, ReadError> {
    let stage = |stage: For| {
        let attached = pipeline.shader(stage).ok_or_else(|| {
            let what = format!("error[amber]: {name}:{}: pipeline {} has no {} shader", pipeline.line, pipeline.name, stage.name());
            ReadError { wrong: Wrong::Invalid, text: what }
        })?;
        Ok::<_, ReadError>((attached, module(name, script, attached, options)?))
    };
    let lines_of = |shader: &Shader, module: &Module| match &shader.source {
        Source::Assembly(text) => AssemblyLines::new(name, text, module).map(|lines| lines.beginning_at(shader.source_line.0)),
        _ => None,
    };
    match pipeline.kind {
        PipelineKind::Compute => {
            let (attached, module) = stage(For::Compute)?;
            let shader = &script[attached.shader];
            let lines = lines_of(shader, &module);
            let module = ComputeModule::new(module, Some(&attached.entry)).map_err(|what| ReadError {
                wrong: Wrong::Invalid,
                text: format!("error[amber]: {name}:{}: shader {}: {what}", attached.line, shader.name),
            })?;
            Ok(Loaded::Compute { module: Box::new(module), lines })
        }
        PipelineKind::Graphics => {
            let stage = |kind, model| {
                let (attached, module) = stage(kind)?;
                let entry = attached.entry.to_string();
                let needs = resources::needs(module.words(), model, &entry).map_err(|what| ReadError {
                    wrong: Wrong::Invalid,
                    text: format!("error[amber]: {name}:{}: shader {}: {what}", attached.line, script[attached.shader].name),
                })?;
                let lines = lines_of(&script[attached.shader], &module);
                Ok::<_, ReadError>(Box::new(Stage { module, entry, needs, lines }))
            };
            let (vertex, fragment) = (stage(For::Vertex, ExecutionModel::Vertex)?, stage(For::Fragment, ExecutionModel::Fragment)?);
            Ok(Loaded::Graphics { vertex, fragment })
        }
    }
}

fn module(name: &str, script: &Script, attached: &Attachment, options: &Options<'_>) -> Result<Module, ReadError> {
    let shader = &script[attached.shader];
    let compiler = match &shader.source {
        Source::Foreign { language: Language::Glsl, .. } => options.glsl,
        _ => None,
    };
    let words = shader.words(compiler).map_err(|e| {
        let wrong = if matches!(e, ShaderError::Unsupported(_)) { Wrong::Unsupported } else { Wrong::Invalid };
        ReadError { wrong, text: format!("{name}: {e}") }
    })?;
    let refused = |e: &LoadError| {
        let error = ReadError::of_module(&format!("{name}:{}: shader {}", shader.line, shader.name), e);
        ReadError { wrong: error.wrong, text: error.text }
    };
    // A value for a constant that the module does not have has no effect
    // (Vulkan, VkSpecializationMapEntry).
    let mut specialization = Vec::new();
    if !attached.specializations.is_empty() {
        let constants = spec_constants(&words).map_err(|e| refused(&e))?;
        let values = attached.specializations.iter().filter(|s| constants.iter().any(|c| c.id == s.id));
        specialization.extend(values.map(|s| Specialization { id: s.id, bits: s.bits.into() }));
    }
    Module::load_with(&words, &LoadOptions { lenient: options.lenient, specialization, ..LoadOptions::default() }).map_err(|e| refused(&e))
}

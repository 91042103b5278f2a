//! Shaders: their sources, and the SPIR-V words of the sources.

use std::sync::Arc;

use smallstep_semantics::spirv;

use super::Line;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

impl Stage {
    /// Every stage with its name.
    pub const ALL: [(Stage, &'static str); 3] = [(Stage::Vertex, "vertex"), (Stage::Fragment, "fragment"), (Stage::Compute, "compute")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Stage::ALL.iter().find(|s| s.0 == self).map_or("", |s| s.1)
    }
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Its name.
    pub name: String,
    /// The stage. `None` for `multi`, where each ATTACH gives the stage.
    pub stage: Option<Stage>,
    /// The source.
    pub source: Source,
    /// The target environment, such as `spv1.3` or `vulkan1.1`.
    pub target_env: Option<String>,
    /// The line of its declaration.
    pub line: Line,
    /// The line where the source begins.
    pub source_line: Line,
}

/// A shader's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// SPIR-V assembly.
    Assembly(Arc<str>),
    /// SPIR-V words.
    Words(Arc<[u32]>),
    /// The vertex shader that copies the vec4 of location 0 to the position.
    Passthrough,
    /// A text in another language. It needs a compiler.
    Foreign {
        /// The language.
        language: Language,
        /// The text.
        text: Arc<str>,
    },
}

/// A language that needs a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// OpenGL Shading Language.
    Glsl,
    /// High-Level Shading Language.
    Hlsl,
    /// OpenCL C.
    OpenClC,
}

impl Language {
    /// Every language with its name in AmberScript.
    pub const ALL: [(Language, &'static str); 3] = [(Language::Glsl, "GLSL"), (Language::Hlsl, "HLSL"), (Language::OpenClC, "OPENCL-C")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Language::ALL.iter().find(|l| l.0 == self).map_or("", |l| l.1)
    }
}

/// The words of [`Source::Passthrough`]: entry point `main`, SPIR-V 1.0.
const PASSTHROUGH: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %in %out
OpDecorate %in Location 0
OpDecorate %out BuiltIn Position
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%ptr_in = OpTypePointer Input %vec4
%ptr_out = OpTypePointer Output %vec4
%in = OpVariable %ptr_in Input
%out = OpVariable %ptr_out Output
%main = OpFunction %void None %fn
%entry = OpLabel
%value = OpLoad %vec4 %in
OpStore %out %value
OpReturn
OpFunctionEnd
";

/// A compiler for shaders in other languages. It returns the words, or the reason for a failure.
pub type Compiler<'c> = &'c dyn Fn(&Shader) -> Result<Vec<u32>, ShaderError>;

/// The reason why a shader has no words, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShaderError {
    /// The language needs a compiler, and there is none.
    Unsupported(String),
    /// The assembler or compiler rejected it. Line numbers are those of the script.
    Invalid(String),
}

impl std::fmt::Display for ShaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShaderError::Unsupported(what) => write!(f, "unsupported: {what}"),
            ShaderError::Invalid(what) => write!(f, "error[amber]: {what}"),
        }
    }
}

impl std::error::Error for ShaderError {}

impl Shader {
    /// The SPIR-V version of the target environment. The default is 1.0, as in Amber. `None` for an
    /// unknown environment.
    pub fn version(&self) -> Option<(u8, u8)> {
        version_of(self.target_env.as_deref().unwrap_or("spv1.0"))
    }

    /// The SPIR-V words. Without a `compiler`, other languages are unsupported.
    pub fn words(&self, compiler: Option<Compiler<'_>>) -> Result<Vec<u32>, ShaderError> {
        let assemble = |text: &str| {
            spirv::assemble(text, spirv::Options { version: self.version() }).map_err(|e| {
                let line = self.source_line.0 + e.line.saturating_sub(1);
                ShaderError::Invalid(format!("{line}:{}: shader {}: {}", e.column, self.name, e.what))
            })
        };
        match &self.source {
            Source::Assembly(text) => assemble(text),
            Source::Words(words) => Ok(words.to_vec()),
            Source::Passthrough => assemble(PASSTHROUGH),
            Source::Foreign { language, .. } => match compiler {
                Some(compile) => compile(self).map_err(|error| {
                    let (ShaderError::Unsupported(what) | ShaderError::Invalid(what)) = error;
                    ShaderError::Invalid(format!("line {}: shader {}: {what}", self.line, self.name))
                }),
                None => {
                    let why = match language.name() {
                        "GLSL" => "no compiler is given for that: --glsl-compiler CMD gives one",
                        _ => "a compiler can be given for GLSL only",
                    };
                    Err(ShaderError::Unsupported(format!("line {}: shader {} is {}, and {why}", self.line, self.name, language.name())))
                }
            },
        }
    }
}

/// The SPIR-V version of a target environment (Vulkan §Versions and Formats). `None` for an
/// unknown name.
pub fn version_of(target_env: &str) -> Option<(u8, u8)> {
    Some(match target_env {
        "spv1.0" | "vulkan1.0" => (1, 0),
        "spv1.1" => (1, 1),
        "spv1.2" => (1, 2),
        "spv1.3" | "vulkan1.1" => (1, 3),
        "spv1.4" | "vulkan1.1spv1.4" => (1, 4),
        "spv1.5" | "vulkan1.2" => (1, 5),
        "spv1.6" | "vulkan1.3" | "vulkan1.4" => (1, 6),
        _ => return None,
    })
}

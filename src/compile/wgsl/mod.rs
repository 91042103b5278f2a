//! SPIR-V → WGSL with the same behaviour (seed 002).
//!
//! Words → checks ([`Module::load_with`]) → values over a tree of structured control flow →
//! text. A construct that WGSL cannot express is refused, with the instruction and the reason.
//! Nothing is approximated, except where notes say so ([`Converted::notes`]).
//!
//! | module | content | seed 002 |
//! |---|---|---|
//! | `structure` | constructs, exits, flags | Reconstructing structured control flow |
//! | `usage` | where values are spelled | Preserving execution order; Hoisting and phis |
//! | `scan` | facts about functions | |
//! | `convert` | declarations, functions reached from entry points | Overall flow |
//! | `function` | statements | |
//! | `arithmetic`, `glsl` | computations | Integer signedness |
//! | `constant` | constants that break no rule for const-expressions | |
//! | `specialization` | specialization constants as overrides | |
//! | `layout` | types in memory | Mapping types, Mapping buffer types |
//! | `words` | buffers whose layout no WGSL type has | Mapping buffer types |
//! | `place` | pointers, loads, stores, lengths | References and pointers, Mapping OpArrayLength |
//! | `pointer` | pointers that are values | Hoisting and phis |
//! | `atomic` | atomics and barriers | Post-process: atomic functions |
//! | `interface` | built-ins, entry points | Remapping builtin inputs and outputs |
//! | `image` | textures and samplers | Translating textures and samplers |
//! | `names`, `text` | identifiers, expressions | |
//! | `planted` | planted bugs, for tests | |

mod arithmetic;
mod atomic;
mod constant;
mod convert;
mod function;
mod glsl;
mod image;
mod interface;
mod layout;
mod names;
mod place;
pub mod planted;
mod pointer;
mod scan;
mod specialization;
mod structure;
mod text;
mod usage;
mod words;

use std::fmt;

use smallstep_semantics::spirv::{LoadError, LoadOptions, Module};

use convert::Convert;
pub use image::comparing;
use planted::Change;

/// The options of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The only entry point to convert. All entry points if `None`.
    pub entry: Option<String>,
    /// The treatment of a point size that is not 1.0.
    pub point_size: PointSize,
    /// Which storage buffers are declared `read`.
    pub access: Access,
    /// Whether a vertex stage may write storage buffers and storage images. naga accepts that and
    /// some devices do it, but WGSL's rules forbid it.
    pub vertex_writes: bool,
    /// A planted bug, for tests.
    pub planted: Option<Change>,
}

/// The treatment of a point size that is not 1.0, which WGSL does not support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointSize {
    /// The module is refused.
    #[default]
    Refuse,
    /// The size is dropped, with a note. It makes no difference unless points are drawn.
    Ignore,
}

/// The storage buffers that are declared `read`. All others are `read_write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// The buffers that no reached function writes.
    #[default]
    Used,
    /// The NonWritable buffers. So the stages of a draw agree on the buffers that they share.
    Declared,
}

/// A converted module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The WGSL program.
    pub text: String,
    /// Properties of the module that WGSL cannot express, one sentence each.
    pub notes: Vec<String>,
    /// The groups and bindings of the storage buffers that are declared `read`.
    pub read: Vec<(u32, u32)>,
}

/// The reason why a module has no WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotConverted {
    /// The module does not load. See [`LoadError`].
    Load(LoadError),
    /// WGSL cannot express a construct of the module.
    Refused(Refused),
}

impl fmt::Display for NotConverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotConverted::Load(error) => error.fmt(f),
            NotConverted::Refused(refused) => refused.fmt(f),
        }
    }
}

impl std::error::Error for NotConverted {}

/// A construct that WGSL cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind of reason.
    pub why: Why,
    /// The construct or reason in words.
    pub what: String,
    /// The instruction, such as `OpMemoryBarrier of function %4, block %9, at word 120`.
    pub instruction: Option<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.instruction {
            Some(instruction) => write!(f, "{instruction}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// The kind of reason for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// WGSL has no integers of 8, 16 or 64 bits, and no floats of 64.
    Width,
    /// WGSL has no such type.
    Type,
    /// WGSL has no such instruction.
    Instruction,
    /// WGSL's layout rules cannot express a layout.
    Layout,
    /// Subgroups. naga and Tint accept no common syntax for them.
    Subgroups,
    /// WGSL has no such atomic.
    Atomics,
    /// WGSL has no such barrier.
    Barrier,
    /// WGSL has no such address space, or no pointer into it where one is needed.
    Pointer,
    /// In WGSL, a vertex stage cannot use writable memory.
    VertexWrites,
    /// WGSL has no such built-in value, or not in this stage.
    BuiltIn,
    /// A branch has no form in WGSL.
    ControlFlow,
    /// Statements or expressions would be nested too deeply.
    Nesting,
    /// There is no such entry point, or WGSL lacks its stage or one of its execution modes.
    EntryPoint,
    /// A limit of this converter.
    Limit,
}

/// Converts a module.
///
/// ```
/// use smallstep::compile::wgsl::{Options, convert};
/// use smallstep_semantics::spirv::assemble;
///
/// let text = std::fs::read_to_string("examples/spirv/average.spvasm")?;
/// let converted = convert(&assemble(&text, Default::default())?, &Options::default())?;
/// assert!(converted.text.contains("@compute"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(words: &[u32], options: &Options) -> Result<Converted, NotConverted> {
    // The output of older tools is accepted too, and features that no engine runs. Few modules
    // need that.
    let lenient = || Module::load_with(words, &LoadOptions { lenient: true, unmodeled: true, ..LoadOptions::default() });
    let module = Module::load(words).or_else(|_| lenient()).map_err(NotConverted::Load)?;
    Convert::new(&module, words, options).all().map_err(NotConverted::Refused)
}

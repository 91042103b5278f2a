//! SPIR-V → WGSL that executes the same (seed 002).
//!
//! Words → checks ([`Module::load_with`]) → values over a tree of structured control flow →
//! text.
//! Whatever WGSL cannot express is refused, with the instruction and the reason; nothing is
//! approximated, but for what notes say ([`Converted::notes`]).
//!
//! | module | what it holds | seed 002 |
//! |---|---|---|
//! | `structure` | constructs, exits, flags | Reconstructing structured control flow |
//! | `usage` | where values stand | Preserving execution order; Hoisting and phis |
//! | `scan` | what functions do | |
//! | `convert` | declarations, functions reached from entry points | Overall flow |
//! | `function` | statements | |
//! | `arithmetic`, `glsl` | computations | Integer signedness |
//! | `constant` | constants, none of which breaks a rule for const-expressions | |
//! | `specialization` | specialization constants as overrides | |
//! | `layout` | types in memory | Mapping types, Mapping buffer types |
//! | `words` | buffers whose layout no type has | Mapping buffer types |
//! | `place` | pointers, loads, stores, lengths | References and pointers, Mapping OpArrayLength |
//! | `pointer` | pointers that are values | Hoisting and phis |
//! | `atomic` | atomics and barriers | Post-process: atomic functions |
//! | `interface` | built-ins, entry points | Remapping builtin inputs and outputs |
//! | `image` | textures and samplers | Translating textures and samplers |
//! | `names`, `text` | identifiers, expressions | |
//! | `planted` | mistakes, for tests | |

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

/// How a module is converted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The entry point, if it is to be only one.
    pub entry: Option<String>,
    /// What becomes of a size of points that is not 1.0.
    pub point_size: PointSize,
    /// Which storage buffers are declared `read`.
    pub access: Access,
    /// Whether a vertex stage may write storage buffers and storage images: naga reads that, and
    /// some devices do it, but WGSL's rules refuse it.
    pub vertex_writes: bool,
    /// A mistake that is made on purpose.
    pub planted: Option<Change>,
}

/// What becomes of a size of points that is not 1.0, which WGSL has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointSize {
    /// The module is refused.
    #[default]
    Refuse,
    /// The size is left out, and a note says so. Nothing shows it where no points are drawn.
    Ignore,
}

/// Which storage buffers are declared `read`, others being `read_write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Those that no function writes that is reached.
    #[default]
    Used,
    /// Those that are NonWritable: the stages of a draw then agree on the buffers that they share.
    Declared,
}

/// A converted module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The WGSL.
    pub text: String,
    /// What the module says that WGSL has no word for, a sentence each.
    pub notes: Vec<String>,
    /// The groups and bindings of the storage buffers that are declared `read`.
    pub read: Vec<(u32, u32)>,
}

/// Why there is no WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotConverted {
    /// The words are no module that is modeled: see [`LoadError`].
    Load(LoadError),
    /// WGSL has no form for something.
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

/// What WGSL has no form for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind of reason.
    pub why: Why,
    /// What, in words.
    pub what: String,
    /// The instruction, as `OpMemoryBarrier of function %4, block %9, at word 120`.
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

/// The kinds of reasons for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// WGSL has no integers of 8, 16 or 64 bits, and no floats of 64.
    Width,
    /// WGSL has no such type.
    Type,
    /// WGSL has no such instruction.
    Instruction,
    /// WGSL's layout rules cannot place something.
    Layout,
    /// Subgroups: no text of them is read by naga and Tint alike.
    Subgroups,
    /// WGSL has no such atomic.
    Atomics,
    /// WGSL has no such barrier.
    Barrier,
    /// WGSL has no such address space, or no pointer into it where one is needed.
    Pointer,
    /// WGSL's rules let no vertex stage use memory that is written.
    VertexWrites,
    /// WGSL has no such built-in value, or not in that stage.
    BuiltIn,
    /// A branch has no form.
    ControlFlow,
    /// Statements or expressions would be nested too deep.
    Nesting,
    /// There is no such entry point, or WGSL has no such stage or mode of it.
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
    // What older tools wrote is read too, and what no engine runs; few modules need it.
    let lenient = || Module::load_with(words, &LoadOptions { lenient: true, unmodeled: true, ..LoadOptions::default() });
    let module = Module::load(words).or_else(|_| lenient()).map_err(NotConverted::Load)?;
    Convert::new(&module, words, options).all().map_err(NotConverted::Refused)
}

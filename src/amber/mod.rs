//! Amber scripts: how conformance tests and driver teams exchange cases, read, printed and judged.
//!
//! [`read`] takes AmberScript (first line `#!amber`; google/amber, docs/amber_script.md) or the
//! older VkScript (docs/vk_script.md) and gives a [`Script`]: names resolved, types laid out,
//! everything within [`limits`]. [`Script::contents`] are the bytes that buffers hold at first; an
//! engine does what [`Script::commands`] say and calls [`judge()`] where one is an expectation.
//! [`Script::print`] writes AmberScript that reads back to the same script.
//!
//! Absent on purpose, each an error that begins with "unsupported": stages other than vertex,
//! fragment and compute, shaders in files outside the script, scaled formats and packed floats,
//! descriptors of several samples, arrays of descriptors, constants and second sources
//! of blending, adjacent vertices, optimization passes, OpenCL kernels, ray tracing; of VkScript
//! all but compute.
//! Shaders in foreign languages are kept, and need a compiler when their words are asked for.
//!
//! Of `SIZE` and `IDX`: a size is in items of the data type, an index in bytes. Items follow each
//! other as members of a block; with `[]` after the type, as elements of an array, which std140
//! rounds up to 16 bytes.

mod contents;
mod error;
mod file;
pub mod format;
mod judge;
mod layout;
mod lex;
pub mod limits;
mod parse;
mod print;
mod scalar;
mod script;
mod vkscript;

pub use contents::{Buffers, Choice, Contents, Known, OutOfBounds};
pub use error::{Kind, ScriptError};
pub use file::Files;
pub use format::Format;
pub use judge::{DOUBLE_TOLERANCE, Decision, Failure, Judgement, Open, TEXEL_TOLERANCE, judge};
pub use layout::{DataType, Field, Layout, Member, Shape, Slot, Standard, StructType};
pub use print::Unprintable;
pub use scalar::{Class, Number, Scalar, Value, f16_bits, f16_value};
pub use script::*;

/// Reads a script of either dialect, or gives its errors: at most [`limits::MAX_ERRORS`], in the
/// order of the text.
///
/// Files outside of the script are unsupported: [`read_with`] takes them.
pub fn read(text: &str) -> Result<Script, Vec<ScriptError>> {
    read_from(text, None)
}

/// The same, with what reads the files that BUFFER … FILE names.
pub fn read_with(text: &str, files: Files<'_>) -> Result<Script, Vec<ScriptError>> {
    read_from(text, Some(files))
}

fn read_from(text: &str, files: Option<Files<'_>>) -> Result<Script, Vec<ScriptError>> {
    parse::bounded(text)?;
    let first = text.lines().next().unwrap_or("").trim_end();
    if first == parse::MARK { parse::read(text, files) } else { vkscript::read(text) }
}

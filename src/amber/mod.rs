//! Amber scripts: test cases that conformance tests and driver teams exchange. They are read,
//! printed and judged.
//!
//! [`read`] reads AmberScript (first line `#!amber`; google/amber, docs/amber_script.md) or the
//! older VkScript (docs/vk_script.md). It returns a [`Script`]: names are resolved, types have
//! layouts, and everything is within [`limits`]. [`Script::contents`] has the initial bytes of
//! buffers. An engine executes [`Script::commands`], and calls [`judge()`] for each expectation.
//! [`Script::print`] writes AmberScript that reads back to the same script.
//!
//! Some features are absent on purpose. Each causes an error that begins with "unsupported": stages
//! other than vertex, fragment and compute, shaders in files outside of the script, scaled formats
//! and packed floats, descriptors with several samples, arrays of descriptors, constants and second
//! sources of blending, adjacent vertices, optimization passes, OpenCL kernels, ray tracing, and
//! everything in VkScript but compute. Shaders in other languages are kept as text, and need a
//! compiler to get their words.
//!
//! `SIZE` counts items of the data type. `IDX` counts bytes. Items follow each other like members
//! of a block. With `[]` after the type they follow each other like elements of an array, and
//! std140 rounds them up to 16 bytes.

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

pub use contents::{Buffers, Certainty, Choice, Contents, OutOfBounds};
pub use error::{Kind, ScriptError};
pub use file::Files;
pub use format::Format;
pub use judge::{DOUBLE_TOLERANCE, Decision, Failure, Judgement, Open, TEXEL_TOLERANCE, judge};
pub use layout::{DataType, Field, Layout, Member, Shape, Slot, Standard, StructType};
pub use print::Unprintable;
pub use scalar::{Class, Number, Scalar, Value, f16_bits, f16_value};
pub use script::*;

/// Reads a script of either dialect. On failure returns its errors, at most [`limits::MAX_ERRORS`],
/// in the order of the text.
///
/// Files outside of the script are unsupported. [`read_with`] supports them.
pub fn read(text: &str) -> Result<Script, Vec<ScriptError>> {
    read_from(text, None)
}

/// Like [`read`], with a function that reads the files of BUFFER … FILE.
pub fn read_with(text: &str, files: Files<'_>) -> Result<Script, Vec<ScriptError>> {
    read_from(text, Some(files))
}

fn read_from(text: &str, files: Option<Files<'_>>) -> Result<Script, Vec<ScriptError>> {
    parse::bounded(text)?;
    let first = text.lines().next().unwrap_or("").trim_end();
    if first == parse::MARK { parse::read(text, files) } else { vkscript::read(text) }
}

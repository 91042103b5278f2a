//! Quirks of optimisers: known mistakes, each with one small module. They are the files
//! of `spec-tests/quirks-spirv-opt`.
//!
//! A quirk is an assembly text with its dispatch in its comments and lines `;@ quirk KEY: VALUE`.
//! `tool` is a command. `version` is a part of its version text. `command` is the command with
//! options, without files. `seen` is the day. `ends` is `shown`, `undefined` or `failed`
//! ([`Ends`]). `says` is a part of the mistake's sentence.

use crate::theorem::Unexpected;
use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::path::Path;

use super::optimised::{Ends, Wrong, optimised_dispatch};
use super::quirk::prepare;
use crate::compute::Prepared;
use crate::theorem::compilers::Compiler;
use crate::theorem::quirk::{Keys, files_of, has_words, stem, text_of};
use crate::theorem::without_numbers;
use crate::verdict::Verdict;

/// A known mistake of an optimiser.
pub struct OptimiserQuirk {
    /// The file's name without its ending.
    pub name: String,
    /// The optimiser's program.
    pub tool: String,
    /// A part of the tool's version text.
    pub version: String,
    /// The command, which begins with the tool, without the words that name files.
    pub command: String,
    /// The day, such as 2026-11-21.
    pub day: String,
    /// The kind of mistake.
    pub ends: Ends,
    /// A part of the mistake's sentence. Numbers do not count.
    pub says: String,
    /// The module with its dispatch.
    pub prepared: Prepared,
}

impl OptimiserQuirk {
    /// Reads a quirk.
    ///
    /// # Errors
    /// The file cannot be read, a line is not `;@ quirk KEY: VALUE` or `;@ dispatch KEY: VALUE`, a
    /// key is unknown, missing or repeated, the command does not begin with the tool, or the module
    /// or its dispatch is not valid.
    pub fn read(path: &Path) -> Result<OptimiserQuirk, InvalidInput> {
        let wrong = |what: String| InvalidInput::new(InputFault::Text, format!("{}: {what}", path.display()));
        let text = text_of(path)?;
        let mut keys = Keys::read(&text, &["dispatch"]).map_err(wrong)?;
        let mut required = |key: &str| keys.required(key).map_err(wrong);
        let (tool, version, command) = (required("tool")?, required("version")?, required("command")?);
        let (day, says) = (required("seen")?, required("says")?);
        let ends = [("shown", Ends::Shown), ("undefined", Ends::Undefined), ("failed", Ends::Failed)];
        let ends = keys.one_of("ends", ends).map_err(wrong)?;
        keys.all_read().map_err(wrong)?;
        if command.split_whitespace().next() != Some(tool.as_str()) {
            return Err(wrong(format!("the command \"{command}\" does not begin with the tool \"{tool}\"")));
        }
        let prepared = prepare(path, &text)?;
        Ok(OptimiserQuirk { name: stem(path), tool, version, command, day, ends, says, prepared })
    }

    /// All quirks of a folder (its `.spvasm` files), in the order of their names.
    ///
    /// # Errors
    /// As for [`OptimiserQuirk::read`], and if the folder cannot be read or has no such file.
    pub fn read_folder(folder: &Path) -> Result<Vec<OptimiserQuirk>, InvalidInput> {
        files_of(folder, "spvasm")?.iter().map(|path| OptimiserQuirk::read(path)).collect()
    }

    /// Whether it was seen with this version of the optimiser.
    pub fn is_of(&self, optimiser: &Compiler) -> bool {
        has_words(optimiser.version(), &self.version)
    }

    /// The verdict on the quirk's module with an optimiser.
    pub fn by(&self, optimiser: &Compiler) -> Verdict<Wrong> {
        optimised_dispatch(&self.prepared, optimiser)
    }

    /// Checks that a verdict is the recorded one, except for numbers.
    ///
    /// # Errors
    /// The difference from the recorded verdict.
    pub fn is_recorded(&self, found: &Verdict<Wrong>) -> Result<(), Unexpected> {
        match found {
            Verdict::Disagree(Wrong { what, ends })
                if *ends == self.ends && without_numbers(what).contains(&without_numbers(&self.says)) =>
            {
                Ok(())
            }
            Verdict::Disagree(Wrong { what, .. }) => Err(format!("another disagreement than recorded: {what}").into()),
            Verdict::Agree => Err("this version no longer shows it: remove the quirk".into()),
            Verdict::Vacuous(_) => Err("the module is undefined, so that every compiled module is right".into()),
            other => Err(format!("it is {}: {}", other.name(), other.why()).into()),
        }
    }
}

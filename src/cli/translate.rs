//! `smallstep translate`: λV to SPIR-V.

use super::check::constants;
use super::exit::Ended;
use super::{exit, input, output};
use clap::Args;
use serde_json::json;
use smallstep::compile::lambda_v::listing::listing;
use smallstep::compile::lambda_v::{self as translation, Constants, Untranslatable};
use smallstep::dispatch::words_hash;
use smallstep::program::Language;
use smallstep::source;
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv;
use std::path::{Path, PathBuf};

/// Translate a λV program to SPIR-V, as assembly or as words.
#[derive(Args)]
pub(crate) struct Translate {
    /// A λV program, or - for standard input.
    file: PathBuf,
    /// The float controls that the module declares: strict, or none: vulkan-default, and wgsl for
    /// the route through naga.
    #[arg(long, value_parser = profile, default_value = "strict")]
    profile: Profile,
    /// Constants: module, or opaque (read from a buffer at set 0, binding 0).
    #[arg(long, value_parser = constants, default_value = "module")]
    constants: Constants,
    /// Write the module here, as words; - is standard output. Without it, assembly is printed.
    #[arg(short)]
    out: Option<PathBuf>,
    /// With -o: write assembly. A name that ends in .spvasm says so too.
    #[arg(long)]
    asm: bool,
    /// Write the buffer of opaque constants here: little-endian 32-bit words.
    #[arg(long)]
    buffer: Option<PathBuf>,
    /// List the witness on standard output, instead of the assembly: each subexpression with its
    /// place, type, result id, and the rule that made the id.
    #[arg(long)]
    witness: bool,
    /// One JSON object a line on standard output: the witness, if it is asked for, then a summary.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `--profile`.
pub(super) fn profile(text: &str) -> Result<Profile, String> {
    match text {
        "strict" => Ok(Profile::Strict),
        "vulkan-default" => Ok(Profile::VulkanDefault),
        "wgsl" => Ok(Profile::Wgsl),
        _ => Err(format!("no profile is called \"{text}\"; there are strict, vulkan-default and wgsl")),
    }
}

/// What commands answer for a program without translation.
pub(super) fn untranslatable_code(error: &Untranslatable) -> u8 {
    match error {
        Untranslatable::IllTyped { .. } => exit::INVALID,
        Untranslatable::Limit(_) => exit::LIMIT,
    }
}

impl Translate {
    pub(crate) fn run(self) -> Ended {
        self.try_run().map(|()| exit::DONE)
    }

    fn try_run(&self) -> Result<(), (u8, String)> {
        let invalid = |e: String| (exit::INVALID, format!("error: {e}"));
        let name = self.file.display().to_string();
        let source = input::only(&self.file, Language::LambdaV)?;
        let text = source.text();
        let (program, _) = source::lambda_v(&name, text).map_err(|e| (super::run::read_code(&e), e.text))?;
        let options = translation::Options {
            profile: self.profile,
            constants: self.constants,
            witness: self.witness,
            ..translation::Options::default()
        };
        let module = translation::translate(&program, &options).map_err(|e| (untranslatable_code(&e), format!("error: {name}: {e}")))?;
        let assembly = || spirv::disassemble(&module.words).map_err(|e| (exit::DISAGREE, format!("error: a bug of ours: {e}")));
        if self.witness {
            for w in listing(&module, &program.symbols, text, if self.json { 10_000 } else { 100 }) {
                if self.json {
                    say!(
                        "{}",
                        json!({"schema": 1, "kind": "witness", "line": w.line, "column": w.column, "expression": w.expression,
                            "type": w.ty.to_string(), "id": w.id, "rule": w.rule.name()})
                    );
                } else {
                    let (place, id) = (format!("{}:{}", w.line, w.column), format!("%{}", w.id));
                    say!("{place:>8}  {:<9} {id:>6}  {:<16} {}", w.ty.to_string(), w.rule.name(), w.expression);
                }
            }
        }
        match &self.out {
            None if self.witness || self.json => {}
            None => say_part!("{}", assembly()?),
            Some(path) if self.asm || ends_in(path, "spvasm") => output::write(path, assembly()?.as_bytes()).map_err(invalid)?,
            Some(path) => output::write(path, &spirv::bytes_of_words(&module.words)).map_err(invalid)?,
        }
        if let Some(path) = &self.buffer {
            output::write(path, &spirv::bytes_of_words(&module.constants)).map_err(invalid)?;
        } else if !module.constants.is_empty() {
            tell!("the module reads {} words at set 0, binding 0; --buffer FILE writes them", module.constants.len());
        }
        if self.json {
            let outputs: Vec<_> = module.outputs.iter().map(|t| json!({"location": t.location, "components": t.components})).collect();
            let rules: Vec<&str> = module.rules.iter().map(|r| r.name()).collect();
            let hash = format!("{:#018x}", words_hash(&module.words));
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "words": module.words.len(), "words_hash": hash, "entry": module.entry,
                    "outputs": outputs, "constants": module.constants.len(), "instructions": module.instructions, "rules": rules,
                    "exit": exit::DONE})
            );
        }
        Ok(())
    }
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

//! The reading of files, and the programs for pixels in them: well-typed λV programs and modules.

use crate::diagnostic::Diagnostic;
use crate::dispatch::{FragmentDispatch, Target};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::types::Type;
use smallstep_semantics::lambda_v::typing::{self, Derivation, Limits, TypeError};
use smallstep_semantics::spirv::error::{Check, Place};
use smallstep_semantics::spirv::module::Interface;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::{self, LoadError, Module};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// Opens a regular file, which can be read to its end. Reading from a pipe or a device might block
/// or never end.
///
/// # Errors
/// If the file does not exist, is not regular, or cannot be opened. The message does not name
/// the path.
pub fn open(path: &Path) -> io::Result<File> {
    // The check comes first, since opening a pipe waits for its writer.
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "this is a folder, and a file is needed"));
    }
    if !metadata.is_file() {
        let what = "this is no regular file but a pipe or a device; what comes through a pipe is read from standard input, as -";
        return Err(io::Error::new(ErrorKind::Unsupported, what));
    }
    File::open(path)
}

/// The bytes of a file that [`open`] accepts.
///
/// # Errors
/// As [`open`] and [`at_most`].
pub fn contents(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    at_most(open(path)?, most)
}

/// The bytes of an input, up to its end.
///
/// # Errors
/// If there are more than `most` bytes, or they cannot be read.
pub fn at_most(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("there are more than {most} bytes")));
    }
    Ok(bytes)
}

/// A program that can be run.
pub enum Source {
    /// A well-typed λV program.
    LambdaV {
        /// The program.
        program: Box<Program>,
        /// The outputs by location. Each has the number of components of its type.
        outputs: Vec<Target>,
    },
    /// A module of the modeled subset.
    Spirv(Box<Loaded>),
}

/// A SPIR-V module with an entry point, ready for every engine.
pub struct Loaded {
    /// The words.
    pub words: Arc<[u32]>,
    /// The module.
    pub module: Module,
    /// The entry point, compiled for the machine.
    pub compiled: spirv::Program,
    /// The entry point's name.
    pub entry: String,
    /// Its outputs, by location.
    pub outputs: Vec<Target>,
    /// The words of the buffer at set 0, binding 0.
    pub constants: Vec<u32>,
}

impl Loaded {
    /// Loads words. Without a name, the module must have exactly one entry point.
    ///
    /// Errors: those of the loader, no such entry point, or several to choose from.
    pub fn new(words: &[u32], entry: Option<&str>, constants: Vec<u32>) -> Result<Loaded, LoadError> {
        Loaded::of(Module::load(words)?, entry, constants)
    }

    /// As [`Loaded::new`], for a module that is loaded already.
    ///
    /// # Errors
    /// As [`Loaded::new`].
    pub fn of(module: Module, entry: Option<&str>, constants: Vec<u32>) -> Result<Loaded, LoadError> {
        let entry = match (entry, module.entry_points()) {
            (Some(name), _) => module.entry_point(name)?.name.clone(),
            (None, [only]) => only.name.clone(),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|e| e.name.as_str()).take(8).collect();
                let what = format!("the module has {} entry points ({}); name one", several.len(), names.join(", "));
                return Err(LoadError::Invalid { check: Check::EntryPoint, what, at: Place::default() });
            }
        };
        let compiled = spirv::Program::compile(&module, &entry)?;
        let outputs = outputs(&module, &entry)?;
        Ok(Loaded { words: Arc::from(module.words()), module, compiled, entry, outputs, constants })
    }

    /// The dispatch for engines and devices.
    pub fn dispatch(&self, (width, height): (u32, u32)) -> FragmentDispatch {
        let (words, entry) = (self.words.clone(), self.entry.clone());
        FragmentDispatch { words, entry, width, height, outputs: self.outputs.clone(), constants: self.constants.clone() }
    }

    /// The buffers for the interpreters.
    pub fn buffers(&self) -> Vec<spirv::Buffer> {
        match self.constants.is_empty() {
            true => Vec::new(),
            false => vec![spirv::Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&self.constants) }],
        }
    }
}

/// The outputs in the interface of an entry point, by location. Each has the number of components
/// of its variable.
pub fn outputs(module: &Module, entry: &str) -> Result<Vec<Target>, LoadError> {
    let words = module.words();
    let point = module.entry_point(entry)?;
    let operands = module.instructions()[point.instruction as usize].operands(words);
    // The operands are the execution model, the function and the name. The interface follows.
    let (_, length) = spirv::words::string_at(&operands[2..]).unwrap_or_default();
    let mut outputs = Vec::new();
    for &variable in &operands[2 + length..] {
        let Some(Interface::Output(location)) = module.interface(variable) else { continue };
        let pointer = module.instruction(variable).and_then(|v| module.instruction(v.result_type));
        let shape = pointer.and_then(|p| p.operands(words).get(1)).map(|&pointee| module.shape(pointee));
        match shape {
            Some(shape) if shape.scalar == Scalar::F32 && shape.columns == 1 => {
                outputs.push(Target { location, components: u32::from(shape.rows) });
            }
            _ => {
                let what = format!("the output at location {location}, which is no float and no vector of floats");
                return Err(LoadError::Unsupported { what, at: Place::default() });
            }
        }
    }
    outputs.sort_by_key(|t| t.location);
    Ok(outputs)
}

/// The kinds of errors of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is malformed, or ill typed.
    Invalid,
    /// It needs a feature that is not modeled.
    Unsupported,
    /// It exceeds a limit of ours.
    Limit,
}

/// The reason why bytes are no program that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The kind of error.
    pub wrong: Wrong,
    /// The complete message, with its place.
    pub text: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    fn new(wrong: Wrong, text: impl Into<String>) -> ReadError {
        ReadError { wrong, text: text.into() }
    }

    /// The error of the loader for the file with this name.
    pub fn of_module(name: &str, error: &LoadError) -> ReadError {
        let wrong = match error {
            LoadError::Unsupported { .. } => Wrong::Unsupported,
            LoadError::Limit(_) => Wrong::Limit,
            _ => Wrong::Invalid,
        };
        ReadError::new(wrong, format!("{name}: {error}"))
    }
}

/// A well-typed λV program, and its typing derivation.
pub fn lambda_v(name: &str, text: &str) -> Result<(Program, Derivation), ReadError> {
    let rendered = |diagnostic: Diagnostic| diagnostic.render(name, text).trim_end().to_string();
    let program = Program::read(text).map_err(|e| ReadError::new(Wrong::Invalid, rendered(e.into())))?;
    match typing::infer(&program, Limits::default()) {
        Ok(derivation) => Ok((program, derivation)),
        Err(e) => {
            let wrong = if matches!(e, TypeError::Limit { .. }) { Wrong::Limit } else { Wrong::Invalid };
            Err(ReadError::new(wrong, rendered(e.into())))
        }
    }
}

/// The outputs of a well-typed program, with their components.
fn targets(program: &Program, derivation: &Derivation) -> Vec<Target> {
    let components = derivation.types().map(|ty| match ty {
        Type::Ground(ty) => ty.components() as u32,
        // Typing gives each output a value type.
        Type::Rec(_) | Type::PureRec => 0,
    });
    program.outputs.iter().zip(components).map(|(o, components)| Target { location: o.location, components }).collect()
}

impl Source {
    /// Reads a λV program.
    pub fn read_lambda_v(name: &str, text: &str) -> Result<Source, ReadError> {
        let (program, derivation) = lambda_v(name, text)?;
        let outputs = targets(&program, &derivation);
        Ok(Source::LambdaV { program: Box::new(program), outputs })
    }
}

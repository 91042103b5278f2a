//! Reading files, and what a program for pixels becomes: a well-typed λV program, or a module.

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

/// Opens a file that can be read to its end: a regular one. Of a pipe or a device, reading might
/// wait or go on for ever.
///
/// # Errors
/// It is not there, is no regular file, or cannot be opened. The message does not name the path.
pub fn open(path: &Path) -> io::Result<File> {
    // Asked before, since opening a pipe waits for who writes to it.
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

/// The bytes of a file that [`open`] opens.
///
/// # Errors
/// As of [`open`] and [`at_most`].
pub fn contents(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    at_most(open(path)?, most)
}

/// What there is to read.
///
/// # Errors
/// There are more than `most` bytes, or they cannot be read.
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
        /// Its outputs, by location, each with as many components as its type has.
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
    /// Loads words. Without a name, the module must have one entry point only.
    ///
    /// Errors: those of the loader; no such entry point, or several to choose from.
    pub fn new(words: &[u32], entry: Option<&str>, constants: Vec<u32>) -> Result<Loaded, LoadError> {
        Loaded::of(Module::load(words)?, entry, constants)
    }

    /// As [`Loaded::new`], of a module that is loaded already.
    ///
    /// # Errors
    /// As of [`Loaded::new`].
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

    /// What the engines and the devices run.
    pub fn dispatch(&self, (width, height): (u32, u32)) -> FragmentDispatch {
        let (words, entry) = (self.words.clone(), self.entry.clone());
        FragmentDispatch { words, entry, width, height, outputs: self.outputs.clone(), constants: self.constants.clone() }
    }

    /// The buffers that the interpreters read.
    pub fn buffers(&self) -> Vec<spirv::Buffer> {
        match self.constants.is_empty() {
            true => Vec::new(),
            false => vec![spirv::Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&self.constants) }],
        }
    }
}

/// The outputs in the interface of an entry point, by location, each with as many components as its
/// variable has.
pub fn outputs(module: &Module, entry: &str) -> Result<Vec<Target>, LoadError> {
    let words = module.words();
    let point = module.entry_point(entry)?;
    let operands = module.instructions()[point.instruction as usize].operands(words);
    // Execution model, function, then the name; what follows it is the interface.
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

/// In what way a program cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is malformed, or ill typed.
    Invalid,
    /// It needs what is not modeled.
    Unsupported,
    /// It passes a limit of ours.
    Limit,
}

/// Why bytes are no program that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// In what way.
    pub wrong: Wrong,
    /// The whole message, with its place.
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

    /// What the loader says, about the file of this name.
    pub fn of_module(name: &str, error: &LoadError) -> ReadError {
        let wrong = match error {
            LoadError::Unsupported { .. } => Wrong::Unsupported,
            LoadError::Limit(_) => Wrong::Limit,
            _ => Wrong::Invalid,
        };
        ReadError::new(wrong, format!("{name}: {error}"))
    }
}

/// A λV program that is well typed, and its derivation.
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

/// The outputs of a well-typed program.
fn targets(program: &Program, derivation: &Derivation) -> Vec<Target> {
    let components = derivation.types().map(|ty| match ty {
        Type::Ground(ty) => ty.components() as u32,
        // Typing gives an output a type of values.
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

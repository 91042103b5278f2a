//! The reader of AmberScript (google/amber, docs/amber_script.md).
//!
//! A statement is a line, or a block up to END. After an error, reading continues at the next
//! statement, so one run reports several errors. Errors that only follow from a reported error are
//! not reported. Something unsupported is reported once. From then on nothing is called invalid,
//! since it may be valid together with the unsupported feature.

mod buffer;
mod command;
mod data_type;
mod pipeline;
mod shader;

use super::error::{Kind, ScriptError, quoted};
use super::file::Files;
use super::lex::{Lexer, Word};
use super::limits::{MAX_BUFFER_BYTES, MAX_ERRORS, MAX_TEXT, MAX_TOTAL_BYTES};
use super::scalar::{Number, Scalar};
use super::script::{Buffer, BufferId, Dialect, Line, PipelineId, Requirement, RequirementKind, SamplerId, Script, ShaderId, VirtualFile};
use rustc_hash::{FxHashMap, FxHashSet};

/// The first line of AmberScript.
pub(super) const MARK: &str = "#!amber";

/// The reason why reading of a statement stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// A new error.
    Error(ScriptError),
    /// A consequence of an error that was reported already.
    Named,
}

pub(super) type Step<T = ()> = Result<T, Stop>;

/// The kinds of named items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Named {
    Shader,
    Buffer,
    Sampler,
    Pipeline,
    Struct,
    File,
}

impl Named {
    fn word(self) -> &'static str {
        match self {
            Named::Shader => "shader",
            Named::Buffer => "buffer",
            Named::Sampler => "sampler",
            Named::Pipeline => "pipeline",
            Named::Struct => "structure",
            Named::File => "virtual file",
        }
    }
}

/// Commands that begin a statement and are unsupported.
const UNSUPPORTED_COMMANDS: [&str; 2] = ["DEBUG", "TEXTURE_VIEW"];

/// Words of scripts with ray tracing: stages, kinds of pipelines, statements, and lines
/// of pipelines.
const RAY_TRACING: [&str; 16] = [
    "ray_generation",
    "any_hit",
    "closest_hit",
    "miss",
    "intersection",
    "callable",
    "ray_tracing",
    "raytracing",
    "ACCELERATION_STRUCTURE",
    "SHADER_GROUP",
    "SHADER_BINDING_TABLE",
    "USE_LIBRARY",
    "MAX_RAY_PAYLOAD_SIZE",
    "MAX_RAY_HIT_ATTRIBUTE_SIZE",
    "MAX_RAY_RECURSION_DEPTH",
    "RAYGEN",
];

/// Words of scripts with tessellation.
const TESSELLATION: [&str; 4] = ["tessellation_evaluation", "tessellation_control", "PATCH_CONTROL_POINTS", "PATCH_LIST"];

pub(super) struct Parser<'t> {
    pub lexer: Lexer<'t>,
    /// The function that reads files outside of the script, if there is one.
    files: Option<Files<'t>>,
    pub script: Script,
    /// The reported errors.
    pub errors: Vec<ScriptError>,
    /// The number of errors, including unreported ones.
    error_count: u64,
    /// The index of each named item. `None` if its declaration had an error.
    names: FxHashMap<(Named, String), Option<usize>>,
    /// The total bytes of the buffers so far.
    total: u64,
    /// The number of commands so far, with repetitions counted.
    commands: u64,
}

/// Reads AmberScript. `text` must begin with the mark.
pub(super) fn read<'t>(text: &'t str, files: Option<Files<'t>>) -> Result<Script, Vec<ScriptError>> {
    let mut parser = Parser { files, ..Parser::new(text, Dialect::Amber) };
    parser.lexer.next_line();
    while let Some(word) = parser.lexer.word_over_lines() {
        let step = parser.statement(word);
        if parser.recover(step) {
            break;
        }
    }
    parser.finish()
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, dialect: Dialect) -> Parser<'t> {
        Parser {
            lexer: Lexer::new(text),
            files: None,
            script: Script { dialect, ..Script::default() },
            errors: Vec::new(),
            error_count: 0,
            names: FxHashMap::default(),
            total: 0,
            commands: 0,
        }
    }

    pub fn finish(self) -> Result<Script, Vec<ScriptError>> {
        if self.errors.is_empty() { Ok(self.script) } else { Err(self.errors) }
    }

    /// Records an error and goes to the next line. Returns whether there are too many errors.
    pub fn recover(&mut self, step: Step) -> bool {
        if let Err(stop) = step {
            if let Stop::Error(error) = stop {
                self.error_count += 1;
                let mut unsupported = self.errors.iter().filter(|e| e.kind == Kind::Unsupported);
                let follows = unsupported.any(|before| error.kind != Kind::Unsupported || before.what == error.what);
                if !follows {
                    self.errors.push(error);
                }
            }
            self.lexer.next_line();
        }
        self.errors.len() >= MAX_ERRORS
    }

    fn statement(&mut self, word: Word<'t>) -> Step {
        match word.text {
            "SHADER" => self.shader(word),
            "VIRTUAL_FILE" => self.virtual_file(word),
            "STRUCT" => self.structure(word),
            "BUFFER" => self.buffer(word, false),
            "IMAGE" => self.buffer(word, true),
            "SAMPLER" => self.sampler(word),
            "PIPELINE" => self.pipeline(word, false),
            "DERIVE_PIPELINE" => self.pipeline(word, true),
            "SET" => self.engine_data(),
            "REPEAT" => self.repeat(word),
            other => {
                if let Some(&(kind, _)) = RequirementKind::ALL.iter().find(|k| k.1 == other) {
                    let name = self.need("a name")?;
                    self.script.requirements.push(Requirement { kind, name: name.text.into(), line: Line(name.line) });
                    return self.end();
                }
                if let Some(command) = self.command(word)? {
                    self.count_commands(word, 1)?;
                    self.script.commands.push(command);
                    return Ok(());
                }
                if UNSUPPORTED_COMMANDS.contains(&other) {
                    return Err(self.unsupported(word, other));
                }
                self.reject_unsupported_stage(word)?;
                Err(self.invalid(word, format!("found {}, where a command of AmberScript should stand", quoted(other))))
            }
        }
    }

    fn engine_data(&mut self) -> Step {
        self.keyword("ENGINE_DATA")?;
        let name = self.need("the name of engine data")?;
        if name.text != "fence_timeout_ms" {
            return Err(self.unsupported(name, &format!("engine data {}", quoted(name.text))));
        }
        self.script.fence_timeout_ms = Some(self.integer("a number of milliseconds", u32::MAX.into())? as u32);
        self.end()
    }

    fn virtual_file(&mut self, word: Word<'t>) -> Step {
        let path = self.need("a path").and_then(|path| self.end().map(|()| path));
        let Some((text, _)) = self.lexer.raw() else { return Err(self.missing_end(word)) };
        let path = path?;
        self.declare(Named::File, path, |script| {
            script.files.push(VirtualFile { path: path.text.into(), text: text.into(), line: Line(path.line) });
            script.files.len() - 1
        })
    }

    // The parts of statements.

    pub fn error(&self, at: Word<'_>, kind: Kind, what: impl Into<String>) -> Stop {
        Stop::Error(self.lexer.error(at, kind, what))
    }

    pub fn invalid(&self, at: Word<'_>, what: impl Into<String>) -> Stop {
        self.error(at, Kind::Invalid, what)
    }

    pub fn unsupported(&self, at: Word<'_>, what: &str) -> Stop {
        self.error(at, Kind::Unsupported, format!("{what} is not supported"))
    }

    /// Fails if a word belongs to ray tracing or tessellation, since no engine runs their shaders.
    pub fn reject_unsupported_stage(&self, word: Word<'_>) -> Step {
        for (words, what) in [(&RAY_TRACING[..], "ray tracing"), (&TESSELLATION[..], "tessellation")] {
            if words.contains(&word.text) {
                return Err(self.unsupported(word, what));
            }
        }
        Ok(())
    }

    pub fn limit(&self, at: Word<'_>, what: &str, bound: impl std::fmt::Display) -> Stop {
        self.error(at, Kind::Limit, format!("{what}: at most {bound}"))
    }

    pub fn missing_end(&mut self, word: Word<'t>) -> Stop {
        self.invalid(word, format!("{} has no END", word.text))
    }

    /// Reads the next word of the statement. It is an error if there is none.
    pub fn need(&mut self, what: &str) -> Step<Word<'t>> {
        match self.lexer.word() {
            Some(word) => Ok(word),
            None => {
                let here = self.lexer.here();
                Err(self.invalid(here, format!("the line ends where {what} should stand")))
            }
        }
    }

    /// Reads the next word, which must be `keyword`.
    pub fn keyword(&mut self, keyword: &str) -> Step<Word<'t>> {
        let word = self.need(keyword)?;
        if word.text == keyword {
            Ok(word)
        } else {
            Err(self.invalid(word, format!("found {}, where {keyword} should stand", quoted(word.text))))
        }
    }

    /// Reads the next word if it is `keyword`.
    pub fn accept(&mut self, keyword: &str) -> Option<Word<'t>> {
        match self.lexer.peek() {
            Some(word) if word.text == keyword => self.lexer.word(),
            _ => None,
        }
    }

    /// Checks that the line has no further words.
    pub fn end(&mut self) -> Step {
        match self.lexer.peek() {
            None => Ok(()),
            Some(word) => Err(self.invalid(word, format!("found {} after a complete statement", quoted(word.text)))),
        }
    }

    /// Reads a number.
    pub fn number(&mut self, what: &str) -> Step<(Number, Word<'t>)> {
        let word = self.need(what)?;
        match Number::read(word.text) {
            Some(number) => Ok((number, word)),
            None => Err(self.invalid(word, format!("found {}, where {what} should stand", quoted(word.text)))),
        }
    }

    /// Reads an integer from 0 to `greatest`.
    pub fn integer(&mut self, what: &str, greatest: u64) -> Step<u64> {
        let (number, word) = self.number(what)?;
        number
            .at_most(greatest)
            .ok_or_else(|| self.invalid(word, format!("found {}, where {what} from 0 to {greatest} should stand", quoted(word.text))))
    }

    /// Reads an integer from 1 to `greatest`, which is one of our limits.
    pub fn extent(&mut self, what: &str, greatest: u32) -> Step<u32> {
        let (number, word) = self.number(what)?;
        match number.at_most(u32::MAX.into()) {
            None | Some(0) => Err(self.invalid(word, format!("found {}, where {what} from 1 should stand", quoted(word.text)))),
            Some(value) if value > u64::from(greatest) => Err(self.limit(word, what, greatest)),
            Some(value) => Ok(value as u32),
        }
    }

    /// Reads a 32-bit float. Returns its bits.
    pub fn float(&mut self, what: &str) -> Step<u32> {
        let (number, word) = self.number(what)?;
        if number == Number::Nan {
            return Err(self.invalid(word, format!("found {}, where {what} should stand", quoted(word.text))));
        }
        Scalar::Float32.bits(&number).map(|bits| bits as u32).map_err(|e| self.invalid(word, e))
    }

    /// Reads one of a list of names.
    pub fn one_of<T: Copy>(&mut self, what: &str, all: &[(T, &'static str)]) -> Step<T> {
        let word = self.need(what)?;
        all.iter().find(|choice| choice.1 == word.text).map(|choice| choice.0).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|choice| choice.1).collect();
            self.invalid(word, format!("found {}, where {what} should stand: {}", quoted(word.text), names.join(", ")))
        })
    }

    /// Declares a name. `add` adds the item to the script and returns its index.
    pub fn declare(&mut self, kind: Named, name: Word<'t>, add: impl FnOnce(&mut Script) -> usize) -> Step {
        if self.names.contains_key(&(kind, name.text.to_string())) {
            return Err(self.invalid(name, format!("the {} {} is declared twice", kind.word(), quoted(name.text))));
        }
        let place = add(&mut self.script);
        self.names.insert((kind, name.text.to_string()), Some(place));
        Ok(())
    }

    /// Records that a declaration had an error, so that uses of its name cause no further errors.
    pub fn failed(&mut self, kind: Named, name: Word<'t>) {
        self.names.entry((kind, name.text.to_string())).or_insert(None);
    }

    fn find(&mut self, kind: Named) -> Step<(usize, Word<'t>)> {
        let word = self.need(&format!("the name of a {}", kind.word()))?;
        self.place_of(kind, word).map(|place| (place, word))
    }

    /// The index of the item with this name. The name must be declared.
    pub fn place_of(&self, kind: Named, word: Word<'t>) -> Step<usize> {
        match self.names.get(&(kind, word.text.to_string())) {
            Some(Some(place)) => Ok(*place),
            Some(None) => Err(Stop::Named),
            None => Err(self.invalid(word, format!("no {} {} is declared before this", kind.word(), quoted(word.text)))),
        }
    }

    pub fn buffer_name(&mut self) -> Step<(BufferId, Word<'t>)> {
        self.find(Named::Buffer).map(|(place, word)| (BufferId(place), word))
    }

    pub fn sampler_name(&mut self) -> Step<SamplerId> {
        self.find(Named::Sampler).map(|(place, _)| SamplerId(place))
    }

    pub fn shader_name(&mut self) -> Step<(ShaderId, Word<'t>)> {
        self.find(Named::Shader).map(|(place, word)| (ShaderId(place), word))
    }

    pub fn pipeline_name(&mut self) -> Step<(PipelineId, Word<'t>)> {
        self.find(Named::Pipeline).map(|(place, word)| (PipelineId(place), word))
    }

    /// Adds a buffer to the total of bytes. Fails if that exceeds a limit.
    pub fn take_bytes(&mut self, at: Word<'t>, buffer: &Buffer) -> Step {
        let size = buffer.stride.checked_mul(buffer.items).filter(|&size| size <= MAX_BUFFER_BYTES);
        let Some(size) = size else { return Err(self.limit(at, "the bytes of one buffer", MAX_BUFFER_BYTES)) };
        if self.total + size > MAX_TOTAL_BYTES {
            return Err(self.limit(at, "the bytes of all buffers together", MAX_TOTAL_BYTES));
        }
        self.total += size;
        Ok(())
    }

    /// Reads lines up to END. Each begins with a word. An error ends a line, not the block.
    pub fn block(&mut self, opening: Word<'t>, mut line: impl FnMut(&mut Self, Word<'t>) -> Step) -> Step {
        loop {
            let Some(word) = self.lexer.word_over_lines() else { return Err(self.missing_end(opening)) };
            if word.text == "END" {
                return self.end();
            }
            let step = line(self, word);
            if self.recover(step) {
                return Err(Stop::Named);
            }
        }
    }
}

/// Checks the limits that do not depend on the dialect.
pub(super) fn bounded(text: &str) -> Result<(), Vec<ScriptError>> {
    if text.len() > MAX_TEXT {
        let what = format!("the script has {} bytes: at most {MAX_TEXT}", text.len());
        return Err(vec![ScriptError { line: 1, column: 1, kind: Kind::Limit, what }]);
    }
    Ok(())
}

pub(super) type Keys = FxHashSet<(u32, u32)>;

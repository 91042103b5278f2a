//! The reader of VkScript (google/amber, docs/vk_script.md), as far as compute tests need it:
//! [require], a compute shader, and [test] with buffers, dispatches and `probe ssbo`.
//!
//! The result is a script with one pipeline. Writes of the test section before the first dispatch
//! become the initial contents of buffers. The size in `ssbo BINDING SIZE` is in bytes. Types have
//! std430 layouts in storage buffers and push constants, and std140 layouts in uniform buffers.

use super::error::{Kind, ScriptError, quoted};
use super::layout::{DataType, Standard};
use super::lex::Word;
use super::limits::MAX_BUFFER_BYTES;
use super::parse::{Parser, Step, Stop};
use super::scalar::{Number, Scalar};
use super::script::{
    Action, Attachment, Binding, Buffer, BufferId, BufferRange, Check, Command, Comparator, Dialect, Expect, Extent, Initial, Lane,
    Language, Line, Pipeline, PipelineId, PipelineKind, Requirement, RequirementKind, Resource, Run, RunKind, Script, Shader, ShaderId,
    Source, Stage, Tolerance,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The most scalars in the initial contents of a buffer. Further scalars are written by commands.
const MAX_INITIAL: u64 = 1 << 20;

/// First words of unsupported commands in the test section.
const UNSUPPORTED_COMMANDS: [&str; 7] = ["draw", "clear", "relative", "patch", "vertex", "fragment", "geometry"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Storage(u32, u32),
    Uniform(u32, u32),
    Push,
}

/// A buffer while the test section is read.
struct Draft {
    role: Role,
    /// The type. `None` until a command names one.
    data_type: Option<DataType>,
    bytes: u64,
    /// The values that are written before the first dispatch.
    initial_values: Vec<Lane>,
    line: u32,
}

struct Reader<'t> {
    parser: Parser<'t>,
    drafts: Vec<Draft>,
    places: FxHashMap<Role, usize>,
    tolerance: Vec<Tolerance>,
    entry: Arc<str>,
    has_run: bool,
    has_shader: bool,
    test: Option<Word<'t>>,
}

/// Reads VkScript.
pub(super) fn read(text: &str) -> Result<Script, Vec<ScriptError>> {
    let mut reader = Reader {
        parser: Parser::new(text, Dialect::VkScript),
        drafts: Vec::new(),
        places: FxHashMap::default(),
        tolerance: Vec::new(),
        entry: "main".into(),
        has_run: false,
        has_shader: false,
        test: None,
    };
    let mut section = "";
    while let Some(word) = reader.parser.lexer.word_over_lines() {
        let step = if word.text.starts_with('[') { reader.section(word, &mut section) } else { reader.line(word, section) };
        if reader.parser.recover(step) {
            break;
        }
    }
    let step = reader.complete();
    reader.parser.recover(step);
    reader.parser.finish()
}

impl<'t> Reader<'t> {
    fn section(&mut self, word: Word<'t>, section: &mut &'static str) -> Step {
        let mut header = String::from(word.text);
        while let Some(word) = self.parser.lexer.word() {
            header.push(' ');
            header.push_str(word.text);
            if header.len() > 100 {
                break;
            }
        }
        *section = "";
        let stage_of = |header: &str| Stage::ALL.iter().find(|s| header.strip_prefix('[').is_some_and(|h| h.starts_with(s.1))).map(|s| s.0);
        match header.as_str() {
            "[require]" => *section = "require",
            "[test]" => {
                *section = "test";
                self.test = Some(word);
            }
            "[compute shader]" | "[compute shader spirv]" | "[compute shader spirv hex]" => {
                let Some((text, line)) = self.parser.lexer.raw_until(|line| line.trim_start().starts_with('['), false) else {
                    return Ok(());
                };
                // The next line is a header, or the text ends. The loop handles both.
                let source = match header.as_str() {
                    "[compute shader]" => Source::Foreign { language: Language::Glsl, text: text.into() },
                    "[compute shader spirv]" => Source::Assembly(text.into()),
                    _ => Source::Words(self.parser.hexadecimal(word, line, text)?),
                };
                if self.has_shader {
                    return Err(self.parser.invalid(word, "the script has two compute shaders"));
                }
                self.has_shader = true;
                self.parser.script.shaders.push(Shader {
                    name: "compute".into(),
                    stage: Some(Stage::Compute),
                    source,
                    target_env: None,
                    line: Line(word.line),
                    source_line: Line(line),
                });
            }
            other if stage_of(other).is_some() || matches!(other, "[vertex data]" | "[indices]") || other.contains(" shader") => {
                self.parser.lexer.raw_until(|line| line.trim_start().starts_with('['), false);
                return Err(self.parser.unsupported(word, &format!("the section {}", quoted(other))));
            }
            other => return Err(self.parser.invalid(word, format!("found {}, where a section should stand", quoted(other)))),
        }
        Ok(())
    }

    fn line(&mut self, word: Word<'t>, section: &str) -> Step {
        match section {
            "require" => self.require(word),
            "test" => self.command(word),
            // The wrong header of this section was reported already.
            _ if !self.parser.errors.is_empty() => Err(Stop::Named),
            _ => Err(self.parser.invalid(word, format!("found {}, where a section should begin", quoted(word.text)))),
        }
    }

    fn require(&mut self, word: Word<'t>) -> Step {
        let kind = match word.text {
            "fence_timeout" => {
                self.parser.script.fence_timeout_ms = Some(self.parser.integer("a number of milliseconds", u32::MAX.into())? as u32);
                return self.parser.end();
            }
            "framebuffer" | "depthstencil" | "fbsize" => return Err(self.parser.unsupported(word, word.text)),
            extension if extension.starts_with("VK_") => RequirementKind::DeviceExtension,
            _ => RequirementKind::Feature,
        };
        self.parser.script.requirements.push(Requirement { kind, name: word.text.into(), line: Line(word.line) });
        self.parser.end()
    }

    fn command(&mut self, word: Word<'t>) -> Step {
        match word.text {
            "compute" => {
                if self.parser.accept("entrypoint").is_some() {
                    if self.has_run {
                        return Err(self.parser.unsupported(word, "an entry point that changes between two runs"));
                    }
                    self.entry = self.parser.need("the name of an entry point")?.text.into();
                    return self.parser.end();
                }
                let mut groups = [0; 3];
                for count in &mut groups {
                    *count = self.parser.integer("a number of workgroups", u32::MAX.into())? as u32;
                }
                self.has_run = true;
                self.push(word, Action::Run(Run { pipeline: PipelineId(0), what: RunKind::Compute(groups) }))?;
            }
            "ssbo" => {
                let (set, binding) = self.place()?;
                let role = Role::Storage(set, binding);
                if self.parser.accept("subdata").is_some() {
                    return self.write(word, role);
                }
                let bytes = self.parser.integer("a number of bytes", MAX_BUFFER_BYTES)?;
                let draft = self.draft(role, word);
                draft.bytes = draft.bytes.max(bytes);
            }
            "uniform" => {
                let role = match self.parser.accept("ubo") {
                    Some(_) => {
                        let (set, binding) = self.place()?;
                        Role::Uniform(set, binding)
                    }
                    None => Role::Push,
                };
                return self.write(word, role);
            }
            "tolerance" => self.tolerance = self.parser.tolerances()?,
            "probe" if self.parser.accept("ssbo").is_some() => return self.probe(word),
            "probe" => return Err(self.parser.unsupported(word, "probing a framebuffer")),
            other if UNSUPPORTED_COMMANDS.contains(&other) => return Err(self.parser.unsupported(word, other)),
            other => {
                return Err(self
                    .parser
                    .invalid(word, format!("found {}, where a command of the test section should stand", quoted(other))));
            }
        }
        self.parser.end()
    }

    fn push(&mut self, word: Word<'t>, action: Action) -> Step {
        self.parser.count_commands(word, 1)?;
        self.parser.script.commands.push(Command { action, line: Line(word.line) });
        Ok(())
    }

    /// Reads `BINDING` or `SET:BINDING`.
    fn place(&mut self) -> Step<(u32, u32)> {
        let word = self.parser.need("a binding")?;
        let (set, binding) = word.text.split_once(':').unwrap_or(("0", word.text));
        match (set.parse(), binding.parse()) {
            (Ok(set), Ok(binding)) => Ok((set, binding)),
            _ => Err(self.parser.invalid(word, format!("found {}, where a binding should stand, as 3 or 0:3", quoted(word.text)))),
        }
    }

    fn draft(&mut self, role: Role, word: Word<'t>) -> &mut Draft {
        let next = self.drafts.len();
        let place = *self.places.entry(role).or_insert(next);
        if place == next {
            self.drafts.push(Draft { role, data_type: None, bytes: 0, initial_values: Vec::new(), line: word.line });
        }
        &mut self.drafts[place]
    }

    fn data_type(&mut self) -> Step<(DataType, Word<'t>)> {
        let word = self.parser.need("a data type")?;
        type_named(word.text)
            .map(|t| (t, word))
            .ok_or_else(|| self.parser.invalid(word, format!("found {}, where a data type should stand", quoted(word.text))))
    }

    /// Reads values of a type up to the end of the line. They are for the bytes from `offset` on.
    fn values(&mut self, data_type: &DataType, at: Word<'t>, standard: Standard, offset: u64) -> Step<Vec<Lane>> {
        let layout = data_type.layout(standard).map_err(|e| self.parser.error(at, Kind::Limit, e))?;
        let stride = layout.item_stride();
        if !offset.is_multiple_of(layout.align) {
            return Err(self.parser.invalid(at, format!("offset {offset} is no multiple of the {} bytes of {}", layout.align, at.text)));
        }
        let mut lanes: Vec<Lane> = Vec::new();
        while let Some(word) = self.parser.lexer.word() {
            let Some(number) = Number::read(word.text) else {
                return Err(self.parser.invalid(word, format!("found {}, where a value should stand", quoted(word.text))));
            };
            let index = lanes.len() as u64;
            let Some(slot) = layout.slot(index % layout.scalars) else { break };
            let bits = slot.scalar.bits(&number).map_err(|e| self.parser.invalid(word, e))?;
            let at = offset.saturating_add(index / layout.scalars * stride).saturating_add(slot.offset);
            lanes.push(Lane { offset: at, scalar: slot.scalar, component: slot.component, bits });
        }
        if lanes.is_empty() || !(lanes.len() as u64).is_multiple_of(layout.scalars) {
            let what = format!("{} values are no whole number of {} from 1 on", lanes.len(), at.text);
            return Err(self.parser.invalid(at, what));
        }
        Ok(lanes)
    }

    fn write(&mut self, word: Word<'t>, role: Role) -> Step {
        let (data_type, at) = self.data_type()?;
        let offset = self.parser.integer("an offset in bytes", MAX_BUFFER_BYTES)?;
        let standard = if matches!(role, Role::Uniform(..)) { Standard::Std140 } else { Standard::Std430 };
        let lanes = self.values(&data_type, at, standard, offset)?;
        let end = lanes.iter().map(|l| l.offset + u64::from(l.scalar.size())).max().unwrap_or(0);
        if end > MAX_BUFFER_BYTES {
            return Err(self.parser.limit(at, "the bytes of one buffer", MAX_BUFFER_BYTES));
        }
        let has_run = self.has_run;
        let draft = self.draft(role, word);
        if draft.data_type.as_ref().is_some_and(|t| *t != data_type) {
            let what = format!("the buffer is written as {} here and as another type before", quoted(at.text));
            return Err(self.parser.invalid(at, what));
        }
        draft.data_type = Some(data_type);
        draft.bytes = draft.bytes.max(end);
        if !has_run {
            draft.initial_values.extend(lanes);
            return Ok(());
        }
        let buffer = BufferId(self.places[&role]);
        self.push(word, Action::Write { buffer, lanes })
    }

    fn probe(&mut self, word: Word<'t>) -> Step {
        let (data_type, at) = self.data_type()?;
        let (set, binding) = self.place()?;
        let offset = self.parser.integer("an offset in bytes", MAX_BUFFER_BYTES)?;
        let sign = self.parser.need("a comparison")?;
        let (comparator, fuzzy) = match sign.text {
            "==" => (Comparator::Eq, false),
            "~=" => (Comparator::Eq, true),
            "!=" => (Comparator::Ne, false),
            "<" => (Comparator::Lt, false),
            "<=" => (Comparator::Le, false),
            ">" => (Comparator::Gt, false),
            ">=" => (Comparator::Ge, false),
            other => {
                return Err(self.parser.invalid(sign, format!("found {}, where ==, ~=, !=, <, <=, > or >= should stand", quoted(other))));
            }
        };
        let lanes = self.values(&data_type, at, Standard::Std430, offset)?;
        let role = Role::Storage(set, binding);
        if !self.places.contains_key(&role) {
            return Err(self.parser.invalid(at, format!("no storage buffer {set}:{binding} is given a size or data before this")));
        }
        let draft = self.draft(role, word);
        draft.data_type.get_or_insert(data_type);
        let buffer = BufferId(self.places[&role]);
        let tolerance = if fuzzy { self.tolerance.clone() } else { Vec::new() };
        let check = Check::Values { comparator, tolerance, lanes };
        self.push(word, Action::Expect(Expect { buffer, check, line: Line(word.line) }))
    }

    /// Makes the buffers and the pipeline.
    fn complete(&mut self) -> Step {
        if !self.parser.errors.is_empty() {
            return Err(Stop::Named);
        }
        let here = self.parser.lexer.here();
        let Some(test) = self.test else {
            return Err(self.parser.invalid(here, "the script has neither the mark #!amber nor a [test] section"));
        };
        if !self.has_shader {
            return Err(self.parser.invalid(test, "the script has no compute shader"));
        }
        let mut pipeline = Pipeline::new("pipeline".into(), PipelineKind::Compute, Line(test.line));
        pipeline.shaders.push(Attachment {
            shader: ShaderId(0),
            stage: Stage::Compute,
            entry: self.entry.clone(),
            specializations: Vec::new(),
            line: Line(test.line),
        });
        let mut writes = Vec::new();
        for (place, draft) in std::mem::take(&mut self.drafts).into_iter().enumerate() {
            let standard = if matches!(draft.role, Role::Uniform(..)) { Standard::Std140 } else { Standard::Std430 };
            let data_type = draft.data_type.unwrap_or(DataType::Scalar(Scalar::Int8));
            let layout = data_type.layout(standard).map_err(|e| self.parser.error(test, Kind::Limit, e))?;
            let stride = layout.item_stride();
            let (name, line) = match draft.role {
                Role::Storage(set, binding) => (format!("ssbo_{set}_{binding}"), Line(draft.line)),
                Role::Uniform(set, binding) => (format!("ubo_{set}_{binding}"), Line(draft.line)),
                Role::Push => ("push_constants".into(), Line(draft.line)),
            };
            let mut buffer = Buffer {
                name,
                data_type,
                as_array: false,
                standard,
                stride,
                items: draft.bytes.div_ceil(stride),
                layout,
                extent: Extent::Linear,
                levels: 1,
                samples: 1,
                initial: Initial::Fill(Number::Integer { negative: false, magnitude: 0 }),
                line,
            };
            self.parser.take_bytes(test, &buffer)?;
            if !draft.initial_values.is_empty() {
                if buffer.scalars() <= MAX_INITIAL {
                    let mut values = vec![0; buffer.scalars() as usize];
                    for lane in &draft.initial_values {
                        if let Some(index) = buffer.index_at(lane.offset) {
                            values[index as usize] = lane.bits;
                        }
                    }
                    buffer.initial = Initial::Data(values.into());
                } else {
                    let action = Action::Write { buffer: BufferId(place), lanes: draft.initial_values };
                    writes.push(Command { action, line });
                }
            }
            let range = BufferRange { buffer: BufferId(place), offset: 0, range: None };
            let bound = match draft.role {
                Role::Storage(set, binding) => Some((set, binding, Resource::Storage(range))),
                Role::Uniform(set, binding) => Some((set, binding, Resource::Uniform(range))),
                Role::Push => {
                    pipeline.push_constants = Some(BufferId(place));
                    None
                }
            };
            if let Some((set, binding, resource)) = bound {
                pipeline.bindings.push(Binding { set, binding, resource, line });
            }
            self.parser.script.buffers.push(buffer);
        }
        pipeline.bindings.sort_by_key(|b| (b.set, b.binding));
        if let Some(twice) = pipeline.bindings.windows(2).find(|w| (w[0].set, w[0].binding) == (w[1].set, w[1].binding)) {
            let what = format!("descriptor set {}, binding {} is both a storage and a uniform buffer", twice[0].set, twice[0].binding);
            return Err(self.parser.invalid(test, what));
        }
        self.parser.script.pipelines.push(pipeline);
        self.parser.script.commands.splice(0..0, writes);
        Ok(())
    }
}

/// The type with this GLSL-like name.
fn type_named(name: &str) -> Option<DataType> {
    let scalar = |name: &str| {
        Some(match name {
            "int" => Scalar::Int32,
            "uint" => Scalar::Uint32,
            "int8_t" => Scalar::Int8,
            "uint8_t" => Scalar::Uint8,
            "int16_t" => Scalar::Int16,
            "uint16_t" => Scalar::Uint16,
            "int64_t" => Scalar::Int64,
            "uint64_t" => Scalar::Uint64,
            "float16_t" => Scalar::Float16,
            "float" => Scalar::Float32,
            "double" => Scalar::Float64,
            _ => return None,
        })
    };
    if let Some(scalar) = scalar(name) {
        return Some(DataType::Scalar(scalar));
    }
    let size = |text: &str| text.parse::<u32>().ok().filter(|n| (2..=4).contains(n) && text.len() == 1);
    if let Some((prefix, count)) = name.split_once("vec") {
        let scalar = match prefix {
            "" => Scalar::Float32,
            "d" => Scalar::Float64,
            "i" => Scalar::Int32,
            "u" => Scalar::Uint32,
            "i8" => Scalar::Int8,
            "u8" => Scalar::Uint8,
            "i16" => Scalar::Int16,
            "u16" => Scalar::Uint16,
            "i64" => Scalar::Int64,
            "u64" => Scalar::Uint64,
            "f16" => Scalar::Float16,
            _ => return None,
        };
        return Some(DataType::Vector(scalar, size(count)?));
    }
    let (prefix, shape) = name.split_once("mat")?;
    let scalar = match prefix {
        "" => Scalar::Float32,
        "d" => Scalar::Float64,
        _ => return None,
    };
    let (columns, rows) = shape.split_once('x').unwrap_or((shape, shape));
    Some(DataType::Matrix { scalar, columns: size(columns)?, rows: size(rows)? })
}

//! `smallstep translate`: λV and WSL to SPIR-V, and all languages to WGSL.

use super::check::constants;
use super::exit::Ended;
use super::{exit, input, output};
use clap::Args;
use serde_json::json;
use smallstep::compile::lambda_v::listing::listing;
use smallstep::compile::lambda_v::{self as translation, Constants, Untranslatable};
use smallstep::compile::{wgsl, wsl};
use smallstep::dispatch::words_hash;
use smallstep::program::Language;
use smallstep::source;
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv;
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::entry::{EntryPoint, Stage as WslStage, entry_of};
use smallstep_semantics::wsl::environment::{Function, FunctionId};
use smallstep_semantics::wsl::typing::program::Program;
use std::path::{Path, PathBuf};

/// Translate a λV or WSL program to SPIR-V, as assembly or as words, or any of these to WGSL. Of
/// WSL an entry point is translated with what it reaches, or a function, which the module then
/// calls once for each row of a table of arguments. Of WGSL, show the SPIR-V that naga makes.
#[derive(Args)]
pub(crate) struct Translate {
    /// A λV, WSL or WGSL program, or - for standard input. With --wgsl a SPIR-V module too, as
    /// words or assembly.
    file: PathBuf,
    #[command(flatten)]
    reading: input::Reading,
    #[command(flatten)]
    uniformity: super::uniformity::Strictness,
    /// The entry point or function of a WSL program. Without it, the only entry point, or the only
    /// compute entry point.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The entry point of the other stage of a draw, vertex or fragment: locations and bindings are
    /// then those of both, and what no vertex stage gives is zeros.
    #[arg(long, value_name = "NAME", requires = "entry")]
    with: Option<String>,
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
    /// Write WGSL that executes as the module does. A name that ends in .wgsl says so too.
    #[arg(long, conflicts_with_all = ["asm", "witness", "buffer"])]
    wgsl: bool,
    /// With --wgsl: what becomes of a size of points that is not 1.0, which WGSL has not. refuse:
    /// the module is refused; ignore: the size is left out, and a note says so. No triangle shows
    /// it.
    #[arg(long, value_name = "WHAT", value_parser = point_size, default_value = "refuse")]
    point_size: wgsl::PointSize,
    /// With --wgsl: let vertex stages write storage buffers and storage images. naga reads that;
    /// WGSL's rules refuse it, and so does Tint.
    #[arg(long)]
    vertex_writes: bool,
    /// With -o: write assembly. A name that ends in .spvasm says so too.
    #[arg(long)]
    asm: bool,
    /// Write the buffer of opaque constants here: little-endian 32-bit words.
    #[arg(long)]
    buffer: Option<PathBuf>,
    /// List the witness on standard output, instead of the assembly: each subexpression with its
    /// place, type, result id, and the rule that made the id; of WSL statements too.
    #[arg(long)]
    witness: bool,
    /// Of a WSL program: say with OpLine which line each statement is from.
    #[arg(long)]
    lines: bool,
    /// Of a WSL program: debug information too, by NonSemantic.Shader.DebugInfo.100: the source,
    /// its functions, lines, types and variables.
    #[arg(long)]
    debug_info: bool,
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

/// The exit code for a program without a translation.
pub(super) fn untranslatable_code(error: &Untranslatable) -> u8 {
    match error {
        Untranslatable::Limit(_) => exit::LIMIT,
        _ => exit::INVALID,
    }
}

impl Translate {
    pub(crate) fn run(self) -> Ended {
        self.try_run().map(|()| exit::DONE)
    }

    fn try_run(&self) -> Result<(), (u8, String)> {
        let invalid = |e: String| (exit::INVALID, format!("error: {e}"));
        let name = self.file.display().to_string();
        let source = self.reading.program(&self.file)?;
        let text = source.text();
        match source.language {
            Language::LambdaV if self.entry.is_none() => {}
            Language::LambdaV => return Err((exit::INVALID, "error: --entry is of WSL programs; a λV program is one expression".into())),
            Language::Wsl => return self.wsl(&name, text),
            Language::Words | Language::Assembly if self.to_wgsl() => {
                let words = source.words().map_err(|e| (super::run::read_code(&e), e.text))?;
                return self.write_wgsl(&name, &words, self.entry.as_deref());
            }
            Language::Wgsl if !self.to_wgsl() => return self.by_naga(&source),
            other => {
                let what = format!("error: {name}: this is {}, and λV or WSL is needed here", other.words());
                return Err((exit::INVALID, what));
            }
        }
        let (program, _) = source::lambda_v(&name, text).map_err(|e| (super::run::read_code(&e), e.text))?;
        let options = translation::Options {
            profile: self.profile,
            constants: self.constants,
            witness: self.witness,
            ..translation::Options::default()
        };
        let module = translation::translate(&program, &options).map_err(|e| (untranslatable_code(&e), format!("error: {name}: {e}")))?;
        if self.to_wgsl() {
            return self.write_wgsl(&name, &module.words, None);
        }
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

    /// Writes the module that naga makes of WGSL.
    fn by_naga(&self, source: &smallstep::program::Program) -> Result<(), (u8, String)> {
        let invalid = |e: String| (exit::INVALID, format!("error: {e}"));
        let words = source.words().map_err(|e| (super::run::read_code(&e), e.text))?;
        let assembly = || spirv::disassemble(&words).map_err(|e| (exit::DISAGREE, format!("error: a bug of ours: {e}")));
        match &self.out {
            None if self.json => {}
            None => say_part!("{}", assembly()?),
            Some(path) if self.asm || ends_in(path, "spvasm") => output::write(path, assembly()?.as_bytes()).map_err(invalid)?,
            Some(path) => output::write(path, &spirv::bytes_of_words(&words)).map_err(invalid)?,
        }
        if self.json {
            let hash = format!("{:#018x}", words_hash(&words));
            let summary =
                json!({"schema": 1, "kind": "summary", "file": source.name, "words": words.len(), "words_hash": hash, "exit": exit::DONE});
            say!("{summary}");
        }
        Ok(())
    }

    /// The requested entry point, and that of the other stage. The inner error is the reason why
    /// there is none.
    ///
    /// # Errors
    /// If the other entry point does not exist, or is not the other stage of a draw.
    #[allow(clippy::type_complexity, reason = "it is what the caller takes apart")]
    fn stage<'p>(&self, program: &'p Program) -> Result<Result<(&'p EntryPoint, Option<&'p EntryPoint>), String>, String> {
        let compute = entry_of(program, WslStage::Compute([1; 3]), self.entry.as_deref());
        let entry = match (&self.entry, &program.entry_points[..]) {
            (None, [only]) => Ok(only),
            (None, _) => compute,
            (Some(name), _) => {
                let stages = [WslStage::Vertex, WslStage::Fragment].map(|stage| entry_of(program, stage, Some(name)));
                match (compute, stages) {
                    (Ok(entry), [Err(_), Err(_)]) | (Err(_), [Ok(entry), Err(_)] | [Err(_), Ok(entry)]) => Ok(entry),
                    (Err(compute), [Err(_), Err(_)]) => Err(compute),
                    _ => return Err(format!("entry points of several stages are called {name}")),
                }
            }
        };
        match (entry, &self.with) {
            (Ok(entry), Some(with)) => {
                let other = match entry.stage {
                    WslStage::Vertex => WslStage::Fragment,
                    WslStage::Fragment => WslStage::Vertex,
                    WslStage::Compute(_) => return Err("a compute entry point is no stage of a draw, so --with says nothing".into()),
                };
                Ok(Ok((entry, Some(entry_of(program, other, Some(with))?))))
            }
            (entry, _) => Ok(entry.map(|entry| (entry, None)).map_err(String::from)),
        }
    }

    /// Whether to write WGSL.
    fn to_wgsl(&self) -> bool {
        self.wgsl || self.out.as_deref().is_some_and(|path| ends_in(path, "wgsl"))
    }

    /// Writes the WGSL of a module.
    fn write_wgsl(&self, name: &str, words: &[u32], entry: Option<&str>) -> Result<(), (u8, String)> {
        let options = wgsl::Options {
            entry: entry.map(str::to_string),
            point_size: self.point_size,
            vertex_writes: self.vertex_writes,
            ..wgsl::Options::default()
        };
        let converted = wgsl::convert(words, &options).map_err(|e| match e {
            wgsl::NotConverted::Refused(refused) => (exit::UNSUPPORTED, format!("{name}: WGSL cannot express it: {refused}")),
            other => (exit::INVALID, format!("error: {name}: {other}")),
        })?;
        for note in &converted.notes {
            tell!("note: {note}");
        }
        match &self.out {
            None if self.json => {}
            None => say_part!("{}", converted.text),
            Some(path) => output::write(path, converted.text.as_bytes()).map_err(|e| (exit::INVALID, format!("error: {e}")))?,
        }
        if self.json {
            let summary = json!({"schema": 1, "kind": "summary", "file": name, "bytes": converted.text.len(), "notes": converted.notes,
                "exit": exit::DONE});
            say!("{summary}");
        }
        Ok(())
    }

    /// Translates an entry point or a function of a WSL program.
    fn wsl(&self, name: &str, text: &str) -> Result<(), (u8, String)> {
        let invalid = |e: String| (exit::INVALID, format!("error: {name}: {e}"));
        if self.buffer.is_some() || self.constants == Constants::Opaque {
            return Err(invalid("--buffer and opaque constants are of λV programs".into()));
        }
        let program = super::wsl::program(name, text, Some(&self.uniformity))?;
        let source = Some((name, text)).filter(|_| self.lines || self.debug_info);
        let options =
            wsl::Options { profile: self.profile, witness: self.witness, source, debug: self.debug_info, ..wsl::Options::default() };
        let translated = match self.stage(&program).map_err(invalid)? {
            Ok((entry, None)) => wsl::translate(&program, entry, &options),
            Ok((entry, Some(other))) => {
                let (vertex, fragment) = if entry.stage == WslStage::Vertex { (entry, other) } else { (other, entry) };
                wsl::translate_draw(&program, Some(vertex), fragment, &options)
                    .map(|modules| if entry.stage == WslStage::Vertex { modules.vertex } else { modules.fragment })
            }
            Err(no_entry) => {
                let Some(wanted) = &self.entry else {
                    return Err(invalid(format!("{no_entry}; --entry NAME translates a function, called with a table of arguments")));
                };
                let named = |f: &&(usize, &Function)| program.env.key_name(f.1.key) == *wanted;
                let functions: Vec<(usize, &Function)> = program.env.functions.iter().enumerate().collect();
                let all: Vec<&(usize, &Function)> = functions.iter().filter(named).collect();
                match all[..] {
                    [(k, f)] if !f.kind.is_entry_point() => wsl::translate_function(&program, FunctionId(*k as u32), &options),
                    [_] => return Err(invalid(no_entry)),
                    [] => return Err(invalid(no_function(&program, wanted))),
                    _ => return Err(invalid(format!("several functions are called {wanted}"))),
                }
            }
        };
        let module = translated.map_err(|refusal| {
            let (line, column) = line_column(text, refusal.span.start);
            (exit::UNSUPPORTED, format!("{name}:{line}:{column}: unsupported: {refusal}"))
        })?;
        if self.to_wgsl() {
            return self.write_wgsl(name, &module.words, None);
        }
        let assembly = || spirv::disassemble(&module.words).map_err(|e| (exit::DISAGREE, format!("error: a bug of ours: {e}")));
        for w in &module.witness {
            let (line, column) = line_column(text, w.span.start);
            let (ty, rule) = (w.ty.map_or_else(|| "-".into(), |ty| program.env.type_name(ty)), w.rule);
            let expression: String = text.get(w.span.start as usize..w.span.end as usize).unwrap_or_default().chars().take(100).collect();
            let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
            if self.json {
                say!(
                    "{}",
                    json!({"schema": 1, "kind": "witness", "line": line, "column": column, "expression": expression, "type": ty, "id": w.id,
                        "rule": rule.name(), "source": rule.source()})
                );
            } else {
                let (place, id) = (format!("{line}:{column}"), format!("%{}", w.id));
                say!("{place:>8}  {ty:<9} {id:>6}  {:<26} {expression}", rule.name());
            }
        }
        match &self.out {
            None if self.witness || self.json => {}
            None => say_part!("{}", assembly()?),
            Some(path) if self.asm || ends_in(path, "spvasm") => output::write(path, assembly()?.as_bytes()).map_err(invalid)?,
            Some(path) => output::write(path, &spirv::bytes_of_words(&module.words)).map_err(invalid)?,
        }
        if self.json {
            let bindings = module.bindings.iter().map(|b| {
                let (kind, of) = match b.kind {
                    wsl::BindingKind::Buffer(kind, element) => (kind.name(), Some(element)),
                    wsl::BindingKind::Sampled(ty, _) => ("sampled-texture", Some(ty)),
                    wsl::BindingKind::Storage(ty, ..) => ("storage-texture", Some(ty)),
                    wsl::BindingKind::Sampler(_) => ("sampler", None),
                };
                let of = of.map(|ty| program.env.type_name(ty));
                json!({"set": b.set, "binding": b.binding, "register": b.register, "names": b.names, "kind": kind, "element": of})
            });
            let rules: serde_json::Map<String, serde_json::Value> =
                module.rules.iter().map(|(rule, n)| (rule.name().to_string(), json!(n))).collect();
            let hash = format!("{:#018x}", words_hash(&module.words));
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "words": module.words.len(), "words_hash": hash, "entry": module.entry,
                    "bindings": bindings.collect::<Vec<_>>(), "rules": rules, "exit": exit::DONE})
            );
        }
        Ok(())
    }
}

/// The message that no function has this name, with the existing names.
fn no_function(program: &Program, wanted: &str) -> String {
    const MOST: usize = 20;
    let names: Vec<String> = program.env.functions.iter().map(|f| program.env.key_name(f.key).to_string()).collect();
    let more = names.len().saturating_sub(MOST);
    let mut text = format!("there is no function called {wanted}");
    match names.len() {
        0 => text += "; the program has none",
        _ => text += &format!("; there are {}", names[..names.len() - more].join(", ")),
    }
    if more > 0 {
        text += &format!(", and {more} more");
    }
    text
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// Reads `--point-size`.
fn point_size(text: &str) -> Result<wgsl::PointSize, String> {
    match text {
        "refuse" => Ok(wgsl::PointSize::Refuse),
        "ignore" => Ok(wgsl::PointSize::Ignore),
        _ => Err("it is refuse or ignore".into()),
    }
}

//! `smallstep uniformity`: whether barriers and derivatives stand in uniform control flow, and the
//! reasons if not.

use super::exit::Ended;
use super::{exit, input, wsl};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use smallstep::diagnostic::Diagnostic;
use smallstep::program::Language;
use smallstep_semantics::spirv;
use smallstep_semantics::text::line_column;
use smallstep_semantics::uniformity::picture::{MAX_DRAWN, Picture};
use smallstep_semantics::uniformity::report::{Analysis, Exit, Metadata, Parameter, Rejection};
use smallstep_semantics::uniformity::{self, Mode};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::error::Error;
use smallstep_semantics::wsl::typing::program::Program;
use std::path::PathBuf;

/// What becomes of a barrier or derivative in control flow that may not be uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Level {
    /// The program is invalid.
    Error,
    /// It is told, and the program is taken as it is.
    Warn,
    /// It is not looked for.
    Off,
}

/// How WSL programs are judged where they are validated.
#[derive(Args)]
pub(super) struct Strictness {
    /// A barrier or derivative of a WSL program in control flow that may not be uniform: error,
    /// warn (told, and the program is run as it is) or off.
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "error")]
    uniformity: Level,
}

impl Strictness {
    /// The errors of the analysis, if its findings are errors here. Warnings are printed.
    pub(super) fn errors(&self, name: &str, text: &str, program: &Program) -> Vec<Error> {
        if self.uniformity == Level::Off {
            return Vec::new();
        }
        let errors = match uniformity::wsl::analyse(program) {
            Ok(analysis) => analysis.errors(),
            Err(too_large) => {
                tell!("warning: {name}: uniformity is not judged: {too_large}");
                return Vec::new();
            }
        };
        if self.uniformity == Level::Error {
            return errors;
        }
        for error in errors {
            tell_part!("{}", Diagnostic::from(error).render_warning(name, text));
        }
        Vec::new()
    }
}

/// Say whether every barrier and derivative of a program stands in uniform control flow, what each
/// function needs of its callers, and for what is rejected the way from the barrier or derivative
/// to the value that differs.
#[derive(Args)]
pub(crate) struct Uniformity {
    /// A WSL program, a SPIR-V module as words, assembly or WGSL, or - for standard input.
    file: PathBuf,
    #[command(flatten)]
    reading: input::Reading,
    /// The analysis: precise, or seed (seed 001, mended where it is unsound).
    #[arg(long, value_parser = ["precise", "seed"], default_value = "precise")]
    mode: String,
    /// Write the graph of implications of one function, for Graphviz (.dot) or as a picture (.svg).
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// The function of --graph; the first entry point if not given.
    #[arg(long, value_name = "NAME", requires = "graph")]
    function: Option<String>,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Uniformity {
    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let source = self.reading.program(&self.file)?;
        match source.language {
            Language::Wsl => {}
            Language::Words | Language::Assembly | Language::Wgsl => return self.module(&name, &source),
            Language::LambdaV | Language::Amber => {
                let what =
                    format!("{name}: this is {}, and uniformity is judged of WSL programs and SPIR-V modules", source.language.words());
                return input::fail(exit::INVALID, &what);
            }
        }
        let text = source.text();
        let program = wsl::program(&name, text, None)?;
        let mode = if self.mode == "seed" { Mode::Seed } else { Mode::Precise };
        let limit = |e: uniformity::wsl::TooLarge| (exit::LIMIT, format!("error: {name}: {e}"));
        let (analysis, metadata) = match mode {
            Mode::Seed => {
                let mut analysis = uniformity::seed::analyse(&program);
                let metadata = std::mem::take(&mut analysis.functions);
                (analysis, metadata)
            }
            Mode::Precise => (uniformity::wsl::analyse(&program).map_err(limit)?, uniformity::wsl::metadata(&program).map_err(limit)?),
        };
        let picture = match &self.graph {
            Some(file) => {
                let function = self.function(&program)?;
                let picture = match mode {
                    Mode::Seed => uniformity::seed::picture(&program, text, function),
                    Mode::Precise => uniformity::wsl::picture(&program, text, function).map_err(limit)?,
                };
                write(file, &picture)?;
                Some((function, picture))
            }
            None => None,
        };
        let code = if analysis.accepts() { exit::DONE } else { exit::INVALID };
        for (i, metadata) in metadata.iter().enumerate() {
            let signature = program.env.signature(FunctionId(i as u32));
            if self.json {
                say!("{}", function_json(&program, i, &signature, metadata));
            } else {
                say!("{signature}: {}", requirements_text(&program, i, metadata));
            }
        }
        for rejection in &analysis.rejections {
            if self.json {
                say!("{}", rejection_json(&program, text, rejection));
            } else {
                say_part!("{}", Diagnostic::from(rejection.error()).render(&name, text));
            }
        }
        if let (Some((function, picture)), true) = (&picture, self.json) {
            let nodes: Vec<_> = picture.nodes.iter().map(|(_, text)| text).collect();
            let edges: Vec<_> = picture.edges.iter().map(|(from, to, rule)| json!({"from": from, "to": to, "rule": rule})).collect();
            let signature = program.env.signature(*function);
            say!("{}", json!({"schema": 1, "kind": "graph", "function": signature, "nodes": nodes, "edges": edges}));
        }
        self.summary(&name, &analysis, metadata.len(), code);
        Ok(code)
    }

    /// Analyses a SPIR-V module, by the precise analysis.
    fn module(&self, name: &str, source: &smallstep::program::Program) -> Ended {
        if self.mode == "seed" || self.graph.is_some() {
            let what = format!("{name}: this is a SPIR-V module; --mode seed and --graph are for WSL programs");
            return input::fail(exit::INVALID, &what);
        }
        let failure = |e: smallstep::source::ReadError| (super::run::read_code(&e), e.text);
        let words = source.words().map_err(failure)?;
        let load_failure = |e: &spirv::LoadError| failure(smallstep::source::ReadError::of_module(name, e));
        let module = spirv::Module::load(&words).map_err(|e| load_failure(&e))?;
        let unknown = uniformity::spirv::unknown_constants(&words).map_err(|e| load_failure(&e.into()))?;
        let options = uniformity::spirv::Options { unknown, ..uniformity::spirv::Options::default() };
        let analysis = uniformity::spirv::analyse_with(&module, &options).map_err(|e| (exit::LIMIT, format!("error: {name}: {e}")))?;
        let code = if analysis.accepts() { exit::DONE } else { exit::INVALID };
        for rejection in &analysis.rejections {
            let (need, entry) = (rejection.need, &rejection.function);
            if self.json {
                let step =
                    |s: &uniformity::spirv::Step| json!({"text": s.text, "rule": s.rule.map(|r| r.name()), "at": s.span.to_string()});
                let steps: Vec<_> = rejection.steps.iter().map(step).collect();
                say!(
                    "{}",
                    json!({"schema": 1, "kind": "rejection", "function": entry, "need": need.noun(), "at": rejection.span.to_string(), "steps": steps})
                );
                continue;
            }
            say!(
                "error: {name}: in entry point `{entry}`, this {} needs control flow that is uniform in the {}:",
                need.noun(),
                need.scope()
            );
            say!("  {}", rejection.span);
            for (n, step) in (1..).zip(&rejection.steps) {
                say!("  {n}: {}: {}", step.text, step.span);
            }
        }
        self.summary(name, &analysis, module.functions().len(), code);
        Ok(code)
    }

    fn summary<F, P>(&self, name: &str, analysis: &Analysis<F, P>, functions: usize, code: u8) {
        let verdict = if analysis.accepts() { "accepted" } else { "rejected" };
        if self.json {
            let summary = json!({"schema": 1, "kind": "summary", "file": name, "mode": self.mode, "verdict": verdict,
                "functions": functions, "rejections": analysis.rejections.len(), "nodes": analysis.nodes, "edges": analysis.edges,
                "exit": code});
            say!("{summary}");
        } else {
            say!("{verdict} by the {} analysis: {} nodes, {} edges", self.mode, analysis.nodes, analysis.edges);
        }
    }

    /// The function whose graph is written.
    fn function(&self, program: &Program) -> Result<FunctionId, exit::Failure> {
        let all = || (0..program.bodies.len() as u32).map(FunctionId);
        let found = match &self.function {
            Some(name) => all().find(|f| program.env.names.name(program.env.function(*f).name.name) == name),
            None => program.entry_points.first().map(|e| e.function).or_else(|| all().next()),
        };
        found.ok_or_else(|| match &self.function {
            Some(name) => (exit::INVALID, format!("error: no function is called \"{name}\"")),
            None => (exit::INVALID, "error: the program has no function".to_owned()),
        })
    }
}

/// Writes the picture in the format of the file extension.
fn write(file: &std::path::Path, picture: &Picture) -> Result<(), exit::Failure> {
    let text = match file.extension().and_then(|e| e.to_str()) {
        Some("dot") => picture.dot(),
        Some("svg") => picture.svg().ok_or_else(|| {
            let what = format!("the graph has {} nodes, and at most {MAX_DRAWN} are drawn; write a .dot file", picture.nodes.len());
            (exit::LIMIT, format!("error: {what}"))
        })?,
        _ => return Err((exit::INVALID, format!("error: {}: --graph takes a file that ends in .dot or .svg", file.display()))),
    };
    std::fs::write(file, text).map_err(|e| (exit::FAILED, format!("error: {}: {e}", file.display())))
}

fn parameter_name(program: &Program, function: usize, at: usize) -> &str {
    program.env.names.name(program.env.functions[function].parameters[at].name)
}

/// The requirements of a function for its callers, in words.
fn requirements_text(program: &Program, function: usize, metadata: &Metadata) -> String {
    let declared = &program.env.functions[function];
    let parameters: Vec<&str> = (0..declared.parameters.len()).map(|at| parameter_name(program, function, at)).collect();
    metadata.text(&parameters, declared.result == smallstep_semantics::wsl::types::TypeId::VOID)
}

fn function_json(program: &Program, function: usize, signature: &str, metadata: &Metadata) -> Value {
    let parameters: Vec<_> = metadata
        .parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| {
            let (kind, need) = match parameter {
                Parameter::MustBeUniform(need) => ("must be uniform", Some(need.noun())),
                Parameter::Conditionally => ("conditionally uniform", None),
                Parameter::Free => ("free", None),
            };
            json!({"name": parameter_name(program, function, at), "use": kind, "need": need})
        })
        .collect();
    let exit = match &metadata.exit {
        Exit::AsEntry => json!("as entry"),
        Exit::IfUniform(parameters) => json!({"if_uniform": parameters}),
        Exit::Varies => json!("varies"),
    };
    let stores: Vec<_> = metadata.stores.iter().map(|(pointer, of)| json!({"parameter": pointer, "if_uniform": of})).collect();
    json!({"schema": 1, "kind": "function", "signature": signature, "stores": stores, "control": metadata.control.map(|need| need.noun()),
        "parameters": parameters, "result_can_be_uniform": metadata.result, "exit": exit})
}

fn rejection_json(program: &Program, text: &str, rejection: &Rejection) -> Value {
    let place = |at: u32| {
        let (line, column) = line_column(text, at);
        json!({"line": line, "column": column})
    };
    let steps: Vec<_> = rejection
        .steps
        .iter()
        .map(|step| {
            json!({"text": step.text, "rule": step.rule.map(|rule| rule.name()), "span": [step.span.start, step.span.end],
                "at": place(step.span.start)})
        })
        .collect();
    json!({"schema": 1, "kind": "rejection", "function": program.env.signature(rejection.function), "need": rejection.need.noun(),
        "span": [rejection.span.start, rejection.span.end], "at": place(rejection.span.start), "steps": steps})
}

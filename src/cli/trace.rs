//! `smallstep trace`: the rewriting of a program, with one line for each step and its rule.

use super::budget::Budget;
use super::compute::{self, ComputeArgs, Tracing};
use super::exit::Ended;
use super::grid::GridArgs;
use super::{exit, grid, input};
use clap::Args;
use serde_json::json;
use smallstep::diagnostic::Diagnostic;
use smallstep::program::{self, Language};
use smallstep::run::screen::Input;
use smallstep_semantics::lambda_v::print::Printer;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{Reduction, Setting, Strategy, ValueId};
use smallstep_semantics::lambda_v::syntax::{Symbols, line_column};
use smallstep_semantics::lambda_v::terms::TermId;
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::entry::Stage;
use std::path::PathBuf;

/// Print how a λV program reduces, how a WSL function is executed, what the invocations of a
/// compute module do, or a pixel of a fragment module, one rule-labelled line a step.
#[derive(Args)]
pub(crate) struct Trace {
    /// A λV program, a WSL program (a call with --call, or a compute entry point), or a SPIR-V
    /// compute module as words, assembly or WGSL, or - for standard input.
    file: PathBuf,
    /// The pixel that it runs for; 0,0 if not given.
    #[arg(long, value_parser = input::pixel)]
    pixel: Option<(u32, u32)>,
    /// The output, by location.
    #[arg(long)]
    output: Option<u32>,
    /// Which redex is reduced: first (the leftmost), random, or all (every value
    /// that some order reaches).
    #[arg(long, default_value = "first", value_parser = ["first", "random", "all"])]
    strategy: String,
    /// The seed of the random strategy.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The theorem whose reduction is shown: corrected or printed.
    #[arg(long, default_value = "corrected", value_parser = ["corrected", "printed"])]
    theorem: String,
    /// The most steps (10000 if not given); of a compute module, the most instructions of all
    /// invocations together (1000000 if not given).
    #[arg(long)]
    fuel: Option<u64>,
    /// The longest term that is printed, in bytes.
    #[arg(long, default_value_t = 500)]
    width: usize,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    reading: input::Reading,
    #[command(flatten)]
    uniformity: super::uniformity::Strictness,
    /// The size of the screen that a fragment module is drawn on.
    #[arg(long, default_value = "4x4", value_parser = input::size)]
    size: (u32, u32),
    /// What an input of a fragment module holds: LOC=type:v,…, or LOC=screen for the
    /// place on the screen.
    #[arg(long, value_name = "LOC=…")]
    input: Vec<Input>,
    /// Of a WSL program: the expression that is evaluated, as `foo(42, float2(1.0, 2.0))`.
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true, help_heading = "WSL")]
    call: Option<String>,
    /// Of a WSL program: only the steps of this thread, counted from 0.
    #[arg(long, value_name = "N", help_heading = "WSL")]
    thread: Option<u32>,
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    /// The compute entry point, where there are several.
    #[arg(long, help_heading = "Compute modules")]
    entry: Option<String>,
    /// Only the steps of the invocation with this GlobalInvocationId.
    #[arg(long, value_name = "X,Y,Z", value_parser = compute::invocation, help_heading = "Compute modules")]
    invocation: Option<[u32; 3]>,
    /// Only the steps in this function, by id or name.
    #[arg(long, value_name = "%ID", help_heading = "Compute modules")]
    function: Option<String>,
    /// The names of the options on the command line.
    #[arg(skip)]
    pub(super) given_options: Vec<String>,
}

/// The most steps of a λV program without `--fuel`.
const FUEL: u64 = 10_000;

impl Trace {
    /// Traces a compute entry point of a WSL program.
    fn dispatch(&self, name: &str, text: &str) -> Result<u8, (u8, String)> {
        let program = &super::wsl::program(name, text, Some(&self.uniformity))?;
        if !program.entry_points.iter().any(|e| matches!(e.stage, Stage::Compute(_))) {
            let what = "a WSL program without compute entry point is traced by a call of one of its functions: --call 'foo(42)'";
            return Err((exit::INVALID, format!("error: {name}: {what}")));
        }
        self.check_options(
            "a compute entry point of a WSL program",
            &[&["uniformity", "thread", "entry", "groups", "set", "texture", "sampler"], GridArgs::OPTIONS],
        )?;
        let running = grid::Running {
            name,
            text,
            program,
            entry: self.entry.as_deref(),
            groups: self.compute.groups.unwrap_or([1; 3]),
            resource_inputs: self.grid.resource_inputs(&self.compute)?,
            fast: false,
            budget: Budget::of_fuel(self.fuel),
            values: false,
            json: self.json,
        };
        self.grid.trace(&running, self.thread)
    }

    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let source = self.reading.program(&self.file)?;
        let text = source.text();
        if let Some(expression) = &self.call {
            self.check_options("an expression", &[&["call", "unspecified", "precision", "ways"]])?;
            if source.language != Language::Wsl {
                let what = format!("{name}: this is {}, and --call is for WSL programs", source.language.words());
                return input::fail(exit::INVALID, &what);
            }
            return super::call::trace(&self.file, text, expression, &self.grid.evaluation, self.fuel.unwrap_or(FUEL), self.json);
        }
        match source.language {
            Language::Wsl => return self.dispatch(&name, text),
            Language::Amber => {
                return input::fail(exit::INVALID, &format!("{name}: this is an Amber script; `smallstep run` plays it"));
            }
            Language::LambdaV | Language::Words | Language::Assembly | Language::Wgsl => {}
        }
        if let Some(code) = self.compute(&name, &source)? {
            return Ok(code);
        }
        let program = match Program::read(text) {
            Ok(program) => program,
            Err(e) => {
                return input::fail_with(exit::INVALID, &Diagnostic::from(e).render(&name, text));
            }
        };
        self.check_options("a λV program", &[&["pixel", "output", "strategy", "seed", "theorem", "width"]])?;
        let output = match self.output {
            None => program.outputs[0],
            Some(n) => match program.outputs.iter().find(|o| o.location == n) {
                Some(output) => *output,
                None => return input::fail(exit::INVALID, &format!("{name}: the program has no output {n}")),
            },
        };
        let theorem = match self.theorem.as_str() {
            "printed" => smallstep_semantics::lambda_v::step::Theorem::Printed,
            _ => smallstep_semantics::lambda_v::step::Theorem::Corrected,
        };
        let (x, y) = self.pixel.unwrap_or((0, 0));
        let setting = Setting { theorem, ..Setting::at_pixel(x, y) };
        let mut reduction = Reduction::new(&program, setting);
        if self.strategy == "all" {
            return self.explore(&mut reduction, output.term);
        }
        let strategy = if self.strategy == "random" { Strategy::Random(self.seed) } else { Strategy::First };
        if !self.json {
            say!("{:>5}  {:<14} {}", "", "", self.show(&reduction, &program.symbols, output.term));
        }
        let mut step = 0u64;
        let outcome = reduction.run(output.term, strategy, self.fuel.unwrap_or(FUEL), &mut |r, _, reduct| {
            step += 1;
            let term = self.show(r, &program.symbols, reduct.next);
            if self.json {
                let (line, column) = line_column(text, r.terms.span(reduct.redex).start);
                let within: Vec<&str> = reduct.within.iter().map(|rule| rule.name()).collect();
                let at = reduct.at.as_slice();
                say!("{}", json!({"schema": 1, "kind": "step", "step": step, "rule": reduct.rule.name(), "at": at, "within": within, "line": line, "column": column, "term": term}));
            } else {
                say!("{step:>5}  {:<14} {term}", reduct.rule.name());
            }
        });
        self.ending(&outcome, step)
    }

    /// Traces a program that is not λV. `None` for a λV program.
    fn compute(&self, name: &str, source: &program::Program) -> Result<Option<u8>, (u8, String)> {
        let invalid = |what: String| Err((exit::INVALID, format!("error: {name}: {what}")));
        let options =
            [(self.entry.is_some(), "--entry"), (self.invocation.is_some(), "--invocation"), (self.function.is_some(), "--function")];
        let entry = self.entry.as_deref();
        let module = source.is_module().then(|| self.compute.module(source)).transpose()?;
        let (module, other) = match module {
            Some(module) if !module.is_compute(entry) => (None, Some(module)),
            module => (module, None),
        };
        let Some(module) = module else {
            if let Some(other) = other
                && let Ok(screen) = self.compute.screen(other, entry, self.size, &self.input, true)?
            {
                let pixel = self.pixel.unwrap_or((0, 0));
                if pixel.0 >= self.size.0 || pixel.1 >= self.size.1 {
                    return invalid(format!("pixel ({},{}) is outside of {}x{}", pixel.0, pixel.1, self.size.0, self.size.1));
                }
                self.check_options("a fragment module", &[&["pixel", "size", "input", "entry"], ComputeArgs::OPTIONS])?;
                return compute::trace_screen(name, &screen, pixel, self.fuel, self.json).map(Some);
            }
            let given_option = options.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name);
            return match self.compute.first_option().or(given_option) {
                Some(option) => invalid(format!("{option} is for compute modules, and this is none")),
                None => Ok(None),
            };
        };
        let term_options =
            [(self.pixel.is_some(), "--pixel"), (self.output.is_some(), "--output"), (self.strategy != "first", "--strategy")];
        if let Some((_, option)) = term_options.iter().find(|(is_given, _)| *is_given) {
            return invalid(format!("{option} is for λV programs, and this is a compute module"));
        }
        self.check_options("a compute module", &[&["entry", "invocation", "function"], ComputeArgs::OPTIONS])?;
        let tracing = Tracing {
            args: &self.compute,
            entry: self.entry.as_deref(),
            invocation: self.invocation,
            function: self.function.as_deref(),
            fuel: self.fuel,
            json: self.json,
        };
        tracing.run(module).map(Some)
    }

    fn check_options(&self, what: &str, taken: &[&[&str]]) -> Result<(), (u8, String)> {
        super::check_options(&self.given_options, what, &[taken, &[&["file", "language", "target-env", "fuel", "json"]]].concat())
    }

    /// Prints every ending that some order of reduction reaches.
    fn explore(&self, reduction: &mut Reduction, e: TermId) -> Ended {
        let fuel = self.fuel.unwrap_or(FUEL);
        let Some(endings) = reduction.explore(e, fuel as usize) else {
            return input::fail(exit::LIMIT, &format!("more than {} terms are reachable; give --fuel a larger number", fuel));
        };
        // The number of reachable terms is finite and none is an ending, so every order of
        // reduction is endless.
        let endings = match endings.is_empty() {
            true => vec![Outcome::Diverges("every order of reduction comes back to a term that it had before".into())],
            false => endings,
        };
        let code = if let [ending] = &endings[..] { ending_code(ending) } else { exit::DISAGREE };
        for ending in &endings {
            match self.json {
                true => say!(
                    "{}",
                    json!({"schema": 1, "kind": "ending", "ending": ending.name(), "value": ending.observed().map(Value::to_string)})
                ),
                false => say!("{}", ending_text(ending)),
            }
        }
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "summary", "endings": endings.len(), "exit": code}));
        }
        Ok(code)
    }

    fn show(&self, reduction: &Reduction, symbols: &Symbols, e: TermId) -> String {
        let ext = |id: ValueId| reduction.value_of(id).to_string();
        Printer { terms: &reduction.terms, symbols, ext: &ext, limit: self.width }.print(e)
    }

    fn ending(&self, outcome: &Outcome<Value>, steps: u64) -> Ended {
        if self.json {
            let value = outcome.observed().map(|v| json!({"type": v.ty.to_string(), "text": v.to_string(), "bits": v.bits().map(|b| format!("{b:#010x}")).collect::<Vec<_>>()}));
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "ending": outcome.name(), "value": value, "steps": steps, "exit": ending_code(outcome)})
            );
        } else {
            say!("{} after {steps} steps", ending_text(outcome));
        }
        Ok(ending_code(outcome))
    }
}

fn ending_text(outcome: &Outcome<Value>) -> String {
    match outcome {
        Outcome::Observed(value) => format!("value {}", smallstep::theorem::value_text(value)),
        Outcome::Stuck(stuck) => format!("stuck: {} ({})", stuck.why, stuck.at),
        Outcome::Diverges(why) => format!("diverges: {why}"),
        Outcome::Limit(limit) => limit.to_string(),
        other => other.name().into(),
    }
}

fn ending_code(outcome: &Outcome<Value>) -> u8 {
    match outcome {
        Outcome::Observed(_) => exit::DONE,
        Outcome::Undefined(_) => exit::UNDEFINED,
        Outcome::Unsupported(_) => exit::UNSUPPORTED,
        Outcome::OutOfFuel | Outcome::Limit(_) => exit::LIMIT,
        Outcome::Diverges(_) => exit::UNCHECKED,
        Outcome::Stuck(_) | Outcome::Deadlock => exit::INVALID,
    }
}

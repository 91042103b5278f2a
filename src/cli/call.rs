//! `smallstep call`: the evaluation of an expression with a WSL program, and its trace.

use super::budget::{Budget, TimeArgs};
use super::exit::Ended;
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::diagnostic::Diagnostic;
use smallstep::program::Language;
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::text::{Span, line_column};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::{Invalid, Prepared, Shown, prepare};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::execution::{Event, Step};
use smallstep_semantics::wsl::memory::Address;
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How an expression is evaluated.
#[derive(Args, Clone)]
pub(crate) struct Evaluation {
    /// What becomes of an unspecified value: carry (it is a symbol, and every way that depends on
    /// it is followed), first (the first that is allowed), random:SEED (one that is allowed).
    #[arg(long, default_value = "carry", value_parser = strategy, value_name = "carry|first|random:SEED", help_heading = "WSL")]
    unspecified: Strategy,
    /// Under which profile of precision (strict, vulkan-default, wgsl) a float is the set of what a
    /// conforming device may give; without it, it is the correctly rounded result.
    #[arg(long, value_parser = super::translate::profile, value_name = "PROFILE", help_heading = "WSL")]
    precision: Option<Profile>,
    /// The most ways through branches on unspecified values.
    #[arg(long, default_value_t = 256, value_parser = ways, help_heading = "WSL")]
    ways: usize,
}

/// Evaluate an expression beside a WSL program: a call of any of its functions.
#[derive(Args)]
pub(crate) struct Call {
    /// A WSL program, or - for standard input.
    file: PathBuf,
    /// The expressions, as `foo(42, float2(1.0, 2.0))`; statements may stand before one, as
    /// `int x = 4; foo(&x)`.
    #[arg(required = true, value_name = "EXPRESSION")]
    expressions: Vec<String>,
    #[command(flatten)]
    evaluation: Evaluation,
    /// The engine: auto (the machine, and the reference where something unspecified is carried or
    /// the machine does not do it), machine or reference.
    #[arg(long, default_value = "auto", value_parser = ["auto", "machine", "reference"])]
    engine: String,
    /// The most steps of one way by the reference, iterations and calls by the machine: 20000000
    /// and 500000000 if not given, some seconds of either.
    #[arg(long)]
    fuel: Option<u64>,
    #[command(flatten)]
    time: TimeArgs,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

fn strategy(text: &str) -> Result<Strategy, String> {
    match text.split_once(':') {
        None if text == "carry" => Ok(Strategy::Carry),
        None if text == "first" => Ok(Strategy::First),
        Some(("random", seed)) => seed.parse().map(Strategy::Random).map_err(|_| format!("\"{seed}\" is no seed: a number below 2^64 is")),
        _ => Err(format!("\"{text}\" is none of carry, first and random:SEED")),
    }
}

fn ways(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("\"{text}\" is no number of ways; one at least is followed"))
}

impl Evaluation {
    /// The settings of the evaluation within a budget. `fuel` is the default amount of fuel.
    pub(super) fn settings(&self, budget: Budget, fuel: u64) -> Settings {
        let (fuel, time) = (budget.fuel.unwrap_or(fuel), budget.time);
        Settings { strategy: self.unspecified, precision: self.precision, fuel, time, ways: self.ways, ..Settings::default() }
    }
}

impl Call {
    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let source = input::only(&self.file, Language::Wsl)?;
        let text = source.text();
        let mut worst = exit::DONE;
        let mut reported = HashSet::new();
        for expression in &self.expressions {
            let code = match prepare(text, expression) {
                Err(invalid) => {
                    if self.json {
                        let errors = errors_json(&invalid);
                        say!("{}", json!({"schema": 1, "kind": "call", "expression": expression, "outcome": "invalid", "errors": errors}));
                    }
                    report(&name, expression, invalid, &mut reported);
                    exit::INVALID
                }
                Ok(prepared) => {
                    let (outcome, place) = self.evaluate(&prepared);
                    self.show(&prepared, expression, &outcome, place)
                }
            };
            worst = exit::worse(worst, code);
        }
        if self.json {
            let calls = self.expressions.len();
            say!("{}", json!({"schema": 1, "kind": "summary", "file": name, "calls": calls, "exit": worst}));
        }
        Ok(worst)
    }

    fn evaluate(&self, prepared: &Prepared) -> (Outcome<Shown>, Option<Span>) {
        let budget = self.time.budget(self.fuel);
        let fast = match self.engine.as_str() {
            "reference" => None,
            _ => prepared.evaluate_fast(&self.evaluation.settings(budget, 500_000_000)),
        };
        match fast {
            Some(ended) => ended,
            None if self.engine == "machine" => {
                let why = "the machine does not evaluate this: something in it is not compiled, or is unspecified and carried";
                (Outcome::Unsupported(why.into()), None)
            }
            None => {
                let mut last = None;
                let settings = self.evaluation.settings(budget, 20_000_000);
                let outcome = prepared.evaluate(&settings, &mut |step, _| last = Some(step.at));
                (outcome, last)
            }
        }
    }

    fn show(&self, prepared: &Prepared, expression: &str, outcome: &Outcome<Shown>, place: Option<Span>) -> u8 {
        let code = code(outcome);
        if self.json {
            let mut object = json!({"schema": 1, "kind": "call", "expression": expression, "outcome": outcome.name()});
            match outcome {
                Outcome::Observed(shown) => {
                    let words = shown.words.iter().map(|w| match w {
                        Possible::Values(values) => json!(values),
                        Possible::Floats(set) => {
                            json!({"within": set.spans().iter().map(|s| [s.low, s.high]).collect::<Vec<_>>(), "nan": set.has_nan()})
                        }
                        Possible::Any => json!(null),
                    });
                    object["type"] = json!(prepared.program.env.type_name(shown.ty));
                    object["value"] = json!(value::show(&prepared.program, shown.ty, &shown.words));
                    object["words"] = json!(words.collect::<Vec<_>>());
                    object["unspecified"] = json!(shown.unspecified);
                    object["complete"] = json!(shown.complete);
                    object["ways"] = json!(shown.ways);
                    object["discarded"] = json!(shown.discarded);
                    object["steps"] = json!(shown.steps);
                }
                other => object["why"] = json!(why(prepared, other, place)),
            }
            say!("{object}");
        } else {
            say!("{}", text(prepared, outcome, place));
        }
        code
    }
}

fn errors_json(invalid: &Invalid) -> serde_json::Value {
    invalid.errors.iter().map(|e| json!({"code": e.rule.name(), "message": e.message})).collect()
}

/// Prints the errors of a program with their own places, and those of an expression with places
/// in it.
fn report(name: &str, expression: &str, invalid: Invalid, reported: &mut HashSet<String>) {
    for mut error in invalid.errors {
        let place = |at: u32| invalid.place.inside(at);
        let (Some(start), Some(end)) = (place(error.span.start), place(error.span.end)) else {
            // An error of the program is reported once, not for each expression.
            let text = Diagnostic::from(error).render(name, &invalid.text);
            if reported.insert(text.clone()) {
                tell_part!("{text}");
            }
            continue;
        };
        (error.span.start, error.span.end) = (start, end);
        // A note about the program is printed with its place there.
        for (span, note) in &mut error.notes {
            if let Some(at) = span.take() {
                let (line, column) = line_column(&invalid.text, at.start);
                let line_text = invalid.text.lines().nth(line - 1).unwrap_or_default().trim();
                *note = match place(at.start) {
                    Some(_) => std::mem::take(note),
                    None => format!("{note}: {name}:{line}:{column}: {line_text}"),
                };
            }
        }
        tell_part!("{}", Diagnostic::from(error).render("the expression", expression));
    }
}

fn code(outcome: &Outcome<Shown>) -> u8 {
    match outcome {
        Outcome::Observed(shown) if shown.complete => exit::DONE,
        Outcome::Observed(_) => exit::UNCHECKED,
        Outcome::Unsupported(_) => exit::UNSUPPORTED,
        Outcome::OutOfFuel | Outcome::Limit(_) | Outcome::Deadlock | Outcome::Diverges(_) => exit::LIMIT,
        Outcome::Stuck(_) => exit::DISAGREE,
        Outcome::Undefined(_) => exit::UNDEFINED,
    }
}

fn why(prepared: &Prepared, outcome: &Outcome<Shown>, place: Option<Span>) -> String {
    match outcome {
        Outcome::Stuck(stuck) => format!(
            "stuck at {}: {}; a valid program is never stuck, so this is a bug of ours or of the specification",
            stuck.at, stuck.why
        ),
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        Outcome::Limit(limit) => limit.to_string(),
        Outcome::OutOfFuel => {
            let at = place.map(|span| {
                let (line, column) = line_column(&prepared.text, span.start);
                if prepared.place.inside(span.start).is_some() { " in the expression".into() } else { format!(" at {line}:{column}") }
            });
            format!("out of fuel{}: the evaluation takes more steps than --fuel allows", at.unwrap_or_default())
        }
        other => other.name().into(),
    }
}

/// The text of an evaluation: the type, the value, and whether some ways were not followed.
fn text(prepared: &Prepared, outcome: &Outcome<Shown>, place: Option<Span>) -> String {
    match outcome {
        Outcome::Observed(shown) => {
            let ty = prepared.program.env.type_name(shown.ty);
            let shown_value = value::show(&prepared.program, shown.ty, &shown.words);
            let open = if shown.complete { "" } else { ", and what ways show that were not followed: see --ways" };
            // The text of vectors, structures and elements of enums already contains the type.
            let names_type = shown_value.strip_prefix(&ty).is_some_and(|rest| rest.is_empty() || rest.starts_with(['(', '.', ' ']));
            let value = if names_type { shown_value } else { format!("{ty} {shown_value}") };
            match shown.discarded {
                0 => format!("{value}{open}"),
                n if n == shown.ways => format!("discarded{open}"),
                _ => format!("{value}, or discarded{open}"),
            }
        }
        other => why(prepared, other, place),
    }
}

/// Prints the evaluation of an expression step by step.
pub(super) fn trace(file: &Path, program: &str, expression: &str, evaluation: &Evaluation, fuel: u64, as_json: bool) -> Ended {
    let name = file.display().to_string();
    let prepared = match prepare(program, expression) {
        Ok(prepared) => prepared,
        Err(invalid) => {
            if as_json {
                say!("{}", json!({"schema": 1, "kind": "summary", "file": name, "errors": errors_json(&invalid), "exit": exit::INVALID}));
            }
            report(&name, expression, invalid, &mut HashSet::new());
            return Ok(exit::INVALID);
        }
    };
    let (mut count, mut last) = (0u64, None);
    let outcome = prepared.evaluate(&evaluation.settings(Budget::default(), fuel), &mut |step, _| {
        count += 1;
        last = Some(step.at);
        print_step(&prepared.text, Some(prepared.place.first), None, count, step, as_json);
    });
    if as_json {
        let mut object = json!({"schema": 1, "kind": "summary", "outcome": outcome.name(), "steps": count, "exit": code(&outcome)});
        object["value"] = json!(text(&prepared, &outcome, last));
        say!("{object}");
    } else {
        say!("{}", text(&prepared, &outcome, last));
    }
    Ok(code(&outcome))
}

/// Prints a step. In a dispatch, `thread` is the number of its thread. The text from `offset` on is
/// the call.
pub(super) fn print_step(text: &str, offset: Option<u32>, thread: Option<u32>, count: u64, step: &Step, as_json: bool) {
    let (line, column) = line_column(text, step.at.start);
    let source: String = text[step.at.start as usize..step.at.end as usize].split_whitespace().collect::<Vec<_>>().join(" ");
    if as_json {
        let within: Vec<_> = step.within.iter().map(|r| r.name()).collect();
        let events: Vec<String> = step.events.iter().map(event).collect();
        let (place, rule) = ([step.at.start, step.at.end], step.rule.name());
        let mut object = json!({"schema": 1, "kind": "step", "step": count, "rule": rule, "within": within, "span": place, "source": source, "events": events});
        if let Some(thread) = thread {
            object["thread"] = json!(thread);
        }
        say!("{object}");
        return;
    }
    let place = if offset.is_some_and(|offset| step.at.start >= offset) { "call".to_string() } else { format!("{line}:{column}") };
    let mut shown: String = source.chars().take(60).collect();
    if shown.len() < source.len() {
        shown.push('…');
    }
    let events: Vec<String> = step.events.iter().map(event).collect();
    let events = if events.is_empty() { String::new() } else { format!("  [{}]", events.join("; ")) };
    let thread = thread.map_or(String::new(), |thread| format!(" t{thread:<4}"));
    say!("{count:>6}{thread} {place:>8}  {:<32} {shown}{events}", step.rule.name());
}

fn address(at: &Address) -> String {
    let open = if at.open.is_some() { " + unspecified" } else { "" };
    format!("{}+{}{open}", at.object.0, at.bytes)
}

fn words(words: &[Word]) -> String {
    let word = |w: &Word| match w {
        Word::Bits(bits) => format!("{bits:#x}"),
        Word::Open(_) => "unspecified".into(),
        Word::Address(at) => format!("&{}", address(at)),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn event(event: &Event) -> String {
    match event {
        Event::Load(at, value) => format!("load {} {}", address(at), words(value)),
        Event::Store(at, value) => format!("store {} {}", address(at), words(value)),
        Event::AtomicLoad(at, value) => format!("atomic load {} {}", address(at), words(&[*value])),
        Event::ReadModifyWrite(at, read, written) => {
            format!("read-modify-write {} {} to {}", address(at), words(&[*read]), words(&[*written]))
        }
        Event::Fence { threadgroup, device } => match (threadgroup, device) {
            (true, true) => "fence of threadgroup and device memory".into(),
            (true, false) => "fence of threadgroup memory".into(),
            _ => "fence of device memory".into(),
        },
    }
}

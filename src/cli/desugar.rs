//! `smallstep desugar`: a WSL program without sugar, and the steps to it.

use super::exit::Ended;
use super::{exit, input};
use clap::Args;
use serde_json::json;
use smallstep::diagnostic::Diagnostic;
use smallstep::program::Language;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::Span;
use smallstep_semantics::wsl::desugar::desugar;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print_core;
use std::path::PathBuf;

/// Print a WSL program without sugar: what validation and execution see.
#[derive(Args)]
pub(crate) struct Desugar {
    /// A WSL program, or - for standard input.
    file: PathBuf,
    /// List each desugaring with its place instead.
    #[arg(long)]
    steps: bool,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Desugar {
    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let source = input::only(&self.file, Language::Wsl)?;
        let text = source.text();
        let (tree, errors) = parse(text);
        if !errors.is_empty() {
            let text: String = errors.into_iter().map(|error| Diagnostic::from(error).render(&name, text)).collect();
            return input::fail_with(exit::INVALID, &text);
        }
        let (program, steps) = desugar(tree);
        if self.steps {
            self.list(&name, text, &steps);
        } else if self.json {
            say!("{}", json!({"schema": 1, "kind": "program", "file": name, "core": print_core(&program)}));
        } else {
            say_part!("{}", print_core(&program));
        }
        if self.json {
            say!("{}", json!({"schema": 1, "kind": "summary", "file": name, "steps": steps.len(), "exit": exit::DONE}));
        }
        Ok(exit::DONE)
    }

    /// Prints a line for each step in the order of the text: its place, its rule and the effect of
    /// the rule.
    fn list(&self, name: &str, text: &str, steps: &[(Rule, Span)]) {
        let mut steps = steps.to_vec();
        steps.sort_by_key(|(_, span)| (span.start, std::cmp::Reverse(span.end)));
        let (mut at, mut line, mut column) = (0, 1, 1);
        for (rule, span) in steps {
            for c in text[at..span.start as usize].chars() {
                (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            at = span.start as usize;
            if self.json {
                let span = [span.start, span.end];
                say!("{}", json!({"schema": 1, "kind": "step", "rule": rule.name(), "span": span, "line": line, "column": column}));
            } else {
                say!("{name}:{line}:{column} {rule}: {}", rule.statement());
            }
        }
    }
}

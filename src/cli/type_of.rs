//! `smallstep type`: the type of each output, and its derivation.

use super::exit::Ended;
use super::{exit, input, wsl};
use clap::Args;
use serde_json::json;
use smallstep::diagnostic::Diagnostic;
use smallstep::program::Language;
use smallstep_semantics::lambda_v::print::{Printer, print_typed};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::line_column;
use smallstep_semantics::lambda_v::typing::{self, Derivation, Limits, NodeId, StackId, Step};
use std::path::PathBuf;

/// Print the type of a program, and how it is derived.
#[derive(Args)]
pub(crate) struct TypeOf {
    /// A λV or WSL program, or - for standard input.
    file: PathBuf,
    #[command(flatten)]
    reading: input::Reading,
    #[command(flatten)]
    uniformity: super::uniformity::Strictness,
    /// Print the derivation: a line for each node, premises indented under their conclusion, each
    /// node once.
    #[arg(long)]
    derivation: bool,
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl TypeOf {
    pub(crate) fn run(self) -> Ended {
        let name = self.file.display().to_string();
        let source = self.reading.program(&self.file)?;
        let text = source.text();
        match source.language {
            Language::LambdaV => {}
            Language::Wsl => return wsl::type_of(&name, text, &self.uniformity, self.derivation, self.json),
            other => {
                let what = format!("{name}: this is {}, and λV and WSL programs have types here", other.words());
                return input::fail(exit::INVALID, &what);
            }
        }
        let read = Program::read(text).map_err(Diagnostic::from);
        let typed = read.and_then(|p| typing::infer(&p, Limits::default()).map(|d| (p, d)).map_err(Diagnostic::from));
        let (program, derivation) = match typed {
            Ok(typed) => typed,
            Err(d) => {
                let code = if d.code == "lv/limit" { exit::LIMIT } else { exit::INVALID };
                if self.json {
                    let error = json!({"code": d.code, "message": d.message, "span": [d.span.start, d.span.end]});
                    say!("{}", json!({"schema": 1, "kind": "summary", "file": name, "error": error, "exit": code}));
                }
                tell_part!("{}", d.render(&name, text));
                return Ok(code);
            }
        };
        if let Err(e) = typing::check(&derivation) {
            return input::fail(exit::DISAGREE, &format!("the derivation does not check, which is a bug of ours: {e:?}"));
        }
        let show = Show { program: &program, derivation: &derivation, text };
        for (output, ty) in program.outputs.iter().zip(derivation.types()) {
            if self.json {
                say!("{}", json!({"schema": 1, "kind": "output", "location": output.location, "type": ty.to_string()}));
            } else if program.outputs.len() == 1 {
                say!("{ty}");
            } else {
                say!("output {}: {ty}", output.location);
            }
        }
        if self.derivation && self.json {
            for (i, step) in derivation.nodes.iter().enumerate() {
                say!("{}", show.node_json(i as NodeId, step));
            }
        } else if self.derivation {
            for &root in &derivation.roots {
                show.tree(root);
            }
        }
        if self.json {
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "nodes": derivation.nodes.len(), "roots": derivation.roots, "exit": exit::DONE})
            );
        }
        Ok(exit::DONE)
    }
}

struct Show<'a> {
    program: &'a Program,
    derivation: &'a Derivation,
    text: &'a str,
}

impl Show<'_> {
    /// Prints a tree with shared nodes. A node that was printed before is only named. The loop is
    /// not recursive, so deep nesting needs no stack.
    fn tree(&self, root: NodeId) {
        let mut shown = vec![false; self.derivation.nodes.len()];
        let mut todo = vec![(root, 0usize)];
        while let Some((id, depth)) = todo.pop() {
            let step = &self.derivation.nodes[id as usize];
            // Deep trees would consist mostly of spaces.
            let indent = "  ".repeat(depth.min(60));
            if shown[id as usize] && !step.premises.is_empty() {
                say!("{indent}(#{id} above)");
                continue;
            }
            shown[id as usize] = true;
            say!("{indent}#{id} {}   [{}{}]", self.conclusion(step), step.rule, step.rec_match.map_or(String::new(), |r| format!(", {r}")));
            todo.extend(step.premises.iter().rev().map(|&p| (p, depth + 1)));
        }
    }

    fn term(&self, e: smallstep_semantics::lambda_v::terms::TermId) -> String {
        Printer { terms: &self.derivation.terms, symbols: &self.program.symbols, ext: &print_typed, limit: 100 }.print(e)
    }

    fn conclusion(&self, step: &Step) -> String {
        let r = match self.derivation.frame(step.goal.r) {
            None => "∅".to_string(),
            Some(frame) => format!("({})", frame.types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(" ")),
        };
        format!("{r}, {} ⊢ {} : {}", self.stack(step.goal.a), self.term(step.goal.e), step.ty)
    }

    fn stack(&self, mut a: StackId) -> String {
        let mut lists = Vec::new();
        while let Some(stack) = self.derivation.stack(a) {
            let args: Vec<String> = self.derivation.arguments(stack).iter().map(|&e| self.term(e)).collect();
            lists.push(format!("({})", args.join(" ")));
            a = stack.below;
        }
        lists.reverse();
        if lists.is_empty() { "∅".into() } else { format!("({})", lists.join(" ")) }
    }

    fn node_json(&self, id: NodeId, step: &Step) -> serde_json::Value {
        let span = self.derivation.span(id);
        let (line, column) = line_column(self.text, span.start);
        json!({
            "schema": 1, "kind": "node", "id": id, "rule": step.rule.name(), "rec_match": step.rec_match.map(|r| r.name()),
            "conclusion": self.conclusion(step), "type": step.ty.to_string(), "premises": step.premises.as_slice(),
            "line": line, "column": column,
        })
    }
}

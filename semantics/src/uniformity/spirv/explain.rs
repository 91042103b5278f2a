//! Explanations of a rejection, step by step, and the reasons for having no verdict.

use super::{Rejection, Shared, Step};
use crate::spirv;
use crate::spirv::module::{EntryPoint, Module};
use crate::spirv::words;
use crate::uniformity::flow::{Cause, Finding, MAX_MERGES};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;
use std::fmt;

/// An entry point without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoVerdict {
    /// The entry point's name.
    pub entry: String,
    /// The reason.
    pub why: Why,
}

/// The reasons for having no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The number of instructions with all calls inlined, which is too large.
    Instructions(u64),
    /// There are more scalars than [`super::MAX_VALUES`] allows.
    Values,
    /// Nested loops make too many merges.
    Merges,
    /// The place of the pointer with this id is not known.
    Pointer(u32),
}

impl fmt::Display for NoVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no verdict on entry point {:?}: ", self.entry)?;
        match self.why {
            Why::Instructions(count) => {
                write!(f, "with all calls inlined it has {count} instructions, more than {} beyond those of the module", super::MAX_INLINED)
            }
            Why::Values => write!(f, "with all calls inlined its instructions have too many components, more than {}", super::MAX_VALUES),
            Why::Merges => write!(f, "the loops in one another make more than {MAX_MERGES} merges of variables"),
            Why::Pointer(id) => write!(f, "%{id} is no pointer to a known place"),
        }
    }
}

impl std::error::Error for NoVerdict {}

/// The place of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The function, the block and the word.
    pub at: spirv::Place,
    /// The index of the instruction.
    pub instruction: u32,
    /// The instruction as text, such as `%5 = OpLoad`.
    pub text: String,
    /// The source line by OpLine: file, line and column.
    pub source: Option<(String, u32, u32)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, self.at)?;
        match &self.source {
            Some((file, line, column)) => write!(f, " ({file}:{line}:{column})"),
            None => Ok(()),
        }
    }
}

/// Names and source lines. They are collected only if something is rejected.
pub(super) struct Names {
    names: FxHashMap<u32, String>,
    /// By instruction: the OpLine before it in its block, plus 1.
    lines: Vec<u32>,
}

impl Names {
    pub(super) fn new(module: &Module) -> Names {
        let mut names = FxHashMap::default();
        for i in module.instructions().iter().filter(|i| i.is(Op::Name)) {
            let operands = i.operands(module.words());
            if let Ok((name, _)) = words::string_at(&operands[1..]) {
                names.entry(operands[0]).or_insert(name);
            }
        }
        let mut lines = vec![0; module.instructions().len()];
        for block in module.blocks() {
            let mut line = 0;
            for (at, i) in (block.start..).zip(module.code(block)) {
                match i.op {
                    Op::Line => line = at + 1,
                    Op::NoLine => line = 0,
                    _ => lines[at as usize] = line,
                }
            }
        }
        Names { names, lines }
    }

    fn id(&self, id: u32) -> String {
        match self.names.get(&id).filter(|name| !name.is_empty()) {
            Some(name) => format!("%{id} ({name})"),
            None => format!("%{id}"),
        }
    }

    fn place(&self, module: &Module, instruction: u32) -> Place {
        let text = module.instructions().get(instruction as usize).map_or_else(String::new, |i| match i.result {
            0 => i.name(),
            id => format!("%{id} = {}", i.name()),
        });
        let source = self.lines.get(instruction as usize).filter(|line| **line > 0).and_then(|line| {
            let &[file, line, column] = module.instructions()[*line as usize - 1].operands(module.words()) else { return None };
            let (file, _) = words::string_at(module.instruction(file)?.operands(module.words())).ok()?;
            Some((file, line, column))
        });
        Place { at: module.place(instruction as usize), instruction, text, source }
    }
}

/// The message of a finding.
pub(super) fn rejection(shared: &Shared, names: &Names, entry: &EntryPoint, finding: &Finding) -> Rejection {
    let module = shared.module;
    let mut steps: Vec<Step> = Vec::new();
    let mut after_loop = false;
    for hop in &finding.path {
        let (at, text) = match hop.cause {
            Cause::Branch(span) if std::mem::take(&mut after_loop) => {
                (span.start, "which iteration was the last is decided by this branch".to_owned())
            }
            Cause::Branch(span) => (span.start, "which way is taken is decided by this branch".to_owned()),
            Cause::Value(span) => (span.start, "this depends on its operands".to_owned()),
            Cause::Merge(at) => {
                let id = module.instructions().get(at as usize).map_or(0, |i| i.result);
                (at, format!("{} depends on the way that was taken", names.id(id)))
            }
            Cause::Varying(_, span) => (span.start, format!("this is {}", finding.what)),
            Cause::After => {
                after_loop = true;
                continue;
            }
            Cause::Must | Cause::Cannot | Cause::Call | Cause::Control | Cause::Loop | Cause::Same | Cause::Input(_) => continue,
        };
        match steps.last_mut() {
            // One step for each place.
            Some(last) if last.span.instruction == at && !matches!(hop.cause, Cause::Varying(..)) => last.rule = hop.rule,
            _ => steps.push(Step { span: names.place(module, at), rule: hop.rule, text }),
        }
    }
    Rejection { function: entry.name.clone(), need: finding.need, span: names.place(module, finding.span.start), steps }
}

//! The texts of instructions, invocations and undefined behaviour in messages.

use smallstep_semantics::spirv::Module;
use smallstep_semantics::spirv::environment::{InvocationId, UndefinedBytes};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::undefined::{Site, Ub, Undefined};

use super::ComputeModule;

/// An invocation by its coordinates, such as `(3,0,0)`.
pub fn invocation([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

/// The instruction with that index, such as `%17 = OpSDiv`.
pub fn instruction(module: &Module, index: u32) -> String {
    match module.instructions().get(index as usize) {
        Some(i) if i.result != 0 => format!("%{} = {}", i.result, i.name()),
        Some(i) => i.name(),
        None => format!("instruction {index}"),
    }
}

/// The invocations that may be the origin of an undefined value.
#[derive(Clone, Copy)]
pub enum Invocations<'m> {
    /// The invocations of a dispatch with this number of workgroups.
    OfDispatch(&'m ComputeModule, [u32; 3]),
    /// The invocations of a fragment stage with this module, as lanes of quads.
    OfFragments(&'m Module),
}

impl<'m> Invocations<'m> {
    /// The module that they run.
    pub fn module(self) -> &'m Module {
        match self {
            Invocations::OfDispatch(module, _) => &module.module,
            Invocations::OfFragments(module) => module,
        }
    }

    /// The text of an invocation: `invocation (0,0,0)` or `lane 2 of quad 5`.
    pub fn text(self, invocation_id: InvocationId) -> String {
        match self {
            Invocations::OfDispatch(module, groups) => {
                format!("invocation {}", invocation(module.global(groups, invocation_id.workgroup, invocation_id.local)))
            }
            Invocations::OfFragments(_) => format!("lane {} of quad {}", invocation_id.local, invocation_id.workgroup),
        }
    }

    /// The origin of an undefined value, such as `%17 = OpUndef by invocation (0,0,0)`.
    pub fn origin(self, bytes: &UndefinedBytes) -> String {
        format!("{} by {}", instruction(self.module(), bytes.made_at), self.text(bytes.made_by))
    }
}

/// An id by its name, such as `%main`, or by its number.
pub fn id(module: &Module, id: u32) -> String {
    module.name(id).map_or_else(|| format!("%{id}"), |name| format!("%{name}"))
}

/// The report of undefined behaviour, on several lines. It names the fault, the place, the source
/// line if OpLine gives it, the line of the assembly if it is known, and the clause.
pub fn undefined(module: &Module, undefined: &Undefined, assembly: Option<&AssemblyLines>) -> String {
    let mut text = format!("undefined[{}]: {}", undefined.ub.id(), undefined.what);
    match &undefined.site {
        None => text += &format!("\n  {}", undefined.at),
        Some(site) => {
            text += &format!("\n  {}", place(module, site, assembly, "\n  "));
            for call in site.calls.iter().take(MAX_CALLS) {
                text += &format!("\n  called in {}, block {}", id(module, call.function), id(module, call.block));
                text += &lines(module, call.instruction, call.line.as_ref(), assembly, "\n    ");
            }
            if let Some(more) = site.calls.len().checked_sub(MAX_CALLS).filter(|more| *more > 0) {
                text += &format!("\n  and within {more} more calls");
            }
            if let Some(earlier) = &site.earlier {
                text += &format!("\n  with the access {}", place(module, earlier, assembly, "\n    "));
            }
        }
    }
    text += &format!("\n  {}", undefined.ub.clause());
    if let Some(help) = help(undefined.ub) {
        text += &format!("\n  help: {help}");
    }
    text
}

/// Advice against this kind of undefined behaviour, if there is any.
fn help(ub: Ub) -> Option<&'static str> {
    match ub {
        Ub::DataRace => Some("make both accesses atomic, or order them: by a barrier, or by a release and an acquire whose scope has both"),
        Ub::DivergentBarrier => Some("all invocations of the workgroup must come to the same barrier, or none"),
        Ub::UndeclaredAlias => Some("decorate both variables Aliased"),
        Ub::DescriptorNotUniform => Some("decorate the operand NonUniform, or give all invocations the same index"),
        _ => None,
    }
}

/// A place in a report: its parts, and after `newline` each known source line.
fn place(module: &Module, site: &Site, assembly: Option<&AssemblyLines>, newline: &str) -> String {
    let (function, block) = (id(module, site.function), id(module, site.block));
    let mut text = format!("in {function}, block {block}, invocation {}", invocation(site.global));
    if let Some(step) = site.step {
        text += &format!(", step {step}");
    }
    text + &lines(module, site.instruction, site.line.as_ref(), assembly, newline)
}

/// The source line and the assembly line of an instruction, if they are known, each
/// after `newline`.
fn lines(
    module: &Module,
    instruction: u32,
    source_line: Option<&(String, u32, u32)>,
    assembly: Option<&AssemblyLines>,
    newline: &str,
) -> String {
    let mut text = String::new();
    if let Some((file, line, column)) = source_line {
        text += &format!("{newline}source {file}:{line}:{column}");
        let source = module.source_text(file);
        let shown = source.as_ref().and_then(|source| source.lines().nth((*line as usize).checked_sub(1)?));
        text += &shown.map(|shown| excerpt(*line, shown, *column, newline)).unwrap_or_default();
    }
    if let Some(lines) = assembly
        && let Some(place) = lines.place(instruction)
    {
        text += &format!("{newline}at {place}");
        let shown = lines.text(instruction).zip(lines.of(instruction));
        text += &shown.map(|(shown, line)| excerpt(line, shown, 0, newline)).unwrap_or_default();
    }
    text
}

/// The most calls that a report lists.
const MAX_CALLS: usize = 16;

/// The longest excerpt of a line, in characters.
const EXCERPT: usize = 120;

/// A source line with a mark under the statement that begins at a column, from 1. Column 0 marks
/// the whole line.
fn excerpt(line: u32, text: &str, column: u32, newline: &str) -> String {
    let text: Vec<char> = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let blank = text.iter().take_while(|c| **c == ' ').count();
    let marked = if column == 0 { blank } else { (column as usize - 1).min(text.len()) };
    // The beginning of a long line is left out.
    let first = if marked + EXCERPT / 4 > EXCERPT { marked - EXCERPT / 4 } else { blank.min(marked) };
    let shown: String = text[first..].iter().take(EXCERPT).collect();
    let end = text[marked..].iter().position(|c| *c == ';').map_or(text.len(), |at| marked + at);
    let marks = "^".repeat(end.saturating_sub(marked).clamp(1, EXCERPT - (marked - first)));
    let number = line.to_string();
    let gap = " ".repeat(number.len());
    format!("{newline}  {number} │ {shown}{newline}  {gap} │ {}{marks}", " ".repeat(marked - first))
}

/// The line of the assembly text for each instruction of a function.
///
/// Only functions are mapped, from the end of the text. The text before them changes when
/// specialization constants are frozen and sections are put in order.
#[derive(Clone, Debug, PartialEq)]
pub struct AssemblyLines {
    name: String,
    /// The index of the first mapped instruction.
    first: usize,
    lines: Vec<u32>,
    texts: Vec<String>,
}

impl AssemblyLines {
    /// Maps the lines of the text that a module was assembled from. `None` unless every instruction
    /// of its functions begins a line of its own.
    pub fn new(name: &str, text: &str, module: &Module) -> Option<AssemblyLines> {
        let first = module.instructions().iter().position(|i| i.is(Op::Function))?;
        let opcodes = text.lines().zip(1u32..).filter_map(|(line, number)| {
            let mut words = line.split(';').next()?.split_whitespace();
            let word = words.next()?;
            let opcode = if word.starts_with('%') { words.nth(1)? } else { word };
            Some((opcode, (number, line)))
        });
        let lines: Vec<(&str, (u32, &str))> = opcodes.skip_while(|(opcode, _)| *opcode != "OpFunction").collect();
        let functions = &module.instructions()[first..];
        let matches = lines.len() == functions.len() && lines.iter().zip(functions).all(|((opcode, _), i)| *opcode == i.name());
        matches.then(|| AssemblyLines {
            name: name.into(),
            first,
            lines: lines.iter().map(|(_, (number, _))| *number).collect(),
            texts: lines.iter().map(|(_, (_, text))| text.to_string()).collect(),
        })
    }

    /// The same map for a text that begins at line `first` of a larger text, from 1.
    pub fn beginning_at(mut self, first: u32) -> AssemblyLines {
        for line in &mut self.lines {
            *line += first.saturating_sub(1);
        }
        self
    }

    /// The file and line of an instruction, such as `a.spvasm:12`.
    pub fn place(&self, instruction: u32) -> Option<String> {
        Some(format!("{}:{}", self.name, self.of(instruction)?))
    }

    /// The text of the line of an instruction.
    fn text(&self, instruction: u32) -> Option<&str> {
        self.texts.get((instruction as usize).checked_sub(self.first)?).map(String::as_str)
    }

    /// The line of an instruction, from 1.
    pub fn of(&self, instruction: u32) -> Option<u32> {
        self.lines.get((instruction as usize).checked_sub(self.first)?).copied()
    }
}

//! Entry points: the arguments and results of a stage (seed 004 "Entry Points", "Arguments and
//! Return Types", "Built-in Variables").

pub mod bucket;
pub mod flatten;

use crate::outcome::{InputFault, InvalidInput};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::environment::{Builder, FunctionId, Semantic};
use crate::wsl::error::Error;
use crate::wsl::syntax::{FunctionKind, IntLiteral, Qualifier};
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::Program;
use smallvec::SmallVec;

/// The most items that an entry point's arguments or results are flattened to.
pub const MAX_ITEMS: usize = 10_000;
/// The most items that all entry points of a program are flattened to together.
pub const MAX_ALL_ITEMS: usize = 1_000_000;

/// A stage of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex shaders.
    Vertex,
    /// Fragment shaders.
    Fragment,
    /// Compute shaders, with the size of their threadgroups.
    Compute([u32; 3]),
}

impl Stage {
    /// The keyword of the stage.
    pub fn keyword(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Compute(_) => "compute",
        }
    }
}

/// Whether an item is an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// An argument.
    In,
    /// A result.
    Out,
}

/// A flattened argument or result. It is no structure, but may be a member of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The index of the parameter that it is or belongs to. `None` for a result.
    pub parameter: Option<u32>,
    /// The indices of the fields that lead to it. Empty if it is no member.
    pub path: SmallVec<[u32; 4]>,
    /// Its name. `None` for a result that is no member.
    pub name: Option<Symbol>,
    /// Its type.
    pub ty: TypeId,
    /// Its interpolation qualifiers.
    pub qualifiers: SmallVec<[Qualifier; 2]>,
    /// Its semantic.
    pub semantic: Option<(Semantic, Span)>,
    /// Where it is declared.
    pub span: Span,
}

/// An entry point, with its arguments and results.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryPoint {
    /// The function.
    pub function: FunctionId,
    /// Its stage.
    pub stage: Stage,
    /// Its flattened arguments.
    pub inputs: Vec<Item>,
    /// Its flattened results.
    pub outputs: Vec<Item>,
}

/// Checks the entry points of an environment. Returns all of them.
pub fn entry_points(b: &mut Builder) -> Vec<EntryPoint> {
    let mut out = Vec::new();
    let mut items = 0;
    for i in 0..b.env.functions.len() {
        let id = FunctionId(i as u32);
        let stage = match b.env.function(id).kind {
            FunctionKind::Normal | FunctionKind::Cast => continue,
            FunctionKind::Vertex => Stage::Vertex,
            FunctionKind::Fragment => Stage::Fragment,
            FunctionKind::Compute(threads, span) => Stage::Compute(ep_numthreads(b, &threads, span)),
        };
        let f = b.env.function(id).clone();
        if items > MAX_ALL_ITEMS {
            let message =
                format!("the entry points before this one flatten to more than {MAX_ALL_ITEMS} items, which is the most that is read");
            b.errors.push(Error::new(Rule::WslEpBucket, f.name.span, message));
            break;
        }
        let inputs = flatten::arguments(b, &f);
        let outputs = flatten::results(b, &f);
        items += inputs.items.len() + outputs.items.len();
        for (side, direction) in [(&inputs, Direction::In), (&outputs, Direction::Out)] {
            flatten::ep_same_name(b, &side.items);
            // A semantic requires its type wherever it is written. No semantic has the type of a
            // structure or `void`, so these are errors.
            for item in side.items.iter().chain(&side.marked) {
                bucket::check(b, item, stage, direction);
            }
        }
        flatten::ep_single(b, &inputs.items, &outputs.items);
        out.push(EntryPoint { function: id, stage, inputs: inputs.items, outputs: outputs.items });
    }
    out
}

/// The entry point of that stage and name. Without a name, the only one of that stage. The thread
/// counts of a compute stage do not matter.
///
/// # Errors
/// If there is none, if several have that name, or if there are several and no name is given.
pub fn entry_of<'p>(program: &'p Program, stage: Stage, name: Option<&str>) -> Result<&'p EntryPoint, InvalidInput> {
    let named = |e: &EntryPoint| program.env.names.name(program.env.function(e.function).name.name);
    let word = stage.keyword();
    let all: Vec<&EntryPoint> = program.entry_points.iter().filter(|e| e.stage.keyword() == word).collect();
    let names = || all.iter().map(|e| named(e)).collect::<Vec<_>>().join(", ");
    let found: Vec<&EntryPoint> = all.iter().copied().filter(|e| name.is_none_or(|name| named(e) == name)).collect();
    match (name, &found[..]) {
        (_, &[only]) => Ok(only),
        _ if all.is_empty() => Err(InvalidInput::new(InputFault::EntryPoint, format!("the program has no {word} entry point"))),
        (Some(name), []) => {
            Err(InvalidInput::new(InputFault::EntryPoint, format!("no {word} entry point is called {name}; there are: {}", names())))
        }
        (Some(name), several) => {
            let each: Vec<String> = several.iter().map(|e| program.env.signature(e.function)).collect();
            Err(InvalidInput::new(
                InputFault::EntryPoint,
                format!("several {word} entry points are called {name}, which does not say which is meant: {}", each.join("; ")),
            ))
        }
        (None, _) => Err(InvalidInput::new(
            InputFault::EntryPoint,
            format!("there are several {word} entry points: {}; say which with --entry", names()),
        )),
    }
}

/// the numbers of threads of a group are positive and fit in 32 bits
///                                         [wsl/ep-numthreads, 004 Top-level declarations; WSL-B13]
pub fn ep_numthreads(b: &mut Builder, threads: &[IntLiteral; 3], span: Span) -> [u32; 3] {
    threads.map(|n| {
        let value = n.as_uint().filter(|n| *n > 0);
        b.require(Rule::WslEpNumthreads, value.is_some(), |_| {
            let found = n.value().map_or("more than 64 bits".to_string(), |v| v.to_string());
            Error::new(
                Rule::WslEpNumthreads,
                span,
                format!("a number of threads is {found}; the rule needs a positive integer that fits in 32 bits"),
            )
        });
        value.unwrap_or(1)
    })
}

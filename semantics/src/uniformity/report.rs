//! What an analysis finds: metadata of each function, and why a program is rejected.

use super::table::{self, Need};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::error::Error;
use crate::wsl::typing::program::{ExprId, Program};

/// Which analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The algorithm of seed 001 with its unsound parts mended.
    Seed,
    /// The most precise one.
    Precise,
}

/// What a function asks of the argument for a parameter, and what depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// The function can only be called with a uniform value (`mustBeUniform_i`).
    MustBeUniform(Need),
    /// The result is uniform only if the value is (`conditionallyUniform_i`).
    Conditionally,
    /// Nothing depends on it.
    Free,
}

/// Control flow behind a call, in uniform control flow before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every invocation comes back: the function cannot discard.
    AsEntry,
    /// All invocations or none come back, if the arguments for these parameters are uniform.
    IfUniform(Vec<u32>),
    /// Some may discard and others not.
    Varies,
}

/// What is known of a function where it is called: seed 001 "Function validation".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Why it can only be called in uniform control flow, if so (`CF_mustBeUniform`).
    pub control: Option<Need>,
    /// Each parameter.
    pub parameters: Vec<Parameter>,
    /// Whether its result is uniform in some context (`canBeUniform_return`); false of `void`.
    pub result: bool,
    /// Control flow behind a call.
    pub exit: Exit,
    /// For each parameter that points into the thread's memory and through which the function may
    /// store: the parameters that must be uniform for what it points to to be uniform; none if that
    /// may differ anyway. In `seed`, what has an address is never uniform, so there is nothing.
    pub stores: Vec<(u32, Option<Vec<u32>>)>,
}

/// A step of an explanation. A place is a span of a text in WSL; another language has its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P = Span> {
    /// Where.
    pub span: P,
    /// The rule by which it leads to the next step; none of the last.
    pub rule: Option<Rule>,
    /// What is there, in lower case without full stop.
    pub text: String,
}

/// Why a program is rejected: a barrier or derivative whose control flow may differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection<F = FunctionId, P = Span> {
    /// The function in which it is found. The barrier or derivative may be in one that it calls.
    pub function: F,
    /// What needs uniform control flow.
    pub need: Need,
    /// The barrier or derivative.
    pub span: P,
    /// From there to what differs between invocations.
    pub steps: Vec<Step<P>>,
}

/// What an analysis finds.
#[derive(Clone, Debug)]
pub struct Analysis<F = FunctionId, P = Span> {
    /// The metadata of each function of the environment.
    pub functions: Vec<Metadata>,
    /// Why the program is rejected; it is accepted if there is nothing.
    pub rejections: Vec<Rejection<F, P>>,
    /// The nodes of all graphs together.
    pub nodes: usize,
    /// Their edges.
    pub edges: usize,
    /// The rules that were used, in registry order.
    pub fired: Vec<Rule>,
    /// Where a rule is missing or a search does not end, and how: only of rules by the letter.
    pub stuck: Option<(Span, String)>,
}

impl<F, P> Analysis<F, P> {
    /// Whether the program is accepted.
    pub fn accepts(&self) -> bool {
        self.rejections.is_empty() && self.stuck.is_none()
    }
}

impl<F, P> Default for Analysis<F, P> {
    fn default() -> Analysis<F, P> {
        Analysis { functions: Vec::new(), rejections: Vec::new(), nodes: 0, edges: 0, fired: Vec::new(), stuck: None }
    }
}

impl Default for Metadata {
    fn default() -> Metadata {
        Metadata { control: None, parameters: Vec::new(), result: false, exit: Exit::AsEntry, stores: Vec::new() }
    }
}

impl Metadata {
    /// What it says of a function of these parameters, in words.
    pub fn text(&self, parameters: &[&str], is_void: bool) -> String {
        let mut parts = Vec::new();
        if let Some(need) = self.control {
            parts.push(format!("called in uniform control flow ({})", need.noun()));
        }
        for (name, parameter) in parameters.iter().zip(&self.parameters) {
            match parameter {
                Parameter::MustBeUniform(need) => parts.push(format!("`{name}` must be uniform ({})", need.noun())),
                Parameter::Conditionally if self.result => parts.push(format!("the result needs `{name}`")),
                Parameter::Conditionally | Parameter::Free => {}
            }
        }
        if !is_void {
            parts.push(if self.result { "the result can be uniform".into() } else { "the result may differ".into() });
        }
        match &self.exit {
            Exit::AsEntry => {}
            Exit::IfUniform(of) if of.is_empty() => parts.push("all discard or none".into()),
            Exit::IfUniform(of) => {
                let names: Vec<String> = of.iter().map(|i| format!("`{}`", parameters[*i as usize])).collect();
                parts.push(format!("all discard or none if {} is uniform", names.join(" and ")));
            }
            Exit::Varies => parts.push("some may discard".into()),
        }
        for (pointer, of) in &self.stores {
            let names = |of: &[u32]| of.iter().map(|i| format!("`{}`", parameters[*i as usize])).collect::<Vec<_>>().join(" and ");
            let pointer = parameters[*pointer as usize];
            parts.push(match of {
                None => format!("what `{pointer}` points to may differ"),
                Some(of) if of.is_empty() => format!("what `{pointer}` points to can be uniform"),
                Some(of) => format!("what `{pointer}` points to needs {}", names(of)),
            });
        }
        if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
    }
}

/// The function that a callee runs, if the program declares it: the address-taker, of an accessor
/// generated from one.
pub fn declared(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Declared(f) | Callee::Generated(Generated::Getter(f) | Generated::Setter(f)) => Some(f),
        Callee::Library(_) | Callee::Generated(_) => None,
    }
}

/// By function: whether it runs in groups of one invocation only ([`table::single`]), in which
/// everything is uniform. A function that no entry point calls does not.
pub fn alone(program: &Program) -> Vec<bool> {
    let count = program.bodies.len();
    let (mut by_single, mut by_other) = (vec![false; count], vec![false; count]);
    for entry in &program.entry_points {
        let of = if table::single(entry.stage) { &mut by_single } else { &mut by_other };
        of[entry.function.0 as usize] = true;
    }
    if !by_single.contains(&true) {
        return by_single;
    }
    // Callers stand behind what they call.
    for &f in program.order.iter().rev() {
        let (single, other) = (by_single[f.0 as usize], by_other[f.0 as usize]);
        if single || other {
            for callee in program.body(f).exprs.clone().flat_map(|e| program.callees(ExprId(e))).filter_map(declared) {
                by_single[callee.0 as usize] |= single;
                by_other[callee.0 as usize] |= other;
            }
        }
    }
    by_single.iter().zip(&by_other).map(|(single, other)| *single && !other).collect()
}

impl Rejection {
    /// The rejection as an error of validation, with a note for each step.
    pub fn error(&self) -> Error {
        let (noun, scope) = (self.need.noun(), self.need.scope());
        let message = format!("this {noun} needs control flow that is uniform in the {scope}, and some invocations may not come to it");
        let error = Error::new(Rule::UniformityFlowNeed, self.span, message);
        (1..).zip(&self.steps).fold(error, |error, (n, step)| error.note(Some(step.span), format!("{n}: {}", step.text)))
    }
}

impl Analysis {
    /// The rejections as errors of validation.
    pub fn errors(&self) -> Vec<Error> {
        crate::wsl::error::limited(self.rejections.iter().map(Rejection::error).collect())
    }
}

//! The result of an analysis: metadata of each function, and the reasons why a program is rejected.

use super::table::{self, Need};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::error::Error;
use crate::wsl::typing::program::{ExprId, Program};

/// The analysis to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The algorithm of seed 001 with its unsound parts mended.
    Seed,
    /// The analysis over control-flow graphs, which is more precise.
    Precise,
}

/// The requirement of a function on an argument, and the effect of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// The function may only be called with a uniform argument (`mustBeUniform_i`).
    MustBeUniform(Need),
    /// The result is uniform only if the argument is (`conditionallyUniform_i`).
    Conditionally,
    /// Neither a requirement nor the result depends on it.
    Free,
}

/// Control flow after a call, if the control flow before it is uniform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every invocation returns: the function cannot discard.
    AsEntry,
    /// All invocations return or none does, if the arguments for these parameters are uniform.
    IfUniform(Vec<u32>),
    /// Some invocations may discard while others return.
    Varies,
}

/// The facts of a function that its callers use: seed 001 "Function validation".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The kind of operation for which it may only be called in uniform control flow
    /// (`CF_mustBeUniform`), if there is one.
    pub control: Option<Need>,
    /// By parameter, its requirement.
    pub parameters: Vec<Parameter>,
    /// Whether its result is uniform in some context (`canBeUniform_return`). False for `void`.
    pub result: bool,
    /// Control flow after a call.
    pub exit: Exit,
    /// An entry for each parameter that points into the thread's memory and through which the
    /// function may store: the parameters that must be uniform for the target to be uniform. `None`
    /// if the target may differ anyway. Empty in `seed`, where a variable whose address is taken is
    /// never uniform.
    pub stores: Vec<(u32, Option<Vec<u32>>)>,
}

/// A step of an explanation. In WSL a place is a span of a text. Other languages have their
/// own type.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P = Span> {
    /// The place of the step.
    pub span: P,
    /// The rule by which it leads to the next step. `None` for the last step.
    pub rule: Option<Rule>,
    /// The description, in lower case without full stop.
    pub text: String,
}

/// A reason why a program is rejected: a barrier or derivative whose control flow may differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection<F = FunctionId, P = Span> {
    /// The function of the finding. The barrier or derivative may be in a function that it calls.
    pub function: F,
    /// The kind of operation.
    pub need: Need,
    /// The place of the barrier or derivative.
    pub span: P,
    /// The steps from the operation to a value that differs between invocations.
    pub steps: Vec<Step<P>>,
}

/// The result of an analysis.
#[derive(Clone, Debug)]
pub struct Analysis<F = FunctionId, P = Span> {
    /// The metadata of each function of the environment.
    pub functions: Vec<Metadata>,
    /// Why the program is rejected. It is accepted if this is empty and `stuck` is `None`.
    pub rejections: Vec<Rejection<F, P>>,
    /// The number of nodes of all graphs.
    pub nodes: usize,
    /// The number of edges of all graphs.
    pub edges: usize,
    /// The rules that added an edge or applied, in registry order.
    pub fired: Vec<Rule>,
    /// The first place where a rule is missing or a search does not end, and a description. Only by
    /// rules taken literally.
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
    /// The metadata in words, given the names of the function's parameters.
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

/// The function that a callee runs, if the program declares it. For an accessor generated from an
/// address-taker, that address-taker.
pub fn declared(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Declared(f) | Callee::Generated(Generated::Getter(f) | Generated::Setter(f)) => Some(f),
        Callee::Library(_) | Callee::Generated(_) => None,
    }
}

/// By function: whether it only runs in groups of one invocation ([`table::single`]), where
/// everything is uniform. False for a function that no entry point calls.
pub fn runs_alone(program: &Program) -> Vec<bool> {
    let count = program.bodies.len();
    let (mut by_single, mut by_other) = (vec![false; count], vec![false; count]);
    for entry in &program.entry_points {
        let called = if table::single(entry.stage) { &mut by_single } else { &mut by_other };
        called[entry.function.0 as usize] = true;
    }
    if !by_single.contains(&true) {
        return by_single;
    }
    // Callers come after their callees in `order`, so callers come first here.
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

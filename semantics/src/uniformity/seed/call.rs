//! Calls: seed 001 "Expressions", function call.

use super::{Cx, Differs, NodeMeaning, Requirement};
use crate::rule::Rule;
use crate::text::Span;
use crate::uniformity::graph::Node;
use crate::uniformity::report::{Exit, Parameter};
use crate::uniformity::table::{self, ResultUniformity};
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::library::LibraryFunction;
use crate::wsl::types::TypeId;

impl Cx<'_> {
    /// A call of any function with these arguments.
    pub(super) fn apply(&mut self, callee: Callee, arguments: &[Node], cf: &mut Node, span: Span) -> Node {
        match callee {
            Callee::Declared(f) => call(self, f, arguments, cf, span),
            Callee::Library(f) => call_library(self, f, arguments, *cf, span),
            Callee::Generated(Generated::Getter(f) | Generated::Setter(f)) => call_address_taker(self, f, arguments, cf, span),
            Callee::Generated(_) => call_generated(self, arguments, *cf, span),
        }
    }

    /// A result that depends on control flow and all arguments.
    fn of_arguments(&mut self, rule: Rule, arguments: &[Node], cf: Node, span: Span) -> Node {
        let result = self.node(NodeMeaning::Value, span);
        for &argument in arguments {
            self.imply(rule, 0, result, argument);
        }
        self.imply(rule, 1, result, cf);
        result
    }
}

/// G, CF ⊢ ei : Ci and f's metadata in G give must ⇒ CF if CF_mustBeUniform, must ⇒ Ci if
/// mustBeUniform_i, and G, CF ⊢ f(e1, …) : result ⇒ {CF, Ci if conditionallyUniform_i} if
/// canBeUniform_return, else cannot; behind it is CF' if f may discard [uniformity/call, 001
/// Expressions; U-6]
fn call(cx: &mut Cx, f: FunctionId, arguments: &[Node], cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityCall;
    cx.fire(rule);
    let metadata = &cx.known[f.0 as usize].metadata;
    if let Some(need) = metadata.control {
        cx.require(rule, 0, need, Some((f, Requirement::Control)), *cf, span);
    }
    let result = match metadata.result {
        true => {
            let result = cx.node(NodeMeaning::Result(f), span);
            cx.imply(rule, 1, result, *cf);
            result
        }
        false if cx.program.env.function(f).result == TypeId::VOID => *cf,
        false => cx.differs(rule, 2, Differs::Callee(f), span),
    };
    for (i, (&argument, parameter)) in arguments.iter().zip(&metadata.parameters).enumerate() {
        match *parameter {
            Parameter::MustBeUniform(need) => cx.require(rule, 3, need, Some((f, Requirement::Argument(i as u32))), argument, span),
            Parameter::Conditionally if metadata.result => cx.imply(rule, 4, result, argument),
            Parameter::Conditionally | Parameter::Free => {}
        }
    }
    let conditions: &[u32] = match &metadata.exit {
        Exit::AsEntry => return result,
        Exit::IfUniform(parameters) => parameters,
        Exit::Varies => &[],
    };
    let after_call = cx.node(NodeMeaning::AfterCall(f), span);
    cx.imply(rule, 5, after_call, *cf);
    for &i in conditions {
        cx.imply(rule, 6, after_call, arguments[i as usize]);
    }
    if metadata.exit == Exit::Varies {
        cx.imply(rule, 7, after_call, cx.cannot);
    }
    cx.discarded.push(after_call);
    *cf = after_call;
    result
}

/// G, CF ⊢ ei : Ci gives must ⇒ CF if f is a barrier or derivative, and G, CF ⊢ f(e1, …) : result ⇒
/// {CF, Ci}, or cannot by the table [uniformity/call-library, 001 Expressions; U-6]
fn call_library(cx: &mut Cx, f: LibraryFunction, arguments: &[Node], cf: Node, span: Span) -> Node {
    let rule = Rule::UniformityCallLibrary;
    cx.fire(rule);
    if let Some(need) = table::need(f.meaning()) {
        cx.require(rule, 2, need, None, cf, span);
    }
    match table::result(&cx.program.env.types, f) {
        ResultUniformity::AsArguments => cx.of_arguments(rule, arguments, cf, span),
        ResultUniformity::Varies => cx.differs(rule, 3, Differs::Library, span),
    }
}

/// G, CF ⊢ ei : Ci and result ⇒ {CF, Ci} give G, CF ⊢ operator.f(e1, …) : result, f a field of a
/// structure, and \[\] of an array likewise [uniformity/call-generated, 001 Expressions; U-6]
fn call_generated(cx: &mut Cx, arguments: &[Node], cf: Node, span: Span) -> Node {
    cx.fire(Rule::UniformityCallGenerated);
    cx.of_arguments(Rule::UniformityCallGenerated, arguments, cf, span)
}

/// an accessor generated from operator&.f calls it, and gives cannot
/// [uniformity/call-address-taker, 001 Expressions; U-6]
fn call_address_taker(cx: &mut Cx, f: FunctionId, arguments: &[Node], cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityCallAddressTaker;
    cx.fire(rule);
    // The first argument is stored in a variable, whose address is passed.
    let pointer = *cf;
    let index = arguments.get(1).copied().filter(|_| cx.program.body(f).parameters.len() == 2);
    let given: Vec<Node> = std::iter::once(pointer).chain(index).collect();
    call(cx, f, &given, cf, span);
    cx.differs(rule, 0, Differs::Pointer, span)
}

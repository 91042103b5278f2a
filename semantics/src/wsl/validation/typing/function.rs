//! Functions: seed 004 "Typing of functions".

use super::Checker;
use super::behaviour::{Behaviour, Behaviours};
use super::program::{Body, StmtId, StoreId};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::environment::{Function, FunctionId};
use crate::wsl::error::Error;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::TypeId;
use rustc_hash::FxHashMap;

impl Checker<'_> {
    /// Types every function of the environment. A function with a wrong body has `None`.
    pub fn functions(&mut self) -> Vec<Option<Body>> {
        (0..self.builder.env.functions.len()).map(|i| self.function(FunctionId(i as u32))).collect()
    }

    fn function(&mut self, id: FunctionId) -> Option<Body> {
        let f = self.builder.env.function(id).clone();
        let starts = (self.program.exprs.len() as u32, self.program.stmts.len() as u32, self.program.stores.len() as u32);
        self.result = f.result;
        self.returns = 0;
        self.inner_return = false;
        v_function_parameters(self, &f);
        self.scope.enter();
        let parameters = v_function_bound(self, &f);
        let block = v_function_body(self, &f);
        self.scope.leave();
        Some(Body {
            block: block?,
            parameters,
            exprs: starts.0..self.program.exprs.len() as u32,
            stmts: starts.1..self.program.stmts.len() as u32,
            stores: starts.2..self.program.stores.len() as u32,
        })
    }
}

/// the parameters of a function have distinct names
///                                           [wsl/v-function-parameters, 004 Typing of functions 1]
pub fn v_function_parameters(c: &mut Checker, f: &Function) {
    let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
    for p in &f.parameters {
        let first = seen.insert(p.name, p.span);
        c.builder.require(Rule::WslVFunctionParameters, first.is_none(), |env| {
            let text = env.names.name(p.name);
            Error::new(
                Rule::WslVFunctionParameters,
                p.span,
                format!("there is already a parameter `{text}`; the rule needs distinct names"),
            )
            .note(first, "the first one is declared here")
        });
    }
}

/// a parameter of type T is a left-value of type T in thread
///                                     [wsl/v-function-bound, 004 Typing of functions 2, 3; WSL-C2]
pub fn v_function_bound(c: &mut Checker, f: &Function) -> Vec<StoreId> {
    let mut stores = Vec::with_capacity(f.parameters.len());
    for p in &f.parameters {
        c.fire(Rule::WslVFunctionBound);
        let store = c.store(p.ty, AddressSpace::Thread, p.span);
        c.scope.bind(p.name, Some(store), p.span);
        stores.push(store);
    }
    stores
}

/// the body is well-typed as a block, and its behaviours include neither Break nor Continue nor
/// Fallthrough                                  [wsl/v-function-body, 004 Typing of functions 4, 5]
pub fn v_function_body(c: &mut Checker, f: &Function) -> Option<StmtId> {
    let (block, behaviours) = c.stmt(f.body);
    for (b, keyword) in [(Behaviour::Break, "break"), (Behaviour::Continue, "continue"), (Behaviour::Fallthrough, "fallthrough")] {
        c.builder.require(Rule::WslVFunctionBody, !behaviours.has(b), |env| {
            let text = env.names.name(f.name.name);
            Error::new(
                Rule::WslVFunctionBody,
                f.name.span,
                format!("`{text}` has a {keyword} outside of what it could {}", possible_use(b)),
            )
        });
    }
    v_function_nothing(c, f, behaviours, block.is_some());
    block
}

fn possible_use(b: Behaviour) -> &'static str {
    match b {
        Behaviour::Break => "end: a loop or a switch",
        Behaviour::Continue => "go on with: a loop",
        _ => "leave: a case with another one after it",
    }
}

/// a function returns values of its own return type only
///                                               [wsl/v-function-return, 004 Typing of functions 6]
pub fn v_function_return(c: &mut Checker, ty: TypeId, span: Span) {
    let (found, needed) = (c.name(ty), c.name(c.result));
    let holds = ty == c.result;
    c.builder.require(Rule::WslVFunctionReturn, holds, |_| {
        Error::new(Rule::WslVFunctionReturn, span, format!("a value of type {found} is returned; the function's return type is {needed}"))
    });
    let result = c.result;
    if c.builder.contains_opaque(result) {
        c.returns += 1;
        v_return_opaque(c, span);
    }
}

/// a function that returns a sampler or a texture has one return
///                                                    [wsl/v-return-opaque, 004 Samplers, Textures]
pub fn v_return_opaque(c: &mut Checker, span: Span) {
    let one = c.returns <= 1;
    c.builder.require(Rule::WslVReturnOpaque, one, |_| {
        Error::new(
            Rule::WslVReturnOpaque,
            span,
            "this is another return of a function that returns a sampler or a texture; the rule needs one",
        )
    });
}

/// the end of a function that returns a value is never reached
///                                              [wsl/v-function-nothing, 004 Typing of functions 7]
///
/// Nothing is reported if the body has another error.
pub fn v_function_nothing(c: &mut Checker, f: &Function, behaviours: Behaviours, right: bool) {
    let holds = f.result == TypeId::VOID || !behaviours.has(Behaviour::Nothing) || !right;
    c.builder.require(Rule::WslVFunctionNothing, holds, |env| {
        let (text, ty) = (env.names.name(f.name.name), env.type_name(f.result));
        Error::new(
            Rule::WslVFunctionNothing,
            f.name.span,
            format!("the end of `{text}` may be reached; the rule needs that it returns a value of type {ty}"),
        )
    });
}

//! Function calls and the resolution of overloads: seed 004 "Typing expressions", "To check that a
//! function call is well-typed".

use super::program::Form;
use super::{Checker, Judged};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Ident};
use crate::wsl::environment::access::Callee;
use crate::wsl::environment::{Environment, FunctionId, Key};
use crate::wsl::error::Error;
use crate::wsl::library::{self, Argument};
use crate::wsl::types::{Type, TypeId, ValueType};
use smallvec::{SmallVec, smallvec};

/// The most candidates that an error lists.
const MAX_CANDIDATES: usize = 8;

/// Adds a note with the number of candidates that are not listed.
fn and_more(error: Error, candidates: usize) -> Error {
    match candidates.saturating_sub(MAX_CANDIDATES) {
        0 => error,
        more => error.note(None, format!("and {more} more")),
    }
}

/// An argument as overload resolution sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The types that it can have.
    pub argument: Argument,
    /// Whether it is an integer literal, or ends in one.
    pub literal: bool,
}

/// The arguments of a call.
pub type Operands = SmallVec<[Operand; 4]>;

/// A function that takes the arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The function.
    pub callee: Callee,
    /// The types of its parameters.
    pub parameters: SmallVec<[TypeId; 4]>,
    /// The type that it returns.
    pub result: TypeId,
}

/// The result of overload resolution.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// One function. The flag says whether it was left over by the second round.
    One(Candidate, bool),
    /// No function takes the arguments.
    None,
    /// Several functions take the arguments. The number says how many are left after the second
    /// round: none, or more than one.
    Several(Vec<Candidate>, usize),
}

impl Operand {
    /// Whether the argument can have the type.
    pub fn takes(self, ty: TypeId) -> bool {
        match self.argument {
            Argument::Typed(of) => of == ty,
            Argument::Integer { int, uint } => match ty {
                TypeId::INT => int,
                TypeId::UINT => uint,
                _ => ty == TypeId::FLOAT,
            },
        }
    }
}

impl Checker<'_> {
    pub(super) fn key(&mut self, name: Symbol) -> Key {
        if let Some(&key) = self.keys.get(&name) {
            return key;
        }
        let key = self.builder.key_of(name);
        self.keys.insert(name, key);
        key
    }

    pub(super) fn call(&mut self, name: Ident, arguments: &[core::ExprId], span: Span) -> Judged {
        let judged: SmallVec<[Judged; 4]> = arguments.iter().map(|e| self.expr(*e)).collect();
        let operands: Option<Operands> = judged.iter().map(|j| self.argument(*j)).collect();
        let Some(operands) = operands else { return Judged::Wrong };
        let key = self.key(name.name);
        match self.resolution(key, name.name, &operands) {
            Resolution::One(candidate, false) => t_call(self, &candidate, &judged, Rule::WslTCall, span),
            Resolution::One(candidate, true) => t_call_literals(self, &candidate, &judged, span),
            failed => {
                self.unresolved(Rule::WslTCall, key, name.name, &operands, failed, name.span);
                Judged::Wrong
            }
        }
    }

    /// The function that the operator of a rule calls. If there is none, reports an error of
    /// that rule.
    pub(super) fn resolve_call(&mut self, name: Symbol, operands: Operands, rule: Rule, span: Span) -> Option<Candidate> {
        let key = self.key(name);
        match self.resolution(key, name, &operands) {
            Resolution::One(candidate, _) => Some(candidate),
            failed => {
                self.unresolved(rule, key, name, &operands, failed, span);
                None
            }
        }
    }

    fn resolution(&mut self, key: Key, name: Symbol, operands: &Operands) -> Resolution {
        if let Some(known) = self.resolutions.get(&(key, operands.clone())) {
            return known.clone();
        }
        let candidates = self.candidates(key, name, operands);
        let resolution = match candidates.len() {
            0 => Resolution::None,
            1 => Resolution::One(candidates.into_iter().next().expect("there is one"), false),
            _ => {
                // In the second round, integer literals have the type int.
                let fits = |c: &Candidate| operands.iter().zip(&c.parameters).all(|(o, ty)| (self.premises.second_round)(o.literal, *ty));
                let remaining: Vec<&Candidate> = candidates.iter().filter(|c| fits(c)).collect();
                match remaining[..] {
                    [one] => Resolution::One(one.clone(), true),
                    _ => Resolution::Several(candidates.clone(), remaining.len()),
                }
            }
        };
        self.resolutions.insert((key, operands.clone()), resolution.clone());
        resolution
    }

    /// The functions of that name that the arguments can call. Their number of parameters is
    /// that of the arguments, and each argument can have its parameter's type. Entry points are
    /// left out.
    fn candidates(&mut self, key: Key, name: Symbol, operands: &Operands) -> Vec<Candidate> {
        let mut out = Vec::new();
        for id in self.declared_candidates(key, operands) {
            let f = self.builder.env.function(id);
            if f.kind.is_entry_point() {
                self.builder.fired.note(Rule::WslEpNotCalled);
            } else {
                out.push(Candidate { callee: Callee::Declared(id), parameters: f.types(), result: f.result });
            }
        }
        let mut overloads = Vec::new();
        let arguments: SmallVec<[Argument; 4]> = operands.iter().map(|o| o.argument).collect();
        let Environment { types, names, .. } = &mut self.builder.env;
        let key = match key {
            Key::Cast(ty) => library::Key::Cast(ty),
            Key::Name(_) => library::Key::Name(names.name(name)),
        };
        library::overloads(types, key, &arguments, &mut overloads);
        for o in overloads {
            out.push(Candidate { callee: Callee::Library(o.function), parameters: o.parameters, result: o.result });
        }
        out
    }

    /// The declared functions that the arguments can call, in order. They are looked up by the
    /// possible types of the arguments. If there are more combinations of these than functions of
    /// the name, each function is tried instead.
    fn declared_candidates(&self, key: Key, operands: &Operands) -> Vec<FunctionId> {
        let env = &self.builder.env;
        let Some(named) = env.by_key.get(&key) else { return Vec::new() };
        let literals = operands.iter().filter(|o| matches!(o.argument, Argument::Integer { .. })).count() as u32;
        if 3usize.saturating_pow(literals) >= named.len() {
            let fits = |id: &FunctionId| {
                let parameters = &env.function(*id).parameters;
                parameters.len() == operands.len() && operands.iter().zip(parameters).all(|(o, p)| o.takes(p.ty))
            };
            return named.iter().copied().filter(fits).collect();
        }
        let mut found = Vec::new();
        let mut combinations: Vec<SmallVec<[TypeId; 4]>> = vec![SmallVec::new()];
        for o in operands {
            let types: SmallVec<[TypeId; 3]> = match o.argument {
                Argument::Typed(ty) => smallvec![ty],
                Argument::Integer { .. } => [TypeId::INT, TypeId::UINT, TypeId::FLOAT].into_iter().filter(|ty| o.takes(*ty)).collect(),
            };
            combinations = combinations
                .iter()
                .flat_map(|combination| types.iter().map(|ty| combination.iter().copied().chain([*ty]).collect()))
                .collect();
        }
        for combination in combinations {
            found.extend(env.by_types.get(&(key, combination)));
        }
        found.sort_unstable();
        found
    }

    /// Reports a call that resolves to no function, with what each candidate lacks.
    fn unresolved(&mut self, rule: Rule, key: Key, name: Symbol, operands: &Operands, failed: Resolution, span: Span) {
        if self.builder.env.wrong_names.contains(&name) || self.builder.errors.full() {
            return;
        }
        if let Some(id) = self.entry_point(key, operands.len()) {
            return ep_not_called(self, id, span);
        }
        let shown: Vec<String> = operands.iter().map(|o| self.operand_name(*o)).collect();
        let shown = shown.join(", ");
        let text = match key {
            Key::Cast(ty) => self.name(ty),
            Key::Name(name) => self.builder.env.names.name(name).to_string(),
        };
        let error = match failed {
            Resolution::Several(candidates, remaining) => {
                let second_round = if remaining == 0 {
                    "none takes them if integer literals are of type int".into()
                } else {
                    format!("{remaining} do, even if integer literals are of type int")
                };
                let message = format!("several functions `{text}` take the arguments ({shown}), and {second_round}; the rule needs one");
                let mut error = Error::new(rule, span, message);
                for c in candidates.iter().take(MAX_CANDIDATES) {
                    error = self.candidate_note(error, c, &text);
                }
                and_more(error, candidates.len())
            }
            _ => self.no_function(rule, key, name, operands, &text, &shown, span),
        };
        self.error(error);
    }

    fn candidate_note(&self, error: Error, c: &Candidate, text: &str) -> Error {
        let parameters: Vec<String> = c.parameters.iter().map(|p| self.name(*p)).collect();
        let message = format!("candidate: {} {text}({})", self.name(c.result), parameters.join(", "));
        match c.callee {
            Callee::Declared(id) => error.note(Some(self.builder.env.function(id).name.span), message),
            _ => error.note(None, format!("{message}, of the standard library")),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one sentence")]
    fn no_function(&mut self, rule: Rule, key: Key, name: Symbol, operands: &Operands, text: &str, shown: &str, span: Span) -> Error {
        let total = self.builder.env.by_key.get(&key).map_or(0, |total| total.len());
        let declared: Vec<FunctionId> = self.builder.env.by_key.get(&key).into_iter().flatten().copied().take(MAX_CANDIDATES).collect();
        let env = &self.builder.env;
        let library_key = match key {
            Key::Cast(ty) => library::Key::Cast(ty),
            Key::Name(_) => library::Key::Name(env.names.name(name)),
        };
        let same_count = library::all_named(&env.types, library_key, Some(operands.len()), env);
        let library = if same_count.is_empty() { library::all_named(&env.types, library_key, None, env) } else { same_count };
        if declared.is_empty() && library.is_empty() {
            return Error::new(rule, span, format!("there is no function `{text}`"));
        }
        let mut error = Error::new(rule, span, format!("no function `{text}` takes the arguments ({shown})"));
        for id in &declared {
            let f = self.builder.env.function(*id);
            let reason = if f.parameters.len() != operands.len() {
                format!("it has {} parameters", f.parameters.len())
            } else {
                let wrong = operands.iter().zip(&f.parameters).position(|(o, p)| !o.takes(p.ty)).unwrap_or(0);
                let (found, needed) = (self.operand_name(operands[wrong]), self.name(f.parameters[wrong].ty));
                format!("argument {} is {found}, its parameter {needed}", wrong + 1)
            };
            error = error.note(Some(f.name.span), format!("candidate: {}; {reason}", self.builder.env.signature(*id)));
        }
        error = and_more(error, total);
        let total = library.len();
        for signature in library.into_iter().take(MAX_CANDIDATES) {
            error = error.note(None, format!("candidate of the standard library: {signature}"));
        }
        and_more(error, total)
    }

    fn operand_name(&self, o: Operand) -> String {
        match o.argument {
            Argument::Typed(ty) => self.name(ty),
            Argument::Integer { .. } => "an integer literal".into(),
        }
    }

    fn entry_point(&self, key: Key, count: usize) -> Option<FunctionId> {
        let entry = |id: &FunctionId| {
            self.builder.env.function(*id).kind.is_entry_point() && self.builder.env.function(*id).parameters.len() == count
        };
        self.builder.env.by_key.get(&key)?.iter().copied().find(entry)
    }

    fn conclude_call(&mut self, rule: Rule, candidate: &Candidate, judged: &[Judged], span: Span) -> Judged {
        let mut arguments: SmallVec<[_; 4]> = SmallVec::new();
        for (judged, ty) in judged.iter().zip(&candidate.parameters) {
            let Some(id) = self.expect(*judged, *ty, rule, "the argument") else { return Judged::Wrong };
            arguments.push(id);
        }
        let start = self.program.arguments.len() as u32;
        self.program.arguments.extend(arguments);
        let range = start..self.program.arguments.len() as u32;
        self.conclude(rule, Form::Call(candidate.callee, range), ValueType::Right(candidate.result), span)
    }
}

/// Γ ⊢ ei : τi and one function f : τ1 … τn → τ, no entry point, give Γ ⊢ f(e1, …, en) : τ
///                                         [wsl/t-call, 004 Typing expressions, call 1, 2, 4, 5, 8]
pub fn t_call(c: &mut Checker, candidate: &Candidate, judged: &[Judged], rule: Rule, span: Span) -> Judged {
    c.conclude_call(rule, candidate, judged, span)
}

/// where several functions take the arguments, integer literals are of type int
///                                 [wsl/t-call-literals, 004 Typing expressions, call 6, 7; WSL-C9]
pub fn t_call_literals(c: &mut Checker, candidate: &Candidate, judged: &[Judged], span: Span) -> Judged {
    c.conclude_call(Rule::WslTCallLiterals, candidate, judged, span)
}

/// no function calls an entry point                           [wsl/ep-not-called, 004 Entry Points]
pub fn ep_not_called(c: &mut Checker, id: FunctionId, span: Span) {
    let f = c.builder.env.function(id);
    let (text, place) = (c.builder.env.names.name(f.name.name).to_string(), f.name.span);
    c.error(
        Error::new(Rule::WslEpNotCalled, span, format!("`{text}` is an entry point, and no function calls one"))
            .note(Some(place), "the entry point is declared here"),
    );
}

impl Checker<'_> {
    /// Whether a type has a default value. Pointers, array references, samplers and textures
    /// have none.
    pub(super) fn has_default(&mut self, ty: TypeId) -> bool {
        !matches!(self.ty(ty), Type::Pointer(..) | Type::ArrayReference(..)) && !self.builder.contains_opaque(ty)
    }
}

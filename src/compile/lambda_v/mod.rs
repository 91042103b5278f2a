//! λV → SPIR-V, report §6 corrected.
//!
//! `rules` is translate(I) = O, `module` is the module around it (§6.11), `emit` the words. The
//! translator keeps a witness: which subexpression each result id is the value of, by which rule.
//! With it, the claim that the induction of §7 needs is checked subterm by subterm (LV-27).

pub mod emit;
pub mod listing;
pub mod module;
mod rules;

pub use rules::{Edge, Input, Output, Translated};

use crate::dispatch::Target;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Span;
use smallstep_semantics::lambda_v::terms::{Node, Replacement, Substitute, TermId, Terms};
use smallstep_semantics::lambda_v::types::{Ground, Type};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Limit;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::write::{Code, Id};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Where the constants of a program are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Constants {
    /// As OpConstant in the module.
    #[default]
    InModule,
    /// In a read-only storage buffer at set 0, binding 0, so that a device must compute at run time
    /// what it would fold.
    Opaque,
}

/// How to translate.
#[derive(Clone, Copy)]
pub struct Options {
    /// The float controls and decorations that are emitted.
    pub profile: Profile,
    /// Where constants are placed.
    pub constants: Constants,
    /// Whether to keep the witness.
    pub witness: bool,
    /// The most words of the module.
    pub max_words: usize,
    /// The most expressions visited; inlining can visit one many times.
    pub max_visits: usize,
    /// Bugs that tests plant.
    pub planted: Planted,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            profile: Profile::Strict,
            constants: Constants::InModule,
            witness: false,
            max_words: 1 << 20,
            max_visits: 4 << 20,
            planted: Planted::default(),
        }
    }
}

/// Where tests plant bugs: beside the rules, never in them.
#[derive(Clone, Copy, Default)]
pub struct Planted {
    /// Sees what a rule of §6 has emitted and returned, and may change it.
    pub rule: Option<fn(Site<'_>)>,
    /// Sees each part of the module as its function made it, and may change it.
    pub section: Option<fn(Rule, &mut Code)>,
    /// Replaces the substitution.
    pub substitute: Option<Substitute<Translated>>,
}

/// What a rule of §6 did.
pub struct Site<'a> {
    /// The rule.
    pub rule: Rule,
    /// I.
    pub input: Input,
    /// The code so far.
    pub code: &'a mut Code,
    /// Where the rule's own code begins in it.
    pub from: usize,
    /// The constants so far: id and bits.
    pub consts: &'a mut Vec<(Id, u32)>,
    /// O.
    pub output: &'a mut Output,
}

/// Why there is no translation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Untranslatable {
    /// The expression is not well typed.
    IllTyped {
        /// What is wrong.
        message: String,
        /// Where.
        span: Span,
    },
    /// The translation would be larger than allowed.
    Limit(Limit),
}

impl std::error::Error for Untranslatable {}

impl From<Limit> for Untranslatable {
    fn from(limit: Limit) -> Untranslatable {
        Untranslatable::Limit(limit)
    }
}

impl std::fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Untranslatable::IllTyped { message, span } => write!(f, "no translation: {message} (bytes {}..{})", span.start, span.end),
            Untranslatable::Limit(limit) => write!(f, "the translation is too large: {limit}"),
        }
    }
}

/// A subexpression and the id of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The subexpression, a closed term of [`Module::terms`] under no arguments: rec-func
    /// parameters in it are [`Translated::Value`].
    pub term: TermId,
    /// Its result id.
    pub id: Id,
    /// Its type.
    pub ty: Ground,
    /// The rule that made the id.
    pub rule: Rule,
}

/// A translated program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The SPIR-V words.
    pub words: Vec<u32>,
    /// The entry point's name.
    pub entry: &'static str,
    /// The outputs: each a vec4, padded with zeros past its own components.
    pub outputs: Vec<Target>,
    /// The contents of the constant buffer; empty unless constants are opaque and there are some.
    pub constants: Vec<u32>,
    /// The witness, in the order in which values are computed; empty unless asked for.
    pub witness: Vec<Witness>,
    /// The terms that the witness names.
    pub terms: Terms<Translated>,
    /// The rules used.
    pub rules: BTreeSet<Rule>,
    /// The number of instructions in the entry point.
    pub instructions: usize,
}

/// Translates a well-typed program to a fragment shader.
///
/// Errors: a size limit; or an ill-typed program, found where it matters (type it first for errors
/// by rule).
pub fn translate(program: &Program, options: &Options) -> Result<Module, Untranslatable> {
    let mut translator = Translator::new(program, options);
    let mut at = Input { expr: TermId(0), args: 0, idc: emit::fixed::START_ID, idl: emit::fixed::START_BLOCK, rec: None };
    let mut results = Vec::new();
    for output in &program.outputs {
        let o = translator.translate(Input { expr: output.term, ..at })?;
        match (o.ido, o.ty) {
            (Some(id), Type::Ground(ty)) if ty.is_observation() => results.push(module::Stored { location: output.location, id, ty }),
            _ => return Err(translator.ill_typed(output.term, "an output is no Vec(I,f)")),
        }
        (at.idc, at.idl) = (o.idc, o.idl);
    }
    module::create(translator, &results, at.idc)
}

/// The state of a translation: what O.code and O.consts have become so far, and the terms.
struct Translator<'a> {
    options: &'a Options,
    terms: Terms<Translated>,
    substitute: Substitute<Translated>,
    /// (A, (e1 … en)): what is below, and the list.
    stacks: Vec<(u32, TermId)>,
    code: Code,
    consts: Vec<(Id, u32)>,
    /// Which types the header must declare, by id.
    types: [bool; emit::fixed::TRUE as usize],
    /// Whether false and true are used.
    booleans: [bool; 2],
    frag_coord: bool,
    glsl: bool,
    /// The results that NoContraction may decorate.
    arithmetic: Vec<Id>,
    witness: Vec<Witness>,
    rules: BTreeSet<Rule>,
    visits: usize,
}

impl<'a> Translator<'a> {
    fn new(program: &Program, options: &'a Options) -> Translator<'a> {
        Translator {
            options,
            terms: Terms::from_source(&program.terms, options.max_visits.saturating_mul(2)),
            substitute: options.planted.substitute.unwrap_or(Terms::substitute),
            stacks: Vec::new(),
            code: Code::default(),
            consts: Vec::new(),
            types: [false; emit::fixed::TRUE as usize],
            booleans: [false; 2],
            frag_coord: false,
            glsl: false,
            arithmetic: Vec::new(),
            witness: Vec::new(),
            rules: BTreeSet::new(),
            visits: 0,
        }
    }

    fn count_visit(&mut self) -> Result<(), Untranslatable> {
        self.visits += 1;
        if self.visits > self.options.max_visits {
            return Err(Limit { what: "expressions visited by the translation", bound: self.options.max_visits as u64 }.into());
        }
        // A constant becomes at most 11 words when it is opaque.
        if self.code.words.len() + 11 * self.consts.len() > self.options.max_words {
            return Err(Limit { what: "words in a module", bound: self.options.max_words as u64 }.into());
        }
        Ok(())
    }

    fn stack(&self, args: u32) -> Option<(u32, TermId)> {
        (args as usize).checked_sub(1).map(|i| self.stacks[i])
    }

    fn push(&mut self, below: u32, list: TermId) -> u32 {
        self.stacks.push((below, list));
        self.stacks.len() as u32
    }

    fn arguments(&self, list: TermId) -> SmallVec<[TermId; 6]> {
        match self.terms.node(list) {
            Node::List(items) => SmallVec::from_slice(&self.terms.items(items)[1..]),
            other => unreachable!("a stack entry is a list, not {other:?}"),
        }
    }

    fn substituted(&mut self, body: TermId, with: Replacement<'_>) -> Result<TermId, Untranslatable> {
        Ok((self.substitute)(&mut self.terms, body, with)?)
    }

    fn ill_typed(&self, at: TermId, message: &str) -> Untranslatable {
        Untranslatable::IllTyped { message: message.into(), span: self.terms.span(at) }
    }
}

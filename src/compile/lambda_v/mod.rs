//! λV → SPIR-V, report §6 corrected.
//!
//! `rules` is translate(I) = O, `module` is the module around it (§6.11), and `emit` has the ids
//! of its header. The translator records a witness: for each result id, the subexpression whose
//! value it is, and the rule. With the witness, the claim that the induction of §7 needs is
//! checked subterm by subterm (LV-27).

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

/// The placement of the constants of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Constants {
    /// As OpConstant in the module.
    #[default]
    InModule,
    /// In a read-only storage buffer at set 0, binding 0. So a device must compute at run time what
    /// it would otherwise fold.
    Opaque,
}

/// The options of a translation.
#[derive(Clone, Copy)]
pub struct Options {
    /// The float controls and decorations that are emitted.
    pub profile: Profile,
    /// The placement of constants.
    pub constants: Constants,
    /// Whether to record the witness.
    pub witness: bool,
    /// The most words of the module.
    pub max_words: usize,
    /// The most expressions visited. Inlining can visit an expression many times.
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

/// Hooks for planted bugs. They are beside the rules, never in them.
#[derive(Clone, Copy, Default)]
pub struct Planted {
    /// Gets the output of a rule of §6, and may change it.
    pub rule: Option<fn(Site<'_>)>,
    /// Gets each part of the module after its function has made it, and may change it.
    pub section: Option<fn(Rule, &mut Code)>,
    /// Replaces the substitution.
    pub substitute: Option<Substitute<Translated>>,
}

/// The application of a rule of §6.
pub struct Site<'a> {
    /// The rule.
    pub rule: Rule,
    /// The input I.
    pub input: Input,
    /// The code so far.
    pub code: &'a mut Code,
    /// The index in `code` where the rule's own code begins.
    pub from: usize,
    /// The constants so far, each with its id and bits.
    pub consts: &'a mut Vec<(Id, u32)>,
    /// The output O.
    pub output: &'a mut Output,
}

/// The reason why there is no translation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Untranslatable {
    /// The expression is not well typed.
    IllTyped {
        /// The error, as a message.
        message: String,
        /// The span of the expression in the source.
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
    /// The subexpression: a closed term of [`Module::terms`] without arguments. The parameters of a
    /// rec-func in it are [`Translated::Value`].
    pub term: TermId,
    /// The result id of its value.
    pub id: Id,
    /// The type of its value.
    pub ty: Ground,
    /// The rule that made the id.
    pub rule: Rule,
}

/// A translated program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The SPIR-V words.
    pub words: Vec<u32>,
    /// The name of the entry point.
    pub entry: &'static str,
    /// The outputs. Each is a vec4, padded with zeros after its own components.
    pub outputs: Vec<Target>,
    /// The contents of the constant buffer. Empty unless constants are opaque and the program
    /// has some.
    pub constants: Vec<u32>,
    /// The witness, in the order in which values are computed. Empty unless [`Options::witness`]
    /// is set.
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
/// Errors: a size limit, or an ill-typed program where the translation notices it. Type the program
/// first for errors by rule.
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

/// The state of a translation: the accumulated O.code and O.consts, and the terms.
struct Translator<'a> {
    options: &'a Options,
    terms: Terms<Translated>,
    substitute: Substitute<Translated>,
    /// The stack entries (A, (e1 … en)): the stack A below, and the list.
    stacks: Vec<(u32, TermId)>,
    code: Code,
    consts: Vec<(Id, u32)>,
    /// By id: whether the header must declare the type.
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
        // An opaque constant takes at most 11 words.
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

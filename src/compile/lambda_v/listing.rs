//! The witness for people: which subexpression of the source each result id is the value of.

use super::{Module, Translated, Witness};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::print::Printer;
use smallstep_semantics::lambda_v::syntax::{Symbols, line_column};
use smallstep_semantics::lambda_v::terms::{Node, TermId};
use smallstep_semantics::lambda_v::types::Ground;
use smallstep_semantics::rule::Rule;

/// One entry of the witness with its place and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The line of the source, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The subexpression; parameters of a rec-func stand as their ids.
    pub expression: String,
    /// Its type.
    pub ty: Ground,
    /// Its result id.
    pub id: u32,
    /// The rule that made the id.
    pub rule: Rule,
}

impl Module {
    /// The innermost subexpression that an id is the value of, if the witness was
    /// kept and knows one.
    pub fn witness_of(&self, id: u32) -> Option<&Witness> {
        self.witness.iter().find(|w| w.id == id)
    }

    /// A term of the witness as text, cut after `limit` bytes; parameters of a rec-func stand as
    /// their ids.
    pub fn expression(&self, term: TermId, symbols: &Symbols, limit: usize) -> String {
        let ext = |x: Translated| match x {
            Translated::Value { id, .. } => format!("%{id}"),
            Translated::Rec(_) => "rec".into(),
        };
        Printer { terms: &self.terms, symbols, ext: &ext, limit }.print(term)
    }

    /// The builtin that a term of the witness applies, if it applies one.
    pub fn applied(&self, term: TermId) -> Option<Builtin> {
        let Node::List(items) = self.terms.node(term) else { return None };
        match self.terms.node(*self.terms.items(items).first()?) {
            Node::Builtin(builtin) => Some(builtin),
            _ => None,
        }
    }
}

/// The witness of a module that was translated with one, in the order in which values are computed.
/// Subexpressions longer than `limit` bytes are cut. `text` is the source, for places.
pub fn listing<'m>(module: &'m Module, symbols: &'m Symbols, text: &'m str, limit: usize) -> impl Iterator<Item = Witnessed> + 'm {
    module.witness.iter().map(move |w| {
        let (line, column) = line_column(text, module.terms.span(w.term).start);
        let expression = module.expression(w.term, symbols, limit);
        Witnessed { line, column, expression, ty: w.ty, id: w.id, rule: w.rule }
    })
}

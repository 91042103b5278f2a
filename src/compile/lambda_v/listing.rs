//! The witness for human readers: the source subexpression whose value each result id is.

use super::{Module, Translated, Witness};
use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::print::Printer;
use smallstep_semantics::lambda_v::syntax::{Symbols, line_column};
use smallstep_semantics::lambda_v::terms::{Node, TermId};
use smallstep_semantics::lambda_v::types::Ground;
use smallstep_semantics::rule::Rule;

/// An entry of the witness with its place and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The line of the source, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The subexpression. Parameters of a rec-func appear as their ids.
    pub expression: String,
    /// The type of its value.
    pub ty: Ground,
    /// The result id of its value.
    pub id: u32,
    /// The rule that made the id.
    pub rule: Rule,
}

impl Module {
    /// The innermost subexpression whose value an id is. `None` if the witness was not recorded or
    /// has no such entry.
    pub fn witness_of(&self, id: u32) -> Option<&Witness> {
        self.witness.iter().find(|w| w.id == id)
    }

    /// The text of a term of the witness, cut after `limit` bytes. Parameters of a rec-func appear
    /// as their ids.
    pub fn expression(&self, term: TermId, symbols: &Symbols, limit: usize) -> String {
        let ext = |x: Translated| match x {
            Translated::Value { id, .. } => format!("%{id}"),
            Translated::Rec(_) => "rec".into(),
        };
        Printer { terms: &self.terms, symbols, ext: &ext, limit }.print(term)
    }

    /// The builtin that a term of the witness applies. `None` for other terms.
    pub fn applied(&self, term: TermId) -> Option<Builtin> {
        let Node::List(items) = self.terms.node(term) else { return None };
        match self.terms.node(*self.terms.items(items).first()?) {
            Node::Builtin(builtin) => Some(builtin),
            _ => None,
        }
    }
}

/// The witness of a module, in the order in which values are computed. The module must be
/// translated with a witness. Subexpressions longer than `limit` bytes are cut. `text` is the
/// source, for line and column.
pub fn listing<'m>(module: &'m Module, symbols: &'m Symbols, text: &'m str, limit: usize) -> impl Iterator<Item = Witnessed> + 'm {
    module.witness.iter().map(move |w| {
        let (line, column) = line_column(text, module.terms.span(w.term).start);
        let expression = module.expression(w.term, symbols, limit);
        Witnessed { line, column, expression, ty: w.ty, id: w.id, rule: w.rule }
    })
}

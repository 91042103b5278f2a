//! The witness for people: which subexpression of the source each result id is the value of.

use super::{Module, Translated};
use smallstep_semantics::lambda_v::print::Printer;
use smallstep_semantics::lambda_v::syntax::{Symbols, line_column};
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

/// The witness of a module that was translated with one, in the order in which values are computed. Subexpressions longer than `limit` bytes are
/// cut. `text` is the source, for places.
pub fn listing<'m>(module: &'m Module, symbols: &'m Symbols, text: &'m str, limit: usize) -> impl Iterator<Item = Witnessed> + 'm {
    let ext = |x: Translated| match x {
        Translated::Value { id, .. } => format!("%{id}"),
        Translated::Rec(_) => "rec".into(),
    };
    module.witness.iter().map(move |w| {
        let (line, column) = line_column(text, module.terms.span(w.term).start);
        let expression = Printer { terms: &module.terms, symbols, ext: &ext, limit }.print(w.term);
        Witnessed { line, column, expression, ty: w.ty, id: w.id, rule: w.rule }
    })
}

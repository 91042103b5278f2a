//! `LIBRARY.md`: the table as a page.

use super::table::{Name, Row, TABLE};
use super::text::{Printer, range_text};
use crate::rule::{Judgement, Rule};
use crate::wsl::types::Types;
use std::fmt::Write as _;

const HEAD: &str = "# WSL's standard library\n\n\
    Printed from the table of `semantics/src/wsl/validation/library/`; `SPEC_BLESS=1 cargo test -p smallstep-semantics --test wsl_library` writes it again.\n\n\
    `T` is any one of the types that stand after the signature; N and M are 2, 3 or 4. Of a matrix, `floatNxM` is N columns of `floatM` each. What follows from\n\
    `T`:\n\n\
    | | |\n|---|---|\n\
    | `scalar<T> × 6` | six parameters of that type |\n\
    | `scalar<T>` | the scalar that `T` is made of; of a scalar, itself |\n\
    | `like<T, bool>` | `T` with `bool` in place of that scalar |\n\
    | `column<T>`, `row<T>` | the vector of as many elements as the matrix `T` has rows, columns |\n\
    | `rows<T>`, `columns<T>` | those numbers |\n\
    | `transposed<T>` | the matrix type with as many columns as `T` has rows, and rows as it has columns |\n\
    | `letters<T>` | `scalar<T>` if the name has one letter, else the vector of as many |\n\
    | `base<T>` | the base type of the enum |\n\
    | `element<T>` | what the array is made of; of a pointer to an array, what that is made of, the address space staying the same |\n\
    | `atomic<T>` | the atomic type of the scalar |\n\
    | `texel<T>` | what stands between the texture's `<` and `>` |\n\
    | `coordinates<T, int, layer, level>` | `int` for each dimension of the texture (three of a cube), one for the layer if it has layers, one for the level |\n\n\
    An unspecified value is any value of its type, chosen once. Operations on `float` round as the target's precision says. Stages: where the function may be called,\n\
    also through other functions.\n";

fn name(row: &Row) -> String {
    match row.name {
        Name::Function(name) => format!("`{}`", name.replace('|', "\\|")),
        Name::Cast => "cast".into(),
        Name::Getter => "`operator.`*letters*".into(),
        Name::Setter => "`operator.`*letters*`=`".into(),
    }
}

fn signatures(types: &Types, row: &Row) -> String {
    let name = match row.name {
        Name::Function(name) => name,
        Name::Cast => "",
        Name::Getter => "operator.letters",
        Name::Setter => "operator.letters=",
    };
    let printer = Printer { types, names: &(), letters: None, t: None };
    // Neighbouring signatures with the same types of `T` share one list of these types.
    let mut groups: Vec<(Option<String>, Vec<String>)> = Vec::new();
    for signature in row.signatures {
        let range = signature.variable_range.as_ref().map(range_text);
        let head = format!("`{}`", printer.head(name, signature));
        match groups.last_mut() {
            Some((last, heads)) if *last == range => heads.push(head),
            _ => groups.push((range, vec![head])),
        }
    }
    let lines = groups.into_iter().map(|(range, heads)| heads.join("<br>") + &range.map_or(String::new(), |text| format!(", T: {text}")));
    lines.collect::<Vec<_>>().join("<br>").replace('|', "\\|")
}

/// The text of `LIBRARY.md`: the types, then a table for each section of the seed.
pub fn page() -> String {
    let mut out = String::from(HEAD);
    let types = Types::default();
    let declared = |rule: &Rule| TABLE.iter().any(|section| section.rule == *rule);
    out.push_str("\n## Types\n\n| types | rule |\n|---|---|\n");
    for rule in Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Library && !declared(r)) {
        let _ = writeln!(out, "| {} | `{rule}` |", rule.statement());
    }
    let mut heading = "";
    for section in TABLE {
        let source = section.rule.source();
        let title = source.split(';').next().unwrap_or(source).trim_start_matches("004 ");
        if title != heading {
            heading = title;
            let _ = write!(out, "\n## {heading}\n\n| name | signatures | meaning | stages | rule |\n|---|---|---|---|---|\n");
        }
        for row in section.rows {
            let says = row.says.replace('|', "\\|");
            let _ = writeln!(out, "| {} | {} | {says} | {} | `{}` |", name(row), signatures(&types, row), row.stages.text(), section.rule);
        }
    }
    out
}
